//! Where the arrays of a step lie, and who computes on them.

use crate::memory::pool::Pooled;
use crate::stencil::{Array, Engine, Error, Real, Source, Target};

/// An engine that holds the arrays of a step; or the host's memory, where another engine filters.
#[derive(Clone, Copy)]
pub struct Site<'e> {
    engine: &'e (dyn Engine + 'static),
    filters: Option<&'e (dyn Engine + 'static)>,
}

impl<'e> Site<'e> {
    /// Where one engine does all.
    pub fn of(engine: &'e (dyn Engine + 'static)) -> Site<'e> {
        Site { engine, filters: None }
    }

    /// Where arrays lie in the host's memory, since an engine has no room for them: `filters` goes over them from there to
    /// there, and `cpu` does the rest.
    pub fn in_host_memory(cpu: &'e (dyn Engine + 'static), filters: &'e (dyn Engine + 'static)) -> Site<'e> {
        Site { engine: cpu, filters: Some(filters) }
    }

    /// Who holds the arrays, and computes on them.
    pub fn engine(&self) -> &'e (dyn Engine + 'static) {
        self.engine
    }

    /// Who filters and copies, from a [`source`](Site::source) to a [`target`](Site::target).
    pub fn filters(&self) -> &'e (dyn Engine + 'static) {
        self.filters.unwrap_or(self.engine)
    }

    /// An array to be read by who filters.
    ///
    /// # Errors
    /// [`Error::Foreign`] for an array of another engine.
    pub fn source<'a, T: Real>(&self, array: &'a Array<T>) -> Result<Source<'a, T>, Error> {
        Ok(if self.filters.is_some() { Source::Host(array.held::<Pooled<T>>()?) } else { Source::Array(array) })
    }

    /// An array to be written by who filters.
    ///
    /// # Errors
    /// [`Error::Foreign`] for an array of another engine.
    pub fn target<'a, T: Real>(&self, array: &'a mut Array<T>) -> Result<Target<'a, T>, Error> {
        Ok(if self.filters.is_some() { Target::Host(array.held_mut::<Pooled<T>>()?) } else { Target::Array(array) })
    }
}
