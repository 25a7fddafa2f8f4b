//! Data of a trial: loaded, restored from a copy, or reused.

use crate::databases::{ClaimedDatabases, DatabaseUse};
use crate::generators::DistributedTrial;
use crate::interrupt::Interrupts;
use crate::system::ReadySystem;
use crate::systems::Systems;
use crate::workload_set::{GroupData, WorkloadSet, only_reads};
use dyno_engine::loading::{self, Loading, LoadingError};
use dyno_engine::workload::DataSet;
use dyno_host::HostError;
use dyno_host::marker::{ClaimOptions, EVERYTHING};
use dyno_model::event::Listener;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::plan::{DataPolicy, Trial};
use dyno_model::reason::Reason;
use dyno_model::search::SearchRecord;
use dyno_model::target::Target;
use dyno_model::units::Nanos;
use dyno_store::utc_now;
use std::time::{Duration, Instant};

/// Why a trial has no record.
pub(crate) enum Missing {
    /// The user interrupted it.
    Interrupted,
    /// Its system is not available.
    System(Reason),
    /// A reason that affects only this trial.
    Trial(Reason),
    /// Its search for the highest load found no load.
    Search(Box<SearchRecord>),
    /// A failure after which nothing more can be measured.
    Run(Reason),
}

impl Missing {
    pub(crate) fn trial(reason: impl Into<Reason>) -> Self {
        Self::Trial(reason.into())
    }
}

/// Text errors come from bringing up a server, so they affect its system.
impl From<String> for Missing {
    fn from(reason: String) -> Self {
        Self::System(reason.into())
    }
}

impl From<HostError> for Missing {
    fn from(error: HostError) -> Self {
        Self::System(error.into())
    }
}

impl From<Reason> for Missing {
    fn from(reason: Reason) -> Self {
        Self::System(reason)
    }
}

/// Starts the system of a trial with the trial's data.
pub(crate) struct DataSetup<'a, 'p> {
    pub(crate) trial: &'a Trial,
    pub(crate) systems: &'a mut Systems<'p>,
    pub(crate) interrupts: &'a Interrupts,
    /// The generators that load; `None`: this process does.
    pub(crate) distributed: Option<DistributedTrial<'a>>,
}

