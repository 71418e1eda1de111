//! The example: one load per thread, with stride, offset and width to turn.

use crate::viz::example::Builder;
use gpu_core::emulator::{AccessKind, Class, Space, Trace};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhatIf {
    /// Elements from one lane to the next; 0 reads one element with all lanes.
    pub stride: u32,
    /// Elements skipped at the start.
    pub offset: u32,
    /// Bytes per lane: 4, 8 or 16.
    pub bytes: u32,
    /// Lane 31 reads what lane 0 would.
    pub reversed: bool,
}

pub const STRIDES: [u32; 7] = [0, 1, 2, 4, 8, 16, 32];
pub const WIDTHS: [(u32, &str); 3] = [(4, "float"), (8, "float2"), (16, "float4")];
pub const LARGEST_OFFSET: u32 = 32;
const WARPS: u32 = 4;

impl Default for WhatIf {
    fn default() -> Self {
        Self { stride: 2, offset: 0, bytes: 4, reversed: false }
    }
}

impl WhatIf {
    pub fn source(&self) -> String {
        let width = WIDTHS.iter().find(|(bytes, _)| *bytes == self.bytes).map_or("float", |(_, name)| name);
        let thread = if self.reversed { "(i ^ 31)" } else { "i" };
        format!(
            "extern \"C\" __global__ void gather(const {width}* x, {width}* y) {{\n    \
             int i = blockIdx.x * blockDim.x + threadIdx.x;\n    y[i] = x[{} + {} * {thread}];\n}}\n",
            self.offset, self.stride
        )
    }

    pub fn trace(&self) -> Trace {
        let threads = WARPS * 32;
        let mut b = Builder::new("gather", [1, 1, 1], [threads, 1, 1]);
        let needed = u64::from(self.offset + self.stride * threads + 1) * u64::from(self.bytes);
        let x = b.array("x", Space::Global, needed);
        let y = b.array("y", Space::Global, u64::from(threads * self.bytes));
        let index = b.instruction("mad.lo.s32 %r1, %ctaid.x, %ntid.x, %tid.x;", 2, Class::Integer);
        let load = b.site("ld.global [%rd1];", 3, x, AccessKind::Read, self.bytes);
        let store = b.site("st.global [%rd2];", 3, y, AccessKind::Write, self.bytes);
        for warp in 0..WARPS {
            let w = b.warp([0, 0, 0], warp);
            b.step(w, index, u32::MAX);
            let thread = |lane: u32| warp * 32 + if self.reversed { lane ^ 31 } else { lane };
            b.access(w, load, u32::MAX, |lane| i64::from(self.offset + self.stride * thread(lane)));
            b.access(w, store, u32::MAX, |lane| i64::from(warp * 32 + lane));
        }
        b.finish()
    }
}
