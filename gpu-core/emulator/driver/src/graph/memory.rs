//! Memory nodes: allocations that live from one node of a graph to another, at an address that never changes.

use std::sync::Arc;

use super::{GRAPHS, Graph, Operation, find};
use crate::abi::*;
use crate::memory::of_graphs::{self, Address};
use crate::process::lock;

/// Books a launch's allocations. Those of the last launch must have been freed, or are given back first when the graph
/// was instantiated so.
pub fn begin_launch(graph: &Arc<Graph>, auto_free: bool) -> Result<Vec<u64>, CUresult> {
    let (mut made, mut freed) = (Vec::new(), Vec::new());
    graph.each(&mut |node| match node.operation {
        Operation::Alloc(address) => made.push(address.start),
        Operation::Free(address) => freed.push(address),
        _ => {}
    });
    of_graphs::book(&made, &freed, auto_free)
}

/// A free node must name an allocation of a graph, and a graph may free one only once.
pub fn check_free(graph: &Graph, operation: &Operation) -> Answer {
    let Operation::Free(address) = operation else { return Ok(()) };
    let known = of_graphs::is_reserved(*address);
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
    let address = of_graphs::reserve(params.bytes)?;
    params.address = address.start;
    Ok(Operation::Alloc(address))
}

api! {
    fn cuGraphAddMemAllocNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, params: *mut AllocNodeParams) {
        let params = params.as_mut().ok_or(INVALID_VALUE)?;
        let graph = GRAPHS.get(graph)?;
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
        let graph = GRAPHS.get(graph)?;
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
}
