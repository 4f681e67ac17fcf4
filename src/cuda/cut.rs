//! How an array falls into tiles with halos, and how a tile is copied out of it and back.
//!
//! An array is a box of up to three dimensions, column-major: rows, columns, pages. (Lines are seen so, too: neighbours
//! that belong to different lines, the places along a line, and the rest.) A *tile* is a box of its outputs, with a
//! *halo*: the samples around it that its outputs need. Every element of the array is an output of one tile.
//!
//! A halo ends where the array does: what stands beyond is left to the kernel, to which a tile is an array of its own.
//! Its outputs near the other ends of the tile are wrong, and nobody takes them. Only where the array goes round, or
//! where a kernel wants it so, a halo goes on beyond the array, with the samples that the boundary puts there.
//!
//! # Rationale
//! A sweep over a tile spoils as much of it as the stencil reaches. With a halo for several sweeps a tile is sent once
//! for all of them: temporal blocking. What a halo has is sent and computed for nothing, and the more sweeps it is for,
//! the more that is: [`Cut::deep`] weighs this against the rounds that are saved.

use std::ops::Range;

use crate::host::SharedOutput;
use crate::stencil::{Ends, Lines, Real, Sides};

/// Where the runs of rows that a tile is copied in are not whole columns, they are at least as long as a page of
/// memory, if there is one sweep for each copy.
const ROWS: usize = 512;

/// The same for many sweeps: then the lines had better be whole, and the copies do not count.
const SWEPT_ROWS: usize = 32;

/// A halo along a line takes at most this part of a tile at either end.
const HALO_SHARE: usize = 8;

/// The bytes of a tile that is swept many times.
pub(crate) const SWEPT_BYTES: usize = 4 << 20;

/// Rows, columns, pages.
pub(crate) type Size = [usize; 3];

/// An array, cut into tiles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cut<T> {
    /// Of the array.
    size: Size,
    /// The most outputs of a tile along each dimension.
    most: Size,
    /// The halo along each dimension, in which it is cut.
    halo: Size,
    /// What stands around the array.
    sides: Sides<T>,
    /// Along which dimensions halos go on beyond the array.
    extended: [bool; 3],
    /// The sweeps that the halo is made for.
    sweeps: usize,
}

/// A tile: its outputs, and the samples at hand on either side of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tile {
    outputs: [Range<usize>; 3],
    before: Size,
    after: Size,
}

impl Tile {
    /// A whole array as one tile.
    pub(crate) fn whole(size: Size) -> Tile {
        Tile { outputs: size.map(|size| 0..size), before: [0; 3], after: [0; 3] }
    }

    /// The size of the array that the tile is to a kernel.
    pub(crate) fn size(&self) -> Size {
        std::array::from_fn(|d| self.before[d] + self.outputs[d].len() + self.after[d])
    }

    /// How many samples that are.
    pub(crate) fn samples(&self) -> usize {
        self.size().iter().product()
    }

    /// The samples at hand on either side of the outputs, along a dimension.
    pub(crate) fn around(&self, d: usize) -> [usize; 2] {
        [self.before[d], self.after[d]]
    }

    /// The places of its outputs along a dimension.
    pub(crate) fn output(&self, d: usize) -> Range<usize> {
        self.outputs[d].clone()
    }

    /// How many outputs there are.
    pub(crate) fn outputs(&self) -> usize {
        self.outputs.iter().map(Range::len).product()
    }

    /// From the first of its samples that is an output to behind the last, as they follow each other in the tile.
    pub(crate) fn span(&self) -> Range<usize> {
        if self.outputs() == 0 {
            return 0..0;
        }
        let size = self.size();
        let at = |place: Size| place[0] + size[0] * (place[1] + size[1] * place[2]);
        let last = std::array::from_fn(|d| self.before[d] + self.outputs[d].len() - 1);
        at(self.before)..at(last) + 1
    }
}

