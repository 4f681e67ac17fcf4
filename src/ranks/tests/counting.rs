//! A test engine that counts its work.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::platform::memory::pool::Pooled;
use crate::platform::watch::Watch;
use crate::stencil::{
    AnySource, AnyTarget, Array, Arrays, Engine, Error, Given, Held, Indices, Number, Operation, Real, Source, Target,
};

/// Counts its work. Its arrays are another engine's, or cannot be read from outside.
pub(super) struct Counting {
    pub(super) engine: Box<dyn Engine>,
    pub(super) far: bool,
    pub(super) room: bool,
    /// Number of elements computed, times the sweeps.
    pub(super) updates: AtomicU64,
    /// Number of computing calls, and of those that took samples from the host's memory.
    pub(super) calls: AtomicU64,
    pub(super) from_host: AtomicU64,
    /// Index of the call that fails.
    pub(super) fails_at: Option<u64>,
    /// Number of exchanges and gathers that its rank has begun; and for each computing call its elements and that
    /// number.
    pub(super) begun: Arc<AtomicUsize>,
    pub(super) seen: Mutex<Vec<(usize, usize)>>,
}

/// An array that claims not to be in ordinary memory.
#[derive(Debug)]
pub(super) struct Far<T>(Array<T>);

impl<T: Real> Held for Far<T> {
    fn place(&self) -> String {
        "far away".into()
    }

    fn settle(&mut self) -> Option<Result<u64, Error>> {
        let near = self.0.held_mut::<Pooled<T>>();
        Some(near.map(|near| near.as_mut_ptr().expose_provenance() as u64))
    }
}

impl Counting {
    pub(super) fn new(engine: impl Engine + 'static, far: bool, room: bool) -> Counting {
        let zero = || AtomicU64::new(0);
        Counting {
            engine: Box::new(engine),
            far,
            room,
            updates: zero(),
            calls: zero(),
            from_host: zero(),
            fails_at: None,
            begun: Arc::default(),
            seen: Mutex::default(),
        }
    }

    pub(super) fn near<'a, T: Real>(&self, array: &'a Array<T>) -> Result<&'a Array<T>, Error> {
        if self.far { array.held::<Far<T>>().map(|far| &far.0) } else { Ok(array) }
    }

    pub(super) fn near_mut<'a, T: Real>(&self, array: &'a mut Array<T>) -> Result<&'a mut Array<T>, Error> {
        if self.far { array.held_mut::<Far<T>>().map(|far| &mut far.0) } else { Ok(array) }
    }

    pub(super) fn source<'a, T: Real>(&self, from: Source<'a, T>) -> Result<Source<'a, T>, Error> {
        match from {
            Source::Array(array) => self.near(array).map(Source::Array),
            host => Ok(host),
        }
    }

    pub(super) fn target<'a, T: Real>(&self, to: Target<'a, T>) -> Result<Target<'a, T>, Error> {
        match to {
            Target::Array(array) => self.near_mut(array).map(Target::Array),
            host => Ok(host),
        }
    }

    pub(super) fn count<T>(&self, from: Source<T>, sweeps: usize) -> Result<(), Error> {
        if self.fails_at == Some(self.calls.load(Ordering::Relaxed)) {
            return Err(Error::Cuda("the driver refused a call".into()));
        }
        self.seen.lock().unwrap().push((from.len(), self.begun.load(Ordering::Relaxed)));
        self.updates.fetch_add((from.len() * sweeps) as u64, Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.from_host.fetch_add(matches!(from, Source::Host(_)).into(), Ordering::Relaxed);
        Ok(())
    }
}

impl Engine for Counting {
    fn name(&self) -> &str {
        "counting"
    }

    fn compute(&self, what: &Given, to: AnyTarget, watch: &Watch) -> Result<Option<Indices>, Error> {
        if let Operation::Filter(filter, from) = what {
            match *from {
                AnySource::Single(from) => self.count(from, filter.sweeps()),
                from => self.count(from.source::<f64>()?, filter.sweeps()),
            }?;
        }
        let near = |input| {
            Ok::<_, Error>(match input {
                AnySource::Double(from) => AnySource::Double(self.source(from)?),
                AnySource::Single(from) => AnySource::Single(self.source(from)?),
                AnySource::Target => AnySource::Target,
            })
        };
        let to = match to {
            AnyTarget::Double(to) => AnyTarget::Double(self.target(to)?),
            AnyTarget::Single(to) => AnyTarget::Single(self.target(to)?),
        };
        self.engine.compute(&what.map(near, |places| *places)?, to, watch)
    }

    fn find(&self, _: AnySource, _: &Watch) -> Result<Indices, Error> {
        unused()
    }

    fn ordinals(&self, _: &Indices, _: AnyTarget, _: &Watch) -> Result<(), Error> {
        unused()
    }
}

impl<T: Number> Arrays<T> for Counting {
    fn array(&self, len: usize) -> Result<Array<T>, Error> {
        let array = self.engine.arrays::<T>().array(len)?;
        Ok(if self.far { Array::new(Far(array), len) } else { array })
    }

    fn has_room(&self, _: usize, _: usize) -> Result<bool, Error> {
        Ok(self.room)
    }

    fn copy(&self, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        self.engine.arrays().copy(self.source(from)?, self.target(to)?, watch)
    }
}

pub(super) fn unused<R>() -> Result<R, Error> {
    Err(Error::Internal("Ranks have no use for this.".into()))
}
