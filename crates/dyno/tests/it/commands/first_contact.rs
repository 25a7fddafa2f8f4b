//! Existing databases on one command line: the password from where its own clients take it, and the
//! address in the form that other programs use.

use crate::program::{Bench, Ended};
use crate::running::Running;
use crate::shop::Shop;
use dyno_model::event::Phase;
use dyno_model::target::Engine;
use std::process::Command;

/// A line that reads for a moment.
const SHORT: [&str; 9] = [
    "--script",
    "read.sql",
    "--clients",
    "1",
    "--blocks",
    "1",
    "--duration",
    "200ms",
    "--warmup=0s",
];

/// The shop's URL without its password.
fn bare(shop: &Shop) -> String {
    shop.url.replace(&format!(":{}@", shop.password()), "@")
}

/// A command in the shop's folder that no variable or file of the user's helps.
fn command(shop: &Shop, arguments: &[&str]) -> Command {
    let mut command = shop.bench.command(arguments);
    command
        .env_remove("PGPASSWORD")
        .env_remove("PGPASSFILE")
        .env_remove("MYSQL_PWD")
        .env("HOME", shop.bench.path());
    command
}

fn done(mut command: Command) -> Ended {
    Ended::from(command.output().expect("dyno can be started"))
}

fn shops() -> impl Iterator<Item = (Shop, &'static str)> {
    let engines = [(Engine::Postgres, "PGPASSWORD"), (Engine::Mysql, "MYSQL_PWD")];
    engines.into_iter().filter_map(|(engine, variable)| Some((Shop::open(engine)?, variable)))
}

#[test]
fn the_password_comes_from_where_the_databases_own_clients_take_it() {
    for (shop, variable) in shops() {
        let url = bare(&shop);
        let line = [&["run", &url, "--out", "r"], &SHORT[..]].concat();
        let without = done(command(&shop, &line));
        assert!(
            without.code == 4 && without.stderr.contains(&format!("export {variable}=...")),
            "{without}"
        );
        let mut with = command(&shop, &line);
        with.env(variable, shop.password());
        let ended = done(with);
        assert!(ended.is_done(), "{ended}");
        assert!(
            !dyno_testkit::folder_holds(&shop.bench.path().join("r"), shop.password()),
            "{variable}"
        );
        let mut init = command(&shop, &["init", &url, "--out", "own.toml"]);
        init.env(variable, shop.password());
        let ended = done(init);
        assert!(ended.is_done(), "{ended}");
        let mut own = command(&shop, &["plan", "own.toml"]);
        own.env(variable, shop.password());
        let ended = done(own);
        assert!(ended.is_done(), "{ended}");
    }
}

#[test]
fn a_printed_spec_runs_when_its_password_variable_is_set() {
    for (shop, variable) in shops() {
        let printed =
            done(command(&shop, &[&["run", &shop.url, "--print-spec"], &SHORT[..]].concat()));
        assert!(printed.is_done() && !printed.stdout.contains("**"), "{printed}");
        assert!(!printed.stdout.contains(shop.password()), "{printed}");
        shop.bench.file("printed.toml", &printed.stdout);
        let unset = done(command(&shop, &["plan", "printed.toml"]));
        assert!(
            unset.stdout.contains(&format!("{variable} for the password is not set")),
            "{unset}"
        );
        let mut run = command(&shop, &["run", "printed.toml", "--out", "r"]);
        run.env(variable, shop.password());
        let ended = done(run);
        assert!(ended.is_done(), "{ended}");
        // What is stored with the results of the line is the same spec.
        let ended =
            done(command(&shop, &[&["run", &shop.url, "--out", "line"], &SHORT[..]].concat()));
        assert!(ended.is_done(), "{ended}");
        let stored = std::fs::read_to_string(shop.bench.path().join("line/spec.toml"))
            .expect("it is stored");
        assert_eq!(stored.trim(), printed.stdout.trim());
        // A file of the user's would lose its password.
        shop.bench.file(
            "secret.toml",
            printed.stdout.replace(&bare(&shop), &shop.url).replace("password_env", "# "),
        );
        let refused = done(command(&shop, &["run", "secret.toml", "--print-spec"]));
        assert!(refused.code == 2 && refused.stdout.is_empty(), "{refused}");
    }
}

