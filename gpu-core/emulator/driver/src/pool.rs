//! Stream-ordered allocation and its pools.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::abi::*;
use crate::graph::{self, Operation};
use crate::memory;
use crate::state::{self, driver, lock};

/// Bookkeeping of one pool. The emulator's allocator is not pooled; the figures are those of live allocations.
#[derive(Default)]
pub struct Pool {
    pub used: AtomicU64,
    pub used_high: AtomicU64,
    settings: Mutex<BTreeMap<u32, u64>>,
}

impl Pool {
    pub fn took(&self, bytes: u64) {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.used_high.fetch_max(used, Ordering::Relaxed);
    }

    pub fn gave_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

const REUSE_FOLLOW: u32 = 1;
const REUSE_INTERNAL: u32 = 3;
const RELEASE_THRESHOLD: u32 = 4;
const RESERVED_CURRENT: u32 = 5;
const RESERVED_HIGH: u32 = 6;
const USED_CURRENT: u32 = 7;
const USED_HIGH: u32 = 8;

fn alloc_async(out: *mut CUdeviceptr, bytes: usize, pool: Handle, stream: Handle) -> Answer {
    let (context, stream) = state::stream(stream)?;
    if out.is_null() {
        return Err(INVALID_VALUE);
    }
    if stream.capture().is_some() {
        let address = graph::reserve(bytes)?;
        stream.submit(&context, Operation::Alloc(address))?;
        return unsafe { put(out, address.start) };
    }
    let address = memory::allocate(bytes, Some(pool))?;
    unsafe { put(out, address) }
}

/// `CUmemLocation`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Location {
    kind: u32,
    id: i32,
}

const LOCATION_DEVICE: u32 = 1;
const ALLOCATION_PINNED: u32 = 1;
const ACCESS_READ_WRITE: u32 = 3;

/// The emulated device is the one place that has pools, of memory that does not move.
unsafe fn pool_place(location: *const Location, kind: u32) -> Answer {
    let location = unsafe { location.as_ref() }.ok_or(INVALID_VALUE)?;
    if location.kind != LOCATION_DEVICE || kind != ALLOCATION_PINNED {
        return Err(NOT_SUPPORTED);
    }
    if location.id == 0 { Ok(()) } else { Err(INVALID_DEVICE) }
}

