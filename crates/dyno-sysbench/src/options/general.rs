//! General, random and log options with validated values.

use super::definition::{Kind, Value, dashed};
use super::error::{self, OptionError};
use crate::logger::Level;
use dyno_lua::{RandomSettings, RandomType};
use dyno_model::launcher::LauncherKind;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Layout {
    /// As printed by sysbench 1.0.20.
    #[default]
    V1_0,
    /// As printed by sysbench's unreleased 1.1.
    V1_1,
}

/// Destination of the JSON document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JsonDestination {
    /// Standard output; the log goes to standard error.
    Standard,
    /// A file, in addition to the usual output.
    File(PathBuf),
}

/// Amount and duration of the load, and its reports.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct General {
    /// Threads, at least 1.
    pub(crate) threads: u32,
    /// Maximum number of events started by all threads together; `None` for no limit.
    pub(crate) events: Option<u64>,
    /// Time limit after the warm-up; `None` for no limit.
    pub(crate) time: Option<Duration>,
    /// Duration of the load before counting.
    pub(crate) warmup: Duration,
    /// Arrival rate in events per second; `None` for a closed loop.
    pub(crate) rate: Option<f64>,
    /// Time after the common start at which everything is cut off (`--forced-shutdown`); `None` if
    /// not requested.
    pub(crate) forced_shutdown: Option<Duration>,
    /// How long an event may continue after `time` before it is cut off; `None` for no limit.
    pub(crate) hang_timeout: Option<Duration>,
    /// Timeout for threads to be ready; `None` for no limit.
    pub(crate) init_timeout: Option<Duration>,
    /// Requested stack size per thread in bytes.
    pub(crate) stack_size: u64,
    /// Length of an interval; `None` for no interval lines.
    pub(crate) interval: Option<Duration>,
    /// Times of full reports after the common start, sorted and unique.
    pub(crate) checkpoints: Vec<Duration>,
    pub(crate) debug: bool,
    /// Least severe level that is written.
    pub(crate) verbosity: u8,
    /// Latency percentiles, 0 to 100, in the given order; without any, no histogram is kept.
    pub(crate) percentiles: Vec<f64>,
    pub(crate) histogram: bool,
    pub(crate) layout: Layout,
    pub(crate) json: Option<JsonDestination>,
    /// Processes that drive the threads; `None`: this one.
    pub(crate) generators: Option<u32>,
    /// What starts them.
    pub(crate) launcher: LauncherKind,
    /// Folder in which a results folder of dyno is created.
    pub(crate) results: Option<PathBuf>,
    /// Maximum number of retries of one event; `None` for no limit.
    pub(crate) retries_max: Option<u64>,
    pub(crate) help: bool,
    pub(crate) version: bool,
}

/// Maximum number of checkpoints, as in sysbench.
const CHECKPOINTS_MAX: usize = 256;

/// More threads than any machine can start, so a typing error.
const THREADS_MAX: f64 = 1_000_000.0;

type Values = BTreeMap<String, Value>;

