//! `outputArray = StencilConstantMemory_CUDA (inputArray, kernelArray, Name, Value, ...)`
//!
//! Engines have a dedicated kernel for doubles under an odd number of doubles, up to
//! [`MAX_TAPS`](crate::stencil::MAX_TAPS). Any other filter is a convolution along one dimension.

use std::borrow::Cow;
use std::sync::atomic::AtomicBool;

use super::distributed::{self, Joint};
use super::filtering::{self, Job, sized};
use super::levels::{Computed, Filters, Levels};
use super::request::{self, Request};
use super::sweeps::{self, Sweeps};
use super::windows;
use crate::gateway::engine::Work;
use crate::gateway::engine::inputs::{self, AnyInput, Input, Part};
use crate::gateway::options::{self, MAX_DIMS, Names, Selection};
use crate::gateway::store::describe;
use crate::gateway::{check_outputs_up_to, dims, too_few_inputs};
use crate::mex::{Argument, Call, Error, Function, Reply};
use crate::platform::memory::OutOfMemory;
use crate::ranks::{self, Along, Whole};
use crate::scheme::{Filter as Step, TwoLevels};
use crate::stencil::{Compute, Convolution, Ends, Filter, Lines, MAX_ENTRIES, Shape, Sides, Stencil, Taps, Window};

pub(super) const FUNCTION: Function = Function { name: "StencilConstantMemory_CUDA", call };

const OPTIONS: Names = Names(&[
    &["Backend", "Device", "Boundary", "Dim", "Iterations", "Progress"],
    &["Shape"],
    &["Previous", "Weight", "Source", "Every"],
    &["Distributed"],
]);

/// Checks in the order of the contract; the first check that fails raises its error.
fn call(call: &Call) -> Result<Reply<'_>, Error> {
    distributed::joined((FUNCTION.name, "inputArray"), call, (&OPTIONS, 2), of_part)
}

/// Returns the reply for a part of inputArray.
fn of_part<'a>(call: &'a Call, joint: Option<&Joint>, part: Part) -> Result<Reply<'a>, Error> {
    let [input, kernel, rest @ ..] = &call.arguments[..] else {
        return Err(too_few_inputs(
            call,
            "inputArray and kernelArray, then imfilter's words, then pairs of an option's name and its value",
        ));
    };
    let (words, pairs) = request::split(rest, 3, &OPTIONS, false)?;
    check_outputs_up_to(call, if options::gives(pairs, &OPTIONS, "Previous") { 2 } else { 1 })?;
    let (samples, dims) = inputs::part_or_gpu("inputArray", input, part)?;
    let list = inputs::listed("kernelArray", kernel)?;
    // The classes of all filters are checked before the shape of any.
    let filters = list.iter().map(|(name, array)| inputs::reals(name, array)).collect::<Result<Vec<_>, _>>()?;
    list.iter().try_for_each(|(name, array)| check_filter(name, array, &dims))?;
    let request = Request::new(words, pairs, &OPTIONS)?.of_part(part);
    request.levels.only_real("inputArray", input)?;
    let samples = request.in_step(("inputArray", input), samples, joint.is_some())?;
    let along = match joint {
        None => None,
        Some(joint) => {
            let several = filters.len() > 1 || !request.levels.are_none();
            let on_gpu = samples.is_on_gpu();
            Some((joint, joint.along(request.distribution, &request.selection, &request.sweeps, several, on_gpu)?))
        }
    };
    let job = StencilCall { request, dims, outputs: call.outputs, joint: along };
    // A single sample is not meant as a filter.
    let longer = list.len() == 1 && is_filter(&job.dims) && (2..kernel.len()).contains(&job.dims.iter().product());
    let doubles: Option<Vec<_>> = filters.iter().map(|filter| filter.as_doubles()).collect();
    let reply = match (samples, doubles) {
        (AnyInput::Double(samples), Some(filters)) => match filters.iter().map(|&filter| job.taps(filter)).collect() {
            Some(taps) => job.reply_by_taps(samples, taps),
            None => job.reply::<f64>(AnyInput::Double(samples), filters.into_iter().map(Cow::from).collect()),
        },
        // The result has the smaller of two classes, as in conv.
        (samples, _) => {
            let filters = filters.into_iter().map(|filter| filter.to_singles("kernelArray in single"));
            job.reply::<f32>(samples, filters.collect::<Result<Vec<_>, OutOfMemory>>()?)
        }
    };
    reply.map(|mut reply| {
        if longer {
            static WARNED: AtomicBool = AtomicBool::new(false);
            let text = format!(
                "kernelArray is {kernel}, longer than inputArray, {}: were the two swapped? The array comes first, then \
                 the filter.",
                describe(input)
            );
            reply.warnings.extend(filtering::once(&WARNED, "swapped", text));
        }
        reply
    })
}

