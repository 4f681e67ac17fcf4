//! Sweeps over images on the CUDA engine: which kernel takes them, and that its results are right.

use stencil_mex::cuda::Cuda;
use stencil_mex::platform::watch::Watch;
use stencil_mex::stencil::{Arrays, Boundary, Compute, Convolution, Error, Sides, Source, Target};

use super::checks::{
    KINDS, ManySweeps, Outcome, check_awkward, check_many, filter, kernel_of_filter, ordinary, sides, size_of_module,
    tame,
};
use super::small_images::launches_of;
use crate::common::ends::array_with;
use crate::common::{self, StandIn, selection};

/// A boundary, the filter's size, that of an image, and sweeps.
type Chosen = (Boundary<f64>, [usize; 2], [usize; 2], usize);

/// Images that the kernel of `sweeps_images` is chosen for on the stand-in's few multiprocessors, where others are done
/// in tiles: the first 36 in double, the others in single. Each is checked in both classes.
const CHOSEN: [Chosen; 72] = [
    // in double
    (KINDS[0], [3, 3], [1200, 160], 8),
    (KINDS[1], [3, 3], [1201, 161], 8),
    (KINDS[2], [3, 3], [1200, 160], 9),
    (KINDS[3], [3, 3], [1282, 350], 8),
    (KINDS[0], [5, 5], [544, 160], 4),
    (KINDS[1], [5, 5], [737, 230], 4),
    (KINDS[2], [5, 5], [736, 230], 8),
    (KINDS[3], [5, 5], [896, 160], 4),
    (KINDS[0], [7, 7], [352, 500], 4),
    (KINDS[1], [7, 7], [352, 500], 4),
    (KINDS[2], [7, 7], [352, 500], 4),
    (KINDS[3], [7, 7], [640, 350], 4),
    (KINDS[0], [3, 5], [544, 120], 4),
    (KINDS[1], [3, 5], [1057, 80], 9),
    (KINDS[2], [3, 5], [544, 1], 6),
    (KINDS[3], [3, 5], [1193, 40], 8),
    (KINDS[0], [5, 3], [544, 80], 8),
    (KINDS[1], [5, 3], [721, 80], 9),
    (KINDS[2], [5, 3], [545, 120], 8),
    (KINDS[3], [5, 3], [1193, 40], 9),
    (KINDS[0], [3, 7], [416, 160], 4),
    (KINDS[1], [3, 7], [809, 80], 9),
    (KINDS[2], [3, 7], [809, 80], 8),
    (KINDS[3], [3, 7], [913, 80], 4),
    (KINDS[0], [7, 3], [544, 80], 8),
    (KINDS[1], [7, 3], [1057, 40], 9),
    (KINDS[2], [7, 3], [721, 80], 8),
    (KINDS[3], [7, 3], [954, 40], 8),
    (KINDS[0], [5, 7], [352, 351], 4),
    (KINDS[1], [5, 7], [618, 230], 6),
    (KINDS[2], [5, 7], [618, 230], 8),
    (KINDS[3], [5, 7], [618, 230], 9),
    (KINDS[0], [7, 5], [480, 230], 4),
    (KINDS[1], [7, 5], [933, 120], 6),
    (KINDS[2], [7, 5], [842, 160], 8),
    (KINDS[3], [7, 5], [842, 160], 9),
    // in single
    (KINDS[0], [3, 5], [768, 120], 4),
    (KINDS[1], [3, 5], [1057, 120], 9),
    (KINDS[2], [3, 5], [1405, 80], 4),
    (KINDS[3], [3, 5], [1193, 80], 8),
    (KINDS[0], [5, 3], [896, 80], 8),
    (KINDS[1], [5, 3], [1057, 80], 9),
    (KINDS[2], [5, 3], [1193, 80], 8),
    (KINDS[3], [5, 3], [1405, 40], 9),
    (KINDS[0], [3, 7], [768, 160], 4),
    (KINDS[1], [3, 7], [1247, 120], 9),
    (KINDS[2], [3, 7], [1247, 120], 8),
    (KINDS[3], [3, 7], [896, 120], 4),
    (KINDS[0], [7, 3], [896, 80], 8),
    (KINDS[1], [7, 3], [1057, 80], 9),
    (KINDS[2], [7, 3], [896, 80], 8),
    (KINDS[3], [7, 3], [1247, 80], 8),
    (KINDS[0], [5, 7], [768, 120], 4),
    (KINDS[1], [5, 7], [768, 120], 6),
    (KINDS[2], [5, 7], [1247, 80], 8),
    (KINDS[3], [5, 7], [1405, 80], 9),
    (KINDS[0], [7, 5], [768, 120], 4),
    (KINDS[1], [7, 5], [1057, 80], 6),
    (KINDS[2], [7, 5], [1247, 80], 8),
    (KINDS[3], [7, 5], [897, 80], 9),
    (KINDS[0], [3, 3], [768, 230], 8),
    (KINDS[1], [3, 3], [1193, 120], 9),
    (KINDS[2], [3, 3], [1057, 160], 8),
    (KINDS[3], [3, 3], [1247, 120], 8),
    (KINDS[0], [5, 5], [768, 230], 8),
    (KINDS[1], [5, 5], [1193, 120], 9),
    (KINDS[2], [5, 5], [1057, 160], 8),
    (KINDS[3], [5, 5], [1247, 120], 8),
    (KINDS[0], [7, 7], [768, 350], 8),
    (KINDS[1], [7, 7], [1193, 230], 9),
    (KINDS[2], [7, 7], [1193, 230], 8),
    (KINDS[3], [7, 7], [1405, 160], 8),
];

