//! Kernels that do several sweeps of a filter over a whole array in one launch.
//!
//! Each gives the bits of single sweeps, and is used where a model, fitted to measured times, predicts that it is
//! faster.

pub(super) mod images;
pub(super) mod tiles;
pub(super) mod volumes;
