//! A client: executes transactions with their tries.

use super::log_files::unix_time;
use super::scene::{ClientInit, Counters, RunSetup};
use crate::failure;
use crate::perform::{Performer, Stop, attempt, micros, roll_back};
use crate::random::{Generator, distribution};
use crate::report::log::Entry;
use crate::statistics::{Finished, Tally, Times, TransactionOutcome};
use dyno_drivers::Driver;
use dyno_engine::Session;
use dyno_engine::random::Random;
use dyno_engine::workload::{AfterFailure, AuditFacts, ClientId, DataSet, NoData, Workload};
use dyno_model::audit::AuditCheck;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::sync::lock;
use std::sync::Arc;
use std::time::Instant;

/// Number of transactions after which a client that never waits yields to others of its thread.
const TURN: u32 = 64;

/// pgbench's scripts as a workload of the engine. It retries transactions itself, and its
/// statements are not known in advance.
pub(super) struct Scripts(pub(super) Arc<RunSetup>);

/// State of a client.
pub(super) struct Client {
    scene: Arc<RunSetup>,
    performer: Performer,
    counters: Counters,
    choice: Generator,
    sample: Generator,
    /// Number of transactions ended.
    transactions_ended: u64,
    /// Transactions since the client last waited.
    turn: u32,
    /// What happens to the client after the transaction that just failed.
    verdict: AfterFailure,
}

impl Client {
    fn new(scene: &Arc<RunSetup>, id: u32) -> Self {
        let beginning = lock(&scene.client_inits[id as usize]).take();
        let ClientInit { variables, random, choice, sample } =
            beginning.expect("each client begins once");
        let (program, teller) = (&scene.program, Arc::clone(&scene.terminal));
        let mut performer = Performer::new(program, id, variables, random, teller);
        if scene.options.style.reports_commands {
            performer.times = Some(
                program.kind_of.iter().map(|kinds| vec![Times::default(); kinds.len()]).collect(),
            );
        }
        let (scene, counters) = (Arc::clone(scene), Counters::new(&program.scripts));
        Self {
            scene,
            performer,
            counters,
            choice,
            sample,
            transactions_ended: 0,
            turn: 0,
            verdict: AfterFailure::RetryPolicy,
        }
    }

    fn choose(&mut self) -> usize {
        let program = &self.performer.program;
        if program.scripts.len() == 1 {
            return 0;
        }
        let drawn = distribution::uniform(&mut self.choice, 0, program.weights as i64 - 1);
        program.chosen(drawn as u64)
    }

    /// Runs a script to its end, with all allowed tries.
    async fn transaction(&mut self, session: &mut Session) -> Result<(), OperationFailure> {
        let scheduled = session.intended_start();
        let script = self.choose();
        let style = self.scene.options.style;
        if style.rate.is_some()
            && style
                .latency_limit
                .is_some_and(|limit| micros(session.now() - scheduled) > limit as f64)
        {
            self.count(
                script,
                Finished { outcome: TransactionOutcome::Skipped, latency: 0.0, lag: 0.0, tries: 0 },
            );
            let late = FailureKind::Timeout.failure("skipped: too late");
            return self.fail(AfterFailure::Skip, late);
        }
        if style.connects_each_time {
            self.connect(session).await?;
        }
        let start = session.now();
        let mut tries = 1;
        let remembered = (style.tries_max != 1)
            .then(|| (self.performer.variables.clone(), self.performer.random.clone()));
        let outcome = loop {
            match attempt(&mut self.performer, session, script).await {
                Ok(()) => break Ok(()),
                Err(Stop::Abort(failure)) => return self.abort(session, failure).await,
                Err(Stop::Conflict { outcome, failure, command }) => {
                    self.verbose(&failure, command, script);
                    if let Err(lost) = roll_back(session).await {
                        self.performer.report_end(&format!(": {}", failure::words(&lost)));
                        return self.abort(session, lost).await;
                    }
                    let may_retry = self.may_retry(session, tries, scheduled);
                    self.report_retry(may_retry, tries, session.now() - scheduled);
                    let tally = &mut self.counters.commands[script][command];
                    if !may_retry {
                        tally.failures += 1;
                        break Err((outcome, failure));
                    }
                    tally.retries += 1;
                    tries += 1;
                    if let Some((variables, random)) = &remembered {
                        self.performer.variables = variables.clone();
                        self.performer.random = random.clone();
                    }
                    session.retried(failure.kind);
                }
            }
        };
        session.extend_to_now();
        let ended = session.now();
        let (end, latency, lag) = match &outcome {
            Ok(()) => (
                TransactionOutcome::Done,
                micros(ended - scheduled),
                micros(start.saturating_sub(scheduled)),
            ),
            Err((end, _)) => (*end, 0.0, 0.0),
        };
        self.count(script, Finished { outcome: end, latency, lag, tries });
        if outcome.is_ok() && session.connection().is_in_transaction() {
            let message = "end of script reached without completing the last transaction";
            self.performer.report_end(&format!(": {message}"));
            return self.abort(session, FailureKind::Other.failure(message)).await;
        }
        if style.connects_each_time {
            session.disconnect().await;
        }
        match outcome {
            Ok(()) => {
                self.is_exclusive(session).await;
                Ok(())
            }
            Err((_, failure)) => self.fail(AfterFailure::Continue, failure),
        }
    }

