use super::*;
use crate::analysis::analyse;
use crate::fixture::Shape;
use crate::messages::Lang;
use crate::report::{Format, render};
use crate::store::{Run, RunData, TimelineLine};
use dyno_model::record::Growth as RecordGrowth;

const GROWTH: RecordGrowth = RecordGrowth { rows_before: 0, rows_per_transaction: 25 };
/// Rows that a trial ends with.
const TARGET: u64 = 1_000_000;

/// A run in which the first treatment is fast until its table has half of its rows and slow from there on, and the second is evenly in
/// between. One second is one interval.
fn grown_run(blocks: u32) -> RunData {
    let scratch = tempfile::tempdir().expect("scratch");
    let folder = scratch.path().join("20261121T084500Z-2005");
    let shape = Shape { systems: 2, clients: vec![30], blocks, ..Shape::small() };
    shape.write(&folder).expect("the temporary folder can be written");
    let mut data = Run::open(&folder).expect("what was written can be read").read_trials();
    for treatment in &mut data.run.plan.treatments {
        treatment.load.stop = StopRule::Rows(TARGET);
    }
    for trial in data.run.plan.trials.clone() {
        let Some(TrialOutcome::Finished(record)) = data.run.outcomes.get_mut(&trial.id) else {
            panic!("every trial was measured")
        };
        let files = data.trials.get_mut(&trial.id).expect("every trial was measured");
        // Blocks differ a little.
        let pace = 1.0 + 0.01 * f64::from(trial.block);
        let speed = |rows: u64| match (trial.treatment, rows < TARGET / 2) {
            (0, true) => 900.0 * pace,
            (0, false) => 200.0 * pace,
            (_, _) => 500.0 * pace,
        };
        let (mut commits, mut timeline) = (0, Vec::new());
        while GROWTH.rows_after(commits) < TARGET {
            let committed =
                (speed(GROWTH.rows_after(commits)) as u64).min(GROWTH.commits_until(TARGET) - commits);
            let before = GROWTH.rows_after(commits);
            commits += committed;
            timeline.push(TimelineLine {
                start_s: timeline.len() as f64,
                // The last interval ends with its last answer.
                length_s: committed as f64 / speed(before),
                is_warmup: false,
                committed,
                failed: 0,
                retries: 0,
                latency_ms: None,
            });
        }
        record.growth = Some(GROWTH);
        record.ledger.committed = commits;
        record.findings.clear();
        record.audit = dyno_model::audit::AuditRecord::default();
        files.samples = (0..=timeline.len()).map(|second| sample(second as f64)).collect();
        files.timeline = timeline;
    }
    data
}

/// The processor is half idle, the disk has always a request.
fn sample(at_s: f64) -> Sample {
    let values = [
        ("host.cpu.user_seconds_total", at_s),
        ("host.cpu.idle_seconds_total", at_s),
        (names::HOST_PROCESSORS, 2.0),
        ("host.disk.vda.busy_seconds_total", at_s),
        ("host.disk.vda.read_bytes_total", at_s * 1e6),
        ("host.disk.vda.written_bytes_total", at_s * 3e6),
        (names::SERVER_DATA, 5e6 + at_s * 1e6),
    ];
    let values = values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Sample { at_s, values, ..Sample::default() }
}

fn record() -> TrialRecord {
    let data = grown_run(1);
    let records = data.run.outcomes.into_values().filter_map(|outcome| match outcome {
        TrialOutcome::Finished(record) => Some(*record),
        TrialOutcome::Failed { .. } => None,
    });
    records.into_iter().next().expect("a trial was measured")
}

#[test]
fn rows_come_evenly_inside_an_interval_and_a_stall_belongs_to_the_step_after_it() {
    let record = record();
    let path = vec![(0.0, 100.0), (1.0, 300.0), (2.0, 300.0), (3.0, 400.0)];
    let trial = Grown { record: &record, samples: &[], path };
    assert_eq!(trial.time_at(99.0), None, "the table never had so few");
    assert_eq!(trial.time_at(100.0), Some(0.0));
    assert_eq!(trial.time_at(200.0), Some(0.5));
    assert_eq!(trial.time_at(300.0), Some(1.0));
    assert_eq!(trial.time_at(350.0), Some(2.5));
    assert_eq!(trial.time_at(401.0), None, "the table never had so many");
    assert_eq!(trial.step(200, 300).map(|step| step.rows_per_second), Some(200.0));
    assert_eq!(trial.step(300, 400).map(|step| step.rows_per_second), Some(50.0));
    assert!(trial.step(300, 500).is_none(), "a step that was not finished has no figure");
}

