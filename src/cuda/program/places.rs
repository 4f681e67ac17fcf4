//! Elements that a thread computes, and the places of those that it reads.

use super::code::{Kind, Register};
use super::emitter::{Emitter, Sized};
use super::shape::Place;
use crate::stencil::Boundary;

/// The threads of a warp: neighbours along the first dimension.
const WARP: i64 = 32;

impl Emitter<'_> {
    pub(super) fn extent(&mut self, d: usize) -> Register {
        self.sized(Sized::Extent(d))
    }

    /// Finds the first element of a thread; one without elements goes to `end`.
    pub(super) fn begin(&mut self, end: &str) -> Place {
        let block = self.code.of(Kind::Word, "mov.u32", &["%ctaid.x"]);
        let thread = self.code.of(Kind::Word, "mov.u32", &["%tid.x"]);
        let rank = self.shape.domain.len();
        let mut indices = Vec::with_capacity(rank);
        if self.shape.flat {
            let own = self.shape.threads[0] * self.shape.rows;
            // From the last block on, where the argument has its number: the end of what the last launch wrote is in the cache.
            let last = self.sized(Sized::LastBlock);
            let last = self.code.of(Kind::Word, "cvt.u32.u64", &[&last]);
            let block = self.code.of(Kind::Word, "sub.s32", &[&block, &last]);
            let block = self.code.of(Kind::Word, "abs.s32", &[&block]);
            let wide = self.code.of(Kind::Long, "mul.wide.u32", &[&block, &own.to_string()]);
            let thread = self.code.of(Kind::Long, "cvt.u64.u32", &[&thread]);
            let mut rest = self.code.of(Kind::Long, "add.s64", &[&wide, &thread]);
            let elements = self.sized(Sized::Elements);
            self.leave_if("ge", &rest, &elements, end);
            for d in 0..rank {
                if d + 1 == rank {
                    indices.push(rest);
                    break;
                }
                let extent = self.extent(d);
                indices.push(self.code.of(Kind::Long, "rem.u64", &[&rest, &extent]));
                rest = self.code.of(Kind::Long, "div.u64", &[&rest, &extent]);
            }
            return Place { indices, offsets: Some(vec![0; rank]), at: None };
        }
        let [columns, rows] = self.shape.threads;
        let own = [columns, rows * self.shape.rows];
        let row = self.code.of(Kind::Word, "mov.u32", &["%tid.y"]);
        let within = [thread, self.code.of(Kind::Word, "mul.lo.u32", &[&row, &self.shape.rows.to_string()])];
        let mut rest = block;
        for d in 0..rank {
            let number = if d + 1 == rank {
                rest
            } else {
                let blocks = self.sized(Sized::Blocks(d));
                let blocks = self.code.of(Kind::Word, "cvt.u32.u64", &[&blocks]);
                let number = self.code.of(Kind::Word, "rem.u32", &[&rest, &blocks]);
                rest = self.code.of(Kind::Word, "div.u32", &[&rest, &blocks]);
                number
            };
            let index = match d {
                0 | 1 => self.code.of(Kind::Word, "mad.lo.u32", &[&number, &own[d].to_string(), &within[d]]),
                _ => number,
            };
            let index = self.code.of(Kind::Long, "cvt.u64.u32", &[&index]);
            if d < 2 {
                let extent = self.extent(d);
                self.leave_if("ge", &index, &extent, end);
            }
            indices.push(index);
        }
        Place { indices, offsets: Some(vec![0; rank]), at: None }
    }

    pub(super) fn leave_if(&mut self, comparison: &str, a: &str, b: &str, label: &str) {
        let when = self.code.of(Kind::Predicate, &format!("setp.{comparison}.s64"), &[a, b]);
        self.code.branch(&when, label);
    }

    /// Goes to `edge` where not all that a thread reads and writes lies inside; along the first dimension, that a warp does:
    /// if some of its threads went there, it would take both ways.
    pub(super) fn branch_unless_inside(&mut self, own: &Place, edge: &str) {
        let mut outside: Option<Register> = None;
        for d in 0..self.shape.domain.len() {
            let [low, high] = self.reach[d];
            let high = high + self.shape.depth(d);
            let index = *own.index(d);
            let is_along_warps = d == 0 && (!self.shape.flat || self.shape.domain.len() == 1);
            let [first, last] = match is_along_warps {
                true => {
                    let last = self.code.of(Kind::Long, "or.b64", &[&index, &(WARP - 1).to_string()]);
                    [self.code.of(Kind::Long, "and.b64", &[&index, &(-WARP).to_string()]), last]
                }
                false => [index, index],
            };
            let mut whens = Vec::new();
            if low < 0 {
                whens.push(self.code.of(Kind::Predicate, "setp.lt.s64", &[&first, &(-low).to_string()]));
            }
            if high > 0 {
                let last = self.code.of(Kind::Long, "add.s64", &[&last, &high.to_string()]);
                let extent = self.extent(d);
                whens.push(self.code.of(Kind::Predicate, "setp.ge.s64", &[&last, &extent]));
            }
            for when in whens {
                outside = Some(match outside {
                    Some(before) => self.code.of(Kind::Predicate, "or.pred", &[&before, &when]),
                    None => when,
                });
            }
        }
        // One branch, behind all that both ways know.
        if let Some(outside) = outside {
            self.code.branch(&outside, edge);
        }
    }

    /// Code for each element of a thread, at places that may lie anywhere. Behind the last it goes to `end`.
    pub(super) fn each_row(&mut self, own: &Place, end: &str, mut each: impl FnMut(&mut Self, &Place)) {
        let mut place = Place { indices: own.indices.clone(), offsets: None, at: None };
        if self.shape.rows == 1 {
            self.code.scope();
            each(self, &place);
            self.code.leave();
            return;
        }
        let (dim, stride) = (self.shape.dim, self.shape.stride);
        let row = self.code.register(Kind::Long);
        let first = own.index(dim);
        self.code.line(&format!("mov.b64 {row}, {first}"));
        let last = self.code.of(Kind::Long, "add.s64", &[first, &(self.shape.rows * stride).to_string()]);
        let extent = self.extent(dim);
        let last = self.code.of(Kind::Long, "min.s64", &[&last, &extent]);
        let again = self.code.label();
        self.code.place(&again);
        self.code.scope();
        place.indices[dim] = row;
        each(self, &place);
        self.code.leave();
        self.code.line(&format!("add.s64 {row}, {row}, {stride}"));
        self.code.repeat("setp.lt.s64", [&row, &last], &again);
        self.code.jump(end);
    }

    /// Moves a place along a dimension, beyond which there is this boundary. `None` where it stays inside; else the
    /// condition under which it lies outside, where there is a constant.
    pub(super) fn moved(
        &mut self,
        place: &mut Place,
        dim: usize,
        offset: i64,
        end: Boundary<f64>,
    ) -> Option<Option<Register>> {
        if let Some(offsets) = &mut place.offsets {
            offsets[dim] += offset;
            let depth = self.shape.depth(dim);
            let reach = &mut self.reach[dim];
            reach[0] = reach[0].min(offsets[dim]);
            // The reach of a thread's last row follows from that of its first.
            reach[1] = reach[1].max(offsets[dim] - depth);
            return None;
        }
        let extent = self.extent(dim);
        let index = place.indices[dim];
        let at = self.code.of(Kind::Long, "add.s64", &[&index, &offset.to_string()]);
        let outside = match offset < 0 {
            true => self.code.of(Kind::Predicate, "setp.lt.s64", &[&at, "0"]),
            false => self.code.of(Kind::Predicate, "setp.ge.s64", &[&at, &extent]),
        };
        place.indices[dim] = match end {
            Boundary::Constant(_) | Boundary::Replicate => {
                let nearest = if offset < 0 { Register::of("0") } else { self.last(dim) };
                self.code.of(Kind::Long, "selp.b64", &[&nearest, &at, &outside])
            }
            Boundary::Symmetric | Boundary::Mirror | Boundary::Circular => {
                self.wrapped(dim, &at, (offset, end), &outside)
            }
        };
        matches!(end, Boundary::Constant(_)).then_some(Some(outside))
    }

    fn last(&mut self, dim: usize) -> Register {
        let extent = self.extent(dim);
        self.code.of(Kind::Long, "add.s64", &[&extent, "-1"])
    }

    /// The index that stands for one which may lie outside.
    fn wrapped(&mut self, dim: usize, at: &str, (offset, end): (i64, Boundary<f64>), outside: &str) -> Register {
        let count = self.shape.domain[dim] as i64;
        let extent = self.extent(dim);
        let twice = self.code.of(Kind::Long, "add.s64", &[&extent, &extent]);
        let (below, distance) = (offset < 0, offset.abs());
        // Once around, or to and fro, is enough where the array is longer than the way.
        let once = match end {
            Boundary::Mirror => distance < count,
            _ => distance <= count,
        };
        let period = match end {
            Boundary::Circular => extent,
            Boundary::Symmetric => twice,
            Boundary::Constant(_) | Boundary::Replicate => unreachable!("it is the nearest element"),
            Boundary::Mirror => {
                let period = self.code.of(Kind::Long, "add.s64", &[&twice, "-2"]);
                self.code.of(Kind::Long, "max.s64", &[&period, "1"])
            }
        };
        if once {
            let inside = match (end, below) {
                (Boundary::Circular, true) => self.code.of(Kind::Long, "add.s64", &[at, &extent]),
                (Boundary::Circular, false) => self.code.of(Kind::Long, "sub.s64", &[at, &extent]),
                (Boundary::Symmetric, true) => self.code.of(Kind::Long, "sub.s64", &["-1", at]),
                (Boundary::Symmetric, false) => {
                    let last = self.code.of(Kind::Long, "add.s64", &[&twice, "-1"]);
                    self.code.of(Kind::Long, "sub.s64", &[&last, at])
                }
                (_, true) => self.code.of(Kind::Long, "neg.s64", &[at]),
                (_, false) => {
                    let last = self.code.of(Kind::Long, "add.s64", &[&twice, "-2"]);
                    self.code.of(Kind::Long, "sub.s64", &[&last, at])
                }
            };
            return self.code.of(Kind::Long, "selp.b64", &[&inside, at, outside]);
        }
        let rest = self.code.of(Kind::Long, "rem.s64", &[at, &period]);
        let negative = self.code.of(Kind::Predicate, "setp.lt.s64", &[&rest, "0"]);
        let around = self.code.of(Kind::Long, "add.s64", &[&rest, &period]);
        let around = self.code.of(Kind::Long, "selp.b64", &[&around, &rest, &negative]);
        if matches!(end, Boundary::Circular) {
            return around;
        }
        let first = match end {
            Boundary::Symmetric => self.code.of(Kind::Long, "add.s64", &[&period, "-1"]),
            _ => period,
        };
        let back = self.code.of(Kind::Long, "sub.s64", &[&first, &around]);
        let forth = self.code.of(Kind::Predicate, "setp.lt.s64", &[&around, &extent]);
        self.code.of(Kind::Long, "selp.b64", &[&around, &back, &forth])
    }
}
