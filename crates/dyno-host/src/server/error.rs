//! The sentences about servers that several places have in common.

use crate::error::{HostError, quoted};
use crate::probe::{DiskSpace, disk_space};
use crate::settings::SettingProblem;
use dyno_model::failure::OperationFailure;
use dyno_model::plan::ServerKind;
use std::fmt::Display;
use std::path::Path;

/// With less free room than this, the room is told beside what failed: the files of an empty server
/// take up to 200 MB.
const LITTLE_ROOM: u64 = 256 << 20;

/// What errors about settings have in common.
const READ_THE_MANUAL: &str =
    "hint: names and values are the server's own, as its documentation has them";

/// Says how little room there is for the server's files, where it is little. To be asked before
/// they are removed.
pub(super) fn with_room(mut error: HostError, folder: &Path) -> HostError {
    if let Ok(DiskSpace { free, total }) = disk_space(folder)
        && error.is_of_files
        && free < LITTLE_ROOM
    {
        let (path, free, total) =
            (folder.parent().unwrap_or(folder).display(), free >> 20, total >> 20);
        error.text += &format!("\nnote: the disk of {path} had {free} MB of {total} MB free then");
    }
    error
}

/// The scratch folder cannot be used.
pub(super) fn scratch(path: &Path, reason: impl Display) -> HostError {
    HostError::new(format!(
        "cannot use the scratch folder {}: {reason}\n\
         hint: scratch = \"...\" in the spec's server, or the environment variable TMPDIR, names another one",
        path.display()
    ))
}

/// The server answers and refuses a question that dyno has to ask.
pub(super) fn query(kind: ServerKind, doing: &str) -> impl Fn(OperationFailure) -> HostError {
    move |failure| {
        HostError::new(format!("the {kind} server answers, but {doing} failed: {failure}"))
    }
}

/// The server stopped at a setting; `words` are its own about it.
pub(super) fn setting_refused(
    kind: ServerKind,
    name: &str,
    value: &str,
    words: &[String],
) -> HostError {
    let is_unknown =
        words.iter().any(|line| ["unknown", "unrecognized"].iter().any(|it| line.contains(it)));
    let setting = if is_unknown { name.to_owned() } else { format!("{name} = {value}") };
    let words = quoted(words);
    let text = format!(
        "{kind} refuses the setting {name:?} = {value:?}. It says:{words}\n{READ_THE_MANUAL}"
    );
    HostError { setting: Some(setting), ..HostError::new(text) }
}

/// Settings that the server took no notice of, or changed; `words` are its own about them, if it
/// said any.
pub(super) fn settings_differ(
    kind: ServerKind,
    problems: &[SettingProblem],
    words: &[String],
) -> HostError {
    let problems: String = problems.iter().map(|problem| format!("\n  {}", problem.text)).collect();
    let said =
        if words.is_empty() { String::new() } else { format!("\nIt says:{}", quoted(words)) };
    HostError::new(format!(
        "{kind} runs, but not with the settings asked for:{problems}{said}\n{READ_THE_MANUAL}; a value out of its bounds becomes \
         another one"
    ))
}

/// The last lines of a server's log, behind the sentence about its end.
pub(super) fn log_of(lines: &[String]) -> String {
    match lines {
        [] => "; it wrote nothing to its log".to_owned(),
        lines => format!("; the last lines of its log:{}", quoted(lines)),
    }
}
