//! Outputs: their descriptions, and their creation by the host.

use bytemuck::{Pod, Zeroable};

use super::class::Class;
use super::error::Error;
use super::object::Pending;
use super::run::Effort;
use super::sys::{self, mxArray};
use super::{Host, lend};
use crate::platform::memory;
use crate::platform::watch::Watch;

/// Fills an output array with all its elements, in column-major order. It reads none before writing it: they are
/// uninitialised. It may be run on another thread.
pub struct Fill<'a> {
    pub(super) class: Class,
    /// Called once with the bytes of all elements, for each array.
    pub(super) fill: FillBytes<'a>,
}

impl<'a> Fill<'a> {
    /// Describes outputs of this class, filled by `fill`.
    pub fn new(class: Class, fill: FillBytes<'a>) -> Fill<'a> {
        Fill { class, fill }
    }
}

/// Fills all outputs of a call at once, each as the bytes of its elements.
pub type FillBytes<'a> = Box<dyn FnOnce(Vec<&mut [u8]>, &Watch) -> Result<(), Error> + Send + 'a>;

/// A class of the host's numbers and truth values, as the type of an element, for which all bit patterns are valid.
pub trait Numeric: Pod {
    /// Class in the host.
    const CLASS: Class;

    /// Casts the `bytes` of an output to elements.
    fn elements(bytes: &mut [u8]) -> &mut [Self] {
        // The host may have no address for an empty array, least of all an aligned one.
        if bytes.is_empty() { &mut [] } else { bytemuck::cast_slice_mut(bytes) }
    }
}

/// Truth value of the host: any number but 0 is true.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Truth(pub u8);

macro_rules! numeric {
    ($($type:ty: $class:expr,)*) => {
        $(impl Numeric for $type {
            const CLASS: Class = $class;
        })*
    };
}

numeric! {
    f64: Class::Double,
    f32: Class::Single,
    Truth: Class::Logical,
    i8: Class::Integer { bytes: 1, signed: true },
    u8: Class::Integer { bytes: 1, signed: false },
    i16: Class::Integer { bytes: 2, signed: true },
    u16: Class::Integer { bytes: 2, signed: false },
    i32: Class::Integer { bytes: 4, signed: true },
    u32: Class::Integer { bytes: 4, signed: false },
    i64: Class::Integer { bytes: 8, signed: true },
    u64: Class::Integer { bytes: 8, signed: false },
}

/// Answer of a gateway to its arguments.
pub struct Reply<'a> {
    /// Warnings, shown by the host before anything is computed.
    pub warnings: Vec<Error>,
    /// Additional line for the trace.
    pub note: Option<String>,
    /// Outputs of the function.
    pub output: Output<'a>,
}

impl<'a> Reply<'a> {
    /// Combines replies to one whose arrays are complex: those of `real` are their real parts, those of `imaginary`
    /// their imaginary ones.
    ///
    /// # Errors
    /// `internal`, unless both have the same arrays of the host's.
    pub fn complex(real: Reply<'a>, imaginary: Reply<'a>) -> Result<Reply<'a>, Error> {
        let (
            Output::Arrays { dims, complex: false, fill, effort },
            Output::Arrays { dims: other, complex: false, fill: of_imaginary, .. },
        ) = (real.output, imaginary.output)
        else {
            return Err(Error::internal("A complex result that is no array of the host's."));
        };
        if dims != other || fill.class != of_imaginary.class {
            return Err(Error::internal("A complex result of two different arrays."));
        }
        let both = move |outputs: Vec<&mut [u8]>, watch: &Watch| {
            // Parts alternate.
            let mut parts = [Vec::new(), Vec::new()];
            for (i, output) in outputs.into_iter().enumerate() {
                parts[i % 2].push(output);
            }
            let [real, imaginary] = parts;
            (fill.fill)(real, watch)?;
            (of_imaginary.fill)(imaginary, watch)
        };
        let warnings = real.warnings.into_iter().chain(imaginary.warnings).collect();
        let fill = Fill { class: fill.class, fill: Box::new(both) };
        let output = Output::Arrays { dims, complex: true, fill, effort: effort.twice() };
        Ok(Reply { warnings, note: real.note, output })
    }
}

