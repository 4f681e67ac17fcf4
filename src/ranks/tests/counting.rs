//! A test engine that counts its work.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::platform::memory::pool::Pooled;
use crate::platform::watch::Watch;
use crate::stencil::functions::Draw;
use crate::stencil::{
    Arithmetic, Array, Binary, Compute, Convolution, Derivative, Engine, Error, Expansion, Extreme, Held, Indices,
    Operand, Order, Places, Real, Reduction, Scan, Source, Stencil, Target, Unary,
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

    fn stencil(&self, what: &Stencil, from: Source<f64>, to: Target<f64>, watch: &Watch) -> Result<(), Error> {
        self.count(from, what.sweeps())?;
        self.engine.stencil(what, self.source(from)?, self.target(to)?, watch)
    }
}

impl<T: Real> Compute<T> for Counting
where
    dyn Engine: Compute<T>,
{
    fn derivative(&self, what: &Derivative<T>, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        self.count(from, 1)?;
        Compute::derivative(&*self.engine, what, self.source(from)?, self.target(to)?, watch)
    }

    fn convolution(&self, what: &Convolution<T>, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        self.count(from, what.sweeps())?;
        Compute::convolution(&*self.engine, what, self.source(from)?, self.target(to)?, watch)
    }

    fn array(&self, len: usize) -> Result<Array<T>, Error> {
        let array = Compute::<T>::array(&*self.engine, len)?;
        Ok(if self.far { Array::new(Far(array), len) } else { array })
    }

    fn has_room(&self, _: usize, _: usize) -> Result<bool, Error> {
        Ok(self.room)
    }

    fn copy(&self, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        Compute::copy(&*self.engine, self.source(from)?, self.target(to)?, watch)
    }
}

pub(super) fn unused<R>() -> Result<R, Error> {
    Err(Error::Internal("Ranks have no use for this.".into()))
}

impl<T: Real> Arithmetic<T> for Counting
where
    dyn Engine: Arithmetic<T>,
{
    fn unary(&self, _: Unary, _: &Array<T>, _: &mut Array<T>, _: &Watch) -> Result<(), Error> {
        unused()
    }

    fn binary(&self, _: Binary, _: [Operand<T>; 2], _: &Expansion, _: &mut Array<T>, _: &Watch) -> Result<(), Error> {
        unused()
    }

    fn advance(&self, _: &Array<T>, _: T, _: Option<Operand<T>>, _: &mut Array<T>, _: &Watch) -> Result<(), Error> {
        unused()
    }

    fn reduce(
        &self,
        _: Reduction,
        _: &Array<T>,
        _: Option<&Array<T>>,
        _: [usize; 3],
        _: Target<T>,
        _: &Watch,
    ) -> Result<(), Error> {
        unused()
    }

    fn extremes(&self, _: Extreme, _: &Array<T>, _: [usize; 3], _: Target<T>, _: &Watch) -> Result<Indices, Error> {
        unused()
    }

    fn scan(&self, _: Scan, _: &Array<T>, _: [usize; 3], _: &mut Array<T>, _: &Watch) -> Result<(), Error> {
        unused()
    }

    fn sort(
        &self,
        _: Order,
        _: &Array<T>,
        _: [usize; 3],
        _: &mut Array<T>,
        _: bool,
        _: &Watch,
    ) -> Result<Option<Indices>, Error> {
        unused()
    }

    fn find(&self, _: &Array<T>, _: &Watch) -> Result<Indices, Error> {
        unused()
    }

    fn ordinals(&self, _: &Indices, _: Target<T>, _: &Watch) -> Result<(), Error> {
        unused()
    }

    fn fill(&self, _: T, _: &mut Array<T>, _: &Watch) -> Result<(), Error> {
        unused()
    }

    fn random(&self, _: Draw, _: &mut Array<T>, _: &Watch) -> Result<(), Error> {
        unused()
    }

    fn pick(&self, from: &Array<T>, places: &Places, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        Arithmetic::pick(&*self.engine, self.near(from)?, places, self.target(to)?, watch)
    }

    fn put(&self, from: Source<T>, places: &Places, to: &mut Array<T>, watch: &Watch) -> Result<(), Error> {
        Arithmetic::put(&*self.engine, self.source(from)?, places, self.near_mut(to)?, watch)
    }

    fn convert(&self, _: &Array<T::Other>, _: &mut Array<T>, _: &Watch) -> Result<(), Error> {
        unused()
    }
}
