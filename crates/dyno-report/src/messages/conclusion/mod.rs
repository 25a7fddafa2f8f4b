//! Sentences for conclusions.

pub(crate) use super::languages::en::conclusion::*;
use super::languages::en::notes;
use super::languages::{Lang, Message};
use super::names::list;
pub(crate) use super::reason::load;
use super::reason::no_load;
use super::{fill, growth, names, question, reason, warning};
use crate::figures;
use dyno_analysis::model::{
    AuditRow, ClaimPairs, Conclusion, Estimate, FaultRow, FoundAnomaly, LimitVerdict, Metric,
    NotWorking, Range, ReportModel, SearchRow, Shortage, Verdict,
};
use dyno_model::audit::AuditVerdict;
use dyno_model::isolation::IsolationLevel;
use dyno_model::limit::LimitMetric;
use dyno_model::plan::Compare;
use std::time::Duration;

/// All conclusions of a report as whole sentences, in order.
pub(crate) fn sentences(model: &ReportModel, lang: Lang) -> Vec<String> {
    model.conclusions.iter().map(|conclusion| sentence(model, conclusion, lang)).collect()
}

/// One conclusion as one or more whole sentences.
pub(crate) fn sentence(model: &ReportModel, conclusion: &Conclusion, lang: Lang) -> String {
    let (statement, reservations) = parts(model, conclusion, lang);
    [statement].into_iter().chain(reservations).collect::<Vec<_>>().join(lang.space)
}

