use super::*;
use crate::campaign::tests::{campaign, seconds};
use dyno_model::event::{Event, Phase, ProgressUnit};
use dyno_model::failure::FailureKind;
use dyno_model::record::IntervalRecord;
use dyno_model::units::Nanos;
use dyno_model::warning::Warning;
use dyno_report::{EN, LANGUAGES};
use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;

/// A run in its second trial, with a warning and errors.
fn running(lang: Lang) -> State {
    let mut state = State::new(campaign(), lang);
    let trial = state.campaign().plan().trials[1].id.clone();
    let progress = |phase, done| Event::Progress {
        trial: trial.clone(),
        phase,
        done,
        total: 100,
        unit: ProgressUnit::Nanoseconds,
    };
    let failed = state.campaign().plan().trials[0].id.clone();
    state.event(&Event::TrialStarted { trial: failed.clone() }, seconds(0.0));
    let reason = "the server is gone".into();
    let over = Event::TrialFailed { trial: failed, reason, search: None };
    state.event(&over, seconds(1.0));
    state.event(&Event::TrialStarted { trial: trial.clone() }, seconds(1.0));
    state.event(&Event::PhaseStarted { trial: trial.clone(), phase: Phase::Measure }, seconds(2.0));
    for second in 0..60_u64 {
        let mut interval = IntervalRecord::empty(&trial, Nanos(0), Nanos(1_000_000_000), &[]);
        let commits = if second == 30 { 0 } else { 200 + 10 * (second % 20) };
        for _ in 0..commits {
            dyno_model::latency::record(&mut interval.response_times, 1_000_000 * (1 + second % 7));
        }
        interval.errors_by_kind.insert(FailureKind::Deadlock, 2);
        state.interval(&interval, seconds(3.0 + second as f64));
    }
    state.event(&progress(Phase::Measure, 60), seconds(63.0));
    state.event(&Event::RunWarning(Warning::Failures { failed: 3, share: 0.5 }), seconds(63.0));
    state
}

fn drawn(state: &State, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let contents = Contents::new(state, seconds(63.0));
    terminal.draw(|frame| draw(frame, &contents)).unwrap();
    terminal.backend().to_string()
}

#[test]
fn a_small_terminal_shows_everything() {
    insta::assert_snapshot!(drawn(&running(EN), 80, 24), @r#"
    "two systems                               1 min 3 s so far, about 1 min 1 s left"
    "block 1 of 2, trial 2 of 4: A, 1 client: measure 60 %                           "
    "[====================================>                                   ]  50 %"
    "┌ Throughput, tx/s: 390, max 390 ──────────────────────────────────────────────┐"
    "│           ▁▂▃▃▄▅▆▇█           ▁▂▃▃▄▅▆▇█           ▁▂▃▃▄▅▆▇█                  │"
    "│ ▁▂▂▃▄▅▆▆▇██████████ ▁▂▂▃▄▅▆▆▇ █████████ ▁▂▂▃▄▅▆▆▇██████████                  │"
    "│██████████████████████████████ █████████████████████████████                  │"
    "│██████████████████████████████ █████████████████████████████                  │"
    "└──────────────────────────────────────────────────────────────────────────────┘"
    "┌ p99, ms: 4.00, max 7.00 ─────────────────────────────────────────────────────┐"
    "│     ▂█     ▂█     ▂█     ▂█     ▂█     ▂█     ▂█     ▂█                      │"
    "│    ▄██    ▄██    ▄██    ▄██    ▄██    ▄██    ▄██    ▄██                      │"
    "│  ▁▆███  ▁▆███  ▁▆███  ▁▆███   ▆███  ▁▆███  ▁▆███  ▁▆███  ▁▆                  │"
    "│ ▃█████ ▃█████ ▃█████ ▃█████ ▃ ████ ▃█████ ▃█████ ▃█████ ▃██                  │"
    "│▅██████▅██████▅██████▅██████▅█ ████▅██████▅██████▅██████▅███                  │"
    "└──────────────────────────────────────────────────────────────────────────────┘"
    "Generator CPUs: -   Server CPUs: -                                              "
    "Errors in this trial: deadlock 120                                              "
    "Warnings (1)                                                                    "
    "Up to 50.0 % of a trial's transactions failed (3). Trials are invalid from 0.1 %"
    " Log ───────────────────────────────────────────────────────────────────────────"
    "b01-001  B, 1 client: FAILED: the server is gone                                "
    "                                                                                "
    "                                                                                "
    "#);
}

#[test]
fn before_the_first_interval_there_are_no_figures() {
    insta::assert_snapshot!(drawn(&State::new(campaign(), EN), 60, 20), @r#"
    "two systems                1 min 3 s so far, about 41 s left"
    "0 of 4 trials done                                          "
    "[===============================>                    ]  60 %"
    "┌ Throughput, tx/s: no figures yet ────────────────────────┐"
    "│                                                          │"
    "│                                                          │"
    "│                                                          │"
    "│                                                          │"
    "└──────────────────────────────────────────────────────────┘"
    "┌ p99, ms: no figures yet ─────────────────────────────────┐"
    "│                                                          │"
    "│                                                          │"
    "│                                                          │"
    "└──────────────────────────────────────────────────────────┘"
    "Generator CPUs: -   Server CPUs: -                          "
    "Errors in this trial: none                                  "
    " Log ───────────────────────────────────────────────────────"
    "                                                            "
    "                                                            "
    "                                                            "
    "#);
}

#[test]
fn a_terminal_with_few_rows_has_figures_without_charts() {
    insta::assert_snapshot!(drawn(&running(EN), 60, 12), @r#"
    "two systems           1 min 3 s so far, about 1 min 1 s left"
    "block 1 of 2, trial 2 of 4: A, 1 client: measure 60 %       "
    "[==========================>                         ]  50 %"
    " Throughput, tx/s: 390, max 390                             "
    " p99, ms: 4.00, max 7.00                                    "
    "Generator CPUs: -   Server CPUs: -                          "
    "Errors in this trial: deadlock 120                          "
    "Warnings (1)                                                "
    "Up to 50.0 % of a trial's transactions failed (3). Trials ar"
    " Log ───────────────────────────────────────────────────────"
    "b01-001  B, 1 client: FAILED: the server is gone            "
    "                                                            "
    "#);
}

#[test]
fn a_silence_is_shown_in_place_of_the_place_in_the_plan() {
    let mut state = running(EN);
    state.commits_stopped(true, seconds(55.0));
    assert!(drawn(&state, 80, 24).contains("no transaction has committed for 8 s"));
}

#[test]
fn every_size_in_every_language_can_be_drawn() {
    for lang in LANGUAGES {
        let state = running(lang);
        for width in [1, 2, 5, 9, 39, 80, 500] {
            for height in [1, 2, 3, 7, 15, 16, 24, 100] {
                drawn(&state, width, height);
            }
        }
    }
}
