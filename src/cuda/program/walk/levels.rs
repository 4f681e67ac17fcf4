//! Levels of a walk: the parts that are computed of each column, and the columns.

use super::state::{Edges, Kept, Walk, Way};
use crate::cuda::program::code::{Kind, Register, literal};
use crate::cuda::program::emitter::Emitter;
use crate::cuda::program::shape::{At, Place};
use crate::stencil::Boundary;
use crate::stencil::program::{Feed, Step};

impl Emitter<'_> {
    /// Writes one copy of the walk.
    pub(super) fn copy_of_walk(&mut self, halos: [usize; 2]) {
        let before = self.code.take();
        let walks = self.walk().route.along.is_some();
        let fed = self.fed();
        let first = self.walk().first;
        let mut begin = Vec::new();
        // The first columns are there before the loop; in it the next one is loaded while the latest is worked on.
        for &(part, _) in &fed {
            let kind = Kind::of_numbers(self.kernel.parts[part].single);
            for line in self.lines_of(0, part) {
                let own: Vec<Register> = self.ahead(|emitter| emitter.load_part(part, (line, &first)));
                for (element, loaded) in own.into_iter().enumerate() {
                    let register = if walks { self.code.register(kind) } else { loaded };
                    begin.push((kind, register, loaded));
                    self.walk_mut().kept.push(((0, part, 0, line, element), register));
                }
            }
        }
        self.code.scope();
        let mut next = Vec::new();
        if walks {
            let column = self.walk().column;
            let behind = self.code.by(Kind::Word, "add.s32", &column, 1);
            for &(part, _) in &fed {
                for line in self.lines_of(0, part) {
                    next.push((part, line, self.load_part(part, (line, &behind))));
                }
            }
        }
        for level in 0..self.walk().gait.levels {
            self.level(level);
            self.record_level(level, halos);
        }
        self.store_columns(halos);
        if walks {
            self.advance(&next);
        }
        self.code.leave();
        let body = self.code.take();
        let ahead = self.code.take_ahead();
        self.code.put(&before);
        self.code.put(&ahead);
        if !walks {
            self.code.put(&body);
            return;
        }
        for (kind, to, from) in begin {
            self.code.set(kind, &to, &from);
        }
        let past = self.walk().kept.iter().filter(|(kept, _)| kept.2 > 0);
        let chains = self.walk().chains.iter().map(|(kept, [register, _])| (kept.1, *register));
        let past: Vec<_> = past.map(|(kept, register)| (kept.1, *register)).chain(chains).collect();
        for (part, register) in past {
            let kind = Kind::of_numbers(self.kernel.parts[part].single);
            self.code.set(kind, &register, &literal(kind, 0.0));
        }
        let again = self.code.label();
        self.code.place(&again);
        self.code.put(&body);
        let column = self.walk().column;
        let stop = self.code.recall("stop").expect("it was found at the beginning");
        self.code.repeat("setp.lt.s32", [&column, &stop], &again);
    }

    /// Returns the parts that load a result of the step before, with its output.
    fn fed(&self) -> Vec<(usize, usize)> {
        let walk = self.walk();
        let of = |(part, of): (usize, &crate::stencil::program::Part)| match &of.step {
            Step::Load(input, _) if !walk.route.uniform[part] => match walk.what.feeds[*input] {
                Feed::Output(output) => Some((part, output)),
                _ => None,
            },
            _ => None,
        };
        self.kernel.parts.iter().enumerate().filter_map(of).collect()
    }

    /// Loads the elements of a column of a part.
    fn load_part(&mut self, part: usize, at: (i64, &str)) -> Vec<Register> {
        let kernel = self.kernel;
        let Step::Load(input, view) = &kernel.parts[part].step else { unreachable!("it is loaded") };
        let kind = Kind::of_numbers(kernel.parts[part].single);
        self.load_column(part, (*input, view), at, kind)
    }

    /// Returns the lines in which a part is computed, in a level. Lines of a state that are needed in one column alone
    /// are loaded then.
    fn lines_of(&self, level: usize, part: usize) -> std::ops::Range<i64> {
        let Walk { route, gait, .. } = self.walk();
        let beyond = |side: usize| ((gait.levels - level) * route.lines[side]) as i64;
        let [low, high] = route.lines_of[part].map(|reach| reach as i64);
        let own = gait.lines as i64;
        if level == 0 && self.is_late(part) {
            return 0..own;
        }
        low - beyond(0)..own + beyond(1) - high
    }

    /// Returns true for a state whose lines outside a lane's own stay in memory until they are needed.
    fn is_late(&self, part: usize) -> bool {
        let Walk { route, gait, .. } = self.walk();
        gait.levels == 1 && route.once[part] && matches!(self.kernel.parts[part].step, Step::Load(..))
    }

    /// Computes the kept parts of a level's latest column, and the input of the next level.
    fn level(&mut self, level: usize) {
        let kernel = self.kernel;
        let Walk { gait, route, .. } = self.walk();
        let (elements, levels, lag) = (gait.elements, gait.levels, route.lag);
        let fed = self.fed();
        let is_fed = |part: usize| fed.iter().any(|&(own, _)| own == part);
        for part in 0..kernel.parts.len() {
            let route = &self.walk().route;
            if !route.kept[part] || route.uniform[part] || is_fed(part) {
                continue;
            }
            let lag = route.lags[part];
            for line in self.lines_of(level, part) {
                for element in 0..elements {
                    let value = self.computed(part, At { level, element, line, lag });
                    self.walk_mut().kept.push(((level, part, 0, line, element), value));
                }
            }
        }
        if level + 1 == levels {
            return;
        }
        for &(part, output) in &fed {
            let of = kernel.outputs[output].1;
            for line in self.lines_of(level + 1, part) {
                for element in 0..elements {
                    let value = self.value(of, &Place::of_walk(At { level, element, line, lag }));
                    self.walk_mut().kept.push(((level + 1, part, 0, line, element), value));
                }
            }
        }
    }

    fn store_columns(&mut self, halos: [usize; 2]) {
        let kernel = self.kernel;
        let route = &self.walk().route;
        let (levels, lag, walks) = (self.walk().gait.levels, route.lag, route.along.is_some());
        let column = self.column_at(levels - 1, lag);
        let own = walks.then(|| {
            let own = self.code.recall("own").expect("it was found at the beginning");
            self.code.of(Kind::Predicate, "setp.ge.s32", &[&column, &own])
        });
        for (output, &(_, part)) in kernel.outputs.iter().enumerate() {
            if self.walk().what.feeds.contains(&Feed::Scalar(output)) {
                self.store_one(output, part);
            } else {
                for line in 0..self.walk().gait.lines as i64 {
                    self.store_column((output, line), halos, own.as_deref());
                }
            }
        }
    }

    /// Stores one number: only the first lane of all does.
    fn store_one(&mut self, output: usize, part: usize) {
        let kind = Kind::of_numbers(self.kernel.parts[part].single);
        let level = self.walk().gait.levels - 1;
        let array = self.kernel.inputs.len() + output;
        self.ahead(|emitter| {
            let value = emitter.value(part, &Place::of_walk(At { level, element: 0, line: 0, lag: 0 }));
            let address = emitter.address(array);
            let mut all = emitter.code.recall("lane").expect("it was found at the beginning");
            for part in ["%ctaid.x", "%tid.y"] {
                let own = emitter.code.of(Kind::Word, "mov.u32", &[part]);
                all = emitter.code.of(Kind::Word, "or.b32", &[&all, &own]);
            }
            let is_first = emitter.code.by(Kind::Predicate, "setp.eq.u32", &all, 0);
            emitter.code.line(&format!("@{is_first} st.global.{} [{address}+0], {value}", kind.number()));
        });
    }

    /// Makes each column one older.
    fn advance(&mut self, next: &[(usize, i64, Vec<Register>)]) {
        let walk = self.walk();
        let mut past: Vec<Kept> = walk.kept.iter().map(|(kept, _)| *kept).filter(|kept| kept.2 > 0).collect();
        // Each is read before it is written: by an older one of its own, or as input of a later part or level.
        past.sort_unstable_by_key(|kept| std::cmp::Reverse(*kept));
        let mut moves = Vec::new();
        for key in past {
            moves.push((key, walk.find((key.0, key.1, key.2 - 1, key.3, key.4))));
        }
        for (part, line, loaded) in next {
            for (element, from) in loaded.iter().enumerate() {
                moves.push(((0, *part, 0, *line, element), Some(*from)));
            }
        }
        for (key, from) in moves {
            let kind = Kind::of_numbers(self.kernel.parts[key.1].single);
            let to = self.walk().find(key);
            self.code.set(kind, &to.expect("it is kept"), &from.expect("those ahead of it are kept"));
        }
        self.lengthen();
        let column = self.walk().column;
        self.code.line(&format!("add.s32 {column}, {column}, 1"));
    }

    /// Returns the value of a part that is loaded, kept or uniform. `None` for an operation on others' values at the
    /// same place.
    pub(in crate::cuda::program) fn walked(&mut self, part: usize, at: At) -> Option<Register> {
        let kernel = self.kernel;
        let route = &self.walk().route;
        let (uniform, kept, lag) = (route.uniform[part], route.kept[part], route.lags[part]);
        if uniform {
            let one = At { element: 0, line: 0, lag: 0, ..at };
            if at != one {
                return Some(self.ahead(|emitter| emitter.value(part, &Place::of_walk(one))));
            }
        } else if kept {
            return Some(self.kept(part, (at.lag - lag) as i64, at));
        }
        let Step::Load(input, view) = &kernel.parts[part].step else { return None };
        let kind = Kind::of_numbers(kernel.parts[part].single);
        if uniform {
            if let (Feed::Scalar(output), true) = (self.walk().what.feeds[*input], at.level > 0) {
                let of = kernel.outputs[output].1;
                return Some(self.value(of, &Place::of_walk(At { level: at.level - 1, ..at })));
            }
            let bytes = if kind == Kind::Single { 4 } else { 8 };
            let (address, beyond) = self.address_of_one(*input, view, at.level, bytes);
            let name = format!("ld.global.nc.{}", kind.number());
            return Some(self.code.of(kind, &name, &[&format!("[{address}+{beyond}]")]));
        }
        let column = self.column_at(at.level, at.lag);
        Some(self.load_part(part, (at.line, &column)).swap_remove(at.element))
    }

    /// Returns an element of a part that is kept, `age` columns ago.
    fn kept(&mut self, part: usize, age: i64, at: At) -> Register {
        if self.walk().route.uniform[part] {
            let one = At { element: 0, line: 0, lag: 0, ..at };
            return self.ahead(|emitter| emitter.value(part, &Place::of_walk(one)));
        }
        assert!(age >= 0, "a column that has not come");
        let At { level, element, line, .. } = at;
        if level == 0 && self.is_late(part) && !self.lines_of(0, part).contains(&line) {
            let column = self.column_at(0, self.walk().route.lags[part] + age as usize);
            return self.load_part(part, (line, &column)).swap_remove(element);
        }
        // Those between it and the latest pass it on.
        for age in 1..=age as usize {
            let key = (level, part, age, line, element);
            if self.walk().find(key).is_none() {
                let register = self.code.register(Kind::of_numbers(self.kernel.parts[part].single));
                self.walk_mut().kept.push((key, register));
            }
        }
        self.walk().find((level, part, age as usize, line, element)).expect("a column that has come")
    }

    /// Notes the way of a sample along a dimension. The result is that of [`Emitter::moved`].
    pub(in crate::cuda::program) fn turned(
        &mut self,
        ways: &mut [Way; 3],
        dim: usize,
        way: Way,
        at: At,
    ) -> Option<Option<Register>> {
        ways[self.direction(dim)] = way;
        let may_be_outside = self.walk().edges == Edges::Chosen && matches!(way.end, Boundary::Constant(_));
        may_be_outside.then(|| Some(self.is_outside(dim, way, at)))
    }

    /// Returns the direction: 0 for rows, 1 for lines, 2 for columns.
    pub(super) fn direction(&self, dim: usize) -> usize {
        match dim {
            0 => 0,
            dim if Some(dim) == self.walk().route.beside => 1,
            _ => 2,
        }
    }

    /// Returns the condition under which a sample lies outside the array.
    fn is_outside(&mut self, dim: usize, way: Way, at: At) -> Register {
        let (index, own) = match self.direction(dim) {
            0 => (self.walk().row, at.element as i64),
            1 => (self.walk().line, at.line),
            _ => (self.column_at(at.level, at.lag), 0),
        };
        let extent = self.extent_of(dim);
        let there = self.code.by(Kind::Word, "add.s32", &index, own + way.offset);
        match way.offset < 0 {
            true => self.code.by(Kind::Predicate, "setp.lt.s32", &there, 0),
            false => self.code.of(Kind::Predicate, "setp.ge.s32", &[&there, &extent]),
        }
    }

    /// Returns a part's value at another row, another line and another column.
    pub(in crate::cuda::program) fn beside(&mut self, of: usize, [rows, lines, columns]: [Way; 3], at: At) -> Register {
        let elements = self.walk().gait.elements;
        let index = self.walk().row;
        let position = at.element as i64 + rows.offset;
        self.with_ghosts(of, rows, (position, elements), (0, &index), &mut |emitter, position| {
            emitter.across(of, [lines, columns], position, at)
        })
    }

    /// Returns a part's value at a position, counted from the first one of a block of `size`. Blocks begin at multiples
    /// of that along the dimension, this one at `index`. A position outside the array gets the result of `get` for
    /// another one.
    fn with_ghosts(
        &mut self,
        of: usize,
        way: Way,
        (position, size): (i64, usize),
        (dim, index): (usize, &str),
        get: &mut dyn FnMut(&mut Self, i64) -> Register,
    ) -> Register {
        let mut value = get(self, position);
        if self.walk().edges != Edges::Chosen || way.offset == 0 {
            return value;
        }
        let kind = Kind::of_numbers(self.kernel.parts[of].single);
        let size = size as i64;
        // The last element's place in its block; the text of the kernel depends on that.
        let last = (self.kernel.domain[dim] as i64 - 1) % size;
        for blocks in 0.. {
            // The distance outside the array, for a block `blocks` behind the first one or ahead of the last one.
            let beyond = match way.offset < 0 {
                true => -position - blocks * size,
                false => position - last - blocks * size,
            };
            let Some(inside) = (beyond > 0).then(|| way.inside(position, beyond)).flatten() else { break };
            // No element inside has a sample so far outside.
            if beyond > way.offset.abs() {
                continue;
            }
            let begins = match way.offset < 0 {
                true => Register::of(&(blocks * size).to_string()),
                false => {
                    let extent = self.extent_of(dim);
                    self.code.by(Kind::Word, "sub.s32", &extent, last + 1 + blocks * size)
                }
            };
            let is_there = self.code.of(Kind::Predicate, "setp.eq.s32", &[index, &begins]);
            let other = get(self, inside);
            value = self.choose(kind, &is_there, &other, &value);
        }
        value
    }

    /// Returns a part's value at another line and column. The position counts from the lane's first element, and may be
    /// another lane's.
    fn across(&mut self, of: usize, [lines, columns]: [Way; 2], position: i64, at: At) -> Register {
        let Walk { gait, line, route, .. } = self.walk();
        let (elements, size, index) = (gait.elements as i64, gait.lines, *line);
        let dim = route.beside.unwrap_or(0);
        let (lanes, element) = (position.div_euclid(elements), position.rem_euclid(elements));
        let at = At { element: element as usize, ..at };
        let own = self.with_ghosts(of, lines, (at.line + lines.offset, size), (dim, &index), &mut |emitter, line| {
            emitter.at_column(of, columns, At { line, ..at })
        });
        if lanes == 0 || self.walk().route.uniform[of] {
            own
        } else {
            self.shuffled(Kind::of_numbers(self.kernel.parts[of].single), &own, lanes)
        }
    }

    /// Returns a part's value at an element of the lane and another column.
    fn at_column(&mut self, of: usize, columns: Way, at: At) -> Register {
        let kind = Kind::of_numbers(self.kernel.parts[of].single);
        let newest = at.lag as i64 - self.walk().route.lags[of] as i64;
        let mut value = self.kept(of, newest - columns.offset, at);
        if self.walk().edges != Edges::Chosen || columns.offset == 0 || self.walk().route.uniform[of] {
            return value;
        }
        let key = format!("column {of} {at:?} {columns:?}");
        if let Some(known) = self.code.recall(&key) {
            return known;
        }
        // The columns from which the sample lies outside, one by one.
        for from_end in 0..columns.offset.abs() {
            let beyond = columns.offset.abs() - from_end;
            let Some(inside) = columns.inside(columns.offset, beyond) else { break };
            let own = self.column_at(at.level, at.lag);
            let end = match columns.offset < 0 {
                true => Register::of(&from_end.to_string()),
                false => {
                    let along = self.walk().route.along.expect("there are columns");
                    let columns = self.extent_of(along);
                    self.code.by(Kind::Word, "sub.s32", &columns, from_end + 1)
                }
            };
            let is_there = self.code.of(Kind::Predicate, "setp.eq.s32", &[&own, &end]);
            let other = self.kept(of, newest - inside, at);
            value = self.choose(kind, &is_there, &other, &value);
        }
        self.code.remember(key, &value);
        value
    }

    /// Returns the latest value of a part that is kept.
    fn computed(&mut self, part: usize, at: At) -> Register {
        if let Step::Load(..) = self.kernel.parts[part].step {
            let column = self.column_at(at.level, at.lag);
            return self.load_part(part, (at.line, &column)).swap_remove(at.element);
        }
        match self.walk().route.open[part] && self.walk().edges != Edges::Chosen {
            true => self.chained(part, at),
            false => self.operation(part, &Place::of_walk(at)),
        }
    }
}
