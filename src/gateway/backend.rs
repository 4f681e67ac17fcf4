//! Which engine a call runs on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::options;
use super::settings::{self, Settings};
use crate::cpu::Cpu;
use crate::cuda::{Cuda, DEFAULT_DEVICE_BYTES};
use crate::memory;
use crate::mex::{Argument, Effort, Error, Numeric, Output, Reply};
use crate::stencil::{self, Engine};
use crate::watch::Watch;

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

/// The words for them.
pub(super) const CHOICES: [(&str, Backend); 3] = [("auto", Backend::Auto), ("cuda", Backend::Cuda), ("cpu", Backend::Cpu)];

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

    /// The engine for this selection.
    pub(super) fn choose(&self) -> Result<Chosen, Error> {
        let settings = Settings::from_environment()?;
        settings.apply();
        let chosen = |engine| Ok(Chosen { engine, fallback: None });
        let cuda = |cuda: Cuda| Box::new(settings.device_bytes.map_or(cuda, |bytes| cuda.with_device_bytes(bytes)));
        match self.backend.unwrap_or(settings.backend) {
            Backend::Cpu => {
                // A device that is not there is an error even where it would not be used.
                self.device.map_or(Ok(()), |device| Cuda::find(Some(device)).map(|_| ()))?;
                chosen(Box::<Cpu>::default())
            }
            Backend::Cuda => chosen(cuda(Cuda::open(self.device)?)),
            // Who names a device wants that one.
            Backend::Auto if self.device.is_some() => chosen(cuda(Cuda::open(self.device)?)),
            Backend::Auto => match automatic() {
                Ok(engine) => chosen(cuda(engine)),
                Err(reason) => Ok(Chosen { engine: Box::<Cpu>::default(), fallback: Some(reason) }),
            },
        }
    }
}

/// Why a device that is there could not be opened. Trying again in every call would take longer than most calls.
static REFUSED: Mutex<Option<String>> = Mutex::new(None);

fn refused() -> MutexGuard<'static, Option<String>> {
    REFUSED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// CUDA on the first device that can be used, or why there is none.
fn automatic() -> Result<Cuda, String> {
    let mut refused = refused();
    if let Some(reason) = &*refused {
        return Err(reason.clone());
    }
    Cuda::open(None).map_err(|error| {
        let reason = error.to_string();
        if !matches!(error, stencil::Error::NoDevice(_)) {
            *refused = Some(reason.clone());
        }
        reason
    })
}

/// Lets a device that could not be opened be tried again.
pub(super) fn release() {
    refused().take();
}

impl Chosen {
    /// The reply of a call that returns an array of these dimensions, filled by what `run` does with the engine.
    ///
    /// # Errors
    /// `outOfMemory`.
    pub(super) fn reply<'a, T: Numeric>(
        self,
        dims: &[usize],
        effort: Effort,
        run: impl FnOnce(&(dyn Engine + 'static), &mut [T], &Watch) -> Result<(), stencil::Error> + Send + 'a,
    ) -> Result<Reply<'a>, Error> {
        let mut own = memory::with_room(dims.len(), "dimensions")?;
        own.extend_from_slice(dims);
        let warning = self.fallback.as_deref().and_then(fallback_warning);
        let fill = T::fill(move |output, watch| Ok(run(&*self.engine, output, watch)?));
        Ok(Reply { warning, output: Output::Array { dims: own, fill, effort } })
    }
}

/// The warning that a call falls back to the CPU: in a process the first time only.
fn fallback_warning(reason: &str) -> Option<Error> {
    static WARNED: AtomicBool = AtomicBool::new(false);
    (!WARNED.swap(true, Ordering::Relaxed)).then(|| {
        let variable = settings::BACKEND;
        let text = format!(
            "Computing on the CPU: {reason} The results are the same. 'Backend', 'cpu' or {variable}=cpu asks for this without a warning."
        );
        Error::new("noDevice", text)
    })
}

/// What calls without options do here, for a report.
pub(super) struct Outlook {
    /// `cuda` or `cpu`; empty where the environment makes no sense.
    pub(super) backend: &'static str,
    /// Why.
    pub(super) reason: String,
    /// The device, if there is one that can be used.
    pub(super) cuda: Option<Cuda>,
    /// The bound on the buffers that it keeps, in bytes.
    pub(super) device_bytes: Option<usize>,
}

impl Outlook {
    /// As things are.
    pub(super) fn new() -> Outlook {
        let cuda = automatic();
        let settings = Settings::from_environment().inspect(Settings::apply);
        let variable = settings::BACKEND;
        let (backend, reason) = match (settings.as_ref().map(|settings| settings.backend), &cuda) {
            (Err(error), _) => ("", error.text.clone()),
            (Ok(Backend::Cpu), _) => ("cpu", format!("The environment variable {variable} says so.")),
            (Ok(Backend::Cuda), Ok(_)) => ("cuda", format!("The environment variable {variable} says so.")),
            (Ok(Backend::Cuda), Err(reason)) => ("cuda", format!("The environment variable {variable} says so, and calls fail: {reason}")),
            (Ok(Backend::Auto), Ok(_)) => ("cuda", "A usable device is present.".into()),
            (Ok(Backend::Auto), Err(reason)) => ("cpu", reason.clone()),
        };
        Outlook {
            backend,
            reason,
            cuda: cuda.ok(),
            device_bytes: settings.ok().map(|settings| settings.device_bytes.unwrap_or(DEFAULT_DEVICE_BYTES)),
        }
    }
}
