//! `dyno launch kubernetes` without a cluster: the objects that it writes, and what it refuses.
//! `scripts/test-kubernetes` tests what happens in a cluster.

use crate::program::{Bench, Ended};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

const SPEC: &str = r#"title = "Shop"
[[system]]
name = "S"
url = "postgres://me@db.example/shop"
password_env = "SHOP_PASSWORD"
data = "existing"
[workload]
kind = "sql"
scripts = ["../sql/pay.sql"]
[load]
clients = 8
generators = 4
duration = "10s"
"#;
const SECRET: [&str; 2] = ["--secret", "SHOP_PASSWORD=shop-db/password"];

/// A folder with a spec and its script beside it.
fn bench(spec: &str) -> Bench {
    let bench = Bench::new();
    for folder in ["specs", "sql"] {
        std::fs::create_dir(bench.path().join(folder)).expect("it is ours");
    }
    bench.file("specs/shop.toml", spec);
    bench.file("sql/pay.sql", "SELECT 1;\n");
    bench
}

fn launched(bench: &Bench, more: &[&str]) -> Ended {
    let line = ["launch", "kubernetes", "specs/shop.toml", "--image", "dyno:1"];
    bench.dyno(&[&line[..], more].concat())
}

#[test]
fn the_objects_of_a_run_have_its_files_and_no_password() {
    let bench = bench(SPEC);
    let ended = launched(&bench, &[&SECRET[..], &["--set", "load.clients=16"]].concat());
    assert!(ended.is_done(), "{ended}");
    let objects: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
    let objects = objects["items"].as_array().expect("it is a list");
    let kinds: Vec<_> = objects.iter().filter_map(|it| it["kind"].as_str()).collect();
    assert_eq!(kinds, ["ConfigMap", "ServiceAccount", "Role", "RoleBinding", "Job"]);
    let pod = &objects[4]["spec"]["template"]["spec"];
    let items = &pod["volumes"][2]["configMap"]["items"];
    assert_eq!(items[0]["path"], "specs/shop.toml");
    assert_eq!(items[1]["path"], "sql/pay.sql");
    assert_eq!(objects[0]["data"]["file-0"], SPEC);
    assert_eq!(objects[0]["data"]["file-1"], "SELECT 1;\n");
    let dyno = &pod["containers"][0];
    let words: Vec<_> = dyno["args"].as_array().expect("a list").iter().collect();
    assert_eq!(&words[..2], ["run", "/spec/specs/shop.toml"]);
    assert!(words.iter().any(|it| *it == "load.clients=16"), "{words:?}");
    assert!(words.iter().any(|it| *it == "launcher.kind=kubernetes"), "{words:?}");
    let reference = &dyno["env"][0]["valueFrom"]["secretKeyRef"];
    assert_eq!((&reference["name"], &reference["key"]), (&"shop-db".into(), &"password".into()));
}

#[test]
fn specs_that_kubernetes_cannot_run_are_refused_with_a_remedy() {
    let url = "url = \"postgres://me@db.example/shop\"\npassword_env = \"SHOP_PASSWORD\"";
    for (system, more, code, reported, remedy) in [
        (url, &[][..], 3, "`S`: the pod has no variable SHOP_PASSWORD", "--secret SHOP_PASSWORD="),
        (
            "server = { kind = \"postgres\" }",
            &[],
            3,
            "`S`: dyno cannot start this server in a cluster",
            "--set 'system.S.url=",
        ),
        (
            "url = \"postgres://me:geheim@db.example/shop\"",
            &[],
            3,
            "`S`: the spec contains its password",
            "`password_env = ",
        ),
        (
            "url = \"postgres://me@db.example/shop?sslmode=verify-full&sslrootcert=/ca.pem\"",
            &[],
            3,
            "the file /ca.pem of this machine is not in the pod",
            "certificates are not supported yet",
        ),
        (
            "url = \"postgres://me@db.example/shop\"\npassword_command = \"echo geheim\"",
            &[],
            3,
            "`S`: the pod has no programs for `password_command`",
            "`password_env` and --secret",
        ),
        ("url = \"sqlite:x.db\"", &[], 3, "`S` is part of dyno", "or measure a server"),
        (url, &["--set", "load.clients=2"], 3, "4 generators are more than 2 clients", "lower"),
        (url, &["--secret", "SHOP_PASSWORD"], 2, "write VARIABLE=SECRET/KEY", "--help"),
        (url, &["--out", "r"], 2, "--apply", "Usage"),
    ] {
        let spec = SPEC.replacen(url, system, 1);
        let spec = match system.starts_with("server") {
            true => spec.replacen("data = \"existing\"\n", "", 1),
            false => spec,
        };
        let bench = bench(&spec);
        let ended = launched(&bench, more);
        assert!(ended.code == code && ended.stderr.contains(reported), "{reported}: {ended}");
        assert!(ended.stderr.contains(remedy), "{remedy}: {ended}");
        assert!(!ended.to_string().contains("geheim"), "{ended}");
    }
}

/// A kubectl whose API server refuses.
const REFUSING: &str =
    "#!/bin/sh\necho 'Error from server (Forbidden): jobs.batch is forbidden' >&2\nexit 1\n";

#[test]
fn a_missing_or_refused_kubectl_leaves_nothing() {
    let bench = bench(SPEC);
    std::fs::create_dir(bench.path().join("bin")).expect("it is ours");
    let run = |reported: &str, remedy: &str| {
        let line = ["launch", "kubernetes", "specs/shop.toml", "--image", "dyno:1", "--apply"];
        let mut command = bench.command(&[&line[..], &SECRET].concat());
        command.env("PATH", bench.path().join("bin"));
        let ended = Ended::from(command.output().expect("dyno can be started"));
        assert!(ended.code == 4 && ended.stderr.contains(reported), "{reported}: {ended}");
        assert!(ended.stderr.contains(remedy), "{remedy}: {ended}");
    };
    run("cannot run kubectl", "install kubectl");
    let program = bench.file("bin/kubectl", REFUSING);
    std::fs::set_permissions(program, PermissionsExt::from_mode(0o755)).expect("it is ours");
    run("jobs.batch is forbidden", "must be allowed to create");
    let runs = std::fs::read_dir(bench.path().join("results/shop")).expect("its parent stays");
    assert_eq!(runs.count(), 0, "an empty results folder is left");
}
