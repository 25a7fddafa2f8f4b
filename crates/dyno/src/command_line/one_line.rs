//! `dyno run URL`: an experiment on one command line, from which dyno generates a spec.

use crate::failure::Failure;
use clap::Args;
use dyno_model::address::Address;
use dyno_model::catalog::LUA;
use dyno_model::exit_code::USAGE;
use dyno_model::limit::LimitMetric;
use dyno_model::target::Endpoint;
use dyno_pgbench::SQL;
use std::fmt::Write;

/// The options that set parts of a spec.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct OneLineArguments {
    /// With a URL: SQL script, one file per kind of transaction, with its weight; can be repeated
    ///
    /// Scripts have the syntax of pgbench: statements end in semicolons,
    /// `\set id random(1, 100000)` draws a value, and `:id` refers to it. Files that end in .lua
    /// are sysbench scripts. A database that dyno did not create is read-only, unless
    /// --yes-write-to names it.
    #[arg(long, value_name = "FILE[@WEIGHT]")]
    pub(crate) script: Vec<String>,

    /// Value of a variable in SQL scripts, such as scale=10; can be repeated; the same as --set
    /// workload.variables.NAME=VALUE
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE", value_parser = defined)]
    pub(crate) define: Vec<(String, String)>,

    /// With a URL: a built-in workload, which creates its tables there
    #[arg(long, value_name = "NAME", conflicts_with = "script")]
    pub(crate) workload: Option<String>,

    /// Warehouses of the workload tpcc; the same as --set workload.warehouses=N
    #[arg(long, value_name = "N")]
    pub(crate) warehouses: Option<u32>,

    /// Numbers of clients [with a URL: 1,8,64]; the same as --set load.clients=[N,...]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = clients)]
    pub(crate) clients: Vec<u32>,

    /// Open loop: transactions arrive at this rate, such as 500/s, whether or not the server keeps
    /// up; the same as --set load.rate=RATE
    #[arg(long, value_name = "RATE")]
    pub(crate) rate: Option<String>,

    /// Saturation search: each trial finds the highest rate that meets a limit, such as 'p99 <
    /// 20ms' or 'p99 of pay < 20ms'; the same as --set 'load.find.while="p99 < 20ms"'
    #[arg(long, value_name = "LIMIT", conflicts_with = "rate")]
    pub(crate) find: Option<String>,

    /// Measured time of each trial, such as 30s or 5m [with a URL: 10s]; the same as --set
    /// load.duration=TIME
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<String>,

    /// Warm-up before it, with all clients active [with a URL: 2s]; the same as --set
    /// load.warmup=TIME
    #[arg(long, value_name = "TIME")]
    pub(crate) warmup: Option<String>,

    /// Processes that drive the clients; the same as --set load.generators=N
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) generators: Option<u32>,

    /// What starts these processes: local, ssh, slurm, mpi, kubernetes or command; the same as
    /// --set launcher.kind=KIND
    #[arg(long, value_name = "KIND")]
    pub(crate) launcher: Option<String>,

    /// Limit that the results must meet, such as 'p99 < 20ms', 'throughput > 5000/s', 'failed < 0.1
    /// %' or 'lost = 0'; can be repeated
    ///
    /// 'p99 of pay < 20ms' applies to the transactions of the script 'pay' only.
    ///
    /// The exit code is 8 if a limit failed, and 9 if one is undecided. With a spec, the same as
    /// --set limit=[...].
    #[arg(long, value_name = "LIMIT", value_parser = Limit::of)]
    pub(crate) limit: Vec<Limit>,
}

/// A limit as TOML lines of a spec, such as `p99 = "< 20ms"`.
#[derive(Debug, Clone)]
pub(crate) struct Limit(Vec<String>);

impl Limit {
    /// Parses only the form; whether the spec knows the metric is checked when the spec is read.
    fn of(text: &str) -> Result<Self, String> {
        let (line, transaction) = whose(text);
        let Some((metric, limit)) = LimitMetric::leading(&line) else {
            let names: Vec<&str> = LimitMetric::ALL.into_iter().map(LimitMetric::name).collect();
            return Err(format!(
                "a limit starts with one of {}, for example 'p99 < 20ms'",
                names.join(", ")
            ));
        };
        let number = limit.strip_prefix('=').and_then(|number| number.trim().parse::<i64>().ok());
        let value = number.map_or_else(|| quoted(limit), |number| number.to_string());
        let transaction = transaction.map(|name| format!("transaction = {}", quoted(name)));
        // A dot is part of the key.
        let key =
            if metric.name().contains('.') { quoted(metric.name()) } else { metric.to_string() };
        Ok(Self(transaction.into_iter().chain([format!("{key} = {value}")]).collect()))
    }
}

