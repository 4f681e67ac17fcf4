//! Options: pairs of a name and a value behind the inputs.

pub(super) mod backend;
pub(super) mod settings;

pub(super) use backend::Selection;

use std::ops::RangeInclusive;

use crate::mex::{Argument, Error};
use crate::stencil::BOUNDARY_WORDS;

/// Highest dimension that an option may name where all up to it are listed.
pub(crate) const MAX_DIMS: usize = 64;

/// Names of a function's options, grouped by the version that added them, oldest first.
///
/// An abbreviation keeps its first meaning: names of later versions do not make it ambiguous.
pub(crate) struct Names(pub(crate) &'static [&'static [&'static str]]);

/// Checks that `arguments`, from input `position` on, are pairs whose names are text. It is ahead of any other check.
pub(crate) fn check_pairs(arguments: &[Argument], position: usize) -> Result<(), Error> {
    for (i, pair) in arguments.chunks(2).enumerate() {
        let position = 2 * i + position;
        if pair[0].text().is_none() {
            let text = format!(
                "Number of Inputs are Wrong: input {position} is {}, where the name of an option is expected.",
                pair[0]
            );
            return Err(Error::new("numberOfInputs", text));
        }
        if pair.len() == 1 {
            let word = pair[0].text().unwrap_or_default();
            let option = match word.to_ascii_lowercase().as_str() {
                boundary if BOUNDARY_WORDS.iter().any(|&(word, _)| word == boundary) => {
                    format!("; it is one, of 'Boundary', '{word}'")
                }
                "auto" | "cuda" | "cpu" | "fastest" => format!("; it is one, of 'Backend', '{word}'"),
                _ => String::new(),
            };
            let text = format!("Number of Inputs are Wrong: the option '{word}' has no value{option}.");
            return Err(Error::new("numberOfInputs", text));
        }
    }
    Ok(())
}

/// Returns the full name and the value of each pair.
pub(crate) fn pairs<'a>(
    arguments: &'a [Argument],
    names: &Names,
) -> impl Iterator<Item = Result<(&'static str, &'a Argument), Error>> {
    arguments.chunks_exact(2).map(|pair| Ok((names.full_name(pair[0].text().unwrap_or_default())?, &pair[1])))
}

impl Names {
    /// Returns true if a text abbreviates at least one name.
    pub(crate) fn is_name(&self, given: &str) -> bool {
        self.0.iter().copied().flatten().any(|name| is_start(given, name))
    }

    /// Returns the option that `given` names or abbreviates.
    pub(crate) fn full_name(&self, given: &str) -> Result<&'static str, Error> {
        let known = || self.0.concat().iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
        let starts = |name: &&'static str| is_start(given, name);
        let meant = |names: &&[&'static str]| names.iter().copied().filter(starts).collect::<Vec<_>>();
        let candidates = self.0.iter().map(meant).find(|meant| !meant.is_empty()).unwrap_or_default();
        match candidates[..] {
            [name] => Ok(name),
            [] => Err(bad(format!("Unknown option '{given}'; the options are {}.", known()))),
            _ => Err(bad(format!(
                "The option '{given}' is ambiguous: it may be '{}'; the options are {}.",
                candidates.join("' or '"),
                known()
            ))),
        }
    }
}

/// Returns true if `name` begins with `given`, in either case.
fn is_start(given: &str, name: &str) -> bool {
    name.get(..given.len()).is_some_and(|start| start.eq_ignore_ascii_case(given))
}

/// Returns the choice that `value` names, in either case.
pub(crate) fn choice<T: Copy>(option: &str, value: &Argument, choices: &[(&str, T)]) -> Result<T, Error> {
    let text = value.text().ok_or_else(|| bad_value(option, choices, &value.to_string()))?;
    choice_of_text(option, text, choices)
}

/// Does what [`choice`] does for a text that is no argument.
pub(crate) fn choice_of_text<T: Copy>(option: &str, text: &str, choices: &[(&str, T)]) -> Result<T, Error> {
    let found = choices.iter().find(|(word, _)| word.eq_ignore_ascii_case(text));
    found.map(|&(_, choice)| choice).ok_or_else(|| bad_value(option, choices, &format!("'{text}'")))
}

/// Reads true or false: a logical scalar, or 0 or 1 of any numeric class.
pub(crate) fn logical(option: &str, value: &Argument) -> Result<bool, Error> {
    let number = value.scalar().filter(|&number| number == 0.0 || number == 1.0);
    let wrong = || bad(format!("Bad value for '{option}': got {}, expected true or false.", value_text(value)));
    number.map(|number| number == 1.0).ok_or_else(wrong)
}

/// Reads a whole number from 1 up, of any numeric class.
pub(crate) fn positive_integer(option: &str, value: &Argument) -> Result<usize, Error> {
    whole_number(option, value, 1..=u32::MAX as usize, 1, "a whole number from 1 up")
}

/// Checks that a double is a whole number from 1 up.
pub(crate) fn positive_number(option: &str, number: f64) -> Result<usize, Error> {
    if number >= 1.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0 {
        return Ok(number as usize);
    }
    let got = number_text(number);
    Err(bad(format!("Bad value for '{option}': got {got}, expected a whole number from 1 up.")))
}

/// Returns true if one of the pairs gives this option.
pub(crate) fn gives(arguments: &[Argument], names: &Names, option: &str) -> bool {
    pairs(arguments, names).any(|pair| matches!(pair, Ok((name, _)) if name == option))
}

/// Reads a whole number in a range, of any numeric class.
pub(crate) fn integer_in(option: &str, value: &Argument, range: RangeInclusive<usize>) -> Result<usize, Error> {
    let expected = format!("a whole number from {} to {}", range.start(), range.end());
    whole_number(option, value, range, 1, &expected)
}

/// Reads a multiple of `step` in a range, of any numeric class.
pub(crate) fn multiple_in(
    option: &str,
    value: &Argument,
    range: RangeInclusive<usize>,
    step: usize,
) -> Result<usize, Error> {
    let expected = format!("a multiple of {step} from {} to {}", range.start(), range.end());
    whole_number(option, value, range, step, &expected)
}

fn whole_number(
    option: &str,
    value: &Argument,
    range: RangeInclusive<usize>,
    step: usize,
    expected: &str,
) -> Result<usize, Error> {
    // Doubles also hold negative numbers, fractions and infinities, which must be refused.
    let suits =
        |&number: &f64| number >= *range.start() as f64 && number <= *range.end() as f64 && number % step as f64 == 0.0;
    let wrong = || bad(format!("Bad value for '{option}': got {}, expected {expected}.", value_text(value)));
    value.scalar().filter(suits).map(|number| number as usize).ok_or_else(wrong)
}

/// Formats a scalar as a number; any other value by its size and class.
pub(crate) fn value_text(value: &Argument) -> String {
    value.scalar().map_or_else(|| value.to_string(), number_text)
}

/// Formats a number as a user would write it.
pub(crate) fn number_text(number: f64) -> String {
    match number {
        _ if number.is_nan() => "NaN".into(),
        _ if number.is_infinite() => if number > 0.0 { "Inf" } else { "-Inf" }.into(),
        _ if number != 0.0 && !(1e-5..1e15).contains(&number.abs()) => format!("{number:e}"),
        _ => number.to_string(),
    }
}

fn bad_value<T>(option: &str, choices: &[(&str, T)], got: &str) -> Error {
    bad(format!("Bad value for '{option}': got {got}, expected {}.", quoted(choices)))
}

/// Formats the words of choices as a user would write them.
pub(crate) fn quoted<T>(choices: &[(&str, T)]) -> String {
    let words: Vec<_> = choices.iter().map(|(word, _)| format!("'{word}'")).collect();
    words.join(" or ")
}

pub(crate) fn bad(text: String) -> Error {
    Error::new("option", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: Names = Names(&[
        &["Backend", "Device", "Boundary", "Progress"],
        &["Shape"],
        &["Previous", "Source", "Weight", "Every"],
    ]);

    #[test]
    fn numbers_are_formatted_as_they_are_written() {
        for (number, text) in [
            (1.5, "1.5"),
            (-3.0, "-3"),
            (0.0, "0"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Inf"),
            (1e300, "1e300"),
            (1e-9, "1e-9"),
        ] {
            assert_eq!(number_text(number), text);
        }
    }

    #[test]
    fn names_may_be_abbreviated_in_any_case_but_not_ambiguously() {
        for (given, name) in [
            ("Backend", "Backend"),
            ("BACK", "Backend"),
            ("ba", "Backend"),
            ("d", "Device"),
            ("device", "Device"),
            // Names of later versions do not change the meaning of these.
            ("p", "Progress"),
            ("PR", "Progress"),
            ("s", "Shape"),
            ("pre", "Previous"),
            ("so", "Source"),
            ("e", "Every"),
            ("w", "Weight"),
        ] {
            assert_eq!(NAMES.full_name(given), Ok(name));
        }
        for given in ["b", "", "x", "Backends", "dim", "i", "é", "Prev "] {
            assert_eq!(NAMES.full_name(given).unwrap_err().kind, "option", "{given}");
        }
        assert!(NAMES.full_name("B").unwrap_err().text.contains("'Backend' or 'Boundary'"));
    }

    #[test]
    fn choices_are_whole_words() {
        let choices = [("auto", 1), ("cuda", 2)];
        assert_eq!(choice_of_text("Backend", "CUDA", &choices), Ok(2));
        assert!(choice_of_text("Backend", "cud", &choices).unwrap_err().text.contains("got 'cud'"));
    }
}
