//! `P = ConvolutionConstantMemory_CUDA (N, F, Name, Value, ...)`

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::AtomicBool;

use super::distributed::{self, Joint};
use super::filtering::{self, Job};
use super::levels::Computed;
use super::request::{self, Request};
use super::{held_images, windows};
use crate::gateway::arrays::in_class_of_host;
use crate::gateway::engine::Work;
use crate::gateway::engine::inputs::{self, AnyInput, Part, Reals};
use crate::gateway::options::{self, Names};
use crate::gateway::store::{StoredArray, describe};
use crate::gateway::{check_outputs_up_to, dims, too_few_inputs};
use crate::host;
use crate::mex::{Argument, Call, Class, Error, Function, Numeric, Reply, Truth};
use crate::platform::memory::OutOfMemory;
use crate::platform::memory::pool::Pooled;
use crate::platform::watch::Watch;
use crate::ranks::Along;
use crate::stencil::{
    Boundary, Compute, Convolution, Ends, Engine, Filter, FilterError, MAX_ENTRIES, Number, Sample, Shape, Sides,
    Source, Target, Window,
};
use crate::{pieces, stencil};

pub(super) const FUNCTION: Function = Function { name: "ConvolutionConstantMemory_CUDA", call };

const OPTIONS: Names = Names(&[
    &["Backend", "Device", "Boundary", "Iterations", "Progress"],
    &["Shape"],
    &["Previous", "Weight", "Source", "Every"],
    &["Distributed"],
]);

/// Checks in the stencil's order, with `imageShape`, `filterSize` and `filterShape` in place of the kernel's checks.
fn call(call: &Call) -> Result<Reply<'_>, Error> {
    distributed::joined((FUNCTION.name, "N"), call, (&OPTIONS, 2), of_part)
}

/// Returns the reply for a part of N.
fn of_part<'a>(call: &'a Call, joint: Option<&Joint>, part: Part) -> Result<Reply<'a>, Error> {
    let [image, filter, rest @ ..] = &call.arguments[..] else {
        return Err(too_few_inputs(
            call,
            "N and F, then imfilter's words, then pairs of an option's name and its value",
        ));
    };
    let (words, pairs) = request::split(rest, 3, &OPTIONS, true)?;
    check_outputs_up_to(call, if options::gives(pairs, &OPTIONS, "Previous") { 2 } else { 1 })?;
    let (samples, dims) = samples(image, part)?;
    let list = inputs::listed("F", filter)?;
    let entries = list.iter().map(|(name, array)| inputs::reals(name, array)).collect::<Result<Vec<_>, _>>()?;
    // If a filter has pages, the first three dimensions of N are a volume, and further ones count volumes.
    let of_volumes = list.iter().any(|(_, array)| array.dims().len() > 2);
    let (size, volumes) = volumes(&dims, of_volumes);
    let sizes = list.iter().map(|(name, array)| check_filter(name, array, size)).collect::<Result<Vec<_>, _>>()?;
    if dims.len() > 3 && joint.is_some() {
        return Err(Error::new(
            "imageShape",
            format!(
                "N is {image}; expected at most three dimensions where the arrays of all ranks are one. Reshape it before, \
                 and the result behind."
            ),
        ));
    }
    let request = Request::new(words, pairs, &OPTIONS)?.of_part(part);
    request.levels.only_real("N", image)?;
    let samples = match samples {
        Samples::Real(samples) => Samples::Real(request.in_step(("N", image), samples, joint.is_some())?),
        Samples::Whole(reply) => Samples::Whole(reply),
    };
    let several = list.len() > 1 || !request.levels.are_none();
    let shape = if several { Shape::Same } else { request.sweeps.shape()? };
    let window = Window::new(shape, size, sizes[0]);
    let output = output(shape, &window, of_volumes, &dims)?;
    let larger = sizes.len() == 1 && is_larger(sizes[0], size);
    let joint = match (joint, &samples) {
        (None, _) => None,
        (Some(_), Samples::Whole(_)) => {
            let text = format!(
                "'Distributed' goes with N of class double or single, and N is {image}; double (N) makes it so."
            );
            return Err(options::bad(text));
        }
        (Some(joint), Samples::Real(samples)) => {
            let along =
                joint.along(request.distribution, &request.selection, &request.sweeps, several, samples.is_on_gpu())?;
            if let Along::Dim(dim @ 3..) = along {
                let text = format!("Bad value for 'Distributed': got {}, expected true, 1, 2 or 3.", dim + 1);
                return Err(options::bad(text));
            }
            Some((joint.clone(), along))
        }
    };
    let dimensions = [dims.len(), if of_volumes { 3 } else { 2 }];
    let outputs = call.outputs;
    let recorded = request.sweeps.recorded_around(list.len())?;
    let job = Job { name: "N", request, dims, output, window, volumes, outputs, recorded };
    let read = ConvolutionCall { job, dimensions, joint };
    let in_double = entries.iter().all(|entries| matches!(entries, Reals::Double(_)));
    let mut saturates = None;
    let reply = match samples {
        Samples::Whole(reply) => {
            let filters = read.filters(&list, entries, &sizes, |entries| entries.to_doubles("F in double"))?;
            saturates = saturating(image, &filters)?;
            reply(&read, image, filters)
        }
        Samples::Real(samples) if in_double && matches!(samples, AnyInput::Double(_)) => {
            let filters = read.filters(&list, entries, &sizes, |entries| entries.to_doubles("F in double"))?;
            read.reply::<f64>(samples, filters)
        }
        // The result has the smaller of two classes, as in conv2.
        Samples::Real(samples) => {
            let filters = read.filters(&list, entries, &sizes, |entries| entries.to_singles("F in single"))?;
            read.reply::<f32>(samples, filters)
        }
    };
    reply.map(|mut reply| {
        reply.warnings.extend(saturates);
        if larger {
            static WARNED: AtomicBool = AtomicBool::new(false);
            let text = format!(
                "F is {filter}, larger than N, {}, in every dimension: were the two swapped? The image comes first, \
                 then the filter.",
                describe(image)
            );
            reply.warnings.extend(filtering::once(&WARNED, "swapped", text));
        }
        reply
    })
}

