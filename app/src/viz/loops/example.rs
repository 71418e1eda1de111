//! The example: a matrix product on one CPU thread, with its three loops in any order.

use crate::viz::example::Builder;
use gpu_core::emulator::{AccessKind, Space, Trace};

/// Loops from the outermost to the innermost: 0 is i (rows of C), 1 is j (columns of C), 2 is k.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhatIf {
    pub order: [usize; 3],
    pub n: u32,
    /// Edge of the blocks that the loops are cut into; `n` means not cut.
    pub block: u32,
}

pub const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [2, 0, 1], [1, 0, 2], [1, 2, 0], [2, 1, 0]];
pub const N: u32 = 8;
pub const BLOCKS: [u32; 2] = [N, 4];

impl Default for WhatIf {
    fn default() -> Self {
        Self { order: ORDERS[0], n: N, block: N }
    }
}

impl WhatIf {
    pub fn name(order: [usize; 3]) -> String {
        order.map(|axis| ["i", "j", "k"][axis]).concat()
    }

    /// A line for each loop: the innermost one must not be cut off, for it is what the picture is about.
    pub fn code(&self) -> String {
        let mut code = String::new();
        for (depth, axis) in self.order.into_iter().enumerate() {
            let name = ["i", "j", "k"][axis];
            code.push_str(&format!("{}for (int {name} = 0; {name} < n; ++{name})", "  ".repeat(depth)));
            if depth == 0 && self.block < self.n {
                code.push_str(&format!("  // cut into {0} x {0} x {0}", self.block));
            }
            code.push('\n');
        }
        code + "      C[i * n + j] += A[i * n + k] * B[k * n + j];"
    }

    /// What counts the rows and the columns of an array of the example.
    pub fn axes(array: &str) -> Option<&'static str> {
        match array {
            "A" => Some("rows i, columns k"),
            "B" => Some("rows k, columns j"),
            "C" => Some("rows i, columns j"),
            _ => None,
        }
    }

    /// One lane of one warp stands for the CPU thread.
    pub fn trace(&self) -> Trace {
        let n = self.n;
        let mut b = Builder::new(&format!("matmul_{}", Self::name(self.order)), [1, 1, 1], [1, 1, 1]);
        let arrays = ["A", "B", "C"].map(|name| b.array(name, Space::Global, u64::from(n * n) * 4));
        let load_a = b.site("load A[i * n + k]", 2, arrays[0], AccessKind::Read, 4);
        let load_b = b.site("load B[k * n + j]", 2, arrays[1], AccessKind::Read, 4);
        let store_c = b.site("add to C[i * n + j]", 2, arrays[2], AccessKind::Atomic, 4);
        let w = b.warp([0, 0, 0], 0);
        let blocks = n.div_ceil(self.block);
        let edge = self.block;
        for outer in 0..blocks.pow(3) {
            let corner = [outer / blocks / blocks, outer / blocks % blocks, outer % blocks];
            for inner in 0..edge.pow(3) {
                let step = [inner / edge / edge, inner / edge % edge, inner % edge];
                let mut at = [0; 3];
                for level in 0..3 {
                    at[self.order[level]] = corner[level] * edge + step[level];
                }
                let [i, j, k] = at;
                if i >= n || j >= n || k >= n {
                    continue;
                }
                b.access(w, load_a, 1, |_| i64::from(i * n + k));
                b.access(w, load_b, 1, |_| i64::from(k * n + j));
                b.access(w, store_c, 1, |_| i64::from(i * n + j));
            }
        }
        b.finish()
    }
}
