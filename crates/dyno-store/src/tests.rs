//! Tests of the folder as a whole: written data is read back, and damage is reported.

use super::disk::{Disk, MachineDisk};
use super::environment::Environment;
use super::layout::path_name;
use super::writer_thread::WriterThread;
use super::*;
use crate::fixture::Shape;
use dyno_model::event::{Event, Listener, Phase, ProgressUnit};
use dyno_model::monitor::{MonitorSample, SessionGroup};
use dyno_model::warning::Warning;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

fn tiny() -> Shape {
    Shape { systems: 1, clients: vec![1, 8], blocks: 2, ..Shape::small() }
}

fn written(shape: &Shape) -> (tempfile::TempDir, PathBuf) {
    let scratch = tempfile::tempdir().expect("scratch");
    let folder = scratch.path().join("run");
    shape.write(&folder).expect("written");
    (scratch, folder)
}

/// The problems of reading a folder, one per line. Reading must work for every folder that can be
/// opened.
fn problems(folder: &Path) -> String {
    let problems = Run::open(folder).expect("readable").read_trials().run.problems;
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_folder_holds_the_documented_files() {
    let (_scratch, folder) = written(&tiny());
    for name in [FORMAT_FILE, SPEC_FILE, PLAN_FILE, ENVIRONMENT_FILE, EVENTS_FILE, SUMMARY_FILE] {
        assert!(folder.join(name).is_file(), "{name}");
    }
    assert_eq!(fs::read_to_string(folder.join(FORMAT_FILE)).expect("there"), "1\n");
    for trial in ["b01-001", "b01-002", "b02-001", "b02-002"] {
        assert!(folder.join(TRIALS_FOLDER).join(trial).join(LATENCY_FILE).is_file());
        assert!(folder.join(TRIALS_FOLDER).join(trial).join(TIMELINE_FILE).is_file());
    }
    let summary: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.join(SUMMARY_FILE)).expect("there")).expect("JSON");
    assert_eq!((&summary["planned"], &summary["measured"]), (&4.into(), &4.into()));
}

/// A writer that receives a sample after each interval.
struct Monitored(RunWriter);

impl Listener for Monitored {
    fn event(&mut self, event: &Event) {
        self.0.event(event);
    }

    fn interval(&mut self, interval: &dyno_model::record::IntervalRecord) {
        self.0.interval(interval);
        let at_s = (interval.start.0 + interval.length.0) as f64 / 1e9;
        let group = SessionGroup { sessions: 7, state: "active".into(), ..SessionGroup::default() };
        let values = BTreeMap::from([("host.cpu.user_seconds_total".to_owned(), 1000.0 + at_s)]);
        self.0.sample(&MonitorSample {
            trial: interval.trial.clone(),
            at_s,
            values,
            sessions: vec![group],
        });
    }
}

#[test]
fn samples_of_the_monitor_are_read_back_with_totals_starting_at_zero() {
    let (scratch, shape) = (tempfile::tempdir().expect("scratch"), tiny());
    let (plan, folder) = (shape.plan(), scratch.path().join("run"));
    let writer =
        RunWriter::create_at(&folder, &plan, "", &Environment::default()).expect("a folder");
    let mut monitored = Monitored(writer);
    shape.play(&plan, &mut monitored);
    monitored.0.finish().expect("written");
    let data = Run::open(&folder).expect("readable").read_trials();
    assert_eq!(data.run.problems, []);
    for trial in data.trials.values() {
        assert_eq!(trial.samples.len(), trial.timeline.len());
        assert_eq!(trial.samples[0].values["host.cpu.user_seconds_total"], 0.0);
        assert!(trial.sessions.iter().all(|sample| sample.sessions[0].sessions == 7));
    }
    fs::write(folder.join(TRIALS_FOLDER).join("b01-001").join(MONITOR_FILE), "at_s,x\n1,2,3\n")
        .expect("written");
    assert_eq!(problems(&folder), "trials/b01-001/monitor.csv, line 2: not a sample: `1,2,3`");
}

