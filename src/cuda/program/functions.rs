//! The elementary functions as PTX.

use super::code::{Code, Kind, Register, literal};
use super::emitter::Emitter;
use super::shape::Place;
use crate::stencil::functions::{self, Distribution, MODERATE, Machine, Reach, Steps};
use crate::stencil::{Binary, Unary};

/// A register of a [`Writer`].
#[derive(Clone, Copy)]
pub(super) struct Name(usize);

/// A machine that emits its operations as code.
struct Writer<'c> {
    code: &'c mut Code,
    names: Vec<Register>,
}

impl Writer<'_> {
    fn name(&mut self, register: Register) -> Name {
        self.names.push(register);
        Name(self.names.len() - 1)
    }

    /// Never inlined: functions have hundreds of operations, and each would be as much code as this.
    #[inline(never)]
    fn op(&mut self, kind: Kind, instruction: &str, operands: &[Name]) -> Name {
        let operands: Vec<&str> = operands.iter().map(|operand| &*self.names[operand.0]).collect();
        let register = self.code.of(kind, instruction, &operands);
        self.name(register)
    }

    #[inline(never)]
    fn shift(&mut self, instruction: &str, a: Name, by: &str) -> Name {
        let register = self.code.of(Kind::Long, instruction, &[&self.names[a.0], by]);
        self.name(register)
    }

    /// Writes all functions; compiled once.
    #[inline(never)]
    fn unary(&mut self, op: Unary, x: Name, reach: Reach) -> Name {
        op.on(self, x, reach)
    }

    #[inline(never)]
    fn by(&mut self, by: Name) -> Register {
        self.code.of(Kind::Word, "cvt.u32.u64", &[&self.names[by.0]])
    }
}

/// Defines methods that are one instruction each.
macro_rules! instructions {
    ($($method:ident($($operand:ident),*) $kind:ident $instruction:literal;)*) => {
        $(fn $method(&mut self, $($operand: Name),*) -> Name {
            self.op(Kind::$kind, $instruction, &[$($operand),*])
        })*
    };
}

impl Machine for Writer<'_> {
    type Number = Name;
    type Whole = Name;
    type Truth = Name;

    #[inline(never)]
    fn number(&mut self, value: f64) -> Name {
        let register = self.code.of(Kind::Double, "mov.f64", &[&literal(Kind::Double, value)]);
        self.name(register)
    }

    #[inline(never)]
    fn whole(&mut self, value: i64) -> Name {
        let register = self.code.of(Kind::Long, "mov.b64", &[&value.to_string()]);
        self.name(register)
    }

    instructions! {
        add(a, b) Double "add.rn.f64";
        sub(a, b) Double "sub.rn.f64";
        mul(a, b) Double "mul.rn.f64";
        div(a, b) Double "div.rn.f64";
        fma(a, b, c) Double "fma.rn.f64";
        sqrt(a) Double "sqrt.rn.f64";
        neg(a) Double "neg.f64";
        abs(a) Double "abs.f64";
        nearest(a) Double "cvt.rni.f64.f64";
        bits(a) Long "mov.b64";
        of_bits(a) Double "mov.b64";
        wadd(a, b) Long "add.s64";
        wsub(a, b) Long "sub.s64";
        wmul(a, b) Long "mul.lo.s64";
        wmulhi(a, b) Long "mul.hi.u64";
        wand(a, b) Long "and.b64";
        wor(a, b) Long "or.b64";
        wxor(a, b) Long "xor.b64";
        less(a, b) Predicate "setp.lt.f64";
        less_equal(a, b) Predicate "setp.le.f64";
        equal(a, b) Predicate "setp.eq.f64";
        wless(a, b) Predicate "setp.lt.s64";
        wequal(a, b) Predicate "setp.eq.s64";
        both(a, b) Predicate "and.pred";
        either(a, b) Predicate "or.pred";
        not(a) Predicate "not.pred";
    }

    fn shl(&mut self, a: Name, by: u32) -> Name {
        self.shift("shl.b64", a, &by.to_string())
    }

    fn shr(&mut self, a: Name, by: u32) -> Name {
        self.shift("shr.u64", a, &by.to_string())
    }

    fn shl_by(&mut self, a: Name, by: Name) -> Name {
        let by = self.by(by);
        self.shift("shl.b64", a, &by)
    }

    fn shr_by(&mut self, a: Name, by: Name) -> Name {
        let by = self.by(by);
        self.shift("shr.u64", a, &by)
    }

    fn select(&mut self, which: Name, a: Name, b: Name) -> Name {
        self.op(Kind::Double, "selp.f64", &[a, b, which])
    }

    fn wselect(&mut self, which: Name, a: Name, b: Name) -> Name {
        self.op(Kind::Long, "selp.b64", &[a, b, which])
    }

    #[inline(never)]
    fn word(&mut self, table: &'static [u64], at: Name) -> Name {
        let table = self.code.table(table);
        let start = self.code.of(Kind::Long, "mov.b64", &[&table]);
        let address = self.code.of(Kind::Long, "mad.lo.s64", &[&self.names[at.0], "8", &start]);
        let register = self.code.of(Kind::Long, "ld.global.nc.b64", &[&format!("[{address}+0]")]);
        self.name(register)
    }

    /// Compiled once: steps would be copied into every function that takes them.
    #[inline(never)]
    fn shared<S: Steps<Self, A, R>, A, R>(&mut self, _: S, operands: A) -> R {
        S::take(self, operands)
    }
}

