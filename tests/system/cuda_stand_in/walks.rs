//! PTX that was made at run time, as in kernels whose warps walk: loops, values that lanes exchange, vectors in memory,
//! and words of a number. Compares each with plain Rust, and checks the errors.

use super::generated::{
    Beside, HEAD, INVALID_IMAGE, Loaded, MISALIGNED, THREADS, WHOLE, WrongKernel, WrongText, beside, check_assembles,
    kernel, load_wrong_texts, refused, run_wrong_kernels, wrong_kernels, wrong_text, wrong_texts,
};
use super::{Case, Context, ILLEGAL_ADDRESS, LAUNCH_FAILED, Outcome, expect, kind};
use crate::common::child;

const LANES: usize = 32;

/// For the table of tests.
pub const TABLE: [Case; 11] = [
    ("generated_branches", |_| branches()),
    ("generated_words", |_| beside(&words(), &WHOLE)),
    ("generated_vectors", |_| vectors()),
    ("generated_shuffles", |_| shuffles()),
    ("generated_shuffles_in_a_loop", |_| walk()),
    ("generated_warps_that_wait", |_| waits()),
    ("generated_warps_of_a_block_in_space", |_| blocks_in_space()),
    ("generated_lanes_run_in_an_order_of_the_seed", |_| orders()),
    ("generated_walks_that_are_wrong", |_| wrong_texts("walks' texts", &WRONG_TEXTS)),
    ("generated_walks_that_go_wrong", |_| wrong_kernels("walks", &WRONG_KERNELS, &[HALF_A_WARP])),
    ("generated_kernels_race", |_| races()),
];

/// The work of a child, by its name; `None` for a case of another file.
pub fn in_child(what: &str) -> Option<Outcome> {
    match what {
        "walks' texts" => Some(load_wrong_texts(&WRONG_TEXTS).and_then(|()| load_wrong_symbols())),
        "walks" => Some(run_wrong_kernels(&WRONG_KERNELS).and_then(|()| run_half_a_warp())),
        "walks' orders" => Some(run_counts().map(|turns| print!("{turns:?}"))),
        _ => None,
    }
}

fn branches() -> Outcome {
    let cases: Vec<Beside> = vec![
        // A sum in a loop, with a round for each trailing one of the number.
        (
            "and.b64 %x3, %x0, 63; mov.u64 %x9, 0; mov.u64 %x4, 0; bra $TEST_a; $ROUND_a: add.u64 %x9, %x9, %x4; \
             add.u64 %x4, %x4, 1; $TEST_a: setp.lt.u64 %p0, %x4, %x3; @%p0 bra $ROUND_a;",
            |a, _, _| (0..a & 63).sum(),
        ),
        ("mov.u64 %x9, 1; setp.lt.u64 %p0, %x0, %x1; @%p0 mov.u64 %x9, 2;", |a, b, _| if a < b { 2 } else { 1 }),
        ("mov.u64 %x9, 1; setp.lt.u64 %p0, %x0, %x1; @!%p0 mov.u64 %x9, 2;", |a, b, _| if a < b { 1 } else { 2 }),
        // An instruction that a guard leaves out reads nothing.
        (
            "setp.ne.u64 %p0, %x0, %x0; @%p0 mov.u64 %x3, %x8; @%p0 ld.global.u64 %x3, [%x8]; mov.u64 %x9, %x0;",
            |a, _, _| a,
        ),
        // Either way, and together again; one way ends by itself.
        (
            "setp.gt.s64 %p0, %x0, 0; @!%p0 bra.uni $LESS; mov.u64 %x9, 10; bra.uni $BOTH; $LESS: mov.u64 %x9, 20; \
             $BOTH: add.u64 %x9, %x9, 1;",
            |a, _, _| if a as i64 > 0 { 11 } else { 21 },
        ),
        ("st.global.u64 [%x13], 77; setp.gt.s64 %p0, %x0, 0; @%p0 exit; mov.u64 %x9, 5;", |a, _, _| {
            if a as i64 > 0 { 77 } else { 5 }
        }),
        ("st.global.u64 [%x13], 78; setp.gt.s64 %p0, %x0, 0; @!%p0 bra GO; ret; GO: mov.u64 %x9, 5;", |a, _, _| {
            if a as i64 > 0 { 78 } else { 5 }
        }),
    ];
    beside(&cases, &WHOLE)
}

