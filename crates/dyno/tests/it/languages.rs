//! What commands say in Korean and Japanese: no English is left between, and columns stand below each other.

use crate::program::{Bench, Ended};
use std::collections::BTreeSet;

const SPEC: &str = r#"
title = "횟수 回数"

[[system]]
name = "WAL"
server = { kind = "sqlite", settings = { journal_mode = "WAL" } }

[[system]]
name = "DELETE"
server = { kind = "sqlite" }

[workload]
kind = "rush"
options = { rows = 10, variant = "in-place" }

[load]
clients = [1, 2]
transactions = 200

[design]
blocks = 2
"#;

/// What is no English: names in the spec, of programs, files and options, units, figures and abbreviations.
const NAMES: &[&str] = &[
    "AMD",
    "Benjamini",
    "CPU",
    "CPUs",
    "DELETE",
    "Debian",
    "EPYC",
    "GNU",
    "Hochberg",
    "Holm",
    "Intel",
    "KVM",
    "Linux",
    "MariaDB",
    "Markdown",
    "Processor",
    "SQL",
    "SQLite",
    "Student",
    "UTC",
    "WAL",
    "Welch",
    "Xeon",
    "Yekutieli",
    "build",
    "csv",
    "dyno",
    "generic",
    "html",
    "in-place",
    "iQ",
    "journal",
    "load",
    "max",
    "mode",
    "monitor",
    "ms",
    "report",
    "release",
    "resume",
    "rows",
    "run",
    "rush",
    "sqlite",
    "stmt",
    "transactions",
    "tx",
    "variant",
    "version",
];

/// Words of Latin letters in what a command said, but for names, paths and what stands in code quotes.
fn english(text: &str) -> BTreeSet<String> {
    let outside: String = text.split('`').step_by(2).collect();
    let words = outside.split_whitespace().filter(|word| !word.contains('/') || word.chars().count() < 8);
    let letters = words.flat_map(|word| word.split(|c: char| !c.is_ascii_alphabetic() && c != '-'));
    let words = letters.map(|word| word.trim_matches('-')).filter(|word| word.len() > 2);
    words.filter(|word| !NAMES.contains(word)).map(str::to_owned).collect()
}

/// What a command said, without the lines about the machine, which are its own names.
fn told(ended: &Ended) -> String {
    format!("{}\n{}", ended.stdout, ended.stderr)
}

#[test]
fn a_run_says_everything_about_the_measurement_in_the_language() {
    for (lang, words) in [
        ("ko", ["시행 4회 중 1회", "초당", "데이터 이상 없음", "보고서: ", "측정 결과"]),
        ("ja", ["4 試行中 1 試行", "毎秒", "データは整合", "レポート：", "測定結果"]),
    ] {
        let bench = Bench::new();
        bench.file("count.toml", SPEC);
        let arguments = ["run", "count.toml", "--lang", lang, "--out", "r", "--set", "design.blocks=1"];
        // The surroundings decide nothing.
        let output =
            bench.command(&arguments).env("LANG", "de_DE.UTF-8").env("LC_ALL", "C").output().unwrap();
        let ended = Ended::from(output);
        for word in words {
            assert!(told(&ended).contains(word), "{lang}, {word}: {ended}");
        }
        assert_eq!(english(&told(&ended)), BTreeSet::new(), "{lang}: {ended}");
        let english_run = bench.dyno(&["report", "r", "--format", "text"]);
        assert!(!english(&english_run.stdout).is_empty(), "what is looked for must be seen: {english_run}");
    }
}

#[test]
fn a_plan_and_what_preflight_finds_are_said_in_the_language() {
    for (lang, words) in [
        ("ko", ["워크로드", "측정 조건 4개, 블록 2개", "사전 점검:", "오류", "연결 60개가 필요합니다"]),
        ("ja", ["ワークロード", "4 測定条件、2 ブロック", "事前点検：", "エラー", "60 が必要です"]),
    ] {
        let bench = Bench::new();
        bench.file("count.toml", SPEC);
        bench.file(
            "few.toml",
            "title = \"t\"\nsystem = [{ name = \"A\", server = { kind = \"mariadb\", settings = { max_connections = 20 } } }]\n\
             workload = { kind = \"rush\" }\nload = { clients = 50, transactions = 100 }\n",
        );
        let plan = bench.dyno(&["plan", "count.toml", "--lang", lang]);
        let few = bench.dyno(&["plan", "few.toml", "--lang", lang]);
        assert_eq!((plan.code, few.code), (0, 4), "{plan} {few}");
        let said = format!("{}{}", plan.stdout, few.stdout);
        for word in words {
            assert!(said.contains(word), "{lang}, {word}: {said}");
        }
        let (plan, _) = plan
            .stdout
            .split_once("\n\n")
            .map_or(("", ""), |(_, rest)| rest.split_once("b02-").expect("block 2"));
        assert_eq!(english(plan), BTreeSet::new(), "{lang}: {plan}");
        let run = bench.dyno(&["run", "few.toml", "--lang", lang]);
        let label = if lang == "ko" { "오류: A: " } else { "エラー： A：" };
        assert!(run.code == 4 && run.stderr.contains(label), "{run}");
    }
}