impl<T: Real> Cut<T> {
    /// For `sweeps` of a stencil of this radius along lines, or as many of them as can be done at once, with tiles of
    /// about `elements` samples. Each line in a tile of its own, extended beyond its ends, if `split`; else whole lines
    /// where they fit. A tile is never smaller than one output needs.
    pub(crate) fn lines(
        lines: Lines,
        ends: Ends<T>,
        radius: usize,
        sweeps: usize,
        elements: usize,
        split: bool,
    ) -> Cut<T> {
        let sides = Sides::from([Ends::default(), ends, Ends::default()]);
        let size @ [inner, length, outer] = [lines.inner(), lines.length(), lines.outer()];
        let whole = |most| Cut { size, most, halo: [0; 3], sides, extended: [false; 3], sweeps };
        if !split && inner * length <= elements {
            return whole([inner, length, (elements / (inner * length).max(1)).clamp(1, outer.max(1))]);
        }
        let rows = if sweeps > 1 { SWEPT_ROWS } else { ROWS }.min(inner);
        if !split && elements / length.max(1) >= rows {
            return whole([elements / length, length, 1]);
        }
        // Rows as long as they should be, unless not even the halo of one sweep would fit.
        let least = 2 * radius + 1;
        let rows = rows.min(elements / least).max(1);
        let along = (elements / rows).max(least).min(length + 2 * radius * sweeps);
        let at_once = (along / HALO_SHARE).checked_div(radius).unwrap_or(sweeps).clamp(1, sweeps);
        // All rounds of about as many.
        let at_once = sweeps.div_ceil(sweeps.div_ceil(at_once));
        let halo = radius * at_once;
        // Going round, a line has no end that a kernel could see.
        let extended = [false, split || ends.is_circular(), false];
        let most = [rows, (along - 2 * halo).min(length), 1];
        Cut { size, most, halo: [0, halo, 0], sides, extended, sweeps: at_once }
    }

    /// For one sweep of a filter of this radius over an image or a volume, with tiles of whole columns: about `wanted`
    /// outputs and not many more samples, of which no tile has more than `limit` together; but never less than a
    /// column.
    pub(crate) fn volume(size: Size, sides: Sides<T>, radius: Size, wanted: usize, limit: usize) -> Cut<T> {
        let extended = circular(sides);
        let cut = |most: Size| {
            // What is whole has nothing beside it.
            let halo = std::array::from_fn(|d| if most[d] >= size[d] { 0 } else { radius[d] });
            Cut { size, most, halo, sides, extended, sweeps: 1 }
        };
        let mut most = [size[0], 1, 1];
        loop {
            let samples = cut(most).most_samples();
            let outputs = most.iter().product::<usize>();
            // What is sent beside what is computed is to stay small; but the tiles, too, or few of them are under way.
            let share = if outputs >= 4 * wanted { 2 } else { 4 };
            if outputs >= wanted && samples <= outputs + outputs / share {
                return cut(most);
            }
            // First that dimension in which more is sent beside what is computed; where that is all the same, along
            // memory.
            let beside = |d: usize| cut(most).halo[d] as f64 / most[d] as f64;
            let order = if beside(1) >= beside(2) { [1, 2] } else { [2, 1] };
            let larger = order.into_iter().filter(|&d| most[d] < size[d]).map(|d| {
                let mut larger = most;
                larger[d] = (2 * larger[d]).min(size[d]);
                larger
            });
            match larger.into_iter().find(|&larger| 2 * cut(larger).most_samples() <= limit) {
                Some(larger) => most = larger,
                None => return cut(most),
            }
        }
    }

    /// For several of so many `sweeps` of a filter of this radius over an image or a volume, with tiles of whole columns
    /// that have at most `limit` samples; `None` where single sweeps had better go through the slots.
    ///
    /// The way of a sample to the device and back is the unit of time, and an `update` of it takes so long. Each round
    /// sends all tiles, and each sweep computes all that they have. So long as few sweeps take as long as the way, halos
    /// are worth it that are as large as half the outputs between them.
    pub(crate) fn deep(
        size: Size,
        sides: Sides<T>,
        radius: Size,
        sweeps: usize,
        limit: usize,
        update: f64,
    ) -> Option<Cut<T>> {
        // Where each sweep sends the array, that takes longer than what is computed meanwhile.
        let single = (sweeps as f64 * size.iter().product::<usize>() as f64, None);
        let cuts = numbers_to(sweeps).map(|rounds| sweeps.div_ceil(rounds)).take_while(|&at_once| at_once > 1);
        let cuts = cuts.flat_map(|at_once| Cut::deep_tiles(size, sides, radius, at_once, limit));
        let timed = cuts.map(|cut| {
            // The same number again for all rounds: these are of about as many sweeps.
            let rounds = sweeps.div_ceil(cut.sweeps);
            ((rounds as f64 + sweeps as f64 * update) * cut.sent(), Some(cut))
        });
        std::iter::once(single).chain(timed).min_by(|a, b| a.0.total_cmp(&b.0))?.1
    }

