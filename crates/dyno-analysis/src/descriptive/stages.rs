//! Figures of each stage of a load that changes during a trial.

use crate::estimate::{among, unit};
use crate::model::{LoadPoint, StageRow};
use crate::view::View;
use dyno_model::plan::{LoadPlan, Metric, Stages};
use dyno_model::record::{self, TrialRecord};
use dyno_model::stages::{Stage, StageRecord};
use dyno_model::units::Nanos;

pub(crate) fn stages(view: &View<'_>) -> Vec<StageRow> {
    let of = |(configuration, plan): (usize, &dyno_model::plan::Configuration)| {
        let stages = plan.load.stages.as_ref();
        stages.map_or_else(Vec::new, |stages| rows(view, configuration, &plan.load, stages))
    };
    view.configurations().flat_map(of).collect()
}

fn rows(view: &View<'_>, configuration: usize, load: &LoadPlan, stages: &Stages) -> Vec<StageRow> {
    let mut start = load.warmup;
    let row = |(index, stage): (usize, &Stage)| {
        let length_s = stage.length().as_secs_f64();
        let records: Vec<&StageRecord> =
            view.valid(configuration).filter_map(|record| record.stages.get(index)).collect();
        let responses = || records.iter().filter_map(|record| record.response.as_ref());
        let mean = |metric| {
            among(records.iter().filter_map(|record| figure(stage, record, metric)), unit(metric))
        };
        let row = StageRow {
            configuration,
            name: stage.name.clone(),
            by: stages.by,
            load: stage.mean(),
            length_s,
            course: course(start, stage),
            throughput: mean(Metric::Throughput),
            mean: mean(Metric::MeanMs),
            p50: mean(Metric::P50Ms),
            p95: mean(Metric::P95Ms),
            p99: mean(Metric::P99Ms),
            begun: responses().map(|response| response.count).sum(),
            not_committed: responses().map(|response| response.censored).sum(),
        };
        start = Nanos(start.0 + stage.length().0);
        row
    };
    stages.stages.iter().enumerate().map(row).collect()
}

/// A trial's figure for a stage: transactions per second or milliseconds, and whether it is only a
/// lower bound.
fn figure(stage: &Stage, record: &StageRecord, metric: Metric) -> Option<(f64, bool)> {
    match metric {
        Metric::Throughput => Some((record.committed as f64 / stage.length().as_secs_f64(), false)),
        _ => record::time(record.response.as_ref()?, metric)
            .map(|time| (time.as_millis(), time.is_bound)),
    }
}

/// The figures of a stage over the compared trials. `None` if one of them has none.
pub(crate) fn figures(
    view: &View<'_>,
    configuration: usize,
    name: &str,
    metric: Metric,
) -> Option<Vec<(f64, bool)>> {
    let (index, stage) = of_name(view, configuration, name)?;
    let records = view.eligibilities[configuration].usable.iter();
    records.map(|record| figure(stage, record.stages.get(index)?, metric)).collect()
}

fn of_name<'a>(view: &View<'a>, configuration: usize, name: &str) -> Option<(usize, &'a Stage)> {
    let stages = &view.plan().configurations[configuration].load.stages.as_ref()?.stages;
    stages.iter().enumerate().find(|(_, stage)| stage.name == name)
}

/// The number of response times of a stage in each compared trial.
pub(crate) fn counts(view: &View<'_>, configuration: usize, name: &str) -> Vec<u64> {
    let Some((index, _)) = of_name(view, configuration, name) else { return Vec::new() };
    let response = |record: &&TrialRecord| record.stages.get(index)?.response;
    let records = view.eligibilities[configuration].usable.iter();
    records.map(|record| response(record).map_or(0, |response| response.count)).collect()
}

