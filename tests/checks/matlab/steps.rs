//! Steps of solvers, recorded and run by the calls of `DeviceArray.iterate` and `DeviceArray.compile`: the bits and
//! classes of the plain loop of verbs, records on the way, errors of recordings, and released arrays.

use std::ops::Deref;

use super::{CONVOLUTION, count, delete};
use crate::common::matlab::*;

const DERIVATIVE: &str = "DerivativeConstantMemory_CUDA";

// ---- the class's side

/// Output of a call. An object of the class releases its array when it goes.
struct Item<'a> {
    host: &'a Host,
    array: Array<'a>,
}

impl<'a> Deref for Item<'a> {
    type Target = Array<'a>;

    fn deref(&self) -> &Array<'a> {
        &self.array
    }
}

impl Drop for Item<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.is_held().then(|| self.number_property(c"id")).flatten() {
            delete(self.host, number);
        }
    }
}

impl Item<'_> {
    fn is_held(&self) -> bool {
        self.class_name() == "DeviceArray"
    }

    /// Class, dimensions and bits of its values.
    fn values(&self) -> (String, Vec<usize>, Vec<u8>) {
        if self.is_held() {
            return verb(self.host, "gather", &[self]).values();
        }
        let each = match self.class_name().as_str() {
            "double" => 8,
            "single" => 4,
            _ => 1,
        };
        (self.class_name(), self.dims(), self.bytes(each))
    }
}

/// A verb that gives one thing.
fn verb<'a>(host: &'a Host, word: &str, arguments: &[&Array]) -> Item<'a> {
    // Functions that MATLAB computes itself: two numbers, of reductions.
    if let [a, b] = arguments
        && [a, b].iter().all(|array| array.class_name() == "double")
    {
        let (a, b) = (a.doubles()[0], b.doubles()[0]);
        let array = match word {
            "rdivide" => number(host, a / b),
            "gt" => host.make(LOGICAL, &[1, 1], false).with_bytes(&[u8::from(a > b)]),
            _ => panic!("{word} of two numbers"),
        };
        return Item { host, array };
    }
    Item { host, array: host.one(ARRAYS, 1, &[&[&host.text(word)], arguments].concat()) }
}

/// One of the three functions with pairs of a name and a value.
fn filtered<'a>(host: &'a Host, name: &str, arguments: &[&Array], options: &[(&str, Array)]) -> Item<'a> {
    let names: Vec<_> = options.iter().map(|(name, _)| host.text(name)).collect();
    let pairs = names.iter().zip(options).flat_map(|(name, (_, value))| [name, value]);
    Item { host, array: host.one(name, 1, &arguments.iter().copied().chain(pairs).collect::<Vec<_>>()) }
}

fn number(host: &Host, number: f64) -> Array<'_> {
    host.double(&[1, 1], &[number])
}

/// An array in memory of the CPU, of this class of the host's.
fn held<'a>(host: &'a Host, class: i32, dims: &[usize], values: &[f64]) -> Item<'a> {
    let array = match class {
        DOUBLE => host.double(dims, values),
        SINGLE => {
            let bytes: Vec<u8> = values.iter().flat_map(|&value| (value as f32).to_ne_bytes()).collect();
            host.make(SINGLE, dims, false).with_bytes(&bytes)
        }
        _ => {
            let bytes: Vec<u8> = values.iter().map(|&value| u8::from(value > 0.3)).collect();
            host.make(LOGICAL, dims, false).with_bytes(&bytes)
        }
    };
    let [backend, cpu] = host.cpu();
    verb(host, "make", &[&array, &backend, &cpu])
}

/// A step by its number. It is given up at the end.
struct Step<'a> {
    host: &'a Host,
    number: Array<'a>,
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        drop(self.host.one(ARRAYS, 0, &[&self.host.text("forget"), &self.number]));
    }
}

impl<'a> Step<'a> {
    /// Begins to record over arrays like these: the step, and its arguments.
    fn record(host: &'a Host, like: &[&Array]) -> (Step<'a>, Vec<Item<'a>>) {
        let step = Step { host, number: host.one(ARRAYS, 1, &[&host.text("record"), like[0]]) };
        let arguments = like.iter().map(|like| verb(host, "argument", &[&step.number, like])).collect();
        (step, arguments)
    }

    /// Ends the recording: how many kernels and other operations it is.
    fn finish(&self, [states, records, until]: [usize; 3], results: &[Item]) -> f64 {
        let shape = self.host.double(&[1, 3], &[states, records, until].map(|count| count as f64));
        let results = results.iter().map(|result| &result.array);
        let arguments: Vec<_> = [&self.number, &shape].into_iter().chain(results).collect();
        verb(self.host, "finish", &arguments).doubles()[0]
    }

