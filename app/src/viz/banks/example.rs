//! The example: a warp reads a column, or with some stride, from a tile in shared memory.

use crate::viz::example::Builder;
use gpu_core::emulator::{AccessKind, Class, Space, Trace};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pattern {
    Row,
    #[default]
    Column,
    Padded,
    Swizzled,
    Every4th,
    Broadcast,
    Vector,
}

impl Pattern {
    pub const ALL: [Pattern; 7] = [
        Pattern::Row,
        Pattern::Every4th,
        Pattern::Column,
        Pattern::Padded,
        Pattern::Swizzled,
        Pattern::Broadcast,
        Pattern::Vector,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Pattern::Row => "row",
            Pattern::Column => "column",
            Pattern::Padded => "column, padded",
            Pattern::Swizzled => "column, swizzled",
            Pattern::Every4th => "stride 4",
            Pattern::Broadcast => "broadcast",
            Pattern::Vector => "float4",
        }
    }

    /// Word of the tile that a lane reads in round `k`.
    fn word(self, lane: u32, k: u32) -> u32 {
        match self {
            Pattern::Row => k * 32 + lane,
            Pattern::Column => lane * 32 + k,
            Pattern::Padded => lane * 33 + k,
            Pattern::Swizzled => lane * 32 + (k ^ lane),
            Pattern::Every4th => (lane * 4 + k) % 1024,
            Pattern::Broadcast => k,
            Pattern::Vector => k * 32 + lane,
        }
    }

    fn code(self) -> (&'static str, &'static str) {
        match self {
            Pattern::Row => ("float tile[32][32]", "tile[k][lane]"),
            Pattern::Column => ("float tile[32][32]", "tile[lane][k]"),
            Pattern::Padded => ("float tile[32][33]", "tile[lane][k]"),
            Pattern::Swizzled => ("float tile[32][32]", "tile[lane][k ^ lane]"),
            Pattern::Every4th => ("float tile[1024]", "tile[lane * 4 + k]"),
            Pattern::Broadcast => ("float tile[32][32]", "tile[0][k]"),
            Pattern::Vector => ("float4 tile[8][32]", "tile[k][lane]"),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WhatIf {
    pub pattern: Pattern,
}

const ROUNDS: u32 = 3;

impl WhatIf {
    /// The declaration and the access; the whole kernel would hide them.
    pub fn code(&self) -> String {
        let (tile, read) = self.pattern.code();
        format!("__shared__ {tile};\nfor (int k = 0; k < {ROUNDS}; ++k) s += {read};")
    }

    pub fn trace(&self) -> Trace {
        let mut b = Builder::new("sum", [1, 1, 1], [32, 1, 1]);
        let words = if self.pattern == Pattern::Padded { 33 * 32 } else { 1024 };
        let tile = b.array("tile", Space::Shared, words * 4);
        let y = b.array("y", Space::Global, 128);
        let bytes = if self.pattern == Pattern::Vector { 16 } else { 4 };
        let load = b.site("ld.shared.f32 %f1, [%r1];", 5, tile, AccessKind::Read, bytes);
        let add = b.instruction("add.f32 %f2, %f2, %f1;", 5, Class::Float32);
        let store = b.site("st.global.f32 [%rd1], %f2;", 6, y, AccessKind::Write, 4);
        let w = b.warp([0, 0, 0], 0);
        for k in 0..ROUNDS {
            b.access(w, load, u32::MAX, |lane| i64::from(self.pattern.word(lane, k)));
            b.step(w, add, u32::MAX);
        }
        b.access(w, store, u32::MAX, i64::from);
        b.finish()
    }
}
