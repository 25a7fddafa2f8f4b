use super::*;

/// Results of R's lme4 and lmerTest, from `reference.R` in this folder.
const REFERENCE: &str = include_str!("reference.csv");

/// Fields of the lines of one kind and data set.
fn lines(kind: &str, set: &str) -> Vec<Vec<&'static str>> {
    let fields = REFERENCE.lines().map(|line| line.split(',').collect::<Vec<_>>());
    fields.filter(|it| it[0] == kind && it[1] == set).map(|it| it[2..].to_vec()).collect()
}

fn number(text: &str) -> f64 {
    text.parse().expect("a number")
}

fn weights(text: &str) -> Vec<f64> {
    text.split(' ').map(number).collect()
}

fn rows(set: &str) -> Vec<Row> {
    let index = |text: &str| text.parse().expect("an index");
    let row = |it: Vec<&str>| Row {
        value: number(it[0]),
        cell: index(it[1]),
        groups: vec![index(it[2]), index(it[3])],
    };
    lines("row", set).into_iter().map(row).collect()
}

/// Agreement in four digits, plus a tolerance for R's optimiser, which stops near the maximum.
fn agree(what: &str, value: f64, expected: &str) {
    let expected = number(expected);
    assert!(
        (value - expected).abs() <= 5e-5 * expected.abs().max(1e-12),
        "{what}: {value} against {expected}"
    );
}

fn agrees_with_r(set: &str) {
    let fit = fit(&rows(set), Components::Bounded).expect("a fit");
    for (value, expected) in fit.variances().iter().zip(&lines("variance", set)[0]) {
        agree("variance", *value, expected);
    }
    for line in lines("contrast", set) {
        let found = fit.contrast(&weights(line[0])).expect("an estimate");
        agree("estimate", found.estimate, line[1]);
        agree("error", found.error, line[2]);
        agree("degrees", found.degrees, line[3]);
        agree("p", found.p(), line[4]);
    }
    for line in lines("joint", set) {
        let contrasts: Vec<Vec<f64>> = line[0].split(';').map(weights).collect();
        let found = fit.joint(&contrasts).expect("a test");
        agree("F", found.f, line[1]);
        agree("numerator", found.numerator, line[2]);
        agree("denominator", found.denominator, line[3]);
        agree("p", found.p(), line[4]);
    }
}

#[test]
fn a_balanced_split_plot_is_what_r_says() {
    agrees_with_r("balanced");
}

#[test]
fn missing_trials_are_what_r_says() {
    agrees_with_r("missing");
}

#[test]
fn a_variance_at_its_bound_of_zero_is_what_r_says() {
    agrees_with_r("bound");
    let bounded = fit(&rows("bound"), Components::Bounded).expect("a fit");
    assert!(bounded.variances()[1].abs() < 1e-12, "{:?}", bounded.variances());
}

#[test]
fn unconstrained_variance_keeps_classical_degrees_of_freedom() {
    // Three blocks with two starts each: (3 - 1) (2 - 1) degrees between starts, 2 · (3 - 1) · (3 -
    // 1) inside.
    let free = fit(&rows("bound"), Components::Free).expect("a fit");
    assert!(free.variances()[1] < 0.0, "{:?}", free.variances());
    let third = 1.0 / 3.0;
    let between =
        free.contrast(&[-third, -third, -third, third, third, third]).expect("an estimate");
    let inside = free.contrast(&[-0.5, 0.0, 0.5, -0.5, 0.0, 0.5]).expect("an estimate");
    assert!(
        (between.degrees - 2.0).abs() < 1e-6 && (inside.degrees - 8.0).abs() < 1e-6,
        "{between:?} {inside:?}"
    );
    // By hand: the difference between settings has one value per block, the mean of its three
    // trials.
    let mean = |block: usize, setting: usize| {
        let is_meant = |row: &&Row| row.groups[0] == block && row.cell / 3 == setting;
        rows("bound").iter().filter(is_meant).map(|row| row.value).sum::<f64>() / 3.0
    };
    let differences: Vec<f64> = (0..3).map(|block| mean(block, 1) - mean(block, 0)).collect();
    let by_hand = super::super::student::variance(&differences).expect("three") / 3.0;
    assert!((between.error - by_hand.sqrt()).abs() < 1e-9, "{} {}", between.error, by_hand.sqrt());
}

