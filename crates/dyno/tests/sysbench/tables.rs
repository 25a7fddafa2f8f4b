//! The bundled scripts: tables of one program are the other's too, and every script does the same
//! to the server, whether it is sysbench's own, ours in sysbench, ours run by dyno's native
//! workloads or ours run by dyno as Lua.

use crate::comparison::{counted, lines_that_differ};
use crate::mask;
use crate::program::{Ended, Program};
use crate::server::{self, Server};
use dyno_model::plan::ServerKind;
use std::path::Path;
use tempfile::TempDir;

/// Ways to run a bundled script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NetworkPath {
    /// sysbench with its own scripts: what the others must equal.
    Sysbench,
    /// sysbench with our scripts.
    OursInSysbench,
    /// dyno by the script's name: the native workload.
    Native,
    /// dyno with our script as a file: Lua.
    Lua,
}

const OTHERS: [NetworkPath; 3] =
    [NetworkPath::OursInSysbench, NetworkPath::Native, NetworkPath::Lua];

/// Every bundled script with options under which each thread does the same in any order.
const SCRIPTS: [(&str, &[&str]); 13] = [
    ("oltp_read_write", &["--tables=2"]),
    (
        "oltp_read_write",
        &[
            "--tables=2",
            "--skip-trx=on",
            "--range-selects=off",
            "--index-updates=3",
            "--delete-inserts=2",
        ],
    ),
    ("oltp_read_write", &["--tables=2", "--db-ps-mode=disable"]),
    ("oltp_read_only", &["--tables=2", "--point-selects=3", "--simple-ranges=2", "--range-size=7"]),
    ("oltp_write_only", &["--tables=2", "--non-index-updates=2"]),
    ("oltp_point_select", &["--tables=2", "--point-selects=5"]),
    ("oltp_update_index", &["--tables=2"]),
    ("oltp_update_non_index", &["--tables=2", "--non-index-updates=2"]),
    ("oltp_delete", &["--tables=2", "--table-size=1"]),
    ("oltp_insert", &["--tables=2"]),
    ("select_random_points", &["--tables=1", "--random-points=4"]),
    ("select_random_ranges", &["--tables=1", "--number-of-ranges=3", "--delta=2"]),
    ("bulk_insert", &[]),
];

impl NetworkPath {
    fn program(self) -> Program {
        match self {
            Self::Sysbench | Self::OursInSysbench => Program::Sysbench,
            Self::Native | Self::Lua => Program::Dyno,
        }
    }

    /// Runs a bundled script on a server.
    fn run(self, server: &Server, script: &str, arguments: &[&str]) -> Ended {
        let folder = TempDir::new().expect("a temporary folder can be made");
        let path = match self {
            Self::Sysbench | Self::Native => script.to_owned(),
            Self::OursInSysbench | Self::Lua => {
                copy_scripts(folder.path());
                format!("./{script}.lua")
            }
        };
        let driver = format!("--db-driver={}", server::driver(server.kind()));
        let connection = server::options(server.kind()).expect("the server runs");
        let mut all: Vec<&str> = connection.iter().map(String::as_str).collect();
        all.extend([driver.as_str(), path.as_str()]);
        all.extend(arguments);
        self.program().run(folder.path(), &all, b"")
    }

    fn succeed(self, server: &Server, script: &str, arguments: &[&str]) -> Ended {
        let ended = self.run(server, script, arguments);
        assert_eq!(
            ended.status,
            "0",
            "{self:?} {script} {arguments:?} on {}\n{ended}",
            server.kind().name()
        );
        ended
    }
}

fn copy_scripts(folder: &Path) {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dyno-lua/lua/bundled");
    for entry in std::fs::read_dir(scripts).expect("the bundled scripts are there") {
        let path = entry.expect("an entry").path();
        std::fs::copy(&path, folder.join(path.file_name().expect("a file has a name")))
            .expect("files can be copied");
    }
}

/// Runs a check on each server in turn.
fn on_each_server(check: impl Fn(&Server)) {
    for kind in crate::script::SERVERS {
        let Some(server) = server::take(kind) else { return };
        check(&server);
    }
}

