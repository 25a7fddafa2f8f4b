//! What all clients of a run have in common, and the books they leave.

use super::log_files::LogFiles;
use crate::options::{Length, PartitionMethod, Run};
use crate::random::Generator;
use crate::script::{Action, Script};
use crate::statistics::{CommandTally, Tally};
use crate::terminal::Terminal;
use crate::variables::{Names, Variables};
use dyno_model::target::{Engine, QueryMode};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Everything about a run that does not change while it goes on, and the places where clients leave what they counted.
pub(super) struct Scene {
    pub(super) scripts: Vec<Script>,
    /// Sum of the weights.
    pub(super) weights: u64,
    pub(super) names: Names,
    pub(super) engine: Engine,
    pub(super) query_mode: QueryMode,
    pub(super) options: Run,
    pub(super) seed: u64,
    /// Scale of the tables.
    pub(super) scale: u64,
    /// How `pgbench_accounts` is divided, if it is.
    pub(super) partitions: Option<(PartitionMethod, u32)>,
    pub(super) server_version: String,
    pub(super) log: Option<LogFiles>,
    pub(super) terminal: Arc<dyn Terminal>,
    /// What each client begins with, until it has begun.
    pub(super) beginnings: Vec<Mutex<Option<Beginning>>>,
    /// Transactions of each client; anybody may look.
    pub(super) tallies: Vec<Mutex<Tally>>,
    /// Books of clients that have ended.
    pub(super) books: Mutex<Books>,
    /// Names of the kinds of statements.
    pub(super) kinds: Vec<&'static str>,
    /// The kind of each command of each script; 0 for those that send nothing.
    pub(super) kind_of: Vec<Vec<u16>>,
}

/// What a client begins with.
pub(super) struct Beginning {
    pub(super) variables: Variables,
    /// For functions of scripts.
    pub(super) random: Generator,
    pub(super) choice: Generator,
    /// For the choice of transactions that are logged.
    pub(super) sample: Generator,
}

/// Books over all clients.
#[derive(Debug, Clone, Default)]
pub(super) struct Books {
    /// Of each script, when there are several.
    pub(super) tallies: Vec<Tally>,
    /// Of each command of each script, when they are asked for.
    pub(super) commands: Vec<Vec<CommandTally>>,
    /// Clients that were aborted.
    pub(super) aborted: u32,
    /// Time spent on connecting during the run, microseconds.
    pub(super) connecting: f64,
}

impl Books {
    /// Empty books of these scripts.
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
        for (mine, theirs) in self.commands.iter_mut().flatten().zip(other.commands.iter().flatten()) {
            mine.merge(theirs);
        }
        self.aborted += other.aborted;
        self.connecting += other.connecting;
    }
}

/// Locks what a panicking client may have left locked; the books are then wrong by one transaction, and the panic is reported.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Scene {
    /// All transactions so far.
    pub(super) fn tally(&self) -> Tally {
        let mut sum = Tally::default();
        for tally in &self.tallies {
            sum.merge(&lock(tally));
        }
        sum
    }

    /// True when the run ends with time.
    pub(super) fn has_duration(&self) -> bool {
        matches!(self.options.style.length, Length::Seconds(_))
    }
}

/// What every client begins with, from one seed, in the order in which pgbench draws: clients, the seed of hashes, threads.
pub(super) fn beginnings(
    run: &Run,
    seed: u64,
    scale: u64,
    names: &mut Names,
) -> Vec<Mutex<Option<Beginning>>> {
    use crate::expression::Value;
    use crate::expression::parser::DEFAULT_SEED;
    let mut base = Generator::new(seed);
    let randoms: Vec<Generator> = (0..run.clients).map(|_| base.derive()).collect();
    let default_seed = base.bits() as i64;
    let mut variables = Variables::default();
    for (name, text) in &run.variables {
        variables.set_text(names.slot(name), text);
    }
    let presets = [("scale", scale as i64), ("random_seed", seed as i64), (DEFAULT_SEED, default_seed)];
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
            Mutex::new(Some(Beginning { variables, random, choice, sample }))
        })
        .collect()
}

/// Names for the kinds of statements, and which command is of which kind. Names live as long as the program, which runs once.
pub(super) fn kinds(scripts: &[Script]) -> (Vec<&'static str>, Vec<Vec<u16>>) {
    let mut names: Vec<&'static str> = Vec::new();
    let mut kind_of = Vec::new();
    for (number, script) in scripts.iter().enumerate() {
        let mut kinds = Vec::new();
        for (index, command) in script.commands.iter().enumerate() {
            let words = match &command.action {
                Action::Sql(_) => command.line.split_whitespace().take(3).collect::<Vec<_>>().join(" "),
                Action::EndPipeline => "pipeline".to_owned(),
                _ => {
                    kinds.push(0);
                    continue;
                }
            };
            kinds.push(names.len() as u16);
            let place = if scripts.len() > 1 {
                format!("{}.{}", number + 1, index + 1)
            } else {
                (index + 1).to_string()
            };
            names.push(Box::leak(format!("{place} {}", words.trim_end_matches(';')).into_boxed_str()));
        }
        kind_of.push(kinds);
    }
    (names, kind_of)
}