/// Splits `p99 of pay < 20ms` into `p99 < 20ms` and `pay`.
fn whose(text: &str) -> (String, Option<&str>) {
    let (name, sign) = text.split_at(text.find(['<', '>', '=']).unwrap_or(text.len()));
    match name.split_once(" of ") {
        Some((metric, transaction)) => (format!("{metric} {sign}"), Some(transaction.trim())),
        None => (text.to_owned(), None),
    }
}

/// Default clients, duration, warm-up and blocks of a command line.
pub(crate) const CLIENTS: [u32; 3] = [1, 8, 64];
pub(crate) const DURATION: &str = "10s";
pub(crate) const WARMUP: &str = "2s";
pub(crate) const BLOCKS: u32 = 3;

impl OneLineArguments {
    /// A command line that names a built-in workload and nothing else.
    pub(crate) fn of_workload(name: &str) -> Self {
        Self { workload: Some(name.to_owned()), ..Self::default() }
    }

    /// The overrides of a spec's keys, as `key=value`.
    ///
    /// # Errors
    /// When the command line names scripts or a workload: the spec already does.
    pub(crate) fn overrides(&self) -> Result<Vec<String>, Failure> {
        let (option, key) = match (self.script.is_empty(), &self.workload) {
            (false, _) => ("--script", "workload.scripts"),
            (true, Some(_)) => ("--workload", "workload.kind"),
            (true, None) => return Ok(self.overriding()),
        };
        let text = format!("{option} requires a URL; a spec defines its own workload");
        let help = "a URL starts with postgres://, mysql:// or sqlite:";
        Err(Failure::new(USAGE, text).help(format!("{help}; in a spec, write it as `{key}`")))
    }

    fn overriding(&self) -> Vec<String> {
        let path = |table: &str, key: &str| match table {
            "" => key.to_owned(),
            _ => format!("{table}.{key}"),
        };
        let keys = self.keys().into_iter();
        let mut overrides: Vec<String> =
            keys.map(|(table, key, value)| format!("{}={value}", path(table, &key))).collect();
        if !self.limit.is_empty() {
            let limits: Vec<String> =
                self.limit.iter().map(|limit| format!("{{ {} }}", limit.0.join(", "))).collect();
            overrides.push(format!("limit=[{}]", limits.join(", ")));
        }
        overrides
    }

    /// The keys of a spec that the command line sets, apart from scripts, workload and limits: the
    /// table, the key and its value as TOML.
    fn keys(&self) -> Vec<(&'static str, String, String)> {
        let text = |text: &Option<String>| text.as_deref().map(quoted);
        let number = |number: Option<u32>| number.map(|number| number.to_string());
        let clients = (!self.clients.is_empty()).then(|| format!("{:?}", self.clients));
        let keys = [
            ("", "launcher.kind", text(&self.launcher)),
            ("workload", "warehouses", number(self.warehouses)),
            ("load", "clients", clients),
            ("load", "duration", text(&self.duration)),
            ("load", "warmup", text(&self.warmup)),
            ("load", "rate", text(&self.rate)),
            ("load", "find", self.find.as_deref().map(searched)),
            ("load", "generators", number(self.generators)),
        ];
        let given = keys
            .into_iter()
            .filter_map(|(table, key, value)| Some((table, key.to_owned(), value?)));
        let variable = |(name, value): &(String, String)| {
            ("workload", format!("variables.{name}"), quoted(value))
        };
        self.define.iter().map(variable).chain(given).collect()
    }

    /// The same with the usual number of clients, duration and warm-up where none is given.
    fn filled(&self) -> Self {
        let clients = match (self.clients.is_empty(), &self.find) {
            (true, None) => &CLIENTS[..],
            // There must be enough clients for every rate that the search tries.
            (true, Some(_)) => &CLIENTS[CLIENTS.len() - 1..],
            (false, _) => &self.clients,
        };
        let time = |given: &Option<String>, usual: &str| {
            Some(given.clone().unwrap_or_else(|| usual.to_owned()))
        };
        Self {
            clients: clients.to_vec(),
            duration: time(&self.duration, DURATION),
            warmup: time(&self.warmup, WARMUP),
            ..self.clone()
        }
    }

