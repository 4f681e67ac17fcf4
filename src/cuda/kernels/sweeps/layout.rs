//! Choice of the kernel for sweeps along lines, its layout, and the number of sweeps in a launch.

use bytemuck::Zeroable;

use crate::cuda::arguments::SweepsArgument;
use crate::cuda::module::counter;
use crate::cuda::pace::evenly;
use crate::stencil::{Error, Lines, MAX_TAPS};

/// Kernels of `cuda/sweeps/sweeps.cuh`, each in a module of its own for each number of taps: unused ones are not
/// compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LineKernel {
    /// Long lines of neighbours, in tiles.
    Long,
    /// Lines of neighbours that a block holds whole.
    Whole,
    /// Smaller tiles, or lines, of neighbours: for arrays that would not keep the chip busy otherwise.
    Small,
    /// Any lines, side by side, whole or in tiles.
    Rows,
    /// Lines too short for registers.
    Short,
}

/// Names of the modules of `cuda/sweeps/sweeps.cu` of one kind, for 1, 3, .. 21 taps.
macro_rules! modules {
    ($kind:literal, $is_float:expr) => {
        if $is_float { modules!(@ $kind, "float") } else { modules!(@ $kind, "double") }
    };
    (@ $kind:literal, $class:literal) => {
        [
            concat!("sweeps_", $kind, "_", $class, "_01"),
            concat!("sweeps_", $kind, "_", $class, "_03"),
            concat!("sweeps_", $kind, "_", $class, "_05"),
            concat!("sweeps_", $kind, "_", $class, "_07"),
            concat!("sweeps_", $kind, "_", $class, "_09"),
            concat!("sweeps_", $kind, "_", $class, "_11"),
            concat!("sweeps_", $kind, "_", $class, "_13"),
            concat!("sweeps_", $kind, "_", $class, "_15"),
            concat!("sweeps_", $kind, "_", $class, "_17"),
            concat!("sweeps_", $kind, "_", $class, "_19"),
            concat!("sweeps_", $kind, "_", $class, "_21"),
        ]
    };
}

impl LineKernel {
    /// Returns its module for stencils of this radius, if there is one: in single a stencil is a convolution, and one
    /// by a single entry goes along no dimension.
    pub(super) fn stencil(self, radius: usize, is_float: bool) -> Option<&'static str> {
        let modules = match self {
            LineKernel::Long => modules!("long", is_float),
            LineKernel::Whole => modules!("whole", is_float),
            LineKernel::Small => modules!("small", is_float),
            LineKernel::Rows => modules!("rows", is_float),
            LineKernel::Short => modules!("short", is_float),
        };
        (radius > 0 || !is_float).then_some(modules[radius])
    }

    /// Returns its module for derivatives, if there is one: one sweep needs fewer kinds.
    pub(super) fn derivative(self, is_float: bool) -> Option<&'static str> {
        Some(match (self, is_float) {
            (LineKernel::Small, true) => "sweeps_derivative_small_float",
            (LineKernel::Small, false) => "sweeps_derivative_small_double",
            (LineKernel::Rows, true) => "sweeps_derivative_rows_float",
            (LineKernel::Rows, false) => "sweeps_derivative_rows_double",
            (LineKernel::Short, true) => "sweeps_derivative_short_float",
            (LineKernel::Short, false) => "sweeps_derivative_short_double",
            (LineKernel::Long | LineKernel::Whole, _) => return None,
        })
    }

    /// Returns the capacity of a block, as in the modules; `None` for short lines.
    pub(super) fn tile(self, taps: usize, is_float: bool) -> Option<Tile> {
        match self {
            LineKernel::Long | LineKernel::Whole if is_float => Some(Tile { threads: 128, points: 33 }),
            LineKernel::Long if taps == 3 => Some(Tile { threads: 128, points: 45 }),
            LineKernel::Long => Some(Tile { threads: 128, points: 37 }),
            LineKernel::Whole => Some(Tile { threads: 128, points: 25 }),
            LineKernel::Small => Some(Tile { threads: 128, points: 11 }),
            LineKernel::Rows => Some(Tile { threads: 128, points: 32 }),
            LineKernel::Short => None,
        }
    }
}

/// Threads of a block for short lines, each of which has one element in each plane.
pub(super) const SHORT_THREADS: usize = 256;
const SHORT_PLANES: usize = 8;

/// Maximum number of sweeps in a launch, even if lines are short enough for any number: it cannot be stopped in the
/// middle.
const MAX_SWEEPS: usize = 1024;

/// Capacity of a block of a kernel that works in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tile {
    pub(super) threads: usize,
    /// Points of a line that a thread holds.
    points: usize,
}

/// Layout of one launch: see [`SweepsArgument`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LinesLayout {
    abreast: usize,
    segments: usize,
    groups: usize,
    tiles: usize,
    pub(super) blocks: usize,
    pub(super) sweeps: usize,
}

