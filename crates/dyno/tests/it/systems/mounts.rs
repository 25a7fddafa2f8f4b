//! Storages on file systems that their commands mount: killed runs leave none mounted, and full
//! ones are reported.

use crate::program::{Bench, events, failures};
use crate::running::Running;
use dyno_model::audit::AuditVerdict;
use dyno_model::event::Event;
use dyno_model::plan::ServerKind;
use dyno_testkit::{require_server, wait_until};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder in which file systems may be mounted; what a failing test leaves mounted goes with it.
struct Mounts(Bench);

impl Mounts {
    /// `None` where this user may not mount.
    fn new() -> Option<Self> {
        use std::os::unix::fs::PermissionsExt;
        require_server(ServerKind::Mariadb)?;
        let bench = Bench::new();
        std::fs::set_permissions(bench.path(), std::fs::Permissions::from_mode(0o755))
            .expect("it is ours");
        let trial = bench.path().join("trial");
        std::fs::create_dir(&trial).expect("it is new");
        let mounts = Self(bench);
        let mounted = Command::new("mount").args(["-t", "tmpfs", "dyno-test"]).arg(&trial).status();
        let may_mount = mounted.is_ok_and(|status| status.success());
        if may_mount {
            assert!(
                Command::new("umount").arg(&trial).status().expect("umount is there").success()
            );
        }
        std::fs::remove_dir(&trial).expect("it is empty");
        may_mount.then_some(mounts)
    }

    /// Where file systems are mounted below the folder.
    fn mounted(&self) -> Vec<PathBuf> {
        let mounts = std::fs::read_to_string("/proc/mounts").expect("proc is there");
        let paths = mounts.lines().filter_map(|line| line.split(' ').nth(1)).map(PathBuf::from);
        paths.filter(|path| path.starts_with(self.0.path())).collect()
    }

    fn no_process_and_no_mount_is_left(&self) {
        let marker = self.0.path().to_str().expect("a path of text");
        wait_until("no process is left", || dyno_testkit::processes_with(marker).is_empty());
        assert_eq!(self.mounted(), Vec::<PathBuf>::new());
    }
}

impl Drop for Mounts {
    fn drop(&mut self) {
        for path in self.mounted() {
            let _ = Command::new("umount").arg("-l").arg(path).status();
        }
    }
}

/// A storage that is a file system of so many megabytes.
fn storage(name: &str, megabytes: u32) -> String {
    format!(
        "[[storage]]\nname = \"{name}\"\ndata = \"{name}\"\n\
         before = 'mkdir \"$DYNO_DATA\" && mount -t tmpfs -o size={megabytes}m dyno-test \"$DYNO_DATA\"'\n\
         after = 'umount \"$DYNO_DATA\"; rmdir \"$DYNO_DATA\"'\n"
    )
}

/// How often each trial was measured.
fn finished(folder: &Path) -> BTreeMap<String, usize> {
    let mut finished = BTreeMap::new();
    for event in events(folder) {
        if let Event::TrialFinished(record) = event {
            *finished.entry(record.trial.id).or_insert(0) += 1;
        }
    }
    finished
}