fn words() -> Vec<Beside> {
    vec![
        ("mov.b64 {%r9, %r3}, %x0;", |a, _, _| a & 0xffff_ffff),
        ("mov.b64 {%r3, %r9}, %x0;", |a, _, _| a >> 32),
        ("mov.b64 {%f9, %f3}, %d0;", |a, _, _| a & 0xffff_ffff),
        ("mov.b64 {%r3, %f9}, %d0;", |a, _, _| a >> 32),
        ("mov.b64 %x9, {%r0, %r1};", |a, b, _| (b << 32) | (a & 0xffff_ffff)),
        ("mov.b64 %x9, {%f0, %r0};", |a, _, _| (a << 32) | (a & 0xffff_ffff)),
        ("mov.b64 %d3, {%f0, %f1}; mov.b64 %x9, %d3;", |a, b, _| (b << 32) | (a & 0xffff_ffff)),
        ("setp.lt.u64 %p0, %x0, %x1; mov.b64 {%r3, %r9}, %x0; @%p0 mov.b64 {%r9, %r3}, %x1;", |a, b, _| {
            if a < b { b & 0xffff_ffff } else { a >> 32 }
        }),
    ]
}

/// Numbers whose words differ.
fn numbers(count: usize, seed: u64) -> Vec<u64> {
    (0..count as u64).map(|i| (i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
}

/// Runs the kernels of bodies, each over several blocks of several warps.
fn compare(symbols: &str, cases: &[(String, impl Fn(&[Vec<u64>; 3], usize) -> u64)]) -> Outcome {
    let name = |i: usize| format!("case_{i}");
    let kernels: String = cases.iter().enumerate().map(|(i, (body, _))| kernel(&name(i), body)).collect();
    let ptx = format!("{HEAD}{symbols}{kernels}");
    check_assembles(&ptx)?;
    let loaded = Loaded::new(&ptx)?;
    let inputs = [1, 1000, 2000].map(|seed| numbers(3 * THREADS, seed));
    for (i, (body, wanted)) in cases.iter().enumerate() {
        let (ended, output) = loaded.run(&name(i), [&inputs[0], &inputs[1], &inputs[2]])?;
        expect(body, ended, 0)?;
        for (at, got) in output.into_iter().enumerate() {
            expect(&format!("{body} at {at}"), got, wanted(&inputs, at))?;
        }
    }
    Ok(())
}

/// The number that a vector's case leaves at a place.
type OfVector = fn(&[Vec<u64>; 3], usize) -> u64;

fn vectors() -> Outcome {
    let symbols = ".global .align 16 .b64 pairs[4] = {5, 6, 7, 8};\n";
    let pair = "and.b64 %x3, %x10, -16; ";
    // Only threads with an even place have one of their own.
    let even = "and.b32 %r3, %r13, 1; setp.ne.u32 %p0, %r3, 0; ";
    let cases: [(String, OfVector); 15] = [
        (format!("{pair}ld.global.v2.f64 {{%d3, %d9}}, [%x3];"), |all, at| all[0][at | 1]),
        (format!("{pair}ld.global.nc.v2.f64 {{%d9, %d3}}, [%x3];"), |all, at| all[0][at & !1]),
        // The address is part of the value read.
        (format!("{pair}ld.global.v2.b64 {{%x3, %x9}}, [%x3];"), |all, at| all[0][at | 1]),
        (format!("{pair}ld.global.nc.v2.b64 {{%x3, %x4}}, [%x3]; mov.u64 %x9, %x3;"), |all, at| all[0][at & !1]),
        (format!("{pair}ld.global.v2.b64 {{%x4, %x3}}, [%x3]; sub.u64 %x9, %x4, %x3;"), |all, at| {
            all[0][at & !1].wrapping_sub(all[0][at | 1])
        }),
        ("ld.global.v2.f32 {%f3, %f4}, [%x10]; mov.b64 %x9, {%f3, %f4};".into(), |all, at| all[0][at]),
        (format!("{pair}ld.global.nc.v2.b32 {{%r3, %r4}}, [%x3+8]; mov.b64 %x9, {{%r3, %r4}};"), |all, at| {
            all[0][at | 1]
        }),
        (format!("{pair}ld.global.nc.v4.f32 {{%f3, %f4, %f5, %f6}}, [%x3]; mov.b64 %x9, {{%f3, %f4}};"), |all, at| {
            all[0][at & !1]
        }),
        (format!("{pair}ld.global.v4.b32 {{%r3, %f4, %f5, %r6}}, [%x3]; mov.b64 %x9, {{%f5, %r6}};"), |all, at| {
            all[0][at | 1]
        }),
        ("ld.global.v2.b64 {%x3, %x9}, [pairs+16];".into(), |_, _| 8),
        ("st.global.v2.f32 [%x13], {%f1, %f0}; ld.global.b64 %x9, [%x13];".into(), |all, at| {
            (all[0][at] << 32) | (all[1][at] & 0xffff_ffff)
        }),
        (format!("{even}@%p0 exit; st.global.v2.f64 [%x13], {{%d0, %d1}}; mov.b64 %x9, %x2;"), |all, at| {
            if at % 2 == 0 { all[2][at] } else { all[1][at - 1] }
        }),
        (format!("{even}@!%p0 st.global.v2.b64 [%x13], {{%x0, %x1}}; @!%p0 mov.b64 %x9, 3; @%p0 exit;"), |all, at| {
            if at % 2 == 0 { 3 } else { all[1][at - 1] }
        }),
        (format!("{even}@%p0 exit; st.global.v4.b32 [%x13], {{%r0, %r1, %r2, %r0}}; ld.global.b64 %x9, [%x13];"), {
            |all, at| {
                let low = |array: usize| all[array][at & !1] & 0xffff_ffff;
                if at % 2 == 0 { (low(1) << 32) | low(0) } else { (low(0) << 32) | low(2) }
            }
        }),
        (format!("{even}@%p0 exit; st.global.v4.f32 [%x13], {{%f2, %f1, %f0, %f1}}; ld.global.b64 %x9, [%x13];"), {
            |all, at| {
                let low = |array: usize| all[array][at & !1] & 0xffff_ffff;
                if at % 2 == 0 { (low(1) << 32) | low(2) } else { (low(1) << 32) | low(0) }
            }
        }),
    ];
    compare(symbols, &cases)
}

/// The lane that one takes from, as the manual has it.
fn source(way: &str, lane: i64, by: u64, clamp: u64) -> i64 {
    let (by, most, segment) = ((by & 31) as i64, (clamp & 31) as i64, (clamp >> 8 & 31) as i64);
    let least = lane & segment;
    let last = least | (most & !segment);
    let (from, inside) = match way {
        "up" => (lane - by, lane - by >= last),
        "down" => (lane + by, lane + by <= last),
        "bfly" => (lane ^ by, lane ^ by <= last),
        _ => (least | (by & !segment), least | (by & !segment) <= last),
    };
    if inside { from } else { lane }
}

fn shuffles() -> Outcome {
    // Some are known without a manual.
    for (way, by, clamp, lane, from) in [
        ("up", 1, 0, 0, 0),
        ("up", 2, 0, 31, 29),
        ("down", 1, 31, 31, 31),
        ("down", 4, 31, 27, 31),
        ("bfly", 16, 31, 5, 21),
        ("idx", 40, 31, 20, 8),
        ("down", 1, 0x181f, 7, 7),
        ("up", 1, 0x1800, 8, 8),
        ("idx", 3, 0x181f, 17, 19),
    ] {
        expect(&format!("{way} {by}, {clamp:#x} of {lane}"), source(way, lane, by, clamp), from)?;
    }
    let masks = ["0xffffffff", "-1", "4294967295"];
    let mut cases = Vec::new();
    for way in ["idx", "up", "down", "bfly"] {
        let clamps = if way == "up" { [0, 0x1800, 0x1c03] } else { [0x1f, 0x181f, 0x1003] };
        // As numbers, and as each lane's own value.
        for (i, by) in [Some(1), Some(5), Some(31), Some(16), None].into_iter().enumerate() {
            for clamp in clamps.map(Some).into_iter().chain([None]) {
                let text = |number: Option<u64>, else_: &str| number.map_or(else_.to_string(), |n| n.to_string());
                let (to, from) = [("%r9", "%r0"), ("%f9", "%f0")][i % 2];
                let body = format!(
                    "shfl.sync.{way}.b32 {to}, {from}, {}, {}, {};",
                    text(by, "%r1"),
                    text(clamp, "%r2"),
                    masks[i % 3]
                );
                cases.push((body, move |all: &[Vec<u64>; 3], at: usize| {
                    let (by, clamp) = (by.unwrap_or(all[1][at]), clamp.unwrap_or(all[2][at]));
                    let from = source(way, (at % LANES) as i64, by, clamp) as usize;
                    all[0][at / LANES * LANES + from] & 0xffff_ffff
                }));
            }
        }
    }
    compare("", &cases)
}

const ROUNDS: u32 = 3000;

/// Lanes that take from two others in each round, diverge between rounds, and converge again; and a kernel whose lanes
/// may return after the last shuffle.
fn walk() -> Outcome {
    let body = format!(
        "mov.b32 %r3, %r0; mov.u32 %r4, 0; and.b32 %r5, %r10, 3; setp.eq.u32 %p0, %r5, 0; \
         $ROUND: shfl.sync.up.b32 %r6, %r3, 1, 0, -1; shfl.sync.bfly.b32 %r3, %r3, 4, 0x1f, -1; @%p0 bra $OTHER; \
         mad.lo.u32 %r3, %r3, 5, %r6; bra $BOTH; $OTHER: xor.b32 %r3, %r3, %r6; add.u32 %r3, %r3, %r4; \
         $BOTH: add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, {ROUNDS}; @%p1 bra $ROUND; \
         st.global.u64 [%x13], 7; @%p0 exit; mov.u32 %r9, %r3;"
    );
    let ptx = format!("{HEAD}{}", kernel("walk", &body));
    check_assembles(&ptx)?;
    let input = numbers(4 * THREADS, 3);
    let (ended, output) = Loaded::new(&ptx)?.run("walk", [&input; 3])?;
    expect("ended", ended, 0)?;
    for (warp, lanes) in input.chunks(LANES).enumerate() {
        let mut values: Vec<u32> = lanes.iter().map(|&value| value as u32).collect();
        for round in 0..ROUNDS {
            let before = values.clone();
            for (lane, value) in values.iter_mut().enumerate() {
                let (above, across) = (before[lane.saturating_sub(1)], before[lane ^ 4]);
                let is_other = lane % 4 == 0;
                *value = if is_other {
                    (across ^ above).wrapping_add(round)
                } else {
                    across.wrapping_mul(5).wrapping_add(above)
                };
            }
        }
        let wanted = values.iter().enumerate().map(|(lane, &value)| if lane % 4 == 0 { 7 } else { value.into() });
        expect(&format!("warp {warp}"), &output[LANES * warp..][..LANES], &wanted.collect::<Vec<u64>>())?;
    }
    Ok(())
}

/// A block's threads are counted x first: 32 after another are a warp.
fn blocks_in_space() -> Outcome {
    let body = "mov.u32 %r3, %tid.y; mov.u32 %r4, %tid.z; mad.lo.u32 %r5, %r4, 8, %r3; mad.lo.u32 %r5, %r5, 4, %r10; \
                shfl.sync.down.b32 %r9, %r5, 1, 0x1f, -1; mad.lo.u32 %r5, %r11, 64, %r5; \
                mad.wide.u32 %x13, %r5, 8, %x15;";
    let ptx = format!("{HEAD}{}", kernel("space", body));
    check_assembles(&ptx)?;
    let ones = [1; 2 * THREADS];
    let output = Loaded::new(&ptx)?.run_in("space", (4, 8, 2), [&ones; 3])?;
    let wanted = (0..ones.len() as u64).map(|at| at % 64 + u64::from(at % 32 < 31));
    expect("neighbours", output, (0, wanted.collect()))
}

/// Counts in memory, which each thread adds to ahead of a shuffle and behind it: the turns of all threads.
fn run_counts() -> Result<Vec<(u64, u64)>, String> {
    let count = "ld.global.u64 %x4, [turns]; add.u64 %x5, %x4, 1; st.global.u64 [turns], %x5;";
    let body = format!(
        "{count} shl.b64 %x6, %x4, 32; shfl.sync.idx.b32 %r3, %r10, 0, 0x1f, -1; {count} or.b64 %x9, %x6, %x4;"
    );
    let ptx = format!("{HEAD}.global .u64 turns;\n{}", kernel("counts", &body));
    let ones = [1; 2 * THREADS];
    let (ended, output) = Loaded::new(&ptx)?.run("counts", [&ones; 3])?;
    expect("ended", ended, 0)?;
    Ok(output.into_iter().map(|both| (both >> 32, both & 0xffff_ffff)).collect())
}

/// All of a warp come to a shuffle before any goes on; in which order, and which warp is first, the seed says.
fn orders() -> Outcome {
    // There the counts are a race.
    if kind() == "races" {
        return Ok(());
    }
    let turns = run_counts()?;
    let mut different = false;
    for (warp, lanes) in turns.chunks(LANES).enumerate() {
        let first = lanes.iter().map(|lane| lane.0).min().unwrap_or_default();
        for (round, of_round) in
            [lanes.iter().map(|lane| lane.0).collect::<Vec<_>>(), lanes.iter().map(|lane| lane.1).collect()]
                .iter_mut()
                .enumerate()
        {
            of_round.sort_unstable();
            let wanted: Vec<u64> = (0..LANES as u64).map(|turn| first + (LANES * round) as u64 + turn).collect();
            expect(&format!("warp {warp} around its shuffle, {round}"), &*of_round, &wanted)?;
        }
        different |= lanes.iter().any(|lane| lane.1 != lane.0 + LANES as u64);
    }
    expect("another order behind the shuffle", different, true)?;
    let mut seen = std::collections::BTreeSet::new();
    let mut first_warps = std::collections::BTreeSet::new();
    for seed in ["1", "2", "3", "4", "5", "6", "1"] {
        let ended = child("walks' orders", &[("CUDA_STAND_IN_SEED", seed)])?;
        if !ended.status.success() {
            return Err(ended.output);
        }
        // True if the first block's first warp comes first.
        let turn = |thread: usize| {
            let turns = ended.output.split('(').nth(1 + thread)?.split(',').next()?;
            turns.parse::<u64>().ok()
        };
        first_warps.insert(turn(0) < turn(LANES));
        seen.insert(ended.output);
    }
    expect("orders", (seen.len(), first_warps.len()), (6, 2))
}

/// Wrong texts, by their error.
const WRONG_TEXTS: [WrongText; 28] = [
    ("shfl.sync.idx.b32 %r9, %r0, 0, 0x1f, 0xffff;", "a mask of lanes but 0xffffffff is not known here"),
    ("shfl.sync.idx.b32 %r9, %r0, 0, 0x1f, -2;", "a mask of lanes but 0xffffffff is not known here"),
    ("shfl.sync.idx.b32 %r9, %r0, 0, 0x1f, %r1;", "a mask of lanes but 0xffffffff is not known here"),
    ("shfl.sync.idx.b32 %r9, %r0, 0, 0x1f;", "no , but ;"),
    ("shfl.sync.down.b32 %r9|%p0, %r0, 1, 0x1f, -1;", "a sign that is not known here: |"),
    ("shfl.sync.down.b32 %x9, %r0, 1, 0x1f, -1;", "%x9 was declared as .b64, and is used as .b32"),
    ("shfl.sync.up.b32 %r9, %r0, %f1, 0, -1;", "%f1 was declared as .f32, and is used as .u32"),
    ("shfl.sync.down.f32 %f9, %f0, 1, 0x1f, -1;", "no instruction that is known here: shfl.sync.down.f32"),
    ("shfl.down.b32 %r9, %r0, 1, 0x1f;", "no instruction that is known here: shfl.down.b32"),
    ("ld.global.v2.f64 {%d9, %f9}, [%x10];", "%f9 was declared as .f32, and is used as .f64"),
    ("ld.global.v2.f64 {%d9, %d9}, [%x10];", "%d9 is written twice"),
    ("ld.global.v2.f64 {%d9, %d3}, [%r0];", "%r0 was declared as .b32, and is used as .u64"),
    ("ld.global.v2.f64 %d9, [%x10];", "no { but %d9"),
    ("ld.global.v4.f32 {%f9, %f3}, [%x10];", "no , but }"),
    ("ld.global.v2.f32 {%f9, %f3, %f4}, [%x10];", "no } but ,"),
    ("ld.global.v4.f64 {%d1, %d2, %d3, %d9}, [%x10];", "no instruction that is known here: ld.global.v4.f64"),
    ("ld.global.v2.b64 {%x9, %x3}, [numbers];", "numbers lies in another space"),
    ("st.global.v2.b64 [%x13], {%x0, 5};", "no name but 5"),
    ("st.global.v2.b64 [%x13], %x0;", "no { but %x0"),
    (".reg .u32 %u; mov.u32 %u, 1; st.global.v2.b32 [%x13], {%f0, %u};", "%u is of another type than others in its"),
    ("mov.b64 {%r9, %x3}, %x0;", "%x3 was declared as .b64, and is used as .b32"),
    ("mov.b64 {%r9, %r9}, %x0;", "%r9 is written twice"),
    ("mov.b64 {%r9, %r3}, %r0;", "%r0 was declared as .b32, and is used as .b64"),
    ("mov.b64 %x9, {%r0, %r1, %r2};", "no } but ,"),
    ("mov.u64 %x9, {%r0, %r1};", "no number of the type .u64: {"),
    ("bar.sync 1;", "a barrier but 0 is not known here"),
    (".shared .align 8 .b8 many[49160]; mov.u64 %x9, 1;", "more shared memory than 48 KiB"),
    (".shared .align 8 .b8 own[64]; ld.shared.u64 %x9, [%r0];", "%r0 was declared as .b32, and is used as .u64"),
];

/// A vector off its alignment in a symbol, or beyond its end; and one that is right.
fn load_wrong_symbols() -> Outcome {
    let _context = Context::new(0)?;
    for (symbol, access, wanted) in [
        (".align 16 .b64 pairs[4]", "ld.global.v2.b64 {%x3, %x9}, [pairs+8];", INVALID_IMAGE),
        (".align 8 .b64 pairs[4]", "ld.global.v2.b64 {%x3, %x9}, [pairs];", INVALID_IMAGE),
        (".align 16 .b64 pairs[3]", "ld.global.v2.b64 {%x3, %x9}, [pairs+16];", INVALID_IMAGE),
        (".align 16 .b64 pairs[4]", "st.global.v4.f32 [pairs+4], {%f0, %f0, %f0, %f0}; mov.u64 %x9, 1;", INVALID_IMAGE),
    ] {
        eprintln!("text: {access} of {symbol}");
        expect(access, refused(&format!("{HEAD}.global {symbol};\n{}", kernel("wrong", access))), wanted)?;
    }
    Ok(())
}

/// Kernels that fail, with their status and message.
const WRONG_KERNELS: [WrongKernel; 24] = [
    (
        "setp.eq.u32 %p0, %r10, 5; @%p0 bra $OVER; shfl.sync.idx.b32 %r3, %r0, 0, 0x1f, -1; $OVER: mov.u64 %x9, 1;",
        LAUNCH_FAILED,
        "shuffles, and not all lanes of the warp came to it: lane 5 is over",
    ),
    (
        "setp.eq.u32 %p0, %r10, 32; @%p0 exit; shfl.sync.up.b32 %r3, %r0, 1, 0, -1; mov.u64 %x9, 1;",
        LAUNCH_FAILED,
        ", thread (32, 0, 0)]",
    ),
    (
        "setp.lt.u32 %p0, %r10, 48; @%p0 bra $ONE; shfl.sync.idx.b32 %r3, %r0, 0, 0x1f, -1; mov.u64 %x9, 1; bra $BOTH; \
         $ONE: shfl.sync.idx.b32 %r3, %r0, 0, 0x1f, -1; $BOTH: mov.u64 %x9, 1;",
        LAUNCH_FAILED,
        "line 45 of the PTX shuffles, and not all lanes of the warp came to it: lane 16 stands at line 42 [",
    ),
    (
        "setp.ne.u32 %p0, %r10, 33; @%p0 shfl.sync.bfly.b32 %r3, %r0, 1, 0x1f, -1; mov.u64 %x9, 1;",
        LAUNCH_FAILED,
        "and not all lanes of the warp came to it: lane 1 is over [",
    ),
    // One turns less often.
    (
        "setp.eq.u32 %p0, %r10, 9; selp.u32 %r3, 2, 3, %p0; $N: shfl.sync.down.b32 %r4, %r0, 1, 0x1f, -1; \
         sub.u32 %r3, %r3, 1; setp.gt.u32 %p1, %r3, 0; @%p1 bra $N; mov.u64 %x9, 1;",
        LAUNCH_FAILED,
        "came to it: lane 9 is over",
    ),
    ("$L: shfl.sync.up.b32 %r3, %r0, 1, 0, -1; bra $L; mov.u64 %x9, 1;", LAUNCH_FAILED, "branches without an end"),
    ("shfl.sync.up.b32 %r9, %r8, 1, 0, -1;", LAUNCH_FAILED, "reads %r8, which the thread has not written"),
    ("shfl.sync.up.b32 %r9, %r0, %r8, 0, -1;", LAUNCH_FAILED, "reads %r8, which the thread has not written"),
    ("shfl.sync.up.b32 %r9, %r0, 1, %r8, -1;", LAUNCH_FAILED, "reads %r8, which the thread has not written"),
    // A register that one lane has written is unwritten in the others.
    (
        "and.b32 %r4, %r10, 31; setp.eq.u32 %p0, %r4, 3; @%p0 mov.u32 %r3, 1; \
         shfl.sync.idx.b32 %r4, %r0, 3, 0x1f, -1; mov.u32 %r9, %r3;",
        LAUNCH_FAILED,
        "reads %r3, which the thread has not written",
    ),
    // A later warp does not have an earlier one's either: one of these two warps is not the first.
    (
        "setp.ge.u32 %p0, %r13, 32; shfl.sync.idx.b32 %r4, %r0, 3, 0x1f, -1; @%p0 mov.u32 %r3, 1; mov.u32 %r9, %r3;",
        LAUNCH_FAILED,
        "reads %r3, which the thread has not written",
    ),
    (
        "setp.lt.u32 %p0, %r13, 96; shfl.sync.idx.b32 %r4, %r0, 3, 0x1f, -1; @%p0 mov.u32 %r3, 1; mov.u32 %r9, %r3;",
        LAUNCH_FAILED,
        "reads %r3, which the thread has not written",
    ),
    (
        "shfl.sync.idx.b32 %r4, %r0, 3, 0x1f, -1; setp.eq.u32 %p0, %r10, 37; @%p0 ld.global.u64 %x3, [%x10+4096]; \
         mov.u64 %x9, 1;",
        ILLEGAL_ADDRESS,
        "or no longer; the next below is",
    ),
    (
        "shfl.sync.idx.b32 %r4, %r0, 3, 0x1f, -1; setp.eq.u32 %p0, %r10, 37; @%p0 ld.global.u64 %x3, [%x10+4]; \
         mov.u64 %x9, 1;",
        MISALIGNED,
        ", thread (37, 0, 0)]",
    ),
    ("ld.global.v2.f64 {%d9, %d3}, [%x10];", MISALIGNED, "reads 16 bytes at"),
    ("ld.global.nc.v2.f32 {%f9, %f3}, [%x10+4];", MISALIGNED, "reads 8 bytes at"),
    (
        "and.b64 %x3, %x13, -16; st.global.v4.f32 [%x3+8], {%f0, %f0, %f0, %f0}; mov.u64 %x9, 1;",
        MISALIGNED,
        "writes 16",
    ),
    ("and.b64 %x3, %x10, -16; ld.global.v2.b64 {%x9, %x4}, [%x3+16];", ILLEGAL_ADDRESS, "reads 8 bytes at"),
    (
        "and.b64 %x3, %x13, -16; ld.global.v2.b64 {%x9, %x8}, [%x3]; st.global.v2.b64 [%x3], {%x0, %x7};",
        LAUNCH_FAILED,
        "reads %x7, which the thread has not written",
    ),
    ("ld.global.v2.f64 {%d9, %d3}, [%x8];", LAUNCH_FAILED, "reads %x8, which the thread has not written"),
    (
        "setp.ge.u32 %p0, %r10, 32; @%p0 bra $OVER; bar.sync 0; $OVER: mov.u64 %x9, 1;",
        LAUNCH_FAILED,
        "waits, and not all threads of the block came to it: thread 32 is over",
    ),
    (
        "setp.eq.u32 %p0, %r10, 5; @%p0 bra $OVER; bar.sync 0; $OVER: mov.u64 %x9, 1;",
        LAUNCH_FAILED,
        "waits, and not all threads of the block came to it: thread 5 is over",
    ),
    (
        "setp.ge.u32 %p0, %r10, 32; @%p0 bra $TWO; bar.sync 0; bra $BOTH; $TWO: bar.sync 0; $BOTH: mov.u64 %x9, 1;",
        LAUNCH_FAILED,
        "came to it: thread 0 waits at line",
    ),
    (
        ".shared .align 8 .b8 own[64]; mov.u64 %x3, own; bar.sync 0; ld.shared.u64 %x9, [%x3+64];",
        ILLEGAL_ADDRESS,
        "where there is no memory",
    ),
];

const HALF_A_WARP: WrongKernel = ("half a warp", LAUNCH_FAILED, "came to it: lane 8 is not in the block");

/// A block whose last warp has eight threads.
fn run_half_a_warp() -> Outcome {
    let loaded = Loaded::new(&wrong_text("shfl.sync.idx.b32 %r9, %r10, 0, 0x1f, -1;"))?;
    eprintln!("kernel: half a warp");
    expect("half a warp", loaded.run_in("wrong", (40, 1, 1), [&[1; 40]; 3])?.0, LAUNCH_FAILED)
}

/// A number for another thread of the block, of the other warp, through shared memory, with this between.
fn exchange(between: &str) -> String {
    format!(
        ".shared .align 8 .b8 all[{}]; mov.u64 %x3, all; mad.wide.u32 %x4, %r10, 8, %x3; st.shared.b64 [%x4], %x0; \
         {between} xor.b32 %r3, %r10, 33; mad.wide.u32 %x5, %r3, 8, %x3; ld.shared.b64 %x9, [%x5];",
        8 * THREADS
    )
}

/// Warps that wait for each other at a barrier of their block, also one after the other.
fn waits() -> Outcome {
    let ptx = wrong_text(&exchange("bar.sync 0;"));
    check_assembles(&ptx)?;
    let numbers: Vec<u64> = (0..2 * THREADS as u64).map(|i| i * i + 7).collect();
    let found = Loaded::new(&ptx)?.run("wrong", [&numbers; 3])?.1;
    let right: Vec<u64> = (0..numbers.len()).map(|at| numbers[at ^ 33]).collect();
    expect("what the other warp has", &found[..], &right[..])
}

/// The races build finds two threads at one place, in vectors, and around a shuffle, which orders no accesses to
/// memory. A thread's own variables are no race.
fn races() -> Outcome {
    let pair = "ld.param.u64 %x3, [meets_param_0+24]; and.b64 %x4, %x13, -16; mov.u64 %x9, %x0; ";
    let shuffle = "shfl.sync.up.b32 %r3, %r10, 1, 0, -1;";
    for (body, is_race) in [
        ("st.global.u64 [%x3], %x0;".into(), true),
        ("st.global.v2.b64 [%x4], {%x0, %x1};".into(), true),
        ("ld.global.v2.b64 {%x5, %x6}, [%x4]; st.global.b64 [%x13], %x5;".into(), true),
        ("st.global.v2.b32 [%x13], {%r0, %r1};".into(), false),
        (format!("st.global.b64 [%x13], %x0; {shuffle} ld.global.b64 %x5, [%x4];"), true),
        (format!("st.global.b64 [%x13], %x0; {shuffle} ld.global.b64 %x5, [%x13];"), false),
        (format!("{shuffle} setp.eq.u32 %p0, %r13, 0; @%p0 st.global.b64 [%x3], 1; {shuffle}"), false),
        (exchange("bar.sync 0;"), false),
        (exchange(""), true),
        (exchange(shuffle), true),
    ] {
        let ptx = format!("{HEAD}{}", kernel("meets", &format!("{pair}{body}")));
        check_assembles(&ptx)?;
        let ones = [1_u64; 2 * THREADS];
        let ended = Loaded::new(&ptx)?.run("meets", [&ones; 3])?.0;
        expect(&body, ended, if is_race && kind() == "races" { LAUNCH_FAILED } else { 0 })?;
    }
    Ok(())
}
