//! Tests of tiles, parts and their halos, computed by the plain reference.

use super::*;
use crate::host::SharedOutput;
use crate::platform::watch::Watch;
use crate::selection;
use crate::stencil::{Boundary, Compute, Convolution, Filter, Lines, Reference};

/// Returns boundaries that are the same on all sides, and others that differ from side to side.
pub(crate) fn all_sides() -> Vec<Sides<f64>> {
    let [one, two] = [7.5, -3.25].map(Boundary::Constant);
    let same = Boundary::all_kinds(7.5);
    let ends = |low, high| Ends::new(low, high).unwrap();
    let own = [
        [ends(one, two), ends(Boundary::Mirror, two), Boundary::Circular.into()],
        [Boundary::Replicate.into(), Boundary::Circular.into(), ends(two, Boundary::Symmetric)],
        [Boundary::Circular.into(), ends(two, one), ends(one, Boundary::Mirror)],
        [ends(two, Boundary::Mirror), ends(one, Boundary::Mirror), ends(Boundary::Symmetric, Boundary::Replicate)],
    ];
    same.map(Sides::from).into_iter().chain(own.map(Sides::from)).collect()
}

fn numbers(size: Size) -> Vec<f64> {
    (0..size.iter().product()).map(|i: usize| ((i * 7919) % 1013) as f64 / 512.0 - 1.0).collect()
}

/// Sweeps an array of this size.
fn swept(filter: &Filter<f64>, sides: Sides<f64>, (size, sweeps): (Size, usize), input: &[f64]) -> Vec<f64> {
    let what = Convolution::new(size, filter.clone()).with_boundary(sides).with_sweeps(sweeps);
    let mut output = vec![f64::NAN; input.len()];
    Reference.convolution(&what, input.into(), (&mut output[..]).into(), &Watch::new()).unwrap();
    output
}

fn gathered(cut: &Cut<f64>, tile: &Tile, input: &[f64]) -> Vec<f64> {
    let mut samples = vec![f64::NAN; tile.samples()];
    cut.gather(tile, 0..tile.samples(), input, &mut samples);
    samples
}

fn scatter(cut: &Cut<f64>, tile: &Tile, computed: &[f64], output: &SharedOutput<f64>) {
    // SAFETY: there is no other thread.
    unsafe { cut.scatter(tile, 0..tile.span().len(), &computed[tile.span()], output) };
}

/// Sweeps an array in tiles, each an array of its own with these boundaries on its sides.
fn in_tiles(cut: &Cut<f64>, filter: &Filter<f64>, sides: Sides<f64>, sweeps: usize, input: &[f64]) -> Vec<f64> {
    let mut output = vec![f64::NAN; input.len()];
    let done = cut.rounds(sweeps).over(input, &mut output, |sweeps, from, to| {
        for tile in (0..cut.count()).map(|number| cut.tile(number)) {
            scatter(cut, &tile, &swept(filter, sides, (tile.size(), sweeps), &gathered(cut, &tile, from)), to);
        }
        Ok(())
    });
    done.unwrap();
    output
}