    /// Runs it with this plan: steps, steps before, every how many states are kept, and how often the end is asked for.
    fn try_run(
        &self,
        [steps, before, every, check]: [usize; 4],
        values: &Array,
        states: &[Item],
        outputs: usize,
    ) -> Result<Vec<Item<'a>>, Message> {
        let all = before + steps;
        let plan = self.host.double(&[1, 6], &[steps, before, all, every, check, 0].map(|count| count as f64));
        let word = self.host.text("run");
        let states = states.iter().map(|state| &state.array);
        let arguments: Vec<_> = [&word, &self.number, &plan, values].into_iter().chain(states).collect();
        let results = self.host.call(ARRAYS, outputs, &arguments)?;
        Ok(results.into_iter().map(|array| Item { host: self.host, array }).collect())
    }

    /// Runs it: returns its outputs, the number of steps, and true if the condition ended it.
    fn run(&self, plan: [usize; 4], values: &Array, states: &[Item], kinds: usize) -> (Vec<Item<'a>>, [f64; 2]) {
        let mut results = self.try_run(plan, values, states, kinds + 1).expect("it runs");
        assert_eq!(results.len(), kinds + 1);
        let told = verb(self.host, "gather", &[&results.pop().expect("what it tells")]).doubles();
        (results, told.try_into().expect("two numbers"))
    }
}

/// A function of array code: from some arrays to an equal number of others.
type Code = for<'a> fn(&'a Host, &[Item<'a>]) -> Vec<Item<'a>>;

/// The plain loop of this number of steps.
fn plainly<'a>(host: &'a Host, code: Code, steps: usize, mut states: Vec<Item<'a>>) -> Vec<Item<'a>> {
    for _ in 0..steps {
        states = code(host, &states);
    }
    states
}

fn assert_same(got: &[Item], expected: &[Item], what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (at, (got, expected)) in got.iter().zip(expected).enumerate() {
        let (got, expected) = (got.values(), expected.values());
        assert_eq!((&got.0, &got.1), (&expected.0, &expected.1), "{what}, state {at}");
        assert!(got.2 == expected.2, "{what}, state {at} has other bits");
    }
}

fn references<'s, 'a>(items: &'s [Item<'a>]) -> Vec<&'s Array<'a>> {
    items.iter().map(|item| &item.array).collect()
}

// ---- steps

fn circular(host: &Host) -> [(&'static str, Array<'_>); 1] {
    [("Boundary", host.text("circular"))]
}

