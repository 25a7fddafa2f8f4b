use super::*;
use crate::catalog::{OptionDescription, OptionKind, OptionValue};
use crate::plan::{PasswordSource, ServerKind, StopRule, SystemSource};
use crate::units::Nanos;

/// A catalog like the engine's, with an option of every type.
fn catalog() -> Vec<WorkloadDescription> {
    let option = |name, kind, default| OptionDescription { name, kind, default, help: "" };
    vec![
        WorkloadDescription {
            name: "rush",
            summary: "",
            audit: "",
            options: vec![
                option("rows", OptionKind::Integer { min: 1, max: 1_000_000 }, OptionValue::Integer(100)),
                option(
                    "variant",
                    OptionKind::Choice(&["read-modify-write", "in-place", "for-update", "optimistic"]),
                    OptionValue::Text("read-modify-write".to_owned()),
                ),
            ],
        },
        WorkloadDescription {
            name: "oltp_read_write",
            summary: "",
            audit: "",
            options: vec![
                option("skip_trx", OptionKind::Boolean, OptionValue::Boolean(false)),
                option(
                    "zipfian_exponent",
                    OptionKind::Number { min: 0.0, max: 5.0 },
                    OptionValue::Number(0.8),
                ),
                option("pad_bytes", OptionKind::Integer { min: 0, max: 1 << 30 }, OptionValue::Integer(60)),
            ],
        },
    ]
}

fn input<'a>(text: &'a str) -> Input<'a> {
    Input { file_name: "experiments/rush.toml", text, ..Input::default() }
}

const GOOD: &str = r#"
title = "A rush"

[[system]]
name = "WAL"
server = { kind = "sqlite", settings = { journal_mode = "WAL", cache_size = -2000 } }

[[system]]
name = "far"
url = "mysql://bench@db/bench"
password_env = "BENCH_PASSWORD"

[workload]
kind = "rush"

[load]
clients = [1, 8]
transactions = 10_000

[profile.smoke]
load = { clients = [2], duration = "10s" }
design = { blocks = 2 }
"#;

fn good() -> (Spec, Plan) {
    parse(input(GOOD), &catalog()).unwrap()
}

#[test]
fn a_good_spec_becomes_a_plan_with_every_default_explicit() {
    let (spec, plan) = good();
    assert_eq!((plan.name.as_str(), plan.title.as_str(), plan.blocks, plan.seed), ("rush", "A rush", 5, 1));
    assert_eq!(spec.profiles, ["smoke"]);
    assert_eq!(plan.treatments.len(), 4);
    assert_eq!(plan.trials.len(), 20);
    let first = &plan.treatments[0];
    assert_eq!((first.system, first.clients), (0, 1));
    assert_eq!(first.workload.options.count("rows"), 100);
    assert_eq!(
        first.load,
        LoadPlan {
            stop: StopRule::Transactions(10_000),
            warmup: Nanos(0),
            grace: Nanos(5_000_000_000),
            time_limit: Nanos(600_000_000_000),
            workers: None,
            attempts_max: 10,
        }
    );
    let SystemSource::Managed(server) = &plan.systems[0].source else { panic!("managed") };
    assert_eq!(server.kind, ServerKind::Sqlite);
    assert_eq!(server.settings["cache_size"], "-2000");
    let SystemSource::Existing(existing) = &plan.systems[1].source else { panic!("existing") };
    assert_eq!(existing.password, PasswordSource::Environment("BENCH_PASSWORD".to_owned()));
}
