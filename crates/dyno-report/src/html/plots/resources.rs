//! Panels of resource usage below a timeline: activity of machine and server.

use crate::chart::text::Quantity;
use crate::chart::tracks::{Track, TrackInterval, TrackIntervals};
use crate::html::page::Page;
use crate::messages::{Message, columns, page};
use dyno_analysis::model::{ResourcePoint, Timeline};

/// Panels are only drawn above these thresholds: a disk rate in bytes per second, ...
const DISK_MIN: f64 = 1e6;
/// ... a number of sessions waiting at the same time, ...
const WAITING_MIN: f64 = 2.0;
/// ... and a percentage for disk and pressure.
const PERCENT_MIN: f64 = 10.0;

/// At most three panels, the same for all repeats.
pub(in crate::html) fn panels(timelines: &[&Timeline]) -> Vec<&'static Panel> {
    let points = || timelines.iter().flat_map(|timeline| &timeline.resources);
    let largest =
        |of: fn(&ResourcePoint) -> Option<f64>| points().filter_map(of).fold(0.0, f64::max);
    let mut panels = Vec::new();
    if points().any(|point| point.user_percent.is_some()) {
        panels.push(&CPU);
    }
    let bytes = largest(|p| Some(p.disk_read_bytes_per_second? + p.disk_written_bytes_per_second?));
    if bytes > DISK_MIN {
        panels.push(&DISK);
    }
    if largest(|p| p.sessions_waiting) >= WAITING_MIN {
        panels.push(&SESSIONS);
    } else if largest(|p| p.disk_busy_percent).max(largest(|p| p.io_pressure_percent)) > PERCENT_MIN
    {
        panels.push(&WAITING);
    }
    panels
}

/// A value of an interval, and its name.
type Series = (&'static Message, fn(&ResourcePoint) -> Option<f64>);

/// A panel below a timeline.
pub(in crate::html) struct Panel {
    title: &'static Message,
    pub(in crate::html) caption: &'static Message,
    quantity: Quantity,
    /// From bottom to top.
    areas: &'static [Series],
    lines: &'static [Series],
}

const CPU: Panel = Panel {
    title: &page::CHART_CPU,
    caption: &page::CHART_CAPTION_CPU,
    quantity: Quantity::Percent,
    areas: &[
        (&page::CHART_KEY_USER, |p| p.user_percent),
        (&page::CHART_KEY_SYSTEM, |p| p.system_percent),
        (&page::CHART_KEY_IOWAIT, |p| p.iowait_percent),
        (&columns::STEAL, |p| p.steal_percent),
    ],
    lines: &[
        (&page::CHART_KEY_SERVER, |p| p.server_percent),
        (&page::CHART_KEY_GENERATOR, |p| p.generator_percent),
    ],
};

const DISK: Panel = Panel {
    title: &page::CHART_DISK,
    caption: &page::CHART_CAPTION_DISK,
    quantity: Quantity::Number,
    areas: &[
        (&page::CHART_KEY_READ, |p| Some(p.disk_read_bytes_per_second? / 1e6)),
        (&page::CHART_KEY_WRITTEN, |p| Some(p.disk_written_bytes_per_second? / 1e6)),
    ],
    lines: &[],
};

const SESSIONS: Panel = Panel {
    title: &page::CHART_SESSIONS,
    caption: &page::CHART_CAPTION_SESSIONS,
    quantity: Quantity::Number,
    areas: &[
        (&page::CHART_KEY_WORKING, |p| Some((p.sessions_active? - p.sessions_waiting?).max(0.0))),
        (&page::CHART_KEY_WAITING, |p| p.sessions_waiting),
    ],
    lines: &[],
};

const WAITING: Panel = Panel {
    title: &page::CHART_WAITING,
    caption: &page::CHART_CAPTION_WAITING,
    quantity: Quantity::Percent,
    areas: &[],
    lines: &[
        (&page::CHART_KEY_BUSY, |p| p.disk_busy_percent),
        (&page::CHART_KEY_IO_PRESSURE, |p| p.io_pressure_percent),
        (&page::CHART_KEY_CPU_PRESSURE, |p| p.cpu_pressure_percent),
    ],
};

impl Panel {
    pub(in crate::html) fn track(&self, page: &Page<'_>) -> Track {
        let names =
            |series: &[Series]| series.iter().map(|(name, _)| page.text(name).to_owned()).collect();
        Track {
            title: page.text(self.title).to_owned(),
            quantity: self.quantity,
            max: (self.quantity == Quantity::Percent).then_some(100.0),
            areas: names(self.areas),
            lines: names(self.lines),
        }
    }

    /// Data of one repeat: means of `step` merged intervals.
    pub(in crate::html) fn intervals(&self, timeline: &Timeline, step: usize) -> TrackIntervals {
        let interval = |points: &[ResourcePoint]| {
            let (first, last) = (&points[0], &points[points.len() - 1]);
            let mean = |(_, of): &Series| {
                let values: Vec<f64> = points.iter().filter_map(of).collect();
                (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
            };
            TrackInterval {
                start: first.start_s,
                length: last.start_s + last.length_s - first.start_s,
                areas: self.areas.iter().map(mean).collect(),
                lines: self.lines.iter().map(mean).collect(),
            }
        };
        timeline.resources.chunks(step.max(1)).map(interval).collect()
    }
}
