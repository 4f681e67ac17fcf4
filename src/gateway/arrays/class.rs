//! Classes of stored arrays, of the results of operations, and their conversion to and from the host's.
//!
//! Engines compute in double and single. Logical values are ones and zeros of either; integers are whole numbers in
//! double, rounded half away from zero and saturated after each operation, as the host does.

use std::sync::Arc;

use super::run::{self, DynEngine, Number, array, filled};
use crate::gateway::engine::inputs;
use crate::gateway::store::{Numbers, StoredArray};
use crate::mex::{Argument, Class, Error, Numeric, Truth};
use crate::platform::memory::pool::Pooled;
use crate::platform::watch::Watch;
use crate::stencil::{
    self, Array, Binary, Compute, Expansion, Number as _, Operand, Places, Sample, Source, Target, Unary,
};
use crate::steps::Upload as Parts;

/// The classes and their names.
const CLASSES: [(&str, Class); 9] = [
    ("double", Class::Double),
    ("single", Class::Single),
    ("logical", Class::Logical),
    ("int8", Class::Integer { bytes: 1, signed: true }),
    ("uint8", Class::Integer { bytes: 1, signed: false }),
    ("int16", Class::Integer { bytes: 2, signed: true }),
    ("uint16", Class::Integer { bytes: 2, signed: false }),
    ("int32", Class::Integer { bytes: 4, signed: true }),
    ("uint32", Class::Integer { bytes: 4, signed: false }),
];

/// Returns the class that an argument names.
///
/// # Errors
/// `dataType`.
pub(super) fn named(argument: &Argument) -> Result<Class, Error> {
    let text = argument.text().unwrap_or_default();
    let found = CLASSES.iter().find(|(name, _)| *name == text).map(|&(_, class)| class);
    found.ok_or_else(|| {
        let names: Vec<_> = CLASSES.iter().map(|(name, _)| format!("'{name}'")).collect();
        let got = argument.text().map_or_else(|| argument.to_string(), |text| format!("'{text}'"));
        let text = format!("The class of a DeviceArray is one of {}, and this is {got}.", names.join(", "));
        Error::new("dataType", text)
    })
}

/// Returns true for the classes of integers, whose results have to be [rounded](round).
pub(super) fn is_integer(class: Class) -> bool {
    matches!(class, Class::Integer { .. })
}

/// Does `$then` with `$type`, the host's elements of a class that engines do not compute in.
macro_rules! in_class_of_host {
    ($class:expr, $type:ident => $then:expr) => {
        match $class {
            Class::Logical => {
                type $type = $crate::mex::Truth;
                $then
            }
            Class::Integer { bytes: 1, signed: true } => {
                type $type = i8;
                $then
            }
            Class::Integer { bytes: 1, signed: false } => {
                type $type = u8;
                $then
            }
            Class::Integer { bytes: 2, signed: true } => {
                type $type = i16;
                $then
            }
            Class::Integer { bytes: 2, signed: false } => {
                type $type = u16;
                $then
            }
            Class::Integer { bytes: 4, signed: true } => {
                type $type = i32;
                $then
            }
            Class::Integer { bytes: 4, signed: false } => {
                type $type = u32;
                $then
            }
            class => Err(Error::internal(&format!("An array of class {class} that is held."))),
        }
    };
}
pub(crate) use in_class_of_host;

/// True is 1; a result is true if it does not round to 0.
impl Sample<f64> for Truth {
    #[inline(always)]
    fn widened(self) -> f64 {
        f64::from(self.0 != 0)
    }

    #[inline(always)]
    fn narrowed(result: f64) -> Truth {
        Truth((result.abs() >= 0.5).into())
    }

    /// Every number but 0 is true; NaN is neither.
    fn cast(number: f64) -> Option<Truth> {
        (!number.is_nan()).then(|| Truth((number != 0.0).into()))
    }
}

/// Returns the smallest and the largest number of a class of integers.
fn limits(class: Class) -> [f64; 2] {
    let Class::Integer { bytes, signed } = class else { return [f64::NEG_INFINITY, f64::INFINITY] };
    let all = 2_f64.powi(8 * i32::from(bytes));
    if signed { [-all / 2.0, all / 2.0 - 1.0] } else { [0.0, all - 1.0] }
}

