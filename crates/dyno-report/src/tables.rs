//! The tables of a report: which measures stand in which column. Text, Markdown and the page show the same tables; nothing is computed here.

use crate::cell::{Cell, Value};
use crate::figures;
use crate::measures::{
    GENERATOR, LATENCY, LEDGER, Measure, NAMED, RESOURCES, STAGE, STEP, TREATMENT_BOOKS, TREATMENT_LOST,
    TREATMENT_RATES, TRIAL, UPDATES,
};
use crate::messages::{Lang, finding, growth, headings, names, page, question, said};
use crate::table::{Column, Table};
use crate::words;
use dyno_analysis::model::{
    AuditRow, Comparison, ComparisonOf, Effect, KindCount, LimitRow, LimitVerdict, NamedRow, Question,
    ReportModel, StageRow, StatementRow, StatementTable, TreatmentRow, TrialRow, UpdateAudit, Verdict,
};
use dyno_model::audit::AuditVerdict;
use dyno_model::failure::FailureKind;
use dyno_model::finding::Severity;
use dyno_model::plan::LoadBy;
use dyno_model::words::short_factor;

/// Columns of those measures that tables have.
pub(crate) fn columns<R>(measures: &'static [Measure<R>]) -> impl Iterator<Item = Column> {
    measures.iter().filter_map(|measure| measure.heading).map(Column::right)
}

/// Cells of those measures that tables have; dashes without a row.
pub(crate) fn cells<R>(measures: &'static [Measure<R>], row: Option<&R>) -> impl Iterator<Item = Cell> {
    let shown = measures.iter().filter(|measure| measure.heading.is_some());
    shown.map(move |measure| row.map_or_else(|| Cell::figure(None), |row| measure.cell(row)))
}

fn treatment(model: &ReportModel, index: usize) -> Cell {
    Value::Treatment { index, clients: model.treatments[index].clients }.into()
}

/// Treatments by line and rising number of clients.
pub(crate) fn by_line(model: &ReportModel) -> Vec<(usize, &TreatmentRow)> {
    let mut rows: Vec<_> = model.treatments.iter().enumerate().collect();
    rows.sort_by_key(|(_, row)| (row.line, row.clients));
    rows
}

/// A table with a row per treatment, under the names of their lines.
pub(crate) fn of_treatments<R>(
    model: &ReportModel,
    columns: impl IntoIterator<Item = Column>,
    rows: impl IntoIterator<Item = (usize, R)>,
    mut cells: impl FnMut(R) -> Vec<Cell>,
) -> Table {
    let mut table = Table::new([Column::right(&headings::CLIENTS)].into_iter().chain(columns));
    for (index, row) in rows {
        table.group(&[&model.line_of(index).label]);
        table.row([treatment(model, index)].into_iter().chain(cells(row)));
    }
    table
}

/// Columns that say nothing without an open loop.
fn without_arrivals(table: Table, model: &ReportModel) -> Table {
    if model.has_open_loop() {
        return table;
    }
    table.without(&[&headings::ARRIVED, &headings::NEVER_STARTED, &headings::LAG])
}

/// Main result: a group per line, a row per number of clients.
pub(crate) fn results(model: &ReportModel) -> Table {
    // The page has the half width beside the figure.
    let mut rates: Vec<Column> = columns(TREATMENT_RATES).collect();
    rates.insert(1, Column::right(&headings::INTERVAL).in_text());
    let all =
        [Column::right(&headings::TRIALS_VALID)].into_iter().chain(rates).chain(columns(TREATMENT_BOOKS));
    let last = [Column::right(&headings::LOST_PERCENT), Column::left(&headings::VALIDITY_COLUMN)];
    let table = of_treatments(model, all.chain(last), by_line(model), |row| {
        let mut cells = vec![trials_valid(row)];
        for measure in TREATMENT_RATES.iter().filter(|measure| measure.heading.is_some()) {
            cells.push(measure.estimate_cell(row, (measure.id != "throughput").then_some(row.trials_valid)));
        }
        cells.insert(2, Cell::half_width(row.throughput.as_ref()));
        cells.extend(self::cells(TREATMENT_BOOKS, Some(row)));
        cells.extend([TREATMENT_LOST.cell(row), Cell::word(words::validity(row.validity))]);
        cells
    });
    without_arrivals(table, model)
}