    /// The spec of a command line with a URL, and its name.
    ///
    /// # Errors
    /// When the command line does not say what to run.
    pub(crate) fn spec(
        &self,
        url: &str,
        blocks: Option<u32>,
        seed: Option<u64>,
    ) -> Result<(String, String), Failure> {
        if !Address::of_url(url).engine.has_sql() {
            return Err(Failure::new(
                USAGE,
                "HTTP services cannot be tested from the command line alone",
            )
            .help("write a spec with `kind = \"http\"`; see `dyno workloads http`"));
        }
        let name = database(url);
        let (title, workload, data) = match (&self.script[..], &self.workload) {
            ([], None) => {
                let text = format!("no workload given for {name}");
                return Err(Failure::new(USAGE, text).help(
                    "add your own SQL, one file per kind of transaction: --script FILE; or a \
                     built-in workload, which creates its tables there: --workload \
                     oltp_point_select",
                ));
            }
            ([], Some(kind)) => (kind.clone(), format!("kind = {}\n", quoted(kind)), ""),
            (scripts, _) => {
                let list: Vec<String> = scripts.iter().map(|script| quoted(script)).collect();
                let is_lua = |script: &String| {
                    script.split('@').next().is_some_and(|file| file.ends_with(".lua"))
                };
                let kind = if scripts.iter().any(is_lua) { LUA } else { SQL };
                if let Some(other) = scripts.iter().find(|script| is_lua(script) != (kind == LUA)) {
                    let text = format!(
                        "{other} is SQL and other scripts are Lua, but a workload has one kind of \
                         script"
                    );
                    return Err(Failure::new(USAGE, text).help(
                        "use scripts of one kind; in a spec, the others can run as a background \
                         workload (`[[background]]`)",
                    ));
                }
                let workload = format!("kind = \"{kind}\"\nscripts = [{}]\n", list.join(", "));
                (scripts.join(", "), workload, "data = \"existing\"\n")
            }
        };
        let keys = self.filled().keys();
        let lines = |table: &str| {
            let of_table = keys.iter().filter(|(its_table, ..)| *its_table == table);
            of_table.map(|(_, key, value)| format!("{key} = {value}\n")).collect::<String>()
        };
        let (title, system, url) =
            (quoted(&format!("{title} on {name}")), quoted(&name), given(url));
        let (top, options, load) = (lines(""), lines("workload"), lines("load"));
        let blocks = blocks.unwrap_or(BLOCKS);
        let mut text = format!(
            "title = {title}\n{top}\n[[system]]\nname = {system}\n{url}{data}\n[workload]\n\
             {workload}{options}\n[load]\n{load}\n[design]\nblocks = {blocks}\n",
        );
        if let Some(seed) = seed {
            let _ = writeln!(text, "seed = {seed}");
        }
        for limit in &self.limit {
            let _ = writeln!(text, "\n[[limit]]\n{}", limit.0.join("\n"));
        }
        Ok((name, text))
    }
}

/// The generated spec as it is printed and stored: without the password of its URL, which an
/// environment variable then supplies.
pub(crate) fn stored(text: &str, url: &str) -> String {
    text.replacen(&given(url), &address(url), 1)
}

/// The URL of a system, including the password.
fn given(url: &str) -> String {
    format!("url = {}\n", quoted(url))
}

/// A system's address for a file: without the password of the URL, which an environment variable
/// then supplies.
pub(crate) fn address(url: &str) -> String {
    let parsed = Address::of_url(url);
    match (parsed.without_password(url), parsed.engine.traits().password_variable) {
        (Some(bare), Some(variable)) => format!(
            "{}password_env = \"{variable}\"   # export {variable}='...' before starting dyno\n",
            given(&bare)
        ),
        _ => given(url),
    }
}

/// The environment variable that supplies the password of a URL, if the URL has one.
pub(crate) fn password_variable(url: &str) -> Option<&'static str> {
    let parsed = Address::of_url(url);
    parsed.without_password(url).and(parsed.engine.traits().password_variable)
}

