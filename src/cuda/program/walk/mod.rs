//! Kernels of several steps: warps that walk through an array.
//!
//! # Rationale
//! A warp owns a strip along the first dimension, of some elements a lane, and walks along another dimension, column
//! after column. It keeps the latest columns that filters read in registers; neighbours along the strip come by
//! shuffles. Each level is a step, and passes its columns to the next level: so an array is read and written once for
//! all levels. At either end a strip loses the reach of all levels, and a part of the columns begins that much earlier.
//!
//! Ghost values of the first level are loaded; a walk of one level is written once, with that. All other walks are
//! written twice: for warps that meet no end of the array, and with ghost values selected from the elements in
//! registers.

mod chains;
mod columns;
mod levels;
pub(in crate::cuda::program) mod records;
mod route;
pub(in crate::cuda::program) mod state;

use super::code::{Kind, Register};
use super::emit;
use super::emitter::Emitter;
use crate::stencil::program::{Gait, Recurrence, Step};
use route::Route;
use state::{Edges, LANES, Walk};

/// Number of warps of a block.
const WARPS: usize = 4;

/// Maximum number of words of a thread for columns; the others are for computation, and elementary functions take more.
const MAX_WORDS: usize = 160;
const WORDS_OF_A_FUNCTION: usize = 40;

/// A kernel of a walk.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) text: String,
    pub(super) argument: Vec<u8>,
    /// Number of strips, in all arrays together, and of columns.
    pub(super) strips: usize,
    pub(super) columns: usize,
    /// Positions in the argument of a warp's number of columns, and of the number of parts.
    length_at: usize,
    parts_at: usize,
}

impl Written {
    /// Number of threads of a block.
    pub(super) const THREADS: [usize; 2] = [LANES, WARPS];

    /// Sets the number of columns of each warp, and returns the number of blocks.
    pub(super) fn set_length(&mut self, length: usize) -> usize {
        let length = length.clamp(1, self.columns);
        let parts = self.columns.div_ceil(length);
        for (at, value) in [(self.length_at, length), (self.parts_at, parts)] {
            self.argument[at..at + 8].copy_from_slice(&(value as i64).to_le_bytes());
        }
        (self.strips * parts).div_ceil(WARPS)
    }
}

/// A recurrence that warps can walk, and its route through the arrays.
pub(super) struct Walkable<'k> {
    what: &'k Recurrence,
    route: Route,
}

