//! Pooling, matching, conditions and verdicts, tested on synthetic runs.

mod headline;
mod schemas;

use super::*;
use crate::compare::model::{CompareWarning, CompareWarningKind, Condition, MetricPair, Value};
use dyno_model::audit::AuditCheck;
use dyno_model::catalog::OptionValue;
use dyno_model::client_group::{BackgroundPlan, GroupRecord};
use dyno_model::latency::LatencySummary;
use dyno_model::record::{StatementLatency, TrialRecord};
use dyno_model::units::Nanos;
use dyno_model::warning::{Severity, Warning};
use dyno_store::Run;
use dyno_store::fixture::{Shape, each_record, one_configuration, run_with};
use std::collections::BTreeSet;

const THROUGHPUT: &[ComparisonMetric] = &[ComparisonMetric::Throughput];

fn side(runs: Vec<Run>) -> Side {
    Side { folder: "side".to_owned(), runs, timelines: BTreeMap::new() }
}

fn options(metrics: &[ComparisonMetric]) -> CompareOptions {
    CompareOptions { metrics: metrics.to_vec(), rules: Rules::default(), systems: Vec::new() }
}

fn compared(base: Vec<Run>, new: Vec<Run>, metrics: &[ComparisonMetric]) -> CompareModel {
    compare(&side(base), &side(new), &options(metrics)).expect("comparable")
}

fn throughput(model: &CompareModel) -> &MetricPair {
    &model.configurations[0].metrics[0]
}

fn differing(model: &CompareModel, wanted: Condition) -> Vec<(String, String, String)> {
    let of = |warning: &CompareWarning| match &warning.kind {
        CompareWarningKind::Differs { condition, values, .. } if *condition == wanted => {
            assert_eq!(warning.severity, Severity::Warning);
            values.clone()
        }
        _ => Vec::new(),
    };
    let values = model.warnings.iter().flat_map(of);
    let joined = |values: &BTreeSet<Value>| {
        values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | ")
    };
    values.map(|it| (it.what.to_string(), joined(&it.base), joined(&it.new))).collect()
}

#[test]
fn runs_are_compared_unpaired_and_give_the_published_interval() {
    // Student's data (R: t.test(extra ~ group, data = sleep)): p-value = 0.07939, interval of the
    // difference of group 1 and group 2 -3.3654832 to 0.2054832. The comparison works on
    // logarithms, so the data are passed as exponentials.
    let first: [f64; 10] = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
    let second: [f64; 10] = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
    let base = vec![run_with("base", &first.map(f64::exp))];
    let new = vec![run_with("new", &second.map(f64::exp))];
    let model = compared(base, new, THROUGHPUT);
    let pair = throughput(&model);
    let interval = pair.ratio_interval.expect("ten trials each");
    let close =
        |value: f64, expected: f64| assert!((value - expected).abs() < 1e-5, "{value} {expected}");
    close(pair.ratio.expect("a ratio").ln(), 1.58);
    close(pair.p.expect("a test"), 0.079_39);
    close(interval.low.ln(), -0.205_483_2);
    close(interval.high.ln(), 3.365_483_2);
    assert_eq!(pair.verdict, Verdict::Inconclusive);
    assert_eq!(model.rules.family, 1);
}

#[test]
fn folders_of_one_trial_each_are_repeats_of_the_same_thing() {
    let each = |name: &str, values: [f64; 5]| -> Vec<Run> {
        let one = |(i, value)| run_with(&format!("{name}{i}"), &[value]);
        values.into_iter().enumerate().map(one).collect()
    };
    let base = each("base", [100.0, 101.0, 99.0, 100.5, 99.5]);
    let new = each("new", [80.0, 81.0, 79.0, 80.5, 79.5]);
    let model = compared(base, new, &METRICS);
    assert_eq!((model.base.runs.len(), model.base.trials_valid), (5, 5));
    assert_eq!(model.configurations[0].new.trials_valid, 5);
    // Less throughput is worse, and so is more response time.
    assert!(
        model.comparisons().all(|(_, pair)| pair.verdict == Verdict::Worse && pair.exceeds_margin)
    );
    assert_eq!(
        (model.outcome.verdict, model.outcome.worse, model.outcome.comparisons),
        (Verdict::Worse, 5, 5)
    );
    assert!((throughput(&model).ratio.expect("a ratio") - 0.8).abs() < 0.001);
    let other_way =
        compared(each("a", [80.0, 81.0, 79.0, 80.5, 79.5]), each("b", [100.0; 5]), &METRICS);
    assert_eq!(other_way.outcome.verdict, Verdict::Better);
    let same =
        compared(each("a", [100.0, 101.0, 99.0, 100.5, 99.5]), each("b", [100.0; 5]), &METRICS);
    assert_eq!((same.outcome.verdict, same.outcome.equivalent), (Verdict::Equivalent, 5));
}

