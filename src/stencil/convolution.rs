//! Convolutions over images and volumes: an array of rows, columns and pages, in column-major order.
//!
//! # Contract
//! In a sweep, each output is the chain `acc = +0`, then `acc = fma(sample, entry, acc)` for the filter's entries in
//! column-major order, with the filter's middle on the element and not flipped. Every entry is multiplied, zeros too;
//! so are [ghost values](super::Sides). A filter of one page is applied to each page of a volume independently.
//!
//! # Limits
//! A filter has up to [`MAX_ENTRIES`] entries, whatever its shape. [`FilterError`] names the rule that a size breaks.

use std::sync::Arc;

use super::{Ends, Lines, Real, Sides};

/// Maximum number of entries of a filter: as many doubles as fit a bank of constant memory, 64 KiB, less one.
pub const MAX_ENTRIES: usize = 8191;

/// A filter of up to three dimensions, in column-major order.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter<T> {
    /// Shared, so that an operation with the filter is copied at once.
    values: Arc<[T]>,
    size: [usize; 3],
}

/// Reason that an array is no filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// It has no entries.
    #[error("it is empty")]
    Empty,
    /// More than constant memory holds.
    #[error("it has more than {MAX_ENTRIES} entries")]
    TooLarge,
}

impl FilterError {
    /// Checks the size of a filter.
    pub fn check(size: [usize; 3]) -> Result<(), FilterError> {
        match size.iter().fold(1_usize, |entries, &size| entries.saturating_mul(size)) {
            0 => Err(FilterError::Empty),
            entries if entries > MAX_ENTRIES => Err(FilterError::TooLarge),
            _ => Ok(()),
        }
    }
}

impl<T: Real> Filter<T> {
    /// Makes a filter of this size: rows, columns, pages.
    ///
    /// # Panics
    /// If the number of `values` is not that of the size.
    pub fn new(values: Vec<T>, size: [usize; 3]) -> Result<Filter<T>, FilterError> {
        FilterError::check(size)?;
        assert_eq!(values.len(), size.iter().product::<usize>());
        Ok(Filter { values: values.into(), size })
    }

    /// Entries in column-major order, which is the order of the sum.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Rows, columns, pages.
    pub fn size(&self) -> [usize; 3] {
        self.size
    }

    /// Number of entries before the middle one, along each dimension: half of the others, or, of an even size, one
    /// fewer than after it, as in `imfilter`.
    pub fn before(&self) -> [usize; 3] {
        self.size.map(|size| (size - 1) / 2)
    }

    /// Number of entries after the middle one, along each dimension; there are at most as many before it.
    pub fn radius(&self) -> [usize; 3] {
        self.size.map(|size| size / 2)
    }

    /// True if all its sizes are odd: as many entries before the middle as after it.
    pub fn is_centred(&self) -> bool {
        self.before() == self.radius()
    }
}

/// Sweeps of a filter over an image or a volume: each over the results of the one before. Without sweeps the output is
/// the input.
#[derive(Debug, Clone)]
pub struct Convolution<T> {
    size: [usize; 3],
    filter: Filter<T>,
    boundary: Sides<T>,
    sweeps: usize,
}

impl<T: Real> Convolution<T> {
    /// Makes one sweep over an array of this size: rows, columns, pages; zeros outside.
    ///
    /// # Panics
    /// If that is more than memory can hold.
    pub fn new(size: [usize; 3], filter: Filter<T>) -> Convolution<T> {
        let elements = size.iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
        assert!(elements.is_some(), "an array of {size:?}");
        Convolution { size, filter, boundary: Sides::default(), sweeps: 1 }
    }

    /// Sets another boundary, or one for each side.
    pub fn with_boundary(self, boundary: impl Into<Sides<T>>) -> Convolution<T> {
        Convolution { boundary: boundary.into(), ..self }
    }

    /// Sets the number of sweeps.
    pub fn with_sweeps(self, sweeps: usize) -> Convolution<T> {
        Convolution { sweeps, ..self }
    }

    /// Changes the size of the array.
    ///
    /// # Panics
    /// If that is more than memory can hold.
    pub fn with_size(self, size: [usize; 3]) -> Convolution<T> {
        let Convolution { filter, boundary, sweeps, .. } = self;
        Convolution { boundary, sweeps, ..Convolution::new(size, filter) }
    }

    /// Rows, columns, pages.
    pub fn size(&self) -> [usize; 3] {
        self.size
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.size.iter().product()
    }

    /// The filter.
    pub fn filter(&self) -> &Filter<T> {
        &self.filter
    }

    /// The boundaries around the array.
    pub fn boundary(&self) -> Sides<T> {
        self.boundary
    }

    /// Number of sweeps.
    pub fn sweeps(&self) -> usize {
        self.sweeps
    }

    /// If all entries of the filter are along one dimension: that dimension, and the lines of the array along it. Each
    /// is then filtered independently, by the same chain of multiply-adds as a stencil, and its ends have the
    /// boundaries of that dimension.
    pub fn lines(&self) -> Option<(usize, Lines)> {
        let mut long = (0..3).filter(|&dim| self.filter.size()[dim] > 1);
        match (long.next(), long.next()) {
            (Some(dim), None) => Some((dim, Lines::along(&self.size, dim))),
            _ => None,
        }
    }

    /// If all entries of the filter are along one dimension: the same as a filter of one row. Its columns are the
    /// places along a line, the rows the neighbouring lines.
    pub fn along_columns(&self) -> Option<Convolution<T>> {
        let (dim, lines) = self.lines()?;
        let filter = Filter { values: self.filter.values.clone(), size: [1, self.filter.values.len(), 1] };
        let boundary = Sides::from([Ends::default(), self.boundary[dim], Ends::default()]);
        Some(Convolution { size: lines.extents(), filter, boundary, sweeps: self.sweeps })
    }
}
