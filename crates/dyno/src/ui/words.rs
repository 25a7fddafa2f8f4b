//! How times, rates and treatments are written in a line.

use dyno_model::audit::{AuditCheck, AuditVerdict};
use dyno_model::event::{Event, Look, StopReason};
use dyno_model::finding::Severity;
use dyno_model::latency::is_shown;
use dyno_model::limit::LimitMeasure;
use dyno_model::plan::{LoadBy, Plan, Treatment};
use dyno_model::printable;
use dyno_model::record::TrialRecord;
use dyno_model::search::Step;
use std::time::Duration;

/// What is said after the first Ctrl-C.
pub(super) const INTERRUPTED: &str =
    "interrupted: the trial ends now and results are written; a second Ctrl-C stops at once";

/// A span of time as a plan has it: exact below a minute (`1.5 s`), else as [`duration`].
pub(crate) fn exact(duration: Duration) -> String {
    if duration < Duration::from_secs(60) && duration.subsec_nanos() > 0 {
        return format!("{} s", duration.as_secs_f64());
    }
    self::duration(duration)
}

/// A span of time as people say it: `8 s`, `1 min 20 s`, `2 h 5 min`.
pub(crate) fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs() + u64::from(duration.subsec_millis() >= 500);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..600 if !seconds.is_multiple_of(60) => format!("{} min {} s", seconds / 60, seconds % 60),
        60..3600 => format!("{} min", (seconds + 30) / 60),
        _ => {
            let minutes = (seconds + 30) / 60;
            match minutes % 60 {
                0 => format!("{} h", minutes / 60),
                rest => format!("{} h {rest} min", minutes / 60),
            }
        }
    }
}