/// `5`, or `4/5` when a planned trial is not among the valid ones.
fn trials_valid(row: &TreatmentRow) -> Cell {
    let (valid, planned) = (row.trials_valid, row.trials_planned);
    Cell::text(if valid == planned { valid.to_string() } else { format!("{valid}/{planned}") })
}

/// The highest loads that were searched for.
pub(crate) fn searches(model: &ReportModel) -> Table {
    let is_rate = model.searches.iter().any(|row| row.search.most == LoadBy::Rate);
    let columns = [
        Column::left(&headings::LIMIT),
        Column::right(&headings::TRIALS_VALID),
        Column::right(if is_rate { &headings::HIGHEST_RATE } else { &headings::MOST_CLIENTS }),
        Column::right(&headings::INTERVAL).in_text(),
        Column::right(&headings::STEPS_TRIED),
    ];
    of_treatments(model, columns, model.searches.iter().map(|row| (row.treatment, row)), |row| {
        vec![
            Cell::text(figures::limit_on(row.search.measure, row.search.below)),
            Cell::text(row.found.map_or(0, |found| found.repeats).to_string()),
            Cell::estimate(row.found.as_ref(), None),
            Cell::half_width(row.found.as_ref()),
            Cell::text(row.steps.len().to_string()),
        ]
    })
}

/// What each stage of a load brought.
pub(crate) fn stages(model: &ReportModel) -> Table {
    let rows = || by_line(model).into_iter().flat_map(|(index, _)| of_treatment(model, index));
    let columns = [Column::left(&headings::STAGE)].into_iter().chain(columns(STAGE));
    let table = of_treatments(model, columns, rows().map(|row| (row.treatment, row)), |row| {
        let mut cells = vec![Cell::text(&row.name)];
        for measure in STAGE.iter().filter(|measure| measure.heading.is_some()) {
            cells.push(measure.estimate_cell(row, Some(model.treatments[row.treatment].trials_valid)));
        }
        cells
    });
    match model.stages.first().map(|row| row.by) {
        Some(LoadBy::Clients) => table.without(&[&headings::OFFERED, &headings::NOT_COMMITTED]),
        _ => table.without(&[&headings::AT_WORK]),
    }
}

/// The stages of a treatment.
fn of_treatment(model: &ReportModel, treatment: usize) -> impl Iterator<Item = &StageRow> {
    model.stages.iter().filter(move |row| row.treatment == treatment)
}

/// What the transactions of each name brought.
pub(crate) fn transactions(model: &ReportModel) -> Table {
    let of = |(index, _)| model.transactions.iter().filter(move |row| row.treatment == index);
    let rows = by_line(model).into_iter().flat_map(of);
    let columns = [Column::left(&headings::TRANSACTION)].into_iter().chain(columns(NAMED));
    of_treatments(model, columns, rows.map(|row| (row.treatment, row)), |row| {
        [Cell::text(&row.name)].into_iter().chain(named(model, row)).collect()
    })
}

/// Cells of the figures of what has a name.
pub(crate) fn named(model: &ReportModel, row: &NamedRow) -> impl Iterator<Item = Cell> {
    let valid = Some(model.treatments[row.treatment].trials_valid);
    let shown = NAMED.iter().filter(|measure| measure.heading.is_some());
    shown.map(move |measure| measure.estimate_cell(row, valid))
}

