//! `summary.json`: the results of every finished trial as flat rows, for other programs. Derived
//! from the event log.

use dyno_model::client_group::GroupRecord;
use dyno_model::limit::{LimitMetric, LimitPart, LimitVerdict};
use dyno_model::plan::{ComparisonMetric, Plan};
use dyno_model::record::TrialRecord;
use dyno_model::response::BoundedLatency;
use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "summary.json")]
pub(crate) struct Summary<'a> {
    /// Version of the results folder format.
    format: u32,
    title: &'a str,
    planned: usize,
    /// Trials with results.
    measured: usize,
    /// Trials that could not be measured.
    failed: usize,
    /// One row per trial with results, in the order in which they finished.
    trials: Vec<SummaryRow<'a>>,
    /// Limits of the spec and their results, one row per limit and configuration; set when the run
    /// has ended.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    limits: &'a [LimitSummary],
}

/// A limit for one configuration.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LimitSummary {
    /// The figure that the limit applies to.
    pub metric: LimitMetric,
    /// Threshold: per second, in milliseconds, in per cent; 0 for losses.
    pub value: f64,
    /// The part of the trial that the limit applies to; absent for the whole trial.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub part: Option<LimitPart>,
    /// Name of the system.
    pub system: String,
    /// Number of clients.
    pub clients: u32,
    /// Level of each factor.
    pub levels: Vec<String>,
    /// The figure that was compared with the limit, in the unit of `value`; `null` when there is
    /// none.
    pub figure: Option<f64>,
    /// Trials that the figure is based on.
    pub trials: u32,
    /// True when the figure was compared without a test, because the run has too few blocks for
    /// one.
    pub is_untested: bool,
    /// Whether the limit passed. `dyno run` ends with exit code 8 when one failed, and with 9 when
    /// one is undecided.
    pub verdict: LimitVerdict,
}

/// The JSON schema of `summary.json`.
#[must_use]
pub fn summary_schema() -> Schema {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<Summary<'_>>()
}

#[derive(Debug, Serialize, JsonSchema)]
struct SummaryRow<'a> {
    trial: &'a str,
    block: u32,
    system: &'a str,
    clients: u32,
    levels: &'a [String],
    #[serde(flatten)]
    figures: Figures,
    /// The highest load that passed, when one was searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    highest_rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    most_clients: Option<f64>,
    longest_gap_ms: Option<f64>,
    is_valid: bool,
    /// For a growing table: rows before the window, and rows added by its commits.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows_before: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows_inserted: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows_per_second: Option<f64>,
    /// Background workloads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    background: Vec<BackgroundSummary<'a>>,
}

/// Figures of a trial, and of a background workload.
#[derive(Debug, Serialize, JsonSchema)]
struct Figures {
    transactions_per_second: f64,
    committed: u64,
    /// This and the next are `null` when another program did not report them.
    failed: Option<u64>,
    retries: Option<u64>,
    /// Open loop: transactions that were due, and those that were never started.
    #[serde(skip_serializing_if = "Option::is_none")]
    arrived: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    never_started: Option<u64>,
    /// This and the following are `null` when nothing was committed, percentiles also when fewer
    /// than ten values exceed them, and all when only a lower bound is known.
    mean_ms: Option<f64>,
    p50_ms: Option<f64>,
    p90_ms: Option<f64>,
    p95_ms: Option<f64>,
    p99_ms: Option<f64>,
    p999_ms: Option<f64>,
    max_ms: Option<f64>,
    /// In an open loop, lower bounds of the figures above that are not known.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    at_least: BTreeMap<&'static str, f64>,
    audit: dyno_model::audit::AuditVerdict,
}

#[derive(Debug, Serialize, JsonSchema)]
struct BackgroundSummary<'a> {
    name: &'a str,
    clients: u32,
    #[serde(flatten)]
    figures: Figures,
}

/// Figures that may be lower bounds.
const BOUNDED: [(&str, ComparisonMetric); 8] = [
    ("highest_rate", ComparisonMetric::HighestRate),
    ("most_clients", ComparisonMetric::MostClients),
    ("mean_ms", ComparisonMetric::MeanMs),
    ("p50_ms", ComparisonMetric::P50Ms),
    ("p90_ms", ComparisonMetric::P90Ms),
    ("p95_ms", ComparisonMetric::P95Ms),
    ("p99_ms", ComparisonMetric::P99Ms),
    ("p999_ms", ComparisonMetric::P999Ms),
];

impl<'a> Summary<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        records: &'a [TrialRecord],
        failed: usize,
        limits: &'a [LimitSummary],
    ) -> Self {
        Self {
            format: plan.format,
            title: &plan.title,
            planned: plan.trials.len(),
            measured: records.len(),
            failed,
            trials: records.iter().filter_map(|record| row(plan, record)).collect(),
            limits,
        }
    }
}

fn row<'a>(plan: &'a Plan, record: &'a TrialRecord) -> Option<SummaryRow<'a>> {
    let configuration = plan.configurations.get(record.trial.configuration)?;
    Some(SummaryRow {
        trial: &record.trial.id,
        block: record.trial.block,
        system: plan.systems.get(configuration.system).map_or("", |system| &system.name),
        clients: configuration.clients,
        levels: &configuration.levels,
        figures: figures(record),
        highest_rate: known(record, ComparisonMetric::HighestRate),
        most_clients: known(record, ComparisonMetric::MostClients),
        longest_gap_ms: record.longest_gap.map(|gap| gap.length.as_millis_f64()),
        is_valid: record.is_valid(),
        rows_before: record.growth.map(|growth| growth.rows_before),
        rows_inserted: record
            .growth
            .map(|growth| growth.rows_per_transaction * record.counters.committed),
        rows_per_second: record
            .growth
            .map(|growth| growth.rows_per_transaction as f64 * record.throughput()),
        background: record.background.iter().map(background).collect(),
    })
}

