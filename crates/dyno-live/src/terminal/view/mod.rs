//! What the screen shows, as a function of its contents and size. It is readable without colours:
//! every chart has its last and its largest value in its heading.

use crate::state::{Cpus, Point, State};
use dyno_report::{Lang, LiveLabel, Note, Position, live_label, live_max, live_rate, note};
use ratatui_core::layout::{Constraint, Layout, Rect};
use ratatui_core::style::{Color, Style, Stylize};
use ratatui_core::terminal::Frame;
use ratatui_core::text::{Line, Span};
use ratatui_widgets::block::Block;
use ratatui_widgets::borders::Borders;
use ratatui_widgets::paragraph::{Paragraph, Wrap};
use ratatui_widgets::sparkline::Sparkline;
use std::time::Duration;

/// Intervals that are shown at most: the columns of the widest terminal that is used.
const COLUMNS_MAX: usize = 400;
/// Lines of the log that are shown at most.
const LOG_MAX: usize = 60;
/// Warnings that are shown at most; their number is in the heading.
const WARNINGS_MAX: usize = 2;
/// Height without charts: below this plus two charts of four rows, charts are left out.
const REST: u16 = 8;
const CHART_MIN: u16 = 4;

/// A copy of what the screen shows.
#[derive(Debug, Clone)]
pub(super) struct Contents {
    lang: Lang,
    title: String,
    progress: String,
    time: String,
    share: f64,
    points: Vec<Point>,
    errors: String,
    cpus: Cpus,
    queue: u64,
    silence: Option<Duration>,
    warnings: Vec<String>,
    warnings_total: usize,
    log: Vec<String>,
}

impl Contents {
    pub(super) fn new(state: &State, now: Duration) -> Self {
        let (campaign, lang) = (state.campaign(), state.lang());
        let plan = campaign.plan();
        let progress = match campaign.current() {
            None => Note::Done { done: campaign.done(), trials: plan.trials.len(), left: None },
            Some(current) => Note::At(Position {
                plan,
                trial: current.position,
                phase: current.phase(),
                share: current.share,
            }),
        };
        let last = |texts: &crate::state::Recent, max: usize| {
            texts.since(texts.total().saturating_sub(max)).map(str::to_owned).collect()
        };
        let errors = state.errors().iter().map(|(kind, count)| format!("{kind} {count}"));
        let errors: Vec<String> = errors.collect();
        let skipped = state.points().len().saturating_sub(COLUMNS_MAX);
        Self {
            lang,
            title: [Some(state.title().as_str()), state.address()]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("  "),
            progress: dyno_model::printable::line(&note(&progress, lang)).into_owned(),
            time: note(&Note::Time { spent: now, left: campaign.left(now), rate: None }, lang),
            share: campaign.share(now),
            points: state.points().skip(skipped).copied().collect(),
            errors: match errors.is_empty() {
                true => live_label(LiveLabel::None, lang).to_owned(),
                false => errors.join(lang.comma),
            },
            cpus: state.cpus(),
            queue: state.queue(),
            silence: state.silence(now),
            warnings: last(state.warnings(), WARNINGS_MAX),
            warnings_total: state.warnings().total(),
            log: last(state.lines(), LOG_MAX),
        }
    }

    fn label(&self, label: LiveLabel) -> &'static str {
        live_label(label, self.lang)
    }
}

/// Draws the contents into a frame of any size.
pub(super) fn draw(frame: &mut Frame<'_>, contents: &Contents) {
    let area = frame.area();
    let has_charts = area.height >= REST + 2 * CHART_MIN;
    let chart = if has_charts { Constraint::Fill(3) } else { Constraint::Length(1) };
    let warnings = contents.warnings.len() as u16 + u16::from(contents.warnings_total > 0);
    let [title, place, bar, throughput, p99, facts, warned, log] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(1),
        chart,
        chart,
        Constraint::Length(2),
        Constraint::Length(warnings),
        Constraint::Fill(2),
    ])
    .areas(area);
    let [left, right] = Layout::horizontal([
        Constraint::Fill(1),
        Constraint::Length(Line::from(contents.time.as_str()).width() as u16 + 1),
    ])
    .areas(title);
    frame.render_widget(Line::from(contents.title.as_str()).bold(), left);
    frame.render_widget(Line::from(contents.time.as_str()).right_aligned(), right);
    frame.render_widget(place_line(contents), place);
    frame.render_widget(bar_line(contents.share, bar.width), bar);
    draw_chart(frame, throughput, contents, &THROUGHPUT);
    draw_chart(frame, p99, contents, &P99);
    frame.render_widget(Paragraph::new(facts_lines(contents)), facts);
    draw_warnings(frame, warned, contents);
    draw_log(frame, log, contents);
}

