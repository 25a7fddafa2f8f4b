//! Questions with known true effects.

use super::{Cell, Model, answer, groups, interaction_factors, rows, settings};
use crate::model::{ComparisonOf, Conclusion, InteractionWith, Question, ReportModel, Verdict};
use crate::pairs::pairs;
use crate::stats::mixed::{self, Components};
use crate::view::View;
use dyno_model::plan::{ComparisonMetric, Configuration, Trial};
use dyno_model::units::Nanos;
use dyno_model::warning::Warning;
use dyno_store::fixture::{Shape, leave_unstarted};
use dyno_store::{RunData, TrialOutcome};
use std::collections::{BTreeMap, BTreeSet};

/// A pseudo-random number, approximately standard normal: the sum of twelve uniform ones, minus
/// six.
fn normal(seed: u64, trial: usize) -> f64 {
    let mut state = (seed * 1_000 + trial as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut uniform = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..12).map(|_| uniform()).sum::<f64>() - 6.0
}

/// Two systems, two variants, three numbers of clients, three blocks.
fn experiment() -> RunData {
    let shape = Shape {
        systems: 2,
        variants: vec!["read-modify-write", "in-place"],
        clients: vec![4, 64, 512],
        blocks: 3,
        ..Shape::small()
    };
    shape.read()
}

/// Sets the throughput per client of each trial: `logarithm` by its number.
fn given(data: &mut RunData, logarithm: impl Fn(usize, &Trial, &Configuration) -> f64) {
    for (at, trial) in data.run.plan.trials.iter().enumerate() {
        let Some(TrialOutcome::Finished(record)) = data.run.outcomes.get_mut(&trial.id) else {
            continue;
        };
        let configuration = &data.run.plan.configurations[trial.configuration];
        record.weighted_commits = Some(
            1_000.0 * f64::from(configuration.clients) * logarithm(at, trial, configuration).exp(),
        );
    }
}

/// Trials vary by 2 %; `effect` is the true effect by system, variant and clients.
fn measured(data: &mut RunData, seed: u64, effect: impl Fn(usize, &str, u32) -> f64) {
    given(data, |at, _, configuration| {
        effect(configuration.system, &configuration.levels[0], configuration.clients).ln()
            + 0.02 * normal(seed, at)
    });
}

fn report(seed: u64, effect: impl Fn(usize, &str, u32) -> f64) -> ReportModel {
    let mut data = experiment();
    measured(&mut data, seed, effect);
    crate::analyse(&data)
}

fn throughput<'a>(model: &'a ReportModel, of: &ComparisonOf) -> &'a Question {
    let mut found = model
        .questions
        .iter()
        .filter(|it| it.metric == ComparisonMetric::Throughput && it.of == *of);
    found.next().expect("it is asked")
}

const VARIANT: ComparisonOf = ComparisonOf::Level { factor: 0 };

#[test]
fn overall_effect_is_estimated_over_all_pairs_of_a_question() {
    // The second variant is 5 % slower everywhere.
    let model = report(1, |_, variant, _| if variant == "in-place" { 0.95 } else { 1.0 });
    let question = throughput(&model, &VARIANT);
    assert_eq!(
        (question.subject.as_str(), question.baseline.as_str()),
        ("in-place", "read-modify-write")
    );
    assert_eq!(
        (question.pairs, question.mixes, question.clients.as_slice()),
        (6, 2, &[4, 64, 512][..])
    );
    assert_eq!(question.effect.verdict, Some(Verdict::Worse), "{question:?}");
    let (ratio, interval) =
        (question.effect.ratio.expect("known"), question.effect.ratio_interval.expect("known"));
    assert!(
        (ratio - 0.95).abs() < 0.02 && interval.low < 0.95 && interval.high > 0.95,
        "{question:?}"
    );
    assert!(question.interactions.iter().all(|it| !it.depends), "{question:?}");
    // Losses come first: the fixture loses updates.
    let first = &model.conclusions[..2];
    assert!(
        matches!(first, [Conclusion::LostUpdates { .. }, Conclusion::Question { .. }]),
        "{first:?}"
    );
    // Systems differ between starts; each block has one start per system.
    let degrees = throughput(&model, &ComparisonOf::System).degrees.expect("known");
    assert!((degrees - 2.0).abs() < 1e-6, "{degrees}");
}

