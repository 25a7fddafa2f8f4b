//! All prose in reports: whole sentences with named placeholders, one file per language.
//!
//! # Rules
//! * A message is a whole sentence or a whole heading; sentences are never assembled from pieces,
//!   because word order and particles differ between languages.
//! * A placeholder is written `{name}` and is filled with a figure, a name or a list, never with
//!   prose. If the surrounding words depend on its number, it includes their plural forms:
//!   `{clients:1 client|# clients}`.
//! * A language's file ([`languages`]) contains everything that differs between languages: texts,
//!   plural forms, how lists and sentences are joined. Figures have the same format in all of them
//!   ([`crate::figures`]).
//! * Only the English file explains the purpose of a message. The other files are grouped by the
//!   same parts of the report.

pub(crate) mod compare;
pub(crate) mod conclusion;
pub(crate) mod growth;
mod languages;
mod message;
pub(crate) mod names;
pub(crate) mod question;
pub(crate) mod reason;
pub(crate) mod warning;

pub(crate) use languages::Message;
#[cfg(test)]
pub(crate) use languages::en::ALL;
pub(crate) use languages::en::{
    checkup, columns, headings, history, live, notes, page, plan, preflight, terminal, tiles,
};
pub use languages::{EN, LANGUAGES, Lang};
pub(crate) use message::fill;
pub(crate) use names::list;

#[cfg(test)]
mod tests {
    use super::languages::en::{ENGLISH, Texts};
    use super::message::{Language, Piece, pieces};
    use super::*;
    use std::collections::BTreeSet;

    fn placeholders(text: &str) -> Vec<(&str, Option<&str>)> {
        let placeholder = |piece| {
            if let Piece::Placeholder(name, forms) = piece { Some((name, forms)) } else { None }
        };
        pieces(text).into_iter().filter_map(placeholder).collect()
    }

    /// Errors in the texts of a language.
    fn faults(lang: &Language<Texts>) -> Vec<String> {
        let names =
            |text| placeholders(text).into_iter().map(|(name, _)| name).collect::<BTreeSet<_>>();
        let mut faults = Vec::new();
        for message in columns::ALL.iter().chain(ALL.iter().copied().flatten()) {
            let (text, declared) = (message.text(lang), names(message.text(EN)));
            if text.trim().is_empty() {
                faults.push(format!("{}, {}: no text", message.name, lang.code));
            }
            if names(text) != declared {
                faults.push(format!(
                    "{}, {}: {:?} instead of {declared:?}",
                    message.name,
                    lang.code,
                    names(text)
                ));
            }
            let forms = placeholders(text).into_iter().filter_map(|(_, forms)| forms);
            for forms in forms.filter(|forms| forms.split('|').count() != lang.forms) {
                faults.push(format!(
                    "{}, {}: {forms} are not {} forms",
                    message.name, lang.code, lang.forms
                ));
            }
        }
        faults
    }

    #[test]
    fn every_text_of_every_language_has_exactly_the_places_of_its_message() {
        for lang in LANGUAGES {
            assert_eq!(faults(lang), Vec::<String>::new());
        }
    }

    #[test]
    fn a_language_with_a_wrong_place_or_too_few_forms_is_reported() {
        let headings = headings::Texts { SYSTEM: " ", ..ENGLISH.texts.headings };
        let names = names::Texts {
            SERIES_AT: "{series}, {client}",
            CLIENTS: "{numbers:#}",
            ..ENGLISH.texts.names
        };
        let texts = Texts { headings, names, ..ENGLISH.texts };
        assert_eq!(
            faults(&Language { code: "xx", texts, ..ENGLISH }),
            [
                "headings::SYSTEM, xx: no text",
                "names::CLIENTS, xx: # are not 2 forms",
                "names::SERIES_AT, xx: {\"client\", \"series\"} instead of {\"clients\", \"series\"}"
            ]
        );
    }

    #[test]
    fn places_are_filled_by_name_and_values_are_not_filled_again() {
        let message = Message { name: "X", of: |_| "{b} before {a}, {a:one|#s} {" };
        assert_eq!(fill!(message, EN, a = "{b}|#", b = "2"), "2 before {b}|#, {b}|#s {");
        assert_eq!(fill!(message, EN, a = "1", b = "2"), "2 before 1, one {");
    }

    #[test]
    fn lists_end_with_and() {
        assert_eq!(list::<u32>(EN, &[]), "");
        assert_eq!(list(EN, &[1]), "1");
        assert_eq!(list(EN, &[1, 20]), "1 and 20");
        assert_eq!(list(EN, &[1, 20, 40]), "1, 20 and 40");
    }

    #[test]
    fn japanese_has_no_blanks_in_lists_and_before_signs_of_per_cent() {
        let of = |items: &[&str]| list(&languages::ja::JAPANESE, items);
        assert_eq!(of(&["MySQL", "8"]), "MySQLと8");
        assert_eq!(of(&["提案（8）", "従来"]), "提案（8）と従来");
        assert_eq!(of(&["1", "20", "40"]), "1、20、40");
        let message = Message { name: "X", of: |_| "{a}" };
        let [english, japanese] =
            [EN, &languages::ja::JAPANESE].map(|lang| fill!(message, lang, a = "71.1 %"));
        assert_eq!((english.as_str(), japanese.as_str()), ("71.1 %", "71.1%"));
    }
}
