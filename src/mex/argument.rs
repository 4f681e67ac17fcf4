//! Host arrays as plain, checked values.

use std::borrow::Cow;
use std::ffi::{CStr, c_void};
use std::fmt;

use super::class::{self, Class};
use super::gpu::{self, OnGpu};
use super::sys::mxArray;
use super::value::{Numeric, Truth};
use super::{Error, Host, object, text};
use crate::platform::memory::{self, OutOfMemory};

/// Maximum number of cells read of a cell array, and their maximum nesting: larger ones are no options.
pub const MAX_CELLS: usize = 64;
const DEPTH: usize = 3;

/// Class name of cell arrays.
const CELL: &str = "cell";

/// One input of a call: its properties, read once, so that the host need not be called again.
///
/// # Rationale
/// Any function of the host may raise an error, even a getter: asking Octave for the data of the range `1:1e11` makes
/// the matrix. An error of the host cannot pass through `catch_unwind`. So everything is read before the gateway runs,
/// and the gateway works on this.
#[derive(Debug)]
pub struct Argument {
    class: Class,
    class_name: Cow<'static, str>,
    complex: bool,
    sparse: bool,
    dims: Vec<usize>,
    data: *const c_void,
    /// Imaginary parts; null if it is real.
    imaginary: *const c_void,
    text: Option<String>,
    /// Number of an object of ours, if it is one.
    object: Option<Option<u64>>,
    /// Properties of an array on a GPU, or the reason that they are unknown.
    gpu: Option<Result<OnGpu, Error>>,
    /// Contents of a cell array that is not too large.
    cells: Option<Vec<Argument>>,
    /// First element and increment of a range that was read as an index.
    range: Option<[f64; 2]>,
}

impl Argument {
    /// Reads `array`.
    ///
    /// # Errors
    /// [`OutOfMemory`]: there may be any number of arguments, and each may have any number of dimensions.
    ///
    /// # Safety
    /// `array` must be one of the inputs of the running call, and the value must not outlive that call.
    pub(super) unsafe fn read(host: &Host, array: *const mxArray) -> Result<Argument, OutOfMemory> {
        // SAFETY: as the caller says.
        unsafe { Argument::read_to(host, array, DEPTH) }
    }

    /// Reads an index: a range of Octave's stays a range, without elements in memory.
    ///
    /// # Errors
    /// As [`Argument::read`].
    ///
    /// # Safety
    /// As for [`Argument::read`].
    pub(super) unsafe fn read_index(host: &Host, array: *const mxArray) -> Result<Argument, OutOfMemory> {
        // SAFETY: `array` is an array of the host for as long as the call runs, and this only looks at it.
        match unsafe { host.range_at_once(array) } {
            Some([first, by, count]) => {
                let mut dims = memory::with_room(2, "dimensions")?;
                dims.extend([1, count as usize]);
                Ok(Argument { dims, range: Some([first, by]), ..Argument::nothing() })
            }
            // SAFETY: as the caller says.
            None => unsafe { Argument::read(host, array) },
        }
    }