#[test]
fn the_command_that_an_interrupted_run_prints_goes_on_with_it() {
    let Some(shop) = Shop::open(Engine::Postgres) else { return };
    let database = shop.target.database.as_str();
    let line = [
        "run",
        &shop.url,
        "--script",
        "write.sql",
        "--clients",
        "1",
        "--blocks",
        "1",
        "--warmup",
        "0s",
    ];
    let long =
        [&line[..], &["--duration", "4s", "--out", "my results", "--yes-write-to", database]]
            .concat();
    let running = Running::of(&shop.bench, command(&shop, &long));
    running.await_phase(Phase::Measure);
    running.interrupt();
    let said = running.ended().stderr;
    let (_, rest) = said.split_once('`').unwrap_or_else(|| panic!("a command: {said}"));
    let printed = rest.split('`').next().expect("its end");
    assert!(printed.starts_with("PGPASSWORD='...' dyno run --resume 'my results'"), "{printed}");
    let line = printed
        .replace("'...'", &format!("'{}'", shop.password()))
        .replace("dyno run", concat!(env!("CARGO_BIN_EXE_dyno"), " run"));
    let output = Command::new("sh")
        .args(["-c", &line])
        .current_dir(shop.bench.path())
        .output()
        .expect("a shell");
    let ended = Ended::from(output);
    assert!(ended.is_done(), "{printed}: {ended}");
}

#[test]
fn addresses_of_java_and_of_libpq_are_addresses() {
    for (shop, _) in shops() {
        let (scheme, rest) = shop.url.split_once("://").expect("a URL");
        let (account, place) = rest.split_once('@').expect("an account");
        let (user, password) = account.split_once(':').expect("a password");
        let scheme = if scheme == "postgres" { "postgresql" } else { scheme };
        let (host, database) = place.split_once('/').expect("a database");
        let (host, port) = host.split_once(':').expect("a port");
        let conninfo =
            format!("host={host} port={port} dbname={database} user={user} password='{password}'");
        let mut addresses =
            vec![format!("jdbc:{scheme}://{place}?user={user}&password={password}")];
        addresses.extend((shop.target.engine == Engine::Postgres).then_some(conninfo));
        for (number, address) in addresses.iter().enumerate() {
            let out = format!("r{number}");
            let ended =
                done(command(&shop, &[&["run", address, "--out", &out], &SHORT[..]].concat()));
            assert!(ended.is_done(), "{address}: {ended}");
            assert!(
                !dyno_testkit::folder_holds(&shop.bench.path().join(&out), password),
                "{address}"
            );
        }
    }
}

/// Each row: what follows `dyno run URL`, and what the message must have.
#[test]
fn command_line_errors_point_at_the_argument_not_a_spec_file() {
    let bench = Bench::new();
    bench.file("read.sql", "SELECT 1;\n");
    let rows: [(&[&str], &[&str]); 9] = [
        (
            &["sqlite:a.db", "--script", "raed.sql"],
            &["--> --script:1:", "did you mean `read.sql`?"],
        ),
        (
            &["sqlite:a.db", "--workload", "oltp_poin_select"],
            &["--> --workload:1:", "did you mean `oltp_point_select`?"],
        ),
        (&["sqlite:a.db", "--workload", "TPC-C"], &["did you mean `tpcc`?"]),
        (&["sqlite:a.db", "--workload", "pgbench"], &["did you mean `tpcb`?"]),
        (
            &["postgres", "--workload", "tpcc"],
            &["postgres is a kind of server", "postgres://USER@HOST:PORT/DATABASE", "dyno init"],
        ),
        (&["sqlite:a.db", "--workload", "rush", "--duration", "10x"], &["--> --duration:1:"]),
        (
            &["sqlite:a.db", "--workload", "rush", "--limit", "p99.9 < 20"],
            &["--> --limit:1:", "\"p99.9\" = \"< 20\""],
        ),
        (
            &["postgres://me@h/shop?sslmod=require", "--workload", "rush"],
            &["--> URL:1:", "did you mean `sslmode`?"],
        ),
        (
            &["host=h password=hunter2 dbname=shop", "--workload", "rush"],
            &["--> URL:1:", "add `user=NAME`"],
        ),
    ];
    for (line, words) in rows {
        let ended = bench.dyno(&[&["run"], line].concat());
        assert_eq!(ended.code, 3, "{line:?}: {ended}");
        for word in words {
            assert!(ended.stderr.contains(word), "{line:?}: {word}: {ended}");
        }
        assert!(
            !ended.stderr.contains("> a:") && !ended.stderr.contains("> shop:"),
            "{line:?}: {ended}"
        );
        assert!(!ended.stderr.contains("hunter2"), "{ended}");
    }
}

#[test]
fn a_setting_that_a_server_does_not_know_is_refused_once() {
    if dyno_testkit::require_server(dyno_model::plan::ServerKind::Postgres).is_none() {
        return;
    }
    let bench = Bench::new();
    bench.file(
        "x.toml",
        "title = \"t\"\n[[system]]\nname = \"S\"\nserver = { kind = \"postgres\" }\n[factors]\n\
         \"server.settings.work_men\" = [\"1MB\", \"2MB\", \"3MB\"]\n[workload]\nkind = \"rush\"\n[load]\nclients = 1\n\
         transactions = 1\n",
    );
    let ended = bench.dyno(&["plan", "x.toml"]);
    assert_eq!(ended.stdout.matches("rejects the setting").count(), 1, "{ended}");
}
