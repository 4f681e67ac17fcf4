//! Halos on GPUs shared between ranks of one machine: a rank reads them in the other's memory, and only a handle
//! travels as a message.
//!
//! # Rationale
//! Through the host's memory a halo is copied four times, twice over the link and twice by MPI, and a volume's halos
//! take longer than its sweeps. GPUs of one machine can read each other's memory, even across processes. A CUDA-aware
//! MPI does the same internally; without one, it is done here.
//!
//! # Synchronisation
//! A rank copies its edges to an array of its own, waits for the copy, and sends the array's handle. The other one
//! opens the handle, once a call, and has its queue copy from it. Each edge alternates between two such arrays. Ranks
//! that send each other halos do so in each round, and before a rank sends it waits for its queue: so once the halos of
//! a round are received, the other rank has read those of the round before, and the array of that round may be filled
//! again. Arrays live until all ranks have closed them.
//!
//! A rank that raises an error drops its arrays while another one may still read. The driver keeps memory that a
//! process has open, so that rank reads stale values, and hears of the error with its next message.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;

use super::Others;
use crate::platform::watch::Watch;
use crate::stencil::{Array, Engine, Error, Handle, Number, Real};

/// Identifies a machine as long as it runs. Ranks that read the same bytes there can reach each other's memory.
const MACHINE: &str = "/proc/sys/kernel/random/boot_id";

/// Array that the other ranks of the machine try to open.
pub(super) struct Trial<T> {
    /// Message to the others: a handle, and the machine's identity.
    offer: Vec<u8>,
    _array: Array<T>,
}

impl<T: Real> Trial<T>
where
    T: Number,
{
    /// Exports an array; `None` if the driver gives no handle, or the machine cannot be identified.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], and other errors of an allocation.
    pub(super) fn new(engine: &(dyn Engine + 'static)) -> Result<Option<Trial<T>>, Error> {
        let mut array = engine.arrays::<T>().array_for_others(1)?;
        let (Some(Ok(handle)), Ok(machine)) = (array.export(), fs::read(MACHINE)) else {
            return Ok(None);
        };
        Ok(Some(Trial { offer: [&handle[..], &machine].concat(), _array: array }))
    }

    pub(super) fn offer(&self) -> &[u8] {
        &self.offer
    }
}

/// Finds the ranks that can read this one's halos in place, and the reverse, from the message of each rank's [`Trial`],
/// which may be empty. This rank exchanges halos with its `partners`. All ranks call this at the same point, and all
/// succeed or none.
///
/// # Errors
/// As [`Others::gather`].
pub(super) fn sharing<T: Real>(
    others: &dyn Others,
    engine: &(dyn Engine + 'static),
    offers: &[&[u8]],
    partners: &[usize],
    watch: &Watch,
) -> Result<Vec<bool>, Error>
where
    T: Number,
{
    let machine = |rank: usize| offers[rank].split_first_chunk::<{ size_of::<Handle>() }>();
    let on_one_machine =
        |a: usize, b: usize| matches!((machine(a), machine(b)), (Some((_, a)), Some((_, b))) if a == b) && a != b;
    let ranks = offers.len();
    let mut shares = vec![false; ranks];
    if !(0..ranks).any(|a| (a + 1..ranks).any(|b| on_one_machine(a, b))) {
        return Ok(shares);
    }
    let mut all_opened = true;
    for &rank in partners.iter().filter(|&&rank| on_one_machine(others.rank(), rank)) {
        if let Some((handle, _)) = machine(rank) {
            shares[rank] = true;
            all_opened &= engine.arrays::<T>().import(handle, 1).is_ok();
        }
    }
    let answers = others.gather(&[u8::from(all_opened)], watch)?;
    if answers.iter().any(|answer| answer != &[1]) {
        shares.fill(false);
    }
    Ok(shares)
}

/// Edges for other ranks to read.
pub(super) struct Outbox<T> {
    /// Arrays of each edge, for even and odd rounds.
    edges: Vec<[Option<Array<T>>; 2]>,
    round: usize,
}

impl<T> Default for Outbox<T> {
    fn default() -> Outbox<T> {
        Outbox { edges: Vec::new(), round: 0 }
    }
}

impl<T: Real> Outbox<T> {
    /// Begins the next round.
    pub(super) fn next_round(&mut self) {
        self.round += 1;
    }

    /// Array of `len` elements for an edge in this round, by its index.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn edge(
        &mut self,
        engine: &(dyn Engine + 'static),
        number: usize,
        len: usize,
    ) -> Result<&mut Array<T>, Error>
    where
        T: Number,
    {
        if self.edges.len() <= number {
            self.edges.resize_with(number + 1, Default::default);
        }
        let slot = &mut self.edges[number][self.round % 2];
        match slot {
            Some(array) if array.len() == len => {}
            // Halos are equally deep in all rounds.
            Some(_) => return Err(Error::Internal("An edge of another length than before.".into())),
            None => *slot = Some(engine.arrays::<T>().array_for_others(len)?),
        }
        slot.as_mut().ok_or_else(|| Error::Internal("An edge without its array.".into()))
    }
}

/// Arrays of other ranks, open until this is dropped.
pub(super) struct Inbox<T>(HashMap<Handle, Array<T>>);

impl<T> Default for Inbox<T> {
    fn default() -> Inbox<T> {
        Inbox(HashMap::new())
    }
}

impl<T: Real> Inbox<T> {
    /// Opens the array of `len` elements that a message names.
    ///
    /// # Errors
    /// The driver's; [`Error::Internal`] for a malformed message.
    pub(super) fn array(
        &mut self,
        engine: &(dyn Engine + 'static),
        message: &[u8],
        len: usize,
    ) -> Result<&Array<T>, Error>
    where
        T: Number,
    {
        let handle: Handle = message.try_into().map_err(|_| Error::Internal("A message without a handle.".into()))?;
        let array = match self.0.entry(handle) {
            Entry::Occupied(open) => open.into_mut(),
            Entry::Vacant(place) => place.insert(engine.arrays::<T>().import(&handle, len)?),
        };
        if array.len() == len { Ok(array) } else { Err(Error::Internal("Halos of another length than before.".into())) }
    }
}
