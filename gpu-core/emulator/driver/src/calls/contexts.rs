//! Calls on contexts: the primary one, others, and each thread's stack of current ones.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::abi::*;
use crate::loading::module;
use crate::memory::allocation;
use crate::process::{self, device, lock, was_issued};
use crate::work::capture::forbid_waiting;
use crate::work::context::{CURRENT, PRIMARY};
use crate::work::{self, CONTEXTS, Context, current_handle};

const MAX_STACK_BYTES: usize = 512 << 10;

/// Values of `CUlimit`.
const STACK_SIZE: u32 = 0;
const SHARED_MEMORY: u32 = 7;
/// `CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED`'s neighbour: what a program may ask for but not set.
const LAST_READ_ONLY: u32 = 8;
const LIMITS: u32 = 10;

fn check_limit(limit: u32) -> Answer {
    if limit < LIMITS { Ok(()) } else { Err(INVALID_VALUE) }
}

fn set_primary_flags(device: i32, flags: u32) -> Answer {
    primary(device)?;
    check_flags(flags)?;
    let mut primary = lock(&PRIMARY);
    primary.flags = flags;
    if let Some(context) = primary.handle.and_then(|handle| CONTEXTS.get(handle).ok()) {
        context.flags.store(flags, Ordering::Relaxed);
    }
    Ok(())
}

fn destroy_checked(context: Handle) -> Answer {
    process::initialised()?;
    if context == 0 {
        return Err(INVALID_VALUE);
    }
    if lock(&PRIMARY).handle == Some(context) {
        return Err(INVALID_CONTEXT);
    }
    destroy(context)
}

fn push(context: Handle) -> Answer {
    process::initialised()?;
    if context == 0 {
        return Err(INVALID_VALUE);
    }
    if !was_issued(context) {
        CONTEXTS.get(context)?;
    }
    CURRENT.with_borrow_mut(|stack| stack.push(context));
    Ok(())
}

fn release_primary(device: i32) -> Answer {
    primary(device)?;
    let mut primary = lock(&PRIMARY);
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
    primary(device)?;
    let mut primary = lock(&PRIMARY);
    primary.flags = 0;
    let handle = primary.handle;
    drop(primary);
    if let Some(handle) = handle {
        let _ = finish(handle);
    }
    Ok(())
}

unsafe fn pop(context: *mut Handle) -> Answer {
    process::initialised()?;
    let popped = CURRENT.with_borrow_mut(|stack| stack.pop()).ok_or(INVALID_CONTEXT)?;
    unsafe { put_optional(context, popped) };
    Ok(())
}

fn primary(device: i32) -> Answer {
    process::initialised()?;
    if device == 0 { Ok(()) } else { Err(INVALID_DEVICE) }
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
        0 => work::current_unchecked(),
        context => {
            process::initialised()?;
            CONTEXTS.get(context)
        }
    }
}

fn create(out: *mut Handle, flags: u32, device: i32) -> Answer {
    primary(device)?;
    check_flags(flags)?;
    process::healthy()?;
    if out.is_null() {
        return Err(INVALID_VALUE);
    }
    let handle = CONTEXTS.add(Arc::new(Context::new(flags)));
    CURRENT.with_borrow_mut(|stack| stack.push(handle));
    unsafe { put(out, handle) }
}

