//! Tests of the code for a step of a solver.

use super::emit;
use super::walk::Walkable;
use crate::stencil::program::{Feed, Gait, Kernel, Node, Plan, Program, Recurrence, Stage, Value};
use crate::stencil::{Binary, Boundary, Convolution, Expansion, Filter, Filtering, Operation, Reduction, Term};

/// Returns a step of Gray and Scott's reaction.
fn reaction(size: [usize; 3]) -> (Program, Vec<Value>) {
    let len = size.iter().product();
    let mut program = Program::new();
    let plain = Expansion::new([&[len], &[len]]).unwrap();
    let [u, v] = [0; 2].map(|_| program.input(false, len));
    let taps = [1.0, 4.0, 1.0, 4.0, -20.0, 4.0, 1.0, 4.0, 1.0].map(|tap| tap / 6.0);
    let pair = |program: &mut Program, op, a, b| {
        program.append(Node { operation: Operation::Pair(op, [a, b], plain), single: false, len })
    };
    let (multiply, add, subtract) = (Binary::Multiply, Binary::Add, Binary::Subtract);
    let uv = pair(&mut program, multiply, Term::Value(u), Term::Value(v));
    let uvv = pair(&mut program, multiply, Term::Value(uv), Term::Value(v));
    let mut flows = [u, v];
    for flow in &mut flows {
        let filter = Filter::new(taps.to_vec(), [3, 3, 1]).unwrap();
        let filter = Convolution::new(size, filter).with_boundary(Boundary::Circular);
        let operation = Operation::Filter(Filtering::Convolution(filter), *flow);
        *flow = program.append(Node { operation, single: false, len });
    }
    let a = pair(&mut program, multiply, Term::Number(0.16), Term::Value(flows[0]));
    let a = pair(&mut program, subtract, Term::Value(a), Term::Value(uvv));
    let rest = pair(&mut program, subtract, Term::Number(1.0), Term::Value(u));
    let rest = pair(&mut program, multiply, Term::Number(0.037), Term::Value(rest));
    let a = pair(&mut program, add, Term::Value(a), Term::Value(rest));
    let a = pair(&mut program, add, Term::Value(u), Term::Value(a));
    let b = pair(&mut program, multiply, Term::Number(0.08), Term::Value(flows[1]));
    let b = pair(&mut program, add, Term::Value(b), Term::Value(uvv));
    let rest = pair(&mut program, multiply, Term::Number(0.097), Term::Value(v));
    let b = pair(&mut program, subtract, Term::Value(b), Term::Value(rest));
    let b = pair(&mut program, add, Term::Value(v), Term::Value(b));
    (program, vec![a, b])
}

fn text_of(size: [usize; 3]) -> emit::Written {
    let (program, outputs) = reaction(size);
    let plan = Plan::new(&program, &outputs, super::LIMITS);
    let [Stage::Kernel(kernel)] = &plan.stages[..] else { panic!("{:?}", plan.stages) };
    emit::write(kernel)
}

#[test]
fn a_reaction_is_one_kernel_whatever_its_size() {
    let [one, other] = [[2000, 1000, 1], [3001, 999, 1]].map(text_of);
    assert_eq!(one.text, other.text);
    assert_ne!(one.argument, other.argument);
}

#[test]
fn a_walk_is_the_same_text_whatever_the_size() {
    let text_of = |size| {
        let (program, outputs) = reaction(size);
        let (kernel, _) = Kernel::whole(&program, (&outputs, &[]), super::LIMITS).expect("one kernel");
        let feeds = kernel.inputs.iter().map(|value| Feed::Output(value.0)).collect();
        let what = Recurrence { kernel, feeds, numbers: 0, records: Vec::new() };
        let walkable = Walkable::new(&what).expect("a walk");
        let gait = Gait::of(4, 2, 1);
        assert!(walkable.can(gait));
        walkable.write(gait).expect("it has few columns")
    };
    let [mut one, mut other] = [[2000, 1000, 1], [3002, 999, 1]].map(text_of);
    assert_eq!(one.text, other.text);
    // Four of 64 elements are halos at either end; a warp has 50 columns, a block four warps.
    assert_eq!([one.set_length(50), other.set_length(50)], [36 * 20 / 4, (54 * 20_usize).div_ceil(4)]);
}

#[test]
fn conjugate_gradients_are_three_kernels() {
    let size = [300, 200, 1];
    let len = size.iter().product();
    let mut program = Program::new();
    let [x, r, p] = [(); 3].map(|()| program.input(false, len));
    let rr = program.input(false, 1);
    let filter = Filter::new(vec![0.0, -1.0, 0.0, -1.0, 4.0, -1.0, 0.0, -1.0, 0.0], [3, 3, 1]).unwrap();
    let filter = Filtering::Convolution(Convolution::new(size, filter));
    let a = program.append(Node { operation: Operation::Filter(filter, p), single: false, len });
    let of = |program: &mut Program, op, a: Value, b: Value| {
        let [one, other] = [a, b].map(|value| [program.node(value).len]);
        let expansion = Expansion::new([&one, &other]).unwrap();
        let len = one[0].max(other[0]);
        program.append(Node {
            operation: Operation::Pair(op, [Term::Value(a), Term::Value(b)], expansion),
            single: false,
            len,
        })
    };
    let dot = |program: &mut Program, a, b| {
        let operation = Operation::Reduce(Reduction::Dot, a, Some(b), [1, len, 1]);
        program.append(Node { operation, single: false, len: 1 })
    };
    let pa = dot(&mut program, p, a);
    let alpha = of(&mut program, Binary::Divide, rr, pa);
    let [by_p, by_a] = [p, a].map(|of_what| of(&mut program, Binary::Multiply, alpha, of_what));
    let x = of(&mut program, Binary::Add, x, by_p);
    let r = of(&mut program, Binary::Subtract, r, by_a);
    let next = dot(&mut program, r, r);
    let beta = of(&mut program, Binary::Divide, next, rr);
    let by_p = of(&mut program, Binary::Multiply, beta, p);
    let p = of(&mut program, Binary::Add, r, by_p);
    let plan = Plan::new(&program, &[x, r, p, next], super::LIMITS);
    let written: Vec<_> = plan
        .stages
        .iter()
        .map(|stage| match stage {
            Stage::Kernel(kernel) => [kernel.outputs.len(), kernel.numbers.len()],
            Stage::Single(value) => panic!("{:?}", program.node(*value)),
        })
        .collect();
    assert_eq!(written, [[1, 1], [2, 1], [1, 0]]);
}
