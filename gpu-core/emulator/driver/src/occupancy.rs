//! Occupancy answers from the limits of the compute capability.

use std::ffi::c_int;

use crate::abi::*;
use crate::device::{self, REGISTERS_PER_MULTIPROCESSOR, RESERVED_SHARED_PER_BLOCK_BYTES, WARP_SIZE};
use crate::launch::Config;
use crate::module::Function;
use crate::state::driver;

/// Registers are given to warps in units of 256.
const REGISTER_GRANULE: i32 = 256;
const REGISTERS_PER_THREAD: i32 = 32;

/// Blocks of this kernel that fit on one multiprocessor at once.
pub fn blocks_per_multiprocessor(function: &Function, threads: i32, dynamic_shared_bytes: usize) -> i32 {
    let chip = device::current();
    if threads <= 0
        || threads > device::MAX_THREADS_PER_BLOCK
        || function.info.max_threads.is_some_and(|most| threads > most as i32)
    {
        return 0;
    }
    let warps = (threads + WARP_SIZE - 1) / WARP_SIZE;
    let by_threads = chip.threads_per_multiprocessor / (warps * WARP_SIZE);
    let per_warp = (REGISTERS_PER_THREAD * WARP_SIZE + REGISTER_GRANULE - 1) / REGISTER_GRANULE * REGISTER_GRANULE;
    let by_registers = REGISTERS_PER_MULTIPROCESSOR / (per_warp * warps);
    let reserved = if chip.major >= 8 { RESERVED_SHARED_PER_BLOCK_BYTES as usize } else { 0 };
    let shared = function.info.static_shared_bytes as usize + dynamic_shared_bytes + reserved;
    let by_shared = (chip.shared_per_multiprocessor_bytes as usize).checked_div(shared).unwrap_or(usize::MAX);
    by_threads.min(by_registers).min(chip.blocks_per_multiprocessor).min(by_shared.min(i32::MAX as usize) as i32)
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
    let most = if limit <= 0 { device::MAX_THREADS_PER_BLOCK } else { limit.min(device::MAX_THREADS_PER_BLOCK) };
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

api! {
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks: *mut c_int, function: Handle, threads: c_int, dynamic_shared_bytes: usize) {
        put(blocks, blocks_per_multiprocessor(&*driver().functions.get(function)?, threads, dynamic_shared_bytes))
    }
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks: *mut c_int, function: Handle, threads: c_int, dynamic_shared_bytes: usize, _flags: u32) {
        put(blocks, blocks_per_multiprocessor(&*driver().functions.get(function)?, threads, dynamic_shared_bytes))
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
        let reserved = if chip.major >= 8 { RESERVED_SHARED_PER_BLOCK_BYTES } else { 0 };
        let share = chip.shared_per_multiprocessor_bytes / blocks - reserved - function.info.static_shared_bytes as i32;
        put(bytes, share.clamp(0, chip.shared_per_block_optin_bytes - function.info.static_shared_bytes as i32) as usize)
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
