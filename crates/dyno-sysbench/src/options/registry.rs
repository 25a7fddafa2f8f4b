//! All options that exist without a script: names, types and defaults are sysbench 1.0.20's, with what 1.1 added and
//! our own extensions.

use super::definition::{Definition, Kind, Value, underscored};
use Kind::{Boolean, Decimal, Double, File, Integer, List, Size, Switch, Text};

/// Options that belong together, with the heading of their part of `--help`.
#[derive(Debug)]
pub(crate) struct Group {
    /// Heading.
    pub(crate) title: &'static str,
    /// Its options, in the order of help.
    pub(crate) rows: &'static [Row],
}

/// Name with dashes, type, default as text, help.
pub(crate) type Row = (&'static str, Kind, &'static str, &'static str);

impl Group {
    /// The options as definitions.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = Definition> {
        self.rows.iter().map(definition)
    }
}

/// A row as a definition.
fn definition(row: &Row) -> Definition {
    let (name, kind, default, help) = *row;
    let value = match (kind, default) {
        (File, _) => Value::Nothing,
        _ => kind.parse(Some(default)).expect("defaults in the table are values of their type"),
    };
    let shown_default = match (kind, default) {
        (File, _) | (List, "") => None,
        _ => Some(default.to_owned()),
    };
    Definition { name: underscored(name), kind, default: value, shown_default, help: help.to_owned() }
}

/// Every group, in the order of help.
pub(crate) const GROUPS: [&Group; 8] =
    [&GENERAL, &RANDOM, &LOG, &DATABASE, &MYSQL, &POSTGRES, &SQLITE, &EXTENSIONS];

/// Options within the groups of sysbench's that 1.0.20 has not.
const NEWER: [&str; 13] = [
    "warmup_time",
    "thread_init_timeout",
    "luajit_cmd",
    "rand_zipfian_exp",
    "mysql_ssl_ca",
    "mysql_ssl_cert",
    "mysql_ssl_key",
    "mysql_compression_algorithms",
    "pgsql_sslmode",
    "pgsql_sslrootcert",
    "pgsql_sslcert",
    "pgsql_sslkey",
    "pgsql_ignore_errors",
];

/// Whether an option, by its name with underscores, is none of sysbench 1.0.20's.
pub(crate) fn is_newer(name: &str) -> bool {
    let own = [&SQLITE, &EXTENSIONS].into_iter().flat_map(|group| group.rows);
    NEWER.contains(&name) || own.into_iter().any(|row| underscored(row.0) == name)
}

/// What runs, how long, and how often it is told.
pub(crate) const GENERAL: Group = Group {
    title: "General options",
    rows: &[
        ("threads", Integer, "1", "worker threads; each has its own connection in the bundled scripts"),
        ("events", Integer, "0", "end after this many events of all threads together; 0: no limit"),
        ("time", Decimal, "10", "end after this many seconds; 0: no limit"),
        ("warmup-time", Decimal, "0", "seconds of load before anything is counted"),
        (
            "forced-shutdown",
            Text,
            "off",
            "cut off what still runs N seconds, or N% of --time, after --time; off: see --hang-timeout",
        ),
        ("thread-stack-size", Size, "64K", "stack of a thread; dyno gives each at least what it needs"),
        ("thread-init-timeout", Decimal, "30", "seconds that threads have to connect and initialise"),
        (
            "rate",
            Decimal,
            "0",
            "events per second that arrive, all threads together; 0: each thread goes on at once",
        ),
        ("report-interval", Decimal, "0", "print figures every N seconds; 0: never"),
        ("report-checkpoints", List, "", "print the whole report and start counting anew at these seconds"),
        ("debug", Boolean, "off", "verbosity 5 and figures of every thread"),
        ("validate", Boolean, "off", "accepted; database scripts have nothing to validate"),
        ("help", Boolean, "off", "print this and end"),
        ("version", Boolean, "off", "print the version and end"),
        ("config-file", File, "", "file of options, one name=value on a line"),
        ("luajit-cmd", Text, "", "accepted; LuaJIT's compiler is always on"),
        ("tx-rate", Integer, "0", "old name of --rate"),
        ("max-requests", Integer, "0", "old name of --events"),
        ("max-time", Integer, "0", "old name of --time"),
        ("num-threads", Integer, "1", "old name of --threads"),
        ("test", Text, "", "old way to name the script"),
    ],
};

/// How scripts draw random numbers.
pub(crate) const RANDOM: Group = Group {
    title: "Pseudo-Random Numbers Generator options",
    rows: &[
        ("rand-type", Text, "special", "default distribution: uniform, gaussian, special, pareto or zipfian"),
        ("rand-spec-iter", Integer, "12", "uniform draws that make one gaussian or special draw"),
        ("rand-spec-pct", Integer, "1", "percentage of values that are special"),
        ("rand-spec-res", Integer, "75", "percentage of draws that take a special value"),
        ("rand-seed", Integer, "0", "seed of data, keys and every thread; 0: from the clock"),
        ("rand-pareto-h", Double, "0.2", "parameter h of the pareto distribution"),
        ("rand-zipfian-exp", Double, "0.8", "exponent of the zipfian distribution"),
    ],
};

