//! What machine and server did: the panels below a timeline.

use super::page::Page;
use crate::chart::text::Quantity;
use crate::chart::tracks::{Stretch, Track, TrackCourse};
use crate::messages::{Message, page};
use dyno_analysis::model::{ResourcePoint, Timeline};

/// A panel below a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Panel {
    Cpu,
    Disk,
    Sessions,
    Waiting,
}

/// Panels are only drawn when they say something: the disk above this rate in bytes per second, ...
const DISK_MIN: f64 = 1e6;
/// ... sessions when so many of them waited at once, ...
const WAITING_MIN: f64 = 2.0;
/// ... and disk and pressure above this percentage.
const PERCENT_MIN: f64 = 10.0;

/// At most three, the same for all repeats.
pub(super) fn panels(timelines: &[&Timeline]) -> Vec<Panel> {
    let points = || timelines.iter().flat_map(|timeline| &timeline.resources);
    let largest = |of: fn(&ResourcePoint) -> Option<f64>| points().filter_map(of).fold(0.0, f64::max);
    let mut panels = Vec::new();
    if points().any(|point| point.user_percent.is_some()) {
        panels.push(Panel::Cpu);
    }
    let bytes = largest(|p| Some(p.disk_read_bytes_per_second? + p.disk_written_bytes_per_second?));
    if bytes > DISK_MIN {
        panels.push(Panel::Disk);
    }
    if largest(|p| p.sessions_waiting) >= WAITING_MIN {
        panels.push(Panel::Sessions);
    } else if largest(|p| p.disk_busy_percent).max(largest(|p| p.io_pressure_percent)) > PERCENT_MIN {
        panels.push(Panel::Waiting);
    }
    panels
}

impl Panel {
    pub(super) fn caption(self) -> &'static Message {
        match self {
            Self::Cpu => &page::CHART_CAPTION_CPU,
            Self::Disk => &page::CHART_CAPTION_DISK,
            Self::Sessions => &page::CHART_CAPTION_SESSIONS,
            Self::Waiting => &page::CHART_CAPTION_WAITING,
        }
    }

    pub(super) fn track(self, page: &Page<'_>) -> Track {
        let (title, quantity, max, areas, lines): (_, _, _, &[&Message], &[&Message]) = match self {
            Self::Cpu => (
                &page::CHART_CPU,
                Quantity::Percent,
                Some(100.0),
                &[
                    &page::CHART_KEY_USER,
                    &page::CHART_KEY_SYSTEM,
                    &page::CHART_KEY_IOWAIT,
                    &page::CHART_KEY_STEAL,
                ],
                &[&page::CHART_KEY_SERVER, &page::CHART_KEY_GENERATOR],
            ),
            Self::Disk => (
                &page::CHART_DISK,
                Quantity::Number,
                None,
                &[&page::CHART_KEY_READ, &page::CHART_KEY_WRITTEN],
                &[],
            ),
            Self::Sessions => (
                &page::CHART_SESSIONS,
                Quantity::Number,
                None,
                &[&page::CHART_KEY_WORKING, &page::CHART_KEY_WAITING],
                &[],
            ),
            Self::Waiting => (
                &page::CHART_WAITING,
                Quantity::Percent,
                Some(100.0),
                &[],
                &[&page::CHART_KEY_BUSY, &page::CHART_KEY_IO_PRESSURE, &page::CHART_KEY_CPU_PRESSURE],
            ),
        };
        let texts = |messages: &[&Message]| messages.iter().map(|m| page.text(m).to_owned()).collect();
        Track { title: page.text(title).to_owned(), quantity, max, areas: texts(areas), lines: texts(lines) }
    }

    /// One repeat, `step` stretches as one: their means.
    pub(super) fn course(self, timeline: &Timeline, step: usize) -> TrackCourse {
        let stretch = |points: &[ResourcePoint]| {
            let (areas, lines) = self.values();
            let (first, last) = (&points[0], &points[points.len() - 1]);
            let mean = |of: &Value| {
                let values: Vec<f64> = points.iter().filter_map(of).collect();
                (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
            };
            Stretch {
                start: first.start_s,
                length: last.start_s + last.length_s - first.start_s,
                areas: areas.iter().map(mean).collect(),
                lines: lines.iter().map(mean).collect(),
            }
        };
        TrackCourse { stretches: timeline.resources.chunks(step.max(1)).map(stretch).collect() }
    }

    /// Values of areas and of lines, in the order of their names.
    fn values(self) -> (Vec<Value>, Vec<Value>) {
        match self {
            Self::Cpu => (
                vec![|p| p.user_percent, |p| p.system_percent, |p| p.iowait_percent, |p| p.steal_percent],
                vec![|p| p.server_percent, |p| p.generator_percent],
            ),
            Self::Disk => (
                vec![|p| Some(p.disk_read_bytes_per_second? / 1e6), |p| {
                    Some(p.disk_written_bytes_per_second? / 1e6)
                }],
                Vec::new(),
            ),
            Self::Sessions => (
                vec![|p| Some((p.sessions_active? - p.sessions_waiting?).max(0.0)), |p| p.sessions_waiting],
                Vec::new(),
            ),
            Self::Waiting => (
                Vec::new(),
                vec![|p| p.disk_busy_percent, |p| p.io_pressure_percent, |p| p.cpu_pressure_percent],
            ),
        }
    }
}

/// A value of a stretch.
type Value = fn(&ResourcePoint) -> Option<f64>;
