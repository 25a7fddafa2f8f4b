//! Protection of foreign databases on every engine.

use crate::{DATABASES, ask, open_folder, running};
use dyno_host::marker::{ClaimOptions, claim, cleanup};
use dyno_model::target::Engine;
use std::collections::BTreeSet;

#[test]
fn every_engine_marks_recognises_rejects_and_cleans_up() {
    for kind in DATABASES {
        let scratch = open_folder();
        let Some(server) = running(kind, scratch.path(), &[]) else { continue };
        let target = server.target();
        let options = ClaimOptions {
            experiment: "it's \\ rush",
            created_at: "2026-01-02T03:04:05Z",
            yes_write_to: None,
            is_shared: true,
        };
        let mut ours = claim(&target, &options).unwrap_or_else(|error| panic!("{kind}: {error}"));
        ours.record_tables(&target, &["rush", "odd `\"name"], &options).unwrap();
        ask(&target, "CREATE TABLE rush (id INTEGER)");
        ask(
            &target,
            if kind.engine() == Engine::Mysql {
                "CREATE TABLE `odd ``\"name` (id INTEGER)"
            } else {
                "CREATE TABLE \"odd `\"\"name\" (id INTEGER)"
            },
        );
        let again = claim(&target, &options).unwrap();
        assert_eq!(again.tables.len(), 2, "{kind}");
        let experiment = ask(&target, "SELECT experiment FROM dyno_marker WHERE table_name = ''");
        assert_eq!(experiment.first(), Some("it's \\ rush"), "{kind}");

        ask(&target, "CREATE TABLE theirs (id INTEGER)");
        assert_eq!(cleanup(&target, &BTreeSet::new()).unwrap().len(), 2, "{kind}");
        assert_eq!(ask(&target, "SELECT count(*) FROM theirs").first(), Some("0"), "{kind}");
        let error = claim(&target, &options).unwrap_err().to_string();
        let name = target.database_name();
        assert!(
            error.contains("it contains theirs\n")
                && error.contains(&format!("--yes-write-to {name}")),
            "{kind}: {error}"
        );
        let yes = ClaimOptions { yes_write_to: Some(&name), ..options };
        assert!(claim(&target, &yes).unwrap().is_forced(), "{kind}");
    }
}

#[test]
fn a_forced_claim_ends_with_its_permission() {
    for kind in DATABASES {
        let scratch = open_folder();
        let Some(server) = running(kind, scratch.path(), &[]) else { continue };
        let target = server.target();
        ask(&target, "CREATE TABLE rush (theirs INTEGER)");
        ask(&target, "CREATE TABLE customers (id INTEGER)");
        let without = ClaimOptions {
            experiment: "e",
            created_at: "2026-01-02T03:04:05Z",
            yes_write_to: None,
            is_shared: true,
        };
        let name = target.database_name();
        let yes = ClaimOptions { yes_write_to: Some(&name), ..without };
        let mut forced = claim(&target, &yes).unwrap_or_else(|error| panic!("{kind}: {error}"));
        forced.record_tables(&target, &["rush", "fresh"], &yes).unwrap();

        // Killed here, the user's table still exists: without permission it is neither written to
        // nor dropped.
        let refused = claim(&target, &without).unwrap_err().to_string();
        assert!(refused.contains("it contains customers, rush\n"), "{kind}: {refused}");
        assert_eq!(cleanup(&target, &BTreeSet::new()).unwrap(), Vec::<String>::new(), "{kind}");
        assert_eq!(ask(&target, "SELECT count(theirs) FROM rush").first(), Some("0"), "{kind}");

        // Killed later, dyno's own table has its name, or the user has restored the other one.
        let mut forced = claim(&target, &yes).unwrap_or_else(|error| panic!("{kind}: {error}"));
        forced.record_tables(&target, &["rush", "fresh"], &yes).unwrap();
        ask(&target, "CREATE TABLE fresh (id INTEGER)");
        ask(&target, "DROP TABLE customers");
        let refused = claim(&target, &without).unwrap_err().to_string();
        assert!(refused.contains("it contains rush\n"), "{kind}: {refused}");

        // The run with the permission cleans up after itself.
        assert_eq!(cleanup(&target, &forced.replaced).unwrap(), ["fresh", "rush"], "{kind}");
        assert!(!claim(&target, &without).unwrap().is_forced(), "{kind}");
    }
}

