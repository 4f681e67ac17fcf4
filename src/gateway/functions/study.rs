//! `results = ConstantMemoryStudy_CUDA (study, Name, Value, ...)`

use crate::cuda::Cuda;
use crate::cuda::study::{
    Access, Angles, BLOCK_SIZES, Convolution, ELEMENTS, Measurement, Pattern, RADII, ReadOnly, Study, WARP,
};
use crate::gateway::engine::calls;
use crate::gateway::options::{self, Names};
use crate::gateway::{check_outputs, too_few_inputs};
use crate::mex::{Argument, Call, Error, Fields, Function, Output, Reply, Value};

pub(super) const FUNCTION: Function = Function { name: "ConstantMemoryStudy_CUDA", call };

/// Reads a study's options: its parameters, and the ordinal of the device.
type Read = fn(&[Argument]) -> Result<(Study, Option<usize>), Error>;

/// All studies, by the names in calls.
const STUDIES: [(&str, Read); 4] =
    [("access", access), ("readonly", readonly), ("angles", angles), ("convolution", convolution)];

/// Sides of an image, which has at most as many elements as the arrays of the other studies.
const SIDES: std::ops::RangeInclusive<usize> = 1..=ELEMENTS.end().isqrt();

/// Checks in the stencil's order, with `study` in place of the kernel's checks.
fn call(call: &Call) -> Result<Reply<'_>, Error> {
    let [study, pairs @ ..] = &call.arguments[..] else {
        return Err(too_few_inputs(call, "the name of a study, then pairs of an option's name and its value"));
    };
    options::check_pairs(pairs, 2)?;
    check_outputs(call)?;
    let (study, device) = find(study)?(pairs)?;
    let call = calls::begin();
    let measurements = call.work(|| study.run(&Cuda::open(device)?))?;
    Ok(Reply {
        warnings: Vec::new(),
        note: None,
        output: Output::Value(Value::Structs(measurements.iter().map(fields).collect())),
    })
}

fn find(study: &Argument) -> Result<Read, Error> {
    let found = study.text().and_then(|text| STUDIES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)));
    found.map(|&(_, read)| read).ok_or_else(|| {
        let got = study.text().map_or_else(|| study.to_string(), |text| format!("'{text}'"));
        let names = STUDIES.map(|(name, _)| format!("'{name}'")).join(", ");
        Error::new("study", format!("Unknown study: got {got}, expected one of {names}."))
    })
}

fn access(pairs: &[Argument]) -> Result<(Study, Option<usize>), Error> {
    const OPTIONS: Names = Names(&[&["Pattern", "BlockSize", "Sums", "Device"]]);
    let mut access = Access::default();
    let device = read(pairs, &OPTIONS, |name, value| {
        match name {
            "Pattern" => {
                access.patterns =
                    vec![options::choice(name, value, &Pattern::ALL.map(|pattern| (pattern.name(), pattern)))?]
            }
            "BlockSize" => access.block_size = block_size(name, value)?,
            _ => access.sums = vec![options::integer_in(name, value, ELEMENTS)?],
        }
        Ok(())
    })?;
    Ok((Study::Access(access), device))
}

fn readonly(pairs: &[Argument]) -> Result<(Study, Option<usize>), Error> {
    const OPTIONS: Names = Names(&[&["Points", "BlockSize", "Device"]]);
    let mut readonly = ReadOnly::default();
    let device = read(pairs, &OPTIONS, |name, value| {
        match name {
            "BlockSize" => readonly.block_sizes = vec![block_size(name, value)?],
            _ => readonly.points = options::integer_in(name, value, ELEMENTS)?,
        }
        Ok(())
    })?;
    Ok((Study::ReadOnly(readonly), device))
}

fn angles(pairs: &[Argument]) -> Result<(Study, Option<usize>), Error> {
    const OPTIONS: Names = Names(&[&["Threads", "Device"]]);
    let mut angles = Angles::default();
    let device = read(pairs, &OPTIONS, |name, value| {
        angles.threads = vec![options::integer_in(name, value, ELEMENTS)?];
        Ok(())
    })?;
    Ok((Study::Angles(angles), device))
}

fn convolution(pairs: &[Argument]) -> Result<(Study, Option<usize>), Error> {
    const OPTIONS: Names = Names(&[&["Size", "Radius", "Device"]]);
    let mut convolution = Convolution::default();
    let device = read(pairs, &OPTIONS, |name, value| {
        match name {
            "Size" => convolution.size = options::integer_in(name, value, SIDES)?,
            _ => convolution.radius = options::integer_in(name, value, RADII)?,
        }
        Ok(())
    })?;
    Ok((Study::Convolution(convolution), device))
}

/// Passes every option but the device to `take`. Returns the ordinal of the device.
fn read(
    pairs: &[Argument],
    names: &Names,
    mut take: impl FnMut(&str, &Argument) -> Result<(), Error>,
) -> Result<Option<usize>, Error> {
    let mut device = None;
    for pair in options::pairs(pairs, names) {
        match pair? {
            ("Device", value) => device = Some(options::positive_integer("Device", value)? - 1),
            (name, value) => take(name, value)?,
        }
    }
    Ok(device)
}

fn block_size(name: &str, value: &Argument) -> Result<usize, Error> {
    options::multiple_in(name, value, BLOCK_SIZES, WARP)
}

/// Returns the same fields for every study, so that results of several fit into one struct array.
fn fields(measurement: &Measurement) -> Fields {
    let count = |count: usize| Value::Double(count as f64);
    let [lower, median, upper] = measurement.quartiles();
    vec![
        (c"Study", measurement.study.into()),
        (c"Kernel", measurement.kernel.into()),
        (c"Pattern", measurement.pattern.into()),
        (c"BlockSize", count(measurement.block_size)),
        (c"Elements", count(measurement.elements)),
        (c"MedianMs", median.into()),
        (c"LowerQuartileMs", lower.into()),
        (c"UpperQuartileMs", upper.into()),
        (c"BatchMeanMs", measurement.batch_mean.into()),
        (c"GBPerSecond", measurement.gigabytes_per_second().into()),
        (c"OperationsPerByte", measurement.operations_per_byte.unwrap_or(f64::NAN).into()),
        (c"Samples", Value::Row(measurement.samples.clone())),
        (c"Checked", count(measurement.checked)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_struct_has_all_measurements() {
        let measurement = Measurement {
            study: "convolution",
            kernel: "tiled",
            pattern: "",
            block_size: 256,
            elements: 1_000_000,
            samples: vec![1.0, 3.0, 2.0, 4.0],
            batch_mean: 5.0,
            operations_per_byte: None,
            checked: 1_000_000,
        };
        let fields = fields(&measurement);
        let field = |name| &fields.iter().find(|(field, _)| field.to_str() == Ok(name)).unwrap().1;
        assert_eq!(
            (field("Study"), field("Kernel"), field("Pattern")),
            (&"convolution".into(), &"tiled".into(), &"".into())
        );
        assert_eq!(
            (field("LowerQuartileMs"), field("MedianMs"), field("UpperQuartileMs")),
            (&1.5.into(), &2.5.into(), &3.5.into())
        );
        assert_eq!((field("BatchMeanMs"), field("GBPerSecond")), (&5.0.into(), &3.2.into()));
        assert_eq!((field("Elements"), field("Checked")), (&1e6.into(), &1e6.into()));
        assert_eq!((field("BlockSize"), field("Samples")), (&256.0.into(), &Value::Row(vec![1.0, 3.0, 2.0, 4.0])));
        assert!(matches!(field("OperationsPerByte"), Value::Double(value) if value.is_nan()));
    }
}
