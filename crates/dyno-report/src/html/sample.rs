//! Made-up reports of many shapes for the tests of the page. Deterministic; the figures look like those of a rush of
//! clients on three systems, so that the page can be judged by eye.

mod judgement;
mod provenance;

use dyno_analysis::model::*;
use dyno_model::audit::{AuditVerdict, LostUpdateWitness, WitnessedTransaction};
use dyno_model::failure::FailureKind;
use dyno_model::finding::{Finding, Severity};
use dyno_model::plan::Metric;

/// What a made-up report has.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) title: &'static str,
    pub(super) systems: Vec<&'static str>,
    pub(super) variants: Vec<&'static str>,
    pub(super) clients: Vec<u32>,
    pub(super) blocks: u32,
    pub(super) seconds: usize,
    pub(super) has_audit: bool,
    /// Published throughput relative to ours; `None`: nothing published.
    pub(super) published: Option<f64>,
    /// All figures times this.
    pub(super) scale: f64,
    /// Every fifth trial failed or is invalid.
    pub(super) has_failures: bool,
}

impl Shape {
    /// The rush experiment.
    pub(super) fn rush() -> Self {
        Self {
            title: "SELECT + UPDATE + COMMIT under a rush of clients",
            systems: vec!["MariaDB", "MySQL", "PostgreSQL"],
            variants: vec!["read-modify-write"],
            clients: vec![1, 20, 40, 60, 80, 100],
            blocks: 5,
            seconds: 12,
            has_audit: true,
            published: Some(0.25),
            scale: 1.0,
            has_failures: false,
        }
    }

    /// All variants on all systems.
    pub(super) fn variants() -> Self {
        let variants = vec!["read-modify-write", "in-place", "for-update", "optimistic"];
        Self { variants, published: None, ..Self::rush() }
    }

    /// What a first run without arguments gives.
    pub(super) fn quickstart() -> Self {
        Self {
            title: "Embedded SQLite: journal modes",
            systems: vec!["SQLite WAL", "SQLite DELETE"],
            variants: vec!["in-place"],
            clients: vec![1, 2, 4, 8],
            blocks: 3,
            seconds: 4,
            has_audit: true,
            published: None,
            scale: 0.4,
            has_failures: false,
        }
    }

    /// One system, one number of clients, one block, no audit.
    pub(super) fn smallest() -> Self {
        Self {
            systems: vec!["MySQL"],
            clients: vec![8],
            blocks: 1,
            has_audit: false,
            published: None,
            ..Self::rush()
        }
    }

    pub(super) fn model(&self) -> ReportModel {
        Maker { shape: self, random: 0x9e37_79b9_7f4a_7c15 }.model()
    }
}

struct Maker<'a> {
    shape: &'a Shape,
    random: u64,
}

/// A treatment's true figures.
#[derive(Clone, Copy)]
struct Truth {
    throughput: f64,
    mean_ms: f64,
    lost_percent: f64,
}

fn estimate(unit: Unit, values: &[f64]) -> Option<Estimate> {
    let n = values.len();
    if n == 0 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n.max(2) - 1) as f64;
    let t = [12.7, 12.7, 12.7, 4.30, 3.18, 2.78, 2.57][n.min(6)];
    let half = t * (variance / n as f64).sqrt();
    let interval = (n > 1).then_some(Range { low: mean - half, high: mean + half });
    Some(Estimate { unit, mean, interval, repeats: n as u32, is_bound: false })
}