/// Two fields that react and spread.
fn react<'a>(host: &'a Host, states: &[Item<'a>]) -> Vec<Item<'a>> {
    let [u, v] = states else { panic!("two states") };
    let entries = [1., 4., 1., 4., -20., 4., 1., 4., 1.].map(|entry| entry / 32.0);
    let filter = host.double(&[3, 3], &entries);
    let uvv = verb(host, "times", &[&verb(host, "times", &[u, v]), v]);
    let spread = |x: &Item, d: f64| {
        let lx = filtered(host, CONVOLUTION, &[x, &filter], &circular(host));
        verb(host, "plus", &[x, &verb(host, "times", &[&number(host, d), &lx])])
    };
    let fed = verb(host, "times", &[&number(host, 0.037), &verb(host, "minus", &[&number(host, 1.0), u])]);
    let lost = verb(host, "times", &[&number(host, 0.097), v]);
    let u = verb(host, "plus", &[&verb(host, "minus", &[&spread(u, 0.16), &uvv]), &fed]);
    let v = verb(host, "minus", &[&verb(host, "plus", &[&spread(v, 0.08), &uvv]), &lost]);
    vec![u, v]
}

/// The stencil along rows and the derivative along columns, with options and an array of the host's.
fn lines<'a>(host: &'a Host, states: &[Item<'a>]) -> Vec<Item<'a>> {
    let dims = verb(host, "size", &[&states[0]]).doubles();
    let row: Vec<f64> = (0..dims[1] as usize).map(|i| 0.01 * i as f64).collect();
    let options = [("Boundary", host.text("symmetric")), ("Dim", number(host, 2.0)), ("Iterations", number(host, 2.0))];
    let taps = host.double(&[1, 3], &[0.25, 0.5, 0.25]);
    let smooth = filtered(host, STENCIL, &[&states[0], &taps], &options);
    let slope = filtered(host, DERIVATIVE, &[&states[0], &number(host, 0.5)], &circular(host));
    let moved = verb(host, "minus", &[&smooth, &verb(host, "times", &[&slope, &number(host, 0.1)])]);
    vec![verb(host, "plus", &[&moved, &host.double(&[1, row.len()], &row)])]
}

/// Functions of elements, elements that are moved, and a column that expands.
fn moved<'a>(host: &'a Host, states: &[Item<'a>]) -> Vec<Item<'a>> {
    let u = &states[0];
    let waves = verb(host, "sin", &[&verb(host, "exp", &[&verb(host, "uminus", &[&verb(host, "abs", &[u])])])]);
    let shifted = verb(host, "circshift", &[u, &number(host, 1.0), &number(host, 2.0)]);
    let column = verb(host, "pick", &[u, &host.text(":"), &number(host, 3.0)]);
    let bounded = verb(host, "max", &[&verb(host, "min", &[&shifted, &number(host, 0.5)]), &number(host, -0.5)]);
    vec![verb(host, "minus", &[&verb(host, "plus", &[&waves, &bounded]), &column])]
}

/// Conway's game over truth values.
fn life<'a>(host: &'a Host, states: &[Item<'a>]) -> Vec<Item<'a>> {
    let filter = host.double(&[3, 3], &[1., 1., 1., 1., 0., 1., 1., 1., 1.]);
    let cells = verb(host, "convert", &[&states[0], &host.text("double")]);
    let around = filtered(host, CONVOLUTION, &[&cells, &filter], &circular(host));
    let is = |count: f64| verb(host, "eq", &[&around, &number(host, count)]);
    vec![verb(host, "or", &[&is(3.0), &verb(host, "and", &[&states[0], &is(2.0)])])]
}

/// Truth values that are stored in the other class of numbers.
fn flipped<'a>(host: &'a Host, states: &[Item<'a>]) -> Vec<Item<'a>> {
    let numbers = verb(host, "convert", &[&states[0], &host.text("single")]);
    vec![verb(host, "lt", &[&numbers, &number(host, 0.5)])]
}

/// Conjugate gradients: numbers that reductions give are operands later, and a state.
fn gradients<'a>(host: &'a Host, states: &[Item<'a>]) -> Vec<Item<'a>> {
    let [x, r, d, rho] = states else { panic!("four states") };
    let filter = host.double(&[3, 3], &[0., -1., 0., -1., 4., -1., 0., -1., 0.]);
    let ad = filtered(host, CONVOLUTION, &[d, &filter], &[]);
    let alpha = verb(host, "rdivide", &[rho, &verb(host, "dot", &[d, &ad])]);
    let x = verb(host, "plus", &[x, &verb(host, "times", &[&alpha, d])]);
    let r = verb(host, "minus", &[r, &verb(host, "times", &[&alpha, &ad])]);
    let new = verb(host, "sum", &[&verb(host, "times", &[&r, &r]), &number(host, 0.0)]);
    let d = verb(host, "plus", &[&r, &verb(host, "times", &[&verb(host, "rdivide", &[&new, rho]), d])]);
    vec![x, r, d, new]
}

const DIMS: [usize; 2] = [19, 12];

fn noisy<'a>(host: &'a Host, class: i32, seed: u64) -> Item<'a> {
    held(host, class, &DIMS, &noise(DIMS[0] * DIMS[1], seed))
}

/// States of a class to begin with.
type Begin = for<'a> fn(&'a Host, i32) -> Vec<Item<'a>>;

fn two<'a>(host: &'a Host, class: i32) -> Vec<Item<'a>> {
    vec![noisy(host, class, 1), noisy(host, class, 2)]
}

fn one<'a>(host: &'a Host, class: i32) -> Vec<Item<'a>> {
    vec![noisy(host, class, 3)]
}

fn residuals<'a>(host: &'a Host, class: i32) -> Vec<Item<'a>> {
    let zero = held(host, class, &DIMS, &[0.0; DIMS[0] * DIMS[1]]);
    let b = [(); 3].map(|()| noisy(host, class, 4));
    let square = verb(host, "dot", &[&b[0], &b[0]]);
    let [backend, cpu] = host.cpu();
    let [r, d, _] = b;
    vec![zero, r, d, verb(host, "make", &[&square, &backend, &cpu])]
}

/// Checks that `test` releases all arrays.
fn leaves_nothing(test: fn(&Host)) {
    in_matlab(move |host| {
        let before = count(host);
        test(host);
        assert_eq!(count(host), before, "arrays that are held");
    });
}

