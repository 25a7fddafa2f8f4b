//! Figures of each of several load generators.

use crate::model::{Figure, Figures, Metric, PartKind, PartRow};
use crate::view::View;
use dyno_model::generators::GeneratorSummary;
use dyno_model::limit::LimitPart;
use dyno_model::plan::Configuration;
use dyno_model::record::TrialRecord;
use dyno_model::units::Nanos;

/// One row per generator, of the measured groups and of each background group; none if the clients
/// were in one process.
pub(super) fn rows(view: &View<'_>, configuration: usize, plan: &Configuration) -> Vec<PartRow> {
    let background = plan.background.iter().map(|it| LimitPart::Background(it.name.clone()));
    let groups = [None].into_iter().chain(background.map(Some));
    groups.flat_map(|group| rows_of(view, configuration, group.as_ref())).collect()
}

/// The rows of a background group, or of the measured groups.
fn rows_of(view: &View<'_>, configuration: usize, group: Option<&LimitPart>) -> Vec<PartRow> {
    let records = view.measured_records(configuration).iter().filter_map(|it| it.of_group(group));
    let numbers = records.filter_map(|it| Some(it.generators.as_ref()?.summaries.len())).max();
    (0..numbers.unwrap_or(0)).map(|number| row(view, configuration, group, number)).collect()
}

fn row(
    view: &View<'_>,
    configuration: usize,
    group: Option<&LimitPart>,
    generator: usize,
) -> PartRow {
    fn summary_and_time<'r>(
        record: &'r TrialRecord,
        group: Option<&LimitPart>,
        generator: usize,
    ) -> Option<(&'r GeneratorSummary, Nanos)> {
        let record = record.of_group(group)?;
        Some((record.generators.as_ref()?.summaries.get(generator)?, record.window_length))
    }
    let summaries: Vec<(&GeneratorSummary, Nanos)> = view
        .measured_records(configuration)
        .iter()
        .filter_map(|it| summary_and_time(it, group, generator))
        .collect();
    let parts = || summaries.iter().map(|(part, _)| *part);
    let most = |of: fn(&GeneratorSummary) -> Option<f64>| parts().filter_map(of).reduce(f64::max);
    let cores = summaries
        .iter()
        .filter(|(_, length)| length.0 > 0)
        .map(|(part, length)| part.cpu.0 as f64 / length.0 as f64)
        .reduce(f64::max);
    let valid = view.valid(configuration).filter_map(|it| summary_and_time(it, group, generator));
    let committed = valid.map(|(part, _)| part.committed).reduce(|sum, part| sum + part);
    let milliseconds = |nanos: u64| Nanos(nanos).as_millis_f64();
    let clock = parts().map(|it| it.clock_uncertainty.0 + it.clock_drift.unsigned_abs()).max();
    let figures = Figures::from([
        (Metric::Committed, committed.map(Into::into)),
        (Metric::GeneratorProcessors, cores.map(Figure::Value)),
        (Metric::WorkerCpu, most(|it| Some(100.0 * it.busiest_worker)).map(Into::into)),
        (Metric::Stalled, most(|it| it.held_up.map(|share| 100.0 * share)).map(Into::into)),
        (
            Metric::WakeupLag,
            parts().map(|it| it.wakeup_lag_p99).max().map(|it| milliseconds(it).into()),
        ),
        (Metric::GeneratorMemory, parts().map(|it| it.memory_peak).max().map(Into::into)),
        (
            Metric::Lag,
            parts()
                .filter_map(|it| it.lag)
                .map(|lag| lag.p99)
                .max()
                .map(|it| milliseconds(it).into()),
        ),
        (Metric::ClockUncertainty, clock.map(|it| milliseconds(it).into())),
        (Metric::CpuSteal, most(|it| Some(100.0 * it.steal)).map(Into::into)),
    ]);
    let mut hosts: Vec<String> = parts().map(|it| it.host.clone()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let clients = parts().map(|it| it.clients).max().unwrap_or(0);
    let part = PartKind::Generator { clients, hosts };
    let name = match group {
        None => generator.to_string(),
        Some(group) => format!("{}: {generator}", group.name()),
    };
    PartRow { configuration, name, part, figures }
}
