//! One array on several devices of a process, bit for bit as on one: parts that exchange halos, tiles shared out among
//! devices, copies from device to device.
//!
//! On the stand-in for the driver (`tests/stand_in/cuda`) all cases run on 2, 3 and 8 devices, which reach each other's
//! memory or do not: each in a process of its own, since a driver does not change while one lives. On a real driver
//! they run on its devices. With fewer than two devices all are counted as ignored.

use libtest_mimic::{Failed, Trial};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use stencil_mex::cpu::Cpu;
use stencil_mex::cuda::{self, Cuda, Driver, Team};
use stencil_mex::platform::watch::Watch;
use stencil_mex::stencil::{
    Array, Arrays, Boundary, CoefficientSource, Compute, Convolution, Derivative, Ends, Engine, Error, Filter, Lines,
    Number, Reference, Sides, Source, Stencil, Taps, Target,
};

use crate::common::{StandIn, selection};

type AnyEngine = dyn Engine + 'static;
type Outcome = Result<(), String>;
/// A name, and a check for a number of devices.
type Case = (&'static str, fn(usize) -> Outcome);

const CASES: [Case; 15] = [
    ("lines_in_parts", lines_in_parts),
    ("images_in_parts", images_in_parts),
    ("volumes_in_parts", volumes_in_parts),
    ("parts_of_all_kinds", parts_of_all_kinds),
    ("halos_through_the_host", halos_through_the_host),
    ("large_lines_in_parts", large_lines_in_parts),
    ("one_pass", one_pass),
    ("derivatives", derivatives),
    ("short_of_memory", short_of_memory),
    ("stopped", stopped),
    ("copies_from_device_to_device", copies),
    ("memory_that_is_copied_from_is_not_used_again_before", copies_of_what_goes),
    ("memory_that_is_still_in_use", memory_in_use),
    ("timelines", timelines),
    ("what_is_small_or_nothing", small),
];

/// Variable that says if the stand-in's devices reach each other: 0 or 1.
const PEERS: &str = "CUDA_STAND_IN_PEERS";

/// The configurations of the stand-in, each for a process.
const STAND_INS: [&[(&str, &str)]; 4] = [
    &[("CUDA_STAND_IN_DEVICES", "2"), (PEERS, "1")],
    &[("CUDA_STAND_IN_DEVICES", "2"), (PEERS, "0")],
    &[("CUDA_STAND_IN_DEVICES", "3"), (PEERS, "0")],
    &[("CUDA_STAND_IN_DEVICES", "8"), (PEERS, "1")],
];

fn team(devices: usize) -> Result<Team, String> {
    Team::open(&(0..devices).collect::<Vec<_>>()).map_err(|error| error.to_string())
}

fn samples(count: usize, seed: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * 7919 + seed * 104_729) % 10_007) as f64 / 5003.0 - 1.0).collect()
}

fn singles(samples: &[f64]) -> Vec<f32> {
    samples.iter().map(|&sample| sample as f32).collect()
}

/// Taps whose absolute values add up to 1, so that sweeps neither explode nor fade.
fn tame(count: usize, seed: usize) -> Vec<f64> {
    let taps: Vec<f64> = samples(count, seed).into_iter().map(|tap| tap + 0.01).collect();
    let sum: f64 = taps.iter().map(|tap| tap.abs()).sum();
    taps.into_iter().map(|tap| tap / sum).collect()
}

/// The boundaries of a dimension: the same at both ends, and not.
fn all_ends() -> Vec<Ends<f64>> {
    let own = [
        (Boundary::Constant(-1.5), Boundary::Mirror),
        (Boundary::Symmetric, Boundary::Constant(0.5)),
        (Boundary::Mirror, Boundary::Replicate),
    ];
    let own = own.into_iter().filter_map(|(low, high)| Ends::new(low, high));
    Boundary::all_kinds(2.5).into_iter().map(Ends::from).chain(own).collect()
}