/// Every limit at every treatment that has to keep it.
pub(crate) fn limits(model: &ReportModel) -> Table {
    let columns = [
        Column::left(&headings::LIMIT),
        Column::right(&headings::TRIALS_VALID),
        Column::right(&headings::FIGURE),
        Column::right(&headings::LIMIT_INTERVAL),
        Column::left(&headings::VERDICT),
    ];
    let mut rows: Vec<&LimitRow> = model.limits.iter().collect();
    rows.sort_by_key(|row| (model.treatments[row.treatment].line, model.treatments[row.treatment].clients));
    of_treatments(model, columns, rows.into_iter().map(|row| (row.treatment, row)), |row| {
        let figure = |value: f64| figures::of_limit(row.measure, value);
        let shown = row.figure.map(|value| figures::bounded(figure(value), row.is_bound));
        vec![
            Cell::text(figures::limit_in(row.part.as_ref(), row.measure, row.value)),
            Cell::text(row.repeats.to_string()),
            Cell::figure(shown).alarming(row.verdict == LimitVerdict::Broken),
            row.interval
                .map_or(Value::Absent, |it| Value::Span(figure(it.low), figure(it.high), ".."))
                .into(),
            Cell::word(words::limit(row.verdict)),
        ]
    })
}

/// Updates acknowledged against updates in the data.
pub(crate) fn audits(model: &ReportModel) -> Table {
    audits_of(model, |_| true)
}

/// The same where some were lost.
pub(crate) fn losses(model: &ReportModel) -> Table {
    audits_of(model, |audit| audit.updates.as_ref().is_some_and(|updates| updates.lost > 0))
}

fn audits_of(model: &ReportModel, is_wanted: impl Fn(&AuditRow) -> bool) -> Table {
    let before = [
        Column::left(&headings::AUDIT_VERDICT),
        Column::right(&headings::COMMITTED),
        Column::right(&headings::LOST),
        Column::right(&headings::LOST_PERCENT),
    ];
    let rows = by_line(model).into_iter().filter_map(|(index, _)| {
        let audit = model.audits.iter().find(|audit| audit.treatment == index)?;
        is_wanted(audit).then_some((index, audit))
    });
    of_treatments(model, before.into_iter().chain(columns(UPDATES)), rows, |audit| {
        let updates = audit.updates.as_ref();
        let span = |of: fn(&UpdateAudit) -> (String, String)| {
            let span = updates.map(of).map_or(Value::Absent, |(low, high)| Value::Span(low, high, ".."));
            Cell::from(span).alarming(updates.is_some_and(|updates| updates.lost > 0))
        };
        let mut cells = vec![
            Cell::word(words::audit(audit.verdict)),
            updates.map_or_else(|| Cell::figure(None), |updates| Cell::count(updates.committed)),
            span(|updates| (figures::count(updates.lost), figures::count(updates.lost_max))),
            span(|updates| {
                (figures::percent(updates.lost_percent), figures::percent(updates.lost_percent_max))
            }),
        ];
        cells.extend(self::cells(UPDATES, updates));
        cells
    })
}

/// Rows of acknowledged commits against rows in the data.
pub(crate) fn ledgers(model: &ReportModel) -> Table {
    let rows = by_line(model).into_iter().filter_map(|(index, _)| {
        let audit = model.audits.iter().find(|audit| audit.treatment == index)?;
        Some((index, audit.ledger.as_ref()?))
    });
    of_treatments(model, columns(LEDGER), rows, |ledger| cells(LEDGER, Some(ledger)).collect())
}

/// Numbers of rows and sums of columns that were checked; wrong ones first.
pub(crate) fn contents(model: &ReportModel) -> Table {
    let mut checks = Vec::new();
    for audit in &model.audits {
        let mut add = |trial: &str, checked: String, expected: [String; 2], found: String, verdict| {
            let [low, high] = expected;
            let cells = vec![
                Cell::text(trial),
                Cell::text(checked),
                Value::Span(low, high, "..").into(),
                Cell::figure(Some(found)).alarming(verdict == AuditVerdict::Violated),
                Cell::word(words::audit(verdict)),
            ];
            checks.push((audit.treatment, verdict, cells));
        };
        for row in &audit.row_counts {
            let expected = [row.expected_min, row.expected_max].map(figures::count);
            add(&row.trial, row.table.clone(), expected, figures::count(row.found), row.verdict);
        }
        for value in &audit.values {
            let expected = [value.expected_min, value.expected_max].map(figures::integer);
            add(
                &value.trial,
                value.expression.clone(),
                expected,
                figures::integer(value.found),
                value.verdict,
            );
        }
    }
    checks.sort_by_key(|(_, verdict, _)| std::cmp::Reverse(*verdict));
    let columns = [
        Column::left(&headings::TRIAL),
        Column::left(&headings::CHECKED),
        Column::right(&headings::EXPECTED),
        Column::right(&headings::FOUND),
        Column::left(&headings::AUDIT_VERDICT),
    ];
    of_treatments(model, columns, checks.into_iter().map(|(index, _, cells)| (index, cells)), |cells| cells)
}