impl LinesLayout {
    /// Returns the argument of a launch, without the array and its boundaries.
    ///
    /// # Errors
    /// [`Error::Internal`] for a layout that the kernel cannot count.
    pub(super) fn argument(&self) -> Result<SweepsArgument, Error> {
        // Blocks that work in registers number their strips in 32 bits: beyond those they would wrap around and compute
        // strips twice. (Blocks of short lines, of one segment, use 64 bits.)
        if self.segments > 1 {
            let last = self.blocks.saturating_mul(self.groups).saturating_sub(1);
            counter::<u32>(last, "as the number of a strip of lines")?;
        }
        Ok(SweepsArgument {
            sweeps: counter(self.sweeps, "sweeps in one launch")?,
            abreast: counter(self.abreast, "lines side by side")?,
            segments: counter(self.segments, "segments of a line")?,
            groups: counter(self.groups, "groups of lines")?,
            tiles: counter(self.tiles, "tiles of a line")?,
            ..SweepsArgument::zeroed()
        })
    }
}

impl Tile {
    /// Lays out a launch for some of `sweeps` sweeps, with `abreast` lines side by side in a row of threads; `None` for
    /// lines that are too short for it. Tiles that are no whole lines do `best` sweeps, or as many as they can.
    pub(super) fn layout(
        self,
        lines: Lines,
        abreast: usize,
        radius: usize,
        circular: bool,
        sweeps: usize,
        best: usize,
    ) -> Option<LinesLayout> {
        let length = lines.length();
        if length < 2 * self.points {
            return None;
        }
        let abreast = abreast.min(lines.inner());
        let rows = self.threads / abreast;
        let bundles = lines.inner().div_ceil(abreast) * lines.outer();
        let segments = length.div_ceil(self.points);
        if segments <= rows {
            let groups = rows / segments;
            let sweeps = evenly(sweeps, MAX_SWEEPS);
            return Some(LinesLayout { abreast, segments, groups, tiles: 1, blocks: bundles.div_ceil(groups), sweeps });
        }
        let tile = rows * self.points;
        // At least half of the tile is to be outputs.
        let most = (tile / 4).checked_div(radius).unwrap_or(MAX_SWEEPS).max(1);
        let sweeps = evenly(sweeps, best.min(most));
        let step = tile.checked_sub(2 * radius * sweeps).filter(|&step| step > 0)?;
        let tiles = if circular { length.div_ceil(step) } else { 1 + (length - tile).div_ceil(step) };
        Some(LinesLayout { abreast, segments: rows, groups: 1, tiles, blocks: bundles * tiles, sweeps })
    }

    /// True if lines of this length are whole in a block, `abreast` of them side by side.
    fn holds(self, length: usize, abreast: usize) -> bool {
        length.div_ceil(self.points) <= self.threads / abreast
    }
}

/// Returns the layout for lines in shared memory, of at most as many points as a block has threads.
pub(super) fn short_layout(lines: Lines, sweeps: usize) -> LinesLayout {
    let abreast = SHORT_THREADS / lines.length();
    let blocks = (lines.inner() * lines.outer()).div_ceil(abreast * SHORT_PLANES);
    LinesLayout { abreast, segments: 1, groups: 1, tiles: 1, blocks, sweeps: evenly(sweeps, MAX_SWEEPS) }
}

/// Returns the kernel for `total` sweeps over these lines, if the device works on `under_way` elements at a time, and
/// the number of lines side by side in a row of threads: by the table in `cuda/sweeps/sweeps.cuh`, which was measured.
pub(super) fn kernel_for(
    lines: Lines,
    radius: usize,
    total: usize,
    under_way: usize,
    derivative: bool,
    is_float: bool,
) -> (LineKernel, usize) {
    let tile = |kind: LineKernel| kind.tile(2 * radius + 1, is_float).expect("it works in registers");
    let (inner, length) = (lines.inner(), lines.length());
    let fits = |kind: LineKernel| length >= 2 * tile(kind).points;
    if inner > 1 {
        let rows = tile(LineKernel::Rows);
        return match length {
            _ if !fits(LineKernel::Rows) => (LineKernel::Short, 1),
            _ if total == 1 => (LineKernel::Rows, 32),
            0..=1024 => {
                (LineKernel::Rows, [32, 16, 8, 4].into_iter().find(|&abreast| rows.holds(length, abreast)).unwrap_or(4))
            }
            _ => (LineKernel::Rows, if total <= 8 { 8 } else { 4 }),
        };
    }
    let whole = fits(LineKernel::Whole) && tile(LineKernel::Whole).holds(length, 1);
    let kind = match () {
        () if !fits(LineKernel::Small) => LineKernel::Short,
        () if derivative => LineKernel::Small,
        () if total == 1 => {
            if whole && length >= 100 {
                LineKernel::Whole
            } else {
                LineKernel::Small
            }
        }
        () if under_way < 1_000_000 => LineKernel::Small,
        () if whole => LineKernel::Whole,
        () if !fits(LineKernel::Long) || tile(LineKernel::Long).holds(length, 1) => LineKernel::Small,
        () => LineKernel::Long,
    };
    (kind, 1)
}

