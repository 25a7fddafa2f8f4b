//! The random numbers of `sysbench.rand`.

use crate::environment::{Environment, RandomSettings, RandomType};
use dyno_engine::distribution::Distribution;
use dyno_engine::random::{Random, Stream};

/// The distributions of a run, and the generator of one state.
pub(crate) struct Draws {
    random: Random,
    default: RandomType,
    /// By [`RandomType`].
    distributions: [Distribution; RandomType::ALL.len()],
    unique: Unique,
}

impl Draws {
    pub(crate) fn new(settings: &RandomSettings, seed: u64, stream: Stream, state: u64) -> Self {
        let iterations = settings.iterations;
        let distribution = |which| match which {
            RandomType::Uniform => Distribution::Uniform,
            RandomType::Gaussian => Distribution::Gaussian { iterations },
            RandomType::Special => Distribution::Special {
                iterations,
                width: f64::from(settings.special_percent) / 100.0,
                share: f64::from(settings.special_share) / 100.0,
            },
            RandomType::Pareto => Distribution::pareto(settings.pareto_h),
            RandomType::Zipfian => Distribution::zipfian(settings.zipfian_exponent),
        };
        Self {
            random: Random::new(seed, stream, state, 0),
            default: settings.default,
            distributions: RandomType::ALL.map(distribution),
            unique: Unique::new(seed),
        }
    }

    /// A number in low..=high with sysbench's 32-bit arithmetic: fractions are truncated, negative
    /// numbers and reversed bounds wrap around.
    #[inline]
    pub(crate) fn draw(&mut self, which: RandomType, low: f64, high: f64) -> f64 {
        let (low, high) = (wrap(low), wrap(high));
        let last = i64::from(high.wrapping_sub(low));
        let offset = self.distributions[which as usize].draw(&mut self.random, 0, last);
        f64::from(low.wrapping_add(offset as u32))
    }

    /// A number from the distribution of `--rand-type`.
    #[inline]
    pub(crate) fn draw_default(&mut self, low: f64, high: f64) -> f64 {
        self.draw(self.default, low, high)
    }

    /// 64 random bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.random.next_u64()
    }

    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        self.random.unit()
    }

    /// The next number of the sequence shared by all states, in which no number is repeated.
    pub(crate) fn unique(&self, environment: &Environment) -> u32 {
        self.unique.at(environment.next_unique())
    }

    /// Appends a text for a pattern: `#` is a digit, `@` a lower-case letter, all other characters
    /// stay.
    pub(crate) fn fill(&mut self, pattern: &[u8], out: &mut Vec<u8>) {
        out.reserve(pattern.len());
        // One draw gives 13 digits or letters, extracted from its 64 bits by multiplication.
        let mut bits = 0;
        let mut left = 0;
        for &byte in pattern {
            let (first, count) = match byte {
                b'#' => (b'0', 10),
                b'@' => (b'a', 26),
                other => {
                    out.push(other);
                    continue;
                }
            };
            if left == 0 {
                (bits, left) = (self.random.next_u64(), CHARACTERS_PER_DRAW);
            }
            let wide = u128::from(bits) * count;
            out.push(first + (wide >> 64) as u8);
            bits = wide as u64;
            left -= 1;
        }
    }

    /// Appends low..=high characters from `0` to `z`.
    pub(crate) fn vary(&mut self, low: f64, high: f64, out: &mut Vec<u8>) {
        let length = self.draw(RandomType::Uniform, low, high.max(low)) as usize;
        out.extend((0..length).map(|_| b'0' + self.random.below(u64::from(b'z' - b'0') + 1) as u8));
    }
}

/// Characters per 64-bit number. Ten letters use 47 bits of it, so the last is still uniform to
/// within 1 in 10^4.
const CHARACTERS_PER_DRAW: u32 = 10;

/// Converts to an unsigned 32-bit number like C.
#[inline]
fn wrap(value: f64) -> u32 {
    value as i64 as u32
}

/// A permutation of all 32-bit numbers that looks random. The squares of 0..p/2 modulo a prime p
/// with p mod 4 = 3 are all different, and using p minus the square for the other half gives a
/// permutation of 0..p; the few numbers between p and 2^32 map to themselves (quadratic residues;
/// see Hardy and Wright, "An Introduction to the Theory of Numbers", chapter 6). Two rounds with a
/// seeded offset and mask between them hide the structure.
#[derive(Debug, Clone, Copy)]
struct Unique {
    offset: u32,
    mask: u32,
}