#[test]
fn one_repeat_decides_nothing_and_two_do_not_either() {
    for values in [&[100.0][..], &[100.0, 101.0]] {
        let new: Vec<f64> = values.iter().map(|value| value / 10.0).collect();
        let model = compared(vec![run_with("a", values)], vec![run_with("b", &new)], THROUGHPUT);
        let pair = throughput(&model);
        assert_eq!(
            (pair.verdict, pair.p, pair.ratio_interval),
            (Verdict::Inconclusive, None, None)
        );
        assert!((pair.ratio.expect("a ratio") - 0.1).abs() < 1e-9);
        assert_eq!((model.rules.family, model.rules.min_repeats), (0, 3));
        assert_eq!(model.outcome.verdict, Verdict::Inconclusive);
    }
}

#[test]
fn an_open_comparison_says_how_many_trials_would_decide_it() {
    // Logarithms with a standard deviation of 0.03 on both sides: the detectable difference is 2.02
    // standard deviations, ln 1.0625, with five trials per side, so a margin of 5 % needs more,
    // according to the table of method 8 (1.51 · 0.03 = ln 1.0463; seven give 1.63 · 0.03 = ln
    // 1.0501).
    let logs: [f64; 3] = [-0.03, 0.0, 0.03];
    let base = logs.map(f64::exp);
    let new = logs.map(|log| (log + 0.04).exp());
    let model = compared(vec![run_with("a", &base)], vec![run_with("b", &new)], THROUGHPUT);
    assert_eq!(throughput(&model).verdict, Verdict::Inconclusive);
    assert_eq!(throughput(&model).repeats_needed, Some(8));
}

#[test]
fn all_comparisons_of_a_page_are_corrected_together() {
    // Tested alone, the first configuration is worse; among many without a difference it is not.
    let clients: Vec<u32> = (1..=10).collect();
    let shape = Shape { clients, ..one_configuration(3) };
    let tuned = |name: &str, first: [f64; 3]| {
        let mut run = shape.run(name);
        let configurations: Vec<usize> =
            run.plan.trials.iter().map(|trial| trial.configuration).collect();
        let blocks: Vec<u32> = run.plan.trials.iter().map(|trial| trial.block).collect();
        each_record(&mut run, |i, record| {
            let values = if configurations[i] == 0 { first } else { [90.0, 100.0, 110.0] };
            record.counters.committed = (values[blocks[i] as usize - 1] * 1e6) as u64;
            record.window_length = Nanos(1_000_000 * 1_000_000_000);
        });
        run
    };
    let (base, new) = ([100.0, 110.0, 105.0], [85.0, 90.0, 80.0]);
    let alone = compared(vec![run_with("a", &base)], vec![run_with("b", &new)], THROUGHPUT);
    assert_eq!(throughput(&alone).verdict, Verdict::Worse);
    let among = compared(vec![tuned("a", base)], vec![tuned("b", new)], THROUGHPUT);
    assert_eq!(among.rules.family, 10);
    assert!(
        (throughput(&among).p.expect("a test") - throughput(&alone).p.expect("a test")).abs()
            < 1e-9
    );
    assert_eq!(throughput(&among).verdict, Verdict::Inconclusive);
}

#[test]
fn a_failed_audit_leaves_no_verdict() {
    let base = run_with("a", &[100.0, 101.0, 102.0]);
    let mut new = run_with("b", &[300.0, 301.0, 302.0]);
    each_record(&mut new, |i, record| {
        if i == 1 {
            let check = AuditCheck::RowCount {
                table: "t".to_owned(),
                expected_min: 5,
                expected_max: 5,
                found: 4,
            };
            record.audit.checks = vec![check];
            record.warnings.push(Warning::AuditViolated);
        }
    });
    let model = compared(vec![base], vec![new], &METRICS);
    assert_eq!((model.outcome.verdict, model.outcome.invalid), (Verdict::Invalid, 5));
    assert!(model.comparisons().all(|(_, pair)| pair.p.is_none() && pair.ratio.is_some()));
    let worst = &model.warnings[0];
    assert_eq!(worst.severity, Severity::Invalid);
    let configurations = vec![model.configurations[0].name.clone()];
    assert_eq!(
        worst.kind,
        CompareWarningKind::AuditViolated { side: SideName::New, configurations }
    );
}

