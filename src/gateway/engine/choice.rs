//! Chooses the engine of a call by its options `Backend` and `Device`, the environment, and the place of its data.

use super::fastest::{self, Decision, Work};
use super::{Chosen, default_device};
use crate::cuda::{Cuda, DEFAULT_DEVICE_BYTES, Team};
use crate::gateway::options::settings::{self, Backend, Settings};
use crate::gateway::options::{self, Selection, backend::Devices};
use crate::gateway::store::Home;
use crate::mex::Error;
use crate::stencil;

impl Selection {
    /// Returns the engine for a call that computes this.
    pub(crate) fn choose(&self, work: Work) -> Result<Chosen, Error> {
        let settings = Settings::from_environment()?;
        settings.apply();
        let backend = self.backend.unwrap_or(settings.backend);
        if backend != Backend::Fastest {
            return self.engine(backend, &settings);
        }
        let device = match self.named()? {
            Some(Devices::One(device)) => Some(device),
            Some(Devices::Several(_)) if self.backend.is_some() => {
                return Err(options::bad(
                    "'Backend', 'fastest' chooses between the CPU and one device, and 'Device' names several. Leave one \
                     of the two out."
                        .into(),
                ));
            }
            // An explicit 'Device' overrides the environment's backend.
            Some(Devices::Several(_)) => return self.engine(Backend::Cuda, &settings),
            Some(Devices::All) | None => None,
        };
        let Decision { cuda, note, stopwatch } = fastest::decide(work, device, &settings)?;
        let chosen = cuda.map_or_else(Chosen::cpu, |cuda| Chosen::cuda(cuda, &settings));
        Ok(chosen.with_stopwatch(note, stopwatch))
    }

    /// Returns the engine that will hold a new array.
    ///
    /// # Errors
    /// `option` for a choice by time, which is made anew for each call: an array stays where it is made.
    pub(crate) fn choose_home(&self) -> Result<Chosen, Error> {
        let settings = Settings::from_environment()?;
        settings.apply();
        let backend = match (self.backend, settings.backend) {
            (Some(Backend::Fastest), _) => {
                return Err(options::bad(
                    "Bad value for 'Backend': got 'fastest', expected 'auto' or 'cuda' or 'cpu' for a DeviceArray: \
                     'fastest' chooses for each call by itself, and where an array lies decides for all calls on it."
                        .into(),
                ));
            }
            // The environment's `fastest` is for calls that can choose.
            (None, Backend::Fastest) => Backend::Auto,
            (asked, otherwise) => asked.unwrap_or(otherwise),
        };
        self.engine(backend, &settings)
    }

    /// Returns the trace's note on a call that asked for `fastest` while the place of its data decides.
    pub(crate) fn note(&self, home: Home) -> Option<String> {
        let settings = || Settings::from_environment().is_ok_and(|settings| settings.backend == Backend::Fastest);
        let is_fastest = self.backend.map_or_else(settings, |backend| backend == Backend::Fastest);
        let word = if home == Home::Cpu { "cpu" } else { "cuda" };
        if is_fastest { fastest::note(|| format!("fastest: {word}, where the array lies: {home}")) } else { None }
    }

    /// Returns the engine of a backend that is not chosen by time.
    fn engine(&self, backend: Backend, settings: &Settings) -> Result<Chosen, Error> {
        // A missing device is an error, even if it would not be used.
        let named = self.named()?;
        match (backend, named) {
            (Backend::Cpu, _) => Ok(Chosen::cpu()),
            // An explicit 'Device' overrides the backend.
            (_, Some(Devices::One(device))) => Ok(Chosen::cuda(Cuda::open(Some(device))?, settings)),
            (_, Some(Devices::Several(devices))) => Ok(Chosen::team(Team::open(&devices)?, settings)),
            (Backend::Cuda, _) => Ok(Chosen::cuda(Cuda::open(settings.device)?, settings)),
            (Backend::Auto | Backend::Fastest, _) => Ok(match default_device::open(settings)? {
                Ok(engine) => Chosen::cuda(engine, settings),
                Err(reason) => Chosen::fallback(reason),
            }),
        }
    }

