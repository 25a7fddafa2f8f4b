//! Tests of single mistakes: the expected message, and no other error.

use super::{GOOD, errors};

/// Each row: text in [`GOOD`], its replacement, and the only resulting error.
const MISTAKES: &[(&str, &str, &str)] = &[
    // Keys.
    (
        "title =",
        "titel =",
        "2:1: unknown key `titel` at the top of the file [did you mean `title`?]",
    ),
    (
        "title = \"A rush\"",
        "",
        "1:1: missing key `title` at the top of the file [add a first line such as \
         `title = \"What this experiment shows\"`]",
    ),
    ("title = \"A rush\"", "title = 5", "2:9: `title` must be a string, not an integer"),
    (
        "title = \"A rush\"",
        "title = \" \"",
        "2:9: `title` must not be empty [add a first line such as \
         `title = \"What this experiment shows\"`]",
    ),
    (
        "[load]",
        "[load]\nthinking = \"1s\"",
        "17:1: unknown key `thinking` in [load] [did you mean `think`?]",
    ),
    (
        "\"mysql://bench@db/bench\"",
        "\"shop.db\"",
        "10:8: `url`: this is not an address: the scheme is missing [write `sqlite:shop.db`]",
    ),
    ("[load]", "[lod]", "16:2: unknown key `lod` at the top of the file [did you mean `load`?]"),
    // Systems.
    (
        "name = \"far\"",
        "name = \"WAL\"",
        "9:8: two systems are called `WAL` [give each system a unique name]",
    ),
    (
        "name = \"far\"",
        "",
        "8:1: missing key `name` in [[system]] [add for example `name = \"MariaDB\"`]",
    ),
    (
        "name = \"far\"",
        "name = \"a\\nb\"",
        "9:8: a system's name must be one line of at most 60 characters, without leading or \
         trailing blanks",
    ),
    (
        "kind = \"sqlite\"",
        "kind = \"sqllite\"",
        "6:19: `system.server.kind` cannot be `sqllite` [did you mean `sqlite`?]",
    ),
    ("kind = \"sqlite\"", "kind = \"oracle\"", "6:19: `system.server.kind` cannot be `oracle`"),
    (
        "\"WAL\", cache_size",
        "[1], cache_size",
        "6:57: `system.server.settings.journal_mode` must be a string, a number, true or false, not a list",
    ),
    (
        "url = \"mysql:",
        "url = \"mysqll:",
        "10:8: `url`: unknown scheme `mysqll` [did you mean `mysql`?]",
    ),
    (
        "bench@db/bench",
        "bench@db:x/bench",
        "10:25: `url`: `x` is not a port [a port is a number between 1 and 65535]",
    ),
    (
        "url = \"mysql://bench@db/bench\"",
        "query_mode = \"simple\"",
        "8:1: the system has neither `url` nor `server` \
         [`url = \"mysql://user@host:3306/database\"` measures an existing system, \
         `server = { kind = \"mariadb\" }` lets dyno start one]",
    ),
    (
        "password_env = \"BENCH_PASSWORD\"",
        "server = { kind = \"mysql\" }",
        "11:10: the system has both `url` and `server` [remove one: either the system exists \
         already, or dyno starts it]",
    ),
    (
        "password_env = \"BENCH_PASSWORD\"",
        "query_mode = \"extended\"",
        "11:14: query mode `extended` exists for PostgreSQL only, not for `far` [use `prepared` or \
         `simple`]",
    ),
    (
        "password_env = \"BENCH_PASSWORD\"",
        "connect_timeout = \"0s\"",
        "11:19: `system.connect_timeout` must be more than 0, got `0s` [write a number and a unit: `\"500ms\"`, `\"30s\"`, `\"5m\"`, `\"1h\"`]",
    ),
    (
        "\"mysql://bench@db/bench\"",
        "\"sqlite:x.db\"",
        "11:1: `password_env` has no effect here: `sqlite` does not use passwords [remove it]",
    ),
    (
        "password_env = \"BENCH_PASSWORD\"",
        "data = \"exsiting\"",
        "11:8: `system.data` cannot be `exsiting` [did you mean `existing`?]",
    ),
    (
        "server = {",
        "data = \"existing\"\nserver = {",
        "6:8: `data` requires `url`: servers that dyno starts are empty [remove it]",
    ),
    // Workload.
    ("kind = \"rush\"", "kind = \"rsuh\"", "14:8: unknown workload `rsuh` [did you mean `rush`?]"),
    (
        "kind = \"rush\"",
        "kind = \"tpcc\"",
        "14:8: unknown workload `tpcc` [workloads: `rush`, `mass-insert`, `oltp_read_write`]",
    ),
    (
        "kind = \"rush\"",
        "rows = 5",
        "13:1: missing key `kind` in [workload] [add for example `kind = \"rush\"`; workloads: `rush`, `mass-insert`, `oltp_read_write`]",
    ),
    (
        "kind = \"rush\"",
        "kind = \"rush\"\nrowz = 5",
        "15:1: workload `rush` has no option `rowz` [did you mean `rows`?]",
    ),
    (
        "kind = \"rush\"",
        "kind = \"rush\"\ntable_size = 5",
        "15:1: workload `rush` has no option `table_size` [its options: `rows`, `variant`; `dyno workloads rush` explains them]",
    ),
    (
        "kind = \"rush\"",
        "kind = \"rush\"\nrows = \"5\"",
        "15:8: `workload.rows` must be an integer, not a string [remove the quotes]",
    ),
    (
        "kind = \"rush\"",
        "kind = \"rush\"\nrows = 1.5",
        "15:8: `workload.rows` must be an integer, not a number with a fraction",
    ),
    (
        "kind = \"rush\"",
        "kind = \"rush\"\nrows = -1",
        "15:8: `workload.rows` must be between 1 and 1000000, got -1",
    ),
    (
        "kind = \"rush\"",
        "kind = \"rush\"\nvariant = \"inplace\"",
        "15:11: `workload.variant` cannot be `inplace` [did you mean `in-place`?]",
    ),
    (
        "kind = \"rush\"",
        "kind = \"oltp_read_write\"\nskip_trx = 1",
        "15:12: `workload.skip_trx` must be true or false, not an integer",
    ),
    (
        "kind = \"rush\"",
        "kind = \"oltp_read_write\"\nzipfian_exponent = 9",
        "15:20: `workload.zipfian_exponent` must be between 0 and 5, got 9",
    ),
    (
        "kind = \"rush\"",
        "kind = \"oltp_read_write\"\npad_bytes = \"4X\"",
        "15:13: `workload.pad_bytes` cannot be `4X` [write bytes as a number, or with a unit: `\"64K\"`, `\"8M\"`, `\"4G\"`]",
    ),
    // Load.
    (
        "clients = [1, 8]",
        "clients = []",
        "17:11: `load.clients` is an empty list [write for example `clients = [1, 8, 64]`]",
    ),
    (
        "clients = [1, 8]",
        "clients = [1, 0]",
        "17:15: `load.clients` must be between 1 and 1000000, got 0",
    ),
    (
        "clients = [1, 8]",
        "clients = -4",
        "17:11: `load.clients` must be between 1 and 1000000, got -4",
    ),
    (
        "clients = [1, 8]",
        "clients = [1, 8, 8]",
        "17:18: `load.clients` contains 8 twice [remove one; `design.blocks` sets the number of \
         repeats]",
    ),
    (
        "clients = [1, 8]",
        "clients = [1, \"8\"]",
        "17:15: `load.clients` must be an integer, not a string [remove the quotes]",
    ),
    (
        "clients = [1, 8]",
        "clients = \"all\"",
        "17:11: `load.clients` must be an integer or a list of integers, not a string [write for example `clients = [1, 8, 64]`]",
    ),
    (
        "clients = [1, 8]",
        "",
        "16:1: missing key `clients` in [load] [add for example `clients = [1, 8, 64]`]",
    ),
    (
        "transactions = 10_000",
        "",
        "16:1: [load] does not say when the measurement ends [add `transactions = 10_000` (all \
         clients together), `transactions_per_client = 500` or `duration = \"30s\"`, or \
         `rows = 1_000_000` for a table that grows; or [[load.stages]]]",
    ),
    (
        "transactions = 10_000",
        "transactions = 0",
        "18:16: `load.transactions` must be 1 or more, got 0",
    ),
    (
        "transactions = 10_000",
        "transactions = 7",
        "18:16: `load.transactions` is 7, but there are 8 clients [use at least 8, or count per \
         client with `transactions_per_client`]",
    ),
    (
        "transactions = 10_000",
        "transactions = 99999999999999999999",
        "18:16: this number is too large [integers range from -9223372036854775808 to \
         9223372036854775807]",
    ),
    (
        "transactions = 10_000",
        "duration = 30",
        "18:12: `load.duration` must be a duration, not an integer [`\"30s\"` for seconds, `\"30ms\"` for milliseconds]",
    ),
    (
        "transactions = 10_000",
        "duration = \"-5s\"",
        "18:12: `load.duration` is not a duration: it is negative [write a number and a unit: `\"500ms\"`, `\"30s\"`, `\"5m\"`, `\"1h\"`]",
    ),
    (
        "transactions = 10_000",
        "duration = \"0s\"",
        "18:12: `load.duration` must be more than 0, got `0s` [write a number and a unit: `\"500ms\"`, `\"30s\"`, `\"5m\"`, `\"1h\"`]",
    ),
    (
        "transactions = 10_000",
        "transactions = 10_000\nrate = 500",
        "19:8: `load.rate` must be a string, not an integer [write a number and a time: `\"500/s\"`, `\"2.5/s\"`, `\"30/min\"`]",
    ),
    (
        "transactions = 10_000",
        "transactions = 10_000\nrate = \"500/day\"",
        "19:8: `load.rate` is not a rate: `day` is not one of `s`, `min` and `h` [write a number and a time: `\"500/s\"`, `\"2.5/s\"`, `\"30/min\"`]",
    ),
    (
        "transactions = 10_000",
        "transactions = 10_000\nrate = \"-1/s\"",
        "19:8: `load.rate` is not a rate: `-1` is not a number [write a number and a time: `\"500/s\"`, `\"2.5/s\"`, `\"30/min\"`]",
    ),
    (
        "transactions = 10_000",
        "transactions = 10_000\nrate = \"0/s\"",
        "19:8: `load.rate` must be between one an hour and ten million a second, got `0/s` [write a number and a time: `\"500/s\"`, `\"2.5/s\"`, `\"30/min\"`]",
    ),
    (
        "transactions = 10_000",
        "transactions = 10_000\noverload = true",
        "19:12: `load.overload` needs a rate [add for example `rate = \"500/s\"`; closed-loop \
         clients wait for answers and do not overload the system]",
    ),
    (
        "transactions = 10_000",
        "duration = \"9s\"\ntime_limit = \"1s\"",
        "19:14: `load.time_limit` is shorter than `load.duration` [remove it: a measurement with a \
         duration ends on its own]",
    ),
    (
        "transactions = 10_000",
        "transactions = 10_000\nduration = \"9s\"",
        "19:1: `load.transactions` and `load.duration` cannot both be given [remove one of them]",
    ),
    (
        "transactions = 10_000",
        "transactions = 10_000\nworkers = 0",
        "19:11: `load.workers` must be between 1 and 1024, got 0",
    ),
    (
        "transactions = 10_000",
        "transactions = 10_000\nattempts_max = 2026-01-01",
        "19:16: `load.attempts_max` must be an integer, not a date or time",
    ),
    // Profiles, chosen or not.
    (
        "design = { blocks = 2 }",
        "design = { blocks = 0 }",
        "22:21: `design.blocks` must be between 1 and 1000, got 0",
    ),
    (
        "design = { blocks = 2 }",
        "desing = { blocks = 2 }",
        "22:1: unknown key `desing` at the top of the file [did you mean `design`?]",
    ),
    (
        "design = { blocks = 2 }",
        "profile.inner = {}",
        "22:1: a profile cannot contain profiles [write `[profile.NAME]` at the top]",
    ),
    (
        "[profile.smoke]",
        "[profile]",
        "21:1: `load` is a table of the spec and cannot be the name of a profile [write `[profile.NAME]`, and `load` under it]",
    ),
    // Factors, applied to the smallest spec so that only they cause errors.
    (
        "[profile.smoke]",
        "[[storage]]\nname = \"a\"\n[profile.smoke]",
        "20:1: missing key `data` in [[storage]] [name a folder, for example `data = \"/mnt/raid1\"`]",
    ),
    (
        "system]]\nname = \"far\"\nurl = \"mysql://bench@db/bench\"\npassword_env = \"BENCH_PASSWORD\"\n\n[workload]",
        "storage]]\nname = \"raid\"\ndata = \"/x\"\n[factors]\nstorage = [\"raid\"]\n[workload]",
        "12:1: the storage of `WAL` cannot be varied: dyno does not start its server [measure it \
         in a separate experiment]",
    ),
    (
        "[profile.smoke]",
        "[[endpoint]]\nname = \"a\"\n[profile.smoke]",
        "20:1: the endpoint has neither `address` nor `proxy` nor `application` [set one: \
         `address = \"host:3306\"`, or `proxy = { kind = \"haproxy\" }`, or \
         `application = { kind = \"tomcat\", war = \"webapp.war\" }`]",
    ),
    (
        "[profile.smoke]",
        "[[endpoint]]\nname = \"a\"\naddress = \"db2\"\n[profile.smoke]",
        "22:11: `endpoint.address` is not an address: `db2` [write `HOST:PORT`, `[::1]:PORT`, or \
         the path of a unix socket]",
    ),
    (
        "[profile.smoke]",
        "[factors]\nendpoint = [\"soket\"]\n[profile.smoke]",
        "21:13: no endpoint is called `soket` [did you mean `socket`?]",
    ),
    (
        "[profile.smoke]",
        "[factors]\nendpoint = [\"socket\"]\n[profile.smoke]",
        "21:13: `WAL` cannot be reached by the endpoint `socket` [this endpoint exists only for \
         servers that dyno starts; use an [[endpoint]] with an address]",
    ),
    (
        "[profile.smoke]",
        "[factors]\n\"server.kind\" = [\"a\"]\n[profile.smoke]",
        "21:1: `server.kind` cannot be varied [`\"server.settings.NAME\"` varies a setting of the server; for anything else, write one [[system]] for each of its levels]",
    ),
    (
        "[profile.smoke]",
        "[factors]\n\"server.settings.x\" = [1]\n[profile.smoke]",
        "21:1: settings of `far` cannot be varied: dyno does not start it [add commands that apply \
         them, `hooks = { apply = \"...\", restart = \"...\" }`, or let dyno start the server \
         (`server = { kind = ... }`); or vary the settings of one system only: \
         `\"system.NAME.server.settings.SETTING\"`]",
    ),
    (
        "[profile.smoke]",
        "[factors]\n\"system.WAL.server.settings.journal-mode\" = [\"wal\"]\n[profile.smoke]",
        "21:1: `system.WAL.server.settings.journal-mode` is a factor and also has a fixed value [remove one of them]",
    ),
    (
        "[profile.smoke]",
        "[factors]\n\"system.WALL.server.settings.x\" = [1]\n[profile.smoke]",
        "21:1: no system is called `WALL` [did you mean `WAL`?]",
    ),
    (
        "[profile.smoke]",
        "[factors]\nsync = [{ name = \"a\", workload.rows = 5 }, { \"workload.rows\" = 6 }]\n[profile.smoke]",
        "21:44: a level of factor `sync` has no name [write for example `{ name = \"pool\", \"server.settings.thread_handling\" = \"pool-of-threads\" }`]",
    ),
    (
        "[profile.smoke]",
        "[factors]\nsync = [{ name = \"a\" }, { name = \"b\" }]\n[profile.smoke]",
        "21:8: no level of factor `sync` changes anything [write for example `{ name = \"pool\", \"server.settings.thread_handling\" = \"pool-of-threads\" }`]",
    ),
    (
        "[profile.smoke]",
        "[factors]\n\"workload.rows\" = [5]\nsize = [{ name = \"small\", workload.rows = 1 }, { name = \"as it is\" }]\n[profile.smoke]",
        "22:36: this is set by two levels at once [let one factor change it]",
    ),
    (
        "[profile.smoke]",
        "[[limit]]\np99 = \"> 20ms\"\n[profile.smoke]",
        "21:7: `limit.p99` is not a limit: it does not begin with `<` [write for example \
         `p99 = \"< 20ms\"`]",
    ),
    (
        "[profile.smoke]",
        "[[limit]]\nthroughput = \"5000/s\"\n[profile.smoke]",
        "21:14: `limit.throughput` is not a limit: it does not begin with `>` [write for example `throughput = \"> 5000/s\"`]",
    ),
    (
        "[profile.smoke]",
        "[[limit]]\nfailed = \"< 2\"\n[profile.smoke]",
        "21:10: `limit.failed` is not a limit: `2` has no per cent sign [write for example `failed = \"< 0.1 %\"`]",
    ),
    (
        "[profile.smoke]",
        "[[limit]]\nmean = \"< 0s\"\n[profile.smoke]",
        "21:8: `limit.mean` is not a limit: the value must be greater than 0 [write for example \
         `p99 = \"< 20ms\"`]",
    ),
    (
        "[profile.smoke]",
        "[[limit]]\nlost = 3\n[profile.smoke]",
        "21:8: `limit.lost` is not a limit: the only limit on lost commits is 0 [write for example \
         `lost = 0`]",
    ),
    (
        "[profile.smoke]",
        "[[limit]]\nabort = true\n[profile.smoke]",
        "20:1: empty limit [add for example `p99 = \"< 20ms\"`, `throughput = \"> 5000/s\"`, \
         `failed = \"< 0.1 %\"` or `lost = 0`]",
    ),
    (
        "[profile.smoke]",
        "[[limit]]\nlost = 0\nwhere = { clients = 77 }\n[profile.smoke]",
        "20:1: the limit applies to no configuration [change its `where`; a profile with other \
         configurations can replace the limits, or remove them: `limit = []`]",
    ),
    (
        "design = { blocks = 2 }",
        "design = { compare = \"clients\" }",
        "22:22: `clients` is not a factor of this experiment [varied: `system`]",
    ),
    (
        "design = { blocks = 2 }",
        "design = { exclude = [{ system = \"fax\" }] }",
        "22:34: `system` has no system `fax` [did you mean `far`?]",
    ),
    (
        "design = { blocks = 2 }",
        "design = { exclude = [{ \"workload.rows\" = 5 }] }",
        "22:25: `workload.rows` is not a factor of this experiment [factors: `system`, `clients`]",
    ),
    (
        "design = { blocks = 2 }",
        "design = { exclude = [{ clients = 2 }] }",
        "22:10: `design.exclude` excludes every configuration [exclude less]",
    ),
    (
        "design = { blocks = 2 }",
        "design = { exclude = [{}] }",
        "22:23: an empty table would select every configuration [name levels: `{ \"workload.rows\" = 100, clients = 1000 }`]",
    ),
    (
        "[profile.smoke]",
        "[factors]\n\"load.clients\" = [1]\n[profile.smoke]",
        "21:1: clients are varied by `load.clients`, not by a factor [write the list there: \
         `clients = [1, 8, 64]`]",
    ),
    (
        "[profile.smoke]",
        "[factors]\n\"load.wramup\" = [\"1s\"]\n[profile.smoke]",
        "21:1: unknown key `wramup` in [load] [did you mean `warmup`?]",
    ),
    (
        "[profile.smoke]",
        "[factors]\n\"workload.kind\" = [\"rush\"]\n[profile.smoke]",
        "21:1: `workload.kind` is a factor and also has a fixed value [remove one of them]",
    ),
    (
        "kind = \"rush\"",
        "rows = 10\n[factors]\n\"workload.kind\" = [\"rush\", \"oltp_read_write\"]",
        "14:1: workload `oltp_read_write` has no option `rows` [its options: `skip_trx`, `zipfian_exponent`, `pad_bytes`; `dyno workloads oltp_read_write` explains them]",
    ),
    (
        "kind = \"rush\"",
        "[factors]\n\"workload.kind\" = [\"rush\", \"rash\"]",
        "15:28: unknown workload `rash` [did you mean `rush`?]",
    ),
    (
        "kind = \"rush\"",
        "[factors]\njob = [{ name = \"a\", workload.kind = \"rush\" }, { name = \"b\" }]",
        "13:1: missing key `kind` in [workload] [some levels of `[factors]` set `workload.kind`, \
         so all must]",
    ),
    (
        "[profile.smoke]",
        "[factors]\n\"workload.rows\" = []\n[profile.smoke]",
        "21:19: factor `workload.rows` has no levels [write for example `\"workload.rows\" = [LEVEL, LEVEL]`]",
    ),
    (
        "[profile.smoke]",
        "[factors]\n\"workload.rows\" = 5\n[profile.smoke]",
        "21:19: factor `workload.rows` must be a list of levels, not an integer [write for example `\"workload.rows\" = [LEVEL, LEVEL]`]",
    ),
    (
        "[profile.smoke]",
        "[factors]\n\"workload.rows\" = [5, 5]\n[profile.smoke]",
        "21:23: factor `workload.rows` has level `5` twice",
    ),
    (
        "[profile.smoke]",
        "[factors]\n\"workload.rows\" = [5, 0]\n[profile.smoke]",
        "21:23: `workload.rows` must be between 1 and 1000000, got 0",
    ),
    (
        "[profile.smoke]",
        "[factors]\n\"workload.rowz\" = [5]\n[profile.smoke]",
        "21:1: workload `rush` has no option `rowz` [did you mean `rows`?]",
    ),
    (
        "transactions = 10_000",
        "transactions = 10_000\ngrace = \"1s\"\n[factors]\n\"load.grace\" = [\"2s\"]",
        "21:1: `load.grace` is a factor and also has a fixed value [remove one of them]",
    ),
    (
        "[profile.smoke]",
        "[factors]\n\"system.query_mode\" = [\"simpel\"]\n[profile.smoke]",
        "21:24: `system.query_mode` cannot be `simpel` [did you mean `simple`?]",
    ),
    (
        "[profile.smoke]",
        "[factors]\n\"color\" = [1]\n[profile.smoke]",
        "21:1: unknown factor `color` in [factors] [factors: `workload.kind`, `workload.OPTION`, \
         `load.KEY`, `server.settings.NAME`, `system.query_mode`, `background.NAME.clients`, \
         `storage`, `endpoint`; a factor with any other name has named levels: \
         `[{ name = \"...\", ... }]`]",
    ),
    // Published figures.
    (
        "[profile.smoke]",
        "[[published]]\nsource = \"a\"\nseries = \"b\"\nmetric = \"throughput\"\nclients = [1, 2]\nvalues = [5]\n[profile.smoke]",
        "25:10: 1 values for 2 numbers of clients [give one value per number of clients]",
    ),
    (
        "[profile.smoke]",
        "[[published]]\nsource = \"a\"\nseries = \"b\"\nmetric = \"tps\"\nclients = [1]\nvalues = [5]\n[profile.smoke]",
        "23:10: `published.metric` cannot be `tps` [did you mean `throughput`?]",
    ),
    (
        "[profile.smoke]",
        "[[published]]\nsource = \"a\"\nseries = \"b\"\nmetric = \"mean-ms\"\nclients = [1]\nvalues = [-5]\n[profile.smoke]",
        "25:11: `published.values` must be 0 or more, got -5",
    ),
    (
        "[profile.smoke]",
        "[[published]]\nsource = \"a\"\nseries = \"b\"\nmetric = \"mean-ms\"\nclients = [1]\nvalues = [5]\nsystem = \"fra\"\n[profile.smoke]",
        "26:10: no system is called `fra` [did you mean `far`?]",
    ),
    // TOML itself.
    (
        "title = \"A rush\"",
        "title = \"A rush",
        "2:16: invalid TOML: invalid basic string, expected `\"`",
    ),
    ("title = \"A rush\"", "title = = 5", "2:9: invalid TOML: extra `=`, expected nothing"),
];

#[test]
fn each_mistake_gives_one_error_with_place_value_and_remedy() {
    let mut wrong = Vec::new();
    for (from, to, message) in MISTAKES {
        let text = GOOD.replacen(from, to, 1);
        assert_ne!(text, GOOD, "{from} does not stand in the good spec");
        let found = errors(&text);
        if found != [*message] {
            wrong.push(format!(
                "{to}\n  expected {message}\n  found    {}",
                found.join("\n           ")
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
