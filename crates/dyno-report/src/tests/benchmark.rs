//! New orders of a workload derived from TPC-C, in every form and language.

use super::*;
use crate::messages::{LANGUAGES, headings, notes};
use dyno_model::counters::{StatementCounters, TransactionCounters};
use dyno_model::isolation::IsolationLevel;
use dyno_model::record::{BenchmarkFacts, NamedTransactions, UsedCount};
use dyno_store::fixture::each_record;

/// Each trial has ten new orders per second, of which one in a hundred is rolled back.
fn benchmark(per_minute_max: Option<f64>) -> ReportModel {
    let mut data = tiny().read();
    each_record(&mut data.run, |_, record| {
        let weighted_commits = Some(10.0 * record.window_length.as_secs_f64());
        let names = ["new-order", "new-order-rollback"].map(str::to_owned);
        let named = names.clone().map(|name| NamedTransactions {
            name,
            weighted_commits,
            ..Default::default()
        });
        let counts = names.clone().into_iter().zip([990, 10]);
        let counts = counts.map(|(name, committed)| TransactionCounters {
            name,
            started: committed,
            committed,
            ..TransactionCounters::default()
        });
        let committed = record.counters.committed;
        let statements = [("item", 20 * committed), ("commit", committed)];
        let statements = statements.map(|(name, sent)| StatementCounters {
            name: name.to_owned(),
            sent,
            ok: sent,
            ..StatementCounters::default()
        });
        record.transactions = named.to_vec();
        record.counters.transactions = counts.collect();
        record.counters.statements = statements.to_vec();
        let [transaction, rolled_back] = names;
        let facts = record.facts.get_or_insert_default();
        (facts.committed_total, facts.commits_sent_total) = (1_000, 1_010);
        facts.commits_failed_total = 10;
        facts.benchmark = Some(BenchmarkFacts {
            transaction,
            rolled_back,
            per_minute_max,
            warehouses: UsedCount { touched: 2, all: 5 },
            districts: UsedCount { touched: 17, all: 50 },
            isolation: Some(IsolationLevel::ReadCommitted),
        });
    });
    analyse(&data)
}

/// The words of the section in the text report; a wide table continues below.
fn section(text: &str) -> String {
    let (_, section) = text.split_once("New orders (derived from TPC-C)\n").expect("the section");
    let (section, _) = section.split_once("Transactions by name").expect("the next section");
    section.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_rate_of_new_orders_is_shown_with_what_it_depends_on() {
    let text = render(&benchmark(None), Format::Text, EN);
    let unpaced = section(&text);
    for part in [
        "600 0 unpaced: not comparable with tpmC",
        "2/5",
        "17/50",
        "21.0",
        "1.00",
        "1.0 % READ COMMITTED",
    ] {
        assert!(unpaced.contains(part), "{part}: {text}");
    }
    assert!(!unpaced.contains("maximum"), "{text}");
    let paced = section(&render(&benchmark(Some(1_200.0)), Format::Text, EN));
    assert!(paced.contains("keying and think times of TPC-C 50.0 % 2/5"), "{paced}");
    // Rollbacks that the standard demands are no commits of new orders.
    let rolled_back = text.lines().find(|line| line.contains(" new-order-rollback "));
    let cells: Vec<_> = rolled_back.expect("its row").split_whitespace().rev().take(4).collect();
    let ten = (10 * benchmark(None).configurations[0].trials_valid).to_string();
    assert_eq!(cells, ["0", "0", &ten, "-"], "{text}");
}

#[test]
fn every_language_and_form_has_new_orders_per_minute() {
    let model = benchmark(Some(1_200.0));
    for lang in LANGUAGES {
        let heading = headings::BENCHMARK.text(lang);
        let note: String = notes::NOTE_BENCHMARK.text(lang).chars().take(24).collect();
        for format in [Format::Text, Format::Markdown, Format::Html] {
            let report = render(&model, format, lang);
            assert!(report.contains(heading), "{}: {report}", lang.code);
            assert_eq!(report.contains(&note), format != Format::Text, "{}: {report}", lang.code);
        }
        assert!(crate::html::test_report(&model, lang).contains(heading));
    }
    let sheet = render(&model, Format::Csv, EN);
    for metric in ["new-orders-per-minute@new-order,transactions-per-minute,600,", "paced-share@"] {
        let is_wanted = |line: &&str| {
            line.starts_with("benchmark,") && line.contains(&format!(",paced,{metric}"))
        };
        assert_eq!(sheet.lines().filter(is_wanted).count(), model.configurations.len(), "{sheet}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&render(&model, Format::Json, EN)).expect("json");
    let part = &json["parts"][0];
    assert_eq!((&part["part"], &part["is_paced"]), (&"benchmark".into(), &true.into()), "{part}");
    assert_eq!(part["isolation"], "read-committed");
    assert!(!render(tiny_model(), Format::Html, EN).contains("id=\"benchmark\""));
}