/// Somebody creates a table that resembles a marker and lists their own tables in it.
#[test]
fn a_marker_not_written_by_dyno_is_ignored() {
    let rows = "('', 'e', 'now', 'r', 's'), ('customers', 'e', 'now', 'r', 's'), ('*', 'e', 'now', 'r', 's')";
    let columns = "table_name VARCHAR(191) NOT NULL PRIMARY KEY, experiment VARCHAR(191), created_at VARCHAR(40)";
    let forged = [
        vec![
            format!("CREATE TABLE dyno_marker ({columns}, run VARCHAR(40), signature VARCHAR(80))"),
            format!("INSERT INTO dyno_marker VALUES {rows}"),
        ],
        // The format of older versions.
        vec![
            format!("CREATE TABLE dyno_marker ({columns})"),
            "INSERT INTO dyno_marker VALUES ('', 'e', 'now'), ('customers', 'e', 'now')".to_owned(),
        ],
        vec![
            "CREATE VIEW dyno_marker AS SELECT 'customers' AS table_name, 'r' AS run, 's' AS signature"
                .to_owned(),
        ],
    ];
    for kind in DATABASES {
        let scratch = open_folder();
        let Some(server) = running(kind, scratch.path(), &[]) else { continue };
        let target = server.target();
        let name = target.database_name();
        let options = ClaimOptions {
            experiment: "e",
            created_at: "now",
            yes_write_to: Some(&name),
            is_shared: true,
        };
        ask(&target, "CREATE TABLE customers (id INTEGER)");
        for statements in &forged {
            statements.iter().for_each(|sql| {
                ask(&target, sql);
            });
            for yes_write_to in [None, Some(name.as_str())] {
                let refused = claim(&target, &ClaimOptions { yes_write_to, ..options }).err();
                let refused = refused
                    .unwrap_or_else(|| panic!("{kind}: {statements:?} is believed"))
                    .to_string();
                assert!(
                    refused.contains("was not written by dyno under this account"),
                    "{kind}: {refused}"
                );
            }
            assert!(cleanup(&target, &BTreeSet::new()).is_err(), "{kind}: {statements:?}");
            assert_eq!(ask(&target, "SELECT count(*) FROM customers").first(), Some("0"), "{kind}");
            let what = if statements[0].contains("VIEW") { "VIEW" } else { "TABLE" };
            ask(&target, &format!("DROP {what} dyno_marker"));
        }
        // A row added to dyno's own by somebody else.
        let forced = claim(&target, &options).unwrap_or_else(|error| panic!("{kind}: {error}"));
        assert!(forced.is_forced(), "{kind}");
        let added = "INSERT INTO dyno_marker SELECT 'customers', experiment, created_at, run, signature FROM dyno_marker";
        ask(&target, added);
        let refused = claim(&target, &ClaimOptions { yes_write_to: None, ..options }).err();
        let refused = refused.unwrap_or_else(|| panic!("{kind}: the row is believed")).to_string();
        assert!(refused.contains("it contains customers\n"), "{kind}: {refused}");
        // A view of rows that dyno has signed: its content can change at any time.
        ask(&target, "CREATE TABLE signed AS SELECT * FROM dyno_marker");
        ask(&target, "DROP TABLE dyno_marker");
        ask(&target, "CREATE VIEW dyno_marker AS SELECT * FROM signed");
        let refused = claim(&target, &options).err();
        let refused = refused.unwrap_or_else(|| panic!("{kind}: the view is believed")).to_string();
        assert!(
            refused.contains("was not written by dyno under this account"),
            "{kind}: {refused}"
        );
        ask(&target, "DROP VIEW dyno_marker");
        ask(&target, "ALTER TABLE signed RENAME TO dyno_marker");
        if target.engine == Engine::Mysql {
            let trigger =
                "CREATE TRIGGER kept BEFORE INSERT ON dyno_marker FOR EACH ROW SET NEW.run = 'r'";
            ask(&target, trigger);
            let refused = claim(&target, &options).err();
            let refused =
                refused.unwrap_or_else(|| panic!("{kind}: a trigger is ignored")).to_string();
            assert!(refused.contains("was not written by dyno"), "{kind}: {refused}");
            ask(&target, "DROP TRIGGER kept");
        }
        assert_eq!(cleanup(&target, &BTreeSet::new()).unwrap(), [""; 0], "{kind}");
        assert_eq!(ask(&target, "SELECT count(*) FROM customers").first(), Some("0"), "{kind}");
    }
}
