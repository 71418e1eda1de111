//! Virtual memory management: addresses are reserved, memory is made, and one is mapped to the other. Memory is a file
//! without a name, so that one piece can be mapped at several addresses, or be handed to another process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use super::managed::{LOCATION_DEVICE, LOCATION_HOST};
use super::vmm_pages::{self as pages, Pages};
use crate::abi::*;
use crate::process::{self, driver, lock};
use crate::work;

/// Of all sizes and addresses, as on GPUs.
const GRANULARITY: usize = 2 << 20;
const TYPE_PINNED: u32 = 1;
const POSIX_FILE: u32 = 1;
/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`; 1 is for reading only, 0 for nobody.
const READ_WRITE: u32 = 3;

/// `CUmemAllocationProp`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Properties {
    kind: u32,
    handle_types: u32,
    location_kind: u32,
    location: i32,
    security: usize,
    flags: [u8; 8],
}

/// `CUmemAccessDesc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Access {
    pub location_kind: u32,
    pub location: i32,
    pub flags: u32,
}

struct Physical {
    pages: Pages,
    bytes: usize,
    properties: Properties,
}

struct Mapping {
    bytes: usize,
    handle: u64,
    /// Kept while it is mapped, whether or not the program released it.
    physical: Arc<Physical>,
    access: u32,
}

struct Space {
    /// What was made, with the number of references to it.
    made: BTreeMap<u64, (Arc<Physical>, u32)>,
    next: u64,
    reserved: BTreeMap<usize, usize>,
    mapped: BTreeMap<usize, Mapping>,
}

fn space() -> MutexGuard<'static, Space> {
    static SPACE: Mutex<Space> =
        Mutex::new(Space { made: BTreeMap::new(), next: 0, reserved: BTreeMap::new(), mapped: BTreeMap::new() });
    lock(&SPACE)
}

/// The range of a map that an address lies in.
fn holding(ranges: impl Iterator<Item = (usize, usize)>, address: u64) -> Option<(u64, u64)> {
    let mut ranges = ranges;
    let found = ranges.find(|(start, bytes)| address as usize >= *start && address as usize - start < *bytes)?;
    Some((found.0 as u64, found.1 as u64))
}

/// The mapping that an address lies in.
pub fn mapping(address: u64) -> Option<(u64, u64)> {
    holding(space().mapped.iter().map(|(start, mapping)| (*start, mapping.bytes)), address)
}

/// The reservation that an address lies in.
pub fn reservation(address: u64) -> Option<(u64, u64)> {
    holding(space().reserved.iter().map(|(start, bytes)| (*start, *bytes)), address)
}

/// Whether the device may read and write a whole range, over however many mappings.
pub fn is_accessible(address: u64, bytes: usize) -> bool {
    let space = space();
    let (mut at, end) = (address as usize, (address as usize).saturating_add(bytes));
    while at < end {
        let found = space.mapped.range(..=at).next_back().filter(|(start, mapping)| at - *start < mapping.bytes);
        match found {
            Some((start, mapping)) if mapping.access != 0 => at = start + mapping.bytes,
            _ => return false,
        }
    }
    true
}

/// Bytes that were made and are not given back.
pub fn bytes() -> u64 {
    space().made.values().map(|(physical, _)| physical.bytes as u64).sum()
}

fn check_location(kind: u32, id: i32) -> Answer {
    match kind {
        LOCATION_DEVICE if id == 0 => Ok(()),
        LOCATION_DEVICE => Err(INVALID_DEVICE),
        LOCATION_HOST | 3 | 4 => Ok(()),
        _ => Err(INVALID_VALUE),
    }
}

unsafe fn create(out: *mut u64, bytes: usize, properties: *const Properties, flags: u64) -> Answer {
    process::initialised()?;
    let properties = *unsafe { properties.as_ref() }.ok_or(INVALID_VALUE)?;
    if out.is_null() || bytes == 0 || !bytes.is_multiple_of(GRANULARITY) || flags != 0 || properties.kind != TYPE_PINNED
    {
        return Err(INVALID_VALUE);
    }
    check_location(properties.location_kind, properties.location)?;
    if properties.handle_types & !POSIX_FILE != 0 {
        explain("memory for other processes is offered as POSIX file descriptors only");
        return Err(NOT_SUPPORTED);
    }
    if bytes as u64 > driver().memory_limit_bytes {
        return Err(OUT_OF_MEMORY);
    }
    let physical = Physical { pages: Pages::new(bytes)?, bytes, properties };
    unsafe { put(out, add(physical)) }
}

fn add(physical: Physical) -> u64 {
    let mut space = space();
    space.next += 1;
    let handle = 0x6000_0000 + space.next * 16;
    space.made.insert(handle, (Arc::new(physical), 1));
    handle
}