#[test]
fn decided_questions_come_first_otherwise_in_spec_order() {
    let reported = |model: &ReportModel| {
        let questions = model.conclusions.iter().filter_map(|it| match it {
            Conclusion::Question { question } => Some(*question),
            _ => None,
        });
        questions.collect::<Vec<usize>>()
    };
    let mut model = report(1, |_, variant, _| if variant == "in-place" { 0.95 } else { 1.0 });
    for (verdicts, order) in [
        ([Verdict::Invalid, Verdict::Equivalent, Verdict::Inconclusive], [1, 0, 2]),
        ([Verdict::Better, Verdict::Inconclusive, Verdict::Worse], [0, 2, 1]),
    ] {
        let first = model.questions[0].clone();
        let question = |verdict| {
            let mut question = first.clone();
            question.effect.verdict = Some(verdict);
            question
        };
        model.questions = verdicts.map(question).to_vec();
        model.conclusions = crate::conclusions::conclude(&model);
        assert_eq!(reported(&model), order);
    }
}

#[test]
fn undecided_pairs_of_a_closed_question_are_not_reported() {
    let model = report(1, |_, variant, _| if variant == "in-place" { 0.95 } else { 1.0 });
    assert!(!throughput(&model, &ComparisonOf::System).opens_pairs);
    let undecided = Some(Verdict::Inconclusive);
    let is_cell = |of: &ComparisonOf, verdict| *of == ComparisonOf::System && verdict == undecided;
    assert!(
        model.comparisons.iter().any(|it| is_cell(&it.of, it.effect.verdict)),
        "{:?}",
        model.comparisons
    );
    let is_reported = |it: &Conclusion| matches!(it, Conclusion::Comparison { of, verdict, .. } if is_cell(of, *verdict));
    assert!(!model.conclusions.iter().any(is_reported), "{:?}", model.conclusions);
}

#[test]
fn undecided_pairs_are_reported_only_without_a_time_budget() {
    for budget in [None, Some(Nanos(3_600_000_000_000))] {
        let mut data = experiment();
        data.run.plan.budget = budget;
        measured(&mut data, 1, |_, variant, _| if variant == "in-place" { 0.95 } else { 1.0 });
        let model = crate::analyse(&data);
        assert!(throughput(&model, &VARIANT).opens_pairs);
        let is_reported = |it: &Conclusion| matches!(it, Conclusion::Comparison { of, verdict, .. } if *of == VARIANT && *verdict == Some(Verdict::Inconclusive));
        assert_eq!(
            model.conclusions.iter().any(is_reported),
            budget.is_none(),
            "{:?}",
            model.conclusions
        );
    }
}

#[test]
fn effect_that_grows_with_clients_is_reported_as_an_interaction() {
    let truth = |_: usize, variant: &str, clients: u32| match (variant, clients) {
        ("in-place", 512) => 1.6,
        ("in-place", 64) => 1.25,
        _ => 1.0,
    };
    let model = report(2, truth);
    let question = throughput(&model, &VARIANT);
    assert_eq!(question.effect.verdict, Some(Verdict::Better), "{question:?}");
    let depending: Vec<_> = question.interactions.iter().filter(|it| it.depends).collect();
    assert_eq!(depending.len(), 1, "{question:?}");
    assert_eq!(depending[0].with, InteractionWith::Clients);
    assert_eq!((depending[0].low.level.as_str(), depending[0].high.level.as_str()), ("4", "512"));
}

