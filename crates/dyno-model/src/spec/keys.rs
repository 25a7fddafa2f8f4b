//! Every key of a spec in one place: the readers accept what stands here, within the ranges that
//! stand here, and docs/reference/spec.md is made from it.

mod beside;
mod load;
mod report;
mod section;

pub use beside::BESIDE;
pub use load::{FIND, LOAD, STAGE};
pub use report::{FAULT, LIMIT, PUBLISHED, REPORT, REVISION};

pub use section::{Key, Section, Takes};

pub(super) use section::{CLIENTS_MAX, RATES, RATES_IN_WORDS, WEIGHT_MAX};
use section::{key, ranged};

/// All sections, in the order a spec has them.
pub const SECTIONS: [&Section; 24] = [
    &TOP,
    &SYSTEM,
    &SERVER,
    &MONITOR,
    &HOOKS,
    &WORKLOAD,
    &REQUEST,
    &SCRIPT,
    &LOAD,
    &FIND,
    &STAGE,
    &DESIGN,
    &FACTORS,
    &STORAGE,
    &ENDPOINT,
    &PROXY,
    &APPLICATION,
    &PROFILE,
    &BESIDE,
    &FAULT,
    &LIMIT,
    &PUBLISHED,
    &REPORT,
    &REVISION,
];

/// The top of the file.
pub static TOP: Section = Section {
    heading: "",
    prefix: "",
    about: "What the experiment is.",
    keys: &[
        key("title", "text", "required").help("heading of the report"),
        key("description", "text", "none")
            .help("shown under the title: the question that the experiment answers"),
        key("system", "tables, `[[system]]`", "required")
            .help("the systems under test, one table each"),
        key("workload", "table", "required").help("what the clients do"),
        key("load", "table", "required").help("how many clients, and for how long"),
        key("design", "table", "`blocks = 5`, `seed = 1`").help("repeats and random order"),
        key("factors", "table", "none").help("what is varied besides system and clients"),
        key("endpoint", "tables, `[[endpoint]]`", "none")
            .help("ways to servers, which the factor `endpoint` names"),
        key("storage", "tables, `[[storage]]`", "none")
            .help("places for servers' data, which the factor `storage` names"),
        key("profile", "tables, `[profile.NAME]`", "none")
            .help("variations of this file, chosen with `--profile NAME`"),
        key("beside", "tables, `[[beside]]`", "none").help("workloads that run at the same time"),
        key("fault", "tables, `[[fault]]`", "none")
            .help("harm that is done to systems while they are measured"),
        key("limit", "tables, `[[limit]]`", "none").help("what figures have to keep to"),
        key("published", "tables, `[[published]]`", "none")
            .help("figures published elsewhere, drawn beside ours"),
        key("report", "table", "none").help("the first pages of a test report"),
    ],
};

/// One system under test.
pub static SYSTEM: Section = Section {
    heading: "[[system]]",
    prefix: "system.",
    about: "One system under test: an address (`url`), or a server that dyno starts in a scratch folder and removes \
            afterwards (`server`).",
    keys: &[
        key("name", "text, unique", "required").help("name in the report"),
        key(
            "url",
            "`mysql://USER@HOST:PORT/DATABASE`, `mariadb://`, `postgres://`, `sqlite:FILE`, `null:`",
            "this, `url_env` or `server`",
        )
        .help(
            "a system that runs already; a password in it is blacked out where the spec is stored. \
             `?socket=FILE` for a unix socket, \
             `?sslmode=disable|prefer|require|verify-ca|verify-full&sslrootcert=FILE` for encryption",
        ),
        key("url_env", "name of a variable", "this, `url` or `server`")
            .help("environment variable that holds the URL"),
        key("server", "table", "this, `url` or `url_env`").help("a server that dyno starts"),
        key("password_env", "name of a variable", "no password")
            .help("environment variable that holds the password of `url`"),
        key("password_file", "path", "no password").help("file whose first line is the password of `url`"),
        key("password_client", "`true` or `false`", "`false`").help(
            "the password of `url` is the entry for its host and user in the client programs' own file: \
             `PGPASSFILE` or `~/.pgpass`, `[client]` of `~/.my.cnf`",
        ),
        key("query_mode", "`prepared`, `simple` or `extended`", "`prepared`").help(
            "how statements travel: prepared once, as text each time, or (PostgreSQL only) parsed and bound \
             each time",
        ),
        ranged("connect_timeout", Takes::Duration { is_positive: true }, "`10s`").help(
            "limit for connecting and logging in; an answer beside the load may take three times as long",
        ),
        key("data", "`own`, `existing` or `copy`", "`own`").help(
            "with `url`: dyno makes and removes its tables, or uses those that are there (from `sysbench \
             prepare`, say), or works in a copy of the database, which it makes beside it and removes",
        ),
        key("monitor", "table", "none")
            .help("with `url`, for a server elsewhere: what tells of its machine and process"),
        key("hooks", "table", "none").help(
            "with `url`: commands that give the system settings, restart it, or start and stop it, so that \
             settings can be factors",
        ),
    ],
};

