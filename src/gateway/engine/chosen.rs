//! The engine that was chosen for a call, and the replies of calls that run on it.
//!
//! A reply is made on the host's thread, with its output; its closure runs the engine on it, perhaps on another thread
//! ([`mex`](crate::mex)).

use std::sync::atomic::{AtomicBool, Ordering};

use super::DynEngine;
use super::calls;
use super::fastest::Stopwatch;
use crate::cpu::Cpu;
use crate::cuda::{Cuda, Team};
use crate::gateway::options::settings::{self, Settings};
use crate::gateway::store::{Home, StoredArray};
use crate::memory;
use crate::mex::{Class, Effort, Error, Fill, Numeric, Output, Reply};
use crate::stencil::{self, Engine};
use crate::watch::Watch;

/// The bytes of a call's outputs.
type Outputs<'a> = Vec<&'a mut [u8]>;

/// What a call does with its engine to fill its outputs. Boxed, here and in what follows: so what surrounds it is compiled
/// once, and not for each call of each class.
type RunBytes<'a> = Box<dyn FnOnce(&DynEngine, Outputs, &Watch) -> Result<(), stencil::Error> + Send + 'a>;

/// What a call does with its engine to make arrays that are kept.
type MakeHeld<'a> = Box<dyn FnOnce(&DynEngine, Home, &Watch) -> Result<Vec<StoredArray>, stencil::Error> + Send + 'a>;

/// An engine, and what the user should hear about the choice.
pub(crate) struct Chosen {
    engine: Box<dyn Engine>,
    /// Where its arrays lie.
    home: Home,
    /// Why it is not CUDA, where that was not asked for.
    fallback: Option<String>,
    /// Of a choice by time: what the trace says of it, and what measures the call.
    note: Option<String>,
    stopwatch: Option<Stopwatch>,
}

impl Chosen {
    pub(crate) fn cpu() -> Chosen {
        Chosen { engine: Box::<Cpu>::default(), home: Home::Cpu, fallback: None, note: None, stopwatch: None }
    }

    pub(crate) fn cuda(cuda: Cuda, settings: &Settings) -> Chosen {
        let home = Home::Cuda(cuda.ordinal());
        Chosen { home, engine: settings.on(cuda), fallback: None, note: None, stopwatch: None }
    }

    /// The device of an array that is a copy.
    pub(crate) fn for_copy(cuda: Cuda) -> Result<Chosen, Error> {
        let settings = Settings::from_environment()?;
        settings.apply();
        Ok(Chosen::cuda(cuda, &settings))
    }

    /// Several devices, on which no array of a call's own lies.
    pub(crate) fn team(team: Team, settings: &Settings) -> Chosen {
        let home = Home::Cuda(team.ordinals().next().unwrap_or(0));
        Chosen { home, engine: settings.on_several(team), fallback: None, note: None, stopwatch: None }
    }

    /// The CPU in place of a device that cannot be used, for this reason: the user is warned.
    pub(crate) fn fallback(reason: String) -> Chosen {
        Chosen { fallback: Some(reason), ..Chosen::cpu() }
    }

    /// With a line for the trace.
    pub(crate) fn with_note(self, note: Option<String>) -> Chosen {
        Chosen { note, ..self }
    }

    /// With a line for the trace, and measured.
    pub(crate) fn with_stopwatch(self, note: Option<String>, stopwatch: Option<Stopwatch>) -> Chosen {
        Chosen { note, stopwatch, ..self }
    }

