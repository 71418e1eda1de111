//! Special registers.

use super::emit::{Arch, Decoded};
use crate::exec::cx::{Cx, lanes};
use crate::exec::grid::{RESERVED_SHARED, RESERVED_TAKEN};
use crate::exec::lanes::{Body, blend, exec_widest, splat};
use crate::exec::op::{Exec, Flow, Op};
use crate::exec::template::Native;

/// Warps that a multiprocessor of an H200 has room for.
const WARP_SLOTS: u64 = 64;

/// Code, width in bits.
const REGISTERS: &[(&str, u32)] = &[
    ("%tid.x", 32),
    ("%tid.y", 32),
    ("%tid.z", 32),
    ("%ntid.x", 32),
    ("%ntid.y", 32),
    ("%ntid.z", 32),
    ("%ctaid.x", 32),
    ("%ctaid.y", 32),
    ("%ctaid.z", 32),
    ("%nctaid.x", 32),
    ("%nctaid.y", 32),
    ("%nctaid.z", 32),
    ("%laneid", 32),
    ("%warpid", 32),
    ("%nwarpid", 32),
    ("%smid", 32),
    ("%nsmid", 32),
    ("%gridid", 64),
    ("%lanemask_eq", 32),
    ("%lanemask_le", 32),
    ("%lanemask_lt", 32),
    ("%lanemask_ge", 32),
    ("%lanemask_gt", 32),
    ("%clock", 32),
    ("%clock_hi", 32),
    ("%clock64", 64),
    ("%globaltimer", 64),
    ("%globaltimer_lo", 32),
    ("%globaltimer_hi", 32),
    ("%dynamic_smem_size", 32),
    ("%total_smem_size", 32),
    ("%aggr_smem_size", 32),
    ("%cluster_ctaid.x", 32),
    ("%cluster_ctaid.y", 32),
    ("%cluster_ctaid.z", 32),
    ("%cluster_nctaid.x", 32),
    ("%cluster_nctaid.y", 32),
    ("%cluster_nctaid.z", 32),
    ("%clusterid.x", 32),
    ("%clusterid.y", 32),
    ("%clusterid.z", 32),
    ("%nclusterid.x", 32),
    ("%nclusterid.y", 32),
    ("%nclusterid.z", 32),
    ("%cluster_ctarank", 32),
    ("%cluster_nctarank", 32),
    ("WARP_SZ", 32),
    ("%envreg1", 32),
    ("%envreg2", 32),
    ("%envreg0", 32),
    ("%envreg3", 32),
    ("%envreg4", 32),
    ("%envreg5", 32),
    ("%envreg6", 32),
    ("%envreg7", 32),
    ("%envreg8", 32),
    ("%envreg9", 32),
    ("%envreg10", 32),
    ("%envreg11", 32),
    ("%envreg12", 32),
    ("%envreg13", 32),
    ("%envreg14", 32),
    ("%envreg15", 32),
    ("%envreg16", 32),
    ("%envreg17", 32),
    ("%envreg18", 32),
    ("%envreg19", 32),
    ("%envreg20", 32),
    ("%envreg21", 32),
    ("%envreg22", 32),
    ("%envreg23", 32),
    ("%envreg24", 32),
    ("%envreg25", 32),
    ("%envreg26", 32),
    ("%envreg27", 32),
    ("%envreg28", 32),
    ("%envreg29", 32),
    ("%envreg30", 32),
    ("%envreg31", 32),
    ("%pm0", 32),
    ("%pm1", 32),
    ("%pm2", 32),
    ("%pm3", 32),
    ("%pm4", 32),
    ("%pm5", 32),
    ("%pm6", 32),
    ("%pm7", 32),
    ("%pm0_64", 64),
    ("%pm1_64", 64),
    ("%pm2_64", 64),
    ("%pm3_64", 64),
    ("%pm4_64", 64),
    ("%pm5_64", 64),
    ("%pm6_64", 64),
    ("%pm7_64", 64),
    ("%current_graph_exec", 64),
    ("%reserved_smem_offset_begin", 32),
    ("%reserved_smem_offset_end", 32),
    ("%reserved_smem_offset_cap", 32),
    ("%reserved_smem_offset_0", 32),
    ("%reserved_smem_offset_1", 32),
    // The unused fourth elements.
    ("%tid.w", 32),
    ("%ntid.w", 32),
    ("%ctaid.w", 32),
    ("%nctaid.w", 32),
    ("%cluster_ctaid.w", 32),
    ("%cluster_nctaid.w", 32),
    ("%clusterid.w", 32),
    ("%nclusterid.w", 32),
];

