//! The option text that controls the null driver.
//!
//! The text takes the place of a database name (`Target::database`, or the path of a `null:` URL).
//! It is a list of `option=value`, separated by commas; an empty text means: every statement
//! succeeds at once.
//!
//! | option | value | meaning |
//! |---|---|---|
//! | `latency_us` | see below | time until the answer in µs; default 0 |
//! | `rows` | number | rows of a select; default 1 |
//! | `columns` | 1 to 64 | fields per row; default 1 |
//! | `value` | integer or text | content of every field; default 1 |
//! | `affected` | number | changed rows reported for a write; default 1 |
//! | `fail` | `KIND:P`, e.g. `deadlock:0.01` | probability of this kind of failure; repeatable |
//! | `hang_after` | number | statements after which a connection never answers again |
//! | `disconnect_after` | number | statements after which a connection breaks |
//! | `stall` | `at:1000ms/for:500ms`, optionally with `/every:5s` | no answers in that period |
//! | `stall` | `after:100/for:500ms` | delay of statement 101 of every connection |
//! | `seed` | number | seed of the random numbers; default 1 |
//!
//! `latency_us` is `200`, `100..300` (uniform) or `exp:200` (exponential with this mean). It and
//! `fail` can be prefixed with a kind of statement, which then overrides the plain option:
//! `update.latency_us=500`, `commit.fail=connection-lost:0.001`, `connect.latency_us=3000`,
//! `connect.fail=out-of-connections:1`. Kinds are `connect` and the names of [`StatementKind`].
//!
//! Random draws depend only on the seed, the number of the connection among all that the process
//! has opened with the same text, and the number of the statement. Spans of time count from the
//! first of the connections that are open.

use super::statement::StatementKind;
use dyno_model::failure::{FailureKind, OperationFailure};
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

/// The number of fields is sent in one byte, and kept small.
const COLUMNS_MAX: usize = 64;

/// Index of `connect` in tables by kind: after all kinds of statements.
pub(super) const CONNECT: usize = StatementKind::ALL.len();

/// Behaviour of an in-process null server.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// By kind of statement; the last is for connecting.
    pub(super) latencies: [Latency; CONNECT + 1],
    /// By kind of statement; the last is for connecting.
    pub(super) failures: [Vec<(FailureKind, f64)>; CONNECT + 1],
    pub(super) rows: u64,
    pub(super) columns: usize,
    pub(super) value: CannedValue,
    pub(super) affected: u64,
    pub(super) hang_after: Option<u64>,
    pub(super) disconnect_after: Option<u64>,
    pub(super) stall: Option<Stall>,
    pub(super) seed: u64,
}

/// Time until an answer, microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Latency {
    Constant(u64),
    Uniform { low: u64, high: u64 },
    Exponential { mean: u64 },
}

/// Content of every field.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CannedValue {
    Integer(i64),
    Text(String),
}

/// A period without answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Stall {
    /// By time since the first connection.
    Span { at: Duration, length: Duration, every: Option<Duration> },
    /// By statements of the connection.
    After { statements: u64, length: Duration },
}

impl Default for Script {
    fn default() -> Self {
        Self {
            latencies: [Latency::Constant(0); CONNECT + 1],
            failures: Default::default(),
            rows: 1,
            columns: 1,
            value: CannedValue::Integer(1),
            affected: 1,
            hang_after: None,
            disconnect_after: None,
            stall: None,
            seed: 1,
        }
    }
}