#[test]
fn invalid_trials_are_left_out_and_told() {
    let base = run_with("a", &[100.0, 101.0, 102.0]);
    let mut new = run_with("b", &[100.0, 1.0, 101.0, 102.0]);
    each_record(&mut new, |i, record| {
        if i == 1 {
            record.warnings.push(Warning::GeneratorBusy { share: 0.95 });
        }
    });
    let model = compared(vec![base], vec![new], THROUGHPUT);
    assert_eq!(throughput(&model).verdict, Verdict::Equivalent);
    assert_eq!((model.new.trials_measured, model.new.trials_valid), (4, 3));
    let because = Warning::GeneratorBusy { share: 0.95 };
    let seen =
        CompareWarningKind::InvalidTrials { side: SideName::New, invalid: 1, measured: 4, because };
    assert!(model.warnings.iter().any(|warning| warning.kind == seen), "{:?}", model.warnings);
}

#[test]
fn busy_generator_outranks_failures_as_invalid_trial_reason() {
    let mut new = run_with("b", &[100.0, 101.0, 102.0]);
    each_record(&mut new, |_, record| {
        record.warnings.push(Warning::Failures { failed: 12, share: 0.2 });
        record.warnings.push(Warning::GeneratorBusy { share: 0.95 });
    });
    let model = compared(vec![run_with("a", &[100.0; 3])], vec![new], THROUGHPUT);
    let because = Warning::GeneratorBusy { share: 0.95 };
    let seen =
        CompareWarningKind::InvalidTrials { side: SideName::New, invalid: 3, measured: 3, because };
    assert!(model.warnings.iter().any(|warning| warning.kind == seen), "{:?}", model.warnings);
}

#[test]
fn conditions_that_differ_are_named_with_both_values() {
    let base = run_with("a", &[100.0; 3]);
    let mut new = run_with("b", &[100.0; 3]);
    new.environment.cpu_model = "Other CPU".to_owned();
    new.environment.kernel = "Linux 6.2.0".to_owned();
    new.environment.kernel_settings.insert("vm.swappiness".to_owned(), "1".to_owned());
    new.dyno_version = "0.2.0".to_owned();
    let report = new.systems.get_mut("MariaDB").expect("the system");
    report.version = "11.8.3-MariaDB".into();
    report.settings.insert("max_connections".to_owned(), "300".to_owned());
    report.settings.insert("sync_binlog".to_owned(), "1".to_owned());
    new.plan.configurations[0].load.stop =
        dyno_model::plan::StopRule::Duration(Nanos(60_000_000_000));
    let model = compared(vec![base], vec![new], THROUGHPUT);
    let texts =
        |name: &str, base: &str, new: &str| (name.to_owned(), base.to_owned(), new.to_owned());
    let rows = [
        (Condition::Machine, vec![texts("processor", "Synthetic CPU at 2.50GHz", "Other CPU")]),
        (Condition::Kernel, vec![texts("kernel", "Linux 6.1.0", "Linux 6.2.0")]),
        (Condition::KernelSettings, vec![texts("vm.swappiness", "60", "1")]),
        (Condition::Dyno, vec![texts("version", "0.1.0", "0.2.0")]),
        (Condition::ServerVersion, vec![texts("version", "11.8.2-MariaDB", "11.8.3-MariaDB")]),
        (
            Condition::Settings,
            vec![texts("max_connections", "200", "300"), texts("sync_binlog", "-", "1")],
        ),
        (Condition::Load, vec![texts("end", "after 5.00 s", "after 60.0 s")]),
    ];
    for (condition, expected) in rows {
        assert_eq!(differing(&model, condition), expected, "{condition:?}");
    }
}

#[test]
fn runs_of_a_side_that_differ_among_themselves_are_reported_too() {
    let with = |name: &str, kernel: &str| {
        let mut run = run_with(name, &[100.0; 3]);
        run.environment.kernel = kernel.to_owned();
        run
    };
    let model = compared(vec![with("a", "1"), with("b", "2")], vec![with("c", "2")], THROUGHPUT);
    let expected = ("kernel".to_owned(), "1 | 2".to_owned(), "2".to_owned());
    assert_eq!(differing(&model, Condition::Kernel), [expected]);
    let same = compared(vec![with("a", "1"), with("b", "1")], vec![with("c", "1")], THROUGHPUT);
    let differences =
        same.warnings.iter().filter(|it| matches!(it.kind, CompareWarningKind::Differs { .. }));
    assert_eq!(differences.count(), 0, "{:?}", same.warnings);
}

