//! The example: a square matrix product with tiles in shared memory.

use crate::viz::example::Builder;
use gpu_core::emulator::{AccessKind, Class, Space, Trace};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhatIf {
    pub n: u32,
    /// Edge of a tile; a block has `tile * tile` threads. 1 is the naive kernel, which uses no shared memory.
    pub tile: u32,
}

pub const SIZES: [u32; 3] = [8, 12, 16];
pub const TILES: [u32; 4] = [1, 2, 4, 8];

impl Default for WhatIf {
    fn default() -> Self {
        Self { n: 8, tile: 4 }
    }
}

impl WhatIf {
    /// The tile that is used: it divides `n`.
    pub fn fitting_tile(&self) -> u32 {
        TILES.into_iter().rev().find(|tile| *tile <= self.tile && self.n.is_multiple_of(*tile)).unwrap_or(1)
    }

    pub fn code(&self) -> &'static str {
        if self.fitting_tile() == 1 {
            "for (int k = 0; k < n; ++k)\n    sum += A[row * n + k] * B[k * n + col];"
        } else {
            "As[ty][tx] = A[row * n + p * T + tx];  Bs[ty][tx] = B[(p * T + ty) * n + col];\n__syncthreads();\n\
             for (int k = 0; k < T; ++k) sum += As[ty][k] * Bs[k][tx];\n__syncthreads();"
        }
    }

    pub fn trace(&self) -> Trace {
        // A tile of 1 stands for the naive kernel, with blocks of 4 x 4 threads.
        let tile = self.fitting_tile();
        let edge = if tile == 1 { 4 } else { tile };
        let n = self.n;
        let grid = n.div_ceil(edge);
        let name = if tile == 1 { "matmul_naive" } else { "matmul_tiled" };
        let mut b = Builder::new(name, [grid, grid, 1], [edge, edge, 1]);
        let bytes = u64::from(n * n) * 4;
        let arrays = ["A", "B", "C"].map(|name| b.array(name, Space::Global, bytes));
        let shared = ["As", "Bs"].map(|name| b.array(name, Space::Shared, u64::from(edge * edge) * 4));
        let load_a = b.site("ld.global.f32 %f1, [%rd1];", 8, arrays[0], AccessKind::Read, 4);
        let load_b = b.site("ld.global.f32 %f2, [%rd2];", 9, arrays[1], AccessKind::Read, 4);
        let put_a = b.site("st.shared.f32 [%r1], %f1;", 8, shared[0], AccessKind::Write, 4);
        let put_b = b.site("st.shared.f32 [%r2], %f2;", 9, shared[1], AccessKind::Write, 4);
        let barrier = b.instruction("bar.sync 0;", 10, Class::Barrier);
        let get_a = b.site("ld.shared.f32 %f3, [%r3];", 12, shared[0], AccessKind::Read, 4);
        let get_b = b.site("ld.shared.f32 %f4, [%r4];", 12, shared[1], AccessKind::Read, 4);
        let fma = b.instruction("fma.rn.f32 %f5, %f3, %f4, %f5;", 12, Class::Float32);
        let after = b.instruction("bar.sync 0;", 13, Class::Barrier);
        let store = b.site("st.global.f32 [%rd3], %f5;", 15, arrays[2], AccessKind::Write, 4);
        let threads = edge * edge;
        for block in 0..grid * grid {
            let (by, bx) = (block / grid, block % grid);
            let warps: Vec<usize> = (0..threads.div_ceil(32)).map(|warp| b.warp([bx, by, 0], warp)).collect();
            // Row and column in the tile, and in C.
            let at = |warp: usize, lane: u32| {
                let linear = warp as u32 * 32 + lane;
                let (ty, tx) = (linear / edge, linear % edge);
                (ty, tx, by * edge + ty, bx * edge + tx)
            };
            if tile == 1 {
                for (warp, w) in warps.iter().enumerate() {
                    let mask = b.full_mask(*w);
                    for k in 0..n {
                        b.access(*w, load_a, mask, |lane| i64::from(at(warp, lane).2 * n + k));
                        b.access(*w, load_b, mask, |lane| i64::from(k * n + at(warp, lane).3));
                        b.step(*w, fma, mask);
                    }
                }
            }
            for p in 0..if tile == 1 { 0 } else { n / tile } {
                for (warp, w) in warps.iter().enumerate() {
                    let mask = b.full_mask(*w);
                    let cell = |lane: u32| i64::from(warp as u32 * 32 + lane);
                    b.access(*w, load_a, mask, |lane| {
                        let (_, tx, row, _) = at(warp, lane);
                        i64::from(row * n + p * tile + tx)
                    });
                    b.access(*w, load_b, mask, |lane| {
                        let (ty, _, _, col) = at(warp, lane);
                        i64::from((p * tile + ty) * n + col)
                    });
                    b.access(*w, put_a, mask, cell);
                    b.access(*w, put_b, mask, cell);
                    b.step(*w, barrier, mask);
                }
                for (warp, w) in warps.iter().enumerate() {
                    let mask = b.full_mask(*w);
                    for k in 0..tile {
                        b.access(*w, get_a, mask, |lane| i64::from(at(warp, lane).0 * tile + k));
                        b.access(*w, get_b, mask, |lane| i64::from(k * tile + at(warp, lane).1));
                        b.step(*w, fma, mask);
                    }
                    b.step(*w, after, mask);
                }
            }
            for (warp, w) in warps.iter().enumerate() {
                let mask = b.full_mask(*w);
                b.access(*w, store, mask, |lane| {
                    let (_, _, row, col) = at(warp, lane);
                    i64::from(row * n + col)
                });
            }
        }
        b.finish()
    }
}
