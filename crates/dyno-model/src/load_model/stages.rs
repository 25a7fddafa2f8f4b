//! A load that changes during a trial: a sequence of stages of a rate or of a number of clients.

use crate::response::ResponseSummary;
use crate::units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::named! {
    /// The quantity that a load specifies.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum LoadBy {
        /// Transactions that arrive per second: an open loop.
        Rate = "rate",
        /// Number of clients that each wait for their answer: a closed loop.
        Clients = "clients",
    }
}

/// A part of a stage in which the load changes linearly from one value to another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Segment {
    /// Duration.
    pub length: Nanos,
    /// Load at its start: transactions per second, or clients.
    pub from: f64,
    /// Load at its end.
    pub to: f64,
}

impl Segment {
    /// Integral of the load (load times seconds) from its start to a time.
    fn area(&self, seconds: f64) -> f64 {
        let slope = (self.to - self.from) / self.length.as_secs_f64();
        seconds * (self.from + slope * seconds / 2.0)
    }
}

/// A part of a trial with a name and separate figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stage {
    /// Name in reports; unique.
    pub name: String,
    /// Its segments in order; at least one.
    pub segments: Vec<Segment>,
}

impl Stage {
    /// Duration.
    #[must_use]
    pub fn length(&self) -> Nanos {
        Nanos(self.segments.iter().map(|segment| segment.length.0).sum())
    }

    /// Mean load: transactions per second, or clients.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let area: f64 =
            self.segments.iter().map(|segment| segment.area(segment.length.as_secs_f64())).sum();
        area / self.length().as_secs_f64()
    }
}

/// A sequence of stages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stages {
    /// The quantity that they specify.
    pub by: LoadBy,
    /// The stages; at least one.
    pub stages: Vec<Stage>,
}

impl Stages {
    /// Total duration.
    #[must_use]
    pub fn length(&self) -> Nanos {
        Nanos(self.stages.iter().map(|stage| stage.length().0).sum())
    }

    /// End of each stage, since the start of the first.
    pub fn ends(&self) -> impl Iterator<Item = Nanos> {
        self.stages.iter().scan(0, |end, stage| {
            *end += stage.length().0;
            Some(Nanos(*end))
        })
    }

    /// The highest load.
    #[must_use]
    pub fn highest(&self) -> f64 {
        self.segments().flat_map(|segment| [segment.from, segment.to]).fold(0.0, f64::max)
    }

    fn segments(&self) -> impl Iterator<Item = Segment> {
        self.stages.iter().flat_map(|stage| stage.segments.iter().copied())
    }
}

/// A load over time: a sequence of straight lines. Before the first it is constant at the initial
/// value, after the last at the final value.
///
/// Times are nanoseconds since its start. Its area is load times seconds: for a rate, the number of
/// transactions that arrive.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadProfile {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Piece {
    start: u64,
    segment: Segment,
    /// Area before it.
    before: f64,
}

impl Piece {
    fn end(&self) -> u64 {
        self.start.saturating_add(self.segment.length.0)
    }

    fn value(&self, time: u64) -> f64 {
        let Segment { length, from, to } = self.segment;
        let share = (time.saturating_sub(self.start) as f64 / length.0 as f64).min(1.0);
        from + (to - from) * share
    }
}

impl LoadProfile {
    /// A constant load.
    #[must_use]
    pub fn constant(load: f64) -> Self {
        Self::new(
            Nanos(0),
            std::iter::once(Segment { length: Nanos(u64::MAX), from: load, to: load }),
        )
    }

    /// The load of stages after a warm-up.
    #[must_use]
    pub fn of(stages: &Stages, warmup: Nanos) -> Self {
        Self::new(warmup, stages.segments())
    }

    fn new(warmup: Nanos, segments: impl Iterator<Item = Segment>) -> Self {
        let mut segments = segments.peekable();
        let first = segments.peek().map_or(0.0, |segment| segment.from);
        let warmup = Segment { length: warmup, from: first, to: first };
        let (mut start, mut before, mut last) = (0_u64, 0.0, first);
        let mut pieces = Vec::new();
        let mut add = |segment: Segment| {
            pieces.push(Piece { start, segment, before });
            start = start.saturating_add(segment.length.0);
            before += segment.area(segment.length.as_secs_f64());
        };
        for segment in
            std::iter::once(warmup).chain(segments).filter(|segment| segment.length.0 > 0)
        {
            last = segment.to;
            add(segment);
        }
        add(Segment { length: Nanos(u64::MAX), from: last, to: last });
        Self { pieces }
    }

    /// The load at a time.
    #[cfg(test)]
    fn value(&self, time: u64) -> f64 {
        self.pieces[self.index(time)].value(time)
    }

    /// The area from the start to a time.
    #[must_use]
    pub fn area(&self, time: u64) -> f64 {
        let piece = &self.pieces[self.index(time)];
        piece.before + piece.segment.area((time - piece.start) as f64 / 1e9)
    }

