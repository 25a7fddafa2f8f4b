//! Passwords that the client programs of databases keep in files of their own: `~/.pgpass` and `~/.my.cnf`. Text in, password
//! out; only an entry that is meant for the system is used, and nothing but its password.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Whom a password is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Account<'a> {
    /// Host as in the address; `localhost` for a unix socket.
    pub(crate) host: &'a str,
    /// Port, 0 for a unix socket.
    pub(crate) port: u16,
    pub(crate) database: &'a str,
    pub(crate) user: &'a str,
}

/// The file of PostgreSQL's clients: `PGPASSFILE`, else `.pgpass` in the home folder.
pub(crate) fn pgpass_file() -> Option<PathBuf> {
    let given = std::env::var_os("PGPASSFILE").map(PathBuf::from);
    given.or_else(|| Some(home()?.join(".pgpass")))
}

/// The file of MySQL's and MariaDB's clients: `.my.cnf` in the home folder.
pub(crate) fn my_cnf_file() -> Option<PathBuf> {
    Some(home()?.join(".my.cnf"))
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from)
}

/// A file that others may read is refused, as PostgreSQL's clients refuse it.
///
/// # Errors
/// Why it is not read.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    let metadata = fs::metadata(path)?;
    if metadata.mode() & 0o077 != 0 {
        let reason = "others than its owner may read it; `chmod 600` makes it a place for passwords";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
    }
    fs::read_to_string(path)
}

/// The password in a `.pgpass`: the first line whose fields are those of the account or `*`. PostgreSQL's manual, chapter "The
/// Password File": `hostname:port:database:username:password`, with `\:` and `\\` in fields.
pub(crate) fn pgpass(text: &str, account: Account<'_>) -> Option<String> {
    let port = if account.port == 0 { "5432".to_owned() } else { account.port.to_string() };
    let wanted = [account.host, &port, account.database, account.user];
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut fields = fields(line);
        let password = (fields.len() == 5).then(|| fields.remove(4))?;
        let is_meant = fields.iter().zip(wanted).all(|(field, wanted)| field == "*" || field == wanted);
        is_meant.then_some(password)
    })
}

/// At most five; colons in the last are its own.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let last = fields.len() - 1;
        match character {
            '\\' => fields[last].extend(characters.next()),
            ':' if last < 4 => fields.push(String::new()),
            other => fields[last].push(other),
        }
    }
    fields
}

/// The password of the group `[client]` of a `.my.cnf`, when its user is the account's and its host, where it names one, too. Of
/// several, the last one counts, as for MySQL's clients. The manual, chapter "Using Option Files": values may stand in quotes.
pub(crate) fn my_cnf(text: &str, account: Account<'_>) -> Option<String> {
    let (mut is_client, mut user, mut host, mut password) = (false, None, None, None);
    for line in text.lines().map(str::trim) {
        if let Some(group) = line.strip_prefix('[') {
            is_client = group.trim_end_matches(']') == "client";
            continue;
        }
        let Some((name, value)) = line.split_once('=').filter(|_| is_client && !line.starts_with(['#', ';']))
        else {
            continue;
        };
        let value = Some(unquoted(value.trim()));
        match name.trim() {
            "user" => user = value,
            "host" => host = value,
            "password" => password = value,
            _ => {}
        }
    }
    let is_meant = user.as_deref() == Some(account.user) && host.is_none_or(|host| host == account.host);
    password.filter(|_| is_meant)
}

fn unquoted(value: &str) -> String {
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner.to_owned();
        }
    }
    // A comment may follow a value that stands without quotes.
    value.split(" #").next().unwrap_or_default().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNT: Account<'static> =
        Account { host: "db.example", port: 5433, database: "shop", user: "bench" };

    #[test]
    fn the_first_line_of_pgpass_that_fits_counts() {
        let text = "# comment\ndb.example:5432:*:bench:wrong port\nelsewhere:*:*:*:wrong host\ntoo:few\n\
                    *:5433:shop:bench:a\\:b\\\\c:d\n*:*:*:*:late\n";
        assert_eq!(pgpass(text, ACCOUNT).as_deref(), Some("a:b\\c:d"));
        assert_eq!(pgpass(text, Account { user: "root", ..ACCOUNT }).as_deref(), Some("late"));
        assert_eq!(pgpass("db.example:5433:shop:other:x\n", ACCOUNT), None);
    }

    #[test]
    fn only_the_clients_group_for_this_user_and_host_counts() {
        let text = "[mysqld]\npassword = no\n[client]\nuser=bench\n; password = old\npassword = \"s3 #cret\" \n[mysql]\npassword=x\n";
        assert_eq!(my_cnf(text, ACCOUNT).as_deref(), Some("s3 #cret"));
        assert_eq!(my_cnf(text, Account { user: "root", ..ACCOUNT }), None);
        let elsewhere = text.replace("user=bench", "user=bench\nhost = other.example");
        assert_eq!(my_cnf(&elsewhere, ACCOUNT), None);
        assert_eq!(my_cnf("[client]\npassword = x\n", ACCOUNT), None, "nobody says whose it is");
        assert_eq!(my_cnf("[client]\nuser = bench\npassword = x # mine\n", ACCOUNT).as_deref(), Some("x"));
    }

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644)).unwrap();
        assert!(read(file.path()).unwrap_err().to_string().contains("chmod 600"));
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(read(file.path()).unwrap(), "");
    }
}
