//! Bundled scripts executed by dyno's own workloads instead of Lua: the same statements, counted in
//! the same way, for a fraction of the processor time and memory.
//!
//! Whatever the native workloads do not support (an empty table, unusual combinations of options)
//! is left to the bundled script in Lua.

pub(crate) mod prepare;

use crate::bundled::bundled;
use crate::options::Options;
use crate::options::definition::Value;
use dyno_engine::workload::{Native, WorkloadContext, catalog};
use dyno_model::catalog::{OptionKind, OptionValue, WorkloadDescription, WorkloadOptions};
use dyno_model::plan::WorkloadPlan;
use dyno_model::target::Engine;

/// The native workload that is equivalent to the bundled script of this name with these options;
/// `None` when there is none, or when it does not support the options.
pub(crate) fn native(script: &str, options: &Options, engine: Engine, seed: u64) -> Option<Native> {
    let setting = WorkloadContext { engine, clients: options.general.threads, seed };
    Native::build(&plan(script, options)?, setting).ok()
}

/// The workload with all its options.
pub(crate) fn plan(script: &str, options: &Options) -> Option<WorkloadPlan> {
    let description = catalog().into_iter().find(|description| {
        // `rush` is dyno's own workload; no sysbench script has its name.
        description.name == script && bundled().any(|name| name == script)
    })?;
    let mut resolved = resolve(&description, options)?;
    if script == "bulk_insert" {
        // Not an option of the script: an event is a row, and an INSERT is sent when 512 KiB are
        // full.
        resolved.0.insert("rows_per_insert".to_owned(), OptionValue::Integer(0));
    }
    Some(WorkloadPlan::new(script, resolved))
}

/// Every option of the workload with the user's value; `None` when one is out of the workload's
/// range. Options have the same names on both sides.
fn resolve(description: &WorkloadDescription, options: &Options) -> Option<WorkloadOptions> {
    let mut resolved = description.defaults();
    for option in &description.options {
        let value = match options.value(option.name) {
            Value::Nothing => continue,
            value => match &option.kind {
                OptionKind::Integer { min, max } => {
                    // Scripts truncate fractions, too.
                    let number = value.as_number().trunc();
                    (*min as f64 <= number && number <= *max as f64)
                        .then_some(OptionValue::Integer(number as i64))?
                }
                OptionKind::Number { min, max } => {
                    let number = value.as_number();
                    (min..=max).contains(&&number).then_some(OptionValue::Number(number))?
                }
                OptionKind::Boolean => OptionValue::Boolean(value.is_on()),
                OptionKind::Choice(words) => {
                    let text = value.text();
                    words.contains(&text.as_str()).then_some(OptionValue::Text(text))?
                }
                OptionKind::Text => OptionValue::Text(value.text()),
                OptionKind::Properties(_)
                | OptionKind::Scripts { .. }
                | OptionKind::Texts
                | OptionKind::Values => return None,
            },
        };
        resolved.0.insert(option.name.to_owned(), value);
    }
    Some(resolved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::definition::{Definition, Kind};

    fn declared(arguments: &[&str]) -> Options {
        let arguments: Vec<_> = arguments.iter().map(Into::into).collect();
        let mut options = Options::parse(&arguments).expect("the arguments are right");
        let number = |name: &str, default: f64| Definition {
            name: name.to_owned(),
            kind: Kind::Double,
            default: Value::Number(default),
            shown_default: None,
            help: String::new(),
        };
        options
            .declare(&[
                number("table_size", 10_000.0),
                number("tables", 1.0),
                number("point_selects", 10.0),
            ])
            .expect("only declared options are given");
        options
    }

    #[test]
    fn options_of_the_command_line_reach_the_workload() {
        let options = declared(&[
            "oltp_read_write",
            "--table-size=250.9",
            "--tables=3",
            "--rand-type=pareto",
            "run",
        ]);
        let plan = plan("oltp_read_write", &options).expect("it is native");
        assert_eq!(plan.options.count("table_size"), 250);
        assert_eq!(plan.options.count("tables"), 3);
        assert_eq!(plan.options.text("rand_type"), "pareto");
        assert_eq!(plan.options.count("point_selects"), 10);
    }

    #[test]
    fn keys_are_drawn_as_in_sysbench_by_default() {
        let plan = plan("oltp_read_only", &declared(&["oltp_read_only"])).expect("it is native");
        assert_eq!(plan.options.text("rand_type"), "special");
    }

    #[test]
    fn an_event_of_bulk_insert_is_a_row() {
        let plan = plan("bulk_insert", &declared(&["bulk_insert"])).expect("it is native");
        assert_eq!(plan.options.count("rows_per_insert"), 0);
    }

    #[test]
    fn unsupported_options_are_left_to_lua() {
        let options = declared(&["oltp_insert", "--table-size=0"]);
        assert!(native("oltp_insert", &options, Engine::Mysql, 1).is_none());
    }

    #[test]
    fn dynos_own_workloads_are_not_scripts() {
        assert!(native("rush", &declared(&["rush"]), Engine::Mysql, 1).is_none());
    }
}