#[test]
fn everything_written_is_read_back() {
    let shape = tiny();
    let (_scratch, folder) = written(&shape);
    let data = Run::open(&folder).expect("readable").read_trials();
    assert_eq!(data.run.problems, []);
    assert_eq!(data.run.plan, shape.plan());
    assert!(data.run.has_ended && !data.run.is_interrupted);
    assert_eq!(data.run.started_at, "2026-11-21T08:45:00.250Z");
    assert_eq!(data.run.systems["MariaDB"].version.to_string(), "11.8.2-MariaDB");
    for (id, trial) in &data.trials {
        let TrialOutcome::Finished(record) = &data.run.outcomes[id] else {
            panic!("all trials finished")
        };
        assert_eq!(trial.response_times.len(), record.transaction_latency.count);
        assert_eq!(
            dyno_model::latency::LatencySummary::from(&trial.response_times),
            record.transaction_latency
        );
        assert_eq!(
            trial
                .timeline
                .iter()
                .filter(|line| !line.is_warmup)
                .map(|line| line.committed)
                .sum::<u64>(),
            record.counters.committed
        );
    }
    let statements = &data.statements[&0];
    assert_eq!(
        statements.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["select", "update", "commit"]
    );
}

#[test]
fn progress_is_not_stored() {
    let scratch = tempfile::tempdir().expect("scratch");
    let folder = scratch.path().join("run");
    let mut writer = RunWriter::create_at(&folder, &tiny().plan(), "", &Environment::default())
        .expect("created");
    writer.event(&Event::Progress {
        trial: "b01-001".into(),
        phase: Phase::Load,
        done: 1,
        total: 2,
        unit: ProgressUnit::Rows,
    });
    assert_eq!(fs::read(folder.join(EVENTS_FILE)).expect("there"), b"");
    writer.event(&Event::TrialStarted { trial: "b01-001".into() });
    let line = fs::read_to_string(folder.join(EVENTS_FILE)).expect("there");
    assert!(
        line.starts_with("{\"at\":\"20")
            && line.ends_with("\"event\":\"trial-started\",\"trial\":\"b01-001\"}\n"),
        "{line}"
    );
}

#[test]
fn runs_started_in_the_same_second_get_different_folders() {
    let scratch = tempfile::tempdir().expect("scratch");
    let create = || {
        RunWriter::create(scratch.path(), &tiny().plan(), "", &Environment::default())
            .expect("created")
    };
    let (first, second) = (create(), create());
    assert_ne!(first.folder(), second.folder());
    assert_eq!(first.folder().parent(), Some(scratch.path().join("rush").as_path()));
    let name = first.folder().file_name().expect("named").to_string_lossy().into_owned();
    let (time, id) = name.split_once('-').expect("time and id");
    assert!(time.len() == 16 && time.ends_with('Z') && id.len() == 4, "{name}");
}

#[test]
fn a_folder_that_is_not_empty_is_never_written_to() {
    let (_scratch, folder) = written(&tiny());
    let before = fs::read(folder.join(EVENTS_FILE)).expect("there");
    let Err(error) = RunWriter::create_at(&folder, &tiny().plan(), "", &Environment::default())
    else {
        panic!("the folder is not empty");
    };
    assert!(matches!(error, StoreError::NotEmpty { .. }));
    assert!(error.to_string().contains("--out"), "{error}");
    assert_eq!(fs::read(folder.join(EVENTS_FILE)).expect("there"), before);
}

#[test]
fn an_empty_folder_may_be_named() {
    let scratch = tempfile::tempdir().expect("scratch");
    assert!(
        RunWriter::create_at(scratch.path(), &tiny().plan(), "", &Environment::default()).is_ok()
    );
}

#[test]
fn a_file_in_place_of_the_folder_is_rejected_by_name() {
    let scratch = tempfile::NamedTempFile::new().expect("scratch");
    let Err(error) =
        RunWriter::create_at(scratch.path(), &tiny().plan(), "", &Environment::default())
    else {
        panic!("a file is no folder");
    };
    assert!(error.to_string().contains(&scratch.path().display().to_string()), "{error}");
}

