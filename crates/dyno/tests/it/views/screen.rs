//! The screen of a terminal: whatever ends dyno, the terminal is as it was before.

use crate::program::{Bench, events, signal};
use dyno_live::campaign::Campaign;
use dyno_live::live::Live;
use dyno_live::state::State;
use dyno_live::terminal::{self, Screen};
use dyno_model::catalog::WorkloadDescription;
use dyno_model::spec::{self, Input};
use dyno_testkit::wait_until;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, SpecialCodeIndex, tcgetattr};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// A terminal that records what is written to it.
struct Terminal {
    keyboard: File,
    device: File,
    output: Arc<Mutex<Vec<u8>>>,
    recorder: JoinHandle<()>,
}

impl Terminal {
    fn open() -> Self {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&keyboard).and_then(|()| unlockpt(&keyboard)).expect("it is ours");
        let name = ptsname(&keyboard, Vec::new()).expect("it has a name");
        let name = name.into_string().expect("a path");
        let device = File::options().read(true).write(true).open(name).expect("it can be opened");
        let (keyboard, output) = (File::from(keyboard), Arc::<Mutex<Vec<u8>>>::default());
        let mut screen = keyboard.try_clone().expect("descriptors are left");
        let recorded = Arc::clone(&output);
        let recorder = std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(length) = screen.read(&mut piece) {
                recorded.lock().expect("no panic").extend_from_slice(&piece[..length]);
            }
        });
        Self { keyboard, device, output, recorder }
    }

    /// Starts a program whose controlling terminal it is. Results are not shown.
    fn start(&self, program: &Command) -> Child {
        let end = || Stdio::from(self.device.try_clone().expect("descriptors are left"));
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(program.get_program()).args(program.get_args());
        for (name, value) in program.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        if let Some(folder) = program.get_current_dir() {
            command.current_dir(folder);
        }
        command
            .env("TERM", "xterm")
            .env("NO_COLOR", "1")
            .stdin(end())
            .stdout(Stdio::null())
            .stderr(end());
        command.spawn().expect("util-linux has setsid")
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.output.lock().expect("no panic")).into_owned()
    }

    /// Whether lines and keys work as at the start: echo, line by line, Ctrl-Z and Ctrl-\.
    fn settings(&self) -> (LocalModes, u8, u8) {
        let settings = tcgetattr(&self.device).expect("it is a terminal");
        let codes = &settings.special_codes;
        let [suspend, quit] =
            [SpecialCodeIndex::VSUSP, SpecialCodeIndex::VQUIT].map(|it| codes[it]);
        (settings.local_modes, suspend, quit)
    }

    /// The output outside of the screen, which stays in the terminal. All programs have ended.
    fn outside_of_screens(self) -> String {
        drop(self.device);
        self.recorder.join().expect("no panic");
        let text = String::from_utf8_lossy(&self.output.lock().expect("no panic")).into_owned();
        let mut pieces = text.split(ENTER);
        let before = pieces.next().unwrap_or_default().to_owned();
        let outside = pieces.fold(before, |outside, piece| {
            let (_, after) = piece.split_once(LEAVE).expect("every screen is left");
            outside + after
        });
        assert!(text.contains(ENTER) && !outside.contains("\x1b["), "{text:?}");
        outside
    }
}

fn ended(child: &mut Child) -> ExitStatus {
    wait_until("the program ends", || child.try_wait().expect("it is our child").is_some());
    child.wait().expect("it has ended")
}

#[test]
fn ctrl_c_and_termination_end_a_run_in_order_and_restore_the_terminal() {
    for is_key in [true, false] {
        let (bench, terminal) = (Bench::new(), Terminal::open());
        let before = terminal.settings();
        let long = ["run", "--set", "load.duration=5m", "--out", "results"];
        let mut dyno = terminal.start(&bench.command(&long));
        let results = bench.path().join("results");
        wait_until("a trial begins", || !events(&results).is_empty());
        wait_until("the screen", || terminal.text().contains(ENTER));
        assert_ne!(terminal.settings(), before, "the screen needs other settings");
        match is_key {
            true => (&terminal.keyboard).write_all(b"\x03").expect("a key"),
            false => signal("-TERM", dyno.id()),
        }
        assert_eq!(ended(&mut dyno).code(), Some(130), "{}", terminal.text());
        assert_eq!(terminal.settings(), before);
        let outside = terminal.outside_of_screens();
        assert!(!outside.trim().is_empty(), "the log remains");
        assert!(results.join("report.html").is_file(), "{outside}");
    }
}

/// Which end [`a_program_with_a_screen`] finds; unset in ordinary runs of the tests.
const END: &str = "DYNO_TEST_END_OF_SCREEN";

#[test]
fn the_terminal_is_restored_on_panics_and_second_interrupts() {
    let rows = [
        ("return", Some(0), "after the screen"),
        ("panic", Some(101), "planted panic of the program"),
        ("worker", Some(0), "after the screen"),
        ("exit", Some(130), ""),
    ];
    for (end, code, message) in rows {
        let terminal = Terminal::open();
        let before = terminal.settings();
        let mut program = Command::new(std::env::current_exe().expect("this test"));
        program.args(["--exact", "views::screen::a_program_with_a_screen", "--nocapture"]);
        let mut child = terminal.start(program.env(END, end));
        if end == "worker" {
            wait_until("the screen again", || terminal.text().matches(ENTER).count() == 2);
            (&terminal.keyboard).write_all(b"\n").expect("a key");
        }
        assert_eq!(ended(&mut child).code(), code, "{end}: {}", terminal.text());
        assert_eq!(terminal.settings(), before, "{end}");
        let outside = terminal.outside_of_screens();
        assert!(outside.contains(message), "{end}: {outside}");
    }
}

fn campaign() -> Campaign {
    let text = r#"
title = "a screen"
system = [{ name = "A", url = "null:" }]
workload = { kind = "idle" }
load = { clients = 1, duration = "1s" }
"#;
    let idle = WorkloadDescription { name: "idle", summary: "", audit: "", options: Vec::new() };
    let input = Input { file_name: "t.toml", text, ..Input::default() };
    let (_, plan) = spec::parse(input, &[idle]).expect("a spec");
    Campaign::new(plan, &BTreeSet::new())
}

/// Shows a screen and ends as the variable says. Run by the test above.
#[test]
#[expect(clippy::exit, reason = "as after a second Ctrl-C, without an end in order")]
fn a_program_with_a_screen() {
    let Ok(end) = std::env::var(END) else { return };
    let live = Live::new(State::new(campaign(), dyno_report::EN));
    let screen = Screen::open(&live, true).expect("a terminal");
    match end.as_str() {
        "panic" => panic!("planted panic of the program"),
        "worker" => {
            let worker = std::thread::spawn(|| panic!("planted panic of a worker"));
            worker.join().expect_err("it panicked");
            // The next drawing enters the screen again.
            live.wake();
            std::io::stdin().read_line(&mut String::new()).expect("a key");
        }
        "exit" => {
            terminal::restore();
            std::process::exit(130);
        }
        _ => {}
    }
    drop(screen);
    let _ = writeln!(std::io::stderr(), "after the screen");
}