/// Columns that every comparison ends with, and their cells.
fn compared() -> [Column; 5] {
    [
        Column::right(&headings::TRIALS_VALID),
        Column::right(&headings::RATIO),
        Column::right(&headings::RATIO_INTERVAL),
        Column::right(&headings::P_CORRECTED),
        Column::left(&headings::VERDICT),
    ]
}

/// `number` is that of the trials or cells it rests on.
fn compared_cells(number: String, effect: &Effect) -> [Cell; 5] {
    [
        Cell::text(number),
        Cell::figure(effect.ratio.map(|ratio| figures::bounded_ratio(ratio, effect.bound))),
        Cell::interval(effect.ratio_interval),
        Cell::figure(effect.p_corrected.map(figures::p_value)),
        effect.verdict.map_or(Value::Absent, |verdict| Value::Word(words::verdict(Some(verdict)))).into(),
    ]
}

fn visible_from(effect: &Effect) -> Cell {
    Cell::figure(effect.detectable_ratio.map(figures::detectable))
}

/// The last part of a factor's name: `server.settings.x` as `x`.
fn factor_of<'a>(model: &'a ReportModel, comparison: &Comparison) -> Option<&'a str> {
    match comparison.of {
        ComparisonOf::System => None,
        ComparisonOf::Level { factor } => model.factors.get(factor).map(|name| short_factor(name)),
    }
}

/// Every question, under the two levels or systems that are compared.
pub(crate) fn questions(model: &ReportModel, lang: Lang) -> Table {
    let [n, ratio, interval, p, verdict] = compared();
    let cells = Column { heading: &headings::CELLS, ..n };
    let (metric, visible) = (Column::left(&headings::METRIC), Column::right(&headings::DETECTABLE).in_page());
    let depends = Column::left(&headings::DEPENDS_ON).in_page();
    let mut table = Table::of_pairs([metric, cells, ratio, interval, p, visible, verdict, depends]);
    // Both metrics of a question stand together.
    let mut sorted: Vec<&Question> = model.questions.iter().collect();
    let first = |it: &Question| it.comparisons[0] % (model.comparisons.len() / 2).max(1);
    sorted.sort_by_key(|it| (first(it), it.metric != model.judged_by));
    for it in sorted {
        table.group(&[&it.subject, &it.baseline]);
        let depends = it.interactions.iter().filter(|it| it.depends);
        let depends: Vec<_> = depends.map(|it| question::depends_on(&model.factors, it.with, lang)).collect();
        let of = it.comparisons.len();
        let cells = if it.cells as usize == of { of.to_string() } else { format!("{}/{of}", it.cells) };
        let [cells, ratio, interval, p, verdict] = compared_cells(cells, &it.effect);
        table.row([
            Cell::text(names::metric(it.metric, lang)),
            cells,
            ratio,
            interval,
            p,
            visible_from(&it.effect),
            verdict,
            if depends.is_empty() { Cell::figure(None) } else { Cell::text(names::list(lang, &depends)) },
        ]);
    }
    table
}

