//! Long runs: on a thread of their own, while the host's thread shows the progress and checks if the user has pressed
//! Ctrl-C.
//!
//! # Rationale
//! Printing, and checking for an interrupt in MATLAB, are calls of the host: they need its own thread, outside
//! `catch_unwind`, and may raise an exception. An engine at work can do none of that. So work that may take long enough
//! for a user to notice is done on another thread, and this one watches. If the host raises an error meanwhile, the run
//! is stopped and its thread joined on the way out.
//!
//! Calls of the host may run the user's callbacks, which may call us again, clear our functions, or fork. A forked
//! process lacks the thread of the run, so the call ends there with an error, and waits for nothing.

use crate::platform::process;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::error::Error;
use super::{Host, guarded, symbols};
use crate::platform::watch::Watch;

/// Estimated effort of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Effort {
    /// Number of elements to compute, times the sweeps.
    pub updates: u64,
    /// Number of multiply-adds for all of them.
    pub work: u64,
    /// Number of calls of an engine, each of which takes a few microseconds however little it computes.
    pub calls: u64,
    /// True if a user may want to stop it; a short run is done on the host's own thread.
    pub long: bool,
    /// True to show the progress.
    pub progress: bool,
}

impl Effort {
    /// Effort of doing it twice.
    pub fn twice(self) -> Effort {
        let twice = |count: u64| count.saturating_mul(2);
        Effort { updates: twice(self.updates), work: twice(self.work), calls: twice(self.calls), ..self }
    }
}

/// Interval of checks for an interrupt.
const TICK: Duration = Duration::from_millis(20);

/// Minimum time of a run before a line is shown.
const SILENCE: Duration = Duration::from_millis(500);

/// Interval of updates of the line.
const REFRESH: Duration = Duration::from_millis(200);

/// Interval of lines in a file or a pipe, where earlier lines cannot be replaced.
const REFRESH_IN_FILE: Duration = Duration::from_secs(10);

/// A thread that is stopped and joined when this is dropped, for any reason.
struct Joined<'a> {
    watch: &'a Watch,
    thread: Option<JoinHandle<()>>,
    /// Process that owns the thread.
    process: u32,
}

impl Joined<'_> {
    /// True if this process was forked from the one that owns the thread.
    fn forked(&self) -> bool {
        self.process != process::id()
    }

    fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for Joined<'_> {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        if self.forked() {
            // There is no such thread here, and joining it would wait for ever.
            std::mem::forget(thread);
            return;
        }
        self.watch.stop();
        // A panic of its own was caught on it.
        let _ = thread.join();
    }
}

/// Result passed between threads. A lock instead of a channel: dropping a channel may take locks that another thread
/// held at a fork.
struct Outcome {
    result: Mutex<Option<Result<(), Error>>>,
    there: Condvar,
}

impl Outcome {
    fn set(&self, result: Result<(), Error>) {
        *locked(&self.result) = Some(result);
        self.there.notify_all();
    }

