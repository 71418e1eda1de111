//! Device, host and managed memory.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;

use super::pool::POOLS;
use super::{managed, of_graphs, vmm};
use crate::abi::*;
use crate::process::ranges::{self, DeviceRange, HostRange, device_range, host_range};
use crate::process::{self, driver, lock};
use crate::work::capture::forbid_unsafe;
use crate::work::{self, order};

/// Reserves device memory and writes its books.
pub fn allocate(bytes: usize, pool: Option<Handle>, owner: Handle) -> Result<CUdeviceptr, CUresult> {
    if bytes == 0 {
        return Err(INVALID_VALUE);
    }
    let bytes = bytes as u64;
    let address = lock(&driver().memory).alloc("device memory", bytes).map_err(|error| {
        explain(error.to_string());
        OUT_OF_MEMORY
    })?;
    lock(&ranges::DEVICE).insert(address, DeviceRange { bytes, pool, owner });
    if let Some(pool) = pool
        && let Ok(pool) = POOLS.get(pool)
    {
        pool.took(bytes);
    }
    Ok(address)
}

/// Reserves device memory that goes with the current context.
fn allocate_here(bytes: usize) -> Result<CUdeviceptr, CUresult> {
    work::current()?;
    forbid_unsafe()?;
    allocate(bytes, None, work::current_handle()?)
}

/// A context's memory goes with it. Its host memory does not: the program may still read there.
pub fn forget_owned(context: Handle) {
    let owned: Vec<u64> =
        lock(&ranges::DEVICE).iter().filter(|(_, range)| range.owner == context).map(|(start, _)| *start).collect();
    for address in owned {
        let _ = release(address);
    }
}

/// Gives device memory back.
pub fn release(address: CUdeviceptr) -> Answer {
    let range = lock(&ranges::DEVICE).remove(&address).ok_or(INVALID_VALUE)?;
    if let Some(pool) = range.pool
        && let Ok(pool) = POOLS.get(pool)
    {
        pool.gave_back(range.bytes);
    }
    lock(&driver().memory).free(address).map_err(|_| INVALID_VALUE)?;
    of_graphs::released(address);
    Ok(())
}

/// As [`release`], for work of a stream.
pub fn release_in_order(address: CUdeviceptr) -> Answer {
    if order::wants()
        && let Some((base, range)) = device_range(address)
    {
        let mut ranges = order::Ranges::default();
        ranges.add(base, base, range.bytes, true);
        ranges.settle("the freeing of memory (cuMemFreeAsync)")?;
    }
    release(address)
}

const HOST_ALIGN: usize = 4096;

fn host_layout(bytes: usize) -> Result<Layout, CUresult> {
    Layout::from_size_align(bytes.max(1), HOST_ALIGN).map_err(|_| OUT_OF_MEMORY)
}

/// Host memory that kernels reach at its own address.
fn host_alloc(bytes: usize, flags: u32, managed: bool) -> Result<usize, CUresult> {
    work::current()?;
    forbid_unsafe()?;
    if bytes == 0 {
        // As a driver does, which gives no memory and no error.
        return if managed { Err(INVALID_VALUE) } else { Ok(0) };
    }
    if bytes as u64 > driver().memory_limit_bytes {
        return Err(OUT_OF_MEMORY);
    }
    let pointer = unsafe { alloc_zeroed(host_layout(bytes)?) };
    if pointer.is_null() {
        return Err(OUT_OF_MEMORY);
    }
    let name = if managed { "managed memory" } else { "pinned host memory" };
    // SAFETY: the block lives until `host_free`, which unmaps it first.
    unsafe { lock(&driver().memory).map_host(name, pointer, bytes as u64) }.map_err(|_| OUT_OF_MEMORY)?;
    lock(&ranges::HOST).insert(pointer as usize, HostRange { bytes, managed, owned: true, flags });
    Ok(pointer as usize)
}

fn host_free(address: usize) -> Answer {
    let range = {
        let mut ranges = lock(&ranges::HOST);
        if !ranges.get(&address).is_some_and(|range| range.owned) {
            return Err(INVALID_VALUE);
        }
        ranges.remove(&address).ok_or(INVALID_VALUE)?
    };
    lock(&driver().memory).free(address as u64).map_err(|_| INVALID_VALUE)?;
    unsafe { dealloc(address as *mut u8, host_layout(range.bytes)?) };
    Ok(())
}

