//! Tests of loads that change during a trial.

use super::super::{Input, TextKind, parse};
use super::{GOOD, catalog};
use crate::limit::LimitPart;
use crate::plan::{LoadBy, LoadPlan, Spacing, Stages, StopRule};
use crate::units::Nanos;
use std::path::Path;

/// Files next to the spec.
fn file(path: &Path, _: TextKind) -> Result<String, String> {
    let text = match path.to_str() {
        Some("here/day.csv") => "seconds,rate\n0,100\n60, 300\n120,0\n",
        Some("here/noted.csv") => "note,clients,seconds\nquiet,1,0\nbusy,8,0.5\n",
        Some("here/neither.csv") => "time,load\n0,1\n",
        Some("here/both.csv") => "seconds,rate,clients\n0,1,1\n",
        Some("here/late.csv") => "seconds,rate\n5,100\n60,300\n",
        Some("here/back.csv") => "seconds,rate\n0,100\n60,300\n30,100\n",
        Some("here/single.csv") => "seconds,rate\n0,100\n",
        Some("here/word.csv") => "seconds,rate\n0,100\n1,many\n",
        Some("here/short.csv") => "seconds,rate\n0,100\n1\n",
        Some("here/half.csv") => "seconds,clients\n0,1\n1,1.5\n",
        Some("here/fast.csv") => "seconds,rate\n0,1\n1,1e9\n",
        Some("here/blink.csv") => "seconds,rate\n0,1\n1e-10,2\n",
        Some("here/year.csv") => "seconds,rate\n0,1\n31536000,2\n",
        _ => return Err("it is not there".to_owned()),
    };
    Ok(text.to_owned())
}

/// The load of a spec with this number of clients and these stages; or all errors.
fn read(clients: &str, stages: &str) -> Result<LoadPlan, String> {
    let start = GOOD.split("[load]").next().unwrap();
    let text = format!("{start}[load]\nclients = {clients}\n{stages}\n");
    let input =
        Input { file_name: "here/day.toml", text: &text, script: Some(file), ..Input::default() };
    let (_, plan) = parse(input, &catalog()).map_err(|errors| errors.to_string())?;
    Ok(plan.configurations[0].load.clone())
}

/// Length in milliseconds, and the initial and final load.
type Line = (u64, f64, f64);

/// Names, and the segments of each.
fn lines(stages: &Stages) -> Vec<(&str, Vec<Line>)> {
    let segments = |stage: &crate::stages::Stage| {
        stage.segments.iter().map(|it| (it.length.0 / 1_000_000, it.from, it.to)).collect()
    };
    stages.stages.iter().map(|stage| (stage.name.as_str(), segments(stage))).collect()
}

#[test]
fn stages_have_rates_that_stay_or_go_in_a_line() {
    let load = read(
        "64",
        "spacing = \"even\"\n\
         [[load.stages]]\nname = \"night\"\nduration = \"30s\"\nrate = \"6000/min\"\n\
         [[load.stages]]\nduration = \"1m\"\nrate = [\"100/s\", \"500/s\"]\n\
         [[load.stages]]\nname = \"pause\"\nduration = \"500ms\"\nrate = \"0/s\"",
    )
    .unwrap();
    let stages = load.stages.as_ref().unwrap();
    assert_eq!(stages.by, LoadBy::Rate);
    assert_eq!(
        lines(stages),
        [
            ("night", vec![(30_000, 100.0, 100.0)]),
            ("2", vec![(60_000, 100.0, 500.0)]),
            ("pause", vec![(500, 0.0, 0.0)]),
        ]
    );
    assert_eq!(load.stop, StopRule::Duration(Nanos(90_500_000_000)));
    assert_eq!((load.warmup, load.spacing), (Nanos::from_secs(5), Spacing::Even));
    assert!(load.is_open() && load.gives_throughput() && load.rate.is_none());
}

#[test]
fn stages_have_numbers_of_clients() {
    let load = read(
        "8",
        "stages = [{ clients = 2, duration = \"5s\" }, { clients = [2, 8], duration = \"5s\" }]",
    )
    .unwrap();
    let stages = load.stages.as_ref().unwrap();
    assert_eq!(stages.by, LoadBy::Clients);
    assert_eq!(lines(stages), [("1", vec![(5_000, 2.0, 2.0)]), ("2", vec![(5_000, 2.0, 8.0)])]);
    assert!(!load.is_open() && !load.gives_throughput());
}

