//! Rust functions with text arguments or results. Lua calls them through its API, not compiled, at
//! some 200 nanoseconds each.
//!
//! None of them raises an error. They return errors as those of `scalars` do, and the prelude
//! raises them.

use crate::chunks::{self, Unread};
use crate::context::{ask, with, with_some};
use crate::environment::LogLevel;
use crate::error::ErrorKind;
use crate::sql::{CallContext, Done, FAILED, Sql, SqlError};
use crate::{modules, scalars};
use dyno_model::engine::Engine;
use mlua::{Function, IntoLuaMulti, LightUserData, Lua, LuaString, MultiValue, Table, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A number, or an invalid handle.
fn as_number(value: &Value) -> f64 {
    match value {
        Value::Integer(number) => *number as f64,
        Value::Number(number) => *number,
        _ => f64::NAN,
    }
}

/// Bytes of a string; a number in Lua's format.
fn bytes(lua: &Lua, value: Value) -> Option<LuaString> {
    match value {
        Value::String(text) => Some(text),
        Value::Integer(_) | Value::Number(_) => lua.coerce_string(value).ok().flatten(),
        _ => None,
    }
}

fn driver(driver_number: f64) -> Option<Engine> {
    Engine::ALL.get(driver_number as usize).copied()
}

/// Calls an operation with a text; an error when there is none.
fn with_text(
    lua: &Lua,
    text: Value,
    call: impl FnOnce(&mut Sql, &mut CallContext<'_>, &[u8]) -> Done,
) -> mlua::Result<f64> {
    let text = bytes(lua, text);
    Ok(text.map_or(FAILED, |text| ask(|sql, around, _| call(sql, around, &text.as_bytes()))))
}

/// Adds the functions that most scripts use to a table.
pub(crate) fn fill(lua: &Lua, native: &Table) -> mlua::Result<()> {
    let set = |name: &str, function: mlua::Result<Function>| native.set(name, function?);

    set(
        "address",
        lua.create_function(|_, name: LuaString| {
            let found = scalars::find(&name.as_bytes());
            Ok((found.map(|(kind, _)| kind), found.map(|(_, pointer)| LightUserData(pointer))))
        }),
    )?;
    set("driver", lua.create_function(|_, name: Value| Ok(find_driver(&name))))?;
    set(
        "connect",
        lua.create_function(|_, kind: f64| {
            Ok(with(FAILED, |context| {
                context.collect();
                driver(kind).map_or(FAILED, |driver| {
                    context.ask(|sql, around, _| sql.connect(around, driver))
                })
            }))
        }),
    )?;
    set(
        "query",
        lua.create_function(|lua, (link, text): (Value, Value)| {
            with_text(lua, text, |sql, around, text| sql.query(around, as_number(&link), text))
        }),
    )?;
    set(
        "prepare",
        lua.create_function(|lua, (link, text): (Value, Value)| {
            let Some(text) = bytes(lua, text) else { return Ok(FAILED) };
            Ok(with(FAILED, |context| {
                context.collect();
                let text = text.to_string_lossy();
                context.ask(|sql, around, _| sql.prepare(around, as_number(&link), &text))
            }))
        }),
    )?;
    set(
        "parameter",
        lua.create_function(|_, (statement, kind, length): (f64, Value, Option<f64>)| {
            Ok(ask(|sql, _, _| sql.parameter(statement, as_number(&kind), length)))
        }),
    )?;
    set(
        "bind",
        lua.create_function(|_, (statement, parameters): (f64, mlua::Variadic<Value>)| {
            let parameters: Vec<f64> = parameters.iter().map(as_number).collect();
            Ok(ask(|sql, _, _| sql.bind(statement, &parameters)))
        }),
    )?;
    set(
        "set_text",
        lua.create_function(|lua, (parameter, text): (f64, Value)| {
            with_text(lua, text, |sql, _, text| sql.set_text(parameter, text))
        }),
    )?;
    set(
        "pattern",
        lua.create_function(|lua, text: Value| {
            with_text(lua, text, |sql, _, text| Ok(sql.pattern(text)))
        }),
    )?;
    fill_others(lua, native)
}

/// The second half: random texts, modules.
fn fill_others(lua: &Lua, native: &Table) -> mlua::Result<()> {
    let set = |name: &str, function: mlua::Result<Function>| native.set(name, function?);

    set(
        "random_text",
        lua.create_function(|lua, pattern: Value| {
            let Some(pattern) = bytes(lua, pattern) else { return Ok(Value::Nil) };
            let mut text = Vec::new();
            with((), |context| context.draws.fill(&pattern.as_bytes(), &mut text));
            lua.create_string(&text).map(Value::String)
        }),
    )?;
    set("load_bundled", lua.create_function(|lua, name: LuaString| load_bundled(lua, &name)))?;
    set("load_given", lua.create_function(|lua, name: LuaString| load_given(lua, &name)))?;
    set(
        "load_text",
        lua.create_function(|lua, (name, text): (String, LuaString)| {
            load(lua, &name, &text.as_bytes())
        }),
    )?;
    set("load_file", lua.create_function(|lua, path: LuaString| load_file(lua, &path.as_bytes())))?;
    set(
        "search",
        lua.create_function(|lua, (name, path): (LuaString, LuaString)| {
            let environment = with_some(|context| Arc::clone(&context.environment));
            let none = BTreeMap::new();
            let given = environment.as_ref().map_or(&none, |environment| &environment.files);
            match chunks::search(&name.as_bytes(), &path.as_bytes(), given) {
                Ok(file) => Ok((Some(lua.create_string(file)?), None)),
                Err(tried) => Ok((None, Some(lua.create_string(tried)?))),
            }
        }),
    )?;
    let own = native.clone();
    set(
        "lazy",
        lua.create_function(move |lua, part: String| {
            match part.as_str() {
                "sql_rest" => fill_rest(lua, &own)?,
                "commands" => own.set("argv", lua.create_function(|lua, ()| argv(lua))?)?,
                "rand_rest" => own.set("random_length", lua.create_function(random_length)?)?,
                _ => {}
            }
            modules::run_lazy(lua, &own, &part)
        }),
    )
}

/// `sysbench.cmdline.argv`, from 0.
fn argv(lua: &Lua) -> mlua::Result<Table> {
    let argv = lua.create_table()?;
    let environment = with_some(|context| Arc::clone(&context.environment));
    for (at, argument) in
        environment.iter().flat_map(|environment| environment.argv.iter()).enumerate()
    {
        argv.set(at, argument.as_str())?;
    }
    Ok(argv)
}

fn random_length(lua: &Lua, (low, high): (f64, f64)) -> mlua::Result<LuaString> {
    let mut text = Vec::new();
    with((), |context| context.draws.vary(low, high, &mut text));
    lua.create_string(&text)
}

/// Rarely used functions, created on first use: results, errors, multi-row inserts.
fn fill_rest(lua: &Lua, native: &Table) -> mlua::Result<()> {
    let set = |name: &str, function: mlua::Result<Function>| native.set(name, function?);

    set("fetch", lua.create_function(|lua, (link, result): (f64, f64)| fetch(lua, link, result)))?;
    set("problem", lua.create_function(|lua, ()| error(lua)))?;
    set("last_error", lua.create_function(|lua, link: f64| last_error(lua, link)))?;
    set(
        "bulk_init",
        lua.create_function(|lua, (link, text): (f64, Value)| {
            with_text(lua, text, |sql, _, text| sql.bulk_init(link, text))
        }),
    )?;
    set(
        "bulk_next",
        lua.create_function(|lua, (link, text): (f64, Value)| {
            with_text(lua, text, |sql, around, text| sql.bulk_next(around, link, text))
        }),
    )
}

/// A function; otherwise the reason (`missing` or `syntax`) and a message.
type Loaded = (Option<Function>, Option<&'static str>, Option<String>);

/// Loads a source as a function, from the bytecode shared by all states.
fn load(lua: &Lua, name: &str, source: &[u8]) -> mlua::Result<Loaded> {
    let environment = with_some(|context| Arc::clone(&context.environment));
    let loaded = match environment {
        Some(environment) => environment.shared.chunks.load(lua, name, source),
        None => lua.load(source).set_name(name).into_function(),
    };
    match loaded {
        Ok(function) => Ok((Some(function), None, None)),
        Err(mlua::Error::SyntaxError { message, .. }) => Ok((None, Some("syntax"), Some(message))),
        Err(error) => Err(error),
    }
}

fn load_file(lua: &Lua, path: &[u8]) -> mlua::Result<Loaded> {
    let environment = with_some(|context| Arc::clone(&context.environment));
    let none = BTreeMap::new();
    match chunks::read(path, environment.as_ref().map_or(&none, |it| &it.files)) {
        Ok(text) => load(lua, &format!("@{}", String::from_utf8_lossy(path)), &text),
        Err(Unread::Missing(message)) => Ok((None, Some("missing"), Some(message))),
        Err(Unread::Unreadable(message)) => Ok((None, Some("syntax"), Some(message))),
    }
}

/// A bundled script or module; nothing when there is none of that name.
fn load_bundled(lua: &Lua, name: &LuaString) -> mlua::Result<Option<Function>> {
    let name = name.to_string_lossy();
    match modules::bundled(&name) {
        Some(source) => Ok(load(lua, &format!("@{name}.lua"), source.as_bytes())?.0),
        None => Ok(None),
    }
}

/// A module provided by the environment.
fn load_given(lua: &Lua, name: &LuaString) -> mlua::Result<Option<Function>> {
    let name = name.to_string_lossy();
    let source = with_some(|context| context.environment.modules.get(&name).cloned()).flatten();
    let Some(source) = source else { return Ok(None) };
    let file = format!("{name}.lua");
    let (chunk, _, message) = load(lua, &format!("={file}"), source.as_bytes())?;
    match chunk {
        Some(chunk) => Ok(Some(chunk)),
        // On an error `require` would continue to search; the error must be reported instead.
        None => lua
            .load("local message = ... return function() error(message, 0) end")
            .call(message)
            .map(Some),
    }
}

/// The number and name of a driver; nothing, and a log line, when there is no such driver.
fn find_driver(name: &Value) -> (Option<usize>, Option<&'static str>) {
    let name = match name {
        Value::String(name) => Some(name.to_string_lossy()),
        Value::Nil => None,
        other => Some(other.to_string().unwrap_or_default()),
    };
    let found = with_some(|context| {
        let environment = &context.environment;
        let name = name.as_deref().unwrap_or(&environment.databases.driver);
        let driver = Engine::of_sysbench(name);
        match driver {
            None if name.is_empty() => {
                let text =
                    "Multiple DB drivers are available. Use --db-driver=name to specify which one \
                     to use";
                environment.log.log(LogLevel::Fatal, text);
            }
            Some(_) => environment.shared.uses_sql.store(true, Ordering::Relaxed),
            None => environment.log.log(LogLevel::Fatal, &format!("invalid database driver name: \
                '{name}'")),
        }
        driver
    })
    .flatten();
    (found.map(|driver| driver as usize), found.map(|driver| driver.sysbench().name))
}

/// The number of fields and the fields of the next row; nothing when there are no more rows, a
/// negative number on an error.
fn fetch(lua: &Lua, link: f64, result: f64) -> mlua::Result<MultiValue> {
    let mut fields: Vec<Option<Vec<u8>>> = Vec::new();
    let take = |field: Option<&[u8]>| fields.push(field.map(<[u8]>::to_vec));
    let done = ask(|sql, _, _| sql.fetch(link, result, take));
    if done <= 0.0 {
        return if done < 0.0 { done.into_lua_multi(lua) } else { Ok(MultiValue::new()) };
    }
    let mut values = Vec::with_capacity(fields.len() + 1);
    values.push(Value::Number(fields.len() as f64));
    for field in fields {
        values.push(match field {
            Some(text) => Value::String(lua.create_string(&text)?),
            None => Value::Nil,
        });
    }
    Ok(MultiValue::from_vec(values))
}

/// The error of the last operation: its message for misuse of the API; otherwise also the verdict
/// (1: the event may be retried, 2: fatal), error number, SQLSTATE, the database's message, the
/// statement, and the connection's handle.
fn error(lua: &Lua) -> mlua::Result<MultiValue> {
    let found = with_some(|context| {
        let error = context.sql.error.take();
        match error.as_deref() {
            Some(SqlError::Refused(_, refusal)) => {
                context.last_error = Some((ErrorKind::FatalSql, sql_error(refusal)));
            }
            Some(SqlError::Misuse(message)) if message.contains("connect") => {
                context.last_error = Some((ErrorKind::Database, message.clone()));
            }
            _ => {}
        }
        error
    });
    match found.flatten().map(|error| *error) {
        None => "invalid arguments".into_lua_multi(lua),
        Some(SqlError::Misuse(message)) => message.into_lua_multi(lua),
        Some(SqlError::Refused(link, refusal)) => {
            let verdict = refusal.verdict as u8;
            let message = sql_error(&refusal);
            (message, verdict, refusal.errno, refusal.state, refusal.message, refusal.query, link)
                .into_lua_multi(lua)
        }
    }
}

/// A fatal error in sysbench's format.
fn sql_error(refusal: &crate::sql::Refusal) -> String {
    format!(
        "SQL error, errno = {}, state = '{}': {}",
        refusal.errno, refusal.state, refusal.message
    )
}

/// Verdict, error number, SQLSTATE and message of a connection's last error; nothing when there was
/// none.
fn last_error(lua: &Lua, link: f64) -> mlua::Result<MultiValue> {
    let last = with_some(|context| context.sql.last_error(link).cloned()).flatten();
    match last {
        None => Ok(MultiValue::new()),
        Some(refusal) => {
            let verdict = refusal.verdict as u8;
            (verdict, refusal.errno, refusal.state, refusal.message).into_lua_multi(lua)
        }
    }
}
