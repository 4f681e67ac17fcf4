//! `outputArray = StencilConstantMemory_CUDA (inputArray, kernelArray, Name, Value, ...)`

use super::asked::{self, Asked};
use super::backend::Selection;
use super::distributed::{self, Joint};
use super::fastest::Work;
use super::inputs::{AnyInput, Input};
use super::levels::{Filters, Levels};
use super::options::{self, MAX_DIMS, Names};
use super::sweeps::{self, Sweeps};
use super::{check_outputs_up_to, inputs, too_few_inputs, windows};
use crate::mex::{Argument, Call, Error, Function, Reply};
use crate::ranks::{self, Along, Whole};
use crate::scheme::{Filter, TwoLevels};
use crate::stencil::{Ends, Lines, MAX_TAPS, Shape, Stencil, Taps, Window};

pub(super) const FUNCTION: Function = Function { name: "StencilConstantMemory_CUDA", call };

const OPTIONS: Names = Names(&[
    &["Backend", "Device", "Boundary", "Dim", "Iterations", "Progress"],
    &["Shape"],
    &["Previous", "Weight", "Source", "Every"],
    &["Distributed"],
]);

/// Checks in the order of the contract; the first that fails is the one that is told.
fn call(call: &Call) -> Result<Reply<'_>, Error> {
    distributed::joined(FUNCTION.name, call, (&OPTIONS, 2), called)
}

fn called<'a>(call: &'a Call, joint: Option<&Joint>) -> Result<Reply<'a>, Error> {
    let [input, kernel, rest @ ..] = &call.arguments[..] else {
        return Err(too_few_inputs(
            call,
            "inputArray and kernelArray, then imfilter's words, then pairs of an option's name and its value",
        ));
    };
    let (words, pairs) = asked::split(rest, 3, &OPTIONS, false)?;
    check_outputs_up_to(call, if options::gives(pairs, &OPTIONS, "Previous") { 2 } else { 1 })?;
    let (samples, dims) = inputs::double_input_or_gpu("inputArray", input)?;
    let mut filters = filters(kernel, &dims)?;
    let Asked { selection, sweeps, levels, distribution, flip } = Asked::new(words, pairs, &OPTIONS)?;
    if flip {
        
    }
    if let Some(joint) = joint {
        let several = filters.len() > 1 || !levels.are_none();
        let along = joint.along(distribution, &selection, &sweeps, several, matches!(samples, Input::Gpu(..)))?;
        return of_all_ranks(joint, samples, (dims.into_owned(), along), filters[0], (&selection, &sweeps));
    }
    let taps = match filters[..] {
        [taps] if levels.are_none() => taps,
        _ => return several(call, AnyInput::Double(samples), &dims, &filters, (&selection, &sweeps, &levels)),
    };
    let shape = sweeps.shape()?;
    let ends = sweeps.ends()?;
    if shape == Shape::Same {
        let stencil = Stencil::new(sweeps.lines(&dims)?, taps).with_boundary(ends).with_sweeps(sweeps.iterations());
        let effort = sweeps.effort(samples.len(), taps.count());
        return samples.reply(&selection, &dims, effort, Work::from(&stencil), move |engine, from, to, watch| {
            engine.stencil(&stencil, from, to, watch)
        });
    }
    let dim = sweeps.dim(&dims)?;
    if dim >= MAX_DIMS {
        let text = format!("Bad value for 'Dim': got {}, expected at most {MAX_DIMS} where 'Shape' is given.", dim + 1);
        return Err(options::bad(text));
    }
    let (window, axis) = window(shape, &dims, dim, taps.count());
    // An engine gets the samples under the outputs in pieces; as much work as over the whole input.
    let work = Work::from(&Stencil::new(sweeps.lines(&dims)?, taps));
    let length = windows::output_size(&window)?[axis];
    let mut dims = dims.into_owned();
    dims.resize(dims.len().max(dim + 1), 1);
    dims[dim] = length;
    let dims = windows::trimmed(dims);
    let effort = sweeps.effort(dims.iter().product(), taps.count());
    let sides = [0, 1, 2].map(|d| if d == axis { ends } else { Ends::default() }).into();
    samples.reply(&selection, &dims, effort, work, move |engine, from, to, watch| {
        windows::compute(engine, &window, sides, (from, to), watch, |[rows, columns, pages], from, to| {
            let lines =
                if axis == 0 { Lines::new(rows, columns * pages) } else { Lines::strided(rows, columns, pages) };
            engine.stencil(&Stencil::new(lines, taps), from, to, watch)
        })
    })
}

