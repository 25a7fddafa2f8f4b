//! Decides how each statement of a workload is sent: prepared, or as text where parameters would
//! change its meaning or are not possible. The meaning of a script is that of pgbench's default
//! mode, which writes values into the text. Preparing is another way to send the same.

use crate::expression::variables::{Names, Slot, Variables};
use crate::expression::{Environment, Value};
use crate::failure;
use crate::perform::Program;
use crate::random::Generator;
use crate::script::{Action, DEFINING, Script, Sql, Store, VariableContext, escaped};
use dyno_drivers::{Connection, Driver, Table};
use dyno_model::engine::Syntax;
use dyno_model::failure::OperationFailure;
use dyno_model::target::QueryMode;
use dyno_model::words::begins_with;
use std::collections::{BTreeSet, HashSet};

/// The variables that may have a value when a script's statements are sent.
pub(crate) struct KnownVariables {
    slots: HashSet<Slot>,
    /// True where rows are stored whose columns only the server knows.
    is_open: bool,
}

impl KnownVariables {
    /// `beginning` are the variables at the start of every transaction.
    pub(crate) fn of(script: &Script, beginning: &Variables, names: &Names) -> Self {
        let mut slots: HashSet<Slot> = names.all().filter(|slot| beginning.is_set(*slot)).collect();
        let mut is_open = false;
        for command in &script.commands {
            match &command.action {
                Action::Set { slot: Some(slot), .. } => drop(slots.insert(*slot)),
                Action::Sql(sql) => match &sql.store {
                    Store::Nothing => {}
                    Store::LastRow(prefix) | Store::AnyRow(prefix) => match columns(sql) {
                        Some(words) => slots.extend(names.all().filter(|slot| {
                            let column = names.name(*slot).strip_prefix(prefix.as_str());
                            column.is_some_and(|column| words.contains(&column.to_lowercase()))
                        })),
                        None => is_open = true,
                    },
                },
                _ => {}
            }
        }
        Self { slots, is_open }
    }

    pub(crate) fn has(&self, slot: Slot) -> bool {
        self.is_open || self.slots.contains(&slot)
    }

    /// True when parameters would change the meaning of a statement.
    fn needs_text(&self, sql: &Sql) -> bool {
        let is_text =
            |context| !matches!(context, VariableContext::Value | VariableContext::Comment);
        sql.is_several()
            || sql.variables().any(|(slot, context)| is_text(context) && self.has(slot))
    }
}

/// The words of a statement in lower case, which include the names of its columns; `None` if only
/// the server knows these.
fn columns(sql: &Sql) -> Option<HashSet<String>> {
    let template = sql.template();
    let names_columns = begins_with(template, &["select", "with", "insert", "update", "delete"]);
    let is_all = template.replace("(*)", "").contains('*');
    let words = template.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    (names_columns && !is_all).then(|| words.map(str::to_lowercase).collect())
}

