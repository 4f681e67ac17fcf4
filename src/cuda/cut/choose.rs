//! How large the tiles of an array are, and for how many sweeps their halos.

use super::{Cut, Size};
use crate::stencil::{Ends, Lines, Real, Sides};

/// Where the runs of rows that a tile is copied in are not whole columns, they are at least as long as a page of
/// memory, if there is one sweep for each copy.
const ROWS: usize = 512;

/// The shortest runs of rows where a tile is swept many times: lines had better be whole then, and the copies do not
/// count.
const SWEPT_ROWS: usize = 32;

/// A halo along a line takes at most this part of a tile at either end.
const HALO_SHARE: usize = 8;

impl<T: Real> Cut<T> {
    /// For `sweeps` of a stencil of this radius along lines, or as many of them as can be done at once, with tiles of
    /// about `elements` samples. Each line in a tile of its own, extended beyond its ends, if `split`; else whole lines
    /// where they fit. A tile is never smaller than one output needs.
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
        let whole = |most| Cut { size, most, halo: [0; 3], sides, extended: [false; 3], sweeps };
        if !split && inner * length <= elements {
            return whole([inner, length, (elements / (inner * length).max(1)).clamp(1, outer.max(1))]);
        }
        let rows = if sweeps > 1 { SWEPT_ROWS } else { ROWS }.min(inner);
        if !split && elements / length.max(1) >= rows {
            return whole([elements / length, length, 1]);
        }
        // Rows as long as they should be, unless not even the halo of one sweep would fit.
        let least = 2 * radius + 1;
        let rows = rows.min(elements / least).max(1);
        let along = (elements / rows).max(least).min(length + 2 * radius * sweeps);
        let at_once = (along / HALO_SHARE).checked_div(radius).unwrap_or(sweeps).clamp(1, sweeps);
        // All rounds of about as many.
        let at_once = sweeps.div_ceil(sweeps.div_ceil(at_once));
        let halo = radius * at_once;
        // Going round, a line has no end that a kernel could see.
        let extended = [false, split || ends.is_circular(), false];
        let most = [rows, (along - 2 * halo).min(length), 1];
        Cut { size, most, halo: [0, halo, 0], sides, extended, sweeps: at_once }
    }

    /// For one sweep of a filter of this radius over an image or a volume, with tiles of whole columns: about `wanted`
    /// outputs and not many more samples, of which no tile has more than `limit` together; but never less than a
    /// column.
    pub(crate) fn volume(size: Size, sides: Sides<T>, radius: Size, wanted: usize, limit: usize) -> Cut<T> {
        let extended = circular(sides);
        let cut = |most: Size| {
            // What is whole has nothing beside it.
            let halo = std::array::from_fn(|d| if most[d] >= size[d] { 0 } else { radius[d] });
            Cut { size, most, halo, sides, extended, sweeps: 1 }
        };
        let mut most = [size[0], 1, 1];
        loop {
            let samples = cut(most).most_samples();
            let outputs = most.iter().product::<usize>();
            // What is sent beside what is computed is to stay small; but the tiles, too, or few of them are under way.
            let share = if outputs >= 4 * wanted { 2 } else { 4 };
            if outputs >= wanted && samples <= outputs + outputs / share {
                return cut(most);
            }
            // First that dimension in which more is sent beside what is computed; where that is all the same, along
            // memory.
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

    /// For some of the `sweeps` of a filter of this radius over an image or a volume, with tiles of whole columns
    /// that have at most `limit` samples; `None` where single sweeps had better go through the slots.
    ///
    /// The way of a sample to the device and back is the unit of time, and an `update` of it takes so long. Each round
    /// sends all tiles, and each sweep computes all that they have. So long as few sweeps take as long as the way,
    /// halos are worth it that are as large as half the outputs between them.
    pub(crate) fn deep(
        size: Size,
        sides: Sides<T>,
        radius: Size,
        sweeps: usize,
        limit: usize,
        update: f64,
    ) -> Option<Cut<T>> {
        // Where each sweep sends the array, that takes longer than what is computed meanwhile.
        let single = (sweeps as f64 * size.iter().product::<usize>() as f64, None);
        let cuts = numbers_to(sweeps).map(|rounds| sweeps.div_ceil(rounds)).take_while(|&at_once| at_once > 1);
        let cuts = cuts.flat_map(|at_once| Cut::deep_tiles(size, sides, radius, at_once, limit));
        let timed = cuts.map(|cut| {
            // Recomputed from the sweeps at once: all rounds are of about as many sweeps.
            let rounds = sweeps.div_ceil(cut.sweeps);
            ((rounds as f64 + sweeps as f64 * update) * cut.sent(), Some(cut))
        });
        std::iter::once(single).chain(timed).min_by(|a, b| a.0.total_cmp(&b.0))?.1
    }

    /// The ways to cut an array for `sweeps` sweeps at once: by each number of tiles along columns, or pages, there are
    /// as few along the other dimension as the limit asks for.
    pub(super) fn deep_tiles(
        size: Size,
        sides: Sides<T>,
        radius: Size,
        sweeps: usize,
        limit: usize,
    ) -> impl Iterator<Item = Cut<T>> {
        let extended = circular(sides);
        let reach = radius.map(|radius| radius.saturating_mul(sweeps));
        let ways =
            [[1, 2], [2, 1]].into_iter().flat_map(move |ds| numbers_to(size[ds[0]]).map(move |count| (ds, count)));
        ways.filter_map(move |([first, second], count)| {
            let (mut most, mut halo) = (size, [0; 3]);
            if count > 1 {
                (most[first], halo[first]) = (size[first].div_ceil(count), reach[first]);
            }
            let beside = size[0].saturating_mul(halo[first].saturating_mul(2).saturating_add(most[first]));
            let room = limit / beside.max(1);
            if room < size[second] {
                halo[second] = reach[second];
                let outputs = room.checked_sub(halo[second].checked_mul(2)?).filter(|&outputs| outputs > 0)?;
                // All tiles of about as many.
                most[second] = size[second].div_ceil(size[second].div_ceil(outputs));
            }
            Some(Cut { size, most, halo, sides, extended, sweeps })
        })
    }

    /// Into `count` parts along one dimension, or fewer, each with `halo` samples on either side there, for `sweeps`
    /// sweeps.
    pub(crate) fn parts(size: Size, sides: Sides<T>, along: usize, count: usize, halo: usize, sweeps: usize) -> Cut<T> {
        let (mut most, mut halos) = (size, [0; 3]);
        most[along] = size[along].div_ceil(count.max(1));
        if most[along] < size[along] {
            halos[along] = halo;
        }
        Cut { size, most, halo: halos, sides, extended: circular(sides), sweeps }
    }
}

/// Along which dimensions an array goes round.
fn circular<T: Real>(sides: Sides<T>) -> [bool; 3] {
    [0, 1, 2].map(|d| sides[d].is_circular())
}

/// One, two, and so on up to `most`; of large numbers some, so that there are few in all.
fn numbers_to(most: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1_usize), |&number| number.checked_add((number / 8).max(1)))
        .take_while(move |&n| n <= most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stencil::Boundary;

    /// Few rounds, all of about as many sweeps, in tiles of about the same size, as large as they may be.
    #[test]
    fn deep_tiles_go_over_the_link_a_few_times() {
        // 3 x 3 in double, and a fifth of the way of a sample for an update of it.
        let (quick, slow) = (0.002, 0.2);
        let cut = |size: Size, radius, sweeps, limit, update| {
            Cut::<f64>::deep(size, Boundary::Replicate.into(), radius, sweeps, limit, update)
        };
        let large = cut([30_000, 30_000, 1], [1, 1, 0], 200, 125_000_000, quick).unwrap();
        assert_eq!((large.sweeps, large.most, large.halo), (200, [30_000, 3750, 1], [0, 200, 0]));
        // Rounds, where not all at once is best.
        let many = cut([30_000, 30_000, 1], [1, 1, 0], 5000, 125_000_000, quick).unwrap();
        assert!((3..=10).contains(&5000_usize.div_ceil(many.sweeps)), "{many:?}");
        assert!(many.sent() < 2.0 * 9e8 && many.most_samples() > 90_000_000, "{many:?}");
        // The more an update takes, the less is computed twice.
        let dear = cut([30_000, 30_000, 1], [1, 1, 0], 5000, 125_000_000, slow).unwrap();
        assert!(dear.sweeps < many.sweeps / 4 && dear.sent() < 1.1 * 9e8, "{dear:?}");
        // Pages that the filter sees whole go one by one, or many together, and all sweeps are one round.
        let pages = cut([100, 100, 50], [1, 1, 0], 1000, 100_000, quick).unwrap();
        assert_eq!((pages.sweeps, pages.most, pages.halo), (1000, [100, 100, 10], [0; 3]));
        // A volume whose pages fit is cut into slabs; one whose pages do not, along both.
        let slabs = cut([200, 200, 400], [1; 3], 40, 8_000_000, quick).unwrap();
        assert!(slabs.halo[1] == 0 && slabs.halo[2] == slabs.sweeps && slabs.sweeps >= 20, "{slabs:?}");
        let bars = cut([200, 2000, 2000], [1; 3], 40, 8_000_000, quick).unwrap();
        assert!(bars.halo[1] == bars.sweeps && bars.halo[2] == bars.sweeps && bars.sweeps > 5, "{bars:?}");
        // Room for a column and its neighbours, or less.
        assert_eq!(cut([1000, 100, 1], [1, 1, 0], 50, 4000, quick), None);
        assert_eq!(cut([1000, 100, 1], [1, 1, 0], 50, 0, quick), None);
        // Counts that no memory holds are no trouble.
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
        // More than a halo may hold are done in rounds of the same size.
        let rounds = cut(Lines::new(100_000_000, 1), 100_000);
        assert_eq!(rounds.sweeps, 25_000);
    }

    #[test]
    fn volumes_are_cut_where_least_is_sent_twice() {
        let cut = |size, radius| Cut::<f64>::volume(size, Sides::default(), radius, 1 << 18, 1 << 25);
        assert_eq!(cut([4096, 4096, 1], [1, 1, 0]).most, [4096, 64, 1]);
        // Pages that a filter of one page sees whole have nothing beside them.
        assert_eq!(cut([100, 100, 1000], [1, 1, 0]).halo, [0; 3]);
        let deep = cut([256, 256, 256], [3, 3, 3]);
        assert!(deep.most_samples() < 2 * deep.most.iter().product::<usize>(), "{deep:?}");
    }
}
