//! What the library of the packages asks of a machine: `STENCIL_MEX_LIBRARY` names it. Ordinary builds ask for more.

use std::collections::BTreeSet;

use object::elf::{DT_NEEDED, FileHeader64};
use object::read::elf::{Dyn, ElfFile64, FileHeader, SectionHeader, VerneedIterator};
use object::{Endianness, FileKind};

/// The oldest glibc that it is to load with.
const GLIBC: [u32; 2] = [2, 17];

fn library() -> Vec<u8> {
    let path = std::env::var_os("STENCIL_MEX_LIBRARY").expect("STENCIL_MEX_LIBRARY");
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
