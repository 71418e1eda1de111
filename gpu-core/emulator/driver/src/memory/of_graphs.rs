//! Memory of graphs: reserved at an address that never changes, and there from one node to another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use crate::abi::*;
use crate::process::ranges::{self, DeviceRange};
use crate::process::{self, driver, lock};

/// What an allocation node reserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub start: CUdeviceptr,
    pub bytes: u64,
}

/// Memory that belongs to graphs.
struct GraphMemory {
    /// Every reserved range, alive or not: address to size.
    reserved: BTreeMap<u64, u64>,
    /// Allocated by a launch (as of its submission) and not freed by it.
    outstanding: BTreeSet<u64>,
    /// Ranges that memory stands behind: those that are alive, and those that were, until the program trims them away.
    backed: BTreeSet<u64>,
    alive: BTreeSet<u64>,
    backed_bytes: u64,
    most_backed_bytes: u64,
}

static BOOKS: Mutex<GraphMemory> = Mutex::new(GraphMemory {
    reserved: BTreeMap::new(),
    outstanding: BTreeSet::new(),
    backed: BTreeSet::new(),
    alive: BTreeSet::new(),
    backed_bytes: 0,
    most_backed_bytes: 0,
});

impl GraphMemory {
    /// Takes the memory of dead ranges away.
    fn trim(&mut self) {
        let GraphMemory { backed, alive, reserved, .. } = self;
        backed.retain(|address| alive.contains(address));
        self.backed_bytes = backed.iter().filter_map(|address| reserved.get(address)).sum();
    }
}

/// The reserved range that an address lies in, alive or not.
pub fn range(address: u64) -> Option<(u64, u64)> {
    let memory = lock(&BOOKS);
    let (start, bytes) = memory.reserved.range(..=address).next_back()?;
    (address - start < *bytes).then_some((*start, *bytes))
}

/// Reserves an address for a node; nothing may touch it before the node has run.
pub fn reserve(bytes: usize) -> Result<Address, CUresult> {
    if bytes == 0 {
        return Err(INVALID_VALUE);
    }
    let bytes = bytes as u64;
    let start = {
        let mut memory = lock(&driver().memory);
        let start = memory.alloc("memory of a graph", bytes).map_err(|error| {
            explain(error.to_string());
            OUT_OF_MEMORY
        })?;
        memory.free(start).map_err(|_| UNKNOWN)?;
        start
    };
    lock(&BOOKS).reserved.insert(start, bytes);
    Ok(Address { start, bytes })
}

/// The allocation node has its turn.
pub fn come_alive(address: Address) -> Result<f64, CUresult> {
    lock(&driver().memory).revive(address.start).map_err(|error| {
        explain(error.to_string());
        OUT_OF_MEMORY
    })?;
    lock(&ranges::DEVICE).insert(address.start, DeviceRange { bytes: address.bytes, pool: None, owner: 0 });
    let mut memory = lock(&BOOKS);
    memory.alive.insert(address.start);
    if memory.backed.insert(address.start) {
        memory.backed_bytes += address.bytes;
        memory.most_backed_bytes = memory.most_backed_bytes.max(memory.backed_bytes);
    }
    Ok(0.0)
}

/// A graph's allocation was given back, by whatever call. False if no launch has booked it.
pub fn forget_outstanding(address: u64) -> bool {
    lock(&BOOKS).outstanding.remove(&address)
}

/// Keeps the books when a range dies. Which allocations are outstanding is settled when a call is made, not when its work is
/// done: by then a later launch may have booked the same address.
pub fn released(address: u64) {
    lock(&BOOKS).alive.remove(&address);
}

/// Whether an address is that of a node's allocation.
pub fn is_reserved(address: u64) -> bool {
    lock(&BOOKS).reserved.contains_key(&address)
}

/// Books what a launch makes and frees. What the last launch left must be freed by now; with `auto_free` it is given, to be
/// freed first.
///
/// # Errors
/// `CUDA_ERROR_INVALID_VALUE` for memory of an earlier launch.
pub fn book(made: &[u64], freed: &[u64], auto_free: bool) -> Result<Vec<u64>, CUresult> {
    let mut memory = lock(&BOOKS);
    let left: Vec<u64> = made.iter().copied().filter(|address| memory.outstanding.contains(address)).collect();
    if !left.is_empty() && !auto_free {
        drop(memory);
        explain(
            "the graph's memory of an earlier launch was not freed; free it, or instantiate with AUTO_FREE_ON_LAUNCH",
        );
        return Err(INVALID_VALUE);
    }
    for address in freed.iter().filter(|address| !made.contains(address)) {
        memory.outstanding.remove(address);
    }
    memory.outstanding.extend(made.iter().filter(|address| !freed.contains(address)));
    Ok(left)
}

/// Values of `CUgraphMem_attribute`.
const USED: u32 = 0;
const USED_HIGH: u32 = 1;
const RESERVED: u32 = 2;
const RESERVED_HIGH: u32 = 3;

fn check_device(device: i32) -> Answer {
    process::initialised()?;
    if device == 0 { Ok(()) } else { Err(INVALID_DEVICE) }
}

api! {
    fn cuDeviceGraphMemTrim(device: i32) {
        check_device(device)?;
        lock(&BOOKS).trim();
        Ok(())
    }
    fn cuDeviceGetGraphMemAttribute(device: i32, attribute: u32, value: *mut u64) {
        check_device(device)?;
        let memory = lock(&BOOKS);
        put(value, match attribute {
            // What a launch mapped stays so when it is freed, as the programming guide has it, until it is trimmed.
            USED | RESERVED => memory.backed_bytes,
            USED_HIGH | RESERVED_HIGH => memory.most_backed_bytes,
            _ => return Err(INVALID_VALUE),
        })
    }
    fn cuDeviceSetGraphMemAttribute(device: i32, attribute: u32, value: *const u64) {
        check_device(device)?;
        let mut memory = lock(&BOOKS);
        match (attribute, value.as_ref().ok_or(INVALID_VALUE)?) {
            // High marks can only be set back.
            (USED_HIGH | RESERVED_HIGH, 0) => memory.most_backed_bytes = memory.backed_bytes,
            _ => return Err(INVALID_VALUE),
        }
        Ok(())
    }
}
