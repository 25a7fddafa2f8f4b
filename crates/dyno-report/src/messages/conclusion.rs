//! Sentences for conclusions.

pub(crate) use super::en::conclusion::*;
use super::lang::{Lang, Message};
use super::names::list;
use super::{finding, growth, names, question};
use crate::figures;
use dyno_analysis::model::{
    AuditRow, ClaimCells, Conclusion, Estimate, FaultRow, FoundAnomaly, LimitVerdict, NotWorking, Range,
    ReportModel, SearchRow, Unit, Verdict,
};
use dyno_model::audit::AuditVerdict;
use dyno_model::isolation::IsolationLevel;
use dyno_model::limit::LimitMeasure;
use dyno_model::plan::{Compare, LoadBy};
use dyno_model::search::Search;

/// All conclusions of a report as whole sentences, in order.
pub(crate) fn sentences(model: &ReportModel, lang: Lang) -> Vec<String> {
    model.conclusions.iter().map(|conclusion| sentence(model, conclusion, lang)).collect()
}

/// One conclusion as one or more whole sentences.
pub(crate) fn sentence(model: &ReportModel, conclusion: &Conclusion, lang: Lang) -> String {
    let (statement, reservations) = parts(model, conclusion, lang);
    [statement].into_iter().chain(reservations).collect::<Vec<_>>().join(lang.space)
}

/// What a conclusion states, and the sentences that qualify it.
#[expect(clippy::too_many_lines, reason = "a table: one arm per conclusion")]
pub(crate) fn parts(model: &ReportModel, conclusion: &Conclusion, lang: Lang) -> (String, Vec<String>) {
    let label = |line: usize| model.lines[line].label.as_str();
    let statement = match conclusion {
        Conclusion::Claim { .. } => return claim(model, conclusion, lang),
        Conclusion::Incomplete { planned, measured, failed, missing, is_interrupted } => {
            let message = if *is_interrupted { INTERRUPTED } else { INCOMPLETE };
            let [planned, measured, failed, missing] =
                [planned, measured, failed, missing].map(|number| figures::count(u64::from(*number)));
            message.fill(
                lang,
                &[("measured", &measured), ("planned", &planned), ("failed", &failed), ("missing", &missing)],
            )
        }
        Conclusion::InvalidTrials { invalid, measured, finding } => INVALID_TRIALS.fill(
            lang,
            &[
                ("invalid", &figures::count(u64::from(*invalid))),
                ("measured", &figures::count(u64::from(*measured))),
                ("reason", &finding::sentence(finding, lang)),
            ],
        ),
        Conclusion::DidNotWork { line, clients: numbers, not_working } => DID_NOT_WORK.fill(
            lang,
            &[
                ("line", label(*line)),
                ("clients", &names::clients(numbers, lang)),
                ("trials", &not_working.trials.to_string()),
                ("of", &not_working.of.to_string()),
                ("because", names::because(not_working.because, lang)),
            ],
        ),
        Conclusion::VerdictsDisabled { blocks, needed } => {
            VERDICTS_DISABLED.fill(lang, &[("blocks", &blocks.to_string()), ("needed", &needed.to_string())])
        }
        Conclusion::Looks { looks } => question::looks(model, looks, lang),
        Conclusion::LostUpdates { .. } => lost_updates(model, conclusion, lang),
        Conclusion::UndecidedUpdates { line, clients: numbers, committed, in_doubt, lost_max } => {
            let [committed, in_doubt, lost_max] =
                [committed, in_doubt, lost_max].map(|number| figures::count(*number));
            let values = [
                ("line", label(*line)),
                ("clients", &names::clients(numbers, lang)),
                ("committed", &committed),
                ("in_doubt", &in_doubt),
                ("lost_max", &lost_max),
            ];
            LOST_UNDECIDED.fill(lang, &values)
        }
        Conclusion::LostCommits { audit } => lost_commits(model, &model.audits[*audit], lang),
        Conclusion::NoLostCommits { treatments, acknowledged } => NO_LOST_COMMITS.fill(
            lang,
            &[("acknowledged", &figures::count(*acknowledged)), ("treatments", &treatments.to_string())],
        ),
        Conclusion::Anomalies { audit } => anomalies(model, &model.audits[*audit], true, lang),
        Conclusion::AnomaliesAllowed { audit } => anomalies(model, &model.audits[*audit], false, lang),
        Conclusion::NoAnomalies { treatments, committed } => NO_ANOMALIES.fill(
            lang,
            &[("committed", &figures::count(*committed)), ("treatments", &treatments.to_string())],
        ),
        Conclusion::Fault { row } => fault(model, &model.faults[*row], lang),
        Conclusion::NoLostUpdates { lines, committed, clients_max } => LOST_NONE.fill(
            lang,
            &[
                ("lines", &list(lang, &lines.iter().map(|line| label(*line)).collect::<Vec<_>>())),
                ("committed", &figures::count(*committed)),
                ("clients", &names::clients(&[*clients_max], lang)),
            ],
        ),
        Conclusion::AuditViolated { line, clients: numbers, phantom, tables, sums } => {
            violated(label(*line), &names::clients(numbers, lang), *phantom, (tables, sums), lang)
        }
        Conclusion::GrowthCrossing { before, after } => growth::crossing(model, before, after, lang),
        Conclusion::GrowthLead { lead } => growth::lead(model, lead, lang),
        Conclusion::GrowthCourse { treatment, fastest, slowest, last } => {
            growth::course(model, *treatment, (fastest, slowest.as_ref(), last), lang)
        }
        Conclusion::PeakThroughput { line, clients: number, throughput, is_at_end, clients_measured } => {
            let shape = PeakShape { is_at_end: *is_at_end, is_only: *clients_measured == 1 };
            let statement = peak(label(*line), *number, throughput, shape, lang);
            return (statement, audit(model, &[*line], &[*number], lang));
        }
        Conclusion::Served { treatment, least, lowest, most, highest } => {
            let numbers = [*lowest, *highest].map(figures::digits);
            let values = [
                ("line", label(model.treatments[*treatment].line)),
                ("clients", &names::clients(&[model.treatments[*treatment].clients], lang)),
                ("least", least),
                ("lowest", &numbers[0]),
                ("percent", &figures::percent(100.0 * lowest / highest)),
                ("most", most),
                ("highest", &numbers[1]),
            ];
            SERVED.fill(lang, &values)
        }
        Conclusion::Limit { .. } => limit(model, conclusion, lang),
        Conclusion::Found { row } => found(model, &model.searches[*row], lang),
        Conclusion::Question { question } => {
            let question = &model.questions[*question];
            let mut sentences = question::answer(model, question, lang);
            let cells = question.comparisons.iter().map(|at| &model.comparisons[*at]);
            let mut lines: Vec<usize> = cells
                .flat_map(|it| [it.subject, it.baseline])
                .map(|treatment| model.treatments[treatment].line)
                .collect();
            lines.sort_unstable();
            lines.dedup();
            sentences.extend(audit(model, &lines, &question.clients, lang));
            return (sentences.remove(0), sentences);
        }
        Conclusion::Comparison { subject, baseline, clients: numbers, .. } => {
            let statement = comparison(model, conclusion, lang);
            return (statement, audit(model, &[*subject, *baseline], numbers, lang));
        }
    };
    (statement, Vec::new())
}

