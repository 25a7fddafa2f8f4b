//! The one table of all prose in reports: whole sentences with named places, one column per language.
//!
//! # Rules
//! * A message is a whole sentence or a whole heading; sentences are never put together from pieces, because word order
//!   and particles differ between languages.
//! * A place is written `{name}` and is filled with a figure, a name or a list; never with prose.
//! * Every message stands in exactly one of the files of this folder, by the part of the report that shows it:
//!   [`headings`], [`names`], [`conclusion`], [`finding`], [`notes`], [`page`] (only the HTML page), [`compare`] (only `dyno compare`).
//! * A new language is a further column: a field of [`Message`] and a variant of [`Lang`].

pub mod compare;
pub mod conclusion;
pub mod finding;
pub mod growth;
pub mod headings;
mod message;
pub mod names;
pub mod notes;
pub mod page;

pub use message::{Lang, Message, UnknownLang};
pub use names::list;

/// Every message of every file.
pub fn all() -> impl Iterator<Item = &'static Message> {
    [
        headings::ALL,
        names::ALL,
        conclusion::ALL,
        finding::ALL,
        notes::ALL,
        page::ALL,
        growth::ALL,
        compare::ALL,
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::message::{Piece, pieces};
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
