//! Clusters: their barrier, addresses in other blocks' shared memory, and hints that change nothing here.

use super::matrix::whole_warp;
use super::memory::nothing;
use super::movement::get_wide;
use super::{Row, Ty};
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::cx::{Cx, lanes};
use crate::exec::op::{Flow, Op, Taint};
use crate::exec::sched::warp::Wait;
use crate::memory::space::SHARED_BASE;
use crate::ptx::tree::Operand;
use crate::report::Class;

pub const ROWS: &[Row] = &[
    Row { opcode: "mapa", class: Class::Integer, decode: mapa, examples: &[] },
    Row { opcode: "getctarank", class: Class::Integer, decode: getctarank, examples: &[] },
    Row { opcode: "setmaxnreg", class: Class::Other, decode: setmaxnreg, examples: &[] },
    Row { opcode: "griddepcontrol", class: Class::Other, decode: griddepcontrol, examples: &[] },
];

/// What the blocks of a cluster share.
#[derive(Debug, Default)]
pub struct Cluster {
    /// Linear number of its first block.
    pub first: u64,
    /// Completions of the cluster barrier.
    pub generation: u64,
    pub arrived: u32,
}

/// What arrivals of a block's warps at one generation of the cluster barrier order for its other warps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrivals {
    generation: u64,
    /// Warps that arrived, and up to which clock of each warp what came before is ordered.
    warps: u32,
    clocks: [u32; 32],
}

/// Grids that depend on each other run one after the other here.
fn griddepcontrol(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    if i.take_any(&["launch_dependents", "wait"]).is_none() {
        return i.unsupported();
    }
    i.expect(0)?;
    let op = e.op(nothing);
    e.push(op, Taint::Copy);
    Ok(())
}

fn setmaxnreg(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let Some(way) = i.take_any(&["inc", "dec"]) else { return i.unsupported() };
    if !(i.take("sync") && i.take("aligned") && i.take("u32")) {
        return i.unsupported();
    }
    i.expect(1)?;
    let count = match i.operands[0] {
        Operand::Int(count) if (24..=256).contains(&count) && count % 8 == 0 => count as i64,
        _ => return Err(format!("`{}` takes a multiple of 8 from 24 to 256", i.opcode)),
    };
    let mut op = e.op(set_registers);
    op.imm = if way == "inc" { count } else { -count };
    e.push(op, Taint::Use);
    Ok(())
}

/// The whole warp must come, and the block must have what is asked for.
unsafe fn set_registers(cx: &mut Cx<'_>, op: &Op) -> Flow {
    if let Err(flow) = whole_warp(cx, "setmaxnreg") {
        return flow;
    }
    if cx.grid.options.checks.barrier {
        cx.note_share(op.imm.unsigned_abs() as u32, op.imm > 0);
    }
    Flow::Next
}

fn mapa(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    i.take("shared::cluster");
    let ty = i.ty()?;
    i.expect(3)?;
    let mut op = e.op(mapa_exec);
    op.imm = i64::from(ty.bits());
    op.a = e.src(&i.operands[1], ty)?;
    op.b = e.src(&i.operands[2], Ty::U32)?;
    op.d = e.dst(&i.operands[0], ty)?;
    e.push(op, Taint::Compute);
    Ok(())
}

unsafe fn mapa_exec(cx: &mut Cx<'_>, op: &Op) -> Flow {
    for lane in lanes(cx.mask) {
        // SAFETY: slots of a decoded instruction.
        unsafe {
            let address = get_wide(cx, op.a, lane, op.imm as u32) as u64;
            let rank = u64::from(cx.lane::<u32>(op.b, lane));
            let mapped = address & !0xff00_0000 | (rank + 1 & 0xff) << 24;
            super::movement::set_wide(cx, op.d, lane, op.imm as u32, mapped.into());
        }
    }
    Flow::Next
}

fn getctarank(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    i.take("shared::cluster");
    let ty = i.ty()?;
    i.expect(2)?;
    let mut op = e.op(rank_exec);
    op.imm = i64::from(ty.bits());
    op.a = e.src(&i.operands[1], ty)?;
    op.d = e.dst(&i.operands[0], Ty::U32)?;
    e.push(op, Taint::Compute);
    Ok(())
}

