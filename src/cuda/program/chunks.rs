//! Kernels that also reduce all elements to numbers.
//!
//! # Rationale
//! A team of warps takes a chunk of the order that [`Reduction`] documents, in which a lane's chain takes every 32nd
//! element. A thread computes some elements of one chain at once, and keeps the chain's inputs; then the warps continue
//! the chains one after the other, by way of shared memory. If there are few chunks, teams are large, so that many
//! loads are in flight; if there are enough chunks, a team is one warp, which waits for no other. The results of chunks
//! are joined by the warp that comes last of up to 1,024, in the same order; so this needs no launch.

use super::code::{Kind, Register, literal};
use super::emit::{NAME, Written};
use super::emitter::Emitter;
use super::shape::{Place, Shape};
use crate::stencil::program::{Kernel, Reduced};
use crate::stencil::{CHUNK, LANES, Reduction};

/// Number of warps of a block: minimum and maximum.
const MIN_WARPS: usize = 2;
const WARPS: usize = 8;

/// Number of warps that keeps a multiprocessor busy: teams are larger if there would be fewer.
const BUSY_WARPS: usize = 64;

/// Number of elements that a thread computes at once.
const OWN: usize = CHUNK / (WARPS * LANES);

/// Number of chunks' results that a lane loads at once.
const ABREAST: usize = 8;

/// Blocks of a multiprocessor that its registers suffice for, up to [`MAX_LIGHT`] parts and entries, and beyond: many
/// warps hide memory's latency, as long as no registers are spilled for it.
const BLOCKS: [usize; 2] = [3, 2];
const MAX_LIGHT: usize = 16;

/// Indices of 32 bits suffice for less than this number of elements.
const MAX_SHORT: usize = u32::MAX as usize - CHUNK;

/// Shared memory: the chains of one number after those of the other.
const CHAINS: &str = "chains";

/// Maximum number of chunks of a block.
const MAX_TEAMS: usize = MIN_WARPS;

/// A thread, and its team's chunk.
struct Chunk {
    /// Number of the chunk.
    number: Register,
    /// Index of the chunk's first element along each dimension, of this kind.
    first: Vec<Register>,
    kind: Kind,
    /// Number of its elements.
    count: Register,
    /// Number of the team's warps, the thread's warp among them, its lane, and the address of its lane's chains.
    team: Register,
    seat: Register,
    lane: Register,
    chains: Register,
}

