//! Kernels as PTX inside the library, loaded a module at a time, and their launches.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytemuck::NoUninit;
use cudarc::driver::{result, sys};

use super::archive;
use super::generated::Generated;
use super::loaded::LoadedModule;
pub(crate) use super::loaded::{Function, counter};
use super::pace::SharedPace;
use super::queue::Queue;
use crate::cuda::driver::context::is_recording;
use crate::cuda::driver::error::failed;
use crate::cuda::driver::{Driver, Properties};
use crate::stencil::Error;

/// Modules of a device, each loaded on first use.
///
/// # Copies
/// A module has one set of coefficients, and sending another takes half as long as the launch, 2 to 6 us. Where a
/// script cycles through the same few filters, more copies of the module are loaded, until each filter has its own.
#[derive(Debug)]
pub(crate) struct Modules {
    loaded: Mutex<BTreeMap<&'static str, Copies>>,
    generated: Arc<Generated>,
    /// Stream for the coefficients in constant memory.
    queue: Arc<Queue>,
    turns: Arc<Turns>,
}

/// Copies of a module, the most recently used one last, and the number of times coefficients were sent to one of them.
#[derive(Debug, Default)]
struct Copies {
    modules: Vec<Arc<Module>>,
    sent: usize,
}

/// Maximum number of copies of a module. Each takes a few hundred KB of the device.
const MAX_COPIES: usize = 16;

/// Uploads of coefficients per copy before another copy is loaded: together they have taken about as long as loading
/// it.
const SENT_BEFORE_A_COPY: usize = 300;

/// Direction in which launches on the queue go through their arrays. It alternates, so that a launch begins where the
/// one before it ended: data written last are still in the chip's cache. (Ten stencils over 10^7 doubles, an H200 with
/// 50 MB of cache: 0.439 ms for 0.465.)
#[derive(Debug, Default)]
pub(crate) struct Turns(AtomicBool);

impl Turns {
    /// True if the next launch goes backwards.
    pub(crate) fn next(&self) -> bool {
        self.0.fetch_xor(true, Ordering::Relaxed)
    }
}

impl Modules {
    pub(crate) fn new(queue: &Arc<Queue>) -> Modules {
        let generated = Arc::new(Generated::new(queue.context()));
        Modules { loaded: Mutex::default(), generated, queue: queue.clone(), turns: Arc::default() }
    }

