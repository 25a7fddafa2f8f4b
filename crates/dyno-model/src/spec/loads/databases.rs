//! `load.databases`: the databases of the measured clients, and the workloads that do not support
//! several.

use crate::catalog::{HTTP, LUA};
use crate::databases::{DATABASES_MAX, Databases};
use crate::plan::{Configuration, DataPolicy, EndpointPlan, SystemPlan, SystemSource, Via};
use crate::spec::reader::{Fields, integer, wrong_type};
use crate::spec::tree::{Node, Value};

const KEY: &str = "databases";
/// Maximum length of a database name, in bytes: PostgreSQL truncates longer names.
const NAME_MAX: usize = 63;
/// A workload with a file that applies to a single database.
const HISTORY: &str = "history";
/// Its table grows to a given size.
const MASS_INSERT: &str = "mass-insert";

/// The value of the key.
pub(in crate::spec) fn read(fields: &Fields<'_>) -> Databases {
    let Some(node) = fields.node(KEY) else { return Databases::One };
    let path = fields.path(KEY);
    match &node.value {
        Value::List(items) => named(fields, node, items),
        Value::Integer(_) => {
            match integer(node, &path, &(1..=i64::from(DATABASES_MAX)), fields.problems) {
                None | Some(1) => Databases::One,
                Some(number) => Databases::Numbered(number as u32),
            }
        }
        _ => {
            wrong_type(node, &path, "an integer or a list of names", fields.problems);
            Databases::One
        }
    }
}

fn named(fields: &Fields<'_>, node: &Node, items: &[Node]) -> Databases {
    let refuse =
        |node: &Node, message: String, help: &str| fields.problems.refuse(node.span, message, help);
    let mut names: Vec<String> = Vec::new();
    for item in items {
        let Value::Text(name) = &item.value else {
            wrong_type(item, "each item of load.databases", "a string", fields.problems);
            continue;
        };
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$');
        if name.is_empty() || name.len() > NAME_MAX || !name.chars().all(is_plain) {
            let message = format!("`{name}` is not a valid database name");
            refuse(item, message, "use letters, digits, `_`, `-` and `$`, at most 63 bytes");
        }
        // Some servers ignore the case of names.
        if names.iter().any(|other| other.to_lowercase() == name.to_lowercase()) {
            refuse(
                item,
                format!("the database `{name}` is listed twice"),
                "list each database once",
            );
        }
        names.push(name.clone());
    }
    if items.len() < 2 {
        let message = "`load.databases` needs two databases or more".to_owned();
        refuse(node, message, "list more, or name the database in the system's `url`");
    }
    if items.len() > DATABASES_MAX as usize {
        refuse(node, format!("more than {DATABASES_MAX} databases"), "name fewer");
    }
    Databases::Named(names)
}

/// Reports each workload that does not support several databases, once per reason.
pub(in crate::spec) fn check(
    top: &Fields<'_>,
    configurations: &[Configuration],
    systems: &[SystemPlan],
    endpoints: &[EndpointPlan],
) {
    let mut spread = configurations
        .iter()
        .filter(|configuration| !configuration.load.databases.is_one())
        .peekable();
    if spread.peek().is_none() {
        return;
    }
    let fixed = top
        .table("load")
        .and_then(|(load, span)| load.get(KEY).map(|node| node.span).or(Some(span)));
    let refuse = |message: &str, help: &str| {
        top.problems.refuse(fixed.unwrap_or(top.span), message, help);
    };
    if top.node("background").is_some() {
        refuse(
            "several databases cannot be combined with a background workload",
            "remove [[background]], or `load.databases`",
        );
    }
    if top.node("fault").is_some() {
        refuse(
            "faults cannot be combined with several databases",
            "remove [[fault]], or `load.databases`",
        );
    }
    if endpoints.iter().any(|endpoint| matches!(endpoint.via, Via::Application(_))) {
        refuse(
            "an application endpoint cannot be combined with several databases",
            "remove that endpoint from the levels, or `load.databases`",
        );
    }
    let mut reported: Vec<String> = Vec::new();
    for configuration in spread {
        let Some((message, help)) = obstacle(configuration, &systems[configuration.system]) else {
            continue;
        };
        if !reported.contains(&message) {
            refuse(&message, help);
            reported.push(message);
        }
    }
}

/// Why a configuration does not support several databases, and the remedy.
fn obstacle(configuration: &Configuration, system: &SystemPlan) -> Option<(String, &'static str)> {
    let (name, number) = (&system.name, configuration.load.databases.count());
    let engine = system.engine();
    if !engine.has_sql() || engine.dialect().databases.is_empty() {
        let help = "use PostgreSQL, MariaDB or MySQL, or remove `load.databases`";
        return Some((format!("`{name}` does not support several databases"), help));
    }
    if system.is_cluster() {
        let help = "measure a single server, or remove `load.databases`";
        return Some((
            format!("the cluster `{name}` cannot be combined with several databases"),
            help,
        ));
    }
    if matches!(&system.source, SystemSource::Existing(existing) if existing.data == DataPolicy::Copy)
    {
        let help = "copy the databases yourself and write `data = \"existing\"`, or remove \
                    `load.databases`";
        return Some((
            format!("the system `{name}` uses a copy, which supports a single database only"),
            help,
        ));
    }
    let kind = configuration.workload.kind.as_str();
    if [LUA, HTTP, HISTORY, MASS_INSERT].contains(&kind) {
        let help = "use another workload, such as your own SQL (`kind = \"sql\"`), or remove \
                    `load.databases`";
        return Some((format!("the workload `{kind}` does not support several databases"), help));
    }
    if configuration.clients < number {
        let message =
            format!("{} clients are fewer than {number} databases", configuration.clients);
        let help = "use at least one client per database, or exclude that configuration with \
                    `design.exclude`";
        return Some((message, help));
    }
    let names = configuration.load.databases.names(system.database());
    let name = names.iter().find(|name| name.len() > NAME_MAX)?;
    let help = "list shorter names: `databases = [\"a\", \"b\"]`";
    Some((format!("`{name}` is too long for a database name"), help))
}
