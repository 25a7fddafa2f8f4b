//! The timeline of a configuration, second by second: throughput at the top, response time below
//! it, then the activity of machine and server, one column per repeat on equal axes. The warm-up is
//! shaded and seconds without any commit are marked.

use super::frame::{Frame, is_narrow, label_room, panel_title, ticks, x_axis, y_axis, y_grid};
use super::palette::Slot;
use super::scale::{Scale, ScaleKind, or_one, rounded_out};
use super::svg::{Anchor, Chart, Drawing, LineSegment};
use super::text::Quantity;
use super::tracks::{self, Track, TrackIntervals};

/// The timelines of a configuration's repeats.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TimelineChart {
    pub(crate) x_title: String,
    /// Name of the upper y axis.
    pub(crate) throughput_title: String,
    /// Name of the lower (logarithmic) y axis.
    pub(crate) latency_title: String,
    /// Name of the median's line.
    pub(crate) median_label: String,
    /// Name of the 99th percentile's line.
    pub(crate) p99_label: String,
    /// Panels below; may be empty.
    pub(crate) tracks: Vec<Track>,
    /// Repeats in order.
    pub(crate) repeats: Vec<TrialTimeline>,
}

/// The timeline of one trial.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct TrialTimeline {
    /// Name of the repeat.
    pub(crate) title: String,
    /// Intervals in order of time.
    pub(crate) points: Vec<Moment>,
    /// Intervals without a commit: start and end in seconds.
    pub(crate) stalls: Vec<(f64, f64)>,
    /// Times at which one stage of the load ends and the next begins.
    pub(crate) stages: Vec<f64>,
    /// Arrival rate per second over the course of a trial, in order of time; empty if there is none
    /// or it is constant.
    pub(crate) offered: Vec<(f64, f64)>,
    /// Times at which faults were injected.
    pub(crate) faults: Vec<f64>,
    /// One per additional panel.
    pub(crate) tracks: Vec<TrackIntervals>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Moment {
    /// Start in seconds since the common start.
    pub(crate) start: f64,
    /// Length in seconds.
    pub(crate) length: f64,
    /// True before the measured window.
    pub(crate) is_warmup: bool,
    /// Transactions per second; `None` if the interval is too short for a rate.
    pub(crate) throughput: Option<f64>,
    /// Milliseconds.
    pub(crate) median: Option<f64>,
    /// Milliseconds.
    pub(crate) p99: Option<f64>,
}

/// Maximum number of columns.
const COLUMNS: usize = 5;
/// Maximum number of columns on a phone.
const COLUMNS_NARROW: usize = 2;
const UPPER: f64 = 84.0;
const LOWER: f64 = 84.0;
const BETWEEN: f64 = 16.0;
const GAP: f64 = 24.0;

impl TimelineChart {
    pub(crate) fn draw(&self, mut drawing: Drawing) -> Chart {
        let width = drawing.width();
        let axes = Axes::of(&self.repeats);
        let most = if is_narrow(width) { COLUMNS_NARROW } else { COLUMNS };
        let columns = self.repeats.len().clamp(1, most);
        let left = (axes.room().max(self.track_room()) + 20.0).ceil();
        let key =
            self.tracks.iter().map(|track| track.key_height(width - left)).fold(0.0, f64::max);
        let below = self.tracks.len() as f64 * (key + tracks::HEIGHT);
        let row_height = 26.0 + UPPER + BETWEEN + LOWER + below + 26.0;
        // Integers are shorter in SVG.
        let cell = ((width - left - 16.0 + GAP) / columns as f64).floor();
        draw_key(&mut drawing, self, left);
        let top = 22.0;
        let frames: Vec<(Frame, Frame)> = (0..self.repeats.len())
            .map(|i| {
                let (row, column) = (i / columns, i % columns);
                let cell_left = left + column as f64 * cell;
                let cell_top = top + row as f64 * row_height + 22.0;
                let (right, bottom) = (cell_left + cell - GAP, cell_top + UPPER);
                let upper = Frame { left: cell_left, right, top: cell_top, bottom };
                let lower =
                    Frame { top: bottom + BETWEEN, bottom: bottom + BETWEEN + LOWER, ..upper };
                (upper, lower)
            })
            .collect();
        draw_grids(&mut drawing, &axes, &frames, columns);
        let repeats =
            self.repeats.iter().zip(&frames).map(|(repeat, (upper, lower))| RepeatPanel {
                repeat,
                x: Scale::linear(0.0, axes.seconds, upper.left, upper.right),
                upper: *upper,
                lower: *lower,
                all: Frame { bottom: lower.bottom + below, ..*lower },
            });
        draw_repeats(&mut drawing, &axes, &repeats.collect::<Vec<_>>(), columns);
        self.draw_tracks(&mut drawing, &axes, &frames, (columns, width - left, key));
        let rows = self.repeats.len().div_ceil(columns).max(1);
        let first = top + 22.0;
        drawing.upright_text("axis-title", (12.0, first + UPPER / 2.0), &self.throughput_title);
        let lower_middle = first + UPPER + BETWEEN + LOWER / 2.0;
        drawing.upright_text("axis-title", (12.0, lower_middle), &self.latency_title);
        let bottom = top + rows as f64 * row_height;
        let middle = f64::midpoint(left, width);
        drawing.text("axis-title", (middle, bottom + 10.0), Anchor::Middle, &self.x_title);
        drawing.finish(bottom + 18.0)
    }
}

