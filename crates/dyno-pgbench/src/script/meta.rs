//! Meta commands, which begin with a backslash.

use super::command::{Action, Amount, Branches};
use super::error::ScriptError;
use super::statement::Store;
use crate::expression::lexer::blanks;
use crate::expression::parser::parse;
use crate::expression::variables::{Names, is_name, starts_name};
use dyno_model::words::nearest;

/// A parsed meta command.
pub(super) struct Meta {
    /// Its text, without the end of the line.
    pub(crate) line: String,
    pub(crate) effect: Effect,
    /// Where to continue reading.
    pub(crate) at: usize,
}

/// The effect of a meta command.
pub(super) enum Effect {
    /// A command of its own.
    Action(Action),
    /// It ends the preceding statement and stores its rows.
    Store(Store),
    /// A single backslash.
    Nothing,
}

/// Names of the meta commands that dyno carries out.
const COMMANDS: [&str; 11] = [
    "set",
    "if",
    "elif",
    "else",
    "endif",
    "sleep",
    "gset",
    "aset",
    "startpipeline",
    "endpipeline",
    "syncpipeline",
];

/// A word of a meta command and its position.
#[derive(Clone, Copy)]
struct Word<'s> {
    text: &'s str,
    at: usize,
}

struct Reader<'s> {
    file: &'s str,
    source: &'s str,
    /// Position of the backslash.
    start: usize,
    at: usize,
}

/// Reads the meta command whose backslash is at `start`.
pub(super) fn read(
    file: &str,
    source: &str,
    start: usize,
    names: &mut Names,
) -> Result<Meta, ScriptError> {
    let mut reader = Reader { file, source, start, at: start + 1 };
    let Some(command) = reader.word() else {
        reader.finish();
        return Ok(Meta { line: String::new(), effect: Effect::Nothing, at: reader.at });
    };
    let name = command.text.to_ascii_lowercase();
    let effect = match name.as_str() {
        "set" => {
            let Some(variable) = reader.word() else {
                return Err(ScriptError::syntax(
                    file,
                    reader.line_number(),
                    "missing argument",
                    Some(command.text),
                ));
            };
            let slot = is_name(variable.text).then(|| names.slot(variable.text));
            let value = reader.expression(command, names)?;
            Effect::Action(Action::Set { name: variable.text.to_owned(), slot, value })
        }
        "if" => Effect::Action(Action::If(reader.expression(command, names)?, Branches::default())),
        "elif" => {
            Effect::Action(Action::Elif(reader.expression(command, names)?, Branches::default()))
        }
        _ => reader.with_words(command, &name, names)?,
    };
    Ok(Meta { line: reader.line().to_owned(), effect, at: reader.at })
}

