//! Options: pairs of a name and a value behind the inputs.

use crate::mex::{Argument, Error};

/// The names that there are or will be. A prefix must be unique among all of them, so that a script which abbreviates today still means the
/// same when the rest arrives.
const NAMES: [&str; 6] = ["Backend", "Device", "Boundary", "Dim", "Iterations", "Progress"];

/// Those that are not options yet.
const RESERVED: [&str; 4] = ["Boundary", "Dim", "Iterations", "Progress"];

/// Checks that `arguments` are pairs and their names are text; the first of the checks, which comes before any other is looked at.
pub(super) fn check_pairs(arguments: &[Argument]) -> Result<(), Error> {
    for (i, pair) in arguments.chunks(2).enumerate() {
        let position = 2 * i + 3;
        if pair[0].text().is_none() {
            let text = format!("Number of Inputs are Wrong: input {position} is {}, where the name of an option is expected.", pair[0]);
            return Err(Error::new("numberOfInputs", text));
        }
        if pair.len() == 1 {
            let text = format!("Number of Inputs are Wrong: the option {:?} has no value.", pair[0].text().unwrap_or_default());
            return Err(Error::new("numberOfInputs", text));
        }
    }
    Ok(())
}

/// The full names and the values of `arguments`, which are pairs.
pub(super) fn pairs(arguments: &[Argument]) -> impl Iterator<Item = Result<(&'static str, &Argument), Error>> {
    arguments.chunks_exact(2).map(|pair| Ok((full_name(pair[0].text().unwrap_or_default())?, &pair[1])))
}

/// The option that `given` names or abbreviates.
fn full_name(given: &str) -> Result<&'static str, Error> {
    let known = || NAMES.into_iter().filter(|name| !RESERVED.contains(name)).collect::<Vec<_>>().join(", ");
    let starts = |name: &&str| name.get(..given.len()).is_some_and(|start| start.eq_ignore_ascii_case(given));
    let candidates: Vec<_> = NAMES.into_iter().filter(starts).collect();
    match candidates[..] {
        [name] if !RESERVED.contains(&name) => Ok(name),
        [] | [_] => Err(bad(format!("Unknown option {given:?}; the options are {}.", known()))),
        _ => Err(bad(format!("The option {given:?} is ambiguous: it may be {}; the options are {}.", candidates.join(" or "), known()))),
    }
}

/// The choice of `choices` that `value` is, in whatever case.
pub(super) fn choice<T: Copy>(option: &str, value: &Argument, choices: &[(&str, T)]) -> Result<T, Error> {
    let text = value.text().ok_or_else(|| bad_value(option, choices, &value.to_string()))?;
    choice_of_text(option, text, choices)
}

/// As [`choice`], of a text from elsewhere.
pub(super) fn choice_of_text<T: Copy>(option: &str, text: &str, choices: &[(&str, T)]) -> Result<T, Error> {
    let found = choices.iter().find(|(word, _)| word.eq_ignore_ascii_case(text));
    found.map(|&(_, choice)| choice).ok_or_else(|| bad_value(option, choices, &format!("{text:?}")))
}

/// A whole number from 1 up, of any numeric class.
pub(super) fn positive_integer(option: &str, value: &Argument) -> Result<usize, Error> {
    let number = value.scalar().filter(|number| *number >= 1.0 && *number <= f64::from(u32::MAX) && number.fract() == 0.0);
    number.map(|number| number as usize).ok_or_else(|| {
        let got = value.scalar().map_or_else(|| value.to_string(), |number| number.to_string());
        bad(format!("Bad value for {option}: got {got}, expected a whole number from 1 up."))
    })
}

fn bad_value<T>(option: &str, choices: &[(&str, T)], got: &str) -> Error {
    let words: Vec<_> = choices.iter().map(|(word, _)| format!("{word:?}")).collect();
    bad(format!("Bad value for {option}: got {got}, expected {}.", words.join(" or ")))
}

fn bad(text: String) -> Error {
    Error::new("option", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_be_abbreviated_in_any_case_but_not_ambiguously() {
        for (given, name) in [("Backend", "Backend"), ("BACK", "Backend"), ("ba", "Backend"), ("de", "Device"), ("device", "Device")] {
            assert_eq!(full_name(given), Ok(name));
        }
        for given in ["b", "d", "", "x", "Backends", "Boundary", "bo", "dim", "i", "Progress", "é"] {
            assert_eq!(full_name(given).unwrap_err().kind, "option", "{given}");
        }
        assert!(full_name("B").unwrap_err().text.contains("Backend or Boundary"));
    }

    #[test]
    fn choices_are_whole_words() {
        let choices = [("auto", 1), ("cuda", 2)];
        assert_eq!(choice_of_text("Backend", "CUDA", &choices), Ok(2));
        assert!(choice_of_text("Backend", "cud", &choices).unwrap_err().text.contains("got \"cud\""));
    }
}
