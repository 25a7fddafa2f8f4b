//! Tests of profiles that change one thing.

use super::{SETTINGS, catalog, input};
use crate::plan::{Plan, SystemSource};
use crate::spec::{Input, parse};

#[test]
fn a_profile_changes_one_setting_of_one_system_and_leaves_the_rest() {
    let read = |profile: &str| {
        let text = format!("{SETTINGS}\n{profile}");
        parse(Input { profile: Some("small"), ..input(&text) }, &catalog()).map(|(_, plan)| plan)
    };
    let plan =
        read("[profile.small.system.\"M 1.5\".server.settings]\nmax_connections = 77\n").unwrap();
    let whole = parse(input(SETTINGS), &catalog()).unwrap().1;
    let settings = |plan: &Plan, system: usize| match &plan.systems[system].source {
        SystemSource::Managed(server) => server.settings.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(plan.systems.len(), whole.systems.len());
    let mut expected = settings(&whole, 0);
    expected.insert("max_connections".to_owned(), "77".to_owned());
    assert_eq!(settings(&plan, 0), expected);
    assert_eq!(settings(&plan, 1), settings(&whole, 1));
    let refused = read("[profile.small.system.N]\nquery_mode = \"simple\"\n").unwrap_err();
    assert!(refused.iter().any(|it| it.message == "no system is called `N`"), "{refused:?}");
}
