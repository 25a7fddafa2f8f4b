//! Parsers for the values of options.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use dyno_report::{EN, LANGUAGES, Lang};

/// The language of a command's output.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Language {
    /// Language of reports, progress and warnings
    #[arg(long, env = "DYNO_LANG", hide_env_values = true, value_parser = languages(), default_value = EN.code)]
    pub(crate) lang: Lang,
}

fn languages() -> impl TypedValueParser<Value = Lang> {
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
