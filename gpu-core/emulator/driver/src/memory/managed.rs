//! Managed memory: advice about where it should be, which is kept and told but moves nothing.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Mutex;

use crate::abi::*;
use crate::process::lock;
use crate::process::ranges::host_range;
use crate::work;

/// `CUmemLocation` by value: a type, and a device or NUMA node.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    pub kind: u32,
    pub id: i32,
}

pub const LOCATION_DEVICE: u32 = 1;
pub const LOCATION_HOST: u32 = 2;
/// Nodes of the host, by number or by where the thread runs.
const LOCATION_NUMA: std::ops::RangeInclusive<u32> = 3..=4;
/// `CU_DEVICE_CPU` and `CU_DEVICE_INVALID`.
const CPU: i32 = -1;
const NOWHERE: i32 = -2;

impl Location {
    /// Of the calls before CUDA 13, which name devices only.
    fn of_device(device: i32) -> Location {
        if device == CPU {
            Location { kind: LOCATION_HOST, id: 0 }
        } else {
            Location { kind: LOCATION_DEVICE, id: device }
        }
    }

    /// As the older attributes tell it.
    fn as_device(self) -> i32 {
        if self.kind == LOCATION_DEVICE { self.id } else { CPU }
    }
}

/// What was advised for an allocation.
#[derive(Clone, Copy, Default)]
struct Advice {
    read_mostly: bool,
    preferred: Option<Location>,
    /// By the device and by the host.
    accessed_by: [bool; 2],
    prefetched: Option<Location>,
}

static ADVICE: Mutex<BTreeMap<usize, Advice>> = Mutex::new(BTreeMap::new());

/// An allocation is gone.
pub fn forget(address: usize) {
    lock(&ADVICE).remove(&address);
}

/// The managed allocation that holds a whole range.
fn range(pointer: CUdeviceptr, bytes: usize) -> Result<usize, CUresult> {
    let (start, range) = host_range(pointer as usize).filter(|(_, range)| range.managed).ok_or(INVALID_VALUE)?;
    let offset = pointer as usize - start;
    if bytes == 0 || bytes > range.bytes - offset { Err(INVALID_VALUE) } else { Ok(start) }
}

fn advise(pointer: CUdeviceptr, bytes: usize, advice: u32, location: Location) -> Answer {
    work::current()?;
    let start = range(pointer, bytes)?;
    let place = match location.kind {
        LOCATION_DEVICE => location.id == 0,
        kind => kind == LOCATION_HOST || LOCATION_NUMA.contains(&kind),
    };
    let mut all = lock(&ADVICE);
    let known = all.entry(start).or_default();
    match advice {
        // Values of `CUmem_advise`. Reading often and forgetting a preference look at no place.
        1 | 2 => known.read_mostly = advice == 1,
        4 => known.preferred = None,
        _ if !place => return Err(INVALID_VALUE),
        3 => known.preferred = Some(location),
        5 | 6 => known.accessed_by[usize::from(location.kind != LOCATION_DEVICE)] = advice == 5,
        _ => return Err(INVALID_VALUE),
    }
    Ok(())
}

fn prefetch(pointer: CUdeviceptr, bytes: usize, location: Location, flags: u32, stream: Handle) -> Answer {
    work::stream(stream)?;
    let start = range(pointer, bytes)?;
    match location.kind {
        _ if flags != 0 => return Err(INVALID_VALUE),
        LOCATION_DEVICE if location.id != 0 => return Err(INVALID_DEVICE),
        LOCATION_DEVICE | LOCATION_HOST => {}
        kind if LOCATION_NUMA.contains(&kind) => {}
        _ => return Err(INVALID_VALUE),
    }
    lock(&ADVICE).entry(start).or_default().prefetched = Some(location);
    Ok(())
}

/// Ranges of managed memory.
unsafe fn ranges(
    pointers: *const CUdeviceptr,
    sizes: *const usize,
    count: usize,
    flags: u64,
    stream: Handle,
) -> Result<Vec<(CUdeviceptr, usize)>, CUresult> {
    /// The legacy default stream, by its two names; the CUDA manual does not allow it here.
    const LEGACY: [Handle; 2] = [0, 1];
    work::stream(stream)?;
    if pointers.is_null() || sizes.is_null() || count == 0 || flags != 0 || LEGACY.contains(&stream) {
        return Err(INVALID_VALUE);
    }
    let list: Vec<_> = (0..count).map(|index| unsafe { (*pointers.add(index), *sizes.add(index)) }).collect();
    list.iter().try_for_each(|(pointer, bytes)| range(*pointer, *bytes).map(drop))?;
    Ok(list)
}