/// A figure, unless only a lower bound is known.
fn known(record: &TrialRecord, metric: ComparisonMetric) -> Option<f64> {
    record.figure(metric).filter(|_| !record.is_bound(metric))
}

fn figures(record: &TrialRecord) -> Figures {
    let largest = record.response().map(|response| response.max).filter(|max| max.nanos > 0.0);
    Figures {
        transactions_per_second: record.throughput(),
        committed: record.counters.committed,
        failed: record.counters.known_failed(),
        retries: record.counters.known_retries(),
        arrived: record.open_loop.map(|open_loop| open_loop.arrived),
        never_started: record.open_loop.map(|open_loop| open_loop.unstarted),
        mean_ms: known(record, ComparisonMetric::MeanMs),
        p50_ms: known(record, ComparisonMetric::P50Ms),
        p90_ms: known(record, ComparisonMetric::P90Ms),
        p95_ms: known(record, ComparisonMetric::P95Ms),
        p99_ms: known(record, ComparisonMetric::P99Ms),
        p999_ms: known(record, ComparisonMetric::P999Ms),
        max_ms: largest.filter(|max| !max.is_bound).map(BoundedLatency::as_millis),
        at_least: BOUNDED
            .into_iter()
            .filter(|(_, metric)| record.is_bound(*metric))
            .filter_map(|(name, metric)| Some((name, record.figure(metric)?)))
            .chain(largest.filter(|max| max.is_bound).map(|max| ("max_ms", max.as_millis())))
            .collect(),
        audit: record.audit.verdict(),
    }
}

fn background(background: &GroupRecord) -> BackgroundSummary<'_> {
    BackgroundSummary {
        name: &background.name,
        clients: background.clients,
        figures: figures(&background.record),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Shape;
    use dyno_model::event::{Event, Listener};

    struct Records(Vec<TrialRecord>);

    impl Listener for Records {
        fn event(&mut self, event: &Event) {
            if let Event::TrialFinished(record) = event {
                self.0.push((**record).clone());
            }
        }
    }

    #[test]
    fn a_lower_bound_is_null_and_listed_among_the_bounds() {
        let (shape, mut records) = (Shape::small(), Records(Vec::new()));
        let plan = shape.plan();
        shape.play(&plan, &mut records);
        let record = &mut records.0[0];
        record.open_loop = Some(crate::fixture::open_loop(record, 60, 2_000_000_000));
        let summary =
            serde_json::to_value(Summary::new(&plan, &records.0, 0, &[])).expect("a document");
        let (open, closed) = (&summary["trials"][0], &summary["trials"][1]);
        assert!(
            open["p50_ms"].is_number() && open["p99_ms"].is_null() && open["max_ms"].is_null(),
            "{open}"
        );
        let max = open["at_least"]["max_ms"].as_f64().expect("a bound");
        assert!((max - 2_000.0).abs() < 2.0 && open["never_started"] == 60, "{open}");
        assert!(closed["at_least"].is_null() && closed["arrived"].is_null(), "{closed}");
    }

    #[test]
    fn a_lower_bound_of_a_background_workload_stands_among_its_bounds() {
        let (shape, mut records) = (Shape::small(), Records(Vec::new()));
        let plan = shape.plan();
        shape.play(&plan, &mut records);
        let mut record = records.0[0].clone();
        record.open_loop = Some(crate::fixture::open_loop(&record, 60, 2_000_000_000));
        records.0[0].background =
            vec![GroupRecord { name: "report".to_owned(), clients: 3, record }];
        let summary =
            serde_json::to_value(Summary::new(&plan, &records.0, 0, &[])).expect("a document");
        let background = &summary["trials"][0]["background"][0];
        assert!(background["p50_ms"].is_number() && background["p99_ms"].is_null(), "{background}");
        let bound = |name: &str| background["at_least"][name].as_f64();
        assert!(bound("max_ms").is_some_and(|max| (max - 2_000.0).abs() < 2.0), "{background}");
        assert!(bound("p99_ms").is_some() && bound("p50_ms").is_none(), "{background}");
        assert_eq!(
            (background["never_started"].as_u64(), background["clients"].as_u64()),
            (Some(60), Some(3))
        );
    }

    #[test]
    fn a_percentile_with_fewer_than_ten_values_beyond_it_is_null() {
        let (shape, mut records) = (Shape::small(), Records(Vec::new()));
        let plan = shape.plan();
        shape.play(&plan, &mut records);
        let mut records = records.0;
        records[0].transaction_latency.count = 999;
        records[1].transaction_latency = dyno_model::latency::LatencySummary::default();
        let summary =
            serde_json::to_value(Summary::new(&plan, &records, 0, &[])).expect("a document");
        let (few, none) = (&summary["trials"][0], &summary["trials"][1]);
        assert!(few["p95_ms"].is_number() && few["p99_ms"].is_null(), "{few}");
        assert!(
            none["mean_ms"].is_null() && none["p50_ms"].is_null() && none["max_ms"].is_null(),
            "{none}"
        );
    }
}
