//! Each format has what its readers require: the elements and attributes of Jenkins' schema of
//! JUnit files, the schema of Bencher's format, the fields of github-action-benchmark.

use super::Export;
use super::history_files;
use super::series::table;
use crate::html::sample;
use dyno_analysis::model::{
    EndedSearch, Figure, LimitRow, LimitVerdict, Metric, ReportModel, SearchRow, Validity, Verdict,
};
use dyno_model::limit::LimitMetric;
use dyno_model::plan::LoadBy;
use dyno_model::search::{Search, SearchEnd};
use roxmltree::{Document, Node};
use serde_json::Value;
use std::collections::BTreeSet;

fn rush() -> ReportModel {
    sample::all().remove(0).1
}

fn parsed(model: &ReportModel, export: Export) -> Value {
    serde_json::from_str(&export.render(model)).expect("JSON")
}

fn elements<'a, 'i>(of: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    of.children().filter(Node::is_element)
}

/// Test cases by name, with the element that says how they ended.
fn cases(text: &str) -> Vec<(String, Option<String>)> {
    let document = Document::parse(text).expect("XML");
    let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
    cases
        .map(|case| {
            let outcome = elements(case).next().map(|it| it.tag_name().name().to_owned());
            (case.attribute("name").expect("a name").to_owned(), outcome)
        })
        .collect()
}

#[test]
fn junit_files_have_the_elements_of_the_schema_and_counts_that_add_up() {
    for (shape, model) in sample::all() {
        let text = Export::Junit.render(&model);
        let document = Document::parse(&text).unwrap_or_else(|error| panic!("{shape}: {error}"));
        let root = document.root_element();
        assert_eq!(root.tag_name().name(), "testsuites");
        let count = |node: Node<'_, '_>, name: &str| {
            node.descendants().filter(|it| it.has_tag_name(name)).count().to_string()
        };
        for node in elements(root).chain([root]) {
            for (attribute, element) in
                [("tests", "testcase"), ("failures", "failure"), ("errors", "error")]
            {
                assert_eq!(node.attribute(attribute), Some(&*count(node, element)), "{shape}");
            }
        }
        for suite in elements(root) {
            assert_eq!(suite.tag_name().name(), "testsuite");
            assert_eq!(suite.attribute("skipped"), Some(&*count(suite, "skipped")), "{shape}");
            let mut names = BTreeSet::new();
            for case in elements(suite) {
                assert_eq!(case.tag_name().name(), "testcase");
                let name = case.attribute("name").expect("a name");
                assert!(names.insert(name), "{shape}: {name} twice");
                assert!(case.attribute("classname").is_some() && elements(case).count() <= 1);
                let outcome = elements(case).next();
                assert!(outcome.is_none_or(|it| it.attribute("message").is_some()));
            }
        }
    }
}

#[test]
fn names_with_markup_and_control_characters_stay_text() {
    let mut model =
        sample::all().into_iter().find(|(name, _)| *name == "long-names").expect("it").1;
    for line in &mut model.series {
        line.label.push_str(" \u{1b}[31m\u{0}\u{ffff}\"]]>,\n=1+1");
    }
    let junit = Export::Junit.render(&model);
    assert!(!junit.contains("<b>") && !junit.contains("<script>"));
    let (name, _) = cases(&junit).into_iter().find(|(name, _)| name.contains("<b>")).expect("it");
    assert!(
        name.contains("<b>PostgreSQL</b> & スレッド") && name.contains("\\u{1b}[31m"),
        "{name}"
    );
    for export in [Export::Bmf, Export::GithubBigger, Export::GithubSmaller] {
        parsed(&model, export);
    }
    let sheet = Export::Otava.render(&model);
    let mut reader = csv::Reader::from_reader(sheet.as_bytes());
    assert!(reader.headers().expect("heads").iter().any(|head| head.contains("\"]]>, =1+1")));
    assert_eq!(reader.records().filter(Result::is_ok).count(), 1, "{sheet}");
}

