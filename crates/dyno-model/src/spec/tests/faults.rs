//! Tests of `[[fault]]`: actions, times and targets; impossible faults are reported before anything
//! runs.

use super::{catalog, input};
use crate::fault::FaultAction::{
    Continue, Disconnect, FillDisk, FreeDisk, Kill, Reconnect, Run, Start, Stop,
};
use crate::plan::Plan;
use crate::spec::parse;
use crate::units::Nanos;

fn read(systems: &[(&str, &str)], faults: &str) -> Result<Plan, String> {
    read_with(systems, "", faults)
}

fn read_with(systems: &[(&str, &str)], load: &str, faults: &str) -> Result<Plan, String> {
    let system =
        |(name, source): &(&str, &str)| format!("[[system]]\nname = \"{name}\"\n{source}\n");
    let systems: String = systems.iter().map(system).collect();
    let text = format!(
        "title = \"x\"\n{systems}[workload]\nkind = \"rush\"\n[load]\nclients = 1\nduration = \"20s\"\n{load}\n{faults}"
    );
    parse(input(&text), &catalog()).map(|(_, plan)| plan).map_err(|errors| errors.to_string())
}

const ONE: (&str, &str) = ("One", "server = { kind = \"mariadb\" }");
const GALERA: (&str, &str) = ("G", "server = { kind = \"galera\" }");
const REPLICA: (&str, &str) = ("R", "server = { kind = \"postgres-replica\" }");
const NDB: (&str, &str) = ("N", "server = { kind = \"ndb\" }");

type System = (&'static str, &'static str);

const SECOND: u64 = 1_000_000_000;

#[test]
fn faults_follow_each_other_and_move_together() {
    let plan = read(
        &[ONE],
        "[[fault]]\nat = \"4s\"\nwithin = \"2s\"\naction = \"kill\"\n[[fault]]\nafter = \"3s\"\naction = \"start\"\n",
    )
    .unwrap();
    let [kill, start] = &plan.faults[..] else { panic!("{:?}", plan.faults) };
    assert_eq!((kill.action, kill.node.as_str(), start.action), (Kill, "server", Start));
    let at = |share| [kill.moment(share), start.moment(share)].map(|Nanos(nanos)| nanos / SECOND);
    assert_eq!([at(0.0), at(0.5), at(1.0)], [[4, 7], [5, 8], [6, 9]]);
    assert_eq!(plan.starts_per_block(), 1);
    assert_eq!(read(&[ONE], "").unwrap().faults, []);
}

#[test]
fn a_fault_is_made_on_every_system_or_on_the_one_it_names() {
    let fault = "[[fault]]\nat = \"4s\"\naction = \"kill\"\n";
    let plan = read(&[ONE, ("Other", "server = { kind = \"postgres\" }")], fault).unwrap();
    assert_eq!([plan.faults_of(0).count(), plan.faults_of(1).count()], [1, 1]);
    let named = "[[fault]]\nat = \"4s\"\naction = \"stop\"\nsystem = \"N\"\nnode = \"data node 2\"\n\
                 [[fault]]\nafter = \"1s\"\naction = \"continue\"\nsystem = \"N\"\nnode = \"data node 2\"\n";
    let plan = read(&[ONE, NDB], named).unwrap();
    assert_eq!(plan.faults_of(0).count(), 0);
    assert_eq!(plan.faults_of(1).map(|fault| fault.action).collect::<Vec<_>>(), [Stop, Continue]);
    let elsewhere = ("Far", "url = \"mysql://u@db.example/x\"");
    let plan = read(&[elsewhere], "[[fault]]\nat = \"4s\"\naction = \"run\"\ncommand = \"true\"\n")
        .unwrap();
    assert_eq!((plan.faults[0].action, plan.faults[0].object()), (Run, "true"));
}

#[test]
fn each_trial_that_is_harmed_has_a_start_of_its_own() {
    let faults = "[[fault]]\nat = \"4s\"\naction = \"kill\"\n";
    let spec = format!(
        "title = \"x\"\n[[system]]\nname = \"A\"\nserver = {{ kind = \"mariadb\" }}\n[workload]\nkind = \"rush\"\n\
         [load]\nclients = [1, 2, 3]\nduration = \"20s\"\n{faults}"
    );
    let (_, plan) = parse(input(&spec), &catalog()).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(plan.starts_per_block(), 3);
}

