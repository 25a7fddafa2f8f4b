//! Keys of sections that affect reports: limits, faults, published figures, first pages.

use super::section::{CLIENTS_MAX, Section, ValueType, key, typed_key};

/// Limits on figures.
pub static LIMIT: Section = Section {
    heading: "[[limit]]",
    prefix: "limit.",
    about: "A limit that configurations must meet. The report shows whether each limit passed, \
            failed or is undecided, and the exit code of `dyno run` is 8 if a limit failed and 9 \
            if one is undecided. A run with fewer than three blocks compares the values without a \
            statistical test; otherwise, with a single valid trial of a configuration, \
            only failed trials and lost data are decided.",
    keys: &[
        key("throughput", "`\"> 5000/s\"`", "none").help("minimum transactions per second"),
        key("mean", "`\"< 20ms\"`", "none").help("maximum mean response time"),
        key("p50", "`\"< 20ms\"`", "none").help("maximum median response time"),
        key("p90", "`\"< 20ms\"`", "none").help("maximum p90 response time"),
        key("p95", "`\"< 20ms\"`", "none").help("maximum p95 response time"),
        key("p99", "`\"< 20ms\"`", "none").help("maximum p99 response time"),
        key("p99.9", "`\"< 20ms\"`", "none").help(
            "maximum p99.9 response time; in TOML, the key needs quotes: \
                   `\"p99.9\" = \"< 20ms\"`",
        ),
        key("max", "`\"< 1s\"`", "none").help("limit on the longest response time of all trials"),
        key("failed", "`\"< 0.1 %\"`", "none")
            .help("maximum share of started transactions that failed"),
        key("lost", "`0`", "none").help("acknowledged commits that the data audit does not find"),
        key("where", "table", "all configurations").help(
            "configurations that the limit applies to: those that have all levels of the table, \
             such as `{ system = \"MySQL\", clients = [1, 8] }`",
        ),
        key("stage", "name of a stage", "the whole trial")
            .help("stage of `load.stages` that it applies to, for all but `failed` and `lost`"),
        key("transaction", "name of a transaction", "all transactions")
            .help("script or request that it applies to, for all but `lost`"),
        key("statement", "name of a kind of statements", "all transactions").help(
            "statements that it applies to, by their name in the report, for all but `throughput` \
             and `lost`; `failed` is then the share of statements that the server refused",
        ),
        key("background", "name of a workload", "the workload of the configuration")
            .help("workload of `[[background]]` that it applies to"),
        key("abort", "true or false", "`false`")
            .help("stop the run after the block in which it fails"),
    ],
};

/// Injected faults.
pub static FAULT: Section = Section {
    heading: "[[fault]]",
    prefix: "fault.",
    about: "A fault that is injected into a system in every trial. Each trial then gets its own \
            server. Clients that lose their connection try the next node until the end. The report \
            shows the write outage, the time to recover, and, with the option `ledger` of the \
            workload, the lost commits.",
    keys: &[
        typed_key("at", ValueType::Duration { is_positive: false }, "this or `after`")
            .help("time since the start of the measurement"),
        typed_key("after", ValueType::Duration { is_positive: false }, "this or `at`")
            .help("time since the previous fault of the same system"),
        typed_key("within", ValueType::Duration { is_positive: false }, "`\"0s\"`").help(
            "maximum random delay, drawn in each trial; faults that follow by \
             `after` move with it",
        ),
        key(
            "action",
            "`kill`, `stop`, `continue`, `start`, `restart`, `promote`, `disconnect`, \
                       `reconnect`, `fill-disk`, `free-disk` or `run`",
            "required",
        )
        .help(
            "kill: SIGKILL; stop and continue: SIGSTOP and SIGCONT, the node hangs; start: a \
             killed node starts on its remaining data; restart: a graceful shutdown and a start; \
             promote: a replica becomes a primary; disconnect and reconnect: the network path \
             between clients and the node is cut silently and restored, which needs \
             `load.statement_timeout`; fill-disk and free-disk: a storage on a separate file \
             system becomes full and is freed; run: your own command",
        ),
        key("node", "string", "the only one").help(
            "`node 2` of Galera; `primary` and `replica 1` of PostgreSQL with replicas; \
             `SQL node 1`, `data node 2` or `the management node` of NDB; all others are `server`",
        ),
        key("system", "name of a system", "all systems").help("system that the fault applies to"),
        key("command", "string", "none").help(
            "with `run`: a shell command, with a time limit of ten minutes; its environment is \
             that of the commands under `hooks` (`DYNO_SYSTEM`, `DYNO_SETTINGS`)",
        ),
    ],
};

/// Figures published elsewhere.
pub static PUBLISHED: Section = Section {
    heading: "[[published]]",
    prefix: "published.",
    about: "Published results, drawn next to the measured ones.",
    keys: &[
        key("source", "string", "required").help("source, with machine and year"),
        key("series", "string", "required").help("name of the curve"),
        key("metric", "`throughput`, `mean-ms`, `p95-ms` or `p99-ms`", "required")
            .help("metric of the values"),
        typed_key("clients", ValueType::Integers(1..=CLIENTS_MAX), "this or `rows`")
            .help("numbers of clients"),
        typed_key("rows", ValueType::Integers(1..=i64::MAX), "this or `clients`")
            .help("numbers of rows, for a growing table; values are rows per second"),
        typed_key("values", ValueType::NumbersFrom(0), "required")
            .help("one value per number of clients or rows"),
        key("approximate", "true or false", "`false`")
            .help("values were read from a chart or describe a trend"),
        key("system", "name of a system", "all systems")
            .help("system next to whose results they are drawn"),
    ],
};

/// The first pages of a test report.
pub static REPORT: Section = Section {
    heading: "[report]",
    prefix: "report.",
    about: "Front matter of `dyno report --template test-report`; the title is that of the spec.",
    keys: &[
        key("organisation", "string", "none").help("who issues the report"),
        key("author", "string", "none").help("who wrote it"),
        key("document", "string", "none").help("number or name of the document"),
        key("purpose", "string", "the description of the spec").help("what the report is for"),
        key("usage", "string", "a paragraph on tests, commands and results")
            .help("how to use the report"),
        key("revision", "tables, `[[report.revision]]`", "none").help("versions of the document"),
    ],
};

/// A version of a test report.
pub static REVISION: Section = Section {
    heading: "[[report.revision]]",
    prefix: "report.revision.",
    about: "A line of the table of revisions, copied as it is.",
    keys: &[
        key("version", "string", "required").help("number of the version"),
        key("date", "string", "required").help("date of the version"),
        key("author", "string", "none").help("author of the version"),
        key("change", "string", "required").help("what changed"),
    ],
};
