//! Arrays with short columns: vectors run along columns, so rows change places with what there is more of.
//!
//! Of few rows and many columns the two change places. The filter's entries keep their order, in which a chain takes them: row
//! by row of the filter that was turned. Of many small pages, each of which a filter of one page goes over by itself, pages
//! become the rows, rows the columns, and columns the pages: the order is the same.

use crate::cpu::simd::Lanes;
use crate::host::SharedOutput;
use crate::memory;
use crate::stencil::{Convolution, Ends, Error, Filter, Real};
use crate::watch::Watch;
use crate::workers::Workers;
use rayon::prelude::*;

/// The bytes of the longest vector: shorter columns leave it without work. (10^6 doubles by 3 x 3, with AVX-512, beside a
/// tile's columns: of 1, 4 and 6 rows 0.15, 0.39 and 0.44 of the time, of 8 and 16 rows 1.1 and 1.8.)
const VECTOR_BYTES: usize = 64;

/// Of fewer columns two copies are not worth it.
const FEWEST_COLUMNS: usize = 32;

/// The most elements of a page whose neighbours in other pages are done together, the most bytes of its columns, and the fewest
/// pages.
const SMALL_PAGE: usize = 4096;
const SMALL_COLUMN_BYTES: usize = 128;
const FEWEST_PAGES: usize = 64;

/// The columns that are copied at a time.
const STEP: usize = 512;

/// Whether an array of this size is done quicker with rows and columns in each other's place.
pub(super) fn pays<T>([rows, columns, _]: [usize; 3]) -> bool {
    rows * size_of::<T>() < VECTOR_BYTES && columns >= FEWEST_COLUMNS
}

/// What is to be computed over the array whose rows and columns changed places.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(super) fn request<T: Real>(request: &Convolution<T>) -> Result<Convolution<T>, Error> {
    let ([height, width, depth], [rows, columns, pages]) = (request.filter().size(), request.size());
    let mut entries = memory::zeros(height * width * depth, "a filter")?;
    for (at, &entry) in request.filter().values().iter().enumerate() {
        let (row, column, page) = (at % height, at / height % width, at / height / width);
        entries[column + width * (row + height * page)] = entry;
    }
    let filter = Filter::new(entries, [width, height, depth]).map_err(|error| Error::Internal(error.to_string()))?;
    let sides = request.boundary();
    let turned = Convolution::new([columns, rows, pages], filter).with_boundary([sides[1], sides[0], sides[2]]);
    Ok(turned.with_sweeps(request.sweeps()))
}

/// What is to be computed over an array of many small pages whose pages became rows, rows columns, and columns pages; `None`
/// where that is not quicker, or pages are not independent.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(super) fn pages_first<T: Real>(request: &Convolution<T>) -> Result<Option<Convolution<T>>, Error> {
    let ([height, width, depth], [rows, columns, pages]) = (request.filter().size(), request.size());
    let is_small = rows * size_of::<T>() <= SMALL_COLUMN_BYTES && rows * columns <= SMALL_PAGE;
    if depth > 1 || !is_small || pages < FEWEST_PAGES {
        return Ok(None);
    }
    let mut entries = memory::zeros(height * width, "a filter")?;
    entries.copy_from_slice(request.filter().values());
    let filter = Filter::new(entries, [1, height, width]).map_err(|error| Error::Internal(error.to_string()))?;
    let sides = request.boundary();
    let turned = Convolution::new([pages, rows, columns], filter).with_boundary([Ends::default(), sides[0], sides[1]]);
    Ok(Some(turned.with_sweeps(request.sweeps())))
}

