//! Device, host and managed memory.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;

use crate::abi::*;
use crate::state::{self, DeviceRange, HostRange, driver, lock};

/// Reserves device memory and writes its books.
pub fn allocate(bytes: usize, pool: Option<Handle>) -> Result<CUdeviceptr, CUresult> {
    if bytes == 0 {
        return Err(INVALID_VALUE);
    }
    let bytes = bytes as u64;
    let address = lock(&driver().memory).alloc("device memory", bytes).map_err(|error| {
        explain(error.to_string());
        OUT_OF_MEMORY
    })?;
    lock(&driver().device).insert(address, DeviceRange { bytes, pool });
    if let Some(pool) = pool
        && let Ok(pool) = driver().pools.get(pool)
    {
        pool.took(bytes);
    }
    Ok(address)
}

/// Gives device memory back.
pub fn release(address: CUdeviceptr) -> Answer {
    let range = lock(&driver().device).remove(&address).ok_or(INVALID_VALUE)?;
    if let Some(pool) = range.pool
        && let Ok(pool) = driver().pools.get(pool)
    {
        pool.gave_back(range.bytes);
    }
    lock(&driver().memory).free(address).map_err(|_| INVALID_VALUE)?;
    crate::graph::released(address);
    Ok(())
}

/// The device allocation that an address lies in.
pub fn device_range(address: u64) -> Option<(u64, DeviceRange)> {
    let ranges = lock(&driver().device);
    let (base, range) = ranges.range(..=address).next_back()?;
    (address - base < range.bytes).then_some((*base, *range))
}

/// The pinned, registered or managed range that an address lies in.
pub fn host_range(address: usize) -> Option<(usize, HostRange)> {
    let ranges = lock(&driver().host);
    let (base, range) = ranges.range(..=address).next_back()?;
    (address - base < range.bytes).then_some((*base, *range))
}

const HOST_ALIGN: usize = 4096;

fn host_layout(bytes: usize) -> Result<Layout, CUresult> {
    Layout::from_size_align(bytes.max(1), HOST_ALIGN).map_err(|_| OUT_OF_MEMORY)
}

