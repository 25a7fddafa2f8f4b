//! Creates the tables of scripts from plain SQL, and from dumps of `pg_dump`, `mysqldump` and
//! `mariadb-dump`.
//!
//! A text is sent as by the engine's own client: over a separate connection, each statement by
//! itself, rows after a COPY. Statements of a dump about other databases are rejected; those about
//! roles and settings of the original server are not needed and are skipped, or may fail.

use crate::expression::variables::Names;
use crate::script::statement::{Cut, End, SEMICOLON, cut_at};
use crate::script::words::statements;
use dyno_drivers::placeholder::comment_end;
use dyno_drivers::statistics::RejectedStatement;
use dyno_drivers::{
    Connection, Discard, Driver, Io, Table, TimeoutPolicy, block_on, update_statistics,
};
use dyno_engine::workload::DataSet;
use dyno_files::SETUP_MAX;
use dyno_model::catalog::{ScriptFile, ScriptText};
use dyno_model::checksum::checksum;
use dyno_model::engine::Syntax;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::Target;
use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of bytes of a statement in which its first words are searched.
const HEAD_BYTES: usize = 400;
/// Maximum number of characters of a statement shown in errors.
const SHOWN_MAX: usize = 100;
/// Why a statement of psql or pgbench is rejected.
const AS_IT_STANDS: &str = "it is sent as it stands, without variables and backslash commands";
/// SQLSTATEs of missing objects and privileges: roles, and settings of newer servers.
const NOT_HERE: [&str; 2] = ["42704", "42501"];

/// The texts in order.
pub(crate) struct Setup {
    texts: Vec<ScriptText>,
    syntax: Syntax,
    /// True when no script is known to change anything.
    pub(crate) is_reusable: bool,
}

/// A unit of sending.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'t> {
    Statement(String),
    /// A COPY with its rows.
    Copy(String, &'t str),
}

impl Setup {
    /// # Errors
    /// When a text holds what cannot be sent, with its name and place. Texts that stay in their
    /// files are looked at when they are sent.
    pub(crate) fn new(texts: &[ScriptText], syntax: Syntax) -> Result<Self, String> {
        for given in texts.iter().filter(|given| given.file.is_none()) {
            let mut pieces = Pieces::new(given, &given.text, syntax);
            let mut is_empty = true;
            while pieces.next()?.is_some() {
                is_empty = false;
            }
            if is_empty {
                return Err(format!("the setup {} contains no statement", given.name));
            }
        }
        Ok(Self { texts: texts.to_vec(), syntax, is_reusable: false })
    }

    fn send(
        &self,
        given: &ScriptText,
        target: &Target,
        interrupts: &AtomicUsize,
    ) -> Result<(), OperationFailure> {
        let text = whole(given).map_err(|reason| FailureKind::Other.failure(reason))?;
        let mut connection = connect(target)?;
        let mut pieces = Pieces::new(given, &text, self.syntax);
        while let Some(piece) =
            pieces.next().map_err(|reason| FailureKind::BadStatement.failure(reason))?
        {
            if interrupts.load(Ordering::Relaxed) > 0 {
                return Err(FailureKind::Cancelled.failure("the setup was interrupted"));
            }
            let (statement, sent) = match &piece {
                Piece::Statement(sql) => {
                    (sql, block_on(connection.query(sql, &mut Discard)).map(|_| ()))
                }
                Piece::Copy(sql, rows) => {
                    (sql, block_on(connection.copy_text(sql, rows)).map(|_| ()))
                }
            };
            if let Err(failure) = sent
                && !(NOT_HERE.contains(&failure.sqlstate.as_str()) && may_fail(statement))
            {
                let lines = failure
                    .pointed(statement)
                    .map_or_else(String::new, |lines| format!("\n{lines}"));
                let statement_location =
                    format!("the setup {}, {:?}", given.name, shown(statement));
                return Err(OperationFailure {
                    message: format!("{}\n{statement_location}{lines}", failure.message),
                    ..failure
                });
            }
        }
        block_on(connection.close());
        Ok(())
    }
}

impl DataSet for Setup {
    fn fingerprint(&self) -> String {
        let text = |given: &ScriptText| match &given.file {
            Some(file) => format!("{} {}", file.path.display(), file.checksum),
            None => given.text.clone(),
        };
        self.texts.iter().map(text).collect::<Vec<_>>().join(";\n")
    }

    fn is_reusable(&self) -> bool {
        self.is_reusable
    }

    fn is_created_once(&self) -> bool {
        !self.texts.is_empty()
    }

    fn create(&self, target: &Target, interrupts: &AtomicUsize) -> Result<(), OperationFailure> {
        self.texts.iter().try_for_each(|given| self.send(given, target, interrupts))
    }

    fn update_statistics(
        &self,
        target: &Target,
    ) -> Result<Vec<RejectedStatement>, OperationFailure> {
        if self.is_created_once() { analyze(target) } else { Ok(Vec::new()) }
    }
}

