//! Traits of an engine, implemented by the CPU engine, the CUDA engine and the reference.
//!
//! An [`Operation`] on arrays is data: an engine computes one at once, and a [program](super::program) has many. Callers
//! name them by the methods of [`Compute`](super::Compute). Inputs and outputs are slices of the host's memory, or
//! [`Array`]s that the engine holds.
//!
//! # Contract
//! - All engines give the same bits, as defined by the operators; of a NaN, only the place is defined.
//! - All elements of a target are written, and none is read before. After an error their values are unspecified.
//! - Work is counted in the [`Watch`], which may also stop it: [`Error::Interrupted`].
//! - An engine may return from work on its own arrays while that is still queued; results in the host's memory are
//!   ready when it returns.

use std::any::Any;

use super::number::AllArrays;
use super::program::{Kernel, Limits, Recurrence};
use super::{
    AnySource, AnyTarget, Array, Arrays, Convolution, Derivative, Error, Filtering, Indices, Number, Numbers,
    Operation, Places, Results, Samples, Source, Stencil, Target,
};
use crate::platform::watch::Watch;

/// An operation on an engine's arrays.
pub type Given<'a> = Operation<AnySource<'a>, &'a Places>;

/// An engine.
///
/// # Panics
/// If the number of elements of an input or an output differs from that of the operation.
pub trait Engine: Arrays<f32> + Arrays<f64> + Send + Sync {
    /// Name in tests and reports.
    fn name(&self) -> &str;

    /// Preferred number of samples in a piece, if an array is streamed through it.
    fn piece(&self) -> usize {
        1 << 23
    }

    /// Computes an operation, of the class of its output. Inputs are arrays of this engine, of which the output is none;
    /// those of a filter and of a `Put` may lie in the host's memory, too. Returns places where they are wanted.
    ///
    /// All elements of the output are written, of a `Put` those at the places. Reductions and extremes count no updates.
    ///
    /// # Errors
    /// [`Error::Foreign`] for an array of another engine; [`Error::OutOfMemory`]; [`Error::Interrupted`]; the driver's.
    /// [`Error::Internal`] for an input of another class than the operation's.
    fn compute(&self, what: &Given, to: AnyTarget, watch: &Watch) -> Result<Option<Indices>, Error>;

    /// Finds the places of all nonzero elements, ascending; NaN is nonzero. Waits until their number is known. Counts
    /// no updates.
    ///
    /// # Errors
    /// Those of [`compute`](Engine::compute).
    fn find(&self, from: AnySource, watch: &Watch) -> Result<Indices, Error>;

    /// `to[i] = indices[i] + 1`, rounded once: indices of the hosts start at 1.
    ///
    /// # Errors
    /// Those of [`compute`](Engine::compute).
    fn ordinals(&self, indices: &Indices, to: AnyTarget, watch: &Watch) -> Result<(), Error>;

    /// Copies a list of places to this engine, for many calls; `None` if it takes one of the host's as well.
    ///
    /// # Errors
    /// Those of [`compute`](Engine::compute).
    fn list(&self, _places: &[u64], _watch: &Watch) -> Result<Option<Indices>, Error> {
        Ok(None)
    }

    /// Computes the median of each line along the middle dimension of an array of `size[0] x size[1] x size[2]`
    /// elements, none of them 0: of an even number of elements half the sum of the two in the middle. NaN if there is
    /// one, and a zero has no sign. `false` if the engine can only sort. Counts no updates.
    ///
    /// # Errors
    /// Those of [`compute`](Engine::compute).
    fn medians(&self, _from: AnySource, _size: [usize; 3], _to: AnyTarget, _watch: &Watch) -> Result<bool, Error> {
        Ok(false)
    }

    /// Does one sweep of a convolution over samples of any class, computed in double. Returns false, with nothing done,
    /// if this engine does not take such samples.
    fn convolution_of_any(
        &self,
        _what: &Convolution<f64>,
        _from: &dyn Samples<f64>,
        _to: &dyn Results<f64>,
        _watch: &Watch,
    ) -> Result<bool, Error> {
        Ok(false)
    }

    /// Limits of this engine for kernels of programs; `None` if it runs operations one by one.
    fn limits(&self) -> Option<Limits> {
        None
    }

    /// Prepares a kernel.
    ///
    /// # Errors
    /// Those of [`Engine::compute`].
    fn prepare(&self, _kernel: &Kernel) -> Result<Box<dyn Prepared>, Error> {
        Err(Error::Internal(format!("The engine {} has no kernels of programs.", self.name())))
    }

    /// Prepares a recurrence for several steps at once. `None` if this engine has no faster way than step by step.
    ///
    /// # Errors
    /// Those of [`Engine::compute`].
    fn prepare_steps(&self, _what: &Recurrence) -> Result<Option<Box<dyn Advance>>, Error> {
        Ok(None)
    }

    /// Returns true if several steps of a program take less time than one after the other: sweeps of more than one
    /// filter are steps then.
    fn has_chains(&self) -> bool {
        false
    }

    /// Chains [noted](Prepared::note) kernels, to be run in this order, over and over.
    ///
    /// # Errors
    /// [`Error::Internal`] if this engine [has no chains](Engine::has_chains).
    fn chain(&self, _noted: Vec<Noted>) -> Result<Box<dyn Chain>, Error> {
        Err(Error::Internal(format!("The engine {} has no chains of kernels.", self.name())))
    }

