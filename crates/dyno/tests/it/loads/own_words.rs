//! SQL of the user keeps its meaning in every query mode, its error messages are kept, and its
//! variables have values.

use crate::program::{Ended, records};
use crate::shop::Shop;
use dyno_model::plan::ServerKind;
use dyno_model::record::TrialRecord;
use dyno_model::target::Engine;

/// Twenty transactions of a script, whose tables are there.
fn twenty(shop: &Shop, name: &str, script: &str, options: &[&str]) -> Ended {
    shop.bench.file(&format!("{name}.sql"), script);
    let database = &shop.target.database_name();
    let url = shop.url.as_str();
    let line =
        ["run", url, "--script", &format!("{name}.sql"), "--out", name, "--yes-write-to", database];
    let load = [
        "--clients",
        "2",
        "--blocks",
        "1",
        "--set",
        "load.transactions=20",
        "--set",
        "load.warmup='0s'",
    ];
    shop.bench.dyno(&[&line[..], &load, options].concat())
}

fn record(shop: &Shop, name: &str) -> TrialRecord {
    let mut all = records(&shop.bench.path().join(name));
    assert_eq!(all.len(), 1, "{name}");
    all.remove(0)
}

/// A script, and whether one of its statements is sent as text.
type Case = (&'static str, &'static str, bool);

/// Each of its transactions reads one row at least, so that a variable which was not replaced would
/// be seen.
const EVERYWHERE: [Case; 5] = [
    ("unset", "SELECT n FROM things WHERE id = 1 AND 'a:nothing' <> '';", false),
    ("plain", "\\set id random(1, 100)\nSELECT n FROM things WHERE id = :id;", false),
    ("comment", "\\set id 1\nSELECT n FROM things WHERE id = 1 -- :id\n;", false),
    ("several", "SELECT 1 \\; SELECT n FROM things WHERE id = 2;", true),
    ("position", "\\set place 2\nSELECT n, id FROM things ORDER BY :place LIMIT 1;", true),
];

const QUOTED: Case = (
    "quoted",
    "\\set id random(1, 100)\nSELECT n FROM things WHERE 'user_' || id = 'user_:id';",
    true,
);

const POSTGRES: [Case; 8] = [
    QUOTED,
    ("json", "\\set id 7\nSELECT to_jsonb(:id);", true),
    (
        "product",
        "\\set price 3\n\\set qty 4\nSELECT v FROM (VALUES (:price * :qty)) AS t(v) WHERE v = 12;",
        true,
    ),
    ("key", "\\set k 0\nSELECT 1 FROM things WHERE ('[1]'::jsonb -> :k)::text = '1';", true),
    (
        "slice",
        "SELECT 1 FROM (SELECT ARRAY[1, 2], 2) AS t(a, n) WHERE a[1:n] = ARRAY[1, 2];",
        false,
    ),
    (
        "local",
        "\\set m 4096\nBEGIN;\nSET LOCAL work_mem = :m;\nSELECT 1 WHERE current_setting('work_mem') = '4MB';\nCOMMIT;",
        true,
    ),
    (
        "part",
        "\\set one 1\nSELECT count(*) FROM generate_series(1, 2) AS g_:one WHERE g_1 > 0;",
        true,
    ),
    // As a parameter it would be part of the name, too: `g_$1`.
    ("joined", "\\set one 1\nSELECT id AS g_:one FROM things WHERE id = 1;", true),
];

const MYSQL: [Case; 2] = [
    (
        "quoted",
        "\\set id random(1, 100)\nSELECT n FROM things WHERE concat('user_', id) = 'user_:id';",
        true,
    ),
    (
        "hint",
        "\\set ms 9000\nSELECT /*+ MAX_EXECUTION_TIME(:ms) */ n FROM things WHERE id = 1;",
        true,
    ),
];

