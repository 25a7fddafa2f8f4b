//! Conclusions from the figures, as typed statements; the message table turns them into sentences.

use crate::eligibility::main_reason;
use crate::estimate::as_u32;
use crate::model::{
    AuditRow, CommitAudit, Comparison, ComparisonOf, Conclusion, FailedTrial, Metric, NotWorking,
    PanelSeries, PartKind, PartRow, Question, Range, ReportModel, Scope, TrialRow, TrialState,
    Verdict,
};
use dyno_model::audit::AuditVerdict;
use dyno_model::lists;
use dyno_model::plan::ComparisonMetric;
use dyno_model::search::SearchEnd;

/// All conclusions, most important first: lost data, because performance figures are worthless
/// without correctness; then limits and questions; then missing data, warnings, improvements and
/// peaks. Why there is no result at all comes before limits and questions, which it explains.
pub(crate) fn conclude(model: &ReportModel) -> Vec<Conclusion> {
    let (no_results, some_missing): (Vec<_>, Vec<_>) =
        incomplete(model).into_iter().chain(invalid_trials(model)).partition(leaves_no_results);
    let mut conclusions = lost_updates(model);
    conclusions.extend(lost_commits(model));
    conclusions.extend(anomalies(model));
    conclusions.extend(violated(model));
    conclusions.extend(no_results);
    conclusions.extend((0..model.faults.len()).map(|row| Conclusion::Fault { row }));
    conclusions.extend(crate::limits::conclude(model));
    conclusions.extend((0..model.searches.len()).map(|row| Conclusion::Found { row }));
    conclusions.extend(questions(model));
    conclusions.extend(
        model
            .interim_analyses
            .map(|interim_analyses| Conclusion::InterimAnalyses { interim_analyses }),
    );
    conclusions.extend(some_missing);
    conclusions.extend(did_not_work(model));
    conclusions.extend(undecided_updates(model));
    conclusions.extend(no_lost_updates(model));
    conclusions.extend(data_intact(model));
    conclusions.extend(crate::growth::conclude(model));
    // Without verdicts the ratios stay in the table; as sentences they would read like verdicts.
    if model.comparison_rules.verdicts_enabled {
        conclusions.extend(comparisons(model));
    } else if !model.comparisons.is_empty() {
        conclusions.push(Conclusion::VerdictsDisabled {
            blocks: model.provenance.blocks,
            needed: model.comparison_rules.min_repeats,
        });
    }
    // The mean of a trial over a growing table is no peak, nor is a given throughput.
    if model.growth.is_none() && model.primary_metric == ComparisonMetric::Throughput {
        conclusions.extend(peaks(model));
    }
    conclusions.extend((0..model.series.len()).filter_map(|series| served(model, series)));
    conclusions
}

/// How equally a series served its databases, at its most unequal point: normalised per client,
/// because some databases have one client more.
fn served(model: &ReportModel, series: usize) -> Option<Conclusion> {
    let of_series = (0..model.configurations.len())
        .filter(|configuration| model.configurations[*configuration].series == series);
    let of_configuration = |configuration: usize| {
        let rows = model.parts(Scope::Transaction).filter(|row| row.configuration == configuration);
        let figure = |row: &PartRow| match row.part {
            PartKind::Database { clients } => {
                let throughput = row.figures.value(Metric::Throughput)?;
                Some((row.name.clone(), throughput / f64::from(clients)))
            }
            _ => None,
        };
        let mut all: Vec<(String, f64)> = rows.filter_map(figure).collect();
        all.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        let [(least, lowest), .., (most, highest)] = all.as_slice() else { return None };
        (*highest > 0.0).then(|| Conclusion::Served {
            configuration,
            least: least.clone(),
            lowest: *lowest,
            most: most.clone(),
            highest: *highest,
        })
    };
    let share = |conclusion: &Conclusion| match conclusion {
        Conclusion::Served { lowest, highest, .. } => lowest / highest,
        _ => f64::INFINITY,
    };
    of_series.filter_map(of_configuration).min_by(|a, b| share(a).total_cmp(&share(b)))
}

