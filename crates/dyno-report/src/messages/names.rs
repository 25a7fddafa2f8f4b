//! Names inside sentences: numbers of clients, metrics, reasons, lists.

pub(crate) use super::languages::en::names::*;
use super::languages::en::{terminal, values};
use super::languages::{EN, Lang, Message};
use super::{fill, headings};
use dyno_analysis::model::{FaultRow, NotWorkingReason, ReportModel, SystemRow};
use dyno_model::fault::{FaultAction, FaultRecord};
use dyno_model::history::anomalies::Anomaly;
use dyno_model::plan::ComparisonMetric;
use dyno_model::version::ServerVersion;
use dyno_store::environment::Virtualisation;
use dyno_store::{Damage, Problem};
use std::fmt;
use std::time::Duration;

/// A list in a sentence: `1, 20 and 40`.
pub(crate) fn list<T: fmt::Display>(lang: Lang, items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    if items.is_empty() { String::new() } else { (lang.list)(&items) }
}

/// A series with its number of clients: `MySQL (for-update), 20 clients`.
pub(crate) fn series_at(series: &str, number: u32, lang: Lang) -> String {
    fill!(SERIES_AT, lang, series, clients = clients(&[number], lang))
}

/// Name of a configuration: `MySQL (for-update), 20 clients`.
pub(crate) fn configuration(model: &ReportModel, index: usize, lang: Lang) -> String {
    series_at(&model.series_of(index).label, model.configurations[index].clients, lang)
}

/// The version of a system.
pub(crate) fn version(version: &ServerVersion, lang: Lang) -> String {
    version_of("", version, lang)
}

/// The version of a system, with its product in front of that of its servers.
fn version_of(product: &str, version: &ServerVersion, lang: Lang) -> String {
    let server = with_product(product, version.of_server());
    match version {
        ServerVersion::Server(_) => server,
        ServerVersion::Cluster { nodes, data_nodes, .. } => {
            fill!(values::CLUSTER_VERSION, lang, nodes, version = server, data = data_nodes)
        }
        ServerVersion::Peers { nodes, library, .. } => {
            fill!(values::PEERS_VERSION, lang, nodes, version = server, library)
        }
        ServerVersion::Replicated { replicas, is_synchronous, .. } => {
            let message = match is_synchronous {
                true => values::REPLICAS_SYNCHRONOUS,
                false => values::REPLICAS_ASYNCHRONOUS,
            };
            fill!(message, lang, version = server, replicas)
        }
    }
}

/// `MariaDB 11.8.2` for the version `11.8.2-MariaDB-log`; compatible products are named in their
/// versions.
fn with_product(product: &str, version: &str) -> String {
    if product.is_empty() || version.starts_with(product) {
        return version.to_owned();
    }
    let number = version.split_once(&format!("-{product}")).map_or(version, |(number, _)| number);
    format!("{product} {number}").trim_end().to_owned()
}

/// A system with its product and version as far as they are known: `MariaDB 11.8.2`, or `shop
/// (MariaDB 11.8.2)` if it has a name of its own.
pub(crate) fn system(name: &str, product: &str, version: &ServerVersion, lang: Lang) -> String {
    let described = version_of(product, version, lang);
    let is_named = !product.is_empty() && name.eq_ignore_ascii_case(product);
    if is_named {
        described
    } else if described.is_empty() {
        name.to_owned()
    } else {
        with_note(name, &described, lang)
    }
}

/// A setting as the server reports it, or as requested if it cannot report it.
pub(crate) fn setting_read(system: &SystemRow, name: &str, lang: Lang) -> Option<String> {
    let value = system.settings_read.get(name)?;
    Some(match system.settings_unread.contains(name) {
        true => fill!(values::NOT_READ_BACK, lang, value),
        false => value.clone(),
    })
}

