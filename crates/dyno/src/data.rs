//! The data of a trial: made, restored by copy, or used once more.

use crate::interrupt::Interrupts;
use crate::system::Ready;
use crate::systems::Systems;
use dyno_engine::loading::{self, Loading};
use dyno_engine::workload::DataSet;
use dyno_host::marker::EVERYTHING;
use dyno_model::event::Listener;
use dyno_model::failure::FailureKind;
use dyno_model::plan::{DataPolicy, Trial};
use dyno_model::target::Target;
use dyno_model::units::Nanos;
use std::time::{Duration, Instant};

/// Why a trial has no figures.
pub(crate) enum Missing {
    /// The user asked for the end.
    Interrupted,
    /// Its system is not there.
    System(String),
    /// Something else that only concerns this trial.
    Trial(String),
}

/// Whatever keeps a server from being there concerns its system.
impl From<String> for Missing {
    fn from(reason: String) -> Self {
        Self::System(reason)
    }
}

/// Brings the system of a trial up with the trial's data.
pub(crate) struct Provider<'a, 'p> {
    pub(crate) trial: &'a Trial,
    pub(crate) systems: &'a mut Systems<'p>,
    pub(crate) interrupts: &'a Interrupts,
}

impl Provider<'_, '_> {
    /// Brings the system up, and makes or restores its data unless what is there will do. Returns the time that the data took.
    pub(crate) fn provide(
        &mut self,
        data: &dyn DataSet,
        listener: &mut dyn Listener,
    ) -> Result<Nanos, Missing> {
        if self.systems.restores(self.trial.treatment, data) {
            return self.restore(data, listener);
        }
        self.systems.bring_up(self.trial.treatment, listener)?;
        self.make(data, listener)
    }

    fn restore(&mut self, data: &dyn DataSet, listener: &mut dyn Listener) -> Result<Nanos, Missing> {
        let (trial, interrupts) = (self.trial, self.interrupts);
        let fingerprint = data.fingerprint();
        if self.systems.is_up_with(trial.treatment, &fingerprint, data.is_reusable()) {
            return Ok(Nanos(0));
        }
        let tables = data.tables();
        let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
        let disks = self.systems.disks().clone();
        let mut load = |ready: &Ready, listener: &mut dyn Listener| {
            load(trial, ready, data, interrupts, listener).map_err(|missing| match disks.full_now() {
                Some(reason) => Missing::System(reason),
                None => missing,
            })
        };
        let time = self.systems.restore(trial.treatment, &fingerprint, &names, listener, &mut load)?;
        Ok(time.into())
    }

    /// Makes the data set on a system that is up, unless the one that is there will do.
    fn make(&mut self, data: &dyn DataSet, listener: &mut dyn Listener) -> Result<Nanos, Missing> {
        let system = self.systems.system_of(self.trial.treatment);
        if self.systems.data_policy(system) == DataPolicy::Existing {
            return Ok(Nanos(0));
        }
        let ready = self.systems.ready(system).expect("it was just brought up");
        if data.is_reusable() && ready.has_loaded(&data.fingerprint()) {
            return Ok(Nanos(0));
        }
        let tables = data.tables();
        let mut names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
        if data.is_made_once() {
            names.push(EVERYTHING);
            let unmake = |target: &Target| data.unmake(target, self.interrupts.count());
            self.systems.clear(system, &unmake).map_err(Missing::Trial)?;
        }
        self.systems.begin_loading(system, &names).map_err(Missing::Trial)?;
        let disks = self.systems.disks().clone();
        let ready = self.systems.ready(system).expect("it is still up");
        let time = load(self.trial, ready, data, self.interrupts, listener);
        if data.is_made_once() {
            // What was made before a failure is dyno's too, and has names now.
            self.systems.adopt(system).map_err(Missing::Trial)?;
        }
        let time = time.map_err(|missing| match (missing, disks.scarce()) {
            (Missing::Trial(reason), Some(disk)) => Missing::Trial(format!("{reason}\nnote: {disk}")),
            (missing, _) => missing,
        })?;
        let ready = self.systems.ready(system).expect("it is still up");
        ready.note_loaded(data.fingerprint());
        Ok(time.into())
    }
}

/// Loads a data set; returns the time it took.
fn load(
    trial: &Trial,
    ready: &Ready,
    data: &dyn DataSet,
    interrupts: &Interrupts,
    listener: &mut dyn Listener,
) -> Result<Duration, Missing> {
    let began = Instant::now();
    let target = ready.target();
    let loading = Loading { trial: &trial.id, target: &target, data, interrupts: interrupts.count() };
    match loading::load(&loading, listener) {
        Ok(_) => Ok(began.elapsed()),
        Err(failure) if failure.kind == FailureKind::Cancelled => Err(Missing::Interrupted),
        Err(failure) => match ready.ending() {
            Some(reason) => Err(Missing::System(reason)),
            None => Err(Missing::Trial(format!("the data could not be loaded: {failure}"))),
        },
    }
}