#[test]
fn the_time_between_the_sides_is_reported() {
    let at = |name: &str, from: &str, to: &str| {
        let mut run = run_with(name, &[100.0; 3]);
        (run.started_at, run.ended_at) =
            (format!("2026-11-21T{from}Z"), format!("2026-11-21T{to}Z"));
        run
    };
    let seen = |base: Vec<Run>, new: Vec<Run>| {
        let model = compared(base, new, THROUGHPUT);
        let warnings =
            model.warnings.into_iter().filter(|warning| warning.severity == Severity::Note);
        warnings.map(|warning| warning.kind).next_back().expect("one about time")
    };
    let (early, late) = (|| at("a", "10:00:00", "10:10:00"), || at("b", "11:10:00", "11:20:00"));
    let after = |first| CompareWarningKind::OneAfterTheOther { first, gap_s: 3_600.0 };
    assert_eq!(seen(vec![early()], vec![late()]), after(SideName::Base));
    assert_eq!(seen(vec![late()], vec![early()]), after(SideName::New));
    let middle = at("c", "10:30:00", "10:40:00");
    assert_eq!(seen(vec![early(), late()], vec![middle]), CompareWarningKind::Alternating);
}

/// The error of runs that are not repeats.
fn no_repeats(first: Run, second: Run) -> String {
    let other = run_with("other", &[100.0; 3]);
    let error = compare(&side(vec![first, second]), &side(vec![other]), &options(&METRICS));
    error.expect_err("no repeats").to_string()
}

#[test]
fn runs_of_different_plans_are_no_repeats() {
    let changed = |change: &dyn Fn(&mut Run)| {
        let mut run = run_with("second", &[100.0; 3]);
        run.started_at.push('Z'); // later than the first
        change(&mut run);
        no_repeats(run_with("first", &[100.0; 3]), run)
    };
    let begin = "BASE cannot be pooled: first and second are no repeats of the same thing: ";
    let option = changed(&|run| {
        let options = &mut run.plan.configurations[0].workload.options.0;
        options.insert("rows".to_owned(), OptionValue::Integer(5));
    });
    assert_eq!(option, format!("{begin}rows is 100 in the one and 5 in the other"));
    let load = changed(&|run| run.plan.configurations[0].load.attempts_max = 1);
    assert_eq!(load, format!("{begin}attempts is 10 in the one and 1 in the other"));
    let setting = changed(&|run| {
        if let dyno_model::plan::SystemSource::Managed(server) = &mut run.plan.systems[0].source {
            server.settings.clear();
        }
    });
    assert_eq!(
        setting,
        format!("{begin}the setting max_connections is 200 in the one and - in the other")
    );
    let factors = changed(&|run| {
        run.plan.factors = vec!["workload.rows".to_owned()];
        run.plan.configurations[0].levels = vec!["5".to_owned()];
    });
    assert_eq!(
        factors,
        format!("{begin}the list of factors is [] in the one and [workload.rows] in the other")
    );
    let name = changed(&|run| run.plan.name = "else".to_owned());
    assert!(
        name.contains("runs of different experiments are no repeats: rush (first), else (second)"),
        "{name}"
    );
}

#[test]
fn runs_at_other_numbers_of_clients_are_further_configurations() {
    let at = |name: &str, clients: u32| {
        Shape { clients: vec![clients], ..one_configuration(3) }.run(name)
    };
    let base = vec![at("a1", 1), at("a4", 4), at("a4b", 4), at("a9", 9)];
    let new = vec![at("b4", 4), at("b1", 1), at("b2", 2)];
    let model = compared(base, new, THROUGHPUT);
    let pairs: Vec<_> = model
        .configurations
        .iter()
        .map(|pair| (pair.name.clients, pair.base.trials_valid, pair.new.trials_valid))
        .collect();
    assert_eq!(pairs, [(1, 3, 3), (4, 6, 3)]);
    let clients =
        |names: &[ConfigurationName]| names.iter().map(|name| name.clients).collect::<Vec<_>>();
    assert_eq!((clients(&model.only_base), clients(&model.only_new)), (vec![9], vec![2]));
}