fn connect(target: &Target) -> Result<Connection, OperationFailure> {
    block_on(Connection::connect(target, &Io::WithTimeout(TimeoutPolicy::for_work(target).hasty())))
}

/// Collects planner statistics of all tables; otherwise the server would do so in the middle of a
/// trial.
fn analyze(target: &Target) -> Result<Vec<RejectedStatement>, OperationFailure> {
    if !target.engine.is_server() {
        return Ok(Vec::new());
    }
    let mut connection = connect(target)?;
    let mut tables = Table::default();
    block_on(connection.query(target.engine.dialect().tables, &mut tables))?;
    let names: Vec<String> =
        tables.0.into_iter().filter_map(|row| row.into_iter().nth(1)?).collect();
    let rejected = block_on(update_statistics(&mut connection, &names))?;
    block_on(connection.close());
    Ok(rejected)
}

/// The text, read from its file if necessary.
fn whole(given: &ScriptText) -> Result<Cow<'_, str>, String> {
    let Some(file) = &given.file else { return Ok(Cow::Borrowed(&given.text)) };
    let bytes = dyno_files::read(&file.path, SETUP_MAX).map_err(|error| {
        format!("cannot read the setup {}: {}", file.path.display(), dyno_files::reason(&error))
    })?;
    checked(bytes, file).map(Cow::Owned)
}

/// The content, if it is unchanged since planning.
fn checked(bytes: Vec<u8>, file: &ScriptFile) -> Result<String, String> {
    let path = file.path.display();
    if checksum(&bytes) != file.checksum {
        return Err(format!("the setup {path} has changed since the run was planned"));
    }
    String::from_utf8(bytes).map_err(|_| format!("the setup {path} is not UTF-8"))
}

/// True for statements of a dump about roles, and about settings of other versions.
fn may_fail(statement: &str) -> bool {
    let head = head(statement);
    let words: Vec<&str> = head.iter().map(String::as_str).collect();
    match words[..] {
        ["grant" | "revoke" | "set", ..]
        | ["alter", "default", "privileges", ..]
        | ["comment", "on", "extension", ..] => true,
        ["alter", ..] => words.windows(2).any(|pair| pair == ["owner", "to"]),
        _ => false,
    }
}

/// The first words of a statement in lower case, including those in comments that servers of the
/// MySQL family execute.
fn head(statement: &str) -> Vec<String> {
    let end =
        (0..=statement.len().min(HEAD_BYTES)).rev().find(|end| statement.is_char_boundary(*end));
    let mut text = &statement[..end.unwrap_or_default()];
    let mut words = Vec::new();
    while let Some(first) = text.chars().next() {
        let length = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
        let is_number = first.is_ascii_digit();
        if length > 0 && !(is_number || words.is_empty() && text[..length] == *"M") {
            words.push(text[..length].to_lowercase());
        }
        text = if length > 0 { &text[length..] } else { &text[first.len_utf8()..] };
    }
    words
}

/// The beginning of a statement on one line.
fn shown(statement: &str) -> String {
    let line = statement.lines().next().unwrap_or_default();
    line.chars().take(SHOWN_MAX).collect()
}

/// Splits a text into units of sending.
struct Pieces<'t> {
    name: &'t str,
    source: &'t str,
    at: usize,
    syntax: Syntax,
    /// What ends a statement.
    delimiter: String,
}

impl<'t> Pieces<'t> {
    fn new(given: &'t ScriptText, source: &'t str, syntax: Syntax) -> Self {
        Self { name: &given.name, source, at: 0, syntax, delimiter: SEMICOLON.to_owned() }
    }

