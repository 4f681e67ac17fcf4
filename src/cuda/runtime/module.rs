//! The kernels: PTX inside the library, loaded a module at a time, and launched.

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

/// The modules of a device, each loaded when it is first asked for.
///
/// # Copies
/// A module has one set of coefficients, and to send another takes half as long as the launch, 2 to 6 us. Where a
/// script goes through the same few filters again and again, the module is loaded once more, until each filter has one
/// of its own.
#[derive(Debug)]
pub(crate) struct Modules {
    loaded: Mutex<BTreeMap<&'static str, Copies>>,
    generated: Arc<Generated>,
    /// What fills constant memory.
    queue: Arc<Queue>,
    turns: Arc<Turns>,
}

/// A module, loaded once or more often, and how often coefficients were sent to one of them. The last is the one that
/// was used last.
#[derive(Debug, Default)]
struct Copies {
    modules: Vec<Arc<Module>>,
    sent: usize,
}

/// The most copies of a module. Each takes a few hundred KB of the device.
const MOST_COPIES: usize = 16;

/// As often as that coefficients were sent for each of the copies that there are, before there is one more: that has
/// taken about as long as it takes to load it.
const SENT_BEFORE_A_COPY: usize = 300;

/// Which way a launch on the queue goes through its arrays: from one to the next it turns, and begins where the one
/// before it ended. What that wrote last is in the chip's cache still. (Ten stencils over 10^7 doubles, an
/// H200 with 50 MB of cache: 0.439 ms for 0.465.)
#[derive(Debug, Default)]
pub(crate) struct Turns(AtomicBool);

impl Turns {
    /// Whether the next launch goes backwards.
    pub(crate) fn next(&self) -> bool {
        self.0.fetch_xor(true, Ordering::Relaxed)
    }
}

impl Modules {
    pub(crate) fn new(queue: &Arc<Queue>) -> Modules {
        let generated = Arc::new(Generated::new(queue.context()));
        Modules { loaded: Mutex::default(), generated, queue: queue.clone(), turns: Arc::default() }
    }

