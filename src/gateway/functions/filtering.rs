//! Replies for filters over an array: for the convolution, and for stencils of taps without a dedicated kernel.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use super::distributed::{self, Joint};
use super::levels::{Computed, Filters};
use super::request::Request;
use super::sweeps::RecordedGhosts;
use super::windows;
use crate::gateway::engine::inputs::AnyInput;
use crate::gateway::engine::{DynEngine, Work};
use crate::mex::{Error, Reply};
use crate::platform::watch::Watch;
use crate::ranks::{self, Along, Plan, Whole};
use crate::scheme::Filter as Step;
use crate::stencil::{self, Compute, Convolution, Shape, Sides, Source, Target, Window};

/// Returns the size of an array of at most three dimensions.
pub(super) fn sized(dims: &[usize]) -> [usize; 3] {
    let mut size = [1; 3];
    size.iter_mut().zip(dims).for_each(|(size, &dim)| *size = dim);
    size
}

/// Returns a warning the first time in a process; `warned` remembers it.
pub(super) fn once(warned: &AtomicBool, identifier: &'static str, text: String) -> Option<Error> {
    (!warned.swap(true, Ordering::Relaxed)).then(|| Error::new(identifier, text + " This is said once in a session."))
}

/// A call that was read: its options and its array.
pub(super) struct Job<'a> {
    /// Name of the array in errors.
    pub(super) name: &'static str,
    pub(super) request: Request<'a>,
    /// Dimensions of the array.
    pub(super) dims: Cow<'a, [usize]>,
    /// Dimensions of the result.
    pub(super) output: Vec<usize>,
    /// The outputs over a volume of the array.
    pub(super) window: Window,
    /// Number of volumes behind each other; each is filtered alone.
    pub(super) volumes: usize,
    /// Number of results that the host asks for.
    pub(super) outputs: usize,
    /// Ghost values that a step computes, for each filter; empty if there are none.
    pub(super) recorded: Vec<RecordedGhosts>,
}

/// Sweeps over a volume whose ghost values a step computes: each sweep first makes an array that includes them.
fn sweeps_with<T: Computed>(
    engine: &DynEngine,
    (what, window): (&Convolution<T>, &Window),
    recorded: &RecordedGhosts,
    (from, to): (Source<T>, Target<T>),
    watch: &Watch,
) -> Result<(), stencil::Error> {
    let ghosts = recorded.ghosts(what.boundary(), engine, watch)?;
    let once = |from: Source<T>, to: Target<T>| {
        windows::compute(engine, window, &ghosts, (from, to), watch, |size, from, to| {
            let what = what.clone().with_size(size).with_boundary(Sides::default()).with_sweeps(1);
            engine.convolution(&what, from, to, watch)
        })
    };
    let mut current = None;
    for _ in 1..what.sweeps() {
        let mut next = engine.arrays::<T>().array(from.len())?;
        once(current.as_ref().map_or(from, Source::Array), Target::Array(&mut next))?;
        current = Some(next);
    }
    let from = current.as_ref().map_or(from, Source::Array);
    if what.sweeps() == 0 { engine.arrays().copy(from, to, watch) } else { once(from, to) }
}

