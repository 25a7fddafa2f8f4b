//! The systems under test while a run goes on: started when a trial needs them, fresh in every block and for every whole
//! plot, stopped at the end.

use dyno_host::counters;
use dyno_host::existing::{self, ConnectedSystem};
use dyno_host::guard::GuardCommand;
use dyno_host::marker::{self, Claim, ClaimOptions};
use dyno_host::probe;
use dyno_host::server::{self, RunningServer, StartOptions};
use dyno_model::event::{Event, Listener};
use dyno_model::finding::Finding;
use dyno_model::plan::{DataPolicy, Plan, SystemSource, Treatment, WholePlot};
use dyno_model::target::Target;
use dyno_results::store::utc_now;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Connections beside the clients': loaders, observer, counters.
pub(crate) const CONNECTIONS_BESIDE: u32 = 10;
/// A system that could not be brought up so many times in a row is not tried again.
const FAILURES_MAX: u32 = 2;
/// Longest name of a server's log, without number and ending.
const LOG_NAME_MAX: usize = 120;

/// All systems of a plan.
pub(crate) struct Systems<'p> {
    plan: &'p Plan,
    slots: Vec<Slot<'p>>,
    yes_write_to: Option<String>,
    log_dir: Option<PathBuf>,
    /// Block that is being measured, from 1; names the servers' logs.
    block: u32,
}

#[derive(Default)]
struct Slot<'p> {
    ready: Option<Ready>,
    /// The whole plot that it was brought up for.
    plot: Option<WholePlot<'p>>,
    troubles: Vec<Trouble<'p>>,
}

/// A whole plot whose server could not be brought up.
struct Trouble<'p> {
    plot: WholePlot<'p>,
    /// Times in a row.
    failures: u32,
    /// Why, the last time.
    reason: String,
}

impl<'p> Slot<'p> {
    /// The reason why a whole plot is not tried again.
    fn given_up(&self, plot: WholePlot<'p>) -> Option<&str> {
        let trouble = self.troubles.iter().find(|trouble| trouble.plot == plot)?;
        (trouble.failures >= FAILURES_MAX).then_some(trouble.reason.as_str())
    }

    fn note_failure(&mut self, plot: WholePlot<'p>, reason: &str) {
        match self.troubles.iter_mut().find(|trouble| trouble.plot == plot) {
            Some(trouble) => {
                trouble.failures += 1;
                reason.clone_into(&mut trouble.reason);
            }
            None => self.troubles.push(Trouble { plot, failures: 1, reason: reason.to_owned() }),
        }
    }
}

/// A system that answers.
pub(crate) struct Ready {
    source: Source,
    claim: Option<Claim>,
    /// Fingerprint of the data set that is loaded.
    loaded: Option<String>,
}

enum Source {
    Managed(Box<RunningServer>),
    Existing(Box<ConnectedSystem>),
}

impl<'p> Systems<'p> {
    /// Nothing is started yet. `yes_write_to` names a database that may be written to although it is not dyno's.
    pub(crate) fn new(plan: &'p Plan, yes_write_to: Option<&str>, log_dir: Option<PathBuf>) -> Self {
        let slots = plan.systems.iter().map(|_| Slot::default()).collect();
        Self { plan, slots, yes_write_to: yes_write_to.map(str::to_owned), log_dir, block: 0 }
    }

    /// Servers that dyno started are stopped, so that the block gets fresh ones; data on existing systems is forgotten.
    pub(crate) fn begin_block(&mut self, block: u32, listener: &mut dyn Listener) {
        self.block = block;
        self.stop_managed(listener);
        for slot in &mut self.slots {
            if let Some(ready) = &mut slot.ready {
                ready.loaded = None;
            }
        }
    }

    /// Stops all servers that dyno started.
    fn stop_managed(&mut self, listener: &mut dyn Listener) {
        for system in 0..self.slots.len() {
            match self.slots[system].ready.take() {
                Some(Ready { source: Source::Managed(server), .. }) => self.stop(system, *server, listener),
                ready => self.slots[system].ready = ready,
            }
        }
    }

