//! Copies of a tile's samples out of an array, and of its outputs to their places.

use std::ops::Range;

use super::{Cut, Tile};
use crate::host::SharedOutput;
use crate::stencil::Real;

impl<T: Real> Cut<T> {
    /// Returns the samples of a tile that are its outputs, whole pages or columns, as they follow each other in the
    /// array.
    fn neighbours(&self, tile: &Tile) -> Option<Range<usize>> {
        let [rows, columns, _] = self.size;
        let whole = |d: usize| tile.outputs[d].len() == self.size[d];
        let alone = [tile.before, tile.after] == [[0; 3]; 2] && whole(0) && (whole(1) || tile.outputs[2].len() == 1);
        let first = rows * (tile.outputs[1].start + columns * tile.outputs[2].start);
        alone.then(|| first..first + tile.outputs())
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

    /// Copies the samples in this range of a tile, which has whole columns, out of `input`.
    pub(crate) fn gather_part(&self, tile: &Tile, part: Range<usize>, input: &[T], to: &mut [T]) {
        let [rows, columns, pages] = self.size;
        let [height, width, depth] = tile.size();
        assert!(height == rows && tile.before[0] == 0 && part.len() == to.len());
        let first = [1, 2].map(|d| tile.outputs[d].start as isize - tile.before[d] as isize);
        let (mut at, mut to) = (part.start, to);
        while !to.is_empty() {
            let (row, across, along) = (at % rows, at / rows % width, at / rows / width);
            let (column, page) = (first[0] + across as isize, first[1] + along as isize);
            // Columns inside the array are copied at once where they are neighbours in memory, and so are pages.
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

    /// Returns the number of the column at a place, among all of the array; or the constant there.
    fn column_at(&self, column: isize, page: isize) -> Result<usize, T> {
        let [_, columns, pages] = self.size;
        let page = self.sides[2].sample_at(page, pages)?;
        Ok(self.sides[1].sample_at(column, columns)? + columns * page)
    }

    /// Copies the outputs of `tile` to their places in the array: `from` is its [span](Tile::span).
    ///
    /// # Safety
    /// No other thread is at work on this tile.
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

    /// Copies a part of the span of a tile, which has whole columns, to its places in the array. The part is counted
    /// from the beginning of the span.
    ///
    /// # Safety
    /// No other thread is at work on this part of this tile.
    pub(crate) unsafe fn scatter_part(&self, tile: &Tile, part: Range<usize>, from: &[T], output: &SharedOutput<T>) {
        let [rows, columns, _] = self.size;
        let [height, width, _] = tile.size();
        assert!(height == rows && part.len() == from.len());
        // The halos of two pages lie between their outputs.
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

/// Copies the elements from a place of `input` on, or the constant beyond the array.
fn put<T: Real>(from: Result<usize, T>, input: &[T], to: &mut [T]) {
    match from {
        Ok(from) => to.copy_from_slice(&input[from..][..to.len()]),
        Err(constant) => to.fill(constant),
    }
}

/// Takes the next `count` elements off the front of `rest`.
fn take<'a, T>(rest: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    rest.split_off_mut(..count).expect("a tile has as many samples as it says")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::watch::Watch;
    use crate::selection;
    use crate::stencil::{Boundary, Compute, Convolution, Ends, Filter, Lines, Reference, Sides};

    /// Returns boundaries that are the same on all sides, and others that differ from side to side.
    fn sides() -> Vec<Sides<f64>> {
        let [one, two] = [7.5, -3.25].map(Boundary::Constant);
        let same = Boundary::all_kinds(7.5);
        let ends = |low, high| Ends::new(low, high).unwrap();
        let own = [
            [ends(one, two), ends(Boundary::Mirror, two), Boundary::Circular.into()],
            [Boundary::Replicate.into(), Boundary::Circular.into(), ends(two, Boundary::Symmetric)],
            [Boundary::Circular.into(), ends(two, one), ends(one, Boundary::Mirror)],
        ];
        same.map(Sides::from).into_iter().chain(own.map(Sides::from)).collect()
    }

    /// For every cut of every shape: tiles are within their size, their outputs are the array, each once, and their
    /// samples are those of the padded array.
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
                // A halo ends early only at the array's edge, where the kernel supplies the ghost cells.
                let ends = |halo: usize, room: usize| {
                    halo == cut.halo[d] || (!cut.extended[d] && halo == room && halo < cut.halo[d])
                };
                let room = [tile.outputs[d].start, size - tile.outputs[d].end];
                assert!(ends(tile.before[d], room[0]) && ends(tile.after[d], room[1]), "{what}");
            }
            if tile.size()[0] != rows {
                // SAFETY: there is no other thread.
                unsafe { cut.scatter(&tile, &copied[tile.span()], &SharedOutput::new(&mut output)) };
                continue;
            }
            // Copies part by part give the same.
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
                    // SAFETY: there is no other thread.
                    unsafe { cut.scatter_part(&tile, part, some, &SharedOutput::new(&mut output)) };
                }
            }
            assert_eq!(output.iter().filter(|output| **output > 0.0).count(), tile.outputs(), "{what}");
            output.iter_mut().for_each(|output| *output = output.abs());
        }
        assert_eq!(output, input, "{cut:?}");
    }

    /// Tiles that are computed as arrays of their own give the results of the whole array.
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
                        // SAFETY: there is no other thread.
                        unsafe { cut.scatter(&tile, &computed[tile.span()], &SharedOutput::new(&mut output)) };
                    }
                    assert_eq!(output, expected, "{cut:?}");
                }
            }
        }
    }

    /// Rounds of several sweeps over tiles, each an array of its own with the boundary on all its sides, give the
    /// results of single sweeps.
    #[test]
    fn deep_tiles_have_what_all_their_sweeps_need() {
        selection::begin();
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
                if !selection::takes(&format!("{size:?} {sides:?}"), &[&size, &sides]) {
                    continue;
                }
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
                            // SAFETY: there is no other thread.
                            unsafe { cut.scatter(&tile, &computed[tile.span()], &SharedOutput::new(&mut output)) };
                        }
                        last = output;
                    }
                    assert_eq!(last, expected, "{cut:?}");
                }
            }
        }
        assert!(found > 500, "{found}");
    }
}
