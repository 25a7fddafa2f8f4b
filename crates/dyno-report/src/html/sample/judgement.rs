//! Comparisons and conclusions of made-up reports, as a real analysis would draw them.

use dyno_analysis::model::*;
use dyno_model::plan::Metric;

pub(super) fn add_comparisons(model: &mut ReportModel) {
    let rows = &model.treatments;
    let mut comparisons = Vec::new();
    for (subject, row) in rows.iter().enumerate() {
        let line = &model.lines[row.line];
        let baseline = rows.iter().position(|other| {
            let base = &model.lines[other.line];
            other.clients == row.clients && base.levels == line.levels && base.system == 0
        });
        let Some(baseline) = baseline.filter(|_| line.system != 0) else { continue };
        let ratio = rows[subject].throughput.zip(rows[baseline].throughput).map(|(s, b)| s.mean / b.mean);
        let is_judged = model.comparison_rules.verdicts_enabled;
        let interval =
            ratio.filter(|_| is_judged).map(|ratio| Range { low: ratio * 0.94, high: ratio * 1.06 });
        let verdict = match ratio {
            None => Verdict::Invalid,
            Some(r) if r > 1.1 => Verdict::Better,
            Some(r) if r < 0.9 => Verdict::Worse,
            Some(r) if (0.98..1.02).contains(&r) => Verdict::Equivalent,
            Some(_) => Verdict::Inconclusive,
        };
        comparisons.push(Comparison {
            bound: None,
            of: ComparisonOf::System,
            metric: Metric::Throughput,
            clients: row.clients,
            subject,
            baseline,
            ratio,
            ratio_interval: interval,
            interval_level: interval.map(|_| 0.95),
            repeats: model.provenance.blocks,
            p: is_judged.then_some(0.004),
            p_corrected: is_judged.then_some(0.012),
            detectable_ratio: is_judged.then_some(1.062),
            exceeds_margin: true,
            subject_not_working: None,
            baseline_not_working: None,
            verdict: is_judged.then_some(verdict),
        });
    }
    model.comparisons = comparisons;
}

pub(super) fn add_conclusions(model: &mut ReportModel) {
    let mut conclusions = Vec::new();
    if !model.comparison_rules.verdicts_enabled {
        conclusions.push(Conclusion::VerdictsDisabled { blocks: model.provenance.blocks, needed: 3 });
    }
    let mut intact = Vec::new();
    for line in 0..model.lines.len() {
        let rows: Vec<&TreatmentRow> = model.treatments.iter().filter(|row| row.line == line).collect();
        let lossy: Vec<&&TreatmentRow> = rows.iter().filter(|row| row.lost_percent > Some(0.0)).collect();
        let percents = || lossy.iter().filter_map(|row| row.lost_percent);
        if lossy.is_empty() {
            if rows.iter().any(|row| row.lost_percent.is_some()) {
                intact.push(line);
            }
            continue;
        }
        conclusions.push(Conclusion::LostUpdates {
            line,
            clients: lossy.iter().map(|row| row.clients).collect(),
            percent_min: percents().fold(f64::INFINITY, f64::min),
            percent_max: percents().fold(0.0, f64::max),
            lost: 1000,
            committed: 10_000,
            statement_errors: 0,
            clients_without: vec![1],
        });
    }
    if !intact.is_empty() {
        conclusions.push(Conclusion::NoLostUpdates { lines: intact, committed: 300_000, clients_max: 100 });
    }
    for comparison in model.comparisons.iter().rev().take(4) {
        let ratio = comparison.ratio.map(|ratio| Range { low: ratio, high: ratio });
        conclusions.push(Conclusion::Comparison {
            of: comparison.of.clone(),
            metric: comparison.metric,
            subject: model.treatments[comparison.subject].line,
            baseline: model.treatments[comparison.baseline].line,
            verdict: comparison.verdict,
            clients: vec![comparison.clients],
            ratio,
            ratio_interval: comparison.ratio_interval,
            interval_level: comparison.interval_level,
            not_working: Vec::new(),
            exceeds_margin: comparison.exceeds_margin,
            detectable_ratio: comparison.detectable_ratio,
        });
    }
    for line in 0..model.lines.len() {
        let rows = model.treatments.iter().filter(|row| row.line == line);
        let peaks = rows.filter_map(|row| row.throughput.map(|throughput| (row.clients, throughput)));
        let Some((clients, throughput)) = peaks.max_by(|a, b| a.1.mean.total_cmp(&b.1.mean)) else {
            continue;
        };
        let clients_measured = model.treatments.iter().filter(|row| row.line == line).count() as u32;
        conclusions.push(Conclusion::PeakThroughput {
            line,
            clients,
            throughput,
            is_at_end: false,
            clients_measured,
        });
    }
    model.conclusions = conclusions;
}