/// Where the scatter of each ratio comes from of what the run is judged by, and what lowers it.
pub(crate) fn scatter(model: &ReportModel, lang: Lang) -> Table {
    let mut table = Table::of_pairs([
        Column::right(&headings::RATIO_ERROR),
        // The page has it beside the answer.
        Column::right(&headings::DETECTABLE).in_text(),
        Column::right(&headings::SCATTER_STARTS),
        Column::right(&headings::SCATTER_DATA_SETS),
        Column::right(&headings::SCATTER_TRIALS),
        Column::right(&headings::SCATTER_WITHIN),
        Column::right(&headings::BLOCKS_NEEDED),
        Column::left(&headings::LOWERED_BY),
    ]);
    let asked = model.questions.iter().filter(|it| it.metric == model.judged_by);
    for (it, ratio) in asked.filter_map(|it| Some((it, it.scatter?.ratio?))) {
        let share = |share: Option<f64>| Cell::figure(share.map(|it| format!("{:.0} %", 100.0 * it)));
        let blocks = it.blocks_to_decide(model.provenance.blocks, model.comparison_rules.margin);
        let lowered = match ratio.asks_for_longer_windows() {
            true => headings::LOWERED_BY_WINDOWS,
            false => headings::LOWERED_BY_BLOCKS,
        };
        table.group(&[&it.subject, &it.baseline]);
        table.row([
            Cell::figure(Some(figures::percent(100.0 * ratio.error.exp_m1()))),
            visible_from(&it.effect),
            share(ratio.starts),
            share(ratio.data_sets),
            share(Some(ratio.trials)),
            share(ratio.within),
            Cell::figure(blocks.map(|blocks| figures::about(blocks.into()))),
            Cell::text(lowered.text(lang)),
        ]);
    }
    table
}

/// True when a comparison has a ratio, or a verdict that needs none: without figures everything is inconclusive.
pub(crate) fn says_something(comparison: &Comparison) -> bool {
    let verdict = comparison.effect.verdict.filter(|verdict| *verdict != Verdict::Inconclusive);
    comparison.effect.ratio.is_some() || verdict.is_some()
}

/// Every comparison that says something, under the two lines that are compared.
pub(crate) fn comparisons(model: &ReportModel, lang: Lang) -> Table {
    let [n, ratio, interval, p, verdict] = compared();
    let (metric, clients) = (Column::left(&headings::METRIC), Column::right(&headings::CLIENTS));
    let visible = Column::right(&headings::DETECTABLE);
    let mut table = Table::of_pairs([metric, clients, n, ratio, interval, p, visible, verdict]);
    // Both metrics of two lines stand together.
    let mut sorted: Vec<&Comparison> = model.comparisons.iter().filter(|it| says_something(it)).collect();
    let lines = |it: &Comparison| (model.treatments[it.subject].line, model.treatments[it.baseline].line);
    sorted.sort_by_key(|it| (lines(it), it.metric != model.judged_by, it.clients));
    for comparison in sorted {
        let (subject, baseline) = (model.line_of(comparison.subject), model.line_of(comparison.baseline));
        table.group(&[&subject.label, &baseline.label]);
        let [n, ratio, interval, p, verdict] =
            compared_cells(comparison.repeats.to_string(), &comparison.effect);
        let metric = Cell::text(names::metric(comparison.metric, lang));
        let metric = metric.with_detail(factor_of(model, comparison).map(str::to_owned));
        let clients = Cell::text(comparison.clients.to_string());
        table.row([metric, clients, n, ratio, interval, p, visible_from(&comparison.effect), verdict]);
    }
    table
}

/// Figures over the rows of a table that grows: a group per treatment, a row per step.
pub(crate) fn steps(model: &ReportModel, lang: Lang) -> Table {
    let before = [Column::right(&growth::GROWTH_ROWS), Column::right(&headings::TRIALS_VALID)];
    let mut all: Vec<Column> = before.into_iter().chain(columns(STEP)).collect();
    all.insert(3, Column::right(&headings::INTERVAL).in_text());
    let mut table = Table::new(all);
    for line in model.growth.iter().flat_map(|growth| &growth.lines) {
        table.group(&[&growth::name(model, line.treatment, lang)]);
        let milestones = model.growth.iter().flat_map(|growth| &growth.milestones);
        for (step, rows) in line.steps.iter().zip(milestones) {
            let rate = step.rows_per_second;
            let mut row = vec![Cell::count(*rows), Cell::figure(rate.map(|rate| rate.repeats.to_string()))];
            row.push(STEP[0].estimate_cell(step, None));
            row.push(Cell::half_width(rate.as_ref()));
            row.extend(cells(&STEP[1..], Some(step)));
            table.row(row);
        }
    }
    table
}

