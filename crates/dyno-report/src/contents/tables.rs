//! The tables of a report: which column shows which measure. Text, Markdown and the page show the
//! same tables; nothing is computed here.

use crate::cell::Cell;
use crate::figures;
use crate::messages::{
    Lang, Message, columns, growth, headings, names, page, question, reason, warning,
};
use crate::metrics::{
    DISTRIBUTION, FAULT, FAULT_ERRORS, GENERATOR, GENERATORS, NAMED, OUTCOMES, PART,
    PER_TRANSACTION, RESOURCES, STAGE, STEP, TIMES, TRIAL,
};
use crate::table::{Form, Table};
use crate::table_builder::TableBuilder;
use crate::{notes, words};
use dyno_analysis::model::{
    AuditRow, CommitAudit, Comparison, ComparisonOf, ConfigurationRow, Figures, KindCount,
    LimitVerdict, Metric, PartKind, PartRow, Question, Range, ReportModel, Scope, SearchRow,
    StatementRow, StatementTable, TrialRow, UpdateAudit, Verdict,
};
use dyno_model::audit::AuditVerdict;
use dyno_model::failure::FailureKind;
use dyno_model::isolation::IsolationLevel;
use dyno_model::plan::LoadBy;
use dyno_model::printable;
use dyno_model::warning::Severity;
use dyno_model::words::short_factor;
use std::cmp::Reverse;

/// Rows with their configurations, by series and increasing number of clients.
pub(crate) fn by_series<'a, R>(
    model: &ReportModel,
    rows: impl IntoIterator<Item = &'a R>,
    configuration: impl Fn(&R) -> usize,
) -> Vec<(usize, &'a R)> {
    let mut rows: Vec<_> = rows.into_iter().map(|row| (configuration(row), row)).collect();
    rows.sort_by_key(|(index, _)| {
        (model.configurations[*index].series, model.configurations[*index].clients)
    });
    rows
}

/// Configurations by series and increasing number of clients.
pub(crate) fn in_order(model: &ReportModel) -> Vec<usize> {
    let mut order: Vec<usize> = (0..model.configurations.len()).collect();
    order.sort_by_key(|index| {
        (model.configurations[*index].series, model.configurations[*index].clients)
    });
    order
}

/// Removes the columns that have no meaning without an open loop.
fn without_arrivals(table: Table, model: &ReportModel) -> Table {
    if model.has_open_loop() {
        return table;
    }
    table.without(&[&columns::ARRIVED, &columns::NEVER_STARTED, &columns::LAG])
}

/// Main result: a group per series, a row per number of clients.
pub(crate) fn results(model: &ReportModel) -> Table {
    let rows = in_order(model).into_iter().map(|index| (index, &model.configurations[index]));
    let table = TableBuilder::of_configurations(model, rows)
        .right(&headings::TRIALS_VALID, |row| trials_valid(row))
        .estimate_columns(&[Metric::Throughput], |row| (&row.figures, None))
        .half_width(|row| row.figures.estimate(Metric::Throughput))
        .estimate_columns(TIMES, |row| (&row.figures, Some(row.trials_valid)))
        .metric_columns(OUTCOMES, |row| Some(&row.figures))
        .left(&headings::VALIDITY_COLUMN, |row| Cell::word(words::validity(row.validity)))
        .table();
    without_arrivals(table, model)
}

/// `5`, or `4/5` when a planned trial is missing or not valid.
fn trials_valid(row: &ConfigurationRow) -> Cell {
    let (valid, planned) = (row.trials_valid, row.trials_planned);
    Cell::text(if valid == planned { valid.to_string() } else { format!("{valid}/{planned}") })
}

