//! An operator over a whole array, distributed over the ranks.

use super::Plan;
use super::costs::{Costs, Swept};
use crate::partition::Around;
use crate::platform::watch::Watch;
use crate::stencil::{
    Compute, Convolution, DERIVATIVE_RADIUS, Derivative, Engine, Error, Number, Source, Stencil, Target,
};

/// Does a number of sweeps over an array of a number of planes, from one array to another.
type Pass<'a, T> = Box<
    dyn Fn(&(dyn Engine + 'static), usize, usize, Source<T>, Target<T>, &Watch) -> Result<(), Error> + Send + Sync + 'a,
>;

/// An operator over a whole array, of which this rank computes a part.
pub struct Whole<'a, T> {
    pub(super) swept: Swept,
    pub(super) around: Around,
    pub(super) sweeps: usize,
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
        let around = plan.around();
        assert_eq!(what.lines().elements(), around.area() * plan.dims()[plan.dim()]);
        let of_length = move |length| if reach.is_some() { what.with_lines(around.lines(length)) } else { what };
        let pass: Pass<f64> = Box::new(move |engine, length, sweeps, from, to, watch| {
            engine.stencil(&of_length(length).with_sweeps(sweeps), from, to, watch)
        });
        Whole::new(plan, reach, (what.sweeps(), taps.count()), pass)
    }
}

impl<T: Number> Whole<'_, T> {
    /// A derivative along dimension `dim` of the whole, counted from 0. Its lines are those of the part.
    ///
    /// # Panics
    /// Unless its lines are those of the part along that dimension.
    pub fn derivative(plan: &Plan, dim: usize, what: Derivative<T>) -> Self {
        let reach = (dim == plan.dim()).then_some((DERIVATIVE_RADIUS, what.boundary().is_circular()));
        let around = plan.around();
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
        assert!(dim < 3 && what.size()[dim] == length && what.elements() == plan.around().area() * length);
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
        let (parts, around, costs) = (plan.parts().clone(), plan.around(), Costs::default());
        Whole { swept: Swept { parts, area: around.area(), radius, circular, work, costs }, around, sweeps, pass }
    }

    /// Sets the cost of an exchange to `multiply_adds` multiply-adds, and reads halos on GPUs in place however few they
    /// are, instead of the measured costs: for tests that need many rounds, or one.
    pub fn with_exchange(self, multiply_adds: u128) -> Self {
        let costs = self.swept.costs;
        let costs = Costs { exchange: multiply_adds, exchange_of_device: multiply_adds, opened: 0, ..costs };
        Whole { swept: Swept { costs, ..self.swept }, ..self }
    }
}
