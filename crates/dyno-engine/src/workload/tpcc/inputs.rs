//! What users enter: the non-uniform numbers, names and amounts of a transaction (clauses 2.1.6,
//! 2.4.1 to 2.8.1).

use super::size::{DISTRICTS, Size};
use crate::random::{Random, Stream};

/// Most lines of an order.
pub(super) const LINES_MAX: usize = 15;
const LINES_MIN: usize = 5;
/// Percentages: lines from another warehouse, payments of customers of another warehouse, customers
/// that are given by their last name.
const REMOTE_LINES: u64 = 1;
const REMOTE_PAYMENTS: u64 = 15;
const BY_NAME: u64 = 60;
/// The parameters A of NURand for last names, customers and items (clause 2.1.6).
const A_NAME: i64 = 255;
const A_CUSTOMER: i64 = 1_023;
const A_ITEM: i64 = 8_191;

const SYLLABLES: [&str; 10] =
    ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

/// A last name, made of the three digits of its number (clause 4.3.2.3).
pub(super) fn last_name(number: i64, out: &mut String) {
    out.clear();
    for digit in [number / 100, number / 10 % 10, number % 10] {
        out.push_str(SYLLABLES[digit as usize]);
    }
}

/// The constants C of NURand (clause 2.1.6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Constants {
    /// For the last names of customers while the tables are loaded.
    name_load: i64,
    /// For last names while transactions run: between 65 and 119 away, but neither 96 nor 112.
    name_run: i64,
    customer: i64,
    item: i64,
}

impl Constants {
    /// Those of a seed: all trials of an experiment have the same.
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed, Stream::Data, u64::MAX, 1);
        let name_load = random.between(0, A_NAME);
        let name_run = loop {
            let drawn = random.between(0, A_NAME);
            if is_valid_delta((drawn - name_load).abs()) {
                break drawn;
            }
        };
        let (customer, item) = (random.between(0, A_CUSTOMER), random.between(0, A_ITEM));
        Self { name_load, name_run, customer, item }
    }
}

fn is_valid_delta(delta: i64) -> bool {
    (65..=119).contains(&delta) && delta != 96 && delta != 112
}

/// Non-uniform in low..=high.
fn non_uniform(random: &mut Random, a: i64, c: i64, low: i64, high: i64) -> i64 {
    let drawn = random.between(0, a) | random.between(low, high);
    (drawn + c) % (high - low + 1) + low
}

/// Uniform, one of so many per cent.
fn is_drawn(random: &mut Random, per_cent: u64) -> bool {
    random.below(100) < per_cent
}

/// How a customer is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Customer {
    Number(i64),
    /// The number of the last name.
    Name(i64),
}

/// A line of a new order.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Line {
    pub(super) item: i64,
    /// The warehouse that supplies it.
    pub(super) supply: i64,
    pub(super) quantity: i64,
}

#[derive(Debug)]
pub(super) struct NewOrder {
    pub(super) warehouse: i64,
    pub(super) district: i64,
    pub(super) customer: i64,
    lines: [Line; LINES_MAX],
    count: usize,
}

impl NewOrder {
    pub(super) fn lines(&self) -> &[Line] {
        &self.lines[..self.count]
    }
}

#[derive(Debug)]
pub(super) struct Payment {
    pub(super) warehouse: i64,
    pub(super) district: i64,
    pub(super) customer_warehouse: i64,
    pub(super) customer_district: i64,
    pub(super) customer: Customer,
    /// Cents.
    pub(super) amount: i64,
}

#[derive(Debug)]
pub(super) struct OrderStatus {
    pub(super) district: i64,
    pub(super) customer: Customer,
}

/// The input of a transaction.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time, on the stack")]
pub(super) enum Input {
    NewOrder(NewOrder),
    Payment(Payment),
    /// With the warehouse.
    OrderStatus(i64, OrderStatus),
    /// Warehouse and carrier.
    Delivery(i64, i64),
    /// Warehouse, district and threshold.
    StockLevel(i64, i64, i64),
}

/// Draws the inputs of transactions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Inputs {
    size: Size,
    constants: Constants,
}

impl Inputs {
    pub(super) fn new(size: Size, constants: Constants) -> Self {
        Self { size, constants }
    }

    /// `is_mistyped`: its last item does not exist.
    pub(super) fn new_order(
        &self,
        random: &mut Random,
        warehouse: i64,
        is_mistyped: bool,
    ) -> NewOrder {
        let district = random.between(1, DISTRICTS);
        let customer = self.customer_number(random);
        let count = random.between(LINES_MIN as i64, LINES_MAX as i64) as usize;
        let mut lines = [Line::default(); LINES_MAX];
        for line in &mut lines[..count] {
            line.item = non_uniform(random, A_ITEM, self.constants.item, 1, self.size.items);
            let is_remote = is_drawn(random, REMOTE_LINES);
            line.supply = if is_remote { self.other(random, warehouse) } else { warehouse };
            line.quantity = random.between(1, 10);
        }
        if is_mistyped {
            lines[count - 1].item = self.size.items + 1;
        }
        NewOrder { warehouse, district, customer, lines, count }
    }

