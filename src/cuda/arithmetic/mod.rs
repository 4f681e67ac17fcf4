//! Arithmetic on arrays of the device.
//!
//! Each call puts its work in the device's queue, and waits for it where it returns something to the host.

mod lines;
mod lists;
mod queued;
mod sort;

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::sys;

use self::lists::{Last, last_of_each, list_of, may_repeat};
use self::queued::Queued;
use super::driver::context::Context;
use super::element::Element;
use super::engine::Cuda;
use super::kernels::{ArithmeticKernels, Copies, On, scratch_of};
use super::program;
use super::routes::array::address;
use crate::platform::watch::Watch;
use crate::stencil::program::Kernel;
use crate::stencil::{
    AnySource, Array, Arrays, Error, Given, Indices, Operand, Operation, Places, Reduction, Source, Target, Term,
    Wanted,
};

/// The address of an element.
fn at<T>(address: sys::CUdeviceptr, element: usize) -> sys::CUdeviceptr {
    address + (element * size_of::<T>()) as sys::CUdeviceptr
}

/// Returns the address of a target on the device.
fn address_of<T>(to: &Target<T>, context: &Arc<Context>) -> Result<Option<sys::CUdeviceptr>, Error> {
    match to {
        Target::Array(array) => address(array, context).map(Some),
        Target::Host(_) => Ok(None),
    }
}

/// Returns the address of an input on the device.
fn address_of_input(input: AnySource, context: &Arc<Context>) -> Result<sys::CUdeviceptr, Error> {
    match input {
        AnySource::Double(Source::Array(array)) => address(array, context),
        AnySource::Single(Source::Array(array)) => address(array, context),
        _ => Err(Error::Internal("An operation on a device with an input elsewhere.".into())),
    }
}

/// Returns the address of a list of places that the engine holds; 0 for any other.
fn address_of_list(places: &Places, context: &Arc<Context>) -> Result<sys::CUdeviceptr, Error> {
    match places {
        Places::Held(list) => address(list.held(), context),
        Places::Section(_) | Places::List(_) => Ok(0),
    }
}

/// Name of an elementwise operation, for people.
fn name_of(what: &Given) -> &'static str {
    match what {
        Operation::Fill(_) => "filling an array",
        Operation::Each(..) => "an operation on each element",
        Operation::Convert(_) => "a conversion",
        Operation::Random(..) => "random numbers",
        _ => "an operation on two arrays",
    }
}

fn not_here(what: &Given) -> Error {
    Error::Internal(format!("A device does not compute {what:?}."))
}

impl Cuda {
    /// [`Engine::compute`](crate::stencil::Engine::compute) for all but filters.
    pub(super) fn compute_in<T: Element>(
        &self,
        what: &Given,
        mut to: Target<T>,
        watch: &Watch,
    ) -> Result<Option<Indices>, Error> {
        match (what, &mut to) {
            (Operation::Pair(op, [Term::Number(a), Term::Number(b)], _), Target::Array(to)) => {
                let number = op.of(T::from_f64(*a), T::from_f64(*b)).to_f64();
                self.elementwise("filling an array", &Operation::Fill(number), (to, 0..to.len()), watch)
            }
            (
                Operation::Fill(_)
                | Operation::Each(..)
                | Operation::Pair(..)
                | Operation::Convert(_)
                | Operation::Random(..),
                Target::Array(to),
            ) => self.elementwise(name_of(what), what, (to, 0..to.len()), watch),
            (&Operation::MultiplyAdd(weight, AnySource::Target, addend, source), Target::Array(to)) => {
                let Operand::Scalar(weight) = self.number_or_array(weight, watch)? else { return Err(not_here(what)) };
                let source = source.map(|source| self.number_or_array(source, watch)).transpose()?;
                self.advance(addend.array()?, weight, source, to, watch)
            }
            (&Operation::Reduce(op, first, second, size), _) => {
                self.reduce(op, first.array()?, second.map(AnySource::array).transpose()?, size, to, watch)
            }
            (&Operation::Pick(places, from), _) => self.pick(from.array()?, places, to, watch),
            (&Operation::Put(places, [from, AnySource::Target]), Target::Array(to)) => {
                self.put(from.source()?, places, to, watch)
            }
            (&Operation::Scan(op, from, size), Target::Array(to)) => self.scan(op, from.array()?, size, to, watch),
            (&Operation::Sort(order, from, size, wanted), Target::Array(to)) => {
                return self.sort(order, from.array()?, size, to, wanted == Wanted::Places, watch);
            }
            (&Operation::Extreme(which, from, size, _), _) => {
                return self.extremes(which, from.array()?, size, to, watch).map(Some);
            }
            _ => Err(not_here(what)),
        }?;
        Ok(None)
    }