/// `CU_MEMHOSTALLOC_DEVICEMAP`: all host memory is mapped, and says so.
const DEVICE_MAP: u32 = 2;
/// `CU_MEMHOSTALLOC_PORTABLE`, `_DEVICEMAP` and `_WRITECOMBINED`.
const HOST_ALLOC_FLAGS: u32 = 7;
/// `CU_MEMHOSTREGISTER_PORTABLE`, `_DEVICEMAP` and `_READ_ONLY`; memory of other devices (`_IOMEMORY`) is none of ours.
const REGISTER_FLAGS: u32 = 11;

/// Whether the first and the last byte of a range can be read by this process at all.
#[cfg(target_os = "linux")]
pub fn is_mapped(address: usize, bytes: usize) -> bool {
    // 64 KiB on many ARM machines, and `mincore` refuses an address inside a page.
    // SAFETY: plain system call.
    let Ok(size) = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }) else { return bytes == 0 };
    let there = |address: usize| {
        let mut state = 0u8;
        let page = address / size * size;
        // SAFETY: `mincore` writes one byte for one page and only looks at the address.
        unsafe { libc::mincore(page as *mut libc::c_void, size, &mut state) == 0 }
    };
    bytes == 0 || address.checked_add(bytes - 1).is_some_and(|last| there(address) && there(last))
}

/// Nothing is known here of what other systems have mapped.
#[cfg(not(target_os = "linux"))]
pub fn is_mapped(address: usize, bytes: usize) -> bool {
    bytes == 0 || address != 0
}

unsafe fn pitched(pointer: *mut CUdeviceptr, pitch: *mut usize, width: usize, height: usize, element: u32) -> Answer {
    if pointer.is_null() || pitch.is_null() || width == 0 || height == 0 || !matches!(element, 4 | 8 | 16) {
        return Err(INVALID_VALUE);
    }
    let row = width.checked_next_multiple_of(512).ok_or(INVALID_VALUE)?;
    unsafe {
        put(pointer, allocate_here(row.checked_mul(height).ok_or(INVALID_VALUE)?)?)?;
        put(pitch, row)
    }
}

unsafe fn info(free: *mut usize, total: *mut usize) -> Answer {
    work::current()?;
    let used: u64 = lock(&ranges::DEVICE).values().map(|range| range.bytes).sum::<u64>() + vmm::bytes();
    unsafe {
        put_optional(free, (driver().memory_limit_bytes - used.min(driver().memory_limit_bytes)) as usize);
        put_optional(total, driver().memory_limit_bytes as usize);
    }
    Ok(())
}

fn free(pointer: CUdeviceptr) -> Answer {
    process::healthy()?;
    if pointer == 0 {
        return Ok(());
    }
    forbid_unsafe()?;
    // As on hardware, freeing waits for work that may still use the memory.
    work::wait_for_all();
    if host_range(pointer as usize).is_some_and(|(_, range)| range.managed) {
        managed::forget(pointer as usize);
        return host_free(pointer as usize);
    }
    of_graphs::forget_outstanding(pointer);
    release(pointer)
}

unsafe fn address_range(base: *mut CUdeviceptr, bytes: *mut usize, pointer: CUdeviceptr) -> Answer {
    work::current()?;
    let device = device_range(pointer).map(|(start, range)| (start, range.bytes));
    let host = || host_range(pointer as usize).map(|(start, range)| (start as u64, range.bytes as u64));
    let found = device.or_else(host).or_else(|| vmm::mapping(pointer)).or_else(|| ranges::variable(pointer));
    let (start, length) = found.ok_or(NOT_FOUND)?;
    unsafe {
        put_optional(base, start);
        put_optional(bytes, length as usize);
    }
    Ok(())
}

unsafe fn register(pointer: *mut c_void, bytes: usize, flags: u32) -> Answer {
    work::current()?;
    forbid_unsafe()?;
    let start = pointer as usize;
    if pointer.is_null() || bytes == 0 || flags & !REGISTER_FLAGS != 0 || !is_mapped(start, bytes) {
        return Err(INVALID_VALUE);
    }
    let end = start.checked_add(bytes).ok_or(INVALID_VALUE)?;
    let overlaps = |(base, range): (&usize, &HostRange)| *base < end && start < base + range.bytes;
    if lock(&ranges::HOST).iter().any(overlaps) {
        return Err(HOST_MEMORY_ALREADY_REGISTERED);
    }
    // SAFETY: the program vouches for the range until it takes it back.
    unsafe { lock(&driver().memory).map_host("registered host memory", pointer.cast(), bytes as u64) }
        .map_err(|_| HOST_MEMORY_ALREADY_REGISTERED)?;
    lock(&ranges::HOST).insert(start, HostRange { bytes, managed: false, owned: false, flags });
    Ok(())
}