    /// Returns the properties of the device, if the driver gives them.
    pub(crate) fn device(&self) -> Option<&'static Properties> {
        Driver::get().ok()?.devices.get(self.queue.context().ordinal())?.as_ref().ok()
    }

    /// Returns the kernels that were written at run time.
    pub(crate) fn generated(&self) -> &Arc<Generated> {
        &self.generated
    }

    /// Returns the queue of the device.
    pub(crate) fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// Returns the direction of launches on the queue.
    pub(crate) fn turns(&self) -> &Arc<Turns> {
        &self.turns
    }

    /// Returns the module of this name.
    pub(crate) fn get(&self, name: &'static str) -> Result<Arc<Module>, Error> {
        let mut loaded = lock(&self.loaded);
        let modules = &mut loaded.entry(name).or_default().modules;
        if let Some(module) = modules.last() {
            return Ok(module.clone());
        }
        let paces = [SharedPace::alone(), SharedPace::shared()];
        let module = Arc::new(Module::load(&self.queue, name, paces)?);
        modules.push(module.clone());
        Ok(module)
    }

    /// Returns the module of this name for kernels on the queue's stream, with `values` at the beginning of the symbol.
    /// They are uploaded unless a copy of the module holds them. See [`Module::queue_symbol`].
    pub(crate) fn with_symbol<T: NoUninit>(
        &self,
        name: &'static str,
        symbol: &'static CStr,
        values: &[T],
    ) -> Result<Arc<Module>, Error> {
        let last = self.get(name)?;
        if last.holds(symbol, values) {
            return Ok(last);
        }
        let mut loaded = lock(&self.loaded);
        let Copies { modules, sent } = loaded.entry(name).or_default();
        if let Some(found) = modules.iter().position(|module| module.holds(symbol, values)) {
            modules[found..].rotate_left(1);
        } else {
            *sent += 1;
            if *sent > SENT_BEFORE_A_COPY * modules.len() && modules.len() < MAX_COPIES {
                // If memory is short, the existing copies do.
                modules.extend(Module::load(&self.queue, name, last.paces.clone()).map(Arc::new));
            } else {
                modules.rotate_left(1);
            }
        }
        let module = modules.last().expect("one was there").clone();
        drop(loaded);
        module.queue_symbol(symbol, values)?;
        Ok(module)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A loaded module, and cached addresses and values in it.
#[derive(Debug)]
pub(crate) struct Module {
    loaded: Arc<LoadedModule>,
    queue: Arc<Queue>,
    known: Mutex<Known>,
    /// Pace of the device with it, for one tile alone and for one of several at a time.
    paces: [SharedPace; 2],
}

#[derive(Debug, Default)]
struct Known {
    functions: BTreeMap<&'static CStr, Function>,
    symbols: BTreeMap<&'static CStr, Symbol>,
    constants: BTreeMap<&'static CStr, u32>,
}

/// A symbol, and the values last copied to it.
#[derive(Debug)]
struct Symbol {
    address: sys::CUdeviceptr,
    bytes: usize,
    contents: Vec<u8>,
    /// Failures of the queue before that.
    failures: u64,
}

impl Symbol {
    /// True if it holds `values`, given the present number of failures of the queue.
    fn holds(&self, values: &[u8], failures: u64) -> bool {
        self.contents == values && self.failures == failures
    }
}

impl Module {
    /// Loads the module `name`.
    ///
    /// `paces` is the pace of the device so far.
    fn load(queue: &Arc<Queue>, name: &str, paces: [SharedPace; 2]) -> Result<Module, Error> {
        let loaded = LoadedModule::new(queue.context(), archive::ptx(name)?.to_bytes_with_nul())?;
        Ok(Module { loaded, queue: queue.clone(), known: Mutex::default(), paces })
    }

    /// Returns the kernel of this name.
    pub(crate) fn function(&self, name: &'static CStr) -> Result<Function, Error> {
        let mut known = lock(&self.known);
        if let Some(function) = known.functions.get(name) {
            return Ok(function.clone());
        }
        let function = Function::new(&self.loaded, name.to_owned())?;
        known.functions.insert(name, function.clone());
        Ok(function)
    }

    /// Copies `values` to the beginning of the symbol `name`, in constant or in global memory, unless it holds them
    /// already, and waits for the copy. No kernel that reads it may be at work on another stream than the queue's.
    pub(crate) fn set_symbol<T: NoUninit>(&self, name: &'static CStr, values: &[T]) -> Result<(), Error> {
        self.queue_symbol(name, values)?;
        // Also if another thread has copied the same values: its copy may be in flight.
        self.queue.wait()
    }

    /// True if `values` are at the beginning of the symbol, or in flight to it.
    fn holds<T: NoUninit>(&self, name: &CStr, values: &[T]) -> bool {
        let known = lock(&self.known);
        known.symbols.get(name).is_some_and(|symbol| symbol.holds(bytemuck::cast_slice(values), self.queue.failures()))
    }

    /// Copies `values` as [`Module::set_symbol`] does, for kernels on the queue's stream. Asynchronous: the copy runs
    /// in order with the stream.
    pub(crate) fn queue_symbol<T: NoUninit>(&self, name: &'static CStr, values: &[T]) -> Result<(), Error> {
        let values: &[u8] = bytemuck::cast_slice(values);
        let mut known = lock(&self.known);
        if !known.symbols.contains_key(name) {
            let (address, bytes) = self.global(name)?;
            known.symbols.insert(name, Symbol { address, bytes, contents: Vec::new(), failures: 0 });
        }
        let symbol = known.symbols.get_mut(name).expect("it was inserted");
        let failures = self.queue.failures();
        if symbol.holds(values, failures) {
            return Ok(());
        }
        if values.len() > symbol.bytes {
            let (room, wanted) = (symbol.bytes, values.len());
            return Err(Error::Internal(format!("{name:?} has {room} bytes, and {wanted} were to be copied.")));
        }
        // Cleared first: if the copy fails, the contents are unknown.
        symbol.contents.clear();
        // The synchronous copy would not do: it returns while the bytes are in flight, and other streams do not wait
        // for it.
        // SAFETY: the symbol has room for it; work that reads it is on that stream, or comes after a wait.
        unsafe { self.queue.send(values, symbol.address) }?;
        symbol.contents.extend_from_slice(values);
        symbol.failures = failures;
        Ok(())
    }

    /// Returns the value of an unsigned constant by which the module describes itself.
    pub(crate) fn constant(&self, name: &'static CStr) -> Result<usize, Error> {
        let mut known = lock(&self.known);
        if let Some(&value) = known.constants.get(name) {
            return Ok(value as usize);
        }
        let (address, bytes) = self.global(name)?;
        let mut value = [0_u32];
        if bytes != size_of_val(&value) {
            return Err(Error::Internal(format!("{name:?} has {bytes} bytes, not 4.")));
        }
        // SAFETY: the symbol has that many bytes.
        unsafe { result::memcpy_dtoh_sync(&mut value, address) }.map_err(failed("cuMemcpyDtoH"))?;
        known.constants.insert(name, value[0]);
        Ok(value[0] as usize)
    }

    /// Returns the pace of the device with this module, as learnt so far: for one tile alone, or for one of several at
    /// a time.
    pub(crate) fn pace(&self, shared: bool) -> &SharedPace {
        &self.paces[usize::from(shared)]
    }

    fn global(&self, name: &CStr) -> Result<(sys::CUdeviceptr, usize), Error> {
        // SAFETY: the module is loaded.
        unsafe { result::module::get_global(self.loaded.handle.0, name.to_owned()) }
            .map_err(failed("cuModuleGetGlobal"))
    }
}

/// Maximum number of blocks along the two dimensions of a grid that are used here: CUDA's limits on every chip.
const MAX_BLOCKS: [usize; 2] = [i32::MAX as usize, 65_535];

/// Maximum number of threads in a block.
const MAX_THREADS: usize = 1024;

/// Maximum shared memory of a launch, in bytes, unless the kernel is prepared for more.
const MAX_SHARED: usize = 48 << 10;

/// Maximum shared memory if it is: the limit of compute capability 9.0.
const MAX_PREPARED: usize = 227 << 10;

/// Maximum bytes of arguments, on every chip and driver.
pub(crate) const MOST_ARGUMENTS: usize = 4096;

/// Grid and blocks of a launch, within CUDA's limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    grid: [u32; 2],
    block: [u32; 2],
    shared_bytes: u32,
}