#[test]
fn steps_are_equal_and_end_at_the_target() {
    assert_eq!(equal_steps(0, 1_000)[..2], [100, 200]);
    assert_eq!(equal_steps(500, 1_500).last(), Some(&1_500));
    assert_eq!(equal_steps(0, 3), [1, 2, 3]);
    assert!(equal_steps(7, 7).is_empty());
    assert_eq!(equal_steps(0, u64::MAX).len(), 10);
}

#[test]
fn each_step_has_its_rate_and_what_machine_and_server_did_meanwhile() {
    let model = analyse(&grown_run(3));
    let growth = model.growth.expect("its tables grow");
    assert_eq!((growth.rows_before, growth.milestones.len(), growth.milestones[9]), (0, 10, TARGET));
    let rates: Vec<f64> = growth.lines[0]
        .steps
        .iter()
        .map(|step| step.rows_per_second.expect("finished").mean.round())
        .collect();
    // 22,500 rows a second and 2 % more in the mean block; 5,000 from half of the rows on.
    assert!((22_750.0..=23_125.0).contains(&rates[0]), "{rates:?}");
    assert!((5_075.0..=5_125.0).contains(&rates[9]), "{rates:?}");
    let last = &growth.lines[0].steps[9];
    assert_eq!(last.rows_per_second.map(|rate| rate.repeats), Some(3));
    assert_eq!(last.cpu_percent.map(|cpu| cpu.mean.round()), Some(50.0));
    assert_eq!(last.disk_busy_percent.map(|busy| busy.mean.round()), Some(100.0));
    assert_eq!(last.disk_read.map(|bytes| bytes.mean.round()), Some(1e6));
    assert_eq!(last.disk_written.map(|bytes| bytes.mean.round()), Some(3e6));
    assert!(last.data_bytes.expect("seen").mean > growth.lines[0].steps[0].data_bytes.expect("seen").mean);
}

#[test]
fn the_sizes_from_which_on_the_other_is_ahead_are_said_first() {
    let model = analyse(&grown_run(3));
    let Some(Conclusion::GrowthCrossing { before, after }) = model.conclusions.first() else {
        panic!("{:?}", model.conclusions);
    };
    assert_eq!((before.leader, after.leader), (0, 1));
    assert_eq!(after.rows_to, TARGET);
    assert!((TARGET / 2 - 100_000..=TARGET / 2 + 100_000).contains(&after.rows_from), "{after:?}");
    let html = render(&model, Format::Html, Lang::En);
    let sentence = crate::messages::conclusion::sentences(&model, Lang::En).swap_remove(0);
    let headline = html.find("<figcaption>").map(|at| &html[at..at + 400]).expect("a figure");
    assert!(headline.contains(&sentence), "{headline}");
    let figures: Vec<&str> =
        html.match_indices("<figure id=\"").map(|(at, _)| &html[at + 12..at + 24]).collect();
    assert!(figures[0].starts_with("growth\""), "{figures:?}");
    assert!(
        !figures.iter().any(|id| id.starts_with("throughput")),
        "a single point is no curve: {figures:?}"
    );
}

#[test]
fn without_enough_blocks_nobody_is_said_to_be_ahead() {
    let model = analyse(&grown_run(2));
    assert!(
        model
            .growth
            .is_some_and(|growth| growth.comparisons.iter().all(|step| step.comparison.verdict.is_none()))
    );
    let is_verdict = |conclusion: &Conclusion| {
        matches!(conclusion, Conclusion::GrowthCrossing { .. } | Conclusion::GrowthLead { .. })
    };
    assert!(!model.conclusions.iter().any(is_verdict), "{:?}", model.conclusions);
}

