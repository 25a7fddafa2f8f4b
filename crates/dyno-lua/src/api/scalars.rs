//! Functions that compiled Lua calls directly. Only numbers are passed, so these functions never
//! touch memory of Lua.
//!
//! Lua gets their addresses, which the prelude casts to the types below. A function that fails
//! returns a negative number and leaves the error for `native.problem`: errors must not be raised
//! through compiled frames.

use crate::context::{Context, Dropped, ask, note_dropped, with};
use crate::environment::RandomType;
use crate::sql::{CallContext, Sql};
use dyno_model::counters::ScriptCounter;
use std::ffi::c_void;

macro_rules! scalars {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) -> $result:ty = $c:literal => $body:expr;)*) => {
        $(
            $(#[$doc])*
            extern "C" fn $name($($argument: $type),*) -> $result {
                $body
            }
        )*

        /// The function with this name: its C type and its address.
        pub(crate) fn find(name: &[u8]) -> Option<(&'static str, *mut c_void)> {
            $(
                if name == stringify!($name).as_bytes() {
                    return Some(($c, $name as *const c_void as *mut c_void));
                }
            )*
            None
        }
    };
}

scalars! {
    /// Counts the current event, if there is one; returns whether another one has begun.
    next_event(is_in_event: f64) -> f64 = "double (*)(double)" => with(0.0, |context| {
        if is_in_event != 0.0 {
            context.meter.event_stop();
        }
        context.restarts = 0;
        f64::from(u8::from(context.meter.begin_event()))
    });
    /// The event does not count.
    event_abandon() -> f64 = "double (*)(void)" => with(0.0, |context| {
        context.meter.abandon_event();
        0.0
    });
    /// 1 when the event may be retried, 0 when the run is over, 2 when it was retried too often and
    /// is given up.
    event_restart() -> f64 = "double (*)(void)" => with(0.0, |context| {
        let max = context.environment.restarts_max;
        if max != 0 && context.restarts >= max {
            context.meter.give_up_event();
            return 2.0;
        }
        if context.interrupts.is_interrupted() || !context.meter.may_retry() {
            return 0.0;
        }
        context.restarts += 1;
        context.meter.restarted();
        1.0
    });

    sb_more_events(_thread: i32) -> bool = "bool (*)(int)" => with(false, |context| context.meter.more_events());
    sb_event_start(_thread: i32) -> () = "void (*)(int)" => with((), |context| context.meter.event_start());
    sb_event_stop(_thread: i32) -> () = "void (*)(int)" => with((), |context| context.meter.event_stop());
    sb_counter_inc(_thread: i32, counter: i32) -> () = "void (*)(int, sb_counter_type)" => add_to_counter(counter, 1);
    sb_counter_add(_thread: i32, counter: i32, by: u64) -> () = "void (*)(int, sb_counter_type, \
        uint64_t)" => add_to_counter(counter, by);
    sb_counter_val(_thread: i32, counter: i32) -> u64 = "uint64_t (*)(int, sb_counter_type)" => match numbered(counter) {
        Some(counter) => with(0, |context| context.meter.counter(counter)),
        None => 0,
    };

    rand_default(low: f64, high: f64) -> f64 = "double (*)(double, double)" => with(0.0, |context| context.draws.draw_default(low, high));
    rand_uniform(low: f64, high: f64) -> f64 = "double (*)(double, double)" => draw(RandomType::Uniform, low, high);
    rand_gaussian(low: f64, high: f64) -> f64 = "double (*)(double, double)" => draw(RandomType::Gaussian, low, high);
    rand_special(low: f64, high: f64) -> f64 = "double (*)(double, double)" => draw(RandomType::Special, low, high);
    rand_pareto(low: f64, high: f64) -> f64 = "double (*)(double, double)" => draw(RandomType::Pareto, low, high);
    rand_zipfian(low: f64, high: f64) -> f64 = "double (*)(double, double)" => draw(RandomType::Zipfian, low, high);
    rand_unique() -> f64 = "double (*)(void)" => with(0.0, |context| {
        f64::from(context.draws.unique(&context.environment))
    });
    rand_double() -> f64 = "double (*)(void)" => with(0.0, |context| context.draws.unit());
    rand_bits() -> u64 = "uint64_t (*)(void)" => with(0, |context| context.draws.bits());
    /// A random string for a known pattern: returns its length; the text is in the transfer buffer.
    rand_text(pattern: f64) -> f64 = "double (*)(double)" => with(0.0, |context| {
        let Context { sql, draws, transfer, .. } = context;
        transfer.put(sql.random_text(pattern, draws)) as f64
    });
    sb_rand_default(low: u32, high: u32) -> u32 = "uint32_t (*)(uint32_t, uint32_t)" => with(0, |context| {
        context.draws.draw_default(low.into(), high.into()) as u32
    });
    sb_rand_uniform(low: u32, high: u32) -> u32 = "uint32_t (*)(uint32_t, uint32_t)" => draw(RandomType::Uniform, low.into(), high.into()) as u32;
    sb_rand_gaussian(low: u32, high: u32) -> u32 = "uint32_t (*)(uint32_t, uint32_t)" => draw(RandomType::Gaussian, low.into(), high.into()) as u32;
    sb_rand_special(low: u32, high: u32) -> u32 = "uint32_t (*)(uint32_t, uint32_t)" => draw(RandomType::Special, low.into(), high.into()) as u32;
    sb_rand_pareto(low: u32, high: u32) -> u32 = "uint32_t (*)(uint32_t, uint32_t)" => draw(RandomType::Pareto, low.into(), high.into()) as u32;
    sb_rand_zipfian(low: u32, high: u32) -> u32 = "uint32_t (*)(uint32_t, uint32_t)" => draw(RandomType::Zipfian, low.into(), high.into()) as u32;

    /// Executes a prepared statement: returns the handle of its result, 0 without one.
    execute(statement: f64) -> f64 = "double (*)(double)" => ask(|sql, around, _| sql.execute(around, statement));
    set_number(parameter: f64, value: f64) -> f64 = "double (*)(double, double)" => ask(|sql, _, _| sql.set_number(parameter, value));
    set_integer(parameter: f64, value: i64) -> f64 = "double (*)(double, int64_t)" => ask(|sql, _, _| sql.set_integer(parameter, value));
    set_null(parameter: f64) -> f64 = "double (*)(double)" => ask(|sql, _, _| sql.set_null(parameter));
    set_random(parameter: f64, pattern: f64) -> f64 = "double (*)(double, double)" => ask(|sql, _, draws| sql.set_random(parameter, pattern, draws));
    row_count(link: f64, result: f64) -> f64 = "double (*)(double, double)" => ask(|sql, _, _| sql.row_count(link, result));
    column_count(link: f64, result: f64) -> f64 = "double (*)(double, double)" => ask(|sql, _, _| sql.column_count(link, result));
    free_result(link: f64, result: f64) -> f64 = "double (*)(double, double)" => ask_infallible(|sql, _| sql.free(link, result));
    more_results(link: f64) -> f64 = "double (*)(double)" => ask(|sql, _, _| sql.more_results(link));
    next_result(link: f64) -> f64 = "double (*)(double)" => ask(|sql, around, _| sql.next_result(around, link));
    close_statement(statement: f64) -> f64 = "double (*)(double)" => ask_infallible(|sql, _| sql.close_statement(statement));
    disconnect(link: f64) -> f64 = "double (*)(double)" => ask_infallible(|sql, around| sql.disconnect(around.interrupts, link));
    reconnect(link: f64) -> f64 = "double (*)(double)" => ask(|sql, around, _| sql.reconnect(around, link));
    roll_back(link: f64) -> f64 = "double (*)(double)" => ask_infallible(|sql, _| sql.roll_back(link));
    bulk_done(link: f64) -> f64 = "double (*)(double)" => ask(|sql, around, _| sql.bulk_done(around, link));

    /// Finalisers.
    drop_link(link: f64) -> f64 = "double (*)(double)" => dropped(Dropped::Link(link));
    drop_statement(statement: f64) -> f64 = "double (*)(double)" => dropped(Dropped::Statement(statement));
}

/// As [`ask`], for operations that cannot fail.
fn ask_infallible(call: impl FnOnce(&mut Sql, &mut CallContext<'_>)) -> f64 {
    ask(|sql, around, _| {
        call(sql, around);
        Ok(0.0)
    })
}

fn draw(which: RandomType, low: f64, high: f64) -> f64 {
    with(0.0, |context| context.draws.draw(which, low, high))
}

/// Counters that scripts can increment, in the order of `sb_counter_type`. After them, 1.1 has byte
/// counters, which are not shown anywhere.
const COUNTERS: [ScriptCounter; 6] = [
    ScriptCounter::Others,
    ScriptCounter::Reads,
    ScriptCounter::Writes,
    ScriptCounter::Events,
    ScriptCounter::Errors,
    ScriptCounter::Reconnects,
];

fn numbered(counter: i32) -> Option<ScriptCounter> {
    usize::try_from(counter).ok().and_then(|at| COUNTERS.get(at).copied())
}

fn add_to_counter(counter: i32, by: u64) {
    if let Some(counter) = numbered(counter) {
        with((), |context| context.meter.add_to_counter(counter, by));
    }
}

fn dropped(thing: Dropped) -> f64 {
    note_dropped(thing);
    0.0
}
