//! The elementary functions compared with another library's in 128 bits and more: errors in units of the last place, at
//! random points and at hard ones, and results for infinities, zeros and NaN.

use astro_float_num::{BigFloat, Consts, RoundingMode, Sign};
use stencil_mex::stencil::functions::{self, MODERATE, Reach, Scalar};
use stencil_mex::stencil::{Binary, Unary};

use crate::common::selection;

use Binary::{Atan2, Hypot, RaisedTo};
use Unary::{
    Acos, Acosh, Asin, Asinh, Atan, Atanh, Cbrt, Cos, Cosh, Cospi, Erf, Erfc, Exp, Expm1, Log, Log1p, Log2, Log10, Sin,
    Sinh, Sinpi, Tan, Tanh,
};

/// The bits that the other library computes in: these, and where sums cancel.
const BITS: usize = 128;
const MORE: usize = 224;

/// Random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Any finite number, each exponent as often.
    fn any(&mut self) -> f64 {
        loop {
            let number = f64::from_bits(self.bits());
            if number.is_finite() {
                return number;
            }
        }
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.bits() >> 11) as f64 / (1_u64 << 53) as f64)
    }

    /// A number of either sign whose exponent is one of these.
    fn of_exponents(&mut self, low: i32, high: i32) -> f64 {
        let exponent = low + (self.bits() % (high - low + 1) as u64) as i32;
        let half = 2_f64.powi(exponent / 2);
        let (mantissa, sign) = (self.between(1.0, 2.0), if self.bits() & 1 == 0 { 1.0 } else { -1.0 });
        sign * mantissa * half * 2_f64.powi(exponent - exponent / 2)
    }
}

/// Arithmetic of 128 bits, by a library that shares no code with ours.
struct Oracle(Consts);

impl Oracle {
    fn new() -> Oracle {
        Oracle(Consts::new().unwrap())
    }

    /// A double, exactly. The library halves subnormal numbers.
    fn number(x: f64) -> BigFloat {
        if x != 0.0 && x.abs() < 1e-290 {
            let mut number = BigFloat::from_f64(x * 2_f64.powi(200), BITS);
            number.set_exponent(number.exponent().unwrap() - 200);
            return number;
        }
        BigFloat::from_f64(x, BITS)
    }

    fn unary(&mut self, op: Unary, at: f64) -> BigFloat {
        let (p, rounding, consts) = (BITS, RoundingMode::None, &mut self.0);
        let (x, one) = (Self::number(at), BigFloat::from_f64(1.0, BITS));
        // For results close to x: the first terms of the series.
        let is_small = at.abs() < 2_f64.powi(-80);
        match op {
            Exp => x.exp(p, rounding, consts),
            Expm1 | Log1p if is_small => {
                let square = x.mul(&x, p, rounding);
                let half = square.mul(&BigFloat::from_f64(0.5, p), p, rounding);
                if op == Expm1 { x.add(&half, p, rounding) } else { x.sub(&half, p, rounding) }
            }
            Sin | Tan | Asin | Atan | Sinh | Tanh | Asinh | Atanh if is_small => x,
            Expm1 => x.exp(MORE, rounding, consts).sub(&one, MORE, rounding),
            Log => x.ln(p, rounding, consts),
            Log2 => x.log2(p, rounding, consts),
            Log10 => x.log10(p, rounding, consts),
            Log1p => x.add(&one, MORE, rounding).ln(p, rounding, consts),
            Sin => x.sin(p, rounding, consts),
            Cos => x.cos(p, rounding, consts),
            Tan => x.tan(p, rounding, consts),
            Asin => x.asin(p, rounding, consts),
            Acos => x.acos(p, rounding, consts),
            Atan => x.atan(p, rounding, consts),
            Sinh => x.sinh(p, rounding, consts),
            Cosh => x.cosh(p, rounding, consts),
            Tanh => x.tanh(p, rounding, consts),
            Cbrt => x.cbrt(p, rounding),
            Asinh => x.asinh(MORE, rounding, consts),
            Acosh => x.acosh(MORE, rounding, consts),
            Atanh => x.atanh(MORE, rounding, consts),
            // A remainder of a division by 2 is exact, and the zeros are those of whole numbers and halves.
            Sinpi if at % 1.0 == 0.0 => BigFloat::from_f64(0.0, p),
            Cospi if (at % 1.0).abs() == 0.5 => BigFloat::from_f64(0.0, p),
            Sinpi | Cospi => {
                let angle = Self::number(at % 2.0).mul(&consts.pi(MORE, RoundingMode::ToEven), MORE, rounding);
                match op {
                    Sinpi if is_small => angle,
                    Sinpi => angle.sin(p, rounding, consts),
                    _ => angle.cos(p, rounding, consts),
                }
            }
            Erf if is_small => self.erf(at),
            Erf => one.sub(&self.erfc(at), p, rounding),
            Erfc => self.erfc(at),
            other => unreachable!("{other:?}"),
        }
    }

