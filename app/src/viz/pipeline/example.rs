//! The example: two warps that sum tiles which `cp.async` copies ahead, with a number of stages to choose.

use crate::viz::example::Builder;
use gpu_core::emulator::{AccessKind, Class, Space, Trace};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhatIf {
    pub stages: u32,
    pub tiles: u32,
    /// Multiply-adds of a warp for each tile.
    pub work: u32,
}

pub const MOST_STAGES: u32 = 4;
const WARPS: u32 = 2;
const TILE_BYTES: u64 = 1024;

impl Default for WhatIf {
    fn default() -> Self {
        Self { stages: 3, tiles: 8, work: 4 }
    }
}

impl WhatIf {
    pub fn trace(&self) -> Trace {
        let stages = self.stages.clamp(1, MOST_STAGES);
        let ahead = stages.max(2) - 1;
        let mut b = Builder::new("pipelined", [1, 1, 1], [32 * WARPS, 1, 1]);
        let tile = b.array("tile", Space::Shared, TILE_BYTES * u64::from(stages));
        let copy = b.instruction("cp.async.cg.shared.global [%r1], [%rd1], 16;", 9, Class::AsyncCopy);
        let commit = b.instruction("cp.async.commit_group;", 10, Class::AsyncCopy);
        let left = if stages == 1 { 0 } else { ahead - 1 };
        let wait = b.instruction(&format!("cp.async.wait_group {left};"), 12, Class::AsyncCopy);
        let barrier = b.instruction("bar.sync 0;", 13, Class::Barrier);
        let read = b.site("ld.shared.f32 %f1, [%r2];", 15, tile, AccessKind::Read, 4);
        let fma = b.instruction("fma.rn.f32 %f2, %f1, %f3, %f2;", 16, Class::Float32);
        let warps: Vec<usize> = (0..WARPS).map(|warp| b.warp([0, 0, 0], warp)).collect();
        let each = TILE_BYTES / u64::from(WARPS);
        let fill = |b: &mut Builder, round: u32| {
            for (part, warp) in warps.iter().enumerate() {
                if round < self.tiles {
                    let low = u64::from(round % stages) * TILE_BYTES + part as u64 * each;
                    b.copy(*warp, copy, low, each);
                }
                // An empty group keeps the count of those that are left the same in the last rounds.
                let mask = b.full_mask(*warp);
                b.step(*warp, commit, mask);
            }
        };
        let all = |b: &mut Builder, instruction: u32| {
            for warp in &warps {
                let mask = b.full_mask(*warp);
                b.step(*warp, instruction, mask);
            }
        };
        if stages > 1 {
            (0..ahead).for_each(|round| fill(&mut b, round));
        }
        for round in 0..self.tiles {
            if stages == 1 {
                fill(&mut b, round);
            }
            all(&mut b, wait);
            all(&mut b, barrier);
            if stages > 1 {
                fill(&mut b, round + ahead);
            }
            for step in 0..self.work {
                for (part, warp) in warps.iter().enumerate() {
                    let mask = b.full_mask(*warp);
                    let first = i64::from(round % stages) * (TILE_BYTES / 4) as i64;
                    b.access(*warp, read, mask, |lane| {
                        first + (i64::from(step) * 64 + i64::from(lane) + 32 * part as i64) % (TILE_BYTES / 4) as i64
                    });
                    b.step(*warp, fma, mask);
                }
            }
            // With one stage all must have read before it is filled again.
            if stages == 1 {
                all(&mut b, barrier);
            }
        }
        b.finish()
    }
}
