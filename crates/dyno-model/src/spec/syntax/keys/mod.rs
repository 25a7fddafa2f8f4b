//! All keys of a spec with their types and ranges: the readers validate against them, and
//! docs/reference/spec.md is generated from them.

mod background;
mod launcher;
mod load;
mod report;
mod section;

pub use background::BACKGROUND;
pub use launcher::LAUNCHER;
pub use load::{FIND, LOAD, STAGE};
pub use report::{FAULT, LIMIT, PUBLISHED, REPORT, REVISION};

pub use section::{Key, Section, ValueType};

pub(in crate::spec) use section::{CLIENTS_MAX, RATES, RATES_IN_WORDS, WEIGHT_MAX};
use section::{key, typed_key};

/// Where a password comes from that no key names.
const OF_CLIENTS: &str = "that of the database's own clients";

/// All sections, in the order of a spec.
pub const SECTIONS: [&Section; 25] = [
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
    &LAUNCHER,
    &DESIGN,
    &FACTORS,
    &STORAGE,
    &ENDPOINT,
    &PROXY,
    &APPLICATION,
    &PROFILE,
    &BACKGROUND,
    &FAULT,
    &LIMIT,
    &PUBLISHED,
    &REPORT,
    &REVISION,
];

/// The top level of the file.
pub static TOP: Section = Section {
    heading: "",
    prefix: "",
    about: "The experiment.",
    keys: &[
        key("title", "string", "required").help("heading of the report"),
        key("description", "string", "none")
            .help("shown under the title: the question that the experiment answers"),
        key("system", "tables, `[[system]]`", "required")
            .help("the systems under test, one table each"),
        key("workload", "table", "required")
            .help("the workload of the clients; not required if a factor sets `workload.kind`"),
        key("load", "table", "required").help("how many clients, and for how long"),
        key("launcher", "table", "none").help("what starts load generators"),
        key("design", "table", "`blocks = 5`, `seed = 1`").help("repeats and random order"),
        key("factors", "table", "none").help("factors besides system and clients"),
        key("endpoint", "tables, `[[endpoint]]`", "none")
            .help("network paths to servers, for the factor `endpoint`"),
        key("storage", "tables, `[[storage]]`", "none")
            .help("folders for the data of servers, for the factor `storage`"),
        key("profile", "tables, `[profile.NAME]`", "none")
            .help("variants of this file, selected with `--profile NAME`"),
        key("background", "tables, `[[background]]`", "none").help("background workloads"),
        key("fault", "tables, `[[fault]]`", "none").help("faults that are injected during trials"),
        key("limit", "tables, `[[limit]]`", "none").help("limits that the results must meet"),
        key("published", "tables, `[[published]]`", "none")
            .help("published results, drawn next to the measured ones"),
        key("report", "table", "none").help("the first pages of a test report"),
    ],
};

/// One system under test.
pub static SYSTEM: Section = Section {
    heading: "[[system]]",
    prefix: "system.",
    about: "One system under test: an address (`url`), or a server that dyno starts in a scratch \
            folder and removes afterwards (`server`).",
    keys: &[
        key("name", "string, unique", "required").help("name in the report"),
        key(
            "url",
            "`mysql://USER@HOST:PORT/DATABASE`, `mariadb://`, `postgres://`, `postgresql://`, \
             `sqlite:FILE`, `null:`, `http://`, `https://`",
            "this, `url_env` or `server`",
        )
        .help(
            "an existing system; dyno masks a password in it when it stores the spec. \
             `?socket=FILE` for a unix socket, \
             `?sslmode=disable|prefer|require|verify-ca|verify-full&sslrootcert=FILE` for \
             encryption",
        ),
        key("url_env", "name of a variable", "this, `url` or `server`")
            .help("environment variable that holds the URL"),
        key("server", "table", "this, `url` or `url_env`").help("a server that dyno starts"),
        key("password_env", "name of a variable", OF_CLIENTS)
            .help("environment variable that holds the password of `url`"),
        key("password_file", "path", OF_CLIENTS)
            .help("file whose first line is the password of `url`"),
        key("password_command", "shell command", OF_CLIENTS).help(
            "prints the password of `url` as its first line, such as a token that expires; run in \
             dyno's working directory with its environment, for preflight, again for each trial \
             and at the end; it has 20 s",
        ),
        key("password_client", "`true` or `false`", "`false`").help(
            "the password of `url` is the entry for its host and user in the client programs' own \
             file: `PGPASSFILE` or `~/.pgpass`, `[client]` of `~/.my.cnf`",
        ),
        key("query_mode", "`prepared`, `simple` or `extended`", "`prepared`").help(
            "how statements are sent: prepared once, as text each time, or (PostgreSQL only) \
             parsed and bound each time",
        ),
        typed_key("connect_timeout", ValueType::Duration { is_positive: true }, "`10s`").help(
            "timeout for connecting and logging in; administrative queries may take three times as \
             long",
        ),
        key("data", "`own`, `existing` or `copy`", "`own`").help(
            "with `url`: dyno creates and drops its own tables, or uses existing ones (for example \
             from `sysbench prepare`), or works in a copy of the database, which it creates and \
             drops",
        ),
        key("monitor", "table", "none")
            .help("with `url`, for a remote server: monitoring of its machine and process"),
        key("hooks", "table", "none").help(
            "with `url`: commands that give the system settings, restart it, or start and stop it, \
             so that settings can be factors",
        ),
    ],
};

