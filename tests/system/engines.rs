//! One table of cases and one runner for all engines, each held to the plain reference bit for bit.
//!
//! Samples come from the host's memory and from arrays of the engine's, and results go there: each case meets all four
//! combinations ([`ends`]).
//!
//! An engine joins with a line in [`engines`]. One that this machine cannot run is counted as ignored, with the reason
//! in the test's name.
//!
//! On the stand-in for the driver (`tests/stand_in/cuda`), all that CUDA holds is released after each test: then
//! nothing may be alive, and no forbidden action may have been noted.

mod any_filter;
mod arithmetic;
mod arrays;
mod between_calls;
mod checks;
mod convolutions;
mod deep;
mod faults;
mod images;
mod lines;
mod memory;
mod programs;
mod scheme;
mod sides;
mod small_images;
mod stars;
mod stops;
mod tensor;
mod volumes;
mod walks;

use std::time::Instant;

use libtest_mimic::{Failed, Trial};
use stencil_mex::cpu::{Cpu, Level};
use stencil_mex::cuda::{self, Cuda};
use stencil_mex::stencil::Engine;

use crate::common::{StandIn, ends, selection};
use checks::{Case, ONE_TILE, Outcome, open_cuda};

/// A name, and a check of CUDA.
type CudaCase = (&'static str, fn(Cuda) -> Outcome);

/// A name, and a check of CUDA when calls of the driver fail.
type FaultCase = (&'static str, fn(Cuda, StandIn) -> Outcome);

type MakeEngine = fn() -> Result<Box<dyn Engine>, String>;

/// Every engine there is, by name; an error says why this machine cannot run it.
fn engines() -> Vec<(&'static str, MakeEngine)> {
    fn cpu(level: Level) -> Result<Box<dyn Engine>, String> {
        Cpu::with_level(level).map(|cpu| Box::new(cpu) as _).ok_or_else(|| "this processor lacks it".into())
    }
    fn cuda(bytes: Option<usize>) -> Result<Box<dyn Engine>, String> {
        let cuda = open_cuda()?;
        Ok(Box::new(bytes.map_or(cuda, |bytes| cuda.with_device_bytes(bytes))))
    }
    vec![
        ("cpu-avx512", || cpu(Level::Avx512)),
        ("cpu-avx2", || cpu(Level::Avx2)),
        ("cpu-neon", || cpu(Level::Neon)),
        ("cpu-portable", || cpu(Level::Portable)),
        ("cuda", || cuda(None)),
        ("cuda-one-tile", || cuda(Some(ONE_TILE))),
        ("cuda-two-megabytes", || cuda(Some(2_000_000))),
    ]
}

const TABLE: [Case; 27] = [
    ("document", lines::document),
    ("single_lines", lines::single_lines),
    ("many_lines", lines::many_lines),
    ("large", lines::large),
    ("awkward_taps", lines::awkward_taps),
    ("properties", lines::properties),
    ("derivatives", lines::derivatives),
    ("filters", convolutions::filters),
    ("images", convolutions::images),
    ("volumes", convolutions::volumes),
    ("filters_of_any_size", convolutions::filters_of_any_size),
    ("convolution_properties", convolutions::convolution_properties),
    ("boundaries", lines::boundaries),
    ("sides_of_lines", sides::sides_of_lines),
    ("sides_of_images", sides::sides_of_images),
    ("dimensions", lines::dimensions),
    ("derivative_boundaries", lines::derivative_boundaries),
    ("sweeps", lines::sweeps),
    ("sweeps_at_large", lines::sweeps_at_large),
    ("sweeps_properties", lines::sweeps_properties),
    ("convolution_boundaries", convolutions::convolution_boundaries),
    ("convolution_sweeps", convolutions::convolution_sweeps),
    ("convolution_tiles", convolutions::convolution_tiles),
    ("outputs_are_not_read", arrays::outputs_are_not_read),
    ("copies", arrays::copies),
    ("foreign_arrays", arrays::foreign_arrays),
    ("stopped", stops::stopped),
];

/// Checks of CUDA only: its state between calls, and other users of the device.
const CUDA_TABLE: [CudaCase; 32] = [
    ("schemes_without_room", scheme::schemes_without_room),
    ("sweeps_by_every_module", lines::sweeps_by_every_module),
    ("sweeps_of_images", images::sweeps_of_images),
    ("sweeps_of_images_by_eight_warps", images::sweeps_of_images_by_eight_warps),
    ("stars_over_images", stars::stars_over_images),
    ("sides_in_sweeps_of_images", sides::sides_in_sweeps_of_images),
    ("sweeps_of_small_images", small_images::sweeps_of_small_images),
    ("sides_in_sweeps_of_small_images", sides::sides_in_sweeps_of_small_images),
    ("sweeps_of_volumes", volumes::sweeps_of_volumes),
    ("sides_in_sweeps_of_volumes", sides::sides_in_sweeps_of_volumes),
    ("sides_on_tensor_cores", sides::sides_on_tensor_cores),
    ("sweeps_of_lines_in_single", lines::sweeps_of_lines_in_single),
    ("sweeps_of_volumes_by_one_column", volumes::sweeps_of_volumes_by_one_column),
    ("sweeps_in_deep_tiles", deep::sweeps_in_deep_tiles),
    ("deep_tiles_are_stopped", deep::deep_tiles_are_stopped),
    ("tensor_filters", tensor::tensor_filters),
    ("tensor_filters_and_infinities", tensor::tensor_filters_and_infinities),
    ("tensor_filters_and_few_infinities", tensor::tensor_filters_and_few_infinities),
    ("tensor_filters_and_zeros", tensor::tensor_filters_and_zeros),
    ("tensor_filters_in_sweeps", tensor::tensor_filters_in_sweeps),
    ("any_filters_on_tensor_cores", any_filter::any_filters_on_tensor_cores),
    ("arrays_of_few_rows", any_filter::arrays_of_few_rows),
    ("tiles_that_take_other_kernels", any_filter::tiles_that_take_other_kernels),
    ("what_is_timed_is_right", between_calls::what_is_timed_is_right),
    ("taps_change", between_calls::taps_change),
    ("released_and_used_again", memory::released_and_used_again),
    ("context_of_the_host_stays", memory::context_of_the_host_stays),
    ("memory_of_the_host_stays", memory::memory_of_the_host_stays),
    ("arrays_outlive_a_release", memory::arrays_outlive_a_release),
    ("memory_is_flat", memory::memory_is_flat),
    ("memory_is_short", memory::memory_is_short),
    ("memory_is_short_for_arrays", memory::memory_is_short_for_arrays),
];

/// Checks of CUDA when a call of the driver fails at the worst moment. Only the stand-in fails on request.
const FAULT_TABLE: [FaultCase; 17] = [
    ("progress_counts_once", faults::progress_counts_once),
    ("taps_are_copied_anew_after_a_failure", faults::taps_are_copied_anew_after_a_failure),
    ("a_warm_chain_asks_for_nothing", between_calls::a_warm_chain_asks_for_nothing),
    ("a_few_sweeps_leave_the_pool_alone", between_calls::a_few_sweeps_leave_the_pool_alone),
    ("simple_operations_load_no_module", between_calls::simple_operations_load_no_module),
    ("filters_in_turn_are_not_sent_again", between_calls::filters_in_turn_are_not_sent_again),
    ("tensor_cores_are_used_where_they_are", tensor::tensor_cores_are_used_where_they_are),
    ("sweeps_of_images_are_done_at_once", images::sweeps_of_images_are_done_at_once),
    ("zeros_of_stars_are_left_out", stars::zeros_of_stars_are_left_out),
    ("sweeps_of_small_images_are_few_launches", small_images::sweeps_of_small_images_are_few_launches),
    ("deep_tiles_are_few_copies", deep::deep_tiles_are_few_copies),
    ("late_errors_name_the_calls", faults::late_errors_name_the_calls),
    ("a_budget_bounds_the_pool", memory::a_budget_bounds_the_pool),
    ("a_broken_context_is_opened_anew", faults::a_broken_context_is_opened_anew),
    ("a_broken_context_takes_its_arrays_along", faults::a_broken_context_takes_its_arrays_along),
    ("calls_learn_the_pace_from_each_other", between_calls::calls_learn_the_pace_from_each_other),
    ("walks_on_every_chip", walks::on_every_chip),
];

/// Runs the case of a child, by its name.
pub fn in_child(what: &str) -> Outcome {
    match what {
        "tensor cores" => {
            let found = tensor::on_tensor_cores(&open_cuda()?, StandIn::find().ok_or("no stand-in")?)?;
            println!("on tensor cores: {found:?}");
            cuda::release();
            Ok(())
        }
        "small images" => {
            let stand_in = StandIn::find().ok_or("no stand-in")?;
            for (name, side) in [("small", 12), ("larger", 150)] {
                println!("{name}: {:?}", small_images::in_few_launches(&open_cuda()?, stand_in, side)?);
            }
            cuda::release();
            Ok(())
        }
        "walks" => {
            walks::of_a_chip(&open_cuda()?)?;
            cuda::release();
            Ok(())
        }
        "sweep" => {
            let found = images::done_at_once(&open_cuda()?, StandIn::find().ok_or("no stand-in")?)?;
            println!("at once: {found:?}");
            cuda::release();
            Ok(())
        }
        _ => Err(format!("nobody knows how to {what}")),
    }
}

pub fn trials() -> Vec<Trial> {
    let failed = |outcome: Outcome| outcome.map_err(Failed::from);
    let mut trials = Vec::new();
    for (engine, make) in engines() {
        let absent = make().err();
        for (case, run) in TABLE {
            let run = move || {
                let missed = run(&*make()?).map(|()| ends::missed())?;
                // A selection may have fewer checks than there are ends.
                if missed.is_empty() || !selection::is_all() {
                    Ok(())
                } else {
                    Err(format!("nothing was computed {}", missed.join(", ")))
                }
            };
            trials.push(trial(engine, case, absent.as_deref(), move || failed(run())));
        }
        for (case, run) in arithmetic::TABLE.into_iter().chain(scheme::TABLE).chain(programs::TABLE).chain(walks::TABLE)
        {
            trials.push(trial(engine, case, absent.as_deref(), move || failed(run(&*make()?))));
        }
    }
    let absent = open_cuda().err();
    for (case, run) in CUDA_TABLE {
        trials.push(trial("cuda", case, absent.as_deref(), move || failed(run(open_cuda()?))));
    }
    let stand_in = StandIn::find();
    let absent =
        absent.or_else(|| stand_in.is_none().then(|| "the stand-in is not what is found as the driver".into()));
    for (case, run) in FAULT_TABLE.into_iter().filter(|(case, _)| selection::takes_one(case, true)) {
        trials.push(trial("cuda", case, absent.as_deref(), move || {
            let (cuda, stand_in) = (open_cuda()?, stand_in.ok_or("no stand-in")?);
            // They count the calls of the driver that one call of the engine makes.
            failed(selection::forced(|| ends::between(ends::HOST_TO_HOST, || run(cuda, stand_in))))
        }));
    }
    trials
}

/// A test of `engine`, counted as ignored where it is absent.
fn trial(
    engine: &str,
    case: &str,
    absent: Option<&str>,
    run: impl FnOnce() -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let reason = absent.map(|reason| format!(" (skipped: {reason})")).unwrap_or_default();
    let name = format!("engines::{engine}::{case}");
    let title = format!("{name}{reason}");
    let on_stand_in = engine.starts_with("cuda") && StandIn::find().is_some();
    let run = move || {
        ends::begin();
        if on_stand_in {
            selection::begin_on_stand_in()
        } else {
            selection::begin()
        }
        let started = Instant::now();
        let outcome = run();
        if std::env::var_os("STENCIL_TEST_TIMES").is_some() {
            eprintln!("{:9.3} s  {name}", started.elapsed().as_secs_f64());
        }
        let books = StandIn::find().map_or(Ok(()), clear_books);
        outcome.and(books.map_err(Failed::from))
    };
    Trial::test(title, run).with_ignored_flag(absent.is_some())
}

/// Releases all that CUDA holds, and checks the faults that the stand-in noted.
fn clear_books(stand_in: StandIn) -> Outcome {
    stand_in.heal();
    cuda::release();
    let (left, misuse) = (stand_in.alive(), stand_in.misuse());
    match misuse {
        Some(told) => Err(format!("the stand-in has noted: {told}")),
        None if left.is_empty() => Ok(()),
        None => Err(format!("left alive after the release: {left}")),
    }
}
