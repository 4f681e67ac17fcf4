//! Tests of the layouts, of the choice, and of the table of modules.

use std::sync::Mutex;

use super::super::images::tests::time_of_a_sweep;
use super::choose::{Searches, Task};
use super::model::{Boundaries, Chip, MAX_BLOCKS, MAX_TILES, MODULES, SWEEPS, TilesModule, circular_dimensions};
use super::*;
use crate::cuda::archive;
use crate::cuda::arguments::{CIRCULAR, CONSTANT, MIRROR, REPLICATE, Repeated, SYMMETRIC, TilesArgument};
use crate::cuda::kernels::word;
use crate::cuda::module::tests::{argument_bytes, constant_of};
use crate::stencil::{Boundary, Ends};

const MEASURED: Chip = Chip { multiprocessors: 132, measured: true };

/// Returns one boundary on all sides.
const fn all(boundary: u32) -> Boundaries {
    [[boundary; 2]; 2]
}

/// Boundaries that are not the same on all sides.
const MIXED: [Boundaries; 6] = [
    [[CIRCULAR; 2], [CONSTANT; 2]],
    [[MIRROR, SYMMETRIC], [CIRCULAR; 2]],
    [[CONSTANT, MIRROR], [REPLICATE, CONSTANT]],
    [[SYMMETRIC, CONSTANT], [MIRROR, REPLICATE]],
    [[CIRCULAR; 2], [CONSTANT, MIRROR]],
    [[REPLICATE, SYMMETRIC], [CONSTANT; 2]],
];

/// Returns each boundary on all sides, and the mixed ones.
fn all_boundaries() -> impl Iterator<Item = Boundaries> {
    (CONSTANT..=MIRROR).map(all).chain(MIXED)
}

#[test]
fn the_kernels_take_this_argument() {
    for module in &MODULES {
        assert_eq!(argument_bytes(module.name, "sweeps_tiles"), size_of::<TilesArgument>(), "{}", module.name);
    }
}

/// Each module has the properties that the table gives.
#[test]
fn the_table_is_right() {
    for module in &MODULES {
        let ptx = archive::ptx(module.name).unwrap().into_string().unwrap();
        let constant = |name: &str| constant_of(module.name, name);
        let told = ["patch_rows", "patch_columns", "most_threads"].map(constant);
        assert_eq!(told, [module.patch[0], module.patch[1], module.threads], "{}", module.name);
        assert!(ptx.contains(".target sm_60\n"), "{}", module.name);
        // Neighbouring threads are to read from all banks.
        assert!(module.patch[0] % 2 == 1, "{}", module.name);
    }
}

/// The kernel finds in a region the samples that the domain finds in an image of that size.
#[test]
fn places_stand_for_those_of_the_domain() {
    let boundaries = Boundary::all_kinds(1.0);
    for (low, high) in boundaries.into_iter().flat_map(|low| boundaries.map(|high| (low, high))) {
        let Some(ends) = Ends::new(low, high) else { continue };
        let repeated = Repeated::both(ends.both().map(word), 5);
        for at in (-4..0).chain(5..9) {
            let Repeated { first, turns } = repeated[usize::from(at > 0)];
            // Cells for constants are at their places, and the samples of a circular end are loaded there.
            let own = matches!(ends.both()[usize::from(at > 0)], Boundary::Constant(_) | Boundary::Circular);
            let expected = if own { at } else { ends.sample_at(at as isize, 5).unwrap() as i32 };
            assert_eq!(first + turns * at, expected, "{at} of {ends:?}");
        }
    }
}

/// Returns the outputs of the regions of a dimension, like `struct Span` of `cuda/sweeps/tiles/tiles.cuh`: for each
/// region the place of its first sample, and the range of samples that it writes.
fn written(count: isize, held: isize, tiles: isize, reach: isize, circular: bool) -> Vec<[isize; 3]> {
    let step = held - 2 * reach;
    let of = |tile: isize| {
        if circular {
            let first = tile * step - reach;
            return [first, first + reach, if tile == tiles - 1 { count } else { first + held - reach }];
        }
        let first = (tile * step).min(count - held);
        let from = if tile == 0 { 0 } else { tile * step + reach };
        [first, from, if tile == tiles - 1 { count } else { (tile + 1) * step + reach }]
    };
    (0..tiles).map(of).collect()
}