    /// Starts or connects the system of a treatment, unless it answers already with the treatment's settings.
    ///
    /// # Errors
    /// Why it is not there, for the record of the trial.
    pub(crate) fn bring_up(&mut self, treatment: usize, listener: &mut dyn Listener) -> Result<(), String> {
        let plan = self.plan;
        let plot = plan.whole_plot(&plan.treatments[treatment]);
        let system = plot.system;
        if self.slots[system].ready.is_some() && self.slots[system].plot == Some(plot) {
            return Ok(());
        }
        if plan.is_split() {
            // Each whole plot is there once per block: the server before is done, and its memory is needed.
            self.stop_managed(listener);
        }
        if let Some(reason) = self.slots[system].given_up(plot) {
            return Err(format!("not tried again after {FAILURES_MAX} failures: {reason}"));
        }
        let name = plan.systems[system].name.clone();
        listener.event(&Event::SystemStarting { system: name.clone() });
        match self.open(treatment) {
            Ok((ready, version, settings)) => {
                listener.event(&Event::SystemReady { system: name, version, settings });
                let sessions = ready.foreign_sessions();
                if sessions > 0 {
                    listener.event(&Event::RunFinding(Finding::ForeignSessions { sessions }));
                }
                let slot = &mut self.slots[system];
                slot.troubles.retain(|trouble| trouble.plot != plot);
                slot.plot = Some(plot);
                slot.ready = Some(ready);
                Ok(())
            }
            Err(reason) => {
                self.slots[system].note_failure(plot, &reason);
                listener.event(&Event::SystemFailed { system: name, reason: reason.clone() });
                Err(reason)
            }
        }
    }

    fn open(&self, treatment: usize) -> Result<(Ready, String, BTreeMap<String, String>), String> {
        let treatment = &self.plan.treatments[treatment];
        let system = treatment.system;
        let plan = &self.plan.systems[system];
        let (source, version, settings) = match &plan.source {
            SystemSource::Managed(managed) => {
                let managed = self.plan.server(treatment).unwrap_or_else(|| managed.clone());
                let mut options = StartOptions::new(self.log_name(treatment), GuardCommand::this_program());
                options.log_dir.clone_from(&self.log_dir);
                options.connections = self.connections(system);
                let server = server::start(&managed, &options).map_err(|error| error.to_string())?;
                let (version, settings) = (server.version().to_owned(), server.settings_read_back().clone());
                (Source::Managed(Box::new(server)), version, settings)
            }
            SystemSource::Existing(source) => {
                let existing = existing::connect(source, plan.query_mode, plan.connect_timeout.into())
                    .map_err(|error| error.to_string())?;
                let (version, settings) = (existing.version.clone(), existing.settings.clone());
                (Source::Existing(Box::new(existing)), version, settings)
            }
        };
        let mut ready = Ready { source, claim: None, loaded: None };
        let created_at = utc_now();
        let options = self.claim_options(&created_at);
        // A database whose tables are used as they are is not marked; it must be dyno's or named all the same.
        let claim = match self.data_policy(system) {
            DataPolicy::Own => marker::claim(&ready.target(), &options),
            DataPolicy::Existing => marker::examine(&ready.target(), &options),
        };
        ready.claim = Some(claim.map_err(|error| error.to_string())?);
        Ok((ready, version, settings))
    }

    /// Name of a server's log: its system, the block, and what sets its whole plot apart.
    fn log_name(&self, treatment: &Treatment) -> String {
        let mut name = format!("{}-block{}", self.plan.systems[treatment.system].name, self.block);
        for (setting, value) in &treatment.variation.settings {
            name.push_str(&format!("-{setting}-{value}"));
        }
        // The file's name gets a number and an ending besides.
        name.chars().take(LOG_NAME_MAX).collect()
    }

    fn claim_options<'a>(&'a self, created_at: &'a str) -> ClaimOptions<'a> {
        ClaimOptions { experiment: &self.plan.name, created_at, yes_write_to: self.yes_write_to.as_deref() }
    }

    /// Notes that tables are about to be made on a system; what was loaded there is no longer whole.
    ///
    /// # Errors
    /// When a table is not dyno's, or the marker cannot be written, without which nothing could be cleaned up.
    pub(crate) fn begin_loading(&mut self, system: usize, tables: &[&str]) -> Result<(), String> {
        let created_at = utc_now();
        let yes_write_to = self.yes_write_to.clone();
        let options = ClaimOptions {
            experiment: &self.plan.name,
            created_at: &created_at,
            yes_write_to: yes_write_to.as_deref(),
        };
        let Some(ready) = self.slots[system].ready.as_mut() else { return Ok(()) };
        ready.loaded = None;
        let target = ready.target();
        let Some(claim) = &mut ready.claim else { return Ok(()) };
        claim.record_tables(&target, tables, &options).map_err(|error| error.to_string())
    }

