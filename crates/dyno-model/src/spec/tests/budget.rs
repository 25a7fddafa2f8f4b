//! Tests of the budget, with which the number of blocks depends on the data.

use super::super::{estimate, parse};
use super::{GOOD, catalog, errors, input};
use crate::units::Nanos;

#[test]
fn blocks_until_it_is_decided_are_as_many_as_the_budget_will_hold() {
    let text =
        |design: &str| format!("{}\n[design]\n{design}\n", GOOD.split("[profile").next().unwrap());
    let plan = |design: &str| parse(input(&text(design)), &catalog()).map(|(_, plan)| plan);
    let of = |budget: &str| plan(&format!("blocks = \"auto\"\nbudget = \"{budget}\"")).unwrap();
    let each = estimate::block(&of("1s")).likely.0;
    assert_eq!(
        (of("1s").blocks, of("1s").budget),
        (3, Some(Nanos::from_secs(1))),
        "verdicts need three"
    );
    assert_eq!(of("2400h").blocks, 50);
    let twelve = of(&format!("{}ms", each * 12 / 1_000_000 + 1));
    assert_eq!((twelve.blocks, twelve.trials.len()), (12, 12 * twelve.configurations.len()));
    let fixed = plan("blocks = 4\nbudget = \"1h\"").unwrap();
    assert_eq!((fixed.blocks, fixed.budget), (4, None));
    assert!(
        errors(&text("blocks = \"auto\""))[0]
            .contains("without a budget [add the maximum time of the run: `budget = ")
    );
}
