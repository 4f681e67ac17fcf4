//! Route of a step through an array: its dimensions, its reach, and the lag of each part.

use crate::stencil::program::{Axis, Chain, Feed, Kernel, Recurrence, Step, View};
use crate::stencil::{Boundary, Ends};

/// Minimum first dimension: a shorter one leaves too many lanes idle.
const MIN_ROWS: usize = 16;

/// Maximum extent: indices have 32 bits, also those of elements beyond an end.
const MAX_EXTENT: usize = i32::MAX as usize - (1 << 16);

/// Route of a step, whatever the number of its levels.
///
/// Rows are the elements along the first dimension, columns those along the dimension that a warp walks along. A step
/// receives one column after the other. A part with a lag of l gives column c when column c + l has come. In volumes a
/// column is a page, of which a lane has some lines.
#[derive(Debug, Clone)]
pub(super) struct Route {
    /// Dimension along which warps walk; none in a kernel of one dimension.
    pub(super) along: Option<usize>,
    /// Dimension of a lane's lines, if filters go along three.
    pub(super) beside: Option<usize>,
    /// Lag of each part.
    pub(super) lags: Vec<usize>,
    /// True for parts that are one number for all elements.
    pub(super) uniform: Vec<bool>,
    /// True for parts whose latest columns stay in registers.
    pub(super) kept: Vec<bool>,
    /// True for filters whose chains are begun as columns come, so that each column is shuffled once.
    pub(super) open: Vec<bool>,
    /// Lag of the step.
    pub(super) lag: usize,
    /// Number of columns that it reaches back.
    pub(super) back: usize,
    /// Number of rows that it reaches, below and above.
    pub(super) rows: [usize; 2],
    /// Number of lines that it reaches, below and above; and those of each part.
    pub(super) lines: [usize; 2],
    pub(super) lines_of: Vec<[usize; 2]>,
    /// True for parts of which lines outside a lane's own are needed in one column alone.
    pub(super) once: Vec<bool>,
    /// True for dimensions whose boundaries are circular.
    pub(super) circular: Vec<bool>,
    /// Boundaries of each part along each dimension, if filters use any, for the first level. Only if all of these
    /// parts are loaded and filters do not differ.
    pub(super) ends: Option<Vec<Vec<Option<Ends<f64>>>>>,
}

/// Returns the reach of one filter along a dimension, below and above, including the elements that its ghost values
/// copy.
fn span(axis: &Axis) -> [usize; 2] {
    let [before, after] = [axis.before, axis.extent - 1 - axis.before];
    // A ghost value is a copy of an element on the other side.
    let behind = |reach: usize, end: Boundary<f64>| match end {
        Boundary::Mirror => reach,
        Boundary::Symmetric => reach.saturating_sub(1),
        Boundary::Constant(_) | Boundary::Replicate | Boundary::Circular => 0,
    };
    let [low, high] = axis.ends.both();
    [before.max(behind(after, high)), after.max(behind(before, low))]
}