#[test]
fn a_recorded_step_has_the_bits_of_the_plain_loop() {
    leaves_nothing(|host| {
        let cases: [(&str, Code, Begin, &[i32]); 6] = [
            ("react", react, two, &[DOUBLE, SINGLE]),
            ("lines", lines, one, &[DOUBLE, SINGLE]),
            ("moved", moved, one, &[DOUBLE, SINGLE]),
            ("life", life, one, &[LOGICAL]),
            ("flipped", flipped, one, &[LOGICAL]),
            ("gradients", gradients, residuals, &[DOUBLE]),
        ];
        for (name, code, begin, classes) in cases {
            for &class in classes {
                let what = format!("{name} of class {class}");
                let expected = plainly(host, code, 5, begin(host, class));
                let first = begin(host, class);
                let (step, traced) = Step::record(host, &references(&first));
                let results = code(host, &traced);
                assert!(step.finish([first.len(), 0, 0], &results) >= 1.0);
                drop((traced, results));
                let none = host.double(&[0, 0], &[]);
                let (all, told) = step.run([5, 0, 0, 1], &none, &first, first.len());
                assert_eq!(told, [5.0, 0.0]);
                assert_same(&all, &expected, &what);
                // One by one, as a compiled step is called.
                let mut states = begin(host, class);
                for _ in 0..5 {
                    states = step.run([1, 0, 0, 1], &none, &states, states.len()).0;
                }
                assert_same(&states, &expected, &format!("{what}, one by one"));
                let (none_done, told) = step.run([0, 0, 0, 1], &none, &first, first.len());
                assert_eq!(told, [0.0, 0.0]);
                assert_same(&none_done, &first, &format!("no step of {what}"));
            }
        }
    });
}

/// A state that grows by two values of each step; its record, and true if its sum is large.
fn fed<'a>(host: &'a Host, u: &Item<'a>, [a, b]: [&Array; 2]) -> [Item<'a>; 3] {
    let u = verb(host, "minus", &[&verb(host, "plus", &[u, a]), &verb(host, "times", &[b, &number(host, 0.01)])]);
    let (all, second) = (number(host, 0.0), number(host, 2.0));
    let sum = verb(host, "sum", &[&u, &all]);
    let column = verb(host, "pick", &[&u, &second, &host.double(&[1, 3], &[3.0, 4.0, 5.0])]);
    let sums = verb(host, "times", &[&column, &sum]);
    [u, sums, verb(host, "gt", &[&sum, &number(host, 2500.0)])]
}

/// Ten steps of it, by their values.
fn values_in_time(host: &Host) -> Item<'_> {
    held(host, DOUBLE, &[2, 10], &(0..20).map(|i| 1.0 + f64::from(i % 7)).collect::<Vec<_>>())
}

/// Returns the results of each step of the plain loop: the states, the record, and true at the end.
fn fed_plainly(host: &Host, steps: usize) -> Vec<[Item<'_>; 3]> {
    let values = values_in_time(host);
    let values = verb(host, "gather", &[&values]).doubles();
    let mut all: Vec<[Item; 3]> = Vec::new();
    for step in 0..steps {
        let first = noisy(host, DOUBLE, 6);
        let u = all.last().map_or(&first, |last| &last[0]);
        let [a, b] = [0, 1].map(|row| held(host, DOUBLE, &[1, 1], &[values[2 * step + row]]));
        let next = fed(host, u, [&a, &b]);
        all.push(next);
    }
    all
}

/// Records the step that is fed values, with all that can be asked of a step.
fn record_fed(host: &Host) -> Step<'_> {
    let (u, value) = (noisy(host, DOUBLE, 6), held(host, DOUBLE, &[1, 1], &[1.0]));
    let (step, traced) = Step::record(host, &[&u, &value, &value]);
    let results = fed(host, &traced[0], [&traced[1], &traced[2]]);
    step.finish([1, 1, 1], &results);
    step
}