impl Script {
    /// Parses an option text.
    ///
    /// # Errors
    /// [`FailureKind::Unsupported`] with the option, its value and the valid values.
    pub fn parse(text: &str) -> Result<Self, OperationFailure> {
        let refuse = |problem: String| {
            FailureKind::Unsupported.failure(format!("null server options {text:?}: {problem}"))
        };
        let mut script = Self::default();
        let mut latencies = [None; CONNECT + 1];
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (key, value) = item
                .split_once('=')
                .ok_or_else(|| refuse(format!("{item:?} has no value; write {item}=VALUE")))?;
            let (key, value) = (key.trim(), value.trim());
            let outcome = match key.split_once('.') {
                Some((kind, option)) => kind_position(kind)
                    .and_then(|at| script.set_for_kind(option, at, value, &mut latencies)),
                None => script.set(key, value),
            };
            outcome.map_err(|problem| refuse(format!("{key}: {problem}, got {value:?}")))?;
        }
        for (kind, latency) in latencies.into_iter().enumerate() {
            script.latencies[kind] = latency.unwrap_or(script.latencies[kind]);
        }
        match script.failures.iter().find(|rules| rules.iter().map(|(_, p)| p).sum::<f64>() > 1.0) {
            Some(rules) => {
                Err(refuse(format!("fail: probabilities add up to more than 1: {rules:?}")))
            }
            None => Ok(script),
        }
    }

    /// Sets an option for all kinds of statements, but not for connecting.
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "latency_us" => self.latencies[..CONNECT].fill(latency(value)?),
            "fail" => {
                let rule = failure(value)?;
                self.failures[..CONNECT].iter_mut().for_each(|rules| rules.push(rule));
            }
            "rows" => self.rows = number(value)?,
            "columns" => {
                self.columns = number(value)?;
                if !(1..=COLUMNS_MAX).contains(&self.columns) {
                    return Err(format!("must be between 1 and {COLUMNS_MAX}"));
                }
            }
            "value" => {
                let text = || CannedValue::Text(value.to_owned());
                self.value = value.parse().map_or_else(|_| text(), CannedValue::Integer);
            }
            "affected" => self.affected = number(value)?,
            "hang_after" => self.hang_after = Some(number(value)?),
            "disconnect_after" => self.disconnect_after = Some(number(value)?),
            "stall" => self.stall = Some(stall(value)?),
            "seed" => self.seed = number(value)?,
            _ => {
                return Err(
                    "unknown option; known are latency_us, rows, columns, value, affected, fail, \
                            hang_after, disconnect_after, stall, seed"
                        .to_owned(),
                );
            }
        }
        Ok(())
    }

    fn set_for_kind(
        &mut self,
        option: &str,
        kind: usize,
        value: &str,
        latencies: &mut [Option<Latency>],
    ) -> Result<(), String> {
        match option {
            "latency_us" => latencies[kind] = Some(latency(value)?),
            "fail" => self.failures[kind].push(failure(value)?),
            _ => {
                return Err(
                    "only latency_us and fail can be set for one kind of statement".to_owned()
                );
            }
        }
        Ok(())
    }
}

fn kind_position(name: &str) -> Result<usize, String> {
    if name == "connect" {
        return Ok(CONNECT);
    }
    StatementKind::named(name).map(|kind| kind as usize).ok_or_else(|| {
        let names = StatementKind::ALL.map(StatementKind::name).join(", ");
        format!("unknown kind of statement; known are connect, {names}")
    })
}

fn number<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error| format!("must be a whole number ({error})"))
}

fn latency(text: &str) -> Result<Latency, String> {
    let shape = |_| "must be microseconds as 200, 100..300 or exp:200".to_owned();
    if let Some(mean) = text.strip_prefix("exp:") {
        return Ok(Latency::Exponential { mean: number(mean).map_err(shape)? });
    }
    let Some((low, high)) = text.split_once("..") else {
        return Ok(Latency::Constant(number(text).map_err(shape)?));
    };
    let (low, high) = (number(low).map_err(shape)?, number(high).map_err(shape)?);
    if low > high {
        Err("the lower bound is above the upper bound".to_owned())
    } else {
        Ok(Latency::Uniform { low, high })
    }
}

fn failure(text: &str) -> Result<(FailureKind, f64), String> {
    let (name, probability) = text
        .split_once(':')
        .ok_or("must be a kind of failure and its probability, as deadlock:0.01")?;
    let kind = FailureKind::named(name).ok_or_else(|| {
        format!(
            "unknown kind of failure; known are {}",
            FailureKind::ALL.map(FailureKind::name).join(", ")
        )
    })?;
    match probability.parse() {
        Ok(probability) if (0.0..=1.0).contains(&probability) => Ok((kind, probability)),
        _ => Err("the probability must be between 0 and 1".to_owned()),
    }
}

fn stall(text: &str) -> Result<Stall, String> {
    let (mut at, mut after, mut length, mut every) = (None, None, None, None);
    for part in text.split('/') {
        match part.split_once(':') {
            Some(("at", value)) => at = Some(duration(value)?),
            Some(("for", value)) => length = Some(duration(value)?),
            Some(("every", value)) => every = Some(duration(value)?),
            Some(("after", value)) => after = Some(number(value)?),
            _ => return Err(STALL_SHAPE.to_owned()),
        }
    }
    match (at, after, length, every) {
        (Some(at), None, Some(length), every) if every.is_none_or(|every| every > length) => {
            Ok(Stall::Span { at, length, every })
        }
        (Some(_), None, Some(_), Some(_)) => Err("every must be longer than for".to_owned()),
        (None, Some(statements), Some(length), None) => Ok(Stall::After { statements, length }),
        _ => Err(STALL_SHAPE.to_owned()),
    }
}

