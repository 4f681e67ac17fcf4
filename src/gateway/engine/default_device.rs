//! The device of calls that name none.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cuda::{Cuda, Driver};
use crate::gateway::options::settings::Settings;
use crate::platform::process::PerProcess;
use crate::stencil;

/// The default device's ordinal, if the environment names one, and the reason why it could not be opened. A new attempt
/// in every call would take longer than most calls.
static REFUSED: PerProcess<Mutex<Refused>> = PerProcess::new();

type Refused = Option<(Option<usize>, String)>;

fn refused() -> MutexGuard<'static, Refused> {
    REFUSED.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens CUDA on the default device, or returns the reason why there is none.
///
/// # Errors
/// [`Busy`](stencil::Error::Busy) for a call inside another on that device: it does not fall back to the CPU, which
/// might take many times as long. [`NoDevice`](stencil::Error::NoDevice) if there are devices, but not the one that the
/// environment names.
pub(crate) fn open(settings: &Settings) -> Result<Result<Cuda, String>, stencil::Error> {
    let device = settings.device;
    if device.is_some() && Driver::get().is_ok() {
        Cuda::find(device)?;
    }
    let mut refused = refused();
    if let Some((_, reason)) = refused.as_ref().filter(|(of, _)| *of == device) {
        return Ok(Err(reason.clone()));
    }
    let mut reason = None;
    let opened = or_reason(Cuda::open(device), &mut reason);
    *refused = reason.map(|reason| (device, reason));
    opened
}

/// Turns an error into a reason to use the CPU; a reason that will hold in the next call is kept in `refused`.
fn or_reason<T>(
    opened: Result<T, stencil::Error>,
    refused: &mut Option<String>,
) -> Result<Result<T, String>, stencil::Error> {
    match opened {
        Err(stencil::Error::Busy) => Err(stencil::Error::Busy),
        Err(error @ stencil::Error::NoDevice(_)) => Ok(Err(error.to_string())),
        Err(error) => Ok(Err(refused.insert(error.to_string()).clone())),
        Ok(opened) => Ok(Ok(opened)),
    }
}

/// Allows a new attempt at a device that could not be opened.
pub(crate) fn release() {
    refused().take();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_in_use_is_an_error_and_no_reason_to_fall_back() {
        let mut refused = None;
        assert_eq!(or_reason::<()>(Err(stencil::Error::Busy), &mut refused), Err(stencil::Error::Busy));
        assert_eq!(or_reason::<()>(Err(stencil::Error::NoDevice("none".into())), &mut refused), Ok(Err("none".into())));
        assert_eq!(refused, None, "the next call asks again");
        assert_eq!(or_reason(Ok(7), &mut refused), Ok(Ok(7)));
        assert_eq!(or_reason::<()>(Err(stencil::Error::Cuda("full".into())), &mut refused), Ok(Err("full".into())));
        assert_eq!(refused.as_deref(), Some("full"));
    }
}