/// Copies an array of this size to one whose rows and columns changed places.
///
/// # Errors
/// That of the watch.
pub(super) fn copy<T: Lanes>(
    from: &[T],
    [rows, columns, pages]: [usize; 3],
    to: &mut [T],
    watch: &Watch,
) -> Result<(), Error> {
    let target = SharedOutput::new(to);
    // Of the longer dimension some at a time: neighbours stay in the cache.
    let (steps, along_rows) = (rows.max(columns).div_ceil(STEP), rows > columns);
    let step = |number: usize| {
        watch.check()?;
        let (page, first) = (number / steps, number % steps * STEP);
        let (i, j) = if along_rows {
            (first..(first + STEP).min(rows), 0..columns)
        } else {
            (0..rows, first..(first + STEP).min(columns))
        };
        for row in i {
            let start = columns * (row + rows * page);
            // SAFETY: no other step has these places.
            let places = unsafe { target.places(start + j.start..start + j.end) };
            for (to, column) in places.iter_mut().zip(j.clone()) {
                *to = from[row + rows * (column + columns * page)];
            }
        }
        Ok(())
    };
    match if steps * pages > 1 { Workers::get() } else { None } {
        Some(pool) => pool.install(|| (0..steps * pages).into_par_iter().try_for_each(step)),
        None => (0..steps * pages).try_for_each(step),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::Cpu;
    use crate::stencil::{Boundary, Compute, Reference, Sides};

    #[test]
    fn rows_and_columns_change_places_and_back() {
        for size in [[1, 5, 1], [3, 1300, 2], [1300, 3, 2], [7, 40, 3]] {
            let [rows, columns, pages] = size;
            let from: Vec<f64> = (0..rows * columns * pages).map(|i| i as f64).collect();
            let (mut turned, mut back) = (vec![0.0; from.len()], vec![0.0; from.len()]);
            copy(&from, size, &mut turned, &Watch::new()).unwrap();
            assert_eq!(turned[columns - 1], from[rows * (columns - 1)]);
            copy(&turned, [columns, rows, pages], &mut back, &Watch::new()).unwrap();
            assert_eq!(back, from);
        }
    }

    /// Every pair of boundaries, constants that meet in corners among them, in one sweep and in several.
    #[test]
    fn few_rows_have_the_bits_of_the_reference() {
        let [one, two] = [1.5, -2.5].map(Boundary::Constant);
        let ends = |low, high| Ends::new(low, high).unwrap();
        let kinds = [
            ends(one, two),
            ends(two, Boundary::Replicate),
            ends(Boundary::Mirror, one),
            Boundary::Symmetric.into(),
            Boundary::Circular.into(),
        ];
        for size in
            [[1, 150, 1], [2, 131, 1], [5, 64, 3], [7, 200, 1], [3, 1100, 2], [10, 7, 70], [1, 1, 99], [9, 12, 64]]
        {
            assert!(pays::<f64>(size) || size[2] >= FEWEST_PAGES);
            for filter in [[3, 3, 1], [5, 3, 1], [3, 7, 1], [3, 3, 3], [15, 13, 1], [2, 4, 1], [16, 9, 1], [2, 3, 4]] {
                let (elements, count) = (size.iter().product::<usize>(), filter.iter().product::<usize>());
                let entries: Vec<f64> = (0..count).map(|i| (i as f64 + 0.5).cos() / (count as f64).sqrt()).collect();
                let input: Vec<f64> = (0..elements)
                    .map(|i| if i % 97 == 31 { [f64::NAN, -0.0, 1e-310][i % 3] } else { (i as f64).sin() })
                    .collect();
                for (n, sides) in
                    kinds.iter().flat_map(|&rows| kinds.map(|columns| [rows, columns, kinds[0]])).enumerate()
                {
                    // Each pair over some of the arrays and filters.
                    if (n + size[1] + filter[0] + filter[1]) % 4 != 0 {
                        continue;
                    }
                    let request = Convolution::new(size, Filter::new(entries.clone(), filter).unwrap())
                        .with_boundary(Sides::from(sides))
                        .with_sweeps([1, 3][n % 2]);
                    let (mut output, mut expected) = (vec![0.0; elements], vec![0.0; elements]);
                    let run = |engine: &dyn Compute<f64>, to: &mut [f64]| {
                        engine.convolution(&request, (&input[..]).into(), to.into(), &Watch::new()).unwrap();
                    };
                    run(&Cpu::new(), &mut output);
                    run(&Reference, &mut expected);
                    assert!(output.iter().zip(&expected).all(|(a, &b)| a.same(b)), "{request:?}");
                }
            }
        }
    }
}