/// Results of saturation searches.
pub(crate) fn searches(model: &ReportModel) -> Table {
    let most = model.searches.first().map_or(Metric::HighestRate, |row| row.metric().into());
    let found = |row: &SearchRow| model.estimate(row.configuration, row.metric());
    let repeats = |row: &SearchRow| found(row).map_or(0, |found| found.repeats).to_string();
    TableBuilder::of_configurations(
        model,
        model.searches.iter().map(|row| (row.configuration, row)),
    )
    .left(&headings::LIMIT, |row| Cell::text(figures::limit_of(&row.search)))
    .right(&headings::TRIALS_VALID, |row| Cell::text(repeats(row)))
    .estimate_columns(&[most], |row| (&model.configurations[row.configuration].figures, None))
    .half_width(|row| found(row))
    .right(&headings::STEPS_TRIED, |row| Cell::text(row.steps.len().to_string()))
    .table()
}

/// The parts of a scope, with their names and figures.
fn parts(model: &ReportModel, scope: Scope, name: &'static Message, shown: &[Metric]) -> Table {
    TableBuilder::of_configurations(
        model,
        by_series(model, model.parts(scope), |row| row.configuration),
    )
    .left(name, |row| Cell::text(&row.name))
    .estimate_columns(shown, |row| of_part(model, row))
    .table()
}

/// Figures of a part, and the number of valid trials of its configuration.
fn of_part<'a>(model: &ReportModel, row: &'a PartRow) -> (&'a Figures, Option<u32>) {
    (&row.figures, Some(model.configurations[row.configuration].trials_valid))
}

/// Results of each stage of a load.
pub(crate) fn stages(model: &ReportModel) -> Table {
    let table = parts(model, Scope::Stage, &headings::STAGE, STAGE);
    match model.parts(Scope::Stage).next().map(|row| &row.part) {
        Some(PartKind::Stage { by: LoadBy::Clients, .. }) => {
            table.without(&[&columns::OFFERED, &columns::NOT_COMMITTED])
        }
        _ => table.without(&[&columns::AT_WORK]),
    }
}

/// Results of the transactions of each name.
pub(crate) fn transactions(model: &ReportModel) -> Table {
    let table = parts(model, Scope::Transaction, &headings::TRANSACTION, NAMED);
    let mut rows = model.parts(Scope::Transaction);
    match rows.any(|row| row.figures.get(Metric::RolledBack).is_some()) {
        true => table,
        false => table.without(&[&columns::ROLLED_BACK]),
    }
}

/// What workloads derived from a standard benchmark count, with what it depends on.
pub(crate) fn benchmarks(model: &ReportModel, lang: Lang) -> Table {
    let rows = by_series(model, model.parts(Scope::Benchmark), |row| row.configuration);
    let rows = rows.into_iter().filter_map(|(configuration, row)| match &row.part {
        PartKind::Benchmark { is_paced, isolation } => {
            Some((configuration, (row, *is_paced, *isolation)))
        }
        _ => None,
    });
    let touched = |row: &PartRow, [touched, all]: [Metric; 2]| {
        let count = |metric| row.figures.count(metric).map(figures::count);
        Cell::figure(
            count(touched).zip(count(all)).map(|(touched, all)| format!("{touched}/{all}")),
        )
    };
    TableBuilder::of_configurations(model, rows)
        .estimate_columns(&[Metric::NewOrdersPerMinute], |(row, ..)| of_part(model, row))
        .half_width(|(row, ..)| row.figures.estimate(Metric::NewOrdersPerMinute))
        .left(&headings::PACING, |(_, is_paced, _)| {
            let pacing =
                if *is_paced { &headings::PACING_STANDARD } else { &headings::PACING_NONE };
            Cell::text(pacing.text(lang))
        })
        .metric_columns(&[Metric::PacedShare], |(row, ..)| Some(&row.figures))
        .right(&headings::WAREHOUSES_TOUCHED, |(row, ..)| {
            touched(row, [Metric::WarehousesTouched, Metric::Warehouses])
        })
        .right(&headings::DISTRICTS_TOUCHED, |(row, ..)| {
            touched(row, [Metric::DistrictsTouched, Metric::Districts])
        })
        .metric_columns(PER_TRANSACTION, |(row, ..)| {
            Some(&model.configurations[row.configuration].figures)
        })
        .metric_columns(&[Metric::RolledBackShare], |(row, ..)| Some(&row.figures))
        .left(&headings::ISOLATION_LEVEL, |(.., level)| {
            Cell::figure(level.map(IsolationLevel::sql))
        })
        .table()
        .without_absent_columns()
}

