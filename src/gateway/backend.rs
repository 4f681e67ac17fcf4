//! Which engine a call runs on, by its options `Backend` and `Device`, the environment, and where its data lie.

use super::default_device;
use super::fastest::{self, Decision, Work};
use super::options;
use super::reply::Chosen;
use super::settings::{self, Backend, Settings};
use super::store::Home;
use crate::cuda::{Cuda, DEFAULT_DEVICE_BYTES, Team};
use crate::mex::{Argument, Error};
use crate::stencil;

/// The words for the backend of an array, which stays where it is made.
const CHOICES_OF_ARRAYS: [(&str, Backend); 3] = [settings::CHOICES[0], settings::CHOICES[1], settings::CHOICES[2]];

/// The devices that a call names, by their ordinals, from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Devices {
    One(usize),
    /// Each once.
    Several(Vec<usize>),
    /// All that the driver shows.
    All,
}

/// The options `Backend` and `Device`, as far as a call has them.
#[derive(Debug, Clone, Default)]
pub(super) struct Selection {
    backend: Option<Backend>,
    devices: Option<Devices>,
    /// Whether it is of an array, not of a call that computes one.
    of_array: bool,
}

impl Selection {
    /// One for an array that is made.
    pub(super) fn of_array() -> Selection {
        Selection { of_array: true, ..Selection::default() }
    }