/// Monitoring of a server's machine.
pub static MONITOR: Section = Section {
    heading: "monitor",
    prefix: "system.monitor.",
    about: "The `monitor` table of a remote system, usually written inline: \
            `monitor = { command = \"ssh db.example sh\" }`.",
    keys: &[
        key("command", "shell command", "required").help(
            "runs a POSIX shell on the server's machine that reads its standard input; started \
             once per trial, holds no password",
        ),
        key("pid_file", "path without blanks", "detected")
            .help("file on that machine with the process ID of the server"),
    ],
};

/// The commands that apply settings to a system, and restart it or start and stop it.
pub static HOOKS: Section = Section {
    heading: "hooks",
    prefix: "system.hooks.",
    about: "The `hooks` table of an existing system: your own shell commands, run by dyno's user \
            in dyno's working directory. Their environment contains the system's name \
            (`DYNO_SYSTEM`), all settings of the levels (`DYNO_SETTINGS`, a line `name=value` \
            each), and each setting (`DYNO_SETTING_WORK_MEM`).",
    keys: &[
        key("apply", "shell command", "none").help(
            "applies the settings of a restart group to the system; at the end it restores the \
             original values",
        ),
        key("restart", "shell command", "none").help(
            "restarts the system; runs after `apply` at the beginning of each block and \
                   restart group",
        ),
        key("start", "shell command", "none").help(
            "instead of `restart`: starts the system, which must not run yet, after `apply` at the \
             beginning of each restart group. It must return once the server is starting, as \
             `docker run --detach` and `pg_ctl start` do",
        ),
        key("stop", "shell command", "none").help(
            "with `start`: stops the system at the end of its restart group, when the start fails, \
             and when dyno ends or is killed",
        ),
        typed_key("time_limit", ValueType::Duration { is_positive: true }, "`5m`")
            .help("timeout of each command, and of the wait for the server after them"),
    ],
};

/// A server that dyno starts.
pub static SERVER: Section = Section {
    heading: "server",
    prefix: "system.server.",
    about: "The `server` table of a system, usually written inline: \
            `server = { kind = \"mariadb\" }`.",
    keys: &[
        key(
            "kind",
            "`sqlite`, `mariadb`, `galera`, `mysql`, `ndb`, `postgres`, `postgres-replica` or \
             `null`",
            "required",
        )
        .help("product to start"),
        typed_key("nodes", ValueType::Integer(1..=9), "3 for `galera`, 2 for `ndb` and `postgres-replica`").help(
            "servers of a cluster (SQL nodes for `ndb`), all on this machine; clients are \
             distributed round-robin. With `postgres-replica`, one server is the primary, which \
             serves all clients until it fails",
        ),
        typed_key("data_nodes", ValueType::Integer(1..=8), "2 for `ndb`").help(
            "data nodes of `ndb`, a multiple of its setting `NoOfReplicas` (default 2)",
        ),
        key("synchronous", "true or false", "`false`").help(
            "with `postgres-replica`: a commit is acknowledged once a replica has received it \
             (`synchronous_standby_names = '*'` on the primary)",
        ),
        key("bin_dir", "path", "PATH and the usual folders").help("folder with the server's \
            programs"),
        key("scratch", "path", "the system's temporary folder")
            .help("folder for the scratch folder"),
        key("settings", "table of strings, numbers, true or false", "none").help(
            "the server's own settings (pragmas, for SQLite); applied, then read back. For `ndb`, \
             names that begin with a capital letter are parameters of the data nodes (`DataMemory`)",
        ),
    ],
};

