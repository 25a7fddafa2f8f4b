//! Tests of clients that are distributed over several databases.

use super::super::parse;
use super::{catalog, errors, input};
use crate::catalog::{OptionDescription, OptionKind, OptionValue, WorkloadDescription};
use crate::databases::Databases;
use crate::plan::Plan;

const SERVER: &str = "[[system]]\nname = \"A\"\nserver = { kind = \"postgres\" }\n";
const URL: &str = "[[system]]\nname = \"A\"\nurl = \"postgres://me@localhost/shop\"\n";

fn text(system: &str, load: &str, more: &str) -> String {
    format!(
        "title = \"tenants\"\n{system}[workload]\nkind = \"rush\"\n[load]\nclients = 8\nduration = \"10s\"\n{load}\n{more}"
    )
}

/// All errors, with their positions and remedies.
fn reported(text: &str) -> String {
    errors(text).join("\n")
}

fn plan(system: &str, load: &str, more: &str) -> Plan {
    parse(input(&text(system, load, more)), &catalog())
        .unwrap_or_else(|errors| panic!("{errors}"))
        .1
}

#[test]
fn database_count_is_a_factor_and_names_derive_from_the_url() {
    let found = plan(URL, "", "[factors]\n\"load.databases\" = [1, 2, 4]\n");
    let names: Vec<Vec<String>> =
        found.configurations.iter().map(|it| found.databases(it)).collect();
    assert_eq!(names[0], Vec::<String>::new(), "one is the system's own");
    assert_eq!(names[1], ["shop_1", "shop_2"]);
    assert_eq!(names[2].len(), 4);
    assert_eq!(found.databases_of(0), ["shop_1", "shop_2", "shop_3", "shop_4"]);
    assert!(found.uses_own_database(0));
    let written = toml::Value::try_from(&found.configurations[0].load).unwrap();
    assert!(written.get("databases").is_none(), "older readers know nothing of it");
}

#[test]
fn databases_have_names_of_the_user_s_or_of_a_server_that_dyno_starts() {
    let named = plan(URL, "databases = [\"north\", \"south\"]", "");
    assert_eq!(named.databases(&named.configurations[0]), ["north", "south"]);
    assert!(!named.uses_own_database(0));
    let started = plan(SERVER, "databases = 2", "");
    assert_eq!(started.configurations[0].load.databases, Databases::Numbered(2));
    assert_eq!(started.databases(&started.configurations[0]), ["dyno_1", "dyno_2"]);
}

#[test]
fn invalid_multi_database_loads_are_rejected_with_a_reason() {
    let sqlite = "[[system]]\nname = \"A\"\nserver = { kind = \"sqlite\" }\n";
    let galera = "[[system]]\nname = \"A\"\nserver = { kind = \"galera\" }\n";
    let four = "databases = 4";
    for (system, load, more, expected) in [
        (SERVER, "databases = 0", "", "`load.databases` must be between 1 and 100, got 0"),
        (SERVER, "databases = 101", "", "between 1 and 100"),
        (SERVER, "databases = \"shop\"", "", "an integer or a list of names, not a string"),
        (SERVER, "databases = [\"shop\"]", "", "`load.databases` needs two databases or more"),
        (SERVER, "databases = [\"a\", 2]", "", "each item of load.databases"),
        (SERVER, "databases = [\"a\", \"A\"]", "", "the database `A` is listed twice"),
        (SERVER, "databases = [\"a\", \"b c\"]", "", "`b c` is not a valid database name"),
        (SERVER, "databases = 9", "", "8 clients are fewer than 9 databases"),
        (sqlite, four, "", "`A` does not support several databases"),
        (galera, four, "", "the cluster `A` cannot be combined with several databases"),
        (
            SERVER,
            four,
            "[[background]]\nname = \"report\"\nworkload.kind = \"rush\"\n",
            "cannot be combined with a background workload",
        ),
        (
            SERVER,
            four,
            "[[fault]]\naction = \"kill\"\nat = \"5s\"\n",
            "faults cannot be combined with several databases",
        ),
    ] {
        let found = reported(&text(system, load, more));
        assert!(found.contains(expected), "{load} {more}: {found}");
    }
    let found = reported(&text(URL, &format!("databases = [\"{}\", \"b\"]", "x".repeat(64)), ""));
    assert!(found.contains("at most 63 bytes"), "{found}");
    let url = URL.replace("shop", &"x".repeat(62));
    let found = reported(&text(&url, four, ""));
    assert!(found.contains("is too long for a database name"), "{found}");
    let many: Vec<String> = (0..101).map(|number| format!("\"d{number}\"")).collect();
    let found = reported(&text(URL, &format!("databases = [{}]", many.join(", ")), ""));
    assert!(found.contains("more than 100 databases"), "{found}");
    // Workloads that would need a single object in each database, and the network path that leads
    // to only one of them.
    let scripts = OptionDescription {
        name: "scripts",
        kind: OptionKind::Scripts { is_required: false },
        default: OptionValue::Scripts(Vec::new()),
        help: "",
    };
    let others = ["lua", "history", "crud"].map(|name| WorkloadDescription {
        name,
        summary: "",
        audit: "",
        options: vec![scripts.clone()],
    });
    let known = [catalog(), others.to_vec()].concat();
    let of = |kind: &str, more: &str| {
        let text = text(&SERVER.replace("postgres", "mysql"), four, more);
        let text = text.replace("kind = \"rush\"", &format!("kind = \"{kind}\""));
        parse(input(&text), &known).map(|_| ()).map_err(|errors| errors.to_string())
    };
    for kind in ["mass-insert", "history", "lua"] {
        let found = of(kind, "").unwrap_err();
        let expected = format!("the workload `{kind}` does not support several databases");
        assert!(found.contains(&expected), "{kind}: {found}");
    }
    assert_eq!(of("crud", ""), Ok(()));
    let network_path = "[factors]\nendpoint = [\"web\", \"tcp\"]\n[[endpoint]]\nname = \"web\"\napplication = { kind = \"tomcat\", war = \"a.war\" }\n";
    let found = of("crud", network_path).unwrap_err();
    assert!(found.contains("an application endpoint cannot be combined"), "{found}");
}

#[test]
fn a_configuration_with_too_few_clients_may_be_left_out() {
    let load = "databases = 4";
    let few = text(SERVER, load, "").replace("clients = 8", "clients = [1, 8]");
    let found = reported(&few);
    assert!(
        found.contains("1 clients are fewer than 4") && found.contains("design.exclude"),
        "{found}"
    );
    let left_out = format!("{few}[design]\nexclude = [{{ clients = 1 }}]\n");
    let (_, plan) = parse(input(&left_out), &catalog()).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(plan.configurations.len(), 1);
}
