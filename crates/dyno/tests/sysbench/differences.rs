//! Everything in which `dyno sysbench` may differ from sysbench 1.0.20, each with its reason.
//! docs/sysbench.md says the same.
//!
//! What is too general for the table: the first line names the program and its LuaJIT; percentiles
//! are exact where sysbench gives the middle of a bucket; and the counters of preparing and closing
//! statements, and on PostgreSQL of transactions, are not compared, because drivers do these at
//! different times and some for their own purposes.

use dyno_model::plan::ServerKind;

/// One allowed difference: where `sysbench` writes one text, a line or a few, dyno writes another.
pub(crate) struct Difference {
    /// `TOPIC/name` of the scripts that show it.
    scripts: &'static [&'static str],
    /// The driver it is seen with; `None` for any.
    driver: Option<&'static str>,
    /// The part of what is observed: `output`, `messages`, `counters` or `tables`.
    part: &'static str,
    sysbench: &'static str,
    dyno: &'static str,
    /// For users.
    reason: &'static str,
}

const DIFFERENCES: &[Difference] = &[
    // Options.
    lines(
        &["options/number_junk"],
        "$ --number=abc prepare\nsysbench 1.0.20 (#)\n\n0\nexit 0\n$ --number=12abc prepare\nsysbench 1.0.20 (#)\n\n12\nexit 0",
        "$ --number=abc prepare\nsysbench 1.0.20 (#)\n\nexit 1\n$ --number=12abc prepare\nsysbench 1.0.20 (#)\n\nexit 1",
        "A number that is none is an error; sysbench goes on with what stands before the junk, or with 0.",
    ),
    lines(
        &["options/number_junk"],
        "$ --number=abc prepare\n\n$ --number=12abc prepare\n\n",
        "$ --number=abc prepare\nInvalid value for the 'number' option: 'abc'\n$ --number=12abc prepare\nInvalid value for the 'number' option: '12abc'\n",
        "The same in words.",
    ).in_part("messages"),
    lines(
        &["options/size_suffix"],
        "\n1\n",
        "\n1048576\n",
        "Numbers take the suffixes K, M, G and T, powers of 1024; sysbench stops reading at the letter.",
    ),
    lines(
        &["options/size_suffix"],
        "\n4\n",
        "\n4096\n",
        "The same for K.",
    ),
    lines(
        &["options/dashes_in_table"],
        "--with-dash=N",
        "--with_dash=N",
        "Help shows every name with underscores.",
    ),
    lines(
        &["options/not_described"],
        "`sysbench.cmdline.read_cmdline_options' function failed: [string \"sysbench.cmdline.lua\"]:137: nil description for option silent",
        "nil description for option silent",
        "The place of a mistake in an option table would be one within dyno.",
    ),
    lines(
        &["options/numbered"],
        "`sysbench.cmdline.read_cmdline_options' function failed: [string \"sysbench.cmdline.lua\"]:132: wrong table structure in sysbench.cmdline.options",
        "wrong table structure in sysbench.cmdline.options: a name is no string",
        "The same, without a place within dyno.",
    ),
    lines(
        &["options/wrong_defaults"],
        "$ --kind=4 prepare\n\n",
        "$ --kind=4 prepare\nInvalid value for the 'value' option: 'maybe'\n",
        "A default that is no switch is told; sysbench ends without a word.",
    ).in_part("messages"),
    lines(
        &["options/text_entry"],
        "`sysbench.cmdline.read_cmdline_options' function failed: [string \"sysbench.cmdline.lua\"]:132: wrong table structure in sysbench.cmdline.options",
        "wrong type for option wrong",
        "A mistake in an option table is told with the option's name.",
    ),
    lines(
        &["legacy/test_option"],
        "deprecated. You can pass a script name or path on the command line without any options.",
        "deprecated: name the script without any option.",
        "Own words.",
    ).in_part("messages"),
    lines(
        &["options/same_name"],
        "5\t6",
        "3\t6",
        "A script that declares an option of the program does not overwrite what the user gave (sysbench issue 151).",
    ),
    // Commands.
    lines(
        &["commands/parallel_failure"],
        "exit 0",
        "exit 1",
        "A parallel command that fails in a thread fails: whoever prepares and runs must notice.",
    ),
    lines(
        &["errors/commands"],
        "FATAL: `sysbench.cmdline.call_command' function failed: [string \"sysbench.cmdline.lua\"]:194: attempt to call a number value\n",
        "",
        "A command that is no function is unknown.",
    ),
    lines(
        &["errors/commands"],
        "$ number\n\n",
        "$ number\nUnknown command: number\n",
        "The same in words.",
    ).in_part("messages"),
    // The script.
    lines(
        &["engine/paths"],
        "nil\tnil",
        "stdin\tstdin",
        "A script from the standard input has a name, so that string.match(test, ...) does not fail.",
    ),
    lines(
        &["random/texts"],
        "false\nfalse\nfalse",
        "true\ntrue\nfalse",
        "Random functions take numbers as texts, which options of the 0.5 era are.",
    ),
    lines(
        &["legacy/numbers_as_texts"],
        "false\ttrue",
        "true\ttrue",
        "The same for sb_rand.",
    ),
    // SQL.
    lines(
        &["errors/no_host"],
        "aborting\nFATAL: `thread_init' function failed: errors/no_host.lua:7: failed to initialize the DB driver",
        "aborting\nFATAL: `thread_init' function failed: errors/no_host.lua:7: connection creation failed",
        "Hosts are needed by whoever connects.",
    ),
    lines(
        &["wild/time_limits"],
        "mysql_store_result() returned error 1969 (Query execution was interrupted (max_statement_time exceeded))",
        "mysql_drv_query() returned error 1969 (Query execution was interrupted (max_statement_time exceeded)) for query 'SELECT SLEEP(0.03) FROM numbers WHERE n > 0'",
        "A failure in the middle of a result is told as any other, with its statement.",
    ).of_driver("mysql"),
    lines(
        &["sql/fetch_prepared"],
        "true\t2\t0",
        "true\t2\t1",
        "The result of a prepared statement knows its number of columns, and its rows can be fetched.",
    ),
    lines(
        &["sql/results"],
        "ALERT: attempt to fetch row from an empty result set\n",
        "",
        "Fetching beyond the last row is no mistake.",
    ),
    lines(
        &["errors/bind_count"],
        "FATAL: Wrong number of parameters to mysql_stmt_bind_param\n",
        "",
        "Too few parameters are told when the statement is executed.",
    ),
    lines(
        &["errors/bind_length"],
        "[string \"sysbench.sql.lua\"]:399: bad argument #2 to 'new' (cannot convert 'nil' to 'int')",
        "errors/bind_length.lua:8: no length is needed",
        "A text parameter without a length takes any text.",
    ),
    lines(
        &["errors/bulk_row_too_long"],
        "Query length exceeds the maximum value (524288), aborting",
        "a row of 600004 bytes does not fit the bulk insert buffer of 524288 bytes",
        "Own words, with the row's length.",
    ),
    lines(
        &["errors/prepare_fails"],
        "SQL API error",
        "SQL error, errno = 1146, state = '42S02': Table 'suite.missing' doesn't exist",
        "A statement that cannot be prepared says why.",
    ).of_driver("mysql"),
    lines(
        &["errors/prepare_fails"],
        "not reached on MySQL\nThreads started!\n\nexit signal 11",
        "FATAL: PQprepare() failed: 7 relation \"missing\" does not exist\nFATAL: failed query was: SELECT * FROM missing WHERE a = ?\nFATAL: `thread_init' function failed: errors/prepare_fails.lua:6: SQL error, errno = 0, state = '42P01': relation \"missing\" does not exist\nFATAL: Thread initialization failed!\nexit 1",
        "Statements are prepared on PostgreSQL when the script asks for it; sysbench puts it off and crashes.",
    ).of_driver("pgsql"),
    lines(
        &["errors/execute_fails"],
        "7 division by zero\nFATAL: `thread_run'",
        "7 division by zero\nFATAL: failed query was: SELECT 1 / CAST(? AS INTEGER)\nFATAL: `thread_run'",
        "The statement that failed is told, also when it was prepared.",
    ).of_driver("pgsql"),
    lines(
        &["errors/duplicate_key"],
        "constraint \"t_pkey\"\t",
        "constraint \"t_pkey\" (Key (id)=(1) already exists.)\t",
        "PostgreSQL's detail is part of the message.",
    ).of_driver("pgsql"),
    lines(
        &["errors/killed"],
        "Lost connection to server during query",
        "the server closed the connection",
        "A lost connection has the same number, 2013, and dyno's words.",
    ),
    lines(
        &["sql/load_data"],
        "File 'missing.csv' not found (Errcode: 2)",
        "cannot read the file 'missing.csv': No such file or directory (os error 2)",
        "Own words, the same number.",
    ),
    lines(
        &["errors/no_server"],
        "FATAL: error 2002: Can't connect to server on '127.0.0.1' (115)",
        "FATAL: error 2003: cannot connect to 127.0.0.1:1: Connection refused (os error 111)",
        "MySQL's own client has 2003 for TCP; MariaDB's library, which Debian's sysbench uses, 2002.",
    ),
    lines(
        &["errors/no_server"],
        "connection to server at \"127.0.0.1\", port 1 failed: Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?\n\n",
        "cannot connect to 127.0.0.1:1: Connection refused (os error 111)\n",
        "Own words.",
    ),
    lines(
        &["errors/wrong_database", "errors/wrong_password"],
        "\n\nFATAL: `thread_",
        "\nFATAL: `thread_",
        "The server's words without where it is, and without an empty line.",
    ).of_driver("pgsql"),
    // Mistakes that sysbench passes over, or dies of.
    lines(
        &["errors/null_result"],
        "exit signal 11",
        "FATAL: `thread_run' function failed: errors/null_result.lua:7: attempt to index a result set with 'nrows': the statement returned no rows\nexit 1",
        "An error with file and line; sysbench crashes.",
    ),
    lines(
        &["errors/statement_after_close"],
        "exit signal 11",
        "FATAL: `thread_run' function failed: errors/statement_after_close.lua:8: the statement is closed\nexit 1",
        "An error with file and line; sysbench crashes.",
    ),
    lines(
        &["errors/statement_after_disconnect"],
        "ALERT: attempt to use an already closed connection\ntrue\t<sql_result>",
        "false\tthe connection of this statement is closed",
        "An error; sysbench goes on as if the statement had been executed.",
    ),
    lines(
        &["errors/query_after_disconnect"],
        "ALERT: attempt to use an already closed connection\nFATAL: `thread_run' function failed: SQL API error",
        "FATAL: `thread_run' function failed: errors/query_after_disconnect.lua:7: the connection is closed",
        "The error has file and line.",
    ),
    lines(
        &["errors/disconnect_twice"],
        "ALERT: attempt to close an already closed connection\n",
        "",
        "A connection that is closed may be closed again.",
    ),
    lines(
        &["errors/freed_result"],
        "ALERT: attempt to fetch row from an invalid result set\ntrue\tnil",
        "false\tthe result is no longer valid: it was freed, or another statement ran on its connection",
        "An error; sysbench gives nil, or rows of another result.",
    ),
    lines(
        &["errors/freed_twice"],
        "ALERT: attempt to free an invalid result set\nfalse\tdb_free_results() failed",
        "true",
        "A result that is freed may be freed again.",
    ),
    lines(
        &["wild/statements_in_init"],
        "read:                            1\n        write:                           1\n        other:                           5\n        total:                           7\n",
        "read:                            0\n        write:                           0\n        other:                           4\n        total:                           4\n",
        "Statements of init() are not counted: they come before the run.",
    ),
    lines(
        &["wild/statements_in_init"],
        "queries:                             7      (",
        "queries:                             4      (",
        "The same in the sum.",
    ),
    lines(
        &["wild/conflict_journal"],
        "Com_rollback 4",
        "Com_rollback 8",
        "An ignored error is rolled back before the script's hook, which does it once more.",
    ).of_driver("mysql").in_part("counters"),
    // Reports.
    lines(
        &["reports/checkpoints"],
        "(last message repeated 1 times)\n",
        "\n",
        "Lines of reports are never taken for repetitions.",
    ),
    lines(
        &["reports/cumulative_hook"],
        "7\t0\t0",
        "7\t2\t0",
        "threads_running is the number of threads in the last report too (sysbench issue 194).",
    ),
    lines(
        &["reports/formats"],
        "2,0,1.50",
        "2,1,1.50",
        "The same in CSV.",
    ),
    lines(
        &["reports/formats"],
        "\"threads\": 0",
        "\"threads\": 1",
        "The same in JSON.",
    ),
    lines(
        &["reports/hook_with_connection"],
        "end | 0",
        "end | 2",
        "The same as a script stores it.",
    ).in_part("tables"),
    lines(
        &["reports/forced_shutdown"],
        "\n\nNumber of unfinished",
        "\nWARNING: 1 thread(s) are still busy and were left behind\n\nNumber of unfinished",
        "Threads that a statement or a sleep still holds are told.",
    ),
];