impl<'a> DataSetup<'a, '_> {
    /// Starts the system, and loads or restores its data unless the present data can be reused.
    /// Returns the time that loading took.
    pub(crate) fn prepare(
        &mut self,
        data: &WorkloadSet,
        listener: &mut dyn Listener,
    ) -> Result<Nanos, Missing> {
        let configuration = self.trial.configuration;
        if let Some(reason) = self.systems.forbidden(self.systems.system_of(configuration)) {
            return Err(Missing::trial(reason));
        }
        if self.systems.restores(configuration, data) {
            let time = self.restore(data, listener)?;
            self.systems.enter(configuration)?;
            return Ok(time);
        }
        self.systems.start(configuration, None, listener)?;
        self.systems.enter(configuration)?;
        self.make(data, listener)
    }

    fn loader(&self) -> DataLoader<'a> {
        let Self { trial, interrupts, distributed, .. } = *self;
        DataLoader { trial, interrupts, distributed }
    }

    fn restore(
        &mut self,
        data: &WorkloadSet,
        listener: &mut dyn Listener,
    ) -> Result<Nanos, Missing> {
        let loader = self.loader();
        let fingerprint = data.fingerprint();
        if self.systems.is_running_with(self.trial.configuration, &fingerprint, data.is_reusable())
        {
            return Ok(Nanos(0));
        }
        let own = own_database(data);
        let names = own.map_or_else(Vec::new, names);
        let disks = self.systems.disks.clone();
        let experiment = self.systems.plan.name.clone();
        let mut load_data = |ready: &ReadySystem, listener: &mut dyn Listener| {
            let loaded = match own {
                Some(own) => loader.load_data(ready, &[(ready.target(), own)], listener),
                None => loader.load_databases(&experiment, ready, data, listener),
            };
            loaded.map_err(|missing| match disks.full_now() {
                Some(reason) => Missing::System(reason),
                None => missing,
            })
        };
        let time = self.systems.restore(
            self.trial.configuration,
            &fingerprint,
            &names,
            listener,
            &mut load_data,
        )?;
        Ok(time.into())
    }

    /// Loads the data set on a running system, unless the present data can be reused.
    fn make(&mut self, data: &WorkloadSet, listener: &mut dyn Listener) -> Result<Nanos, Missing> {
        let system = self.systems.system_of(self.trial.configuration);
        let policy = self.systems.data_policy(system);
        let ready = self.systems.ready(system).expect("it was just brought up");
        if data.is_reusable() && ready.has_loaded(&data.fingerprint()) {
            return Ok(Nanos(0));
        }
        if policy == DataPolicy::Existing {
            if data.is_reusable() {
                for its in &data.databases {
                    let target = ready.databases.target(&ready.target(), its.database.as_deref());
                    loading::check_existing(&target, its)
                        .map_err(|failure| Missing::Trial(Reason::Failure(failure)))?;
                }
                ready.loaded = Some(data.fingerprint());
            }
            return Ok(Nanos(0));
        }
        if policy == DataPolicy::Copy {
            return self.copy(system, data, listener);
        }
        let mut targets = Vec::new();
        for data in &data.databases {
            targets.push((self.begin_loading(system, data)?, data));
        }
        let (loader, disks) = (self.loader(), self.systems.disks.clone());
        let ready = self.systems.ready(system).expect("it is still up");
        let time = loader.load_data(ready, &targets, listener);
        if data.is_created_once() {
            // dyno also owns the tables created before a failure, and their names are now known.
            self.systems.claimed(system, ReadySystem::adopt).map_err(Missing::trial)?;
        }
        let time = time.map_err(|missing| match (missing, disks.scarce()) {
            (Missing::Trial(reason), Some((folder, free, total))) => {
                let reason = Box::new(reason);
                Missing::Trial(Reason::DiskScarce { reason, folder, free, total })
            }
            (missing, _) => missing,
        })?;
        let ready = self.systems.ready(system).expect("it is still up");
        ready.loaded = Some(data.fingerprint());
        Ok(time.into())
    }

    /// Copies a system's database and runs the setup scripts in the copy.
    fn copy(
        &mut self,
        system: usize,
        data: &WorkloadSet,
        listener: &mut dyn Listener,
    ) -> Result<Nanos, Missing> {
        let began = Instant::now();
        self.systems.claimed(system, ReadySystem::work_in_copy).map_err(Missing::trial)?;
        let ready = self.systems.ready(system).expect("it is still up");
        let target = ready.target();
        for setup in data.setups() {
            let rejected = setup
                .create(&target, self.interrupts.counter())
                .and_then(|()| setup.update_statistics(&target))
                .map_err(|failure| failed(&failure))?;
            loading::report_rejected(rejected, listener);
        }
        ready.loaded = Some(data.fingerprint());
        Ok(began.elapsed().into())
    }

    /// Records which tables are about to be created in a database, and drops existing ones with
    /// these names. Returns the target of the database.
    fn begin_loading(&mut self, system: usize, data: &GroupData) -> Result<Target, Missing> {
        let mut names = names(data);
        if data.database.is_none() && data.is_created_once() {
            names.push(EVERYTHING.to_owned());
            let remove = |target: &Target| data.remove(target, self.interrupts.counter());
            let cleared =
                self.systems.claimed(system, |ready, options| ready.clear(&remove, options));
            cleared.map_err(Missing::trial)?;
        }
        let database = data.database.as_deref();
        self.systems.begin_loading(system, database, &names).map_err(Missing::trial)?;
        let ready = self.systems.ready(system).expect("it is still up");
        Ok(ready.databases.target(&ready.target(), database))
    }
}

