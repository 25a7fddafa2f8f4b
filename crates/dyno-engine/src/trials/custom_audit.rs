//! User-defined audits: values that the user's SQL returns, and how they must follow from the
//! committed transactions.

use dyno_drivers::{Connection, Driver, Table};
use dyno_model::audit::AuditCheck;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::words::begins_with;
use std::sync::atomic::{AtomicU64, Ordering};

/// The word for a value that no transaction may change.
const UNCHANGED: &str = "unchanged";
/// First words of statements that are sent unchanged; everything else is put after SELECT.
const QUERY_WORDS: [&str; 4] = ["select", "with", "values", "table"];

/// The expected change of a value.
struct Rule {
    /// As the user wrote it.
    expression: String,
    /// Scripts by index, and the change of the value by each of their commits.
    steps: Vec<(usize, i64)>,
}

/// Counters of one script's transactions; a workload is created for one trial.
#[derive(Default)]
struct OutcomeCounters {
    started: AtomicU64,
    committed: AtomicU64,
    /// Failed transactions that certainly left nothing in the data.
    rolled_back: AtomicU64,
}

impl OutcomeCounters {
    fn all(&self) -> [&AtomicU64; 3] {
        [&self.started, &self.committed, &self.rolled_back]
    }
}

/// All rules and their state. An audit fails when a value cannot be queried.
#[derive(Default)]
pub struct CustomAudit {
    rules: Vec<Rule>,
    /// By script.
    counters: Vec<OutcomeCounters>,
    /// Whether a failed transaction leaves nothing behind, by script.
    are_atomic: Vec<bool>,
}

