//! Agreement of the ranks before they compute: all make the same call, and their parts fit together.

use super::Others;
use crate::partition::{Around, Parts};
use crate::platform::watch::Watch;
use crate::stencil::{Error, Real};

/// Dimension along which the array is distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Along {
    /// A given dimension, counted from 0.
    Dim(usize),
    /// The last dimension of the part with most of them. A column has one dimension, a row has two.
    Last,
}

/// Arguments of a rank in a collective call.
#[derive(Debug, Clone)]
pub struct Passed<'a> {
    /// Dimensions of its part. A part of 0x0 is an empty part of any array.
    pub dims: &'a [usize],
    /// Dimension of the distribution.
    pub along: Along,
    /// Other values that all ranks must agree on, by name: the function, the class, the boundary, the sweeps.
    pub said: &'a [(&'a str, String)],
    /// Entries of the filters; those of class single have the same value in double.
    pub filter: &'a [f64],
}

/// The array made up of the parts of all ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    dim: usize,
    /// Dimensions of this rank's part.
    dims: Vec<usize>,
    parts: Parts,
}

impl Plan {
    /// Gathers the arguments of all ranks and compares them. Every rank gets the same answer.
    ///
    /// # Errors
    /// [`Error::Rank`], which names two ranks and the values in which they differ; the errors of [`Others::gather`].
    pub fn agree(others: &dyn Others, passed: &Passed, watch: &Watch) -> Result<Plan, Error> {
        let messages = others.gather(&Message::of(passed).encoded(), watch)?;
        let mut all = Vec::with_capacity(messages.len());
        for (rank, message) in messages.iter().enumerate() {
            all.push(Message::decoded(message).ok_or_else(|| {
                Error::Rank(format!("Rank {rank} runs another version of this library: it says nothing known."))
            })?);
        }
        for (rank, other) in all.iter().enumerate().skip(1) {
            all[0].check_same(rank, other)?;
        }
        let parts: Vec<&[usize]> = all.iter().map(|message| &message.dims[..]).collect();
        Plan::new(&parts, passed.along, others.rank())
    }

    /// Plans for one rank, from the dimensions of all parts.
    fn new(all: &[&[usize]], along: Along, rank: usize) -> Result<Plan, Error> {
        let dim = match along {
            Along::Dim(dim) => dim,
            Along::Last => all.iter().map(|dims| dimensions(dims)).max().unwrap_or(1) - 1,
        };
        let of = |dims: &[usize], d: usize| dims.get(d).copied().unwrap_or(1);
        // All parts are compared with the first one that is not 0x0.
        let first = all.iter().position(|dims| !is_nothing(dims)).unwrap_or(0);
        let count = all.iter().map(|dims| dims.len()).max().unwrap_or(0).max(dim + 1);
        for (other, dims) in all.iter().enumerate().skip(first + 1).filter(|(_, dims)| !is_nothing(dims)) {
            if (0..count).any(|d| d != dim && of(dims, d) != of(all[first], d)) {
                return Err(Error::Rank(format!(
                    "Rank {first} passes an array of {}, rank {other} one of {}: their parts lie one behind the other \
                     along dimension {}, and all other dimensions are the same on all ranks.",
                    text(all[first]),
                    text(dims),
                    dim + 1
                )));
            }
        }
        let length = |dims: &[usize]| if is_nothing(dims) { 0 } else { of(dims, dim) };
        let lengths: Vec<usize> = all.iter().map(|dims| length(dims)).collect();
        let parts = Parts::new(&lengths).ok_or_else(|| {
            Error::Rank(format!(
                "All parts together have more elements along dimension {} than can be counted.",
                dim + 1
            ))
        })?;
        let mut own: Vec<usize> = (0..all[first].len().max(dim + 1)).map(|d| of(all[first], d)).collect();
        own[dim] = lengths[rank];
        Ok(Plan { dim, dims: own, parts })
    }

