//! A Lua state with sysbench's API.

use crate::context::{Context, ContextGuard, Role};
use crate::environment::{Environment, ScriptSource};
use crate::error::{ErrorKind, ScriptError};
use crate::meter::Meter;
use crate::options::{DeclaredOption, OptionKind, OptionValue};
use crate::report::{Report, ReportHooks};
use crate::sql::Interrupts;
use crate::transfer::TRANSFER_MAX;
use crate::{modules, natives};
use mlua::{
    Function, IntoLua, IntoLuaMulti, LightUserData, Lua, LuaOptions, MultiValue, StdLib, Table,
    Value,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A Lua state. It lives on the thread that loaded it. Calls into the script return the error that
/// it raises; all of them fail when Lua is out of memory.
pub struct State {
    // Dropped before the context that its finalisers use.
    lua: Option<Lua>,
    native: Option<Table>,
    home: RefCell<Option<Box<Context>>>,
    interrupts: Arc<Interrupts>,
}

/// A Lua state with all libraries, including the unsafe ones.
#[expect(unsafe_code, reason = "scripts rely on ffi, debug and C modules, which mlua cannot check")]
fn with_all_libraries() -> mlua::Result<Lua> {
    // Lua's own pcall and xpcall are kept: in mlua's replacements coroutines cannot yield, and
    // recursion ends the process. SAFETY: what a script does with the FFI, the debug library or C
    // modules is its own responsibility, as in sysbench: it runs with the user's privileges. The
    // prelude only casts addresses of our own functions, to their declared types.
    let lua =
        unsafe { Lua::unsafe_new_with(StdLib::NONE, LuaOptions::new().catch_rust_panics(true)) };
    lua.load_std_libs(StdLib::ALL)?;
    Ok(lua)
}

type Result<T> = std::result::Result<T, ScriptError>;

impl State {
    /// Creates a state: libraries, API, then the script's top level.
    ///
    /// # Errors
    /// When the script is not found, has a syntax error, or raises an error at its top level.
    pub fn load(environment: &Arc<Environment>, role: Role) -> Result<Self> {
        let state = Self::open(environment, role)?;
        let entered = ContextGuard::new(&state.home);
        state.run_script(&environment.script)?;
        state.own("top_level_ended")?.call::<()>(())?;
        drop(entered);
        state.collect_garbage();
        Ok(state)
    }

    /// Collects garbage: the remains of loading and preparing would stay for the whole run, because
    /// events rarely produce enough garbage for a collection.
    pub fn collect_garbage(&self) {
        let _entered = ContextGuard::new(&self.home);
        // Errors of a script's own finalisers are ignored.
        let _ = self.own("collect_garbage").map(|collect| collect.call::<()>(()));
    }

    /// A state without its script.
    fn open(environment: &Arc<Environment>, role: Role) -> mlua::Result<Self> {
        let lua = with_all_libraries()?;
        let context = Box::new(Context::new(environment, role));
        let interrupts = Arc::clone(&context.interrupts);
        let transfer = LightUserData(context.transfer.address());
        let native = lua.create_table()?;
        let mut state =
            Self { lua: None, native: None, home: RefCell::new(Some(context)), interrupts };
        let entered = ContextGuard::new(&state.home);
        natives::fill(&lua, &native)?;
        native.set("transfer", transfer)?;
        native.set("transfer_max", TRANSFER_MAX)?;
        native.set("about", about(&lua, environment, role)?)?;
        let (path, cpath) = modules::paths();
        let package: Table = lua.globals().get("package")?;
        match environment.is_alone {
            true => package.set("path", path.as_str())?,
            false => {
                let readable: Vec<&str> =
                    path.split(';').filter(|template| !template.starts_with("./")).collect();
                package.set("path", readable.join(";"))?;
            }
        }
        package.set("cpath", cpath.as_str())?;
        modules::run_prelude(&lua, &native)?;
        drop(entered);
        state.lua = Some(lua);
        state.native = Some(native);
        Ok(state)
    }

    fn lua(&self) -> &Lua {
        self.lua.as_ref().expect("a state has its Lua state until it is dropped")
    }

    fn native(&self) -> &Table {
        self.native.as_ref().expect("a state has its prelude until it is dropped")
    }

    /// A function that the prelude provides for Rust.
    fn own(&self, name: &str) -> Result<Function> {
        Ok(self.native().get(name)?)
    }

    fn run_script(&self, script: &ScriptSource) -> Result<()> {
        let (kind, name, text) = match script {
            ScriptSource::File(path) => ("file", path.to_string_lossy().into_owned(), None),
            ScriptSource::Module(name) => ("module", name.clone(), None),
            ScriptSource::Text { name, text } => {
                ("text", name.clone(), Some(self.lua().create_string(text)?))
            }
        };
        // First everything that is known without executing code, so that the kinds of errors can be
        // distinguished.
        let found: (Value, Option<String>, Option<String>) =
            self.own("find_script")?.call((kind, name.as_str(), text))?;
        match found {
            // `...` is the name of a module and nothing in a script, by which files that can be
            // both decide.
            (Value::Function(chunk), ..) if kind == "module" => {
                self.protected(&chunk, name.as_str()).map(|_| ())
            }
            (Value::Function(chunk), ..) => self.protected(&chunk, ()).map(|_| ()),
            (_, reason, message) => {
                let kind = match reason.as_deref() {
                    Some("syntax") => ErrorKind::Syntax,
                    _ => ErrorKind::NotFound,
                };
                Err(ScriptError::new(kind, message.unwrap_or_default()))
            }
        }
    }

    /// Calls a function of the script; what it raises becomes an error.
    fn protected(&self, function: impl IntoLua, arguments: impl IntoLuaMulti) -> Result<Value> {
        let function = function.into_lua(self.lua())?;
        let mut all = arguments.into_lua_multi(self.lua())?;
        all.push_front(function);
        let mut answers: MultiValue = self.own("pcall")?.call(all)?;
        let is_done = answers.pop_front().and_then(|value| value.as_boolean()).unwrap_or(false);
        let value = answers.pop_front().unwrap_or(Value::Nil);
        if is_done { Ok(value) } else { Err(self.script_error(&value)) }
    }

    /// The text of a raised value.
    fn script_error(&self, value: &Value) -> ScriptError {
        let message = match value {
            Value::String(text) => text.to_string_lossy(),
            Value::Integer(_) | Value::Number(_) => value.to_string().unwrap_or_default(),
            Value::Table(table) => {
                match (table.get("sql_errno"), table.get("sql_state"), table.get("sql_errmsg")) {
                    // A restart outside the event loop.
                    (
                        Ok(Some::<f64>(errno)),
                        Ok(Some::<String>(state)),
                        Ok(Some::<String>(message)),
                    ) => {
                        let place: String = table.get("place").unwrap_or_default();
                        let message = format!(
                            "{place}SQL error, errno = {errno}, state = '{state}': {message}"
                        );
                        return ScriptError::new(
                            ErrorKind::FatalSql,
                            without_own_location(&message),
                        );
                    }
                    _ => NOT_A_STRING.to_owned(),
                }
            }
            Value::Error(error) => words(error),
            _ => NOT_A_STRING.to_owned(),
        };
        let message = without_own_location(&message);
        let last = crate::context::with_some(|context| context.last_error.take()).flatten();
        let kind = match last {
            Some((kind, text)) if message.ends_with(&text) => kind,
            _ => ErrorKind::Runtime,
        };
        ScriptError::new(kind, message)
    }

    /// The script's table of options, sorted by name; `None` when it declared none.
    ///
    /// # Errors
    /// When the table is malformed.
    pub fn declared_options(&self) -> Result<Option<Vec<DeclaredOption>>> {
        let _entered = ContextGuard::new(&self.home);
        let options = match self.native().get::<Table>("cmdline")?.get("options")? {
            Value::Nil => return Ok(None),
            Value::Table(options) => options,
            other => {
                let kind = if other.is_number() || other.is_integer() {
                    "number"
                } else {
                    other.type_name()
                };
                let message = format!("wrong type for sysbench.cmdline.options: {kind}");
                return Err(ScriptError::new(ErrorKind::Runtime, message));
            }
        };
        let mut declared = Vec::new();
        for pair in options.pairs::<Value, Value>() {
            declared.push(declared_option(pair?)?);
        }
        declared.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Some(declared))
    }

    /// Fills `sysbench.opt`. The options named in `globals` also become global variables, except
    /// where there is a function of that name: scripts for 0.5, which declare no options, read them
    /// so.
    pub fn set_options(
        &self,
        values: &BTreeMap<String, OptionValue>,
        globals: &[String],
    ) -> Result<()> {
        let _entered = ContextGuard::new(&self.home);
        let lua = self.lua();
        let table = lua.create_table()?;
        for (name, value) in values {
            let value = match value {
                OptionValue::Boolean(value) => Value::Boolean(*value),
                OptionValue::Number(value) => Value::Number(*value),
                OptionValue::Text(value) => Value::String(lua.create_string(value)?),
                OptionValue::List(values) => {
                    Value::Table(lua.create_sequence_from(values.iter().map(String::as_str))?)
                }
                OptionValue::Nothing => Value::Nil,
            };
            table.raw_set(name.as_str(), value)?;
        }
        Ok(self.own("set_options")?.call((table, globals))?)
    }

    /// From here on, records which options of `sysbench.opt` are read.
    pub fn watch_options(&self) -> Result<()> {
        let _entered = ContextGuard::new(&self.home);
        Ok(self.own("watch_options")?.call(())?)
    }

    /// Names of the options read since [`Self::watch_options`]; `None` when the script iterated
    /// over all, or nothing was recorded.
    #[must_use]
    pub fn options_read(&self) -> Option<BTreeSet<String>> {
        let _entered = ContextGuard::new(&self.home);
        let read = self.native().get::<Table>("options_read").ok()?;
        let names = read.pairs::<String, Value>().map(|pair| pair.map(|(name, _)| name));
        let names: BTreeSet<String> = names.collect::<mlua::Result<_>>().ok()?;
        (!names.contains("*")).then_some(names)
    }

    /// Whether the custom command of that name in `sysbench.cmdline.commands` runs once in each
    /// worker thread instead of once in the main state; `None` when it has no function.
    #[must_use]
    pub fn is_parallel_command(&self, name: &str) -> Option<bool> {
        let _entered = ContextGuard::new(&self.home);
        self.native()
            .get::<Function>("find_command")
            .and_then(|find| find.call(name))
            .ok()
            .flatten()
    }

    /// Where the function of a command is defined, in `sysbench.cmdline.commands` or as a global:
    /// its chunk and line. Scripts that take it from the same module have the same.
    #[must_use]
    pub fn origin(&self, command: &str) -> Option<(String, usize)> {
        let _entered = ContextGuard::new(&self.home);
        let globals = self.lua().globals();
        let own = || -> mlua::Result<Function> {
            let cmdline = globals.get::<Table>("sysbench")?.get::<Table>("cmdline")?;
            cmdline.get::<Table>("commands")?.get::<Table>(command)?.get(1)
        };
        let info = own().or_else(|_| globals.get::<Function>(command)).ok()?.info();
        Some((info.short_src?, info.line_defined?))
    }

    /// Whether there is a global function of that name.
    #[must_use]
    pub fn has_function(&self, name: &str) -> bool {
        let _entered = ContextGuard::new(&self.home);
        matches!(self.lua().globals().get(name), Ok(Value::Function(_)))
    }

    /// Whether a global of that name is not nil: `init`, `done`, `thread_init` and `thread_done`
    /// are then called, including tables with `__call`.
    #[must_use]
    pub fn has_global(&self, name: &str) -> bool {
        let _entered = ContextGuard::new(&self.home);
        !matches!(self.lua().globals().get(name), Ok(Value::Nil) | Err(_))
    }

    /// Runs a custom command. False when it returned `false`; anything else is success.
    pub fn call_command(&self, name: &str) -> Result<bool> {
        let _entered = ContextGuard::new(&self.home);
        let answer = self.protected(&self.own("call_command")?, name)?;
        Ok(!matches!(answer, Value::Boolean(false)))
    }

    /// Calls a global function (`init`, `done`, `prepare`, `cleanup`, `help`, `thread_init`,
    /// `thread_done`), in a thread with its number as argument.
    ///
    /// # Errors
    /// [`ErrorKind::MissingFunction`] when there is no such function, otherwise what the script
    /// raised.
    pub fn call(&self, name: &str, thread: Option<u32>) -> Result<()> {
        let _entered = ContextGuard::new(&self.home);
        match (self.lua().globals().get(name), thread) {
            (Ok(Value::Nil) | Err(_), _) => Err(ScriptError::new(
                ErrorKind::MissingFunction,
                format!("cannot find the {name}() function"),
            )),
            (Ok(function), Some(thread)) => self.protected(function, thread).map(|_| ()),
            // Functions of the main state get no argument.
            (Ok(function), None) => self.protected(function, ()).map(|_| ()),
        }
    }

    /// From now on events and statements are reported to this meter, including those of
    /// `thread_init`.
    pub fn attach(&self, meter: Box<dyn Meter>) {
        if let Some(context) = self.home.borrow_mut().as_mut() {
            context.meter = meter;
        }
    }

    /// Runs the Lua global `thread_run`: events until the meter ends the loop, or the script does.
    /// Ignored errors restart the event.
    pub fn run_thread(&self, thread: u32) -> Result<()> {
        self.call("thread_run", Some(thread))
    }

    /// True when the script defines its own event loop.
    #[must_use]
    pub fn has_own_loop(&self) -> bool {
        let _entered = ContextGuard::new(&self.home);
        let usual: mlua::Result<Value> = self.native().get("thread_run");
        let found: mlua::Result<Value> = self.lua().globals().get("thread_run");
        !matches!((usual, found), (Ok(usual), Ok(found)) if usual == found)
    }

    /// The reports that the script prints itself.
    #[must_use]
    pub fn report_hooks(&self) -> ReportHooks {
        let has = |report| matches!(self.hook(report), Some(Value::Function(_)));
        ReportHooks { intermediate: has(Report::Intermediate), cumulative: has(Report::Cumulative) }
    }

    fn hook(&self, report: Report) -> Option<Value> {
        let _entered = ContextGuard::new(&self.home);
        let sysbench: Table = self.lua().globals().get("sysbench").ok()?;
        sysbench.get::<Table>("hooks").ok()?.get(report.hook()).ok()
    }

    /// Makes the script print a report of the figures in `stat`, under the names that hooks use.
    ///
    /// # Errors
    /// What the script raised; [`ErrorKind::MissingFunction`] when it has no such hook.
    pub fn report(&self, report: Report, stat: &[(&str, f64)]) -> Result<()> {
        let Some(Value::Function(hook)) = self.hook(report) else {
            return Err(ScriptError::new(
                ErrorKind::MissingFunction,
                "the script has no such report hook",
            ));
        };
        let _entered = ContextGuard::new(&self.home);
        let table = self.lua().create_table_from(stat.iter().copied())?;
        self.protected(&hook, table).map(|_| ())
    }

    /// A handle that ends blocking calls of this state's connections.
    #[must_use]
    pub fn interrupter(&self) -> Arc<Interrupts> {
        Arc::clone(&self.interrupts)
    }

    /// Size of the Lua heap in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.lua().used_memory()
    }
}