    /// The reply of a call that returns an array of these dimensions, filled by what `run` does with the engine.
    ///
    /// # Errors
    /// `outOfMemory`.
    pub(crate) fn reply<'a, T: Numeric>(
        self,
        dims: &[usize],
        effort: Effort,
        run: impl FnOnce(&DynEngine, &mut [T], &Watch) -> Result<(), stencil::Error> + Send + 'a,
    ) -> Result<Reply<'a>, Error> {
        let run =
            move |engine: &DynEngine, outputs: Outputs, watch: &Watch| run(engine, T::elements(only(outputs)?), watch);
        self.reply_bytes(T::CLASS, &[dims], effort, Box::new(run))
    }

    /// The reply of a call that returns several arrays of these dimensions: see [`reply`](Self::reply).
    ///
    /// # Errors
    /// `outOfMemory`.
    pub(crate) fn reply_all<'a, T: Numeric>(
        self,
        dims: &[&[usize]],
        effort: Effort,
        run: impl FnOnce(&DynEngine, Vec<&mut [T]>, &Watch) -> Result<(), stencil::Error> + Send + 'a,
    ) -> Result<Reply<'a>, Error> {
        let run = move |engine: &DynEngine, outputs: Outputs, watch: &Watch| {
            run(engine, outputs.into_iter().map(T::elements).collect(), watch)
        };
        self.reply_bytes(T::CLASS, dims, effort, Box::new(run))
    }

    /// What [`reply`](Self::reply) does for every class and every `run`, compiled once.
    fn reply_bytes<'a>(
        self,
        class: Class,
        dims: &[&[usize]],
        effort: Effort,
        run: RunBytes<'a>,
    ) -> Result<Reply<'a>, Error> {
        let dims = owned(dims)?;
        let warnings = self.fallback.as_deref().and_then(fallback_warning).into_iter().collect();
        let call = calls::begin();
        // A call inside another one shares the machine with it: its time says nothing about the engine.
        let stopwatch = self.stopwatch.filter(|_| !call.is_nested());
        let fill = move |outputs: Outputs, watch: &Watch| {
            let run = || run(&*self.engine, outputs, watch);
            Ok(call.work(|| match stopwatch {
                Some(stopwatch) => stopwatch.time(run),
                None => run(),
            })?)
        };
        let fill = Fill::new(class, Box::new(fill));
        Ok(Reply { warnings, note: self.note, output: Output::Arrays { dims, complex: false, fill, effort } })
    }

    /// The reply of a call that returns arrays of the host's on the GPU, of these dimensions, filled by what `run` does
    /// with the engine at their addresses.
    ///
    /// # Errors
    /// `outOfMemory`.
    pub(crate) fn on_gpu<'a, T: Numeric>(
        self,
        dims: &[&[usize]],
        effort: Effort,
        run: impl FnOnce(&DynEngine, &[u64], &Watch) -> Result<(), Error> + Send + 'a,
    ) -> Result<Reply<'a>, Error> {
        let dims = owned(dims)?;
        let call = calls::begin();
        let fill = move |addresses: &[u64], watch: &Watch| call.work(|| run(&*self.engine, addresses, watch));
        let output = Output::OnGpu { dims, single: T::CLASS == Class::Single, fill: Box::new(fill), effort };
        Ok(Reply { warnings: Vec::new(), note: self.note, output })
    }

    /// The reply of a call that keeps what `run` makes with the engine: an object, or the number for one.
    pub(crate) fn held<'a>(
        self,
        object: bool,
        effort: Effort,
        run: impl FnOnce(&DynEngine, Home, &Watch) -> Result<StoredArray, stencil::Error> + Send + 'a,
    ) -> Reply<'a> {
        self.held_all(object, effort, Box::new(|engine, home, watch| Ok(vec![run(engine, home, watch)?])))
    }

    /// The reply of a call that keeps several arrays: see [`held`](Self::held).
    pub(crate) fn held_all<'a>(self, object: bool, effort: Effort, run: MakeHeld<'a>) -> Reply<'a> {
        let warnings = self.fallback.as_deref().and_then(fallback_warning).into_iter().collect();
        let (call, note) = (calls::begin(), self.note);
        let make = move |watch: &Watch| {
            let held = call.work(|| run(&*self.engine, self.home, watch))?;
            Ok(held.into_iter().map(StoredArray::store).collect())
        };
        Reply { warnings, note, output: Output::Held { object, make: Box::new(make), effort } }
    }
}

/// The one output of a call that has one.
pub(crate) fn only<T>(mut outputs: Vec<T>) -> Result<T, stencil::Error> {
    outputs.pop().ok_or_else(|| stencil::Error::Internal("A call without an output.".into()))
}

/// A copy of the dimensions.
///
/// # Errors
/// [`OutOfMemory`](memory::OutOfMemory).
fn owned(dims: &[&[usize]]) -> Result<Vec<Vec<usize>>, memory::OutOfMemory> {
    let own = |dims: &&[usize]| {
        let mut own = memory::with_room(dims.len(), "dimensions")?;
        own.extend_from_slice(dims);
        Ok(own)
    };
    dims.iter().map(own).collect()
}

/// The engine where `home` is, for data that lie there.
impl Home {
    pub(crate) fn choose(self) -> Result<Chosen, Error> {
        Ok(Chosen { engine: self.engine()?, home: self, fallback: None, note: None, stopwatch: None })
    }
}

/// The warning that a call falls back to the CPU: in a process the first time only.
fn fallback_warning(reason: &str) -> Option<Error> {
    static WARNED: AtomicBool = AtomicBool::new(false);
    (!WARNED.swap(true, Ordering::Relaxed)).then(|| {
        let variable = settings::BACKEND;
        let text = format!(
            "Computing on the CPU: {reason} The results are the same. 'Backend', 'cpu' or {variable}=cpu asks for this \
             without a warning."
        );
        Error::new("noDevice", text)
    })
}