/// Comparisons step by step.
pub(crate) fn step_comparisons(model: &ReportModel, lang: Lang) -> Table {
    let rows = Column::right(&growth::GROWTH_ROWS);
    let mut table = Table::of_pairs([rows].into_iter().chain(compared()));
    let steps =
        model.growth.iter().flat_map(|growth| growth.comparisons.iter().map(move |step| (growth, step)));
    for (over, step) in steps {
        let comparison = &step.comparison;
        let name = |treatment| growth::name(model, treatment, lang);
        table.group(&[&name(comparison.subject), &name(comparison.baseline)]);
        let rows = Cell::count(over.milestones[step.step]);
        table.row(
            [rows].into_iter().chain(compared_cells(comparison.repeats.to_string(), &comparison.effect)),
        );
    }
    table
}

/// Response times of the transaction and each kind of statement, a group per treatment.
pub(crate) fn statements<'a>(
    model: &ReportModel,
    of: impl IntoIterator<Item = &'a StatementTable>,
    lang: Lang,
) -> Table {
    let before =
        [Column::left(&headings::STATEMENT), Column::right(&headings::OK), Column::right(&headings::FAILED)];
    let mut table = Table::new(before.into_iter().chain(columns(LATENCY)));
    for statements in of {
        table.group(&[&names::treatment(model, statements.treatment, lang)]);
        let was_used = |row: &&StatementRow| row.ok + row.failed + row.unfinished > 0;
        let others = statements.statements.iter().filter(was_used);
        let transaction = (headings::TRANSACTION.text(lang), &statements.transaction);
        for (name, row) in [transaction].into_iter().chain(others.map(|row| (row.name.as_str(), row))) {
            let failed = Cell::count(row.failed).alarming(row.failed > 0);
            let before = [Cell::text(name), Cell::count(row.ok), failed];
            table.row(before.into_iter().chain(cells(LATENCY, row.latency.as_ref())));
        }
    }
    table
}

/// The commands of a treatment in the form that test reports have.
pub(crate) fn commands(model: &ReportModel, treatment: usize, lang: Lang) -> Table {
    let of = model.statements.iter().filter(|table| table.treatment == treatment);
    let mut table = statements(model, of, lang).without_groups().without(&[&headings::P99, &headings::P999]);
    for column in table.columns.iter_mut().filter(|column| *column.heading == headings::OK) {
        column.heading = &headings::NUM;
    }
    table
}

/// Treatments by line and rising number of clients.
pub(crate) fn in_order(model: &ReportModel) -> impl Iterator<Item = usize> {
    by_line(model).into_iter().map(|(index, _)| index)
}

/// Failed and retried transactions by the kind of error; empty when there were none.
pub(crate) fn failures(model: &ReportModel, lang: Lang) -> Table {
    let number = |kinds: &[KindCount], kind: FailureKind| {
        kinds.iter().find(|counted| counted.kind == kind).map_or(0, |counted| counted.count)
    };
    let rows = model.treatments.iter().enumerate().flat_map(|(index, row)| {
        let of = move |kind| (kind, number(&row.failed_by_kind, kind), number(&row.retries_by_kind, kind));
        let any = FailureKind::ALL.into_iter().map(of).filter(|(_, failed, retries)| failed + retries > 0);
        any.map(move |cells| (index, cells))
    });
    let columns =
        [Column::left(&headings::KIND), Column::right(&headings::FAILED), Column::right(&headings::RETRIES)];
    of_treatments(model, columns, rows, |(kind, failed, retries)| {
        vec![Cell::text(said(kind.name(), lang)), Cell::count(failed), Cell::count(retries)]
    })
}

/// What the generator measured of itself.
pub(crate) fn generator(model: &ReportModel) -> Table {
    let rows = model.generator.iter().map(|row| (row.treatment, row));
    let table = of_treatments(model, columns(GENERATOR), rows, |row| cells(GENERATOR, Some(row)).collect());
    without_arrivals(table, model)
}

/// What trials took of machine and server.
pub(crate) fn resources(model: &ReportModel) -> Table {
    let rows = model.resources.iter().map(|row| (row.treatment, row));
    of_treatments(model, columns(RESOURCES), rows, |row| cells(RESOURCES, Some(row)).collect())
}

