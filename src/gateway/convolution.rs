//! `P = ConvolutionConstantMemory_CUDA (N, F, Name, Value, ...)`

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use super::asked::{self, Asked};
use super::distributed::{self, Joint};
use super::fastest::Work;
use super::inputs::{self, AnyInput, Input, Reals};
use super::levels::{Computed, Filters};
use super::options::{self, Names};
use super::store::Numbers;
use super::{check_outputs_up_to, too_few_inputs, windows};
use crate::memory::OutOfMemory;
use crate::memory::pool::Pooled;
use crate::mex::{Argument, Call, Class, Error, Function, Numeric, Reply, Truth};
use crate::ranks::{self, Along, Whole};
use crate::scheme::Filter as Step;
use crate::stencil::{
    Array, Boundary, Compute, Convolution, Ends, Engine, Filter, FilterError, MAX_ENTRIES, Real, Sample, Shape, Sides,
    Source, Target, Window,
};
use crate::watch::Watch;
use crate::{host, pieces, stencil};

pub(super) const FUNCTION: Function = Function { name: "ConvolutionConstantMemory_CUDA", call };

const OPTIONS: Names = Names(&[
    &["Backend", "Device", "Boundary", "Iterations", "Progress"],
    &["Shape"],
    &["Previous", "Weight", "Source", "Every"],
    &["Distributed"],
]);

/// Checks in the order of the stencil's; `imageShape`, `filterSize` and `filterShape` stand where the kernel's checks
/// stand there.
fn call(call: &Call) -> Result<Reply<'_>, Error> {
    distributed::joined(FUNCTION.name, call, (&OPTIONS, 2), called)
}

fn called<'a>(call: &'a Call, joint: Option<&Joint>) -> Result<Reply<'a>, Error> {
    let [image, filter, rest @ ..] = &call.arguments[..] else {
        return Err(too_few_inputs(
            call,
            "N and F, then imfilter's words, then pairs of an option's name and its value",
        ));
    };
    let (words, pairs) = asked::split(rest, 3, &OPTIONS, true)?;
    check_outputs_up_to(call, if options::gives(pairs, &OPTIONS, "Previous") { 2 } else { 1 })?;
    let (samples, dims) = samples(image)?;
    let list = inputs::listed("F", filter)?;
    let entries = list.iter().map(|(name, array)| inputs::reals(name, array)).collect::<Result<Vec<_>, _>>()?;
    let size = size(&dims);
    let sizes = list.iter().map(|(name, array)| check_filter(name, array, size)).collect::<Result<Vec<_>, _>>()?;
    let of_volumes = sizes.iter().any(|size| size[2] > 1);
    if dims.len() > 3 && (of_volumes || joint.is_some()) {
        return Err(too_many_dimensions(image, of_volumes));
    }
    let asked = Asked::new(words, pairs, &OPTIONS)?;
    let several = list.len() > 1 || !asked.levels.are_none();
    let shape = if several { Shape::Same } else { asked.sweeps.shape()? };
    let window = Window::new(shape, size, sizes[0]);
    let dimensions = [dims.len(), if of_volumes { 3 } else { 2 }];
    let dims = match shape {
        Shape::Same => dims,
        Shape::Full | Shape::Valid => {
            // A filter of one page leaves the pages as they are, whatever the dimensions they are counted in.
            let [rows, columns, pages] = windows::output_size(&window)?;
            let rest = if of_volumes { &[pages][..] } else { dims.get(2..).unwrap_or_default() };
            windows::trimmed([&[rows, columns], rest].concat()).into()
        }
    };
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
            let on_gpu = matches!(samples, AnyInput::Double(Input::Gpu(..)) | AnyInput::Single(Input::Gpu(..)));
            let along = joint.along(asked.distribution, &asked.selection, &asked.sweeps, several, on_gpu)?;
            if let Along::Dim(dim @ 3..) = along {
                let text = format!("Bad value for 'Distributed': got {}, expected true, 1, 2 or 3.", dim + 1);
                return Err(options::bad(text));
            }
            Some((joint.clone(), along))
        }
    };
    let job = Request { asked, dimensions, window, dims, outputs: call.outputs, joint };
    let in_double = entries.iter().all(|entries| matches!(entries, Reals::Double(_)));
    let reply = match samples {
        Samples::Whole(reply) => {
            let filters = job.filters(&list, entries, &sizes, |entries| entries.to_doubles("F in double"))?;
            reply(&job, image, filters)
        }
        Samples::Real(samples) if in_double && matches!(samples, AnyInput::Double(_)) => {
            let filters = job.filters(&list, entries, &sizes, |entries| entries.to_doubles("F in double"))?;
            job.reply::<f64>(samples, filters)
        }
        // Of two classes the result has the smaller, as conv2 has it.
        Samples::Real(samples) => {
            let filters = job.filters(&list, entries, &sizes, |entries| entries.to_singles("F in single"))?;
            job.reply::<f32>(samples, filters)
        }
    };
    reply.map(|mut reply| {
        reply.warnings.extend(swapped([image, filter], larger));
        reply
    })
}

