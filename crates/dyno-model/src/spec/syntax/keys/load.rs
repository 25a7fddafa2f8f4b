//! Keys of `[load]` and of its subtables.

use super::section::{CLIENTS_MAX, Section, ValueType, key, typed_key};

/// Number of clients, arrivals, and length of trials.
pub static LOAD: Section = Section {
    heading: "[load]",
    prefix: "load.",
    about: "How many clients, and for how long. Exactly one of `transactions`, \
            `transactions_per_client`, `rows`, `duration` and `stages`; one in a profile or with \
            `--set` replaces that of the file.",
    keys: &[
        typed_key("clients", ValueType::IntegerOrList(1..=CLIENTS_MAX), "required")
            .help("concurrent clients; a list gives one configuration each"),
        key("databases", "1 to 100, or a list of names", "`1`: that of the system").help(
            "number or names of databases on one server: client *i* works in database *i* modulo \
             their number. Each database has the workload's data, a separate audit and separate \
             results. With a number, they are named after the system's database, with `_1`, `_2` \
             and so on appended. PostgreSQL, MariaDB and MySQL; dyno creates missing databases, \
             and drops them again",
        ),
        typed_key("transactions", ValueType::Integer(1..=i64::MAX), "one of five")
            .help("measure this many transactions in total"),
        typed_key("transactions_per_client", ValueType::Integer(1..=i64::MAX), "one of five")
            .help("measure this many transactions per client"),
        typed_key("rows", ValueType::Integer(1..=i64::MAX), "one of five").help(
            "measure until the table has this many rows, including those loaded before; for \
             workloads whose table grows, such as `mass-insert`",
        ),
        typed_key("milestones", ValueType::Integers(1..=i64::MAX), "ten equal steps").help(
            "with `rows`: numbers of rows at which the report compares, rising and at most \
                   `rows`",
        ),
        typed_key("duration", ValueType::Duration { is_positive: true }, "one of five")
            .help("measure for this long"),
        typed_key(
            "warmup",
            ValueType::Duration { is_positive: false },
            "`0s` when transactions or rows are counted, else a tenth of `duration`, at most `5s`",
        )
        .help("time that the load runs before the measurement; not in the figures, but in the timeline"),
        typed_key("grace", ValueType::Duration { is_positive: false }, "`5s`").help(
            "time that transactions in flight get at the end of the measurement before they \
                   are cancelled",
        ),
        typed_key(
            "time_limit",
            ValueType::Duration { is_positive: true },
            "`10m` when transactions or rows are counted, else `duration`",
        )
        .help("maximum duration of the measurement, in case the server hangs"),
        typed_key(
            "workers",
            ValueType::Integer(1..=1024),
            "measured, or derived from clients and machine",
        )
        .help("threads of the load generator"),
        typed_key("generators", ValueType::Integer(1..=10_000), "none: this process").help(
            "processes that drive the clients, started by `[launcher]`; client *i* is driven by \
             generator *i* modulo their number, and does the same whatever their number",
        ),
        typed_key("think", ValueType::Duration { is_positive: true }, "none").help(
            "closed loop: mean think time of each client before each transaction, exponentially \
             distributed",
        ),
        typed_key("statement_timeout", ValueType::Duration { is_positive: true }, "none").help(
            "timeout of a statement or request; then it fails with `timeout`, and the client \
             closes the connection and opens another, in a cluster to the next node; not for `lua`",
        ),
        typed_key("rate", ValueType::Rate, "none: a closed loop").help(
            "open loop: arrival rate over all clients, whether or not the system keeps \
             up",
        ),
        key("overload", "true or false", "`false`").help(
            "with `rate` or stages with a rate: the overload is intended, so a trial that \
             completes less than 97 % of the arrivals is valid",
        ),
        key("spacing", "`poisson` or `even`", "`poisson`").help(
            "open loop: independent arrivals (a Poisson process, as from many users), or evenly \
             spaced ones",
        ),
        key("stages", "tables, `[[load.stages]]`", "one of five")
            .help("measure in stages, each with a rate or a number of clients"),
        key("find", "table", "none").help(
            "saturation search: each trial finds the highest rate, or number of clients up to \
             `clients`, that meets a limit",
        ),
        typed_key("attempts_max", ValueType::Integer(1..=1000), "10")
            .help("maximum attempts per transaction; 1 means no retry"),
    ],
};

/// The search.
pub static FIND: Section = Section {
    heading: "[load.find]",
    prefix: "load.find.",
    about: "Saturation search: each trial finds the highest load that meets a limit. Load steps \
            take between a tenth and half of `load.duration`, and longer where they have too few \
            transactions to decide; the load that is found is measured for `load.duration`, and \
            its results are the trial's. As one line: \
            `find = { most = \"rate\", while = \"p99 < 20ms\" }`.",
    keys: &[
        key("most", "`rate` or `clients`", "`rate`").help(
            "what to increase: the arrival rate (open loop), or the number of clients (closed loop)",
        ),
        key("while", "`MEASURE < FIGURE`, with `mean`, `p50`, `p90`, `p95`, `p99`, `p99.9` or \
                      `failed`", "required").help(
            "the limit that loads must meet: `\"p99 < 20ms\"`, `\"failed < 0.1 %\"`; in addition, \
             the system must keep up",
        ),
        key("transaction", "name of a transaction", "all").help("transaction that the limit \
            applies to"),
        typed_key("from", ValueType::RateOrClients, "by a short measurement, 1 client").help(
            "the load of the first step; without it, a search for a rate starts from the \
             throughput of all clients in a closed loop",
        ),
    ],
};

/// A stage of a load.
pub static STAGE: Section = Section {
    heading: "[[load.stages]]",
    prefix: "load.stages.",
    about: "A stage of a load that changes during a trial. All stages have a rate, or all have a \
            number of active clients; `load.clients` is then the maximum. The warm-up has the \
            initial load of the first stage. The report has results for each stage.",
    keys: &[
        key("name", "string, unique", "its number").help("name in the report"),
        typed_key(
            "duration",
            ValueType::Duration { is_positive: true },
            "required, except for a file",
        )
        .help("duration of the stage; the profile in a file is scaled to it"),
        typed_key("rate", ValueType::StageRate, "one of three")
            .help("open loop: arrival rate; a list of two values is a linear ramp"),
        typed_key("clients", ValueType::IntegerOrList(0..=CLIENTS_MAX), "one of three")
            .help("closed loop: active clients; a list of two values is a linear ramp"),
        key("file", "path, relative to the spec", "one of three").help(
            "CSV with the columns `seconds` and `rate` (transactions per second) or `clients`, \
             such as a recorded day; the load is interpolated linearly",
        ),
    ],
};
