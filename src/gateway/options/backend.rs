//! The options `Backend` and `Device`.

use super::settings::{self, Backend};
use crate::cuda::Cuda;
use crate::gateway::options;
use crate::mex::{Argument, Error};

/// Backends that an array may name; an array stays where it is made.
const CHOICES_OF_ARRAYS: [(&str, Backend); 3] = [settings::CHOICES[0], settings::CHOICES[1], settings::CHOICES[2]];

/// The devices that a call names, by ordinals from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Devices {
    One(usize),
    /// Two or more, none of them twice.
    Several(Vec<usize>),
    /// All that the driver lists.
    All,
}

/// The options `Backend` and `Device` of a call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    pub(crate) backend: Option<Backend>,
    pub(crate) devices: Option<Devices>,
    /// True where the options belong to an array and not to a call that computes one.
    of_array: bool,
}

impl Selection {
    /// Returns a selection for an array that is to be made.
    pub(crate) fn of_array() -> Selection {
        Selection { of_array: true, ..Selection::default() }
    }

    /// Reads the option if it is `Backend` or `Device`; returns false for any other name.
    pub(crate) fn take(&mut self, name: &str, value: &Argument) -> Result<bool, Error> {
        match name {
            "Backend" => self.backend = Some(self.backend_of(name, value)?),
            "Device" => self.devices = Some(Devices::of(name, value, self.of_array)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads a backend's word. An array's error does not list `fastest`, which `choose_home` refuses with a reason.
    fn backend_of(&self, name: &str, value: &Argument) -> Result<Backend, Error> {
        let known = options::choice(name, value, &settings::CHOICES);
        if known.is_err() && self.of_array { options::choice(name, value, &CHOICES_OF_ARRAYS) } else { known }
    }

    /// Returns the devices that the call names, an `all` of one device as that one.
    ///
    /// # Errors
    /// `noDevice` if one of them cannot be used: a call never gets fewer than it names.
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

    /// Checks that the options suit a rank, which computes its part on one device or on the CPU.
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
    /// Reads the option's value.
    ///
    /// # Errors
    /// `option`; for an array also for several devices.
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

/// Written as the user would write the option.
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