/// Returns the dimensions of the output.
fn output(shape: Shape, window: &Window, of_volumes: bool, dims: &[usize]) -> Result<Vec<usize>, Error> {
    if shape == Shape::Same {
        return Ok(dims.to_vec());
    }
    // A filter of one page keeps the pages, in all the dimensions that count them.
    let [rows, columns, pages] = windows::output_size(window)?;
    let (own, rest) = if of_volumes { ([rows, columns, pages], 3) } else { ([rows, columns, 1], 2) };
    let all = [&own[..rest], dims.get(rest..).unwrap_or_default()].concat();
    dims::check_fits(&all)?;
    Ok(dims::trimmed(all))
}

/// The arguments of a call.
struct ConvolutionCall<'a> {
    job: Job<'a>,
    /// Number of dimensions of the array, and of a filter.
    dimensions: [usize; 2],
    /// The dimension along which the ranks split N, if they do.
    joint: Option<(Joint, Along)>,
}

/// Samples of a class that engines compute in, or the reply for samples of another class, which the result has, too.
enum Samples<'a> {
    Real(AnyInput<'a>),
    Whole(ReplyOfWhole<'a>),
}

/// Replies with an image of the class of the samples, computed in double.
type ReplyOfWhole<'a> = fn(&ConvolutionCall<'a>, &'a Argument, Vec<Filter<f64>>) -> Result<Reply<'a>, Error>;

/// Returns the samples of the image, and its dimensions.
fn samples<'a>(image: &'a Argument, part: Part) -> Result<(Samples<'a>, Cow<'a, [usize]>), Error> {
    let plain = !image.is_complex() && !image.is_sparse();
    let whole: ReplyOfWhole<'a> = match image.class() {
        Class::Logical if plain => ConvolutionCall::reply_whole::<Truth>,
        Class::Integer { bytes: 1, signed: true } if plain => ConvolutionCall::reply_whole::<i8>,
        Class::Integer { bytes: 1, signed: false } if plain => ConvolutionCall::reply_whole::<u8>,
        Class::Integer { bytes: 2, signed: true } if plain => ConvolutionCall::reply_whole::<i16>,
        Class::Integer { bytes: 2, signed: false } if plain => ConvolutionCall::reply_whole::<u16>,
        Class::Integer { bytes: 4, signed: true } if plain => ConvolutionCall::reply_whole::<i32>,
        Class::Integer { bytes: 4, signed: false } if plain => ConvolutionCall::reply_whole::<u32>,
        Class::Other if held_class(image)?.is_some() => ConvolutionCall::reply_held,
        class if class == Class::Other || !image.is_sparse() && matches!(class, Class::Double | Class::Single) => {
            let (input, dims) = inputs::part_or_gpu("N", image, part)?;
            return Ok((Samples::Real(input), dims));
        }
        _ => {
            let expected = "a full array of class double, single, logical, or of integers of up to 32 bits";
            return Err(inputs::wrong_type("N", image, expected, "double"));
        }
    };
    let dims = StoredArray::of(image)?.map_or(image.dims().into(), |held| held.dims.into());
    Ok((Samples::Whole(whole), dims))
}