    /// The error function by its series, whose terms have one sign: `2 / sqrt pi e^(-x^2) (x + 2/3 x^3 + 4/15 x^5 + ...)`.
    fn erf(&mut self, at: f64) -> BigFloat {
        let (p, rounding) = (MORE, RoundingMode::None);
        let x = Self::number(at);
        let square = x.mul(&x, p, rounding);
        let twice = square.add(&square, p, rounding);
        let (mut term, mut sum) = (x.clone(), x);
        for odd in (3..).step_by(2).take(60 + (12.0 * at * at) as usize) {
            term = term.mul(&twice, p, rounding).div(&BigFloat::from_f64(f64::from(odd), p), p, rounding);
            sum = sum.add(&term, p, rounding);
        }
        let power = square.neg().exp(p, rounding, &mut self.0);
        let root = self.0.pi(p, RoundingMode::ToEven).sqrt(p, rounding);
        let product = sum.mul(&power, p, rounding);
        product.add(&product, p, rounding).div(&root, p, rounding)
    }

    /// Its complement, from 2 on by a continued fraction: `e^(-x^2) / sqrt pi / (x + 1/2 / (x + 2/2 / (x + 3/2 / ...)))`.
    fn erfc(&mut self, at: f64) -> BigFloat {
        let (p, rounding, one) = (MORE, RoundingMode::None, BigFloat::from_f64(1.0, MORE));
        if at < 2.0 {
            let erf = if at < -9.0 { one.neg() } else { self.erf(at) };
            return one.sub(&erf, p, rounding);
        }
        let x = Self::number(at);
        let mut under = x.clone();
        for count in (1..40 + (2000.0 / (at * at)) as i32).rev() {
            let over = BigFloat::from_f64(f64::from(count) / 2.0, p);
            under = x.add(&over.div(&under, p, rounding), p, rounding);
        }
        let power = x.mul(&x, p, rounding).neg().exp(p, rounding, &mut self.0);
        let root = self.0.pi(p, RoundingMode::ToEven).sqrt(p, rounding);
        power.div(&root.mul(&under, p, rounding), p, rounding)
    }

    fn binary(&mut self, op: Binary, [a, b]: [f64; 2]) -> BigFloat {
        let (p, rounding, consts) = (BITS, RoundingMode::None, &mut self.0);
        let [x, y] = [a, b].map(Self::number);
        match op {
            Atan2 => {
                let angle = x.div(&y, p, rounding).atan(p, rounding, consts);
                let pi = consts.pi(p, RoundingMode::ToEven);
                match (b < 0.0, a < 0.0) {
                    (false, _) => angle,
                    (true, false) => angle.add(&pi, p, rounding),
                    (true, true) => angle.sub(&pi, p, rounding),
                }
            }
            Hypot => x.mul(&x, p, rounding).add(&y.mul(&y, p, rounding), p, rounding).sqrt(p, rounding),
            RaisedTo => {
                let power = x.abs().pow(&y, p, rounding, consts);
                if a < 0.0 && b % 2.0 != 0.0 { power.neg() } else { power }
            }
            other => unreachable!("{other:?}"),
        }
    }
}

