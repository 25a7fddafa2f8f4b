//! Data sets loaded once and restored by copy, on real servers.

use crate::{ask, connect, described, is_empty, open_folder, options, running};
use dyno_drivers::{Discard, Driver, block_on};
use dyno_host::data_set::loader;
use dyno_host::server::{StartOptions, start};
use dyno_model::plan::ServerKind;
use std::sync::Arc;

use crate::PROCESSES;

#[test]
fn a_saved_data_set_is_part_of_every_start_and_removed_at_the_end() {
    for kind in PROCESSES {
        let scratch = open_folder();
        let Some(server) = described(kind, scratch.path(), &[]) else { continue };
        let loading =
            start(&loader(&server, &server), &options()).unwrap_or_else(|error| panic!("{error}"));
        let mut session = connect(&loading.target());
        for sql in [
            "CREATE TABLE words (id INT PRIMARY KEY, word VARCHAR(9))",
            "INSERT INTO words VALUES (1, 'kept')",
        ] {
            block_on(session.query(sql, &mut Discard)).unwrap();
        }
        block_on(session.close());
        let saved =
            Arc::new(loading.stop_and_save().unwrap_or_else(|error| panic!("{kind}: {error}")));
        assert!(saved.bytes > 1 << 20);
        let setting = if kind == ServerKind::Postgres {
            ("work_mem", "7MB")
        } else {
            ("max_connections", "77")
        };
        for _ in 0..2 {
            let server = described(kind, scratch.path(), &[setting]).expect("it is installed");
            let options = StartOptions { data: Some(Arc::clone(&saved)), ..options() };
            let copy = start(&server, &options).unwrap_or_else(|error| panic!("{kind}: {error}"));
            assert!(!copy.restoring.is_zero());
            assert_eq!(copy.settings[setting.0], setting.1);
            // Changes of one start do not affect another.
            let found = ask(&copy.target(), "SELECT word FROM words WHERE id = 1");
            assert_eq!(found.0, [[Some("kept".to_owned())]], "{kind}");
            ask(&copy.target(), "UPDATE words SET word = 'changed'");
            let stopped = copy.stop();
            assert_eq!(stopped.problems, Vec::<String>::new());
        }
        let saved = Arc::into_inner(saved).expect("no server uses it");
        assert_eq!(saved.remove(), Vec::<String>::new());
        assert!(is_empty(scratch.path()), "{kind}: nothing is left");
    }
}

#[test]
fn a_loader_writes_no_binary_log_and_its_copies_follow_their_settings() {
    let scratch = open_folder();
    let Some(server) = described(ServerKind::Mysql, scratch.path(), &[]) else { return };
    let loading =
        start(&loader(&server, &server), &options()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(loading.settings["log_bin"], "OFF");
    let saved = Arc::new(loading.stop_and_save().unwrap_or_else(|error| panic!("{error}")));
    let names: Vec<String> = std::fs::read_dir(&saved.folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert!(
        !names.iter().any(|name| name.contains("binlog") || name == "ib_buffer_pool"),
        "{names:?}"
    );
    let options = StartOptions { data: Some(Arc::clone(&saved)), ..options() };
    let copy = start(&server, &options).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(copy.settings["log_bin"], "ON");
}

#[test]
fn a_server_without_a_folder_cannot_be_saved() {
    let scratch = open_folder();
    let server = running(ServerKind::Null, scratch.path(), &[]).expect("it is built in");
    assert!(server.stop_and_save().is_err());
    assert!(is_empty(scratch.path()));
}
