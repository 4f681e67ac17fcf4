//! Results of many steps, one after the other.

use std::sync::Arc;

use super::buffers::room;
use super::single::alone;
use crate::platform::watch::Watch;
use crate::stencil::program::Node;
use crate::stencil::{Array, Compute, Engine, Error, Number, Numbers, Places, Source, Target};

/// Collected results, one after the other.
pub(super) struct Collections {
    /// Arrays, with the length of one result each.
    pub(super) arrays: Vec<(Numbers, usize)>,
    /// Number of results of each: present, with room, and maximum.
    pub(super) count: usize,
    room: usize,
    most: usize,
}

/// Maximum number of steps whose records are stored by one launch: room for them is reserved before it.
pub(super) const MOST_RECORDED: usize = 32;

/// Number of elements to reserve at first, if the final number is unknown.
const AT_FIRST: usize = 1 << 16;

impl Collections {
    /// Reserves room for results of these nodes: for all `most` of them, or, if there may be `fewer`, for some and then
    /// more as they come.
    pub(super) fn new(
        engine: &(dyn Engine + 'static),
        of: &[&Node],
        (most, fewer): (usize, bool),
    ) -> Result<Collections, Error> {
        let longest = of.iter().map(|node| node.len).max().unwrap_or(0);
        let first = if fewer { most.min((AT_FIRST / longest.max(1)).max(1)) } else { most };
        let arrays = of.iter().map(|node| Ok((room_for(engine, node.single, node.len, first)?, node.len)));
        Ok(Collections { arrays: arrays.collect::<Result<_, Error>>()?, count: 0, room: first, most })
    }

    /// Appends one more result of each.
    pub(super) fn put(
        &mut self,
        engine: &(dyn Engine + 'static),
        results: &[Numbers],
        watch: &Watch,
    ) -> Result<(), Error> {
        self.reserve(engine, 1, watch)?;
        for ((all, len), result) in self.arrays.iter_mut().zip(results) {
            put(engine, result, (self.count * *len, *len), all, watch)?;
        }
        self.count += 1;
        Ok(())
    }

    /// Reserves room for `more` results of each.
    pub(super) fn reserve(&mut self, engine: &(dyn Engine + 'static), more: usize, watch: &Watch) -> Result<(), Error> {
        if self.count + more > self.room {
            self.room = self.most.min(self.room.saturating_mul(2).max(self.count + more));
            for (all, len) in &mut self.arrays {
                let mut larger = room_for(engine, all.is_single(), *len, self.room)?;
                put(engine, all, (0, all.len()), &mut larger, watch)?;
                *all = larger;
            }
        }
        Ok(())
    }

    /// Returns all collected results.
    pub(super) fn all(self, engine: &(dyn Engine + 'static), watch: &Watch) -> Result<Vec<Numbers>, Error> {
        fn first<T: Number>(
            engine: &(dyn Engine + 'static),
            all: &Array<T>,
            len: usize,
            watch: &Watch,
        ) -> Result<Numbers, Error> {
            let mut some: Array<T> = engine.arrays::<T>().array(len)?;
            engine.pick(all, &Places::run(0, len), Target::Array(&mut some), watch)?;
            Ok(T::numbers(Arc::new(some)))
        }
        let (count, is_full) = (self.count, self.count == self.room);
        let arrays = self.arrays.into_iter().map(|(all, len)| match &all {
            _ if is_full => Ok(all),
            _ if count * len == 0 => room(engine, all.is_single(), 0),
            Numbers::Double(all) => first(engine, all, count * len, watch),
            Numbers::Single(all) => first(engine, all, count * len, watch),
        });
        arrays.collect()
    }
}

/// Allocates room for `count` arrays of `len` elements, one after the other.
fn room_for(engine: &(dyn Engine + 'static), single: bool, len: usize, count: usize) -> Result<Numbers, Error> {
    let too_large = || Error::OutOfMemory("What is collected has more elements than can be counted.".into());
    room(engine, single, len.checked_mul(count).ok_or_else(too_large)?)
}

/// Writes an array, `len` elements, to another one from a place on.
fn put(
    engine: &(dyn Engine + 'static),
    from: &Numbers,
    (start, len): (usize, usize),
    to: &mut Numbers,
    watch: &Watch,
) -> Result<(), Error> {
    let places = Places::run(start, len);
    match from {
        _ if len == 0 => Ok(()),
        Numbers::Double(from) => engine.put(Source::Array(from), &places, alone::<f64>(to)?, watch),
        Numbers::Single(from) => engine.put(Source::Array(from), &places, alone::<f32>(to)?, watch),
    }
}