#[test]
fn the_first_failed_write_ends_writing_and_is_reported() {
    let scratch = tempfile::tempdir().expect("scratch");
    let folder = scratch.path().join("run");
    let shape = tiny();
    let plan = shape.plan();
    let mut writer =
        RunWriter::create_at(&folder, &plan, "", &Environment::default()).expect("created");
    // Creating the third trial's folder fails, as on a full disk.
    fs::write(folder.join(TRIALS_FOLDER).join("b02-001"), b"in the way").expect("written");
    shape.play(&plan, &mut writer);
    let failure = writer.failure().expect("noticed").to_string();
    assert!(failure.contains("b02-001"), "{failure}");
    assert!(writer.finish().is_err());
    let run = Run::open(&folder).expect("readable");
    assert!(!run.has_ended);
    assert_eq!(run.outcomes.keys().collect::<Vec<_>>(), ["b01-001", "b01-002"]);
}

#[test]
fn figures_that_are_not_numbers_do_not_lose_the_trial() {
    struct Spoil<'a>(&'a mut RunWriter);
    impl Listener for Spoil<'_> {
        fn event(&mut self, event: &Event) {
            let mut event = event.clone();
            if let Event::TrialFinished(record) = &mut event {
                record.weighted_commits = Some(f64::NAN);
            }
            self.0.event(&event);
        }
    }
    let scratch = tempfile::tempdir().expect("scratch");
    let folder = scratch.path().join("run");
    let (shape, plan) = (tiny(), tiny().plan());
    let mut writer =
        RunWriter::create_at(&folder, &plan, "", &Environment::default()).expect("created");
    shape.play(&plan, &mut Spoil(&mut writer));
    let run = Run::open(&folder).expect("readable");
    assert_eq!(run.outcomes.len(), 4);
    for outcome in run.outcomes.values() {
        let TrialOutcome::Finished(record) = outcome else { panic!("every trial was measured") };
        let is_reported = |warning: &Warning| matches!(warning, Warning::RecordingIncomplete { what } if what.contains("work done in the window"));
        assert!(record.warnings.iter().any(is_reported), "{:?}", record.warnings);
    }
}

#[test]
fn a_truncated_event_log_is_readable_and_reports_what_is_missing() {
    let (_scratch, folder) = written(&tiny());
    // The trials' own files are not tested here, and reading them takes long.
    fs::remove_dir_all(folder.join(TRIALS_FOLDER)).expect("removed");
    let whole = fs::read(folder.join(EVENTS_FILE)).expect("there");
    for cut in (0..whole.len()).step_by(197) {
        fs::write(folder.join(EVENTS_FILE), &whole[..cut]).expect("written");
        let run = Run::open(&folder).expect("readable");
        let finished = whole[..cut].split_inclusive(|byte| *byte == b'\n').filter(|line| {
            line.ends_with(b"\n")
                && String::from_utf8_lossy(line).contains("\"event\":\"trial-finished\"")
        });
        let finished = finished.count();
        assert_eq!(run.outcomes.len(), finished, "cut at {cut}");
        assert!(!run.has_ended, "cut at {cut}");
        if cut > 0 && whole[cut - 1] != b'\n' {
            let line = whole[..cut].iter().filter(|byte| **byte == b'\n').count() + 1;
            assert!(
                run.problems.contains(&Problem::at_line("events.jsonl", line, Damage::LastLineCut)),
                "{cut}: {:?}",
                run.problems
            );
        }
    }
}

