//! A run whose clients are those of generators: what travels to them, and what they do with it.

use super::client::Scripts;
use super::scene::RunSetup;
use crate::expression::variables::Names;
use crate::options::{Run, Style};
use crate::script::{Script, parse_all};
use crate::terminal::Terminal;
use dyno_engine::{LoadInput, PartialResult, Start, TrialError, run_subset};
use dyno_model::event::Listener;
use dyno_model::target::{Engine, QueryMode, Target};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What the clients of a run do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PgbenchWork {
    /// Names, weights and texts.
    scripts: Vec<(String, u32, String)>,
    engine: Engine,
    query_mode: QueryMode,
    style: Style,
    clients: u32,
    variables: Vec<(String, String)>,
    tells_errors: bool,
    exits_on_abort: bool,
    seed: u64,
    scale: u64,
}

impl PgbenchWork {
    pub(super) fn new(scene: &RunSetup) -> Self {
        let Run { style, clients, variables, tells_errors, exits_on_abort, .. } = &scene.options;
        let text = |it: &Script| (it.name.clone(), it.weight, it.source.clone());
        Self {
            scripts: scene.program.scripts.iter().map(text).collect(),
            engine: scene.program.engine,
            query_mode: scene.program.query_mode,
            style: *style,
            clients: *clients,
            variables: variables.clone(),
            tells_errors: *tells_errors,
            exits_on_abort: *exits_on_abort,
            seed: scene.seed,
            scale: scene.scale,
        }
    }

    /// Runs the clients of one of several generators. `terminal` receives their messages.
    ///
    /// # Errors
    /// When they cannot begin.
    pub fn run_subset(
        &self,
        targets: &[Target],
        input: &LoadInput<'_>,
        ready: impl FnOnce() -> Result<Start, TrialError>,
        listener: &mut dyn Listener,
        terminal: Arc<dyn Terminal>,
    ) -> Result<PartialResult, TrialError> {
        let mut names = Names::default();
        let scripts = parse_all(&self.scripts, self.engine.dialect().syntax, &mut names)
            .map_err(|error| TrialError::Failed(error.to_string().into()))?;
        let options = Run {
            style: self.style,
            clients: self.clients,
            variables: self.variables.clone(),
            tells_errors: self.tells_errors,
            exits_on_abort: self.exits_on_abort,
            ..Run::default()
        };
        let (sending, drawn) = ((self.engine, self.query_mode), (self.seed, self.scale));
        let scene = RunSetup::new((scripts, names), sending, &options, drawn, terminal);
        run_subset(vec![Scripts(Arc::new(scene))], (targets, 0), input, ready, listener)
    }
}