unsafe fn rank_exec(cx: &mut Cx<'_>, op: &Op) -> Flow {
    for lane in lanes(cx.mask) {
        // SAFETY: slots of a decoded instruction.
        unsafe {
            let address = get_wide(cx, op.a, lane, op.imm as u32) as u64;
            let high = (address & !SHARED_BASE) as u32 >> 24;
            let rank = if high == 0 { cx.block.cluster_rank } else { high - 1 };
            cx.set_lane::<u32>(op.d, lane, rank);
        }
    }
    Flow::Next
}

/// `barrier.cluster.arrive` and `.wait`.
pub fn barrier(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let arrive = match i.take_any(&["arrive", "wait"]) {
        Some(what) => what == "arrive",
        None => return i.unsupported(),
    };
    let relaxed = i.take("relaxed");
    i.take_where(|part| matches!(part, "aligned" | "release" | "acquire"));
    i.expect(0)?;
    let mut op = e.op(if arrive { arrive_exec } else { wait_exec });
    op.imm = i64::from(relaxed);
    e.push(op, Taint::Use);
    Ok(())
}

impl Cx<'_> {
    /// Threads of the cluster that have not exited.
    fn cluster_threads(&self) -> u32 {
        let own = self.block.cluster_rank as usize;
        let others: u32 = self
            .peers
            .iter()
            .enumerate()
            .filter(|(rank, _)| *rank != own)
            // SAFETY: peers of a cluster are run by this worker alone.
            .map(|(_, peer)| unsafe { (**peer).live_threads })
            .sum();
        others + self.block.live_threads
    }

    /// Completes the cluster barrier when all live threads have arrived.
    pub fn settle_cluster(&mut self) {
        let threads = self.cluster_threads();
        let cluster = &mut *self.cluster;
        if cluster.arrived > 0 && cluster.arrived >= threads {
            cluster.arrived = 0;
            cluster.generation += 1;
        }
    }

    /// The arrivals of the own block at a generation. They take turns at two places: a thread arrives again only behind its
    /// wait, and the next but one completes only when all have arrived at the next one.
    fn cluster_arrivals(&mut self, generation: u64) -> &mut Arrivals {
        let arrivals = &mut self.block.cluster_arrivals[generation as usize & 1];
        if arrivals.generation != generation {
            *arrivals = Arrivals { generation, ..Arrivals::default() };
        }
        arrivals
    }

    /// Arrives at the cluster barrier; `relaxed`: that orders only what a fence covers.
    fn arrive_cluster(&mut self, relaxed: bool) {
        if !relaxed {
            self.show_mbarriers();
        }
        let clocks = if relaxed { self.fenced(true).unwrap_or_default() } else { self.warp.clocks() };
        let warp = self.warp.index;
        let arrivals = self.cluster_arrivals(self.cluster.generation);
        arrivals.warps |= 1 << (warp & 31);
        for (known, clock) in arrivals.clocks.iter_mut().zip(clocks) {
            *known = (*known).max(clock);
        }
        // What it does from now on is no longer covered.
        self.publish_cluster(relaxed);
    }

    /// Passes the cluster barrier: what all threads of the cluster did before they arrived is ordered.
    pub fn pass_cluster(&mut self, generation: u64) {
        let Arrivals { warps, mut clocks, .. } = *self.cluster_arrivals(generation);
        let time = &mut self.block.time;
        for (warp, clock) in clocks.iter_mut().enumerate() {
            // Warps that have exited are waited for no more, and do nothing more.
            if warps >> warp & 1 == 0 {
                *clock = *time;
            }
        }
        self.warp.acquire(&clocks);
        self.warp.tick(time);
        self.learn_cluster(generation);
    }
}

unsafe fn arrive_exec(cx: &mut Cx<'_>, op: &Op) -> Flow {
    cx.finish_acquires(true);
    cx.arrive_cluster(op.imm != 0);
    cx.warp.cluster_generation = cx.cluster.generation;
    cx.cluster.arrived += cx.mask.count_ones();
    if cx.watch & crate::exec::cx::watch::COUNT != 0 {
        cx.worker.counts.barrier(cx.pc);
    }
    cx.settle_cluster();
    Flow::Next
}

unsafe fn wait_exec(cx: &mut Cx<'_>, _: &Op) -> Flow {
    cx.settle_cluster();
    let generation = cx.warp.cluster_generation;
    if cx.cluster.generation > generation {
        cx.pass_cluster(generation);
        return Flow::Next;
    }
    let next = cx.pc + 1;
    cx.suspend(next, Wait::Cluster { generation })
}
