//! The studies of constant memory, run small on the first device. Where there is none they are counted as ignored, with
//! the reason in their names.
//!
//! A study compares every element with the CPU's before it times anything: these tests mostly check that it returns.
//!
//! On the stand-in for the driver (`tests/stand_in/cuda`) a study launches each kernel as often as on a device, and
//! every thread of it takes its turn: sizes are smaller there.

use libtest_mimic::{Failed, Trial};
use stencil_mex::cuda::study::{Access, Angles, Convolution, Measurement, Pattern, ReadOnly, SAMPLES, Study};
use stencil_mex::cuda::{self, Cuda};
use stencil_mex::platform::watch::Watch;

use crate::common::StandIn;

type Outcome = Result<(), String>;
type Case = (&'static str, fn(&Cuda) -> Outcome);

/// Sizes that blocks divide and sizes that they do not; smaller than a block, and than a stencil's radius.
const COUNTS: [usize; 7] = [1, 3, 31, 1024, 1025, 40_000, 1 << 20];

/// Sizes for the stand-in, which is slow.
const FEW_COUNTS: [usize; 3] = [1, 65, 1025];

fn counts() -> &'static [usize] {
    if on_stand_in() { &FEW_COUNTS } else { &COUNTS }
}

fn on_stand_in() -> bool {
    StandIn::find().is_some()
}

const TABLE: [Case; 7] = [
    ("access", access),
    ("access_begins_the_table_again", access_begins_the_table_again),
    ("readonly", readonly),
    ("angles", angles),
    ("convolution", convolution),
    ("no_memory_is_kept", no_memory_is_kept),
    ("it_is_used_between_other_calls", it_is_used_between_other_calls),
];

/// Runs a study and checks the properties of every measurement; `rows` are the names of kernel and pattern in their
/// order, for every size.
fn run(cuda: &Cuda, study: &Study, rows: &[(&str, &str)], elements: &[usize]) -> Result<Vec<Measurement>, String> {
    let all = study.run(cuda).map_err(|error| error.to_string())?;
    let expected: Vec<_> = elements
        .iter()
        .flat_map(|&elements| rows.iter().map(move |&(kernel, pattern)| (kernel, pattern, elements)))
        .collect();
    let got: Vec<_> = all.iter().map(|one| (one.kernel, one.pattern, one.elements)).collect();
    if got != expected {
        return Err(format!("{study:?} gave {got:?}"));
    }
    for one in &all {
        let [lower, median, upper] = one.quartiles();
        let sound = one.checked == one.elements
            && one.samples.len() == SAMPLES
            && one.samples.iter().chain([&one.batch_mean]).all(|&ms| ms.is_finite() && ms > 0.0)
            && lower <= median
            && median <= upper
            && one.gigabytes_per_second() > 0.0;
        if !sound {
            return Err(format!("{one:?}"));
        }
    }
    Ok(all)
}

fn access(cuda: &Cuda) -> Outcome {
    for &block_size in if on_stand_in() { &[96][..] } else { &[32, 96, 1024] } {
        let rows = Pattern::ALL.map(|pattern| [("constant", pattern.name()), ("global", pattern.name())]).concat();
        let study = Study::Access(Access { block_size, sums: counts().to_vec(), ..Access::default() });
        let all = run(cuda, &study, &rows, counts())?;
        if all.iter().any(|one| one.block_size != block_size || one.operations_per_byte.is_some()) {
            return Err(format!("{all:?}"));
        }
    }
    Ok(())
}

/// With more blocks than entries.
fn access_begins_the_table_again(cuda: &Cuda) -> Outcome {
    let study = Study::Access(Access { patterns: vec![Pattern::PerBlock], block_size: 32, sums: vec![32 * 40_000] });
    let rows = [("constant", "one_access_per_block"), ("global", "one_access_per_block")];
    run(cuda, &study, &rows, &[32 * 40_000]).map(drop)
}

fn readonly(cuda: &Cuda) -> Outcome {
    for &points in counts() {
        let block_sizes = if on_stand_in() { vec![32, 160] } else { vec![32, 64, 160, 1024] };
        let rows = ["constant", "readonly", "argument"].map(|kernel| (kernel, ""));
        let study = Study::ReadOnly(ReadOnly { points, block_sizes: block_sizes.clone() });
        let all = run(cuda, &study, &rows, &vec![points; block_sizes.len()])?;
        if all.chunks(3).zip(block_sizes).any(|(chunk, size)| chunk.iter().any(|one| one.block_size != size)) {
            return Err(format!("{all:?}"));
        }
    }
    Ok(())
}

