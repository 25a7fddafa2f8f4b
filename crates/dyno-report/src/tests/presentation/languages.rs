//! Reports in every available language contain no English sentences.

use crate::format::Format;
use crate::html::sample;
use crate::messages::{EN, LANGUAGES, Lang};
use crate::tests::{rush, tiny};
use crate::{compare, history_page, html, render};
use dyno_analysis::compare::model::CompareModel;
use dyno_analysis::compare::{CompareOptions, METRICS, Side};
use dyno_analysis::model::ReportModel;
use dyno_analysis::stats::verdict::Rules;
use dyno_model::limit::{Limit, LimitMetric};
use dyno_model::plan::StopRule;
use dyno_store::environment::Virtualisation;
use dyno_store::fixture::{Shape, grown_run};
use std::collections::BTreeMap;

/// Number of consecutive words that count as part of a sentence.
const WORDS: usize = 3;

/// Text that stays English in every language: names in the fixtures, a server's messages, and a
/// facility of Linux.
const NAMES: [&str; 7] = [
    "SELECT + UPDATE + COMMIT under a rush of clients",
    "Every client reads a counter, adds one and writes it back, on 100 rows.",
    "the server closed the connection while the clients were connecting",
    "notebook PC, 2005",
    "MySQL 5.0, one disk",
    "Synthetic CPU at 2.50GHz",
    "Linux pressure stall information",
];

/// Removes everything between two marks: code, styles, specs.
fn without(text: &str, from: &str, to: &str) -> String {
    let mut parts = text.split(from);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| kept + "\n" + part.split_once(to).map_or("", |(_, after)| after))
}

/// English in a report: lower-case ASCII words, more in a row than any name or unit contains.
fn english(report: &str) -> Vec<String> {
    let mut text = report.to_owned();
    for (from, to) in [
        ("<style", "</style>"),
        ("<script", "</script>"),
        ("<pre", "</pre>"),
        ("```toml", "```"),
        ("`", "`"),
        ("class=\"", "\""),
    ] {
        text = without(&text, from, to);
    }
    for name in NAMES {
        // Markdown escapes signs with a backslash; in a terminal, a line may break within a name.
        text = text.replace(name, "\n").replace(&crate::table::escaped(name), "\n");
        for (at, _) in name.match_indices(' ') {
            for gap in ["\n", "\n  "] {
                text = text.replace(&[&name[..at], gap, &name[at + 1..]].concat(), "\n");
            }
        }
    }
    let is_word = |word: &str| {
        let word = word.trim_matches(|c: char| ".,;:()!?'".contains(c));
        !word.is_empty()
            && word
                .chars()
                .enumerate()
                .all(|(i, c)| c.is_ascii_lowercase() || i == 0 && c.is_ascii_uppercase())
    };
    let mut found = Vec::new();
    // A table cell ends at a bar or at two blanks.
    for piece in text.split(['<', '>', '"', '|', '\n']).flat_map(|line| line.split("  ")) {
        let words: Vec<&str> = piece.split_whitespace().collect();
        let runs = words.chunk_by(|before, after| is_word(before) && is_word(after));
        found.extend(
            runs.filter(|run| run.len() >= WORDS && is_word(run[0])).map(|run| run.join(" ")),
        );
    }
    found
}

/// A comparison with differences of nearly every kind.
pub(super) fn compared() -> CompareModel {
    let (base, mut new) = (tiny().run("a"), tiny().run("b"));
    new.environment.virtualisation = Virtualisation::ALL.to_vec();
    new.environment.cpu_logical += 2;
    new.dyno_version = "0.2.0".to_owned();
    for configuration in &mut new.plan.configurations {
        configuration.load.stop = StopRule::TransactionsPerClient(50);
        configuration.load.workers = Some(1);
    }
    let side =
        |run| Side { folder: "side".to_owned(), runs: vec![run], timelines: BTreeMap::new() };
    let question =
        CompareOptions { metrics: METRICS.to_vec(), rules: Rules::default(), systems: Vec::new() };
    dyno_analysis::compare::compare(&side(base), &side(new), &question).expect("comparable")
}

