//! Whole runs on real servers: lost updates, counts against the servers' own counters, tables
//! shared with sysbench, servers that die, databases that are not dyno's.

use crate::program::{
    Bench, Ended, SETTLING_QUESTIONS_MAX, flaws, postgres_commits, questions_max, records, signal,
};
use crate::running::Running;
use dyno_drivers::{Connection, Driver, Io, Table, block_on};
use dyno_host::server::RunningServer;
use dyno_model::audit::AuditCheck;
use dyno_model::event::Phase;
use dyno_model::plan::ServerKind;
use dyno_model::record::TrialRecord;
use dyno_model::target::{Endpoint, Target};
use dyno_testkit::{require_server, running_server};
use std::path::Path;
use std::process::{Command, Stdio};

const SERVERS: [ServerKind; 3] = [ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Postgres];
/// Environment variable that hands the servers' passwords to dyno.
const PASSWORD: &str = "DYNO_TEST_PASSWORD";

/// A `[[system]]` table for a server that runs.
fn system(target: &Target) -> String {
    let Endpoint::Tcp { host, port } = &target.endpoint else {
        panic!("managed servers listen on TCP")
    };
    let Target { engine, user, database, .. } = target;
    format!(
        "[[system]]\nname = \"running\"\nurl = \"{engine}://{user}@{host}:{port}/{database}\"\npassword_env = \"{PASSWORD}\"\n"
    )
}

fn run(bench: &Bench, server: &RunningServer, arguments: &[&str]) -> Ended {
    let mut command = bench.command(arguments);
    command.env(PASSWORD, server.target().password.reveal());
    Ended::from(command.output().expect("dyno can be started"))
}

fn query(server: &RunningServer, sql: &str) -> Table {
    let mut table = Table::default();
    block_on(async {
        let mut connection = Connection::connect(&server.target(), &Io::Blocking).await?;
        connection.query(sql, &mut table).await
    })
    .unwrap_or_else(|failure| panic!("{sql}: {failure}"));
    table
}

#[test]
fn only_read_modify_write_loses_updates_on_every_server() {
    for kind in SERVERS {
        if require_server(kind).is_none() {
            return;
        }
    }
    let bench = Bench::new();
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/rush.toml");
    let spec = spec.to_str().expect("a path of text");
    // Fewer counters than the experiment has: whatever the machine does, some clients then meet.
    let arguments = ["run", spec, "--profile", "smoke", "--set", "workload.rows=10", "--out", "r"];
    let ended = bench.dyno(&[&arguments[..], &["--set", "load.clients=[1, 20]"]].concat());
    assert!(ended.is_done(), "{ended}");
    let plan: serde_json::Value =
        serde_json::from_slice(&std::fs::read(bench.path().join("r/plan.json")).unwrap()).unwrap();
    let records = records(&bench.path().join("r"));
    assert_eq!(records.len(), 3 * 4 * 2);
    for record in records {
        let configuration = &plan["configurations"][record.trial.configuration];
        let (variant, clients) = (
            configuration["levels"][0].as_str().unwrap(),
            configuration["clients"].as_u64().unwrap(),
        );
        let [check @ AuditCheck::LostUpdates { committed, witnessed, .. }] =
            &record.audit.checks[..]
        else {
            panic!("unexpected audit {:?}", record.audit);
        };
        let balance = check.balance().expect("it was run");
        let lost = balance.lost_min;
        assert_eq!(
            (*committed, balance.surplus_min),
            (record.counters.committed, 0),
            "{variant} with {clients} clients"
        );
        // On ten counters an optimistic transaction may lose all its attempts to others.
        let least = if variant == "optimistic" { 900 } else { 1_000 };
        assert!(
            (least..=1_000).contains(committed),
            "{variant} with {clients} clients committed {committed}"
        );
        if variant == "read-modify-write" && clients > 1 {
            assert!(
                lost > 0 && *witnessed > 0,
                "{clients} clients lost nothing on {}",
                configuration["system"]
            );
        } else {
            assert_eq!(
                (lost, *witnessed),
                (0, 0),
                "{variant} with {clients} clients on {}",
                configuration["system"]
            );
        }
    }
    for server in ["MariaDB", "MySQL", "PostgreSQL"] {
        let sentence = format!("{server} (read-modify-write) lost");
        assert!(ended.stdout.contains(&sentence), "the report says so in words: {ended}");
    }
    let reported = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(reported.contains("lost no acknowledged updates"), "{ended}");
    assert_eq!(bench.names(), ["r"], "no scratch folder is left");
}

