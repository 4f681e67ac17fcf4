//! Words that documents, help files and tests of Octave have to list, and the version that documents name.

use std::fs;

use stencil_mex::stencil::BOUNDARY_WORDS;

/// Files that name each boundary.
const BOUNDARIES: [&str; 7] = [
    "docs/reference.md",
    "matlab/ConvolutionConstantMemory_CUDA.m",
    "matlab/DerivativeConstantMemory_CUDA.m",
    "matlab/StencilConstantMemory_CUDA.m",
    "packaging/matlab/toolbox/resources/functionSignatures.json",
    "tests/octave/extended.m",
    "tests/octave/fuzz_call.m",
];

/// Files that name the package's version, with the text ahead of it.
const VERSIONS: [(&str, &str); 10] = [
    ("Cargo.lock", "name = \"stencil-mex\"\nversion = \""),
    ("README.md", "stencil-mex-"),
    ("docs/matlab.md", "stencil-mex-"),
    ("docs/packages.md", "stencil-mex-"),
    ("docs/packages.md", "git tag "),
    ("docs/packages.md", "git push origin main "),
    ("docs/packages.md", "gh release create "),
    ("docs/packages.md", "gh release upload "),
    ("packaging/third-party/bom.cdx.json", "stencil-mex@"),
    ("packaging/third-party/bom.cdx.json", "\"name\": \"stencil_mex\",\n      \"version\": \""),
];

#[test]
fn every_boundary_is_told() {
    for file in BOUNDARIES {
        let text = fs::read_to_string(file).unwrap().replace('"', "'");
        for (word, _) in BOUNDARY_WORDS {
            assert!(text.contains(&format!("'{word}'")), "{file} does not tell of '{word}'");
        }
    }
}

#[test]
fn every_version_is_that_of_the_package() {
    let number = |text: &str| {
        let end = text.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(text.len());
        text[..end].trim_end_matches('.').to_string()
    };
    for (file, before) in VERSIONS {
        let text = fs::read_to_string(file).unwrap();
        let numbers: Vec<_> = text.split(before).skip(1).map(number).filter(|number| !number.is_empty()).collect();
        assert!(!numbers.is_empty(), "{file} has no version behind {before:?}");
        for number in numbers {
            assert_eq!(number, env!("CARGO_PKG_VERSION"), "{file}, behind {before:?}");
        }
    }
    let changes = fs::read_to_string("CHANGELOG.md").unwrap();
    assert_eq!(changes.split("\n## ").nth(1).map(number).as_deref(), Some(env!("CARGO_PKG_VERSION")), "CHANGELOG.md");
}
