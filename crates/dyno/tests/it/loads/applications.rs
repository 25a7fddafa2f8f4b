//! An application in front of the database: `crud` goes through it, its audit and the server's
//! counters see the same as without it, and what it cannot do is told.

use crate::audits::Work;
use crate::program::{Bench, events, records, signal, system_failure};
use crate::running::Running;
use dyno_engine::Node;
use dyno_model::audit::AuditVerdict;
use dyno_model::event::{Event, Phase};
use dyno_model::plan::{ServerKind, StopRule};
use dyno_model::record::TrialRecord;
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_model::warning::Warning;
use dyno_testkit::{folder_holds, processes_with, require_application, require_server};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicUsize;

fn spec(war: &Path, stop: &str, factors: &str) -> String {
    format!(
        "title = \"Application\"\n[[system]]\nname = \"S\"\nserver = {{ kind = \"mariadb\" }}\n\
         [workload]\nkind = \"crud\"\nrows = 5\nrepetitions = 2\n\
         [[endpoint]]\nname = \"web\"\napplication = {{ kind = \"tomcat\", war = \"{}\", connections = 4 }}\n\
         [factors]\nendpoint = [{factors}]\n[load]\nclients = 6\nwarmup = \"0s\"\n{stop}\n[design]\nblocks = 1\n",
        war.display()
    )
}

fn application_processes(bench: &Bench) -> Vec<u32> {
    let scratch = bench.path().to_str().expect("a path of text").to_owned();
    let is_java = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("org.apache.catalina.startup.Bootstrap")
    };
    processes_with(&scratch).into_iter().filter(is_java).collect()
}