    /// The ways to cut an array for so many sweeps at once: by each number of tiles along columns, or pages, there are
    /// as few along the other dimension as the limit asks for.
    fn deep_tiles(
        size: Size,
        sides: Sides<T>,
        radius: Size,
        sweeps: usize,
        limit: usize,
    ) -> impl Iterator<Item = Cut<T>> {
        let extended = circular(sides);
        let reach = radius.map(|radius| radius.saturating_mul(sweeps));
        let ways =
            [[1, 2], [2, 1]].into_iter().flat_map(move |ds| numbers_to(size[ds[0]]).map(move |count| (ds, count)));
        ways.filter_map(move |([first, second], count)| {
            let (mut most, mut halo) = (size, [0; 3]);
            if count > 1 {
                (most[first], halo[first]) = (size[first].div_ceil(count), reach[first]);
            }
            let beside = size[0].saturating_mul(halo[first].saturating_mul(2).saturating_add(most[first]));
            let room = limit / beside.max(1);
            if room < size[second] {
                halo[second] = reach[second];
                let outputs = room.checked_sub(halo[second].checked_mul(2)?).filter(|&outputs| outputs > 0)?;
                // All tiles of about as many.
                most[second] = size[second].div_ceil(size[second].div_ceil(outputs));
            }
            Some(Cut { size, most, halo, sides, extended, sweeps })
        })
    }

    /// Into as many parts along one dimension, or fewer, each with a halo of so many samples there, for so many sweeps.
    pub(crate) fn parts(size: Size, sides: Sides<T>, along: usize, count: usize, halo: usize, sweeps: usize) -> Cut<T> {
        let (mut most, mut halos) = (size, [0; 3]);
        most[along] = size[along].div_ceil(count.max(1));
        if most[along] < size[along] {
            halos[along] = halo;
        }
        Cut { size, most, halo: halos, sides, extended: circular(sides), sweeps }
    }

    /// Of the array.
    pub(crate) fn size(&self) -> Size {
        self.size
    }

    /// The number of the tile with the outputs at this place, of an array that is cut along this dimension alone.
    pub(crate) fn tile_with(&self, along: usize, place: usize) -> usize {
        place / self.most[along].max(1)
    }

    /// How many samples all tiles have, or somewhat fewer.
    fn sent(&self) -> f64 {
        let counts = self.counts();
        let along = |d: usize| {
            // At the array's own ends there is nothing beside a tile, unless it goes on there.
            let cuts = if self.extended[d] { counts[d] } else { counts[d] - 1 };
            self.size[d] as f64 + 2.0 * self.halo[d] as f64 * cuts as f64
        };
        (0..3).map(along).product()
    }

    /// How many sweeps the halos are for.
    pub(crate) fn sweeps(&self) -> usize {
        self.sweeps
    }

    /// What a kernel is to take for what stands around a tile.
    pub(crate) fn sides(&self) -> Sides<T> {
        // Beyond a halo that is whole anything will do.
        let cut = |d: usize| self.extended[d] && self.halo[d] > 0;
        [0, 1, 2].map(|d| if cut(d) { Ends::default() } else { self.sides[d] }).into()
    }

    /// Tiles along each dimension.
    fn counts(&self) -> Size {
        std::array::from_fn(|d| self.size[d].div_ceil(self.most[d].max(1)))
    }

    /// How many tiles there are.
    pub(crate) fn count(&self) -> usize {
        self.counts().iter().product()
    }

    /// The most samples that a tile has.
    pub(crate) fn most_samples(&self) -> usize {
        // With a halo on both sides, also where there are but two tiles.
        let held = |d: usize| self.most[d] + 2 * self.halo[d];
        let held = |d: usize| if self.extended[d] { held(d) } else { held(d).min(self.size[d]) };
        (0..3).map(held).product()
    }

    /// The tile of this number: neighbours in memory follow each other.
    pub(crate) fn tile(&self, number: usize) -> Tile {
        let counts = self.counts();
        let place = [number % counts[0], number / counts[0] % counts[1], number / (counts[0] * counts[1])];
        let outputs: [Range<usize>; 3] =
            std::array::from_fn(|d| place[d] * self.most[d]..((place[d] + 1) * self.most[d]).min(self.size[d]));
        let room = |d: usize, room: usize| if self.extended[d] { self.halo[d] } else { self.halo[d].min(room) };
        let before = std::array::from_fn(|d| room(d, outputs[d].start));
        let after = std::array::from_fn(|d| room(d, self.size[d] - outputs[d].end));
        Tile { outputs, before, after }
    }