/// Returns the distance of a result from the exact one, in units of its last place; and true if it is subnormal.
fn error(got: f64, exact: &BigFloat) -> (f64, bool) {
    let exponent = exact.exponent().unwrap_or(i32::MIN);
    if exact.is_zero() || exponent < -1200 {
        return (if got == 0.0 { 0.0 } else { f64::INFINITY }, true);
    }
    let last = (exponent - 53).max(-1074);
    // Infinity stands for the number that would follow the largest one.
    let got = if got.is_infinite() {
        let mut beyond = BigFloat::from_f64(got.signum(), BITS);
        beyond.set_exponent(1025);
        if exponent > 1024 && (exact.sign() == Some(Sign::Pos)) == (got > 0.0) {
            return (0.0, false);
        }
        beyond
    } else if got.is_nan() {
        return (f64::INFINITY, false);
    } else {
        Oracle::number(got)
    };
    let off = exact.sub(&got, BITS, RoundingMode::None);
    let ulps = match off.as_raw_parts() {
        Some((words, _, _, off, _)) if !words.is_empty() => {
            words[words.len() - 1] as f64 / 2_f64.powi(64) * 2_f64.powi((off - last).clamp(-1000, 1000))
        }
        _ => 0.0,
    };
    (ulps, exponent <= -1022)
}

/// Points of a kind.
type Kind<'a, P> = &'a dyn Fn(&mut Random) -> P;

/// Number of points of each kind.
fn count() -> usize {
    selection::of_cases(10_000) as usize
}

/// Raises unless the errors are within the bound of normal results, and that of subnormal ones.
fn check<P: std::fmt::Debug>(
    what: impl std::fmt::Debug,
    bounds: [f64; 2],
    points: Vec<P>,
    mut errors: impl FnMut(&P) -> (f64, bool),
) {
    assert!(points.len() >= count() * 3);
    let mut worst = [(0.0, None), (0.0, None)];
    for point in &points {
        let (ulps, is_subnormal) = errors(point);
        let worst = &mut worst[usize::from(is_subnormal)];
        if ulps > worst.0 {
            *worst = (ulps, Some(point));
        }
    }
    println!("{what:?}: {worst:?}");
    for (bound, (ulps, point)) in bounds.into_iter().zip(&worst) {
        assert!(*ulps <= bound, "{what:?} of {point:?} is {ulps} units off, and {bound} are said");
    }
}

fn check_unary(op: Unary, bounds: [f64; 2], kinds: &[Kind<f64>], hard: &[f64]) {
    let (mut random, mut oracle) = (Random(1), Oracle::new());
    let mut points = hard.to_vec();
    for kind in kinds {
        points.extend((0..count()).map(|_| kind(&mut random)));
    }
    check(op, bounds, points, |&x| error(op.on(&mut Scalar, x, Reach::Everything), &oracle.unary(op, x)));
}

fn check_binary(op: Binary, bounds: [f64; 2], kinds: &[Kind<[f64; 2]>]) {
    let (mut random, mut oracle) = (Random(2), Oracle::new());
    let mut points = Vec::new();
    for kind in kinds {
        points.extend((0..count()).map(|_| kind(&mut random)));
    }
    check(op, bounds, points, |&[a, b]| error(op.on(&mut Scalar, [a, b]), &oracle.binary(op, [a, b])));
}

/// Small numbers, and those next to nothing.
fn small(random: &mut Random) -> f64 {
    if random.bits().is_multiple_of(4) { random.of_exponents(-1074, -60) } else { random.of_exponents(-60, 1) }
}

/// Next to a multiple of pi/2.
fn near_a_quarter(random: &mut Random) -> f64 {
    let count = (random.bits() >> (random.bits() % 60)) as f64;
    count * std::f64::consts::FRAC_PI_2
}

/// The doubles nearest to a multiple of pi/2, of all and of those below 2 to 10; one next to such a multiple in whose
/// reduction a product carries, which one in 4000 does; and any.
const NEAREST: [f64; 4] = [5.319372648326541e255, 6411027962775774.0 / 281474976710656.0, 7808949674757.472, 1e300];

#[test]
fn exp_is_near() {
    let hard = [709.782712893384, -745.1332191019411, -708.3964185322641, 1e-300, 5e-324];
    let bounds = [0.65, 0.76];
    check_unary(
        Exp,
        bounds,
        &[&|r| r.between(-746.0, 709.78), &|r| r.between(-1.0, 1.0), &small, &|r| r.between(-745.1, -708.0)],
        &hard,
    );
}