#[test]
fn a_run_on_both_sides_is_an_error() {
    let error = compare(
        &side(vec![run_with("a", &[1.0; 3])]),
        &side(vec![run_with("b", &[1.0; 3]), run_with("a", &[1.0; 3])]),
        &options(&METRICS),
    );
    assert_eq!(error, Err(CompareError::SameRun { run: "a".to_owned() }));
}

/// A run of the given systems.
fn of_systems(name: &str, systems: &[&str]) -> Run {
    let mut run = Shape { systems: systems.len(), ..one_configuration(3) }.run(name);
    for (plan, name) in run.plan.systems.iter_mut().zip(systems) {
        plan.name = (*name).to_owned();
    }
    run
}

fn matched(
    base: &[&str],
    new: &[&str],
    requested: &[&str],
) -> Result<Vec<(String, String)>, CompareError> {
    let options = CompareOptions {
        systems: requested.iter().map(|text| (*text).to_owned()).collect(),
        ..options(THROUGHPUT)
    };
    let sides = (side(vec![of_systems("a", base)]), side(vec![of_systems("b", new)]));
    let model = compare(&sides.0, &sides.1, &options)?;
    let names = |pair: ConfigurationPair| {
        (pair.name.system.clone(), pair.system_new.unwrap_or(pair.name.system))
    };
    Ok(model.configurations.into_iter().map(names).collect())
}

#[test]
fn systems_match_by_name_or_if_single_or_by_explicit_mapping() {
    let pairs = |pairs: &[(&str, &str)]| -> Result<Vec<(String, String)>, CompareError> {
        Ok(pairs.iter().map(|(one, other)| ((*one).to_owned(), (*other).to_owned())).collect())
    };
    assert_eq!(matched(&["A", "B"], &["B", "C"], &[]), pairs(&[("B", "B")]));
    assert_eq!(matched(&["old"], &["new"], &[]), pairs(&[("old", "new")]));
    assert_eq!(matched(&["A", "B"], &["B", "A"], &["A=B"]), pairs(&[("A", "B")]));
    assert_eq!(
        matched(&["A", "B"], &["C", "D"], &["A=D", "B=C"]),
        pairs(&[("A", "D"), ("B", "C")])
    );
    assert_eq!(matched(&["a=1", "B"], &["b=2", "C"], &["a=1=b=2"]), pairs(&[("a=1", "b=2")]));
}

#[test]
fn systems_that_cannot_be_matched_are_an_error_that_names_them() {
    let error = |base: &[&str], new: &[&str], requested: &[&str]| {
        matched(base, new, requested).expect_err("no match").to_string()
    };
    let nothing = "no configuration of BASE is in NEW, so there is nothing to compare; systems: A, B in BASE, C in NEW";
    assert_eq!(error(&["A", "B"], &["C"], &[]), nothing);
    let unknown = "`A=X` names no system of each side as BASE=NEW; BASE has `A`; NEW has `C`";
    assert_eq!(error(&["A"], &["C"], &["A=X"]), unknown);
    let twice = error(&["A"], &["C", "D"], &["A=C", "A=D"]);
    assert_eq!(twice, "system `A` of BASE is in two pairs");
}

#[test]
fn changed_workload_options_prevent_comparison_new_ones_warn() {
    let with = |name: &str, option: &str, value: i64| {
        let mut run = run_with(name, &[100.0; 3]);
        let options = &mut run.plan.configurations[0].workload.options.0;
        options.insert(option.to_owned(), OptionValue::Integer(value));
        run
    };
    let (base, other) = (side(vec![with("a", "rows", 100)]), side(vec![with("b", "rows", 5)]));
    let error =
        compare(&base, &other, &options(&METRICS)).expect_err("nothing to compare").to_string();
    assert!(error.ends_with("nothing to compare; rows: 100 in BASE, 5 in NEW"), "{error}");
    let model = compared(vec![with("a", "rows", 100)], vec![with("b", "extra", 5)], THROUGHPUT);
    let expected = ("extra".to_owned(), "-".to_owned(), "5".to_owned());
    assert_eq!(differing(&model, Condition::Workload), [expected]);
}

