//! The state shared by all clients of a native workload: the workload, the servers, the commit
//! ledger.

use crate::client_id::ClientId;
use crate::commit_ledger::CommitLedger;
use crate::recording::NAMES_MAX;
use crate::session::SessionPlan;
use crate::text::intern;
use crate::workload::{Workload, statement_kinds};
use dyno_model::client_group::ClientIds;
use dyno_model::databases::{DATABASES_MAX, NAMED_MAX, transaction_names};
use dyno_model::plan::LoadPlan;
use dyno_model::retry::RetryPolicy;
use dyno_model::target::Target;
use std::sync::Arc;
use std::time::Duration;

// Samples can distinguish the names of all databases.
const _: () = assert!(NAMED_MAX <= NAMES_MAX && DATABASES_MAX as usize <= NAMES_MAX);

/// The state shared by all clients of a native workload.
pub(crate) struct NativeClients<W: Workload> {
    /// A single workload; with several databases, one workload for each target. Each of these
    /// counts only the transactions of the clients of its database.
    pub(crate) workloads: Vec<Arc<W>>,
    pub(crate) retry: Arc<RetryPolicy>,
    /// Clients are assigned to them round-robin. Each server numbers its sessions separately.
    pub(crate) targets: Vec<(Arc<Target>, Arc<SessionPlan>)>,
    /// The last `spare` targets have clients only when others are lost.
    spare: usize,
    /// The commit ledgers of the clients, one per workload, if they keep any.
    pub(crate) ledgers: Vec<Arc<CommitLedger>>,
    /// Names of transactions; empty if there is nothing to distinguish.
    pub(crate) transactions: Vec<&'static str>,
}

impl<W: Workload> NativeClients<W> {
    /// Creates the state; with several workloads there is one per target.
    pub(crate) fn new<'t>(
        workloads: Vec<Arc<W>>,
        targets: impl IntoIterator<Item = &'t Target>,
        spare: usize,
        load: &LoadPlan,
    ) -> Self {
        let first = &workloads[0];
        let with_plan =
            |target: &Target| (Arc::new(target.clone()), Arc::new(session_plan(&**first, load)));
        let targets: Vec<_> = targets.into_iter().map(with_plan).collect();
        assert!(!targets.is_empty(), "clients need somewhere to connect");
        assert!(
            workloads.len() == 1 || workloads.len() == targets.len(),
            "each database has a workload"
        );
        let keeping = workloads.iter().filter(|workload| workload.keeps_ledger());
        let ledgers = keeping.map(|_| Arc::default()).collect();
        let mut transactions = first.transactions();
        if workloads.len() > 1 {
            let databases: Vec<String> =
                targets.iter().map(|(target, _)| target.database.clone()).collect();
            let names = transaction_names(&databases, &transactions).into_iter();
            transactions = names.map(|name| intern(&name)).collect();
        }
        // With too many names, samples cannot distinguish them, and reports would be unreadable.
        if transactions.len() > NAMES_MAX {
            transactions.clear();
        }
        Self {
            retry: Arc::new(load.retry.clone()),
            targets,
            spare,
            workloads,
            ledgers,
            transactions,
        }
    }

    /// The target of a client after this many switches to the next server. No client leaves its
    /// database.
    pub(crate) fn target(
        &self,
        client: ClientId,
        server_switches: usize,
    ) -> &(Arc<Target>, Arc<SessionPlan>) {
        if self.has_several_databases() {
            return &self.targets[self.database(client)];
        }
        let first = client.0 as usize % (self.targets.len() - self.spare);
        &self.targets[(first + server_switches) % self.targets.len()]
    }

    pub(crate) fn has_several_databases(&self) -> bool {
        self.workloads.len() > 1
    }

    /// Index of a client's database.
    fn database(&self, client: ClientId) -> usize {
        ClientIds::group_and_position(client.0, self.workloads.len() as u32).0 as usize
    }

    /// The workload of a client.
    pub(crate) fn workload(&self, client: ClientId) -> &Arc<W> {
        &self.workloads[self.database(client)]
    }

    /// The number of a client among those of its database.
    pub(crate) fn id_in_database(&self, client: ClientId) -> ClientId {
        ClientId(ClientIds::group_and_position(client.0, self.workloads.len() as u32).1)
    }

    /// The commit ledger of a client, if it keeps one.
    pub(crate) fn ledger(&self, client: ClientId) -> Option<&Arc<CommitLedger>> {
        self.ledgers.get(self.database(client))
    }

    /// Index in [`Self::transactions`] of a client's transaction, from its index among the
    /// workload's names.
    pub(crate) fn transaction_name(&self, client: ClientId, name_in_workload: u16) -> u16 {
        if !self.has_several_databases() {
            return name_in_workload;
        }
        match self.names_per_workload() {
            1 => self.database(client) as u16,
            each => (self.database(client) * each) as u16 + name_in_workload,
        }
    }

    /// Number of names that each workload has in [`Self::transactions`].
    pub(crate) fn names_per_workload(&self) -> usize {
        self.transactions.len() / self.workloads.len()
    }
}

/// Kinds and statements of a workload, followed by the control statements.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Native, Rush, WorkloadContext, catalog};
    use dyno_model::plan::{StopRule, WorkloadPlan};
    use dyno_model::target::{Endpoint, Engine};

    #[test]
    fn client_keeps_database_on_reconnect_and_rotates_over_nodes() {
        let target = |name: &str| Target {
            database: name.to_owned(),
            ..Target::new(Engine::Postgres, Endpoint::InProcess)
        };
        let targets = [target("a"), target("b"), target("c")];
        let rush = || -> Arc<Rush> {
            let description =
                catalog().into_iter().find(|it| it.name == "rush").expect("it is known");
            let plan = WorkloadPlan::new("rush", description.defaults());
            let setting = WorkloadContext { engine: Engine::Postgres, clients: 2, seed: 1 };
            let built = Native::build(&plan, setting).expect("its defaults fit");
            Arc::new(built.try_into().expect("it is what was asked for"))
        };
        let load = LoadPlan::new(StopRule::Transactions(1));
        let databases = |workloads: usize| {
            let all = (0..workloads).map(|_| rush()).collect();
            let clients = NativeClients::new(all, &targets, 0, &load);
            let of = |client, server_switches| {
                clients.target(ClientId(client), server_switches).0.database.clone()
            };
            [of(0, 0), of(4, 0), of(4, 1), of(4, 2)]
        };
        assert_eq!(databases(3), ["a", "b", "b", "b"]);
        assert_eq!(databases(1), ["a", "b", "c", "a"]);
    }
}
