//! Division of a program into kernels.
//!
//! # Rationale
//! Elementwise operations are merged into one kernel with their neighbours in the program: intermediate results are not
//! stored. A kernel ends at an operation that needs elements at other places than the result's: a filter reads an array
//! that is in memory. (Only a filter of few entries over few operations recomputes these for each entry, if an engine
//! [allows](Limits::again) that.) A scalar is recomputed by every kernel that needs it.
//!
//! Arrays are flat, and each filter and each expansion sees them in dimensions of its own. The dimensions of a kernel
//! are a refinement of all of these: their extents, as products from the first one on, divide each other.

use std::collections::HashMap;

use super::group::{Group, Seen, joined, products};
use super::kernel::{Axis, Kernel, Part, Reduced, Step, View, steps};
use super::{Chain, Node, Program, Reach, Value};
use crate::stencil::{Binary, Operation, Places, Term};

/// Limits of an engine for a kernel.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Maximum number of entries of all filters in a kernel; larger filters may be run separately.
    pub entries: usize,
    /// Maximum number of operations recomputed for the entries of a filter over values that are not stored; 0 for none.
    pub again: usize,
    /// Maximum number of arrays that a kernel reads; one that is seen in several ways counts for each.
    pub arrays: usize,
    /// Maximum number of operations, each of which may be stored and may have a number.
    pub parts: usize,
    /// Maximum number of reductions of all elements; 0 if a reduction is an operation of its own.
    pub numbers: usize,
    /// True if the engine's own methods are faster for derivatives, and for filters not merged with other operations.
    pub alone: bool,
}

/// Maximum number of operations behind a scalar that is recomputed where it is needed.
const MOST_BEHIND_A_NUMBER: usize = 24;

/// A part of a program that is run at once.
#[derive(Debug, Clone)]
pub enum Stage {
    /// A kernel.
    Kernel(Kernel),
    /// An operation for a method of the engine.
    Single(Value),
}

/// A program in stages, in the order of execution.
#[derive(Debug)]
pub struct Plan {
    /// Stages, each after those that it needs.
    pub stages: Vec<Stage>,
}

/// Place of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Made {
    /// In memory, from this level on.
    Memory(usize),
    /// In a group.
    Group(usize),
    /// Recomputed where it is needed, from this level on: it is one number.
    Anywhere(usize),
}

struct Cutter<'p> {
    program: &'p Program,
    limits: Limits,
    made: Vec<Made>,
    /// Number of operations behind one element of each result, unless it is in memory.
    costs: Vec<usize>,
    groups: Vec<Group>,
    singles: Vec<(usize, Value)>,
    /// Recomputed numbers that are stored, too.
    scalars: Vec<(usize, Value)>,
}

impl Plan {
    /// Plans a program whose operations are run one by one.
    pub fn of_singles(program: &Program, outputs: &[Value]) -> Plan {
        let needed = program.needed(outputs);
        let singles = program
            .nodes()
            .iter()
            .enumerate()
            .filter(|(at, node)| needed[*at] && !matches!(node.operation, Operation::Input(_)));
        Plan { stages: singles.map(|(at, _)| Stage::Single(Value(at))).collect() }
    }

    /// Plans a program for these results.
    pub fn new(program: &Program, outputs: &[Value], limits: Limits) -> Plan {
        let mut cutter = Cutter::new(program, limits);
        cutter.place_all(outputs);
        outputs.iter().for_each(|&value| cutter.store(value));
        cutter.stages()
    }
}