impl<'k> Walkable<'k> {
    pub(super) fn new(what: &'k Recurrence) -> Option<Walkable<'k>> {
        Some(Walkable { what, route: Route::of(what)? })
    }

    /// Returns true if lanes have lines.
    pub(super) fn is_of_volumes(&self) -> bool {
        self.route.beside.is_some()
    }

    /// Returns the rows of a strip's halos, whole lanes at either end.
    fn halos(&self, gait: Gait) -> [usize; 2] {
        self.route.rows.map(|reach| (reach * gait.levels).next_multiple_of(gait.elements))
    }

    /// Returns true if the halos leave enough of a strip, and circular columns are longer than those of all levels.
    pub(super) fn can(&self, gait: Gait) -> bool {
        let domain = &self.what.kernel.domain;
        let columns = self.route.along.map_or(1, |along| domain[along]);
        let reach = gait.levels * (self.route.back + self.route.lag);
        let halos: usize = self.halos(gait).into_iter().sum();
        // Ghost values are elements of the same strip.
        let own = self.route.rows[0].max(self.route.rows[1]).max(LANES * gait.elements / 4);
        let turns = self.route.along.is_some_and(|along| self.route.circular[along]);
        halos + own < LANES * gait.elements
            && (!turns || reach < columns)
            && (gait.lines == 1 || self.route.beside.is_some())
    }

    /// Returns the kernel of a gait that is [possible](Walkable::can). `None` if it would need too many registers.
    pub(super) fn write(&self, gait: Gait) -> Option<Written> {
        let mut emitter = Emitter::new(&self.what.kernel);
        // A table and an array for each.
        for _ in 0..2 * self.what.records.len() {
            emitter.argument.long(0);
        }
        let domain = &self.what.kernel.domain;
        let halos = self.halos(gait);
        let inner = LANES * gait.elements - halos[0] - halos[1];
        let route = &self.route;
        let columns = route.along.map_or(1, |along| domain[along]);
        let decks = route.beside.map_or(1, |beside| domain[beside].div_ceil(gait.lines));
        let own = domain[0].div_ceil(inner);
        let is_batch = |d: &usize| ![Some(0), route.along, route.beside].contains(&Some(*d));
        let batches: usize = (0..domain.len()).filter(is_batch).map(|d| domain[d]).product();
        emitter.walk = Some(Box::new(Walk {
            what: self.what,
            route: self.route.clone(),
            gait,
            edges: Edges::None,
            scopes: 0,
            column: Register::new(),
            first: Register::new(),
            row: Register::new(),
            line: Register::new(),
            kept: Vec::new(),
            chains: Vec::new(),
        }));
        for (name, value) in [("length", 0), ("parts", 0), ("strips", own), ("decks", decks)] {
            emitter.long(name, value as i64);
        }
        let words = emitter.walks(halos, inner);
        let is_function = |step: &Step| match step {
            Step::Each(op, _) => op.is_function(),
            Step::Pair(op, _) => op.is_function(),
            _ => false,
        };
        let calls = self.what.kernel.parts.iter().any(|part| is_function(&part.step));
        if words + if calls { WORDS_OF_A_FUNCTION } else { 0 } > MAX_WORDS {
            return None;
        }
        let [length_at, parts_at] = ["length", "parts"].map(|name| emitter.argument_at(name));
        let argument = emitter.argument.bytes;
        let text = emitter.code.module(emit::NAME, argument.len(), Written::THREADS, gait.blocks);
        Some(Written { text, argument, strips: own * decks * batches, columns, length_at, parts_at })
    }
}

impl Emitter<'_> {
    /// Writes the whole kernel, and returns the number of words that hold columns.
    fn walks(&mut self, halos: [usize; 2], inner: usize) -> usize {
        let end = self.code.label();
        let edge = self.code.label();
        let meets = self.begin_walk(halos, inner, &end);
        let mut words = 0;
        let is_loaded = self.walk().gait.levels == 1 && self.walk().route.ends.is_some();
        let copies = if is_loaded { &[Edges::Loaded][..] } else { &[Edges::None, Edges::Chosen] };
        for &edges in copies {
            if edges == Edges::Chosen {
                self.code.jump(&end);
                self.code.place(&edge);
            }
            if edges == Edges::None {
                self.code.branch(&meets, &edge);
            }
            self.code.scope();
            let scopes = self.code.scopes();
            let walk = self.walk_mut();
            (walk.edges, walk.scopes) = (edges, scopes);
            walk.kept.clear();
            walk.chains.clear();
            self.copy_of_walk(halos);
            self.code.leave();
            let single = |part: usize| usize::from(!self.kernel.parts[part].single) + 1;
            let Walk { kept, chains, .. } = self.walk();
            let past = kept.iter().filter(|(kept, _)| kept.2 > 0).map(|(kept, _)| kept.1);
            // The latest column of the first level, and the next one.
            let loaded = kept.iter().filter(|(kept, _)| kept.0 == 0 && kept.2 == 0).flat_map(|(kept, _)| [kept.1; 2]);
            let own = past.chain(loaded).chain(chains.iter().map(|(chain, _)| chain.1)).map(single).sum::<usize>();
            words = own.max(words);
        }
        self.code.place(&end);
        words
    }

