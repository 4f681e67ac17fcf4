//! Choice of the tiles of an array, and of the number of sweeps that their halos allow.

use super::rounds::{Rounds, numbers_to};
use super::{Cut, Size};
use crate::stencil::{Ends, Lines, Real, Sides};

/// Minimum runs of rows in which a tile is copied, a page of memory, unless they are whole columns: with one sweep for
/// each copy.
const MIN_ROWS: usize = 512;

/// Minimum runs of rows where a tile is swept many times: whole lines matter more then than copies.
const MIN_SWEPT_ROWS: usize = 32;

/// A halo along a line takes at most one part in this many of a tile, at either end.
const HALO_SHARE: usize = 8;

impl<T: Real> Cut<T> {
    /// Cuts into tiles of at most `most` outputs along each dimension, for `sweeps` sweeps of this radius.
    fn new(size: Size, sides: Sides<T>, radius: Size, most: Size, sweeps: usize) -> Cut<T> {
        // A dimension that is not cut needs no halo.
        let halo = [0, 1, 2].map(|d| if most[d] < size[d] { radius[d].saturating_mul(sweeps) } else { 0 });
        Cut { size, most, halo, sides, extended: [0, 1, 2].map(|d| sides[d].is_circular()), sweeps }
    }

    /// Cuts lines for `sweeps` of a stencil of this radius, or as many of them as can be done at once, into tiles of
    /// about `elements` samples. With `split` each line is in tiles of its own, extended beyond its ends; else lines
    /// stay whole where they fit. A tile has at least the samples of one output.
    pub(crate) fn lines(
        lines: Lines,
        ends: Ends<T>,
        radius: usize,
        sweeps: usize,
        elements: usize,
        split: bool,
    ) -> Cut<T> {
        let sides = Sides::from([Ends::default(), ends, Ends::default()]);
        let size @ [inner, length, outer] = [lines.inner(), lines.length(), lines.outer()];
        let cut = |most, at_once| Cut::new(size, sides, [0, radius, 0], most, at_once);
        if !split && inner * length <= elements {
            return cut([inner, length, (elements / (inner * length).max(1)).clamp(1, outer.max(1))], sweeps);
        }
        let rows = if sweeps > 1 { MIN_SWEPT_ROWS } else { MIN_ROWS }.min(inner);
        if !split && elements / length.max(1) >= rows {
            return cut([elements / length, length, 1], sweeps);
        }
        // Rows of the preferred length, unless not even the halo of one sweep would fit.
        let least = 2 * radius + 1;
        let rows = rows.min(elements / least).max(1);
        let along = (elements / rows).max(least).min(length + 2 * radius * sweeps);
        let at_once = Rounds::alike(sweeps, (along / HALO_SHARE).checked_div(radius).unwrap_or(sweeps)).at_once();
        let halo = radius * at_once;
        let most = [rows, (along - 2 * halo).min(length), 1];
        // A periodic line has no end that a kernel could see.
        let extended = [false, split || ends.is_circular(), false];
        Cut { halo: [0, halo, 0], extended, ..cut(most, at_once) }
    }

    /// Cuts an image or a volume for one sweep of a filter of this radius, into tiles of whole columns: about `wanted`
    /// outputs and not many more samples, at most half of `limit`; but at least a column.
    pub(crate) fn volume(size: Size, sides: Sides<T>, radius: Size, wanted: usize, limit: usize) -> Cut<T> {
        let cut = |most: Size| Cut::new(size, sides, radius, most, 1);
        let mut most = [size[0], 1, 1];
        loop {
            let samples = cut(most).most_samples();
            let outputs = most.iter().product::<usize>();
            // Halos should be a small part of the transfers; but tiles should be small, too, or few of them are in
            // flight.
            let share = if outputs >= 4 * wanted { 2 } else { 4 };
            if outputs >= wanted && samples <= outputs + outputs / share {
                return cut(most);
            }
            // First the dimension with the larger part of halos; if they are equal, along memory.
            let beside = |d: usize| cut(most).halo[d] as f64 / most[d] as f64;
            let order = if beside(1) >= beside(2) { [1, 2] } else { [2, 1] };
            let larger = order.into_iter().filter(|&d| most[d] < size[d]).map(|d| {
                let mut larger = most;
                larger[d] = (2 * larger[d]).min(size[d]);
                larger
            });
            match larger.into_iter().find(|&larger| 2 * cut(larger).most_samples() <= limit) {
                Some(larger) => most = larger,
                None => return cut(most),
            }
        }
    }