#[test]
fn a_trial_that_ended_early_counts_in_the_steps_that_it_finished() {
    let mut data = grown_run(3);
    let id = data.run.plan.trials.iter().find(|trial| trial.treatment == 0).expect("planned").id.clone();
    let timeline = &mut data.trials.get_mut(&id).expect("measured").timeline;
    let lost = timeline.split_off(timeline.len() - 2);
    let Some(TrialOutcome::Finished(record)) = data.run.outcomes.get_mut(&id) else { panic!("measured") };
    record.ledger.committed -= lost.iter().map(|line| line.committed).sum::<u64>();
    record.findings.push(Finding::CutShort { reason: "the table is full".to_owned() });
    let growth = analyse(&data).growth.expect("its tables grow");
    let repeats = |step: usize| growth.lines[0].steps[step].rows_per_second.map(|rate| rate.repeats);
    assert_eq!((repeats(0), repeats(9)), (Some(3), Some(2)));
}

#[test]
fn a_timeline_with_a_hole_is_not_put_on_the_axis() {
    let mut data = grown_run(1);
    let id = data.run.plan.trials[0].id.clone();
    data.trials.get_mut(&id).expect("measured").timeline.remove(1);
    let treatment = data.run.plan.trials[0].treatment;
    let growth = analyse(&data).growth.expect("the other trial's table grows");
    assert!(growth.lines.iter().all(|line| line.treatment != treatment));
}

#[test]
fn the_table_over_rows_reads_like_this() {
    let model = analyse(&grown_run(3));
    let markdown = render(&model, Format::Markdown, Lang::En);
    let from = markdown.find("## Over the number of rows").expect("the section");
    let to = from + markdown[from..].find("## Comparisons\n").expect("the next section");
    let table: Vec<&str> = markdown[from..to].lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(table.len(), 2 + 2 * 10);
    assert_eq!(
        table[0],
        "| system | rows | n | rows/s | ±95 % | CPU | of it the server | read MB/s | written MB/s | disk busy | data MB |"
    );
    assert_eq!(
        table[2],
        "| MariaDB | 100,000 | 3 | 22,950 | 559 | 50.0 % | - | 1.00 | 3.00 | 100 % | 9.00 |"
    );
    let last = "| MariaDB | 1,000,000 | 3 | 5,100 | 124 | 50.0 % | - | 1.00 | 3.00 | 100 % | ";
    assert!(table[11].starts_with(last), "{}", table[11]);
    let text = render(&model, Format::Text, Lang::En);
    assert!(text.contains("Over the number of rows"), "{text}");
    let csv = render(&model, Format::Csv, Lang::En);
    assert!(csv.contains("throughput@1000000,rows-per-second,"), "{csv}");
    let json = render(&model, Format::Json, Lang::En);
    assert!(json.contains("\"milestones\""));
}

#[test]
fn a_step_of_less_than_three_intervals_is_shown_and_not_compared() {
    let mut data = grown_run(3);
    // A step of 10,000 rows takes half a second, the others four and more.
    for treatment in &mut data.run.plan.treatments {
        treatment.load.milestones = vec![10_000, 500_000, TARGET];
    }
    let growth = analyse(&data).growth.expect("its tables grow");
    let of = |step: usize| {
        let compared = growth.comparisons.iter().find(|it| it.step == step).expect("compared");
        let rate = growth.lines[0].steps[step].rows_per_second.expect("finished");
        (rate.interval.is_some(), compared.comparison.p.is_some(), compared.comparison.verdict)
    };
    assert_eq!(of(0), (false, false, Some(Verdict::Inconclusive)));
    assert!(matches!(of(1), (true, true, Some(Verdict::Worse))), "{:?}", of(1));
}

#[test]
fn a_trial_that_did_not_finish_a_step_is_held_against_its_treatment_there() {
    let mut data = grown_run(4);
    // The second treatment is ahead at the end; in one of four blocks its table was full before.
    let id = data.run.plan.trials.iter().find(|trial| trial.treatment == 1).expect("planned").id.clone();
    let timeline = &mut data.trials.get_mut(&id).expect("measured").timeline;
    let lost = timeline.split_off(timeline.len() - 2);
    let Some(TrialOutcome::Finished(record)) = data.run.outcomes.get_mut(&id) else { panic!("measured") };
    record.ledger.committed -= lost.iter().map(|line| line.committed).sum::<u64>();
    record.findings.push(Finding::CutShort { reason: "the table is full".to_owned() });
    let growth = analyse(&data).growth.expect("its tables grow");
    let verdict = |step: usize| {
        growth.comparisons.iter().find(|it| it.step == step).and_then(|it| it.comparison.verdict)
    };
    assert_eq!((verdict(6), verdict(9)), (Some(Verdict::Better), Some(Verdict::Invalid)));
}
