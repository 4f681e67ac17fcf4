//! Convolutions of images and volumes, and sweeps of them, on every engine.

use proptest::prelude::*;
use stencil_mex::stencil::{Boundary, Convolution, Ends, Sides};

use super::checks::{
    BOUNDARIES, KINDS, Outcome, awkward, check_convolution, check_image, check_image_sweeps, filter, is_slow, ordinary,
    run_properties, single, singles, tame,
};
use crate::common::ends::AnyEngine;

/// Every size of filter, on images smaller and larger than it and than a tile.
pub fn filters(engine: &AnyEngine) -> Outcome {
    let sizes = (1..=15).step_by(2);
    let square = sizes.clone().map(|size| [size, size, 1]);
    let oblong = sizes.flat_map(|size| [[1, size, 1], [size, 1, 1], [size, 3, 1], [5, size, 1]]);
    for (n, filter) in square.chain(oblong).enumerate() {
        for [rows, columns] in [[1, 1], [3, 2], [70, 37], [1, 200], [200, 1], [64, 32], [65, 33]] {
            check_image(engine, [rows, columns, 1], filter, n as u64)?;
        }
    }
    Ok(())
}

/// Images of all shapes, among them such that take several pieces and tasks.
pub fn images(engine: &AnyEngine) -> Outcome {
    for size in [
        [0, 5, 1],
        [5, 0, 1],
        [511, 30, 1],
        [512, 30, 1],
        [513, 30, 1],
        [1030, 9, 1],
        [2, 5000, 1],
        [5000, 2, 1],
        [400, 700, 1],
    ] {
        for filter in [[3, 3, 1], [5, 5, 1], [15, 15, 1], [1, 7, 1], [11, 3, 1]] {
            check_image(engine, size, filter, 3)?;
        }
    }
    check_image(engine, [700, 900, 1], [5, 5, 1], 4)
}

/// Volumes by filters of one page and of several.
pub fn volumes(engine: &AnyEngine) -> Outcome {
    let sizes = [[5, 4, 3], [1, 1, 9], [9, 1, 4], [1, 9, 4], [70, 33, 5], [20, 31, 40], [64, 64, 3], [3, 3, 0]];
    let filters = [
        [3, 3, 1],
        [3, 3, 3],
        [5, 5, 3],
        [5, 5, 5],
        [7, 7, 7],
        [1, 1, 7],
        [3, 5, 7],
        [7, 1, 3],
        [15, 15, 1],
        [5, 3, 1],
    ];
    for size in sizes {
        for filter in filters {
            check_image(engine, size, filter, 7)?;
        }
    }
    // An image under a filter of several pages.
    check_image(engine, [40, 30, 1], [3, 3, 3], 8)
}

/// Any image, any filter, any doubles.
pub fn convolution_properties(engine: &AnyEngine) -> Outcome {
    let size = (0..90_usize, 0..60_usize, 1..4_usize);
    let filter = prop_oneof![(0..8_usize, 0..8_usize, Just(0_usize)), (0..4_usize, 0..4_usize, 0..4_usize)];
    let strategy = (size, filter, any::<u64>());
    run_properties(60, &strategy, |((rows, columns, pages), (r, c, p), seed)| {
        check_image(engine, [rows, columns, pages], [2 * r + 1, 2 * c + 1, 2 * p + 1], seed >> 1)
    })
}

/// Every boundary on images and volumes, some smaller than the filter, and in several sweeps.
pub fn convolution_boundaries(engine: &AnyEngine) -> Outcome {
    let images = [[1, 1, 1], [2, 3, 1], [3, 2, 1], [1, 40, 1], [40, 1, 1], [31, 33, 1], [66, 18, 1]];
    let volumes = [[1, 1, 2], [2, 3, 4], [9, 2, 3], [20, 11, 5]];
    for boundary in BOUNDARIES {
        for size in images {
            for filter in [[3, 3, 1], [15, 15, 1], [1, 5, 1], [7, 1, 1], [3, 3, 5]] {
                check_image_sweeps(engine, size, filter, 5, boundary, 1)?;
            }
        }
        for size in volumes {
            for filter in [[3, 3, 1], [3, 3, 3], [7, 7, 7], [1, 1, 5], [5, 1, 3]] {
                check_image_sweeps(engine, size, filter, 6, boundary, 1)?;
            }
        }
    }
    for boundary in KINDS {
        for size in [[511, 5, 1], [513, 4, 1], [1025, 3, 1], [3000, 1, 1], [300, 90, 1], [2, 700, 3]] {
            check_image_sweeps(engine, size, [5, 3, 1], 5, boundary, 1)?;
        }
    }
    Ok(())
}

