//! Every form of a report in every language shows the stages of a load.

use super::*;
use crate::messages::LANGUAGES;
use dyno_model::plan::{LoadBy, Spacing, Stages};
use dyno_model::response::{BoundedLatency, ResponseSummary};
use dyno_model::stages::{Segment, Stage, StageRecord};
use dyno_model::units::Nanos;
use dyno_store::fixture::each_record;

const SECOND: u64 = 1_000_000_000;

/// One second of a low load and a ramp of two seconds in each trial.
fn staged(by: LoadBy) -> ReportModel {
    let mut data = tiny().read();
    let stage = |name: &str, length: u64, from: f64, to: f64| Stage {
        name: name.to_owned(),
        segments: vec![Segment { length: Nanos(length * SECOND), from, to }],
    };
    for configuration in &mut data.run.plan.configurations {
        configuration.load.spacing = Spacing::Even;
        configuration.load.stages = Some(Stages {
            by,
            stages: vec![stage("calm", 1, 2.0, 2.0), stage("storm", 2, 2.0, 9_000.0)],
        });
    }
    each_record(&mut data.run, |_, record| {
        let time = BoundedLatency { nanos: 3e6, is_bound: false };
        let response = |censored: u64| ResponseSummary {
            count: 2_000,
            censored,
            mean: time,
            p95: time,
            p99: time,
            ..ResponseSummary::default()
        };
        record.stages = vec![
            StageRecord { committed: 300, response: Some(response(0)) },
            StageRecord { committed: 1_400, response: Some(response(7)) },
        ];
    });
    analyse(&data)
}

#[test]
fn a_report_says_of_each_stage_what_was_offered_and_what_came_of_it() {
    let model = staged(LoadBy::Rate);
    let text = render(&model, Format::Text, EN);
    assert!(text.contains("Load stages\n"), "{text}");
    let cells = |name: &str| -> Vec<String> {
        let line = text
            .lines()
            .find(|line| line.split_whitespace().nth(1) == Some(name))
            .expect("its line");
        line.split_whitespace().skip(2).map(str::to_owned).collect()
    };
    let lost = (7 * model.configurations[0].trials_valid).to_string();
    assert_eq!(cells("calm"), ["1.00", "2.00", "300", "3.00", "3.00", "3.00", "0"]);
    assert_eq!(cells("storm"), ["2.00", "4,501", "700", "3.00", "3.00", "3.00", lost.as_str()]);

    let sheet = render(&model, Format::Csv, EN);
    for (figure, value) in
        [("throughput@storm,transactions-per-second", "700"), ("length@calm,seconds", "1")]
    {
        let lines = sheet.lines().filter(|line| {
            line.starts_with("stage,") && line.contains(&format!(",{figure},{value},"))
        });
        assert_eq!(lines.count(), model.configurations.len(), "{figure}: {sheet}");
    }
    let page = render(&model, Format::Html, EN);
    assert!(page.contains("id=\"stages\"") && page.contains("href=\"#stages\""));
    // In the main section and in each configuration's own, each in two widths.
    assert_eq!(strokes(&page, "stage"), 4 * model.timelines.len(), "the end of the first stage");
    assert_eq!(strokes(&page, "offered"), 4 * model.timelines.len());
    assert!(page.contains("the rate of each stage (evenly spaced)"));
}

#[test]
fn stages_of_clients_have_clients_at_work_and_no_line_of_what_arrived() {
    let model = staged(LoadBy::Clients);
    let text = render(&model, Format::Text, EN);
    assert!(text.contains("active clients") && !text.contains("offered tx/s"), "{text}");
    assert!(!text.contains("not committed"), "{text}");
    let page = render(&model, Format::Html, EN);
    assert!(page.contains("class=\"stage\"") && !page.contains("class=\"offered\""));
    assert!(!page.contains("arriving transactions per second"));
}

#[test]
fn every_language_and_form_has_the_part_on_stages() {
    let model = staged(LoadBy::Rate);
    for lang in LANGUAGES {
        let heading = crate::messages::headings::STAGES.text(lang);
        let note: String =
            crate::messages::notes::NOTE_STAGES.text(lang).chars().take(12).collect();
        for format in [Format::Text, Format::Markdown, Format::Html] {
            let report = render(&model, format, lang);
            assert!(report.contains(heading), "{}: {report}", lang.code);
            assert_eq!(report.contains(&note), format != Format::Text, "{}: {report}", lang.code);
        }
        assert!(crate::html::test_report(&model, lang).contains(heading));
    }
    let none = render(tiny_model(), Format::Html, EN);
    assert!(!none.contains("id=\"stages\"") && !none.contains("class=\"offered\""));
}
