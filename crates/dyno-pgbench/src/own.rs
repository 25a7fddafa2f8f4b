//! The engine that pgbench is made for.

use dyno_model::engine::Engine;

/// What only this engine has is refused or left out elsewhere.
pub(crate) const OWN: Engine = Engine::Postgres;