    /// Returns the device for a copy of an array in `home`; `None` if the array lies there already.
    ///
    /// # Errors
    /// `noDevice` for a device that cannot be used; `option` if the array or its copy is not on a GPU.
    pub(crate) fn another_device(&self, home: Home) -> Result<Option<Cuda>, Error> {
        match (self.named()?, home) {
            (Some(Devices::One(device)), Home::Cuda(ordinal))
                if device != ordinal && self.backend != Some(Backend::Cpu) =>
            {
                Ok(Some(Cuda::open(Some(device))?))
            }
            _ => self.check_home(home).map(|()| None),
        }
    }

    /// Checks that the options do not contradict the place of the data, which decides.
    ///
    /// # Errors
    /// `option` if they name another place.
    pub(crate) fn check_home(&self, home: Home) -> Result<(), Error> {
        self.check_place(home, "gather the array and make a DeviceArray of it there")
    }

    /// Checks that the options do not contradict the place of a gpuArray.
    ///
    /// # Errors
    /// `option` if they name another place.
    pub(crate) fn check_gpu(&self, home: Home) -> Result<(), Error> {
        self.check_place(home, "gather the gpuArray and pass that")
    }

    fn check_place(&self, home: Home, advice: &str) -> Result<(), Error> {
        let named = match (self.backend, &self.devices, home) {
            (Some(Backend::Cuda), _, Home::Cpu) => "'Backend', 'cuda'".into(),
            (Some(Backend::Cpu), _, Home::Cuda(_)) => "'Backend', 'cpu'".into(),
            (_, Some(Devices::One(device)), Home::Cuda(ordinal)) if *device == ordinal => return Ok(()),
            (_, Some(devices), _) => devices.to_string(),
            _ => return Ok(()),
        };
        Err(options::bad(format!(
            "The array lies in {home}, and {named} asks for another place. Leave the option out, or {advice}."
        )))
    }
}

/// Describes calls without options, for a report.
pub(crate) struct Outlook {
    /// `cuda`, `cpu`, or `fastest`, which may be either; empty if the environment makes no sense.
    pub(crate) backend: &'static str,
    /// Reason for the choice.
    pub(crate) reason: String,
    /// The device, if one is usable.
    pub(crate) cuda: Option<Cuda>,
    /// Limit on the buffers that it keeps, in bytes.
    pub(crate) device_bytes: Option<usize>,
}

impl Outlook {
    /// Reads the present state.
    ///
    /// # Errors
    /// [`Busy`](stencil::Error::Busy) if a call that is still running uses the device.
    pub(crate) fn new() -> Result<Outlook, Error> {
        let settings = Settings::from_environment().inspect(Settings::apply);
        let cuda = match default_device::open(settings.as_ref().unwrap_or(&Settings::default())) {
            Err(error @ stencil::Error::NoDevice(_)) => {
                Err(format!("The environment variable {} names a device: {error}", settings::DEVICE))
            }
            cuda => cuda?,
        };
        let variable = settings::BACKEND;
        let (backend, reason) = match (settings.as_ref().map(|settings| settings.backend), &cuda) {
            (Err(error), _) => ("", error.text.clone()),
            (Ok(Backend::Cpu), _) => ("cpu", format!("The environment variable {variable} says so.")),
            (Ok(Backend::Cuda), Ok(_)) => ("cuda", format!("The environment variable {variable} says so.")),
            (Ok(Backend::Cuda), Err(reason)) => {
                ("cuda", format!("The environment variable {variable} says so, and calls fail: {reason}"))
            }
            (Ok(Backend::Fastest), Ok(_)) => (
                "fastest",
                format!(
                    "The environment variable {variable} says so: each call takes the engine that is quicker for it."
                ),
            ),
            (Ok(Backend::Fastest), Err(reason)) => ("cpu", reason.clone()),
            (Ok(Backend::Auto), Ok(_)) => ("cuda", "A usable device is present.".into()),
            (Ok(Backend::Auto), Err(reason)) => ("cpu", reason.clone()),
        };
        Ok(Outlook {
            backend,
            reason,
            cuda: cuda.ok(),
            device_bytes: settings.ok().map(|settings| settings.device_bytes.unwrap_or(DEFAULT_DEVICE_BYTES)),
        })
    }
}
