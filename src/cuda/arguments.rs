//! The arguments of all kernels, the numbers of their operations and of their boundaries: build.rs makes them from
//! `cuda/arguments.cuh`, which says what each field is. An address of the device is a number here.

#![allow(non_snake_case, non_upper_case_globals, dead_code)]

include!(concat!(env!("OUT_DIR"), "/arguments.rs"));