/// The run with problems and limits, of which some passed, some failed, and some are undecided.
fn limited() -> ReportModel {
    let mut data = Shape { clients: vec![1, 20], blocks: 3, ..Shape::rush() }.read();
    let configurations: Vec<usize> = (0..data.run.plan.configurations.len()).collect();
    let limit = |metric, value| Limit {
        metric,
        value,
        part: None,
        configurations: configurations.clone(),
        aborts: true,
    };
    data.run.plan.limits = vec![
        limit(LimitMetric::P99, 30.0),
        limit(LimitMetric::Throughput, 1_000.0),
        limit(LimitMetric::Failed, 0.1),
        limit(LimitMetric::Lost, 0.0),
    ];
    dyno_analysis::analyse(&data)
}

#[test]
fn no_report_in_another_language_has_english_sentences() {
    let grown = dyno_analysis::analyse(&grown_run(2));
    let (compared, limited) = (compared(), limited());
    let mut left = Vec::new();
    let mut look = |lang: Lang, report: &str, text: &str| {
        left.extend(
            english(text).into_iter().map(|piece| format!("{}, {report}: {piece}", lang.code)),
        );
    };
    for lang in LANGUAGES.into_iter().filter(|lang| lang.code != EN.code) {
        for format in [Format::Text, Format::Markdown, Format::Html] {
            look(
                lang,
                &format!("{format:?} of the run with trouble"),
                &render(rush(), format, lang),
            );
            look(lang, &format!("{format:?} of a table that grows"), &render(&grown, format, lang));
            look(
                lang,
                &format!("{format:?} of a comparison"),
                &compare::render(&compared, format, lang),
            );
        }
        for format in [Format::Markdown, Format::Html] {
            let report = crate::test_report(&limited, format, lang).expect("it has this form");
            look(lang, &format!("{format:?} of a test report"), &report);
        }
        look(lang, "history", &history_page(&sample::history(), lang));
        for (id, chart) in html::stand_alone_charts(rush(), lang) {
            look(lang, &format!("chart {id}"), &chart);
        }
    }
    assert_eq!(left, [""; 0]);
}

#[test]
fn a_percentage_has_a_blank_in_english_only() {
    let has_blank = |lang| {
        let charts = html::stand_alone_charts(rush(), lang);
        charts.iter().any(|(_, chart)| chart.contains("0 %<") || chart.contains("9 %<"))
    };
    for lang in LANGUAGES {
        assert_eq!(has_blank(lang), lang.code == EN.code, "{}", lang.code);
    }
}

#[test]
fn english_is_found_and_names_are_not() {
    let found =
        english("<p>표식은 The servers differ: a lot.</p> p95 ms 1.5 tx/s <pre>in the spec</pre>");
    assert_eq!(found, ["The servers differ: a lot."]);
    assert!(english(&render(rush(), Format::Text, EN)).len() > 20);
}

/// Terms that were used beside another one for the same concept; decision 024 has the terms.
#[test]
fn a_concept_has_one_term_in_all_texts_of_a_language() {
    let texts = [
        (
            include_str!("../../messages/languages/ja.rs"),
            &["問いの", "問いに", "問いが", "問いは", "思考時間", "更新の損失", "計測時間", "消失"]
                [..],
        ),
        (
            include_str!("../../messages/languages/ko.rs"),
            &[
                "질문",
                "깨어남",
                "배경 워크로드",
                "한계 부하",
                "생각 시간",
                "중간값 읽기",
                "편차가",
                "주입한 장애",
            ],
        ),
        (
            include_str!("../../messages/languages/en.rs"),
            &[
                "깨어남",
                "시계",
                "時計",
                "待ち時間",
                " met ",
                " met,",
                " met;",
                "wake-up delay",
                "late start",
            ],
        ),
    ];
    for (texts, others) in texts {
        for other in others {
            let found = texts.lines().find(|line| line.contains(other));
            assert_eq!(found, None, "{other}");
        }
    }
}
