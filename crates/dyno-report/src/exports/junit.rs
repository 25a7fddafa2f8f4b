//! JUnit XML, which CI servers show as tests. Suites are `configurations`, `limits`, `searches`,
//! `questions` and `comparisons`. A failed limit, a search in which every load fails and a verdict
//! `worse` are failures; a configuration without valid results, an undecided limit or search and a
//! verdict `invalid` are errors; an inconclusive verdict is a skipped test.

use crate::contents::tables::is_informative;
use crate::figures;
use crate::messages::{EN, conclusion, names, question};
use crate::words;
use dyno_analysis::model::{
    Comparison, ComparisonOf, Conclusion, Effect, LimitRow, LimitVerdict, ReportModel, Validity,
    Verdict,
};
use dyno_model::printable;
use maud::{Markup, html};

/// The result of a test case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    Error,
    Skipped,
}

struct Case {
    name: String,
    outcome: Outcome,
    /// The state or verdict as a word.
    kind: &'static str,
    message: String,
}

pub(super) fn render(model: &ReportModel) -> String {
    let suites = [
        ("configurations", configurations(model)),
        ("limits", model.limits.iter().map(|row| limit(model, row)).collect()),
        ("searches", (0..model.searches.len()).map(|row| search(model, row)).collect()),
        ("questions", questions(model)),
        ("comparisons", comparisons(model)),
    ];
    let all = || suites.iter().flat_map(|(_, cases)| cases);
    let markup = html! {
        testsuites name=(safe(&model.title)) tests=(all().count())
            failures=(number(all(), Outcome::Failed)) errors=(number(all(), Outcome::Error)) {
            @for (name, cases) in suites.iter().filter(|(_, cases)| !cases.is_empty()) {
                (suite(model, name, cases))
            }
        }
    };
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", markup.into_string())
}

fn suite(model: &ReportModel, name: &str, cases: &[Case]) -> Markup {
    let provenance = &model.provenance;
    // Readers expect a time without fraction and zone.
    let started = provenance.started_at.get(..19).unwrap_or_default();
    html! {
        testsuite name=(name) tests=(cases.len()) failures=(number(cases, Outcome::Failed))
            errors=(number(cases, Outcome::Error)) skipped=(number(cases, Outcome::Skipped))
            timestamp=(started) package=(safe(&provenance.experiment)) {
            @for case in cases {
                testcase name=(safe(&case.name))
                    classname=(format!("{}.{name}", safe(&provenance.experiment))) {
                    @match case.outcome {
                        Outcome::Passed => {}
                        Outcome::Failed => {
                            failure type=(case.kind) message=(safe(&case.message)) {}
                        }
                        Outcome::Error => {
                            error type=(case.kind) message=(safe(&case.message)) {}
                        }
                        Outcome::Skipped => { skipped message=(safe(&case.message)) {} }
                    }
                }
            }
        }
    }
}

/// A text without the control characters that XML forbids; maud escapes the others.
fn safe(text: &str) -> String {
    printable::line(text).replace(['\u{fffe}', '\u{ffff}'], "")
}

fn number<'a>(cases: impl IntoIterator<Item = &'a Case>, outcome: Outcome) -> usize {
    cases.into_iter().filter(|case| case.outcome == outcome).count()
}

fn configurations(model: &ReportModel) -> Vec<Case> {
    let case = |(index, row): (usize, &dyno_analysis::model::ConfigurationRow)| {
        let kind = words::validity(row.validity).text(EN);
        let because = row.not_working.map(|it| format!("; {}", names::because(it.because, EN)));
        Case {
            name: names::configuration(model, index, EN),
            outcome: match row.validity {
                Validity::Valid | Validity::Warned => Outcome::Passed,
                Validity::Invalid | Validity::Missing => Outcome::Error,
            },
            kind,
            message: format!(
                "{kind}: {} of {} trials are valid{}",
                row.trials_valid,
                row.trials_planned,
                because.unwrap_or_default()
            ),
        }
    };
    model.configurations.iter().enumerate().map(case).collect()
}

