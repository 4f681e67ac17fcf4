//! The guard of the code's structure: no circles of imports, and nothing longer than a reader can hold.
//!
//! A circle is defined in `tests/checks/house/graph.rs`.
//!
//! # Limits
//! All of them are in [`LIMITS`]. Files that exceed one for now are in [`EXCEPTIONS`], each with its present maximum:
//! it may shrink, and an exception that is not needed any more is to be removed.

mod graph;
mod source;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use graph::Graph;
use source::{File, is_test, scripts, sources};

/// Kinds of limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    /// Lines of a file of Rust, CUDA or C++.
    FileLines,
    /// Lines of a file of the tests.
    TestLines,
    /// Lines of a function, from its name to its closing brace.
    FunctionLines,
    /// Words of a document.
    Words,
    /// Files in a circle of imports. An exception names the first of them.
    Circle,
    /// Files of Rust that do not begin with a page (`//!`).
    NoPage,
    /// Paragraphs of a file's comments that begin with one of [`OPENINGS`].
    Opening,
    /// Costs of a run of the tests.
    Run,
}

use Rule::{Circle, FileLines, FunctionLines, NoPage, Opening, Run, TestLines, Words};

/// The most that each may be; for documents, see [`DOCUMENTS`].
const LIMITS: [(Rule, usize); 6] =
    [(FileLines, 600), (TestLines, 900), (FunctionLines, 100), (Circle, 0), (NoPage, 0), (Opening, 0)];

/// Documents, and the most words of each.
const DOCUMENTS: [(&str, usize); 5] = [
    ("ARCHITECTURE.md", 3000),
    ("BENCHMARKS.md", 3000),
    ("CHANGELOG.md", 900),
    ("README.md", 900),
    ("docs/tour.md", 800),
];

/// Limits of a run: `make test`, with its builds, on a machine that has built nothing, in seconds of all processors;
/// and the library of the packages. `tests/run` writes these figures.
const RUNS: [(&str, usize); 2] = [("processor_seconds", 1600), ("package_library_bytes", 6_900_000)];

/// Exceptions for the time being: the rule, the file (`file: function` for one), the maximum, and the reason.
#[rustfmt::skip]
const EXCEPTIONS: &[(Rule, &str, usize, &str)] = &[
    (TestLines, "tests/stand_in/cuda/driver.cpp", 2660, "a stand-in's, which follows what it stands in for"),
    (TestLines, "tests/stand_in/cuda/executor.cpp", 1225, "a stand-in's, which follows what it stands in for"),
    (TestLines, "tests/system/cuda_stand_in/several.rs", 1030, "a stand-in's, which follows what it stands in for"),
    (FunctionLines, "cuda/sweeps/images/images.cuh: sweep_images", 196, "with its loop in parts, ptxas takes other registers: up to 1.16 times as long"),
    (FunctionLines, "cuda/convolution.cu: convolution", 125, "ptxas schedules the parts worse: measured 1.04"),
    (FunctionLines, "cuda/tensor/volume_consumer.cuh: consume_all", 112, "ptxas schedules the parts worse: measured 1.09"),
    (FunctionLines, "tests/system/cuda_stand_in/several.rs: threads", 104, "a stand-in's, which follows what it stands in for"),
    (FunctionLines, "tests/system/cuda_stand_in/several.rs: told", 183, "a stand-in's, which follows what it stands in for"),
];

// ---- the rules

#[test]
fn no_imports_run_in_circles() {
    let circles = Graph::of_crate(&sources()).circles();
    check(Circle, circles.into_iter().map(|circle| (circle.files[0].clone(), circle.files.len(), circle.told)));
}

#[test]
fn the_platform_knows_nothing_of_stencils() {
    let files = sources();
    let platform: Vec<_> = files.iter().filter(|file| file.path.starts_with("src/platform/")).collect();
    let strangers = platform.iter().flat_map(|file| {
        let paths = file
            .text
            .split("crate::")
            .skip(1)
            .filter(|rest| !rest.starts_with("platform") && !rest.starts_with("selection"));
        paths.map(|rest| format!("{}: crate::{}", file.path, rest.lines().next().unwrap_or_default()))
    });
    let strangers: Vec<_> = strangers.collect();
    assert!(strangers.is_empty() && platform.len() > 5, "of {} files: {strangers:?}", platform.len());
}

