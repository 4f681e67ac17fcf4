//! The classes of numbers that there are kernels for.

use crate::stencil::Real;

/// A class of numbers that there are kernels for.
pub(crate) trait Element: Real + bytemuck::Pod {
    /// Its name in C, which is part of the names of modules.
    const NAME: &'static str;
}

impl Element for f32 {
    const NAME: &'static str = "float";
}

impl Element for f64 {
    const NAME: &'static str = "double";
}