/// Background workloads.
pub(crate) fn background(model: &ReportModel) -> Table {
    let rows = by_series(model, model.parts(Scope::Background), |row| row.configuration);
    let rows = rows.into_iter().filter_map(|(configuration, row)| match &row.part {
        PartKind::Background { kind, clients, rate, audit } => {
            let rate = rate.map_or_else(String::new, |rate| format!(" ({})", figures::rate(rate)));
            Some((configuration, (row, kind, format!("{clients}{rate}"), *audit)))
        }
        _ => None,
    });
    TableBuilder::of_configurations(model, rows)
        .left(&headings::BACKGROUND_NAME, |(row, ..)| Cell::text(&row.name))
        .left(&headings::KIND, |(_, kind, ..)| Cell::text(*kind))
        .left(&headings::BACKGROUND_CLIENTS, |(_, _, clients, _)| Cell::text(clients))
        .estimate_columns(PART, |(row, ..)| of_part(model, row))
        .left(&headings::AUDIT_VERDICT, |(.., audit)| {
            Cell::word(words::audit(*audit)).alarming(*audit == AuditVerdict::Violated)
        })
        .table()
}

/// Effects of injected faults.
pub(crate) fn faults(model: &ReportModel, lang: Lang) -> Table {
    TableBuilder::of_configurations(model, by_series(model, &model.faults, |row| row.configuration))
        .left(&headings::FAULT, |row| Cell::text(names::faults(row, lang)))
        .right(&headings::TRIALS_VALID, |row| Cell::count(row.trials.len() as u64))
        .metric_columns(FAULT, |row| Some(&model.configurations[row.configuration].figures))
        .table()
}

/// Errors that clients received from the first fault on, by kind, in order of appearance.
pub(crate) fn fault_errors(model: &ReportModel) -> Table {
    let rows = by_series(model, &model.faults, |row| row.configuration).into_iter();
    let errors = rows.flat_map(|(index, row)| row.errors.iter().map(move |errors| (index, errors)));
    TableBuilder::of_configurations(model, errors)
        .left(&headings::KIND, |errors| Cell::text(errors.kind.name()))
        .metric_columns(FAULT_ERRORS, |errors| Some(&errors.figures))
        .table()
}

/// Every limit at every configuration that it applies to.
pub(crate) fn limits(model: &ReportModel) -> Table {
    TableBuilder::of_configurations(model, by_series(model, &model.limits, |row| row.configuration))
        .left(&headings::LIMIT, |row| {
            Cell::text(figures::limit_in(row.part.as_ref(), row.metric, row.value))
        })
        .right(&headings::TRIALS_VALID, |row| Cell::text(row.repeats.to_string()))
        .right(&headings::FIGURE, |row| {
            Cell::figure(figures::limited(row)).alarming(row.verdict == LimitVerdict::Failed)
        })
        .right(&headings::LIMIT_INTERVAL, |row| {
            let ends =
                |it: Range| [it.low, it.high].map(|value| figures::of_limit(row.metric, value));
            Cell::span(row.interval.map(ends), "..")
        })
        .left(&headings::VERDICT, |row| Cell::word(words::limit(row.verdict)))
        .table()
}

/// Acknowledged updates against updates in the data.
pub(crate) fn audits(model: &ReportModel) -> Table {
    audits_of(model, |_| true)
}

/// The same for configurations with lost updates.
pub(crate) fn losses(model: &ReportModel) -> Table {
    audits_of(model, AuditRow::has_lost_commits)
}