/// Returns the class of a stored image if engines do not compute in it.
fn held_class(image: &Argument) -> Result<Option<Class>, Error> {
    let class = StoredArray::of(image)?.map(|held| held.class);
    Ok(class.filter(|class| !matches!(class, Class::Double | Class::Single)))
}

/// Warns that logical results do not count: they are truth values, as in imfilter. There is no warning for entries that
/// add up to at most 1, such as those of a mean, since no user expects a number from them.
fn saturating(image: &Argument, filters: &[Filter<f64>]) -> Result<Option<Error>, Error> {
    static WARNED: AtomicBool = AtomicBool::new(false);
    let sum = |filter: &Filter<f64>| filter.values().iter().map(|entry| entry.abs()).sum::<f64>();
    let most = filters.iter().map(sum).product::<f64>();
    // 1e-6 allows for rounding.
    if most <= 1.0 + 1e-6 || (image.class() != Class::Logical && held_class(image)? != Some(Class::Logical)) {
        return Ok(None);
    }
    let text = format!(
        "N is {}, so the results are truth values: true where the rounded sum is not 0. The entries of F add up to {}, \
         without their signs: double (N) counts.",
        describe(image),
        options::number_text(most)
    );
    Ok(filtering::once(&WARNED, "truthValues", text))
}

impl<'a> ConvolutionCall<'a> {
    /// Returns the filters in the class of the computation, turned round on request.
    fn filters<'e, T: Number>(
        &self,
        list: &[(String, &Argument)],
        entries: Vec<Reals<'e>>,
        sizes: &[[usize; 3]],
        in_class: impl Fn(Reals<'e>) -> Result<Cow<'e, [T]>, OutOfMemory>,
    ) -> Result<Vec<Filter<T>>, Error> {
        let mut filters = Vec::with_capacity(list.len());
        for ((&size, entries), (name, array)) in sizes.iter().zip(entries).zip(list) {
            let mut entries = in_class(entries)?.into_owned();
            if self.job.request.flip {
                entries.reverse();
            }
            filters.push(Filter::new(entries, size).map_err(|error| filter_error(name, array, error))?);
        }
        Ok(filters)
    }

