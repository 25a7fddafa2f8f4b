//! `[[system]]`: systems under test.

use crate::address::{Address, Key};
use crate::engine::Clustering;
use crate::plan::{
    DataPolicy, ExclusivePlan, ExistingSystem, HooksPlan, ManagedServer, MonitorPlan,
    PasswordSource, ServerKind, SystemPlan, SystemSource,
};
use crate::spec::diagnostic::{Diagnostic, Problems, Source, Span};
use crate::spec::keys::{HOOKS, MONITOR, SERVER, SYSTEM};
use crate::spec::reader::{Fields, wrong_type};
use crate::spec::tree::{Node, Table, Value};
use crate::target::{QueryMode, Target};
use crate::units::Nanos;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Values of `data`.
const DATA_POLICIES: [(&str, DataPolicy); 3] =
    [("own", DataPolicy::Own), ("existing", DataPolicy::Existing), ("copy", DataPolicy::Copy)];

const CONNECT_TIMEOUT_DEFAULT: Nanos = Nanos::from_secs(10);
const HOOKS_LIMIT_DEFAULT: Nanos = Nanos::from_secs(300);

/// Returns the value of an environment variable, if there is an environment.
pub(in crate::spec) type Variable = Option<fn(&str) -> Option<String>>;

/// Reads all systems. Those with errors are omitted, which has no effect: an error prevents the
/// plan.
pub(in crate::spec) fn read(
    top: &Fields<'_>,
    sources: &[Source],
    variable: Variable,
) -> Vec<SystemPlan> {
    let tables = top.tables("system");
    let is_given = top.node("system").is_some();
    if tables.is_empty()
        && (!is_given || matches!(top.node("system"), Some(Node { value: Value::List(_), .. })))
    {
        let help =
            "add for example:\n[[system]]\nname = \"MariaDB\"\nserver = { kind = \"mariadb\" }";
        top.missing("system", help);
    }
    let mut names: Vec<(&str, Span)> = Vec::new();
    let mut systems = Vec::new();
    for (table, span) in tables {
        let fields = Fields::new(&SYSTEM, table, span, top.problems);
        let name = fields.required_text("name", "add for example `name = \"MariaDB\"`");
        if let Some(name) = name {
            check_name(name, &fields, &mut names);
        }
        let source = source(&fields, sources, variable);
        let query_modes = QueryMode::ALL.map(|mode| (mode.name(), mode));
        let query_mode = fields.choice("query_mode", &query_modes).unwrap_or_default();
        let connect_timeout = fields.duration("connect_timeout");
        let (Some(name), Some((source, timeout))) = (name, source) else { continue };
        let connect_timeout = connect_timeout.unwrap_or(timeout);
        let system = SystemPlan { name: name.to_owned(), source, query_mode, connect_timeout };
        if let Some(node) = fields.node("query_mode") {
            check_query_mode(query_mode, &system, node.span, fields.problems);
        }
        systems.push(system);
    }
    systems
}

/// Only PostgreSQL's protocol supports `extended`.
pub(in crate::spec) fn check_query_mode(
    mode: QueryMode,
    system: &SystemPlan,
    span: Span,
    problems: &Problems,
) {
    if mode == QueryMode::Extended && !system.engine().traits().has_extended_queries {
        let message =
            format!("query mode `extended` exists for PostgreSQL only, not for `{}`", system.name);
        problems.refuse(span, message, "use `prepared` or `simple`");
    }
}

fn check_name<'a>(name: &'a str, fields: &Fields<'a>, names: &mut Vec<(&'a str, Span)>) {
    let span = fields.span_of("name");
    if name.chars().any(char::is_control) || name.chars().count() > 60 || name.trim() != name {
        let message = "a system's name must be one line of at most 60 characters, without leading \
             or trailing blanks";
        fields.problems.report(Diagnostic::new(span, message));
    }
    if let Some((_, first)) = names.iter().find(|(other, _)| *other == name) {
        let message = format!("two systems are called `{name}`");
        let help = "give each system a unique name";
        let diagnostic = Diagnostic::new(span, message).label("used again");
        fields.problems.report(diagnostic.related(*first, "used here first").help(help));
    }
    names.push((name, span));
}