    /// True if [`Engine::two_levels`] sweeps this stencil in less time than step by step.
    fn joins_levels(&self, _what: &Stencil) -> bool {
        false
    }

    /// Does sweeps of two time levels, the newest one first: each computes `new = F * newest + weight * older`, with
    /// one fused multiply-add for the weight after the stencil's chain, and then the newest becomes the older one. Both
    /// arrays, which this engine holds, are replaced by the results. A stencil and a [`MultiplyAdd`](Operation::MultiplyAdd)
    /// give the same bits.
    ///
    /// # Errors
    /// [`Error::Internal`] for a stencil that it does not [join](Engine::joins_levels).
    fn two_levels(
        &self,
        _what: &Stencil,
        _weight: f64,
        _levels: &mut [Array<f64>; 2],
        _watch: &Watch,
    ) -> Result<(), Error> {
        Err(Error::Internal(format!("The engine {} has no sweeps of two time levels.", self.name())))
    }
}

/// Filters of one class, for an engine: [`compute_filter`] finds the class.
pub(crate) trait Filters<T> {
    /// Computes a derivative along lines.
    fn derive(&self, what: &Derivative<T>, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error>;

    /// Does sweeps of a convolution.
    fn convolve(&self, what: &Convolution<T>, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error>;
}

/// Computes a filter: a stencil by the given function, a shift by its places.
///
/// # Errors
/// Those of [`Engine::compute`].
pub(crate) fn compute_filter(
    engine: &(impl Engine + Filters<f32> + Filters<f64>),
    stencil: impl FnOnce(&Stencil, Source<f64>, Target<f64>) -> Result<(), Error>,
    (filter, from, to): (&Filtering, AnySource, AnyTarget),
    watch: &Watch,
) -> Result<(), Error> {
    match (filter, to) {
        (Filtering::Stencil(what), AnyTarget::Double(to)) => stencil(what, from.source()?, to),
        (Filtering::Derivative(what), AnyTarget::Double(to)) => engine.derive(what, from.source()?, to, watch),
        (Filtering::SingleDerivative(what), AnyTarget::Single(to)) => engine.derive(what, from.source()?, to, watch),
        (Filtering::Convolution(what), AnyTarget::Double(to)) => engine.convolve(what, from.source()?, to, watch),
        (Filtering::SingleConvolution(what), AnyTarget::Single(to)) => engine.convolve(what, from.source()?, to, watch),
        (Filtering::Shift(what), to) => {
            engine.compute(&Operation::Pick(&Places::List(what.places()), from), to, watch).map(drop)
        }
        _ => Err(Error::Internal("A filter of another class than its output.".into())),
    }
}

impl dyn Engine + '_ {
    /// Returns its arrays of a class.
    pub fn arrays<T: Number>(&self) -> &dyn Arrays<T> {
        T::arrays(AllArrays { double: self, single: self })
    }
}

/// A kernel that is ready to be run repeatedly.
pub trait Prepared: Send {
    /// Computes the outputs, of the kernel's classes and lengths, from the inputs; the arrays of the outputs must be
    /// unshared. May return before the work is complete.
    ///
    /// # Errors
    /// Those of [`Engine::compute`].
    fn run(&mut self, inputs: &[&Numbers], outputs: &mut [Numbers], watch: &Watch) -> Result<(), Error>;

    /// Defers a run, for [`Engine::chain`].
    ///
    /// # Errors
    /// [`Error::Internal`] if the engine has no chains.
    fn note(&mut self, _inputs: &[&Numbers], _outputs: &mut [Numbers]) -> Result<Noted, Error> {
        Err(Error::Internal("A kernel that cannot be put off.".into()))
    }
}

/// A deferred run of a kernel, in its engine's form.
pub type Noted = Box<dyn Any + Send>;

/// A sequence of kernels that is ready to be run repeatedly.
pub trait Chain: Send {
    /// Runs all of them, with the arrays that they were noted with, which the caller keeps alive. May return before the
    /// work is complete.
    ///
    /// # Errors
    /// Those of [`Engine::compute`].
    fn run(&mut self, watch: &Watch) -> Result<(), Error>;
}

/// A range of steps to take.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// Number of earlier steps. Each step has numbers of its own.
    pub first: usize,
    /// Maximum number of steps to take now.
    pub most: usize,
}

/// Arrays for the results of steps, which must be unshared.
pub struct Room<'a> {
    /// Outputs of the last step.
    pub outputs: &'a mut [Numbers],
    /// Records of each step, one after the other, with their number of elements a step.
    pub records: &'a mut [(Numbers, usize)],
    /// Number of steps recorded already.
    pub recorded: usize,
    /// Deferred launches, for [`Engine::chain`], if launches are to be deferred.
    pub noted: Option<&'a mut Vec<Noted>>,
}

/// A recurrence that is ready to run.
pub trait Advance: Send {
    /// Takes some steps, and returns their number: 0 if the caller has to take them one by one. The inputs are those of
    /// the first step; for numbers that differ from step to step, those of all steps. `one` takes one step, whose
    /// results are discarded: an engine may compare its time.
    ///
    /// # Errors
    /// Those of [`Engine::compute`].
    fn run(
        &mut self,
        inputs: &[&Numbers],
        room: Room,
        span: &Span,
        one: &mut dyn FnMut() -> Result<(), Error>,
        watch: &Watch,
    ) -> Result<usize, Error>;

    /// Number of steps that [`Advance::run`] takes from now on, if that is known.
    fn settled(&mut self, span: &Span) -> Option<usize>;
}
