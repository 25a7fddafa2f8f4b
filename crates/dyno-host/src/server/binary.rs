//! Programs of servers.

use crate::error::HostError;
use dyno_model::engine::Version;
use dyno_model::plan::ServerKind;
use std::path::{Path, PathBuf};

/// A server's program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binary {
    /// Kind of server.
    pub kind: ServerKind,
    /// Path of the program.
    pub program: PathBuf,
    /// Its version, e.g. `10.11.11`.
    pub version: Version,
}

impl Binary {
    /// The folder that contains it.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.program.parent().unwrap_or(Path::new("."))
    }
}

/// Finds a program that belongs to the server: in its folder, next to it, or in PATH.
pub(super) fn helper(binary: &Binary, names: &[&'static str]) -> Result<PathBuf, HostError> {
    // A link in PATH may point to the server's own folder.
    let real = std::fs::canonicalize(&binary.program).unwrap_or_else(|_| binary.program.clone());
    let mut folders = Vec::new();
    for folder in [Some(binary.folder()), real.parent()].into_iter().flatten() {
        folders.push(folder.to_owned());
        folders.extend(
            folder
                .parent()
                .iter()
                .flat_map(|parent| ["bin", "scripts"].map(|name| parent.join(name))),
        );
    }
    folders.extend(std::env::var_os("PATH").iter().flat_map(std::env::split_paths));
    let found = folders
        .iter()
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
        .find(|path| path.is_file());
    found.ok_or_else(|| {
        let (kind, program) = (binary.kind, names[0]);
        let folders: String =
            folders.iter().map(|folder| format!("\n  {}", folder.display())).collect();
        HostError::new(format!(
            "{kind} needs {program}, which is in none of these folders:{folders}\n\
             hint: install it with the server, or name a complete installation with bin_dir"
        ))
    })
}

/// Folders `parent/<prefix><version>/<inner>`, the highest version first.
pub(super) fn newest_first(parent: &Path, prefix: &str, inner: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(parent) else { return Vec::new() };
    let mut found: Vec<(Version, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.ok()?.file_name();
            let version = name.to_str()?.strip_prefix(prefix)?.parse().ok()?;
            Some((version, parent.join(name).join(inner)))
        })
        .collect();
    found.sort();
    found.into_iter().rev().map(|(_, folder)| folder).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn versions_are_sorted_by_number_newest_first() {
        let folder = tempfile::tempdir().unwrap();
        for version in ["9", "15", "13", "notes"] {
            fs::create_dir_all(folder.path().join(version).join("bin")).unwrap();
        }
        let found = newest_first(folder.path(), "", "bin");
        assert_eq!(found, ["15", "13", "9"].map(|version| folder.path().join(version).join("bin")));
    }
}
