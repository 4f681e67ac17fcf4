//! Dimensions of arrays: as text, without trailing ones, and checked for what memory can hold.

use crate::mex::Error;

/// Dimensions as errors show them: `3x4`.
pub(crate) fn size_text(dims: &[usize]) -> String {
    dims.iter().map(usize::to_string).collect::<Vec<_>>().join("x")
}

/// Dimensions without trailing ones, but at least two.
pub(crate) fn trimmed(mut dims: Vec<usize>) -> Vec<usize> {
    while dims.len() > 2 && dims.last() == Some(&1) {
        dims.pop();
    }
    dims
}

/// Number of elements; `None` where no memory can hold them.
pub(crate) fn elements(dims: &[usize]) -> Option<usize> {
    // An extent of 0 makes the product 0, even where that of the other extents overflows.
    if dims.contains(&0) {
        return Some(0);
    }
    let elements = dims.iter().try_fold(1_usize, |elements, &extent| elements.checked_mul(extent))?;
    (elements <= isize::MAX as usize / size_of::<f64>()).then_some(elements)
}

/// Checks that memory can hold an output of these dimensions.
///
/// # Errors
/// `outOfMemory`.
pub(crate) fn check_fits(dims: &[usize]) -> Result<(), Error> {
    elements(dims).map(drop).ok_or_else(too_large)
}

/// The error of an output that no memory can hold.
pub(crate) fn too_large() -> Error {
    Error::new("outOfMemory", "There is no memory for the output.")
}

/// Dimensions of `states` arrays stacked along one more dimension; columns are stacked along the second.
///
/// # Errors
/// `outOfMemory` where no memory can hold the stack.
pub(crate) fn stacked(dims: &[usize], states: usize) -> Result<Vec<usize>, Error> {
    let own = if dims.len() == 2 && dims[1] == 1 { &dims[..1] } else { dims };
    let all = [own, &[states]].concat();
    check_fits(&all)?;
    Ok(trimmed(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailing_ones_are_trimmed() {
        assert_eq!(trimmed(vec![2, 1, 1]), [2, 1]);
        assert_eq!(trimmed(vec![2, 1, 3]), [2, 1, 3]);
    }

    #[test]
    fn states_are_stacked_behind_the_array() {
        assert_eq!(stacked(&[7, 1], 4).unwrap(), [7, 4]);
        assert_eq!(stacked(&[1, 7], 4).unwrap(), [1, 7, 4]);
        assert_eq!(stacked(&[1, 1], 4).unwrap(), [1, 4]);
        assert_eq!(stacked(&[3, 5], 4).unwrap(), [3, 5, 4]);
        assert_eq!(stacked(&[3, 5, 2], 4).unwrap(), [3, 5, 2, 4]);
        assert_eq!(stacked(&[3, 5], 1).unwrap(), [3, 5]);
        assert_eq!(stacked(&[7, 1], 1).unwrap(), [7, 1]);
        assert_eq!(stacked(&[3, 5], 0).unwrap(), [3, 5, 0]);
        assert_eq!(stacked(&[0, 1 << 40], 1 << 40).unwrap(), [0, 1 << 40, 1 << 40]);
        assert_eq!(stacked(&[1 << 29, 1], 1 << 32).unwrap_err().kind, "outOfMemory");
    }
}
