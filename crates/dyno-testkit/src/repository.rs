//! The repository's own files, for tests of their content.

use std::fs;
use std::path::{Path, PathBuf};

/// The root folder of the repository.
#[must_use]
pub fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the workspace is where it was built")
}

/// The text of a file, by its path in the repository.
#[must_use]
pub fn text(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The pages (`.md`) directly in these folders, sorted, by their paths in the repository.
#[must_use]
pub fn pages(folders: &[&str]) -> Vec<String> {
    let mut pages = Vec::new();
    for folder in folders {
        for entry in fs::read_dir(root().join(folder)).expect("the folder is there") {
            let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
            if name.ends_with(".md") {
                pages.push(Path::new(folder).join(name).display().to_string());
            }
        }
    }
    pages.sort();
    pages
}

/// The files with an extension below a folder, sorted, without build folders. Empty when the folder
/// does not exist.
#[must_use]
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return found };
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() && !path.ends_with("target") {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}