/// How a special register is read: by what code, with its number, which may be machine code, and its width.
pub struct Reading {
    pub run: Exec,
    pub number: i64,
    pub native: Native,
    pub bits: u32,
}

/// [`Reading`] by name.
pub fn find(name: &str) -> Option<Reading> {
    let index = REGISTERS.iter().position(|(known, _)| *known == name)?;
    // Every kernel asks for the first thirteen, so they have code of their own.
    let run = match index {
        0..3 => exec_widest::<ReadThread>(),
        3..6 => splat(|cx, axis| cx.grid.launch.block[axis as usize - 3]),
        6..9 => splat(|cx, axis| cx.block.id[axis as usize - 6]),
        9..12 => splat(|cx, axis| cx.grid.launch.grid[axis as usize - 9]),
        12 => exec_widest::<ReadLane>(),
        _ => read,
    };
    let native = match index {
        0..3 => Native::ThreadIndex,
        6..9 => Native::BlockIndex,
        _ => Native::No,
    };
    Some(Reading { run, number: index as i64, native, bits: REGISTERS[index].1 })
}

/// `%tid`: the launch has the rows of each warp.
struct ReadThread;

impl Body for ReadThread {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        // SAFETY: slots of a decoded instruction; `find` gives this code to numbers below 3 only. Registers are no part
        // of the warp's own rows.
        unsafe {
            let to = cx.row_mut::<u32>(op.d);
            blend(cx.mask, to, &cx.grid.tids[cx.warp.index as usize][op.imm as usize]);
        }
        Flow::Next
    }
}

/// `%laneid`.
struct ReadLane;

impl Body for ReadLane {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        // SAFETY: slots of a decoded instruction.
        unsafe { blend(cx.mask, cx.row_mut::<u32>(op.d), &std::array::from_fn(|lane| lane as u32)) };
        Flow::Next
    }
}

