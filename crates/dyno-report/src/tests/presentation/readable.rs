//! Readability problems of real reports: tables wider than a terminal, tables without values,
//! repeated statements.

use crate::messages::{LANGUAGES, conclusion, names, notes, page};
use crate::tests::growth::at;
use crate::tests::*;
use dyno_analysis::model::{Conclusion, Range};
use dyno_model::units::Nanos;
use dyno_model::version::ServerVersion;
use dyno_store::TrialOutcome;
use dyno_store::fixture::grown_run;

#[test]
fn no_table_of_a_text_report_is_wider_than_a_terminal() {
    let models = [tiny_model().clone(), rush().clone(), analyse(&grown_run(3)), faults::harmed()];
    for lang in LANGUAGES {
        for model in &models {
            for line in render(model, Format::Text, lang).lines() {
                assert!(line.width() <= 80, "{}, {}: {line}", lang.code, line.width());
            }
        }
    }
}

#[test]
fn workloads_that_differ_in_their_options_are_named_once() {
    let mut model = tiny_model().clone();
    let other = model.provenance.workloads[0].clone();
    let kind = other.kind.clone();
    model.provenance.workloads.push(other);
    assert_eq!(crate::notes::load(&model, EN).matches(&kind).count(), 1);
}

/// The model, in which no two sides have a value in the same block.
fn without_ratios() -> ReportModel {
    let mut model = analyse(&Shape { blocks: 1, ..tiny() }.read());
    for comparison in &mut model.comparisons {
        comparison.effect.ratio = None;
        assert!(comparison.effect.verdict.is_none(), "one block gives no verdict");
    }
    model
}

#[test]
fn comparisons_without_a_ratio_have_no_row_but_a_sentence() {
    let model = analyse(&Shape { blocks: 1, ..tiny() }.read());
    let mut one_less = model.clone();
    one_less.comparisons[0].effect.ratio = None;
    let rows = |model: &ReportModel| crate::tables::comparisons(model, EN).rows();
    assert_eq!(
        (rows(&one_less), rows(&model)),
        (model.comparisons.len() - 1, model.comparisons.len())
    );
    for lang in LANGUAGES {
        for format in [Format::Html, Format::Markdown] {
            let report = render(&without_ratios(), format, lang);
            assert!(report.contains(page::PAGE_NO_RATIOS.text(lang)), "{format:?}");
            let (_, after) = report.split_once("<section id=\"comparisons\"").unwrap_or_default();
            let (comparisons, _) = after.split_once("</section>").unwrap_or_default();
            assert!(!comparisons.contains("<table") && !report.contains(": MariaDB |"));
        }
    }
    assert!(!render(&model, Format::Html, EN).contains(page::PAGE_NO_RATIOS.text(EN)));
}

#[test]
fn a_caption_speaks_of_intervals_where_there_are_some() {
    let one = render(&analyse(&Shape { blocks: 1, ..tiny() }.read()), Format::Html, EN);
    assert!(
        one.contains("Markers are ratios of one block") && !one.contains("bars their intervals")
    );
    let more = render(tiny_model(), Format::Html, EN);
    assert!(
        more.contains("bars their intervals") && !more.contains("Markers are ratios of one block")
    );
}

#[test]
fn names_of_pairs_stand_once_over_their_rows() {
    let html = render(tiny_model(), Format::Html, EN);
    let from = html.find("<section id=\"comparisons\"").expect("the section");
    let section = &html[from..from + html[from..].find("</section>").expect("its end")];
    let table =
        &section[section.find("<table class=\"sortable short stacked\"").expect("the table")..];
    assert_eq!(table.matches("MySQL against MariaDB").count(), 1, "{table}");
    assert!(table.contains("style=\"--t0:'metric';--t1:'clients';--t2:'n';"), "{table}");
}

