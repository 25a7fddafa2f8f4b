//! Timelines that are steady, warm up, drift or are too short, from the timeline to every form of
//! the report.

use crate::messages::EN;
use crate::{Format, render};
use dyno_analysis::analyse;
use dyno_analysis::model::{ReportModel, TrialState, Validity};
use dyno_model::plan::{ComparisonMetric, StopRule};
use dyno_model::warning::{Severity, Warning};
use dyno_store::fixture::Shape;
use dyno_store::{RunData, TimelineLine, TrialOutcome};

/// A run of one configuration in two blocks, with a given number of commits in each interval.
fn run(intervals: usize, length_s: f64, committed: impl Fn(f64) -> f64) -> RunData {
    let shape = Shape {
        systems: 1,
        variants: vec!["in-place"],
        clients: vec![8],
        blocks: 2,
        ..Shape::small()
    };
    let mut data = shape.read();
    for trial in data.trials.values_mut() {
        // An interval of warm-up that must not count.
        let warm_up = TimelineLine { is_warmup: true, ..line(0.0, 1.0, 1.0) };
        let window = (0..intervals).map(|i| {
            let at = i as f64 * length_s;
            // A small variation, the same in every trial.
            let scatter = 1.0 + 0.01 * ((i * 7 % 11) as f64 / 5.0 - 1.0);
            line(1.0 + at, length_s, committed(at) * scatter * length_s)
        });
        trial.timeline = std::iter::once(warm_up).chain(window).collect();
    }
    for configuration in &mut data.run.plan.configurations {
        configuration.load.stop = StopRule::Transactions(1000);
    }
    data
}

/// An interval of a closed loop of eight clients.
fn line(start_s: f64, length_s: f64, committed: f64) -> TimelineLine {
    let mean_ms = 8000.0 * length_s / committed;
    TimelineLine {
        start_s,
        length_s,
        is_warmup: false,
        committed: committed as u64,
        failed: 0,
        retries: 0,
        latency_ms: Some([mean_ms; 5]),
    }
}

/// Warnings about the steadiness of a report's trials.
fn warnings(model: &ReportModel) -> Vec<Warning> {
    let all = model.warnings.iter().map(|row| row.warning.clone());
    all.filter(|warning| matches!(warning, Warning::WarmUpLeft { .. } | Warning::Drift { .. }))
        .collect()
}

#[test]
fn a_steady_trial_is_judged_and_not_doubted() {
    let model = analyse(&run(60, 1.0, |_| 1000.0));
    assert_eq!(warnings(&model), []);
    let found = model.trials[0].steadiness.expect("long enough");
    assert_eq!(found.seconds, 60);
    assert!(!found.throughput.has_warm_up && !found.throughput.drifts, "{found:?}");
    assert!(found.mean_ms.is_some_and(|means| !means.has_warm_up && !means.drifts), "{found:?}");
    let text = render(&model, Format::Markdown, EN);
    assert!(text.contains("steady state; 2 showed neither warm-up nor drift."), "{text}");
}