unsafe fn read(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let (name, bits) = REGISTERS[op.imm as usize];
    let launch = cx.grid.launch;
    let axis = match name.as_bytes().last() {
        Some(b'y') => 1,
        Some(b'z') => 2,
        _ => 0,
    };
    let clusters = cx.grid.clusters;
    let id = cx.block.id;
    let own_shared = || cx.grid.static_shared().next_multiple_of(16) + u64::from(launch.dynamic_shared_bytes);
    let reserved = u64::from(cx.grid.reserved_shared.unwrap_or(0));
    let uniform: Option<u64> = match name.split('.').next().unwrap_or(name) {
        _ if name.ends_with(".w") => Some(0),
        // A slot of the multiprocessor, which is the warp's number only where the block is the first there.
        "%warpid" => {
            let (warps, before) = (u64::from(cx.block.threads.div_ceil(32)), cx.block.index / u64::from(SMS));
            Some((before * warps + u64::from(cx.warp.index)) % WARP_SLOTS)
        }
        "%nwarpid" => Some(cx.block.threads.div_ceil(32).into()),
        "%smid" => Some(cx.block.index % u64::from(SMS)),
        "%nsmid" => Some(SMS.into()),
        "%gridid" => Some(1),
        // The emulator has no cycles: clocks tick with the host's nanoseconds.
        "%clock" | "%clock64" => Some(cx.grid.started.elapsed().as_nanos() as u64),
        "%clock_hi" => Some((cx.grid.started.elapsed().as_nanos() as u64) >> 32),
        "%globaltimer" | "%globaltimer_lo" => Some(wall_ns()),
        "%globaltimer_hi" => Some(wall_ns() >> 32),
        "%dynamic_smem_size" => Some(launch.dynamic_shared_bytes.into()),
        // Dynamic memory begins at a multiple of 16; what a block gets is one of 128 (H100).
        "%total_smem_size" => Some(own_shared().next_multiple_of(128)),
        "%aggr_smem_size" => Some(own_shared() + u64::from(RESERVED_SHARED)),
        "%reserved_smem_offset_begin" | "%reserved_smem_offset_0" | "%reserved_smem_offset_1" => Some(reserved),
        "%reserved_smem_offset_end" => Some(reserved + u64::from(RESERVED_TAKEN)),
        "%reserved_smem_offset_cap" => Some(reserved + u64::from(RESERVED_SHARED)),
        "%cluster_ctaid" => Some((id[axis] % clusters[axis]).into()),
        "%cluster_nctaid" => Some(clusters[axis].into()),
        "%clusterid" => Some((id[axis] / clusters[axis]).into()),
        "%nclusterid" => Some((launch.grid[axis] / clusters[axis]).into()),
        "%cluster_ctarank" => Some(cx.block.cluster_rank.into()),
        "%cluster_nctarank" => Some(clusters.iter().map(|n| u64::from(*n)).product()),
        "WARP_SZ" => Some(32),
        // Where cooperative groups keep the grid's barrier: high and low half of an address.
        "%envreg1" => Some(cx.grid.workspace >> 32),
        "%envreg2" => Some(cx.grid.workspace & 0xffff_ffff),
        "%laneid" => None,
        name if name.starts_with("%lanemask") => None,
        // No performance monitor counts, no other driver sets an environment register, and no graph launches itself.
        _ => Some(0),
    };
    for lane in lanes(cx.mask) {
        let value = uniform.unwrap_or_else(|| {
            let below = (1u64 << lane) - 1;
            match name {
                "%laneid" => lane as u64,
                "%lanemask_eq" => 1 << lane,
                "%lanemask_lt" => below,
                "%lanemask_le" => below | 1 << lane,
                "%lanemask_ge" => !below & 0xffff_ffff,
                _ => !(below | 1 << lane) & 0xffff_ffff,
            }
        });
        // SAFETY: slots of a decoded instruction.
        unsafe {
            if bits == 64 {
                cx.set_lane::<u64>(op.d, lane, value)
            } else {
                cx.set_lane::<u32>(op.d, lane, value as u32)
            }
        }
    }
    Flow::Next
}

/// `%is_explicit_cluster`, the one special register that is a predicate.
pub unsafe fn explicit_cluster(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let value = if cx.grid.clusters == [1; 3] { 0 } else { u32::MAX };
    // SAFETY: slots of a decoded instruction.
    unsafe {
        if !op.d.is_none() {
            cx.set_pred(op.d, value);
        }
    }
    Flow::Next
}

/// Multiprocessors of the emulated device: those of an H200.
pub const SMS: u32 = 132;

fn wall_ns() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// Refuses special registers of clusters where there are none.
pub fn allowed(name: &str, arch: Arch) -> Decoded<()> {
    let of_clusters = ["%cluster", "%ncluster", "%is_explicit_cluster", "%aggr_smem_size"];
    match arch.number {
        ..90 if of_clusters.into_iter().any(|start| name.starts_with(start)) => {
            Err(format!("`{name}` needs sm_90 or higher, the module is for sm_{}", arch.number))
        }
        _ => Ok(()),
    }
}

/// The address of a local variable: it depends on the depth of the call.
pub unsafe fn local_address(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let frame = cx.warp.splits[cx.warp.current].frame;
    let base = u64::from(cx.warp.frame(frame).local_base).wrapping_add(op.imm as u64);
    for lane in lanes(cx.mask) {
        // SAFETY: slots of a decoded instruction.
        unsafe {
            if op.list == 64 {
                cx.set_lane::<u64>(op.d, lane, base);
            } else {
                cx.set_lane::<u32>(op.d, lane, base as u32);
            }
        }
    }
    Flow::Next
}
