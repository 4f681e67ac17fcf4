//! Choice of the rounds of a distributed array, and of the method of each rank, by counting multiply-adds: all ranks get
//! the same answer from the same numbers. Nothing here touches data.

use std::ops::Range;

use crate::partition::{Halo, Parts, Rounds, around, numbers_to};

/// Method by which a rank computes its part in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// The part with its halos around it, as an array of its own.
    Window,
    /// The part by itself, and a strip at each end that has a neighbour.
    Strips,
}

/// Properties of the sweeps that determine the messages.
#[derive(Debug, Clone)]
pub(super) struct Swept {
    pub(super) parts: Parts,
    /// Number of elements in a plane.
    pub(super) area: usize,
    /// Number of planes on either side that one sweep needs.
    pub(super) radius: usize,
    pub(super) circular: bool,
    /// Number of multiply-adds of an update.
    pub(super) work: usize,
    pub(super) costs: Costs,
}

/// Costs besides computing, in multiply-adds: they decide the method of a sweep, and never affect its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Costs {
    /// Exchange between processors, with the calls around it.
    pub(super) exchange: u128,
    /// Exchange between GPUs, which wait meanwhile.
    pub(super) exchange_of_device: u128,
    /// Transfer of a host element to a GPU and back.
    pub(super) link: u128,
    /// Copy of an element.
    pub(super) copy: u128,
    /// Read and write of an element of a part, once for about [`DEPTH`] sweeps of a round, and for the remainder of
    /// them: the contents of the processor's caches are gone by the next round.
    pub(super) pass: u128,
    /// Parts of more elements are not copied if strips can do: memory is dearer than time there.
    pub(super) large: usize,
    /// Minimum size of halos on GPUs, in bytes over all rounds at one end, to read them directly from the other rank:
    /// opening its memory takes some milliseconds.
    pub(super) opened: u128,
}

/// Maximum number of sweeps that the processor does with a block of an array while it is in its caches.
const DEPTH: usize = 16;

/// About 30 us on a processor and 45 on a GPU, and measured costs of the link, of copies, and of sweeps that read their
/// array from memory each time.
impl Default for Costs {
    fn default() -> Costs {
        Costs {
            exchange: 1 << 18,
            exchange_of_device: 1 << 29,
            link: 4500,
            copy: 20,
            pass: 20,
            large: 1 << 24,
            opened: 16 << 20,
        }
    }
}

impl Swept {
    /// Number of planes on either side that `sweeps` sweeps need.
    pub(super) fn halo(&self, sweeps: usize) -> usize {
        // The length bounds it, and so it cannot overflow.
        self.radius.saturating_mul(sweeps).min(self.parts.length())
    }

    /// Maximum number of ends at which a part has a neighbour.
    fn cut_ends(&self) -> usize {
        if self.circular || self.parts.filled() > 2 { 2 } else { 1 }
    }

    /// Chooses the method for a part of `planes` planes in these rounds, and returns its cost a round, in
    /// multiply-adds.
    ///
    /// # Rationale
    /// A window computes one redundant halo at each end, takes two arrays of its own, and is copied there and back once
    /// in all rounds. Strips compute three halos at each end, one of them replacing outputs that the part by itself got
    /// wrong; but they come before the rest, so that the next exchange overlaps the rest of the computation. Edges must
    /// be computed from the strips alone, so the part is longer than both.
    fn cheapest(&self, planes: usize, rounds: Rounds) -> (Way, u128) {
        let (sweeps, count) = (rounds.at_once(), rounds.count() as u128);
        let (halo, n, area) = (self.halo(sweeps) as u128, planes as u128, self.area as u128);
        let halos = self.cut_ends() as u128 * halo;
        let Costs { copy, pass, large, .. } = self.costs;
        let update = self.work.max(1) as u128 * sweeps as u128 + pass * sweeps.div_ceil(DEPTH) as u128;
        let window = (n + halos).min(self.parts.length() as u128) * update + copy * (halos + 2 * n / count);
        let strips = (n + 3 * halos) * update + copy * 4 * halos;
        let is_large = planes.saturating_mul(self.area) > large;
        let (way, cost) = match n > 2 * halo && (is_large || strips <= window) {
            true => (Way::Strips, strips),
            false => (Way::Window, window),
        };
        (way, area.saturating_mul(cost))
    }

