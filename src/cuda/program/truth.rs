//! Operations on numbers, and on truth values.

use super::code::{Kind, Register, literal};
use super::emitter::Emitter;
use super::shape::Place;
use crate::stencil::program::Step;
use crate::stencil::{Binary, Unary};

impl Emitter<'_> {
    #[inline(never)]
    pub(super) fn op(&mut self, kind: Kind, name: &str, operands: &[&str]) -> Register {
        self.code.of(kind, &format!("{name}.{}", kind.number()), operands)
    }

    #[inline(never)]
    pub(super) fn compare(&mut self, kind: Kind, name: &str, a: &str, b: &str) -> Register {
        self.code.of(Kind::Predicate, &format!("setp.{name}.{}", kind.number()), &[a, b])
    }

    #[inline(never)]
    pub(super) fn choose(&mut self, kind: Kind, when: &str, yes: &str, no: &str) -> Register {
        self.op(kind, "selp", &[yes, no, when])
    }

    /// Returns 1 if the condition is true, else 0.
    fn number_of(&mut self, kind: Kind, truth: &str) -> Register {
        let [one, zero] = [1.0, 0.0].map(|value| literal(kind, value));
        self.choose(kind, truth, &one, &zero)
    }

    /// Returns true if a part's value is not zero; NaN counts as true.
    fn truth(&mut self, part: usize, place: &Place) -> Register {
        let kernel = self.kernel;
        let kind = Kind::of_numbers(kernel.parts[part].single);
        match &kernel.parts[part].step {
            Step::Each(Unary::Not | Unary::IsNan, _) => {}
            Step::Pair(op, _) if gives_truth(*op) => {}
            _ => {
                let value = self.value(part, place);
                return self.compare(kind, "neu", &value, &literal(kind, 0.0));
            }
        }
        let key = format!("truth {part} {}", place.name());
        if let Some(known) = self.code.recall(&key) {
            return known;
        }
        let truth = match &kernel.parts[part].step {
            Step::Each(Unary::Not, of) => {
                let of = self.truth(*of, place);
                self.code.of(Kind::Predicate, "not.pred", &[&of])
            }
            Step::Each(_, of) => {
                let of = self.value(*of, place);
                self.compare(kind, "nan", &of, &of)
            }
            Step::Pair(op, of) => self.truth_of(*op, *of, place),
            _ => unreachable!("it is one of those above"),
        };
        self.code.remember(key, &truth);
        truth
    }

    fn truth_of(&mut self, op: Binary, of: [usize; 2], place: &Place) -> Register {
        let logic = match op {
            Binary::And => Some("and.pred"),
            Binary::Or => Some("or.pred"),
            Binary::Xor => Some("xor.pred"),
            _ => None,
        };
        if let Some(logic) = logic {
            let [a, b] = of.map(|of| self.truth(of, place));
            return self.code.of(Kind::Predicate, logic, &[&a, &b]);
        }
        let kind = Kind::of_numbers(self.kernel.parts[of[0]].single);
        let [a, b] = of.map(|of| self.value(of, place));
        let name = match op {
            Binary::Equal => "eq",
            Binary::NotEqual => "neu",
            Binary::Less => "lt",
            Binary::LessEqual => "le",
            Binary::Greater => "gt",
            _ => "ge",
        };
        self.compare(kind, name, &a, &b)
    }

    pub(super) fn unary(&mut self, op: Unary, of: usize, kind: Kind, place: &Place) -> Register {
        if let Unary::Not = op {
            let of = self.truth(of, place);
            let truth = self.code.of(Kind::Predicate, "not.pred", &[&of]);
            return self.number_of(kind, &truth);
        }
        if op.is_function() {
            return self.function(op, of, kind, place);
        }
        let x = self.value(of, place);
        let class = kind.number();
        let to_whole = |mode: &str| format!("cvt.{mode}.{class}.{class}");
        match op {
            Unary::Negate => self.op(kind, "neg", &[&x]),
            Unary::Abs => self.op(kind, "abs", &[&x]),
            Unary::Sqrt => self.op(kind, "sqrt.rn", &[&x]),
            Unary::Not | Unary::IsNan => {
                let truth = self.compare(kind, "nan", &x, &x);
                self.number_of(kind, &truth)
            }
            Unary::Floor => self.code.of(kind, &to_whole("rmi"), &[&x]),
            Unary::Ceil => self.code.of(kind, &to_whole("rpi"), &[&x]),
            Unary::Fix => self.code.of(kind, &to_whole("rzi"), &[&x]),
            Unary::Round => self.rounded(&x, kind),
            Unary::Sign => {
                let zero = literal(kind, 0.0);
                let [up, down] = ["gt", "lt"].map(|name| self.compare(kind, name, &x, &zero));
                let magnitude = self.op(kind, "abs", &[&x]);
                let negative = self.choose(kind, &down, &literal(kind, -1.0), &magnitude);
                self.choose(kind, &up, &literal(kind, 1.0), &negative)
            }
            Unary::Saturate { low, high } => self.saturated(&x, [low, high], kind),
            Unary::Power(exponent) => self.power(&x, exponent, kind),
            _ => unreachable!("it is an elementary function"),
        }
    }

    /// Rounds to the nearest whole number, a half away from zero.
    fn rounded(&mut self, x: &str, kind: Kind) -> Register {
        let class = kind.number();
        let whole = self.code.of(kind, &format!("cvt.rzi.{class}.{class}"), &[x]);
        let rest = self.op(kind, "sub.rn", &[x, &whole]);
        let rest = self.op(kind, "abs", &[&rest]);
        let up = self.compare(kind, "ge", &rest, &literal(kind, 0.5));
        let one = self.op(kind, "copysign", &[x, &literal(kind, 1.0)]);
        let further = self.op(kind, "add.rn", &[&whole, &one]);
        self.choose(kind, &up, &further, &whole)
    }

    fn saturated(&mut self, x: &str, bounds: [i64; 2], kind: Kind) -> Register {
        let [low, high] = bounds.map(|bound| literal(kind, bound as f64));
        let zero = literal(kind, 0.0);
        let whole = self.rounded(x, kind);
        let nan = self.compare(kind, "nan", x, x);
        let whole = self.choose(kind, &nan, &zero, &whole);
        let below = self.compare(kind, "lt", &whole, &low);
        let bounded = self.choose(kind, &below, &low, &whole);
        let above = self.compare(kind, "gt", &bounded, &high);
        let bounded = self.choose(kind, &above, &high, &bounded);
        self.op(kind, "add.rn", &[&bounded, &zero])
    }

    fn power(&mut self, x: &str, exponent: i32, kind: Kind) -> Register {
        let one = literal(kind, 1.0);
        if exponent == 0 {
            return self.code.of(kind, &format!("mov.{}", kind.number()), &[&one]);
        }
        let mut power = Register::of(x);
        for _ in 1..exponent.unsigned_abs() {
            power = self.op(kind, "mul.rn", &[&power, x]);
        }
        if exponent < 0 { self.op(kind, "div.rn", &[&one, &power]) } else { power }
    }

    pub(super) fn binary(
        &mut self,
        op: Binary,
        of: [usize; 2],
        (part, kind): (usize, Kind),
        place: &Place,
    ) -> Register {
        if gives_truth(op) {
            let truth = self.truth(part, place);
            return self.number_of(kind, &truth);
        }
        if op.is_function() {
            return self.function_of_two(op, of, kind, place);
        }
        if op == Binary::Keep {
            let [mask, kept] = of;
            let mask = self.truth(mask, place);
            let kept = self.value(kept, place);
            return self.choose(kind, &mask, &kept, &literal(kind, -0.0));
        }
        let [a, b] = of.map(|of| self.value(of, place));
        let name = match op {
            Binary::Add => "add.rn",
            Binary::Subtract => "sub.rn",
            Binary::Multiply => "mul.rn",
            Binary::Divide => "div.rn",
            Binary::Min | Binary::Max => {
                let nan = self.compare(kind, "nan", &b, &b);
                let first = self.compare(kind, if op == Binary::Min { "le" } else { "ge" }, &a, &b);
                let first = self.code.of(Kind::Predicate, "or.pred", &[&nan, &first]);
                return self.choose(kind, &first, &a, &b);
            }
            Binary::Mod => return self.remainder(&a, &b, kind, true),
            _ => return self.remainder(&a, &b, kind, false),
        };
        self.op(kind, name, &[&a, &b])
    }

    /// Rounds to the nearest whole number, a half up; infinities and NaN stay.
    fn nearest(&mut self, x: &str, kind: Kind) -> Register {
        let class = kind.number();
        let sum = self.op(kind, "add.rn", &[x, &literal(kind, 0.5)]);
        let whole = self.code.of(kind, &format!("cvt.rmi.{class}.{class}"), &[&sum]);
        let nothing = self.op(kind, "sub.rn", &[x, x]);
        let finite = self.compare(kind, "eq", &nothing, &literal(kind, 0.0));
        self.choose(kind, &finite, &whole, x)
    }

    /// Returns the remainder of a division, with the sign of the divisor, or of the dividend.
    fn remainder(&mut self, a: &str, b: &str, kind: Kind, of_divisor: bool) -> Register {
        let class = kind.number();
        let zero = literal(kind, 0.0);
        let epsilon = if kind == Kind::Single { f64::from(f32::EPSILON) } else { f64::EPSILON };
        let quotient = self.op(kind, "div.rn", &[a, b]);
        let near = self.nearest(&quotient, kind);
        let whole = self.nearest(b, kind);
        let broken = self.compare(kind, "neu", &whole, b);
        let off = self.op(kind, "sub.rn", &[&quotient, &near]);
        let off = self.op(kind, "div.rn", &[&off, &near]);
        let off = self.op(kind, "abs", &[&off]);
        let close = self.compare(kind, "lt", &off, &literal(kind, epsilon));
        let is_whole = self.code.of(Kind::Predicate, "and.pred", &[&broken, &close]);
        let mode = if of_divisor { "rmi" } else { "rzi" };
        let times = self.code.of(kind, &format!("cvt.{mode}.{class}.{class}"), &[&quotient]);
        let product = self.op(kind, "mul.rn", &[b, &times]);
        let rest = self.op(kind, "sub.rn", &[a, &product]);
        let rest = self.choose(kind, &is_whole, &zero, &rest);
        let signed = self.op(kind, "copysign", &[if of_divisor { b } else { a }, &rest]);
        let equal = self.compare(kind, "eq", a, b);
        let rest = self.choose(kind, &equal, &rest, &signed);
        let by_zero = self.compare(kind, "eq", b, &zero);
        let of_zero = if of_divisor { Register::of(a) } else { literal(kind, f64::NAN) };
        self.choose(kind, &by_zero, &of_zero, &rest)
    }
}

/// True if its results are only 1 and 0.
fn gives_truth(op: Binary) -> bool {
    matches!(
        op,
        Binary::Equal
            | Binary::NotEqual
            | Binary::Less
            | Binary::LessEqual
            | Binary::Greater
            | Binary::GreaterEqual
            | Binary::And
            | Binary::Or
            | Binary::Xor
    )
}
