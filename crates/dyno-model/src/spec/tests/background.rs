//! Tests of background workloads.

use super::super::parse;
use super::{catalog, errors, input};
use crate::catalog::{LUA, OptionValue, ScriptText, WorkloadOptions};
use crate::client_group::{ClientGroup, GroupRole};
use crate::limit::{LimitMetric, LimitPart};
use crate::plan::{Configuration, Plan, StopRule, WorkloadPlan};
use crate::units::Nanos;

const START: &str = "title = \"shop\"\n[[system]]\nname = \"A\"\nserver = { kind = \"sqlite\" }\n[workload]\nkind = \"oltp_read_write\"\n";
const LOAD: &str = "[load]\nclients = [1, 8]\nduration = \"10s\"\nrate = \"50/s\"\n";
const REPORT: &str =
    "[[background]]\nname = \"report\"\nworkload = { kind = \"rush\", rows = 7 }\n";

fn plan(more: &str) -> Plan {
    let text = format!("{START}{LOAD}{REPORT}{more}");
    parse(input(&text), &catalog()).unwrap_or_else(|errors| panic!("{errors}")).1
}

fn clients(configuration: &Configuration) -> Vec<(&str, u32)> {
    configuration
        .background
        .iter()
        .map(|background| (background.name.as_str(), background.clients))
        .collect()
}

#[test]
fn a_background_workload_is_in_every_configuration_and_lasts_as_long() {
    let found = plan(
        "clients = 3\nthink = \"2s\"\n[[background]]\nname = \"more\"\nworkload.kind = \"rush\"\nrate = \"30/min\"\n",
    );
    for configuration in &found.configurations {
        assert_eq!(clients(configuration), [("report", 3), ("more", 1)]);
        let groups = found.groups(configuration);
        let [own, report, more] = &groups[..] else { panic!("{groups:?}") };
        assert_eq!((own.role, report.role), (GroupRole::Measured, GroupRole::Background));
        let numbers = |it: &ClientGroup| (it.clients.first, it.clients.step, it.clients.count);
        let after = configuration.clients;
        assert_eq!(
            [own, report, more].map(numbers),
            [(0, 1, after), (after, 1, 3), (after + 3, 1, 1)]
        );
        assert_eq!(
            (report.workload.kind.as_str(), report.workload.options.count("rows")),
            ("rush", 7)
        );
        assert_eq!(report.load.stop, StopRule::Duration(Nanos::from_secs(10)));
        assert_eq!(report.load.warmup, configuration.load.warmup);
        assert_eq!((report.load.rate, report.load.think), (None, Some(Nanos::from_secs(2))));
        assert_eq!(more.load.rate, Some(0.5));
    }
    assert_eq!(found.most_clients(0), 8 + 4, "connections are for all of them");
}

#[test]
fn each_script_of_lua_has_a_session_of_its_own_for_each_client() {
    let mut found = plan("clients = 3\n");
    assert_eq!(found.most_sessions(0), 8 + 3);
    let script = |name: &str| ScriptText {
        name: name.to_owned(),
        weight: 1,
        think: None,
        text: String::new(),
        file: None,
    };
    let scripts = OptionValue::Scripts(vec![script("a"), script("b")]);
    let options = WorkloadOptions([("scripts".to_owned(), scripts)].into());
    let lua = WorkloadPlan { kind: LUA.to_owned(), options, requests: Vec::new() };
    for configuration in &mut found.configurations {
        configuration.workload = lua.clone();
    }
    assert_eq!((found.most_clients(0), found.most_sessions(0)), (8 + 3, 2 * 8 + 3));
    for configuration in &mut found.configurations {
        configuration.background[0].workload = lua.clone();
    }
    assert_eq!(found.most_sessions(0), 2 * 8 + 2 * 3);
}

#[test]
fn its_clients_are_a_factor_and_none_is_without_it() {
    let found = plan("[factors]\n\"background.report.clients\" = [0, 2]\n");
    let all: Vec<_> = found
        .configurations
        .iter()
        .map(|it| (it.clients, it.levels[0].as_str(), clients(it)))
        .collect();
    let with = || vec![("report", 2)];
    assert_eq!(all, [(1, "0", vec![]), (8, "0", vec![]), (1, "2", with()), (8, "2", with())]);
    assert_eq!(found.most_clients(0), 10);
    let named = plan(
        "[factors]\nnight = [{ name = \"quiet\", \"background.report.clients\" = 0 }, { name = \"busy\" }]\n",
    );
    assert_eq!(clients(&named.configurations[0]), []);
    assert_eq!(clients(&named.configurations[2]), [("report", 1)]);
}

