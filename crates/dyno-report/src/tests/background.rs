//! Background workloads appear in every form of a report and in every language.

use super::*;
use crate::messages::LANGUAGES;
use dyno_model::audit::AuditCheck;
use dyno_model::catalog::WorkloadOptions;
use dyno_model::client_group::{BackgroundPlan, GroupRecord};
use dyno_model::counters::TrialCounters;
use dyno_model::limit::{Limit, LimitMetric, LimitPart};
use dyno_model::plan::WorkloadPlan;
use dyno_model::record::{OpenLoop, TrialRecord};
use dyno_model::response::{BoundedLatency, ResponseSummary};
use dyno_model::warning::Warning;
use dyno_store::fixture::each_record;

/// A report with two background clients in each configuration; in every trial their audit finds two
/// rows too few.
fn with_report() -> ReportModel {
    let mut data = tiny().read();
    let workload = WorkloadPlan::new("sql", WorkloadOptions::default());
    let plan = BackgroundPlan {
        name: "nightly".to_owned(),
        workload,
        clients: 2,
        rate: Some(40.0),
        think: None,
    };
    for configuration in &mut data.run.plan.configurations {
        configuration.background = vec![plan.clone()];
    }
    each_record(&mut data.run, |_, record| {
        let time = BoundedLatency::value(250e6);
        let response = ResponseSummary {
            count: 2_000,
            mean: time,
            p50: time,
            p95: time,
            p99: time,
            ..ResponseSummary::default()
        };
        let audit = AuditCheck::Value {
            expression: "n".to_owned(),
            expected_min: 9,
            expected_max: 9,
            found: 7,
        };
        let own = TrialRecord {
            window_length: record.window_length,
            counters: TrialCounters {
                started: 400,
                committed: 393,
                failed: 7,
                ..TrialCounters::default()
            },
            open_loop: Some(OpenLoop {
                arrived: 400,
                response: Some(response),
                ..OpenLoop::default()
            }),
            weighted_commits: Some(39.0 * record.window_length.as_secs_f64()),
            audit: audit.into(),
            ..TrialRecord::default()
        };
        let inner = Box::new(Warning::AuditViolated);
        record.warnings.push(Warning::Background { name: "nightly".to_owned(), inner });
        record.background =
            vec![GroupRecord { name: "nightly".to_owned(), clients: 2, record: own }];
    });
    data.run.plan.limits = vec![Limit {
        metric: LimitMetric::P99,
        value: 20.0,
        part: Some(LimitPart::Background("nightly".to_owned())),
        configurations: vec![0],
        aborts: false,
    }];
    analyse(&data)
}

#[test]
fn a_report_has_the_figures_and_the_audit_of_what_ran_beside() {
    let model = with_report();
    let text = render(&model, Format::Text, EN);
    assert!(text.contains("Background workloads\n"), "{text}");
    // The table is wider than a terminal and split in two; both parts contain the row names.
    let (first, second) = text[text.find("Background workloads").expect("the table")..]
        .split_once("\n\n")
        .expect("parts");
    let cells_of = |part: &'_ str| -> Vec<String> {
        let line = part.lines().find(|line| line.contains("nightly") && line.contains("sql"));
        line.expect("its line").split_whitespace().skip(1).map(str::to_owned).collect()
    };
    let (mut cells, rest) = (cells_of(first), cells_of(second));
    let (names, rest) = rest.split_at(rest.len() - 1);
    assert!(cells.starts_with(names), "{rest:?}");
    cells.extend(rest.iter().cloned());
    let trials = u64::from(model.configurations[0].trials_valid);
    let number = |each: u64| dyno_analysis::figures::group(&(each * trials).to_string());
    let expected = [
        "nightly",
        "sql",
        "2",
        "(40.0/s)",
        "39.0",
        "250",
        "250",
        "250",
        &number(393),
        &number(7),
        "0",
        "VIOLATED",
    ];
    assert_eq!(cells, expected);
    assert!(text.contains("p99 < 20 ms (nightly)"), "{text}");
    let inner = "Background workload nightly: The data audit failed";
    assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(inner), "{text}");
    let sheet = render(&model, Format::Csv, EN);
    let lines = sheet.lines().filter(|line| {
        line.starts_with("background,")
            && line.contains(",violated,throughput@nightly,transactions-per-second,39,")
    });
    assert_eq!(lines.count(), model.configurations.len(), "{sheet}");
    let page = render(&model, Format::Html, EN);
    assert!(page.contains("id=\"background\"") && page.contains("href=\"#background\""));
    let json: serde_json::Value =
        serde_json::from_str(&render(&model, Format::Json, EN)).expect("json");
    assert_eq!(json["limits"][0]["background"], "nightly");
    assert_eq!(json["parts"][0]["name"], "nightly");
}

#[test]
fn every_language_and_form_has_the_part_on_what_ran_beside() {
    let model = with_report();
    for lang in LANGUAGES {
        let heading = crate::messages::headings::BACKGROUND.text(lang);
        let note: String =
            crate::messages::notes::NOTE_BACKGROUND.text(lang).chars().take(12).collect();
        for format in [Format::Text, Format::Markdown, Format::Html] {
            let report = render(&model, format, lang);
            assert!(report.contains(heading), "{}: {report}", lang.code);
            assert_eq!(report.contains(&note), format != Format::Text, "{}: {report}", lang.code);
        }
        assert!(crate::html::test_report(&model, lang).contains(heading));
    }
    assert!(!render(tiny_model(), Format::Html, EN).contains("id=\"background\""));
}