impl<'s> Reader<'s> {
    fn word(&mut self) -> Option<Word<'s>> {
        let bytes = self.source.as_bytes();
        self.at += blanks(&bytes[self.at..]);
        if matches!(bytes.get(self.at), None | Some(b'\n')) {
            return None;
        }
        let start = self.at;
        let length = bytes[start..]
            .iter()
            .take_while(|byte| !byte.is_ascii_whitespace() && **byte != 0x0b)
            .count();
        self.at += length;
        Some(Word { text: &self.source[start..self.at], at: start })
    }

    /// Skips the rest of the command's line.
    fn finish(&mut self) {
        if self.source[self.start..self.at].ends_with('\n') {
            return;
        }
        while self.word().is_some() {}
        if self.at < self.source.len() {
            self.at += 1;
        }
    }

    /// The command so far, without the end of its line.
    fn line(&self) -> &'s str {
        self.source[self.start..self.at].trim_end_matches('\n').trim_end_matches('\r')
    }

    fn line_number(&self) -> usize {
        1 + self.source[..self.start].matches('\n').count()
    }

    fn error(&mut self, message: &str, command: Word<'_>, at: Option<usize>) -> ScriptError {
        self.finish();
        ScriptError::syntax(self.file, self.line_number(), message, Some(command.text))
            .with_line(self.line(), at.map(|at| at - self.start))
    }

    fn expression(
        &mut self,
        command: Word<'_>,
        names: &mut Names,
    ) -> Result<crate::expression::Expression, ScriptError> {
        match parse(self.source, self.at, names) {
            Ok((expression, end)) => {
                self.at = end;
                Ok(expression)
            }
            Err(error) => {
                Err(self.error(&error.message, command, Some(error.at)).with_help(error.help))
            }
        }
    }

    /// Commands with words as arguments.
    fn with_words(
        &mut self,
        command: Word<'_>,
        name: &str,
        names: &mut Names,
    ) -> Result<Effect, ScriptError> {
        let mut words = Vec::new();
        while let Some(word) = self.word() {
            words.push(word);
        }
        self.finish();
        let prefix = words.first().map_or(String::new(), |word| word.text.to_owned());
        match name {
            "sleep" => return self.sleep(command, &words, names),
            "gset" | "aset" if words.len() > 1 => {
                return Err(self.error("too many arguments", command, None));
            }
            "gset" => return Ok(Effect::Store(Store::LastRow(prefix))),
            "aset" => return Ok(Effect::Store(Store::AnyRow(prefix))),
            "shell" if words.is_empty() => {
                return Err(self.error("missing command", command, None));
            }
            "setshell" if words.len() < 2 => {
                return Err(self.error("missing argument", command, None));
            }
            "shell" | "setshell" => {
                let message = "shell commands are not supported by dyno";
                return Err(self.error(message, command, None));
            }
            _ => {}
        }
        let action = match name {
            "else" => Action::Else(Branches::default()),
            "endif" => Action::EndIf,
            "startpipeline" => Action::StartPipeline,
            "endpipeline" => Action::EndPipeline,
            "syncpipeline" => Action::SyncPipeline,
            _ => {
                let near = nearest(name, COMMANDS);
                let help = near.map(|near| format!("did you mean `\\{near}`?"));
                return Err(self.error("invalid command", command, None).with_help(help));
            }
        };
        if words.is_empty() {
            Ok(Effect::Action(action))
        } else {
            Err(self.error("unexpected argument", command, None))
        }
    }

    fn sleep(
        &mut self,
        command: Word<'_>,
        words: &[Word<'_>],
        names: &mut Names,
    ) -> Result<Effect, ScriptError> {
        let (amount, unit) = match *words {
            [] => return Err(self.error("missing argument", command, None)),
            // Number and unit may be written together.
            [amount] if !amount.text.starts_with(':') => {
                let unsigned = amount.text.trim_start_matches(['+', '-']);
                let sign = amount.text.len() - unsigned.len();
                let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
                let (number, unit) = amount.text.split_at(sign + digits);
                if digits == 0 || unit.is_empty() {
                    (amount, None)
                } else {
                    let unit = Word { text: unit, at: amount.at + number.len() };
                    (Word { text: number, ..amount }, Some(unit))
                }
            }
            [amount] => (amount, None),
            [amount, unit] => (amount, Some(unit)),
            [_, _, extra, ..] => {
                return Err(self.error("too many arguments", command, Some(extra.at)));
            }
        };
        let amount = match amount.text.strip_prefix(':') {
            Some(name) if name.bytes().next().is_some_and(starts_name) => {
                Amount::Variable(names.slot(name))
            }
            _ => Amount::Constant(amount.text.parse().map_err(|_| {
                let message = format!("invalid sleep time, must be an integer ({})", amount.text);
                self.error(&message, command, Some(amount.at))
            })?),
        };
        let unit = match unit.map(|unit| (unit.text.to_ascii_lowercase(), unit)) {
            None => 1_000_000,
            Some((name, unit)) => match name.as_str() {
                "s" => 1_000_000,
                "ms" => 1_000,
                "us" => 1,
                _ => {
                    let message =
                        format!("unrecognized time unit, must be us, ms or s ({})", unit.text);
                    return Err(self.error(&message, command, Some(unit.at)));
                }
            },
        };
        Ok(Effect::Action(Action::Sleep { amount, unit }))
    }
}