    /// Dimension along which the array is distributed, counted from 0.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Dimensions of this rank's part, up to at least the distributed one; an empty part of 0x0 takes those of the
    /// others.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Dimensions of the whole array.
    pub fn whole(&self) -> Vec<usize> {
        let mut dims = self.dims.clone();
        dims[self.dim] = self.parts.length();
        dims
    }

    /// Layout around the dimension.
    pub(super) fn around(&self) -> Around {
        Around::new(&self.dims, self.dim)
    }

    /// Number of elements of each rank along the dimension.
    pub(super) fn parts(&self) -> &Parts {
        &self.parts
    }
}

/// True for an empty part of any array.
fn is_nothing(dims: &[usize]) -> bool {
    dims == [0, 0]
}

/// Number of dimensions of a part.
fn dimensions(dims: &[usize]) -> usize {
    if is_nothing(dims) { 1 } else { dims.iter().rposition(|&dim| dim != 1).map_or(1, |last| last + 1) }
}

fn text(dims: &[usize]) -> String {
    let dims: Vec<_> = dims.iter().map(ToString::to_string).collect();
    dims.join("x")
}

/// Arguments of a rank, as a message to the others.
#[derive(Debug, Clone, PartialEq)]
struct Message {
    said: Vec<(String, String)>,
    filter: Vec<f64>,
    dims: Vec<usize>,
}

impl Message {
    fn of(passed: &Passed) -> Message {
        let along = match passed.along {
            Along::Dim(dim) => (dim + 1).to_string(),
            Along::Last => "true".into(),
        };
        let mut said = vec![("The version of this library".into(), env!("CARGO_PKG_VERSION").into())];
        said.extend(passed.said.iter().map(|(name, text)| ((*name).into(), text.clone())));
        said.push(("The dimension of the parts".into(), along));
        Message { said, filter: passed.filter.to_vec(), dims: passed.dims.to_vec() }
    }

