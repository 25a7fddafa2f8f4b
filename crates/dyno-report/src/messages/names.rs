//! What things are called inside of sentences: numbers of clients, metrics, reasons, lists.

pub(crate) use super::en::names::*;
use super::headings;
use super::lang::{Lang, Message};
use dyno_analysis::model::{FaultRow, NotWorkingReason, ReportModel};
use dyno_model::fault::{FaultAction, FaultRecord};
use dyno_model::history::anomalies::Anomaly;
use dyno_model::plan::Metric;
use std::fmt;

/// A list in a sentence: `1, 20 and 40`.
pub(crate) fn list<T: fmt::Display>(lang: Lang, items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    if items.is_empty() { String::new() } else { (lang.list)(&items) }
}

/// A line with its number of clients: `MySQL (for-update), 20 clients`.
pub(crate) fn line_at(line: &str, number: u32, lang: Lang) -> String {
    LINE_AT.fill(lang, &[("line", line), ("clients", &clients(&[number], lang))])
}

/// A treatment in words: `MySQL (for-update), 20 clients`.
pub(crate) fn treatment(model: &ReportModel, index: usize, lang: Lang) -> String {
    line_at(&model.line_of(index).label, model.treatments[index].clients, lang)
}

/// A text under what it is about: `warning: The kernels differ.`
pub(crate) fn labelled(label: &str, text: &str, lang: Lang) -> String {
    LABELLED.fill(lang, &[("label", label), ("text", text)])
}

/// A name with more about it behind: `haproxy 2.6 (proxy)`.
pub(crate) fn with_note(name: &str, note: &str, lang: Lang) -> String {
    WITH_NOTE.fill(lang, &[("name", name), ("note", note)])
}

/// A long time, rounded as one says it: `45 s`, `12 min`, `3.2 h`, `5.1 days`.
pub(crate) fn span(seconds: f64, lang: Lang) -> String {
    match seconds {
        s if s < 99.5 => format!("{s:.0} s"),
        s if s < 5_970.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3_600.0),
        s => DAYS.fill(lang, &[("number", &format!("{:.1}", s / 86_400.0))]),
    }
}

/// `1 client`, `20, 40 and 60 clients`.
pub(crate) fn clients(numbers: &[u32], lang: Lang) -> String {
    CLIENTS.fill(lang, &[("numbers", &list(lang, numbers))])
}

/// Name of a metric in a sentence.
pub(crate) fn metric(metric: Metric, lang: Lang) -> &'static str {
    match metric {
        Metric::Throughput => METRIC_THROUGHPUT,
        Metric::MeanMs => METRIC_MEAN,
        Metric::P50Ms => METRIC_P50,
        Metric::P95Ms => METRIC_P95,
        Metric::P99Ms => METRIC_P99,
        Metric::HighestRate => METRIC_HIGHEST_RATE,
        Metric::MostClients => METRIC_MOST_CLIENTS,
    }
    .text(lang)
}

/// What an anomaly is called in tables and sentences.
pub(crate) fn anomaly(anomaly: Anomaly) -> &'static Message {
    match anomaly {
        Anomaly::DirtyRead => &headings::DIRTY_READS,
        Anomaly::IntermediateRead => &headings::INTERMEDIATE_READS,
        Anomaly::NonRepeatableRead => &headings::NON_REPEATABLE_READS,
        Anomaly::LostUpdate => &headings::LOST_UPDATES,
        Anomaly::WriteSkew => &headings::WRITE_SKEWS,
    }
}

/// Why trials did not work, as a clause.
pub(crate) fn because(reason: NotWorkingReason, lang: Lang) -> &'static str {
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

/// The faults of a treatment's trials, which are the same in all of them: `kill data node 1, start data node 1`.
pub(crate) fn faults(row: &FaultRow, lang: Lang) -> String {
    let faults = row.trials.first().map_or(&[][..], |trial| &trial.faults);
    let name = |made: &FaultRecord| fault(made.action, &made.node, lang);
    faults.iter().map(name).collect::<Vec<_>>().join(lang.comma)
}

/// What was done to a node, or the command that was run: `kill data node 1`.
pub(crate) fn fault(action: FaultAction, node: &str, lang: Lang) -> String {
    let message = match action {
        FaultAction::Kill => FAULT_KILL,
        FaultAction::Stop => FAULT_STOP,
        FaultAction::Continue => FAULT_CONTINUE,
        FaultAction::Start => FAULT_START,
        FaultAction::Restart => FAULT_RESTART,
        FaultAction::Promote => FAULT_PROMOTE,
        FaultAction::Disconnect => FAULT_DISCONNECT,
        FaultAction::Reconnect => FAULT_RECONNECT,
        FaultAction::FillDisk => FAULT_FILL_DISK,
        FaultAction::FreeDisk => FAULT_FREE_DISK,
        FaultAction::Run => FAULT_RUN,
    };
    message.fill(lang, &[("node", node)])
}

#[cfg(test)]
mod tests {
    use super::super::lang::EN;
    use super::*;

    #[test]
    fn long_times_are_rounded_as_one_says_them() {
        let rows =
            [(0.4, "0 s"), (99.0, "99 s"), (120.0, "2 min"), (7_200.0, "2.0 h"), (864_000.0, "10.0 days")];
        for (seconds, expected) in rows {
            assert_eq!(span(seconds, EN), expected);
        }
    }
}
