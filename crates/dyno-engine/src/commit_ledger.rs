//! The commit ledger: each transaction inserts a row with its number, and the client records the
//! outcome. After the trial the two are compared, which finds and names every commit that was
//! acknowledged and lost, whatever else the workload does.
//!
//! The clients' records are in memory: the test is whether the server keeps its promise, and dyno
//! is not the process that is killed. Those of several generators are combined.

use crate::client_id::ClientId;
use crate::data_set::TableDefinition;
use dyno_drivers::{Connection, Driver, Row, RowSink};
use dyno_model::audit::{AuditCheck, LedgerEntry};
use dyno_model::failure::OperationFailure;
use dyno_model::sync::lock;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};

/// The kind of the statement that writes a row, as reports name it.
pub(crate) const KIND: &str = "ledger";
/// Writes the row of a transaction: its client and its number.
pub(crate) const INSERT: &str = "INSERT INTO dyno_ledger (client, number) VALUES (?, ?)";
const SELECT: &str = "SELECT client, number FROM dyno_ledger";
/// Maximum number of transactions that an audit names.
const EXAMPLES_MAX: usize = 5;

/// The table, empty.
pub(crate) fn table() -> TableDefinition {
    let create = "CREATE TABLE dyno_ledger (client INTEGER NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (client, number))";
    TableDefinition::new("dyno_ledger", create, ["client", "number"], 0)
}

/// The outcome of a transaction, as its client knows it. There are millions: a message has a letter
/// for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum CommitOutcome {
    #[serde(rename = "a")]
    Acknowledged,
    /// Refused, or never sent to commit.
    #[serde(rename = "f")]
    Failed,
    /// It may have been committed: its answer was lost, or the client did not wait for it.
    #[serde(rename = "o")]
    InDoubt,
}

/// The outcomes of one client's transactions, which are numbered consecutively from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClientOutcomes {
    client: ClientId,
    outcomes: Vec<CommitOutcome>,
}

/// The outcomes of all clients, each added when its client ends.
#[derive(Debug, Default)]
pub(crate) struct CommitLedger(Mutex<Vec<ClientOutcomes>>);

/// A client's ledger writer.
#[derive(Debug)]
pub(crate) struct LedgerWriter {
    recorded: ClientOutcomes,
    ledger: Arc<CommitLedger>,
}

impl LedgerWriter {
    pub(crate) fn new(client: ClientId, ledger: &Arc<CommitLedger>) -> Self {
        Self {
            recorded: ClientOutcomes { client, outcomes: Vec::new() },
            ledger: Arc::clone(ledger),
        }
    }

    /// Records the start of the next transaction; its outcome is open until it ends.
    pub(crate) fn begin(&mut self) {
        self.recorded.outcomes.push(CommitOutcome::InDoubt);
    }

    pub(crate) fn acknowledged(&mut self) {
        self.set_outcome(CommitOutcome::Acknowledged);
    }

    /// Records that it failed permanently and that none of its attempts may still be committed.
    pub(crate) fn failed(&mut self) {
        self.set_outcome(CommitOutcome::Failed);
    }

    fn set_outcome(&mut self, outcome: CommitOutcome) {
        if let Some(last) = self.recorded.outcomes.last_mut() {
            *last = outcome;
        }
    }
}

impl Drop for LedgerWriter {
    fn drop(&mut self) {
        let recorded = ClientOutcomes {
            client: self.recorded.client,
            outcomes: std::mem::take(&mut self.recorded.outcomes),
        };
        lock(&self.ledger.0).push(recorded);
    }
}

/// The rows of one client: whether each of its transactions has one, and the number of rows it
/// never inserted.
#[derive(Default)]
struct ClientRows {
    rows: Vec<bool>,
    unexpected: u64,
    first_unexpected: Option<u64>,
}

/// Receives the rows of the table.
struct LedgerRows(Vec<ClientRows>);

impl RowSink for LedgerRows {
    fn row(&mut self, row: &dyn Row) {
        let number = |column: usize| row.get(column).to_text()?.parse::<u64>().ok();
        let (Some(client), Some(sequence)) = (number(0), number(1)) else { return };
        let Some(found) = self.0.get_mut(client as usize) else { return };
        match found.rows.get_mut(sequence as usize) {
            Some(row) => *row = true,
            None => {
                found.unexpected += 1;
                found.first_unexpected.get_or_insert(sequence);
            }
        }
    }
}

impl CommitLedger {
    /// Takes out the outcomes of all clients, which have ended.
    pub(crate) fn take(&self) -> Vec<ClientOutcomes> {
        std::mem::take(&mut *lock(&self.0))
    }

