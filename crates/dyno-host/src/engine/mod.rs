//! What systems can be asked beside the load, one folder per engine.
//!
//! * [`Questions`]: the table that each engine fills in;
//! * `mysql`, `postgres`, `sqlite`: `mod.rs` is the table, `settings.rs` what is known of settings,
//!   `observer.rs` what the monitor asks;
//! * `null`: systems that know nothing;
//! * `numbers`: counters as servers tell them.
//!
//! Plain facts, for which nobody needs to be asked, stand in dyno-model (`dyno-model/src/engine`).

mod mysql;
mod null;
mod numbers;
mod postgres;
mod questions;
mod sqlite;

pub(crate) use numbers::UPTIME;
pub use questions::{ConnectionLimit, ForeignSession, Replication};
pub(crate) use questions::{FoundSettings, LockQuestions, Observe, Observed, Questions};
pub(crate) use sqlite::settings::read_pragma;

use dyno_model::target::Engine;

/// What systems of an engine can be asked.
pub(crate) fn questions(engine: Engine) -> &'static Questions {
    match engine {
        Engine::Mysql => &mysql::QUESTIONS,
        Engine::Postgres => &postgres::QUESTIONS,
        Engine::Sqlite => &sqlite::QUESTIONS,
        Engine::Null | Engine::Http => &null::QUESTIONS,
    }
}