    /// The samples of a tile that are its outputs, whole pages or columns, as they follow each other in the array.
    fn neighbours(&self, tile: &Tile) -> Option<Range<usize>> {
        let [rows, columns, _] = self.size;
        let whole = |d: usize| tile.outputs[d].len() == self.size[d];
        let alone = [tile.before, tile.after] == [[0; 3]; 2] && whole(0) && (whole(1) || tile.outputs[2].len() == 1);
        let first = rows * (tile.outputs[1].start + columns * tile.outputs[2].start);
        alone.then(|| first..first + tile.outputs())
    }

    /// Where the outputs of a tile with whole columns are in the array, if they follow each other there as they do in the
    /// tile.
    pub(crate) fn run_of(&self, tile: &Tile) -> Option<Range<usize>> {
        let [rows, columns, _] = self.size;
        let alone = tile.around(1) == [0, 0] && tile.outputs[1].len() == columns;
        let first = rows * (tile.outputs[1].start + columns * tile.outputs[2].start);
        let whole = tile.outputs[0].len() == rows && tile.around(0) == [0, 0];
        (whole && (alone || tile.outputs[2].len() == 1)).then(|| first..first + tile.outputs())
    }

    /// Copies the samples of `tile` out of `input` to the beginning of `to`.
    pub(crate) fn gather(&self, tile: &Tile, input: &[T], to: &mut [T]) {
        if let Some(elements) = self.neighbours(tile) {
            return to.copy_from_slice(&input[elements]);
        }
        let height = tile.outputs[0].len();
        if height == self.size[0] {
            return self.gather_part(tile, 0..tile.samples(), input, to);
        }
        let rows = self.size[0];
        let [across, along] = [1, 2].map(|d| {
            let range = &tile.outputs[d];
            range.start as isize - tile.before[d] as isize..(range.end + tile.after[d]) as isize
        });
        let mut to = to;
        for page in along {
            for column in across.clone() {
                let from = self.column_at(column, page).map(|column| tile.outputs[0].start + rows * column);
                put(from, input, take(&mut to, height));
            }
        }
    }

    /// The same with the samples of these places in the tile, of one that has whole columns.
    pub(crate) fn gather_part(&self, tile: &Tile, part: Range<usize>, input: &[T], to: &mut [T]) {
        let [rows, columns, pages] = self.size;
        let [height, width, depth] = tile.size();
        assert!(height == rows && tile.before[0] == 0 && part.len() == to.len());
        let first = [1, 2].map(|d| tile.outputs[d].start as isize - tile.before[d] as isize);
        let (mut at, mut to) = (part.start, to);
        while !to.is_empty() {
            let (row, across, along) = (at % rows, at / rows % width, at / rows / width);
            let (column, page) = (first[0] + across as isize, first[1] + along as isize);
            // Columns that the array has are copied at once where they are neighbours in memory, and so are pages.
            let inside = (0..columns as isize).contains(&column);
            let beside = if inside { (width - across).min(columns - column as usize) } else { 1 };
            let whole = width == columns && tile.before[1] == 0 && (0..pages as isize).contains(&page);
            let behind = if whole { (depth - along).min(pages - page as usize) - 1 } else { 0 };
            let run = (rows * (beside + columns * behind) - row).min(to.len());
            let from = self.column_at(column, page).map(|column| row + rows * column);
            put(from, input, take(&mut to, run));
            at += run;
        }
    }

    /// The number of the column that stands at a place, among all of the array; or the constant that does.
    fn column_at(&self, column: isize, page: isize) -> Result<usize, T> {
        let [_, columns, pages] = self.size;
        let page = self.sides[2].sample_at(page, pages)?;
        Ok(self.sides[1].sample_at(column, columns)? + columns * page)
    }

    /// Copies the outputs of `tile` to their places in the array: `from` is its [span](Tile::span).
    ///
    /// # Safety
    /// Nobody else is at work on this tile.
    pub(crate) unsafe fn scatter(&self, tile: &Tile, from: &[T], output: &SharedOutput<T>) {
        if let Some(elements) = self.neighbours(tile) {
            // SAFETY: every element is an output of one tile.
            return unsafe { output.places(elements) }.copy_from_slice(from);
        }
        if tile.outputs[0].len() == self.size[0] {
            // SAFETY: as the caller says.
            return unsafe { self.scatter_part(tile, 0..from.len(), from, output) };
        }
        let [rows, columns, _] = self.size;
        let [height, width, _] = tile.size();
        for (page, to) in tile.outputs[2].clone().enumerate() {
            for column in 0..tile.outputs[1].len() {
                let from = &from[height * (column + width * page)..][..tile.outputs[0].len()];
                let place = tile.outputs[0].start + rows * (tile.outputs[1].start + column + columns * to);
                // SAFETY: every element is an output of one tile.
                unsafe { output.places(place..place + from.len()) }.copy_from_slice(from);
            }
        }
    }

