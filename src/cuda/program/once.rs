//! Kernels of one operation, that is done at once.
//!
//! # Rationale
//! Sizes and numbers are the kernel's argument, so that one text serves all calls of an operation: to write it takes longer
//! than to launch it.

use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys;

use super::emit::{self, Written};
use super::emitter::Sized;
use super::put;
use super::shape::Shape;
use crate::cuda::recent::Recent;
use crate::cuda::runtime::device::Device;
use crate::stencil::functions::Distribution;
use crate::stencil::program::{Kernel, Step};
use crate::stencil::{Binary, Error, Unary};

/// The most kernels that stay written.
const MOST_WRITTEN: usize = 256;

/// All that the text of a kernel without filters and reductions depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Form {
    /// Each with its class.
    parts: Vec<(Part, bool)>,
    inputs: usize,
    outputs: Vec<usize>,
    rank: usize,
    flat: bool,
    rows: usize,
}

/// A part, without sizes and numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// An input; without steps where it is seen whole, else a bit for each dimension along which it advances, and one more
    /// where its first element is not the array's.
    Load(usize, Option<u32>),
    Number,
    Each(Unary, usize),
    Pair(Binary, [usize; 2]),
    MultiplyAdd([usize; 3]),
    Convert(usize),
    Random(Distribution, [usize; 2]),
}

impl Form {
    /// Returns `None` for a kernel with a filter or a reduction.
    fn of(kernel: &Kernel) -> Option<Form> {
        if !kernel.numbers.is_empty() {
            return None;
        }
        let part = |step: &Step| {
            Some(match step {
                Step::Load(input, view) if kernel.is_whole(view) => Part::Load(*input, None),
                Step::Load(input, view) => {
                    let advances = view.steps.iter().map(|&step| step != 0);
                    let bits = advances.chain([view.start != 0]).fold(1, |bits, bit| 2 * bits + u32::from(bit));
                    Part::Load(*input, Some(bits))
                }
                Step::Number(_) => Part::Number,
                Step::Each(op, of) => Part::Each(*op, *of),
                Step::Pair(op, of) => Part::Pair(*op, *of),
                Step::MultiplyAdd(of) => Part::MultiplyAdd(*of),
                Step::Convert(of) => Part::Convert(*of),
                Step::Random(what, of) => Part::Random(*what, *of),
                Step::Filter(..) => return None,
            })
        };
        let parts = kernel.parts.iter().map(|of| Some((part(&of.step)?, of.single))).collect::<Option<_>>()?;
        let Shape { flat, rows, .. } = Shape::of(kernel);
        let outputs = kernel.outputs.iter().map(|&(_, part)| part).collect();
        Some(Form { parts, inputs: kernel.inputs.len(), outputs, rank: kernel.domain.len(), flat, rows })
    }
}

/// The kernel as it was written for its form.
fn written(kernel: &Kernel) -> Result<Arc<Written>, Error> {
    static KNOWN: Mutex<Recent<Form, Arc<Written>, MOST_WRITTEN>> = Mutex::new(Recent::new());
    let form = Form::of(kernel).ok_or_else(|| Error::Internal(format!("No single operation: {kernel:?}.")))?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(known.get(form, |_| Arc::new(emit::write(kernel))).clone())
}

/// Runs a kernel without filters and reductions once, on arrays at these addresses: the inputs, then the outputs.
///
/// # Errors
/// Those of the driver.
///
/// # Safety
/// There are as many elements at the addresses as the kernel reads and writes, until the queue has been waited for.
pub(in crate::cuda) unsafe fn run_once(
    device: &mut Device,
    name: &'static str,
    kernel: &Kernel,
    addresses: &[sys::CUdeviceptr],
) -> Result<(), Error> {
    let written = written(kernel)?;
    let (mut argument, blocks) = written.fitted(kernel);
    if let (Some((_, at)), true) =
        (written.sized.iter().find(|of| of.0 == Sized::LastBlock), device.modules.turns().next())
    {
        argument[*at..at + 8].copy_from_slice(&(blocks as u64 - 1).to_le_bytes());
    }
    for (address, entry) in addresses.iter().zip(argument.chunks_exact_mut(8)) {
        entry.copy_from_slice(&address.to_le_bytes());
    }
    let function = device.modules.generated().get(&written.text, emit::NAME)?;
    let bytes = addresses.len().saturating_mul(8 * kernel.len());
    // SAFETY: as the caller says.
    unsafe { put(device, (name, bytes), &function, (blocks, written.threads), &argument) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stencil::{Expansion, Operation, Term};

    /// A matrix and a column, a row, or a matrix: of one form each, whatever the sizes and the numbers.
    #[test]
    fn a_form_has_one_text() {
        let pair = |op, second: Option<f64>, expansion: &Expansion| {
            let terms = [Term::Value(()), second.map_or(Term::Value(()), Term::Number)];
            let what = Operation::<_, ()>::Pair(op, terms, *expansion);
            Kernel::of(&what, false, expansion.elements()).unwrap()
        };
        let kernels = |[rows, columns]: [usize; 2]| {
            let shapes = [[rows, columns], [rows, 1], [1, columns], [1, 1]];
            let arrays = shapes.into_iter().flat_map(|a| shapes.map(|b| (a, b)));
            let pairs = arrays.filter_map(move |(a, b)| {
                let expansion = Expansion::new([&a, &b])?;
                (expansion.elements() > 1).then(|| pair(Binary::Add, None, &expansion))
            });
            let number = rows as f64;
            let plain = Expansion::new([&[rows * columns], &[1]]).unwrap();
            let numbers = [pair(Binary::RaisedTo, Some(number), &plain)];
            let others = [(Unary::Exp, true, rows), (Unary::Negate, false, rows * columns)]
                .map(|(op, single, len)| Kernel::of(&Operation::<_, ()>::Each(op, ()), single, len).unwrap());
            pairs.chain(numbers).chain(others).collect::<Vec<_>>()
        };
        // The last two pairs differ in the elements of a thread, and in the order in which threads take them.
        let pairs = [
            ([100, 40], [70, 41]),
            ([2000, 60], [1999, 70]),
            ([5, 40], [7, 30]),
            ([100, 40], [4000, 3000]),
            ([5, 40], [100, 40]),
        ];
        for (one, other) in pairs {
            let others = kernels(other);
            for (one, other) in kernels(one).iter().flat_map(|one| others.iter().map(move |other| (one, other))) {
                if Form::of(one) == Form::of(other) {
                    let [first, second] = [one, other].map(emit::write);
                    assert_eq!(first.text, second.text, "{one:?} {other:?}");
                    assert_eq!(first.fitted(other), (second.argument.clone(), second.blocks), "{one:?} {other:?}");
                    assert_eq!(second.fitted(one), (first.argument, first.blocks));
                }
            }
        }
        let [one, other] = [[100, 40], [70, 41]].map(kernels);
        let same = one.iter().zip(&other).filter(|(one, other)| Form::of(one) == Form::of(other)).count();
        assert!(same * 4 >= one.len() * 3, "{same} of {}", one.len());
    }
}
