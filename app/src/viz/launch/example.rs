//! The example: adding two vectors, with the mistakes that everybody makes once.

use crate::viz::example::Builder;
use crate::viz::kit;
use gpu_core::emulator::{AccessKind, Class, Space, Trace};

/// What the viewer can change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhatIf {
    pub n: u32,
    pub block: u32,
    /// `if (i < n)`.
    pub guard: bool,
    /// `i` is one too large.
    pub off_by_one: bool,
    /// The grid has `n / B` blocks instead of `(n + B - 1) / B`.
    pub rounded_down: bool,
}

impl Default for WhatIf {
    fn default() -> Self {
        Self { n: 100, block: 32, guard: true, off_by_one: false, rounded_down: false }
    }
}

pub const SMALLEST_N: u32 = 1;
pub const LARGEST_N: u32 = 256;
pub const BLOCK_SIZES: [u32; 4] = [16, 32, 64, 128];

impl WhatIf {
    pub fn grid(&self) -> u32 {
        if self.rounded_down { (self.n / self.block).max(1) } else { self.n.div_ceil(self.block) }
    }

    /// The launch as one writes it.
    pub fn launch_line(&self) -> String {
        let formula = if self.rounded_down { "n / B" } else { "(n + B - 1) / B" };
        format!(
            "add<<<{formula}, B>>>(a, b, c, n);  // B = {}: {}",
            self.block,
            kit::plural(self.grid() as usize, "block")
        )
    }

    pub fn source(&self) -> String {
        let shift = if self.off_by_one { " + 1" } else { "" };
        let guard = if self.guard { "if (i < n) " } else { "" };
        format!(
            "extern \"C\" __global__ void add(const float* a, const float* b, float* c, int n) {{\n    \
             int i = blockIdx.x * blockDim.x + threadIdx.x{shift};\n    {guard}c[i] = a[i] + b[i];\n}}\n"
        )
    }

    pub fn trace(&self) -> Trace {
        let mut b = Builder::new("add", [self.grid(), 1, 1], [self.block, 1, 1]);
        let bytes = u64::from(self.n) * 4;
        let arrays = ["a", "b", "c"].map(|name| b.array(name, Space::Global, bytes));
        let index = b.instruction("mad.lo.s32 %r1, %ctaid.x, %ntid.x, %tid.x;", 2, Class::Integer);
        let compare = b.instruction("setp.lt.s32 %p1, %r1, %n;", 3, Class::Compare);
        let branch = b.instruction("@!%p1 bra done;", 3, Class::Branch);
        let load_a = b.site("ld.global.f32 %f1, [%a];", 3, arrays[0], AccessKind::Read, 4);
        let load_b = b.site("ld.global.f32 %f2, [%b];", 3, arrays[1], AccessKind::Read, 4);
        let add = b.instruction("add.f32 %f3, %f1, %f2;", 3, Class::Float32);
        let store = b.site("st.global.f32 [%c], %f3;", 3, arrays[2], AccessKind::Write, 4);
        let done = b.instruction("ret;", 4, Class::Branch);
        for block in 0..self.grid() {
            for warp in 0..self.block.div_ceil(32) {
                let w = b.warp([block, 0, 0], warp);
                let all = b.full_mask(w);
                let shift = i64::from(self.off_by_one);
                let element = |lane: u32| i64::from(block * self.block + warp * 32 + lane) + shift;
                b.step(w, index, all);
                let mut mask = all;
                if self.guard {
                    b.step(w, compare, all);
                    b.step(w, branch, all);
                    let n = i64::from(self.n);
                    mask = (0..32).filter(|lane| all >> lane & 1 == 1 && element(*lane) < n).fold(0, |m, l| m | 1 << l);
                }
                b.access(w, load_a, mask, element);
                b.access(w, load_b, mask, element);
                b.step(w, add, mask);
                b.access(w, store, mask, element);
                b.step(w, done, all);
            }
        }
        b.finish()
    }
}
