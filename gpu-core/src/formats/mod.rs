//! Formats of few bits and the scales that go with them: the one place where codes become values and values codes.
//!
//! `element.rs` has single codes, `layout.rs` how a tensor of them lies in memory, `quantize.rs` how a tensor becomes
//! one. All three follow the published definitions: OCP 8-bit Floating Point 1.0 (e4m3, e5m2), OCP Microscaling
//! Formats 1.0 (e2m1, ue8m0, MXFP4), and NVIDIA's NVFP4 recipe (blocks of 16 with e4m3 scales and one f32 scale for
//! the tensor).

mod dtype;
mod element;
mod layout;
mod quantize;

pub use dtype::Dtype;
pub use element::{Element, Rounding, ue8m0_of_amax, ue8m0_value};
pub use layout::{Axis, Format, Layout, Packing, Part, ScaleType, Stored};
pub use quantize::{Given, Quantized};
