//! MATLAB's gpuArrays in and out, through the stand-in for MATLAB and its interface for them
//! (`tests/stand_in/gpu.cpp`), on the stand-in for the CUDA driver or on a device.
//!
//! The books are kept by both stand-ins: wrappers that are left, inputs that are written to, another context that is
//! current, memory that is freed under work that uses it. After each test nothing may be left.

use std::ffi::{CString, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use stencil_mex::cuda::Cuda;

use crate::common::matlab::*;
use crate::common::{Mode, StandIn, child};

const DERIVATIVE: &str = "DerivativeConstantMemory_CUDA";
const CONVOLUTION: &str = "ConvolutionConstantMemory_CUDA";

const DATA_TYPE: &str = "One of the Inputs are of the wrong data-type";

type Case = (&'static str, fn(&Gpu));

const TABLE: [Case; 11] = [
    ("a_gpu_array_gives_a_gpu_array_of_the_same_bits", a_gpu_array_gives_a_gpu_array_of_the_same_bits),
    ("outputs_of_another_size", outputs_of_another_size),
    ("levels_sources_and_states", levels_sources_and_states),
    ("empty_arrays", empty_arrays),
    ("what_is_refused", what_is_refused),
    ("options_that_ask_for_another_place", options_that_ask_for_another_place),
    ("errors_of_the_host_leave_nothing_behind", errors_of_the_host_leave_nothing_behind),
    ("faults_of_the_driver_leave_nothing_behind", faults_of_the_driver_leave_nothing_behind),
    ("long_runs_that_are_ended", long_runs_that_are_ended),
    ("the_gpu_is_reset_between_calls", the_gpu_is_reset_between_calls),
    ("beside_arrays_of_the_host_and_objects", beside_arrays_of_the_host_and_objects),
];

/// A case in its own process, which finds other libraries or other devices: its name, its variables, its work.
type ChildCase = (&'static str, fn() -> Vec<(&'static str, String)>, fn(&Host));

const CHILDREN: [ChildCase; 4] = [
    (
        "the_older_library",
        || vec![],
        |host| {
            let gpu = Gpu::new(host, "gpu-older/libmwgpu.so");
            a_gpu_array_gives_a_gpu_array_of_the_same_bits(&gpu);
            gpu.stop();
        },
    ),
    ("no_library", || vec![], without_the_library),
    ("a_library_that_is_not_loaded", || vec![("LD_LIBRARY_PATH", path_with("gpu"))], looked_up_when_needed),
    ("two_devices", || vec![("CUDA_STAND_IN_DEVICES", "2".into())], two_devices),
];

fn path_with(folder: &str) -> String {
    let before = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
    format!("{}:{before}", stand_in_dir().join(folder).display())
}

// ---- MATLAB's side

macro_rules! functions {
    ($(fn $name:ident($($type:ty),*) $(-> $result:ty)?;)*) => {
        #[allow(non_snake_case)]
        struct Functions {
            $($name: unsafe extern "C-unwind" fn($($type),*) $(-> $result)?,)*
        }
        impl Functions {
            /// # Safety
            /// `library` must be the stand-in's.
            unsafe fn load(library: *mut c_void) -> Functions {
                // SAFETY: the signatures are those of gpu.cpp.
                unsafe {
                    Functions {
                        $($name: std::mem::transmute::<
                            *mut c_void,
                            unsafe extern "C-unwind" fn($($type),*) $(-> $result)?,
                        >(symbol(library, &CString::new(stringify!($name)).unwrap())),)*
                    }
                }
            }
        }
    };
}

functions! {
    fn standin_gpu_array(usize, *const usize, c_int, c_int, c_int, *const c_void) -> MxArray;
    fn standin_gpu_dims(MxArray, *mut usize, *mut c_int) -> usize;
    fn standin_gather(MxArray, *mut c_void) -> c_int;
    fn standin_gpu_reset();
    fn standin_gpu_select(c_int);
    fn standin_gpu_stop(c_int);
    fn standin_gpu_held() -> usize;
    fn standin_gpu_calls() -> usize;
    fn standin_gpu_raise(usize);
    fn standin_gpu_raise_pending() -> c_int;
    fn standin_gpu_init_status(c_int);
}

/// MATLAB with a GPU.
struct Gpu<'a> {
    host: &'a Host,
    api: Functions,
    /// The stand-in for the driver, if it is one.
    stand_in: Option<StandIn>,
}

