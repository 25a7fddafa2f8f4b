//! The meaning of options, their limits and valid combinations.

use super::arguments::{Argument, Spec, Use, cut, flag, valued};
use super::help;
use super::{
    Address, Initialisation, Length, Log, PartitionMethod, Request, Run, STEPS, Seed, Source, Step,
    Style, UsageError,
};
use crate::expression::variables::is_name;
use crate::script::builtin;
use dyno_model::launcher::LauncherKind;
use dyno_model::target::QueryMode;
use std::path::PathBuf;
use std::time::Duration;

/// Maximum of numeric options, as in C.
const INT_MAX: i64 = 2_147_483_647;

/// All options.
pub(super) const SPECS: [Spec; 53] = [
    valued(Some('b'), "builtin", Use::Run),
    valued(Some('c'), "client", Use::Run),
    flag(Some('C'), "connect", Use::Run),
    flag(None, "debug", Use::Both),
    valued(Some('d'), "dbname", Use::Both),
    valued(Some('D'), "define", Use::Run),
    valued(Some('f'), "file", Use::Run),
    valued(Some('F'), "fillfactor", Use::Initialisation),
    valued(Some('h'), "host", Use::Both),
    flag(Some('i'), "initialize", Use::Both),
    valued(Some('I'), "init-steps", Use::Initialisation),
    valued(Some('j'), "jobs", Use::Run),
    flag(Some('l'), "log", Use::Run),
    valued(Some('L'), "latency-limit", Use::Run),
    flag(Some('n'), "no-vacuum", Use::Both),
    valued(Some('p'), "port", Use::Both),
    valued(Some('P'), "progress", Use::Run),
    valued(Some('M'), "protocol", Use::Run),
    flag(Some('q'), "quiet", Use::Initialisation),
    flag(Some('r'), "report-per-command", Use::Run),
    valued(Some('R'), "rate", Use::Run),
    valued(Some('s'), "scale", Use::Both),
    flag(Some('S'), "select-only", Use::Run),
    flag(Some('N'), "skip-some-updates", Use::Run),
    valued(Some('T'), "time", Use::Run),
    valued(Some('t'), "transactions", Use::Run),
    valued(Some('U'), "username", Use::Both),
    flag(Some('v'), "vacuum-all", Use::Run),
    flag(Some('V'), "version", Use::Both),
    flag(Some('?'), "help", Use::Both),
    flag(None, "unlogged-tables", Use::Initialisation),
    valued(None, "tablespace", Use::Initialisation),
    valued(None, "index-tablespace", Use::Initialisation),
    valued(None, "sampling-rate", Use::Run),
    valued(None, "aggregate-interval", Use::Run),
    flag(None, "progress-timestamp", Use::Run),
    valued(None, "log-prefix", Use::Run),
    flag(None, "foreign-keys", Use::Initialisation),
    valued(None, "random-seed", Use::Run),
    valued(None, "show-script", Use::Both),
    valued(None, "partitions", Use::Initialisation),
    valued(None, "partition-method", Use::Initialisation),
    flag(None, "failures-detailed", Use::Run),
    valued(None, "max-tries", Use::Run),
    flag(None, "verbose-errors", Use::Run),
    flag(None, "exit-on-abort", Use::Run),
    flag(None, "report-latencies", Use::Run), // name of -r before version 15
    valued(None, "hang-timeout", Use::Run),   // dyno's own
    valued(None, "blocks", Use::Run),         // dyno's own, for several runs
    valued(None, "generators", Use::Run),     // dyno's own
    valued(None, "launcher", Use::Run),       // dyno's own
    valued(None, "results", Use::Run),        // dyno's own
    valued(None, "url", Use::Both),           // dyno's own
];

/// Default time for which transactions may continue after `-T`.
const HANG_TIMEOUT: Duration = Duration::from_secs(30);

