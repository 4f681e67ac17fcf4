//! Cut of an array into parts for several devices, and the number of sweeps between exchanges of halos.
//!
//! # Depth
//! A halo is computed redundantly, and an exchange takes time: [`Partition::new`] weighs both. Between devices that are
//! peers an exchange of halos for some hundred sweeps takes microseconds, and such rounds take milliseconds. Where it
//! takes longer, a device may have three parts: those at its ends are swept first, and while their halos travel, on a
//! stream of their own, the one in the middle is swept.

use crate::cuda::cut::{Cut, Size, Tile};
use crate::cuda::routes::work::Work;
use crate::stencil::{Error, Real};

/// Multiply-adds in a second, of a large array on a chip of the kind that was measured (an H200: 10 to 14 T). Others
/// take longer, and so an exchange counts less with them.
const MULTIPLY_ADDS: f64 = 12e12;

/// Minimum time of a sweep, in seconds.
const MIN_SWEEP: f64 = 1e-6;

/// Idle time of a device at the begin and the end of a launch, in seconds.
const LAUNCH: f64 = 4e-6;

/// Time that each part of a device but the first adds to a launch, in seconds: its begin and end, and copies of halos
/// between parts of one device. From two rounds of two H200 with three parts each: 80 us of 8 sweeps of 3 x 3 over
/// 16384 x 16384, and 96 us of two of 3 x 3 x 3 over 640 x 640 x 640.
const EXTRA_PART: f64 = 40e-6;

/// A link between two devices.
#[derive(Debug, Clone, Copy)]
struct Link {
    /// In seconds, events included.
    latency: f64,
    /// In bytes a second.
    rate: f64,
}

/// Link between two H200 of one host, 395 GB/s each way, and 4.9 us for 8 KB with events; with a margin.
const DIRECT: Link = Link { latency: 15e-6, rate: 250e9 };

/// Link through the host's memory, in both directions at the same time.
const THROUGH_THE_HOST: Link = Link { latency: 60e-6, rate: 15e9 };

/// Possible numbers of parts on a device.
const PARTS_EACH: [usize; 2] = [1, 3];

/// Cut of an array into parts, and the sources of their halos.
#[derive(Debug)]
pub(crate) struct Partition<T> {
    pub(super) cut: Cut<T>,
    /// Device of each part, and sources of its halo.
    pub(super) parts: Vec<Part>,
    /// Maximum number of parts on a device.
    each: usize,
}

#[derive(Debug)]
pub(super) struct Part {
    pub(super) device: usize,
    pub(super) tile: Tile,
    pub(super) halo: Vec<Segment>,
}

/// Neighbouring elements of a halo: the part that computes them, their place there, and their place in the halo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) part: usize,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) elements: usize,
}

impl<T: Real> Partition<T> {
    /// Chooses the partition for this work on `devices` devices, with `multiply_adds` multiply-adds for an output.
    /// `fused` returns the number of sweeps in a launch over an array of this size. `None` if one device takes no
    /// longer, or the array cannot be cut.
    ///
    /// # Errors
    /// Those of `fused`.
    pub(crate) fn new(
        work: &Work<T>,
        multiply_adds: usize,
        devices: usize,
        direct: bool,
        fused: impl FnOnce(Size) -> Result<usize, Error>,
    ) -> Result<Option<Partition<T>>, Error> {
        let Some(along) = dimension(work, devices) else { return Ok(None) };
        let link = if direct { DIRECT } else { THROUGH_THE_HOST };
        let mut size = work.size;
        size[along] = size[along].div_ceil(devices);
        let depth = depth(work, along, multiply_adds, fused(size)?, devices, link);
        Ok(depth.map(|(each, at_once)| Partition::with(work, along, devices, each, at_once)))
    }

