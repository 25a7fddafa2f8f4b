//! The transactions: which one a terminal executes next, and how long it waits before.

use super::size::DISTRICTS;
use crate::random::{Random, Stream};
use dyno_model::catalog::{MIX, STANDARD_MIX, WorkloadOptions};
use dyno_model::units::Nanos;

dyno_model::named! {
    /// The transactions, by the names under which their figures are reported.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[repr(u16)]
    pub(super) enum Transaction {
        NewOrder = "new-order",
        /// A new order whose last item does not exist. The user has mistyped it, and the
        /// transaction ends with a rollback (clause 2.4.1.4): no new order, and no error.
        RolledBack = "new-order-rollback",
        Payment = "payment",
        OrderStatus = "order-status",
        Delivery = "delivery",
        StockLevel = "stock-level",
    }
}

/// Those that a mix chooses from.
const CHOICES: [Transaction; 5] = [
    Transaction::NewOrder,
    Transaction::Payment,
    Transaction::OrderStatus,
    Transaction::Delivery,
    Transaction::StockLevel,
];
/// Cards of each in a deck (clause 5.2.4.2).
const CARDS: [usize; 5] = [10, 10, 1, 1, 1];
const DECK: usize = 23;
/// One new order in so many is rolled back (clause 2.4.1.4).
const ROLLED_BACK_IN: u64 = 100;

/// Options with the weight of each, in their order, and the defaults.
pub(super) const WEIGHTS: [(&str, i64); 5] = [
    ("new_order_weight", 45),
    ("payment_weight", 43),
    ("order_status_weight", 4),
    ("delivery_weight", 4),
    ("stock_level_weight", 4),
];

/// How the transactions of a terminal are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mix {
    /// Each terminal draws from a shuffled deck, and shuffles it again when it is used up: the
    /// shares are exact.
    Deck,
    /// Each transaction is drawn on its own. Sums of the weights.
    Weights([u64; 5]),
}

/// The cards of one terminal.
pub(super) type Deck = [Transaction; DECK];

pub(super) fn new_deck() -> Deck {
    let mut deck = [Transaction::NewOrder; DECK];
    let cards = CHOICES.iter().zip(CARDS).flat_map(|(choice, cards)| vec![*choice; cards]);
    deck.iter_mut().zip(cards).for_each(|(card, choice)| *card = choice);
    deck
}

impl Mix {
    /// # Errors
    /// When no transaction has a weight, in words.
    pub(super) fn build(options: &WorkloadOptions) -> Result<Self, String> {
        if options.text(MIX) == STANDARD_MIX {
            return Ok(Self::Deck);
        }
        let mut sum = 0;
        let sums = WEIGHTS.map(|(name, _)| {
            sum += options.count(name);
            sum
        });
        let names = WEIGHTS.map(|(name, _)| name).join(", ");
        if sum == 0 { Err(format!("all weights are 0: {names}")) } else { Ok(Self::Weights(sums)) }
    }

    /// The transaction with this number of a terminal. Draws the same in every attempt.
    pub(super) fn choose(self, deck: &mut Deck, sequence: u64, random: &mut Random) -> Transaction {
        let drawn = random.next_u64();
        let chosen = match self {
            Self::Deck => {
                let card = (sequence % DECK as u64) as usize;
                if card == 0 {
                    *deck = new_deck();
                    shuffle(deck, &mut Random::new(drawn, Stream::Choice, 0, 0));
                }
                deck[card]
            }
            Self::Weights(sums) => {
                let drawn = ((u128::from(drawn) * u128::from(sums[sums.len() - 1])) >> 64) as u64;
                CHOICES[sums.partition_point(|sum| *sum <= drawn)]
            }
        };
        match (chosen, random.below(ROLLED_BACK_IN)) {
            (Transaction::NewOrder, 0) => Transaction::RolledBack,
            (chosen, _) => chosen,
        }
    }
}

