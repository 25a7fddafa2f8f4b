//! Tests of systems that consist of several servers.

use super::{catalog, input};
use crate::catalog::{CRUD, WorkloadDescription};
use crate::plan::{Plan, SystemSource, Via};
use crate::spec::parse;

fn read(server: &str, more: &str) -> Result<Plan, String> {
    let text = format!(
        "title = \"x\"\n[[system]]\nname = \"A\"\nserver = {{ {server} }}\n[workload]\nkind = \"rush\"\n[load]\nclients = 1\n\
         duration = \"1s\"\n{more}"
    );
    parse(input(&text), &catalog()).map(|(_, plan)| plan).map_err(|errors| errors.to_string())
}

fn nodes(server: &str) -> Result<u32, String> {
    match &read(server, "")?.systems[0].source {
        SystemSource::Managed(server) => Ok(server.nodes),
        other => panic!("{other:?}"),
    }
}

#[test]
fn cluster_node_count_has_defaults_and_is_validated() {
    assert_eq!(nodes("kind = \"galera\""), Ok(3));
    assert_eq!(nodes("kind = \"galera\", nodes = 5"), Ok(5));
    assert_eq!(nodes("kind = \"mariadb\""), Ok(1));
    let of_ndb = |server: &str| match read(server, "").unwrap().systems.remove(0).source {
        SystemSource::Managed(server) => (server.nodes, server.data_nodes),
        other => panic!("{other:?}"),
    };
    assert_eq!(of_ndb("kind = \"ndb\""), (2, 2));
    assert_eq!(of_ndb("kind = \"ndb\", nodes = 1, data_nodes = 4"), (1, 4));
    for (server, why) in [
        (
            "kind = \"galera\", data_nodes = 2",
            "`data_nodes` has no effect here: galera has no separate data nodes",
        ),
        (
            "kind = \"ndb\", data_nodes = 0",
            "`system.server.data_nodes` must be between 1 and 8, got 0",
        ),
        ("kind = \"mariadb\", nodes = 3", "`nodes` has no effect here: mariadb is a single server"),
        ("kind = \"galera\", nodes = 0", "`system.server.nodes` must be between 1 and 9, got 0"),
        ("kind = \"galera\", nodes = 10", "`system.server.nodes` must be between 1 and 9, got 10"),
    ] {
        let error = nodes(server).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_cluster_is_never_at_work_beside_another_system() {
    let plan = |kinds: &[&str]| {
        let system = |(number, kind)| {
            format!("[[system]]\nname = \"{number}\"\nserver = {{ kind = \"{kind}\" }}\n")
        };
        let systems: String = kinds.iter().enumerate().map(system).collect();
        let text = format!(
            "title = \"x\"\n{systems}[workload]\nkind = \"rush\"\n[load]\nclients = 1\nduration = \"1s\"\n"
        );
        parse(input(&text), &catalog()).map_or_else(|errors| panic!("{errors}"), |(_, plan)| plan)
    };
    assert!(plan(&["mysql", "ndb"]).is_split());
    assert!(!plan(&["mysql", "mariadb"]).is_split());
    assert!(!plan(&["ndb"]).is_split());
}

#[test]
fn single_server_settings_are_rejected_for_clusters() {
    for (more, why) in [
        (
            "[design]\ndata = \"restore\"\n",
            "the data of the cluster `A` cannot be restored by copy",
        ),
        (
            "[factors]\nstorage = [\"s\"]\n[[storage]]\nname = \"s\"\ndata = \"/mnt\"\n",
            "the storage of `A` cannot be varied: storage of clusters",
        ),
        (
            "[factors]\nendpoint = [\"tcp\", \"socket\"]\n",
            "`A` cannot be reached by the endpoint `socket`",
        ),
    ] {
        let error =
            read("kind = \"galera\"", more).err().unwrap_or_else(|| panic!("{more} is taken"));
        assert!(error.contains(why), "{error}");
        assert!(
            read("kind = \"mariadb\"", more).is_ok(),
            "{more}: {:?}",
            read("kind = \"mariadb\"", more).err()
        );
    }
    assert!(read("kind = \"galera\"", "[design]\ndata = \"load\"\n").is_ok());
}

#[test]
fn application_endpoint_requires_crud_and_a_supported_engine() {
    let crud = WorkloadDescription { name: CRUD, summary: "", audit: "", options: Vec::new() };
    let read = |server: &str, workload: &str, endpoint: &str| {
        let text = format!(
            "title = \"x\"\n[[system]]\nname = \"A\"\nserver = {{ kind = \"{server}\" }}\n[workload]\nkind = \"{workload}\"\n[load]\n\
             clients = 1\nduration = \"1s\"\n[factors]\nendpoint = [\"web\", \"tcp\"]\n[[endpoint]]\nname = \"web\"\n{endpoint}\n"
        );
        let known = [catalog(), vec![crud.clone()]].concat();
        parse(input(&text), &known).map(|(_, plan)| plan).map_err(|errors| errors.to_string())
    };
    let tomcat = "application = { kind = \"tomcat\", war = \"a.war\", threads = 7 }";
    for server in ["mysql", "mariadb", "ndb", "galera"] {
        let plan = read(server, "crud", tomcat).unwrap();
        let endpoint = plan.endpoints.iter().find(|endpoint| endpoint.name == "web").unwrap();
        let Via::Application(application) = &endpoint.via else { panic!("{endpoint:?}") };
        assert_eq!((application.threads, application.connections), (7, 50));
        // One client, and the connection pool of the application.
        assert_eq!(plan.most_sessions(0), 51);
    }
    for (server, workload, endpoint, why) in [
        ("postgres", "crud", tomcat, "`A` cannot be reached by the endpoint `web`"),
        ("mysql", "rush", tomcat, "the workload `rush` cannot run through an application"),
        (
            "mysql",
            "crud",
            "application = { kind = \"tomcat\" }",
            "missing key `war` in application",
        ),
        ("mysql", "crud", "application = { war = \"a.war\" }", "missing key `kind` in application"),
        (
            "mysql",
            "crud",
            "address = \"h:1\"\nproxy = { kind = \"haproxy\" }",
            "more than one of `address`, `proxy` and",
        ),
    ] {
        let error = read(server, workload, endpoint).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}
