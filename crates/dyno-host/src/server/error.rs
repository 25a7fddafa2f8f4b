//! Error messages about servers that are used in several places.

use crate::error::{HostError, quoted};
use crate::probe::{DiskSpace, disk_space};
use crate::settings::SettingProblem;
use dyno_model::failure::OperationFailure;
use dyno_model::plan::ServerKind;
use dyno_model::reason::Reason;
use std::fmt::Display;
use std::path::Path;

/// With less free space than this, it is reported along with the error: the files of an empty
/// server take up to 200 MB.
const LITTLE_ROOM: u64 = 256 << 20;

/// Hint for all errors about settings.
const READ_THE_MANUAL: &str = "hint: use the names and values of the server's documentation";

/// Adds the free space of the disk to an error, if it is low. Must be called before the server's
/// files are removed.
pub(super) fn with_room(mut error: HostError, folder: &Path) -> HostError {
    if let Ok(DiskSpace { free, total }) = disk_space(folder)
        && error.is_of_files
        && free < LITTLE_ROOM
    {
        error.reason = Box::new(Reason::DiskScarce {
            reason: error.reason,
            folder: folder.parent().unwrap_or(folder).display().to_string(),
            free: free / 1_000_000,
            total: total / 1_000_000,
        });
    }
    error
}

/// The error of an unusable scratch folder.
pub(super) fn scratch(path: &Path, reason: impl Display) -> HostError {
    HostError::new(Reason::ScratchUnusable {
        folder: path.display().to_string(),
        reason: reason.to_string(),
    })
}

/// The error of a server that is up but refuses a query that dyno needs.
pub(super) fn query(kind: ServerKind, doing: &str) -> impl Fn(OperationFailure) -> HostError {
    move |failure| {
        HostError::new(format!("the {kind} server answers, but {doing} failed: {failure}"))
    }
}

/// The error of a server that stopped because of a setting; `words` is its own output about it.
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
        "{kind} rejects the setting {name:?} = {value:?}. Its output:{words}\n{READ_THE_MANUAL}"
    );
    HostError { setting: Some(setting), ..HostError::new(text) }
}

/// The error of settings that the server ignored or changed; `words` is its own output about them,
/// if any.
pub(super) fn settings_differ(
    kind: ServerKind,
    problems: &[SettingProblem],
    words: &[String],
) -> HostError {
    let problems: String = problems.iter().map(|problem| format!("\n  {}", problem.text)).collect();
    let output =
        if words.is_empty() { String::new() } else { format!("\nIts output:{}", quoted(words)) };
    HostError::new(format!(
        "{kind} is running, but not with the requested \
         settings:{problems}{output}\n{READ_THE_MANUAL}; the server may replace a value that is \
         out of range"
    ))
}

/// The last lines of a server's log, to be appended to a message about its end.
pub(super) fn log_of(lines: &[String]) -> String {
    match lines {
        [] => "; it wrote nothing to its log".to_owned(),
        lines => format!("; the last lines of its log:{}", quoted(lines)),
    }
}