/// Ends a context and all that was made in it. Threads in which it is current learn of it by their next call.
fn finish(handle: Handle) -> Answer {
    let context =
        CONTEXTS.remove(handle).map_err(|code| if was_issued(handle) { CONTEXT_IS_DESTROYED } else { code })?;
    work::wait_for_all();
    context.alive.store(false, Ordering::Release);
    module::forget_owned(handle);
    allocation::forget_owned(handle);
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
        primary(device)?;
        process::healthy()?;
        if context.is_null() {
            return Err(INVALID_VALUE);
        }
        let mut primary = lock(&PRIMARY);
        let handle = match primary.handle {
            Some(handle) => handle,
            None => CONTEXTS.add(Arc::new(Context::new(primary.flags))),
        };
        if CONTEXTS.get(handle).is_err() {
            CONTEXTS.put(handle, Arc::new(Context::new(primary.flags)));
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
        primary(device)?;
        let primary = lock(&PRIMARY);
        let alive = primary.handle.is_some_and(|handle| CONTEXTS.get(handle).is_ok());
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
        process::initialised()?;
        // One that is gone may be made current all the same; what is done in it then fails.
        if context != 0 && !was_issued(context) {
            CONTEXTS.get(context)?;
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
        process::initialised()?;
        put(context, CURRENT.with_borrow(|stack| stack.last().copied().unwrap_or(0)))
    }
    fn cuCtxGetDevice(device: *mut i32) {
        process::initialised()?;
        current_handle()?;
        put(device, 0)
    }
    fn cuCtxGetDevice_v2(device: *mut i32, context: Handle) {
        given_or_current(context)?;
        put(device, 0)
    }
    fn cuCtxGetFlags(flags: *mut u32) {
        put(flags, work::current_unchecked()?.flags.load(Ordering::Relaxed))
    }
    fn cuCtxSetFlags(flags: u32) {
        check_flags(flags)?;
        // Mapping host memory is always on and not told.
        const MAP_HOST: u32 = 8;
        work::current_unchecked()?.flags.store(flags & !MAP_HOST, Ordering::Relaxed);
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
        let context = work::current_unchecked()?;
        forbid_waiting(current_handle()?)?;
        work::wait_for_all();
        context.check()
    }
    fn cuCtxSynchronize_v2(context: Handle) {
        let handle = context;
        let context = given_or_current(handle)?;
        forbid_waiting(if handle == 0 { current_handle()? } else { handle })?;
        work::wait_for_all();
        context.check()
    }
    fn cuCtxGetLimit(value: *mut usize, limit: u32) {
        let context = work::current()?;
        check_limit(limit)?;
        let limits = lock(&context.limits);
        put(value, *limits.get(&limit).ok_or(UNSUPPORTED_LIMIT)?)
    }
    fn cuCtxSetLimit(limit: u32, value: usize) {
        let context = work::current()?;
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
        put(config, work::current()?.cache_config.load(Ordering::Relaxed))
    }
    fn cuCtxSetCacheConfig(config: u32) {
        if config > 3 {
            return Err(INVALID_VALUE);
        }
        work::current()?.cache_config.store(config, Ordering::Relaxed);
        Ok(())
    }
    fn cuCtxGetSharedMemConfig(config: *mut u32) {
        work::current()?;
        put(config, 1)
    }
    fn cuCtxSetSharedMemConfig(config: u32) {
        work::current()?;
        if config > 2 { Err(INVALID_VALUE) } else { Ok(()) }
    }
    fn cuCtxGetStreamPriorityRange(least: *mut i32, greatest: *mut i32) {
        work::current()?;
        put_optional(least, 0);
        put_optional(greatest, -5);
        Ok(())
    }
    fn cuCtxResetPersistingL2Cache() {
        work::current().map(drop)
    }
    fn cuCtxEnablePeerAccess(peer: Handle, flags: u32) {
        work::current()?;
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        CONTEXTS.get(peer)?;
        // There is one device, and none is its own peer.
        Err(PEER_ACCESS_UNSUPPORTED)
    }
    fn cuCtxDisablePeerAccess(peer: Handle) {
        work::current()?;
        CONTEXTS.get(peer)?;
        Err(PEER_ACCESS_NOT_ENABLED)
    }
    fn cuCtxAttach(context: *mut Handle, flags: u32) {
        work::current()?;
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        put(context, current_handle()?)
    }
    fn cuCtxDetach(context: Handle) {
        // References that a program took by attaching are not counted: a context ends when it is destroyed.
        given_or_current(context).map(drop)
    }
    fn cuProfilerStart() {
        work::current().map(drop)
    }
    fn cuProfilerStop() {
        work::current().map(drop)
    }
    fn cuCtxGetExecAffinity(affinity: *mut [u32; 2], kind: u32) {
        work::current()?;
        if kind != 0 {
            return Err(INVALID_VALUE);
        }
        // All multiprocessors.
        put(affinity, [0, device::multiprocessors() as u32])
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