impl Drop for State {
    fn drop(&mut self) {
        let entered = ContextGuard::new(&self.home);
        // Finalisers run now, including those of scripts.
        self.native = None;
        self.lua = None;
        crate::context::with((), |context| {
            context.collect();
            context.sql.close_all();
        });
        drop(entered);
    }
}

/// The text of errors without one.
const NOT_A_STRING: &str = "(not a string)";

/// A message without the position of the event loop: an error raised with level 2 in `event` or a
/// hook has the position of its caller, which is not in the script.
fn without_own_location(message: &str) -> &str {
    let rest = message.strip_prefix("[sysbench.events]:").and_then(|rest| rest.split_once(": "));
    rest.map_or(message, |(_, text)| text)
}

/// Errors of the prelude, or of memory.
impl From<mlua::Error> for ScriptError {
    fn from(error: mlua::Error) -> Self {
        Self::new(ErrorKind::Runtime, words(&error))
    }
}

fn words(error: &mlua::Error) -> String {
    match error {
        mlua::Error::RuntimeError(message) => message.lines().next().unwrap_or_default().to_owned(),
        other => other.to_string(),
    }
}

/// The values for the table `sysbench`.
fn about(lua: &Lua, environment: &Environment, role: Role) -> mlua::Result<Table> {
    let about = lua.create_table()?;
    about.set(
        "tid",
        match role {
            Role::Main => 0,
            Role::Thread(thread) => thread,
            Role::Reporter => environment.threads,
        },
    )?;
    about.set("threads", environment.threads)?;
    about.set("version", environment.version.as_str())?;
    about.set("version_string", environment.version_string.as_str())?;
    about.set("command", environment.command.as_deref())?;
    let script = match &environment.script {
        ScriptSource::File(path) => path.to_string_lossy().into_owned(),
        ScriptSource::Module(name) | ScriptSource::Text { name, .. } => name.clone(),
    };
    about.set("script_path", script)?;
    about.set("alone", environment.is_alone)?;
    let is_run = environment.command.as_deref() == Some("run");
    about.set("running", is_run && matches!(role, Role::Thread(_)))?;
    Ok(about)
}