    /// Replies for samples of a class that engines compute in.
    fn reply<T: Computed>(&self, samples: AnyInput<'a>, filters: Vec<Filter<T>>) -> Result<Reply<'a>, Error> {
        let (sides, input) = (self.job.request.sweeps.sides::<T>(self.dimensions)?, self.job.window.input());
        let step = |filter| Convolution::new(input, filter).with_boundary(sides);
        let steps: Vec<_> = filters.into_iter().map(step).collect();
        let Some((joint, along)) = &self.joint else { return self.job.reply(samples, steps) };
        let part = steps[0].clone();
        let said =
            vec![("The function", FUNCTION.name.into()), ("The size of F", format!("{:?}", part.filter().size()))];
        let whole = part.clone();
        self.job.reply_of_all_ranks(samples, &part, (joint, *along), said, move |plan| {
            whole.clone().with_size(filtering::sized(plan.dims()))
        })
    }

    /// Returns the boundaries of an image of another class; constants are cast to that class first.
    fn sides_of<S: Sample<f64>>(&self, image: &dyn fmt::Display) -> Result<Sides<f64>, Error> {
        let sides = self.job.request.sweeps.sides::<f64>(self.dimensions)?;
        let cast = |end: Boundary<f64>| match end {
            Boundary::Constant(number) => {
                S::cast(number).map(|sample| Boundary::Constant(sample.widened())).ok_or_else(|| {
                    options::bad(format!(
                        "Bad value for 'Boundary': got {}, expected a number that N can hold, and N is {image}.",
                        options::number_text(number)
                    ))
                })
            }
            other => Ok(other),
        };
        let mut ends = [Ends::default(); 3];
        for (d, ends) in ends.iter_mut().enumerate() {
            let [low, high] = sides[d].both();
            *ends = Ends::new(cast(low)?, cast(high)?).unwrap_or(sides[d]);
        }
        Ok(ends.into())
    }

    /// Replies for a stored image of another class.
    fn reply_held(&self, image: &'a Argument, filters: Vec<Filter<f64>>) -> Result<Reply<'a>, Error> {
        let held = StoredArray::of(image)?.ok_or_else(|| Error::internal("An image that is not held."))?;
        let Job { request: Request { sweeps, .. }, window, output, volumes, .. } = &self.job;
        self.check_whole(&held, &filters)?;
        let sides = in_class_of_host!(held.class, S => self.sides_of::<S>(&held))?;
        let calls = sweeps.iterations().saturating_mul(filters.len());
        let entries = filters.iter().map(|filter| filter.values().len()).sum();
        let effort = sweeps.effort_of_steps(output.iter().product(), entries, filters.len(), calls);
        let of = |filter: Filter<f64>| (Window::new(window.shape(), window.input(), filter.size()), filter);
        let steps = filters.into_iter().map(of).collect();
        let what = held_images::Sweeps { steps, sides, iterations: sweeps.iterations(), volumes: (*volumes).max(1) };
        held_images::reply(&self.job, held, effort, what)
    }

    /// Checks that the call asks for nothing that an image of another class does not support.
    fn check_whole(&self, image: &dyn fmt::Display, filters: &[Filter<f64>]) -> Result<(), Error> {
        let Request { sweeps, levels, .. } = &self.job.request;
        if !levels.are_none() {
            return Err(options::bad(format!(
                "'Previous', 'Weight', 'Source' and 'Every' go with N of class double or single, and N is {image}; \
                 double (N) makes it so."
            )));
        }
        if sweeps.step().is_some() {
            return Err(options::bad(format!(
                "A 'Boundary' that a step computes goes with N of class double or single, and N is {image}; double (N) \
                 makes it so."
            )));
        }
        if filters.len() > 1 { sweeps.only_same("lists of filters") } else { Ok(()) }
    }

    /// Replies for an image of another class: each sweep is computed in double and ends in that class.
    fn reply_whole<S>(&self, image: &'a Argument, filters: Vec<Filter<f64>>) -> Result<Reply<'a>, Error>
    where
        S: Sample<f64> + Numeric,
    {
        let samples = image.elements::<S>().ok_or_else(|| Error::internal("An image of another class."))?;
        let Job { request: Request { selection, sweeps, .. }, window, output, volumes, .. } = &self.job;
        self.check_whole(image, &filters)?;
        let (sides, iterations) = (self.sides_of::<S>(image)?, sweeps.iterations());
        let calls = iterations.saturating_mul(filters.len());
        let entries = filters.iter().map(|filter| filter.values().len()).sum();
        let effort = sweeps.effort_of_steps(output.iter().product(), entries, filters.len(), calls);
        // In every sweep the image goes through an engine from and to the host's memory.
        let work = Work::from(&Convolution::new(window.input(), filters[0].clone())).repeated(calls);
        let of = |filter: &Filter<f64>| Window::new(window.shape(), window.input(), filter.size());
        let steps: Vec<_> = filters.into_iter().map(|filter| (of(&filter), filter)).collect();
        let volumes = (*volumes).max(1);
        selection.choose(work)?.reply(output, effort, move |engine, output: &mut [S], watch| {
            if output.is_empty() || iterations == 0 {
                return host::copy(if output.is_empty() { &[] } else { samples }, output, watch);
            }
            let of_volume = [samples.len() / volumes, output.len() / volumes];
            for (samples, output) in samples.chunks(of_volume[0].max(1)).zip(output.chunks_mut(of_volume[1])) {
                host::ping_pong(samples, output, iterations, |_, from, to| {
                    sweep_in_double(engine, &steps, sides, (from, to), watch)
                })?;
            }
            Ok(())
        })
    }
}

/// Sweeps once over an image of another class: each filter in turn, in double; the results of the last are rounded.
fn sweep_in_double<S: Sample<f64>>(
    engine: &dyn Engine,
    steps: &[(Window, Filter<f64>)],
    sides: Sides<f64>,
    (from, to): (&[S], &mut [S]),
    watch: &Watch,
) -> Result<(), stencil::Error> {
    let [first, between @ .., last] = steps else {
        return steps.iter().try_for_each(|step| filter_in_double(engine, step, sides, (from, &mut *to), watch));
    };
    let mut current = Pooled::<f64>::new(to.len(), "what is between two filters")?;
    filter_in_double(engine, first, sides, (from, &mut current[..]), watch)?;
    if !between.is_empty() {
        let mut other = Pooled::<f64>::new(to.len(), "what is between two filters")?;
        for step in between {
            filter_in_double(engine, step, sides, (&current[..], &mut other[..]), watch)?;
            std::mem::swap(&mut current, &mut other);
        }
    }
    filter_in_double(engine, last, sides, (&current[..], to), watch)
}

/// Applies a filter to samples of one class, in double, with results of another.
fn filter_in_double<I: Sample<f64>, O: Sample<f64>>(
    engine: &dyn Engine,
    (window, filter): &(Window, Filter<f64>),
    sides: Sides<f64>,
    (from, to): (&[I], &mut [O]),
    watch: &Watch,
) -> Result<(), stencil::Error> {
    if window.shape() == Shape::Same {
        let what = Convolution::new(window.input(), filter.clone()).with_boundary(sides);
        if engine.convolution_of_any(&what, &from, &host::SharedOutput::new(to), watch)? {
            return Ok(());
        }
    }
    pieces::run((window, engine.piece()), sides, from, to, watch, |size, from, to| {
        let what = Convolution::new(size, filter.clone());
        engine.convolution(&what, Source::Host(from), Target::Host(to), watch)
    })
}

/// Returns rows, columns and pages; further dimensions count as pages.
fn size(dims: &[usize]) -> [usize; 3] {
    [dims[0], dims[1], product(&dims[2..])]
}

/// Returns the size of a volume, and the number of volumes behind each other: one unless filters are volumes, too.
fn volumes(dims: &[usize], of_volumes: bool) -> ([usize; 3], usize) {
    match dims {
        [rows, columns, pages, rest @ ..] if of_volumes => ([*rows, *columns, *pages], product(rest)),
        _ => (size(dims), 1),
    }
}

/// Returns the product of extents. It saturates: no array has more elements, unless an extent of 0 makes it empty.
fn product(dims: &[usize]) -> usize {
    dims.iter().fold(1_usize, |product, &dim| product.saturating_mul(dim))
}

/// Returns the size of the filter; checks its elements, then its rank, then its extents. `image` is the size of N.
fn check_filter(name: &str, array: &Argument, image: [usize; 3]) -> Result<[usize; 3], Error> {
    if array.is_empty() {
        return Err(filter_error(name, array, FilterError::Empty));
    }
    if array.dims().len() > 3 {
        return Err(Error::new("filterShape", format!("{name} is {array}; expected at most three dimensions.")));
    }
    let size = size(array.dims());
    FilterError::check(size).map_err(|error| {
        let mut refused = filter_error(name, array, error);
        if FilterError::check(image).is_ok() && is_larger(size, image) {
            refused.text += " N could be the filter: were the two swapped? The image comes first, then the filter.";
        }
        refused
    })?;
    Ok(size)
}

fn filter_error(name: &str, array: &Argument, error: FilterError) -> Error {
    let advice = match error {
        FilterError::Empty => "",
        FilterError::TooLarge => " For larger ones, fftconv2 and fftconvn take less time.",
    };
    Error::new("filterSize", format!("{name} is {array}: {error}; expected 1 to {MAX_ENTRIES} entries.{advice}"))
}

/// Returns true if a filter is larger than an image in every dimension that one of the two has.
fn is_larger(filter: [usize; 3], image: [usize; 3]) -> bool {
    let rank = if filter[2] > 1 || image[2] > 1 { 3 } else { 2 };
    filter.iter().zip(image).take(rank).all(|(&filter, image)| image > 0 && filter > image)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_larger_in_every_dimension_that_there_is() {
        assert!(is_larger([3, 3, 1], [2, 1, 1]) && is_larger([3, 3, 3], [2, 2, 1]));
        assert!(!is_larger([3, 3, 1], [3, 1, 1]) && !is_larger([1, 15, 1], [1, 5, 1]));
        assert!(!is_larger([3, 3, 1], [1, 1, 2]) && !is_larger([3, 3, 1], [0, 1, 1]));
    }
}
