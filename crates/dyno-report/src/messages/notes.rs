//! Notes under tables and sentences about how a run was made.

use super::message::messages;

messages! {
    /// Under the result table.
    NOTE_ESTIMATES [] "Throughput and response times are means over n valid trials; ± is half the width of the 95 % confidence interval of that mean (Student's t over blocks).";
    /// Under the result table.
    NOTE_CLOSED_LOOP [] "Closed loop: each client starts its next transaction when the last one is answered, so response times are service times with that many clients, retries included.";
    /// Under the result table.
    NOTE_OPEN_LOOP [] "Open loop: transactions arrive at the given rate whether or not the system keeps up, and response times run from the moment a transaction was due, waiting for a free client included.";
    /// Under the result table.
    NOTE_BOTH_LOOPS [] "Where a rate is given, the loop is open: transactions arrive whether or not the system keeps up, and response times run from the moment a transaction was due. Elsewhere it is closed: each client starts its next transaction when the last one is answered.";
    /// Part of the description of the load.
    NOTE_RATE [rate] "Transactions arrived at {rate} (Poisson), all clients together.";
    /// Under the distribution and the statement table.
    NOTE_MERGED [] "Percentiles are taken from the merged histograms of all valid trials, never averaged; one that fewer than ten values lie beyond is not shown.";
    /// Under the comparison table.
    NOTE_COMPARISONS [margin, alpha, family, levels] "Ratios are geometric means over blocks with an interval of Student's t on logarithms, paired by block. Better and worse hold after correction for {family} comparisons per metric (Benjamini and Hochberg): on average at most {alpha} of such verdicts are false. Intervals are widened likewise (Benjamini and Yekutieli), to {levels}, so that better and worse leave out 1 and inconclusive does not. Equivalent means that the 90 % interval, which then is shown, lies inside a margin of {margin}; inconclusive means that the data do not tell, not that there is no difference. Where a side did not work in some of its trials, the others may speak against it and not for it.";
    /// Level of the intervals of a metric.
    NOTE_LEVEL [level, metric] "{level} for {metric}";
    /// In its place where no verdict was made.
    NOTE_LEVEL_NONE [] "95 %";
    /// Under tables with response times, where arrivals did not commit.
    NOTE_BOUNDS [] "≥: a lower bound. Arrivals that were never started, failed or were cut off have no response time; it is at least their age when they were last seen. A percentile is a value where it is the same whatever their response times were, and else this or more; a mean or maximum is a bound as soon as one arrival did not commit. A verdict on bounds is given only when the bound is already worse. Curves end where bounds begin.";
    /// Under the comparison table.
    NOTE_DETECTABLE [] "Visible from: the smallest difference that a comparison with these repeats and this scatter shows four times in five, with the same correction.";
    /// Under the audit table.
    NOTE_AUDIT [] "Lost: updates that were acknowledged as committed and are not in the data. Witnessed: pairs of committed transactions that read the same value of the same row, found in the clients' own log; one stale write can undo several updates, so losses may exceed pairs.";
    /// Under the table of failures.
    NOTE_FAILURES [] "Failed: transactions given up, with the kind of the last error. Retries: attempts after the first, with the kind of the error that caused them; a retried transaction counts once.";
    /// Example of a witnessed lost update.
    NOTE_WITNESS [trial, row, value, client_a, sequence_a, client_b, sequence_b] "Trial {trial}: client {client_a} (transaction {sequence_a}) and client {client_b} (transaction {sequence_b}) both read {value} from row {row}, and both were told that they had committed.";
    /// Under the table of machine and server.
    NOTE_RESOURCES [] "Means over the measured windows, from a look each second (monitor.csv). CPU of the machine is the share of all its processors' time in which something ran; server and generator CPUs are processors kept busy, and with embedded SQLite the database's work is the generator's. Read and written are what the server's processes moved from and to devices. The monitor's cost is in percent of one processor, the server's work for its questions included.";
    /// Under the generator table.
    NOTE_GENERATOR [] "CPU time per statement is the generator process's own; with embedded SQLite it contains the database. Held up: the share of its window for which a worker at least stood still, the largest of all workers and trials.";
    /// Under the table of doubts.
    NOTE_INVALID [] "Figures of invalid trials are in no mean and no comparison; they stay in the table of all trials with their reason.";
    /// Doubt of the whole run.
    WHOLE_RUN [] "whole run";
    /// How many trials have a doubt.
    TRIALS_OF [trials, measured] "{trials} of {measured} trials";
    /// One line about the run.
    NOTE_RUN [started, version, seed, blocks] "Measured {started} (UTC) with dyno {version}; number of blocks {blocks}, seed {seed}.";
    /// One line about the run, with a profile.
    NOTE_RUN_PROFILE [started, version, seed, blocks, profile] "Measured {started} (UTC) with dyno {version}; profile {profile}, number of blocks {blocks}, seed {seed}.";
    /// Under the findings.
    NOTE_STEADY [judged, measured, steady] "{judged} of {measured} trials were long enough (40 s) to judge whether they were in a steady state; neither warm-up nor drift was found in {steady}.";
    /// One line about the machine.
    NOTE_MACHINE [cpu, processors, memory, os, kernel] "{cpu}, {processors} logical processors, {memory} memory, {os}, {kernel}.";
    /// One line about the systems: names with versions.
    NOTE_SYSTEMS [systems] "Systems: {systems}.";
    /// One line about a workload.
    NOTE_WORKLOAD [kind, options] "Workload {kind} with {options}.";
    /// One line about how a trial was loaded.
    NOTE_LOAD_TRANSACTIONS [transactions, warmup, attempts] "A trial ends after {transactions} transactions of all clients together; warm-up {warmup}, at most {attempts} attempts per transaction.";
    /// One line about how a trial was loaded.
    NOTE_LOAD_PER_CLIENT [transactions, warmup, attempts] "A trial ends after {transactions} transactions of each client; warm-up {warmup}, at most {attempts} attempts per transaction.";
    /// One line about how a trial was loaded.
    NOTE_LOAD_ROWS [rows, warmup, attempts] "A trial ends when its table has {rows} rows; warm-up {warmup}, at most {attempts} attempts per transaction.";
    /// One line about how a trial was loaded.
    NOTE_LOAD_DURATION [duration, warmup, attempts] "A trial ends after {duration}; warm-up {warmup}, at most {attempts} attempts per transaction.";
    /// The run is still going on or was killed.
    NOTE_NO_END [] "The run has not written its end: it was killed, or is still going on.";
    /// A file could not be read.
    NOTE_UNREADABLE [what] "Not readable: {what}.";
    /// More files could not be read than are listed.
    NOTE_UNREADABLE_MORE [more] "There is more that could not be read ({more}); the Markdown and JSON reports list all of it.";
    /// A failed trial.
    NOTE_FAILED_TRIAL [trial, line, clients, reason] "Trial {trial} ({line}, {clients}) failed: {reason}";
    /// A failed system.
    NOTE_FAILED_SYSTEM [system, reason] "System {system} failed: {reason}";
    /// Missing trials.
    NOTE_MISSING [trials] "Never finished: {trials}.";
    /// Trials that ended before their time.
    NOTE_CUT [trials] "Ended before their time by the user or their system: {trials}; `dyno run --resume` measures them again.";
    /// Published figures.
    NOTE_PUBLISHED [source] "Published figures are from {source}; they were measured on other machines and show a shape, not a comparison.";
    /// Published values that were read off a chart.
    NOTE_APPROXIMATE [] "Values marked ~ were read off a chart or describe a trend.";
    /// Nothing at all was measured.
    NOTE_NOTHING [] "No trial was measured.";
    /// Path of the report, at the end of the text.
    NOTE_RESULTS_IN [path] "Results: {path}";
}
