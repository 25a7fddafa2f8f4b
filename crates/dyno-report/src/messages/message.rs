//! The types of messages and languages, and the macros that declare them.

use std::fmt::Display;

/// A language. `T` contains its texts; English, which is declared with this file's macros,
/// determines which there are.
#[derive(Debug)]
pub struct Language<T> {
    /// BCP 47 code, as on the command line and in `<html lang>`.
    pub code: &'static str,
    /// Its name in English, for the command line.
    pub name: &'static str,
    /// Number of plural forms of a text: `{place:form|form}`, where `#` stands for the value.
    pub forms: usize,
    /// Index of the plural form, from 0, for a formatted value: a number or a list of numbers.
    pub form: fn(&str) -> usize,
    /// Formats a list inside a sentence; the list is never empty.
    pub list: fn(&[String]) -> String,
    /// Separator between names outside a sentence.
    pub comma: &'static str,
    /// Separator between names that may contain commas.
    pub semicolon: &'static str,
    /// Separator between two sentences.
    pub space: &'static str,
    /// Suffix of a percentage.
    pub percent: &'static str,
    /// Its texts.
    pub texts: T,
}

impl<T> Language<T> {
    /// Converts a figure from the English format of `figures` to the format of this language.
    pub(crate) fn figure(&self, shown: String) -> String {
        match shown.strip_suffix(" %") {
            Some(number) => format!("{number}{}", self.percent),
            None => shown,
        }
    }
}

/// One message: a whole sentence or heading with named placeholders.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message<T> {
    /// Group and name in the file of each language.
    pub(crate) name: &'static str,
    /// Returns its text.
    pub(crate) of: fn(&T) -> &'static str,
}

impl<T> PartialEq for Message<T> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<T> Eq for Message<T> {}

impl<T> Message<T> {
    pub(crate) fn text(&self, lang: &Language<T>) -> &'static str {
        (self.of)(&lang.texts)
    }

    /// Fills the placeholders of the sentence. Values without a placeholder are ignored.
    ///
    /// # Panics
    /// In debug builds, when a placeholder has no value.
    pub(crate) fn fill(&self, lang: &Language<T>, values: &[(&str, &dyn Display)]) -> String {
        let mut filled = String::new();
        for piece in pieces(self.text(lang)) {
            let (name, forms) = match piece {
                Piece::Text(text) => {
                    filled.push_str(text);
                    continue;
                }
                Piece::Placeholder(name, forms) => (name, forms),
            };
            let value = values
                .iter()
                .find(|(given, _)| *given == name)
                .map(|(_, value)| lang.figure(value.to_string()));
            debug_assert!(value.is_some(), "{}: no value for {name}", self.name);
            let value = value.unwrap_or_default();
            match forms.and_then(|forms| forms.split('|').nth((lang.form)(&value))) {
                None => filled.push_str(&value),
                Some(form) => filled.push_str(&form.replace('#', &value)),
            }
        }
        filled
    }
}

/// Fills the placeholders of a message, with the syntax of `format!`: `fill!(SERIES_AT, lang,
/// series, clients = 8)`. Values without a placeholder are ignored.
macro_rules! fill {
    (@ $value:ident) => { &$value };
    (@ $name:ident = $value:expr) => { &$value };
    ($message:expr, $lang:expr $(, $name:ident $(= $value:expr)?)* $(,)?) => {
        $message.fill($lang, &[$((stringify!($name), fill!(@ $name $(= $value)?))),*])
    };
}
pub(crate) use fill;

pub(super) enum Piece<'a> {
    Text(&'a str),
    /// Its name, and the plural forms that its value selects from.
    Placeholder(&'a str, Option<&'a str>),
}

/// Splits a message into text and placeholders. A brace that does not open a placeholder is
/// literal.
pub(super) fn pieces(mut text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    while let Some(open) = text.find('{') {
        let Some(length) = text[open..].find('}') else { break };
        pieces.push(Piece::Text(&text[..open]));
        let name = &text[open + 1..open + length];
        pieces.push(match name.split_once(':') {
            None => Piece::Placeholder(name, None),
            Some((name, forms)) => Piece::Placeholder(name, Some(forms)),
        });
        text = &text[open + length + 1..];
    }
    pieces.push(Piece::Text(text));
    pieces
}

/// Declares all messages with their texts in the first language. The braces enclose an expression
/// of the type `Texts`, as in every other language's file; the macro derives the type itself and a
/// [`Message`] for each text from it.
macro_rules! messages {
    ($($group:ident: $of:ident::Texts { $($name:ident: $text:literal),+ $(,)? }),+ $(,)?) => {
        /// All texts of a language, by the part of a report that shows them.
        #[derive(Debug, Clone, Copy)]
        pub struct Texts { pub columns: Columns, $(pub $group: $group::Texts),+ }
        const TEXTS: Texts = Texts { columns: Columns::English, $($group: $of::Texts { $($name: $text),+ }),+ };
        $(pub(crate) mod $group {
            use crate::messages::message::Message;
            #[derive(Debug, Clone, Copy)]
            #[expect(non_snake_case, reason = "a text has the name of its message")]
            pub struct Texts { $(pub $name: &'static str),+ }
            $(pub(crate) const $name: Message<super::Texts> = Message {
                name: concat!(stringify!($group), "::", stringify!($name)),
                of: |texts| texts.$group.$name,
            };)+
            /// All of them, in order: for values of an enum in the same order.
            #[allow(dead_code, reason = "most groups have no such enum")]
            pub(crate) const EACH: &[Message<super::Texts>] = &[$($name),+];
        })+
        #[cfg(test)]
        pub(crate) const ALL: &[&[crate::messages::message::Message<Texts>]] = &[$($group::EACH),+];
    };
}
pub(super) use messages;

/// Declares the column titles of measures: a name, followed by its text in each of the languages in
/// brackets.
macro_rules! columns {
    ([$($language:ident),+] $($name:ident: $($text:literal),+;)+) => {
        /// The language of the titles.
        #[derive(Debug, Clone, Copy)]
        pub enum Columns { $($language),+ }
        pub(crate) mod columns {
            use crate::messages::message::Message;
            const LANGUAGES: usize = [$(super::Columns::$language),+].len();
            $(pub(crate) const $name: Message<super::Texts> = Message {
                name: concat!("columns::", stringify!($name)),
                of: |texts| {
                    const TEXTS: [&str; LANGUAGES] = [$($text),+];
                    TEXTS[texts.columns as usize]
                },
            };)+
            #[cfg(test)]
            pub(crate) const ALL: &[Message<super::Texts>] = &[$($name),+];
        }
    };
}
pub(super) use columns;
