//! Folders of earlier versions of the same format can be read: they lack keys that were added
//! later.

use crate::messages::LANGUAGES;
use crate::tests::tiny;
use crate::{Format, render};
use dyno_analysis::load;
use dyno_analysis::model::Metric;
use dyno_store::{EVENTS_FILE, PLAN_FILE};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Keys added to plans after dyno 0.1 first reported with a mixed model.
const LATER_IN_PLANS: &[&str] = &[
    "budget",
    "claim",
    "data_nodes",
    "faults",
    "find",
    "front",
    "is_synchronous",
    "limits",
    "nodes",
    "requests",
    "spacing",
    "stages",
    "hooks",
    "think",
];
/// Keys added to events and records at that time, or earlier but after the first version.
const LATER_IN_EVENTS: &[&str] = &[
    "boot",
    "commits_refused_in_all",
    "end",
    "facts",
    "faults",
    "longest_gap",
    "search",
    "stages",
    "waited",
    "work",
];

/// Removes keys at any depth; returns their number.
fn without(value: &mut Value, keys: &[&str]) -> usize {
    match value {
        Value::Object(object) => {
            let before = object.len();
            object.retain(|key, _| !keys.contains(&key.as_str()));
            let gone = before - object.len();
            gone + object.values_mut().map(|inner| without(inner, keys)).sum::<usize>()
        }
        Value::Array(items) => items.iter_mut().map(|inner| without(inner, keys)).sum(),
        _ => 0,
    }
}

/// Converts a folder to the format of an earlier version; returns the number of removed keys.
fn make_older(folder: &Path) -> usize {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    let path = folder.join(PLAN_FILE);
    let mut plan = parsed(&fs::read_to_string(&path).expect("there"));
    let mut gone = without(&mut plan, LATER_IN_PLANS);
    fs::write(&path, plan.to_string()).expect("written");
    let path = folder.join(EVENTS_FILE);
    let mut lines = String::new();
    for line in fs::read_to_string(&path).expect("there").lines() {
        let mut event = parsed(line);
        gone += without(&mut event, LATER_IN_EVENTS);
        lines.push_str(&format!("{event}\n"));
    }
    fs::write(&path, lines).expect("written");
    gone
}

#[test]
fn a_folder_of_an_earlier_version_is_reported_with_the_same_figures_and_verdicts_in_every_language()
{
    let scratch = tempfile::tempdir().expect("scratch");
    let folder = scratch.path().join("run");
    tiny().write(&folder).expect("written");
    let now = load(&folder).expect("readable");
    assert!(make_older(&folder) > 10, "the keys that came later are there to be taken out");
    let then = load(&folder).expect("an earlier folder is readable");
    assert_eq!(then.completeness, now.completeness);
    for (then, now) in then.configurations.iter().zip(&now.configurations) {
        let figures = [then, now].map(|row| row.figures.value(Metric::Throughput).map(f64::round));
        assert_eq!(figures[0], figures[1], "{then:?}");
    }
    let verdicts = [&then, &now].map(|model| {
        model.questions.iter().map(|question| question.effect.verdict).collect::<Vec<_>>()
    });
    assert_eq!(verdicts[0], verdicts[1]);
    for lang in LANGUAGES {
        for format in Format::ALL {
            assert!(!render(&then, format, lang).is_empty(), "{format:?}");
        }
    }
}
