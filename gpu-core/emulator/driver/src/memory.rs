//! Device, host and managed memory; copies and fills.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;
use std::sync::Arc;

use ptx_emulator::MemoryError;

use crate::abi::*;
use crate::graph::NodeKind;
use crate::state::{self, DeviceRange, HostRange, driver, lock};
use crate::stream::Work;

/// Device time of a copy or fill: bytes at a nominal 100 GB/s, so that events around copies are never equal.
fn transfer_ns(bytes: usize) -> f64 {
    1000.0 + bytes as f64 / 100.0
}

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
    lock(&driver().memory).free(address).map_err(|_| INVALID_VALUE)
}

/// The device allocation that an address lies in.
fn device_range(address: u64) -> Option<(u64, DeviceRange)> {
    let ranges = lock(&driver().device);
    let (base, range) = ranges.range(..=address).next_back()?;
    (address - base < range.bytes).then_some((*base, *range))
}

/// The pinned, registered or managed range that an address lies in.
fn host_range(address: usize) -> Option<(usize, HostRange)> {
    let ranges = lock(&driver().host);
    let (base, range) = ranges.range(..=address).next_back()?;
    (address - base < range.bytes).then_some((*base, *range))
}

/// One end of a copy.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    Device(u64),
    Host(usize),
}

impl Place {
    /// By unified addressing: what is no device allocation and no module variable is host memory.
    fn unified(address: u64) -> Place {
        if device_range(address).is_some() || crate::module::owns(address) {
            Place::Device(address)
        } else {
            Place::Host(address as usize)
        }
    }

    fn plus(self, bytes: usize) -> Place {
        match self {
            Place::Device(address) => Place::Device(address + bytes as u64),
            Place::Host(address) => Place::Host(address + bytes),
        }
    }
}

fn refused(error: MemoryError) -> CUresult {
    explain(error.to_string());
    INVALID_VALUE
}

/// Copies now. Host ends are trusted, as CUDA trusts them.
fn copy_now(to: Place, from: Place, bytes: usize) -> Answer {
    if bytes == 0 {
        return Ok(());
    }
    match (to, from) {
        (Place::Host(to), Place::Host(from)) => {
            unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) };
            Ok(())
        }
        (Place::Host(to), Place::Device(from)) => {
            let out = unsafe { std::slice::from_raw_parts_mut(to as *mut u8, bytes) };
            lock(&driver().memory).read(from, out).map_err(refused)
        }
        (Place::Device(to), Place::Host(from)) => {
            let data = unsafe { std::slice::from_raw_parts(from as *const u8, bytes) };
            lock(&driver().memory).write(to, data).map_err(refused)
        }
        (Place::Device(to), Place::Device(from)) => {
            let mut data = vec![0; bytes];
            let mut memory = lock(&driver().memory);
            memory.read(from, &mut data).map_err(refused)?;
            memory.write(to, &data).map_err(refused)
        }
    }
}

/// A rectangle of bytes to copy.
#[derive(Clone, Copy)]
struct Rectangle {
    to: Place,
    from: Place,
    to_pitch: usize,
    from_pitch: usize,
    width: usize,
    height: usize,
}

impl Rectangle {
    fn line(to: Place, from: Place, bytes: usize) -> Rectangle {
        Rectangle { to, from, to_pitch: bytes, from_pitch: bytes, width: bytes, height: 1 }
    }

    fn run(&self) -> Answer {
        (0..self.height).try_for_each(|row| {
            copy_now(self.to.plus(row * self.to_pitch), self.from.plus(row * self.from_pitch), self.width)
        })
    }
}

/// Whether a copy can be checked now, so that a wrong pointer is this call's error and no sticky one.
fn validate(place: Place, bytes: usize) -> Answer {
    match place {
        Place::Host(0) if bytes > 0 => Err(INVALID_VALUE),
        Place::Device(address) if bytes > 0 => match device_range(address) {
            Some((base, range)) if address - base + bytes as u64 <= range.bytes => Ok(()),
            Some(_) => Err(INVALID_VALUE),
            None if crate::module::owns(address) => Ok(()),
            None => Err(INVALID_VALUE),
        },
        _ => Ok(()),
    }
}

