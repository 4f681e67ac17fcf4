//! The engine chosen for a call, and the replies of calls that run on it.
//!
//! A reply and its output are made on the host's thread; another may run its closure (see [`mex`](crate::mex)).

use std::sync::atomic::{AtomicBool, Ordering};

use super::fastest::Stopwatch;
use super::{DynEngine, calls};
use crate::cpu::Cpu;
use crate::cuda::{Cuda, Team};
use crate::gateway::options::settings::{self, Settings};
use crate::gateway::store::{Home, StoredArray};
use crate::mex::{Class, Effort, Error, Fill, Numeric, Output, Reply};
use crate::platform::memory;
use crate::platform::watch::Watch;
use crate::stencil::{self, Engine};

type Outputs<'a> = Vec<&'a mut [u8]>;

/// Fills the outputs of a call. Boxed, like those below, so that the code around it is compiled once for all classes.
type RunBytes<'a> = Box<dyn FnOnce(&DynEngine, Outputs, &Watch) -> Result<(), stencil::Error> + Send + 'a>;

/// Makes stored arrays with a call's engine.
type MakeHeld<'a> = Box<dyn FnOnce(&DynEngine, Home, &Watch) -> Result<Vec<StoredArray>, stencil::Error> + Send + 'a>;

/// An engine, and the messages to the user about the choice.
pub(crate) struct Chosen {
    engine: Box<dyn Engine>,
    /// Place of its arrays.
    home: Home,
    /// Reason for the CPU where CUDA was tried first.
    fallback: Option<String>,
    /// For a choice by time: the note for the trace, and the stopwatch of the call.
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

    /// Chooses the device of a copy of an array.
    pub(crate) fn for_copy(cuda: Cuda) -> Result<Chosen, Error> {
        let settings = Settings::from_environment()?;
        settings.apply();
        Ok(Chosen::cuda(cuda, &settings))
    }

    /// Chooses several devices, which hold no array of the call.
    pub(crate) fn team(team: Team, settings: &Settings) -> Chosen {
        let home = Home::Cuda(team.ordinals().next().unwrap_or(0));
        Chosen { home, engine: settings.on_several(team), fallback: None, note: None, stopwatch: None }
    }

    /// Chooses the CPU in place of a device that cannot be used; the user is warned of the reason.
    pub(crate) fn fallback(reason: String) -> Chosen {
        Chosen { fallback: Some(reason), ..Chosen::cpu() }
    }

    /// Adds a note for the trace.
    pub(crate) fn with_note(self, note: Option<String>) -> Chosen {
        Chosen { note, ..self }
    }

    /// Adds a note for the trace, and measures the call.
    pub(crate) fn with_stopwatch(self, note: Option<String>, stopwatch: Option<Stopwatch>) -> Chosen {
        Chosen { note, stopwatch, ..self }
    }

    /// Returns the reply of a call that returns an array of these dimensions, which `run` fills.
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

    /// Returns the reply of a call that returns several arrays; see [`reply`](Self::reply).
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

    /// Does the work of [`reply`](Self::reply) for every class and every `run`, compiled once.
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
        // A call inside another shares the machine with it: its time says nothing about the engine.
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

    /// Returns the reply of a call that returns gpuArrays of these dimensions; `run` fills them at their addresses.
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

    /// Returns the reply of a call that stores the array that `run` makes.
    pub(crate) fn held<'a>(
        self,
        effort: Effort,
        run: impl FnOnce(&DynEngine, Home, &Watch) -> Result<StoredArray, stencil::Error> + Send + 'a,
    ) -> Reply<'a> {
        self.held_all(effort, Box::new(|engine, home, watch| Ok(vec![run(engine, home, watch)?])))
    }

    /// Returns the reply of a call that stores several arrays; see [`held`](Self::held).
    pub(crate) fn held_all<'a>(self, effort: Effort, run: MakeHeld<'a>) -> Reply<'a> {
        let warnings = self.fallback.as_deref().and_then(fallback_warning).into_iter().collect();
        let (call, note) = (calls::begin(), self.note);
        let make = move |watch: &Watch| {
            let held = call.work(|| run(&*self.engine, self.home, watch))?;
            Ok(held.into_iter().map(StoredArray::store).collect())
        };
        Reply { warnings, note, output: Output::Held { of_class: false, make: Box::new(make), effort } }
    }
}

/// Returns the output of a call that has one.
pub(crate) fn only<T>(mut outputs: Vec<T>) -> Result<T, stencil::Error> {
    outputs.pop().ok_or_else(|| stencil::Error::Internal("A call without an output.".into()))
}

/// Copies dimensions.
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

impl Home {
    pub(crate) fn choose(self) -> Result<Chosen, Error> {
        Ok(Chosen { engine: self.engine()?, home: self, fallback: None, note: None, stopwatch: None })
    }
}

/// Returns the warning that a call falls back to the CPU, the first time in a process.
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
