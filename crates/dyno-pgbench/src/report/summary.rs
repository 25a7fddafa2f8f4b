//! The report at the end of a run.

use crate::options::{Length, PartitionMethod, Run, Style};
use crate::statistics::{CommandTally, Tally, Times};
use std::fmt::Write;

/// The content of the report.
#[derive(Debug)]
pub(crate) struct Summary<'a> {
    /// Options that determine the format.
    pub(crate) options: &'a Run,
    /// Scale of the tables.
    pub(crate) scale: u64,
    /// How `pgbench_accounts` is partitioned, if it is.
    pub(crate) partitions: Option<(PartitionMethod, u32)>,
    pub(crate) scripts: Vec<ScriptCounters>,
    /// All transactions.
    pub(crate) total: Tally,
    /// From the start of the first transaction to the end of the last one, in microseconds.
    pub(crate) duration: f64,
    /// Time to connect all clients, or with `-C` the sum over all connections, microseconds.
    pub(crate) connecting: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScriptCounters {
    pub(crate) name: String,
    pub(crate) weight: u32,
    /// Its transactions.
    pub(crate) tally: Tally,
    /// Its commands: text and counters.
    pub(crate) commands: Vec<(String, CommandTally)>,
}

/// The report.
pub(crate) fn render(summary: &Summary<'_>) -> String {
    let mut text = String::new();
    write_all(summary, &mut text).expect("writing to memory does not fail");
    text
}

fn write_all(summary: &Summary<'_>, text: &mut String) -> std::fmt::Result {
    let Summary { options, total, scripts, .. } = summary;
    let style = &options.style;
    parameters(summary, text)?;
    outcomes(style, total, "", text)?;
    // Without completed transactions all further figures would be meaningless.
    if total.done == 0 {
        return Ok(());
    }
    let all = total.total() as f64;
    if style.rate.is_some() && style.latency_limit.is_some() {
        let share = 100.0 * total.skipped as f64 / all;
        writeln!(text, "number of transactions skipped: {} ({share:.3}%)", total.skipped)?;
    }
    if let Some(limit) = style.latency_limit {
        let share =
            if total.done > 0 { 100.0 * total.late as f64 / total.done as f64 } else { 0.0 };
        let (limit, late, done) = (limit as f64 / 1000.0, total.late, total.done);
        writeln!(
            text,
            "number of transactions above the {limit:.1} ms latency limit: {late}/{done} \
             ({share:.3}%)"
        )?;
    }
    if style.rate.is_some() || style.progress.is_some() || style.latency_limit.is_some() {
        latency("latency", &total.latency, text)?;
    } else {
        let average = 0.001 * summary.duration * f64::from(summary.options.clients) / all;
        let note = if total.failures() > 0 { " (including failures)" } else { "" };
        writeln!(text, "latency average = {average:.3} ms{note}")?;
    }
    if style.rate.is_some() {
        let (average, most) = (0.001 * total.lag.sum / total.done as f64, 0.001 * total.lag.max);
        writeln!(text, "rate limit schedule lag: avg {average:.3} (max {most:.3}) ms")?;
    }
    let seconds = summary.duration / 1_000_000.0;
    let rate = total.done as f64 / seconds;
    if style.connects_each_time {
        let average = 0.001 * summary.connecting / (total.done + total.failures()) as f64;
        writeln!(text, "average connection time = {average:.3} ms")?;
        writeln!(text, "tps = {rate:.6} (including reconnection times)")?;
    } else {
        writeln!(text, "initial connection time = {:.3} ms", 0.001 * summary.connecting)?;
        writeln!(text, "tps = {rate:.6} (without initial connection time)")?;
    }
    let has_scripts = scripts.len() > 1;
    if has_scripts || style.reports_commands {
        let weights: f64 = scripts.iter().map(|script| f64::from(script.weight)).sum();
        for (number, script) in scripts.iter().enumerate() {
            if has_scripts {
                of_script(summary, number + 1, script, weights, seconds, text)?;
            }
            if style.reports_commands {
                of_commands(style, script, if has_scripts { " - " } else { "" }, text)?;
            }
        }
    }
    Ok(())
}