impl TimelineChart {
    /// Height of the labels of the panels below.
    fn track_room(&self) -> f64 {
        let probe = Frame { left: 0.0, right: 1.0, top: 0.0, bottom: tracks::HEIGHT };
        let room = |(i, track): (usize, &Track)| {
            label_room(&track.ticks(&track.scale(&self.track_intervals(i), probe)))
        };
        self.tracks.iter().enumerate().map(room).fold(0.0, f64::max)
    }

    fn track_intervals(&self, track: usize) -> Vec<&TrackIntervals> {
        self.repeats.iter().filter_map(|repeat| repeat.tracks.get(track)).collect()
    }

    /// `columns` also gives the width and height of the keys.
    fn draw_tracks(
        &self,
        drawing: &mut Drawing,
        axes: &Axes,
        frames: &[(Frame, Frame)],
        (columns, room, key): (usize, f64, f64),
    ) {
        for (i, track) in self.tracks.iter().enumerate() {
            let repeats = self.track_intervals(i);
            for (number, (repeat, (_, lower))) in self.repeats.iter().zip(frames).enumerate() {
                let top = lower.bottom + i as f64 * (key + tracks::HEIGHT) + key;
                let frame = Frame { top, bottom: top + tracks::HEIGHT, ..*lower };
                let y = track.scale(&repeats, frame);
                let x = Scale::linear(0.0, axes.seconds, frame.left, frame.right);
                let is_first = number % columns == 0;
                let axis = if is_first { y_axis } else { y_grid };
                axis(drawing, frame, &track.ticks(&y));
                drawing.line("axis", (frame.left, frame.bottom), (frame.right, frame.bottom));
                if let Some(intervals) = repeat.tracks.get(i) {
                    track.draw(drawing, intervals, &x, &y);
                }
                if is_first {
                    track.draw_key(drawing, (frame.left, frame.top), room);
                    if number == 0 {
                        let middle = f64::midpoint(frame.top, frame.bottom);
                        drawing.upright_text("axis-title", (12.0, middle), &track.title);
                    }
                }
            }
        }
    }
}

/// Axes that all repeats share.
struct Axes {
    seconds: f64,
    throughput: f64,
    latency: (f64, f64),
}

impl Axes {
    fn of(repeats: &[TrialTimeline]) -> Self {
        let points = || repeats.iter().flat_map(|repeat| &repeat.points);
        let seconds =
            points().map(|p| p.start + p.length).filter(|s| s.is_finite()).fold(0.0, f64::max);
        let offered = repeats.iter().flat_map(|repeat| &repeat.offered).map(|(_, rate)| *rate);
        let rates = points().filter_map(|p| p.throughput).filter(|t| t.is_finite()).chain(offered);
        let throughput = rates.fold(0.0, f64::max);
        let times = || {
            let both = points().flat_map(|p| p.median.into_iter().chain(p.p99));
            both.filter(|time| time.is_finite() && *time > 0.0)
        };
        let (low, high) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
        let latency = if high > 0.0 {
            rounded_out(ScaleKind::Logarithmic, low, high, 4)
        } else {
            (0.1, 10.0)
        };
        let throughput = rounded_out(ScaleKind::Linear, 0.0, or_one(throughput), 3).1;
        Self { seconds: if seconds > 0.0 { seconds } else { 1.0 }, throughput, latency }
    }

    fn throughput_scale(&self, frame: Frame) -> Scale {
        Scale::linear(0.0, self.throughput, frame.bottom, frame.top)
    }

    fn latency_scale(&self, frame: Frame) -> Scale {
        Scale::logarithmic(self.latency.0, self.latency.1, frame.bottom, frame.top)
    }

