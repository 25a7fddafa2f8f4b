//! Typed cells of a table: a cell knows what its value is, and each renderer decides how to format
//! it.

use crate::figures;
use crate::messages::{Lang, compare, fill, headings};
use crate::words::Word;
use dyno_analysis::model::{Estimate, RatioBound};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    pub(crate) value: Value,
    /// Tooltip in the HTML page.
    pub(crate) detail: Option<String>,
    /// True when the value indicates a problem.
    pub(crate) is_alarming: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Intentionally empty.
    Empty,
    /// A value that does not exist or has too little data.
    Absent,
    /// A name, a sentence or a plain figure.
    Text(String),
    /// A word for a state.
    Word(Word),
    /// A verdict on a difference that may be within the margin.
    Marked(Word),
    Figure {
        /// Formatted value, without its unit.
        text: String,
        /// Half-width of its interval.
        half: Option<String>,
        /// Number of trials behind the value, if that is fewer than all valid ones.
        repeats: Option<u32>,
    },
    /// Minimum and maximum, and the separator that plain text puts between them.
    Span(String, String, &'static str),
    /// A configuration, by its number of clients.
    Configuration {
        /// Index into the model's configurations.
        index: usize,
        clients: u32,
    },
}

impl From<Value> for Cell {
    fn from(value: Value) -> Self {
        Self { value, detail: None, is_alarming: false }
    }
}

impl Cell {
    pub(crate) fn empty() -> Self {
        Value::Empty.into()
    }

    pub(crate) fn absent() -> Self {
        Value::Absent.into()
    }

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Value::Text(text.into()).into()
    }

    /// A text cell, or an absent one.
    pub(crate) fn text_or_absent(text: Option<impl Into<String>>) -> Self {
        text.map_or_else(Self::absent, Self::text)
    }

    /// A formatted figure, or an absent one.
    pub(crate) fn figure(text: Option<String>) -> Self {
        text.map_or(Value::Absent, |text| Value::Figure { text, half: None, repeats: None }).into()
    }

    /// A count.
    pub(crate) fn count(number: u64) -> Self {
        Self::figure(Some(figures::count(number)))
    }

    pub(crate) fn ratio(ratio: Option<f64>, bound: Option<RatioBound>) -> Self {
        Self::figure(ratio.map(|ratio| figures::bounded_ratio(ratio, bound)))
    }

    /// A mean with its interval and, if it is not based on `valid` trials, their number.
    pub(crate) fn estimate(estimate: Option<&Estimate>, valid: Option<u32>) -> Self {
        let figure = |estimate: &Estimate| Value::Figure {
            text: figures::mean(estimate),
            half: figures::half_width(estimate),
            repeats: valid.filter(|valid| *valid != estimate.repeats).map(|_| estimate.repeats),
        };
        estimate.map_or(Value::Absent, figure).into()
    }

    /// Minimum and maximum with a separator.
    pub(crate) fn span(ends: Option<[String; 2]>, between: &'static str) -> Self {
        ends.map_or(Value::Absent, |[low, high]| Value::Span(low, high, between)).into()
    }

    pub(crate) fn word(word: Word) -> Self {
        Value::Word(word).into()
    }

    /// Returns the cell, marked as alarming if the condition is true.
    pub(crate) fn alarming(self, is_alarming: bool) -> Self {
        Self { is_alarming, ..self }
    }

    /// Returns the cell with a tooltip.
    pub(crate) fn with_detail(self, detail: Option<String>) -> Self {
        Self { detail, ..self }
    }

    /// Text of the cell in the text and Markdown reports.
    pub(crate) fn plain(&self, lang: Lang) -> String {
        match &self.value {
            Value::Empty => String::new(),
            Value::Absent => headings::ABSENT.text(lang).to_owned(),
            Value::Text(text) | Value::Figure { text, repeats: None, .. } => {
                lang.figure(text.clone())
            }
            Value::Figure { text, repeats: Some(repeats), .. } => {
                format!("{} (n = {repeats})", lang.figure(text.clone()))
            }
            Value::Word(word) => word.text(lang).to_owned(),
            Value::Marked(word) => fill!(compare::PERHAPS_SMALL, lang, verdict = word.text(lang)),
            Value::Span(low, high, between) => {
                let [low, high] = [low, high].map(|end| lang.figure(end.clone()));
                figures::range(low, &high, between)
            }
            Value::Configuration { clients, .. } => clients.to_string(),
        }
    }
}