/// What tells of a server's machine.
pub static MONITOR: Section = Section {
    heading: "monitor",
    prefix: "system.monitor.",
    about: "The `monitor` table of a system that runs elsewhere, mostly written inline: \
            `monitor = { command = \"ssh db.example sh\" }`.",
    keys: &[
        key("command", "shell command", "required").help(
            "runs a POSIX shell on the server's machine that reads its standard input; started once per \
             trial, holds no password",
        ),
        key("pid_file", "path without blanks", "the process is found out")
            .help("file on that machine with the number of the server's process"),
    ],
};

/// What gives a system settings, and restarts it or starts and stops it.
pub static HOOKS: Section = Section {
    heading: "hooks",
    prefix: "system.hooks.",
    about: "The `hooks` table of a system that runs elsewhere: shell commands of yours, run by dyno's user in dyno's working folder. They are told the system's \
            name (`DYNO_SYSTEM`), all settings of the levels (`DYNO_SETTINGS`, a line `name=value` each), and each by itself (`DYNO_SETTING_WORK_MEM`).",
    keys: &[
        key("apply", "shell command", "none").help(
            "gives the system the settings of a restart group; at the end it is run once more with the values \
             that they had before",
        ),
        key("restart", "shell command", "none")
            .help("restarts the system; run behind `apply` at the beginning of each block and restart group"),
        key("start", "shell command", "none").help(
            "instead of `restart`: starts the system, which must not run yet, behind `apply` at the \
             beginning of each restart group. It must end when the server is on its way, as `docker run \
             --detach` and `pg_ctl start` do",
        ),
        key("stop", "shell command", "none").help(
            "with `start`: stops the system when its restart group is over, when the start fails, and when dyno \
             is ended or killed",
        ),
        ranged("time_limit", Takes::Duration { is_positive: true }, "`5m`")
            .help("how long each command, and the wait for an answer behind them, may take"),
    ],
};

/// A server that dyno starts.
pub static SERVER: Section = Section {
    heading: "server",
    prefix: "system.server.",
    about: "The `server` table of a system, mostly written inline: `server = { kind = \"mariadb\" }`.",
    keys: &[
        key(
            "kind",
            "`sqlite`, `mariadb`, `galera`, `mysql`, `ndb`, `postgres`, `postgres-replica` or `null`",
            "required",
        )
        .help("what to start"),
        ranged("nodes", Takes::Integer(1..=9), "3 for `galera`, 2 for `ndb` and `postgres-replica`").help(
            "servers of a cluster (of `ndb` its SQL nodes), all on this machine; clients are spread over \
             them in turn. Of `postgres-replica` one is the primary, which has all clients until it is lost",
        ),
        ranged("data_nodes", Takes::Integer(1..=8), "2 for `ndb`").help(
            "nodes of `ndb` that hold the data, a multiple of its setting `NoOfReplicas` (2, if not given)",
        ),
        key("synchronous", "true or false", "`false`").help(
            "of `postgres-replica`: a commit is acknowledged when a replica has it \
             (`synchronous_standby_names = '*'` on the primary)",
        ),
        key("bin_dir", "path", "PATH and the usual folders").help("folder with the server's programs"),
        key("scratch", "path", "the system's temporary folder")
            .help("folder in which the scratch folder is made"),
        key("settings", "table of texts, numbers, true or false", "none").help(
            "the server's own settings (pragmas, for SQLite); applied, then read back. For `ndb`, names that \
             begin with a capital letter are parameters of the data nodes (`DataMemory`)",
        ),
    ],
};

/// What the clients do.
pub static WORKLOAD: Section = Section {
    heading: "[workload]",
    prefix: "workload.",
    about: "What the clients do. Every key besides `kind` is an option of that workload: see `dyno workloads NAME`.",
    keys: &[
        key("kind", "name of a workload", "required")
            .help("which workload, unless a factor says it; `dyno workloads` lists them"),
        key("request", "tables, `[[workload.request]]`", "required by `http`")
            .help("what the workload `http` sends"),
    ],
};

