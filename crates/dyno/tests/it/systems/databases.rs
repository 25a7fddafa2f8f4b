//! Clients that are spread over databases of one server: who works where, figures and audits of
//! each, and what is left behind.

use crate::program::{Bench, Ended, flaws, postgres_commits, questions_max, records};
use crate::running::Running;
use dyno_drivers::{Connection, Driver, Io, Table, block_on};
use dyno_host::databases::{are_there, beside, claim};
use dyno_host::marker::ClaimOptions;
use dyno_model::audit::AuditVerdict;
use dyno_model::plan::ServerKind;
use dyno_model::record::TrialRecord;
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_model::warning::Warning;
use dyno_testkit::{RunningServer, require_server, running_server};

/// The rest of a spec behind its system and load.
fn spec(system: &str, databases: &str, workload: &str) -> String {
    format!(
        "title = \"Tenants\"\n[[system]]\nname = \"s\"\n{system}\n[load]\nclients = 5\nduration = \"700ms\"\nwarmup = \"200ms\"\n\
         databases = {databases}\n[design]\nblocks = 1\n[workload]\n{workload}\n"
    )
}

fn run(bench: &Bench, text: &str, more: &[&str]) -> Ended {
    bench.file("tenants.toml", text);
    bench.dyno(&[&["run", "tenants.toml"], more].concat())
}

/// Names of transactions with those that committed in the window.
fn committed(record: &TrialRecord) -> Vec<(&str, u64)> {
    record.counters.transactions.iter().map(|it| (it.name.as_str(), it.committed)).collect()
}

/// Runs counters that are read and written in three databases of a server that dyno starts.
fn three_on(kind: ServerKind) -> Option<(Bench, TrialRecord)> {
    require_server(kind)?;
    let bench = Bench::new();
    let rush = "kind = \"rush\"\nvariant = \"for-update\"\nrows = 10\nledger = true";
    let text = spec(&format!("server = {{ kind = \"{kind}\" }}"), "3", rush);
    let ended = run(&bench, &text, &["--out", "r"]);
    assert!(ended.is_done(), "{kind}: {ended}");
    let record = records(&bench.path().join("r")).remove(0);
    let of_each = committed(&record);
    assert_eq!(of_each.iter().map(|it| it.0).collect::<Vec<_>>(), ["dyno_1", "dyno_2", "dyno_3"]);
    assert!(of_each.iter().all(|it| it.1 > 0), "{kind}: {of_each:?}");
    assert_eq!(
        of_each.iter().map(|it| it.1).sum::<u64>(),
        record.counters.committed,
        "figures add up"
    );
    let times: u64 =
        record.transactions.iter().filter_map(|it| it.response.as_ref()).map(|all| all.count).sum();
    assert_eq!(times, record.transaction_latency.count, "response times too");
    assert_eq!(record.audit.verdict(), AuditVerdict::Intact, "{kind}: {:?}", record.audit);
    // The counters and the ledger of each.
    assert_eq!(
        record.audit.databases,
        ["dyno_1", "dyno_1", "dyno_2", "dyno_2", "dyno_3", "dyno_3"]
    );
    assert!(flaws(&record).is_empty(), "{kind}: {:?}", flaws(&record));
    bench.forget_the_machine("r");
    let report = bench.dyno(&["report", "r", "--format", "text"]);
    for words in ["dyno_1", "dyno_3"] {
        assert!(report.stdout.contains(words), "{words}: {report}");
    }
    Some((bench, record))
}

fn the_server_counts_the_commits_of_all(kind: ServerKind) {
    let Some((_bench, record)) = three_on(kind) else { return };
    let sent = record.facts.as_ref().expect("written").commits_sent_total;
    assert_eq!(record.server_counters["Com_commit"], i64::try_from(sent).expect("few"), "{kind}");
    let differs = |warning: &&Warning| matches!(warning, Warning::CountersDiffer { .. });
    assert_eq!(record.warnings.iter().find(differs), None, "{kind}");
}

#[test]
fn each_database_has_its_own_figures_and_audit_on_mariadb() {
    the_server_counts_the_commits_of_all(ServerKind::Mariadb);
}

#[test]
fn each_database_has_its_own_figures_and_audit_on_mysql() {
    the_server_counts_the_commits_of_all(ServerKind::Mysql);
}