/// The system, and its connection timeout.
fn source(
    fields: &Fields<'_>,
    sources: &[Source],
    variable: Variable,
) -> Option<(SystemSource, Nanos)> {
    let url = fields.node("url").or(fields.node("url_env"));
    let server = fields.node("server");
    match (url, server) {
        (None, None) => {
            let help = "`url = \"mysql://user@host:3306/database\"` measures an existing system, \
                        `server = { kind = \"mariadb\" }` lets dyno start one";
            fields.refuse_table("the system has neither `url` nor `server`", help);
            password(fields);
            None
        }
        (Some(url), Some(server)) => {
            let message = "the system has both `url` and `server`";
            fields.problems.report(
                Diagnostic::new(server.span, message)
                    .related(url.span, "the other one")
                    .help("remove one: either the system exists already, or dyno starts it"),
            );
            None
        }
        (Some(_), None) => {
            let (existing, timeout) = existing(fields, sources, variable)?;
            Some((SystemSource::Existing(existing), timeout))
        }
        (None, Some(_)) => {
            refuse_password(fields, "dyno sets the password of servers that it starts");
            let useless = [
                ("data", "servers that dyno starts are empty"),
                ("monitor", "dyno monitors servers that it starts without a command"),
                ("hooks", "dyno applies the settings of servers that it starts itself"),
            ];
            for (key, why) in useless {
                if fields.node(key).is_some() {
                    fields.refuse(key, format!("`{key}` requires `url`: {why}"), "remove it");
                }
            }
            Some((SystemSource::Managed(managed(fields)?), CONNECT_TIMEOUT_DEFAULT))
        }
    }
}

/// The address of a remote system, from `url` or from the environment variable that `url_env`
/// names.
fn url(fields: &Fields<'_>, of_variable: Option<&str>, variable: Variable) -> Option<String> {
    match (fields.node("url"), fields.node("url_env")) {
        (Some(_), Some(_)) => {
            fields.refuse(
                "url_env",
                "`url` and `url_env` cannot both be given",
                "remove one of them",
            );
            None
        }
        (None, Some(_)) => {
            let name = of_variable?;
            let value = variable.and_then(|variable| variable(name));
            if value.is_none() {
                let message = format!("`url_env`: the environment variable {name} is not set");
                fields.refuse(
                    "url_env",
                    message,
                    format!("run export {name}=... before starting dyno"),
                );
            }
            value
        }
        _ => fields
            .required_text("url", "write for example `mysql://bench@localhost:3306/bench`")
            .map(str::to_owned),
    }
}

fn existing(
    fields: &Fields<'_>,
    sources: &[Source],
    variable: Variable,
) -> Option<(ExistingSystem, Nanos)> {
    let of_variable = fields.node("url_env").and_then(|_| variable_name(fields, "url_env"));
    let text = url(fields, of_variable.as_deref(), variable)?;
    let key = if of_variable.is_some() { "url_env" } else { "url" };
    let whole = fields.node(key)?.span;
    let span_of = |range| if key == "url" { inside(whole, &text, range, sources) } else { whole };
    let report = |message: &str, span: Span, help: &str| {
        fields.problems.refuse(span, format!("`{key}`: {message}"), help);
    };
    let address = Address::of_url(&text);
    if let Some(range) = address.range(Key::Password).filter(|_| key == "url") {
        fields.problems.hide(span_of(range));
    }
    if let Some(range) = address.range(Key::PasswordFile) {
        let help =
            "remove it, and write `password_client = true`, which reads PGPASSFILE or ~/.pgpass";
        report("`passfile` is not supported in a spec", span_of(range), help);
    }
    match address.target() {
        Err(errors) => {
            for error in errors {
                let span = span_of(error.range);
                if error.is_password {
                    fields.problems.hide(span);
                }
                report(&error.message, span, &error.help);
            }
            None
        }
        Ok(target) => {
            let password = password_of(&target, of_variable, fields);
            let data = fields.choice("data", &DATA_POLICIES).unwrap_or_default();
            if data == DataPolicy::Copy && !(target.engine.has_sql() && target.engine.keeps_data())
            {
                let message = format!("{} has no data to copy", target.engine);
                fields.refuse("data", message, "remove `data`");
            }
            let (monitor, hooks) = (monitor(fields), hooks(fields));
            let Target {
                engine,
                endpoint,
                user,
                database,
                tls,
                client_certificate,
                session_setup,
                options,
                connect_timeout,
                detour: _,
                password: _,
                query_mode: _,
                only_reads: _,
            } = target;
            let system = ExistingSystem {
                engine,
                endpoint,
                user,
                password,
                database,
                tls,
                client_certificate,
                session_setup,
                connection_options: options,
                data,
                monitor,
                hooks,
            };
            Some((system, connect_timeout.into()))
        }
    }
}

