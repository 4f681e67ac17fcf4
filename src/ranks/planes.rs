//! Copies of planes between arrays, or to and from messages.

use std::borrow::Cow;
use std::ops::Range;

use crate::host;
use crate::platform::memory;
use crate::platform::watch::Watch;
use crate::stencil::{Array, Compute, Engine, Error, Lines, Number, Places, RANK, Real, Section, Source, Target};

/// Layout around the distributed dimension: `inner` contiguous elements in a plane, `outer` such runs apart from each
/// other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Around {
    pub(super) inner: usize,
    pub(super) outer: usize,
}

/// Equidistant runs of planes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Runs {
    /// First plane.
    pub(super) first: usize,
    /// Number of planes in a run.
    pub(super) len: usize,
    pub(super) count: usize,
    /// Distance from the first plane of a run to that of the next one.
    pub(super) apart: usize,
}

impl From<Range<usize>> for Runs {
    fn from(planes: Range<usize>) -> Runs {
        Runs { first: planes.start, len: planes.len(), count: 1, apart: planes.len() }
    }
}

impl Runs {
    /// Number of planes.
    pub(super) fn planes(&self) -> usize {
        self.len * self.count
    }
}

/// Planes of an array that has `length` of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Of {
    pub(super) length: usize,
    pub(super) runs: Runs,
}

impl Of {
    /// Selects all planes.
    pub(super) fn all(length: usize) -> Of {
        Of { length, runs: (0..length).into() }
    }

    /// Selects all planes of an array that consists of just these runs.
    fn dense(Runs { len, count, .. }: Runs) -> Of {
        Of { length: len * count, runs: Runs { first: 0, len, count, apart: len } }
    }

    fn are_all(&self) -> bool {
        self.runs.planes() == self.length
    }
}

impl Around {
    /// Number of elements in a plane.
    pub(super) fn area(&self) -> usize {
        self.inner * self.outer
    }

    /// Lines of `length` planes along the dimension.
    pub(super) fn lines(&self, length: usize) -> Lines {
        // Lines of one element are fastest side by side.
        if length == 1 { Lines::new(1, self.area()) } else { Lines::strided(self.inner, length, self.outer) }
    }

    /// Elements of each run of planes, in memory order.
    fn elements(self, of: Of) -> impl Iterator<Item = Range<usize>> {
        let Of { length, runs } = of;
        (0..self.outer).flat_map(move |k| {
            (0..runs.count).map(move |run| {
                let start = self.inner * (k * length + runs.first + run * runs.apart);
                start..start + self.inner * runs.len
            })
        })
    }

    fn places(&self, of: Of) -> Places {
        let Of { length, runs } = of;
        let mut section = Section { start: self.inner * runs.first, size: [1; RANK], steps: [0; RANK] };
        (section.size[0], section.steps[0]) = (self.inner * runs.len, 1);
        let mut d = 0;
        for (size, step) in [(runs.count, self.inner * runs.apart), (self.outer, self.inner * length)] {
            // Contiguous runs are merged.
            if size == 1 || step == section.size[d] * section.steps[d] as usize {
                section.size[d] *= size;
            } else {
                d += 1;
                (section.size[d], section.steps[d]) = (size, step as isize);
            }
        }
        Places::Section(section)
    }

