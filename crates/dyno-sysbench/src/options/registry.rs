//! All options that exist without a script: names, types and defaults of sysbench 1.0.20, additions
//! of 1.1, and dyno's extensions.

use super::definition::{Definition, Kind, Value, underscored};
use Kind::{Boolean, Decimal, Double, File, Integer, List, Size, Switch, Text};

/// A group of options, with its heading in `--help`.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) title: &'static str,
    /// Its options, in the order of the help.
    pub(crate) rows: &'static [Row],
}

#[derive(Debug)]
pub(crate) struct Row {
    /// Name with dashes.
    name: &'static str,
    kind: Kind,
    /// The default as text.
    default: &'static str,
    help: &'static str,
    /// Not an option of sysbench 1.0.20.
    is_newer: bool,
}

/// The rows of a group, one per line: `old` for options of sysbench 1.0.20, `new` for all others.
macro_rules! rows {
    ($($age:ident $name:literal $kind:ident $default:literal $help:literal;)*) => {
        &[$(Row { name: $name, kind: $kind, default: $default, help: $help, is_newer: rows!($age) }),*]
    };
    (old) => { false };
    (new) => { true };
}

impl Group {
    pub(crate) fn definitions(&self) -> impl Iterator<Item = Definition> {
        self.rows.iter().map(definition)
    }
}

fn definition(&Row { name, kind, default, help, .. }: &Row) -> Definition {
    let value = match kind {
        File => Value::Nothing,
        _ => kind.parse(Some(default)).expect("defaults in the table are values of their type"),
    };
    let shown_default = match (kind, default) {
        (File, _) | (List, "") => None,
        _ => Some(default.to_owned()),
    };
    Definition {
        name: underscored(name),
        kind,
        default: value,
        shown_default,
        help: help.to_owned(),
    }
}

/// All groups, in the order of the help.
pub(crate) const GROUPS: [&Group; 8] =
    [&GENERAL, &RANDOM, &LOG, &DATABASE, &MYSQL, &POSTGRES, &SQLITE, &EXTENSIONS];

fn find(name: &str) -> Option<&'static Row> {
    GROUPS.iter().flat_map(|group| group.rows).find(|row| underscored(row.name) == name)
}

/// Whether an option, by its name with underscores, does not exist in sysbench 1.0.20.
pub(crate) fn is_newer(name: &str) -> bool {
    find(name).is_some_and(|row| row.is_newer)
}

/// True for the names (with underscores) of options that exist without a script.
pub(crate) fn is_registered(name: &str) -> bool {
    find(name).is_some()
}

/// Amount and duration of the load, and its reports.
const GENERAL: Group = Group {
    title: "General options",
    rows: rows! {
        old "threads" Integer "1" "worker threads; each has its own connection in the bundled \
                                   scripts";
        old "events" Integer "0" "end after this many events of all threads together; 0: no limit";
        old "time" Decimal "10" "end after this many seconds; 0: no limit";
        new "warmup-time" Decimal "0" "seconds of load before counting starts";
        old "forced-shutdown" Text "off" "cut off running events N seconds, or N% of --time, after \
            --time; off: see --hang-timeout";
        old "thread-stack-size" Size "64K" "stack size of a thread; dyno raises it if necessary";
        new "thread-init-timeout" Decimal "30" "timeout in seconds for threads to connect and \
            initialise";
        old "rate" Decimal "0" "arrival rate in events per second, all threads together; 0: closed \
                                loop";
        old "report-interval" Decimal "0" "print figures every N seconds; 0: never";
        old "report-checkpoints" List "" "print the full report and restart counting at these \
            seconds";
        old "debug" Boolean "off" "verbosity 5 and figures of every thread";
        old "validate" Boolean "off" "accepted; database scripts have nothing to validate";
        old "help" Boolean "off" "print this text and exit";
        old "version" Boolean "off" "print the version and exit";
        old "config-file" File "" "file of options, one name=value on a line";
        new "luajit-cmd" Text "" "accepted; LuaJIT's compiler is always on";
        old "tx-rate" Integer "0" "old name of --rate";
        old "max-requests" Integer "0" "old name of --events";
        old "max-time" Integer "0" "old name of --time";
        old "num-threads" Integer "1" "old name of --threads";
        old "test" Text "" "old option for the script's name";
    },
};

/// Random distributions of scripts.
const RANDOM: Group = Group {
    title: "Pseudo-Random Numbers Generator options",
    rows: rows! {
        old "rand-type" Text "special" "default distribution: uniform, gaussian, special, pareto \
                                        or zipfian";
        old "rand-spec-iter" Integer "12" "uniform draws that make one gaussian or special draw";
        old "rand-spec-pct" Integer "1" "percentage of values that are special";
        old "rand-spec-res" Integer "75" "percentage of draws that take a special value";
        old "rand-seed" Integer "0" "seed of data, keys and threads; 0: from the clock";
        old "rand-pareto-h" Double "0.2" "parameter h of the pareto distribution";
        new "rand-zipfian-exp" Double "0.8" "exponent of the zipfian distribution";
    },
};