/// Queues a copy. Pageable host memory is read before this returns and written before it returns, as CUDA's
/// documentation on API synchronization behaviour says; pinned memory is touched when the copy's turn comes.
fn copy(rectangle: Rectangle, stream: Handle, wait: bool) -> Answer {
    let (context, stream) = state::stream(stream)?;
    validate(rectangle.to, rectangle.width)?;
    validate(rectangle.from, rectangle.width)?;
    let capturing = stream.capture().is_some();
    let bytes = rectangle.width * rectangle.height;
    let pageable = |place: Place| matches!(place, Place::Host(address) if host_range(address).is_none());
    let staged = pageable(rectangle.from) && !capturing && !wait;
    let work: Work = if staged {
        let mut data = vec![0u8; bytes];
        let staging = Place::Host(data.as_mut_ptr() as usize);
        Rectangle { to: staging, to_pitch: rectangle.width, ..rectangle }.run()?;
        let data = Arc::new(data);
        Arc::new(move || {
            let from = Place::Host(data.as_ptr() as usize);
            Rectangle { from, from_pitch: rectangle.width, ..rectangle }.run()?;
            Ok(transfer_ns(bytes))
        })
    } else {
        Arc::new(move || rectangle.run().map(|()| transfer_ns(bytes)))
    };
    let ticket = stream.submit(&context, NodeKind::Memcpy, work)?;
    if (wait || pageable(rectangle.to)) && !capturing {
        ticket.wait();
        context.check()?;
    }
    Ok(())
}

/// A fill of `count` elements a row over `height` rows.
#[derive(Clone, Copy)]
struct Fill {
    to: Place,
    pitch: usize,
    value: u32,
    element_bytes: usize,
    width: usize,
    height: usize,
}

impl Fill {
    fn run(&self) -> Answer {
        let element = &self.value.to_le_bytes()[..self.element_bytes];
        let row: Vec<u8> = element.iter().copied().cycle().take(self.width * self.element_bytes).collect();
        (0..self.height).try_for_each(|index| {
            copy_now(self.to.plus(index * self.pitch), Place::Host(row.as_ptr() as usize), row.len())
        })
    }

    fn submit(self, stream: Handle, wait: bool) -> Answer {
        let (context, stream) = state::stream(stream)?;
        validate(self.to, self.width * self.element_bytes)?;
        let bytes = self.width * self.element_bytes * self.height;
        let work: Work = Arc::new(move || self.run().map(|()| transfer_ns(bytes)));
        let capturing = stream.capture().is_some();
        let ticket = stream.submit(&context, NodeKind::Memset, work)?;
        if wait && !capturing {
            ticket.wait();
            context.check()?;
        }
        Ok(())
    }
}

fn fill(to: CUdeviceptr, value: u32, element_bytes: usize, count: usize, stream: Handle, wait: bool) -> Answer {
    if !to.is_multiple_of(element_bytes as u64) {
        return Err(INVALID_VALUE);
    }
    let to = Place::unified(to);
    Fill { to, pitch: 0, value, element_bytes, width: count, height: 1 }.submit(stream, wait)
}

/// `CUDA_MEMSET_NODE_PARAMS_v2`.
#[repr(C)]
pub struct MemsetNodeParams {
    to: CUdeviceptr,
    pitch: usize,
    value: u32,
    element_bytes: u32,
    width: usize,
    height: usize,
    context: Handle,
}

impl MemsetNodeParams {
    pub fn work(&self) -> Result<Work, CUresult> {
        if !matches!(self.element_bytes, 1 | 2 | 4) {
            return Err(INVALID_VALUE);
        }
        let fill = Fill {
            to: Place::unified(self.to),
            pitch: self.pitch,
            value: self.value,
            element_bytes: self.element_bytes as usize,
            width: self.width,
            height: self.height.max(1),
        };
        let bytes = fill.width * fill.element_bytes * fill.height;
        Ok(Arc::new(move || fill.run().map(|()| transfer_ns(bytes))))
    }
}

/// `CUDA_MEMCPY2D_v2`.
#[repr(C)]
pub struct Copy2d {
    from_x: usize,
    from_y: usize,
    from_kind: u32,
    from_host: *const c_void,
    from_device: CUdeviceptr,
    from_array: Handle,
    from_pitch: usize,
    to_x: usize,
    to_y: usize,
    to_kind: u32,
    to_host: *mut c_void,
    to_device: CUdeviceptr,
    to_array: Handle,
    to_pitch: usize,
    width: usize,
    height: usize,
}