/// Returns the best number of sweeps in one launch for a tile that is no whole line.
pub(super) fn best_sweeps(kind: LineKernel, radius: usize, elements: usize) -> usize {
    const LONG: [usize; MAX_TAPS.div_ceil(2)] = [128, 128, 64, 48, 32, 24, 20, 18, 16, 16, 16];
    const ROWS: [usize; MAX_TAPS.div_ceil(2)] = [48, 48, 32, 24, 16, 12, 10, 8, 8, 8, 6];
    match kind {
        LineKernel::Long => LONG[radius],
        LineKernel::Rows => ROWS[radius],
        _ => (if elements <= 200_000 { 256 } else { 128 } / radius.max(1)).max(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::archive;

    const ALL: [LineKernel; 5] =
        [LineKernel::Long, LineKernel::Whole, LineKernel::Small, LineKernel::Rows, LineKernel::Short];

    /// Rows of 32 neighbouring lines, each line a strip: 2^32 strips can be told apart, and not one more.
    #[test]
    fn layouts_that_kernels_cannot_count_are_refused() {
        let rows = LineKernel::Rows.tile(3, false).unwrap();
        let layout = |strips: usize| rows.layout(Lines::strided(32, 128, strips), 32, 1, false, 1, 48).unwrap();
        assert_eq!((layout(1).groups, layout(1).blocks), (1, 1));
        assert!(layout((1 << 32) - 1).argument().is_ok());
        assert!(layout(1 << 32).argument().is_ok());
        let refused = layout((1 << 32) + 1).argument();
        assert!(matches!(refused, Err(Error::Internal(text)) if text.contains("4294967296 as the number")));
        // Several strips a block: the number of blocks alone would be allowed.
        let grouped = LinesLayout { abreast: 4, segments: 4, groups: 8, tiles: 1, blocks: (1 << 29) + 1, sweeps: 1 };
        assert!(grouped.argument().is_err());
        assert!(LinesLayout { blocks: 1 << 29, ..grouped }.argument().is_ok());
        assert!(LinesLayout { blocks: 1, tiles: 1 << 32, ..grouped }.argument().is_err());
        // Short lines are counted in 64 bits.
        let short = short_layout(Lines::new(1, 1 << 43), 1);
        assert!(short.blocks == 1 << 32 && short.argument().is_ok());
        let SweepsArgument { sweeps, abreast, segments, groups, tiles, .. } =
            LinesLayout { abreast: 1, segments: 2, groups: 3, tiles: 4, blocks: 5, sweeps: 6 }.argument().unwrap();
        assert_eq!([sweeps, abreast, segments, groups, tiles], [6, 1, 2, 3, 4]);
    }

    /// The kernels' preconditions hold for lines of every length.
    #[test]
    fn layouts_are_what_the_kernels_are_promised() {
        for kind in ALL {
            let lengths = (1..300).chain([1000, 3200, 3201, 4224, 4225, 4735, 4736, 4737, 5760, 5761, 10_000, 1 << 27]);
            for (length, radius) in lengths.flat_map(|length| [0, 1, 4, 10].map(|radius| (length, radius))) {
                for tile in [false, true].into_iter().filter_map(|is_float| kind.tile(2 * radius + 1, is_float)) {
                    check_all(kind, tile, length, radius);
                }
            }
        }
    }

    fn check_all(kind: LineKernel, tile: Tile, length: usize, radius: usize) {
        assert!(radius <= tile.points);
        for inner in if kind == LineKernel::Rows { vec![1, 2, 3, 31, 32, 33, 1000] } else { vec![1] } {
            for (abreast, sweeps, circular) in [(32, 1, false), (8, 9, true), (4, 1000, true), (4, 100_000, false)] {
                let abreast = if kind == LineKernel::Rows { abreast } else { 1 };
                check(tile, Lines::strided(inner, length, 3), abreast, radius, circular, sweeps);
            }
        }
    }

    /// For all lines, the chosen kind can process them.
    #[test]
    fn there_is_a_kind_for_all_lines() {
        for length in (1..200).chain([1000, 1024, 1025, 2560, 3200, 3201, 4224, 4225, 4736, 4737, 5760, 5761, 100_000])
        {
            for inner in [1, 2, 5, 32, 1000] {
                for (radius, total, derivative) in [
                    (0, 1, false),
                    (0, 9, false),
                    (1, 1, false),
                    (1, 5, false),
                    (1, 500, false),
                    (10, 1, false),
                    (10, 99, false),
                    (4, 1, true),
                ] {
                    for (outer, is_float) in [(1, false), (1000, false), (1, true), (1000, true)] {
                        let lines = Lines::strided(inner, length, outer);
                        let (kind, abreast) = kernel_for(lines, radius, total, lines.elements(), derivative, is_float);
                        let best = best_sweeps(kind, radius, lines.elements());
                        let layout = match kind.tile(2 * radius + 1, is_float) {
                            Some(tile) => tile.layout(lines, abreast, radius, false, total, best),
                            None => Some(short_layout(lines, total)),
                        };
                        let layout = layout.unwrap_or_else(|| panic!("{lines:?} {kind:?}"));
                        assert!(
                            kind == LineKernel::Rows || kind == LineKernel::Short || inner == 1,
                            "{lines:?} {kind:?}"
                        );
                        assert!(kind != LineKernel::Whole || layout.tiles == 1, "{lines:?}");
                        assert!(kind != LineKernel::Long || layout.tiles > 1, "{lines:?}");
                        assert!(!derivative || kind.derivative(is_float).is_some());
                    }
                }
            }
        }
    }

    /// The numbers here are those that the modules were compiled with.
    #[test]
    fn the_modules_have_these_tiles() {
        let constant = |module: &str, name: &str| -> usize {
            let ptx = archive::ptx(module).unwrap().into_string().unwrap();
            let (_, rest) = ptx.split_once(&format!(" {name} = ")).unwrap_or_else(|| panic!("no {name} in {module}"));
            rest.split(';').next().unwrap().parse().unwrap()
        };
        for kind in ALL {
            let stencils = [true, false].into_iter().flat_map(|is_float| {
                let of = move |radius| Some((2 * radius + 1, is_float, kind.stencil(radius, is_float)?));
                (0..=MAX_TAPS / 2).filter_map(of)
            });
            let derivatives =
                [true, false].into_iter().filter_map(|is_float| Some((9, is_float, kind.derivative(is_float)?)));
            for (taps, is_float, module) in stencils.chain(derivatives) {
                match kind.tile(taps, is_float) {
                    Some(tile) => {
                        assert_eq!(constant(module, "sweeps_threads"), tile.threads, "{module}");
                        assert_eq!(constant(module, "sweeps_points"), tile.points, "{module}");
                    }
                    None => {
                        assert_eq!(constant(module, "sweeps_threads"), SHORT_THREADS, "{module}");
                        assert_eq!(constant(module, "sweeps_planes"), SHORT_PLANES, "{module}");
                    }
                }
            }
        }
    }

    fn check(tile: Tile, lines: Lines, wanted: usize, radius: usize, circular: bool, sweeps: usize) {
        let what = format!("{tile:?} {lines:?} radius {radius} sweeps {sweeps}");
        let Some(layout) = tile.layout(lines, wanted, radius, circular, sweeps, 64) else {
            assert!(lines.length() < 2 * tile.points, "{what}");
            return;
        };
        let LinesLayout { abreast, segments, groups, tiles, blocks, sweeps: at_once } = layout;
        assert!(abreast * segments * groups <= tile.threads && (1..=sweeps).contains(&at_once), "{what}");
        assert!(abreast <= lines.inner() && abreast <= wanted, "{what}");
        let bundles = lines.inner().div_ceil(abreast);
        assert_eq!(blocks, (bundles * tiles * lines.outer()).div_ceil(groups), "{what}");
        if tiles == 1 && segments * tile.points >= lines.length() {
            assert_eq!(segments, lines.length().div_ceil(tile.points), "{what}");
            assert!(segments >= 2, "{what}");
        } else {
            let (points, loss) = (segments * tile.points, radius * at_once);
            assert!(groups == 1 && points < lines.length() && 2 * loss < points, "{what}");
            let step = points - 2 * loss;
            // The last tile ends with the line or beyond, the last but one does not.
            let reach = |tiles: usize| if circular { tiles * step } else { points + (tiles - 1) * step };
            assert!(reach(tiles) >= lines.length() && reach(tiles - 1) < lines.length(), "{what}");
        }
    }

    #[test]
    fn short_lines_fit_their_block() {
        for length in 1..=64 {
            for inner in [1, 2, 7, 32, 40, 1000, 100_000] {
                let LinesLayout { abreast, blocks, .. } = short_layout(Lines::strided(inner, length, 5), 3);
                assert!(abreast >= 1 && abreast * length <= SHORT_THREADS);
                let lines_of_a_block = abreast * SHORT_PLANES;
                assert!((blocks - 1) * lines_of_a_block < inner * 5 && inner * 5 <= blocks * lines_of_a_block);
            }
        }
    }
}