/// Checks that each output is written once, by a region that has the samples for it.
fn check_cut(count: usize, (held, tiles): (usize, usize), reach: usize, circular: bool, what: &str) {
    let [count, held, reach] = [count, held, reach].map(|number| number as isize);
    let mut next = 0;
    for [first, from, to] in written(count, held, tiles as isize, reach, circular) {
        assert!(from == next && from < to, "{what}: {from}..{to} behind {next}");
        let low = first + if !circular && first == 0 { 0 } else { reach };
        let high = first + held - if !circular && first + held == count { 0 } else { reach };
        assert!(low <= from && to <= high, "{what}: {from}..{to} of {low}..{high}");
        assert!(circular || (first >= 0 && first + held <= count), "{what}");
        next = to;
    }
    assert_eq!(next, count, "{what}");
}

/// Each launch meets the kernel's preconditions, whatever the array.
#[test]
fn tilings_are_what_the_kernel_can_do() {
    let mut found = 0;
    for module in &MODULES {
        let filters =
            if module.size == 0 { vec![[3, 7, 1], [3, 5, 1], [7, 3, 1]] } else { vec![[module.size, module.size, 1]] };
        for rows in [1, 2, 5, 12, 47, 48, 49, 100, 256, 1000, 4097, 1 << 20] {
            for columns in [1, 3, 64, 65, 700, 5000] {
                for (boundaries, pages) in all_boundaries().zip([1, 3, 1, 200].into_iter().cycle()) {
                    for (filter, chip) in filters.iter().flat_map(|&filter| {
                        [MEASURED, Chip { multiprocessors: 5, measured: false }].map(|chip| (filter, chip))
                    }) {
                        let size = [rows, columns, pages];
                        for tiling in SWEEPS.iter().filter_map(|&n| module.tiling(size, filter, boundaries, n, chip)) {
                            found += 1;
                            check(module, &tiling, size, filter, boundaries, chip);
                        }
                    }
                }
            }
        }
    }
    assert!(found > 1000, "{found}");
}

fn check(module: &TilesModule, tiling: &Tiling, size: Size, filter: Size, boundaries: Boundaries, chip: Chip) {
    let what = format!("{tiling:?} for {size:?}, {filter:?}, {boundaries:?}, {}", module.name);
    for i in 0..2 {
        let reach = tiling.sweeps * (filter[i] / 2);
        check_cut(size[i], (tiling.region[i], tiling.tiles[i]), reach, circular_dimensions(boundaries)[i], &what);
        assert_eq!(tiling.patches[i], tiling.region[i].div_ceil(module.patch[i]), "{what}");
    }
    assert!(tiling.threads() <= module.threads && tiling.time > 0.0, "{what}");
    let (pitch, buffer) = tiling.buffer(module, filter);
    assert!(pitch >= tiling.patches[0] * module.patch[0] + filter[0] - 1, "{what}");
    let bytes = 2 * buffer * module.element();
    assert!(bytes <= tiling.most_shared(module, filter) && bytes <= chip.room().0, "{what}");
    assert!(tiling.tiles[0] * tiling.tiles[1] <= MAX_TILES && tiling.blocks(size[2]) <= MAX_BLOCKS, "{what}");
}

/// If columns of patches can follow each other without conflicts, the threads of a warp read each bank once.
#[test]
fn neighbours_read_other_banks() {
    for module in &MODULES {
        let filter = if module.size == 0 { [3, 5, 1] } else { [module.size, module.size, 1] };
        for down in [8, 12, 16, 24, 32] {
            let patches = [down, 8];
            let region = [0, 1].map(|i| patches[i] * module.patch[i]);
            let tiling = Tiling { sweeps: 2, region, tiles: [1, 1], patches, time: 1.0 };
            let (pitch, _) = tiling.buffer(module, filter);
            let bank = |thread: usize| {
                (thread / down * module.patch[1] * pitch + thread % down * module.patch[0]) % module.banks()
            };
            let mut banks: Vec<_> = (0..module.banks()).map(bank).collect();
            banks.sort_unstable();
            banks.dedup();
            assert_eq!(banks.len(), module.banks(), "{}, {down}", module.name);
        }
    }
}