/// Scripts mean what they mean to pgbench in its default mode, which writes values into the text.
fn means_what_it_says(shop: &Shop, cases: impl IntoIterator<Item = Case>) {
    for (name, script, is_text) in cases {
        let ended = twenty(shop, name, script, &[]);
        assert!(ended.is_done(), "{name}: {ended}");
        let record = record(shop, name);
        let counters = &record.counters;
        let rows: u64 = counters.statements.iter().map(|statement| statement.rows).sum();
        assert_eq!((counters.committed, counters.failed), (20, 0), "{name}: {:?}", record.failures);
        assert!(rows >= 20, "{name}: {rows} rows");
        let sent_as_text = record.facts.expect("they are written down").sent_as_text;
        assert_eq!(!sent_as_text.is_empty(), is_text, "{name}: {sent_as_text:?}");
    }
}

fn refused(shop: &Shop, name: &str, script: &str, words: &[&str]) {
    let ended = twenty(shop, name, script, &[]);
    assert_eq!(ended.code, 4, "{name}: {ended}");
    for word in words {
        assert!(ended.stderr.contains(word), "{name}, {word}: {ended}");
    }
}

fn in_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The database's own words to a statement that fails are in the record, on the screen and in every
/// form of the report.
fn what_the_database_says_is_reported_everywhere(
    shop: &Shop,
    statement: &str,
    said: &str,
    state: &str,
) {
    let ended = twenty(shop, "reason", &format!("{statement};"), &["--set", "load.attempts_max=1"]);
    assert!(ended.code != 0 && in_line(&ended.stdout).contains(said), "{ended}");
    let record = record(shop, "reason");
    let [detail] = &record.failures.0[..] else { panic!("{:?}", record.failures) };
    assert!(detail.failure.message.contains(said), "{detail:?}");
    assert!(detail.count > 0 && detail.count == record.counters.failed, "{detail:?}");
    assert_eq!((detail.failure.sqlstate.as_str(), detail.statement.as_str()), (state, "reason"));
    assert!(detail.sql.starts_with(statement), "{detail:?}");
    let mut read = 0;
    for template in ["report", "test-report"] {
        for format in ["html", "md", "csv", "json", "text"] {
            let line =
                ["report", "reason", "--format", format, "--lang", "ko", "--template", template];
            let form = shop.bench.dyno(&[&line[..], &["--out", "forms"]].concat());
            // The form of agencies is a page or Markdown.
            let files = std::fs::read_dir(shop.bench.path().join("forms")).into_iter().flatten();
            for path in files.map(|file| file.expect("a file").path()) {
                let text = in_line(&std::fs::read_to_string(&path).expect("a text"));
                assert!(text.contains(said), "{}: {form}", path.display());
                std::fs::remove_file(path).expect("it was there");
                read += 1;
            }
        }
    }
    assert!(read >= 7, "each form is in a file: {read}");
    let secret = shop.password();
    assert!(
        secret.is_empty() || !format!("{ended}{:?}", record.failures).contains(secret),
        "{ended}"
    );
}

fn variables_have_the_values_that_the_line_or_the_spec_gives(shop: &Shop) {
    let script = "SELECT n FROM things WHERE id = :wanted LIMIT :scale;";
    refused(shop, "unset", script, &["nothing sets `:wanted`", "-D wanted=VALUE", "variables = {"]);
    let ended = twenty(shop, "line", script, &["-D", "wanted=7", "-D", "scale=1"]);
    assert!(ended.is_done(), "{ended}");
    let spec =
        twenty(shop, "spec", script, &["--set", "workload.variables={ wanted = 7, scale = 1 }"]);
    assert_eq!(spec.code, 0, "{spec}");
    for name in ["line", "spec"] {
        let statements = record(shop, name).counters.statements;
        assert_eq!((statements[0].ok, statements[0].rows), (20, 20), "{name}");
    }
    let from_printed =
        twenty(shop, "printed", script, &["-D", "wanted=7", "-D", "scale=1", "--print-spec"]);
    assert!(from_printed.stdout.contains("wanted = \"7\""), "{from_printed}");
    let script = "\\set id random(1, 10 * :scale)\nSELECT n FROM things WHERE id = :id;";
    refused(
        shop,
        "scale",
        script,
        &["nothing sets `:scale`; dyno does not count the rows of pgbench_branches"],
    );
    let native = ["run", &shop.url, "--workload", "oltp_point_select", "-D", "a=1"];
    let ended = shop.bench.dyno(&native);
    assert!(ended.code == 3 && ended.stderr.contains("variables"), "{ended}");
}