#[test]
fn rejected_fault_causes_no_errors_for_later_faults() {
    let faults = |node: &str| {
        format!(
            "[[fault]]\nat = \"4s\"\naction = \"kill\"\nnode = \"{node}\"\n\
             [[fault]]\nafter = \"1s\"\naction = \"start\"\nnode = \"node 2\"\n"
        )
    };
    read(&[GALERA], &faults("node 2")).unwrap();
    let errors = read(&[GALERA], &faults("node 9")).unwrap_err();
    assert!(errors.contains("node 9") && errors.lines().count() == 1, "{errors}");
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn impossible_faults_are_rejected_with_a_reason() {
    let rows: [(&[System], &str, &str); 16] = [
        (
            &[REPLICA],
            "at = \"4s\"\naction = \"promote\"\nnode = \"primary\"",
            "it is not a replica",
        ),
        (&[ONE], "at = \"4s\"\naction = \"promote\"", "it is not a replica"),
        (&[ONE], "at = \"4s\"", "missing key `action` in [[fault]]"),
        (&[ONE], "at = \"4s\"\naction = \"explode\"", "`fault.action` cannot be `explode`"),
        (&[ONE], "action = \"kill\"", "a fault needs either `at` or `after`"),
        (&[ONE], "after = \"4s\"\naction = \"kill\"", "the first fault cannot have `after`"),
        (
            &[ONE],
            "at = \"20s\"\naction = \"kill\"",
            "this fault may occur after the end of the measurement, 20 s after its start",
        ),
        (
            &[ONE],
            "at = \"15s\"\nwithin = \"5s\"\naction = \"kill\"",
            "after the end of the measurement",
        ),
        (
            &[ONE],
            "at = \"4s\"\naction = \"kill\"\nnode = \"node 1\"",
            "`One` has no node called `node 1`",
        ),
        (
            &[GALERA],
            "at = \"4s\"\naction = \"kill\"",
            "`G` has several nodes, and the fault names none",
        ),
        (
            &[NDB],
            "at = \"4s\"\naction = \"kill\"\nnode = \"node 1\"",
            "`N` has no node called `node 1`",
        ),
        (
            &[ONE],
            "at = \"4s\"\naction = \"start\"",
            "server cannot have the fault \"start\": no earlier fault",
        ),
        (&[ONE], "at = \"4s\"\naction = \"kill\"\nsystem = \"Two\"", "no system is called `Two`"),
        (&[ONE], "at = \"4s\"\naction = \"run\"", "the fault \"run\" needs a command, and no node"),
        (
            &[ONE],
            "at = \"4s\"\naction = \"kill\"\ncommand = \"x\"",
            "takes no command: dyno injects it",
        ),
        (
            &[("F", "url = \"mysql://u@db.example/x\"")],
            "at = \"4s\"\naction = \"kill\"",
            "dyno cannot kill `F`: dyno did not start its server",
        ),
    ];
    for (systems, fault, why) in rows {
        let error = read(systems, &format!("[[fault]]\n{fault}\n")).unwrap_err();
        assert!(error.contains(why), "{fault}: {error}");
    }
    for (load, fault, why) in [
        ("", "disconnect", "clients would not notice the cut network path"),
        ("statement_timeout = \"1s\"", "reconnect", "no earlier fault disconnects it"),
        ("", "free-disk", "no earlier fault fills its disk"),
        ("", "fill-disk", "dyno fills only separate file systems, but `One` has none"),
    ] {
        let error =
            read_with(&[ONE], load, &format!("[[fault]]\nat = \"4s\"\naction = \"{fault}\"\n"));
        let error = error.unwrap_err();
        assert!(error.contains(why), "{fault}: {error}");
    }
    for (second, why) in [
        ("kill", "it was killed earlier"),
        ("stop", "it was killed earlier"),
        ("continue", "it was killed earlier"),
    ] {
        let faults = format!(
            "[[fault]]\nat = \"4s\"\naction = \"kill\"\n[[fault]]\nat = \"5s\"\naction = \"{second}\"\n"
        );
        let error = read(&[ONE], &faults).unwrap_err();
        assert!(error.contains(why), "{second}: {error}");
    }
    for (first, second, why) in [
        ("at = \"4s\"", "after = \"1s\"\nwithin = \"1s\"", "`fault.within` requires `at`"),
        ("at = \"4s\"", "at = \"3s\"", "may occur before the previous one"),
        ("at = \"4s\"\nwithin = \"3s\"", "at = \"5s\"", "may occur before the previous one"),
    ] {
        let faults = format!(
            "[[fault]]\n{first}\naction = \"stop\"\n[[fault]]\n{second}\naction = \"continue\"\n"
        );
        let error = read(&[ONE], &faults).unwrap_err();
        assert!(error.contains(why), "{first}, {second}: {error}");
    }
    let by_count = "title = \"x\"\n[[system]]\nname = \"A\"\nserver = { kind = \"mariadb\" }\n[workload]\nkind = \"rush\"\n\
                    [load]\nclients = 1\ntransactions = 100\n[[fault]]\nat = \"1s\"\naction = \"kill\"\n";
    let error = parse(input(by_count), &catalog()).unwrap_err().to_string();
    assert!(error.contains("this fault may occur after the end of the measurement"), "{error}");
}

#[test]
fn the_way_to_a_node_is_cut_whatever_becomes_of_its_process() {
    let faults = "[[fault]]\nat = \"4s\"\naction = \"disconnect\"\n[[fault]]\nafter = \"1s\"\naction = \"kill\"\n\
                  [[fault]]\nafter = \"1s\"\naction = \"reconnect\"\n[[fault]]\nafter = \"1s\"\naction = \"start\"\n";
    let limit = "statement_timeout = \"1s\"";
    let actions = |plan: Plan| plan.faults.iter().map(|fault| fault.action).collect::<Vec<_>>();
    let plan = read_with(&[ONE], limit, faults).unwrap();
    assert_eq!(plan.configurations[0].load.statement_timeout, Some(Nanos(SECOND)));
    assert_eq!(actions(plan), [Disconnect, Kill, Reconnect, Start]);
    // Clients have a network path to any server over TCP, and to the nodes that they connect to.
    let cut = "[[fault]]\nat = \"4s\"\naction = \"disconnect\"\n";
    let far = ("F", "url = \"mysql://u@127.0.0.1/x\"");
    assert_eq!(actions(read_with(&[far], limit, cut).unwrap()), [Disconnect]);
    let by_socket = ("F", "url = \"mysql://u@/x?socket=/run/s\"");
    let error = read_with(&[by_socket], limit, cut).unwrap_err();
    assert!(error.contains("its clients do not connect over TCP"), "{error}");
    let aside =
        "[factors]\nendpoint = [\"aside\"]\n[[endpoint]]\nname = \"aside\"\naddress = \"/run/s\"\n";
    let error = read_with(&[far], limit, &format!("{cut}{aside}")).unwrap_err();
    assert!(error.contains("clients of `F` connect over a unix socket"), "{error}");
    let inner = format!("{cut}node = \"data node 1\"\n");
    let error = read_with(&[NDB], limit, &inner).unwrap_err();
    assert!(error.contains("`N` has no node called `data node 1`"), "{error}");
    let embedded = ("E", "server = { kind = \"sqlite\" }");
    let error = read_with(&[embedded], limit, "").unwrap_err();
    assert!(error.contains("`load.statement_timeout` has no effect on `E`"), "{error}");
}

#[test]
fn a_disk_is_filled_where_the_server_has_one_of_its_own() {
    let storage =
        "[factors]\nstorage = [\"small\"]\n[[storage]]\nname = \"small\"\ndata = \"small\"\n";
    let fill = "[[fault]]\nat = \"4s\"\naction = \"fill-disk\"\n";
    let after = |action: &str| format!("[[fault]]\nafter = \"1s\"\naction = \"{action}\"\n");
    // A server may exit for lack of space, and be started when space is available again.
    let faults = format!("{fill}{}{}{storage}", after("free-disk"), after("start"));
    let plan = read(&[ONE], &faults).unwrap();
    assert_eq!(
        plan.faults.iter().map(|it| it.action).collect::<Vec<_>>(),
        [FillDisk, FreeDisk, Start]
    );
    let error = read(&[ONE], &format!("{fill}{}{storage}", after("fill-disk"))).unwrap_err();
    assert!(error.contains("its disk is already full"), "{error}");
    let error = read(&[GALERA], &format!("{fill}node = \"node 1\"\n")).unwrap_err();
    assert!(error.contains("cluster nodes have no separate storage"), "{error}");
}
