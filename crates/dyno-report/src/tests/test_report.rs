//! Tests of the formal test report.

use super::tiny;
use crate::messages::{EN, LANGUAGES};
use crate::{Format, test_report};
use dyno_analysis::analyse;
use dyno_analysis::model::ReportModel;
use dyno_model::front::{FrontMatter, Revision};
use dyno_model::warning::Warning;
use dyno_store::{RunData, TrialOutcome};

fn front() -> FrontMatter {
    let revision = |version: &str, change: &str| Revision {
        version: version.to_owned(),
        date: "2026-11-23".to_owned(),
        author: "A. Tester".to_owned(),
        change: change.to_owned(),
    };
    FrontMatter {
        organisation: Some("Agency <of> Software".to_owned()),
        purpose: Some("To choose a server.".to_owned()),
        revisions: vec![revision("0.9", "draft"), revision("1.0", "issue")],
        ..FrontMatter::default()
    }
}

fn markdown(data: &RunData) -> String {
    test_report(&analyse(data), Format::Markdown, EN).expect("it has this form")
}

fn headings(report: &str) -> Vec<&str> {
    report.lines().filter_map(|line| line.strip_prefix("## ")).collect()
}

#[test]
fn it_has_the_sections_that_agencies_have_in_their_order() {
    let mut data = tiny().read();
    data.run.plan.front = Some(front());
    let report = markdown(&data);
    assert_eq!(
        headings(&report),
        [
            "1. Revisions",
            "2. Purpose",
            "3. How to use this report",
            "4. Summary",
            "5. Detailed results by test",
            "6. Test environment",
            "7. Test procedure",
            "8. All conclusions",
        ]
    );
    for line in [
        "- version: 1.0",
        "- measured (UTC): 2026-11-21",
        "| 0.9 | 2026-11-23 | A. Tester | draft |",
        "To choose a server.",
    ] {
        assert!(report.contains(line), "{line}: {report}");
    }
    data.run.plan.front = None;
    let report = markdown(&data);
    assert_eq!(headings(&report)[0], "1. Purpose");
    assert!(
        report.contains(&data.run.plan.description),
        "the spec's description is the purpose: {report}"
    );
}

#[test]
fn every_test_has_its_commands_and_one_without_valid_repeats_says_so() {
    let mut data = tiny().read();
    for outcome in data.run.outcomes.values_mut() {
        let TrialOutcome::Finished(record) = outcome else { continue };
        if record.trial.configuration == 0 {
            record.warnings.push(Warning::GeneratorBusy { share: 0.95 });
        }
    }
    let report = markdown(&data);
    let columns =
        "| statement | count | failed | mean | sd | min | p50 | p70 | p80 | p90 | p95 | max |";
    let configurations = data.run.plan.configurations.len();
    assert_eq!(report.matches(columns).count(), configurations - 1, "{report}");
    assert_eq!(report.matches("No valid repeat: this test has no results.").count(), 1, "{report}");
}

#[test]
fn test_report_page_escapes_spec_text_and_contains_charts() {
    let mut data = tiny().read();
    data.run.plan.front = Some(front());
    let model: ReportModel = analyse(&data);
    for lang in LANGUAGES {
        let page = test_report(&model, Format::Html, lang).expect("it has this form");
        assert!(page.contains("Agency &lt;of&gt; Software") && !page.contains("<of>"));
        assert!(page.matches("<figure").count() >= 1 && page.contains("class=\"topology\""));
    }
    assert!(
        [Format::Csv, Format::Json, Format::Text]
            .iter()
            .all(|format| test_report(&model, *format, EN).is_none())
    );
}
