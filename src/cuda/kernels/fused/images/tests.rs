//! Tests of the choice and the layouts of launches over images, and of the routes of the engines' tests.

use super::choose::{Candidate, Candidates, candidates, is_plain, is_star};
use super::layout::{
    Division, LaunchLayout, MAX_SHARED_BYTES, MAX_STRIPS_OF_A_LINE, SHARED_BYTES, SHARED_BYTES_BESIDE,
};
use super::table::{LANES, MODULES, ModuleSpec};
use super::view::{Around, View};
use crate::cuda::Element;
use crate::cuda::arguments::{CIRCULAR, CONSTANT, EndsArgument, MIRROR, REPLICATE, SYMMETRIC};
use crate::cuda::kernels::exact::underflow_limit;
use crate::partition::Size;
use crate::stencil::{Boundary, Ends, Sides};

/// Boundaries of rows, or columns: each one at both ends, and pairs of different ones.
const ENDS: [[u32; 2]; 10] = [
    [CONSTANT; 2],
    [REPLICATE; 2],
    [SYMMETRIC; 2],
    [CIRCULAR; 2],
    [MIRROR; 2],
    [CONSTANT, MIRROR],
    [MIRROR, CONSTANT],
    [REPLICATE, MIRROR],
    [MIRROR, SYMMETRIC],
    [SYMMETRIC, CONSTANT],
];

/// Boundaries at the ends of the rows, and of the columns.
type Beyond = [[u32; 2]; 2];

/// Returns all pairs of those, rows first.
fn beyonds() -> impl Iterator<Item = Beyond> {
    ENDS.into_iter().flat_map(|rows| ENDS.map(|columns| [rows, columns]))
}

/// Returns the boundaries of a view, with these numbers as constants: above, below, before and behind.
fn around_with(view: &View, beyond: Beyond, numbers: [f64; 4]) -> Around {
    let [above, below, before, behind] = numbers;
    let ends = |value, boundary| EndsArgument { value, boundary };
    Around::new(view, [ends([above, below], beyond[0]), ends([before, behind], beyond[1])])
}

/// Returns the boundaries of a view, where all constants are zeros.
fn around(view: &View, beyond: Beyond) -> Around {
    around_with(view, beyond, [0.0; 4])
}

/// Returns the module of blocks of four warps for a filter of this size, and one boundary.
fn of_four<T: Element>(filter: [usize; 2]) -> &'static ModuleSpec {
    ModuleSpec::all_of::<T>(filter, false).find(|spec| !is_of_eight(spec)).unwrap()
}

/// Returns the view of images in their order in memory.
fn of_images(size: Size, [height, width]: [usize; 2]) -> View {
    View::of(size, [height, width, 1]).unwrap()
}

/// Each output of a view is one of the array, and its neighbours in the view are those under the filter.
#[test]
fn views_have_the_array_and_its_neighbours() {
    for size in [[5, 7, 3], [1, 4, 6], [8, 1, 2], [3, 2, 1]] {
        for filter in [[3, 3, 1], [3, 7, 1], [5, 1, 3], [7, 1, 7]] {
            let view = View::of(size, filter).unwrap();
            let [rows, columns, images] = view.size;
            let of_view = |[row, column, image]: [usize; 3]| image * view.image_step + column * view.column_step + row;
            let mut taken = vec![0; size.iter().product()];
            for image in 0..images {
                for (column, row) in (0..columns).flat_map(|column| (0..rows).map(move |row| (column, row))) {
                    let at = of_view([row, column, image]);
                    taken[at] += 1;
                    let place = [at % size[0], at / size[0] % size[1], at / (size[0] * size[1])];
                    assert_eq!([row, rows], [place[0], size[0]], "{view:?} of {size:?}");
                    assert_eq!([column, columns], [place[view.across], size[view.across]], "{view:?} of {size:?}");
                }
            }
            assert!(taken.iter().all(|&count| count == 1), "{view:?} of {size:?}");
            assert_eq!(view.across, if filter[2] > 1 { 2 } else { 1 }, "{view:?}");
            assert_eq!(view.filter, [filter[0], filter[view.across]], "{view:?}");
            assert!([view.column_step, view.image_step].iter().all(|step| step % size[0] == 0));
        }
    }
    for filter in [[3, 3, 3], [1, 3, 3], [3, 1, 1], [1, 3, 1], [1, 1, 3], [1, 1, 1]] {
        assert_eq!(View::of([100; 3], filter), None);
    }
}