impl Emitter<'_> {
    /// Runs `write` on these registers, of numbers of this kind, converted to double, and converts its result back.
    fn in_double(&mut self, kind: Kind, of: &[&str], write: &dyn Fn(&mut Writer, &[Name]) -> Name) -> Register {
        let wide: Vec<Register> = of
            .iter()
            .map(|&of| match kind {
                Kind::Single => self.code.of(Kind::Double, "cvt.f64.f32", &[of]),
                _ => Register::of(of),
            })
            .collect();
        let mut writer = Writer { code: &mut self.code, names: Vec::new() };
        let names: Vec<Name> = wide.into_iter().map(|register| writer.name(register)).collect();
        let result = write(&mut writer, &names);
        let result = writer.names[result.0];
        if kind == Kind::Single { self.code.of(Kind::Single, "cvt.rn.f32.f64", &[&result]) } else { result }
    }

    /// Applies an elementary function to a part's value.
    pub(super) fn function(&mut self, op: Unary, of: usize, kind: Kind, place: &Place) -> Register {
        let x = self.value(of, place);
        if !matches!(op, Unary::Sin | Unary::Cos | Unary::Tan) {
            return self.in_double(kind, &[&x], &|writer, names| writer.unary(op, names[0], Reach::Everything));
        }
        // The reduction of huge angles has many steps, and few threads need it.
        let class = kind.number();
        let usual = self.in_double(kind, &[&x], &|writer, names| writer.unary(op, names[0], Reach::Moderate));
        let result = self.code.register(kind);
        self.code.line(&format!("mov.{class} {result}, {usual}"));
        let magnitude = self.op(kind, "abs", &[&x]);
        let bound = literal(kind, MODERATE);
        let moderate = self.compare(kind, "le", &magnitude, &bound);
        let behind = self.code.label();
        self.code.branch(&moderate, &behind);
        self.code.scope();
        let huge = self.in_double(kind, &[&x], &|writer, names| writer.unary(op, names[0], Reach::Everything));
        self.code.line(&format!("mov.{class} {result}, {huge}"));
        self.code.leave();
        self.code.place(&behind);
        result
    }

    /// Returns the random number of an element by its index.
    pub(super) fn random(
        &mut self,
        what: Distribution,
        index: &Register,
        of: [usize; 2],
        (kind, place): (Kind, &Place),
    ) -> Register {
        let operands = of.map(|of| self.value(of, place));
        let mut writer = Writer { code: &mut self.code, names: Vec::new() };
        let [index, draw, seed] = [*index, operands[0], operands[1]].map(|register| writer.name(register));
        let result = functions::random(&mut writer, (what, kind == Kind::Single), index, [draw, seed]);
        let result = writer.names[result.0];
        if kind == Kind::Single { self.code.of(Kind::Single, "cvt.rn.f32.f64", &[&result]) } else { result }
    }

    /// Applies an elementary function to two parts' values.
    pub(super) fn function_of_two(&mut self, op: Binary, of: [usize; 2], kind: Kind, place: &Place) -> Register {
        let [a, b] = of.map(|of| self.value(of, place));
        self.in_double(kind, &[&a, &b], &|writer, names| op.on(writer, [names[0], names[1]]))
    }
}
