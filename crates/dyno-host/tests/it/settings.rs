//! Settings are applied, read back, and rejected with the server's own message.

use crate::{described, is_empty, open_folder, options, running, shared};
use dyno_host::server::{check_values, locate, start};
use dyno_model::plan::ServerKind;

/// Names and values.
type Pairs = &'static [(&'static str, &'static str)];

/// The settings for each kind of server, and the values that it reports.
const APPLIED: [(ServerKind, Pairs, Pairs); 4] = [
    (
        ServerKind::Mariadb,
        &[
            ("innodb-buffer-pool-size", "64M"),
            ("innodb_flush_log_at_trx_commit", "2"),
            ("thread_handling", "pool-of-threads"),
            ("transaction-isolation", "READ-COMMITTED"),
            ("max_connections", "77"),
            ("innodb_page_size", "8k"),
        ],
        &[
            ("innodb_buffer_pool_size", "67108864"),
            ("innodb_flush_log_at_trx_commit", "2"),
            ("thread_handling", "pool-of-threads"),
            ("transaction_isolation", "READ-COMMITTED"),
            ("max_connections", "77"),
            ("innodb_page_size", "8192"),
            ("innodb_doublewrite", "ON"),
            ("log_bin", "OFF"),
            ("local_infile", "ON"),
        ],
    ),
    (
        ServerKind::Mysql,
        &[("innodb_buffer_pool_size", "256M"), ("sync_binlog", "0"), ("skip-log-bin", "")],
        &[
            ("innodb_buffer_pool_size", "268435456"),
            ("sync_binlog", "0"),
            ("log_bin", "OFF"),
            ("innodb_flush_log_at_trx_commit", "1"),
            ("transaction_isolation", "REPEATABLE-READ"),
        ],
    ),
    (
        ServerKind::Postgres,
        &[
            ("shared_buffers", "64MB"),
            ("checkpoint_timeout", "10min"),
            ("synchronous_commit", "false"),
            ("default_transaction_isolation", "repeatable read"),
        ],
        &[
            ("shared_buffers", "64MB"),
            ("checkpoint_timeout", "10min"),
            ("synchronous_commit", "off"),
            ("default_transaction_isolation", "repeatable read"),
            ("fsync", "on"),
            ("full_page_writes", "on"),
            ("max_connections", "100"),
        ],
    ),
    (
        ServerKind::Sqlite,
        &[
            ("journal_mode", "WAL"),
            ("synchronous", "NORMAL"),
            ("page_size", "8192"),
            ("cache_size", "-4000"),
        ],
        &[
            ("journal_mode", "wal"),
            ("synchronous", "normal"),
            ("page_size", "8192"),
            ("cache_size", "-4000"),
            ("temp_store", "default"),
        ],
    ),
];

#[test]
fn settings_are_applied_and_read_back() {
    for (kind, requested, expected) in APPLIED {
        let scratch = open_folder();
        let Some(server) = running(kind, scratch.path(), requested) else { continue };
        let found = &server.settings;
        for (name, value) in expected {
            assert_eq!(
                found.get(*name).map(String::as_str),
                Some(*value),
                "{kind}: {name} in {found:#?}"
            );
        }
    }
}

#[test]
fn defaults_that_affect_durability_are_not_changed() {
    let rows: [(ServerKind, Pairs); 3] = [
        (
            ServerKind::Mariadb,
            &[
                ("innodb_flush_log_at_trx_commit", "1"),
                ("sync_binlog", "0"),
                ("innodb_doublewrite", "ON"),
            ],
        ),
        (
            ServerKind::Mysql,
            &[("innodb_flush_log_at_trx_commit", "1"), ("sync_binlog", "1"), ("log_bin", "ON")],
        ),
        (
            ServerKind::Postgres,
            &[("fsync", "on"), ("synchronous_commit", "on"), ("full_page_writes", "on")],
        ),
    ];
    for (kind, expected) in rows {
        let Some(server) = shared(kind) else { continue };
        for (name, value) in expected {
            assert_eq!(
                server.settings.get(*name).map(String::as_str),
                Some(*value),
                "{kind}: {name}"
            );
        }
    }
}

#[test]
fn an_unknown_setting_is_rejected_with_the_servers_own_message() {
    for (kind, words) in [
        (ServerKind::Mariadb, "unknown variable 'no_such_setting=1'"),
        (ServerKind::Mysql, "unknown variable 'no_such_setting=1'"),
        (ServerKind::Postgres, "unrecognized configuration parameter \"no_such_setting\""),
    ] {
        let scratch = open_folder();
        let Some(server) = described(kind, scratch.path(), &[("no_such_setting", "1")]) else {
            continue;
        };
        let error = start(&server, &options()).err().expect("an unknown setting");
        assert!(
            error.to_string().contains("rejects the setting \"no_such_setting\""),
            "{kind}: {error}"
        );
        let text = error.to_string();
        assert!(
            text.starts_with(&format!(
                "{kind} rejects the setting \"no_such_setting\" = \"1\". Its output:\n  | "
            )),
            "{text}"
        );
        assert!(text.contains(words), "{text}");
        assert!(is_empty(scratch.path()), "{kind}");
    }
}

#[test]
fn an_invalid_value_is_rejected_with_the_servers_own_message() {
    for (kind, name, value) in [
        (ServerKind::Mariadb, "thread_handling", "threads-of-pool"),
        (ServerKind::Mysql, "transaction-isolation", "much"),
        (ServerKind::Postgres, "shared_buffers", "much"),
    ] {
        let scratch = open_folder();
        let Some(server) = described(kind, scratch.path(), &[(name, value)]) else { continue };
        let error = start(&server, &options()).err().expect("a broken value").to_string();
        assert!(
            error.contains(&format!("rejects the setting {name:?} = {value:?}")),
            "{kind}: {error}"
        );
    }
}