    fn room(&self) -> f64 {
        let probe = Frame { left: 0.0, right: 1.0, top: 0.0, bottom: UPPER };
        let upper = label_room(&ticks(&self.throughput_scale(probe), Quantity::Number, 3));
        upper.max(label_room(&ticks(&self.latency_scale(probe), Quantity::Time, 3)))
    }
}

/// Names of the lines that exist: with few transactions per second there is no 99th percentile.
fn draw_key(drawing: &mut Drawing, chart: &TimelineChart, left: f64) {
    let has = |time: fn(&Moment) -> Option<f64>| {
        chart.repeats.iter().flat_map(|repeat| &repeat.points).any(|point| time(point).is_some())
    };
    let mut x = left;
    for (slot, label, is_there) in [
        (Slot(0), &chart.median_label, has(|point| point.median)),
        (Slot(1), &chart.p99_label, has(|point| point.p99)),
    ] {
        if is_there {
            drawing.open(&format!("time {}", slot.class()));
            drawing.line("curve", (x, 12.0), (x + 24.0, 12.0));
            drawing.close();
            drawing.text("label", (x + 30.0, 16.0), Anchor::Start, label);
            x += 30.0 + super::text::width_em(label) * super::frame::MEDIUM + 24.0;
        }
    }
}

/// Grid lines and labels of the y axes: one element for all columns, because a report has many
/// charts of this kind.
fn draw_grids(drawing: &mut Drawing, axes: &Axes, frames: &[(Frame, Frame)], columns: usize) {
    let mut rules = Vec::new();
    let mut grounds = Vec::new();
    let mut labels = Vec::new();
    for (i, (upper, lower)) in frames.iter().enumerate() {
        let upper_ticks = ticks(&axes.throughput_scale(*upper), Quantity::Number, 3);
        let lower_ticks = ticks(&axes.latency_scale(*lower), Quantity::Time, 3);
        rules.extend(
            upper_ticks
                .iter()
                .chain(&lower_ticks)
                .map(|tick| ((upper.left, tick.position), (upper.right, tick.position))),
        );
        grounds.push(((upper.left, upper.bottom), (upper.right, upper.bottom)));
        if i % columns == 0 {
            labels.extend(
                upper_ticks.into_iter().chain(lower_ticks).map(|tick| (upper.left - 6.0, tick)),
            );
        }
    }
    drawing.lines("grid", &rules);
    drawing.lines("axis", &grounds);
    // Only the first column has labels, so they share an x coordinate.
    let right = labels.first().map_or(0.0, |(right, _)| *right);
    drawing.open_column("tick e", right);
    for (_, tick) in labels {
        drawing.label_at('y', tick.position + 3.8, &tick.label);
    }
    drawing.close();
}

/// Plot areas of a trial: throughput, response times, and all panels together; the time axis is
/// below the last one.
struct RepeatPanel<'a> {
    repeat: &'a TrialTimeline,
    x: Scale,
    upper: Frame,
    lower: Frame,
    all: Frame,
}

impl RepeatPanel<'_> {
    /// Vertical lines through all panels.
    fn vertical_lines(&self, moments: &[f64]) -> Vec<LineSegment> {
        let at = |moment: &f64| self.x.at(*moment).clamp(self.upper.left, self.upper.right);
        moments.iter().map(at).map(|at| ((at, self.upper.top), (at, self.all.bottom))).collect()
    }

    fn warmup(&self) -> Option<LineSegment> {
        let points = self.repeat.points.iter().filter(|p| p.is_warmup);
        let end = points.map(|p| p.start + p.length).fold(0.0, f64::max);
        (end > 0.0).then(|| ((self.upper.left, self.upper.top), (self.x.at(end), self.all.bottom)))
    }

    fn stall(&self, (from, to): (f64, f64)) -> LineSegment {
        let (from, to) = (self.x.at(from), self.x.at(to));
        let to = to.max(from + 1.5).min(self.upper.right);
        ((from.min(to), self.upper.top), (to, self.all.bottom))
    }

    /// Filled steps of throughput. Throughput is a count over an interval, not a value at an
    /// instant; intervals without a rate leave a gap.
    fn areas(&self, y: &Scale) -> Vec<(Vec<(f64, f64)>, f64)> {
        let x = &self.x;
        let steps = |points: &[Moment]| -> Vec<(f64, f64)> {
            let each = points.iter().filter_map(|p| Some((p, y.at(p.throughput?))));
            each.flat_map(|(p, height)| {
                [(x.at(p.start), height), (x.at(p.start + p.length), height)]
            })
            .collect()
        };
        let stretches =
            self.repeat.points.chunk_by(|a, b| a.throughput.is_some() == b.throughput.is_some());
        stretches.map(|stretch| (steps(stretch), self.upper.bottom)).collect()
    }

    /// The line of a response time.
    fn times(&self, y: &Scale, time: fn(&Moment) -> Option<f64>) -> Vec<Option<(f64, f64)>> {
        let point =
            |p: &Moment| time(p).map(|time| (self.x.at(p.start + p.length / 2.0), y.at(time)));
        self.repeat.points.iter().map(point).collect()
    }
}