    /// Takes the option, if it is one of the two; false for any other name.
    pub(super) fn take(&mut self, name: &str, value: &Argument) -> Result<bool, Error> {
        match name {
            "Backend" => self.backend = Some(self.backend_of(name, value)?),
            "Device" => self.devices = Some(Devices::of(name, value, self.of_array)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The backend that a word stands for. For an array `fastest` is none of those that are told of, and is refused by
    /// [`choose_home`](Self::choose_home), which says why.
    fn backend_of(&self, name: &str, value: &Argument) -> Result<Backend, Error> {
        let known = options::choice(name, value, &settings::CHOICES);
        if known.is_err() && self.of_array { options::choice(name, value, &CHOICES_OF_ARRAYS) } else { known }
    }

    /// The engine for a call that computes this.
    pub(super) fn choose(&self, work: Work) -> Result<Chosen, Error> {
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

    /// The engine that an array is to be held by.
    ///
    /// # Errors
    /// `option`, where the engine of each call was to be chosen by time: an array stays where it is made.
    pub(super) fn choose_home(&self) -> Result<Chosen, Error> {
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
            // The environment's is for calls that can choose.
            (None, Backend::Fastest) => Backend::Auto,
            (asked, otherwise) => asked.unwrap_or(otherwise),
        };
        self.engine(backend, &settings)
    }

    /// What the trace says where data decide, and time was asked for.
    pub(super) fn note(&self, home: Home) -> Option<String> {
        let settings = || Settings::from_environment().is_ok_and(|settings| settings.backend == Backend::Fastest);
        let asked = self.backend.map_or_else(settings, |backend| backend == Backend::Fastest);
        let word = if home == Home::Cpu { "cpu" } else { "cuda" };
        if asked { fastest::note(|| format!("fastest: {word}, where the array lies: {home}")) } else { None }
    }

    /// The devices that the call names: one, or several. An `all` that is one device is that one.
    ///
    /// # Errors
    /// `noDevice`, for one that cannot be used: nobody gets fewer than were asked for.
    fn named(&self) -> Result<Option<Devices>, Error> {
        let named = match &self.devices {
            None => return Ok(None),
            Some(Devices::One(device)) => vec![*device],
            Some(Devices::Several(devices)) => devices.clone(),
            Some(Devices::All) => (0..Cuda::count()?).collect(),
        };
        for &device in &named {
            Cuda::find(Some(device))?;
        }
        Ok(Some(match named[..] {
            [one] => Devices::One(one),
            _ => Devices::Several(named),
        }))
    }

    /// The engine of a backend, which time does not choose.
    fn engine(&self, backend: Backend, settings: &Settings) -> Result<Chosen, Error> {
        // A device that is not there is an error even where it would not be used.
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

    /// Where a copy of an array on the GPU is to lie, that lies in `home`; `None` where it lies there.
    ///
    /// # Errors
    /// `noDevice`, for one that cannot be used; `option` where the array or its copy is not on a GPU.
    pub(super) fn another_device(&self, home: Home) -> Result<Option<Cuda>, Error> {
        match (self.named()?, home) {
            (Some(Devices::One(device)), Home::Cuda(ordinal))
                if device != ordinal && self.backend != Some(Backend::Cpu) =>
            {
                Ok(Some(Cuda::open(Some(device))?))
            }
            _ => self.agrees(home).map(|()| None),
        }
    }

    /// Checks that it is for a rank, which computes its part on one device, or on the CPU.
    ///
    /// # Errors
    /// `option`.
    pub(super) fn is_for_one_of_many(&self) -> Result<(), Error> {
        if self.backend == Some(Backend::Fastest) {
            return Err(options::bad(
                "'Distributed' goes with 'Backend', 'auto' or 'cuda' or 'cpu', the same on all ranks, and not with \
                 'fastest'."
                    .into(),
            ));
        }
        match &self.devices {
            Some(devices @ (Devices::Several(_) | Devices::All)) => Err(options::bad(format!(
                "'Distributed' goes with one device a rank, and not with {devices}: start as many ranks as devices."
            ))),
            _ => Ok(()),
        }
    }

    /// Checks that data which lie in `home` are computed there: where data are decides, and an option may say the same.
    ///
    /// # Errors
    /// `option`, where it says something else.
    pub(super) fn agrees(&self, home: Home) -> Result<(), Error> {
        self.agrees_or(home, "gather the array and make a DeviceArray of it there")
    }

    /// Checks that data of the host's on a GPU are computed there.
    ///
    /// # Errors
    /// `option`, where it says something else.
    pub(super) fn agrees_with_gpu(&self, home: Home) -> Result<(), Error> {
        self.agrees_or(home, "gather the gpuArray and pass that")
    }

    fn agrees_or(&self, home: Home, advice: &str) -> Result<(), Error> {
        let asked = match (self.backend, &self.devices, home) {
            (Some(Backend::Cuda), _, Home::Cpu) => "'Backend', 'cuda'".into(),
            (Some(Backend::Cpu), _, Home::Cuda(_)) => "'Backend', 'cpu'".into(),
            (_, Some(Devices::One(device)), Home::Cuda(ordinal)) if *device == ordinal => return Ok(()),
            (_, Some(devices), _) => devices.to_string(),
            _ => return Ok(()),
        };
        Err(options::bad(format!(
            "The array lies in {home}, and {asked} asks for another place. Leave the option out, or {advice}."
        )))
    }
}

impl Devices {
    /// What the option's value says.
    ///
    /// # Errors
    /// `option`; for an array also where it says several.
    fn of(name: &str, value: &Argument, of_array: bool) -> Result<Devices, Error> {
        let refused = |got: String| {
            let expected = if of_array {
                "a whole number from 1 up: a DeviceArray lies on one device"
            } else {
                "a whole number from 1 up, a vector of such numbers, each once, or 'all'"
            };
            options::bad(format!("Bad value for '{name}': got {got}, expected {expected}."))
        };
        if let Some(text) = value.text() {
            return if text.eq_ignore_ascii_case("all") && !of_array {
                Ok(Devices::All)
            } else {
                Err(refused(format!("'{text}'")))
            };
        }
        let Some(numbers) = value.doubles().filter(|numbers| numbers.len() > 1) else {
            return match value.scalar() {
                Some(number) => options::positive_number(name, number).map(|number| Devices::One(number - 1)),
                None => Err(refused(value.to_string())),
            };
        };
        if of_array {
            return Err(refused(value.to_string()));
        }
        let mut devices = Vec::with_capacity(numbers.len());
        for &number in numbers {
            let device = options::positive_number(name, number)? - 1;
            if devices.contains(&device) {
                return Err(refused(format!("{} twice", device + 1)));
            }
            devices.push(device);
        }
        Ok(Devices::Several(devices))
    }
}

/// As a user would write it.
impl std::fmt::Display for Devices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Devices::One(device) => write!(f, "'Device', {}", device + 1),
            Devices::All => f.write_str("'Device', 'all'"),
            Devices::Several(devices) => {
                let numbers: Vec<_> = devices.iter().map(|device| (device + 1).to_string()).collect();
                write!(f, "'Device', [{}]", numbers.join(" "))
            }
        }
    }
}

/// What calls without options do here, for a report.
pub(super) struct Outlook {
    /// `cuda` or `cpu`, or `fastest`, which may be either; empty where the environment makes no sense.
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
    ///
    /// # Errors
    /// [`Busy`](stencil::Error::Busy) where a call that is still running has the device.
    pub(super) fn new() -> Result<Outlook, Error> {
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
