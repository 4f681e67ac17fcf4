//! The options of a stencil's or a convolution's call behind its two inputs: words, as in imfilter, then options.

use super::distributed::Distribution;
use super::levels::Levels;
use super::sweeps::{self, Sweeps};
use crate::gateway::arrays;
use crate::gateway::engine::inputs::{AnyInput, Part};
use crate::gateway::options::{self, Names, Selection};
use crate::mex::{Argument, Error};

/// A word directly behind the filter, without an option's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Boundary,
    Shape,
    /// True if the filter is turned round.
    Flip(bool),
}

/// Words for a filter as it is, and turned round.
const FLIPS: [(&str, bool); 2] = [("corr", false), ("conv", true)];

/// Number of wrong, missing or additional letters in a word that is still recognised for advice.
const MAX_TYPOS: usize = 2;

impl Word {
    /// Reads a text; `None` for other texts.
    fn of_text(text: &str) -> Option<Word> {
        let flip = FLIPS.iter().find(|(word, _)| word.eq_ignore_ascii_case(text));
        match flip {
            Some(&(_, flip)) => Some(Word::Flip(flip)),
            None if sweeps::is_boundary(text) => Some(Word::Boundary),
            None if sweeps::is_shape(text) => Some(Word::Shape),
            None => None,
        }
    }

    /// Reads a word or a number.
    fn of(argument: &Argument) -> Option<Word> {
        match argument.text() {
            Some(text) => Word::of_text(text),
            None => sweeps::real_scalar(argument).map(|_| Word::Boundary),
        }
    }

    /// Returns the option of the same meaning, or the words themselves.
    fn name(self) -> &'static str {
        match self {
            Word::Boundary => "Boundary",
            Word::Shape => "Shape",
            Word::Flip(_) => "corr' or 'conv",
        }
    }
}

/// Splits `rest`, which begins at input `position`, into words and pairs of an option's name and its value. With
/// `with_number`, one number among the words is a boundary. This is the first check, ahead of those of any input.
///
/// # Errors
/// `option` for a single text that is no word; `numberOfInputs` for any other value that is not in a pair.
pub(super) fn split<'a>(
    rest: &'a [Argument],
    position: usize,
    names: &Names,
    with_number: bool,
) -> Result<(&'a [Argument], &'a [Argument]), Error> {
    // A second boundary may not be a number.
    let mut may_be_number = with_number;
    let is_word = |argument: &&Argument| match Word::of(argument) {
        Some(Word::Boundary) => std::mem::replace(&mut may_be_number, false) || argument.text().is_some(),
        word => word.is_some(),
    };
    let (words, pairs) = rest.split_at(rest.iter().take_while(is_word).count());
    let is_name = |argument: &Argument| argument.text().is_some_and(|text| names.is_name(text));
    if pairs.len() % 2 == 1 {
        for pair in pairs.chunks(2) {
            if let (Some(text), false) = (pair[0].text(), is_name(&pair[0]))
                && pair.get(1).is_none_or(is_name)
            {
                return Err(no_word(text));
            }
        }
    }
    let wrong = |text: String| {
        // The value looks like a boundary, which needs its name here.
        let is_boundary = pairs.first().is_some_and(|value| value.is_cell() || value.is_real_number());
        format!("{text}{}", if is_boundary { " A boundary needs its name: 'Boundary', 0." } else { "" })
    };
    options::check_pairs(pairs, position + words.len()).map_err(|error| Error { text: wrong(error.text), ..error })?;
    Ok((words, pairs))
}