    /// Finds a warp's strip and its columns. A warp without work goes to `end`; the result is true for one that meets
    /// an end of the array.
    fn begin_walk(&mut self, halos: [usize; 2], inner: usize, end: &str) -> Register {
        let Walk { gait, route, .. } = self.walk();
        let (gait, along, beside) = (*gait, route.along, route.beside);
        let lines = route.lines.map(|reach| gait.levels * reach);
        let [back, lag] = [route.back, route.lag].map(|reach| gait.levels * reach);
        let block = self.code.of(Kind::Word, "mov.u32", &["%ctaid.x"]);
        let warp = self.code.of(Kind::Word, "mov.u32", &["%tid.y"]);
        let lane = self.code.of(Kind::Word, "mov.u32", &["%tid.x"]);
        let warp = self.code.of(Kind::Word, "mad.lo.u32", &[&block, &WARPS.to_string(), &warp]);
        let length = self.index_of("length", 0);
        let mut rest = warp;
        // The warps of a block are neighbours along the dimension of lines, where they read the same ones.
        let [deck, strip, part] = ["decks", "strips", "parts"].map(|name| {
            let count = self.index_of(name, 0);
            let own = self.code.of(Kind::Word, "rem.u32", &[&rest, &count]);
            rest = self.code.of(Kind::Word, "div.u32", &[&rest, &count]);
            own
        });
        let domain = self.kernel.domain.clone();
        let own: Vec<usize> = (1..domain.len()).filter(|&d| ![along, beside].contains(&Some(d))).collect();
        let mut indices = Vec::new();
        for &d in &own {
            let extent = self.index_of(&format!("extent {d}"), domain[d]);
            let index = self.code.of(Kind::Word, "rem.u32", &[&rest, &extent]);
            indices.push((d, self.code.of(Kind::Long, "cvt.u64.u32", &[&index])));
            rest = self.code.of(Kind::Word, "div.u32", &[&rest, &extent]);
        }
        let over = self.code.by(Kind::Predicate, "setp.ne.u32", &rest, 0);
        self.code.branch(&over, end);
        for (d, index) in indices {
            self.code.remember(format!("index {d}"), &index);
        }
        let strip = self.code.by(Kind::Word, "mul.lo.s32", &strip, inner);
        let strip = self.code.of(Kind::Word, "add.s32", &[&strip, &format!("-{}", halos[0])]);
        let elements = gait.elements.to_string();
        let row = self.code.of(Kind::Word, "mad.lo.s32", &[&lane, &elements, &strip]);
        self.code.remember("lane".into(), &lane);
        let rows = self.index_of("extent 0", domain[0]);
        let begins = self.code.by(Kind::Predicate, "setp.lt.s32", &strip, 0);
        let behind = self.code.by(Kind::Word, "add.s32", &strip, LANES * gait.elements);
        let ends = self.code.of(Kind::Predicate, "setp.gt.s32", &[&behind, &rows]);
        let mut meets = self.code.of(Kind::Predicate, "or.pred", &[&begins, &ends]);
        self.code.remember("meets rows".into(), &meets);
        let line = self.code.by(Kind::Word, "mul.lo.s32", &deck, gait.lines);
        if let Some(beside) = beside {
            let extent = self.index_of(&format!("extent {beside}"), domain[beside]);
            let begins = self.code.by(Kind::Predicate, "setp.lt.s32", &line, lines[0]);
            let behind = self.code.by(Kind::Word, "add.s32", &line, gait.lines + lines[1]);
            let ends = self.code.of(Kind::Predicate, "setp.gt.s32", &[&behind, &extent]);
            let beyond = self.code.of(Kind::Predicate, "or.pred", &[&begins, &ends]);
            meets = self.code.of(Kind::Predicate, "or.pred", &[&meets, &beyond]);
        }
        let mut first = Register::of("0");
        if let Some(along) = along {
            let columns = self.index_of(&format!("extent {along}"), domain[along]);
            let own = self.code.of(Kind::Word, "mul.lo.s32", &[&part, &length]);
            let last = self.code.of(Kind::Word, "add.s32", &[&own, &length]);
            let last = self.code.of(Kind::Word, "min.s32", &[&last, &columns]);
            first = self.code.by(Kind::Word, "sub.s32", &own, back);
            let stop = self.code.by(Kind::Word, "add.s32", &last, lag);
            // The last level computes columns even before its first one.
            let begins = self.code.by(Kind::Predicate, "setp.lt.s32", &first, lag);
            let ends = self.code.of(Kind::Predicate, "setp.ge.s32", &[&stop, &columns]);
            let beyond = self.code.of(Kind::Predicate, "or.pred", &[&begins, &ends]);
            meets = self.code.of(Kind::Predicate, "or.pred", &[&meets, &beyond]);
            self.code.remember("own".into(), &own);
            self.code.remember("last".into(), &last);
            self.code.remember("stop".into(), &stop);
        }
        let column = self.code.register(Kind::Word);
        self.code.set(Kind::Word, &column, &first);
        let walk = self.walk_mut();
        (walk.column, walk.first, walk.row, walk.line) = (column, first, row, line);
        meets
    }
}
