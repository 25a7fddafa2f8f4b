//! Where servers' programs are.

use super::ServerError;
use dyno_model::plan::ServerKind;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A server's program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binary {
    /// What it is.
    pub kind: ServerKind,
    /// Its file.
    pub program: PathBuf,
    /// Its version, e.g. `10.11.11`.
    pub version: String,
}

impl Binary {
    /// The folder that it is in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.program.parent().unwrap_or(Path::new("."))
    }
}

/// Finds the program of a server: in `bin_dir` and nowhere else if that is given, then in the folder that
/// `DYNO_<KIND>_BIN_DIR` names and nowhere else, then in PATH, then in the usual folders. What calls itself `mysqld` is
/// asked for its version, because MariaDB does so too.
///
/// # Errors
/// [`ServerError::NotFound`], with everything that was looked at.
pub fn locate(kind: ServerKind, bin_dir: Option<&Path>) -> Result<Binary, ServerError> {
    locate_in(kind, &folders(kind, bin_dir, &|name| std::env::var_os(name)))
}

fn programs(kind: ServerKind) -> &'static [&'static str] {
    match kind {
        ServerKind::Mariadb => &["mariadbd", "mysqld"],
        ServerKind::Mysql => &["mysqld"],
        ServerKind::Postgres => &["postgres"],
        ServerKind::Sqlite | ServerKind::Null => &[],
    }
}

fn locate_in(kind: ServerKind, folders: &[PathBuf]) -> Result<Binary, ServerError> {
    let mut looked_at = Vec::new();
    let mut others = Vec::new();
    for folder in folders {
        for name in programs(kind) {
            let program = folder.join(name);
            if program.is_file() {
                match version(kind, &program) {
                    Ok(version) => return Ok(Binary { kind, program, version }),
                    Err(what) => others.push(format!("{}: {what}", program.display())),
                }
            }
            looked_at.push(program);
        }
    }
    Err(ServerError::NotFound { kind, looked_at, others })
}

fn folders(
    kind: ServerKind,
    bin_dir: Option<&Path>,
    environment: &dyn Fn(&str) -> Option<OsString>,
) -> Vec<PathBuf> {
    if let Some(folder) = bin_dir {
        return vec![folder.to_owned()];
    }
    if let Some(folder) = environment(&format!("DYNO_{}_BIN_DIR", kind.name().to_ascii_uppercase())) {
        return vec![folder.into()];
    }
    let mut folders: Vec<PathBuf> =
        environment("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    match kind {
        ServerKind::Mariadb => {
            folders.extend(
                ["/usr/sbin", "/usr/libexec", "/usr/local/sbin", "/usr/local/bin"].map(PathBuf::from),
            );
            folders.extend(
                ["/usr/local/mariadb/bin", "/opt/mariadb/bin", "/usr/local/mysql/bin"].map(PathBuf::from),
            );
        }
        ServerKind::Mysql => {
            folders.extend(
                ["/usr/sbin", "/usr/libexec", "/usr/local/sbin", "/usr/local/bin"].map(PathBuf::from),
            );
            folders.extend(["/usr/local/mysql/bin", "/opt/mysql/bin"].map(PathBuf::from));
            // Where scripts/servers puts it.
            let servers =
                environment("DYNO_SERVERS_DIR").map_or_else(|| "/opt/dyno-servers".into(), PathBuf::from);
            folders.extend(newest_first(&servers, "mysql-", "bin"));
        }
        ServerKind::Postgres => {
            folders.extend(newest_first(Path::new("/usr/lib/postgresql"), "", "bin"));
            folders.extend(newest_first(Path::new("/usr"), "pgsql-", "bin"));
            folders.extend(["/usr/bin", "/usr/local/pgsql/bin", "/usr/local/bin"].map(PathBuf::from));
        }
        ServerKind::Sqlite | ServerKind::Null => {}
    }
    let mut seen = std::collections::HashSet::new();
    folders.retain(|folder| folder.is_absolute() && seen.insert(folder.clone()));
    folders
}

/// Folders `parent/<prefix><version>/<inner>`, the highest version first.
fn newest_first(parent: &Path, prefix: &str, inner: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(parent) else { return Vec::new() };
    let mut found: Vec<(Vec<u32>, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.ok()?.file_name();
            let version = name
                .to_str()?
                .strip_prefix(prefix)?
                .split('.')
                .map(str::parse)
                .collect::<Result<_, _>>()
                .ok()?;
            Some((version, parent.join(name).join(inner)))
        })
        .collect();
    found.sort();
    found.into_iter().rev().map(|(_, folder)| folder).collect()
}