impl Emitter<'_> {
    /// Finds the team's chunk. A team without one goes to `end`.
    fn begin_chunk(&mut self, end: &str) -> Chunk {
        let elements = self.kernel.len();
        let block = self.code.of(Kind::Word, "mov.u32", &["%ctaid.x"]);
        let thread = self.code.of(Kind::Word, "mov.u32", &["%tid.x"]);
        let warp = self.code.by(Kind::Word, "shr.b32", &thread, LANES.ilog2());
        let lane = self.code.by(Kind::Word, "and.b32", &thread, LANES - 1);
        let [team, teams] = ["team", "teams"].map(|name| self.index_of(name, 0));
        let seat = self.code.of(Kind::Word, "rem.u32", &[&warp, &team]);
        let own_team = self.code.of(Kind::Word, "div.u32", &[&warp, &team]);
        let number = self.code.of(Kind::Word, "mad.lo.u32", &[&block, &teams, &own_team]);
        let number = self.code.of(Kind::Long, "cvt.u64.u32", &[&number]);
        let chunks = self.long("chunks", elements.div_ceil(CHUNK) as i64);
        self.leave_if("ge", &number, &chunks, end);
        let base = self.code.of(Kind::Long, "mov.u64", &[CHAINS]);
        let of_team = (8 * LANES * self.kernel.numbers.len()).to_string();
        let base = self.code.of(Kind::Long, "mad.wide.u32", &[&own_team, &of_team, &base]);
        let chains = self.code.of(Kind::Long, "mad.wide.u32", &[&lane, "8", &base]);
        let start = self.code.by(Kind::Long, "shl.b64", &number, CHUNK.ilog2());
        let all = self.long("elements", elements as i64);
        let left = self.code.of(Kind::Long, "sub.s64", &[&all, &start]);
        let count = self.code.by(Kind::Long, "min.s64", &left, CHUNK);
        let count = self.code.of(Kind::Word, "cvt.u32.u64", &[&count]);
        let is_short = elements < MAX_SHORT;
        let (kind, [rem, div]) = match is_short {
            true => (Kind::Word, ["rem.u32", "div.u32"]),
            false => (Kind::Long, ["rem.u64", "div.u64"]),
        };
        let mut rest = if is_short { self.code.of(Kind::Word, "cvt.u32.u64", &[&start]) } else { start };
        let rank = self.kernel.domain.len();
        let mut first = Vec::with_capacity(rank);
        for d in 0..rank {
            if d + 1 == rank {
                first.push(rest);
                break;
            }
            let extent = self.extent(d);
            let extent = if is_short { self.code.of(Kind::Word, "cvt.u32.u64", &[&extent]) } else { extent };
            first.push(self.code.of(kind, rem, &[&rest, &extent]));
            rest = self.code.of(kind, div, &[&rest, &extent]);
        }
        Chunk { number, first, kind, count, team, seat, lane, chains }
    }

    /// Returns the indices of an element of the chunk.
    fn indices(&mut self, chunk: &Chunk, at: &str) -> Vec<Register> {
        let (kind, rank) = (chunk.kind, chunk.first.len());
        let class = if kind == Kind::Word { "u32" } else { "u64" };
        let [add, div, mul, sub] = ["add", "div", "mul.lo", "sub"].map(|name| format!("{name}.{class}"));
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

    /// Adds one element to a lane's value.
    fn take(&mut self, op: Reduction, kind: Kind, lane: &str, [a, b]: [Register; 2]) -> Register {
        let zero = literal(kind, 0.0);
        match op {
            Reduction::Sum | Reduction::Product | Reduction::Min | Reduction::Max => self.join(op, kind, lane, &a),
            Reduction::Dot => self.op(kind, "fma.rn", &[&a, &b, lane]),
            Reduction::SumOfMagnitudes | Reduction::LargestMagnitude => {
                let magnitude = self.op(kind, "abs", &[&a]);
                self.join(op, kind, lane, &magnitude)
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

    /// Joins a lane's value and another lane's.
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

    /// Computes and stores a thread's elements, of which `first` is the first in its chunk. Returns their values of
    /// each part that is reduced.
    fn elements_of(&mut self, chunk: &Chunk, first: &Register) -> Vec<(usize, [Register; OWN])> {
        let mut parts: Vec<usize> = self.kernel.numbers.iter().flat_map(|number| number.of).collect();
        parts.sort_unstable();
        parts.dedup();
        let kind_of = |emitter: &Self, part: usize| Kind::of_numbers(emitter.kernel.parts[part].single);
        let mut values = Vec::with_capacity(parts.len());
        for part in parts {
            let kind = kind_of(self, part);
            values.push((part, [(); OWN].map(|()| self.code.register(kind))));
        }
        let [edge, again, over, done] = [(); 4].map(|()| self.code.label());
        // Side by side, if all of them exist and need no ghost values.
        let last = self.code.by(Kind::Word, "add.u32", first, (OWN - 1) * LANES);
        let is_short = self.code.of(Kind::Predicate, "setp.ge.u32", &[&last, &chunk.count]);
        let mut places = Vec::with_capacity(OWN);
        for i in 0..OWN {
            let at = self.code.by(Kind::Word, "add.u32", first, i * LANES);
            let indices = self.indices(chunk, &at);
            places.push(Place { offsets: Some(vec![0; indices.len()]), indices, at: None });
        }
        let before = self.code.take();
        self.code.scope();
        for (i, place) in places.iter().enumerate() {
            self.stores(place);
            for (part, own) in &values {
                let value = self.value(*part, place);
                self.code.set(kind_of(self, *part), &own[i], &value);
            }
        }
        self.code.leave();
        let inside = self.code.take();
        self.code.put(&before);
        // After all code that both ways share.
        self.code.branch(&is_short, &edge);
        self.code.scope();
        for place in &places {
            self.branch_unless_inside(place, &edge);
        }
        self.code.leave();
        self.code.put(&inside);
        self.code.jump(&done);
        // One after the other: those before it move up.
        self.code.place(&edge);
        let at = self.code.register(Kind::Word);
        self.code.set(Kind::Word, &at, first);
        for (part, own) in &values {
            let kind = kind_of(self, *part);
            own.iter().for_each(|own| self.code.set(kind, own, &literal(kind, 0.0)));
        }
        self.code.place(&again);
        self.code.scope();
        for (part, own) in &values {
            let kind = kind_of(self, *part);
            own.windows(2).for_each(|pair| self.code.set(kind, &pair[0], &pair[1]));
        }
        let is_over = self.code.of(Kind::Predicate, "setp.ge.u32", &[&at, &chunk.count]);
        self.code.branch(&is_over, &over);
        let place = Place { indices: self.indices(chunk, &at), offsets: None, at: None };
        self.stores(&place);
        for (part, own) in &values {
            let value = self.value(*part, &place);
            self.code.set(kind_of(self, *part), &own[OWN - 1], &value);
        }
        self.code.leave();
        self.code.place(&over);
        self.code.change("add.u32", &at, &LANES.to_string());
        self.code.repeat("setp.le.u32", [&at, &last], &again);
        self.code.place(&done);
        values
    }

    /// Continues the chains, with one warp of the team after the other. `turns` were taken before.
    fn lengthen_chains(
        &mut self,
        chunk: &Chunk,
        (turns, first): (&Register, &Register),
        values: &[(usize, [Register; OWN])],
    ) {
        let numbers = &self.kernel.numbers;
        let [again, others, met] = [(); 3].map(|()| self.code.label());
        let is_there: [Register; OWN] = std::array::from_fn(|i| {
            let at = self.code.by(Kind::Word, "add.u32", first, i * LANES);
            self.code.of(Kind::Predicate, "setp.lt.u32", &[&at, &chunk.count])
        });
        let is_alone = self.code.by(Kind::Predicate, "setp.eq.u32", &chunk.team, 1);
        let turn = self.code.register(Kind::Word);
        self.code.set(Kind::Word, &turn, "0");
        self.code.place(&again);
        self.code.scope();
        let is_other = self.code.of(Kind::Predicate, "setp.ne.u32", &[&turn, &chunk.seat]);
        self.code.branch(&is_other, &others);
        let before = self.code.of(Kind::Word, "add.u32", &[turns, &turn]);
        let is_later = self.code.by(Kind::Predicate, "setp.ne.u32", &before, 0);
        for (at, Reduced { op, of, .. }) in numbers.iter().enumerate() {
            let kind = Kind::of_numbers(self.kernel.parts[of[0]].single);
            let (place, class) = (format!("[{}+{}]", chunk.chains, 8 * LANES * at), kind.number());
            let mut chain = self.code.register(kind);
            self.code.set(kind, &chain, &literal(kind, op.start::<f64>()));
            self.code.line(&format!("@{is_later} ld.shared.{class} {chain}, {place}"));
            for (i, is_there) in is_there.iter().enumerate() {
                let own = of.map(|of| values.iter().find(|(part, _)| *part == of).map_or(chain, |(_, own)| own[i]));
                let longer = self.take(*op, kind, &chain, own);
                chain = self.choose(kind, is_there, &longer, &chain);
            }
            self.code.line(&format!("st.shared.{class} {place}, {chain}"));
        }
        self.code.leave();
        self.code.place(&others);
        self.code.branch(&is_alone, &met);
        self.code.line("bar.sync 0");
        self.code.place(&met);
        self.code.change("add.u32", &turn, "1");
        self.code.repeat("setp.lt.u32", [&turn, &chunk.team], &again);
    }

    /// Joins the results of chunks, and stores the number.
    fn join_chunks(
        &mut self,
        (at, op): (usize, Reduction),
        (kind, own): (Kind, &Register),
        (number, lane): (&Register, &Register),
        [results_at, counters_at]: [usize; 2],
    ) {
        let class = kind.number();
        let scratch = self.kernel.inputs.len() + self.kernel.outputs.len() + self.kernel.numbers.len();
        let [again, done, over] = [(); 3].map(|()| self.code.label());
        let is_first = self.code.by(Kind::Predicate, "setp.eq.u32", lane, 0);
        self.code.scope();
        // Results of this round, their number, this warp's number among them, and the counters.
        let [results, count, own_chunk, counters] = [(); 4].map(|()| self.code.register(Kind::Long));
        let base = self.address(scratch);
        for (register, (name, offset)) in [(&results, ("results", results_at)), (&counters, ("counters", counters_at))]
        {
            let offset = self.long(&format!("{name} {at}"), offset as i64);
            self.code.line(&format!("add.s64 {register}, {base}, {offset}"));
        }
        let chunks = self.long("chunks", self.kernel.len().div_ceil(CHUNK) as i64);
        self.code.set(Kind::Long, &count, &chunks);
        self.code.set(Kind::Long, &own_chunk, number);
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
        let (next, first_item) = (self.code.label(), self.code.register(Kind::Word));
        self.code.set(Kind::Word, &first_item, "0");
        self.code.set(kind, own, &literal(kind, op.start::<f64>()));
        let from = self.code.of(Kind::Long, "mad.lo.s64", &[&first, "8", &results]);
        self.code.place(&next);
        self.code.scope();
        let item = self.code.of(Kind::Word, "add.u32", &[&first_item, lane]);
        let place = self.code.of(Kind::Long, "mad.wide.u32", &[&item, "8", &from]);
        let mut loaded = Vec::with_capacity(ABREAST);
        for i in 0..ABREAST {
            let item = self.code.by(Kind::Word, "add.u32", &item, i * LANES);
            let is_there = self.code.of(Kind::Predicate, "setp.lt.u32", &[&item, &size]);
            let value = self.code.register(kind);
            self.code.set(kind, &value, &literal(kind, 0.0));
            self.code.line(&format!("@{is_there} ld.volatile.global.{class} {value}, [{place}+{}]", 8 * LANES * i));
            loaded.push((is_there, value));
        }
        let mut joined = *own;
        for (is_there, value) in loaded {
            let with = self.join(op, kind, &joined, &value);
            joined = self.choose(kind, &is_there, &with, &joined);
        }
        self.code.leave();
        self.code.set(kind, own, &joined);
        self.code.change("add.u32", &first_item, &(ABREAST * LANES).to_string());
        self.code.repeat("setp.lt.u32", [&first_item, &size], &next);
        self.join_lanes(op, kind, own);
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

/// Writes a kernel with reductions as PTX. The bytes behind all addresses are 0 before the first launch, and after
/// each.
pub(super) fn write(kernel: &Kernel, multiprocessors: usize) -> Written {
    let mut emitter = Emitter::new(kernel);
    let chunks = kernel.len().div_ceil(CHUNK);
    // Number of turns of a chain: no more than for the elements of one chunk.
    let turns = kernel.len().div_ceil(OWN * LANES).min(WARPS);
    let mut team = turns.next_power_of_two();
    while team > 1 && chunks * team > BUSY_WARPS * multiprocessors {
        team /= 2;
    }
    let warps = team.max(MIN_WARPS);
    let (blocks, threads) = (chunks.div_ceil(warps / team), [WARPS * LANES, 1]);
    emitter.shape = Shape { flat: true, domain: kernel.domain.clone(), rows: 1, dim: 0, stride: 1, threads, blocks };
    // The text does not depend on these.
    for (name, value) in [("team", team), ("teams", warps / team), ("turns", turns)] {
        emitter.long(name, value as i64);
    }
    let end = emitter.code.label();
    let chunk = emitter.begin_chunk(&end);
    let turns = emitter.index_of("turns", turns);
    let (again, taken) = (emitter.code.label(), emitter.code.register(Kind::Word));
    emitter.code.set(Kind::Word, &taken, "0");
    emitter.code.place(&again);
    emitter.code.scope();
    let own = emitter.code.of(Kind::Word, "add.u32", &[&taken, &chunk.seat]);
    let first = emitter.code.of(Kind::Word, "mad.lo.u32", &[&own, &(OWN * LANES).to_string(), &chunk.lane]);
    let values = emitter.elements_of(&chunk, &first);
    emitter.lengthen_chains(&chunk, (&taken, &first), &values);
    emitter.code.leave();
    emitter.code.change("add.u32", &taken, &chunk.team);
    emitter.code.repeat("setp.lt.u32", [&taken, &turns], &again);
    emitter.code.shared(CHAINS, MAX_TEAMS * 8 * LANES * kernel.numbers.len());
    let [results, counters] = joints(chunks);
    let mut scratch = 0;
    for (at, reduced) in kernel.numbers.iter().enumerate() {
        // A warp for each number, in turns.
        let next = emitter.code.label();
        emitter.code.scope();
        let seat = emitter.code.of(Kind::Word, "rem.u32", &[&at.to_string(), &chunk.team]);
        let is_other = emitter.code.of(Kind::Predicate, "setp.ne.u32", &[&seat, &chunk.seat]);
        emitter.code.branch(&is_other, &next);
        let kind = Kind::of_numbers(kernel.parts[reduced.of[0]].single);
        let own = emitter.code.register(kind);
        emitter.code.line(&format!("ld.shared.{} {own}, [{}+{}]", kind.number(), chunk.chains, 8 * LANES * at));
        emitter.join_lanes(reduced.op, kind, &own);
        let of_chunk = (&chunk.number, &chunk.lane);
        emitter.join_chunks((at, reduced.op), (kind, &own), of_chunk, [scratch, scratch + 8 * results]);
        emitter.code.leave();
        emitter.code.place(&next);
        scratch += 8 * results + (4 * counters).next_multiple_of(8);
    }
    emitter.code.place(&end);
    let entries: usize = kernel.filters().map(|axes| axes.iter().map(|axis| axis.extent).product::<usize>()).sum();
    let argument = emitter.argument.bytes;
    let blocks_at_once = BLOCKS[usize::from(entries + kernel.parts.len() > MAX_LIGHT)];
    let text = emitter.code.module(NAME, argument.len(), threads, blocks_at_once).into();
    Written { text, argument, blocks, threads: [warps * LANES, 1], scratch, sized: Vec::new() }
}

/// Returns the number of results of chunks of all rounds, and of counters: one for each 1,024 results.
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
