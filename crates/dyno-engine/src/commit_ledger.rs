//! The commit ledger: each transaction inserts a row with its number, and the client records the
//! outcome. After the trial the two are compared, which finds and names every commit that was
//! acknowledged and lost, whatever else the workload does.
//!
//! The clients' records are in memory: the test is whether the server keeps its promise, and dyno
//! is not the process that is killed. Those of several generators are put together.

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
const EXAMPLES: usize = 5;

/// The table, empty.
pub(crate) fn table() -> TableDefinition {
    let create = "CREATE TABLE dyno_ledger (client INTEGER NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (client, number))";
    TableDefinition::new("dyno_ledger", create, ["client", "number"], 0)
}

/// The outcome of a transaction, as its client knows it. There are millions: a message has a letter
/// for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Fate {
    #[serde(rename = "a")]
    Acknowledged,
    /// Refused, or never sent to commit.
    #[serde(rename = "f")]
    Failed,
    /// It may have been committed: its answer was lost, or the client did not wait for it.
    #[serde(rename = "o")]
    Open,
}

/// One client's notes. Its transactions are numbered consecutively from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Page {
    client: ClientId,
    fates: Vec<Fate>,
}

/// The notes of all clients, each handed over whenever its client ends.
#[derive(Debug, Default)]
pub(crate) struct CommitLedger(Mutex<Vec<Page>>);

/// A client's ledger writer.
#[derive(Debug)]
pub(crate) struct LedgerWriter {
    page: Page,
    ledger: Arc<CommitLedger>,
}

impl LedgerWriter {
    pub(crate) fn new(client: ClientId, ledger: &Arc<CommitLedger>) -> Self {
        Self { page: Page { client, fates: Vec::new() }, ledger: Arc::clone(ledger) }
    }

    /// Records the start of the next transaction; its outcome is open until it ends.
    pub(crate) fn begin(&mut self) {
        self.page.fates.push(Fate::Open);
    }

    pub(crate) fn acknowledged(&mut self) {
        self.ends(Fate::Acknowledged);
    }

    /// Records that it failed permanently and that none of its attempts may still be committed.
    pub(crate) fn failed(&mut self) {
        self.ends(Fate::Failed);
    }

    fn ends(&mut self, fate: Fate) {
        if let Some(last) = self.page.fates.last_mut() {
            *last = fate;
        }
    }
}

impl Drop for LedgerWriter {
    fn drop(&mut self) {
        let page = Page { client: self.page.client, fates: std::mem::take(&mut self.page.fates) };
        lock(&self.ledger.0).push(page);
    }
}

/// The rows of one client: whether each of its transactions has one, and the number of rows it
/// never inserted.
#[derive(Default)]
struct LedgerRow {
    rows: Vec<bool>,
    strange: u64,
    strangest: Option<u64>,
}

/// Receives the rows of the table.
struct LedgerRows(Vec<LedgerRow>);

impl RowSink for LedgerRows {
    fn row(&mut self, row: &dyn Row) {
        let number = |column: usize| row.get(column).to_text()?.parse::<u64>().ok();
        let (Some(client), Some(number)) = (number(0), number(1)) else { return };
        let Some(found) = self.0.get_mut(client as usize) else { return };
        match found.rows.get_mut(number as usize) {
            Some(row) => *row = true,
            None => {
                found.strange += 1;
                found.strangest.get_or_insert(number);
            }
        }
    }
}

impl CommitLedger {
    /// Takes out the notes of all clients, which have ended.
    pub(crate) fn take(&self) -> Vec<Page> {
        std::mem::take(&mut *lock(&self.0))
    }

    /// Adds the notes of clients of another process.
    pub(crate) fn add(&self, pages: Vec<Page>) {
        lock(&self.0).extend(pages);
    }

    /// Compares the notes with the rows of the table. All clients have ended.
    pub(crate) async fn audit(
        &self,
        connection: &mut Connection,
    ) -> Result<AuditCheck, OperationFailure> {
        let mut rows = {
            let pages = lock(&self.0);
            let clients = pages.iter().map(|page| page.client.0 as usize + 1).max().unwrap_or(0);
            let mut rows = LedgerRows(Vec::new());
            rows.0.resize_with(clients, LedgerRow::default);
            for page in &*pages {
                rows.0[page.client.0 as usize].rows.resize(page.fates.len(), false);
            }
            rows
        };
        connection.query(SELECT, &mut rows).await?;
        Ok(self.compared(&rows.0))
    }

    fn compared(&self, found: &[LedgerRow]) -> AuditCheck {
        let pages = lock(&self.0);
        let (mut acknowledged, mut open, mut took_effect) = (0, 0, 0);
        let (mut lost, mut phantoms) = (0, 0);
        let mut examples = Vec::new();
        let mut name = |entry: LedgerEntry| {
            if examples.len() < EXAMPLES {
                examples.push(entry);
            }
        };
        for page in &*pages {
            let client = page.client.0;
            let Some(found) = found.get(client as usize) else { continue };
            for ((number, fate), is_there) in (0..).zip(&page.fates).zip(&found.rows) {
                match (fate, is_there) {
                    (Fate::Acknowledged, true) => acknowledged += 1,
                    (Fate::Acknowledged, false) => {
                        acknowledged += 1;
                        lost += 1;
                        name(LedgerEntry { client, number, is_lost: true });
                    }
                    (Fate::Failed, true) => {
                        phantoms += 1;
                        name(LedgerEntry { client, number, is_lost: false });
                    }
                    (Fate::Failed, false) => {}
                    (Fate::Open, is_there) => {
                        open += 1;
                        took_effect += u64::from(*is_there);
                    }
                }
            }
            phantoms += found.strange;
            if let Some(number) = found.strangest {
                name(LedgerEntry { client, number, is_lost: false });
            }
        }
        AuditCheck::Ledger { acknowledged, lost, phantoms, in_doubt: open, took_effect, examples }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The notes of a client, one letter per transaction: acknowledged, failed, failed in doubt,
    /// cut off.
    fn noted(client: u32, fates: &str, ledger: &Arc<CommitLedger>) {
        let mut ledger_writer = LedgerWriter::new(ClientId(client), ledger);
        for fate in fates.chars() {
            ledger_writer.begin();
            match fate {
                'a' => ledger_writer.acknowledged(),
                'f' => ledger_writer.failed(),
                _ => {}
            }
        }
    }

    fn found(rows: &str, strange: u64) -> LedgerRow {
        let rows = rows.chars().map(|row| row == '1').collect();
        LedgerRow { rows, strange, strangest: (strange > 0).then_some(99) }
    }

    #[test]
    fn ledger_check_lists_lost_and_phantom_commits() {
        let ledger = Arc::new(CommitLedger::default());
        noted(1, "aafdc", &ledger);
        noted(0, "aaa", &ledger);
        let check = ledger.compared(&[found("110", 0), found("10111", 2)]);
        let AuditCheck::Ledger { acknowledged, lost, phantoms, in_doubt, took_effect, examples } =
            check
        else {
            panic!("{check:?}");
        };
        assert_eq!((acknowledged, lost), (5, 2));
        assert_eq!(phantoms, 1 + 2, "one that failed, two that nobody made");
        assert_eq!((in_doubt, took_effect), (2, 2), "in doubt, and cut off");
        let entry = |client, number, is_lost| LedgerEntry { client, number, is_lost };
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
            noted(0, "afd", &ledger);
            let check = ledger.compared(&[found(&format!("10{doubtful}"), 0)]);
            assert_eq!(check.verdict(), AuditVerdict::Intact, "{check:?}");
        }
    }
}
