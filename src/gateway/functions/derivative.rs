//! `derivative = DerivativeConstantMemory_CUDA (f, h, Name, Value, ...)`

use super::distributed::{self, Distribution, Joint};
use super::sweeps::{self, Sweeps};
use super::windows;
use crate::gateway::arrays::{self, Number};
use crate::gateway::engine::Work;
use crate::gateway::engine::inputs::{self, AnyInput, Input, Part};
use crate::gateway::options::{self, Names, Selection};
use crate::gateway::{check_outputs, too_few_inputs};
use crate::mex::{Argument, Call, Error, Function, Numeric, Reply};
use crate::ranks::{self, Along, Whole};
use crate::stencil::{CoefficientSource, Compute, DERIVATIVE_RADIUS, Derivative, Ends, Lines, Shape, Window};

pub(super) const FUNCTION: Function = Function { name: "DerivativeConstantMemory_CUDA", call };

const OPTIONS: Names = Names(&[&["Backend", "Device", "Coefficients", "Boundary", "Dim"], &["Distributed"]]);

const SOURCES: [(&str, CoefficientSource); 2] =
    [("constant", CoefficientSource::Constant), ("readonly", CoefficientSource::ReadOnly)];

/// Checks in the stencil's order, with `spacing` in place of the kernel's checks.
fn call(call: &Call) -> Result<Reply<'_>, Error> {
    distributed::joined((FUNCTION.name, "f"), call, (&OPTIONS, 1), of_part)
}

/// Returns the reply for a part of f.
fn of_part<'a>(call: &'a Call, joint: Option<&Joint>, part: Part) -> Result<Reply<'a>, Error> {
    let [samples, rest @ ..] = &call.arguments[..] else {
        return Err(too_few_inputs(call, "f, then h, then pairs of an option's name and its value"));
    };
    // The spacing may be left out, also before options.
    let (spacing, pairs) = match rest {
        [spacing, pairs @ ..] if spacing.text().is_none() => (Some(spacing), pairs),
        pairs => (None, pairs),
    };
    options::check_pairs(pairs, call.arguments.len() - pairs.len() + 1)?;
    check_outputs(call)?;
    let (values, dims) = inputs::part_or_gpu("f", samples, part)?;
    let spacing = spacing.map_or(Ok(1.0), positive)?;
    match values {
        AnyInput::Double(_) => check_coefficients::<f64>(spacing)?,
        AnyInput::Single(_) => check_coefficients::<f32>(spacing)?,
    }
    let (mut selection, mut sweeps, mut source) =
        (Selection::default(), Sweeps::default(), CoefficientSource::Constant);
    let mut distribution = Distribution::default();
    for pair in options::pairs(pairs, &OPTIONS) {
        let (name, value) = pair?;
        if !selection.take(name, value)? && !sweeps.take(name, value)? && !distribution.take(name, value)? {
            source = options::choice(name, value, &SOURCES)?;
        }
    }
    let sweeps = sweeps.of_part(part);
    let values = match sweeps.step() {
        None => values,
        Some(_) if joint.is_some() || samples.is_complex() => {
            return Err(options::bad("What a step computes goes with real f, and not with 'Distributed'.".into()));
        }
        Some(number) => AnyInput::held(number.home, arrays::brought(samples, number.home)?),
    };
    if let Some(joint) = joint {
        let along = joint.along(distribution, &selection, &sweeps, false, values.is_on_gpu())?;
        let whole = (dims.into_owned(), along);
        return match values {
            AnyInput::Double(values) => of_all_ranks(joint, values, whole, (spacing, source), (&selection, &sweeps)),
            AnyInput::Single(values) => of_all_ranks(joint, values, whole, (spacing, source), (&selection, &sweeps)),
        };
    }
    match values {
        AnyInput::Double(values) => reply(&selection, &dims, values, spacing, source, &sweeps),
        AnyInput::Single(values) => reply(&selection, &dims, values, spacing, source, &sweeps),
    }
}

