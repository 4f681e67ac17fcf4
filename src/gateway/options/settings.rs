//! Settings from the environment. Every call reads them anew, since a script may change them.

use std::ffi::OsString;
use std::sync::OnceLock;

use crate::cuda::{Cuda, Team};
use crate::gateway::options;
use crate::mex::Error;
use crate::platform::workers::Workers;
use crate::ranks::{self, World};
use crate::stencil::Engine;
use crate::stencil::program::Gait;

/// The engine that a call asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    /// CUDA if a device is usable, else the CPU.
    Auto,
    /// CUDA, or an error.
    Cuda,
    /// The CPU.
    Cpu,
    /// The engine that takes less time for the call; see [`fastest`](crate::gateway::engine::fastest).
    Fastest,
}

/// Words for the backends.
pub(crate) const CHOICES: [(&str, Backend); 4] =
    [("auto", Backend::Auto), ("cuda", Backend::Cuda), ("cpu", Backend::Cpu), ("fastest", Backend::Fastest)];

/// Backend of calls that name none.
pub(crate) const BACKEND: &str = "STENCIL_BACKEND";

/// Device of calls that name none, counted from 1.
pub(crate) const DEVICE: &str = "STENCIL_DEVICE";

/// Limit on the device memory of buffers, in bytes.
const DEVICE_BYTES: &str = "STENCIL_DEVICE_BYTES";

/// File for the timeline of a call on several devices.
const TIMELINE: &str = "STENCIL_TIMELINE";

/// Tells if MPI takes addresses of a GPU's memory.
const CUDA_AWARE: &str = "STENCIL_CUDA_AWARE_MPI";

/// Words for that; `auto` asks MPI.
const AWARE: [(&str, Option<bool>); 3] = [("auto", None), ("on", Some(true)), ("off", Some(false))];

/// Limit on the number of threads.
const THREADS: &str = "STENCIL_THREADS";

/// The way to take several steps in a launch.
const WALK: &str = "STENCIL_WALK";

/// The settings. A missing or empty variable sets nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) backend: Backend,
    /// Ordinal of the device, from 0.
    pub(crate) device: Option<usize>,
    pub(crate) device_bytes: Option<usize>,
    threads: Option<usize>,
    cuda_aware: Option<bool>,
    /// The walk that takes several steps in a launch; `None` leaves the choice to the engine.
    pub(crate) walk: Option<Gait>,
}

/// The settings of an empty environment.
impl Default for Settings {
    fn default() -> Settings {
        Settings {
            backend: Backend::Auto,
            device: None,
            device_bytes: None,
            threads: None,
            cuda_aware: None,
            walk: None,
        }
    }
}

impl Settings {
    /// Reads the environment.
    ///
    /// # Errors
    /// `option` for a value that makes no sense: a mistyped limit must not lift the limit.
    pub(crate) fn from_environment() -> Result<Settings, Error> {
        Settings::from_variables(|name| std::env::var_os(name))
    }

    fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Result<Settings, Error> {
        let text = |name| {
            variable(name).filter(|value| !value.is_empty()).map(|value| value.to_string_lossy().trim().to_owned())
        };
        let number = |name| text(name).map(|text| whole_number(name, &text)).transpose();
        Ok(Settings {
            backend: text(BACKEND)
                .map_or(Ok(Backend::Auto), |text| options::choice_of_text(BACKEND, &text, &CHOICES))?,
            device: number(DEVICE)?.map(|number| number - 1).or_else(device_of_rank),
            device_bytes: number(DEVICE_BYTES)?,
            threads: number(THREADS)?,
            cuda_aware: text(CUDA_AWARE).map_or(Ok(None), |text| options::choice_of_text(CUDA_AWARE, &text, &AWARE))?,
            walk: text(WALK).map_or(Ok(None), |text| walk(&text))?,
        })
    }

    /// Returns the device's engine, with the limit on its memory.
    pub(crate) fn on(&self, cuda: Cuda) -> Box<dyn Engine> {
        Box::new(self.bounded(cuda))
    }

    /// Returns the engine of several devices, with the limit on the memory of each.
    pub(crate) fn on_several(&self, team: Team) -> Box<dyn Engine> {
        let team = self.device_bytes.into_iter().fold(team, Team::with_device_bytes);
        let team = self.walk.into_iter().fold(team, Team::with_walk);
        let timeline = std::env::var_os(TIMELINE).filter(|file| !file.is_empty());
        Box::new(match timeline {
            Some(file) => team.with_timeline(file.into()),
            None => team,
        })
    }

    /// Returns the device with the limit on its memory and the walk, if they are set.
    pub(crate) fn bounded(&self, cuda: Cuda) -> Cuda {
        let cuda = self.device_bytes.into_iter().fold(cuda, Cuda::with_device_bytes);
        self.walk.into_iter().fold(cuda, Cuda::with_walk)
    }

    /// Applies the settings that hold for the whole library.
    pub(crate) fn apply(&self) {
        Workers::limit(self.threads.or_else(threads_of_rank));
        ranks::expect_devices(self.cuda_aware);
    }
}

/// Gives the devices of a host to its ranks in turn; `None` if there is a single rank.
fn device_of_rank() -> Option<usize> {
    let world = World::there().filter(|world| world.ranks_on_host() > 1)?;
    let devices = Cuda::count().ok().filter(|&devices| devices > 0)?;
    Some(world.rank_on_host() % devices)
}

