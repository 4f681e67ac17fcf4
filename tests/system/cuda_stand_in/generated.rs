//! PTX that was made at run time: compares each instruction with plain Rust, and checks the errors for wrong texts and
//! kernels.
//!
//! The assembler, if there is one, takes every correct text: so the tests are about PTX.

use std::ffi::{CString, c_void};

use super::{Case, Context, ILLEGAL_ADDRESS, LAUNCH_FAILED, Outcome, expect, status, text};
use crate::common::assembler::{Usage, assembled};
use crate::common::{Mode, StandIn, child};
use cudarc::driver::{result, sys};

const INVALID_VALUE: i32 = 1;
pub const INVALID_IMAGE: i32 = 200;
const NO_BINARY: i32 = 209;
const NOT_FOUND: i32 = 500;
pub const MISALIGNED: i32 = 716;

pub const THREADS: usize = 64;

pub const HEAD: &str = "// generated\n.version 8.0\n.target sm_60\n.address_size 64\n";

const NAN32: u64 = 0x7fff_ffff;

/// For the table of tests.
pub const TABLE: [Case; 13] = [
    ("generated_integers", |_| beside(&integers(), &WHOLE)),
    ("generated_bits_and_shifts", |_| beside(&bits(), &WHOLE)),
    ("generated_doubles", |_| beside(&doubles(), &doubles_of_note())),
    ("generated_floats", |_| beside(&floats(), &floats_of_note())),
    ("generated_comparisons", |_| comparisons()),
    ("generated_conversions", |_| conversions()),
    ("generated_symbols", |_| symbols()),
    ("generated_places_in_a_grid", |_| grids()),
    ("generated_texts_that_are_wrong", |_| wrong_texts("generated texts", &WRONG_TEXTS)),
    ("generated_kernels_that_go_wrong", |_| {
        wrong_kernels("generated kernels", &WRONG_KERNELS, &[("constant", LAUNCH_FAILED, "writes to constant memory")])
    }),
    ("generated_modules_are_modules", modules),
    ("generated_kernels_in_a_graph", |_| graphs()),
    ("generated_kernels_on_two_devices", |_| on_two_devices()),
];

/// Runs the case of a child, by its name; `None` if this file has no such case.
pub fn in_child(what: &str) -> Option<Outcome> {
    match what {
        "generated texts" => Some(load_wrong_texts(&WRONG_TEXTS).and_then(|()| load_other_texts())),
        "generated kernels" => Some(run_wrong_kernels(&WRONG_KERNELS).and_then(|()| write_constant())),
        "generated devices" => Some(reach_devices()),
        _ => None,
    }
}

/// A kernel around a body. The body finds an element of each of three arrays in `%x0`, `%x1` and `%x2`, its bits again
/// in `%d0` to `%d2`, and the lower halves in `%r0` to `%r2` and `%f0` to `%f2`. Its result in one of `%x9`, `%d9`,
/// `%r9`, `%f9` and `%p7` goes to the fourth array.
pub fn kernel(name: &str, body: &str) -> String {
    let mut text =
        format!(".visible .entry {name}(\n\t.param .align 8 .b8 {name}_param_0[32]\n)\n.maxntid {THREADS}, 1, 1\n{{\n");
    text += "\t.reg .pred %p<8>;\n\t.reg .b32 %r<16>;\n\t.reg .f32 %f<16>;\n\t.reg .b64 %x<16>;\n\t.reg .f64 %d<16>;\n";
    text += "\tmov.u32 %r10, %tid.x;\n\tmov.u32 %r11, %ctaid.x;\n\tmov.u32 %r12, %ntid.x;\n";
    text += "\tmad.lo.u32 %r13, %r11, %r12, %r10;\n";
    for i in 0..4 {
        text += &format!("\tld.param.u64 %x15, [{name}_param_0+{}];\n", 8 * i);
        text += &format!("\tmad.wide.u32 %x{}, %r13, 8, %x15;\n", 10 + i);
    }
    for i in 0..3 {
        text += &format!("\tld.global.b64 %x{i}, [%x{}];\n\tmov.b64 %d{i}, %x{i};\n", 10 + i);
        text += &format!("\tcvt.u32.u64 %r{i}, %x{i};\n\tmov.b32 %f{i}, %r{i};\n");
    }
    for line in body.split_inclusive(';') {
        text += &format!("\t{}\n", line.trim());
    }
    let closing = [
        ("%d9", "mov.b64 %x9, %d9;"),
        ("%f9", "mov.b32 %r9, %f9;"),
        ("%f9", "cvt.u64.u32 %x9, %r9;"),
        ("%r9", "cvt.u64.u32 %x9, %r9;"),
        ("%p7", "selp.u64 %x9, 1, 0, %p7;"),
    ];
    for (result, line) in closing {
        if body.contains(result) {
            text += &format!("\t{line}\n");
        }
    }
    text + "\tst.global.b64 [%x13], %x9;\n\tret;\n}\n"
}

fn load(ptx: &str) -> Result<sys::CUmodule, result::DriverError> {
    let image = CString::new(ptx).expect("no NUL");
    // SAFETY: the text ends in NUL.
    unsafe { result::module::load_data(image.as_ptr().cast()) }
}

/// A module in its own context.
pub struct Loaded {
    module: sys::CUmodule,
    stream: sys::CUstream,
    _context: Context,
}

impl Loaded {
    pub fn new(ptx: &str) -> Result<Loaded, String> {
        let context = Context::new(0)?;
        let module = load(ptx).map_err(text)?;
        let stream = result::stream::create(result::stream::StreamKind::NonBlocking).map_err(text)?;
        Ok(Loaded { module, stream, _context: context })
    }

    fn function(&self, name: &str) -> Result<sys::CUfunction, result::DriverError> {
        // SAFETY: the module is loaded.
        unsafe { result::module::get_function(self.module, CString::new(name).expect("no NUL")) }
    }

    fn launch<T>(&self, name: &str, grid: (u32, u32, u32), block: (u32, u32, u32), argument: &mut T) -> i32 {
        let mut arguments = [std::ptr::from_mut(argument).cast::<c_void>()];
        let function = match self.function(name) {
            Ok(function) => function,
            Err(error) => return error.0 as i32,
        };
        // SAFETY: the stand-in must find the faults of a kernel.
        status(unsafe { result::launch_kernel(function, grid, block, 0, self.stream, &mut arguments) })
    }

    fn wait(&self) -> i32 {
        // SAFETY: the stream is open.
        status(unsafe { result::stream::synchronize(self.stream) })
    }

    /// Runs a kernel of [`kernel`] over three arrays: how it ended, and the fourth.
    pub fn run(&self, name: &str, inputs: [&[u64]; 3]) -> Result<(i32, Vec<u64>), String> {
        self.run_in(name, (THREADS as u32, 1, 1), inputs)
    }