fn release(handle: u64) -> Answer {
    let mut space = space();
    let entry = space.made.get_mut(&handle).ok_or(INVALID_VALUE)?;
    entry.1 -= 1;
    if entry.1 == 0 {
        space.made.remove(&handle);
    }
    Ok(())
}

unsafe fn reserve(out: *mut CUdeviceptr, bytes: usize, align: usize, flags: u64) -> Answer {
    process::initialised()?;
    let odd = bytes == 0 || !bytes.is_multiple_of(GRANULARITY) || align != 0 && !align.is_power_of_two();
    if out.is_null() || odd || flags != 0 {
        return Err(INVALID_VALUE);
    }
    let start = pages::reserve(bytes, align.max(GRANULARITY))?;
    space().reserved.insert(start, bytes);
    unsafe { put(out, start as CUdeviceptr) }
}

fn give_back_addresses(start: usize, bytes: usize) -> Answer {
    let mut space = space();
    let same = space.reserved.get(&start) == Some(&bytes);
    let used = space.mapped.range(start..start.saturating_add(bytes)).next().is_some();
    if !same || used {
        return Err(INVALID_VALUE);
    }
    space.reserved.remove(&start);
    pages::give_back(start, bytes);
    Ok(())
}

fn map(start: usize, bytes: usize, offset: usize, handle: u64, flags: u64) -> Answer {
    let mut space = space();
    let physical = space.made.get(&handle).map(|(physical, _)| physical.clone()).ok_or(INVALID_VALUE)?;
    if flags != 0 || bytes == 0 {
        return Err(INVALID_VALUE);
    }
    if offset != 0 || bytes != physical.bytes {
        explain("memory is mapped as a whole, as it was made");
        return Err(NOT_SUPPORTED);
    }
    let end = start.checked_add(bytes).ok_or(INVALID_VALUE)?;
    let reserved = space.reserved.iter().any(|(from, length)| *from <= start && end <= from + length);
    let taken = space.mapped.iter().any(|(from, mapping)| *from < end && start < from + mapping.bytes);
    if !reserved || taken || !start.is_multiple_of(GRANULARITY) {
        return Err(INVALID_VALUE);
    }
    physical.pages.map(start, bytes)?;
    space.mapped.insert(start, Mapping { bytes, handle, physical, access: 0 });
    Ok(())
}

/// The mappings that a range consists of; none may begin or end outside of it.
fn whole_mappings(space: &Space, start: usize, bytes: usize) -> Result<Vec<usize>, CUresult> {
    let end = start.checked_add(bytes).ok_or(INVALID_VALUE)?;
    let touched: Vec<(usize, usize)> = space
        .mapped
        .iter()
        .map(|(from, mapping)| (*from, mapping.bytes))
        .filter(|(from, length)| *from < end && start < from + length)
        .collect();
    if touched.iter().any(|(from, length)| *from < start || from + length > end) {
        return Err(INVALID_VALUE);
    }
    Ok(touched.iter().map(|(from, _)| *from).collect())
}

fn unmap(start: usize, bytes: usize) -> Answer {
    // Work in flight may still use it.
    work::wait_for_all();
    let mut space = space();
    let end = start.checked_add(bytes).ok_or(INVALID_VALUE)?;
    if bytes == 0 || !space.reserved.iter().any(|(from, length)| *from <= start && end <= from + length) {
        return Err(INVALID_VALUE);
    }
    for from in whole_mappings(&space, start, bytes)? {
        if let Some(mapping) = space.mapped.remove(&from) {
            if mapping.access != 0 {
                let _ = lock(&driver().memory).free(from as u64);
            }
            pages::forget(from, mapping.bytes);
        }
    }
    Ok(())
}

/// Lets the device in, or keeps it out.
fn set_access(start: usize, bytes: usize, access: Access) -> Answer {
    if access.location_kind == LOCATION_HOST {
        explain("the device's memory is not for the host to read");
        return Err(NOT_SUPPORTED);
    }
    let known = matches!(access.flags, 0 | 1 | READ_WRITE);
    if access.location_kind != LOCATION_DEVICE || access.location != 0 || !known {
        return Err(INVALID_VALUE);
    }
    let mut space = space();
    let mappings = whole_mappings(&space, start, bytes)?;
    let covered: usize = mappings.iter().map(|from| space.mapped[from].bytes).sum();
    if bytes == 0 || covered != bytes {
        return Err(INVALID_VALUE);
    }
    for from in mappings {
        let Some(mapping) = space.mapped.get_mut(&from) else { continue };
        let mut memory = lock(&driver().memory);
        if mapping.access == 0 && access.flags != 0 {
            // SAFETY: the pages stay mapped until `unmap`, which takes them out of the memory first.
            unsafe { memory.map_host("mapped memory", from as *mut u8, mapping.bytes as u64) }.map_err(|error| {
                explain(error.to_string());
                INVALID_VALUE
            })?;
        } else if mapping.access != 0 && access.flags == 0 {
            let _ = memory.free(from as u64);
        }
        mapping.access = access.flags;
    }
    Ok(())
}