/// The place in the plan, or the alarm that nothing commits.
fn place_line(contents: &Contents) -> Line<'_> {
    match contents.silence {
        Some(silence) => {
            Line::from(dyno_report::no_commits(silence, contents.lang)).reversed().fg(Color::Red)
        }
        None => Line::from(contents.progress.as_str()),
    }
}

/// `[=====>     ]  42 %`
fn bar_line(share: f64, width: u16) -> Line<'static> {
    let inner = usize::from(width.saturating_sub(8));
    let done = ((share * inner as f64) as usize).min(inner);
    let head = if done < inner { ">" } else { "" };
    let bar = format!("{}{head}", "=".repeat(done));
    Line::from(format!("[{bar:inner$}] {:>3} %", (share * 100.0) as u32))
}

/// A chart of one figure per interval.
struct Chart {
    heading: LiveLabel,
    value: fn(&Point) -> Option<f64>,
    text: fn(f64) -> String,
    colour: Color,
}

const THROUGHPUT: Chart = Chart {
    heading: LiveLabel::Throughput,
    value: |point| Some(point.throughput),
    text: live_rate,
    colour: Color::Green,
};

const P99: Chart = Chart {
    heading: LiveLabel::P99,
    value: |point| point.p99_ms,
    text: |ms| format!("{ms:.2}"),
    colour: Color::Cyan,
};

/// Values are drawn as thousandths, so that small ones have a height too.
const SCALE: f64 = 1_000.0;

fn draw_chart(frame: &mut Frame<'_>, area: Rect, contents: &Contents, chart: &Chart) {
    let shown = contents.points.len().saturating_sub(usize::from(area.width.saturating_sub(2)));
    let points = &contents.points[shown..];
    let values: Vec<Option<f64>> = points.iter().map(chart.value).collect();
    let largest = values
        .iter()
        .flatten()
        .copied()
        .fold(None, |max: Option<f64>, value| Some(max.map_or(value, |max| max.max(value))));
    let mut heading = vec![Span::raw(format!(" {}: ", contents.label(chart.heading)))];
    match (values.last().copied().flatten(), largest) {
        (last, Some(largest)) => {
            let last = last.map_or_else(|| "-".to_owned(), chart.text);
            heading.push(Span::raw(last).bold());
            let max = live_max(&(chart.text)(largest), contents.lang);
            heading.push(Span::raw(format!("{}{max} ", contents.lang.comma)));
        }
        _ => heading.push(Span::raw(format!("{} ", contents.label(LiveLabel::NoFigures)))),
    }
    if area.height < CHART_MIN {
        frame.render_widget(Line::from(heading), area);
        return;
    }
    let style = Style::default().fg(chart.colour);
    let scaled = values.iter().map(|value| value.map(|value| (value * SCALE) as u64));
    let block = Block::default().borders(Borders::ALL).title(Line::from(heading));
    frame.render_widget(Sparkline::default().block(block).data(scaled).style(style), area);
}

fn facts_lines(contents: &Contents) -> Vec<Line<'_>> {
    let cpus = |label, value: Option<f64>| {
        let value = value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
        format!("{}: {value}", contents.label(label))
    };
    let mut load = vec![
        cpus(LiveLabel::GeneratorCpu, contents.cpus.generator),
        cpus(LiveLabel::ServerCpu, contents.cpus.server),
    ];
    if contents.queue > 0 {
        load.push(format!("{}: {}", contents.label(LiveLabel::Queue), contents.queue));
    }
    vec![
        Line::from(load.join("   ")),
        Line::from(format!("{}: {}", contents.label(LiveLabel::Errors), contents.errors)),
    ]
}

fn draw_warnings(frame: &mut Frame<'_>, area: Rect, contents: &Contents) {
    if contents.warnings_total == 0 {
        return;
    }
    let heading = format!("{} ({})", contents.label(LiveLabel::Warnings), contents.warnings_total);
    let mut lines = vec![Line::from(heading).bold().fg(Color::Yellow)];
    lines.extend(contents.warnings.iter().map(|text| Line::from(text.as_str())));
    frame.render_widget(Paragraph::new(lines), area);
}

/// The end of the log, wrapped; the last line is always visible.
fn draw_log(frame: &mut Frame<'_>, area: Rect, contents: &Contents) {
    let block = Block::default()
        .borders(Borders::TOP)
        .title(format!(" {} ", contents.label(LiveLabel::Log)));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let width = usize::from(inner.width.max(1));
    let mut rows = 0;
    let fitting = contents.log.iter().rev().take_while(|line| {
        rows += Line::from(line.as_str()).width().div_ceil(width).max(1);
        rows <= usize::from(inner.height)
    });
    let first = contents.log.len() - fitting.count();
    let lines: Vec<Line<'_>> =
        contents.log[first..].iter().map(|line| Line::from(line.as_str())).collect();
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), inner);
}

#[cfg(test)]
mod tests;
