//! `select_random_points` and `select_random_ranges`: one query with many keys of the indexed
//! column, on table sbtest1.
//!
//! As in sysbench the keys are divided into equal segments, one per client, and each client draws
//! from its own.

use super::contract::{AuditFacts, Workload, WorkloadContext, count_rows, row_count};
use super::sbtest::{Sbtest, distribution_options, integer, table_options};
use crate::client_id::ClientId;
use crate::data_set::DataSet;
use crate::random::Random;
use crate::session::{Session, StatementText};
use dyno_drivers::{Connection, Value};
use dyno_model::audit::AuditCheck;
use dyno_model::catalog::{WorkloadDescription, WorkloadOptions};
use dyno_model::failure::OperationFailure;

const AUDIT: &str = "Table sbtest1 must still have table_size rows.";

pub(super) fn descriptions() -> Vec<WorkloadDescription> {
    let options = |special: Vec<_>| {
        let mut options: Vec<_> =
            table_options().into_iter().filter(|option| option.name != "tables").collect();
        options.extend(special);
        options.extend(distribution_options());
        options
    };
    vec![
        WorkloadDescription {
            name: "select_random_points",
            summary: "One SELECT with an IN list of values of the indexed column k, without a transaction.",
            audit: AUDIT,
            options: options(vec![integer(
                "random_points",
                1,
                10_000,
                10,
                "values in the IN list",
            )]),
        },
        WorkloadDescription {
            name: "select_random_ranges",
            summary: "One SELECT count(k) with several BETWEEN conditions on the indexed column k, without a transaction.",
            audit: AUDIT,
            options: options(vec![
                integer("number_of_ranges", 1, 10_000, 10, "BETWEEN conditions"),
                integer("delta", 0, 1_000_000, 5, "width of a range"),
            ]),
        },
    ]
}

/// Either of the two workloads.
pub struct RandomSelects {
    data: Sbtest,
    clients: u64,
    /// Values or ranges per query.
    keys: usize,
    /// Width of a range; `None` for points.
    delta: Option<i64>,
}

impl RandomSelects {
    pub(super) fn build(kind: &str, options: &WorkloadOptions, setting: WorkloadContext) -> Self {
        let mut options = options.clone();
        options.0.insert("tables".to_owned(), dyno_model::catalog::OptionValue::Integer(1));
        let data = Sbtest::build(&options, setting.engine, setting.seed);
        let (keys, delta) = if kind == "select_random_points" {
            (options.count("random_points") as usize, None)
        } else {
            (options.count("number_of_ranges") as usize, Some(options.integer("delta")))
        };
        Self { data, clients: u64::from(setting.clients), keys, delta }
    }
}

/// State of one client: the keys of its segment, and a buffer for parameters.
pub struct RandomSelectsClient {
    low: i64,
    high: i64,
    keys: Vec<i64>,
}

impl Workload for RandomSelects {
    type Client = RandomSelectsClient;
    type Baseline = ();

    fn kinds(&self) -> Vec<&'static str> {
        vec!["select"]
    }

    fn statements(&self) -> Vec<StatementText> {
        let sql = match self.delta {
            None => {
                let list = vec!["?"; self.keys].join(", ");
                format!("SELECT id, k, c, pad FROM sbtest1 WHERE k IN ({list})")
            }
            Some(_) => {
                let ranges = vec!["k BETWEEN ? AND ?"; self.keys].join(" OR ");
                format!("SELECT count(k) FROM sbtest1 WHERE {ranges}")
            }
        };
        vec![StatementText { sql, kind_index: 0 }]
    }

    fn reconnect_every(&self) -> u64 {
        self.data.reconnect
    }

    fn only_reads(&self) -> bool {
        true
    }

    fn begin(&self) -> Option<&'static str> {
        None
    }

    fn data(&self) -> &dyn DataSet {
        &self.data
    }

    fn client(&self, id: ClientId) -> RandomSelectsClient {
        let segment = (self.data.table_size / self.clients).max(1);
        let low = (segment * u64::from(id.0) % self.data.table_size + 1) as i64;
        let high = (low + segment as i64 - 1).min(self.data.table_size as i64);
        RandomSelectsClient { low, high, keys: Vec::new() }
    }

    async fn transaction(
        &self,
        client: &mut RandomSelectsClient,
        _sequence: u64,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<(), OperationFailure> {
        client.keys.clear();
        for _ in 0..self.keys {
            let key = self.data.distribution.draw(random, client.low, client.high);
            client.keys.push(key);
            if let Some(delta) = self.delta {
                client.keys.push(key + delta);
            }
        }
        let parameters: Vec<Value<'_>> =
            client.keys.iter().map(|key| Value::Integer(*key)).collect();
        session.run(0, &parameters).await?;
        Ok(())
    }

    async fn audit(
        &self,
        connection: &mut Connection,
        _facts: &AuditFacts<'_, ()>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        let (found, expected) = (count_rows(connection, "sbtest1").await?, self.data.table_size);
        Ok(vec![row_count("sbtest1", expected..=expected, found)])
    }
}
