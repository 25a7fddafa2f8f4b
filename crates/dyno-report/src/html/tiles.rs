//! The tiles of a report: main results or changes, failures, losses, and limits.

use super::page::Page;
use crate::figures;
use crate::messages::{fill, headings, names, tiles};
use crate::tiles::{LIMITS_MAX, TIMES, Tile, name};
use crate::words;
use dyno_analysis::model::{
    Estimate, GrowthSeries, Headline, LimitRow, LimitVerdict, Losses, Metric, SearchRow, TrialState,
};
use dyno_model::audit::AuditVerdict;
use dyno_model::plan::ComparisonMetric;
use maud::Markup;

/// Maximum number of series of a growing table, or of searches, with a tile each.
const SERIES_MAX: usize = 3;

pub(super) fn markup(page: &Page<'_>) -> Markup {
    crate::tiles::markup(&all(page), page.lang)
}

fn all(page: &Page<'_>) -> Vec<Tile> {
    let model = page.model;
    let mut all: Vec<Tile> = Vec::new();
    if let Some(growth) = &model.growth {
        all.extend(growth.series.iter().take(SERIES_MAX).filter_map(|series| grown(page, series)));
    } else if !model.searches.is_empty() {
        all.extend(searched(page));
    } else if let Some(headline) = model.headline() {
        all.extend(figure(page, headline, ComparisonMetric::Throughput));
        all.extend(TIMES.into_iter().find_map(|metric| figure(page, headline, metric)));
    }
    all.extend(outage(page));
    all.extend(failures(page));
    all.push(lost(page));
    let limits: Vec<Vec<&LimitRow>> = model.limits_with_rows().collect();
    all.extend(limits.iter().take(LIMITS_MAX).filter_map(|rows| limit(page, rows)));
    all.extend(questions(page));
    all.push(trials(page));
    all
}

/// A figure of the main configurations of the report.
fn figure(page: &Page<'_>, headline: Headline, metric: ComparisonMetric) -> Option<Tile> {
    let model = page.model;
    let estimate = |configuration: usize| model.estimate(configuration, metric);
    let at = |configuration: usize| names::configuration(model, configuration, page.lang);
    let title = name(metric, page.lang);
    let tile = match headline {
        Headline::One(configuration) => {
            let mut tile = Tile::estimate(title, &estimate(configuration)?, page.lang);
            let is_alone = model.configurations.len() == 1;
            let clients = names::clients(&[model.configurations[configuration].clients], page.lang);
            tile.notes.insert(0, if is_alone { clients } else { at(configuration) });
            tile
        }
        Headline::Change { baseline, subject } => {
            let (before, after) = (estimate(baseline)?, estimate(subject)?);
            let change = model.change(metric, baseline, subject);
            let [from, to] = [baseline, subject].map(|it| model.series_of(it).label.as_str());
            let sides = format!("{from} → {to}");
            let at = names::series_at(&sides, model.configurations[subject].clients, page.lang);
            Tile::change(title, at, [&before, &after], change, page.lang)
        }
        Headline::Ends { worst, best } => {
            ends(page, title, [worst, best], [estimate(worst)?, estimate(best)?])
        }
    };
    Some(tile)
}

/// Results of the worst and the best series.
fn ends(page: &Page<'_>, title: String, at: [usize; 2], [worst, best]: [Estimate; 2]) -> Tile {
    let [low, high] =
        at.map(|configuration| names::configuration(page.model, configuration, page.lang));
    let tile = Tile::estimate(title, &best, page.lang);
    let notes = vec![
        fill!(tiles::BEST, page.lang, configuration = high),
        fill!(tiles::WORST, page.lang, configuration = low),
    ];
    Tile { value: format!("{} / {}", tile.value, figures::mean(&worst)), notes, ..tile }
}