/// The statement of a conclusion, and the sentences that qualify it.
#[expect(clippy::too_many_lines, reason = "a table: one arm per conclusion")]
pub(crate) fn parts(
    model: &ReportModel,
    conclusion: &Conclusion,
    lang: Lang,
) -> (String, Vec<String>) {
    let label = |series: usize| model.series[series].label.as_str();
    let statement = match conclusion {
        Conclusion::Claim { .. } => return claim(model, conclusion, lang),
        Conclusion::Incomplete { planned, measured, failed, missing, is_interrupted } => {
            let message = if *is_interrupted { INTERRUPTED } else { INCOMPLETE };
            let [planned, measured, failed, missing] =
                [planned, measured, failed, missing].map(|number| figures::count((*number).into()));
            let sentence = fill!(message, lang, measured, planned, failed, missing);
            // The machine may need attention before the run is resumed.
            let mut failed = model.completeness.failed.iter();
            let lost = failed.find(|it| it.reason.is_of_generators());
            let lost = lost.map(|it| reason::failed_trial(model, it, lang));
            [sentence].into_iter().chain(lost).collect::<Vec<_>>().join(lang.space)
        }
        Conclusion::InvalidTrials { invalid, measured, warning } => {
            let [invalid, measured] =
                [invalid, measured].map(|number| figures::count((*number).into()));
            fill!(
                INVALID_TRIALS,
                lang,
                invalid,
                measured,
                reason = warning::sentence(warning, lang)
            )
        }
        Conclusion::DidNotWork {
            series,
            clients,
            not_working: NotWorking { trials, of, because },
        } => {
            let (series, clients) = (label(*series), names::clients(clients, lang));
            let sentence = fill!(
                DID_NOT_WORK,
                lang,
                series,
                clients,
                trials,
                of,
                because = names::because(*because, lang)
            );
            match trials < of {
                true => [sentence.as_str(), OTHERS_COUNT_AGAINST.text(lang)].join(lang.space),
                false => sentence,
            }
        }
        Conclusion::VerdictsDisabled { blocks, needed } => {
            fill!(VERDICTS_DISABLED, lang, blocks, needed)
        }
        Conclusion::InterimAnalyses { interim_analyses } => {
            question::interim_analyses(model, interim_analyses, lang)
        }
        Conclusion::LostUpdates { .. } => lost_updates(model, conclusion, lang),
        Conclusion::UndecidedUpdates {
            series,
            clients: numbers,
            committed,
            in_doubt,
            lost_max,
        } => {
            let [committed, in_doubt, lost_max] =
                [committed, in_doubt, lost_max].map(|number| figures::count(*number));
            let (series, clients) = (label(*series), names::clients(numbers, lang));
            fill!(LOST_UNDECIDED, lang, series, clients, committed, in_doubt, lost_max)
        }
        Conclusion::LostCommits { audit } => lost_commits(model, &model.audits[*audit], lang),
        Conclusion::NoLostCommits { configurations, acknowledged } => {
            fill!(
                NO_LOST_COMMITS,
                lang,
                acknowledged = figures::count(*acknowledged),
                configurations
            )
        }
        Conclusion::Anomalies { audit } | Conclusion::AnomaliesAllowed { audit } => {
            let is_forbidden = matches!(conclusion, Conclusion::Anomalies { .. });
            anomalies(model, &model.audits[*audit], is_forbidden, lang)
        }
        Conclusion::NoAnomalies { configurations, committed } => {
            fill!(NO_ANOMALIES, lang, committed = figures::count(*committed), configurations)
        }
        Conclusion::Fault { row } => fault(model, &model.faults[*row], lang),
        Conclusion::NoLostUpdates { series, committed, clients_max } => {
            let series =
                list(lang, &series.iter().map(|series| label(*series)).collect::<Vec<_>>());
            let clients = names::clients(&[*clients_max], lang);
            fill!(LOST_NONE, lang, series, committed = figures::count(*committed), clients)
        }
        Conclusion::DataIntact { trials, checks } => fill!(DATA_INTACT, lang, trials, checks),
        Conclusion::AuditViolated { series, clients: numbers, phantom, tables, sums } => {
            violated(label(*series), &names::clients(numbers, lang), *phantom, (tables, sums), lang)
        }
        Conclusion::GrowthCrossing { before, after } => {
            growth::crossing(model, before, after, lang)
        }
        Conclusion::GrowthLead { lead } => growth::lead(model, lead, lang),
        Conclusion::GrowthSteps { configuration, fastest, slowest, last } => {
            growth::steps(model, *configuration, (fastest, slowest, last), lang)
        }
        Conclusion::PeakThroughput {
            series,
            clients: number,
            throughput,
            is_at_end,
            clients_measured,
        } => {
            let shape = PeakShape { is_at_end: *is_at_end, is_only: *clients_measured == 1 };
            let statement = peak(label(*series), *number, throughput, shape, lang);
            return (statement, audit(model, &[*series], &[*number], lang));
        }
        Conclusion::Served { configuration, least, lowest, most, highest } => {
            let series = label(model.configurations[*configuration].series);
            let clients = names::clients(&[model.configurations[*configuration].clients], lang);
            let percent = figures::percent(100.0 * lowest / highest);
            let [lowest, highest] = [*lowest, *highest].map(figures::digits);
            fill!(SERVED, lang, series, clients, least, lowest, percent, most, highest)
        }
        Conclusion::Limit { .. } => return limit(model, conclusion, lang),
        Conclusion::Found { row } => found(model, &model.searches[*row], lang),
        Conclusion::Question { question } => {
            let question = &model.questions[*question];
            let mut sentences = question::answer(model, question, lang);
            let pairs = question.comparisons.iter().map(|at| &model.comparisons[*at]);
            let mut series: Vec<usize> = pairs
                .flat_map(|it| [it.subject, it.baseline])
                .map(|configuration| model.configurations[configuration].series)
                .collect();
            series.sort_unstable();
            series.dedup();
            sentences.extend(audit(model, &series, &question.clients, lang));
            return (sentences.remove(0), sentences);
        }
        Conclusion::Comparison { subject, baseline, clients: numbers, .. } => {
            let statement = comparison(model, conclusion, lang);
            return (statement, audit(model, &[*subject, *baseline], numbers, lang));
        }
    };
    (statement, Vec::new())
}