fn audits_of(model: &ReportModel, is_wanted: impl Fn(&AuditRow) -> bool) -> Table {
    let wanted = model.audits.iter().filter(|audit| is_wanted(audit));
    let span = |audit: &AuditRow, of: fn(&CommitAudit) -> [String; 2]| {
        Cell::span(audit.commits.as_ref().map(of), "..").alarming(audit.has_lost_commits())
    };
    let update = |audit: &AuditRow, of: fn(&UpdateAudit) -> u64| {
        audit.updates.as_ref().map_or_else(Cell::absent, |updates| Cell::count(of(updates)))
    };
    TableBuilder::of_configurations(model, by_series(model, wanted, |audit| audit.configuration))
        .left(&headings::AUDIT_VERDICT, |audit| Cell::word(words::audit(audit.verdict)))
        .right(&columns::COMMITTED, |audit| {
            audit
                .commits
                .as_ref()
                .map_or_else(Cell::absent, |commits| Cell::count(commits.committed))
        })
        .right(&columns::LOST, |audit| span(audit, |it| [it.lost, it.lost_max].map(figures::count)))
        .right(&columns::LOST_PERCENT, |audit| {
            span(audit, |it| [it.lost_percent, it.lost_percent_max].map(figures::percent))
        })
        .right(&columns::WITNESSED, |audit| update(audit, |it| it.witnessed))
        .right(&columns::PHANTOM, |audit| {
            let phantom = audit.updates.as_ref().map_or(0, |it| it.phantom);
            update(audit, |it| it.phantom).alarming(phantom > 0)
        })
        .right(&columns::IN_DOUBT, |audit| update(audit, |it| it.in_doubt))
        .right(&columns::STATEMENT_ERRORS, |audit| update(audit, |it| it.statement_errors))
        .table()
}

/// Rows of acknowledged commits against rows in the data.
pub(crate) fn ledgers(model: &ReportModel) -> Table {
    let audits = by_series(model, &model.audits, |audit| audit.configuration).into_iter();
    let ledgers = audits.filter_map(|(index, audit)| {
        Some((index, (audit.commits.as_ref()?, audit.ledger.as_ref()?)))
    });
    let problem = |count: u64| Cell::count(count).alarming(count > 0);
    TableBuilder::of_configurations(model, ledgers)
        .right(&columns::ACKNOWLEDGED, |(commits, _)| Cell::count(commits.committed))
        .right(&columns::LOST, |(commits, _)| problem(commits.lost))
        .right(&columns::LOSING_TRIALS, |(commits, _)| problem(commits.trials_with_losses.into()))
        .right(&columns::PHANTOM, |(_, ledger)| problem(ledger.phantoms))
        .right(&columns::IN_DOUBT, |(_, ledger)| Cell::count(ledger.in_doubt))
        .right(&columns::TOOK_EFFECT, |(_, ledger)| Cell::count(ledger.took_effect))
        .table()
}

/// Row counts and column sums that were checked; wrong ones first.
pub(crate) fn contents(model: &ReportModel) -> Table {
    let mut checks = Vec::new();
    for audit in &model.audits {
        let rows = audit.row_counts.iter().map(|it| {
            let [low, high, found] =
                [it.expected_min, it.expected_max, it.found].map(figures::count);
            (&it.trial, &it.table, [low, high], found, it.verdict)
        });
        let values = audit.values.iter().map(|it| {
            let [low, high, found] =
                [it.expected_min, it.expected_max, it.found].map(figures::integer);
            (&it.trial, &it.expression, [low, high], found, it.verdict)
        });
        checks.extend(rows.chain(values).map(|check| (audit.configuration, check)));
    }
    checks.sort_by_key(|(_, (.., verdict))| Reverse(*verdict));
    TableBuilder::of_configurations(model, checks)
        .left(&headings::TRIAL, |(trial, ..)| Cell::text(*trial))
        .left(&headings::CHECKED, |(_, checked, ..)| Cell::text(*checked))
        .right(&headings::EXPECTED, |(_, _, expected, ..)| Cell::span(Some(expected.clone()), ".."))
        .right(&headings::FOUND, |(.., found, verdict)| {
            Cell::figure(Some(found.clone())).alarming(*verdict == AuditVerdict::Violated)
        })
        .left(&headings::AUDIT_VERDICT, |(.., verdict)| Cell::word(words::audit(*verdict)))
        .table()
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
    // Keeps both metrics of a question together.
    let mut sorted: Vec<&Question> = model.questions.iter().collect();
    let first = |it: &Question| it.comparisons[0] % (model.comparisons.len() / 2).max(1);
    sorted.sort_by_key(|it| (first(it), it.metric != model.primary_metric));
    let cells = |it: &Question| match it.comparisons.len() {
        of if it.pairs as usize == of => of.to_string(),
        of => format!("{}/{of}", it.pairs),
    };
    TableBuilder::of_pairs(sorted, |it| [it.subject.clone(), it.baseline.clone()])
        .left(&headings::METRIC, |it| Cell::text(names::metric(it.metric, lang)))
        .right(&headings::PAIRS, |it| Cell::text(cells(it)))
        .effect(|it| &it.effect)
        .detectable(|it| &it.effect)
        .only_in(Form::Page)
        .verdict(|it| &it.effect)
        .left(&headings::DEPENDS_ON, |it| {
            let depends = it.interactions.iter().filter(|it| it.depends);
            let depends: Vec<_> =
                depends.map(|it| question::depends_on(&model.factors, it.with, lang)).collect();
            Cell::text_or_absent(Some(names::list(lang, &depends)).filter(|list| !list.is_empty()))
        })
        .only_in(Form::Page)
        .table()
}