unsafe fn export(out: *mut i32, handle: u64, kind: u32, flags: u64) -> Answer {
    let space = space();
    let (physical, _) = space.made.get(&handle).ok_or(INVALID_VALUE)?;
    if out.is_null() || kind != POSIX_FILE || flags != 0 || physical.properties.handle_types & POSIX_FILE == 0 {
        return Err(INVALID_VALUE);
    }
    unsafe { put(out, physical.pages.file()?) }
}

unsafe fn import(out: *mut u64, file: i32, kind: u32) -> Answer {
    process::initialised()?;
    if out.is_null() || kind != POSIX_FILE {
        return Err(INVALID_VALUE);
    }
    let (pages, bytes) = Pages::of_file(file)?;
    if bytes == 0 || !bytes.is_multiple_of(GRANULARITY) {
        return Err(INVALID_VALUE);
    }
    let properties = Properties {
        kind: TYPE_PINNED,
        handle_types: POSIX_FILE,
        location_kind: LOCATION_DEVICE,
        location: 0,
        security: 0,
        flags: [0; 8],
    };
    unsafe { put(out, add(Physical { pages, bytes, properties })) }
}

api! {
    fn cuMemGetAllocationGranularity(out: *mut usize, properties: *const Properties, option: u32) {
        process::initialised()?;
        if properties.is_null() || option > 1 {
            return Err(INVALID_VALUE);
        }
        put(out, GRANULARITY)
    }
    fn cuMemCreate(out: *mut u64, bytes: usize, properties: *const Properties, flags: u64) {
        create(out, bytes, properties, flags)
    }
    fn cuMemRelease(handle: u64) {
        process::initialised()?;
        release(handle)
    }
    fn cuMemAddressReserve(out: *mut CUdeviceptr, bytes: usize, align: usize, _wish: CUdeviceptr, flags: u64) {
        reserve(out, bytes, align, flags)
    }
    fn cuMemAddressFree(start: CUdeviceptr, bytes: usize) {
        process::initialised()?;
        give_back_addresses(start as usize, bytes)
    }
    fn cuMemMap(start: CUdeviceptr, bytes: usize, offset: usize, handle: u64, flags: u64) {
        process::initialised()?;
        map(start as usize, bytes, offset, handle, flags)
    }
    fn cuMemUnmap(start: CUdeviceptr, bytes: usize) {
        process::initialised()?;
        unmap(start as usize, bytes)
    }
    fn cuMemSetAccess(start: CUdeviceptr, bytes: usize, access: *const Access, count: usize) {
        process::initialised()?;
        if access.is_null() || count == 0 {
            return Err(INVALID_VALUE);
        }
        for index in 0..count {
            set_access(start as usize, bytes, *access.add(index))?;
        }
        Ok(())
    }
    fn cuMemGetAccess(flags: *mut u64, location: *const [i32; 2], start: CUdeviceptr) {
        process::initialised()?;
        let [kind, id] = *location.as_ref().ok_or(INVALID_VALUE)?;
        let (from, _) = mapping(start).ok_or(INVALID_VALUE)?;
        let access = space().mapped.get(&(from as usize)).map_or(0, |mapping| mapping.access);
        if kind as u32 != LOCATION_DEVICE || id != 0 {
            return Err(INVALID_VALUE);
        }
        put(flags, u64::from(access))
    }
    fn cuMemRetainAllocationHandle(out: *mut u64, address: CUdeviceptr) {
        process::initialised()?;
        let (from, _) = mapping(address).ok_or(INVALID_VALUE)?;
        if out.is_null() {
            return Err(INVALID_VALUE);
        }
        let mut space = space();
        let mapping = space.mapped.get(&(from as usize)).ok_or(INVALID_VALUE)?;
        let (handle, physical) = (mapping.handle, mapping.physical.clone());
        // One that was released while mapped comes to life again.
        space.made.entry(handle).or_insert((physical, 0)).1 += 1;
        put(out, handle)
    }
    fn cuMemGetAllocationPropertiesFromHandle(out: *mut Properties, handle: u64) {
        process::initialised()?;
        let properties = space().made.get(&handle).ok_or(INVALID_VALUE)?.0.properties;
        put(out, properties)
    }
    fn cuMemExportToShareableHandle(out: *mut i32, handle: u64, kind: u32, flags: u64) {
        process::initialised()?;
        export(out, handle, kind, flags)
    }
    fn cuMemImportFromShareableHandle(out: *mut u64, handle: *mut std::ffi::c_void, kind: u32) {
        // The descriptor itself stands in the pointer.
        import(out, handle as usize as i32, kind)
    }
}