/// Whether a limit is met, with qualifications.
fn limit(model: &ReportModel, conclusion: &Conclusion, lang: Lang) -> (String, Vec<String>) {
    let Conclusion::Limit {
        metric,
        value,
        part,
        verdict,
        configurations: number,
        of,
        worst,
        not_working,
        shortage,
        lower_percentile,
        trials_needed,
        is_untested,
    } = conclusion
    else {
        return Default::default();
    };
    let message = match (verdict, metric) {
        (LimitVerdict::Passed, LimitMetric::Lost) => LIMIT_NOTHING_LOST,
        (LimitVerdict::Failed, LimitMetric::Lost) => LIMIT_LOST,
        (LimitVerdict::Undecided, LimitMetric::Lost) => LIMIT_LOST_UNKNOWN,
        (LimitVerdict::Failed, _) if not_working.is_some() => LIMIT_NOT_WORKING,
        (LimitVerdict::Undecided, _) if shortage.is_some() => LIMIT_TOO_FEW,
        (LimitVerdict::Undecided, _) if worst.figure.is_none() => LIMIT_UNKNOWN,
        (LimitVerdict::Passed, _) => LIMIT_HELD,
        (LimitVerdict::Failed, _) if lower_percentile.is_some() => LIMIT_BROKEN_LOWER,
        (LimitVerdict::Failed, _) => LIMIT_BROKEN,
        (LimitVerdict::Undecided, _) => LIMIT_UNDECIDED,
    };
    let (trials, of_trials, because) =
        not_working.map_or((0, 0, ""), |it| (it.trials, it.of, names::because(it.because, lang)));
    let [transactions, needed] =
        shortage.map_or([0, 0], |it| [it.transactions, it.needed]).map(figures::count);
    let statement = fill!(
        message,
        lang,
        limit = figures::limit_in(part.as_ref(), *metric, *value),
        number,
        configurations = of,
        series = model.series_of(worst.configuration).label,
        clients = names::clients(&[model.configurations[worst.configuration].clients], lang),
        worst = worst.figure.map_or_else(String::new, |figure| figures::of_limit(*metric, figure)),
        trials,
        of = of_trials,
        because,
        percentile = metric,
        lower = lower_percentile.map_or_else(String::new, |it| it.to_string()),
        transactions,
        needed
    );
    let needed = model.comparison_rules.min_repeats;
    let untested = is_untested.then(|| fill!(LIMIT_UNTESTED, lang, needed));
    let shortage = shortage.filter(|_| *verdict == LimitVerdict::Undecided);
    let enough = shortage.and_then(|shortage| enough(&shortage, lang));
    let trials = trials_needed.map(|trials| fill!(LIMIT_TRIALS, lang, trials));
    (statement, untested.into_iter().chain(enough).chain(trials).collect())
}

/// The measurement time that a percentile needs.
pub(crate) fn enough(shortage: &Shortage, lang: Lang) -> Option<String> {
    let duration = names::duration(Duration::from_secs_f64(shortage.duration_s?), lang);
    Some(fill!(notes::NOTE_ENOUGH, lang, duration))
}

/// The highest load that a system sustains.
fn found(model: &ReportModel, row: &SearchRow, lang: Lang) -> String {
    let number = |number: f64| figures::value(Metric::from(row.metric()).unit(), number);
    let estimate = model.estimate(row.configuration, row.metric());
    let series = searched(model, row, lang);
    let limit = figures::limit_of(&row.search);
    if let (None, Some(ended)) = (estimate, row.ended.last()) {
        let reason = no_load(&row.search, &ended.end, ended.steps, lang);
        return fill!(FOUND_NONE, lang, series, reason);
    }
    let (message, [found, low, high]) = match estimate {
        None => (FOUND_NOTHING, [String::new(), String::new(), String::new()]),
        Some(found) => match found.interval {
            _ if found.is_bound => (FOUND_BOUND, [found.mean; 3].map(number)),
            None => (FOUND, [found.mean; 3].map(number)),
            Some(it) => (FOUND_INTERVAL, [found.mean, it.low, it.high].map(number)),
        },
    };
    let load = load(row.search.most, &found, lang);
    let sentence = fill!(message, lang, series, load, limit, low, high);
    let (Some(ended), Some(estimate)) = (row.ended.last(), estimate) else { return sentence };
    let reason = no_load(&row.search, &ended.end, ended.steps, lang);
    let number = row.ended.len();
    let of = number + estimate.repeats as usize;
    [sentence, fill!(FOUND_ENDED, lang, number, of, reason)].join(lang.space)
}