/// A rate with thousands apart: `12,345`. Small ones keep a digit after the point.
pub(super) fn rate(per_second: f64) -> String {
    if per_second < 100.0 {
        return format!("{per_second:.1}");
    }
    let digits = format!("{per_second:.0}");
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A treatment in a line: `MariaDB, 20 clients, variant = in-place`.
pub(crate) fn treatment(plan: &Plan, treatment: &Treatment) -> String {
    let clients = if treatment.clients == 1 { "1 client" } else { &format!("{} clients", treatment.clients) };
    let mut line = format!("{}, {clients}", plan.systems[treatment.system].name);
    for (factor, level) in plan.factors.iter().zip(&treatment.levels) {
        let name = factor.rsplit('.').next().unwrap_or(factor);
        line.push_str(&format!(", {name} = {level}"));
    }
    line
}

/// The start of a whole plot in a line: `MariaDB on raid1: starts with thread_handling = pool-of-threads`.
pub(crate) fn start(plan: &Plan, treatment: &Treatment) -> String {
    let storage =
        treatment.variation.storage.iter().map(|storage| format!(" on {storage}")).collect::<String>();
    let name = format!("{}{storage}", plan.systems[treatment.system].name);
    let settings: Vec<String> =
        treatment.variation.settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if settings.is_empty() {
        format!("{name}: starts")
    } else {
        format!("{name}: starts with {}", settings.join(", "))
    }
}

/// The figures of a finished trial in a line.
pub(super) fn figures(record: &TrialRecord) -> String {
    let mut line = format!("{} transactions/s", rate(record.throughput()));
    if let Some(times) = record.response() {
        line.push_str(&format!(", mean {}", times.mean));
        for (percentage, time) in [(95.0, times.p95), (99.0, times.p99)] {
            if is_shown(times.count, percentage) {
                line.push_str(&format!(", p{percentage} {time}"));
            }
        }
    }
    if let Some(open_loop) = record.open_loop.filter(|open_loop| open_loop.unstarted > 0) {
        line.push_str(&format!(", {} of {} never started", open_loop.unstarted, open_loop.arrived));
    }
    if record.ledger.failed > 0 {
        line.push_str(&format!(", {} failed", record.ledger.failed));
    }
    match record.audit.verdict() {
        AuditVerdict::Intact => line.push_str(", data intact"),
        AuditVerdict::NotChecked => {}
        AuditVerdict::Undecided => line.push_str(", data undecided"),
        AuditVerdict::Violated => line.push_str(&violated(record)),
    }
    if record.worst() == Some(Severity::Invalid) {
        line.push_str(", NOT VALID");
    }
    line
}

fn violated(record: &TrialRecord) -> String {
    let is_of_updates = |check: &&AuditCheck| matches!(check, AuditCheck::LostUpdates { .. });
    let balance = record.audit.checks.iter().find(is_of_updates).and_then(AuditCheck::balance);
    let (lost, lost_max) = balance.map_or((0, 0), |balance| (balance.lost_min, balance.lost_max));
    let least = if lost_max > lost { "AT LEAST " } else { "" };
    match lost {
        0 => ", DATA DAMAGED".to_owned(),
        1 => format!(", {least}1 UPDATE LOST"),
        lost => format!(", {least}{} UPDATES LOST", rate(lost as f64).trim_end_matches(".0")),
    }
}

fn looked(look: &Look) -> String {
    let Look { block, decided, questions, stop } = look;
    let why = match stop {
        None => "",
        Some(StopReason::Decided) => "; no more is measured",
        Some(StopReason::Hopeless) => "; the others will hardly be within the budget, so no more is measured",
        Some(StopReason::Budget) => "; the budget is spent",
        Some(StopReason::Limit) => {
            return format!("after block {block}: a limit is broken, so no more is measured");
        }
    };
    format!("after block {block}: {decided} of {questions} questions decided{why}")
}

/// A load that a search tried: `at 1,600/s: p99 4.2 ms, held`.
fn stepped(plan: &Plan, id: &str, step: &Step) -> String {
    let find =
        plan.trials.iter().find(|trial| trial.id == id).and_then(|trial| plan.treatment(trial).load.find);
    let Some(search) = find else { return String::new() };
    let load = match search.most {
        LoadBy::Rate => format!("{}/s", rate(step.load)),
        LoadBy::Clients => format!("{} clients", step.load),
    };
    let unit = if search.measure == LimitMeasure::Failed { "%" } else { "ms" };
    let at_least = if step.is_bound { "≥ " } else { "" };
    let figure =
        step.figure.map_or_else(|| "unknown".to_owned(), |figure| format!("{at_least}{figure:.2} {unit}"));
    let outcome = match (step.is_held, step.is_by_generator) {
        (true, _) => "held",
        (false, false) => "not held",
        (false, true) => "not held, and the generator was at its limit",
    };
    format!("at {load}: {} {figure}, {outcome}", search.measure)
}

/// The events that deserve a line of their own in either display; `None` for the others.
pub(super) fn line(plan: &Plan, event: &Event) -> Option<String> {
    let trial = |id: &str| {
        let trial = plan.trials.iter().find(|trial| trial.id == id);
        trial.map(|trial| treatment(plan, plan.treatment(trial))).unwrap_or_default()
    };
    let text = match event {
        Event::SystemReady { system, version, .. } => Some(format!("{system}: ready, version {version}")),
        Event::SystemFailed { system, reason } => Some(format!("{system}: FAILED: {reason}")),
        Event::TrialFinished(record) => {
            let id = &record.trial.id;
            Some(format!("{id}  {}: {}", trial(id), figures(record)))
        }
        Event::Looked(look) => Some(looked(look)),
        Event::Stepped { trial: id, step } => {
            Some(format!("{id}  {}: {}", trial(id), stepped(plan, id, step)))
        }
        Event::TrialFailed { trial: id, reason } => Some(format!("{id}  {}: FAILED: {reason}", trial(id))),
        _ => None,
    };
    // Names and what servers say come from outside.
    text.map(|text| printable::line(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::units::Nanos;

    #[test]
    fn what_a_server_says_cannot_colour_or_add_lines() {
        let reason = "no \u{1b}[31mroom\nb01-002  MySQL, 8 clients: 9,999 transactions/s".to_owned();
        let event = Event::SystemFailed { system: "My\u{9b}2JSQL".to_owned(), reason };
        let text = "title = \"t\"\nsystem = [{ name = \"A\", url = \"null:\" }]\nworkload = { kind = \"idle\" }\nload = { clients = 1, duration = \"1s\" }";
        let workload = dyno_model::catalog::WorkloadDescription {
            name: "idle",
            summary: "",
            audit: "",
            options: Vec::new(),
        };
        let input = dyno_model::spec::Input { file_name: "t.toml", text, ..Default::default() };
        let (_, plan) = dyno_model::spec::parse(input, &[workload]).expect("a plan");
        let text = line(&plan, &event).expect("a failure is told");
        assert!(!text.contains(char::is_control) && text.contains("no \\u{1b}[31mroom b01-002"), "{text:?}");
    }

    #[test]
    fn spans_of_time_are_rounded_to_what_matters() {
        let rows = [
            (400, "0 s"),
            (8_400, "8 s"),
            (59_600, "1 min"),
            (80_000, "1 min 20 s"),
            (1_790_000, "30 min"),
            (7_500_000, "2 h 5 min"),
            (7_200_000, "2 h"),
        ];
        for (millis, text) in rows {
            assert_eq!(duration(Duration::from_millis(millis)), text);
        }
    }

    #[test]
    fn what_a_plan_says_is_not_rounded() {
        assert_eq!(exact(Duration::from_millis(1_500)), "1.5 s");
        assert_eq!(exact(Duration::from_secs(30)), "30 s");
        assert_eq!(exact(Duration::from_secs(80)), "1 min 20 s");
    }

    /// A record of 1,000 commits in a second; each took a millisecond, but for the audit's findings.
    fn record(lost: u64, in_doubt: u64) -> TrialRecord {
        let mut times = dyno_model::latency::histogram();
        times.record_n(1_000_000, 1_000).unwrap();
        let committed = 1_000;
        let failed = lost + in_doubt;
        let check = AuditCheck::LostUpdates {
            committed,
            in_doubt,
            sum_before: 0,
            sum_after: 1_000 - lost as i64,
            witnessed: 0,
            examples: Vec::new(),
        };
        TrialRecord {
            measured: Nanos(1_000_000_000),
            ledger: dyno_model::ledger::Ledger { committed, failed, ..Default::default() },
            transaction: (&times).into(),
            audit: check.into(),
            end: dyno_model::record::TrialEnd::Trial,
            ..TrialRecord::default()
        }
    }

    #[test]
    fn a_finished_trial_is_a_line_with_rate_times_and_what_the_audit_found() {
        let times = "1,000 transactions/s, mean 1.00 ms, p95 1.00 ms, p99 1.00 ms";
        assert_eq!(figures(&record(0, 0)), format!("{times}, data intact"));
        assert_eq!(figures(&record(1, 0)), format!("{times}, 1 failed, 1 UPDATE LOST"));
        assert_eq!(figures(&record(999, 0)), format!("{times}, 999 failed, 999 UPDATES LOST"));
        assert_eq!(figures(&record(0, 8)), format!("{times}, 8 failed, data undecided"));
        assert_eq!(figures(&record(5, 8)), format!("{times}, 13 failed, AT LEAST 5 UPDATES LOST"));
    }

    #[test]
    fn rates_have_their_thousands_apart() {
        let rows = [(0.0, "0.0"), (12.34, "12.3"), (999.6, "1,000"), (1_234_567.0, "1,234,567")];
        for (value, text) in rows {
            assert_eq!(rate(value), text);
        }
    }
}
