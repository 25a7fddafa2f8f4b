//! `dyno pgbench` with generators.

use super::services::elsewhere;
use crate::program::{Bench, Ended, records};
use crate::shop::{Shop, ask};
use dyno_model::target::{Endpoint, Engine, Target};

/// Draws from all that pgbench gives a client, and leaves what it drew.
const DRAW: &str = "\\set k random(1, 1000000000)\n\\set h hash(:client_id)\n\
                    INSERT INTO drawn VALUES (:client_id, :k, :h, :scale, :given);\n";
const LOOK: &str = "SELECT count(*) FROM drawn;\n";

fn pgbench(bench: &Bench, arguments: &[&str]) -> Ended {
    bench.dyno(&[&["pgbench"], arguments].concat())
}

/// A figure of the report.
fn figure<'a>(ended: &'a Ended, name: &str) -> &'a str {
    let line = ended.stdout.lines().find_map(|line| line.trim().strip_prefix(name));
    line.unwrap_or_else(|| panic!("no {name}: {ended}")).trim_start_matches(':').trim()
}

#[test]
fn clients_draw_and_count_the_same_in_any_number_of_generators() {
    let bench = Bench::new();
    bench.file("draw.sql", DRAW);
    bench.file("look.sql", LOOK);
    let mut all = Vec::new();
    for generators in [&[][..], &["--generators=1"], &["--generators=3", "--launcher=slurm"]] {
        let file = format!("d{}.db", all.len());
        let target = Target::new(Engine::Sqlite, Endpoint::File(bench.path().join(&file)));
        ask(
            &target,
            "CREATE TABLE drawn (client INTEGER, k INTEGER, h INTEGER, s INTEGER, g TEXT)",
        );
        let url = format!("--url=sqlite:{}", bench.path().join(&file).display());
        let fixed = ["-n", "-c4", "-j2", "-t25", "-r", "-s7", "--random-seed=11", "--results=r"];
        let scripts = ["-fdraw.sql@3", "-flook.sql", "-Dgiven=it"];
        let line = [&["pgbench", url.as_str()], &fixed[..], &scripts[..], generators].concat();
        let ended = elsewhere(&bench, &line);
        assert_eq!(ended.code, 0, "{ended}");
        let processed = figure(&ended, "number of transactions actually processed");
        assert_eq!(processed, "100/100", "{ended}");
        let rows = ask(
            &target,
            "SELECT group_concat(line, ';') FROM (SELECT client||' '||k||' '||h||' '||s||' '||g \
             AS line FROM drawn ORDER BY client, k)",
        );
        // Each script and each command has counts of its own.
        let of_draw = rows.split(';').count();
        let share = format!("- {of_draw} transactions ({of_draw}.0% of total");
        assert!(of_draw < 100 && ended.stdout.contains(&share), "{share}: {ended}");
        assert!(ended.stdout.contains("INSERT INTO drawn VALUES"), "{ended}");
        let latency = figure(&ended, "latency average =");
        let latency: f64 = latency.trim_end_matches(" ms").parse().expect("it is a number");
        assert!(latency > 0.0, "{ended}");
        all.push(rows);
    }
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
    assert!(all[0].contains(" 7 it"), "{all:?}");
    for (record, clients) in records(&bench.path().join("r/pgbench")).iter().zip([0, 1, 3]) {
        let parts = record.generators.as_ref().map_or(0, |all| all.summaries.len());
        assert_eq!((record.counters.committed, parts), (100, clients));
        let unbalanced = record.facts.as_ref().map(|facts| &facts.unbalanced[..]);
        assert_eq!(unbalanced, Some(&[][..]), "what clients count is what the engine counts");
    }
}

#[test]
fn the_standard_script_keeps_its_sums_on_servers() {
    for engine in [Engine::Postgres, Engine::Mysql] {
        let Some(shop) = Shop::open(engine) else { continue };
        let url = format!("--url={}", shop.url);
        let ended = pgbench(&shop.bench, &["-i", "-q", "-s2", &url]);
        assert_eq!(ended.code, 0, "{ended}");
        let line = ["-c6", "-t40", "--generators=3", "-Mprepared", "--max-tries=50", &url];
        let ended = pgbench(&shop.bench, &line);
        assert_eq!(ended.code, 0, "{ended}");
        assert_eq!(figure(&ended, "number of transactions actually processed"), "240/240");
        assert_eq!(figure(&ended, "scaling factor"), "2", "{ended}");
        let sums = ["abalance) FROM pgbench_accounts", "bbalance) FROM pgbench_branches"];
        let delta = shop.ask("SELECT SUM(delta) FROM pgbench_history");
        for sum in sums {
            assert_eq!(shop.ask(&format!("SELECT SUM({sum}")), delta);
        }
        assert_eq!(shop.ask("SELECT COUNT(*) FROM pgbench_history"), "240");
    }
}

#[test]
fn clients_that_are_aborted_are_counted_and_their_messages_shown() {
    let bench = Bench::new();
    bench.file("bad.sql", "\\set n 1 / (:client_id - 2)\nSELECT :n;\n");
    let line = ["--url=sqlite:e.db", "-n", "-c4", "-t5", "-fbad.sql", "--generators=2"];
    let ended = pgbench(&bench, &line);
    assert_eq!(ended.code, 2, "{ended}");
    assert!(ended.stderr.contains("division by zero"), "{ended}");
    assert!(ended.stderr.contains("client 2 aborted"), "{ended}");
    assert!(ended.stderr.contains("Run was aborted"), "{ended}");
    assert_eq!(figure(&ended, "number of transactions actually processed"), "15/20");
}

#[test]
fn pgbench_options_incompatible_with_generators_are_refused() {
    let bench = Bench::new();
    for (line, reported) in [
        (&["--generators=2"][..], "--generators=2 is more than 1 clients (-c)"),
        (&["-c2", "--generators=2", "-l"], "--log (-l) cannot be used with --generators"),
        (&["-c2", "--generators=2", "-P1"], "--progress (-P) cannot be used with --generators"),
        (&["-c2", "--generators=2", "--launcher=ssh"], "--launcher=ssh: it is local, slurm or mpi"),
        (&["-c2", "--generators=0"], "--generators must be in range 1.."),
        (&["-i", "--generators=2"], "cannot be used in initialization (-i) mode"),
    ] {
        let ended = pgbench(&bench, line);
        assert!(ended.code == 1 && ended.stderr.contains(reported), "{reported}: {ended}");
    }
}
