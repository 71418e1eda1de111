//! Limits of the architectures, for launch checks and occupancy.

use crate::described::KernelInfo;
use crate::report::{Occupancy, OccupancyLimit};
use crate::request::Launch;

/// What one multiprocessor of a compute capability offers (CUDA programming guide, "Compute Capabilities").
#[derive(Clone, Copy, Debug)]
pub struct Device {
    pub name: &'static str,
    pub threads_per_sm: u32,
    pub blocks_per_sm: u32,
    pub shared_per_sm: u32,
    pub shared_per_block: u32,
    /// Multiprocessors of the part that the course knows of this architecture.
    pub multiprocessors: u32,
}

/// 32-bit registers of one multiprocessor, on every architecture of the table.
pub const REGISTERS_PER_SM: u32 = 65536;

/// Warp schedulers of one multiprocessor, each with its own part of the registers.
const SCHEDULERS: u32 = 4;

/// By compute capability times ten, ascending.
const DEVICES: &[(u32, Device)] = &[
    (75, device("sm_75", 1024, 16, 64, 64, 40)),
    (80, device("sm_80", 2048, 32, 164, 163, 108)),
    (86, device("sm_86", 1536, 16, 100, 99, 84)),
    (87, device("sm_87", 1536, 16, 164, 163, 16)),
    (89, device("sm_89", 1536, 24, 100, 99, 128)),
    (90, device("sm_90", 2048, 32, 228, 227, 132)),
    (100, device("sm_100", 2048, 32, 228, 227, 148)),
    (103, device("sm_103", 2048, 32, 228, 227, 148)),
    (110, device("sm_110", 1536, 24, 228, 227, 20)),
    (120, device("sm_120", 1536, 24, 100, 99, 170)),
    (121, device("sm_121", 1536, 24, 100, 99, 48)),
];

const fn device(
    name: &'static str,
    threads: u32,
    blocks: u32,
    shared_kib: u32,
    block_kib: u32,
    multiprocessors: u32,
) -> Device {
    Device {
        name,
        threads_per_sm: threads,
        blocks_per_sm: blocks,
        shared_per_sm: shared_kib << 10,
        shared_per_block: block_kib << 10,
        multiprocessors,
    }
}

impl Device {
    /// The device for a `.target` such as `sm_90a`; the nearest known one below it.
    pub fn of(target: &str) -> Device {
        let digits: String = target.chars().filter(char::is_ascii_digit).collect();
        let number: u32 = digits.parse().unwrap_or(75);
        DEVICES.iter().rev().find(|(known, _)| *known <= number).map_or(DEVICES[0].1, |(_, device)| *device)
    }

    /// Every architecture of the table, oldest first.
    pub fn all() -> impl Iterator<Item = Device> {
        DEVICES.iter().map(|(_, device)| *device)
    }

    /// Blocks that each resource of one multiprocessor has room for, as NVIDIA's `cuda_occupancy.h` computes them.
    /// Registers are handed out in units of 256 per warp from the quarter of the register file that the warp's scheduler
    /// has; shared memory in units of 128 bytes (256 on sm_75) with 1 KiB per block reserved from sm_80 on. Resources
    /// that a block does not use are left out.
    pub fn limits(&self, threads: u32, registers: Option<u32>, shared_bytes: u32) -> Vec<(OccupancyLimit, u32)> {
        let warps = threads.div_ceil(32).max(1);
        let max_warps = self.threads_per_sm / 32;
        let mut limits =
            vec![(OccupancyLimit::Blocks, self.blocks_per_sm), (OccupancyLimit::Threads, max_warps / warps)];
        if let Some(registers) = registers.filter(|registers| *registers > 0) {
            let per_warp = registers.saturating_mul(32).next_multiple_of(256);
            // A launch is checked as if every scheduler held as many warps as the fullest one.
            let checked = u64::from(per_warp) * u64::from(warps.next_multiple_of(SCHEDULERS));
            let fits = REGISTERS_PER_SM / SCHEDULERS / per_warp * SCHEDULERS / warps;
            let fits = if checked > u64::from(REGISTERS_PER_SM) || registers > 255 { 0 } else { fits };
            limits.push((OccupancyLimit::Registers, fits));
        }
        let (reserved, unit) = if self.name == "sm_75" { (0, 256) } else { (1024, 128) };
        if shared_bytes > 0 {
            let each = (shared_bytes.saturating_add(reserved)).next_multiple_of(unit);
            limits.push((OccupancyLimit::SharedMemory, self.shared_per_sm / each));
        }
        limits
    }

    /// Blocks and warps that fit one multiprocessor, and what keeps more out.
    pub fn occupancy_of(&self, threads: u32, registers: Option<u32>, shared_bytes: u32) -> Occupancy {
        let limits = self.limits(threads, registers, shared_bytes);
        let least = limits.into_iter().min_by_key(|(_, blocks)| *blocks);
        let (limited_by, blocks) = least.unwrap_or((OccupancyLimit::Blocks, 1));
        let warps = threads.div_ceil(32).max(1);
        let max_warps_per_sm = self.threads_per_sm / 32;
        Occupancy { blocks_per_sm: blocks, warps_per_sm: blocks * warps, max_warps_per_sm, limited_by }
    }

    /// The occupancy of a launch.
    pub(crate) fn occupancy(&self, launch: &Launch, kernel: &KernelInfo) -> Occupancy {
        let threads: u32 = launch.block.iter().product();
        let shared = kernel.static_shared_bytes.saturating_add(launch.dynamic_shared_bytes);
        self.occupancy_of(threads, launch.registers_per_thread, shared)
    }
}
