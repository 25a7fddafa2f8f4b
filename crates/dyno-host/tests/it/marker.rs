//! The production guard on every engine.

use crate::{DATABASES, ask, open_folder, running};
use dyno_host::marker::{ClaimOptions, claim, cleanup, database_name};
use dyno_model::target::Engine;

#[test]
fn every_engine_marks_recognises_refuses_and_cleans_up() {
    for kind in DATABASES {
        let scratch = open_folder();
        let Some(server) = running(kind, scratch.path(), &[]) else { continue };
        let target = server.target();
        let options = ClaimOptions {
            experiment: "it's \\ rush",
            created_at: "2026-01-02T03:04:05Z",
            yes_write_to: None,
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
        assert_eq!(cleanup(&target).unwrap().len(), 2, "{kind}");
        assert_eq!(ask(&target, "SELECT count(*) FROM theirs").first(), Some("0"), "{kind}");
        let error = claim(&target, &options).unwrap_err().to_string();
        let name = database_name(&target);
        assert!(
            error.contains("it holds theirs\n") && error.contains(&format!("--yes-write-to {name}")),
            "{kind}: {error}"
        );
        let yes = ClaimOptions { yes_write_to: Some(&name), ..options };
        assert!(claim(&target, &yes).unwrap().is_forced, "{kind}");
    }
}

#[test]
fn a_forced_claim_does_not_outlive_its_consent() {
    for kind in DATABASES {
        let scratch = open_folder();
        let Some(server) = running(kind, scratch.path(), &[]) else { continue };
        let target = server.target();
        ask(&target, "CREATE TABLE rush (theirs INTEGER)");
        ask(&target, "CREATE TABLE customers (id INTEGER)");
        let without =
            ClaimOptions { experiment: "e", created_at: "2026-01-02T03:04:05Z", yes_write_to: None };
        let name = database_name(&target);
        let yes = ClaimOptions { yes_write_to: Some(&name), ..without };
        claim(&target, &yes).unwrap_or_else(|error| panic!("{kind}: {error}"));

        // Killed here, nothing was dropped and nothing is dyno's.
        let refused = claim(&target, &without).unwrap_err().to_string();
        assert!(refused.contains("it holds customers, rush\n"), "{kind}: {refused}");
        assert_eq!(cleanup(&target).unwrap(), Vec::<String>::new(), "{kind}");
        assert_eq!(
            ask(&target, "SELECT count(theirs) FROM rush").first(),
            Some("0"),
            "{kind}: it is still there"
        );

        let mut forced = claim(&target, &yes).unwrap_or_else(|error| panic!("{kind}: {error}"));
        forced.record_tables(&target, &["rush"], &yes).unwrap();
        // Killed here, the table that was listed is not the user's.
        let tables = match kind.engine() {
            Engine::Sqlite => "SELECT count(*) FROM sqlite_master WHERE name = 'rush'",
            _ => "SELECT count(*) FROM information_schema.tables WHERE table_name = 'rush'",
        };
        assert_eq!(
            ask(&target, tables).first(),
            Some("0"),
            "{kind}: a table of the user's is listed as dyno's"
        );
        let refused = claim(&target, &without).unwrap_err().to_string();
        assert!(refused.contains("it holds customers\n"), "{kind}: {refused}");

        // Without the user's other tables the marker alone is known again, and what dyno made may be replaced.
        ask(&target, "DROP TABLE customers");
        let again = claim(&target, &without).unwrap();
        assert!(!again.is_forced && again.tables.len() == 1, "{kind}: {again:?}");
    }
}