#[test]
fn expm1_is_near() {
    let kinds: [Kind<f64>; 4] =
        [&|r| r.between(-45.0, 45.0), &|r| r.between(-1.0, 1.0), &small, &|r| r.between(-38.0, -36.0)];
    check_unary(Expm1, [0.65; 2], &kinds, &[709.782712893384, -800.0, 5e-324]);
}

#[test]
fn logarithms_are_near() {
    for op in [Log, Log2, Log10] {
        let kinds: [Kind<f64>; 4] =
            [&|r| r.any().abs(), &|r| r.between(0.5, 2.0), &|r| 1.0 + r.of_exponents(-53, -3), &|r| {
                r.of_exponents(-1074, -1020).abs()
            }];
        check_unary(op, [0.7; 2], &kinds, &[5e-324, f64::MAX, 1.0_f64.next_up(), 1.0_f64.next_down()]);
    }
}

#[test]
fn log1p_is_near() {
    let beside_the_end = |r: &mut Random| r.of_exponents(-53, -3).abs() - 1.0;
    let kinds: [Kind<f64>; 4] =
        [&|r| r.between(-1.0, 1.0), &|r| small(r).max(-0.999), &|r| r.of_exponents(0, 1023).abs(), &beside_the_end];
    check_unary(Log1p, [0.7; 2], &kinds, &[5e-324, f64::MAX, (-1.0_f64).next_up()]);
}

#[test]
fn sines_are_near() {
    for (op, bound) in [(Sin, 0.7), (Cos, 0.7), (Tan, 0.75)] {
        let kinds: [Kind<f64>; 5] =
            [&|r| r.between(-10.0, 10.0), &small, &Random::any, &near_a_quarter, &|r| r.of_exponents(30, 45)];
        check_unary(op, [bound; 2], &kinds, &NEAREST);
    }
}

#[test]
fn inverse_functions_are_near() {
    for op in [Asin, Acos] {
        let kinds: [Kind<f64>; 4] =
            [&|r| r.between(-1.0, 1.0), &|r| r.between(0.45, 0.55), &|r| r.of_exponents(-1074, -2), &|r| {
                (1.0 - r.of_exponents(-53, -3).abs()) * r.of_exponents(0, 0).signum()
            }];
        check_unary(op, [0.7; 2], &kinds, &[1.0, -1.0, 0.5, -0.5]);
    }
    let kinds: [Kind<f64>; 4] =
        [&|r| r.between(-3.0, 3.0), &|r| r.between(0.4, 0.43), &small, &|r| r.of_exponents(0, 1023)];
    check_unary(Atan, [0.7; 2], &kinds, &[f64::MAX]);
}

#[test]
fn hyperbolic_functions_are_near() {
    for op in [Sinh, Cosh, Tanh] {
        let kinds: [Kind<f64>; 4] =
            [&|r| r.between(-3.0, 3.0), &|r| r.between(0.34, 0.36), &small, &|r| r.between(-710.4, 710.4)];
        check_unary(op, [0.6; 2], &kinds, &[710.4758600739439, 22.0, 19.0]);
    }
}

#[test]
fn inverse_hyperbolic_functions_are_near() {
    let kinds: [Kind<f64>; 4] =
        [&|r| r.between(-3.0, 3.0), &|r| r.between(0.3, 0.45), &small, &|r| r.of_exponents(0, 1023)];
    check_unary(Asinh, [0.7; 2], &kinds, &[f64::MAX, 5e-324, 1_152_921_504_606_846_976.0]);
    let kinds: [Kind<f64>; 4] =
        [&|r| r.between(1.0, 3.0), &|r| r.between(1.0, 1.1), &|r| 1.0 + r.of_exponents(-52, -3).abs(), &|r| {
            r.of_exponents(1, 1023).abs()
        }];
    check_unary(Acosh, [0.7; 2], &kinds, &[f64::MAX, 1.0_f64.next_up(), 1_152_921_504_606_846_976.0]);
    let kinds: [Kind<f64>; 4] =
        [&|r| r.between(-1.0, 1.0), &|r| r.between(0.15, 0.2), &|r| r.of_exponents(-1074, -2), &|r| {
            (1.0 - r.of_exponents(-53, -3).abs()) * r.of_exponents(0, 0).signum()
        }];
    check_unary(Atanh, [0.7; 2], &kinds, &[1.0_f64.next_down(), 5e-324, 0.5]);
}

