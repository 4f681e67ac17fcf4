//! Which engine a call runs on.

use std::sync::atomic::{AtomicBool, Ordering};

use super::options;
use crate::cpu::Cpu;
use crate::cuda::Cuda;
use crate::mex::{Argument, Error, Numeric, Output, Reply};
use crate::stencil::{self, Engine};

/// The environment variable that says what is chosen where a call says nothing.
const VARIABLE: &str = "STENCIL_BACKEND";

/// What a call may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Backend {
    /// CUDA where it can be had, else the CPU.
    Auto,
    /// CUDA or an error.
    Cuda,
    /// The CPU.
    Cpu,
}

const CHOICES: [(&str, Backend); 3] = [("auto", Backend::Auto), ("cuda", Backend::Cuda), ("cpu", Backend::Cpu)];

/// The options `Backend` and `Device`, as far as a call has them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Selection {
    backend: Option<Backend>,
    /// The device's ordinal, from 0.
    device: Option<usize>,
}

/// An engine, and what the user should hear about the choice.
pub(super) struct Chosen {
    engine: Box<dyn Engine>,
    /// Why it is not CUDA, where that was not asked for.
    fallback: Option<String>,
}

impl Selection {
    /// Takes the option, if it is one of the two; false for any other name.
    pub(super) fn take(&mut self, name: &str, value: &Argument) -> Result<bool, Error> {
        match name {
            "Backend" => self.backend = Some(options::choice(name, value, &CHOICES)?),
            "Device" => self.device = Some(options::positive_integer(name, value)? - 1),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What is asked for, by the call or else by the environment.
    fn backend(&self) -> Result<Backend, Error> {
        match (self.backend, std::env::var(VARIABLE)) {
            (Some(backend), _) => Ok(backend),
            (None, Ok(text)) if !text.is_empty() => options::choice_of_text(VARIABLE, &text, &CHOICES),
            (None, _) => Ok(Backend::Auto),
        }
    }

    /// The engine for this selection.
    pub(super) fn choose(&self) -> Result<Chosen, Error> {
        let chosen = |engine| Ok(Chosen { engine, fallback: None });
        match self.backend()? {
            Backend::Cpu => {
                // A device that is not there is an error even where it would not be used.
                self.device.map_or(Ok(()), |device| Cuda::find(Some(device)).map(|_| ()))?;
                chosen(Box::<Cpu>::default())
            }
            Backend::Cuda => chosen(Box::new(Cuda::open(self.device)?)),
            Backend::Auto => match Cuda::open(self.device) {
                Ok(cuda) => chosen(Box::new(cuda)),
                // Who names a device wants that one.
                Err(error) if self.device.is_some() => Err(error.into()),
                Err(error) => Ok(Chosen { engine: Box::<Cpu>::default(), fallback: Some(error.to_string()) }),
            },
        }
    }
}

impl Chosen {
    /// The reply of a call that returns an array of these dimensions, filled by what `run` does with the engine.
    pub(super) fn reply<'a, T: Numeric>(
        self,
        dims: &[usize],
        run: impl FnOnce(&(dyn Engine + 'static), &mut [T]) -> Result<(), stencil::Error> + 'a,
    ) -> Reply<'a> {
        let warning = self.fallback.as_deref().and_then(fallback_warning);
        Reply { warning, output: Output::Array { dims: dims.to_vec(), fill: T::fill(move |output| Ok(run(&*self.engine, output)?)) } }
    }
}

/// The warning that a call falls back to the CPU: in a process the first time only.
fn fallback_warning(reason: &str) -> Option<Error> {
    static WARNED: AtomicBool = AtomicBool::new(false);
    (!WARNED.swap(true, Ordering::Relaxed)).then(|| {
        let text = format!(
            "Computing on the CPU: {reason} The results are the same. 'Backend', 'cpu' or {VARIABLE}=cpu asks for this without a warning."
        );
        Error::new("noDevice", text)
    })
}

/// What `auto` chooses here, and why, for a report.
pub(super) fn automatic() -> (&'static str, String, Result<Cuda, stencil::Error>) {
    let cuda = Cuda::open(None);
    match (Selection::default().backend(), &cuda) {
        (Ok(Backend::Cpu), _) => ("cpu", format!("The environment variable {VARIABLE} says so."), cuda),
        (Ok(Backend::Cuda), Ok(_)) => ("cuda", format!("The environment variable {VARIABLE} says so."), cuda),
        (Ok(Backend::Cuda), Err(error)) => {
            ("cuda", format!("The environment variable {VARIABLE} says so, but calls will fail: {error}"), cuda)
        }
        (Err(error), _) => ("", error.text, cuda),
        (Ok(Backend::Auto), Ok(_)) => ("cuda", "A usable device is present.".into(), cuda),
        (Ok(Backend::Auto), Err(error)) => ("cpu", error.to_string(), cuda),
    }
}