/// The workload of the clients.
pub static WORKLOAD: Section = Section {
    heading: "[workload]",
    prefix: "workload.",
    about: "The workload of the clients. Every key besides `kind` is an option of that workload: \
            see `dyno workloads NAME`.",
    keys: &[
        key("kind", "name of a workload", "required")
            .help("the workload, unless a factor sets it; `dyno workloads` lists them"),
        key("request", "tables, `[[workload.request]]`", "required by `http`")
            .help("requests that the workload `http` sends"),
    ],
};

/// The requests of the workload `http`.
pub static REQUEST: Section = Section {
    heading: "[[workload.request]]",
    prefix: "workload.request.",
    about: "A request of the workload `http`. In `path`, `headers` and `body`, `${client}` is the \
            client's number, `${sequence}` that of its transaction, both from 1, `${key}` a key \
            drawn according to the workload's options, `${env:VARIABLE}` the value of an \
            environment variable, which is kept out of all results, and `$${` is a literal `${`.",
    keys: &[
        key("name", "string", "required").help("name of the transaction in the report"),
        key("method", "string", "`GET`")
            .help("method; GET and HEAD count as reads, all others as writes"),
        key("path", "string", "required")
            .help("path and query, appended to the path of the system's `url`"),
        key("headers", "table of strings", "none").help(
            "headers other than Host, Content-Length, Cookie and Connection, which dyno sets",
        ),
        key("body", "string", "none").help("request body"),
        typed_key("status", ValueType::IntegerOrList(200..=599), "200 to 299")
            .help("status codes that count as success"),
        key("body_holds", "string", "anything")
            .help("text that the response body must contain; otherwise the request failed"),
        typed_key("weight", ValueType::Integer(1..=1_000_000), "1").help("relative frequency"),
    ],
};

/// One of the user's own SQL scripts.
pub static SCRIPT: Section = Section {
    heading: "[[workload.scripts]]",
    prefix: "workload.scripts.",
    about: "A script of the workload `sql`, in the language of pgbench. \
            `scripts = [\"read.sql@8\", \"write.sql\"]` under `[workload]` is shorthand for files, \
            with the weight after `@`. Paths are relative to the spec.",
    keys: &[
        key("name", "string", "the file's name without its suffix")
            .help("name in the report; required with `sql`"),
        typed_key("weight", ValueType::Integer(1..=WEIGHT_MAX), "1").help("relative frequency"),
        typed_key("think", ValueType::Duration { is_positive: true }, "`load.think`")
            .help("closed loop: mean think time before it, exponentially distributed"),
        key("file", "path", "`file` or `sql`").help("path of the script, relative to the spec"),
        key("sql", "string", "`file` or `sql`").help("text of the script"),
    ],
};

/// Repeats and order.
pub static DESIGN: Section = Section {
    heading: "[design]",
    prefix: "design.",
    about: "Randomised complete blocks: each block runs every configuration once, in its own \
            random order.",
    keys: &[
        typed_key("blocks", ValueType::Integer(1..=1000), "5").help(
            "number of blocks, which is the number of repeats; or `\"auto\"`: at least three, \
             until the questions of the experiment are decided, are unlikely to be decided, or \
             `budget` is used up",
        ),
        typed_key("budget", ValueType::Duration { is_positive: true }, "required with `auto`").help(
            "with `blocks = \"auto\"`: maximum time of the run; the number of blocks is limited to \
             what is expected to fit, and to 50",
        ),
        typed_key("seed", ValueType::Integer(0..=i64::MAX), "1")
            .help("seed of run order, keys and data; the same seed gives the same run"),
        key("data", "`auto`, `load` or `restore`", "`auto`").help(
            "how servers started by dyno get fresh data: loaded for each start, or loaded once and \
             restored by copying the data folder; `auto` restores from 100,000 rows on",
        ),
        key("compare", "`system` or a factor", "systems and all factors").help(
            "the factor of interest: verdicts compare its levels only, and charts draw them as \
             curves",
        ),
        key("primary", "`throughput`, `mean-ms`, `p95-ms` or `p99-ms`", "by the load").help(
            "the metric that is tested first, at nearly the whole significance level of 5 %; \
             the others follow once it is decided. By default `throughput` in a closed loop and \
             `p95-ms` in an open one; not with `load.find`, which is compared by the load found",
        ),
        key("exclude", "list of tables", "none").help(
            "configurations to leave out: those that have all levels of a table, such as \
             `{ system = \"MySQL\", clients = 1000, \"workload.rows\" = [100, 1000] }`",
        ),
    ],
};