impl Shape {
    /// Describes a grid of blocks, each of `block` threads, in two dimensions, with `shared_bytes` bytes of dynamic
    /// shared memory.
    ///
    /// # Errors
    /// [`Error::Internal`] beyond the limits of any chip, and for an empty launch.
    pub(crate) fn new(grid: [usize; 2], block: [usize; 2], shared_bytes: usize) -> Result<Shape, Error> {
        Shape::within(grid, block, shared_bytes, MAX_SHARED)
    }

    /// Describes a row of `blocks` blocks of `threads` threads, with as much shared memory as a kernel for large chips
    /// [may ask for](Function::allow_shared).
    pub(crate) fn prepared(blocks: usize, threads: usize, shared_bytes: usize) -> Result<Shape, Error> {
        Shape::within([blocks, 1], [threads, 1], shared_bytes, MAX_PREPARED)
    }

    fn within(grid: [usize; 2], block: [usize; 2], shared_bytes: usize, most_shared: usize) -> Result<Shape, Error> {
        let blocks_fit = grid.iter().zip(MAX_BLOCKS).all(|(&blocks, most)| (1..=most).contains(&blocks));
        let threads = block[0].saturating_mul(block[1]);
        if !blocks_fit || !(1..=MAX_THREADS).contains(&threads) || shared_bytes > most_shared {
            let [columns, rows] = grid;
            return Err(Error::Internal(format!(
                "{columns} x {rows} blocks of {} x {} threads with {shared_bytes} bytes of shared memory in one launch",
                block[0], block[1]
            )));
        }
        // The checks above have bounded all of them.
        Ok(Shape {
            grid: grid.map(|blocks| blocks as u32),
            block: block.map(|threads| threads as u32),
            shared_bytes: shared_bytes as u32,
        })
    }