impl Route {
    /// Returns the route of a step; `None` if warps cannot walk it.
    pub(super) fn of(what: &Recurrence) -> Option<Route> {
        let kernel = &what.kernel;
        let rank = kernel.domain.len();
        if kernel.domain[0] < MIN_ROWS || kernel.domain.iter().any(|&extent| extent > MAX_EXTENT) {
            return None;
        }
        let [beside, along] = Route::dims(what)?;
        let count = kernel.parts.len();
        let mut route = Route {
            along: along.or((rank > 1).then_some(1)),
            beside,
            lags: vec![0; count],
            uniform: vec![false; count],
            kept: vec![false; count],
            open: vec![false; count],
            lag: 0,
            back: 0,
            rows: [0; 2],
            lines: [0; 2],
            lines_of: vec![[0; 2]; count],
            once: vec![true; count],
            circular: Route::circular(what)?,
            ends: Route::ends(kernel),
        };
        let mut backs = vec![0; count];
        let mut rows = vec![[0; 2]; count];
        for (at, part) in kernel.parts.iter().enumerate() {
            let operands = part.step.operands();
            route.uniform[at] = match &part.step {
                Step::Load(input, view) => {
                    let whole = *view == View { start: 0, steps: kernel.steps() };
                    route.kept[at] = matches!(what.feeds[*input], Feed::Output(_));
                    // A state's other elements may be another warp's.
                    if route.kept[at] && !whole {
                        return None;
                    }
                    view.is_one()
                }
                Step::Filter(..) => false,
                // A walk has no index of elements beyond the ends.
                Step::Random(..) => return None,
                _ => operands.iter().all(|&of| route.uniform[of]),
            };
            let most = |of: &[usize]| operands.iter().map(|&operand| of[operand]).max().unwrap_or(0);
            let [mut lag, mut back] = [most(&route.lags), most(&backs)];
            let farthest =
                |of: &[[usize; 2]]| [0, 1].map(|side| operands.iter().map(|&part| of[part][side]).max().unwrap_or(0));
            let [mut own, mut lines] = [farthest(&rows), farthest(&route.lines_of)];
            if let Step::Filter(of, axes, chain) = &part.step {
                route.kept[*of] = true;
                route.open[at] = route.is_open(axes, chain) && !route.uniform[*of];
                route.kept[at] = route.open[at];
                let mut goes = [false; 2];
                for axis in axes.iter().filter(|axis| axis.dim.is_some()) {
                    let [low, high] = span(axis);
                    match axis.dim {
                        Some(0) => own = [own[0] + low, own[1] + high],
                        dim if dim == beside => {
                            lines = [lines[0] + low, lines[1] + high];
                            goes[0] = true;
                        }
                        _ => {
                            [lag, back] = [lag + high, back + low];
                            goes[1] = true;
                        }
                    }
                }
                route.once[*of] &= goes != [true; 2];
            }
            (route.lags[at], backs[at], rows[at], route.lines_of[at]) = (lag, back, own, lines);
        }
        let recorded = || what.records.iter().map(|recorded| recorded.part);
        let outputs = || kernel.outputs.iter().map(|&(_, part)| part).chain(recorded());
        route.lag = outputs().map(|part| route.lags[part]).max()?;
        route.back = outputs().map(|part| backs[part]).max()?;
        let farthest = |of: &[[usize; 2]]| [0, 1].map(|side| outputs().map(|part| of[part][side]).max().unwrap_or(0));
        (route.rows, route.lines) = (farthest(&rows), farthest(&route.lines_of));
        Some(route)
    }

    /// Returns true for a chain over several columns, each with samples of other lanes.
    fn is_open(&self, axes: &[Axis; 3], chain: &Chain) -> bool {
        let goes = |dim: Option<usize>| axes.iter().any(|axis| axis.dim == dim && axis.extent > 1);
        matches!(chain, Chain::Entries(_)) && !goes(None) && goes(Some(0)) && self.along.is_some() && goes(self.along)
    }

    /// Returns the dimensions besides the first along which filters go: that of lines, if there is one, and that of
    /// columns. `None` if there are more.
    fn dims(what: &Recurrence) -> Option<[Option<usize>; 2]> {
        let dims = what.kernel.filters().flat_map(|axes| axes.iter().filter_map(|axis| axis.dim));
        let mut dims: Vec<usize> = dims.filter(|&dim| dim > 0).collect();
        dims.sort_unstable();
        dims.dedup();
        match dims[..] {
            [] => Some([None; 2]),
            [along] => Some([None, Some(along)]),
            [beside, along] => Some([Some(beside), Some(along)]),
            _ => None,
        }
    }

    /// Returns the boundaries of parts. `None` if one is computed, or if filters differ.
    fn ends(kernel: &Kernel) -> Option<Vec<Vec<Option<Ends<f64>>>>> {
        let mut ends = vec![vec![None; kernel.domain.len()]; kernel.parts.len()];
        for part in &kernel.parts {
            let Step::Filter(of, axes, _) = &part.step else { continue };
            if !matches!(kernel.parts[*of].step, Step::Load(..)) {
                return None;
            }
            for axis in axes.iter().filter(|axis| axis.extent > 1) {
                let Some(dim) = axis.dim else { continue };
                if *ends[*of][dim].get_or_insert(axis.ends) != axis.ends {
                    return None;
                }
            }
        }
        Some(ends)
    }

    /// Returns true for the dimensions that are circular. `None` if filters differ, or if one reaches over all of an
    /// array.
    fn circular(what: &Recurrence) -> Option<Vec<bool>> {
        let mut circular = vec![None; what.kernel.domain.len()];
        for axis in what.kernel.filters().flatten() {
            let Some(dim) = axis.dim else { continue };
            let [low, high] = span(axis);
            let own = axis.ends.both()[0] == Boundary::Circular;
            if low.max(high) >= what.kernel.domain[dim] || circular[dim].is_some_and(|known| known != own) {
                return None;
            }
            circular[dim] = Some(own);
        }
        Some(circular.into_iter().map(|circular| circular.unwrap_or(false)).collect())
    }
}
