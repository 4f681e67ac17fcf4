//! Medians of lines, by selection of the middle element, without a sort.

use super::threads;
use crate::cpu::tasks::{self, STEP};
use crate::host::SharedOutput;
use crate::platform::memory;
use crate::platform::watch::Watch;
use crate::stencil::{Error, Real};

/// Time per element, relative to that of other operations.
const WORK: usize = 4;

/// Writes the medians of `inner x length x outer` elements along the middle.
pub(super) fn run<T: Real>(
    input: &[T],
    [inner, length, outer]: [usize; 3],
    output: &mut [T],
    watch: &Watch,
) -> Result<(), Error> {
    assert_eq!([input.len(), output.len()], [inner * length * outer, inner * outer]);
    watch.check()?;
    let to = SharedOutput::new(output);
    let at_once = (STEP / length.max(1)).max(1);
    let (count, threads) = (inner * outer, threads(input.len().saturating_mul(WORK)));
    tasks::run(count.div_ceil(at_once), threads, 1, watch, |number, scratch: &mut Vec<f64>, progress| {
        memory::enlarge(scratch, length, "a line")?;
        let of_task = number * at_once..((number + 1) * at_once).min(count);
        for line in of_task.clone() {
            let elements = &mut scratch[..length];
            let first = line / inner * length * inner + line % inner;
            elements.iter_mut().zip(input[first..].iter().step_by(inner)).for_each(|(to, from)| *to = from.to_f64());
            // SAFETY: no other task has this line.
            unsafe { to.places(line..line + 1) }.fill(median(elements));
        }
        Ok(progress.step(of_task.len() * length)?)
    })
}

/// Returns the median of elements of this class, and reorders them.
fn median<T: Real>(elements: &mut [f64]) -> T {
    let [lower, upper] = in_the_middle(elements).map(T::from_f64);
    let middle = if elements.len().is_multiple_of(2) { lower.plus(upper).over(T::from_f64(2.0)) } else { upper };
    // Avoids -0.
    middle.plus(T::default())
}

/// Returns the two middle elements of an even number of them; of an odd number, the second is the middle. A NaN makes
/// both NaN. Singles are passed as doubles, so the selection is compiled once.
fn in_the_middle(elements: &mut [f64]) -> [f64; 2] {
    if let Some(&nan) = elements.iter().find(|x| x.is_nan()) {
        return [nan; 2];
    }
    let middle = elements.len() / 2;
    let (below, &mut upper, _) = elements.select_nth_unstable_by(middle, f64::total_cmp);
    [below.iter().copied().max_by(f64::total_cmp).unwrap_or(upper), upper]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middle_elements_are_found() {
        for (elements, middle) in [
            (&[5.0][..], 5.0),
            (&[5.0, 1.0], 3.0),
            (&[3.0, f64::NEG_INFINITY, 7.0], 3.0),
            (&[4.0, 4.0, 1.0, 9.0], 4.0),
            (&[f64::MAX], f64::MAX),
        ] {
            assert_eq!(median::<f64>(&mut elements.to_vec()), middle, "{elements:?}");
        }
        assert!(median::<f64>(&mut [1.0, f64::NAN, 2.0]).is_nan());
        assert!(median::<f32>(&mut [-0.0]).is_sign_positive());
        assert_eq!(median::<f32>(&mut [f64::from(f32::MAX); 2]), f32::INFINITY, "as a sort and a sum have it");
    }
}