fn angles(cuda: &Cuda) -> Outcome {
    let rows = ["constant", "global"].map(|kernel| (kernel, ""));
    let all = run(cuda, &Study::Angles(Angles { threads: counts().to_vec() }), &rows, counts())?;
    if all.iter().all(|one| one.block_size == 64) { Ok(()) } else { Err(format!("{all:?}")) }
}

fn convolution(cuda: &Cuda) -> Outcome {
    let rows = ["basic", "constant", "tiled"].map(|kernel| (kernel, ""));
    let all = (&[1, 5, 16, 31, 32, 33, 100, 301][..], &[1, 2, 3, 4, 5, 6, 7][..]);
    let (sizes, radii) = if on_stand_in() { (&[5, 33][..], &[1, 7][..]) } else { all };
    for &size in sizes {
        // The small array has the large radius there, and the large array the small one.
        for &radius in radii.iter().filter(|&&radius| !on_stand_in() || (radius == 7) == (size == 5)) {
            let all = run(cuda, &Study::Convolution(Convolution { size, radius }), &rows, &[size * size])?;
            let operations: Vec<_> = all.iter().map(|one| one.operations_per_byte.unwrap_or(f64::NAN)).collect();
            if operations[..2] != [0.25, 0.5] || operations[2].is_nan() || operations[2] <= 0.5 {
                return Err(format!("{all:?}"));
            }
        }
    }
    Ok(())
}

/// Arrays, events and graphs go when a study is over.
fn no_memory_is_kept(cuda: &Cuda) -> Outcome {
    let (side, patterns, rounds) =
        if on_stand_in() { (16, vec![Pattern::PerThread], 1) } else { (1024, Pattern::ALL.to_vec(), 5) };
    let count = side * side;
    let studies = [
        Study::Access(Access { patterns, sums: vec![count], ..Access::default() }),
        Study::ReadOnly(ReadOnly { points: count, block_sizes: vec![256] }),
        Study::Angles(Angles { threads: vec![count] }),
        Study::Convolution(Convolution { size: side, radius: 2 }),
    ];
    let round = || studies.iter().try_for_each(|study| study.run(cuda).map(drop).map_err(|error| error.to_string()));
    let free = || cuda.free_memory().map_err(|error| error.to_string());
    // The memory that the driver keeps has its final size by then.
    for _ in 0..rounds {
        round()?;
    }
    let before = free()?;
    for _ in 0..rounds {
        round()?;
    }
    let after = free()?;
    if after == before { Ok(()) } else { Err(format!("{before} bytes were free before, {after} after")) }
}

/// The constant memory of a study and that of stencils do not affect each other; a release between them does no harm.
fn it_is_used_between_other_calls(cuda: &Cuda) -> Outcome {
    use stencil_mex::stencil::{Compute, Lines, Source, Stencil, Taps, Target};
    let study = Study::Convolution(Convolution { size: if on_stand_in() { 16 } else { 64 }, radius: 3 });
    for _ in 0..2 {
        study.run(cuda).map_err(|error| error.to_string())?;
        let taps = Taps::new(&[1.0, 2.0, 3.0]).ok_or("no odd number of taps")?;
        let what = Stencil::new(Lines::new(3, 1), taps);
        let mut output = [0.0; 3];
        cuda.stencil(&what, Source::Host(&[1.0; 3]), Target::Host(&mut output), &Watch::new())
            .map_err(|error| error.to_string())?;
        if output != [5.0, 6.0, 3.0] {
            return Err(format!("{output:?}"));
        }
        cuda::release();
    }
    Ok(())
}

pub fn trials() -> Vec<Trial> {
    let absent = Cuda::open(None).err();
    let reason = absent.as_ref().map(|reason| format!(" (skipped: {reason})")).unwrap_or_default();
    let trial = |(case, test): Case| {
        // There, more blocks than the table has entries take minutes: each kernel is launched some thousand times.
        let too_long = on_stand_in() && case == "access_begins_the_table_again";
        let reason = if too_long { " (skipped: it takes minutes on the stand-in)" } else { &reason };
        let run = move || {
            let cuda = Cuda::open(None).map_err(|error| error.to_string())?;
            test(&cuda).map_err(Failed::from)
        };
        Trial::test(format!("study::{case}{reason}"), run).with_ignored_flag(absent.is_some() || too_long)
    };
    TABLE.map(trial).into()
}
