//! Reports as a whole, from folders that were written by the store.

use super::model::{ReportModel, TrialState, Verdict};
use super::{Format, load, render, write};
use crate::fixture::Shape;
use crate::messages::Lang;
use std::sync::OnceLock;
use unicode_width::UnicodeWidthStr;

/// The run with trouble in it, made once.
fn rush() -> &'static ReportModel {
    static MODEL: OnceLock<ReportModel> = OnceLock::new();
    MODEL.get_or_init(|| Shape::rush().model())
}

/// As few treatments as show everything.
fn tiny() -> Shape {
    Shape { systems: 2, clients: vec![1, 8], ..Shape::small() }
}

#[test]
fn reports_are_byte_identical_from_the_same_folder() {
    let scratch = tempfile::tempdir().expect("scratch");
    let folder = scratch.path().join("run");
    tiny().write(&folder).expect("written");
    for format in Format::ALL {
        let first = render(&load(&folder).expect("readable"), format, Lang::En);
        let second = render(&load(&folder).expect("readable"), format, Lang::En);
        assert!(first == second, "{format:?}");
        assert!(!first.is_empty());
    }
}

#[test]
fn reports_are_written_beside_the_run_and_replaced() {
    let scratch = tempfile::tempdir().expect("scratch");
    let folder = scratch.path().join("run");
    tiny().write(&folder).expect("written");
    let model = load(&folder).expect("readable");
    let formats = [Format::Csv, Format::Text];
    for _ in 0..2 {
        let paths = write(&model, &folder, &formats, Lang::En).expect("written");
        assert_eq!(paths, [folder.join("report.csv"), folder.join("report.txt")]);
    }
    assert!(
        std::fs::read_to_string(folder.join("report.txt")).expect("there").contains("What the figures say")
    );
    let error = write(&model, &folder.join("nowhere"), &formats, Lang::En).expect_err("no such folder");
    assert!(error.to_string().ends_with("nowhere/report.csv"), "{error}");
}

#[test]
fn an_unknown_format_names_the_known_ones() {
    let error = "pdf".parse::<Format>().expect_err("unknown");
    assert_eq!(error.to_string(), "there is no report format `pdf`; there is: html, md, csv, json, text");
}

#[test]
fn the_text_report_fits_a_hundred_columns() {
    for line in render(rush(), Format::Text, Lang::En).lines() {
        assert!(line.width() <= 100, "{}: {line}", line.width());
    }
}

#[test]
fn trouble_is_told_in_every_report() {
    let model = rush();
    let invalid =
        model.trials.iter().find(|trial| trial.state == TrialState::Invalid).expect("one").id.clone();
    let failed = model.completeness.failed[0].trial.clone();
    for format in [Format::Text, Format::Markdown] {
        let text = render(model, format, Lang::En).replace('\n', " ").replace("  ", " ");
        assert!(text.contains("119 of 120 trials were measured, 1 failed"), "{format:?}");
        assert!(text.contains("used 95.3 % of one processor"), "{format:?}");
        assert!(text.contains(&format!("Trial {failed} (")), "{format:?}");
    }
    let csv = render(model, Format::Csv, Lang::En);
    assert!(csv.lines().any(|line| line.contains(&format!(",{invalid},invalid,throughput,"))));
    assert!(csv.lines().any(|line| line.contains(&format!(",{failed},failed,committed,count,0"))));
}

#[test]
fn invalid_trials_are_in_no_mean_but_stay_listed() {
    let model = rush();
    let invalid = model.trials.iter().find(|trial| trial.state == TrialState::Invalid).expect("one");
    let row = &model.treatments[invalid.treatment];
    assert_eq!((row.trials_measured, row.trials_valid), (5, 4));
    assert_eq!(row.throughput.expect("others are valid").repeats, 4);
    let others: Vec<f64> = model
        .trials
        .iter()
        .filter(|trial| trial.treatment == invalid.treatment && trial.id != invalid.id)
        .map(|trial| trial.figures.as_ref().expect("measured").throughput)
        .collect();
    let mean = others.iter().sum::<f64>() / 4.0;
    assert!((row.throughput.expect("there").mean - mean).abs() < 1e-9);
    assert!(invalid.figures.is_some());
}

#[test]
fn two_blocks_give_figures_and_no_verdict() {
    let model = Shape { blocks: 2, ..tiny() }.model();
    assert!(
        model.comparisons.iter().all(|comparison| comparison.verdict.is_none() && comparison.p.is_none())
    );
    assert!(model.comparisons.iter().all(|comparison| comparison.ratio.is_some()));
    let text = render(&model, Format::Text, Lang::En).replace("\n  ", " ");
    assert!(
        text.contains("Verdicts are disabled, because 2 repeats cannot tell a difference from chance"),
        "{text}"
    );
    assert!(text.contains("Without a verdict: MySQL had"), "{text}");
}

#[test]
fn one_block_has_no_interval_anywhere() {
    let model = Shape { blocks: 1, ..tiny() }.model();
    assert!(model.treatments.iter().all(|row| row.throughput.expect("measured").interval.is_none()));
    let text = render(&model, Format::Text, Lang::En).replace("\n  ", " ");
    assert!(text.contains("in a single valid trial, so no interval can be given"), "{text}");
}

#[test]
fn a_throughput_beside_a_failed_audit_says_so() {
    let text = render(&tiny().model(), Format::Text, Lang::En).replace("\n  ", " ");
    assert!(
        text.contains(
            "MySQL lost 6.6 % of its acknowledged updates at 8 clients, and no statement reported an error."
        ),
        "{text}"
    );
    assert!(
        text.contains("But the audit found that not all of the work counted here was kept by MySQL."),
        "{text}"
    );
}

#[test]
fn a_system_without_any_valid_trial_cannot_be_compared() {
    let scratch = tempfile::tempdir().expect("scratch");
    let folder = scratch.path().join("run");
    tiny().write(&folder).expect("written");
    let events = folder.join("events.jsonl");
    // All of MySQL's trials become invalid: the window was cut short.
    let text = std::fs::read_to_string(&events)
        .expect("there")
        .replace("\"server_version\":\"9.7.0\"", "\"server_version\":\"9.7.0\",\"x\":0");
    let changed: String = text
        .lines()
        .map(|line| {
            let line = if line.contains("9.7.0\",\"x\"") {
                line.replace(
                    "\"findings\":[",
                    "\"findings\":[{\"finding\":\"cut-short\",\"reason\":\"it died\"},",
                )
            } else {
                line.to_owned()
            };
            line + "\n"
        })
        .collect();
    std::fs::write(&events, changed).expect("written");
    let model: ReportModel = load(&folder).expect("readable");
    assert!(model.comparisons.iter().all(|comparison| comparison.verdict == Some(Verdict::Invalid)));
    let text = render(&model, Format::Text, Lang::En).replace("\n  ", " ");
    assert!(text.contains("MySQL cannot be compared with MariaDB at 1 and 8 clients"), "{text}");
    assert!(text.contains("Most often: The trial stopped before its stop rule was met: it died"), "{text}");
}
