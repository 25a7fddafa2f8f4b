//! Finds the programs of servers.

use crate::ask::ask;
use crate::error::HostError;
use crate::server::binary::Binary;
use crate::server::instance::Recipe;
use crate::server::recipes::recipe;
use dyno_model::engine::{Product, Version};
use dyno_model::plan::ServerKind;
use dyno_model::reason::Reason;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Finds the program of a server: only in `bin_dir` if given, otherwise only in the folder named by
/// `DYNO_<KIND>_BIN_DIR` if set, otherwise in PATH, then in the usual folders. A program called
/// `mysqld` is checked by its version, because MariaDB's may have that name too.
///
/// # Errors
/// With all locations that were searched.
pub fn locate(kind: ServerKind, bin_dir: Option<&Path>) -> Result<Binary, HostError> {
    locate_in(kind, &folders(kind, bin_dir, &|name| std::env::var_os(name)))
}

fn locate_in(kind: ServerKind, folders: &[PathBuf]) -> Result<Binary, HostError> {
    let mut looked_at = Vec::new();
    let mut others = Vec::new();
    let candidates = recipe(kind)
        .into_iter()
        .flat_map(|recipe| folders.iter().map(move |folder| (recipe, folder)));
    for (recipe, folder) in candidates {
        for name in recipe.programs {
            let program = folder.join(name);
            if program.is_file() {
                match version(kind, recipe, &program) {
                    Ok(version) => {
                        let binary = Binary { kind, program, version };
                        (recipe.complete)(&binary)?;
                        return Ok(binary);
                    }
                    Err(what) => others.push(format!("{}: {what}", program.display())),
                }
            }
            looked_at.push(program);
        }
    }
    let looked_at = looked_at.iter().map(|path| format!("\n  {}", path.display()));
    let others = others.iter().map(|other| format!("\nfound instead: {other}"));
    Err(HostError::new(Reason::NoServer { kind, searched: looked_at.chain(others).collect() }))
}

fn folders(
    kind: ServerKind,
    bin_dir: Option<&Path>,
    environment: &dyn Fn(&str) -> Option<OsString>,
) -> Vec<PathBuf> {
    // Programs are started in other working folders.
    let absolute = |folder: PathBuf| std::path::absolute(&folder).unwrap_or(folder);
    if let Some(folder) = bin_dir {
        return vec![absolute(folder.to_owned())];
    }
    if let Some(folder) = environment(&kind.bin_dir_variable()) {
        return vec![absolute(folder.into())];
    }
    let mut folders: Vec<PathBuf> =
        environment("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    folders.extend(recipe(kind).iter().flat_map(|recipe| (recipe.folders)(environment)));
    let mut seen = std::collections::HashSet::new();
    folders.retain(|folder| folder.is_absolute() && seen.insert(folder.clone()));
    folders
}

/// The version, or a description of what the program is instead.
fn version(kind: ServerKind, recipe: &Recipe, program: &Path) -> Result<Version, String> {
    let mut command = Command::new(program);
    command.args(recipe.version_arguments).stdout(Stdio::piped()).stderr(Stdio::null());
    let answer = ask(&mut command).map_err(|error| format!("cannot be started: {error}"))?;
    let text = answer.text.trim();
    let is_success = answer.status.is_some_and(|status| status.success());
    if !is_success || text.is_empty() {
        let how =
            answer.status.map_or_else(|| "it did not end".to_owned(), |status| status.to_string());
        return Err(format!("does not report its version ({how})"));
    }
    let claim = (recipe.claim)(text).ok_or_else(|| format!("not {kind}, but {text}"))?;
    if !Product::recognised(kind.engine(), claim, &[]).has_programs_of(kind.product()) {
        return Err(format!("not {kind}, but {claim}"));
    }
    Version::found_in(claim).ok_or_else(|| format!("no version in {text:?}"))
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

    #[test]
    fn a_folder_relative_to_the_working_folder_is_made_absolute() {
        let named = |_: &str| Some(OsString::from("build/bin"));
        for bin_dir in [Some(Path::new("../build/bin")), None] {
            let folders = folders(ServerKind::Postgres, bin_dir, &named);
            assert!(folders.len() == 1 && folders[0].is_absolute(), "{folders:?}");
        }
    }

    const MARIADB: &str = "/x-5.5.5/mysqld  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)";
    const MYSQL: &str = "/opt/mysql-9.7/bin/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))";

    #[test]
    fn a_mysqld_of_mariadb_is_not_taken_for_mysql() {
        let folder = tempfile::tempdir().unwrap();
        fake(folder.path(), "mysqld", MARIADB);
        let error = locate(ServerKind::Mysql, Some(folder.path())).unwrap_err().to_string();
        assert!(error.contains("no mysql server found"), "{error}");
        assert!(error.contains("not mysql, but 10.11.19-MariaDB"), "{error}");
        let found = locate(ServerKind::Mariadb, Some(folder.path())).unwrap();
        assert_eq!(
            (found.version.to_string().as_str(), found.folder()),
            ("10.11.19", folder.path())
        );
    }

    #[test]
    fn a_mysqld_of_mysql_is_not_taken_for_mariadb() {
        let folder = tempfile::tempdir().unwrap();
        fake(folder.path(), "mysqld", MYSQL);
        assert!(locate(ServerKind::Mariadb, Some(folder.path())).is_err());
        assert_eq!(
            locate(ServerKind::Mysql, Some(folder.path())).unwrap().version.to_string(),
            "9.7.4"
        );
    }

    #[test]
    fn a_missing_program_is_reported_with_all_locations_and_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let error = locate(ServerKind::Mariadb, Some(folder.path())).unwrap_err().to_string();
        let candidates = [folder.path().join("mariadbd"), folder.path().join("mysqld")];
        for path in candidates {
            assert!(error.contains(&path.display().to_string()), "{error}");
        }
        assert!(
            error.contains("DYNO_MARIADB_BIN_DIR")
                && error.contains("bin_dir")
                && error.contains("scripts/servers"),
            "{error}"
        );
    }

    #[test]
    fn a_program_that_fails_is_skipped_for_one_that_works() {
        let folder = tempfile::tempdir().unwrap();
        let (broken, whole) = (folder.path().join("a"), folder.path().join("b"));
        fake(&broken, "postgres", "");
        fake(&whole, "postgres", "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)");
        let found = locate_in(ServerKind::Postgres, &[broken, whole.clone()]).unwrap();
        assert_eq!(
            (found.version.to_string().as_str(), found.program),
            ("15.18", whole.join("postgres"))
        );
    }

    #[test]
    fn the_environment_variable_decides_where_to_search() {
        let only = folders(ServerKind::Postgres, None, &|name| {
            (name == "DYNO_POSTGRES_BIN_DIR").then(|| OsString::from("/somewhere"))
        });
        assert_eq!(only, [PathBuf::from("/somewhere")]);
        let path_first = folders(ServerKind::Mariadb, None, &|name| {
            (name == "PATH").then(|| OsString::from("/a:/usr/sbin:."))
        });
        assert_eq!(path_first[..2], [PathBuf::from("/a"), PathBuf::from("/usr/sbin")]);
        assert!(
            path_first.iter().all(|folder| folder.is_absolute()),
            "the present folder is not searched"
        );
    }
}
