use super::*;
use crate::catalog::{OptionDescription, OptionKind, OptionValue};
use crate::plan::{DataPolicy, PasswordSource, ServerKind, StopRule, SystemSource, Via};
use crate::target::{ChannelBinding, ConnectionOptions, Endpoint, ServerState};
use crate::units::Nanos;
use proptest::prelude::*;

mod background;
mod budget;
mod clusters;
mod databases;
mod faults;
mod find;
mod growth;
mod hooks;
mod mistakes;
mod passwords;
mod paths;
mod primary;
mod profiles;
mod stages;
mod workloads;

/// A catalog like the engine's, with an option of every type.
fn catalog() -> Vec<WorkloadDescription> {
    let option = |name, kind, default| OptionDescription { name, kind, default, help: "" };
    vec![
        WorkloadDescription {
            name: "rush",
            summary: "",
            audit: "",
            options: vec![
                option(
                    "rows",
                    OptionKind::Integer { min: 1, max: 1_000_000 },
                    OptionValue::Integer(100),
                ),
                option(
                    "variant",
                    OptionKind::Choice(&[
                        "read-modify-write",
                        "in-place",
                        "for-update",
                        "optimistic",
                    ]),
                    OptionValue::Text("read-modify-write".to_owned()),
                ),
            ],
        },
        WorkloadDescription {
            name: "mass-insert",
            summary: "",
            audit: "",
            options: vec![
                option(
                    "rows",
                    OptionKind::Integer { min: 0, max: 1_000_000 },
                    OptionValue::Integer(0),
                ),
                option(
                    "rows_per_insert",
                    OptionKind::Integer { min: 1, max: 1_000 },
                    OptionValue::Integer(1),
                ),
            ],
        },
        WorkloadDescription {
            name: "oltp_read_write",
            summary: "",
            audit: "",
            options: vec![
                option("skip_trx", OptionKind::Boolean, OptionValue::Boolean(false)),
                option(
                    "zipfian_exponent",
                    OptionKind::Number { min: 0.0, max: 5.0 },
                    OptionValue::Number(0.8),
                ),
                option(
                    "pad_bytes",
                    OptionKind::Integer { min: 0, max: 1 << 30 },
                    OptionValue::Integer(60),
                ),
            ],
        },
    ]
}

fn input<'a>(text: &'a str) -> Input<'a> {
    Input { file_name: "experiments/rush.toml", text, ..Input::default() }
}

const GOOD: &str = r#"
title = "A rush"

[[system]]
name = "WAL"
server = { kind = "sqlite", settings = { journal_mode = "WAL", cache_size = -2000 } }

[[system]]
name = "far"
url = "mysql://bench@db/bench"
password_env = "BENCH_PASSWORD"

[workload]
kind = "rush"

[load]
clients = [1, 8]
transactions = 10_000

[profile.smoke]
load = { clients = [2], duration = "10s" }
design = { blocks = 2 }
"#;

fn good() -> Plan {
    parse(input(GOOD), &catalog()).unwrap().1
}

#[test]
fn a_good_spec_becomes_a_plan_with_every_default_explicit() {
    let plan = good();
    assert_eq!(
        (plan.name.as_str(), plan.title.as_str(), plan.blocks, plan.seed),
        ("rush", "A rush", 5, 1)
    );
    assert_eq!(plan.configurations.len(), 4);
    assert_eq!(plan.trials.len(), 20);
    let first = &plan.configurations[0];
    assert_eq!((first.system, first.clients), (0, 1));
    assert_eq!(first.workload.options.count("rows"), 100);
    assert_eq!(
        first.load,
        LoadPlan {
            warmup: Nanos(0),
            grace: Nanos::from_secs(5),
            time_limit: Nanos::from_secs(600),
            ..LoadPlan::new(StopRule::Transactions(10_000))
        }
    );
    let SystemSource::Managed(server) = &plan.systems[0].source else { panic!("managed") };
    assert_eq!(server.kind, ServerKind::Sqlite);
    assert_eq!(server.settings["cache_size"], "-2000");
    let SystemSource::Existing(existing) = &plan.systems[1].source else { panic!("existing") };
    assert_eq!(existing.password, PasswordSource::Environment("BENCH_PASSWORD".to_owned()));
    assert_eq!(existing.data, DataPolicy::Own);
    let (_, plan) = with_arguments(&["system.far.data=existing"]).unwrap();
    let SystemSource::Existing(existing) = &plan.systems[1].source else { panic!("existing") };
    assert_eq!(existing.data, DataPolicy::Existing);
}