impl Maker<'_> {
    /// Uniform in 0..1 (xorshift).
    fn uniform(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A factor around 1.
    fn noise(&mut self, share: f64) -> f64 {
        1.0 + share * (self.uniform() + self.uniform() - 1.0)
    }

    fn truth(&self, system: usize, variant: usize, clients: u32) -> Truth {
        let n = f64::from(clients);
        let capacity = [9_200.0, 6_400.0, 11_800.0, 4_000.0][system % 4];
        let contention = [0.06, 0.05, 0.09, 0.10][system % 4] * [1.0, 0.8, 2.2, 1.5][variant % 4];
        let alone = capacity / 6.5;
        let throughput =
            self.shape.scale * alone * n / (1.0 + contention * (n - 1.0) + 0.0004 * n * (n - 1.0));
        let is_unsafe = self.shape.variants.get(variant) == Some(&"read-modify-write") && clients > 1;
        let lost_percent =
            if is_unsafe { [33.0, 36.0, 27.0, 30.0][system % 4] * (1.0 - (-n / 45.0).exp()) } else { 0.0 };
        Truth { throughput, mean_ms: n / throughput * 1000.0, lost_percent }
    }

    fn model(mut self) -> ReportModel {
        let shape = self.shape;
        let mut lines = Vec::new();
        for (system, name) in shape.systems.iter().enumerate() {
            for variant in &shape.variants {
                let label = match shape.variants.len() {
                    1 => (*name).to_owned(),
                    _ => format!("{name} ({variant})"),
                };
                let levels = if shape.variants.len() > 1 { vec![(*variant).to_owned()] } else { Vec::new() };
                lines.push(LineName { label, system, system_name: (*name).to_owned(), levels });
            }
        }
        let factors = if shape.variants.len() > 1 { vec!["workload.variant".to_owned()] } else { Vec::new() };
        let mut model = empty(shape, factors, lines);
        for line in 0..model.lines.len() {
            for clients in &shape.clients {
                self.add_treatment(&mut model, line, *clients);
            }
        }
        add_panels(&mut model);
        judgement::add_comparisons(&mut model);
        judgement::add_conclusions(&mut model);
        self.add_published(&mut model);
        model
    }

    fn add_treatment(&mut self, model: &mut ReportModel, line: usize, clients: u32) {
        let shape = self.shape;
        let treatment = model.treatments.len();
        let truth = self.truth(line / shape.variants.len(), line % shape.variants.len(), clients);
        let mut figures: Vec<TrialFigures> = Vec::new();
        for block in 1..=shape.blocks {
            let id = format!("b{block:02}-{:03}", treatment + 1);
            let fate = if shape.has_failures { self.uniform() } else { 1.0 };
            let state = match fate {
                f if f < 0.10 => TrialState::Failed,
                f if f < 0.18 => TrialState::Invalid,
                f if f < 0.25 => TrialState::Missing,
                f if f < 0.40 => TrialState::Warned,
                _ => TrialState::Valid,
            };
            let of_trial = self.figures(truth);
            let is_measured = !matches!(state, TrialState::Failed | TrialState::Missing);
            if is_measured {
                model.timelines.push(self.timeline(&id, treatment, block, &of_trial));
            }
            if matches!(state, TrialState::Valid | TrialState::Warned) {
                figures.push(of_trial.clone());
            }
            let reason = if state == TrialState::Failed {
                "server closed the connection".to_owned()
            } else {
                String::new()
            };
            if state == TrialState::Failed {
                model.completeness.failed.push(FailedTrial {
                    trial: id.clone(),
                    treatment,
                    reason: reason.clone(),
                });
            }
            if state == TrialState::Missing {
                model.completeness.missing.push(id.clone());
            }
            let findings = match state {
                TrialState::Invalid => vec![Finding::GeneratorBusy { share: 0.93 }],
                TrialState::Warned => {
                    vec![Finding::Stall { longest_gap: 1.3, at: 2.2, sessions: Vec::new() }]
                }
                _ => Vec::new(),
            };
            let figures = is_measured.then_some(of_trial);
            model.trials.push(TrialRow {
                id,
                block,
                treatment,
                state,
                figures,
                findings,
                steadiness: None,
                reason,
            });
        }
        self.add_rows(model, line, clients, truth, &figures);
    }

    fn figures(&mut self, truth: Truth) -> TrialFigures {
        let throughput = truth.throughput * self.noise(0.07);
        let mean_ms = truth.mean_ms * self.noise(0.08);
        let lost_percent = truth.lost_percent * self.noise(0.1);
        TrialFigures {
            started_at: "2026-11-21T09:00:00.000Z".to_owned(),
            measured_s: 10_000.0 / throughput,
            throughput,
            mean_ms: Some(mean_ms),
            p50_ms: Some(mean_ms * 0.8),
            p95_ms: Some(mean_ms * 2.4 * self.noise(0.2)),
            p99_ms: Some(mean_ms * 4.1 * self.noise(0.4)),
            max_ms: Some(mean_ms * 14.0 * self.noise(0.8)),
            bounds: Vec::new(),
            arrived: None,
            unstarted: None,
            longest_gap_ms: Some(mean_ms * 3.0),
            committed: 10_000,
            failed: 0,
            unfinished: 0,
            skipped: 0,
            retries: 12,
            audit: if lost_percent > 0.0 { AuditVerdict::Violated } else { AuditVerdict::Intact },
            lost: self.shape.has_audit.then_some((lost_percent * 100.0) as u64),
        }
    }

    fn timeline(&mut self, trial: &str, treatment: usize, block: u32, of: &TrialFigures) -> Timeline {
        let stall = (self.uniform() * 40.0) as usize;
        let points = (0..self.shape.seconds).map(|second| {
            let is_warmup = second < self.shape.seconds / 6;
            let slow = if is_warmup { 0.6 } else { 1.0 };
            let is_stalled = second == stall && !is_warmup;
            let throughput = if is_stalled { 0.0 } else { of.throughput * slow * self.noise(0.12) };
            let time = |factor: f64| of.mean_ms.filter(|_| !is_stalled).map(|mean| mean * factor / slow);
            TimelinePoint {
                start_s: second as f64,
                length_s: 1.0,
                is_warmup,
                throughput: Some(throughput),
                failed: 0,
                retries: 0,
                mean_ms: time(1.0),
                p50_ms: time(0.8),
                p95_ms: time(2.4),
                p99_ms: time(4.0 * self.noise(0.5)),
                max_ms: time(14.0),
            }
        });
        Timeline {
            trial: trial.to_owned(),
            treatment,
            block,
            points: points.collect(),
            resources: Vec::new(),
        }
    }

    fn percentiles(&mut self, mean_ms: f64, rarest: f64) -> Vec<PercentilePoint> {
        let tail = 0.28 * self.noise(0.3);
        let mut points = Vec::new();
        let mut one_in = 1.0;
        while one_in <= rarest {
            let value_ms = mean_ms * 0.45 * f64::powf(one_in, tail) * if one_in > 300.0 { 1.5 } else { 1.0 };
            points.push(PercentilePoint { percentile: 100.0 * (1.0 - 1.0 / one_in), one_in, value_ms });
            one_in *= 1.12;
        }
        points
    }

    fn add_rows(
        &mut self,
        model: &mut ReportModel,
        line: usize,
        clients: u32,
        truth: Truth,
        figures: &[TrialFigures],
    ) {
        let shape = self.shape;
        let treatment = model.treatments.len();
        let all =
            |value: fn(&TrialFigures) -> Option<f64>| figures.iter().filter_map(value).collect::<Vec<_>>();
        let ms = |value: fn(&TrialFigures) -> Option<f64>| estimate(Unit::Milliseconds, &all(value));
        let is_lossy = truth.lost_percent > 0.0;
        let audit = match (shape.has_audit, is_lossy) {
            (false, _) => AuditVerdict::NotChecked,
            (true, true) => AuditVerdict::Violated,
            (true, false) => AuditVerdict::Intact,
        };
        let latency = |scale: f64| latency(truth.mean_ms * scale);
        let committed = 10_000 * figures.len() as u64;
        let valid = figures.len() as u32;
        model.treatments.push(TreatmentRow {
            line,
            clients,
            trials_planned: shape.blocks,
            trials_measured: valid,
            trials_valid: valid,
            not_working: None,
            throughput: estimate(Unit::TransactionsPerSecond, &all(|f| Some(f.throughput))),
            mean: ms(|f| f.mean_ms),
            p50: ms(|f| f.p50_ms),
            p95: ms(|f| f.p95_ms),
            p99: ms(|f| f.p99_ms),
            merged: (valid > 0).then(|| latency(1.0)),
            arrived: None,
            unstarted: None,
            committed,
            failed: 0,
            unfinished: 0,
            skipped: 0,
            retries: 12 * u64::from(valid),
            failed_by_kind: Vec::new(),
            retries_by_kind: vec![KindCount { kind: FailureKind::Deadlock, count: 12 }],
            retries_per_commit: 0.0012,
            lost_percent: (shape.has_audit && valid > 0).then_some(truth.lost_percent),
            audit,
            validity: if valid == 0 { Validity::Missing } else { Validity::Valid },
        });
        if valid == 0 {
            return;
        }
        let row = |name: &str, scale: f64| StatementRow {
            name: name.to_owned(),
            ok: committed,
            failed: 0,
            unfinished: 0,
            rows: committed,
            latency: Some(latency(scale)),
        };
        model.statements.push(StatementTable {
            treatment,
            transaction: row("transaction", 1.0),
            statements: vec![row("begin", 0.05), row("select", 0.2), row("update", 0.5), row("commit", 0.25)],
        });
        let merged = self.percentiles(truth.mean_ms, committed as f64 / 10.0);
        let repeats = (0..valid).map(|_| self.percentiles(truth.mean_ms, 1000.0)).collect();
        model.percentile_curves.push(PercentileCurve { treatment, count: committed, merged, repeats });
        model.generator.push(GeneratorRow {
            treatment,
            workers: 16,
            worker_cpu_percent_max: 23.4,
            held_up_percent_max: Some(0.2),
            cpu_user_per_statement_us: 2.1,
            cpu_system_per_statement_us: 8.7,
            wakeup_lag_p99_ms: None,
            lag_p99_ms: None,
            statements_per_wakeup: Some(1.7),
            memory_peak_bytes: 18_000_000,
            shares_machine: true,
        });
        if shape.has_audit {
            model.audits.push(audit_row(treatment, truth, figures));
        }
    }

    fn add_published(&mut self, model: &mut ReportModel) {
        let Some(factor) = self.shape.published else { return };
        let ours =
            model.treatments.iter().filter_map(|row| row.throughput).map(|e| e.mean).fold(0.0, f64::max);
        for (series, is_linear) in [("MySQL 5.0.7, Linux", true), ("PostgreSQL 8.0.3, Linux", false)] {
            let points = self.shape.clients.iter().map(|clients| {
                let n = f64::from(*clients);
                let share = if is_linear { n / 100.0 } else { 0.22 * (1.0 - (-n / 6.0).exp()) };
                PublishedPoint { clients: *clients, value: ours * factor * share.min(1.0) }
            });
            let points = points.collect();
            model.published.push(PublishedSeries {
                source: "notebook PC, 2005".to_owned(),
                series: series.to_owned(),
                metric: Metric::Throughput,
                unit: Unit::TransactionsPerSecond,
                system: None,
                is_approximate: true,
                points,
                over_rows: Vec::new(),
            });
        }
    }
}

