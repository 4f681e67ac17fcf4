//! Columns in memory: where a lane's elements lie, loads and stores.

use super::route::Route;
use crate::cuda::program::code::{Kind, Register};
use crate::cuda::program::emitter::Emitter;
use crate::cuda::program::shape::{At, Place};
use crate::stencil::program::{Feed, View};

/// The bytes that a lane loads or stores at once.
const WIDE: usize = 16;

/// The bytes of a number.
fn bytes_of(kind: Kind) -> usize {
    if kind == Kind::Single { 4 } else { 8 }
}

impl Emitter<'_> {
    /// The index of an element of the lane, inside the array.
    #[inline(never)]
    fn row(&mut self, element: usize) -> Register {
        let first = self.walk().row;
        self.ahead(|emitter| {
            let own = emitter.code.by(Kind::Word, "add.s32", &first, element);
            emitter.index_inside(0, own)
        })
    }

    /// The index of a line of the lane, inside the array.
    #[inline(never)]
    fn line(&mut self, line: i64) -> Register {
        let first = self.walk().line;
        let beside = self.walk().route.beside.expect("lines are asked for where there are some");
        self.ahead(|emitter| {
            let own = emitter.code.by(Kind::Word, "add.s32", &first, line);
            emitter.index_inside(beside, own)
        })
    }

    /// The index of what stands for an element that may lie outside.
    #[inline(never)]
    fn index_inside(&mut self, dim: usize, own: Register) -> Register {
        if !self.walk().edges {
            return own;
        }
        let extent = self.extent_of(dim);
        if !self.walk().route.circular[dim] {
            return self.clamped(&own, &extent);
        }
        let rest = self.code.of(Kind::Word, "rem.s32", &[&own, &extent]);
        let below = self.code.by(Kind::Predicate, "setp.lt.s32", &rest, 0);
        let around = self.code.of(Kind::Word, "add.s32", &[&rest, &extent]);
        self.code.of(Kind::Word, "selp.b32", &[&around, &rest, &below])
    }

    /// The number of elements along a dimension.
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

    /// The column of a level at a lag, which may lie outside the array.
    #[inline(never)]
    pub(super) fn column_at(&mut self, level: usize, lag: usize) -> Register {
        let walk = self.walk();
        let (column, behind) = (walk.column, level * walk.route.lag + lag);
        if behind == 0 { column } else { self.code.by(Kind::Word, "sub.s32", &column, behind) }
    }

    /// A column inside the array, as a wide index.
    fn inside(&mut self, column: &str) -> Register {
        let mut column = Register::of(column);
        if self.walk().edges {
            let along = self.walk().route.along.expect("there are columns");
            let columns = self.extent_of(along);
            column = if self.walk().route.circular[along] {
                let below = self.code.by(Kind::Predicate, "setp.lt.s32", &column, 0);
                let around = self.code.of(Kind::Word, "add.s32", &[&column, &columns]);
                let low = self.code.of(Kind::Word, "selp.b32", &[&around, &column, &below]);
                let above = self.code.of(Kind::Predicate, "setp.ge.s32", &[&low, &columns]);
                let around = self.code.of(Kind::Word, "sub.s32", &[&low, &columns]);
                self.code.of(Kind::Word, "selp.b32", &[&around, &low, &above])
            } else {
                self.clamped(&column, &columns)
            };
        }
        self.code.of(Kind::Long, "cvt.s64.s32", &[&column])
    }

    /// The address of a number that all elements see, in this level.
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

    /// The address of an element of an array that goes along with the domain as `view` says, and the bytes beyond it.
    fn walked_element(
        &mut self,
        array: usize,
        (name, view): (&str, &View),
        (element, line, column): (usize, i64, &str),
        bytes: usize,
    ) -> (Register, usize) {
        let plain = view.steps[0] == 1 && *view == View { start: 0, steps: self.kernel.steps() };
        let immediate = plain && !self.walk().edges;
        let row = if immediate { self.row(0) } else { self.row(element) };
        let Route { along, beside, .. } = self.walk().route;
        let line = beside.filter(|&beside| view.steps[beside] != 0).map(|beside| (beside, self.line(line)));
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
                let column = self.inside(column);
                (self.code.of(Kind::Long, "mad.lo.s64", &[&column, &step, &base]), beyond)
            }
        }
    }

    /// The elements of a lane that one instruction loads or stores.
    fn together(&self, kind: Kind) -> usize {
        let walk = self.walk();
        let most = (WIDE / bytes_of(kind)).min(walk.gait.elements);
        let wide = !walk.edges && self.kernel.domain[0].is_multiple_of(most);
        if wide { most } else { 1 }
    }

    /// A lane's elements of a column that may lie outside the array, where something inside stands for it.
    pub(super) fn load_column(
        &mut self,
        input: usize,
        (name, view): (&str, &View),
        (line, column): (i64, &str),
        kind: Kind,
    ) -> Vec<Register> {
        let elements = self.walk().gait.elements;
        let plain = *view == View { start: 0, steps: self.kernel.steps() };
        let together = if plain { self.together(kind) } else { 1 };
        let class = kind.number();
        let mut loaded = Vec::with_capacity(elements);
        for first in (0..elements).step_by(together) {
            let (address, beyond) = self.walked_element(input, (name, view), (first, line, column), bytes_of(kind));
            let from = format!("[{address}+{beyond}]");
            if together == 1 {
                loaded.push(self.code.of(kind, &format!("ld.global.nc.{class}"), &[&from]));
                continue;
            }
            let key = |element: usize| format!("element {element} {input} {from}");
            if let Some(known) = (0..together).map(|of| self.code.recall(&key(of))).collect::<Option<Vec<_>>>() {
                loaded.extend(known);
                continue;
            }
            let several: Vec<Register> = (0..together).map(|_| self.code.register(kind)).collect();
            self.code.line(&format!("ld.global.nc.v{together}.{class} {{{}}}, {from}", several.join(", ")));
            for (of, register) in several.iter().enumerate() {
                self.code.remember(key(of), register);
            }
            loaded.extend(several);
        }
        loaded
    }

    /// Stores a line of the last level's column of an output, as far as it is the warp's own.
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
        let own = match self.walk().route.beside.filter(|_| edges) {
            Some(beside) => {
                let (first, lines) = (self.walk().line, self.extent_of(beside));
                let index = self.code.by(Kind::Word, "add.s32", &first, line);
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
            if edges {
                let (row, rows) = (self.walk().row, self.extent_of(0));
                let index = self.code.by(Kind::Word, "add.s32", &row, first);
                let inside = self.code.of(Kind::Predicate, "setp.lt.s32", &[&index, &rows]);
                own = self.code.of(Kind::Predicate, "and.pred", &[&own, &inside]);
            }
            let (address, beyond) =
                self.walked_element(array, ("whole", &view), (first, line, &column), bytes_of(kind));
            let to = format!("[{address}+{beyond}]");
            match together {
                1 => self.code.line(&format!("@{own} st.global.{class} {to}, {}", values[0])),
                _ => self.code.line(&format!("@{own} st.global.v{together}.{class} {to}, {{{}}}", values.join(", "))),
            }
        }
    }
}
