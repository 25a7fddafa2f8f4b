//! Contents of charts: limits as lines, legends with their factors, no curve with a single point,
//! load steps by outcome, and processes that share the machine.

use crate::messages::{EN, LANGUAGES};
use crate::tests::{rush, tiny};
use crate::{Format, html, render, topology};
use dyno_analysis::analyse;
use dyno_analysis::model::{
    GeneratorHost, LimitRow, LimitVerdict, ReportModel, SearchRow, SearchStep, SystemVersion,
    Topology,
};
use dyno_model::limit::LimitMetric;
use dyno_model::plan::LoadBy;
use dyno_model::search::{LoadStep, Outcome, Search};
use dyno_store::fixture::Shape;

fn chart(model: &ReportModel, id: &str) -> Option<String> {
    html::stand_alone_charts(model, EN)
        .into_iter()
        .find(|(other, _)| other == id)
        .map(|(_, chart)| chart)
}

#[test]
fn a_limit_is_a_line_in_charts_of_what_it_is_about() {
    let mut model = rush().clone();
    let without = chart(&model, "response-time").expect("a chart");
    assert!(!without.contains("class=\"limit\""), "{without}");
    model.limits = vec![LimitRow {
        metric: LimitMetric::P99,
        value: 20.0,
        part: None,
        configuration: 0,
        figure: Some(10.0),
        is_bound: false,
        interval: None,
        repeats: 3,
        not_working: None,
        shortage: None,
        lower_percentile: None,
        trials_needed: None,
        is_untested: false,
        verdict: LimitVerdict::Passed,
    }];
    let with = chart(&model, "response-time").expect("a chart");
    assert_eq!(
        with.matches("class=\"limit\"").count(),
        2,
        "of three panels of both groups that of p99: {with}"
    );
    assert!(with.contains(">limit 20 ms<"), "{with}");
    assert!(!chart(&model, "throughput").expect("a chart").contains("class=\"limit\""));
}

#[test]
fn one_number_of_clients_makes_no_curve_over_clients() {
    let model = analyse(&Shape { clients: vec![8], systems: 2, ..tiny() }.read());
    for id in ["throughput", "response-time", "lost-updates"] {
        assert_eq!(chart(&model, id), None, "{id}");
    }
    let timelines = chart(&model, "timelines").expect("the time series of both");
    assert!(model.series.iter().all(|series| timelines.contains(&series.label)), "{timelines}");
    assert_eq!(chart(rush(), "timelines"), None);
}

#[test]
fn a_legend_names_the_factor_of_a_level_that_says_little_alone() {
    let mut model =
        analyse(&Shape { systems: 1, variants: vec!["in-place", "for-update"], ..tiny() }.read());
    model.factors.push("system.buffer_pool".to_owned());
    for (series, size) in model.series.iter_mut().zip(["64M", "128M"]) {
        series.levels.push(size.to_owned());
    }
    let chart = chart(&model, "throughput").expect("a chart");
    assert!(chart.contains(">in-place, buffer_pool 64M<"), "{chart}");
    assert!(chart.contains(">for-update, buffer_pool 128M<"), "{chart}");
}

/// A search with a step of each outcome, and one without a figure.
fn searched() -> ReportModel {
    let mut model = analyse(&Shape { clients: vec![8], systems: 1, ..tiny() }.read());
    let step = |load: f64, outcome: Outcome, figure: Option<f64>| SearchStep {
        trial: "b01-001".to_owned(),
        block: 1,
        step: LoadStep {
            load,
            seconds: 2.0,
            transactions: 2_000,
            figure,
            excess: None,
            is_bound: false,
            throughput: load,
            outcome,
            is_by_generator: false,
            other_processes_cpu: 0.0,
            steal: 0.0,
        },
    };
    let search = Search {
        most: LoadBy::Rate,
        metric: LimitMetric::P99,
        below: 20.0,
        transaction: None,
        from: None,
    };
    let steps = vec![
        step(100.0, Outcome::Passed, Some(5.0)),
        step(400.0, Outcome::Failed, Some(40.0)),
        step(200.0, Outcome::Generator, Some(19.0)),
        step(50.0, Outcome::Open, None),
    ];
    model.searches = vec![SearchRow { configuration: 0, search, steps, ended: Vec::new() }];
    model
}

