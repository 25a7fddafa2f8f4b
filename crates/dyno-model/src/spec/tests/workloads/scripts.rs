//! Tests of the user's own scripts: files, weights, texts in the spec, and the options that they
//! declare.

use super::super::super::{Input, ReadScript, TextKind, WorkloadNames, parse};
use crate::catalog::{
    DeclaredOption, LUA, OptionDescription, OptionKind, OptionValue, ScriptText,
    WorkloadDescription,
};
use crate::limit::{Limit, LimitPart};
use crate::plan::{Configuration, SystemPlan};
use crate::units::Nanos;
use std::collections::BTreeMap;
use std::path::Path;

/// A catalog with a workload that accepts scripts.
fn catalog() -> Vec<WorkloadDescription> {
    let scripts = OptionDescription {
        name: "scripts",
        kind: OptionKind::Scripts { is_required: true },
        default: OptionValue::Scripts(Vec::new()),
        help: "",
    };
    vec![WorkloadDescription { name: "sql", summary: "", audit: "", options: vec![scripts] }]
}

/// A catalog with a workload whose scripts declare options.
fn of_lua() -> Vec<WorkloadDescription> {
    let of_sql = catalog().remove(0);
    vec![WorkloadDescription { name: LUA, ..of_sql }]
}

/// One file exists, next to the spec.
fn script(file: &Path, _: TextKind) -> Result<String, String> {
    match file.to_str() {
        Some("here/read.sql") => Ok("SELECT 1;".to_owned()),
        _ => Err("it is not there".to_owned()),
    }
}

/// The result of a spec with this `[workload]`: the scripts, or all errors.
fn read(workload: &str) -> Result<Vec<ScriptText>, String> {
    let text = format!(
        "title = \"own\"\n[[system]]\nname = \"A\"\nurl = \"sqlite:a.db\"\n[load]\nclients = 1\nduration = \"1s\"\n\
         [workload]\nkind = \"sql\"\n{workload}"
    );
    let input =
        Input { file_name: "here/own.toml", text: &text, script: Some(script), ..Input::default() };
    let (_, plan) = parse(input, &catalog()).map_err(|errors| errors.to_string())?;
    Ok(plan.configurations[0].workload.options.scripts("scripts").to_vec())
}

#[test]
fn scripts_are_files_with_weights_or_tables() {
    let script = |name: &str, weight, text: &str| ScriptText {
        name: name.to_owned(),
        weight,
        think: None,
        text: text.to_owned(),
        file: None,
    };
    assert_eq!(read("scripts = [\"read.sql@8\"]"), Ok(vec![script("read", 8, "SELECT 1;")]));
    assert_eq!(read("script = \"read.sql@8\""), read("scripts = [\"read.sql@8\"]"));
    assert_eq!(read("scripts = \"read.sql@8\""), read("scripts = [\"read.sql@8\"]"));
    let tables = "[[workload.scripts]]\nfile = \"read.sql\"\n[[workload.scripts]]\nname = \"two\"\nweight = 3\nsql = \"SELECT 2\"\n";
    assert_eq!(
        read(tables),
        Ok(vec![script("read", 1, "SELECT 1;"), script("two", 3, "SELECT 2")])
    );
    let option = OptionValue::Scripts(vec![script("read", 8, "SELECT 1;"), script("two", 1, "x")]);
    assert_eq!(option.to_string(), "read@8, two");
}

#[test]
fn mistakes_in_scripts_name_their_place_and_what_to_write() {
    for (workload, expected) in [
        ("", "missing key `scripts`"),
        ("scripts = []", "names no script"),
        ("scripts = 1", "must be a file, a list of files"),
        ("scripts = [1]", "must be a file or a table"),
        ("script = [\"read.sql\"]", "`workload.script` must be a file"),
        (
            "script = \"read.sql\"\nscripts = [\"read.sql\"]",
            "`script` and `scripts` cannot both be given",
        ),
        ("scripts = [\"read.sql@0\"]", "between 1 and 1000000, got `0`"),
        ("scripts = [\"none.sql\"]", "cannot read the script `none.sql`: it is not there"),
        ("scripts = [\"read.sql\", \"read.sql@2\"]", "two scripts are called `read`"),
        ("[[workload.scripts]]\nname = \"a\"", "missing key `sql`"),
        ("[[workload.scripts]]\nsql = \"SELECT 1\"", "missing key `name`"),
        ("[[workload.scripts]]\nsql = \"x\"\nfile = \"read.sql\"", "both `file` and `sql`"),
        ("[[workload.scripts]]\nname = \"a\"\nsql = \"x\"\nwait = 1", "unknown key `wait`"),
    ] {
        let said = read(workload).expect_err(workload);
        assert!(said.contains(expected), "{workload}: {said}");
        assert!(said.contains("here/own.toml:"), "the place is named: {said}");
    }
}

