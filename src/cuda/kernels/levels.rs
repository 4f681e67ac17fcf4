//! Many sweeps of two time levels along lines of neighbours: `cuda/sweeps/levels.cu`.

use std::ops::Range;

use cudarc::driver::sys;

use super::super::module::{Function, Modules, Shape, counter, launch};
use super::super::pace::{SharedPace, evenly};
use super::{LoadOnce, Loaded, Plan, are_known};
use crate::cuda::arguments::{EndsArgument, LevelsArgument};
use crate::stencil::{Error, Stencil};

/// The modules, for 3, 5, 7 and 9 taps.
const MODULES: [&str; 4] = ["sweeps_levels_03", "sweeps_levels_05", "sweeps_levels_07", "sweeps_levels_09"];

/// Up to this number of elements small tiles are faster: large ones would not keep an H200 busy. (5 taps, 300,000
/// elements: 0.33 us a sweep for 0.42; 500,000: 0.46 for 0.42.)
const MAX_IN_SMALL: usize = 400_000;

/// Best number of sweeps in a launch of large tiles, by the radius less 1.
const LARGE_SWEEPS: [usize; MODULES.len()] = [128, 128, 96, 64];

/// Maximum number of sweeps in a launch, whatever its tiles allow: it cannot be stopped in the middle.
const MAX_SWEEPS: usize = 1024;

/// Number of blocks that keeps any chip busy: if lines are whole, a block takes several only if there are more.
const BUSY_BLOCKS: usize = 256;

/// Capacity of a kernel's block, as in the modules.
#[derive(Debug, Clone, Copy)]
struct Room {
    threads: usize,
    points: usize,
}

const LARGE: Room = Room { threads: 256, points: 5376 };
const SMALL: Room = Room { threads: 128, points: 1408 };
const WHOLE: Room = Room { threads: 1024, points: 2048 };

/// Kernels of every module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Tiles of long lines.
    Large,
    /// Smaller tiles, for shorter lines or fewer of them.
    Small,
    /// Lines that a block holds whole.
    Whole,
}

/// Layout of one launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    threads: usize,
    blocks: usize,
    /// Number of tiles of a line, or of lines of a block if they are whole.
    tiles: usize,
    sweeps: usize,
}

impl Kind {
    /// Returns the kernel for `lines` lines of this length.
    fn of(length: usize, lines: usize) -> Kind {
        match length {
            _ if length <= SMALL.points => Kind::Whole,
            _ if length <= LARGE.points || length * lines <= MAX_IN_SMALL => Kind::Small,
            _ => Kind::Large,
        }
    }

    fn function(self) -> &'static std::ffi::CStr {
        match self {
            Kind::Large => c"levels_large",
            Kind::Small => c"levels_small",
            Kind::Whole => c"levels_whole",
        }
    }

    /// Lays out a launch for some of `sweeps` sweeps of a filter of this radius, over `lines` lines.
    fn layout(self, length: usize, lines: usize, radius: usize, circular: bool, sweeps: usize) -> Layout {
        let (room, best) = match self {
            Kind::Large => (LARGE, LARGE_SWEEPS[radius - 1]),
            Kind::Small => (SMALL, LARGE_SWEEPS[0]),
            Kind::Whole => {
                let most = WHOLE.points / (length + 2 * radius);
                let tiles = lines.div_ceil(BUSY_BLOCKS).min(most);
                // Whole warps, with a thread for each point if there are enough threads.
                let threads = (tiles * length).next_multiple_of(32).min(WHOLE.threads);
                return Layout { threads, blocks: lines.div_ceil(tiles), tiles, sweeps: evenly(sweeps, MAX_SWEEPS) };
            }
        };
        // At least three quarters of a tile are outputs.
        let sweeps = evenly(sweeps, best.min(room.points / 8 / radius));
        let step = room.points - 2 * radius * sweeps;
        let tiles = if circular { length.div_ceil(step) } else { 1 + (length - room.points).div_ceil(step) };
        Layout { threads: room.threads, blocks: tiles * lines, tiles, sweeps }
    }
}