/// The data of groups if they all work in the system's own database.
fn own_database(data: &WorkloadSet) -> Option<&GroupData> {
    data.databases.first().filter(|it| it.database.is_none())
}

/// Names of the tables.
pub(crate) fn names(data: &GroupData) -> Vec<String> {
    data.tables().into_iter().map(|table| table.name).collect()
}

/// The failure of loading as a reason.
fn failed(failure: &OperationFailure) -> Missing {
    match failure.kind {
        FailureKind::Cancelled => Missing::Interrupted,
        _ => Missing::Trial(Reason::DataNotLoaded(failure.clone())),
    }
}

/// Loads the data of a trial: by this process, or by generators.
#[derive(Clone, Copy)]
struct DataLoader<'a> {
    trial: &'a Trial,
    interrupts: &'a Interrupts,
    distributed: Option<DistributedTrial<'a>>,
}

impl DataLoader<'_> {
    /// Creates databases with their data on a server that dyno started exclusively.
    fn load_databases(
        self,
        experiment: &str,
        ready: &ReadySystem,
        data: &WorkloadSet,
        listener: &mut dyn Listener,
    ) -> Result<Duration, Missing> {
        let created_at = utc_now();
        let options = ClaimOptions {
            experiment,
            created_at: &created_at,
            yes_write_to: None,
            is_shared: false,
        };
        let base = ready.target();
        let wanted: Vec<String> =
            data.databases.iter().filter_map(|it| it.database.clone()).collect();
        let mut databases = ClaimedDatabases::default();
        let usage = DatabaseUse { policy: DataPolicy::Own, only_reads: false };
        databases.enter(&base, &wanted, usage, &options)?;
        let mut targets = Vec::new();
        for (name, data) in wanted.iter().zip(&data.databases) {
            databases.record_tables(&base, name, &names(data), &options)?;
            targets.push((databases.target(&base, Some(name)), data));
        }
        let time = self.load_data(ready, &targets, listener)?;
        databases.adopt_all(&base, &options)?;
        Ok(time)
    }

    /// Loads data sets one after another; returns the total time.
    fn load_data(
        self,
        ready: &ReadySystem,
        targets: &[(Target, &GroupData)],
        listener: &mut dyn Listener,
    ) -> Result<Duration, Missing> {
        let began = Instant::now();
        for (target, data) in targets {
            let interrupts = self.interrupts.counter();
            let loading = Loading { trial: &self.trial.id, target, data: *data, interrupts };
            let loaded = match self.distributed {
                Some(generators) => generators.load_data(&loading, data, listener),
                None => loading::load_data(&loading, listener).map_err(LoadingError::from),
            };
            if let Err(error) = loaded {
                let missing = match error {
                    LoadingError::Failed(failure) => failed(&failure),
                    LoadingError::Generator(reason) => Missing::Trial(reason),
                };
                return Err(match (missing, ready.end_reason()) {
                    (Missing::Trial(_), Some(reason)) => Missing::System(reason),
                    (missing, _) => missing,
                });
            }
        }
        Ok(began.elapsed())
    }
}

impl Systems<'_> {
    /// Claims the databases of a configuration's measured groups on its running system.
    ///
    /// # Errors
    /// When a database cannot be claimed.
    pub(crate) fn enter(&mut self, configuration: usize) -> Result<(), HostError> {
        let (system, names) = (
            self.system_of(configuration),
            self.plan.databases(&self.plan.configurations[configuration]),
        );
        let policy = self.data_policy(system);
        let only_reads =
            policy == DataPolicy::Existing && !names.is_empty() && only_reads(self.plan, system);
        self.claimed(system, |ready, options| {
            let base = ready.target();
            ready.databases.enter(&base, &names, DatabaseUse { policy, only_reads }, options)
        })
    }
}