/// The arguments of a call.
struct StencilCall<'a, 'j> {
    request: Request<'a>,
    /// Dimensions of the array.
    dims: Cow<'a, [usize]>,
    /// Number of results that the host asks for.
    outputs: usize,
    /// The dimension along which the ranks split the array, if they do.
    joint: Option<(&'j Joint, Along)>,
}

impl<'a> StencilCall<'a, '_> {
    /// Returns the taps, turned round on request; `None` for taps without a dedicated kernel.
    fn taps(&self, filter: &[f64]) -> Option<Taps> {
        // The dedicated kernels do not take ghost values that a step computes.
        let taps = Taps::new(filter).filter(|_| self.request.sweeps.step().is_none())?;
        Some(if self.request.flip { taps.reversed() } else { taps })
    }

    /// Replies for taps with a dedicated kernel.
    fn reply_by_taps(self, samples: Input<'a, f64>, filters: Vec<Taps>) -> Result<Reply<'a>, Error> {
        let StencilCall { request: Request { selection, sweeps, levels, .. }, dims, outputs, joint } = self;
        if let Some((joint, along)) = joint {
            return of_all_ranks(joint, samples, (dims.into_owned(), along), filters[0], (&selection, &sweeps));
        }
        let taps = match filters[..] {
            [taps] if levels.are_none() => taps,
            _ => {
                let samples = AnyInput::Double(samples);
                return several(samples, &dims, &filters, (&selection, &sweeps, &levels), outputs);
            }
        };
        let (shape, ends) = (sweeps.shape()?, sweeps.ends()?);
        let stencil = Stencil::new(sweeps.lines(&dims)?, taps).with_boundary(ends).with_sweeps(sweeps.iterations());
        if shape == Shape::Same {
            let effort = sweeps.effort(samples.len(), taps.count());
            return samples.reply(&selection, &dims, effort, Work::from(&stencil), move |engine, from, to, watch| {
                engine.stencil(&stencil, from, to, watch)
            });
        }
        let Windowed { window, axis, output } = Windowed::new(shape, &dims, sweeps.dim(&dims)?, taps.count())?;
        // An engine gets the samples of the outputs in pieces; that is as much work as the whole input.
        let work = Work::from(&stencil);
        let effort = sweeps.effort(output.iter().product(), taps.count());
        let sides = sides_along(axis, ends);
        samples.reply(&selection, &output, effort, work, move |engine, from, to, watch| {
            windows::compute(engine, &window, &sides.into(), (from, to), watch, |[rows, columns, pages], from, to| {
                let lines =
                    if axis == 0 { Lines::new(rows, columns * pages) } else { Lines::strided(rows, columns, pages) };
                engine.stencil(&Stencil::new(lines, taps), from, to, watch)
            })
        })
    }

    /// Replies for any other filters: each is a convolution along its dimension.
    fn reply<T: Computed>(self, samples: AnyInput<'a>, filters: Vec<Cow<[T]>>) -> Result<Reply<'a>, Error> {
        let StencilCall { request, dims, outputs, joint } = self;
        let count = filters.len();
        let entries = filters.into_iter().map(|filter| {
            let mut entries = filter.into_owned();
            if request.flip {
                entries.reverse();
            }
            entries
        });
        let entries: Vec<Vec<T>> = entries.collect();
        let laid = |entries: &Vec<T>, axis: usize| {
            let mut size = [1; 3];
            size[axis] = entries.len();
            Filter::new(entries.clone(), size).map_err(|error| Error::internal(error.to_string()))
        };
        let sweeps = &request.sweeps;
        if let Some((joint, along)) = joint {
            let (named, ends) = (sweeps.named_dim()?, sweeps.ends::<T>()?);
            if dims.len() > 3 || named.is_some_and(|dim| dim > 2) || matches!(along, Along::Dim(3..)) {
                let text = "'Distributed' goes with at most three dimensions where one of the two is single, or \
                            kernelArray has more than 21 taps or an even number of them. Reshape inputArray \
                            before, and the result behind.";
                return Err(options::bad(text.into()));
            }
            let size = sized(&dims);
            let part = Convolution::new(size, laid(&entries[0], 0)?);
            let filters = [0, 1, 2].map(|axis| laid(&entries[0], axis));
            let [Ok(rows), Ok(columns), Ok(pages)] = filters else {
                return Err(Error::internal("A filter that is one along some dimensions alone."));
            };
            let filters = [rows, columns, pages];
            let said = vec![
                ("The function", FUNCTION.name.into()),
                ("'Dim'", named.map_or("not given".into(), |dim| (dim + 1).to_string())),
            ];
            let window = Window::new(Shape::Same, size, [1; 3]);
            let output = dims.to_vec();
            let recorded = Vec::new();
            let job = Job { name: "inputArray", request, dims, output, window, volumes: 1, outputs, recorded };
            return job.reply_of_all_ranks(samples, &part, (joint, along), said, move |plan| {
                let dim = named.unwrap_or_else(|| sweeps::default_dim(&plan.whole()));
                Convolution::new(sized(plan.dims()), filters[dim.min(2)].clone()).with_boundary(sides_along(dim, ends))
            });
        }
        let several = count > 1 || !request.levels.are_none();
        let shape = if several { Shape::Same } else { sweeps.shape()? };
        let (along, ends) = (sweeps.dims_of(count, &dims)?, sweeps.ends_of::<T>(count)?);
        let (window, output, axis, steps) = if shape == Shape::Same {
            let step = |((entries, dim), ends): ((&Vec<T>, usize), Ends<T>)| {
                let size = Lines::along(&dims, dim).extents();
                Ok(Convolution::new(size, laid(entries, 1)?).with_boundary(sides_along(1, ends)))
            };
            let steps = entries.iter().zip(along).zip(ends).map(step).collect::<Result<Vec<_>, Error>>()?;
            (Window::new(shape, steps[0].size(), steps[0].filter().size()), dims.to_vec(), 1, steps)
        } else {
            let Windowed { window, axis, output } = Windowed::new(shape, &dims, along[0], entries[0].len())?;
            let filter = laid(&entries[0], axis)?;
            let step = Convolution::new(window.input(), filter).with_boundary(sides_along(axis, ends[0]));
            (window, output, axis, vec![step])
        };
        let recorded = sweeps.recorded_of(count, axis)?;
        Job { name: "inputArray", request, dims, output, window, volumes: 1, outputs, recorded }.reply(samples, steps)
    }
}

/// Returns the sides with these ends along one dimension, and zeros along the others, where the filter has one entry.
fn sides_along<T: Computed>(axis: usize, ends: Ends<T>) -> Sides<T> {
    [0, 1, 2].map(|d| if d == axis { ends } else { Ends::default() }).into()
}

/// Outputs of another size than their input.
struct Windowed {
    window: Window,
    /// Dimension of the window that the filter lies along.
    axis: usize,
    /// Dimensions of the result.
    output: Vec<usize>,
}

impl Windowed {
    /// Describes the outputs along dimension `dim` of an array as those of a box. If neighbouring elements belong to
    /// one line, the filter lies along the box's first dimension, so that the box has few columns.
    ///
    /// # Errors
    /// `option`, `outOfMemory`.
    fn new(shape: Shape, dims: &[usize], dim: usize, count: usize) -> Result<Windowed, Error> {
        if dim >= MAX_DIMS {
            let text =
                format!("Bad value for 'Dim': got {}, expected at most {MAX_DIMS} where 'Shape' is given.", dim + 1);
            return Err(options::bad(text));
        }
        let (window, axis) = window(shape, dims, dim, count);
        let length = windows::output_size(&window)?[axis];
        let mut output = dims.to_vec();
        output.resize(output.len().max(dim + 1), 1);
        output[dim] = length;
        Ok(Windowed { window, axis, output: dims::trimmed(output) })
    }
}

/// Replies for an array of which each rank passes a part.
fn of_all_ranks<'a>(
    joint: &Joint,
    samples: Input<'a, f64>,
    (dims, along): (Vec<usize>, Along),
    taps: Taps,
    (selection, sweeps): (&Selection, &Sweeps),
) -> Result<Reply<'a>, Error> {
    // A rank's part does not tell along which dimension the whole array has its lines.
    let (named, ends) = (sweeps.named_dim()?, sweeps.ends()?);
    let iterations = sweeps.iterations();
    let of_part = Stencil::new(sweeps.lines(&dims)?, taps).with_boundary(ends).with_sweeps(iterations);
    let effort = distributed::effort(sweeps.effort(samples.len(), taps.count()));
    let said = [
        ("The function", FUNCTION.name.into()),
        ("The class that is computed in", "double".into()),
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

/// Replies for sweeps of several filters, or with more than one time level.
fn several<'a>(
    samples: AnyInput<'a>,
    dims: &[usize],
    filters: &[Taps],
    (selection, sweeps, levels): (&Selection, &Sweeps, &Levels<'a>),
    outputs: usize,
) -> Result<Reply<'a>, Error> {
    let given = levels.check(("inputArray", &samples, dims), sweeps)?;
    let (along, ends) = (sweeps.dims_of(filters.len(), dims)?, sweeps.ends_of(filters.len())?);
    let stencils = filters.iter().zip(along).zip(ends);
    let stencils = stencils.map(|((taps, dim), ends)| Stencil::new(Lines::along(dims, dim), *taps).with_boundary(ends));
    let stencils: Vec<_> = stencils.collect();
    let (first, entries) = (Work::from(&stencils[0]), filters.iter().map(Taps::count).sum());
    let step = |stencil: Stencil| -> Step<'a, f64> {
        Box::new(move |engine, sweeps, from, to, watch| engine.stencil(&stencil.with_sweeps(sweeps), from, to, watch))
    };
    let joint = match stencils[..] {
        [one] => Some(Box::new(one) as Box<dyn TwoLevels<f64>>),
        _ => None,
    };
    let filters = stencils.into_iter().map(step).collect();
    let samples = f64::of_input(samples, "inputArray under taps")?;
    levels.reply(samples, given, dims, Filters { filters, joint, entries, first }, (sweeps, selection, outputs))
}