impl General {
    /// Reads and checks the options.
    ///
    /// # Errors
    /// When a value is out of range.
    pub(crate) fn from_values(
        values: &Values,
        given: &BTreeSet<String>,
    ) -> Result<Self, OptionError> {
        let verbosity = verbosity(values)?;
        let percentiles = percentiles(&values["percentile"])?;
        let histogram = values["histogram"].is_on();
        if histogram && percentiles.is_empty() {
            return Err(OptionError::Fatal(
                "--histogram cannot be used with --percentile=0".into(),
            ));
        }
        let threads = values["threads"].as_number();
        if !(1.0..=THREADS_MAX).contains(&threads) {
            return Err(OptionError::Fatal(format!("Invalid value for --threads: {threads}.\n")));
        }
        let time = seconds(values, "time")?;
        let generators = not_zero(at_least_zero(values, "generators")?);
        if let Some(generators) = generators.filter(|generators| *generators > threads) {
            return Err(OptionError::Fatal(format!(
                "--generators={generators} is more than --threads={threads}: each generator drives \
                 at least one thread"
            )));
        }
        let checkpoints = checkpoints(&values["report_checkpoints"])?;
        if generators.is_some() && !checkpoints.is_empty() {
            return Err(OptionError::Fatal(
                "--report-checkpoints cannot be used with --generators: the figures of each thread \
                 arrive at the end"
                    .into(),
            ));
        }
        Ok(Self {
            generators: generators.map(|generators| generators as u32),
            launcher: launcher(&values["launcher"].text())?,
            threads: threads as u32,
            events: not_zero(values["events"].as_number()).map(|events| events as u64),
            time,
            warmup: seconds(values, "warmup_time")?.unwrap_or_default(),
            rate: not_zero(at_least_zero(values, "rate")?),
            forced_shutdown: forced_shutdown(values, given, time)?,
            hang_timeout: seconds(values, "hang_timeout")?,
            init_timeout: seconds(values, "thread_init_timeout")?,
            stack_size: values["thread_stack_size"].as_number() as u64,
            interval: seconds(values, "report_interval")?,
            checkpoints,
            debug: values["debug"].is_on(),
            verbosity,
            percentiles,
            histogram,
            layout: layout(&values["report_format"])?,
            json: json(&values["json"]),
            results: Some(values["results"].text())
                .filter(|text| !text.is_empty())
                .map(PathBuf::from),
            retries_max: not_zero(at_least_zero(values, "max_retries")?)
                .map(|retries| retries as u64),
            help: values["help"].is_on(),
            version: values["version"].is_on(),
        })
    }

    /// The percentile of interval lines and of scripts' reports, if any.
    pub(crate) fn percentile(&self) -> Option<f64> {
        self.percentiles.first().copied()
    }
}

fn launcher(text: &str) -> Result<LauncherKind, OptionError> {
    LauncherKind::of_command_line(text)
        .map_err(|reason| OptionError::Fatal(format!("--launcher={text}: {reason}")))
}

/// The random distributions of scripts.
///
/// # Errors
/// When a value is out of range.
pub(crate) fn random(values: &Values) -> Result<RandomSettings, OptionError> {
    let name = values["rand_type"].text();
    let default = RandomType::named(&name).ok_or_else(|| {
        OptionError::Fatal(format!("Invalid random numbers distribution: {name}."))
    })?;
    Ok(RandomSettings {
        default,
        iterations: within(values, "rand_spec_iter", 1.0..=1e6)? as u32,
        special_percent: within(values, "rand_spec_pct", 0.0..=100.0)? as u32,
        special_share: within(values, "rand_spec_res", 0.0..=100.0)? as u32,
        pareto_h: within(values, "rand_pareto_h", 1e-9..=1.0 - 1e-9)?,
        zipfian_exponent: within(values, "rand_zipfian_exp", 0.0..=f64::MAX)?,
    })
}

/// Seed of all random numbers; `None` for a seed from the clock. Negative seeds are valid.
pub(crate) fn seed(values: &Values) -> Option<u64> {
    let seed = values["rand_seed"].as_number();
    (seed != 0.0).then_some(seed as i64 as u64)
}

fn invalid(name: &str, value: &str) -> OptionError {
    OptionError::Fatal(format!("Invalid value for --{}: {value}", dashed(name)))
}

fn within(
    values: &Values,
    name: &str,
    limits: std::ops::RangeInclusive<f64>,
) -> Result<f64, OptionError> {
    let number = values[name].as_number();
    if limits.contains(&number) { Ok(number) } else { Err(invalid(name, &number.to_string())) }
}

fn at_least_zero(values: &Values, name: &str) -> Result<f64, OptionError> {
    within(values, name, 0.0..=f64::MAX)
}