    /// Cuts an image or a volume for some of the `sweeps` of a filter of this radius, into tiles of whole columns that
    /// have at most `limit` samples; `None` if single sweeps through the slots are better.
    ///
    /// The unit of time is the transfer of a sample to the device and back; `update` is the time of an update of it.
    /// Each round transfers all tiles, and each sweep computes all their samples. While few sweeps take as long as the
    /// transfer, it pays to have halos as large as half the outputs between them.
    pub(crate) fn deep(
        size: Size,
        sides: Sides<T>,
        radius: Size,
        sweeps: usize,
        limit: usize,
        update: f64,
    ) -> Option<Cut<T>> {
        // If each sweep transfers the array, the transfer takes longer than the computation meanwhile.
        let single = (sweeps as f64 * size.iter().product::<usize>() as f64, None);
        let cuts = numbers_to(sweeps).map(|rounds| sweeps.div_ceil(rounds)).take_while(|&at_once| at_once > 1);
        let cuts = cuts.flat_map(|at_once| Cut::deep_tiles(size, sides, radius, at_once, limit));
        let timed =
            cuts.map(|cut| ((cut.rounds(sweeps).count() as f64 + sweeps as f64 * update) * cut.sent(), Some(cut)));
        std::iter::once(single).chain(timed).min_by(|a, b| a.0.total_cmp(&b.0))?.1
    }

    /// Returns the cuts of an array for `sweeps` sweeps at once: for each number of tiles along columns, or pages, the
    /// fewest along the other dimension that the limit allows.
    pub(super) fn deep_tiles(
        size: Size,
        sides: Sides<T>,
        radius: Size,
        sweeps: usize,
        limit: usize,
    ) -> impl Iterator<Item = Cut<T>> {
        let cut = move |most| Cut::new(size, sides, radius, most, sweeps);
        let ways =
            [[1, 2], [2, 1]].into_iter().flat_map(move |ds| numbers_to(size[ds[0]]).map(move |count| (ds, count)));
        ways.filter_map(move |([first, second], count)| {
            let mut most = size;
            most[first] = size[first].div_ceil(count);
            let beside = cut(most).halo[first].saturating_mul(2).saturating_add(most[first]);
            let room = limit / size[0].saturating_mul(beside).max(1);
            if room < size[second] {
                let halo = radius[second].saturating_mul(sweeps);
                let outputs = room.checked_sub(halo.checked_mul(2)?).filter(|&outputs| outputs > 0)?;
                // All tiles of about as many.
                most[second] = size[second].div_ceil(size[second].div_ceil(outputs));
            }
            Some(cut(most))
        })
    }