    /// Reads `array`, with nested cells to this depth.
    ///
    /// # Safety
    /// As for [`Argument::read`]; or `array` is in a cell of one.
    unsafe fn read_to(host: &Host, array: *const mxArray, depth: usize) -> Result<Argument, OutOfMemory> {
        let api = host.api;
        // For a value of our own type nothing else is queried: Octave copies texts for each answer.
        // SAFETY: `array` is an array of the host for as long as the call runs, and this only looks at it.
        if let Some(number) = unsafe { host.number_at_once(array) } {
            return Argument::of_object(number);
        }
        // SAFETY: as above, and these only look at it, too.
        let (class, complex, sparse) =
            unsafe { (Class::of((api.mxGetClassID)(array)), (api.mxIsComplex)(array), (api.mxIsSparse)(array)) };
        let plain = class != Class::Other && !sparse;
        // The data first: Octave replaces lazy storage (ranges, diagonal matrices) by a full matrix here, and its
        // dimensions are only valid until then.
        let data = if plain && class != Class::Char {
            // SAFETY: as above.
            unsafe { (api.mxGetData)(array) }.cast_const()
        } else {
            std::ptr::null()
        };
        let imaginary = if plain && complex {
            // SAFETY: as above.
            unsafe { (api.mxGetImagData)(array) }.cast_const()
        } else {
            std::ptr::null()
        };
        // SAFETY: as above.
        let dims = unsafe { class::dims(host, array) }?;
        let class_name: Cow<'static, str> = match class {
            Class::Other => {
                // SAFETY: the host returns a text that ends in NUL and lives as long as the array.
                unsafe { CStr::from_ptr((api.mxGetClassName)(array)) }.to_string_lossy().into_owned().into()
            }
            Class::Double => "double".into(),
            Class::Single => "single".into(),
            Class::Logical => "logical".into(),
            Class::Char => "char".into(),
            Class::Integer { .. } => class.to_string().into(),
        };
        let text = match class {
            // SAFETY: `array` is the input still.
            Class::Char => unsafe { text::char_row(host, array, &dims) },
            // SAFETY: as above.
            Class::Other if class_name == "string" => unsafe { text::string_object(host, array) },
            _ => None,
        };
        let object = (class == Class::Other && class_name == object::NAME).then(|| {
            // Octave makes an array of no objects for `x(1:3) = u` without an `x`, and crashes when a property of a
            // missing object is read.
            let single = dims.iter().all(|&dim| dim == 1);
            // SAFETY: as above; the number is read only from a single object of the class.
            single.then(|| unsafe { host.number_of(array) }).flatten()
        });
        // SAFETY: as above.
        let gpu = if class == Class::Other && class_name == gpu::CLASS { unsafe { gpu::read(array) }? } else { None };
        let is_cell = class == Class::Other && class_name == CELL;
        // SAFETY: as above.
        let cells = if is_cell && depth > 0 { unsafe { cells(host, array, &dims, depth) }? } else { None };
        memory::check()?;
        Ok(Argument {
            class,
            class_name,
            complex,
            sparse,
            dims,
            data,
            imaginary,
            text,
            object,
            gpu,
            cells,
            range: None,
        })
    }

    /// Makes an argument for the object of ours with this number.
    fn of_object(number: u64) -> Result<Argument, OutOfMemory> {
        let mut dims = memory::with_room(2, "dimensions")?;
        dims.extend([1, 1]);
        Ok(Argument {
            class: Class::Other,
            class_name: object::NAME.into(),
            complex: false,
            sparse: false,
            dims,
            data: std::ptr::null(),
            imaginary: std::ptr::null(),
            text: None,
            object: Some(Some(number)),
            gpu: None,
            cells: None,
            range: None,
        })
    }

    /// Makes an argument for a char row.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub(super) fn of_text(text: &str) -> Result<Argument, OutOfMemory> {
        let mut dims = memory::with_room(2, "dimensions")?;
        dims.extend([1, text.len()]);
        Ok(Argument {
            class: Class::Char,
            class_name: "char".into(),
            dims,
            text: Some(text.into()),
            ..Argument::nothing()
        })
    }

    /// Makes an argument for an empty cell.
    fn nothing() -> Argument {
        Argument {
            class: Class::Double,
            class_name: "double".into(),
            complex: false,
            sparse: false,
            dims: vec![0, 0],
            data: std::ptr::null(),
            imaginary: std::ptr::null(),
            text: None,
            object: None,
            gpu: None,
            cells: None,
            range: None,
        }
    }

    /// Class of the array.
    pub fn class(&self) -> Class {
        self.class
    }

    /// Class name in the host.
    pub fn class_name(&self) -> &str {
        &self.class_name
    }

    /// True if it has imaginary parts, even if all are zero.
    pub fn is_complex(&self) -> bool {
        self.complex
    }

    /// True if it is sparse.
    pub fn is_sparse(&self) -> bool {
        self.sparse
    }

    /// Dimensions, two or more of them; those of an array on a GPU are in [`OnGpu::dims`].
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.dims.iter().product()
    }

    /// True if it has no elements.
    pub fn is_empty(&self) -> bool {
        self.dims.contains(&0)
    }

    /// Elements of a real, full array of class double, in column-major order; `None` for any other array.
    pub fn doubles(&self) -> Option<&[f64]> {
        self.elements()
    }

    /// Elements of a real, full array of class single, in column-major order; `None` for any other array.
    pub fn singles(&self) -> Option<&[f32]> {
        self.elements()
    }

    /// Value of a scalar that is a real number or logical of any class; `None` otherwise.
    pub fn scalar(&self) -> Option<f64> {
        if self.len() != 1 {
            return None;
        }
        // Beyond 2^53 neighbouring numbers become one: no option is that large.
        match self.class {
            Class::Double => self.doubles()?.first().copied(),
            Class::Logical => self.logicals()?.first().map(|&truth| truth.into()),
            _ => self.numbers()?.next(),
        }
    }

    /// Values of a real, full array of numbers of any class.
    pub fn numbers(&self) -> Option<Box<dyn Iterator<Item = f64> + '_>> {
        fn of<'a, T: Numeric>(array: &'a Argument, to_f64: fn(T) -> f64) -> Option<Box<dyn Iterator<Item = f64> + 'a>> {
            array.elements::<T>().map(|elements| Box::new(elements.iter().map(move |&value| to_f64(value))) as _)
        }
        match self.class {
            Class::Double => of::<f64>(self, |value| value),
            Class::Single => of::<f32>(self, f64::from),
            Class::Integer { bytes: 1, signed: true } => of::<i8>(self, f64::from),
            Class::Integer { bytes: 1, signed: false } => of::<u8>(self, f64::from),
            Class::Integer { bytes: 2, signed: true } => of::<i16>(self, f64::from),
            Class::Integer { bytes: 2, signed: false } => of::<u16>(self, f64::from),
            Class::Integer { bytes: 4, signed: true } => of::<i32>(self, f64::from),
            Class::Integer { bytes: 4, signed: false } => of::<u32>(self, f64::from),
            Class::Integer { signed: true, .. } => of::<i64>(self, |value| value as f64),
            Class::Integer { signed: false, .. } => of::<u64>(self, |value| value as f64),
            Class::Logical | Class::Char | Class::Other => None,
        }
    }

    /// True for a real, full array of numbers of any class.
    pub fn is_real_number(&self) -> bool {
        !self.complex && !self.sparse && matches!(self.class, Class::Double | Class::Single | Class::Integer { .. })
    }

    /// Text of a char row or of a string scalar; `None` for anything else. For a text too long to be a word, a
    /// description with its length.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// First element and increment of a range that was read as an index: it has no elements otherwise.
    pub fn range(&self) -> Option<[f64; 2]> {
        self.range
    }

    /// Contents of a cell array, in column-major order; `None` for anything else, and for one that is too large for an
    /// option.
    pub fn cells(&self) -> Option<&[Argument]> {
        self.cells.as_deref()
    }

    /// True for a cell array of any size.
    pub fn is_cell(&self) -> bool {
        self.class_name == CELL
    }

    /// Number of an object of ours: `None` for any other argument, `Some (None)` if it has none.
    pub fn object(&self) -> Option<Option<u64>> {
        self.object
    }

    /// Returns a host array that lies on a GPU; `None` for any other.
    ///
    /// # Errors
    /// `gpuArray`, if its properties are unknown.
    pub fn gpu(&self) -> Option<Result<&OnGpu, Error>> {
        self.gpu.as_ref().map(|gpu| gpu.as_ref().map_err(Error::clone))
    }

    /// Value of a scalar of class uint64.
    pub fn whole_number(&self) -> Option<u64> {
        self.elements::<u64>().filter(|numbers| numbers.len() == 1).map(|numbers| numbers[0])
    }

    /// Elements of a real, full array of truth values, a byte each; `None` for any other array.
    pub fn logicals(&self) -> Option<&[u8]> {
        self.elements::<Truth>().map(bytemuck::cast_slice)
    }

    /// Elements of a real, full array of the class of `T`, in column-major order; `None` for any other array.
    pub fn elements<T: Numeric>(&self) -> Option<&[T]> {
        if self.complex { None } else { self.part(self.data) }
    }

    /// Real and imaginary parts of a complex, full array of the class of `T`, each in column-major order; `None` for
    /// any other array.
    pub fn complex_elements<T: Numeric>(&self) -> Option<[&[T]; 2]> {
        if self.complex { Some([self.part(self.data)?, self.part(self.imaginary)?]) } else { None }
    }

    /// Numbers at `data` of a full array of the class of `T`.
    fn part<T: Numeric>(&self, data: *const c_void) -> Option<&[T]> {
        if self.class != T::CLASS || self.sparse {
            return None;
        }
        if self.is_empty() {
            // The host may have no address for an empty array.
            return Some(&[]);
        }
        if data.is_null() {
            return None;
        }
        // SAFETY: a full array has `len` real parts of its class at `data`, and as many imaginary ones at `imaginary`
        // if it is complex; the class is that of `T`, the host aligns them, and the input is neither freed nor written
        // to before the call has returned.
        Some(unsafe { std::slice::from_raw_parts(data.cast(), self.len()) })
    }
}