fn reply<'a, T: Number>(
    selection: &Selection,
    dims: &[usize],
    values: Input<'a, T>,
    spacing: f64,
    source: CoefficientSource,
    sweeps: &Sweeps,
) -> Result<Reply<'a>, Error> {
    let ends = sweeps.ends::<T>()?;
    let what = Derivative::new(sweeps.lines(dims)?, spacing, source).with_boundary(ends);
    let effort = sweeps.effort(values.len(), DERIVATIVE_RADIUS);
    let recorded = sweeps.recorded_of(1, 1)?.pop();
    values.reply(selection, dims, effort, Work::from(&what), move |engine, from, to, watch| match &recorded {
        None => engine.derivative(&what, from, to, watch),
        Some(recorded) => {
            let ghosts = recorded.ghosts([Ends::default(), ends, Ends::default()].into(), engine, watch)?;
            let window = Window::new(Shape::Same, what.lines().extents(), [1, 2 * DERIVATIVE_RADIUS + 1, 1]);
            windows::compute(engine, &window, &ghosts, (from, to), watch, |[rows, columns, pages], from, to| {
                let what = Derivative::new(Lines::strided(rows, columns, pages), spacing, source);
                engine.derivative(&what, from, to, watch)
            })
        }
    })
}

/// Replies for an array of which each rank passes a part.
fn of_all_ranks<'a, T: Number + Numeric>(
    joint: &Joint,
    values: Input<'a, T>,
    (dims, along): (Vec<usize>, Along),
    (spacing, source): (f64, CoefficientSource),
    (selection, sweeps): (&Selection, &Sweeps),
) -> Result<Reply<'a>, Error> {
    let (named, ends) = (sweeps.named_dim()?, sweeps.ends::<T>()?);
    let of_part = Derivative::new(sweeps.lines(&dims)?, spacing, source).with_boundary(ends);
    let effort = distributed::effort(sweeps.effort(values.len(), DERIVATIVE_RADIUS));
    let said = [
        ("The function", FUNCTION.name.into()),
        ("The class", if size_of::<T>() == 4 { "single" } else { "double" }.into()),
        ("h", options::number_text(spacing)),
        ("'Boundary'", sweeps.boundary_text()),
        ("'Dim'", named.map_or("not given".into(), |dim| (dim + 1).to_string())),
    ];
    let (joint, output) = (joint.clone(), dims.clone());
    values.reply(selection, &output, effort, Work::from(&of_part), move |engine, from, to, watch| {
        joint.run(watch, |call| {
            let plan = distributed::agree(call, (&dims, along), &said, &[], watch)?;
            let dim = named.unwrap_or_else(|| sweeps::default_dim(&plan.whole()));
            let what = Derivative::new(Lines::along(plan.dims(), dim), spacing, source).with_boundary(ends);
            ranks::run(call, engine, &Whole::derivative(&plan, dim, what), from, to, watch)
        })
    })
}

/// Checks that the coefficients, of about 1 / `spacing`, are within the range of the class.
///
/// # Errors
/// `spacing`.
fn check_coefficients<T: Number + Numeric>(spacing: f64) -> Result<(), Error> {
    let what = Derivative::<T>::new(Lines::along(&[], 0), spacing, CoefficientSource::Constant);
    if what.coefficients().iter().all(|coefficient| coefficient.to_f64().is_finite()) {
        return Ok(());
    }
    let text = format!("h is {}, and 1 / h is beyond the range of {}.", options::number_text(spacing), T::CLASS);
    Err(Error::new("spacing", text))
}

/// Reads the spacing: one positive finite number.
fn positive(array: &Argument) -> Result<f64, Error> {
    if !array.is_real_number() {
        return Err(inputs::wrong_type("h", array, "a real positive scalar", "double"));
    }
    let value = array.scalar();
    value.filter(|&value| value > 0.0 && value < f64::INFINITY).ok_or_else(|| {
        let got = value.map_or_else(|| array.to_string(), options::number_text);
        Error::new("spacing", format!("h is {got}; expected a real positive scalar, the distance between samples."))
    })
}
