//! Host arrays computed by an engine in pieces: outputs of another size than their input, and samples of other classes
//! than those of the engine.
//!
//! # Rationale
//! Engines compute an output for each sample, in double and in single. Any other output is divided into pieces. The
//! samples under the filter for a piece are gathered into a buffer, in the class of computation, with the ghost values
//! of the boundary where they lie beyond the array. The engine treats the buffer as an array of its own, and the inner
//! outputs, which depend on the buffer alone, are the piece. An output is a function of its samples alone, so it does
//! not depend on the pieces; and for arrays of any size, only two buffers of a bounded size are needed in addition.

use rayon::prelude::*;

use crate::host::SharedOutput;
use crate::platform::memory::pool::Pooled;
use crate::platform::watch::Watch;
use crate::platform::workers::Workers;
use crate::stencil::{Error, Real, Results, Sample, Samples, Sides, Window};

/// Minimum ratio of the sizes of a piece and the filter, up to the size below.
const MIN_PIECE_TO_FILTER: usize = 256;
const MAX_PIECE: usize = 1 << 23;

/// Number of elements that a thread copies between checks of the watch.
const STEP: usize = 1 << 15;

/// Computes an output for each sample of an array of a given size.
type Pass<'a, T> = &'a mut dyn FnMut([usize; 3], &[T], &mut [T]) -> Result<(), Error>;

/// Computes the outputs of `window` over `input`, which has at least one element, in pieces of at most `buffer`
/// samples, except for a single output under a large filter. `engine` is called with the size of an array and its
/// samples, and computes an output for each. The outputs may be of another class than the samples.
///
/// # Panics
/// Unless input and output have the sizes of the window.
pub(crate) fn run<T: Real, I: Sample<T>, O: Sample<T>>(
    (window, buffer): (&Window, usize),
    sides: Sides<T>,
    input: &[I],
    output: &mut [O],
    watch: &Watch,
    mut engine: impl FnMut([usize; 3], &[T], &mut [T]) -> Result<(), Error>,
) -> Result<(), Error> {
    let size = window.size().unwrap_or_default();
    assert_eq!([input.len(), output.len()], [window.input(), size].map(elements));
    in_pieces((window, buffer), sides, &input, &SharedOutput::new(output), watch, &mut engine)
}

/// Does [`run`], compiled once for all classes.
fn in_pieces<T: Real>(
    (window, buffer): (&Window, usize),
    sides: Sides<T>,
    input: &dyn Samples<T>,
    output: &dyn Results<T>,
    watch: &Watch,
    engine: Pass<'_, T>,
) -> Result<(), Error> {
    let size = window.size().unwrap_or_default();
    let most = piece_of(window, size, buffer);
    let most_samples = elements(samples_under(window, most));
    let mut samples = Pooled::<T>::new(most_samples, "the samples of a piece")?;
    let mut results = Pooled::<T>::new(most_samples, "the results of a piece")?;
    for first in starts(size, most) {
        let piece = [0, 1, 2].map(|d| most[d].min(size[d] - first[d]));
        let under = samples_under(window, piece);
        let (samples, results) = (&mut samples[..elements(under)], &mut results[..elements(under)]);
        let from = [0, 1, 2].map(|d| window.first_sample()[d] + first[d] as isize);
        gather(window, sides, input, from, under, samples, watch)?;
        let mark = watch.mark();
        engine(under, samples, results)?;
        // Only the buffer's outputs in the piece count.
        watch.rewind(mark);
        watch.count(elements(piece));
        let [above, left, front] = window.before();
        for_columns(piece[1] * piece[2], piece[0], watch, &|column| {
            let (j, k) = (column % piece[1], column / piece[1]);
            let at = first[0] + size[0] * (first[1] + j + size[1] * (first[2] + k));
            let inside = above + under[0] * (left + j + under[1] * (front + k));
            // SAFETY: no other column has these places.
            unsafe { output.write(at, [1, 0], &[&results[inside..inside + piece[0]]]) };
        })?;
    }
    Ok(())
}

fn elements(size: [usize; 3]) -> usize {
    size.iter().product()
}

/// Size of the samples under the filter for a piece.
fn samples_under(window: &Window, piece: [usize; 3]) -> [usize; 3] {
    [0, 1, 2].map(|d| piece[d] + window.others()[d])
}

/// Size of the largest pieces of an output of this size. The longest dimension, relative to the filter, is halved until
/// the samples fit into the buffer: so pieces have short edges.
fn piece_of(window: &Window, size: [usize; 3], buffer: usize) -> [usize; 3] {
    let mut piece = size;
    // Many times the filter: in a small piece even a narrow edge is a large part.
    let entries: usize = window.others().iter().map(|others| others + 1).product();
    let buffer = buffer.max((MIN_PIECE_TO_FILTER * entries).min(MAX_PIECE));
    let large = |piece| {
        samples_under(window, piece).iter().try_fold(1_usize, |a, b| a.checked_mul(*b)).is_none_or(|n| n > buffer)
    };
    while large(piece) {
        let longest = (0..3).max_by_key(|&d| piece[d] / (window.others()[d] + 1)).unwrap_or_default();
        piece[longest] = piece[longest].div_ceil(2);
    }
    piece
}

/// Starts of the pieces of up to this size.
fn starts(size: [usize; 3], most: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    let along = move |d: usize| (0..size[d]).step_by(most[d]);
    along(2).flat_map(move |k| along(1).flat_map(move |j| along(0).map(move |i| [i, j, k])))
}