impl<'p> Cutter<'p> {
    fn new(program: &'p Program, limits: Limits) -> Cutter<'p> {
        let (made, costs, groups) = (Vec::new(), Vec::new(), Vec::new());
        Cutter { program, limits, made, costs, groups, singles: Vec::new(), scalars: Vec::new() }
    }

    /// Places everything that these results need.
    fn place_all(&mut self, outputs: &[Value]) {
        let needed = self.program.needed(outputs);
        for (at, node) in self.program.nodes().iter().enumerate() {
            let made = if needed[at] { self.place(Value(at), node) } else { Made::Memory(0) };
            let cost = self.cost(node, made);
            self.made.push(made);
            self.costs.push(cost);
        }
    }
}

impl Kernel {
    /// Returns the one kernel that computes all of these results, whose filters may read its own results, and the parts
    /// of the values `others`, of the kernel's length, which it does not store. `None` if a program is more than that.
    /// Results have the kernel's length, or one element; inputs may be among them.
    pub fn whole(
        program: &Program,
        (outputs, others): (&[Value], &[Value]),
        limits: Limits,
    ) -> Option<(Kernel, Vec<usize>)> {
        let mut cutter = Cutter::new(program, Limits { again: usize::MAX, numbers: 0, ..limits });
        let all = [outputs, others].concat();
        cutter.place_all(&all);
        let in_group = |value: &Value| match cutter.made[value.0] {
            Made::Group(group) => Some(group),
            _ => None,
        };
        let group = outputs.iter().find_map(in_group)?;
        let len = cutter.groups[group].len;
        let is_here = |value: &Value| match cutter.made[value.0] {
            Made::Group(own) => own == group,
            Made::Memory(level) => level == 0 && [1, len].contains(&program.node(*value).len),
            Made::Anywhere(level) => level == 0,
        };
        let needed = program.needed(&all);
        // A new group is begun if something does not fit into an existing one.
        let are_here = outputs.iter().all(is_here) && (0..needed.len()).all(|at| !needed[at] || is_here(&Value(at)));
        if !are_here || others.iter().any(|value| program.node(*value).len != len) {
            return None;
        }
        cutter.groups[group].outputs = outputs.to_vec();
        let mut builder = Builder::new(&cutter, group);
        builder.fill();
        let others = others.iter().map(|value| builder.part(*value, None)).collect();
        Some((builder.kernel, others))
    }
}

impl Cutter<'_> {
    /// Level from which on a result can be read from memory.
    fn in_memory(&self, value: Value) -> usize {
        match self.made[value.0] {
            Made::Memory(level) => level,
            Made::Group(group) => self.groups[group].level + 1,
            // A kernel of its own stores it.
            Made::Anywhere(level) => level + 1,
        }
    }

    /// Lets the kernel that computes a result store it.
    fn store(&mut self, value: Value) {
        match self.made[value.0] {
            Made::Memory(_) => {}
            Made::Group(group) => {
                let outputs = &mut self.groups[group].outputs;
                if !outputs.contains(&value) {
                    outputs.push(value);
                }
            }
            Made::Anywhere(level) => {
                if !self.scalars.contains(&(level, value)) {
                    self.scalars.push((level, value));
                }
            }
        }
    }

    fn place(&mut self, value: Value, node: &Node) -> Made {
        match &node.operation {
            Operation::Input(_) => return Made::Memory(0),
            _ if node.len == 0 => {}
            Operation::Reduce(_, first, second, [1, len, 1]) if self.limits.numbers > 0 && *len > 1 => {
                return self.reduced(value, [Some(*first), *second], *len);
            }
            Operation::Reduce(..)
            | Operation::Put(..)
            | Operation::Scan(..)
            | Operation::Sort(..)
            | Operation::Extreme(..) => {}
            Operation::Pick(places, _) if !matches!(**places, Places::Section(_)) => {}
            Operation::Filter(filter, of) => {
                let reach = Reach::new(filter);
                // A derivative or filter of a single element would be a recomputed number, over no array.
                let is_derivative = matches!(reach.chain, Chain::Differences(_));
                let is_small = reach.entries().len() <= self.limits.entries && !(is_derivative && self.limits.alone);
                if node.len > 1 && filter.sweeps() == 1 && is_small {
                    return self.filtered(*of, node.len, &reach);
                }
            }
            Operation::Pick(places, of) => {
                if let Places::Section(section) = &**places {
                    let seen = Seen::of_size(&section.size);
                    return self.grouped(node, &[(*of, false)], &seen);
                }
            }
            Operation::Pair(_, terms, expansion) => {
                let operands: Vec<_> = terms.iter().filter_map(|term| Some((term.value()?, true))).collect();
                let plain = operands.iter().all(|(value, _)| [1, node.len].contains(&self.program.node(*value).len));
                let seen = if plain { Seen::default() } else { Seen::of_size(&expansion.size()) };
                return self.grouped(node, &operands, &seen);
            }
            operation => {
                let operands: Vec<_> = operation.values().map(|value| (value, true)).collect();
                return self.grouped(node, &operands, &Seen::default());
            }
        }
        self.single(value, node)
    }

    /// Places an operation that has a method of the engine.
    fn single(&mut self, value: Value, node: &Node) -> Made {
        let mut level = 0;
        for operand in node.operation.values() {
            self.store(operand);
            level = level.max(self.in_memory(operand));
        }
        self.singles.push((level, value));
        Made::Memory(level + 1)
    }

