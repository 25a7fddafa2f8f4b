//! What is known of a configuration, a trial or a part of it: a value for each metric.

use super::estimate::Estimate;
use super::metric::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One value, in the unit of its [`Metric`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Figure {
    /// A number of objects or events.
    Count(u64),
    /// A single value.
    Value(f64),
    /// A value of which only a lower bound is known.
    AtLeast {
        /// The bound.
        at_least: f64,
    },
    /// A mean over trials.
    Mean(Estimate),
}

impl Figure {
    /// A value, or a lower bound.
    #[must_use]
    pub fn bounded(value: f64, is_bound: bool) -> Self {
        if is_bound { Self::AtLeast { at_least: value } } else { Self::Value(value) }
    }

    /// The value, the bound or the mean.
    #[must_use]
    pub fn value(self) -> f64 {
        match self {
            Self::Count(number) => number as f64,
            Self::Value(value) | Self::AtLeast { at_least: value } => value,
            Self::Mean(estimate) => estimate.mean,
        }
    }

    /// True if it is only a lower bound.
    #[must_use]
    pub fn is_bound(self) -> bool {
        match self {
            Self::AtLeast { .. } => true,
            Self::Mean(estimate) => estimate.is_bound,
            Self::Count(_) | Self::Value(_) => false,
        }
    }
}

impl From<f64> for Figure {
    fn from(value: f64) -> Self {
        Self::Value(value)
    }
}

impl From<u64> for Figure {
    fn from(number: u64) -> Self {
        Self::Count(number)
    }
}

impl From<Estimate> for Figure {
    fn from(estimate: Estimate) -> Self {
        Self::Mean(estimate)
    }
}

/// Metrics with their values; what is not known is absent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Figures(BTreeMap<Metric, Figure>);

impl Figures {
    /// Sets the value of a metric, or removes it.
    pub fn set(&mut self, metric: Metric, figure: Option<impl Into<Figure>>) {
        match figure {
            Some(figure) => self.0.insert(metric, figure.into()),
            None => self.0.remove(&metric),
        };
    }

    /// Takes over all values of others.
    pub fn add(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// The value of a metric.
    #[must_use]
    pub fn get(&self, metric: impl Into<Metric>) -> Option<Figure> {
        self.0.get(&metric.into()).copied()
    }

    /// The mean over trials of a metric.
    #[must_use]
    pub fn estimate(&self, metric: impl Into<Metric>) -> Option<Estimate> {
        match self.get(metric)? {
            Figure::Mean(estimate) => Some(estimate),
            _ => None,
        }
    }

    /// The value of a metric as a number, also if it is a bound or a mean.
    #[must_use]
    pub fn value(&self, metric: impl Into<Metric>) -> Option<f64> {
        self.get(metric).map(Figure::value)
    }

    /// A number of objects or events.
    #[must_use]
    pub fn count(&self, metric: Metric) -> Option<u64> {
        match self.get(metric)? {
            Figure::Count(number) => Some(number),
            _ => None,
        }
    }

    /// True if any of them is only a lower bound.
    #[must_use]
    pub fn has_bound(&self) -> bool {
        self.0.values().any(|figure| figure.is_bound())
    }

    /// All of them, in the order of [`Metric`].
    pub fn iter(&self) -> impl Iterator<Item = (Metric, Figure)> + '_ {
        self.0.iter().map(|(metric, figure)| (*metric, *figure))
    }

    /// True if nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<const N: usize> From<[(Metric, Option<Figure>); N]> for Figures {
    fn from(figures: [(Metric, Option<Figure>); N]) -> Self {
        let known = figures.into_iter().filter_map(|(metric, it)| Some((metric, it?)));
        Self(known.collect())
    }
}