/// Whether a limit was kept.
fn limit(model: &ReportModel, conclusion: &Conclusion, lang: Lang) -> String {
    let Conclusion::Limit { measure, value, part, verdict, number, of, worst, not_working } = conclusion
    else {
        return String::new();
    };
    let message = match (verdict, measure) {
        (LimitVerdict::Held, LimitMeasure::Lost) => LIMIT_NOTHING_LOST,
        (LimitVerdict::Broken, LimitMeasure::Lost) => LIMIT_LOST,
        (LimitVerdict::Undecided, LimitMeasure::Lost) => LIMIT_LOST_UNKNOWN,
        (LimitVerdict::Broken, _) if not_working.is_some() => LIMIT_NOT_WORKING,
        (LimitVerdict::Undecided, _) if worst.figure.is_none() => LIMIT_UNKNOWN,
        (LimitVerdict::Held, _) => LIMIT_HELD,
        (LimitVerdict::Broken, _) => LIMIT_BROKEN,
        (LimitVerdict::Undecided, _) => LIMIT_UNDECIDED,
    };
    let trials = |of: fn(&NotWorking) -> u32| not_working.as_ref().map_or(0, of).to_string();
    let values = [
        ("limit", figures::limit_in(part.as_ref(), *measure, *value)),
        ("number", number.to_string()),
        ("treatments", of.to_string()),
        ("line", model.line_of(worst.treatment).label.clone()),
        ("clients", names::clients(&[model.treatments[worst.treatment].clients], lang)),
        ("worst", worst.figure.map_or_else(String::new, |figure| figures::of_limit(*measure, figure))),
        ("trials", trials(|it| it.trials)),
        ("of", trials(|it| it.of)),
        ("because", not_working.map_or("", |it| names::because(it.because, lang)).to_owned()),
    ];
    message.fill(lang, &values.each_ref().map(|(name, value)| (*name, value.as_str())))
}

