//! Tests of the whole page, with synthetic reports of many shapes.

use super::{SCRIPT, render, sample, stand_alone_charts};
use crate::figures;
use crate::messages::{EN, LANGUAGES};
use dyno_analysis::model::{
    Conclusion, ConfigurationRow, Estimate, Metric, TrialState, Verdict, WarningRow,
};
use dyno_model::plan::{Compare, ComparisonMetric};
use dyno_model::warning::{Severity, Warning};

fn keep(name: &str, page: &str) {
    if let Some(folder) = std::env::var_os("DYNO_SAMPLE_REPORTS") {
        let name = if name.contains('.') { name.to_owned() } else { format!("{name}.html") };
        let path = std::path::Path::new(&folder).join(name);
        std::fs::write(path, page).unwrap();
    }
}

#[test]
fn pages_of_every_shape_are_whole() {
    for (name, model) in sample::all() {
        let page = render(&model, EN);
        keep(name, &page);
        assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\">"), "{name}");
        assert!(page.ends_with("</html>"), "{name}");
        for section in [
            "conclusions",
            "results",
            "comparisons",
            "audit",
            "validity",
            "details",
            "setting",
            "method",
        ] {
            let is_empty = match section {
                "comparisons" => model.comparisons.is_empty(),
                "audit" => model.audits.is_empty(),
                _ => false,
            };
            let is_there = page.contains(&format!("<section id=\"{section}\">"));
            assert_eq!(is_there, !is_empty, "{name}: {section}");
            assert!(
                !(page.contains(&format!("href=\"#{section}\"")) && is_empty),
                "{name}: {section}"
            );
        }
    }
}

/// The `svg` elements of a page.
fn charts(page: &str) -> Vec<&str> {
    let mut charts = Vec::new();
    let mut rest = page;
    while let Some(from) = rest.find("<svg") {
        let to = rest[from..].find("</svg>").expect("every svg is closed") + from + "</svg>".len();
        charts.push(&rest[from..to]);
        rest = &rest[to..];
    }
    charts
}

#[test]
fn charts_are_well_formed_xml_with_title_and_description() {
    for (name, model) in sample::all() {
        let page = render(&model, EN);
        for chart in charts(&page) {
            let document = roxmltree::Document::parse(chart)
                .unwrap_or_else(|e| panic!("{name}: {e}\n{chart}"));
            let root = document.root_element();
            assert_eq!(root.attribute("role"), Some("img"), "{name}");
            let labels: Vec<&str> = root.attribute("aria-labelledby").unwrap().split(' ').collect();
            for (element, label) in ["title", "desc"].into_iter().zip(labels) {
                let child = root.children().find(|child| child.has_tag_name(element)).unwrap();
                assert_eq!(child.attribute("id"), Some(label), "{name}");
                assert!(!child.text().unwrap_or_default().is_empty(), "{name}: empty {element}");
            }
        }
    }
}

#[test]
fn ids_are_unique_and_links_lead_somewhere() {
    for (name, model) in sample::all() {
        let page = render(&model, EN);
        let mut ids: Vec<&str> = attributes(&page, " id=\"").collect();
        let links: Vec<&str> = attributes(&page, " href=\"").collect();
        for link in &links {
            let target = link.strip_prefix('#').expect("links stay in the page");
            assert!(ids.contains(&target), "{name}: {link}");
        }
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count, "{name}");
    }
}

fn attributes<'a>(page: &'a str, opening: &'a str) -> impl Iterator<Item = &'a str> {
    page.split(opening).skip(1).map(|rest| &rest[..rest.find('"').expect("attributes are closed")])
}

#[test]
fn percent_signs_stay_with_figures_and_specs_are_unchanged() {
    let mut model = sample::rush();
    model.provenance.spec = "limit = \"5 %\"".to_owned();
    for lang in LANGUAGES {
        let page = render(&model, lang);
        assert!(page.contains(&format!("<script>{SCRIPT}</script>")), "the script is verbatim");
        let page = page.replace(SCRIPT, "");
        let apart: Vec<&str> = page.lines().filter(|line| line.contains(" %")).collect();
        assert!(page.contains("\u{a0}%") && page.matches(" %").count() == 1, "{apart:?}");
        assert!(page.contains("5 %&quot;</pre>"), "{apart:?}");
    }
}

