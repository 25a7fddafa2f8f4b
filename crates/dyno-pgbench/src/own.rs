//! The engine that pgbench supports.

use dyno_model::engine::Engine;

/// Features that only this engine has are rejected or skipped for others.
pub(crate) const OWN: Engine = Engine::Postgres;