#[test]
fn verdicts_become_failures_errors_and_skipped_tests() {
    let mut model = rush();
    let limit = |value: f64, verdict| LimitRow {
        metric: LimitMetric::P99,
        value,
        part: None,
        configuration: 0,
        figure: Some(9.5),
        is_bound: false,
        interval: None,
        repeats: 5,
        not_working: None,
        shortage: None,
        lower_percentile: None,
        trials_needed: None,
        is_untested: false,
        verdict,
    };
    model.limits = vec![
        limit(10.0, LimitVerdict::Passed),
        limit(9.0, LimitVerdict::Failed),
        limit(9.5, LimitVerdict::Undecided),
    ];
    model.questions.clear();
    model.comparisons.truncate(5);
    let verdicts = [
        Verdict::Better,
        Verdict::Worse,
        Verdict::Equivalent,
        Verdict::Inconclusive,
        Verdict::Invalid,
    ];
    for (comparison, verdict) in model.comparisons.iter_mut().zip(verdicts) {
        comparison.effect.verdict = Some(verdict);
        comparison.effect.ratio = Some(1.0);
    }
    for comparison in &mut model.comparisons {
        (comparison.subject, comparison.baseline) = (1, 0);
    }
    model.configurations.truncate(2);
    model.configurations[1].validity = Validity::Invalid;
    let text = Export::Junit.render(&model);
    let outcomes: Vec<_> = cases(&text).into_iter().map(|(_, outcome)| outcome).collect();
    let outcomes: Vec<&str> = outcomes.iter().map(|it| it.as_deref().unwrap_or("passed")).collect();
    let [limits, comparisons] = [
        ["passed", "failure", "error"].as_slice(),
        &["passed", "failure", "passed", "skipped", "error"],
    ];
    assert_eq!(outcomes, [&["passed", "error"], limits, comparisons].concat(), "{text}");
    assert!(text.contains(": p99 &lt; 9 ms\""), "{text}");
    assert!(text.contains("message=\"failed: 9.50 ms\""), "{text}");
}

#[test]
fn bencher_gets_objects_of_numbers_by_configuration_and_measure() {
    for (shape, model) in sample::all() {
        let document = parsed(&model, Export::Bmf);
        for (name, measures) in document.as_object().expect("an object") {
            assert!(!name.is_empty() && name.len() <= 1024, "{shape}");
            for (measure, metric) in measures.as_object().expect("an object") {
                let is_slug = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
                assert!(measure.chars().all(is_slug) && measure.len() <= 64, "{measure}");
                let number =
                    |field: &str| metric.get(field).map(|it| it.as_f64().expect("a number"));
                let value = number("value").expect("a value");
                assert!(number("lower_value").is_none_or(|low| low <= value), "{metric}");
                assert!(number("upper_value").is_none_or(|high| high >= value), "{metric}");
            }
        }
    }
    let document = parsed(&rush(), Export::Bmf);
    let first = document.as_object().and_then(|all| all.values().next()).expect("one");
    assert!(first["throughput"]["lower_value"].is_number() && first["p95-ms"]["value"].is_number());
}

#[test]
fn each_direction_of_github_action_benchmark_has_its_own_file() {
    let model = rush();
    for (export, is_there, is_not) in
        [(Export::GithubBigger, "throughput", "p95"), (Export::GithubSmaller, "p95", "throughput")]
    {
        let document = parsed(&model, export);
        let rows = document.as_array().expect("a list");
        let ends = |row: &Value, with: &str| row["name"].as_str().expect("a name").ends_with(with);
        assert!(
            rows.iter().any(|row| ends(row, is_there)) && !rows.iter().any(|row| ends(row, is_not))
        );
        let names: BTreeSet<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
        assert_eq!(names.len(), rows.len());
        for row in rows {
            assert!(row["value"].is_number() && row["unit"].is_string(), "{row}");
            assert!(row.get("range").is_none_or(Value::is_string), "{row}");
        }
    }
}