const SIZE: [&str; 2] = ["--tables=2", "--table-size=300"];

#[test]
fn prepared_tables_match_sysbench_in_definition_and_data_shape() {
    on_each_server(|server| {
        for options in [&[][..], &["--auto-inc=off"], &["--create-secondary=off"], &["--threads=3"]]
        {
            let prepare = [&SIZE[..], options, &["prepare"]].concat();
            let mut expected = None;
            for way in [&[NetworkPath::Sysbench], &OTHERS[..]].concat() {
                if !way.program().is_available() {
                    continue;
                }
                server.clear();
                let output = way.succeed(server, "oltp_read_write", &prepare).stdout;
                let observed = format!("{}\n{}", reported(&output), server.tables(true));
                assert_shape(server, way);
                let expected = expected.get_or_insert_with(|| observed.clone());
                assert_eq!(
                    *expected,
                    observed,
                    "{way:?} {options:?}\n{}",
                    lines_that_differ(expected, &observed)
                );
            }
        }
    });
}

/// How often each step was told. Threads write at the same time, so that lines may run into each
/// other.
fn reported(output: &str) -> String {
    let steps = [
        "Creating table 'sbtest",
        "Inserting 300 records into 'sbtest",
        "Creating a secondary index on 'sbtest",
    ];
    let count = |step: &str| {
        [1, 2]
            .map(|table| {
                format!("{step}{table}': {}\n", output.matches(&format!("{step}{table}'")).count())
            })
            .concat()
    };
    steps.map(count).concat()
}

/// Ids without gaps, `k` within the table, and the documented pattern of `c` and `pad`.
fn assert_shape(server: &Server, way: NetworkPath) {
    let matches = if server.kind() == ServerKind::Postgres { "~" } else { "REGEXP" };
    let group = "[0-9]{11}";
    let (c, pad) = ([group; 10].join("-"), [group; 5].join("-"));
    for table in ["sbtest1", "sbtest2"] {
        let odd = server.query(&format!(
            "SELECT COUNT(*) FROM {table} WHERE NOT (k BETWEEN 1 AND 300 AND id BETWEEN 1 AND 300 \
             AND RTRIM(c) {matches} '^{c}$' AND RTRIM(pad) {matches} '^{pad}$')"
        ));
        assert_eq!(odd.first(), Some("0"), "{way:?} on {}", server.kind().name());
        let different =
            server.query(&format!("SELECT COUNT(DISTINCT c), COUNT(DISTINCT id) FROM {table}"));
        assert_eq!(different.0[0], [Some("300".to_owned()), Some("300".to_owned())], "{way:?}");
    }
}

#[test]
fn every_bundled_script_does_the_same_to_the_server_however_it_is_run() {
    on_each_server(|server| {
        for (script, options) in SCRIPTS {
            let mut expected: Option<String> = None;
            for way in [&[NetworkPath::Sysbench], &OTHERS[..]].concat() {
                if !way.program().is_available() {
                    continue;
                }
                // Only these two leave tables on which the next one would do something else.
                if expected.is_none() || ["oltp_delete", "bulk_insert"].contains(&script) {
                    server.clear();
                    way.succeed(
                        server,
                        script,
                        &[&SIZE[..], options, &["--table-size=300", "prepare"]].concat(),
                    );
                }
                let observed = observe(server, way, script, options);
                let expected = expected.get_or_insert_with(|| observed.clone());
                assert_eq!(
                    *expected,
                    observed,
                    "{way:?} {script} {options:?} on {}\n{}",
                    server.kind().name(),
                    lines_that_differ(expected, &observed)
                );
            }
        }
    });
}

/// The report of a run and what the server counted meanwhile.
fn observe(server: &Server, way: NetworkPath, script: &str, options: &[&str]) -> String {
    let before = server.counters();
    // Every way has a seed of its own: the same values once more would change nothing.
    let seed = way as u32 + 1;
    let seeded = format!("--rand-seed={seed}");
    let run = ["--events=12", "--time=0", "--threads=1", &seeded, "run"];
    let ended = way.succeed(server, script, &[&SIZE[..], options, &run].concat());
    let counters = counted(&before, &server.counters());
    let output =
        mask::lines(&ended.stdout).replace(&format!("from seed ({seed})"), "from seed (#)");
    format!("{output}\n{counters}")
}

