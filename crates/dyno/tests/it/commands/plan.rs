//! `dyno plan`.

use crate::program::{Bench, Ended};

const SPEC: &str = r#"
title = "Two ways to count"

[[system]]
name = "WAL"
server = { kind = "sqlite", settings = { journal_mode = "WAL" } }

[[system]]
name = "DELETE"
server = { kind = "sqlite" }

[workload]
kind = "rush"
rows = 10

[load]
clients = [1, 2]
duration = "1500ms"
warmup = "100ms"

[design]
blocks = 2

[factors]
"workload.variant" = ["in-place", "for-update"]

[profile.short]
load = { clients = [4], transactions = 100 }
"#;

/// The plan up to where it depends on the machine.
fn without_preflight(ended: &Ended) -> &str {
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let before = |verdict| ended.stdout.split_once(verdict).map(|(plan, _)| plan);
    before("\n\nPreflight:").or(before("\n\nReady to run.")).expect("preflight comes last")
}

#[test]
fn a_plan_shows_whose_tables_are_used_on_each_system() {
    let bench = Bench::new();
    let existing = ["own", "existing", "copy"].map(|data| {
        format!("[[system]]\nname = \"{data}\"\nurl = \"postgres://me@127.0.0.1:1/shop\"\ndata = \"{data}\"\n")
    });
    let (_, rest) = SPEC.split_once("[workload]").expect("it has one");
    bench.file("data.toml", format!("title = \"t\"\n{}[workload]{rest}", existing.concat()));
    let ended = bench.dyno(&["plan", "data.toml"]);
    for reported in [
        "database shop, tables created by dyno (data = \"own\")",
        "database shop, its existing tables (data = \"existing\")",
        "database shop, a copy of the database (data = \"copy\")",
    ] {
        assert!(ended.stdout.contains(reported), "{reported}: {ended}");
    }
}