#[test]
fn different_background_workloads_warn_and_their_audits_count() {
    let with = |name: &str, clients: u32, found: u64| {
        let mut run = run_with(name, &[100.0, 101.0, 102.0]);
        let workload = run.plan.configurations[0].workload.clone();
        let plan = BackgroundPlan {
            name: "report".to_owned(),
            workload,
            clients,
            rate: None,
            think: None,
        };
        run.plan.configurations[0].background = vec![plan];
        let audit =
            AuditCheck::RowCount { table: "t".to_owned(), expected_min: 5, expected_max: 5, found };
        each_record(&mut run, |_, record| {
            let own = TrialRecord { audit: audit.clone().into(), ..TrialRecord::default() };
            record.background =
                vec![GroupRecord { name: "report".to_owned(), clients, record: own }];
        });
        run
    };
    let without = || run_with("a", &[100.0, 101.0, 102.0]);
    let model = compared(vec![without()], vec![with("b", 2, 5)], THROUGHPUT);
    let expected = ("background".to_owned(), "-".to_owned(), "report: rush, 2 clients".to_owned());
    assert_eq!(differing(&model, Condition::Workload), [expected]);
    let violated = compared(vec![without()], vec![with("b", 2, 4)], THROUGHPUT);
    assert_eq!(violated.outcome.verdict, Verdict::Invalid);
    let more = compared(vec![with("a", 2, 5)], vec![with("b", 3, 5)], THROUGHPUT);
    let expected = (
        "background".to_owned(),
        "report: rush, 2 clients".to_owned(),
        "report: rush, 3 clients".to_owned(),
    );
    assert_eq!(differing(&more, Condition::Workload), [expected]);
    let one = compared(vec![with("b", 1, 5)], vec![without()], THROUGHPUT);
    let expected = ("background".to_owned(), "report: rush, 1 client".to_owned(), "-".to_owned());
    assert_eq!(differing(&one, Condition::Workload), [expected]);
    let mut rows = with("b", 2, 5);
    let options = &mut rows.plan.configurations[0].background[0].workload.options.0;
    options.insert("rows".to_owned(), OptionValue::Integer(5));
    let rows = compared(vec![with("a", 2, 5)], vec![rows], THROUGHPUT);
    let expected = ("background.report.rows".to_owned(), "100".to_owned(), "5".to_owned());
    assert_eq!(differing(&rows, Condition::Workload), [expected]);
}

#[test]
fn levels_are_matched_by_their_names() {
    let variants = |name: &str, variants: Vec<&'static str>| {
        Shape { variants, ..one_configuration(3) }.run(name)
    };
    let base = variants("a", vec!["in-place", "read-modify-write"]);
    let new = variants("b", vec!["in-place", "for-update"]);
    let model = compared(vec![base], vec![new], THROUGHPUT);
    let labels = |names: &[ConfigurationName]| {
        names.iter().map(|name| name.label.clone()).collect::<Vec<_>>()
    };
    assert_eq!(model.configurations.len(), 1);
    assert_eq!(model.configurations[0].name.label, "MariaDB (in-place)");
    assert_eq!(labels(&model.only_base), ["MariaDB (read-modify-write)"]);
    assert_eq!(labels(&model.only_new), ["MariaDB (for-update)"]);
}

#[test]
fn the_test_by_ranks_stands_beside_the_verdict_and_does_not_change_it() {
    let base = run_with("base", &[100.0, 101.0, 102.0, 99.0]);
    let new = run_with("new", &[110.0, 111.0, 112.0, 109.0]);
    let model = compared(vec![base], vec![new], THROUGHPUT);
    let pair = throughput(&model);
    assert_eq!(pair.verdict, Verdict::Better);
    let ranks = pair.by_ranks.expect("tested");
    assert!((ranks.p - 2.0 / 70.0).abs() < 1e-9, "{ranks:?}");
    // Four on each side: the interval is the range of all ratios.
    let interval = ranks.ratio_interval.expect("four on each side");
    assert!(
        (interval.low - 109.0 / 102.0).abs() < 1e-9 && (interval.high - 112.0 / 99.0).abs() < 1e-9
    );
    assert!(interval.low < ranks.ratio && ranks.ratio < interval.high);
    let few = compared(
        vec![run_with("base", &[100.0, 101.0, 102.0])],
        vec![run_with("new", &[110.0, 111.0, 112.0])],
        THROUGHPUT,
    );
    assert_eq!(
        throughput(&few).by_ranks.expect("tested").ratio_interval,
        None,
        "three cannot have one"
    );
}

