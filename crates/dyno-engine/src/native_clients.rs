//! What all clients of a native workload have in common: the workload, the servers, the commit ledger.

use crate::commit_ledger::{self, CommitLedger};
use crate::measure::load::ClientId;
use crate::recording::{Kinds, NAMES_MAX};
use crate::session::{COMMIT, CONTROL_KINDS, SessionPlan};
use crate::settling::OpenSessions;
use crate::workload::Workload;
use dyno_model::plan::LoadPlan;
use dyno_model::retry::RetryPolicy;
use dyno_model::target::Target;
use std::sync::Arc;
use std::time::Duration;

/// What all clients of a native workload have in common.
pub(crate) struct NativeClients<W: Workload> {
    pub(crate) workload: Arc<W>,
    pub(crate) retry: Arc<RetryPolicy>,
    /// Clients are dealt out to them in turn. Each server numbers its sessions by itself.
    pub(crate) targets: Vec<(Arc<Target>, Arc<SessionPlan>)>,
    /// So many of them, the last ones, have clients only when others are lost.
    spare: usize,
    /// What the clients note of their commits, where they do.
    pub(crate) ledger: Option<Arc<CommitLedger>>,
}

impl<W: Workload> NativeClients<W> {
    pub(crate) fn new<'t>(
        workload: Arc<W>,
        targets: impl IntoIterator<Item = &'t Target>,
        spare: usize,
        load: &LoadPlan,
    ) -> Self {
        let with_plan =
            |target: &Target| (Arc::new(target.clone()), Arc::new(session_plan(&*workload, load)));
        let targets: Vec<_> = targets.into_iter().map(with_plan).collect();
        assert!(!targets.is_empty(), "clients need somewhere to connect");
        let ledger = workload.keeps_ledger().then(Arc::default);
        Self { retry: Arc::new(load.retry.clone()), targets, spare, workload, ledger }
    }

    /// Kinds of statements, control statements included, and names of transactions.
    pub(crate) fn kinds(&self) -> Kinds {
        let mut transactions = self.workload.transactions();
        // Of so many, nobody reads the figures; a sample has no room for them.
        if transactions.len() > NAMES_MAX {
            transactions.clear();
        }
        let statements = self.targets[0].1.kinds.clone();
        let mut commits = self.workload.commits();
        commits.extend(statements.iter().rposition(|kind| *kind == COMMIT));
        Kinds { statements, transactions, commits }
    }

    /// Which sessions the clients have opened on each of the targets.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = &OpenSessions> {
        self.targets.iter().map(|(_, plan)| &*plan.sessions)
    }

    /// Where a client connects that has moved on so often.
    pub(crate) fn target(&self, client: ClientId, moves: usize) -> &(Arc<Target>, Arc<SessionPlan>) {
        let first = client.0 as usize % (self.targets.len() - self.spare);
        &self.targets[(first + moves) % self.targets.len()]
    }
}

/// Names of a workload's kinds of statements, with those of the ledger and the control statements behind them.
#[must_use]
pub fn statement_kinds<W: Workload>(workload: &W) -> Vec<&'static str> {
    let mut kinds = workload.kinds();
    kinds.extend(workload.keeps_ledger().then_some(commit_ledger::KIND));
    kinds.extend(CONTROL_KINDS);
    kinds
}

/// Kinds and statements of a workload with the control statements behind them.
fn session_plan<W: Workload>(workload: &W, load: &LoadPlan) -> SessionPlan {
    let has_ledger = workload.keeps_ledger();
    SessionPlan {
        setup: workload.session_setup(),
        statements: workload.statements(),
        kinds: statement_kinds(workload),
        begin: workload.begin().or(has_ledger.then_some("BEGIN")),
        has_ledger,
        statement_timeout: load.statement_timeout.map(Duration::from),
        sessions: Arc::default(),
    }
}