/// Variance components of each ratio of the primary metric, and how to reduce them.
pub(crate) fn scatter(model: &ReportModel, lang: Lang) -> Table {
    let questions = model.questions.iter().filter(|it| it.metric == model.primary_metric);
    let rows = questions.filter_map(|it| Some((it, it.scatter?.ratio?)));
    let share = |share: Option<f64>| Cell::figure(share.map(|it| format!("{:.0} %", 100.0 * it)));
    TableBuilder::of_pairs(rows, |(it, _)| [it.subject.clone(), it.baseline.clone()])
        .right(&headings::RATIO_ERROR, |(_, ratio)| {
            Cell::figure(Some(figures::percent(100.0 * ratio.error.exp_m1())))
        })
        // The page shows it next to the answer.
        .detectable(|(it, _)| &it.effect)
        .only_in(Form::Text)
        .right(&headings::SCATTER_STARTS, |(_, ratio)| share(ratio.starts))
        .right(&headings::SCATTER_DATA_SETS, |(_, ratio)| share(ratio.data_sets))
        .right(&headings::SCATTER_TRIALS, |(_, ratio)| share(Some(ratio.trials)))
        .right(&headings::SCATTER_WITHIN, |(_, ratio)| share(ratio.within))
        .right(&headings::BLOCKS_NEEDED, |(it, _)| {
            let blocks =
                it.blocks_to_decide(model.provenance.blocks, model.comparison_rules.margin);
            Cell::figure(blocks.map(|blocks| figures::about(blocks.into())))
        })
        .left(&headings::LOWERED_BY, |(_, ratio)| {
            let lowered = match ratio.asks_for_longer_windows() {
                true => headings::LOWERED_BY_WINDOWS,
                false => headings::LOWERED_BY_BLOCKS,
            };
            Cell::text(lowered.text(lang))
        })
        .table()
}

/// Returns true when a comparison has a ratio, or a verdict that needs none: without figures every
/// verdict is inconclusive.
pub(crate) fn is_informative(comparison: &Comparison) -> bool {
    let verdict = comparison.effect.verdict.filter(|verdict| *verdict != Verdict::Inconclusive);
    comparison.effect.ratio.is_some() || verdict.is_some()
}

/// Every comparison with a result, under the two series that are compared.
pub(crate) fn comparisons(model: &ReportModel, lang: Lang) -> Table {
    // Keeps both metrics of two series together.
    let mut sorted: Vec<&Comparison> =
        model.comparisons.iter().filter(|it| is_informative(it)).collect();
    let series = |it: &Comparison| {
        (model.configurations[it.subject].series, model.configurations[it.baseline].series)
    };
    sorted.sort_by_key(|it| (series(it), it.metric != model.primary_metric, it.clients));
    let label = |configuration| model.series_of(configuration).label.clone();
    TableBuilder::of_pairs(sorted, |it| [label(it.subject), label(it.baseline)])
        .left(&headings::METRIC, |it| {
            Cell::text(names::metric(it.metric, lang))
                .with_detail(factor_of(model, it).map(str::to_owned))
        })
        .right(&headings::CLIENTS, |it| Cell::text(it.clients.to_string()))
        .right(&headings::TRIALS_VALID, |it| Cell::text(it.repeats.to_string()))
        .effect(|it| &it.effect)
        .detectable(|it| &it.effect)
        .verdict(|it| &it.effect)
        .table()
}