#[test]
fn cube_roots_are_near() {
    let kinds: [Kind<f64>; 3] = [&Random::any, &|r| r.between(-8.0, 8.0), &|r| r.of_exponents(-1074, -1020)];
    check_unary(Cbrt, [0.67; 2], &kinds, &[5e-324, f64::MAX, f64::MIN_POSITIVE, 1.0_f64.next_down()]);
    for x in (1..2000).map(f64::from) {
        let got: f64 = Cbrt.of(-x * x * x);
        assert_eq!(got, -x);
    }
}

#[test]
fn sines_of_half_turns_are_near() {
    let beside_a_quarter = |r: &mut Random| r.between(-100.0, 100.0).round() / 2.0 + r.of_exponents(-50, -5);
    for op in [Sinpi, Cospi] {
        let kinds: [Kind<f64>; 4] =
            [&|r| r.between(-3.0, 3.0), &small, &|r| r.of_exponents(1, 51) + 0.125, &beside_a_quarter];
        check_unary(op, [0.7; 2], &kinds, &[4503599627370497.5, 9007199254740991.0, 1e300, 2.5, -3.0, 5e-324]);
    }
}

#[test]
fn error_functions_are_near() {
    let kinds: [Kind<f64>; 4] =
        [&|r| r.between(-6.5, 6.5), &|r| r.between(-1.0, 1.0), &|r| r.between(0.45, 0.55), &small];
    check_unary(Erf, [1.1, 0.76], &kinds, &[0.5, 0.5_f64.next_down(), 5.9, 30.0, -30.0]);
    let far = |r: &mut Random| r.between(26.5, 27.3);
    let kinds: [Kind<f64>; 4] = [&|r| r.between(-6.5, 6.5), &|r| r.between(-0.5, 1.0), &|r| r.between(2.0, 26.5), &far];
    check_unary(Erfc, [1.25, 1.0], &kinds, &[1e-300, -30.0, 4.0, 26.543258]);
}

#[test]
fn functions_of_the_plane_are_near() {
    let any = |r: &mut Random| [r.any(), r.any()];
    let near = |r: &mut Random| [r.of_exponents(-20, 20), r.of_exponents(-20, 20)];
    let tiny = |r: &mut Random| [r.of_exponents(-1074, -1000), r.of_exponents(-1074, -900)];
    let huge = |r: &mut Random| [r.of_exponents(1000, 1022), r.of_exponents(980, 1022)];
    let apart = |r: &mut Random| [r.of_exponents(-1074, -1000), r.of_exponents(-30, 60)];
    check_binary(Atan2, [0.76; 2], &[&any, &near, &tiny, &huge, &apart]);
    check_binary(Hypot, [0.51, 0.76], &[&any, &near, &tiny, &huge]);
}

#[test]
fn powers_are_near() {
    let near = |r: &mut Random| [r.of_exponents(-5, 5).abs(), r.of_exponents(-3, 3)];
    // Results of all exponents, of bases of all, and of bases next to 1.
    let all = |r: &mut Random| {
        let x = r.any().abs();
        [x, r.between(-745.0, 709.7) / x.ln()]
    };
    let beside_one = |r: &mut Random| {
        let rest = r.of_exponents(-52, -3);
        [1.0 + rest, r.between(-740.0, 709.0) / rest.ln_1p()]
    };
    let whole = |r: &mut Random| [r.of_exponents(-5, 5), r.between(-60.0, 60.0).round()];
    check_binary(RaisedTo, [0.65, 0.76], &[&near, &all, &beside_one, &whole]);
}

/// Bits, but one NaN is like another.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