    /// What the device is that they are for, if the driver tells.
    pub(crate) fn device(&self) -> Option<&'static Properties> {
        Driver::get().ok()?.devices.get(self.queue.context().ordinal())?.as_ref().ok()
    }

    /// The kernels that were written at run time.
    pub(crate) fn generated(&self) -> &Arc<Generated> {
        &self.generated
    }

    /// The queue of the device that they are for.
    pub(crate) fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// Which way launches on the queue go.
    pub(crate) fn turns(&self) -> &Arc<Turns> {
        &self.turns
    }

    /// The module of this name.
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

    /// The module of this name for kernels on the queue's stream, with `values` at the beginning of the symbol: they
    /// are sent there unless one of its copies has them. See [`Module::queue_symbol`].
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
            if *sent > SENT_BEFORE_A_COPY * modules.len() && modules.len() < MOST_COPIES {
                // Where there is no memory for one more, those that there are do.
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

/// A loaded module, and what is known of what is in it.
#[derive(Debug)]
pub(crate) struct Module {
    loaded: Arc<LoadedModule>,
    queue: Arc<Queue>,
    known: Mutex<Known>,
    /// How the device keeps up with it, alone and beside others.
    paces: [SharedPace; 2],
}

#[derive(Debug, Default)]
struct Known {
    functions: BTreeMap<&'static CStr, Function>,
    symbols: BTreeMap<&'static CStr, Symbol>,
    constants: BTreeMap<&'static CStr, u32>,
}

/// A symbol, and what was last copied to it.
#[derive(Debug)]
struct Symbol {
    address: sys::CUdeviceptr,
    bytes: usize,
    contents: Vec<u8>,
    /// How often the queue had failed before that.
    failures: u64,
}

impl Symbol {
    /// Whether it holds `values`, where the queue has failed so often by now.
    fn holds(&self, values: &[u8], failures: u64) -> bool {
        self.contents == values && self.failures == failures
    }
}

impl Module {
    /// Loads the module `name`.
    ///
    /// `paces` is what is known of how the device keeps up.
    fn load(queue: &Arc<Queue>, name: &str, paces: [SharedPace; 2]) -> Result<Module, Error> {
        let loaded = LoadedModule::new(queue.context(), archive::ptx(name)?.to_bytes_with_nul())?;
        Ok(Module { loaded, queue: queue.clone(), known: Mutex::default(), paces })
    }

    /// A kernel, by name.
    pub(crate) fn function(&self, name: &'static CStr) -> Result<Function, Error> {
        let mut known = lock(&self.known);
        if let Some(function) = known.functions.get(name) {
            return Ok(function.clone());
        }
        let function = Function::new(&self.loaded, name.to_owned())?;
        known.functions.insert(name, function.clone());
        Ok(function)
    }

    /// Copies `values` to the beginning of the symbol `name`, in constant or in global memory, unless that is what it
    /// holds already. No kernel that reads it may be at work on another stream than the queue's. The copy is done when
    /// this returns.
    pub(crate) fn set_symbol<T: NoUninit>(&self, name: &'static CStr, values: &[T]) -> Result<(), Error> {
        self.queue_symbol(name, values)?;
        // Also where another thread has copied the same: that may be under way.
        self.queue.wait()
    }

    /// Whether `values` are at the beginning of the symbol, or on their way there.
    fn holds<T: NoUninit>(&self, name: &CStr, values: &[T]) -> bool {
        let known = lock(&self.known);
        known.symbols.get(name).is_some_and(|symbol| symbol.holds(bytemuck::cast_slice(values), self.queue.failures()))
    }

    /// Copies `values` as [`Module::set_symbol`] does, for kernels on the queue's stream. Asynchronous: the copy comes
    /// behind what is there already, and ahead of what comes next.
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
        // Forgotten first: if the copy fails, nobody may believe what was there before.
        symbol.contents.clear();
        // The synchronous copy would not do: it returns when the bytes are on their way, and other streams do not wait
        // for it.
        // SAFETY: the symbol has room for it; who reads it does so on that stream, or after a wait.
        unsafe { self.queue.send(values, symbol.address) }?;
        symbol.contents.extend_from_slice(values);
        symbol.failures = failures;
        Ok(())
    }

    /// The value of an unsigned constant in which the module tells something about itself.
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
        // SAFETY: as many bytes are there.
        unsafe { result::memcpy_dtoh_sync(&mut value, address) }.map_err(failed("cuMemcpyDtoH"))?;
        known.constants.insert(name, value[0]);
        Ok(value[0] as usize)
    }

    /// How much of its work the device does in time, as far as calls have learnt: for one tile alone, or for one of
    /// several at a time.
    pub(crate) fn pace(&self, shared: bool) -> &SharedPace {
        &self.paces[usize::from(shared)]
    }

    fn global(&self, name: &CStr) -> Result<(sys::CUdeviceptr, usize), Error> {
        // SAFETY: the module is loaded.
        unsafe { result::module::get_global(self.loaded.handle.0, name.to_owned()) }
            .map_err(failed("cuModuleGetGlobal"))
    }
}

/// The most blocks along the two dimensions of a grid that are used here: CUDA's limits on every chip.
const MOST_BLOCKS: [usize; 2] = [i32::MAX as usize, 65_535];

/// The most threads in a block.
const MOST_THREADS: usize = 1024;

/// The most shared memory that a launch may ask for, in bytes, without the kernel's being prepared for more.
const MOST_SHARED: usize = 48 << 10;

/// The most where it is: of a chip of compute capability 9.0.
const MOST_PREPARED: usize = 227 << 10;

/// The most bytes of arguments, on every chip and driver.
pub(crate) const MOST_ARGUMENTS: usize = 4096;

/// The blocks of a launch and their threads, within what CUDA can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    grid: [u32; 2],
    block: [u32; 2],
    shared_bytes: u32,
}

impl Shape {
    /// A grid of blocks, each of `block` threads, in two dimensions, with `shared_bytes` bytes of shared memory beside
    /// what the kernel declares.
    ///
    /// # Errors
    /// [`Error::Internal`] for what no chip can do, and for a launch of nothing.
    pub(crate) fn new(grid: [usize; 2], block: [usize; 2], shared_bytes: usize) -> Result<Shape, Error> {
        Shape::within(grid, block, shared_bytes, MOST_SHARED)
    }