/// The choice is the one measured as faster: some sweeps at once over small images, and not over large ones.
#[test]
fn small_images_do_many_sweeps_a_launch() {
    for module in &MODULES {
        let filter = if module.size == 0 { [3, 5, 1] } else { [module.size, module.size, 1] };
        for boundaries in all_boundaries() {
            let tilings = Tilings::found(module, [256, 256, 1], filter, boundaries, 400, MEASURED).unwrap();
            assert!((4..=16).contains(&tilings.least(400).unwrap().sweeps), "{tilings:?}");
            assert_eq!(tilings.least(3).unwrap().sweeps, 3, "{tilings:?}");
            assert!(tilings.least(1).is_none());
            let slow = Chip { multiprocessors: 20, measured: false };
            assert!(
                Tilings::found(module, [4096, 4096, 1], filter, boundaries, 400, slow).is_none(),
                "{}",
                module.name
            );
            let same = |other: &&TilesModule| other.is_float == module.is_float && other.size == module.size;
            let found = |module| Tilings::found(module, [12, 12, 1], filter, boundaries, 400, slow);
            assert!(MODULES.iter().filter(same).filter_map(found).next().is_some(), "{}", module.name);
        }
        // A mirror is not for an image so small that it would reflect beyond its far end.
        let [above, aside] = [filter[0] / 2, filter[1] / 2];
        for (end, beside) in [(SYMMETRIC, 0), (MIRROR, 1)] {
            let found = |size, boundaries| Tilings::found(module, size, filter, boundaries, 9, MEASURED).is_some();
            for ends in [[end; 2], [CONSTANT, end], [end, REPLICATE]] {
                let [along_rows, along_columns] = [[ends, [CONSTANT; 2]], [[CIRCULAR; 2], ends]];
                let (rows, columns) = (above + beside, aside + beside);
                assert!(found([rows, 40, 1], along_rows), "{}", module.name);
                assert!(found([40, columns, 1], along_columns), "{}", module.name);
                assert!(rows < 2 || !found([rows - 1, 40, 1], along_rows), "{}", module.name);
                assert!(columns < 2 || !found([40, columns - 1, 1], along_columns), "{}", module.name);
                assert!(columns < 2 || found([40, columns - 1, 1], along_rows), "{}", module.name);
            }
        }
    }
}

/// The engines' tests use each module.
#[test]
fn each_module_is_chosen_for_images_of_the_tests() {
    let chosen = |boundaries, filter, size, sweeps, is_float| {
        let found = if is_float { fastest::<f32> } else { fastest::<f64> };
        found(filter, size, boundaries, sweeps, 4).map(|tilings| tilings.module.name)
    };
    for boundaries in [all(MIRROR)].into_iter().chain(MIXED) {
        let mut names = Vec::new();
        for (size, sweeps) in SMALL_IMAGES {
            for (filter, is_float) in [3, 5, 7].iter().flat_map(|&n| [([n, n, 1], false), ([n, n, 1], true)]) {
                names.extend(chosen(boundaries, filter, size, sweeps, is_float));
            }
            names.extend([false, true].iter().filter_map(|&it| chosen(boundaries, [3, 5, 1], size, sweeps, it)));
        }
        for module in &MODULES {
            assert!(names.contains(&module.name), "{} with {boundaries:?}", module.name);
        }
    }
}

const SMALL_IMAGES: [(Size, usize); 9] = include!("../../../../../tests/system/engines/small_images.in");

/// True if the kernel of `images` does these sweeps over an image, and not this one.
fn goes_to_images<T: Element>(filter: Size, size: Size, boundary: u32, sweeps: usize, on: usize) -> bool {
    goes_to_images_with::<T>(filter, size, all(boundary), sweeps, on)
}

/// True if the kernel of `images` does these sweeps over an image whose sides have boundaries of their own.
fn goes_to_images_with<T: Element>(filter: Size, size: Size, boundaries: Boundaries, sweeps: usize, on: usize) -> bool {
    let images = time_of_a_sweep::<T>(filter, size, boundaries, sweeps, on);
    images.is_some() && fastest::<T>(filter, size, boundaries, sweeps, on).is_none()
}

/// Returns the tilings that are faster than single sweeps and than images, on this number of multiprocessors.
fn fastest<T: Element>(filter: Size, size: Size, boundaries: Boundaries, sweeps: usize, on: usize) -> Option<Tilings> {
    let chip = Chip { multiprocessors: on, measured: true };
    let is_float = T::NAME == f32::NAME;
    let task = Task { is_float, size, filter, boundaries, alike: [true; 2], sweeps, chip };
    Tilings::fastest::<T>(&task, || time_of_a_sweep::<T>(filter, size, boundaries, sweeps, on))
}

