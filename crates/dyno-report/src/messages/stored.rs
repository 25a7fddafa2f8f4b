//! Translation of English texts stored in runs and models: kinds of failures, names of
//! differences between two runs. A text that matches a message of this group in English is
//! translated to the language of the report, whichever version wrote it. Any other text comes from
//! a server, a system or a script, and is left unchanged.

use super::languages::en::ALL;
use super::languages::{EN, Lang};
use super::message::{Piece, pieces};
use std::borrow::Cow;
use std::fmt::Display;

/// The text in the language of the report.
pub(crate) fn said<'t>(text: &'t str, lang: Lang) -> Cow<'t, str> {
    let mut group = ALL.iter().filter(|message| message.name.starts_with("stored::"));
    let known = group.find_map(|message| Some((message, values(message.text(EN), text)?)));
    known.map_or(Cow::Borrowed(text), |(message, values)| {
        // A reason is itself such a text.
        let in_lang = |(name, value): (&'static str, &'t str)| match name {
            "reason" => (name, said(value, lang)),
            _ => (name, Cow::Borrowed(value)),
        };
        let values: Vec<_> = values.into_iter().map(in_lang).collect();
        let values: Vec<_> =
            values.iter().map(|(name, value)| (*name, value as &dyn Display)).collect();
        message.fill(lang, &values).into()
    })
}

/// Extracts the values from a text that was filled from a message.
fn values<'t>(message: &'static str, text: &'t str) -> Option<Vec<(&'static str, &'t str)>> {
    let mut rest = text;
    let mut values = Vec::new();
    let mut open = None;
    let mut pieces = pieces(message).into_iter().peekable();
    while let Some(piece) = pieces.next() {
        let literal = match piece {
            Piece::LevelRatio(name, _) => {
                open = Some(name);
                continue;
            }
            Piece::Text(literal) => literal,
        };
        let is_last = pieces.peek().is_none();
        let end = if is_last { rest.len().checked_sub(literal.len()) } else { rest.find(literal) }?;
        if rest.get(end..)?.strip_prefix(literal).is_none() || (open.is_none() && end > 0) {
            return None;
        }
        if let Some(name) = open.take() {
            values.push((name, &rest[..end]));
        }
        rest = &rest[end + literal.len()..];
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::super::languages::LANGUAGES;
    use super::*;
    use std::path::Path;

    fn korean(text: &str) -> Cow<'_, str> {
        said(text, LANGUAGES.into_iter().find(|lang| lang.code == "ko").expect("there is Korean"))
    }

    #[test]
    fn stored_texts_are_said_in_the_language_and_words_of_others_stay() {
        assert_eq!(korean("deadlock"), "데드락");
        assert_eq!(korean("virtual machine, container"), "가상 머신, 컨테이너");
        assert_eq!(korean("NDB 1 × 9.7.4-2, 2 data nodes"), "NDB 1 × 9.7.4-2, 데이터 노드 2개");
        assert_eq!(
            korean("events.jsonl, line 7: the last line is cut off"),
            "events.jsonl, line 7: 마지막 줄이 잘려 있음"
        );
        for own in [
            "deadlocks",
            "a deadlock",
            "",
            "time limit reached at 5 rows",
            "Lock wait timeout exceeded",
        ] {
            assert_eq!(korean(own), own);
        }
    }

    #[test]
    fn every_stored_text_says_the_same_in_english() {
        for message in ALL.iter().filter(|message| message.name.starts_with("stored::")) {
            assert_eq!(said(message.text(EN), EN), message.text(EN));
        }
    }

    /// The source text of all crates, except the messages themselves and tests.
    fn sources(folder: &Path, into: &mut String) {
        for entry in std::fs::read_dir(folder).expect("sources can be listed") {
            let path = entry.expect("an entry").path();
            if ["messages", "tests", "tests.rs", "fixture"]
                .iter()
                .any(|other| path.ends_with(other))
            {
            } else if path.is_dir() {
                sources(&path, into);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("sources are UTF-8");
                let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
                // Joins strings that continue on the next line.
                into.extend(code.split("\\\n").map(str::trim_start));
            }
        }
    }

    #[test]
    fn somebody_says_every_stored_text() {
        let mut code = String::new();
        let crates =
            Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of the crates");
        for name in
            ["dyno", "dyno-analysis", "dyno-engine", "dyno-host", "dyno-model", "dyno-store"]
        {
            sources(&crates.join(name).join("src"), &mut code);
        }
        for message in ALL.iter().filter(|message| message.name.starts_with("stored::")) {
            let text = message.text(EN);
            // Machine kinds are joined if there are two.
            let is_said =
                |part: &str| match part.split(['{', '}']).step_by(2).max_by_key(|it| it.len()) {
                    Some(longest) if longest != part => code.contains(longest),
                    _ => code.contains(&format!("\"{part}\"")),
                };
            let is_said = is_said(text) || text.split(", ").all(is_said);
            assert!(is_said, "nobody stores the text of {}: {text}", message.name);
        }
    }
}