fn limit(model: &ReportModel, row: &LimitRow) -> Case {
    let kind = words::limit(row.verdict).text(EN);
    let value = |value: f64| figures::of_limit(row.metric, value);
    let figure = figures::limited(row).unwrap_or_else(|| "no value".to_owned());
    let interval = row.interval.map(|it| format!(" ({} .. {})", value(it.low), value(it.high)));
    let configuration = names::configuration(model, row.configuration, EN);
    let limit = figures::limit_in(row.part.as_ref(), row.metric, row.value);
    Case {
        name: format!("{configuration}: {limit}"),
        outcome: match row.verdict {
            LimitVerdict::Passed => Outcome::Passed,
            LimitVerdict::Undecided => Outcome::Error,
            LimitVerdict::Failed => Outcome::Failed,
        },
        kind,
        message: format!("{kind}: {figure}{}", interval.unwrap_or_default()),
    }
}

fn search(model: &ReportModel, row: usize) -> Case {
    let its = &model.searches[row];
    let (outcome, kind) = match its.verdict() {
        LimitVerdict::Passed => (Outcome::Passed, "found"),
        LimitVerdict::Failed => (Outcome::Failed, "failed"),
        LimitVerdict::Undecided => (Outcome::Error, "undecided"),
    };
    let configuration = names::configuration(model, its.configuration, EN);
    Case {
        name: format!("{configuration}: {}", names::metric(its.metric(), EN)),
        outcome,
        kind,
        message: conclusion::sentence(model, &Conclusion::Found { row }, EN),
    }
}

fn questions(model: &ReportModel) -> Vec<Case> {
    let case = |it: &dyno_analysis::model::Question| {
        let metric = names::metric(it.metric, EN);
        let message = question::answer(model, it, EN).join(" ");
        let name = format!("{}{} : {}, {metric}", factor(model, &it.of), it.subject, it.baseline);
        judged(name, &it.effect, message)
    };
    model.questions.iter().map(case).collect()
}

fn comparisons(model: &ReportModel) -> Vec<Case> {
    let case = |it: &Comparison| {
        let [subject, baseline] = [it.subject, it.baseline].map(|at| &model.series_of(at).label);
        let clients = names::clients(&[it.clients], EN);
        let metric = names::metric(it.metric, EN);
        let ratio = it.effect.ratio.map(|it_is| figures::bounded_ratio(it_is, it.effect.bound));
        let interval = it.effect.ratio_interval.map(figures::ends).map(|ends| ends.join(" .. "));
        let message = format!(
            "{}: ratio {} ({})",
            words::verdict(it.effect.verdict).text(EN),
            ratio.as_deref().unwrap_or("unknown"),
            interval.as_deref().unwrap_or("no interval")
        );
        let name = format!("{}{subject} : {baseline}, {clients}, {metric}", factor(model, &it.of));
        judged(name, &it.effect, message)
    };
    model.comparisons.iter().filter(|it| is_informative(it)).map(case).collect()
}

/// The factor of a comparison as a prefix, so that names are unique.
fn factor(model: &ReportModel, of: &ComparisonOf) -> String {
    match of {
        ComparisonOf::System => String::new(),
        ComparisonOf::Level { factor } => format!("{}: ", model.factors[*factor]),
    }
}

fn judged(name: String, effect: &Effect, message: String) -> Case {
    let outcome = match effect.verdict {
        Some(Verdict::Better | Verdict::Equivalent) => Outcome::Passed,
        Some(Verdict::Worse) => Outcome::Failed,
        Some(Verdict::Invalid) => Outcome::Error,
        Some(Verdict::Inconclusive) | None => Outcome::Skipped,
    };
    Case { name, outcome, kind: words::verdict(effect.verdict).text(EN), message }
}