#[test]
fn a_plan_shows_systems_trials_in_order_and_time() {
    let bench = Bench::new();
    bench.file("count.toml", SPEC);
    insta::assert_snapshot!(without_preflight(&bench.dyno(&["plan", "count.toml"])), @r#"
    Two ways to count

      system    WAL: sqlite, started by dyno with journal_mode = WAL
      system    DELETE: sqlite, started by dyno
      workload  rush with rows = 10
      measure   1.5 s, 0.1 s warm-up
      factor    workload.variant: in-place, for-update
      design    8 configurations in 2 blocks, each in random order (seed 1): 16 trials

      trial    configuration
      b01-001  DELETE, 2 clients, variant = for-update
      b01-002  WAL, 2 clients, variant = in-place
      b01-003  DELETE, 1 client, variant = in-place
      b01-004  DELETE, 2 clients, variant = in-place
      b01-005  WAL, 2 clients, variant = for-update
      b01-006  WAL, 1 client, variant = in-place
      b01-007  WAL, 1 client, variant = for-update
      b01-008  DELETE, 1 client, variant = for-update
      and 8 more in 1 other block, each in its own random order

    Estimated time: 30 s, at most 1 min 50 s, plus loading large tables.
    "#);
}

#[test]
fn a_profile_and_settings_change_the_plan() {
    let bench = Bench::new();
    bench.file("count.toml", SPEC);
    let arguments = [
        "plan",
        "count.toml",
        "--profile",
        "short",
        "--set",
        "system.DELETE.name=B",
        "--blocks",
        "1",
        "--seed",
        "7",
    ];
    insta::assert_snapshot!(without_preflight(&bench.dyno(&arguments)), @r#"
    Two ways to count

      system    WAL: sqlite, started by dyno with journal_mode = WAL
      system    B: sqlite, started by dyno
      workload  rush with rows = 10
      measure   100 transactions in total, 0.1 s warm-up
      factor    workload.variant: in-place, for-update
      design    4 configurations in 1 block, in random order (seed 7): 4 trials

      trial    configuration
      b01-001  B, 4 clients, variant = for-update
      b01-002  WAL, 4 clients, variant = in-place
      b01-003  WAL, 4 clients, variant = for-update
      b01-004  B, 4 clients, variant = in-place

    Estimated time: 2 s (assuming 1000 transactions/s), at most 40 min, plus loading large tables.
    "#);
}

#[test]
fn the_same_seed_gives_the_same_order_and_another_seed_another() {
    let bench = Bench::new();
    bench.file("count.toml", SPEC);
    // What preflight finds may differ from one look at the machine to the next.
    let plan = |arguments: &[&str]| {
        without_preflight(&bench.dyno(&[&["plan", "count.toml"], arguments].concat())).to_owned()
    };
    assert_eq!(plan(&["--seed", "1"]), plan(&[]));
    assert_ne!(
        plan(&["--seed", "1"]).replace("seed 1", ""),
        plan(&["--seed", "2"]).replace("seed 2", "")
    );
}

#[test]
fn a_pilot_proposes_the_number_of_blocks() {
    let bench = Bench::new();
    bench.file("count.toml", SPEC);
    let ended = bench.dyno(&[
        "run",
        "count.toml",
        "--profile",
        "short",
        "--blocks",
        "3",
        "--out",
        "pilot",
        "-q",
    ]);
    assert!(ended.is_done(), "{ended}");
    bench.forget_the_machine("pilot");
    let ended = bench.dyno(&["plan", "count.toml", "--pilot", "pilot"]);
    assert!(ended.is_done(), "{ended}");
    for words in [
        "Pilot: within a block",
        "detectable difference",
        "With 2 blocks, this plan detects differences of",
    ] {
        assert!(ended.stdout.contains(words), "{ended}");
    }
    let ended = bench.dyno(&["plan", "count.toml", "--pilot", "pilot", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let blocks = json["pilot"]["blocks_for"].as_array().unwrap();
    assert!(
        blocks.iter().all(|row| row["blocks"].as_u64().is_none_or(|blocks| blocks >= 3)),
        "{blocks:?}"
    );
    let ended = bench.dyno(&["plan", "count.toml", "--pilot", "nowhere"]);
    assert_eq!(ended.code, 7, "{ended}");
}

#[test]
fn a_plan_as_json_holds_every_default() {
    let bench = Bench::new();
    bench.file("count.toml", SPEC);
    let ended = bench.dyno(&["plan", "count.toml", "--json"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(json["plan"]["name"], "count");
    assert_eq!(json["plan"]["configurations"][0]["load"]["grace"], 5_000_000_000_u64);
    assert_eq!(json["plan"]["trials"].as_array().unwrap().len(), 16);
    assert_eq!(json["estimate"]["is_rate_assumed"], false);
    assert_eq!(bench.names(), ["count.toml"]);
}

#[test]
fn the_built_in_experiment_needs_no_server_and_less_than_a_minute() {
    let ended = Bench::new().dyno(&["plan", "--json"]);
    assert!(ended.is_done(), "{ended}");
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let systems = json["plan"]["systems"].as_array().unwrap();
    assert!(
        systems.iter().all(|system| system["source"]["managed"]["kind"] == "sqlite"),
        "{systems:?}"
    );
    assert!(json["estimate"]["likely_ns"].as_u64().unwrap() < 60_000_000_000);
}

#[test]
fn every_shipped_experiment_and_each_of_its_profiles_is_right() {
    let bench = Bench::new();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let spec: toml::Table = std::fs::read_to_string(&path).unwrap().parse().unwrap();
        let profiles = spec.get("profile").and_then(toml::Value::as_table);
        let profiles: Vec<&str> =
            profiles.into_iter().flat_map(toml::Table::keys).map(String::as_str).collect();
        let path = path.to_str().unwrap();
        let mut plans = vec![bench.dyno(&["plan", path])];
        plans.extend(
            profiles.iter().map(|profile| bench.dyno(&["plan", path, "--profile", profile])),
        );
        for ended in plans {
            // Preflight may miss a server on this machine (4); the spec itself must be right (not
            // 3).
            assert!(ended.code == 0 || ended.code == 4, "{path}: {ended}");
            count += 1;
        }
    }
    assert!(count >= 1);
}