#[test]
fn welch_verdict_is_kept_and_rank_test_disagreement_warns() {
    let steady = [100.0, 101.0, 102.0, 99.0, 98.0, 100.5];
    // One trial far below hides the difference from Welch's test.
    let with_outlier = [110.0, 111.0, 112.0, 109.0, 30.0, 110.5, 113.0, 108.5];
    let seen = |new: &[f64]| {
        let model = compared(vec![run_with("a", &steady)], vec![run_with("b", new)], THROUGHPUT);
        let kind = model.warnings.iter().find_map(|warning| match &warning.kind {
            CompareWarningKind::RanksDisagree { comparisons } => {
                Some((warning.severity, comparisons.clone()))
            }
            _ => None,
        });
        (throughput(&model).verdict, kind)
    };
    let (verdict, kind) = seen(&with_outlier);
    assert_eq!(verdict, Verdict::Inconclusive);
    let (severity, comparisons) = kind.expect("a warning");
    assert_eq!(
        (severity, comparisons.len(), comparisons[0].1),
        (Severity::Warning, 1, ComparisonMetric::Throughput)
    );
    assert_eq!(seen(&[110.0, 111.0, 112.0, 109.0, 110.2, 110.5]).1, None, "both see it");
    assert_eq!(seen(&[100.0, 101.0, 102.0, 99.5, 98.2, 100.4]).1, None, "neither does");
    // With five trials rank tests have little power; this does not count as disagreement.
    assert_eq!(seen(&with_outlier[..5]).1, None);
}

#[test]
fn percentile_is_skipped_if_one_trial_has_too_few_transactions() {
    let base = run_with("a", &[100.0, 101.0, 102.0]);
    let mut new = run_with("b", &[80.0, 81.0, 82.0, 80.5]);
    each_record(&mut new, |i, record| {
        if i == 0 {
            record.transaction_latency.count = 150;
        }
    });
    let model =
        compared(vec![base], vec![new], &[ComparisonMetric::P50Ms, ComparisonMetric::P95Ms]);
    assert_eq!(model.configurations[0].without_figures, [ComparisonMetric::P95Ms]);
    assert!(
        model
            .comparisons()
            .map(|(_, it)| (it.metric, it.verdict))
            .eq([(ComparisonMetric::P50Ms, Verdict::Worse)])
    );
}

#[test]
fn throughput_at_fixed_rate_is_compared_only_if_sole_metric() {
    let run = |name: &str, rates: [Option<f64>; 2]| {
        let mut run = run_with(name, &[100.0, 101.0, 99.0]);
        run.plan
            .configurations
            .iter_mut()
            .zip(rates)
            .for_each(|(configuration, rate)| configuration.load.rate = rate);
        run
    };
    let seen = |rate: Option<f64>, metrics: &[ComparisonMetric]| {
        let model = compared(vec![run("base", [rate; 2])], vec![run("new", [rate; 2])], metrics);
        model.configurations[0].metrics.iter().map(|pair| pair.metric).collect::<Vec<_>>()
    };
    let all: Vec<ComparisonMetric> =
        METRICS.into_iter().filter(|metric| metric.searched().is_none()).collect();
    assert_eq!(seen(None, &METRICS), all);
    assert_eq!(seen(Some(500.0), &METRICS), all[1..]);
    assert_eq!(seen(Some(500.0), THROUGHPUT), [ComparisonMetric::Throughput]);
}

/// Runs of two configurations in four blocks, with the given throughput per block.
fn two_configurations(name: &str, of: [[f64; 4]; 2]) -> Run {
    let mut run = Shape { clients: vec![1, 8], ..one_configuration(4) }.run(name);
    let plan = run.plan.clone();
    for outcome in run.outcomes.values_mut() {
        if let dyno_store::TrialOutcome::Finished(record) = outcome {
            let rate = of[record.trial.configuration][record.trial.block as usize - 1];
            record.window_length = Nanos(1_000_000_000);
            record.weighted_commits = None;
            record.counters.committed = rate as u64;
            assert_eq!(
                plan.configuration(&record.trial).clients,
                [1, 8][record.trial.configuration]
            );
        }
    }
    run
}