/// Runs `run`, of this number of updates, on the devices and on the plain reference, and compares every bit and the
/// count.
fn check<T: Number>(
    what: &str,
    team: &AnyEngine,
    input: &[T],
    updates: usize,
    run: impl Fn(&AnyEngine, Source<T>, Target<T>, &Watch) -> Result<(), Error>,
) -> Outcome {
    let cpu = Cpu::new();
    let right: &AnyEngine = if updates > 1 << 20 { &cpu } else { &Reference };
    let (mut expected, mut output) = (vec![T::default(); input.len()], vec![T::from_f64(-1.25e-30); input.len()]);
    run(right, Source::Host(input), Target::Host(&mut expected), &Watch::new()).map_err(|error| error.to_string())?;
    let watch = Watch::new();
    run(team, Source::Host(input), Target::Host(&mut output), &watch).map_err(|error| format!("{what}: {error}"))?;
    if watch.done() != updates as u64 {
        return Err(format!("{what}: {} updates were counted, not {updates}", watch.done()));
    }
    match output.iter().zip(&expected).position(|(&got, &want)| !got.same(want)) {
        Some(i) => Err(format!("{what}: element {i} is {:e}, not {:e}", output[i], expected[i])),
        None => Ok(()),
    }
}

fn check_stencil(team: &Team, lines: Lines, taps: usize, ends: impl Into<Ends<f64>>, sweeps: usize) -> Outcome {
    let ends = ends.into();
    let what = Stencil::new(lines, Taps::new(&tame(taps, 3)).ok_or("no odd number of taps")?);
    let what = what.with_boundary(ends).with_sweeps(sweeps);
    let words = format!("{team:?}, {lines:?}, {taps} taps, {ends:?}, {sweeps} sweeps");
    if !selection::takes(&words, &[team, &lines, &(taps, sweeps), &ends]) {
        return Ok(());
    }
    let input = samples(lines.elements(), 1);
    check(&words, team, &input, input.len() * sweeps, |engine, from, to, watch| engine.stencil(&what, from, to, watch))
}

/// In both classes.
fn check_convolution(team: &Team, size: [usize; 3], filter: [usize; 3], sides: Sides<f64>, sweeps: usize) -> Outcome {
    let (input, entries) = (samples(size.iter().product(), 2), tame(filter.iter().product(), 5));
    let words = format!("{team:?}, {size:?} by {filter:?}, {sides:?}, {sweeps} sweeps");
    if !selection::takes(&words, &[team, &size, &(filter, sweeps), &sides]) {
        return Ok(());
    }
    let of_double = Filter::new(entries.clone(), filter).map_err(|error| error.to_string())?;
    let what = Convolution::new(size, of_double).with_boundary(sides).with_sweeps(sweeps);
    check(&words, team, &input, input.len() * sweeps, |engine, from, to, watch| {
        engine.convolution(&what, from, to, watch)
    })?;
    let of_single = Filter::new(singles(&entries), filter).map_err(|error| error.to_string())?;
    let what = Convolution::new(size, of_single).with_boundary(sides.map(|value| value as f32)).with_sweeps(sweeps);
    check(&format!("single, {words}"), team, &singles(&input), input.len() * sweeps, |engine, from, to, watch| {
        engine.convolution(&what, from, to, watch)
    })
}

/// Lines of lengths around parts and halos, with all boundaries at either end.
fn lines_in_parts(devices: usize) -> Outcome {
    let team = team(devices)?;
    for (each, at_once) in [(1, 1), (1, 4), (3, 2), (2, 100)] {
        let team = team.clone().in_parts(each, at_once);
        let parts = devices * each;
        for length in [1, 2, parts - 1, parts, parts + 1, 7 * parts + 3, 40 * parts, 500].into_iter().filter(|&n| n > 0)
        {
            for (n, ends) in all_ends().into_iter().enumerate() {
                for (taps, sweeps) in [(3, 5), (3, 30), (7, 9), (21, 4)].into_iter().skip(n % 2).step_by(2) {
                    check_stencil(&team, Lines::new(length, 1), taps, ends, sweeps)?;
                }
            }
        }
        // Many lines, along which nothing is exchanged, or everything.
        for lines in [Lines::new(30, 9), Lines::strided(4, 50, 1), Lines::strided(3, 11, 5)] {
            for ends in all_ends() {
                check_stencil(&team, lines, 5, ends, 11)?;
            }
        }
    }
    Ok(())
}