#[test]
fn a_run_killed_between_mounts_resumes_and_leaves_no_mount() {
    let Some(mounts) = Mounts::new() else {
        eprintln!("SKIPPED: only root may mount file systems, and MariaDB is needed");
        return;
    };
    let bench = &mounts.0;
    let spec = format!(
        "title = \"Mounted\"\nsystem = [{{ name = \"S\", server = {{ kind = \"mariadb\" }} }}]\n\
         workload = {{ kind = \"rush\", variant = \"in-place\" }}\n\
         load = {{ clients = [1, 2], duration = \"1s\", warmup = \"0s\" }}\n\
         factors = {{ storage = [\"one\", \"two\"] }}\ndesign = {{ blocks = 2 }}\n{}{}",
        storage("one", 512),
        storage("two", 512)
    );
    bench.file("mounted.toml", spec);
    let folder = bench.path().join("r");
    let mut child = bench
        .command(&["run", "mounted.toml", "--out", "r"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("dyno can be started");
    // In the second restart group: one storage was cleared already, the other one is mounted.
    wait_until("three trials are finished and a storage is mounted", || {
        let mounted = mounts.mounted().len();
        assert!(mounted <= 1, "one storage at a time");
        finished(&folder).len() >= 3 && mounted == 1
    });
    child.kill().expect("it runs");
    child.wait().expect("it was killed");
    wait_until("the supervisor has stopped the server and run `after`", || {
        bench.names() == ["mounted.toml", "r"]
    });
    mounts.no_process_and_no_mount_is_left();

    let ended = bench.dyno(&["run", "--resume", "r"]);
    assert!(ended.is_done(), "{ended}");
    let finished = finished(&folder);
    assert_eq!(finished.len(), 8, "none is lost: {finished:?}");
    assert!(finished.values().all(|times| *times == 1), "none is measured twice: {finished:?}");
    assert_eq!(bench.names(), ["mounted.toml", "r"]);
    mounts.no_process_and_no_mount_is_left();
}

#[test]
fn a_full_storage_is_reported_and_the_other_one_is_measured() {
    let Some(mounts) = Mounts::new() else {
        eprintln!("SKIPPED: only root may mount file systems, and MariaDB is needed");
        return;
    };
    let bench = &mounts.0;
    // The server does not fit into the first, its data not into the second. The redo log is small,
    // so that both sizes are far from their limits: 16 MB are less than system tables need, 160 MB
    // more, and the data takes about 250 MB.
    let spec = format!(
        "title = \"Full\"\n\
         system = [{{ name = \"S\", server = {{ kind = \"mariadb\", settings = {{ innodb_log_file_size = \"8M\" }} }} }}]\n\
         workload = {{ kind = \"oltp_read_only\", tables = 1, table_size = 1000000 }}\n\
         load = {{ clients = 1, duration = \"500ms\", warmup = \"0s\" }}\n\
         factors = {{ storage = [\"tiny\", \"small\", \"large\"] }}\ndesign = {{ blocks = 1, data = \"load\" }}\n{}{}{}",
        storage("tiny", 16),
        storage("small", 160),
        storage("large", 2048)
    );
    bench.file("full.toml", spec);
    let ended = bench.dyno(&["run", "full.toml", "--out", "r"]);
    assert_eq!(ended.code, 6, "{ended}");
    let reasons: Vec<String> =
        failures(&bench.path().join("r")).iter().map(|it| it.to_lowercase()).collect();
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    // The server's words, or dyno's, depending on who notices first.
    let is_reported = |words: &[&str]| {
        reasons.iter().any(|reason| words.iter().any(|words| reason.contains(words)))
    };
    assert!(is_reported(&["mb of 16 mb free"]), "{reasons:#?}");
    assert!(is_reported(&["sbtest1' is full", "of 167 mb"]), "{reasons:#?}");
    assert_eq!(finished(&bench.path().join("r")).len(), 1, "{ended}");
    assert_eq!(bench.names(), ["full.toml", "r"]);
    mounts.no_process_and_no_mount_is_left();
}

#[test]
fn a_full_disk_keeps_the_old_report_and_the_error_names_it() {
    let Some(mounts) = Mounts::new() else {
        eprintln!("SKIPPED: only root may mount file systems, and MariaDB is needed");
        return;
    };
    let bench = &mounts.0;
    bench.file(
        "short.toml",
        "title = \"Short\"\nsystem = [{ name = \"S\", server = { kind = \"sqlite\" } }]\nworkload = { kind = \"rush\" }\n\
         load = { clients = 1, duration = \"500ms\", warmup = \"0s\" }\ndesign = { blocks = 1 }\n",
    );
    let ended = bench.dyno(&["run", "short.toml", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let small = bench.path().join("small");
    std::fs::create_dir(&small).expect("it is new");
    let done = |program: &str, arguments: &[&str]| {
        let status = Command::new(program).args(arguments).current_dir(bench.path()).status();
        assert!(status.expect("it is there").success(), "{program} {arguments:?}");
    };
    done("mount", &["-t", "tmpfs", "-o", "size=8m", "dyno-test", "small"]);
    done("cp", &["-r", "r", "small/r"]);
    let report = small.join("r/report.html");
    std::fs::write(&report, "the old report").expect("there is room");
    let filled = std::fs::write(small.join("filling"), vec![0; 16 << 20]);
    assert_eq!(filled.map_err(|error| error.kind()), Err(std::io::ErrorKind::StorageFull));
    let ended = bench.dyno(&["report", "small/r", "--format", "html"]);
    assert_eq!(ended.code, 7, "{ended}");
    assert!(ended.stderr.contains("cannot write small/r/report.html"), "{ended}");
    assert_eq!(std::fs::read_to_string(&report).expect("it is there"), "the old report");
    assert!(!small.join("r/report.html.new").exists(), "it would only take room");
}

#[test]
fn a_run_that_fills_the_disk_names_the_command_to_resume_it() {
    let Some(mounts) = Mounts::new() else {
        eprintln!("SKIPPED: only root may mount file systems, and MariaDB is needed");
        return;
    };
    let bench = &mounts.0;
    bench.file(
        "long.toml",
        "title = \"Long\"\nsystem = [{ name = \"S\", server = { kind = \"sqlite\" } }]\nworkload = { kind = \"rush\" }\n\
         load = { clients = 1, transactions = 10 }\ndesign = { blocks = 40 }\n",
    );
    let small = bench.path().join("small");
    std::fs::create_dir(&small).expect("it is new");
    let arguments = ["-t", "tmpfs", "-o", "size=16m", "dyno-test"];
    let status = Command::new("mount").args(arguments).arg(&small).status();
    assert!(status.expect("it is there").success());
    let run = Running::of(bench, bench.command(&["run", "long.toml", "--out", "small/r"]));
    wait_until("a trial is measured", || !finished(&small.join("r")).is_empty());
    let filled = std::fs::write(small.join("filling"), vec![0; 32 << 20]);
    assert_eq!(filled.map_err(|error| error.kind()), Err(std::io::ErrorKind::StorageFull));
    let ended = run.ended();
    assert_eq!(ended.code, 7, "{ended}");
    let measured = finished(&small.join("r")).len();
    assert!((1..40).contains(&measured), "{measured} trials: {ended}");
    assert!(ended.stderr.contains("then continue: dyno run --resume small/r"), "{ended}");
    std::fs::remove_file(small.join("filling")).expect("it is there");
    let ended = bench.dyno(&["run", "--resume", "small/r"]);
    assert!(ended.is_done(), "{ended}");
    assert_eq!(finished(&small.join("r")).len(), 40, "{ended}");
}

#[test]
fn a_fill_disk_fault_stalls_transactions_until_space_is_freed() {
    let Some(mounts) = Mounts::new() else {
        eprintln!("SKIPPED: only root may mount file systems, and MariaDB is needed");
        return;
    };
    // Both need new blocks all the time. MariaDB refuses for want of room; PostgreSQL refuses too,
    // or ends itself and is started again when the trial is over.
    let rows = [
        (ServerKind::Mariadb, "kind = \"mariadb\", settings = { innodb_log_file_size = \"8M\" }"),
        (ServerKind::Postgres, "kind = \"postgres\", settings = { max_wal_size = \"64MB\" }"),
    ];
    // How long a server lives on room that it had before, is the machine's matter: there is room
    // again when nothing was written for two seconds. The window is long for the sake of slow
    // machines, and the clients pause, since otherwise they would fill the disk by themselves.
    let until_stuck = "free() { stat -f -c %f own; }; until last=$(free); sleep 2; test \"$last\" = \"$(free)\"; do :; done";
    for (kind, server) in rows {
        if require_server(kind).is_none() {
            continue;
        }
        let bench = &mounts.0;
        let results = format!("r-{kind}");
        let spec = format!(
            "title = \"Full\"\nsystem = [{{ name = \"S\", server = {{ {server} }} }}]\n\
             workload = {{ kind = \"mass-insert\", rows_per_insert = 100 }}\n\
             load = {{ clients = 4, duration = \"20s\", warmup = \"0s\", think = \"20ms\", attempts_max = 1000 }}\n\
             factors = {{ storage = [\"own\"] }}\ndesign = {{ blocks = 1 }}\n{}\n\
             [[fault]]\nat = \"1s\"\naction = \"fill-disk\"\n\
             [[fault]]\nafter = \"0s\"\naction = \"run\"\ncommand = '{until_stuck}'\n\
             [[fault]]\nafter = \"0s\"\naction = \"free-disk\"\n",
            storage("own", 512)
        );
        bench.file("full.toml", spec);
        let ended = bench.dyno(&["run", "full.toml", "--out", &results]);
        let record =
            events(&bench.path().join(&results)).into_iter().find_map(|event| match event {
                Event::TrialFinished(record) => Some(record),
                _ => None,
            });
        let record = record.unwrap_or_else(|| panic!("{kind}: {ended}"));
        let facts = record.facts.as_ref().expect("facts");
        assert!(
            facts.faults.iter().all(|fault| fault.failed.is_none()),
            "{kind}: {:?}",
            facts.faults
        );
        let errors =
            std::fs::read_to_string(bench.path().join(&results).join("trials/b01-001/errors.csv"));
        let errors = errors.expect("clients met errors");
        assert!(
            errors.contains(",out-of-resources,") || errors.contains(",connection-lost,"),
            "{kind}: {errors}"
        );
        let longest = record.longest_gap.expect("a gap");
        assert!(longest.length.0 >= 1_000_000_000, "{kind}: {longest:?}");
        let works_again = longest.at.0 + longest.length.0 < record.window_length.0;
        let has_ended = kind == ServerKind::Postgres && errors.contains(",connection-lost,");
        assert!(works_again || has_ended, "{kind}: there was room again: {longest:?}\n{errors}");
        // The commits under way when it ends are in doubt.
        let verdict = record.audit.verdict();
        let is_in_doubt = has_ended && verdict == AuditVerdict::Undecided;
        assert!(verdict == AuditVerdict::Intact || is_in_doubt, "{kind}: {:?}", record.audit);
        assert!(!record.is_cut_short(), "{kind}: {:?}", record.warnings);
        std::fs::remove_file(bench.path().join("full.toml")).expect("it is there");
        std::fs::remove_dir_all(bench.path().join(&results)).expect("it is there");
        assert_eq!(bench.names(), Vec::<String>::new());
        mounts.no_process_and_no_mount_is_left();
    }
}

#[test]
fn a_file_system_with_something_of_others_in_it_is_not_filled() {
    let Some(mounts) = Mounts::new() else {
        eprintln!("SKIPPED: only root may mount file systems, and MariaDB is needed");
        return;
    };
    let bench = &mounts.0;
    let own = storage("own", 512).replace(
        "\"$DYNO_DATA\"'\nafter",
        "\"$DYNO_DATA\" && touch \"$DYNO_DATA/of-others\"'\nafter",
    );
    let spec = format!(
        "title = \"Full\"\nsystem = [{{ name = \"S\", server = {{ kind = \"mariadb\" }} }}]\n\
         workload = {{ kind = \"rush\" }}\nload = {{ clients = 1, duration = \"2s\", warmup = \"0s\" }}\n\
         factors = {{ storage = [\"own\"] }}\ndesign = {{ blocks = 1 }}\n{own}\n\
         [[fault]]\nat = \"1s\"\naction = \"fill-disk\"\n"
    );
    bench.file("full.toml", spec);
    let ended = bench.dyno(&["run", "full.toml", "--out", "r"]);
    assert_eq!(ended.code, 6, "{ended}");
    let said = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("it holds `of-others`, which dyno did not create"), "{ended}");
    assert!(finished(&bench.path().join("r")).is_empty(), "nothing was measured");
    mounts.no_process_and_no_mount_is_left();
}
