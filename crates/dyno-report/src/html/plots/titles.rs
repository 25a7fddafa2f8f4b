//! Titles of charts that state the result.

use crate::html::page::Page;
use crate::messages::{conclusion, page};
use dyno_analysis::model::{Conclusion, Verdict};
use dyno_model::plan::ComparisonMetric;

/// The answer to the question about these metrics, as a sentence; `None` if there is no answer, or
/// more than one, because one of several would not describe the chart.
pub(in crate::html) fn answer(page: &Page<'_>, metrics: &[ComparisonMetric]) -> Option<String> {
    let mut answered = page.model.conclusions.iter().filter(|conclusion| {
        let Conclusion::Question { question } = conclusion else { return false };
        let question = &page.model.questions[*question];
        metrics.contains(&question.metric)
            && question.effect.verdict.is_some_and(Verdict::is_decided)
    });
    let (first, another) = (answered.next()?, answered.next());
    another.is_none().then(|| conclusion::parts(page.model, first, page.lang).0)
}

/// The answer, unless a chart above states it; otherwise the first real difference in throughput,
/// otherwise the highest peak.
pub(in crate::html) fn throughput(page: &Page<'_>, is_reported_above: bool) -> String {
    if let Some(answer) =
        answer(page, &[ComparisonMetric::Throughput]).filter(|_| !is_reported_above)
    {
        return answer;
    }
    let conclusions = &page.model.conclusions;
    let difference = conclusions.iter().find(|c| {
        let Conclusion::Comparison { metric, verdict, .. } = c else { return false };
        *metric == ComparisonMetric::Throughput && verdict.is_some_and(Verdict::differs)
    });
    let peaks = conclusions.iter().filter_map(|c| match c {
        Conclusion::PeakThroughput { throughput, .. } => Some((throughput.mean, c)),
        _ => None,
    });
    let highest = peaks.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, c)| c);
    // If there are questions, their configuration pairs are not separate answers.
    let difference = difference.filter(|_| page.model.questions.is_empty());
    difference.or(highest).map_or_else(
        || page.text(&page::CHART_TITLE_THROUGHPUT).to_owned(),
        |c| conclusion::sentence(page.model, c, page.lang),
    )
}