#[test]
fn effect_depends_on_an_interacting_factor_never_on_itself() {
    let truth = |system: usize, variant: &str, _: u32| match (system, variant) {
        (1, "in-place") => 1.6,
        _ => 1.0,
    };
    let model = report(4, truth);
    let question = throughput(&model, &ComparisonOf::System);
    let depending: Vec<_> = question.interactions.iter().filter(|it| it.depends).collect();
    assert_eq!(depending.len(), 1, "{question:?}");
    assert_eq!(depending[0].with, InteractionWith::Level { factor: 0 });
    assert_eq!(
        (depending[0].low.level.as_str(), depending[0].high.level.as_str()),
        ("read-modify-write", "in-place")
    );
    let asked =
        |of| throughput(&model, &of).interactions.iter().map(|it| it.with).collect::<Vec<_>>();
    assert_eq!(
        asked(ComparisonOf::System),
        [InteractionWith::Clients, InteractionWith::Level { factor: 0 }]
    );
    assert_eq!(asked(VARIANT), [InteractionWith::Clients, InteractionWith::System]);
}

#[test]
fn data_set_variance_enters_the_error_of_a_variant() {
    let mut data = experiment();
    for seed in 1..=3 {
        given(&mut data, |at, trial, configuration| {
            let variant = usize::from(configuration.levels[0] == "in-place");
            let data_set = 4 * trial.block as usize + 2 * configuration.system + variant;
            0.03 * normal(seed, data_set) + 0.005 * normal(seed + 50, at)
        });
        let compared = crate::comparisons::compare(&View::new(&data), 1.0);
        let is_asked =
            |it: &&Question| it.metric == ComparisonMetric::Throughput && it.of == VARIANT;
        let question = compared.questions.iter().find(is_asked).expect("it is asked");
        // Three blocks with two starts of two data sets: 12 data sets, minus 6 starts, minus the
        // variant and its interaction with the system.
        let degrees = question.degrees.expect("known");
        assert!(degrees < 4.0 + 1e-6, "{question:?}");
        let scatter = question.scatter.expect("known");
        assert!(scatter.data_sets.is_some_and(|it| it > 4.0 * scatter.trials), "{scatter:?}");
        let ratio = scatter.ratio.expect("known");
        let (starts, data_sets) = (ratio.starts.expect("known"), ratio.data_sets.expect("known"));
        let all = starts + data_sets + ratio.trials + ratio.within.unwrap_or_default();
        assert!(data_sets > 0.8 && (all - 1.0).abs() < 1e-9, "{ratio:?}");
        assert!(!ratio.asks_for_longer_windows());
    }
}

#[test]
fn noisy_pair_limits_degrees_of_freedom_and_interactions() {
    let mut data = experiment();
    given(&mut data, |at, _, configuration| {
        let is_restless = configuration.system == 0 && configuration.clients == 512;
        normal(5, at) * if is_restless { 0.2 } else { 0.002 }
    });
    let view = View::new(&data);
    let pairs = pairs(&view);
    let group =
        groups(view.plan(), &pairs).into_iter().find(|it| it.of == VARIANT).expect("it is asked");
    let side = |configuration: usize| {
        let figures = view.eligibilities[configuration]
            .figures(ComparisonMetric::Throughput)
            .expect("measured")
            .into_iter();
        figures.map(|(record, value)| (record.trial.block, value)).collect::<BTreeMap<_, _>>()
    };
    let cell = |at: &usize| {
        let pair = &pairs[*at];
        Cell::new(pair, side(pair.subject), side(pair.baseline)).expect("three blocks")
    };
    let cells: Vec<Cell<'_>> = group.pairs.iter().map(cell).collect();
    let configurations: BTreeSet<usize> =
        cells.iter().flat_map(|cell| [cell.pair.subject, cell.pair.baseline]).collect();
    let configurations: Vec<usize> = configurations.into_iter().collect();
    let fit =
        mixed::fit(&rows(view.plan(), &cells, &configurations).0, Components::Free).expect("a fit");
    let number = |configuration: usize| {
        configurations.iter().position(|it| *it == configuration).expect("one of them")
    };
    let sides =
        cells.iter().map(|cell| [cell.pair.subject, cell.pair.baseline].map(number)).collect();
    let model = Model { fit, sides };
    let effect = model.fit.contrast(&model.effect_weights()).expect("an estimate");
    let found = answer(&view, ComparisonMetric::Throughput, &cells, 3).expect("an answer");
    // Three blocks leave two degrees of freedom for that pair.
    assert!(effect.degrees > 3.0 && found.test.degrees() < 2.1, "{effect:?} {:?}", found.test);
    for interaction in interaction_factors(&settings(
        view.plan(),
        &cells.iter().map(|cell| cell.pair).collect::<Vec<_>>(),
    )) {
        let believed = model.interaction(&interaction, 1.0).and_then(|it| it.p).expect("tested");
        let said =
            found.interactions.iter().find(|it| it.with == interaction.with).and_then(|it| it.p);
        assert!(said.is_some_and(|said| said > believed + 1e-3), "{said:?} {believed}");
    }
}