#[test]
fn stages_follow_a_file_in_its_own_time_or_in_another() {
    let day = |stage: &str| read("8", &format!("stages = [{stage}]")).unwrap().stages.unwrap();
    assert_eq!(
        lines(&day("{ file = \"day.csv\" }")),
        [("1", vec![(60_000, 100.0, 300.0), (60_000, 300.0, 0.0)])]
    );
    assert_eq!(
        lines(&day("{ file = \"day.csv\", duration = \"3s\" }")),
        [("1", vec![(1_500, 100.0, 300.0), (1_500, 300.0, 0.0)])]
    );
    let noted = day("{ name = \"noted\", file = \"noted.csv\" }");
    assert_eq!(
        (noted.by, lines(&noted)),
        (LoadBy::Clients, vec![("noted", vec![(500, 1.0, 8.0)])])
    );
}

#[test]
fn each_invalid_stage_is_reported_once_with_its_cause() {
    let rows = [
        ("{ duration = \"5s\" }", "a stage has none of `rate`, `clients` and `file`"),
        ("{ rate = \"5/s\" }", "missing key `duration` in [[load.stages]]"),
        ("{ rate = 5, duration = \"5s\" }", "`load.stages.rate` must be a string, not an integer"),
        (
            "{ rate = [\"5/s\"], duration = \"5s\" }",
            "`load.stages.rate` must be one value or a list of two",
        ),
        (
            "{ clients = 101, duration = \"5s\" }",
            "a stage has 101 clients, but `load.clients` is 8",
        ),
        (
            "{ clients = -1, duration = \"5s\" }",
            "`load.stages.clients` must be between 0 and 1000000, got -1",
        ),
        ("{ clients = 0, duration = \"5s\" }", "all stages have a load of 0"),
        (
            "{ clients = 2, rate = \"5/s\", duration = \"5s\" }",
            "a stage has both `rate` and `clients`",
        ),
        ("{ rats = \"5/s\", duration = \"5s\" }", "unknown key `rats` in [[load.stages]]"),
        ("{ rate = \"5/s\", duration = \"0s\" }", "`load.stages.duration` must be more than 0"),
        (
            "{ name = \" \", rate = \"5/s\", duration = \"1s\" }",
            "`load.stages.name` must not be empty",
        ),
        (
            "{ name = \"a\\nb\", rate = \"5/s\", duration = \"1s\" }",
            "a stage's name must be one line",
        ),
        (
            "{ rate = \"5/s\", duration = \"5s\" }, { clients = 2, duration = \"5s\" }",
            "the first stage sets `rate`, but this one does not",
        ),
        (
            "{ name = \"2\", rate = \"5/s\", duration = \"5s\" }, { rate = \"6/s\", duration = \"5s\" }",
            "two stages are called `2`",
        ),
        ("{ rate = \"5/s\", duration = \"200h\" }", "the stages last longer than three days"),
        ("5", "`each [[load.stages]]` must be a table, not an integer"),
        ("", "`load.stages` is an empty list"),
        ("{ file = \"gone.csv\" }", "cannot read the load `gone.csv`: it is not there"),
        ("{ file = \"neither.csv\" }", "`neither.csv`, line 1: the column `seconds` is missing"),
        (
            "{ file = \"both.csv\" }",
            "`both.csv`, line 1: the columns `rate` and `clients` cannot be combined",
        ),
        ("{ file = \"late.csv\" }", "`late.csv`, line 2: the first time must be 0"),
        (
            "{ file = \"back.csv\" }",
            "`back.csv`, line 4: times must be ascending, but 30 follows 60",
        ),
        (
            "{ file = \"single.csv\" }",
            "`single.csv`, line 2: the file needs at least two lines of values",
        ),
        ("{ file = \"word.csv\" }", "`word.csv`, line 3: `many` is not a number of 0 or more"),
        ("{ file = \"short.csv\" }", "`short.csv`, line 3: invalid CSV"),
        (
            "{ file = \"half.csv\" }",
            "`half.csv`, line 3: a number of clients must be a whole number, got `1.5`",
        ),
        ("{ file = \"fast.csv\" }", "`fast.csv`, line 3: a rate must be 0, or between"),
        (
            "{ file = \"blink.csv\" }",
            "`blink.csv`, line 3: its times are less than a nanosecond apart",
        ),
        ("{ file = \"year.csv\" }", "the stages last longer than three days"),
    ];
    for (stages, expected) in rows {
        let found = read("8", &format!("stages = [{stages}]")).unwrap_err();
        assert!(found.contains(expected), "{stages}: {found}");
        assert_eq!(found.lines().count(), 1, "one mistake is told once: {found}");
    }
}

