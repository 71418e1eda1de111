//! The example: a kernel that stages a matrix tile by tile, with a matrix that need not be a multiple of the tile.

use crate::viz::example::Builder;
use gpu_core::emulator::{AccessKind, Class, Space, Trace};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhatIf {
    pub rows: u32,
    pub columns: u32,
    pub tile: u32,
    /// Write to the transposed place.
    pub transposed: bool,
}

pub const TILES: [u32; 3] = [2, 4, 8];
pub const SMALLEST: u32 = 3;
pub const LARGEST: u32 = 20;

impl Default for WhatIf {
    fn default() -> Self {
        Self { rows: 10, columns: 12, tile: 4, transposed: false }
    }
}

impl WhatIf {
    pub fn code(&self) -> String {
        let (rows, columns) = (self.rows, self.columns);
        let write =
            if self.transposed { format!("out[col * {rows} + row]") } else { format!("out[row * {columns} + col]") };
        format!(
            "int row = blockIdx.y * {0} + threadIdx.y, col = blockIdx.x * {0} + threadIdx.x;\n\
             if (row < {rows} && col < {columns}) {write} = in[row * {columns} + col];",
            self.tile
        )
    }

    pub fn trace(&self) -> Trace {
        let Self { rows, columns, tile, transposed } = *self;
        let grid = [columns.div_ceil(tile), rows.div_ceil(tile), 1];
        let mut b = Builder::new("copy_tiles", grid, [tile, tile, 1]);
        let bytes = u64::from(rows * columns) * 4;
        let arrays = ["in", "out"].map(|name| b.array(name, Space::Global, bytes));
        let index = b.instruction("mad.lo.s32 %r1, %ctaid.y, %ntid.y, %tid.y;", 1, Class::Integer);
        let load = b.site("ld.global.f32 %f1, [%rd1];", 2, arrays[0], AccessKind::Read, 4);
        let store = b.site("st.global.f32 [%rd2], %f1;", 2, arrays[1], AccessKind::Write, 4);
        for by in 0..grid[1] {
            for bx in 0..grid[0] {
                for warp in 0..(tile * tile).div_ceil(32) {
                    let w = b.warp([bx, by, 0], warp);
                    let all = b.full_mask(w);
                    let at = |lane: u32| {
                        let linear = warp * 32 + lane;
                        (by * tile + linear / tile, bx * tile + linear % tile)
                    };
                    let inside = |lane: &u32| {
                        let (row, column) = at(*lane);
                        all >> lane & 1 == 1 && row < rows && column < columns
                    };
                    let mask = (0..32).filter(inside).fold(0, |mask, lane| mask | 1 << lane);
                    b.step(w, index, all);
                    b.access(w, load, mask, |lane| {
                        let (row, column) = at(lane);
                        i64::from(row * columns + column)
                    });
                    b.access(w, store, mask, |lane| {
                        let (row, column) = at(lane);
                        i64::from(if transposed { column * rows + row } else { row * columns + column })
                    });
                }
            }
        }
        b.finish()
    }
}