/// What is written.
pub(crate) const LOG: Group = Group {
    title: "Log options",
    rows: &[
        ("verbosity", Integer, "3", "0 fatal, 1 alert, 2 warning, 3 notice, 4 info, 5 debug"),
        ("percentile", List, "95", "percentiles of event latency, the first also in interval lines; 0: none"),
        ("histogram", Boolean, "off", "print the latency histogram"),
    ],
};

/// For every database.
pub(crate) const DATABASE: Group = Group {
    title: "General database options",
    rows: &[
        ("db-driver", Text, "mysql", "mysql, pgsql or sqlite"),
        ("db-ps-mode", Text, "auto", "prepared statements: auto (in the server) or disable (as text)"),
        ("db-debug", Boolean, "off", "accepted; --debug shows what there is"),
    ],
};

/// MySQL, MariaDB and others that speak their protocol.
pub(crate) const MYSQL: Group = Group {
    title: "mysql options",
    rows: &[
        ("mysql-host", List, "localhost", "hosts; connections are dealt over hosts and ports in turn"),
        ("mysql-port", List, "3306", "ports"),
        ("mysql-socket", List, "", "unix sockets; they come before hosts"),
        ("mysql-user", Text, "sbtest", "user"),
        ("mysql-password", Text, "", "password"),
        ("mysql-db", Text, "sbtest", "database"),
        ("mysql-ssl", Switch, "off", "on, off, or disabled, preferred, required, verify_ca, verify_identity"),
        (
            "mysql-ssl-ca",
            Text,
            "",
            "PEM file of the authorities that the server's certificate is checked with",
        ),
        ("mysql-ssl-cert", Text, "", "PEM file of the client's certificate"),
        ("mysql-ssl-key", Text, "", "PEM file of its key"),
        ("mysql-ssl-cipher", Text, "", "accepted; ciphers are chosen by dyno's own TLS"),
        ("mysql-compression", Boolean, "off", "accepted; dyno does not compress and says so"),
        ("mysql-compression-algorithms", Text, "zlib", "accepted, see --mysql-compression"),
        ("mysql-debug", Boolean, "off", "verbosity 5"),
        (
            "mysql-ignore-errors",
            List,
            "1213,1020,1205",
            "error numbers after which an event is repeated, or all",
        ),
        ("mysql-dry-run", Boolean, "off", "no server: every statement succeeds at once"),
    ],
};

/// PostgreSQL and others that speak its protocol.
pub(crate) const POSTGRES: Group = Group {
    title: "pgsql options",
    rows: &[
        ("pgsql-host", Text, "localhost", "host, or several with commas; a path is a folder of unix sockets"),
        ("pgsql-port", Integer, "5432", "port"),
        ("pgsql-user", Text, "sbtest", "user"),
        ("pgsql-password", Text, "", "password; without one PGPASSWORD is used"),
        ("pgsql-db", Text, "sbtest", "database"),
        ("pgsql-sslmode", Text, "prefer", "disable, allow, prefer, require, verify-ca or verify-full"),
        (
            "pgsql-sslrootcert",
            Text,
            "",
            "PEM file of the authorities that the server's certificate is checked with",
        ),
        ("pgsql-sslcert", Text, "", "PEM file of the client's certificate; without one PGSSLCERT is used"),
        ("pgsql-sslkey", Text, "", "PEM file of its key; without one PGSSLKEY is used"),
        (
            "pgsql-ignore-errors",
            List,
            "40001,40P01,23505",
            "SQLSTATEs after which an event is rolled back and repeated, or all",
        ),
    ],
};

/// SQLite in this process.
pub(crate) const SQLITE: Group =
    Group { title: "sqlite options (dyno)", rows: &[("sqlite-db", Text, "", "database file")] };

/// What sysbench has not.
pub(crate) const EXTENSIONS: Group = Group {
    title: "Further options (dyno)",
    rows: &[
        ("report-format", Text, "1.0", "layout of reports: 1.0 or 1.1"),
        (
            "json",
            Switch,
            "off",
            "all figures as one JSON document: on standard output, or into the named file",
        ),
        ("results", Text, "", "folder in which a dyno results folder is made"),
        (
            "hang-timeout",
            Decimal,
            "30",
            "seconds that an event may go on after --time before it is cut off; 0: no limit",
        ),
        (
            "max-retries",
            Integer,
            "1000",
            "repetitions of one event after ignored errors before it is given up; 0: no limit",
        ),
    ],
};

/// True for the names (with underscores) of options that exist without a script.
pub(crate) fn is_registered(name: &str) -> bool {
    GROUPS.iter().flat_map(|group| group.rows).any(|row| underscored(row.0) == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_default_is_a_value_and_every_name_is_there_once() {
        let names: Vec<String> =
            GROUPS.iter().flat_map(|group| group.definitions()).map(|it| it.name).collect();
        let distinct: BTreeSet<&String> = names.iter().collect();
        assert_eq!(names.len(), distinct.len());
    }
}