/// The source of the password if the URL does not contain it; otherwise the URL.
fn password_of(
    target: &Target,
    of_variable: Option<String>,
    fields: &Fields<'_>,
) -> PasswordSource {
    if !target.engine.is_server() {
        refuse_password(fields, &format!("`{}` does not use passwords", target.engine));
        return PasswordSource::None;
    }
    if target.password.is_empty() {
        return password(fields);
    }
    refuse_password(fields, "the URL contains the password");
    match of_variable {
        Some(name) => PasswordSource::UrlVariable(name),
        None => PasswordSource::Url { password: target.password.clone() },
    }
}

fn monitor(system: &Fields<'_>) -> Option<MonitorPlan> {
    let fields = system.inner("monitor", &MONITOR)?;
    let command =
        fields.required_text("command", "add for example `command = \"ssh db.example sh\"`");
    let pid_file = fields.text("pid_file");
    if pid_file.is_some_and(|file| file.is_empty() || file.contains(char::is_whitespace)) {
        let message = "`system.monitor.pid_file` must be a path without blanks";
        fields.problems.report(Diagnostic::new(fields.span_of("pid_file"), message));
    }
    Some(MonitorPlan { command: command?.to_owned(), pid_file: pid_file.map(str::to_owned) })
}

fn hooks(system: &Fields<'_>) -> Option<Box<HooksPlan>> {
    let fields = system.inner("hooks", &HOOKS)?;
    let [apply, restart, start, stop] =
        ["apply", "restart", "start", "stop"].map(|key| fields.text(key).map(str::to_owned));
    let exclusive = (start.is_some() || stop.is_some()).then(|| {
        // Without one of them there is no plan; consequent errors are not reported again.
        ExclusivePlan { start: start.unwrap_or_default(), stop: stop.unwrap_or_default() }
    });
    if let Some(ExclusivePlan { start, stop }) = &exclusive {
        if start.is_empty() {
            fields.missing(
                "start",
                "add for example `start = \"docker run --detach --name db ...\"`",
            );
        }
        if stop.is_empty() {
            let help = "`start` needs a command that stops the system, for example \
                 `stop = \"docker rm --force db\"`";
            fields.missing("stop", help);
        }
    }
    if exclusive.is_some() && restart.is_some() {
        let help = "remove it: dyno stops and starts the system";
        fields.refuse_table("`restart` cannot be combined with `start` and `stop`", help);
    }
    if apply.is_none() && restart.is_none() && exclusive.is_none() {
        let help = "add for example `restart = \"docker restart db\"`";
        fields.refuse_table("`hooks` has no command", help);
    }
    let time_limit = fields.duration("time_limit").unwrap_or(HOOKS_LIMIT_DEFAULT);
    Some(Box::new(HooksPlan { apply, restart, exclusive, time_limit }))
}

/// The position of a part of a text value in the file; that of the whole value when the text
/// contains escapes.
fn inside(span: Span, text: &str, part: std::ops::Range<usize>, sources: &[Source]) -> Span {
    let written = &sources[span.source].text[span.start..span.end];
    let Some(quote) = written.find(text) else { return span };
    Span::new(span.source, span.start + quote + part.start..span.start + quote + part.end)
}

/// The keys that name the source of a password.
const PASSWORD_KEYS: [&str; 4] =
    ["password_env", "password_file", "password_command", "password_client"];

