//! Copies of planes between arrays, or to and from messages.

use std::borrow::Cow;

use crate::host;
use crate::partition::{Around, Planes};
use crate::platform::memory;
use crate::platform::watch::Watch;
use crate::stencil::{Array, Compute, Engine, Error, Number, Places, RANK, Section, Source, Target};

impl Around {
    fn places(&self, planes: Planes) -> Places {
        let Planes { length, first, len, count, apart } = planes;
        let mut section = Section { start: self.inner * first, size: [1; RANK], steps: [0; RANK] };
        (section.size[0], section.steps[0]) = (self.inner * len, 1);
        let mut d = 0;
        for (size, step) in [(count, self.inner * apart), (self.outer, self.inner * length)] {
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
    pub(super) fn copy<T: Number>(
        self,
        engine: &(dyn Engine + 'static),
        (from, of): (Source<T>, Planes),
        (to, at): (Target<T>, Planes),
        watch: &Watch,
    ) -> Result<(), Error> {
        watch.check()?;
        let elements = of.selected() * self.area();
        assert_eq!((of.len, of.count), (at.len, at.count));
        if elements == 0 {
            return Ok(());
        }
        match (from, to) {
            (Source::Host(from), Target::Host(to)) => self.spread(from, of, at, to, watch),
            (Source::Array(from), to) if at.selected() == at.length => engine.pick(from, &self.places(of), to, watch),
            (from, Target::Array(to)) if of.selected() == of.length => engine.put(from, &self.places(at), to, watch),
            (Source::Array(from), Target::Array(to)) => {
                let mut between = engine.arrays::<T>().array(elements)?;
                engine.pick(from, &self.places(of), Target::Array(&mut between), watch)?;
                engine.put(Source::Array(&between), &self.places(at), to, watch)
            }
            (from, to) => {
                let mut between = memory::zeros(elements, "planes")?;
                self.copy(engine, (from, of), (Target::Host(&mut between), of.dense()), watch)?;
                self.copy(engine, (Source::Host(&between), of.dense()), (to, at), watch)
            }
        }
    }

    /// Copies planes in the host's memory.
    fn spread<T: Number>(self, from: &[T], of: Planes, at: Planes, to: &mut [T], watch: &Watch) -> Result<(), Error> {
        let mut runs = self.elements(of).zip(self.elements(at));
        runs.try_for_each(|(from_run, to_run)| host::copy(&from[from_run], &mut to[to_run], watch))
    }

    /// Copies planes to the beginning of a message.
    ///
    /// # Errors
    /// The engine's.
    pub(super) fn read<T: Number>(
        self,
        engine: &(dyn Engine + 'static),
        (from, of): (Source<T>, Planes),
        to: &mut [u8],
        watch: &Watch,
    ) -> Result<(), Error> {
        let numbers =
            |to: &mut [T]| self.copy(engine, (from, of), (Target::Host(to), Planes::all(of.selected())), watch);
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
    pub(super) fn write<T: Number>(
        self,
        engine: &(dyn Engine + 'static),
        from: &[u8],
        (to, at): (Target<T>, Planes),
        watch: &Watch,
    ) -> Result<(), Error> {
        let numbers: Cow<[T]> = match bytemuck::try_cast_slice(from) {
            Ok(numbers) => Cow::Borrowed(numbers),
            Err(_) => {
                let mut aligned = memory::zeros::<T>(from.len() / size_of::<T>(), "planes")?;
                bytemuck::cast_slice_mut(&mut aligned).copy_from_slice(from);
                Cow::Owned(aligned)
            }
        };
        self.copy(engine, (Source::Host(&numbers), Planes::all(at.selected())), (to, at), watch)
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

impl<T: Number> Between<T> {
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
