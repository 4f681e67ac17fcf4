//! Tests of the layouts, of the schedules, and of the table of modules.

use super::layout::MODULES;
use super::schedule::{BEGINNING, ROUNDS, Schedule};
use super::*;
use crate::cuda::archive;
use crate::cuda::arguments::{Axis, Round};
use crate::cuda::module::tests::{argument_bytes, constant_of};

/// Rows circular, and columns.
const CIRCULAR: [[bool; 2]; 4] = [[false, false], [true, false], [false, true], [true, true]];

#[test]
fn a_mirror_of_a_single_sample_shows_that() {
    let ends = Ends::new(Boundary::Mirror, Boundary::Constant(2.0)).unwrap();
    assert_eq!(without_single_mirrors(ends, 2), ends);
    assert_eq!(without_single_mirrors(ends, 1).both(), [Boundary::Replicate, Boundary::Constant(2.0)]);
    let circular: Ends<f64> = Boundary::Circular.into();
    assert_eq!(without_single_mirrors(circular, 1), circular);
}

#[test]
fn the_kernels_take_this_argument() {
    for module in &MODULES {
        for function in ["sweeps_volumes", "sweeps_volumes_at_once"] {
            assert_eq!(argument_bytes(module.name, function), size_of::<VolumesArgument>(), "{}", module.name);
        }
    }
}

/// Each module has the properties that the table gives.
#[test]
fn the_table_is_right() {
    for module in &MODULES {
        let ptx = archive::ptx(module.name).unwrap().into_string().unwrap();
        let constant = |name: &str| constant_of(module.name, name);
        let told = ["lane_rows", "lane_columns", "strip_lanes", "sweep_warps"].map(constant);
        assert_eq!(told, [module.rows, module.columns, module.down, module.warps], "{}", module.name);
        assert!(ptx.contains(".target sm_90\n"), "{}", module.name);
    }
}

/// Each launch meets the kernel's preconditions, whatever the volume.
#[test]
fn layouts_are_what_the_kernel_can_do() {
    let mut found = 0;
    for module in &MODULES {
        for rows in [1, 2, 3, 8, 12, 13, 95, 96, 97, 98, 100, 186, 187, 188, 192, 512, 1000] {
            for columns in [1, 8, 9, 10, 13, 47, 48, 49, 79, 80, 81, 95, 512, 1000] {
                for pages in [1, 2, 100] {
                    for circular in CIRCULAR {
                        for at_once in [1, module.rows] {
                            let size = [rows, columns, pages];
                            let Some(layout) = module.layout(size, circular, at_once, 132) else { continue };
                            found += 1;
                            let what = format!("{layout:?} for {size:?}, {circular:?}, {at_once}");
                            check(&layout.down, rows, layout.lanes * module.rows, at_once, circular[0], &what);
                            check(&layout.across, columns, layout.strips * module.columns, 1, circular[1], &what);
                            assert!((1..=module.down).contains(&layout.lanes), "{what}");
                            assert!((1..=module.strips()).contains(&layout.strips), "{what}");
                            covered(&layout.schedule, layout.down.count * layout.across.count, pages, 132, &what);
                        }
                    }
                }
            }
        }
    }
    assert!(found > 5000, "{found}");
}

/// Checks that each page of each tile is taken once, by existing blocks, and none takes more slots than stated.
fn covered(schedule: &Schedule, tiles: i32, pages: usize, blocks: usize, what: &str) {
    let mut taken = vec![0; tiles as usize * pages];
    let mut slots = vec![0; blocks];
    assert!((1..=blocks).contains(&schedule.blocks()), "{what}");
    for round in &schedule.rounds {
        assert!(round.share > 0, "{what}");
        // Like the kernel.
        for run in 0..if round.blocks > 0 { round.runs() } else { 0 } {
            let begin = round.page + run / round.tiles * round.share;
            let end = (begin + round.share).min(round.page + round.pages);
            let tile = (round.tile + run % round.tiles) as usize;
            slots[(round.block + run % round.blocks) as usize] += (end - begin) as usize + BEGINNING;
            taken[tile * pages..][begin as usize..end as usize].iter_mut().for_each(|count| *count += 1);
        }
    }
    assert!(taken.iter().all(|&count| count == 1), "{what}");
    assert!(slots[schedule.blocks()..].iter().all(|&count| count == 0), "{what}");
    assert!(slots.iter().all(|&count| count <= schedule.slots), "{what}");
}

