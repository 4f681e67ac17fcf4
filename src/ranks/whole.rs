//! An operator over a whole array, distributed over the ranks.

use super::Plan;
use super::distribution::{Costs, Distribution, Swept};
use super::planes::Around;
use crate::platform::watch::Watch;
use crate::stencil::{
    Compute, Convolution, DERIVATIVE_RADIUS, Derivative, Engine, Error, Number, Real, Source, Stencil, Target,
};

/// Does a number of sweeps over an array of a number of planes, from one array to another.
type Pass<'a, T> = Box<
    dyn Fn(&(dyn Engine + 'static), usize, usize, Source<T>, Target<T>, &Watch) -> Result<(), Error> + Send + Sync + 'a,
>;

/// An operator over a whole array, of which this rank computes a part.
pub struct Whole<'a, T> {
    pub(super) distribution: Distribution,
    pub(super) around: Around,
    /// Radius along the dimension of the distribution.
    pub(super) radius: usize,
    circular: bool,
    pub(super) sweeps: usize,
    /// Number of multiply-adds of an update.
    work: usize,
    pub(super) costs: Costs,
    pub(super) pass: Pass<'a, T>,
}

impl Whole<'_, f64> {
    /// A stencil along dimension `dim` of the whole, counted from 0. Its lines are those of the part.
    ///
    /// # Panics
    /// Unless its lines are those of the part along that dimension.
    pub fn stencil(plan: &Plan, dim: usize, what: Stencil) -> Self {
        let (taps, ends) = (what.taps(), what.boundary());
        let reach = (dim == plan.dim()).then_some((taps.radius(), ends.is_circular()));
        let around = around(plan);
        assert_eq!(what.lines().elements(), around.area() * plan.dims()[plan.dim()]);
        let of_length = move |length| if reach.is_some() { what.with_lines(around.lines(length)) } else { what };
        let pass: Pass<f64> = Box::new(move |engine, length, sweeps, from, to, watch| {
            engine.stencil(&of_length(length).with_sweeps(sweeps), from, to, watch)
        });
        Whole::new(plan, reach, (what.sweeps(), taps.count()), pass)
    }
}

impl<T: Real> Whole<'_, T>
where
    T: Number,
{
    /// A derivative along dimension `dim` of the whole, counted from 0. Its lines are those of the part.
    ///
    /// # Panics
    /// Unless its lines are those of the part along that dimension.
    pub fn derivative(plan: &Plan, dim: usize, what: Derivative<T>) -> Self {
        let reach = (dim == plan.dim()).then_some((DERIVATIVE_RADIUS, what.boundary().is_circular()));
        let around = around(plan);
        assert_eq!(what.lines().elements(), around.area() * plan.dims()[plan.dim()]);
        let of_length = move |length| if reach.is_some() { what.with_lines(around.lines(length)) } else { what };
        let pass: Pass<T> = Box::new(move |engine, length, sweeps, from, to, watch| match sweeps {
            0 => engine.arrays().copy(from, to, watch),
            _ => engine.derivative(&of_length(length), from, to, watch),
        });
        Whole::new(plan, reach, (1, DERIVATIVE_RADIUS), pass)
    }

    /// A convolution over an image or a volume; its size is that of the part.
    ///
    /// # Panics
    /// If its size differs, or the whole has more than three dimensions.
    pub fn convolution(plan: &Plan, what: Convolution<T>) -> Self {
        let dim = plan.dim();
        let length = plan.dims()[dim];
        assert!(dim < 3 && what.size()[dim] == length && what.elements() == around(plan).area() * length);
        let reach = Some((what.filter().radius()[dim], what.boundary()[dim].is_circular()));
        let counts = (what.sweeps(), what.filter().values().len());
        let pass: Pass<T> = Box::new(move |engine, length, sweeps, from, to, watch| {
            let mut size = what.size();
            size[dim] = length;
            engine.convolution(&what.clone().with_size(size).with_sweeps(sweeps), from, to, watch)
        });
        Whole::new(plan, reach, counts, pass)
    }
}

impl<'a, T> Whole<'a, T> {
    /// `reach` is the radius along the dimension of the plan, and true if that boundary is circular.
    fn new(plan: &Plan, reach: Option<(usize, bool)>, (sweeps, work): (usize, usize), pass: Pass<'a, T>) -> Self {
        let (radius, circular) = reach.unwrap_or_default();
        let (distribution, around, costs) = (plan.distribution().clone(), around(plan), Costs::default());
        Whole { distribution, around, radius, circular, sweeps, work, costs, pass }
    }

    /// Sets the cost of an exchange to `multiply_adds` multiply-adds, and reads halos on GPUs in place however few they
    /// are, instead of the measured costs: for tests that need many rounds, or one.
    pub fn with_exchange(self, multiply_adds: u128) -> Self {
        let costs = Costs { exchange: multiply_adds, exchange_of_device: multiply_adds, opened: 0, ..self.costs };
        Whole { costs, ..self }
    }

    pub(super) fn swept(&self) -> Swept<'_> {
        let Whole { distribution, around, radius, circular, work, costs, .. } = self;
        Swept { distribution, area: around.area(), radius: *radius, circular: *circular, work: *work, costs: *costs }
    }
}

/// Layout around the dimension of a plan.
fn around(plan: &Plan) -> Around {
    let (dim, dims) = (plan.dim(), plan.dims());
    let product = |dims: &[usize]| dims.iter().try_fold(1_usize, |product, &dim| product.checked_mul(dim));
    // In an empty array, the product of the other dimensions may overflow.
    let none = Around { inner: 1, outer: 0 };
    let (inner, outer) = (product(&dims[..dim]), product(&dims[dim + 1..]));
    match (inner, outer) {
        (Some(0), _) | (_, Some(0)) | (None, _) | (_, None) => none,
        (Some(inner), Some(outer)) => inner.checked_mul(outer).map_or(none, |_| Around { inner, outer }),
    }
}