const STALL_SHAPE: &str =
    "must be as at:1000ms/for:500ms, at:1s/for:500ms/every:5s or after:100/for:500ms";

fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let count: u64 = number(&text[..digits])?;
    match &text[digits..] {
        "us" => Ok(Duration::from_micros(count)),
        "ms" => Ok(Duration::from_millis(count)),
        "s" => Ok(Duration::from_secs(count)),
        _ => Err("a time needs a unit: us, ms or s".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_text_means_success_at_once() {
        assert_eq!(Script::parse("").unwrap(), Script::default());
        assert_eq!(Script::parse(" , ").unwrap(), Script::default());
    }

    #[test]
    fn every_option_of_the_table_is_accepted() {
        let script = Script::parse(
            "latency_us=200, rows=3,columns=2,value=abc,affected=0,fail=deadlock:0.25,hang_after=100,\
             disconnect_after=200,stall=at:1000ms/for:500ms/every:5s,seed=7",
        )
        .unwrap();
        assert_eq!(script.latencies[StatementKind::Commit as usize], Latency::Constant(200));
        assert_eq!(
            script.latencies[CONNECT],
            Latency::Constant(0),
            "connecting is not a statement"
        );
        assert_eq!((script.rows, script.columns, script.affected, script.seed), (3, 2, 0, 7));
        assert_eq!(script.value, CannedValue::Text("abc".to_owned()));
        assert_eq!(script.failures[0], [(FailureKind::Deadlock, 0.25)]);
        assert_eq!((script.hang_after, script.disconnect_after), (Some(100), Some(200)));
        let (at, length) = (Duration::from_secs(1), Duration::from_millis(500));
        assert_eq!(
            script.stall,
            Some(Stall::Span { at, length, every: Some(Duration::from_secs(5)) })
        );
    }

    #[test]
    fn statement_specific_option_overrides_general_one_in_any_order() {
        let script =
            Script::parse("update.latency_us=5..9,latency_us=exp:2,connect.fail=not-ready:1")
                .unwrap();
        assert_eq!(
            script.latencies[StatementKind::Update as usize],
            Latency::Uniform { low: 5, high: 9 }
        );
        assert_eq!(
            script.latencies[StatementKind::Select as usize],
            Latency::Exponential { mean: 2 }
        );
        assert_eq!(script.failures[CONNECT], [(FailureKind::NotReady, 1.0)]);
        assert!(script.failures[0].is_empty());
    }

    #[test]
    fn every_mistake_is_reported_with_the_valid_values() {
        let rows = [
            ("latency", "has no value"),
            ("latency_ms=3", "latency_ms: unknown option; known are latency_us"),
            (
                "latency_us=3ms",
                "latency_us: must be microseconds as 200, 100..300 or exp:200, got \"3ms\"",
            ),
            ("latency_us=9..5", "the lower bound is above the upper bound"),
            ("rows=-1", "rows: must be a whole number"),
            ("columns=0", "columns: must be between 1 and 64"),
            ("fail=deadlock", "must be a kind of failure and its probability"),
            ("fail=oops:0.1", "unknown kind of failure; known are connect-refused"),
            ("fail=deadlock:2", "the probability must be between 0 and 1"),
            ("fail=deadlock:0.7,fail=busy:0.7", "probabilities add up to more than 1"),
            ("stall=1s", "must be as at:1000ms/for:500ms"),
            ("stall=at:1/for:2s", "a time needs a unit"),
            ("stall=at:1s/for:2s/every:1s", "every must be longer than for"),
            ("query.latency_us=1", "unknown kind of statement; known are connect, select"),
            ("select.rows=1", "only latency_us and fail can be set for one kind"),
        ];
        for (text, expected) in rows {
            let failure = Script::parse(text).expect_err(text);
            assert!(failure.message.contains(expected), "{text}: {}", failure.message);
            assert_eq!(failure.kind, FailureKind::Unsupported);
        }
    }
}