/// Few slots are lost, and most blocks go through the same pages as others.
#[test]
fn schedules_take_hardly_more_than_equal_shares() {
    for tiles in [1, 7, 36, 54, 60, 66, 131, 132, 133, 216, 500] {
        for pages in [1, 20, 100, 512, 1000] {
            for blocks in [1, 78, 114, 132, 148] {
                let all = Round { blocks, tiles, pages, ..Round::NONE };
                let schedule = Schedule::new(all, ROUNDS);
                let what = format!("{schedule:?} for {tiles}, {pages}, {blocks}");
                covered(&schedule, tiles, pages as usize, blocks as usize, &what);
                let equal = (tiles as usize * (pages as usize + BEGINNING)).div_ceil(blocks as usize) + BEGINNING;
                assert!(schedule.slots <= equal + equal / 8 + 2 * BEGINNING, "{equal}: {what}");
            }
        }
    }
    let of = |tiles: i32| Schedule::new(Round { blocks: 132, tiles, pages: 512, ..Round::NONE }, ROUNDS);
    assert_eq!(of(54).slots, 217);
    let round = Round { blocks: 108, tiles: 54, pages: 424, share: 212, ..Round::NONE };
    let others = [
        Round { block: 108, blocks: 24, tiles: 48, page: 424, pages: 88, share: 88, ..Round::NONE },
        Round { block: 108, blocks: 24, tile: 48, tiles: 6, page: 424, pages: 88, share: 22, unused: 0 },
    ];
    assert_eq!(of(54).rounds, [round, others[0], others[1], Round::NONE]);
}

/// Checks that the tiles write all rows, each once, and have the neighbours of all samples that they write.
fn check(axis: &Axis, size: usize, height: usize, multiple: usize, circular: bool, what: &str) {
    let (size, height, multiple) = (size as i32, height as i32, multiple as i32);
    let mut next = 0;
    for number in 0..axis.count {
        let from = if number == 0 { 0 } else { number * axis.step + axis.more };
        let to = if number == axis.count - 1 { size } else { (number + 1) * axis.step + axis.more };
        let start = from - axis.lead;
        let start = if circular { start } else { start.min(size - height).max(0) };
        assert_eq!(from, next, "{what}");
        assert!(from < to && to <= size, "{what}");
        let first = !circular && start == 0;
        let last = !circular && start + height == size;
        assert!(from > start || (first && from == 0), "{what}");
        assert!(to < start + height || (last && to == size), "{what}");
        assert!(circular || (start >= 0 && start + height <= size), "{what}");
        assert!([from, to, start].iter().all(|at| at % multiple == 0), "{what}");
        next = to;
    }
    assert_eq!(next, size, "{what}");
}

#[test]
fn large_volumes_go_two_sweeps_at_a_time() {
    for module in &MODULES {
        for circular in CIRCULAR {
            for (size, at_once) in [([512; 3], module.rows), ([511; 3], 1)] {
                let layout = module.layout(size, circular, at_once, 132).unwrap();
                assert!(module.pays(&layout, size, at_once, 132), "{}, {circular:?}: {layout:?}", module.name);
            }
        }
        let small = [8, 60, 8];
        let layout = module.layout(small, [true; 2], 1, 132).unwrap();
        assert!(!module.pays(&layout, small, 1, 132), "{}: {layout:?}", module.name);
    }
}

/// The preconditions of the engines' tests, with the four multiprocessors of the stand-in for the driver.
#[test]
fn sizes_of_the_tests_are_several_parts() {
    for (module, size) in MODULES.iter().zip([[96, 240, 16], [96, 160, 24]]) {
        let layout = module.layout(size, [false; 2], module.rows, 4).unwrap();
        assert!(module.pays(&layout, size, module.rows, 4), "{} {size:?}: {layout:?}", module.name);
        let later = layout.schedule.rounds.iter().any(|round| round.runs() > 0 && round.page > 0);
        assert!(later, "{} {size:?}: {layout:?}", module.name);
    }
}