// SAFETY of the calls below: arrays are live, buffers have the room that is asked for, and everything happens on the
// thread that `in_matlab` started.
#[allow(clippy::undocumented_unsafe_blocks)]
impl<'a> Gpu<'a> {
    fn new(host: &'a Host, library: &str) -> Gpu<'a> {
        let path = CString::new(stand_in_dir().join(library).into_os_string().into_encoded_bytes()).unwrap();
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!library.is_null(), "{:?}", unsafe { owned(libc::dlerror()) });
        Gpu { host, api: unsafe { Functions::load(library) }, stand_in: StandIn::find() }
    }

    fn make(&self, class: c_int, dims: &[usize], kind: [bool; 2], values: &[u8]) -> Array<'a> {
        let values = if values.is_empty() { std::ptr::null() } else { values.as_ptr().cast() };
        let [complex, sparse] = kind.map(c_int::from);
        self.host
            .wrap(unsafe { (self.api.standin_gpu_array)(dims.len(), dims.as_ptr(), class, complex, sparse, values) })
    }

    fn array(&self, class: c_int, dims: &[usize], values: &[u8]) -> Array<'a> {
        self.make(class, dims, [false; 2], values)
    }

    fn dims(&self, array: &Array) -> (Vec<usize>, c_int) {
        assert_eq!(array.class_name(), "gpuArray");
        let (mut dims, mut class) = ([0; 16], 0);
        let count = unsafe { (self.api.standin_gpu_dims)(array.raw, dims.as_mut_ptr(), &mut class) };
        (dims[..count].to_vec(), class)
    }

    fn gather(&self, array: &Array) -> Vec<u8> {
        let (dims, class) = self.dims(array);
        let mut bytes = vec![0_u8; dims.iter().product::<usize>() * size(class)];
        assert_eq!(unsafe { (self.api.standin_gather)(array.raw, bytes.as_mut_ptr().cast()) }, 0);
        bytes
    }

    fn reset(&self) {
        unsafe { (self.api.standin_gpu_reset)() };
    }

    fn held(&self) -> usize {
        unsafe { (self.api.standin_gpu_held)() }
    }

    fn calls(&self) -> usize {
        unsafe { (self.api.standin_gpu_calls)() }
    }

    /// Makes a function of the interface raise an error, after this number of calls.
    fn raise(&self, after: usize) {
        unsafe { (self.api.standin_gpu_raise)(after) };
    }

    /// True if that has not happened yet; cancels it.
    fn raise_pending(&self) -> bool {
        unsafe { (self.api.standin_gpu_raise_pending)() != 0 }
    }

    fn select(&self, device: c_int) {
        unsafe { (self.api.standin_gpu_select)(device) };
    }

    /// MATLAB gives its device back, and so do we. Nothing is left then.
    fn stop(&self) {
        self.stop_all(1);
    }

    fn stop_all(&self, devices: c_int) {
        self.host.clear_all();
        assert_eq!(self.held(), 0, "arrays and wrappers on the GPU");
        unsafe { (self.api.standin_gpu_stop)(devices) };
        if let Some(stand_in) = self.stand_in {
            assert_eq!(stand_in.misuse(), None, "what the stand-in for the driver has noted");
            assert_eq!(stand_in.alive(), "", "at the end");
        }
    }
}

fn size(class: c_int) -> usize {
    match class {
        SINGLE => 4,
        DOUBLE | UINT64 => 8,
        _ => 1,
    }
}

fn name_of(class: c_int) -> &'static str {
    if class == SINGLE { "single" } else { "double" }
}

/// Samples of a class, as bytes.
fn samples(class: c_int, count: usize, seed: u64) -> Vec<u8> {
    let values = noise(count, seed);
    match class {
        SINGLE => values.iter().flat_map(|&value| (value as f32).to_ne_bytes()).collect(),
        _ => values.iter().flat_map(|value| value.to_ne_bytes()).collect(),
    }
}

/// Arguments of a call behind the array.
struct Rest<'a>(&'static str, Vec<Array<'a>>);

/// The function's name, and its filter or spacing.
fn rests<'a>(host: &'a Host, class: c_int) -> Vec<Rest<'a>> {
    let filter = host.make(class, &[3, 5], false).with_bytes(&samples(class, 15, 8));
    let mut all = vec![Rest(DERIVATIVE, vec![host.double(&[1, 1], &[0.25])]), Rest(CONVOLUTION, vec![filter])];
    if class == DOUBLE {
        all.push(Rest(STENCIL, vec![host.double(&[1, 7], &noise(7, 3))]));
    }
    all
}

fn call<'a>(host: &'a Host, rest: &Rest, input: &Array, options: &[Array]) -> Result<Array<'a>, Message> {
    let arguments: Vec<_> = std::iter::once(input).chain(&rest.1).chain(options).collect();
    host.call(rest.0, 1, &arguments).map(|mut all| all.remove(0))
}