/// Decided questions before undecided ones, otherwise in the order of the spec. A question about
/// the second metric is reported if the first metric shows no difference and the second one does.
fn questions(model: &ReportModel) -> Vec<Conclusion> {
    let differs = |question: &Question| question.effect.verdict.is_some_and(Verdict::differs);
    let is_open = |question: &Question| !question.effect.verdict.is_some_and(Verdict::is_decided);
    let of_first = |question: &Question| {
        model.questions.iter().find(|it| {
            it.metric == model.primary_metric
                && (&it.of, &it.subject, &it.baseline)
                    == (&question.of, &question.subject, &question.baseline)
        })
    };
    let is_reported = |question: &Question| {
        question.metric == model.primary_metric
            || differs(question) && !of_first(question).is_some_and(differs)
    };
    let mut reported: Vec<usize> =
        (0..model.questions.len()).filter(|at| is_reported(&model.questions[*at])).collect();
    reported.sort_by_key(|at| is_open(&model.questions[*at]));
    reported.into_iter().map(|question| Conclusion::Question { question }).collect()
}

fn incomplete(model: &ReportModel) -> Option<Conclusion> {
    let completeness = &model.completeness;
    // A search without a decision was completed; its result is reported with the search.
    let is_search = |it: &&FailedTrial| {
        let mut ended = model.searches.iter().flat_map(|row| &row.ended);
        ended.any(|ended| ended.trial == it.trial && ended.end != SearchEnd::Interrupted)
    };
    let searched = completeness.failed.iter().filter(is_search).count();
    let failed = as_u32(completeness.failed.len() - searched);
    let missing = as_u32(completeness.missing.len() + completeness.cut.len());
    (failed + missing > 0).then_some(Conclusion::Incomplete {
        planned: completeness.planned,
        measured: completeness.measured + as_u32(searched),
        failed,
        missing,
        is_interrupted: completeness.is_interrupted,
    })
}

fn invalid_trials(model: &ReportModel) -> Option<Conclusion> {
    // Trials that ended early were not measured; they are reported with those that are missing.
    let cut = &model.completeness.cut;
    let is_invalid =
        |trial: &&TrialRow| trial.state == TrialState::Invalid && !cut.contains(&trial.id);
    let invalid = model.trials.iter().filter(is_invalid).count();
    let reason = main_reason(&model.warnings).filter(|_| invalid > 0)?;
    Some(Conclusion::InvalidTrials {
        invalid: as_u32(invalid),
        measured: model.completeness.measured,
        warning: reason.warning.clone(),
    })
}

fn leaves_no_results(conclusion: &Conclusion) -> bool {
    match conclusion {
        Conclusion::Incomplete { measured, .. } => *measured == 0,
        Conclusion::InvalidTrials { invalid, measured, .. } => invalid == measured,
        _ => false,
    }
}

/// One statement per series and reason, if the run compares anything.
fn did_not_work(model: &ReportModel) -> Vec<Conclusion> {
    let mut found: Vec<(usize, Vec<u32>, NotWorking)> = Vec::new();
    let rows = model.configurations.iter().filter(|_| !model.comparisons.is_empty());
    for (row, here) in rows.filter_map(|row| Some((row, row.not_working?))) {
        let is_same = |(series, _, it): &(usize, Vec<u32>, NotWorking)| {
            *series == row.series && it.because == here.because
        };
        let none = NotWorking { trials: 0, of: 0, ..here };
        let (_, clients, sum) =
            lists::entry(&mut found, is_same, || (row.series, Vec::new(), none));
        clients.push(row.clients);
        (sum.trials, sum.of) = (sum.trials + here.trials, sum.of + here.of);
    }
    let conclusion = |(series, mut clients, not_working): (usize, Vec<u32>, NotWorking)| {
        clients.sort_unstable();
        Conclusion::DidNotWork { series, clients, not_working }
    };
    found.into_iter().map(conclusion).collect()
}

/// Audits of a series that counted updates, by ascending number of clients.
fn audits_of(model: &ReportModel, series: usize) -> Vec<&AuditRow> {
    let mut audits: Vec<&AuditRow> = model
        .audits
        .iter()
        .filter(|audit| model.configurations[audit.configuration].series == series)
        .collect();
    audits.sort_by_key(|audit| model.configurations[audit.configuration].clients);
    audits
}