/// The series that was searched, with the number of clients if it is informative.
pub(crate) fn searched(model: &ReportModel, row: &SearchRow, lang: Lang) -> String {
    let clients = |configuration: usize| model.configurations[configuration].clients;
    let is_same = model
        .searches
        .iter()
        .all(|other| clients(other.configuration) == clients(row.configuration));
    match is_same {
        true => model.series_of(row.configuration).label.clone(),
        false => names::configuration(model, row.configuration, lang),
    }
}

/// The violations that an audit found in the data, a sentence for each kind.
fn violated(
    series: &str,
    clients: &str,
    phantom: u64,
    (tables, sums): (&[String], &[String]),
    lang: Lang,
) -> String {
    let mut sentences = Vec::new();
    if phantom > 0 {
        sentences.push(fill!(
            PHANTOM_UPDATES,
            lang,
            series,
            clients,
            phantom = figures::count(phantom)
        ));
    }
    if !tables.is_empty() {
        sentences.push(fill!(WRONG_ROW_COUNT, lang, series, clients, tables = list(lang, tables)));
    }
    if !sums.is_empty() {
        sentences.push(fill!(WRONG_SUM, lang, series, clients, sums = list(lang, sums)));
    }
    sentences.join(lang.space)
}

/// The result of a failed audit, lost or duplicated work: a throughput must not be reported without
/// it.
fn audit(model: &ReportModel, series: &[usize], clients: &[u32], lang: Lang) -> Vec<String> {
    let violated = |series: usize| {
        let is_meant = move |configuration: usize| {
            let row = &model.configurations[configuration];
            row.series == series && clients.contains(&row.clients)
        };
        let is_violated = |audit: &&AuditRow| audit.verdict == AuditVerdict::Violated;
        model.audits.iter().filter(is_violated).filter(move |audit| is_meant(audit.configuration))
    };
    let (mut losing, mut mixed, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for series in series {
        let label = model.series[*series].label.as_str();
        let is_mixed = |audit: &AuditRow| {
            audit.anomalies.as_ref().is_some_and(|it| it.verdict == AuditVerdict::Violated)
        };
        if violated(*series).any(AuditRow::has_losses) {
            losing.push(label);
        } else if violated(*series).any(is_mixed) {
            mixed.push(label);
        } else if violated(*series).next().is_some() {
            others.push(label);
        }
    }
    let found = [(NOT_KEPT, losing), (NOT_KEPT_APART, mixed), (NOT_ACCOUNTED_FOR, others)];
    let found = found.into_iter().filter(|(_, series)| !series.is_empty());
    found.map(|(message, series)| fill!(message, lang, series = list(lang, &series))).collect()
}

fn lost_commits(model: &ReportModel, audit: &AuditRow, lang: Lang) -> String {
    let Some(commits) = &audit.commits else { return String::new() };
    let [lost, acknowledged, most] =
        [commits.lost, commits.committed, commits.lost_in_one].map(figures::count);
    let configuration = names::configuration(model, audit.configuration, lang);
    fill!(
        LOST_COMMITS,
        lang,
        configuration,
        lost,
        acknowledged,
        trials = commits.trials_with_losses,
        most
    )
}

/// Anomalies that the isolation level forbids, or those that it allows.
fn anomalies(model: &ReportModel, audit: &AuditRow, is_forbidden: bool, lang: Lang) -> String {
    let Some(anomalies) = &audit.anomalies else { return String::new() };
    let name = |it: &FoundAnomaly| {
        format!("{} ({})", names::anomaly(it.anomaly).text(lang), figures::count(it.count))
    };
    let found = list(lang, &anomalies.found(is_forbidden).map(name).collect::<Vec<_>>());
    let message = match (anomalies.level, is_forbidden) {
        (None, _) => ANOMALIES_LEVEL_UNKNOWN,
        (Some(_), true) => ANOMALIES_FORBIDDEN,
        (Some(_), false) => ANOMALIES_ALLOWED,
    };
    let configuration = names::configuration(model, audit.configuration, lang);
    let level = anomalies.level.map(IsolationLevel::sql).unwrap_or_default();
    fill!(
        message,
        lang,
        configuration,
        level,
        found,
        committed = figures::count(anomalies.committed)
    )
}

fn fault(model: &ReportModel, row: &FaultRow, lang: Lang) -> String {
    let is_once = row.trials.len() == 1;
    let of = &model.configurations[row.configuration].figures;
    let [outage, longest] =
        [Metric::Outage, Metric::OutageMax].map(|it| of.value(it).unwrap_or(0.0));
    let message = match (longest == 0.0, is_once) {
        (true, _) => FAULT_UNNOTICED,
        (false, true) => FAULT_OUTAGE_ONCE,
        (false, false) => FAULT_OUTAGE,
    };
    let (configuration, faults) =
        (names::configuration(model, row.configuration, lang), names::faults(row, lang));
    let [outage, most] = [outage, longest].map(figures::digits);
    let recovered = of.value(Metric::Recovered).zip(of.value(Metric::RecoveredMax));
    let back = recovered.map(|(middle, most)| {
        let message = if is_once { FAULT_BACK_ONCE } else { FAULT_BACK };
        let [back, back_most] = [middle, most].map(figures::digits);
        fill!(message, lang, back, back_most)
    });
    let not_recovered = of.count(Metric::NotRecovered).filter(|trials| *trials > 0);
    let not_back = not_recovered.map(|trials| fill!(FAULT_NOT_BACK, lang, trials));
    let sentences =
        [Some(fill!(message, lang, configuration, faults, outage, most)), back, not_back];
    sentences.into_iter().flatten().collect::<Vec<_>>().join(lang.space)
}

fn lost_updates(model: &ReportModel, conclusion: &Conclusion, lang: Lang) -> String {
    let Conclusion::LostUpdates {
        series,
        clients: numbers,
        percent_min,
        percent_max,
        statement_errors,
        clients_without,
        ..
    } = conclusion
    else {
        return String::new();
    };
    let (series, clients) = (model.series[*series].label.as_str(), names::clients(numbers, lang));
    let [low, high] = [percent_min, percent_max].map(|percent| figures::percent(*percent));
    let message = match (*statement_errors == 0, low == high) {
        (true, true) => LOST_SILENTLY,
        (true, false) => LOST_SILENTLY_RANGE,
        (false, true) => LOST_WITH_ERRORS,
        (false, false) => LOST_WITH_ERRORS_RANGE,
    };
    let errors = figures::count(*statement_errors);
    let first = fill!(
        message,
        lang,
        series,
        percent = low,
        percent_min = low,
        percent_max = high,
        clients,
        errors
    );
    if clients_without.is_empty() {
        return first;
    }
    let second = fill!(LOST_NONE_AT, lang, series, clients = names::clients(clients_without, lang));
    [first, second].join(lang.space)
}

#[derive(Clone, Copy)]
struct PeakShape {
    is_at_end: bool,
    is_only: bool,
}

fn peak(series: &str, number: u32, throughput: &Estimate, shape: PeakShape, lang: Lang) -> String {
    let clients = names::clients(&[number], lang);
    if throughput.mean <= 0.0 {
        return fill!(PEAK_NONE, lang, series, repeats = throughput.repeats);
    }
    let mean = figures::digits(throughput.mean);
    let with_end = |sentence: String| match shape {
        PeakShape { is_at_end: true, is_only: false } => {
            [sentence.as_str(), PEAK_AT_END.text(lang)].join(lang.space)
        }
        _ => sentence,
    };
    let Some(interval) = throughput.interval else {
        let message = match (shape.is_only, throughput.repeats) {
            (true, ..=1) => THROUGHPUT_AT_SINGLE,
            (true, _) => THROUGHPUT_AT_SCATTERED,
            (false, ..=1) => PEAK_SINGLE,
            (false, _) => PEAK_SCATTERED,
        };
        return with_end(fill!(
            message,
            lang,
            series,
            throughput = mean,
            clients,
            repeats = throughput.repeats
        ));
    };
    let message = if shape.is_only { THROUGHPUT_AT } else { PEAK };
    let [low, high] = [interval.low, interval.high].map(figures::digits);
    with_end(fill!(message, lang, series, throughput = mean, low, high, clients))
}

fn claim(model: &ReportModel, conclusion: &Conclusion, lang: Lang) -> (String, Vec<String>) {
    let Conclusion::Claim { faster, slower, holds, contradicted, undecided, is_judged, repeats } =
        conclusion
    else {
        return Default::default();
    };
    let of_pairs = |message: Message, pairs: &ClaimPairs| {
        let Range { low, high } = pairs.difference?;
        let [low, high] = [low, high].map(|share| figures::percent(share * 100.0));
        let difference = match low == high {
            true => low,
            false => fill!(names::FROM_TO, lang, low, high),
        };
        let clients = names::clients(&pairs.clients, lang);
        Some(fill!(message, lang, faster, slower, clients, difference))
    };
    let needed = model.comparison_rules.min_repeats;
    let noise = match repeats {
        _ if *is_judged => None,
        1 => Some(fill!(CLAIM_ONE_RUN, lang, needed)),
        _ => Some(fill!(CLAIM_FEW_RUNS, lang, repeats, needed)),
    };
    let clients = names::clients(undecided, lang);
    let open =
        (!undecided.is_empty()).then(|| fill!(CLAIM_UNDECIDED, lang, faster, slower, clients));
    let [against, for_it] = match is_judged {
        true => [CLAIM_CONTRADICTED, CLAIM_HOLDS],
        false => [CLAIM_MEANS_AGAINST, CLAIM_MEANS_FOR],
    };
    let reported = [of_pairs(against, contradicted), of_pairs(for_it, holds), open];
    (
        reported.into_iter().flatten().collect::<Vec<_>>().join(lang.space),
        noise.into_iter().collect(),
    )
}

fn comparison(model: &ReportModel, conclusion: &Conclusion, lang: Lang) -> String {
    let Conclusion::Comparison { subject, baseline, .. } = conclusion else { return String::new() };
    let sides = Sides::of(model, *subject, *baseline, lang);
    let sentence = compared_sides(model, conclusion, &sides, lang);
    match sides.context.as_str() {
        "" => sentence,
        context => names::labelled(context, &sentence, lang),
    }
}

/// Names of two compared series: if the experiment asks about a factor, their levels, after their
/// common properties.
struct Sides<'a> {
    context: String,
    subject: &'a str,
    baseline: &'a str,
}