fn images_in_parts(devices: usize) -> Outcome {
    let team = team(devices)?;
    let ends = all_ends();
    for (each, at_once) in [(1, 3), (3, 2)] {
        let team = team.clone().in_parts(each, at_once);
        for (size, filter, sweeps) in [
            ([9, 40, 1], [3, 3, 1], 7),
            ([5, 17, 1], [3, 5, 1], 5),
            ([3, 70, 1], [5, 3, 1], 8),
            ([20, 5, 1], [7, 7, 1], 3),
        ] {
            for n in 0..ends.len() {
                let sides = [ends[n], ends[(n + 3) % ends.len()], Ends::default()].into();
                check_convolution(&team, size, filter, sides, sweeps)?;
            }
        }
    }
    Ok(())
}

fn volumes_in_parts(devices: usize) -> Outcome {
    let team = team(devices)?;
    let ends = all_ends();
    for (each, at_once) in [(1, 2), (3, 1)] {
        let team = team.clone().in_parts(each, at_once);
        for (size, filter, sweeps) in [
            ([4, 5, 40], [3, 3, 3], 5),
            ([4, 30, 3], [3, 3, 3], 4),
            ([4, 30, 20], [3, 3, 1], 5),
            ([3, 6, 33], [1, 1, 5], 6),
            ([3, 6, 9], [3, 5, 7], 3),
        ] {
            for n in 0..ends.len() {
                let sides = [ends[n], ends[(n + 3) % ends.len()], ends[(n + 5) % ends.len()]].into();
                check_convolution(&team, size, filter, sides, sweeps)?;
            }
        }
    }
    Ok(())
}

fn parts_of_all_kinds(devices: usize) -> Outcome {
    let all = team(devices)?;
    let some = (0..8_usize, 0..8_usize, 0..8_usize, 1..5_usize, 1..40_usize, 1..12_usize);
    let more = (0..4_usize, 0..4_usize, 0..3_usize, 1..7_usize, 1..4_usize, 1..5_usize);
    let mut runner =
        TestRunner::new(Config { cases: selection::of_cases(120), failure_persistence: None, ..Config::default() });
    runner
        .run(&(some, more), |((a, b, c, rows, columns, pages), (r, s, t, sweeps, each, at_once))| {
            let ends = all_ends();
            let filter = [2 * r.min(2) + 1, 2 * s.min(2) + 1, 2 * t.min(1) + 1];
            let team = all.clone().in_parts(each, at_once);
            let sides = [ends[a], ends[b], ends[c]].into();
            selection::forced(|| check_convolution(&team, [rows, columns, pages], filter, sides, sweeps))
                .map_err(TestCaseError::fail)
        })
        .map_err(|error| error.to_string())
}

/// Between devices that reach each other, too.
fn halos_through_the_host(devices: usize) -> Outcome {
    let team = team(devices)?.through_the_host();
    for (each, at_once) in [(1, 2), (3, 3)] {
        let team = team.clone().in_parts(each, at_once);
        for ends in all_ends() {
            check_stencil(&team, Lines::new(333, 1), 5, ends, 20)?;
            check_convolution(&team, [6, 50, 1], [3, 3, 1], [ends, ends, ends].into(), 7)?;
        }
    }
    Ok(())
}

/// As calls do it: the quickest way is chosen.
fn large_lines_in_parts(devices: usize) -> Outcome {
    let team = team(devices)?;
    let (length, sweeps) = if StandIn::find().is_some() { (600_000, 60) } else { (5_000_001, 1000) };
    check_stencil(&team, Lines::new(length, 1), 3, Boundary::Circular, sweeps)?;
    check_stencil(&team, Lines::new(length, 1), 3, Boundary::Mirror, sweeps + 1)?;
    check_stencil(&team.clone().through_the_host(), Lines::new(length, 1), 3, Boundary::Replicate, sweeps)?;
    let side = if StandIn::find().is_some() { 60 } else { 2000 };
    for team in [team.clone(), team.through_the_host()] {
        check_convolution(&team, [side, side + 1, 1], [3, 3, 1], Boundary::Symmetric.into(), sweeps / 6)?;
    }
    Ok(())
}

