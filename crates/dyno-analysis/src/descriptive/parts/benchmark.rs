//! What a workload derived from a standard benchmark counts, and what its rate depends on.

use super::named::{count, of_transactions};
use crate::estimate::estimate_figures;
use crate::model::{Figures, Metric, PartKind, PartRow};
use crate::view::View;
use dyno_model::plan::ComparisonMetric;
use dyno_model::record::{BenchmarkFacts, TrialRecord, UsedCount};

/// Seconds of a minute.
const MINUTE: f64 = 60.0;

/// The valid trials that have such facts.
fn known<'v>(
    view: &'v View<'_>,
    configuration: usize,
) -> impl Iterator<Item = (&'v TrialRecord, &'v BenchmarkFacts)> + Clone {
    view.valid(configuration)
        .filter_map(|record| Some((record, record.facts.as_ref()?.benchmark.as_ref()?)))
}

/// True when transactions of this name end with a rollback because the standard demands it.
pub(super) fn is_rolled_back(view: &View<'_>, configuration: usize, name: &str) -> bool {
    known(view, configuration).any(|(_, facts)| facts.rolled_back == name)
}

/// The row of a configuration.
pub(super) fn row(view: &View<'_>, configuration: usize) -> Option<PartRow> {
    let known = known(view, configuration);
    let (_, first) = known.clone().next()?;
    let per_minute = |(record, facts): (&TrialRecord, &BenchmarkFacts)| {
        let rate = of_transactions(record, &facts.transaction, ComparisonMetric::Throughput)?;
        Some((rate.0 * MINUTE, facts.per_minute_max))
    };
    let rates = known.clone().filter_map(per_minute);
    let shares = rates.clone().filter_map(|(rate, most)| Some((100.0 * rate / most?, false)));
    let committed = |of: fn(&BenchmarkFacts) -> &str| -> u64 {
        let counts = known.clone().filter_map(|(it, facts)| count(&it.counters, of(facts)));
        counts.map(|it| it.committed).sum()
    };
    let (counted, rolled_back) =
        (committed(|facts| &facts.transaction), committed(|facts| &facts.rolled_back));
    let orders = counted + rolled_back;
    let least = |of: fn(&BenchmarkFacts) -> UsedCount| {
        known.clone().map(|(_, facts)| of(facts)).min_by_key(|it| it.touched)
    };
    let mut figures = Figures::default();
    let per_minute =
        estimate_figures(rates.map(|(rate, _)| (rate, false)), Metric::NewOrdersPerMinute);
    figures.set(Metric::NewOrdersPerMinute, per_minute);
    figures.set(Metric::PacedShare, estimate_figures(shares, Metric::PacedShare));
    figures.set(Metric::RolledBack, Some(rolled_back));
    let share = (orders > 0).then(|| 100.0 * rolled_back as f64 / orders as f64);
    figures.set(Metric::RolledBackShare, share);
    for (all, used, touched) in [
        (Metric::Warehouses, Metric::WarehousesTouched, least(|facts| facts.warehouses)),
        (Metric::Districts, Metric::DistrictsTouched, least(|facts| facts.districts)),
    ] {
        figures.set(all, touched.map(|it| it.all));
        figures.set(used, touched.map(|it| it.touched));
    }
    let is_same = known.clone().all(|(_, facts)| facts.isolation == first.isolation);
    let part = PartKind::Benchmark {
        is_paced: first.per_minute_max.is_some(),
        isolation: first.isolation.filter(|_| is_same),
    };
    Some(PartRow { configuration, name: first.transaction.clone(), part, figures })
}