#[test]
fn application_and_direct_access_execute_the_same_commands() {
    let Some(war) = require_application() else { return };
    if require_server(ServerKind::Mariadb).is_none() {
        return;
    }
    let bench = Bench::new();
    bench.file("web.toml", spec(war, "transactions = 60", r#""tcp", "web""#));
    let ended = bench.dyno(&["run", "web.toml", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let folder = bench.path().join("r");
    let records = records(&folder);
    let starts =
        events(&folder).into_iter().filter(|event| matches!(event, Event::SystemReady { .. }));
    assert_eq!((records.len(), starts.count()), (2, 1), "a way needs no other start");
    for record in &records {
        assert_eq!(
            (record.counters.committed, record.counters.failed),
            (60, 0),
            "{:?}",
            record.counters
        );
        assert_eq!(record.audit.verdict(), AuditVerdict::Intact, "{:?}", record.audit);
        assert!(
            !record
                .warnings
                .iter()
                .any(|warning| matches!(warning, Warning::CountersDiffer { .. }))
        );
        // The server's own word: 60 tables, each with two repetitions of five rows.
        let counted = |name: &str| record.server_counters.get(name).copied();
        for (name, count) in [
            ("Com_create_table", 60),
            ("Com_insert", 120),
            ("Com_update", 120),
            ("Com_delete", 120),
            ("Com_drop_table", 60),
            ("Handler_write", 600),
        ] {
            let found = counted(name);
            assert!(found.is_some_and(|found| found >= count), "{name}: {found:?}");
            assert!(name == "Handler_write" || found == Some(count), "{name}: {found:?}");
        }
    }
    // Each command has its response times, under the same name on both ways.
    let kinds = |record: &TrialRecord| {
        record.statements.iter().map(|statement| statement.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&records[0]), kinds(&records[1]));
    let environment =
        std::fs::read_to_string(folder.join("environment.json")).expect("the environment");
    assert!(environment.contains("\"tomcat\": \"10."), "{environment}");
    assert!(ended.stdout.contains("S (endpoint web)"), "{ended}");
    assert!(!folder_holds(&folder, "Dyno-1-"), "the password is in the results");
    assert_eq!(processes_with(bench.path().to_str().expect("a path of text")), Vec::<u32>::new());
    assert_eq!(bench.names(), ["r", "web.toml"]);
}

#[test]
fn clients_go_to_the_application_and_not_past_it() {
    let bench = Bench::new();
    let database = Target::new(Engine::Sqlite, Endpoint::File(bench.path().join("data.sqlite")));
    // Nobody is at this door.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its address").port();
    drop(listener);
    let client_target =
        Target::new(Engine::Http, Endpoint::Tcp { host: "127.0.0.1".to_owned(), port });
    let work = Work::new("crud", &[], 2, StopRule::Transactions(4));
    work.prepare(&database);
    let run = |client_target: Option<Target>| {
        let mut nodes = Node::alone(database.clone());
        nodes[0].client_target = client_target;
        work.try_run_on(nodes, &AtomicUsize::new(0), &mut ())
    };
    assert_eq!(run(None).expect("the database is there").counters.committed, 4);
    let error = run(Some(client_target)).expect_err("clients have nowhere to go").to_string();
    assert!(error.contains(&port.to_string()), "{error}");
}

#[test]
fn an_application_that_dies_marks_its_trial() {
    let Some(war) = require_application() else { return };
    if require_server(ServerKind::Mariadb).is_none() {
        return;
    }
    let bench = Bench::new();
    bench.file("web.toml", spec(war, "duration = \"1h\"", r#""web""#));
    let run = Running::start(&bench, "web.toml");
    run.await_phase(Phase::Measure);
    let processes = application_processes(&bench);
    assert_eq!(processes.len(), 1);
    // Its password is on no command line.
    let line = std::fs::read_to_string(format!("/proc/{}/cmdline", processes[0])).expect("it runs");
    assert!(!line.contains("Dyno-1-"), "{line}");
    signal("-KILL", processes[0]);
    let ended = run.ended();
    assert_ne!(ended.code, 0, "{ended}");
    let [record] = &records(&bench.path().join("r"))[..] else { panic!("one trial") };
    let died = system_failure(record);
    assert!(died.starts_with("the application server web was killed"), "{:?}", record.warnings);
    assert_eq!(application_processes(&bench), Vec::<u32>::new());
}

/// Makes `c.war`, whose page `/ready` fails whenever it is asked for: what is to answer is not
/// there.
fn unready(bench: &Bench) {
    let folder = bench.path().join("WEB-INF");
    std::fs::create_dir(&folder).expect("it is new");
    let text = "<web-app version=\"6.0\" xmlns=\"https://jakarta.ee/xml/ns/jakartaee\">\
                <servlet><servlet-name>r</servlet-name><servlet-class>nowhere.Ready</servlet-class></servlet>\
                <servlet-mapping><servlet-name>r</servlet-name><url-pattern>/ready</url-pattern></servlet-mapping></web-app>";
    std::fs::write(folder.join("web.xml"), text).expect("the bench can be written to");
    let made = Command::new("jar")
        .args(["-c", "-f", "c.war", "WEB-INF"])
        .current_dir(bench.path())
        .status();
    assert!(made.expect("jar comes with Java").success());
    std::fs::remove_dir_all(folder).expect("it is ours");
}

#[test]
fn a_missing_or_broken_application_is_reported_and_cleaned_up() {
    if require_application().is_none() || require_server(ServerKind::Mariadb).is_none() {
        return;
    }
    let bench = Bench::new();
    bench.file("web.toml", spec(Path::new("nowhere.war"), "transactions = 6", r#""web""#));
    let ended = bench.dyno(&["run", "web.toml"]);
    assert_eq!(ended.code, 4, "{ended}");
    assert!(ended.stderr.contains("the web application nowhere.war does not exist"), "{ended}");
    assert!(ended.stderr.contains("mvn package"), "{ended}");

    // No archive; and one with nothing in it, by the end that is all it has.
    let empty = [&b"PK\x05\x06"[..], &[0; 18]].concat();
    unready(&bench);
    let broken = [
        ("a.war", b"this is no archive".to_vec(), "before it was ready"),
        ("b.war", empty, "answers /ready with status 404"),
        (
            "c.war",
            std::fs::read(bench.path().join("c.war")).expect("it was made"),
            "answers /ready with status 500",
        ),
    ];
    for (name, bytes, words) in broken {
        std::fs::write(bench.path().join(name), bytes).expect("the bench can be written to");
        bench.file("web.toml", spec(Path::new(name), "transactions = 6", r#""web""#));
        let ended = bench.dyno(&["run", "web.toml", "--out", name.trim_end_matches(".war")]);
        assert_eq!(ended.code, 6, "{ended}");
        let reported = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            reported.contains("endpoint web: the application server ") && reported.contains(words),
            "{ended}"
        );
        assert!(name != "a.war" || reported.contains("ZipException"), "{ended}");
        assert_eq!(application_processes(&bench), Vec::<u32>::new());
    }
    assert_eq!(bench.names(), ["a", "a.war", "b", "b.war", "c", "c.war", "web.toml"]);
}
