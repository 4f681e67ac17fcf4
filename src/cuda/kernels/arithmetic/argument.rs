//! The arguments of the kernels for arithmetic, and the numbers of their operations.
//!
//! Each struct is the struct of its name in `cuda/arithmetic_elements.cuh`, `cuda/arithmetic_walks.cuh` or
//! `cuda/arithmetic_reductions.cuh`, field for field ([`InSection`] is `Section` there).

use bytemuck::{Pod, Zeroable};
use cudarc::driver::sys;

use super::super::super::Element;
use super::walk::Walk;
use crate::stencil::{Binary, Reduction, Unary};

/// From one array to another: `struct OneToOne` of `cuda/arithmetic_elements.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(super) struct OneToOne {
    pub(super) from: sys::CUdeviceptr,
    pub(super) to: sys::CUdeviceptr,
    pub(super) count: u64,
    pub(super) op: u32,
    pub(super) exponent: i32,
    pub(super) backwards: u32,
    pub(super) unused: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(super) struct Scalar {
    pub(super) to: sys::CUdeviceptr,
    pub(super) count: u64,
    pub(super) value: f64,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(super) struct TwoToOne {
    pub(super) from: [sys::CUdeviceptr; 2],
    pub(super) to: sys::CUdeviceptr,
    pub(super) count: u64,
    pub(super) scalar: [f64; 2],
    pub(super) op: u32,
    pub(super) backwards: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(super) struct Advance {
    pub(super) step: sys::CUdeviceptr,
    pub(super) source: sys::CUdeviceptr,
    pub(super) older: sys::CUdeviceptr,
    pub(super) count: u64,
    pub(super) weight: f64,
    pub(super) scalar: f64,
    pub(super) with_source: u32,
    pub(super) backwards: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(super) struct Expanded {
    pub(super) from: [sys::CUdeviceptr; 2],
    pub(super) to: sys::CUdeviceptr,
    pub(super) scalar: [f64; 2],
    pub(super) walk: Walk,
    pub(super) op: u32,
    pub(super) unused: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(super) struct InSection {
    pub(super) from: sys::CUdeviceptr,
    pub(super) to: sys::CUdeviceptr,
    pub(super) start: u64,
    pub(super) walk: Walk,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(super) struct List {
    pub(super) from: sys::CUdeviceptr,
    pub(super) to: sys::CUdeviceptr,
    pub(super) places: sys::CUdeviceptr,
    pub(super) others: sys::CUdeviceptr,
    pub(super) count: u64,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(super) struct Reduced {
    pub(super) from: [sys::CUdeviceptr; 2],
    pub(super) to: sys::CUdeviceptr,
    pub(super) inner: u64,
    pub(super) length: u64,
    pub(super) outer: u64,
    pub(super) chunks: u64,
    pub(super) start: f64,
    pub(super) op: u32,
    pub(super) bits: u32,
}

/// An operand on the device.
#[derive(Debug, Clone, Copy)]
pub(in super::super::super) enum On<T> {
    Array(sys::CUdeviceptr),
    Scalar(T),
}

impl<T: Element> On<T> {
    /// Its address, if it has one, and its value, if it has not.
    pub(super) fn parts(self) -> (sys::CUdeviceptr, f64) {
        match self {
            On::Array(address) => (address, 0.0),
            On::Scalar(value) => (0, value.to_f64()),
        }
    }
}

/// The number of an operation, and its exponent.
pub(super) fn unary(op: Unary) -> (u32, i32) {
    match op {
        Unary::Negate => (0, 0),
        Unary::Abs => (1, 0),
        Unary::Sqrt => (2, 0),
        Unary::Not => (3, 0),
        Unary::IsNan => (4, 0),
        Unary::Power(exponent) => (5, exponent),
    }
}

pub(super) fn binary(op: Binary) -> u32 {
    match op {
        Binary::Add => 0,
        Binary::Subtract => 1,
        Binary::Multiply => 2,
        Binary::Divide => 3,
        Binary::Min => 4,
        Binary::Max => 5,
        Binary::Equal => 6,
        Binary::NotEqual => 7,
        Binary::Less => 8,
        Binary::LessEqual => 9,
        Binary::Greater => 10,
        Binary::GreaterEqual => 11,
        Binary::And => 12,
        Binary::Or => 13,
    }
}

pub(super) fn reduction(op: Reduction) -> u32 {
    match op {
        Reduction::Sum => 0,
        Reduction::Dot => 1,
        Reduction::SumOfMagnitudes => 2,
        Reduction::Min => 3,
        Reduction::Max => 4,
        Reduction::LargestMagnitude => 5,
        Reduction::Any => 6,
        Reduction::All => 7,
        Reduction::Differ => 8,
    }
}

/// What reduces the results of chunks: it takes as `op` joins.
///
/// The others do so themselves. (A result of magnitudes has no sign to lose, and one of logic is 0 or 1.)
pub(super) fn joining(op: Reduction) -> Reduction {
    match op {
        Reduction::Dot => Reduction::Sum,
        Reduction::Differ => Reduction::Any,
        other => other,
    }
}