#[test]
fn a_truncated_interval_log_is_readable_and_reported() {
    let (_scratch, folder) = written(&tiny());
    let path = folder.join(TRIALS_FOLDER).join("b01-001").join(LATENCY_FILE);
    let whole = fs::read(&path).expect("there");
    for cut in (0..whole.len()).step_by(1499) {
        fs::write(&path, &whole[..cut]).expect("written");
        let data = Run::open(&folder).expect("readable").read_trials();
        let named = data
            .run
            .problems
            .iter()
            .any(|problem| problem.location.starts_with("trials/b01-001/latency.hlog"));
        assert!(named || cut == 0, "cut at {cut}: {:?}", data.run.problems);
        assert_eq!(data.trials.len(), 4);
    }
}

#[test]
fn missing_files_of_a_trial_are_reported() {
    let (_scratch, folder) = written(&tiny());
    fs::remove_dir_all(folder.join(TRIALS_FOLDER).join("b01-002")).expect("removed");
    let text = problems(&folder);
    assert!(text.contains("trials/b01-002/latency.hlog: No such file"), "{text}");
}

#[test]
fn a_damaged_line_affects_only_itself() {
    let (_scratch, folder) = written(&tiny());
    let path = folder.join(EVENTS_FILE);
    let text = fs::read_to_string(&path).expect("there");
    let (number, _) = text
        .lines()
        .enumerate()
        .find(|(_, line)| line.contains("\"event\":\"trial-finished\""))
        .expect("trials finished");
    let damaged: String = text
        .lines()
        .enumerate()
        .map(|(i, line)| {
            if i == number {
                "{\"at\":\"x\",\"event\":42}\n".to_owned()
            } else {
                format!("{line}\n")
            }
        })
        .collect();
    fs::write(&path, damaged).expect("written");
    let data = Run::open(&folder).expect("readable").read_trials();
    assert_eq!(data.trials.len(), 3);
    assert!(
        data.run.problems[0].location == format!("events.jsonl, line {}", number + 1),
        "{:?}",
        data.run.problems
    );
}

#[test]
fn a_newer_format_is_rejected() {
    let (_scratch, folder) = written(&tiny());
    fs::write(folder.join(FORMAT_FILE), "2\n").expect("written");
    let error = Run::open(&folder).expect_err("newer");
    assert!(
        error
            .to_string()
            .contains("has results format 2, but this version of dyno reads formats up to 1"),
        "{error}"
    );
    fs::write(folder.join(FORMAT_FILE), "one\n").expect("written");
    let error = Run::open(&folder).expect_err("no number");
    assert!(
        error
            .to_string()
            .ends_with("FORMAT, line 1: the format version must be a whole number, not `one`"),
        "{error}"
    );
}

#[test]
fn a_folder_without_results_is_distinguished_from_a_damaged_one() {
    let scratch = tempfile::tempdir().expect("scratch");
    let error = Run::open(scratch.path()).expect_err("empty");
    assert!(error.to_string().contains("is not a results folder: FORMAT is missing"), "{error}");
    let error = Run::open(&scratch.path().join("nowhere")).expect_err("absent");
    assert!(matches!(error, StoreError::NoFolder { .. }), "{error}");
}

#[test]
fn a_corrupt_plan_is_reported_with_its_line() {
    let (_scratch, folder) = written(&tiny());
    let plan = fs::read_to_string(folder.join(PLAN_FILE)).expect("there");
    fs::write(folder.join(PLAN_FILE), plan.replacen("\"seed\": 2005", "\"seed\": \"many\"", 1))
        .expect("written");
    let error = Run::open(&folder).expect_err("corrupt");
    let StoreError::Corrupt { line, what, .. } = &error else { panic!("{error}") };
    assert!(*line > 1 && what.contains("invalid type"), "{error}");
    for cut in (0..plan.len() - 2).step_by(211) {
        fs::write(folder.join(PLAN_FILE), &plan[..cut]).expect("written");
        assert!(matches!(Run::open(&folder), Err(StoreError::Corrupt { .. })), "cut at {cut}");
    }
}

