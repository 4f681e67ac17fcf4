//! Chains of filters that are open while columns come: each column is added to all of them at once.

use super::state::{Kept, Way};
use crate::cuda::program::code::{Kind, Register, literal};
use crate::cuda::program::emitter::Emitter;
use crate::cuda::program::shape::At;
use crate::stencil::program::{Chain, Step};

impl Emitter<'_> {
    /// Returns the result of a filter whose last column is the latest, which is also added to the chains of later
    /// columns.
    pub(super) fn chained(&mut self, part: usize, at: At) -> Register {
        let kernel = self.kernel;
        let Step::Filter(of, axes, Chain::Entries(entries)) = &kernel.parts[part].step else {
            unreachable!("a chain of entries")
        };
        let kind = Kind::of_numbers(kernel.parts[part].single);
        let multiply_add = format!("fma.rn.{}", kind.number());
        let [rows, lines, _] = axes.map(|axis| axis.extent);
        let along = axes.iter().position(|axis| axis.dim.is_some() && axis.dim == self.walk().route.along);
        let along = along.expect("a filter along columns");
        let columns = axes[along].extent;
        let latest = At { lag: self.walk().route.lags[*of], ..at };
        let At { level, element, line, .. } = at;
        let mut result = None;
        for column in 0..columns {
            let key = (level, part, column, line, element);
            let mut sum = match column {
                0 => self.code.of(kind, &format!("mov.{}", kind.number()), &[&literal(kind, 0.0)]),
                _ => {
                    let register = self.code.register(kind);
                    self.chain(key)[0].clone_from(&register);
                    register
                }
            };
            for (i, entry) in entries.iter().enumerate() {
                let place = [i % rows, i / rows % lines, i / (rows * lines)];
                if place[along] != column {
                    continue;
                }
                let mut ways = [Way::NONE; 3];
                for (d, axis) in axes.iter().enumerate().filter(|(d, _)| *d != along) {
                    if let Some(dim) = axis.dim {
                        ways[self.direction(dim)].offset = place[d] as i64 - axis.before as i64;
                    }
                }
                let sample = self.beside(*of, ways, latest);
                let entry = self.number(&format!("entry {part} {i}"), kind, *entry);
                sum = self.code.of(kind, &multiply_add, &[&sample, &entry, &sum]);
            }
            let next = (level, part, column + 1, line, element);
            if column + 1 < columns {
                self.chain(next)[1].clone_from(&sum);
            }
            result = Some(sum);
        }
        result.expect("a filter has columns")
    }

    /// Returns a chain, and its next value.
    fn chain(&mut self, key: Kept) -> &mut [Register; 2] {
        let chains = &mut self.walk_mut().chains;
        let known = chains.iter().position(|(chain, _)| *chain == key);
        let at = known.unwrap_or_else(|| {
            chains.push((key, [Register::new(); 2]));
            chains.len() - 1
        });
        &mut chains[at].1
    }

    /// Makes each chain one column longer.
    pub(super) fn lengthen(&mut self) {
        for ((_, part, ..), [to, from]) in self.walk().chains.clone() {
            self.code.set(Kind::of_numbers(self.kernel.parts[part].single), &to, &from);
        }
    }
}
