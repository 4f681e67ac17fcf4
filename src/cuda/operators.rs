//! Runs of operators, on one device as on several.

use super::element::Element;
use super::kernels::{self, Kernel, Operator, Way};
use super::program::Walked;
use super::routes::work::Work;
use crate::platform::watch::Watch;
use crate::stencil::program::Gait;
use crate::stencil::{Convolution, Derivative, Ends, Error, Lines, Sides, Source, Stencil, Target};

/// Runs kernels: a device, or several.
pub(crate) trait Runs {
    /// Returns the requested walk for several sweeps at once.
    fn walk(&self) -> Option<Gait>;

    /// Does all of `work` by this kernel.
    fn run<T: Element>(
        &self,
        kernel: &dyn Kernel<T>,
        work: &Work<T>,
        from: Source<T>,
        to: Target<T>,
        watch: &Watch,
    ) -> Result<(), Error>;
}

/// Sweeps along lines.
#[expect(clippy::too_many_arguments, reason = "an operator, and its ends")]
fn along_lines<T: Element>(
    runs: &impl Runs,
    operator: &Operator,
    lines: Lines,
    ends: Ends<T>,
    sweeps: usize,
    from: Source<T>,
    to: Target<T>,
    watch: &Watch,
) -> Result<(), Error> {
    let on_device = !matches!((&from, &to), (Source::Host(_), Target::Host(_)));
    let sides = Sides::from([Ends::default(), ends, Ends::default()]);
    let size = [lines.inner(), lines.length(), lines.outer()];
    let work = Work { size, radius: [0, operator.radius, 0], sides, sweeps };
    runs.run(&*kernels::along_lines(operator, lines, ends, sweeps, on_device), &work, from, to, watch)
}

/// Sweeps by a convolution.
pub(crate) fn convolution<T: Element>(
    runs: &impl Runs,
    what: &Convolution<T>,
    from: Source<T>,
    to: Target<T>,
    watch: &Watch,
) -> Result<(), Error> {
    match Way::of(what) {
        Way::Lines(operator, lines, ends) => along_lines(runs, &operator, lines, ends, what.sweeps(), from, to, watch),
        Way::Convolution(what) => {
            let (size, radius) = (what.size(), what.filter().radius());
            let work = Work { size, radius, sides: what.boundary(), sweeps: what.sweeps() };
            runs.run(&Walked::new(what, runs.walk()), &work, from, to, watch)
        }
    }
}

/// Sweeps by a stencil.
pub(crate) fn stencil(
    runs: &impl Runs,
    what: &Stencil,
    from: Source<f64>,
    to: Target<f64>,
    watch: &Watch,
) -> Result<(), Error> {
    let (lines, ends, sweeps) = (what.lines(), what.boundary(), what.sweeps());
    along_lines(runs, &Operator::stencil(what), lines, ends, sweeps, from, to, watch)
}

/// Computes a derivative.
pub(crate) fn derivative<T: Element>(
    runs: &impl Runs,
    what: &Derivative<T>,
    from: Source<T>,
    to: Target<T>,
    watch: &Watch,
) -> Result<(), Error> {
    along_lines(runs, &Operator::derivative(what), what.lines(), what.boundary(), 1, from, to, watch)
}