#[test]
fn load_steps_are_drawn_by_their_outcome_and_none_is_left_out() {
    let mut model = searched();
    let drawn = chart(&model, "searches").expect("a chart");
    let marks = |chart: &str| {
        let ring = chart.matches("class=\"ring\"").count();
        (chart.matches("class=\"mark\"").count(), chart.matches("class=\"cross\"").count(), ring)
    };
    // One mark belongs to the label or the legend.
    assert_eq!(marks(&drawn), (2, 1, 2), "{drawn}");
    assert!(
        drawn.contains(">limit 20 ms<") && drawn.contains(">40 ms<"),
        "the axis has room for all: {drawn}"
    );
    for lang in LANGUAGES {
        let page = render(&model, Format::Html, lang);
        assert!(page.contains("<figure id=\"searches\">"), "{}", lang.code);
    }
    let page = render(&model, Format::Html, EN);
    assert!(page.contains("load steps that passed, crosses those that failed"), "{page}");
    assert!(
        page.contains("1 load step had too few transactions for a value and is drawn as a ring"),
        "{page}"
    );
    model.searches[0].steps.retain(|step| step.step.figure.is_none());
    assert_eq!(marks(&chart(&model, "searches").expect("a chart without a figure")), (1, 0, 1));
}

#[test]
fn a_server_on_this_machine_is_inside_of_its_frame_and_no_name_is_cut() {
    let mut model = rush().clone();
    model.provenance.environment.cpu_model =
        "A processor with a name that is far longer than its box".to_owned();
    let drawn = |model: &ReportModel, is_local: bool| {
        let topology = Topology {
            address: "127.0.0.1:5432".to_owned(),
            is_local,
            ..model.topologies[0].clone()
        };
        let model = ReportModel { topologies: vec![topology], ..model.clone() };
        topology::charts(&model, EN).next().expect("a picture").stand_alone("en")
    };
    let width = |chart: &str| {
        let document = roxmltree::Document::parse(chart).expect("well-formed");
        let machine = document
            .descendants()
            .find(|it| it.attribute("class") == Some("machine"))
            .expect("a frame");
        machine.attribute("width").and_then(|it| it.parse::<f64>().ok()).expect("a width")
    };
    let (local, remote) = (drawn(&model, true), drawn(&model, false));
    assert!(width(&local) > 1.5 * width(&remote), "{local}");
    assert!(!local.contains('…') && !remote.contains('…'), "{remote}");
    assert!(remote.contains("longer than"), "{remote}");
}

#[test]
fn a_topology_shows_products_and_the_machines_of_generators() {
    let base = rush().topologies[0].clone();
    let system = |name: &str, product: &str, version: &str| SystemVersion {
        name: name.to_owned(),
        product: product.to_owned(),
        version: version.to_owned().into(),
    };
    let host =
        |number: u32| GeneratorHost { host: format!("load{number}"), generators: 2, clients: 32 };
    let of = |systems: Vec<SystemVersion>, hosts: u32, are_generators_local: bool| {
        let topology = Topology {
            systems,
            clients: 64,
            generator_hosts: (1..=hosts).map(host).collect(),
            are_generators_local,
            address: "db1:5432".to_owned(),
            is_local: false,
            ..base.clone()
        };
        let model = ReportModel { topologies: vec![topology], ..rush().clone() };
        let chart = topology::charts(&model, EN).next().expect("a picture").stand_alone("en");
        (topology::lines(&model, EN).concat(), chart)
    };
    let mariadb = || vec![system("MariaDB", "MariaDB", "11.8.2-MariaDB-log")];
    let (line, chart) = of(mariadb(), 2, false);
    let expected = "(up to 64 clients, 4 load generators on load1 and load2) → server, db1:5432: \
                    MariaDB 11.8.2";
    assert!(line.ends_with(expected), "{line}");
    let texts =
        [">load1<", ">load2<", "2 load generators", ">MariaDB 11.8.2<", ">server, db1:5432<"];
    for text in texts {
        assert!(chart.contains(text), "{text}: {chart}");
    }
    assert_eq!(chart.matches("class=\"link\"").count(), 2, "{chart}");
    assert!(!chart.contains("class=\"machine\""), "nothing here is on the coordinator's machine");
    let (line, chart) = of(vec![system("shop", "PostgreSQL", "15.18")], 9, false);
    let expected = "18 load generators on 9 hosts) → server, db1:5432: shop (PostgreSQL 15.18)";
    assert!(line.ends_with(expected), "{line}");
    assert!(!chart.contains("load1<"), "{chart}");
    let (line, chart) = of(vec![system("TiDB", "TiDB", "TiDB 8.0.11-TiDB-v8.5.1")], 1, true);
    let expected = "2 load generators) → server, db1:5432: TiDB 8.0.11-TiDB-v8.5.1";
    assert!(line.ends_with(expected), "{line}");
    assert!(chart.contains("class=\"machine\""), "{chart}");
}

#[test]
fn one_of_something_is_singular() {
    let model = analyse(&Shape { clients: vec![1], blocks: 1, systems: 1, ..tiny() }.read());
    for format in [Format::Html, Format::Markdown, Format::Text] {
        let report = render(&model, format, EN).replace(['\u{a0}', '\n'], " ");
        for noun in [
            "clients",
            "trials",
            "blocks",
            "configurations",
            "configurations",
            "transactions",
            "attempts",
        ] {
            let wrong = format!(" 1 {noun}");
            assert!(!report.contains(&wrong), "{format:?}:{wrong}");
        }
    }
}
