//! Columns in memory: addresses of a lane's elements, loads and stores.

use super::route::Route;
use super::state::{Edges, Walk};
use crate::cuda::program::code::{Kind, Register};
use crate::cuda::program::emitter::Emitter;
use crate::cuda::program::shape::{At, Place};
use crate::stencil::Boundary;
use crate::stencil::program::{Feed, View};

/// Maximum number of bytes that a lane loads or stores at once.
const WIDE: usize = 16;

/// Returns the bytes of a number.
fn bytes_of(kind: Kind) -> usize {
    if kind == Kind::Single { 4 } else { 8 }
}

/// Returns the sum of an index below 0 and the index of its mirror image, if a boundary is a mirror.
fn mirror(end: Boundary<f64>) -> Option<i64> {
    match end {
        Boundary::Symmetric => Some(-1),
        Boundary::Mirror => Some(0),
        Boundary::Constant(_) | Boundary::Replicate | Boundary::Circular => None,
    }
}

impl Emitter<'_> {
    /// Returns the index of an element of the lane, which may lie outside the array.
    fn own_row(&mut self, element: usize) -> Register {
        let first = self.walk().row;
        self.ahead(|emitter| emitter.code.by(Kind::Word, "add.s32", &first, element))
    }

    /// Returns the index of a line of the lane, which may lie outside the array.
    fn own_line(&mut self, line: i64) -> Register {
        let first = self.walk().line;
        self.ahead(|emitter| emitter.code.by(Kind::Word, "add.s32", &first, line))
    }

    /// Returns the index along a dimension of the element that replaces this one of a part outside the array. Without a
    /// part it is the index itself: stores check it first.
    #[inline(never)]
    fn index_inside(&mut self, part: Option<usize>, dim: usize, own: Register) -> Register {
        let Walk { edges, route, .. } = self.walk();
        let Some(part) = part.filter(|_| *edges != Edges::None) else { return own };
        let is_circular = route.circular[dim];
        let ends = route.ends.as_ref().and_then(|ends| ends[part][dim]);
        let ends = ends.filter(|_| *edges == Edges::Loaded && !is_circular).map(|ends| ends.both());
        let extent = self.extent_of(dim);
        if is_circular {
            let rest = self.code.of(Kind::Word, "rem.s32", &[&own, &extent]);
            let below = self.code.by(Kind::Predicate, "setp.lt.s32", &rest, 0);
            let around = self.code.of(Kind::Word, "add.s32", &[&rest, &extent]);
            return self.code.of(Kind::Word, "selp.b32", &[&around, &rest, &below]);
        }
        let mut index = own;
        // A mirror below 0 and one beyond the last element: the sums of an index and its mirror image.
        let [low, high] = ends.unwrap_or([Boundary::Replicate; 2]);
        if let Some(sum) = mirror(low) {
            let below = self.code.by(Kind::Predicate, "setp.lt.s32", &own, 0);
            let other = self.code.of(Kind::Word, "sub.s32", &[&sum.to_string(), &own]);
            index = self.code.of(Kind::Word, "selp.b32", &[&other, &index, &below]);
        }
        if let Some(sum) = mirror(high) {
            let above = self.code.of(Kind::Predicate, "setp.ge.s32", &[&own, &extent]);
            let twice = self.code.of(Kind::Word, "add.s32", &[&extent, &extent]);
            let sum = self.code.by(Kind::Word, "add.s32", &twice, -2 - sum);
            let other = self.code.of(Kind::Word, "sub.s32", &[&sum, &own]);
            index = self.code.of(Kind::Word, "selp.b32", &[&other, &index, &above]);
        }
        self.clamped(&index, &extent)
    }

    /// Returns a loaded element of a part, or the constant for it. `own` has the dimensions along which it may lie
    /// outside, and its indices there.
    fn or_constant(&mut self, part: usize, kind: Kind, own: &[(usize, Register)], loaded: Register) -> Register {
        let Walk { edges, route, .. } = self.walk();
        let Some(ends) = route.ends.as_ref().filter(|_| *edges == Edges::Loaded) else { return loaded };
        let (ends, along) = (ends[part].clone(), route.along);
        let mut value = loaded;
        let mut before: Option<(f64, Register)> = None;
        // The last dimension's constant takes precedence.
        for &(dim, index) in own {
            let constant = |end| if let Boundary::Constant(constant) = end { Some(constant) } else { None };
            let Some([low, high]) = ends[dim].map(|ends| ends.both().map(constant)) else { continue };
            let both = low.is_some() && low.map(f64::to_bits) == high.map(f64::to_bits);
            let sides = [(low, ["lt.s32", "0"]), (high, [if both { "ge.u32" } else { "ge.s32" }, "extent"])];
            for (constant, [comparison, bound]) in sides.into_iter().skip(usize::from(both)) {
                let Some(constant) = constant else { continue };
                let extent = self.extent_of(dim);
                let bound = if bound == "extent" { extent } else { Register::of(bound) };
                let name = format!("setp.{comparison}");
                let outside = match along == Some(dim) {
                    true => self.code.of(Kind::Predicate, &name, &[&index, &bound]),
                    false => self.ahead(|emitter| emitter.code.of(Kind::Predicate, &name, &[&index, &bound])),
                };
                before = match before {
                    Some((same, others)) if same.to_bits() == constant.to_bits() => {
                        Some((same, self.code.of(Kind::Predicate, "or.pred", &[&others, &outside])))
                    }
                    Some((other, when)) => {
                        value = self.ghost((part, other), kind, &when, value);
                        Some((constant, outside))
                    }
                    None => Some((constant, outside)),
                };
            }
        }
        match before {
            Some((constant, when)) => self.ghost((part, constant), kind, &when, value),
            None => value,
        }
    }

    /// Returns a part's value, or a constant if an element lies outside.
    fn ghost(&mut self, (part, constant): (usize, f64), kind: Kind, when: &str, value: Register) -> Register {
        // Constants of the same bits are the same operand: the code then depends on the boundaries alone.
        let constant = self.number(&format!("ghost {part} {:x}", constant.to_bits()), kind, constant);
        self.choose(kind, when, &constant, &value)
    }

    /// Returns the number of elements along a dimension.
    #[inline(never)]
    pub(super) fn extent_of(&mut self, dim: usize) -> Register {
        let extent = self.kernel.domain[dim];
        self.ahead(|emitter| emitter.index_of(&format!("extent {dim}"), extent))
    }

    fn clamped(&mut self, index: &str, extent: &str) -> Register {
        let last = self.code.by(Kind::Word, "add.s32", extent, -1);
        let low = self.code.by(Kind::Word, "max.s32", index, 0);
        self.code.of(Kind::Word, "min.s32", &[&low, &last])
    }

    /// Returns the column of a level at a lag, which may lie outside the array.
    #[inline(never)]
    pub(super) fn column_at(&mut self, level: usize, lag: usize) -> Register {
        let walk = self.walk();
        let (column, behind) = (walk.column, level * walk.route.lag + lag);
        if behind == 0 { column } else { self.code.by(Kind::Word, "sub.s32", &column, behind) }
    }

    /// Returns the column inside that replaces one of a part, as a wide index.
    fn column_inside(&mut self, part: Option<usize>, column: &str) -> Register {
        let along = self.walk().route.along.expect("there are columns");
        let column = self.index_inside(part, along, Register::of(column));
        self.code.of(Kind::Long, "cvt.s64.s32", &[&column])
    }

    /// Returns the address of a number that all elements use, in this level.
    pub(super) fn address_of_one(
        &mut self,
        input: usize,
        view: &View,
        level: usize,
        bytes: usize,
    ) -> (Register, usize) {
        let numbers = self.walk().what.numbers;
        let base = self.ahead(|emitter| emitter.address(input));
        let of_level = matches!(self.walk().what.feeds[input], Feed::Number(_));
        (base, (view.start + if of_level { level * numbers } else { 0 }) * bytes)
    }

    /// Returns an address, and an offset in bytes from it, of an element of an array that maps to the domain by `view`.
    /// Ghost values are those of a part that is loaded.
    fn walked_element(
        &mut self,
        (array, part): (usize, Option<usize>),
        (name, view): (&str, &View),
        (element, line, column): (usize, i64, &str),
        bytes: usize,
    ) -> (Register, usize) {
        let plain = view.steps[0] == 1 && *view == View { start: 0, steps: self.kernel.steps() };
        let immediate = plain && (part.is_none() || self.walk().edges == Edges::None);
        let own_row = self.own_row(if immediate { 0 } else { element });
        let row = self.ahead(|emitter| emitter.index_inside(part, 0, own_row));
        let Route { along, beside, .. } = self.walk().route;
        if let (Some(beside), None, 1..) = (beside, part, line) {
            // A step from the line before needs no register through the loop.
            let (before, beyond) = self.walked_element((array, part), (name, view), (element, line - 1, column), bytes);
            let step = self.ahead(|emitter| {
                let step = emitter.long(&format!("whole step {beside}"), view.steps[beside] as i64);
                emitter.code.by(Kind::Long, "mul.lo.s64", &step, bytes)
            });
            return (self.code.of(Kind::Long, "add.s64", &[&before, &step]), beyond);
        }
        let line = beside.filter(|&beside| view.steps[beside] != 0).map(|beside| {
            let own = self.own_line(line);
            (beside, self.ahead(|emitter| emitter.index_inside(part, beside, own)))
        });
        let rank = view.steps.len();
        let wide = |emitter: &mut Self, d: usize| {
            let name = if plain { "whole" } else { name };
            let step = emitter.long(&format!("{name} step {d}"), view.steps[d] as i64);
            emitter.code.by(Kind::Long, "mul.lo.s64", &step, bytes)
        };
        let base = self.ahead(|emitter| {
            let mut address = emitter.address(array);
            if view.start > 0 {
                let start = emitter.long(&format!("{name} start"), (view.start * bytes) as i64);
                address = emitter.code.of(Kind::Long, "add.s64", &[&address, &start]);
            }
            for d in (1..rank).filter(|&d| ![along, beside].contains(&Some(d)) && view.steps[d] != 0) {
                let index = emitter.code.recall(&format!("index {d}")).expect("it was found at the beginning");
                let step = wide(emitter, d);
                address = emitter.code.of(Kind::Long, "mad.lo.s64", &[&index, &step, &address]);
            }
            if let Some((beside, line)) = line {
                let step = wide(emitter, beside);
                let line = emitter.code.of(Kind::Long, "cvt.s64.s32", &[&line]);
                address = emitter.code.of(Kind::Long, "mad.lo.s64", &[&line, &step, &address]);
            }
            if view.steps[0] == 0 {
                return address;
            }
            let row = emitter.code.of(Kind::Long, "cvt.s64.s32", &[&row]);
            let step = if plain { Register::of(&bytes.to_string()) } else { wide(emitter, 0) };
            emitter.code.of(Kind::Long, "mad.lo.s64", &[&row, &step, &address])
        });
        let beyond = if immediate { element * bytes } else { 0 };
        match along.filter(|&along| view.steps[along] != 0) {
            None => (base, beyond),
            Some(along) => {
                let step = self.ahead(|emitter| wide(emitter, along));
                let column = self.column_inside(part, column);
                (self.code.of(Kind::Long, "mad.lo.s64", &[&column, &step, &base]), beyond)
            }
        }
    }

    /// Returns the elements of a lane that one instruction loads or stores.
    fn together(&self, kind: Kind) -> usize {
        let walk = self.walk();
        let most = (WIDE / bytes_of(kind)).min(walk.gait.elements);
        let wide = walk.edges != Edges::Chosen && self.kernel.domain[0].is_multiple_of(most);
        if wide { most } else { 1 }
    }

    /// Loads a lane's elements of a column that may lie outside the array, with the boundary's elements or constants
    /// for it.
    pub(super) fn load_column(
        &mut self,
        part: usize,
        (input, view): (usize, &View),
        (line, column): (i64, &str),
        kind: Kind,
    ) -> Vec<Register> {
        let name = format!("view {part}");
        let Walk { gait, route, .. } = self.walk();
        let (elements, along, beside) = (gait.elements, route.along, route.beside);
        let plain = *view == View { start: 0, steps: self.kernel.steps() };
        let together = if plain { self.together(kind) } else { 1 };
        let class = kind.number();
        let mut loaded = Vec::with_capacity(elements);
        let own = (input, Some(part));
        let is_loaded = self.walk().edges == Edges::Loaded;
        let load = format!("ld.global.nc.{class}");
        let mut beyond_lane: Vec<(usize, Register)> = Vec::new();
        beyond_lane.extend(beside.map(|beside| (beside, self.own_line(line))));
        beyond_lane.extend(along.map(|along| (along, Register::of(column))));
        for first in (0..elements).step_by(together) {
            let (address, beyond) = self.walked_element(own, (&name, view), (first, line, column), bytes_of(kind));
            let from = format!("[{address}+{beyond}]");
            if together == 1 {
                let value = self.code.of(kind, &load, &[&from]);
                let row = (0, self.own_row(first));
                let indices: Vec<_> = std::iter::once(row).chain(beyond_lane.iter().copied()).collect();
                loaded.push(self.or_constant(part, kind, &indices, value));
                continue;
            }
            let key = |element: usize| format!("element {element} {part} {from}");
            if let Some(known) = (0..together).map(|of| self.code.recall(&key(of))).collect::<Option<Vec<_>>>() {
                loaded.extend(known);
                continue;
            }
            let several: Vec<Register> = (0..together).map(|_| self.code.register(kind)).collect();
            let [slow, done] = [(); 2].map(|()| self.code.label());
            if is_loaded {
                let meets = self.code.recall("meets rows").expect("it was found at the beginning");
                self.code.branch(&meets, &slow);
            }
            self.code.line(&format!("ld.global.nc.v{together}.{class} {{{}}}, {from}", several.join(", ")));
            if is_loaded {
                self.code.jump(&done);
                self.code.place(&slow);
                self.code.scope();
                for (of, register) in several.iter().enumerate() {
                    let at = (first + of, line, column);
                    let (address, beyond) = self.walked_element(own, (&name, view), at, bytes_of(kind));
                    let value = self.code.of(kind, &load, &[&format!("[{address}+{beyond}]")]);
                    let row = (0, self.own_row(first + of));
                    let value = self.or_constant(part, kind, &[row], value);
                    self.code.set(kind, register, &value);
                }
                self.code.leave();
                self.code.place(&done);
            }
            for (of, register) in several.iter().enumerate() {
                let value = self.or_constant(part, kind, &beyond_lane, *register);
                self.code.remember(key(of), &value);
                loaded.push(value);
            }
        }
        loaded
    }

    /// Stores a line of the last level's column of an output, if it is the warp's own.
    pub(super) fn store_column(&mut self, (output, line): (usize, i64), halos: [usize; 2], when: Option<&str>) {
        let (_, part) = self.kernel.outputs[output];
        let kind = Kind::of_numbers(self.kernel.parts[part].single);
        let (gait, lag, edges) = (self.walk().gait, self.walk().route.lag, self.walk().edges);
        let level = gait.levels - 1;
        let column = self.column_at(level, lag);
        let view = View { start: 0, steps: self.kernel.steps() };
        let array = self.kernel.inputs.len() + output;
        let own = self.own_lanes(halos);
        let own = match when {
            Some(when) => self.code.of(Kind::Predicate, "and.pred", &[&own, when]),
            None => own,
        };
        let own = match self.walk().route.beside.filter(|_| edges != Edges::None) {
            Some(beside) => {
                let (index, lines) = (self.own_line(line), self.extent_of(beside));
                let inside = self.code.of(Kind::Predicate, "setp.lt.s32", &[&index, &lines]);
                self.code.of(Kind::Predicate, "and.pred", &[&own, &inside])
            }
            None => own,
        };
        let together = self.together(kind);
        let class = kind.number();
        for first in (0..gait.elements).step_by(together) {
            let values: Vec<Register> = (first..first + together)
                .map(|element| self.value(part, &Place::of_walk(At { level, element, line, lag })))
                .collect();
            let mut own = own;
            if edges != Edges::None {
                let (index, rows) = (self.own_row(first), self.extent_of(0));
                let inside = self.code.of(Kind::Predicate, "setp.lt.s32", &[&index, &rows]);
                own = self.code.of(Kind::Predicate, "and.pred", &[&own, &inside]);
            }
            let (address, beyond) =
                self.walked_element((array, None), ("whole", &view), (first, line, &column), bytes_of(kind));
            let to = format!("[{address}+{beyond}]");
            match together {
                1 => self.code.line(&format!("@{own} st.global.{class} {to}, {}", values[0])),
                _ => self.code.line(&format!("@{own} st.global.v{together}.{class} {to}, {{{}}}", values.join(", "))),
            }
        }
    }
}