fn parameters(summary: &Summary<'_>, text: &mut String) -> std::fmt::Result {
    let name = match &summary.scripts[..] {
        [script] => &script.name,
        _ => "multiple scripts",
    };
    writeln!(text, "transaction type: {name}")?;
    writeln!(text, "scaling factor: {}", summary.scale)?;
    if let Some((method, count)) = summary.partitions {
        let method = method.name();
        writeln!(text, "partition method: {method}\npartitions: {count}")?;
    }
    writeln!(text, "query mode: {}", summary.options.query_mode)?;
    writeln!(text, "number of clients: {}", summary.options.clients)?;
    writeln!(text, "number of threads: {}", summary.options.jobs)?;
    if summary.options.style.tries_max > 0 {
        writeln!(text, "maximum number of tries: {}", summary.options.style.tries_max)?;
    }
    let done = summary.total.done;
    match summary.options.style.length {
        Length::Transactions(each) => {
            writeln!(text, "number of transactions per client: {each}")?;
            let planned = each * u64::from(summary.options.clients);
            writeln!(text, "number of transactions actually processed: {done}/{planned}")
        }
        Length::Seconds(seconds) => {
            writeln!(text, "duration: {seconds} s")?;
            writeln!(text, "number of transactions actually processed: {done}")
        }
    }
}

/// Failures and retries, each line prefixed with `mark`.
fn outcomes(style: &Style, tally: &Tally, mark: &str, text: &mut String) -> std::fmt::Result {
    let share = |count: u64| 100.0 * count as f64 / tally.total() as f64;
    let mut line = |what: &str, count: u64| {
        writeln!(text, "{mark}number of {what}: {count} ({:.3}%)", share(count))
    };
    line("failed transactions", tally.failures())?;
    if style.details_failures {
        line("serialization failures", tally.serialization_failures)?;
        line("deadlock failures", tally.deadlock_failures)?;
    }
    if style.tries_max != 1 {
        line("transactions retried", tally.retried)?;
        writeln!(text, "{mark}total number of retries: {}", tally.retries)?;
    }
    Ok(())
}

fn latency(name: &str, times: &Times, text: &mut String) -> std::fmt::Result {
    if times.count == 0 {
        return Ok(());
    }
    writeln!(text, "{name} average = {:.3} ms", 0.001 * times.mean())?;
    writeln!(text, "{name} stddev = {:.3} ms", 0.001 * times.deviation())
}

fn of_script(
    summary: &Summary<'_>,
    script_index: usize,
    script: &ScriptCounters,
    weights: f64,
    seconds: f64,
    text: &mut String,
) -> std::fmt::Result {
    let ScriptCounters { name, weight, tally, .. } = script;
    writeln!(text, "SQL script {script_index}: {name}")?;
    writeln!(
        text,
        " - weight: {weight} (targets {:.1}% of total)",
        100.0 * f64::from(*weight) / weights
    )?;
    let share = 100.0 * tally.done as f64 / summary.total.done as f64;
    let rate = tally.done as f64 / seconds;
    writeln!(text, " - {} transactions ({share:.1}% of total, tps = {rate:.6})", tally.done)?;
    outcomes(&summary.options.style, tally, " - ", text)?;
    if summary.options.style.rate.is_some()
        && summary.options.style.latency_limit.is_some()
        && tally.total() > 0
    {
        let share = 100.0 * tally.skipped as f64 / tally.total() as f64;
        writeln!(text, " - number of transactions skipped: {} ({share:.3}%)", tally.skipped)?;
    }
    latency(" - latency", &tally.latency, text)
}