/// Two time levels of a stencil, in a sweep `new = F * newest + weight * older`.
#[derive(Debug, Clone)]
pub(in super::super) struct LevelsKernel {
    what: Stencil,
    weight: f64,
    loaded: LoadOnce,
}

/// Addresses of both levels, the newest one first.
pub(in super::super) type Pair = [sys::CUdeviceptr; 2];

impl LevelsKernel {
    /// Returns the kernel for this stencil, if there is one: for lines of neighbours that are longer than its radius.
    pub(in super::super) fn new(what: &Stencil, weight: f64) -> Option<LevelsKernel> {
        let (lines, radius) = (what.lines(), what.taps().radius());
        let fits = lines.inner() == 1 && (1..=MODULES.len()).contains(&radius) && lines.length() > radius;
        (fits && are_known(what.boundary())).then(|| LevelsKernel { what: *what, weight, loaded: LoadOnce::default() })
    }

    /// Returns the stencil.
    pub(in super::super) fn what(&self) -> &Stencil {
        &self.what
    }

    /// Returns its name for error messages.
    pub(in super::super) fn name(&self) -> &'static str {
        "a stencil of two time levels"
    }

    /// Returns the multiply-adds for an output.
    pub(in super::super) fn work(&self) -> usize {
        self.what.taps().count() + 1
    }

    /// Plans the launches between two pairs of arrays that lie on the device. The plan identifies a pair by its newest
    /// level.
    pub(in super::super) fn plan(&self, modules: &Modules, pairs: [Pair; 2]) -> Result<LevelsPlan<'_>, Error> {
        let (lines, radius) = (self.what.lines(), self.what.taps().radius());
        let kind = Kind::of(lines.length(), lines.outer());
        let taps = (c"kernelTaps", bytemuck::cast_slice(self.what.taps().as_slice()));
        let Loaded { function, module, .. } =
            self.loaded.get(modules, true, MODULES[radius - 1], taps, kind.function())?;
        Ok(LevelsPlan { function, pace: module.pace(false), kind, what: &self.what, weight: self.weight, pairs })
    }
}

/// Launches between two pairs of arrays.
pub(in super::super) struct LevelsPlan<'a> {
    function: &'a Function,
    pace: &'a SharedPace,
    kind: Kind,
    what: &'a Stencil,
    weight: f64,
    pairs: [Pair; 2],
}

impl LevelsPlan<'_> {
    fn layout(&self, sweeps: usize) -> Layout {
        let (lines, ends) = (self.what.lines(), self.what.boundary());
        self.kind.layout(lines.length(), lines.outer(), self.what.taps().radius(), ends.is_circular(), sweeps)
    }

    /// Returns the address of the older level of the pair with this newest one.
    fn older(&self, newest: sys::CUdeviceptr) -> Result<sys::CUdeviceptr, Error> {
        let pair = self.pairs.iter().find(|pair| pair[0] == newest);
        pair.map(|pair| pair[1]).ok_or_else(|| Error::Internal("A time level without the one before it.".into()))
    }
}