/// What the workload `http` sends.
pub static REQUEST: Section = Section {
    heading: "[[workload.request]]",
    prefix: "workload.request.",
    about: "A request of the workload `http`. In `path`, `headers` and `body`, `${client}` is the client's number, `${sequence}` that of its \
            transaction, both from 1, `${key}` a key that is drawn by the workload's options, `${env:VARIABLE}` the value of a variable \
            of the environment, which is kept out of all results, and `$${` stands for `${`.",
    keys: &[
        key("name", "text", "required").help("what its response times are reported as"),
        key("method", "text", "`GET`")
            .help("method; what GET and HEAD do counts as reading, everything else as writing"),
        key("path", "text", "required")
            .help("path and query, behind the path of the system's `url`"),
        key("headers", "table of texts", "none")
            .help("headers besides Host, Content-Length, Cookie and Connection, which dyno writes"),
        key("body", "text", "none").help("what is sent behind the headers"),
        ranged("status", Takes::IntegerOrList(200..=599), "200 to 299")
            .help("statuses that are no failure"),
        key("body_holds", "text", "anything")
            .help("text that the answer's body must hold; else it is a failure"),
        ranged("weight", Takes::Integer(1..=1_000_000), "1")
            .help("how often it is sent, beside the others"),
    ],
};

/// A script of SQL of one's own.
pub static SCRIPT: Section = Section {
    heading: "[[workload.scripts]]",
    prefix: "workload.scripts.",
    about: "A script of the workload `sql`, in the language of pgbench. `scripts = [\"read.sql@8\", \"write.sql\"]` under `[workload]` is a \
            shorter way to write the same for files: behind `@` stands the weight. Files are looked for beside the spec.",
    keys: &[
        key("name", "text", "the file's name without its ending")
            .help("what it is called in reports; required with `sql`"),
        ranged("weight", Takes::Integer(1..=WEIGHT_MAX), "1")
            .help("share among all weights with which it is chosen"),
        ranged("think", Takes::Duration { is_positive: true }, "`load.think`").help(
            "closed loop: how long a client waits on average before it; drawn anew each time, exponential",
        ),
        key("file", "path", "`file` or `sql`").help("where its text is, relative to the spec"),
        key("sql", "text", "`file` or `sql`").help("its text"),
    ],
};

/// Repeats and order.
pub static DESIGN: Section = Section {
    heading: "[design]",
    prefix: "design.",
    about: "Randomised complete blocks: each block runs every configuration once, in a random order of its own.",
    keys: &[
        ranged("blocks", Takes::Integer(1..=1000), "5").help(
            "number of blocks, which is the number of repeats; or `\"auto\"`: three or more, until the \
             questions of the experiment are decided, deciding them has become hopeless, or `budget` is \
             spent",
        ),
        ranged("budget", Takes::Duration { is_positive: true }, "required with `auto`").help(
            "with `blocks = \"auto\"`: machine time that the run may take; it allows at most as many blocks \
             as will probably fit in, 50 at the very most",
        ),
        ranged("seed", Takes::Integer(0..=i64::MAX), "1")
            .help("seed of run order, keys and data; the same seed gives the same run"),
        key("data", "`auto`, `load` or `restore`", "`auto`").help(
            "how servers that dyno starts get fresh data: loaded for each start, or loaded once and restored \
             by copying the data folder; `auto` restores from 100,000 rows on",
        ),
        key("compare", "`system` or a factor", "systems and all factors").help(
            "what the experiment asks about: verdicts are given along it only, and charts draw it as curves",
        ),
        key("primary", "`throughput`, `mean-ms`, `p95-ms` or `p99-ms`", "by the load").help(
            "the metric that is tested first, with nearly all of the 5 % risk of a false verdict; the others follow when it was decided. By default `throughput` in a closed loop and `p95-ms` in an \
             open one; not with `load.find`, which is compared by the load found",
        ),
        key("exclude", "list of tables", "none").help(
            "configurations to leave out: those that have all levels of a table, such as `{ system = \"MySQL\", \
             clients = 1000, \"workload.rows\" = [100, 1000] }`",
        ),
    ],
};

