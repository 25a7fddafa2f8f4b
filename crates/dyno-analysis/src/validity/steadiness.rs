//! Steady-state check of trials, from the seconds of their timelines.

use crate::estimate::as_u32;
use crate::model::{SeriesSteadiness, TrialSteadiness};
use crate::stats::steady::{Steadiness, VALUES_MIN, steadiness};
use dyno_model::plan::{ComparisonMetric, LoadPlan, StopRule};
use dyno_model::record::{TrialRecord, is_rate};
use dyno_model::warning::Warning;
use dyno_store::TimelineLine;

/// Longest duration of a one-second interval of a timeline, in s; its inverse is the shortest.
const SECOND_MAX: f64 = 1.5;

/// Judges a trial. `None` if it has too few whole seconds or is meant to change: its table grows,
/// its load has stages, or its clients end one after another.
pub(crate) fn judge(
    record: &TrialRecord,
    load: &LoadPlan,
    timeline: &[TimelineLine],
) -> Option<TrialSteadiness> {
    let is_uneven = matches!(load.stop, StopRule::Rows(_) | StopRule::TransactionsPerClient(_));
    if record.growth.is_some() || load.stages.is_some() || is_uneven {
        return None;
    }
    let seconds = seconds(timeline)?;
    let throughput: Vec<f64> =
        seconds.iter().map(|second| second.committed as f64 / second.length_s).collect();
    // Only if every second has a mean: a second without commits is reported as a stall.
    let means: Option<Vec<f64>> = seconds.iter().map(Second::mean_ms).collect();
    Some(TrialSteadiness {
        seconds: as_u32(seconds.len()),
        throughput: row(steadiness(&throughput)?),
        mean_ms: means.and_then(|means| steadiness(&means)).map(row),
    })
}

fn row(found: Steadiness) -> SeriesSteadiness {
    SeriesSteadiness {
        warm_up_s: found.warm_up as f64,
        warm_up_share: found.excess,
        drift_share: found.drift,
        has_warm_up: found.has_warm_up(),
        drifts: found.drifts(),
    }
}

/// Warnings about a trial's steadiness: about throughput, or about response times if throughput is
/// steady. In a closed loop, one follows from the other.
pub(crate) fn warnings(found: &TrialSteadiness) -> Vec<Warning> {
    let of = |metric, series: &SeriesSteadiness| {
        let (seconds, share) = (series.warm_up_s, series.warm_up_share);
        let warm_up = series.has_warm_up.then_some(Warning::WarmUpLeft { metric, seconds, share });
        let drift = series.drifts.then_some(Warning::Drift { metric, share: series.drift_share });
        warm_up.into_iter().chain(drift).collect::<Vec<_>>()
    };
    let of_throughput = of(ComparisonMetric::Throughput, &found.throughput);
    match &found.mean_ms {
        Some(means) if of_throughput.is_empty() => of(ComparisonMetric::MeanMs, means),
        _ => of_throughput,
    }
}

/// A whole second of the measurement window.
#[derive(Debug, Default)]
struct Second {
    length_s: f64,
    committed: u64,
    /// Sum of response times, in ms.
    sum_ms: f64,
}

impl Second {
    /// `None` when nothing was committed.
    fn mean_ms(&self) -> Option<f64> {
        (self.committed > 0).then(|| self.sum_ms / self.committed as f64)
    }
}

/// The measurement window in whole seconds, without the remainder at its end; `None` if there are
/// too few, or if the intervals are longer.
fn seconds(timeline: &[TimelineLine]) -> Option<Vec<Second>> {
    let (mut seconds, mut open) = (Vec::new(), Second::default());
    for line in timeline.iter().filter(|line| !line.is_warmup) {
        open.length_s += line.length_s;
        open.committed += line.committed;
        open.sum_ms += line.latency_ms.map_or(0.0, |values| values[0]) * line.committed as f64;
        if open.length_s > SECOND_MAX {
            return None;
        }
        if is_rate(open.length_s) {
            seconds.push(std::mem::take(&mut open));
        }
    }
    (seconds.len() >= VALUES_MIN).then_some(seconds)
}