#[test]
fn states_on_the_way_records_values_and_an_end() {
    leaves_nothing(|host| {
        let (expected, step, values) = (fed_plainly(host, 10), record_fed(host), values_in_time(host));
        let at = expected.iter().position(|[_, _, over]| over.bytes(1) == [1]).expect("it ends") + 1;
        assert!((4..9).contains(&at) && !at.is_multiple_of(3), "{at}: seen by what asks at each step alone");
        let u = [noisy(host, DOUBLE, 6)];
        let elements = |items: &[&Item]| items.iter().flat_map(|item| item.values().2).collect::<Vec<u8>>();
        // The end is asked for at each step, and at each third one.
        for (check, over) in [(1, at), (3, at.next_multiple_of(3))] {
            let (results, told) = step.run([10, 0, 2, check], &values, &u, 3);
            assert_eq!(told, [over as f64, 1.0]);
            let [states, kept, recorded] = &results[..] else { panic!("three") };
            assert_same(std::slice::from_ref(states), &expected[over - 1][..1], "the last states");
            let (kept, recorded) = (kept.values(), recorded.values());
            let pages: Vec<_> = (1..over).step_by(2).chain((over % 2 == 1).then_some(over - 1)).collect();
            assert_eq!((&kept.0[..], &kept.1[..]), ("double", &[DIMS[0], DIMS[1], pages.len()][..]));
            let wanted = elements(&pages.iter().map(|&at| &expected[at][0]).collect::<Vec<_>>());
            assert!(kept.2 == wanted, "each second state, and that of the end");
            assert_eq!((&recorded.0[..], &recorded.1[..]), ("double", &[3, over][..]));
            let wanted = elements(&expected[..over].iter().map(|[_, sums, _]| sums).collect::<Vec<_>>());
            assert!(recorded.2 == wanted, "a column a step");
        }
        // Three steps after one: of the two steps that are a multiple of two, with the values from the first column on.
        let (results, told) = step.run([3, 1, 2, 50], &values, &u, 3);
        assert_eq!(told, [3.0, 0.0]);
        assert_eq!(results[1].values().1, [DIMS[0], DIMS[1], 2]);
        assert!(results[1].values().2 == elements(&[&expected[0][0], &expected[2][0]]));
        assert_eq!(results[2].values().1, [3, 3]);
    });
}

#[test]
fn what_cannot_be_recorded() {
    leaves_nothing(|host| {
        let (u, v) = (noisy(host, DOUBLE, 7), noisy(host, DOUBLE, 8));
        let (step, traced) = Step::record(host, &[&u]);
        let refuses = |word: &str, arguments: &[&Array], kind: &str, opening: &str| {
            host.refuses(ARRAYS, 1, &[&[&host.text(word)], arguments].concat(), kind, opening);
        };
        refuses("gather", &[&traced[0]], "trace", "");
        refuses("find", &[&traced[0]], "trace", "");
        let mask = verb(host, "gt", &[&traced[0], &number(host, 0.0)]);
        // The number of elements that a mask picks is not known.
        refuses("size", &[&verb(host, "pick", &[&traced[0], &mask]).array], "trace", "How many elements a mask picks");
        // Another recording inside this one.
        refuses("record", &[&traced[0]], "trace", "A step cannot be compiled or iterated inside a step");
        // An array of another recording, with one of this one and as a result of it.
        let (other, strange) = Step::record(host, &[&v]);
        refuses("plus", &[&traced[0], &strange[0]], "trace", "");
        let shape = host.double(&[1, 3], &[1.0, 0.0, 0.0]);
        refuses("finish", &[&step.number, &shape, &strange[0]], "trace", "");
        // A step that caught such errors is none, and its recording is over.
        refuses("finish", &[&step.number, &shape, &traced[0]], "trace", "gather asks for values");
        refuses("finish", &[&step.number, &shape, &traced[0]], "trace", "The step that this array belongs to");
        refuses("plus", &[&traced[0], &v], "trace", "The step that this array belongs to");
        let (step, traced) = Step::record(host, &[&u]);
        let mask = verb(host, "gt", &[&traced[0], &number(host, 0.0)]);
        let doubled = [verb(host, "plus", &[&traced[0], &v])];
        step.finish([1, 0, 0], &doubled);
        let expected = verb(host, "plus", &[&u, &v]);
        let none = host.double(&[0, 0], &[]);
        assert_same(&step.run([1, 0, 0, 1], &none, &[u], 1).0, &[expected], "after what was refused");
        // Once it is recorded, or given up, its arrays are of no use.
        for array in [&traced[0], &doubled[0], &mask] {
            refuses("plus", &[array, &number(host, 1.0)], "trace", "The step that this array belongs to");
            refuses("gather", &[array], "trace", "");
        }
        refuses("finish", &[&step.number, &shape, &doubled[0]], "trace", "");
        refuses("argument", &[&step.number, &v], "trace", "");
        drop(other);
        let filter = host.ones(&[1, 3]);
        host.refuses(STENCIL, 1, &[&strange[0], &filter], "trace", "");
        host.refuses(CONVOLUTION, 1, &[&strange[0], &filter], "trace", "");
        refuses("plus", &[&strange[0], &v], "trace", "");
        // The places of such arrays are still reported.
        let place = verb(host, "where", &[&strange[0]]);
        assert_eq!(place.fields().len(), 4);
    });
}