    /// Copies planes between arrays, in the host's memory or the engine's: the same number of runs, of the same length.
    ///
    /// # Errors
    /// The engine's.
    pub(super) fn copy<T: Real>(
        self,
        engine: &(dyn Engine + 'static),
        (from, of): (Source<T>, Of),
        (to, at): (Target<T>, Of),
        watch: &Watch,
    ) -> Result<(), Error>
    where
        T: Number,
    {
        watch.check()?;
        let elements = of.runs.planes() * self.area();
        assert_eq!((of.runs.len, of.runs.count), (at.runs.len, at.runs.count));
        if elements == 0 {
            return Ok(());
        }
        match (from, to) {
            (Source::Host(from), Target::Host(to)) => self.spread(from, of, at, to, watch),
            (Source::Array(from), to) if at.are_all() => engine.pick(from, &self.places(of), to, watch),
            (from, Target::Array(to)) if of.are_all() => engine.put(from, &self.places(at), to, watch),
            (Source::Array(from), Target::Array(to)) => {
                let mut between = engine.arrays::<T>().array(elements)?;
                engine.pick(from, &self.places(of), Target::Array(&mut between), watch)?;
                engine.put(Source::Array(&between), &self.places(at), to, watch)
            }
            (Source::Array(from), Target::Host(to)) => {
                let mut between = memory::zeros(elements, "planes")?;
                engine.pick(from, &self.places(of), Target::Host(&mut between), watch)?;
                self.spread(&between, Of::dense(of.runs), at, to, watch)
            }
            (Source::Host(from), Target::Array(to)) => {
                let mut between = memory::zeros(elements, "planes")?;
                self.spread(from, of, Of::dense(of.runs), &mut between, watch)?;
                engine.put(Source::Host(&between), &self.places(at), to, watch)
            }
        }
    }

    /// Copies planes in the host's memory.
    fn spread<T: Real>(self, from: &[T], of: Of, at: Of, to: &mut [T], watch: &Watch) -> Result<(), Error> {
        let mut runs = self.elements(of).zip(self.elements(at));
        runs.try_for_each(|(from_run, to_run)| host::copy(&from[from_run], &mut to[to_run], watch))
    }

    /// Copies planes to the beginning of a message.
    ///
    /// # Errors
    /// The engine's.
    pub(super) fn read<T: Real>(
        self,
        engine: &(dyn Engine + 'static),
        (from, of): (Source<T>, Of),
        to: &mut [u8],
        watch: &Watch,
    ) -> Result<(), Error>
    where
        T: Number,
    {
        let numbers =
            |to: &mut [T]| self.copy(engine, (from, of), (Target::Host(to), Of::all(of.runs.planes())), watch);
        match bytemuck::try_cast_slice_mut(to) {
            Ok(to) => numbers(to),
            Err(_) => {
                let mut aligned = memory::zeros::<T>(to.len() / size_of::<T>(), "planes")?;
                numbers(&mut aligned)?;
                to.copy_from_slice(bytemuck::cast_slice(&aligned));
                Ok(())
            }
        }
    }

    /// Copies a message to planes of an array.
    ///
    /// # Errors
    /// The engine's.
    pub(super) fn write<T: Real>(
        self,
        engine: &(dyn Engine + 'static),
        from: &[u8],
        (to, at): (Target<T>, Of),
        watch: &Watch,
    ) -> Result<(), Error>
    where
        T: Number,
    {
        let numbers: Cow<[T]> = match bytemuck::try_cast_slice(from) {
            Ok(numbers) => Cow::Borrowed(numbers),
            Err(_) => {
                let mut aligned = memory::zeros::<T>(from.len() / size_of::<T>(), "planes")?;
                bytemuck::cast_slice_mut(&mut aligned).copy_from_slice(from);
                Cow::Owned(aligned)
            }
        };
        self.copy(engine, (Source::Host(&numbers), Of::all(at.runs.planes())), (to, at), watch)
    }
}

/// Reborrows a target, for one of several writes to it.
pub(super) fn again<'t, T>(target: &'t mut Target<'_, T>) -> Target<'t, T> {
    match target {
        Target::Host(results) => Target::Host(results),
        Target::Array(array) => Target::Array(array),
    }
}

/// Intermediate array, in the engine's memory or the host's.
#[derive(Debug)]
pub(super) struct Between<T> {
    array: Array<T>,
    on_host: bool,
}

impl<T: Real> Between<T>
where
    T: Number,
{
    /// Allocates `len` uninitialised elements.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn new(engine: &(dyn Engine + 'static), on_host: bool, len: usize) -> Result<Between<T>, Error> {
        let array = if on_host { Array::in_memory(len)? } else { engine.arrays::<T>().array(len)? };
        Ok(Between { array, on_host })
    }

    pub(super) fn source(&self) -> Result<Source<'_, T>, Error> {
        let source = Source::Array(&self.array);
        if self.on_host { source.samples().map(Source::Host) } else { Ok(source) }
    }

    pub(super) fn target(&mut self) -> Result<Target<'_, T>, Error> {
        let target = Target::Array(&mut self.array);
        if self.on_host { target.results().map(Target::Host) } else { Ok(target) }
    }
}
