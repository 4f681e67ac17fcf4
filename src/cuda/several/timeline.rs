//! Times at which each device swept its parts and halos travelled, by its own events: they show the waits.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::cuda::driver::context::{Event, Stream};
use crate::stencil::Error;

/// Maximum number of spans of a device: each has two events.
const MAX_SPANS: usize = 2000;

/// Spans of all devices of a call.
#[derive(Debug)]
pub(crate) struct Timeline {
    since: Instant,
    /// Spans with the device's place in the list.
    noted: Mutex<Vec<(usize, Noted)>>,
}

/// Kind of work, and its begin and end in microseconds.
#[derive(Debug)]
struct Noted {
    what: What,
    begin: f64,
    end: f64,
}

/// Kind of a device's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// Some sweeps of a round over a part.
    Sweeps { part: usize, round: usize, sweeps: usize },
    /// Filling of a part's halo from other devices' parts, after a round.
    Halos { part: usize, round: usize },
}

impl Timeline {
    pub(crate) fn new() -> Timeline {
        Timeline { since: Instant::now(), noted: Mutex::new(Vec::new()) }
    }

    /// Writes a trace for browsers (`chrome://tracing`, `ui.perfetto.dev`): a process for each device, with a line for
    /// its sweeps and one for its halos.
    pub(crate) fn write(&self, file: &Path, ordinals: &[usize]) -> std::io::Result<()> {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.is_empty() {
            // The array went through the devices in tiles.
            return Ok(());
        }
        noted.sort_by(|a, b| a.1.begin.total_cmp(&b.1.begin));
        let mut text = String::from("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
        for (place, ordinal) in ordinals.iter().enumerate() {
            let named = |line: usize, kind, name: &str| {
                format!(
                    "{{\"name\":\"{kind}\",\"ph\":\"M\",\"pid\":{place},\"tid\":{line},\"args\":{{\"name\":\"{name}\"}}}},\n"
                )
            };
            text += &named(0, "process_name", &format!("device {}", ordinal + 1));
            text += &named(0, "thread_name", "sweeps");
            text += &named(1, "thread_name", "halos");
        }
        for (place, Noted { what, begin, end }) in noted.iter() {
            let (line, name) = match *what {
                What::Sweeps { part, round, sweeps } => (0, format!("part {part}, round {round}: {sweeps} sweeps")),
                What::Halos { part, round } => (1, format!("part {part}, after round {round}")),
            };
            let _ = writeln!(
                text,
                "{{\"name\":\"{name}\",\"ph\":\"X\",\"pid\":{place},\"tid\":{line},\"ts\":{begin:.3},\"dur\":{:.3}}},",
                end - begin
            );
        }
        // The format allows a comma after the last entry; not every reader does.
        text.truncate(text.trim_end_matches([',', '\n']).len());
        text += "\n]}\n";
        fs::write(file, text)
    }
}

/// Spans of a device; none are recorded without a timeline.
pub(crate) struct Notes<'a> {
    timeline: Option<&'a Timeline>,
    place: usize,
    /// First event, and its host time in microseconds: the device's times are relative to it.
    base: Option<(Event, f64)>,
    spans: Vec<(What, Event, Arc<Event>)>,
}

impl<'a> Notes<'a> {
    /// Starts for the device of this place in the list, which must be idle.
    pub(crate) fn new(timeline: Option<&'a Timeline>, place: usize, stream: &Stream) -> Result<Notes<'a>, Error> {
        let mut base = None;
        if let Some(timeline) = timeline {
            let event = Event::new(stream.context())?;
            event.record(stream)?;
            event.wait()?;
            base = Some((event, timeline.since.elapsed().as_secs_f64() * 1e6));
        }
        Ok(Notes { timeline, place, base, spans: Vec::new() })
    }

    /// Marks the begin of work on this stream.
    pub(crate) fn begin(&self, stream: &Stream) -> Result<Option<Event>, Error> {
        if self.base.is_none() || self.spans.len() >= MAX_SPANS {
            return Ok(None);
        }
        let event = Event::new(stream.context())?;
        event.record(stream)?;
        Ok(Some(event))
    }

    /// Adds a span that ends at this event.
    pub(crate) fn end(&mut self, begin: Option<Event>, what: What, end: &Arc<Event>) {
        self.spans.extend(begin.map(|begin| (what, begin, end.clone())));
    }

    /// Adds the spans to the timeline, after all of their work is over.
    pub(crate) fn hand_in(self) -> Result<(), Error> {
        let (Some(timeline), Some((base, at))) = (self.timeline, self.base) else { return Ok(()) };
        let after = |event: &Event| base.elapsed(event).map(|milliseconds| at + f64::from(milliseconds) * 1e3);
        for (what, begin, end) in &self.spans {
            let noted = Noted { what: *what, begin: after(begin)?, end: after(end)? };
            timeline.noted.lock().unwrap_or_else(PoisonError::into_inner).push((self.place, noted));
        }
        Ok(())
    }
}
