//! Tests of whole reports, from folders written by the store.

use dyno_analysis::model::{ComparisonOf, Figures, Metric, ReportModel, TrialState, Verdict};
mod anomalies;
mod background;
mod benchmark;
mod bounds;
mod damage;
mod eligibility;
mod faults;
mod generators;
mod growth;
mod named;
mod presentation;
mod stages;
mod steadiness;
mod test_report;
mod updates;

use crate::messages::EN;
use crate::{Format, render, write};
use dyno_analysis::{analyse, read_model};
use dyno_model::audit::AuditCheck;
use dyno_model::plan::{Compare, Plan};
use dyno_model::reason::Reason;
use dyno_model::units::Nanos;
use dyno_store::fixture::Shape;
use insta::assert_snapshot;
use std::sync::OnceLock;
use unicode_width::UnicodeWidthStr;

/// The run with problems, created once.
fn rush() -> &'static ReportModel {
    static MODEL: OnceLock<ReportModel> = OnceLock::new();
    // Smaller than usual: unoptimised code takes seconds for a hundred trials.
    MODEL.get_or_init(|| {
        analyse(&Shape { clients: vec![1, 20, 40], blocks: 3, ..Shape::rush() }.read())
    })
}

/// The smallest number of configurations that shows everything.
fn tiny() -> Shape {
    Shape { systems: 2, clients: vec![1, 8], ..Shape::small() }
}

/// Its model, created once.
fn tiny_model() -> &'static ReportModel {
    static MODEL: OnceLock<ReportModel> = OnceLock::new();
    MODEL.get_or_init(|| analyse(&tiny().read()))
}

/// Separate lines in all paths of this class.
fn strokes(page: &str, class: &str) -> usize {
    let opening = format!("<path class=\"{class}\" d=\"");
    let paths = page.split(&opening).skip(1);
    paths.map(|rest| rest[..rest.find('"').expect("the path ends")].matches('M').count()).sum()
}

#[test]
fn no_warm_up_is_reported_in_a_sentence_and_0_s_in_a_table() {
    let mut data = tiny().read();
    data.run
        .plan
        .configurations
        .iter_mut()
        .for_each(|configuration| configuration.load.warmup = Nanos(0));
    let model = analyse(&data);
    assert!(render(&model, Format::Markdown, EN).contains("; no warm-up, at most"));
    let html = render(&model, Format::Html, EN);
    let row = html.split("<tr").find(|row| row.contains(">warm-up<"));
    assert!(row.is_some_and(|row| row.contains(">0\u{a0}s")), "{row:?}");
}

#[test]
fn intervals_are_explained_only_where_there_are_some() {
    let mut data = tiny().read();
    let explained = |data: &_| render(&analyse(data), Format::Text, EN).contains('±');
    assert!(explained(&data));
    data.run.outcomes.retain(|trial, _| trial.starts_with("b01"));
    assert!(!explained(&data));
}

#[test]
fn reports_are_byte_identical_from_the_same_folder() {
    let scratch = tempfile::tempdir().expect("scratch");
    let folder = scratch.path().join("run");
    tiny().write(&folder).expect("written");
    for format in Format::ALL {
        let first = render(&read_model(&folder).expect("readable"), format, EN);
        let second = render(&read_model(&folder).expect("readable"), format, EN);
        assert!(first == second, "{format:?}");
        assert!(!first.is_empty());
    }
}