#[test]
fn a_lower_bound_is_no_value() {
    let mut model = rush();
    let figures = &mut model.configurations[0].figures;
    figures.set(Metric::P95, Some(Figure::AtLeast { at_least: 95.0 }));
    let name = crate::messages::names::configuration(&model, 0, crate::messages::EN);
    let document = parsed(&model, Export::Bmf);
    assert!(document[&name].get("p95-ms").is_none() && document[&name].get("p99-ms").is_some());
    assert!(
        !Export::Otava
            .render(&model)
            .lines()
            .next()
            .expect("heads")
            .contains(&format!("{name}: p95"))
    );
}

#[test]
fn runs_are_rows_and_those_without_valid_results_are_marked() {
    let whole = rush();
    let mut partly = whole.clone();
    partly.configurations[0].validity = Validity::Invalid;
    partly.configurations[0].figures = dyno_analysis::model::Figures::default();
    let mut none = whole.clone();
    for row in &mut none.configurations {
        row.validity = Validity::Missing;
        row.figures = dyno_analysis::model::Figures::default();
    }
    let text = table(&[&none, &whole, &partly]);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().expect("heads").clone();
    assert_eq!(
        heads.iter().take(4).collect::<Vec<_>>(),
        ["time", "run", "dyno_version", "validity"]
    );
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    let empty = |row: &csv::StringRecord| row.iter().skip(4).filter(|cell| cell.is_empty()).count();
    let validity: Vec<&str> = rows.iter().map(|row| &row[3]).collect();
    assert_eq!(validity, ["invalid", "warned", "partly-invalid"]);
    assert_eq!(empty(&rows[0]), heads.len() - 4);
    assert_eq!((empty(&rows[1]), empty(&rows[2])), (0, 5));
    assert!(
        rows.iter()
            .flat_map(|row| row.iter().skip(4))
            .all(|it| it.is_empty() || it.parse::<f64>().is_ok())
    );
}

#[test]
fn a_series_has_the_runs_with_a_value_and_otava_a_test_for_each() {
    let whole = rush();
    let mut partly = whole.clone();
    partly.configurations[0].figures = dyno_analysis::model::Figures::default();
    let files = history_files(&[whole, partly]);
    let text = |name: &str| &files.iter().find(|(file, _)| file == name).expect("there").1;
    let settings: Value = serde_json::from_str(text("otava.yaml")).expect("JSON");
    let tests = settings["tests"].as_object().expect("tests");
    assert_eq!(settings["test_groups"]["all"].as_array().map(Vec::len), Some(tests.len()));
    assert_eq!(files.len(), tests.len() + 2);
    let of_first = crate::messages::names::configuration(&rush(), 0, crate::messages::EN);
    for (name, test) in tests {
        let rows = text(test["file"].as_str().expect("a file")).lines().count() - 1;
        assert_eq!(rows, if name.starts_with(&format!("{of_first}:")) { 1 } else { 2 }, "{name}");
        let is_more_better = name.ends_with(": throughput");
        assert_eq!(test["metrics"]["value"]["direction"], if is_more_better { 1 } else { -1 });
    }
}

#[test]
fn a_search_without_a_load_is_no_passed_test() {
    let mut model = rush();
    let search = Search {
        most: LoadBy::Rate,
        metric: LimitMetric::P99,
        below: 20.0,
        transaction: None,
        from: None,
    };
    let row = SearchRow { configuration: 0, search, steps: Vec::new(), ended: Vec::new() };
    model.searches = vec![row];
    let outcomes = |model: &ReportModel| {
        let text = Export::Junit.render(model);
        let suite = text.split_once("name=\"searches\"").expect("its suite").1;
        let suite = suite.split_once("</testsuite>").expect("it ends").0;
        ["failure", "error"].map(|it| suite.matches(&format!("<{it} ")).count())
    };
    assert_eq!(outcomes(&model), [0, 0]);
    let ended = |end| EndedSearch { trial: "b01-001".to_owned(), steps: 3, end };
    model.searches[0].ended = vec![ended(SearchEnd::Generator)];
    assert_eq!(outcomes(&model), [0, 1]);
    model.searches[0].ended.push(ended(SearchEnd::FailsEverywhere { slow: None, failing: None }));
    assert_eq!(outcomes(&model), [1, 0]);
}
