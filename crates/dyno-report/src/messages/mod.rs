//! The one table of all prose in reports: whole sentences with named places, one column per language.
//!
//! # Rules
//! * A message is a whole sentence or a whole heading; sentences are never put together from pieces, because word order
//!   and particles differ between languages.
//! * A place is written `{name}` and is filled with a figure, a name or a list; never with prose.
//! * Every message stands in exactly one of the files of this folder, by the part of the report that shows it:
//!   [`headings`], [`conclusion`], [`finding`], [`notes`], [`page`] (only the HTML page), [`compare`] (only `dyno compare`).
//! * A new language is a further column: a field of [`Message`] and a variant of [`Lang`].

pub mod compare;
pub mod conclusion;
pub mod finding;
pub mod growth;
pub mod headings;
pub mod notes;
pub mod page;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// Language of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lang {
    /// English.
    #[default]
    En,
}

impl Lang {
    /// All languages, in the order messages list them.
    pub const ALL: [Self; 1] = [Self::En];

    /// Code of BCP 47, as on the command line and in `<html lang>`.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::En => "en",
        }
    }
}

impl fmt::Display for Lang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// No such language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownLang(
    /// What was asked for.
    pub String,
);

impl fmt::Display for UnknownLang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<_> = Lang::ALL.iter().map(|lang| lang.code()).collect();
        write!(f, "reports are not written in `{}`; there is: {}", self.0, known.join(", "))
    }
}

impl std::error::Error for UnknownLang {}

impl FromStr for Lang {
    type Err = UnknownLang;

    fn from_str(code: &str) -> Result<Self, UnknownLang> {
        Self::ALL.into_iter().find(|lang| lang.code() == code).ok_or_else(|| UnknownLang(code.to_owned()))
    }
}

/// One message: a whole sentence or heading with named places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Name in the table, for translators.
    pub name: &'static str,
    /// Places that every column must have.
    pub places: &'static [&'static str],
    /// English.
    pub en: &'static str,
}

impl Message {
    /// The column of a language.
    #[must_use]
    pub fn text(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::En => self.en,
        }
    }

    /// The sentence with its places filled.
    ///
    /// # Panics
    /// In debug builds, when a place of the message gets no value or a value has no place.
    #[must_use]
    pub fn fill(&self, lang: Lang, values: &[(&str, &str)]) -> String {
        debug_assert!(
            self.places.len() == values.len()
                && self.places.iter().all(|place| values.iter().any(|(name, _)| name == place)),
            "{}: places {:?} against values {values:?}",
            self.name,
            self.places
        );
        let mut filled = String::new();
        for piece in pieces(self.text(lang)) {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Place(name) => {
                    let value =
                        values.iter().find(|(place, _)| *place == name).map_or("", |(_, value)| value);
                    filled.push_str(value);
                }
            }
        }
        filled
    }
}

/// A list in a sentence: `1, 20 and 40`.
#[must_use]
pub fn list<T: fmt::Display>(lang: Lang, items: &[T]) -> String {
    let texts: Vec<Cow<'_, str>> = items.iter().map(|item| Cow::Owned(item.to_string())).collect();
    match texts.as_slice() {
        [] => String::new(),
        [only] => only.clone().into_owned(),
        [firsts @ .., last] => {
            headings::LIST_END.fill(lang, &[("items", &firsts.join(", ")), ("last", last)])
        }
    }
}

enum Piece<'a> {
    Text(&'a str),
    Place(&'a str),
}

/// Cuts a message into text and places. A brace that opens no place stands for itself.
fn pieces(mut text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    while let Some(open) = text.find('{') {
        let Some(length) = text[open..].find('}') else { break };
        pieces.push(Piece::Text(&text[..open]));
        pieces.push(Piece::Place(&text[open + 1..open + length]));
        text = &text[open + length + 1..];
    }
    pieces.push(Piece::Text(text));
    pieces
}

/// Declares the messages of one file: `NAME [place, place] "English";`, and `ALL`, the list of them for tests and
/// translators.
macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident [$($place:ident),*] $en:literal;)*) => {
        $($(#[$doc])* pub const $name: $crate::messages::Message = $crate::messages::Message {
            name: concat!(module_path!(), "::", stringify!($name)),
            places: &[$(stringify!($place)),*],
            en: $en,
        };)*
        /// Every message of this file.
        pub(crate) const ALL: &[$crate::messages::Message] = &[$($name),*];
    };
}
pub(crate) use messages;

/// Every message of every file.
pub fn all() -> impl Iterator<Item = &'static Message> {
    [headings::ALL, conclusion::ALL, finding::ALL, notes::ALL, page::ALL, growth::ALL, compare::ALL]
        .into_iter()
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_message_has_exactly_its_places_in_every_language() {
        for message in all() {
            for lang in Lang::ALL {
                let found: BTreeSet<_> = pieces(message.text(lang))
                    .into_iter()
                    .filter_map(|piece| if let Piece::Place(name) = piece { Some(name) } else { None })
                    .collect();
                let declared: BTreeSet<_> = message.places.iter().copied().collect();
                assert_eq!(found, declared, "{} in {lang}", message.name);
            }
        }
    }

    #[test]
    fn no_message_is_empty_and_no_name_stands_twice() {
        let mut names = BTreeSet::new();
        for message in all() {
            assert!(names.insert(message.name), "{} stands twice", message.name);
            for lang in Lang::ALL {
                assert!(!message.text(lang).trim().is_empty(), "{} in {lang}", message.name);
            }
        }
    }

    #[test]
    fn places_are_filled_by_name() {
        let message = Message { name: "X", places: &["a", "b"], en: "{b} before {a}." };
        assert_eq!(message.fill(Lang::En, &[("a", "1"), ("b", "2")]), "2 before 1.");
    }

    #[test]
    fn a_value_with_braces_is_not_filled_again() {
        let message = Message { name: "X", places: &["a"], en: "say {a}" };
        assert_eq!(message.fill(Lang::En, &[("a", "{a}")]), "say {a}");
    }

    #[test]
    fn lists_end_with_and() {
        assert_eq!(list::<u32>(Lang::En, &[]), "");
        assert_eq!(list(Lang::En, &[1]), "1");
        assert_eq!(list(Lang::En, &[1, 20]), "1 and 20");
        assert_eq!(list(Lang::En, &[1, 20, 40]), "1, 20 and 40");
    }

    #[test]
    fn an_unknown_language_names_the_known_ones() {
        assert_eq!(
            "xx".parse::<Lang>().unwrap_err().to_string(),
            "reports are not written in `xx`; there is: en"
        );
        assert_eq!("en".parse(), Ok(Lang::En));
    }
}
