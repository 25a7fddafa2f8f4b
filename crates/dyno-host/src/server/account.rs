//! The user that servers run as. Servers refuse to run as root, so when dyno is root they get their
//! usual user, otherwise dyno's own.

use crate::ask::ask;
use crate::error::HostError;
use crate::supervisor::Owner;
use dyno_model::plan::ServerKind;
use dyno_model::reason::Reason;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// The user for a kind of server when dyno is root; `None` for dyno's own user.
pub(super) fn for_server(kind: ServerKind, user: &'static str) -> Result<Option<Owner>, HostError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
    match find(&passwd, user).or_else(|| find(&from_directory(user), user)) {
        Some(owner) => Ok(Some(owner)),
        None => Err(HostError::new(Reason::NoUser { kind, user: user.to_owned() })),
    }
}

/// The first existing user of these, for a program that needs no privileges; `None` for dyno's own
/// user, when that is not root.
pub(crate) fn without_rights(users: &[&str]) -> Option<Owner> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
    users.iter().find_map(|user| find(&passwd, user))
}

/// A line of `passwd`: `name:password:user:group:...`.
fn find(passwd: &str, user: &str) -> Option<Owner> {
    let line = passwd.lines().find_map(|line| line.strip_prefix(user)?.strip_prefix(':'))?;
    let mut fields = line.split(':').skip(1);
    Some(Owner { user: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()? })
}

/// Looks up users from other sources than the file, such as LDAP.
fn from_directory(user: &str) -> String {
    let mut command = Command::new("getent");
    let answer = ask(command.args(["passwd", user]).stdout(Stdio::piped()).stderr(Stdio::null()));
    answer.map(|answer| answer.text).unwrap_or_default()
}

/// The reason why a user cannot enter a folder: a part of its path without permission.
pub(super) fn barrier(folder: &Path, owner: Owner) -> Option<String> {
    folder.ancestors().find_map(|step| {
        let metadata = fs::metadata(step).ok()?;
        let mode = metadata.mode();
        let may_enter = if metadata.uid() == owner.user {
            mode & 0o100 != 0
        } else if metadata.gid() == owner.group {
            mode & 0o010 != 0
        } else {
            mode & 0o001 != 0
        };
        (!may_enter).then(|| {
            format!("the server's user (number {}) may not enter {}", owner.user, step.display())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn users_are_found_by_their_whole_name() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nmysqlx:x:9:9::/:/x\nmysql:x:102:105:MySQL:/nonexistent:/bin/false\n";
        assert_eq!(find(passwd, "mysql"), Some(Owner { user: 102, group: 105 }));
        assert_eq!(find(passwd, "postgres"), None);
    }

    #[test]
    fn a_folder_below_a_private_one_is_out_of_reach_for_others() {
        let closed = tempfile::tempdir().unwrap();
        let inner = closed.path().join("inner");
        fs::create_dir(&inner).unwrap();
        fs::set_permissions(closed.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let stranger = Owner { user: 4_000_000_000, group: 4_000_000_000 };
        let reason = barrier(&inner, stranger).unwrap();
        assert!(reason.contains(&closed.path().display().to_string()), "{reason}");
        let metadata = fs::metadata(closed.path()).unwrap();
        assert_eq!(
            barrier(closed.path(), Owner { user: metadata.uid(), group: metadata.gid() }),
            None
        );
    }
}