/// Output.
const LOG: Group = Group {
    title: "Log options",
    rows: rows! {
        old "verbosity" Integer "3" "0 fatal, 1 alert, 2 warning, 3 notice, 4 info, 5 debug";
        old "percentile" List "95" "percentiles of event latency, the first also in interval \
                                    lines; 0: none";
        old "histogram" Boolean "off" "print the latency histogram";
    },
};

/// For every database.
pub(crate) const DATABASE: Group = Group {
    title: "General database options",
    rows: rows! {
        old "db-driver" Text "mysql" "mysql, pgsql or sqlite";
        old "db-ps-mode" Text "auto" "prepared statements: auto (in the server) or disable (as \
                                      text)";
        old "db-debug" Boolean "off" "accepted; see --debug";
    },
};

/// MySQL, MariaDB and compatible servers.
const MYSQL: Group = Group {
    title: "mysql options",
    rows: rows! {
        old "mysql-host" List "localhost" "hosts; connections use hosts and ports in turn";
        old "mysql-port" List "3306" "ports";
        old "mysql-socket" List "" "unix sockets; they take precedence over hosts";
        old "mysql-user" Text "sbtest" "user";
        old "mysql-password" Text "" "password";
        old "mysql-db" Text "sbtest" "database";
        old "mysql-ssl" Switch "off" "on, off, or disabled, preferred, required, verify_ca, \
                                      verify_identity";
        new "mysql-ssl-ca" Text "" "PEM file of the certificate authorities for verifying the \
                                    server";
        new "mysql-ssl-cert" Text "" "PEM file of the client's certificate";
        new "mysql-ssl-key" Text "" "PEM file of its key";
        old "mysql-ssl-cipher" Text "" "accepted; dyno's TLS library chooses the ciphers";
        old "mysql-compression" Boolean "off" "accepted with a warning; connections are not \
            compressed";
        new "mysql-compression-algorithms" Text "zlib" "accepted, see --mysql-compression";
        old "mysql-debug" Boolean "off" "verbosity 5";
        old "mysql-ignore-errors" List "1213,1020,1205" "error numbers after which an event is \
            retried, or all";
        old "mysql-dry-run" Boolean "off" "no server: every statement succeeds at once";
    },
};

/// PostgreSQL and compatible servers.
const POSTGRES: Group = Group {
    title: "pgsql options",
    rows: rows! {
        old "pgsql-host" Text "localhost" "host, or several separated by commas; a path is a \
            folder of unix sockets";
        old "pgsql-port" Integer "5432" "port";
        old "pgsql-user" Text "sbtest" "user";
        old "pgsql-password" Text "" "password; default: PGPASSWORD";
        old "pgsql-db" Text "sbtest" "database";
        new "pgsql-sslmode" Text "prefer" "disable, allow, prefer, require, verify-ca or \
            verify-full";
        new "pgsql-sslrootcert" Text "" "PEM file of the certificate authorities for verifying the \
            server";
        new "pgsql-sslcert" Text "" "PEM file of the client's certificate; default: PGSSLCERT";
        new "pgsql-sslkey" Text "" "PEM file of its key; default: PGSSLKEY";
        new "pgsql-ignore-errors" List "40001,40P01,23505" "SQLSTATEs after which an event is \
            rolled back and retried, or all";
    },
};

/// Embedded SQLite.
const SQLITE: Group = Group {
    title: "sqlite options (dyno)",
    rows: rows! {
        new "sqlite-db" Text "" "database file";
    },
};

/// Options that sysbench does not have.
const EXTENSIONS: Group = Group {
    title: "Further options (dyno)",
    rows: rows! {
        new "report-format" Text "1.0" "layout of reports: 1.0 or 1.1";
        new "json" Switch "off" "all figures as one JSON document: on standard output, or into the \
                                 named file";
        new "blocks" Integer "1" "number of repeats of a list of --threads (--threads=1,8,64), in \
                                  random order";
        new "generators" Integer "0" "processes that drive the threads of a bundled script, each its \
            share; 0: this process";
        new "launcher" Text "local" "what starts them: local, slurm or mpi";
        new "results" Text "" "folder in which a results folder of dyno is created";
        new "hang-timeout" Decimal "30" "seconds that an event may continue after --time before it \
            is cut off; 0: no limit";
        new "max-retries" Integer "1000" "retries of one event after ignored errors before it is \
            given up; 0: no limit";
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn defaults_have_their_types_and_names_are_unique() {
        let names: Vec<String> =
            GROUPS.iter().flat_map(|group| group.definitions()).map(|it| it.name).collect();
        let distinct: BTreeSet<&String> = names.iter().collect();
        assert_eq!(names.len(), distinct.len());
    }
}
