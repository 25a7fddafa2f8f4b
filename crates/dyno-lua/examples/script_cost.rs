//! Measures the client-side cost of scripts: `cargo run --release -p dyno-lua --example
//! script_cost`.
//!
//! There is no server, so only Lua and this crate are measured.
#![expect(clippy::print_stdout, reason = "the table is all that it is for")]

use dyno_lua::{Environment, Meter, OptionValue, Role, ScriptSource, State, StatementKind};
use dyno_model::counters::{OutcomeClass, ScriptCounter};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// Allows a number of events and counts statements.
struct Budget {
    left: u64,
    statements: u64,
}

impl Meter for Budget {
    fn more_events(&mut self) -> bool {
        let goes_on = self.left > 0;
        self.left = self.left.saturating_sub(1);
        goes_on
    }

    fn statement(&mut self, _kind: StatementKind, _class: OutcomeClass, _start: u64, _end: u64) {
        self.statements += 1;
    }

    fn counter(&mut self, counter: ScriptCounter) -> u64 {
        if counter == ScriptCounter::Others { self.statements } else { 0 }
    }
}

/// The measured scripts: name, script, statements per event.
const SCRIPTS: [(&str, &str, u64); 7] = [
    ("empty event", "function event() end", 0),
    ("sysbench.rand.default", "function event() sysbench.rand.default(1, 10000) end", 0),
    (
        "sysbench.rand.string, 20 characters",
        "function event() sysbench.rand.string('##########@@@@@@@@@@') end",
        0,
    ),
    ("con:query", "function event() con:query('SELECT 1') end", 1),
    (
        "stmt:execute with an integer",
        "function event() number:set(sysbench.rand.default(1, 10000)) by_number:execute() end",
        1,
    ),
    (
        "stmt:execute with a random string",
        "function event() text:set_rand_str('###########-###########') by_text:execute() end",
        1,
    ),
    (
        "transaction of 20 statements",
        "function event() for i = 1, 20 do number:set(i) by_number:execute() end end",
        20,
    ),
];

const PREPARE: &str = "
function thread_init()
  drv = sysbench.sql.driver()
  con = drv:connect()
  by_number = con:prepare('SELECT c FROM sbtest1 WHERE id=?')
  number = by_number:bind_create(sysbench.sql.type.INT)
  by_number:bind_param(number)
  by_text = con:prepare('UPDATE sbtest1 SET c=? WHERE id=1')
  text = by_text:bind_create(sysbench.sql.type.VARCHAR, 120)
  by_text:bind_param(text)
end
";

fn environment(script: ScriptSource) -> Arc<Environment> {
    let mut environment = Environment::new(script);
    environment.command = Some("run".to_owned());
    environment.databases.dry_run = true;
    Arc::new(environment)
}

fn measure(script: &str, events: u64) -> f64 {
    let source = ScriptSource::Text {
        name: "cost.lua".to_owned(),
        text: format!("{PREPARE}{script}").into_bytes(),
    };
    let state = State::load(&environment(source), Role::Thread(0)).expect("the script loads");
    state.call("thread_init", Some(0)).expect("a dry run connects");
    state.attach(Box::new(Budget { left: events / 10, statements: 0 }));
    state.run_thread(0).expect("events succeed");
    state.attach(Box::new(Budget { left: events, statements: 0 }));
    let start = Instant::now();
    state.run_thread(0).expect("events succeed");
    start.elapsed().as_nanos() as f64 / events as f64
}

/// Resident memory of this process, in KiB.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("the line is there");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number follows")
}

fn main() {
    println!("{:<40} {:>10} {:>14}", "", "ns/event", "ns/statement");
    for (name, script, statements) in SCRIPTS {
        let nanos = measure(script, 3_000_000 / statements.max(1));
        let per_statement = if statements == 0 {
            "-".to_owned()
        } else {
            format!("{:.0}", nanos / statements as f64)
        };
        println!("{name:<40} {nanos:>10.0} {per_statement:>14}");
    }
    for script in ["", "require('oltp_common')", "require('oltp_read_write')"] {
        let source =
            ScriptSource::Text { name: "cost.lua".to_owned(), text: script.as_bytes().to_vec() };
        let state = State::load(&environment(source), Role::Thread(0)).expect("the script loads");
        println!(
            "Lua's heap with the script \"{script}\": {:.1} KiB",
            state.memory() as f64 / 1024.0
        );
    }
    let count = 200;
    let environment = environment(ScriptSource::Module("oltp_read_write".to_owned()));
    let load = |number| {
        let state =
            State::load(&environment, Role::Thread(number)).expect("the bundled script loads");
        state
            .set_options(&BTreeMap::from([("tables".to_owned(), OptionValue::Number(1.0))]), &[])
            .expect("options");
        state
    };
    let first = load(0);
    let before = resident();
    let states: Vec<State> = (1..=count).map(load).collect();
    println!(
        "{count} idle states with oltp_read_write: {:.0} KiB each, of which Lua's heap has {:.0}",
        (resident() - before) / f64::from(count),
        first.memory() as f64 / 1024.0
    );
    drop(states);
}
