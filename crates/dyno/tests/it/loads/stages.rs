//! A load that changes inside a trial, from its spec to its report.

use crate::program::{Bench, records};

fn spec(load: &str) -> String {
    format!(
        "title = \"t\"\n[[system]]\nname = \"Null\"\nurl = \"null:value=1000\"\n\
         [workload]\nkind = \"oltp_point_select\"\ntable_size = 1000\n\
         [design]\nblocks = 1\n[load]\nclients = 16\nwarmup = \"200ms\"\n{load}\n"
    )
}

const STEPS: &str = "spacing = \"even\"\n\
    [[load.stages]]\nname = \"usual\"\nduration = \"1s\"\nrate = \"200/s\"\n\
    [[load.stages]]\nname = \"day\"\nfile = \"day.csv\"\nduration = \"2s\"\n";

#[test]
fn stages_and_a_recorded_day_are_measured_and_told_stage_by_stage() {
    let bench = Bench::new();
    bench.file("spec.toml", spec(STEPS));
    // An hour each at 200, rising to 600, and back; squeezed into two seconds.
    bench.file("day.csv", "seconds,rate\n0,200\n3600,600\n7200,200\n");
    let plan = bench.dyno(&["plan", "spec.toml"]);
    assert!(plan.stdout.contains("3 s in 2 stages, at most 600/s, 0.2 s warm-up"), "{plan}");
    let ended = bench.dyno(&["run", "spec.toml", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let all = records(&bench.path().join("r"));
    let [record] = &all[..] else { panic!("one trial") };
    let due: Vec<u64> =
        record.stages.iter().map(|it| it.response.map_or(0, |all| all.count)).collect();
    assert!(due[0].abs_diff(200) <= 1 && due[1].abs_diff(800) <= 1, "{due:?}");
    assert_eq!(due.iter().sum::<u64>(), record.open_loop.expect("an open loop").arrived);
    assert!(ended.stdout.contains("Load stages"), "{ended}");

    bench.forget_the_machine("r");
    let report = bench.dyno(&["report", "r", "--format", "text,csv,html", "--out", "x"]);
    let read =
        |name: &str| std::fs::read_to_string(bench.path().join("x").join(name)).unwrap_or_default();
    assert!(
        read("report.csv").contains(",offered@day,transactions-per-second,400,"),
        "{report} {}",
        read("report.csv")
    );
    assert!(read("report.html").contains("class=\"offered\""));
}

#[test]
fn a_run_with_other_stages_is_another_load() {
    let bench = Bench::new();
    bench.file("day.csv", "seconds,rate\n0,200\n1,200\n");
    bench.file("one.toml", spec(STEPS));
    bench.file("other.toml", spec(&STEPS.replace("200/s", "300/s")));
    for name in ["one", "other"] {
        let ended = bench.dyno(&["run", &format!("{name}.toml"), "--out", name]);
        assert!(ended.is_done(), "{ended}");
    }
    let compared = bench.dyno(&["compare", "one", "other"]);
    let all = compared.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        all.contains("2 of rate, 0 s: 200, 1 s: 200") && all.contains("0 s: 300"),
        "{compared}"
    );
}

#[test]
fn a_file_that_is_not_there_is_reported_with_its_place() {
    let bench = Bench::new();
    bench.file("spec.toml", spec(STEPS));
    let ended = bench.dyno(&["run", "spec.toml", "--out", "r"]);
    assert!(ended.stderr.contains("cannot read the load `day.csv`"), "{ended}");
    assert!(ended.stderr.contains("relative to the folder of the spec"), "{ended}");
    assert!(!bench.path().join("r").exists(), "nothing was begun");
}

#[test]
fn clients_come_and_go_by_stages() {
    let bench = Bench::new();
    bench.file(
        "spec.toml",
        spec("stages = [{ name = \"few\", clients = 2, duration = \"500ms\" }, { clients = [2, 16], duration = \"1s\" }]"),
    );
    let ended = bench.dyno(&["run", "spec.toml", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let all = records(&bench.path().join("r"));
    assert_eq!(all[0].stages.len(), 2);
    assert!(all[0].stages.iter().all(|stage| stage.committed > 0), "{:?}", all[0].stages);
    assert_eq!(all[0].open_loop, None);
    assert!(ended.stdout.contains("active clients"), "{ended}");
}