/// Returns the window of [`Windowed`], and the dimension of the box that the filter lies along.
fn window(shape: Shape, dims: &[usize], dim: usize, count: usize) -> (Window, usize) {
    // It saturates: no array has more elements, unless an extent of 0 makes it empty.
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

/// Checks that a filter has elements, then that it is a vector, then its length. `dims` are those of the input.
fn check_filter(name: &str, array: &Argument, dims: &[usize]) -> Result<(), Error> {
    let expected = format!("expected a vector of 1 to {MAX_ENTRIES} taps");
    let wrong_length = |what: &str, advice: &str| {
        Err(Error::new("kernelLength", format!("{name} is {array}: {what}; {expected}.{advice}")))
    };
    if array.is_empty() {
        return wrong_length("it is empty", "");
    }
    if array.dims().len() != 2 || !array.dims().contains(&1) {
        return Err(Error::new("kernelShape", format!("{name} is {array}: it is not a vector; {expected}.")));
    }
    match array.len() {
        ..=MAX_ENTRIES => Ok(()),
        count if is_filter(dims) => {
            let advice = format!(
                " inputArray is a vector of {}: were the two swapped? The array comes first, then the filter.",
                dims.iter().product::<usize>()
            );
            wrong_length(&format!("it has {count} taps"), &advice)
        }
        count => wrong_length(&format!("it has {count} taps"), " For as many, fftfilt and fftconv take less time."),
    }
}

/// Returns true if an array of these dimensions could be a filter.
fn is_filter(dims: &[usize]) -> bool {
    let count = dims.iter().product();
    dims.len() == 2 && dims.contains(&1) && (1..=MAX_ENTRIES).contains(&count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_columns_of_a_box_where_they_lie_so() {
        let window = |dims: &[usize], dim| {
            let (window, axis) = window(Shape::Full, dims, dim, 3);
            (window.input(), window.others(), axis)
        };
        assert_eq!(window(&[1, 9], 1), ([9, 1, 1], [2, 0, 0], 0));
        assert_eq!(window(&[4, 5, 6], 0), ([4, 30, 1], [2, 0, 0], 0));
        assert_eq!(window(&[4, 5, 6], 1), ([4, 5, 6], [0, 2, 0], 1));
        assert_eq!(window(&[4, 5, 6], 9), ([120, 1, 1], [0, 2, 0], 1));
    }
}
