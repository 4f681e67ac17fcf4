//! Convolutions over images and volumes.
//!
//! # Tiles
//! The array is cut into tiles: boxes of rows, columns and pages. A tile does several sweeps while its samples are in
//! the cache, with a halo for all of them; intermediate values that neighbouring tiles both need are computed by both.
//! A level is the intermediate result of a tile after a sweep: level 0 are samples of the array, the last level is the
//! output. A level extends beyond the tile as far as the sweeps after it need, and not beyond the array: every level
//! has its ghost values there. Only a circular array is treated as unbounded, and only if the filter's radius is less
//! than its size: otherwise each sample is stored once, however often the filter wraps around to it.
//!
//! # Rings
//! No level is ever stored as a whole. Its columns are computed block by block, page after page, and kept in a ring
//! until the next level has used them. Each level requests columns of the one before: it advances just as far as it
//! must. So results are used soon after they are computed, and several levels of long columns fit the second-level
//! cache.

pub(super) mod kernel;
mod layout;
mod levels;
mod tile;
mod tiling;

use self::kernel::COLUMNS;
use self::layout::Layout;
use self::levels::Levels;
use self::tile::TileRun;
use self::tiling::{Tiling, work_of_sweep};
use super::simd::{Instructions, Lanes};
use super::tasks;
use crate::host::{self, SharedOutput};
use crate::platform::memory;
use crate::platform::watch::Watch;
use crate::stencil::{Convolution, Error, Results, Samples};

/// Does all sweeps of a convolution.
pub(super) fn sweeps<T: Lanes>(
    request: &Convolution<T>,
    instructions: Instructions,
    input: &[T],
    output: &mut [T],
    watch: &Watch,
) -> Result<(), Error> {
    if output.is_empty() || request.sweeps() == 0 {
        return host::copy(input, output, watch);
    }
    watch.check()?;
    let layout = Layout::choose(request)?;
    sweeps_in(Tiling::choose(&layout.request), &layout, instructions, input, output, watch)
}

/// Does all sweeps, at least one, over an array that is not empty.
fn sweeps_in<T: Lanes>(
    tiling: Tiling,
    layout: &Layout<T>,
    instructions: Instructions,
    input: &[T],
    output: &mut [T],
    watch: &Watch,
) -> Result<(), Error> {
    let sweeps = layout.request.sweeps();
    let passes = sweeps.div_ceil(tiling.sweeps);
    host::ping_pong(input, output, passes, |pass, input, output| {
        let sweeps = sweeps / passes + usize::from(pass < sweeps % passes);
        let [from, to] = [0, passes - 1].map(|end| layout.steps(pass == end));
        let ends = ((&input as _, from), (&SharedOutput::new(output) as _, to));
        sweeps_at_once((tiling, sweeps), layout, instructions, ends, watch)
    })
}

/// Does one sweep over samples of any class.
pub(super) fn sweep<T: Lanes>(
    request: &Convolution<T>,
    instructions: Instructions,
    (from, to): (&dyn Samples<T>, &dyn Results<T>),
    watch: &Watch,
) -> Result<(), Error> {
    watch.check()?;
    let layout = Layout::choose(request)?;
    let ends = ((from, layout.steps(true)), (to, layout.steps(true)));
    sweeps_at_once((Tiling::choose(&layout.request), 1), &layout, instructions, ends, watch)
}

/// Samples or results, with the strides of rows, of columns, and of pages.
type Placed<A> = (A, [usize; 3]);

/// Does some sweeps, no more than a tile does at once.
fn sweeps_at_once<T: Lanes>(
    (tiling, sweeps): (Tiling, usize),
    layout: &Layout<T>,
    instructions: Instructions,
    (from, to): (Placed<&dyn Samples<T>>, Placed<&dyn Results<T>>),
    watch: &Watch,
) -> Result<(), Error> {
    let request = &*layout.request;
    let parts = tiling.parts(request.size());
    let threads = tasks::threads(work_of_sweep(request).saturating_mul(sweeps));
    tasks::run(parts.iter().product(), threads, 1, watch, |number, buffer: &mut Buffer<T>, progress| {
        let tile = tiling.tile(request.size(), parts, number);
        let whole = tile[0].len() == request.size()[0];
        let levels = Levels::new(request, sweeps, tile, whole);
        let [_, width, depth] = request.filter().size();
        // After the rings there is room for results to be converted to another class, or scattered.
        let elements = levels.elements + COLUMNS * levels.stride + LINE_BYTES / size_of::<T>();
        if buffer.samples.len() < elements {
            memory::enlarge(&mut buffer.samples, elements, "the samples under the filter")?;
            buffer.filled = 0;
        }
        memory::enlarge(&mut buffer.columns, (COLUMNS + width - 1) * depth, "the columns under the filter")?;
        let Buffer { samples, columns, filled } = buffer;
        // Vectors that straddle two cache lines take twice as long.
        let ahead = samples.as_ptr().align_offset(LINE_BYTES).min(LINE_BYTES / size_of::<T>());
        let buffer = &mut samples[ahead..];
        TileRun { layout, instructions, from, to, levels, buffer, columns, filled, progress }.all()
    })
}

