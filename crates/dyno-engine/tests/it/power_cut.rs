//! A power cut: commits that were acknowledged but not synced are lost, and the commit ledger names
//! exactly these.
//!
//! With a write-ahead log, SQLite acknowledges a commit when its frames are written; with
//! `synchronous = NORMAL` it does not sync them. A power cut therefore truncates the log. The test
//! simulates it: it copies the files after the last client has ended, truncates the copy's log
//! after an earlier commit, and replaces the original with the copy.

use crate::bench::{NOBODY, Scratch, build, trial_input};
use dyno_drivers::{Connection, Driver, Io, Table, block_on};
use dyno_engine::loading::{Loading, load_data};
use dyno_engine::random::{Random, Stream};
use dyno_engine::{NodeState, RepairedNodes, TrialInput};
use dyno_model::audit::{AuditCheck, AuditVerdict, LedgerEntry};
use dyno_model::catalog::OptionValue;
use dyno_model::plan::{LoadPlan, StopRule};
use dyno_model::record::TrialRecord;
use dyno_model::target::{Endpoint, Engine, Target};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Bytes of the log before its first frame, and of each frame before its page
/// (https://www.sqlite.org/fileformat2.html#the_write_ahead_log).
const LOG_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
const CLIENTS: u32 = 4;
const TRANSACTIONS: u64 = 60;

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// End offsets of all commits in a write-ahead log.
fn commits(log: &[u8]) -> Vec<usize> {
    let frame = FRAME_HEADER + word(log, 8) as usize;
    let ends = (1..).map(|number| LOG_HEADER + number * frame).take_while(|end| *end <= log.len());
    // The last frame of a commit stores the number of pages of the database.
    ends.filter(|end| word(log, end - frame + 4) > 0).collect()
}

fn file(folder: &Path, end: &str) -> PathBuf {
    folder.join(format!("data.db{end}"))
}

fn target(folder: &Path) -> Target {
    let setup = [
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = NORMAL",
        "PRAGMA wal_autocheckpoint = 0",
    ];
    Target {
        session_setup: setup.map(str::to_owned).to_vec(),
        ..Target::new(Engine::Sqlite, Endpoint::File(file(folder, "")))
    }
}

/// The rows of the ledger.
fn rows(folder: &Path) -> BTreeSet<(u32, u64)> {
    let mut table = Table::default();
    block_on(async {
        let mut connection = Connection::connect(&target(folder), &Io::Blocking).await?;
        connection.query("SELECT client, number FROM dyno_ledger", &mut table).await
    })
    .expect("there is a ledger");
    let number = |field: &Option<String>| {
        field.as_deref().and_then(|text| text.parse::<u64>().ok()).expect("a number")
    };
    table.0.iter().map(|row| (number(&row[0]) as u32, number(&row[1]))).collect()
}

/// Removes the last commits. Returns the ledger entries that they contained.
fn cut(folder: &Path, lost: usize) -> BTreeSet<(u32, u64)> {
    let before = rows(folder);
    let copy = folder.join("copy");
    fs::create_dir(&copy).expect("a folder");
    let log = fs::read(file(folder, "-wal")).expect("a write-ahead log");
    let ends = commits(&log);
    let end = ends.iter().rev().nth(lost).copied().unwrap_or(LOG_HEADER);
    fs::copy(file(folder, ""), file(&copy, "")).expect("a copy");
    fs::write(file(&copy, "-wal"), &log[..end]).expect("a shorter log");
    fs::remove_file(file(folder, "-shm")).expect("an index of the log");
    for part in ["", "-wal"] {
        fs::rename(file(&copy, part), file(folder, part)).expect("the copy takes its place");
    }
    fs::remove_dir(&copy).expect("nothing is left in it");
    before.difference(&rows(folder)).copied().collect()
}

/// A trial on a fresh database that loses the last commits after its clients have ended; with the
/// lost ledger entries.
fn trial(folder: &Path, lost: usize) -> (TrialRecord, BTreeSet<(u32, u64)>) {
    let counters = [("ledger", OptionValue::Boolean(true)), ("rows", OptionValue::Integer(5))];
    let native = build("rush", &counters, Engine::Sqlite, CLIENTS).expect("the options fit");
    let target = target(folder);
    let gone = std::cell::RefCell::default();
    let plan =
        LoadPlan { attempts_max: 100_000, ..LoadPlan::new(StopRule::Transactions(TRANSACTIONS)) };
    let repair = || {
        *gone.borrow_mut() = cut(folder, lost);
        RepairedNodes { faults: Vec::new(), nodes: Ok(vec![NodeState::Restarted(Instant::now())]) }
    };
    let input = TrialInput { repair: Some(&repair), ..trial_input(target.clone(), CLIENTS, &plan) };
    let loading =
        Loading { trial: "b01-001", target: &target, data: native.data(), interrupts: &NOBODY };
    load_data(&loading, &mut ()).expect("it can be loaded");
    let record = native.run_trial(&input, &mut ()).expect("it can be measured");
    (record, gone.into_inner())
}

#[test]
fn commits_that_a_power_cut_takes_are_named_exactly_every_time() {
    for round in 0..60 {
        let folder = Scratch::new(&format!("power-cut-{round}"));
        // None, few enough for the audit to name all, or many.
        let lost =
            [0, 1, 2, 5, 1 + Random::new(round, Stream::Data, 0, 0).below(TRANSACTIONS) as usize];
        let lost = lost[round as usize % lost.len()];
        let (record, gone) = trial(&folder.0, lost);
        assert_eq!(gone.len(), lost, "each commit left a row");
        let counters =
            record.audit.checks.iter().find(|check| matches!(check, AuditCheck::Ledger { .. }));
        let Some(
            check @ AuditCheck::Ledger {
                acknowledged,
                lost: found,
                phantoms,
                in_doubt,
                examples,
                ..
            },
        ) = counters
        else {
            panic!("no ledger: {:?}", record.audit);
        };
        assert_eq!(
            (*acknowledged, *found, *phantoms, *in_doubt),
            (TRANSACTIONS, lost as u64, 0, 0),
            "round {round}"
        );
        let verdict = if lost == 0 { AuditVerdict::Intact } else { AuditVerdict::Violated };
        assert_eq!(check.verdict(), verdict, "round {round}");
        let named: BTreeSet<_> = examples
            .iter()
            .map(|LedgerEntry { client, sequence: number, .. }| (*client, *number))
            .collect();
        assert!(
            named.is_subset(&gone) && named.len() == lost.min(5),
            "round {round}: {named:?} of {gone:?}"
        );
    }
}
