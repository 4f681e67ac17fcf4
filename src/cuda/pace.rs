//! How much work is submitted at once where a run can be stopped.

use std::time::Duration;

/// How long the device is to be busy with a batch.
const BATCH: Duration = Duration::from_millis(20);

/// The most launches in a batch, whatever they seem to take: about as many as a stream takes without making its caller wait.
const MAX_BATCH: usize = 1000;

/// How many launches go into a batch, learnt from those that are over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    batch: usize,
}

impl Pace {
    /// Where a launch takes `guess`, as far as is known.
    pub(super) fn new(guess: Duration) -> Pace {
        Pace { batch: Pace::of(guess) }
    }

    pub(super) fn batch(self) -> usize {
        self.batch
    }

    /// So many launches took that long. It takes no more than twice as many after one batch: a first launch may have been a quick one by chance.
    pub(super) fn took(&mut self, launches: usize, time: Duration) {
        let launches = launches.max(1);
        let each = time / u32::try_from(launches).unwrap_or(u32::MAX);
        self.batch = Pace::of(each).min(2 * launches.max(self.batch));
    }

    fn of(each: Duration) -> usize {
        let batch = BATCH.as_nanos() / each.as_nanos().max(1);
        usize::try_from(batch).unwrap_or(MAX_BATCH).clamp(1, MAX_BATCH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_grow_and_shrink_with_what_launches_take() {
        assert_eq!(Pace::new(Duration::from_secs(1)).batch(), 1);
        assert_eq!(Pace::new(Duration::from_millis(5)).batch(), 4);
        assert_eq!(Pace::new(Duration::ZERO).batch(), MAX_BATCH);
        let mut pace = Pace::new(Duration::from_secs(1));
        let mut batches = Vec::new();
        for _ in 0..6 {
            batches.push(pace.batch());
            pace.took(pace.batch(), pace.batch() as u32 * Duration::from_millis(1));
        }
        assert_eq!(batches, [1, 2, 4, 8, 16, 20]);
        pace.took(20, Duration::from_secs(1));
        assert_eq!(pace.batch(), 1);
    }
}
