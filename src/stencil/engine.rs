//! What an engine is: the traits that the CPU engine, the CUDA engine and the reference implement.
//!
//! An operator ([`Stencil`], [`Derivative`], [`Convolution`]) holds no data. An engine takes samples from a [`Source`] and
//! writes results to a [`Target`]: a slice of the host's memory, or an [`Array`] that the engine holds.
//!
//! # Contract
//! - All engines give the same bits, which the operators define; of a NaN, only its place.
//! - All elements of a target are written, and none is read before. After an error their values are unknown.
//! - Work is counted in the [`Watch`], which may also stop it: [`Error::Interrupted`].
//! - An engine may return from work on its own arrays while that is still queued; results in the host's memory are there
//!   when it returns.

use std::any::Any;

use super::program::{Kernel, Limits, Numbers, Recurrence};
use super::{
    Arithmetic, Array, Convolution, Derivative, Error, Handle, Real, Results, Samples, Source, Stencil, Target,
};
use crate::watch::Watch;

/// An engine, with what it computes in double alone.
///
/// # Panics
/// Where source or target have another number of elements than the operator.
pub trait Engine: Compute<f32> + Compute<f64> + Arithmetic<f32> + Arithmetic<f64> + Send + Sync {
    /// What it is called in tests and reports.
    fn name(&self) -> &str;

    /// How many samples it had better get at a time where an array goes through it in pieces.
    fn piece(&self) -> usize {
        1 << 23
    }

    /// One sweep of a convolution over samples of any class, computed in double: whether this engine takes them as they
    /// are. Where it does not, nothing was done.
    fn convolution_of_any(
        &self,
        _what: &Convolution<f64>,
        _from: &dyn Samples<f64>,
        _to: &dyn Results<f64>,
        _watch: &Watch,
    ) -> Result<bool, Error> {
        Ok(false)
    }

    /// What this engine wants in the kernels of a program; `None` where it runs each operation by itself.
    fn limits(&self) -> Option<Limits> {
        None
    }

    /// A kernel, ready to run.
    ///
    /// # Errors
    /// Those of [`Arithmetic`].
    fn prepare(&self, _kernel: &Kernel) -> Result<Box<dyn Prepared>, Error> {
        Err(Error::Internal(format!("The engine {} has no kernels of programs.", self.name())))
    }

    /// A recurrence, ready to take several steps at once. `None` where this engine has no quicker way than step after step.
    ///
    /// # Errors
    /// Those of [`Arithmetic`].
    fn prepare_steps(&self, _what: &Recurrence) -> Result<Option<Box<dyn Advance>>, Error> {
        Ok(None)
    }

    /// Returns true where several steps of a program take less time than one after the other: sweeps that are more than one
    /// filter are steps then.
    fn has_chains(&self) -> bool {
        false
    }

    /// Kernels that were [noted](Prepared::note), to be run in this order, over and over.
    ///
    /// # Errors
    /// [`Error::Internal`] where this engine [has none](Engine::has_chains).
    fn chain(&self, _noted: Vec<Noted>) -> Result<Box<dyn Chain>, Error> {
        Err(Error::Internal(format!("The engine {} has no chains of kernels.", self.name())))
    }

    /// Sweeps of a stencil along lines.
    fn stencil(&self, stencil: &Stencil, from: Source<f64>, to: Target<f64>, watch: &Watch) -> Result<(), Error>;

    /// Whether [`Engine::two_levels`] sweeps this stencil in less time than step by step.
    fn joins_levels(&self, _what: &Stencil) -> bool {
        false
    }