/// Tiles that go through the slots of all devices.
fn one_pass(devices: usize) -> Outcome {
    let team = team(devices)?;
    for length in [0, 1, 100, 70_001, 1_300_000] {
        for ends in [Ends::from(Boundary::Circular), all_ends()[5]] {
            check_stencil(&team, Lines::new(length, usize::from(length > 0)), 11, ends, 1)?;
        }
    }
    check_stencil(&team, Lines::strided(700, 300, 2), 5, Boundary::Mirror, 1)?;
    check_convolution(&team, [300, 700, 1], [3, 5, 1], Boundary::Circular.into(), 1)?;
    check_convolution(&team, [40, 50, 60], [3, 3, 5], Boundary::Symmetric.into(), 1)
}

fn derivatives(devices: usize) -> Outcome {
    let team = team(devices)?;
    for lines in [Lines::new(600_000, 1), Lines::new(100, 3000), Lines::strided(9, 1000, 7)] {
        for source in [CoefficientSource::Constant, CoefficientSource::ReadOnly] {
            let input = samples(lines.elements(), 4);
            let what = Derivative::new(lines, 0.1, source).with_boundary(Boundary::Circular);
            check("derivative", &team, &input, input.len(), |engine, from, to, watch| {
                engine.derivative(&what, from, to, watch)
            })?;
            let what = Derivative::new(lines, 0.1, source).with_boundary(Boundary::Replicate);
            check("derivative in single", &team, &singles(&input), input.len(), |engine, from, to, watch| {
                engine.derivative(&what, from, to, watch)
            })?;
        }
    }
    Ok(())
}

/// With a bound on their memory, devices share out tiles: deep ones, and those that go through the slots.
fn short_of_memory(devices: usize) -> Outcome {
    for bytes in [1, 40_000, 400_000] {
        let team = team(devices)?.with_device_bytes(bytes);
        for ends in [Ends::from(Boundary::Circular), Boundary::Constant(1.5).into(), all_ends()[6]] {
            check_stencil(&team, Lines::new(30_000, 1), 3, ends, 9)?;
            check_convolution(&team, [50, 300, 1], [3, 3, 1], [ends, ends, ends].into(), 6)?;
            check_convolution(&team.clone().in_parts(1, 2), [20, 30, 9], [3, 3, 3], [ends, ends, ends].into(), 4)?;
        }
    }
    Ok(())
}

/// A run that is stopped ends on all devices, and the next one is right.
fn stopped(devices: usize) -> Outcome {
    let team = team(devices)?;
    let input = samples(60_000, 6);
    let what = |sweeps| {
        let taps = Taps::new(&tame(3, 3)).ok_or("no odd number of taps")?;
        Ok::<_, String>(Stencil::new(Lines::new(input.len(), 1), taps).with_sweeps(sweeps))
    };
    for engine in [team.clone(), team.clone().in_parts(1, 3), team.clone().in_parts(3, 50).through_the_host()] {
        let watch = Watch::new();
        let long = what(1_000_000_000)?;
        let mut output = vec![0.0; input.len()];
        let ended = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(200));
                watch.stop();
            });
            engine.stencil(&long, Source::Host(&input), Target::Host(&mut output), &watch)
        });
        if ended != Err(Error::Interrupted) {
            return Err(format!("{engine:?}: {ended:?}"));
        }
        selection::forced(|| check_stencil(&engine, Lines::new(1000, 1), 3, Boundary::Circular, 7))?;
    }
    Ok(())
}

fn copies(devices: usize) -> Outcome {
    let told = |error: Error| error.to_string();
    for (length, seed) in [(0, 1), (1, 2), (1000, 3), (300_000, 4)] {
        let input = samples(length, seed);
        let engine = |ordinal| Cuda::open(Some(ordinal)).map_err(told);
        let mut array = Arrays::<f64>::array(&engine(0)?, length).map_err(told)?;
        Arrays::copy(&engine(0)?, Source::Host(&input), Target::Array(&mut array), &Watch::new()).map_err(told)?;
        // Round all devices, each copy gone as soon as there is the next.
        for ordinal in (1..devices).chain([0]) {
            array = engine(ordinal)?.copy_of(&array).map_err(told)?;
        }
        let mut output = vec![f64::NAN; length];
        Arrays::copy(&engine(0)?, Source::Array(&array), Target::Host(&mut output), &Watch::new()).map_err(told)?;
        if output != input {
            return Err(format!("{length} numbers"));
        }
    }
    Ok(())
}