#[test]
fn a_setting_not_in_force_is_reported_with_requested_and_actual_value() {
    let rows: [(ServerKind, &str, &str, &str); 6] = [
        // The server raises it to its minimum with only a warning.
        (ServerKind::Mariadb, "max_connections", "5", "requested \"5\", in force \"10\""),
        (ServerKind::Mysql, "table_open_cache", "0", "requested \"0\", in force \"1\""),
        // A value that is not a number counts as 0; the server logs that.
        (ServerKind::Mysql, "innodb_buffer_pool_size", "much", "value 0 adjusted to 5242880"),
        // Names with a dot are accepted silently, but not listed.
        (ServerKind::Postgres, "dyno.nonsense", "1", "the server has no setting \"dyno.nonsense\""),
        // Unknown pragmas are ignored silently.
        (ServerKind::Sqlite, "journal_modus", "wal", "the server has no setting \"journal_modus\""),
        // A value that SQLite does not know leaves the old one in force.
        (ServerKind::Sqlite, "journal_mode", "wol", "requested \"wol\", in force \"delete\""),
    ];
    for (kind, name, value, words) in rows {
        let scratch = open_folder();
        let Some(server) = described(kind, scratch.path(), &[(name, value)]) else { continue };
        let error = start(&server, &options())
            .err()
            .unwrap_or_else(|| panic!("{kind}: {name} took effect"));
        assert!(error.to_string().contains("not with the requested settings"), "{kind}: {error}");
        let text = error.to_string();
        assert!(text.contains(&format!("{name:?}")) && text.contains(words), "{kind}: {text}");
        assert!(is_empty(scratch.path()), "{kind}");
    }
}

#[test]
fn wal_and_other_pragmas_apply_to_every_connection() {
    let scratch = open_folder();
    let server = running(
        ServerKind::Sqlite,
        scratch.path(),
        &[("journal_mode", "wal"), ("synchronous", "off"), ("busy_timeout", "1234")],
    );
    let target = server.as_ref().unwrap().target();
    for _ in 0..2 {
        assert_eq!(crate::ask(&target, "PRAGMA journal_mode").first(), Some("wal"));
        assert_eq!(crate::ask(&target, "PRAGMA synchronous").first(), Some("0"));
        assert_eq!(crate::ask(&target, "PRAGMA busy_timeout").first(), Some("1234"));
    }
    assert_eq!(
        target.session_setup.len(),
        2,
        "the journal mode is a property of the file: {:?}",
        target.session_setup
    );
}

#[test]
fn wrong_names_and_values_are_found_without_a_start() {
    let rows = [
        (ServerKind::Mariadb, "thread_handling", "pool-of-thredas", "pool-of-threads"),
        (ServerKind::Mariadb, "innodb_buffer_pool_size", "4X", "4G"),
        (ServerKind::Mysql, "innodb_flush_method", "bla", "fsync"),
        (ServerKind::Mysql, "innodb_buffer_pool_size", "4X", "4 GiB"),
        (ServerKind::Postgres, "wal_level", "rplica", "replica"),
        (ServerKind::Postgres, "shared_buffers", "4 cats", "4G"),
    ];
    for (kind, name, wrong, right) in rows {
        let Some(binary) = dyno_testkit::require_server(kind).and_then(|_| locate(kind, None).ok())
        else {
            continue;
        };
        let scratch = open_folder();
        let check = |name: &str, value: &str| {
            let server =
                described(kind, scratch.path(), &[(name, value)]).expect("it is installed");
            check_values(&server, &binary).map_err(|error| error.to_string())
        };
        check(name, right).unwrap_or_else(|error| panic!("{kind}: {error}"));
        let error = check(name, wrong).expect_err(wrong);
        assert!(error.contains(name) && error.contains(wrong), "{kind}: {error}");
        let misspelt = name.replacen('e', "a", 1);
        let error = check(&misspelt, right).expect_err(&misspelt);
        assert!(error.contains(&misspelt), "{kind}: {error}");
        assert!(is_empty(scratch.path()), "nothing was started");
    }
}

#[test]
fn a_rounded_size_is_reported_with_both_values_and_is_not_an_error() {
    let rows: [(ServerKind, Pairs); 3] = [
        (
            ServerKind::Mariadb,
            &[("key_buffer_size", "5000000"), ("innodb_buffer_pool_size", "200000000")],
        ),
        (
            ServerKind::Mysql,
            &[("innodb-buffer-pool-size", "200M"), ("max_allowed_packet", "1100000")],
        ),
        (ServerKind::Postgres, &[("shared_buffers", "20001kB"), ("work_mem", "4MB")]),
    ];
    let expected: [Pairs; 3] = [
        &[("innodb_buffer_pool_size", "199229440"), ("key_buffer_size", "4997120")],
        &[("innodb-buffer-pool-size", "268435456"), ("max_allowed_packet", "1099776")],
        &[("shared_buffers", "20000kB")],
    ];
    for ((kind, requested), expected) in rows.into_iter().zip(expected) {
        let scratch = open_folder();
        let Some(server) = running(kind, scratch.path(), requested) else { continue };
        let rounded = &server.rounded;
        let found: Vec<(&str, &str)> =
            rounded.iter().map(|setting| (setting.name.as_str(), setting.found.as_str())).collect();
        assert_eq!(found, expected, "{kind}");
        for setting in rounded {
            let (_, value) =
                requested.iter().find(|(name, _)| *name == setting.name).expect("it was asked for");
            assert_eq!(setting.requested, *value, "{kind}");
        }
    }
}