    /// Places a filter over an array in memory, or over values recomputed for each entry.
    fn filtered(&mut self, of: Value, len: usize, reach: &Reach) -> Made {
        let node = Node { operation: Operation::Fill(0.0), single: false, len };
        let samples = reach.samples();
        let again =
            matches!(self.made[of.0], Made::Group(_)) && self.costs[of.0].saturating_mul(samples) <= self.limits.again;
        self.grouped(&node, &[(of, again)], &Seen::of_filter(reach))
    }

    /// Places a reduction in the kernel that computes its elements, or reads them.
    fn reduced(&mut self, value: Value, of: [Option<Value>; 2], len: usize) -> Made {
        let node = Node { operation: Operation::Fill(0.0), single: false, len };
        let operands: Vec<_> = of.into_iter().flatten().map(|of| (of, true)).collect();
        match self.grouped(&node, &operands, &Seen { numbers: 1, ..Seen::default() }) {
            Made::Group(group) => {
                self.groups[group].numbers.push(value);
                Made::Memory(self.groups[group].level + 1)
            }
            made => made,
        }
    }

    /// Number of operations behind one element of a node's result, at its place.
    fn cost(&self, node: &Node, made: Made) -> usize {
        if matches!(made, Made::Memory(_)) {
            return 1;
        }
        let operands = || {
            node.operation.values().map(|of| match self.made[of.0] {
                Made::Anywhere(_) => self.costs[of.0],
                there if there == made => self.costs[of.0],
                _ => 1,
            })
        };
        match &node.operation {
            Operation::Filter(filter, _) => {
                let samples = Reach::new(filter).samples();
                operands().fold(samples, |sum, cost| sum.saturating_add(samples.saturating_mul(cost)))
            }
            _ => operands().fold(1, usize::saturating_add),
        }
    }

    /// Number of parts of a kernel for a node: its own, and those of numbers that it needs.
    fn parts(&self, node: &Node, operands: &[(Value, bool)]) -> usize {
        let own = 1 + usize::from(matches!(node.operation, Operation::MultiplyAdd(.., Some(_))));
        let numbers = operands.iter().filter(|(of, may)| *may && matches!(self.made[of.0], Made::Anywhere(_)));
        numbers.map(|(of, _)| self.costs[of.0]).fold(own, usize::saturating_add)
    }

    /// Level from which on these operands are available.
    fn earliest(&self, operands: &[(Value, bool)]) -> usize {
        let level = |&(of, may): &(Value, bool)| match self.made[of.0] {
            Made::Anywhere(level) if may => level,
            _ => self.in_memory(of),
        };
        operands.iter().map(level).max().unwrap_or(0)
    }

    /// Places an elementwise operation. Each operand is read from memory, or, if it `may` be, computed in the kernel.
    fn grouped(&mut self, node: &Node, operands: &[(Value, bool)], seen: &Seen) -> Made {
        let scalar = |cutter: &Cutter, value: Value| matches!(cutter.made[value.0], Made::Anywhere(_));
        let parts = self.parts(node, operands);
        let is_small = parts <= MOST_BEHIND_A_NUMBER && operands.iter().all(|&(of, may)| may || !self.is_computed(of));
        // A random number depends on its place, and so differs between elements.
        let is_random = matches!(node.operation, Operation::Random(..));
        if node.len == 1 && seen.spans.is_empty() && is_small && !is_random {
            let level = self.earliest(operands);
            for &(of, _) in operands {
                if !scalar(self, of) {
                    self.store(of);
                }
            }
            return Made::Anywhere(level);
        }
        // Prefers a kernel that computes some of the operands, if it can take this, too; else the earliest that can.
        let group =
            (0..self.groups.len()).filter(|&group| self.joins(group, node, operands, seen)).min_by_key(|&group| {
                let makes = operands.iter().any(|&(of, _)| self.made[of.0] == Made::Group(group));
                (!makes, self.groups[group].level)
            });
        let group = group.unwrap_or_else(|| {
            self.groups.push(Group::new(self.earliest(operands), node.len));
            self.groups.len() - 1
        });
        for &(of, may) in operands {
            let here = may && self.made[of.0] == Made::Group(group);
            if !(here || may && scalar(self, of)) {
                self.store(of);
            }
        }
        let read: Vec<_> =
            operands.iter().map(|(of, _)| *of).filter(|of| self.made[of.0] != Made::Group(group)).collect();
        let group_of = &mut self.groups[group];
        group_of.cuts = joined(group_of.len, [&group_of.cuts, &seen.cuts], [&[], &[]]).unwrap_or_default();
        group_of.spans.extend(&seen.spans);
        group_of.entries += seen.entries;
        group_of.parts += parts;
        if !seen.cuts.is_empty() && seen.spans.is_empty() {
            group_of.views += read.len();
        }
        for of in read {
            if !group_of.inputs.contains(&of) {
                group_of.inputs.push(of);
            }
        }
        Made::Group(group)
    }