#[test]
fn each_database_has_its_own_figures_and_audit_on_postgresql() {
    let Some((bench, record)) = three_on(ServerKind::Postgres) else { return };
    let ours = i64::try_from(record.facts.as_ref().expect("written").committed_total).expect("few");
    let Some(theirs) = postgres_commits(&record) else { return };
    // dyno's own questions commit too: those of the monitor, and those of the observer in each
    // database.
    let questions = 6 * questions_max(&bench.path().join("r"), &record) + 300;
    assert!(
        (ours..=ours + questions).contains(&theirs),
        "pg_stat_database says {theirs}, not {ours}"
    );
}

/// A server of somebody's.
struct Host {
    bench: Bench,
    base: Target,
    system: String,
    _server: RunningServer,
}

impl Host {
    fn open(kind: ServerKind, data: &str) -> Option<Self> {
        let server = running_server(kind, &[])?;
        let base = server.target();
        let Endpoint::Tcp { host, port } = &base.endpoint else { panic!("{:?}", base.endpoint) };
        let (user, password) = (&base.user, base.password.reveal());
        let (engine, database) = (base.engine, &base.database);
        let system = format!(
            "url = \"{engine}://{user}:{password}@{host}:{port}/{database}\"\ndata = \"{data}\""
        );
        Some(Self { bench: Bench::new(), base, system, _server: server })
    }

    /// All fields of an answer in a database, joined; the server's own database has no name here.
    fn ask(&self, database: &str, sql: &str) -> String {
        let target =
            if database.is_empty() { self.base.clone() } else { beside(&self.base, database) };
        let mut table = Table::default();
        block_on(async {
            let mut connection = Connection::connect(&target, &Io::Blocking).await?;
            connection.query(sql, &mut table).await?;
            connection.close().await;
            Ok::<_, dyno_model::failure::OperationFailure>(())
        })
        .unwrap_or_else(|failure| panic!("{database}: {sql}: {failure}"));
        table.0.into_iter().flatten().flatten().collect::<Vec<_>>().join(" ")
    }

    fn are_there(&self, names: &[&str]) -> Vec<bool> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        are_there(&self.base, &names).expect("it answers")
    }

    fn tables(&self, database: &str) -> String {
        self.ask(database, self.base.engine.dialect().user_tables)
    }

    /// Databases of shops, each with a till.
    fn shops(kind: ServerKind) -> Option<Self> {
        let host = Self::open(kind, "existing")?;
        for shop in SHOPS {
            host.ask("", &format!("CREATE DATABASE {shop}"));
            host.ask(shop, "CREATE TABLE till (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)");
            host.ask(shop, "INSERT INTO till VALUES (1, 0), (2, 0)");
        }
        Some(host)
    }
}

const SHOPS: [&str; 2] = ["north", "south"];
const NAMES: &str = "[\"north\", \"south\"]";

/// Payments, each of which has to be in the till, and looks at it.
const PAY: &str = "kind = \"sql\"\nscripts = [{ name = \"pay\", sql = '''\nBEGIN;\nUPDATE till SET n = n + 1 WHERE id = 1;\nCOMMIT;\n''' }, \
                   { name = \"look\", sql = \"SELECT n FROM till;\" }]\n[workload.audit]\n\"sum(n) from till\" = \"+1 per pay\"\n";

/// What dyno makes is gone afterwards, the databases that it made too; one that was there and empty
/// is empty again.
fn nothing_is_left(host: &Host) {
    host.ask("", "CREATE DATABASE empty_one");
    let text = spec(&host.system, "[\"empty_one\", \"made_one\"]", "kind = \"rush\"\nrows = 10");
    let ended = run(&host.bench, &text, &["--out", "made"]);
    assert!(ended.is_done(), "{ended}");
    let record = records(&host.bench.path().join("made")).remove(0);
    assert_eq!(
        committed(&record).iter().map(|it| it.0).collect::<Vec<_>>(),
        ["empty_one", "made_one"]
    );
    assert_eq!(host.are_there(&["empty_one", "made_one"]), [true, false], "{ended}");
    assert_eq!((host.tables("empty_one").as_str(), host.tables("").as_str()), ("", ""));
}