    /// Checks that rank 0, the sender of this message, and `rank` make the same call.
    fn check_same(&self, rank: usize, other: &Message) -> Result<(), Error> {
        let differ = |what: &str, [first, second]: [&str; 2]| {
            Err(Error::Rank(format!(
                "{what} is {first} on rank 0 and {second} on rank {rank}; ranks that make a call together pass the \
                 same."
            )))
        };
        fn find<'m>(message: &'m Message, name: &str) -> &'m str {
            message.said.iter().find(|(said, _)| said == name).map_or("not given", |(_, text)| text)
        }
        for (name, _) in self.said.iter().chain(&other.said) {
            let texts = [self, other].map(|message| find(message, name));
            if texts[0] != texts[1] {
                return differ(name, texts);
            }
        }
        if self.filter.len() != other.filter.len() {
            let counts = [self, other].map(|message| message.filter.len().to_string());
            return differ("The number of entries of the filter", counts.each_ref().map(|text| &text[..]));
        }
        let entries = self.filter.iter().zip(&other.filter);
        match entries.enumerate().find(|(_, (first, second))| !first.same(**second)) {
            Some((i, (first, second))) => {
                let texts = [first, second].map(ToString::to_string);
                differ(&format!("Entry {} of the filter", i + 1), texts.each_ref().map(|text| &text[..]))
            }
            None => Ok(()),
        }
    }

    fn encoded(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let number = |bytes: &mut Vec<u8>, number: usize| bytes.extend((number as u64).to_le_bytes());
        number(&mut bytes, self.said.len());
        for text in self.said.iter().flat_map(|(name, text)| [name, text]) {
            number(&mut bytes, text.len());
            bytes.extend(text.as_bytes());
        }
        number(&mut bytes, self.filter.len());
        bytes.extend(self.filter.iter().flat_map(|entry| entry.to_bits().to_le_bytes()));
        number(&mut bytes, self.dims.len());
        self.dims.iter().for_each(|&dim| number(&mut bytes, dim));
        bytes
    }

    /// Decodes a message; `None` if it is malformed.
    fn decoded(mut bytes: &[u8]) -> Option<Message> {
        fn text(bytes: &mut &[u8]) -> Option<String> {
            let len = number(bytes)?.try_into().ok()?;
            let (text, rest) = bytes.split_at_checked(len)?;
            *bytes = rest;
            String::from_utf8(text.to_vec()).ok()
        }
        fn number(bytes: &mut &[u8]) -> Option<u64> {
            let (number, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            Some(u64::from_le_bytes(*number))
        }
        let bytes = &mut bytes;
        let said = (0..number(bytes)?).map(|_| Some((text(bytes)?, text(bytes)?))).collect::<Option<_>>()?;
        let filter = (0..number(bytes)?).map(|_| number(bytes).map(f64::from_bits)).collect::<Option<_>>()?;
        let dims = (0..number(bytes)?).map(|_| number(bytes)?.try_into().ok()).collect::<Option<_>>()?;
        bytes.is_empty().then_some(Message { said, filter, dims })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::fake::World;

    /// Result of each rank for these arguments.
    fn agreed(passed: &[Passed]) -> Vec<Result<Plan, Error>> {
        World::new(passed.len(), false).run(|others| Plan::agree(others, &passed[others.rank()], &Watch::new()))
    }

    fn parts<'a>(dims: &[&'a [usize]], along: Along) -> Vec<Passed<'a>> {
        dims.iter().map(|dims| Passed { dims, along, said: &[], filter: &[] }).collect()
    }

    /// Plans of all ranks: the dimension, the dimensions of each part, and those of the whole.
    fn plans(dims: &[&[usize]], along: Along) -> (usize, Vec<Vec<usize>>, Vec<usize>) {
        let plans: Vec<_> = agreed(&parts(dims, along)).into_iter().map(Result::unwrap).collect();
        for (rank, plan) in plans.iter().enumerate() {
            assert_eq!((plan.dim(), plan.whole(), plan.parts()), (plans[0].dim(), plans[0].whole(), plans[0].parts()));
            assert_eq!(plan.parts().part(rank).len(), plan.dims()[plan.dim()]);
        }
        (plans[0].dim(), plans.iter().map(|plan| plan.dims().to_vec()).collect(), plans[0].whole())
    }

    /// Error that all ranks get.
    fn refused(passed: &[Passed]) -> String {
        let refused: Vec<_> = agreed(passed).into_iter().map(Result::unwrap_err).collect();
        assert!(refused.iter().all(|error| *error == refused[0]), "{refused:?}");
        match &refused[0] {
            Error::Rank(text) => text.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn parts_lie_one_behind_the_other() {
        let dims = |dims: &[&[usize]]| dims.iter().map(|dims| dims.to_vec()).collect::<Vec<_>>();
        for (along, given, dim, own, whole) in [
            (Along::Last, &[&[5, 1][..], &[3, 1], &[0, 1]][..], 0, &[&[5, 1][..], &[3, 1], &[0, 1]][..], &[8, 1][..]),
            (Along::Last, &[&[1, 5], &[1, 1], &[1, 0]], 1, &[&[1, 5], &[1, 1], &[1, 0]], &[1, 6]),
            (Along::Last, &[&[4, 5], &[4, 1]], 1, &[&[4, 5], &[4, 1]], &[4, 6]),
            (Along::Last, &[&[4, 5], &[4, 5, 2]], 2, &[&[4, 5, 1], &[4, 5, 2]], &[4, 5, 3]),
            (Along::Last, &[&[0, 0], &[4, 5], &[0, 0]], 1, &[&[4, 0], &[4, 5], &[4, 0]], &[4, 5]),
            (Along::Last, &[&[1, 1], &[1, 1]], 0, &[&[1, 1], &[1, 1]], &[2, 1]),
            (Along::Last, &[&[0, 0], &[0, 0]], 0, &[&[0, 0], &[0, 0]], &[0, 0]),
            (Along::Dim(0), &[&[4, 5], &[7, 5]], 0, &[&[4, 5], &[7, 5]], &[11, 5]),
            (Along::Dim(1), &[&[5, 1], &[5, 1]], 1, &[&[5, 1], &[5, 1]], &[5, 2]),
            (Along::Dim(2), &[&[0, 0], &[4, 5, 2]], 2, &[&[4, 5, 0], &[4, 5, 2]], &[4, 5, 2]),
            (Along::Dim(3), &[&[4, 5], &[4, 5, 1, 2]], 3, &[&[4, 5, 1, 1], &[4, 5, 1, 2]], &[4, 5, 1, 3]),
        ] {
            let (found, parts, found_whole) = plans(given, along);
            assert_eq!((found, parts, &found_whole[..]), (dim, dims(own), whole), "{given:?} {along:?}");
        }
    }

    #[test]
    fn parts_that_do_not_go_together_are_refused() {
        for (along, given, words) in [
            (Along::Last, &[&[5, 1][..], &[1, 5]][..], ["Rank 0 passes an array of 5x1", "rank 1 one of 1x5"]),
            (Along::Last, &[&[0, 0], &[4, 5], &[3, 5]], ["Rank 1 passes an array of 4x5", "rank 2 one of 3x5"]),
            (Along::Dim(0), &[&[4, 5], &[4, 5, 2]], ["array of 4x5,", "4x5x2"]),
            (Along::Dim(0), &[&[4, 5], &[4, 6]], ["along dimension 1", "4x6"]),
            (Along::Dim(1), &[&[0, usize::MAX], &[0, usize::MAX]], ["dimension 2", "counted"]),
        ] {
            let text = refused(&parts(given, along));
            assert!(words.iter().all(|words| text.contains(words)), "{text}");
        }
    }

    #[test]
    fn ranks_that_say_different_things_are_refused() {
        let said = |boundary: &str| [("'Boundary'", boundary.to_string()), ("'Iterations'", "7".into())];
        let (zero, mirror) = (said("0"), said("'mirror'"));
        let dims = &[4, 5][..];
        let like = Passed { dims, along: Along::Last, said: &zero, filter: &[1.0, f64::NAN] };
        assert!(agreed(&[like.clone(), like.clone(), like.clone()]).iter().all(Result::is_ok));
        for (other, words) in [
            (Passed { said: &mirror, ..like.clone() }, "'Boundary' is 0 on rank 0 and 'mirror' on rank 2;"),
            (Passed { said: &zero[..1], ..like.clone() }, "'Iterations' is 7 on rank 0 and not given on rank 2;"),
            (Passed { along: Along::Dim(1), ..like.clone() }, "parts is true on rank 0 and 2 on rank 2;"),
            (
                Passed { filter: &[1.0, 0.5], ..like.clone() },
                "Entry 2 of the filter is NaN on rank 0 and 0.5 on rank 2;",
            ),
            (Passed { filter: &[1.0], ..like.clone() }, "entries of the filter is 2 on rank 0 and 1 on rank 2;"),
        ] {
            let text = refused(&[like.clone(), like.clone(), other.clone()]);
            assert!(text.contains(words), "{text}");
        }
        let fewer = Passed { said: &zero[..1], ..like.clone() };
        assert!(refused(&[fewer, like]).contains("'Iterations' is not given on rank 0 and 7 on rank 1;"));
    }

    #[test]
    fn malformed_messages_are_rejected() {
        let passed = Passed { dims: &[4, 5], along: Along::Last, said: &[("a", "b".into())], filter: &[1.0, -0.0] };
        let bytes = Message::of(&passed).encoded();
        assert_eq!(Message::decoded(&bytes), Some(Message::of(&passed)));
        for len in 0..bytes.len() {
            assert_eq!(Message::decoded(&bytes[..len]), None, "{len} bytes");
        }
        assert_eq!(Message::decoded(&[255; 64]), None);
        assert_eq!(Message::decoded(&[bytes, vec![0]].concat()), None);
    }
}
