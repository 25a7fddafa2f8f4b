//! Launches a run in a cluster: writes its objects, or makes them, follows the
//! run, copies its results and removes everything.

use super::coordinator_job::{
    CoordinatorJob, DYNO, EARLIER, HOLDER, RESULTS, SPEC, list, results_in_pod, selector,
};
use super::kubectl::{Call, Kubectl};
use super::pods::{containers, disruption, failure, hopeless, is_deleted, name, unschedulable};
use super::volume::{MovedKeyFile, pack, unpack};
use crate::cli::{self, LaunchArguments};
use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::printer::Printer;
use crate::spec_file::{self, Experiment};
use dyno_model::catalog::WorkloadDescription;
use dyno_model::exit_code::{
    INTERRUPTED, PREFLIGHT_FAILED, RESULTS_FAILED, RUN_INCOMPLETE, SPEC_INVALID, USAGE,
};
use dyno_model::mask::is_masked;
use dyno_model::plan::{ExistingSystem, PasswordSource, Plan, SystemSource};
use dyno_model::target::{Endpoint, Tls};
use dyno_store::{Run, StoreError, new_folder};
use serde_json::Value;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{BufRead, BufReader};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Pause between two looks at the pod.
const PAUSE: Duration = Duration::from_millis(500);
/// How long the pod may have no node.
const SCHEDULE_LIMIT: Duration = Duration::from_secs(300);
/// How long the exit code is waited for when the output has ended.
const ENDING: Duration = Duration::from_secs(3);
/// How long the API server may be silent while the run is followed.
const SILENCE_LIMIT: Duration = Duration::from_secs(60);
/// Most that a config map holds, in bytes, with room for its other fields.
const CONFIG_MAP_MAX: usize = 1_000_000;
/// Longest beginning of an object's name that comes from the spec: pods and host names have at most
/// 63 characters.
const STEM_MAX: usize = 30;

/// Writes or makes the objects of a run.
///
/// # Errors
/// When the experiment cannot run in a cluster, kubectl or the API server refuses, or the results
/// cannot be copied.
pub(crate) fn launch(
    mut arguments: LaunchArguments,
    catalog: &[WorkloadDescription],
    printer: Printer,
) -> Result<u8, Failure> {
    let has_spec = arguments.spec.is_given();
    let (plan, files, mut line) = match (&arguments.resume, has_spec) {
        (Some(folder), false) => (Run::open(folder)?.plan, Vec::new(), vec!["run".to_owned()]),
        _ => {
            arguments.spec.set.push("launcher.kind=kubernetes".to_owned());
            let (experiment, scripts) =
                spec_file::read_experiment_and_scripts(&arguments.spec, catalog)?;
            let (files, spec) = files(&arguments, &experiment, scripts)?;
            let line = command_line(&arguments, spec)?;
            (experiment.plan, files, line)
        }
    };
    check(&plan, &arguments)?;
    let word = if arguments.resume.is_some() { "--resume" } else { "--out" };
    line.extend([word.to_owned(), results_in_pod()]);
    line.extend([
        "--plain".to_owned(),
        "--lang".to_owned(),
        arguments.language.lang.code.to_owned(),
    ]);
    if let Some(database) = &arguments.yes_write_to {
        line.extend(["--yes-write-to".to_owned(), database.clone()]);
    }
    let random = RandomState::new().build_hasher().finish() & 0xffff_ffff;
    let name = format!("dyno-{}-{random:08x}", stem(&plan.name));
    // Objects that somebody else applies name their namespace; kubectl knows that of its
    // configuration.
    let usual = (!arguments.apply).then_some("default");
    let job = CoordinatorJob {
        name: &name,
        namespace: arguments.namespace.as_deref().or(usual),
        image: &arguments.image,
        arguments: &line,
        files: &files,
        secrets: &arguments.secret,
        resumes: arguments.resume.is_some(),
    };
    if !arguments.apply {
        let mut objects = job.others(&Value::Null);
        let items = objects["items"].as_array_mut().map(std::mem::take).unwrap_or_default();
        let all: Vec<Value> = items.into_iter().chain([job.job(false)]).collect();
        let document = list(&all);
        let text = serde_json::to_string_pretty(&document).expect("it is JSON");
        return printer.result(&text).map(|()| 0);
    }
    let kubectl =
        Kubectl { context: arguments.context.clone(), namespace: arguments.namespace.clone() };
    let folder = match (&arguments.resume, &arguments.out) {
        (Some(folder), _) => folder.clone(),
        (None, Some(folder)) if fs::read_dir(folder).is_ok_and(|mut it| it.next().is_some()) => {
            return Err(StoreError::NotEmpty { path: folder.clone() }.into());
        }
        (None, Some(folder)) => folder.clone(),
        (None, None) => new_folder(Path::new(cli::RESULTS), &plan.name)?,
    };
    // Without a slash at its end, after which the names of its neighbours would be within it.
    let folder: PathBuf = folder.components().collect();
    let interrupts = Interrupts::listen()?;
    // Nothing was measured.
    let discard = || drop(fs::remove_dir(&folder));
    let made = CreatedObjects::new(&kubectl, &job).inspect_err(|_| discard())?;
    printer.note(&format!("{name}: created in Kubernetes"));
    let mut run = FollowedRun { made: &made, printer, interrupts: &interrupts, is_ending: false };
    let code = run.follow(arguments.resume.is_some(), &folder);
    drop(made);
    discard();
    let code = code?;
    printer.note(&format!("results: {}", folder.display()));
    Ok(code)
}

