//! Tests of `properties`: a file of another program with values of a workload's options.

use super::super::super::{Input, TextKind, parse};
use crate::catalog::{
    ForeignProperty, OptionDescription, OptionKind, OptionValue, PROPERTIES, WorkloadDescription,
    WorkloadOptions,
};
use std::path::Path;

const FOREIGN: &[ForeignProperty] = &[
    ForeignProperty::skipped("operationcount"),
    ForeignProperty::only("workload", &["Core"], "dyno has the core workload only"),
    ForeignProperty::refused("threadcount", "set `load.clients`"),
];

fn catalog() -> Vec<WorkloadDescription> {
    let option = |name, kind, default| OptionDescription { name, kind, default, help: "" };
    let text = |text: &str| OptionValue::Text(text.to_owned());
    let share = OptionKind::Number { min: 0.0, max: 1.0 };
    let options = vec![
        option(PROPERTIES, OptionKind::Properties(FOREIGN), text("")),
        option("records", OptionKind::Integer { min: 1, max: 100 }, OptionValue::Integer(10)),
        option("reads", share, OptionValue::Number(0.95)),
        option("all", OptionKind::Boolean, OptionValue::Boolean(true)),
        option("order", OptionKind::Choice(&["hashed", "ordered"]), text("hashed")),
    ];
    vec![WorkloadDescription { name: "keys", summary: "", audit: "", options }]
}

/// Files of these names contain themselves, with `;` for a new line.
fn file(file: &Path, _: TextKind) -> Result<String, String> {
    let name = file.strip_prefix("here").map_err(|_| "it is elsewhere".to_owned())?;
    match name.to_str() {
        Some("missing") => Err("it does not exist".to_owned()),
        name => Ok(name.unwrap_or_default().replace(';', "\n")),
    }
}

fn read(workload: &str) -> Result<WorkloadOptions, String> {
    let text = format!(
        "title = \"keys\"\n[[system]]\nname = \"A\"\nurl = \"sqlite:a.db\"\n[load]\nclients = \
         1\nduration = \"1s\"\n[workload]\nkind = \"keys\"\n{workload}"
    );
    let input =
        Input { file_name: "here/own.toml", text: &text, script: Some(file), ..Input::default() };
    let (_, plan) = parse(input, &catalog()).map_err(|errors| errors.render_plain())?;
    Ok(plan.configurations[0].workload.options.clone())
}

#[test]
fn a_file_sets_options_and_the_spec_replaces_them() {
    let options = read(
        "records = 7\nproperties = \"# comment;records=50; reads = 0.5 ;all=False;!;order: \
         ordered;workload=Core;operationcount=1000\"",
    );
    let options = options.expect("the file is right");
    assert_eq!((options.integer("records"), options.float("reads")), (7, 0.5));
    assert_eq!((options.boolean("all"), options.text("order")), (false, "ordered"));
    let named = options.text(PROPERTIES);
    assert!(named.ends_with("operationcount=1000 (without operationcount)"), "{named}");
    let options = read("properties = \"records=50\"").expect("the file is right");
    assert_eq!((options.integer("records"), options.text(PROPERTIES)), (50, "records=50"));
    assert!((options.float("reads") - 0.95).abs() < f64::EPSILON, "others keep their defaults");
}

#[test]
fn mistakes_in_a_file_name_their_line_and_what_to_do() {
    for (file, expected) in [
        ("missing", "cannot read the property file `missing`: it does not exist"),
        ("records", "records, line 1: `records` is no property"),
        ("all=true;record=1", "line 2: unknown property `record`"),
        ("record=1", "did you mean `records`?"),
        ("xyzzy=1", "known properties: `records`, `reads`, `all`, `order`"),
        ("properties=other", "unknown property `properties`"),
        ("records=0", "line 1: `workload.records` must be between 1 and 100, got 0"),
        ("records=many", "line 1: `workload.records` must be an integer"),
        ("reads=2", "line 1: `workload.reads` must be between 0 and 1, got 2"),
        ("reads=often", "line 1: `workload.reads` must be a number"),
        ("all=perhaps", "line 1: `workload.all` must be true or false"),
        ("order=none", "line 1: `workload.order` cannot be `none`"),
        ("workload=Other", "line 1: dyno cannot use `workload=Other`"),
        ("workload=Other", "dyno has the core workload only"),
        ("threadcount=8", "set `load.clients`"),
    ] {
        let errors = read(&format!("properties = \"{file}\"")).expect_err(file);
        assert!(errors.contains(expected), "{file}: {errors}");
    }
    let errors = read("properties = 1").expect_err("it is no file");
    assert!(errors.contains("`workload.properties` must be a string"), "{errors}");
    let errors = read("properties = \"all=1\"\nrecods = 1").expect_err("two mistakes");
    assert!(errors.contains("all=1, line 1") && errors.contains("no option `recods`"), "{errors}");
}