/// Converts `value` to this class.
pub(super) fn cast(value: f64, class: Class) -> f64 {
    match class {
        Class::Single => f64::from(value as f32),
        Class::Logical => f64::from(value != 0.0),
        Class::Integer { .. } if value.is_nan() => 0.0,
        Class::Integer { .. } => {
            let [least, most] = limits(class);
            // Adds 0 to turn -0 into 0.
            value.round().clamp(least, most) + 0.0
        }
        _ => value,
    }
}

/// Returns the class of arithmetic on two operands: integers win, then single; logical values count as double.
///
/// # Errors
/// `dataType` for two classes of integers.
pub(super) fn of_arithmetic(name: &str, classes: [Class; 2]) -> Result<Class, Error> {
    match classes {
        [a, b] if is_integer(a) && is_integer(b) && a != b => Err(Error::new(
            "dataType",
            format!(
                "binary operator '{name}' not implemented for '{a} matrix' by '{b} matrix' operations: convert one of \
                 the two first."
            ),
        )),
        [integer, _] | [_, integer] if is_integer(integer) => Ok(integer),
        [Class::Single, _] | [_, Class::Single] => Ok(Class::Single),
        _ => Ok(Class::Double),
    }
}

/// Returns the class of joined arrays: that of the first integers, else single if one is; logical if all are.
pub(super) fn of_joined(classes: &[Class]) -> Class {
    let integer = classes.iter().copied().find(|&class| is_integer(class));
    integer.unwrap_or_else(|| match classes {
        _ if classes.contains(&Class::Single) => Class::Single,
        [first, rest @ ..] if *first == Class::Logical && rest.iter().all(|class| class == first) => Class::Logical,
        _ => Class::Double,
    })
}

/// Pairs the elements of two arrays of one length.
pub(super) fn plain(len: usize) -> Result<Expansion, stencil::Error> {
    Expansion::new([&[len], &[len]]).ok_or_else(|| stencil::Error::Internal("Arrays of one length expand.".into()))
}

/// Writes `from` to `to`, rounded half away from zero and saturated, with 0 for NaN; as logical values, 1 or 0.
pub(crate) fn round<T: Number>(
    engine: &DynEngine,
    class: Class,
    from: &Array<T>,
    to: &mut Array<T>,
    watch: &Watch,
) -> Result<(), stencil::Error> {
    let [low, high] = limits(class).map(|limit| limit as i64);
    if class != Class::Logical {
        return engine.unary(Unary::Saturate { low, high }, from, to, watch);
    }
    let mut magnitudes = array(engine, from.len())?;
    engine.unary(Unary::Abs, from, &mut magnitudes, watch)?;
    let operands = [Operand::Array(&magnitudes), Operand::Scalar(T::from_f64(0.5))];
    engine.binary(Binary::GreaterEqual, operands, &plain(from.len())?, to, watch)
}

/// Number of elements that the host converts at a time.
const PIECE: usize = 1 << 18;

/// Uploads the host's logical values or integers.
pub(super) fn upload<S: Sample<f64>>(
    engine: &DynEngine,
    samples: &[S],
    watch: &Watch,
) -> Result<Array<f64>, stencil::Error> {
    let mut held = array::<f64>(engine, samples.len())?;
    let mut numbers = Pooled::<f64>::new(PIECE.min(samples.len()), "numbers in double")?;
    for (i, samples) in samples.chunks(PIECE).enumerate() {
        let numbers = &mut numbers[..samples.len()];
        numbers.iter_mut().zip(samples).for_each(|(number, sample)| *number = sample.widened());
        engine.put(Source::Host(numbers), &Places::run(i * PIECE, samples.len()), &mut held, watch)?;
    }
    Ok(held)
}

/// Downloads to the host's logical values or integers.
pub(super) fn download<T: Number, S: Sample<f64>>(
    engine: &DynEngine,
    held: &Array<T>,
    samples: &mut [S],
    watch: &Watch,
) -> Result<(), stencil::Error> {
    let mut numbers = Pooled::<T>::new(PIECE.min(samples.len()), "numbers of the engine's")?;
    for (i, samples) in samples.chunks_mut(PIECE).enumerate() {
        let numbers = &mut numbers[..samples.len()];
        engine.pick(held, &Places::run(i * PIECE, samples.len()), Target::Host(numbers), watch)?;
        samples.iter_mut().zip(&*numbers).for_each(|(sample, number)| *sample = S::narrowed(number.to_f64()));
    }
    Ok(())
}

/// Returns the class of a host's array, and a closure that uploads it.
pub(super) fn held_of_host<'a>(name: &str, argument: &'a Argument) -> Result<(Class, Upload<'a>), Error> {
    let (class, upload) = parts_of_host(name, argument)?;
    let all = 0..argument.len();
    Ok((class, Box::new(move |engine, watch| upload(engine, all, watch))))
}