/// Reads the arguments (without the program's name). `environment` returns environment variables.
///
/// # Errors
/// When they are invalid; the text is that of pgbench.
pub(crate) fn read(
    arguments: &[String],
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Request, UsageError> {
    let mut reader = Reader::new(environment)?;
    let mut others = Vec::new();
    for argument in cut(arguments, &SPECS)? {
        match argument {
            Argument::Option(spec, value) => {
                if let Some(request) = reader.option(spec, value)? {
                    return Ok(request);
                }
            }
            Argument::Other(text) => others.push(text),
        }
    }
    reader.finish(others)
}

/// Everything read so far, otherwise defaults.
#[derive(Default)]
struct Reader {
    initialisation: Initialisation,
    run: Run,
    address: Address,
    transactions: Option<u64>,
    seconds: Option<u64>,
    sampling: Option<f64>,
    aggregate: Option<u64>,
    log_prefix: Option<String>,
    has_log: bool,
    has_partition_method: bool,
    adds_foreign_keys: bool,
    is_initialisation: bool,
    /// An option that is only valid for one kind of request.
    has_initialisation_option: bool,
    has_run_option: bool,
}

impl Reader {
    fn new(environment: &dyn Fn(&str) -> Option<String>) -> Result<Self, UsageError> {
        let seed = match environment("PGBENCH_RANDOM_SEED") {
            Some(text) => seed(&text, "PGBENCH_RANDOM_SEED environment variable")?,
            None => Seed::Any,
        };
        Ok(Self {
            initialisation: Initialisation {
                steps: steps("dtgvp")?,
                scale: 1,
                fillfactor: 100,
                ..Initialisation::default()
            },
            run: Run {
                style: Style { tries_max: 1, ..Style::default() },
                clients: 1,
                jobs: 1,
                query_mode: QueryMode::Simple,
                seed,
                hang_timeout: Some(HANG_TIMEOUT),
                ..Run::default()
            },
            ..Self::default()
        })
    }

    /// Processes an option; returns a request if the option is one.
    fn option(&mut self, spec: Spec, value: String) -> Result<Option<Request>, UsageError> {
        match spec.of {
            Use::Both => {}
            Use::Initialisation => {
                self.has_initialisation_option = true;
                return self.of_initialisation(spec.name, value).map(|()| None);
            }
            Use::Run => {
                self.has_run_option = true;
                return self.of_run(spec.name, value);
            }
        }
        match spec.name {
            "help" => return Ok(Some(Request::Print(help::text()))),
            "version" => return Ok(Some(Request::Print(help::version()))),
            "show-script" => {
                let builtin = builtin(&value)?;
                let text = format!("-- {}: {}\n{}\n", builtin.name, builtin.title, builtin.source);
                return Ok(Some(Request::Tell(text)));
            }
            "dbname" => self.address.database = Some(value),
            "host" => self.address.host = Some(value),
            "port" => self.address.port = Some(value),
            "username" => self.address.user = Some(value),
            "url" => self.address.url = Some(value),
            "initialize" => self.is_initialisation = true,
            "no-vacuum" => self.run.skips_vacuum = true,
            "scale" => {
                let scale = parse_integer(&value, "-s/--scale", 1, INT_MAX)? as u32;
                self.initialisation.scale = scale;
                self.run.scale = Some(scale);
            }
            // pgbench 15 prints debugging output; there is none here.
            _ => {}
        }
        Ok(None)
    }

    fn of_initialisation(&mut self, name: &str, value: String) -> Result<(), UsageError> {
        let wanted = &mut self.initialisation;
        match name {
            "init-steps" => wanted.steps = steps(&value)?,
            "fillfactor" => {
                wanted.fillfactor = parse_integer(&value, "-F/--fillfactor", 10, 100)? as u32;
            }
            "quiet" => wanted.is_quiet = true,
            "unlogged-tables" => wanted.is_unlogged = true,
            "tablespace" => wanted.tablespace = Some(value),
            "index-tablespace" => wanted.index_tablespace = Some(value),
            "foreign-keys" => self.adds_foreign_keys = true,
            "partitions" => {
                wanted.partitions = parse_integer(&value, "--partitions", 0, INT_MAX)? as u32;
            }
            _ => {
                self.has_partition_method = true;
                wanted.partition_method = PartitionMethod::named(&value.to_ascii_lowercase())
                    .ok_or_else(|| {
                        let expected =
                            "invalid partition method, expecting \"range\" or \"hash\", got";
                        UsageError::new(format!("{expected}: \"{value}\""))
                    })?;
            }
        }
        Ok(())
    }

    fn of_run(&mut self, name: &'static str, value: String) -> Result<Option<Request>, UsageError> {
        let run = &mut self.run;
        let invalid = |what: &str| UsageError::new(format!("invalid {what}: \"{value}\""));
        let above_zero =
            |what: &str| Some(float(&value)).filter(|it| *it > 0.0).ok_or_else(|| invalid(what));
        match name {
            "builtin" => {
                if value == "list" {
                    return Ok(Some(Request::Tell(builtin::list())));
                }
                let (name, weight) = weighted(&value)?;
                run.scripts.push((Source::Builtin(builtin(name)?.name), weight));
            }
            "select-only" => run.scripts.push((Source::Builtin("select-only"), 1)),
            "skip-some-updates" => run.scripts.push((Source::Builtin("simple-update"), 1)),
            "file" => {
                let (file, weight) = weighted(&value)?;
                run.scripts.push((Source::File(PathBuf::from(file)), weight));
            }
            // Several runs are handled elsewhere.
            "blocks" => {}
            "client" => run.clients = parse_integer(&value, "-c/--clients", 1, INT_MAX)? as u32,
            "jobs" => run.jobs = parse_integer(&value, "-j/--jobs", 1, INT_MAX)? as u32,
            "connect" => run.style.connects_each_time = true,
            "define" => run.variables.push(definition(&value)?),
            "log" => self.has_log = true,
            "latency-limit" => {
                run.style.latency_limit = Some((above_zero("latency limit")? * 1_000.0) as i64);
            }
            "progress" => {
                run.style.progress =
                    Some(parse_integer(&value, "-P/--progress", 1, INT_MAX)? as u64);
            }
            "protocol" => {
                run.query_mode =
                    QueryMode::named(&value).ok_or_else(|| invalid("query mode (-M)"))?;
            }
            "report-per-command" | "report-latencies" => run.style.reports_commands = true,
            "rate" => run.style.rate = Some(above_zero("rate limit")?),
            "time" => self.seconds = Some(parse_integer(&value, "-T/--time", 1, INT_MAX)? as u64),
            "transactions" => {
                self.transactions =
                    Some(parse_integer(&value, "-t/--transactions", 1, INT_MAX)? as u64);
            }
            "vacuum-all" => run.vacuums_all = true,
            "sampling-rate" => match above_zero("sampling rate")? {
                rate if rate <= 1.0 => self.sampling = Some(rate),
                _ => return Err(invalid("sampling rate")),
            },
            "aggregate-interval" => {
                self.aggregate =
                    Some(parse_integer(&value, "--aggregate-interval", 1, INT_MAX)? as u64);
            }
            "progress-timestamp" => run.has_progress_timestamp = true,
            "log-prefix" => self.log_prefix = Some(value),
            "random-seed" => run.seed = seed(&value, "--random-seed option")?,
            "failures-detailed" => run.style.details_failures = true,
            "max-tries" => {
                run.style.tries_max =
                    value.trim().parse().map_err(|_| invalid("number of maximum tries"))?;
            }
            "verbose-errors" => run.tells_errors = true,
            "exit-on-abort" => run.exits_on_abort = true,
            "hang-timeout" => {
                let seconds = value.trim().parse().ok();
                let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                let limit = limit.ok_or_else(|| invalid("hang timeout"))?;
                run.hang_timeout = Some(limit).filter(|limit| !limit.is_zero());
            }
            "generators" => {
                run.generators = Some(parse_integer(&value, "--generators", 1, INT_MAX)? as u32);
            }
            "launcher" => {
                run.launcher = LauncherKind::of_command_line(&value)
                    .map_err(|reason| UsageError::new(format!("--launcher={value}: {reason}")))?;
            }
            _ => run.results = Some(PathBuf::from(value)),
        }
        Ok(None)
    }

    /// Checks the combination of all options.
    fn finish(mut self, others: Vec<String>) -> Result<Request, UsageError> {
        let mut run = std::mem::take(&mut self.run);
        if !self.is_initialisation {
            if run.scripts.is_empty() {
                run.scripts.push((Source::Builtin("tpcb-like"), 1));
            }
            if run.scripts.iter().all(|(_, weight)| *weight == 0) {
                return Err(UsageError::new("total script weight must not be zero"));
            }
        }
        run.jobs = run.jobs.min(run.clients);
        let mut others = others.into_iter();
        if let Some(database) = others.next() {
            self.address.database.get_or_insert(database);
        }
        if let Some(extra) = others.next() {
            let message = format!("too many command-line arguments (first is \"{extra}\")");
            return Err(UsageError::new(message).with_hint());
        }
        if self.is_initialisation {
            if self.has_run_option {
                let message =
                    "some of the specified options cannot be used in initialization (-i) mode";
                return Err(UsageError::new(message));
            }
            let mut wanted = self.initialisation;
            if wanted.partitions == 0 && self.has_partition_method {
                return Err(UsageError::new(
                    "--partition-method requires greater than zero --partitions",
                ));
            }
            if run.skips_vacuum {
                wanted.steps.retain(|step| *step != Step::Vacuum);
            }
            if self.adds_foreign_keys && !wanted.steps.contains(&Step::ForeignKeys) {
                wanted.steps.push(Step::ForeignKeys);
            }
            return Ok(Request::Initialise(wanted, self.address));
        }
        if self.has_initialisation_option {
            return Err(UsageError::new(
                "some of the specified options cannot be used in benchmarking mode",
            ));
        }
        run.style.length = match (self.transactions, self.seconds) {
            (Some(_), Some(_)) => {
                let message =
                    "specify either a number of transactions (-t) or a duration (-T), not both";
                return Err(UsageError::new(message));
            }
            (None, Some(seconds)) => Length::Seconds(seconds),
            (Some(transactions), None) => Length::Transactions(transactions),
            (None, None) => Length::default(),
        };
        run.log = self.log()?;
        if run.has_progress_timestamp && run.style.progress.is_none() {
            return Err(UsageError::new("--progress-timestamp is allowed only under --progress"));
        }
        if run.style.tries_max == 0 && run.style.latency_limit.is_none() && self.seconds.is_none() {
            return Err(UsageError::new(
                "an unlimited number of transaction tries can only be used with --latency-limit or \
                 a duration (-T)",
            ));
        }
        check_divided(&run)?;
        Ok(Request::Run(Box::new(run), self.address))
    }

    /// The options of the log.
    fn log(&mut self) -> Result<Option<Log>, UsageError> {
        let Self { has_log, sampling, aggregate, seconds, .. } = *self;
        let prefix = self.log_prefix.take();
        let error = |message: &str| Err(UsageError::new(message));
        if sampling.is_some() && !has_log {
            return error(
                "log sampling (--sampling-rate) is allowed only when logging transactions (-l)",
            );
        }
        if sampling.is_some() && aggregate.is_some() {
            return error(
                "log sampling (--sampling-rate) and aggregation (--aggregate-interval) cannot be \
                 used at the same time",
            );
        }
        if aggregate.is_some() && !has_log {
            return error("log aggregation is allowed only when actually logging transactions");
        }
        if prefix.is_some() && !has_log {
            return error(
                "log file prefix (--log-prefix) is allowed only when logging transactions (-l)",
            );
        }
        if let (Some(seconds), Some(aggregate)) = (seconds, aggregate) {
            if aggregate > seconds {
                return Err(UsageError::new(format!(
                    "number of seconds for aggregation ({aggregate}) must not be higher than test \
                     duration ({seconds})"
                )));
            }
            if !seconds.is_multiple_of(aggregate) {
                return Err(UsageError::new(format!(
                    "duration ({seconds}) must be a multiple of aggregation interval ({aggregate})"
                )));
            }
        }
        let prefix = prefix.unwrap_or_else(|| "pgbench_log".to_owned());
        Ok(has_log.then_some(Log { prefix, sampling, aggregate }))
    }
}

/// Refuses what generators cannot do.
fn check_divided(run: &Run) -> Result<(), UsageError> {
    let Some(generators) = run.generators else { return Ok(()) };
    let refused = |text: String| Err(UsageError::new(text));
    if generators > run.clients {
        return refused(format!(
            "--generators={generators} is more than {} clients (-c): each generator drives at \
             least one",
            run.clients
        ));
    }
    let alone = [("log (-l)", run.log.is_some()), ("progress (-P)", run.style.progress.is_some())];
    match alone.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => refused(format!(
            "--{option} cannot be used with --generators: what each client counts arrives at the \
             end"
        )),
        None => Ok(()),
    }
}