#[test]
fn a_system_has_all_options_of_its_url() {
    let url = "postgres://bench@a:1,b:2/d?target_session_attrs=read-write&sslmode=require\
               &channel_binding=require&sslnegotiation=direct&max_protocol_version=3.2";
    let text = GOOD.replace("mysql://bench@db/bench", url);
    let (_, plan) = parse(input(&text), &catalog()).unwrap();
    let SystemSource::Existing(existing) = &plan.systems[1].source else { panic!("existing") };
    let expected = ConnectionOptions {
        alternatives: vec![Endpoint::Tcp { host: "b".to_owned(), port: 2 }],
        wanted_state: ServerState::ReadWrite,
        channel_binding: ChannelBinding::Require,
        has_direct_tls: true,
        offers_protocol_3_2: true,
    };
    assert_eq!(*existing.connection_options, expected);
}

#[test]
fn profile_overrides_the_file_and_replaces_its_stop_rule() {
    let (_, plan) = parse(Input { profile: Some("smoke"), ..input(GOOD) }, &catalog()).unwrap();
    assert_eq!((plan.profile.as_deref(), plan.blocks), (Some("smoke"), 2));
    assert_eq!(plan.configurations.len(), 2);
    let load = &plan.configurations[0].load;
    assert_eq!(load.stop, StopRule::Duration(Nanos::from_secs(10)));
    assert_eq!((load.warmup, load.time_limit), (Nanos::from_secs(1), Nanos::from_secs(10)));
}

fn with_arguments(arguments: &[&str]) -> Result<(String, Plan), Diagnostics> {
    let overrides: Vec<String> = arguments.iter().map(|&text| text.to_owned()).collect();
    parse(Input { overrides: &overrides, ..input(GOOD) }, &catalog())
}

#[test]
fn arguments_are_laid_over_the_profile() {
    let overrides = ["load.clients=[5]", "design.blocks = 3"].map(str::to_owned);
    let input = Input { profile: Some("smoke"), overrides: &overrides, ..input(GOOD) };
    let (_, plan) = parse(input, &catalog()).unwrap();
    assert_eq!((plan.configurations[0].clients, plan.blocks), (5, 3));
}

#[test]
fn arguments_accept_toml_or_plain_text_and_address_systems() {
    let (_, plan) = with_arguments(&[
        "title=Bare words",
        "load.duration=30s",
        "system.WAL.server.settings.journal_mode=OFF",
        "system.WAL.server.settings.mmap_size=0x10",
        "system.\"far\".query_mode=simple",
        "workload.variant='in-place'",
    ])
    .unwrap();
    assert_eq!(plan.title, "Bare words");
    assert_eq!(plan.configurations[0].load.stop, StopRule::Duration(Nanos::from_secs(30)));
    assert_eq!(plan.configurations[0].workload.options.text("variant"), "in-place");
    assert_eq!(plan.query_mode(&plan.configurations[2]), QueryMode::Simple);
    let SystemSource::Managed(server) = &plan.systems[0].source else { panic!("managed") };
    let settings: Vec<_> =
        server.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(settings, ["cache_size=-2000", "journal_mode=OFF", "mmap_size=16"]);
}