    /// Sweeps of two time levels, the newest one first: in each `new = F * newest + weight * older`, with one fused
    /// multiply-add for the weight behind the stencil's chain, and then what was the newest is the older one. Both arrays,
    /// which this engine holds, give way to what comes of them. A stencil and an [`advance`](Arithmetic::advance) give the
    /// same bits.
    ///
    /// # Errors
    /// [`Error::Internal`] for what it does not [join](Engine::joins_levels).
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

/// A kernel that an engine is ready to run, over and over.
pub trait Prepared: Send {
    /// Computes the outputs, which are of the classes and lengths that the kernel has, from the inputs; nobody else has the
    /// arrays of the outputs. May return before the work is over.
    ///
    /// # Errors
    /// Those of [`Arithmetic`].
    fn run(&mut self, inputs: &[&Numbers], outputs: &mut [Numbers], watch: &Watch) -> Result<(), Error>;

    /// Puts a run off, for [`Engine::chain`].
    ///
    /// # Errors
    /// [`Error::Internal`] where the engine has no chains.
    fn note(&mut self, _inputs: &[&Numbers], _outputs: &mut [Numbers]) -> Result<Noted, Error> {
        Err(Error::Internal("A kernel that cannot be put off.".into()))
    }
}

/// The run of a kernel that was put off, as its engine knows it.
pub type Noted = Box<dyn Any + Send>;

/// Kernels that an engine is ready to run in their order, over and over.
pub trait Chain: Send {
    /// Runs all of them. The arrays are those that they were noted with, which the caller holds. May return before the
    /// work is over.
    ///
    /// # Errors
    /// Those of [`Arithmetic`].
    fn run(&mut self, watch: &Watch) -> Result<(), Error>;
}

/// Steps that are to be taken.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// The number of steps before them. Each step has numbers of its own.
    pub first: usize,
    /// The most that are taken now.
    pub most: usize,
}

/// Arrays for the results of steps. Nobody else has them.
pub struct Room<'a> {
    /// For what the last step gives.
    pub outputs: &'a mut [Numbers],
    /// For what is kept of each step, one step behind the other, with the elements of a step.
    pub records: &'a mut [(Numbers, usize)],
    /// The steps that something is kept of already.
    pub recorded: usize,
    /// A launch is put off to the end of these, for [`Engine::chain`], where there are any.
    pub noted: Option<&'a mut Vec<Noted>>,
}

/// A recurrence that an engine is ready to run.
pub trait Advance: Send {
    /// Takes some steps, and returns how many: 0 where the caller is to take them one by one. The inputs are those of the
    /// first step; in the place of numbers that each step has there are those of all steps. `one` takes one step, whose
    /// results are not kept: an engine may compare how long that takes.
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

    /// The number of steps that [`Advance::run`] takes from now on, where that is known.
    fn settled(&mut self, span: &Span) -> Option<usize>;
}

/// The operators that an engine computes in every class of numbers, and its arrays.
pub trait Compute<T: Real> {
    /// A nine-point derivative along lines.
    fn derivative(&self, what: &Derivative<T>, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error>;

    /// Sweeps of a convolution over an image or a volume.
    fn convolution(&self, what: &Convolution<T>, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error>;

    /// An array that this engine holds, of `len` elements of unknown value.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    fn array(&self, len: usize) -> Result<Array<T>, Error>;

    /// An array of `len` elements in memory that can be [exported](super::Held::export) by itself.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    fn array_for_others(&self, len: usize) -> Result<Array<T>, Error> {
        self.array(len)
    }

    /// An array of `len` elements that another process has exported from a device of this machine. It may only be read,
    /// and must be dropped before that process drops it.
    ///
    /// # Errors
    /// What the driver says; [`Error::Internal`] where this engine's arrays lie in ordinary memory.
    fn import(&self, _: &Handle, _len: usize) -> Result<Array<T>, Error> {
        Err(Error::Internal("An array of another process, for an engine without a device.".into()))
    }

    /// Whether a call may hold `arrays` arrays of `len` elements: there is memory for them, within the bound that was
    /// set.
    fn has_room(&self, arrays: usize, len: usize) -> Result<bool, Error>;

    /// Copies all elements from one array to another of the same length.
    fn copy(&self, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error>;
}
