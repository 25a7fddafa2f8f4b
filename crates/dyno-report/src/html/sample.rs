//! Sample reports for the tests of the page: the synthetic run of `dyno_store::fixture`, analysed
//! once for each shape, and modified where a report must be larger or more extreme than a run can
//! be.

use dyno_analysis::analyse;
use dyno_analysis::model::{
    Estimate, Figures, HeatColumn, Metric, Range, RepeatDot, ReportModel, Timeline, TimelinePoint,
    TrialRow, Validity,
};
use dyno_model::audit::AuditVerdict;
use dyno_store::fixture::Shape;
use std::sync::OnceLock;

/// Variants of the workload; the first one loses updates.
const VARIANTS: [&str; 4] = ["read-modify-write", "in-place", "for-update", "optimistic"];

fn shape() -> Shape {
    Shape {
        systems: 3,
        clients: vec![1, 20, 40, 60],
        transactions_per_value: 100,
        ..Shape::small()
    }
}

/// Three systems, one variant that loses updates.
pub(super) fn rush() -> ReportModel {
    static MODEL: OnceLock<ReportModel> = OnceLock::new();
    MODEL.get_or_init(|| analyse(&shape().read())).clone()
}

/// All variants on all systems, without published figures.
pub(super) fn variants() -> ReportModel {
    static MODEL: OnceLock<ReportModel> = OnceLock::new();
    let made = MODEL.get_or_init(|| {
        of_variants(&Shape { variants: VARIANTS.into(), clients: vec![1, 20], ..shape() })
    });
    made.clone()
}

/// 108 configurations in five blocks, with timelines of 300 seconds.
pub(super) fn hundred() -> ReportModel {
    let clients = vec![1, 2, 4, 8, 16, 32, 64, 128, 256];
    let mut model = of_variants(&Shape { variants: VARIANTS.into(), clients, ..shape() });
    // Only three blocks are analysed, because that is slow; the last two are copies of the first
    // two.
    let name = |block: u32, of: &str| format!("b{block:02}{}", &of[3..]);
    for from in [1, 2] {
        let block = from + 3;
        let trials = model.trials.iter().filter(|trial| trial.block == from);
        let trials: Vec<_> = trials
            .map(|trial| TrialRow { id: name(block, &trial.id), block, ..trial.clone() })
            .collect();
        model.trials.extend(trials);
        let timelines = model.timelines.iter().filter(|timeline| timeline.block == from);
        let timelines: Vec<_> = timelines
            .map(|of| Timeline { trial: name(block, &of.trial), block, ..of.clone() })
            .collect();
        model.timelines.extend(timelines);
        for point in model
            .panels
            .iter_mut()
            .flat_map(|panel| &mut panel.series)
            .flat_map(|series| &mut series.points)
        {
            let dots = point.repeats.iter().filter(|dot| dot.block == from);
            let dots: Vec<_> = dots
                .map(|dot| RepeatDot { trial: name(block, &dot.trial), block, ..dot.clone() })
                .collect();
            point.repeats.extend(dots);
        }
    }
    long(model, 300)
}

fn of_variants(shape: &Shape) -> ReportModel {
    ReportModel { published: Vec::new(), ..analyse(&shape.read()) }
}

/// The result of a first run without arguments: nothing lost, nothing published.
pub(super) fn quickstart() -> ReportModel {
    static MODEL: OnceLock<ReportModel> = OnceLock::new();
    let shape =
        Shape { systems: 2, variants: vec!["in-place"], clients: vec![1, 2, 4, 8], ..shape() };
    MODEL.get_or_init(|| of_variants(&shape)).clone()
}

/// One configuration in one block.
pub(super) fn alone() -> ReportModel {
    of_variants(&Shape { systems: 1, clients: vec![8], blocks: 1, ..shape() })
}

/// One invalid trial and one failed trial, without published figures.
pub(super) fn failures() -> ReportModel {
    static MODEL: OnceLock<ReportModel> = OnceLock::new();
    MODEL.get_or_init(|| of_variants(&Shape { has_failures: true, ..shape() })).clone()
}

/// The highest published throughput is this multiple of the measured one.
pub(super) fn published(factor: f64) -> ReportModel {
    let mut model = rush();
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let ours = largest(
        &mut model.configurations.iter().filter_map(|row| row.figures.value(Metric::Throughput)),
    );
    let points = || model.published.iter().flat_map(|series| &series.points);
    let scale = factor * ours / largest(&mut points().map(|point| point.value));
    for point in model.published.iter_mut().flat_map(|series| &mut series.points) {
        point.value *= scale;
    }
    model
}