/// Gathers the samples `under` a piece, from the place `from` on, which may lie outside the array.
fn gather<T: Real>(
    window: &Window,
    sides: Sides<T>,
    input: &dyn Samples<T>,
    from: [isize; 3],
    under: [usize; 3],
    samples: &mut [T],
    watch: &Watch,
) -> Result<(), Error> {
    let [rows, columns, pages] = window.input();
    let samples = SharedOutput::new(samples);
    for_columns(under[1] * under[2], under[0], watch, &|column| {
        // SAFETY: no other column has these places.
        let to = unsafe { samples.places(column * under[0]..(column + 1) * under[0]) };
        let (j, k) = (from[1] + (column % under[1]) as isize, from[2] + (column / under[1]) as isize);
        // A constant of the later dimension counts.
        let found = sides[2].sample_at(k, pages).and_then(|k| Ok((sides[1].sample_at(j, columns)?, k)));
        let (j, k) = match found {
            Ok(found) => found,
            Err(constant) => return to.fill(constant),
        };
        let column = rows * (j + columns * k);
        // Range of those in the array.
        let before = from[0].min(0).unsigned_abs().min(to.len());
        let start = from[0].max(0).unsigned_abs().min(rows);
        let inside = before..to.len().min(before + rows - start);
        input.read(column + start, [1, 0], &mut [&mut to[inside.clone()]]);
        for i in (0..inside.start).chain(inside.end..to.len()) {
            match sides[0].sample_at(from[0] + i as isize, rows) {
                Ok(row) => input.read(column + row, [1, 0], &mut [&mut to[i..=i]]),
                Err(constant) => to[i] = constant,
            }
        }
    })
}

/// Calls `work` for each of `count` columns of `rows` rows, on all threads if it is worth it.
fn for_columns(count: usize, rows: usize, watch: &Watch, work: &(dyn Fn(usize) + Sync)) -> Result<(), Error> {
    let at_once = (STEP / rows.max(1)).max(1);
    let steps = count.div_ceil(at_once);
    let step = |number: usize| {
        watch.check()?;
        (number * at_once..((number + 1) * at_once).min(count)).for_each(work);
        Ok(())
    };
    match if steps > 1 { Workers::get() } else { None } {
        Some(pool) => pool.install(|| (0..steps).into_par_iter().try_for_each(step)),
        None => (0..steps).try_for_each(step),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stencil::{Boundary, Ends, Shape};

    #[test]
    fn pieces_fit_into_the_buffer_and_have_little_edge() {
        for (size, filter) in [
            ([1 << 30, 1, 1], [21, 1, 1]),
            ([1, 1 << 30, 1], [1, 15, 1]),
            ([1 << 30, 1, 1], [8191, 1, 1]),
            ([1 << 15, 1 << 15, 1], [90, 91, 1]),
            ([3, 1 << 28, 1], [15, 15, 1]),
            ([1 << 10, 1 << 10, 1 << 10], [7, 8, 7]),
            ([5, 7, 1], [15, 15, 1]),
        ] {
            let window = Window::new(Shape::Same, size, filter);
            let piece = piece_of(&window, size, MAX_PIECE);
            let under = elements(samples_under(&window, piece));
            assert!(under <= MAX_PIECE && piece.iter().all(|&extent| extent > 0), "{size:?}: {piece:?}");
            let ideal = [0, 1, 2].map(|d| size[d].min(piece[d]) * (size[d] + filter[d] - 1) / size[d]);
            assert!(under < 3 * elements(ideal), "{size:?}: {piece:?}");
        }
    }

    #[test]
    fn pieces_cover_the_output_once() {
        let (size, most) = ([5, 4, 3], [2, 4, 2]);
        let starts: Vec<_> = starts(size, most).collect();
        assert_eq!(starts, [[0, 0, 0], [2, 0, 0], [4, 0, 0], [0, 0, 2], [2, 0, 2], [4, 0, 2]]);
    }

    /// An engine that only copies shows the place of each sample.
    #[test]
    fn samples_are_gathered_and_results_stored() {
        let input: Vec<u8> = (1..=12).collect();
        let watch = Watch::new();
        let own = [
            Ends::default(),
            Ends::new(Boundary::Mirror, Boundary::Constant(50.0)).unwrap(),
            Ends::new(Boundary::Constant(60.0), Boundary::Constant(70.0)).unwrap(),
        ];
        for (shape, boundary, expected) in [
            (Shape::Full, Sides::from(own), vec![5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 50, 50, 50, 50]),
            (Shape::Same, Boundary::Constant(0.0).into(), vec![1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
            (Shape::Valid, Boundary::Constant(0.0).into(), vec![5, 6, 7, 8]),
            (
                Shape::Full,
                Boundary::Circular.into(),
                vec![9, 10, 11, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1, 2, 3, 4],
            ),
            (
                Shape::Full,
                Boundary::Constant(300.0).into(),
                vec![255, 255, 255, 255, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 255, 255, 255, 255],
            ),
        ] {
            let window = Window::new(shape, [4, 3, 1], [1, 3, 1]);
            let mut output = vec![0_u8; elements(window.size().unwrap())];
            run((&window, 7), boundary, &input, &mut output, &watch, |_, from: &[f64], to| {
                to.copy_from_slice(from);
                Ok(())
            })
            .unwrap();
            assert_eq!(output, expected, "{shape:?} {boundary:?}");
        }
    }
}
