//! What `build.rs` made of the host's `mex.h`: its types and constants, and `Api`, the table of its functions.

#![allow(missing_docs, non_camel_case_types, non_upper_case_globals, non_snake_case, dead_code)]
#![allow(clippy::all, clippy::undocumented_unsafe_blocks)]

include!(concat!(env!("OUT_DIR"), "/api.rs"));