#[test]
fn a_plan_with_dangling_references_is_rejected() {
    let (_scratch, folder) = written(&tiny());
    let mut plan = tiny().plan();
    plan.trials[2].configuration = 99;
    fs::write(folder.join(PLAN_FILE), serde_json::to_vec(&plan).expect("JSON")).expect("written");
    let error = Run::open(&folder).expect_err("refers to nothing");
    assert!(
        error
            .to_string()
            .contains("trial b02-001 refers to configuration 99, which does not exist"),
        "{error}"
    );
}

#[test]
fn an_unreadable_file_is_reported() {
    // A folder in place of the file is unreadable even for root.
    let (_scratch, folder) = written(&tiny());
    for name in [EVENTS_FILE, SPEC_FILE, ENVIRONMENT_FILE] {
        fs::remove_file(folder.join(name)).expect("removed");
        fs::create_dir(folder.join(name)).expect("made");
    }
    let text = problems(&folder);
    for name in [EVENTS_FILE, SPEC_FILE, ENVIRONMENT_FILE] {
        assert!(text.lines().any(|line| line.starts_with(&format!("{name}: "))), "{text}");
    }
    fs::remove_file(folder.join(PLAN_FILE)).expect("removed");
    fs::create_dir(folder.join(PLAN_FILE)).expect("made");
    let error = Run::open(&folder).expect_err("no plan");
    assert!(
        error.to_string().starts_with("cannot read ") && error.to_string().ends_with("plan.json"),
        "{error}"
    );
}

#[test]
fn names_cannot_leave_their_folder() {
    assert_eq!(path_name("../../etc/passwd"), "-..-etc-passwd");
    assert_eq!(path_name("MariaDB 10.11"), "MariaDB-10.11");
    assert_eq!(path_name(".."), "unnamed");
    assert_eq!(path_name("데이터"), "데이터");
}

#[test]
fn errors_state_the_path_and_the_remedy() {
    let error = StoreError::NewerFormat { path: "r".into(), found: 9, known: 1 };
    assert_eq!(
        error.to_string(),
        "r has results format 9, but this version of dyno reads formats up to 1; use the version that wrote it, or a newer one"
    );
}

/// A disk that records its operations, and writes nothing while the mutex is held.
struct NotedDisk {
    disk: MachineDisk,
    notes: Notes,
    gate: Arc<Mutex<()>>,
}

