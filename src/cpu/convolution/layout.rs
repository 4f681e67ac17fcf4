//! Which dimensions of an array are the rows, columns and pages of its tiles: vectors run along rows, so rows are what there
//! is much of.
//!
//! Of few rows and many columns the two change places. The filter's entries keep their order, in which a chain takes them:
//! row by row of the filter that was turned. Of many small pages, each of which a filter of one page goes over by itself,
//! pages are the rows, rows the columns, and columns the pages: the order is the same.

use std::borrow::Cow;

use crate::memory;
use crate::stencil::{Convolution, Ends, Error, Filter, Real};

/// The bytes of a column that is long enough for vectors along it, in one sweep and in several. (10^6 doubles by 3 x 3 with
/// AVX-512, turned beside not: of 24, 32 and 60 rows 1.0, 1.3 and 1.6 of the time in one sweep, 0.5, 0.6 and 0.8 in 20.)
const LONG_COLUMN_BYTES: [usize; 2] = [256, 512];

/// An array of fewer columns is not turned.
const FEWEST_COLUMNS: usize = 32;

/// The most elements of a page whose neighbours in other pages are done together, the most bytes of its columns, and the
/// fewest pages.
const SMALL_PAGE: usize = 4096;
const SMALL_COLUMN_BYTES: usize = 128;
const FEWEST_PAGES: usize = 64;

/// The steps of an array whose rows lie side by side.
fn steps([rows, columns, _]: [usize; 3]) -> [usize; 3] {
    [1, rows, rows * columns]
}

/// What is to be computed, with rows, columns and pages as tiles have them.
pub(super) struct Layout<'a, T: Real> {
    pub(super) request: Cow<'a, Convolution<T>>,
    /// The places in memory from one row to the next, from one column to the next, and from one page to the next.
    steps: [usize; 3],
    /// Whether the filter's entries are taken row by row, and not column by column; and of two constants that meet in a
    /// corner that of the rows holds.
    pub(super) by_rows: bool,
}

impl<'a, T: Real> Layout<'a, T> {
    /// With the array's rows, columns and pages.
    pub(super) fn plain(request: &'a Convolution<T>) -> Layout<'a, T> {
        Layout { request: Cow::Borrowed(request), steps: steps(request.size()), by_rows: false }
    }

    /// The steps of the array of a pass, which are those of memory at either end; between two passes rows lie side by side.
    pub(super) fn steps(&self, is_end: bool) -> [usize; 3] {
        if is_end { self.steps } else { steps(self.request.size()) }
    }

    /// What takes the least time.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn choose(request: &'a Convolution<T>) -> Result<Layout<'a, T>, Error> {
        let ([rows, columns, pages], [height, width, depth]) = (request.size(), request.filter().size());
        // To a filter of one column, those of all pages are alike.
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
    use super::super::tiling::SWEEPS;
    use super::*;
    use crate::cpu::Cpu;
    use crate::selection;
    use crate::stencil::{Boundary, Compute, Reference, Sides};
    use crate::watch::Watch;

    /// Every pair of boundaries, constants that meet in corners among them, in one sweep and in several.
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
                    // Each pair over some of the arrays and filters.
                    if (n + size[1] + filter[0] + filter[1]) % 4 != 0
                        || !selection::takes(&format!("{size:?} {filter:?} {n}"), &[&size, &filter, &n])
                    {
                        continue;
                    }
                    let request = Convolution::new(size, Filter::new(entries.clone(), filter).unwrap())
                        .with_boundary(Sides::from(sides))
                        .with_sweeps([1, 3, SWEEPS + 4][n % 3]);
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