/// Trials in run order, each with its system and clients unless they are all of one treatment.
pub(crate) fn trials(model: &ReportModel, treatment: Option<usize>, lang: Lang) -> Table {
    let before = [
        Column::left(&headings::TRIAL),
        Column::left(&headings::SYSTEM),
        Column::right(&headings::CLIENTS),
        Column::left(&headings::VALIDITY_COLUMN),
    ];
    let last = [Column::left(&headings::REASON)];
    let mut table = Table::new(before.into_iter().chain(columns(TRIAL)).chain(last));
    let is_wanted = |trial: &&TrialRow| treatment.is_none_or(|wanted| wanted == trial.treatment);
    for trial in model.trials.iter().filter(is_wanted) {
        let before = [
            Cell::text(trial.id.as_str()),
            Cell::text(model.line_of(trial.treatment).label.as_str()),
            Cell::text(model.treatments[trial.treatment].clients.to_string()),
            Cell::word(words::state(trial.state)),
        ];
        let figures = cells(TRIAL, trial.figures.as_ref());
        table.row(before.into_iter().chain(figures).chain([Cell::text(reasons(trial, lang))]));
    }
    let table = without_arrivals(table, model);
    if treatment.is_some() { table.without(&[&headings::SYSTEM, &headings::CLIENTS]) } else { table }
}

/// Why a trial is not simply valid; notes are left out.
fn reasons(trial: &TrialRow, lang: Lang) -> String {
    if !trial.reason.is_empty() {
        return said(&trial.reason, lang).into_owned();
    }
    let doubts = trial.findings.iter().filter(|finding| finding.severity() > Severity::Note);
    doubts.map(|finding| finding::sentence(finding, lang)).collect::<Vec<_>>().join(lang.space)
}

/// Systems with the settings that were read back.
pub(crate) fn systems(model: &ReportModel, lang: Lang) -> Table {
    let columns = [&headings::SYSTEM, &headings::VERSION, &headings::SETTING, &headings::VALUE];
    let mut table = Table::new(columns.map(Column::left));
    for system in &model.provenance.systems {
        let known = !system.version.is_empty();
        let version = || if known { Cell::text(system.version.as_str()) } else { Cell::figure(None) };
        if system.settings_read.is_empty() {
            table.row([Cell::text(system.name.as_str()), version(), Cell::figure(None), Cell::figure(None)]);
        }
        for (setting, value) in &system.settings_read {
            let [name, setting] = [system.name.as_str(), setting].map(Cell::text);
            table.row([name, version(), setting, Cell::text(said(value, lang))]);
        }
    }
    table
}

/// Settings that the spec asks for, beside what servers say of them.
pub(crate) fn settings_asked(model: &ReportModel, lang: Lang) -> Table {
    let columns = [&headings::SYSTEM, &headings::SETTING, &page::PAGE_ASKED, &page::PAGE_READ_BACK];
    let mut table = Table::new(columns.map(Column::left));
    for system in &model.provenance.systems {
        for (name, asked) in &system.settings_asked {
            let read = system.settings_read.get(name);
            let read = read.map_or_else(|| Cell::figure(None), |value| Cell::text(said(value, lang)));
            table.row([Cell::text(&system.name), Cell::text(name), Cell::text(asked), read]);
        }
    }
    table
}

/// Figures published elsewhere.
pub(crate) fn published(model: &ReportModel, lang: Lang) -> Table {
    let mut table = Table::new([
        Column::left(&headings::SERIES),
        Column::left(&headings::METRIC),
        Column::right(&headings::CLIENTS),
        Column::right(&headings::VALUE),
    ]);
    for series in &model.published {
        let over_clients = series.points.iter().map(|point| (point.clients.to_string(), point.value));
        let over_rows = series.over_rows.iter().map(|point| (figures::count(point.rows), point.value));
        for (place, value) in over_clients.chain(over_rows) {
            let sign = if series.is_approximate { "~" } else { "" };
            let value = figures::value(series.unit, value);
            table.row([
                Cell::text(series.series.as_str()),
                Cell::text(names::metric(series.metric, lang)),
                Cell::text(place),
                Cell::text(format!("{sign}{value} {}", figures::symbol(series.unit))),
            ]);
        }
    }
    table
}
