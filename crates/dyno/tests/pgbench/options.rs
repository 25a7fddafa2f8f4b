//! Command lines that are refused, and those that only print.

use crate::program::{BOTH, Ended, Program, has_pgbench, postgres};

const REFUSED: &[&str] = &[
    "-x",
    "--foo",
    "-c",
    "-c 0",
    "-c abc",
    "-t 0",
    "-T 5 -t 5",
    "-i -t 5",
    "-s 5 -F 10",
    "-b foo",
    "-b s",
    "-b @5",
    "-b se@-1",
    "-b se@5000000000",
    "-f s.sql@x",
    "-M foo",
    "-D foo",
    "-D 1x=5",
    "-D =5",
    "a b",
    "-f /nonexistent/file",
    "-f /dev/null",
    "-P 0",
    "-R 0",
    "-L 0",
    "--max-tries=-1",
    "--max-tries=0",
    "-i -I dx",
    "-i -s 0",
    "-s 99999999999",
    "-i -F 5",
    "--sampling-rate=2 -l",
    "--sampling-rate=0.5",
    "--aggregate-interval=1",
    "-l --aggregate-interval=5 -T 3",
    "-l --aggregate-interval=2 -T 3",
    "-l --aggregate-interval=1 --sampling-rate=.5 -T 3",
    "-S@0",
    "-b select-only@0",
    "-j 0",
    "-i --partitions=-1",
    "-i --partition-method=foo",
    "-i --partition-method=hash",
    "--log-prefix=x",
    "--progress-timestamp",
    "--random-seed=foo -S",
    "--client",
    "--initialize=3",
    "-b list",
    "--show-script=tpcb-like",
    "--show-script=simple-update",
    "--show-script=se",
];

#[test]
fn command_lines_are_refused_alike() {
    for line in REFUSED {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let ours = Program::Dyno.run_alone(&arguments).masked();
        assert!(matches!(ours.code, Some(0 | 1)), "{line}: {ours:?}");
        if has_pgbench() {
            let theirs = Program::Pgbench.run_alone(&arguments).masked();
            assert_eq!(ours, theirs, "{line}");
        }
    }
}

/// Lines that run, the tables being there.
const ACCEPTED: &[&str] = &[
    "-d -S -n -t 2",
    "-n -S -t 2 -d",
    "-S -n -t 2 --random-seed=time",
    "-S -n -t 2 --random-seed=rand",
    "-S -n -t 2 --random-seed=5",
    "-nSt2",
    "-c2 -j3 -S -t 1",
];

#[test]
fn accepted_command_lines_print_what_pgbench_prints() {
    let Some(bench) = postgres() else { return };
    if !has_pgbench() {
        return;
    }
    for line in ACCEPTED {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let [theirs, mut ours] = BOTH.map(|program| bench.run(program, &arguments).masked());
        if line.contains("-d") {
            // Only the real program tells what each client does.
            ours.stderr.clone_from(&theirs.stderr);
        }
        assert_eq!(without_seed(theirs), without_seed(ours), "{line}");
    }
}

/// A seed that was drawn is another one each time.
fn without_seed(mut ended: Ended) -> Ended {
    let reported = "pgbench: setting random seed to ";
    if let Some((before, rest)) = ended.stderr.split_once(reported) {
        let rest = rest.trim_start_matches(|character: char| character.is_ascii_digit());
        ended.stderr = format!("{before}{reported}N{rest}");
    }
    ended
}

#[test]
fn servers_and_databases_that_are_not_there_are_reported_alike() {
    let Some(bench) = postgres() else { return };
    for arguments in [&["-n", "-S", "-t", "1", "no such database"][..], &["-i", "no such database"]]
    {
        let ended = BOTH.map(|program| {
            (program == Program::Dyno || has_pgbench()).then(|| bench.run(program, arguments))
        });
        let [theirs, ours] = ended;
        let ours = ours.expect("dyno always runs");
        assert_eq!(ours.code, Some(1));
        assert!(
            ours.stderr.contains("FATAL:  database \"no such database\" does not exist"),
            "{}",
            ours.stderr
        );
        if let Some(theirs) = theirs {
            assert_eq!(ours.stderr, theirs.stderr);
        }
    }
    let nobody = Program::Dyno.run_alone(&["-n", "-S"]);
    assert_eq!(nobody.code, Some(1));
    assert!(
        nobody
            .stderr
            .starts_with("pgbench: error: connection to server at \"127.0.0.1\", port 1 failed: ")
    );
    assert!(nobody.stderr.ends_with("pgbench: error: could not create connection for setup\n"));
}

#[test]
fn called_by_its_name_the_program_is_pgbench() {
    let folder = dyno_testkit::TempDir::new().expect("a scratch folder can be made");
    let link = folder.path().join("pgbench");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_dyno"), &link).expect("a link can be made");
    let output = std::process::Command::new(&link).arg("-V").output().expect("the link can be run");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("pgbench (PostgreSQL) 15 (dyno "));
}
