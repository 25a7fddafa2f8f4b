//! Trials in which a configuration did not work, from the record to every form of the report.

use crate::messages::{EN, LANGUAGES, conclusion, warning};
use crate::{Format, render};
use dyno_analysis::analyse;
use dyno_analysis::model::{
    Comparison, Conclusion, Metric, NotWorking, NotWorkingReason, ReportModel, Verdict,
};
use dyno_model::latency::LatencySummary;
use dyno_model::plan::ComparisonMetric;
use dyno_model::reason::Reason;
use dyno_model::record::TrialRecord;
use dyno_model::units::Nanos;
use dyno_model::warning::Warning;
use dyno_store::fixture::Shape;
use dyno_store::{RunData, TrialOutcome};

/// Two systems at one number of clients in five blocks; MySQL, the second, commits 2.14 times as
/// much as MariaDB, within 2 %.
fn run() -> RunData {
    let shape = Shape {
        systems: 2,
        variants: vec!["in-place"],
        clients: vec![8],
        blocks: 5,
        ..Shape::small()
    };
    let mut data = shape.read();
    each(&mut data, |configuration, block, record| {
        let rate = [1000.0, 2140.0][configuration] * (1.0 + 0.004 * f64::from(block));
        record.window_length = Nanos(1_000_000_000);
        record.counters.committed = (rate * if configuration == 0 { 1.0 } else { 1.01 }) as u64;
        record.transaction_latency.p95 =
            [10_000_000, 5_000_000][configuration] + u64::from(block) * 1_000;
    });
    data
}

fn each(data: &mut RunData, mut change: impl FnMut(usize, u32, &mut TrialRecord)) {
    for trial in &data.run.plan.trials {
        if let Some(TrialOutcome::Finished(record)) = data.run.outcomes.get_mut(&trial.id) {
            change(trial.configuration, trial.block, record);
        }
    }
}

/// Changes MySQL's trial of the second block.
fn with(change: impl Fn(&mut TrialRecord)) -> ReportModel {
    let mut data = run();
    each(&mut data, |configuration, block, record| {
        if (configuration, block) == (1, 2) {
            change(record);
        }
    });
    analyse(&data)
}

fn nothing_committed(record: &mut TrialRecord) {
    record.counters.committed = 0;
    // The window includes part of the work of transactions that started in the warm-up.
    record.weighted_commits = Some(12.0);
    record.transaction_latency = LatencySummary::default();
}

fn of(model: &ReportModel, metric: ComparisonMetric) -> &Comparison {
    model.comparisons.iter().find(|it| it.metric == metric).expect("both systems were measured")
}

#[test]
fn a_server_that_stopped_in_one_trial_cannot_win_on_the_others() {
    let model = with(|_| {});
    assert_eq!(
        of(&model, ComparisonMetric::Throughput).effect.verdict,
        Some(Verdict::Better),
        "when nothing happened"
    );
    let model = with(nothing_committed);
    for metric in [ComparisonMetric::Throughput, ComparisonMetric::P95Ms] {
        let compared = of(&model, metric);
        let figures = (
            compared.effect.verdict,
            compared.effect.ratio,
            compared.effect.ratio_interval,
            compared.effect.p_corrected,
        );
        assert_eq!(figures, (Some(Verdict::Invalid), None, None, None), "{metric:?}");
        let because = NotWorkingReason::NothingCommitted;
        assert_eq!(
            compared.effect.subject_not_working,
            Some(NotWorking { trials: 1, of: 5, because })
        );
    }
    let sentence = "MySQL failed 1 of 5 trials at 8 clients: no transaction committed. Its other trials can count against it, not for it.";
    let verdict = "MySQL and MariaDB cannot be compared at 8 clients: some trials of MySQL failed, and the remaining trials can only count against a side that failed.";
    for format in [Format::Markdown, Format::Json, Format::Html] {
        let text = render(&model, format, EN);
        assert!(text.contains(sentence) && text.contains(verdict), "{}: {text}", format.name());
    }
    let because = NotWorkingReason::NothingCommitted;
    let never = NotWorking { trials: 5, of: 5, because };
    let never = Conclusion::DidNotWork { series: 1, clients: vec![8], not_working: never };
    assert_eq!(
        conclusion::sentence(&model, &never, EN),
        "MySQL failed 5 of 5 trials at 8 clients: no transaction committed."
    );
    // The report also counts valid trials: the page explains what valid does not mean.
    let rests = "10 valid trials of 10 planned, in 5 blocks. In one trial a configuration did not work, which counts against it; the conclusions give the reason.";
    let page = render(&model, Format::Html, EN);
    assert!(page.contains(rests) && page.contains(">failed</span>"), "{page}");
}