/// A growing table: rows per second in its first step and in its last.
fn grown(page: &Page<'_>, series: &GrowthSeries) -> Option<Tile> {
    let mut rates = series.steps.iter().filter_map(|step| step.estimate(Metric::RowThroughput));
    let first = rates.next()?;
    let last = rates.next_back();
    let rows = page.model.growth.as_ref()?.milestones.last().map_or(0, |rows| *rows);
    let tile = Tile::estimate(
        names::configuration(page.model, series.configuration, page.lang),
        &first,
        page.lang,
    );
    let notes = vec![fill!(tiles::UP_TO_ROWS, page.lang, rows = figures::count(rows))];
    Some(match last {
        Some(last) => Tile { before: Some(tile.value), value: figures::mean(&last), notes, ..tile },
        None => tile,
    })
}

/// The highest loads that searches found: each, or the minimum and the maximum of many.
fn searched(page: &Page<'_>) -> Vec<Tile> {
    let rows = &page.model.searches;
    if rows.len() > SERIES_MAX
        && let Some(headline) = page.model.headline()
        && let Some(tile) = figure(page, headline, page.model.primary_metric)
    {
        return vec![tile];
    }
    rows.iter().take(SERIES_MAX).map(|row| found(page, row)).collect()
}

fn found(page: &Page<'_>, row: &SearchRow) -> Tile {
    let title = name(row.metric(), page.lang);
    let limit = figures::limit_of(&row.search);
    let named = (page.model.searches.len() > 1)
        .then(|| crate::messages::conclusion::searched(page.model, row, page.lang));
    let found = page.model.estimate(row.configuration, row.metric());
    let mut tile = match &found {
        Some(found) => Tile::estimate(title, found, page.lang),
        None => Tile::new(title, headings::ABSENT.text(page.lang)),
    };
    let verdict = match row.verdict() {
        LimitVerdict::Passed if found.is_none() => LimitVerdict::Undecided,
        verdict => verdict,
    };
    let is_bound = found.is_some_and(|it| it.is_bound);
    let bound = is_bound.then(|| tiles::LOWER_BOUND.text(page.lang).to_owned());
    let number = row.ended.len();
    let of = number + found.map_or(0, |it| it.repeats as usize);
    let ended = (number > 0).then(|| fill!(tiles::SEARCHES_ENDED, page.lang, number, of));
    tile.notes.extend(bound.into_iter().chain(ended));
    tile.notes.splice(0..0, named);
    Tile {
        word: Some(words::limit(verdict)),
        change: limit,
        link: Some("searches"),
        is_alarming: verdict == LimitVerdict::Failed,
        ..tile
    }
}

/// The longest write outage after faults.
fn outage(page: &Page<'_>) -> Option<Tile> {
    let rows = page.model.configurations.iter().enumerate();
    let outages = rows.filter_map(|(at, row)| Some((at, row.figures.value(Metric::OutageMax)?)));
    let (configuration, longest) = outages.max_by(|one, other| one.1.total_cmp(&other.1))?;
    let note = names::configuration(page.model, configuration, page.lang);
    let value = figures::digits(longest);
    let title = tiles::OUTAGE.text(page.lang);
    Some(Tile { unit: "s", notes: vec![note], link: Some("faults"), ..Tile::new(title, value) })
}

fn failures(page: &Page<'_>) -> Option<Tile> {
    let (failed, started) = page.model.failures()?;
    let percent = figures::percent(100.0 * failed as f64 / started.max(1) as f64);
    let share = fill!(tiles::SHARE, page.lang, percent, begun = figures::count(started));
    let title = tiles::FAILED.text(page.lang);
    let error = crate::notes::main_error(page.model).filter(|_| failed > 0);
    let error = error.map(|message| fill!(tiles::MOSTLY, page.lang, message));
    Some(Tile {
        is_alarming: failed > 0,
        link: error.is_some().then_some("errors"),
        notes: [share].into_iter().chain(error).collect(),
        ..Tile::new(title, figures::count(failed))
    })
}