impl Copy2d {
    fn rectangle(&self) -> Result<Rectangle, CUresult> {
        let end = |kind: u32, host: usize, device: u64| match kind {
            1 => Ok(Place::Host(host)),
            2 => Ok(Place::Device(device)),
            4 => Ok(Place::unified(device)),
            _ => {
                explain("CUDA arrays are not supported by the emulator");
                Err(NOT_SUPPORTED)
            }
        };
        let pitch = |given: usize| if given == 0 { self.width } else { given };
        let (to_pitch, from_pitch) = (pitch(self.to_pitch), pitch(self.from_pitch));
        Ok(Rectangle {
            to: end(self.to_kind, self.to_host as usize, self.to_device)?.plus(self.to_y * to_pitch + self.to_x),
            from: end(self.from_kind, self.from_host as usize, self.from_device)?
                .plus(self.from_y * from_pitch + self.from_x),
            to_pitch,
            from_pitch,
            width: self.width,
            height: self.height,
        })
    }
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
    fn cuMemcpy(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) {
        copy(Rectangle::line(Place::unified(to), Place::unified(from), bytes), 0, true)
    }
    fn cuMemcpyAsync(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: Handle) {
        copy(Rectangle::line(Place::unified(to), Place::unified(from), bytes), stream, false)
    }
    fn cuMemcpyHtoD_v2(to: CUdeviceptr, from: *const c_void, bytes: usize) {
        copy(Rectangle::line(Place::unified(to), Place::unified(from as u64), bytes), 0, true)
    }
    fn cuMemcpyHtoDAsync_v2(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: Handle) {
        copy(Rectangle::line(Place::unified(to), Place::unified(from as u64), bytes), stream, false)
    }
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize) {
        copy(Rectangle::line(Place::Host(to as usize), Place::unified(from), bytes), 0, true)
    }
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: Handle) {
        copy(Rectangle::line(Place::Host(to as usize), Place::unified(from), bytes), stream, false)
    }
    fn cuMemcpyDtoD_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) {
        copy(Rectangle::line(Place::unified(to), Place::unified(from), bytes), 0, true)
    }
    fn cuMemcpyDtoDAsync_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: Handle) {
        copy(Rectangle::line(Place::unified(to), Place::unified(from), bytes), stream, false)
    }
    fn cuMemcpyPeer(to: CUdeviceptr, _to_context: Handle, from: CUdeviceptr, _from_context: Handle, bytes: usize) {
        copy(Rectangle::line(Place::unified(to), Place::unified(from), bytes), 0, true)
    }
    fn cuMemcpyPeerAsync(to: CUdeviceptr, _to_context: Handle, from: CUdeviceptr, _from_context: Handle, bytes: usize, stream: Handle) {
        copy(Rectangle::line(Place::unified(to), Place::unified(from), bytes), stream, false)
    }
    fn cuMemcpy2D_v2(request: *const Copy2d) {
        copy(request.as_ref().ok_or(INVALID_VALUE)?.rectangle()?, 0, true)
    }
    fn cuMemcpy2DUnaligned_v2(request: *const Copy2d) {
        copy(request.as_ref().ok_or(INVALID_VALUE)?.rectangle()?, 0, true)
    }
    fn cuMemcpy2DAsync_v2(request: *const Copy2d, stream: Handle) {
        copy(request.as_ref().ok_or(INVALID_VALUE)?.rectangle()?, stream, false)
    }
    fn cuMemsetD8_v2(to: CUdeviceptr, value: u8, count: usize) {
        fill(to, u32::from(value), 1, count, 0, true)
    }
    fn cuMemsetD16_v2(to: CUdeviceptr, value: u16, count: usize) {
        fill(to, u32::from(value), 2, count, 0, true)
    }
    fn cuMemsetD32_v2(to: CUdeviceptr, value: u32, count: usize) {
        fill(to, value, 4, count, 0, true)
    }
    fn cuMemsetD8Async(to: CUdeviceptr, value: u8, count: usize, stream: Handle) {
        fill(to, u32::from(value), 1, count, stream, false)
    }
    fn cuMemsetD16Async(to: CUdeviceptr, value: u16, count: usize, stream: Handle) {
        fill(to, u32::from(value), 2, count, stream, false)
    }
    fn cuMemsetD32Async(to: CUdeviceptr, value: u32, count: usize, stream: Handle) {
        fill(to, value, 4, count, stream, false)
    }
    fn cuMemsetD2D8_v2(to: CUdeviceptr, pitch: usize, value: u8, width: usize, height: usize) {
        Fill { to: Place::unified(to), pitch, value: u32::from(value), element_bytes: 1, width, height }.submit(0, true)
    }
    fn cuMemsetD2D32_v2(to: CUdeviceptr, pitch: usize, value: u32, width: usize, height: usize) {
        Fill { to: Place::unified(to), pitch, value, element_bytes: 4, width, height }.submit(0, true)
    }
}
