//! One message, and the languages that it is written in.

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

pub(super) enum Piece<'a> {
    Text(&'a str),
    Place(&'a str),
}

/// Cuts a message into text and places. A brace that opens no place stands for itself.
pub(super) fn pieces(mut text: &str) -> Vec<Piece<'_>> {
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
        $($(#[$doc])* pub const $name: $crate::messages::message::Message = $crate::messages::message::Message {
            name: concat!(module_path!(), "::", stringify!($name)),
            places: &[$(stringify!($place)),*],
            en: $en,
        };)*
        /// Every message of this file.
        pub(crate) const ALL: &[$crate::messages::message::Message] = &[$($name),*];
    };
}
pub(crate) use messages;