#[test]
fn errors_in_arguments_point_at_the_argument() {
    let rows = [
        ("load.clients", "--set:1:1: the argument has no `=`"),
        ("=5", "--set:1:1: a part of the key is empty"),
        ("load..clients=5", "--set:1:6: a part of the key is empty"),
        ("load.clients=[1,", "--set:1:17: invalid TOML: unclosed array, expected `]`"),
        (
            "load.clients=1,2",
            "--set:1:14: `load.clients` must be an integer or a list of integers, not a string",
        ),
        ("load.cleints=5", "--set:1:6: unknown key `cleints` in [load]"),
        ("lod.clients=5", "--set:1:1: unknown key `lod` at the top of the file"),
        ("system.WALL.query_mode=simple", "--set:1:8: no system is called `WALL`"),
        ("system.WAL=5", "--set:1:12: `system.WAL` must be a table, not an integer"),
        ("profile.smoke.design.blocks=5", "--set:1:1: profiles cannot be changed here"),
        ("workload.rows=0", "--set:1:15: `workload.rows` must be between 1 and 1000000, got 0"),
        ("title=", "--set:1:7: `title` must not be empty"),
    ];
    for (argument, message) in rows {
        let text = with_arguments(&[argument]).unwrap_err().to_string();
        assert_eq!(text, message, "{argument}");
    }
}

#[test]
fn factors_combine_in_file_order_with_the_last_varying_fastest() {
    let text = r#"
title = "factors"
system = [{ name = "A", url = "postgres://u@h/d" }, { name = "B", server = { kind = "postgres" } }]
workload = { kind = "rush" }
[load]
clients = [1, 2]
[factors]
"workload.variant" = ["in-place", "for-update"]
load.transactions = [10, 20]
"system.query_mode" = ["simple", "extended"]
"#;
    let (_, plan) = parse(input(text), &catalog()).unwrap();
    assert_eq!(plan.factors, ["workload.variant", "load.transactions", "system.query_mode"]);
    assert_eq!(plan.configurations.len(), 32);
    let levels = |i: usize| plan.configurations[i].levels.join(" ");
    assert_eq!(
        (levels(0), levels(2), levels(4)),
        ("in-place 10 simple".into(), "in-place 10 extended".into(), "in-place 20 simple".into())
    );
    let last = plan.configurations.last().unwrap();
    assert_eq!((last.system, last.clients), (1, 2));
    assert_eq!(last.workload.options.text("variant"), "for-update");
    assert_eq!(last.load.stop, StopRule::Transactions(20));
    assert_eq!(plan.query_mode(last), QueryMode::Extended);
}

#[test]
fn the_kind_of_workload_can_be_varied_and_brings_its_options() {
    let text = r#"
title = "kinds"
system = [{ name = "A", server = { kind = "postgres" } }]
workload = {}
load = { clients = [1, 2], transactions = 10 }
[factors]
job = [
  { name = "counters", workload = { kind = "rush", rows = 7 } },
  { name = "read and write", workload.kind = "oltp_read_write", workload.skip_trx = true },
]
"#;
    let (_, plan) = parse(input(text), &catalog()).unwrap();
    let found: Vec<_> =
        plan.configurations.iter().map(|of| (of.workload.kind.as_str(), of.clients)).collect();
    assert_eq!(found, [("rush", 1), ("rush", 2), ("oltp_read_write", 1), ("oltp_read_write", 2)]);
    assert_eq!(plan.configurations[0].workload.options.count("rows"), 7);
    assert!(plan.configurations[2].workload.options.boolean("skip_trx"));
    let without = text.replace("workload = {}\n", "");
    assert_eq!(parse(input(&without), &catalog()).expect("a spec").1.trials, plan.trials);
    let plain = text
        .replace("job = [", "unused = [")
        .replace("unused", "workload.kind = [\"rush\", \"rush2\"]\nunused");
    assert!(
        errors(&plain).iter().any(|error| error.contains("set by two levels at once")),
        "{plain}"
    );
}