#[test]
fn tables_of_one_program_are_run_and_dropped_by_the_other() {
    if !Program::Sysbench.is_available() || !Program::Dyno.is_available() {
        return;
    }
    let workloads = ["oltp_read_write", "oltp_delete", "oltp_insert", "select_random_points"];
    on_each_server(|server| {
        for (makes, runs) in [
            (NetworkPath::Sysbench, NetworkPath::Native),
            (NetworkPath::Sysbench, NetworkPath::Lua),
            (NetworkPath::Native, NetworkPath::Sysbench),
            (NetworkPath::Lua, NetworkPath::Sysbench),
            (NetworkPath::Native, NetworkPath::Lua),
            (NetworkPath::Lua, NetworkPath::Native),
        ] {
            server.clear();
            makes.succeed(server, "oltp_read_write", &[&SIZE[..], &["prepare"]].concat());
            for script in workloads {
                let limits = ["--events=20", "--time=0", "--threads=2", "run"];
                let run = [&SIZE[..], &limits].concat();
                let ended = runs.succeed(server, script, &run);
                assert!(
                    ended.stdout.contains("transactions:                        20 "),
                    "{runs:?} {script}\n{ended}"
                );
            }
            runs.succeed(server, "oltp_read_write", &["--tables=2", "cleanup"]);
            assert_eq!(server.tables(true), "", "{makes:?} made them, {runs:?} dropped them");
        }
    });
}

#[test]
fn connections_are_made_again_after_so_many_events() {
    on_each_server(|server| {
        server.clear();
        NetworkPath::Native.succeed(server, "oltp_read_write", &[&SIZE[..], &["prepare"]].concat());
        for script in ["oltp_read_write", "oltp_insert", "select_random_ranges"] {
            for way in OTHERS {
                let limits = ["--reconnect=3", "--events=12", "--time=0", "--threads=1", "run"];
                let run = [&SIZE[..], &limits].concat();
                let ended = way.succeed(server, script, &run);
                let is_counted = ended.stdout.contains("reconnects:                          4 ");
                assert!(is_counted, "{way:?} {script} on {}\n{ended}", server.kind().name());
            }
        }
    });
}

#[test]
fn prewarming_is_for_mysql() {
    on_each_server(|server| {
        for way in [&[NetworkPath::Sysbench], &OTHERS[..]].concat() {
            if !way.program().is_available() {
                continue;
            }
            server.clear();
            way.succeed(server, "oltp_read_only", &[&SIZE[..], &["prepare"]].concat());
            let ended = way.run(server, "oltp_read_only", &[&SIZE[..], &["prewarm"]].concat());
            if server.kind() == ServerKind::Postgres {
                assert_eq!(ended.status, "1", "{way:?}\n{ended}");
                assert!(
                    ended.stdout.contains("prewarm is currently MySQL only"),
                    "{way:?}\n{ended}"
                );
            } else {
                assert_eq!(ended.status, "0", "{way:?}\n{ended}");
                let expected = "Prewarming table sbtest1\nPrewarming table sbtest2\n";
                assert!(ended.stdout.ends_with(expected), "{way:?}\n{ended}");
            }
        }
    });
}

#[test]
fn a_file_in_the_current_folder_wins_over_the_bundled_module() {
    let script = "require('oltp_common')\nprint(from_here)\nfunction event() end\n";
    for program in [Program::Sysbench, Program::Dyno] {
        if !program.is_available() {
            continue;
        }
        let folder = TempDir::new().expect("a temporary folder can be made");
        std::fs::write(folder.path().join("mine.lua"), script).expect("a file can be written");
        std::fs::write(folder.path().join("oltp_common.lua"), "from_here = 'my own module'\n")
            .expect("a file can be written");
        let ended = program.run(folder.path(), &["mine.lua"], b"");
        assert!(ended.stdout.contains("my own module"), "{program:?}\n{ended}");
    }
}
