//! What systems can be queried for outside the load, one folder per engine.
//!
//! * [`EngineQueries`]: the table that each engine provides;
//! * `mysql`, `postgres`, `sqlite`: `mod.rs` is the table, `settings.rs` describes settings,
//!   `observer.rs` has the queries of the monitor;
//! * `null`: systems without any such information;
//! * `numbers`: parses counters.
//!
//! Facts that need no query are in dyno-model (`dyno-model/src/engine`).

mod mysql;
mod null;
mod numbers;
mod postgres;
mod queries;
pub(crate) mod setting;
mod sqlite;
mod values;

pub(crate) use numbers::UPTIME;
pub use queries::{ConnectionLimit, ForeignSession};
pub(crate) use queries::{
    EngineQueries, FoundSettings, LockQueries, Observe, Observed, SessionActivity,
};
pub use setting::Setting;
pub(crate) use sqlite::settings::read_pragma;
pub(crate) use values::Values;

use dyno_model::target::Engine;

/// The queries of an engine.
pub(crate) fn queries(engine: Engine) -> &'static EngineQueries {
    match engine {
        Engine::Mysql => &mysql::QUERIES,
        Engine::Postgres => &postgres::QUERIES,
        Engine::Sqlite => &sqlite::QUERIES,
        Engine::Null | Engine::Http => &null::QUERIES,
    }
}