/// A test that is lost leaves its helper behind.
#[test]
fn every_helper_of_the_tests_is_called() {
    let (files, sources) = (scripts(), sources());
    let is_called = |helper: &File| {
        let name = helper.path.rsplit('/').next().and_then(|name| name.strip_suffix(".m")).expect("an m-file");
        let words = |text: &str| text.split(|c: char| c != '_' && !c.is_ascii_alphanumeric()).any(|word| word == name);
        files.iter().chain(&sources).any(|file| file.path != helper.path && words(&file.text))
    };
    let helpers = files.iter().filter(|file| file.path.starts_with("tests/") && file.path.ends_with(".m"));
    let (called, lost): (Vec<&File>, Vec<&File>) = helpers.partition(|helper| is_called(helper));
    let lost: Vec<_> = lost.iter().map(|helper| &helper.path).collect();
    assert!(lost.is_empty() && called.len() > 50, "of {} helpers nobody calls {lost:?}", called.len() + lost.len());
}

#[test]
fn files_are_short() {
    let files = sources();
    let measured = |rule, of_tests: bool| {
        let of_rule = files.iter().filter(move |file| is_test(&file.path) == of_tests);
        let measured = of_rule.map(|file| (file.path.clone(), file.text.lines().count(), "lines".into()));
        check(rule, measured);
    };
    measured(FileLines, false);
    measured(TestLines, true);
}

#[test]
fn functions_are_short() {
    let files = sources();
    let functions = files.iter().flat_map(|file| {
        let of_file = file.functions().into_iter();
        of_file.map(|(name, first, last)| {
            (format!("{}: {name}", file.path), last - first + 1, format!("lines, from line {first} on"))
        })
    });
    check(FunctionLines, functions);
}

#[test]
fn documents_are_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let words = |document| {
        let text = fs::read_to_string(root.join(document)).unwrap_or_else(|error| panic!("{document}: {error}"));
        text.split_whitespace().count()
    };
    check_each(
        Words,
        DOCUMENTS.map(|(document, limit)| Measured {
            at: document.to_string(),
            value: words(document),
            what: "words".into(),
            limit,
        }),
    );
}

/// Checks that every link of the tour, `[`name`](../file)`, leads to a file that has a function or a type of that name.
#[test]
fn the_tour_names_functions_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tour = fs::read_to_string(root.join("docs/tour.md")).unwrap();
    let links = tour.split("[`").skip(1).filter_map(|rest| {
        let (name, rest) = rest.split_once("`](../")?;
        Some((name, rest.split_once(')')?.0))
    });
    let has = |name: &str, file: &str| {
        let text = fs::read_to_string(root.join(file)).unwrap_or_default();
        // Rust has them behind `fn`; the other languages have nothing of that name but the function.
        let (before, after): (&str, &[char]) =
            if file.ends_with(".rs") { ("fn ", &['(', '<']) } else { (" ", &['(', ' ']) };
        text.match_indices(&format!("{before}{name}")).any(|(at, found)| text[at + found.len()..].starts_with(after))
    };
    let (mut count, mut missing) = (0, Vec::new());
    for (name, file) in links {
        count += 1;
        if !has(name, file) {
            missing.push(format!("{file}: {name}"));
        }
    }
    assert!(missing.is_empty() && count >= 40, "of {count} links these lead nowhere: {missing:?}");
}

#[test]
fn files_begin_with_a_page() {
    let files = sources();
    let rust = files.iter().filter(|file| file.path.ends_with(".rs") && !file.text.starts_with("//!"));
    check(NoPage, rust.map(|file| (file.path.clone(), 1, "file without a page (`//!`)".into())));
}