#[test]
fn calls_of_steps_that_are_wrong() {
    leaves_nothing(|host| {
        let (u, single) = (noisy(host, DOUBLE, 9), noisy(host, SINGLE, 9));
        let (none, shape) = (host.double(&[0, 0], &[]), host.double(&[1, 3], &[1.0, 0.0, 0.0]));
        let plan = host.double(&[1, 6], &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
        let (step, traced) = Step::record(host, &[&u]);
        let refuses = |word: &str, arguments: &[&Array], kind: &str| {
            let words = [host.text(word), host.string(&[Some(word)])];
            for word in &words {
                host.refuses(ARRAYS, 1, &[&[word], arguments].concat(), kind, "");
            }
        };
        let id = &step.number;
        for (word, arguments) in [
            ("record", &[][..]),
            ("record", &[&u, id, id]),
            ("argument", &[id]),
            ("argument", &[id, &u, &u, &u]),
            ("finish", &[id]),
            ("forget", &[]),
            ("forget", &[id, id, id]),
            ("run", &[id, &plan]),
            ("shares", &[&u]),
            ("shares", &[&u, &u, &u]),
        ] {
            refuses(word, arguments, "numberOfInputs");
        }
        for word in ["record", "argument", "finish", "forget", "shares"] {
            host.refuses(ARRAYS, 2, &[&host.text(word), &u, &u], "numberOfOutputs", "");
        }
        // Numbers that are none of a step's, or of the counts.
        for wrong in [number(host, -1.0), number(host, 1.5), number(host, f64::NAN), host.text("x"), host.ones(&[1, 2])]
        {
            refuses("argument", &[&wrong, &u], "option");
            refuses("record", &[&u, &wrong], "option");
            refuses("forget", &[&wrong], "option");
            refuses("run", &[&wrong, &plan, &none, &u], "option");
        }
        refuses("run", &[id, &plan, &none, &u], "deleted");
        let unknown = number(host, 7.0);
        refuses("run", &[&unknown, &plan, &none, &u], "deleted");
        refuses("argument", &[&unknown, &u], "trace");
        refuses("finish", &[&unknown, &shape, &u], "trace");
        drop(verb(host, "forget", &[&unknown]));
        refuses("record", &[&plan], "dataType");
        refuses("argument", &[id, &plan], "dataType");
        for shape in [
            &[1.0, 0.0][..],
            &[1.0, 0.0, 0.0, 0.0],
            &[1.0, 1.0, 0.0],
            &[0.0, 1.0, 0.0],
            &[0.5, 0.5, 0.0],
            &[-1.0, 2.0, 0.0],
        ] {
            refuses("finish", &[id, &host.double(&[1, shape.len()], shape), &traced[0]], "option");
        }
        refuses("finish", &[id, &host.double(&[1, 3], &[0.0, 0.0, 2.0]), &traced[0], &traced[0]], "option");
        refuses("finish", &[id, &shape, &plan], "dataType");
        // The step is as it was.
        step.finish([1, 0, 0], &[verb(host, "plus", &[&traced[0], &number(host, 1.0)])]);
        for wrong in
            [&[1.0, 0.0, 1.0, 0.0, 1.0][..], &[1.0, 0.0, 1.0, 0.0, 1.0, f64::NAN], &[-1.0, 0.0, 1.0, 0.0, 1.0, 0.0]]
        {
            refuses("run", &[id, &host.double(&[1, wrong.len()], wrong), &none, &u], "option");
        }
        // Other states than it was recorded with: of another class, of another size, too many, or none.
        let column = held(host, DOUBLE, &[DIMS[0] * DIMS[1], 1], &noise(DIMS[0] * DIMS[1], 1));
        for states in [&[&single.array][..], &[&column], &[&u, &u]] {
            refuses("run", &[&[id, &plan, &none], states].concat(), "trace");
        }
        refuses("run", &[id, &plan, &none], "dataType");
        // Values that it does not take.
        refuses("run", &[id, &plan, &column, &u], "trace");
        assert_eq!(step.try_run([1, 0, 0, 1], &none, &[], 1).map(|_| ()).unwrap_err().id, "DeviceArray:dataType");
    });
}

#[test]
fn arguments_that_a_step_does_not_fit() {
    leaves_nothing(|host| {
        let none = host.double(&[0, 0], &[]);
        let refused = |step: &Step, plan: [usize; 4], values: &Array, states: &[Item], kind: &str| {
            let outcome = step.try_run(plan, values, states, states.len() + 1);
            assert_eq!(outcome.map(|_| ()).unwrap_err().id, format!("DeviceArray:{kind}"), "{plan:?}");
        };
        // A state that becomes shorter, or of another class, is good for one step.
        let u = [noisy(host, DOUBLE, 10)];
        let changes: [Code; 3] = [
            |host, traced| vec![verb(host, "pick", &[&traced[0], &number(host, 2.0), &host.text(":")])],
            |host, traced| vec![verb(host, "convert", &[&traced[0], &host.text("single")])],
            |host, traced| vec![verb(host, "gt", &[&traced[0], &number(host, 0.0)])],
        ];
        for change in changes {
            let (step, traced) = Step::record(host, &references(&u));
            step.finish([1, 0, 0], &change(host, &traced));
            assert_same(&step.run([1, 0, 0, 1], &none, &u, 1).0, &change(host, &u), "one step");
            refused(&step, [2, 0, 0, 1], &none, &u, "trace");
        }
        // Values: of another class, too few, none, more of a step, and of arguments that are no numbers.
        let step = record_fed(host);
        let few = held(host, DOUBLE, &[2, 3], &[0.5; 6]);
        let narrow = held(host, DOUBLE, &[1, 10], &[0.5; 10]);
        let single = held(host, SINGLE, &[2, 10], &[0.5; 20]);
        refused(&step, [4, 0, 0, 1], &few, &u, "size");
        refused(&step, [1 << 53, 0, 0, 1], &few, &u, "size");
        refused(&step, [4, 0, 0, 1], &none, &u, "trace");
        refused(&step, [4, 0, 0, 1], &narrow, &u, "trace");
        refused(&step, [4, 0, 0, 1], &single, &u, "trace");
        // Too many numbers in all to be counted.
        let (value, tall) = (held(host, DOUBLE, &[1, 1], &[0.5]), held(host, DOUBLE, &[1 << 11, 1], &[0.5; 1 << 11]));
        let like: Vec<_> = [&u[0].array].into_iter().chain([&value.array; 1 << 11]).collect();
        let (many, traced) = Step::record(host, &like);
        many.finish([1, 0, 0], &[verb(host, "plus", &[&traced[0], &traced[1 << 11]])]);
        refused(&many, [1 << 53, 0, 0, 1], &tall, &u, "size");
        let (wide, traced) = Step::record(host, &[&u[0], &u[0]]);
        wide.finish([1, 0, 0], &[verb(host, "plus", &[&traced[0], &traced[1]])]);
        refused(&wide, [4, 0, 0, 1], &narrow, &u, "trace");
        // Fewer arguments than states.
        let (less, traced) = Step::record(host, &[&u[0]]);
        let results = [1.0, 2.0].map(|by| verb(host, "plus", &[&traced[0], &number(host, by)]));
        less.finish([2, 0, 0], &results);
        refused(&less, [1, 0, 0, 1], &none, &[noisy(host, DOUBLE, 1), noisy(host, DOUBLE, 2)], "trace");
    });
}

#[test]
fn steps_are_recorded_anew_and_given_up() {
    leaves_nothing(|host| {
        let (u, single) = (noisy(host, DOUBLE, 11), noisy(host, SINGLE, 11));
        let none = host.double(&[0, 0], &[]);
        let twice = |u: &Item| verb(host, "plus", &[u, u]);
        let before = count(host);
        let (step, traced) = Step::record(host, &[&u]);
        step.finish([1, 0, 0], &[twice(&traced[0])]);
        // A compiled step that is called with another class is recorded again, and the first recording is released.
        let number = verb(host, "record", &[&single, &step.number]);
        assert_eq!(number.doubles(), step.number.doubles());
        let argument = verb(host, "argument", &[&number, &single]);
        step.finish([1, 0, 0], &[twice(&argument)]);
        drop((traced, argument));
        let states = [single];
        assert_same(&step.run([1, 0, 0, 1], &none, &states, 1).0, &[twice(&states[0])], "recorded anew");
        assert_eq!(step.try_run([1, 0, 0, 1], &none, &[u], 2).map(|_| ()).unwrap_err().id, "DeviceArray:trace");
        let [single] = states;
        assert_eq!(count(host), before - 1.0, "a step that is ready holds no array that is counted");
        // Given up twice, by a string, and after the function was cleared.
        for word in [host.text("forget"), host.string(&[Some("forget")])] {
            drop(host.one(ARRAYS, 1, &[&word, &step.number]));
        }
        let outcome = step.try_run([1, 0, 0, 1], &none, &[single], 2);
        assert_eq!(outcome.map(|_| ()).unwrap_err().id, "DeviceArray:deleted");
        let u = [noisy(host, DOUBLE, 12)];
        let (kept, traced) = Step::record(host, &references(&u));
        kept.finish([1, 0, 0], &[twice(&traced[0])]);
        host.clear(ARRAYS);
        assert_same(&kept.run([1, 0, 0, 1], &none, &u, 1).0, &[twice(&u[0])], "after clear");
    });
}

#[test]
fn arrays_that_share_their_numbers() {
    leaves_nothing(|host| {
        let u = noisy(host, DOUBLE, 13);
        let all = number(host, (DIMS[0] * DIMS[1]) as f64);
        let shares = |a: &Item, b: &Item| verb(host, "shares", &[a, b]).doubles() == [1.0];
        let same = verb(host, "reshape", &[&u, &host.double(&[1, 2], &DIMS.map(|dim| dim as f64))]);
        let column = verb(host, "reshape", &[&u, &host.double(&[1, 2], &[all.doubles()[0], 1.0])]);
        assert!(shares(&u, &u) && shares(&u, &same));
        assert!(!shares(&u, &column) && !shares(&u, &noisy(host, DOUBLE, 13)) && !shares(&u, &noisy(host, SINGLE, 13)));
        host.refuses(ARRAYS, 1, &[&host.text("shares"), &u, &all], "dataType", "");
    });
}

/// Records `u + a`, with an argument behind the state like `page`, of these dimensions.
fn record_paged<'a>(host: &'a Host, u: &Item, page: &Item, dims: &[f64]) -> Step<'a> {
    let (step, state) = Step::record(host, &[u]);
    let argument = verb(host, "argument", &[&step.number, page, &host.double(&[1, dims.len()], dims)]);
    step.finish([1, 0, 0], &[verb(host, "plus", &[&state[0], &argument])]);
    step
}