/// Lost updates, the worst loss first.
fn lost_updates(model: &ReportModel) -> Vec<Conclusion> {
    let mut losses: Vec<(f64, Conclusion)> = (0..model.series.len())
        .filter_map(|series| {
            let checked = audits_of(model, series).into_iter().filter_map(|audit| {
                let (updates, commits) = (audit.updates.as_ref()?, audit.commits.as_ref()?);
                Some((model.configurations[audit.configuration].clients, audit, updates, commits))
            });
            let (losing, clean): (Vec<_>, Vec<_>) =
                checked.partition(|(_, audit, ..)| audit.has_lost_commits());
            // Commits that the ledger misses are reported in a separate conclusion.
            let losing: Vec<_> =
                losing.into_iter().filter(|(_, audit, ..)| !misses_commits(audit)).collect();
            if losing.is_empty() {
                return None;
            }
            let percents =
                |of: fn(&CommitAudit) -> f64| losing.iter().map(move |(.., commits)| of(commits));
            let percent_max = percents(|commits| commits.lost_percent_max).fold(0.0, f64::max);
            let conclusion = Conclusion::LostUpdates {
                series,
                clients: losing.iter().map(|(clients, ..)| *clients).collect(),
                percent_min: percents(|commits| commits.lost_percent).fold(f64::INFINITY, f64::min),
                percent_max,
                lost: losing.iter().map(|(.., commits)| commits.lost).sum(),
                committed: losing.iter().map(|(.., commits)| commits.committed).sum(),
                statement_errors: losing
                    .iter()
                    .map(|(_, _, updates, _)| updates.statement_errors)
                    .sum(),
                clients_without: clean
                    .iter()
                    .filter(|(_, audit, ..)| audit.is_complete())
                    .map(|(clients, ..)| *clients)
                    .collect(),
            };
            Some((percent_max, conclusion))
        })
        .collect();
    losses.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    losses.into_iter().map(|(_, conclusion)| conclusion).collect()
}

/// True if rows of the commit ledger are missing.
fn misses_commits(audit: &AuditRow) -> bool {
    audit.ledger.as_ref().is_some_and(|ledger| ledger.has_losses)
}

/// Results of the commit ledger: each loss separately, or one statement for all if no check misses
/// anything.
fn lost_commits(model: &ReportModel) -> Vec<Conclusion> {
    let is_kept = |audit: &&AuditRow| audit.ledger.is_some() && audit.is_complete();
    let audited = || model.audits.iter().filter(is_kept).filter_map(|audit| audit.commits.as_ref());
    let lost = model.audits.iter().enumerate().filter(|(_, audit)| misses_commits(audit));
    let none = Conclusion::NoLostCommits {
        configurations: as_u32(audited().count()),
        acknowledged: audited().map(|commits| commits.committed).sum(),
    };
    let lost = lost.map(|(audit, _)| Conclusion::LostCommits { audit });
    lost.chain((audited().count() > 0).then_some(none)).collect()
}

/// Results of the history checks: each configuration with an anomaly, forbidden anomalies first,
/// and one statement for all others.
fn anomalies(model: &ReportModel) -> Vec<Conclusion> {
    let audited = || {
        model
            .audits
            .iter()
            .enumerate()
            .filter_map(|(at, audit)| Some((at, audit.anomalies.as_ref()?)))
    };
    let has =
        |is_forbidden| audited().filter(move |(_, it)| it.found(is_forbidden).next().is_some());
    let forbidden = has(true).map(|(audit, _)| Conclusion::Anomalies { audit });
    let allowed = has(false).map(|(audit, _)| Conclusion::AnomaliesAllowed { audit });
    let clean = || audited().filter(|(_, it)| it.found.iter().all(|found| found.count == 0));
    let none = Conclusion::NoAnomalies {
        configurations: as_u32(clean().count()),
        committed: clean().map(|(_, it)| it.committed).sum(),
    };
    forbidden.chain(allowed).chain((clean().count() > 0).then_some(none)).collect()
}

/// Configurations without a certain loss where updates of unknown outcome may hide one.
fn undecided_updates(model: &ReportModel) -> Vec<Conclusion> {
    let undecided = |series| {
        let mut clients = Vec::new();
        let (mut committed, mut in_doubt, mut lost_max) = (0, 0, 0);
        for audit in audits_of(model, series) {
            let (Some(updates), Some(commits)) = (&audit.updates, &audit.commits) else { continue };
            if audit.losses != AuditVerdict::Undecided
                || updates.phantom > 0
                || commits.lost_max == 0
            {
                continue;
            }
            clients.push(model.configurations[audit.configuration].clients);
            committed += commits.committed;
            in_doubt += updates.in_doubt;
            lost_max += commits.lost_max;
        }
        (!clients.is_empty()).then_some(Conclusion::UndecidedUpdates {
            series,
            clients,
            committed,
            in_doubt,
            lost_max,
        })
    };
    (0..model.series.len()).filter_map(undecided).collect()
}

