//! Bad specs: message, exit code, and nothing left behind.

use crate::program::Bench;
use std::os::unix::fs::PermissionsExt;

const GOOD: &str = r#"
title = "t"
system = [{ name = "A", url = "null:" }]
workload = { kind = "rush" }
load = { clients = [1], transactions = 10 }
"#;

/// Each row: what is replaced in the good spec, by what, and words that the message must hold.
const MISTAKES: &[(&str, &str, &[&str])] = &[
    ("title =", "titel =", &["unknown key `titel`", "did you mean `title`?", "bad.toml:2:1"]),
    (
        "clients = [1]",
        "clients = \"one\"",
        &["`load.clients` must be an integer or a list of integers, not a string"],
    ),
    ("clients = [1]", "clients = []", &["`load.clients` is an empty list"]),
    ("clients = [1]", "clients = [0]", &["`load.clients` must be between 1 and 1000000, got 0"]),
    ("clients = [1]", "clients = [-3]", &["`load.clients` must be between 1 and 1000000, got -3"]),
    ("transactions = 10", "transactions = -1", &["`load.transactions` must be 1 or more, got -1"]),
    (
        "}]",
        "}, { name = \"A\", url = \"null:\" }]",
        &["two systems are called `A`", "used here first"],
    ),
    ("\"rush\"", "\"rsuh\"", &["unknown workload `rsuh`", "did you mean `rush`?"]),
    (
        "\"rush\"",
        "\"rush\", vairant = \"in-place\"",
        &["has no option `vairant`", "did you mean `variant`?"],
    ),
    (
        "\"null:\"",
        "\"mysql://u:hunter2/x@h/d\"",
        &["the end of the password is ambiguous", "`%2F`"],
    ),
    ("title = \"t\"", "title = \"t", &["invalid TOML", "bad.toml:2:11"]),
];

#[test]
fn every_mistake_in_a_spec_exits_with_3_before_anything_is_run() {
    let bench = Bench::new();
    for command in ["run", "plan"] {
        for (from, to, words) in MISTAKES {
            let text = GOOD.replacen(from, to, 1);
            assert_ne!(text, GOOD, "{from}");
            bench.file("bad.toml", text);
            let ended = bench.dyno(&[command, "bad.toml"]);
            assert!(ended.code == 3 && ended.stdout.is_empty(), "{command} {to}: {ended}");
            assert!(
                words.iter().all(|word| ended.stderr.contains(word)),
                "{command} {to}: {ended}"
            );
            assert!(!ended.stderr.contains("hunter"), "{ended}");
        }
    }
    assert_eq!(bench.names(), ["bad.toml"]);
}

#[test]
fn all_mistakes_are_shown_at_once() {
    let bench = Bench::new();
    let text = GOOD
        .replace("title =", "titel =")
        .replace("clients = [1]", "clients = []")
        .replace("rush", "rsuh");
    bench.file("bad.toml", text);
    insta::assert_snapshot!(bench.dyno(&["run", "bad.toml", "--set", "design.blocks=0", "--profile", "smoke"]), @r#"
    exit code 3
    --- stdout
    --- stderr
    error: unknown key `titel` at the top of the file
     --> bad.toml:2:1
      |
    2 | titel = "t"
      | ^^^^^ not a key
      |
      = help: did you mean `title`?

    error: unknown workload `rsuh`
     --> bad.toml:4:21
      |
    4 | workload = { kind = "rsuh" }
      |                     ^^^^^^ not a workload
      |
      = help: did you mean `rush`?

    error: `load.clients` is an empty list
     --> bad.toml:5:20
      |
    5 | load = { clients = [], transactions = 10 }
      |                    ^^ nothing to measure
      |
      = help: write for example `clients = [1, 8, 64]`

    error: `design.blocks` must be between 1 and 1000, got 0
     --> --set:1:15
      |
    1 | design.blocks=0
      |               ^ out of range

    error: there is no profile `smoke`
     --> --profile:1:1
      |
    1 | smoke
      | ^^^^^ not a profile
      |
      = help: there are no profiles

    error: 5 errors; nothing was run
    "#);
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_the_reason_and_a_remedy() {
    let bench = Bench::new();
    bench.file("rush.toml", GOOD);
    bench.file("latin.toml", b"title = \"t\"\n# Gr\xfc\xdfe\n");
    bench.file("binary.toml", [0xff, 0xfe, 0, 1, 2]);
    bench.file("read.sql", "SELECT 1;\n");
    bench.file("huge.toml", vec![b'#'; (1 << 20) + 1]);
    std::fs::create_dir(bench.path().join("folder")).unwrap();
    let rows: &[(&str, &[&str])] = &[
        (
            "missing.toml",
            &["cannot read the spec file missing.toml", "No such file", "built-in experiment"],
        ),
        ("rsuh.toml", &["cannot read the spec file rsuh.toml", "did you mean rush.toml?"]),
        ("no/such/folder.toml", &["cannot read the spec file no/such/folder.toml"]),
        ("folder", &["folder is a folder, not a spec file"]),
        ("read.sql", &["read.sql is a script, not a spec file", "dyno run URL --script read.sql"]),
        ("shop.db", &["shop.db is a database file", "dyno run sqlite:shop.db"]),
        ("TPC-C", &["TPC-C is a workload", "dyno run URL --workload tpcc"]),
        (".", &["is a folder", "use a file in it, for example ./binary.toml"]),
        (
            "latin.toml",
            &[
                "latin.toml is not UTF-8: byte 0xfc at offset 16, in line 2",
                "save the file as UTF-8",
            ],
        ),
        ("binary.toml", &["binary.toml is not UTF-8: byte 0xff at offset 0, in line 1"]),
        ("/dev/zero", &["cannot read the spec file /dev/zero", "a device, not a regular file"]),
        ("huge.toml", &["huge.toml is larger than 1 MiB and cannot be a spec"]),
    ];
    for (file, words) in rows {
        let ended = bench.dyno(&["run", file]);
        assert!(ended.code == 3 && ended.stdout.is_empty(), "{file}: {ended}");
        assert!(words.iter().all(|word| ended.stderr.contains(word)), "{file}: {ended}");
    }
    assert_eq!(
        bench.names(),
        ["binary.toml", "folder", "huge.toml", "latin.toml", "read.sql", "rush.toml"]
    );
}

#[test]
fn a_file_without_permission_is_reported_with_a_remedy() {
    let bench = Bench::new();
    let path = bench.file("secret.toml", GOOD);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        println!("skipped: this user may read everything, permissions do not bind it");
        return;
    }
    let ended = bench.dyno(&["run", "secret.toml"]);
    assert!(ended.code == 3 && ended.stderr.contains("chmod u+r secret.toml"), "{ended}");
}

#[test]
fn deeply_nested_toml_is_an_error_and_no_crash() {
    let bench = Bench::new();
    bench.file("deep.toml", format!("title = {}{}", "[".repeat(100_000), "]".repeat(100_000)));
    let ended = bench.dyno(&["plan", "deep.toml"]);
    assert_eq!(ended.code, 3, "{}", &ended.stderr[..ended.stderr.len().min(500)]);
}