/// A limit; zero and negative numbers mean no limit, like `--events=-1` and `--time=-1` in
/// sysbench.
fn not_zero(number: f64) -> Option<f64> {
    (number > 0.0).then_some(number)
}

/// A time of at most a century, because longer ones overflow calculations with instants.
fn seconds(values: &Values, name: &str) -> Result<Option<Duration>, OptionError> {
    let number = within(values, name, f64::MIN..=3e9)?;
    Ok(not_zero(number).map(Duration::from_secs_f64))
}

/// `--debug` and `--mysql-debug` select the highest verbosity.
fn verbosity(values: &Values) -> Result<u8, OptionError> {
    if values["debug"].is_on() || values["mysql_debug"].is_on() {
        return Ok(Level::Debug as u8);
    }
    let number = values["verbosity"].as_number();
    if (0.0..=5.0).contains(&number) {
        Ok(number as u8)
    } else {
        Err(OptionError::Plain(format!("Invalid value for verbosity: {number}")))
    }
}

fn percentiles(value: &Value) -> Result<Vec<f64>, OptionError> {
    let mut percentiles = Vec::new();
    for text in value.items() {
        let number = Kind::Decimal
            .parse(Some(&text))
            .map_err(|_| OptionError::Argument(error::invalid("percentile", &text)))?;
        let percent = number.as_number();
        if !(0.0..=100.0).contains(&percent) {
            return Err(invalid("percentile", &text));
        }
        if percent > 0.0 {
            percentiles.push(percent);
        }
    }
    Ok(percentiles)
}

fn checkpoints(value: &Value) -> Result<Vec<Duration>, OptionError> {
    let quoted = |text: &str| invalid("report_checkpoints", &format!("'{text}'"));
    let mut times = Vec::new();
    for text in value.items() {
        let number = Kind::Decimal.parse(Some(&text)).map_err(|_| quoted(&text))?.as_number();
        if !(0.0..=3e9).contains(&number) {
            return Err(quoted(&text));
        }
        times.push(Duration::from_secs_f64(number));
    }
    times.sort_unstable();
    times.dedup();
    if times.len() > CHECKPOINTS_MAX {
        let text = format!(
            "Too many checkpoints in --report-checkpoints (up to {CHECKPOINTS_MAX} can be defined)"
        );
        return Err(OptionError::Fatal(text));
    }
    Ok(times)
}

/// `off`, N seconds or N% of the time, counted from the time limit; 5 % without a value. Without a
/// time limit nothing is cut off. Percentages are rounded down to whole seconds, as in sysbench.
fn forced_shutdown(
    values: &Values,
    given: &BTreeSet<String>,
    time: Option<Duration>,
) -> Result<Option<Duration>, OptionError> {
    let text = values["forced_shutdown"].text();
    if text.eq_ignore_ascii_case("off") || !given.contains("forced_shutdown") {
        return Ok(None);
    }
    let bad = || invalid("forced_shutdown", &format!("'{text}'"));
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u32>().ok().filter(|_| is_number).ok_or_else(bad)
    };
    let seconds = time.unwrap_or_default().as_secs();
    let after = match text.strip_suffix('%') {
        _ if text.is_empty() => seconds / 20,
        Some(percent) => seconds * u64::from(number(percent)?) / 100,
        None => u64::from(number(&text)?),
    };
    Ok(time.map(|time| time + Duration::from_secs(after)))
}

fn layout(value: &Value) -> Result<Layout, OptionError> {
    match value.text().as_str() {
        "1.0" => Ok(Layout::V1_0),
        "1.1" => Ok(Layout::V1_1),
        other => Err(invalid("report_format", &format!("'{other}' (valid are 1.0 and 1.1)"))),
    }
}

fn json(value: &Value) -> Option<JsonDestination> {
    match value {
        Value::Boolean(true) => Some(JsonDestination::Standard),
        Value::Text(file) if !file.is_empty() => Some(JsonDestination::File(PathBuf::from(file))),
        _ => None,
    }
}