fn no_lost_updates(model: &ReportModel) -> Option<Conclusion> {
    let mut intact = Vec::new();
    let mut committed = 0;
    let mut clients_max = 0;
    for series in 0..model.series.len() {
        let audits = audits_of(model, series);
        // The commit ledger reports this separately.
        let counted =
            || audits.iter().filter(|audit| audit.updates.is_some() && audit.ledger.is_none());
        let acknowledged: u64 =
            counted().filter_map(|audit| audit.commits.as_ref()).map(|it| it.committed).sum();
        // A client that received no commit acknowledgement cannot have lost a commit.
        if acknowledged == 0 || counted().any(|audit| !audit.is_complete()) {
            continue;
        }
        intact.push(series);
        committed += acknowledged;
        let clients =
            audits.iter().map(|audit| model.configurations[audit.configuration].clients).max();
        clients_max = clients_max.max(clients.unwrap_or_default());
    }
    (!intact.is_empty()).then_some(Conclusion::NoLostUpdates {
        series: intact,
        committed,
        clients_max,
    })
}

/// The conclusion that all audits passed, for workloads whose audits count no commits.
fn data_intact(model: &ReportModel) -> Option<Conclusion> {
    let audits = model.audits.iter().filter(|audit| audit.verdict != AuditVerdict::NotChecked);
    let audits: Vec<&AuditRow> = audits.collect();
    let is_plain = |audit: &AuditRow| {
        audit.updates.is_none() && audit.ledger.is_none() && audit.anomalies.is_none()
    };
    // After each trial: an audit has one row per check, from its worst trial.
    let checks = audits.iter().map(|audit| audit.row_counts.len() + audit.values.len()).max()?;
    let is_intact = |audit: &&AuditRow| is_plain(audit) && audit.verdict == AuditVerdict::Intact;
    audits.iter().all(is_intact).then(|| Conclusion::DataIntact {
        trials: audits.iter().map(|audit| audit.trials).sum(),
        checks: as_u32(checks),
    })
}

fn violated(model: &ReportModel) -> Vec<Conclusion> {
    (0..model.series.len())
        .filter_map(|series| {
            let mut clients = Vec::new();
            let mut phantom = 0;
            let (mut tables, mut sums) = (Vec::<String>::new(), Vec::<String>::new());
            for audit in audits_of(model, series) {
                let more = audit.updates.as_ref().map_or(0, |updates| updates.phantom);
                let wrong: Vec<_> = audit
                    .row_counts
                    .iter()
                    .filter(|row| row.verdict == AuditVerdict::Violated)
                    .collect();
                let wrong_sums: Vec<_> = audit
                    .values
                    .iter()
                    .filter(|value| value.verdict == AuditVerdict::Violated)
                    .collect();
                if more == 0 && wrong.is_empty() && wrong_sums.is_empty() {
                    continue;
                }
                clients.push(model.configurations[audit.configuration].clients);
                phantom += more;
                wrong.into_iter().for_each(|row| lists::add(&mut tables, row.table.clone()));
                wrong_sums
                    .into_iter()
                    .for_each(|value| lists::add(&mut sums, value.expression.clone()));
            }
            (!clients.is_empty()).then_some(Conclusion::AuditViolated {
                series,
                clients,
                phantom,
                tables,
                sums,
            })
        })
        .collect()
}

/// One statement per pair of series and outcome, over all numbers of clients with that outcome.
/// Only throughput gets sentences; response times are in the table.
fn comparisons(model: &ReportModel) -> Vec<Conclusion> {
    let key = |at: usize| {
        let comparison = &model.comparisons[at];
        let series = |configuration: usize| model.configurations[configuration].series;
        (
            series(comparison.subject),
            series(comparison.baseline),
            comparison.effect.verdict,
            comparison.effect.ratio_interval.is_some(),
            is_of_unanswered_question(model, at),
            comparison.effect.subject_not_working.is_some(),
            comparison.effect.baseline_not_working.is_some(),
        )
    };
    let reported = model.comparisons.iter().enumerate().filter(|(at, it)| {
        it.metric == model.primary_metric
            && !(it.effect.verdict == Some(Verdict::Inconclusive)
                && is_left_to_its_question(model, *at))
    });
    let groups = lists::grouped(reported.map(|(at, comparison)| (key(at), (at, comparison))));
    // Statements about the same two series stay together whatever their outcomes.
    let pairs = lists::grouped(groups.into_iter().map(|(key, group)| ((key.0, key.1), group)));
    pairs.into_iter().flat_map(|(_, groups)| groups).map(|group| comparison(model, group)).collect()
}

