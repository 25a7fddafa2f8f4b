//! Files that somebody names are opened by `dyno-files` only: regular files, up to a limit, no link
//! followed to what is written.

use super::{code_lines, is_test_file, names, shown};
use dyno_testkit::repository::{files, root};

/// What opens, reads or writes a file without these conditions, or takes all that a program says.
const BANNED: &[&str] = &[
    "fs::read(",
    "fs::read_to_string(",
    "fs::write(",
    "fs::copy(",
    "File::open(",
    "File::create(",
    "File::options(",
    "OpenOptions::new(",
    "pem_file_iter(",
    "from_pem_file(",
    ".output(",
];

/// Files of the kernel and of the system, which nobody names.
const OF_SYSTEM: &[&str] = &["/proc/", "/etc/passwd", "/dev/urandom", "{folder}/{thread}/status"];

/// Where else it is right, and why.
const ALLOWED: &[(&str, &str)] = &[
    ("crates/dyno-files/src", "here it is done"),
    ("crates/dyno-testkit/src", "tests"),
    ("crates/dyno/src/documents.rs", "a test of the documents"),
    ("crates/dyno/src/reference.rs", "a test of the documents"),
    ("crates/dyno-store/src/files/environment.rs", "files below /proc and /sys"),
    ("crates/dyno-host/src/monitor/host.rs", "files below /proc"),
    ("crates/dyno-store/src/disk.rs", "opens a folder, to have its names on the disk"),
    (
        "crates/dyno/src/commands/results/compare.rs",
        "adds to what the user names, which may be a device or a link",
    ),
    (
        "crates/dyno-sysbench/src/run/measure.rs",
        "writes what the user names, which may be a device or a link",
    ),
];

#[test]
fn files_that_somebody_names_are_opened_in_one_place() {
    let mut wrong = Vec::new();
    let mut used = vec![false; ALLOWED.len()];
    for path in files(&root().join("crates"), "rs") {
        let shown = shown(&path);
        if !shown.contains("/src/") || is_test_file(&path) {
            continue;
        }
        for (number, line) in code_lines(&path) {
            let is_banned = BANNED.iter().any(|word| match word.strip_prefix('.') {
                Some(_) => line.contains(word),
                None => names(&line, word),
            });
            if !is_banned || OF_SYSTEM.iter().any(|file| line.contains(file)) {
                continue;
            }
            match ALLOWED.iter().position(|(path, _)| shown.starts_with(path)) {
                Some(at) => used[at] = true,
                None => wrong.push(format!("{shown}:{number}: {}", line.trim())),
            }
        }
    }
    assert_eq!(wrong, [""; 0], "open them with dyno-files");
    let unused: Vec<_> = ALLOWED.iter().zip(used).filter(|(_, used)| !used).collect();
    assert!(unused.is_empty(), "no exception is needed any more: {unused:?}");
}
