//! Keys of `[load]` and of the tables in it.

use super::section::{CLIENTS_MAX, Section, Takes, key, ranged};

/// How many clients, and for how long.
pub static LOAD: Section = Section {
    heading: "[load]",
    prefix: "load.",
    about: "How many clients, and for how long. Exactly one of `transactions`, `transactions_per_client`, `rows`, \
            `duration` and `stages`; one given in a profile or with `--set` replaces the one of the file.",
    keys: &[
        ranged("clients", Takes::IntegerOrList(1..=CLIENTS_MAX), "required")
            .help("concurrent clients; a list gives one configuration each"),
        key("databases", "1 to 100, or a list of names", "`1`: that of the system").help(
            "clients are spread over so many databases of one server: client *i* works in database *i* \
             modulo their number, each of which has the workload's data and an audit for itself, and figures \
             of its own among the transactions. Of a number, they are called as the system's with `_1`, `_2` \
             and so on behind. PostgreSQL, MariaDB and MySQL; what is not there is made and dropped again",
        ),
        ranged("transactions", Takes::Integer(1..=i64::MAX), "one of five")
            .help("measure this many transactions of all clients together"),
        ranged("transactions_per_client", Takes::Integer(1..=i64::MAX), "one of five")
            .help("measure this many transactions of each client"),
        ranged("rows", Takes::Integer(1..=i64::MAX), "one of five").help(
            "measure until the table has so many rows, those loaded before included; for workloads whose \
             table grows, such as `mass-insert`",
        ),
        ranged("milestones", Takes::Integers(1..=i64::MAX), "ten equal steps")
            .help("with `rows`: numbers of rows at which the report compares, rising and at most `rows`"),
        ranged("duration", Takes::Duration { is_positive: true }, "one of five")
            .help("measure for this long"),
        ranged(
            "warmup",
            Takes::Duration { is_positive: false },
            "`0s` when transactions or rows are counted, else a tenth of `duration`, at most `5s`",
        )
        .help("unmeasured time before, with all clients working"),
        ranged("grace", Takes::Duration { is_positive: false }, "`5s`")
            .help("how long statements in flight may take when measuring ends; then they are cut off"),
        ranged(
            "time_limit",
            Takes::Duration { is_positive: true },
            "`10m` when transactions or rows are counted, else `duration`",
        )
        .help("end of measuring whatever else holds, against servers that hang"),
        ranged("workers", Takes::Integer(1..=1024), "measured, or chosen by clients and machine")
            .help("threads of the generator"),
        ranged("think", Takes::Duration { is_positive: true }, "none").help(
            "closed loop: how long each client waits on average before each transaction, as a user does who \
             reads an answer; drawn anew each time, exponential",
        ),
        ranged("statement_timeout", Takes::Duration { is_positive: true }, "none: as long as it takes").help(
            "how long a client waits for the answer to a statement or a request; then it fails with \
             `timeout`, and the client closes the connection and opens another, in a cluster to the next \
             node; not for `lua`",
        ),
        ranged("rate", Takes::Rate, "none: a closed loop").help(
            "open loop: so many transactions of all clients together arrive, whether or not the system keeps \
             up",
        ),
        key("overload", "true or false", "`false`").help(
            "with `rate`, or stages of one: more is to arrive than the system can do, so that a trial in \
             which it does less than 97 % of that is valid",
        ),
        key("spacing", "`poisson` or `even`", "`poisson`").help(
            "open loop: arrivals are independent of each other, as those of many users are, or come at equal \
             distances",
        ),
        key("stages", "tables, `[[load.stages]]`", "one of five")
            .help("measure stage after stage, each with its rate or its number of clients"),
        key("find", "table", "none").help(
            "each trial searches for the highest rate, or the most clients up to `clients`, at which a limit \
             is kept",
        ),
        ranged("attempts_max", Takes::Integer(1..=1000), "10")
            .help("most attempts per transaction; 1 means no retry"),
    ],
};

/// What is searched for.
pub static FIND: Section = Section {
    heading: "[load.find]",
    prefix: "load.find.",
    about: "How much can it take? Each trial searches for the highest load that keeps a limit. Load steps take between a tenth and half of `load.duration`, and longer \
            where they have too few transactions to decide; the load that is found is measured for `load.duration`, and its figures are the trial's. As one line: \
            `find = { most = \"rate\", while = \"p99 < 20ms\" }`.",
    keys: &[
        key("most", "`rate` or `clients`", "`rate`").help(
            "what is raised: transactions that arrive per second, or clients that each wait for an answer",
        ),
        key("while", "`MEASURE < FIGURE`, with `mean`, `p50`, `p90`, `p95`, `p99`, `p99.9` or `failed`", "required").help(
            "what has to stay below a limit: `\"p99 < 20ms\"`, `\"failed < 0.1 %\"`; and the system has to \
             keep up",
        ),
        key("transaction", "name of a transaction", "all").help("what the limit is about, instead of all transactions"),
        ranged("from", Takes::RateOrClients, "by a short measurement, 1 client").help(
            "the load of the first step; without it, a rate is searched for from what all clients do in a closed loop",
        ),
    ],
};

/// A stage of a load.
pub static STAGE: Section = Section {
    heading: "[[load.stages]]",
    prefix: "load.stages.",
    about: "A stage of a load that changes inside a trial. Each has a rate, or each a number of clients at work; `load.clients` is then the most \
            there may be, and the others wait. The warm-up has the load that the first stage begins with. The report has figures of each stage.",
    keys: &[
        key("name", "text, unique", "its number").help("name in the report"),
        ranged("duration", Takes::Duration { is_positive: true }, "required, but for a file")
            .help("how long it lasts; a file is stretched or squeezed to it"),
        ranged("rate", Takes::StageRate, "one of three").help(
            "open loop: transactions that arrive; of two, the rate goes in a straight line from one to the \
             other",
        ),
        ranged("clients", Takes::IntegerOrList(0..=CLIENTS_MAX), "one of three").help(
            "closed loop: clients at work; of two, their number goes in a straight line from one to the \
             other",
        ),
        key("file", "path, relative to the spec", "one of three").help(
            "CSV with the columns `seconds` and `rate` (transactions per second) or `clients`, such as a \
             recorded day; from one line to the next the load goes in a straight line",
        ),
    ],
};
