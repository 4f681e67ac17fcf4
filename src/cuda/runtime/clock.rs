//! Timing by the device's own clock.

use std::sync::Arc;

use super::device;
use crate::cuda::driver::context::{Context, Event, HostContext, Stream};
use crate::stencil::Error;

/// The device's clock for what goes through a stream: events before and behind it.
pub(crate) struct Clock {
    context: Arc<Context>,
    stream: Arc<Stream>,
    begin: Event,
    end: Event,
}

impl Clock {
    pub(crate) fn new(context: &Arc<Context>, stream: &Arc<Stream>) -> Result<Clock, Error> {
        Ok(Clock {
            context: context.clone(),
            stream: stream.clone(),
            begin: Event::new(context)?,
            end: Event::new(context)?,
        })
    }

    /// Milliseconds from the stream's coming to what `work` submits until its end. The work is over then.
    pub(crate) fn time(&self, work: &dyn Fn() -> Result<(), Error>) -> Result<f32, Error> {
        self.begin.record(&self.stream)?;
        work()?;
        self.end.record(&self.stream)?;
        self.begin.elapsed(&self.end)
    }

    /// Milliseconds of each of `laps` repetitions of what `work` submits, which are over then.
    ///
    /// One more goes ahead of them, and all are submitted before any is waited for: so the device has the next at hand
    /// when it comes to it, and the clock does not run while it waits for the host.
    pub(crate) fn laps(&self, laps: usize, work: &dyn Fn() -> Result<(), Error>) -> Result<Vec<f32>, Error> {
        let events = (0..=laps).map(|_| Event::new(&self.context)).collect::<Result<Vec<_>, Error>>()?;
        for event in &events {
            work()?;
            event.record(&self.stream)?;
        }
        events.windows(2).map(|pair| pair[0].elapsed(&pair[1])).collect()
    }

    /// The least of the milliseconds of some [repetitions](Clock::laps).
    pub(crate) fn least(&self, laps: usize, work: &dyn Fn() -> Result<(), Error>) -> Result<f32, Error> {
        Ok(self.laps(laps, work)?.into_iter().fold(f32::INFINITY, f32::min))
    }
}

pub(crate) fn with<R>(ordinal: usize, measure: impl FnOnce(&Clock) -> Result<R, Error>) -> Result<R, Error> {
    let (context, stream) = device::with(ordinal, |device| Ok((device.context.clone(), device.stream().clone())))?;
    let _host = HostContext::save()?;
    context.bind()?;
    measure(&Clock::new(&context, &stream)?)
}