/// A database of somebody's is refused by its name, and nothing is written anywhere.
fn a_database_of_others_is_refused(host: &Host) {
    host.ask("", "CREATE DATABASE theirs");
    host.ask("theirs", "CREATE TABLE customers (id INTEGER)");
    let text = spec(&host.system, "[\"fresh\", \"theirs\"]", "kind = \"rush\"\nrows = 10");
    let refused = run(&host.bench, &text, &["--out", "no"]);
    assert_eq!(refused.code, 4, "{refused}");
    for words in ["the database \"theirs\" is not empty", "customers", "--yes-write-to theirs"] {
        assert!(refused.stderr.contains(words), "{words}: {refused}");
    }
    assert_eq!(host.are_there(&["fresh"]), [false]);
    assert_eq!(host.tables("theirs"), "customers");
    // As the run itself would, without the look before.
    let options =
        ClaimOptions { experiment: "t", created_at: "now", yes_write_to: None, is_shared: true };
    let names = ["fresh".to_owned(), "theirs".to_owned()];
    assert!(claim(&host.base, &names, &options).is_err());
    assert_eq!(
        (host.are_there(&["fresh"]), host.tables("theirs").as_str()),
        (vec![false], "customers")
    );
}

/// What a run left that was killed is removed from each database, and what somebody put beside it
/// stays.
fn cleanup_removes_what_a_killed_run_left(host: &Host) {
    host.bench.file("tenants.toml", spec(&host.system, "2", "kind = \"rush\""));
    Running::killed(&host.bench, &["tenants.toml", "--set", "load.duration=\"1h\""]);
    host.ask("dyno_2", "CREATE TABLE theirs (id INTEGER)");
    let cleaned = host.bench.dyno(&["cleanup", "tenants.toml"]);
    assert_eq!(cleaned.code, 0, "{cleaned}");
    assert_eq!(host.are_there(&["dyno_1", "dyno_2"]), [false, true], "{cleaned}");
    assert_eq!(host.tables("dyno_2"), "theirs", "{cleaned}");
}

fn databases_are_made_and_left_as_they_were(kind: ServerKind) {
    let Some(host) = Host::open(kind, "own") else { return };
    nothing_is_left(&host);
    a_database_of_others_is_refused(&host);
    cleanup_removes_what_a_killed_run_left(&host);
}

#[test]
fn databases_are_made_and_left_as_they_were_on_postgresql() {
    databases_are_made_and_left_as_they_were(ServerKind::Postgres);
}

#[test]
fn databases_are_made_and_left_as_they_were_on_mariadb() {
    databases_are_made_and_left_as_they_were(ServerKind::Mariadb);
}

/// Of the scripts of a database, by name and commits.
fn of_script(record: &TrialRecord, name: &str) -> u64 {
    committed(record).iter().find(|it| it.0 == name).map_or(0, |it| it.1)
}

/// Each client pays into the till of its own shop.
fn clients_work_in_their_own_database(host: &Host) {
    let count = "5";
    let text = spec(&host.system, NAMES, PAY)
        .replace("duration = \"700ms\"\nwarmup = \"200ms\"", "transactions_per_client = 30");
    assert!(text.contains(&format!("clients = {count}")));
    let ended = run(&host.bench, &text, &["--out", "r", "--yes-write-to", "north,south"]);
    assert!(ended.is_done(), "{ended}");
    let record = records(&host.bench.path().join("r")).remove(0);
    let names: Vec<&str> = committed(&record).iter().map(|it| it.0).collect();
    assert_eq!(names, ["north: pay", "north: look", "south: pay", "south: look"]);
    // Of five clients three work in the first.
    for (shop, clients) in [("north", 3), ("south", 2)] {
        let paid = of_script(&record, &format!("{shop}: pay"));
        let all = paid + of_script(&record, &format!("{shop}: look"));
        assert_eq!(all, 30 * clients, "{shop}: {ended}");
        assert_eq!(host.ask(shop, "SELECT sum(n) FROM till"), paid.to_string(), "{shop}");
    }
    assert_eq!(record.audit.verdict(), AuditVerdict::Intact, "{:?}", record.audit);
    host.bench.forget_the_machine("r");
    let report = host.bench.dyno(&["report", "r", "--format", "csv"]).stdout;
    for shop in SHOPS {
        let line = report.lines().find(|line| line.contains(&format!(",committed@{shop},")));
        let all: u64 = ["pay", "look"]
            .into_iter()
            .map(|own| of_script(&record, &format!("{shop}: {own}")))
            .sum();
        assert!(line.is_some_and(|line| line.contains(&format!(",{all},"))), "{shop}: {report}");
    }
    let report = host.bench.dyno(&["report", "r", "--format", "text"]);
    assert!(report.stdout.contains("were served unequally with 5 clients"), "{report}");
}

