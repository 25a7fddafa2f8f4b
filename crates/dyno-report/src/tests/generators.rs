//! Each of several load generators appears in every form of a report and in every language.

use super::*;
use crate::messages::{LANGUAGES, conclusion, headings, notes, page};
use dyno_model::judge::{TrialRequirements, judge};
use dyno_model::plan::{LoadPlan, StopRule};
use dyno_model::record::{GeneratorSummary, GeneratorsRecord};
use dyno_model::target::Engine;
use dyno_model::units::Nanos;
use dyno_model::warning::{GeneratorName, Warning};
use dyno_store::TrialOutcome;
use dyno_store::fixture::each_record;

/// A report of two generators, the second of which is busy and has an uncertain clock.
fn with_generators() -> ReportModel {
    let mut data = tiny().read();
    each_record(&mut data.run, |_, record| {
        let part = |number| GeneratorSummary {
            number,
            host: format!("load{number}"),
            clients: 2,
            committed: 40 + u64::from(number),
            cpu: Nanos(record.window_length.0 / 4),
            busiest_worker: 0.25,
            wakeup_lag_p99: 1_500_000,
            clock_uncertainty: Nanos(40_000),
            ..GeneratorSummary::default()
        };
        let mut summaries: Vec<GeneratorSummary> = (0..2).map(part).collect();
        summaries[1].clock_uncertainty = Nanos(130_000_000);
        summaries[1].steal = 0.03;
        let interval = Nanos(1_000_000_000);
        record.generators =
            Some(GeneratorsRecord { summaries, interval, ..GeneratorsRecord::default() });
        let load = LoadPlan::new(StopRule::Duration(record.window_length));
        let requirements = TrialRequirements {
            engine: Engine::Postgres,
            clients: 16,
            load: &load,
            tolerated_failures: 0.0,
        };
        record.warnings = judge(record, &requirements);
    });
    let mut model = analyse(&data);
    model.provenance.loads[0].generators = Some(2);
    model
}

#[test]
fn every_generator_has_a_row_in_every_form_and_language() {
    let model = with_generators();
    let valid = f64::from(model.configurations[0].trials_valid);
    for lang in LANGUAGES {
        let heading = headings::GENERATORS.text(lang);
        let note: String = notes::NOTE_GENERATORS.text(lang).chars().take(12).collect();
        for format in [Format::Html, Format::Markdown, Format::Text] {
            let text = render(&model, format, lang);
            assert!(text.contains(heading), "{format:?} {}", lang.code);
            let number = format!(">{}<td>2<", page::PAGE_GENERATORS.text(lang));
            assert!(format != Format::Html || text.contains(&number), "{number}");
            assert!(text.contains("load1"), "{format:?} {}", lang.code);
            assert!(text.contains("1 (load1)"), "the warning names it: {format:?} {}", lang.code);
            assert!(format == Format::Text || text.contains(&note), "{format:?} {}", lang.code);
        }
    }
    let csv = render(&model, Format::Csv, EN);
    let line = |metric: &str| {
        let wanted = format!(",{metric}@1,");
        let mut lines = csv.lines().filter(|line| line.starts_with("generator,"));
        let found = lines.find(|line| line.contains(&wanted));
        found.unwrap_or_else(|| panic!("{metric}: {csv}")).to_owned()
    };
    assert!(line("committed").contains(&format!(",{},", 41.0 * valid)), "{}", line("committed"));
    assert!(line("generator-processors").contains(",count,0.25,"));
    assert!(line("wakeup-lag").contains(",milliseconds,1.5,"));
    assert!(line("cpu-steal").contains(",percent,3,"));
    assert!(line("clock-uncertainty").contains(",milliseconds,130,"));
    let json: serde_json::Value =
        serde_json::from_str(&render(&model, Format::Json, EN)).expect("readable");
    let parts = json["parts"].as_array().expect("a list");
    assert_eq!(parts.len(), 2 * model.configurations.len());
    assert_eq!(parts[1]["part"], "generator");
    assert_eq!((&parts[1]["hosts"][0], &parts[1]["clients"]), (&"load1".into(), &2.into()));
}

#[test]
fn a_generator_is_judged_by_itself() {
    let warnings: Vec<Warning> =
        with_generators().warnings.into_iter().map(|row| row.warning).collect();
    let inner = |warning: &Warning| match warning {
        Warning::OfGenerators { generators, inner }
            if generators[..] == [GeneratorName { number: 1, host: "load1".to_owned() }] =>
        {
            Some((**inner).clone())
        }
        _ => None,
    };
    let found: Vec<Warning> = warnings.iter().filter_map(inner).collect();
    let clock = Warning::ClockUncertain { error_ms: 130.0, share: 0.13 };
    assert!(found.contains(&clock), "{warnings:?}");
    assert!(found.contains(&Warning::Steal { share: 0.03 }), "{warnings:?}");
}

#[test]
fn a_lost_generator_is_named_in_the_conclusions() {
    let mut data = tiny().read();
    let trial = data.run.plan.trials[0].id.clone();
    let reason = Reason::GeneratorLost {
        name: "1 (load1)".to_owned(),
        reason: Box::new(Reason::ProcessEnded {
            reason: Box::new(Reason::Killed),
            output: String::new(),
        }),
    };
    let failed = |reason| TrialOutcome::Failed { reason, search: None };
    data.run.outcomes.insert(trial.clone(), failed(reason));
    let model = analyse(&data);
    for lang in LANGUAGES {
        let sentences = conclusion::sentences(&model, lang);
        let is_named = |it: &String| it.contains("1 (load1)") && it.contains(&trial);
        assert!(sentences.iter().any(is_named), "{sentences:?}");
    }
    data.run.outcomes.insert(trial.clone(), failed("the disk is full".into()));
    let sentences = conclusion::sentences(&analyse(&data), EN);
    assert!(!sentences.iter().any(|it| it.contains(&trial)), "{sentences:?}");
}