/// An integer within limits.
fn parse_integer(text: &str, option: &str, least: i64, most: i64) -> Result<i64, UsageError> {
    let digits = text.trim();
    let is_number =
        digits.strip_prefix(['-', '+']).unwrap_or(digits).bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || digits.trim_start_matches(['-', '+']).is_empty() {
        return Err(UsageError::new(format!("invalid value \"{text}\" for option {option}")));
    }
    match digits.parse() {
        Ok(value) if (least..=most).contains(&value) => Ok(value),
        _ => Err(UsageError::new(format!("{option} must be in range {least}..{most}"))),
    }
}

/// A number as parsed by C's `atof`: up to the first invalid character, 0 without digits.
fn float(text: &str) -> f64 {
    let text = text.trim_start();
    let ends = text.char_indices().map(|(at, _)| at).skip(1).chain([text.len()]);
    ends.filter_map(|end| text[..end].parse().ok()).last().unwrap_or(0.0)
}

fn steps(text: &str) -> Result<Vec<Step>, UsageError> {
    if text.is_empty() {
        return Err(UsageError::new("no initialization steps specified"));
    }
    let step = |letter| {
        let known = STEPS.iter().find(|(known, ..)| *known == letter);
        known.map(|(_, step, ..)| *step).ok_or_else(|| {
            UsageError::new(format!("unrecognized initialization step \"{letter}\""))
                .with_detail("Allowed step characters are: \"dtgGvpf\".")
        })
    };
    text.chars().filter(|letter| *letter != ' ').map(step).collect()
}