    /// Cuts into `count` parts along one dimension, or fewer, for `sweeps` sweeps of this radius.
    pub(crate) fn parts(
        size: Size,
        sides: Sides<T>,
        radius: Size,
        (along, count): (usize, usize),
        sweeps: usize,
    ) -> Cut<T> {
        let mut most = size;
        most[along] = size[along].div_ceil(count.max(1));
        Cut::new(size, sides, radius, most, sweeps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stencil::Boundary;

    /// There are few rounds, all of about as many sweeps, in tiles of about the same size, as large as they may be.
    #[test]
    fn deep_tiles_go_over_the_link_a_few_times() {
        // 3 x 3 in double; an update takes a fifth of a sample's transfer, or less.
        let (quick, slow) = (0.002, 0.2);
        let cut = |size: Size, radius, sweeps, limit, update| {
            Cut::<f64>::deep(size, Boundary::Replicate.into(), radius, sweeps, limit, update)
        };
        let large = cut([30_000, 30_000, 1], [1, 1, 0], 200, 125_000_000, quick).unwrap();
        assert_eq!((large.sweeps, large.most, large.halo), (200, [30_000, 3750, 1], [0, 200, 0]));
        // Several rounds, if not all sweeps at once are best.
        let many = cut([30_000, 30_000, 1], [1, 1, 0], 5000, 125_000_000, quick).unwrap();
        assert!((3..=10).contains(&5000_usize.div_ceil(many.sweeps)), "{many:?}");
        assert!(many.sent() < 2.0 * 9e8 && many.most_samples() > 90_000_000, "{many:?}");
        // The longer an update takes, the less is computed twice.
        let dear = cut([30_000, 30_000, 1], [1, 1, 0], 5000, 125_000_000, slow).unwrap();
        assert!(dear.sweeps < many.sweeps / 4 && dear.sent() < 1.1 * 9e8, "{dear:?}");
        // Independent pages go one by one, or many together, and all sweeps are one round.
        let pages = cut([100, 100, 50], [1, 1, 0], 1000, 100_000, quick).unwrap();
        assert_eq!((pages.sweeps, pages.most, pages.halo), (1000, [100, 100, 10], [0; 3]));
        // A volume whose pages fit is cut into slabs; one whose pages do not, along both dimensions.
        let slabs = cut([200, 200, 400], [1; 3], 40, 8_000_000, quick).unwrap();
        assert!(slabs.halo[1] == 0 && slabs.halo[2] == slabs.sweeps && slabs.sweeps >= 20, "{slabs:?}");
        let bars = cut([200, 2000, 2000], [1; 3], 40, 8_000_000, quick).unwrap();
        assert!(bars.halo[1] == bars.sweeps && bars.halo[2] == bars.sweeps && bars.sweeps > 5, "{bars:?}");
        // There is room for a column and its neighbours, or less.
        assert_eq!(cut([1000, 100, 1], [1, 1, 0], 50, 4000, quick), None);
        assert_eq!(cut([1000, 100, 1], [1, 1, 0], 50, 0, quick), None);
        // Huge counts do not overflow.
        let endless = cut([1000, 100, 1], [1, 1, 0], usize::MAX, 50_000, quick).unwrap();
        assert!(endless.sweeps < 25 && endless.most_samples() <= 50_000, "{endless:?}");
    }

    #[test]
    fn lines_are_whole_where_they_fit_and_sweeps_are_many_at_once() {
        let cut = |lines, sweeps| Cut::<f64>::lines(lines, Ends::default(), 1, sweeps, 1 << 18, false);
        assert_eq!(cut(Lines::new(1000, 1000), 9).most, [1, 1000, 262]);
        assert_eq!(cut(Lines::strided(512 * 512, 512, 1), 1).most, [512, 512, 1]);
        let long = cut(Lines::new(100_000_000, 1), 1000);
        assert_eq!((long.sweeps, long.halo), (1000, [0, 1000, 0]));
        // More sweeps than a halo allows are done in rounds of the same size.
        let rounds = cut(Lines::new(100_000_000, 1), 100_000);
        assert_eq!(rounds.sweeps, 25_000);
    }

    #[test]
    fn volumes_are_cut_where_least_is_sent_twice() {
        let cut = |size, radius| Cut::<f64>::volume(size, Sides::default(), radius, 1 << 18, 1 << 25);
        assert_eq!(cut([4096, 4096, 1], [1, 1, 0]).most, [4096, 64, 1]);
        // Pages under a filter of one page need no halo.
        assert_eq!(cut([100, 100, 1000], [1, 1, 0]).halo, [0; 3]);
        let deep = cut([256, 256, 256], [3, 3, 3]);
        assert!(deep.most_samples() < 2 * deep.most.iter().product::<usize>(), "{deep:?}");
    }
}