/// Does what [`held_of_host`] does for a range of elements, as often as needed.
pub(super) fn parts_of_host<'a>(name: &str, argument: &'a Argument) -> Result<(Class, Box<Parts<'a>>), Error> {
    fn of<'a, S: Sample<f64> + Numeric>(argument: &'a Argument) -> Result<Box<Parts<'a>>, Error> {
        let samples = argument.elements::<S>();
        let samples = samples.ok_or_else(|| Error::internal("An array of another class than it says."))?;
        Ok(Box::new(move |engine, part, watch| Ok(upload(engine, &samples[part], watch)?.into())))
    }
    let plain = !argument.is_complex() && !argument.is_sparse();
    match argument.class() {
        Class::Double | Class::Single if plain => {
            let reals = inputs::reals(name, argument)?;
            let upload: Box<Parts> = Box::new(move |engine, part, watch| match reals {
                inputs::Reals::Double(samples) => Ok(run::upload(engine, &samples[part], watch)?.into()),
                inputs::Reals::Single(samples) => Ok(run::upload(engine, &samples[part], watch)?.into()),
            });
            Ok((argument.class(), upload))
        }
        class @ (Class::Logical | Class::Integer { bytes: 1 | 2 | 4, .. }) if plain => {
            in_class_of_host!(class, S => Ok((class, of::<S>(argument)?)))
        }
        _ => Err(inputs::wrong_class(name, argument)),
    }
}

/// Makes an array that the engine holds.
pub(super) type Upload<'a> = Box<dyn FnOnce(&DynEngine, &Watch) -> Result<Numbers, stencil::Error> + Send + 'a>;

/// Makes an array of one value of this class.
pub(super) fn of_value(
    engine: &DynEngine,
    (value, class): (f64, Class),
    len: usize,
    watch: &Watch,
) -> Result<Numbers, stencil::Error> {
    let value = cast(value, class);
    match class {
        Class::Single => Ok(filled(engine, len, value as f32, watch)?.into()),
        _ => Ok(filled(engine, len, value, watch)?.into()),
    }
}

/// Converts numbers of class `from` to class `to` and the type that engines compute it in; truths keep their type.
pub(super) fn converted(
    engine: &DynEngine,
    (numbers, from): (Numbers, Class),
    to: Class,
    watch: &Watch,
) -> Result<Numbers, stencil::Error> {
    fn truths<T: Number>(engine: &DynEngine, from: &Array<T>, watch: &Watch) -> Result<Numbers, stencil::Error> {
        let mut truths = array::<T>(engine, from.len())?;
        let operands = [Operand::Array(from), Operand::Scalar(T::default())];
        let plain = plain(from.len())?;
        engine.binary(Binary::NotEqual, operands, &plain, &mut truths, watch)?;
        Ok(T::numbers(Arc::new(truths)))
    }
    match (&numbers, to) {
        _ if from == to => Ok(numbers),
        (Numbers::Double(numbers), Class::Logical) => truths(engine, numbers, watch),
        (Numbers::Single(numbers), Class::Logical) => truths(engine, numbers, watch),
        (_, Class::Single) => Ok(f32::numbers(f32::of(&numbers, engine, watch)?)),
        (_, Class::Integer { .. }) => {
            let exact = f64::of(&numbers, engine, watch)?;
            let mut rounded = array::<f64>(engine, exact.len())?;
            round(engine, to, &exact, &mut rounded, watch)?;
            Ok(rounded.into())
        }
        _ => Ok(f64::numbers(f64::of(&numbers, engine, watch)?)),
    }
}

/// Checks that numbers can become logical values.
///
/// # Errors
/// `dataType` for a NaN; the engine's errors.
pub(super) fn check_truths(argument: &Argument) -> Result<(), Error> {
    if let Some(held) = StoredArray::of(argument)? {
        return check_truths_of(&held);
    }
    let of_doubles = argument.doubles().is_some_and(|numbers| numbers.iter().any(|number| number.is_nan()));
    let of_singles = argument.singles().is_some_and(|numbers| numbers.iter().any(|number| number.is_nan()));
    if of_doubles || of_singles { Err(nan_is_no_truth()) } else { Ok(()) }
}

