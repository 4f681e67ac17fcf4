//! Filters in kernels: the neighbours of an element in its chain, and the form of the chain.

use crate::stencil::{Convolution, DERIVATIVE_RADIUS, Derivative, Ends, Filtering, Real, Shift};

/// The chain of a filter.
#[derive(Debug, Clone)]
pub enum Chain {
    /// `acc = fma (sample, entry, acc)` over the entries, the first dimension fastest.
    Entries(Vec<f64>),
    /// `acc = fma (c[d], f[i + d] - f[i - d], acc)` for d = 1, 2, ..
    Differences(Vec<f64>),
    /// The sample farthest from the element, unchanged.
    Sample,
}

/// A filter over an array of three dimensions: its window, its chain, and the ghost values.
#[derive(Debug, Clone)]
pub struct Reach {
    /// Size of the array.
    pub size: [usize; 3],
    /// Size of the window.
    pub extents: [usize; 3],
    /// Number of entries of the window before an element.
    pub before: [usize; 3],
    /// Chain over the samples in it.
    pub chain: Chain,
    /// Boundaries along each dimension.
    pub ends: [Ends<f64>; 3],
}

impl Reach {
    /// Describes one sweep of a filter.
    pub fn new(filter: &Filtering) -> Reach {
        match filter {
            Filtering::Stencil(stencil) => {
                let taps = stencil.taps().as_slice();
                let chain = Chain::Entries(taps.to_vec());
                Reach::along(stencil.lines().extents(), (taps.len(), taps.len() / 2), chain, stencil.boundary())
            }
            Filtering::Derivative(derivative) => Reach::of_derivative(derivative),
            Filtering::SingleDerivative(derivative) => Reach::of_derivative(derivative),
            Filtering::Convolution(convolution) => Reach::of_convolution(convolution),
            Filtering::SingleConvolution(convolution) => Reach::of_convolution(convolution),
            Filtering::Shift(shift) => Reach::of_shift(shift),
        }
    }

    fn of_shift(shift: &Shift) -> Reach {
        Reach {
            size: shift.size,
            extents: shift.offsets.map(|offset| offset.unsigned_abs() + 1),
            before: shift.offsets.map(|offset| offset.min(0).unsigned_abs()),
            chain: Chain::Sample,
            ends: shift.boundaries.map(Ends::from),
        }
    }

    fn along(size: [usize; 3], (extent, before): (usize, usize), chain: Chain, ends: Ends<f64>) -> Reach {
        let ends = [Ends::default(), ends, Ends::default()];
        Reach { size, extents: [1, extent, 1], before: [0, before, 0], chain, ends }
    }

    fn of_derivative<T: Real>(derivative: &Derivative<T>) -> Reach {
        let chain = Chain::Differences(derivative.coefficients().iter().map(|c| c.to_f64()).collect());
        let window = (2 * DERIVATIVE_RADIUS + 1, DERIVATIVE_RADIUS);
        Reach::along(derivative.lines().extents(), window, chain, derivative.boundary().map(T::to_f64))
    }

    fn of_convolution<T: Real>(convolution: &Convolution<T>) -> Reach {
        let filter = convolution.filter();
        let sides = convolution.boundary();
        Reach {
            size: convolution.size(),
            extents: filter.size(),
            before: filter.before(),
            chain: Chain::Entries(filter.values().iter().map(|entry| entry.to_f64()).collect()),
            ends: [0, 1, 2].map(|d| sides[d].map(T::to_f64)),
        }
    }

    /// Numbers in its chain.
    pub fn entries(&self) -> &[f64] {
        match &self.chain {
            Chain::Entries(entries) | Chain::Differences(entries) => entries,
            Chain::Sample => &[],
        }
    }

    /// Maximum number of samples in its chain.
    pub fn samples(&self) -> usize {
        match self.chain {
            Chain::Entries(_) | Chain::Differences(_) => self.extents.iter().product(),
            Chain::Sample => 1,
        }
    }
}

impl Filtering {
    /// Number of sweeps.
    pub fn sweeps(&self) -> usize {
        match self {
            Filtering::Stencil(stencil) => stencil.sweeps(),
            Filtering::Convolution(convolution) => convolution.sweeps(),
            Filtering::SingleConvolution(convolution) => convolution.sweeps(),
            Filtering::Derivative(_) | Filtering::SingleDerivative(_) | Filtering::Shift(_) => 1,
        }
    }
}