fn sweeps(host: &Host, count: usize) -> Vec<Array<'_>> {
    vec![host.text("Iterations"), host.double(&[1, 1], &[count as f64])]
}

/// Returns the CPU's result for the same arguments.
fn expected(host: &Host, rest: &Rest, class: c_int, dims: &[usize], values: &[u8], options: &[Array]) -> Vec<u8> {
    let input = host.make(class, dims, false).with_bytes(values);
    let cpu = host.cpu();
    let arguments: Vec<_> = std::iter::once(&input).chain(&rest.1).chain(options).chain(&cpu).collect();
    let output = host.one(rest.0, 1, &arguments);
    assert_eq!(output.class_name(), name_of(class));
    output.bytes(size(class))
}

/// Makes a valid call, with three sweeps: earlier calls must not influence it.
fn works(gpu: &Gpu) {
    let host = gpu.host;
    let rest = Rest(STENCIL, vec![host.double(&[1, 3], &noise(3, 4))]);
    let (dims, options) = ([40, 3], sweeps(host, 3));
    let values = samples(DOUBLE, 120, 5);
    let input = gpu.array(DOUBLE, &dims, &values);
    let output = call(host, &rest, &input, &options).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(gpu.gather(&output), expected(host, &rest, DOUBLE, &dims, &values, &options));
    drop((input, output));
}

// ---- the tests

fn a_gpu_array_gives_a_gpu_array_of_the_same_bits(gpu: &Gpu) {
    let host = gpu.host;
    let shapes: [&[usize]; 8] =
        [&[1, 1], &[1, 50], &[300, 1], &[40, 30], &[7, 5, 6], &[1, 3, 20], &[70_000, 2], &[600, 400]];
    for class in [DOUBLE, SINGLE] {
        for rest in &rests(host, class) {
            for dims in shapes {
                let counts: &[usize] = if rest.0 == DERIVATIVE { &[1] } else { &[1, 0, 2, 3, 4, 7] };
                let large = dims.iter().product::<usize>() > 10_000;
                for &count in if large { &counts[..counts.len().min(4)] } else { counts } {
                    let options = if rest.0 == DERIVATIVE { vec![] } else { sweeps(host, count) };
                    let values = samples(class, dims.iter().product(), 7);
                    let input = gpu.array(class, dims, &values);
                    let output = call(host, rest, &input, &options).unwrap_or_else(|error| panic!("{error:?}"));
                    let what = format!("{} of {dims:?}, class {class}, {count} sweeps", rest.0);
                    assert_eq!(gpu.dims(&output), (dims.to_vec(), class), "{what}");
                    let expected = expected(host, rest, class, dims, &values, &options);
                    assert!(gpu.gather(&output) == expected, "{what}");
                    assert!(gpu.gather(&input) == values, "{what}: the input");
                }
            }
        }
    }
    // A filter of the other class makes the result single.
    let (dims, filter) = ([30, 20], host.make(SINGLE, &[3, 3], false).with_bytes(&samples(SINGLE, 9, 8)));
    let rest = Rest(CONVOLUTION, vec![filter]);
    let values = samples(DOUBLE, 600, 9);
    for count in [1, 2] {
        let (input, options) = (gpu.array(DOUBLE, &dims, &values), sweeps(host, count));
        let output = call(host, &rest, &input, &options).unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!(gpu.dims(&output), (dims.to_vec(), SINGLE));
        let reference = host.make(DOUBLE, &dims, false).with_bytes(&values);
        let cpu = host.cpu();
        let arguments: Vec<_> = std::iter::once(&reference).chain(&rest.1).chain(&options).chain(&cpu).collect();
        assert_eq!(gpu.gather(&output), host.one(CONVOLUTION, 1, &arguments).bytes(4));
    }
}

