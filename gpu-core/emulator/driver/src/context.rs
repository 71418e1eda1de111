//! Contexts: the primary one, others, and each thread's stack of current ones.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::abi::*;
use crate::state::{self, CURRENT, Context, driver, lock};

/// Limits by `CUlimit`, with the values that a driver starts with.
pub fn default_limits() -> BTreeMap<u32, usize> {
    let mut limits =
        BTreeMap::from([(0, 1024), (1, 1 << 20), (2, 8 << 20), (4, 2048), (5, 64), (6, 0), (7, 0), (8, 0)]);
    // How deep kernels may wait for kernels that they launched: from Hopper on they may not wait at all.
    if crate::device::current().major < 9 {
        limits.insert(DEVICE_RUNTIME_SYNC_DEPTH, 2);
    }
    limits
}

const MAX_STACK_BYTES: usize = 512 << 10;

/// Values of `CUlimit`.
const STACK_SIZE: u32 = 0;
const DEVICE_RUNTIME_SYNC_DEPTH: u32 = 3;
const SHARED_MEMORY: u32 = 7;
/// `CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED`'s neighbour: what a program may ask for but not set.
const LAST_READ_ONLY: u32 = 8;
const LIMITS: u32 = 10;

fn check_limit(limit: u32) -> Answer {
    if limit < LIMITS { Ok(()) } else { Err(INVALID_VALUE) }
}

fn set_primary_flags(device: i32, flags: u32) -> Answer {
    let driver = primary(device)?;
    check_flags(flags)?;
    let mut primary = lock(&driver.primary);
    primary.flags = flags;
    if let Some(context) = primary.handle.and_then(|handle| driver.contexts.get(handle).ok()) {
        context.flags.store(flags, Ordering::Relaxed);
    }
    Ok(())
}

fn destroy_checked(context: Handle) -> Answer {
    let driver = state::initialised()?;
    if context == 0 {
        return Err(INVALID_VALUE);
    }
    if lock(&driver.primary).handle == Some(context) {
        return Err(INVALID_CONTEXT);
    }
    destroy(context)
}

fn push(context: Handle) -> Answer {
    let driver = state::initialised()?;
    if context == 0 {
        return Err(INVALID_VALUE);
    }
    if !state::was_issued(context) {
        driver.contexts.get(context)?;
    }
    CURRENT.with_borrow_mut(|stack| stack.push(context));
    Ok(())
}

fn release_primary(device: i32) -> Answer {
    let driver = primary(device)?;
    let mut primary = lock(&driver.primary);
    if primary.references == 0 {
        return Err(INVALID_CONTEXT);
    }
    primary.references -= 1;
    if primary.references == 0
        && let Some(handle) = primary.handle
    {
        primary.flags = 0;
        drop(primary);
        let _ = finish(handle);
    }
    Ok(())
}

fn reset_primary(device: i32) -> Answer {
    let driver = primary(device)?;
    let mut primary = lock(&driver.primary);
    primary.flags = 0;
    let handle = primary.handle;
    drop(primary);
    if let Some(handle) = handle {
        let _ = finish(handle);
    }
    Ok(())
}

unsafe fn pop(context: *mut Handle) -> Answer {
    state::initialised()?;
    let popped = CURRENT.with_borrow_mut(|stack| stack.pop()).ok_or(INVALID_CONTEXT)?;
    unsafe { put_optional(context, popped) };
    Ok(())
}

/// Handle of the current context.
pub fn current_handle() -> Result<Handle, CUresult> {
    CURRENT.with_borrow(|stack| stack.last().copied()).filter(|handle| *handle != 0).ok_or(INVALID_CONTEXT)
}

fn primary(device: i32) -> Result<&'static state::Driver, CUresult> {
    let driver = state::initialised()?;
    if device == 0 { Ok(driver) } else { Err(INVALID_DEVICE) }
}

/// Of the flags that choose how to wait, one at most.
fn check_flags(flags: u32) -> Answer {
    const WAITS: u32 = 7;
    const KNOWN: u32 = 0xff;
    let allowed = flags & !KNOWN == 0 && (flags & WAITS).count_ones() <= 1;
    if allowed { Ok(()) } else { Err(INVALID_VALUE) }
}

/// A context by its handle; 0 stands for the current one.
fn given_or_current(context: Handle) -> Result<Arc<Context>, CUresult> {
    match context {
        0 => state::current_unchecked(),
        context => state::initialised()?.contexts.get(context),
    }
}

