//! Executes the commands of a script.

use super::program::Program;
use super::rows::LastRows;
use crate::expression::variables::{Parameter, Slot, Variables, is_name};
use crate::expression::{Environment, Expression, Value};
use crate::failure;
use crate::own::OWN;
use crate::random::Generator;
use crate::script::{Action, Amount, Command, Script, Sql, Store};
use crate::statistics::{Times, TransactionOutcome};
use crate::terminal::Terminal;
use dyno_drivers::{Discard, Driver, Outcome, RowSink, Value as Field};
use dyno_engine::Session;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::{Engine, QueryMode};
use std::sync::Arc;
use std::time::Duration;

/// A client's state for executing scripts, kept between transactions.
pub(crate) struct Performer {
    pub(crate) program: Arc<Program>,
    /// The client's number.
    pub(crate) id: u32,
    pub(crate) variables: Variables,
    pub(crate) random: Generator,
    /// Receives the reason why a script cannot continue.
    teller: Arc<dyn Terminal>,
    /// Scratch space for a statement's text.
    text: String,
    /// True when the current transaction has waited for something.
    pub(crate) has_waited: bool,
    /// Times of the commands of each script; `None` when they are not needed.
    pub(crate) times: Option<Vec<Vec<Times>>>,
}

impl Performer {
    pub(crate) fn new(
        program: &Arc<Program>,
        id: u32,
        variables: Variables,
        random: Generator,
        teller: Arc<dyn Terminal>,
    ) -> Self {
        let program = Arc::clone(program);
        Self {
            program,
            id,
            variables,
            random,
            teller,
            text: String::new(),
            has_waited: false,
            times: None,
        }
    }

    /// Reports why the client ends.
    pub(crate) fn report_end(&self, why: &str) {
        self.teller.error(&format!("client {} aborted{why}", self.id));
    }
}

/// Nanoseconds as microseconds.
pub(crate) fn micros(nanos: u64) -> f64 {
    nanos as f64 / 1_000.0
}

/// Why a script stopped early.
pub(crate) enum Stop {
    /// A serialization failure or a deadlock: the transaction may be retried.
    Conflict {
        /// How it is counted without a retry.
        outcome: TransactionOutcome,
        failure: OperationFailure,
        /// Index of the command.
        command: usize,
    },
    /// The client cannot continue. The reason has been reported on the terminal.
    Abort(OperationFailure),
}

type Done = Result<(), Stop>;

/// Runs a script once.
pub(crate) async fn attempt(
    performer: &mut Performer,
    session: &mut Session,
    script: usize,
) -> Done {
    let program = Arc::clone(&performer.program);
    let mut step = Step {
        program: &program,
        performer,
        session,
        script_index: script,
        script: &program.scripts[script],
        at: 0,
        is_in_pipeline: false,
    };
    while let Some(command) = step.script.commands.get(step.at) {
        let began = if step.performer.times.is_some() { step.session.now() } else { 0 };
        let next = step.command(command).await?;
        if let Some(times) = &mut step.performer.times {
            times[script][step.at].add(micros(step.session.now() - began));
        }
        step.at = next;
    }
    if step.is_in_pipeline {
        return Err(step.abort_at_end("end of script reached with pipeline open"));
    }
    Ok(())
}

/// The progress of a client within a script.
struct Step<'a> {
    program: &'a Program,
    performer: &'a mut Performer,
    session: &'a mut Session,
    /// Number of the script.
    script_index: usize,
    script: &'a Script,
    /// Index of the command.
    at: usize,
    is_in_pipeline: bool,
}