fn builtin(prefix: &str) -> Result<builtin::Builtin, UsageError> {
    builtin::find(prefix)
        .map_err(|message| UsageError::new(format!("{message}\n{}\n", builtin::list().trim_end())))
}

/// Separates a script's weight from its name.
fn weighted(text: &str) -> Result<(&str, u32), UsageError> {
    let Some((name, weight)) = text.rsplit_once('@') else { return Ok((text, 1)) };
    let Ok(weight) = weight.parse::<i64>() else {
        return Err(UsageError::new(format!("invalid weight specification: @{weight}")));
    };
    if !(0..=INT_MAX).contains(&weight) {
        return Err(UsageError::new(format!(
            "weight specification out of range (0 .. {INT_MAX}): {weight}"
        )));
    }
    Ok((name, weight as u32))
}

fn definition(text: &str) -> Result<(String, String), UsageError> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            if !is_name(name) {
                return Err(UsageError::new(format!("option: invalid variable name: \"{name}\"")));
            }
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err(UsageError::new(format!("invalid variable definition: \"{text}\""))),
    }
}

fn seed(text: &str, origin: &str) -> Result<Seed, UsageError> {
    match text {
        "time" | "rand" => Ok(Seed::Drawn),
        digits => digits.trim().parse().map(Seed::Given).map_err(|_| {
            let error = UsageError::new(format!("unrecognized random seed option \"{text}\""))
                .with_detail("Expecting an unsigned integer, \"time\" or \"rand\".");
            UsageError(format!(
                "{}\npgbench: error: error while setting random seed from {origin}",
                error.0
            ))
        }),
    }
}

#[cfg(test)]
mod tests;