/// Threads for a rank that shares its host's processors with others; `None` if the launcher has shared them out.
fn threads_of_rank() -> Option<usize> {
    static SHARE: OnceLock<Option<usize>> = OnceLock::new();
    let world = World::there().filter(|world| world.ranks_on_host() > 1)?;
    *SHARE.get_or_init(|| {
        let mine = std::thread::available_parallelism().map_or(1, usize::from);
        // SAFETY: `sysconf` returns a number and has no other effect.
        let all = usize::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }).unwrap_or(1);
        (mine >= all).then(|| (mine / world.ranks_on_host()).max(1))
    })
}

/// Reads a whole number from 1 up; 1e9 is one, too.
fn whole_number(name: &str, text: &str) -> Result<usize, Error> {
    let number = text
        .parse::<f64>()
        .ok()
        .filter(|number| *number >= 1.0 && *number < usize::MAX as f64 && number.fract() == 0.0);
    let expected = || {
        options::bad(format!(
            "Bad value for the environment variable {name}: got {text:?}, expected a whole number from 1 up."
        ))
    };
    number.map(|number| number as usize).ok_or_else(expected)
}

/// Reads `off`, `auto` for the engine's choice, or numbers such as `4x2`: steps, a thread's elements, its lines of
/// them, a warp's columns (0 for the engine's choice), and the blocks that a multiprocessor's registers suffice for.
fn walk(text: &str) -> Result<Option<Gait>, Error> {
    let refused = || {
        options::bad(format!(
            "Bad value for the environment variable {WALK}: got {text:?}, expected off, auto, or steps and elements, and \
             then lines, columns and blocks, such as 4x2 or 1x1x4x64."
        ))
    };
    let numbers: Option<Vec<usize>> = text.split('x').map(|number| number.parse().ok()).collect();
    match numbers.as_deref() {
        _ if text.eq_ignore_ascii_case("off") => Ok(Some(Gait::NONE)),
        _ if text.eq_ignore_ascii_case("auto") => Ok(None),
        Some(&[levels @ 1..=64, elements @ (1 | 2 | 4 | 8), ref more @ ..]) => match *more {
            [] => Ok(Some(Gait::of(levels, elements, 1))),
            [lines @ 1..=64] => Ok(Some(Gait::of(levels, elements, lines))),
            [lines @ 1..=64, columns] => Ok(Some(Gait { columns, ..Gait::of(levels, elements, lines) })),
            [lines @ 1..=64, columns, blocks @ 1..=16] => {
                Ok(Some(Gait { columns, blocks, ..Gait::of(levels, elements, lines) }))
            }
            _ => Err(refused()),
        },
        _ => Err(refused()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(name: &'static str, value: &'static str) -> Result<Settings, Error> {
        Settings::from_variables(|wanted| (wanted == name).then(|| value.into()))
    }

    #[test]
    fn variables_that_are_empty_or_missing_set_nothing() {
        let none = Settings::default();
        for name in [BACKEND, DEVICE, DEVICE_BYTES, THREADS, CUDA_AWARE, WALK, "OTHER"] {
            assert_eq!(settings(name, ""), Ok(none));
        }
        assert_eq!(settings("OTHER", "x"), Ok(none));
    }

    #[test]
    fn values_are_taken() {
        assert_eq!(settings(BACKEND, " CPU ").unwrap().backend, Backend::Cpu);
        assert_eq!(settings(DEVICE_BYTES, "1e9").unwrap().device_bytes, Some(1_000_000_000));
        assert_eq!(settings(DEVICE, "2").unwrap().device, Some(1));
        assert_eq!(settings(THREADS, "3").unwrap().threads, Some(3));
        assert_eq!(settings(CUDA_AWARE, "off").unwrap().cuda_aware, Some(false));
        assert_eq!(settings(CUDA_AWARE, "Auto").unwrap().cuda_aware, None);
        assert_eq!(settings(WALK, "auto").unwrap().walk, None);
        assert_eq!(settings(WALK, "off").unwrap().walk, Some(Gait::NONE));
        assert_eq!(settings(WALK, "4x2").unwrap().walk, Some(Gait::of(4, 2, 1)));
        let gait = Gait { columns: 64, ..Gait::of(1, 4, 2) };
        assert_eq!(settings(WALK, "1x4x2x64").unwrap().walk, Some(gait));
        assert_eq!(settings(WALK, "1x4x2x64x5").unwrap().walk, Some(Gait { blocks: 5, ..gait }));
    }

    #[test]
    fn nonsense_is_an_error_that_names_the_variable() {
        for (name, value) in [
            (BACKEND, "gpu"),
            (DEVICE, "0"),
            (DEVICE, "all"),
            (DEVICE_BYTES, "512M"),
            (DEVICE_BYTES, "-1"),
            (DEVICE_BYTES, "1e30"),
            (THREADS, "0"),
            (THREADS, "many"),
            (THREADS, "1.5"),
            (CUDA_AWARE, "1"),
            (WALK, "4"),
            (WALK, "0x2"),
            (WALK, "4x3"),
            (WALK, "4x2x0"),
            (WALK, "4x2x1x1x0"),
            (WALK, "4x2x1x1x1x1"),
        ] {
            let error = settings(name, value).unwrap_err();
            assert_eq!(error.kind, "option");
            assert!(error.text.contains(name), "{}", error.text);
        }
    }
}