#[test]
fn noise_within_trials_asks_for_longer_windows() {
    let asks = |within: f64, seed: u64| {
        let mut data = experiment();
        given(&mut data, |at, _, _| 0.04 * normal(seed, at));
        for (at, files) in data.trials.values_mut().enumerate() {
            for (second, series) in files.timeline.iter_mut().enumerate() {
                series.committed =
                    (1e4 * (1.0 + within * normal(seed + 100 + at as u64, second))) as u64;
            }
        }
        let compared = crate::comparisons::compare(&View::new(&data), 1.0);
        let question = &compared.questions[0];
        let ratio = question.scatter.and_then(|it| it.ratio).expect("known");
        assert!(
            ratio.within.is_some_and(|it| (0.0..=1.0).contains(&it)) && ratio.trials > -1e-9,
            "{ratio:?}"
        );
        ratio.asks_for_longer_windows()
    };
    // A mean of five seconds that vary by 9 % varies by 4 %.
    assert_eq!((asks(0.09, 7), asks(0.02, 7)), (true, false));
}

/// Invalidates some trials of an experiment in which in-place is 10 % faster.
fn without(data: &mut RunData, is_lost: impl Fn(&Trial, &Configuration) -> bool) -> Question {
    measured(data, 11, |_, variant, _| if variant == "in-place" { 1.1 } else { 1.0 });
    for trial in &data.run.plan.trials {
        let Some(TrialOutcome::Finished(record)) = data.run.outcomes.get_mut(&trial.id) else {
            continue;
        };
        if is_lost(trial, &data.run.plan.configurations[trial.configuration]) {
            record.warnings.push(Warning::GeneratorBusy { share: 0.95 });
        }
    }
    let compared = crate::comparisons::compare(&View::new(data), 1.0);
    let is_asked = |it: &Question| it.metric == ComparisonMetric::Throughput && it.of == VARIANT;
    compared.questions.into_iter().find(is_asked).expect("it is asked")
}