/// One entry of `sysbench.cmdline.options`.
fn declared_option((name, entry): (Value, Value)) -> mlua::Result<DeclaredOption> {
    let Value::String(name) = name else {
        let message = "wrong table structure in sysbench.cmdline.options: a name is no string";
        return Err(mlua::Error::RuntimeError(message.to_owned()));
    };
    let name = name.to_string_lossy();
    let wrong = |what: &str| mlua::Error::RuntimeError(format!("{what} for option {name}"));
    let Value::Table(entry) = entry else { return Err(wrong("wrong type")) };
    let description = match entry.get(1)? {
        Value::Nil => return Err(wrong("nil description")),
        value => value.to_string()?,
    };
    let default = match entry.get(2)? {
        Value::Nil => OptionValue::Nothing,
        Value::Boolean(value) => OptionValue::Boolean(value),
        Value::Integer(value) => OptionValue::Number(value as f64),
        Value::Number(value) => OptionValue::Number(value),
        Value::String(value) => OptionValue::Text(value.to_string_lossy()),
        Value::Table(values) => OptionValue::List(
            values
                .sequence_values::<Value>()
                .map(|value| value?.to_string())
                .collect::<mlua::Result<_>>()?,
        ),
        _ => return Err(wrong("unsupported default")),
    };
    let kind = match entry.get(3)? {
        Value::Nil => match &default {
            OptionValue::Boolean(_) => OptionKind::Boolean,
            OptionValue::Number(_) => OptionKind::Double,
            OptionValue::List(_) => OptionKind::List,
            OptionValue::Text(_) | OptionValue::Nothing => OptionKind::Text,
        },
        // LuaJIT may represent an integer as either.
        value => {
            match value
                .as_integer()
                .or_else(|| value.as_f64().map(|value| value as i64))
                .unwrap_or(-1)
            {
                1 => OptionKind::Boolean,
                2 => OptionKind::Integer,
                3 => OptionKind::Size,
                4 => OptionKind::Double,
                5 => OptionKind::Text,
                6 => OptionKind::List,
                7 => OptionKind::File,
                _ => return Err(wrong("unknown type")),
            }
        }
    };
    Ok(DeclaredOption { name: name.replace('-', "_"), description, default, kind })
}