#[test]
fn components_of_a_contrasts_variance_add_up_in_balanced_data() {
    let fit = fit(&rows("balanced"), Components::Bounded).expect("a fit");
    for line in lines("contrast", "balanced") {
        let weights = weights(line[0]);
        let found = fit.contrast(&weights).expect("an estimate");
        let sum: f64 = fit.variance_components(&weights).iter().sum();
        // Variation shared by whole blocks contributes only if the weights do not cancel.
        assert!((sum - found.error.powi(2)).abs() < 1e-9 * sum, "{sum} {found:?}");
    }
}

#[test]
fn values_without_scatter_or_too_few_of_them_have_no_fit() {
    let row = |value, cell, block| Row { value, cell, groups: vec![block] };
    let still = [row(1.0, 0, 0), row(2.0, 1, 0), row(1.0, 0, 1), row(2.0, 1, 1)];
    assert!(fit(&still, Components::Free).is_none());
    assert!(fit(&still[..2], Components::Free).is_none());
    assert!(fit(&[], Components::Free).is_none());
}

#[test]
fn effects_with_missing_values_keep_block_degrees_of_freedom() {
    let mut noise = super::super::noise::Noise::of(29);
    let (mut few, mut reported, mut questions, mut larger) = (0, 0_u32, 0_u32, [0; 2]);
    for _ in 0..600 {
        // Two settings in four cells, three blocks, a start of each setting in a block; a fifth of
        // the values is missing.
        let mut rows = Vec::new();
        for cell in 0..8 {
            for block in 0..3 {
                if noise.normal() < 0.84 {
                    let groups = vec![block, 2 * block + cell % 2];
                    rows.push(Row { value: noise.normal(), cell, groups });
                }
            }
        }
        if !(0..8).all(|cell| rows.iter().any(|row| row.cell == cell)) {
            continue;
        }
        let weights: Vec<f64> =
            (0..8).map(|cell| if cell % 2 == 1 { 0.25 } else { -0.25 }).collect();
        let Some(free) = fit(&rows, Components::Free) else { continue };
        few += usize::from(free.contrast(&weights).is_none_or(|it| it.degrees < 1.0));
        let Some(found) = effect(&rows, &weights, &[], 2.0) else { continue };
        assert!(found.contrast.degrees >= 1.99, "{:?}", found.contrast);
        questions += 1;
        reported += u32::from(found.contrast.p() < 0.05);
        // Too few degrees of freedom: those of the blocks apply, with the larger error of both
        // fits.
        let Some(free) = free.contrast(&weights).filter(|it| it.degrees <= 0.999 * 2.0) else {
            continue;
        };
        let bounded =
            fit(&rows, Components::Bounded).and_then(|it| it.contrast(&weights)).expect("a fit");
        let expected = Contrast { error: free.error.max(bounded.error), degrees: 2.0, ..bounded };
        assert_eq!((found.contrast, found.share), (expected, 1.0));
        larger[usize::from(bounded.error > free.error)] += 1;
    }
    assert!(few > 0, "none had too few before");
    assert!(
        larger.iter().all(|it| *it > 0),
        "the free error is larger, and the bounded one: {larger:?}"
    );
    // 5 % plus three standard deviations.
    assert!(
        f64::from(reported)
            < 0.05 * f64::from(questions) + 3.0 * (0.0475 * f64::from(questions)).sqrt(),
        "{reported} of {questions}"
    );
}
