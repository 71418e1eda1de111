//! What graphs and nodes are called, and what a node was made from.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::nodes::{HostNodeParams, NodeParams};
use super::{EXECUTABLES, GRAPHS, Graph, Operation, find};
use crate::abi::*;

/// A graph's number, which no other graph of the process has.
pub struct Id(pub u32);

impl Default for Id {
    fn default() -> Id {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        Id(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The handle under which a graph is known; made where a graph inside another has none yet.
pub fn handle_of(graph: &Arc<Graph>) -> Handle {
    let known = GRAPHS.all().into_iter().find(|(_, other)| Arc::ptr_eq(other, graph));
    known.map_or_else(|| GRAPHS.add(graph.clone()), |(handle, _)| handle)
}

impl NodeParams {
    fn write(&mut self, graph: &Graph, operation: &Operation) {
        match operation {
            Operation::Kernel(kernel) => self.set(0, kernel.params()),
            Operation::Copy(block) => self.set(2, block.params()),
            Operation::Fill(fill) => self.set(0, fill.params()),
            Operation::Host(call) => {
                self.set(0, HostNodeParams { function: Some(call.function), data: call.data as *mut c_void });
            }
            Operation::Child(child) => self.set(0, handle_of(child)),
            Operation::Empty => {}
            Operation::WaitEvent(event) | Operation::RecordEvent(event) => self.set(0, *event),
            Operation::Alloc(address) => self.set(0, super::memory::AllocNodeParams::of(*address)),
            Operation::Free(address) => self.set(0, *address),
            Operation::Words(batch) => self.set(0, super::nodes::WordsNodeParams::of(batch, graph)),
            Operation::Conditional(inner) => inner.describe(self),
        }
    }
}

api! {
    fn cuGraphGetId(graph: Handle, id: *mut u32) {
        put(id, GRAPHS.get(graph)?.id.0)
    }
    fn cuGraphExecGetId(exec: Handle, id: *mut u32) {
        put(id, EXECUTABLES.get(exec)?.graph.id.0)
    }
    fn cuGraphNodeGetLocalId(node: Handle, id: *mut u32) {
        put(id, find(node)?.1.number)
    }
    fn cuGraphNodeGetToolsId(node: Handle, id: *mut u64) {
        let (graph, found) = find(node)?;
        put(id, u64::from(graph.id.0) << 32 | u64::from(found.number))
    }
    fn cuGraphNodeGetContainingGraph(node: Handle, graph: *mut Handle) {
        put(graph, handle_of(&find(node)?.0))
    }
    fn cuGraphNodeGetParams(node: Handle, params: *mut NodeParams) {
        let (graph, found) = find(node)?;
        let mut answer = NodeParams::of_kind(found.operation.kind());
        answer.write(&graph, &found.operation);
        put(params, answer)
    }
}