const SETTINGS: &str = r#"
title = "settings"
system = [{ name = "M 1.5", server = { kind = "mariadb", settings = { sync_binlog = 1 } } }, { name = "P", server = { kind = "mysql" } }]
workload = { kind = "rush" }
[load]
clients = [1, 2]
transactions = 10
[factors]
"server.settings.innodb_buffer_pool_size" = ["4G", "8G"]
threads = [
  { name = "as they come" },
  { name = "pool", "system.M 1.5.server.settings.thread_handling" = "pool-of-threads", system.P.server.settings.plugin_load_add = "thread_pool.so", load.attempts_max = 1 },
]
[design]
blocks = 1
"#;

#[test]
fn settings_can_vary_for_all_servers_or_one_with_named_levels() {
    let (_, plan) = parse(input(SETTINGS), &catalog()).unwrap();
    assert_eq!(plan.factors, ["server.settings.innodb_buffer_pool_size", "threads"]);
    assert_eq!(plan.configurations.len(), 2 * 2 * 2 * 2);
    let find = |system: usize, levels: [&str; 2]| {
        let is_it = |of: &&Configuration| of.system == system && of.levels == levels;
        plan.configurations.iter().find(is_it).expect("full factorial")
    };
    let pool = find(0, ["8G", "pool"]);
    let server = plan.server(pool).unwrap();
    let settings: Vec<String> =
        server.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(
        settings,
        ["innodb_buffer_pool_size=8G", "sync_binlog=1", "thread_handling=pool-of-threads"]
    );
    assert_eq!(pool.load.attempts_max, 1);
    let other = plan.server(find(1, ["4G", "pool"])).unwrap();
    assert_eq!(other.settings["plugin_load_add"], "thread_pool.so");
    assert!(!other.settings.contains_key("thread_handling"), "that is of the other system");
    assert_eq!(find(0, ["4G", "as they come"]).load.attempts_max, 10);
}

#[test]
fn storage_needs_another_start_and_a_way_to_the_server_does_not() {
    let text = r#"
title = "places and ways"
system = [{ name = "M", server = { kind = "mariadb" } }]
workload = { kind = "rush" }
load = { clients = [1, 2], transactions = 10 }
factors = { storage = ["raid1", "raid5"], endpoint = ["tcp", "proxied"] }
[[storage]]
name = "raid1"
data = "/mnt/raid1"
log = "/mnt/log"
[[storage]]
name = "raid5"
data = "/mnt/raid5"
before = "mount /mnt/raid5"
[[endpoint]]
name = "proxied"
proxy = { kind = "haproxy", threads = 2 }
[[endpoint]]
name = "unused"
proxy = { kind = "haproxy" }
"#;
    let (_, plan) = parse(input(text), &catalog()).unwrap();
    assert!(plan.is_split());
    assert_eq!(
        (plan.configurations.len(), plan.restart_groups().len(), plan.starts()),
        (8, 2, 2 * 5)
    );
    let last = plan.configurations.last().unwrap();
    assert_eq!(plan.storage(last).unwrap().name, "raid5");
    assert_eq!(plan.server(last).unwrap().scratch.unwrap().to_str(), Some("/mnt/raid5"));
    assert!(
        matches!(&plan.endpoint(last).unwrap().via, Via::Proxy(proxy) if proxy.threads == Some(2))
    );
    let names: Vec<&str> = plan.endpoints.iter().map(|endpoint| endpoint.name.as_str()).collect();
    assert_eq!(names, ["tcp", "proxied"], "what no level names is not in the plan");
    let ways = text.replace("storage = [\"raid1\", \"raid5\"], ", "");
    assert!(!parse(input(&ways), &catalog()).unwrap().1.is_split());
}

