//! Figures that are shown, and figures that are not.

use super::*;
use crate::fixture::Shape;
use crate::messages::Lang;
use crate::report::model::{RatioBound, Verdict};
use crate::report::{Format, render};

#[test]
fn an_interval_of_throughput_never_reaches_below_zero() {
    let estimate = estimate(&[10.0, 500.0, 900.0], Unit::TransactionsPerSecond).expect("values");
    let interval = estimate.interval.expect("three values");
    assert_eq!(interval.low, 0.0);
    assert!((interval.high - 1577.3).abs() < 0.1, "{interval:?}");
}

#[test]
fn a_level_that_says_little_alone_is_named_with_its_factor() {
    let mut plan = Shape::rush().plan();
    plan.factors = vec!["server.settings.innodb_buffer_pool_size".to_owned()];
    for (index, treatment) in plan.treatments.iter_mut().enumerate() {
        treatment.levels = vec![["4G", "8G"][index % 2].to_owned()];
    }
    let (lines, _) = lines(&plan);
    assert_eq!(lines[0].label, "MariaDB (innodb_buffer_pool_size 4G)");
    assert_eq!(lines.len(), 6);
}

/// A small run, as it is read from its folder.
fn small_run() -> RunData {
    let folder = tempfile::tempdir().expect("scratch");
    let folder = folder.path().join("20261121T084500Z-2005");
    Shape::small().write(&folder).expect("the temporary folder can be written");
    Run::open(&folder).expect("what was written can be read").read_trials()
}

#[test]
fn a_percentile_with_fewer_than_ten_values_beyond_it_is_in_no_form_of_the_report() {
    let mut data = small_run();
    for outcome in data.run.outcomes.values_mut() {
        if let TrialOutcome::Finished(record) = outcome {
            record.transaction.count = 150;
        }
    }
    let model = analyse(&data);
    let figures = model.trials[0].figures.as_ref().expect("measured");
    assert!(figures.p50_ms.is_some() && figures.max_ms.is_some());
    assert_eq!((figures.p95_ms, figures.p99_ms), (None, None), "7.5 and 1.5 values lie beyond");
    assert!(model.treatments.iter().all(|row| row.p50.is_some() && row.p95.is_none() && row.p99.is_none()));
    assert!(model.panel(Metric::P95Ms).is_none() && model.panel(Metric::P99Ms).is_none());
    let of_p95: Vec<_> = model.comparisons.iter().filter(|it| it.metric == Metric::P95Ms).collect();
    assert!(!of_p95.is_empty() && of_p95.iter().all(|it| it.ratio.is_none() && it.p.is_none()), "{of_p95:?}");
    let csv = render(&model, Format::Csv, Lang::En);
    assert!(csv.contains(",p50,") && !csv.contains(",p95,") && !csv.contains(",p99,"), "{csv}");
    let json: serde_json::Value =
        serde_json::from_str(&render(&model, Format::Json, Lang::En)).expect("JSON");
    assert!(json["trials"][0]["figures"]["p95_ms"].is_null() && json["treatments"][0]["p99"].is_null());
}

#[test]
fn percentiles_of_a_second_need_as_many_values_as_others() {
    let mut data = small_run();
    let id = data.run.plan.trials[0].id.clone();
    let line = &mut data.trials.get_mut(&id).expect("measured").timeline[1];
    (line.committed, line.latency_ms) = (250, Some([1.0; 5]));
    let point = analyse(&data).timelines[0].points[1];
    assert_eq!((point.p50_ms, point.p95_ms, point.p99_ms), (Some(1.0), Some(1.0), None));
}

#[test]
fn what_is_left_over_at_the_end_of_a_trial_is_drawn_as_no_rate() {
    let mut data = small_run();
    let id = data.run.plan.trials[0].id.clone();
    let timeline = &mut data.trials.get_mut(&id).expect("measured").timeline;
    let whole = timeline.len();
    // Ten commits of clients that left together in 4 ms, then nothing: 2,500 and 0 per second.
    for (length_s, committed) in [(0.004, 10), (0.4, 0)] {
        let start_s = timeline.last().map_or(0.0, |line| line.start_s + line.length_s);
        timeline.push(crate::store::TimelineLine {
            start_s,
            length_s,
            is_warmup: false,
            committed,
            failed: 0,
            retries: 0,
            latency_ms: None,
        });
    }
    let model = analyse(&data);
    let rates: Vec<Option<f64>> = model.timelines[0].points.iter().map(|point| point.throughput).collect();
    assert!(rates[..whole].iter().all(Option::is_some), "{rates:?}");
    assert_eq!(rates[whole..], [None, None]);
}

/// As if all trials of a treatment had been open loops in which so many arrivals were never started, and were 2 s old.
fn never_started(data: &mut RunData, treatment: usize, unstarted: u64) {
    for outcome in data.run.outcomes.values_mut() {
        let TrialOutcome::Finished(record) = outcome else { continue };
        if record.trial.treatment == treatment {
            record.open_loop = Some(crate::fixture::open_loop(record, unstarted, 2_000_000_000));
            let files = data.trials.get_mut(&record.trial.id).expect("its files were read");
            files.censored.record_n(2_000_000_000, unstarted).expect("the histogram grows");
        }
    }
}