impl Plan<f64> for LevelsPlan<'_> {
    fn pace(&self) -> &SharedPace {
        self.pace
    }

    fn units(&self) -> usize {
        1
    }

    fn fused(&self, sweeps: usize) -> Result<usize, Error> {
        Ok(self.layout(sweeps).sweeps)
    }

    fn sweep(&self, stream: sys::CUstream, sweeps: usize, [input, output]: [sys::CUdeviceptr; 2]) -> Result<(), Error> {
        let Layout { threads, blocks, tiles, .. } = self.layout(sweeps);
        let argument = LevelsArgument {
            input,
            older: self.older(input)?,
            output,
            older_output: self.older(output)?,
            length: self.what.lines().length() as u64,
            lines: self.what.lines().outer() as u64,
            weight: self.weight,
            ends: EndsArgument::new(self.what.boundary()),
            sweeps: counter(sweeps, "sweeps in one launch")?,
            tiles: counter(tiles, "tiles of a line")?,
        };
        // SAFETY: it reads and writes as many elements as the lines have, which the caller has at all four addresses.
        unsafe { launch(self.function, stream, Shape::row(blocks, threads)?, &argument) }
    }

    fn part(&self, stream: sys::CUstream, _: Range<usize>, buffers: [sys::CUdeviceptr; 2]) -> Result<(), Error> {
        self.sweep(stream, 1, buffers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::module::tests::{argument_bytes, constant_of};
    use crate::stencil::{Lines, Taps};

    #[test]
    fn the_kernels_are_what_they_are_taken_for() {
        for module in MODULES {
            for kind in [Kind::Large, Kind::Small, Kind::Whole] {
                let function = kind.function().to_str().unwrap();
                assert_eq!(argument_bytes(module, function), size_of::<LevelsArgument>(), "{module} {function}");
            }
            for (name, room) in [("large", LARGE), ("small", SMALL), ("whole", WHOLE)] {
                let told = ["threads", "points"].map(|what| constant_of(module, &format!("levels_{name}_{what}")));
                assert_eq!(told, [room.threads, room.points], "{module} {name}");
            }
        }
    }

    #[test]
    fn filters_and_lines_that_it_is_for() {
        let is_for = |taps: usize, lines| {
            LevelsKernel::new(&Stencil::new(lines, Taps::new(&vec![1.0; taps]).unwrap()), 1.0).is_some()
        };
        for (taps, fits) in [(1, false), (3, true), (5, true), (7, true), (9, true), (11, false)] {
            assert_eq!(is_for(taps, Lines::new(100, 1)), fits, "{taps}");
        }
        assert!(!is_for(3, Lines::strided(2, 100, 1)));
        assert!(is_for(9, Lines::new(5, 7)) && !is_for(9, Lines::new(4, 7)));
    }

    /// Every tile has its points, and a tile's own results reach to those of the next one.
    #[test]
    fn launches_are_what_the_kernels_can_do() {
        for length in [2, 5, 9, 20, 100, 1407, 1408, 1409, 2000, 5376, 5377, 100_000, 10_000_000] {
            for lines in [1, 3, 255, 257, 10_000] {
                for radius in 1..=MODULES.len() {
                    for (circular, sweeps) in [(false, 1), (true, 7), (false, 100), (true, 128), (false, 100_000)] {
                        if length <= radius {
                            continue;
                        }
                        let kind = Kind::of(length, lines);
                        let Layout { threads, blocks, tiles, sweeps } =
                            kind.layout(length, lines, radius, circular, sweeps);
                        let what = format!("{lines} lines of {length}, {radius}, {circular}, {sweeps}: {kind:?}");
                        assert!((1..=MAX_SWEEPS).contains(&sweeps), "{what}");
                        let room = match kind {
                            Kind::Large => LARGE,
                            Kind::Small => SMALL,
                            Kind::Whole => {
                                assert!(tiles >= 1 && tiles * (length + 2 * radius) <= WHOLE.points, "{what}");
                                assert!(threads.is_multiple_of(32) && threads <= WHOLE.threads, "{what}");
                                assert!(tiles * length <= threads * (WHOLE.points / WHOLE.threads), "{what}");
                                assert!(blocks * tiles >= lines && (blocks - 1) * tiles < lines, "{what}");
                                continue;
                            }
                        };
                        let loss = radius * sweeps;
                        assert!(length > room.points && 8 * loss <= room.points, "{what}");
                        assert_eq!((threads, blocks), (room.threads, tiles * lines), "{what}");
                        let step = room.points - 2 * loss;
                        let covered = if circular { tiles * step } else { tiles * step + 2 * loss };
                        assert!(covered >= length && covered - step < length, "{what}");
                    }
                }
            }
        }
    }
}
