//! Parsers for the values of options.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use dyno_report::{LANGUAGES, Lang};

/// The languages of reports, by their codes.
pub(super) fn languages() -> impl TypedValueParser<Value = Lang> {
    one_of(&LANGUAGES.map(|lang| (lang.code, lang.name, lang)))
}

/// A parser for a fixed set of words, each with its help and value.
pub(super) fn one_of<T>(
    words: &[(&'static str, &'static str, T)],
) -> impl TypedValueParser<Value = T> + use<T>
where
    T: Copy + Send + Sync + 'static,
{
    let words = words.to_vec();
    PossibleValuesParser::new(
        words.iter().map(|(word, help, _)| PossibleValue::new(*word).help(*help)),
    )
    .map(move |word| {
        words.iter().find(|(known, ..)| *known == word).expect("only known words are taken").2
    })
}