    /// Returns the method of a rank in these rounds, and the planes of its halo before and after its part; none if the
    /// rank has no planes itself.
    pub(super) fn around(&self, rank: usize, rounds: Rounds) -> (Way, [usize; 2]) {
        let (part, whole, halo) = (self.parts.part(rank), self.parts.length(), self.halo(rounds.at_once()));
        let way = self.cheapest(part.len(), rounds).0;
        let planes = match way {
            _ if part.is_empty() => [0, 0],
            // The whole array, rotated: it wraps around by itself.
            Way::Window if self.circular && part.len() + 2 * halo >= whole => [0, whole - part.len()],
            _ => around(&part, halo, whole, self.circular),
        };
        (way, planes)
    }

    /// Messages of a rank before each of these rounds: enough planes for the deepest.
    pub(super) fn halos(&self, rank: usize, rounds: Rounds) -> Halos {
        let (way, around) = self.around(rank, rounds);
        let sends = (0..self.parts.count()).map(|to| {
            let halo = self.parts.halo(to, self.around(to, rounds).1);
            (to, halo.pieces().filter(|piece| piece.part == rank).map(|piece| piece.planes.clone()).collect::<Vec<_>>())
        });
        let sends = sends.filter(|(_, planes)| !planes.is_empty()).collect();
        Halos { way, around, halo: self.parts.halo(rank, around), sends }
    }

    /// Minimises the estimated time over the number of rounds, where an exchange costs `exchange` multiply-adds.
    ///
    /// # Rationale
    /// All ranks wait for the one with the longest part. Halos for many sweeps are redundant work, but many sweeps a
    /// round need few exchanges. A small array is best computed by every rank as a whole, with one exchange for all
    /// sweeps; that follows from the same estimate.
    pub(super) fn rounds(&self, sweeps: usize, exchange: u128) -> Rounds {
        let longest = self.parts.longest();
        let cost = |rounds: &Rounds| {
            exchange.saturating_add(self.cheapest(longest, *rounds).1).saturating_mul(rounds.count() as u128)
        };
        let all = numbers_to(sweeps).map(|at_once| Rounds::alike(sweeps, at_once));
        all.chain([Rounds::new(sweeps, sweeps)]).min_by_key(cost).expect("there is one round at least")
    }
}

/// Planes that a rank sends and receives before a round, including those from itself. Each piece is a message, in the
/// order in which they lie around the part: first those before it, then those after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Halos {
    pub(super) way: Way,
    /// Number of planes before the part and after it.
    pub(super) around: [usize; 2],
    pub(super) halo: Halo,
    /// Receiving ranks, with the planes of the part that each gets.
    pub(super) sends: Vec<(usize, Vec<Range<usize>>)>,
}

