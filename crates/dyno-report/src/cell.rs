//! What stands in a table's cell: a value that knows what it is. Renderers decide how it looks in
//! their form.

use crate::figures;
use crate::messages::{Lang, compare, fill, headings};
use crate::words::Word;
use dyno_analysis::model::{Estimate, RatioBound};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    pub(crate) value: Value,
    /// What a reader of the page sees when pointing at it.
    pub(crate) detail: Option<String>,
    /// True when it is not as it should be.
    pub(crate) is_alarming: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Nothing: the cell is empty on purpose.
    Empty,
    /// A value that does not exist or rests on too little data.
    Absent,
    /// A name, a sentence or a figure without further parts.
    Text(String),
    /// A word that stands for a state.
    Word(Word),
    /// A verdict on a difference that may be inside the margin.
    Marked(Word),
    Figure {
        /// As it is shown, without its unit.
        text: String,
        /// Half the width of its interval.
        half: Option<String>,
        /// Trials that it rests on, where these are not all of the valid ones.
        repeats: Option<u32>,
    },
    /// The least and the most that something can be, and the sign that plain text has between them.
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

    /// A text, or nothing to tell.
    pub(crate) fn told(text: Option<impl Into<String>>) -> Self {
        text.map_or_else(Self::absent, Self::text)
    }

    /// A figure as it is shown, or nothing to show.
    pub(crate) fn figure(text: Option<String>) -> Self {
        text.map_or(Value::Absent, |text| Value::Figure { text, half: None, repeats: None }).into()
    }

    /// A number of things.
    pub(crate) fn count(number: u64) -> Self {
        Self::figure(Some(figures::count(number)))
    }

    pub(crate) fn ratio(ratio: Option<f64>, bound: Option<RatioBound>) -> Self {
        Self::figure(ratio.map(|ratio| figures::bounded_ratio(ratio, bound)))
    }

    /// A mean with its interval and, where it rests on other trials than so many, their number.
    pub(crate) fn estimate(estimate: Option<&Estimate>, valid: Option<u32>) -> Self {
        let figure = |estimate: &Estimate| Value::Figure {
            text: figures::mean(estimate),
            half: figures::half_width(estimate),
            repeats: valid.filter(|valid| *valid != estimate.repeats).map(|_| estimate.repeats),
        };
        estimate.map_or(Value::Absent, figure).into()
    }

    /// The least and the most, with a sign between them.
    pub(crate) fn span(ends: Option<[String; 2]>, between: &'static str) -> Self {
        ends.map_or(Value::Absent, |[low, high]| Value::Span(low, high, between)).into()
    }

    pub(crate) fn word(word: Word) -> Self {
        Value::Word(word).into()
    }

    /// The cell, alarming when something is not as it should be.
    pub(crate) fn alarming(self, is_alarming: bool) -> Self {
        Self { is_alarming, ..self }
    }

    /// The cell with more to see when pointing at it.
    pub(crate) fn with_detail(self, detail: Option<String>) -> Self {
        Self { detail, ..self }
    }

    /// As text and Markdown have it.
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
            Value::Span(low, high, between) => figures::range(low.clone(), high, between),
            Value::Configuration { clients, .. } => clients.to_string(),
        }
    }
}