/// What is varied.
pub static FACTORS: Section = Section {
    heading: "[factors]",
    prefix: "factors.",
    about: "What is varied besides systems and clients: quoted paths with lists of levels. Every combination is a \
            configuration, unless `design.exclude` names it. Paths: `\"workload.kind\"`, `\"workload.OPTION\"`, \
            `\"load.KEY\"` (except clients), `\"server.settings.NAME\"`, `\"system.SYSTEM.server.settings.NAME\"` (of one system only), \
            `\"system.query_mode\"`, `\"beside.NAME.clients\"`, `storage` (names of `[[storage]]`) and `endpoint` (`tcp`, `socket` and names of \
            `[[endpoint]]`). A factor of any other name takes levels with names, each of which may set several \
            paths: `\"threads\" = [{ name = \"pool\", \"server.settings.thread_handling\" = \"pool-of-threads\" }, ...]`.",
    keys: &[],
};

/// A place for a server's data.
pub static STORAGE: Section = Section {
    heading: "[[storage]]",
    prefix: "storage.",
    about: "A place for the data of servers that dyno starts, named by the factor `storage`. Commands run in a shell in dyno's \
            working folder, with `DYNO_STORAGE` (the name), `DYNO_DATA` and `DYNO_LOG` (the folders) in their environment; \
            their output is kept in the results folder.",
    keys: &[
        key("name", "text, unique", "required").help("name in levels and in the report"),
        key("data", "path", "required").help("folder in which the server's scratch folder is made"),
        key("log", "path", "with the data")
            .help("folder for the transaction log: InnoDB's redo log, PostgreSQL's WAL"),
        key("before", "shell command", "none")
            .help("run before each start of a server there; may make and mount the folders"),
        key("after", "shell command", "none").help(
            "run after the server has stopped and its folder is gone, also when `before` failed or dyno was \
             killed",
        ),
        ranged("time_limit", Takes::Duration { is_positive: true }, "`10m`")
            .help("how long each command may take"),
    ],
};

/// A way to a server.
pub static ENDPOINT: Section = Section {
    heading: "[[endpoint]]",
    prefix: "endpoint.",
    about: "A way from the clients to a server, named by the factor `endpoint`. Two need no table: `tcp` and `socket` of a \
            server that dyno starts.",
    keys: &[
        key("name", "text, unique", "required").help("name in levels and in the report"),
        key("address", "`HOST:PORT` or the path of a unix socket", "one of the three")
            .help("another address of systems that run already (`url`)"),
        key("proxy", "table", "one of the three")
            .help("a proxy that dyno starts in front of the server"),
        key("application", "table", "one of the three").help(
            "a web application that dyno starts in front of the server, for the workload `crud`",
        ),
    ],
};

/// A proxy that dyno starts.
pub static PROXY: Section = Section {
    heading: "proxy",
    prefix: "endpoint.proxy.",
    about: "The `proxy` table of an endpoint, mostly written inline: `proxy = { kind = \"haproxy\" }`. It listens on a free \
            port of 127.0.0.1, passes connections on without looking into them, and ends with the server.",
    keys: &[
        key("kind", "`haproxy`", "required").help("what to start"),
        ranged("threads", Takes::Integer(1..=64), "the proxy's own default")
            .help("threads of the proxy"),
    ],
};

/// An application that dyno starts.
pub static APPLICATION: Section = Section {
    heading: "application",
    prefix: "endpoint.application.",
    about: "The `application` table of an endpoint, mostly written inline: `application = { kind = \"tomcat\", war = \"webapp.war\" }`. It \
            listens on a free port of 127.0.0.1, answers one request per command (see the [guide](../guide.md)), and ends with the \
            server. `examples/webapp` has one for MariaDB, MySQL and clusters of both.",
    keys: &[
        key("kind", "`tomcat`", "required").help("the application server"),
        key("war", "path", "required").help("the application's file"),
        ranged("threads", Takes::Integer(1..=10_000), "200")
            .help("requests that are answered at the same time"),
        ranged("connections", Takes::Integer(1..=10_000), "50")
            .help("connections to the database that the application keeps open"),
    ],
};

/// Variations of the file.
pub static PROFILE: Section = Section {
    heading: "[profile.NAME]",
    prefix: "profile.",
    about: "Laid over the file by `--profile NAME`: tables are merged key by key, everything else is replaced; \
            `[profile.NAME.system.SYSTEM]` changes keys of one system. Takes every key of the file except `profile`. All profiles are checked, chosen or not.",
    keys: &[],
};