    pub(super) fn payment(&self, random: &mut Random, warehouse: i64) -> Payment {
        let district = random.between(1, DISTRICTS);
        let (customer_warehouse, customer_district) = match is_drawn(random, REMOTE_PAYMENTS) {
            false => (warehouse, district),
            true => (self.other(random, warehouse), random.between(1, DISTRICTS)),
        };
        let customer = self.customer(random);
        let amount = random.between(100, 500_000);
        Payment { warehouse, district, customer_warehouse, customer_district, customer, amount }
    }

    pub(super) fn order_status(&self, random: &mut Random) -> OrderStatus {
        let district = random.between(1, DISTRICTS);
        OrderStatus { district, customer: self.customer(random) }
    }

    /// Another warehouse, if there is one.
    fn other(&self, random: &mut Random, warehouse: i64) -> i64 {
        if self.size.warehouses == 1 {
            return warehouse;
        }
        let drawn = random.between(1, self.size.warehouses - 1);
        if drawn < warehouse { drawn } else { drawn + 1 }
    }

    fn customer(&self, random: &mut Random) -> Customer {
        match is_drawn(random, BY_NAME) {
            true => Customer::Name(self.name_number(random, self.constants.name_run)),
            false => Customer::Number(self.customer_number(random)),
        }
    }

    fn customer_number(&self, random: &mut Random) -> i64 {
        non_uniform(random, A_CUSTOMER, self.constants.customer, 1, self.size.customers)
    }

    fn name_number(&self, random: &mut Random, c: i64) -> i64 {
        non_uniform(random, A_NAME, c, 0, self.size.names() - 1)
    }