/// The highest load that a system takes.
fn found(model: &ReportModel, row: &SearchRow, lang: Lang) -> String {
    let Search { most, measure, below, .. } = row.search;
    let number = |number: f64| figures::value(row.found.map_or(Unit::Count, |found| found.unit), number);
    let line = searched(model, row, lang);
    let (message, [found, low, high]) = match row.found {
        None => (FOUND_NOTHING, [String::new(), String::new(), String::new()]),
        Some(found) => match found.interval {
            _ if found.is_bound => (FOUND_BOUND, [found.mean; 3].map(number)),
            None => (FOUND, [found.mean; 3].map(number)),
            Some(it) => (FOUND_INTERVAL, [found.mean, it.low, it.high].map(number)),
        },
    };
    let limit = figures::limit_on(measure, below);
    let load = load(most, &found, lang);
    message.fill(lang, &[("line", &line), ("load", &load), ("limit", &limit), ("low", &low), ("high", &high)])
}

/// Whose load was searched for, with the number of clients where it says more.
pub(crate) fn searched(model: &ReportModel, row: &SearchRow, lang: Lang) -> String {
    let clients = |treatment: usize| model.treatments[treatment].clients;
    let is_same = model.searches.iter().all(|other| clients(other.treatment) == clients(row.treatment));
    match is_same {
        true => model.line_of(row.treatment).label.clone(),
        false => names::treatment(model, row.treatment, lang),
    }
}

/// A load in words: `5,230 transactions per second`, `19 clients`.
pub(crate) fn load(most: LoadBy, number: &str, lang: Lang) -> String {
    match most {
        LoadBy::Rate => FOUND_RATE.fill(lang, &[("number", number)]),
        LoadBy::Clients => FOUND_CLIENTS.fill(lang, &[("number", number)]),
    }
}

/// What an audit found in the data, a sentence for each kind of fault.
fn violated(
    line: &str,
    at: &str,
    phantom: u64,
    (tables, sums): (&[String], &[String]),
    lang: Lang,
) -> String {
    let mut sentences = Vec::new();
    let mut say = |message: &Message, name: &str, value: String| {
        sentences.push(message.fill(lang, &[("line", line), ("clients", at), (name, &value)]));
    };
    if phantom > 0 {
        say(&PHANTOM_UPDATES, "phantom", figures::count(phantom));
    }
    if !tables.is_empty() {
        say(&WRONG_ROW_COUNT, "tables", list(lang, tables));
    }
    if !sums.is_empty() {
        say(&WRONG_SUM, "sums", list(lang, sums));
    }
    sentences.join(lang.space)
}

