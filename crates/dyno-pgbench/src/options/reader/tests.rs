use super::*;

fn request(line: &str) -> Result<Request, String> {
    let line: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    read(&line, &|_| None).map_err(|error| error.0)
}

fn run(line: &str) -> (Run, Address) {
    match request(line) {
        Ok(Request::Run(run, address)) => (*run, address),
        other => panic!("{other:?}"),
    }
}

fn error(line: &str) -> String {
    request(line).expect_err("the line is wrong")
}

#[test]
fn without_options_ten_tpcb_like_transactions_run_on_one_client() {
    let (run, address) = run("");
    assert_eq!(run.scripts, [(Source::Builtin("tpcb-like"), 1)]);
    assert_eq!((run.clients, run.jobs, run.style.length), (1, 1, Length::Transactions(10)));
    assert_eq!((run.query_mode, run.style.tries_max), (QueryMode::Simple, 1));
    assert_eq!(address, Address::default());
}

#[test]
fn options_are_accepted_in_clusters_attached_and_long() {
    let (run, address) = run(
        "-nSc8 -j4 -T5 -M prepared -f a@b.sql@3 -b tpc@2 -D x=1 -r -P1 -R 10.5 -L 2.5 -U me db",
    );
    assert_eq!(run.scripts[0], (Source::Builtin("select-only"), 1));
    assert_eq!(run.scripts[1], (Source::File("a@b.sql".into()), 3));
    assert_eq!(run.scripts[2], (Source::Builtin("tpcb-like"), 2));
    assert_eq!((run.clients, run.jobs, run.style.length), (8, 4, Length::Seconds(5)));
    assert_eq!(run.query_mode, QueryMode::Prepared);
    assert_eq!(run.variables, [("x".to_owned(), "1".to_owned())]);
    let style = run.style;
    assert_eq!(
        (style.rate, style.latency_limit, style.progress),
        (Some(10.5), Some(2_500), Some(1))
    );
    assert!(run.skips_vacuum && style.reports_commands);
    assert_eq!((address.user.as_deref(), address.database.as_deref()), (Some("me"), Some("db")));
}

#[test]
fn initialisation_has_its_own_options() {
    let Ok(Request::Initialise(wanted, _)) =
        request("-i -s 5 -F 90 -n --foreign-keys --partitions=3 -q")
    else {
        panic!("this is an initialisation")
    };
    let expected = [Step::Drop, Step::Tables, Step::Generate, Step::PrimaryKeys, Step::ForeignKeys];
    assert_eq!(wanted.steps, expected);
    assert_eq!((wanted.scale, wanted.fillfactor, wanted.partitions), (5, 90, 3));
}

#[test]
fn a_seed_may_come_from_the_environment() {
    let arguments = ["-S".to_owned()];
    let environment = |name: &str| (name == "PGBENCH_RANDOM_SEED").then(|| "7".to_owned());
    let Ok(Request::Run(run, _)) = read(&arguments, &environment) else { panic!("a run") };
    assert_eq!(run.seed, Seed::Given(7));
}

