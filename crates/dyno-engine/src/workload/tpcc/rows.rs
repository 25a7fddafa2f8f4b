//! The rows that the tables are loaded with (clause 4.3.3.1).

use super::decimal::Decimal;
use super::inputs::{Inputs, last_name};
use super::schema::{
    CUSTOMER, DISTRICT, HISTORY, ITEM, NEW_ORDER, ORDER_LINE, ORDERS, STOCK, WAREHOUSE,
};
use super::size::{DISTRICTS, Size};
use crate::random::{ALPHANUMERIC, Random, Stream};
use dyno_drivers::RowWriter;

/// When everything was loaded, whatever the clock says: rows follow from the seed alone.
const LOADED_AT: &str = "2026-01-01 00:00:00";
/// Two neighbouring orders have so many lines together: between 5 and 15 each, uniformly, and the
/// line with a given number can be found without those before it.
const LINES_OF_TWO: u64 = 20;
/// Payments of each customer before the trial, in cents.
const PAID: i64 = 1_000;

const LETTERS: &[u8] = ALPHANUMERIC.split_at(36).0.split_at(10).1;
const DIGITS: &[u8] = ALPHANUMERIC.split_at(10).0;
/// Longest text of a column.
const TEXT_MAX: usize = 500;

/// Makes the rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct TableRows {
    pub(super) size: Size,
    pub(super) inputs: Inputs,
    pub(super) seed: u64,
}

/// A place in the tables that have rows for each district: from 1, as the columns have it.
struct DistrictRow {
    warehouse: i64,
    district: i64,
    order_number: i64,
}

/// Writes the fields of a row, and draws what is random in them.
struct Fields<'a> {
    random: Random,
    out: &'a mut dyn RowWriter,
}

impl Fields<'_> {
    fn integer(&mut self, value: i64) {
        self.out.integer(value);
    }

    fn text(&mut self, text: &str) {
        self.out.text(text);
    }

    fn cents(&mut self, amount: i64) {
        self.text(Decimal::cents(amount).as_str());
    }

    /// A rate between 0 and a number of ten-thousandths.
    fn rate(&mut self, high: i64) {
        let rate = self.random.between(0, high);
        self.text(Decimal::scaled(rate, 4).as_str());
    }

    fn drawn(&mut self, low: i64, high: i64) {
        let value = self.random.between(low, high);
        self.integer(value);
    }

    /// So many random characters.
    fn characters(&mut self, low: i64, high: i64) {
        let length = self.random.between(low, high) as usize;
        let mut text = [0; TEXT_MAX];
        self.random.characters(ALPHANUMERIC, &mut text[..length]);
        self.out.text(ascii(&text[..length]));
    }

    /// 26 to 50 of them, one in ten with `ORIGINAL` somewhere inside.
    fn data(&mut self) {
        const MARK: &[u8] = b"ORIGINAL";
        let length = self.random.between(26, 50) as usize;
        let mut text = [0; 50];
        self.random.characters(ALPHANUMERIC, &mut text[..length]);
        if self.random.below(10) == 0 {
            let at = self.random.below((length - MARK.len() + 1) as u64) as usize;
            text[at..at + MARK.len()].copy_from_slice(MARK);
        }
        self.out.text(ascii(&text[..length]));
    }

    /// Two streets, a city, a state and a postal code.
    fn address(&mut self) {
        (0..3).for_each(|_| self.characters(10, 20));
        let mut state = [0; 2];
        self.random.characters(LETTERS, &mut state);
        self.out.text(ascii(&state));
        let mut zip = *b"000011111";
        self.random.characters(DIGITS, &mut zip[..4]);
        self.out.text(ascii(&zip));
    }
}

/// Fills with characters, each uniform: a 64-bit fraction has more than ten of them.
fn ascii(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the alphabets are ASCII")
}

impl TableRows {
    pub(super) fn write(&self, table: usize, row: u64, out: &mut dyn RowWriter) {
        let random = Random::new(self.seed, Stream::Data, table as u64, row);
        let mut fields = Fields { random, out };
        match table {
            ORDER_LINE => self.order_line(row, &mut fields),
            NEW_ORDER => self.new_order(row, &mut fields),
            HISTORY => self.history(row, &mut fields),
            ORDERS => self.order(row, &mut fields),
            STOCK => self.stock(row, &mut fields),
            CUSTOMER => self.customer(row, &mut fields),
            DISTRICT => self.district(row, &mut fields),
            WAREHOUSE => self.warehouse(row, &mut fields),
            ITEM => item(row, &mut fields),
            _ => unreachable!("there are nine tables"),
        }
    }

    /// The place of a row in a table with so many rows for each district.
    fn district_row(row: u64, per_district: i64) -> DistrictRow {
        let (district, order_number) = (row as i64 / per_district, row as i64 % per_district + 1);
        DistrictRow {
            warehouse: district / DISTRICTS + 1,
            district: district % DISTRICTS + 1,
            order_number,
        }
    }

    fn warehouse(&self, row: u64, fields: &mut Fields<'_>) {
        fields.integer(row as i64 + 1);
        fields.characters(6, 10);
        fields.address();
        fields.rate(2_000);
        fields.cents(DISTRICTS * self.size.customers * PAID);
    }

