//! Tests of a comparison's layout, and that its forms agree.

mod warnings;

use super::*;
use crate::messages::{EN, LANGUAGES};
use dyno_analysis::compare::{CompareOptions, METRICS, Side, compare as judge, read_side};
use dyno_analysis::model::Verdict;
use dyno_analysis::stats::verdict::Rules;
use dyno_store::TrialOutcome;
use dyno_store::fixture::{Shape, run_with};
use std::collections::BTreeMap;

/// Two runs of two systems; in the new one the second system is slower, has other settings and
/// failed transactions. Each run also has a number of clients that the other lacks.
fn model() -> CompareModel {
    let side = |name: &str, clients: Vec<u32>| {
        let shape =
            Shape { systems: 2, variants: vec!["in-place"], clients, blocks: 4, ..Shape::small() };
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        shape.write(&folder.path().join(name)).expect("the run can be written");
        let mut side = read_side(folder.path()).expect("the run can be read");
        name.clone_into(&mut side.folder);
        side
    };
    let base = side("base", vec![1, 8]);
    let mut new = side("new", vec![8, 20]);
    let run = &mut new.runs[0];
    run.started_at = "2026-11-22T10:00:00.000Z".to_owned();
    run.ended_at = "2026-11-22T10:00:18.000Z".to_owned();
    let settings = &mut run.systems.get_mut("MySQL").expect("the second system").settings;
    settings.insert("max_connections".to_owned(), "500".to_owned());
    let plan = run.plan.clone();
    for outcome in run.outcomes.values_mut() {
        if let TrialOutcome::Finished(record) = outcome
            && plan.configuration(&record.trial).system == 1
        {
            record.counters.committed = record.counters.committed * 7 / 10;
            record.counters.failed = 3;
        }
    }
    let question =
        CompareOptions { metrics: METRICS.to_vec(), rules: Rules::default(), systems: Vec::new() };
    judge(&base, &new, &question).expect("comparable")
}

#[test]
fn github_output_lists_regressions_and_escapes_run_names() {
    let mut model = model();
    "100 %, a: b\n::error::x".clone_into(&mut model.new.title);
    model.base.title.clone_from(&model.new.title);
    let lines = github::annotations(&model, EN);
    let worse = model.outcome.worse as usize;
    assert_eq!(lines.lines().count(), 1 + worse.min(9), "{lines}");
    for line in lines.lines() {
        assert!(line.starts_with("::error title=Comparison%3A 100 %25%2C a%3A b"), "{line}");
        assert!(line.contains("::Worse: "), "{line}");
    }
    assert!(lines.contains("Worse: throughput of MySQL, 8 clients is 0.7"), "{lines}");
    let summary = github::summary(&model, EN);
    assert!(summary.starts_with("### Comparison: 100 %, a: b"), "{summary}");
    let rows =
        summary.lines().filter(|line| line.starts_with("| ") && line.contains(" worse")).count();
    assert_eq!(rows, worse + model.outcome.worse_over_all as usize, "{summary}");
    assert!(summary.contains("| mean time of update | 2 | 1.02 |"), "{summary}");
    for metric in &mut model.configurations.iter_mut().flat_map(|pair| &mut pair.metrics) {
        metric.verdict = Verdict::Equivalent;
    }
    (model.outcome.verdict, model.outcome.worse) = (Verdict::Equivalent, 0);
    assert!(
        github::annotations(&model, EN).starts_with("::error title="),
        "it is worse over all configurations"
    );
    model.outcome.worse_over_all = 0;
    (model.overall, model.statements) = (Vec::new(), Vec::new());
    assert_eq!(github::annotations(&model, EN).lines().count(), 1);
    assert!(github::annotations(&model, EN).starts_with("::notice title="));
    assert!(!github::summary(&model, EN).contains('|'), "nothing to show");
}