/// A finished search is found again, and only for the same task.
#[test]
fn searches_are_kept() {
    let chip = Chip { multiprocessors: 77, measured: true };
    let (filter, boundaries) = ([3, 3, 1], MIXED[0]);
    let (is_float, alike) = (false, [true; 2]);
    let task = |rows| Task { is_float, size: [rows, 50, 1], filter, boundaries, alike, sweeps: 9, chip };
    let searches = Searches(Mutex::default());
    for rows in 50..50 + 2 * Searches::KEPT {
        let found = searches.get(task(rows), || Tilings::fastest::<f64>(&task(rows), || None));
        let again = searches.get(task(rows), || panic!("searched again"));
        assert_eq!(found.map(|tilings| tilings.each), again.map(|tilings| tilings.each));
        let others = [
            Task { sweeps: 1, ..task(rows) },
            Task { boundaries: MIXED[4], ..task(rows) },
            Task { alike: [false; 2], ..task(rows) },
        ];
        for other in others {
            let mut searched = false;
            searches.get(other, || {
                searched = true;
                None
            });
            assert!(searched);
        }
    }
    assert_eq!(searches.0.lock().unwrap().len(), Searches::KEPT);
}

#[test]
fn large_images_are_left_to_other_kernels() {
    for filter in OF_IMAGES {
        for boundary in 0..4 {
            let size = [8192, 8192, 1];
            assert!(goes_to_images::<f64>(filter, size, boundary, 200, 132), "{filter:?}, {boundary}");
            assert!(goes_to_images::<f32>(filter, size, boundary, 200, 132), "{filter:?}, {boundary}");
            let small = [256, 256, 1];
            assert!(!goes_to_images::<f64>(filter, small, boundary, 200, 132), "{filter:?}, {boundary}");
            assert!(!goes_to_images::<f32>(filter, small, boundary, 200, 132), "{filter:?}, {boundary}");
        }
    }
    // The preconditions of the engines' tests, with the multiprocessors of the stand-in for the driver.
    for (filter, rows, columns) in [
        ([3, 3, 1], 1200, 160),
        ([5, 5, 1], 680, 230),
        ([7, 7, 1], 680, 350),
        ([3, 5, 1], 680, 230),
        ([5, 3, 1], 1072, 160),
    ] {
        assert!(goes_to_images::<f64>(filter, [rows, columns, 1], 0, 4, 4), "{filter:?}");
    }
    for (filter, boundary, [rows, columns], sweeps) in IN_DOUBLE {
        assert!(goes_to_images::<f64>(filter, [rows, columns, 1], boundary, sweeps, 4), "{filter:?}, {boundary}");
    }
    for (filter, boundary, [rows, columns], sweeps) in IN_SINGLE {
        assert!(goes_to_images::<f32>(filter, [rows, columns, 1], boundary, sweeps, 4), "{filter:?}, {boundary}");
    }
}

/// The arrays of the engines' test of sides go to the kernel over images, whatever their boundaries.
#[test]
fn images_of_the_test_of_sides_are_left_to_other_kernels() {
    for (in_double, filter, size, sweeps) in SIDES_IN_IMAGES {
        for boundaries in all_boundaries().filter(|_| filter[2] == 1) {
            let goes = if in_double { goes_to_images_with::<f64> } else { goes_to_images_with::<f32> };
            assert!(goes(filter, size, boundaries, sweeps, 4), "{size:?} by {filter:?}, {boundaries:?}, {in_double}");
        }
    }
}

const SIDES_IN_IMAGES: [(bool, Size, Size, usize); 30] =
    include!("../../../../../tests/system/engines/sides_in_images.in");

/// Filters of the kernel of `images`.
const OF_IMAGES: [Size; 9] =
    [[3, 3, 1], [5, 5, 1], [7, 7, 1], [3, 5, 1], [5, 3, 1], [3, 7, 1], [7, 3, 1], [5, 7, 1], [7, 5, 1]];

/// A filter, a boundary, the rows and columns of an image, and the number of sweeps.
type Case = (Size, u32, [usize; 2], usize);