/// The version, or what the program is instead.
fn version(kind: ServerKind, program: &Path) -> Result<String, String> {
    let mut command = Command::new(program);
    if kind != ServerKind::Postgres {
        command.arg("--no-defaults");
    }
    let output = command
        .arg("--version")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot be run: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let text = text.trim();
    if !output.status.success() || text.is_empty() {
        return Err(format!("does not tell its version ({})", output.status));
    }
    // The MySQL family's text begins with the program's path, in which versions may occur.
    let (claim, is_kind) = match kind {
        ServerKind::Postgres => (text, text.contains("(PostgreSQL)")),
        _ => {
            let claim = text.rsplit_once("Ver ").map_or(text, |(_, claim)| claim);
            (claim, claim.contains("MariaDB") == (kind == ServerKind::Mariadb))
        }
    };
    if !is_kind {
        return Err(format!("not {kind}, but {claim}"));
    }
    let is_version = |word: &&str| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit());
    let word = claim
        .split([' ', '-', '(', ')'])
        .find(is_version)
        .ok_or_else(|| format!("no version in {text:?}"))?;
    Ok(word.to_owned())
}

/// Finds a program that comes with the server: in its folder, beside it, or in PATH.
pub(super) fn helper(binary: &Binary, names: &[&'static str]) -> Result<PathBuf, ServerError> {
    // A link in PATH may point into the server's own folder.
    let real = std::fs::canonicalize(&binary.program).unwrap_or_else(|_| binary.program.clone());
    let mut folders = Vec::new();
    for folder in [Some(binary.folder()), real.parent()].into_iter().flatten() {
        folders.push(folder.to_owned());
        folders.extend(
            folder.parent().iter().flat_map(|parent| ["bin", "scripts"].map(|name| parent.join(name))),
        );
    }
    folders.extend(std::env::var_os("PATH").iter().flat_map(std::env::split_paths));
    let found = folders
        .iter()
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
        .find(|path| path.is_file());
    found.ok_or(ServerError::HelperNotFound { kind: binary.kind, program: names[0], folders })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn fake(folder: &Path, name: &str, says: &str) {
        fs::create_dir_all(folder).unwrap();
        let program = folder.join(name);
        fs::write(&program, format!("#!/bin/sh\necho '{says}'\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }

    const MARIADB: &str =
        "/x-5.5.5/mysqld  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)";
    const MYSQL: &str = "/opt/mysql-9.7/bin/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))";

    #[test]
    fn a_mysqld_that_is_mariadb_is_not_taken_for_mysql() {
        let folder = tempfile::tempdir().unwrap();
        fake(folder.path(), "mysqld", MARIADB);
        let error = locate(ServerKind::Mysql, Some(folder.path())).unwrap_err().to_string();
        assert!(error.contains("no mysql server found"), "{error}");
        assert!(error.contains("not mysql, but 10.11.19-MariaDB"), "{error}");
        let found = locate(ServerKind::Mariadb, Some(folder.path())).unwrap();
        assert_eq!((found.version.as_str(), found.folder()), ("10.11.19", folder.path()));
    }

    #[test]
    fn a_mysqld_that_is_mysql_is_not_taken_for_mariadb() {
        let folder = tempfile::tempdir().unwrap();
        fake(folder.path(), "mysqld", MYSQL);
        assert!(locate(ServerKind::Mariadb, Some(folder.path())).is_err());
        assert_eq!(locate(ServerKind::Mysql, Some(folder.path())).unwrap().version, "9.7.4");
    }

    #[test]
    fn a_missing_program_is_named_with_every_place_and_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let error = locate(ServerKind::Mariadb, Some(folder.path())).unwrap_err().to_string();
        let places = [folder.path().join("mariadbd"), folder.path().join("mysqld")];
        for place in places {
            assert!(error.contains(&place.display().to_string()), "{error}");
        }
        assert!(
            error.contains("DYNO_MARIADB_BIN_DIR")
                && error.contains("bin_dir")
                && error.contains("scripts/servers"),
            "{error}"
        );
    }

    #[test]
    fn a_program_that_fails_is_passed_over_for_one_that_works() {
        let folder = tempfile::tempdir().unwrap();
        let (broken, whole) = (folder.path().join("a"), folder.path().join("b"));
        fake(&broken, "postgres", "");
        fake(&whole, "postgres", "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)");
        let found = locate_in(ServerKind::Postgres, &[broken, whole.clone()]).unwrap();
        assert_eq!((found.version.as_str(), found.program), ("15.18", whole.join("postgres")));
    }

    #[test]
    fn the_newest_version_comes_first_by_number_not_by_letter() {
        let folder = tempfile::tempdir().unwrap();
        for version in ["9", "15", "13", "notes"] {
            fs::create_dir_all(folder.path().join(version).join("bin")).unwrap();
        }
        let found = newest_first(folder.path(), "", "bin");
        assert_eq!(found, ["15", "13", "9"].map(|version| folder.path().join(version).join("bin")));
    }

    #[test]
    fn the_environment_decides_where_to_look() {
        let only = folders(ServerKind::Postgres, None, &|name| {
            (name == "DYNO_POSTGRES_BIN_DIR").then(|| OsString::from("/somewhere"))
        });
        assert_eq!(only, [PathBuf::from("/somewhere")]);
        let path_first = folders(ServerKind::Mariadb, None, &|name| {
            (name == "PATH").then(|| OsString::from("/a:/usr/sbin:."))
        });
        assert_eq!(path_first[..2], [PathBuf::from("/a"), PathBuf::from("/usr/sbin")]);
        assert!(path_first.iter().all(|folder| folder.is_absolute()), "the present folder is not searched");
    }
}
