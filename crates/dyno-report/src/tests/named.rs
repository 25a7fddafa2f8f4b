//! Every form of a report in every language shows transactions by name.

use super::*;
use crate::messages::LANGUAGES;
use dyno_model::counters::TransactionCounters;
use dyno_model::limit::{Limit, LimitMetric, LimitPart};
use dyno_model::record::NamedTransactions;
use dyno_model::response::{BoundedLatency, ResponseSummary};
use dyno_store::fixture::each_record;

/// Each trial has reads, and payments of which 7 failed.
fn named() -> ReportModel {
    let mut data = tiny().read();
    each_record(&mut data.run, |_, record| {
        let time = BoundedLatency::value(3e6);
        let response = ResponseSummary {
            count: 2_000,
            mean: time,
            p95: time,
            p99: time,
            ..ResponseSummary::default()
        };
        let transactions = |name: &str, rate: f64| NamedTransactions {
            name: name.to_owned(),
            think: None,
            weighted_commits: Some(rate * record.window_length.as_secs_f64()),
            response: Some(response),
        };
        record.transactions = vec![transactions("read", 900.0), transactions("pay", 100.0)];
        let count = |name: &str, failed: u64| TransactionCounters {
            name: name.to_owned(),
            started: 500,
            committed: 500 - failed,
            failed,
            ..TransactionCounters::default()
        };
        record.counters.transactions = vec![count("read", 0), count("pay", 7)];
    });
    let limit = Limit {
        metric: LimitMetric::P99,
        value: 20.0,
        part: Some(LimitPart::Transaction("pay".to_owned())),
        configurations: vec![0],
        aborts: false,
    };
    // As stored in the plan of a run.
    let written = serde_json::to_string(&limit).expect("plain data");
    assert_eq!(serde_json::from_str::<Limit>(&written).expect("its own"), limit);
    let whole = Limit { part: None, ..limit.clone() };
    let written = serde_json::to_string(&whole).expect("plain data");
    assert_eq!(serde_json::from_str::<Limit>(&written).expect("its own"), whole);
    data.run.plan.limits = vec![limit];
    analyse(&data)
}

#[test]
fn a_report_has_the_figures_of_the_transactions_of_each_name() {
    let model = named();
    let text = render(&model, Format::Text, EN);
    assert!(text.contains("Transactions by name\n"), "{text}");
    let cells = |name: &str| -> Vec<String> {
        let line = text
            .lines()
            .find(|line| line.split_whitespace().nth(1) == Some(name))
            .expect("its line");
        line.split_whitespace().skip(2).map(str::to_owned).collect()
    };
    let trials = u64::from(model.configurations[0].trials_valid);
    let number = |each: u64| dyno_analysis::figures::group(&(each * trials).to_string());
    assert_eq!(cells("read"), ["900", "3.00", "3.00", "3.00", &number(500), "0", "0"]);
    assert_eq!(cells("pay"), ["100", "3.00", "3.00", "3.00", &number(493), &number(7), "0"]);
    assert!(text.contains("p99 < 20 ms (pay)"), "{text}");
    let sheet = render(&model, Format::Csv, EN);
    let lines = sheet.lines().filter(|line| {
        line.starts_with("transaction,")
            && line.contains(",throughput@pay,transactions-per-second,100,")
    });
    assert_eq!(lines.count(), model.configurations.len(), "{sheet}");
    let page = render(&model, Format::Html, EN);
    assert!(page.contains("id=\"transactions\"") && page.contains("href=\"#transactions\""));
    let json: serde_json::Value =
        serde_json::from_str(&render(&model, Format::Json, EN)).expect("json");
    assert_eq!(json["limits"][0]["transaction"], "pay");
    assert_eq!(json["parts"].as_array().map(Vec::len), Some(2 * model.configurations.len()));
}

#[test]
fn every_language_and_form_has_the_part_on_transactions() {
    let model = named();
    for lang in LANGUAGES {
        let heading = crate::messages::headings::TRANSACTIONS.text(lang);
        let note: String =
            crate::messages::notes::NOTE_TRANSACTIONS.text(lang).chars().take(12).collect();
        for format in [Format::Text, Format::Markdown, Format::Html] {
            let report = render(&model, format, lang);
            assert!(report.contains(heading), "{}: {report}", lang.code);
            assert_eq!(report.contains(&note), format != Format::Text, "{}: {report}", lang.code);
        }
        assert!(crate::html::test_report(&model, lang).contains(heading));
    }
    assert!(!render(tiny_model(), Format::Html, EN).contains("id=\"transactions\""));
}