const IN_DOUBLE: [Case; 36] = [
    ([3, 3, 1], 0, [1200, 160], 8),
    ([3, 3, 1], 1, [1201, 161], 8),
    ([3, 3, 1], 2, [1200, 160], 9),
    ([3, 3, 1], 3, [1282, 350], 8),
    ([5, 5, 1], 0, [544, 160], 4),
    ([5, 5, 1], 1, [737, 230], 4),
    ([5, 5, 1], 2, [736, 230], 8),
    ([5, 5, 1], 3, [896, 160], 4),
    ([7, 7, 1], 0, [352, 500], 4),
    ([7, 7, 1], 1, [352, 500], 4),
    ([7, 7, 1], 2, [352, 500], 4),
    ([7, 7, 1], 3, [640, 350], 4),
    ([3, 5, 1], 0, [544, 120], 4),
    ([3, 5, 1], 1, [1057, 80], 9),
    ([3, 5, 1], 2, [544, 1], 6),
    ([3, 5, 1], 3, [1193, 40], 8),
    ([5, 3, 1], 0, [544, 80], 8),
    ([5, 3, 1], 1, [721, 80], 9),
    ([5, 3, 1], 2, [545, 120], 8),
    ([5, 3, 1], 3, [1193, 40], 9),
    ([3, 7, 1], 0, [416, 160], 4),
    ([3, 7, 1], 1, [809, 80], 9),
    ([3, 7, 1], 2, [809, 80], 8),
    ([3, 7, 1], 3, [913, 80], 4),
    ([7, 3, 1], 0, [544, 80], 8),
    ([7, 3, 1], 1, [1057, 40], 9),
    ([7, 3, 1], 2, [721, 80], 8),
    ([7, 3, 1], 3, [954, 40], 8),
    ([5, 7, 1], 0, [352, 351], 4),
    ([5, 7, 1], 1, [618, 230], 6),
    ([5, 7, 1], 2, [618, 230], 8),
    ([5, 7, 1], 3, [618, 230], 9),
    ([7, 5, 1], 0, [480, 230], 4),
    ([7, 5, 1], 1, [933, 120], 6),
    ([7, 5, 1], 2, [842, 160], 8),
    ([7, 5, 1], 3, [842, 160], 9),
];

const IN_SINGLE: [Case; 36] = [
    ([3, 5, 1], 0, [768, 120], 4),
    ([3, 5, 1], 1, [1057, 120], 9),
    ([3, 5, 1], 2, [1405, 80], 4),
    ([3, 5, 1], 3, [1193, 80], 8),
    ([5, 3, 1], 0, [896, 80], 8),
    ([5, 3, 1], 1, [1057, 80], 9),
    ([5, 3, 1], 2, [1193, 80], 8),
    ([5, 3, 1], 3, [1405, 40], 9),
    ([3, 7, 1], 0, [768, 160], 4),
    ([3, 7, 1], 1, [1247, 120], 9),
    ([3, 7, 1], 2, [1247, 120], 8),
    ([3, 7, 1], 3, [896, 120], 4),
    ([7, 3, 1], 0, [896, 80], 8),
    ([7, 3, 1], 1, [1057, 80], 9),
    ([7, 3, 1], 2, [896, 80], 8),
    ([7, 3, 1], 3, [1247, 80], 8),
    ([5, 7, 1], 0, [768, 120], 4),
    ([5, 7, 1], 1, [768, 120], 6),
    ([5, 7, 1], 2, [1247, 80], 8),
    ([5, 7, 1], 3, [1405, 80], 9),
    ([7, 5, 1], 0, [768, 120], 4),
    ([7, 5, 1], 1, [1057, 80], 6),
    ([7, 5, 1], 2, [1247, 80], 8),
    ([7, 5, 1], 3, [897, 80], 9),
    ([3, 3, 1], 0, [768, 230], 8),
    ([3, 3, 1], 1, [1193, 120], 9),
    ([3, 3, 1], 2, [1057, 160], 8),
    ([3, 3, 1], 3, [1247, 120], 8),
    ([5, 5, 1], 0, [768, 230], 8),
    ([5, 5, 1], 1, [1193, 120], 9),
    ([5, 5, 1], 2, [1057, 160], 8),
    ([5, 5, 1], 3, [1247, 120], 8),
    ([7, 7, 1], 0, [768, 350], 8),
    ([7, 7, 1], 1, [1193, 230], 9),
    ([7, 7, 1], 2, [1193, 230], 8),
    ([7, 7, 1], 3, [1405, 160], 8),
];
