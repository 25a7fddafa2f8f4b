//! What commands say in Korean and Japanese, whatever the surroundings: no English is left between.

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
rows = 10
variant = "in-place"

[load]
clients = [1, 2]
transactions = 200

[design]
blocks = 2
"#;

/// Names of kinds, options and settings, and of the kernel's clocks: the same in every language.
const NAMES: [&str; 12] = [
    "sqlite",
    "rush",
    "rows",
    "variant",
    "in-place",
    "journal",
    "mode",
    "dyno",
    "tsc",
    "hpet",
    "kvm-clock",
    "acpi",
];
/// Marks of what preflight says of this machine, which has names of the kernel's.
const MACHINE: [&str; 3] = ["clocksource", "cpupower", "server.scratch"];

/// Words of small Latin letters in what a command said.
fn english(text: &str) -> BTreeSet<&str> {
    let lines = text.lines().filter(|line| !MACHINE.iter().any(|mark| line.contains(mark)));
    let words = lines.flat_map(|line| line.split(|c: char| !c.is_ascii_lowercase() && c != '-'));
    let words = words.map(|word| word.trim_matches('-')).filter(|word| word.len() > 2);
    words.filter(|word| !NAMES.contains(word)).collect()
}

#[test]
fn a_run_says_how_it_goes_in_the_language() {
    for (lang, words) in [
        (
            "ko",
            [
                "시행 4회 중 1회 완료, 남은 시간 약",
                "TPS",
                "데이터 이상 없음",
                "보고서: ",
                "측정 결과",
            ],
        ),
        ("ja", ["4試行中1試行が完了、残り約", "TPS", "データは正常", "レポート：", "測定結果"]),
    ] {
        let bench = Bench::new();
        bench.file("count.toml", SPEC);
        let arguments = ["run", "count.toml", "--lang", lang, "--out", "r", "--blocks", "1"];
        // The surroundings decide nothing.
        let output = bench
            .command(&arguments)
            .env("LANG", "de_DE.UTF-8")
            .env("LC_ALL", "C")
            .output()
            .unwrap();
        let ended = Ended::from(output);
        for word in words {
            assert!(
                ended.stdout.contains(word) || ended.stderr.contains(word),
                "{lang}, {word}: {ended}"
            );
        }
        assert_eq!(english(&ended.stderr), BTreeSet::new(), "{lang}: {ended}");
    }
    let bench = Bench::new();
    bench.file("count.toml", SPEC);
    let output = bench
        .command(&["run", "count.toml", "--blocks", "1"])
        .env("LANG", "ko_KR.UTF-8")
        .output()
        .unwrap();
    let found = english(&Ended::from(output).stderr).into_iter().collect::<Vec<_>>().join(" ");
    assert!(
        found.contains("transactions") && found.contains("left"),
        "English is the default: {found}"
    );
}

#[test]
fn the_environment_sets_the_language_unless_an_option_does() {
    let bench = Bench::new();
    bench.file("count.toml", SPEC);
    for (options, word) in [(&[][..], "예상 시간"), (&["--lang", "ja"], "所要時間")] {
        let mut command = bench.command(&[&["plan", "count.toml"], options].concat());
        let ended =
            Ended::from(command.env("DYNO_LANG", "ko").output().expect("dyno can be started"));
        assert!(ended.is_done() && ended.stdout.contains(word), "{word}: {ended}");
    }
}

#[test]
fn a_plan_and_what_preflight_finds_are_reported_in_the_language() {
    let bench = Bench::new();
    bench.file("count.toml", SPEC);
    bench.file(
        "few.toml",
        "title = \"t\"\n[[system]]\nname = \"A\"\nserver = { kind = \"mariadb\", settings = { max_connections = 20 } }\n\
         [workload]\nkind = \"rush\"\n[load]\nclients = 50\ntransactions = 100\n",
    );
    for (lang, label, words) in [
        (
            "ko",
            "오류: A: ",
            ["측정 조건 4개, 블록 2개", "예상 시간: 4초", "사전 점검", "60개가 필요합니다"],
        ),
        (
            "ja",
            "エラー: A：",
            ["4測定条件、2ブロック", "所要時間：4秒", "事前点検", "60が必要です"],
        ),
    ] {
        let plan = bench.dyno(&["plan", "count.toml", "--lang", lang]);
        let few = bench.dyno(&["plan", "few.toml", "--lang", lang]);
        assert_eq!((plan.code, few.code), (0, 4), "{plan} {few}");
        let said = format!("{}{}", plan.stdout, few.stdout);
        for word in words {
            assert!(said.contains(word), "{lang}, {word}: {said}");
        }
        let facts: Vec<&str> = plan.stdout.lines().filter(|line| !line.contains("b0")).collect();
        assert_eq!(english(&facts.join("\n")), BTreeSet::new(), "{lang}: {plan}");
        let run = bench.dyno(&["run", "few.toml", "--lang", lang]);
        assert!(run.code == 4 && run.stderr.contains(label), "{run}");
    }
}
