//! The server's log: where it is kept, its last lines, and its messages about a setting or a port.

use crate::error::HostError;
use dyno_model::printable::shortened;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder for kept logs, which is created.
///
/// # Errors
/// When it cannot be created.
pub(crate) fn create_log_folder(folder: Option<&Path>) -> Result<Option<PathBuf>, HostError> {
    let make = |folder: &Path| {
        fs::create_dir_all(folder).and_then(|()| fs::canonicalize(folder)).map_err(|error| {
            let folder = folder.display();
            HostError::new(format!("cannot keep the server's log in the folder {folder}: {error}"))
        })
    };
    folder.map(make).transpose()
}

/// Empties a log of dyno's own, and creates it unless it exists.
pub(crate) fn empty(path: &Path) -> std::io::Result<()> {
    dyno_files::append(path, 0o600)?.set_len(0)
}

/// Number of lines of a log that are shown with a failure.
pub(crate) const SHOWN: usize = 15;
/// Number of lines that are searched for a failure: during a clean shutdown a server logs a lot
/// after its error.
pub(crate) const SEARCHED: usize = 4 * SHOWN;
/// Maximum number of earlier error lines that are shown as well.
const ERRORS_SHOWN: usize = 5;
/// Maximum length of such a line in characters: Galera's contain a command line.
const ERROR_CHARS: usize = 300;

/// The part of a log that is shown: its last lines, preceded by the latest lines that the server
/// marks as errors.
pub(crate) fn shown(mut lines: Vec<String>) -> Vec<String> {
    let last = lines.split_off(lines.len().saturating_sub(SHOWN));
    let is_error = |line: &&String| ["ERROR", "FATAL"].iter().any(|word| line.contains(word));
    let errors: Vec<_> =
        lines.iter().filter(is_error).map(|line| shortened(line, ERROR_CHARS)).collect();
    [&errors[errors.len().saturating_sub(ERRORS_SHOWN)..], &last].concat()
}

/// True when a server failed to bind its TCP port, by the messages of the supported servers.
pub(crate) fn is_port_taken(lines: &[String]) -> bool {
    lines.iter().any(|line| {
        let line = line.to_ascii_lowercase();
        line.contains("address already in use")
            || line.contains("bind on tcp/ip port")
            // State transfer of a joining Galera node: it fails with EBUSY when another program has
            // its port, and with EALREADY when the rsync of an earlier attempt is still running.
            || line.contains("process completed with error: wsrep_sst")
            // The donor may report the failure before the node's own program does.
            || line.contains("will never receive state")
            || line.contains("could not bind") && line.contains("address")
    })
}

/// Lines in which a server complains about a setting: they contain its name, with `_` or `-`, and
/// are more than notes.
pub(super) fn complaints(lines: &[String], setting: &str) -> Vec<String> {
    let plain = |text: &str| text.to_ascii_lowercase().replace('-', "_");
    let name = plain(setting);
    let is_complaint = |line: &&String| {
        let line = plain(line);
        let is_error = ["error", "fatal", "unknown", "invalid", "unrecognized", "warning"];
        is_error.iter().any(|word| line.contains(word)) && contains_word(&line, &name)
    };
    lines.iter().filter(is_complaint).cloned().collect()
}

fn contains_word(line: &str, word: &str) -> bool {
    let is_inside =
        |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    line.match_indices(word).any(|(at, _)| {
        // An option may be written with leading dashes, which were replaced by underscores.
        let before = line[..at].trim_end_matches("__");
        !is_inside(before.chars().next_back())
            && !is_inside(line[at + word.len()..].chars().next().filter(|c| *c != '.'))
    })
}

/// The file to which a server's log is copied: named after the system, with a number when it ran
/// before.
pub(crate) fn kept_log(folder: &Path, system: &str) -> PathBuf {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = system.chars().map(plain).collect::<String>().to_lowercase();
    let name = name.trim_matches(['-', '.']);
    let name = if name.is_empty() { "server" } else { name };
    let first = folder.join(format!("{name}.log"));
    let numbered = (2..).map(|number: u32| folder.join(format!("{name}-{number}.log")));
    std::iter::once(first)
        .chain(numbered)
        .find(|path| !path.exists())
        .unwrap_or_else(|| folder.join("server.log"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_shown_although_many_lines_follow_them() {
        let lines = |count: usize| (0..count).map(|number| format!("[Note] {number}"));
        let error = "[ERROR] WSREP: Failed to prepare".to_owned();
        let long = format!("[ERROR] {}", "x".repeat(1000));
        let all: Vec<String> = lines(3).chain([error.clone(), long]).chain(lines(20)).collect();
        let shown = shown(all);
        assert_eq!(shown.len(), SHOWN + 2);
        assert_eq!(shown[0], error);
        assert!(
            shown[1].chars().count() == ERROR_CHARS + 1 && shown[1].ends_with('…'),
            "{}",
            shown[1]
        );
        assert_eq!(shown[2..].first().map(String::as_str), Some("[Note] 5"));
        assert_eq!(super::shown(vec![error.clone()]), [error]);
    }

    #[test]
    fn a_port_conflict_is_recognised_in_each_servers_messages() {
        let words = [
            "2026-11-21 [ERROR] Can't start server: Bind on TCP/IP port. Got error: 98: Address already in use",
            "2026-11-21T09:11:45Z 0 [ERROR] [MY-010262] [Server] Can't start server: Bind on TCP/IP port: Address already in use",
            "LOG:  could not bind IPv4 address \"127.0.0.1\": Address already in use",
            "2026-11-24  4:26:24 0 [ERROR] WSREP: Process completed with error: wsrep_sst_rsync --role 'joiner' --address \
             '127.0.0.1:34809': 16 (Device or resource busy)",
        ];
        for line in words {
            assert!(is_port_taken(&[line.to_owned()]), "{line}");
        }
        assert!(!is_port_taken(&["FATAL:  could not create any TCP/IP sockets".to_owned()]));
    }

    #[test]
    fn complaints_about_a_setting_exclude_names_that_contain_it() {
        let lines = [
            "[ERROR] /usr/sbin/mariadbd: unknown variable 'innodb-bufer=1'",
            "[Note] innodb_bufer is fine",
            "[ERROR] unknown option '--innodb_bufer'",
            "[ERROR] innodb_bufer_pool is wrong",
            "FATAL:  unrecognized configuration parameter \"innodb_bufer\"",
        ]
        .map(str::to_owned);
        let found = complaints(&lines, "innodb-bufer");
        assert_eq!(found, [lines[0].clone(), lines[2].clone(), lines[4].clone()]);
    }

    #[test]
    fn logs_of_a_restarted_system_do_not_overwrite_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let first = kept_log(folder.path(), "MariaDB 10.11 (pool)");
        assert_eq!(first, folder.path().join("mariadb-10.11--pool.log"));
        fs::write(&first, "").unwrap();
        assert_eq!(
            kept_log(folder.path(), "MariaDB 10.11 (pool)"),
            folder.path().join("mariadb-10.11--pool-2.log")
        );
        assert_eq!(kept_log(folder.path(), "../.."), folder.path().join("server.log"));
    }
}
