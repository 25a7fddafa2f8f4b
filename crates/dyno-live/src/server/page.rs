//! The HTML of the pages. Figures and names are filled in by the script, as text and never as
//! markup.

use dyno_report::{Lang, LiveLabel, live_label};
use maud::{DOCTYPE, Markup, html};

/// The script of the page of a run.
pub(super) const RUN_SCRIPT: &str = include_str!("../assets/live.js");
/// The style of all pages.
pub(super) const STYLE: &str = include_str!("../assets/live.css");

/// A page with a title.
pub(super) fn document(lang: Lang, title: &str, script: Option<&str>, body: &Markup) -> String {
    let whole = html! {
        (DOCTYPE)
        html lang=(lang.code) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                link rel="stylesheet" href="/live.css";
                @if let Some(script) = script { script src=(script) defer {} }
            }
            body { main { (body) } }
        }
    };
    whole.into_string()
}

/// The page of a run.
pub(super) fn run(lang: Lang) -> String {
    let text = |label| live_label(label, lang);
    let chart = |id: &str, label| {
        html! { figure { figcaption { (text(label)) ": " b id=(format!("{id}-last")) { "-" } }
        svg id=(id) viewBox="0 0 600 120" preserveAspectRatio="none" role="img" {} } }
    };
    let body = html! {
        h1 id="title" { "dyno" }
        p id="progress" role="status" {}
        progress id="share" max="1" value="0" {}
        p id="time" {}
        p id="disconnected" hidden { (text(LiveLabel::Disconnected)) }
        p id="ended" hidden { (text(LiveLabel::Ended)) }
        p id="past" hidden { b id="past-name" {} " " button id="current" { (text(LiveLabel::CurrentTrial)) } }
        div.charts { (chart("throughput", LiveLabel::Throughput)) (chart("p99", LiveLabel::P99)) }
        dl {
            dt { (text(LiveLabel::GeneratorCpu)) } dd id="generator" { "-" }
            dt { (text(LiveLabel::ServerCpu)) } dd id="server" { "-" }
            dt { (text(LiveLabel::Queue)) } dd id="queue" { "-" }
            dt { (text(LiveLabel::Errors)) } dd id="errors" data-none=(text(LiveLabel::None)) { "-" }
        }
        h2 { (text(LiveLabel::Warnings)) " (" span id="warnings-total" { "0" } ")" }
        ul id="warnings" {}
        h2 { (text(LiveLabel::Trials)) }
        table {
            thead { tr {
                th { (text(LiveLabel::Trial)) } th {} th { (text(LiveLabel::Status)) }
                th { (text(LiveLabel::Throughput)) } th { (text(LiveLabel::P99)) }
            } }
            tbody id="trials" {}
        }
        h2 { (text(LiveLabel::Log)) }
        ul id="log" {}
    };
    document(lang, "dyno", Some("/live.js"), &body)
}