#[test]
fn excluded_configurations_are_in_no_block() {
    let exclude = "exclude = [{ system = \"P\", threads = \"pool\" }, { clients = [2, 64], \
                   server.settings.innodb_buffer_pool_size = [\"4G\", \"8G\"], threads = \"as they come\" }]";
    let text = SETTINGS.replace("blocks = 1", &format!("blocks = 2\n{exclude}"));
    let (_, plan) = parse(input(&text), &catalog()).unwrap();
    assert_eq!((plan.configurations.len(), plan.trials.len()), (16 - 4 - 4, 2 * 8));
    assert!(plan.configurations.iter().all(|of| of.system == 0 || of.levels[1] != "pool"));
    assert!(plan.configurations.iter().all(|of| of.clients == 1 || of.levels[1] == "pool"));
}

#[test]
fn design_compare_accepts_system_or_a_factor() {
    for (written, expected) in [("system", Compare::System), ("threads", Compare::Factor(1))] {
        let text = SETTINGS.replace("blocks = 1", &format!("blocks = 1\ncompare = \"{written}\""));
        assert_eq!(parse(input(&text), &catalog()).unwrap().1.compare, Some(expected));
    }
    assert_eq!(parse(input(SETTINGS), &catalog()).unwrap().1.compare, None);
}

#[test]
fn published_figures_are_kept() {
    let text = format!(
        "{GOOD}\n[[published]]\nsource = \"notebook PC, 2005\"\nseries = \"MySQL\"\nmetric = \"p95-ms\"\n\
         clients = [1, 20]\nvalues = [3, 4.5]\napproximate = true\nsystem = \"far\"\n"
    );
    let (_, plan) = parse(input(&text), &catalog()).unwrap();
    let published = &plan.published[0];
    assert_eq!(
        (published.clients.as_slice(), published.values.as_slice()),
        (&[1, 20][..], &[3.0, 4.5][..])
    );
    assert!(published.approximate && published.system.as_deref() == Some("far"));
}

#[test]
fn a_size_is_taken_where_an_option_counts_bytes() {
    let text = GOOD.replace(
        "kind = \"rush\"",
        "kind = \"oltp_read_write\"\npad_bytes = \"64K\"\nzipfian_exponent = 1",
    );
    let (_, plan) = parse(input(&text), &catalog()).unwrap();
    assert_eq!(plan.configurations[0].workload.options.count("pad_bytes"), 65_536);
    assert!(
        (plan.configurations[0].workload.options.float("zipfian_exponent") - 1.0).abs()
            < f64::EPSILON
    );
}

#[test]
fn the_plan_is_named_after_the_file() {
    let rows = [
        ("experiments/rush.toml", "rush"),
        ("rush", "rush"),
        ("C:\\x\\my rush!.toml", "my-rush-"),
        ("/.toml", "experiment"),
        ("..", "experiment"),
        ("부하.toml", "부하"),
    ];
    for (file, name) in rows {
        assert_eq!(plan_name(file), name, "{file}");
    }
}

#[test]
fn a_time_estimate_follows_from_the_load_rules() {
    let plan = good();
    let estimate = estimate::plan(&plan);
    // Ten trials of 10,000 transactions on SQLite and ten on a server: 10 s each at the assumed
    // rate, and an overhead of 0.3 s or 2 s.
    assert_eq!(estimate.likely, Nanos(10 * 10_300_000_000 + 10 * 12_000_000_000));
    assert!(estimate.is_rate_assumed && estimate.at_most > Nanos(20 * 600_000_000_000));
    let (_, plan) = with_arguments(&["load.duration=2s", "load.warmup=1s"]).unwrap();
    let estimate = estimate::plan(&plan);
    assert_eq!(estimate.likely, Nanos(10 * 3_300_000_000 + 10 * 5_000_000_000));
    assert!(!estimate.is_rate_assumed);
}

