//! The CPU engine: the stencil's bits without a GPU.
//!
//! Everything is one operation on contiguous doubles, the *valid* correlation of [`simd`]: `output[i] = chain of input[i + k] * tap[k]`. The inside
//! of a line is that already. Its two ends, and lines too short to have an inside, are copied with zeros around them first. Work is split into
//! runs of neighbouring outputs, which may begin and end anywhere.

mod simd;

use std::ops::Range;

use rayon::prelude::*;

use crate::stencil::{Engine, Error, MAX_TAPS, Request, Taps};
use crate::workers::Workers;
pub use simd::Level;

/// The work, in multiply-adds, that is worth waking a thread for: some 20 microseconds of one core.
const WORK_PER_THREAD: usize = 1 << 18;

/// The outputs that one task computes at most: input and output of a task stay in the second-level cache.
const TASK: usize = 1 << 15;

/// Zeros stand this wide on either side of a copied piece; the widest filter reaches no further.
const MAX_RADIUS: usize = MAX_TAPS / 2;

/// Outputs that are computed from one copied buffer.
const COPIED: usize = 512;

/// The CPU engine with one level of SIMD.
#[derive(Debug, Clone, Copy)]
pub struct Cpu {
    level: Level,
}

impl Cpu {
    /// With the best instructions that this processor has.
    pub fn new() -> Cpu {
        Cpu { level: Level::best() }
    }

    /// With these instructions; `None` where the processor lacks them.
    pub fn with_level(level: Level) -> Option<Cpu> {
        level.is_available().then_some(Cpu { level })
    }

    /// The instructions it uses.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Computes the outputs `range` of a request, a few at a time, into `output`.
    fn range(&self, request: &Request, range: Range<usize>, output: &mut [f64]) {
        let (lines, taps, start) = (request.lines(), request.taps(), range.start);
        let radius = taps.radius();
        if lines.length() <= 4 * MAX_RADIUS {
            return self.short_lines(request, range, output);
        }
        for (line, piece) in lines.pieces(range) {
            let inside = piece.start.max(line.start + radius)..piece.end.min(line.end - radius);
            let output = &mut output[piece.start - start..piece.end - start];
            let (before, output) = output.split_at_mut(inside.start.min(piece.end) - piece.start);
            let (middle, after) = output.split_at_mut(inside.len());
            self.copied(request.input(), &line, piece.start, taps, before);
            if !middle.is_empty() {
                simd::valid(self.level, &request.input()[inside.start - radius..inside.end + radius], taps.as_slice(), middle);
            }
            self.copied(request.input(), &line, piece.end - after.len(), taps, after);
        }
    }

    /// A few outputs from `first` on, near an end of `line`, through a copy with zeros where there are no samples.
    fn copied(&self, input: &[f64], line: &Range<usize>, first: usize, taps: &Taps, output: &mut [f64]) {
        if output.is_empty() {
            return;
        }
        let radius = taps.radius();
        let mut buffer = [0.0; 4 * MAX_RADIUS];
        let buffer = &mut buffer[..output.len() + 2 * radius];
        // The element of the input that stands at the buffer's beginning may lie before the input.
        let samples = first.saturating_sub(radius).max(line.start)..(first + output.len() + radius).min(line.end);
        let at = samples.start + radius - first;
        buffer[at..at + samples.len()].copy_from_slice(&input[samples]);
        simd::valid(self.level, buffer, taps.as_slice(), output);
    }

    /// Outputs of lines that are mostly ends: several lines are copied side by side with zeros between them, and computed as one.
    fn short_lines(&self, request: &Request, range: Range<usize>, output: &mut [f64]) {
        let (lines, taps) = (request.lines(), request.taps());
        let (length, radius) = (lines.length(), taps.radius());
        // One gap of zeros serves as the end of one line and the beginning of the next.
        let stride = length + radius;
        let mut buffer = [0.0; COPIED + 2 * MAX_RADIUS];
        let mut result = [0.0; COPIED];
        let at_once = (COPIED + radius) / stride;
        let mut start = range.start;
        while start < range.end {
            let first = start / length;
            let last = (first + at_once).min(range.end.div_ceil(length));
            for (i, line) in request.input()[first * length..last * length].chunks_exact(length).enumerate() {
                buffer[radius + i * stride..][..length].copy_from_slice(line);
            }
            // Behind the last line is a gap too: lines stand at the same places in every group, and gaps are never written.
            let computed = (last - first) * stride - radius;
            simd::valid(self.level, &buffer[..computed + 2 * radius], taps.as_slice(), &mut result[..computed]);
            let end = (last * length).min(range.end);
            for (line, piece) in lines.pieces(start..end) {
                let from = (line.start / length - first) * stride + (piece.start - line.start);
                output[piece.start - range.start..piece.end - range.start].copy_from_slice(&result[from..from + piece.len()]);
            }
            start = end;
        }
    }
}

impl Default for Cpu {
    fn default() -> Cpu {
        Cpu::new()
    }
}

impl Engine for Cpu {
    fn name(&self) -> &str {
        self.level.name()
    }

    fn run(&self, request: &Request, output: &mut [f64]) -> Result<(), Error> {
        assert_eq!(output.len(), request.input().len());
        if output.is_empty() {
            return Ok(());
        }
        let work = output.len().saturating_mul(request.taps().count());
        let threads = Workers::count().min(work / WORK_PER_THREAD);
        if threads <= 1 {
            self.range(request, 0..output.len(), output);
            return Ok(());
        }
        // Tasks no larger than the cache likes, and enough of them that all threads have one.
        let task = output.len().div_ceil(threads).min(TASK);
        Workers::get()?.install(|| {
            output.par_chunks_mut(task).enumerate().for_each(|(i, output)| self.range(request, i * task..i * task + output.len(), output));
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stencil::{Lines, Reference, same_bits};

    /// Any range of outputs, wherever it begins and ends, is what the whole has there.
    #[test]
    fn ranges_agree_with_the_whole() {
        let input: Vec<f64> = (0..1400).map(|i| (i as f64).sin()).collect();
        for length in [1, 2, 3, 7, 14, 39, 40, 41, 42, 50, 70, 100, 1400] {
            let lines = Lines::new(length, 1400 / length);
            let input = &input[..lines.elements()];
            for count in [1, 3, 11, 21] {
                let taps: Vec<f64> = (0..count).map(|k| (k as f64 + 0.5).cos()).collect();
                let request = Request::new(input, lines, Taps::new(&taps).unwrap()).unwrap();
                let mut expected = vec![0.0; input.len()];
                Reference.run(&request, &mut expected).unwrap();
                for start in (0..input.len()).step_by(13) {
                    for size in [1, 2, 9, 21, 64, 700] {
                        let end = (start + size).min(input.len());
                        let mut output = vec![f64::NAN; end - start];
                        Cpu::new().range(&request, start..end, &mut output);
                        assert!(
                            output.iter().zip(&expected[start..end]).all(|(&a, &b)| same_bits(a, b)),
                            "lines of {length}, {count} taps, {start}..{end}"
                        );
                    }
                }
            }
        }
    }
}
