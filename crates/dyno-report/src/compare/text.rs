//! A comparison for a terminal and as Markdown: warnings, figures, and the outcome as the last
//! line.

use super::{notes, tables};
use crate::markdown::Page;
use crate::messages::{Lang, compare, fill, names};
use crate::table::escaped;
use crate::text::Screen;
use crate::words::severity;
use dyno_analysis::compare::model::{CompareModel, CompareWarning};
use dyno_model::printable;

pub(super) fn text(model: &CompareModel, lang: Lang) -> String {
    let mut screen = Screen { text: String::new(), lang };
    screen.paragraph(&notes::title(model, lang));
    let sides = notes::sides(model, lang);
    let room = sides.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    for (name, line) in sides {
        screen.begun_with(&format!("{name:room$}  "), &line);
    }
    screen.list(compare::COMPARE_WARNINGS, warnings(model, lang));
    let overall = tables::overall(model, lang);
    if !overall.is_empty() {
        screen.heading(*tables::overall_heading(model));
        screen.items(answers(model, lang));
        screen.text.push('\n');
        screen.table(&overall);
    }
    screen.heading(compare::COMPARE_RESULTS);
    screen.table(&tables::results(model, lang));
    screen.text.push('\n');
    for sentence in notes::method(model, lang) {
        screen.paragraph(&sentence);
    }
    for (title, names) in notes::unmatched(model, lang) {
        screen.list(title, names);
    }
    // Not wrapped, so that the last line of the output is the whole sentence.
    screen.text.extend(["\n", &printable::line(&compare::outcome(model, lang)), "\n"]);
    screen.text
}

/// Answers with their verdicts.
fn answers(model: &CompareModel, lang: Lang) -> Vec<String> {
    let answers = notes::answers(model, lang).into_iter();
    answers
        .map(|(word, sentence)| {
            fill!(compare::COMPARE_ANSWER, lang, verdict = word.text(lang), sentence)
        })
        .collect()
}

/// Warnings with their severity.
fn warnings(model: &CompareModel, lang: Lang) -> Vec<String> {
    let sentence = |warning: &CompareWarning| {
        names::labelled(
            severity(warning.severity).text(lang),
            &compare::warning(&warning.kind, lang),
            lang,
        )
    };
    model.warnings.iter().map(sentence).collect()
}

/// Renders as GitHub Flavored Markdown, with the outcome first, because comments on a change are
/// read from the top.
pub(super) fn markdown(model: &CompareModel, lang: Lang) -> String {
    let mut page = Page::new(&notes::title(model, lang), compare::CONFIGURATION, lang);
    page.paragraph(&format!("**{}**", escaped(&compare::outcome(model, lang))));
    page.items(&notes::sides(model, lang).map(|(name, line)| names::labelled(name, &line, lang)));
    page.list(compare::COMPARE_WARNINGS, &warnings(model, lang));
    let overall = tables::overall(model, lang);
    if !overall.is_empty() {
        page.list(*tables::overall_heading(model), &answers(model, lang));
        page.table(&overall);
    }
    page.heading(compare::COMPARE_RESULTS);
    page.table(&tables::results(model, lang));
    for sentence in notes::method(model, lang) {
        page.paragraph(&escaped(&sentence));
    }
    for (title, names) in notes::unmatched(model, lang) {
        page.list(title, &names);
    }
    page.text
}
