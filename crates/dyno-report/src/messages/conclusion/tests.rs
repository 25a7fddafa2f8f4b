use super::*;
use crate::messages::EN;
use dyno_analysis::model::{ComparisonOf, Unit};
use dyno_model::plan::ComparisonMetric;
use dyno_model::warning::Warning;
use dyno_store::fixture::Shape;

fn model() -> ReportModel {
    dyno_analysis::analyse(&Shape { clients: vec![1, 8], blocks: 1, ..Shape::small() }.read())
}

fn comparison(verdict: Option<Verdict>, exceeds_margin: bool, ratio: Option<Range>) -> Conclusion {
    Conclusion::Comparison {
        of: ComparisonOf::System,
        metric: ComparisonMetric::Throughput,
        subject: 1,
        baseline: 0,
        verdict,
        is_question_unanswered: false,
        clients: vec![1, 8],
        ratio,
        ratio_interval: ratio.map(|ratio| Range { low: ratio.low * 0.9, high: ratio.high * 1.1 }),
        interval_level: Some(0.95),
        not_working: Vec::new(),
        exceeds_margin,
        detectable_ratio: Some(1.07),
    }
}

fn peak(interval: Option<Range>, is_at_end: bool, clients_measured: u32) -> Conclusion {
    let throughput = Estimate {
        unit: Unit::TransactionsPerSecond,
        mean: 500.0,
        interval,
        repeats: 3,
        is_bound: false,
    };
    Conclusion::PeakThroughput { series: 0, clients: 8, throughput, is_at_end, clients_measured }
}

fn lost(percent_max: f64, statement_errors: u64, clients_without: Vec<u32>) -> Conclusion {
    Conclusion::LostUpdates {
        series: 1,
        clients: vec![20],
        percent_min: 11.8,
        percent_max,
        lost: 118,
        committed: 1000,
        statement_errors,
        clients_without,
    }
}

#[test]
fn a_stranger_understands_the_sentence_about_lost_updates() {
    assert_eq!(
        sentence(&model(), &lost(11.8, 0, vec![]), EN),
        "MySQL lost 11.8 % of its acknowledged updates at 20 clients, without reporting an error."
    );
    assert_eq!(
        sentence(&model(), &lost(24.0, 1234, vec![1]), EN),
        "MySQL lost 11.8 % to 24.0 % of its acknowledged updates at 20 clients. 1,234 statements failed; these are not counted as lost. MySQL lost no updates at 1 client."
    );
}

#[test]
fn trials_that_committed_nothing_are_not_said_to_vary() {
    for clients_measured in [1, 4] {
        let mut none = peak(None, false, clients_measured);
        if let Conclusion::PeakThroughput { throughput, .. } = &mut none {
            throughput.mean = 0.0;
        }
        let reported = sentence(&model(), &none, EN);
        assert!(reported.ends_with("committed no transaction in 3 valid trials."), "{reported}");
    }
}

#[test]
fn every_outcome_of_a_comparison_has_a_sentence() {
    let model = model();
    let one = Some(Range { low: 1.3, high: 1.3 });
    let several = Some(Range { low: 1.3, high: 1.5 });
    let verdicts = [
        Some(Verdict::Better),
        Some(Verdict::Worse),
        Some(Verdict::Equivalent),
        Some(Verdict::Inconclusive),
        Some(Verdict::Invalid),
        None,
    ];
    let mut sentences = std::collections::BTreeSet::new();
    for verdict in verdicts {
        for exceeds_margin in [true, false] {
            for ratio in [one, several, None] {
                let text = sentence(&model, &comparison(verdict, exceeds_margin, ratio), EN);
                assert!(text.contains("MySQL") && text.contains("MariaDB"), "{text}");
                assert!(!text.contains(['{', '}']), "{text}");
                sentences.insert(text);
            }
        }
    }
    // Better and worse: four each; equivalent, inconclusive, none: two each; too few, not
    // comparable: one each.
    assert_eq!(sentences.len(), 16, "{sentences:#?}");
}

#[test]
fn a_comparison_with_an_unanswered_question_gets_no_verdict() {
    let unanswered = |ratio| {
        let mut conclusion = comparison(Some(Verdict::Inconclusive), true, Some(ratio));
        if let Conclusion::Comparison { is_question_unanswered, .. } = &mut conclusion {
            *is_question_unanswered = true;
        }
        sentence(&model(), &conclusion, EN)
    };
    assert_eq!(
        unanswered(Range { low: 0.23, high: 0.23 }),
        "MySQL and MariaDB were not tested at 1 and 8 clients: the question over all configurations needs two configuration pairs with enough valid trials, and this is the only one. MySQL has 23 % of the throughput of MariaDB (95 % interval 21 to 25 %). However, MySQL lost part of this work (see the data audit)."
    );
    assert_eq!(
        unanswered(Range { low: 0.2, high: 0.3 }),
        "MySQL and MariaDB were not tested at 1 and 8 clients: the question over all configurations needs two configuration pairs with enough valid trials, and this is the only one. MySQL has 20 to 30 % of the throughput of MariaDB (95 % intervals within 18 to 33 %). However, MySQL lost part of this work (see the data audit)."
    );
}

#[test]
fn every_other_conclusion_has_a_sentence() {
    let model = model();
    let interval = Some(Range { low: 480.0, high: 520.0 });
    let incomplete = |is_interrupted| Conclusion::Incomplete {
        planned: 4,
        measured: 2,
        failed: 1,
        missing: 1,
        is_interrupted,
    };
    let conclusions = [
        incomplete(true),
        incomplete(false),
        Conclusion::InvalidTrials {
            invalid: 1,
            measured: 2,
            warning: Warning::GeneratorBusy { share: 0.95 },
        },
        Conclusion::VerdictsDisabled { blocks: 2, needed: 3 },
        lost(11.8, 0, vec![]),
        lost(11.8, 3, vec![]),
        lost(20.0, 0, vec![]),
        lost(20.0, 3, vec![]),
        Conclusion::UndecidedUpdates {
            series: 0,
            clients: vec![8],
            committed: 1000,
            in_doubt: 8,
            lost_max: 5,
        },
        Conclusion::NoLostUpdates { series: vec![0, 1], committed: 1000, clients_max: 8 },
        Conclusion::AuditViolated {
            series: 0,
            clients: vec![8],
            phantom: 3,
            tables: vec!["sbtest1".into()],
            sums: Vec::new(),
        },
        Conclusion::AuditViolated {
            series: 0,
            clients: vec![8],
            phantom: 0,
            tables: Vec::new(),
            sums: vec!["SUM(dbatest.c1)".into()],
        },
        peak(interval, false, 2),
        peak(interval, true, 2),
        peak(interval, true, 1),
        peak(None, false, 2),
        peak(None, true, 1),
        Conclusion::Served {
            configuration: 0,
            least: "south".to_owned(),
            lowest: 400.0,
            most: "north".to_owned(),
            highest: 500.0,
        },
    ];
    let mut sentences = std::collections::BTreeSet::new();
    for conclusion in &conclusions {
        let text = sentence(&model, conclusion, EN);
        assert!(text.ends_with('.') && !text.contains(['{', '}']), "{text}");
        sentences.insert(text);
    }
    assert_eq!(sentences.len(), conclusions.len());
}