#[test]
fn a_limit_of_it_is_about_the_configurations_that_have_it() {
    let found = plan(
        "[factors]\n\"background.report.clients\" = [0, 2]\n[[limit]]\np99 = \"< 2s\"\nlost = 0\nbackground = \"report\"\n",
    );
    let part = Some(LimitPart::Background("report".to_owned()));
    let all: Vec<_> = found
        .limits
        .iter()
        .map(|it| (it.metric, it.part.clone(), it.configurations.clone()))
        .collect();
    assert_eq!(
        all,
        [(LimitMetric::P99, part.clone(), vec![2, 3]), (LimitMetric::Lost, part, vec![2, 3])]
    );
}

#[test]
fn invalid_background_settings_are_rejected_with_a_remedy() {
    let rows = [
        (
            "[[background]]\nworkload.kind = \"rush\"",
            "missing key `name` in [[background]] [add for example `name = \"report\"`]",
        ),
        (
            "[[background]]\nname = \"x\"",
            "missing key `workload` in [[background]] [add for example",
        ),
        (
            "[[background]]\nname = \"report\"\nworkload.kind = \"rush\"",
            "two background workloads are named `report` [names must be unique",
        ),
        ("clients = 0", "`background.clients` must be between 1 and 1000000, got 0"),
        (
            "rate = \"5/s\"\nthink = \"1s\"",
            "`background.think` and a rate in `background.rate` cannot both be given [remove one of them",
        ),
        ("client = 2", "unknown key `client` in [[background]] [did you mean `clients`?]"),
        (
            "[factors]\n\"background.reports.clients\" = [0, 1]",
            "no background workload is named `reports` [did you mean `report`?]",
        ),
        (
            "[factors]\n\"background.report.clients\" = [0, -1]",
            "`background.report.clients` must be between 0 and 1000000, got -1",
        ),
        (
            "clients = 2\n[factors]\n\"background.report.clients\" = [0, 1]",
            "`background.report.clients` is a factor and also has a fixed value",
        ),
        (
            "[factors]\n\"background.report.rate\" = [0, 1]",
            "unknown factor `background.report.rate`",
        ),
        (
            "[[fault]]\naction = \"run\"\ncommand = \"x\"\nat = \"1s\"",
            "faults cannot be combined with a background workload (`report`) [remove",
        ),
        (
            "[[limit]]\np99 = \"< 2s\"\nbackground = \"night\"",
            "no background workload is called `night` [[[background]] tables: `report`]",
        ),
        (
            "[[limit]]\np99 = \"< 2s\"\nbackground = \"report\"\ntransaction = \"x\"",
            "a limit has both `transaction` and `background`",
        ),
    ];
    for (more, expected) in rows {
        let found = errors(&format!("{START}{LOAD}{REPORT}{more}\n"));
        assert!(found.iter().any(|error| error.contains(expected)), "{more}: {found:?}");
    }
    let counted = LOAD.replace("duration = \"10s\"", "transactions = 100");
    let found = errors(&format!("{START}{counted}{REPORT}"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains(
            "with the background workload `report`, trials must end by time [replace the number"
        ),
        "{found:?}"
    );
    let found =
        errors(&format!("{START}{LOAD}[[limit]]\np99 = \"< 2s\"\nbackground = \"night\"\n"));
    assert!(
        found[0].contains(
            "there is no background workload; add [[background]], or remove `background`"
        ),
        "{found:?}"
    );
}

#[test]
fn services_and_applications_take_no_background_workload() {
    use crate::catalog::{HTTP, WorkloadDescription};
    let mut all = catalog();
    all.push(WorkloadDescription { name: HTTP, summary: "", audit: "", options: Vec::new() });
    let refused = |text: &str| parse(input(text), &all).expect_err("refused").to_string();
    let background = refused(&format!(
        "{START}{LOAD}[[background]]\nname = \"x\"\nworkload.kind = \"{HTTP}\"\n"
    ));
    assert!(
        background.contains("the workload `http` cannot run in the background"),
        "{background}"
    );
    let start = START.replace("oltp_read_write", HTTP);
    let own = refused(&format!("{start}{LOAD}{REPORT}"));
    assert!(
        own.contains("the workload `http` cannot have a background workload (`report`)"),
        "{own}"
    );
    let endpoint = "[factors]\nendpoint = [\"app\"]\n[[endpoint]]\nname = \"app\"\napplication = { kind = \"tomcat\", war = \"a.war\" }\n";
    let door = refused(&format!("{START}{LOAD}{REPORT}{endpoint}"));
    assert!(
        door.contains(
            "`report` accesses the database directly, but an endpoint leads to an application"
        ),
        "{door}"
    );
}