#[test]
fn nothing_is_fetched_from_anywhere() {
    for (name, model) in sample::all() {
        let page = render(&model, EN);
        for word in [
            "http:",
            "https:",
            "url(",
            "@import",
            " src=",
            "<link",
            "<img",
            "fetch(",
            "XMLHttpRequest",
        ] {
            assert!(!page.contains(word), "{name} contains {word}");
        }
    }
}

#[test]
fn names_cannot_become_markup() {
    let (_, model) = sample::all().into_iter().find(|(name, _)| *name == "long-names").unwrap();
    let page = render(&model, EN);
    assert!(!page.contains("<script>alert") && !page.contains("<b>PostgreSQL"));
    assert!(
        page.contains("<title>&lt;script&gt;alert(&quot;title&quot;)&lt;/script&gt; &amp; a title")
    );
    assert!(page.contains("&lt;b&gt;PostgreSQL&lt;/b&gt; &amp; スレッド"));
}

#[test]
fn every_line_is_in_every_chart_over_clients() {
    for (name, model, variants) in
        [("rush", sample::rush(), 1), ("variants", sample::variants(), 4)]
    {
        let systems: Vec<&str> =
            model.provenance.systems.iter().map(|system| system.name.as_str()).collect();
        let all = stand_alone_charts(&model, EN);
        for id in ["lost-updates", "throughput", "response-time"] {
            let (_, chart) =
                all.iter().find(|(other, _)| other == id).unwrap_or_else(|| panic!("{name}: {id}"));
            let document = roxmltree::Document::parse(chart).unwrap();
            // Three of four variants lose updates.
            let panels = match id {
                "response-time" => 3 * variants,
                "lost-updates" => variants.min(3),
                _ => variants,
            };
            let published = if id == "throughput" { model.published.len() } else { 0 };
            let drawn =
                document.descendants().filter(|node| node.attribute("class") == Some("panel"));
            assert_eq!(drawn.clone().count(), panels, "{name}: {id}");
            for panel in drawn {
                let lines = panel.children().filter(|group| {
                    group.children().any(|child| child.attribute("class") == Some("curve"))
                });
                assert_eq!(lines.count(), systems.len() + published, "{name}: {id}");
            }
            for system in &systems {
                assert!(
                    document.descendants().any(|node| node.text() == Some(*system)),
                    "{name}: {id}: {system}"
                );
            }
        }
    }
}

#[test]
fn a_panel_of_one_dot_is_left_out_and_its_line_is_named() {
    let mut model = sample::variants();
    let facets = super::facets::Facets::of(&model);
    let lone = &facets.all[1].members;
    for series in model.panels.iter_mut().flat_map(|panel| &mut panel.series) {
        if let Some(at) = lone.iter().position(|member| member.series == series.series) {
            series.points.truncate(usize::from(at == 0));
        }
    }
    let label = &model.series[lone[0].series].label;
    let others = lone[1..].iter().map(|member| &model.series[member.series].label);
    let all = stand_alone_charts(&model, EN);
    let (_, chart) = all.iter().find(|(id, _)| id == "throughput").unwrap();
    assert_eq!(chart.matches("class=\"panel\"").count(), facets.all.len() - 1);
    let page = render(&model, EN).replace("<span class=\"w\">", "").replace("</span>", "");
    assert!(page.contains(&format!("{label} not drawn")), "{label}");
    for other in others {
        assert!(!page.contains(&format!("{other} not drawn")), "{other}");
    }
}