/// Number of bytes in a cache line.
const LINE_BYTES: usize = 64;

/// Buffers that a thread keeps between two tiles.
struct Buffer<T> {
    samples: Vec<T>,
    /// Starts of the columns of samples of a block.
    columns: Vec<usize>,
    /// Stride of the columns of constants that `samples` has; 0 if it has none.
    filled: usize,
}

impl<T> Default for Buffer<T> {
    fn default() -> Buffer<T> {
        Buffer { samples: Vec::new(), columns: Vec::new(), filled: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::tiling::{RING_BYTES, SWEEPS};
    use super::*;
    use crate::cpu::simd::Level as Instruction;
    use crate::selection;
    use crate::stencil::{Boundary, Compute, Ends, Filter, Real, Reference, Sample, Sides, Source, Target};

    /// Samples of each sort at changing places: ordinary ones, and such that spread, or underflow.
    fn samples<T: Real>(count: usize, seed: usize) -> Vec<T> {
        const AWKWARD: [f64; 6] = [-0.0, f64::INFINITY, f64::NAN, 1e-310, f64::NEG_INFINITY, f64::MIN_POSITIVE];
        let sample = |i: usize| match (i + 31 * seed) % 61 {
            place if seed % 2 == 1 && place == 17 => T::from_f64(AWKWARD[i % AWKWARD.len()]),
            _ => T::from_f64(((i * 37 + seed) as f64).sin()),
        };
        (0..count).map(sample).collect()
    }

    /// Checks that the result is that of the whole for any tiling and any number of sweeps a tile, and that every
    /// update is counted once.
    fn expect_the_same<T: Lanes>(
        size: [usize; 3],
        of_filter: [usize; 3],
        boundary: Sides<T>,
        sweeps: usize,
        tilings: &[Tiling],
    ) {
        let what = format!("{size:?} {of_filter:?} {boundary:?} {sweeps}");
        if !selection::takes(&what, &[&size, &(of_filter, sweeps), &boundary]) {
            return;
        }
        let (elements, entries) = (size.iter().product::<usize>(), of_filter.iter().product::<usize>());
        let entries: Vec<T> =
            (0..entries).map(|i| T::from_f64((i as f64 + 0.5).cos() / (entries as f64).sqrt())).collect();
        for seed in [0, 1] {
            let input = samples::<T>(elements, seed + sweeps % 2 * 2);
            let request = Convolution::new(size, Filter::new(entries.clone(), of_filter).unwrap());
            let request = request.with_boundary(boundary).with_sweeps(sweeps);
            let mut expected = vec![T::default(); elements];
            let (from, to) = ((&input[..]).into(), (&mut expected[..]).into());
            Compute::convolution(&Reference, &request, from, to, &Watch::new()).unwrap();
            for tiling in tilings {
                for instructions in Instruction::ALL.into_iter().filter_map(Instruction::detect) {
                    let (mut output, watch) = (vec![T::from_f64(-7.0); elements], Watch::new());
                    sweeps_in(*tiling, &Layout::plain(&request), instructions, &input, &mut output, &watch).unwrap();
                    let what = format!("{request:?} in {tiling:?}, {}", instructions.level().name());
                    assert!(output.iter().zip(&expected).all(|(a, &b)| a.same(b)), "{what}");
                    assert_eq!(watch.done(), (elements * sweeps) as u64, "{what}");
                }
            }
        }
    }

    /// One boundary on all sides, and a different one on each side.
    fn boundaries<T: Real>() -> Vec<Sides<T>> {
        let [one, two] = [1.5, -2.5].map(|value| Boundary::Constant(T::from_f64(value)));
        let same = Boundary::all_kinds(1.5).map(|boundary| boundary.map(T::from_f64));
        let ends = |low, high| Ends::new(low, high).unwrap();
        let own = [
            [ends(one, two), ends(Boundary::Mirror, two), Boundary::Circular.into()],
            [Boundary::Mirror.into(), Boundary::Circular.into(), ends(two, Boundary::Symmetric)],
            [Boundary::Circular.into(), ends(two, one), ends(one, Boundary::Mirror)],
        ];
        same.map(Sides::from).into_iter().chain(own.map(Sides::from)).collect()
    }

    /// Tilings of these sizes that fit the array.
    fn tilings(size: [usize; 3], along: [&[usize]; 3], sweeps: &[usize]) -> Vec<Tiling> {
        let mut tilings = Vec::new();
        for &rows in along[0] {
            for &columns in along[1] {
                for &pages in along[2] {
                    for &sweeps in sweeps {
                        let of_tile = [rows, columns, pages];
                        let tiling = Tiling { size: [0, 1, 2].map(|d| of_tile[d].min(size[d])), sweeps };
                        if !tilings.contains(&tiling) {
                            tilings.push(tiling);
                        }
                    }
                }
            }
        }
        tilings
    }

    #[test]
    fn tilings_of_images_agree() {
        selection::begin();
        for size in [[1, 1, 1], [3, 2, 1], [2, 9, 1], [41, 1, 1], [1, 23, 1], [38, 17, 1], [9, 12, 2]] {
            for (filter, sweeps) in [
                ([3, 3, 1], 1),
                ([3, 3, 1], 2),
                ([3, 3, 1], 5),
                ([5, 5, 1], 3),
                ([7, 7, 1], 2),
                ([1, 5, 1], 4),
                ([7, 1, 1], 4),
                ([3, 13, 1], 1),
                ([2, 2, 1], 5),
                ([4, 3, 1], 2),
                ([3, 6, 1], 3),
                ([8, 16, 1], 1),
                ([17, 31, 1], 2),
                ([60, 2, 1], 1),
            ] {
                let tilings = tilings(size, [&[1, 8, 19, 50], &[1, 4, 7, 50], &[1]], &[1, 2, sweeps]);
                for boundary in boundaries() {
                    expect_the_same::<f64>(size, filter, boundary, sweeps, &tilings);
                }
            }
        }
    }
    #[test]
    fn tilings_of_volumes_agree() {
        selection::begin();
        for size in [[1, 1, 1], [2, 1, 7], [9, 8, 1], [11, 19, 9], [5, 3, 21]] {
            for (filter, sweeps) in [
                ([3, 3, 3], 1),
                ([3, 3, 3], 5),
                ([5, 5, 5], 2),
                ([1, 1, 7], 3),
                ([3, 5, 3], 3),
                ([5, 1, 3], 2),
                ([2, 2, 2], 3),
                ([2, 3, 4], 2),
                ([4, 10, 2], 2),
                ([3, 2, 16], 1),
            ] {
                let tilings = tilings(size, [&[4, 50], &[3, 8, 50], &[2, 5, 50]], &[1, 2, sweeps]);
                for boundary in boundaries() {
                    expect_the_same::<f64>(size, filter, boundary, sweeps, &tilings);
                }
            }
        }
    }

    /// The maximum number of sweeps of a tile, one more, and more than two passes of them.
    #[test]
    fn tilings_of_many_sweeps_agree() {
        selection::begin();
        for sweeps in [SWEEPS - 1, SWEEPS, SWEEPS + 1, 2 * SWEEPS + 1] {
            let size = [43, 37, 1];
            let tilings = tilings(size, [&[21, 50], &[13, 50], &[1]], &[SWEEPS]);
            for boundary in boundaries() {
                expect_the_same::<f64>(size, [3, 3, 1], boundary, sweeps, &tilings);
                expect_the_same::<f64>(
                    [7, 6, 3],
                    [3, 3, 1],
                    boundary,
                    sweeps,
                    &[Tiling { size: [7, 6, 1], sweeps: 16 }],
                );
                expect_the_same::<f64>(
                    [4, 6, 5],
                    [3, 3, 3],
                    boundary,
                    sweeps,
                    &[Tiling { size: [4, 4, 3], sweeps: 16 }],
                );
            }
        }
    }

    /// Vectors of singles have twice as many lanes.
    #[test]
    fn tilings_in_single_agree() {
        selection::begin();
        for boundary in boundaries::<f32>() {
            for rows in [15, 16, 17, 31, 33, 47, 64, 65, 95, 130] {
                let (image, volume) = ([rows, 15, 1], [rows, 9, 3]);
                let of_image = tilings(image, [&[33, 200], &[6, 20], &[1]], &[1, 3]);
                expect_the_same(image, [3, 3, 1], boundary, 3, &of_image);
                expect_the_same(image, [5, 5, 1], boundary, 2, &of_image);
                expect_the_same(volume, [3, 3, 3], boundary, 2, &tilings(volume, [&[33, 200], &[4, 20], &[2]], &[2]));
            }
        }
    }

    /// Samples of one class with results of another, contiguous or with exchanged dimensions, agree with the reference
    /// in double.
    #[test]
    fn sweeps_over_other_classes_agree() {
        for size in [[70, 30, 1], [700, 5, 2], [3, 200, 1], [1, 90, 1], [6, 5, 80], [12, 7, 1]] {
            for of_filter in [[3, 3, 1], [1, 3, 1], [4, 5, 1], [3, 3, 3]] {
                for boundary in boundaries::<f64>() {
                    let [elements, entries] = [size, of_filter].map(|size| size.iter().product::<usize>());
                    let filter = (0..entries).map(|i| 9.0 * (i as f64 + 0.5).cos() / entries as f64).collect();
                    let request = Convolution::new(size, Filter::new(filter, of_filter).unwrap());
                    let request = request.with_boundary(boundary);
                    let image: Vec<u8> = (0..elements).map(|i| (i * 37 % 251) as u8).collect();
                    let input: Vec<f64> = image.iter().map(|&sample| f64::from(sample)).collect();
                    let mut expected = vec![0.0; elements];
                    let to = Target::Host(&mut expected);
                    Reference.convolution(&request, Source::Host(&input), to, &Watch::new()).unwrap();
                    for instructions in Instruction::ALL.into_iter().filter_map(Instruction::detect) {
                        let (mut whole, mut plain, watch) = (vec![-1_i8; elements], vec![0.0; elements], Watch::new());
                        let run = |to: &dyn Results<f64>| {
                            sweep(&request, instructions, (&&image[..], to), &watch).unwrap();
                        };
                        run(&SharedOutput::new(&mut whole));
                        run(&SharedOutput::new(&mut plain));
                        let what = format!("{request:?}, {}", instructions.level().name());
                        assert!(plain.iter().zip(&expected).all(|(a, &b)| a.same(b)), "{what}");
                        assert!(whole.iter().zip(&expected).all(|(&a, &b)| a == i8::narrowed(b)), "{what}");
                        assert_eq!(watch.done(), 2 * elements as u64, "{what}");
                    }
                }
            }
        }
    }

    /// Rings of tiles stay small for any array and filter, and a large array has a tile for every thread.
    #[test]
    fn chosen_tilings_fit() {
        for rows in [1, 2, 100, 511, 513, 4096, 1_000_000] {
            for columns in [1, 7, 160, 4096, 1_000_000] {
                for pages in [1, 3, 160] {
                    for filter in [
                        [1, 1, 1],
                        [3, 3, 1],
                        [15, 15, 1],
                        [3, 3, 3],
                        [7, 7, 7],
                        [1, 1, 7],
                        [2, 2, 2],
                        [90, 91, 1],
                        [2, 4095, 1],
                        [4095, 2, 1],
                        [20, 20, 20],
                    ] {
                        for sweeps in [1, 2, 1000] {
                            let entries = vec![0.0; filter.iter().product()];
                            let size = [rows, columns, pages];
                            let request = Convolution::new(size, Filter::new(entries, filter).unwrap());
                            let request = request.with_sweeps(sweeps).with_boundary(Boundary::Circular);
                            let tiling = Tiling::choose::<f64>(&request);
                            let what = format!("{size:?} by {filter:?}, {sweeps} sweeps: {tiling:?}");
                            assert!((1..=sweeps.min(SWEEPS)).contains(&tiling.sweeps), "{what}");
                            assert!((0..3).all(|d| (1..=size[d]).contains(&tiling.size[d])), "{what}");
                            let parts = tiling.parts(size);
                            assert!((0..3).all(|d| parts[d] * tiling.size[d] < size[d] + tiling.size[d]), "{what}");
                            let whole = parts[0] == 1;
                            let tile = tiling.tile(size, parts, parts.iter().product::<usize>() / 2);
                            let bytes = size_of::<f64>() * Levels::new(&request, tiling.sweeps, tile, whole).elements;
                            // A single sweep may need more than fits.
                            assert!(tiling.sweeps == 1 || bytes <= RING_BYTES * 3 / 2, "{what}: {bytes} bytes");
                            let threads = tasks::threads(work_of_sweep(&request));
                            let tiles: usize = parts.iter().product();
                            assert!(tiles >= threads || rows * columns * pages < 1 << 16, "{what}: {threads} threads");
                        }
                    }
                }
            }
        }
    }
}