#[test]
fn only_several_configurations_are_headed_over_all_configurations() {
    let mut model = model();
    for (words, other) in [
        ("Over all configurations", "Response times by statement"),
        ("Response times by statement", "Over all configurations"),
    ] {
        let text = render(&model, Format::Text, EN);
        assert!(text.contains(words) && !text.contains(other), "{words}: {text}");
        let markdown = render(&model, Format::Markdown, EN) + &github::summary(&model, EN);
        assert!(!markdown.contains(other), "{words}: {markdown}");
        model.configurations.truncate(1);
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "the page itself is the test")]
fn the_text_has_warnings_figures_and_the_outcome_as_its_last_line() {
    let model = model();
    assert_eq!(model.outcome.verdict, Verdict::Worse);
    insta::assert_snapshot!(render(&model, Format::Text, EN), @r###"
    Comparison: SELECT + UPDATE + COMMIT under a rush of clients
    base  base: runs 1, valid trials 16 of 16, 2026-11-21 08:45:00 to 08:45:18 UTC.
          Systems: MariaDB 11.8.2 and MySQL 9.7.0.
    new   new: runs 1, valid trials 16 of 16, 2026-11-22 10:00:00 to 10:00:18 UTC.
          Systems: MariaDB 11.8.2 and MySQL 9.7.0.

    Warnings about comparability
    * warning: Different settings of MySQL (1): max_connections (200 in base, 500 in
      new).
    * note: Each side is a single run. Variation between runs (server start, time of
      day, other load) cannot be separated from the change: the intervals only cover
      variation within a run. Measure at least three runs of each side, alternating.
    * note: The runs were not interleaved: new was measured 25 h 15 min after base.
      The ratios include all other changes in between.

    Over all configurations
    * worse: Throughput fell by 17 % over 2 systems (MariaDB and MySQL) and 8
      clients (95.1 % interval: 14 to 20 %). The difference depends on the system:
      the throughput of new is 70 % of that of base on MySQL, and 99 % of that on
      MariaDB.
    * inconclusive: Undecided whether mean response time changed over 2 systems
      (MariaDB and MySQL) and 8 clients: -6.0 % to +9.9 % (99 % interval). A change
      of 10 % or more would probably have been detected.
    * equivalent: Median response time is unchanged over 2 systems (MariaDB and
      MySQL) and 8 clients: the difference is less than 5 % (90 % interval: -2.2 %
      to +4.2 %).
    * inconclusive: Undecided whether p95 response time changed over 2 systems
      (MariaDB and MySQL) and 8 clients: -4.6 % to +9.5 % (99 % interval). A change
      of 8.9 % or more would probably have been detected.
    * inconclusive: Undecided whether p99 response time changed over 2 systems
      (MariaDB and MySQL) and 8 clients: -15 % to +23 % (99 % interval). A change of
      26 % or more would probably have been detected.

    figure                configurations  ratio      interval  verdict
    throughput                         2   0.83  0.80 to 0.86  worse
    mean response time                 2   1.02  0.94 to 1.10  inconclusive
    median response time               2   1.01  0.98 to 1.04  equivalent
    p95 response time                  2   1.02  0.95 to 1.09  inconclusive
    p99 response time                  2   1.02  0.85 to 1.23  inconclusive
    mean time of select                2   1.02  0.92 to 1.12  inconclusive
    mean time of update                2   1.02  0.92 to 1.12  inconclusive
    mean time of commit                2   1.02  0.92 to 1.12  inconclusive

    Results by configuration
      figure    base  ±95 %    new  ±95 %  ratio      interval  verdict
    MariaDB, 8 clients (n = 4 and 4)
      tx/s     1,665     62  1,646     81   0.99  0.93 to 1.05  inconclusive
                                            0.99  0.94 to 1.06  rank-based
      mean ms   4.72   0.17   4.73   0.28   1.00  0.96 to 1.05  equivalent
                                            1.00  0.94 to 1.08  rank-based
      p50 ms    4.11   0.15   4.15   0.25   1.01  0.88 to 1.17  inconclusive
                                            1.02  0.93 to 1.07  rank-based
      p95 ms    6.54   0.20   6.65   0.22   1.02  0.99 to 1.04  equivalent
                                            1.01  0.99 to 1.07  rank-based
      p99 ms    25.9    1.3   25.2    2.6   0.97  0.76 to 1.25  inconclusive
                                            0.96  0.90 to 1.10  rank-based
    MySQL, 8 clients (n = 4 and 4)
      tx/s     1,360     34    947     52   0.70  0.65 to 0.74  worse
                                            0.70  0.66 to 0.73  rank-based
      mean ms   5.69   0.16   5.87   0.43   1.03  0.84 to 1.26  inconclusive
                                            1.04  0.96 to 1.09  rank-based
      p50 ms    5.02   0.09   5.06   0.22   1.01  0.98 to 1.04  equivalent
                                            1.01  0.97 to 1.05  rank-based
      p95 ms    7.91   0.35   8.13   0.60   1.03  0.87 to 1.22  inconclusive
                                            1.03  0.94 to 1.10  rank-based
      p99 ms    29.6    3.6   31.8    6.9   1.07  0.66 to 1.74  inconclusive
                                            1.10  0.85 to 1.29  rank-based
      failed       0            12

    Valid trials needed per side to detect a difference of 5 % with 80 % power,
    given the variation so far: 8 for the inconclusive comparisons.
    Values are geometric means over n valid trials, ±: distance to the upper end of
    the 95 % interval. Ratio: new to base, with an interval from Welch's test on
    logarithms, which includes the variation between runs if a side has several. The
    sides share no blocks, so trials are not paired. The primary metric, throughput,
    is tested first, at nearly the whole significance level of 5 %; the other
    metrics share that level once it is decided, and have 2 % until then (a
    graphical procedure; Bretz et al.). The probability of even one false answer
    about a metric (family-wise error rate) is at most 5 %. The verdicts on 10
    comparisons of configurations follow; on average, at most 5 % of them are false
    (Benjamini and Hochberg; Benjamini and Bogomolov). Equivalent: the 90 %
    interval, which is then shown, lies within a margin of 5 %. Inconclusive: the
    data does not decide, which does not mean that there is no difference.
    Intervals of other comparisons are widened accordingly, to 97.5 % or more.
    Over all configurations: one ratio from a linear mixed model on logarithms with
    runs, blocks and server starts as strata (REML, Satterthwaite). These answers
    come first. A configuration is called better or worse in a metric only if that
    metric was decided over all configurations or in any of them.
    Kinds of statements are tested last (Holm), and only if one of the answers above
    was decided. They show where a difference comes from and do not change the
    outcome.
    Rank-based: the same ratio without assumptions about the distribution, the
    median of the ratios of each trial of new to each trial of base (Hodges and
    Lehmann), with the uncorrected 95 % interval of the rank-sum test (Mann and
    Whitney), if each side has at least four trials. It does not change the verdict.

    Only in base, not compared
    * MariaDB, 1 client
    * MySQL, 1 client

    Only in new, not compared
    * MariaDB, 20 clients
    * MySQL, 20 clients

    Worse: Throughput fell by 17 % over 2 systems (MariaDB and MySQL) and 8 clients (95.1 % interval: 14 to 20 %). The difference depends on the system: the throughput of new is 70 % of that of base on MySQL, and 99 % of that on MariaDB. Configurations: worse in 1 of 10 comparisons, most in throughput of MySQL, 8 clients (ratio 0.70). Also equivalent: median response time. Undecided: mean response time, p95 response time and p99 response time. The interval has level 95.1 %, not 95 %, because several metrics are tested and the probability of even one false answer is at most 5 %.
    "###);
}

#[test]
fn no_line_but_the_last_is_wider_than_a_narrow_terminal() {
    let text = render(&model(), Format::Text, EN);
    let lines: Vec<&str> = text.lines().collect();
    let (last, others) = lines.split_last().expect("lines");
    assert!(last.starts_with("Worse: Throughput fell by 17 % over 2 systems"), "{last}");
    assert_eq!(
        others.iter().filter(|line| line.chars().count() > 80).collect::<Vec<_>>(),
        [&""; 0]
    );
}

#[test]
fn markdown_begins_with_the_outcome() {
    let text = render(&model(), Format::Markdown, EN);
    let mut lines = text.lines().filter(|line| !line.is_empty());
    assert!(lines.next().is_some_and(|line| line.starts_with("# Comparison: ")), "{text}");
    assert!(
        lines.next().is_some_and(|line| line.starts_with("**Worse: Throughput fell by 17 %")),
        "{text}"
    );
    assert!(text.contains("| MySQL, 8 clients (n = 4 and 4) | tx/s | "), "{text}");
    assert!(text.contains("| 0.70 | 0.66 to 0.73 | rank-based |"), "{text}");
}

#[test]
fn csv_has_a_line_per_comparison_and_json_is_the_model() {
    let model = model();
    let csv = render(&model, Format::Csv, EN);
    assert_eq!(csv.lines().count(), 1 + model.comparisons().count());
    let columns = |line: &str| line.split(',').count();
    assert!(
        csv.lines().all(|line| columns(line) == columns(csv.lines().next().expect("a header"))),
        "{csv}"
    );
    assert!(csv.contains("\nMySQL,MySQL,rush,8,throughput,transactions-per-second,"), "{csv}");
    let (header, row) =
        (csv.lines().next().expect("a header"), csv.lines().nth(1).expect("a comparison"));
    assert!(
        header.ends_with(",verdict,rank_ratio,rank_low,rank_high,rank_p,ratio_level"),
        "{header}"
    );
    assert!(row.rsplit(',').take(5).all(|cell| cell.parse::<f64>().is_ok()), "{row}");
    let json = render(&model, Format::Json, EN);
    let read: CompareModel = serde_json::from_str(&json).expect("the model can be read again");
    assert_eq!(read, model);
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert!(value["sentence"].as_str().is_some_and(|text| text.starts_with("Worse: ")), "{json}");
}

#[test]
fn the_page_is_one_well_formed_file_that_needs_no_network() {
    let page = render(&model(), Format::Html, EN);
    let svg =
        page.split_once("<svg").and_then(|(_, rest)| rest.split_once("</svg>")).expect("a chart").0;
    roxmltree::Document::parse(&format!("<svg{svg}</svg>")).expect("the chart is well-formed");
    assert!(page.contains(">rank-based</td>") && page.contains(">0.66 to 0.73</td>"), "{page}");
    assert!(page.contains("chip worse") && page.contains("MySQL, 8 clients"), "{page}");
    assert!(
        !page.contains(" src=")
            && !page.replace(" href=\"#", "").contains(" href=")
            && !page.contains("url("),
        "nothing is fetched"
    );
    assert!(page.contains("max_connections (200 in base, 500 in new)"), "{page}");
}

#[test]
fn comparison_page_starts_with_tiles_and_one_to_three_sentences() {
    let mut model = model();
    for lang in LANGUAGES {
        let page = render(&model, Format::Html, lang);
        let (top, _) = page.split_once("<section id=\"results\">").expect("the tables");
        let (tiles, said) = top.split_once("<div class=\"said\">").expect("the sentences");
        let sentences = said.matches("<p>").count() - 1;
        assert!((1..=3).contains(&sentences), "{}: {sentences}", lang.code);
        assert!(
            tiles.contains("<ul class=\"tiles\"")
                && tiles.contains("<figure id=\"overlay-throughput\">")
        );
        assert!(
            page.matches("<p>").count() <= sentences + 4,
            "what repeats by metric is a table: {page}"
        );
    }
    let page = render(&model, Format::Html, EN);
    for tile in [
        "Throughput",
        "Response time (p99)",
        "Failed transactions",
        "Lost commits",
        "Valid trials",
        "one warning",
    ] {
        assert!(page.contains(tile), "{tile}");
    }
    // The only number of clients of the second system, which is slower.
    assert!(
        page.contains("<span class=\"before\">0 →</span> <b>12</b>"),
        "failed before and after: {page}"
    );
    let at = |model: &mut CompareModel, clients: u32| {
        let mut pair = model.configurations[1].clone();
        pair.name.clients = clients;
        model.configurations.push(pair);
    };
    at(&mut model, 16);
    let page = render(&model, Format::Html, EN);
    let (top, _) = page.split_once("<section id=\"results\">").expect("the tables");
    assert!(top.contains("<figure id=\"overlay-throughput\">"), "{top}");
    assert!(
        top.contains(">base: base<") && top.contains(">new: new<"),
        "the legend names the runs: {top}"
    );
}

#[test]
fn one_trial_on_each_side_gives_a_change_without_a_verdict() {
    let side = |name: &str, rate: f64| Side {
        folder: name.to_owned(),
        runs: vec![run_with(name, &[rate])],
        timelines: BTreeMap::new(),
    };
    let question =
        CompareOptions { metrics: METRICS.to_vec(), rules: Rules::default(), systems: Vec::new() };
    let model = judge(&side("a", 100.0), &side("b", 1_300.0), &question).expect("comparable");
    let page = render(&model, Format::Html, EN);
    let (top, _) = page.split_once("<section id=\"results\">").expect("the tables");
    assert!(top.contains("<span class=\"before\">100 →</span> <b>1,300</b>"), "{top}");
    assert!(
        top.contains("<b>×13.0</b>") && top.contains("no verdict") && !top.contains("Undecided"),
        "{top}"
    );
    assert!(top.contains("needs 3 trials per side"), "{top}");
}

#[test]
fn names_cannot_command_a_terminal() {
    let mut model = model();
    model.new.title = "after\u{1b}[31m".to_owned();
    for pair in &mut model.configurations {
        pair.name.label = "My\u{9b}2J\nSQL".to_owned();
    }
    for format in [Format::Text, Format::Markdown] {
        let text = render(&model, format, EN);
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
        assert!(text.contains("2J SQL"), "{text}");
    }
}

#[test]
fn a_level_is_reported_only_with_an_interval() {
    let mut model = model();
    let note =
        |model: &CompareModel| render(model, Format::Text, EN).contains("are widened accordingly");
    assert!(note(&model));
    // Every comparison is equivalent.
    model.rules.interval_level = None;
    assert!(!note(&model));
    let last = |model: &CompareModel| {
        render(model, Format::Text, EN).lines().last().unwrap_or_default().to_owned()
    };
    assert!(last(&model).contains("The interval has level"), "{}", last(&model));
    for overall in &mut model.overall {
        overall.effect.interval_level = Some(0.95);
    }
    assert!(!last(&model).contains("The interval has level"), "{}", last(&model));
}
