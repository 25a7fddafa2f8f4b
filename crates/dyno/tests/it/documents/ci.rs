//! The example files for CI services: their steps run one after the other in a shell, as a runner
//! would run them, in a repository that uses them.

use crate::program::Bench;
use dyno_model::plan::ServerKind;
use dyno_testkit::repository::text;
use dyno_testkit::require_server;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// A step of a workflow: its name, its commands, and whether it runs after a failed step.
struct Step {
    name: String,
    script: String,
    is_always: bool,
}

/// The steps of a workflow of GitHub Actions that run commands.
fn github_steps(workflow: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for step in workflow.split("\n      - ").skip(1) {
        let Some((head, commands)) = step.split_once("\n        run: |\n") else { continue };
        let script = commands.lines().map_while(|line| line.strip_prefix("          "));
        steps.push(Step {
            name: head.lines().next().unwrap_or_default().replace("name: ", ""),
            script: script.map(|line| format!("{line}\n")).collect(),
            is_always: head.contains("if: always()"),
        });
    }
    steps
}

/// The commands of a job of GitLab CI; its runner runs them in one shell.
fn gitlab_script(job: &str) -> String {
    let (_, script) = job.split_once("\n  script:\n").expect("a script");
    let lines = script.lines().map_while(|line| line.strip_prefix("    - "));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Replaces cargo, which would build dyno for minutes: checks its arguments, and installs the
/// program of this test.
const CARGO: &str = "#!/bin/sh
set -e
[ \"$*\" = \"install --locked --quiet --root tools --git $DYNO_SOURCES dyno\" ]
mkdir -p tools/bin
ln -s \"$DYNO\" tools/bin/dyno
";

/// A repository with the spec, shortened, a build script that installs PostgreSQL's programs, and
/// a program instead of cargo.
fn repository(bench: &Bench) {
    let spec = text("examples/ci/regression.toml");
    let short = [
        ("duration = \"20s\"", "duration = \"300ms\""),
        ("clients = [1, 8]", "clients = [1]"),
        ("blocks = \"auto\"", "blocks = 3"),
        ("budget = \"20m\"\n", ""),
        ("kind = \"oltp_read_write\"", "kind = \"oltp_read_write\"\ntable_size = 100"),
    ];
    let spec = short.into_iter().fold(spec, |spec, (long, short)| {
        assert!(spec.contains(long), "{long}");
        spec.replace(long, short)
    });
    let server = dyno_host::server::locate(ServerKind::Postgres, None).expect("it is here");
    let programs = server.program.parent().expect("a folder");
    let build = format!(
        "#!/bin/sh\nset -e\ntest -f \"$1/version\"\nmkdir -p \"$2\"\nln -s '{}' \"$2/bin\"\n",
        programs.display()
    );
    fs::create_dir(bench.path().join("performance")).expect("made");
    bench.file("performance/regression.toml", spec);
    fs::create_dir(bench.path().join("programs")).expect("made");
    for (name, script) in [("performance/build", build.as_str()), ("programs/cargo", CARGO)] {
        let program = bench.file(name, script);
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).expect("set");
    }
    // dyno starts servers as another user, who must reach the programs.
    fs::set_permissions(bench.path(), fs::Permissions::from_mode(0o755)).expect("set");
    let prepare = "set -e
        git init -q -b main .; git config user.name n; git config user.email e
        echo 1 > version; git add version performance; git commit -q -m base
        git update-ref refs/remotes/origin/main HEAD
        echo 2 > version; git commit -q -a -m new";
    let ended = shell(bench, prepare, "", &[]);
    assert!(ended.status.success(), "{ended:?}");
}

/// Runs a script as the runners of both services do. `added` is searched for programs first.
fn shell(bench: &Bench, script: &str, added: &str, environment: &[(&str, &str)]) -> Output {
    let search = std::env::var("PATH").expect("a path");
    let search = format!("{added}:{}/programs:{search}", bench.path().display());
    let mut command = Command::new("bash");
    command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]);
    command.current_dir(bench.path()).env("TMPDIR", bench.path());
    command.env("DYNO", env!("CARGO_BIN_EXE_dyno")).env("PATH", search.trim_start_matches(':'));
    command.env("DYNO_SOURCES", "https://sources.example/dbdyno");
    command.envs(environment.iter().copied()).output().expect("bash")
}

/// What both leave behind: reports, and test cases for both systems.
fn has_reports(folder: &Path) {
    for name in ["report.html", "report.md", "junit.xml"] {
        assert!(folder.join("report").join(name).is_file(), "{name}");
    }
    let junit = fs::read_to_string(folder.join("report/junit.xml")).expect("text");
    assert!(junit.contains("name=\"base, 1 client\"") && junit.contains("name=\"new, 1 client\""));
    assert!(junit.contains("name=\"new : base, 1 client, throughput\""), "{junit}");
}

/// The verdict step fails only if the report has a reason: two equal builds may differ by chance.
fn is_verdict(ended: &Output) -> bool {
    matches!(ended.status.code(), Some(0 | 8))
}

#[test]
fn the_workflow_of_github_reaches_a_verdict() {
    if require_server(ServerKind::Postgres).is_none() {
        return;
    }
    let bench = Bench::new();
    repository(&bench);
    let steps = github_steps(&text("examples/ci/github.yml"));
    let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["Install dyno", "Build both versions", "Measure", "Report", "Verdict"]);
    assert!(steps.iter().all(|step| step.is_always == (step.name == "Report")));
    let [path, summary] = ["path", "summary"].map(|name| bench.file(name, ""));
    let [path, summary] = [&path, &summary].map(|path| path.to_str().expect("text"));
    for step in &steps {
        let added = fs::read_to_string(path).expect("text");
        let environment =
            [("GITHUB_BASE_REF", "main"), ("GITHUB_PATH", path), ("GITHUB_STEP_SUMMARY", summary)];
        let ended = shell(&bench, &step.script, added.trim(), &environment);
        let is_expected = ended.status.success() || step.name == "Verdict" && is_verdict(&ended);
        assert!(is_expected, "{}: {ended:?}", step.name);
    }
    has_reports(bench.path());
    assert!(fs::read_to_string(summary).expect("text").starts_with("# New build against its base"));
}

#[test]
fn the_job_of_gitlab_reaches_a_verdict() {
    if require_server(ServerKind::Postgres).is_none() {
        return;
    }
    let bench = Bench::new();
    repository(&bench);
    let script = gitlab_script(&text("examples/ci/gitlab.yml"));
    assert_eq!(script.lines().count(), 9, "{script}");
    let ended = shell(&bench, &script, "", &[("CI_MERGE_REQUEST_DIFF_BASE_SHA", "HEAD^")]);
    assert!(is_verdict(&ended), "{ended:?}");
    has_reports(bench.path());
}