#[test]
fn the_text_report_reads_like_this() {
    assert_snapshot!(render(tiny_model(), Format::Text, EN), @r###"
    SELECT + UPDATE + COMMIT under a rush of clients
    Measured 2026-11-21 08:45:00 (UTC) with dyno 0.1.0; profile synthetic, 3 blocks,
    seed 2005.
    Synthetic CPU at 2.50GHz, 2 logical processors, 8,590 MB memory, Debian
    GNU/Linux 12 (bookworm), Linux 6.1.0.
    Systems: MariaDB 11.8.2 and MySQL 9.7.0.
    Workload: rush. A trial ends after 5 s; warm-up 1 s, at most 10 attempts per
    transaction.

    Results
     clients n  tx/s ±95 % mean ms p95 ms p99 ms failed retries lost % validity
    MariaDB
           1 3   605    47    1.59   2.26   8.46      0       0    0 % valid
           8 3 1,173    57    6.73   9.47   37.3      0   1,455    0 % valid
    MySQL
           1 3   462    15    2.10   2.85   12.4      0       0    0 % valid
           8 3   960    38    8.46   11.9   46.4      0       0  6.3 % warnings
    Throughput and response times are geometric means over n valid trials, so the
    quotient of two figures is their ratio in comparisons. ±: distance to the upper
    end of the 95 % confidence interval.

    Questions
      metric             pairs  ratio      interval  p (corrected)  verdict
    MySQL : MariaDB
      throughput             2   0.79  0.77 .. 0.81        < 0.001  worse
      p95 response time      2   1.26  1.15 .. 1.38          0.009  worse

    Sources of variation
      standard error  detectable  server starts  trials  within trials  reduced by
    MySQL : MariaDB
              0.63 %       3.4 %            0 %   100 %            0 %  more blocks

    Warnings
    * warning (3 of 12 trials): The data audit failed: part of the work counted here
      was lost or is wrong.
    * note (12 of 12 trials): The load generator and the server share processors and
      slow each other down. Compare these results only with results measured in the
      same way.
    * note (12 of 12 trials): The shortest measurement window is only 5.00 s long.
      Its results are imprecise.

    Conclusions
    * MySQL lost 6.3 % of its acknowledged updates at 8 clients, without reporting
      an error. MySQL lost no updates at 1 client.
    * MySQL has 21 % lower throughput than MariaDB over 1 to 8 clients (95.1 %
      interval: 19 to 23 %). The difference depends on the number of clients: the
      throughput of MySQL is 76 % of that of MariaDB at 1 client, and 82 % of that
      at 8 clients. However, MySQL lost part of this work (see the data audit).
    * MariaDB lost no acknowledged updates (26,675 commits checked over all trials,
      up to 8 clients).
    * MySQL is worse than MariaDB at 1 and 8 clients: 76 to 82 % of the throughput
      (95 % intervals within 73 to 85 %). However, MySQL lost part of this work (see
      the data audit).
    * MariaDB reached its highest mean throughput with 8 clients: 1,173 transactions
      per second (95 % interval 1,118 to 1,231). That is the largest number of
      clients measured: the peak may be higher.
    * MySQL reached its highest mean throughput with 8 clients: 960 transactions per
      second (95 % interval 923 to 998). That is the largest number of clients
      measured: the peak may be higher. However, MySQL lost part of this work (see
      the data audit).
    "###);
}

#[test]
#[expect(clippy::too_many_lines, reason = "the page itself is the test")]
fn the_markdown_report_reads_like_this() {
    assert_snapshot!(render(tiny_model(), Format::Markdown, EN), @r###"
    # SELECT + UPDATE + COMMIT under a rush of clients

    Every client reads a counter, adds one and writes it back, on 100 rows.

    Measured 2026-11-21 08:45:00 (UTC) with dyno 0.1.0; profile synthetic, 3 blocks, seed 2005. Synthetic CPU at 2.50GHz, 2 logical processors, 8,590 MB memory, Debian GNU/Linux 12 (bookworm), Linux 6.1.0.

    A configuration is a system with one level of each factor and a number of clients. A trial measures one configuration once. A block measures every configuration once.

    ## Conclusions

    - MySQL lost 6.3 % of its acknowledged updates at 8 clients, without reporting an error. MySQL lost no updates at 1 client.
    - MySQL has 21 % lower throughput than MariaDB over 1 to 8 clients (95.1 % interval: 19 to 23 %). The difference depends on the number of clients: the throughput of MySQL is 76 % of that of MariaDB at 1 client, and 82 % of that at 8 clients. However, MySQL lost part of this work (see the data audit).
    - MariaDB lost no acknowledged updates (26,675 commits checked over all trials, up to 8 clients).
    - MySQL is worse than MariaDB at 1 and 8 clients: 76 to 82 % of the throughput (95 % intervals within 73 to 85 %). However, MySQL lost part of this work (see the data audit).
    - MariaDB reached its highest mean throughput with 8 clients: 1,173 transactions per second (95 % interval 1,118 to 1,231). That is the largest number of clients measured: the peak may be higher.
    - MySQL reached its highest mean throughput with 8 clients: 960 transactions per second (95 % interval 923 to 998). That is the largest number of clients measured: the peak may be higher. However, MySQL lost part of this work (see the data audit).

    ## Results

    | system | clients | n | tx/s | ±95 % | mean ms | p95 ms | p99 ms | failed | retries | lost % | validity |
    |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|
    | MariaDB | 1 | 3 | 605 | 47 | 1.59 | 2.26 | 8.46 | 0 | 0 | 0 % | valid |
    | MariaDB | 8 | 3 | 1,173 | 57 | 6.73 | 9.47 | 37.3 | 0 | 1,455 | 0 % | valid |
    | MySQL | 1 | 3 | 462 | 15 | 2.10 | 2.85 | 12.4 | 0 | 0 | 0 % | valid |
    | MySQL | 8 | 3 | 960 | 38 | 8.46 | 11.9 | 46.4 | 0 | 0 | 6.3 % | warnings |

    Throughput and response times are geometric means over n valid trials, so the quotient of two figures is their ratio in comparisons. ±: distance to the upper end of the 95 % confidence interval.

    Closed loop: each client starts its next transaction when the previous one ends. Response times include retries.

    ## Questions

    | system | metric | pairs | ratio | interval | p (corrected) | verdict |
    |---|---|---:|---:|---:|---:|---|
    | MySQL : MariaDB | throughput | 2 | 0.79 | 0.77 .. 0.81 | \< 0.001 | worse |
    | MySQL : MariaDB | p95 response time | 2 | 1.26 | 1.15 .. 1.38 | 0.009 | worse |

    Each question is one effect over all of its configuration pairs: a ratio of geometric means from a linear mixed model on logarithms, with blocks and server starts as random effects. The primary metric (throughput) is tested first, at nearly the whole significance level of 5 %. Once its effect is established, the level passes to the other metrics of the question and, with several questions, half of it to their primary metrics; until then, the other metrics have 2 % (a graphical procedure; Bretz et al.). The probability of even one false better or worse (family-wise error rate) is at most 5 %. Each interval has the level at which its question was tested.

    ## Sources of variation

    | system | standard error | detectable | server starts | data sets | trials | within trials | blocks needed | reduced by |
    |---|---:|---:|---:|---:|---:|---:|---:|---|
    | MySQL : MariaDB | 0.63 % | 3.4 % | 0 % | - | 100 % | 0 % | - | more blocks |

    The standard error of each ratio (throughput), and the components of its variance: between server starts, between data sets, between trials, and from second to second within trials. Variation between blocks affects both sides of a ratio and cancels out. Longer windows reduce only the variation within trials; more blocks reduce all of it. A dash marks a component that does not exist or is unknown. Blocks needed: about how many would detect a difference of 5 % in an undecided question.

    ## Comparisons

    | system | metric | clients | n | ratio | interval | p (corrected) | detectable | verdict |
    |---|---|---:|---:|---:|---:|---:|---:|---|
    | MySQL : MariaDB | throughput | 1 | 3 | 0.76 | 0.73 .. 0.80 | 0.002 | 5.8 % | worse |
    | MySQL : MariaDB | throughput | 8 | 3 | 0.82 | 0.79 .. 0.85 | 0.002 | 5.3 % | worse |
    | MySQL : MariaDB | p95 response time | 1 | 3 | 1.26 | 1.21 .. 1.33 | 0.009 | 6.2 % | worse |
    | MySQL : MariaDB | p95 response time | 8 | 3 | 1.25 | 1.07 .. 1.47 | 0.027 | 22.2 % | worse |

    Ratios are geometric means over blocks, paired by block, with a t interval on logarithms; the variance of each comparison is moderated towards that of similar ones. All comparisons of the same two systems or levels form one question. They are called better or worse only if that question was decided, and after correction for all comparisons (Benjamini and Hochberg): on average, at most 5 % of these verdicts are false. Intervals are widened accordingly (Benjamini and Yekutieli), to 95 %. Equivalent: the 90 % interval, which is then shown, lies within a margin of 5 %. Inconclusive: the data does not decide, which does not mean that there is no difference. If a side failed in some of its trials, its other trials can count against it, not for it.

    Detectable: the smallest difference that these trials would detect with 80 % power, with the same correction.

    ## Data audit

    | system | clients | audit | committed | lost | lost % | conflicts in log | unacknowledged | in doubt | errors reported |
    |---|---:|---|---:|---:|---:|---:|---:|---:|---:|
    | MariaDB | 1 | intact | 9,075 | 0 | 0 % | 0 | 0 | 0 | 0 |
    | MariaDB | 8 | intact | 17,600 | 0 | 0 % | 0 | 0 | 0 | 1,455 |
    | MySQL | 1 | intact | 6,925 | 0 | 0 % | 0 | 0 | 0 | 0 |
    | MySQL | 8 | VIOLATED | 14,400 | 904 | 6.3 % | 813 | 0 | 0 | 0 |

    Counts are sums over all measured trials of a configuration, warm-up included. Lost: acknowledged updates that are missing from the data. Conflicts in log: pairs of committed transactions that read the same value of the same row, according to the log of the clients. One stale write can undo several updates, so there may be more losses than conflicts.

    | system | clients | trial | table or sum | expected | found | audit |
    |---|---:|---|---|---:|---:|---|
    | MariaDB | 1 | b03-003 | rush | 100 | 100 | intact |
    | MariaDB | 8 | b03-004 | rush | 100 | 100 | intact |
    | MySQL | 1 | b03-001 | rush | 100 | 100 | intact |
    | MySQL | 8 | b03-002 | rush | 100 | 100 | intact |

    These checks run after every trial. The row shows the first trial in which the check failed; otherwise the last undecided trial, or the last trial if all were correct.

    Trial b01-002: client 3 (transaction 17) and client 11 (transaction 15) both read 11 from row 42, and both commits were acknowledged.

    ## Warnings

    - warning (3 of 12 trials): The data audit failed: part of the work counted here was lost or is wrong.
    - note (12 of 12 trials): The load generator and the server share processors and slow each other down. Compare these results only with results measured in the same way.
    - note (12 of 12 trials): The shortest measurement window is only 5.00 s long. Its results are imprecise.

    ## Failures and retries by kind

    | system | clients | kind | failed | retries |
    |---|---:|---|---:|---:|
    | MariaDB | 8 | serialization | 0 | 1,455 |

    Failed: transactions that were given up, by the kind of the last error. Retries: further attempts, by the kind of the error that caused them. A retried transaction counts once.

    ## Response times by statement

    | system | statement | ok | failed | mean | sd | min | p50 | p70 | p80 | p90 | p95 | p99 | p99.9 | max |
    |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
    | MariaDB, 1 client | transaction | 9,075 | 0 | 1.58 | 1.08 | 0.614 | 1.41 | 1.61 | 1.74 | 1.99 | 2.23 | 8.68 | - | 11.3 |
    | MariaDB, 1 client | select | 9,075 | 0 | 0.396 | 0.271 | 0.154 | 0.351 | 0.403 | 0.436 | 0.497 | 0.557 | 2.17 | - | 2.83 |
    | MariaDB, 1 client | update | 9,075 | 0 | 0.555 | 0.379 | 0.215 | 0.492 | 0.564 | 0.611 | 0.696 | 0.779 | 3.04 | - | 3.96 |
    | MariaDB, 1 client | commit | 9,075 | 0 | 0.634 | 0.433 | 0.246 | 0.562 | 0.645 | 0.698 | 0.796 | 0.890 | 3.47 | - | 4.53 |
    | MariaDB, 8 clients | transaction | 17,600 | 0 | 6.73 | 5.15 | 2.17 | 5.81 | 6.64 | 7.32 | 8.34 | 9.47 | 36.5 | 56.9 | 64.5 |
    | MariaDB, 8 clients | select | 19,055 | 0 | 1.68 | 1.29 | 0.542 | 1.45 | 1.66 | 1.83 | 2.08 | 2.37 | 9.13 | 14.2 | 16.1 |
    | MariaDB, 8 clients | update | 17,600 | 1,455 | 2.36 | 1.80 | 0.758 | 2.03 | 2.32 | 2.56 | 2.92 | 3.31 | 12.8 | 19.9 | 22.6 |
    | MariaDB, 8 clients | commit | 17,600 | 0 | 2.69 | 2.06 | 0.867 | 2.32 | 2.65 | 2.93 | 3.34 | 3.79 | 14.6 | 22.8 | 25.8 |
    | MySQL, 1 client | transaction | 6,925 | 0 | 2.10 | 1.65 | 0.785 | 1.82 | 2.08 | 2.28 | 2.56 | 2.91 | 12.6 | - | 19.7 |
    | MySQL, 1 client | select | 6,925 | 0 | 0.526 | 0.411 | 0.196 | 0.455 | 0.520 | 0.569 | 0.639 | 0.729 | 3.14 | - | 4.93 |
    | MySQL, 1 client | update | 6,925 | 0 | 0.736 | 0.576 | 0.275 | 0.637 | 0.728 | 0.797 | 0.894 | 1.02 | 4.40 | - | 6.91 |
    | MySQL, 1 client | commit | 6,925 | 0 | 0.841 | 0.658 | 0.314 | 0.729 | 0.832 | 0.911 | 1.02 | 1.17 | 5.03 | - | 7.89 |
    | MySQL, 8 clients | transaction | 14,400 | 0 | 8.46 | 6.67 | 2.98 | 7.23 | 8.25 | 9.04 | 10.3 | 12.0 | 45.9 | 65.2 | 71.0 |
    | MySQL, 8 clients | select | 14,400 | 0 | 2.12 | 1.67 | 0.745 | 1.81 | 2.06 | 2.26 | 2.57 | 2.99 | 11.5 | 16.3 | 17.8 |
    | MySQL, 8 clients | update | 14,400 | 0 | 2.96 | 2.33 | 1.04 | 2.53 | 2.89 | 3.16 | 3.60 | 4.19 | 16.0 | 22.8 | 24.9 |
    | MySQL, 8 clients | commit | 14,400 | 0 | 3.38 | 2.67 | 1.19 | 2.89 | 3.30 | 3.61 | 4.11 | 4.79 | 18.4 | 26.1 | 28.4 |

    Percentiles come from the merged histograms of all valid trials. A percentile with fewer than ten values above it is not shown.

    ## Load generator

    | system | clients | workers | busiest worker CPU % | stalled % | user µs/stmt | sys µs/stmt | wake-up lag p99 ms | memory MB |
    |---|---:|---:|---:|---:|---:|---:|---:|---:|
    | MariaDB | 1 | 1 | 0.893 | 0 | 1.90 | 3.10 | 0.0900 | 14.0 |
    | MariaDB | 8 | 1 | 1.82 | 0 | 1.90 | 3.10 | 0.0900 | 14.2 |
    | MySQL | 1 | 1 | 0.670 | 0 | 1.90 | 3.10 | 0.0900 | 14.0 |
    | MySQL | 8 | 1 | 1.40 | 0 | 1.90 | 3.10 | 0.0900 | 14.2 |

    CPU time per statement is that of all generator processes; with embedded SQLite it includes the database. Stalled: share of the window during which a worker was stalled, maximum over all workers and trials.

    ## All trials

    | trial | system | clients | validity | tx/s | mean ms | p50 ms | p95 ms | p99 ms | max ms | longest commit gap ms | committed | failed | retries | lost | reason |
    |---|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|
    | b01-001 | MySQL | 1 | valid | 465 | 2.07 | 1.81 | 2.81 | 11.2 | 15.7 | 10.0 | 2,325 | 0 | 0 | 0 |  |
    | b01-002 | MySQL | 8 | warnings | 975 | 8.32 | 7.19 | 11.4 | 45.0 | 65.2 | 10.0 | 4,875 | 0 | 0 | 329 | The data audit failed: part of the work counted here was lost or is wrong. |
    | b01-003 | MariaDB | 1 | valid | 620 | 1.52 | 1.37 | 2.22 | 7.77 | 10.1 | 10.0 | 3,100 | 0 | 0 | 0 |  |
    | b01-004 | MariaDB | 8 | valid | 1,175 | 6.83 | 5.78 | 9.76 | 38.1 | 64.5 | 10.0 | 5,875 | 0 | 485 | 0 |  |
    | b02-001 | MySQL | 8 | warnings | 960 | 8.40 | 7.10 | 11.6 | 48.4 | 71.0 | 10.0 | 4,800 | 0 | 0 | 285 | The data audit failed: part of the work counted here was lost or is wrong. |
    | b02-002 | MySQL | 1 | valid | 465 | 2.06 | 1.77 | 2.74 | 13.2 | 15.3 | 10.0 | 2,325 | 0 | 0 | 0 |  |
    | b02-003 | MariaDB | 1 | valid | 610 | 1.58 | 1.39 | 2.21 | 7.96 | 10.2 | 10.0 | 3,050 | 0 | 0 | 0 |  |
    | b02-004 | MariaDB | 8 | valid | 1,195 | 6.52 | 5.66 | 9.18 | 35.0 | 58.9 | 10.0 | 5,975 | 0 | 495 | 0 |  |
    | b03-001 | MySQL | 1 | valid | 455 | 2.17 | 1.90 | 3.01 | 12.8 | 19.7 | 10.0 | 2,275 | 0 | 0 | 0 |  |
    | b03-002 | MySQL | 8 | warnings | 945 | 8.67 | 7.40 | 12.6 | 45.9 | 56.7 | 10.0 | 4,725 | 0 | 0 | 290 | The data audit failed: part of the work counted here was lost or is wrong. |
    | b03-003 | MariaDB | 1 | valid | 585 | 1.65 | 1.46 | 2.34 | 9.81 | 11.3 | 10.0 | 2,925 | 0 | 0 | 0 |  |
    | b03-004 | MariaDB | 8 | valid | 1,150 | 6.84 | 5.97 | 9.49 | 39.0 | 52.6 | 10.0 | 5,750 | 0 | 475 | 0 |  |

    Invalid trials are excluded from all means and comparisons; the table of all trials lists them with the reason.

    ## Published figures

    | series | metric | clients | value |
    |---|---|---:|---:|
    | MySQL 5.0, one disk | throughput | 1 | ~900 tx/s |
    | MySQL 5.0, one disk | throughput | 8 | ~482 tx/s |

    Published figures are from notebook PC, 2005. They were measured on other machines: compare the shape, not the values.

    ## How it was measured

    - Workload rush with isolation = default, rows = 100, variant = read-modify-write.
    - A trial ends after 5 s; warm-up 1 s, at most 10 attempts per transaction.

    ## Topology

    - dyno 0.1.0 (up to 8 clients) → server: MariaDB 11.8.2 and MySQL 9.7.0

    ## Systems

    | system | version | setting | value |
    |---|---|---|---|
    | MariaDB | 11.8.2-MariaDB | isolation level | REPEATABLE-READ |
    | MariaDB | 11.8.2-MariaDB | max\_connections | 200 |
    | MySQL | 9.7.0 | isolation level | REPEATABLE-READ |
    | MySQL | 9.7.0 | max\_connections | 200 |

    ## Spec file

    ```toml
    title = "SELECT + UPDATE + COMMIT under a rush of clients"

    [workload]
    kind = "rush"
    ```
    "###);
}

#[test]
fn the_csv_has_one_figure_per_line() {
    let csv = render(tiny_model(), Format::Csv, EN);
    let chosen = |line: &&str| {
        ["scope,", "trial,MySQL,8,1,", "configuration,MySQL,8,"]
            .iter()
            .any(|start| line.starts_with(start))
    };
    assert_snapshot!(csv.lines().filter(chosen).collect::<Vec<_>>().join("\n"), @r###"
    scope,system,clients,block,trial,state,metric,unit,value,low,high,n
    trial,MySQL,8,1,b01-002,warned,throughput,transactions-per-second,975,,,
    trial,MySQL,8,1,b01-002,warned,mean,milliseconds,8.324797571282055,,,
    trial,MySQL,8,1,b01-002,warned,p50,milliseconds,7.192575,,,
    trial,MySQL,8,1,b01-002,warned,p90,milliseconds,9.928703,,,
    trial,MySQL,8,1,b01-002,warned,p95,milliseconds,11.403263,,,
    trial,MySQL,8,1,b01-002,warned,p99,milliseconds,44.990463,,,
    trial,MySQL,8,1,b01-002,warned,max,milliseconds,65.208319,,,
    trial,MySQL,8,1,b01-002,warned,longest-gap,milliseconds,10,,,
    trial,MySQL,8,1,b01-002,warned,window,seconds,5,,,
    trial,MySQL,8,1,b01-002,warned,committed,count,4875,,,
    trial,MySQL,8,1,b01-002,warned,failed,count,0,,,
    trial,MySQL,8,1,b01-002,warned,unfinished,count,0,,,
    trial,MySQL,8,1,b01-002,warned,retries,count,0,,,
    trial,MySQL,8,1,b01-002,warned,lost,count,329,,,
    configuration,MySQL,8,,,warned,throughput,transactions-per-second,959.9218686413087,923.3733865054149,997.9169936694058,3
    configuration,MySQL,8,,,warned,mean,milliseconds,8.461198562347155,8.028436267971736,8.917288338835151,3
    configuration,MySQL,8,,,warned,p50,milliseconds,7.2297565175923495,6.865235815008017,7.613632031313991,3
    configuration,MySQL,8,,,warned,p90,milliseconds,10.255621152599211,9.472674781588099,11.103280504264,3
    configuration,MySQL,8,,,warned,p95,milliseconds,11.864708046400743,10.416182266813781,13.514672979065223,3
    configuration,MySQL,8,,,warned,p99,milliseconds,46.39910623361491,42.239591042761724,50.968226872717416,3
    configuration,MySQL,8,,,warned,committed,count,14400,,,
    configuration,MySQL,8,,,warned,failed,count,0,,,
    configuration,MySQL,8,,,warned,unfinished,count,0,,,
    configuration,MySQL,8,,,warned,retries,count,0,,,
    configuration,MySQL,8,,,warned,retries-per-commit,ratio,0,,,
    configuration,MySQL,8,,,warned,statements-per-transaction,count,3,,,
    configuration,MySQL,8,,,warned,lost-percent,percent,6.277777777777778,,,
    configuration,MySQL,8,,,warned,merged-count,count,14400,,,
    configuration,MySQL,8,,,warned,merged-mean,milliseconds,8.460686577777775,,,
    configuration,MySQL,8,,,warned,merged-deviation,milliseconds,6.670770423561446,,,
    configuration,MySQL,8,,,warned,merged-min,milliseconds,2.981888,,,
    configuration,MySQL,8,,,warned,merged-p50,milliseconds,7.225343,,,
    configuration,MySQL,8,,,warned,merged-p70,milliseconds,8.253439,,,
    configuration,MySQL,8,,,warned,merged-p80,milliseconds,9.035775,,,
    configuration,MySQL,8,,,warned,merged-p90,milliseconds,10.280959,,,
    configuration,MySQL,8,,,warned,merged-p95,milliseconds,11.968511,,,
    configuration,MySQL,8,,,warned,merged-p99,milliseconds,45.875199,,,
    configuration,MySQL,8,,,warned,merged-p99.9,milliseconds,65.208319,,,
    configuration,MySQL,8,,,warned,merged-max,milliseconds,71.041023,,,
    configuration,MySQL,8,,,warned,workers,count,1,,,
    configuration,MySQL,8,,,warned,worker-cpu,percent,1.404,,,
    configuration,MySQL,8,,,warned,stalled,percent,0,,,
    configuration,MySQL,8,,,warned,cpu-user-per-statement,microseconds,1.9,,,
    configuration,MySQL,8,,,warned,cpu-system-per-statement,microseconds,3.1,,,
    configuration,MySQL,8,,,warned,wakeup-lag,milliseconds,0.09,,,
    configuration,MySQL,8,,,warned,statements-per-wakeup,count,1.5,,,
    configuration,MySQL,8,,,warned,generator-memory,bytes,14160000,,,
    "###);
}

#[test]
fn reports_are_written_beside_the_run_and_replaced() {
    let scratch = tempfile::tempdir().expect("scratch");
    let folder = scratch.path().join("run");
    tiny().write(&folder).expect("written");
    let model = read_model(&folder).expect("readable");
    let formats = [Format::Csv, Format::Text];
    for _ in 0..2 {
        let paths = write(&model, &folder, &formats, EN).expect("written");
        assert_eq!(paths, [folder.join("report.csv"), folder.join("report.txt")]);
    }
    assert!(
        std::fs::read_to_string(folder.join("report.txt")).expect("there").contains("Conclusions")
    );
    let error = write(&model, &folder.join("nowhere"), &formats, EN).expect_err("no such folder");
    assert!(error.to_string().ends_with("nowhere/report.csv"), "{error}");
}

#[test]
fn reports_say_what_response_times_mean_in_an_open_loop() {
    let mut model = tiny_model().clone();
    assert!(!render(&model, Format::Html, EN).contains("open loop"));
    for load in &mut model.provenance.loads {
        load.rate = Some(500.0);
    }
    for format in [Format::Markdown, Format::Html] {
        let report = render(&model, format, EN);
        assert!(report.contains("Open loop: transactions arrive at the given rate"), "{format:?}");
        assert!(report.contains("500/s"), "{format:?}");
        assert!(!report.contains("losed loop"), "{format:?}");
    }
}

#[test]
fn failures_are_reported_in_every_format() {
    let model = rush();
    let invalid = model
        .trials
        .iter()
        .find(|trial| trial.state == TrialState::Invalid)
        .expect("one")
        .id
        .clone();
    let failed = model.completeness.failed[0].trial.clone();
    for format in [Format::Text, Format::Markdown] {
        let text = render(model, format, EN);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("53 of 54 trials measured, 1 failed"), "{format:?}");
        assert!(text.contains("used 95.3 % of one processor"), "{format:?}");
        assert!(text.contains(&format!("Trial {failed} (")), "{format:?}");
    }
    let csv = render(model, Format::Csv, EN);
    assert!(csv.lines().any(|line| line.contains(&format!(",{invalid},invalid,throughput,"))));
    assert!(csv.lines().any(|line| line.contains(&format!(",{failed},failed,committed,count,0"))));
}

#[test]
fn invalid_trials_are_in_no_mean_but_stay_listed() {
    let model = rush();
    let invalid =
        model.trials.iter().find(|trial| trial.state == TrialState::Invalid).expect("one");
    let row = &model.configurations[invalid.configuration];
    assert_eq!((row.trials_measured, row.trials_valid), (3, 2));
    let throughput = row.figures.estimate(Metric::Throughput).expect("others are valid");
    assert_eq!(throughput.repeats, 2);
    let others: Vec<f64> = model
        .trials
        .iter()
        .filter(|trial| trial.configuration == invalid.configuration && trial.id != invalid.id)
        .filter_map(|trial| trial.figures.as_ref()?.value(Metric::Throughput))
        .collect();
    let mean = others.iter().product::<f64>().sqrt();
    assert!((throughput.mean - mean).abs() < 1e-9);
    assert!(invalid.figures.is_some());
}

#[test]
fn a_configurations_counters_are_the_sums_of_its_trials() {
    let model = rush();
    for (index, row) in model.configurations.iter().enumerate() {
        let trials = model.trials.iter().filter(|trial| trial.configuration == index);
        let valid = trials.clone().filter(|it| it.state.is_usable());
        let committed =
            valid.filter_map(|trial| trial.figures.as_ref()?.count(Metric::Committed)).sum::<u64>();
        // Commits of an invalid trial are in no value, and therefore not in their number either.
        assert_eq!(
            [Metric::Committed, Metric::MergedCount].map(|it| row.figures.count(it)),
            [Some(committed); 2]
        );
        let retries = row.figures.count(Metric::Retries);
        let figures: Vec<_> = trials.filter_map(|trial| trial.figures.as_ref()).collect();
        let of_trials = figures.iter().map(|figures| figures.count(Metric::Retries));
        assert_eq!(retries, of_trials.sum::<Option<u64>>());
        assert_eq!(retries, Some(row.retries_by_kind.iter().map(|kind| kind.count).sum::<u64>()));
        assert_eq!(row.trials_measured as usize, figures.len());
        let per_commit = row.figures.value(Metric::RetriesPerCommit);
        let has_invalid = row.trials_valid < row.trials_measured;
        let expected = retries.expect("counted") as f64 / committed as f64;
        assert!(has_invalid || per_commit == Some(expected), "{per_commit:?} {expected}");
    }
    for table in &model.statements {
        let count = |figures: &Figures| figures.count(Metric::MergedCount).expect("measured");
        let merged = count(&model.configurations[table.configuration].figures);
        assert_eq!(table.transaction.ok, merged);
        for statement in &table.statements {
            assert!(count(&statement.figures) <= statement.ok);
        }
    }
}

#[test]
fn two_blocks_give_figures_and_no_verdict() {
    let model = analyse(&Shape { blocks: 2, ..tiny() }.read());
    let mut effects = model.comparisons.iter().map(|comparison| comparison.effect);
    assert!(effects.all(|it| it.verdict.is_none() && it.p.is_none() && it.ratio.is_some()));
    let text = render(&model, Format::Text, EN).replace("\n  ", " ");
    assert!(
        text.contains("No verdicts: they need at least 3 blocks, and this run has 2."),
        "{text}"
    );
    assert!(!text.contains("MySQL is worse"), "{text}");
    let markdown = render(&model, Format::Markdown, EN);
    assert!(markdown.lines().any(
        |line| line.starts_with("| MySQL : MariaDB | throughput |") && line.ends_with("| - |")
    ));
}

#[test]
fn a_system_without_any_valid_trial_cannot_be_compared() {
    let scratch = tempfile::tempdir().expect("scratch");
    let folder = scratch.path().join("run");
    tiny().write(&folder).expect("written");
    let events = folder.join("events.jsonl");
    // All of MySQL's trials become invalid: the window was cut short.
    let text = std::fs::read_to_string(&events)
        .expect("there")
        .replace("\"server_version\":\"9.7.0\"", "\"server_version\":\"9.7.0\",\"x\":0");
    let changed: String = text
        .lines()
        .map(|line| {
            let line = if line.contains("9.7.0\",\"x\"") {
                line.replace(
                    "\"warnings\":[",
                    "\"warnings\":[{\"warning\":\"cut-short\",\"reason\":{\"text\":\"it died\"}},",
                )
            } else {
                line.to_owned()
            };
            line + "\n"
        })
        .collect();
    std::fs::write(&events, changed).expect("written");
    let model: ReportModel = read_model(&folder).expect("readable");
    assert!(
        model
            .comparisons
            .iter()
            .all(|comparison| comparison.effect.verdict == Some(Verdict::Invalid))
    );
    let text = render(&model, Format::Text, EN).replace("\n  ", " ");
    assert!(text.contains("MySQL and MariaDB cannot be compared at 1 and 8 clients"), "{text}");
    assert!(text.contains("Most frequent reason: The trial ended early: it died"), "{text}");
}

#[test]
fn only_what_the_experiment_asks_about_gets_verdicts() {
    let scratch = tempfile::tempdir().expect("scratch");
    let folder = scratch.path().join("run");
    let shape = Shape { variants: vec!["read-modify-write", "in-place"], ..tiny() };
    shape.write(&folder).expect("written");
    let pairs = |compare: Option<Compare>| {
        let plan = Plan { compare, ..shape.plan() };
        std::fs::write(folder.join("plan.json"), serde_json::to_string(&plan).expect("data"))
            .expect("written");
        let model = read_model(&folder).expect("readable");
        model.comparisons.into_iter().map(|comparison| comparison.of).collect::<Vec<_>>()
    };
    let is_system = |of: &ComparisonOf| *of == ComparisonOf::System;
    let everything = pairs(None);
    let systems = pairs(Some(Compare::System));
    let levels = pairs(Some(Compare::Factor(0)));
    assert!(systems.iter().all(is_system) && !systems.is_empty());
    assert!(!levels.iter().any(is_system) && !levels.is_empty());
    assert_eq!(everything.len(), systems.len() + levels.len());
    let plan = Plan { compare: Some(Compare::Factor(0)), ..shape.plan() };
    std::fs::write(folder.join("plan.json"), serde_json::to_string(&plan).expect("data"))
        .expect("written");
    let text =
        render(&read_model(&folder).expect("readable"), Format::Text, EN).replace("\n  ", " ");
    assert!(
        text.contains("MySQL: in-place is ") && text.contains(" than read-modify-write at "),
        "{text}"
    );
}

#[test]
fn a_remedy_is_set_off_from_the_reason_of_what_failed() {
    let mut model = analyse(&Shape::small().read());
    let reason = |of: &str| Reason::from(format!("no room for {of}\nhint: make some"));
    model.completeness.failed.push(dyno_analysis::model::FailedTrial {
        trial: "b01-001".to_owned(),
        configuration: 0,
        reason: reason("it"),
    });
    model.provenance.systems[0].failure = Some(reason("them"));
    for format in [Format::Text, Format::Markdown] {
        let text = render(&model, format, EN).split_whitespace().collect::<Vec<_>>().join(" ");
        for of in ["it", "them"] {
            assert!(text.contains(&format!("no room for {of}; hint: make some")), "{text}");
        }
    }
}

#[test]
fn titles_and_server_messages_cannot_command_a_terminal_or_add_lines() {
    let mut model = analyse(&Shape::small().read());
    model.title = "rush\u{1b}[31m\n## no heading".to_owned();
    model.series[0].label = "Maria\u{9b}2JDB".to_owned();
    model.completeness.failed.push(dyno_analysis::model::FailedTrial {
        trial: "b01-001".to_owned(),
        configuration: 0,
        reason: "access denied for \u{1b}]0;owned\u{7}\n* a line".into(),
    });
    for format in [Format::Text, Format::Markdown] {
        let text = render(&model, format, EN);
        let obeyed = text.chars().filter(|c| c.is_control() && *c != '\n').collect::<Vec<_>>();
        assert_eq!(obeyed, [], "{}", format.name());
        assert!(text.contains("31m") && text.contains("2JDB"), "{}", format.name());
        assert!(!text.contains("\n## no heading") && !text.contains("\n* a line"), "{text}");
    }
}