/// Both ends of each segment of a stage.
fn course(mut start: Nanos, stage: &Stage) -> Vec<LoadPoint> {
    let mut points = Vec::new();
    for segment in &stage.segments {
        points.push(LoadPoint { at_s: start.as_secs_f64(), load: segment.from });
        start = Nanos(start.0 + segment.length.0);
        points.push(LoadPoint { at_s: start.as_secs_f64(), load: segment.to });
    }
    points.dedup();
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::model::{Conclusion, LimitVerdict, ReportModel};
    use dyno_model::limit::{Limit, LimitMeasure, LimitPart};
    use dyno_model::plan::LoadBy;
    use dyno_model::response::{Bounded, ResponseSummary};
    use dyno_model::stages::Segment;
    use dyno_model::warning::Warning;
    use dyno_store::fixture::{Shape, each_record};

    const SECOND: u64 = 1_000_000_000;

    /// Two stages of two and four seconds, the second a ramp. The first has 200, 202, 204, ...
    /// commits of a millisecond, trial by trial; of the second, one commit in a hundred is lost.
    fn staged() -> ReportModel {
        staged_with(Vec::new())
    }

    fn staged_with(limits: Vec<Limit>) -> ReportModel {
        let mut data = Shape { has_trouble: false, ..Shape::small() }.read();
        let segment = |length: u64, from, to| Segment { length: Nanos(length * SECOND), from, to };
        let stages = vec![
            Stage { name: "usual".to_owned(), segments: vec![segment(2, 100.0, 100.0)] },
            Stage {
                name: "rise".to_owned(),
                segments: vec![segment(1, 100.0, 200.0), segment(3, 200.0, 400.0)],
            },
        ];
        for configuration in &mut data.run.plan.configurations {
            configuration.load.warmup = Nanos(SECOND);
            configuration.load.stages = Some(Stages { by: LoadBy::Rate, stages: stages.clone() });
        }
        data.run.plan.limits = limits;
        each_record(&mut data.run, |index, record| {
            let time = |is_bound| Bounded { nanos: 1e6, is_bound };
            let response = |count: u64, censored: u64| ResponseSummary {
                count,
                censored,
                mean: time(censored > 0),
                p95: time(false),
                p99: time(censored > 0),
                ..ResponseSummary::default()
            };
            record.stages = vec![
                StageRecord { committed: 200 + 2 * index as u64, response: Some(response(200, 0)) },
                StageRecord { committed: 990, response: Some(response(1_000, 10)) },
            ];
            if index == 0 {
                record.warnings =
                    vec![Warning::CutShort { reason: "somebody fell over the cable".to_owned() }];
            }
        });
        analyse(&data)
    }

    #[test]
    fn stages_are_means_over_the_valid_trials() {
        let model = staged();
        assert_eq!(model.stages.len(), 2 * model.configurations.len());
        for (row, rise) in
            model.stages.iter().step_by(2).zip(model.stages.iter().skip(1).step_by(2))
        {
            let configuration = &model.configurations[row.configuration];
            let trials =
                model.trials.iter().enumerate().filter(|(index, trial)| {
                    trial.configuration == row.configuration && *index > 0
                });
            let rates: Vec<f64> = trials.map(|(index, _)| 100.0 + index as f64).collect();
            let throughput = row.throughput.expect("valid trials");
            assert_eq!(throughput.repeats, configuration.trials_valid);
            assert!(
                (throughput.mean - rates.iter().sum::<f64>() / rates.len() as f64).abs() < 1e-9,
                "{row:?}"
            );
            assert_eq!((row.name.as_str(), row.length_s, row.load), ("usual", 2.0, 100.0));
            assert_eq!(
                (row.begun, row.not_committed),
                (200 * u64::from(configuration.trials_valid), 0)
            );
            let p95 = row.p95.expect("ten lie beyond");
            assert!(p95.mean == 1.0 && !p95.is_bound);
            assert_eq!(row.p99, None, "two lie beyond");
            assert_eq!((rise.name.as_str(), rise.length_s, rise.load), ("rise", 4.0, 262.5));
            assert_eq!(rise.not_committed, 10 * u64::from(configuration.trials_valid));
            assert!(rise.p99.is_some_and(|p99| p99.is_bound && p99.interval.is_none()), "{rise:?}");
            assert!(rise.p95.is_some_and(|p95| !p95.is_bound));
        }
    }

    #[test]
    fn the_course_of_a_stage_begins_where_the_one_before_ends() {
        let model = staged();
        let course =
            |row: &StageRow| row.course.iter().map(|it| (it.at_s, it.load)).collect::<Vec<_>>();
        assert_eq!(course(&model.stages[0]), [(1.0, 100.0), (3.0, 100.0)]);
        assert_eq!(course(&model.stages[1]), [(3.0, 100.0), (4.0, 200.0), (7.0, 400.0)]);
        assert!(analyse(&Shape::small().read()).stages.is_empty());
    }

    #[test]
    fn limits_of_a_stage_are_about_its_figures() {
        let limit = |stage: Option<&str>, measure, value| Limit {
            measure,
            value,
            part: stage.map(|stage| LimitPart::Stage(stage.to_owned())),
            configurations: vec![0],
            aborts: false,
        };
        let model = staged_with(vec![
            limit(Some("usual"), LimitMeasure::P95, 2.0),
            limit(Some("usual"), LimitMeasure::P95, 0.5),
            limit(Some("usual"), LimitMeasure::Throughput, 90.0),
            limit(Some("rise"), LimitMeasure::Throughput, 300.0),
            limit(Some("rise"), LimitMeasure::P99, 2.0),
            limit(Some("rise"), LimitMeasure::P95, 2.0),
        ]);
        let verdicts: Vec<LimitVerdict> = model.limits.iter().map(|row| row.verdict).collect();
        // The true value of a lower bound below the limit may lie beyond it.
        assert_eq!(
            verdicts,
            [
                LimitVerdict::Passed,
                LimitVerdict::Failed,
                LimitVerdict::Passed,
                LimitVerdict::Failed,
                LimitVerdict::Undecided,
                LimitVerdict::Passed
            ],
            "{:?}",
            model.limits
        );
        let told: Vec<Option<&str>> = model
            .conclusions
            .iter()
            .filter_map(|it| {
                if let Conclusion::Limit { part, .. } = it {
                    Some(part.as_ref().map(LimitPart::name))
                } else {
                    None
                }
            })
            .collect();
        assert_eq!(told.len(), 6, "the same limit on two stages is two");
        assert!(told.iter().all(Option::is_some));
    }

    #[test]
    fn a_staged_rate_is_an_input_and_response_times_are_what_is_judged() {
        assert_eq!(staged().judged_by, Metric::P95Ms);
    }
}
