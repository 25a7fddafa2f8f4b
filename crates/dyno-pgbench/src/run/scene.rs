//! State shared by all clients of a run, and their counters.

use super::log_files::LogFiles;
use crate::expression::variables::{Names, Variables};
use crate::options::{Length, PartitionMethod, Run};
use crate::perform::{Program, first_words};
use crate::random::Generator;
use crate::script::{Action, Command, Script};
use crate::statistics::{CommandTally, Tally};
use crate::terminal::Terminal;
use dyno_model::sync::lock;
use dyno_model::target::{Engine, QueryMode};
use std::sync::{Arc, Mutex};

/// Constant data of a run, and the places where clients add their counts.
pub(super) struct RunSetup {
    pub(super) program: Arc<Program>,
    pub(super) options: Run,
    pub(super) seed: u64,
    /// Scale of the tables.
    pub(super) scale: u64,
    /// How `pgbench_accounts` is partitioned, if it is.
    pub(super) partitions: Option<(PartitionMethod, u32)>,
    pub(super) server_version: String,
    pub(super) log: Option<LogFiles>,
    pub(super) terminal: Arc<dyn Terminal>,
    /// The initial state of each client, until it starts.
    pub(super) client_inits: Vec<Mutex<Option<ClientInit>>>,
    /// Transactions of each client, readable at any time.
    pub(super) tallies: Vec<Mutex<Tally>>,
    /// Counters of ended clients. A client that panics leaves them wrong by one transaction, and
    /// the panic is reported.
    pub(super) counters: Mutex<Counters>,
}

/// Initial state of a client.
pub(super) struct ClientInit {
    pub(super) variables: Variables,
    /// For functions of scripts.
    pub(super) random: Generator,
    pub(super) choice: Generator,
    /// For choosing the transactions to log.
    pub(super) sample: Generator,
}

/// Counters of all clients.
#[derive(Debug, Clone, Default)]
pub(super) struct Counters {
    /// Per script, when there are several.
    pub(super) tallies: Vec<Tally>,
    /// Per command of each script, if requested.
    pub(super) commands: Vec<Vec<CommandTally>>,
    /// Clients that were aborted.
    pub(super) aborted: u32,
    /// Time spent on connecting during the run, microseconds.
    pub(super) connecting: f64,
}

impl Counters {
    /// Empty counters for these scripts.
    pub(super) fn new(scripts: &[Script]) -> Self {
        Self {
            tallies: vec![Tally::default(); scripts.len()],
            commands: scripts
                .iter()
                .map(|script| vec![CommandTally::default(); script.commands.len()])
                .collect(),
            aborted: 0,
            connecting: 0.0,
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.tallies.iter_mut().zip(&other.tallies) {
            mine.merge(theirs);
        }
        for (mine, theirs) in
            self.commands.iter_mut().flatten().zip(other.commands.iter().flatten())
        {
            mine.merge(theirs);
        }
        self.aborted += other.aborted;
        self.connecting += other.connecting;
    }
}

impl RunSetup {
    /// The state of a run that has not begun, without anything for its report; `drawn` are its seed
    /// and its scale.
    pub(super) fn new(
        (scripts, mut names): (Vec<Script>, Names),
        (engine, query_mode): (Engine, QueryMode),
        options: &Run,
        (seed, scale): (u64, u64),
        terminal: Arc<dyn Terminal>,
    ) -> Self {
        let client_inits = client_inits(options, seed, scale, &mut names);
        let counters = Mutex::new(Counters::new(&scripts));
        let program = Program::new(scripts, names, engine, query_mode, kind_name);
        Self {
            program: Arc::new(program),
            options: options.clone(),
            seed,
            scale,
            partitions: None,
            server_version: String::new(),
            log: None,
            terminal,
            tallies: client_inits.iter().map(|_| Mutex::default()).collect(),
            client_inits,
            counters,
        }
    }

    /// Everything counted as numbers, for [`Self::import_counts`] in another process.
    pub(super) fn export_counts(&self) -> Vec<u64> {
        let counters = lock(&self.counters);
        let mut exported = vec![counters.aborted.into(), counters.connecting.to_bits()];
        exported.extend(self.tally().export_counts());
        exported.extend(counters.tallies.iter().flat_map(Tally::export_counts));
        exported.extend(counters.commands.iter().flatten().flat_map(CommandTally::export_counts));
        exported
    }

    /// Adds what the clients of another process counted.
    pub(super) fn import_counts(&self, exported: &[u64]) {
        let mut exported = exported.iter().copied();
        let mut next = || exported.next().unwrap_or_default();
        let mut counters = lock(&self.counters);
        counters.aborted += next() as u32;
        counters.connecting += f64::from_bits(next());
        if let Some(tally) = self.tallies.first() {
            lock(tally).merge(&Tally::from_counts(&mut next));
        }
        counters.tallies.iter_mut().for_each(|it| it.merge(&Tally::from_counts(&mut next)));
        let commands = counters.commands.iter_mut().flatten();
        commands.for_each(|it| it.merge(&CommandTally::from_counts(&mut next)));
    }

    /// All transactions so far.
    pub(super) fn tally(&self) -> Tally {
        let mut sum = Tally::default();
        for tally in &self.tallies {
            sum.merge(&lock(tally));
        }
        sum
    }

    /// True when the run ends by time.
    pub(super) fn has_duration(&self) -> bool {
        matches!(self.options.style.length, Length::Seconds(_))
    }
}

/// Names of commands that send something: number and first words, with several scripts prefixed by
/// the script's number.
fn kind_name(scripts: &[Script], script: usize, command: usize) -> String {
    let Command { action, line } = &scripts[script].commands[command];
    let words =
        if *action == Action::EndPipeline { "pipeline".to_owned() } else { first_words(line) };
    match scripts.len() {
        1 => format!("{} {words}", command + 1),
        _ => format!("{}.{} {words}", script + 1, command + 1),
    }
}

/// The initial state of all clients from one seed, drawn in pgbench's order: clients, seed of
/// hashes, threads.
fn client_inits(
    run: &Run,
    seed: u64,
    scale: u64,
    names: &mut Names,
) -> Vec<Mutex<Option<ClientInit>>> {
    use crate::expression::Value;
    use crate::expression::parser::DEFAULT_SEED;
    let mut base = Generator::new(seed);
    let randoms: Vec<Generator> = (0..run.clients).map(|_| base.derive()).collect();
    let default_seed = base.bits() as i64;
    let mut variables = Variables::default();
    for (name, text) in &run.variables {
        variables.set_text(names.slot(name), text);
    }
    let presets =
        [("scale", scale as i64), ("random_seed", seed as i64), (DEFAULT_SEED, default_seed)];
    for (name, value) in presets {
        let slot = names.slot(name);
        if !variables.is_set(slot) {
            variables.set(slot, Value::Integer(value));
        }
    }
    let client_id = names.slot("client_id");
    let has_client_id = variables.is_set(client_id);
    randoms
        .into_iter()
        .enumerate()
        .map(|(client, random)| {
            let choice = base.derive();
            let _schedule = base.derive();
            let sample = base.derive();
            let mut variables = variables.clone();
            if !has_client_id {
                variables.set(client_id, Value::Integer(client as i64));
            }
            Mutex::new(Some(ClientInit { variables, random, choice, sample }))
        })
        .collect()
}