    /// Describes a row of `blocks` blocks of `threads` threads.
    pub(crate) fn row(blocks: usize, threads: usize) -> Result<Shape, Error> {
        Shape::new([blocks, 1], [threads, 1], 0)
    }

    /// Returns the number of threads in a block.
    pub(crate) fn threads(&self) -> usize {
        (self.block[0] * self.block[1]) as usize
    }
}

/// Puts a kernel on the stream, which takes `argument` and nothing else. The argument is copied now, also while the
/// stream is captured.
///
/// # Safety
/// `A` is the argument of the kernel, field for field. The stream is open, and of the context that the kernel was
/// loaded in. Until the stream has been waited for, the addresses in `argument` hold as many elements as the kernel
/// reads and writes, and nothing else accesses them.
pub(crate) unsafe fn launch<A: NoUninit>(
    function: &Function,
    stream: sys::CUstream,
    shape: Shape,
    argument: &A,
) -> Result<(), Error> {
    // SAFETY: as the caller says.
    unsafe { launch_with(function, stream, shape, &mut argument_of_launch(argument)) }
}

/// Launches a kernel whose argument is given as bytes.
///
/// # Safety
/// As for [`launch`], where the kernel interprets these bytes.
pub(crate) unsafe fn launch_bytes(
    function: &Function,
    stream: sys::CUstream,
    shape: Shape,
    argument: &[u8],
) -> Result<(), Error> {
    if argument.len() > MOST_ARGUMENTS {
        return Err(Error::Internal(format!("{} bytes are more than a launch takes along.", argument.len())));
    }
    // SAFETY: as the caller says.
    unsafe { launch_with(function, stream, shape, &mut [argument.as_ptr().cast_mut().cast()]) }
}

/// # Safety
/// As for [`launch`]; the driver only reads the argument.
unsafe fn launch_with(
    function: &Function,
    stream: sys::CUstream,
    shape: Shape,
    arguments: &mut [*mut c_void; 1],
) -> Result<(), Error> {
    let Shape { grid, block, shared_bytes } = shape;
    // SAFETY: as the caller says.
    unsafe {
        result::launch_kernel(
            function.handle(),
            (grid[0], grid[1], 1),
            (block[0], block[1], 1),
            shared_bytes,
            stream,
            arguments,
        )
    }
    .map_err(failed("cuLaunchKernel"))
}

/// Launches a kernel that itself waits for the work before it on the stream: its blocks may begin where there is room,
/// as soon as all blocks of the launch before let them (programmatic dependent launch, from compute capability 9.0 on).
/// Captured launches begin after it: not all drivers with such launches can capture them.
///
/// # Safety
/// As for [`launch`]. Each thread of the kernel waits so before it touches an array, and before it ends.
pub(crate) unsafe fn launch_early<A: NoUninit>(
    function: &Function,
    stream: sys::CUstream,
    shape: Shape,
    argument: &A,
) -> Result<(), Error> {
    if is_recording() {
        // SAFETY: as the caller says.
        return unsafe { launch(function, stream, shape, argument) };
    }
    let mut arguments = argument_of_launch(argument);
    let Shape { grid, block, shared_bytes } = shape;
    let mut value = sys::CUlaunchAttributeValue { pad: [0; 64] };
    value.programmaticStreamSerializationAllowed = 1;
    let id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    let mut early = sys::CUlaunchAttribute { id, pad: [0; 4], value };
    let config = sys::CUlaunchConfig {
        gridDimX: grid[0],
        gridDimY: grid[1],
        gridDimZ: 1,
        blockDimX: block[0],
        blockDimY: block[1],
        blockDimZ: 1,
        sharedMemBytes: shared_bytes,
        hStream: stream,
        attrs: &raw mut early,
        numAttrs: 1,
    };
    // SAFETY: as the caller says; the driver only reads the argument and the attribute.
    unsafe { sys::cuLaunchKernelEx(&raw const config, function.handle(), arguments.as_mut_ptr(), ptr::null_mut()) }
        .result()
        .map_err(failed("cuLaunchKernelEx"))
}

