//! Timing by the device's own clock.

use std::sync::Arc;

use super::device;
use crate::cuda::driver::context::{Context, Event, HostContext, Stream};
use crate::stencil::Error;

/// Times work on a stream by the device's own clock, with events before and after it.
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

    /// Returns the milliseconds that the stream takes for the work that `work` submits, and waits for its end.
    pub(crate) fn time(&self, work: &dyn Fn() -> Result<(), Error>) -> Result<f32, Error> {
        self.begin.record(&self.stream)?;
        work()?;
        self.end.record(&self.stream)?;
        self.begin.elapsed(&self.end)
    }

    /// Returns the milliseconds of each of `laps` repetitions of `work`, after waiting for all.
    ///
    /// One more goes ahead of them, and all are submitted before the first wait: so the next one is always at hand for
    /// the device, and the clock does not run while the device waits for the host.
    pub(crate) fn laps(&self, laps: usize, work: &dyn Fn() -> Result<(), Error>) -> Result<Vec<f32>, Error> {
        let events = (0..=laps).map(|_| Event::new(&self.context)).collect::<Result<Vec<_>, Error>>()?;
        for event in &events {
            work()?;
            event.record(&self.stream)?;
        }
        events.windows(2).map(|pair| pair[0].elapsed(&pair[1])).collect()
    }

    /// Returns the shortest of some [repetitions](Clock::laps), in milliseconds.
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
