//! Finds the script for a name.

use crate::bundled::bundled;
use crate::legacy;
use std::path::Path;

/// sysbench's built-in tests, which do not measure databases.
pub(crate) const BUILT_IN: [&str; 5] = ["fileio", "cpu", "memory", "threads", "mutex"];

/// The meaning of a script's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Script {
    /// Standard input.
    Input,
    /// A file, by its path as given.
    File(String),
    /// A module that Lua searches for.
    Module(String),
    /// A bundled script that is not hidden by the user's own.
    Bundled {
        name: &'static str,
        /// True when it was named by the path of a missing file.
        is_substitute: bool,
    },
    /// A script of 0.5 that does not exist here, with its current replacement.
    Legacy(&'static str),
    /// A built-in test of sysbench's, which dyno does not have.
    BuiltIn(&'static str),
}

/// Finds the meaning of a script's name. `exists` checks paths.
///
/// A file always wins. A bundled name is the bundled script unless the current directory has a
/// module of that name, which Lua would find first. The path of a missing file with the name of a
/// bundled script is the bundled script, because tutorials name various installation folders.
pub(crate) fn resolve(name: Option<&str>, exists: impl Fn(&Path) -> bool) -> Script {
    let Some(name) = name.filter(|name| *name != "-" && !name.is_empty()) else {
        return Script::Input;
    };
    if let Some(test) = BUILT_IN.into_iter().find(|test| *test == name) {
        return Script::BuiltIn(test);
    }
    if exists(Path::new(name)) {
        return Script::File(name.to_owned());
    }
    let file = Path::new(name).file_name().and_then(|file| file.to_str()).unwrap_or(name);
    let stem = file.strip_suffix(".lua").unwrap_or(file);
    let is_substitute = stem != name;
    let modules =
        [format!("{name}.lua"), format!("{name}/init.lua"), format!("src/lua/{name}.lua")];
    let is_shadowed = !is_substitute && modules.iter().any(|module| exists(Path::new(module)));
    match bundled().find(|bundled| *bundled == stem) {
        Some(name) if !is_shadowed => Script::Bundled { name, is_substitute },
        _ => legacy::script(name).map_or_else(|| Script::Module(name.to_owned()), Script::Legacy),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(files: &[&str], name: &str) -> Script {
        resolve(Some(name), |path| files.iter().any(|file| Path::new(file) == path))
    }

    fn bundled(name: &'static str, is_substitute: bool) -> Script {
        Script::Bundled { name, is_substitute }
    }

    #[test]
    fn bundled_names_are_recognised_with_and_without_suffix_and_folder() {
        assert_eq!(with(&[], "oltp_read_write"), bundled("oltp_read_write", false));
        for name in [
            "oltp_read_write.lua",
            "/usr/share/sysbench/oltp_read_write.lua",
            "x/y/oltp_read_write",
        ] {
            assert_eq!(with(&[], name), bundled("oltp_read_write", true), "{name}");
        }
    }

    #[test]
    fn the_users_file_wins() {
        for (file, name) in [
            ("oltp_read_write.lua", "oltp_read_write.lua"),
            ("/usr/share/sysbench/oltp_insert.lua", "/usr/share/sysbench/oltp_insert.lua"),
            ("oltp_read_write", "oltp_read_write"),
        ] {
            assert_eq!(with(&[file], name), Script::File(name.into()));
        }
    }

    #[test]
    fn a_module_in_the_current_directory_wins_over_the_bundled_script() {
        assert_eq!(
            with(&["oltp_read_write.lua"], "oltp_read_write"),
            Script::Module("oltp_read_write".into())
        );
    }

    #[test]
    fn other_names_are_left_to_lua() {
        assert_eq!(with(&[], "tpcc"), Script::Module("tpcc".into()));
        assert_eq!(with(&[], "nofile.lua"), Script::Module("nofile.lua".into()));
        assert_eq!(with(&[], "tests/db/oltp.lua"), Script::Legacy("oltp_read_write"));
        assert_eq!(with(&[], "-"), Script::Input);
        assert_eq!(resolve(None, |_| false), Script::Input);
        assert_eq!(with(&[], "cpu"), Script::BuiltIn("cpu"));
    }
}