impl<'a> Sides<'a> {
    fn of(model: &'a ReportModel, subject: usize, baseline: usize, lang: Lang) -> Self {
        let (subject, baseline) = (&model.series[subject], &model.series[baseline]);
        let Some(Compare::Factor(factor)) = model.compare else {
            return Self {
                context: String::new(),
                subject: &subject.label,
                baseline: &baseline.label,
            };
        };
        let has_others = model.series.iter().any(|series| series.system != subject.system);
        let system = has_others.then_some(subject.system_name.as_str());
        let is_varied = |position: usize| {
            model.series.iter().any(|series| series.levels[position] != subject.levels[position])
        };
        let others =
            (0..model.factors.len()).filter(|&position| position != factor && is_varied(position));
        let others = others.map(|position| subject.levels[position].as_str());
        let context = system.into_iter().chain(others).collect::<Vec<_>>().join(lang.comma);
        Self { context, subject: &subject.levels[factor], baseline: &baseline.levels[factor] }
    }
}

fn compared_sides(
    model: &ReportModel,
    conclusion: &Conclusion,
    sides: &Sides<'_>,
    lang: Lang,
) -> String {
    let Conclusion::Comparison {
        metric,
        clients: numbers,
        verdict,
        is_question_unanswered,
        ratio,
        ratio_interval,
        interval_level,
        not_working,
        exceeds_margin,
        detectable_ratio,
        ..
    } = conclusion
    else {
        return String::new();
    };
    let Sides { subject, baseline, .. } = sides;
    let clients = names::clients(numbers, lang);
    let without_figures = |message: Message| fill!(message, lang, subject, baseline, clients);
    let Some(ratio) = ratio else {
        let lost: Vec<&str> =
            not_working.iter().map(|series| model.series[*series].label.as_str()).collect();
        return match lost.is_empty() {
            _ if *verdict == Some(Verdict::Inconclusive) => without_figures(INCONCLUSIVE_TOO_FEW),
            true => without_figures(NOT_COMPARABLE),
            false => fill!(
                NOT_COMPARABLE_LOST,
                lang,
                subject,
                baseline,
                clients,
                series = list(lang, &lost)
            ),
        };
    };
    let detectable = detectable_ratio.unwrap_or(f64::INFINITY);
    let (one, several) = match (verdict, exceeds_margin) {
        (None, _) => (WITHOUT_VERDICT, WITHOUT_VERDICT_RANGE),
        _ if ratio_interval.is_none() => return without_figures(INCONCLUSIVE_TOO_FEW),
        (Some(Verdict::Better), true) => (BETTER, BETTER_RANGE),
        (Some(Verdict::Better), false) => (SLIGHTLY_BETTER, SLIGHTLY_BETTER_RANGE),
        (Some(Verdict::Worse), true) => (WORSE, WORSE_RANGE),
        (Some(Verdict::Worse), false) => (SLIGHTLY_WORSE, SLIGHTLY_WORSE_RANGE),
        (Some(Verdict::Equivalent), _) => (EQUIVALENT, EQUIVALENT_RANGE),
        (Some(Verdict::Inconclusive), _) if *is_question_unanswered => {
            (QUESTION_UNANSWERED, QUESTION_UNANSWERED_RANGE)
        }
        (Some(Verdict::Inconclusive), _) if detectable > question::BLIND => {
            (INCONCLUSIVE_SCATTER, INCONCLUSIVE_SCATTER)
        }
        (Some(Verdict::Inconclusive), _) => (INCONCLUSIVE, INCONCLUSIVE_RANGE),
        (Some(Verdict::Invalid), _) => return without_figures(NOT_COMPARABLE),
    };
    // For decreases, the sentence gives the remaining percentage.
    let is_share = matches!(verdict, Some(Verdict::Worse | Verdict::Inconclusive));
    let as_text =
        |ratio: f64| if is_share { figures::share(ratio * 100.0) } else { figures::ratio(ratio) };
    let interval = ratio_interval.unwrap_or(*ratio);
    let [ratio_min, ratio_max, low, high] =
        [ratio.low, ratio.high, interval.low, interval.high].map(as_text);
    fill!(
        if ratio_min == ratio_max { one } else { several },
        lang,
        subject,
        baseline,
        clients,
        ratio = ratio_min,
        ratio_min,
        ratio_max,
        low,
        high,
        metric = names::metric(*metric, lang),
        margin = figures::limit(model.comparison_rules.margin * 100.0),
        detectable = figures::percent((detectable - 1.0) * 100.0),
        level = figures::level(interval_level.unwrap_or(0.95))
    )
}

#[cfg(test)]
mod tests;