/// The view's rows have the ends of the first dimension, its columns those of their dimension; a mirror of a single
/// column is replaced by another boundary with the same results.
#[test]
fn views_have_the_sides_of_the_array() {
    let constant = Boundary::Constant;
    let ends = |low, high| Ends::new(low, high).unwrap();
    let of_rows = ends(constant(1.0), Boundary::Mirror);
    let of_columns = ends(Boundary::Replicate, constant(2.0));
    let of_pages = ends(Boundary::Mirror, constant(3.0));
    let sides = Sides::from([of_rows, of_columns, of_pages]);
    let found = |size, filter| {
        let view = View::of(size, filter).unwrap();
        let around = Around::new(&view, [sides[0], sides[view.across]].map(EndsArgument::new));
        assert!(around.own_sides);
        [around.rows, around.columns].map(|ends| (ends.boundary, ends.value))
    };
    let (rows, columns) = (([CONSTANT, MIRROR], [1.0, 0.0]), ([REPLICATE, CONSTANT], [0.0, 2.0]));
    let pages = ([MIRROR, CONSTANT], [0.0, 3.0]);
    assert_eq!(found([50, 60, 7], [3, 5, 1]), [rows, columns]);
    assert_eq!(found([50, 60, 7], [3, 1, 5]), [rows, pages]);
    assert_eq!(found([50, 60, 1], [3, 1, 5]), [rows, ([REPLICATE, CONSTANT], [0.0, 3.0])]);
}

/// The module for one boundary is for that alone: the same number beyond all sides, and no mirror.
#[test]
fn one_boundary_needs_no_sides_of_its_own() {
    let own = |columns, beyond, numbers| around_with(&of_images([50, columns, 1], [3, 5]), beyond, numbers).own_sides;
    for boundary in [CONSTANT, REPLICATE, SYMMETRIC, CIRCULAR] {
        for numbers in [[0.5; 4], [0.0; 4], [f64::NAN; 4]] {
            assert!(!own(60, [[boundary; 2]; 2], numbers), "{boundary}");
        }
        // Constants with different numbers are different boundaries.
        for differs in 0..4 {
            let mut numbers = [0.0; 4];
            numbers[differs] = -0.0;
            assert_eq!(own(60, [[boundary; 2]; 2], numbers), boundary == CONSTANT, "{boundary}");
        }
        assert!(own(60, [[boundary; 2], [MIRROR; 2]], [0.0; 4]), "{boundary}");
        assert!(own(60, [[MIRROR, REPLICATE], [boundary; 2]], [0.0; 4]), "{boundary}");
    }
    for beyond in [[[MIRROR; 2]; 2], [[REPLICATE, SYMMETRIC]; 2], [[REPLICATE; 2], [CIRCULAR; 2]]] {
        assert!(own(60, beyond, [0.0; 4]), "{beyond:?}");
    }
    assert!(!own(1, [[REPLICATE; 2], [MIRROR; 2]], [0.0; 4]));
}

#[test]
fn constants_are_plain_unless_they_underflow() {
    let limit = underflow_limit(&[1.0 / 49.0], 1);
    for value in [0.0, -0.0, 1.0, -3.5e-200, f64::MAX] {
        assert!(is_plain::<f64>(value, limit), "{value}");
    }
    for value in [f64::NAN, f64::INFINITY, 5e-324, -1e-310] {
        assert!(!is_plain::<f64>(value, limit), "{value}");
    }
}

/// Segments at an edge, if there is one, are shorter by the warps' extra time, and only by a part of their length.
#[test]
fn edges_are_counted_as_columns() {
    let edge = |spec: &ModuleSpec, boundary, warps, columns| {
        let around = around(&of_images([8192, 8192, 1], spec.filter), [[boundary; 2]; 2]);
        spec.edge_columns_of(&around, warps, columns)
    };
    let (float, star, double) =
        (of_four::<f32>([3, 3]), ModuleSpec::for_stars::<f32>([3, 3]).unwrap(), of_four::<f64>([3, 3]));
    for boundary in [CONSTANT, REPLICATE, SYMMETRIC, MIRROR] {
        assert_eq!([4, 1].map(|warps| edge(float, boundary, warps, 341)), [24, 6]);
        assert_eq!(edge(star, boundary, 8, 585), 40);
        assert_eq!([32, 1].map(|columns| edge(float, boundary, 4, columns)), [18, 0]);
        assert_eq!(edge(double, boundary, 4, 341), 0);
    }
    // At a periodic edge the warps have no extra work.
    assert_eq!([float, star, double].map(|spec| edge(spec, CIRCULAR, 4, 341)), [6, 5, 0]);
    assert_eq!([1, 8].map(|warps| edge(star, CIRCULAR, warps, 5)), [2; 2]);
}