/// An array goes as soon as its copy has begun, and another one takes its place.
fn copies_of_what_goes(devices: usize) -> Outcome {
    let told = |error: Error| error.to_string();
    let (first, second) = (Cuda::open(Some(0)).map_err(told)?, Cuda::open(Some(devices - 1)).map_err(told)?);
    for round in 0..40 {
        let array = |engine: &Cuda, values: &[f64]| {
            let mut array: Array<f64> = engine.array(values.len())?;
            engine.copy(Source::Host(values), Target::Array(&mut array), &Watch::new()).map(|()| array)
        };
        let (input, other) = (samples(5000, round), samples(5000, round + 1000));
        let copy = {
            let original = array(&first, &input).map_err(told)?;
            second.copy_of(&original).map_err(told)?
        };
        let _in_its_place = array(&first, &other).map_err(told)?;
        let mut output = vec![f64::NAN; input.len()];
        Arrays::copy(&second, Source::Array(&copy), Target::Host(&mut output), &Watch::new()).map_err(told)?;
        if output != input {
            return Err(format!("round {round}"));
        }
    }
    Ok(())
}

/// An array's memory is released while the device still works on it, and a call over several devices gets that memory.
fn memory_in_use(devices: usize) -> Outcome {
    let told = |error: Error| error.to_string();
    let team = team(devices)?.in_parts(1, 2);
    let entries = tame(25, 5);
    let what = Convolution::new([16, 40 * devices, 1], Filter::new(entries, [5, 5, 1]).map_err(|e| e.to_string())?);
    let what = what.with_sweeps(6);
    for round in 0..15 {
        let first = Cuda::open(Some(0)).map_err(told)?;
        let input = samples(what.elements(), round);
        let mut array = Arrays::<f64>::array(&first, input.len()).map_err(told)?;
        Arrays::copy(&first, Source::Host(&input), Target::Array(&mut array), &Watch::new()).map_err(told)?;
        let mut next = Arrays::<f64>::array(&first, input.len()).map_err(told)?;
        let long = what.clone().with_sweeps(60);
        Compute::convolution(&first, &long, Source::Array(&array), Target::Array(&mut next), &Watch::new())
            .map_err(told)?;
        drop((array, next));
        check("memory in use", &team, &input, input.len() * 6, |engine, from, to, watch| {
            engine.convolution(&what, from, to, watch)
        })?;
    }
    Ok(())
}

/// A span of a timeline: its device, true for halos, its part and round, its begin and end.
struct Span {
    device: usize,
    halos: bool,
    part: usize,
    round: usize,
    sweeps: usize,
    begin: f64,
    end: f64,
}

/// Returns the spans of a timeline, one a line.
fn spans(text: &str) -> Result<Vec<Span>, String> {
    let (head, tail) = ("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", "}\n]}\n");
    let body = text.strip_prefix(head).and_then(|text| text.strip_suffix(tail)).ok_or("it is no trace")?;
    let of_line = |line: &str| {
        let number = |key: &str| -> Option<f64> {
            let rest = &line[line.find(key)? + key.len()..];
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            rest[..end].parse().ok()
        };
        let count = |key| number(key).map(|number| number as usize);
        let (halos, begin) = (count("\"tid\":")? == 1, number("\"ts\":")?);
        Some(Span {
            device: count("\"pid\":")?,
            halos,
            part: count("part ")?,
            round: count("round ")?,
            sweeps: if halos { 0 } else { count(": ")? },
            begin,
            end: begin + number("\"dur\":")?,
        })
    };
    let spans = body.lines().filter(|line| line.contains("\"ph\":\"X\""));
    spans.map(|line| of_line(line).ok_or_else(|| format!("no span: {line}"))).collect()
}