#[test]
fn keys_incompatible_with_stages_or_rates_are_rejected() {
    let stages = "stages = [{ rate = \"5/s\", duration = \"5s\" }]";
    let clients = "stages = [{ clients = 2, duration = \"5s\" }]";
    let rows = [
        (
            format!("duration = \"5s\"\n{stages}"),
            "`load.duration` and `load.stages` cannot both be given",
        ),
        (format!("rate = \"5/s\"\n{stages}"), "`load.stages` and `load.rate` cannot both be given"),
        (format!("overload = true\n{clients}"), "`load.overload` needs a rate"),
        (format!("spacing = \"even\"\n{clients}"), "`load.spacing` needs a rate"),
        ("duration = \"5s\"\nspacing = \"even\"".to_owned(), "`load.spacing` needs a rate"),
        (
            "duration = \"5s\"\nrate = \"5/s\"\nspacing = \"odd\"".to_owned(),
            "`load.spacing` cannot be `odd`",
        ),
        (
            format!("find = {{ while = \"p99 < 20ms\" }}\n{stages}"),
            "`load.find` and `load.stages` cannot both be given",
        ),
        (
            "duration = \"5s\"\nrate = \"5/s\"\nthink = \"1s\"".to_owned(),
            "`load.think` and a rate in `load.rate` cannot both",
        ),
        (
            format!("think = \"1s\"\n{stages}"),
            "`load.think` and a rate in `load.stages` cannot both be given",
        ),
        (
            "duration = \"5s\"\nthink = \"1s\"\nfind = { while = \"p99 < 20ms\" }".to_owned(),
            "`load.think` and a rate in `load.find` cannot both be given",
        ),
    ];
    for (load, expected) in rows {
        let found = read("8", &load).unwrap_err();
        assert!(found.contains(expected), "{load}: {found}");
    }
    assert!(
        read("[4, 8]", "stages = [{ clients = 5, duration = \"5s\" }]").is_err(),
        "the least number counts"
    );
    assert!(
        read("8", &format!("overload = true\n{stages}")).is_ok_and(|load| !load.gives_throughput())
    );
}

#[test]
fn clients_of_a_closed_loop_may_think() {
    let think = |load: &str| read("8", load).unwrap().think;
    assert_eq!(think("duration = \"5s\""), None);
    assert_eq!(think("duration = \"5s\"\nthink = \"200ms\""), Some(Nanos(200_000_000)));
    assert!(think("think = \"1s\"\nstages = [{ clients = 2, duration = \"5s\" }]").is_some());
    assert!(
        think("think = \"1s\"\nduration = \"5s\"\nfind = { most = \"clients\", while = \"p99 < 20ms\" }")
            .is_some()
    );
}

#[test]
fn shapes_of_a_load_can_be_levels() {
    let start = GOOD.split("[load]").next().unwrap();
    let text = format!(
        "{start}[load]\nclients = 8\n[factors]\n\"shape\" = [\n\
         {{ name = \"flat\", \"load.stages\" = [{{ rate = \"5/s\", duration = \"5s\" }}] }},\n\
         {{ name = \"steep\", \"load.stages\" = [{{ rate = [\"1/s\", \"9/s\"], duration = \"5s\" }}] }} ]\n"
    );
    let input =
        Input { file_name: "here/day.toml", text: &text, script: Some(file), ..Input::default() };
    let (_, plan) = parse(input, &catalog()).map_err(|errors| errors.to_string()).unwrap();
    let froms: Vec<f64> = plan
        .configurations
        .iter()
        .map(|it| it.load.stages.as_ref().unwrap().stages[0].segments[0].from)
        .collect();
    assert_eq!((plan.factors.clone(), &froms[..2]), (vec!["shape".to_owned()], &[5.0, 1.0][..]));
}

#[test]
fn a_limit_may_be_of_a_stage() {
    let stages = "stages = [{ name = \"calm\", rate = \"5/s\", duration = \"5s\" }, { name = \"spike\", rate = \"50/s\", duration = \"5s\" }]";
    let limits = |limit: &str| {
        let start = GOOD.split("[load]").next().unwrap();
        let text = format!("{start}[load]\nclients = 8\n{stages}\n[[limit]]\n{limit}\n");
        let input = Input {
            file_name: "here/day.toml",
            text: &text,
            script: Some(file),
            ..Input::default()
        };
        parse(input, &catalog()).map(|(_, plan)| plan.limits).map_err(|errors| errors.to_string())
    };
    let found = limits("stage = \"spike\"\np99 = \"< 20ms\"\nthroughput = \"> 40/s\"").unwrap();
    assert!(
        found.len() == 2
            && found.iter().all(|limit| limit.part == Some(LimitPart::Stage("spike".to_owned()))),
        "{found:?}"
    );
    for (limit, expected) in [
        ("stage = \"spik\"\np99 = \"< 20ms\"", "no stage is called `spik`"),
        ("stage = \"spike\"\nlost = 0", "`limit.lost` applies to whole trials, not to a stage"),
        ("stage = 5\np99 = \"< 20ms\"", "`limit.stage` must be a string"),
    ] {
        assert!(
            limits(limit).is_err_and(|found| found.contains(expected)),
            "{limit}: {:?}",
            limits(limit)
        );
    }
}