/// Lost commits, or the verdict of audits that count none.
fn lost(page: &Page<'_>) -> Tile {
    let Some(Losses { verdict, lost, lost_max, committed }) = page.model.losses() else {
        let verdicts = page.model.audits.iter().map(|audit| audit.verdict);
        let verdict = verdicts.max().unwrap_or(AuditVerdict::NotChecked);
        return Tile {
            link: (verdict != AuditVerdict::NotChecked).then_some("audit"),
            is_alarming: verdict == AuditVerdict::Violated,
            ..Tile::new(headings::AUDIT.text(page.lang), words::audit(verdict).text(page.lang))
        };
    };
    let title = tiles::LOST.text(page.lang);
    let [low, high] = [lost, lost_max].map(figures::count);
    let value = match low == high {
        true => low,
        false => fill!(names::FROM_TO, page.lang, low, high),
    };
    Tile {
        word: Some(words::audit(verdict)),
        notes: vec![fill!(tiles::ACKNOWLEDGED, page.lang, committed = figures::count(committed))],
        link: Some("audit"),
        is_alarming: verdict == AuditVerdict::Violated,
        ..Tile::new(title, value)
    }
}

/// A limit: its verdict over all configurations that it applies to, and the figure nearest to it or
/// farthest beyond.
fn limit(page: &Page<'_>, rows: &[&LimitRow]) -> Option<Tile> {
    let verdict = rows.iter().map(|row| row.verdict).max()?;
    let first = rows.first()?;
    let badness =
        |row: &LimitRow| row.figure.map(|it| if first.metric.is_floor() { -it } else { it });
    let of_verdict = rows.iter().filter(|row| row.verdict == verdict);
    let number = of_verdict.clone().count();
    let worst = of_verdict
        .filter_map(|row| Some((row, badness(row)?)))
        .reduce(|one, other| if other.1 > one.1 { other } else { one });
    let shown = |row: &LimitRow| {
        Some(figures::bounded(figures::of_limit(row.metric, row.figure?), row.is_bound))
    };
    let value = worst.and_then(|(row, _)| shown(row));
    let absent = headings::ABSENT.text(page.lang);
    let lower = worst.and_then(|(row, _)| row.lower_percentile);
    let lower = lower
        .map(|lower| fill!(tiles::LOWER_PERCENTILE, page.lang, lower, percentile = first.metric));
    let mut notes: Vec<String> = lower.into_iter().collect();
    if rows.len() > 1 {
        let of = rows.len();
        notes.push(fill!(tiles::IN_CONFIGURATIONS, page.lang, number, of));
        notes.extend(
            worst.map(|(row, _)| names::configuration(page.model, row.configuration, page.lang)),
        );
    }
    Some(Tile {
        word: Some(words::limit(verdict)),
        notes,
        link: Some("limits"),
        is_alarming: verdict == LimitVerdict::Failed,
        ..Tile::new(
            figures::limit_in(first.part.as_ref(), first.metric, first.value),
            value.unwrap_or_else(|| absent.to_owned()),
        )
    })
}

/// How many questions about the primary metric were decided.
fn questions(page: &Page<'_>) -> Option<Tile> {
    let verdicts = page.model.verdicts();
    let decided = verdicts.iter().filter(|verdict| verdict.is_decided()).count();
    let metric = names::metric(page.model.primary_metric, page.lang);
    let value = fill!(tiles::OF, page.lang, number = decided, of = verdicts.len());
    let tile = Tile::new(tiles::QUESTIONS.text(page.lang), value);
    (verdicts.len() > 1).then(|| Tile {
        notes: vec![metric.to_owned()],
        link: Some("comparisons"),
        ..tile
    })
}

/// How many trials are valid, and how many carry warnings.
fn trials(page: &Page<'_>) -> Tile {
    let model = page.model;
    let (number, of) = (model.completeness.valid, model.completeness.planned);
    let value = fill!(tiles::OF, page.lang, number, of);
    let warned = model.trials.iter().filter(|trial| trial.state == TrialState::Warned).count();
    Tile {
        notes: (warned > 0)
            .then(|| fill!(tiles::WITH_WARNINGS, page.lang, number = warned))
            .into_iter()
            .collect(),
        link: Some("validity"),
        is_alarming: number < of,
        ..Tile::new(tiles::TRIALS.text(page.lang), value)
    }
}
