//! Symbols that the library and its MEX files export to a process, and their linking.

use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs, process};

use object::elf::{DF_1_NODELETE, DT_FLAGS_1};
use object::read::elf::{Dyn, ElfFile64};
use object::{Endianness, Object, ObjectSymbol};

use crate::common::matlab::{LIBRARY, in_matlab, mex_file};

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A MEX file, and the library in its folder.
pub fn files() -> [Vec<u8>; 2] {
    let file = mex_file();
    [read(&file), read(&file.with_file_name(LIBRARY))]
}

/// Octave makes the symbols of every MEX file global: any more than these would meet another file's.
#[test]
fn only_what_is_asked_for_is_exported() {
    let of_hosts = ["__octave_mex_soversion__", "mexFunction", "mexfilerequiredapiversion"];
    for (data, expected) in files().iter().zip([&of_hosts[..], &["stencil_mex_call"]]) {
        let file = object::File::parse(&**data).unwrap();
        let defined = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
        let defined: BTreeSet<_> = defined.map(|symbol| symbol.name().unwrap().to_owned()).collect();
        assert_eq!(defined, expected.iter().map(ToString::to_string).collect());
    }
}

/// No function of a host is linked: they are looked up, under the name that the host has for them.
#[test]
fn no_host_is_linked() {
    for data in files() {
        let file = object::File::parse(&*data).unwrap();
        let wanted = file.dynamic_symbols().filter(|symbol| symbol.is_undefined());
        let wanted: Vec<_> = wanted.map(|symbol| symbol.name().unwrap().to_owned()).collect();
        assert!(wanted.iter().any(|name| name == "dlsym"), "{wanted:?}");
        assert!(!wanted.iter().any(|name| name.starts_with("mx") || name.starts_with("mex")), "{wanted:?}");
    }
}

/// `clear` must not take the code away under a call or a thread: a MEX file stays, and never closes the library.
#[test]
fn a_mex_file_is_never_unloaded() {
    let [data, _] = files();
    let file = ElfFile64::<Endianness>::parse(&*data).unwrap();
    let endian = file.endian();
    let (entries, _) = file.elf_section_table().dynamic(endian, &*data).unwrap().expect("a dynamic section");
    let flags = entries.iter().find(|entry| entry.tag32(endian) == Some(DT_FLAGS_1));
    assert_ne!(flags.map_or(0, |entry| entry.val32(endian).unwrap()) & DF_1_NODELETE, 0);
}

/// It finds the host's functions by itself, also where their names are not global, and raises the host's error.
#[test]
fn a_mex_file_without_its_library() {
    let folder = env::temp_dir().join(format!("mex-file-{}", process::id()));
    let (file, missing) = (folder.join("Any.mexa64"), folder.join(LIBRARY));
    fs::create_dir_all(&folder).and_then(|()| fs::copy(mex_file(), &file)).expect("a copy of the MEX file");
    in_matlab(move |host| {
        host.try_load(&file, "Alone_CUDA").expect("it needs no library to be loaded");
        let error = host.call_raw("Alone_CUDA", 1, &[]).expect_err("there is no library");
        assert_eq!(error.id, "Alone:notBuilt");
        assert!(error.text.contains(&*missing.to_string_lossy()), "{error:?}");
    });
    fs::remove_dir_all(&folder).expect("the folder goes");
}
