//! Which script a name means.

use crate::legacy;
use std::path::Path;

/// Scripts that come with dyno, under sysbench's names: the bundled modules that are not only parts
/// of others.
pub(crate) fn bundled() -> impl Iterator<Item = &'static str> {
    dyno_lua::bundled_names().filter(|name| !["oltp_common", "oltp_tables"].contains(name))
}

/// sysbench's built-in tests. They measure no database.
pub(crate) const BUILT_IN: [&str; 5] = ["fileio", "cpu", "memory", "threads", "mutex"];

/// What a script's name means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Script {
    /// Standard input.
    Input,
    /// A file, by the path as given.
    File(String),
    /// A module that Lua looks for.
    Module(String),
    /// A bundled script that nothing of the user's stands before.
    Bundled {
        name: &'static str,
        /// True when it was named by a path to a file that does not exist.
        is_substitute: bool,
    },
    /// A script of 0.5 that does not exist here; today's script that does its work.
    Legacy(&'static str),
    /// A built-in test of sysbench's, which dyno has not.
    BuiltIn(&'static str),
}

/// Finds out what a script's name means. `exists` says whether a path is there.
///
/// A file always wins. A bundled name is the bundled script unless the current directory has a
/// module of that name, which Lua would find first. A path to nowhere whose file name is a bundled
/// script is the bundled script: tutorials name installation folders of all kinds.
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
    fn bundled_names_are_known_with_and_without_suffix_and_folder() {
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
    fn a_file_of_the_user_wins() {
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
    fn what_is_nothing_else_is_left_to_lua() {
        assert_eq!(with(&[], "tpcc"), Script::Module("tpcc".into()));
        assert_eq!(with(&[], "nofile.lua"), Script::Module("nofile.lua".into()));
        assert_eq!(with(&[], "tests/db/oltp.lua"), Script::Legacy("oltp_read_write"));
        assert_eq!(with(&[], "-"), Script::Input);
        assert_eq!(resolve(None, |_| false), Script::Input);
        assert_eq!(with(&[], "cpu"), Script::BuiltIn("cpu"));
    }
}
