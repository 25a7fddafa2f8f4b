//! Variables of scripts. Names are resolved to indexes when scripts are parsed, so that clients
//! need no lookup.

use super::value::Value;
use std::collections::HashMap;

/// The index of a variable; the same for all clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Slot(u32);

/// All names in scripts and options.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    slots: HashMap<String, Slot>,
    names: Vec<String>,
}

impl Names {
    /// The index of a name, added if it is new.
    pub(crate) fn slot(&mut self, name: &str) -> Slot {
        if let Some(slot) = self.slots.get(name) {
            return *slot;
        }
        let slot = Slot(self.names.len() as u32);
        self.slots.insert(name.to_owned(), slot);
        self.names.push(name.to_owned());
        slot
    }

    /// The index of a known name.
    pub(crate) fn find(&self, name: &str) -> Option<Slot> {
        self.slots.get(name).copied()
    }

    /// All indexes.
    pub(crate) fn all(&self) -> impl Iterator<Item = Slot> + use<> {
        (0..self.names.len() as u32).map(Slot)
    }

    /// The name of an index.
    pub(crate) fn name(&self, slot: Slot) -> &str {
        &self.names[slot.0 as usize]
    }
}

/// True for the first character of a variable's name.
pub(crate) fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

/// True for further characters of a name.
pub(crate) fn continues_name(byte: u8) -> bool {
    starts_name(byte) || byte.is_ascii_digit()
}

/// True for a valid name of a variable.
pub(crate) fn is_name(name: &str) -> bool {
    name.bytes().next().is_some_and(starts_name) && name.bytes().all(continues_name)
}

/// Content of a variable.
#[derive(Debug, Clone, PartialEq)]
enum Content {
    Value(Value),
    /// A text from the command line or a server; parsed when an expression needs its value.
    Text(Box<str>),
}

/// The variables of one client.
#[derive(Debug, Default)]
pub(crate) struct Variables(Vec<Option<Content>>);

impl Clone for Variables {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }

    /// Allocates nothing, because every transaction starts with this.
    fn clone_from(&mut self, source: &Self) {
        self.0.clone_from(&source.0);
    }
}

impl Variables {
    /// Sets a variable to a value.
    pub(crate) fn set(&mut self, slot: Slot, value: Value) {
        *self.content_mut(slot) = Some(Content::Value(value));
    }

    /// Sets a variable to a text.
    pub(crate) fn set_text(&mut self, slot: Slot, text: &str) {
        *self.content_mut(slot) = Some(Content::Text(text.into()));
    }

    /// True when the variable has been set.
    pub(crate) fn is_set(&self, slot: Slot) -> bool {
        matches!(self.0.get(slot.0 as usize), Some(Some(_)))
    }

    fn content_mut(&mut self, slot: Slot) -> &mut Option<Content> {
        let index = slot.0 as usize;
        if index >= self.0.len() {
            self.0.resize(index + 1, None);
        }
        &mut self.0[index]
    }

    /// The value of a variable.
    ///
    /// # Errors
    /// When it is not set, or its text is not a value, in pgbench's words; an empty text fails
    /// without a message, as in pgbench.
    pub(crate) fn value(&self, slot: Slot, names: &Names) -> Result<Value, String> {
        match self.0.get(slot.0 as usize) {
            Some(Some(Content::Value(value))) => Ok(*value),
            Some(Some(Content::Text(text))) => Value::from_text(text, names.name(slot)),
            _ => Err(format!("undefined variable \"{}\"", names.name(slot))),
        }
    }

    /// The content of a variable in the text or parameters of a statement.
    pub(crate) fn content(&self, slot: Slot) -> Parameter<'_> {
        match self.0.get(slot.0 as usize) {
            Some(Some(Content::Value(value))) => Parameter::Value(*value),
            Some(Some(Content::Text(text))) => Parameter::Text(text),
            _ => Parameter::Unset,
        }
    }
}

/// A variable as used by a statement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Parameter<'a> {
    Unset,
    Value(Value),
    Text(&'a str),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_was_never_set_is_named_in_the_error() {
        let mut names = Names::default();
        let slot = names.slot("answer");
        let mut variables = Variables::default();
        assert_eq!(variables.value(slot, &names), Err("undefined variable \"answer\"".to_owned()));
        assert_eq!(variables.content(slot), Parameter::Unset);
        variables.set(slot, Value::Integer(42));
        assert_eq!(variables.value(slot, &names), Ok(Value::Integer(42)));
        variables.set_text(slot, "2.5");
        assert_eq!(variables.value(slot, &names), Ok(Value::Double(2.5)));
        assert_eq!(variables.content(slot), Parameter::Text("2.5"));
    }

    #[test]
    fn equal_names_have_equal_indexes() {
        let mut names = Names::default();
        let (one, two) = (names.slot("one"), names.slot("two"));
        assert_ne!(one, two);
        assert_eq!(names.slot("one"), one);
        assert_eq!(names.find("two"), Some(two));
        assert_eq!(names.find("three"), None);
    }

    #[test]
    fn names_are_letters_digits_and_underscores() {
        for name in ["a", "_1", "aid", "글"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "1x", "a b", "?column?", "a-b"] {
            assert!(!is_name(name), "{name}");
        }
    }
}