/// The configurations of a spec with these `[factors]`, whose workload has scripts, a setup and an
/// audit.
fn varied(factors: &str) -> Result<Vec<Configuration>, String> {
    let option = |name, kind, default| OptionDescription { name, kind, default, help: "" };
    let mut catalog = catalog();
    catalog[0].options.extend([
        option(
            "setup",
            OptionKind::Scripts { is_required: false },
            OptionValue::Scripts(Vec::new()),
        ),
        option("audit", OptionKind::Texts, OptionValue::Texts(BTreeMap::new())),
    ]);
    let text = format!(
        "title = \"own\"\n[[system]]\nname = \"A\"\nurl = \"sqlite:a.db\"\n[load]\nclients = 1\nduration = \"1s\"\n\
         [workload]\nkind = \"sql\"\n[factors]\n{factors}\n"
    );
    let any: ReadScript = |file, _| Ok(format!("-- {}", file.display()));
    let input = Input { file_name: "own.toml", text: &text, script: Some(any), ..Input::default() };
    Ok(parse(input, &catalog).map_err(|errors| errors.to_string())?.1.configurations)
}

#[test]
fn scripts_setups_and_audits_are_factors_as_other_options_are() {
    let names = |configuration: &Configuration, option: &str| {
        let scripts = configuration.workload.options.scripts(option).iter();
        scripts.map(|script| script.name.clone()).collect::<Vec<_>>().join(" ")
    };
    let index = "\"workload.scripts\" = [\"old.sql\", \"new.sql@2\"]\n\
                 index = [{ name = \"without\" }, { name = \"with\", \"workload.setup\" = [\"schema.sql\", \"index.sql\"] }]";
    let configurations = varied(index).unwrap_or_else(|errors| panic!("{errors}"));
    let found: Vec<_> = configurations
        .iter()
        .map(|it| (it.levels.join("/"), names(it, "scripts"), names(it, "setup")))
        .collect();
    let expected = [
        ("old.sql/without", "old", ""),
        ("old.sql/with", "old", "schema index"),
        ("new.sql@2/without", "new", ""),
        ("new.sql@2/with", "new", "schema index"),
    ];
    let expected =
        expected.map(|(levels, scripts, setup)| (levels.into(), scripts.into(), setup.into()));
    assert_eq!(found, expected);
    let mixes = "mix = [{ name = \"pay\", \"workload.scripts\" = [{ name = \"pay\", sql = \"SELECT 1\" }], \"workload.audit\" = { \"count(*) from t\" = \"+1 per pay\" } }, \
                 { name = \"read\", workload.scripts = [\"read.sql\"] }]";
    let configurations = varied(mixes).unwrap_or_else(|errors| panic!("{errors}"));
    let audits: Vec<_> =
        configurations.iter().map(|it| it.workload.options.texts("audit").count()).collect();
    assert_eq!((names(&configurations[1], "scripts").as_str(), audits), ("read", vec![1, 0]));
    let wrong =
        varied("mix = [{ name = \"a\", \"workload.scripts\" = [1] }]").expect_err("no script");
    assert!(wrong.contains("must be a file or a table"), "{wrong}");
    let wrong = varied("mix = [{ name = \"a\", \"system.query_mode\" = [\"simple\"] }]")
        .expect_err("no word");
    assert!(wrong.contains("must be a string, a number"), "{wrong}");
}

/// Scripts are transactions, of which `pay` exists only with one client; statements are named after
/// scripts with a number appended.
fn names(configuration: &Configuration, _: &SystemPlan) -> Option<WorkloadNames> {
    let scripts =
        configuration.workload.options.scripts("scripts").iter().map(|script| script.name.clone());
    let transactions: Vec<String> =
        scripts.filter(|name| name != "pay" || configuration.clients == 1).collect();
    let statements = transactions.iter().map(|name| format!("{name} 1")).collect();
    Some(WorkloadNames { transactions, statements })
}