#[test]
fn statement_counts_agree_with_the_servers_own_counters() {
    for kind in SERVERS {
        // PostgreSQL counts the statistics that its vacuum gathers as inserted rows.
        let settings: &[_] =
            if kind == ServerKind::Postgres { &[("autovacuum", "off")] } else { &[] };
        let Some(server) = running_server(kind, settings) else { continue };
        let bench = Bench::new();
        let spec = format!(
            "title = \"Counting\"\n{}[workload]\nkind = \"oltp_read_write\"\ntables = 2\ntable_size = 500\n\
             [load]\nclients = 4\ntransactions = 300\n[design]\nblocks = 1\n",
            system(&server.target())
        );
        bench.file("counting.toml", spec);
        let ended = run(&bench, &server, &["run", "counting.toml", "--out", "r"]);
        assert!(ended.is_done(), "{ended}");
        let [record] = &records(&bench.path().join("r"))[..] else { panic!("one trial") };
        assert_eq!(record.counters.check(), Vec::<String>::new());
        let ok = |kinds: &[&str]| -> i64 {
            let counts = record
                .counters
                .statements
                .iter()
                .filter(|count| kinds.contains(&count.name.as_str()));
            counts.map(|count| i64::try_from(count.ok).unwrap()).sum()
        };
        let theirs = |name: &str| record.server_counters.get(name).copied().unwrap_or(0);
        if kind == ServerKind::Postgres {
            // dyno's own questions (have all sessions ended, what do the counters say) commit too.
            // Before version 15 rows, too, are counted late.
            let Some(commits) = postgres_commits(record) else { continue };
            let difference = commits - ok(&["commit"]);
            let own = SETTLING_QUESTIONS_MAX + 2 * questions_max(&bench.path().join("r"), record);
            assert!((0..=own).contains(&difference), "xact_commit differs by {difference}");
            // A delete that waited for another client's delete and insert of the same row finds
            // nothing, and its own insert fails: its row was in the table before the index refused
            // it, so the server has counted it.
            let failed: u64 = record.counters.statements.iter().map(|count| count.failed).sum();
            let refused = theirs("tup_inserted") - ok(&["insert"]);
            assert!(
                (0..=i64::try_from(failed).unwrap()).contains(&refused),
                "tup_inserted: {refused}"
            );
            let found_nothing = ok(&["delete"]) - theirs("tup_deleted");
            assert!(
                (0..=i64::try_from(failed).unwrap()).contains(&found_nothing),
                "tup_deleted: {found_nothing}"
            );
        } else {
            // A deadlock's victim is counted by neither side as committed, and its repetition by
            // both.
            let selects =
                ["point-select", "simple-range", "sum-range", "order-range", "distinct-range"];
            for (counter, kinds) in [
                ("Com_select", &selects[..]),
                ("Com_update", &["index-update", "non-index-update"]),
                ("Com_delete", &["delete"]),
                ("Com_insert", &["insert"]),
                ("Com_begin", &["begin"]),
                ("Com_commit", &["commit"]),
            ] {
                let failed: u64 = record.counters.statements.iter().map(|count| count.failed).sum();
                let difference = theirs(counter) - ok(kinds);
                // Statements that failed count on the server and not here; so do the monitor's
                // questions.
                let questions = questions_max(&bench.path().join("r"), record);
                let others = if counter == "Com_select" { questions } else { 0 };
                assert!(
                    (0..=i64::try_from(failed).unwrap() + others).contains(&difference),
                    "{counter} on {kind}: {difference}"
                );
            }
        }
        // What dyno made on a server that was there already is gone again.
        let tables = match kind {
            ServerKind::Postgres => {
                query(&server, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            }
            _ => query(&server, "SHOW TABLES"),
        };
        assert!(tables.0.is_empty(), "left on {kind}: {:?}", tables.0);
    }
}

#[test]
fn dyno_measures_sysbench_tables_and_sysbench_uses_dyno_tables() {
    for (kind, driver) in [(ServerKind::Mariadb, "mysql"), (ServerKind::Postgres, "pgsql")] {
        let Some(server) = running_server(kind, &[]) else { return };
        let target = server.target();
        let Endpoint::Tcp { host, port } = &target.endpoint else { panic!("TCP") };
        let sysbench = |arguments: &[&str]| {
            let output = Command::new("sysbench")
                .arg("oltp_read_write")
                .arg(format!("--db-driver={driver}"))
                .arg(format!("--{driver}-host={host}"))
                .arg(format!("--{driver}-port={port}"))
                .arg(format!("--{driver}-user={}", target.user))
                .arg(format!("--{driver}-password={}", target.password.reveal()))
                .arg(format!("--{driver}-db={}", target.database))
                .args(["--tables=2", "--table-size=1000"])
                .args(arguments)
                .output()
                .expect("sysbench can be started");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{text}");
            text
        };
        sysbench(&["prepare"]);
        let bench = Bench::new();
        let workload = "[workload]\nkind = \"oltp_read_write\"\ntables = 2\ntable_size = 1000\n\
                        [load]\nclients = 1\ntransactions = 50\n[design]\nblocks = 1\n";
        let existing =
            format!("title = \"Theirs\"\n{}data = \"existing\"\n{workload}", system(&target));
        bench.file("theirs.toml", existing);
        let refused = run(&bench, &server, &["run", "theirs.toml", "--out", "refused"]);
        assert_eq!(refused.code, 4, "{refused}");
        assert!(
            refused.stderr.contains("sbtest1") && refused.stderr.contains("--yes-write-to"),
            "{refused}"
        );
        assert!(
            !bench.path().join("refused").exists(),
            "nothing is written for a run that cannot be"
        );
        let ended = run(
            &bench,
            &server,
            &["run", "theirs.toml", "--out", "theirs", "--yes-write-to", &target.database],
        );
        assert!(ended.is_done(), "{ended}");
        let [record] = &records(&bench.path().join("theirs"))[..] else { panic!("one trial") };
        assert_eq!(record.counters.committed, 50);
        assert!(
            record
                .audit
                .checks
                .iter()
                .all(|check| matches!(check, AuditCheck::RowCount { found: 1000, .. }))
        );
        sysbench(&["cleanup"]);

        load_by_dyno(&target);
        let text = sysbench(&["--events=20", "--time=0", "run"]);
        assert!(text.contains("transactions:                        20 "), "{text}");
        sysbench(&["cleanup"]);
    }
}

/// The sbtest tables as dyno makes them.
fn load_by_dyno(target: &Target) {
    use dyno_engine::loading::{Loading, load_data};
    use dyno_engine::workload::{Native, WorkloadContext, catalog};
    let description =
        catalog().into_iter().find(|known| known.name == "oltp_read_write").expect("built in");
    let mut options = description.defaults();
    for (name, value) in [("tables", 2), ("table_size", 1000)] {
        options.0.insert(name.to_owned(), dyno_model::catalog::OptionValue::Integer(value));
    }
    let plan = dyno_model::plan::WorkloadPlan::new("oltp_read_write", options);
    let native =
        Native::build(&plan, WorkloadContext { engine: target.engine, clients: 1, seed: 1 })
            .expect("fits");
    let interrupts = std::sync::atomic::AtomicUsize::new(0);
    let loading = Loading { trial: "load", target, data: native.data(), interrupts: &interrupts };
    let rows = load_data(&loading, &mut ());
    assert_eq!(rows, Ok(2000));
}

#[test]
fn a_server_that_dies_in_a_trial_marks_it_and_the_campaign_goes_on() {
    if require_server(ServerKind::Mariadb).is_none() {
        return;
    }
    let bench = Bench::new();
    bench.file(
        "dying.toml",
        "title = \"Dying\"\nsystem = [{ name = \"MariaDB\", server = { kind = \"mariadb\" } }]\n\
         workload = { kind = \"rush\" }\nload = { clients = 4, warmup = \"0s\" }\n\
         factors = { \"load.duration\" = [\"5m\", \"4s\"] }\ndesign = { blocks = 1, seed = 2 }\n",
    );
    let run = Running::start(&bench, "dying.toml");
    run.await_phase(Phase::Measure);
    let pids = Command::new("pgrep")
        .args(["-f", &format!("mariadbd.*{}", bench.path().display())])
        .output()
        .unwrap();
    let pids = String::from_utf8(pids.stdout).unwrap();
    let killed = pids.split_whitespace().next().expect("the server of this test runs");
    signal("-9", killed.parse().expect("a number"));
    let ended = run.ended();
    let records = records(&bench.path().join("r"));
    let is_marked = |record: &TrialRecord| !flaws(record).is_empty();
    match &records[..] {
        // The first trial, which is long, ended early, the second ran on a fresh server.
        [first, second] => {
            assert!(is_marked(first) && second.counters.committed > 0, "{records:?}");
        }
        other => panic!("expected two trials, found {}", other.len()),
    }
    assert_eq!(ended.code, 6, "a trial is to be measured again: {ended}");
    let left =
        Command::new("pgrep").args(["-f", &bench.path().display().to_string()]).output().unwrap();
    assert_eq!(String::from_utf8(left.stdout).unwrap(), "", "no process is left");
    assert_eq!(bench.names(), ["dying.toml", "r"]);
}

#[test]
fn a_database_that_is_not_ours_is_not_written_to() {
    for kind in SERVERS {
        let Some(server) = running_server(kind, &[]) else { return };
        query(&server, "CREATE TABLE customers (id INTEGER)");
        let bench = Bench::new();
        let spec = format!(
            "title = \"Not ours\"\n{}[workload]\nkind = \"rush\"\n[load]\nclients = 1\ntransactions = 1\n[design]\nblocks = 1\n",
            system(&server.target())
        );
        bench.file("not-ours.toml", spec);
        let ended = run(&bench, &server, &["run", "not-ours.toml"]);
        assert_eq!(ended.code, 4, "{ended}");
        assert!(
            ended.stderr.contains("customers") && ended.stderr.contains("--yes-write-to"),
            "{ended}"
        );
        assert_eq!(bench.names(), ["not-ours.toml"]);
        let wrong = Bench::new();
        wrong.file(
            "wrong.toml",
            std::fs::read_to_string(bench.path().join("not-ours.toml")).unwrap(),
        );
        let mut command = wrong.command(&["run", "wrong.toml"]);
        command.env(PASSWORD, "certainly-wrong-8472");
        let refused = Ended::from(command.output().unwrap());
        assert_eq!(refused.code, 4, "{refused}");
        assert!(refused.stderr.contains("authentication"), "{refused}");
        assert!(
            !refused.stderr.contains("certainly-wrong-8472"),
            "a password was shown: {refused}"
        );
    }
}

/// The command counts its runs in a file; it is run again for each trial, because what it prints
/// may expire.
#[test]
fn a_password_that_only_a_command_prints_is_read_again_for_each_trial() {
    for kind in SERVERS {
        let Some(server) = running_server(kind, &[]) else { continue };
        let target = server.target();
        let password = target.password.reveal();
        let bench = Bench::new();
        bench.file("token", password);
        let run = |clients: &str, command: &str, out: &str| {
            let command = format!("password_command = \"echo >> runs; {command}\"");
            let system =
                system(&target).replace(&format!("password_env = \"{PASSWORD}\""), &command);
            let spec = format!(
                "title = \"Token\"\n{system}[workload]\nkind = \"rush\"\nrows = 10\n\
                 variant = \"in-place\"\n[load]\nclients = {clients}\ntransactions = 20\n\
                 [design]\nblocks = 1\n"
            );
            bench.file("token.toml", spec);
            bench.file("runs", "");
            let ended = bench.dyno(&["run", "token.toml", "--out", out]);
            let shown = ended.to_string().contains(password)
                || bench.path().join(out).exists()
                    && dyno_testkit::folder_holds(&bench.path().join(out), password);
            assert!(!shown, "{kind}: the password was shown or stored: {ended}");
            let runs = std::fs::read_to_string(bench.path().join("runs")).expect("the file");
            (ended, runs.lines().count())
        };
        let (ended, once) = run("[1]", "cat token", "one");
        assert!(ended.is_done(), "{kind}: {ended}");
        let (ended, twice) = run("[1, 2]", "cat token", "two");
        assert!(ended.is_done(), "{kind}: {ended}");
        assert_eq!((records(&bench.path().join("two")).len(), twice), (2, once + 1), "{kind}");
        // The output of a command that fails is neither used nor shown.
        let (refused, _) = run("[1]", "cat token; cat token >&2; exit 7", "no");
        assert_eq!(refused.code, 4, "{kind}: {refused}");
        let reason = "`password_command` failed: exit status: 7";
        assert!(refused.stderr.contains(reason), "{kind}: {refused}");
        let (refused, _) = run("[1]", "echo wrong", "no");
        assert_eq!(refused.code, 4, "{kind}: {refused}");
        assert!(refused.stderr.contains("which came from `password_command`"), "{kind}: {refused}");
    }
}

#[test]
fn too_many_clients_for_the_server_are_refused_before_anything_runs() {
    let Some(server) = running_server(ServerKind::Postgres, &[]) else { return };
    let bench = Bench::new();
    let spec = format!(
        "title = \"Too many\"\n{}[workload]\nkind = \"rush\"\n[load]\nclients = 5000\ntransactions = 5000\n[design]\nblocks = 1\n",
        system(&server.target())
    );
    bench.file("many.toml", spec);
    let ended = run(&bench, &server, &["run", "many.toml"]);
    assert_eq!(ended.code, 4, "{ended}");
    assert!(ended.stderr.contains("max_connections"), "{ended}");
    assert_eq!(bench.names(), ["many.toml"]);
}

#[test]
fn a_killed_run_is_cleaned_up_with_passwords_from_client_files() {
    for kind in SERVERS {
        let Some(server) = running_server(kind, &[]) else { continue };
        let target = server.target();
        let Endpoint::Tcp { host, port } = &target.endpoint else {
            panic!("managed servers listen on TCP")
        };
        let bench = Bench::new();
        let load = "[workload]\nkind = \"rush\"\n[load]\nclients = 1\nduration = \"10m\"\nwarmup = \"0s\"\n[design]\nblocks = 1\n";
        let system = system(&target)
            .replace(&format!("password_env = \"{PASSWORD}\""), "password_client = true");
        bench.file("left.toml", format!("title = \"Left\"\n{system}{load}"));
        let (name, entry) = match kind {
            ServerKind::Postgres => (
                ".pgpass",
                format!("{host}:{port}:*:{}:{}\n", target.user, target.password.reveal()),
            ),
            _ => (
                ".my.cnf",
                format!(
                    "[client]\nuser = {}\npassword = {}\n",
                    target.user,
                    target.password.reveal()
                ),
            ),
        };
        let file = bench.file(name, entry);
        let dyno = |arguments: &[&str]| {
            let mut command = bench.command(arguments);
            command.env("HOME", bench.path()).env_remove("PGPASSFILE");
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command
        };
        let refused =
            Ended::from(dyno(&["plan", "left.toml"]).output().expect("dyno can be started"));
        assert!(
            refused.code == 4 && refused.stdout.contains("chmod 600"),
            "{kind}: others may read it: {refused}"
        );
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .expect("ours");

        let run = Running::of(&bench, dyno(&["run", "left.toml", "--out", "r"]));
        run.await_phase(Phase::Measure);
        assert!(!dyno_testkit::folder_holds(&run.kill(), target.password.reveal()), "{kind}");
        let of_database = match kind {
            ServerKind::Postgres => "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'",
            _ => "SELECT count(*) FROM information_schema.tables WHERE table_schema = database()",
        };
        let tables = || query(&server, of_database).first().map(str::to_owned);
        assert_ne!(tables().as_deref(), Some("0"), "{kind}: the killed run left its tables");
        for words in ["dropped ", "dyno left nothing there"] {
            let ended =
                Ended::from(dyno(&["cleanup", "left.toml"]).output().expect("dyno can be started"));
            assert!(ended.code == 0 && ended.stdout.contains(words), "{kind}: {ended}");
        }
        assert_eq!(tables().as_deref(), Some("0"), "{kind}");
    }
}