api! {
    fn cuMemPoolGetAccess(access: *mut u32, pool: Handle, location: *const Location) {
        driver().pools.get(pool)?;
        let location = location.as_ref().ok_or(INVALID_VALUE)?;
        if location.kind != LOCATION_DEVICE || location.id != 0 {
            return Err(INVALID_VALUE);
        }
        put(access, ACCESS_READ_WRITE)
    }
    fn cuMemGetDefaultMemPool(pool: *mut Handle, location: *const Location, kind: u32) {
        state::initialised()?;
        pool_place(location, kind)?;
        put(pool, driver().default_pool)
    }
    fn cuMemGetMemPool(pool: *mut Handle, location: *const Location, kind: u32) {
        state::initialised()?;
        pool_place(location, kind)?;
        put(pool, *lock(&driver().current_pool))
    }
    fn cuMemSetMemPool(location: *const Location, kind: u32, pool: Handle) {
        pool_place(location, kind)?;
        driver().pools.get(pool)?;
        *lock(&driver().current_pool) = pool;
        Ok(())
    }
    fn cuMemAllocAsync(pointer: *mut CUdeviceptr, bytes: usize, stream: Handle) {
        let pool = *lock(&driver().current_pool);
        alloc_async(pointer, bytes, pool, stream)
    }
    fn cuMemAllocFromPoolAsync(pointer: *mut CUdeviceptr, bytes: usize, pool: Handle, stream: Handle) {
        driver().pools.get(pool)?;
        alloc_async(pointer, bytes, pool, stream)
    }
    fn cuMemFreeAsync(pointer: CUdeviceptr, stream: Handle) {
        let (context, stream) = state::stream(stream)?;
        let of_a_graph = graph::memory_range(pointer).is_some_and(|(start, _)| start == pointer);
        if let Some(capture) = stream.capture() {
            let operation = Operation::Free(pointer);
            // Only memory of a graph can be freed by one.
            graph::check_free(&capture.graph, &operation)?;
            return stream.submit(&context, operation).map(drop);
        }
        // Memory of a graph may be freed behind a launch that has not yet allocated it.
        if !of_a_graph && !lock(&driver().device).contains_key(&pointer) {
            return Err(INVALID_VALUE);
        }
        graph::forget_outstanding(pointer);
        stream.submit(&context, Operation::Free(pointer)).map(drop)
    }
    fn cuMemPoolCreate(pool: *mut Handle, _properties: *const u8) {
        state::initialised()?;
        put(pool, driver().pools.add(Arc::new(Pool::default())))
    }
    fn cuMemPoolDestroy(pool: Handle) {
        if pool == driver().default_pool {
            return Err(INVALID_VALUE);
        }
        let mut current = lock(&driver().current_pool);
        if *current == pool {
            *current = driver().default_pool;
        }
        driver().pools.remove(pool).map(drop)
    }
    fn cuMemPoolTrimTo(pool: Handle, _keep: usize) {
        driver().pools.get(pool).map(drop)
    }
    fn cuMemPoolGetAttribute(pool: Handle, attribute: u32, value: *mut u64) {
        let pool = driver().pools.get(pool)?;
        match attribute {
            // The reuse policies are 32-bit integers.
            REUSE_FOLLOW..=REUSE_INTERNAL => {
                let setting = lock(&pool.settings).get(&attribute).copied().unwrap_or(1);
                put(value.cast::<i32>(), setting as i32)
            }
            RELEASE_THRESHOLD => put(value, lock(&pool.settings).get(&attribute).copied().unwrap_or(0)),
            RESERVED_CURRENT | USED_CURRENT => put(value, pool.used.load(Ordering::Relaxed)),
            RESERVED_HIGH | USED_HIGH => put(value, pool.used_high.load(Ordering::Relaxed)),
            _ => Err(INVALID_VALUE),
        }
    }
    fn cuMemPoolSetAttribute(pool: Handle, attribute: u32, value: *const u64) {
        let pool = driver().pools.get(pool)?;
        if value.is_null() {
            return Err(INVALID_VALUE);
        }
        let setting = match attribute {
            REUSE_FOLLOW..=REUSE_INTERNAL => u64::from(value.cast::<u32>().read_unaligned()),
            RELEASE_THRESHOLD => value.read_unaligned(),
            RESERVED_HIGH | USED_HIGH if value.read_unaligned() == 0 => {
                pool.used_high.store(pool.used.load(Ordering::Relaxed), Ordering::Relaxed);
                return Ok(());
            }
            _ => return Err(INVALID_VALUE),
        };
        lock(&pool.settings).insert(attribute, setting);
        Ok(())
    }
    fn cuMemPoolSetAccess(pool: Handle, _access: *const u8, _count: usize) {
        driver().pools.get(pool).map(drop)
    }
    fn cuDeviceGetDefaultMemPool(pool: *mut Handle, device: i32) {
        state::initialised()?;
        if device != 0 {
            return Err(INVALID_DEVICE);
        }
        put(pool, driver().default_pool)
    }
    fn cuDeviceGetMemPool(pool: *mut Handle, device: i32) {
        state::initialised()?;
        if device != 0 {
            return Err(INVALID_DEVICE);
        }
        put(pool, *lock(&driver().current_pool))
    }
    fn cuDeviceSetMemPool(device: i32, pool: Handle) {
        if device != 0 {
            return Err(INVALID_DEVICE);
        }
        driver().pools.get(pool)?;
        *lock(&driver().current_pool) = pool;
        Ok(())
    }
}
