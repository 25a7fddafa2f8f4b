//! Growing tables, from the results folder to every form of the report.

use crate::messages::{EN, conclusion};
use crate::{Format, render};
use dyno_analysis::analyse;
use dyno_analysis::model::{Conclusion, GrowthMoment};
use dyno_store::fixture::{ROWS_TARGET as TARGET, grown_run};

#[test]
fn the_sizes_from_which_on_the_other_is_ahead_are_reported_first() {
    let model = analyse(&grown_run(3));
    let Some(Conclusion::GrowthCrossing { before, after }) = model.conclusions.first() else {
        panic!("{:?}", model.conclusions);
    };
    assert_eq!((before.leader, after.leader), (0, 1));
    assert_eq!(after.rows_to, TARGET);
    assert!((TARGET / 2 - 100_000..=TARGET / 2 + 100_000).contains(&after.rows_from), "{after:?}");
    let html = render(&model, Format::Html, EN);
    let sentence = conclusion::sentences(&model, EN).swap_remove(0);
    let headline = html.find("<figcaption>").map(|at| &html[at..at + 400]).expect("a figure");
    assert!(headline.contains(&sentence), "{headline}");
    let figures: Vec<&str> =
        html.match_indices("<figure id=\"").map(|(at, _)| &html[at + 12..at + 24]).collect();
    assert!(figures[0].starts_with("growth\""), "{figures:?}");
    assert!(
        !figures.iter().any(|id| id.starts_with("throughput")),
        "a single point is no curve: {figures:?}"
    );
}

/// The rate during the growth by 2,000 rows from this number of rows.
pub(super) fn at(rows_per_second: f64, rows_from: u64) -> GrowthMoment {
    GrowthMoment {
        rows_from,
        rows_to: rows_from + 2_000,
        rows_per_second,
        cpu_percent: None,
        disk_busy_percent: None,
    }
}

#[test]
fn only_a_rate_that_was_never_lower_was_held() {
    let model = analyse(&grown_run(3));
    let reported = |slowest, fastest, last| {
        let steps = Conclusion::GrowthSteps { configuration: 0, fastest, slowest, last };
        conclusion::sentence(&model, &steps, EN)
    };
    let rose = reported(at(3_053.0, 0), at(82_552.0, 8_000), at(82_552.0, 18_000));
    assert_eq!(
        rose,
        "MariaDB sped up from 3,053 rows per second (0 to 2,000 rows) to 82,552 (18,000 to 20,000 rows)."
    );
    let held = reported(at(980.0, 6_000), at(1_000.0, 0), at(990.0, 18_000));
    assert!(held.starts_with("MariaDB kept its rate: 1,000 rows per second"), "{held}");
}

#[test]
fn the_table_over_rows_reads_like_this() {
    let model = analyse(&grown_run(3));
    let markdown = render(&model, Format::Markdown, EN);
    let from = markdown.find("## Growing table").expect("the section");
    let to = from + markdown[from..].find("## Comparisons\n").expect("the next section");
    let table: Vec<&str> =
        markdown[from..to].lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(table.len(), 2 + 2 * 10);
    assert_eq!(
        table[0],
        "| system | rows | n | rows/s | ±95 % | machine CPU | server CPU | read MB/s | written MB/s | disk busy | data MB |"
    );
    assert_eq!(
        table[2],
        "| MariaDB | 100,000 | 3 | 22,949 | 566 | 50.0 % | - | 1.00 | 3.00 | 100 % | 9.00 |"
    );
    let last = "| MariaDB | 1,000,000 | 3 | 5,100 | 126 | 50.0 % | - | 1.00 | 3.00 | 100 % | ";
    assert!(table[11].starts_with(last), "{}", table[11]);
    let text = render(&model, Format::Text, EN);
    assert!(text.contains("Growing table"), "{text}");
    let csv = render(&model, Format::Csv, EN);
    assert!(csv.contains("row-throughput@1000000,rows-per-second,"), "{csv}");
    let json = render(&model, Format::Json, EN);
    assert!(json.contains("\"milestones\""));
}
