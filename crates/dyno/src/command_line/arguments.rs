//! The arguments of the process. Every user who can list processes sees them (`ps`,
//! `/proc/PID/cmdline`), so dyno first overwrites the passwords in the kernel's copy. Writing to
//! `/proc/self/mem` needs no unsafe code. The alternative, starting the program a second time,
//! would need a pipe or an environment variable for the password, and the first process would still
//! be visible.

use dyno_model::mask::{is_of_password, masked};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;

/// Returns the arguments with their passwords, after masking the passwords for other processes.
///
/// # Errors
/// Returns the arguments as well when a process listing still shows a password.
pub(crate) fn taken() -> (Vec<OsString>, io::Result<()>) {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let shown: Vec<Vec<u8>> = (0..arguments.len()).map(|i| shown(&arguments, i)).collect();
    let is_same =
        arguments.iter().zip(&shown).all(|(argument, shown)| argument.as_bytes() == shown);
    let hidden = if is_same { Ok(()) } else { overwrite(&arguments, &shown) };
    (arguments, hidden)
}

/// The argument as other processes may see it, with the same number of bytes.
fn shown(arguments: &[OsString], i: usize) -> Vec<u8> {
    let bytes = arguments[i].as_bytes();
    let before = i.checked_sub(1).map(|before| arguments[before].to_string_lossy());
    let is_password = before.is_some_and(|option| {
        option.strip_prefix("--").is_some_and(|name| !name.contains('=') && is_of_password(name))
    });
    let text = String::from_utf8_lossy(bytes);
    let mut shown = match (is_password, masked(&text)) {
        (true, _) => b"***".to_vec(),
        (false, clean) if clean == text => bytes.to_vec(),
        (false, clean) => clean.as_bytes().to_vec(),
    };
    shown.resize(bytes.len(), 0);
    shown
}

/// Overwrites the arguments where the kernel reads them.
fn overwrite(arguments: &[OsString], shown: &[Vec<u8>]) -> io::Result<()> {
    let with_ends = |texts: &mut dyn Iterator<Item = &[u8]>| -> Vec<u8> {
        texts.flat_map(|text| [text, &b"\0"[..]]).flatten().copied().collect()
    };
    let now = with_ends(&mut arguments.iter().map(|argument| OsStr::as_bytes(argument)));
    if fs::read("/proc/self/cmdline")? != now {
        return Err(io::Error::other("the kernel shows arguments that differ from the program's"));
    }
    let memory = File::options().write(true).open("/proc/self/mem")?;
    memory.write_all_at(&with_ends(&mut shown.iter().map(Vec::as_slice)), start_of_arguments()?)
}

/// Address of the arguments in memory: field 48 of `/proc/self/stat`, proc_pid_stat(5).
fn start_of_arguments() -> io::Result<u64> {
    let line = fs::read_to_string("/proc/self/stat")?;
    let behind_name = line.rsplit_once(')').map_or("", |(_, fields)| fields);
    let field = behind_name.split_whitespace().nth(48 - 3).and_then(|field| field.parse().ok());
    field
        .filter(|start| *start > 0)
        .ok_or_else(|| io::Error::other("the kernel does not report the address of the arguments"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_is_shown_without_passwords_in_as_many_bytes() {
        for (words, seen) in [
            ("dyno run postgres://u:hunter2@h/d", "postgres://u:***@h/d\0\0\0\0"),
            ("dyno run postgres:/u:pw@h/d", "postgres:/u:***@h/"),
            ("dyno sysbench --mysql-password=hunter2", "--mysql-password=***\0\0\0\0"),
            ("dyno sysbench --mysql-password hunter2", "***\0\0\0\0"),
            ("dyno sysbench --threads 2", "2"),
            ("dyno run spec.toml", "spec.toml"),
        ] {
            let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
            assert_eq!(String::from_utf8(shown(&words, words.len() - 1)).unwrap(), seen);
        }
    }
}
