//! Results folders below one folder: `DIR/<experiment>/<time>-<id>`, as `--results DIR` leaves
//! them.

use crate::error::StoreError;
use crate::layout::FORMAT_FILE;
use std::fs;
use std::path::{Path, PathBuf};

/// How many levels below the named folder are searched. `--results DIR` puts results two levels
/// below, with a list of clients four; the fifth allows for collections of such folders.
const DEPTH_MAX: u32 = 5;

/// The folder itself when it is a results folder, otherwise all results folders below it, sorted by
/// path. Results folders and links to folders are not searched.
///
/// # Errors
/// When a folder cannot be listed, or no results folder is found.
pub fn results_below(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    if !folder.exists() {
        return Err(StoreError::NoFolder { path: folder.to_owned() });
    }
    let mut found = Vec::new();
    collect(folder, DEPTH_MAX, &mut found)?;
    if found.is_empty() {
        return Err(StoreError::NoResultsBelow { path: folder.to_owned() });
    }
    Ok(found)
}

fn collect(folder: &Path, depth: u32, found: &mut Vec<PathBuf>) -> Result<(), StoreError> {
    if folder.join(FORMAT_FILE).is_file() {
        found.push(folder.to_owned());
        return Ok(());
    }
    let entries = fs::read_dir(folder).map_err(StoreError::io("read", folder))?;
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry.map_err(StoreError::io("read", folder))?;
        if entry.file_type().map_err(StoreError::io("read", folder))?.is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort();
    if depth > 0 {
        folders.iter().try_for_each(|below| collect(below, depth - 1, found))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_folders_are_found_down_to_the_depth_where_runs_leave_them() {
        let root = tempfile::tempdir().expect("a temporary folder can be made");
        let make = |path: &str| {
            let folder = root.path().join(path);
            fs::create_dir_all(&folder).expect("a folder can be made");
            fs::write(folder.join(FORMAT_FILE), "1").expect("a file can be written");
        };
        for path in
            ["base/script/2", "base/script/1", "base/script/1/trials", "base/a/b/c/d/e/too-deep"]
        {
            make(path);
        }
        let found = results_below(&root.path().join("base")).expect("two");
        let names: Vec<_> = found.iter().filter_map(|path| path.file_name()?.to_str()).collect();
        assert_eq!(names, ["1", "2"]);
        let one = root.path().join("base/script/2");
        assert_eq!(results_below(&one).expect("itself"), [one]);
        assert!(matches!(
            results_below(&root.path().join("base/a")),
            Ok(found) if found.len() == 1
        ));
        fs::create_dir(root.path().join("empty")).expect("a folder can be made");
        let none = results_below(&root.path().join("empty"));
        assert!(matches!(none, Err(StoreError::NoResultsBelow { .. })), "{none:?}");
        let missing = results_below(&root.path().join("missing"));
        assert!(matches!(missing, Err(StoreError::NoFolder { .. })), "{missing:?}");
    }
}
