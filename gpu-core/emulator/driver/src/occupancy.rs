//! Occupancy answers from the limits of the compute capability and the kernel's registers.

use std::ffi::c_int;

use crate::abi::*;
use crate::device::{self, WARP_SIZE};
use crate::launch::Config;
use crate::module::Function;
use crate::state::driver;

/// Blocks of this kernel that fit on one multiprocessor at once.
pub fn blocks_per_multiprocessor(function: &Function, threads: i32, dynamic_shared_bytes: usize) -> i32 {
    let chip = device::current();
    if threads <= 0 || threads > function.max_threads() {
        return 0;
    }
    let shared = function.info.static_shared_bytes as usize + dynamic_shared_bytes;
    let Ok(shared) = u32::try_from(shared) else { return 0 };
    chip.limits.occupancy_of(threads as u32, Some(function.registers.count()), shared).blocks_per_sm as i32
}

type SharedOfBlock = Option<unsafe extern "C" fn(c_int) -> usize>;

unsafe fn potential(
    grid: *mut c_int,
    block: *mut c_int,
    function: Handle,
    shared_of_block: SharedOfBlock,
    dynamic_shared_bytes: usize,
    limit: c_int,
) -> Answer {
    let function = driver().functions.get(function)?;
    let most = if limit <= 0 { function.max_threads() } else { limit.min(function.max_threads()) };
    let mut best = (0, 0, 0);
    // Most resident threads; among equals the largest block, as CUDA's own calculator prefers.
    for threads in (WARP_SIZE..=most).step_by(WARP_SIZE as usize) {
        let shared = shared_of_block.map_or(dynamic_shared_bytes, |ask| unsafe { ask(threads) });
        let blocks = blocks_per_multiprocessor(&function, threads, shared);
        if blocks * threads >= best.0 {
            best = (blocks * threads, blocks, threads);
        }
    }
    unsafe {
        put(grid, best.1 * device::multiprocessors())?;
        put(block, best.2)
    }
}

fn active_blocks(out: *mut c_int, function: Handle, threads: c_int, dynamic_shared_bytes: usize) -> Answer {
    let function = driver().functions.get(function)?;
    if threads <= 0 {
        return Err(INVALID_VALUE);
    }
    unsafe { put(out, blocks_per_multiprocessor(&function, threads, dynamic_shared_bytes)) }
}

api! {
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks: *mut c_int, function: Handle, threads: c_int, dynamic_shared_bytes: usize) {
        active_blocks(blocks, function, threads, dynamic_shared_bytes)
    }
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks: *mut c_int, function: Handle, threads: c_int, dynamic_shared_bytes: usize, _flags: u32) {
        active_blocks(blocks, function, threads, dynamic_shared_bytes)
    }
    fn cuOccupancyMaxPotentialBlockSize(grid: *mut c_int, block: *mut c_int, function: Handle, shared_of_block: SharedOfBlock, dynamic_shared_bytes: usize, limit: c_int) {
        potential(grid, block, function, shared_of_block, dynamic_shared_bytes, limit)
    }
    fn cuOccupancyMaxPotentialBlockSizeWithFlags(grid: *mut c_int, block: *mut c_int, function: Handle, shared_of_block: SharedOfBlock, dynamic_shared_bytes: usize, limit: c_int, _flags: u32) {
        potential(grid, block, function, shared_of_block, dynamic_shared_bytes, limit)
    }
    fn cuOccupancyAvailableDynamicSMemPerBlock(bytes: *mut usize, function: Handle, blocks: c_int, threads: c_int) {
        let function = driver().functions.get(function)?;
        if blocks <= 0 || threads <= 0 {
            return Err(INVALID_VALUE);
        }
        let chip = device::current();
        let fixed = function.info.static_shared_bytes as i32;
        let share = chip.shared_per_multiprocessor_bytes() / blocks - chip.reserved_shared_bytes() - fixed;
        put(bytes, share.clamp(0, (chip.shared_per_block_bytes() - fixed).max(0)) as usize)
    }
    fn cuOccupancyMaxPotentialClusterSize(size: *mut c_int, function: Handle, _config: *const Config) {
        driver().functions.get(function)?;
        // 8 is the portable limit of blocks in a cluster.
        put(size, if device::current().major >= 9 { 8 } else { 0 })
    }
    fn cuOccupancyMaxActiveClusters(count: *mut c_int, function: Handle, _config: *const Config) {
        driver().functions.get(function)?;
        put(count, if device::current().major >= 9 { device::multiprocessors() } else { 0 })
    }
}
