//! The page has the figures of the table for other programs, and inserts names as text.

use super::history_page;
use crate::exports::series::series;
use crate::figures;
use crate::html::sample;
use crate::messages::{EN, names};
use dyno_analysis::model::{Metric, ReportModel};

/// The text of a cell, without the half-width of its interval.
fn text(cell: &str) -> String {
    let parts = cell.split('<').filter_map(|part| Some(part.split_once('>')?.1));
    let whole = parts.collect::<String>().replace('\u{a0}', " ");
    whole.split('±').next().unwrap_or_default().trim().to_owned()
}

/// The cells of the rows of the table after this text.
fn rows(page: &str, after: &str) -> Vec<Vec<String>> {
    let (_, rest) = page.split_once(after).unwrap_or_else(|| panic!("{after}"));
    let (table, _) = rest.split_once("</table>").expect("a table");
    let cells = |row: &str| {
        let cells = row.split("<t").filter(|cell| cell.starts_with(['d', 'h']));
        cells.map(|cell| text(&format!("<t{cell}"))).collect()
    };
    table.split("<tr>").skip(1).map(cells).collect()
}

#[test]
fn the_data_of_the_charts_are_those_of_the_table_for_programs() {
    let runs = sample::history();
    let page = history_page(&runs, EN);
    let all = series(&runs.iter().collect::<Vec<_>>());
    for configuration in 0..runs[0].configurations.len() {
        let name = names::configuration(&runs[0], configuration, EN);
        let of_name: Vec<_> = all.iter().filter(|it| it.configuration == name).collect();
        let title = format!("<b>{}</b>", name.replace('<', "&lt;").replace('>', "&gt;"));
        let rows = rows(&page, &title);
        assert_eq!(rows.len(), runs.len() + 1, "heads and a row per run: {rows:?}");
        for (run, row) in rows.iter().skip(1).enumerate() {
            let value = |value| figures::value(Metric::Throughput.unit(), value);
            let expected = of_name.iter().map(|series| {
                series.points[run].as_ref().map_or("-".to_owned(), |point| value(point.value))
            });
            assert_eq!(row[3..], expected.collect::<Vec<_>>(), "{name}: {row:?}");
            assert_eq!(row[0], format!("2026-11-0{} 08:30:00", run + 1));
        }
        assert_eq!(rows[4][2] == "invalid", configuration == 0, "{name}: {:?}", rows[4]);
    }
}

#[test]
fn an_axis_has_the_unit_of_its_metric_or_labels_with_units() {
    let page = history_page(&sample::history(), EN);
    assert!(page.contains(">tx/s</text>"), "{page}");
    // Labels of times say µs, ms or s.
    for title in ["mean ms", "p50 ms", "p95 ms", "p99 ms"] {
        assert!(!page.contains(&format!(">{title}</text>")), "{title}");
    }
}

#[test]
fn the_newest_run_is_compared_with_the_median_of_the_earlier_ones() {
    let runs = sample::history();
    let rows = rows(&history_page(&runs, EN), "<section id=\"newest\">");
    let of_throughput: Vec<_> = rows.iter().filter(|row| row[0] == "tx/s").collect();
    let [first, others @ ..] = &of_throughput[..] else { panic!("{rows:?}") };
    assert_eq!(first[3..], ["+25 %", "4"], "of the median of 90 %, 100 % and 110 %");
    assert!(others.iter().all(|row| row[3..] == ["+25 %", "5"]), "{others:?}");
}

#[test]
fn a_run_without_a_figure_interrupts_the_line_and_has_a_cross() {
    let runs = sample::history();
    let page = history_page(&runs, EN);
    let lines = |chart: &str, class: &str| {
        let (_, chart) = page.split_once(chart).expect("a chart");
        let (chart, _) = chart.split_once("</svg>").expect("its end");
        let path = chart.split_once(&format!("class=\"{class}\" d=\"")).map(|(_, path)| path);
        path.map_or(0, |path| path.split('"').next().map_or(0, |path| path.matches('M').count()))
    };
    let (first, second) =
        ("<figure id=\"series-1-throughput\">", "<figure id=\"series-2-throughput\">");
    assert_eq!(["curve", "cross"].map(|class| lines(first, class)), [2, 2]);
    assert_eq!(["curve", "cross"].map(|class| lines(second, class)), [1, 0]);
}

#[test]
fn names_of_runs_and_configurations_are_no_markup() {
    let page = history_page(&sample::history(), EN);
    assert_eq!(page.matches("<script").count(), 1, "its own");
    assert!(!page.contains("<img") && !page.contains("-<b>"), "{page}");
    assert!(page.contains("2026-11-05T00-00-00Z-&lt;b&gt;"), "{page}");
}

#[test]
fn runs_with_other_work_are_named_and_one_run_is_not_compared() {
    let mut runs = sample::history();
    assert!(!history_page(&runs, EN).contains("another workload or load"));
    runs[1].provenance.loads.clear();
    let sentence = "which may cause a step in a series: 2026-11-02T00-00-00Z-";
    assert!(history_page(&runs, EN).contains(sentence));
    let one: Vec<ReportModel> = runs.into_iter().take(1).collect();
    let page = history_page(&one, EN);
    assert!(
        page.contains("One run of ") && !page.contains("median of earlier runs</th>"),
        "{page}"
    );
    assert!(history_page(&[], EN).contains("No run has a valid figure."));
}
