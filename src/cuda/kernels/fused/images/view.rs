//! An array as the kernel sees it: images whose rows are neighbours in memory, and their boundaries.

use crate::cuda::arguments::{CONSTANT, EndsArgument, MIRROR, REPLICATE};
use crate::partition::Size;

/// Maximum number of rows or columns of an image: the bytes of a column, and of a strip of it, are counted in 32 bits.
pub(super) const MAX_ROWS_OR_COLUMNS: usize = 1 << 28;

/// An array as images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct View {
    /// Rows, columns and images.
    pub(super) size: Size,
    /// Elements from a column to the next one, and from an image to the next one: multiples of the array's rows.
    pub(super) column_step: usize,
    pub(super) image_step: usize,
    /// Rows and columns.
    pub(super) filter: [usize; 2],
    /// Dimension of the array along which columns follow each other. Rows do along the first one.
    pub(super) across: usize,
    /// True if single sweeps are those over a volume.
    pub(super) is_volume: bool,
}

impl View {
    /// Returns the view of an array of this size for this filter; `None` for a filter that is not of rows and columns,
    /// or of rows and pages.
    pub(super) fn of([rows, columns, pages]: Size, filter: Size) -> Option<View> {
        let page = rows * columns;
        let view = |size, filter, across, [column_step, image_step]: [usize; 2], is_volume| {
            Some(View { size, filter, column_step, image_step, across, is_volume })
        };
        match filter {
            [height, width, 1] if height.min(width) > 1 => {
                view([rows, columns, pages], [height, width], 1, [rows, page], false)
            }
            // The pages of a volume are the columns of as many images as it has columns.
            [height, 1, depth] if height.min(depth) > 1 => {
                view([rows, pages, columns], [height, depth], 2, [page, rows], true)
            }
            _ => None,
        }
    }
}

/// Boundaries of a view, in the kernels' form.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around {
    /// Boundaries above the rows and below.
    pub(super) rows: EndsArgument,
    /// Boundaries before the columns and behind.
    pub(super) columns: EndsArgument,
    /// True if the module must support a different boundary on each side.
    pub(super) own_sides: bool,
}

impl Around {
    /// Takes the boundaries at these ends.
    pub(super) fn new(view: &View, [rows, mut columns]: [EndsArgument; 2]) -> Around {
        // A mirror of a single column is a replicate.
        if view.size[1] == 1 {
            columns.boundary = columns.boundary.map(|end| if end == MIRROR { REPLICATE } else { end });
        }
        let [rows, columns] = [rows, columns].map(|ends| {
            // Only a constant has a number.
            let number = |end: usize| if ends.boundary[end] == CONSTANT { ends.value[end] } else { 0.0 };
            EndsArgument { value: [number(0), number(1)], boundary: ends.boundary }
        });
        let all = [rows, columns].map(|ends| [0, 1].map(|end| (ends.boundary[end], ends.value[end].to_bits())));
        let first = all[0][0];
        Around { rows, columns, own_sides: all != [[first; 2]; 2] || first.0 == MIRROR }
    }

    /// Returns the constants of all four sides, 0 if there is none.
    pub(super) fn constants(&self) -> impl Iterator<Item = f64> {
        [self.rows, self.columns].into_iter().flat_map(|ends| ends.value)
    }
}
