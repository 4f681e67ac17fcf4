//! Assignment of pages and tiles to the blocks of a launch.

use crate::cuda::arguments::Round;
/// Overhead of a run of pages, in slots.
pub(super) const BEGINNING: usize = 5;

/// Maximum number of rounds of a launch.
pub(super) const ROUNDS: usize = crate::cuda::arguments::ROUNDS as usize;

impl Round {
    /// An empty round.
    pub(super) const NONE: Round =
        Round { block: 0, blocks: 0, tile: 0, tiles: 0, page: 0, pages: 0, share: 1, unused: 0 };

    /// Returns the number of its runs, each some pages of a tile.
    pub(super) fn runs(&self) -> i32 {
        self.tiles * ((self.pages + self.share - 1) / self.share)
    }
}

/// Rounds of a launch, and the maximum of a block's slots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Schedule {
    pub(super) rounds: [Round; ROUNDS],
    pub(super) slots: usize,
}

impl Schedule {
    /// Assigns some pages of some tiles to some blocks, in at most `rounds` rounds: `all` is these as one round, whose
    /// share is ignored. Blocks at work at the same time go through the same pages, as long as there are tiles for
    /// them: if there are fewer tiles, through some ranges of pages, and the remaining blocks take the remaining pages;
    /// if there are more, tile by tile, and then all take the remaining tiles.
    pub(super) fn new(all: Round, rounds: usize) -> Schedule {
        let nothing = Schedule { rounds: [Round::NONE; ROUNDS], slots: 0 };
        let Round { block, blocks, tile, tiles, page, pages, .. } = all;
        if tiles == 0 || pages == 0 {
            return nothing;
        }
        let one = |round: Round, slots: usize| {
            let mut rounds = nothing.rounds;
            rounds[0] = round;
            Schedule { rounds, slots }
        };
        let ranges = blocks / tiles;
        if ranges == 0 {
            let turns = (tiles / blocks) as usize;
            let left = tiles % blocks;
            let slots = pages as usize + BEGINNING;
            let plain = one(Round { share: pages, ..all }, (turns + usize::from(left > 0)) * slots);
            if left == 0 || rounds == 1 {
                return plain;
            }
            let first = one(Round { tiles: tiles - left, share: pages, ..all }, turns * slots);
            let others = Schedule::new(Round { tile: tile + tiles - left, tiles: left, ..all }, rounds - 1);
            return plain.or(first.then(&others, turns * slots + others.slots));
        }
        let busy = ranges * tiles;
        // Ranges of `share` pages each, by as many blocks.
        let ranged = |share: i32| {
            let pages = pages.min(share.saturating_mul(ranges));
            one(Round { blocks: busy, pages, share, ..all }, share as usize + BEGINNING)
        };
        let (mut least, mut most) = (1, (pages - 1) / ranges + 1);
        let mut best = ranged(most);
        while rounds > 1 && busy < blocks && least < most {
            let share = least + (most - least) / 2;
            let first = ranged(share);
            let taken = first.rounds[0].pages;
            let left =
                Round { block: block + busy, blocks: blocks - busy, page: page + taken, pages: pages - taken, ..all };
            let others = Schedule::new(left, rounds - 1);
            if others.slots <= first.slots {
                best = first.then(&others, first.slots);
                most = share;
            } else {
                least = share + 1;
            }
        }
        best
    }

    /// Returns the one that takes fewer slots.
    fn or(self, other: Schedule) -> Schedule {
        if other.slots < self.slots { other } else { self }
    }

    /// Returns the first round, followed by those of another schedule, which are fewer than [`ROUNDS`].
    fn then(&self, others: &Schedule, slots: usize) -> Schedule {
        let mut rounds = self.rounds;
        rounds[1..].copy_from_slice(&others.rounds[..ROUNDS - 1]);
        Schedule { rounds, slots }
    }

    /// Returns the number of its blocks.
    pub(super) fn blocks(&self) -> usize {
        self.rounds.iter().map(|round| round.block + round.blocks.min(round.runs())).max().unwrap_or(0) as usize
    }
}