/// Host memory that kernels reach at its own address.
fn host_alloc(bytes: usize, flags: u32, managed: bool) -> Result<usize, CUresult> {
    if bytes == 0 {
        return Err(INVALID_VALUE);
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
    lock(&driver().host).insert(pointer as usize, HostRange { bytes, managed, owned: true, flags });
    Ok(pointer as usize)
}

fn host_free(address: usize) -> Answer {
    let range = {
        let mut ranges = lock(&driver().host);
        if !ranges.get(&address).is_some_and(|range| range.owned) {
            return Err(INVALID_VALUE);
        }
        ranges.remove(&address).ok_or(INVALID_VALUE)?
    };
    lock(&driver().memory).free(address as u64).map_err(|_| INVALID_VALUE)?;
    unsafe { dealloc(address as *mut u8, host_layout(range.bytes)?) };
    Ok(())
}

const MEMORY_TYPE_HOST: u32 = 1;
const MEMORY_TYPE_DEVICE: u32 = 2;

/// Writes one pointer attribute.
unsafe fn pointer_attribute(out: *mut c_void, attribute: u32, pointer: CUdeviceptr) -> Answer {
    if out.is_null() {
        return Err(INVALID_VALUE);
    }
    let device = device_range(pointer);
    let host = host_range(pointer as usize);
    if device.is_none() && host.is_none() && !crate::module::owns(pointer) {
        return Err(INVALID_VALUE);
    }
    let managed = host.is_some_and(|(_, range)| range.managed);
    unsafe {
        match attribute {
            1 => out.cast::<Handle>().write(crate::context::current_handle().unwrap_or(0)),
            2 => {
                out.cast::<u32>().write(if host.is_some() && !managed { MEMORY_TYPE_HOST } else { MEMORY_TYPE_DEVICE })
            }
            3 => out.cast::<CUdeviceptr>().write(pointer),
            4 if host.is_some() => out.cast::<u64>().write(pointer),
            4 => return Err(INVALID_VALUE),
            6 => out.cast::<u32>().write(0),
            7 => out.cast::<u64>().write(device.map_or(pointer, |(base, _)| base)),
            8 => out.cast::<u32>().write(u32::from(managed)),
            9 => out.cast::<i32>().write(0),
            10 | 16 => out.cast::<u32>().write(0),
            11 => out
                .cast::<u64>()
                .write(device.map_or_else(|| host.map_or(pointer, |(base, _)| base as u64), |(base, _)| base)),
            12 => out.cast::<usize>().write(
                device.map_or_else(|| host.map_or(0, |(_, range)| range.bytes), |(_, range)| range.bytes as usize),
            ),
            13 => out.cast::<u32>().write(1),
            14 => out.cast::<u64>().write(0),
            15 => out.cast::<u32>().write(0),
            17 => out.cast::<Handle>().write(device.and_then(|(_, range)| range.pool).unwrap_or(0)),
            _ => return Err(INVALID_VALUE),
        }
    }
    Ok(())
}

api! {
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        state::current()?;
        let used: u64 = lock(&driver().device).values().map(|range| range.bytes).sum();
        put(free, (driver().memory_limit_bytes - used.min(driver().memory_limit_bytes)) as usize)?;
        put(total, driver().memory_limit_bytes as usize)
    }
    fn cuMemAlloc_v2(pointer: *mut CUdeviceptr, bytes: usize) {
        state::current()?;
        if pointer.is_null() {
            return Err(INVALID_VALUE);
        }
        put(pointer, allocate(bytes, None)?)
    }
    fn cuMemAllocPitch_v2(pointer: *mut CUdeviceptr, pitch: *mut usize, width: usize, height: usize, _element: u32) {
        state::current()?;
        let row = width.next_multiple_of(512);
        put(pitch, row)?;
        put(pointer, allocate(row.checked_mul(height).ok_or(INVALID_VALUE)?, None)?)
    }
    fn cuMemFree_v2(pointer: CUdeviceptr) {
        if pointer == 0 {
            return Ok(());
        }
        // As on hardware, freeing waits for work that may still use the memory.
        for (_, stream) in driver().streams.all() {
            stream.last().wait();
        }
        if let Ok(context) = state::current_unchecked() {
            context.default_stream.last().wait();
            context.per_thread_stream.last().wait();
        }
        if host_range(pointer as usize).is_some_and(|(_, range)| range.managed) {
            return host_free(pointer as usize);
        }
        crate::graph::forget_outstanding(pointer);
        release(pointer)
    }
    fn cuMemGetAddressRange_v2(base: *mut CUdeviceptr, bytes: *mut usize, pointer: CUdeviceptr) {
        state::current()?;
        let (start, range) = device_range(pointer).ok_or(NOT_FOUND)?;
        put_optional(base, start);
        put_optional(bytes, range.bytes as usize);
        Ok(())
    }
    fn cuMemAllocManaged(pointer: *mut CUdeviceptr, bytes: usize, flags: u32) {
        state::current()?;
        put(pointer, host_alloc(bytes, flags, true)? as CUdeviceptr)
    }
    fn cuMemAllocHost_v2(pointer: *mut *mut c_void, bytes: usize) {
        state::current()?;
        put(pointer, host_alloc(bytes, 0, false)? as *mut c_void)
    }
    fn cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: u32) {
        state::current()?;
        if flags > 15 {
            return Err(INVALID_VALUE);
        }
        put(pointer, host_alloc(bytes, flags, false)? as *mut c_void)
    }
    fn cuMemFreeHost(pointer: *mut c_void) {
        for (_, stream) in driver().streams.all() {
            stream.last().wait();
        }
        host_free(pointer as usize)
    }
    fn cuMemHostRegister_v2(pointer: *mut c_void, bytes: usize, flags: u32) {
        state::current()?;
        if pointer.is_null() || bytes == 0 {
            return Err(INVALID_VALUE);
        }
        if host_range(pointer as usize).is_some() {
            return Err(HOST_MEMORY_ALREADY_REGISTERED);
        }
        lock(&driver().memory)
            .map_host("registered host memory", pointer.cast(), bytes as u64)
            .map_err(|_| HOST_MEMORY_ALREADY_REGISTERED)?;
        lock(&driver().host).insert(pointer as usize, HostRange { bytes, managed: false, owned: false, flags });
        Ok(())
    }
    fn cuMemHostUnregister(pointer: *mut c_void) {
        let mut ranges = lock(&driver().host);
        if ranges.get(&(pointer as usize)).is_none_or(|range| range.owned) {
            return Err(HOST_MEMORY_NOT_REGISTERED);
        }
        ranges.remove(&(pointer as usize));
        lock(&driver().memory).free(pointer as u64).map_err(|_| HOST_MEMORY_NOT_REGISTERED)
    }
    fn cuMemHostGetDevicePointer_v2(device: *mut CUdeviceptr, host: *mut c_void, _flags: u32) {
        host_range(host as usize).ok_or(INVALID_VALUE)?;
        put(device, host as CUdeviceptr)
    }
    fn cuMemHostGetFlags(flags: *mut u32, host: *mut c_void) {
        put(flags, host_range(host as usize).ok_or(INVALID_VALUE)?.1.flags)
    }
    fn cuPointerGetAttribute(out: *mut c_void, attribute: u32, pointer: CUdeviceptr) {
        pointer_attribute(out, attribute, pointer)
    }
    fn cuPointerGetAttributes(count: u32, attributes: *const u32, out: *mut *mut c_void, pointer: CUdeviceptr) {
        for index in 0..count as usize {
            // Unknown pointers get zeros here instead of an error.
            let _ = pointer_attribute(*out.add(index), *attributes.add(index), pointer);
        }
        Ok(())
    }
    fn cuPointerSetAttribute(_value: *const c_void, _attribute: u32, _pointer: CUdeviceptr) {
        state::current().map(drop)
    }
    fn cuMemAdvise_v2(_pointer: CUdeviceptr, _bytes: usize, _advice: u32, _location: u64) {
        state::current().map(drop)
    }
    fn cuMemAdvise(_pointer: CUdeviceptr, _bytes: usize, _advice: u32, _device: i32) {
        state::current().map(drop)
    }
    fn cuMemPrefetchAsync(_pointer: CUdeviceptr, _bytes: usize, _device: i32, stream: Handle) {
        state::stream(stream).map(drop)
    }
    fn cuMemPrefetchAsync_v2(_pointer: CUdeviceptr, _bytes: usize, _location: u64, _flags: u32, stream: Handle) {
        state::stream(stream).map(drop)
    }
}
