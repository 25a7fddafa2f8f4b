//! The setup of the experiment: machine, systems, settings, load, spec; and how to read the
//! figures.

use super::page::Page;
use crate::cell::Cell;
use crate::facts;
use crate::figures;
use crate::messages::names::labelled;
use crate::messages::{Message, fill, headings, names, notes, page};
use crate::notes::{Loops, with_values};
use crate::table::Table;
use crate::table_builder::TableBuilder;
use crate::{tables, topology};
use dyno_analysis::model::{SystemRow, SystemStarts, WorkloadRow};
use dyno_model::plan::{LoadPlan, StopRule};
use dyno_model::units::Nanos;
use maud::{Markup, PreEscaped, html};

/// Run, machine, systems, workload, published figures, spec.
pub(super) fn section(page: &Page<'_>) -> Markup {
    let provenance = &page.model.provenance;
    html! {
        section #setting {
            h2 { (page.text(&headings::PROVENANCE)) }
            (pairs(page, &facts::run(page.model, page.lang)))
            h3 { (page.text(&headings::ENVIRONMENT)) }
            (pairs(page, &facts::machine(page.model, page.lang)))
            @if !page.model.topologies.is_empty() {
                h3 { (page.text(&headings::TOPOLOGY)) }
                (topology(page))
            }
            @if !provenance.systems.is_empty() {
                h3 { (page.text(&headings::SYSTEMS)) }
                (page.table(systems(page)))
            }
            @for system in &provenance.systems { (settings(page, system)) }
            h3 { (page.text(&page::PAGE_WORKLOAD)) }
            (workloads(page, &provenance.workloads))
            @for load in &provenance.loads { (load_table(page, load)) }
            (published(page))
            @if !provenance.spec.is_empty() {
                details { summary { (page.text(&headings::SPEC)) } pre { (provenance.spec) } }
            }
        }
    }
}

/// The network topology.
pub(super) fn topology(page: &Page<'_>) -> Markup {
    html! {
        @for chart in topology::charts(page.model, page.lang) {
            figure.topology { div.scroll { (PreEscaped(chart.inline())) } }
        }
    }
}

/// A table of names and values; rows without a value are omitted.
pub(super) fn pairs(page: &Page<'_>, rows: &[(&Message, String)]) -> Markup {
    let rows = rows.iter().filter(|(_, value)| !value.is_empty());
    table(rows.map(|(name, value)| (page.text(name), value.as_str())))
}

fn table<'a>(rows: impl IntoIterator<Item = (&'a str, &'a str)>) -> Markup {
    html! {
        table.kv { tbody { @for (name, value) in rows { tr { th scope="row" { (name) } td { (value) } } } } }
    }
}

/// Number of server starts, and their duration.
fn starts(page: &Page<'_>, starts: Option<&SystemStarts>) -> String {
    let Some(starts) = starts else { return page.text(&headings::ABSENT).to_owned() };
    let number = starts.all.len();
    let [mean, max] = [starts.mean_s, starts.max_s].map(figures::digits);
    match starts.restoring_mean_s.map(figures::digits) {
        None if number == 1 => fill!(page::PAGE_STARTS_ONE, page.lang, mean),
        None => fill!(page::PAGE_STARTS_OF, page.lang, number, mean, max),
        Some(copied) => fill!(page::PAGE_STARTS_COPIED, page.lang, number, mean, max, copied),
    }
}

fn systems(page: &Page<'_>) -> Table {
    let origin = |system: &SystemRow| match system.is_managed {
        true => page.text(&page::PAGE_MANAGED).to_owned(),
        false => system.address.clone(),
    };
    TableBuilder::of(&page.model.provenance.systems)
        .left(&headings::SYSTEM, |system| Cell::text(&system.name))
        .left(&headings::KIND, |system| Cell::text(&system.kind))
        .left(&headings::VERSION, |system| Cell::text(names::version(&system.version, page.lang)))
        .left(&page::PAGE_QUERY_MODE, |system| Cell::text(&system.query_mode))
        .left(&headings::PLACE, |system| Cell::text(origin(system)))
        .left(&page::PAGE_STARTS, |system| Cell::text(starts(page, system.starts.as_ref())))
        .table()
}

/// Requested settings next to the values that the server reported; the list of all reported ones is
/// collapsed.
fn settings(page: &Page<'_>, system: &SystemRow) -> Markup {
    let number = system.settings_read.len();
    let others = fill!(page::PAGE_SETTINGS_OF, page.lang, system = system.name, number);
    html! {
        @if !system.requested_settings.is_empty() {
            table.kv {
                thead { tr {
                    th.l scope="col" { (labelled(&system.name, page.text(&headings::SETTING), page.lang)) }
                    th.l scope="col" { (page.text(&page::PAGE_ASKED)) }
                    th.l scope="col" { (page.text(&page::PAGE_READ_BACK)) }
                } }
                tbody { @for (name, requested) in &system.requested_settings { tr {
                    th scope="row" { (name) }
                    td { (requested) }
                    td { @match names::setting_read(system, name, page.lang) {
                        Some(read) => (read),
                        None => (page.text(&headings::ABSENT)),
                    } }
                } } }
            }
        }
        @if !system.settings_read.is_empty() {
            details {
                summary { (others) }
                (settings_read(page, system))
            }
        }
    }
}