/// Figures by number of rows of a growing table: a group per configuration, a row per step.
pub(crate) fn steps(model: &ReportModel, lang: Lang) -> Table {
    let series = model
        .growth
        .iter()
        .flat_map(|growth| growth.series.iter().map(move |series| (growth, series)));
    let steps = series.flat_map(|(growth, series)| {
        series
            .steps
            .iter()
            .zip(&growth.milestones)
            .map(move |(step, rows)| (series.configuration, step, *rows))
    });
    let rate = |step: &Figures| step.estimate(Metric::RowThroughput);
    TableBuilder::grouped(steps, |(configuration, ..)| [growth::name(model, *configuration, lang)])
        .right(&growth::GROWTH_ROWS, |(.., rows)| Cell::count(*rows))
        .right(&headings::TRIALS_VALID, |(_, step, _)| {
            Cell::figure(rate(step).map(|rate| rate.repeats.to_string()))
        })
        .estimate_columns(&[Metric::RowThroughput], |(_, step, _)| (*step, None))
        .half_width(|(_, step, _)| rate(step))
        .metric_columns(STEP, |(_, step, _)| Some(*step))
        .table()
}

/// Comparisons step by step.
pub(crate) fn step_comparisons(model: &ReportModel, lang: Lang) -> Table {
    let steps = model.growth.iter().flat_map(|growth| {
        growth.comparisons.iter().map(|it| (growth.milestones[it.step], &it.comparison))
    });
    let name = |configuration| growth::name(model, configuration, lang);
    TableBuilder::of_pairs(steps, |(_, it)| [name(it.subject), name(it.baseline)])
        .right(&growth::GROWTH_ROWS, |(rows, _)| Cell::count(*rows))
        .right(&headings::TRIALS_VALID, |(_, it)| Cell::text(it.repeats.to_string()))
        .effect(|(_, it)| &it.effect)
        .verdict(|(_, it)| &it.effect)
        .table()
}

/// Response times of the transaction and each kind of statement, a group per configuration.
pub(crate) fn statements<'a>(
    model: &ReportModel,
    of: impl IntoIterator<Item = &'a StatementTable>,
    lang: Lang,
) -> Table {
    let rows = of.into_iter().flat_map(|table| {
        let was_used = |row: &&StatementRow| row.ok + row.failed + row.unfinished > 0;
        let others = table.statements.iter().filter(was_used).map(|row| (row.name.as_str(), row));
        let transaction = (headings::TRANSACTION.text(lang), &table.transaction);
        [transaction].into_iter().chain(others).map(|(name, row)| (table.configuration, name, row))
    });
    TableBuilder::grouped(rows, |(configuration, ..)| {
        [names::configuration(model, *configuration, lang)]
    })
    .left(&headings::STATEMENT, |(_, name, _)| Cell::text(*name))
    .right(&headings::OK, |(.., row)| Cell::count(row.ok))
    .right(&columns::FAILED, |(.., row)| Cell::count(row.failed).alarming(row.failed > 0))
    .metric_columns(DISTRIBUTION, |(.., row)| Some(&row.figures))
    .table()
}

/// The commands of a configuration in the format of test reports.
pub(crate) fn commands(model: &ReportModel, configuration: usize, lang: Lang) -> Table {
    let of = model.statements.iter().filter(|table| table.configuration == configuration);
    let mut table =
        statements(model, of, lang).without_groups().without(&[&columns::P99, &columns::P999]);
    for column in table.columns.iter_mut().filter(|column| *column.heading == headings::OK) {
        column.heading = &headings::NUM;
    }
    table
}