    /// The time at which the area from the start reaches a value; `u64::MAX` if it never does.
    /// `piece` is the piece of the last answer, initially 0; areas must not decrease from one call
    /// to the next.
    #[must_use]
    pub fn reaches(&self, area: f64, piece: &mut usize) -> u64 {
        while self.pieces.get(*piece + 1).is_some_and(|next| next.before < area) {
            *piece += 1;
        }
        let Piece { start, segment: Segment { length, from, to }, before } = self.pieces[*piece];
        let left = area - before;
        let slope = (to - from) / length.as_secs_f64();
        // The root of `from * t + slope * t² / 2 = left` without cancellation; for a line that
        // falls to 0, rounding may give a negative number under the root.
        let seconds = 2.0 * left / (from + (from * from + 2.0 * slope * left).max(0.0).sqrt());
        if seconds.is_finite() { start.saturating_add((seconds * 1e9) as u64) } else { u64::MAX }
    }

    /// The first time from `now` on at which the load reaches a value; `None` when it never does.
    #[must_use]
    pub fn at_least(&self, load: f64, now: u64) -> Option<u64> {
        for piece in &self.pieces[self.index(now)..] {
            let from = now.max(piece.start);
            if piece.value(from) >= load {
                return Some(from);
            }
            let Segment { length, from, to } = piece.segment;
            if to >= load {
                let share = (load - from) / (to - from);
                // Rounded up, so that the load is reached when it is evaluated at that time.
                let time = piece.start.saturating_add((share * length.0 as f64).ceil() as u64);
                return Some(time.min(piece.end()));
            }
        }
        None
    }

    fn index(&self, time: u64) -> usize {
        self.pieces.partition_point(|piece| piece.start <= time).saturating_sub(1)
    }
}

/// Results of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct StageRecord {
    /// Transactions that committed during it, whenever they started.
    pub committed: u64,
    /// Response times of those that started in it, or were due in it; absent when there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<ResponseSummary>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn stage(name: &str, segments: &[(u64, f64, f64)]) -> Stage {
        let segment = |&(seconds, from, to): &(u64, f64, f64)| Segment {
            length: Nanos(seconds * SECOND),
            from,
            to,
        };
        Stage { name: name.to_owned(), segments: segments.iter().map(segment).collect() }
    }

    fn stages() -> Stages {
        let stages = vec![
            stage("low", &[(10, 100.0, 100.0)]),
            stage("ramp", &[(10, 100.0, 300.0)]),
            stage("none", &[(5, 0.0, 0.0)]),
            stage("back", &[(10, 300.0, 0.0)]),
        ];
        Stages { by: LoadBy::Rate, stages }
    }

    #[test]
    fn a_profile_is_its_warm_up_and_its_segments() {
        let profile = LoadProfile::of(&stages(), Nanos(2 * SECOND));
        let at = |tenths: u64| profile.value(tenths * SECOND / 10);
        assert_eq!([0, 15, 120, 170, 219].map(at), [100.0, 100.0, 100.0, 200.0, 298.0]);
        assert_eq!([220, 269, 270, 320, 370, 9_999].map(at), [0.0, 0.0, 300.0, 150.0, 0.0, 0.0]);
        let area = |seconds: u64| profile.area(seconds * SECOND);
        assert_eq!(
            [0, 2, 12, 17, 22, 27, 37, 99].map(area),
            [0.0, 200.0, 1_200.0, 1_950.0, 3_200.0, 3_200.0, 4_700.0, 4_700.0]
        );
    }

    #[test]
    fn an_area_is_reached_when_it_is_there() {
        let profile = LoadProfile::of(&stages(), Nanos(2 * SECOND));
        let mut piece = 0;
        for area in 1..4_700 {
            let area = f64::from(area);
            let time = profile.reaches(area, &mut piece);
            assert!(
                (profile.area(time) - area).abs() < 1e-4,
                "{area} at {time}: {}",
                profile.area(time)
            );
            assert!(
                profile.value(time - 1) > 0.0,
                "nothing arrives where nothing is offered: {area} at {time}"
            );
        }
        assert_eq!(profile.reaches(4_700.1, &mut piece), u64::MAX);
        assert_eq!(LoadProfile::constant(500.0).reaches(250.0, &mut 0), SECOND / 2);
    }

    #[test]
    fn a_load_is_there_from_the_first_time_on_at_which_it_is() {
        let profile = LoadProfile::of(&stages(), Nanos(0));
        let from = |load: f64, seconds: u64| profile.at_least(load, seconds * SECOND);
        assert_eq!(from(100.0, 3), Some(3 * SECOND));
        assert_eq!(from(200.0, 3), Some(15 * SECOND));
        assert_eq!(from(200.0, 16), Some(16 * SECOND));
        assert_eq!(from(200.0, 21), Some(25 * SECOND));
        assert_eq!(from(200.0, 26), Some(26 * SECOND));
        assert_eq!(from(200.0, 29), None);
        assert_eq!(from(301.0, 0), None);
        for load in 101..300 {
            let time = profile.at_least(f64::from(load), 0).expect("the ramp goes there");
            assert!(profile.value(time) >= f64::from(load) - 1e-6, "{load} at {time}");
        }
    }

    #[test]
    fn a_stage_has_a_length_a_mean_and_an_end() {
        let stages = stages();
        assert_eq!(stages.stages[1].mean(), 200.0);
        assert_eq!(stages.length(), Nanos(35 * SECOND));
        assert_eq!(stages.ends().map(|end| end.0 / SECOND).collect::<Vec<_>>(), [10, 20, 25, 35]);
        assert_eq!(stages.highest(), 300.0);
    }
}