#[test]
fn special_values_are_those_of_c() {
    let (inf, nan, pi) = (f64::INFINITY, f64::NAN, std::f64::consts::PI);
    let at = [-0.0, 0.0, -inf, inf, nan];
    for (op, results) in [
        (Exp, [1.0, 1.0, 0.0, inf, nan]),
        (Expm1, [-0.0, 0.0, -1.0, inf, nan]),
        (Log, [-inf, -inf, nan, inf, nan]),
        (Log2, [-inf, -inf, nan, inf, nan]),
        (Log10, [-inf, -inf, nan, inf, nan]),
        (Log1p, [-0.0, 0.0, nan, inf, nan]),
        (Sin, [-0.0, 0.0, nan, nan, nan]),
        (Cos, [1.0, 1.0, nan, nan, nan]),
        (Tan, [-0.0, 0.0, nan, nan, nan]),
        (Asin, [-0.0, 0.0, nan, nan, nan]),
        (Acos, [pi / 2.0, pi / 2.0, nan, nan, nan]),
        (Atan, [-0.0, 0.0, -pi / 2.0, pi / 2.0, nan]),
        (Sinh, [-0.0, 0.0, -inf, inf, nan]),
        (Cosh, [1.0, 1.0, inf, inf, nan]),
        (Tanh, [-0.0, 0.0, -1.0, 1.0, nan]),
        (Cbrt, [-0.0, 0.0, -inf, inf, nan]),
        (Sinpi, [-0.0, 0.0, nan, nan, nan]),
        (Cospi, [1.0, 1.0, nan, nan, nan]),
        (Asinh, [-0.0, 0.0, -inf, inf, nan]),
        (Acosh, [nan, nan, nan, inf, nan]),
        (Atanh, [-0.0, 0.0, nan, nan, nan]),
        (Erf, [-0.0, 0.0, -1.0, 1.0, nan]),
        (Erfc, [1.0, 1.0, 2.0, 0.0, nan]),
    ] {
        for (x, result) in at.into_iter().zip(results) {
            let got: f64 = op.of(x);
            assert!(same(got, result), "{op:?} of {x} is {got}");
        }
    }
    for (op, x, result) in [
        (Log, -1.0, nan),
        (Log, 1.0, 0.0),
        (Log2, 5e-324, -1074.0),
        (Log2, 8.0, 3.0),
        (Log10, 1e22, 22.0),
        (Log10, 1e-3, -3.0),
        (Log1p, -1.0, -inf),
        (Log1p, -1.5, nan),
        (Exp, 710.0, inf),
        (Exp, -745.2, 0.0),
        (Expm1, 710.0, inf),
        (Asin, 1.0, pi / 2.0),
        (Asin, 1.5, nan),
        (Acos, 1.0, 0.0),
        (Acos, -1.0, pi),
        (Acos, -1.5, nan),
        (Sinh, -711.0, -inf),
        (Cosh, -711.0, inf),
        (Cbrt, -5e-324, -1.7031839360032603e-108),
        (Sinpi, 3.0, 0.0),
        (Sinpi, -1.0, -0.0),
        (Sinpi, -2.5, -1.0),
        (Sinpi, 1e300, 0.0),
        (Cospi, 0.5, 0.0),
        (Cospi, -1.5, 0.0),
        (Cospi, 4503599627370495.5, 0.0),
        (Cospi, 9007199254740991.0, -1.0),
        (Asinh, -1e300, -691.4686750787737),
        (Acosh, 1.0, 0.0),
        (Acosh, 0.5, nan),
        (Acosh, f64::MAX, 710.475860073944),
        (Atanh, 1.0, inf),
        (Atanh, -1.0, -inf),
        (Atanh, 1.5, nan),
        (Erf, 6.0, 1.0),
        (Erf, -5e-324, -5e-324),
        (Erfc, 27.3, 0.0),
        (Erfc, -6.0, 2.0),
        (Erfc, 27.22, 5e-324),
    ] {
        let got: f64 = op.of(x);
        assert!(same(got, result), "{op:?} of {x} is {got}");
    }
}

