//! Sections that say what reports make of the figures.

use super::section::{CLIENTS_MAX, Section, Takes, key, ranged};

/// What figures have to keep to.
pub static LIMIT: Section = Section {
    heading: "[[limit]]",
    prefix: "limit.",
    about: "What the figures of configurations have to keep to. The report says whether each limit was held, broken, or cannot be decided, and the exit code of \
            `dyno run` is 8 when one is broken and 9 when one is not decided. A run of fewer than three blocks compares the figures themselves; else, \
            with fewer than three valid trials of a configuration nothing is decided, but that it did not work, or lost data.",
    keys: &[
        key("throughput", "`\"> 5000/s\"`", "none").help("transactions per second, at least"),
        key("mean", "`\"< 20ms\"`", "none").help("mean response time, at most"),
        key("p50", "`\"< 20ms\"`", "none").help("median of the response times, at most"),
        key("p90", "`\"< 20ms\"`", "none").help("90th percentile of the response times, at most"),
        key("p95", "`\"< 20ms\"`", "none").help("95th percentile of the response times, at most"),
        key("p99", "`\"< 20ms\"`", "none").help("99th percentile of the response times, at most"),
        key("p99.9", "`\"< 20ms\"`", "none")
            .help("99.9th percentile of the response times, at most; TOML wants the key in quotes: `\"p99.9\" = \"< 20ms\"`"),
        key("max", "`\"< 1s\"`", "none").help("the longest response time of any trial, at most"),
        key("failed", "`\"< 0.1 %\"`", "none")
            .help("transactions that failed, of those that were started, at most"),
        key("lost", "`0`", "none").help("acknowledged work that the audit does not find"),
        key("where", "table", "all configurations").help(
            "configurations that have to keep it: those that have all levels of the table, such as `{ system = \
             \"MySQL\", clients = [1, 8] }`",
        ),
        key("stage", "name of a stage", "the whole trial")
            .help("the stage of `load.stages` that it is about, for all but `failed` and `lost`"),
        key("transaction", "name of a transaction", "all transactions")
            .help("the script, or the request, that it is about, for all but `lost`"),
        key("statement", "name of a kind of statements", "all transactions").help(
            "the statements that it is about, by the name that the report has for them, for all but \
             `throughput` and `lost`; `failed` is then the share of statements that the server refused",
        ),
        key("beside", "name of a workload", "the workload of the configuration")
            .help("the workload of `[[beside]]` that it is about"),
        key("abort", "true or false", "`false`")
            .help("end the run after the block in which it is found broken"),
    ],
};

/// Harm on purpose.
pub static FAULT: Section = Section {
    heading: "[[fault]]",
    prefix: "fault.",
    about: "Harm that is done to a system in every trial while it is measured. Each trial then gets a server of its own. Clients that lose their \
            connection try the next node until the end. The report says how long nothing was committed, when the throughput was back, and with the \
            option `ledger` of the workload which acknowledged commits are gone.",
    keys: &[
        ranged("at", Takes::Duration { is_positive: false }, "this or `after`")
            .help("when it comes, since measuring began"),
        ranged("after", Takes::Duration { is_positive: false }, "this or `at`")
            .help("when it comes, since the fault of the same system above it"),
        ranged("within", Takes::Duration { is_positive: false }, "`\"0s\"`").help(
            "it comes so much later at most: the moment is drawn anew in each trial; faults that follow by \
             `after` move with it",
        ),
        key("action", "`kill`, `stop`, `continue`, `start`, `restart`, `promote`, `disconnect`, `reconnect`, `fill-disk`, `free-disk` or `run`", "required").help(
            "kill: SIGKILL; stop and continue: SIGSTOP and SIGCONT, the node hangs; start: one that was \
             killed is started on what it left; restart: it is shut down in order and started; promote: a \
             replica becomes a primary; disconnect and reconnect: the way between clients and the node is \
             cut without a word, and mended, which needs `load.statement_timeout`; fill-disk and free-disk: \
             a storage that is a file system of its own runs full, and has room again; run: a command of \
             yours",
        ),
        key("node", "text", "the only one").help(
            "`node 2` of Galera; `primary` and `replica 1` of PostgreSQL with replicas; `SQL node 1`, `data \
             node 2` or `the management node` of NDB; all others are `server`",
        ),
        key("system", "name of a system", "all systems").help("the system that it is made on"),
        key("command", "text", "none").help(
            "with `run`: a shell command, of ten minutes at most; it is told what the commands under \
             `hooks` are told (`DYNO_SYSTEM`, `DYNO_SETTINGS`)",
        ),
    ],
};

/// Figures published elsewhere.
pub static PUBLISHED: Section = Section {
    heading: "[[published]]",
    prefix: "published.",
    about: "Figures published elsewhere, drawn beside the measured ones.",
    keys: &[
        key("source", "text", "required").help("where they stand, with machine and year"),
        key("series", "text", "required").help("name of the curve"),
        key("metric", "`throughput`, `mean-ms`, `p95-ms` or `p99-ms`", "required")
            .help("what the values are"),
        ranged("clients", Takes::Integers(1..=CLIENTS_MAX), "this or `rows`")
            .help("numbers of clients"),
        ranged("rows", Takes::Integers(1..=i64::MAX), "this or `clients`")
            .help("numbers of rows, beside a table that grows; values are rows per second"),
        ranged("values", Takes::NumbersFrom(0), "required")
            .help("one value per number of clients or rows"),
        key("approximate", "true or false", "`false`")
            .help("values were read off a chart or are a trend"),
        key("system", "name of a system", "all systems")
            .help("the system beside whose figures they are drawn"),
    ],
};

/// The first pages of a test report.
pub static REPORT: Section = Section {
    heading: "[report]",
    prefix: "report.",
    about: "What `dyno report --template test-report` says before its figures; the title is that of the spec.",
    keys: &[
        key("organisation", "text", "none").help("who issues the report"),
        key("author", "text", "none").help("who wrote it"),
        key("document", "text", "none").help("number or name of the document"),
        key("purpose", "text", "the description of the spec").help("what the report is for"),
        key("usage", "text", "a paragraph on tests, commands and figures")
            .help("how the report is to be used"),
        key("revision", "tables, `[[report.revision]]`", "none").help("versions of the document"),
    ],
};

/// A version of a test report.
pub static REVISION: Section = Section {
    heading: "[[report.revision]]",
    prefix: "report.revision.",
    about: "A line of the table of revisions, as it is written.",
    keys: &[
        key("version", "text", "required").help("number of the version"),
        key("date", "text", "required").help("when it was made"),
        key("author", "text", "none").help("who made it"),
        key("change", "text", "required").help("what changed"),
    ],
};