/// The timeline has every round of every part, on the part's device; a halo travels after its part's round, and the
/// part's next round begins after the halo's arrival.
fn timelines(devices: usize) -> Outcome {
    let file = std::env::temp_dir().join(format!("stencil-timeline-{}-{devices}.json", std::process::id()));
    for (each, at_once, sweeps) in [(1, 2, 7), (3, 3, 9)] {
        let team = team(devices)?.in_parts(each, at_once).with_timeline(file.clone());
        let check = || check_convolution(&team, [6, 30 * devices, 1], [3, 3, 1], Boundary::Circular.into(), sweeps);
        selection::forced(check)?;
        let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
        let spans = spans(&text)?;
        let rounds = sweeps.div_ceil(at_once);
        for part in 0..devices * each {
            let of = |halos: bool| spans.iter().filter(move |span| span.part == part && span.halos == halos);
            let (swept, halos): (Vec<_>, Vec<_>) = (of(false).collect(), of(true).collect());
            if swept.iter().map(|span| span.sweeps).sum::<usize>() != sweeps || swept.len() != rounds {
                return Err(format!("part {part} of {each} each: {} rounds:\n{text}", swept.len()));
            }
            if !spans.iter().filter(|span| span.part == part).all(|span| span.device == part / each) {
                return Err(format!("part {part} of {each} each is not where it belongs:\n{text}"));
            }
            // The one in the middle shows nothing of other devices.
            let wanted = if each == 3 && part % 3 == 1 { 0 } else { rounds - 1 };
            // Times have half a microsecond.
            let in_order = halos.iter().all(|halo| {
                let round = |number: usize| swept.iter().find(|span| span.round == number);
                halo.end >= halo.begin
                    && round(halo.round).is_some_and(|span| span.end <= halo.begin + 2.0)
                    && round(halo.round + 1).is_some_and(|span| halo.end <= span.begin + 2.0)
            });
            if halos.len() != wanted || !in_order {
                return Err(format!("the halos of part {part} of {each} each, {devices} devices:\n{text}"));
            }
        }
    }
    std::fs::remove_file(&file).map_err(|error| error.to_string())?;
    // A timeline that cannot be written changes nothing.
    let team = team(devices)?.in_parts(1, 2).with_timeline("/nowhere/timeline.json".into());
    selection::forced(|| check_convolution(&team, [6, 30 * devices, 1], [3, 3, 1], Boundary::Circular.into(), 5))
}

/// Empty arrays, no sweeps, arrays that stay on one device.
fn small(devices: usize) -> Outcome {
    let team = team(devices)?;
    check_stencil(&team, Lines::new(0, 0), 3, Boundary::Circular, 5)?;
    check_stencil(&team, Lines::new(50, 2), 3, Boundary::Circular, 0)?;
    check_stencil(&team, Lines::new(50, 2), 3, Boundary::Mirror, 1000)?;
    check_convolution(&team, [30, 1, 1], [3, 1, 1], Boundary::Mirror.into(), 20)?;
    check_convolution(&team, [16, 16, 1], [3, 3, 1], Boundary::Circular.into(), 50)?;
    check_convolution(&team, [16, 16, 0], [3, 3, 1], Boundary::Circular.into(), 50)
}

/// The variables of each process that is wanted.
pub fn processes() -> &'static [&'static [(&'static str, &'static str)]] {
    if StandIn::find().is_some() { &STAND_INS } else { &[&[]] }
}

/// All of it on the devices that this process has.
pub fn trials() -> Vec<Trial> {
    let stand_in = StandIn::find();
    let there = Driver::get().map(|driver| driver.devices.len());
    let devices = *there.as_ref().unwrap_or(&0);
    let reason = match there {
        Err(reason) => Some(reason.to_owned()),
        Ok(_) if devices < 2 => Some(format!("{devices} device")),
        Ok(_) => None,
    };
    let apart = if std::env::var(PEERS).is_ok_and(|peers| peers == "0") { " apart" } else { "" };
    let ignored = reason.is_some();
    let reason = reason.map(|reason| format!(" (skipped: {reason})")).unwrap_or_default();
    let trial = |(case, run): Case| {
        let run = move || {
            if stand_in.is_some() {
                selection::begin_on_stand_in()
            } else {
                selection::begin()
            }
            let outcome = run(devices);
            cuda::release();
            let left = stand_in.map(|stand_in| (stand_in.alive(), stand_in.misuse()));
            outcome?;
            match left {
                Some((alive, misuse)) if !alive.is_empty() || misuse.is_some() => {
                    Err(Failed::from(format!("alive: {alive}; misuse: {misuse:?}")))
                }
                _ => Ok(()),
            }
        };
        Trial::test(format!("devices::{devices} devices{apart}::{case}{reason}"), run).with_ignored_flag(ignored)
    };
    CASES.map(trial).into()
}
