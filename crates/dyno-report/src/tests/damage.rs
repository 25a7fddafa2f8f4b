//! Reports of truncated or damaged folders succeed and say what is missing.

use super::tiny;
use crate::messages::EN;
use crate::{Format, render};
use dyno_analysis::read_model;
use dyno_model::warning::Warning;
use dyno_store::fixture::Shape;
use dyno_store::{EVENTS_FILE, TRIALS_FOLDER};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A run of four trials and its event log. The test does not need the trials' own files, and
/// reading them is slow.
fn written() -> (tempfile::TempDir, PathBuf, Vec<u8>) {
    let scratch = tempfile::tempdir().expect("scratch");
    let folder = scratch.path().join("run");
    let shape = Shape { systems: 1, clients: vec![1, 8], blocks: 2, ..Shape::small() };
    shape.write(&folder).expect("written");
    fs::remove_dir_all(folder.join(TRIALS_FOLDER)).expect("removed");
    let whole = fs::read(folder.join(EVENTS_FILE)).expect("there");
    (scratch, folder, whole)
}

/// The text report of a folder, which must succeed for every folder that can be opened.
fn text_of(folder: &Path) -> String {
    let model = read_model(folder).expect("readable");
    for format in [Format::Markdown, Format::Csv, Format::Json] {
        assert!(!render(&model, format, EN).is_empty());
    }
    render(&model, Format::Text, EN).replace("\n  ", " ")
}

#[test]
fn a_report_says_which_trials_never_finished_and_what_is_cut_off() {
    let (_scratch, folder, whole) = written();
    let is_end =
        |line: &&[u8]| String::from_utf8_lossy(line).contains("\"event\":\"trial-finished\"");
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let second =
        lines.iter().enumerate().filter(|(_, line)| is_end(line)).nth(1).expect("four trials").0;
    let whole_lines: usize = lines[..=second].iter().map(|line| line.len()).sum();
    fs::write(folder.join(EVENTS_FILE), &whole[..whole_lines + 7]).expect("written");
    let text = text_of(&folder);
    for part in [
        "The run has no end record",
        "2 of 4 trials measured, 0 failed, 2 not finished",
        "Not finished: b02-001, b02-002.",
        &format!("Unreadable: events.jsonl, line {}: the last line is cut off", second + 2),
        "Unreadable: trials/b01-001/latency.hlog: No such file",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    fs::write(folder.join(EVENTS_FILE), b"").expect("written");
    assert!(text_of(&folder).contains("No trial was measured."));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn one_damaged_byte_never_makes_reading_or_reporting_panic(at in 0.0f64..1.0, byte in any::<u8>()) {
        static WRITTEN: OnceLock<(tempfile::TempDir, PathBuf, Vec<u8>)> = OnceLock::new();
        let (_, folder, whole) = WRITTEN.get_or_init(written);
        let mut damaged = whole.clone();
        let position = (at * whole.len() as f64) as usize;
        damaged[position] = byte;
        fs::write(folder.join(EVENTS_FILE), &damaged).expect("written");
        text_of(folder);
    }
}

#[test]
fn a_trial_with_two_warnings_of_a_kind_is_one_trial() {
    let scratch = tempfile::tempdir().expect("scratch");
    let folder = scratch.path().join("run");
    tiny().write(&folder).expect("written");
    let events = folder.join(EVENTS_FILE);
    let text = fs::read_to_string(&events).expect("there");
    let stall = "{\"warning\":\"stall\",\"longest_gap\":2.0,\"at\":0.0}";
    let changed = text.replacen("\"warnings\":[", &format!("\"warnings\":[{stall},{stall},"), 1);
    fs::write(&events, changed).expect("written");
    let model = read_model(&folder).expect("readable");
    let row = model.warnings.iter().find(|row| matches!(row.warning, Warning::Stall { .. }));
    assert_eq!(row.expect("the stall is listed").trials.len(), 1);
}
