//! Loading that is divided among generators: what the coordinator does before, meanwhile and after.
//! The generators are reports that were written down before.

use super::rejected_statistics::{persona, server};
use crate::bench::{NOBODY, null};
use dyno_drivers::RowWriter;
use dyno_drivers::null::server::{Persona, RunningServer};
use dyno_engine::loading::{
    Loaders, Loading, LoadingError, LoadingReport, RowRange, load_data_distributed,
};
use dyno_engine::workload::{DataSet, TableDefinition};
use dyno_model::event::{Event, Listener};
use dyno_model::failure::FailureKind;
use dyno_model::reason::Reason;
use dyno_model::target::Target;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

/// A table of so many rows.
struct OneTable(u64);

impl DataSet for OneTable {
    fn fingerprint(&self) -> String {
        "one".to_owned()
    }

    fn tables(&self) -> Vec<TableDefinition> {
        vec![TableDefinition::new("one", "CREATE TABLE one (a int)", ["a"], self.0)]
    }

    fn row(&self, _table: usize, row: u64, out: &mut dyn RowWriter) {
        out.integer(i64::try_from(row).expect("few rows"));
    }
}

/// Two generators, what they report, and what was assigned to them.
#[derive(Default)]
struct WrittenReports {
    reports: Mutex<VecDeque<(usize, LoadingReport)>>,
    assigned: Mutex<Vec<Vec<RowRange>>>,
}

impl Loaders for WrittenReports {
    fn generators(&self) -> usize {
        2
    }

    fn assign(&self, ranges: Vec<Vec<RowRange>>) {
        *self.assigned.lock().expect("nobody panics") = ranges;
    }

    fn next(&self, _wait: Duration) -> Result<Option<(usize, LoadingReport)>, Reason> {
        match self.reports.lock().expect("nobody panics").pop_front() {
            None => Err("no report is left".into()),
            report => Ok(report),
        }
    }

    fn failure_of(&self, generator: usize, reason: Reason) -> Reason {
        Reason::GeneratorFailed { name: generator.to_string(), reason: Box::new(reason) }
    }
}

#[derive(Default)]
struct Shown(Vec<u64>);

impl Listener for Shown {
    fn event(&mut self, event: &Event) {
        if let Event::Progress { done, total: 40_000, .. } = event {
            self.0.push(*done);
        }
    }
}

/// A server that answers every count with 1.
fn counting() -> (RunningServer, Target) {
    static PLAIN: Persona = persona(&[]);
    server(&PLAIN)
}

fn load_with_generators(
    rows: u64,
    reports: &[(usize, LoadingReport)],
    interrupts: &AtomicUsize,
    listener: &mut dyn Listener,
) -> (Result<u64, LoadingError>, Vec<Vec<RowRange>>) {
    let (_server, target) = counting();
    let loading = Loading { trial: "b01-001", target: &target, data: &OneTable(rows), interrupts };
    let written = WrittenReports {
        reports: Mutex::new(reports.iter().cloned().collect()),
        ..WrittenReports::default()
    };
    let loaded = load_data_distributed(&loading, &written, listener);
    (loaded, written.assigned.into_inner().expect("nobody panics"))
}

#[test]
fn data_that_is_too_small_to_be_divided_is_loaded_by_the_coordinator() {
    let (loaded, assigned) = load_with_generators(10_000, &[], &NOBODY, &mut ());
    assert_eq!((loaded, assigned), (Ok(10_000), Vec::new()));
}

#[test]
fn a_target_that_keeps_no_data_is_not_asked_how_many_rows_it_has() {
    let (target, written) = (null(""), WrittenReports::default());
    let data = &OneTable(40_000);
    let loading = Loading { trial: "b01-001", target: &target, data, interrupts: &NOBODY };
    assert_eq!(load_data_distributed(&loading, &written, &mut ()), Ok(40_000));
    assert_eq!(*written.assigned.lock().expect("nobody panics"), Vec::<Vec<RowRange>>::new());
}

#[test]
fn loaded_rows_are_summed_over_generators_and_verified() {
    let reports = [
        (0, LoadingReport::Rows(500)),
        (1, LoadingReport::Rows(700)),
        (0, LoadingReport::Rows(20_000)),
        (0, LoadingReport::Filled(0)),
        (1, LoadingReport::Filled(0)),
    ];
    let mut shown = Shown::default();
    let (loaded, assigned) = load_with_generators(40_000, &reports, &NOBODY, &mut shown);
    let range = |first| vec![RowRange { table: 0, first, rows: 20_000 }];
    assert_eq!(assigned, [range(0), range(20_000)]);
    assert_eq!(shown.0, [500, 1_200, 20_700, 20_700, 20_700]);
    let Err(LoadingError::Failed(failure)) = loaded else { panic!("{loaded:?}") };
    assert_eq!(
        failure.message,
        "the table one has 1 rows after 40000 were loaded; another process may have changed it"
    );
}

#[test]
fn a_generator_that_cannot_load_is_named() {
    for (report, reported) in [
        (LoadingReport::Failed("its disk is full".into()), "generator 1: its disk is full"),
        (LoadingReport::Filled(7), "generator 1: it reported a table of another data set"),
    ] {
        let (loaded, _) = load_with_generators(40_000, &[(1, report)], &NOBODY, &mut ());
        let Err(LoadingError::Generator(reason)) = loaded else { panic!("{loaded:?}") };
        assert_eq!(reason.to_string(), reported);
    }
}

#[test]
fn the_user_interrupts_a_divided_load() {
    let (loaded, _) = load_with_generators(40_000, &[], &AtomicUsize::new(1), &mut ());
    assert!(
        matches!(&loaded, Err(LoadingError::Failed(it)) if it.kind == FailureKind::Cancelled),
        "{loaded:?}"
    );
}