    fn is_computed(&self, value: Value) -> bool {
        !matches!(self.made[value.0], Made::Memory(_))
    }

    /// True if a kernel can take this, too.
    fn joins(&self, at: usize, node: &Node, operands: &[(Value, bool)], seen: &Seen) -> bool {
        let group = &self.groups[at];
        let has = |&(of, may): &(Value, bool)| match self.made[of.0] {
            Made::Group(own) if own == at => may && self.program.node(of).len == node.len,
            Made::Anywhere(level) if may => level <= group.level,
            _ => self.in_memory(of) <= group.level,
        };
        group.len == node.len
            && operands.iter().all(has)
            && group.entries + seen.entries <= self.limits.entries
            && group.numbers.len() + seen.numbers <= self.limits.numbers
            && group.parts + self.parts(node, operands) <= self.limits.parts
            && group.inputs.len() + group.views + operands.len() <= self.limits.arrays
            && joined(node.len, [&group.cuts, &seen.cuts], [&group.spans, &seen.spans]).is_some()
    }

    fn stages(mut self) -> Plan {
        for (level, value) in std::mem::take(&mut self.scalars) {
            self.groups.push(Group { outputs: vec![value], ..Group::new(level, 1) });
        }
        let mut stages: Vec<(usize, Stage)> = Vec::new();
        for (at, group) in
            self.groups.iter().enumerate().filter(|(_, group)| !(group.outputs.is_empty() && group.numbers.is_empty()))
        {
            let is_filter = |value: &Value| matches!(self.program.node(*value).operation, Operation::Filter(..));
            let stage = match &group.outputs[..] {
                [alone] if self.limits.alone && group.parts == 1 && is_filter(alone) => Stage::Single(*alone),
                _ => Stage::Kernel(Builder::new(&self, at).kernel()),
            };
            stages.push((group.level, stage));
        }
        stages.extend(self.singles.iter().map(|&(level, value)| (level, Stage::Single(value))));
        // Stages of a level are independent, and may have any order.
        stages.sort_by_key(|(level, _)| *level);
        Plan { stages: stages.into_iter().map(|(_, stage)| stage).collect() }
    }
}

/// Builds the kernel of a group.
struct Builder<'c, 'p> {
    cutter: &'c Cutter<'p>,
    group: usize,
    /// End of each dimension of the domain, as products of extents.
    ends: Vec<usize>,
    kernel: Kernel,
    /// Parts by their text, and by the values that they compute.
    known: HashMap<String, usize>,
    of_values: HashMap<Value, usize>,
}