/// Runs it with arrays behind the state.
fn run_paged<'a>(
    step: &Step<'a>,
    plan: [f64; 6],
    values: &Array,
    u: &Item,
    pages: &[&Array],
) -> Result<Item<'a>, Message> {
    let host = step.host;
    let (plan, run) = (host.double(&[1, 6], &plan), host.text("run"));
    let results = host.call(ARRAYS, 2, &[&[&run, &step.number, &plan, values, &u.array], pages].concat())?;
    let mut results: Vec<_> = results.into_iter().map(|array| Item { host, array }).collect();
    Ok(results.swap_remove(0))
}

#[test]
fn pages_of_arrays_of_either_kind() {
    leaves_nothing(|host| {
        let (u, none) = (held(host, DOUBLE, &[2, 1], &[1.0, 2.0]), host.double(&[0, 0], &[]));
        let numbers: Vec<f64> = (1..=8).map(f64::from).collect();
        let ordinary = host.double(&[2, 4], &numbers);
        let on_engine = held(host, DOUBLE, &[2, 4], &numbers);
        let step = record_paged(host, &u, &on_engine, &[2.0, 1.0]);
        let plan = |steps: f64, before: f64| [steps, before, before + steps, 0.0, 1.0, 0.0];
        // From the second page to the last one.
        for pages in [&ordinary, &on_engine.array] {
            let state = run_paged(&step, plan(3.0, 1.0), &none, &u, &[pages]).expect("it runs");
            assert_eq!(verb(host, "gather", &[&state]).doubles(), [1.0 + 15.0, 2.0 + 18.0]);
        }
        let refused = |plan: [f64; 6], values: &Array, pages: &[&Array], kind: &str, words: &str| {
            let error = run_paged(&step, plan, values, &u, pages).map(|_| ()).expect_err(words);
            assert_eq!(error.id, format!("DeviceArray:{kind}"), "{}", error.text);
            assert!(error.text.contains(words), "{}", error.text);
        };
        for pages in [&ordinary, &on_engine.array] {
            refused(plan(3.0, 2.0), &none, &[pages], "size", "no page for each of 5 steps");
            refused(plan(1.0, 2f64.powi(53)), &none, &[pages], "size", "no page");
            refused(plan(1.0, 0.0), &none, &[pages, pages], "trace", "values");
            refused(plan(1.0, 0.0), &on_engine, &[pages], "option", "not both");
        }
        refused(plan(1.0, 0.0), &none, &[], "trace", "values");
        refused(plan(1.0, 0.0), &none, &[&host.double(&[1, 2, 4], &numbers)], "trace", "values");
        refused(plan(1.0, 0.0), &none, &[&held(host, SINGLE, &[2, 4], &numbers)], "trace", "values");
        refused(plan(1.0, 0.0), &none, &[&host.double(&[4, 2], &numbers)], "trace", "values");
        refused(plan(1.0, 0.0), &none, &[&host.text("ab")], "dataType", "the array of pages");
        refused(plan(1.0, 0.0), &none, &[&host.make(DOUBLE, &[2, 4], true)], "dataType", "the array of pages");
    });
}
