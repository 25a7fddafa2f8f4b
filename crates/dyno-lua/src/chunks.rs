//! Lua sources, each compiled once per run of the program: the first state that loads a source
//! provides its bytecode to the others.
//!
//! Compiling in every state would cost time, and memory that the compiler needs only briefly but
//! cannot return. Bytecode keeps names and line numbers, so errors still refer to the script. A
//! file is read on every load: one that has changed is compiled again.

use dyno_files::{SCRIPT_MAX, reason};
use dyno_model::sync::lock;
use mlua::{Function, Lua};
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A source with its bytecode.
#[derive(Debug)]
struct Compiled {
    source: Box<[u8]>,
    code: Vec<u8>,
}

/// The sources of a run, by their names in error messages (`@` and a path, or `=` and a title).
#[derive(Debug, Default)]
pub(crate) struct Chunks(Mutex<HashMap<String, Arc<Compiled>>>);

impl Chunks {
    /// A source as a function of this state.
    ///
    /// # Errors
    /// When it has a syntax error.
    pub(crate) fn load(&self, lua: &Lua, name: &str, source: &[u8]) -> mlua::Result<Function> {
        let known = lock(&self.0).get(name).map(Arc::clone);
        if let Some(known) = known
            && *known.source == *source
        {
            return lua.load(&known.code[..]).set_name(name).into_function();
        }
        let function = lua.load(source).set_name(name).into_function()?;
        let compiled = Arc::new(Compiled { source: source.into(), code: function.dump(false) });
        lock(&self.0).insert(name.to_owned(), compiled);
        Ok(function)
    }

    /// The sources that have a path.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let all = lock(&self.0);
        let file = |(name, it): (&String, &Arc<Compiled>)| {
            Some((name.strip_prefix('@')?.to_owned(), it.source.to_vec()))
        };
        all.iter().filter_map(file).collect()
    }
}

/// Why a file could not be read as Lua.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It cannot be opened.
    Missing(String),
    Unreadable(String),
}

/// A file's content; one of `given` takes precedence. Error messages equal those of Lua.
pub(crate) fn read(path: &[u8], given: &BTreeMap<String, Vec<u8>>) -> Result<Vec<u8>, Unread> {
    let name = String::from_utf8_lossy(path);
    if let Some(text) = given.get(&*name) {
        return Ok(text.clone());
    }
    dyno_files::read(Path::new(OsStr::from_bytes(path)), SCRIPT_MAX).map_err(|error| {
        match error.kind() {
            ErrorKind::InvalidInput | ErrorKind::FileTooLarge | ErrorKind::IsADirectory => {
                Unread::Unreadable(format!("cannot read {name}: {}", reason(&error)))
            }
            _ => Unread::Missing(format!("{name}: {}", reason(&error))),
        }
    })
}

/// Finds the file of a module by Lua's rules: `?` is replaced in each template of `path`, and the
/// first file that is given or can be opened is used. On failure returns the searched paths in
/// Lua's format. Lua's own search takes several pages of stack, which every thread would keep.
pub(crate) fn search(
    name: &[u8],
    path: &[u8],
    given: &BTreeMap<String, Vec<u8>>,
) -> Result<Vec<u8>, Vec<u8>> {
    let name: Vec<u8> = name.iter().map(|byte| if *byte == b'.' { b'/' } else { *byte }).collect();
    let mut tried = Vec::new();
    for template in path.split(|byte| *byte == b';').filter(|template| !template.is_empty()) {
        let file = template.split(|byte| *byte == b'?').collect::<Vec<_>>().join(&name[..]);
        let is_given = given.contains_key(&*String::from_utf8_lossy(&file));
        if is_given || dyno_files::open(Path::new(OsStr::from_bytes(&file)), SCRIPT_MAX).is_ok() {
            return Ok(file);
        }
        tried.extend_from_slice(b"\n\tno file '");
        tried.extend_from_slice(&file);
        tried.push(b'\'');
    }
    Err(tried)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_not_accepted_as_a_script() {
        let Err(Unread::Unreadable(message)) = read(b"/dev/zero", &BTreeMap::new()) else {
            panic!("it has no end")
        };
        assert_eq!(message, "cannot read /dev/zero: a device, not a regular file");
    }

    #[test]
    fn bytecode_is_reused_and_a_changed_source_is_recompiled() {
        let chunks = Chunks::default();
        let error_of = |source: &str| {
            let lua = Lua::new();
            let fails: Function =
                chunks.load(&lua, "@some.lua", source.as_bytes()).unwrap().call(()).unwrap();
            lua.load("return select(2, pcall(...))").call::<String>(fails).unwrap()
        };
        let source =
            "#!/usr/bin/env sysbench\nlocal function fails()\n  error('so')\nend\nreturn fails";
        assert_eq!(error_of(source), "some.lua:3: so");
        let known = || Arc::clone(&chunks.0.lock().unwrap()["@some.lua"]);
        let first = known();
        assert_eq!(error_of(source), "some.lua:3: so", "names and lines survive");
        assert!(Arc::ptr_eq(&first, &known()), "compiled once");
        assert_eq!(error_of(&source.replace("'so'", "'or so'")), "some.lua:3: or so");
    }

    #[test]
    fn modules_are_searched_as_in_lua() {
        let folder = tempfile::tempdir().unwrap();
        let path = |file: &str| folder.path().join(file).to_string_lossy().into_owned();
        std::fs::create_dir(path("a")).unwrap();
        std::fs::write(path("a/b.lua"), "return 1").unwrap();
        let templates = format!("{};{}", path("?/init.lua"), path("?.lua"));
        let none = BTreeMap::new();
        assert_eq!(search(b"a.b", templates.as_bytes(), &none), Ok(path("a/b.lua").into_bytes()));
        let given = BTreeMap::from([(path("a/b/init.lua"), b"return 2".to_vec())]);
        let found = search(b"a.b", templates.as_bytes(), &given).expect("it is given");
        assert_eq!(found, path("a/b/init.lua").into_bytes(), "though it does not exist");
        assert!(matches!(read(&found, &given), Ok(text) if text == b"return 2"));
        let theirs: (Option<String>, String) = Lua::new()
            .load("return package.searchpath(...)")
            .call(("a.c", templates.as_str()))
            .unwrap();
        let ours = search(b"a.c", templates.as_bytes(), &none)
            .map_err(|tried| String::from_utf8(tried).unwrap());
        assert_eq!(ours, Err(theirs.1));
    }
}