fn unregister(address: usize) -> Answer {
    process::initialised()?;
    let (start, range) = match host_range(address) {
        Some(found) => found,
        None if address == 0 => return Err(INVALID_VALUE),
        None => return Err(HOST_MEMORY_NOT_REGISTERED),
    };
    if range.owned || start != address {
        return Err(INVALID_VALUE);
    }
    work::wait_for_all();
    lock(&ranges::HOST).remove(&address);
    lock(&driver().memory).free(address as u64).map_err(|_| HOST_MEMORY_NOT_REGISTERED)
}

unsafe fn device_pointer(device: *mut CUdeviceptr, host: usize, flags: u32) -> Answer {
    let known = host_range(host).is_some_and(|(_, range)| !range.managed);
    if flags != 0 || !known {
        return Err(INVALID_VALUE);
    }
    unsafe { put(device, host as CUdeviceptr) }
}

api! {
    fn cuMemGetInfo(free: *mut usize, total: *mut usize) {
        info(free, total)
    }
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        info(free, total)
    }
    fn cuMemAlloc_v2(pointer: *mut CUdeviceptr, bytes: usize) {
        work::current()?;
        if pointer.is_null() {
            return Err(INVALID_VALUE);
        }
        put(pointer, allocate_here(bytes)?)
    }
    fn cuMemAllocPitch_v2(pointer: *mut CUdeviceptr, pitch: *mut usize, width: usize, height: usize, element: u32) {
        work::current()?;
        pitched(pointer, pitch, width, height, element)
    }
    fn cuMemFree_v2(pointer: CUdeviceptr) {
        free(pointer)
    }
    fn cuMemGetAddressRange_v2(base: *mut CUdeviceptr, bytes: *mut usize, pointer: CUdeviceptr) {
        address_range(base, bytes, pointer)
    }
    fn cuMemAllocManaged(pointer: *mut CUdeviceptr, bytes: usize, flags: u32) {
        work::current()?;
        // Visible from everywhere, or from the host at first.
        if pointer.is_null() || !matches!(flags, 1 | 2) {
            return Err(INVALID_VALUE);
        }
        put(pointer, host_alloc(bytes, flags, true)? as CUdeviceptr)
    }
    fn cuMemAllocHost(pointer: *mut *mut c_void, bytes: usize) {
        alloc_host(pointer, bytes, 0)
    }
    fn cuMemAllocHost_v2(pointer: *mut *mut c_void, bytes: usize) {
        alloc_host(pointer, bytes, 0)
    }
    fn cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: u32) {
        alloc_host(pointer, bytes, flags)
    }
    fn cuMemFreeHost(pointer: *mut c_void) {
        process::initialised()?;
        if pointer.is_null() {
            return Ok(());
        }
        if host_range(pointer as usize).is_some_and(|(_, range)| range.managed) {
            return Err(INVALID_VALUE);
        }
        work::wait_for_all();
        host_free(pointer as usize)
    }
    fn cuMemHostRegister(pointer: *mut c_void, bytes: usize, flags: u32) {
        register(pointer, bytes, flags)
    }
    fn cuMemHostRegister_v2(pointer: *mut c_void, bytes: usize, flags: u32) {
        register(pointer, bytes, flags)
    }
    fn cuMemHostUnregister(pointer: *mut c_void) {
        unregister(pointer as usize)
    }
    fn cuMemHostGetDevicePointer_v2(device: *mut CUdeviceptr, host: *mut c_void, flags: u32) {
        device_pointer(device, host as usize, flags)
    }
    fn cuMemHostGetFlags(flags: *mut u32, host: *mut c_void) {
        put(flags, host_range(host as usize).ok_or(INVALID_VALUE)?.1.flags | DEVICE_MAP)
    }
}

unsafe fn alloc_host(pointer: *mut *mut c_void, bytes: usize, flags: u32) -> Answer {
    work::current()?;
    if flags > HOST_ALLOC_FLAGS || pointer.is_null() {
        return Err(INVALID_VALUE);
    }
    unsafe { put(pointer, host_alloc(bytes, flags, false)? as *mut c_void) }
}