/// Errors as `line:column: message [help]`.
fn errors(text: &str) -> Vec<String> {
    let diagnostics = parse(input(text), &catalog()).unwrap_err();
    let lines = diagnostics.to_string();
    lines
        .lines()
        .zip(diagnostics.iter())
        .map(|(line, diagnostic)| {
            let line = line.strip_prefix("experiments/rush.toml:").unwrap_or(line);
            match &diagnostic.help {
                Some(help) => format!("{line} [{}]", help.lines().next().unwrap_or_default()),
                None => line.to_owned(),
            }
        })
        .collect()
}

#[test]
fn a_table_in_place_of_a_list_is_rejected_with_a_remedy() {
    let text = "title = \"x\"\n[system]\nname = \"A\"\nurl = \"null:\"\n[workload]\nkind = \"rush\"\n[load]\nclients = 1\nduration = \"1s\"";
    let message = "2:1: `system` must be a list of tables, not a table [write the heading with two brackets: `[[system]]`]";
    assert_eq!(errors(text), [message]);
}

#[test]
fn all_errors_are_shown_with_carets_aligned_for_wide_characters() {
    let text = r#"titel = "모든 오류를 한 번에"

[[system]]
name = "데이터베이스"
server = { kind = "mariadb" }
[[system]]
name = "データ"
server = { settings = {}, kindd = "postgres" }
[[system]]
name = "데이터베이스"
url = "postgres://벤치:비밀번호@db:x/벤치" # 주석

[workload]
kind = "rush"
variant = "in-plac"
[load]
clients = [1, 0]
duration = 30
"#;
    let diagnostics = parse(input(text), &catalog()).unwrap_err();
    insta::assert_snapshot!(diagnostics.render_plain(), @r#"
    error: unknown key `titel` at the top of the file
     --> experiments/rush.toml:1:1
      |
    1 | titel = "모든 오류를 한 번에"
      | ^^^^^ not a key
      |
      = help: did you mean `title`?

    error: unknown key `kindd` in server
     --> experiments/rush.toml:8:27
      |
    8 | server = { settings = {}, kindd = "postgres" }
      |                           ^^^^^ not a key
      |
      = help: did you mean `kind`?

    error: two systems are called `데이터베이스`
      --> experiments/rush.toml:10:8
       |
     4 | name = "데이터베이스"
       |        -------------- used here first
    ...
    10 | name = "데이터베이스"
       |        ^^^^^^^^^^^^^^ used again
       |
       = help: give each system a unique name

    error: `url`: `x` is not a port
      --> experiments/rush.toml:11:38
       |
    11 | url = "postgres://벤치:************@db:x/벤치" # 주석
       |                                        ^
       |
       = help: a port is a number between 1 and 65535

    error: `workload.variant` cannot be `in-plac`
      --> experiments/rush.toml:15:11
       |
    15 | variant = "in-plac"
       |           ^^^^^^^^^ one of `read-modify-write`, `in-place`, `for-update`, `optimistic`
       |
       = help: did you mean `in-place`?

    error: `load.clients` must be between 1 and 1000000, got 0
      --> experiments/rush.toml:17:15
       |
    17 | clients = [1, 0]
       |               ^ out of range

    error: `load.duration` must be a duration, not an integer
      --> experiments/rush.toml:18:12
       |
    18 | duration = 30
       |            ^^ no duration
       |
       = help: `"30s"` for seconds, `"30ms"` for milliseconds
    "#);
}

#[test]
fn errors_are_coloured_for_a_terminal() {
    let diagnostics = parse(input("titel = 1"), &catalog()).unwrap_err();
    assert!(
        diagnostics.render_styled().contains("\x1b[")
            && !diagnostics.render_plain().contains('\x1b')
    );
}

fn errors_of_system(line: &str) -> Diagnostics {
    parse(input(&format!("title = \"x\"\n[[system]]\nname = \"A\"\n{line}\n")), &catalog())
        .unwrap_err()
}

#[test]
fn an_unknown_profile_is_named_with_those_that_there_are() {
    let error = |profile| {
        let diagnostics =
            parse(Input { profile: Some(profile), ..input(GOOD) }, &catalog()).unwrap_err();
        let help =
            diagnostics.iter().next().and_then(|diagnostic| diagnostic.help.clone()).unwrap();
        (diagnostics.to_string(), help)
    };
    assert_eq!(
        error("smok"),
        ("--profile:1:1: there is no profile `smok`".into(), "did you mean `smoke`?".into())
    );
    assert_eq!(error("full").1, "profiles: `smoke`");
}

#[test]
fn a_campaign_that_would_never_end_is_refused() {
    let levels: Vec<String> = (1..=200).map(|rows| rows.to_string()).collect();
    let levels = levels.join(", ");
    let factors =
        format!("[factors]\n\"workload.rows\" = [{levels}]\n\"load.attempts_max\" = [{levels}]\n");
    let found = errors(&format!("{GOOD}{factors}"));
    assert_eq!(
        found,
        [
            "24:1: the factors have more than 10000 combinations [vary fewer factors, or fewer levels of each]"
        ]
    );
    let factors = format!("[factors]\n\"workload.rows\" = [{levels}]\n[design]\nblocks = 1000\n");
    let found = errors(&format!("{GOOD}{factors}"));
    assert_eq!(
        found,
        ["25:1: 800 configurations in 1000 blocks are more than 100000 trials [use fewer \
             levels, or fewer blocks]"]
    );
}

#[test]
fn a_file_that_is_something_else_gives_few_errors_and_soon() {
    let csv = "2026-01-01T00:00:00Z;some;columns;\"and text\"\n".repeat(20_000);
    assert_eq!(errors(&csv).len(), 20);
    let keys: String = (0..20_000).map(|i| format!("key{i} = {i}\n")).collect();
    assert_eq!(errors(&keys).len(), 100);
    let numbers: Vec<String> = (1..=20_000).map(|i| i.to_string()).collect();
    let found = errors(&GOOD.replace("[1, 8]", &format!("[{}]", numbers.join(","))));
    assert_eq!(found, ["17:11: `load.clients` has 20000 numbers; the maximum is 1000"]);
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_no_errors() {
    let text = format!("\u{feff}{}", GOOD.replace('\n', "\r\n"));
    assert_eq!(parse(input(&text), &catalog()).unwrap().1, good());
}

/// Whatever the text, parsing returns, and every error can be rendered.
fn survives(text: &str, argument: &str) {
    let overrides = [argument.to_owned()];
    if let Err(diagnostics) =
        parse(Input { overrides: &overrides, profile: Some("smoke"), ..input(text) }, &catalog())
    {
        assert!(!diagnostics.is_empty());
        assert!(diagnostics.render_plain().contains("error: "));
        assert_eq!(diagnostics.to_string().lines().count(), diagnostics.len());
    }
}

proptest! {
    #[test]
    fn random_text_never_panics(text in "\\PC{0,200}", argument in "\\PC{0,40}") {
        survives(&text, &argument);
    }

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        survives(&String::from_utf8_lossy(&bytes), "load.clients=1");
    }

    /// A valid spec with one piece replaced exercises more of the readers than random text.
    #[test]
    fn a_damaged_spec_never_panics(
        at in 0..GOOD.len(),
        length in 0..40_usize,
        piece in prop_oneof![
            "[\\[\\]{}\"'=.,#\n0-9a-z_ -]{0,20}",
            Just("[[system]]\n".to_owned()),
            Just("[profile.x.system]\n".to_owned()),
            Just("url = \"mysql://a:b@c/d?\"\n".to_owned()),
            Just("[factors]\nload.grace = [\"1s\", 2]\n".to_owned()),
        ],
        key in "(load|workload|system|design|title|factors|published)(\\.[a-zA-Z_\"]{1,8}){0,3}",
        value in "\\PC{0,20}",
    ) {
        let end = (at + length).min(GOOD.len());
        survives(&format!("{}{piece}{}", &GOOD[..at], &GOOD[end..]), &format!("{key}={value}"));
    }
}