fn outputs_of_another_size(gpu: &Gpu) {
    let host = gpu.host;
    for class in [DOUBLE, SINGLE] {
        for rest in rests(host, class).iter().filter(|rest| rest.0 != DERIVATIVE) {
            for dims in [&[40, 30][..], &[12, 9, 4], &[1, 50], &[2, 3]] {
                for shape in ["full", "valid", "same"] {
                    for boundary in ["circular", "symmetric", "replicate", ""] {
                        let outside =
                            if boundary.is_empty() { host.double(&[1, 1], &[2.5]) } else { host.text(boundary) };
                        let options = [host.text("Shape"), host.text(shape), host.text("Boundary"), outside];
                        let values = samples(class, dims.iter().product(), 7);
                        let input = gpu.array(class, dims, &values);
                        let output = call(host, rest, &input, &options).unwrap_or_else(|error| panic!("{error:?}"));
                        let reference = host.make(class, dims, false).with_bytes(&values);
                        let cpu = host.cpu();
                        let arguments: Vec<_> =
                            std::iter::once(&reference).chain(&rest.1).chain(&options).chain(&cpu).collect();
                        let expected = host.one(rest.0, 1, &arguments);
                        let what = format!("{} of {dims:?}, class {class}, {shape}, {boundary}", rest.0);
                        assert_eq!(gpu.dims(&output), (expected.dims(), class), "{what}");
                        assert!(gpu.gather(&output) == expected.bytes(size(class)), "{what}");
                    }
                }
            }
        }
    }
}

/// Two time levels, with a source or without, and the states on the way: two outputs, both on the GPU.
fn levels_sources_and_states(gpu: &Gpu) {
    /// The source, added in every sweep.
    #[derive(Debug, Clone, Copy)]
    enum Added {
        Nothing,
        Number,
        Numbers,
    }
    let host = gpu.host;
    let number = |value: f64| host.double(&[1, 1], &[value]);
    for class in [DOUBLE, SINGLE] {
        for rest in rests(host, class).iter().filter(|rest| rest.0 != DERIVATIVE) {
            for dims in [&[1, 50][..], &[300, 1], &[40, 30], &[2000, 3]] {
                let values = [7, 8, 9].map(|seed| samples(class, dims.iter().product(), seed));
                for added in [Added::Nothing, Added::Number, Added::Numbers] {
                    for every in [false, true] {
                        let call = |[u, previous, source]: &[Array; 3], more: &[Array]| {
                            let [weight, iterations, one, two] = [-0.5, 4.0, 1.5, 2.0].map(number);
                            let words =
                                ["Previous", "Weight", "Iterations", "Source", "Every"].map(|name| host.text(name));
                            let mut all = vec![u, &rest.1[0], &words[0], previous, &words[1], &weight];
                            all.extend([&words[2], &iterations]);
                            match added {
                                Added::Nothing => {}
                                Added::Number => all.extend([&words[3], &one]),
                                Added::Numbers => all.extend([&words[3], source]),
                            }
                            if every {
                                all.extend([&words[4], &two]);
                            }
                            all.extend(more);
                            host.call(rest.0, 2, &all)
                        };
                        let given = values.each_ref().map(|values| gpu.array(class, dims, values));
                        let got = call(&given, &[]).unwrap_or_else(|error| panic!("{error:?}"));
                        let plain = values.each_ref().map(|values| host.make(class, dims, false).with_bytes(values));
                        let right = call(&plain, &host.cpu()).unwrap_or_else(|error| panic!("{error:?}"));
                        let what = format!("{} of {dims:?}, class {class}, {added:?}, {every}", rest.0);
                        assert_eq!((got.len(), right.len()), (2, 2), "{what}");
                        for (got, right) in got.iter().zip(&right) {
                            assert_eq!(gpu.dims(got), (right.dims(), class), "{what}");
                            assert!(gpu.gather(got) == right.bytes(size(class)), "{what}");
                        }
                        for (given, values) in given.iter().zip(&values) {
                            assert!(gpu.gather(given) == *values, "{what}: an input");
                        }
                        // Arrays of another place are neither level nor source of this array.
                        let [u, previous, source] = &given;
                        let [on_host, ..] = &plain;
                        let mixed = [[u, on_host, source], [on_host, previous, source]];
                        for arrays in mixed {
                            let words = ["Previous", "Weight"].map(|name| host.text(name));
                            let arguments = [arrays[0], &rest.1[0], &words[0], arrays[1], &words[1], &number(-1.0)];
                            refused(gpu, rest.0, &arguments, "option", &["'Previous'", "gpuArray"]);
                        }
                    }
                }
                // An error of the host's in the middle leaves neither output.
                let given = [0, 1].map(|i: usize| gpu.array(class, dims, &values[i]));
                let (words, weight) = (["Previous", "Weight"].map(|name| host.text(name)), number(-0.5));
                let held = gpu.held();
                for after in 0.. {
                    gpu.raise(after);
                    let arguments = [&given[0], &rest.1[0], &words[0], &given[1], &words[1], &weight];
                    let outcome = host.call(rest.0, 2, &arguments).map(drop);
                    let pending = gpu.raise_pending();
                    assert_eq!(gpu.held(), held, "{after}");
                    match outcome {
                        Ok(()) => {
                            assert!(pending && after > 10, "after {after}");
                            break;
                        }
                        Err(error) => assert!(!pending && error.id == "parallel:gpu:standin", "{error:?}"),
                    }
                }
            }
        }
    }
    works(gpu);
}