#[test]
fn a_key_tells_only_of_marks_that_are_in_the_chart() {
    let mut model = sample::quickstart();
    let (crosses, percentiles) =
        ("Crosses are invalid trials", "Percentiles in this chart are geometric means");
    for series in model.panels.iter_mut().flat_map(|panel| &mut panel.series) {
        for dot in series.points.iter_mut().flat_map(|point| &mut point.repeats) {
            dot.is_valid = true;
        }
    }
    assert!(!render(&model, EN).contains(crosses) && render(&model, EN).contains(percentiles));
    model.panels[0].series[0].points[0].repeats[0].is_valid = false;
    model.panels.retain(|panel| {
        matches!(panel.metric, ComparisonMetric::Throughput | ComparisonMetric::MeanMs)
    });
    assert!(render(&model, EN).contains(crosses) && !render(&model, EN).contains(percentiles));
}

#[test]
fn a_forest_has_no_row_that_says_nothing() {
    let mut model = sample::variants();
    let before = render(&model, EN).matches(">—</text>").count();
    for comparison in model.comparisons.iter_mut().step_by(3) {
        comparison.effect.ratio = None;
        comparison.effect.verdict = None;
    }
    assert_eq!(render(&model, EN).matches(">—</text>").count(), before);
}

#[test]
fn the_compared_factor_makes_curves_and_the_rest_makes_panels() {
    let mut model = sample::variants();
    model.compare = Some(Compare::Factor(0));
    let all = stand_alone_charts(&model, EN);
    let (_, chart) = all.iter().find(|(id, _)| id == "throughput").unwrap();
    let document = roxmltree::Document::parse(chart).unwrap();
    let panels = document.descendants().filter(|node| node.attribute("class") == Some("panel"));
    assert_eq!(panels.count(), 3);
    let texts: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
    for name in model.series.iter().flat_map(|line| [&line.system_name, &line.levels[0]]) {
        assert!(
            texts.contains(&name.as_str()),
            "{name} is a panel's title or a curve's name: {texts:?}"
        );
    }
}

#[test]
fn every_repeat_is_a_dot_and_every_unusable_one_a_cross() {
    let model = sample::failures();
    let (_, chart) =
        stand_alone_charts(&model, EN).into_iter().find(|(id, _)| id == "throughput").unwrap();
    let document = roxmltree::Document::parse(&chart).unwrap();
    let strokes = |class: &str| -> usize {
        let paths = document.descendants().filter(|node| node.attribute("class") == Some(class));
        paths.filter_map(|path| path.attribute("d")).map(|d| d.matches('M').count()).sum()
    };
    let panel = model.panel(ComparisonMetric::Throughput).unwrap();
    let repeats =
        || panel.series.iter().flat_map(|line| &line.points).flat_map(|point| &point.repeats);
    assert_eq!(strokes("dot"), repeats().filter(|dot| dot.is_valid).count());
    assert_eq!(strokes("cross"), 2 * repeats().filter(|dot| !dot.is_valid).count());
    assert!(strokes("cross") > 0, "the sample has invalid trials");
}

#[test]
fn charts_that_stand_alone_are_whole_files() {
    for (id, chart) in stand_alone_charts(&sample::rush(), EN) {
        keep(&format!("{id}.svg"), &chart);
        let document = roxmltree::Document::parse(&chart).unwrap();
        let root = document.root_element();
        let has = |element: &str| root.children().any(|child| child.has_tag_name(element));
        assert!(has("style") && has("title") && has("rect"), "{id}");
        let size =
            ["width", "height"].map(|name| root.attribute(name).unwrap().parse::<f64>().unwrap());
        assert!(size[0] > 700.0 && size[1] > 120.0, "{id}: {size:?}");
    }
}

#[test]
fn published_figures_of_another_size_get_an_axis_of_their_own() {
    let panels = |factor: f64| {
        let all = stand_alone_charts(&sample::published(factor), EN);
        let (_, chart) = all.into_iter().find(|(id, _)| id == "throughput").unwrap();
        chart.matches("class=\"panel\"").count()
    };
    assert_eq!(panels(0.5), 1);
    assert_eq!(panels(0.02), 2);
    assert_eq!(panels(50.0), 2);
}