    /// Partitions with `each` parts on a device, and at most `at_once` sweeps in a round. `None` if the array cannot be
    /// cut.
    pub(crate) fn of_depth(work: &Work<T>, devices: usize, (each, at_once): (usize, usize)) -> Option<Partition<T>> {
        Some(Partition::with(work, dimension(work, devices)?, devices, each, at_once))
    }

    /// Partitions with `each` parts on a device, cut along this dimension, and at most `at_once` sweeps in a round.
    fn with(work: &Work<T>, along: usize, devices: usize, each: usize, at_once: usize) -> Partition<T> {
        let length = work.size[along];
        let reach = work.radius[along];
        // Without a halo nothing is exchanged.
        let at_once = if reach == 0 { work.sweeps } else { at_once.clamp(1, work.sweeps) };
        // A device's parts are neighbours; if there are fewer parts than requested, some devices have fewer.
        let wanted = (devices * each).min(length);
        let cut = Cut::parts(work.size, work.sides, along, wanted, reach * at_once, at_once);
        let count = cut.count();
        let part = |number: usize| {
            let tile = cut.tile(number);
            let halo = if reach == 0 { Vec::new() } else { halo(&cut, along, &tile) };
            Part { device: number * devices / count, tile, halo }
        };
        let parts: Vec<Part> = (0..count).map(part).collect();
        let most = |device: usize| parts.iter().filter(|part| part.device == device).count();
        let each = (0..devices).map(most).max().unwrap_or(0);
        Partition { cut, parts, each }
    }

    /// Returns the number of buffers that a device needs, and the bytes of each.
    pub(crate) fn buffers(&self) -> (usize, usize) {
        (2 * self.each, self.cut.most_samples() * size_of::<T>())
    }

    /// Returns the numbers of a device's parts, in the order in which they are swept: first those that others wait for.
    pub(super) fn of_device(&self, device: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> =
            (0..self.parts.len()).filter(|&number| self.parts[number].device == device).collect();
        numbers.sort_by_key(|&number| self.of_others(number).is_empty());
        numbers
    }

    /// Returns the segments of a part's halo that lie on other devices.
    pub(super) fn of_others(&self, number: usize) -> Vec<&Segment> {
        let part = &self.parts[number];
        part.halo.iter().filter(|segment| self.parts[segment.part].device != part.device).collect()
    }

    /// Returns the parts of other devices whose halos are filled from this one.
    pub(super) fn shown_in(&self, number: usize) -> Vec<usize> {
        let device = self.parts[number].device;
        let shows = |other: &usize| self.parts[*other].halo.iter().any(|segment| segment.part == number);
        (0..self.parts.len()).filter(|&other| self.parts[other].device != device).filter(shows).collect()
    }
}

/// Returns the best dimension to cut an array for `devices` devices: one along which no output needs its neighbours;
/// else the last one, where the elements of a halo are neighbours in memory, or the longest.
fn dimension<T>(work: &Work<T>, devices: usize) -> Option<usize> {
    let Work { size, radius, .. } = work;
    let long = |d: &usize| size[*d] >= 2 * devices;
    let free = [2, 1].into_iter().filter(long).find(|&d| radius[d] == 0);
    let last = [2, 1].into_iter().find(|&d| size[d] >= 8 * devices * radius[d].max(1));
    let longest = if size[2] >= size[1] { 2 } else { 1 };
    free.or(last).or(Some(longest)).filter(|&d| size[d] > 1)
}

