//! The option `Distributed`: the arrays of all ranks that MPI started, one behind the other, are one array.
//!
//! A call with it is made by all ranks together, and ends in a result on all of them or in an error on all. So what goes
//! wrong here, from the first check on, is told to the others; and what a rank has to wait for is done on the thread of
//! a long run, which a user can end.

use std::sync::{Arc, Mutex, PoisonError};

use super::sweeps::Sweeps;
use crate::gateway::options::backend::Selection;
use crate::gateway::options::{self, Names};
use crate::mex::{Argument, Call, Class, Effort, Error, Reply};
use crate::ranks::{self, Along, Passed, Plan, World};
use crate::stencil;
use crate::watch::Watch;

/// The option's name.
const NAME: &str = "Distributed";

/// As much as makes every run a long one, wherever its arrays lie.
const INTERRUPTIBLE: u64 = u64::MAX;

/// What the option says, as far as a call has it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Distribution(Option<Along>);

impl Distribution {
    /// Takes the option, if it is this one; false for any other name. Its number is bounded, since all ranks list that
    /// many dimensions.
    ///
    /// # Errors
    /// `option`.
    pub(super) fn take(&mut self, name: &str, value: &Argument) -> Result<bool, Error> {
        if name != NAME {
            return Ok(false);
        }
        self.0 = match (value.class(), value.scalar()) {
            (Class::Logical, Some(0.0)) => None,
            (Class::Logical, Some(_)) => Some(Along::Last),
            (Class::Logical, None) => {
                return Err(options::bad(format!(
                    "Bad value for '{NAME}': got {value}, expected true, false or a dimension."
                )));
            }
            _ => Some(Along::Dim(options::integer_in(name, value, 1..=options::MAX_DIMS)? - 1)),
        };
        Ok(true)
    }
}

/// A call that all ranks make together, until it has ended.
#[derive(Clone)]
pub(super) struct Joint {
    call: Arc<Mutex<Option<ranks::Call>>>,
    function: &'static str,
}

/// Does `work`, which is a call; as one that all ranks make together, where one of its arguments from `first` on is the
/// name of the option.
///
/// # Errors
/// Those of `work`, which the other ranks hear of; `rank` where there are no ranks.
pub(super) fn joined<'a>(
    function: &'static str,
    call: &'a Call,
    (names, first): (&Names, usize),
    work: impl FnOnce(&'a Call, Option<&Joint>) -> Result<Reply<'a>, Error>,
) -> Result<Reply<'a>, Error> {
    if !is_asked_for(call.arguments.get(first..).unwrap_or_default(), names) {
        return work(call, None);
    }
    let joint = Joint { call: Arc::new(Mutex::new(Some(World::get()?.call()?))), function };
    work(call, Some(&joint)).inspect_err(|error| joint.fail(error))
}

/// Whether one of these arguments is the option's name, and the value behind the last that is does not say no. Arguments
/// that are wrong otherwise do not matter: the others wait for this rank, whatever is wrong with it.
fn is_asked_for(arguments: &[Argument], names: &Names) -> bool {
    let is_name = |text: &str| names.full_name(text).is_ok_and(|name| name == NAME);
    let says_no = |value: &Argument| value.class() == Class::Logical && value.scalar() == Some(0.0);
    let last = arguments.iter().rposition(|argument| argument.text().is_some_and(is_name));
    last.is_some_and(|last| !arguments.get(last + 1).is_some_and(says_no))
}

impl Joint {
    /// Tells the other ranks of an error, unless the call has ended.
    fn fail(&self, error: &Error) {
        let call = self.call.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(call) = call {
            let prefix = self.function.trim_end_matches("_CUDA");
            call.fail(&format!("{prefix}:{}: {}", error.kind, error.text));
        }
    }

    /// Does this rank's part of the call, and ends it: on all ranks, or with an error on all.
    ///
    /// # Errors
    /// Those of `work`; `rank` where another rank has raised an error or left.
    pub(super) fn run(
        &self,
        watch: &Watch,
        work: impl FnOnce(&ranks::Call) -> Result<(), stencil::Error>,
    ) -> Result<(), stencil::Error> {
        let call = self.call.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut call =
            call.ok_or_else(|| stencil::Error::Internal("A call with other ranks that has ended.".into()))?;
        let result = work(&call).and_then(|()| call.end(watch));
        if let Err(error) = &result {
            *self.call.lock().unwrap_or_else(PoisonError::into_inner) = Some(call);
            self.fail(&error.clone().into());
        }
        result
    }

    /// Checks that nothing else is asked for that does not go with it, and says along which dimension the parts lie.
    ///
    /// # Errors
    /// `option`.
    pub(super) fn along(
        &self,
        distribution: Distribution,
        selection: &Selection,
        sweeps: &Sweeps,
        several: bool,
        on_gpu: bool,
    ) -> Result<Along, Error> {
        let refused = |what: &str| {
            Err(options::bad(format!("'{NAME}' does not go with {what}: call the function without one of the two.")))
        };
        if several {
            return refused("lists of filters, 'Previous', 'Weight', 'Source' and 'Every'");
        }
        if on_gpu {
            return refused("a gpuArray, which only its own MATLAB knows (gather it, or pass a DeviceArray)");
        }
        sweeps.only_same(&format!("'{NAME}'"))?;
        selection.check_for_rank()?;
        distribution.0.ok_or_else(|| Error::internal("A call with other ranks that names no dimension."))
    }
}

/// What all ranks have to say alike, and how their parts make one array.
///
/// # Errors
/// [`stencil::Error::Rank`] where they do not.
pub(super) fn agree(
    call: &ranks::Call,
    (dims, along): (&[usize], Along),
    said: &[(&str, String)],
    filter: &[f64],
    watch: &Watch,
) -> Result<Plan, stencil::Error> {
    Plan::agree(call, &Passed { dims, along, said, filter }, watch)
}

/// What a run with other ranks takes: it is watched, however little it computes, since it waits for them.
pub(super) fn effort(effort: Effort) -> Effort {
    Effort { long: true, calls: INTERRUPTIBLE, ..effort }
}