/// The reach of a filter along one dimension does not depend on the other.
#[test]
fn rows_and_columns_reach_as_far_as_their_own_entries() {
    let spec = |filter: [usize; 2]| of_four::<f64>(filter);
    let depth = |filter, columns| {
        let around = around(&of_images([8192, 8192, 1], filter), [[REPLICATE; 2], columns]);
        spec(filter).depth(&around)
    };
    let of = |filter, boundary| (spec(filter).reach(4), depth(filter, [boundary; 2]));
    assert_eq!(of([7, 3], SYMMETRIC), ([24, 8], 2));
    assert_eq!(of([3, 7], SYMMETRIC), ([4, 12], 4));
    assert_eq!(of([3, 7], REPLICATE), ([4, 12], 2));
    // A mirror shows a column more, and one before the first is taken while the next one comes.
    assert_eq!((of([7, 3], MIRROR), of([3, 7], MIRROR)), (([24, 8], 3), ([4, 12], 5)));
    let depths = [[SYMMETRIC, CONSTANT], [CONSTANT, SYMMETRIC], [MIRROR, REPLICATE], [CONSTANT, MIRROR]];
    assert_eq!(depths.map(|ends| depth([3, 7], ends)), [4, 3, 5, 4]);
    // 8192 rows in strips of 544 less 24 on either side, and of 416 less 4.
    let strips = |filter| {
        let around = around(&of_images([8192, 8192, 1], filter), [[CONSTANT; 2]; 2]);
        spec(filter).strips(8192, &around, 4)
    };
    assert_eq!([strips([7, 3]), strips([3, 7])], [Some((17, LANES)), Some((21, LANES))]);
}

/// Returns the time of each of these sweeps over an array, in microseconds; `None` if single sweeps are faster.
pub(in crate::cuda::kernels::fused) fn time_of_a_sweep<T: Element>(
    filter: Size,
    size: Size,
    beyond: Beyond,
    sweeps: usize,
    multiprocessors: usize,
) -> Option<f64> {
    let view = View::of(size, filter)?;
    Candidates::new::<T>(view, around(&view, beyond), None, sweeps, multiprocessors)?.time_by_any_filter(sweeps)
}

/// Preconditions of the engines' tests, with the multiprocessors of the stand-in for the driver: all these arrays go to
/// this kernel, whatever their boundaries.
#[test]
fn the_tests_of_sides_are_for_this_kernel() {
    for (in_double, filter, size, sweeps) in IN_IMAGES {
        for beyond in beyonds() {
            let time = if in_double {
                time_of_a_sweep::<f64>(filter, size, beyond, sweeps, 4)
            } else {
                time_of_a_sweep::<f32>(filter, size, beyond, sweeps, 4)
            };
            assert!(time.is_some(), "{size:?} by {filter:?}, {beyond:?}");
        }
    }
}

/// True for double, a filter, the size of an array, and the number of sweeps.
const IN_IMAGES: [(bool, Size, Size, usize); 30] = include!("../../../../../tests/system/engines/sides_in_images.in");

/// The cases of the engines' tests of eight warps go to the modules whose blocks have eight.
#[test]
fn the_tests_of_eight_warps_are_for_these_modules() {
    let boundaries = [CONSTANT, REPLICATE, SYMMETRIC, CIRCULAR];
    let mut lines = [0, 0];
    for (_, boundary, filter, size, sweeps) in BY_EIGHT {
        let view = View::of(size, filter).unwrap();
        let candidate =
            fastest_for::<f64>(&view, &around(&view, [[boundaries[boundary]; 2]; 2]), false, sweeps, 4).unwrap();
        assert!(is_of_eight(candidate.spec), "{size:?} by {filter:?}, {boundary}: {candidate:?}");
        if let Division::Line { .. } = candidate.layout.division {
            // Columns and strips that begin at multiples of 16 bytes, and others.
            lines[size[0] % 2] += 1;
        }
    }
    assert!(lines.iter().all(|&count| count > 2), "{lines:?}");
}

