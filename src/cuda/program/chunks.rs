//! Kernels that make numbers of all elements, too.
//!
//! # Rationale
//! A warp takes a chunk of the order that [`Reduction`] documents: a lane computes the elements of its own chain, one
//! behind the other, and nothing is exchanged before the lanes are joined. The results of chunks are joined by the warp
//! that comes last of up to 1,024, in the same order; so there is no launch for it, and nobody waits.

use super::code::{Kind, Register, literal};
use super::emit::{NAME, Written};
use super::emitter::Emitter;
use super::shape::{Place, Shape};
use crate::stencil::program::{Kernel, Reduced};
use crate::stencil::{CHUNK, LANES, Reduction};

/// The warps of a block.
const WARPS: usize = 2;

/// The elements of a lane that are computed side by side.
const ABREAST: usize = 4;

/// Beyond this, indices within a chunk have more than 32 bits.
const MOST_SHORT: usize = u32::MAX as usize - CHUNK;

/// A chunk of a warp, as registers.
struct Chunk {
    /// The index of its first element along each dimension, of this kind.
    first: Vec<Register>,
    kind: Kind,
    /// The number of its elements.
    count: Register,
}

impl Emitter<'_> {
    /// The warp's chunk. Warps without one go to `end`.
    fn begin_chunk(&mut self, end: &str) -> (Register, Register, Chunk) {
        let elements = self.kernel.len();
        let block = self.code.of(Kind::Word, "mov.u32", &["%ctaid.x"]);
        let thread = self.code.of(Kind::Word, "mov.u32", &["%tid.x"]);
        let warp = self.code.by(Kind::Word, "shr.b32", &thread, LANES.ilog2());
        let lane = self.code.by(Kind::Word, "and.b32", &thread, LANES - 1);
        let before = self.code.by(Kind::Long, "mul.wide.u32", &block, WARPS);
        let warp = self.code.of(Kind::Long, "cvt.u64.u32", &[&warp]);
        let number = self.code.of(Kind::Long, "add.s64", &[&before, &warp]);
        let chunks = self.long("chunks", elements.div_ceil(CHUNK) as i64);
        self.leave_if("ge", &number, &chunks, end);
        let mut rest = self.code.by(Kind::Long, "shl.b64", &number, CHUNK.ilog2());
        let all = self.long("elements", elements as i64);
        let left = self.code.of(Kind::Long, "sub.s64", &[&all, &rest]);
        let count = self.code.by(Kind::Long, "min.s64", &left, CHUNK);
        let count = self.code.of(Kind::Word, "cvt.u32.u64", &[&count]);
        let kind = if self.kernel.domain.iter().all(|&extent| extent < MOST_SHORT) { Kind::Word } else { Kind::Long };
        let rank = self.kernel.domain.len();
        let mut first = Vec::with_capacity(rank);
        for d in 0..rank {
            let index = if d + 1 == rank {
                rest
            } else {
                let extent = self.extent(d);
                let index = self.code.of(Kind::Long, "rem.u64", &[&rest, &extent]);
                rest = self.code.of(Kind::Long, "div.u64", &[&rest, &extent]);
                index
            };
            first.push(if kind == Kind::Word { self.code.of(kind, "cvt.u32.u64", &[&index]) } else { index });
        }
        (number, lane, Chunk { first, kind, count })
    }

    /// The indices of an element of the chunk.
    fn indices(&mut self, chunk: &Chunk, at: &str) -> Vec<Register> {
        let (kind, rank) = (chunk.kind, chunk.first.len());
        let [add, div, mul, sub] = ["add", "div", "mul.lo", "sub"].map(|name| match kind {
            Kind::Word => format!("{name}.u32"),
            _ => format!("{name}.u64"),
        });
        let is_short = kind == Kind::Word;
        let mut beyond = if is_short { Register::of(at) } else { self.code.of(Kind::Long, "cvt.u64.u32", &[at]) };
        let mut indices = Vec::with_capacity(rank);
        for (d, first) in chunk.first.iter().enumerate() {
            let mut index = self.code.of(kind, &add, &[first, &beyond]);
            if d + 1 < rank {
                let extent = self.extent(d);
                let extent = if is_short { self.code.of(kind, "cvt.u32.u64", &[&extent]) } else { extent };
                beyond = self.code.of(kind, &div, &[&index, &extent]);
                let whole = self.code.of(kind, &mul, &[&beyond, &extent]);
                index = self.code.of(kind, &sub, &[&index, &whole]);
            }
            indices.push(if is_short { self.code.of(Kind::Long, "cvt.u64.u32", &[&index]) } else { index });
        }
        indices
    }

    /// A lane's value with one element more.
    fn take(&mut self, number: &Reduced, kind: Kind, lane: &str, place: &Place) -> Register {
        let [a, b] = number.of.map(|of| self.value(of, place));
        let zero = literal(kind, 0.0);
        match number.op {
            Reduction::Sum | Reduction::Product | Reduction::Min | Reduction::Max => {
                self.join(number.op, kind, lane, &a)
            }
            Reduction::Dot => self.op(kind, "fma.rn", &[&a, &b, lane]),
            Reduction::SumOfMagnitudes | Reduction::LargestMagnitude => {
                let magnitude = self.op(kind, "abs", &[&a]);
                self.join(number.op, kind, lane, &magnitude)
            }
            Reduction::Any => {
                let magnitude = self.op(kind, "abs", &[&a]);
                let is_true = self.compare(kind, "gt", &magnitude, &zero);
                self.choose(kind, &is_true, &literal(kind, 1.0), lane)
            }
            Reduction::All => {
                let is_zero = self.compare(kind, "eq", &a, &zero);
                self.choose(kind, &is_zero, &zero, lane)
            }
            Reduction::Differ => {
                let differ = self.compare(kind, "neu", &a, &b);
                self.choose(kind, &differ, &literal(kind, 1.0), lane)
            }
        }
    }

    /// A lane's value with another lane's.
    fn join(&mut self, op: Reduction, kind: Kind, lane: &str, other: &str) -> Register {
        let class = kind.number();
        let zero = literal(kind, 0.0);
        let mut when =
            |name: &str, a: &str, b: &str| self.code.of(Kind::Predicate, &format!("setp.{name}.{class}"), &[a, b]);
        let takes = match op {
            Reduction::Sum | Reduction::Dot | Reduction::SumOfMagnitudes => {
                return self.op(kind, "add.rn", &[lane, other]);
            }
            Reduction::Product => return self.op(kind, "mul.rn", &[lane, other]),
            Reduction::Min => [when("nan", lane, lane), when("lt", other, lane)],
            Reduction::Max => [when("nan", lane, lane), when("gt", other, lane)],
            Reduction::LargestMagnitude => [when("nan", other, other), when("gt", other, lane)],
            Reduction::Any | Reduction::Differ | Reduction::All => {
                let name = if op == Reduction::All { "eq" } else { "neu" };
                let takes = when(name, other, &zero);
                return self.choose(kind, &takes, other, lane);
            }
        };
        let takes = self.code.of(Kind::Predicate, "or.pred", &[&takes[0], &takes[1]]);
        self.choose(kind, &takes, other, lane)
    }

    /// Joins the lanes of a warp: lane 0 has the result.
    fn join_lanes(&mut self, op: Reduction, kind: Kind, own: &Register) {
        self.code.scope();
        let mut joined = *own;
        for distance in [16, 8, 4, 2, 1] {
            let other = self.shuffled(kind, &joined, distance);
            joined = self.join(op, kind, &joined, &other);
        }
        self.code.leave();
        self.code.set(kind, own, &joined);
    }

    /// Computes the elements of a warp's chunk, stores them, and has each lane take its own.
    fn each_of_chunk(&mut self, (chunk, lane): (&Chunk, &Register), own: &[(Kind, Register)]) {
        let numbers = &self.kernel.numbers;
        let [again, one_by_one, joined] = [(); 3].map(|()| self.code.label());
        let at = self.code.register(Kind::Word);
        self.code.set(Kind::Word, &at, lane);
        self.code.place(&again);
        self.code.scope();
        let is_over = self.code.of(Kind::Predicate, "setp.ge.u32", &[&at, &chunk.count]);
        self.code.branch(&is_over, &joined);
        // Those of a lane side by side, where all of them are there and see no end.
        let last = self.code.by(Kind::Word, "add.u32", &at, (ABREAST - 1) * LANES);
        let is_short = self.code.of(Kind::Predicate, "setp.ge.u32", &[&last, &chunk.count]);
        self.code.branch(&is_short, &one_by_one);
        let mut places = Vec::with_capacity(ABREAST);
        for i in 0..ABREAST {
            let at = self.code.by(Kind::Word, "add.u32", &at, i * LANES);
            let indices = self.indices(chunk, &at);
            places.push(Place { offsets: Some(vec![0; indices.len()]), indices, at: None });
        }
        let before = self.code.take();
        self.code.scope();
        let mut lanes: Vec<Register> = own.iter().map(|(_, own)| *own).collect();
        for place in &places {
            self.stores(place);
            for (number, ((kind, _), lane)) in numbers.iter().zip(own.iter().zip(&mut lanes)) {
                *lane = self.take(number, *kind, lane, place);
            }
        }
        self.code.leave();
        let inside = self.code.take();
        self.code.put(&before);
        for place in &places {
            self.branch_unless_inside(place, &one_by_one);
        }
        self.code.put(&inside);
        for ((kind, own), lane) in own.iter().zip(&lanes) {
            self.code.set(*kind, own, lane);
        }
        self.code.change("add.u32", &at, &(ABREAST * LANES).to_string());
        self.code.jump(&again);
        self.code.leave();
        // As many at most, one by one.
        self.code.place(&one_by_one);
        let last = self.code.register(Kind::Word);
        self.code.line(&format!("add.u32 {last}, {at}, {}", ABREAST * LANES));
        self.code.change("min.u32", &last, &chunk.count);
        let next = self.code.label();
        self.code.place(&next);
        self.code.scope();
        let place = Place { indices: self.indices(chunk, &at), offsets: None, at: None };
        self.stores(&place);
        for (number, (kind, own)) in numbers.iter().zip(own) {
            let lane = self.take(number, *kind, own, &place);
            self.code.set(*kind, own, &lane);
        }
        self.code.leave();
        self.code.change("add.u32", &at, &LANES.to_string());
        self.code.repeat("setp.lt.u32", [&at, &last], &next);
        self.code.jump(&again);
        self.code.place(&joined);
    }

    /// Joins the results of chunks, and stores the number.
    fn join_chunks(
        &mut self,
        (at, number): (usize, &Reduced),
        (kind, own): &(Kind, Register),
        (chunk, lane): (&Register, &Register),
        [results_at, counters_at]: [usize; 2],
    ) {
        let (op, class) = (number.op, kind.number());
        let scratch = self.kernel.inputs.len() + self.kernel.outputs.len() + self.kernel.numbers.len();
        let [again, done, over] = [(); 3].map(|()| self.code.label());
        let is_first = self.code.by(Kind::Predicate, "setp.eq.u32", lane, 0);
        self.code.scope();
        // The results of this round, how many there are, which is this warp's, and the counters.
        let [results, count, own_chunk, counters] = [(); 4].map(|()| self.code.register(Kind::Long));
        let base = self.address(scratch);
        for (register, (name, offset)) in [(&results, ("results", results_at)), (&counters, ("counters", counters_at))]
        {
            let offset = self.long(&format!("{name} {at}"), offset as i64);
            self.code.line(&format!("add.s64 {register}, {base}, {offset}"));
        }
        let chunks = self.long("chunks", self.kernel.len().div_ceil(CHUNK) as i64);
        self.code.set(Kind::Long, &count, &chunks);
        self.code.set(Kind::Long, &own_chunk, chunk);
        self.code.place(&again);
        self.code.scope();
        let is_one = self.code.by(Kind::Predicate, "setp.eq.s64", &count, 1);
        self.code.branch(&is_one, &done);
        let to = self.code.of(Kind::Long, "mad.lo.s64", &[&own_chunk, "8", &results]);
        self.code.line(&format!("@{is_first} st.volatile.global.{class} [{to}], {own}"));
        // All warps see the result before they see the counter.
        self.code.line("membar.gl");
        let group = self.code.by(Kind::Long, "shr.u64", &own_chunk, CHUNK.ilog2());
        let first = self.code.by(Kind::Long, "shl.b64", &group, CHUNK.ilog2());
        let left = self.code.of(Kind::Long, "sub.s64", &[&count, &first]);
        let size = self.code.by(Kind::Long, "min.s64", &left, CHUNK);
        let size = self.code.of(Kind::Word, "cvt.u32.u64", &[&size]);
        let last = self.code.by(Kind::Word, "sub.u32", &size, 1);
        let counter = self.code.of(Kind::Long, "mad.lo.s64", &[&group, "4", &counters]);
        let came = self.code.register(Kind::Word);
        self.code.set(Kind::Word, &came, "0");
        self.code.line(&format!("@{is_first} atom.global.inc.u32 {came}, [{counter}], {last}"));
        let came = self.code.of(Kind::Word, "shfl.sync.idx.b32", &[&came, "0", "31", "-1"]);
        let others = self.code.of(Kind::Predicate, "setp.ne.u32", &[&came, &last]);
        self.code.branch(&others, &over);
        self.code.line("membar.gl");
        let [next, ends] = [(); 2].map(|()| self.code.label());
        let item = self.code.register(Kind::Word);
        self.code.set(Kind::Word, &item, lane);
        self.code.set(*kind, own, &literal(*kind, op.start::<f64>()));
        let from = self.code.of(Kind::Long, "mad.lo.s64", &[&first, "8", &results]);
        self.code.place(&next);
        self.code.scope();
        let is_over = self.code.of(Kind::Predicate, "setp.ge.u32", &[&item, &size]);
        self.code.branch(&is_over, &ends);
        let place = self.code.of(Kind::Long, "mad.wide.u32", &[&item, "8", &from]);
        let value = self.code.of(*kind, &format!("ld.volatile.global.{class}"), &[&format!("[{place}+0]")]);
        let joined = self.join(op, *kind, own, &value);
        self.code.leave();
        self.code.set(*kind, own, &joined);
        self.code.change("add.u32", &item, &LANES.to_string());
        self.code.jump(&next);
        self.code.place(&ends);
        self.join_lanes(op, *kind, own);
        self.code.line(&format!("mad.lo.s64 {results}, {count}, 8, {results}"));
        self.code.change("add.s64", &count, &(CHUNK - 1).to_string());
        self.code.change("shr.u64", &count, &CHUNK.ilog2().to_string());
        self.code.line(&format!("mad.lo.s64 {counters}, {count}, 4, {counters}"));
        self.code.set(Kind::Long, &own_chunk, &group);
        self.code.jump(&again);
        self.code.leave();
        self.code.place(&done);
        let to = self.address(self.kernel.inputs.len() + self.kernel.outputs.len() + at);
        self.code.line(&format!("@{is_first} st.global.{class} [{to}], {own}"));
        self.code.leave();
        self.code.place(&over);
    }
}