/// Outputs of a function: in most cases one array.
pub enum Output<'a> {
    /// Arrays of one class, with the dimensions of each. The host makes them, then they are filled.
    Arrays {
        /// Two or more for each output; no more outputs than were requested, or one.
        dims: Vec<Vec<usize>>,
        /// True if they are complex: then each is filled as two, the real parts and the imaginary ones.
        complex: bool,
        /// Class, and function to be called once with all the elements.
        fill: Fill<'a>,
        /// Effort to fill them.
        effort: Effort,
    },
    /// Objects for the arrays of `make`.
    Held {
        /// True for objects of the host's class, also where there is a type of Octave's own.
        of_class: bool,
        /// Called once; it may be run on another thread. It makes no more than there are outputs, or one.
        make: MakeObject<'a>,
        /// Effort to make them.
        effort: Effort,
    },
    /// Arrays of these dimensions on the GPU, in memory of the host's. The host makes them, then they are filled.
    OnGpu {
        /// As of [`Output::Arrays`].
        dims: Vec<Vec<usize>>,
        /// True for class single, false for double.
        single: bool,
        /// Called once; it may be run on another thread.
        fill: FillOnGpu<'a>,
        /// Effort to fill them.
        effort: Effort,
    },
    /// A small value, already computed.
    Value(Value),
    /// True if the host has a type of its own for our objects, which is installed, if need be, with verbs of this
    /// function.
    InstallType,
    /// A value of that type without an array.
    NoArray,
    /// A value that raises the host's last error when the host accesses it.
    Refusal,
    /// Outputs of a host function: input 2, called with the inputs after it once everything else is done.
    Instead,
}

/// Fills all elements of arrays at these addresses on the GPU, in column-major order; 0 for empty ones. All work that
/// it started is complete when it returns.
pub type FillOnGpu<'a> = Box<dyn FnOnce(&[u64], &Watch) -> Result<(), Error> + Send + 'a>;

/// Makes the arrays that objects will represent.
pub type MakeObject<'a> = Box<dyn FnOnce(&Watch) -> Result<Vec<Box<dyn Pending>>, Error> + Send + 'a>;

/// A value in the host's terms.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A double scalar.
    Double(f64),
    /// A scalar of class uint64.
    Number(u64),
    /// An empty array of 0 x 0.
    Empty,
    /// A logical scalar.
    Logical(bool),
    /// A char row.
    Text(String),
    /// A double row.
    Row(Vec<f64>),
    /// A scalar struct.
    Struct(Fields),
    /// A struct array, one column, of structs that have the same fields in the same order.
    Structs(Vec<Fields>),
}