#[test]
fn sql_scripts_follow_pgbench_and_report_failures_on_sqlite() {
    let Some(shop) = Shop::open(Engine::Sqlite) else { return };
    means_what_it_says(&shop, EVERYWHERE.into_iter().chain([QUOTED]));
    what_the_database_says_is_reported_everywhere(
        &shop,
        "SELECT abs(-9223372036854775808)",
        "integer overflow",
        "",
    );
    variables_have_the_values_that_the_line_or_the_spec_gives(&shop);
}

#[test]
fn sql_scripts_follow_pgbench_and_report_failures_on_postgresql() {
    let Some(shop) = Shop::open(Engine::Postgres) else { return };
    means_what_it_says(&shop, EVERYWHERE.into_iter().chain(POSTGRES));
    let slice = "\\set n 2\nSELECT (ARRAY[1, 2, 3])[1:n];";
    refused(&shop, "sliced", slice, &["`[1:n]` with 5 for `:n` becomes `[15]`", "[1 : :n]"]);
    let written = "\\set n 2\nSELECT 1 WHERE (ARRAY[1, 2, 3])[1 : :n] = ARRAY[1, 2];";
    means_what_it_says(&shop, [("written", written, false)]);
    let pipeline = "\\set id 1\n\\startpipeline\nSELECT n FROM things WHERE 'a' || id = 'a:id';\n\\endpipeline";
    refused(&shop, "pipe", pipeline, &["statements of a pipeline are prepared", "'user_' || :id"]);
    let untyped = "\\set id 1\n\\startpipeline\nSELECT to_jsonb(:id);\n\\endpipeline";
    refused(&shop, "untyped", untyped, &["polymorphic", "`:id::int`"]);
    what_the_database_says_is_reported_everywhere(&shop, "SELECT 1/0", "division by zero", "22012");
    let literal = format!("SELECT n FROM things WHERE id = ('{}' || id)::int;", shop.password());
    let ended = twenty(&shop, "literal", &literal, &["--set", "load.attempts_max=1"]);
    let said = format!("{:?}", record(&shop, "literal").failures);
    assert!(
        said.contains("invalid input syntax") && !said.contains(shop.password()),
        "{said}: {ended}"
    );
    variables_have_the_values_that_the_line_or_the_spec_gives(&shop);
    // The other extended mode, which prepares nothing beforehand.
    for (name, script, _) in [POSTGRES[1], POSTGRES[2]] {
        let mode = format!("system.{}.query_mode=extended", shop.target.database);
        let ended = twenty(&shop, &format!("{name}-extended"), script, &["--set", &mode]);
        assert!(ended.is_done(), "{name}: {ended}");
    }
}

fn on_the_family_of_mysql(kind: ServerKind) {
    let Some(shop) = Shop::on(kind) else { return };
    means_what_it_says(&shop, EVERYWHERE.into_iter().chain(MYSQL));
    refused(&shop, "call", "CALL nothing_there(1);", &["the script call", "nothing_there"]);
    shop.ask("CREATE PROCEDURE there_is(x INTEGER) SELECT n FROM things WHERE id = x");
    means_what_it_says(&shop, [("called", "\\set id 3\nCALL there_is(:id);", false)]);
    let statement = "SELECT n FROM things WHERE id = (SELECT id FROM things)";
    what_the_database_says_is_reported_everywhere(
        &shop,
        statement,
        "Subquery returns more than 1 row",
        "21000",
    );
    variables_have_the_values_that_the_line_or_the_spec_gives(&shop);
}

#[test]
fn sql_scripts_follow_pgbench_and_report_failures_on_mariadb() {
    on_the_family_of_mysql(ServerKind::Mariadb);
}

#[test]
fn sql_scripts_follow_pgbench_and_report_failures_on_mysql() {
    on_the_family_of_mysql(ServerKind::Mysql);
}