fn empty_arrays(gpu: &Gpu) {
    let host = gpu.host;
    for class in [DOUBLE, SINGLE] {
        for rest in &rests(host, class) {
            for dims in [&[0, 0][..], &[1, 0], &[0, 5], &[3, 0, 2]] {
                let input = gpu.array(class, dims, &[]);
                let output = call(host, rest, &input, &[]).unwrap_or_else(|error| panic!("{error:?}"));
                assert_eq!(gpu.dims(&output), (dims.to_vec(), class), "{}", rest.0);
            }
        }
    }
}

/// Checks that a call is refused with this kind of error, whose text contains these words.
fn refused(gpu: &Gpu, name: &str, arguments: &[&Array], kind: &str, words: &[&str]) {
    let held = gpu.held();
    let error = gpu.host.refuses(name, 1, arguments, kind, if kind == "dataType" { DATA_TYPE } else { "" });
    assert!(words.iter().all(|word| error.text.contains(word)), "{words:?}: {error:?}");
    assert_eq!(gpu.held(), held);
}

fn what_is_refused(gpu: &Gpu) {
    let host = gpu.host;
    let (one, filter) = (host.double(&[1, 1], &[1.0]), host.ones(&[3, 1]));
    let names = [(STENCIL, "inputArray"), (DERIVATIVE, "f"), (CONVOLUTION, "N")];
    for (name, input) in names {
        let second = if name == DERIVATIVE { &one } else { &filter };
        let complex = gpu.make(DOUBLE, &[3, 4], [true, false], &[]);
        refused(gpu, name, &[&complex, second], "dataType", &["3x4 complex double gpuArray", "real (", "imag ("]);
        let sparse = gpu.make(DOUBLE, &[3, 4], [false, true], &[]);
        refused(gpu, name, &[&sparse, second], "dataType", &["3x4 sparse double gpuArray", "full ("]);
        for (class, word) in [(INT8, "int8"), (UINT64, "uint64"), (LOGICAL, "logical")] {
            let other = gpu.array(class, &[3, 4], &[]);
            let advice = format!("double ({input})");
            refused(gpu, name, &[&other, second], "dataType", &[&format!("3x4 {word} gpuArray"), &advice]);
        }
        // The filter is the host's, wherever the array lies.
        let (x, on_gpu) = (host.ones(&[4, 4]), gpu.array(DOUBLE, &[1, 1], &1.0_f64.to_ne_bytes()));
        refused(gpu, name, &[&x, &on_gpu], "dataType", &["gather ("]);
        refused(gpu, name, &[&on_gpu, &on_gpu], "dataType", &["gather ("]);
        // The number of inputs comes first, options last.
        refused(gpu, name, &[&on_gpu, second, &host.double(&[1, 2], &[1.0, 2.0])], "numberOfInputs", &[]);
        refused(gpu, name, &[&on_gpu, second, &host.text("Colour"), &one], "option", &["Colour"]);
        refused(gpu, name, &[&on_gpu, second, &host.text("Device"), &on_gpu], "option", &["gpuArray"]);
    }
    let volume = gpu.array(DOUBLE, &[2, 2, 2, 2], &[]);
    // Our arrays are made from the host's.
    let error = host.call(ARRAYS, 1, &[&host.text("make"), &volume]).map(drop).expect_err("it is on the GPU");
    assert!(error.id == "DeviceArray:dataType" && error.text.contains("gather"), "{error:?}");
    // MATLAB cannot use its GPU.
    // SAFETY: on the thread of the host.
    unsafe { (gpu.api.standin_gpu_init_status)(1) };
    refused(gpu, CONVOLUTION, &[&volume, &filter], "gpuArray", &["gather"]);
    // SAFETY: as above.
    unsafe { (gpu.api.standin_gpu_init_status)(0) };
    works(gpu);
}

