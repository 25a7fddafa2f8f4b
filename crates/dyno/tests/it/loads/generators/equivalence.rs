//! The figures of one, two and four generators where no generator is the bottleneck.

use crate::program::Bench;

/// Each answer takes 20 ms, so that 16 clients commit 800 transactions a second at most.
const SPEC: &str = "title = \"A/A\"\nsystem = [{ name = \"S\", url = \"null:latency_us=20000\" }]\n\
                    workload = { kind = \"oltp_point_select\", tables = 1, table_size = 100 }\n\
                    load = { clients = 16, duration = \"3s\", warmup = \"500ms\" }\n\
                    design = { blocks = 6 }\n";

#[test]
#[ignore = "a minute of load on a machine that has nothing else to do"]
fn one_two_and_four_generators_measure_the_same() {
    let bench = Bench::new();
    bench.file("spec.toml", SPEC);
    for number in ["1", "2", "4"] {
        let ended = bench.dyno(&["run", "spec.toml", "--out", number, "--generators", number]);
        assert!(ended.is_done(), "{ended}");
    }
    for number in ["2", "4"] {
        let ended = bench.dyno(&[
            "compare",
            "1",
            number,
            "--metric",
            "throughput,mean",
            "--margin",
            "3%",
            "--json",
        ]);
        let reported: serde_json::Value =
            serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended}"));
        let verdicts = verdicts(&reported);
        let is_equivalent = |verdict: &String| verdict == "equivalent";
        assert!(!verdicts.is_empty() && verdicts.iter().all(is_equivalent), "{number}: {ended}");
    }
}

/// All verdicts of a comparison.
fn verdicts(reported: &serde_json::Value) -> Vec<String> {
    let mut all = Vec::new();
    match reported {
        serde_json::Value::Object(fields) => {
            for (name, field) in fields {
                match field.as_str().filter(|_| name == "verdict") {
                    Some(verdict) => all.push(verdict.to_owned()),
                    None => all.extend(verdicts(field)),
                }
            }
        }
        serde_json::Value::Array(items) => all.extend(items.iter().flat_map(verdicts)),
        _ => {}
    }
    all
}