    fn district(&self, row: u64, fields: &mut Fields<'_>) {
        let DistrictRow { warehouse, district, .. } = Self::district_row(row, 1);
        fields.integer(district);
        fields.integer(warehouse);
        fields.characters(6, 10);
        fields.address();
        fields.rate(2_000);
        fields.cents(self.size.customers * PAID);
        fields.integer(self.size.customers + 1);
    }

    fn customer(&self, row: u64, fields: &mut Fields<'_>) {
        let DistrictRow { warehouse, district, order_number } =
            Self::district_row(row, self.size.customers);
        fields.integer(order_number);
        fields.integer(district);
        fields.integer(warehouse);
        fields.characters(8, 16);
        fields.text("OE");
        let mut name = String::new();
        last_name(self.inputs.loaded_name(&mut fields.random, order_number), &mut name);
        fields.text(&name);
        fields.address();
        let mut phone = [0; 16];
        fields.random.characters(DIGITS, &mut phone);
        fields.text(ascii(&phone));
        fields.text(LOADED_AT);
        let is_bad = fields.random.below(10) == 0;
        fields.text(if is_bad { "BC" } else { "GC" });
        fields.cents(5_000_000);
        fields.rate(5_000);
        fields.cents(-PAID);
        fields.cents(PAID);
        fields.integer(1);
        fields.integer(0);
        fields.characters(300, 500);
    }

    fn history(&self, row: u64, fields: &mut Fields<'_>) {
        let DistrictRow { warehouse, district, order_number } =
            Self::district_row(row, self.size.customers);
        for value in [order_number, district, warehouse, district, warehouse] {
            fields.integer(value);
        }
        fields.text(LOADED_AT);
        fields.cents(PAID);
        fields.characters(12, 24);
    }

    fn order(&self, row: u64, fields: &mut Fields<'_>) {
        let DistrictRow { warehouse, district, order_number } =
            Self::district_row(row, self.size.customers);
        fields.integer(order_number);
        fields.integer(district);
        fields.integer(warehouse);
        let key = Random::new(self.seed, Stream::Data, u64::MAX, row / self.size.customers as u64);
        fields.integer(permuted(order_number - 1, self.size.customers, key) + 1);
        fields.text(LOADED_AT);
        match order_number <= self.size.delivered() {
            true => fields.drawn(1, 10),
            false => fields.out.null(),
        }
        fields.integer(self.lines(row) as i64);
        fields.integer(1);
    }

    /// How many lines the first of two orders has.
    fn lines_of_first(&self, pair: u64) -> u64 {
        5 + Random::new(self.seed, Stream::Data, u64::MAX - 1, pair).below(11)
    }

    /// How many lines an order has.
    fn lines(&self, order: u64) -> u64 {
        let first = self.lines_of_first(order / 2);
        if order.is_multiple_of(2) { first } else { LINES_OF_TWO - first }
    }

    fn order_line(&self, row: u64, fields: &mut Fields<'_>) {
        let (pair, line) = (row / LINES_OF_TWO, row % LINES_OF_TWO);
        let first = self.lines_of_first(pair);
        let (order, line) =
            if line < first { (2 * pair, line) } else { (2 * pair + 1, line - first) };
        let DistrictRow { warehouse, district, order_number } =
            Self::district_row(order, self.size.customers);
        fields.integer(order_number);
        fields.integer(district);
        fields.integer(warehouse);
        fields.integer(line as i64 + 1);
        fields.drawn(1, self.size.items);
        fields.integer(warehouse);
        let is_delivered = order_number <= self.size.delivered();
        match is_delivered {
            true => fields.text(LOADED_AT),
            false => fields.out.null(),
        }
        fields.integer(5);
        let amount = if is_delivered { 0 } else { fields.random.between(1, 999_999) };
        fields.cents(amount);
        fields.characters(24, 24);
    }

    fn new_order(&self, row: u64, fields: &mut Fields<'_>) {
        let delivered = self.size.delivered();
        let DistrictRow { warehouse, district, order_number } =
            Self::district_row(row, self.size.customers - delivered);
        fields.integer(delivered + order_number);
        fields.integer(district);
        fields.integer(warehouse);
    }

    fn stock(&self, row: u64, fields: &mut Fields<'_>) {
        let items = self.size.items;
        fields.integer(row as i64 % items + 1);
        fields.integer(row as i64 / items + 1);
        fields.drawn(10, 100);
        (0..DISTRICTS).for_each(|_| fields.characters(24, 24));
        (0..3).for_each(|_| fields.integer(0));
        fields.data();
    }
}

fn item(row: u64, fields: &mut Fields<'_>) {
    fields.integer(row as i64 + 1);
    fields.drawn(1, 10_000);
    fields.characters(14, 24);
    let price = fields.random.between(100, 10_000);
    fields.cents(price);
    fields.data();
}

