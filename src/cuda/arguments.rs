//! Arguments of all kernels, and codes of operations and boundaries: build.rs makes them from `cuda/arguments.cuh`,
//! which documents each field. A device address is an integer here.

#![allow(non_snake_case, non_upper_case_globals, dead_code)]

include!(concat!(env!("OUT_DIR"), "/arguments.rs"));