/// Hypervisor and container.
pub(crate) fn virtualisation(layers: &[Virtualisation], lang: Lang) -> String {
    let name = |layer: &Virtualisation| match layer {
        Virtualisation::VirtualMachine => values::VIRTUAL_MACHINE.text(lang),
        Virtualisation::Container => values::CONTAINER.text(lang),
    };
    layers.iter().map(name).collect::<Vec<_>>().join(lang.comma)
}

/// A place that cannot be read, and why.
pub(crate) fn unreadable(problem: &Problem, lang: Lang) -> String {
    let Problem { location, damage } = problem;
    match damage {
        Damage::LastLineCut => fill!(values::LINE_CUT, lang, place = location),
        Damage::Text(text) => format!("{location}: {text}"),
    }
}

/// The same as a sentence.
pub(crate) fn unreadable_note(problem: &Problem, lang: Lang) -> String {
    fill!(super::notes::NOTE_UNREADABLE, lang, what = unreadable(problem, lang))
}

/// A text after its label: `warning: The kernels differ.`
pub(crate) fn labelled(label: &str, text: &str, lang: Lang) -> String {
    fill!(LABELLED, lang, label, text)
}

/// A name followed by a note: `haproxy 2.6 (proxy)`.
pub(crate) fn with_note(name: &str, note: &str, lang: Lang) -> String {
    fill!(WITH_NOTE, lang, name, note)
}

/// A duration as a plan shows it: exact below a minute (`1.5 s`), else as [`duration`].
pub(crate) fn exact(duration: Duration, lang: Lang) -> String {
    if duration < Duration::from_secs(60) && duration.subsec_nanos() > 0 {
        return fill!(terminal::SECONDS, lang, seconds = duration.as_secs_f64());
    }
    self::duration(duration, lang)
}

/// A duration for readers: `8 s`, `1 min 20 s`, `2 h 5 min`.
pub(crate) fn duration(duration: Duration, lang: Lang) -> String {
    let seconds = duration.as_secs() + u64::from(duration.subsec_millis() >= 500);
    let rounded = (seconds + 30) / 60;
    let (message, hours, minutes) = match seconds {
        0..60 => (terminal::SECONDS, 0, 0),
        60..600 if !seconds.is_multiple_of(60) => (terminal::MINUTES_SECONDS, 0, seconds / 60),
        60..3600 => (terminal::MINUTES, 0, rounded),
        _ if rounded.is_multiple_of(60) => (terminal::HOURS, rounded / 60, 0),
        _ => (terminal::HOURS_MINUTES, rounded / 60, rounded % 60),
    };
    let seconds = if minutes > 0 { seconds % 60 } else { seconds };
    fill!(message, lang, hours, minutes, seconds)
}

/// A long duration, rounded: `45 s`, `12 min`, `3 h 10 min`, `5.1 days`.
pub(crate) fn span(seconds: f64, lang: Lang) -> String {
    match seconds {
        s if s < 172_800.0 => duration(Duration::from_secs_f64(s.max(0.0)), lang),
        s => fill!(DAYS, lang, number = format!("{:.1}", s / 86_400.0)),
    }
}

/// A time in RFC 3339 as `2026-11-21 08:45:00`; `?` if it is unknown.
pub(crate) fn to_the_second(time: &str) -> String {
    time.get(..19).unwrap_or("?").replace('T', " ")
}

/// `1 client`, `20, 40 and 60 clients`.
pub(crate) fn clients(numbers: &[u32], lang: Lang) -> String {
    fill!(CLIENTS, lang, numbers = list(lang, numbers))
}

/// Name of a metric in a sentence.
pub(crate) fn metric(metric: ComparisonMetric, lang: Lang) -> &'static str {
    match metric {
        ComparisonMetric::Throughput => METRIC_THROUGHPUT,
        ComparisonMetric::MeanMs => METRIC_MEAN,
        ComparisonMetric::P50Ms => METRIC_P50,
        ComparisonMetric::P90Ms => METRIC_P90,
        ComparisonMetric::P95Ms => METRIC_P95,
        ComparisonMetric::P99Ms => METRIC_P99,
        ComparisonMetric::P999Ms => METRIC_P999,
        ComparisonMetric::MaxMs => METRIC_MAX,
        ComparisonMetric::HighestRate => METRIC_HIGHEST_RATE,
        ComparisonMetric::MostClients => METRIC_MOST_CLIENTS,
    }
    .text(lang)
}