#[test]
fn a_pair_whose_question_has_no_answer_is_reported_with_that_reason() {
    // With 64 clients, the second system has one valid trial, too few for the question.
    let shape = Shape { systems: 2, clients: vec![4, 64], blocks: 3, ..Shape::small() };
    let reported = |lost: u32| {
        let mut data = shape.read();
        given(&mut data, |at, _, configuration| {
            0.25_f64.powi(configuration.system as i32).ln() + 0.02 * normal(5, at)
        });
        for trial in &data.run.plan.trials {
            let configuration = &data.run.plan.configurations[trial.configuration];
            let is_lost =
                configuration.system == 1 && configuration.clients == 64 && trial.block <= lost;
            if let (true, Some(TrialOutcome::Finished(record))) =
                (is_lost, data.run.outcomes.get_mut(&trial.id))
            {
                record.warnings.push(Warning::GeneratorBusy { share: 0.95 });
            }
        }
        let model = crate::analyse(&data);
        let of_four = model
            .comparisons
            .iter()
            .filter(|it| it.clients == 4 && it.metric == ComparisonMetric::Throughput);
        let is_tested = of_four.map(|it| it.effect.p.is_some()).collect::<Vec<_>>();
        assert!(is_tested.iter().all(|it| *it == (lost == 0)), "{lost}: {is_tested:?}");
        let conclusions = model.conclusions;
        let comparisons = conclusions.into_iter().filter_map(|it| match it {
            Conclusion::Comparison {
                verdict,
                is_question_unanswered,
                clients,
                ratio_interval,
                ..
            } => Some((clients, verdict, is_question_unanswered, ratio_interval.map(|it| it.high))),
            _ => None,
        });
        comparisons.collect::<Vec<_>>()
    };
    let unanswered = reported(2);
    let four = unanswered
        .iter()
        .find(|(clients, ..)| *clients == [4])
        .expect("a conclusion about 4 clients");
    assert_eq!((four.1, four.2), (Some(Verdict::Inconclusive), true), "{unanswered:?}");
    assert!(four.3.expect("it was tested") < 0.5, "{unanswered:?}");
    let answered = reported(0);
    assert!(!answered.is_empty() && answered.iter().all(|it| !it.2), "{answered:?}");
}

#[test]
fn question_tolerates_missing_trials_if_three_blocks_have_data() {
    // One side of every pair lacks a trial, each time in another block.
    let question = without(&mut experiment(), |trial, configuration| {
        let block = (trial.configuration as u32 + configuration.clients) % 3 + 1;
        configuration.levels[0] == "in-place" && trial.block == block
    });
    assert_eq!(
        (question.pairs, question.effect.verdict),
        (6, Some(Verdict::Better)),
        "{question:?}"
    );
    let ratio = question.effect.ratio.expect("known");
    assert!((1.08..1.12).contains(&ratio), "{ratio}");
    let question = without(&mut experiment(), |trial, _| trial.block == 3);
    assert_eq!(
        (question.effect.ratio, question.effect.verdict),
        (None, Some(Verdict::Inconclusive))
    );
}

#[test]
fn a_question_with_only_bounds_in_a_cell_has_no_answer() {
    let mut data = experiment();
    let id = data
        .run
        .plan
        .trials
        .iter()
        .find(|trial| trial.configuration == 0)
        .expect("planned")
        .id
        .clone();
    let commits = data.trials[&id].response_times.len();
    leave_unstarted(&mut data, 0, commits / 5);
    let model = crate::analyse(&data);
    let of_times: Vec<_> =
        model.questions.iter().filter(|it| it.metric == ComparisonMetric::P95Ms).collect();
    assert_eq!(of_times.len(), 2);
    for question in of_times {
        let has_bound = |at: &usize| model.comparisons[*at].effect.bound.is_some();
        assert!(question.comparisons.iter().any(has_bound), "{question:?}");
        assert_eq!(
            (question.effect.ratio, question.effect.verdict),
            (None, Some(Verdict::Inconclusive))
        );
    }
}

#[test]
fn where_nothing_differs_at_most_one_report_in_twenty_has_a_verdict() {
    let mut data = experiment();
    let mut has_verdict = |seed: &u64| {
        measured(&mut data, 100 + seed, |_, _, _| 1.0);
        let compared = crate::comparisons::compare(&View::new(&data), 1.0);
        let of_cells =
            compared.comparisons.iter().filter(|it| it.metric == ComparisonMetric::Throughput);
        let of_questions =
            compared.questions.iter().filter(|it| it.metric == ComparisonMetric::Throughput);
        let mut all =
            of_cells.map(|it| it.effect.verdict).chain(of_questions.map(|it| it.effect.verdict));
        all.any(|verdict| matches!(verdict, Some(Verdict::Better | Verdict::Worse)))
    };
    let reports = (0..60).filter(&mut has_verdict).count();
    // 3 are expected at 5 %; 8 is three standard deviations above.
    assert!(reports <= 8, "{reports} of 60");
}