    /// The next unit.
    ///
    /// # Errors
    /// When it cannot be sent.
    fn next(&mut self) -> Result<Option<Piece<'t>>, String> {
        loop {
            self.skip();
            if self.takes_delimiter() {
                continue;
            }
            let cut = cut_at(self.source, self.at, self.syntax, &self.delimiter);
            self.at = match cut.end {
                End::Backslash(at) => at,
                End::Semicolon | End::Script => cut.at,
            };
            if cut.text.chars().any(|c| c != ';' && !c.is_whitespace()) {
                let text = self.without_variables(cut)?;
                match self.piece(text)? {
                    None => continue,
                    piece => return Ok(piece),
                }
            }
            match cut.end {
                End::Script => return Ok(None),
                End::Semicolon => {}
                End::Backslash(_) => self.backslash()?,
            }
        }
    }

    /// The text of a statement without variables; in the body of a routine a colon has another
    /// meaning.
    fn without_variables(&self, cut: Cut) -> Result<String, String> {
        let text = cut.text.clone();
        let is_routine =
            self.delimiter != SEMICOLON || head(&text).first().is_some_and(|word| word == "create");
        let is_plain = || cut.into_sql(&mut Names::default(), self.syntax).parameters().is_empty();
        if is_routine || is_plain() { Ok(text) } else { Err(self.refusal(&text, AS_IT_STANDS)) }
    }

    /// Skips blanks, and comments that servers do not execute.
    fn skip(&mut self) {
        loop {
            let rest = &self.source[self.at..];
            let trimmed = rest.trim_start();
            let is_line = trimmed.starts_with("--")
                || trimmed.starts_with('#') && self.syntax.has_hash_comments;
            let is_block = trimmed.starts_with("/*")
                && !trimmed.starts_with("/*!")
                && !trimmed.starts_with("/*M!");
            self.at += rest.len() - trimmed.len();
            self.at = match (is_line, is_block) {
                (true, _) => self.line_end(),
                (_, true) => comment_end(self.source.as_bytes(), self.at),
                _ => return,
            };
        }
    }

    fn line_end(&self) -> usize {
        self.source[self.at..].find('\n').map_or(self.source.len(), |length| self.at + length + 1)
    }

    /// Processes a line `DELIMITER //`, which is a command of MySQL's clients.
    fn takes_delimiter(&mut self) -> bool {
        let end = self.line_end();
        let mut words = self.source[self.at..end].split_whitespace();
        let is_one = self.syntax.has_delimiter_lines
            && words.next().is_some_and(|word| word.eq_ignore_ascii_case("delimiter"));
        if let Some(delimiter) = words.next().filter(|_| is_one) {
            self.delimiter = delimiter.to_owned();
            self.at = end;
        }
        is_one && self.at == end
    }

    /// A statement in the form to send; `None` when it is skipped.
    fn piece(&mut self, text: String) -> Result<Option<Piece<'t>>, String> {
        let head = head(&text);
        let words: Vec<&str> = head.iter().map(String::as_str).collect();
        let Syntax {
            has_databases_for_schemas: is_elsewhere, has_delimiter_lines: is_dump, ..
        } = self.syntax;
        match words[..] {
            ["use", ..] if is_elsewhere => Err(self.elsewhere(&text)),
            ["create" | "drop" | "alter", "database", ..] => Err(self.elsewhere(&text)),
            ["create" | "drop" | "alter", "schema", ..] if is_elsewhere => {
                Err(self.elsewhere(&text))
            }
            // About the log of the server that it came from.
            ["set", ..]
                if is_dump
                    && words.iter().any(|word| ["gtid_purged", "sql_log_bin"].contains(word)) =>
            {
                Ok(None)
            }
            ["create", ..] if is_dump => Ok(Some(Piece::Statement(without_definer(text)))),
            ["copy", ..] if self.is_copy_from_stdin(&text) => {
                self.rows().map(|rows| Some(Piece::Copy(text, rows)))
            }
            _ => Ok(Some(Piece::Statement(text))),
        }
    }

    fn is_copy_from_stdin(&self, text: &str) -> bool {
        let all = statements(text, self.syntax).unwrap_or_default();
        let words: Vec<&str> = all.iter().flatten().filter_map(|token| token.word()).collect();
        words.windows(2).any(|pair| pair == ["from", "stdin"])
    }

    /// The lines after a COPY, up to the one that ends them.
    fn rows(&mut self) -> Result<&'t str, String> {
        let first = self.line_end();
        let mut at = first;
        for line in self.source[first..].split_inclusive('\n') {
            if line.trim_end() == "\\." {
                self.at = at + line.len();
                return Ok(&self.source[first..at]);
            }
            at += line.len();
        }
        Err(format!(
            "the setup {}: the rows after a COPY do not end with `\\.`; the file may be truncated",
            self.name
        ))
    }

    /// A psql command.
    fn backslash(&mut self) -> Result<(), String> {
        let end = self.line_end();
        let line = self.source[self.at..end].trim_end();
        let command = line[1..].split_whitespace().next().unwrap_or_default();
        match command {
            // They keep a dump from executing other psql commands.
            "restrict" | "unrestrict" => {
                self.at = end;
                Ok(())
            }
            "c" | "connect" => Err(self.elsewhere(line)),
            _ => Err(self.refusal(line, AS_IT_STANDS)),
        }
    }

    fn refusal(&self, statement: &str, reason: &str) -> String {
        format!("the setup {}, {:?}: {reason}", self.name, shown(statement))
    }

    fn elsewhere(&self, statement: &str) -> String {
        let reason = "it refers to another database than the one that is measured\n\
                      hint: dump only the tables: pg_dump without --create, mysqldump DATABASE \
                      without --databases";
        self.refusal(statement, reason)
    }
}

/// Removes the original owner of a routine, trigger or view; it then belongs to the account that
/// creates it.
fn without_definer(mut text: String) -> String {
    const DEFINER: &str = "DEFINER=`";
    let Some(start) = text.find(DEFINER) else { return text };
    let name = |from: usize| text[from..].find('`').map(|length| from + length + 1);
    let user = name(start + DEFINER.len());
    let host = user.filter(|end| text[*end..].starts_with("@`")).and_then(|end| name(end + 2));
    if let Some(end) = host.or(user) {
        text.replace_range(start..end, "");
    }
    text
}

#[cfg(test)]
mod tests;