impl Step<'_> {
    /// Executes a command; returns the index of the next one.
    async fn command(&mut self, command: &Command) -> Result<usize, Stop> {
        let next = self.at + 1;
        match &command.action {
            Action::Sql(sql) => self.sql(sql).await?,
            Action::Set { name, slot, value } => {
                let value = self.evaluate(value, "set")?;
                let Some(slot) = slot else {
                    self.performer.teller.error(&format!("set: invalid variable name: \"{name}\""));
                    return Err(self.abort("set", "assignment of meta-command failed"));
                };
                self.performer.variables.set(*slot, value);
            }
            Action::Sleep { amount, unit } => self.sleep(amount, *unit).await?,
            Action::If(condition, branches) => {
                if !self.evaluate(condition, "if")?.is_true() {
                    return self.branch(branches.next);
                }
            }
            // Reached only after the branch that was taken.
            Action::Elif(_, branches) | Action::Else(branches) => return Ok(branches.end),
            Action::EndIf => {}
            Action::StartPipeline => self.start_pipeline().await?,
            Action::SyncPipeline | Action::EndPipeline if !self.is_in_pipeline => {
                return Err(self.abort(command.action.name(), "not in pipeline mode"));
            }
            Action::SyncPipeline => {
                if let Some(connection) = self.session.connection().pipelined() {
                    connection.queue_sync().map_err(Stop::Abort)?;
                }
            }
            Action::EndPipeline => {
                self.is_in_pipeline = false;
                let kind = self.kind();
                let answered =
                    self.session.measure(kind, async |connection| match connection.pipelined() {
                        Some(connection) => connection.end_pipeline().await,
                        None => Ok(Outcome::default()),
                    });
                let answered = answered.await;
                self.answered(None, answered)?;
            }
        }
        Ok(next)
    }

    /// Finds the branch to take, starting from an `\elif`, `\else` or `\endif`.
    fn branch(&mut self, mut at: usize) -> Result<usize, Stop> {
        loop {
            match &self.script.commands[at].action {
                Action::Elif(condition, branches) => {
                    let from = std::mem::replace(&mut self.at, at);
                    let is_true = self.evaluate(condition, "elif")?.is_true();
                    self.at = from;
                    if is_true {
                        return Ok(at + 1);
                    }
                    at = branches.next;
                }
                _ => return Ok(at + 1),
            }
        }
    }

    fn evaluate(&mut self, expression: &Expression, command: &str) -> Result<Value, Stop> {
        let (script, number) = (self.script_index, self.at + 1);
        let Performer { variables, random, teller, .. } = &mut *self.performer;
        let mut debug = |value: Value| {
            teller.message(&format!(
                "debug(script={script},command={number}): {}\n",
                value.described()
            ));
        };
        let mut environment =
            Environment { variables, names: &self.program.names, random, debug: &mut debug };
        expression.evaluate(&mut environment).map_err(|message| {
            if !message.is_empty() {
                self.performer.teller.error(&message);
            }
            self.abort(command, "evaluation of meta-command failed")
        })
    }

    /// Reports why the client cannot continue after a command.
    fn abort(&self, command: &str, message: &str) -> Stop {
        let (client, at, script) = (self.performer.id, self.at, self.script_index);
        let text = format!(
            "client {client} aborted in command {at} ({command}) of script {script}; {message}"
        );
        self.performer.teller.error(&text);
        Stop::Abort(FailureKind::Other.failure(message))
    }

    fn abort_at_end(&self, message: &str) -> Stop {
        self.performer.report_end(&format!(": {message}"));
        Stop::Abort(FailureKind::Other.failure(message))
    }

    async fn sleep(&mut self, amount: &Amount, unit: i64) -> Done {
        let amount = match amount {
            Amount::Constant(amount) => *amount,
            Amount::Variable(slot) => match self.performer.variables.content(*slot) {
                Parameter::Unset => {
                    let name = self.program.names.name(*slot);
                    self.performer.teller.error(&format!("sleep: undefined variable \"{name}\""));
                    return Err(self.abort("sleep", "execution of meta-command failed"));
                }
                Parameter::Value(Value::Integer(amount)) => amount,
                Parameter::Value(value) => leading_integer(&value.to_string()),
                Parameter::Text(text) => leading_integer(text),
            },
        };
        if let Ok(micros @ 1..) = u64::try_from(amount.saturating_mul(unit)) {
            self.performer.has_waited = true;
            self.session.sleep(Duration::from_micros(micros)).await;
        }
        Ok(())
    }

    fn kind(&self) -> u16 {
        self.program.kind_of[self.script_index][self.at]
    }

    async fn sql(&mut self, sql: &Sql) -> Done {
        if self.is_in_pipeline {
            return self.queue(sql).await;
        }
        self.performer.has_waited = true;
        if sql.store == Store::Nothing {
            let answered = self.send(sql, &mut Discard).await;
            return self.answered(Some(sql), answered);
        }
        let mut rows = LastRows::default();
        let answered = self.send(sql, &mut rows).await;
        self.answered(Some(sql), answered)?;
        match (&sql.store, rows.results.last()) {
            (Store::AnyRow(prefix), _) => rows
                .results
                .iter()
                .filter(|result| result.count > 0)
                .try_for_each(|result| self.store(result.fields(), prefix, "aset")),
            (Store::LastRow(prefix), Some(result)) if result.count == 1 => {
                self.store(result.fields(), prefix, "gset")
            }
            (_, last) => {
                let count = last.map_or(0, |result| result.count);
                Err(self.abort_query(&format!("expected one row, got {count}")))
            }
        }
    }

    fn store<'f>(
        &mut self,
        fields: impl Iterator<Item = (&'f str, &'f str)>,
        prefix: &str,
        command: &str,
    ) -> Done {
        for (column, value) in fields {
            let name = format!("{prefix}{column}");
            if !is_name(&name) {
                self.performer
                    .teller
                    .error(&format!("{command}: invalid variable name: \"{name}\""));
                return Err(self.abort_query(&format!("error storing into variable {name}")));
            }
            // A name that no script mentions is never read.
            if let Some(slot) = self.program.names.find(&name) {
                self.performer.variables.set_text(slot, value);
            }
        }
        Ok(())
    }

    /// Reports why the client cannot continue after the answer to a query.
    fn abort_query(&self, message: &str) -> Stop {
        let (client, script, at) = (self.performer.id, self.script_index, self.at);
        let text = format!("client {client} script {script} command {at} query 0: {message}");
        self.performer.teller.error(&text);
        Stop::Abort(FailureKind::Other.failure(message))
    }

    /// Sends a statement in the query mode and waits for its answer.
    async fn send<S: RowSink>(
        &mut self,
        sql: &Sql,
        sink: &mut S,
    ) -> Result<Outcome, OperationFailure> {
        let (kind, program) = (self.kind(), self.program);
        let performer = &mut *self.performer;
        // Texts may contain several statements.
        if program.is_text(kind) || S::WANTS_NAMES && program.engine.traits().names_need_text {
            performer.text.clear();
            sql.write(&performer.variables, &program.names, &mut performer.text);
            return self.session.send_text(kind, &performer.text, sink).await;
        }
        let texts = texts(&performer.variables, sql.parameters());
        let fields = fields(&performer.variables, program.engine, sql.parameters(), &texts);
        self.session.execute_sql(kind, sql.template(), &fields, sink).await
    }

    /// Handles the answer to a statement.
    fn answered(&mut self, sql: Option<&Sql>, answered: Result<Outcome, OperationFailure>) -> Done {
        self.performer.has_waited = true;
        let Err(failure) = answered else { return Ok(()) };
        if let Some(outcome) = failure::ending_after(&failure, self.program.engine) {
            return Err(Stop::Conflict { outcome, failure, command: self.at });
        }
        let (client, script, at) = (self.performer.id, self.script_index, self.at);
        let text = if failure.kind == FailureKind::Unsupported && failure.sqlstate.is_empty() {
            // The only statement that drivers themselves reject.
            "COPY is not supported in pgbench, aborting".to_owned()
        } else if failure.is_lost() && failure.sqlstate.is_empty() {
            let what = "perhaps the backend died while processing";
            format!("client {client} aborted in command {at} (SQL) of script {script}; {what}")
        } else {
            let words = failure::words(&failure);
            let pointed = sql.and_then(|sql| match self.program.is_text(self.kind()) {
                true => failure.pointed(&self.performer.text),
                false => failure::pointed(&failure, sql.template()),
            });
            let pointed = pointed.map_or_else(String::new, |lines| format!("\n{lines}"));
            format!(
                "client {client} script {script} aborted in command {at} query 0: {words}{pointed}"
            )
        };
        self.performer.teller.error(&text);
        Err(Stop::Abort(failure))
    }

    /// Opens a pipeline. Its statements are prepared first, because preparing waits for an answer.
    async fn start_pipeline(&mut self) -> Done {
        if self.is_in_pipeline {
            return Err(self.abort("startpipeline", "already in pipeline mode"));
        }
        if self.program.query_mode == QueryMode::Simple {
            return Err(self.abort(
                "startpipeline",
                "cannot use pipeline mode with the simple query protocol",
            ));
        }
        if self.program.engine != OWN {
            return Err(self.abort("startpipeline", "only PostgreSQL has pipelines"));
        }
        let pipelined = self.script.commands[self.at..].iter().enumerate();
        let pipelined = pipelined.take_while(|(_, command)| command.action != Action::EndPipeline);
        for (offset, command) in pipelined {
            let Action::Sql(sql) = &command.action else { continue };
            let kind = self.program.kind_of[self.script_index][self.at + offset];
            if let Err(failure) = self.session.prepared(kind, sql.template()).await {
                self.at += offset;
                return self.answered(Some(sql), Err(failure));
            }
        }
        if let Some(connection) = self.session.connection().pipelined() {
            connection.begin_pipeline().map_err(Stop::Abort)?;
        }
        self.is_in_pipeline = true;
        Ok(())
    }

    async fn queue(&mut self, sql: &Sql) -> Done {
        if sql.store != Store::Nothing {
            let name = if matches!(sql.store, Store::LastRow(_)) { "gset" } else { "aset" };
            return Err(self.abort(name, &format!("\\{name} is not allowed in pipeline mode")));
        }
        // It was prepared when the pipeline began.
        let statement = match self.session.prepared(self.kind(), sql.template()).await {
            Ok(statement) => statement,
            Err(failure) => return self.answered(Some(sql), Err(failure)),
        };
        let texts = texts(&self.performer.variables, sql.parameters());
        let fields =
            fields(&self.performer.variables, self.program.engine, sql.parameters(), &texts);
        let queued = match self.session.connection().pipelined() {
            Some(connection) => connection.queue(statement, &fields).await,
            None => Ok(()),
        };
        self.answered(Some(sql), queued.map(|()| Outcome::default()))
    }
}