/// For every cut of every shape: tiles are within their size, their outputs are the array, each once, and their
/// samples are those of the padded array.
#[test]
fn tiles_are_the_array_and_what_is_around_it() {
    let shapes = [(1, 1, 1), (1, 50, 1), (1, 7, 5), (3, 20, 2), (40, 9, 3), (600, 3, 1), (2, 100, 1), (70, 30, 1)];
    for (inner, length, outer) in shapes {
        let lines = Lines::strided(inner, length, outer);
        for sides in all_sides() {
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
        for sides in all_sides() {
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
        let copied = gathered(cut, &tile, &input);
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
        // Copies part by part give the same.
        let span = tile.span();
        for step in [1, 7, 64, 100_000] {
            for start in (0..tile.samples()).step_by(step) {
                let part = start..(start + step).min(tile.samples());
                let mut some = vec![f64::NAN; part.len()];
                cut.gather(&tile, part.clone(), &input, &mut some);
                assert_eq!(some, copied[part.clone()], "{part:?} of {what}");
            }
            output.iter_mut().for_each(|output| *output = -output.abs());
            for start in (0..span.len()).step_by(step) {
                let part = start..(start + step).min(span.len());
                let some = &copied[span.clone()][part.clone()];
                // SAFETY: there is no other thread.
                unsafe { cut.scatter(&tile, part, some, &SharedOutput::new(&mut output)) };
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
    for (size, filter) in
        [([3, 20, 1], [3, 5, 1]), ([4, 6, 7], [3, 3, 3]), ([2, 9, 5], [1, 7, 5]), ([5, 3, 9], [5, 3, 1])]
    {
        let (input, filter) = (numbers(size), Filter::new(numbers(filter), filter).unwrap());
        for sides in all_sides() {
            let expected = swept(&filter, sides, (size, 1), &input);
            for limit in [1, 100, 200, 400, 100_000] {
                let cut = Cut::volume(size, sides, filter.radius(), 1, limit);
                assert_eq!(in_tiles(&cut, &filter, cut.sides(), 1, &input), expected, "{cut:?}");
            }
        }
    }
}

/// Rounds of several sweeps over tiles, each an array of its own with the boundary on all its sides, give the results of
/// single sweeps.
#[test]
fn deep_tiles_have_what_all_their_sweeps_need() {
    selection::begin();
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
        let (input, filter) = (numbers(size), Filter::new(numbers(filter), filter).unwrap());
        for sides in all_sides() {
            if !selection::takes(&format!("{size:?} {sides:?}"), &[&size, &sides]) {
                continue;
            }
            let expected = swept(&filter, sides, (size, sweeps), &input);
            let (least, most) = (size[0] * (2 * sweeps + 1), input.len());
            let limits = (1..=8).map(|n| least + (most - least.min(most)) * n / 8);
            let cuts = (1..=sweeps).zip(limits.cycle());
            let cuts = cuts.flat_map(|(n, limit)| Cut::deep_tiles(size, sides, filter.radius(), n, limit));
            for cut in cuts.chain((1..most).filter_map(|n| Cut::deep(size, sides, filter.radius(), sweeps, n, 0.01))) {
                found += usize::from(cut.count() > 1);
                assert_eq!(in_tiles(&cut, &filter, sides, sweeps, &input), expected, "{cut:?}");
            }
        }
    }
    assert!(found > 500, "{found}");
}

/// Several parts, swept in rounds as arrays of their own, with halos filled from each other, give the whole array: for
/// all boundaries, along each dimension, with halos longer than parts.
#[test]
fn parts_and_their_halos_are_the_array() {
    let mut found = 0;
    for (size, filter, sweeps) in [
        ([1, 40, 1], [1, 3, 1], 7),
        ([1, 7, 1], [1, 5, 1], 5),
        ([1, 2, 1], [1, 7, 1], 3),
        ([3, 20, 1], [3, 5, 1], 4),
        ([2, 9, 20], [3, 3, 3], 4),
        ([3, 4, 5], [1, 3, 7], 3),
        ([2, 20, 3], [3, 3, 1], 5),
        ([4, 5, 6], [3, 1, 1], 6),
    ] {
        let (input, filter) = (numbers(size), Filter::new(numbers(filter), filter).unwrap());
        for sides in all_sides() {
            let expected = swept(&filter, sides, (size, sweeps), &input);
            for (count, at_once) in [(1, 2), (2, 1), (6, 2), (3, 3), (9, 1), (5, 2), (24, 1), (2, sweeps)] {
                for along in [1, 2].into_iter().filter(|&d| size[d] > 1) {
                    let radius = filter.radius();
                    let at_once = if radius[along] == 0 { sweeps } else { at_once.min(sweeps) };
                    let cut = Cut::parts(size, sides, radius, (along, count.min(size[along])), at_once);
                    let tiles: Vec<_> = (0..cut.count()).map(|number| cut.tile(number)).collect();
                    let mut arrays: Vec<_> = tiles.iter().map(|tile| gathered(&cut, tile, &input)).collect();
                    let rounds = cut.rounds(sweeps);
                    for round in 0..rounds.count() {
                        for (array, tile) in arrays.iter_mut().zip(&tiles) {
                            *array = swept(&filter, sides, (tile.size(), rounds.sweeps_of(round)), array);
                        }
                        let last = arrays.clone();
                        for (array, halo) in arrays.iter_mut().zip(cut.halos()) {
                            for Segment { part, from, to } in halo {
                                array[to.clone()].copy_from_slice(&last[part][from..from + to.len()]);
                            }
                        }
                    }
                    let mut output = vec![f64::NAN; input.len()];
                    for (array, tile) in arrays.iter().zip(&tiles) {
                        scatter(&cut, tile, array, &SharedOutput::new(&mut output));
                    }
                    assert_eq!(output, expected, "{cut:?}");
                    found += usize::from(tiles.len() > 1);
                }
            }
        }
    }
    assert!(found > 400, "{found}");
}