/// Sweeps over images around the sizes of strips, of a lane's rows and of a warp's, for more sweeps and fewer than a
/// launch does; with samples here and there that spread or fade away.
pub fn sweeps_of_images(cuda: Cuda) -> Outcome {
    let slow = StandIn::find().is_some();
    let mut number = 0;
    // A filter's size, and the rows that a lane holds in double and in single.
    for (size_of_filter, lanes) in [
        ([3, 3], [19, 24]),
        ([5, 5], [17, 24]),
        ([7, 7], [11, 24]),
        ([3, 5], [17, 24]),
        ([5, 3], [17, 28]),
        ([3, 7], [13, 24]),
        ([7, 3], [17, 28]),
        ([5, 7], [11, 24]),
        ([7, 5], [15, 24]),
    ] {
        for boundary in KINDS {
            for lane in lanes {
                for rows in [lane - 1, lane, 2 * lane + 1, 9 * lane + 4, 32 * lane, 32 * lane + 2, 70 * lane + 3] {
                    for (columns, sweeps) in [(1, 3), (2, 8), (3, 9), (5, 8), (19, 2), (40, 16), (230, 7)] {
                        number += 1;
                        // The reference takes its time, and so does the stand-in for the driver.
                        let (share, most) = if slow { (29, 100_000) } else { (5, 150_000) };
                        if number % share != 0 || rows * columns > most {
                            continue;
                        }
                        check_sweeps_of_images(&cuda, size_of_filter, [rows, columns], boundary, sweeps, number)?;
                    }
                }
            }
        }
    }
    for (number, (boundary, size_of_filter, size, sweeps)) in CHOSEN.into_iter().enumerate() {
        let check = || check_sweeps_of_images(&cuda, size_of_filter, size, boundary, sweeps, number * 2);
        let [rows, columns] = size_of_filter;
        let in_double = number < 36;
        let size_of_module = size_of_module(&cuda, (in_double, size_of_filter));
        let features: [&dyn std::fmt::Debug; 4] =
            [&in_double, &kernel_of_filter([rows, columns, 1]), &size_of_module, &boundary];
        if selection::takes(&format!("{boundary:?} {size_of_filter:?} {size:?}"), &features) {
            selection::forced(check)?;
        }
    }
    Ok(())
}

/// Sweeps over one image or two with awkward samples, in both classes.
fn check_sweeps_of_images(
    cuda: &Cuda,
    [height, width]: [usize; 2],
    [rows, columns]: [usize; 2],
    boundary: impl Into<Sides<f64>>,
    sweeps: usize,
    number: usize,
) -> Outcome {
    check_awkward(cuda, [height, width, 1], [rows, columns, 1 + number % 2], boundary, sweeps, number)
}

/// Arrays and sweeps that go to blocks of eight warps on the stand-in's few multiprocessors.
const BY_EIGHT: [ManySweeps; 24] = include!("images_by_eight.in");

