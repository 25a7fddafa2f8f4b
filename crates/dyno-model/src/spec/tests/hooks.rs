//! Tests of systems with the user's lifecycle commands.

use super::super::parse;
use super::{GOOD, catalog, errors, input};
use crate::plan::{ExclusivePlan, HooksPlan};
use crate::units::Nanos;

/// The spec with commands for the system that already runs, and with varied settings.
fn text(hooks: &str) -> String {
    let [start, end] = GOOD.split("password_env").collect::<Vec<_>>()[..] else {
        panic!("one password")
    };
    let start = start
        .replace("server = { kind = \"sqlite\"", "server = { kind = \"mysql\"")
        .replace("journal_mode = \"WAL\", cache_size = -2000", "");
    format!(
        "{start}hooks = {hooks}\npassword_env{end}\n[factors]\n\"system.far.server.settings.max_connections\" = [100, 200]\n"
    )
}

#[test]
fn settings_can_be_varied_where_something_applies_them() {
    let read = |hooks: &str| parse(input(&text(hooks)), &catalog()).map(|(_, plan)| plan);
    let plan =
        read("{ apply = \"./apply\", restart = \"systemctl restart db\", time_limit = \"1m\" }")
            .unwrap();
    let expected = HooksPlan {
        apply: Some("./apply".to_owned()),
        restart: Some("systemctl restart db".to_owned()),
        exclusive: None,
        time_limit: Nanos::from_secs(60),
    };
    assert_eq!(plan.hooks(1).map(|(_, hooks)| hooks), Some(&expected));
    assert_eq!(plan.hooks(0), None);
    // Each level of the setting needs a separate start; dyno's own server needs one start for all
    // levels.
    assert_eq!((plan.is_split(), plan.starts_per_block()), (true, 3));
    let other = read("{ apply = \"./apply\" }").unwrap();
    assert_eq!(other.hooks(1).map(|(_, it)| it.time_limit), Some(Nanos::from_secs(300)));
}

#[test]
fn systems_with_start_and_stop_hooks_run_exclusively() {
    let read = |hooks: &str| parse(input(&text(hooks)), &catalog()).map(|(_, plan)| plan);
    let plan = read("{ start = \"docker run -d db\", stop = \"docker rm -f db\" }").unwrap();
    let exclusive =
        ExclusivePlan { start: "docker run -d db".to_owned(), stop: "docker rm -f db".to_owned() };
    assert_eq!(plan.hooks(1).map(|(_, it)| it.exclusive.clone()), Some(Some(exclusive)));
    assert!(plan.is_exclusive(1) && !plan.is_exclusive(0));
    // Without levels of settings, systems still need an exclusive slot, but a single system does
    // not.
    let mut plan = plan;
    for configuration in &mut plan.configurations {
        configuration.variation.settings.clear();
    }
    assert!(plan.is_split());
    plan.configurations.retain(|configuration| configuration.system == 1);
    plan.systems.swap_remove(0);
    plan.configurations.iter_mut().for_each(|configuration| configuration.system = 0);
    assert!(!plan.is_split());
}

#[test]
fn start_and_stop_are_given_together_and_in_the_place_of_restart() {
    let found = |hooks: &str| errors(&text(hooks));
    let (start, stop) = ("start = \"docker start db\"", "stop = \"docker stop db\"");
    let reported = found(&format!("{{ {start} }}"));
    assert!(
        reported[0].contains("missing key `stop`") && reported[0].contains("docker rm --force"),
        "{reported:?}"
    );
    let reported = found(&format!("{{ {stop} }}"));
    assert!(
        reported[0].contains("missing key `start`") && reported[0].contains("docker run"),
        "{reported:?}"
    );
    let reported = found(&format!("{{ {start}, {stop}, restart = \"docker restart db\" }}"));
    assert!(
        reported[0].contains("`restart` cannot be combined with `start` and `stop`"),
        "{reported:?}"
    );
}

#[test]
fn settings_that_no_hook_applies_are_rejected_with_a_remedy() {
    let found = |hooks: &str| errors(&text(hooks));
    let reported = found("{ restart = \"systemctl restart db\" }");
    assert!(
        reported[0].contains("settings of `far` cannot be varied")
            && reported[0].contains("hooks = { apply ="),
        "{reported:?}"
    );
    assert!(
        found("{}").iter().any(|it| it.contains("`hooks` has no command [add for example")),
        "{:?}",
        found("{}")
    );
    let own = GOOD.replace("server = {", "hooks = { restart = \"true\" }\nserver = {");
    assert!(errors(&own)[0].contains("`hooks` requires `url`"), "{:?}", errors(&own));
}