/// A kernel that makes numbers, as PTX. The bytes behind all addresses are 0 before the first launch, and after each.
pub(super) fn write(kernel: &Kernel) -> Written {
    let mut emitter = Emitter::new(kernel);
    let chunks = kernel.len().div_ceil(CHUNK);
    let (blocks, threads) = (chunks.div_ceil(WARPS), [WARPS * LANES, 1]);
    emitter.shape = Shape { flat: true, domain: kernel.domain.clone(), rows: 1, threads, blocks };
    let end = emitter.code.label();
    let (number, lane, chunk) = emitter.begin_chunk(&end);
    let mut own = Vec::with_capacity(kernel.numbers.len());
    for Reduced { op, of, .. } in &kernel.numbers {
        let kind = Kind::of_numbers(kernel.parts[of[0]].single);
        let register = emitter.code.register(kind);
        emitter.code.set(kind, &register, &literal(kind, op.start::<f64>()));
        own.push((kind, register));
    }
    emitter.each_of_chunk((&chunk, &lane), &own);
    let [results, counters] = joints(chunks);
    let mut scratch = 0;
    for (at, (reduced, own)) in kernel.numbers.iter().zip(&own).enumerate() {
        emitter.join_lanes(reduced.op, own.0, &own.1);
        emitter.join_chunks((at, reduced), own, (&number, &lane), [scratch, scratch + 8 * results]);
        scratch += 8 * results + (4 * counters).next_multiple_of(8);
    }
    emitter.code.place(&end);
    let argument = emitter.argument.bytes;
    let text = emitter.code.module(NAME, argument.len(), threads, 1);
    Written { text, argument, blocks, threads, scratch }
}

/// The results of chunks of all rounds, and the counters: one for each 1,024 results.
fn joints(chunks: usize) -> [usize; 2] {
    let (mut round, mut results, mut counters) = (chunks, 0, 0);
    while round > 1 {
        results += round;
        round = round.div_ceil(CHUNK);
        counters += round;
    }
    [results, counters]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_has_room_for_its_results() {
        assert_eq!(joints(1), [0, 0]);
        assert_eq!(joints(1024), [1024, 1]);
        assert_eq!(joints(1025), [1027, 3]);
    }
}
