//! The state of a run as JSON, for the page.

use crate::state::{Point, Recent, State, Status};
use dyno_report::{LiveLabel, Note, Position, live_label, no_commits, note};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Lines and warnings that are shown.
const TEXTS_MAX: usize = 100;

/// What the page shows.
#[derive(Debug, Serialize)]
pub(super) struct View {
    title: String,
    progress: String,
    time: String,
    share: f64,
    silence: Option<String>,
    current: Option<usize>,
    points: Vec<PointView>,
    errors: BTreeMap<String, u64>,
    generator_cpus: Option<f64>,
    server_cpus: Option<f64>,
    queue: u64,
    trials: Vec<TrialView>,
    warnings: Vec<String>,
    warnings_total: usize,
    log: Vec<String>,
    is_over: bool,
}

#[derive(Debug, Serialize)]
struct PointView {
    at: f64,
    trial: usize,
    throughput: f64,
    p99: Option<f64>,
    is_warmup: bool,
}

#[derive(Debug, Serialize)]
struct TrialView {
    id: String,
    name: String,
    status: &'static str,
    can_open: bool,
    throughput: Option<f64>,
    p99: Option<f64>,
}

impl From<&Point> for PointView {
    fn from(point: &Point) -> Self {
        let Point { trial, at, is_warmup, throughput, p99_ms, .. } = *point;
        Self { at: at.as_secs_f64(), trial, throughput, p99: p99_ms, is_warmup }
    }
}

impl View {
    pub(super) fn new(state: &State, now: Duration) -> Self {
        let (campaign, lang) = (state.campaign(), state.lang());
        let (plan, current) = (campaign.plan(), campaign.current());
        let progress = match current {
            None => Note::Done { done: campaign.done(), trials: plan.trials.len(), left: None },
            Some(current) => Note::At(Position {
                plan,
                trial: current.position,
                phase: current.phase(),
                share: current.share,
            }),
        };
        let time = Note::Time { spent: now, left: campaign.left(now), rate: None };
        let last = |texts: &Recent| {
            let first = texts.total().saturating_sub(TEXTS_MAX);
            texts.since(first).map(str::to_owned).collect()
        };
        let trials = plan.trials.iter().zip(state.trials());
        let trials = trials.map(|(trial, status)| {
            let (label, figures) = match status {
                Status::Waiting => (LiveLabel::Waiting, None),
                Status::Running => (LiveLabel::Running, None),
                Status::Failed => (LiveLabel::Failed, None),
                Status::Measured(figures) if figures.is_valid => {
                    (LiveLabel::Measured, Some(figures))
                }
                Status::Measured(figures) => (LiveLabel::NotValid, Some(figures)),
            };
            TrialView {
                id: trial.id.clone(),
                name: dyno_report::configuration_name(plan, plan.configuration(trial), lang),
                status: live_label(label, lang),
                can_open: figures.is_some(),
                throughput: figures.map(|figures| figures.throughput),
                p99: figures.and_then(|figures| figures.p99_ms),
            }
        });
        Self {
            title: state.title(),
            progress: note(&progress, lang),
            time: note(&time, lang),
            share: campaign.share(now),
            silence: state.silence(now).map(|silence| no_commits(silence, lang)),
            current: current.map(|current| current.position),
            points: state.points().map(PointView::from).collect(),
            errors: state.errors().iter().map(|(kind, count)| (kind.to_string(), *count)).collect(),
            generator_cpus: state.cpus().generator,
            server_cpus: state.cpus().server,
            queue: state.queue(),
            trials: trials.collect(),
            warnings: last(state.warnings()),
            warnings_total: state.warnings().total(),
            log: last(state.lines()),
            is_over: state.is_over(),
        }
    }

    /// One line of JSON.
    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).expect("its maps have texts as keys")
    }
}
