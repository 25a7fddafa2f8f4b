//! `scripts` of a workload: the user's own SQL or Lua, in files or in the spec.

use crate::catalog::{DeclaredOption, ScriptFile, ScriptText, WorkloadOptions};
use crate::checksum::checksum;
use crate::spec::diagnostic::{Diagnostic, Problems, Span};
use crate::spec::keys::{SCRIPT, WEIGHT_MAX};
use crate::spec::paths::beside;
use crate::spec::reader::{Fields, in_words, wrong_type};
use crate::spec::tree::{Node, Value};
use std::path::Path;

/// Reads a text from its file. An error contains the reason in words.
pub type ReadScript = fn(&Path, TextKind) -> Result<String, String>;

/// Kind of a text, which determines its maximum size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// A script, or a load table.
    Script,
    /// A setup script, which creates tables; possibly a dump.
    Setup,
}

/// Setups up to this size are stored in the plan, once per configuration; larger ones stay in their
/// files.
const KEPT_MAX: usize = 256 << 10;

/// The options that scripts of a workload declare; their texts are among its options. `None`: they
/// declare none and accept any option. An error describes the mistake in a script.
pub type DeclaredOptions = fn(&WorkloadOptions) -> Result<Option<Vec<DeclaredOption>>, String>;

/// Where scripts and other files that a spec names are read from.
#[derive(Clone, Copy)]
pub(in crate::spec) struct ScriptFiles<'a> {
    /// Path of the spec.
    pub(in crate::spec) spec: &'a str,
    /// There is no spec file, only a command line.
    pub(in crate::spec) is_line: bool,
    pub(in crate::spec) read: Option<ReadScript>,
    pub(in crate::spec) declared: Option<DeclaredOptions>,
    /// The kind of the texts.
    pub(in crate::spec) kind: TextKind,
}

impl ScriptFiles<'_> {
    /// The text of a script in a file.
    fn script(
        self,
        file: &str,
        span: Span,
        problems: &Problems,
    ) -> Option<(String, Option<ScriptFile>)> {
        let text = self.text("script", file, span, problems)?;
        if self.kind == TextKind::Script || text.len() <= KEPT_MAX {
            return Some((text, None));
        }
        let file = ScriptFile {
            path: beside(self.spec, Path::new(file)),
            checksum: checksum(text.as_bytes()),
        };
        Some((String::new(), Some(file)))
    }

    /// The text of a file that the spec names; `what` describes the file in messages.
    pub(in crate::spec) fn text(
        self,
        what: &str,
        file: &str,
        span: Span,
        problems: &Problems,
    ) -> Option<String> {
        let read = match self.read {
            Some(read) => read(&beside(self.spec, Path::new(file)), self.kind),
            None => Err("files cannot be read in this context".to_owned()),
        };
        read.map_err(|why| {
            let message = format!("cannot read the {what} `{file}`: {why}");
            let folder = if self.is_line { "in which dyno runs" } else { "of the spec" };
            let help = format!("paths of {what}s are relative to the folder {folder}");
            problems.refuse(span, message, help);
        })
        .ok()
    }
}

/// Reads the list; `None` when one of them is invalid.
pub(in crate::spec) fn read(
    items: &[Node],
    span: Span,
    path: &str,
    files: ScriptFiles<'_>,
    problems: &Problems,
) -> Option<Vec<ScriptText>> {
    if items.is_empty() {
        let help = format!("name files: `{path} = [\"FILE\"]`");
        problems.refuse(span, format!("`{path}` names no script"), help);
        return None;
    }
    let mut found: Vec<ScriptText> = Vec::new();
    let mut is_whole = true;
    for item in items {
        let script = match &item.value {
            Value::Text(text) => named_file(text, item.span, files, problems),
            Value::Table(table) => {
                table_of(&Fields::new(&SCRIPT, table, item.span, problems), files)
            }
            _ => {
                wrong_type(item, path, "a file or a table", problems);
                None
            }
        };
        let Some(script) = script else {
            is_whole = false;
            continue;
        };
        if found.iter().any(|other| other.name == script.name) {
            let message = format!("two scripts are called `{}`", script.name);
            let help = "names must be unique: change one `name`";
            problems.report(Diagnostic::new(item.span, message).label("used again").help(help));
        }
        found.push(script);
    }
    is_whole.then_some(found)
}

/// `FILE` or `FILE@WEIGHT`.
fn named_file(
    text: &str,
    span: Span,
    files: ScriptFiles<'_>,
    problems: &Problems,
) -> Option<ScriptText> {
    let (file, weight) = match text.rsplit_once('@') {
        None => (text, 1),
        Some((file, weight)) => {
            match weight.parse::<i64>().ok().filter(|weight| (1..=WEIGHT_MAX).contains(weight)) {
                Some(weight) => (file, weight as u32),
                None => {
                    let message = format!(
                        "the weight of `{file}` must be a whole number {}, got `{weight}`",
                        in_words(&(1..=WEIGHT_MAX))
                    );
                    let help = format!("write for example `{file}@8`");
                    problems.report(Diagnostic::new(span, message).label("no weight").help(help));
                    return None;
                }
            }
        }
    };
    let (text, kept) = files.script(file, span, problems)?;
    Some(ScriptText { name: stem(file).to_owned(), weight, think: None, text, file: kept })
}

fn table_of(fields: &Fields<'_>, files: ScriptFiles<'_>) -> Option<ScriptText> {
    let weight = fields.integer("weight").unwrap_or(1);
    let think = fields.duration("think");
    let ((text, file), name) = match (fields.node("file"), fields.node("sql")) {
        (Some(node), None) => {
            let file = fields.required_text("file", "name a file")?;
            let text = files.script(file, node.span, fields.problems)?;
            (text, fields.text("name").unwrap_or(stem(file)))
        }
        (None, Some(_)) => {
            let text = fields.required_text("sql", "write for example `sql = \"SELECT 1\"`")?;
            (
                (text.to_owned(), None),
                fields.required_text("name", "add for example `name = \"recent orders\"`")?,
            )
        }
        (None, None) => {
            let help =
                "add the text: `sql = \"SELECT ...\"`, or name its file: `file = \"read.sql\"`";
            fields.missing("sql", help);
            return None;
        }
        (Some(file), Some(sql)) => {
            let message = "a script has both `file` and `sql`";
            fields.problems.refuse_both(sql.span, file.span, message);
            return None;
        }
    };
    let name = name.trim();
    if name.is_empty() || name.chars().any(char::is_control) || name.chars().count() > 60 {
        let message = "a script's name must be one line of at most 60 characters";
        fields.problems.report(Diagnostic::new(fields.span_of("name"), message));
        return None;
    }
    Some(ScriptText { name: name.to_owned(), weight, think, text, file })
}

/// The file name without folder and extension.
fn stem(file: &str) -> &str {
    let base = file.rsplit('/').next().unwrap_or(file);
    base.strip_suffix(".sql").or_else(|| base.strip_suffix(".lua")).unwrap_or(base)
}
