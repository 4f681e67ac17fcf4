//! The options `Backend` and `Device`.

use super::settings::{self, Backend};
use crate::cuda::Cuda;
use crate::gateway::options;
use crate::mex::{Argument, Error};

/// The words for the backend of an array, which stays where it is made.
const CHOICES_OF_ARRAYS: [(&str, Backend); 3] = [settings::CHOICES[0], settings::CHOICES[1], settings::CHOICES[2]];

/// The devices that a call names, by their ordinals, from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Devices {
    One(usize),
    /// Each once.
    Several(Vec<usize>),
    /// All that the driver shows.
    All,
}

/// The options `Backend` and `Device`, as far as a call has them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    pub(crate) backend: Option<Backend>,
    pub(crate) devices: Option<Devices>,
    /// Whether it is of an array, not of a call that computes one.
    of_array: bool,
}

impl Selection {
    /// One for an array that is made.
    pub(crate) fn of_array() -> Selection {
        Selection { of_array: true, ..Selection::default() }
    }

    /// Takes the option, if it is one of the two; false for any other name.
    pub(crate) fn take(&mut self, name: &str, value: &Argument) -> Result<bool, Error> {
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

    /// The devices that the call names: one, or several. An `all` that is one device is that one.
    ///
    /// # Errors
    /// `noDevice`, for one that cannot be used: nobody gets fewer than were asked for.
    pub(crate) fn named(&self) -> Result<Option<Devices>, Error> {
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

    /// Checks that it is for a rank, which computes its part on one device, or on the CPU.
    ///
    /// # Errors
    /// `option`.
    pub(crate) fn check_for_rank(&self) -> Result<(), Error> {
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