fn options_that_ask_for_another_place(gpu: &Gpu) {
    let host = gpu.host;
    let values = samples(DOUBLE, 12, 1);
    let x = gpu.array(DOUBLE, &[3, 4], &values);
    let [backend, device] = ["Backend", "Device"].map(|name| host.text(name));
    let [cpu, cuda, auto] = ["cpu", "cuda", "auto"].map(|name| host.text(name));
    for rest in &rests(host, DOUBLE) {
        let second = &rest.1[0];
        refused(gpu, rest.0, &[&x, second, &backend, &cpu], "option", &["'Backend', 'cpu'", "gather", "device 1"]);
        let two = host.double(&[1, 1], &[2.0]);
        refused(gpu, rest.0, &[&x, second, &device, &two], "option", &["'Device', 2", "gather", "device 1"]);
        let expected = expected(host, rest, DOUBLE, &[3, 4], &values, &[]);
        for options in [[&backend, &cuda], [&backend, &auto], [&device, &host.double(&[1, 1], &[1.0])]] {
            let output = host.one(rest.0, 1, &[&[&x, second], &options[..]].concat());
            assert!(gpu.gather(&output) == expected, "{options:?}");
        }
    }
}

fn errors_of_the_host_leave_nothing_behind(gpu: &Gpu) {
    let host = gpu.host;
    for class in [DOUBLE, SINGLE] {
        for rest in &rests(host, class) {
            let (input, options) = (gpu.array(class, &[30, 20], &samples(class, 600, 1)), []);
            let held = gpu.held();
            for after in 0.. {
                gpu.raise(after);
                let outcome = call(host, rest, &input, &options).map(drop);
                let pending = gpu.raise_pending();
                assert_eq!(gpu.held(), held, "{after}");
                match outcome {
                    Ok(()) => {
                        assert!(pending && after > 10, "after {after}");
                        break;
                    }
                    Err(error) => assert!(!pending && error.id == "parallel:gpu:standin", "{error:?}"),
                }
            }
            // The host's memory: of the block of dimensions, of the output.
            for after in 0.. {
                host.refuse_array(after);
                let outcome = call(host, rest, &input, &options).map(drop);
                assert_eq!(gpu.held(), held);
                if host.refusal_pending() {
                    assert!(outcome.is_ok() && after > 0, "{outcome:?}");
                    break;
                }
                assert_eq!(outcome.map_err(|error| error.id), Err("MATLAB:nomem".into()));
            }
        }
    }
    works(gpu);
}

fn faults_of_the_driver_leave_nothing_behind(gpu: &Gpu) {
    let Some(stand_in) = gpu.stand_in else {
        return;
    };
    let host = gpu.host;
    for rest in &rests(host, DOUBLE) {
        let many = if rest.0 == DERIVATIVE { vec![] } else { sweeps(host, 4) };
        let values = samples(DOUBLE, 600, 1);
        let input = gpu.array(DOUBLE, &[30, 20], &values);
        let expected = expected(host, rest, DOUBLE, &[30, 20], &values, &many);
        let held = gpu.held();
        for cold in [false, true] {
            for function in [
                "cuLaunchKernel",
                "cuGraphLaunch",
                "cuStreamSynchronize",
                "cuMemAlloc_v2",
                "cuPointerGetAttribute",
                "cuEventRecord",
                "cuEventSynchronize",
                "cuMemcpyDtoDAsync_v2",
                "cuCtxGetId",
                "cuCtxSetCurrent",
                "cuModuleLoadData",
            ] {
                // 700: an address that is none; 2: memory that has run out.
                for (nth, status) in [(1, 700), (2, 700), (3, 700), (1, 2), (2, 2)] {
                    if cold {
                        host.clear_all();
                    }
                    stand_in.fail_in(function, nth, status, Mode::Once);
                    let outcome = call(host, rest, &input, &many);
                    stand_in.heal();
                    // Some calls of the driver are made once more, and then all is well.
                    if let Ok(output) = &outcome {
                        assert!(gpu.gather(output) == expected, "{function}, {nth}, {status}");
                    }
                    drop(outcome);
                    assert_eq!(gpu.held(), held, "{function}, {nth}, {status}");
                    assert_eq!(stand_in.misuse(), None, "{function}, {nth}, {status}, {cold}");
                }
            }
        }
    }
    works(gpu);
}

fn long_runs_that_are_ended(gpu: &Gpu) {
    let host = gpu.host;
    let input = gpu.array(DOUBLE, &[64, 48], &samples(DOUBLE, 3072, 2));
    for name in [STENCIL, CONVOLUTION] {
        let rest = Rest(name, vec![host.double(&[3, 1], &[0.25, 0.5, 0.25])]);
        // More than is waited for.
        let mut options = sweeps(host, 4_000_000_000);
        let held = gpu.held();
        for after in [0, 3] {
            let start = Instant::now();
            host.interrupt(after);
            let error = call(host, &rest, &input, &options).map(drop).expect_err("it does not end by itself");
            assert!(error.id.ends_with(":interrupted"), "{error:?}");
            assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
            assert_eq!(gpu.held(), held);
        }
        options.extend([host.text("Progress"), host.double(&[1, 1], &[1.0])]);
        host.raise_when_evaluating();
        let error = call(host, &rest, &input, &options).map(drop).expect_err("the host raises");
        assert_eq!(error.id, "MATLAB:standin:terminated");
        assert_eq!(gpu.held(), held);
        works(gpu);
    }
}

