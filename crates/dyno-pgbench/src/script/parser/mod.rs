//! Parses the text of a script to commands.

use super::command::{Action, Command, Script};
use super::condition;
use super::error::{NO_STATEMENT, ScriptError};
use super::meta::{self, Effect};
use super::statement::{End, Store, cut};
use crate::expression::variables::Names;
use dyno_model::engine::Syntax;

/// Maximum number of bytes of a statement shown in reports.
const LINE_MAX: usize = 127;

/// Parses scripts, each a name, a weight and a text.
///
/// # Errors
/// As [`parse`].
pub(crate) fn parse_all(
    sources: &[(String, u32, String)],
    syntax: Syntax,
    names: &mut Names,
) -> Result<Vec<Script>, ScriptError> {
    let one =
        |(name, weight, text): &(String, u32, String)| parse(name, text, *weight, syntax, names);
    sources.iter().map(one).collect()
}

/// Parses a script. `name` is its file, for errors.
///
/// # Errors
/// When it has errors or no commands, in pgbench's words.
pub(crate) fn parse(
    name: &str,
    source: &str,
    weight: u32,
    syntax: Syntax,
    names: &mut Names,
) -> Result<Script, ScriptError> {
    let mut commands: Vec<Command> = Vec::new();
    let mut at = 0;
    loop {
        let statement = cut(source, at, syntax);
        at = statement.at;
        let end = statement.end;
        if !statement.text.is_empty() {
            let line = first_line(&statement.text).to_owned();
            commands.push(Command { line, action: Action::Sql(statement.into_sql(names, syntax)) });
        }
        match end {
            End::Semicolon => {}
            End::Script => break,
            End::Backslash(start) => {
                let meta = meta::read(name, source, start, names)?;
                at = meta.at;
                match meta.effect {
                    Effect::Nothing => {}
                    Effect::Action(action) => commands.push(Command { line: meta.line, action }),
                    Effect::Store(store) => {
                        let line = 1 + source[..start].matches('\n').count();
                        let message = "\\gset must follow an SQL command";
                        match commands.last_mut() {
                            Some(Command { action: Action::Sql(sql), .. })
                                if sql.store == Store::Nothing =>
                            {
                                sql.store = store;
                            }
                            Some(Command { line: last, action })
                                if !matches!(action, Action::Sql(_)) =>
                            {
                                let message = format!("{message} ({last})");
                                return Err(ScriptError::syntax(name, line, &message, None));
                            }
                            _ => return Err(ScriptError::syntax(name, line, message, None)),
                        }
                    }
                }
            }
        }
    }
    if commands.is_empty() {
        let error = ScriptError::new(format!("empty command list for script \"{name}\""));
        return Err(error.with_help(Some(NO_STATEMENT.to_owned())));
    }
    condition::connect(&mut commands).map_err(|(number, message)| {
        let location = format!("condition error in script \"{name}\" command {number}");
        ScriptError::new(format!("{location}: {message}"))
    })?;
    Ok(Script { name: name.to_owned(), weight, source: source.to_owned(), commands })
}

/// The text of a statement in reports.
fn first_line(text: &str) -> &str {
    let line = text.split(['\n', '\r']).next().unwrap_or_default();
    let mut end = line.len().min(LINE_MAX);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    &line[..end]
}

#[cfg(test)]
mod tests;
