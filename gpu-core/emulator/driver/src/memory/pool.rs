//! Stream-ordered allocation and its pools.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use super::managed::{LOCATION_DEVICE, LOCATION_HOST, Location};
use super::vmm::Access;
use crate::abi::*;
use crate::process::{self, Registry, lock};

/// Pools by handle.
pub static POOLS: LazyLock<Registry<Pool>> = LazyLock::new(|| Registry::new(INVALID_VALUE));
static DEFAULT: LazyLock<Handle> = LazyLock::new(|| POOLS.add(Arc::new(Pool::default())));
/// The pool that allocations without one come from.
pub static CURRENT_POOL: LazyLock<Mutex<Handle>> = LazyLock::new(|| Mutex::new(*DEFAULT));

/// Bookkeeping of one pool. The emulator's allocator is not pooled; the figures are those of live allocations.
#[derive(Default)]
pub struct Pool {
    pub used: AtomicU64,
    pub used_high: AtomicU64,
    settings: Mutex<BTreeMap<u32, u64>>,
    /// 0 for as much as there is.
    pub most_bytes: u64,
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

const ALLOCATION_PINNED: u32 = 1;
const ACCESS_READ_WRITE: u32 = 3;

/// `CUmemPoolProps`, its reserved bytes left out.
#[repr(C)]
pub struct Properties {
    kind: u32,
    handle_types: u32,
    location: Location,
    security: usize,
    most_bytes: usize,
    usage: u16,
}

unsafe fn create(out: *mut Handle, properties: *const Properties) -> Answer {
    process::initialised()?;
    let properties = unsafe { properties.as_ref() }.ok_or(INVALID_VALUE)?;
    let place = match properties.location.kind {
        LOCATION_DEVICE => properties.location.id == 0,
        kind => matches!(kind, LOCATION_HOST..=4),
    };
    if out.is_null() || properties.kind != ALLOCATION_PINNED || !place {
        return Err(INVALID_VALUE);
    }
    // Handles for other processes may be wished for; asking for one is refused.
    let pool = Pool { most_bytes: properties.most_bytes as u64, ..Pool::default() };
    unsafe { put(out, POOLS.add(Arc::new(pool))) }
}

/// `CUmemAccessDesc`s of a pool: the device always has its own pools' memory, and nobody else can get it.
unsafe fn set_access(access: *const Access, count: usize) -> Answer {
    if access.is_null() || count == 0 {
        return Err(INVALID_VALUE);
    }
    for index in 0..count {
        let Access { location_kind, location, flags } = unsafe { *access.add(index) };
        match (location_kind, location, flags) {
            (LOCATION_DEVICE, 0, ACCESS_READ_WRITE) => {}
            (LOCATION_DEVICE, 0, 0) => return Err(INVALID_DEVICE),
            (LOCATION_DEVICE, 0, 1) | (LOCATION_HOST..=4, ..) => return Err(NOT_SUPPORTED),
            (LOCATION_DEVICE, ..) => return Err(INVALID_DEVICE),
            _ => return Err(INVALID_VALUE),
        }
    }
    Ok(())
}

/// The emulated device is the one place that has pools, of memory that does not move.
unsafe fn pool_place(location: *const Location, kind: u32) -> Answer {
    let location = unsafe { location.as_ref() }.ok_or(INVALID_VALUE)?;
    if location.kind != LOCATION_DEVICE || kind != ALLOCATION_PINNED {
        explain("pools are of the device's memory; host and managed memory have none here");
        return Err(NOT_SUPPORTED);
    }
    if location.id == 0 { Ok(()) } else { Err(INVALID_DEVICE) }
}

api! {
    fn cuMemPoolGetAccess(access: *mut u32, pool: Handle, location: *const Location) {
        POOLS.get(pool)?;
        let location = location.as_ref().ok_or(INVALID_VALUE)?;
        match (location.kind, location.id) {
            (LOCATION_DEVICE, 0) => put(access, ACCESS_READ_WRITE),
            (LOCATION_HOST, _) => put(access, 0),
            _ => Err(INVALID_VALUE),
        }
    }
    fn cuMemGetDefaultMemPool(pool: *mut Handle, location: *const Location, kind: u32) {
        process::initialised()?;
        pool_place(location, kind)?;
        put(pool, *DEFAULT)
    }
    fn cuMemGetMemPool(pool: *mut Handle, location: *const Location, kind: u32) {
        process::initialised()?;
        pool_place(location, kind)?;
        put(pool, *lock(&CURRENT_POOL))
    }
    fn cuMemSetMemPool(location: *const Location, kind: u32, pool: Handle) {
        pool_place(location, kind)?;
        POOLS.get(pool)?;
        *lock(&CURRENT_POOL) = pool;
        Ok(())
    }
    fn cuMemPoolCreate(pool: *mut Handle, properties: *const Properties) {
        create(pool, properties)
    }
    fn cuMemPoolDestroy(pool: Handle) {
        if pool == *DEFAULT {
            return Err(INVALID_VALUE);
        }
        let mut current = lock(&CURRENT_POOL);
        if *current == pool {
            *current = *DEFAULT;
        }
        POOLS.remove(pool).map(drop)
    }
    fn cuMemPoolTrimTo(pool: Handle, _keep: usize) {
        POOLS.get(pool).map(drop)
    }
    fn cuMemPoolGetAttribute(pool: Handle, attribute: u32, value: *mut u64) {
        let pool = POOLS.get(pool)?;
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
        let pool = POOLS.get(pool)?;
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
    fn cuMemPoolSetAccess(pool: Handle, access: *const Access, count: usize) {
        POOLS.get(pool)?;
        set_access(access, count)
    }
    fn cuDeviceGetDefaultMemPool(pool: *mut Handle, device: i32) {
        process::initialised()?;
        if device != 0 {
            return Err(INVALID_DEVICE);
        }
        put(pool, *DEFAULT)
    }
    fn cuDeviceGetMemPool(pool: *mut Handle, device: i32) {
        process::initialised()?;
        if device != 0 {
            return Err(INVALID_DEVICE);
        }
        put(pool, *lock(&CURRENT_POOL))
    }
    fn cuDeviceSetMemPool(device: i32, pool: Handle) {
        if device != 0 {
            return Err(INVALID_VALUE);
        }
        POOLS.get(pool)?;
        *lock(&CURRENT_POOL) = pool;
        Ok(())
    }
}
