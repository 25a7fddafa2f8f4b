//! The whole program in this process, with scripts that need no server.

use dyno_sysbench::{Terminal, Transcript};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Result of running the program.
struct Ran {
    code: u8,
    out: String,
    error: String,
}

impl Ran {
    /// All output after the banner.
    fn text(&self) -> &str {
        self.out.split_once("\n\n").map_or(self.out.as_str(), |(_, rest)| rest)
    }
}

fn run_with(interrupts: &AtomicUsize, arguments: &[&str]) -> Ran {
    let (out, error) = (Transcript::default(), Transcript::default());
    let terminal = Terminal { out: Box::new(out.clone()), error: Box::new(error.clone()) };
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    let code = dyno_sysbench::main(&arguments, "sysbench", terminal, interrupts, None);
    Ran { code, out: out.text(), error: error.text() }
}

fn run(arguments: &[&str]) -> Ran {
    run_with(&AtomicUsize::new(0), arguments)
}

/// Runs a script with further arguments.
fn script(lua: &str, arguments: &[&str]) -> Ran {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("script.lua");
    fs::write(&path, lua).expect("the folder is writable");
    let name = path.display().to_string();
    let mut all = vec![name.as_str()];
    all.extend(arguments);
    let mut ran = run(&all);
    for text in [&mut ran.out, &mut ran.error] {
        *text = text.replace(&name, "script.lua");
    }
    ran
}

/// Replaces digits, and what follows them in a line, which differ between runs.
fn masked(text: &str) -> String {
    let mut masked = String::new();
    let mut is_number = false;
    for char in text.chars() {
        let continues = char.is_ascii_digit() || is_number && char == '.';
        if !continues {
            masked.push(char);
        } else if !is_number {
            masked.push('N');
        }
        is_number = continues;
    }
    masked
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n")
        .collect()
}

#[test]
fn script_errors_give_file_line_and_the_exit_code_of_sysbench() {
    let event = "function event() end\n";
    let rows = [
        ("x = 1\n", "run", 1, "FATAL: cannot find the event() function in script.lua\n"),
        ("error('top')", "run", 1, "FATAL: script.lua:1: top\n"),
        (
            "function event( ",
            "run",
            1,
            "FATAL: script.lua:1: <name> or '...' expected near '<eof>'\n",
        ),
        (
            "function init() error('a') end",
            "run",
            1,
            "FATAL: `init' function failed: script.lua:2: a\n",
        ),
        (
            "function thread_init() error('b') end",
            "run",
            1,
            "FATAL: `thread_init' function failed: script.lua:2: b\nFATAL: Thread initialization failed!\n",
        ),
        (
            "function thread_done() error('c') end",
            "run",
            0,
            "FATAL: `thread_done' function failed: script.lua:2: c\n",
        ),
        (
            "function done() error('d') end",
            "run",
            0,
            "FATAL: `done' function failed: script.lua:2: d\n",
        ),
        (
            "sysbench.hooks.report_cumulative = function() error('e') end",
            "run",
            0,
            "FATAL: `report_cumulative' function failed: script.lua:2: e\n",
        ),
        (
            "event = function() error('f') end",
            "run",
            1,
            "FATAL: `thread_run' function failed: script.lua:2: f\n",
        ),
        (
            "event = function() error({}) end",
            "run",
            1,
            "FATAL: `thread_run' function failed: (not a string)\n",
        ),
        (
            "function prepare() error('g') end",
            "prepare",
            1,
            "FATAL: `prepare' function failed: script.lua:2: g\n",
        ),
        (
            "function cleanup() error('h') end",
            "cleanup",
            1,
            "FATAL: `cleanup' function failed: script.lua:2: h\n",
        ),
        (
            "function help() error('i') end",
            "help",
            0,
            "FATAL: `help' function failed: script.lua:2: i\n",
        ),
    ];
    for (lua, command, code, reported) in rows {
        let is_whole = lua.starts_with("x =") || lua.starts_with("error") || lua.ends_with("( ");
        let lua = if is_whole { lua.to_owned() } else { format!("{event}{lua}\n") };
        let ran = script(&lua, &["--events=3", command]);
        assert!(ran.out.contains(reported), "{lua}: {}", ran.out);
        assert_eq!(ran.code, code, "{lua}: {}", ran.out);
    }
}

#[test]
fn errors_of_commands_go_to_standard_error() {
    let lua = "function event() end\n";
    for (command, complaint) in [
        ("prepare", "'script.lua' test does not implement the 'prepare' command.\n"),
        ("help", "'script.lua' test does not implement the 'help' command.\n"),
        ("fly", "Unknown command: fly\n"),
    ] {
        let ran = script(lua, &[command]);
        assert_eq!((ran.code, ran.error.as_str()), (1, complaint));
    }
    let ran = run(&["no_such_script", "run"]);
    assert_eq!(
        ran.text(),
        "FATAL: Cannot find benchmark 'no_such_script': no such built-in test, file or module\n"
    );
    let ran = run(&["cpu", "run"]);
    assert_eq!(ran.code, 1);
    assert!(ran.error.contains("does not measure a database"), "{}", ran.error);
}

