//! Assignment of an array's dimensions to the rows, columns and pages of its tiles: vectors run along rows, so rows
//! should be long.
//!
//! Few rows and many columns are exchanged. The filter's entries keep their order in the chain: row by row of the
//! transposed filter. Of many small pages, each under a filter of one page, pages become the rows, rows the columns,
//! and columns the pages: the order is the same.

use std::borrow::Cow;

use crate::platform::memory;
use crate::stencil::{Convolution, Ends, Error, Filter, Real};

/// Minimum length, in bytes, of columns with vectors along them, in one sweep and in several. (10^6 doubles by 3 x 3
/// with AVX-512, time exchanged relative to plain: of 24, 32 and 60 rows 1.0, 1.3 and 1.6 in one sweep, 0.5, 0.6 and
/// 0.8 in 20.)
const LONG_COLUMN_BYTES: [usize; 2] = [256, 512];

/// Minimum number of columns for an exchange.
const FEWEST_COLUMNS: usize = 32;

/// Maximum number of elements of a page to be done together with other pages, maximum number of bytes of its columns,
/// and minimum number of pages.
const SMALL_PAGE: usize = 4096;
const SMALL_COLUMN_BYTES: usize = 128;
const FEWEST_PAGES: usize = 64;

/// Strides of an array with contiguous columns.
fn steps([rows, columns, _]: [usize; 3]) -> [usize; 3] {
    [1, rows, rows * columns]
}

/// A convolution, with rows, columns and pages as tiles have them.
pub(super) struct Layout<'a, T: Real> {
    pub(super) request: Cow<'a, Convolution<T>>,
    /// Strides in memory of rows, of columns, and of pages.
    steps: [usize; 3],
    /// True if the filter's entries are taken row by row instead of column by column; and if, of two constants that
    /// meet in a corner, that of the rows counts.
    pub(super) by_rows: bool,
}

impl<'a, T: Real> Layout<'a, T> {
    /// Keeps the array's rows, columns and pages.
    pub(super) fn plain(request: &'a Convolution<T>) -> Layout<'a, T> {
        Layout { request: Cow::Borrowed(request), steps: steps(request.size()), by_rows: false }
    }

    /// Strides of the array of a pass: those of memory at either end; contiguous ones between two passes.
    pub(super) fn steps(&self, is_end: bool) -> [usize; 3] {
        if is_end { self.steps } else { steps(self.request.size()) }
    }

    /// Chooses the fastest layout.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn choose(request: &'a Convolution<T>) -> Result<Layout<'a, T>, Error> {
        let ([rows, columns, pages], [height, width, depth]) = (request.size(), request.filter().size());
        // A filter of one column treats the columns of all pages alike.
        let [columns, pages] = if width * depth == 1 { [columns * pages, 1] } else { [columns, pages] };
        let (sides, of_page) = (request.boundary(), rows * columns);
        if rows * size_of::<T>() >= LONG_COLUMN_BYTES[usize::from(request.sweeps() > 1)] {
            return Ok(Layout::plain(request));
        }
        let (size, of_filter, sides, steps, by_rows) = if columns >= FEWEST_COLUMNS.max(4 * rows) {
            let sides = [sides[1], sides[0], sides[2]];
            ([columns, rows, pages], [width, height, depth], sides, [rows, 1, of_page], true)
        } else if depth == 1
            && rows * size_of::<T>() <= SMALL_COLUMN_BYTES
            && of_page <= SMALL_PAGE
            && pages >= FEWEST_PAGES
        {
            let sides = [Ends::default(), sides[0], sides[1]];
            ([pages, rows, columns], [1, height, width], sides, [of_page, 1, rows], false)
        } else {
            return Ok(Layout::plain(request));
        };
        let values = request.filter().values();
        let mut entries = memory::zeros(values.len(), "a filter")?;
        for (at, &entry) in values.iter().enumerate() {
            let (row, column, page) = (at % height, at / height % width, at / height / width);
            let at = if by_rows { column + width * (row + height * page) } else { at };
            entries[at] = entry;
        }
        let filter = Filter::new(entries, of_filter).map_err(|error| Error::Internal(error.to_string()))?;
        let turned = Convolution::new(size, filter).with_boundary(sides).with_sweeps(request.sweeps());
        Ok(Layout { request: Cow::Owned(turned), steps, by_rows })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::Cpu;
    use crate::cpu::convolution::tiling::SWEEPS;
    use crate::platform::watch::Watch;
    use crate::selection;
    use crate::stencil::{Boundary, Compute, Engine, Reference, Sides};

    /// Every pair of boundaries, including constants that meet in corners, in one sweep and in several.
    #[test]
    fn few_rows_have_the_bits_of_the_reference() {
        selection::begin();
        let [one, two] = [1.5, -2.5].map(Boundary::Constant);
        let ends = |low, high| Ends::new(low, high).unwrap();
        let kinds = [
            ends(one, two),
            ends(two, Boundary::Replicate),
            ends(Boundary::Mirror, one),
            Boundary::Symmetric.into(),
            Boundary::Circular.into(),
        ];
        for size in [
            [1, 150, 1],
            [2, 131, 1],
            [5, 64, 3],
            [7, 200, 1],
            [3, 1100, 2],
            [12, 70, 1],
            [10, 7, 70],
            [1, 1, 99],
            [9, 12, 64],
        ] {
            let filter = Filter::new(vec![1.0], [1; 3]).unwrap();
            assert_ne!(Layout::choose(&Convolution::new(size, filter)).unwrap().request.size(), size);
            for filter in
                [[3, 3, 1], [3, 1, 1], [5, 3, 1], [3, 7, 1], [3, 3, 3], [15, 13, 1], [2, 4, 1], [16, 9, 1], [2, 3, 4]]
            {
                let (elements, count) = (size.iter().product::<usize>(), filter.iter().product::<usize>());
                let entries: Vec<f64> = (0..count).map(|i| (i as f64 + 0.5).cos() / (count as f64).sqrt()).collect();
                let input: Vec<f64> = (0..elements)
                    .map(|i| if i % 97 == 31 { [f64::NAN, -0.0, 1e-310][i % 3] } else { (i as f64).sin() })
                    .collect();
                for (n, sides) in
                    kinds.iter().flat_map(|&rows| kinds.map(|columns| [rows, columns, kinds[0]])).enumerate()
                {
                    // Each pair with a selection of the arrays and filters.
                    if (n + size[1] + filter[0] + filter[1]) % 4 != 0
                        || !selection::takes(&format!("{size:?} {filter:?} {n}"), &[&size, &filter, &n])
                    {
                        continue;
                    }
                    let request = Convolution::new(size, Filter::new(entries.clone(), filter).unwrap())
                        .with_boundary(Sides::from(sides))
                        .with_sweeps([1, 3, SWEEPS + 4][n % 3]);
                    let (mut output, mut expected) = (vec![0.0; elements], vec![0.0; elements]);
                    let run = |engine: &dyn Engine, to: &mut [f64]| {
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