#[test]
fn losses_stand_beside_throughput_at_the_same_size() {
    let model = sample::rush();
    let page = render(&model, EN);
    let at = page.find("<figure id=\"lost-updates\">").unwrap();
    let throughput = page.find("<figure id=\"throughput\">").unwrap();
    assert!(at < throughput, "losses come first");
    let lost = |row: &ConfigurationRow| row.figures.value(Metric::LostPercent);
    let most = model.configurations.iter().filter_map(lost).fold(0.0, f64::max);
    let reported = format!("<span class=\"alarm\">{} lost</span>", figures::percent(most))
        .replace(" %", "\u{a0}%");
    assert!(
        most > 5.0 && page.contains("table class=\"kept") && page.contains(&reported),
        "{reported}"
    );
    assert!(page.contains("Includes acknowledged updates that were lost"));
    let intact = render(&sample::quickstart(), EN);
    assert!(!intact.contains("<figure id=\"lost-updates\">"), "a chart of zeros is left out");
    assert!(!intact.contains("table class=\"kept"), "and so is a table of them");
}

/// The page up to the first table.
fn first_screen(page: &str) -> &str {
    page.split_once("<nav").expect("links follow the first screen").0
}

/// The sentences of the first screen that are not collapsed.
fn sentences(page: &str) -> Vec<&str> {
    let (_, said) = first_screen(page).split_once("<div class=\"said\">").expect("the sentences");
    let (shown, _) = said.split_once("</ul>").expect("a list");
    shown.split("<li>").skip(1).collect()
}

#[test]
fn first_screen_has_tiles_a_chart_and_up_to_three_sentences() {
    for (name, model) in sample::all() {
        let page = render(&model, EN);
        let top = first_screen(&page);
        let position = |what: &str| top.find(what).unwrap_or_else(|| panic!("{name} lacks {what}"));
        assert!(position("<ul class=\"tiles\"") < position("<div class=\"said\">"), "{name}");
        // A report without a figure has no chart.
        if let Some(chart) = top.find("<figure") {
            assert!(
                position("<ul class=\"tiles\"") < chart && chart < position("<div class=\"said\">"),
                "{name}"
            );
        }
        assert!(!top.contains("<dl class=\"facts\">"), "{name}");
        let said = sentences(&page);
        assert!(said.len() <= 3, "{name}: {said:?}");
        let title = top
            .split_once("<figcaption>")
            .map_or("", |(_, rest)| rest.split_once("</figcaption>").unwrap().0);
        let title = title.replace("<strong>", "").replace("</strong>", "");
        for (at, sentence) in said.iter().enumerate() {
            assert!(
                title.is_empty() || !sentence.contains(&title),
                "{name}: the chart says it too: {title}"
            );
            assert!(!said[..at].contains(sentence), "{name}: {sentence}");
        }
    }
    let rush = render(&sample::rush(), EN);
    for tile in [
        "Throughput",
        "Response time (p99)",
        "Failed transactions",
        "Lost commits",
        "Questions decided",
        "Valid trials",
    ] {
        assert!(first_screen(&rush).contains(tile), "{tile}");
    }
    assert!(
        first_screen(&rush).contains("of its acknowledged updates")
            && !sentences(&rush).concat().contains("reached its highest mean")
    );
    let (_, validity) = rush.split_once("<section id=\"validity\">").unwrap();
    for fact in [
        "Confidence",
        "Evidence",
        "valid trials of 36 planned",
        "Further measurements",
        "have warnings or are invalid",
    ] {
        assert!(validity.contains(fact), "{fact}");
    }
}