/// All settings that a server reported.
fn settings_read(page: &Page<'_>, system: &SystemRow) -> Markup {
    let shown = |name| names::setting_read(system, name, page.lang).unwrap_or_default();
    let read: Vec<_> = system.settings_read.keys().map(|name| (name, shown(name))).collect();
    table(read.iter().map(|(name, value)| (name.as_str(), value.as_str())))
}

/// One table for all workloads, so that their options are aligned.
fn workloads(page: &Page<'_>, workloads: &[WorkloadRow]) -> Markup {
    let row = |workload: &WorkloadRow| {
        let options: Vec<String> = with_values(&workload.options)
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        (crate::notes::named(workload, page.lang), options.join(page.lang.comma))
    };
    let rows: Vec<(String, String)> = workloads.iter().map(row).collect();
    table(rows.iter().map(|(name, options)| (name.as_str(), options.as_str())))
}

fn load_table(page: &Page<'_>, load: &LoadPlan) -> Markup {
    let exact = |time: Nanos| names::exact(time.into(), page.lang);
    let stop = match load.stop {
        StopRule::Transactions(number) => {
            fill!(page::PAGE_STOP_TRANSACTIONS, page.lang, transactions = figures::count(number))
        }
        StopRule::TransactionsPerClient(number) => {
            fill!(page::PAGE_STOP_PER_CLIENT, page.lang, transactions = figures::count(number))
        }
        StopRule::Rows(target) => {
            fill!(page::PAGE_STOP_ROWS, page.lang, rows = figures::count(target))
        }
        StopRule::Duration(time) => {
            fill!(page::PAGE_STOP_DURATION, page.lang, duration = exact(time))
        }
    };
    let rate = match crate::notes::offered(load, page.lang) {
        Some((rate, spacing)) => format!("{rate} ({spacing})"),
        None => page.text(&page::PAGE_CLOSED_LOOP).to_owned(),
    };
    let automatic = || page.text(&page::PAGE_WORKERS_AUTOMATIC).to_owned();
    pairs(
        page,
        &[
            (&page::PAGE_STOP, stop),
            (&page::PAGE_RATE, rate),
            (&page::PAGE_DATABASES, load.databases.names_or_number().unwrap_or_default()),
            (&page::PAGE_THINK, load.think.map_or_else(String::new, exact)),
            (&page::PAGE_STATEMENT_TIMEOUT, load.statement_timeout.map_or_else(String::new, exact)),
            (&page::PAGE_WARMUP, exact(load.warmup)),
            (&page::PAGE_GRACE, exact(load.grace)),
            (&page::PAGE_TIME_LIMIT, exact(load.time_limit)),
            (&page::PAGE_ATTEMPTS, load.attempts_max.to_string()),
            (
                &page::PAGE_GENERATORS,
                load.generators.map_or_else(String::new, |number| number.to_string()),
            ),
            (
                &page::PAGE_WORKERS,
                load.workers.map_or_else(automatic, |workers| workers.to_string()),
            ),
        ],
    )
}

fn published(page: &Page<'_>) -> Markup {
    let all = &page.model.published;
    if all.is_empty() {
        return html! {};
    }
    let has_approximate = all.iter().any(|series| series.is_approximate);
    html! {
        h3 { (page.text(&headings::PUBLISHED)) }
        (page.all_rows(tables::published(page.model, page.lang), None))
        @for source in crate::notes::sources(page.model, page.lang) { p.note { (source) } }
        @if has_approximate { p.note { (page.text(&notes::NOTE_APPROXIMATE)) } }
    }
}

/// How to read the figures, and their limitations.
pub(super) fn method(page: &Page<'_>) -> Markup {
    let rules = &page.model.comparison_rules;
    let (margin, alpha) =
        (figures::limit(rules.margin * 100.0), figures::limit(rules.alpha * 100.0));
    let blocks = page.model.provenance.blocks;
    let loops = Loops::of(page.model);
    let is_shared = page.model.configurations.iter().any(|row| row.shares_machine);
    let is_audited = !page.model.audits.is_empty();
    html! {
        section #method {
            h2 { (page.text(&headings::METHOD)) }
            h3 { (page.text(&page::PAGE_METHOD_SHOWN)) }
            p { (page.text(&page::PAGE_METHOD_BLOCKS)) }
            @if loops.any_closed { p { (page.text(&page::PAGE_METHOD_LOAD)) } }
            @if loops.any_open { p { (page.text(&page::PAGE_METHOD_LOAD_OPEN)) } }
            p { (page.text(&page::PAGE_METHOD_HISTOGRAMS)) }
            @if rules.verdicts_enabled && !page.model.comparisons.is_empty() {
                p { (fill!(page::PAGE_METHOD_VERDICTS, page.lang, margin, alpha)) }
            }
            @if is_audited { p { (page.text(&page::PAGE_METHOD_AUDIT)) } }
            p { (page.text(&page::PAGE_METHOD_VALIDITY)) }
            h3 { (page.text(&page::PAGE_METHOD_NOT_SHOWN)) }
            ul {
                li { (page.text(&page::PAGE_LIMIT_MACHINE)) }
                @if loops.any_closed { li { (page.text(&page::PAGE_LIMIT_CLOSED)) } }
                @if is_shared { li { (page.text(&page::PAGE_LIMIT_SHARED)) } }
                li { (page.text(&page::PAGE_LIMIT_SHORT)) }
                li { (fill!(page::PAGE_LIMIT_BLOCKS, page.lang, blocks)) }
                @if is_audited { li { (page.text(&page::PAGE_LIMIT_AUDIT)) } }
            }
        }
    }
}
