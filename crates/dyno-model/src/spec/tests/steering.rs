//! Systems that commands of the user's steer.

use super::super::parse;
use super::{GOOD, catalog, errors, input};
use crate::plan::SteeringPlan;
use crate::units::Nanos;

/// The spec with commands for the system that runs already, and its settings varied.
fn text(steering: &str) -> String {
    let [start, end] = GOOD.split("password_env").collect::<Vec<_>>()[..] else { panic!("one password") };
    let start = start
        .replace("server = { kind = \"sqlite\"", "server = { kind = \"mysql\"")
        .replace("journal_mode = \"WAL\", cache_size = -2000", "");
    format!(
        "{start}steering = {steering}\npassword_env{end}\n[factors]\n\"system.far.server.settings.max_connections\" = [100, 200]\n"
    )
}

#[test]
fn settings_can_be_varied_where_something_applies_them() {
    let read = |steering: &str| parse(input(&text(steering)), &catalog()).map(|(_, plan)| plan);
    let plan =
        read("{ apply = \"./apply\", restart = \"systemctl restart db\", time_limit = \"1m\" }").unwrap();
    let expected = SteeringPlan {
        apply: Some("./apply".to_owned()),
        restart: Some("systemctl restart db".to_owned()),
        time_limit: Nanos(60_000_000_000),
    };
    assert_eq!(plan.steering(1).map(|(_, steering)| steering), Some(&expected));
    assert_eq!(plan.steering(0), None);
    // Each level of the setting is a start of its own, and dyno's own server is one whatever it is.
    assert_eq!((plan.is_split(), plan.starts_per_block()), (true, 3));
    let other = read("{ apply = \"./apply\" }").unwrap();
    assert_eq!(other.steering(1).map(|(_, it)| it.time_limit), Some(Nanos(300_000_000_000)));
}

#[test]
fn a_system_that_nothing_gives_settings_to_is_told_how() {
    let found = |steering: &str| errors(&text(steering));
    let told = found("{ restart = \"systemctl restart db\" }");
    assert!(
        told[0].contains("settings of `far` cannot be varied") && told[0].contains("steering = { apply ="),
        "{told:?}"
    );
    assert!(
        found("{}").iter().any(|it| it.contains("`steering` names no command [add for example")),
        "{:?}",
        found("{}")
    );
    let own = GOOD.replace("server = {", "steering = { restart = \"true\" }\nserver = {");
    assert!(errors(&own)[0].contains("`steering` goes with `url`"), "{:?}", errors(&own));
}
