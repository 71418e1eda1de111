//! Occupancy answers from the limits of the compute capability and the kernel's registers.

use std::ffi::c_int;

use super::{Config, most_blocks_in_cluster};
use crate::abi::*;
use crate::loading::module::{FUNCTIONS, Function};
use crate::process::device::{self, WARP_SIZE};

/// Blocks of this kernel that fit on one multiprocessor at once.
pub fn blocks_per_multiprocessor(function: &Function, threads: i32, dynamic_shared_bytes: usize) -> i32 {
    let chip = device::current();
    // What a program may launch: a kernel's own bounds on its threads say nothing of what fits.
    if threads <= 0 || threads > device::MAX_THREADS_PER_BLOCK {
        return 0;
    }
    if dynamic_shared_bytes > function.max_dynamic_shared_bytes.load(std::sync::atomic::Ordering::Relaxed) as usize {
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
    let function = FUNCTIONS.get(function)?;
    if limit < 0 {
        return Err(INVALID_VALUE);
    }
    let most = if limit <= 0 { function.max_threads() } else { limit.min(function.max_threads()) };
    let mut best = (0, 0, 0);
    // Most resident threads; among equals the largest block, as CUDA's own calculator prefers.
    for threads in (WARP_SIZE..=most).step_by(WARP_SIZE as usize) {
        let shared = shared_of_block.map_or(dynamic_shared_bytes, |ask| unsafe { ask(threads) });
        let blocks = blocks_per_multiprocessor(&function, threads, shared);
        if blocks > 0 && blocks * threads >= best.0 {
            best = (blocks * threads, blocks, threads);
        }
    }
    unsafe {
        put(grid, best.1 * device::multiprocessors())?;
        put(block, best.2)
    }
}

/// `CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE` is the only one.
fn check_flags(flags: u32) -> Answer {
    if flags > 1 { Err(INVALID_VALUE) } else { Ok(()) }
}

/// Most dynamic shared memory with which so many blocks fit, in units of what hardware gives out.
fn available(function: &Function, blocks: c_int, threads: c_int) -> Result<usize, CUresult> {
    const UNIT_BYTES: i32 = 128;
    if blocks <= 0 || threads <= 0 || blocks_per_multiprocessor(function, threads, 0) < blocks {
        return Err(INVALID_VALUE);
    }
    let chip = device::current();
    let fixed = function.info.static_shared_bytes as i32;
    let share = chip.shared_per_multiprocessor_bytes() / blocks / UNIT_BYTES * UNIT_BYTES;
    let most = function.max_dynamic_shared_bytes.load(std::sync::atomic::Ordering::Relaxed) as i32;
    Ok((share - fixed).clamp(0, most) as usize)
}

/// Clusters that fit on the device at once.
unsafe fn active_clusters(function: &Function, config: &Config) -> Result<c_int, CUresult> {
    let threads = config.threads() as c_int;
    if threads == 0 {
        return Err(INVALID_VALUE);
    }
    let blocks = unsafe { config.cluster_blocks() }?;
    if blocks > most_blocks_in_cluster(function) {
        return Err(INVALID_CLUSTER_SIZE);
    }
    let fit = blocks_per_multiprocessor(function, threads, config.dynamic_shared_bytes()) * device::multiprocessors();
    Ok(if blocks == 0 { 0 } else { fit / blocks as c_int })
}

fn active_blocks(out: *mut c_int, function: Handle, threads: c_int, dynamic_shared_bytes: usize) -> Answer {
    let function = FUNCTIONS.get(function)?;
    if threads <= 0 {
        return Err(INVALID_VALUE);
    }
    unsafe { put(out, blocks_per_multiprocessor(&function, threads, dynamic_shared_bytes)) }
}

api! {
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks: *mut c_int, function: Handle, threads: c_int, dynamic_shared_bytes: usize) {
        active_blocks(blocks, function, threads, dynamic_shared_bytes)
    }
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks: *mut c_int, function: Handle, threads: c_int, dynamic_shared_bytes: usize, flags: u32) {
        check_flags(flags)?;
        active_blocks(blocks, function, threads, dynamic_shared_bytes)
    }
    fn cuOccupancyMaxPotentialBlockSize(grid: *mut c_int, block: *mut c_int, function: Handle, shared_of_block: SharedOfBlock, dynamic_shared_bytes: usize, limit: c_int) {
        potential(grid, block, function, shared_of_block, dynamic_shared_bytes, limit)
    }
    fn cuOccupancyMaxPotentialBlockSizeWithFlags(grid: *mut c_int, block: *mut c_int, function: Handle, shared_of_block: SharedOfBlock, dynamic_shared_bytes: usize, limit: c_int, flags: u32) {
        check_flags(flags)?;
        potential(grid, block, function, shared_of_block, dynamic_shared_bytes, limit)
    }
    fn cuOccupancyAvailableDynamicSMemPerBlock(bytes: *mut usize, function: Handle, blocks: c_int, threads: c_int) {
        put(bytes, available(&*FUNCTIONS.get(function)?, blocks, threads)?)
    }
    fn cuOccupancyMaxPotentialClusterSize(size: *mut c_int, function: Handle, config: *const Config) {
        let function = FUNCTIONS.get(function)?;
        config.as_ref().ok_or(INVALID_VALUE)?;
        let most = most_blocks_in_cluster(&function);
        put(size, if most > 1 { most as c_int } else { 0 })
    }
    fn cuOccupancyMaxActiveClusters(count: *mut c_int, function: Handle, config: *const Config) {
        let function = FUNCTIONS.get(function)?;
        put(count, active_clusters(&function, config.as_ref().ok_or(INVALID_VALUE)?)?)
    }
}
