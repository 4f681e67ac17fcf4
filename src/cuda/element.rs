//! Classes of numbers for which there are kernels.

use crate::stencil::Number;

/// A class of numbers for which there are kernels.
pub(crate) trait Element: Number + bytemuck::Pod {
    /// Its name in C, which is part of the names of modules.
    const NAME: &'static str;
}

impl Element for f32 {
    const NAME: &'static str = "float";
}

impl Element for f64 {
    const NAME: &'static str = "double";
}