#[test]
fn side_that_fails_in_one_pair_makes_the_question_invalid() {
    let better = |seed| report(seed, |_, variant, _| if variant == "in-place" { 1.3 } else { 1.0 });
    assert_eq!(throughput(&better(3), &VARIANT).effect.verdict, Some(Verdict::Better));
    let mut data = Shape { has_failures: false, ..Shape::rush() }.read();
    let configurations = &data.run.plan.configurations;
    let subject = configurations.iter().position(|it| it.levels[0] == "in-place").expect("planned");
    let stopped: Vec<String> = data
        .run
        .plan
        .trials
        .iter()
        .filter(|it| it.configuration == subject)
        .map(|it| it.id.clone())
        .collect();
    for (id, outcome) in &mut data.run.outcomes {
        let TrialOutcome::Finished(record) = outcome else { continue };
        let is_subject =
            data.run.plan.configurations[record.trial.configuration].levels[0] == "in-place";
        record.weighted_commits =
            Some(record.counters.committed as f64 * if is_subject { 3.0 } else { 1.0 });
        if *id == stopped[0] {
            (record.counters.committed, record.weighted_commits) = (0, Some(0.0));
        }
    }
    let model = crate::analyse(&data);
    let question = throughput(&model, &VARIANT);
    assert!(question.effect.subject_not_working.is_some(), "{question:?}");
    assert_eq!((question.effect.verdict, question.effect.ratio), (Some(Verdict::Invalid), None));
}

#[test]
fn degrees_and_pair_counts_are_correct_with_missing_trials() {
    for seed in 0..20 {
        let mut data = experiment();
        measured(&mut data, seed, |_, _, _| 1.0);
        let ids: Vec<String> = data.run.plan.trials.iter().map(|trial| trial.id.clone()).collect();
        for (at, id) in ids.iter().enumerate() {
            // One trial of five, as on an overloaded host.
            if normal(1_000 + seed, at) > 0.84 {
                data.run.outcomes.remove(id);
            }
        }
        data.run.is_interrupted = true;
        let view = View::new(&data);
        for question in crate::comparisons::compare(&view, 1.0).questions {
            if let Some(degrees) = question.degrees {
                assert!(degrees >= 2.0 - 1e-6, "{seed}: {question:?}");
            }
            let usable = |at: &&usize| {
                let blocks = |configuration: usize| -> BTreeSet<u32> {
                    let of = data
                        .run
                        .plan
                        .trials
                        .iter()
                        .filter(|trial| trial.configuration == configuration);
                    of.filter(|it| data.run.outcomes.contains_key(&it.id))
                        .map(|it| it.block)
                        .collect()
                };
                let all = pairs(&view);
                let pair = &all[**at % all.len()];
                blocks(pair.subject).intersection(&blocks(pair.baseline)).count() >= 2
            };
            let usable = question.comparisons.iter().filter(usable).count();
            assert_eq!(question.pairs as usize, usable, "{seed}: {question:?}");
        }
    }
}

#[test]
fn five_blocks_usually_detect_six_percent_at_six_percent_noise() {
    let clients = vec![1, 2, 4, 8, 16, 32];
    let mut data = Shape { systems: 2, clients, blocks: 5, ..Shape::small() }.read();
    let mut decided = 0;
    for seed in 0..100 {
        given(&mut data, |at, _, configuration| {
            f64::ln(if configuration.system == 1 { 1.06 } else { 1.0 }) + 0.06 * normal(seed, at)
        });
        let questions = crate::comparisons::compare(&View::new(&data), 1.0).questions;
        let primary = questions
            .iter()
            .find(|it| it.metric == ComparisonMetric::Throughput)
            .expect("it is asked");
        decided += u32::from(primary.effect.verdict == Some(Verdict::Better));
    }
    // 79 of 100 at the level of the primary metric, according to the t distribution with four
    // degrees of freedom; 57 if two metrics shared the level.
    assert!(decided >= 70, "{decided} of 100");
}
