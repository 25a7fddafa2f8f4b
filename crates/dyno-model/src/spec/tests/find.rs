//! Tests of searches for the highest load.

use super::super::parse;
use super::{GOOD, catalog, errors, input};
use crate::limit::LimitMetric;
use crate::plan::LoadBy;
use crate::search::Search;

fn text(load: &str) -> String {
    let start = GOOD.split("[load]").next().unwrap();
    format!("{start}[load]\nclients = 64\n{load}\n")
}

fn search(find: &str) -> Option<Search> {
    let (_, plan) =
        parse(input(&text(&format!("duration = \"10s\"\nfind = {find}"))), &catalog()).unwrap();
    plan.configurations[0].load.find.clone()
}

#[test]
fn a_search_says_what_is_raised_while_what_is_kept() {
    let p99 = Search {
        most: LoadBy::Rate,
        metric: LimitMetric::P99,
        below: 20.0,
        transaction: None,
        from: None,
    };
    assert_eq!(search("{ most = \"rate\", while = \"p99 < 20ms\" }"), Some(p99.clone()));
    let from = Some(0.5);
    assert_eq!(
        search("{ while = \"p99<20ms\", from = \"30/min\" }"),
        Some(Search { from, ..p99.clone() })
    );
    let failed = Search { most: LoadBy::Clients, metric: LimitMetric::Failed, below: 0.1, ..p99 };
    assert_eq!(search("{ most = \"clients\", while = \"failed < 0.1 %\" }"), Some(failed.clone()));
    let from = search("{ most = \"clients\", while = \"failed < 0.1 %\", from = 8 }");
    assert_eq!(from, Some(Search { from: Some(8.0), ..failed }));
}

#[test]
fn invalid_searches_are_rejected_with_their_location() {
    let rows = [
        (
            "{ while = \"p99 < 20ms\", most = \"rats\" }",
            "`load.find.most` cannot be `rats` [did you mean `rate`?]",
        ),
        (
            "{ most = \"rate\" }",
            "missing key `while` in [load.find] [write for example `while = \"p99 < 20ms\"`]",
        ),
        ("{ while = \"p99 > 20ms\" }", "it does not begin with `<`"),
        ("{ while = \"p99 < 20\" }", "`20` has no unit"),
        (
            "{ while = \"throughput > 5/s\" }",
            "it uses none of `mean`, `p50`, `p90`, `p95`, `p99`, `p99.9` and `failed`",
        ),
        ("{ while = \"20ms\" }", "it uses none of"),
        (
            "{ while = \"p99 < 20ms\", from = 5 }",
            "`load.find.from` must be a string, not an integer",
        ),
        (
            "{ most = \"clients\", while = \"p99 < 20ms\", from = 65 }",
            "`load.find.from` must be between 1 and 64, got 65",
        ),
        (
            "{ while = \"p99 < 20ms\", form = \"5/s\" }",
            "unknown key `form` in [load.find] [did you mean `from`?]",
        ),
        ("\"p99 < 20ms\"", "`load.find` must be a table"),
        (
            "{ while = \"p99 < 20ms\" }\nrate = \"5/s\"",
            "`load.find` and `load.rate` cannot both be given",
        ),
        (
            "{ while = \"p99 < 20ms\" }\n[[fault]]\nsystem = \"WAL\"\nat = \"1s\"\naction = \"kill\"",
            "faults",
        ),
    ];
    for (find, expected) in rows {
        let found = errors(&text(&format!("duration = \"10s\"\nfind = {find}")));
        assert!(found.iter().any(|error| error.contains(expected)), "{find}: {found:?}");
    }
    let counted = errors(&text("transactions = 1000\nfind = { while = \"p99 < 20ms\" }"));
    assert_eq!(counted.len(), 1, "{counted:?}");
    assert!(
        counted[0].contains("`load.find` needs `load.duration` [add the time of each load step"),
        "{counted:?}"
    );
}