#[test]
fn a_warm_up_in_the_window_is_a_warning_in_every_form() {
    let model = analyse(&run(60, 1.0, |at| if at < 10.0 { 400.0 } else { 1000.0 }));
    let found = warnings(&model);
    let [Warning::WarmUpLeft { metric: ComparisonMetric::Throughput, seconds, share }] = found[..]
    else {
        panic!("{found:?}")
    };
    // 10 of 60 seconds lack 600 of 1000 commits.
    assert!(seconds == 10.0 && (share + 0.1).abs() < 0.01, "{seconds} {share}");
    assert_eq!(model.trials[0].state, TrialState::Warned);
    assert_eq!(model.configurations[0].validity, Validity::Warned);
    assert!(model.trials[0].warnings.contains(&found[0]));
    let row = model.warnings.iter().find(|row| row.warning == found[0]).expect("a row");
    assert_eq!((row.severity, row.trials.len()), (Severity::Warning, 2));
    let sentence = "The first 10.0 s or so of a window were warm-up and changed throughput by -10";
    for format in [Format::Text, Format::Markdown, Format::Html, Format::Json] {
        let text = render(&model, format, EN);
        let text = text.replace("<span class=\"w\">", "").replace("</span>", "");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let expected =
            if format == Format::Json { r#""warning": "warm-up-left""# } else { sentence };
        assert!(text.contains(expected), "{format:?}: {text}");
    }
    let json = render(&model, Format::Json, EN);
    assert!(json.contains(r#""warm_up_s": 10.0"#), "{json}");
    let page = render(&model, Format::Html, EN);
    assert!(page.contains("steady state; 0 showed neither warm-up nor drift."), "{page}");
}

#[test]
fn a_drift_is_reported_with_its_direction() {
    let falling = analyse(&run(120, 1.0, |at| 1000.0 - at));
    let found = warnings(&falling);
    let [Warning::Drift { metric: ComparisonMetric::Throughput, share }] = found[..] else {
        panic!("{found:?}")
    };
    assert!((share + 120.0 / 940.0).abs() < 0.01, "{share}");
    let text = render(&falling, Format::Text, EN);
    assert!(text.contains("throughput fell by"), "{text}");
    let rising = analyse(&run(120, 1.0, |at| 1000.0 + at));
    assert!(render(&rising, Format::Text, EN).contains("throughput rose by"));
}

#[test]
fn where_throughput_is_given_response_times_are_judged() {
    let mut data = run(120, 1.0, |_| 1000.0);
    for trial in data.trials.values_mut() {
        for line in &mut trial.timeline {
            line.latency_ms = Some([8.0 + line.start_s / 100.0; 5]);
        }
    }
    let found = warnings(&analyse(&data));
    assert!(
        matches!(found[..], [Warning::Drift { metric: ComparisonMetric::MeanMs, share }] if share > 0.1),
        "{found:?}"
    );
}

#[test]
fn too_short_a_trial_is_not_judged() {
    let model = analyse(&run(39, 1.0, |at| 1000.0 - 10.0 * at));
    assert_eq!((warnings(&model).len(), model.trials[0].steadiness), (0, None));
    assert!(!render(&model, Format::Json, EN).contains("steadiness"), "as before");
    assert!(!render(&model, Format::Markdown, EN).contains("steady state"));
    // The runs of the fixture are as short as smoke runs.
    assert_eq!(warnings(&analyse(&Shape::rush().read())), []);
}

#[test]
fn steadiness_merges_subsecond_intervals_and_skips_long_ones() {
    let model = analyse(&run(240, 0.25, |at| if at < 10.0 { 400.0 } else { 1000.0 }));
    assert_eq!(model.trials[0].steadiness.expect("a minute").seconds, 60);
    assert_eq!(warnings(&model).len(), 1);
    assert_eq!(analyse(&run(60, 10.0, |at| 1000.0 - at)).trials[0].steadiness, None);
}

#[test]
fn trials_that_are_meant_to_change_are_not_judged() {
    for stop in [StopRule::Rows(1_000_000), StopRule::TransactionsPerClient(10)] {
        let mut data = run(120, 1.0, |at| 1000.0 - at);
        for configuration in &mut data.run.plan.configurations {
            configuration.load.stop = stop;
        }
        assert_eq!(analyse(&data).trials[0].steadiness, None, "{stop:?}");
    }
    let mut data = run(120, 1.0, |at| 1000.0 - at);
    for outcome in data.run.outcomes.values_mut() {
        let TrialOutcome::Finished(record) = outcome else { panic!("measured") };
        record.growth =
            Some(dyno_model::catalog::Growth { rows_before: 0, rows_per_transaction: 1 });
    }
    assert_eq!(analyse(&data).trials[0].steadiness, None);
}