fn latency(mean: f64) -> MergedLatency {
    MergedLatency {
        censored: 0,
        bounds_from: None,
        count: 50_000,
        mean,
        standard_deviation: mean * 0.7,
        min: mean * 0.1,
        p50: Some(mean * 0.8),
        p70: Some(mean * 1.2),
        p80: Some(mean * 1.5),
        p90: Some(mean * 1.9),
        p95: Some(mean * 2.4),
        p99: Some(mean * 4.1),
        p999: None,
        max: mean * 14.0,
    }
}

fn audit_row(treatment: usize, truth: Truth, figures: &[TrialFigures]) -> AuditRow {
    let is_lossy = truth.lost_percent > 0.0;
    let trials = figures.len() as u32;
    let lost = (truth.lost_percent * 100.0) as u64 * u64::from(trials);
    let transaction = |client, sequence| WitnessedTransaction { client, sequence, committed_at: 5 };
    let witness =
        LostUpdateWitness { row: 17, value_read: 42, first: transaction(3, 101), second: transaction(8, 97) };
    let example = WitnessExample { trial: format!("b01-{treatment:03}"), witness };
    AuditRow {
        treatment,
        verdict: if is_lossy { AuditVerdict::Violated } else { AuditVerdict::Intact },
        trials,
        updates: Some(UpdateAudit {
            committed: 10_000 * u64::from(trials),
            in_doubt: 0,
            lost,
            lost_max: lost,
            lost_percent: truth.lost_percent,
            lost_percent_max: truth.lost_percent,
            lost_percent_by_trial: figures.iter().map(|f| f.lost.unwrap_or(0) as f64 / 100.0).collect(),
            phantom: 0,
            witnessed: lost * 9 / 10,
            examples: if is_lossy { vec![example] } else { Vec::new() },
            statement_errors: 0,
        }),
        row_counts: Vec::new(),
        column_sums: Vec::new(),
        not_run: Vec::new(),
    }
}