/// What a cluster cannot run.
fn check(plan: &Plan, arguments: &LaunchArguments) -> Result<(), Failure> {
    for system in &plan.systems {
        let name = &system.name;
        let refused = |text: String| Failure::new(SPEC_INVALID, text);
        let existing = match &system.source {
            SystemSource::Existing(existing) => existing,
            SystemSource::Managed(_) => {
                return Err(refused(format!(
                    "`{name}`: dyno cannot start this server in a cluster: its image has no servers"
                ))
                .help(format!(
                    "name a server that the cluster reaches: --set 'system.{name}.url=\"...\"', or \
                     `url` instead of `server` in the spec"
                )));
            }
            SystemSource::Imported => continue,
        };
        let ExistingSystem { endpoint, password, tls, client_certificate, .. } = existing;
        let file = match (endpoint, password, tls) {
            (Endpoint::Unix(path), ..) | (_, PasswordSource::File(path), _) => Some(path),
            (.., Tls::Verify { ca: Some(path) } | Tls::VerifyAuthority { ca: Some(path) }) => {
                (!path.starts_with("/etc/ssl") && path != Path::new("system")).then_some(path)
            }
            _ => client_certificate.as_ref().map(|it| &it.certificate),
        };
        if let Some(path) = file {
            let text =
                format!("`{name}`: the file {} of this machine is not in the pod", path.display());
            let help = "passwords: `password_env` and --secret; certificates are not supported yet";
            return Err(refused(text).help(help));
        }
        match password {
            PasswordSource::Url { .. } => {
                let text = format!(
                    "`{name}`: the spec contains its password, and every reader of \
                                    config maps would see it"
                );
                return Err(refused(text).help(
                    "remove it, and name a secret: `password_env = \"SHOP_PASSWORD\"` and --secret \
                     SHOP_PASSWORD=SECRET/KEY",
                ));
            }
            PasswordSource::Command(_) => {
                let text = format!("`{name}`: the pod has no programs for `password_command`");
                return Err(refused(text).help("passwords: `password_env` and --secret"));
            }
            PasswordSource::Environment(variable) | PasswordSource::UrlVariable(variable)
                if arguments.secret.iter().all(|it| it.variable != *variable) =>
            {
                let text = format!("`{name}`: the pod has no variable {variable}");
                let help = format!("name the secret that has it: --secret {variable}=SECRET/KEY");
                return Err(refused(text).help(help));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The files of the spec with their paths in the volume, and the path of the spec in the pod.
fn files(
    arguments: &LaunchArguments,
    experiment: &Experiment,
    scripts: Vec<(PathBuf, String)>,
) -> Result<(Vec<(String, String)>, String), Failure> {
    if is_masked(&experiment.text) {
        let text = "the spec contains a password, and every reader of config maps would see it";
        return Err(Failure::new(SPEC_INVALID, text)
            .help("use an environment variable, and name its secret with --secret"));
    }
    let spec = match (&arguments.spec.spec, arguments.spec.url()) {
        (Some(file), None) => file.clone(),
        _ => format!("{}.toml", experiment.plan.name).into(),
    };
    if let Some((path, _)) =
        scripts.iter().find(|(path, _)| path.is_absolute() && spec.is_relative())
    {
        let text = format!("the pod has no file {}", path.display());
        return Err(Failure::new(SPEC_INVALID, text).help("name it relative to the spec"));
    }
    let mut files: Vec<(PathBuf, String)> = vec![(normal(&spec)?, experiment.text.clone())];
    for (path, text) in scripts {
        files.push((normal(&path)?, text));
    }
    let total: usize = files.iter().map(|(_, text)| text.len()).sum();
    if total > CONFIG_MAP_MAX {
        let text = format!(
            "the spec and its scripts have {total} bytes, and a config map holds {CONFIG_MAP_MAX}"
        );
        let help = "prepare the data in the database, and use it with `data = \"existing\"`";
        return Err(Failure::new(SPEC_INVALID, text).help(help));
    }
    let mut base = files[0].0.parent().unwrap_or(Path::new("/")).to_owned();
    while !files.iter().all(|(path, _)| path.starts_with(&base)) {
        base.pop();
    }
    let inside = |(path, text): (PathBuf, String)| {
        let path = path.strip_prefix(&base).expect("it is below").to_string_lossy().into_owned();
        (path, text)
    };
    let files: Vec<(String, String)> = files.into_iter().map(inside).collect();
    let spec = format!("{SPEC}/{}", files[0].0);
    Ok((files, spec))
}

/// An absolute path without `..`.
fn normal(path: &Path) -> Result<PathBuf, Failure> {
    let absolute =
        std::path::absolute(path).map_err(|error| Failure::cannot("read", path, &error))?;
    let mut normal = PathBuf::new();
    for component in absolute.components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    Ok(normal)
}

/// The command line in the pod, without results.
fn command_line(arguments: &LaunchArguments, spec: String) -> Result<Vec<String>, Failure> {
    let selected = &arguments.spec;
    let mut line = vec!["run".to_owned(), spec];
    line.extend(selected.profile.iter().flat_map(|name| ["--profile".to_owned(), name.clone()]));
    let overrides = selected.overrides()?;
    if let Some(set) = overrides.iter().find(|set| is_masked(&dyno_model::mask::masked(set))) {
        let key = set.split('=').next().unwrap_or_default();
        let text =
            format!("--set {key} contains a password, and every reader of jobs would see it");
        return Err(Failure::new(USAGE, text)
            .help("use an environment variable, and name its secret with --secret"));
    }
    line.extend(overrides.into_iter().flat_map(|set| ["--set".to_owned(), set]));
    Ok(line)
}

/// The beginning of an object's name.
fn stem(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().map(plain).take(STEM_MAX).collect();
    match name.trim_matches('-') {
        "" => "run".to_owned(),
        name => name.to_owned(),
    }
}

/// The objects of a run in the cluster, which end with this value.
struct CreatedObjects<'a> {
    kubectl: &'a Kubectl,
    name: &'a str,
}

impl<'a> CreatedObjects<'a> {
    /// Creates them. The cluster removes all with the Job, also when this process is killed.
    fn new(kubectl: &'a Kubectl, job: &CoordinatorJob<'a>) -> Result<Self, Failure> {
        let owner = kubectl.create(&job.job(true))?;
        let made = Self { kubectl, name: job.name };
        kubectl.create(&job.others(&owner))?;
        let start = r#"--patch={"spec":{"suspend":false}}"#;
        kubectl.answer(&["patch", "job", job.name, "--type=merge", start])?;
        Ok(made)
    }

    /// The pod, if it exists.
    fn pod(&self) -> Result<Option<Value>, Failure> {
        let selector = format!("--selector={}", selector(self.name));
        let mut pods = self.kubectl.objects(&["get", "pods", &selector, "--output=json"])?;
        Ok(pods["items"].as_array_mut().and_then(Vec::pop))
    }

    /// Runs dyno in a container of the pod.
    fn volume<'c>(pod: &'c str, container: &'c str, command: &'c str) -> [&'c str; 9] {
        ["exec", "--stdin", pod, "--container", container, "--", "/dyno", "volume", command]
    }

    /// Lets a container that holds the volume end.
    fn release(&self, pod: &str, container: &str) -> Result<(), Failure> {
        let command = [&Self::volume(pod, container, "release")[..], &[RESULTS]].concat();
        self.kubectl.answer(&command).map(drop)
    }

    /// Copies the results out of the pod.
    fn copy(&self, pod: &str, folder: &Path) -> Result<(), Failure> {
        let beside = |suffix: &str| {
            let mut path = folder.as_os_str().to_owned();
            path.push(suffix);
            PathBuf::from(path)
        };
        let (partial, before) = (beside(".partial"), beside(".before"));
        let cannot = |error| Failure::cannot("write", folder, &error);
        if let Some(parent) = folder.parent() {
            fs::create_dir_all(parent).map_err(cannot)?;
        }
        // What an earlier attempt left.
        let _ = fs::remove_dir_all(&partial);
        let arguments = [&Self::volume(pod, HOLDER, "send")[..], &[RESULTS]].concat();
        let mut call = self.kubectl.start(&arguments)?;
        let unpacked = unpack(call.reader(), &partial);
        let sent = call.finish();
        if let Err(error) = unpacked {
            let _ = fs::remove_dir_all(&partial);
            let failure = Failure::new(RESULTS_FAILED, "cannot copy the results out of the pod");
            return Err(sent.err().unwrap_or_else(|| failure.because(&error)));
        }
        // A run that was resumed replaces its earlier state, which stays until the new one is
        // complete.
        if folder.exists() {
            fs::rename(folder, &before).map_err(cannot)?;
        }
        fs::rename(&partial, folder).map_err(cannot)?;
        if before.exists() { fs::remove_dir_all(&before).map_err(cannot) } else { Ok(()) }
    }
}

impl Drop for CreatedObjects<'_> {
    fn drop(&mut self) {
        // A container that holds the volume ignores the first signal, also if no run began.
        if let Ok(Some(pod)) = self.pod() {
            let release = |container| self.release(name(&pod), container).is_ok();
            let _ = [HOLDER, EARLIER].into_iter().any(release);
        }
        let delete = ["delete", "job", self.name, "--ignore-not-found", "--wait=false"];
        let _ = self.kubectl.answer(&delete);
    }
}

/// A run in the cluster that this process follows.
struct FollowedRun<'a> {
    made: &'a CreatedObjects<'a>,
    printer: Printer,
    interrupts: &'a Interrupts,
    /// True when the user has asked for an end.
    is_ending: bool,
}

