//! A comparison for a terminal and as Markdown: doubts, figures, and as the last line what follows.

use super::{notes, tables};
use crate::messages::{Lang, Message, compare, names};
use crate::table::{escaped, wrapped};
use crate::words::{Word, severity};
use dyno_analysis::compare::model::{CompareModel, TreatmentName};
use dyno_model::printable;

/// Columns of the narrowest terminal that is laid out for.
const WIDTH: usize = 80;

/// Renders for a terminal.
pub(super) fn text(model: &CompareModel, lang: Lang) -> String {
    let mut text = wrapped(&notes::title(model, lang), "", WIDTH);
    let sides = notes::sides(model, lang);
    let room = sides.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    for (name, line) in sides {
        text.push_str(&wrapped(&line, &format!("{name:room$}  "), WIDTH));
    }
    if !model.findings.is_empty() {
        heading(&mut text, compare::COMPARE_DOUBTS, lang);
        for sentence in doubts(model, lang) {
            text.push_str(&wrapped(&sentence, "* ", WIDTH));
        }
    }
    let over_all = tables::over_all(model, lang);
    if !over_all.is_empty() {
        heading(&mut text, compare::COMPARE_OVER_ALL, lang);
        for (word, sentence) in notes::answers(model, lang) {
            text.push_str(&wrapped(&verdict_of(&word, &sentence, lang), "* ", WIDTH));
        }
        text.push('\n');
        text.push_str(&over_all.to_text(lang));
    }
    heading(&mut text, compare::COMPARE_RESULTS, lang);
    text.push_str(&tables::results(model, lang).to_text(lang));
    text.push('\n');
    for sentence in notes::method(model, lang) {
        text.push_str(&wrapped(&sentence, "", WIDTH));
    }
    for (title, names) in unmatched(model) {
        heading(&mut text, title, lang);
        for name in names {
            text.push_str(&wrapped(&names::line_at(&name.label, name.clients, lang), "* ", WIDTH));
        }
    }
    text.push('\n');
    // One line, however long, so that the last line of the output is the whole sentence.
    text.push_str(&printable::line(&compare::outcome(model, lang)));
    text.push('\n');
    text
}

fn heading(text: &mut String, title: Message, lang: Lang) {
    text.push('\n');
    text.push_str(title.text(lang));
    text.push('\n');
}

/// An answer with its verdict.
fn verdict_of(word: &Word, sentence: &str, lang: Lang) -> String {
    compare::COMPARE_ANSWER.fill(lang, &[("verdict", word.text(lang)), ("sentence", sentence)])
}

/// Doubts with their severity.
pub(super) fn doubts(model: &CompareModel, lang: Lang) -> Vec<String> {
    let sentence = |finding: &dyno_analysis::compare::model::CompareFinding| {
        names::labelled(severity(finding.severity).text(lang), &compare::doubt(&finding.doubt, lang), lang)
    };
    model.findings.iter().map(sentence).collect()
}

/// Treatments of one side only, under their headings.
pub(super) fn unmatched(model: &CompareModel) -> Vec<(Message, &[TreatmentName])> {
    let both = [(compare::ONLY_BASE, &model.only_base[..]), (compare::ONLY_NEW, &model.only_new[..])];
    both.into_iter().filter(|(_, names)| !names.is_empty()).collect()
}

/// Renders as Markdown (GitHub's dialect), the outcome first: a comment on a change is read from its top.
pub(super) fn markdown(model: &CompareModel, lang: Lang) -> String {
    let mut page = format!("# {}\n", escaped(&notes::title(model, lang)));
    page.push_str(&format!("\n**{}**\n\n", escaped(&compare::outcome(model, lang))));
    for (name, line) in notes::sides(model, lang) {
        page.push_str(&format!("- {}\n", escaped(&names::labelled(name, &line, lang))));
    }
    let list = |title: Message, items: &mut dyn Iterator<Item = String>| {
        let items: String = items.map(|item| format!("- {}\n", escaped(&item))).collect();
        if items.is_empty() { String::new() } else { format!("\n## {}\n\n{items}", title.text(lang)) }
    };
    page.push_str(&list(compare::COMPARE_DOUBTS, &mut doubts(model, lang).into_iter()));
    let over_all = tables::over_all(model, lang);
    if !over_all.is_empty() {
        let answers = notes::answers(model, lang);
        let mut answers = answers.iter().map(|(word, sentence)| verdict_of(word, sentence, lang));
        page.push_str(&list(compare::COMPARE_OVER_ALL, &mut answers));
        page.push_str(&format!("\n{}", over_all.to_markdown(compare::COMPARE_OVER_ALL.text(lang), lang)));
    }
    page.push_str(&format!("\n## {}\n\n", compare::COMPARE_RESULTS.text(lang)));
    let treatment = compare::TREATMENT.text(lang);
    page.push_str(&tables::results(model, lang).to_markdown(treatment, lang));
    for sentence in notes::method(model, lang) {
        page.push_str(&format!("\n{}\n", escaped(&sentence)));
    }
    for (title, names) in unmatched(model) {
        let mut names = names.iter().map(|name| names::line_at(&name.label, name.clients, lang));
        page.push_str(&list(title, &mut names));
    }
    page
}