fn empty(shape: &Shape, factors: Vec<String>, lines: Vec<LineName>) -> ReportModel {
    let planned = (lines.len() * shape.clients.len()) as u32 * shape.blocks;
    ReportModel {
        report_format: REPORT_FORMAT,
        title: shape.title.to_owned(),
        description: "Every client reads a row, adds one and writes it back.".to_owned(),
        provenance: provenance::provenance(shape),
        completeness: Completeness {
            planned,
            measured: planned,
            valid: planned,
            is_complete: true,
            is_interrupted: false,
            has_ended: true,
            ..Completeness::default()
        },
        conclusions: Vec::new(),
        factors,
        compare: None,
        lines,
        treatments: Vec::new(),
        trials: Vec::new(),
        panels: Vec::new(),
        percentile_curves: Vec::new(),
        timelines: Vec::new(),
        resources: Vec::new(),
        statements: Vec::new(),
        audits: Vec::new(),
        generator: Vec::new(),
        findings: vec![
            FindingRow {
                severity: Severity::Warning,
                finding: Finding::AuditViolated,
                trials: vec!["b01-003".to_owned()],
                treatments: Vec::new(),
            },
            FindingRow {
                severity: Severity::Note,
                finding: Finding::SharedMachine,
                trials: Vec::new(),
                treatments: Vec::new(),
            },
        ],
        comparisons: Vec::new(),
        growth: None,
        comparison_rules: ComparisonRules {
            margin: 0.05,
            alpha: 0.05,
            min_repeats: 3,
            verdicts_enabled: shape.blocks >= 3,
            family: 12,
        },
        published: Vec::new(),
    }
}