/// Returns the error of a text that is no word, or that follows an option.
fn no_word(text: &str) -> Error {
    if Word::of_text(text).is_some() {
        return options::bad(format!("'{text}' stands behind an option; expected it directly behind the filter."));
    }
    let words: Vec<&str> = sweeps::words().chain(FLIPS.map(|(word, _)| word)).collect();
    let quoted = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(", ");
    let given = text.to_ascii_lowercase();
    let typos = |word: &&&str| strsim::osa_distance(word, &given);
    let nearest = words
        .iter()
        .min_by_key(typos)
        .filter(|word| typos(word) <= MAX_TYPOS.min(given.chars().count().saturating_sub(1)));
    let advice = nearest.map(|word| format!(" Is '{word}' meant?"));
    options::bad(format!("Unknown word '{text}'; the words are {quoted}.{}", advice.unwrap_or_default()))
}

/// The options of a call.
#[derive(Default)]
pub(super) struct Request<'a> {
    pub(super) selection: Selection,
    pub(super) sweeps: Sweeps,
    pub(super) levels: Levels<'a>,
    pub(super) distribution: Distribution,
    /// True if the filter is turned round.
    pub(super) flip: bool,
}

impl<'a> Request<'a> {
    /// Reads words, then options, as [`split`] returns them.
    ///
    /// # Errors
    /// `option`, also for an option that is given by a word and once more.
    pub(super) fn new(words: &[Argument], pairs: &'a [Argument], names: &Names) -> Result<Request<'a>, Error> {
        let mut request = Request::default();
        let mut said = Vec::new();
        let once = |said: &[&str], name: &'static str| match said.contains(&name) {
            true => Err(options::bad(format!(
                "'{name}' is given twice: once by a word or a number behind the filter, and once more; expected once."
            ))),
            false => Ok(name),
        };
        for argument in words {
            let Some(word) = Word::of(argument) else { continue };
            said.push(once(&said, word.name())?);
            match word {
                Word::Flip(flip) => request.flip = flip,
                Word::Boundary | Word::Shape => drop(request.sweeps.take(word.name(), argument)?),
            }
        }
        for pair in options::pairs(pairs, names) {
            let (name, value) = pair?;
            once(&said, name)?;
            let _ = request.selection.take(name, value)?
                || request.sweeps.take(name, value)?
                || request.levels.take(name, value)?
                || request.distribution.take(name, value)?;
        }
        Ok(request)
    }

    /// Moves the samples into the step under recording that computes one of the options' values, if there is one.
    ///
    /// # Errors
    /// `option` if such values do not go with the array.
    pub(super) fn in_step(
        &self,
        (name, array): (&str, &'a Argument),
        samples: AnyInput<'a>,
        joint: bool,
    ) -> Result<AnyInput<'a>, Error> {
        let Some(home) = self.sweeps.step().map(|number| number.home).or(self.levels.step()?) else {
            return Ok(samples);
        };
        if joint || array.is_complex() {
            let text = format!("What a step computes goes with real {name}, and not with 'Distributed'.");
            return Err(options::bad(text));
        }
        let numbers = arrays::brought(array, home)?;
        Ok(AnyInput::held(home, numbers))
    }

    /// Returns the request for a part of a complex array.
    pub(super) fn of_part(self, part: Part) -> Request<'a> {
        Request { sweeps: self.sweeps.of_part(part), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_named_unless_it_is_far() {
        let advice = |text: &str| no_word(text).text.split_once("Is ").map(|(_, rest)| rest.to_owned());
        for (text, word) in [
            ("symetric", "symmetric"),
            ("Replicat", "replicate"),
            ("ciruclar", "circular"),
            ("vaild", "valid"),
            ("cnov", "conv"),
            ("miror", "mirror"),
        ] {
            assert_eq!(advice(text), Some(format!("'{word}' meant?")), "{text}");
        }
        for text in ["cpu", "x", "Colour", "\u{e9}"] {
            assert_eq!(advice(text), None, "{text}");
        }
        assert!(
            no_word("symetric")
                .text
                .contains("'replicate', 'symmetric', 'mirror', 'circular', 'same', 'full', 'valid'")
        );
        assert!(no_word("conv").text.contains("directly behind the filter"));
    }
}