/// Maximum number of dimensions listed in an error.
const MAX_LISTED_DIMS: usize = 16;

/// Describes it for an error: `1x20 complex double`.
impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An object of ours has its dimensions in the store, not here.
        if self.object.is_some() {
            return write!(f, "a {}", object::NAME);
        }
        // The host's own dimensions and class say nothing about an array on a GPU.
        let on_gpu = self.gpu.as_ref().and_then(|gpu| gpu.as_ref().ok());
        let dims = on_gpu.map_or(&self.dims, |gpu| &gpu.dims);
        for (i, dim) in dims.iter().take(MAX_LISTED_DIMS).enumerate() {
            write!(f, "{}{dim}", if i > 0 { "x" } else { "" })?;
        }
        if dims.len() > MAX_LISTED_DIMS {
            write!(f, "x.. ({} dimensions)", dims.len())?;
        }
        let (complex, sparse) = on_gpu.map_or((self.complex, self.sparse), |gpu| (gpu.complex, gpu.sparse));
        let complex = if complex { "complex " } else { "" };
        let sparse = if sparse { "sparse " } else { "" };
        let class = on_gpu.map(|gpu| format!("{} ", gpu.class)).unwrap_or_default();
        write!(f, " {complex}{sparse}{class}{}", self.class_name)
    }
}

