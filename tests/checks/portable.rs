//! Requirements of the packages' library and MEX files on a machine: `STENCIL_MEX_FILE` names one of these, in the
//! library's folder. An ordinary build requires more.

use std::collections::BTreeSet;

use object::elf::DT_NEEDED;
use object::read::elf::{Dyn, ElfFile64};
use object::{Endianness, Object, ObjectSection, ObjectSymbol};

use crate::exports::files;

/// The oldest glibc that it is to load with.
const GLIBC: &str = "2.17";

/// The numbers of a version, which compare as the version does.
fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map(|number| number.parse().unwrap_or_else(|_| panic!("{version} is no version"))).collect()
}

#[test]
#[ignore = "it is of the packages, of which STENCIL_MEX_FILE names a MEX file"]
fn no_symbol_is_newer_than_the_oldest_glibc() {
    for data in files() {
        let file = ElfFile64::<Endianness>::parse(&*data).unwrap();
        let (endian, sections) = (file.endian(), file.elf_section_table());
        let (mut needs, link) = sections.gnu_verneed(endian, &*data).unwrap().expect("versions");
        let strings = sections.strings(endian, &*data, link).unwrap();
        let mut versions = BTreeSet::new();
        while let Some((_, mut names)) = needs.next().unwrap() {
            while let Some(name) = names.next().unwrap() {
                versions.insert(std::str::from_utf8(name.name(endian, strings).unwrap()).unwrap().to_owned());
            }
        }
        let glibc: Vec<_> = versions.iter().filter_map(|version| version.strip_prefix("GLIBC_")).collect();
        assert!(!glibc.is_empty(), "{versions:?}");
        let newer: Vec<_> = glibc.into_iter().filter(|version| numbers(version) > numbers(GLIBC)).collect();
        assert!(newer.is_empty(), "GLIBC_ {newer:?}");
    }
}

#[test]
#[ignore = "it is of the packages, of which STENCIL_MEX_FILE names a MEX file"]
fn only_what_every_host_has_is_needed() {
    // Parts of glibc (those of the second row are needed only if one of their functions is called) and the unwinder.
    let always = BTreeSet::from(["libc.so.6"]);
    let sometimes = BTreeSet::from(["libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2"]);
    for (data, unwinder) in files().iter().zip([None, Some("libgcc_s.so.1")]) {
        let file = ElfFile64::<Endianness>::parse(&**data).unwrap();
        let (endian, sections) = (file.endian(), file.elf_section_table());
        let (entries, link) = sections.dynamic(endian, &**data).unwrap().expect("a dynamic section");
        let strings = sections.strings(endian, &**data, link).unwrap();
        let needed = entries.iter().filter(|entry| entry.tag32(endian) == Some(DT_NEEDED));
        let needed: BTreeSet<_> =
            needed.map(|entry| std::str::from_utf8(entry.string(endian, strings).unwrap()).unwrap()).collect();
        let always: BTreeSet<_> = always.iter().copied().chain(unwinder).collect();
        assert!(needed.is_superset(&always) && needed.is_subset(&(&always | &sometimes)), "{needed:?}");
    }
}

/// The host's errors pass through our frames, and ours through the host's: one unwinder must know both.
#[test]
#[ignore = "it is of the packages, of which STENCIL_MEX_FILE names a MEX file"]
fn the_unwinder_is_the_systems() {
    let [_, data] = files();
    let file = object::File::parse(&*data).unwrap();
    for name in ["_Unwind_RaiseException", "_Unwind_Resume"] {
        assert!(file.dynamic_symbols().any(|symbol| symbol.name() == Ok(name) && symbol.is_undefined()), "{name}");
    }
}

#[test]
#[ignore = "it is of the packages, of which STENCIL_MEX_FILE names a MEX file"]
fn they_are_stripped() {
    for data in files() {
        let file = object::File::parse(&*data).unwrap();
        assert_eq!(file.symbols().count(), 0);
        assert!(!file.sections().any(|section| section.name().unwrap().starts_with(".debug")));
    }
}