/// Updates that a trigger in one of the databases undoes are found there.
fn an_update_that_one_database_loses_is_found_in_it(host: &Host) {
    let trigger: &[&str] = match host.base.engine {
        Engine::Postgres => &[
            "CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END'",
            "CREATE TRIGGER undo BEFORE UPDATE ON till FOR EACH ROW EXECUTE FUNCTION undo()",
        ],
        _ => &["CREATE TRIGGER forgets BEFORE UPDATE ON till FOR EACH ROW SET NEW.n = OLD.n"],
    };
    trigger.iter().for_each(|sql| drop(host.ask("south", sql)));
    let ended = run(
        &host.bench,
        &spec(&host.system, NAMES, PAY),
        &["--out", "lost", "--yes-write-to", "north,south"],
    );
    let record = records(&host.bench.path().join("lost")).remove(0);
    let verdicts: Vec<_> = record
        .audit
        .by_database()
        .map(|(database, check)| (database.unwrap_or(""), check.verdict()))
        .collect();
    assert_eq!(
        verdicts,
        [("north", AuditVerdict::Intact), ("south", AuditVerdict::Violated)],
        "{ended}"
    );
    let found = Warning::ViolatedIn { databases: vec!["south".to_owned()] };
    assert!(record.warnings.contains(&found), "{:?}", record.warnings);
    host.bench.forget_the_machine("lost");
    let report = host.bench.dyno(&["report", "lost", "--format", "text"]);
    assert!(report.stdout.contains("The data audit failed in these databases: south"), "{report}");
}

/// Without a word that they may be written to they are only read; a database that is not there is
/// named.
fn shops_are_only_read_and_missing_ones_are_reported(host: &Host) {
    let looking = "kind = \"sql\"\nscripts = [{ name = \"look\", sql = \"SELECT n FROM till;\" }]";
    let ended = run(&host.bench, &spec(&host.system, NAMES, looking), &["--out", "read"]);
    assert!(ended.is_done(), "{ended}");
    let text = spec(&host.system, NAMES, PAY);
    let refused = run(&host.bench, &text, &["--out", "no", "--yes-write-to", "north"]);
    assert!(refused.code == 4 && refused.stderr.contains("--yes-write-to south"), "{refused}");
    let text = spec(&host.system, "[\"north\", \"west\"]", looking);
    let refused = run(&host.bench, &text, &["--out", "no"]);
    assert!(
        refused.code == 4 && refused.stderr.contains("there is no database \"west\""),
        "{refused}"
    );
    // A limit may be on one script of one of them.
    let limited = |name: &str| {
        let limit = format!("[[limit]]\ntransaction = \"{name}\"\np99 = \"< 9s\"\n");
        host.bench.file("limit.toml", spec(&host.system, NAMES, PAY) + &limit);
        host.bench.dyno(&["plan", "limit.toml", "--yes-write-to", "north,south"])
    };
    let (named, unnamed) = (limited("south: pay"), limited("pay"));
    assert!(named.is_done(), "{named}");
    assert!(
        unnamed.code == 3 && unnamed.stderr.contains("no transaction is called `pay`"),
        "{unnamed}"
    );
}

fn shops_side_by_side(kind: ServerKind) {
    let Some(host) = Host::shops(kind) else { return };
    shops_are_only_read_and_missing_ones_are_reported(&host);
    clients_work_in_their_own_database(&host);
    an_update_that_one_database_loses_is_found_in_it(&host);
}

#[test]
fn shops_side_by_side_on_postgresql() {
    shops_side_by_side(ServerKind::Postgres);
}

#[test]
fn shops_side_by_side_on_mariadb() {
    shops_side_by_side(ServerKind::Mariadb);
}