/// A call that was read: what is computed, the dimensions of N, and those of the result.
struct Request<'a> {
    asked: Asked<'a>,
    /// Of how many dimensions the array is, and a filter.
    dimensions: [usize; 2],
    window: Window,
    dims: Cow<'a, [usize]>,
    /// How many are asked for.
    outputs: usize,
    /// Where N is a part of an array that lies with several ranks: along which dimension.
    joint: Option<(Joint, Along)>,
}

/// The samples: numbers of a class that is computed in, or those of another, in which the result is returned.
enum Samples<'a> {
    Real(AnyInput<'a>),
    Whole(ReplyOfWhole<'a>),
}

/// Replies with an image of the class of the samples, which are computed on in double.
type ReplyOfWhole<'a> = fn(&Request<'a>, &'a Argument, Vec<Filter<f64>>) -> Result<Reply<'a>, Error>;

/// The samples of the image, and its dimensions.
fn samples<'a>(image: &'a Argument) -> Result<(Samples<'a>, Cow<'a, [usize]>), Error> {
    let plain = !image.is_complex() && !image.is_sparse();
    let whole: ReplyOfWhole<'a> = match image.class() {
        Class::Logical if plain => Request::reply_whole::<Truth>,
        Class::Integer { bytes: 1, signed: true } if plain => Request::reply_whole::<i8>,
        Class::Integer { bytes: 1, signed: false } if plain => Request::reply_whole::<u8>,
        Class::Integer { bytes: 2, signed: true } if plain => Request::reply_whole::<i16>,
        Class::Integer { bytes: 2, signed: false } if plain => Request::reply_whole::<u16>,
        Class::Integer { bytes: 4, signed: true } if plain => Request::reply_whole::<i32>,
        Class::Integer { bytes: 4, signed: false } if plain => Request::reply_whole::<u32>,
        class if class == Class::Other || plain && matches!(class, Class::Double | Class::Single) => {
            let (input, dims) = inputs::input_or_gpu("N", image)?;
            return Ok((Samples::Real(input), dims));
        }
        _ => {
            let expected = "a real full array of class double, single, logical, or of integers of up to 32 bits";
            return Err(inputs::wrong_type("N", image, expected, "double"));
        }
    };
    Ok((Samples::Whole(whole), image.dims().into()))
}

impl<'a> Request<'a> {
    /// The filters in the class that is computed in, turned round where that was asked for.
    fn filters<'e, T: Real>(
        &self,
        list: &[(String, &Argument)],
        entries: Vec<Reals<'e>>,
        sizes: &[[usize; 3]],
        in_class: impl Fn(Reals<'e>) -> Result<Cow<'e, [T]>, OutOfMemory>,
    ) -> Result<Vec<Filter<T>>, Error> {
        let mut filters = Vec::with_capacity(list.len());
        for ((&size, entries), (name, array)) in sizes.iter().zip(entries).zip(list) {
            let mut entries = in_class(entries)?.into_owned();
            if self.asked.flip {
                entries.reverse();
            }
            filters.push(Filter::new(entries, size).map_err(|error| filter_error(name, array, error))?);
        }
        Ok(filters)
    }