/// Filters of even sizes, and of more entries than kernels of their own are made for, over arrays that are smaller and
/// larger: each with its own boundaries on all sides, in one sweep and in several, with awkward samples here and there.
pub fn filters_of_any_size(engine: &AnyEngine) -> Outcome {
    let ends = |low, high| Ends::new(low, high).ok_or("one end is circular alone");
    let [one, two] = [1.5, -0.5].map(Boundary::Constant);
    let mut boundaries: Vec<Sides<f64>> = BOUNDARIES.into_iter().map(Sides::from).collect();
    boundaries.extend([
        Sides::from([ends(one, Boundary::Mirror)?, Boundary::Circular.into(), ends(Boundary::Symmetric, two)?]),
        Sides::from([ends(Boundary::Replicate, two)?, ends(Boundary::Mirror, one)?, Boundary::Circular.into()]),
        Sides::from([Boundary::Circular.into(), ends(two, one)?, ends(one, Boundary::Replicate)?]),
    ]);
    // Along one dimension, over lines of neighbours and over lines across.
    let lines =
        [[2, 1, 1], [1, 6, 1], [16, 1, 1], [1, 22, 1], [49, 1, 1], [1, 49, 1], [1, 1, 64], [70, 1, 1], [1, 65, 1]];
    let images = [[2, 2, 1], [4, 3, 1], [3, 8, 1], [2, 40, 1], [17, 17, 1], [31, 31, 1], [24, 18, 1]];
    let volumes = [[2, 3, 4], [1, 4, 2], [9, 9, 9], [3, 1, 30]];
    let mut number = 0;
    for (filters, sizes) in [
        (&lines[..], &[[1, 1, 1], [7, 5, 2], [130, 3, 1], [9, 70, 2], [70, 9, 3]][..]),
        (&images, &[[1, 1, 1], [6, 5, 1], [70, 40, 1], [3, 50, 2]]),
        (&volumes, &[[1, 1, 1], [4, 3, 5], [20, 9, 6]]),
    ] {
        for &of_filter in filters {
            for &size in sizes {
                // Every boundary over each filter; one after the other over arrays.
                for &boundary in boundaries.iter().skip(number % 3).step_by(3) {
                    number += 1;
                    check_any_filter(engine, size, of_filter, boundary, [1, 3][number % 2], number)?;
                }
            }
        }
    }
    // The maximal number of entries.
    for (of_filter, size) in [
        ([8191, 1, 1], [90, 2, 1]),
        ([1, 8191, 1], [3, 20, 2]),
        ([1, 1, 8190], [2, 2, 9]),
        ([4095, 2, 1], [30, 3, 1]),
        ([2, 4095, 1], [3, 30, 1]),
        ([1, 2, 4095], [2, 3, 8]),
        ([90, 91, 1], [20, 13, 1]),
    ] {
        for &boundary in boundaries.iter().skip(number % 3).step_by(3) {
            number += 1;
            check_any_filter(engine, size, of_filter, boundary, 1, number)?;
        }
    }
    Ok(())
}

/// A filter over an array with awkward samples, in both classes.
fn check_any_filter(
    engine: &AnyEngine,
    size: [usize; 3],
    of_filter: [usize; 3],
    boundary: Sides<f64>,
    sweeps: usize,
    number: usize,
) -> Outcome {
    let (input, entries) = awkward(of_filter, size, number);
    let in_single = Convolution::new(size, filter(singles(&entries), of_filter)?);
    let in_single = in_single.with_boundary(single(boundary)).with_sweeps(sweeps);
    let in_double = Convolution::new(size, filter(entries, of_filter)?).with_boundary(boundary).with_sweeps(sweeps);
    check_convolution(engine, &in_double, &input)?;
    check_convolution(engine, &in_single, &singles(&input))
}

/// Sweeps of a convolution.
pub fn convolution_sweeps(engine: &AnyEngine) -> Outcome {
    for boundary in KINDS {
        for count in [0, 2, 3, 8] {
            for (size, filter) in [
                ([1, 1, 1], [3, 3, 1]),
                ([2, 3, 1], [15, 15, 1]),
                ([40, 31, 1], [3, 3, 1]),
                ([600, 9, 1], [5, 5, 1]),
                ([8, 7, 4], [3, 3, 3]),
                ([8, 7, 4], [3, 3, 1]),
                ([4, 3, 2], [7, 7, 7]),
            ] {
                check_image_sweeps(engine, size, filter, 9, boundary, count)?;
            }
        }
    }
    check_image_sweeps(engine, [300, 200, 1], [5, 5, 1], 9, Boundary::Circular, 5)
}

/// Sweeps of a convolution over arrays around the sizes of tiles: of ordinary samples, and with such at their edges as
/// spread or fade away.
pub fn convolution_tiles(engine: &AnyEngine) -> Outcome {
    let slow = is_slow(engine);
    for boundary in KINDS {
        for (size, filter_size, sweeps) in [
            ([511, 13, 1], [3, 3, 1], 15),
            ([512, 6, 1], [3, 3, 1], 16),
            ([513, 25, 1], [3, 3, 1], 17),
            ([1025, 7, 1], [3, 3, 1], 33),
            ([521, 18, 1], [7, 7, 1], 6),
            ([1030, 14, 1], [5, 5, 1], 4),
            ([20, 70, 3], [3, 3, 1], 9),
            ([33, 40, 9], [3, 3, 3], 7),
            ([14, 13, 11], [5, 5, 5], 3),
        ] {
            let sweeps = if slow { sweeps.min(3) } else { sweeps };
            let elements = size.iter().product::<usize>();
            let entries = tame(filter_size.iter().product(), 11);
            let plain = ordinary(elements, 12);
            let mut spoilt = plain.clone();
            // The last rows of tiles and the first ones of the next, in one column after the other.
            let awkward = [f64::NAN, 5e-324, f64::INFINITY, -0.0, f64::MAX, f64::NEG_INFINITY, 1e-310];
            let rows = [0, 127, 128, 255, 256, 511, 512, 1023, 1024, size[0] - 1];
            for (n, row) in rows.into_iter().filter(|&row| row < size[0]).enumerate() {
                spoilt[row + size[0] * (n % size[1])] = awkward[(n + filter_size[0]) % awkward.len()];
            }
            for input in [plain, spoilt] {
                let in_double = Convolution::new(size, filter(entries.clone(), filter_size)?);
                let in_double = in_double.with_boundary(boundary).with_sweeps(sweeps);
                check_convolution(engine, &in_double, &input)?;
                let in_single = Convolution::new(size, filter(singles(&entries), filter_size)?);
                let in_single = in_single.with_boundary(single(boundary)).with_sweeps(sweeps);
                check_convolution(engine, &in_single, &singles(&input))?;
            }
        }
    }
    Ok(())
}
