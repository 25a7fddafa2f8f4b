//! What things are called inside of sentences: numbers of clients, metrics, reasons, lists.

use super::message::{Lang, messages};
use dyno_analysis::model::NotWorkingReason;
use dyno_model::plan::Metric;
use std::borrow::Cow;
use std::fmt;

messages! {
    /// End of a list: all items but the last, then the last.
    LIST_END [items, last] "{items} and {last}";

    /// One client, in a sentence.
    CLIENTS_ONE [] "1 client";
    /// Several clients, in a sentence: a list of numbers.
    CLIENTS_MANY [numbers] "{numbers} clients";

    /// Metric.
    METRIC_THROUGHPUT [] "throughput";
    /// Metric.
    METRIC_MEAN [] "mean response time";
    /// Metric.
    METRIC_P50 [] "median response time";
    /// Metric.
    METRIC_P95 [] "95th percentile of response time";
    /// Metric.
    METRIC_P99 [] "99th percentile of response time";

    /// Reason.
    BECAUSE_SYSTEM_FAILED [] "the system died in mid-trial";
    /// Reason.
    BECAUSE_NOT_MEASURED [] "they could not be measured";
    /// Reason.
    BECAUSE_CUT_SHORT [] "they ended before their time";
    /// Reason.
    BECAUSE_NOTHING_COMMITTED [] "not a single transaction was committed";
    /// Reason.
    BECAUSE_FAILURES [] "too many transactions failed";
    /// Reason.
    BECAUSE_KEPT_BEHIND [] "too little of what arrived was done";
}

/// A list in a sentence: `1, 20 and 40`.
#[must_use]
pub fn list<T: fmt::Display>(lang: Lang, items: &[T]) -> String {
    let texts: Vec<Cow<'_, str>> = items.iter().map(|item| Cow::Owned(item.to_string())).collect();
    match texts.as_slice() {
        [] => String::new(),
        [only] => only.clone().into_owned(),
        [firsts @ .., last] => LIST_END.fill(lang, &[("items", &firsts.join(", ")), ("last", last)]),
    }
}

/// `1 client`, `20, 40 and 60 clients`.
#[must_use]
pub fn clients(numbers: &[u32], lang: Lang) -> String {
    match numbers {
        [1] => CLIENTS_ONE.fill(lang, &[]),
        numbers => CLIENTS_MANY.fill(lang, &[("numbers", &list(lang, numbers))]),
    }
}

/// Name of a metric in a sentence.
#[must_use]
pub fn metric(metric: Metric, lang: Lang) -> &'static str {
    match metric {
        Metric::Throughput => METRIC_THROUGHPUT,
        Metric::MeanMs => METRIC_MEAN,
        Metric::P50Ms => METRIC_P50,
        Metric::P95Ms => METRIC_P95,
        Metric::P99Ms => METRIC_P99,
    }
    .text(lang)
}

/// Why trials did not work, as a clause.
#[must_use]
pub fn because(reason: NotWorkingReason, lang: Lang) -> &'static str {
    match reason {
        NotWorkingReason::SystemFailed => BECAUSE_SYSTEM_FAILED,
        NotWorkingReason::NotMeasured => BECAUSE_NOT_MEASURED,
        NotWorkingReason::CutShort => BECAUSE_CUT_SHORT,
        NotWorkingReason::NothingCommitted => BECAUSE_NOTHING_COMMITTED,
        NotWorkingReason::Failures => BECAUSE_FAILURES,
        NotWorkingReason::KeptBehind => BECAUSE_KEPT_BEHIND,
    }
    .text(lang)
}