    /// Returns an operand; waits for the number of an array of one element.
    fn number_or_array<'a, T: Element>(
        &self,
        term: Term<AnySource<'a>>,
        watch: &Watch,
    ) -> Result<Operand<'a, T>, Error> {
        let operand = term.operand()?;
        let Operand::Array(array) = operand else { return Ok(operand) };
        if array.len() != 1 {
            return Ok(operand);
        }
        let mut number = [T::default()];
        self.copy(Source::Array(array), Target::Host(&mut number), watch)?;
        Ok(Operand::Scalar(number[0]))
    }

    /// Runs the kernel of one operation, whose results go to these neighbours.
    fn elementwise<T: Element>(
        &self,
        name: &'static str,
        what: &Given,
        (to, places): (&Array<T>, Range<usize>),
        watch: &Watch,
    ) -> Result<(), Error> {
        match what {
            Operation::Pair(_, terms, expansion) => {
                assert_eq!(places.len(), expansion.elements());
                let arrays = (0..).zip(terms).filter_map(|(which, term)| Some((which, term.value()?)));
                for (which, input) in arrays {
                    assert_eq!(input.len(), expansion.elements_of(which));
                }
            }
            _ => what.values().for_each(|input| assert_eq!(input.len(), places.len())),
        }
        self.attempt(watch, |device| {
            let mut addresses = Vec::with_capacity(3);
            for input in what.values() {
                addresses.push(address_of_input(input, &device.context)?);
            }
            addresses.push(at::<T>(address(to, &device.context)?, places.start));
            watch.check()?;
            if places.is_empty() {
                return Ok(());
            }
            let kernel = Kernel::of(what, T::SINGLE, places.len()).ok_or_else(|| not_here(what))?;
            // SAFETY: the arrays have as many elements as the operation says.
            unsafe { program::run_once(device, name, &kernel, &addresses) }?;
            watch.count(kernel.len());
            Ok(())
        })
    }

    fn advance<T: Element>(
        &self,
        step: &Array<T>,
        weight: T,
        source: Option<Operand<T>>,
        older: &mut Array<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        let len = older.len();
        assert_eq!(step.len(), len);
        if let Some(Operand::Array(array)) = &source {
            assert_eq!(array.len(), len);
        }
        self.attempt_in_place(watch, |device, begun| {
            let [step, older] = [address(step, &device.context)?, address(older, &device.context)?];
            let source = match &source {
                None => None,
                Some(Operand::Array(array)) => Some(On::Array(address(array, &device.context)?)),
                Some(Operand::Scalar(value)) => Some(On::Scalar(*value)),
            };
            if len == 0 {
                return Ok(watch.check()?);
            }
            let work = Queued::<ArithmeticKernels<T>>::begin(device, "a step of two time levels", watch)?;
            *begun = true;
            // SAFETY: the arrays have as many elements; whatever else uses them is on this stream, too.
            unsafe { work.kernels.advance(work.stream().handle(), step, weight, source, older, len) }?;
            work.end((2 + usize::from(matches!(source, Some(On::Array(_))))) * len, len)
        })
    }

    fn reduce<T: Element>(
        &self,
        op: Reduction,
        first: &Array<T>,
        second: Option<&Array<T>>,
        size: [usize; 3],
        mut to: Target<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        assert_eq!(op.of_two(), second.is_some());
        let second = second.unwrap_or(first);
        let [inner, length, outer] = size;
        assert_eq!([first.len(), second.len()], [inner * length * outer; 2]);
        assert_eq!(to.len(), inner * outer);
        self.attempt(watch, |device| {
            let from = [address(first, &device.context)?, address(second, &device.context)?];
            let output = address_of(&to, &device.context)?;
            if to.is_empty() {
                return Ok(watch.check()?);
            }
            if let (true, Target::Host(results)) = (first.is_empty(), &mut to) {
                watch.check()?;
                results.fill(op.start());
                return Ok(());
            }
            let mut work = Queued::<ArithmeticKernels<T>>::begin(device, "a reduction", watch)?;
            let [more, less] = scratch_of(size);
            let scratch = [more, less].map(|elements| if elements > 0 { work.room_for::<T>(elements) } else { Ok(0) });
            let [more, less] = scratch;
            let scratch = [more?, less?];
            // SAFETY: the arrays have as many elements, and the call has them and the scratch until the work has been
            // waited for.
            let put = |kernels: &ArithmeticKernels<T>, stream, results| unsafe {
                match first.is_empty() {
                    true => kernels.fill(stream, op.start(), results, inner * outer),
                    false => kernels.reduce(stream, op, from, size, scratch, results),
                }
            };
            match (&mut to, output) {
                // SAFETY: they write as many.
                (Target::Host(results), _) => unsafe { work.land(results, put) }?,
                (_, Some(results)) => {
                    let stream = work.stream().handle();
                    put(&work.kernels, stream, results)?;
                }
                _ => return Err(Error::Internal("A reduction to no address.".into())),
            }
            work.end(from.len() * first.len(), 0)
        })
    }

    /// Reads or writes neighbours, which takes no kernel.
    fn copy_run<T: Element>(
        &self,
        name: &'static str,
        (from, first): (Source<T>, usize),
        (to, place): (&mut Target<T>, usize),
        watch: &Watch,
    ) -> Result<(), Error> {
        let count = from.len().min(to.len());
        self.attempt(watch, |device| {
            let input = match from {
                Source::Array(array) => at::<T>(address(array, &device.context)?, first),
                Source::Host(_) => 0,
            };
            let output = address_of(to, &device.context)?.map(|output| at::<T>(output, place));
            if count == 0 {
                return Ok(watch.check()?);
            }
            let mut work = Queued::<Copies<T>>::begin(device, name, watch)?;
            // SAFETY: the places are in the arrays, which the call has until the work has been waited for.
            unsafe {
                match (from, &mut *to, output) {
                    (Source::Host(samples), _, Some(output)) => work.send_to(samples, output),
                    (_, Target::Host(results), _) => work.fetch(input, results),
                    (_, _, Some(output)) => work.copy([input, output], count),
                    _ => Err(Error::Internal("A copy to no address.".into())),
                }
            }?;
            work.end(count, count)
        })
    }

    fn pick<T: Element>(
        &self,
        from: &Array<T>,
        places: &Places,
        mut to: Target<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        assert_eq!(to.len(), places.len());
        assert!(places.are_within(from.len()));
        if let Places::Section(section) = places
            && let Some(first) = section.run()
        {
            return self.copy_run("reading by index", (Source::Array(from), first), (&mut to, 0), watch);
        }
        self.attempt(watch, |device| {
            let input = address(from, &device.context)?;
            let output = address_of(&to, &device.context)?;
            let held = address_of_list(places, &device.context)?;
            if to.is_empty() {
                return Ok(watch.check()?);
            }
            let count = to.len();
            let mut work = Queued::<ArithmeticKernels<T>>::begin(device, "reading by index", watch)?;
            let section = match places {
                Places::Section(section) => Some(work.kernels.places(section)),
                Places::List(_) | Places::Held(_) => None,
            };
            // SAFETY: all places are in the first array, and the call has the arrays and the buffers until the work has
            // been waited for.
            unsafe {
                let results = output.map_or_else(|| work.room_for::<T>(count), Ok)?;
                let list = match places {
                    Places::List(list) => work.send(list)?,
                    Places::Held(_) => held,
                    Places::Section(_) => 0,
                };
                let stream = work.stream().handle();
                match &section {
                    None => work.kernels.pick_list(stream, list, [input, results], count),
                    Some(section) => work.kernels.pick(stream, section, [input, results]),
                }?;
                if let Target::Host(output) = &mut to {
                    work.fetch(results, output)?;
                }
            }
            work.end(count, count)
        })
    }

    fn put<T: Element>(&self, from: Source<T>, places: &Places, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        assert_eq!(from.len(), places.len());
        assert!(places.are_within(to.len()));
        let name = "writing by index";
        if let Places::Section(section) = places
            && let Some(first) = section.run()
        {
            return match from {
                // Sending it would wait.
                Source::Host(&[number]) => {
                    self.elementwise(name, &Operation::Fill(number.to_f64()), (to, first..first + 1), watch)
                }
                from => self.copy_run(name, (from, 0), (&mut Target::Array(to), first), watch),
            };
        }
        let listed;
        let places = match places {
            Places::Section(section) if may_repeat(section) => {
                listed = Places::List(list_of(section)?);
                &listed
            }
            Places::Held(list) if !list.are_distinct() => {
                let numbers = self.list_on_host::<T>(list, watch)?;
                listed = Places::List(numbers);
                &listed
            }
            other => other,
        };
        let repeated = match places {
            Places::List(list) => last_of_each(list, to.len())?,
            Places::Section(_) | Places::Held(_) => None,
        };
        self.attempt(watch, |device| {
            let output = address(to, &device.context)?;
            let input = match from {
                Source::Array(array) => Some(address(array, &device.context)?),
                Source::Host(_) => None,
            };
            let held = address_of_list(places, &device.context)?;
            if from.is_empty() {
                return Ok(watch.check()?);
            }
            let count = from.len();
            let mut work = Queued::<ArithmeticKernels<T>>::begin(device, name, watch)?;
            let input = match from {
                Source::Host(samples) => work.send(samples)?,
                Source::Array(_) => input.unwrap_or(0),
            };
            // SAFETY: all places are in the second array, and the call has the arrays and the buffers until the work
            // has been waited for. No place comes twice: see above.
            unsafe {
                match (places, &repeated) {
                    (Places::Section(section), _) => {
                        let section = work.kernels.places(section);
                        work.kernels.put(work.stream().handle(), &section, [input, output])
                    }
                    (Places::Held(_), _) => {
                        work.kernels.put_list(work.stream().handle(), held, None, [input, output], count)
                    }
                    (Places::List(list), None) => {
                        let list = work.send(list)?;
                        work.kernels.put_list(work.stream().handle(), list, None, [input, output], count)
                    }
                    (Places::List(_), Some(Last { places, elements })) => {
                        let (list, others) = (work.send(places)?, work.send(elements)?);
                        let stream = work.stream().handle();
                        work.kernels.put_list(stream, list, Some(others), [input, output], places.len())
                    }
                }
            }?;
            work.end(count, count)
        })
    }
}