fn the_gpu_is_reset_between_calls(gpu: &Gpu) {
    let host = gpu.host;
    let (values, single) = (samples(DOUBLE, 600, 3), host.make(SINGLE, &[3, 3], false));
    let single = single.with_bytes(&samples(SINGLE, 9, 4));
    works(gpu);
    let old = gpu.array(DOUBLE, &[30, 20], &values);
    // Ours on the GPU, which go with it.
    let object =
        host.one(ARRAYS, 1, &[&host.text("make"), &host.ones(&[20, 1]), &host.text("Backend"), &host.text("cuda")]);
    for first in 0..4 {
        gpu.reset();
        match first {
            0 => works(gpu),
            1 => drop(host.one(CONVOLUTION, 1, &[&gpu.array(DOUBLE, &[30, 20], &values), &single])),
            2 => drop(host.one(
                STENCIL,
                1,
                &[&host.ones(&[20, 1]), &host.ones(&[3, 1]), &host.text("Backend"), &host.text("cuda")],
            )),
            _ => host.clear_all(),
        }
        for rest in &rests(host, DOUBLE) {
            let input = gpu.array(DOUBLE, &[30, 20], &values);
            let output = call(host, rest, &input, &[]).unwrap_or_else(|error| panic!("{error:?}"));
            assert!(gpu.gather(&output) == expected(host, rest, DOUBLE, &[30, 20], &values, &[]));
            refused(gpu, rest.0, &[&old, &rest.1[0]], "gpuArray", &["gone", "anew"]);
        }
        let error = host.call(STENCIL, 1, &[&object, &host.ones(&[3, 1])]).map(drop).expect_err("it is gone");
        assert!(error.id == "StencilConstantMemory:cuda" && error.text.contains("reset"), "{error:?}");
    }
    drop(host.one(ARRAYS, 1, &[&host.text("delete"), &object]));
    works(gpu);
}

fn beside_arrays_of_the_host_and_objects(gpu: &Gpu) {
    let host = gpu.host;
    let values = samples(DOUBLE, 600, 6);
    let x = host.make(DOUBLE, &[30, 20], false).with_bytes(&values);
    let [backend, cuda] = [host.text("Backend"), host.text("cuda")];
    let object = host.one(ARRAYS, 1, &[&host.text("make"), &x, &backend, &cuda]);
    for rest in &rests(host, DOUBLE) {
        let expected = expected(host, rest, DOUBLE, &[30, 20], &values, &[]);
        let on_gpu = gpu.array(DOUBLE, &[30, 20], &values);
        for _ in 0..3 {
            let of_object = call(host, rest, &object, &[]).unwrap_or_else(|error| panic!("{error:?}"));
            let of_gpu = call(host, rest, &on_gpu, &[]).unwrap_or_else(|error| panic!("{error:?}"));
            assert!(gpu.gather(&of_gpu) == expected);
            let of_host = host.one(rest.0, 1, &[&x, &rest.1[0], &backend, &cuda]);
            assert!(of_host.bytes(8) == expected);
            let gathered = host.one(ARRAYS, 1, &[&host.text("gather"), &of_object]);
            assert!(gathered.bytes(8) == expected);
            let of_object = host.number(of_object.number_property(c"id").expect("it has a number"));
            drop(host.one(ARRAYS, 1, &[&host.text("delete"), &of_object]));
        }
        // Either is no filter.
        refused(gpu, rest.0, &[&on_gpu, &object], "dataType", &["gather ("]);
        refused(gpu, rest.0, &[&object, &on_gpu], "dataType", &["gather ("]);
    }
    drop(host.one(ARRAYS, 1, &[&host.text("delete"), &object]));
}

// ---- in processes of their own

fn without_the_library(host: &Host) {
    let (object, filter) = (host.object(c"gpuArray", OPAQUE), host.ones(&[1, 3]));
    for name in [STENCIL, DERIVATIVE, CONVOLUTION] {
        let second = if name == DERIVATIVE { host.ones(&[1, 1]) } else { host.ones(&[1, 3]) };
        let error = host.refuses(name, 1, &[&object, &second], "gpuArray", "");
        assert!(["gather", "mxInitGPU"].iter().all(|word| error.text.contains(word)), "{error:?}");
        host.refuses(name, 1, &[&filter, &object], "dataType", DATA_TYPE);
    }
    host.clear_all();
}