/// Arrays and sweeps that go to blocks of eight warps on an H200.
const BY_EIGHT_OF_MANY: [ManySweeps; 6] = [
    (true, 0, [3, 3, 1], [4001, 4003, 1], 41),
    (true, 3, [3, 3, 1], [4100, 4096, 1], 60),
    (true, 2, [3, 5, 1], [3001, 5003, 1], 25),
    (true, 1, [3, 7, 1], [4096, 4001, 1], 17),
    (true, 3, [5, 5, 1], [4096, 4000, 1], 33),
    (true, 2, [5, 7, 1], [4097, 4003, 1], 19),
];

/// Many sweeps by blocks of eight warps, with awkward samples.
pub fn sweeps_of_images_by_eight_warps(cuda: Cuda) -> Outcome {
    check_many(&cuda, "sweeps_images_eight_", &BY_EIGHT, &BY_EIGHT_OF_MANY)
}

/// The filters with which four sweeps over an image or a volume on the device are fewer launches: among the kernels for
/// these filters, only those that fuse sweeps ask for more shared memory than every chip has. The images are those of
/// `large_images_are_left_to_other_kernels` in `src/cuda/kernels/fused/tiles/tests.rs`.
pub fn done_at_once(cuda: &Cuda, stand_in: StandIn) -> Result<Vec<[usize; 3]>, String> {
    let show = |error: Error| error.to_string();
    let mut found = Vec::new();
    for (size_of_filter, size) in [
        ([3, 3, 1], [1200, 160, 1]),
        ([5, 5, 1], [680, 230, 1]),
        ([7, 7, 1], [680, 350, 1]),
        ([3, 5, 1], [680, 230, 1]),
        ([5, 3, 1], [1072, 160, 1]),
        ([1, 1, 1], [672, 230, 1]),
        ([9, 9, 1], [672, 230, 1]),
        ([3, 3, 3], [96, 60, 40]),
        ([3, 3, 3], [95, 60, 40]),
        ([1, 3, 3], [96, 60, 40]),
        ([3, 1, 3], [544, 8, 40]),
        ([5, 1, 7], [544, 8, 40]),
        ([3, 3, 5], [96, 60, 40]),
    ] {
        let count = size.iter().product();
        let from = array_with(cuda, &ordinary(count, 2)).map_err(show)?;
        let mut to = Arrays::<f64>::array(cuda, count).map_err(show)?;
        let of_filter = filter(tame(size_of_filter.iter().product(), 1), size_of_filter)?;
        let mut convolution = Convolution::new(size, of_filter).with_sweeps(4);
        if size_of_filter[1..] == [3, 3] {
            convolution = convolution.with_boundary(sides()[found.len() % 9]);
        }
        stand_in.reset();
        cuda.convolution(&convolution, Source::Array(&from), Target::Array(&mut to), &Watch::new()).map_err(show)?;
        if (0..stand_in.calls()).any(|number| stand_in.call(number).contains("FuncSetAttribute")) {
            found.push(size_of_filter);
        }
    }
    Ok(found)
}

/// Several sweeps over an image or a volume are one launch, on chips for which that was measured, and for filters of 3,
/// 5 and 7 rows and columns, or rows and pages, and for 3 x 3 x 3 and 1 x 3 x 3.
pub fn sweeps_of_images_are_done_at_once(cuda: Cuda, stand_in: StandIn) -> Outcome {
    let found = done_at_once(&cuda, stand_in)?;
    if found
        != [
            [3, 3, 1],
            [5, 5, 1],
            [7, 7, 1],
            [3, 5, 1],
            [5, 3, 1],
            [3, 3, 3],
            [3, 3, 3],
            [1, 3, 3],
            [3, 1, 3],
            [5, 1, 7],
        ]
    {
        return Err(format!("at once: {found:?}"));
    }
    // The device is slow here, so a call waits between whole launches.
    let launches = launches_of(&cuda, stand_in, [96, 160, 24], [3, 3, 3], 8)?;
    if launches != 4 {
        return Err(format!("8 sweeps over a volume: {launches} launches"));
    }
    let ended = common::child("sweep", &[("CUDA_STAND_IN_CAPABILITY", "8.9")])?;
    if !ended.status.success() || !ended.output.contains("at once: []") {
        return Err(format!("{:?}: {}", ended.status, ended.output));
    }
    Ok(())
}
