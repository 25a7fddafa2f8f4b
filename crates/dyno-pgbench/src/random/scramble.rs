//! Values that look random but are determined by their input: hashes and a permutation.

use super::Generator;

/// FNV-1a of the eight bytes of a value, lowest first (Fowler, Noll, Vo), with the seed applied to
/// the start value.
pub(crate) fn fnv1a(value: i64, seed: i64) -> i64 {
    let start = 0xCBF2_9CE4_8422_2325 ^ seed as u64;
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    value.to_le_bytes().into_iter().fold(start, step) as i64
}

/// MurmurHash64A of the eight bytes of a value (Appleby's MurmurHash2 for 64-bit machines).
pub(crate) fn murmur2(value: i64, seed: i64) -> i64 {
    const MULTIPLIER: u64 = 0xC6A4_A793_5BD1_E995;
    const LENGTH: u64 = 8;
    let mut word = (value as u64).wrapping_mul(MULTIPLIER);
    word ^= word >> 47;
    word = word.wrapping_mul(MULTIPLIER);
    let mut hash = seed as u64 ^ LENGTH.wrapping_mul(MULTIPLIER);
    hash = (hash ^ word).wrapping_mul(MULTIPLIER);
    hash = (hash ^ (hash >> 47)).wrapping_mul(MULTIPLIER);
    (hash ^ (hash >> 47)) as i64
}

/// Rounds of [`permute`].
const ROUNDS: usize = 6;

/// The position of a value (modulo `size`) in a pseudorandom permutation of 0..size that depends on
/// the seed.
///
/// Each round scrambles the lowest and the highest power of two of the range, which overlap, by an
/// odd multiplier, an exclusive or and a rotation by one bit, and then shifts all values; each of
/// these steps is invertible, so the result is a permutation.
pub(crate) fn permute(value: i64, size: i64, seed: i64) -> i64 {
    if size < 2 {
        return 0;
    }
    let mut random = Generator::new(seed as u64);
    let size = size as u64;
    let bits = size.ilog2();
    let mask = (1_u64 << bits) - 1;
    let mut position = value as u64 % size;
    for _ in 0..ROUNDS {
        let mut scramble = |position: u64| {
            let odd = random.bits() & mask | 1;
            let flip = random.bits() & mask;
            if position > mask {
                return position;
            }
            let mixed = (position.wrapping_mul(odd) ^ flip) & mask;
            (mixed << 1) & mask | mixed >> (bits - 1)
        };
        position = scramble(position);
        position = size - 1 - scramble(size - 1 - position);
        position = (position + random.up_to(size - 1)) % size;
    }
    position as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_equal_those_of_pgbench() {
        assert_eq!(murmur2(10, 5_432), -5_817_877_081_768_721_676);
        assert_eq!(murmur2(-1, -1), 1_317_380_444_104_773_032);
        assert_eq!(murmur2(10, 4_306_334_408_478_191_133), 7_448_483_461_986_166_326);
        assert_eq!(fnv1a(10, 5_432), -7_793_829_335_365_542_153);
        assert_eq!(fnv1a(0, 0), -6_284_781_860_667_377_211);
    }

    #[test]
    fn positions_equal_those_of_pgbench() {
        let rows = [
            (0, 4, 1, 0),
            (1, 4, 1, 1),
            (2, 4, 1, 3),
            (3, 4, 1, 2),
            (123_456, 1_000_000, 5_432, 450_791),
            (-7, i64::MAX, -1, 2_841_629_823_908_002_419),
            (i64::MAX - 1, i64::MAX, 99, 8_939_196_393_363_787_110),
            (5, 1, 99, 0),
            (5, 3, 0, 0),
        ];
        for (value, size, seed, position) in rows {
            assert_eq!(permute(value, size, seed), position, "permute({value}, {size}, {seed})");
        }
    }

    #[test]
    fn a_permutation_reaches_every_position_once() {
        for size in (2..70).chain([127, 128, 129, 1_000]) {
            let mut positions: Vec<i64> = (0..size).map(|value| permute(value, size, 5)).collect();
            positions.sort_unstable();
            assert!(positions.into_iter().eq(0..size), "{size}");
        }
    }
}
