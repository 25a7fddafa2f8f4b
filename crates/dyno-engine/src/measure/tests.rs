//! Tests of worker pools of several workloads that stop each other.

use super::load::LoadInput;
use super::start::Start;
use super::worker_pool::{StuckThreadPolicy, WorkerPool, WorkerReport};
use crate::client_id::ClientId;
use crate::recording::SampleNames;
use crate::window::MeasurementWindow;
use dyno_model::event::Listener;
use dyno_model::plan::{LoadPlan, StopRule};
use dyno_model::reason::Reason;
use dyno_model::units::Nanos;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{Receiver, Sender, channel};

thread_local! {
    /// Dropped when its thread has ended.
    static ALIVE: RefCell<Option<Sender<()>>> = const { RefCell::new(None) };
}

/// Delays the coordinator's check of the worker pool until its worker has ended.
struct LooksLate(Receiver<()>);

impl Listener for LooksLate {
    fn clients_begin(&mut self, _from_now: Nanos) {
        assert!(self.0.recv().is_err(), "nothing is sent");
    }
}

fn no_table() -> Reason {
    "no table".into()
}

const HOUR: Nanos = Nanos::from_secs(3_600);

/// The window of a pool of one worker that runs `work` and ends before the coordinator checks.
fn window_of_pool(
    load: &LoadPlan,
    start: &Start,
    work: fn(&MeasurementWindow),
) -> Arc<MeasurementWindow> {
    let nobody = AtomicUsize::new(0);
    let input = LoadInput::new("crew", 1, load, 1, &nobody);
    let mut worker_pool = WorkerPool::new(SampleNames::default(), StuckThreadPolicy::Await, &input);
    let (alive, has_ended) = channel();
    let spawned = worker_pool.spawn(vec![ClientId(0)], 1, None, move |channels| {
        ALIVE.set(Some(alive));
        work(&channels.start_receiver.recv().expect("it begins"));
        WorkerReport::default()
    });
    spawned.expect("there can be a thread");
    worker_pool.run(start, &mut LooksLate(has_ended)).window
}

#[test]
fn early_end_of_a_worker_pool_stops_the_other_pools() {
    let load = LoadPlan::new(StopRule::Duration(HOUR));
    let start = Start::soon();
    window_of_pool(&load, &start.for_group("report"), |window| window.stop(no_table()));
    let lead = MeasurementWindow::new(start.epoch, &load, None);
    start.propagate_stop(&lead);
    let (name, reason) = ("report".to_owned(), Box::new(no_table()));
    assert_eq!(lead.stop_cause(), Some(Reason::BackgroundStopped { name, reason }));
}

#[test]
fn finished_worker_pool_is_not_marked_as_stopped_by_another() {
    let load = LoadPlan::new(StopRule::Duration(Nanos(0)));
    let start = Start::soon();
    let background = MeasurementWindow::new(start.epoch, &load, None);
    background.stop(no_table());
    start.for_group("report").propagate_stop(&background);
    assert_eq!(window_of_pool(&load, &start, |_| ()).stop_cause(), None);
}