fn is_of_eight(spec: &ModuleSpec) -> bool {
    spec.warps == 8 && !spec.is_star
}

/// Returns the fastest candidate by any filter of a view's size, or by a star.
fn fastest_for<T: Element>(
    view: &View,
    around: &Around,
    by_star: bool,
    sweeps: usize,
    multiprocessors: usize,
) -> Option<Candidate> {
    let star = ModuleSpec::for_stars::<T>(view.filter).filter(|_| by_star);
    Candidates::new::<T>(*view, *around, star, sweeps, multiprocessors)?.fastest(sweeps).copied()
}

/// True for double, the index of the boundary, a filter, the size of an array, and the number of sweeps.
const BY_EIGHT: [(bool, usize, Size, Size, usize); 24] =
    include!("../../../../../tests/system/engines/images_by_eight.in");

/// Eight warps do many sweeps over large images, and four do a few.
#[test]
fn eight_warps_are_for_many_sweeps() {
    let of_eight: Vec<_> = MODULES.iter().filter(|spec| is_of_eight(spec)).map(|spec| spec.filter).collect();
    assert_eq!(of_eight.len(), 5);
    for filter in of_eight {
        let view = of_images([8192, 8192, 1], filter);
        let around = around(&view, [[CIRCULAR; 2]; 2]);
        let by_eight = |sweeps| is_of_eight(fastest_for::<f64>(&view, &around, false, sweeps, 132).unwrap().spec);
        let warp_sweeps = if filter == [3, 3] { 2 } else { 1 };
        assert!([200, 8 * warp_sweeps].into_iter().all(by_eight), "{filter:?}");
        assert!(![4 * warp_sweeps, 3].into_iter().any(by_eight), "{filter:?}");
    }
}

/// The cases of the engines' tests of stars go to the kernel for stars, with the multiprocessors of the stand-in.
#[test]
fn the_tests_of_stars_are_for_this_kernel() {
    let boundaries = [CONSTANT, REPLICATE, SYMMETRIC, CIRCULAR];
    for (in_double, boundary, filter, size, sweeps) in STARS_OF_IMAGES {
        let view = View::of(size, filter).unwrap();
        let around = around(&view, [[boundaries[boundary]; 2]; 2]);
        let fastest_for = if in_double { fastest_for::<f64> } else { fastest_for::<f32> };
        let candidate = fastest_for(&view, &around, true, sweeps, 4).unwrap();
        assert!(candidate.spec.is_star, "{size:?} by {filter:?}, {boundary}: {candidate:?}");
    }
}

/// True for double, the index of the boundary, a star's size, that of an array, and the number of sweeps.
const STARS_OF_IMAGES: [(bool, usize, Size, Size, usize); 17] =
    include!("../../../../../tests/system/engines/stars.in");

#[test]
fn a_star_is_zero_beside_its_middle() {
    let at = |n: usize| {
        let mut entries = [0.0, 1.0, -0.0, 1.0, 2.0, f64::NAN, 0.0, 0.0, 0.0];
        entries[n] = 3.0;
        is_star(&entries, [3, 3])
    };
    assert_eq!([0, 1, 2, 3, 4, 5, 6, 7, 8].map(at), [false, true, false, true, true, true, false, true, false]);
    let mut entries = [0.0_f32; 25];
    entries[10..15].fill(1.0);
    entries.iter_mut().skip(2).step_by(5).for_each(|entry| *entry = 1.0);
    assert!(is_star(&entries, [5, 5]));
    entries[11 + 5] = f32::NAN;
    assert!(!is_star(&entries, [5, 5]));
}