fn looked_up_when_needed(host: &Host) {
    let loaded = || {
        // SAFETY: the text ends in NUL; nothing is loaded.
        let handle = unsafe { libc::dlopen(c"libmwgpumexbinder.so".as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
        !handle.is_null()
    };
    let (x, filter, cpu) = (host.ones(&[1, 20]), host.ones(&[1, 3]), host.cpu());
    assert!(!loaded());
    drop(host.one(STENCIL, 1, &[&x, &filter, &cpu[0], &cpu[1]]));
    drop(host.one(STENCIL, 1, &[&x, &filter]));
    drop(host.call(STENCIL, 1, &[&host.object(c"table", OBJECT), &filter]));
    assert!(!loaded(), "there was no gpuArray");
    drop(host.call(STENCIL, 1, &[&host.object(c"gpuArray", OPAQUE), &filter]));
    assert!(loaded());
    let gpu = Gpu::new(host, "gpu/libmwgpumexbinder.so");
    assert!(gpu.calls() > 0);
    works(&gpu);
    let before = gpu.calls();
    drop(host.one(STENCIL, 1, &[&x, &filter]));
    assert_eq!(gpu.calls(), before, "nor is any function of it called without one");
    gpu.stop();
}

fn two_devices(host: &Host) {
    let gpu = Gpu::new(host, "gpu/libmwgpumexbinder.so");
    works(&gpu);
    let rest = Rest(STENCIL, vec![host.double(&[1, 3], &noise(3, 4))]);
    let values = samples(DOUBLE, 120, 5);
    let first = gpu.array(DOUBLE, &[40, 3], &values);
    gpu.select(1);
    works(&gpu);
    let second = gpu.array(DOUBLE, &[40, 3], &values);
    let output = call(host, &rest, &second, &[]).unwrap_or_else(|error| panic!("{error:?}"));
    assert!(gpu.gather(&output) == expected(host, &rest, DOUBLE, &[40, 3], &values, &[]));
    // An output would lie on the device that is selected.
    let error = call(host, &rest, &first, &[]).map(drop).expect_err("two devices in a call");
    assert!(error.id == "StencilConstantMemory:gpuArray" && error.text.contains("another GPU"), "{error:?}");
    let (device, one) = (host.text("Device"), host.double(&[1, 1], &[1.0]));
    refused(&gpu, STENCIL, &[&second, &rest.1[0], &device, &one], "option", &["'Device', 1", "device 2"]);
    // Nothing lies anywhere of an empty array.
    let empty = gpu.array(DOUBLE, &[0, 3], &[]);
    assert_eq!(gpu.dims(&call(host, &rest, &empty, &[]).unwrap()).0, [0, 3]);
    works(&gpu);
    drop((first, second, output, empty));
    gpu.stop_all(2);
}

pub fn in_child(name: &str) -> Result<(), String> {
    let known = CHILDREN.iter().find(|(case, ..)| *case == name);
    known.map(|&(_, _, test)| in_matlab(test)).ok_or_else(|| format!("there is no case {name}"))
}

pub fn trials() -> Vec<Trial> {
    let absent = Cuda::find(None).err();
    let reason = absent.as_ref().map(|reason| format!(" (skipped: {reason})")).unwrap_or_default();
    let real = StandIn::find().is_none();
    let trials = TABLE.into_iter().map(|(case, test)| {
        let run = move || {
            in_matlab(move |host| {
                let gpu = Gpu::new(host, "gpu/libmwgpumexbinder.so");
                let outcome = catch_unwind(AssertUnwindSafe(|| test(&gpu)));
                match outcome {
                    Ok(()) => gpu.stop(),
                    Err(panic) => {
                        host.clear_all();
                        std::panic::resume_unwind(panic)
                    }
                }
            });
            Ok(())
        };
        Trial::test(format!("gpu_arrays::{case}{reason}"), run).with_ignored_flag(absent.is_some())
    });
    let children = CHILDREN.into_iter().map(|(case, variables, _)| {
        let run = move || {
            let variables = variables();
            let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let ended = child(case, &variables)?;
            if ended.status.success() {
                Ok(())
            } else {
                Err(Failed::from(format!("{}\n{}", ended.status, ended.output)))
            }
        };
        let skipped = absent.is_some() || real && case == "two_devices";
        Trial::test(format!("gpu_arrays::{case}{reason}"), run).with_ignored_flag(skipped)
    });
    trials.chain(children).collect()
}
