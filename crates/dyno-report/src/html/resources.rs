//! What machine and server did: the panels below a timeline, and the table of what trials took.

use super::grouped::{self, Column, Row};
use super::{Page, cells};
use crate::chart::text::Quantity;
use crate::chart::tracks::{Stretch, Track, TrackCourse};
use crate::figures;
use crate::messages::{Message, headings, notes, page};
use dyno_analysis::model::{ResourcePoint, Timeline};
use maud::{Markup, html};

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

/// What trials took; nothing without a monitor.
pub(super) fn table(page: &Page<'_>) -> Markup {
    let rows = &page.model.resources;
    if rows.is_empty() {
        return html! {};
    }
    let columns = [
        Column::Figure(&headings::HOST_CPU),
        Column::Figure(&headings::STEAL),
        Column::Figure(&headings::SERVER_CPU),
        Column::Figure(&headings::GENERATOR_CPU),
        Column::Figure(&headings::SERVER_CPU_PER_TRANSACTION),
        Column::Figure(&headings::GENERATOR_CPU_PER_TRANSACTION),
        Column::Figure(&headings::SWITCHES_PER_TRANSACTION),
        Column::Figure(&headings::READ_PER_TRANSACTION),
        Column::Figure(&headings::WRITTEN_PER_TRANSACTION),
        Column::Figure(&headings::DISK_BUSY),
        Column::Figure(&headings::SERVER_MEMORY),
        Column::Figure(&headings::MONITOR_COST),
    ];
    let all = page.fill(&page::PAGE_ALL_ROWS, &[("number", &rows.len().to_string())]);
    let rows: Vec<Row> = rows
        .iter()
        .map(|row| {
            let figure = |value: Option<f64>| cells::optional(page, value);
            let percent = |value: Option<f64>| value.map_or_else(|| figure(None), figures::percent);
            let cells = html! {
                td { (percent(row.busy_percent())) }
                td { (percent(row.steal_percent)) }
                td { (figure(row.server_processors)) }
                td { (figure(row.generator_processors)) }
                td { (figure(row.server_cpu_per_transaction_us)) }
                td { (figure(row.generator_cpu_per_transaction_us)) }
                td { (figure(row.server_switches_per_transaction)) }
                td { (figure(row.server_read_bytes_per_transaction.map(|bytes| bytes / 1e3))) }
                td { (figure(row.server_written_bytes_per_transaction.map(|bytes| bytes / 1e3))) }
                td title=(row.disk) { (percent(row.disk_busy_percent)) }
                td { (figure(row.server_resident_bytes.map(|bytes| bytes / 1e6))) }
                td { (percent(row.monitor_percent)) }
            };
            Row { treatment: row.treatment, cells }
        })
        .collect();
    html! {
        h3 { (page.text(&headings::RESOURCES)) }
        details {
            summary { (all) }
            (grouped::table(page, &columns, &rows))
            p.note { (page.text(&notes::NOTE_RESOURCES)) }
        }
    }
}
