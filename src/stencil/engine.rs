//! Traits of an engine, implemented by the CPU engine, the CUDA engine and the reference.
//!
//! An operator ([`Stencil`], [`Derivative`], [`Convolution`]) holds no data. An engine takes samples from a [`Source`]
//! and writes results to a [`Target`]: a slice of the host's memory, or an [`Array`] that the engine holds.
//!
//! # Contract
//! - All engines give the same bits, as defined by the operators; of a NaN, only the place is defined.
//! - All elements of a target are written, and none is read before. After an error their values are unspecified.
//! - Work is counted in the [`Watch`], which may also stop it: [`Error::Interrupted`].
//! - An engine may return from work on its own arrays while that is still queued; results in the host's memory are
//!   ready when it returns.

use std::any::Any;

use super::program::{Kernel, Limits, Numbers, Recurrence};
use super::{
    Arithmetic, Array, Convolution, Derivative, Error, Handle, Real, Results, Samples, Source, Stencil, Target,
};
use crate::platform::watch::Watch;

/// An engine, with the operators for double only.
///
/// # Panics
/// If the number of elements of source or target differs from the operator's.
pub trait Engine: Compute<f32> + Compute<f64> + Arithmetic<f32> + Arithmetic<f64> + Send + Sync {
    /// Name in tests and reports.
    fn name(&self) -> &str;

    /// Preferred number of samples in a piece, if an array is streamed through it.
    fn piece(&self) -> usize {
        1 << 23
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
    /// Those of [`Arithmetic`].
    fn prepare(&self, _kernel: &Kernel) -> Result<Box<dyn Prepared>, Error> {
        Err(Error::Internal(format!("The engine {} has no kernels of programs.", self.name())))
    }

    /// Prepares a recurrence for several steps at once. `None` if this engine has no faster way than step by step.
    ///
    /// # Errors
    /// Those of [`Arithmetic`].
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

    /// Does sweeps of a stencil along lines.
    fn stencil(&self, stencil: &Stencil, from: Source<f64>, to: Target<f64>, watch: &Watch) -> Result<(), Error>;

    /// True if [`Engine::two_levels`] sweeps this stencil in less time than step by step.
    fn joins_levels(&self, _what: &Stencil) -> bool {
        false
    }

    /// Does sweeps of two time levels, the newest one first: each computes `new = F * newest + weight * older`, with
    /// one fused multiply-add for the weight after the stencil's chain, and then the newest becomes the older one. Both
    /// arrays, which this engine holds, are replaced by the results. A stencil and an [`advance`](Arithmetic::advance)
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

/// A kernel that is ready to be run repeatedly.
pub trait Prepared: Send {
    /// Computes the outputs, of the kernel's classes and lengths, from the inputs; the arrays of the outputs must be
    /// unshared. May return before the work is complete.
    ///
    /// # Errors
    /// Those of [`Arithmetic`].
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
    /// Those of [`Arithmetic`].
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
    /// Those of [`Arithmetic`].
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

/// Operators that an engine computes in every class of numbers, and its arrays.
pub trait Compute<T: Real> {
    /// A nine-point derivative along lines.
    fn derivative(&self, what: &Derivative<T>, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error>;

    /// Sweeps of a convolution over an image or a volume.
    fn convolution(&self, what: &Convolution<T>, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error>;

    /// Allocates an array of this engine, of `len` uninitialised elements.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    fn array(&self, len: usize) -> Result<Array<T>, Error>;

    /// Allocates an array of `len` elements in memory that can be [exported](super::Held::export) by itself.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    fn array_for_others(&self, len: usize) -> Result<Array<T>, Error> {
        self.array(len)
    }

    /// Opens an array of `len` elements that another process has exported from a device of this machine. It may only be
    /// read, and must be dropped before that process drops it.
    ///
    /// # Errors
    /// The driver's; [`Error::Internal`] if this engine's arrays lie in ordinary memory.
    fn import(&self, _: &Handle, _len: usize) -> Result<Array<T>, Error> {
        Err(Error::Internal("An array of another process, for an engine without a device.".into()))
    }

    /// True if `arrays` arrays of `len` elements fit the memory, within the given limit.
    fn has_room(&self, arrays: usize, len: usize) -> Result<bool, Error>;

    /// Copies all elements from one array to another of the same length.
    fn copy(&self, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error>;
}