/// Rejects what cannot be sent as intended in any mode: a variable that would be written into the
/// middle of a slice, and a statement of a pipeline that must be sent as text.
///
/// # Errors
/// With the statement and a remedy.
pub(crate) fn check(
    script: &Script,
    settable: &KnownVariables,
    names: &Names,
    mode: QueryMode,
) -> Result<(), String> {
    let mut is_in_pipeline = false;
    for command in &script.commands {
        let refusal =
            |why: &str| Err(format!("the script {}, {:?}: {why}", script.name, command.line));
        match &command.action {
            Action::StartPipeline => is_in_pipeline = true,
            Action::EndPipeline => is_in_pipeline = false,
            Action::Sql(sql) => {
                let slice = sql.variables().find(|(slot, context)| {
                    *context == VariableContext::Slice && settable.has(*slot)
                });
                if let Some((slot, _)) = slice {
                    let name = names.name(slot);
                    return refusal(&format!(
                        "`[1:{name}]` with 5 for `:{name}` becomes `[15]`, as in pgbench\nhint: \
                         for a slice, write blanks around its colon: `[1 : :{name}]`"
                    ));
                }
                if is_in_pipeline && mode != QueryMode::Simple && settable.needs_text(sql) {
                    return refusal(
                        "the statements of a pipeline are prepared, and this one can only be sent \
                         as text\nhint: move it out of the pipeline, or use its variables only for \
                         whole values: `'user_' || :id`",
                    );
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The statements to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatementFilter {
    All,
    /// Those with variables, which may be sent in two ways.
    WithVariables,
}

/// The server's verdict on statements.
#[derive(Debug, Default)]
pub(crate) struct PrepareCheck {
    /// Kinds that must be sent as text.
    pub(crate) as_text: BTreeSet<u16>,
    /// Errors of statements that are rejected in both forms.
    pub(crate) refused: Vec<String>,
}

/// Lets the server parse statements without executing them. Errors of several statements in one
/// text, and of statements after one that defines something, are ignored: they may need objects
/// that exist only then.
///
/// # Errors
/// When the connection is lost.
pub(crate) async fn tried(
    program: &Program,
    beginning: &Variables,
    which: StatementFilter,
    connection: &mut Connection,
) -> Result<PrepareCheck, OperationFailure> {
    let mut tried = PrepareCheck::default();
    for (script, kinds) in program.scripts.iter().zip(&program.kind_of) {
        let settable = KnownVariables::of(script, beginning, &program.names);
        let values = sample(script, beginning, &program.names);
        let (mut is_reported, mut is_in_pipeline) = (true, false);
        for (command, kind) in script.commands.iter().zip(kinds) {
            match &command.action {
                Action::StartPipeline => is_in_pipeline = true,
                Action::EndPipeline => is_in_pipeline = false,
                _ => {}
            }
            let Action::Sql(sql) = &command.action else { continue };
            is_reported &= !begins_with(&command.line, &DEFINING);
            if sql.is_several() {
                tried.as_text.insert(*kind);
                continue;
            }
            if which == StatementFilter::WithVariables && sql.variables().next().is_none() {
                continue;
            }
            let look = StatementCheck { program, sql, values: &values, is_in_pipeline };
            let verdict = match settable.needs_text(sql) || program.query_mode == QueryMode::Simple
            {
                true => look.as_text(connection).await?.map_or(Verdict::Text, Verdict::Refused),
                false => look.either(connection).await?,
            };
            match verdict {
                Verdict::Prepared => {}
                Verdict::Text => drop(tried.as_text.insert(*kind)),
                Verdict::Refused(reason) => {
                    if settable.needs_text(sql) {
                        tried.as_text.insert(*kind);
                    }
                    if is_reported {
                        let command = format!("the script {}, {:?}", script.name, command.line);
                        tried.refused.push(format!("{command}: {reason}"));
                    }
                }
            }
        }
    }
    Ok(tried)
}

enum Verdict {
    Prepared,
    Text,
    Refused(String),
}

/// A statement to try, with values for its variables.
struct StatementCheck<'a> {
    program: &'a Program,
    sql: &'a Sql,
    values: &'a Variables,
    is_in_pipeline: bool,
}

impl StatementCheck<'_> {
    /// Tries to prepare it; if that fails and it has variables, tries it as text.
    async fn either(&self, connection: &mut Connection) -> Result<Verdict, OperationFailure> {
        let template = self.sql.template();
        let refusal = match connection.check(template).await {
            Ok(()) => {
                let missing = self.missing_procedure(connection, template).await?;
                return Ok(missing.map_or(Verdict::Prepared, Verdict::Refused));
            }
            Err(failure) if failure.is_lost() => return Err(failure),
            Err(failure) => failure,
        };
        let takes_text =
            !self.sql.parameters().is_empty() && self.as_text(connection).await?.is_none();
        let reported = with_position(&refusal, failure::pointed(&refusal, template));
        Ok(match takes_text {
            true if self.is_in_pipeline => Verdict::Refused(format!(
                "{reported}\nIt can be sent as text, but the statements of a pipeline are prepared: \
                 move it out of the pipeline, or give the type with a cast, such as `:id::int`"
            )),
            true => Verdict::Text,
            false => Verdict::Refused(reported),
        })
    }

    /// With its values written into it: returns the server's error.
    async fn as_text(
        &self,
        connection: &mut Connection,
    ) -> Result<Option<String>, OperationFailure> {
        let mut text = String::new();
        self.sql.write(self.values, &self.program.names, &mut text);
        match connection.check(&escaped(&text, self.syntax())).await {
            Ok(()) => self.missing_procedure(connection, &text).await,
            Err(failure) if failure.is_lost() => Err(failure),
            Err(failure) => Ok(Some(with_position(&failure, failure.pointed(&text)))),
        }
    }

    fn syntax(&self) -> Syntax {
        self.program.engine.dialect().syntax
    }

    /// Servers of the MySQL family look up the procedure of a CALL only when it is executed.
    async fn missing_procedure(
        &self,
        connection: &mut Connection,
        text: &str,
    ) -> Result<Option<String>, OperationFailure> {
        if !self.syntax().looks_up_calls_late || !begins_with(text, &["call"]) {
            return Ok(None);
        }
        let rest = text.trim_start()[4..].trim_start();
        let name =
            rest.split(|c: char| c.is_whitespace() || "(;".contains(c)).next().unwrap_or_default();
        let plain = name.replace('`', "");
        let (schema, procedure) =
            plain.split_once('.').map_or((None, plain.as_str()), |(s, p)| (Some(s), p));
        let quoted = |text: &str| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"));
        let schema = schema.map_or("DATABASE()".to_owned(), quoted);
        let sql = format!(
            "SELECT COUNT(*) FROM information_schema.routines WHERE routine_type = 'PROCEDURE' AND routine_schema = {schema} \
             AND routine_name = {}",
            quoted(procedure)
        );
        let mut found = Table::default();
        connection.query(&sql, &mut found).await?;
        Ok((found.number::<i64>(0) == 0)
            .then(|| format!("the procedure {name} does not exist, or the account may not see it")))
    }
}

fn with_position(failure: &OperationFailure, pointed: Option<String>) -> String {
    pointed.map_or_else(|| failure.to_string(), |lines| format!("{failure}\n{lines}"))
}

/// Possible values of a script's variables, as the script last sets each. Values from rows, and
/// unknown ones, are 1.
fn sample(script: &Script, beginning: &Variables, names: &Names) -> Variables {
    let mut values = beginning.clone();
    let mut random = Generator::new(0);
    for command in &script.commands {
        match &command.action {
            Action::Set { slot: Some(slot), value, .. } => {
                let mut environment = Environment {
                    variables: &values,
                    names,
                    random: &mut random,
                    debug: &mut drop,
                };
                let value = value.evaluate(&mut environment).unwrap_or(Value::Integer(1));
                values.set(*slot, value);
            }
            Action::Sql(sql) => {
                for slot in sql.parameters() {
                    if !values.is_set(*slot) {
                        values.set(*slot, Value::Integer(1));
                    }
                }
            }
            _ => {}
        }
    }
    values
}