/// A number's image in a random permutation of 0..count: a Feistel network on the next power of
/// four, repeated until the result is in range (cycle walking; Black and Rogaway 2002).
fn permuted(number: i64, count: i64, mut key: Random) -> i64 {
    let keys: [u64; 4] = std::array::from_fn(|_| key.next_u64());
    let bits = (64 - (count as u64 - 1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1_u64 << bits) - 1;
    let mut value = number as u64;
    loop {
        for key in keys {
            let (left, right) = (value >> bits, value & mask);
            let round = dyno_model::random::mix(right ^ key) & mask;
            value = right << bits | left ^ round;
        }
        if value < count as u64 {
            return value as i64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::tpcc::inputs::Constants;
    use crate::workload::tpcc::inputs::tests::chi_square;
    use crate::workload::tpcc::size::STANDARD;

    #[derive(Default)]
    struct Kept(Vec<Option<String>>);

    impl RowWriter for Kept {
        fn integer(&mut self, value: i64) {
            self.0.push(Some(value.to_string()));
        }

        fn text(&mut self, value: &str) {
            self.0.push(Some(value.to_owned()));
        }

        fn null(&mut self) {
            self.0.push(None);
        }
    }

    fn rows() -> TableRows {
        let size = Size { warehouses: 2, ..STANDARD };
        TableRows { size, inputs: Inputs::new(size, Constants::new(1)), seed: 1 }
    }

    fn fields(table: usize, row: u64) -> Vec<Option<String>> {
        let mut collected = Kept::default();
        rows().write(table, row, &mut collected);
        collected.0
    }

    fn parse_number(field: &Option<String>) -> i64 {
        field.as_ref().expect("it is not null").parse().expect("it is a number")
    }

    #[test]
    fn every_order_has_its_lines_and_orders_have_5_to_15_uniformly() {
        let mut counts = [0; 11];
        let mut row = 0;
        for order in 0..4_000 {
            let fields_of_order = fields(ORDERS, order);
            let lines = parse_number(&fields_of_order[6]);
            counts[lines as usize - 5] += 1;
            for line in 1..=lines {
                let of_line = fields(ORDER_LINE, row);
                assert_eq!(of_line[..3], fields_of_order[..3], "order {order}, line {line}");
                assert_eq!(parse_number(&of_line[3]), line);
                assert_eq!(of_line[6].is_some(), fields_of_order[5].is_some(), "delivered");
                row += 1;
            }
        }
        assert_eq!(row, 40_000);
        // 99.9 % quantile with 10 degrees of freedom; pairs vary less than independent orders.
        let chi = chi_square(&counts, &[1.0 / 11.0; 11]);
        assert!(chi < 29.6, "chi-square {chi}: {counts:?}");
    }

    #[test]
    fn each_customer_has_one_order_in_a_different_random_sequence() {
        let customers = |district: u64| -> Vec<i64> {
            (0..3_000)
                .map(|order| parse_number(&fields(ORDERS, district * 3_000 + order)[3]))
                .collect()
        };
        let (first, second) = (customers(0), customers(1));
        assert_ne!(first, second);
        for mut district in [first, second] {
            let ascents = district.windows(2).filter(|pair| pair[0] < pair[1]).count();
            assert!((1_400..1_600).contains(&ascents), "{ascents} of 2,999 are ascents");
            district.sort_unstable();
            assert_eq!(district, (1..=3_000).collect::<Vec<_>>());
        }
        for count in [1, 2, 10, 64, 65, 1_000] {
            let key = || Random::new(1, Stream::Data, 2, 3);
            let mut all: Vec<i64> = (0..count).map(|it| permuted(it, count, key())).collect();
            all.sort_unstable();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn one_customer_in_ten_has_bad_credit_and_one_item_in_ten_is_original() {
        let customers: Vec<_> = (0..30_000).map(|row| fields(CUSTOMER, row)).collect();
        let bad = customers.iter().filter(|it| it[13].as_deref() == Some("BC")).count();
        let data = |table: usize, column: usize| {
            let rows = (0..30_000).map(|row| fields(table, row));
            rows.filter(|it| it[column].as_ref().is_some_and(|it| it.contains("ORIGINAL"))).count()
        };
        // Five standard deviations.
        for found in [bad, data(ITEM, 4), data(STOCK, 16)] {
            assert!((2_740..3_260).contains(&found), "{found} of 30,000");
        }
        assert_eq!(customers[371][5].as_deref(), Some("PRICALLYOUGHT"));
        let longest = customers.iter().filter_map(|it| it[20].as_ref()).map(String::len);
        assert_eq!((longest.clone().min(), longest.max()), (Some(300), Some(500)));
    }

    #[test]
    fn each_characters_share_is_the_same_by_chi_square() {
        let mut counts = [0; 62];
        let mut random = Random::new(1, Stream::Data, 0, 0);
        let mut text = [0; 62_000];
        random.characters(ALPHANUMERIC, &mut text);
        for character in text {
            let at = ALPHANUMERIC.iter().position(|it| *it == character);
            counts[at.expect("it is of the alphabet")] += 1;
        }
        let chi = chi_square(&counts, &[1.0 / 62.0; 62]);
        // 99.9 % quantile with 61 degrees of freedom.
        assert!(chi < 100.9, "chi-square {chi}");
    }
}