    /// Whose tables the workload runs on.
    pub(crate) fn data_policy(&self, system: usize) -> DataPolicy {
        match &self.plan.systems[system].source {
            SystemSource::Managed(_) => DataPolicy::Own,
            SystemSource::Existing(existing) => existing.data,
        }
    }

    /// Most connections that a trial of the system needs.
    pub(crate) fn connections(&self, system: usize) -> u32 {
        let of_system = self.plan.treatments.iter().filter(|treatment| treatment.system == system);
        of_system.map(|treatment| treatment.clients).max().unwrap_or(0) + CONNECTIONS_BESIDE
    }

    /// The system, if it answers.
    pub(crate) fn ready(&mut self, system: usize) -> Option<&mut Ready> {
        self.slots[system].ready.as_mut()
    }

    /// Clears a server away that died; says how it ended, when it did.
    pub(crate) fn bury_if_dead(&mut self, system: usize, listener: &mut dyn Listener) -> Option<String> {
        let reason = self.slots[system].ready.as_ref()?.ending()?;
        self.slots[system].ready = None;
        let name = self.plan.systems[system].name.clone();
        listener.event(&Event::SystemFailed { system: name, reason: reason.clone() });
        Some(reason)
    }

    /// Stops what dyno started and removes from existing systems what dyno made there.
    pub(crate) fn tear_down(&mut self, listener: &mut dyn Listener) {
        for system in 0..self.slots.len() {
            let Some(ready) = self.slots[system].ready.take() else { continue };
            match ready.source {
                Source::Managed(server) => self.stop(system, *server, listener),
                Source::Existing(_) if self.data_policy(system) == DataPolicy::Existing => {}
                Source::Existing(existing) => {
                    if let Err(error) = marker::cleanup(&existing.target) {
                        let what = format!(
                            "tables made by dyno could not be removed from {}: {error}",
                            self.plan.systems[system].name
                        );
                        listener.event(&Event::RunFinding(Finding::RecordingIncomplete { what }));
                    }
                }
            }
        }
    }

    fn stop(&self, system: usize, server: RunningServer, listener: &mut dyn Listener) {
        let name = self.plan.systems[system].name.clone();
        for what in server.stop().problems {
            listener.event(&Event::RunFinding(Finding::RecordingIncomplete { what }));
        }
        listener.event(&Event::SystemStopped { system: name });
    }
}

impl Ready {
    /// Where clients connect.
    pub(crate) fn target(&self) -> Target {
        match &self.source {
            Source::Managed(server) => server.target(),
            Source::Existing(existing) => existing.target.clone(),
        }
    }

    /// True when the server's processors are the generator's.
    pub(crate) fn shares_machine(&self) -> bool {
        match &self.source {
            Source::Managed(_) => true,
            Source::Existing(existing) => probe::shares_machine(&existing.target.endpoint),
        }
    }

    /// Sessions of others on a system that dyno did not start, as far as the account may see them.
    fn foreign_sessions(&self) -> u64 {
        match &self.source {
            Source::Managed(_) => 0,
            Source::Existing(existing) => {
                probe::foreign_sessions(&existing.target).map_or(0, |sessions| sessions.len() as u64)
            }
        }
    }

    /// How a server that dyno started ended; `None` while it runs. Existing ones show it by refusing connections.
    pub(crate) fn ending(&self) -> Option<String> {
        match &self.source {
            Source::Managed(server) => server.ending(),
            Source::Existing(_) => None,
        }
    }

    /// The server's own counters now; none when it does not answer.
    pub(crate) fn counters(&self) -> BTreeMap<String, i64> {
        counters::snapshot(&self.target()).unwrap_or_default()
    }

    /// True when a data set of this fingerprint is loaded.
    pub(crate) fn has_loaded(&self, fingerprint: &str) -> bool {
        self.loaded.as_deref() == Some(fingerprint)
    }

    /// A data set is loaded now.
    pub(crate) fn note_loaded(&mut self, fingerprint: String) {
        self.loaded = Some(fingerprint);
    }
}