    /// Waits for it, up to one tick.
    fn wait(&self) -> Option<Result<(), Error>> {
        let waiting = self.there.wait_timeout_while(locked(&self.result), TICK, |result| result.is_none());
        waiting.unwrap_or_else(PoisonError::into_inner).0.take()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Host {
    /// Does `work`, on a thread as described above if it is long. May raise an error of the host's.
    pub(super) fn run(
        &self,
        name: &str,
        effort: &Effort,
        work: impl FnOnce(&Watch) -> Result<(), Error> + Send,
    ) -> Result<(), Error> {
        let watch = Watch::new();
        if !effort.long {
            return guarded(|| work(&watch));
        }
        let work = Mutex::new(Some(work));
        let take = || locked(&work).take();
        let outcome = Outcome { result: Mutex::new(None), there: Condvar::new() };
        let job = || {
            if let Some(work) = take() {
                outcome.set(guarded(|| work(&watch)));
            }
        };
        // SAFETY: the thread borrows from this frame, and `Joined` waits for it on any way out of the frame.
        let thread = unsafe { thread::Builder::new().name("stencil".into()).spawn_unchecked(job) };
        let Ok(thread) = thread else {
            // The system refuses more threads.
            return take().map_or(Ok(()), |work| guarded(|| work(&watch)));
        };
        let joined = Joined { watch: &watch, thread: Some(thread), process: process::id() };
        let mut interrupted = false;
        let mut line = effort.progress.then(|| Line::new(name, effort.updates, prints_on_screen()));
        let result = loop {
            let finished = joined.is_finished();
            match outcome.wait() {
                Some(result) => break result,
                None if finished => break Err(Error::internal("The run ended without a word.")),
                None => {}
            }
            interrupted |= symbols::interrupted();
            if !interrupted {
                symbols::heed_signals();
            }
            if interrupted {
                watch.stop();
            } else if let Some(text) = line.as_mut().and_then(|line| line.update(watch.done())) {
                self.print(&text);
                self.show();
            }
            if joined.forked() {
                return Err(Error::internal(
                    "This process was forked in the middle of the call, which goes on in the process that it was \
                     forked from.",
                ));
            }
        };
        drop(joined);
        if let Some(text) = line.and_then(|line| line.end(result.is_ok())) {
            self.print(&text);
            // After an interrupt the host shows it with our error. Evaluating anything now would make it raise an error
            // of its own, which scripts cannot catch.
            if !interrupted {
                self.show();
            }
        }
        result
    }

    /// Prints `text` on the host's console.
    fn print(&self, text: &str) {
        let mut buffer = [0_u8; 256];
        let length = text.len().min(buffer.len() - 1);
        buffer[..length].copy_from_slice(&text.as_bytes()[..length]);
        // SAFETY: both end in NUL, and the format prints the text unchanged.
        unsafe { (self.api.mexPrintf)(c"%s".as_ptr(), buffer.as_ptr()) };
    }

    /// Flushes the printed text to the user. May raise an error of the host's.
    ///
    /// No callbacks: a line of progress is no reason for the user's timers and figures to run in the middle of a
    /// function.
    fn show(&self) {
        if let Some(flush) = symbols::flush_stdout() {
            // SAFETY: on the host's own thread, in a call.
            unsafe { flush() };
            return;
        }
        let code = if symbols::is_octave() { c"fflush (stdout);" } else { c"drawnow limitrate nocallbacks;" };
        // SAFETY: the text ends in NUL.
        unsafe { (self.api.mexEvalString)(code.as_ptr()) };
    }
}

/// True if the host prints to a screen. Octave prints to standard output; MATLAB has a window of its own, and
/// redirection of that to a file is not known here.
fn prints_on_screen() -> bool {
    !symbols::is_octave() || std::io::stdout().is_terminal()
}

/// Progress line of a run. On a screen each update erases the last one: MATLAB's window supports the backspace, but not
/// the carriage return. In a file each is a line of its own, and there are fewer.
struct Line {
    name: String,
    updates: u64,
    on_screen: bool,
    start: Instant,
    shown: Option<Instant>,
    length: usize,
}

impl Line {
    fn new(name: &str, updates: u64, on_screen: bool) -> Line {
        Line { name: name.into(), updates, on_screen, start: Instant::now(), shown: None, length: 0 }
    }

    /// Returns the text to print now, if any.
    fn update(&mut self, done: u64) -> Option<String> {
        let now = Instant::now();
        let refresh = if self.on_screen { REFRESH } else { REFRESH_IN_FILE };
        if now - self.start < SILENCE || self.shown.is_some_and(|shown| now - shown < refresh) {
            return None;
        }
        self.shown = Some(now);
        Some(self.text(done, (now - self.start).as_secs_f64()))
    }

    fn text(&mut self, done: u64, seconds: f64) -> String {
        let (rate, share) = (done as f64 / seconds, done as f64 / self.updates.max(1) as f64);
        let mut line =
            format!("{}: {:3.0} %, {}updates/s", self.name, (100.0 * share).min(100.0).floor(), with_prefix(rate));
        if done > 0 {
            let _ = write!(line, ", {} left", duration((seconds / share - seconds).max(0.0)));
        }
        self.replace(line)
    }

    /// Returns the final line, if there were any before.
    fn end(mut self, done: bool) -> Option<String> {
        self.shown?;
        let seconds = self.start.elapsed().as_secs_f64();
        let rate = with_prefix(self.updates as f64 / seconds);
        let line = if done {
            format!("{}: 100 %, {rate}updates/s, {} in all", self.name, duration(seconds))
        } else {
            format!("{}: ended after {}", self.name, duration(seconds))
        };
        Some(if self.on_screen { self.replace(line) + "\n" } else { self.replace(line) })
    }

    /// Text of `line` to replace the one before, or to follow it in a file.
    fn replace(&mut self, line: String) -> String {
        if !self.on_screen {
            return line + "\n";
        }
        let back = "\u{8}".repeat(self.length);
        // Blanks over the rest of a longer line before.
        let line = format!("{line:width$}", width = self.length);
        self.length = line.len();
        back + &line
    }
}

/// Formats a number with three digits and a prefix: `12.3 G`.
fn with_prefix(number: f64) -> String {
    let (scale, prefix) = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")]
        .into_iter()
        .find(|(scale, _)| number >= *scale)
        .unwrap_or((1.0, ""));
    let number = number / scale;
    let decimals = if number < 10.0 { 2 } else { usize::from(number < 100.0) };
    format!("{number:.decimals$} {prefix}")
}

/// Formats a time for people.
fn duration(seconds: f64) -> String {
    match seconds {
        0.0..60.0 => format!("{seconds:.1} s"),
        60.0..3600.0 => format!("{:.0} min {:02.0} s", (seconds / 60.0).floor(), (seconds % 60.0).floor()),
        _ => format!("{:.0} h {:02.0} min", (seconds / 3600.0).floor(), (seconds % 3600.0 / 60.0).floor()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_silent_at_first_then_replaces_itself() {
        let mut line = Line::new("F", 1000, true);
        assert_eq!(line.update(10), None);
        assert_eq!(line.text(250, 1.0), "F:  25 %, 250 updates/s, 3.0 s left");
        let first = line.length;
        let second = line.text(1000, 2.0);
        assert!(second.starts_with(&"\u{8}".repeat(first)));
        assert!(second.ends_with("F: 100 %, 500 updates/s, 0.0 s left"), "{second}");
        assert_eq!(line.length, first);
    }

    #[test]
    fn a_line_that_was_never_shown_has_no_last_words() {
        assert_eq!(Line::new("F", 1, true).end(true), None);
        let mut line = Line::new("F", 1000, true);
        line.start -= SILENCE;
        assert!(line.update(10).is_some());
        assert_eq!(line.update(20), None, "too soon");
        assert!(line.end(true).unwrap().ends_with(" in all\n"));
    }

    #[test]
    fn in_a_file_there_are_whole_lines_and_few() {
        let mut line = Line::new("F", 1000, false);
        line.start -= SILENCE;
        let first = line.update(100).unwrap();
        assert!(first.starts_with("F:  10 %") && first.ends_with(" left\n") && !first.contains('\u{8}'), "{first:?}");
        line.shown = line.shown.map(|shown| shown - REFRESH);
        assert_eq!(line.update(200), None, "too soon");
        line.shown = line.shown.map(|shown| shown - REFRESH_IN_FILE);
        assert!(line.update(300).unwrap().starts_with("F:  30 %"));
        let last = line.end(true).unwrap();
        assert!(last.starts_with("F: 100 %") && last.ends_with(" in all\n") && !last.contains('\u{8}'), "{last:?}");
    }

    /// Starts the thread of a run that continues until it is stopped, for a process with this identifier.
    fn joined(watch: &'static Watch, process: u32) -> Joined<'static> {
        let wait = || {
            while !watch.is_stopped() {
                thread::sleep(Duration::from_millis(1))
            }
        };
        Joined { watch, thread: Some(thread::spawn(wait)), process }
    }

    #[test]
    fn a_run_is_joined_by_its_own_process_alone() {
        let watch = || -> &'static Watch { Box::leak(Box::new(Watch::new())) };
        let (own, inherited) = (watch(), watch());
        let run = joined(own, process::id());
        assert!(!run.forked() && !run.is_finished());
        drop(run);
        assert!(own.is_stopped());
        let run = joined(inherited, process::id() + 1);
        assert!(run.forked());
        drop(run);
        assert!(!inherited.is_stopped(), "left alone");
        inherited.stop();
    }

    #[test]
    fn numbers_and_times_are_short() {
        assert_eq!(with_prefix(4.5361e12), "4.54 T");
        assert_eq!(with_prefix(61.234e9), "61.2 G");
        assert_eq!(with_prefix(999.0), "999 ");
        assert_eq!(
            (duration(3.25), duration(61.0), duration(7265.0)),
            ("3.2 s".into(), "1 min 01 s".into(), "2 h 01 min".into())
        );
    }
}