#[test]
fn remaining_trials_can_still_count_against_a_failed_side() {
    let mut data = run();
    // MySQL is the slower one, and stopped once as well.
    each(&mut data, |configuration, block, record| {
        if configuration == 1 {
            record.counters.committed /= 4;
        }
        if (configuration, block) == (1, 2) {
            nothing_committed(record);
        }
    });
    let model = analyse(&data);
    let compared = of(&model, ComparisonMetric::Throughput);
    assert_eq!((compared.effect.verdict, compared.repeats), (Some(Verdict::Worse), 4));
    assert!(compared.effect.ratio.is_some_and(|ratio| (0.5..0.6).contains(&ratio)), "{compared:?}");
}

#[test]
fn trials_failed_by_a_system_count_against_its_configuration() {
    let cases: [(Warning, NotWorkingReason); 4] = [
        (Warning::SystemFailed { reason: "it died".into() }, NotWorkingReason::SystemFailed),
        (Warning::CutShort { reason: "no connection".into() }, NotWorkingReason::CutShort),
        (Warning::Failures { failed: 50, share: 0.02 }, NotWorkingReason::Failures),
        (Warning::GeneratorBusy { share: 0.99 }, NotWorkingReason::NotMeasured),
    ];
    for (warning, because) in cases {
        let model = with(|record| record.warnings.push(warning.clone()));
        let compared = of(&model, ComparisonMetric::Throughput);
        if matches!(warning, Warning::GeneratorBusy { .. }) {
            let reported =
                (compared.effect.verdict, compared.repeats, compared.effect.subject_not_working);
            assert_eq!(
                reported,
                (Some(Verdict::Better), 4, None),
                "nobody's fault but the generator's"
            );
        } else {
            assert_eq!(compared.effect.verdict, Some(Verdict::Invalid), "{because:?}");
            assert_eq!(compared.effect.subject_not_working.map(|it| it.because), Some(because));
        }
    }
}

#[test]
fn unmeasured_trials_count_against_a_system_that_may_be_the_cause() {
    let mut data = run();
    let id = data
        .run
        .plan
        .trials
        .iter()
        .find(|trial| trial.configuration == 1)
        .expect("planned")
        .id
        .clone();
    let failed = TrialOutcome::Failed { reason: "the server did not start".into(), search: None };
    data.run.outcomes.insert(id.clone(), failed);
    let verdict = |data: &_| of(&analyse(data), ComparisonMetric::Throughput).effect.verdict;
    assert_eq!(verdict(&data), Some(Verdict::Invalid));
    data.run.is_interrupted = true;
    assert_eq!(verdict(&data), Some(Verdict::Better));
    data.run.is_interrupted = false;

    // A generator is no part of the system, but may have ended because of the system.
    let name = || "2 (load1)".to_owned();
    let lost = Reason::GeneratorLost { name: name(), reason: Box::new(Reason::Killed) };
    let refused = "the server refused all connections".into();
    let stopped = Reason::GeneratorFailed { name: name(), reason: Box::new(refused) };
    for (reason, expected) in [(lost, Verdict::Better), (stopped, Verdict::Invalid)] {
        let failed = TrialOutcome::Failed { reason, search: None };
        data.run.outcomes.insert(id.clone(), failed);
        assert_eq!(verdict(&data), Some(expected));
    }
}

#[test]
fn times_of_fewer_trials_than_are_valid_say_how_many() {
    let model = with(nothing_committed);
    let row = model.configurations.iter().find(|row| row.not_working.is_some()).expect("MySQL");
    assert_eq!(row.trials_valid, 5);
    assert_eq!(
        row.figures.estimate(Metric::Throughput).map(|it| it.repeats),
        Some(5),
        "a throughput of 0 is one"
    );
    assert_eq!(row.figures.estimate(Metric::P95).map(|it| it.repeats), Some(4));
    assert!(render(&model, Format::Text, EN).contains("(n = 4)"));
    assert!(render(&model, Format::Html, EN).contains("(n = 4)"));
}

#[test]
fn a_system_failure_is_reported_before_failed_transactions() {
    let died = Warning::SystemFailed { reason: "it was killed by signal 9".into() };
    let model = with(|record| {
        record.warnings.push(Warning::Failures { failed: 12, share: 0.2 });
        record.warnings.push(died.clone());
    });
    assert_eq!(model.warnings[0].warning, died, "among doubts the cause stands first, too");
    for lang in LANGUAGES {
        let text = render(&model, Format::Markdown, lang);
        let reported =
            text.lines().find(|line| line.starts_with("- ") && line.contains("signal 9"));
        let sentence = warning::sentence(&died, lang);
        assert!(
            reported
                .is_some_and(|line| line.ends_with(&sentence) && line.len() > sentence.len() + 2),
            "{text}"
        );
    }
}
