//! Built-in Lua sources: the prelude, which implements the API, and the bundled scripts and
//! modules.

use mlua::{Lua, Table};
use std::sync::OnceLock;

/// The parts of the prelude, in the order in which they run.
const PRELUDE: [(&str, &str); 8] = [
    ("nesting", include_str!("../lua/prelude/nesting.lua")),
    ("core", include_str!("../lua/prelude/core.lua")),
    ("cmdline", include_str!("../lua/prelude/cmdline.lua")),
    ("rand", include_str!("../lua/prelude/rand.lua")),
    ("sql", include_str!("../lua/prelude/sql.lua")),
    ("events", include_str!("../lua/prelude/events.lua")),
    ("modules", include_str!("../lua/prelude/modules.lua")),
    ("lazy", include_str!("../lua/prelude/lazy.lua")),
];

/// Parts that are executed on first use by a script.
const LAZY: [(&str, &str); 10] = [
    ("sql_rest", include_str!("../lua/prelude/sql_rest.lua")),
    ("foreign", include_str!("../lua/prelude/foreign.lua")),
    ("rand_rest", include_str!("../lua/prelude/rand_rest.lua")),
    ("events_rest", include_str!("../lua/prelude/events_rest.lua")),
    ("watching", include_str!("../lua/prelude/watching.lua")),
    ("commands", include_str!("../lua/prelude/commands.lua")),
    ("legacy", include_str!("../lua/prelude/legacy.lua")),
    ("reports", include_str!("../lua/prelude/reports.lua")),
    ("histogram", include_str!("../lua/prelude/histogram.lua")),
    ("help", include_str!("../lua/prelude/help.lua")),
];

/// Scripts and modules that `require` finds without a file.
const BUNDLED: [(&str, &str); 13] = [
    ("bulk_insert", include_str!("../lua/bundled/bulk_insert.lua")),
    ("oltp_common", include_str!("../lua/bundled/oltp_common.lua")),
    ("oltp_delete", include_str!("../lua/bundled/oltp_delete.lua")),
    ("oltp_insert", include_str!("../lua/bundled/oltp_insert.lua")),
    ("oltp_point_select", include_str!("../lua/bundled/oltp_point_select.lua")),
    ("oltp_read_only", include_str!("../lua/bundled/oltp_read_only.lua")),
    ("oltp_read_write", include_str!("../lua/bundled/oltp_read_write.lua")),
    ("oltp_tables", include_str!("../lua/bundled/oltp_tables.lua")),
    ("oltp_update_index", include_str!("../lua/bundled/oltp_update_index.lua")),
    ("oltp_update_non_index", include_str!("../lua/bundled/oltp_update_non_index.lua")),
    ("oltp_write_only", include_str!("../lua/bundled/oltp_write_only.lua")),
    ("select_random_points", include_str!("../lua/bundled/select_random_points.lua")),
    ("select_random_ranges", include_str!("../lua/bundled/select_random_ranges.lua")),
];

/// The source of a bundled script or module.
#[must_use]
pub fn bundled(name: &str) -> Option<&'static str> {
    BUNDLED.iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
}

/// Names of the bundled scripts and modules, sorted.
pub fn bundled_names() -> impl Iterator<Item = &'static str> {
    BUNDLED.iter().map(|(name, _)| *name)
}

/// Compiled once for all states; without line numbers, because errors refer to the script.
type Compiled = Vec<(&'static str, Vec<u8>)>;

fn compiled(
    lua: &Lua,
    sources: &[(&'static str, &'static str)],
    cache: &'static OnceLock<Compiled>,
) -> mlua::Result<&'static Compiled> {
    if let Some(compiled) = cache.get() {
        return Ok(compiled);
    }
    let compile = |(name, source): &(&'static str, &'static str)| {
        let function = lua.load(*source).set_name(format!("=[sysbench.{name}]")).into_function()?;
        Ok((*name, function.dump(true)))
    };
    let compiled: Compiled = sources.iter().map(compile).collect::<mlua::Result<_>>()?;
    Ok(cache.get_or_init(|| compiled))
}

/// Executes the prelude. `native` holds functions and values of Rust, and receives the functions
/// that Rust calls.
pub(crate) fn run_prelude(lua: &Lua, native: &Table) -> mlua::Result<()> {
    static CACHE: OnceLock<Compiled> = OnceLock::new();
    for (name, code) in compiled(lua, &PRELUDE, &CACHE)? {
        lua.load(&code[..]).set_name(format!("=[sysbench.{name}]")).call::<()>(native)?;
    }
    Ok(())
}

/// `package.path` and `package.cpath` as in sysbench; `;;` in `LUA_PATH` and `LUA_CPATH` stands for
/// these defaults.
pub(crate) fn paths() -> &'static (String, String) {
    static PATHS: OnceLock<(String, String)> = OnceLock::new();
    PATHS.get_or_init(|| {
        let home = std::env::var("HOME").unwrap_or_default();
        let rocks = format!("{home}/.luarocks");
        let path = format!(
            "./?.lua;./?/init.lua;./src/lua/?.lua;{rocks}/share/lua/5.1/?.lua;{rocks}/share/lua/5.1/?/init.lua;{rocks}/share/lua/?.lua;{rocks}/share/lua/?/init.lua;/usr/local/share/lua/5.1/?.lua;/usr/share/lua/5.1/?.lua;/usr/share/sysbench/?.lua;"
        );
        let cpath = format!(
            "./?.so;{rocks}/lib/lua/5.1/?.so;{rocks}/lib/lua/?.so;/usr/local/lib/lua/5.1/?.so;/usr/lib/lua/5.1/?.so;"
        );
        let configured = |name: &str, usual: String| match std::env::var(name) {
            Ok(value) => value.replace(";;", &format!(";{usual};")),
            Err(_) => usual,
        };
        (configured("LUA_PATH", path), configured("LUA_CPATH", cpath))
    })
}

/// Executes a part of the prelude that not every script needs.
pub(crate) fn run_lazy(lua: &Lua, native: &Table, part: &str) -> mlua::Result<()> {
    static CACHE: OnceLock<Compiled> = OnceLock::new();
    for (name, code) in compiled(lua, &LAZY, &CACHE)? {
        if *name == part {
            lua.load(&code[..]).set_name(format!("=[sysbench.{name}]")).call::<()>(native)?;
        }
    }
    Ok(())
}