#[test]
fn overall_change_is_found_when_no_single_pair_is_significant() {
    // About 5 % fewer; within a block configurations vary against each other, while blocks hardly
    // differ.
    let base = [[10_000.0, 10_500.0, 9_500.0, 10_150.0], [20_000.0, 19_400.0, 20_800.0, 20_300.0]];
    let new = [[9_450.0, 10_050.0, 9_000.0, 9_700.0], [19_000.0, 18_300.0, 19_600.0, 19_300.0]];
    let model = compared(
        vec![two_configurations("base", base)],
        vec![two_configurations("new", new)],
        THROUGHPUT,
    );
    let [overall] = &model.overall[..] else { panic!("one metric: {:?}", model.overall) };
    assert_eq!((overall.configurations, overall.clients.as_slice()), (2, &[1, 8][..]));
    assert_eq!(overall.effect.verdict, Some(Verdict::Worse), "{overall:?}");
    assert!((overall.degrees.expect("tested") - 6.0).abs() < 0.5, "{overall:?}");
    assert_eq!((model.outcome.worse_over_all, model.outcome.verdict), (1, Verdict::Worse));
    assert_eq!(model.outcome.worse, 0, "{:?}", model.configurations);
    assert!(model.warnings.iter().any(|it| it.kind == CompareWarningKind::OneRunEach));
}

#[test]
fn variance_between_runs_enters_the_error_with_several_runs() {
    let rates = |level: f64| {
        [
            [1.0, 1.01, 0.99, 1.0].map(|it| it * level * 10_000.0),
            [1.0, 0.99, 1.01, 1.0].map(|it| it * level * 20_000.0),
        ]
    };
    let runs = |name: &str, levels: &[f64]| -> Vec<Run> {
        let run =
            |(at, level): (usize, &f64)| two_configurations(&format!("{name}{at}"), rates(*level));
        levels.iter().enumerate().map(run).collect()
    };
    let one = compared(runs("a", &[1.0]), runs("b", &[1.06]), THROUGHPUT);
    assert_eq!(one.overall[0].effect.verdict, Some(Verdict::Better), "{:?}", one.overall);
    assert_eq!(one.overall[0].between_runs, None);
    // The same difference on average, between sides whose runs vary as much.
    let (base, new) = (runs("a", &[0.94, 1.0, 1.06]), runs("b", &[1.0, 1.06, 1.12]));
    let several = compared(base, new, THROUGHPUT);
    let overall = &several.overall[0];
    assert_eq!(overall.effect.verdict, Some(Verdict::Inconclusive), "{overall:?}");
    assert!((overall.degrees.expect("tested") - 4.0).abs() < 0.1, "{overall:?}");
    assert!(overall.between_runs.is_some_and(|it| (0.05..0.07).contains(&it)), "{overall:?}");
    let mut verdicts = several.configurations.iter().map(|pair| pair.metrics[0].verdict);
    assert!(verdicts.all(|verdict| verdict == Verdict::Inconclusive));
    assert!(several.warnings.iter().all(|it| it.kind != CompareWarningKind::OneRunEach));
}

#[test]
fn the_statement_that_became_slower_is_named_and_the_others_are_not() {
    let run = |name: &str, factor: f64| {
        let mut run = run_with(name, &[100.0, 101.0, 99.0, 100.5].map(|it| it / factor));
        each_record(&mut run, |at, record| {
            let kind = |(name, slower): (&str, f64)| {
                let mean = 1e6 * slower * [1.0, 1.004, 0.997, 1.002][at % 4];
                let latency = LatencySummary { count: 1_000, mean, ..LatencySummary::default() };
                StatementLatency { name: name.to_owned(), latency }
            };
            record.statements = [("select", factor), ("update", 1.0)].map(kind).into();
        });
        run
    };
    let verdicts = |factor: f64| {
        let model = compared(vec![run("a", 1.0)], vec![run("b", factor)], THROUGHPUT);
        let names = model.statements.iter().map(|it| (it.statement.clone(), it.effect.verdict));
        names.collect::<Vec<_>>()
    };
    let seen = verdicts(1.3);
    assert_eq!(seen[0].1, Some(Verdict::Worse), "{seen:?}");
    assert!(seen[1..].iter().all(|(_, verdict)| *verdict == Some(Verdict::Equivalent)), "{seen:?}");
    // Where no question is decided, statements are not mentioned.
    let run_with = |name: &str| {
        let mut changed = run(name, 1.0);
        each_record(&mut changed, |at, record| {
            record.statements[0].latency.mean = 1.3e6 * [1.0, 1.004, 0.997, 1.002][at % 4];
        });
        changed
    };
    let model = compared(vec![run("a", 1.0)], vec![run_with("b")], THROUGHPUT);
    let verdict = model.statements[0].effect.verdict;
    assert_eq!(verdict, Some(Verdict::Inconclusive), "{:?}", model.statements);
}