fn create(out: *mut Handle, flags: u32, device: i32) -> Answer {
    let driver = primary(device)?;
    check_flags(flags)?;
    state::healthy()?;
    if out.is_null() {
        return Err(INVALID_VALUE);
    }
    let handle = driver.contexts.add(Arc::new(Context::new(flags)));
    CURRENT.with_borrow_mut(|stack| stack.push(handle));
    unsafe { put(out, handle) }
}

/// Ends a context and all that was made in it. Threads in which it is current learn of it by their next call.
fn finish(handle: Handle) -> Answer {
    let context = driver()
        .contexts
        .remove(handle)
        .map_err(|code| if state::was_issued(handle) { CONTEXT_IS_DESTROYED } else { code })?;
    crate::stream::wait_for_all();
    context.alive.store(false, Ordering::Release);
    crate::module::forget_owned(handle);
    crate::memory::forget_owned(handle);
    Ok(())
}

fn destroy(handle: Handle) -> Answer {
    finish(handle)?;
    CURRENT.with_borrow_mut(|stack| {
        if stack.last() == Some(&handle) {
            stack.pop();
        }
    });
    Ok(())
}

api! {
    fn cuDevicePrimaryCtxRetain(context: *mut Handle, device: i32) {
        let driver = primary(device)?;
        state::healthy()?;
        if context.is_null() {
            return Err(INVALID_VALUE);
        }
        let mut primary = lock(&driver.primary);
        let handle = match primary.handle {
            Some(handle) => handle,
            None => driver.contexts.add(Arc::new(Context::new(primary.flags))),
        };
        if driver.contexts.get(handle).is_err() {
            driver.contexts.put(handle, Arc::new(Context::new(primary.flags)));
        }
        primary.handle = Some(handle);
        primary.references += 1;
        put(context, handle)
    }
    fn cuDevicePrimaryCtxRelease_v2(device: i32) {
        release_primary(device)
    }
    fn cuDevicePrimaryCtxReset_v2(device: i32) {
        reset_primary(device)
    }
    fn cuDevicePrimaryCtxSetFlags_v2(device: i32, flags: u32) {
        set_primary_flags(device, flags)
    }
    fn cuDevicePrimaryCtxGetState(device: i32, flags: *mut u32, active: *mut i32) {
        let driver = primary(device)?;
        let primary = lock(&driver.primary);
        let alive = primary.handle.is_some_and(|handle| driver.contexts.get(handle).is_ok());
        put(flags, primary.flags)?;
        put(active, i32::from(alive))
    }
    fn cuCtxCreate_v2(context: *mut Handle, flags: u32, device: i32) {
        create(context, flags, device)
    }
    fn cuCtxCreate_v3(context: *mut Handle, _affinity: *const u8, _count: i32, flags: u32, device: i32) {
        create(context, flags, device)
    }
    fn cuCtxCreate_v4(context: *mut Handle, _params: *const u8, flags: u32, device: i32) {
        create(context, flags, device)
    }
    fn cuCtxDestroy_v2(context: Handle) {
        destroy_checked(context)
    }
    fn cuCtxPushCurrent_v2(context: Handle) {
        push(context)
    }
    fn cuCtxPopCurrent_v2(context: *mut Handle) {
        pop(context)
    }
    fn cuCtxSetCurrent(context: Handle) {
        let driver = state::initialised()?;
        // One that is gone may be made current all the same; what is done in it then fails.
        if context != 0 && !state::was_issued(context) {
            driver.contexts.get(context)?;
        }
        CURRENT.with_borrow_mut(|stack| {
            stack.pop();
            if context != 0 {
                stack.push(context);
            }
        });
        Ok(())
    }
    fn cuCtxGetCurrent(context: *mut Handle) {
        state::initialised()?;
        put(context, CURRENT.with_borrow(|stack| stack.last().copied().unwrap_or(0)))
    }
    fn cuCtxGetDevice(device: *mut i32) {
        state::initialised()?;
        current_handle()?;
        put(device, 0)
    }
    fn cuCtxGetDevice_v2(device: *mut i32, context: Handle) {
        given_or_current(context)?;
        put(device, 0)
    }
    fn cuCtxGetFlags(flags: *mut u32) {
        put(flags, state::current_unchecked()?.flags.load(Ordering::Relaxed))
    }
    fn cuCtxSetFlags(flags: u32) {
        check_flags(flags)?;
        // Mapping host memory is always on and not told.
        const MAP_HOST: u32 = 8;
        state::current_unchecked()?.flags.store(flags & !MAP_HOST, Ordering::Relaxed);
        Ok(())
    }
    fn cuCtxGetId(context: Handle, id: *mut u64) {
        put(id, given_or_current(context)?.id)
    }
    fn cuCtxGetApiVersion(context: Handle, version: *mut u32) {
        given_or_current(context)?;
        put(version, 3020)
    }
    fn cuCtxSynchronize() {
        let context = state::current_unchecked()?;
        crate::capture::forbid_waiting(current_handle()?)?;
        crate::stream::wait_for_all();
        context.check()
    }
    fn cuCtxSynchronize_v2(context: Handle) {
        let handle = context;
        let context = given_or_current(handle)?;
        crate::capture::forbid_waiting(if handle == 0 { current_handle()? } else { handle })?;
        crate::stream::wait_for_all();
        context.check()
    }
    fn cuCtxGetLimit(value: *mut usize, limit: u32) {
        let context = state::current()?;
        check_limit(limit)?;
        let limits = lock(&context.limits);
        put(value, *limits.get(&limit).ok_or(UNSUPPORTED_LIMIT)?)
    }
    fn cuCtxSetLimit(limit: u32, value: usize) {
        let context = state::current()?;
        check_limit(limit)?;
        let mut limits = lock(&context.limits);
        let slot = limits.get_mut(&limit).ok_or(UNSUPPORTED_LIMIT)?;
        match limit {
            STACK_SIZE if value > MAX_STACK_BYTES => return Err(INVALID_VALUE),
            SHARED_MEMORY | LAST_READ_ONLY => return Err(NOT_PERMITTED),
            _ => *slot = value,
        }
        Ok(())
    }
    fn cuCtxGetCacheConfig(config: *mut u32) {
        put(config, state::current()?.cache_config.load(Ordering::Relaxed))
    }
    fn cuCtxSetCacheConfig(config: u32) {
        if config > 3 {
            return Err(INVALID_VALUE);
        }
        state::current()?.cache_config.store(config, Ordering::Relaxed);
        Ok(())
    }
    fn cuCtxGetSharedMemConfig(config: *mut u32) {
        state::current()?;
        put(config, 1)
    }
    fn cuCtxSetSharedMemConfig(config: u32) {
        state::current()?;
        if config > 2 { Err(INVALID_VALUE) } else { Ok(()) }
    }
    fn cuCtxGetStreamPriorityRange(least: *mut i32, greatest: *mut i32) {
        state::current()?;
        put_optional(least, 0);
        put_optional(greatest, -5);
        Ok(())
    }
    fn cuCtxResetPersistingL2Cache() {
        state::current().map(drop)
    }
    fn cuCtxEnablePeerAccess(peer: Handle, flags: u32) {
        state::current()?;
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        state::driver().contexts.get(peer)?;
        // There is one device, and none is its own peer.
        Err(PEER_ACCESS_UNSUPPORTED)
    }
    fn cuCtxDisablePeerAccess(peer: Handle) {
        state::current()?;
        state::driver().contexts.get(peer)?;
        Err(PEER_ACCESS_NOT_ENABLED)
    }
    fn cuCtxAttach(context: *mut Handle, flags: u32) {
        state::current()?;
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        put(context, current_handle()?)
    }
    fn cuCtxDetach(context: Handle) {
        // References that a program took by attaching are not counted: a context ends when it is destroyed.
        given_or_current(context).map(drop)
    }
    fn cuCtxGetExecAffinity(affinity: *mut [u32; 2], kind: u32) {
        state::current()?;
        if kind != 0 {
            return Err(INVALID_VALUE);
        }
        // All multiprocessors.
        put(affinity, [0, crate::device::multiprocessors() as u32])
    }
    fn cuCtxCreate(context: *mut Handle, flags: u32, device: i32) {
        create(context, flags, device)
    }
    fn cuCtxDestroy(context: Handle) {
        destroy_checked(context)
    }
    fn cuCtxPushCurrent(context: Handle) {
        push(context)
    }
    fn cuCtxPopCurrent(context: *mut Handle) {
        pop(context)
    }
    fn cuDevicePrimaryCtxSetFlags(device: i32, flags: u32) {
        set_primary_flags(device, flags)
    }
    fn cuDevicePrimaryCtxRelease(device: i32) {
        release_primary(device)
    }
    fn cuDevicePrimaryCtxReset(device: i32) {
        reset_primary(device)
    }
}