/// Returns the number of parts on a device and of sweeps in a round such that a sweep takes least time; `None` if one
/// device takes no longer for the whole array. A launch does `fused` sweeps; rounds of whole launches are faster than
/// others.
fn depth<T>(
    work: &Work<T>,
    along: usize,
    multiply_adds: usize,
    fused: usize,
    devices: usize,
    link: Link,
) -> Option<(usize, usize)> {
    let Work { size, radius, sweeps, .. } = work;
    let elements = size.iter().product::<usize>() as f64;
    let (length, reach) = (size[along] as f64 / devices as f64, radius[along] as f64);
    let plane = elements / size[along] as f64;
    let sweep = (elements / devices as f64 * multiply_adds as f64 / MULTIPLY_ADDS).max(MIN_SWEEP);
    let time = |each: usize, at_once: usize| {
        let (parts, at_once) = (each as f64, at_once as f64);
        let halo = reach * at_once;
        let exchange = link.latency + halo * plane * size_of::<T>() as f64 / link.rate;
        // The exchange overlaps with the sweeps of the parts that do not wait for it.
        let hidden = if each > 1 { sweep * at_once * (parts - 2.0) / parts } else { 0.0 };
        sweep * (1.0 + 2.0 * parts * halo / length)
            + (LAUNCH + (parts - 1.0) * EXTRA_PART) / at_once.min(fused as f64)
            + (exchange - hidden).max(0.0) / at_once
    };
    let fused = fused.clamp(1, *sweeps);
    let fewer = std::iter::successors(Some(fused), |&k| (k > 1).then_some(k / 2));
    let launches = std::iter::successors(Some(1_usize), |&n| n.checked_add((n / 8).max(1)));
    let more = launches.map_while(|n| n.checked_mul(fused).filter(|k| k <= sweeps));
    let depths: Vec<usize> = fewer.chain(more).chain([*sweeps]).collect();
    let ways = PARTS_EACH.into_iter().flat_map(|each| depths.iter().map(move |&at_once| (each, at_once)));
    let alone = (elements * multiply_adds as f64 / MULTIPLY_ADDS).max(MIN_SWEEP) + LAUNCH / fused as f64;
    let best = ways.min_by(|a, b| time(a.0, a.1).total_cmp(&time(b.0, b.1)));
    best.filter(|best| time(best.0, best.1) < alone)
}