/// True if the question over all pairs of a comparison has no answer, and no other pair of it could
/// be tested. The comparison then gets no verdict, however far its interval is from 1.
fn is_of_unanswered_question(model: &ReportModel, comparison: usize) -> bool {
    let is_tested = |at: &&usize| model.comparisons[**at].effect.ratio_interval.is_some();
    let is_unanswered = |it: &Question| {
        it.effect.ratio.is_none()
            && !it.opens_pairs
            && it.comparisons.iter().filter(is_tested).count() < 2
    };
    model.questions.iter().any(|it| it.comparisons.contains(&comparison) && is_unanswered(it))
}

/// True if the question over all pairs was inconclusive, or was measured until it was decided. A
/// single comparison is then tested at such a low risk that its interval only reflects that.
fn is_left_to_its_question(model: &ReportModel, comparison: usize) -> bool {
    let is_left =
        |it: &Question| it.pairs > 1 && (!it.opens_pairs || model.interim_analyses.is_some());
    model.questions.iter().any(|it| is_left(it) && it.comparisons.contains(&comparison))
}

fn comparison(model: &ReportModel, group: Vec<(usize, &Comparison)>) -> Conclusion {
    let is_question_unanswered = is_of_unanswered_question(model, group[0].0);
    let mut group: Vec<&Comparison> = group.into_iter().map(|(_, it)| it).collect();
    group.sort_by_key(|comparison| comparison.clients);
    let first = group[0];
    let hull = |ranges: Vec<Range>| {
        ranges.into_iter().reduce(|a, b| Range { low: a.low.min(b.low), high: a.high.max(b.high) })
    };
    let ratios = group
        .iter()
        .filter_map(|comparison| comparison.effect.ratio)
        .map(|ratio| Range { low: ratio, high: ratio });
    let (subject, baseline) =
        (model.configurations[first.subject].series, model.configurations[first.baseline].series);
    let not_working = [
        (first.effect.subject_not_working, subject),
        (first.effect.baseline_not_working, baseline),
    ];
    Conclusion::Comparison {
        of: match &first.of {
            ComparisonOf::System => ComparisonOf::System,
            ComparisonOf::Level { factor } => ComparisonOf::Level { factor: *factor },
        },
        metric: first.metric,
        subject,
        baseline,
        verdict: first.effect.verdict,
        is_question_unanswered,
        clients: group.iter().map(|comparison| comparison.clients).collect(),
        ratio: if first.effect.verdict == Some(Verdict::Invalid) {
            None
        } else {
            hull(ratios.collect())
        },
        ratio_interval: hull(
            group.iter().filter_map(|comparison| comparison.effect.ratio_interval).collect(),
        ),
        interval_level: first.effect.interval_level,
        not_working: not_working
            .into_iter()
            .filter_map(|(trials, series)| trials.map(|_| series))
            .collect(),
        exceeds_margin: group.iter().all(|comparison| comparison.effect.exceeds_margin),
        detectable_ratio: group
            .iter()
            .filter_map(|comparison| comparison.effect.detectable_ratio)
            .reduce(f64::max),
    }
}

/// With more series than this, only the best series of each system gets a sentence; all of them are
/// in the table.
const PEAKS_MAX: usize = 6;

fn peaks(model: &ReportModel) -> Vec<Conclusion> {
    let Some(panel) = model.panel(ComparisonMetric::Throughput) else { return Vec::new() };
    let mut peaks: Vec<(usize, f64, Conclusion)> = panel.series.iter().filter_map(peak).collect();
    if peaks.len() > PEAKS_MAX {
        let best: Vec<usize> = (0..model.provenance.systems.len())
            .filter_map(|system| {
                let of_system =
                    peaks.iter().filter(|(series, ..)| model.series[*series].system == system);
                of_system.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(series, ..)| *series)
            })
            .collect();
        peaks.retain(|(series, ..)| best.contains(series));
    }
    peaks.into_iter().map(|(.., conclusion)| conclusion).collect()
}

/// The peak of a series: its index, its throughput there, and the statement.
fn peak(series: &PanelSeries) -> Option<(usize, f64, Conclusion)> {
    let usable: Vec<_> = series
        .points
        .iter()
        .filter_map(|point| point.estimate.map(|estimate| (point.clients, estimate)))
        .collect();
    // The first of equal peaks: fewer clients reach the same.
    let (clients, throughput) =
        usable.iter().rev().copied().max_by(|a, b| a.1.mean.total_cmp(&b.1.mean))?;
    let (series, is_at_end) =
        (series.series, usable.last().is_some_and(|(last, _)| *last == clients));
    let clients_measured = as_u32(usable.len());
    let peak =
        Conclusion::PeakThroughput { series, clients, throughput, is_at_end, clients_measured };
    Some((series, throughput.mean, peak))
}
