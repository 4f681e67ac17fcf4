//! The option `Distributed`: the arrays of all ranks that MPI started form one array.
//!
//! All ranks make such a call together, and it ends in a result on all or in an error on all. So every error, from the
//! first check on, is sent to the others; and a rank waits on the thread of a long run, which the user can end.

use std::sync::{Arc, Mutex, PoisonError};

use super::sweeps::Sweeps;
use crate::gateway::engine::inputs::{Part, part_by_part};
use crate::gateway::options::{self, Names, Selection};
use crate::mex::{Argument, Call, Class, Effort, Error, Reply};
use crate::platform::watch::Watch;
use crate::ranks::{self, Along, Passed, Plan, World};
use crate::stencil;

const NAME: &str = "Distributed";

/// Forces the interruptible path, wherever the arrays lie.
const INTERRUPTIBLE: u64 = u64::MAX;

/// The option of a call.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Distribution(Option<Along>);

impl Distribution {
    /// Reads the option; returns false for any other name. Its number is limited: ranks list all dimensions up to it.
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

/// Does the work of a call for each part of its first argument, whose name is `array`; together with all ranks if an
/// argument from `first` on is the option's name.
///
/// # Errors
/// Those of `of_part`, which are sent to the other ranks; `rank` if there are no ranks.
pub(super) fn joined<'a>(
    (function, array): (&'static str, &str),
    call: &'a Call,
    (names, first): (&Names, usize),
    of_part: impl Fn(&'a Call, Option<&Joint>, Part) -> Result<Reply<'a>, Error>,
) -> Result<Reply<'a>, Error> {
    let work = |joint: Option<&Joint>| match call.arguments.first() {
        Some(samples) => part_by_part((array, samples), joint.is_some(), |part| of_part(call, joint, part)),
        None => of_part(call, joint, Part::Real),
    };
    if !is_asked_for(call.arguments.get(first..).unwrap_or_default(), names) {
        return work(None);
    }
    let joint = Joint { call: Arc::new(Mutex::new(Some(World::get()?.call()?))), function };
    work(Some(&joint)).inspect_err(|error| joint.fail(error))
}

/// Returns true if one of these arguments is the option's name, and the last value of the option is not false. Other
/// arguments may be wrong: the other ranks wait for this one in any case.
fn is_asked_for(arguments: &[Argument], names: &Names) -> bool {
    let is_name = |text: &str| names.full_name(text).is_ok_and(|name| name == NAME);
    let says_no = |value: &Argument| value.class() == Class::Logical && value.scalar() == Some(0.0);
    let last = arguments.iter().rposition(|argument| argument.text().is_some_and(is_name));
    last.is_some_and(|last| !arguments.get(last + 1).is_some_and(says_no))
}

impl Joint {
    /// Sends an error to the other ranks, unless the call has ended.
    fn fail(&self, error: &Error) {
        let call = self.call.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(call) = call {
            let prefix = self.function.trim_end_matches("_CUDA");
            call.fail(&format!("{prefix}:{}: {}", error.kind, error.text));
        }
    }

    /// Does this rank's part of the call and ends it: on all ranks, or with an error on all.
    ///
    /// # Errors
    /// Those of `work`; `rank` if another rank has raised an error or left.
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

    /// Checks that the other options go with this one, and returns the dimension that ranks split.
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

/// Compares the arguments of all ranks, and plans how their parts form one array.
///
/// # Errors
/// [`stencil::Error::Rank`] if they differ.
pub(super) fn agree(
    call: &ranks::Call,
    (dims, along): (&[usize], Along),
    said: &[(&str, String)],
    filter: &[f64],
    watch: &Watch,
) -> Result<Plan, stencil::Error> {
    Plan::agree(call, &Passed { dims, along, said, filter }, watch)
}

/// Returns the effort of a run with other ranks: it is watched even if it computes little, since it waits for them.
pub(super) fn effort(effort: Effort) -> Effort {
    Effort { long: true, calls: INTERRUPTIBLE, ..effort }
}
