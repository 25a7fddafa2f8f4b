//! A comparison for GitHub Actions: annotations for the log of a job, and a short summary for the
//! file that `GITHUB_STEP_SUMMARY` names.

use super::{notes, tables};
use crate::cell::Cell;
use crate::figures;
use crate::messages::{Lang, compare, fill, headings, names};
use crate::table::escaped;
use crate::table_builder::TableBuilder;
use dyno_analysis::compare::model::{CompareModel, ConfigurationPair, MetricPair};
use dyno_analysis::model::Verdict;
use dyno_model::printable;

/// GitHub shows at most ten errors per step; the first is the outcome.
const WORSE_MAX: usize = 9;

/// Maximum number of slower kinds of statements that are reported as warnings; GitHub shows at most
/// ten of these, too.
const SLOWER_MAX: usize = 9;

/// The workflow commands: the outcome, one for each comparison that is worse, the largest first,
/// and one for each kind of statement that became slower.
#[must_use]
pub fn annotations(model: &CompareModel, lang: Lang) -> String {
    let command = match model.outcome.verdict {
        _ if model.outcome.worse + model.outcome.worse_over_all + model.outcome.not_working > 0 => {
            "error"
        }
        Verdict::Better | Verdict::Equivalent => "notice",
        _ => "warning",
    };
    let mut worse: Vec<(&ConfigurationPair, &MetricPair)> =
        model.comparisons().filter(|(_, metric)| metric.verdict == Verdict::Worse).collect();
    let size = |metric: &MetricPair| metric.ratio.map_or(0.0, |ratio| ratio.ln().abs());
    worse.sort_by(|(_, one), (_, other)| size(other).total_cmp(&size(one)));
    let title = notes::title(model, lang);
    let first = annotation(command, &title, &compare::outcome(model, lang));
    let each = worse.into_iter().take(WORSE_MAX).map(|(configuration, metric)| {
        let (configuration, name) =
            (compare::pair(configuration, lang), names::metric(metric.metric, lang));
        let ratio =
            metric.ratio.map_or_else(String::new, |it| figures::bounded_ratio(it, metric.bound));
        let worse = fill!(compare::ANNOTATION_WORSE, lang, configuration, metric = name, ratio);
        annotation("error", &title, &worse)
    });
    let slower = model.statements.iter().filter(|it| it.effect.verdict == Some(Verdict::Worse));
    let slower = slower.take(SLOWER_MAX).map(|it| {
        let sentence = compare::answer(model, it, lang);
        annotation("warning", &title, &fill!(compare::ANNOTATION_SLOWER, lang, sentence))
    });
    [first].into_iter().chain(each).chain(slower).collect()
}

/// A workflow command; special characters are escaped as in GitHub's toolkit.
fn annotation(command: &str, title: &str, message: &str) -> String {
    let data = |text: &str| printable::line(text).replace('%', "%25");
    let title = data(title).replace(':', "%3A").replace(',', "%2C");
    format!("::{command} title={title}::{}\n", data(message))
}

/// The outcome, the answers over all configurations, and a table of the configurations that are not
/// equivalent, as Markdown.
#[must_use]
pub fn summary(model: &CompareModel, lang: Lang) -> String {
    let mut page = format!("### {}\n", escaped(&notes::title(model, lang)));
    page.push_str(&format!("\n{}\n", escaped(&compare::outcome(model, lang))));
    let overall = tables::overall(model, lang);
    if !overall.is_empty() {
        page.push_str(&format!(
            "\n{}",
            overall.to_markdown(tables::overall_heading(model).text(lang), lang)
        ));
    }
    let shown = model.comparisons().filter(|(_, it)| it.verdict != Verdict::Equivalent);
    let table = TableBuilder::of(shown)
        .left(&compare::CONFIGURATION, |(configuration, _)| {
            Cell::text(compare::pair(configuration, lang))
        })
        .left(&headings::METRIC, |(_, it)| Cell::text(names::metric(it.metric, lang)))
        .right(&headings::RATIO, |(_, it)| Cell::ratio(it.ratio, it.bound))
        .right(&headings::RATIO_INTERVAL, |(_, it)| tables::interval(it.ratio_interval, lang))
        .left(&headings::VERDICT, |(_, it)| tables::verdict_cell(it))
        .table();
    if !table.is_empty() {
        page.push_str(&format!("\n{}", table.to_markdown(compare::CONFIGURATION.text(lang), lang)));
    }
    page
}
