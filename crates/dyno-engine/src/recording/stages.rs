//! Results of each stage of a load.

use super::sample::{Occurrence, Sample};
use dyno_model::latency;
use dyno_model::plan::LoadPlan;
use dyno_model::response::Responses;
use dyno_model::stages::StageRecord;

/// Commits and response times by stage.
#[derive(Debug)]
pub(crate) struct StageTally {
    opens: u64,
    /// End of each stage, nanoseconds since the epoch.
    ends: Vec<u64>,
    /// In an open loop, transactions that did not commit also have a response time: at least their
    /// age.
    is_open: bool,
    stages: Vec<(u64, Responses)>,
}

impl StageTally {
    /// `None` for a load without stages.
    pub(crate) fn of(load: &LoadPlan) -> Option<Self> {
        let stages = load.stages.as_ref()?;
        let ends: Vec<u64> = stages.ends().map(|end| load.warmup.0 + end.0).collect();
        let none = ends.iter().map(|_| (0, Responses::default())).collect();
        Some(Self { opens: load.warmup.0, ends, is_open: load.is_open(), stages: none })
    }

    /// The stage of a time; `None` after the last stage and in the warm-up.
    fn index(&self, time: u64) -> Option<usize> {
        let index = self.ends.partition_point(|end| *end <= time);
        (time >= self.opens && index < self.ends.len()).then_some(index)
    }

    /// Processes a sample.
    pub(super) fn record(&mut self, sample: Sample) {
        let (end, duration) = (sample.end(), sample.duration());
        match sample.occurrence() {
            Occurrence::Committed => self.committed(end, duration, sample.is_counted()),
            Occurrence::Failed(_) | Occurrence::CutOff | Occurrence::Skipped
                if sample.is_counted() =>
            {
                self.record_uncommitted(end, duration);
            }
            _ => {}
        }
    }

    /// Records a commit. Transactions that began in the warm-up compensate for those that end after
    /// the last stage.
    fn committed(&mut self, end: u64, duration: u64, is_counted: bool) {
        if let Some(index) = self.index(end) {
            self.stages[index].0 += 1;
        }
        if let Some(index) = self.index(end.saturating_sub(duration)).filter(|_| is_counted) {
            latency::record(&mut self.stages[index].1.committed, duration);
        }
    }

    /// Records the last observation of a counted transaction that did not commit, at this age.
    pub(crate) fn record_uncommitted(&mut self, seen: u64, age: u64) {
        if let Some(index) = self.index(seen.saturating_sub(age)).filter(|_| self.is_open) {
            latency::record(&mut self.stages[index].1.censored, age);
        }
    }

    /// Commits and response times of each stage.
    pub(crate) fn into_results(self) -> Vec<(u64, Responses)> {
        self.stages
    }

    /// Adds those of another generator.
    pub(crate) fn add(&mut self, results: &[(u64, Responses)]) {
        for ((committed, responses), other) in self.stages.iter_mut().zip(results) {
            *committed += other.0;
            responses.add(&other.1);
        }
    }

    /// The records of the stages, in order.
    pub(crate) fn records(&self) -> Vec<StageRecord> {
        let record = |(committed, responses): &(u64, Responses)| StageRecord {
            committed: *committed,
            response: responses.summary(),
        };
        self.stages.iter().map(record).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::plan::{LoadBy, Stages, StopRule};
    use dyno_model::stages::{Segment, Stage};
    use dyno_model::units::Nanos;

    /// A warm-up of 100 and stages of 1,000 and 500 nanoseconds.
    fn tally(by: LoadBy) -> StageTally {
        let stage = |name: &str, length| Stage {
            name: name.to_owned(),
            segments: vec![Segment { length: Nanos(length), from: 1.0, to: 1.0 }],
        };
        let stages = Stages { by, stages: vec![stage("a", 1_000), stage("b", 500)] };
        let load = LoadPlan {
            warmup: Nanos(100),
            stages: Some(stages),
            ..LoadPlan::new(StopRule::Duration(Nanos(1_500)))
        };
        StageTally::of(&load).expect("it has stages")
    }

    /// For each stage: commits during the stage, transactions that started in it, and those of them
    /// that did not commit.
    fn found(tally: &StageTally) -> Vec<(u64, u64, u64)> {
        let arrivals =
            |record: &StageRecord| record.response.map_or((0, 0), |all| (all.count, all.censored));
        tally.records().iter().map(|it| (it.committed, arrivals(it).0, arrivals(it).1)).collect()
    }

    #[test]
    fn commits_count_in_end_stage_and_times_in_start_stage() {
        let mut tally = tally(LoadBy::Rate);
        tally.committed(90, 50, false); // in the warm-up
        tally.committed(100, 50, false); // began in it, ended in the window
        tally.committed(1_099, 10, true);
        tally.committed(1_100, 10, true); // from the first into the second
        tally.committed(1_100, 0, true);
        tally.committed(1_600, 10, true); // after the second
        assert_eq!(found(&tally), [(2, 2, 0), (2, 2, 0)]);
    }

    #[test]
    fn lost_transactions_count_in_the_stage_they_were_due_in() {
        let mut tally = tally(LoadBy::Rate);
        tally.record_uncommitted(1_600, 1_000);
        tally.record_uncommitted(1_600, 500);
        tally.record_uncommitted(1_600, 0);
        assert_eq!(found(&tally), [(0, 1, 1), (0, 1, 1)]);
        let mut closed = self::tally(LoadBy::Clients);
        closed.record_uncommitted(1_600, 1_000);
        assert_eq!(found(&closed), [(0, 0, 0), (0, 0, 0)], "nobody else waited for it");
    }
}
