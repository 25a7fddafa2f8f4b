//! Everything outside the given address that determines where to connect: environment, files, and
//! the user who runs the program.

use dyno_files::SCRIPT_MAX;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What of the world decides where to connect.
pub struct Surroundings<'a> {
    /// A variable of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// True when a file or folder exists.
    pub exists: &'a dyn Fn(&Path) -> bool,
    /// Content of a password file, if only its owner can read it.
    pub secrets: &'a dyn Fn(&Path) -> io::Result<String>,
    /// Name of the user that runs the program.
    pub user: &'a dyn Fn() -> String,
}

impl Surroundings<'static> {
    /// The surroundings of this process.
    #[must_use]
    pub fn of_process() -> Self {
        Self {
            variable: &|name| std::env::var(name).ok(),
            exists: &|path| path.exists(),
            secrets: &read_secrets,
            user: &user,
        }
    }
}

/// The name of the user that runs this process.
fn user() -> String {
    let id =
        fs::metadata("/proc/self").map(|process| process.uid().to_string()).unwrap_or_default();
    let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1) == Some(&id)).then(|| name.to_owned())
    });
    name.or_else(|| std::env::var("USER").ok()).unwrap_or_default()
}

/// Reads a password file. One that others may read is rejected, as by PostgreSQL's clients.
///
/// # Errors
/// Why it is not read.
pub fn read_secrets(path: &Path) -> io::Result<String> {
    let metadata = fs::metadata(path)?;
    if metadata.mode() & 0o077 != 0 {
        let reason = "it is readable by other users; restrict it with `chmod 600`";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
    }
    dyno_files::read_text(path, SCRIPT_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_that_others_may_read_is_rejected() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644)).unwrap();
        assert!(read_secrets(file.path()).unwrap_err().to_string().contains("chmod 600"));
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(read_secrets(file.path()).unwrap(), "");
    }
}