/// Returns the sources of the halo of a part.
fn halo<T: Real>(cut: &Cut<T>, along: usize, tile: &Tile) -> Vec<Segment> {
    let size = tile.size();
    let outputs = tile.output(along);
    let [before, after] = tile.around(along);
    let (inner, outer) = (size[..along].iter().product::<usize>(), size[along + 1..].iter().product::<usize>());
    let length = cut.size()[along] as isize;
    let first = outputs.start as isize - before as isize;
    let mut segments = Vec::new();
    let sides = [first..outputs.start as isize, outputs.end as isize..(outputs.end + after) as isize];
    for mut places in sides {
        while !places.is_empty() {
            // In a periodic array, a halo may contain a place more than once.
            let place = places.start.rem_euclid(length) as usize;
            let owner = cut.tile_with(along, place);
            let its = cut.tile(owner);
            let run = (its.output(along).end - place).min(places.len());
            let (in_it, its_length) = (place - its.output(along).start + its.around(along)[0], its.size()[along]);
            for slice in 0..outer {
                segments.push(Segment {
                    part: owner,
                    from: inner * (in_it + its_length * slice),
                    to: inner * ((places.start - first) as usize + size[along] * slice),
                    elements: inner * run,
                });
            }
            places.start += run as isize;
        }
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::SharedOutput;
    use crate::platform::watch::Watch;
    use crate::stencil::{Boundary, Compute, Convolution, Ends, Filter, Reference, Sides};

    /// Several parts, swept in rounds as arrays of their own, with halos filled according to the partition, give the
    /// whole array: for all boundaries, along each dimension, with halos longer than parts.
    #[test]
    fn parts_and_their_halos_are_the_array() {
        let ends = |low, high| Ends::new(low, high).unwrap();
        let [one, two] = [7.5, -3.25].map(Boundary::Constant);
        let same = Boundary::all_kinds(7.5);
        let own = [
            [ends(one, two), ends(Boundary::Mirror, two), ends(Boundary::Symmetric, Boundary::Replicate)],
            [Boundary::Replicate.into(), Boundary::Circular.into(), ends(two, Boundary::Symmetric)],
            [ends(two, Boundary::Mirror), ends(one, Boundary::Mirror), Boundary::Circular.into()],
        ];
        let sides: Vec<Sides<f64>> = same.map(Sides::from).into_iter().chain(own.map(Sides::from)).collect();
        let numbers = |count: usize| (0..count).map(|i| ((i * 7919) % 1013) as f64 / 512.0 - 1.0).collect::<Vec<_>>();
        let (mut cut, mut between) = (0, 0);
        for (size, filter, sweeps) in [
            ([1, 40, 1], [1, 3, 1], 7),
            ([1, 7, 1], [1, 5, 1], 5),
            ([1, 2, 1], [1, 7, 1], 3),
            ([3, 20, 1], [3, 5, 1], 4),
            ([2, 9, 20], [3, 3, 3], 4),
            ([3, 4, 5], [1, 3, 7], 3),
            ([2, 20, 3], [3, 3, 1], 5),
            ([4, 5, 6], [3, 1, 1], 6),
        ] {
            let (input, entries) = (numbers(size.iter().product()), numbers(filter.iter().product()));
            let filter = Filter::new(entries, filter).unwrap();
            for &sides in &sides {
                let run = |size, sweeps, input: &[f64]| {
                    let what = Convolution::new(size, filter.clone()).with_boundary(sides).with_sweeps(sweeps);
                    let mut output = vec![f64::NAN; input.len()];
                    Reference.convolution(&what, input.into(), (&mut output[..]).into(), &Watch::new()).unwrap();
                    output
                };
                let expected = run(size, sweeps, &input);
                let work = Work { size, radius: filter.radius(), sides, sweeps };
                for (devices, each, at_once) in
                    [(1, 1, 2), (2, 1, 1), (2, 3, 2), (3, 1, 3), (3, 3, 1), (5, 1, 2), (8, 3, 1), (2, 1, 100)]
                {
                    for along in [1, 2].into_iter().filter(|&d| size[d] > 1) {
                        let partition = Partition::with(&work, along, devices, each, at_once);
                        let what = format!("{partition:?}");
                        let gather = |part: &Part| {
                            let mut samples = vec![f64::NAN; part.tile.samples()];
                            partition.cut.gather(&part.tile, &input, &mut samples);
                            samples
                        };
                        let mut arrays: Vec<_> = partition.parts.iter().map(gather).collect();
                        let rounds = sweeps.div_ceil(partition.cut.sweeps());
                        for round in 0..rounds {
                            let now = partition.cut.sweeps().min(sweeps - round * partition.cut.sweeps());
                            arrays = arrays
                                .iter()
                                .zip(&partition.parts)
                                .map(|(array, part)| run(part.tile.size(), now, array))
                                .collect();
                            if round + 1 == rounds {
                                break;
                            }
                            let last = arrays.clone();
                            for (array, part) in arrays.iter_mut().zip(&partition.parts) {
                                for Segment { part: owner, from, to, elements } in &part.halo {
                                    array[*to..to + elements].copy_from_slice(&last[*owner][*from..from + elements]);
                                }
                            }
                        }
                        let mut output = vec![f64::NAN; input.len()];
                        for (array, part) in arrays.iter().zip(&partition.parts) {
                            // SAFETY: there is no other thread.
                            unsafe {
                                partition.cut.scatter(
                                    &part.tile,
                                    &array[part.tile.span()],
                                    &SharedOutput::new(&mut output),
                                );
                            }
                        }
                        assert_eq!(output, expected, "{what}");
                        cut += usize::from(partition.parts.len() > 1);
                        // Readers and sources know of each other.
                        for (number, part) in partition.parts.iter().enumerate() {
                            assert!(part.device < devices, "{what}");
                            for other in partition.shown_in(number) {
                                assert!(
                                    partition.of_others(other).iter().any(|segment| segment.part == number),
                                    "{what}"
                                );
                                between += 1;
                            }
                        }
                        // First the parts that others wait for; each part once.
                        let mut all: Vec<_> = (0..devices).flat_map(|device| partition.of_device(device)).collect();
                        all.sort_unstable();
                        assert_eq!(all, (0..partition.parts.len()).collect::<Vec<_>>(), "{what}");
                    }
                }
            }
        }
        assert!(cut > 400 && between > 1000, "{cut} {between}");
    }

    /// Redundant work and waits are next to nothing if parts are large.
    #[test]
    fn halos_are_as_deep_as_pays() {
        let work = |size, radius, sweeps| Work::<f64> { size, radius, sides: Sides::default(), sweeps };
        let chosen = |work: &Work<f64>, multiply_adds, fused, devices, direct| {
            let along = dimension(work, devices).unwrap();
            let link = if direct { DIRECT } else { THROUGH_THE_HOST };
            let (each, at_once) = depth(work, along, multiply_adds, fused, devices, link).unwrap();
            let twice = 2.0 * (each * work.radius[along] * at_once * devices) as f64 / work.size[along] as f64;
            (along, each, at_once, twice)
        };
        let line = work([1, 100_000_000, 1], [0, 1, 0], 20_000);
        let (along, each, at_once, twice) = chosen(&line, 3, 64, 2, true);
        assert!((along, each) == (1, 1) && at_once > 500 && twice < 0.001, "{each} {at_once} {twice}");
        assert_eq!(at_once % 64, 0);
        let image = work([16_384, 16_384, 1], [1, 1, 0], 2000);
        for fused in [7, 8] {
            let (along, each, at_once, twice) = chosen(&image, 9, fused, 2, true);
            assert!(along == 1 && each == 1 && (16..100).contains(&at_once) && twice < 0.02, "{at_once} {twice}");
            assert_eq!(at_once % fused, 0);
        }
        let volume = work([640, 640, 640], [1, 1, 1], 1000);
        let (along, each, at_once, twice) = chosen(&volume, 27, 2, 2, true);
        assert!((along, each) == (2, 1) && twice < 0.05, "{at_once} {twice}");
        // A long exchange is hidden.
        let (_, each, at_once, twice) = chosen(&volume, 27, 2, 2, false);
        assert!(each == 3 && twice < 0.2, "{at_once} {twice}");
        // Small arrays stay on one device.
        for (size, fused) in [([1, 4000, 1], 1_000_000), ([256, 256, 1], 12)] {
            assert_eq!(depth(&work(size, [0, 1, 0], 1_000_000), 1, 3, fused, 2, DIRECT), None);
        }
        // A launch may do all sweeps: but halos do not become many times as long as the outputs between them.
        let long = work([1, 10_000_000, 1], [0, 10, 0], 1_000_000);
        let (_, _, at_once, twice) = chosen(&long, 21, 1_000_000, 2, true);
        assert!(twice < 0.1, "{at_once} {twice}");
        // Pages, if there are enough of them; else columns. Along a dimension without neighbours, nothing is exchanged.
        assert_eq!(dimension(&work([100, 100, 400], [1, 1, 1], 10), 4), Some(2));
        assert_eq!(dimension(&work([100, 400, 3], [1, 1, 1], 10), 4), Some(1));
        assert_eq!(dimension(&work([100, 400, 50], [1, 1, 0], 10), 4), Some(2));
        assert_eq!(dimension(&work([100, 400, 50], [1, 0, 1], 10), 4), Some(1));
        assert_eq!(dimension(&work([100, 1, 1], [1, 0, 0], 10), 4), None);
        let pages = Partition::new(&work([1000, 400, 50], [1, 1, 0], 1000), 9, 4, true, |size| {
            assert_eq!(size, [1000, 400, 13]);
            Ok(7)
        });
        let pages = pages.unwrap().unwrap();
        assert_eq!((pages.cut.sweeps(), pages.parts.len()), (1000, 4));
        assert!(pages.parts.iter().all(|part| part.halo.is_empty()));
    }
}