fn password(fields: &Fields<'_>) -> PasswordSource {
    let sources = [
        variable_name(fields, "password_env").map(PasswordSource::Environment),
        fields.text("password_file").map(|path| PasswordSource::File(PathBuf::from(path))),
        fields.text("password_command").map(|it| PasswordSource::Command(it.to_owned())),
        (fields.boolean("password_client") == Some(true)).then_some(PasswordSource::ClientFile),
    ];
    let mut given = PASSWORD_KEYS.into_iter().zip(sources).filter_map(|(key, it)| Some((key, it?)));
    let Some((first, source)) = given.next() else { return PasswordSource::None };
    if let Some((second, _)) = given.next() {
        let message = format!("`{first}` and `{second}` cannot both be given");
        fields.refuse(second, message, "remove one of them");
    }
    source
}

/// The name of an environment variable.
fn variable_name(fields: &Fields<'_>, key: &str) -> Option<String> {
    let name = fields.text(key)?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.is_empty()
        && name.chars().all(is_name)
        && !name.starts_with(|c: char| c.is_ascii_digit())
    {
        return Some(name.to_owned());
    }
    fields.problems.hide(fields.span_of(key)); // it may contain the password itself
    let message = format!("`system.{key}` must be the name of an environment variable");
    let help = format!(
        "letters, digits and underscores, for example `{key} = \"BENCH_{}\"`",
        if key == "url_env" { "URL" } else { "PASSWORD" }
    );
    fields.refuse(key, message, help);
    None
}

fn refuse_password(fields: &Fields<'_>, reason: &str) {
    for key in PASSWORD_KEYS {
        if let Some(entry) = fields.table.entry(key) {
            let message = format!("`{key}` has no effect here: {reason}");
            fields.problems.refuse(entry.key_span, message, "remove it");
        }
    }
}

fn managed(system: &Fields<'_>) -> Option<ManagedServer> {
    let fields = system.inner("server", &SERVER)?;
    let kinds = ServerKind::ALL.map(|kind| (kind.name(), kind));
    let kind = fields.required_choice("kind", &kinds, "add for example `kind = \"mariadb\"`");
    let bin_dir = fields.text("bin_dir").map(PathBuf::from);
    let scratch = fields.text("scratch").map(PathBuf::from);
    let settings =
        fields.table("settings").map(|(table, _)| settings(table, &fields)).unwrap_or_default();
    let (nodes, data_nodes) = (fields.integer("nodes"), fields.integer("data_nodes"));
    let default = ManagedServer::new(kind?);
    let kind = default.kind;
    let useless = [
        ("nodes", kind.is_cluster(), format!("{kind} is a single server"), Clustering::Peers),
        (
            "synchronous",
            kind.clustering() == Clustering::Replicas,
            format!("{kind} has no replica to wait for"),
            Clustering::Replicas,
        ),
        (
            "data_nodes",
            default.data_nodes > 0,
            format!("{kind} has no separate data nodes"),
            Clustering::DataNodes,
        ),
    ];
    for (key, is_of_use, why, other) in useless {
        if fields.node(key).is_some() && !is_of_use {
            let other = ServerKind::ALL.into_iter().find(|kind| kind.clustering() == other);
            let help =
                format!("remove it, or write `kind = \"{}\"`", other.map_or("", ServerKind::name));
            fields.refuse(key, format!("`{key}` has no effect here: {why}"), help);
        }
    }
    let (nodes, data_nodes) =
        (nodes.unwrap_or(default.nodes), data_nodes.unwrap_or(default.data_nodes));
    let is_synchronous = fields.boolean("synchronous").unwrap_or(false);
    Some(ManagedServer { settings, bin_dir, scratch, nodes, data_nodes, is_synchronous, kind })
}

fn settings(table: &Table, fields: &Fields<'_>) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    for entry in &table.entries {
        match entry.node.value.scalar_text() {
            Some(text) => {
                settings.insert(entry.key.clone(), text);
            }
            None => {
                let path = format!("{}.{}", fields.path("settings"), entry.key);
                wrong_type(
                    &entry.node,
                    &path,
                    "a string, a number, true or false",
                    fields.problems,
                );
            }
        }
    }
    settings
}