/// The command line option that a line of the generated spec comes from.
pub(crate) fn option_of(line: &str) -> &'static str {
    let key = line.split_once('=').map_or("", |(key, _)| key.trim().trim_matches('"'));
    match key {
        "url" | "name" | "data" => "URL",
        "kind" => "--workload",
        "scripts" => "--script",
        key if key.starts_with("variables.") => "-D",
        "clients" => "--clients",
        "duration" => "--duration",
        "warmup" => "--warmup",
        "rate" => "--rate",
        "find" => "--find",
        "warehouses" => "--warehouses",
        "generators" => "--generators",
        "launcher.kind" => "--launcher",
        "blocks" => "--blocks",
        "seed" => "--seed",
        "transaction" => "--limit",
        key if LimitMetric::named(key).is_some() => "--limit",
        _ => "command line",
    }
}

/// A variable with its value. The name need only be a valid TOML key; the rest is checked where
/// scripts are read.
fn defined(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value))
            if !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') =>
        {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err("expected NAME=VALUE, where NAME consists of letters, digits and `_`".to_owned()),
    }
}

/// A number of clients.
fn clients(text: &str) -> Result<u32, String> {
    let number = text.trim().parse().ok().filter(|number| *number > 0);
    let is_range = text.trim_start_matches('-').contains(['-', '.', ':']);
    number.ok_or_else(|| {
        let expected = "expected a whole number from 1";
        match is_range {
            true => format!("{expected}; write a range as a list, for example 1,2,4,8"),
            false => format!("{expected}, or several separated by commas, for example 1,8,64"),
        }
    })
}

/// The table of a spec that searches for the highest rate.
fn searched(limit: &str) -> String {
    let (limit, transaction) = whose(limit);
    let transaction = transaction.map(|name| format!(", transaction = {}", quoted(name)));
    format!("{{ while = {}{} }}", quoted(limit.trim()), transaction.unwrap_or_default())
}

/// The name of the database in the report: its own, or that of its file or engine.
fn database(url: &str) -> String {
    let address = Address::of_url(url);
    let target = address.target().ok();
    let path = target.map_or(String::new(), |target| match &target.endpoint {
        Endpoint::File(path) => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        _ => target.database,
    });
    // A bare name has no folder: the spec refers to the working folder.
    if path.is_empty() {
        address.engine.to_string()
    } else {
        path.trim_matches('/').replace('/', "-")
    }
}

/// A TOML string.
pub(crate) fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::FromArgMatches;

    #[test]
    fn the_help_of_the_usual_load_is_right() {
        let command = OneLineArguments::augment_args(clap::Command::new("run"));
        let [clients, duration, warmup] = ["clients", "duration", "warmup"].map(|name| {
            let argument = command.get_arguments().find(|it| it.get_long() == Some(name));
            argument.and_then(|it| it.get_help()).expect("it has help").to_string()
        });
        let numbers = CLIENTS.map(|number| number.to_string()).join(",");
        assert!(clients.contains(&format!("[with a URL: {numbers}]")), "{clients}");
        assert!(duration.contains(&format!("[with a URL: {DURATION}]")), "{duration}");
        assert!(warmup.contains(&format!("[with a URL: {WARMUP}]")), "{warmup}");
    }

    #[test]
    fn every_option_changes_the_spec_of_a_url_and_the_keys_of_a_file() {
        let command =
            || OneLineArguments::augment_args(clap::Command::new("run").no_binary_name(true));
        let parsed = |arguments: &[&str]| {
            OneLineArguments::from_arg_matches(&command().get_matches_from(arguments))
                .expect("options")
        };
        let spec =
            |line: &OneLineArguments| line.spec("sqlite:a.db", None, None).expect("a spec").1;
        let usual = spec(&parsed(&["--workload=rush"]));
        for argument in command().get_arguments() {
            let option = format!("--{}", argument.get_long().expect("it has a name"));
            let value = match option.as_str() {
                // Both name the workload itself.
                "--script" | "--workload" => continue,
                "--define" => "scale=10",
                "--rate" => "500/s",
                "--find" | "--limit" => "p99 < 20ms",
                "--duration" | "--warmup" => "7s",
                "--launcher" => "local",
                _ => "7",
            };
            let line = parsed(&["--workload=rush", &format!("{option}={value}")]);
            assert_ne!(spec(&line), usual, "{option} is not in the spec");
            let with_a_file = OneLineArguments { workload: None, ..line };
            assert_eq!(with_a_file.overrides().expect("keys").len(), 1, "{option}");
        }
    }
}