/// The limits of a spec with the scripts `read` and `pay`.
fn limits(limit: &str, names: Option<super::super::super::NamesOf>) -> Result<Vec<Limit>, String> {
    let text = format!(
        "title = \"own\"\n[[system]]\nname = \"A\"\nurl = \"sqlite:a.db\"\n[load]\nclients = [1, 2]\nduration = \"1s\"\n\
         [workload]\nkind = \"sql\"\nscripts = [\"read.sql\", {{ name = \"pay\", sql = \"SELECT 2\" }}]\n[[limit]]\n{limit}\n"
    );
    let input = Input {
        file_name: "here/own.toml",
        text: &text,
        script: Some(script),
        names,
        ..Input::default()
    };
    parse(input, &catalog()).map(|(_, plan)| plan.limits).map_err(|errors| errors.to_string())
}

#[test]
fn limits_can_target_one_existing_transaction_or_statement() {
    let of = |limit: &str| limits(limit, Some(names)).unwrap_or_else(|errors| panic!("{errors}"));
    let found =
        of("transaction = \"pay\"\np99 = \"< 20ms\"\nfailed = \"< 1 %\"\nthroughput = \"> 1/s\"");
    assert_eq!(found.len(), 3);
    for limit in &found {
        assert_eq!(limit.part, Some(LimitPart::Transaction("pay".to_owned())));
        assert_eq!(limit.configurations, [0], "the other configuration has no such transaction");
    }
    let found = of("statement = \"read 1\"\np99 = \"< 20ms\"");
    assert_eq!(
        (found[0].configurations.len(), found[0].part.as_ref().map(LimitPart::key)),
        (2, Some("statement"))
    );
    for (limit, expected) in [
        ("transaction = \"pays\"\np99 = \"< 20ms\"", "no transaction is called `pays`"),
        ("transaction = \"order\"\np99 = \"< 20ms\"", "no transaction is called `order`"),
        ("statement = \"read 2\"\np99 = \"< 20ms\"", "no statement is called `read 2`"),
        (
            "transaction = \"pay\"\nlost = 0",
            "`limit.lost` applies to whole trials, not to a transaction",
        ),
        (
            "statement = \"read 1\"\nthroughput = \"> 1/s\"",
            "`limit.throughput` applies to whole trials, not to a statement",
        ),
        (
            "statement = \"read 1\"\ntransaction = \"pay\"\np99 = \"< 20ms\"",
            "a limit has both `transaction` and `statement`",
        ),
    ] {
        let found = limits(limit, Some(names));
        assert!(found.as_ref().is_err_and(|found| found.contains(expected)), "{limit}: {found:?}");
    }
    // The names of an invalid workload are unknown; preflight reports its errors.
    assert!(limits("transaction = \"pays\"\np99 = \"< 20ms\"", None).is_ok());
}

#[test]
fn scripts_can_set_think_time_unless_the_load_has_a_rate() {
    let script = "[[workload.scripts]]\nfile = \"read.sql\"\nthink = \"5s\"\n";
    let found = read(script).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(
        (found[0].think, found[0].to_string()),
        (Some(Nanos::from_secs(5)), "read (think 5.00 s)".to_owned())
    );
    let at_a_rate =
        read(&format!("{script}[load]\nrate = \"5/s\"\n").replace("[load]", "[profile.open.load]"));
    assert!(
        at_a_rate.as_ref().is_err_and(|errors| errors
            .contains("`workload.scripts.think` and a rate in `load.rate` cannot both")),
        "{at_a_rate:?}"
    );
}

/// A script that declares a number of rows and a mode; the two scripts of `read.sql` disagree about
/// it.
fn declared(
    options: &crate::catalog::WorkloadOptions,
) -> Result<Option<Vec<DeclaredOption>>, String> {
    let option =
        |name: &str, kind, default| DeclaredOption { name: name.to_owned(), kind, default };
    match options.scripts("scripts")[0].weight {
        8 => Err("the script read has a mistake\nhint: mend it".to_owned()),
        2 => Ok(None),
        weight => Ok(Some(vec![
            option(
                "rows",
                OptionKind::Number { min: f64::MIN, max: f64::MAX },
                Some(OptionValue::Integer(50)),
            ),
            option(
                "mode",
                OptionKind::Text,
                (weight != 3).then(|| OptionValue::Text("fast".to_owned())),
            ),
        ])),
    }
}

