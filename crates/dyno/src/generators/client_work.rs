//! What the clients of a load do, in the form in which it travels to generators.

use crate::workload::{AnyWorkload, WorkloadSpec};
use dyno_engine::{LoadInput, PartialResult, Start, TrialError};
use dyno_model::event::Listener;
use dyno_model::target::Target;
use dyno_pgbench::{PgbenchWork, Terminal};
use dyno_sysbench::ScriptWork;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum ClientWork {
    /// A workload of `dyno run`, or a bundled script of `dyno sysbench`.
    Workload(WorkloadSpec),
    /// A Lua script of `dyno sysbench`.
    Script(ScriptWork),
    /// The scripts of `dyno pgbench`.
    Pgbench(PgbenchWork),
}

impl ClientWork {
    /// Measures the clients of one of several generators. `say` receives what their program has for
    /// the terminal.
    pub(super) fn run_subset(
        &self,
        (targets, spare): (&[Target], usize),
        input: &LoadInput<'_>,
        common_start: impl FnOnce() -> Result<Start, TrialError>,
        listener: &mut dyn Listener,
        say: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<PartialResult, TrialError> {
        match self {
            Self::Workload(work) => {
                let all = work.workloads().map_err(|reason| TrialError::Failed(reason.into()))?;
                AnyWorkload::run_subset(all, (targets, spare), input, common_start, listener)
            }
            Self::Script(work) => {
                work.run_subset(targets, input, common_start, listener, Arc::new(say))
            }
            Self::Pgbench(work) => {
                work.run_subset(targets, input, common_start, listener, Arc::new(Messages(say)))
            }
        }
    }
}

/// The coordinator's terminal.
struct Messages<F>(F);

impl<F: Fn(&str) + Send + Sync + 'static> Terminal for Messages<F> {
    /// Results are the coordinator's.
    fn result(&self, _text: &str) {}

    fn message(&self, text: &str) {
        (self.0)(text);
    }
}
