//! Acknowledged updates that are missing from the data, and unacknowledged ones in it, are reported
//! correctly.

use super::*;

#[test]
fn a_throughput_beside_a_failed_audit_says_so() {
    let text = render(tiny_model(), Format::Text, EN).replace("\n  ", " ");
    assert!(
        text.contains(
            "MySQL lost 6.3 % of its acknowledged updates at 8 clients, without reporting an error."
        ),
        "{text}"
    );
    assert!(text.contains("However, MySQL lost part of this work (see the data audit)."), "{text}");
}

/// The text of a report after a change to every check of updates.
fn text_with_updates(change: impl Fn(&mut AuditCheck)) -> String {
    let scratch = tempfile::tempdir().expect("scratch");
    let folder = scratch.path().join("run");
    Shape { systems: 1, ..tiny() }.write(&folder).expect("written");
    let path = folder.join("events.jsonl");
    let mut lines = String::new();
    for line in std::fs::read_to_string(&path).expect("written").lines() {
        let mut event: serde_json::Value = serde_json::from_str(line).expect("an event");
        for check in event["audit"]["checks"].as_array_mut().into_iter().flatten() {
            let mut typed = serde_json::from_value(check.clone()).expect("a check");
            change(&mut typed);
            *check = serde_json::to_value(typed).expect("a check");
        }
        lines.push_str(&format!("{event}\n"));
    }
    std::fs::write(&path, lines).expect("written");
    render(&read_model(&folder).expect("readable"), Format::Text, EN).replace("\n  ", " ")
}

#[test]
fn lost_updates_in_doubt_are_reported_as_an_upper_bound() {
    // Six trials, in each of which eight commits in doubt took effect and five updates were lost.
    let text = text_with_updates(|check| {
        if let AuditCheck::LostUpdates { in_doubt, sum_after, .. } = check {
            *in_doubt = 8;
            *sum_after += 3;
        }
    });
    assert!(!text.contains("lost no acknowledged updates"), "{text}");
    let sentence = "It is undecided whether MariaDB lost acknowledged updates at 1 and 8 clients: the outcome of 48 transactions is unknown. If they took effect, up to 30 of the";
    assert!(text.contains(sentence), "{text}");
}

#[test]
fn unexplained_changes_are_reported_but_not_as_lost_updates() {
    let text = text_with_updates(|check| {
        if let AuditCheck::LostUpdates { sum_after, .. } = check {
            *sum_after += 3;
        }
    });
    assert!(
        text.contains("18 updates at 1 and 8 clients whose commit was never acknowledged"),
        "{text}"
    );
    let sentence = "However, the data of MariaDB contains changes that this work does not explain (see the data audit).";
    assert!(text.contains(sentence), "{text}");
    assert!(
        !text.contains("lost no acknowledged updates") && !text.contains("was kept by"),
        "{text}"
    );
}