impl CustomAudit {
    /// Parses the rules for scripts, each with its name and whether its failed transactions leave
    /// nothing in the data.
    ///
    /// # Errors
    /// When a rule cannot be parsed or names no script.
    pub fn new<'o>(
        rules: impl Iterator<Item = (&'o str, &'o str)>,
        scripts: &[(&str, bool)],
    ) -> Result<Self, String> {
        let names: Vec<&str> = scripts.iter().map(|(name, _)| *name).collect();
        let rules: Vec<Rule> = rules
            .map(|(expression, rule)| {
                let steps = steps(rule, &names)
                    .map_err(|why| format!("the audit `{expression}`: {why}"))?;
                Ok(Rule { expression: expression.to_owned(), steps })
            })
            .collect::<Result<_, String>>()?;
        if rules.is_empty() {
            return Ok(Self::default());
        }
        let counters = scripts.iter().map(|_| OutcomeCounters::default()).collect();
        Ok(Self {
            rules,
            counters,
            are_atomic: scripts.iter().map(|(_, is_atomic)| *is_atomic).collect(),
        })
    }

    /// The SQL of all values.
    pub fn expressions(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|rule| rule.expression.as_str())
    }

    /// Records the start of a script's transaction.
    pub fn begins(&self, script: usize) {
        if let Some(count) = self.counters.get(script) {
            count.started.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Records its end; a transaction that does not end is in doubt.
    pub fn ends(&self, script: usize, outcome: &Result<(), OperationFailure>) {
        let Some(count) = self.counters.get(script) else { return };
        match outcome {
            Ok(()) => count.committed.fetch_add(1, Ordering::Relaxed),
            // An error within dyno, for example in an expression, may follow a statement that took
            // effect on its own.
            Err(failure)
                if self.are_atomic[script] && failure.is_answered() && !failure.leaves_doubt() =>
            {
                count.rolled_back.fetch_add(1, Ordering::Relaxed)
            }
            Err(_) => 0,
        };
    }

    /// The counters as numbers, for [`Self::import_counts`] in another process.
    #[must_use]
    pub fn export_counts(&self) -> Vec<u64> {
        let all = self.counters.iter().flat_map(OutcomeCounters::all);
        all.map(|counter| counter.load(Ordering::Relaxed)).collect()
    }

    /// Adds the counters of another process.
    pub fn import_counts(&self, exported: &[u64]) {
        for (counter, count) in self.counters.iter().flat_map(OutcomeCounters::all).zip(exported) {
            counter.fetch_add(*count, Ordering::Relaxed);
        }
    }

    /// The values before a trial.
    pub async fn values(&self, connection: &mut Connection) -> Result<Vec<i64>, OperationFailure> {
        let mut values = Vec::with_capacity(self.rules.len());
        for rule in &self.rules {
            values.push(value(connection, &rule.expression).await?);
        }
        Ok(values)
    }

    /// The values after a trial, with the expected ones.
    pub async fn checks(
        &self,
        connection: &mut Connection,
        before: &[i64],
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        let mut checks = Vec::with_capacity(self.rules.len());
        for (rule, before) in self.rules.iter().zip(before) {
            let found = value(connection, &rule.expression).await?;
            let (expected_min, expected_max) = self.expected_range(&rule.steps, *before);
            let expression = rule.expression.clone();
            checks.push(AuditCheck::Value { expression, expected_min, expected_max, found });
        }
        Ok(checks)
    }

    /// Smallest and largest correct value for the given commits and transactions in doubt.
    fn expected_range(&self, steps: &[(usize, i64)], before: i64) -> (i64, i64) {
        let (mut smallest, mut largest) = (before, before);
        for (script, step) in steps {
            let count = &self.counters[*script];
            let [started, committed, rolled_back] = count
                .all()
                .map(|number| i64::try_from(number.load(Ordering::Relaxed)).unwrap_or(i64::MAX));
            let sure = step.saturating_mul(committed);
            let doubt = step.saturating_mul(started - committed - rolled_back);
            smallest = smallest.saturating_add(sure).saturating_add(doubt.min(0));
            largest = largest.saturating_add(sure).saturating_add(doubt.max(0));
        }
        (smallest, largest)
    }

    /// Queries every value once. Returns the server's errors, and reasons for unusable values.
    ///
    /// # Errors
    /// When the connection is lost.
    pub async fn rehearse(
        &self,
        connection: &mut Connection,
    ) -> Result<Vec<String>, OperationFailure> {
        let mut refused = Vec::new();
        for Rule { expression, .. } in &self.rules {
            match value(connection, expression).await {
                Ok(_) => {}
                Err(failure) if failure.is_lost() => return Err(failure),
                Err(failure) => refused.push(format!("the audit `{expression}`: {failure}")),
            }
        }
        Ok(refused)
    }
}

/// Parses `unchanged`, or one or more of `+1 per SCRIPT`, separated by commas.
fn steps(rule: &str, scripts: &[&str]) -> Result<Vec<(usize, i64)>, String> {
    if rule.trim() == UNCHANGED {
        return Ok(Vec::new());
    }
    let step = |part: &str| {
        let form = || {
            format!(
                "`{}` is not a rule; write `{UNCHANGED}`, or the change per transaction: \
                 `+1 per {}`",
                part.trim(),
                scripts.first().unwrap_or(&"SCRIPT")
            )
        };
        let (number, name) = part.split_once(" per ").ok_or_else(form)?;
        let number: i64 = number.trim().parse().map_err(|_| form())?;
        let name = name.trim();
        let found = scripts.iter().position(|script| *script == name).ok_or_else(|| {
            format!("no script is called `{name}`; scripts: {}", scripts.join(", "))
        })?;
        Ok((found, number))
    };
    rule.split(',').map(step).collect()
}

/// Queries a value; an empty result and the sum of no rows are 0.
async fn value(connection: &mut Connection, expression: &str) -> Result<i64, OperationFailure> {
    let select = if begins_with(expression, &QUERY_WORDS) { "" } else { "SELECT " };
    let mut table = Table::default();
    connection.query(&format!("{select}{expression}"), &mut table).await?;
    let Some(text) = table.first() else { return Ok(0) };
    integer(text).ok_or_else(|| {
        FailureKind::BadStatement.failure(format!(
            "its value {text} is not an integer; multiply or round it, for example \
             `sum(balance * 100) from accounts`"
        ))
    })
}

/// Parses an integer, optionally with zeros after the decimal point, as servers print decimals and
/// floats.
fn integer(text: &str) -> Option<i64> {
    let text = text.trim();
    let (digits, rest) = text.split_once('.').unwrap_or((text, ""));
    if let Ok(number) = digits.parse()
        && rest.bytes().all(|digit| digit == b'0')
    {
        return Some(number);
    }
    // Large floats are printed with an exponent.
    let number: f64 = text.parse().ok()?;
    (number.fract() == 0.0 && number.abs() <= 2_f64.powi(53)).then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_says_what_each_commit_of_a_script_changes() {
        let scripts = ["new order", "drop"];
        assert_eq!(steps(" unchanged ", &scripts), Ok(Vec::new()));
        assert_eq!(steps("+1 per new order, -3 per drop", &scripts), Ok(vec![(0, 1), (1, -3)]));
        assert_eq!(steps("2 per drop", &scripts), Ok(vec![(1, 2)]));
        for (rule, why) in [
            (
                "same",
                "`same` is not a rule; write `unchanged`, or the change per transaction: \
                 `+1 per new order`",
            ),
            ("+x per drop", "`+x per drop` is not a rule"),
            ("+1 per order", "no script is called `order`; scripts: new order, drop"),
        ] {
            let error = steps(rule, &scripts).unwrap_err();
            assert!(error.starts_with(why), "{error}");
        }
    }

    #[test]
    fn only_possibly_effective_failures_widen_audit_bounds() {
        let scripts = [("one", true), ("two", false)];
        let rules = [("sum(x) from t", "+2 per one, -5 per two")];
        let audit =
            CustomAudit::new(rules.into_iter(), &scripts).unwrap_or_else(|error| panic!("{error}"));
        let refused =
            OperationFailure { code: 1213, ..FailureKind::Deadlock.failure("a deadlock") };
        let lost = FailureKind::ConnectionLost.failure("gone");
        let ends = |script: usize, outcome: Result<(), &OperationFailure>| {
            audit.begins(script);
            audit.ends(script, &outcome.map_err(Clone::clone));
            audit.expected_range(&audit.rules[0].steps, 100)
        };
        assert_eq!(ends(0, Ok(())), (102, 102));
        assert_eq!(
            ends(0, Err(&refused)),
            (102, 102),
            "one statement was refused and left nothing"
        );
        assert_eq!(ends(0, Err(&lost)), (102, 104));
        assert_eq!(ends(1, Ok(())), (97, 99));
        assert_eq!(
            ends(1, Err(&refused)),
            (92, 99),
            "the first of two statements took effect by itself"
        );
        audit.begins(0);
        assert_eq!(audit.expected_range(&audit.rules[0].steps, 100), (92, 101), "it was cut off");
    }

    #[test]
    fn numbers_are_read_as_servers_write_them() {
        for (text, number) in [
            ("12", Some(12)),
            ("-7", Some(-7)),
            ("10050.00", Some(10_050)),
            ("1e+06", Some(1_000_000)),
            ("1.5", None),
            ("many", None),
            ("", None),
        ] {
            assert_eq!(integer(text), number, "{text}");
        }
    }
}