/// The factors.
pub static FACTORS: Section = Section {
    heading: "[factors]",
    prefix: "factors.",
    about: "Factors besides systems and clients: quoted paths with lists of levels. Every \
            combination is a configuration, unless `design.exclude` names it. Paths: \
            `\"workload.kind\"`, `\"workload.OPTION\"`, `\"load.KEY\"` (except clients), \
            `\"server.settings.NAME\"`, `\"system.SYSTEM.server.settings.NAME\"` (for one system), \
            `\"system.query_mode\"`, `\"background.NAME.clients\"`, `storage` (names of \
            `[[storage]]`) and `endpoint` (`tcp`, `socket` and names of `[[endpoint]]`). A factor \
            with any other name has named levels, each of which can set several paths: \
            `\"threads\" = [{ name = \"pool\", \"server.settings.thread_handling\" = \"pool-of-threads\" }, ...]`.",
    keys: &[],
};

/// A storage for a server's data.
pub static STORAGE: Section = Section {
    heading: "[[storage]]",
    prefix: "storage.",
    about: "A storage location for the data of servers that dyno starts, named by the factor \
            `storage`. Commands run in a shell in dyno's working directory, with `DYNO_STORAGE` \
            (the name), `DYNO_DATA` and `DYNO_LOG_FOLDER` (the folders) in their environment; \
            their output is kept in the results folder.",
    keys: &[
        key("name", "string, unique", "required").help("name in levels and in the report"),
        key("data", "path", "required").help("folder for the scratch folder of the server"),
        key("log", "path", "with the data")
            .help("folder for the transaction log: InnoDB's redo log, PostgreSQL's WAL"),
        key("before", "shell command", "none")
            .help("runs before each start of a server there; can create and mount the folders"),
        key("after", "shell command", "none").help(
            "runs after the server has stopped and its folder is removed, also when `before` \
             failed or dyno was killed",
        ),
        typed_key("time_limit", ValueType::Duration { is_positive: true }, "`10m`").help(
            "timeout of each \
            command",
        ),
    ],
};

/// A network path to a server.
pub static ENDPOINT: Section = Section {
    heading: "[[endpoint]]",
    prefix: "endpoint.",
    about: "A network path from the clients to a server, named by the factor `endpoint`. Two need \
            no table: `tcp` and `socket` of a server that dyno starts.",
    keys: &[
        key("name", "string, unique", "required").help("name in levels and in the report"),
        key("address", "`HOST:PORT` or the path of a unix socket", "one of the three")
            .help("another address of existing systems (`url`)"),
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
    about: "The `proxy` table of an endpoint, usually written inline: \
            `proxy = { kind = \"haproxy\" }`. It listens on a free port of 127.0.0.1, passes \
            connections on without looking into them, and ends with the server.",
    keys: &[
        key("kind", "`haproxy`", "required").help("product to start"),
        typed_key("threads", ValueType::Integer(1..=64), "the proxy's own default")
            .help("threads of the proxy"),
    ],
};

/// An application that dyno starts.
pub static APPLICATION: Section = Section {
    heading: "application",
    prefix: "endpoint.application.",
    about: "The `application` table of an endpoint, usually written inline: \
            `application = { kind = \"tomcat\", war = \"webapp.war\" }`. It listens on a free port \
            of 127.0.0.1, answers one request per command (see the [guide](../guide.md)), and ends \
            with the server. `examples/webapp` has one for MariaDB, MySQL and clusters of both.",
    keys: &[
        key("kind", "`tomcat`", "required").help("the application server"),
        key("war", "path", "required").help("the application's file"),
        typed_key("threads", ValueType::Integer(1..=10_000), "200").help("concurrent requests"),
        typed_key("connections", ValueType::Integer(1..=10_000), "50")
            .help("size of the connection pool"),
    ],
};

/// Profiles: variations of the file.
pub static PROFILE: Section = Section {
    heading: "[profile.NAME]",
    prefix: "profile.",
    about: "Changes to the file that `--profile NAME` applies: tables are merged key by key, \
            everything else is replaced; `[profile.NAME.system.SYSTEM]` changes keys of one \
            system. Takes every key of the file except `profile`. All profiles are checked, \
            whether or not they are selected.",
    keys: &[],
};
