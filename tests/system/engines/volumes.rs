//! Sweeps over volumes on the CUDA engine.

use stencil_mex::cuda::Cuda;

use super::checks::{KINDS, Outcome, check_awkward};
use crate::common::StandIn;

/// Sweeps of 3 x 3 x 3 and 1 x 3 x 3 over volumes around the sizes of tiles, in rows, columns and pages, for even and
/// odd numbers of sweeps; with samples here and there that spread or fade away.
pub fn sweeps_of_volumes(cuda: Cuda) -> Outcome {
    let slow = StandIn::find().is_some();
    let check = |boundary, size, sweeps, number: usize| {
        if number.is_multiple_of(3) {
            check_awkward(&cuda, [1, 3, 3], size, boundary, sweeps, number)?;
        }
        check_awkward(&cuda, [3, 3, 3], size, boundary, sweeps, number)
    };
    let mut number = 0;
    // Tiles and multiprocessors whose numbers do not divide each other: several parts of a launch, some of which begin
    // behind the first page. `sizes_of_the_tests_are_several_parts` in `src/cuda/kernels/fused/volumes/tests.rs` has
    // two. They come first: the stand-in's time for a sweep teaches the pace to submit less than two of them.
    let sizes: &[[usize; 3]] =
        if slow { &[[96, 160, 24], [96, 240, 16], [32, 400, 24], [32, 250, 25]] } else { &[[48, 400, 200]] };
    for boundary in KINDS {
        for &size in sizes {
            number += 1;
            check(boundary, size, 2, number)?;
        }
    }
    number = 0;
    // Rows of a tile are 96; columns, in double and in single.
    for boundary in KINDS {
        for rows in [3, 17, 24, 95, 96, 97, 98, 100, 187, 188, 192, 283] {
            for columns in [1, 10, 11, 15, 44, 59, 60, 61, 62, 87, 88, 89, 160] {
                for (pages, sweeps) in [(1, 2), (2, 4), (3, 3), (7, 2), (24, 4), (60, 3), (200, 2)] {
                    number += 1;
                    // The reference takes its time, and so does the stand-in for the driver.
                    let (share, least, most) = if slow { (29, 0, 350_000) } else { (71, 500_000, 3_000_000) };
                    let size: [usize; 3] = [rows, columns, pages];
                    let elements = size.iter().product::<usize>();
                    if number % share != 0 || elements > most || (elements < least && number % 3 != 0) {
                        continue;
                    }
                    check(boundary, size, sweeps, number)?;
                }
            }
        }
    }
    Ok(())
}

/// Sweeps over volumes by filters of rows and pages: rows around a lane's, a warp's and a strip's.
pub fn sweeps_of_volumes_by_one_column(cuda: Cuda) -> Outcome {
    let mut number = 0;
    for size_of_filter in [[3, 1, 3], [5, 1, 5], [3, 1, 5], [7, 1, 3], [5, 1, 7], [7, 1, 7]] {
        for boundary in KINDS {
            for rows in [17, 57, 192, 300, 543, 544, 610, 896] {
                for (columns, pages, sweeps) in
                    [(1, 30, 3), (7, 40, 8), (12, 30, 9), (3, 2, 4), (30, 12, 16), (5, 61, 5), (2, 150, 17)]
                {
                    number += 1;
                    if number % 19 == 0 && rows * columns * pages <= 150_000 {
                        check_awkward(&cuda, size_of_filter, [rows, columns, pages], boundary, sweeps, number)?;
                    }
                }
            }
        }
    }
    Ok(())
}