#[test]
fn a_chart_title_states_the_answer_only_if_there_is_exactly_one() {
    // A model in which this many of the questions about throughput are answered.
    let answered = |number: usize| {
        let mut model = sample::rush();
        let of_throughput =
            model.questions.iter_mut().filter(|it| it.metric == ComparisonMetric::Throughput);
        for (index, question) in of_throughput.enumerate() {
            question.effect.verdict =
                Some(if index < number { Verdict::Worse } else { Verdict::Inconclusive });
        }
        model
    };
    let title = |model: &dyno_analysis::model::ReportModel, id: &str, lang| {
        let charts = stand_alone_charts(model, lang);
        let (_, chart) =
            charts.into_iter().find(|(other, _)| other == id).unwrap_or_else(|| panic!("no {id}"));
        let (_, title) =
            chart.split_once("<title").and_then(|(_, rest)| rest.split_once('>')).unwrap();
        title.split_once("</title>").unwrap().0.to_owned()
    };
    for lang in LANGUAGES {
        let model = answered(1);
        let said = title(&model, "questions-throughput", lang);
        let first =
            model.questions.iter().find(|it| it.metric == ComparisonMetric::Throughput).unwrap();
        assert!(said.contains(&first.subject) && said.contains('%'), "{said}");
        let open = title(&answered(0), "questions-throughput", lang);
        assert_ne!(open, said);
        assert_eq!(
            title(&answered(2), "questions-throughput", lang),
            open,
            "two answers are not one"
        );
        assert_ne!(title(&model, "throughput", lang), said, "it stands above already");
        // A single question has no separate chart.
        let mut alone = answered(1);
        alone
            .questions
            .retain(|it| it.metric != ComparisonMetric::Throughput || it.subject == first.subject);
        alone.conclusions.retain(|it| !matches!(it, Conclusion::Question { .. }));
        let at = alone
            .questions
            .iter()
            .position(|it| it.metric == ComparisonMetric::Throughput)
            .unwrap();
        alone.conclusions.insert(0, Conclusion::Question { question: at });
        assert_eq!(title(&alone, "throughput", lang), said);
    }
}

/// The rush run, with a stall of two seconds in one trial.
fn with_a_stall() -> dyno_analysis::model::ReportModel {
    let mut model = sample::rush();
    let warning = Warning::Stall { longest_gap: 2.0, at: 1.0, sessions: Vec::new() };
    let (id, configuration) = (model.trials[0].id.clone(), model.trials[0].configuration);
    model.trials[0].warnings.push(warning.clone());
    let (trials, configurations) = (vec![id], vec![configuration]);
    model.warnings.push(WarningRow { severity: Severity::Note, warning, trials, configurations });
    model
}

#[test]
fn a_stall_is_listed_among_warnings_and_ringed_in_charts() {
    let page = render(&with_a_stall(), EN);
    assert!(page.contains("No transaction committed for up to 2.00\u{a0}s"), "{page}");
    for id in ["throughput", "run-order"] {
        let rings = |model| {
            let charts = stand_alone_charts(&model, EN);
            let (_, chart) = charts.into_iter().find(|(other, _)| other == id).unwrap();
            chart.matches("class=\"ring\"").count()
        };
        assert_eq!((rings(with_a_stall()), rings(sample::rush())), (1, 0), "{id}");
    }
}

#[test]
fn a_single_configuration_shows_its_timeline_and_no_chart_of_one_dot() {
    let charts: Vec<String> =
        stand_alone_charts(&sample::alone(), EN).into_iter().map(|(id, _)| id).collect();
    assert_eq!(charts, ["t0s", "t0h", "percentiles-1"]);
}

#[test]
fn a_run_without_valid_trials_is_not_said_to_have_intervals() {
    let mut model = sample::alone();
    for (valid, sentence, other) in [
        (1, "Nothing was compared", "No trial is valid"),
        (0, "No trial is valid", "Nothing was compared"),
    ] {
        model.completeness.valid = valid;
        let page = render(&model, EN);
        assert!(page.contains(sentence) && !page.contains(other), "{valid}");
        assert_eq!(page.contains("Remove the causes"), valid == 0);
    }
}

#[test]
fn the_timeline_of_an_unusable_trial_is_marked() {
    let mut model = sample::alone();
    for (state, title) in [
        (TrialState::Warned, "block 1"),
        (TrialState::Invalid, "block 1, invalid"),
        (TrialState::Failed, "block 1, failed"),
    ] {
        model.trials[0].state = state;
        let (_, chart) = stand_alone_charts(&model, EN).swap_remove(0);
        assert!(chart.contains(&format!(">{title}<")), "{title}: {chart}");
    }
}