/// Failed and retried transactions by the kind of error; empty when there were none.
pub(crate) fn failures(model: &ReportModel, lang: Lang) -> Table {
    let number = |kinds: &[KindCount], kind: FailureKind| {
        kinds.iter().find(|counted| counted.kind == kind).map_or(0, |counted| counted.count)
    };
    let rows = model.configurations.iter().enumerate().flat_map(|(index, row)| {
        let of = move |kind| {
            (kind, number(&row.failed_by_kind, kind), number(&row.retries_by_kind, kind))
        };
        let any = FailureKind::ALL
            .into_iter()
            .map(of)
            .filter(|(_, failed, retries)| failed + retries > 0);
        any.map(move |row| (index, row))
    });
    TableBuilder::of_configurations(model, rows)
        .left(&headings::KIND, |(kind, ..)| Cell::text(reason::kind(*kind, lang)))
        .right(&columns::FAILED, |(_, failed, _)| Cell::count(*failed))
        .right(&columns::RETRIES, |(.., retries)| Cell::count(*retries))
        .table()
}

/// The first error of each kind with the database's message; empty when there were none.
pub(crate) fn errors(model: &ReportModel, lang: Lang) -> Table {
    let rows = model.configurations.iter().enumerate();
    let rows = rows.flat_map(|(at, row)| row.errors.0.iter().map(move |it| (at, it)));
    let sent = if notes::has_only_http(model) { &headings::REQUEST } else { &headings::STATEMENT };
    TableBuilder::of_configurations(model, rows)
        .left(&headings::KIND, |it| Cell::text(reason::kind(it.failure.kind, lang)))
        .left(&headings::ERROR_CODE, |it| Cell::text(notes::error_code(it)))
        .right(&headings::ERROR_COUNT, |it| Cell::count(it.count))
        .left(&headings::ERROR_MESSAGE, |it| Cell::text(printable::line(&it.failure.message)))
        .left(sent, |it| Cell::text(notes::failed_statement(it)))
        .table()
}

/// Figures of the configurations that have them.
fn with_figures(
    model: &ReportModel,
    has_them: fn(&ConfigurationRow) -> bool,
    shown: &[Metric],
) -> Table {
    let rows = model.configurations.iter().enumerate().filter(|(_, row)| has_them(row));
    TableBuilder::of_configurations(model, rows)
        .metric_columns(shown, |row| Some(&row.figures))
        .table()
}

/// The load generator itself.
pub(crate) fn generator(model: &ReportModel) -> Table {
    without_arrivals(with_figures(model, |row| row.trials_measured > 0, GENERATOR), model)
}

/// Each of several load generators.
pub(crate) fn generators(model: &ReportModel) -> Table {
    let rows = by_series(model, model.parts(Scope::Generator), |row| row.configuration);
    let rows = rows.into_iter().filter_map(|(configuration, row)| match &row.part {
        PartKind::Generator { clients, hosts } => Some((configuration, (row, clients, hosts))),
        _ => None,
    });
    let table = TableBuilder::of_configurations(model, rows)
        .left(&headings::GENERATOR_NUMBER, |(row, ..)| Cell::text(&row.name))
        .left(&headings::GENERATOR_HOST, |(.., hosts)| Cell::text(hosts.join(", ")))
        .right(&headings::GENERATOR_CLIENTS, |(_, clients, _)| Cell::text(clients.to_string()))
        .metric_columns(GENERATORS, |(row, ..)| Some(&row.figures))
        .table();
    without_arrivals(table, model)
}

/// Resource usage of machine and server during trials.
pub(crate) fn resources(model: &ReportModel) -> Table {
    with_figures(model, |row| row.monitored.is_some(), RESOURCES)
}