/// What a failed audit found, lost work or too much of it: a throughput must not stand alone beside it.
fn audit(model: &ReportModel, lines: &[usize], clients: &[u32], lang: Lang) -> Vec<String> {
    let violated = |line: usize| {
        let is_meant = move |treatment: usize| {
            let row = &model.treatments[treatment];
            row.line == line && clients.contains(&row.clients)
        };
        let is_violated = |audit: &&AuditRow| audit.verdict == AuditVerdict::Violated;
        model.audits.iter().filter(is_violated).filter(move |audit| is_meant(audit.treatment))
    };
    let (mut losing, mut mixed, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for line in lines {
        let label = model.lines[*line].label.as_str();
        let is_mixed = |audit: &AuditRow| {
            audit.anomalies.as_ref().is_some_and(|it| it.verdict == AuditVerdict::Violated)
        };
        if violated(*line).any(AuditRow::has_losses) {
            losing.push(label);
        } else if violated(*line).any(is_mixed) {
            mixed.push(label);
        } else if violated(*line).next().is_some() {
            others.push(label);
        }
    }
    let found = [(NOT_KEPT, losing), (NOT_KEPT_APART, mixed), (NOT_ACCOUNTED_FOR, others)];
    let found = found.into_iter().filter(|(_, lines)| !lines.is_empty());
    found.map(|(message, lines)| message.fill(lang, &[("lines", &list(lang, &lines))])).collect()
}

fn lost_commits(model: &ReportModel, audit: &AuditRow, lang: Lang) -> String {
    let ledger = audit.ledger.clone().unwrap_or_default();
    let values = [
        ("treatment", names::treatment(model, audit.treatment, lang)),
        ("lost", figures::count(ledger.lost)),
        ("acknowledged", figures::count(ledger.acknowledged)),
        ("trials", ledger.trials_with_losses.to_string()),
        ("most", figures::count(ledger.lost_max)),
    ];
    LOST_COMMITS.fill(lang, &values.each_ref().map(|(name, value)| (*name, value.as_str())))
}

/// Anomalies that the level forbids, or those that it allows.
fn anomalies(model: &ReportModel, audit: &AuditRow, is_forbidden: bool, lang: Lang) -> String {
    let Some(anomalies) = &audit.anomalies else { return String::new() };
    let name = |it: &FoundAnomaly| {
        format!("{} ({})", names::anomaly(it.anomaly).text(lang), figures::count(it.count))
    };
    let found: Vec<String> = anomalies.found(is_forbidden).map(name).collect();
    let values = [
        ("treatment", names::treatment(model, audit.treatment, lang)),
        ("level", anomalies.level.map(IsolationLevel::sql).unwrap_or_default()),
        ("found", list(lang, &found)),
        ("committed", figures::count(anomalies.committed)),
    ];
    let message = match (anomalies.level, is_forbidden) {
        (None, _) => ANOMALIES_LEVEL_UNKNOWN,
        (Some(_), true) => ANOMALIES_FORBIDDEN,
        (Some(_), false) => ANOMALIES_ALLOWED,
    };
    message.fill(lang, &values.each_ref().map(|(name, value)| (*name, value.as_str())))
}

fn fault(model: &ReportModel, row: &FaultRow, lang: Lang) -> String {
    let seconds = |value: f64| figures::digits(value);
    let values = [
        ("treatment", names::treatment(model, row.treatment, lang)),
        ("faults", names::faults(row, lang)),
        ("outage", seconds(row.outage.median)),
        ("most", seconds(row.outage.max)),
        ("back", row.recovered.map_or_else(String::new, |spread| seconds(spread.median))),
        ("back_most", row.recovered.map_or_else(String::new, |spread| seconds(spread.max))),
        ("trials", row.not_recovered.to_string()),
    ];
    let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
    let is_once = row.trials.len() == 1;
    let outage = match (row.outage.max == 0.0, is_once) {
        (true, _) => FAULT_UNNOTICED,
        (false, true) => FAULT_OUTAGE_ONCE,
        (false, false) => FAULT_OUTAGE,
    };
    let back = if is_once { FAULT_BACK_ONCE } else { FAULT_BACK };
    let back = row.recovered.map(|_| back.fill(lang, &values));
    let not_back = (row.not_recovered > 0).then(|| FAULT_NOT_BACK.fill(lang, &values));
    let sentences = [Some(outage.fill(lang, &values)), back, not_back];
    sentences.into_iter().flatten().collect::<Vec<_>>().join(lang.space)
}

fn lost_updates(model: &ReportModel, conclusion: &Conclusion, lang: Lang) -> String {
    let Conclusion::LostUpdates {
        line,
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
    let line = model.lines[*line].label.as_str();
    let at = names::clients(numbers, lang);
    let [low, high] = [percent_min, percent_max].map(|percent| figures::percent(*percent));
    let errors = figures::count(*statement_errors);
    let first = match (*statement_errors == 0, low == high) {
        (true, true) => LOST_SILENTLY.fill(lang, &[("line", line), ("percent", &low), ("clients", &at)]),
        (true, false) => LOST_SILENTLY_RANGE
            .fill(lang, &[("line", line), ("percent_min", &low), ("percent_max", &high), ("clients", &at)]),
        (false, true) => LOST_WITH_ERRORS
            .fill(lang, &[("line", line), ("percent", &low), ("clients", &at), ("errors", &errors)]),
        (false, false) => LOST_WITH_ERRORS_RANGE.fill(
            lang,
            &[
                ("line", line),
                ("percent_min", &low),
                ("percent_max", &high),
                ("clients", &at),
                ("errors", &errors),
            ],
        ),
    };
    if clients_without.is_empty() {
        return first;
    }
    let second =
        LOST_NONE_AT.fill(lang, &[("line", line), ("clients", &names::clients(clients_without, lang))]);
    [first, second].join(lang.space)
}

#[derive(Clone, Copy)]
struct PeakShape {
    is_at_end: bool,
    is_only: bool,
}

fn peak(line: &str, number: u32, throughput: &Estimate, shape: PeakShape, lang: Lang) -> String {
    let at = names::clients(&[number], lang);
    let mean = figures::digits(throughput.mean);
    let Some(interval) = throughput.interval else {
        let message = match (shape.is_only, throughput.repeats) {
            (true, ..=1) => THROUGHPUT_AT_SINGLE,
            (true, _) => THROUGHPUT_AT_SCATTERED,
            (false, ..=1) => PEAK_SINGLE,
            (false, _) => PEAK_SCATTERED,
        };
        let repeats = throughput.repeats.to_string();
        return message
            .fill(lang, &[("line", line), ("throughput", &mean), ("clients", &at), ("repeats", &repeats)]);
    };
    let message = match shape {
        PeakShape { is_only: true, .. } => THROUGHPUT_AT,
        PeakShape { is_at_end: true, .. } => PEAK_AT_END,
        PeakShape { .. } => PEAK,
    };
    let (low, high) = (figures::digits(interval.low), figures::digits(interval.high));
    message.fill(
        lang,
        &[("line", line), ("throughput", &mean), ("low", &low), ("high", &high), ("clients", &at)],
    )
}

fn claim(model: &ReportModel, conclusion: &Conclusion, lang: Lang) -> (String, Vec<String>) {
    let Conclusion::Claim { faster, slower, holds, contradicted, undecided, is_judged, repeats } = conclusion
    else {
        return Default::default();
    };
    let sides = [("faster", faster.as_str()), ("slower", slower.as_str())];
    let of_cells = |message: Message, cells: &ClaimCells| {
        let Range { low, high } = cells.difference?;
        let [low, high] = [low, high].map(|share| figures::percent(share * 100.0));
        let difference = match low == high {
            true => low,
            false => CLAIM_SPAN.fill(lang, &[("low", &low), ("high", &high)]),
        };
        let clients = names::clients(&cells.clients, lang);
        Some(message.fill(lang, &[sides[0], sides[1], ("clients", &clients), ("difference", &difference)]))
    };
    let needed = model.comparison_rules.min_repeats.to_string();
    let noise = match repeats {
        _ if *is_judged => None,
        1 => Some(CLAIM_ONE_RUN.fill(lang, &[("needed", &needed)])),
        _ => Some(CLAIM_FEW_RUNS.fill(lang, &[("repeats", &repeats.to_string()), ("needed", &needed)])),
    };
    let open = (!undecided.is_empty()).then(|| {
        CLAIM_UNDECIDED.fill(lang, &[sides[0], sides[1], ("clients", &names::clients(undecided, lang))])
    });
    let told = [of_cells(CLAIM_CONTRADICTED, contradicted), of_cells(CLAIM_HOLDS, holds), open];
    (told.into_iter().flatten().collect::<Vec<_>>().join(lang.space), noise.into_iter().collect())
}

fn comparison(model: &ReportModel, conclusion: &Conclusion, lang: Lang) -> String {
    let Conclusion::Comparison { subject, baseline, clients: numbers, .. } = conclusion else {
        return String::new();
    };
    let sides = Sides::of(model, *subject, *baseline, lang);
    let at = names::clients(numbers, lang);
    let names = [("subject", sides.subject), ("baseline", sides.baseline), ("clients", at.as_str())];
    let sentence = compared_sides(model, conclusion, &names, lang);
    match sides.context.as_str() {
        "" => sentence,
        context => names::labelled(context, &sentence, lang),
    }
}

/// What two compared lines are called: where the experiment asks about a factor, by their levels, after what they have in common.
struct Sides<'a> {
    context: String,
    subject: &'a str,
    baseline: &'a str,
}

impl<'a> Sides<'a> {
    fn of(model: &'a ReportModel, subject: usize, baseline: usize, lang: Lang) -> Self {
        let (subject, baseline) = (&model.lines[subject], &model.lines[baseline]);
        let Some(Compare::Factor(factor)) = model.compare else {
            return Self { context: String::new(), subject: &subject.label, baseline: &baseline.label };
        };
        let has_others = model.lines.iter().any(|line| line.system != subject.system);
        let system = has_others.then_some(subject.system_name.as_str());
        let is_varied = |position: usize| {
            model.lines.iter().any(|line| line.levels[position] != subject.levels[position])
        };
        let others = (0..model.factors.len()).filter(|&position| position != factor && is_varied(position));
        let others = others.map(|position| subject.levels[position].as_str());
        let context = system.into_iter().chain(others).collect::<Vec<_>>().join(lang.comma);
        Self { context, subject: &subject.levels[factor], baseline: &baseline.levels[factor] }
    }
}

fn compared_sides(
    model: &ReportModel,
    conclusion: &Conclusion,
    names: &[(&str, &str); 3],
    lang: Lang,
) -> String {
    let Conclusion::Comparison {
        metric: compared,
        verdict,
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
    let lost: Vec<&str> = not_working.iter().map(|line| model.lines[*line].label.as_str()).collect();
    let Some(ratio) = ratio else {
        let [subject, baseline, clients] = *names;
        return match lost.is_empty() {
            _ if *verdict == Some(Verdict::Inconclusive) => INCONCLUSIVE_TOO_FEW.fill(lang, names),
            true => NOT_COMPARABLE.fill(lang, names),
            false => {
                NOT_COMPARABLE_LOST.fill(lang, &[subject, baseline, clients, ("lines", &list(lang, &lost))])
            }
        };
    };
    let metric = names::metric(*compared, lang);
    // Of what is less, one says how much per cent is left.
    let is_share = matches!(verdict, Some(Verdict::Worse | Verdict::Inconclusive));
    let as_text = |ratio: f64| if is_share { figures::share(ratio * 100.0) } else { figures::ratio(ratio) };
    let figures = ComparisonFigures::new(*ratio, *ratio_interval, as_text);
    let Some(verdict) = verdict else {
        return figures.fill(&WITHOUT_VERDICT, &WITHOUT_VERDICT_RANGE, names, &[("metric", metric)], lang);
    };
    if ratio_interval.is_none() {
        return INCONCLUSIVE_TOO_FEW.fill(lang, names);
    }
    let margin = figures::limit(model.comparison_rules.margin * 100.0);
    let detectable = detectable_ratio.unwrap_or(f64::INFINITY);
    let is_blind = detectable > question::BLIND;
    let detectable = figures::percent((detectable - 1.0) * 100.0);
    let (one, several) = match (verdict, exceeds_margin) {
        (Verdict::Better, true) => (&BETTER, &BETTER_RANGE),
        (Verdict::Better, false) => (&SLIGHTLY_BETTER, &SLIGHTLY_BETTER_RANGE),
        (Verdict::Worse, true) => (&WORSE, &WORSE_RANGE),
        (Verdict::Worse, false) => (&SLIGHTLY_WORSE, &SLIGHTLY_WORSE_RANGE),
        (Verdict::Equivalent, _) => (&EQUIVALENT, &EQUIVALENT_RANGE),
        (Verdict::Inconclusive, _) if is_blind => (&INCONCLUSIVE_SCATTER, &INCONCLUSIVE_SCATTER),
        (Verdict::Inconclusive, _) => (&INCONCLUSIVE, &INCONCLUSIVE_RANGE),
        (Verdict::Invalid, _) => return NOT_COMPARABLE.fill(lang, names),
    };
    let level = figures::level(interval_level.unwrap_or(0.95));
    let more = [
        ("metric", metric),
        ("margin", margin.as_str()),
        ("detectable", detectable.as_str()),
        ("level", level.as_str()),
    ];
    figures.fill(one, several, names, &more, lang)
}

/// The figures of a comparison, as text.
struct ComparisonFigures {
    ratio_min: String,
    ratio_max: String,
    low: String,
    high: String,
}

impl ComparisonFigures {
    fn new(ratio: Range, interval: Option<Range>, as_text: impl Fn(f64) -> String) -> Self {
        let interval = interval.unwrap_or(ratio);
        Self {
            ratio_min: as_text(ratio.low),
            ratio_max: as_text(ratio.high),
            low: as_text(interval.low),
            high: as_text(interval.high),
        }
    }

    /// Fills the message for one ratio when both ends look alike, else the one for a range, with the values it has places for.
    fn fill(
        &self,
        one: &Message,
        several: &Message,
        names: &[(&str, &str)],
        more: &[(&str, &str)],
        lang: Lang,
    ) -> String {
        let message = if self.ratio_min == self.ratio_max { one } else { several };
        let own = [
            ("ratio", self.ratio_min.as_str()),
            ("ratio_min", self.ratio_min.as_str()),
            ("ratio_max", self.ratio_max.as_str()),
            ("low", self.low.as_str()),
            ("high", self.high.as_str()),
        ];
        message.fill(lang, &[&own, names, more].concat())
    }
}

#[cfg(test)]
mod tests;
