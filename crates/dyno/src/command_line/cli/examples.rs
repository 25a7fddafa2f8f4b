//! Examples at the end of each command's `--help`.

pub(super) const RUN_EXAMPLES: &str = "Examples:
  dyno run                              the built-in experiment
  dyno run rush.toml                    with progress and time left
  dyno run rush.toml --profile smoke    the profile [profile.smoke] of the file
  dyno run rush.toml --set load.clients=[1,64] --set workload.rows=1000
  dyno run rush.toml --set 'system.MySQL 9.server.settings.max_connections=2000'
  dyno run rush.toml --quiet --json     for a program: one JSON value on stdout
  dyno run postgres://me@localhost/shop --script read.sql@8 --script list.sql
                                        your own SQL on your own database
  dyno run --resume results/rush/20260301T101500Z-a3f9
                                        resume a run that was killed
  dyno run rush.toml --trial b02-003    measure one trial again

The first Ctrl-C ends the current trial and writes results and report; the
second ends dyno at once. Servers started by dyno are stopped and removed in
either case.";

pub(super) const INIT_EXAMPLES: &str = "Examples:
  dyno init postgres://me@localhost/shop      shop.toml and shop.sql, with the schema as comments
  dyno init sqlite:shop.db --out own.toml
  dyno init                                   for a server that dyno starts

It only reads the database and never overwrites a file.";

pub(super) const PLAN_EXAMPLES: &str = "Examples:
  dyno plan rush.toml
  dyno plan rush.toml --profile smoke --json
  dyno plan rush.toml --pilot results/rush/20260301T101500Z-a3f9";

pub(super) const REPORT_EXAMPLES: &str = "Examples:
  dyno report results/rush/20260301T101500Z-a3f9     report.html into the folder
  dyno report results/rush/20260301T101500Z-a3f9 --format text
  dyno report RESULTS --format csv > rush.csv
  dyno report RESULTS --format html,md,csv,json --out folder
  dyno report RESULTS --format junit > junit.xml       for a CI server
  dyno report RESULTS --format text --check            exit code 8 or 9 by verdicts";

pub(super) const BUNDLE_EXAMPLES: &str = "Examples:
  dyno bundle results/rush/20260301T101500Z-a3f9

The archive has the spec, the plan, the environment, events, histograms,
timelines and server logs of the run. Passwords are replaced by ***; host names
and statements are not. Files above 64 MB, reports and histories of transactions
are left out.";

pub(super) const HISTORY_EXAMPLES: &str = "Examples:
  dyno history results/rush > rush.csv
  dyno history results/rush --format html > rush.html
  dyno history results/rush --out trends
  cd trends && OTAVA_CONFIG=otava.yaml otava analyze all --since 2026-01-01 -P 0.0001

The table has a row per run, by time, and a column per configuration and figure.
Its column `validity` marks runs without valid results; their cells are empty.
The page draws each figure over the runs, and compares the newest with the earlier
ones. otava is Apache Otava (`pip install apache-otava`), which finds change points.";

pub(super) const COMPARE_EXAMPLES: &str = "Examples:
  dyno compare results/rush/<time>-<id> results/rush/<time>-<id>
  for i in 1 2 3 4 5; do                five repeats before a change
      dyno sysbench oltp_read_write --threads=16 --time=60 --results=base run
  done                                  and with --results=new after it
  dyno compare base new
  dyno compare base new --metric throughput,p95 --margin 3%
  dyno compare base new --format md > comment.md
  dyno compare A B --system 'MySQL 8=MySQL 9'

BASE and NEW are results folders, or folders that hold several results folders
of the same experiment, which are pooled. A verdict needs at least 3 valid
trials of a configuration on each side.
Exit codes: 0 none of the verdicts in --fail-on, 8 a metric is worse, or some
trials of new failed, 9 another verdict in --fail-on, 2 the sides cannot be
compared, 7 results cannot be read.";

pub(super) const SERVE_EXAMPLES: &str = "Examples:
  dyno serve
  dyno serve results/rush archive/2026 --listen 127.0.0.1:8000

The server only reads, and stops at Ctrl-C.";

pub(super) const IMPORT_EXAMPLES: &str = "Examples:
  dyno import pool-*.log thread-per-connection-*.log \\
      --claim 'pool is faster than thread-per-connection'
  dyno import 'MySQL 8=run1.txt' 'MySQL 9=run2.txt'
  dyno import new=pgbench_log.4711 new=pgbench_log.4711.1
  dyno import latency.hlog --clients 64 --unit us
  dyno import figures.csv --column throughput=tps --column clients=threads

  kubectl logs job/bench | dyno import pool=-

Formats, recognised by their content: what sysbench (0.5 to 1.1) and pgbench
(9 to 18) print, with or without progress lines, also several runs in one file,
quoted or with the timestamps and names that docker compose, kubectl, GitHub
Actions, GitLab and syslog add; pgbench's logs of transactions or of intervals
(name the logs of all its threads); histogram logs; and tables whose columns are
called system, clients, seconds, committed, throughput, failed, mean_ms, p50_ms,
p95_ms, p99_ms, max_ms. A value that a file does not contain stays unknown, and
contradictory values are an error. Several runs of a system with the same number
of clients are its repeats.

Exit codes: 0 a valid run was imported, 2 a file contains no run or has an
unknown format, 6 no imported run is valid, 7 a file cannot be read.";

pub(super) const CLEANUP_EXAMPLES: &str = "Examples:
  dyno cleanup rush.toml
  dyno cleanup postgres://me@localhost/bench

It drops only the tables listed in dyno's marker table, and the marker table.
Servers started by dyno leave nothing behind and need no cleanup.";

pub(super) const WORKLOADS_EXAMPLES: &str = "Examples:
  dyno workloads
  dyno workloads rush
  dyno workloads oltp_read_write --json";

pub(super) const DOCTOR_EXAMPLES: &str = "Examples:
  dyno doctor
  dyno doctor --json

It takes about ten seconds and needs no server. The exit code is 0 even if there
are warnings. It writes unnamed files to the folder for temporary files and to
the working directory, which disappear at once.";

pub(super) const NULL_SERVER_EXAMPLES: &str = "Examples:
  dyno null-server --protocol mysql --listen 127.0.0.1:3399
  sysbench oltp_point_select --mysql-host=127.0.0.1 --mysql-port=3399 \\
      --mysql-user=any --mysql-db=any --threads=16 run

It answers every statement at once with canned rows and stores nothing: do not
let it listen where it could be mistaken for a database.";

pub(super) const COMPLETIONS_EXAMPLES: &str = "Examples:
  dyno completions bash > ~/.local/share/bash-completion/completions/dyno
  dyno completions zsh > ~/.zfunc/_dyno
  dyno completions fish > ~/.config/fish/completions/dyno.fish";

pub(super) const MAN_EXAMPLES: &str = "Examples:
  dyno man ~/.local/share/man/man1      man dyno, man dyno-run";

pub(super) const LAUNCH_EXAMPLES: &str = "Examples:
  dyno launch kubernetes shop.toml --generators 4 --image registry/dyno:0.1.0 --apply
  dyno launch kubernetes shop.toml --image registry/dyno:0.1.0 --namespace perf \\
      --secret PGPASSWORD=shop-db/password --apply
  dyno launch kubernetes shop.toml --image registry/dyno:0.1.0 > run.json
                                        for `kubectl apply -f run.json`
  dyno launch kubernetes --resume results/shop/20260301T101500Z-a3f9 \\
      --image registry/dyno:0.1.0 --apply";