/// Each location counts from its index to the next one's. The manual wants each index greater than the one before; a driver
/// (580.159.04) takes an equal one.
unsafe fn prefetch_all(
    list: &[(CUdeviceptr, usize)],
    locations: *const Location,
    indices: *const usize,
    location_count: usize,
    stream: Handle,
) -> Answer {
    if locations.is_null() || indices.is_null() || location_count == 0 || location_count > list.len() {
        return Err(INVALID_VALUE);
    }
    let (locations, starts) = unsafe {
        (std::slice::from_raw_parts(locations, location_count), std::slice::from_raw_parts(indices, location_count))
    };
    if starts[0] != 0 || starts.windows(2).any(|pair| pair[0] > pair[1]) || starts[location_count - 1] >= list.len() {
        return Err(INVALID_VALUE);
    }
    list.iter().enumerate().try_for_each(|(index, (pointer, bytes))| {
        let location = locations[starts.partition_point(|start| *start <= index) - 1];
        prefetch(*pointer, *bytes, location, 0, stream)
    })
}

/// Values of `CUmem_range_attribute`.
fn attribute(advice: &Advice, id: u32) -> Result<i32, CUresult> {
    let kind = |location: Option<Location>| location.map_or(0, |location| location.kind as i32);
    let number = |location: Option<Location>| {
        location.map_or(0, |location| if location.kind == LOCATION_HOST { CPU } else { location.id })
    };
    Ok(match id {
        1 => i32::from(advice.read_mostly),
        2 => advice.preferred.map_or(NOWHERE, Location::as_device),
        4 => advice.prefetched.map_or(NOWHERE, Location::as_device),
        5 => kind(advice.preferred),
        6 => number(advice.preferred),
        7 => kind(advice.prefetched),
        8 => number(advice.prefetched),
        _ => return Err(INVALID_VALUE),
    })
}

unsafe fn get(out: *mut c_void, bytes: usize, id: u32, start: usize) -> Answer {
    const ACCESSED_BY: u32 = 3;
    let fits = if id == ACCESSED_BY { bytes > 0 && bytes.is_multiple_of(4) } else { bytes == 4 };
    if out.is_null() || !fits {
        return Err(INVALID_VALUE);
    }
    let advice = lock(&ADVICE).get(&start).copied().unwrap_or_default();
    let values: Vec<i32> = if id == ACCESSED_BY {
        [0, CPU].into_iter().zip(advice.accessed_by).filter(|(_, accessed)| *accessed).map(|(who, _)| who).collect()
    } else {
        vec![attribute(&advice, id)?]
    };
    for index in 0..bytes / 4 {
        let entry = values.get(index).copied().unwrap_or(NOWHERE);
        unsafe { out.cast::<i32>().add(index).write_unaligned(entry) };
    }
    Ok(())
}

unsafe fn get_all(
    out: *mut *mut c_void,
    sizes: *mut usize,
    ids: *const u32,
    count: usize,
    pointer: CUdeviceptr,
    bytes: usize,
) -> Answer {
    work::current()?;
    if out.is_null() || sizes.is_null() || ids.is_null() || count == 0 {
        return Err(INVALID_VALUE);
    }
    let start = range(pointer, bytes)?;
    for index in 0..count {
        unsafe { get(*out.add(index), *sizes.add(index), *ids.add(index), start)? };
    }
    Ok(())
}

api_with_streams! {
    fn cuMemAdvise(pointer: CUdeviceptr, bytes: usize, advice: u32, device: i32) {
        advise(pointer, bytes, advice, Location::of_device(device))
    }
    fn cuMemAdvise_v2(pointer: CUdeviceptr, bytes: usize, advice: u32, location: Location) {
        advise(pointer, bytes, advice, location)
    }
    fn cuMemPrefetchAsync(pointer: CUdeviceptr, bytes: usize, device: i32, stream: Handle) {
        prefetch(pointer, bytes, Location::of_device(device), 0, stream)
    }
    fn cuMemPrefetchAsync_v2(pointer: CUdeviceptr, bytes: usize, location: Location, flags: u32, stream: Handle) {
        prefetch(pointer, bytes, location, flags, stream)
    }
    fn cuMemPrefetchBatchAsync(
        pointers: *const CUdeviceptr, sizes: *const usize, count: usize, locations: *const Location, indices: *const usize,
        location_count: usize, flags: u64, stream: Handle,
    ) {
        prefetch_all(&ranges(pointers, sizes, count, flags, stream)?, locations, indices, location_count, stream)
    }
    fn cuMemDiscardBatchAsync(pointers: *const CUdeviceptr, sizes: *const usize, count: usize, flags: u64, stream: Handle) {
        // What was discarded may have any value, also the one that it had.
        ranges(pointers, sizes, count, flags, stream).map(drop)
    }
    fn cuMemDiscardAndPrefetchBatchAsync(
        pointers: *const CUdeviceptr, sizes: *const usize, count: usize, locations: *const Location, indices: *const usize,
        location_count: usize, flags: u64, stream: Handle,
    ) {
        prefetch_all(&ranges(pointers, sizes, count, flags, stream)?, locations, indices, location_count, stream)
    }
    fn cuMemRangeGetAttribute(out: *mut c_void, bytes: usize, id: u32, pointer: CUdeviceptr, length: usize) {
        work::current()?;
        get(out, bytes, id, range(pointer, length)?)
    }
    fn cuMemRangeGetAttributes(out: *mut *mut c_void, sizes: *mut usize, ids: *const u32, count: usize, pointer: CUdeviceptr, length: usize) {
        get_all(out, sizes, ids, count, pointer, length)
    }
}
