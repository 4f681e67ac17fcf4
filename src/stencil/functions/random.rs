//! Counter-based random numbers: Philox 4x32 with 10 rounds (Salmon, Moraes, Dror and Shaw, "Parallel random numbers:
//! as easy as 1, 2, 3", 2011). Element i of draw d under a seed has the counter (i, d) and the key (seed, 0), 64 bits
//! each, so each element is computed independently, on any engine.

use super::machine::Machine;
use super::{Reach, Scalar, cos, log};
use crate::stencil::Real;

/// Distribution of random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Distribution {
    /// Uniform in the open interval from 0 to 1: an odd multiple of 2 to -53, in single of 2 to -24.
    Uniform,
    /// Normal with mean 0 and variance 1, by Box and Muller.
    Normal,
}

/// Random numbers of one call.
#[derive(Debug, Clone, Copy)]
pub struct Draw {
    /// Their distribution.
    pub distribution: Distribution,
    /// Number of the draw since the seed, below 2 to 52.
    pub number: u64,
    /// The seed.
    pub seed: u32,
}

impl Draw {
    /// Random number of the element with this index.
    #[inline(always)]
    pub fn of<T: Real>(self, index: usize) -> T {
        let what = (self.distribution, size_of::<T>() == size_of::<f32>());
        T::from_f64(random(&mut Scalar, what, index as u64, [self.number as f64, f64::from(self.seed)]))
    }
}

/// Factors of a round, and increments of the key after each.
const FACTORS: [i64; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: u32 = 10;

/// 2 to 52: the bits of its sum with a smaller integer end in that integer.
const WHOLE: f64 = 4_503_599_627_370_496.0;
const FRACTION: i64 = (1 << 52) - 1;

/// The bits of 1.
const ONE: i64 = 0x3FF0_0000_0000_0000;

/// Splits a number into its low and high word.
#[inline(always)]
fn words<M: Machine>(m: &mut M, a: M::Whole) -> [M::Whole; 2] {
    let mask = m.whole(0xFFFF_FFFF);
    [m.wand(a, mask), m.shr(a, 32)]
}

/// Words of the product of two words.
#[inline(always)]
fn product<M: Machine>(m: &mut M, factor: i64, word: M::Whole) -> [M::Whole; 2] {
    let factor = m.whole(factor);
    let product = m.wmul(factor, word);
    words(m, product)
}

/// Low word of a sum.
#[inline(always)]
fn added<M: Machine>(m: &mut M, word: M::Whole, other: u32) -> M::Whole {
    let other = m.whole(i64::from(other));
    let sum = m.wadd(word, other);
    words(m, sum)[0]
}

/// Converts an integer below 2 to 52 to words.
#[inline(always)]
fn words_of<M: Machine>(m: &mut M, number: M::Number) -> [M::Whole; 2] {
    let (whole, mask) = (m.number(WHOLE), m.whole(FRACTION));
    let sum = m.add(number, whole);
    let bits = m.bits(sum);
    let bits = m.wand(bits, mask);
    words(m, bits)
}

/// Applies ten rounds, to words of 32 bits.
#[inline(always)]
pub fn philox<M: Machine>(m: &mut M, mut counter: [M::Whole; 4], key: [M::Whole; 2]) -> [M::Whole; 4] {
    for round in 0..ROUNDS {
        let first = product(m, FACTORS[0], counter[0]);
        let second = product(m, FACTORS[1], counter[2]);
        let keys = [added(m, key[0], WEYL[0].wrapping_mul(round)), added(m, key[1], WEYL[1].wrapping_mul(round))];
        let (a, c) = (m.wxor(second[1], counter[1]), m.wxor(first[1], counter[3]));
        counter = [m.wxor(a, keys[0]), second[0], m.wxor(c, keys[1]), first[0]];
    }
    counter
}

/// Converts two words to a number in the open interval from 0 to 1.
#[inline(always)]
fn uniform<M: Machine>(m: &mut M, [low, high]: [M::Whole; 2]) -> M::Number {
    let (high, one) = (m.shl(high, 32), m.whole(ONE));
    let both = m.wor(high, low);
    let fraction = m.shr(both, 12);
    let bits = m.wor(fraction, one);
    // From 1 to 2, minus 1 - 2^-53: exact.
    let (number, less) = (m.of_bits(bits), m.number(1.0 - f64::EPSILON / 2.0));
    m.sub(number, less)
}

/// Converts one word to a number in the open interval from 0 to 1, in single precision.
#[inline(always)]
fn short_uniform<M: Machine>(m: &mut M, word: M::Whole) -> M::Number {
    let (fraction, one) = (m.shr(word, 9), m.whole(ONE));
    let fraction = m.shl(fraction, 29);
    let bits = m.wor(fraction, one);
    let (number, less) = (m.of_bits(bits), m.number(1.0 - f64::from(f32::EPSILON) / 2.0));
    m.sub(number, less)
}

/// Random number of an element by its index, for the draw with this number and this seed; both are integers below 2 to
/// 52.
#[inline(always)]
pub fn random<M: Machine>(
    m: &mut M,
    (what, is_single): (Distribution, bool),
    index: M::Whole,
    [draw, seed]: [M::Number; 2],
) -> M::Number {
    let (index, draw, key) = (words(m, index), words_of(m, draw), words_of(m, seed));
    let [a, b, c, d] = philox(m, [index[0], index[1], draw[0], draw[1]], key);
    match what {
        Distribution::Uniform if is_single => short_uniform(m, a),
        Distribution::Uniform => uniform(m, [a, b]),
        Distribution::Normal => {
            let (first, second) = (uniform(m, [a, b]), uniform(m, [c, d]));
            let (minus_two, turn) = (m.number(-2.0), m.number(std::f64::consts::TAU));
            let log = log(m, first);
            let square = m.mul(minus_two, log);
            let (radius, angle) = (m.sqrt(square), m.mul(turn, second));
            let cosine = cos(m, angle, Reach::Moderate);
            m.mul(radius, cosine)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stencil::functions::Scalar;

    /// Known answers published by its authors with Random123 (`kat_vectors`).
    #[test]
    fn philox_has_the_published_answers() {
        let cases: [([u64; 4], [u64; 2], [u64; 4]); 3] = [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([0xffff_ffff; 4], [0xffff_ffff; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (counter, key, answer) in cases {
            assert_eq!(philox(&mut Scalar, counter, key), answer);
        }
    }

    #[test]
    fn the_ends_of_the_interval_are_left_out() {
        let [least, most] = [0, 0xffff_ffff].map(|word| uniform(&mut Scalar, [word; 2]));
        assert_eq!((least, most), (2f64.powi(-53), 1.0 - 2f64.powi(-53)));
        let [least, most] = [0, 0xffff_ffff].map(|word| short_uniform(&mut Scalar, word));
        assert_eq!((least, most), (2f64.powi(-24), 1.0 - 2f64.powi(-24)));
    }

    #[test]
    fn index_draw_and_seed_are_all_of_the_counter_and_the_key() {
        let (index, draw, seed) = ((1 << 40) + 5, (1u64 << 33) + 7, 9u64);
        let [a, b, ..] = philox(&mut Scalar, [5, 256, 7, 2], [9, 0]);
        let expected = uniform(&mut Scalar, [a, b]);
        let of = (Distribution::Uniform, false);
        assert_eq!(random(&mut Scalar, of, index, [draw as f64, seed as f64]), expected);
    }
}