    async fn connect(&mut self, session: &mut Session) -> Result<(), OperationFailure> {
        let began = Instant::now();
        session.disconnect().await;
        let connected = session.reconnect().await;
        self.counters.connecting += began.elapsed().as_secs_f64() * 1_000_000.0;
        if let Err(failure) = connected {
            self.scene.terminal.error(&failure::connecting(&failure, session.target()));
            self.performer.report_end(" while establishing connection");
            return self.abort(session, failure).await;
        }
        Ok(())
    }

    /// Ends the client, and with `--exit-on-abort` all clients.
    async fn abort(
        &mut self,
        session: &mut Session,
        failure: OperationFailure,
    ) -> Result<(), OperationFailure> {
        self.counters.aborted += 1;
        session.disconnect().await;
        let everybody = self.scene.options.exits_on_abort;
        self.fail(if everybody { AfterFailure::EndRun } else { AfterFailure::EndClient }, failure)
    }

    fn fail(
        &mut self,
        verdict: AfterFailure,
        failure: OperationFailure,
    ) -> Result<(), OperationFailure> {
        self.verdict = verdict;
        Err(failure)
    }

    fn may_retry(&self, session: &Session, tries: u32, scheduled: u64) -> bool {
        let style = &self.scene.options.style;
        let is_within = style
            .latency_limit
            .is_none_or(|limit| micros(session.now() - scheduled) <= limit as f64);
        let is_open = style.tries_max == 0 || tries < style.tries_max;
        is_open && is_within && !(self.scene.has_duration() && session.is_over())
    }

    fn verbose(&self, failure: &OperationFailure, command: usize, script: usize) {
        if self.scene.options.tells_errors {
            let (id, words) = (self.performer.id, failure::words(failure));
            let location = format!("command {command} (SQL) of script {script}");
            self.scene.terminal.note(&format!("client {id} got an error in {location}; {words}"));
        }
    }

    fn report_retry(&self, is_retry: bool, tries: u32, since: u64) {
        if !self.scene.options.tells_errors {
            return;
        }
        let what = if is_retry {
            "repeats the transaction after the error"
        } else {
            "ends the failed transaction"
        };
        let style = &self.scene.options.style;
        let most =
            if style.tries_max > 0 { format!("/{}", style.tries_max) } else { String::new() };
        let used = style.latency_limit.map_or(String::new(), |limit| {
            format!(
                ", {:.3}% of the maximum time of tries was used",
                100.0 * micros(since) / limit as f64
            )
        });
        let text = format!("client {} {what} (try {tries}{most}{used})", self.performer.id);
        self.scene.terminal.note(&text);
    }

    /// Counts and logs a transaction.
    fn count(&mut self, script: usize, finished: Finished) {
        let scene = &self.scene;
        let style = &scene.options.style;
        let add =
            |tally: &mut Tally| tally.count(&finished, style.rate.is_some(), style.latency_limit);
        add(&mut lock(&scene.tallies[self.performer.id as usize]));
        if scene.program.scripts.len() > 1 {
            add(&mut self.counters.tallies[script]);
        }
        self.transactions_ended += 1;
        let Some(log) = &scene.log else { return };
        let sampling = scene.options.log.as_ref().and_then(|log| log.sampling);
        if sampling.is_some_and(|share| self.sample.unit() > share) {
            return;
        }
        let (client, transactions_ended) = (self.performer.id, self.transactions_ended);
        log.write(&Entry { client, transactions_ended, script, at: unix_time(), finished });
    }

    /// A client that never waits would block the others of its thread.
    async fn is_exclusive(&mut self, session: &Session) {
        self.turn = if std::mem::take(&mut self.performer.has_waited) { 0 } else { self.turn + 1 };
        if self.turn == TURN {
            self.turn = 0;
            session.yield_now().await;
        }
    }
}

impl Drop for Client {
    /// A client that was cut off also adds its counters.
    fn drop(&mut self) {
        if let Some(times) = &self.performer.times {
            let tallies = self.counters.commands.iter_mut().flatten();
            tallies.zip(times.iter().flatten()).for_each(|(tally, times)| tally.times = *times);
        }
        lock(&self.scene.counters).merge(&self.counters);
    }
}

impl Workload for Scripts {
    type Client = Client;
    type Baseline = ();

    fn kinds(&self) -> Vec<&'static str> {
        self.0.program.kinds.clone()
    }

    fn begin(&self) -> Option<&'static str> {
        None
    }

    fn data(&self) -> &dyn DataSet {
        // Scripts expect existing tables.
        &NoData
    }

    fn client(&self, id: ClientId) -> Client {
        Client::new(&self.0, id.0)
    }

    async fn transaction(
        &self,
        client: &mut Client,
        _sequence: u64,
        session: &mut Session,
        _random: &mut Random,
    ) -> Result<(), OperationFailure> {
        client.transaction(session).await
    }

    fn after_failure(&self, client: &Client, _failure: &OperationFailure) -> AfterFailure {
        client.verdict
    }

    fn export_counts(&self) -> Vec<u64> {
        self.0.export_counts()
    }

    fn import_counts(&self, exported: &[u64]) {
        self.0.import_counts(exported);
    }

    async fn audit(
        &self,
        _connection: &mut dyno_drivers::Connection,
        _facts: &AuditFacts<'_, ()>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        Ok(Vec::new())
    }
}