    /// The number of the last name of a customer as it is loaded: the first customers have each
    /// name once (clause 4.3.3.1).
    pub(super) fn loaded_name(&self, random: &mut Random, customer: i64) -> i64 {
        match customer <= self.size.names() {
            true => customer - 1,
            false => self.name_number(random, self.constants.name_load),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::workload::tpcc::size;

    /// Pearson's statistic of counts against probabilities.
    pub(in crate::workload::tpcc) fn chi_square(counts: &[u64], shares: &[f64]) -> f64 {
        let all = counts.iter().sum::<u64>() as f64;
        let term = |(count, share): (&u64, &f64)| {
            let expected = all * share;
            (*count as f64 - expected).powi(2) / expected
        };
        counts.iter().zip(shares).map(term).sum()
    }

    fn inputs(warehouses: i64) -> Inputs {
        let size = Size { warehouses, ..size::STANDARD };
        Inputs::new(size, Constants::new(1))
    }

    fn draws(count: u64) -> impl Iterator<Item = Random> {
        (0..count).map(|number| Random::new(5, Stream::Transaction, 2, number))
    }

    /// Probability of each value of `rand(0, A) | rand(low, high)`, then shifted by C.
    fn shares(a: i64, c: i64, low: i64, high: i64) -> Vec<f64> {
        let range = high - low + 1;
        let mut counts = vec![0_u64; range as usize];
        for left in 0..=a {
            for right in low..=high {
                counts[(((left | right) + c) % range) as usize] += 1;
            }
        }
        counts.into_iter().map(|it| it as f64 / ((a + 1) * range) as f64).collect()
    }

    /// Adds up neighbours until 5 are expected, as the test requires, and compares with the 99.9 %
    /// quantile in Wilson and Hilferty's approximation.
    fn assert_fits(counts: &[u64], shares: &[f64]) {
        let all = counts.iter().sum::<u64>() as f64;
        let (mut grouped, mut probabilities) = (vec![0], vec![0.0]);
        for (count, share) in counts.iter().zip(shares) {
            let last = grouped.len() - 1;
            grouped[last] += count;
            probabilities[last] += share;
            if probabilities[last] * all >= 5.0 {
                grouped.push(0);
                probabilities.push(0.0);
            }
        }
        if let (Some(count), Some(share)) = (grouped.pop(), probabilities.pop()) {
            let last = grouped.len() - 1;
            grouped[last] += count;
            probabilities[last] += share;
        }
        let degrees = (grouped.len() - 1) as f64;
        let ninth = 2.0 / (9.0 * degrees);
        let limit = degrees * (1.0 - ninth + 3.09 * ninth.sqrt()).powi(3);
        let chi = chi_square(&grouped, &probabilities);
        assert!(chi < limit, "chi-square {chi}, limit {limit}, {degrees} degrees of freedom");
    }

    #[test]
    fn customers_and_names_are_drawn_as_the_formula_says_by_chi_square() {
        let inputs = inputs(10);
        let (mut customers, mut names) = (vec![0; 3_000], vec![0; 1_000]);
        for mut random in draws(300_000) {
            customers[inputs.customer_number(&mut random) as usize - 1] += 1;
            names[inputs.name_number(&mut random, inputs.constants.name_run) as usize] += 1;
        }
        let Constants { customer, name_run, .. } = inputs.constants;
        assert_fits(&customers, &shares(A_CUSTOMER, customer, 1, 3_000));
        assert_fits(&names, &shares(A_NAME, name_run, 0, 999));
        // The formula matters: uniform numbers do not fit it.
        let uniform = vec![1.0 / 3_000.0; 3_000];
        assert!(chi_square(&customers, &uniform) > 10_000.0);
    }

    #[test]
    fn items_are_drawn_as_the_formula_says_by_chi_square() {
        // All pairs of 8,192 and 100,000 numbers would take a minute without optimisation; the
        // share of each value of the lowest 13 bits follows from the bits alone, except for the
        // range's end.
        let size = Size { items: 8_192, ..size::STANDARD };
        let inputs = Inputs::new(size, Constants::new(1));
        let mut bits = [0_u64; 13];
        let mut lines = 0;
        for mut random in draws(100_000) {
            for line in inputs.new_order(&mut random, 1, false).lines() {
                // Undo the shift: what remains is the OR of two uniform numbers.
                let or = (line.item - 1 - inputs.constants.item).rem_euclid(8_192);
                bits.iter_mut().enumerate().for_each(|(bit, count)| {
                    *count += ((or >> bit) & 1) as u64;
                });
                lines += 1;
            }
        }
        for count in bits {
            let chi = chi_square(&[count, lines - count], &[0.75, 0.25]);
            // 99.9 % quantile with one degree of freedom, for thirteen bits.
            assert!(chi < 15.5, "chi-square {chi}: {count} of {lines}");
        }
    }

    #[test]
    fn constants_of_load_and_run_are_as_far_apart_as_the_standard_demands() {
        for seed in 0..2_000 {
            let Constants { name_load, name_run, customer, item } = Constants::new(seed);
            let delta = (name_load - name_run).abs();
            assert!((65..=119).contains(&delta) && ![96, 112].contains(&delta), "{delta}");
            assert!((0..=255).contains(&name_load) && (0..=255).contains(&name_run));
            assert!((0..=1_023).contains(&customer) && (0..=8_191).contains(&item));
        }
        assert_ne!(Constants::new(1), Constants::new(2));
    }

    #[test]
    fn orders_have_the_standards_lines_and_remote_supplies() {
        let inputs = inputs(5);
        let (mut counts, mut supplies, mut quantities) = ([0; 11], [0; 5], [0; 10]);
        let mut districts = [0; 10];
        for mut random in draws(100_000) {
            let order = inputs.new_order(&mut random, 3, false);
            counts[order.lines().len() - 5] += 1;
            districts[order.district as usize - 1] += 1;
            for line in order.lines() {
                supplies[line.supply as usize - 1] += 1;
                quantities[line.quantity as usize - 1] += 1;
            }
        }
        assert_fits(&counts, &[1.0 / 11.0; 11]);
        assert_fits(&districts, &[0.1; 10]);
        assert_fits(&quantities, &[0.1; 10]);
        assert_fits(&supplies, &[0.002_5, 0.002_5, 0.99, 0.002_5, 0.002_5]);
        let mut random = Random::new(5, Stream::Transaction, 2, 0);
        let mistyped = inputs.new_order(&mut random, 3, true);
        let items: Vec<i64> = mistyped.lines().iter().map(|line| line.item).collect();
        assert_eq!(items.iter().filter(|item| **item > 100_000).count(), 1);
        assert_eq!(items.last(), Some(&100_001));
    }

    #[test]
    fn payments_are_remote_and_by_name_as_often_as_the_standard_says() {
        let inputs = inputs(5);
        let (mut warehouses, mut by_name) = ([0; 5], [0; 2]);
        for mut random in draws(100_000) {
            let payment = inputs.payment(&mut random, 2);
            warehouses[payment.customer_warehouse as usize - 1] += 1;
            by_name[usize::from(matches!(payment.customer, Customer::Name(_)))] += 1;
            assert!((100..=500_000).contains(&payment.amount));
            let is_home = payment.customer_warehouse == payment.warehouse;
            assert!(!is_home || payment.customer_district == payment.district);
        }
        assert_fits(&warehouses, &[0.037_5, 0.85, 0.037_5, 0.037_5, 0.037_5]);
        assert_fits(&by_name, &[0.4, 0.6]);
        // Nothing is remote where there is nothing else.
        let alone = self::inputs(1);
        for mut random in draws(1_000) {
            assert_eq!(alone.payment(&mut random, 1).customer_warehouse, 1);
        }
    }

    #[test]
    fn last_names_are_made_of_syllables() {
        let rows = [(0, "BARBARBAR"), (371, "PRICALLYOUGHT"), (999, "EINGEINGEING")];
        let mut name = String::new();
        for (number, expected) in rows {
            last_name(number, &mut name);
            assert_eq!(name, expected);
        }
    }
}