/// Reads the contents of a cell array of these dimensions; `None` if there are too many.
///
/// # Errors
/// [`OutOfMemory`].
///
/// # Safety
/// `array` must be a cell array of the host of these dimensions, of the running call.
unsafe fn cells(
    host: &Host,
    array: *const mxArray,
    dims: &[usize],
    depth: usize,
) -> Result<Option<Vec<Argument>>, OutOfMemory> {
    let count = dims.iter().product();
    if count > MAX_CELLS {
        return Ok(None);
    }
    let mut cells = memory::with_room(count, "cells")?;
    for i in 0..count {
        // SAFETY: there are `count` cells; their contents live as long as the array.
        let cell = unsafe { (host.api.mxGetCell)(array, i as _) };
        let read = || match cell.is_null() {
            true => Ok(Argument::nothing()),
            // SAFETY: as above.
            false => unsafe { Argument::read_to(host, cell, depth - 1) },
        };
        cells.push(read()?);
    }
    Ok(Some(cells))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_tells_some_dimensions_and_how_many_there_are() {
        let text = |dims: &[usize]| {
            let data = std::ptr::null();
            Argument {
                class: Class::Double,
                class_name: "double".into(),
                complex: true,
                sparse: false,
                dims: dims.into(),
                data,
                imaginary: data,
                text: None,
                object: None,
                gpu: None,
                cells: None,
                range: None,
            }
            .to_string()
        };
        assert_eq!(text(&[1, 20]), "1x20 complex double");
        assert_eq!(text(&[2; 16]), "2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2 complex double");
        assert_eq!(text(&[2; 100_000]), "2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x.. (100000 dimensions) complex double");
    }
}