fn add_panels(model: &mut ReportModel) {
    type Of = fn(&TrialFigures) -> Option<f64>;
    let metrics: [(Metric, Unit, Of); 4] = [
        (Metric::Throughput, Unit::TransactionsPerSecond, |f| Some(f.throughput)),
        (Metric::MeanMs, Unit::Milliseconds, |f| f.mean_ms),
        (Metric::P95Ms, Unit::Milliseconds, |f| f.p95_ms),
        (Metric::P99Ms, Unit::Milliseconds, |f| f.p99_ms),
    ];
    for (metric, unit, value) in metrics {
        let lines = (0..model.lines.len()).map(|line| {
            let rows = model.treatments.iter().enumerate().filter(|(_, row)| row.line == line);
            let points = rows.map(|(treatment, row)| {
                let trials = model.trials.iter().filter(|trial| trial.treatment == treatment);
                let repeats = trials.filter_map(|trial| {
                    let value = value(trial.figures.as_ref()?)?;
                    let is_valid = trial.state != TrialState::Invalid;
                    Some(RepeatDot { trial: trial.id.clone(), block: trial.block, value, is_valid })
                });
                let repeats: Vec<_> = repeats.collect();
                let valid: Vec<f64> =
                    repeats.iter().filter(|dot| dot.is_valid).map(|dot| dot.value).collect();
                PanelPoint { clients: row.clients, treatment, estimate: estimate(unit, &valid), repeats }
            });
            PanelLine { line, points: points.collect() }
        });
        let lines = lines.collect();
        model.panels.push(Panel { metric, unit, lines });
    }
}
