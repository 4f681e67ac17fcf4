//! Single convolutions over volumes, as walks: several times quicker than a thread an element, which the archive has.

use std::any::Any;
use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use super::several::{Steps, lock};
use super::{Attempts, LIMITS, Placed};
use crate::cuda::Element;
use crate::cuda::routes::array::is_foreign;
use crate::stencil::program::{Feed, Filtering, Kernel, Node, Operation, Program, Recurrence};
use crate::stencil::{Array, Compute, Convolution, Engine, Error};
use crate::watch::Watch;

/// Volumes of fewer elements take no longer than a launch.
const LARGE: usize = 1 << 15;

/// The most convolutions that something is known of.
const MOST: usize = 16;

/// The walks for a convolution.
type Walks<C> = Arc<Mutex<Steps<C>>>;

/// A convolution that there was a call of, on a device of this ordinal, and its walks, where there are any. They are looked
/// for when it comes again: a filter of other entries in each call costs next to nothing.
struct Known<C> {
    ordinal: usize,
    what: Box<dyn Any + Send>,
    walks: Option<Option<Walks<C>>>,
}

/// The convolutions that there were calls of, the latest last.
pub(in crate::cuda) struct Calls<C>(Mutex<Vec<Known<C>>>);

impl<C: Attempts + Engine + Copy> Calls<C> {
    pub(in crate::cuda) const fn new() -> Calls<C> {
        Calls(Mutex::new(Vec::new()))
    }

    /// Computes a convolution by a walk that is quicker than `archived`, which computes it, too. Returns false where there
    /// is none, or none yet: the first calls try them.
    ///
    /// # Errors
    /// The driver's.
    pub(in crate::cuda) fn convolution<T: Element>(
        &self,
        (engine, ordinal): (C, usize),
        what: &Convolution<T>,
        (from, to): (&Array<T>, &mut Array<T>),
        archived: &dyn Fn(&mut Array<T>) -> Result<(), Error>,
        watch: &Watch,
    ) -> Result<bool, Error>
    where
        C: Compute<T>,
    {
        let filter = what.filter();
        let is_walked = what.sweeps() == 1 && filter.size()[2] > 1 && filter.values().len() <= LIMITS.entries;
        let len = what.size().iter().product::<usize>();
        if !is_walked || len < LARGE || [from.len(), to.len()] != [len; 2] || is_foreign(from) || is_foreign(to) {
            return Ok(false);
        }
        let Some(walks) = self.walks((engine, ordinal), what)? else { return Ok(false) };
        let mut steps = lock(&walks);
        if steps.is_due() {
            let to = RefCell::new(&mut *to);
            let mark = watch.mark();
            steps.time_single(&|| archived(&mut to.borrow_mut()));
            watch.rewind(mark);
        }
        let (Some(from), Some(to)) = (Placed::of(from), Placed::of(to)) else { return Ok(false) };
        let took = steps.call((&[from], &[to]), watch)?;
        watch.count(if took { len } else { 0 });
        Ok(took)
    }

    /// The walks for a convolution that comes again.
    fn walks<T: Element>(
        &self,
        (engine, ordinal): (C, usize),
        what: &Convolution<T>,
    ) -> Result<Option<Walks<C>>, Error> {
        let mut all = lock(&self.0);
        let is_it = |known: &Known<C>| {
            known.ordinal == ordinal && known.what.downcast_ref().is_some_and(|known| is_same(known, what))
        };
        let Some(at) = all.iter().position(is_it) else {
            if all.len() == MOST {
                all.remove(0);
            }
            all.push(Known { ordinal, what: Box::new(what.clone()), walks: None });
            return Ok(None);
        };
        let mut known = all.remove(at);
        if known.walks.is_none() {
            let steps = match recurrence(what) {
                Some(recurrence) => Steps::new(engine, ordinal, &recurrence)?,
                None => None,
            };
            known.walks = Some(steps.map(|steps| Arc::new(Mutex::new(steps))));
        }
        let walks = known.walks.clone().flatten();
        all.push(known);
        Ok(walks)
    }
}

/// Returns true for the same convolution to the last bit: a -0 in it is no 0.
fn is_same<T: Element>(one: &Convolution<T>, other: &Convolution<T>) -> bool {
    let (filter, others) = (one.filter(), other.filter());
    let bits = |value: &T| value.to_f64().to_bits();
    (one.size(), filter.size()) == (other.size(), others.size())
        && filter.values().iter().map(bits).eq(others.values().iter().map(bits))
        && format!("{:?}", one.boundary()) == format!("{:?}", other.boundary())
}

/// A convolution as a step.
fn recurrence<T: Element>(what: &Convolution<T>) -> Option<Recurrence> {
    let what: &dyn Any = what;
    let filtering = match what.downcast_ref() {
        Some(double) => Filtering::Convolution(Convolution::clone(double)),
        None => Filtering::SingleConvolution(Convolution::clone(what.downcast_ref()?)),
    };
    let (single, len) = match &filtering {
        Filtering::Convolution(what) => (false, what.size().iter().product()),
        Filtering::SingleConvolution(what) => (true, what.size().iter().product()),
        _ => return None,
    };
    let mut program = Program::new();
    let from = program.input(single, len);
    let to = program.append(Node { operation: Operation::Filter(filtering, from), single, len });
    let (kernel, _) = Kernel::whole(&program, (&[to], &[]), LIMITS)?;
    Some(Recurrence { kernel, feeds: vec![Feed::Output(0)], numbers: 0, records: Vec::new() })
}
