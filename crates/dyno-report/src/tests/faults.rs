//! Every form of a report in every language shows the effects of faults and the result of the
//! commit ledger.

use super::*;
use crate::messages::LANGUAGES;
use dyno_model::audit::LedgerEntry;
use dyno_model::failure::FailureKind;
use dyno_model::fault::{FaultAction, FaultRecord};
use dyno_model::record::CommitGap;
use dyno_model::units::Nanos;
use dyno_store::fixture::each_record;
use dyno_store::{ErrorLine, TrialOutcome};

const SECOND: u64 = 1_000_000_000;

/// A node was killed in the middle of each trial, followed by a write outage of 1.5 s; the first
/// configuration lost three commits in each trial.
pub(super) fn harmed() -> ReportModel {
    let mut data = tiny().read();
    each_record(&mut data.run, |_, record| {
        let at = Nanos(record.window_length.0 / 2);
        let facts = record.facts.get_or_insert_default();
        let node = "node 2".to_owned();
        facts.faults = vec![FaultRecord { action: FaultAction::Kill, node, at, failed: None }];
        facts.gaps = vec![
            // A gap that ended before the fault is not attributed to it.
            CommitGap { at: Nanos(SECOND / 10), length: Nanos(SECOND) },
            CommitGap { at, length: Nanos(SECOND * 3 / 2) },
        ];
        facts.gaps[0].length = facts.gaps[0].length.min(Nanos(at.0 / 2));
        let lost = if record.trial.configuration == 0 { 3 } else { 0 };
        record.audit.checks.push(AuditCheck::Ledger {
            acknowledged: 1_000,
            lost,
            phantoms: 0,
            in_doubt: 2,
            took_effect: 1,
            examples: (0..lost)
                .map(|number| LedgerEntry { client: 7, sequence: number + 40, is_lost: true })
                .collect(),
        });
    });
    for (id, files) in &mut data.trials {
        let Some(TrialOutcome::Finished(record)) = data.run.outcomes.get(id) else { continue };
        let opens =
            files.timeline.iter().find(|line| !line.is_warmup).map_or(0.0, |line| line.start_s);
        let fault = (opens + record.window_length.as_secs_f64() / 2.0).floor();
        let line = |start_s: f64, kind, errors| ErrorLine {
            start_s,
            length_s: 1.0,
            is_warmup: false,
            kind,
            errors,
        };
        files.errors = vec![
            line(fault, FailureKind::Timeout, 8),
            line(fault + 1.0, FailureKind::ConnectRefused, 21),
        ];
    }
    analyse(&data)
}

#[test]
fn a_report_says_how_long_nothing_was_committed_and_what_is_gone() {
    let model = harmed();
    assert_eq!(model.faults.len(), model.configurations.len());
    let text = render(&model, Format::Text, EN);
    let flat = text.replace("\n  ", " ");
    assert!(
        text.contains("Injected faults\n") && text.contains("Durability of acknowledged commits"),
        "{text}"
    );
    assert!(flat.contains("kill node 2: write outage 1.50 s (median; maximum 1.50 s)."), "{text}");
    let blocks = model.provenance.blocks;
    let committed = model.configurations[0].figures.count(Metric::Committed).expect("counted");
    let acknowledged = dyno_analysis::figures::count(committed);
    let lost = format!("lost {} of {acknowledged} acknowledged commits", 3 * blocks);
    assert!(flat.contains(&lost), "{text}");
    // Configurations with lost updates have all rows of the ledger, but are not among those without
    // losses.
    let losing = model.audits.iter().filter(|audit| audit.has_losses()).count();
    assert_eq!(losing, 2);
    let kept = format!(
        "No acknowledged commit was lost in {} configurations",
        model.configurations.len() - losing
    );
    assert!(flat.contains(&kept) && !flat.contains("lost no acknowledged updates"), "{text}");

    let markdown = render(&model, Format::Markdown, EN);
    assert!(
        markdown.contains("transaction 40 of client 7 was acknowledged, but its row is missing"),
        "{markdown}"
    );
    let test_report = crate::html::test_report(&model, EN);
    assert!(
        test_report.contains("kill node 2")
            && test_report.contains("Durability of acknowledged commits")
    );

    let sheet = render(&model, Format::Csv, EN);
    let outages = sheet.lines().filter(|line| line.contains(",outage,seconds,1.5,"));
    assert_eq!(outages.count(), model.configurations.len(), "{sheet}");

    let blocks = u64::from(model.provenance.blocks);
    for (what, count) in [
        ("errors:timeout", 8 * blocks),
        ("errors:connect-refused", 21 * blocks),
        ("errors-most:timeout", 8),
    ] {
        let found = sheet.lines().filter(|line| line.contains(&format!(",{what},count,{count},")));
        assert_eq!(found.count(), model.configurations.len(), "{what}: {sheet}");
    }
    let at = |kind: &str| text.find(kind).unwrap_or_else(|| panic!("{kind}: {text}"));
    assert!(at("Errors after the fault") < at("timeout") && at("timeout") < at("connect-refused"));
    assert!(model.timelines.iter().all(|timeline| timeline.errors.len() == 2));

    let page = render(&model, Format::Html, EN);
    assert!(page.contains("errors/s") && page.contains("id=\"fault-errors\""));
    let lines: usize = strokes(&page, "fault");
    // In the section on faults and in each configuration's own, each in two widths.
    assert_eq!(lines, 4 * model.timelines.len(), "a dashed line for each trial");
    assert!(page.contains("href=\"#faults\"") && page.contains("id=\"faults\""));
    for id in model
        .faults
        .iter()
        .flat_map(|row| [format!("t{}f", row.configuration), format!("t{}s", row.configuration)])
    {
        assert!(page.matches(&format!("id=\"{id}\"")).count() <= 1, "{id} stands there once");
    }
}

#[test]
fn every_language_and_form_has_the_part_on_faults() {
    let model = harmed();
    for lang in LANGUAGES {
        let heading = crate::messages::headings::FAULTS.text(lang);
        let ledger = crate::messages::headings::LEDGER.text(lang);
        let errors = crate::messages::headings::FAULT_ERRORS.text(lang);
        for format in [Format::Text, Format::Markdown, Format::Html] {
            let report = render(&model, format, lang);
            assert!(
                report.contains(heading) && report.contains(ledger) && report.contains(errors),
                "{}: {report}",
                lang.code
            );
        }
    }
    let none = render(tiny_model(), Format::Html, EN);
    assert!(!none.contains("id=\"faults\""), "without faults there is no such part");
}
