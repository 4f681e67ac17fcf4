//! What the library shows to the process that loads it, and how it is linked.

use std::collections::BTreeSet;
use std::path::PathBuf;

use object::elf::{DF_1_NODELETE, DF_SYMBOLIC, DT_FLAGS, DT_FLAGS_1};
use object::read::elf::{Dyn, ElfFile64};
use object::{Endianness, Object, ObjectSymbol};

/// The library: beside this test's program, or where `STENCIL_MEX_LIBRARY` says.
fn library() -> Vec<u8> {
    let path = std::env::var_os("STENCIL_MEX_LIBRARY").map(PathBuf::from).unwrap_or_else(|| {
        let program = std::env::current_exe().unwrap();
        let folders = program.ancestors().skip(1).take(2).map(|folder| folder.join("libstencil_mex.so"));
        folders
            .into_iter()
            .find(|path| path.is_file())
            .expect("libstencil_mex.so beside the test, or STENCIL_MEX_LIBRARY")
    });
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Octave makes the symbols of every MEX file global: any more than these would meet another file's.
#[test]
fn only_what_the_hosts_ask_for_is_exported() {
    let data = library();
    let file = object::File::parse(&*data).unwrap();
    let defined: BTreeSet<_> = file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition())
        .map(|symbol| symbol.name().unwrap().to_owned())
        .collect();
    let expected = ["__octave_mex_soversion__", "mexFunction", "mexfilerequiredapiversion"].map(String::from);
    assert_eq!(defined, BTreeSet::from(expected));
}

/// No function of a host is linked: they are looked up, under the name that the host has for them.
#[test]
fn no_host_is_linked() {
    let data = library();
    let file = object::File::parse(&*data).unwrap();
    let wanted: Vec<_> = file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_undefined())
        .map(|symbol| symbol.name().unwrap().to_owned())
        .collect();
    assert!(wanted.iter().any(|name| name == "dlsym"), "{wanted:?}");
    assert!(!wanted.iter().any(|name| name.starts_with("mx") || name.starts_with("mex")), "{wanted:?}");
}

/// `clear` must not take the code away under a thread, and two libraries must not share symbols.
#[test]
fn the_library_is_bound_to_itself_and_never_unloaded() {
    let data = library();
    let file = ElfFile64::<Endianness>::parse(&*data).unwrap();
    let endian = file.endian();
    let (entries, _) = file.elf_section_table().dynamic(endian, &*data).unwrap().expect("a dynamic section");
    let flags = |tag| {
        entries.iter().find(|entry| entry.tag32(endian) == Some(tag)).map_or(0, |entry| entry.val32(endian).unwrap())
    };
    assert_ne!(flags(DT_FLAGS) & DF_SYMBOLIC, 0);
    assert_ne!(flags(DT_FLAGS_1) & DF_1_NODELETE, 0);
}