impl Mix {
    /// Most new orders of a warehouse per minute with keying and think times: those of ten
    /// terminals whose transactions take no time. 12.86 with the standard's mix (clause 4.1.3),
    /// which a deck counts as having.
    pub(super) fn new_orders_max(self) -> f64 {
        let sums = match self {
            Self::Deck => [45, 88, 92, 96, 100],
            Self::Weights(sums) => sums,
        };
        let mut before = 0;
        let mut cycle = 0;
        for (choice, sum) in CHOICES.iter().zip(sums) {
            let (keying, think) = choice.seconds();
            cycle += (sum - before) * (keying + think);
            before = sum;
        }
        DISTRICTS as f64 * 60.0 * sums[0] as f64 / cycle as f64
    }
}

/// Fisher and Yates' shuffle.
fn shuffle(deck: &mut Deck, random: &mut Random) {
    for last in (1..deck.len()).rev() {
        deck.swap(last, random.below(last as u64 + 1) as usize);
    }
}

impl Transaction {
    /// The keying time and the mean think time of the standard (clause 5.2.5.7).
    fn seconds(self) -> (u64, u64) {
        match self {
            Self::NewOrder | Self::RolledBack => (18, 12),
            Self::Payment => (3, 12),
            Self::OrderStatus => (2, 10),
            Self::Delivery | Self::StockLevel => (2, 5),
        }
    }

    /// How long a user types.
    pub(super) fn keying(self) -> Nanos {
        Nanos(self.seconds().0 * 1_000_000_000)
    }

    /// How long a user thinks, on average.
    pub(super) fn think(self) -> Nanos {
        Nanos(self.seconds().1 * 1_000_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::tpcc::inputs::tests::chi_square;

    /// How often each transaction is chosen in so many draws of one terminal.
    fn counts(mix: Mix, draws: u64) -> [u64; Transaction::ALL.len()] {
        let (mut deck, mut counts) = (new_deck(), [0; Transaction::ALL.len()]);
        for sequence in 0..draws {
            let mut random = Random::new(3, Stream::Transaction, 1, sequence);
            counts[mix.choose(&mut deck, sequence, &mut random) as usize] += 1;
        }
        counts
    }

    #[test]
    fn deck_has_exact_standard_shares_in_a_new_order_each_time() {
        let [new_order, rolled_back, others @ ..] = counts(Mix::Deck, 23 * 10_000);
        assert_eq!((new_order + rolled_back, others), (100_000, [100_000, 10_000, 10_000, 10_000]));
        // One in a hundred; five standard deviations.
        assert!((840..1_160).contains(&rolled_back), "{rolled_back} of 100,000 are rolled back");
        let order = |first: u64| -> Vec<_> {
            let mut deck = new_deck();
            (first..first + 23)
                .map(|it| {
                    let mut random = Random::new(3, Stream::Transaction, 1, it);
                    Mix::Deck.choose(&mut deck, it, &mut random) as u16
                })
                .collect()
        };
        assert_ne!(order(0), order(23));
    }

    #[test]
    fn maximum_new_order_rate_per_warehouse_follows_the_standard() {
        assert!((Mix::Deck.new_orders_max() - 12.86).abs() < 0.01);
        // Nothing but new orders, every 30 seconds.
        assert!((Mix::Weights([1; 5]).new_orders_max() - 20.0).abs() < 1e-9);
        assert_eq!(Mix::Weights([0, 1, 1, 1, 1]).new_orders_max(), 0.0);
    }

    #[test]
    fn weights_are_probabilities_by_chi_square() {
        let found = counts(Mix::Weights([45, 88, 92, 96, 100]), 200_000);
        let shares = [0.4455, 0.0045, 0.43, 0.04, 0.04, 0.04];
        let chi = chi_square(&found, &shares);
        // 99.9 % quantile with 5 degrees of freedom.
        assert!(chi < 20.52, "chi-square {chi}: {found:?}");
    }
}