/// The largest prime below 2^32 that is 3 modulo 4.
const PRIME: u64 = 4_294_967_291;

impl Unique {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed, Stream::Data, u64::MAX, 0);
        Self { offset: random.next_u64() as u32, mask: random.next_u64() as u32 }
    }

    fn at(self, position: u32) -> u32 {
        permute(permute(position).wrapping_add(self.offset) ^ self.mask)
    }
}

fn permute(x: u32) -> u32 {
    let x = u64::from(x);
    let residue = x * x % PRIME;
    (if x >= PRIME {
        x
    } else if x <= PRIME / 2 {
        residue
    } else {
        PRIME - residue
    }) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::ScriptSource;
    use dyno_model::client_group::ClientSubset;
    use std::collections::HashSet;

    fn draws(seed: u64, state: u64) -> Draws {
        Draws::new(&RandomSettings::default(), seed, Stream::Transaction, state)
    }

    #[test]
    fn unique_numbers_are_not_repeated_across_states() {
        let environment = |subset| {
            let script = ScriptSource::Module("any".to_owned());
            Environment { subset, ..Environment::new(script) }
        };
        let alone = environment(None);
        let (a, b) = (draws(1, 0), draws(1, 1));
        let mut seen = HashSet::new();
        for _ in 0..200_000 {
            assert!(seen.insert(a.unique(&alone)));
            assert!(seen.insert(b.unique(&alone)));
        }
        // Those of two processes, which have two and one of three threads.
        let environments =
            [0, 1].map(|generator| environment(Some(ClientSubset::new(3, generator, 2))));
        let mut divided = HashSet::new();
        for _ in 0..1_000 {
            for environment in [&environments[0], &environments[0], &environments[1]] {
                assert!(divided.insert(a.unique(environment)), "another process has drawn it");
            }
        }
        assert!(divided.is_subset(&seen), "they are those of one process");
        assert_ne!(Unique::new(1).at(0), Unique::new(2).at(0));
        // The bounds of the 32-bit range and of the prime.
        let edges: HashSet<u32> =
            [0, 1, 2_147_483_645, 2_147_483_646, 4_294_967_290, 4_294_967_291, u32::MAX]
                .map(permute)
                .into();
        assert_eq!(edges.len(), 7);
    }

    #[test]
    fn bounds_are_treated_as_32_bit_numbers() {
        let mut draws = draws(7, 0);
        for which in RandomType::ALL {
            for _ in 0..1000 {
                assert!((5.0..=6.0).contains(&draws.draw(which, 5.9, 6.9)));
                assert_eq!(draws.draw(which, 3.0, 3.0), 3.0);
                let wrapped = draws.draw(which, 5.0, 1.0);
                assert!((0.0..=f64::from(u32::MAX)).contains(&wrapped));
            }
        }
        assert_eq!(draws.draw(RandomType::Uniform, -1.0, -1.0), f64::from(u32::MAX));
        draws.draw(RandomType::Uniform, f64::NAN, f64::INFINITY);
    }

    #[test]
    fn patterns_become_digits_and_letters() {
        let mut draws = draws(7, 0);
        let mut out = Vec::new();
        draws.fill(b"##-@@ x%", &mut out);
        assert!(
            out[..2].iter().all(u8::is_ascii_digit) && out[3..5].iter().all(u8::is_ascii_lowercase)
        );
        assert_eq!((out[2], &out[5..]), (b'-', &b" x%"[..]));
        let mut counts = [0_u32; 26];
        for _ in 0..2000 {
            out.clear();
            draws.fill(&[b'@'; 130], &mut out);
            out.iter().for_each(|byte| counts[usize::from(byte - b'a')] += 1);
        }
        let chi: f64 = counts.iter().map(|&n| (f64::from(n) - 10_000.0).powi(2) / 10_000.0).sum();
        // 99.9 % quantile of chi-square with 25 degrees of freedom.
        assert!(chi < 52.62, "chi-square {chi}");
        out.clear();
        draws.vary(3.0, 9.0, &mut out);
        assert!(
            (3..=9).contains(&out.len()) && out.iter().all(|byte| (b'0'..=b'z').contains(byte))
        );
    }

    #[test]
    fn equal_seeds_and_states_draw_the_same() {
        let draw = |seed, state| draws(seed, state).draw_default(1.0, 1e9);
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        assert_ne!(draw(1, 2), draw(2, 2));
    }
}