type Notes = Arc<Mutex<Vec<(&'static str, PathBuf)>>>;

fn note(notes: &Notes, what: &'static str, path: &Path) {
    notes.lock().unwrap().push((what, path.to_owned()));
}

impl Disk for NotedDisk {
    fn make_folder(&mut self, path: &Path) -> Result<(), StoreError> {
        note(&self.notes, "change", path.parent().unwrap());
        self.disk.make_folder(path)
    }

    fn create(&mut self, path: &Path) -> Result<(), StoreError> {
        note(&self.notes, "change", path.parent().unwrap());
        self.disk.create(path)
    }

    fn append(&mut self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        drop(self.gate.lock());
        note(&self.notes, "change", path);
        self.disk.append(path, bytes)
    }

    fn sync(&mut self, path: &Path) -> Result<(), StoreError> {
        note(&self.notes, "sync", path);
        self.disk.sync(path)
    }

    fn sync_folder(&mut self, path: &Path) -> Result<(), StoreError> {
        note(&self.notes, "sync", path);
        self.disk.sync_folder(path)
    }

    fn close(&mut self, path: &Path) {
        self.disk.close(path);
    }

    fn rename(&mut self, from: &Path, to: &Path) -> Result<(), StoreError> {
        self.disk.rename(from, to)
    }

    fn replace(&mut self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        self.disk.replace(path, bytes)
    }
}

/// A writer into a folder of its own, on such a disk.
fn writer_on(folder: &Path, notes: &Notes, gate: &Arc<Mutex<()>>) -> RunWriter {
    let plan = tiny().plan();
    RunWriter::create_at(folder, &plan, "", &Environment::default()).unwrap().finish().unwrap();
    let events = folder.join(EVENTS_FILE);
    let file = fs::File::options().append(true).open(&events).unwrap();
    let disk = MachineDisk::with(events, file);
    let disk = NotedDisk { disk, notes: Arc::clone(notes), gate: Arc::clone(gate) };
    let writer_thread = WriterThread::new(Box::new(disk), folder).unwrap();
    RunWriter::going_on(folder, plan, writer_thread, Vec::new(), Box::new(jiff::Timestamp::now))
}

#[test]
fn trials_are_reported_only_after_their_files_are_synced() {
    /// First the writer, then the screen.
    struct Told(Monitored, Notes);
    impl Listener for Told {
        fn event(&mut self, event: &Event) {
            self.0.event(event);
            if let Event::TrialFinished(record) = event {
                note(&self.1, "told", Path::new(&record.trial.id));
            }
        }

        fn interval(&mut self, interval: &dyno_model::record::IntervalRecord) {
            self.0.interval(interval);
        }
    }
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("run");
    let notes = Notes::default();
    let mut reported =
        Told(Monitored(writer_on(&folder, &notes, &Arc::default())), Arc::clone(&notes));
    tiny().play(&tiny().plan(), &mut reported);
    let mut unsafe_paths = BTreeSet::new();
    let mut trials = 0;
    for (what, path) in notes.lock().unwrap().drain(..) {
        match what {
            "change" => {
                unsafe_paths.insert(path);
            }
            "sync" => {
                unsafe_paths.remove(&path);
            }
            _ => {
                assert_eq!(unsafe_paths, BTreeSet::new(), "{} was told before", path.display());
                trials += 1;
            }
        }
    }
    assert_eq!(trials, 4);
}

#[test]
fn a_stuck_disk_does_not_delay_measuring() {
    #[derive(Default)]
    struct Kept(Vec<dyno_model::record::IntervalRecord>);
    impl Listener for Kept {
        fn interval(&mut self, interval: &dyno_model::record::IntervalRecord) {
            self.0.push(interval.clone());
        }
    }
    let mut kept = Kept::default();
    tiny().play(&tiny().plan(), &mut kept);
    let scratch = tempfile::tempdir().unwrap();
    let gate = Arc::default();
    let mut writer = writer_on(&scratch.path().join("run"), &Notes::default(), &gate);
    let stuck = gate.lock().unwrap();
    let (done, is_done) = std::sync::mpsc::channel();
    let measuring = std::thread::spawn(move || {
        let trial = kept.0[0].trial.clone();
        for phase in [Phase::Connecting, Phase::Measure, Phase::Audit] {
            writer.event(&Event::PhaseStarted { trial: trial.clone(), phase });
        }
        kept.0
            .iter()
            .filter(|interval| interval.trial == trial)
            .for_each(|interval| writer.interval(interval));
        done.send(()).unwrap();
        writer.finish().unwrap()
    });
    is_done.recv_timeout(std::time::Duration::from_secs(120)).expect("it waits for the disk");
    drop(stuck);
    let folder = measuring.join().unwrap();
    assert!(
        fs::metadata(folder.join(TRIALS_FOLDER).join("b01-001").join(LATENCY_FILE)).unwrap().len()
            > 0
    );
}

#[test]
fn generator_facts_written_by_older_versions_can_be_read() {
    let worker = r#"{"clients":4,"cpu":1,"wall":10,"wakeups":2,"statements":3}"#;
    let text = format!(
        r#"{{"workers":[{worker}],"cpu_user":1,"cpu_system":1,"little_gap":0.05,"wakeup_lag_p99":7,"memory_peak":9,"shares_machine":true}}"#
    );
    let generator: dyno_model::record::GeneratorRecord =
        serde_json::from_str(&text).expect("unknown keys are passed over");
    assert_eq!((generator.wakeup_lag_p99, generator.held_up()), (7, None));
    let warning: Warning =
        serde_json::from_str(r#"{"warning":"little-gap","share":0.05}"#).expect("it had that name");
    assert_eq!(warning, Warning::Stalled { share: 0.05 });
}
