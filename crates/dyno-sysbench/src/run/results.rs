//! `--results`: the run as a dyno results folder, one trial of one treatment, for `dyno report`.

use super::load;
use crate::options::database::DriverName;
use crate::options::definition::Value;
use crate::options::registry;
use crate::session::Session;
use dyno_drivers::{Connection, Driver, Io, block_on};
use dyno_engine::measure::LoadRecord;
use dyno_model::audit::AuditRecord;
use dyno_model::catalog::{OptionValue, WorkloadOptions};
use dyno_model::event::{Event, Listener};
use dyno_model::plan::{
    DataPolicy, ExistingSystem, FORMAT, FreshData, PasswordSource, Plan, SystemPlan, SystemSource, Treatment,
    Trial, Variation, WorkloadPlan,
};
use dyno_model::record::{Interval, TrialRecord};
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_model::units::Nanos;
use dyno_results::store::environment::Environment;
use dyno_results::store::{RunWriter, StoreError, utc_now};
use std::path::{Path, PathBuf};

/// The only trial's name; intervals carry it.
pub const TRIAL: &str = "b01-001";

/// A results folder that is being written.
pub struct Results {
    writer: RunWriter,
    trial: Trial,
    system: String,
    version: String,
    started_at: String,
}

impl Results {
    /// Makes the folder.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(root: &Path, session: &Session<'_>) -> Result<Self, StoreError> {
        let plan = plan(session);
        let spec = spec(session);
        let mut writer = RunWriter::create(root, &plan, &spec, &Environment::capture())?;
        writer.event(&Event::RunStarted { trials: 1, dyno_version: env!("CARGO_PKG_VERSION").to_owned() });
        let system = plan.systems[0].name.clone();
        writer.event(&Event::SystemStarting { system: system.clone() });
        let version = version(session);
        writer.event(&Event::SystemReady {
            system: system.clone(),
            version: version.clone(),
            settings: std::collections::BTreeMap::new(),
            start: None,
        });
        let trial = plan.trials[0].clone();
        writer.event(&Event::TrialStarted { trial: trial.id.clone() });
        Ok(Self { writer, trial, system, version, started_at: utc_now() })
    }

    /// Writes down how the run ended; the folder.
    ///
    /// # Errors
    /// What could not be written during the run.
    pub fn finish(
        mut self,
        outcome: Result<&LoadRecord, String>,
        is_interrupted: bool,
    ) -> Result<PathBuf, StoreError> {
        let is_complete = match outcome {
            Ok(record) => {
                let record = self.record(record);
                self.writer.event(&Event::TrialFinished(Box::new(record)));
                true
            }
            Err(reason) => {
                self.writer.event(&Event::TrialFailed { trial: self.trial.id.clone(), reason });
                false
            }
        };
        self.writer.event(&Event::SystemStopped { system: self.system });
        self.writer
            .event(&Event::RunFinished { is_complete: is_complete && !is_interrupted, is_interrupted });
        self.writer.finish()
    }

    fn record(&self, record: &LoadRecord) -> TrialRecord {
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
            server_counters: std::collections::BTreeMap::new(),
            audit: AuditRecord::default(),
            findings: record.findings(),
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

/// The first address of the driver that was named; a run without a server is a run on the null driver.
fn target<'a>(session: &'a Session<'_>) -> Option<&'a Target> {
    let database = &session.options.database;
    match database.driver()? {
        DriverName::Mysql if database.mysql_dry_run => None,
        driver => database.targets(driver).first(),
    }
}

fn version(session: &Session<'_>) -> String {
    let connected = target(session).map(|target| block_on(Connection::connect(target, &Io::Blocking)));
    match connected {
        Some(Ok(mut connection)) => {
            let version = connection.server_version().to_owned();
            block_on(connection.close());
            version
        }
        _ => "unknown".to_owned(),
    }
}

/// The script's name without folder and suffix.
fn script_name(session: &Session<'_>) -> String {
    let path = Path::new(&session.script);
    path.file_stem().map_or_else(|| session.script.clone(), |stem| stem.to_string_lossy().into_owned())
}

fn plan(session: &Session<'_>) -> Plan {
    let general = &session.options.general;
    let name = script_name(session);
    let existing = match target(session) {
        Some(target) => ExistingSystem {
            engine: target.engine,
            endpoint: target.endpoint.clone(),
            user: target.user.clone(),
            // The options had the password; nothing keeps it.
            password: PasswordSource::None,
            database: target.database.clone(),
            tls: target.tls.clone(),
            data: DataPolicy::Existing,
            monitor: None,
        },
        None => ExistingSystem {
            engine: Engine::Null,
            endpoint: Endpoint::InProcess,
            user: String::new(),
            password: PasswordSource::None,
            database: String::new(),
            tls: dyno_model::target::Tls::Off,
            data: DataPolicy::Existing,
            monitor: None,
        },
    };
    let system = SystemPlan {
        name: format!("{} {}", existing.engine, existing.endpoint),
        query_mode: target(session).map(|target| target.query_mode).unwrap_or_default(),
        connect_timeout: target(session).map_or(Nanos(0), |target| Nanos::from(target.connect_timeout)),
        source: SystemSource::Existing(existing),
    };
    Plan {
        format: FORMAT,
        title: format!("sysbench {name}"),
        description: "A run of a sysbench script by `dyno sysbench`.".to_owned(),
        name: name.clone(),
        profile: None,
        seed: session.seed,
        blocks: 1,
        systems: vec![system],
        factors: Vec::new(),
        treatments: vec![Treatment {
            system: 0,
            clients: general.threads,
            workload: WorkloadPlan { kind: name, options: script_options(session) },
            load: load::plan(general),
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

/// The script's own options.
fn script_options(session: &Session<'_>) -> WorkloadOptions {
    let own = session.options.for_record().into_iter().filter(|(name, _)| !registry::is_registered(name));
    WorkloadOptions(
        own.map(|(name, text)| {
            let value = match session.options.value(&name) {
                Value::Boolean(is_on) => OptionValue::Boolean(*is_on),
                Value::Number(number) if number.fract() == 0.0 => OptionValue::Integer(*number as i64),
                Value::Number(number) => OptionValue::Number(*number),
                _ => OptionValue::Text(text),
            };
            (name, value)
        })
        .collect(),
    )
}

/// What stands in the place of a spec: the options, as comments.
fn spec(session: &Session<'_>) -> String {
    let mut text = format!("# dyno sysbench {} {}\n", session.script, session.command());
    for (name, value) in session.options.for_record() {
        if session.options.is_given(&name) {
            text.push_str(&format!("#   --{}={value}\n", name.replace('_', "-")));
        }
    }
    text
}
