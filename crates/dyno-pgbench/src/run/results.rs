//! `--results`: the run as a dyno results folder, one trial of one treatment, for `dyno report`.

use crate::options::Run;
use dyno_engine::LoadRecord;
use dyno_model::audit::AuditRecord;
use dyno_model::catalog::{OptionValue, WorkloadOptions};
use dyno_model::event::{Event, Listener};
use dyno_model::finding::Finding;
use dyno_model::plan::{
    DataPolicy, ExistingSystem, FORMAT, FreshData, LoadPlan, PasswordSource, Plan, SystemPlan, SystemSource,
    Treatment, Trial, Variation, WorkloadPlan,
};
use dyno_model::record::{Interval, TrialRecord};
use dyno_model::target::Target;
use dyno_model::units::Nanos;
use dyno_results::store::environment::Environment;
use dyno_results::store::{RunWriter, StoreError, utc_now};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The only trial's name; intervals carry it.
pub(super) const TRIAL: &str = "b01-001";
/// Name of the experiment.
const NAME: &str = "pgbench";

/// What a results folder says of the run before it begins.
pub(super) struct Subject<'a> {
    pub(super) run: &'a Run,
    pub(super) load: &'a LoadPlan,
    pub(super) seed: u64,
    pub(super) target: &'a Target,
    pub(super) version: &'a str,
    /// Names of the scripts, their weights and their text.
    pub(super) scripts: &'a [(String, u32, String)],
}

/// A results folder that is being written.
pub(super) struct Results {
    writer: RunWriter,
    trial: Trial,
    system: String,
    version: String,
    started_at: String,
}

impl Results {
    /// Makes `root/pgbench/<utc time>-<id>/`.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(super) fn create(root: &Path, subject: &Subject<'_>) -> Result<Self, StoreError> {
        let plan = plan(subject);
        let mut writer = RunWriter::create(root, &plan, &spec(subject), &Environment::capture())?;
        writer.event(&Event::RunStarted { trials: 1, dyno_version: env!("CARGO_PKG_VERSION").to_owned() });
        let (system, version) = (plan.systems[0].name.clone(), subject.version.to_owned());
        writer.event(&Event::SystemStarting { system: system.clone() });
        let settings = BTreeMap::new();
        writer.event(&Event::SystemReady {
            system: system.clone(),
            version: version.clone(),
            settings,
            start: None,
        });
        let trial = plan.trials[0].clone();
        writer.event(&Event::TrialStarted { trial: trial.id.clone() });
        Ok(Self { writer, trial, system, version, started_at: utc_now() })
    }

    /// Writes down how the run ended; the folder.
    ///
    /// # Errors
    /// What could not be written at any time.
    pub(super) fn finish(
        mut self,
        outcome: Result<&LoadRecord, String>,
        aborted: u32,
        is_interrupted: bool,
    ) -> Result<PathBuf, StoreError> {
        let is_measured = outcome.is_ok();
        self.writer.event(&match outcome {
            Ok(record) => Event::TrialFinished(Box::new(self.record(record, aborted))),
            Err(reason) => Event::TrialFailed { trial: self.trial.id.clone(), reason },
        });
        self.writer.event(&Event::SystemStopped { system: self.system });
        let is_complete = is_measured && !is_interrupted;
        self.writer.event(&Event::RunFinished { is_complete, is_interrupted });
        self.writer.finish()
    }

    fn record(&self, record: &LoadRecord, aborted: u32) -> TrialRecord {
        let mut findings = record.findings();
        if aborted > 0 {
            findings.push(Finding::CutShort { reason: format!("{aborted} clients were aborted") });
        }
        TrialRecord {
            trial: self.trial.clone(),
            started_at: self.started_at.clone(),
            server_version: self.version.clone(),
            measured: record.measured,
            loading: Nanos(0),
            connecting: record.connecting,
            ledger: record.ledger.clone(),
            transaction: record.transaction,
            statements: record.statements.clone(),
            longest_gap: Some(record.longest_gap),
            open_loop: record.open_loop,
            growth: None,
            generator: record.generator.clone(),
            server_counters: BTreeMap::new(),
            audit: AuditRecord::default(),
            findings,
        }
    }
}

impl Listener for Results {
    fn event(&mut self, event: &Event) {
        self.writer.event(event);
    }

    fn interval(&mut self, interval: &Interval) {
        self.writer.interval(interval);
    }
}

fn plan(subject: &Subject<'_>) -> Plan {
    let Subject { run, load, seed, target, scripts, .. } = subject;
    let names: Vec<&str> = scripts.iter().map(|(name, ..)| name.as_str()).collect();
    let existing = ExistingSystem {
        engine: target.engine,
        endpoint: target.endpoint.clone(),
        user: target.user.clone(),
        // Options, environment or a file had the password; nothing keeps it.
        password: PasswordSource::None,
        database: target.database.clone(),
        tls: target.tls.clone(),
        data: DataPolicy::Existing,
        monitor: None,
    };
    let options = BTreeMap::from([
        ("scripts".to_owned(), OptionValue::Text(names.join(", "))),
        ("tries_max".to_owned(), OptionValue::Integer(run.tries_max.into())),
    ]);
    Plan {
        format: FORMAT,
        name: NAME.to_owned(),
        title: format!("pgbench: {}", names.join(", ")),
        description: String::new(),
        profile: None,
        seed: *seed,
        blocks: 1,
        systems: vec![SystemPlan {
            name: target.engine.to_string(),
            source: SystemSource::Existing(existing),
            query_mode: target.query_mode,
            connect_timeout: target.connect_timeout.into(),
        }],
        factors: Vec::new(),
        treatments: vec![Treatment {
            system: 0,
            clients: run.clients,
            workload: WorkloadPlan { kind: NAME.to_owned(), options: WorkloadOptions(options) },
            load: (*load).clone(),
            levels: Vec::new(),
            variation: Variation::default(),
        }],
        trials: vec![Trial { id: TRIAL.to_owned(), block: 1, treatment: 0 }],
        published: Vec::new(),
        compare: None,
        data: FreshData::default(),
        storages: Vec::new(),
        endpoints: Vec::new(),
    }
}

/// What stands in the place of a spec: the scripts as they ran, and what of the command line is in no plan.
fn spec(subject: &Subject<'_>) -> String {
    let mut text = String::from("# A run of dyno pgbench. This file is no spec that dyno could run again.\n");
    for (name, weight, source) in subject.scripts {
        write!(text, "\n# script {name}, weight {weight}\n{source}\n")
            .expect("writing to memory does not fail");
    }
    text
}