/// The output of pgbench 15 for the same command lines.
#[test]
fn mistakes_are_reported_in_the_words_of_pgbench() {
    let cases = [
        ("-c 0", "-c/--clients must be in range 1..2147483647"),
        ("-c abc", "invalid value \"abc\" for option -c/--clients"),
        ("-t 0", "-t/--transactions must be in range 1..2147483647"),
        ("-T 5 -t 5", "specify either a number of transactions (-t) or a duration (-T), not both"),
        ("-i -t 5", "some of the specified options cannot be used in initialization (-i) mode"),
        ("-s 5 -F 10", "some of the specified options cannot be used in benchmarking mode"),
        ("-M foo", "invalid query mode (-M): \"foo\""),
        ("-D foo", "invalid variable definition: \"foo\""),
        ("-D v=", "invalid variable definition: \"v=\""),
        ("-D 1x=5", "option: invalid variable name: \"1x\""),
        ("-P 0", "-P/--progress must be in range 1..2147483647"),
        ("-R 0", "invalid rate limit: \"0\""),
        ("-L x", "invalid latency limit: \"x\""),
        ("--max-tries=-1", "invalid number of maximum tries: \"-1\""),
        (
            "--max-tries=0",
            "an unlimited number of transaction tries can only be used with --latency-limit or a duration (-T)",
        ),
        ("-i -s 0", "-s/--scale must be in range 1..2147483647"),
        ("-s 99999999999", "-s/--scale must be in range 1..2147483647"),
        ("--sampling-rate=2 -l", "invalid sampling rate: \"2\""),
        (
            "--sampling-rate=0.5",
            "log sampling (--sampling-rate) is allowed only when logging transactions (-l)",
        ),
        (
            "-l --aggregate-interval=1 --sampling-rate=.5 -T 3",
            "log sampling (--sampling-rate) and aggregation (--aggregate-interval) cannot be used at the same time",
        ),
        (
            "--aggregate-interval=1",
            "log aggregation is allowed only when actually logging transactions",
        ),
        (
            "-l --aggregate-interval=5 -T 3",
            "number of seconds for aggregation (5) must not be higher than test duration (3)",
        ),
        (
            "-l --aggregate-interval=2 -T 3",
            "duration (3) must be a multiple of aggregation interval (2)",
        ),
        (
            "--log-prefix=x",
            "log file prefix (--log-prefix) is allowed only when logging transactions (-l)",
        ),
        ("--progress-timestamp", "--progress-timestamp is allowed only under --progress"),
        ("-b select-only@0", "total script weight must not be zero"),
        ("-f s.sql@x", "invalid weight specification: @x"),
        ("-b se@-1", "weight specification out of range (0 .. 2147483647): -1"),
        ("-i -F 5", "-F/--fillfactor must be in range 10..100"),
        ("-i --partitions=-1", "--partitions must be in range 0..2147483647"),
        (
            "-i --partition-method=foo",
            "invalid partition method, expecting \"range\" or \"hash\", got: \"foo\"",
        ),
        (
            "-i --partition-method=hash",
            "--partition-method requires greater than zero --partitions",
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(error(line), format!("pgbench: error: {expected}"), "{line}");
    }
    let steps = "pgbench: error: unrecognized initialization step \"x\"\n\
                 pgbench: detail: Allowed step characters are: \"dtgGvpf\".";
    assert_eq!(error("-i -I dx"), steps);
    let seed = "pgbench: error: unrecognized random seed option \"foo\"\n\
                pgbench: detail: Expecting an unsigned integer, \"time\" or \"rand\".\n\
                pgbench: error: error while setting random seed from --random-seed option";
    assert_eq!(error("--random-seed=foo"), seed);
    let hint = "pgbench: hint: Try \"pgbench --help\" for more information.";
    assert_eq!(
        error("a b"),
        format!("pgbench: error: too many command-line arguments (first is \"b\")\n{hint}")
    );
    assert_eq!(error("-x"), format!("pgbench: invalid option -- 'x'\n{hint}"));
    assert!(
        error("-b foo")
            .starts_with("pgbench: error: no builtin script found for name \"foo\"\nAvailable")
    );
}

#[test]
fn some_options_only_print() {
    let Ok(Request::Tell(list)) = request("-b list") else { panic!("a list") };
    assert!(
        list.starts_with(
            "Available builtin scripts:\n      tpcb-like: <builtin: TPC-B (sort of)>\n"
        )
    );
    let Ok(Request::Tell(script)) = request("--show-script=simple-update") else {
        panic!("a script")
    };
    assert!(script.starts_with(
        "-- simple-update: <builtin: simple update>\n\\set aid random(1, 100000 * :scale)\n"
    ));
    assert!(script.ends_with("END;\n\n"));
    assert!(matches!(request("--help"), Ok(Request::Print(_))));
    assert!(matches!(request("-V"), Ok(Request::Print(_))));
}
