//! Stored images of logical values and of integers: filtered where they lie, with the results of the host's images.

use std::sync::Arc;

use super::filtering::Job;
use super::windows;
use crate::gateway::arrays::{Number, round};
use crate::gateway::engine::DynEngine;
use crate::gateway::store::StoredArray;
use crate::mex::{Class, Error, Reply};
use crate::platform::watch::Watch;
use crate::stencil::{self, Array, Compute, Convolution, Filter, Shape, Sides, Source, Target, Window};

/// A filter, and the outputs that it has.
pub(super) type Step = (Window, Filter<f64>);

/// The sweeps of a call on such an image.
pub(super) struct Sweeps {
    pub(super) steps: Vec<Step>,
    pub(super) sides: Sides<f64>,
    pub(super) iterations: usize,
    /// Number of volumes behind each other.
    pub(super) volumes: usize,
}

/// Replies for sweeps over a stored image: the filters in turn, in double; the last results are rounded to the class.
pub(super) fn reply<'a>(
    job: &Job<'a>,
    held: StoredArray,
    effort: crate::mex::Effort,
    what: Sweeps,
) -> Result<Reply<'a>, Error> {
    let StoredArray { home, class, numbers, .. } = held;
    let selection = &job.request.selection;
    selection.check_home(home)?;
    let dims = job.output.clone();
    let chosen = home.choose()?.with_note(selection.note(home));
    Ok(chosen.held(home.effort(effort), move |engine, home, watch| {
        let mut current = f64::of(&numbers, engine, watch)?;
        for _ in 0..what.iterations {
            current = Arc::new(sweep(engine, &what, class, &current, watch)?);
        }
        Ok(StoredArray { home, dims, class, numbers: current.into() })
    }))
}

fn sweep(
    engine: &DynEngine,
    what: &Sweeps,
    class: Class,
    from: &Arc<Array<f64>>,
    watch: &Watch,
) -> Result<Array<f64>, stencil::Error> {
    let mut current = Arc::clone(from);
    for (window, filter) in &what.steps {
        let len = window.size().unwrap_or_default().iter().product::<usize>() * what.volumes;
        let mut results = engine.arrays::<f64>().array(len)?;
        let ends = (Source::Array(&*current), Target::Array(&mut results));
        windows::each_volume(engine, what.volumes, ends, watch, |from, to| match window.shape() {
            Shape::Same => {
                let what = Convolution::new(window.input(), filter.clone()).with_boundary(what.sides);
                engine.convolution(&what, from, to, watch)
            }
            Shape::Full | Shape::Valid => {
                windows::compute(engine, window, &what.sides.into(), (from, to), watch, |size, from, to| {
                    engine.convolution(&Convolution::new(size, filter.clone()), from, to, watch)
                })
            }
        })?;
        current = Arc::new(results);
    }
    let mut rounded = engine.arrays::<f64>().array(current.len())?;
    round(engine, class, &current, &mut rounded, watch)?;
    Ok(rounded)
}
