//! Runs the program in a folder of its own and captures output and exit code.

use dyno_model::event::Event;
use dyno_model::record::TrialRecord;
use dyno_model::warning::{Severity, Warning};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder that vanishes with the test, in which dyno runs.
pub(crate) struct Bench {
    folder: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder can be made") }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file into the folder.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).expect("a file can be written");
        path
    }

    /// Names in the folder, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).expect("the folder can be listed");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// The program, not started yet, with scratch folders within this one.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dyno"));
        command
            .current_dir(self.path())
            .args(arguments)
            .env("TMPDIR", self.path())
            .env_remove("NO_COLOR");
        command
    }

    /// Takes out of a results folder what its trials say of how busy this machine was: reports
    /// leave out trials that suffered from it, and it is no matter of what is tested.
    pub(crate) fn forget_the_machine(&self, results: &str) {
        let path = self.path().join(results).join("events.jsonl");
        let mut lines = String::new();
        for line in std::fs::read_to_string(&path).expect("the event log can be read").lines() {
            let mut event: serde_json::Value = serde_json::from_str(line).expect("events are JSON");
            forget_the_machine_in(&mut event);
            // An index that is written would make what is not there.
            for background in event
                .get_mut("background")
                .and_then(serde_json::Value::as_array_mut)
                .into_iter()
                .flatten()
            {
                forget_the_machine_in(&mut background["record"]);
            }
            lines.push_str(&format!("{event}\n"));
        }
        std::fs::write(path, lines).expect("a file can be written");
    }

    /// Runs the program to its end.
    pub(crate) fn dyno(&self, arguments: &[&str]) -> Ended {
        let output = self.command(arguments).output().expect("dyno can be started");
        Ended::from(output)
    }
}

/// Other tests run at the same time, and other guests of this machine's host do what they want.
fn forget_the_machine_in(record: &mut serde_json::Value) {
    if let Some(warnings) = record["warnings"].as_array_mut() {
        warnings.retain(|warning| {
            !serde_json::from_value(warning.clone())
                .is_ok_and(|warning| is_of_the_machine(&warning))
        });
    }
    // Records are judged anew by what was observed.
    if let Some(facts) = record["facts"].as_object_mut() {
        facts.insert("steal".to_owned(), 0.0.into());
    }
    if let Some(open_loop) = record.get_mut("open_loop").and_then(serde_json::Value::as_object_mut)
    {
        open_loop.remove("lag");
    }
    for worker in record["generator"]["workers"].as_array_mut().into_iter().flatten() {
        worker["cpu"] = 0.into();
        worker["waited"] = worker["wall"].clone();
    }
}

fn is_of_the_machine(warning: &Warning) -> bool {
    if let Warning::Background { inner, .. } = warning {
        return is_of_the_machine(inner);
    }
    matches!(
        warning.of_any_generator(),
        Warning::GeneratorBusy { .. }
            | Warning::GeneratorLate { .. }
            | Warning::Stalled { .. }
            | Warning::Steal { .. }
            | Warning::OtherProcessesCpu { .. }
    )
}

/// What makes the figures of a trial useless, but for how busy this machine was.
pub(crate) fn flaws(record: &TrialRecord) -> Vec<&Warning> {
    let invalid = record.warnings.iter().filter(|warning| warning.severity() == Severity::Invalid);
    invalid.filter(|warning| !is_of_the_machine(warning)).collect()
}

/// Why the system of a trial failed; empty if it did not.
pub(crate) fn system_failure(record: &TrialRecord) -> String {
    let failure = record.warnings.iter().find_map(|warning| match warning {
        Warning::SystemFailed { reason } => Some(reason.to_string()),
        _ => None,
    });
    failure.unwrap_or_default()
}

/// Whether all sessions of a trial have ended is asked for ten seconds, a third of a second apart
/// in the end.
pub(crate) const SETTLING_QUESTIONS_MAX: i64 = 40;

/// The most questions that the monitor and the trial's own observer asked a server during a trial,
/// each of them a statement that the server counts.
pub(crate) fn questions_max(results: &Path, record: &TrialRecord) -> i64 {
    let trial = results.join("trials").join(&record.trial.id);
    let looks = |file: &str| {
        // Without sessions to tell of there is no such file.
        let text = std::fs::read_to_string(trial.join(file)).unwrap_or_default();
        text.lines().skip(1).filter_map(|line| line.split(',').next().map(str::to_owned)).collect()
    };
    let mut times: BTreeSet<String> = looks("monitor.csv");
    assert!(!times.is_empty(), "every trial is monitored");
    times.extend::<BTreeSet<String>>(looks("sessions.csv"));
    // Two at each look, and a few when it connects, which may be after the first snapshot. While
    // nothing commits sessions are looked at four times a second, whether that is answered in time
    // or not.
    let asked = 2 * times.len() as i64 + 5;
    let is_stalled = record.longest_gap.is_some_and(|gap| gap.length.as_secs_f64() > 0.25);
    asked + if is_stalled { (10.0 * record.window_length.as_secs_f64()).ceil() as i64 } else { 0 }
}

/// True if the counter of commits contains those of all ended sessions: from version 15 on.
pub(crate) fn compares_postgres_commits(record: &TrialRecord) -> bool {
    let major = record.server_version.split('.').next().and_then(|text| text.parse::<u32>().ok());
    major.expect("a number") >= 15
}

/// The commits that PostgreSQL counted during a trial; `None` before version 15, whose count is not
/// compared, as a note says.
pub(crate) fn postgres_commits(record: &TrialRecord) -> Option<i64> {
    let is_compared = compares_postgres_commits(record);
    let count = record.server_counters.get("xact_commit").copied();
    let note = |it: &Warning| matches!(it, Warning::CommitsNotCompared { in_doubt: 0, .. });
    assert_eq!(count.is_some(), is_compared, "{}", record.server_version);
    assert!(is_compared || record.warnings.iter().any(note), "{:?}", record.warnings);
    count
}

/// What the event log of a results folder holds so far.
pub(crate) fn events(results: &Path) -> Vec<Event> {
    let text = std::fs::read_to_string(results.join("events.jsonl")).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The records of its finished trials.
pub(crate) fn records(results: &Path) -> Vec<TrialRecord> {
    let record = |event| match event {
        Event::TrialFinished(record) => Some(*record),
        _ => None,
    };
    events(results).into_iter().filter_map(record).collect()
}

/// Why its trials failed, in words.
pub(crate) fn failures(results: &Path) -> Vec<String> {
    let reason = |event| match event {
        Event::TrialFailed { reason, .. } => Some(reason.to_string()),
        _ => None,
    };
    events(results).into_iter().filter_map(reason).collect()
}

/// Sends a signal to a process that runs.
pub(crate) fn signal(name: &str, pid: u32) {
    let status = Command::new("kill").args([name, &pid.to_string()]).status();
    assert!(status.expect("kill is there").success(), "{name} {pid}");
}

/// What the program left.
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("dyno writes UTF-8");
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        // A signal is no exit code; tests expect none.
        Self { code: output.status.code().unwrap_or(-1), stdout, stderr }
    }
}

impl Ended {
    /// Whether all was done that was asked for. That no trial is valid is mostly this machine's
    /// doing (another guest's load, a late generator): whoever tests what makes trials invalid
    /// looks at the records.
    pub(crate) fn is_done(&self) -> bool {
        // A limit without valid trials is undecided.
        self.code == 0 || matches!(self.code, 6 | 9) && self.stderr.contains("no trial is valid")
    }
}

/// As a snapshot has it.
impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit code {}\n--- stdout\n{}--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}
