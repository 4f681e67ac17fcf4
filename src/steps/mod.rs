//! Steps of a solver: recorded as programs, and run repeatedly.
//!
//! # Rationale
//! A recording is an [engine](Recorder) whose arrays hold no numbers. Callers, such as a verb of `DeviceArray` or one
//! of the functions, use it as any engine, and its operations append nodes to a program. So classes, shapes, boundaries
//! and the order of operations are those of a plain call, and are written once.
//!
//! A [`Step`] runs a program: its kernels if the engine has kernels, and everything else by the engine's own methods,
//! with the same bits.

mod batches;
mod buffers;
mod collections;
mod elements;
mod record;
mod recording;
mod run;
mod several;
mod single;
mod values;

pub use elements::Elements;
pub use record::Recorder;
pub use recording::{Drawn, Recording, Taped};
pub use run::{Ran, Run, Shape, Step};
pub use values::{Pages, Upload, Values};