#[test]
fn unknown_options_are_rejected_unless_the_script_is_of_the_old_kind() {
    let modern = "sysbench.cmdline.options = { a = {'A', 1} }\nfunction prepare() end\n";
    let ran = script(modern, &["--b=1", "prepare"]);
    assert_eq!((ran.code, ran.error.as_str()), (1, "invalid option: --b=1\n"));
    let ran = script(modern, &["--a=abc", "prepare"]);
    assert_eq!((ran.code, ran.error.as_str()), (1, "Invalid value for the 'a' option: 'abc'\n"));
    let old = "function prepare() assert(my_size == '5') end\n";
    let ran = script(old, &["--my-size=5", "prepare"]);
    assert_eq!((ran.code, ran.out.contains("FATAL")), (0, false), "{}", ran.out);
}

#[test]
fn script_options_reach_the_script_with_their_types() {
    let lua = "sysbench.cmdline.options = { size = {'Size', 1}, flag = {'Flag', true}, list = {'List', {'x'}}, text = {'Text'} }
function prepare()
   local o = sysbench.opt
   assert(o.size == 2048 and o.flag == false and o.list[2] == 'b' and o.text == '' and o.threads == 1)
end\n";
    let ran = script(lua, &["--size=2K", "--flag=off", "--list=a,b", "prepare"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.error);
}

#[test]
fn parallel_commands_run_in_all_threads_and_fail_if_one_fails() {
    let lua = "function go() if sysbench.tid == 1 then error('one') end end
function fine() assert(sysbench.tid >= 0) end
sysbench.cmdline.commands = {
   go = {go, sysbench.cmdline.PARALLEL_COMMAND}, fine = {fine, sysbench.cmdline.PARALLEL_COMMAND},
   refuse = {function() return false end} }\n";
    let ran = script(lua, &["--threads=3", "go"]);
    assert_eq!(ran.code, 1);
    let reported = "Initializing worker threads...\n\nFATAL: `sysbench.cmdline.call_command' function failed: script.lua:1: one\n";
    assert_eq!(ran.text(), reported);
    assert_eq!(script(lua, &["--threads=3", "fine"]).code, 0);
    assert_eq!(script(lua, &["refuse"]).code, 1);
}

#[test]
fn a_run_prints_only_headings_and_the_report() {
    let ran = script("function event() end\n", &["--events=5", "--threads=2", "run"]);
    assert_eq!(ran.code, 0);
    let expected = "Running the test with following options:
Number of threads: N
Initializing random number generator from current time


Initializing worker threads...

Threads started!


General statistics:
total time: Ns
total number of events: N

Latency (ms):
min: N
avg: N
max: N
Nth percentile: N
sum: N

Threads fairness:
events (avg/stddev): N/N
execution time (avg/stddev): N/N

";
    assert_eq!(masked(ran.text()), expected);
    assert!(ran.out.contains("total number of events:              5\n"), "{}", ran.out);
}

#[test]
fn interval_and_checkpoint_lines_appear_at_their_times() {
    let lua = "ffi.cdef('int usleep(unsigned int);')\nfunction event() ffi.C.usleep(2000) end\n";
    let ran = script(
        lua,
        &[
            "--time=0.6",
            "--report-interval=0.2",
            "--report-checkpoints=0.4",
            "--verbosity=4",
            "run",
        ],
    );
    let times: Vec<&str> =
        ran.out.lines().filter(|line| line.starts_with("[ ")).map(|line| &line[..15]).collect();
    let (within, beyond) = times.split_at(times.len().min(4));
    assert_eq!(
        within,
        ["[ 0.2s ] thds: ", "[ 0.4s ] thds: ", "[ 0.4s ] Checkp", "[ 0.6s ] thds: "]
    );
    // An event that a busy machine delays beyond the time limit has lines until it ends.
    assert!(beyond.iter().all(|line| line.contains("s ] thds:")), "{beyond:?}");
    assert_eq!(ran.out.matches("General statistics:").count(), 2);
    assert!(ran.out.contains("Time limit exceeded, exiting...\nDone.\n\n\nGeneral"), "{}", ran.out);
    assert_eq!(ran.code, 0);
}

#[test]
fn an_event_that_returns_a_value_ends_its_thread_and_is_not_counted() {
    let ran = script("function event() return 0 end\n", &["--threads=2", "run"]);
    assert!(ran.out.contains("total number of events:              0\n"), "{}", ran.out);
    assert_eq!(ran.code, 0);
}

#[test]
fn threads_that_hang_are_cut_off_and_reported() {
    let lua =
        "ffi.cdef('int usleep(unsigned int);')\nfunction event() ffi.C.usleep(900000000) end\n";
    let begun = Instant::now();
    // Long enough for the thread to begin its event.
    let ran = script(lua, &["--time=2", "--hang-timeout=0.2", "run"]);
    assert!(begun.elapsed() < Duration::from_secs(600), "the program waited for its threads");
    assert_eq!(ran.code, 2);
    assert!(ran.out.contains("--hang-timeout"), "{}", ran.out);
    assert!(
        ran.out.contains("Number of unfinished transactions on forced shutdown: 1\n"),
        "{}",
        ran.out
    );
}

#[test]
fn threads_that_are_not_ready_in_time_end_the_program() {
    let lua = "ffi.cdef('int usleep(unsigned int);')
function thread_init() ffi.C.usleep(900000000) end\nfunction event() end\n";
    let ran = script(lua, &["--thread-init-timeout=0.2", "run"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.out.contains("FATAL: Worker threads failed to initialize within 0.2 seconds!\n"),
        "{}",
        ran.out
    );
}

#[test]
fn an_interrupt_ends_a_run_with_its_report() {
    let interrupts = Arc::new(AtomicUsize::new(0));
    let folder = tempfile::tempdir().expect("a scratch folder");
    let started = folder.path().join("started");
    let path = folder.path().join("script.lua");
    let lua = format!("function event() io.open('{}', 'w'):close() end\n", started.display());
    fs::write(&path, lua).expect("the folder is writable");
    let raised = Arc::clone(&interrupts);
    let waiting = std::thread::spawn(move || {
        while !started.exists() {
            std::thread::yield_now();
        }
        raised.store(1, Ordering::Relaxed);
    });
    let ran = run_with(&interrupts, &[&path.display().to_string(), "--time=600", "run"]);
    waiting.join().expect("it only waits");
    assert_eq!(ran.code, 130);
    assert!(ran.out.contains("General statistics:"), "{}", ran.out);
}

#[test]
fn a_document_on_standard_output_moves_the_log_to_standard_error() {
    let ran = script("function event() end\n", &["--events=7", "--json", "run"]);
    let document: serde_json::Value =
        serde_json::from_str(&ran.out).expect("nothing but the document");
    assert_eq!(document["total"]["counts"]["events"], 7);
    assert_eq!(document["runner"], "lua");
    assert!(ran.error.contains("General statistics:"), "{}", ran.error);
}

#[test]
fn a_results_folder_can_be_reported_on_and_contains_no_password() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let root = folder.path().display().to_string();
    let ran = script(
        "function event() end\n",
        &[
            "--events=50",
            "--mysql-dry-run",
            "--mysql-password=geheim",
            &format!("--results={root}"),
            "run",
        ],
    );
    assert_eq!(ran.code, 0, "{}", ran.out);
    let runs: Vec<_> = fs::read_dir(folder.path().join("script"))
        .expect("the folder of the script")
        .map(|entry| entry.expect("readable").path())
        .collect();
    assert_eq!(runs.len(), 1);
    assert!(ran.out.contains(&format!("Results: {}\n", runs[0].display())), "{}", ran.out);
    let data = dyno_store::Run::open(&runs[0]).expect("a results folder").read_trials();
    assert_eq!((data.run.plan.title.as_str(), data.run.outcomes.len()), ("sysbench script", 1));
    assert!(data.run.has_ended && data.run.problems.is_empty(), "{:?}", data.run.problems);
    assert!(!holds(folder.path(), "geheim") && !ran.out.contains("geheim"));
}

/// Whether any file below a folder contains a text.
fn holds(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path()).any(
        |path| {
            if path.is_dir() {
                holds(&path, text)
            } else {
                String::from_utf8_lossy(&fs::read(&path).expect("readable")).contains(text)
            }
        },
    )
}

#[test]
fn the_seed_determines_what_threads_draw() {
    let lua = "function event()
   local file = io.open(sysbench.opt.file, 'a')
   file:write(sysbench.rand.uniform(1, 1000000), ' ', sysbench.rand.string('####'), '\\n')
   file:close()
end
sysbench.cmdline.options = { file = {'File', ''} }\n";
    let drawn = |seed: &str| {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let file = folder.path().join("drawn");
        let ran = script(lua, &[&format!("--file={}", file.display()), seed, "--events=20", "run"]);
        assert_eq!(ran.code, 0, "{}", ran.out);
        fs::read_to_string(file).expect("the script wrote it")
    };
    assert_eq!(drawn("--rand-seed=7"), drawn("--rand-seed=7"));
    assert_ne!(drawn("--rand-seed=7"), drawn("--rand-seed=8"));
}