impl<'c, 'p> Builder<'c, 'p> {
    fn new(cutter: &'c Cutter<'p>, group: usize) -> Builder<'c, 'p> {
        let Group { len, cuts, .. } = &cutter.groups[group];
        let ends: Vec<usize> = cuts.iter().copied().chain([*len]).collect();
        let domain = ends.iter().zip([1].iter().chain(&ends)).map(|(end, start)| end / start).collect();
        let (parts, inputs, outputs, numbers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let kernel = Kernel { domain, parts, inputs, outputs, numbers };
        Builder { cutter, group, ends, kernel, known: HashMap::new(), of_values: HashMap::new() }
    }

    fn kernel(mut self) -> Kernel {
        self.fill();
        self.kernel
    }

    fn fill(&mut self) {
        for &value in &self.cutter.groups[self.group].outputs {
            let part = self.part(value, None);
            self.kernel.outputs.push((value, part));
        }
        for &value in &self.cutter.groups[self.group].numbers {
            let Operation::Reduce(op, first, second, _) = self.cutter.program.node(value).operation else {
                unreachable!("numbers of all elements are reductions")
            };
            let first = self.part(first, None);
            let of = [first, second.map_or(first, |second| self.part(second, None))];
            self.kernel.numbers.push(Reduced { value, op, of });
        }
    }

    fn push(&mut self, step: Step, single: bool) -> usize {
        let part = Part { step, single };
        // Compared by text, in which -0 differs from 0.
        *self.known.entry(format!("{part:?}")).or_insert_with(|| {
            self.kernel.parts.push(part);
            self.kernel.parts.len() - 1
        })
    }

    /// Loads a value from memory, through `view`, or with the layout of the domain.
    fn loaded(&mut self, value: Value, view: Option<View>) -> usize {
        let node = self.cutter.program.node(value);
        let view = view.unwrap_or_else(|| match node.len {
            1 if self.ends != [1] => View { start: 0, steps: vec![0; self.ends.len()] },
            _ => View { start: 0, steps: steps(&self.kernel.domain) },
        });
        let known = self.kernel.inputs.iter().position(|&input| input == value);
        let input = known.unwrap_or_else(|| {
            self.kernel.inputs.push(value);
            self.kernel.inputs.len() - 1
        });
        self.push(Step::Load(input, view), node.single)
    }

    /// Index of the part that computes a value.
    fn part(&mut self, value: Value, view: Option<View>) -> usize {
        let node = self.cutter.program.node(value);
        match self.cutter.made[value.0] {
            Made::Group(group) if group == self.group => {}
            Made::Anywhere(_) => {}
            _ => return self.loaded(value, view),
        }
        if let Some(&part) = self.of_values.get(&value) {
            return part;
        }
        let single = node.single;
        let step = match &node.operation {
            Operation::Fill(number) => Step::Number(*number),
            Operation::Each(op, of) => Step::Each(*op, self.part(*of, None)),
            Operation::Convert(of) => Step::Convert(self.part(*of, None)),
            Operation::Random(what, draw, seed) => {
                let draw = self.term(draw, false);
                Step::Random(*what, [draw, self.push(Step::Number(*seed), false)])
            }
            Operation::MultiplyAdd(weight, of, addend, source) => {
                let step =
                    Step::MultiplyAdd([self.term(weight, single), self.part(*of, None), self.part(*addend, None)]);
                match source {
                    None => step,
                    Some(source) => Step::Pair(Binary::Add, [self.push(step, single), self.term(source, single)]),
                }
            }
            Operation::Pair(op, terms, expansion) => {
                let mut parts = [0; 2];
                for (which, term) in terms.iter().enumerate() {
                    parts[which] = match term {
                        Term::Number(number) => self.push(Step::Number(*number), single),
                        Term::Value(of) if self.cutter.program.node(*of).len == node.len => self.part(*of, None),
                        Term::Value(of) => {
                            let steps = expansion.steps()[which].map(|step| step as isize);
                            self.part(*of, Some(self.view(0, &expansion.size(), &steps)))
                        }
                    };
                }
                Step::Pair(*op, parts)
            }
            Operation::Pick(places, of) => match &**places {
                Places::Section(section) => {
                    let view = self.view(section.start, &section.size, &section.steps);
                    return self.loaded(*of, Some(view));
                }
                Places::List(_) | Places::Held(_) => unreachable!("lists are no parts of kernels"),
            },
            Operation::Filter(filter, of) => {
                let reach = Reach::new(filter);
                let is_here = self.cutter.made[of.0] == Made::Group(self.group);
                let part = if is_here { self.part(*of, None) } else { self.loaded(*of, None) };
                Step::Filter(part, self.axes(&reach), reach.chain)
            }
            Operation::Input(_)
            | Operation::Put(..)
            | Operation::Reduce(..)
            | Operation::Scan(..)
            | Operation::Sort(..)
            | Operation::Extreme(..) => unreachable!("they are in memory"),
        };
        let part = self.push(step, single);
        self.of_values.insert(value, part);
        part
    }

    /// Part of an operand that has one element, or all of the domain.
    fn term(&mut self, term: &Term<Value>, single: bool) -> usize {
        match term {
            Term::Number(number) => self.push(Step::Number(*number), single),
            Term::Value(value) => self.part(*value, None),
        }
    }

    /// View from the domain of an array of this size and these steps.
    fn view(&self, start: usize, size: &[usize], own: &[isize]) -> View {
        let products = products(size);
        let mut before = 1;
        let steps = self.ends.iter().map(|&end| {
            // The dimension of the array that contains this one of the domain.
            let d = products.iter().position(|&product| product >= end && product > before);
            let low = |d: usize| if d == 0 { 1 } else { products[d - 1] };
            let step = d.map_or(0, |d| own[d] * (before / low(d)) as isize);
            before = end;
            step
        });
        View { start, steps: steps.collect() }
    }

    fn axes(&self, reach: &Reach) -> [Axis; 3] {
        let mut product = 1;
        [0, 1, 2].map(|d| {
            product *= reach.size[d];
            let along = reach.size[d] > 1 && reach.extents[d] > 1;
            let dim = along.then(|| self.ends.iter().position(|&end| end == product)).flatten();
            Axis { dim, extent: reach.extents[d], before: reach.before[d], ends: reach.ends[d] }
        })
    }
}
