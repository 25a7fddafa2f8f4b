//! Trials with too few transactions for a percentile, and the measurement time they would need.

use crate::model::Shortage;
use dyno_model::latency::{is_shown, needed};
use dyno_model::plan::{ComparisonMetric, LoadPlan, StopRule};

/// Factor by which a proposed time exceeds the required time, since trials vary.
const SPARE: f64 = 1.1;

/// Why trials with these transaction counts have no figure of a metric; `None` if the count is not
/// the reason.
pub(crate) fn shortage(
    counts: &[u64],
    metric: ComparisonMetric,
    load: &LoadPlan,
) -> Option<Shortage> {
    let percentile = metric.percentage()?;
    let transactions =
        counts.iter().copied().min().filter(|fewest| !is_shown(*fewest, percentile))?;
    let needed = needed(percentile);
    let duration_s = match load.stop {
        StopRule::Duration(time)
            if transactions > 0 && load.stages.is_none() && load.find.is_none() =>
        {
            Some(rounded_up(time.as_secs_f64() * SPARE * needed as f64 / transactions as f64))
        }
        _ => None,
    };
    Some(Shortage { percentile, transactions, needed, duration_s })
}

/// The next round duration: whole seconds, then multiples of 5 s, 30 s, 5 min and hours.
fn rounded_up(seconds: f64) -> f64 {
    let step = match seconds {
        s if s <= 10.0 => 1.0,
        s if s <= 60.0 => 5.0,
        s if s <= 600.0 => 30.0,
        s if s <= 3_600.0 => 300.0,
        _ => 3_600.0,
    };
    step * (seconds / step).ceil()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::limit::LimitMetric;
    use dyno_model::plan::{LoadBy, Stages};
    use dyno_model::search::Search;
    use dyno_model::stages::Stage;
    use dyno_model::units::Nanos;

    #[test]
    fn trial_with_fewest_transactions_sets_the_required_duration() {
        let ten_seconds = LoadPlan::new(StopRule::Duration(Nanos(10_000_000_000)));
        let of = |counts: &[u64], metric| shortage(counts, metric, &ten_seconds);
        let found = of(&[640, 700], ComparisonMetric::P99Ms).expect("too few");
        assert_eq!((found.transactions, found.needed, found.duration_s), (640, 1_000, Some(20.0)));
        let found = of(&[5_000, 20_000], ComparisonMetric::P999Ms).expect("too few");
        assert_eq!(
            (found.transactions, found.needed, found.duration_s),
            (5_000, 10_000, Some(25.0))
        );
        assert_eq!(of(&[0, 5_000], ComparisonMetric::P95Ms).expect("too few").duration_s, None);
        assert_eq!(of(&[1_000, 2_000], ComparisonMetric::P99Ms), None);
        assert_eq!(of(&[1], ComparisonMetric::MeanMs), None);
        assert_eq!(of(&[], ComparisonMetric::P99Ms), None);
        // A longer time would be a different load, or a different search.
        let stage = Stage { name: String::new(), segments: Vec::new() };
        let stages = Some(Stages { by: LoadBy::Rate, stages: vec![stage] });
        let (most, metric) = (LoadBy::Rate, LimitMetric::P99);
        let find = Some(Search { most, metric, below: 20.0, transaction: None, from: None });
        for load in
            [LoadPlan { stages, ..ten_seconds.clone() }, LoadPlan { find, ..ten_seconds.clone() }]
        {
            let found = shortage(&[640], ComparisonMetric::P99Ms, &load).expect("too few");
            assert_eq!((found.transactions, found.duration_s), (640, None));
        }
        let counted = LoadPlan::new(StopRule::Transactions(500));
        assert_eq!(
            shortage(&[500], ComparisonMetric::P99Ms, &counted).expect("too few").duration_s,
            None
        );
    }

    #[test]
    fn times_are_rounded_up_to_what_somebody_would_write() {
        for (seconds, rounded) in [
            (1.2, 2.0),
            (10.0, 10.0),
            (17.2, 20.0),
            (61.0, 90.0),
            (601.0, 900.0),
            (3_700.0, 7_200.0),
        ] {
            assert_eq!(rounded_up(seconds), rounded, "{seconds}");
        }
    }
}