/// Each launch meets the kernel's preconditions, whatever the array.
#[test]
fn layouts_are_what_the_kernel_can_do() {
    let mut found = 0;
    for spec in &MODULES {
        for rows in [1, 12, 13, 20, 21, 36, 44, 100, 500, 671, 672, 673, 1344, 8192, 1 << 20] {
            for columns in [1, 2, 7, 100, 8192] {
                for pages in [1, 3, 100] {
                    for (number, beyond) in beyonds().enumerate() {
                        for sweeps in [2, 3, 4, 7, 200] {
                            if beyond[0] != beyond[1] && (number + rows + sweeps) % 7 != 0 {
                                continue;
                            }
                            let size = [rows, columns, pages];
                            let view = of_images(size, spec.filter);
                            let around = around(&view, beyond);
                            if spec.own_sides != around.own_sides {
                                continue;
                            }
                            for candidate in candidates(spec, &view, &around, sweeps, 132) {
                                found += 1;
                                check(spec, &candidate.layout, view.size, &around, sweeps);
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(found > 1000, "{found}");
}

fn check(spec: &ModuleSpec, layout: &LaunchLayout, [rows, columns, pages]: Size, around: &Around, sweeps: usize) {
    let what = format!("{layout:?} for {rows} x {columns}, {around:?}");
    let [of_rows, of_columns] = [around.rows, around.columns].map(|ends| ends.boundary);
    let (height, [reach, _]) = (layout.lanes * spec.lane_rows, spec.reach(layout.warps));
    assert!((1..=LANES).contains(&layout.lanes) && height <= rows, "{what}");
    assert!((1..=spec.warps).contains(&layout.warps) && layout.warps * spec.warp_sweeps <= sweeps, "{what}");
    match layout.division {
        Division::Segments { count, long_share_256, edge_columns } => {
            assert!((1..=columns).contains(&count), "{what}");
            assert!(16 * edge_columns * count <= 9 * columns, "{what}");
            assert!(long_share_256 == 0 || (count.is_multiple_of(2) && long_share_256 < 256), "{what}");
        }
        Division::Line { parts } => {
            let strips = layout.strips * pages;
            assert!(spec.has_producer && (2..=parts.min(MAX_STRIPS_OF_A_LINE)).contains(&strips), "{what}");
            // The last part, which is as long as the others, begins in the line.
            let whole = spec.columns_of_line(strips, columns, layout.warps);
            assert!((parts - 1) * whole.div_ceil(parts) < whole, "{what}");
        }
    }
    assert!(layout.depth >= 2 && layout.shared_bytes <= MAX_SHARED_BYTES, "{what}");
    // The rings hold the samples that a boundary refers to, and behind them there is a column for each constant.
    let mut constants = of_columns.iter().filter(|&&end| end == CONSTANT).count();
    if !around.own_sides {
        constants = constants.min(1);
    }
    let all = layout.warps * layout.depth + spec.load_lead - 1 + layout.depth_behind_last + constants;
    assert!(layout.shared_bytes >= all * spec.pitch * spec.element_bytes(), "{what}");
    let shows = |end| spec.radius()[1] + usize::from(of_columns[end] == MIRROR);
    let repeats = |end: usize| matches!(of_columns[end], SYMMETRIC | MIRROR);
    assert!(!repeats(0) || layout.depth > shows(0) + 2 * spec.slots_ahead, "{what}");
    assert!(!repeats(1) || layout.depth >= shows(1) + 2 * spec.slots_ahead, "{what}");
    assert!((2 + 2 * spec.slots_ahead..=layout.depth).contains(&layout.depth_behind_last), "{what}");
    assert!(around.own_sides || layout.depth_behind_last == layout.depth, "{what}");
    assert!(columns > 1 || !of_columns.contains(&MIRROR), "{what}");
    assert!(layout.lanes > 1 || of_rows[0] == of_rows[1], "{what}");
    // Strips reach from edge to edge.
    let step = height as isize - 2 * reach as isize;
    let all = layout.strips as isize * step;
    let covered = if of_rows[0] == CIRCULAR { all } else { all + 2 * reach as isize };
    assert!(covered >= rows as isize, "{what}");
}

#[test]
fn large_images_do_as_many_sweeps_a_launch_as_there_are_warps_for() {
    for spec in &MODULES {
        for beyond in beyonds() {
            let view = of_images([8192, 8192, 1], spec.filter);
            let around = around(&view, beyond);
            if spec.own_sides != around.own_sides {
                continue;
            }
            let candidates = candidates(spec, &view, &around, 200, 132);
            let layout = candidates.iter().min_by(|a, b| a.time.total_cmp(&b.time)).unwrap().layout;
            // The samples that a mirror of 3 x 5 refers to fill a warp's ring.
            let most = spec.warps
                - usize::from(spec.name == "sweeps_images_eight_double_03x05" && beyond[1] == [SYMMETRIC; 2]);
            assert_eq!(layout.warps, most, "{:?}, {beyond:?}: {layout:?}", spec.name);
            // Memory does not limit the number of blocks.
            let room = SHARED_BYTES / (layout.shared_bytes + SHARED_BYTES_BESIDE);
            assert!(room >= spec.blocks, "{:?}, {beyond:?}: {layout:?}", spec.name);
        }
    }
}