    /// Adds the outcomes of clients of another process.
    pub(crate) fn add(&self, by_client: Vec<ClientOutcomes>) {
        lock(&self.0).extend(by_client);
    }

    /// Compares the outcomes with the rows of the table. All clients have ended.
    pub(crate) async fn audit(
        &self,
        connection: &mut Connection,
    ) -> Result<AuditCheck, OperationFailure> {
        let mut rows = {
            let by_client = lock(&self.0);
            let clients = by_client
                .iter()
                .map(|of_client| of_client.client.0 as usize + 1)
                .max()
                .unwrap_or(0);
            let mut rows = LedgerRows(Vec::new());
            rows.0.resize_with(clients, ClientRows::default);
            for of_client in &*by_client {
                rows.0[of_client.client.0 as usize].rows.resize(of_client.outcomes.len(), false);
            }
            rows
        };
        connection.query(SELECT, &mut rows).await?;
        Ok(self.compare(&rows.0))
    }

    fn compare(&self, found: &[ClientRows]) -> AuditCheck {
        let by_client = lock(&self.0);
        let (mut acknowledged, mut open, mut took_effect) = (0, 0, 0);
        let (mut lost, mut phantoms) = (0, 0);
        let mut examples = Vec::new();
        let mut add_example = |entry: LedgerEntry| {
            if examples.len() < EXAMPLES_MAX {
                examples.push(entry);
            }
        };
        for of_client in &*by_client {
            let client = of_client.client.0;
            let Some(found) = found.get(client as usize) else { continue };
            for ((sequence, outcome), is_there) in (0..).zip(&of_client.outcomes).zip(&found.rows) {
                match (outcome, is_there) {
                    (CommitOutcome::Acknowledged, true) => acknowledged += 1,
                    (CommitOutcome::Acknowledged, false) => {
                        acknowledged += 1;
                        lost += 1;
                        add_example(LedgerEntry { client, sequence, is_lost: true });
                    }
                    (CommitOutcome::Failed, true) => {
                        phantoms += 1;
                        add_example(LedgerEntry { client, sequence, is_lost: false });
                    }
                    (CommitOutcome::Failed, false) => {}
                    (CommitOutcome::InDoubt, is_there) => {
                        open += 1;
                        took_effect += u64::from(*is_there);
                    }
                }
            }
            phantoms += found.unexpected;
            if let Some(sequence) = found.first_unexpected {
                add_example(LedgerEntry { client, sequence, is_lost: false });
            }
        }
        AuditCheck::Ledger { acknowledged, lost, phantoms, in_doubt: open, took_effect, examples }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records the outcomes of a client, one letter per transaction: acknowledged, failed, failed
    /// in doubt, cut off.
    fn record(client: u32, outcomes: &str, ledger: &Arc<CommitLedger>) {
        let mut ledger_writer = LedgerWriter::new(ClientId(client), ledger);
        for outcome in outcomes.chars() {
            ledger_writer.begin();
            match outcome {
                'a' => ledger_writer.acknowledged(),
                'f' => ledger_writer.failed(),
                _ => {}
            }
        }
    }

    fn found(rows: &str, unexpected: u64) -> ClientRows {
        let rows = rows.chars().map(|row| row == '1').collect();
        ClientRows { rows, unexpected, first_unexpected: (unexpected > 0).then_some(99) }
    }

    #[test]
    fn ledger_check_lists_lost_and_phantom_commits() {
        let ledger = Arc::new(CommitLedger::default());
        record(1, "aafdc", &ledger);
        record(0, "aaa", &ledger);
        let check = ledger.compare(&[found("110", 0), found("10111", 2)]);
        let AuditCheck::Ledger { acknowledged, lost, phantoms, in_doubt, took_effect, examples } =
            check
        else {
            panic!("{check:?}");
        };
        assert_eq!((acknowledged, lost), (5, 2));
        assert_eq!(phantoms, 1 + 2, "one that failed, two that nobody made");
        assert_eq!((in_doubt, took_effect), (2, 2), "in doubt, and cut off");
        let entry = |client, sequence, is_lost| LedgerEntry { client, sequence, is_lost };
        assert_eq!(
            examples,
            [entry(1, 1, true), entry(1, 2, false), entry(1, 99, false), entry(0, 2, true)]
        );
    }

    #[test]
    fn matching_ledger_is_intact_regardless_of_in_doubt_commits() {
        use dyno_model::audit::AuditVerdict;
        for doubtful in ["0", "1"] {
            let ledger = Arc::new(CommitLedger::default());
            record(0, "afd", &ledger);
            let check = ledger.compare(&[found(&format!("10{doubtful}"), 0)]);
            assert_eq!(check.verdict(), AuditVerdict::Intact, "{check:?}");
        }
    }
}