/// Extends every timeline to this length by repeating its points.
fn long(mut model: ReportModel, seconds: usize) -> ReportModel {
    for timeline in &mut model.timelines {
        let points = timeline.points.iter().cycle().take(seconds).enumerate();
        let moved = |(second, point): (usize, &TimelinePoint)| TimelinePoint {
            start_s: second as f64,
            is_warmup: second < seconds / 6,
            ..*point
        };
        timeline.points = points.map(moved).collect();
    }
    // The maximum number of intervals.
    let number = if model.configurations.len() > 24 { 24 } else { 60 };
    for map in &mut model.heat_maps {
        let columns = map.columns.iter().cycle().take(number).enumerate();
        let moved = |(at, column): (usize, &HeatColumn)| HeatColumn {
            start_s: (at * seconds / number) as f64,
            length_s: (seconds / number) as f64,
            ..column.clone()
        };
        map.columns = columns.map(moved).collect();
    }
    model
}

/// Multiplies all throughputs by a million and divides all response times by it.
fn huge() -> ReportModel {
    let mut model = quickstart();
    let scaled = |estimate: &mut Option<Estimate>, factor: f64| {
        if let Some(estimate) = estimate {
            estimate.mean *= factor;
            let wider = |range: Range| Range { low: range.low * factor, high: range.high * factor };
            estimate.interval = estimate.interval.map(wider);
        }
    };
    for row in &mut model.configurations {
        let all = [Metric::Throughput, Metric::Mean, Metric::P50, Metric::P95, Metric::P99];
        for metric in all {
            let mut estimate = row.figures.estimate(metric);
            scaled(&mut estimate, if metric == Metric::Throughput { 1e6 } else { 1e-6 });
            row.figures.set(metric, estimate);
        }
    }
    for panel in &mut model.panels {
        let factor =
            if panel.metric == dyno_model::plan::ComparisonMetric::Throughput { 1e6 } else { 1e-6 };
        for point in panel.series.iter_mut().flat_map(|series| &mut series.points) {
            scaled(&mut point.estimate, factor);
            point.repeats.iter_mut().for_each(|dot| dot.value *= factor);
        }
    }
    for point in model.timelines.iter_mut().flat_map(|timeline| &mut timeline.points) {
        point.throughput = point.throughput.map(|value| value * 1e6);
    }
    model
}

/// Removes all audits.
fn unaudited(mut model: ReportModel) -> ReportModel {
    model.audits.clear();
    for row in &mut model.configurations {
        row.figures.set(Metric::LostPercent, None::<f64>);
        row.audit = AuditVerdict::NotChecked;
    }
    model
}

/// Names that are too long, in other scripts, or look like markup.
fn long_names() -> ReportModel {
    let mut model = variants();
    "<script>alert(\"title\")</script> & a title that goes on for long enough to need a second line"
        .clone_into(&mut model.title);
    let names = [
        "MariaDB 10.11 with a thread pool of sixteen groups and 12 GB of buffer pool on NVMe",
        "마리아디비 동시접속자 성능 테스트 결과서",
        "<b>PostgreSQL</b> & スレッド 同時アクセス数",
    ];
    for series in &mut model.series {
        series.label = format!("{} ({})", names[series.system], series.levels[0]);
        names[series.system].clone_into(&mut series.system_name);
    }
    for (system, name) in model.provenance.systems.iter_mut().zip(names) {
        name.clone_into(&mut system.name);
    }
    model
}

/// Five runs of an experiment on successive days, with throughputs of 100 %, 110 %, 90 %, none for
/// the first configuration, and 125 % of those of the first run. Their
/// names look like markup.
pub(crate) fn history() -> Vec<ReportModel> {
    let run = |(day, percent): (u32, f64)| {
        let mut model = failures();
        "<img src=x onerror=alert(1)>".clone_into(&mut model.title);
        model.provenance.run = format!("2026-11-0{day}T00-00-00Z-<b>'\"&{day}");
        model.provenance.started_at = format!("2026-11-0{day}T08:30:00.000Z");
        for series in &mut model.series {
            series.label.push_str(" <script>alert(1)</script>");
        }
        for row in &mut model.configurations {
            let scaled = row.figures.estimate(Metric::Throughput).map(|it| Estimate {
                mean: it.mean * percent / 100.0,
                interval: None,
                ..it
            });
            row.figures.set(Metric::Throughput, scaled);
        }
        if day == 4 {
            let first = &mut model.configurations[0];
            (first.figures, first.validity) = (Figures::default(), Validity::Invalid);
        }
        model
    };
    (1..).zip([100.0, 110.0, 90.0, 100.0, 125.0]).map(run).collect()
}

/// All shapes, with their names.
pub(crate) fn all() -> Vec<(&'static str, ReportModel)> {
    vec![
        ("rush", rush()),
        ("variants", variants()),
        ("quickstart", quickstart()),
        ("smallest", unaudited(alone())),
        ("failures", failures()),
        ("two-blocks", analyse(&Shape { clients: vec![1, 20], blocks: 2, ..shape() }.read())),
        ("published-far", published(0.02)),
        ("huge", huge()),
        ("long-trials", long(quickstart(), 900)),
        ("long-names", long_names()),
        ("nothing", analyse(&Shape { systems: 0, ..shape() }.read())),
    ]
}