    /// The same with a part of the span, counted from its beginning, of a tile that has whole columns.
    ///
    /// # Safety
    /// Nobody else is at work on this part of this tile.
    pub(crate) unsafe fn scatter_part(&self, tile: &Tile, part: Range<usize>, from: &[T], output: &SharedOutput<T>) {
        let [rows, columns, _] = self.size;
        let [height, width, _] = tile.size();
        assert!(height == rows && part.len() == from.len());
        // What is between two pages' outputs are the halos of both.
        let (page, run) = (height * width, height * tile.outputs[1].len());
        if part.is_empty() || run == 0 {
            return;
        }
        for along in part.start / page..(part.end - 1) / page + 1 {
            let [start, end] = [part.start, part.end].map(|at| at.clamp(along * page, along * page + run));
            if start < end {
                let place = rows * (tile.outputs[1].start + columns * (tile.outputs[2].start + along));
                let place = place + (start - along * page);
                // SAFETY: every element is an output of one tile.
                unsafe { output.places(place..place + (end - start)) }
                    .copy_from_slice(&from[start - part.start..end - part.start]);
            }
        }
    }
}

/// Copies what begins at a place of `input`, or the constant that stands beyond the array.
fn put<T: Real>(from: Result<usize, T>, input: &[T], to: &mut [T]) {
    match from {
        Ok(from) => to.copy_from_slice(&input[from..][..to.len()]),
        Err(constant) => to.fill(constant),
    }
}

/// Along which dimensions an array goes round.
fn circular<T: Real>(sides: Sides<T>) -> [bool; 3] {
    [0, 1, 2].map(|d| sides[d].is_circular())
}

/// One, two, and so on up to `most`; of large numbers some, so that there are few in all.
fn numbers_to(most: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1_usize), |&number| number.checked_add((number / 8).max(1)))
        .take_while(move |&n| n <= most)
}