#[test]
fn intervals_are_drawn_from_four_values_on() {
    let bars = |blocks: u32| {
        let mut model = sample::quickstart();
        for point in
            model.panels.iter_mut().flat_map(|it| &mut it.series).flat_map(|it| &mut it.points)
        {
            point.estimate = point.estimate.map(|it| Estimate { repeats: blocks, ..it });
        }
        let charts = stand_alone_charts(&model, EN);
        charts
            .iter()
            .find(|(id, _)| id == "throughput")
            .unwrap()
            .1
            .matches("<path class=\"bar\"")
            .count()
    };
    assert_eq!(bars(3), 0);
    assert!(bars(4) > 0);
}

#[test]
fn report_of_108_configurations_stays_well_below_two_megabytes() {
    let model = sample::hundred();
    assert_eq!(model.configurations.len(), 108);
    let page = render(&model, EN);
    keep("hundred", &page);
    assert!(page.len() < 1_650_000, "{} bytes", page.len());
    assert!(!page.contains("<details open"), "what is folded is left out on paper");
}

#[test]
fn columns_of_tables_match_their_heads() {
    for (name, model) in sample::all() {
        let page = render(&model, EN);
        for table in
            page.split("<table").skip(1).map(|rest| &rest[..rest.find("</table>").unwrap()])
        {
            let Some((_, rest)) = table.split_once("<thead>") else { continue };
            let (head, body) = rest.split_once("<tbody>").unwrap();
            let columns = head.matches("<th").count();
            let last = columns - 1;
            let titled = super::page::PAGE_STYLE.contains(&format!("var(--t{last})"));
            assert!(
                !table.contains("stacked") || titled && table.contains(&format!("--t{last}:")),
                "{name}: {head}"
            );
            for row in body.split("<tr").skip(1) {
                let spanned: usize =
                    attributes(row, " colspan=\"").map(|n| n.parse::<usize>().unwrap() - 1).sum();
                let cells = row.matches("<td").count() + row.matches("<th").count() + spanned;
                assert_eq!(cells, columns, "{name}: {head}\n{row}");
            }
        }
    }
}

#[test]
fn a_chart_of_losses_has_no_panel_of_one_dot() {
    let chart = |model: &dyno_analysis::model::ReportModel| {
        let charts = stand_alone_charts(model, EN);
        charts.into_iter().find(|(id, _)| id == "lost-updates").map(|(_, chart)| chart)
    };
    let mut model = sample::variants();
    assert!(
        chart(&model).unwrap().contains("variant = optimistic"),
        "it loses in these invented runs"
    );
    // For the last variant, only the worst trial was audited.
    let is_of = |label: &str| label.contains("optimistic");
    let series: Vec<usize> =
        (0..model.series.len()).filter(|at| is_of(&model.series[*at].label)).collect();
    let loses = |it: &dyno_analysis::model::AuditRow| it.has_lost_commits();
    let of_series = |it: usize| series.contains(&model.configurations[it].series);
    let kept = model
        .audits
        .iter()
        .find(|it| of_series(it.configuration) && loses(it))
        .unwrap()
        .configuration;
    let audits = model.audits.clone();
    let wanted = |it: &dyno_analysis::model::AuditRow| {
        !of_series(it.configuration) || it.configuration == kept
    };
    let audits: Vec<_> = audits.into_iter().filter(|it| wanted(it)).collect();
    let label = model.series[model.configurations[kept].series].label.clone();
    model.audits = audits;
    assert!(!chart(&model).unwrap().contains("variant = optimistic"), "{label}");
    let page = render(&model, EN);
    assert!(page.contains("variant = optimistic not drawn, because a single dot shows nothing"));
    // A single dot is replaced by the sentence above it.
    model.audits.retain(|it| it.configuration == kept);
    assert_eq!(chart(&model), None);
}