fn of_commands(
    style: &Style,
    script: &ScriptCounters,
    mark: &str,
    text: &mut String,
) -> std::fmt::Result {
    let has_tries = style.tries_max != 1;
    let columns = if has_tries { ", failures and retries" } else { " and failures" };
    writeln!(text, "{mark}statement latencies in milliseconds{columns}:")?;
    for (line, tally) in &script.commands {
        let average = if tally.times.count > 0 { 0.001 * tally.times.mean() } else { 0.0 };
        write!(text, "   {average:11.3}  {:10}", tally.failures)?;
        if has_tries {
            write!(text, "  {:10}", tally.retries)?;
        }
        writeln!(text, "  {line}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{Finished, TransactionOutcome};
    use dyno_model::target::QueryMode;

    fn options(style: Style) -> Run {
        Run { style, clients: 2, jobs: 1, query_mode: QueryMode::Simple, ..Run::default() }
    }

    fn plain() -> Run {
        options(Style { tries_max: 1, length: Length::Transactions(5), ..Style::default() })
    }

    fn summary(options: &Run) -> Summary<'_> {
        let mut total = Tally::default();
        for latency in [1_000.0, 3_000.0] {
            let finished =
                Finished { outcome: TransactionOutcome::Done, latency, lag: 100.0, tries: 2 };
            total.count(&finished, true, Some(2_000));
        }
        let mut times = Times::default();
        times.add(140.0);
        let commands = vec![
            ("\\set aid 1".to_owned(), CommandTally::default()),
            ("BEGIN;".to_owned(), CommandTally { times, failures: 1, retries: 2 }),
        ];
        let script = ScriptCounters { name: "s.sql".to_owned(), weight: 1, tally: total, commands };
        Summary {
            options,
            scale: 1,
            partitions: None,
            scripts: vec![script],
            total,
            duration: 5_094.0,
            connecting: 4_539.0,
        }
    }

    #[test]
    fn the_report_has_the_layout_of_pgbench() {
        let expected = "\
transaction type: s.sql
scaling factor: 1
query mode: simple
number of clients: 2
number of threads: 1
maximum number of tries: 1
number of transactions per client: 5
number of transactions actually processed: 2/10
number of failed transactions: 0 (0.000%)
latency average = 5.094 ms
initial connection time = 4.539 ms
tps = 392.618767 (without initial connection time)
";
        assert_eq!(render(&summary(&plain())), expected);
    }

    #[test]
    fn options_add_lines() {
        let options = options(Style {
            rate: Some(1.0),
            latency_limit: Some(2_000),
            tries_max: 3,
            details_failures: true,
            progress: Some(1),
            connects_each_time: true,
            reports_commands: true,
            length: Length::Seconds(2),
        });
        let mut summary = summary(&options);
        summary.partitions = Some((PartitionMethod::Hash, 3));
        summary.scripts.push(ScriptCounters {
            name: "<builtin: select only>".to_owned(),
            weight: 2,
            tally: Tally::default(),
            commands: Vec::new(),
        });
        let expected = "\
transaction type: multiple scripts
scaling factor: 1
partition method: hash
partitions: 3
query mode: simple
number of clients: 2
number of threads: 1
maximum number of tries: 3
duration: 2 s
number of transactions actually processed: 2
number of failed transactions: 0 (0.000%)
number of serialization failures: 0 (0.000%)
number of deadlock failures: 0 (0.000%)
number of transactions retried: 2 (100.000%)
total number of retries: 2
number of transactions skipped: 0 (0.000%)
number of transactions above the 2.0 ms latency limit: 1/2 (50.000%)
latency average = 2.000 ms
latency stddev = 1.000 ms
rate limit schedule lag: avg 0.100 (max 0.100) ms
average connection time = 2.269 ms
tps = 392.618767 (including reconnection times)
SQL script 1: s.sql
 - weight: 1 (targets 33.3% of total)
 - 2 transactions (100.0% of total, tps = 392.618767)
 - number of failed transactions: 0 (0.000%)
 - number of serialization failures: 0 (0.000%)
 - number of deadlock failures: 0 (0.000%)
 - number of transactions retried: 2 (100.000%)
 - total number of retries: 2
 - number of transactions skipped: 0 (0.000%)
 - latency average = 2.000 ms
 - latency stddev = 1.000 ms
 - statement latencies in milliseconds, failures and retries:
         0.000           0           0  \\set aid 1
         0.140           1           2  BEGIN;
SQL script 2: <builtin: select only>
 - weight: 2 (targets 66.7% of total)
 - 0 transactions (0.0% of total, tps = 0.000000)
 - number of failed transactions: 0 (NaN%)
 - number of serialization failures: 0 (NaN%)
 - number of deadlock failures: 0 (NaN%)
 - number of transactions retried: 0 (NaN%)
 - total number of retries: 0
 - statement latencies in milliseconds, failures and retries:
";
        assert_eq!(render(&summary), expected);
    }

    #[test]
    fn without_transactions_the_report_ends_early() {
        let options = plain();
        let mut summary = summary(&options);
        summary.total = Tally::default();
        assert!(render(&summary).ends_with("number of failed transactions: 0 (NaN%)\n"));
    }
}
