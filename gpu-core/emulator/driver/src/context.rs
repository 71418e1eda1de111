//! Contexts: the primary one, others, and each thread's stack of current ones.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::abi::*;
use crate::state::{self, CURRENT, Context, driver, lock};

/// Limits by `CUlimit`, with the values that a driver starts with.
pub fn default_limits() -> BTreeMap<u32, usize> {
    BTreeMap::from([(0, 1024), (1, 1 << 20), (2, 8 << 20), (3, 2), (4, 2048), (5, 64), (6, 0)])
}

const MAX_STACK_BYTES: usize = 512 << 10;

/// Handle of the current context.
pub fn current_handle() -> Result<Handle, CUresult> {
    CURRENT.with_borrow(|stack| stack.last().copied()).filter(|handle| *handle != 0).ok_or(INVALID_CONTEXT)
}

fn primary(device: i32) -> Result<&'static state::Driver, CUresult> {
    let driver = state::initialised()?;
    if device == 0 { Ok(driver) } else { Err(INVALID_DEVICE) }
}

fn create(out: *mut Handle, flags: u32, device: i32) -> Answer {
    let driver = primary(device)?;
    if out.is_null() {
        return Err(INVALID_VALUE);
    }
    let handle = driver.contexts.add(Arc::new(Context::new(flags)));
    CURRENT.with_borrow_mut(|stack| stack.push(handle));
    unsafe { put(out, handle) }
}

/// Waits for every stream of the driver: contexts share the device.
fn drain(context: &Context) {
    context.default_stream.last().wait();
    context.per_thread_stream.last().wait();
    for (_, stream) in driver().streams.all() {
        stream.last().wait();
    }
}

fn destroy(handle: Handle) -> Answer {
    let context = driver().contexts.remove(handle).map_err(|_| INVALID_CONTEXT)?;
    drain(&context);
    context.alive.store(false, Ordering::Release);
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
        let mut primary = lock(&driver.primary);
        let handle = match primary.handle {
            Some(handle) => handle,
            None => driver.contexts.add(Arc::new(Context::new(primary.flags))),
        };
        primary.handle = Some(handle);
        primary.references += 1;
        put(context, handle)
    }
    fn cuDevicePrimaryCtxRelease_v2(device: i32) {
        let driver = primary(device)?;
        let mut primary = lock(&driver.primary);
        if primary.references == 0 {
            return Err(INVALID_CONTEXT);
        }
        primary.references -= 1;
        if primary.references == 0 && let Some(handle) = primary.handle.take() {
            drop(primary);
            let _ = destroy(handle);
        }
        Ok(())
    }
    fn cuDevicePrimaryCtxReset_v2(device: i32) {
        let driver = primary(device)?;
        let handle = lock(&driver.primary).handle.take();
        handle.map_or(Ok(()), destroy)
    }
    fn cuDevicePrimaryCtxSetFlags_v2(device: i32, flags: u32) {
        lock(&primary(device)?.primary).flags = flags;
        Ok(())
    }
    fn cuDevicePrimaryCtxGetState(device: i32, flags: *mut u32, active: *mut i32) {
        let primary = lock(&primary(device)?.primary);
        put(flags, primary.flags)?;
        put(active, i32::from(primary.handle.is_some()))
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
        let driver = state::initialised()?;
        if lock(&driver.primary).handle == Some(context) {
            return Err(INVALID_CONTEXT);
        }
        destroy(context)
    }
    fn cuCtxPushCurrent_v2(context: Handle) {
        state::initialised()?.contexts.get(context).map_err(|_| INVALID_CONTEXT)?;
        CURRENT.with_borrow_mut(|stack| stack.push(context));
        Ok(())
    }
    fn cuCtxPopCurrent_v2(context: *mut Handle) {
        state::initialised()?;
        let popped = CURRENT.with_borrow_mut(Vec::pop).ok_or(INVALID_CONTEXT)?;
        put_optional(context, popped);
        Ok(())
    }
    fn cuCtxSetCurrent(context: Handle) {
        let driver = state::initialised()?;
        if context != 0 {
            driver.contexts.get(context).map_err(|_| INVALID_CONTEXT)?;
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
        state::current_unchecked()?;
        put(device, 0)
    }
    fn cuCtxGetDevice_v2(device: *mut i32, _context: Handle) {
        put(device, 0)
    }
    fn cuCtxGetFlags(flags: *mut u32) {
        put(flags, state::current_unchecked()?.flags.load(Ordering::Relaxed))
    }
    fn cuCtxSetFlags(flags: u32) {
        state::current_unchecked()?.flags.store(flags, Ordering::Relaxed);
        Ok(())
    }
    fn cuCtxGetId(_context: Handle, id: *mut u64) {
        put(id, current_handle()? as u64)
    }
    fn cuCtxGetApiVersion(_context: Handle, version: *mut u32) {
        put(version, 3020)
    }
    fn cuCtxSynchronize() {
        let context = state::current_unchecked()?;
        drain(&context);
        context.check()
    }
    fn cuCtxSynchronize_v2(context: Handle) {
        let context = driver().contexts.get(context).map_err(|_| INVALID_CONTEXT)?;
        drain(&context);
        context.check()
    }
    fn cuCtxGetLimit(value: *mut usize, limit: u32) {
        let context = state::current()?;
        let limits = lock(&context.limits);
        put(value, *limits.get(&limit).ok_or(UNSUPPORTED_LIMIT)?)
    }
    fn cuCtxSetLimit(limit: u32, value: usize) {
        let context = state::current()?;
        let mut limits = lock(&context.limits);
        let slot = limits.get_mut(&limit).ok_or(UNSUPPORTED_LIMIT)?;
        const STACK_SIZE: u32 = 0;
        if limit == STACK_SIZE && value > MAX_STACK_BYTES {
            return Err(INVALID_VALUE);
        }
        *slot = value;
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
    fn cuCtxSetSharedMemConfig(_config: u32) {
        state::current().map(drop)
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
    fn cuCtxEnablePeerAccess(_peer: Handle, _flags: u32) {
        Err(INVALID_DEVICE)
    }
    fn cuCtxDisablePeerAccess(_peer: Handle) {
        Err(PEER_ACCESS_NOT_ENABLED)
    }
}