/// Returns the only argument of a launch in the driver's form.
fn argument_of_launch<A: NoUninit>(argument: &A) -> [*mut c_void; 1] {
    const { assert!(size_of::<A>() <= MOST_ARGUMENTS, "more than a launch takes along") };
    [(&raw const *argument).cast_mut().cast()]
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns the bytes of the one argument that `kernel` takes, as its module declares it.
    pub(crate) fn argument_bytes(module: &str, kernel: &str) -> usize {
        let ptx = archive::ptx(module).unwrap().into_string().unwrap();
        let (_, rest) =
            ptx.split_once(&format!(".entry {kernel}(")).unwrap_or_else(|| panic!("no kernel {kernel} in {module}"));
        let (parameters, _) = rest.split_once(')').unwrap();
        assert!(!parameters.contains(','), "{kernel} takes more than one argument");
        let (_, bytes) = parameters.split_once(&format!("{kernel}_param_0[")).unwrap();
        bytes.split_once(']').unwrap().0.parse().unwrap()
    }

    /// Returns the value of a module's constant of this name.
    pub(crate) fn constant_of(module: &str, name: &str) -> usize {
        let ptx = archive::ptx(module).unwrap().into_string().unwrap();
        let (_, rest) =
            ptx.split_once(&format!(" {name} = ")).unwrap_or_else(|| panic!("no constant {name} in {module}"));
        rest.split_once(';').unwrap().0.parse().unwrap()
    }

    #[test]
    fn a_shape_is_what_every_chip_can_launch() {
        let most = i32::MAX as usize;
        for (grid, block, shared_bytes, fits) in [
            ([1, 1], [1, 1], 0, true),
            ([most, 65_535], [1024, 1], 48 << 10, true),
            ([most + 1, 1], [1, 1], 0, false),
            // Truncated to 32 bits it would be a launch of one block.
            ([(1 << 32) + 1, 1], [1, 1], 0, false),
            ([1, 65_536], [1, 1], 0, false),
            ([0, 1], [1, 1], 0, false),
            ([1, 0], [1, 1], 0, false),
            ([1, 1], [32, 32], 0, true),
            ([1, 1], [32, 33], 0, false),
            ([1, 1], [1025, 1], 0, false),
            ([1, 1], [0, 1], 0, false),
            ([1, 1], [1 << 32, 1 << 32], 0, false),
            ([1, 1], [1, 1], (48 << 10) + 1, false),
            ([1, 1], [1, 1], 1 << 32, false),
        ] {
            let shape = Shape::new(grid, block, shared_bytes);
            let expected = Shape {
                grid: grid.map(|x| x as u32),
                block: block.map(|x| x as u32),
                shared_bytes: shared_bytes as u32,
            };
            match shape {
                Ok(shape) => assert!(fits && shape == expected, "{shape:?}"),
                Err(error) => {
                    assert!(!fits && matches!(error, Error::Internal(_)), "{grid:?} {block:?} {shared_bytes}: {error}")
                }
            }
        }
        assert_eq!(Shape::row(7, 128), Shape::new([7, 1], [128, 1], 0));
        assert_eq!(Shape::new([1, 1], [32, 4], 0).unwrap().threads(), 128);
    }

    #[test]
    fn counters_hold_what_they_count() {
        assert_eq!(counter::<i32>(i32::MAX as usize, "tiles"), Ok(i32::MAX));
        assert_eq!(counter::<u32>(u32::MAX as usize, "strips"), Ok(u32::MAX));
        for (number, error) in [
            (1_u64 << 31, counter::<i32>(1 << 31, "tiles").unwrap_err()),
            (1 << 32, counter::<u32>(1 << 32, "tiles").unwrap_err()),
        ] {
            assert_eq!(error, Error::Internal(format!("{number} tiles: more than a kernel can count")));
        }
    }
}