/// Trials in run order, with system and clients unless all belong to one configuration.
pub(crate) fn trials(model: &ReportModel, configuration: Option<usize>, lang: Lang) -> Table {
    let is_wanted =
        |trial: &&TrialRow| configuration.is_none_or(|wanted| wanted == trial.configuration);
    let table = TableBuilder::of(model.trials.iter().filter(is_wanted))
        .left(&headings::TRIAL, |trial| Cell::text(&trial.id))
        .left(&headings::SYSTEM, |trial| Cell::text(&model.series_of(trial.configuration).label))
        .right(&headings::CLIENTS, |trial| {
            Cell::text(model.configurations[trial.configuration].clients.to_string())
        })
        .left(&headings::VALIDITY_COLUMN, |trial| Cell::word(words::state(trial.state)))
        .metric_columns(TRIAL, |trial| trial.figures.as_ref())
        .left(&headings::REASON, |trial| Cell::text(reasons(trial, lang)))
        .table();
    let table = without_arrivals(table, model);
    if configuration.is_some() {
        table.without(&[&headings::SYSTEM, &headings::CLIENTS])
    } else {
        table
    }
}

/// Why a trial is not fully valid; notes are omitted.
fn reasons(trial: &TrialRow, lang: Lang) -> String {
    if let Some(reason) = &trial.reason {
        return reason::reason(reason, lang);
    }
    let warnings = trial.warnings.iter().filter(|warning| warning.severity() > Severity::Note);
    warnings.map(|warning| warning::sentence(warning, lang)).collect::<Vec<_>>().join(lang.space)
}

/// Systems with the settings that were read back.
pub(crate) fn systems(model: &ReportModel, lang: Lang) -> Table {
    let rows = model.provenance.systems.iter().flat_map(|system| {
        let none = system.settings_read.is_empty().then_some((system, None));
        none.into_iter()
            .chain(system.settings_read.iter().map(move |setting| (system, Some(setting))))
    });
    TableBuilder::of(rows)
        .left(&headings::SYSTEM, |(system, _)| Cell::text(&system.name))
        .left(&headings::VERSION, |(system, _)| {
            let is_known = !system.version.is_empty();
            Cell::text_or_absent(is_known.then(|| names::version(&system.version, lang)))
        })
        .left(&headings::SETTING, |(_, setting)| {
            Cell::text_or_absent(setting.map(|(name, _)| name))
        })
        .left(&headings::VALUE, |(system, setting)| {
            Cell::text_or_absent(
                setting.and_then(|(name, _)| names::setting_read(system, name, lang)),
            )
        })
        .table()
}

/// Settings from the spec, next to the values that the servers report.
pub(crate) fn requested_settings(model: &ReportModel, lang: Lang) -> Table {
    let systems = model.provenance.systems.iter();
    let rows = systems.flat_map(|system| {
        system.requested_settings.iter().map(move |(name, requested)| (system, name, requested))
    });
    TableBuilder::of(rows)
        .left(&headings::SYSTEM, |(system, ..)| Cell::text(&system.name))
        .left(&headings::SETTING, |(_, name, _)| Cell::text(*name))
        .left(&page::PAGE_ASKED, |(.., requested)| Cell::text(*requested))
        .left(&page::PAGE_READ_BACK, |(system, name, _)| {
            Cell::text_or_absent(names::setting_read(system, name, lang))
        })
        .table()
}

/// Figures published elsewhere.
pub(crate) fn published(model: &ReportModel, lang: Lang) -> Table {
    let rows = model.published.iter().flat_map(|series| {
        let over_clients =
            series.points.iter().map(|point| (point.clients.to_string(), point.value));
        let over_rows =
            series.over_rows.iter().map(|point| (figures::count(point.rows), point.value));
        over_clients
            .chain(over_rows)
            .map(move |(clients_or_rows, value)| (series, clients_or_rows, value))
    });
    TableBuilder::of(rows)
        .left(&headings::SERIES, |(series, ..)| Cell::text(&series.series))
        .left(&headings::METRIC, |(series, ..)| Cell::text(names::metric(series.metric, lang)))
        .right(&headings::CLIENTS, |(_, clients_or_rows, _)| Cell::text(clients_or_rows))
        .right(&headings::VALUE, |(series, _, value)| {
            let sign = if series.is_approximate { "~" } else { "" };
            let value = figures::value(series.unit, *value);
            Cell::text(format!("{sign}{value} {}", figures::symbol(series.unit)))
        })
        .table()
}