    /// Samples of a class that is computed in.
    fn reply<T: Computed>(&self, samples: AnyInput<'a>, filters: Vec<Filter<T>>) -> Result<Reply<'a>, Error>
    where
        Numbers: From<Array<T>>,
        dyn Engine: Compute<T> + crate::stencil::Arithmetic<T>,
    {
        let Request { asked: Asked { selection, sweeps, levels, .. }, window, .. } = self;
        let (sides, window) = (sweeps.sides::<T>(self.dimensions)?, *window);
        let filter = match <[_; 1]>::try_from(filters) {
            Ok([filter]) if self.joint.is_some() => return self.of_all_ranks(samples, filter, sides),
            Ok([filter]) if levels.are_none() => filter,
            Ok([filter]) => return self.several(samples, vec![filter], sides),
            Err(filters) => return self.several(samples, filters, sides),
        };
        let what = Convolution::new(window.input(), filter).with_boundary(sides).with_sweeps(sweeps.iterations());
        let effort = sweeps.effort(self.dims.iter().product(), what.filter().values().len());
        let work = Work::from(&what);
        let samples = T::input(samples, "N in single")?;
        samples.reply(selection, &self.dims, effort, work, move |engine, from, to, watch| match window.shape() {
            Shape::Same => Compute::convolution(engine, &what, from, to, watch),
            Shape::Full | Shape::Valid => {
                windows::compute(engine, &window, sides, (from, to), watch, |size, from, to| {
                    Compute::convolution(engine, &Convolution::new(size, what.filter().clone()), from, to, watch)
                })
            }
        })
    }

    /// Sweeps over an array of which each rank passes a part.
    fn of_all_ranks<T: Computed>(
        &self,
        samples: AnyInput<'a>,
        filter: Filter<T>,
        sides: Sides<T>,
    ) -> Result<Reply<'a>, Error>
    where
        Numbers: From<Array<T>>,
        dyn Engine: Compute<T> + crate::stencil::Arithmetic<T>,
    {
        let Asked { selection, sweeps, .. } = &self.asked;
        let (joint, along) = self.joint.clone().ok_or_else(|| Error::internal("A call without other ranks."))?;
        let iterations = sweeps.iterations();
        let effort = distributed::effort(sweeps.effort(self.dims.iter().product(), filter.values().len()));
        let said = [
            ("The function", FUNCTION.name.into()),
            ("The class that is computed in", if size_of::<T>() == 4 { "single" } else { "double" }.into()),
            ("The size of F", format!("{:?}", filter.size())),
            ("'Boundary'", sweeps.boundary_text()),
            ("'Iterations'", iterations.to_string()),
        ];
        let part = Convolution::new(self.window.input(), filter.clone()).with_sweeps(iterations);
        let work = Work::from(&part);
        let dims = self.dims.clone().into_owned();
        let samples = T::input(samples, "N in single")?;
        samples.reply(selection, &self.dims, effort, work, move |engine, from, to, watch| {
            joint.run(watch, |call| {
                let entries: Vec<f64> = filter.values().iter().map(|entry| entry.to_f64()).collect();
                let plan = distributed::agree(call, (&dims, along), &said, &entries, watch)?;
                let mut size = [1; 3];
                size.iter_mut().zip(plan.dims()).for_each(|(size, &dim)| *size = dim);
                let what = Convolution::new(size, filter).with_boundary(sides).with_sweeps(iterations);
                ranks::run(call, engine, &Whole::convolution(&plan, what), from, to, watch)
            })
        })
    }

    /// Sweeps of several filters, or with more levels than one.
    fn several<T: Computed>(
        &self,
        samples: AnyInput<'a>,
        filters: Vec<Filter<T>>,
        sides: Sides<T>,
    ) -> Result<Reply<'a>, Error>
    where
        Numbers: From<Array<T>>,
        dyn Engine: Compute<T> + crate::stencil::Arithmetic<T>,
    {
        let Asked { selection, sweeps, levels, .. } = &self.asked;
        let given = levels.check(("N", &samples, &self.dims), sweeps)?;
        let entries = filters.iter().map(|filter| filter.values().len()).sum();
        let what = |filter| Convolution::new(self.window.input(), filter).with_boundary(sides);
        let convolutions: Vec<_> = filters.into_iter().map(what).collect();
        let first = Work::from(&convolutions[0]);
        let step = |what: Convolution<T>| -> Step<'a, T> {
            Box::new(move |engine, sweeps, from, to, watch| {
                Compute::convolution(engine, &what.clone().with_sweeps(sweeps), from, to, watch)
            })
        };
        let filters = convolutions.into_iter().map(step).collect();
        let samples = T::input(samples, "N in single")?;
        let filters = Filters { filters, joint: None, entries, first };
        levels.reply(samples, given, &self.dims, filters, (sweeps, selection, self.outputs))
    }