/// The next `count` elements of `rest`, which goes on behind them.
fn take<'a, T>(rest: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    rest.split_off_mut(..count).expect("a tile has as many samples as it says")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stencil::{Boundary, Compute, Convolution, Filter, Reference};
    use crate::watch::Watch;

    /// The same on all sides, and sides of their own.
    fn sides() -> Vec<Sides<f64>> {
        let [one, two] = [7.5, -3.25].map(Boundary::Constant);
        let same = [one, Boundary::Replicate, Boundary::Symmetric, Boundary::Mirror, Boundary::Circular];
        let ends = |low, high| Ends::new(low, high).unwrap();
        let own = [
            [ends(one, two), ends(Boundary::Mirror, two), Boundary::Circular.into()],
            [Boundary::Replicate.into(), Boundary::Circular.into(), ends(two, Boundary::Symmetric)],
            [Boundary::Circular.into(), ends(two, one), ends(one, Boundary::Mirror)],
        ];
        same.map(Sides::from).into_iter().chain(own.map(Sides::from)).collect()
    }

    /// Every cut of every shape: tiles are within their size, their outputs are the array, each once, and their samples
    /// are those of the padded array.
    #[test]
    fn tiles_are_the_array_and_what_is_around_it() {
        let shapes = [(1, 1, 1), (1, 50, 1), (1, 7, 5), (3, 20, 2), (40, 9, 3), (600, 3, 1), (2, 100, 1), (70, 30, 1)];
        for (inner, length, outer) in shapes {
            let lines = Lines::strided(inner, length, outer);
            for sides in sides() {
                for (radius, sweeps) in [(0, 1), (1, 1), (1, 5), (2, 3), (10, 1), (10, 40)] {
                    for elements in [1, 3, 21, 64, 100, 1000, 100_000] {
                        for split in [false, true] {
                            let cut = Cut::lines(lines, sides[1], radius, sweeps, elements, split && inner == 1);
                            assert!(cut.most_samples() <= elements.max(2 * radius + 1), "{cut:?}");
                            assert!(cut.halo[1] == 0 || cut.halo[1] == radius * cut.sweeps, "{cut:?}");
                            assert!((1..=sweeps).contains(&cut.sweeps), "{cut:?}");
                            check(&cut);
                        }
                    }
                }
            }
        }
        for size in [[1, 1, 1], [5, 40, 1], [3, 7, 9], [4, 2, 20], [1, 30, 3]] {
            for sides in sides() {
                for radius in [[0, 1, 0], [1, 1, 1], [3, 7, 0], [2, 0, 3]] {
                    for (wanted, limit) in [(1, 1), (20, 1000), (100, 100_000), (10, 100)] {
                        let cut = Cut::volume(size, sides, radius, wanted, limit);
                        assert!(2 * cut.most_samples() <= limit || cut.most == [size[0], 1, 1], "{cut:?}");
                        check(&cut);
                    }
                    for at_once in [1, 2, 3, 9] {
                        for limit in [1, 20, 60, 100, 1000] {
                            for cut in Cut::deep_tiles(size, sides, radius, at_once, limit) {
                                assert!(cut.most_samples() <= limit, "{cut:?}");
                                check(&cut);
                            }
                        }
                    }
                }
            }
        }
    }

    fn check(cut: &Cut<f64>) {
        let size @ [rows, columns, _] = cut.size;
        let input: Vec<f64> = (1..=size.iter().product()).map(|i| i as f64).collect();
        let mut output = vec![f64::NAN; input.len()];
        for number in 0..cut.count() {
            let tile = cut.tile(number);
            let what = format!("{tile:?} of {cut:?}");
            if let Some(run) = cut.run_of(&tile) {
                let places = |d: usize| tile.outputs[d].clone();
                let outputs = places(2).flat_map(|k| places(1).map(move |j| rows * (j + columns * k)));
                let all: Vec<_> = outputs.flat_map(|first| first..first + rows).collect();
                assert_eq!((run.len(), all), (tile.span().len(), run.collect()), "{what}");
            }
            assert!(tile.samples() <= cut.most_samples(), "{what}");
            let mut copied = vec![f64::NAN; tile.samples()];
            cut.gather(&tile, &input, &mut copied);
            // Each sample is the one of its place, also outside.
            let mut copies = copied.iter();
            let places = |d: usize| {
                let range = tile.outputs[d].clone();
                range.start as isize - tile.before[d] as isize..(range.end + tile.after[d]) as isize
            };
            for k in places(2) {
                for j in places(1) {
                    for i in places(0) {
                        let found = cut.sides.sample_at([i, j, k], size);
                        let expected =
                            found.map_or_else(|constant| constant, |[i, j, k]| input[i + rows * (j + columns * k)]);
                        assert_eq!(copies.next(), Some(&expected), "{what}");
                    }
                }
            }
            for (d, &size) in size.iter().enumerate() {
                // A halo ends only where the array does, and then the kernel sees to what is outside.
                let ends = |halo: usize, room: usize| {
                    halo == cut.halo[d] || (!cut.extended[d] && halo == room && halo < cut.halo[d])
                };
                let room = [tile.outputs[d].start, size - tile.outputs[d].end];
                assert!(ends(tile.before[d], room[0]) && ends(tile.after[d], room[1]), "{what}");
            }
            if tile.size()[0] != rows {
                // SAFETY: nobody else is there.
                unsafe { cut.scatter(&tile, &copied[tile.span()], &SharedOutput::new(&mut output)) };
                continue;
            }
            // The same part by part.
            let span = tile.span();
            for step in [1, 7, 64, 100_000] {
                for start in (0..tile.samples()).step_by(step) {
                    let part = start..(start + step).min(tile.samples());
                    let mut some = vec![f64::NAN; part.len()];
                    cut.gather_part(&tile, part.clone(), &input, &mut some);
                    assert_eq!(some, copied[part.clone()], "{part:?} of {what}");
                }
                output.iter_mut().for_each(|output| *output = -output.abs());
                for start in (0..span.len()).step_by(step) {
                    let part = start..(start + step).min(span.len());
                    let some = &copied[span.clone()][part.clone()];
                    // SAFETY: nobody else is there.
                    unsafe { cut.scatter_part(&tile, part, some, &SharedOutput::new(&mut output)) };
                }
            }
            assert_eq!(output.iter().filter(|output| **output > 0.0).count(), tile.outputs(), "{what}");
            output.iter_mut().for_each(|output| *output = output.abs());
        }
        assert_eq!(output, input, "{cut:?}");
    }

    /// What is computed tile by tile, each as an array of its own, is what is computed of the whole.
    #[test]
    fn a_tile_has_what_its_outputs_need() {
        let numbers = |count: usize| (0..count).map(|i| ((i * 7919) % 1013) as f64 - 500.0).collect::<Vec<_>>();
        for (size, filter) in
            [([3, 20, 1], [3, 5, 1]), ([4, 6, 7], [3, 3, 3]), ([2, 9, 5], [1, 7, 5]), ([5, 3, 9], [5, 3, 1])]
        {
            let (input, filter) =
                (numbers(size.iter().product()), Filter::new(numbers(filter.iter().product()), filter));
            let filter = filter.unwrap();
            for sides in sides() {
                let run = |size, sides: Sides<f64>, input: &[f64]| {
                    let what = Convolution::new(size, filter.clone()).with_boundary(sides);
                    let mut output = vec![f64::NAN; input.len()];
                    Reference.convolution(&what, input.into(), (&mut output[..]).into(), &Watch::new()).unwrap();
                    output
                };
                let expected = run(size, sides, &input);
                for limit in [1, 100, 200, 400, 100_000] {
                    let cut = Cut::volume(size, sides, filter.radius(), 1, limit);
                    let mut output = vec![f64::NAN; input.len()];
                    for number in 0..cut.count() {
                        let tile = cut.tile(number);
                        let mut samples = vec![f64::NAN; tile.samples()];
                        cut.gather(&tile, &input, &mut samples);
                        let computed = run(tile.size(), cut.sides(), &samples);
                        // SAFETY: nobody else is there.
                        unsafe { cut.scatter(&tile, &computed[tile.span()], &SharedOutput::new(&mut output)) };
                    }
                    assert_eq!(output, expected, "{cut:?}");
                }
            }
        }
    }

    /// Rounds of several sweeps over tiles, each of which is an array of its own with the boundary on all its sides, are
    /// as many single sweeps.
    #[test]
    fn deep_tiles_have_what_all_their_sweeps_need() {
        let numbers = |count: usize| (0..count).map(|i| ((i * 7919) % 1013) as f64 / 512.0 - 1.0).collect::<Vec<_>>();
        let mut found = 0;
        for (size, filter, sweeps) in [
            ([3, 40, 1], [3, 3, 1], 7),
            ([2, 30, 1], [1, 5, 1], 4),
            ([3, 9, 1], [3, 7, 1], 3),
            ([2, 9, 20], [3, 3, 3], 4),
            ([2, 3, 20], [3, 5, 3], 5),
            ([2, 20, 3], [3, 3, 5], 5),
            ([3, 9, 7], [3, 3, 1], 5),
            ([3, 9, 7], [5, 1, 3], 5),
            ([4, 5, 6], [3, 1, 1], 6),
        ] {
            let (input, entries) = (numbers(size.iter().product()), numbers(filter.iter().product()));
            let filter = Filter::new(entries, filter).unwrap();
            for sides in sides() {
                let run = |size, sweeps, input: &[f64]| {
                    let what = Convolution::new(size, filter.clone()).with_boundary(sides).with_sweeps(sweeps);
                    let mut output = vec![f64::NAN; input.len()];
                    Reference.convolution(&what, input.into(), (&mut output[..]).into(), &Watch::new()).unwrap();
                    output
                };
                let expected = run(size, sweeps, &input);
                let (least, most) = (size[0] * (2 * sweeps + 1), input.len());
                let limits = (1..=8).map(|n| least + (most - least.min(most)) * n / 8);
                let cuts = (1..=sweeps).zip(limits.cycle());
                let cuts = cuts.flat_map(|(n, limit)| Cut::deep_tiles(size, sides, filter.radius(), n, limit));
                for cut in
                    cuts.chain((1..most).filter_map(|n| Cut::deep(size, sides, filter.radius(), sweeps, n, 0.01)))
                {
                    found += usize::from(cut.count() > 1);
                    let mut last = input.clone();
                    for first in (0..sweeps).step_by(cut.sweeps()) {
                        let at_once = cut.sweeps().min(sweeps - first);
                        let mut output = vec![f64::NAN; input.len()];
                        for number in 0..cut.count() {
                            let tile = cut.tile(number);
                            let mut samples = vec![f64::NAN; tile.samples()];
                            cut.gather(&tile, &last, &mut samples);
                            let computed = run(tile.size(), at_once, &samples);
                            // SAFETY: nobody else is there.
                            unsafe { cut.scatter(&tile, &computed[tile.span()], &SharedOutput::new(&mut output)) };
                        }
                        last = output;
                    }
                    assert_eq!(last, expected, "{cut:?}");
                }
            }
        }
        assert!(found > 1000, "{found}");
    }

    /// Few rounds, all of about as many sweeps, in tiles of about the same size, as large as they may be.
    #[test]
    fn deep_tiles_go_over_the_link_a_few_times() {
        // 3 x 3 in double, and a fifth of the way of a sample for an update of it.
        let (quick, slow) = (0.002, 0.2);
        let cut = |size: Size, radius, sweeps, limit, update| {
            Cut::<f64>::deep(size, Boundary::Replicate.into(), radius, sweeps, limit, update)
        };
        let large = cut([30_000, 30_000, 1], [1, 1, 0], 200, 125_000_000, quick).unwrap();
        assert_eq!((large.sweeps, large.most, large.halo), (200, [30_000, 3750, 1], [0, 200, 0]));
        // Rounds, where not all at once is best.
        let many = cut([30_000, 30_000, 1], [1, 1, 0], 5000, 125_000_000, quick).unwrap();
        assert!((3..=10).contains(&5000_usize.div_ceil(many.sweeps)), "{many:?}");
        assert!(many.sent() < 2.0 * 9e8 && many.most_samples() > 90_000_000, "{many:?}");
        // The more an update takes, the less is computed twice.
        let dear = cut([30_000, 30_000, 1], [1, 1, 0], 5000, 125_000_000, slow).unwrap();
        assert!(dear.sweeps < many.sweeps / 4 && dear.sent() < 1.1 * 9e8, "{dear:?}");
        // Pages that the filter sees whole go one by one, or many together, and all sweeps are one round.
        let pages = cut([100, 100, 50], [1, 1, 0], 1000, 100_000, quick).unwrap();
        assert_eq!((pages.sweeps, pages.most, pages.halo), (1000, [100, 100, 10], [0; 3]));
        // A volume whose pages fit is cut into slabs; one whose pages do not, along both.
        let slabs = cut([200, 200, 400], [1; 3], 40, 8_000_000, quick).unwrap();
        assert!(slabs.halo[1] == 0 && slabs.halo[2] == slabs.sweeps && slabs.sweeps >= 20, "{slabs:?}");
        let bars = cut([200, 2000, 2000], [1; 3], 40, 8_000_000, quick).unwrap();
        assert!(bars.halo[1] == bars.sweeps && bars.halo[2] == bars.sweeps && bars.sweeps > 5, "{bars:?}");
        // Room for a column and its neighbours, or less.
        assert_eq!(cut([1000, 100, 1], [1, 1, 0], 50, 4000, quick), None);
        assert_eq!(cut([1000, 100, 1], [1, 1, 0], 50, 0, quick), None);
        // Counts that no memory holds are no trouble.
        let endless = cut([1000, 100, 1], [1, 1, 0], usize::MAX, 50_000, quick).unwrap();
        assert!(endless.sweeps < 25 && endless.most_samples() <= 50_000, "{endless:?}");
    }

    #[test]
    fn lines_are_whole_where_they_fit_and_sweeps_are_many_at_once() {
        let cut = |lines, sweeps| Cut::<f64>::lines(lines, Ends::default(), 1, sweeps, 1 << 18, false);
        assert_eq!(cut(Lines::new(1000, 1000), 9).most, [1, 1000, 262]);
        assert_eq!(cut(Lines::strided(512 * 512, 512, 1), 1).most, [512, 512, 1]);
        let long = cut(Lines::new(100_000_000, 1), 1000);
        assert_eq!((long.sweeps, long.halo), (1000, [0, 1000, 0]));
        // More than a halo may hold are done in rounds of the same size.
        let rounds = cut(Lines::new(100_000_000, 1), 100_000);
        assert_eq!(rounds.sweeps, 25_000);
    }

    #[test]
    fn volumes_are_cut_where_least_is_sent_twice() {
        let cut = |size, radius| Cut::<f64>::volume(size, Sides::default(), radius, 1 << 18, 1 << 25);
        assert_eq!(cut([4096, 4096, 1], [1, 1, 0]).most, [4096, 64, 1]);
        // Pages that a filter of one page sees whole have nothing beside them.
        assert_eq!(cut([100, 100, 1000], [1, 1, 0]).halo, [0; 3]);
        let deep = cut([256, 256, 256], [3, 3, 3]);
        assert!(deep.most_samples() < 2 * deep.most.iter().product::<usize>(), "{deep:?}");
    }
}