/// Rolls back after a conflict. Servers accept this even if they have already done so.
pub(crate) async fn roll_back(session: &mut Session) -> Result<(), OperationFailure> {
    let connection = session.connection();
    if !connection.is_in_transaction() {
        return Ok(());
    }
    match connection.query("ROLLBACK", &mut Discard).await {
        Err(failure) if failure.is_lost() => Err(failure),
        _ => Ok(()),
    }
}

/// Doubles as text with pgbench's digits, one entry per parameter that is a double.
fn texts(variables: &Variables, parameters: &[Slot]) -> Vec<Option<String>> {
    let text = |slot: &Slot| match variables.content(*slot) {
        Parameter::Value(value @ Value::Double(_)) => Some(value.to_string()),
        _ => None,
    };
    if parameters.iter().any(|slot| text(slot).is_some()) {
        parameters.iter().map(text).collect()
    } else {
        Vec::new()
    }
}

/// The values of a statement's parameters.
fn fields<'a>(
    variables: &'a Variables,
    engine: Engine,
    parameters: &[Slot],
    texts: &'a [Option<String>],
) -> Vec<Field<'a>> {
    let has_booleans = engine == OWN;
    let field = |(index, slot): (usize, &Slot)| match variables.content(*slot) {
        Parameter::Unset | Parameter::Value(Value::Null) => Field::Null,
        Parameter::Value(Value::Integer(value)) => Field::Integer(value),
        Parameter::Value(Value::Boolean(value)) if has_booleans => {
            Field::Text(if value { "true" } else { "false" })
        }
        Parameter::Value(Value::Boolean(value)) => Field::Integer(value.into()),
        Parameter::Value(Value::Double(value)) => {
            texts.get(index).and_then(Option::as_deref).map_or(Field::Float(value), Field::Text)
        }
        Parameter::Text(text) => Field::Text(text),
    };
    parameters.iter().enumerate().map(field).collect()
}

/// The integer at the start of a text, as parsed by C's `atoi`; 0 when there is none.
fn leading_integer(text: &str) -> i64 {
    let text = text.trim_start();
    let sign = usize::from(text.starts_with(['-', '+']));
    let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
    text[..sign + digits].parse().unwrap_or(0)
}