    /// `blocks` blocks of `threads` threads, in a row, with as much shared memory as a kernel
    /// [may ask for](Function::allow_shared) that is for large chips.
    pub(crate) fn prepared(blocks: usize, threads: usize, shared_bytes: usize) -> Result<Shape, Error> {
        Shape::within([blocks, 1], [threads, 1], shared_bytes, MOST_PREPARED)
    }

    fn within(grid: [usize; 2], block: [usize; 2], shared_bytes: usize, most_shared: usize) -> Result<Shape, Error> {
        let blocks_fit = grid.iter().zip(MOST_BLOCKS).all(|(&blocks, most)| (1..=most).contains(&blocks));
        let threads = block[0].saturating_mul(block[1]);
        if !blocks_fit || !(1..=MOST_THREADS).contains(&threads) || shared_bytes > most_shared {
            let [columns, rows] = grid;
            return Err(Error::Internal(format!(
                "{columns} x {rows} blocks of {} x {} threads with {shared_bytes} bytes of shared memory in one launch",
                block[0], block[1]
            )));
        }
        // All of them are small now.
        Ok(Shape {
            grid: grid.map(|blocks| blocks as u32),
            block: block.map(|threads| threads as u32),
            shared_bytes: shared_bytes as u32,
        })
    }

    /// `blocks` blocks of `threads` threads, in a row.
    pub(crate) fn row(blocks: usize, threads: usize) -> Result<Shape, Error> {
        Shape::new([blocks, 1], [threads, 1], 0)
    }

    /// The threads of a block.
    pub(crate) fn threads(&self) -> usize {
        (self.block[0] * self.block[1]) as usize
    }
}

/// Puts a kernel on the stream, which takes `argument` and nothing else. The argument is copied now, also where the
/// launch is only recorded.
///
/// # Safety
/// `A` is the argument of the kernel, field for field. The stream is open, and of the context that the kernel was
/// loaded in. Until the stream has been waited for, there are as many elements at the addresses in `argument` as the
/// kernel reads and writes, and nobody else touches them.
pub(crate) unsafe fn launch<A: NoUninit>(
    function: &Function,
    stream: sys::CUstream,
    shape: Shape,
    argument: &A,
) -> Result<(), Error> {
    // SAFETY: as the caller says.
    unsafe { launch_with(function, stream, shape, &mut argument_of_launch(argument)) }
}

/// [`launch`] of a kernel whose argument is so many bytes.
///
/// # Safety
/// As of [`launch`], of what these bytes are to the kernel.
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
/// As of [`launch`]; the driver only reads the argument.
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

/// Launches a kernel that waits itself for what is before it on the stream: its blocks may begin where there is room,
/// as soon as all those of the launch before let them (programmatic dependent launch, from compute capability 9.0 on).
/// What is recorded for a graph begins behind: not all drivers with such launches record them.
///
/// # Safety
/// As of [`launch`]. Each thread of the kernel waits so before it touches an array, and before it ends.
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

/// The only argument of a launch, as the driver takes it.
fn argument_of_launch<A: NoUninit>(argument: &A) -> [*mut c_void; 1] {
    const { assert!(size_of::<A>() <= MOST_ARGUMENTS, "more than a launch takes along") };
    [(&raw const *argument).cast_mut().cast()]
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The bytes of the one argument that `kernel` takes, as its module declares it.
    pub(crate) fn argument_bytes(module: &str, kernel: &str) -> usize {
        let ptx = archive::ptx(module).unwrap().into_string().unwrap();
        let (_, rest) =
            ptx.split_once(&format!(".entry {kernel}(")).unwrap_or_else(|| panic!("no kernel {kernel} in {module}"));
        let (parameters, _) = rest.split_once(')').unwrap();
        assert!(!parameters.contains(','), "{kernel} takes more than one argument");
        let (_, bytes) = parameters.split_once(&format!("{kernel}_param_0[")).unwrap();
        bytes.split_once(']').unwrap().0.parse().unwrap()
    }

    /// What a module tells the host by the constant of this name.
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
            // What is left of it in 32 bits would be a launch of one block.
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
