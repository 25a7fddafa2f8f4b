//! Tests of the locations of files that a spec names.

use super::{catalog, input};
use crate::catalog::WorkloadDescription;
use crate::network_path::Via;
use crate::plan::{ExistingSystem, PasswordSource, Plan, SystemSource};
use crate::spec::{Input, parse};
use crate::target::{Endpoint, Tls};
use std::path::Path;

const MANAGED: &str = r#"
[[system]]
name = "Managed"
server = { kind = "mariadb", bin_dir = "bin", scratch = "/fast" }
[[storage]]
name = "disk"
data = "disk/data"
log = "../log"
[[endpoint]]
name = "web"
application = { kind = "tomcat", war = "app.war" }
[factors]
storage = ["disk"]
endpoint = ["web"]
[workload]
kind = "crud"
"#;

const EXISTING: &str = r#"
[[system]]
name = "File"
url = "sqlite:data.db"
[[system]]
name = "Elsewhere"
url = "postgres://u@db.example/x?sslmode=verify-full&sslrootcert=ca.pem&sslcert=me.pem&sslkey=me.key"
password_file = "secret"
[[system]]
name = "Trusted"
url = "postgres://u@db.example/x?sslmode=verify-full&sslrootcert=system"
[workload]
kind = "rush"
"#;

fn read(file_name: &str) -> Vec<String> {
    let plan = |spec: &str| {
        let text = format!("title = \"Paths\"\n{spec}[load]\nclients = 1\nduration = \"1s\"\n");
        let crud =
            WorkloadDescription { name: "crud", summary: "", audit: "", options: Vec::new() };
        let known = [catalog(), vec![crud]].concat();
        let (_, plan) = parse(Input { file_name, ..input(&text) }, &known)
            .unwrap_or_else(|errors| panic!("{errors}"));
        plan
    };
    let (managed, others) = (plan(MANAGED), plan(EXISTING));
    paths(&managed, &others).iter().map(|path| path.display().to_string()).collect()
}

fn existing(plan: &Plan, system: usize) -> &ExistingSystem {
    let SystemSource::Existing(existing) = &plan.systems[system].source else {
        panic!("it is managed")
    };
    existing
}

fn authorities(existing: &ExistingSystem) -> &Path {
    let Tls::Verify { ca: Some(ca) } = &existing.tls else { panic!("{:?}", existing.tls) };
    ca
}

fn paths<'a>(managed: &'a Plan, others: &'a Plan) -> Vec<&'a Path> {
    let SystemSource::Managed(server) = &managed.systems[0].source else {
        panic!("it is not managed")
    };
    let Endpoint::File(file) = &existing(others, 0).endpoint else { panic!("it is no file") };
    let elsewhere = existing(others, 1);
    let PasswordSource::File(password) = &elsewhere.password else {
        panic!("{:?}", elsewhere.password)
    };
    let shown = elsewhere.client_certificate.as_ref().unwrap();
    let storage = &managed.storages[0];
    let Via::Application(application) = &managed.endpoints[0].via else {
        panic!("{:?}", managed.endpoints)
    };
    vec![
        server.bin_dir.as_deref().unwrap(),
        server.scratch.as_deref().unwrap(),
        file,
        password,
        authorities(elsewhere),
        &shown.certificate,
        &shown.key,
        authorities(existing(others, 2)),
        &storage.data,
        storage.log.as_deref().unwrap(),
        &application.war,
    ]
}

#[test]
fn paths_are_relative_to_the_folder_of_the_spec() {
    let here = [
        "bin",
        "/fast",
        "data.db",
        "secret",
        "ca.pem",
        "me.pem",
        "me.key",
        "system",
        "disk/data",
        "../log",
        "app.war",
    ];
    assert_eq!(read("own.toml"), here);
    let there = here.map(|path| match path {
        "/fast" | "system" => path.to_owned(),
        path => format!("specs/{path}"),
    });
    assert_eq!(read("specs/own.toml"), there);
}