impl Halos {
    /// Ranks with which halos are exchanged in both directions.
    pub(super) fn partners(&self) -> Vec<usize> {
        let gives = |rank: usize| self.halo.pieces().any(|piece| piece.part == rank);
        self.sends.iter().map(|(rank, _)| *rank).filter(|&rank| gives(rank)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::Planes;
    use proptest::prelude::*;
    use std::time::Instant;

    /// Sweeps with the measured costs over parts of these lengths.
    fn swept(lengths: &[usize], area: usize, [radius, work]: [usize; 2], circular: bool) -> Swept {
        Swept { parts: Parts::new(lengths).unwrap(), area, radius, circular, work, costs: Costs::default() }
    }

    /// Elements computed in a round, including halos, relative to the rank's own elements.
    fn computed(swept: &Swept, rounds: Rounds) -> f64 {
        let (n, halo) = (swept.parts.longest(), swept.halo(rounds.at_once()));
        match swept.cheapest(n, rounds).0 {
            Way::Strips => (n + 6 * halo) as f64 / n as f64,
            Way::Window => (n + 2 * halo).min(swept.parts.length()) as f64 / n as f64,
        }
    }

    /// The figures behind the choice: little is computed twice if computing dominates, and rounds are long if exchanges
    /// do.
    #[test]
    fn rounds_are_as_long_as_it_pays() {
        let Costs { exchange: of_processor, exchange_of_device: of_device, .. } = Costs::default();
        for (n, area, radius_and_work, sweeps, exchange, rounds, twice) in [
            // Large images: reading and writing once a round takes part of the time, an exchange next to none.
            (4096, 4096, [1, 9], 1000, of_processor, 10..=80, 1.10),
            (4096, 4096, [1, 9], 1000, of_device, 10..=50, 1.15),
            // Long lines: halos are short compared with the line.
            (10_000_000, 1, [1, 3], 10_000, of_device, 1..=4, 1.01),
            (10_000_000, 1, [10, 21], 10_000, of_device, 4..=32, 1.01),
            // Volumes of thin parts: many exchanges cannot be avoided.
            (64, 1 << 18, [1, 27], 1000, of_device, 100..=500, 1.50),
            (64, 1 << 18, [1, 27], 1000, of_processor, 150..=1000, 1.40),
            // Small arrays: each rank computes the whole, once for all sweeps.
            (100, 1, [1, 3], 10_000, of_device, 1..=1, 4.0),
            (1000, 1, [1, 3], 10_000, of_device, 1..=1, 4.0),
            (1, 1, [1, 3], 1, of_device, 1..=1, 4.0),
        ] {
            let swept = swept(&[n; 4], area, radius_and_work, false);
            let chosen = swept.rounds(sweeps, exchange);
            let what = format!("{n} planes of {area}, {radius_and_work:?}: {chosen:?}, {}", computed(&swept, chosen));
            assert!(rounds.contains(&chosen.count()), "{what}");
            assert!(computed(&swept, chosen) <= twice, "{what}");
        }
    }

    /// A part that is much longer than the others is not copied for their sake, and no number overflows.
    #[test]
    fn long_parts_are_computed_in_place() {
        for circular in [false, true] {
            let swept = swept(&[1 << 40, 3, 1], 1, [10, 21], circular);
            for exchange in [0, 1 << 20, u128::MAX] {
                let rounds = swept.rounds(u32::MAX as usize, exchange);
                assert!((0..rounds.count().min(2)).all(|round| rounds.sweeps_of(round) > 0));
            }
            let rounds = swept.rounds(1000, 1 << 20);
            assert_eq!(swept.around(0, rounds).0, Way::Strips);
        }
    }

    /// A rank's plan for a call takes next to no time among 8,000: it grows linearly with their number, not as its
    /// square.
    #[test]
    fn thousands_of_ranks_are_planned_quickly() {
        for circular in [false, true] {
            let (rank, swept, begun) = (4000, swept(&[12_500; 8000], 1, [1, 3], circular), Instant::now());
            let rounds = swept.rounds(1000, Costs::default().exchange);
            let halos = swept.halos(rank, rounds);
            let seconds = begun.elapsed().as_secs_f64();
            println!("a plan among {} ranks: {:.2} ms", swept.parts.count(), 1000.0 * seconds);
            assert_eq!(halos.sends.iter().map(|(to, _)| *to).collect::<Vec<_>>(), [rank - 1, rank + 1]);
            let from: Vec<_> = halos.halo.pieces().map(|piece| (piece.part, piece.planes.len())).collect();
            assert_eq!(from, [(rank - 1, rounds.at_once()), (rank + 1, rounds.at_once())]);
            // Over all pairs of ranks it would take minutes.
            assert!(seconds < 5.0, "{seconds} s");
        }
    }

    /// Checks that halos are the planes around the part, that their owners send them in the order in which they are
    /// awaited, and that, where a rank computes strips, all planes of the next round's halos come out of them.
    fn check_halos(swept: &Swept, rounds: Rounds) {
        let Swept { ref parts, circular, .. } = *swept;
        let all: Vec<_> = (0..parts.count()).map(|rank| swept.halos(rank, rounds)).collect();
        for (rank, halos) in all.iter().enumerate() {
            let (part, whole) = (parts.part(rank), parts.length() as isize);
            let (way, [before, after]) = (halos.way, halos.around);
            // Each plane of the window is the one of the whole at that position.
            let window = before + part.len() + after;
            let mut seen: Vec<_> = (0..window).map(|plane| (part.start + plane).wrapping_sub(before)).collect();
            for (piece, Planes { first, len, .. }) in halos.halo.placed(window) {
                assert_eq!(len, piece.planes.len());
                seen.splice(first..first + len, piece.planes.clone().map(|plane| parts.part(piece.part).start + plane));
            }
            let places = part.start as isize - before as isize..part.end as isize + after as isize;
            assert!(circular || places.is_empty() || places.start >= 0 && places.end <= whole);
            assert_eq!(seen, places.map(|place| place.rem_euclid(whole) as usize).collect::<Vec<_>>());
            // The halo reaches as far as the sweeps do, unless the whole ends there or is covered.
            let halo = swept.halo(rounds.at_once());
            if part.is_empty() {
                assert!(seen.is_empty());
            } else if circular {
                assert!(before >= halo && after >= halo || way == Way::Window && seen.len() == whole as usize);
            } else {
                assert!(before == halo.min(part.start) && after == halo.min(whole as usize - part.end));
            }
            // Each message awaited of a rank is one that this rank sends.
            for (other, its) in all.iter().enumerate() {
                let awaited = halos.halo.pieces().filter(|piece| piece.part == other).map(|piece| piece.planes.clone());
                let awaited: Vec<_> = awaited.collect();
                let sent = its.sends.iter().find(|(to, _)| *to == rank).map_or(&[][..], |(_, planes)| planes);
                assert_eq!(awaited, sent);
            }
            // Only edges are sent to others.
            if way == Way::Strips {
                for planes in halos.sends.iter().flat_map(|(_, planes)| planes) {
                    let low = before > 0 && planes.end <= halo;
                    let high = after > 0 && planes.start >= part.len() - halo;
                    assert!(low || high, "{planes:?} of {part:?} with a halo of {halo}, {parts:?}");
                }
            }
        }
    }

    /// Two ranks are each other's only neighbours: here a window may be the whole.
    #[test]
    fn halos_of_two_short_parts_are_sent_as_they_are_awaited() {
        for (first, second) in (1..14).flat_map(|first| (0..6).map(move |second| (first, second))) {
            for (radius, sweeps, circular) in [(1, 1, true), (1, 3, true), (2, 2, true), (3, 1, true), (2, 2, false)] {
                for costs in [0, 1 << 24].map(|large| Costs { large, ..Costs::default() }) {
                    let swept = Swept { costs, ..swept(&[first, second], 1, [radius, 3], circular) };
                    check_halos(&swept, Rounds::new(2 * sweeps - 1, sweeps));
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn halos_are_sent_as_they_are_awaited(
            lengths in proptest::collection::vec(prop_oneof![0..4_usize, 0..60_usize], 1..8),
            (radius, sweeps, count, copy) in (1..4_usize, 1..6_usize, 1..4_usize, 0..100_u128),
            large in prop_oneof![Just(0), Just(Costs::default().large)],
            circular: bool,
        ) {
            prop_assume!(lengths.iter().any(|&length| length > 0));
            let costs = Costs { copy, large, ..Costs::default() };
            let swept = Swept { costs, ..swept(&lengths, 1, [radius, 3], circular) };
            check_halos(&swept, Rounds::new(count * sweeps, sweeps));
        }
    }
}
