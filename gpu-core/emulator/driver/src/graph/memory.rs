//! Memory nodes: allocations that live from one node of a graph to another, at an address that never changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Graph, Operation, find};
use crate::abi::*;
use crate::state::{self, DeviceRange, driver, lock};

/// What an allocation node reserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub start: CUdeviceptr,
    pub bytes: u64,
}

/// Memory that belongs to graphs.
#[derive(Default)]
pub struct GraphMemory {
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
    let memory = lock(&driver().graph_memory);
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
    lock(&driver().graph_memory).reserved.insert(start, bytes);
    Ok(Address { start, bytes })
}

/// The allocation node has its turn.
pub fn come_alive(address: Address) -> Result<f64, CUresult> {
    lock(&driver().memory).revive(address.start).map_err(|error| {
        explain(error.to_string());
        OUT_OF_MEMORY
    })?;
    lock(&driver().device).insert(address.start, DeviceRange { bytes: address.bytes, pool: None, owner: 0 });
    let mut memory = lock(&driver().graph_memory);
    memory.alive.insert(address.start);
    if memory.backed.insert(address.start) {
        memory.backed_bytes += address.bytes;
        memory.most_backed_bytes = memory.most_backed_bytes.max(memory.backed_bytes);
    }
    Ok(0.0)
}

/// A graph's allocation was given back, by whatever call. False if no launch has booked it.
pub fn forget_outstanding(address: u64) -> bool {
    lock(&driver().graph_memory).outstanding.remove(&address)
}

/// Keeps the books when a range dies. Which allocations are outstanding is settled when a call is made, not when its work is
/// done: by then a later launch may have booked the same address.
pub fn released(address: u64) {
    lock(&driver().graph_memory).alive.remove(&address);
}

/// Books a launch's allocations. Those of the last launch must have been freed, or are given back first when the graph
/// was instantiated so.
pub fn begin_launch(graph: &Arc<Graph>, auto_free: bool) -> Result<Vec<u64>, CUresult> {
    let (mut made, mut freed) = (Vec::new(), Vec::new());
    graph.each(&mut |node| match node.operation {
        Operation::Alloc(address) => made.push(address.start),
        Operation::Free(address) => freed.push(address),
        _ => {}
    });
    let mut memory = lock(&driver().graph_memory);
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

/// A free node must name an allocation of a graph, and a graph may free one only once.
pub fn check_free(graph: &Graph, operation: &Operation) -> Answer {
    let Operation::Free(address) = operation else { return Ok(()) };
    let known = lock(&driver().graph_memory).reserved.contains_key(address);
    let twice =
        lock(&graph.nodes).iter().any(|node| matches!(node.operation, Operation::Free(other) if other == *address));
    if known && !twice { Ok(()) } else { Err(INVALID_VALUE) }
}

/// `CUDA_MEM_ALLOC_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AllocNodeParams {
    allocation_type: u32,
    handle_types: u32,
    location_type: u32,
    location: i32,
    security: usize,
    most_bytes: usize,
    usage: u16,
    reserved: [u8; 54],
    access: usize,
    access_count: usize,
    bytes: usize,
    address: CUdeviceptr,
}

const TYPE_PINNED: u32 = 1;
const LOCATION_DEVICE: u32 = 1;

impl AllocNodeParams {
    pub fn of(address: Address) -> AllocNodeParams {
        AllocNodeParams {
            allocation_type: TYPE_PINNED,
            handle_types: 0,
            location_type: LOCATION_DEVICE,
            location: 0,
            security: 0,
            most_bytes: 0,
            usage: 0,
            reserved: [0; 54],
            access: 0,
            access_count: 0,
            bytes: address.bytes as usize,
            address: address.start,
        }
    }
}

/// Reserves what the parameters ask for, and writes the address into them.
pub fn alloc_operation(params: &mut AllocNodeParams) -> Result<Operation, CUresult> {
    if params.allocation_type != TYPE_PINNED
        || params.handle_types != 0
        || params.location_type != LOCATION_DEVICE
        || params.location != 0
    {
        return Err(INVALID_VALUE);
    }
    let address = reserve(params.bytes)?;
    params.address = address.start;
    Ok(Operation::Alloc(address))
}

/// Values of `CUgraphMem_attribute`.
const USED: u32 = 0;
const USED_HIGH: u32 = 1;
const RESERVED: u32 = 2;
const RESERVED_HIGH: u32 = 3;

fn check_device(device: i32) -> Answer {
    state::initialised()?;
    if device == 0 { Ok(()) } else { Err(INVALID_DEVICE) }
}

api! {
    fn cuGraphAddMemAllocNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, params: *mut AllocNodeParams) {
        let params = params.as_mut().ok_or(INVALID_VALUE)?;
        let graph = driver().graphs.get(graph)?;
        let dependencies = super::handles(dependencies, count)?;
        if node.is_null() {
            return Err(INVALID_VALUE);
        }
        put(node, graph.push(alloc_operation(params)?, &dependencies)?)
    }
    fn cuGraphMemAllocNodeGetParams(node: Handle, params: *mut AllocNodeParams) {
        let Operation::Alloc(address) = find(node)?.1.operation else { return Err(INVALID_VALUE) };
        put(params, AllocNodeParams::of(address))
    }
    fn cuGraphAddMemFreeNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, address: CUdeviceptr) {
        let graph = driver().graphs.get(graph)?;
        let dependencies = super::handles(dependencies, count)?;
        let operation = Operation::Free(address);
        check_free(&graph, &operation)?;
        if node.is_null() {
            return Err(INVALID_VALUE);
        }
        put(node, graph.push(operation, &dependencies)?)
    }
    fn cuGraphMemFreeNodeGetParams(node: Handle, address: *mut CUdeviceptr) {
        let Operation::Free(start) = find(node)?.1.operation else { return Err(INVALID_VALUE) };
        put(address, start)
    }
    fn cuDeviceGraphMemTrim(device: i32) {
        check_device(device)?;
        lock(&driver().graph_memory).trim();
        Ok(())
    }
    fn cuDeviceGetGraphMemAttribute(device: i32, attribute: u32, value: *mut u64) {
        check_device(device)?;
        let memory = lock(&driver().graph_memory);
        put(value, match attribute {
            // What a launch mapped stays so when it is freed, as the programming guide has it, until it is trimmed.
            USED | RESERVED => memory.backed_bytes,
            USED_HIGH | RESERVED_HIGH => memory.most_backed_bytes,
            _ => return Err(INVALID_VALUE),
        })
    }
    fn cuDeviceSetGraphMemAttribute(device: i32, attribute: u32, value: *const u64) {
        check_device(device)?;
        let mut memory = lock(&driver().graph_memory);
        match (attribute, value.as_ref().ok_or(INVALID_VALUE)?) {
            // High marks can only be set back.
            (USED_HIGH | RESERVED_HIGH, 0) => memory.most_backed_bytes = memory.backed_bytes,
            _ => return Err(INVALID_VALUE),
        }
        Ok(())
    }
}
