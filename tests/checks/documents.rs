//! Words that documents, help files and tests of Octave have to list.

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

#[test]
fn every_boundary_is_told() {
    for file in BOUNDARIES {
        let text = fs::read_to_string(file).unwrap().replace('"', "'");
        for (word, _) in BOUNDARY_WORDS {
            assert!(text.contains(&format!("'{word}'")), "{file} does not tell of '{word}'");
        }
    }
}