impl FollowedRun<'_> {
    /// Follows the run to its end and copies its results; returns its exit code.
    fn follow(&mut self, resumes: bool, folder: &Path) -> Result<u8, Failure> {
        if resumes {
            let pod = self.started(EARLIER)?;
            self.send(&pod, folder)?;
        }
        let pod = self.started(DYNO)?;
        let code = self.ended(&pod);
        let copied = self.made.copy(&pod, folder);
        match (code, copied) {
            (Ok(code), Ok(())) => Ok(code),
            // A run that failed its preflight has no results.
            (Ok(code), Err(_)) if code != 0 && code < RUN_INCOMPLETE => Ok(code),
            (Ok(_), Err(failure)) | (Err(failure), _) => Err(failure),
        }
    }

    /// Waits until a container of the pod runs, or has run; returns the pod's name.
    fn started(&mut self, container: &str) -> Result<String, Failure> {
        let began = Instant::now();
        let mut reported = String::new();
        loop {
            self.hear(None)?;
            let failed = |text: String| Failure::new(PREFLIGHT_FAILED, text);
            if let Some(pod) = self.made.pod()? {
                let of_name = containers(&pod).find(|it| it["name"] == container);
                let state = of_name.map(|it| &it["state"]);
                if state.is_some_and(|it| it["running"].is_object() || it["terminated"].is_object())
                {
                    return Ok(name(&pod).to_owned());
                }
                if let Some(reason) = hopeless(&pod) {
                    return Err(failed(reason).help(
                        "check --image and --secret; nodes must be able to pull the image, or have \
                         it (scripts/package writes one)",
                    ));
                }
                if let Some(reason) = disruption(&pod).or_else(|| failure(&pod)) {
                    return Err(failed(reason));
                }
                if let Some(reason) = unschedulable(&pod).filter(|reason| *reason != reported) {
                    self.printer.note(&reason);
                    reported = reason;
                }
            }
            if began.elapsed() > SCHEDULE_LIMIT {
                let reason = if reported.is_empty() {
                    format!("Kubernetes has started no pod for the Job {}", self.made.name)
                } else {
                    reported
                };
                let help =
                    format!("kubectl describe job,pod --selector={}", selector(self.made.name));
                return Err(failed(reason).help(help));
            }
            thread::sleep(PAUSE);
        }
    }

    /// Puts the results of an earlier run into the pod.
    fn send(&self, pod: &str, earlier: &Path) -> Result<(), Failure> {
        let receive = [&CreatedObjects::volume(pod, EARLIER, "receive")[..], &[RESULTS]].concat();
        let (call, input) = self.made.kubectl.start_writing(&receive)?;
        let key = MovedKeyFile::new(earlier);
        let packed = pack(earlier, key.path(), input);
        call.finish()?;
        packed.map_err(|error| Failure::cannot("read", earlier, &error))?;
        key.received();
        self.made.release(pod, EARLIER)
    }

    /// Shows the output of the run until it ends; returns its exit code.
    fn ended(&mut self, pod: &str) -> Result<u8, Failure> {
        let mut log = self.made.kubectl.start(&["logs", "--follow", pod, "--container", DYNO])?;
        let (output, printer) = (log.reader(), self.printer);
        let is_silent = Arc::new(AtomicBool::new(false));
        let silent = Arc::clone(&is_silent);
        let shown = thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                printer.raw_message(&format!("{line}\n"));
            }
            silent.store(true, Ordering::Relaxed);
        });
        let (mut silent_since, mut heard) = (None, Instant::now());
        let code = loop {
            self.hear(Some(pod))?;
            thread::sleep(PAUSE);
            let state = match self.made.pod() {
                Ok(Some(state)) => state,
                Ok(None) => {
                    break Err(Failure::new(
                        RUN_INCOMPLETE,
                        "the coordinator's pod was deleted, and its results with it",
                    ));
                }
                // The run goes on without this process.
                Err(_) if heard.elapsed() < SILENCE_LIMIT => continue,
                Err(failure) => break Err(failure),
            };
            heard = Instant::now();
            let ended = containers(&state).find(|it| it["name"] == DYNO);
            let ended = ended.map(|it| &it["state"]["terminated"]["exitCode"]);
            if let Some(code) = ended.and_then(Value::as_u64) {
                break Ok(self.code(&state, code));
            }
            // The status of a pod that is being ended is not updated for each container.
            if is_deleted(&state) && is_silent.load(Ordering::Relaxed) {
                let since = *silent_since.get_or_insert_with(Instant::now);
                if since.elapsed() > ENDING {
                    break Ok(self.code(&state, INTERRUPTED.into()));
                }
            }
        };
        // Its end is that of the container.
        if code.is_ok() {
            let _ = shown.join();
        }
        finish(log);
        code
    }

    /// The exit code of a run: killed by the kernel or by Kubernetes, it is incomplete.
    fn code(&self, pod: &Value, code: u64) -> u8 {
        if !self.is_ending
            && let Some(reason) = disruption(pod)
        {
            self.printer.warning(&reason);
        }
        match u8::try_from(code) {
            Ok(INTERRUPTED) if !self.is_ending => RUN_INCOMPLETE,
            Ok(137 | 143) | Err(_) => {
                self.printer.warning(&format!("the coordinator was killed (exit code {code})"));
                RUN_INCOMPLETE
            }
            Ok(code) => code,
        }
    }

    /// The first Ctrl-C ends the run gracefully, if it has begun.
    fn hear(&mut self, pod: Option<&str>) -> Result<(), Failure> {
        if self.is_ending || !self.interrupts.is_requested() {
            return Ok(());
        }
        self.is_ending = true;
        match pod {
            Some(pod) => {
                self.printer.note("ending the run; its results are copied");
                self.made.kubectl.answer(&["delete", "pod", pod, "--wait=false"]).map(drop)
            }
            None => Err(Failure::new(INTERRUPTED, "interrupted before the run began")),
        }
    }
}

/// Ends a call whose output nobody needs any more.
fn finish(log: Call) {
    let _ = log.finish();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_objects_are_those_of_dns() {
        let rows = [("rush", "rush"), ("Kasse 3.1_ß", "kasse-3-1"), ("---", "run"), ("", "run")];
        for (name, expected) in rows {
            assert_eq!(stem(name), expected, "{name}");
        }
        assert_eq!(stem(&"x".repeat(99)).len(), STEM_MAX);
    }

    #[test]
    fn paths_have_no_steps_upwards() {
        let path = normal(Path::new("/a/b/../c/./d.sql")).expect("it is absolute");
        assert_eq!(path, Path::new("/a/c/d.sql"));
    }
}