/// Name of an anomaly in tables and sentences.
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
        NotWorkingReason::FellBehind => BECAUSE_FELL_BEHIND,
        NotWorkingReason::BackgroundNothingCommitted => BECAUSE_BACKGROUND_COMMITTED_NOTHING,
        NotWorkingReason::BackgroundFailures => BECAUSE_BACKGROUND_FAILED,
        NotWorkingReason::BackgroundFellBehind => BECAUSE_BACKGROUND_FELL_BEHIND,
    }
    .text(lang)
}

/// The faults of a configuration's trials, which are the same in all of them:
/// `kill data node 1, start data node 1`.
pub(crate) fn faults(row: &FaultRow, lang: Lang) -> String {
    let faults = row.trials.first().map_or(&[][..], |trial| &trial.faults);
    let name = |made: &FaultRecord| fault(made.action, &made.node, lang);
    faults.iter().map(name).collect::<Vec<_>>().join(lang.comma)
}

/// The fault of a node, or the command that was run: `kill data node 1`.
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
    let name = if action == FaultAction::Run { node.to_owned() } else { node_name(node, lang) };
    let reported = fill!(message, lang, node = name);
    // Japanese has a space between Japanese and Latin characters, and none between Japanese ones.
    let is_own = lang.code == "ja" && name.ends_with(|last: char| !last.is_ascii());
    if is_own { reported.replacen(&format!("{name} "), &name, 1) } else { reported }
}

/// A node name from a spec, in the language of the report: `data node 2`.
fn node_name(node: &str, lang: Lang) -> String {
    let (kind, number) = match node.rsplit_once(' ') {
        Some((kind, number)) if number.bytes().all(|digit| digit.is_ascii_digit()) => {
            (kind, Some(number))
        }
        _ => (node, None),
    };
    let known = [
        ("server", headings::NODE_SERVER),
        ("node", headings::NODE_MEMBER),
        ("SQL node", headings::NODE_SQL),
        ("data node", headings::DATA_NODE),
        ("the management node", headings::NODE_MANAGEMENT),
        ("primary", headings::NODE_PRIMARY),
        ("replica", headings::NODE_REPLICA),
    ];
    let name = known.into_iter().find(|(name, _)| *name == kind && lang.code != EN.code);
    match (name, number) {
        (None, _) => node.to_owned(),
        (Some((_, name)), None) => name.text(lang).to_owned(),
        (Some((_, name)), Some(number)) => format!("{} {number}", name.text(lang)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::languages::LANGUAGES;
    use super::*;

    #[test]
    fn nodes_of_faults_have_names_in_the_language_and_commands_stay() {
        let reported = |code: &str, action, node: &str| {
            let lang = LANGUAGES
                .into_iter()
                .find(|lang| lang.code == code)
                .expect("there is this language");
            fault(action, node, lang)
        };
        let rows = [
            ("en", FaultAction::Kill, "the management node", "kill the management node"),
            ("ko", FaultAction::Kill, "data node 2", "데이터 노드 2 강제 종료"),
            ("ja", FaultAction::Start, "server", "サーバーを起動"),
            ("ko", FaultAction::Run, "server", "명령 실행: server"),
            ("ko", FaultAction::Kill, "other 2", "other 2 강제 종료"),
        ];
        for (code, action, node, expected) in rows {
            assert_eq!(reported(code, action, node), expected);
        }
    }

    #[test]
    fn long_times_are_rounded_as_one_says_them() {
        let rows = [
            (0.4, "0 s"),
            (99.0, "1 min 39 s"),
            (120.0, "2 min"),
            (7_200.0, "2 h"),
            (864_000.0, "10.0 days"),
        ];
        for (seconds, expected) in rows {
            assert_eq!(span(seconds, EN), expected);
        }
    }
}