#[test]
fn a_load_without_warm_up_is_reported_as_such() {
    let mut model = tiny_model().clone();
    for lang in LANGUAGES {
        let warm_up = match lang.code {
            "ko" => "1.5초",
            "ja" => "1.5秒",
            _ => "1.5 s",
        };
        for (warmup, reported) in [(0, notes::NOTE_NO_WARM_UP.text(lang)), (1_500_000_000, warm_up)]
        {
            model.provenance.loads.iter_mut().for_each(|load| load.warmup = Nanos(warmup));
            let report = render(&model, Format::Markdown, lang);
            assert!(
                report.contains(reported) && !report.contains(" 0 s"),
                "{}: {report}",
                lang.code
            );
        }
    }
}

#[test]
fn systems_whose_names_have_commas_are_parted_by_semicolons() {
    let mut model = tiny_model().clone();
    assert!(render(&model, Format::Text, EN).contains("Systems: MariaDB 11.8.2 and MySQL 9.7.0."));
    "MariaDB, killed".clone_into(&mut model.provenance.systems[0].name);
    let text = render(&model, Format::Text, EN);
    assert!(text.contains("Systems: MariaDB, killed (MariaDB 11.8.2); MySQL 9.7.0."), "{text}");
}

#[test]
fn a_replicas_version_is_reported_in_the_language() {
    let replicated = |replicas, is_synchronous| {
        let version = "15.18".to_owned();
        ServerVersion::Replicated { version, replicas, is_synchronous }
    };
    let (version, nodes, data_nodes) = ("9.7.4-2".to_owned(), 1, 2);
    for (version, korean) in [
        (replicated(1, true), "15.18, 동기 레플리카 1개"),
        (replicated(2, false), "15.18, 비동기 레플리카 2개"),
        (ServerVersion::Cluster { version, nodes, data_nodes }, "1 × 9.7.4-2, 데이터 노드 2개"),
    ] {
        assert_eq!(names::version(&version, LANGUAGES[2]), korean);
        assert_eq!(names::version(&version, EN), version.to_string());
    }
}

#[test]
fn the_version_of_a_cluster_names_product_and_library() {
    let (version, library) = ("10.11.14-MariaDB-0+deb12u2".to_owned(), "Galera 26.4.23".to_owned());
    let version = ServerVersion::Peers { version, nodes: 3, library };
    let named = |lang| names::system("shop", "MariaDB", &version, lang);
    assert_eq!(named(EN), "shop (3 × MariaDB 10.11.14, Galera 26.4.23)");
    assert_eq!(named(LANGUAGES[2]), "shop(3 × MariaDB 10.11.14, Galera 26.4.23)");
}

#[test]
fn growth_in_a_single_interval_states_its_figure_once() {
    let model = analyse(&grown_run(3));
    let reported = |slowest, fastest, last, lang| {
        let steps = Conclusion::GrowthSteps { configuration: 0, fastest, slowest, last };
        conclusion::sentence(&model, &steps, lang)
    };
    for lang in LANGUAGES {
        let sentence = reported(at(980.0, 0), at(980.0, 0), at(980.0, 0), lang);
        assert_eq!(sentence.matches("980").count(), 1, "{sentence}");
    }
    let held = reported(at(980.0, 0), at(1_000.0, 18_000), at(1_000.0, 18_000), EN);
    assert_eq!(
        held,
        "MariaDB kept its rate: 980 rows per second from 0 to 2,000 rows, 1,000 from 18,000 to 20,000 rows."
    );
}