/// Draws all trials, one kind of mark at a time, so that equal marks share an element.
fn draw_repeats(drawing: &mut Drawing, axes: &Axes, panels: &[RepeatPanel<'_>], columns: usize) {
    drawing.open("panel-title");
    for panel in panels {
        panel_title(drawing, "", panel.upper, &panel.repeat.title);
    }
    drawing.close();
    drawing
        .rectangles("warmup", &panels.iter().filter_map(RepeatPanel::warmup).collect::<Vec<_>>());
    let stalls =
        panels.iter().flat_map(|panel| panel.repeat.stalls.iter().map(|stall| panel.stall(*stall)));
    drawing.rectangles("stall", &stalls.collect::<Vec<_>>());
    let vertical_lines = |of: fn(&TrialTimeline) -> &[f64]| -> Vec<LineSegment> {
        panels.iter().flat_map(|panel| panel.vertical_lines(of(panel.repeat))).collect()
    };
    drawing.lines("fault", &vertical_lines(|repeat| &repeat.faults));
    drawing.lines("stage", &vertical_lines(|repeat| &repeat.stages));
    let areas = panels.iter().flat_map(|panel| panel.areas(&axes.throughput_scale(panel.upper)));
    let areas: Vec<_> = areas.filter(|(points, _)| !points.is_empty()).collect();
    if !areas.is_empty() {
        drawing.open("s0");
        drawing.areas("area", &areas);
        drawing.close();
    }
    let offered = panels.iter().flat_map(|panel| {
        let y = axes.throughput_scale(panel.upper);
        let points = panel.repeat.offered.iter();
        points
            .map(move |(at, rate)| Some((panel.x.at(*at), y.at(*rate))))
            .chain([None])
            .collect::<Vec<_>>()
    });
    drawing.curve("offered", &offered.collect::<Vec<_>>());
    for (i, panel) in panels.iter().enumerate() {
        let mut moments = ticks(&panel.x, Quantity::Number, 4);
        // Trials in the same column share a time axis.
        if i + columns < panels.len() {
            moments.iter_mut().for_each(|tick| tick.label.clear());
        }
        x_axis(drawing, panel.all, &moments);
    }
    // If there is no panel between, the time axis is already drawn there.
    let between = panels.iter().filter(|panel| panel.all.bottom > panel.lower.bottom);
    let ground = |it: Frame| ((it.left, it.bottom), (it.right, it.bottom));
    drawing.lines("axis", &between.map(|panel| ground(panel.lower)).collect::<Vec<_>>());
    let times: [fn(&Moment) -> Option<f64>; 2] = [|p| p.median, |p| p.p99];
    for (slot, time) in [Slot(0), Slot(1)].into_iter().zip(times) {
        let lines = panels.iter().map(|panel| panel.times(&axes.latency_scale(panel.lower), time));
        let points: Vec<_> = lines.flat_map(|line| line.into_iter().chain([None])).collect();
        if points.iter().any(Option::is_some) {
            drawing.open(&format!("time {}", slot.class()));
            drawing.curve("curve", &points);
            // A single second between two without commits would be invisible as a line.
            drawing.dots("dot", &isolated_points(&points));
            drawing.close();
        }
    }
}

/// Points with a gap on both sides.
fn isolated_points(points: &[Option<(f64, f64)>]) -> Vec<(f64, f64)> {
    let is_there = |i: Option<usize>| i.and_then(|i| points.get(i)).is_some_and(Option::is_some);
    let alone = |i: &usize| !is_there(i.checked_sub(1)) && !is_there(i.checked_add(1));
    (0..points.len()).filter(alone).filter_map(|i| points[i]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_between_two_gaps_is_drawn_as_a_dot() {
        let point = Some((1.0, 2.0));
        assert_eq!(
            isolated_points(&[point, None, point, None, point, point]),
            [(1.0, 2.0), (1.0, 2.0)]
        );
        assert_eq!(isolated_points(&[]), []);
    }
}