#[test]
fn declared_script_options_are_keys_with_types_and_defaults() {
    let read = |workload: &str| {
        let text = format!(
            "title = \"own\"\n[[system]]\nname = \"A\"\nurl = \"sqlite:a.db\"\n[load]\nclients = 1\nduration = \"1s\"\n\
             [workload]\nkind = \"lua\"\n{workload}"
        );
        let input = Input {
            file_name: "here/own.toml",
            text: &text,
            script: Some(script),
            ..Input::default()
        };
        let input = Input { declared: Some(declared), ..input };
        let (_, plan) = parse(input, &of_lua()).map_err(|errors| errors.to_string())?;
        let options = &plan.configurations[0].workload.options.0;
        let shown = |name| options.get(name).map(ToString::to_string).unwrap_or_default();
        Ok::<_, String>(format!("{} {}", shown("rows"), shown("mode")))
    };
    assert_eq!(read("script = \"read.sql\""), Ok("50 fast".to_owned()));
    assert_eq!(
        read("script = \"read.sql\"\nrows = \"4K\"\nmode = \"slow\""),
        Ok("4096 slow".to_owned())
    );
    assert_eq!(
        read("script = \"read.sql@2\"\nmode = true"),
        Ok(" true".to_owned()),
        "whatever is given is taken"
    );
    for (workload, expected) in [
        ("script = \"read.sql\"\nrow = 1", "the scripts have no option `row`"),
        ("script = \"read.sql\"\nrows = \"many\"", "`workload.rows` must be a number"),
        ("script = \"read.sql\"\nmode = 1", "`workload.mode` must be a string"),
        ("script = \"read.sql@3\"", "different defaults for the option `mode`"),
        ("script = \"read.sql@8\"", "the script read has a mistake"),
        ("script = \"read.sql@2\"\nmode = [1]", "must be a string, a number"),
    ] {
        let said = read(workload).expect_err(workload);
        assert!(said.contains(expected) && said.contains("here/own.toml:"), "{workload}: {said}");
    }
}

#[test]
fn lua_scripts_support_neither_statement_timeout_nor_disconnect() {
    let known = [catalog(), of_lua()].concat();
    let read = |kind: &str, rest: &str| {
        let text = format!(
            "title = \"own\"\n[[system]]\nname = \"A\"\nserver = {{ kind = \"mariadb\" }}\n[workload]\nkind = \"{kind}\"\n\
             script = \"read.sql\"\n[load]\nclients = 1\nduration = \"9s\"\n{rest}"
        );
        let input = Input {
            file_name: "here/own.toml",
            text: &text,
            script: Some(script),
            ..Input::default()
        };
        parse(input, &known).map(|_| ()).map_err(|errors| errors.to_string())
    };
    let limit = "statement_timeout = \"2s\"\n";
    let background =
        "[[background]]\nname = \"b\"\nworkload = { kind = \"lua\", script = \"read.sql\" }\n";
    let cut = "[[fault]]\nat = \"1s\"\naction = \"disconnect\"\n";
    let varied = "[factors]\n\"load.statement_timeout\" = [\"1s\", \"2s\"]\n";
    for (kind, rest, expected, line) in [
        ("lua", limit.to_owned(), "`load.statement_timeout` has no effect on `lua`", 11),
        ("lua", varied.to_owned(), "`load.statement_timeout` has no effect on `lua`", 12),
        (
            "sql",
            format!("{limit}{background}"),
            "`load.statement_timeout` has no effect on `lua`",
            11,
        ),
        ("lua", cut.to_owned(), "Lua scripts wait for answers without a timeout", 11),
    ] {
        let said = read(kind, &rest).expect_err(&rest);
        assert!(said.contains(expected), "{rest}: {said}");
        assert!(said.contains(&format!("here/own.toml:{line}:")), "{rest}: {said}");
    }
    for (kind, rest) in [
        ("sql", format!("{limit}{cut}")),
        ("lua", background.to_owned()),
        ("sql", background.to_owned()),
    ] {
        assert_eq!(read(kind, &rest), Ok(()), "{rest}");
    }
}