#[test]
fn configurations_with_losses_are_listed_if_the_table_is_folded() {
    let mut model = analyse(&Shape { clients: vec![20], blocks: 1, ..Shape::rush() }.read());
    let is_lost = |model: &ReportModel| crate::tables::losses(model).rows();
    let lost = is_lost(&model);
    assert!(lost > 0 && lost < model.configurations.len(), "{lost}");
    let heading = page::PAGE_AUDIT_LOST.text(EN);
    assert!(!render(&model, Format::Html, EN).contains(heading), "the table of all is short");
    // Enough additional configurations without losses to make the list long.
    let intact =
        model.audits.iter().find(|audit| audit.commits.as_ref().is_some_and(|it| it.lost == 0));
    let intact = model.configurations[intact.expect("one").configuration].clone();
    let audit =
        model.audits.iter().find(|audit| audit.commits.as_ref().is_some_and(|it| it.lost == 0));
    let audit = audit.expect("one").clone();
    for _ in 0..25 {
        model.audits.push(dyno_analysis::model::AuditRow {
            configuration: model.configurations.len(),
            ..audit.clone()
        });
        model.configurations.push(intact.clone());
    }
    let html = render(&model, Format::Html, EN);
    let after = &html[html.find(heading).expect("the heading")..];
    let table = &after[..after.find("</table>").expect("the table")];
    assert_eq!(table.matches("scope=\"row\"").count(), lost, "{table}");
    assert_eq!(is_lost(&model), lost);
}

#[test]
fn every_form_tells_the_questions_that_are_decided_first() {
    let shape = Shape {
        variants: vec!["read-modify-write", "in-place"],
        clients: vec![4, 64],
        ..Shape::small()
    };
    let mut data = shape.read();
    for (at, trial) in data.run.plan.trials.iter().enumerate() {
        let Some(TrialOutcome::Finished(record)) = data.run.outcomes.get_mut(&trial.id) else {
            continue;
        };
        let configuration = &data.run.plan.configurations[trial.configuration];
        let variant = if configuration.levels[0] == "in-place" { 0.8 } else { 1.0 };
        // Which system is better depends on the block.
        let system =
            if configuration.system == 0 { 1.0 } else { [1.5, 0.7, 1.1][trial.block as usize % 3] };
        record.weighted_commits =
            Some(1_000.0 * variant * system * (1.0 + 0.002 * (at % 3) as f64));
    }
    let model = analyse(&data);
    for (format, from) in [
        (Format::Html, "<section id=\"conclusions\""),
        (Format::Markdown, "## Conclusions"),
        (Format::Text, "\nConclusions"),
    ] {
        let report = render(&model, format, EN).replace("\u{a0}", " ");
        let (_, said) = report.split_once(from).unwrap_or_else(|| panic!("{report}"));
        let (decided, open) = (said.find("lower throughput"), said.find("Undecided whether"));
        // The page lists open questions only in its table.
        assert!(
            decided.is_some() && open.is_none_or(|open| decided < Some(open)),
            "{format:?}: {said}"
        );
        assert_eq!(open.is_some(), format != Format::Html, "{format:?}: {said}");
    }
}

#[test]
fn an_interval_beyond_sense_is_reported_alike_in_tables_and_charts() {
    let mut model = tiny_model().clone();
    for comparison in &mut model.comparisons {
        comparison.effect.ratio_interval = Some(Range { low: 1e-6, high: 8.6e9 });
    }
    let html = render(&model, Format::Html, EN);
    let charts = html.matches("(&lt; 0.01 – &gt; 100)").count();
    assert!(charts > 0 && !html.contains("&amp;lt;"), "a chart escapes for itself");
    assert!(html.contains(">&lt; 0.01 – &gt; 100<"), "{html}");
    let text = crate::tables::comparisons(&model, EN).to_text(EN);
    assert!(text.contains("< 0.01 .. > 100"), "{text}");
}

#[test]
fn pairs_are_what_is_asked_where_each_question_has_one() {
    let model = analyse(&Shape { clients: vec![8], ..Shape::small() }.read());
    assert!(model.questions.is_empty() && !model.comparisons.is_empty());
    let pairs = model.comparisons.iter().filter(|it| it.metric == model.primary_metric);
    let reported = format!(" of {} question", pairs.count());
    let html = render(&model, Format::Html, EN);
    assert!(html.contains(&reported), "{reported}: {html}");
}