/// Does what [`check_truths`] does for a stored array.
pub(super) fn check_truths_of(held: &StoredArray) -> Result<(), Error> {
    fn nans<T: Number>(engine: &DynEngine, numbers: &Array<T>) -> Result<bool, stencil::Error> {
        let mut found = [T::default()];
        let size = [1, numbers.len(), 1];
        // NaN alone differs from itself.
        let op = stencil::Reduction::Differ;
        engine.reduce(op, numbers, Some(numbers), size, Target::Host(&mut found), &Watch::new())?;
        Ok(found[0] != T::default())
    }
    // In a step under recording the values are not known: there NaN is true.
    if !matches!(held.class, Class::Double | Class::Single) || held.len() == 0 || held.is_computed() {
        return Ok(());
    }
    let engine = held.home.engine()?;
    let found = match &held.numbers {
        Numbers::Double(numbers) => nans(&*engine, numbers)?,
        Numbers::Single(numbers) => nans(&*engine, numbers)?,
    };
    if found { Err(nan_is_no_truth()) } else { Ok(()) }
}

pub(super) fn nan_is_no_truth() -> Error {
    Error::new("dataType", "NaN cannot be converted to a logical value: compare first, such as u > 0 or ~isnan (u).")
}

#[cfg(test)]
mod tests {
    use super::*;

    const INT8: Class = Class::Integer { bytes: 1, signed: true };
    const UINT16: Class = Class::Integer { bytes: 2, signed: false };

    #[test]
    fn truth_values_are_rounded_first() {
        for (result, truth) in
            [(0.0, 0), (0.49, 0), (-0.49, 0), (0.5, 1), (-3.0, 1), (1e300, 1), (f64::NAN, 0), (f64::INFINITY, 1)]
        {
            assert_eq!(Truth::narrowed(result), Truth(truth), "{result}");
        }
        assert_eq!((Truth(0).widened(), Truth(7).widened()), (0.0, 1.0));
    }

    #[test]
    fn integers_win_then_single() {
        use Class::{Double, Logical, Single};
        for (a, b, both) in [
            (Double, Single, Single),
            (Logical, Logical, Double),
            (Logical, Single, Single),
            (INT8, Single, INT8),
            (Logical, UINT16, UINT16),
        ] {
            assert_eq!(of_arithmetic("+", [a, b]), Ok(both));
            assert_eq!(of_arithmetic("+", [b, a]), Ok(both));
        }
        let error = of_arithmetic("+", [INT8, UINT16]).unwrap_err();
        assert!(error.kind == "dataType" && error.text.contains("'int8 matrix' by 'uint16 matrix'"), "{error:?}");
        for (classes, joined) in [
            (&[Logical, Logical][..], Logical),
            (&[Logical, Double], Double),
            (&[Double, Single, Logical], Single),
            (&[Single, UINT16, INT8], UINT16),
        ] {
            assert_eq!(of_joined(classes), joined);
        }
    }

    #[test]
    fn numbers_are_cast_as_the_host_casts_them() {
        for (value, class, number) in [
            (2.5, INT8, 3.0),
            (-2.5, INT8, -3.0),
            (200.0, INT8, 127.0),
            (-200.0, UINT16, 0.0),
            (f64::NAN, INT8, 0.0),
            (f64::INFINITY, UINT16, 65535.0),
            (-3.0, Class::Logical, 1.0),
            (0.1, Class::Single, f64::from(0.1_f32)),
            (0.1, Class::Double, 0.1),
        ] {
            assert_eq!(cast(value, class), number, "{value} in {class}");
        }
    }

    #[test]
    fn an_engine_rounds_as_a_cast_does() {
        let engine: &DynEngine = &crate::cpu::Cpu::default();
        let mut values = vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e300, -1e300, 0.49999999999999994];
        values.extend((-600..600).map(|i| f64::from(i) * 0.25));
        values.extend([65534.5, 65535.4, 2147483646.5, -2147483648.5, 4294967294.5, 4294967295.5]);
        let watch = Watch::new();
        let from = run::upload(engine, &values, &watch).unwrap();
        for (name, class) in &CLASSES[3..] {
            let mut to = array::<f64>(engine, values.len()).unwrap();
            round(engine, *class, &from, &mut to, &watch).unwrap();
            let mut rounded = vec![0.0; values.len()];
            engine.arrays::<f64>().copy(Source::Array(&to), Target::Host(&mut rounded), &watch).unwrap();
            for (value, rounded) in values.iter().zip(rounded) {
                assert_eq!(rounded, cast(*value, *class), "{value} in {name}");
            }
        }
    }
}