    /// The boundaries of an image of another class, whose constants are cast to it first.
    fn sides_of<S: Sample<f64>>(&self, image: &Argument) -> Result<Sides<f64>, Error> {
        let sides = self.asked.sweeps.sides::<f64>(self.dimensions)?;
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

    /// An image of another class: each sweep is computed in double and ends in that class.
    fn reply_whole<S>(&self, image: &'a Argument, filters: Vec<Filter<f64>>) -> Result<Reply<'a>, Error>
    where
        S: Sample<f64> + Numeric,
    {
        let samples = image.elements::<S>().ok_or_else(|| Error::internal("An image of another class."))?;
        let Request { asked: Asked { selection, sweeps, levels, .. }, window, .. } = self;
        if !levels.are_none() {
            return Err(options::bad(format!(
                "'Previous', 'Weight', 'Source' and 'Every' go with N of class double or single, and N is {image}; \
                 double (N) makes it so."
            )));
        }
        if filters.len() > 1 {
            sweeps.only_same("lists of filters")?;
        }
        let (sides, iterations) = (self.sides_of::<S>(image)?, sweeps.iterations());
        let calls = iterations.saturating_mul(filters.len());
        let entries = filters.iter().map(|filter| filter.values().len()).sum();
        let effort = sweeps.effort_of_steps(self.dims.iter().product(), entries, filters.len(), calls);
        // In every sweep the image goes through an engine by itself.
        let work = Work::from(&Convolution::new(window.input(), filters[0].clone())).repeated(calls);
        let of = |filter: &Filter<f64>| Window::new(window.shape(), window.input(), filter.size());
        let steps: Vec<_> = filters.into_iter().map(|filter| (of(&filter), filter)).collect();
        selection.choose(work)?.reply(&self.dims, effort, move |engine, output: &mut [S], watch| {
            if output.is_empty() || iterations == 0 {
                return host::copy(if output.is_empty() { &[] } else { samples }, output, watch);
            }
            host::ping_pong(samples, output, iterations, |_, from, to| {
                sweep_in_double(engine, &steps, sides, (from, to), watch)
            })
        })
    }
}

/// One sweep over an image of another class: each filter in turn, in double; what the last one gives is rounded.
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

/// A filter over samples of one class, computed in double, to results of another.
fn filter_in_double<I: Sample<f64>, O: Sample<f64>>(
    engine: &dyn Engine,
    (window, filter): &(Window, Filter<f64>),
    sides: Sides<f64>,
    (from, to): (&[I], &mut [O]),
    watch: &Watch,
) -> Result<(), stencil::Error> {
    pieces::run(window, sides, from, to, watch, |size, from, to| {
        let what = Convolution::new(size, filter.clone());
        Compute::convolution(engine, &what, Source::Host(from), Target::Host(to), watch)
    })
}

/// Rows, columns and pages, which all further dimensions count.
fn size(dims: &[usize]) -> [usize; 3] {
    // Beyond counting there is no array, unless a dimension of no elements makes it empty.
    let pages = dims.iter().skip(2).fold(1_usize, |pages, &dim| pages.saturating_mul(dim));
    [dims[0], dims[1], pages]
}

/// That N has more than three dimensions, and how to do without.
fn too_many_dimensions(image: &Argument, of_volumes: bool) -> Error {
    let (why, way_out) = if of_volumes {
        (" under a filter of several pages", "Call the function once for each volume.")
    } else {
        (" where the arrays of all ranks are one", "Reshape it before, and the result behind.")
    };
    Error::new("imageShape", format!("N is {image}; expected at most three dimensions{why}. {way_out}"))
}

/// The size of the filter: first that there is one, then its dimensions, then their sizes. `image` is that of N.
fn check_filter(name: &str, array: &Argument, image: [usize; 3]) -> Result<[usize; 3], Error> {
    if array.is_empty() {
        return Err(filter_error(name, array, FilterError::Empty));
    }
    if array.dims().len() > 3 {
        return Err(Error::new("filterShape", format!("{name} is {array}; expected at most three dimensions.")));
    }
    let size = size(array.dims());
    FilterError::check(size).map_err(|error| {
        let mut told = filter_error(name, array, error);
        if FilterError::check(image).is_ok() && is_larger(size, image) {
            told.text += " N could be the filter: were the two swapped? The image comes first, then the filter.";
        }
        told
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

/// Whether a filter is larger than an image in every dimension that one of the two has.
fn is_larger(filter: [usize; 3], image: [usize; 3]) -> bool {
    let rank = if filter[2] > 1 || image[2] > 1 { 3 } else { 2 };
    filter.iter().zip(image).take(rank).all(|(&filter, image)| image > 0 && filter > image)
}

/// The warning that the two inputs look swapped: in a process the first time only.
fn swapped([image, filter]: [&Argument; 2], larger: bool) -> Option<Error> {
    static WARNED: AtomicBool = AtomicBool::new(false);
    (larger && !WARNED.swap(true, Ordering::Relaxed)).then(|| {
        let text = format!(
            "F is {filter}, larger than N, {image}, in every dimension: were the two swapped? The image comes first, then \
             the filter. This is said once in a session."
        );
        Error::new("swapped", text)
    })
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
