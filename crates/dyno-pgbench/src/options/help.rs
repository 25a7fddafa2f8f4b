//! The text of `--help` and `--version`.

/// The compatible version of pgbench; parsers look for the word in front of it.
pub(crate) const COMPATIBLE: &str = "15";

/// The first line of a run's output.
pub(crate) fn banner() -> String {
    format!("pgbench ({COMPATIBLE}, dyno {})", env!("CARGO_PKG_VERSION"))
}

/// The output of `--version`.
pub(crate) fn version() -> String {
    format!("pgbench (PostgreSQL) {COMPATIBLE} (dyno {})\n", env!("CARGO_PKG_VERSION"))
}

/// The output of `--help`.
pub(crate) fn text() -> String {
    format!(
        "{USAGE}\nCompatible with pgbench {COMPATIBLE}; docs/pgbench.md lists the differences.\n"
    )
}

const USAGE: &str = "\
dyno pgbench: pgbench's scripts on dyno's engine

Usage:
  dyno pgbench [OPTION]... [DBNAME]

Making the tables:
  -i, --initialize         make and fill the standard tables
  -I, --init-steps=[dtgGvpf]+
                           only these steps, in this order (default \"dtgvp\"): drop,
                           tables, generate data here (g) or on the server (G),
                           vacuum, primary keys, foreign keys
  -s, --scale=NUM          branches; 100,000 accounts each (default 1)
  -F, --fillfactor=NUM     per cent of a page to fill (default 100)
  -n, --no-vacuum          leave step v out
  -q, --quiet              a line of progress every 5 seconds
  --foreign-keys           add step f
  --partitions=NUM         divide pgbench_accounts (default 0: do not)
  --partition-method=range|hash
                           how to divide it (default range)
  --tablespace=NAME        for tables
  --index-tablespace=NAME  for indexes
  --unlogged-tables        make tables without write-ahead log

What to run:
  -b, --builtin=NAME[@W]   a script that comes with the program, with weight W
                           (\"-b list\" lists them)
  -f, --file=FILE[@W]      a script from a file, with weight W
  -N, --skip-some-updates  same as \"-b simple-update\"
  -S, --select-only        same as \"-b select-only\"

How to run it:
  -c, --client=NUM         clients at the same time (default 1)
  -C, --connect            a new connection for each transaction
  -D, --define=NAME=VALUE  set a variable
  -j, --jobs=NUM           worker threads (default 1)
  -l, --log                write a line per transaction to a file
  -L, --latency-limit=MS   count transactions that take longer; with -R, skip those
                           that are late by more
  -M, --protocol=simple|extended|prepared
                           how statements travel (default simple)
  -n, --no-vacuum          do not vacuum before
  -P, --progress=SECONDS   a line of progress this often
  -r, --report-per-command latencies, failures and retries of each command
  -R, --rate=NUM           transactions per second, at random times (open loop)
  -s, --scale=NUM          scale of the tables, for custom scripts
  -t, --transactions=NUM   transactions of each client (default 10)
  -T, --time=SECONDS       length of the run
  -v, --vacuum-all         vacuum all four tables before
  --aggregate-interval=S   with -l: a line per so many seconds
  --blocks=NUM             repeats of all numbers of a list of clients (-c 1,8,64),
                           in random order
  --exit-on-abort          end the run when a client is aborted
  --failures-detailed      count failures by their kind
  --generators=NUM         let so many processes drive the clients
  --hang-timeout=SECONDS   cut off what still runs so long after -T (default 30;
                           0: no limit)
  --launcher=NAME          what starts them: local, slurm or mpi (default local)
  --log-prefix=PREFIX      beginning of log files' names (default \"pgbench_log\")
  --max-tries=NUM          tries of a transaction after serialization failures and
                           deadlocks (default 1; 0: no limit)
  --progress-timestamp     Unix time in lines of progress
  --random-seed=SEED       \"time\", \"rand\" or a number
  --results=DIR            write a results folder, for \"dyno report\"
  --sampling-rate=NUM      with -l: share of transactions to write, e.g. 0.01
  --show-script=NAME       print a script that comes with the program
  --verbose-errors         tell each failure and retry

Where:
  -d, --dbname=NAME        database, connection string or URL
  -h, --host=NAME          server, or folder of its socket
  -p, --port=PORT          port
  -U, --username=NAME      user
  --url=URL                mysql://USER@HOST/DATABASE, postgres://..., sqlite:FILE
                           PGHOST, PGPORT, PGUSER, PGDATABASE, PGPASSWORD, PGPASSFILE,
                           PGSSLMODE, PGOPTIONS and MYSQL_PWD are read

  -V, --version            print the version
  -?, --help               print this
";