/// Names and values of a struct.
pub type Fields = Vec<(&'static std::ffi::CStr, Value)>;

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Double(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Logical(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Text(value.into())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::Text(value)
    }
}

impl Host {
    /// Makes an array of this class, real or complex, with uninitialised elements; also returns the way in which it was
    /// made, in a word.
    ///
    /// Only this function decides how an output is made. The host raises an error itself if it has no memory for it.
    ///
    /// # Panics
    /// For a class that is neither of numbers nor of truth values.
    pub(super) fn array(&self, dims: &mut [usize], class: Class, complex: bool) -> (*mut mxArray, &'static str) {
        if !complex
            && self.in_call
            && let Some(array) = lend::array(class, dims)
        {
            return (array, "lent");
        }
        let parts = if complex { sys::mxCOMPLEX } else { sys::mxREAL };
        let (count, sizes) = (dims.len() as _, dims.as_mut_ptr().cast());
        // Uninitialised: every caller writes every element, and a large array costs as much to clear as to compute. For
        // truth values the hosts have cleared arrays only.
        // SAFETY: as many dimensions as said, and the host's type for them has the size of ours.
        let array = unsafe {
            match class {
                Class::Logical => (self.api.mxCreateLogicalArray)(count, sizes),
                _ => (self.api.mxCreateUninitNumericArray)(count, sizes, class.id() as _, parts),
            }
        };
        (array, "made")
    }

    /// Returns the elements of an array made by `array`, or their imaginary parts, as bytes of unspecified value.
    ///
    /// # Rationale for a slice
    /// A slice must have initialised elements, and the host has written nothing there. Two facts together make it sound
    /// all the same:
    /// - The memory comes from an allocator outside this program, through functions whose addresses are found when it
    ///   runs. The compiler sees no allocation, and must assume that the host has written every byte and kept the
    ///   address: to this program the bytes are initialised, unlike those of its own allocator.
    /// - No element is read before it is written. [`Engine`](crate::stencil::Engine) guarantees that, and
    ///   `tests/system/engines/arrays.rs` checks it with outputs that are full of NaN (`outputs_are_not_read`). So it
    ///   does not matter either that fresh pages may change until they are first written to, if the host's allocator
    ///   has returned them to the system for later.
    ///
    /// # Safety
    /// `array` must be such an array, of `bytes` bytes of elements, complex if `imaginary` parts are requested, not yet
    /// returned to the host and not borrowed elsewhere.
    pub(super) unsafe fn bytes_mut<'a>(&self, array: *mut mxArray, bytes: usize, imaginary: bool) -> &'a mut [u8] {
        if bytes == 0 {
            return &mut [];
        }
        // SAFETY: it is such an array, by the caller's promise.
        let data = unsafe { if imaginary { (self.api.mxGetImagData)(array) } else { (self.api.mxGetData)(array) } };
        // SAFETY: the host allocated `bytes` bytes there for us alone; their values are discussed above.
        let elements = unsafe { std::slice::from_raw_parts_mut(data.cast(), bytes) };
        memory::prefer_large_pages(elements);
        elements
    }

    /// Converts `value` to a host array.
    pub(super) fn build(&self, value: &Value) -> *mut mxArray {
        let api = self.api;
        // SAFETY: texts end in NUL, and an array has as many elements as it was made with.
        unsafe {
            match value {
                Value::Double(value) => (api.mxCreateDoubleScalar)(*value),
                Value::Number(number) => self.whole_number(*number),
                Value::Empty => self.array(&mut [0, 0], Class::Double, false).0,
                Value::Logical(value) => (api.mxCreateLogicalScalar)(*value as _),
                Value::Text(text) => {
                    let text: Vec<u8> = text.bytes().filter(|&byte| byte != 0).chain([0]).collect();
                    (api.mxCreateString)(text.as_ptr().cast())
                }
                Value::Row(values) => {
                    let (array, _) = self.array(&mut [1, values.len()], Class::Double, false);
                    self.bytes_mut(array, size_of_val(&values[..]), false)
                        .copy_from_slice(bytemuck::cast_slice(values));
                    array
                }
                Value::Struct(fields) => self.structs(std::slice::from_ref(fields)),
                Value::Structs(structs) => self.structs(structs),
            }
        }
    }

    /// Makes a column of structs, whose fields are those of the first.
    fn structs(&self, structs: &[Fields]) -> *mut mxArray {
        let api = self.api;
        let mut names: Vec<_> = structs.first().into_iter().flatten().map(|(name, _)| name.as_ptr()).collect();
        // SAFETY: names end in NUL and are as many as said; each field of each element is set once, to an unshared
        // array.
        unsafe {
            let array = (api.mxCreateStructMatrix)(structs.len() as _, 1, names.len() as _, names.as_mut_ptr());
            for (index, fields) in structs.iter().enumerate() {
                for (number, (_, value)) in fields.iter().enumerate() {
                    (api.mxSetFieldByNumber)(array, index as _, number as _, self.build(value));
                }
            }
            array
        }
    }
}