/// Sweeps over an array of which each rank passes a part.
fn of_all_ranks<'a>(
    joint: &Joint,
    samples: Input<'a, f64>,
    (dims, along): (Vec<usize>, Along),
    taps: Taps,
    (selection, sweeps): (&Selection, &Sweeps),
) -> Result<Reply<'a>, Error> {
    // Along which dimension the whole has its lines, its parts do not tell.
    let (named, ends) = (sweeps.named_dim()?, sweeps.ends()?);
    let iterations = sweeps.iterations();
    let of_part = Stencil::new(sweeps.lines(&dims)?, taps).with_boundary(ends).with_sweeps(iterations);
    let effort = distributed::effort(sweeps.effort(samples.len(), taps.count()));
    let said = [
        ("The function", FUNCTION.name.into()),
        ("'Boundary'", sweeps.boundary_text()),
        ("'Iterations'", iterations.to_string()),
        ("'Dim'", named.map_or("not given".into(), |dim| (dim + 1).to_string())),
    ];
    let (joint, output) = (joint.clone(), dims.clone());
    samples.reply(selection, &output, effort, Work::from(&of_part), move |engine, from, to, watch| {
        joint.run(watch, |call| {
            let plan = distributed::agree(call, (&dims, along), &said, taps.as_slice(), watch)?;
            let dim = named.unwrap_or_else(|| sweeps::default_dim(&plan.whole()));
            let stencil = Stencil::new(Lines::along(plan.dims(), dim), taps).with_boundary(ends);
            let whole = Whole::stencil(&plan, dim, stencil.with_sweeps(iterations));
            ranks::run(call, engine, &whole, from, to, watch)
        })
    })
}

/// Sweeps of several filters, or with more levels than one.
fn several<'a>(
    call: &'a Call,
    samples: AnyInput<'a>,
    dims: &[usize],
    filters: &[Taps],
    (selection, sweeps, levels): (&Selection, &Sweeps, &Levels<'a>),
) -> Result<Reply<'a>, Error> {
    let given = levels.check(("inputArray", &samples, dims), sweeps)?;
    let (along, ends) = (sweeps.dims_of(filters.len(), dims)?, sweeps.ends_of(filters.len())?);
    let stencils = filters.iter().zip(along).zip(ends);
    let stencils = stencils.map(|((taps, dim), ends)| Stencil::new(Lines::along(dims, dim), *taps).with_boundary(ends));
    let stencils: Vec<_> = stencils.collect();
    let (first, entries) = (Work::from(&stencils[0]), filters.iter().map(Taps::count).sum());
    let step = |stencil: Stencil| -> Filter<'a, f64> {
        Box::new(move |engine, sweeps, from, to, watch| engine.stencil(&stencil.with_sweeps(sweeps), from, to, watch))
    };
    let joint = match stencils[..] {
        [one] => Some(Box::new(one) as Box<dyn TwoLevels<f64>>),
        _ => None,
    };
    let filters = stencils.into_iter().map(step).collect();
    let AnyInput::Double(samples) = samples else {
        return Err(Error::internal("A stencil of single samples."));
    };
    levels.reply(samples, given, dims, Filters { filters, joint, entries, first }, (sweeps, selection, call.outputs))
}

/// The filter, or those of a list.
fn filters(kernel: &Argument, dims: &[usize]) -> Result<Vec<Taps>, Error> {
    let named = inputs::listed("kernelArray", kernel)?;
    // The class of each before the shape of any.
    let values = named.iter().map(|(name, array)| inputs::doubles(name, array)).collect::<Result<Vec<_>, _>>()?;
    named.iter().zip(values).map(|((name, array), values)| taps(name, values, array, dims)).collect()
}

/// The outputs along dimension `dim` of an array of these dimensions, as those of a box; and along which of the box's
/// dimensions the filter lies. Where neighbouring elements are of one line, that is the first: so the box has few
/// columns.
fn window(shape: Shape, dims: &[usize], dim: usize, count: usize) -> (Window, usize) {
    // Beyond counting there is no array, unless a dimension of no elements makes it empty.
    let product = |dims: &[usize]| dims.iter().fold(1_usize, |product, &dim| product.saturating_mul(dim));
    let at = dim.min(dims.len());
    let (inner, length, outer) =
        (product(&dims[..at]), dims.get(at).copied().unwrap_or(1), product(&dims[(at + 1).min(dims.len())..]));
    if inner == 1 {
        (Window::new(shape, [length, outer, 1], [count, 1, 1]), 0)
    } else {
        (Window::new(shape, [inner, length, outer], [1, count, 1]), 1)
    }
}

/// The filter: first that there is one, then that it is a vector, then its length. `dims` are those of the input.
fn taps(name: &str, values: &[f64], array: &Argument, dims: &[usize]) -> Result<Taps, Error> {
    Taps::new(values).ok_or_else(|| Error::new("kernelLength", format!("{name} is {array}")))
}

/// Whether an array of these dimensions could be a filter by its length.
fn is_filter(dims: &[usize]) -> bool {
    let count = dims.iter().product();
    dims.iter().filter(|&&dim| dim != 1).count() <= 1 && (1..=MAX_TAPS).contains(&count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_columns_of_a_box_where_they_lie_so() {
        let window = |dims: &[usize], dim| {
            let (window, axis) = window(Shape::Full, dims, dim, 2);
            (window.input(), window.others(), axis)
        };
        assert_eq!(window(&[1, 9], 1), ([9, 1, 1], [2, 0, 0], 0));
        assert_eq!(window(&[4, 5, 6], 0), ([4, 30, 1], [2, 0, 0], 0));
        assert_eq!(window(&[4, 5, 6], 1), ([4, 5, 6], [0, 2, 0], 1));
        assert_eq!(window(&[4, 5, 6], 9), ([120, 1, 1], [0, 2, 0], 1));
    }
}
