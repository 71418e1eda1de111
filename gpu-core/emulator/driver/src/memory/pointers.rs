//! What the driver knows of an address.

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::sync::Mutex;

use super::vmm;
use crate::abi::*;
use crate::process::ranges::{self, device_range, host_range};
use crate::process::{self, lock};
use crate::work;

/// Values of `CUpointer_attribute`.
const CONTEXT: u32 = 1;
const MEMORY_TYPE: u32 = 2;
const DEVICE_POINTER: u32 = 3;
const HOST_POINTER: u32 = 4;
const P2P_TOKENS: u32 = 5;
const SYNC_MEMOPS: u32 = 6;
const BUFFER_ID: u32 = 7;
const IS_MANAGED: u32 = 8;
const DEVICE_ORDINAL: u32 = 9;
const IS_LEGACY_IPC: u32 = 10;
const RANGE_START: u32 = 11;
const RANGE_SIZE: u32 = 12;
const IS_MAPPED: u32 = 13;
const HANDLE_TYPES: u32 = 14;
const GPU_DIRECT: u32 = 15;
const ACCESS: u32 = 16;
const POOL: u32 = 17;
const MAPPING_SIZE: u32 = 18;
const MAPPING_START: u32 = 19;
const BLOCK_ID: u32 = 20;
const HARDWARE_DECOMPRESS: u32 = 21;

const TYPE_HOST: u32 = 1;
const TYPE_DEVICE: u32 = 2;
const READ_WRITE: u32 = 3;

/// Allocations for which a program turned synchronous copies off, or on where they are off.
static TOGGLED: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// An address that is known, and the allocation that it lies in.
struct Known {
    start: u64,
    bytes: u64,
    /// The whole range of addresses, where allocations are mapped into one.
    reserved: (u64, u64),
    host: bool,
    managed: bool,
    owner: Handle,
    pool: Handle,
}

fn find(pointer: CUdeviceptr) -> Option<Known> {
    let plain = |start: u64, bytes: u64| Known {
        start,
        bytes,
        reserved: (start, bytes),
        host: false,
        managed: false,
        owner: work::current_handle().unwrap_or(0),
        pool: 0,
    };
    if let Some((start, range)) = device_range(pointer) {
        return Some(Known { owner: range.owner, pool: range.pool.unwrap_or(0), ..plain(start, range.bytes) });
    }
    if let Some((start, range)) = host_range(pointer as usize) {
        return Some(Known { host: !range.managed, managed: range.managed, ..plain(start as u64, range.bytes as u64) });
    }
    if let Some((start, bytes)) = vmm::mapping(pointer) {
        let reserved = vmm::reservation(pointer).unwrap_or((start, bytes));
        return Some(Known { reserved, owner: 0, ..plain(start, bytes) });
    }
    ranges::variable(pointer).map(|(start, bytes)| plain(start, bytes))
}

/// A value and how many bytes of it a program expects.
fn value(pointer: CUdeviceptr, known: &Known, attribute: u32) -> Result<(u64, usize), CUresult> {
    let synchronous = || lock(&TOGGLED).contains(&known.start) == known.host;
    Ok(match attribute {
        CONTEXT => (known.owner as u64, 8),
        MEMORY_TYPE => (u64::from(if known.host { TYPE_HOST } else { TYPE_DEVICE }), 4),
        DEVICE_POINTER => (pointer, 8),
        HOST_POINTER if known.host || known.managed => (pointer, 8),
        // Tokens that no other device asks for.
        P2P_TOKENS if !known.host => (0, 8),
        SYNC_MEMOPS => (u64::from(synchronous()), 4),
        BUFFER_ID | BLOCK_ID => (known.start, 8),
        IS_MANAGED => (u64::from(known.managed), 4),
        DEVICE_ORDINAL | IS_LEGACY_IPC | GPU_DIRECT | HARDWARE_DECOMPRESS => (0, 4),
        RANGE_START => (known.reserved.0, 8),
        RANGE_SIZE => (known.reserved.1, 8),
        IS_MAPPED => (1, 4),
        HANDLE_TYPES => (0, 8),
        ACCESS => (u64::from(READ_WRITE), 4),
        POOL => (known.pool as u64, 8),
        MAPPING_SIZE => (known.bytes, 8),
        MAPPING_START => (known.start, 8),
        _ => return Err(INVALID_VALUE),
    })
}

unsafe fn write(out: *mut c_void, (value, bytes): (u64, usize)) {
    unsafe { std::ptr::copy_nonoverlapping(value.to_le_bytes().as_ptr(), out.cast(), bytes) };
}

unsafe fn get(out: *mut c_void, attribute: u32, pointer: CUdeviceptr) -> Answer {
    process::initialised()?;
    let known = find(pointer).filter(|_| !out.is_null()).ok_or(INVALID_VALUE)?;
    unsafe { write(out, value(pointer, &known, attribute)?) };
    Ok(())
}

/// Several at once; of an unknown address all are zero.
unsafe fn get_all(count: u32, attributes: *const u32, out: *mut *mut c_void, pointer: CUdeviceptr) -> Answer {
    process::initialised()?;
    if count == 0 || attributes.is_null() || out.is_null() {
        return Err(INVALID_VALUE);
    }
    let known = find(pointer);
    let stand_in = Known { start: 0, bytes: 0, reserved: (0, 0), host: true, managed: false, owner: 0, pool: 0 };
    let mut answers = Vec::new();
    for index in 0..count as usize {
        let (attribute, place) = unsafe { (*attributes.add(index), *out.add(index)) };
        if !(CONTEXT..=HARDWARE_DECOMPRESS).contains(&attribute) || place.is_null() {
            return Err(INVALID_VALUE);
        }
        let bytes = value(pointer, &stand_in, attribute).map_or(8, |(_, bytes)| bytes);
        let unknown = if attribute == DEVICE_ORDINAL { u64::from(u32::MAX - 1) } else { 0 };
        let found = known.as_ref().map_or(Ok((unknown, bytes)), |known| value(pointer, known, attribute));
        answers.push((place, found.unwrap_or((0, bytes))));
    }
    for (place, answer) in answers {
        unsafe { write(place, answer) };
    }
    Ok(())
}

unsafe fn set(from: *const c_void, attribute: u32, pointer: CUdeviceptr) -> Answer {
    work::current()?;
    let known = find(pointer).filter(|_| !from.is_null() && attribute == SYNC_MEMOPS).ok_or(INVALID_VALUE)?;
    let wanted = unsafe { from.cast::<u32>().read_unaligned() } != 0;
    let mut toggled = lock(&TOGGLED);
    if wanted == known.host {
        toggled.insert(known.start)
    } else {
        toggled.remove(&known.start)
    };
    Ok(())
}

api! {
    fn cuPointerGetAttribute(out: *mut c_void, attribute: u32, pointer: CUdeviceptr) {
        get(out, attribute, pointer)
    }
    fn cuPointerGetAttributes(count: u32, attributes: *const u32, out: *mut *mut c_void, pointer: CUdeviceptr) {
        get_all(count, attributes, out, pointer)
    }
    fn cuPointerSetAttribute(value: *const c_void, attribute: u32, pointer: CUdeviceptr) {
        set(value, attribute, pointer)
    }
}