/// Openings of comments that cannot be read alone, or that hide their subject.
const OPENINGS: [&str; 9] = ["The same", "What ", "Whether ", "Which ", "Where ", "Who ", "How ", "That ", "Of "];

#[test]
fn comments_can_be_read_alone() {
    let files = sources().into_iter().chain(scripts());
    let found = files.filter_map(|file| {
        let lines: Vec<_> = OPENINGS.iter().flat_map(|opening| file.paragraphs_that_begin(opening)).collect();
        let told = lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        (!lines.is_empty())
            .then(|| (file.path.clone(), lines.len(), format!("comments that begin badly, at lines {told}")))
    });
    check(Opening, found);
}

#[test]
#[ignore = "it is of a run's figures: .ci/run asks for it behind its runs"]
fn limits_of_a_run() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tests/measured");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let figures: BTreeMap<_, _> = text.lines().filter_map(|line| line.split_once(' ')).collect();
    check_each(
        Run,
        RUNS.map(|(name, limit)| {
            let figure = figures.get(name).unwrap_or_else(|| panic!("{}: no {name}", path.display()));
            let value = figure.parse().unwrap_or_else(|error| panic!("{name} is '{figure}': {error}"));
            Measured { at: "tests/run".into(), value, what: name.into(), limit }
        }),
    );
}

// ---- limits

fn check(rule: Rule, measured: impl IntoIterator<Item = (String, usize, String)>) {
    let (_, limit) = LIMITS.into_iter().find(|(of, _)| *of == rule).expect("each rule has a limit");
    check_each(rule, measured.into_iter().map(|(at, value, what)| Measured { at, value, what, limit }));
}

/// Fails where something is more than its limit, and where an exception is not needed.
fn check_each(rule: Rule, measured: impl IntoIterator<Item = Measured>) {
    let exceptions = EXCEPTIONS.iter().filter(|(of, ..)| *of == rule).map(|&(_, at, most, _)| (at, most));
    let complaints = complaints(exceptions.collect(), measured);
    assert!(complaints.is_empty(), "{rule:?}:\n{}\n", complaints.join("\n"));
}

/// A measured value with its limit.
struct Measured {
    at: String,
    value: usize,
    /// Unit of the value.
    what: String,
    limit: usize,
}

/// Returns a line for each value above its limit: place, value, unit.
fn complaints(mut exceptions: BTreeMap<&str, usize>, measured: impl IntoIterator<Item = Measured>) -> Vec<String> {
    let mut all = Vec::new();
    let mut needed = Vec::new();
    for Measured { at, value, what, limit } in measured.into_iter().filter(|measured| measured.value > measured.limit) {
        match exceptions.get_key_value(&*at) {
            Some((&exception, &most)) => {
                needed.push(exception);
                if value > most {
                    all.push(format!("{at}: {value} {what}; its exception allows {most}, the limit is {limit}"));
                }
            }
            None => all.push(format!("{at}: {value} {what}; {} more than the limit, {limit}", value - limit)),
        }
    }
    exceptions.retain(|exception, _| !needed.contains(exception));
    let not_needed = exceptions.keys().map(|at| format!("{at}: its exception is not needed any more, take it out"));
    all.extend(not_needed);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_a_limit_is_told_and_so_is_an_exception_without_need() {
        let told = |value, exceptions: &[(&'static str, usize)]| {
            let measured = Measured { at: "a.rs".into(), value, what: "lines".into(), limit: 100 };
            complaints(exceptions.iter().copied().collect(), [measured])
        };
        assert_eq!(told(100, &[]), [""; 0]);
        assert_eq!(told(120, &[]), ["a.rs: 120 lines; 20 more than the limit, 100"]);
        assert_eq!(told(120, &[("a.rs", 120)]), [""; 0]);
        assert_eq!(told(121, &[("a.rs", 120)]), ["a.rs: 121 lines; its exception allows 120, the limit is 100"]);
        let not_needed = "a.rs: its exception is not needed any more, take it out";
        assert_eq!(told(90, &[("a.rs", 120)]), [not_needed]);
    }
}
