//! The audit of the data after a trial, for each database that its clients used, with its
//! connections.

use crate::clients::Clients;
use crate::recording::Totals;
use crate::settling::{is_unanswered, observe};
use crate::trial_input::{Node, NodeState, TrialInput};
use crate::workload::AuditFacts;
use dyno_drivers::timeout::is_end_requested;
use dyno_drivers::{Connection, Discard, Driver, block_on};
use dyno_model::audit::{AuditCheck, AuditRecord};
use dyno_model::failure::{OperationFailure, Remedy};
use dyno_model::reason::Reason;
use std::time::{Duration, Instant};

/// How long an audit is retried while the server refuses it because of concurrent work, and the
/// pause between attempts.
const AUDIT_LIMIT: Duration = Duration::from_secs(60);
const AUDIT_PAUSE: Duration = Duration::from_millis(100);

/// A connection to each node, after all nodes have applied everything committed on any of them
/// before, for example tables.
pub(crate) async fn observers(nodes: &[Node]) -> Result<Vec<Connection>, OperationFailure> {
    let mut observers = Vec::with_capacity(nodes.len());
    for node in nodes {
        observers.push(observe(&node.target).await?);
    }
    for (observer, node) in observers.iter_mut().zip(nodes) {
        catch_up(observer, node).await?;
    }
    Ok(observers)
}

/// Waits until a node has applied all earlier commits.
async fn catch_up(observer: &mut Connection, node: &Node) -> Result<(), OperationFailure> {
    match node.barrier {
        Some(barrier) => observer.query(barrier, &mut Discard).await.map(|_| ()),
        None => Ok(()),
    }
}

/// Index of the node to audit: the first that was up all the time and may have replaced a failed
/// primary; otherwise the first that runs.
pub(crate) fn audited_node(states: &[NodeState]) -> usize {
    let first = |is_meant: fn(&NodeState) -> bool| states.iter().position(is_meant);
    first(|state| *state == NodeState::Up)
        .or_else(|| first(|state| *state != NodeState::Down))
        .unwrap_or(0)
}

/// Audits a trial: compares the data with what the clients did.
pub(crate) struct Auditor<'a, C> {
    pub(crate) clients: &'a C,
    pub(crate) input: &'a TrialInput<'a>,
    /// Everything that the clients did.
    pub(crate) totals: &'a Totals,
    /// When the measured window opened.
    pub(crate) opens: u64,
}

impl<C: Clients> Auditor<'_, C> {
    /// Audits the data after the clients' sessions have ended. With several databases, each
    /// database is audited on its own node; otherwise the audit queries the node with the index
    /// `audited`. If that node does not answer, because it has stopped or the user ended the wait,
    /// the reason is returned with the audit.
    pub(crate) fn audit_all(
        &self,
        observers: &mut [Connection],
        audited: usize,
        settled: &Result<u64, OperationFailure>,
        baselines: Vec<C::Baseline>,
    ) -> (AuditRecord, Option<Reason>) {
        let unsettled = settled.as_ref().copied().unwrap_or_default();
        let mut audit = AuditRecord { unsettled, ..AuditRecord::default() };
        let mut silence = None;
        let has_several_databases = baselines.len() > 1;
        for (database, baseline) in baselines.into_iter().enumerate() {
            let totals = self.clients.totals(database, self.totals);
            let facts = AuditFacts { baseline, totals: &totals, opens: self.opens };
            let node = if has_several_databases { database } else { audited };
            let checks = match (self.input.load.is_dead)() {
                Some(reason) => Err(reason),
                None if !self.input.is_audited => Ok(Vec::new()),
                None => settled
                    .clone()
                    .and_then(|_| self.audit(database, node, &mut observers[node], &facts))
                    .map_err(|failure| {
                        if is_unanswered(&failure) {
                            silence.get_or_insert_with(|| Reason::Failure(failure.clone()));
                        }
                        Reason::Failure(failure)
                    }),
            };
            let not_run = |reason| vec![AuditCheck::NotRun { name: "audit".to_owned(), reason }];
            let checks = checks.unwrap_or_else(not_run);
            if has_several_databases {
                let name = &self.input.nodes[database].target.database;
                audit.databases.extend(checks.iter().map(|_| name.clone()));
            }
            audit.checks.extend(checks);
        }
        (audit, silence)
    }

    fn audit(
        &self,
        database: usize,
        node: usize,
        observer: &mut Connection,
        facts: &AuditFacts<'_, C::Baseline>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        let node = &self.input.nodes[node];
        let query = async |observer: &mut Connection| {
            catch_up(observer, node).await?;
            self.clients.audit(database, observer, facts).await
        };
        let deadline = Instant::now() + AUDIT_LIMIT;
        let mut was_renewed = false;
        loop {
            let audited: Result<Vec<AuditCheck>, OperationFailure> = match was_renewed {
                false => block_on(query(observer)),
                true => block_on(async { query(&mut observe(&node.target).await?).await }),
            };
            let is_retried = audited.as_ref().is_err_and(|failure: &OperationFailure| {
                match failure.kind.remedy() {
                    _ if is_unanswered(failure) || is_end_requested() => false,
                    // A cluster that lost a node temporarily refuses operations that would have to
                    // wait.
                    Remedy::RetryTransaction => Instant::now() < deadline,
                    // The connection may have broken together with those of the clients, and the
                    // server may be healthy again.
                    _ => !was_renewed,
                }
            });
            if !is_retried {
                return audited;
            }
            std::thread::sleep(AUDIT_PAUSE);
            was_renewed = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_was_up_all_the_time_is_asked_before_one_that_came_back() {
        let back = NodeState::Restarted(Instant::now());
        for (states, expected) in [
            (vec![NodeState::Up, NodeState::Up], 0),
            (vec![NodeState::Down, NodeState::Up], 1),
            (vec![back, NodeState::Up], 1),
            (vec![NodeState::Down, back], 1),
            (vec![], 0),
        ] {
            assert_eq!(audited_node(&states), expected, "{states:?}");
        }
    }
}