impl<'a> Job<'a> {
    /// Replies for sweeps of these filters, each over the results of the one before.
    pub(super) fn reply<T: Computed>(
        &self,
        samples: AnyInput<'a>,
        steps: Vec<Convolution<T>>,
    ) -> Result<Reply<'a>, Error> {
        let Request { selection, sweeps, levels, .. } = &self.request;
        let what = match <[_; 1]>::try_from(steps) {
            Ok([step]) if levels.are_none() => step.with_sweeps(sweeps.iterations()),
            Ok([step]) => return self.several(samples, vec![step]),
            Err(steps) => return self.several(samples, steps),
        };
        let (window, volumes, recorded) = (self.window, self.volumes, self.recorded.first().cloned());
        let effort = sweeps.effort(self.output.iter().product(), what.filter().values().len());
        let work = Work::from(&what);
        let samples = T::of_input(samples, "the array in single")?;
        samples.reply(selection, &self.output, effort, work, move |engine, from, to, watch| {
            windows::each_volume(engine, volumes, (from, to), watch, |from, to| match (window.shape(), &recorded) {
                (_, Some(recorded)) => sweeps_with(engine, (&what, &window), recorded, (from, to), watch),
                (Shape::Same, None) => engine.convolution(&what, from, to, watch),
                (Shape::Full | Shape::Valid, None) => {
                    windows::compute(engine, &window, &what.boundary().into(), (from, to), watch, |size, from, to| {
                        let what = what.clone().with_size(size).with_boundary(Sides::default());
                        engine.convolution(&what, from, to, watch)
                    })
                }
            })
        })
    }

    /// Replies for sweeps over an array of which each rank passes a part. `whole` returns the convolution of the part
    /// in a plan; all ranks must agree on `said`.
    pub(super) fn reply_of_all_ranks<T: Computed>(
        &self,
        samples: AnyInput<'a>,
        part: &Convolution<T>,
        (joint, along): (&Joint, Along),
        said: Vec<(&'static str, String)>,
        whole: impl FnOnce(&Plan) -> Convolution<T> + Send + 'a,
    ) -> Result<Reply<'a>, Error> {
        let Request { selection, sweeps, .. } = &self.request;
        let iterations = sweeps.iterations();
        let entries = part.filter().values();
        let effort = distributed::effort(sweeps.effort(self.dims.iter().product(), entries.len()));
        let entries: Vec<f64> = entries.iter().map(|entry| entry.to_f64()).collect();
        let class = if size_of::<T>() == 4 { "single" } else { "double" };
        let said = [
            vec![
                ("The class that is computed in", class.to_owned()),
                ("'Boundary'", sweeps.boundary_text()),
                ("'Iterations'", iterations.to_string()),
            ],
            said,
        ]
        .concat();
        let work = Work::from(&part.clone().with_sweeps(iterations));
        let (joint, dims) = (joint.clone(), self.dims.clone().into_owned());
        let samples = T::of_input(samples, "the array in single")?;
        samples.reply(selection, &self.dims, effort, work, move |engine, from, to, watch| {
            joint.run(watch, |call| {
                let plan = distributed::agree(call, (&dims, along), &said, &entries, watch)?;
                let what = whole(&plan).with_sweeps(iterations);
                ranks::run(call, engine, &Whole::convolution(&plan, what), from, to, watch)
            })
        })
    }

    /// Replies for sweeps of several filters, or with more than one time level.
    fn several<T: Computed>(&self, samples: AnyInput<'a>, steps: Vec<Convolution<T>>) -> Result<Reply<'a>, Error> {
        let (Request { selection, sweeps, levels, .. }, volumes) = (&self.request, self.volumes);
        let given = levels.check((self.name, &samples, &self.dims), sweeps)?;
        let entries = steps.iter().map(|step| step.filter().values().len()).sum();
        let first = Work::from(&steps[0]);
        let step = |(number, what): (usize, Convolution<T>)| -> Step<'a, T> {
            let recorded = self.recorded.get(number).cloned();
            let window = Window::new(Shape::Same, what.size(), what.filter().size());
            Box::new(move |engine, sweeps, from, to, watch| {
                let what = what.clone().with_sweeps(sweeps);
                windows::each_volume(engine, volumes, (from, to), watch, |from, to| match &recorded {
                    Some(recorded) => sweeps_with(engine, (&what, &window), recorded, (from, to), watch),
                    None => engine.convolution(&what, from, to, watch),
                })
            })
        };
        let filters = steps.into_iter().enumerate().map(step).collect();
        let samples = T::of_input(samples, "the array in single")?;
        let filters = Filters { filters, joint: None, entries, first };
        levels.reply(samples, given, &self.dims, filters, (sweeps, selection, self.outputs))
    }
}