#[test]
fn lower_bounds_are_shown_as_such_in_every_form_of_the_report() {
    let mut data = small_run();
    let id = data.run.plan.trials.iter().find(|trial| trial.treatment == 0).expect("planned").id.clone();
    let commits = data.trials[&id].transaction.len();
    never_started(&mut data, 0, commits / 50);
    let model = analyse(&data);
    let (row, other) = (&model.treatments[0], &model.treatments[1]);
    let p99 = row.p99.expect("there are values");
    assert!(p99.is_bound && p99.interval.is_none() && p99.mean > 1_000.0, "{p99:?}");
    assert!(row.p50.is_some_and(|p50| !p50.is_bound) && other.p99.is_some_and(|p99| !p99.is_bound));
    assert!(row.unstarted.is_some_and(|unstarted| unstarted > 0) && other.arrived.is_none());
    let merged = row.merged.expect("merged");
    assert_eq!((merged.bounds_from, merged.censored), (Some(99.0), row.unstarted.unwrap_or_default()));
    let curve = model.percentile_curves.iter().find(|curve| curve.treatment == 0).expect("drawn");
    let end = |curve: &[crate::report::model::PercentilePoint]| curve.last().expect("points").percentile;
    assert!(end(&curve.merged) < 98.1 && curve.repeats.iter().all(|curve| end(curve) < 98.1));
    let trial = model.trials.iter().find(|trial| trial.id == id).and_then(|trial| trial.figures.as_ref());
    assert!(trial.is_some_and(|figures| figures.is_bound(Metric::P99Ms) && !figures.is_bound(Metric::P50Ms)));
    for format in [Format::Text, Format::Markdown, Format::Html] {
        let report = render(&model, format, Lang::En);
        assert!(report.contains("never started") && report.contains("≥ 2,00"), "{format:?}: {report}");
    }
    let csv = render(&model, Format::Csv, Lang::En);
    assert!(csv.contains(",p99,milliseconds,,200"), "no value, but a lower end: {csv}");
    assert!(csv.contains(",never-started,count,") && csv.contains(",merged-p99,milliseconds,,200"), "{csv}");
    let json = render(&model, Format::Json, Lang::En);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["treatments"][0]["p99"]["is_bound"], true);
    assert!(json["treatments"][1]["p99"]["is_bound"].is_null());
}

#[test]
fn a_lower_bound_decides_a_comparison_only_when_it_is_already_worse() {
    // Pairs when these treatments are overloaded, and all others take so long.
    let verdicts_beside = |treatments: &[usize], p95: Option<u64>| {
        let mut data = small_run();
        for outcome in data.run.outcomes.values_mut() {
            if let (TrialOutcome::Finished(record), Some(p95)) = (outcome, p95) {
                record.transaction.p95 = p95;
            }
        }
        for treatment in treatments {
            // One in five: the 95th percentile is among the arrivals that were never started.
            let trial = data.run.plan.trials.iter().find(|trial| trial.treatment == *treatment);
            let commits = data.trials[&trial.expect("planned").id].transaction.len();
            never_started(&mut data, *treatment, commits / 4);
        }
        let model = analyse(&data);
        let of_p95 = model.comparisons.iter().filter(|it| it.metric == Metric::P95Ms);
        of_p95.map(|it| (it.subject, it.baseline, it.verdict, it.bound)).collect::<Vec<_>>()
    };
    let verdicts = |treatments: &[usize]| verdicts_beside(treatments, None);
    let (subject, baseline, ..) = verdicts(&[])[0];
    let pair = |all: Vec<(usize, usize, Option<Verdict>, Option<RatioBound>)>| {
        let found = all.into_iter().find(|it| (it.0, it.1) == (subject, baseline)).expect("the same pairs");
        (found.2, found.3)
    };
    assert_eq!(pair(verdicts(&[])).1, None);
    assert_eq!(pair(verdicts(&[subject])), (Some(Verdict::Worse), Some(RatioBound::AtLeast)));
    assert_eq!(pair(verdicts(&[baseline])), (Some(Verdict::Better), Some(RatioBound::AtMost)));
    assert_eq!(
        pair(verdicts(&[subject, baseline])),
        (Some(Verdict::Inconclusive), Some(RatioBound::Unknown))
    );
    // A bound of 2 s that is better than the other side's value, or the same, says nothing.
    for p95 in [20_000_000_000, 2_000_000_000] {
        let beside = |treatment| pair(verdicts_beside(&[treatment], Some(p95)));
        assert_eq!(beside(subject), (Some(Verdict::Inconclusive), Some(RatioBound::AtLeast)));
        assert_eq!(beside(baseline), (Some(Verdict::Inconclusive), Some(RatioBound::AtMost)));
    }
}

#[test]
fn an_open_loop_of_an_older_version_that_kept_no_ages_has_no_percentiles_as_values() {
    let mut data = small_run();
    for outcome in data.run.outcomes.values_mut() {
        let TrialOutcome::Finished(record) = outcome else { continue };
        let old = OpenLoop {
            response: None,
            lag: None,
            ..crate::fixture::open_loop(record, record.ledger.started / 50, 1)
        };
        record.open_loop = Some(old);
    }
    let model = analyse(&data);
    let row = &model.treatments[0];
    assert!(row.p50.is_none() && row.p99.is_none(), "a trial's record does not tell");
    let merged = row.merged.expect("the histograms tell more");
    assert!(merged.is_bound(99.0) && merged.p99.is_some());
}