#[test]
fn special_pairs_are_those_of_c() {
    let (inf, nan, pi) = (f64::INFINITY, f64::NAN, std::f64::consts::PI);
    for (op, a, b, result) in [
        (Atan2, 0.0, 0.0, 0.0),
        (Atan2, -0.0, 0.0, -0.0),
        (Atan2, 0.0, -0.0, pi),
        (Atan2, -0.0, -0.0, -pi),
        (Atan2, 0.0, 1.0, 0.0),
        (Atan2, -0.0, -1.0, -pi),
        (Atan2, 1.0, 0.0, pi / 2.0),
        (Atan2, -1.0, -0.0, -pi / 2.0),
        (Atan2, inf, inf, pi / 4.0),
        (Atan2, -inf, -inf, -3.0 * pi / 4.0),
        (Atan2, 1.0, inf, 0.0),
        (Atan2, -1.0, -inf, -pi),
        (Atan2, inf, 1.0, pi / 2.0),
        (Atan2, nan, 0.0, nan),
        (Atan2, 0.0, nan, nan),
        (Atan2, inf, nan, nan),
        (Hypot, 3.0, -4.0, 5.0),
        (Hypot, -0.0, 0.0, 0.0),
        (Hypot, -inf, nan, inf),
        (Hypot, nan, inf, inf),
        (Hypot, nan, 0.0, nan),
        (Hypot, f64::MAX, f64::MAX, inf),
        (Hypot, 5e-324, 0.0, 5e-324),
        (RaisedTo, nan, 0.0, 1.0),
        (RaisedTo, 1.0, nan, 1.0),
        (RaisedTo, nan, 2.0, nan),
        (RaisedTo, 2.0, nan, nan),
        (RaisedTo, -1.0, inf, 1.0),
        (RaisedTo, 0.5, inf, 0.0),
        (RaisedTo, -0.5, -inf, inf),
        (RaisedTo, 2.0, -inf, 0.0),
        (RaisedTo, 2.0, inf, inf),
        (RaisedTo, 0.0, -3.0, inf),
        (RaisedTo, -0.0, -3.0, -inf),
        (RaisedTo, -0.0, -2.0, inf),
        (RaisedTo, -0.0, 3.0, -0.0),
        (RaisedTo, -0.0, 0.5, 0.0),
        (RaisedTo, -inf, 3.0, -inf),
        (RaisedTo, -inf, -3.0, -0.0),
        (RaisedTo, inf, -0.5, 0.0),
        (RaisedTo, -8.0, 1.0 / 3.0, nan),
        (RaisedTo, -inf, 0.5, nan),
        (RaisedTo, -2.0, 3.0, -8.0),
        (RaisedTo, -3.0, 4.0, 81.0),
        (RaisedTo, 10.0, 15.0, 1e15),
        (RaisedTo, 2.0, -1074.0, 5e-324),
        (RaisedTo, 2.0, 1024.0, inf),
        (RaisedTo, -2.0, 1e300, inf),
        (RaisedTo, -1.0, 9007199254740991.0, -1.0),
        (RaisedTo, 0.5, 1e300, 0.0),
    ] {
        let got: f64 = op.of(a, b);
        assert!(same(got, result), "{op:?} of {a} and {b} is {got}");
    }
}

#[test]
fn moderate_angles_take_fewer_steps_to_the_same_bits() {
    let mut random = Random(3);
    for _ in 0..count() {
        let x = random.of_exponents(-1074, 39);
        for x in [x, near_a_quarter(&mut random) % MODERATE, MODERATE, -MODERATE, f64::INFINITY, f64::NAN] {
            for op in [Sin, Cos, Tan] {
                let [all, few] = [Reach::Everything, Reach::Moderate].map(|reach| op.on(&mut Scalar, x, reach));
                assert!(same(all, few), "{op:?} of {x}: {all} and {few}");
            }
        }
    }
}

#[test]
fn singles_are_doubles_rounded_once() {
    let mut random = Random(4);
    for _ in 0..count() {
        let [a, b] = [random.of_exponents(-30, 7), random.of_exponents(-5, 5)].map(|x| x as f32);
        let power: f32 = RaisedTo.of(a, b);
        let wide = functions::raised(&mut Scalar, a.into(), b.into()) as f32;
        assert!(power.to_bits() == wide.to_bits() || (power.is_nan() && wide.is_nan()));
        let exp: f32 = Exp.of(a);
        assert_eq!(exp.to_bits(), (functions::exp(&mut Scalar, a.into()) as f32).to_bits());
    }
}