    /// And in blocks of that shape.
    pub fn run_in(&self, name: &str, block: (u32, u32, u32), inputs: [&[u64]; 3]) -> Result<(i32, Vec<u64>), String> {
        let count = inputs[0].len();
        let mut addresses = [0; 4];
        let mut output = vec![0_u64; count];
        // SAFETY: all arrays have this number of elements. They are freed once nothing uses them, or with a broken
        // context.
        unsafe {
            for (address, input) in addresses.iter_mut().zip(inputs.into_iter().chain([&*output])) {
                *address = result::malloc_sync(8 * count).map_err(text)?;
                result::memcpy_htod_sync(*address, input).map_err(text)?;
            }
            result::ctx::synchronize().map_err(text)?;
            let blocks = count as u32 / (block.0 * block.1 * block.2);
            let launched = self.launch(name, (blocks, 1, 1), block, &mut addresses);
            let ended = if launched == 0 { self.wait() } else { launched };
            if ended == 0 {
                result::memcpy_dtoh_sync(&mut output, addresses[3]).map_err(text)?;
            }
            for address in addresses {
                let _ = result::free_sync(address);
            }
            Ok((ended, output))
        }
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: made in `new`; a broken context answers with its error and gives all back when it ends.
        unsafe {
            let _ = result::stream::synchronize(self.stream);
            let _ = result::stream::destroy(self.stream);
            let _ = result::module::unload(self.module);
        }
    }
}

/// An assembler takes it, if there is one.
pub fn check_assembles(ptx: &str) -> Result<Option<Usage>, String> {
    assembled(ptx).map_err(|told| {
        let line =
            told.split_once("line ").and_then(|(_, behind)| behind.split([',', ';']).next()?.parse::<usize>().ok());
        let line = line.and_then(|line| ptx.lines().nth(line - 1)).unwrap_or_default();
        format!("the assembler refuses it: {told}\n{line}")
    })
}

