//! Records of elements of each step: the level that computes an element stores it.
//!
//! A table lists the recorded elements of each line of rows, and their places: first, for each line and behind the
//! last, the index of its first entry in the table; then the entries, a row in the lower half and a place in the step's
//! record in the upper half.

use super::state::LANES;
use crate::cuda::program::code::{Kind, Register};
use crate::cuda::program::emitter::Emitter;
use crate::cuda::program::shape::{At, Place};

/// Returns the table of these places in an array whose lines have `rows` rows.
pub(in crate::cuda::program) fn table(places: &[usize], rows: usize, elements: usize) -> Vec<u64> {
    let lines = elements / rows;
    let mut entries: Vec<_> =
        places.iter().zip(0_u64..).map(|(place, slot)| (place / rows, place % rows, slot)).collect();
    entries.sort_unstable();
    let mut table = Vec::with_capacity(lines + 1 + entries.len());
    let mut at = 0;
    for line in 0..=lines {
        at += entries[at..].iter().take_while(|(own, ..)| *own < line).count();
        table.push((lines + 1 + at) as u64);
    }
    table.extend(entries.into_iter().map(|(_, row, slot)| row as u64 | slot << 32));
    table
}

impl Emitter<'_> {
    /// Stores the record of a level's column.
    pub(super) fn record_level(&mut self, level: usize, halos: [usize; 2]) {
        for record in 0..self.walk().what.records.len() {
            for line in 0..self.walk().gait.lines as i64 {
                self.record_line(record, (level, line), halos);
            }
        }
    }

    fn record_line(&mut self, record: usize, (level, line): (usize, i64), halos: [usize; 2]) {
        let (elements, lag) = (self.walk().gait.elements, self.walk().route.lag);
        let recorded = &self.walk().what.records[record];
        let (part, kept) = (recorded.part, recorded.places.len());
        let kind = Kind::of_numbers(self.kernel.parts[part].single);
        // Before the branch: neighbours exchange them.
        let values: Vec<Register> =
            (0..elements).map(|element| self.value(part, &Place::of_walk(At { level, element, line, lag }))).collect();
        let [skip, again] = [(); 2].map(|()| self.code.label());
        let own = self.own_lanes(halos);
        let first = self.kernel.inputs.len() + self.kernel.outputs.len() + 2 * record;
        let [table, to] = [first, first + 1].map(|array| self.ahead(|emitter| emitter.address(array)));
        self.code.scope();
        let number = self.line_number((level, line), &skip);
        let entry = self.code.of(Kind::Long, "mad.lo.s64", &[&number, "8", &table]);
        let [begin, end] =
            [0, 8].map(|beyond| self.code.of(Kind::Long, "ld.global.nc.b64", &[&format!("[{entry}+{beyond}]")]));
        let is_empty = self.code.of(Kind::Predicate, "setp.ge.s64", &[&begin, &end]);
        self.code.branch(&is_empty, &skip);
        let at = self.code.register(Kind::Long);
        self.code.set(Kind::Long, &at, &begin);
        self.code.place(&again);
        self.code.scope();
        let entry = self.code.of(Kind::Long, "mad.lo.s64", &[&at, "8", &table]);
        let entry = self.code.of(Kind::Long, "ld.global.nc.b64", &[&format!("[{entry}+0]")]);
        let row = self.code.of(Kind::Word, "cvt.u32.u64", &[&entry]);
        let slot = self.code.by(Kind::Long, "shr.u64", &entry, 32);
        let own_row = self.walk().row;
        let element = self.code.of(Kind::Word, "sub.s32", &[&row, &own_row]);
        let is_here = self.code.by(Kind::Predicate, "setp.lt.u32", &element, elements);
        let is_here = self.code.of(Kind::Predicate, "and.pred", &[&is_here, &own]);
        let mut value = values[0];
        for (number, other) in values.iter().enumerate().skip(1) {
            let is_it = self.code.by(Kind::Predicate, "setp.eq.s32", &element, number);
            value = self.choose(kind, &is_it, other, &value);
        }
        let of_a_step = self.ahead(|emitter| emitter.long(&format!("kept {record}"), kept as i64));
        let slot = self.code.of(Kind::Long, "mad.lo.s64", &[&of_a_step, &level.to_string(), &slot]);
        let bytes = if kind == Kind::Single { "4" } else { "8" };
        let to = self.code.of(Kind::Long, "mad.lo.s64", &[&slot, bytes, &to]);
        self.code.line(&format!("@{is_here} st.global.{} [{to}+0], {value}", kind.number()));
        self.code.leave();
        self.code.line(&format!("add.s64 {at}, {at}, 1"));
        self.code.repeat("setp.lt.s64", [&at, &end], &again);
        self.code.leave();
        self.code.place(&skip);
    }

    /// Returns the number of a level's line among those of the array. Goes to `skip` if it is another warp's, or
    /// outside.
    fn line_number(&mut self, (level, line): (usize, i64), skip: &str) -> Register {
        let (along, beside, lag) = (self.walk().route.along, self.walk().route.beside, self.walk().route.lag);
        let rank = self.kernel.domain.len();
        let mut number = self.code.of(Kind::Long, "mov.b64", &["0"]);
        for d in 1..rank {
            let index = if Some(d) == along {
                let column = self.column_at(level, lag);
                let [own, last] =
                    ["own", "last"].map(|name| self.code.recall(name).expect("it was found at the beginning"));
                let before = self.code.of(Kind::Predicate, "setp.lt.s32", &[&column, &own]);
                let behind = self.code.of(Kind::Predicate, "setp.ge.s32", &[&column, &last]);
                let other = self.code.of(Kind::Predicate, "or.pred", &[&before, &behind]);
                self.code.branch(&other, skip);
                self.code.of(Kind::Long, "cvt.s64.s32", &[&column])
            } else if Some(d) == beside {
                let first = self.walk().line;
                let index = self.code.by(Kind::Word, "add.s32", &first, line);
                let lines = self.extent_of(d);
                let outside = self.code.of(Kind::Predicate, "setp.ge.s32", &[&index, &lines]);
                self.code.branch(&outside, skip);
                self.code.of(Kind::Long, "cvt.s64.s32", &[&index])
            } else {
                self.code.recall(&format!("index {d}")).expect("it was found at the beginning")
            };
            let step = self.kernel.domain[1..d].iter().product::<usize>() as i64;
            let step = self.ahead(|emitter| emitter.long(&format!("lines {d}"), step));
            number = self.code.of(Kind::Long, "mad.lo.s64", &[&index, &step, &number]);
        }
        number
    }

    /// Returns a predicate that is true for the lanes whose elements are their warp's own.
    pub(super) fn own_lanes(&mut self, halos: [usize; 2]) -> Register {
        let elements = self.walk().gait.elements;
        let [low, high] = [halos[0] / elements, LANES - halos[1] / elements];
        self.ahead(|emitter| {
            let lane = emitter.code.recall("lane").expect("it was found at the beginning");
            let low = emitter.code.by(Kind::Predicate, "setp.ge.s32", &lane, low);
            let high = emitter.code.by(Kind::Predicate, "setp.lt.s32", &lane, high);
            emitter.code.of(Kind::Predicate, "and.pred", &[&low, &high])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_lines_rows_and_places() {
        let entry = |row: u64, slot: u64| row | slot << 32;
        let entries = [entry(1, 1), entry(1, 3), entry(1, 0), entry(1, 2)];
        assert_eq!(table(&[7, 1, 7, 4], 3, 9), [[4, 5, 6, 8], entries].concat());
    }
}
