//! The command lines of two published evaluations, word for word but for places, sizes and times:
//! MariaDB's thread pool (oltp_read_write by its path, with 10, 20 and 40 threads) and a cloud
//! vendor's network (three workloads, a line a second).

use crate::comparison::lines_that_differ;
use crate::mask;
use crate::program::{Ended, Program};
use crate::server::{self, Server};
use dyno_model::plan::ServerKind;
use tempfile::TempDir;

/// Where Debian has sysbench's own scripts; where sysbench is missing, so are they.
const INSTALLED: &str = "/usr/share/sysbench";
/// Where those have them who build it from source and run it in its folder. There is no such folder
/// here: dyno's own scripts stand in.
const BUILT: &str = "src/lua";

/// A program with the folder of the scripts that it is given.
const WAYS: [(Program, &str); 3] =
    [(Program::Sysbench, INSTALLED), (Program::Dyno, INSTALLED), (Program::Dyno, BUILT)];

/// Runs a script by its path. Blanks separate the words of `options`.
fn run(server: &Server, (program, folder): (Program, &str), script: &str, options: &str) -> Ended {
    let place = TempDir::new().expect("a temporary folder can be made");
    let path = format!("{folder}/{script}.lua");
    let mut connection = server::options(server.kind()).expect("the server runs");
    connection.push(format!(
        "--mysql-socket={}",
        server::socket(server.kind()).expect("it has a socket")
    ));
    let mut all = vec![path.as_str()];
    all.extend(connection.iter().map(String::as_str));
    all.extend(options.split_whitespace());
    let ended = program.run(place.path(), &all, b"");
    assert_eq!(ended.status, "0", "{program:?} {path} {options}\n{ended}");
    ended
}

/// What a program wrote, without its figures: which lines in which order.
fn shape(ended: &Ended) -> String {
    assert_eq!(ended.stderr, "");
    let is_stand_in =
        |line: &&str| line.starts_with("There is no file '") && line.contains("using dyno's own");
    let mut text =
        ended.stdout.lines().filter(|line| !is_stand_in(line)).collect::<Vec<_>>().join("\n");
    // Threads of prepare write at the same time: a line's end may come after the beginning of
    // another.
    let is_prepare = text.contains("Creating table");
    if is_prepare {
        text = text.replace("Creating ", "\nCreating ").replace("Inserting ", "\nInserting ");
    }
    let mut lines: Vec<String> = Vec::new();
    for line in mask::lines(&text).lines() {
        let mut words: Vec<String> = Vec::new();
        for word in line.split_whitespace() {
            let is_number = word.starts_with(|c: char| c.is_ascii_digit() || c == '(' || c == '#');
            let word: String = if is_number { "#".to_owned() } else { word.to_owned() };
            if words.last() != Some(&word) {
                words.push(word);
            }
        }
        let line = words.join(" ");
        // How many lines a timer writes depends on the machine.
        if line.is_empty() || lines.last() != Some(&line) {
            lines.push(line);
        }
    }
    if is_prepare {
        lines.retain(|line| !line.is_empty());
        lines.sort();
    }
    lines.join("\n")
}

/// The number behind a label of the report.
fn figure(ended: &Ended, label: &str) -> u64 {
    let line = ended.stdout.lines().find(|line| line.trim_start().starts_with(label));
    let number = line
        .and_then(|line| line.split_once(label))
        .and_then(|(_, rest)| rest.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("no {label}\n{ended}"))
}

/// Runs the same command in every way and compares the outputs; what the runs left is given to
/// `check`.
fn in_every_way(server: &Server, script: &str, options: &str, check: impl Fn(&Ended)) {
    let mut expected: Option<String> = None;
    for way in
        WAYS.into_iter().filter(|(_, folder)| *folder == BUILT || Program::Sysbench.is_available())
    {
        let ended = run(server, way, script, options);
        let observed = shape(&ended);
        let expected = expected.get_or_insert_with(|| observed.clone());
        let difference = lines_that_differ(expected, &observed);
        assert_eq!(*expected, observed, "{way:?} {script} {options}\n{difference}");
        check(&ended);
    }
}

/// Prepares and drops the tables in every way; those of the last way stay for the runs.
fn prepare(server: &Server, script: &str, options: &str) {
    server.clear();
    in_every_way(server, script, &format!("{options} prepare"), |_| {
        assert_eq!(server.query("SELECT COUNT(*) FROM sbtest10").first(), Some("500"));
        run(server, WAYS[2], script, "--tables=10 cleanup");
    });
    run(server, WAYS[2], script, &format!("{options} prepare"));
}

fn on_both(check: impl Fn(&Server)) {
    for kind in [ServerKind::Mariadb, ServerKind::Mysql] {
        let Some(server) = server::take(kind) else { return };
        check(&server);
    }
}

#[test]
fn the_commands_of_the_thread_pool_study_do_the_same() {
    on_both(|server| {
        let tables = "--table-size=500 --tables=10";
        prepare(server, "oltp_read_write", &format!("--threads=10 {tables}"));
        for threads in [10, 20, 40] {
            let options =
                format!("--threads={threads} {tables} --time=1 --mysql-ignore-errors=all run");
            in_every_way(server, "oltp_read_write", &options, |ended| {
                assert!(
                    ended.stdout.contains(&format!("Number of threads: {threads}\n")),
                    "{ended}"
                );
                assert!(figure(ended, "total number of events:") > 0, "{ended}");
            });
        }
        in_every_way(server, "oltp_read_write", &format!("{tables} cleanup"), |_| {
            assert_eq!(server.tables(true), "");
        });
    });
}

#[test]
fn the_commands_of_the_network_study_do_the_same() {
    on_both(|server| {
        let tables = "--tables=10 --table-size=500";
        prepare(server, "oltp_read_write", &format!("{tables} --threads=2"));
        let times = "--time=2 --events=0 --percentile=95 --report-interval=1";
        for (script, more, threads) in [
            ("oltp_write_only", "", 2),
            ("oltp_read_only", "--skip-trx=1", 16),
            ("oltp_read_write", "", 16),
        ] {
            let options = format!("{tables} --threads={threads} {times} {more} run");
            in_every_way(server, script, &options, |ended| {
                // A line that comes late has a later time.
                assert!(ended.stdout.contains(&format!("s ] thds: {threads} tps: ")), "{ended}");
                assert!(ended.stdout.contains("95th percentile:"), "{ended}");
                let (events, reads) =
                    (figure(ended, "total number of events:"), figure(ended, "read:"));
                if script == "oltp_read_only" {
                    assert_eq!((reads, figure(ended, "other:")), (14 * events, 0), "{ended}");
                }
            });
        }
    });
}