/// A body of a kernel, and its result.
pub type Beside = (&'static str, fn(u64, u64, u64) -> u64);

/// Runs all bodies over every pair of the values, with a third that changes.
pub fn beside(cases: &[Beside], values: &[u64]) -> Outcome {
    let mut all = [Vec::new(), Vec::new(), Vec::new()];
    for (i, a) in values.iter().enumerate() {
        for (j, b) in values.iter().enumerate() {
            all[0].push(*a);
            all[1].push(*b);
            all[2].push(values[(3 * i + 5 * j + i * j) % values.len()]);
        }
    }
    let count = all[0].len().next_multiple_of(THREADS);
    all.iter_mut().for_each(|values| values.resize(count, 1));
    let name = |i: usize| format!("case_{i}");
    let kernels: String = cases.iter().enumerate().map(|(i, (body, _))| kernel(&name(i), body)).collect();
    let ptx = format!("{HEAD}{kernels}");
    check_assembles(&ptx)?;
    let loaded = Loaded::new(&ptx)?;
    for (i, (body, wanted)) in cases.iter().enumerate() {
        let (ended, output) = loaded.run(&name(i), [&all[0], &all[1], &all[2]])?;
        expect(body, ended, 0)?;
        let double = body.contains("%d9");
        for (at, got) in output.iter().enumerate() {
            let [a, b, c] = [all[0][at], all[1][at], all[2][at]];
            let wanted = wanted(a, b, c);
            let both_nan = double && f64::from_bits(*got).is_nan() && f64::from_bits(wanted).is_nan();
            if *got != wanted && !both_nan {
                return Err(format!("{body} of {a:#x}, {b:#x}, {c:#x}: {got:#x}, not {wanted:#x}"));
            }
        }
    }
    Ok(())
}

/// Integers at which something ends, of 32 bits and of 64.
pub const WHOLE: [u64; 18] = [
    0,
    1,
    2,
    7,
    31,
    32,
    33,
    63,
    64,
    65,
    u64::MAX,
    u64::MAX - 6,
    1 << 63,
    (1 << 63) - 1,
    1 << 31,
    (1 << 31) - 1,
    0x1234_5678_9abc_def0,
    0xfedc_ba98_7654_3210,
];

fn integers() -> Vec<Beside> {
    vec![
        ("add.u32 %r9, %r0, %r1;", |a, b, _| (a as u32).wrapping_add(b as u32).into()),
        ("add.s64 %x9, %x0, -9223372036854775808;", |a, _, _| a.wrapping_add(1 << 63)),
        ("sub.s32 %r9, %r0, %r1;", |a, b, _| (a as u32).wrapping_sub(b as u32).into()),
        ("sub.u64 %x9, %x0, %x1;", |a, b, _| a.wrapping_sub(b)),
        ("mul.lo.s32 %r9, %r0, %r1;", |a, b, _| (a as u32).wrapping_mul(b as u32).into()),
        ("mul.lo.u64 %x9, %x0, %x1;", |a, b, _| a.wrapping_mul(b)),
        ("mul.hi.u32 %r9, %r0, %r1;", |a, b, _| (u64::from(a as u32) * u64::from(b as u32)) >> 32),
        ("mul.hi.s32 %r9, %r0, %r1;", |a, b, _| u64::from(((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32)),
        ("mul.hi.u64 %x9, %x0, %x1;", |a, b, _| ((u128::from(a) * u128::from(b)) >> 64) as u64),
        ("mul.hi.s64 %x9, %x0, %x1;", |a, b, _| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64),
        ("mul.wide.u32 %x9, %r0, %r1;", |a, b, _| u64::from(a as u32) * u64::from(b as u32)),
        ("mul.wide.s32 %x9, %r0, %r1;", |a, b, _| (i64::from(a as i32) * i64::from(b as i32)) as u64),
        ("mad.lo.s32 %r9, %r0, %r1, %r2;", |a, b, c| u64::from(a.wrapping_mul(b).wrapping_add(c) as u32)),
        ("mad.lo.u64 %x9, %x0, %x1, %x2;", |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        ("mad.wide.u32 %x9, %r0, %r1, %x2;", |a, b, c| (u64::from(a as u32) * u64::from(b as u32)).wrapping_add(c)),
        ("mad.wide.s32 %x9, %r0, %r1, %x2;", |a, b, c| {
            (i64::from(a as i32) * i64::from(b as i32)).wrapping_add(c as i64) as u64
        }),
        ("or.b32 %r1, %r1, 1; div.u32 %r9, %r0, %r1;", |a, b, _| u64::from(a as u32 / (b as u32 | 1))),
        ("or.b32 %r1, %r1, 1; div.s32 %r9, %r0, %r1;", |a, b, _| {
            u64::from((a as i32).wrapping_div(b as i32 | 1) as u32)
        }),
        ("or.b64 %x1, %x1, 1; div.u64 %x9, %x0, %x1;", |a, b, _| a / (b | 1)),
        ("or.b64 %x1, %x1, 1; div.s64 %x9, %x0, %x1;", |a, b, _| (a as i64).wrapping_div(b as i64 | 1) as u64),
        ("or.b32 %r1, %r1, 1; rem.u32 %r9, %r0, %r1;", |a, b, _| u64::from(a as u32 % (b as u32 | 1))),
        ("or.b64 %x1, %x1, 1; rem.s64 %x9, %x0, %x1;", |a, b, _| (a as i64).wrapping_rem(b as i64 | 1) as u64),
        ("min.u32 %r9, %r0, %r1;", |a, b, _| u64::from((a as u32).min(b as u32))),
        ("min.s64 %x9, %x0, %x1;", |a, b, _| (a as i64).min(b as i64) as u64),
        ("max.s32 %r9, %r0, %r1;", |a, b, _| u64::from((a as i32).max(b as i32) as u32)),
        ("max.u64 %x9, %x0, %x1;", |a, b, _| a.max(b)),
        ("neg.s32 %r9, %r0;", |a, _, _| u64::from((a as i32).wrapping_neg() as u32)),
        ("neg.s64 %x9, %x0;", |a, _, _| (a as i64).wrapping_neg() as u64),
        ("abs.s32 %r9, %r0;", |a, _, _| u64::from((a as i32).wrapping_abs() as u32)),
        ("abs.s64 %x9, %x0;", |a, _, _| (a as i64).wrapping_abs() as u64),
    ]
}

fn bits() -> Vec<Beside> {
    vec![
        ("and.b32 %r9, %r0, %r1;", |a, b, _| u64::from((a & b) as u32)),
        ("and.b64 %x9, %x0, 0xff00ff00ff00ff00;", |a, _, _| a & 0xff00_ff00_ff00_ff00),
        ("or.b64 %x9, %x0, %x1;", |a, b, _| a | b),
        ("xor.b32 %r9, %r0, -1;", |a, _, _| u64::from(!a as u32)),
        ("xor.b64 %x9, %x0, %x1;", |a, b, _| a ^ b),
        ("not.b32 %r9, %r0;", |a, _, _| u64::from(!a as u32)),
        ("not.b64 %x9, %x0;", |a, _, _| !a),
        ("shl.b32 %r9, %r0, %r1;", |a, b, _| u64::from((a as u32).checked_shl(b as u32).unwrap_or(0))),
        ("shl.b64 %x9, %x0, %r1;", |a, b, _| a.checked_shl(b as u32).unwrap_or(0)),
        ("shl.b64 %x9, %x0, 33;", |a, _, _| a << 33),
        ("shr.u32 %r9, %r0, %r1;", |a, b, _| u64::from((a as u32).checked_shr(b as u32).unwrap_or(0))),
        ("shr.b64 %x9, %x0, %r1;", |a, b, _| a.checked_shr(b as u32).unwrap_or(0)),
        ("shr.s32 %r9, %r0, %r1;", |a, b, _| u64::from((a as i32 >> (b as u32).min(31)) as u32)),
        ("shr.s64 %x9, %x0, %r1;", |a, b, _| (a as i64 >> (b as u32).min(63)) as u64),
        ("setp.lt.u64 %p0, %x0, %x1; setp.lt.s64 %p1, %x0, %x1; and.pred %p7, %p0, %p1;", |a, b, _| {
            u64::from(a < b && (a as i64) < b as i64)
        }),
        ("setp.lt.u64 %p0, %x0, %x1; setp.lt.s64 %p1, %x0, %x1; or.pred %p7, %p0, %p1;", |a, b, _| {
            u64::from(a < b || (a as i64) < b as i64)
        }),
        ("setp.lt.u64 %p0, %x0, %x1; setp.lt.s64 %p1, %x0, %x1; xor.pred %p7, %p0, %p1;", |a, b, _| {
            u64::from((a < b) != ((a as i64) < b as i64))
        }),
        ("setp.eq.b32 %p0, %r0, %r1; not.pred %p1, %p0; mov.pred %p7, %p1;", |a, b, _| u64::from(a as u32 != b as u32)),
        ("setp.ne.b64 %p0, %x0, %x1; selp.b64 %x9, %x2, 5, %p0;", |a, b, c| if a != b { c } else { 5 }),
        ("setp.hi.u32 %p0, %r0, %r1; selp.s32 %r9, %r2, -5, %p0;", |a, b, c| {
            u64::from(if a as u32 > b as u32 { c as u32 } else { -5_i32 as u32 })
        }),
        ("mov.u32 %r9, 4294967295;", |_, _, _| 0xffff_ffff),
        ("mov.s64 %x9, -2;", |_, _, _| -2_i64 as u64),
        ("mov.b64 %x9, 0xfffffffffffffffe;", |_, _, _| -2_i64 as u64),
    ]
}

fn doubles_of_note() -> Vec<u64> {
    let eps = f64::EPSILON;
    let mut all = vec![0.0, 1.0, 1.0 + eps, 0.5, 1.5, 2.5, 3.0, 0.1, 1e-200, 1e200, 1e-310, 5e-324, f64::MIN_POSITIVE];
    all.extend([f64::MAX, f64::INFINITY, 4503599627370497.5, 2147483648.0, 9.3e18, 1.9e19, 0.333, 1e-170, 1.00000006]);
    let mut bits: Vec<u64> = all.iter().flat_map(|x: &f64| [x.to_bits(), (-x).to_bits()]).collect();
    bits.extend([f64::NAN.to_bits(), (-f64::NAN).to_bits()]);
    bits
}

fn d(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// PTX's minimum: a NaN loses, and -0 is less than 0.
fn least(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a == b => f64::from_bits(a.to_bits() | b.to_bits()),
        _ => a.min(b),
    }
}

fn doubles() -> Vec<Beside> {
    vec![
        ("add.rn.f64 %d9, %d0, %d1;", |a, b, _| (d(a) + d(b)).to_bits()),
        ("sub.rn.f64 %d9, %d0, %d1;", |a, b, _| (d(a) - d(b)).to_bits()),
        ("mul.rn.f64 %d9, %d0, %d1;", |a, b, _| (d(a) * d(b)).to_bits()),
        ("mul.rn.f64 %d3, %d0, %d1; add.rn.f64 %d9, %d3, %d2;", |a, b, c| (d(a) * d(b) + d(c)).to_bits()),
        ("div.rn.f64 %d9, %d0, %d1;", |a, b, _| (d(a) / d(b)).to_bits()),
        ("fma.rn.f64 %d9, %d0, %d1, %d2;", |a, b, c| d(a).mul_add(d(b), d(c)).to_bits()),
        ("sqrt.rn.f64 %d9, %d0;", |a, _, _| d(a).sqrt().to_bits()),
        ("rcp.rn.f64 %d9, %d0;", |a, _, _| (1.0 / d(a)).to_bits()),
        ("neg.f64 %d9, %d0;", |a, _, _| a ^ 1 << 63),
        ("abs.f64 %d9, %d0;", |a, _, _| a & !(1 << 63)),
        // The sign of the first.
        ("copysign.f64 %d3, %d0, %d1; mov.b64 %x9, %d3;", |a, b, _| (a & 1 << 63) | (b & !(1 << 63))),
        ("min.f64 %d9, %d0, %d1;", |a, b, _| least(d(a), d(b)).to_bits()),
        ("max.f64 %d9, %d0, %d1;", |a, b, _| (-least(-d(a), -d(b))).to_bits()),
        ("add.rn.f64 %d9, %d0, 0d3FB999999999999A;", |a, _, _| (d(a) + 0.1).to_bits()),
        ("mov.f64 %d3, 0d8000000000000000; mov.f64 %d9, %d3;", |_, _, _| 1 << 63),
        ("mov.b64 %x9, 0d3FF0000000000000;", |_, _, _| 1_f64.to_bits()),
        ("setp.gt.f64 %p0, %d0, %d1; selp.f64 %d9, %d0, 0dC000000000000000, %p0;", |a, b, _| {
            if d(a) > d(b) { a } else { (-2_f64).to_bits() }
        }),
        ("cvt.rni.f64.f64 %d9, %d0;", |a, _, _| d(a).round_ties_even().to_bits()),
        ("cvt.rzi.f64.f64 %d9, %d0;", |a, _, _| d(a).trunc().to_bits()),
        ("cvt.rmi.f64.f64 %d9, %d0;", |a, _, _| d(a).floor().to_bits()),
        ("cvt.rpi.f64.f64 %d9, %d0;", |a, _, _| d(a).ceil().to_bits()),
    ]
}

fn floats_of_note() -> Vec<u64> {
    let eps = f32::EPSILON;
    let mut all = vec![0.0, 1.0, 1.0 + eps, 0.5, 1.5, 2.5, 3.0, 0.1, 1e-20, 1e30, 1e-40, 1e-45, f32::MIN_POSITIVE];
    all.extend([f32::MAX, f32::INFINITY, 8388609.5, 2147483648.0, 9.3e18, 1.9e19, 4.3e9, 0.333]);
    let mut bits: Vec<u64> = all.iter().flat_map(|x: &f32| [x.to_bits().into(), (-x).to_bits().into()]).collect();
    bits.extend([f32::NAN, -f32::NAN].map(|x| u64::from(x.to_bits())));
    bits
}

fn f(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// The bits of a result in single: there is one that is no number.
fn s(x: f32) -> u64 {
    if x.is_nan() { NAN32 } else { x.to_bits().into() }
}

fn floats() -> Vec<Beside> {
    vec![
        ("add.rn.f32 %f9, %f0, %f1;", |a, b, _| s(f(a) + f(b))),
        ("sub.rn.f32 %f9, %f0, %f1;", |a, b, _| s(f(a) - f(b))),
        ("mul.rn.f32 %f9, %f0, %f1;", |a, b, _| s(f(a) * f(b))),
        ("mul.rn.f32 %f3, %f0, %f1; add.rn.f32 %f9, %f3, %f2;", |a, b, c| s(f(a) * f(b) + f(c))),
        ("div.rn.f32 %f9, %f0, %f1;", |a, b, _| s(f(a) / f(b))),
        ("fma.rn.f32 %f9, %f0, %f1, %f2;", |a, b, c| s(f(a).mul_add(f(b), f(c)))),
        ("sqrt.rn.f32 %f9, %f0;", |a, _, _| s(f(a).sqrt())),
        ("rcp.rn.f32 %f9, %f0;", |a, _, _| s(1.0 / f(a))),
        ("neg.f32 %f9, %f0;", |a, _, _| a ^ 1 << 31),
        ("abs.f32 %f9, %f0;", |a, _, _| a & !(1 << 31)),
        ("copysign.f32 %f9, %f0, %f1;", |a, b, _| (a & 1 << 31) | (b & !(1 << 31))),
        ("min.f32 %f9, %f0, %f1;", |a, b, _| s(least(f(a).into(), f(b).into()) as f32)),
        ("max.f32 %f9, %f0, %f1;", |a, b, _| s(-(least((-f(a)).into(), (-f(b)).into()) as f32))),
        ("mul.rn.f32 %f9, %f0, 0f3DCCCCCD;", |a, _, _| s(f(a) * 0.1)),
        ("mov.f32 %f9, 0f7F800000;", |_, _, _| 0x7f80_0000),
        ("setp.le.f32 %p0, %f0, %f1; selp.f32 %f9, %f0, %f1, %p0;", |a, b, _| if f(a) <= f(b) { a } else { b }),
        ("cvt.rni.f32.f32 %f9, %f0;", |a, _, _| s(f(a).round_ties_even())),
        ("cvt.rzi.f32.f32 %f9, %f0;", |a, _, _| s(f(a).trunc())),
        ("cvt.rmi.f32.f32 %f9, %f0;", |a, _, _| s(f(a).floor())),
        ("cvt.rpi.f32.f32 %f9, %f0;", |a, _, _| s(f(a).ceil())),
        ("cvt.f64.f32 %d9, %f0;", |a, _, _| f64::from(f(a)).to_bits()),
    ]
}

fn comparisons() -> Outcome {
    let whole: Vec<Beside> = vec![
        ("setp.eq.s32 %p7, %r0, %r1;", |a, b, _| u64::from(a as u32 == b as u32)),
        ("setp.ne.u64 %p7, %x0, %x1;", |a, b, _| u64::from(a != b)),
        ("setp.lt.s32 %p7, %r0, %r1;", |a, b, _| u64::from((a as i32) < b as i32)),
        ("setp.lt.u32 %p7, %r0, %r1;", |a, b, _| u64::from((a as u32) < b as u32)),
        ("setp.le.s64 %p7, %x0, %x1;", |a, b, _| u64::from(a as i64 <= b as i64)),
        ("setp.ls.u64 %p7, %x0, %x1;", |a, b, _| u64::from(a <= b)),
        ("setp.gt.s64 %p7, %x0, %x1;", |a, b, _| u64::from(a as i64 > b as i64)),
        ("setp.ge.u32 %p7, %r0, 2147483648;", |a, _, _| u64::from(a as u32 >= 1 << 31)),
        ("setp.eq.u64 %p0, %x0, %x2; setp.lt.and.s64 %p7, %x0, %x1, !%p0;", |a, b, c| {
            u64::from((a as i64) < b as i64 && a != c)
        }),
        ("setp.eq.u64 %p0, %x0, %x2; setp.lt.or.s64 %p7, %x0, %x1, %p0;", |a, b, c| {
            u64::from((a as i64) < b as i64 || a == c)
        }),
        ("setp.lo.u64 %p0, %x0, %x2; setp.hs.xor.u64 %p7, %x0, %x1, %p0;", |a, b, c| u64::from((a >= b) != (a < c))),
    ];
    beside(&whole, &WHOLE)?;
    let of_doubles: Vec<Beside> = vec![
        ("setp.eq.f64 %p7, %d0, %d1;", |a, b, _| u64::from(d(a) == d(b))),
        ("setp.ne.f64 %p7, %d0, %d1;", |a, b, _| u64::from(d(a) < d(b) || d(a) > d(b))),
        ("setp.lt.f64 %p7, %d0, %d1;", |a, b, _| u64::from(d(a) < d(b))),
        ("setp.le.f64 %p7, %d0, %d1;", |a, b, _| u64::from(d(a) <= d(b))),
        ("setp.gt.f64 %p7, %d0, %d1;", |a, b, _| u64::from(d(a) > d(b))),
        ("setp.ge.f64 %p7, %d0, %d1;", |a, b, _| u64::from(d(a) >= d(b))),
        ("setp.equ.f64 %p7, %d0, %d1;", |a, b, _| u64::from(!(d(a) < d(b) || d(a) > d(b)))),
        ("setp.neu.f64 %p7, %d0, %d1;", |a, b, _| u64::from(d(a) != d(b))),
        ("setp.ltu.f64 %p7, %d0, %d1;", |a, b, _| u64::from(!matches!(d(a).partial_cmp(&d(b)), Some(o) if o.is_ge()))),
        ("setp.leu.f64 %p7, %d0, %d1;", |a, b, _| u64::from(!matches!(d(a).partial_cmp(&d(b)), Some(o) if o.is_gt()))),
        ("setp.gtu.f64 %p7, %d0, %d1;", |a, b, _| u64::from(!matches!(d(a).partial_cmp(&d(b)), Some(o) if o.is_le()))),
        ("setp.geu.f64 %p7, %d0, %d1;", |a, b, _| u64::from(!matches!(d(a).partial_cmp(&d(b)), Some(o) if o.is_lt()))),
        ("setp.num.f64 %p7, %d0, %d1;", |a, b, _| u64::from(!d(a).is_nan() && !d(b).is_nan())),
        ("setp.nan.f64 %p7, %d0, %d1;", |a, b, _| u64::from(d(a).is_nan() || d(b).is_nan())),
        ("setp.nan.f64 %p0, %d2, %d2; setp.gt.or.f64 %p7, %d0, 0d0000000000000000, %p0;", |a, _, c| {
            u64::from(d(a) > 0.0 || d(c).is_nan())
        }),
    ];
    beside(&of_doubles, &doubles_of_note())?;
    let of_floats: Vec<Beside> = vec![
        ("setp.ne.f32 %p7, %f0, %f1;", |a, b, _| u64::from(f(a) < f(b) || f(a) > f(b))),
        ("setp.neu.f32 %p7, %f0, %f1;", |a, b, _| u64::from(f(a) != f(b))),
        ("setp.ge.f32 %p7, %f0, %f1;", |a, b, _| u64::from(f(a) >= f(b))),
        ("setp.nan.f32 %p7, %f0, %f1;", |a, b, _| u64::from(f(a).is_nan() || f(b).is_nan())),
    ];
    beside(&of_floats, &floats_of_note())
}

fn conversions() -> Outcome {
    let whole: Vec<Beside> = vec![
        ("cvt.s64.s32 %x9, %r0;", |a, _, _| i64::from(a as i32) as u64),
        ("cvt.u64.s32 %x9, %r0;", |a, _, _| i64::from(a as i32) as u64),
        ("cvt.s64.u32 %x9, %r0;", |a, _, _| u64::from(a as u32)),
        ("cvt.u32.s64 %r9, %x0;", |a, _, _| u64::from(a as u32)),
        ("cvt.rn.f64.s32 %d9, %r0;", |a, _, _| f64::from(a as i32).to_bits()),
        ("cvt.rn.f64.u32 %d9, %r0;", |a, _, _| f64::from(a as u32).to_bits()),
        ("cvt.rn.f64.s64 %d9, %x0;", |a, _, _| (a as i64 as f64).to_bits()),
        ("cvt.rn.f64.u64 %d9, %x0;", |a, _, _| (a as f64).to_bits()),
        ("cvt.rn.f32.s32 %f9, %r0;", |a, _, _| s(a as i32 as f32)),
        ("cvt.rn.f32.s64 %f9, %x0;", |a, _, _| s(a as i64 as f32)),
        ("cvt.rn.f32.u64 %f9, %x0;", |a, _, _| s(a as f32)),
    ];
    beside(&whole, &WHOLE)?;
    // A NaN becomes `other`.
    fn or(a: u64, number: u64, other: u64) -> u64 {
        if d(a).is_nan() { other } else { number }
    }
    let of_doubles: Vec<Beside> = vec![
        ("cvt.rn.f32.f64 %f9, %d0;", |a, _, _| s(d(a) as f32)),
        ("cvt.rz.f32.f64 %f9, %d0;", |a, _, _| s(directed(d(a), |near, exact| near.abs() > exact.abs()))),
        ("cvt.rm.f32.f64 %f9, %d0;", |a, _, _| s(directed(d(a), |near, exact| near > exact))),
        ("cvt.rp.f32.f64 %f9, %d0;", |a, _, _| s(directed(d(a), |near, exact| near < exact))),
        ("cvt.rzi.s64.f64 %x9, %d0;", |a, _, _| or(a, d(a) as i64 as u64, 1 << 63)),
        ("cvt.rzi.u64.f64 %x9, %d0;", |a, _, _| or(a, d(a) as u64, 1 << 63)),
        ("cvt.rzi.s32.f64 %r9, %d0;", |a, _, _| or(a, u64::from(d(a) as i32 as u32), 1 << 31)),
        ("cvt.rzi.u32.f64 %r9, %d0;", |a, _, _| or(a, u64::from(d(a) as u32), 1 << 31)),
        ("cvt.rni.s64.f64 %x9, %d0;", |a, _, _| or(a, d(a).round_ties_even() as i64 as u64, 1 << 63)),
        ("cvt.rmi.s32.f64 %r9, %d0;", |a, _, _| or(a, u64::from(d(a).floor() as i32 as u32), 1 << 31)),
        ("cvt.rpi.u32.f64 %r9, %d0;", |a, _, _| or(a, u64::from(d(a).ceil() as u32), 1 << 31)),
    ];
    beside(&of_doubles, &doubles_of_note())?;
    let of_floats: Vec<Beside> = vec![
        ("cvt.rzi.s32.f32 %r9, %f0;", |a, _, _| u64::from(f(a) as i32 as u32)),
        ("cvt.rni.u32.f32 %r9, %f0;", |a, _, _| u64::from(f(a).round_ties_even() as u32)),
        ("cvt.rzi.s64.f32 %x9, %f0;", |a, _, _| if f(a).is_nan() { 1 << 63 } else { f(a) as i64 as u64 }),
        ("cvt.rpi.u64.f32 %x9, %f0;", |a, _, _| if f(a).is_nan() { 1 << 63 } else { f(a).ceil() as u64 }),
    ];
    beside(&of_floats, &floats_of_note())
}

/// A double in single: the nearest one, or where that is on the wrong side of it the next on the other.
fn directed(exact: f64, is_wrong: fn(f64, f64) -> bool) -> f32 {
    let near = exact as f32;
    if !is_wrong(near.into(), exact) {
        near
    } else if f64::from(near) > exact {
        near.next_down()
    } else {
        near.next_up()
    }
}

/// Variables of a module: initial values, writes by the host and by a kernel.
fn symbols() -> Outcome {
    let numbers = ".const .align 8 .f64 taps[4] = {0d3FF0000000000000, 0d4000000000000000, 0dBFE0000000000000};\n\
                   .global .align 8 .b64 counts[2] = {0x10, -1};\n.const .align 4 .b32 small[2] = {7, 0xffffffff};\n\
                   .global .align 1 .b8 bytes[8] = {1, 2, 3, 255};\n.global .u64 one = 11;\n";
    let cases: [(&str, u64); 8] = [
        ("ld.const.f64 %d9, [taps+8];", 2_f64.to_bits()),
        ("mov.u64 %x3, taps; ld.const.b64 %x9, [%x3+16];", (-0.5_f64).to_bits()),
        ("mov.u64 %x3, taps; add.s64 %x3, %x3, 32; ld.const.f64 %d9, [%x3+-8];", 0),
        ("ld.global.nc.u64 %x9, [counts+8];", u64::MAX),
        ("mov.u64 %x3, counts; ld.global.u32 %r9, [%x3];", 16),
        ("mov.u64 %x3, small; ld.const.u32 %r9, [%x3+4];", 0xffff_ffff),
        ("ld.global.u64 %x9, [one];", 11),
        (
            "setp.eq.u32 %p0, %r13, 3; mov.u64 %x9, 5; @%p0 st.global.u64 [counts], 5; @%p0 ld.global.u64 %x9, [counts+0];",
            5,
        ),
    ];
    let name = |i: usize| format!("case_{i}");
    let kernels: String = cases.iter().enumerate().map(|(i, (body, _))| kernel(&name(i), body)).collect();
    let ptx = format!("{HEAD}{numbers}{kernels}");
    check_assembles(&ptx)?;
    let loaded = Loaded::new(&ptx)?;
    let ones = [1_u64; THREADS];
    for (i, (body, wanted)) in cases.iter().enumerate() {
        expect(body, loaded.run(&name(i), [&ones; 3])?, (0, vec![*wanted; THREADS]))?;
    }
    let global = |name: &str| {
        // SAFETY: the module is loaded.
        unsafe { result::module::get_global(loaded.module, CString::new(name).expect("no NUL")) }
    };
    let (address, bytes) = global("taps").map_err(text)?;
    expect("bytes of the constants", bytes, 32)?;
    let mut counts = [0_u64; 2];
    // SAFETY: the symbols are large enough.
    unsafe {
        result::memcpy_htod_sync(address, &[3_f64, 4.0, 5.0, 6.0]).map_err(text)?;
        result::memcpy_dtoh_sync(&mut counts, global("counts").map_err(text)?.0).map_err(text)?;
    }
    expect("what a kernel wrote", counts, [5, u64::MAX])?;
    expect("no symbol", global("tap").err().map(|error| error.0 as i32), Some(NOT_FOUND))?;
    expect("new constants", loaded.run("case_0", [&ones; 3])?, (0, vec![4_f64.to_bits(); THREADS]))?;
    // A module that is loaded again has its own.
    let again = load(&ptx).map_err(text)?;
    // SAFETY: the module is loaded, the symbol is as large, and nothing uses either afterwards.
    unsafe {
        let (address, _) = result::module::get_global(again, c"counts".to_owned()).map_err(text)?;
        result::memcpy_dtoh_sync(&mut counts, address).map_err(text)?;
        result::module::unload(again).map_err(text)?;
    }
    expect("counts of another", counts, [16, u64::MAX])
}

/// Every thread of every block once, and each knows which it is.
fn grids() -> Outcome {
    let mut text_of = format!(
        "{HEAD}\
         .visible .entry places(\n\t.param .align 8 .b8 places_param_0[8]\n)\n.maxntid 64, 1, 1\n.minnctapersm 2\n{{\n\
         \t.reg .u32 %a<16>; // one comment\n\t/* and\nanother */\n\t.reg .s64 at, %step;\n"
    );
    let names = ["tid.x", "tid.y", "tid.z", "ntid.x", "ntid.y", "ntid.z", "ctaid.x", "ctaid.y", "ctaid.z"];
    for (i, name) in names.into_iter().chain(["nctaid.x", "nctaid.y", "nctaid.z"]).enumerate() {
        text_of += &format!("\tmov.u32 %a{i}, %{name};\n");
    }
    // The place in the grid, the dimensions of threads first.
    text_of += "\tmov.u32 %a12, %a8;\n";
    for (count, place) in [(10, 7), (9, 6), (5, 2), (4, 1), (3, 0)] {
        text_of += &format!("\tmad.lo.u32 %a12, %a12, %a{count}, %a{place};\n");
    }
    text_of += "\tld.param.s64 at, [places_param_0];\n\tmul.wide.u32 %step, %a12, 4;\n\tadd.s64 at, at, %step;\n\
                \tld.global.u32 %a13, [at];\n\tadd.u32 %a12, %a12, %a13;\n\tadd.u32 %a12, %a12, %a11;\n\
                \tst.global.u32 [at], %a12;\n\tret;\n}\n";
    check_assembles(&text_of)?;
    let loaded = Loaded::new(&text_of)?;
    let (grid, block) = ((3, 4, 5), (2, 3, 4));
    let count = 3 * 4 * 5 * 2 * 3 * 4_usize;
    let mut output = vec![1_u32; count];
    // SAFETY: the array has this number of elements.
    unsafe {
        let mut address = result::malloc_sync(4 * count).map_err(text)?;
        result::memcpy_htod_sync(address, &output).map_err(text)?;
        result::ctx::synchronize().map_err(text)?;
        expect("launched", loaded.launch("places", grid, block, &mut address), 0)?;
        expect("ended", loaded.wait(), 0)?;
        result::memcpy_dtoh_sync(&mut output, address).map_err(text)?;
        result::free_sync(address).map_err(text)?;
    }
    expect("places", output, (0..count as u32).map(|at| at + 1 + 5).collect())
}

pub type WrongText = (&'static str, &'static str);

/// Wrong texts, by their error. A line that begins with @ replaces the module's own.
const WRONG_TEXTS: [WrongText; 43] = [
    ("add.u64 %x9, %x0, %y1;", "%y1 is no register that was declared"),
    ("add.u64 %x9, %x0, %x16;", "%x16 is no register that was declared"),
    ("add.u64 %x9, %x0, %d1;", "%d1 was declared as .f64, and is used as .u64"),
    ("sub.rn.f64 %d9, %d0, %h1;", "%h1 is no register that was declared"),
    ("add.rn.f64 %d9, %d0, %f1;", "%f1 was declared as .f32, and is used as .f64"),
    ("add.u32 %x9, %r0, %r1;", "%x9 was declared as .b64, and is used as .u32"),
    ("mul.wide.u32 %r9, %r0, %r1;", "%r9 was declared as .b32, and is used as .u64"),
    ("mad.wide.u32 %x9, %r0, %r1, %r2;", "%r2 was declared as .b32, and is used as .u64"),
    ("shl.b64 %x9, %x0, %x1;", "%x1 was declared as .b64, and is used as .u32"),
    ("setp.lt.u64 %x9, %x0, %x1;", "%x9 was declared as .b64, and is used as .pred"),
    ("@%x0 mov.u64 %x9, 1;", "%x0 was declared as .b64, and is used as .pred"),
    ("st.global.f64 [%x13], %f0;", "%f0 was declared as .f32, and is used as .f64"),
    ("ld.global.u64 %r9, [%x13];", "%r9 was declared as .b32, and is used as .u64"),
    ("ld.global.u64 %x9, [%r0];", "%r0 was declared as .b32, and is used as .u64"),
    ("mov.b64 %d9, %f0;", "%f0 was declared as .f32, and is used as .b64"),
    ("cvt.rn.f32.f64 %f9, %f0;", "%f0 was declared as .f32, and is used as .f64"),
    ("add.f64 %d9, %d0, %d1;", "no instruction that is known here: add.f64"),
    ("add.rn.ftz.f32 %f9, %f0, %f1;", "no instruction that is known here: add.rn.ftz.f32"),
    ("div.approx.f32 %f9, %f0, %f1;", "no instruction that is known here: div.approx.f32"),
    ("frobnicate.u64 %x9, %x0;", "no instruction that is known here: frobnicate.u64"),
    ("neg.u64 %x9, %x0;", "no instruction that is known here: neg.u64"),
    ("setp.nan.u64 %p7, %x0, %x1;", "no instruction that is known here: setp.nan.u64"),
    ("cvt.f32.f64 %f9, %d0;", "no instruction that is known here: cvt.f32.f64"),
    ("bra $NOWHERE;", "$NOWHERE is no label of the kernel"),
    ("ld.global.u64 %x9, [%x10-8];", "no ] but -"),
    ("$L: $L: mov.u64 %x9, 1;", "$L is there twice"),
    ("add.u64 %x9, %x0;", "no , but ;"),
    ("add.u64 %x9, %x0, %x1, %x2;", "add.u64 has no operand more"),
    ("mov.u32 %r9, 4294967296;", "no number of the type .u32: 4294967296"),
    ("mov.u64 %x9, 010;", "no number of the type .u64: 010"),
    ("mov.f64 %d9, 1.5;", "no number of the type .f64: 1.5"),
    ("mov.f64 %d9, 0f3F800000;", "no number of the type .f64: 0f3F800000"),
    ("mov.f64 %d9, 0d3FF000000000000;", "no number of the type .f64: 0d3FF000000000000"),
    ("add.u32 %r9, %tid.x, 1;", "%tid.x is for mov.u32"),
    ("ld.param.u64 %x9, [wrong_param_0+32];", "beyond the bytes of wrong_param_0"),
    ("ld.param.u64 %x9, [wrong_param_0+4];", "off its alignment in wrong_param_0"),
    ("ld.param.u64 %x9, [other_param_0];", "other_param_0 is not the parameter"),
    ("ld.global.u64 %x9, [numbers];", "numbers lies in another space"),
    ("ld.const.u64 %x9, [numbers+16];", "beyond the bytes of numbers"),
    (".reg .b32 %r<2>;", "%r0 is declared twice"),
    ("@.const .align 8 .b64 numbers[1] = {1, 2};", "numbers has fewer elements than that"),
    ("@.const .align 8 .b64 numbers[8193];", "more constant memory than 64 KiB"),
    ("@.texref picture;", "not known here: .texref"),
];

pub fn wrong_text(body: &str) -> String {
    let ours = ".const .align 8 .b64 numbers[2] = {1, 2};";
    match body.strip_prefix('@').filter(|line| line.starts_with('.')) {
        Some(line) => format!("{HEAD}{line}\n{}", kernel("wrong", "mov.u64 %x9, 1;")),
        None => format!("{HEAD}{ours}\n{}", kernel("wrong", body)),
    }
}

pub fn refused(ptx: &str) -> i32 {
    load(ptx).err().map_or(0, |error| error.0 as i32)
}

/// All in a context that stays good: each text is refused.
pub fn load_wrong_texts(texts: &[WrongText]) -> Outcome {
    let _context = Context::new(0)?;
    for (body, _) in texts {
        eprintln!("text: {body}");
        expect(body, refused(&wrong_text(body)), INVALID_IMAGE)?;
    }
    Ok(())
}

/// The reader refuses mistakes around a body, and takes all else.
fn load_other_texts() -> Outcome {
    let _context = Context::new(0)?;
    let right = wrong_text("mov.u64 %x9, 1;");
    for (from, to, wanted) in [
        ("\tret;\n", "", INVALID_IMAGE),
        ("}\n", "", INVALID_IMAGE),
        ("wrong_param_0[32]", "wrong_param_0[4097]", INVALID_IMAGE),
        (".maxntid 64, 1, 1", ".maxntid 64, 64, 1", INVALID_IMAGE),
        (".address_size 64", ".address_size 32", INVALID_IMAGE),
        (".target sm_60", ".target sm_91", NO_BINARY),
        ("// generated", "// generated by nobody", INVALID_IMAGE),
    ] {
        eprintln!("text: {to} for {from}");
        expect(from, refused(&right.replacen(from, to, 1)), wanted)?;
    }
    let module = load(&right).map_err(text)?;
    // SAFETY: loaded just now.
    unsafe { result::module::unload(module) }.map_err(text)
}

/// Loads texts in a child, and checks its message on each.
pub fn wrong_texts(what: &str, texts: &[WrongText]) -> Outcome {
    let ended = child(what, &[])?;
    if !ended.status.success() {
        return Err(ended.output);
    }
    for &(body, wanted) in texts {
        // The message follows the text, with the line.
        let (_, behind) = ended.output.split_once(&format!("text: {body}\n")).ok_or(body)?;
        let line = behind.lines().next().unwrap_or_default();
        if !line.contains("cuModuleLoadData: line ") || !line.contains(wanted) {
            return Err(format!("{body}: {line}"));
        }
    }
    Ok(())
}

pub type WrongKernel = (&'static str, i32, &'static str);

/// Kernels that fail, with their status and message.
const WRONG_KERNELS: [WrongKernel; 17] = [
    ("add.u64 %x9, %x0, %x8;", LAUNCH_FAILED, "reads %x8, which the thread has not written"),
    ("setp.ne.u32 %p0, %r10, 7; @%p0 mov.u64 %x9, 1;", LAUNCH_FAILED, "reads %x9, which the thread has not written"),
    ("@%p1 mov.u64 %x9, 1;", LAUNCH_FAILED, "reads %p1, which the thread has not written"),
    ("selp.u64 %x9, 1, 2, %p1;", LAUNCH_FAILED, "reads %p1, which the thread has not written"),
    ("st.global.u64 [%x8], 1; mov.u64 %x9, 1;", LAUNCH_FAILED, "reads %x8, which the thread has not written"),
    ("ld.global.u64 %x9, [%x10+8];", ILLEGAL_ADDRESS, "bytes, whose end is 0 before"),
    ("ld.global.u64 %x9, [%x10+4096];", ILLEGAL_ADDRESS, "where there is no memory, or no longer"),
    ("st.global.u32 [%x13+4096], 1; mov.u64 %x9, 1;", ILLEGAL_ADDRESS, "writes 4 bytes"),
    ("st.global.u64 [%x0], 1; mov.u64 %x9, 1;", ILLEGAL_ADDRESS, "at 0x1, where there is no memory"),
    ("ld.global.u64 %x9, [%x10+-4];", MISALIGNED, "reads 8 bytes at"),
    ("st.global.f32 [%x13+2], %f0; mov.u64 %x9, 1;", MISALIGNED, "writes 4 bytes at"),
    (
        "mov.u64 %x3, numbers; $N: ld.const.u64 %x9, [%x3+8]; add.u64 %x3, %x3, 4; bra $N;",
        ILLEGAL_ADDRESS,
        "4 before the end of what is there",
    ),
    ("mov.u64 %x3, numbers; ld.const.u64 %x9, [%x3+16];", ILLEGAL_ADDRESS, "in constant memory"),
    ("mov.u64 %x3, numbers; ld.global.u64 %x9, [%x3];", ILLEGAL_ADDRESS, "where there is no memory"),
    ("ld.const.u64 %x9, [%x10];", ILLEGAL_ADDRESS, "in constant memory, where there is no memory"),
    ("xor.b64 %x3, %x0, %x1; div.u64 %x9, %x0, %x3;", LAUNCH_FAILED, "divides by zero"),
    ("$L: bra $L; mov.u64 %x9, 1;", LAUNCH_FAILED, "branches without an end"),
];

pub fn run_wrong_kernels(kernels: &[WrongKernel]) -> Outcome {
    let ones = [1_u64; 2 * THREADS];
    for &(body, wanted, _) in kernels {
        let loaded = Loaded::new(&wrong_text(body))?;
        eprintln!("kernel: {body}");
        expect(body, loaded.run("wrong", [&ones; 3])?.0, wanted)?;
        // And the context is of no use any more.
        expect("afterwards", loaded.wait(), wanted)?;
    }
    Ok(())
}

/// The host may write to a constant, and a kernel may not.
fn write_constant() -> Outcome {
    let loaded =
        Loaded::new(&wrong_text("ld.param.u64 %x3, [wrong_param_0]; st.global.u64 [%x3], 1; mov.u64 %x9, 1;"))?;
    // SAFETY: the module is loaded.
    let (address, _) = unsafe { result::module::get_global(loaded.module, c"numbers".to_owned()) }.map_err(text)?;
    let mut argument = [address; 4];
    eprintln!("kernel: constant");
    expect("launched", loaded.launch("wrong", (1, 1, 1), (1, 1, 1), &mut argument), 0)?;
    expect("writes a constant", loaded.wait(), LAUNCH_FAILED)
}

/// Runs kernels in a child, each in its own context, and checks its message on each, and on correct ones.
pub fn wrong_kernels(what: &str, kernels: &[WrongKernel], others: &[WrongKernel]) -> Outcome {
    for (body, ..) in kernels {
        check_assembles(&wrong_text(body))?;
    }
    let ended = child(what, &[])?;
    // A broken context leaks its objects, which the end of the process reports.
    if ended.status.code() != Some(0) {
        return Err(format!("{:?}: {}", ended.status, ended.output));
    }
    for (body, _, wanted) in kernels.iter().chain(others) {
        let (_, behind) = ended.output.split_once(&format!("kernel: {body}\n")).ok_or(*body)?;
        let line = behind.lines().next().unwrap_or_default();
        if !line.contains("of the PTX ") || !line.contains(wanted) || !line.contains("[kernel wrong, block (") {
            return Err(format!("{body}: {line}"));
        }
    }
    Ok(())
}

/// The driver's rules for modules hold for these.
fn modules(stand_in: StandIn) -> Outcome {
    let ptx = format!("{HEAD}{}{}", kernel("first", "mov.u64 %x9, 1;"), kernel("second", "add.u64 %x9, %x0, %x1;"));
    let loaded = Loaded::new(&ptx)?;
    let ones = [1_u64; 2 * THREADS];
    expect("the first", loaded.run("first", [&ones; 3])?, (0, vec![1; 2 * THREADS]))?;
    stand_in.reset();
    expect("the second", loaded.run("second", [&ones; 3])?, (0, vec![2; 2 * THREADS]))?;
    let launched: Vec<String> =
        (0..stand_in.calls()).map(|call| stand_in.kernel(call)).filter(|k| !k.is_empty()).collect();
    expect("what was launched", launched, vec!["generated/second".to_string()])?;
    expect("the third", loaded.function("third").err().map(|error| error.0 as i32), Some(NOT_FOUND))?;
    let mut argument = [0_u64; 4];
    let mut launch = |grid, threads| loaded.launch("first", (grid, 1, 1), (threads, 1, 1), &mut argument);
    expect("more threads than it is for", launch(1, THREADS as u32 + 1), INVALID_VALUE)?;
    expect("no blocks", launch(0, 1), INVALID_VALUE)?;
    for (function, wanted) in [("cuModuleLoadData", 2), ("cuModuleLoadData", 218)] {
        stand_in.fail_in(function, 1, wanted, Mode::Once);
        expect("told to fail", load(&ptx).err().map(|error| error.0 as i32), Some(wanted))?;
    }
    stand_in.fail_in("cuLaunchKernel", 1, 701, Mode::Once);
    expect("told to fail", launch(1, 1), 701)?;
    // And once more, in a second module of the same text, which goes first.
    let again = load(&ptx).map_err(text)?;
    // SAFETY: loaded just now, and nothing uses it.
    unsafe { result::module::unload(again) }.map_err(text)?;
    expect("the second", loaded.run("second", [&ones; 3])?, (0, vec![2; 2 * THREADS]))?;
    expect("alive", stand_in.alive().contains("1 modules"), true)
}

/// A kernel that adds to its array, captured twice, in a graph that is launched three times.
fn graphs() -> Outcome {
    let body = "ld.global.u64 %x3, [%x13]; add.u64 %x9, %x3, %x0;";
    let loaded = Loaded::new(&format!("{HEAD}{}", kernel("adds", body)))?;
    let count = 2 * THREADS;
    let mut output = vec![0_u64; count];
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    // SAFETY: the arrays have this number of elements, and are freed once nothing uses them.
    unsafe {
        let (from, to) = (result::malloc_sync(8 * count).map_err(text)?, result::malloc_sync(8 * count).map_err(text)?);
        result::memcpy_htod_sync(from, &(0..count as u64).collect::<Vec<_>>()).map_err(text)?;
        result::memcpy_htod_sync(to, &output).map_err(text)?;
        result::ctx::synchronize().map_err(text)?;
        result::stream::begin_capture(loaded.stream, mode).map_err(text)?;
        let mut argument = [from, from, from, to];
        for _ in 0..2 {
            expect("captured", loaded.launch("adds", (2, 1, 1), (THREADS as u32, 1, 1), &mut argument), 0)?;
        }
        let graph = result::stream::end_capture(loaded.stream).map_err(text)?;
        let mut exec = std::ptr::null_mut();
        sys::cuGraphInstantiateWithFlags(&raw mut exec, graph, 0).result().map_err(text)?;
        for _ in 0..3 {
            result::graph::launch(exec, loaded.stream).map_err(text)?;
        }
        expect("ended", loaded.wait(), 0)?;
        result::memcpy_dtoh_sync(&mut output, to).map_err(text)?;
        result::graph::exec_destroy(exec).map_err(text)?;
        result::graph::destroy(graph).map_err(text)?;
        result::free_sync(from).map_err(text)?;
        result::free_sync(to).map_err(text)?;
    }
    expect("sums", output, (0..count as u64).map(|i| 6 * i).collect())
}

fn on_two_devices() -> Outcome {
    let ended = child("generated devices", &[("CUDA_STAND_IN_DEVICES", "2")])?;
    if ended.status.success() { Ok(()) } else { Err(format!("{:?}: {}", ended.status, ended.output)) }
}

/// A module on each of two devices; its kernel sees the memory of the other device once it may.
fn reach_devices() -> Outcome {
    let ptx = format!("{HEAD}{}", kernel("copies", "ld.param.u64 %x3, [copies_param_0]; ld.global.u64 %x9, [%x3+8];"));
    let other = Context::new(1)?;
    let of_other = result::ctx::get_current().map_err(text)?.ok_or("no context")?;
    let numbers = [7_u64; THREADS];
    // SAFETY: each array has this number of elements, and is freed once nothing uses it, or with a broken context.
    unsafe {
        let far = result::malloc_sync(8 * THREADS).map_err(text)?;
        result::memcpy_htod_sync(far, &numbers).map_err(text)?;
        // A small copy may be under way when that returns, and neither another device nor a stream waits for it.
        result::ctx::synchronize().map_err(text)?;
        let there = load(&ptx).map_err(text)?;
        for access in [true, false] {
            let loaded = Loaded::new(&ptx)?;
            if access {
                sys::cuCtxEnablePeerAccess(of_other, 0).result().map_err(text)?;
            }
            let near = result::malloc_sync(8 * THREADS).map_err(text)?;
            result::memcpy_htod_sync(near, &numbers).map_err(text)?;
            result::ctx::synchronize().map_err(text)?;
            let launched = loaded.launch("copies", (1, 1, 1), (THREADS as u32, 1, 1), &mut [far, near, near, near]);
            expect("launched", launched, 0)?;
            expect("ended", loaded.wait(), if access { 0 } else { ILLEGAL_ADDRESS })?;
            let _ = result::free_sync(near);
        }
        result::ctx::set_current(of_other).map_err(text)?;
        result::module::unload(there).map_err(text)?;
        result::free_sync(far).map_err(text)?;
    }
    drop(other);
    Ok(())
}