/// A difference in the output with every driver.
const fn lines(
    scripts: &'static [&'static str],
    sysbench: &'static str,
    dyno: &'static str,
    reason: &'static str,
) -> Difference {
    Difference { scripts, driver: None, part: "output", sysbench, dyno, reason }
}

/// The differences that a script may show on a server.
pub(crate) fn of(
    script: &str,
    server: Option<ServerKind>,
) -> impl Iterator<Item = &'static Difference> {
    let driver = server.map(crate::server::driver);
    DIFFERENCES.iter().filter(move |difference| {
        difference.driver.is_none_or(|name| driver == Some(name))
            && difference.scripts.contains(&script)
    })
}

impl Difference {
    const fn of_driver(mut self, driver: &'static str) -> Self {
        self.driver = Some(driver);
        self
    }

    const fn in_part(mut self, part: &'static str) -> Self {
        self.part = part;
        self
    }

    /// Whether it is seen in this part of what is observed.
    pub(crate) fn is_in(&self, part: &str) -> bool {
        self.part == part
    }

    /// Why it is so.
    pub(crate) fn reason(&self) -> &'static str {
        self.reason
    }

    /// What dyno is expected to write where sysbench wrote `text`.
    pub(crate) fn apply(&self, text: &str) -> String {
        text.replace(self.sysbench, self.dyno)
    }
}

#[test]
fn every_difference_belongs_to_a_script_and_says_why() {
    for difference in DIFFERENCES {
        for name in difference.scripts {
            let path = crate::script::folder().join(format!("{name}.lua"));
            assert!(path.exists(), "{name} is gone, and with it its difference");
        }
        assert!(difference.reason.ends_with('.') && difference.sysbench != difference.dyno);
    }
}
