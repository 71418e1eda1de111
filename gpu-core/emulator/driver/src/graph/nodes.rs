//! Graphs and their nodes: making, asking and changing them.

use std::ffi::c_void;
use std::sync::Arc;

use super::{Conditional, EXECUTABLES, GRAPHS, Graph, HostCall, Operation, find, handles};
use crate::abi::*;
use crate::launch::{KernelNode, KernelNodeParams, OldKernelNodeParams};
use crate::memory::boxes::Copy3d;
use crate::memory::copy::MemsetNodeParams;
use crate::memory::words::{Batch, Params};
use crate::process::{self, lock};
use crate::work::event::EVENTS;
use crate::work::order;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct HostNodeParams {
    pub function: Option<unsafe extern "C" fn(*mut c_void)>,
    pub data: *mut c_void,
}

/// `CUgraphNodeParams`: a type, padding, and a union of 232 bytes.
#[repr(C)]
pub struct NodeParams {
    kind: u32,
    reserved: [i32; 3],
    value: [u64; 29],
    reserved2: i64,
}

impl NodeParams {
    pub fn of_kind(kind: u32) -> NodeParams {
        NodeParams { kind, reserved: [0; 3], value: [0; 29], reserved2: 0 }
    }

    pub fn get<T: Copy>(&self, word: usize) -> T {
        unsafe { self.value.as_ptr().add(word).cast::<T>().read() }
    }

    pub fn set<T: Copy>(&mut self, word: usize, value: T) {
        unsafe { self.value.as_mut_ptr().add(word).cast::<T>().write(value) }
    }

    /// The operation that the union describes, for a new node of a graph; None of it for one that is there.
    unsafe fn operation(&mut self, graph: Option<&Graph>) -> Result<Operation, CUresult> {
        if self.reserved != [0; 3] || self.reserved2 != 0 {
            return Err(INVALID_VALUE);
        }
        Ok(match self.kind {
            0 => Operation::Kernel(Arc::new(
                unsafe { self.value.as_ptr().cast::<KernelNodeParams>().as_ref() }.ok_or(INVALID_VALUE)?.node()?,
            )),
            // Flags, padding and a context stand before the copy's own parameters.
            1 => Operation::Copy(self.get::<Copy3d>(2).block()?),
            2 => Operation::Fill(self.get::<MemsetNodeParams>(0).fill()?),
            3 => {
                let host = self.get::<HostNodeParams>(0);
                Operation::Host(HostCall::new(host.function, host.data)?)
            }
            4 => child(self.value[0] as Handle)?,
            5 => Operation::Empty,
            6 => event(self.value[0] as Handle, true)?,
            7 => event(self.value[0] as Handle, false)?,
            10 => {
                let params = unsafe { self.value.as_mut_ptr().cast::<super::memory::AllocNodeParams>().as_mut() };
                super::memory::alloc_operation(params.ok_or(INVALID_VALUE)?)?
            }
            11 => Operation::Free(self.value[0]),
            12 => unsafe { words(self.value.as_ptr().cast()) }?,
            13 => match graph {
                Some(graph) => Operation::Conditional(Arc::new(Conditional::new(self, graph)?)),
                None => {
                    explain("the parameters of a conditional node cannot be changed");
                    return Err(NOT_SUPPORTED);
                }
            },
            14.. => return Err(INVALID_VALUE),
            other => {
                explain(format!("graph nodes of type {other} are not supported by the emulator"));
                return Err(NOT_SUPPORTED);
            }
        })
    }
}

/// `CUDA_BATCH_MEM_OP_NODE_PARAMS_v2`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct WordsNodeParams {
    context: Handle,
    count: u32,
    list: *const Params,
    flags: u32,
}

impl WordsNodeParams {
    /// The list is kept for the caller with the graph.
    pub fn of(batch: &Batch, graph: &Graph) -> WordsNodeParams {
        let count = batch.params().len() as u32;
        WordsNodeParams { context: 0, count, list: graph.keep_words(batch.clone()), flags: 0 }
    }
}

unsafe fn words(params: *const WordsNodeParams) -> Result<Operation, CUresult> {
    let params = unsafe { params.as_ref() }.ok_or(INVALID_VALUE)?;
    Ok(Operation::Words(unsafe { Batch::read(params.list, params.count as usize, params.flags) }?))
}

fn event(handle: Handle, wait: bool) -> Result<Operation, CUresult> {
    EVENTS.get(handle).map_err(|_| INVALID_VALUE)?;
    Ok(if wait { Operation::WaitEvent(handle) } else { Operation::RecordEvent(handle) })
}

/// A child is a copy of a graph without memory or conditional nodes.
fn child(graph: Handle) -> Result<Operation, CUresult> {
    let graph = GRAPHS.get(graph)?;
    refuse_conditional(&graph, "be a child of another")?;
    if graph.has_memory() {
        explain("a graph with memory nodes cannot be a child of another");
        return Err(NOT_SUPPORTED);
    }
    Ok(Operation::Child(graph.copy(true)))
}

/// What cannot be done with conditional nodes.
pub fn refuse_conditional(graph: &Graph, what: &str) -> Answer {
    if graph.is_conditional() {
        explain(format!("a graph with conditional nodes, or the body of one, cannot {what}"));
        return Err(NOT_SUPPORTED);
    }
    Ok(())
}

unsafe fn add(
    out: *mut Handle,
    graph: Handle,
    dependencies: *const Handle,
    count: usize,
    operation: impl FnOnce() -> Result<Operation, CUresult>,
) -> Answer {
    let graph = GRAPHS.get(graph)?;
    if out.is_null() {
        return Err(INVALID_VALUE);
    }
    let dependencies = unsafe { handles(dependencies, count) }?;
    let operation = operation()?;
    super::memory::check_free(&graph, &operation)?;
    unsafe { put(out, graph.push(operation, &dependencies)?) }
}

/// Adds a node of any kind.
unsafe fn add_any(
    out: *mut Handle,
    graph: Handle,
    dependencies: *const Handle,
    count: usize,
    params: *mut NodeParams,
) -> Answer {
    let params = unsafe { params.as_mut() }.ok_or(INVALID_VALUE)?;
    unsafe { add(out, graph, dependencies, count, || params.operation(Some(&*GRAPHS.get(graph)?))) }
}

/// Changes a node of any kind.
unsafe fn set_any(node: Handle, params: *mut NodeParams) -> Answer {
    set(node, unsafe { params.as_mut().ok_or(INVALID_VALUE)?.operation(None)? })
}

/// What `cuGraph…NodeGetParams` and `…SetParams` find in a node of their kind.
macro_rules! operation_of {
    ($node:expr, $kind:ident) => {
        match find($node)?.1.operation {
            Operation::$kind(inner) => inner,
            _ => return Err(INVALID_VALUE),
        }
    };
}

fn set(node: Handle, operation: Operation) -> Answer {
    find(node)?.0.replace(node, operation)
}

fn set_in(exec: Handle, node: Handle, operation: Operation) -> Answer {
    let exec = EXECUTABLES.get(exec)?;
    exec.graph.holder(node).ok_or(INVALID_VALUE)?.replace(node, operation)
}

unsafe fn host(params: *const HostNodeParams) -> Result<Operation, CUresult> {
    let params = unsafe { params.as_ref() }.ok_or(INVALID_VALUE)?;
    Ok(Operation::Host(HostCall::new(params.function, params.data)?))
}

unsafe fn kernel(params: *const KernelNodeParams) -> Result<Operation, CUresult> {
    Ok(Operation::Kernel(Arc::new(unsafe { params.as_ref() }.ok_or(INVALID_VALUE)?.node()?)))
}

unsafe fn old_kernel(params: *const OldKernelNodeParams) -> Result<Operation, CUresult> {
    let params = unsafe { params.as_ref() }.ok_or(INVALID_VALUE)?;
    Ok(Operation::Kernel(Arc::new(KernelNodeParams::of_old(params).node()?)))
}

unsafe fn copy(params: *const Copy3d) -> Result<Operation, CUresult> {
    let block = unsafe { params.as_ref() }.ok_or(INVALID_VALUE)?.block()?;
    // A node that copies nothing is none.
    if block.bytes() == 0 { Err(INVALID_VALUE) } else { Ok(Operation::Copy(block)) }
}

unsafe fn fill(params: *const MemsetNodeParams) -> Result<Operation, CUresult> {
    Ok(Operation::Fill(unsafe { params.as_ref() }.ok_or(INVALID_VALUE)?.fill()?))
}

api! {
    fn cuGraphCreate(graph: *mut Handle, flags: u32) {
        process::initialised()?;
        if flags != 0 || graph.is_null() {
            return Err(INVALID_VALUE);
        }
        order::need();
        put(graph, GRAPHS.add(Arc::new(Graph::default())))
    }
    fn cuGraphDestroy(graph: Handle) {
        if GRAPHS.get(graph)?.is_body {
            explain("the body of a conditional node goes with its node");
            return Err(INVALID_VALUE);
        }
        GRAPHS.remove(graph).map(drop)
    }
    fn cuGraphClone(clone: *mut Handle, original: Handle) {
        let graph = GRAPHS.get(original)?;
        refuse_conditional(&graph, "be cloned")?;
        if graph.has_memory() {
            explain("a graph with memory nodes cannot be cloned");
            return Err(NOT_SUPPORTED);
        }
        if clone.is_null() {
            return Err(INVALID_VALUE);
        }
        put(clone, GRAPHS.add(graph.copy(true)))
    }
    fn cuGraphNodeFindInClone(out: *mut Handle, original: Handle, clone: Handle) {
        let clone = GRAPHS.get(clone)?;
        let mut found = None;
        clone.each(&mut |node| {
            if node.original == original && node.handle != original {
                found = Some(node.handle);
            }
        });
        put(out, found.ok_or(INVALID_VALUE)?)
    }
    fn cuGraphNodeGetType(node: Handle, kind: *mut u32) {
        put(kind, find(node)?.1.operation.kind())
    }
    fn cuGraphDestroyNode(node: Handle) {
        let (graph, _) = find(node)?;
        if graph.has_memory() {
            explain("nodes cannot be taken out of a graph with memory nodes");
            return Err(NOT_SUPPORTED);
        }
        let mut nodes = lock(&graph.nodes);
        nodes.retain(|other| other.handle != node);
        for other in nodes.iter_mut() {
            other.dependencies.retain(|dependency| *dependency != node);
        }
        Ok(())
    }
    fn cuGraphAddEmptyNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize) {
        add(node, graph, dependencies, count, || Ok(Operation::Empty))
    }
    fn cuGraphAddHostNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, params: *const HostNodeParams) {
        add(node, graph, dependencies, count, || host(params))
    }
    fn cuGraphAddKernelNode_v2(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, params: *const KernelNodeParams) {
        add(node, graph, dependencies, count, || kernel(params))
    }
    fn cuGraphAddMemcpyNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, params: *const Copy3d, _context: Handle) {
        add(node, graph, dependencies, count, || copy(params))
    }
    fn cuGraphAddMemsetNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, params: *const MemsetNodeParams, _context: Handle) {
        add(node, graph, dependencies, count, || fill(params))
    }
    fn cuGraphAddChildGraphNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, inner: Handle) {
        add(node, graph, dependencies, count, || child(inner))
    }
    fn cuGraphAddEventRecordNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, mark: Handle) {
        add(node, graph, dependencies, count, || event(mark, false))
    }
    fn cuGraphAddEventWaitNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, mark: Handle) {
        add(node, graph, dependencies, count, || event(mark, true))
    }
    fn cuGraphAddNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, params: *mut NodeParams) {
        add_any(node, graph, dependencies, count, params)
    }
    fn cuGraphAddNode_v2(node: *mut Handle, graph: Handle, dependencies: *const Handle, _edges: *const u64, count: usize, params: *mut NodeParams) {
        add_any(node, graph, dependencies, count, params)
    }
    fn cuGraphAddNode_v3(node: *mut Handle, graph: Handle, dependencies: *const Handle, _edges: *const u64, count: usize, params: *mut NodeParams) {
        add_any(node, graph, dependencies, count, params)
    }
    fn cuGraphNodeSetParams(node: Handle, params: *mut NodeParams) {
        set_any(node, params)
    }
    fn cuGraphNodeSetParams_v2(node: Handle, params: *mut NodeParams) {
        set_any(node, params)
    }
    fn cuGraphExecNodeSetParams(exec: Handle, node: Handle, params: *mut NodeParams) {
        set_in(exec, node, params.as_mut().ok_or(INVALID_VALUE)?.operation(None)?)
    }
    fn cuGraphKernelNodeGetParams_v2(node: Handle, params: *mut KernelNodeParams) {
        put(params, operation_of!(node, Kernel).params())
    }
    fn cuGraphKernelNodeSetParams_v2(node: Handle, params: *const KernelNodeParams) {
        set(node, kernel(params)?)
    }
    fn cuGraphExecKernelNodeSetParams_v2(exec: Handle, node: Handle, params: *const KernelNodeParams) {
        set_in(exec, node, kernel(params)?)
    }
    fn cuGraphKernelNodeGetAttribute(node: Handle, id: u32, value: *mut [u32; 16]) {
        put(value, operation_of!(node, Kernel).attribute(id).ok_or(INVALID_VALUE)?)
    }
    fn cuGraphKernelNodeSetAttribute(node: Handle, id: u32, value: *const [u32; 16]) {
        let mut changed = KernelNode::clone(&*operation_of!(node, Kernel));
        changed.set_attribute(id, *value.as_ref().ok_or(INVALID_VALUE)?)?;
        set(node, Operation::Kernel(Arc::new(changed)))
    }
    fn cuGraphKernelNodeCopyAttributes(to: Handle, from: Handle) {
        let source = operation_of!(from, Kernel);
        let mut changed = KernelNode::clone(&*operation_of!(to, Kernel));
        changed.copy_attributes(&source);
        set(to, Operation::Kernel(Arc::new(changed)))
    }
    fn cuGraphMemcpyNodeGetParams(node: Handle, params: *mut Copy3d) {
        put(params, operation_of!(node, Copy).params())
    }
    fn cuGraphMemcpyNodeSetParams(node: Handle, params: *const Copy3d) {
        set(node, copy(params)?)
    }
    fn cuGraphExecMemcpyNodeSetParams(exec: Handle, node: Handle, params: *const Copy3d, _context: Handle) {
        set_in(exec, node, copy(params)?)
    }
    fn cuGraphMemsetNodeGetParams(node: Handle, params: *mut MemsetNodeParams) {
        put(params, operation_of!(node, Fill).params())
    }
    fn cuGraphMemsetNodeSetParams(node: Handle, params: *const MemsetNodeParams) {
        set(node, fill(params)?)
    }
    fn cuGraphExecMemsetNodeSetParams(exec: Handle, node: Handle, params: *const MemsetNodeParams, _context: Handle) {
        set_in(exec, node, fill(params)?)
    }
    fn cuGraphHostNodeGetParams(node: Handle, params: *mut HostNodeParams) {
        let call = operation_of!(node, Host);
        put(params, HostNodeParams { function: Some(call.function), data: call.data as *mut c_void })
    }
    fn cuGraphHostNodeSetParams(node: Handle, params: *const HostNodeParams) {
        set(node, host(params)?)
    }
    fn cuGraphExecHostNodeSetParams(exec: Handle, node: Handle, params: *const HostNodeParams) {
        set_in(exec, node, host(params)?)
    }
    fn cuGraphChildGraphNodeGetGraph(node: Handle, out: *mut Handle) {
        put(out, super::identity::handle_of(&operation_of!(node, Child)))
    }
    fn cuGraphExecChildGraphNodeSetParams(exec: Handle, node: Handle, graph: Handle) {
        set_in(exec, node, child(graph)?)
    }
    fn cuGraphEventRecordNodeGetEvent(node: Handle, out: *mut Handle) {
        put(out, operation_of!(node, RecordEvent))
    }
    fn cuGraphEventRecordNodeSetEvent(node: Handle, mark: Handle) {
        set(node, event(mark, false)?)
    }
    fn cuGraphExecEventRecordNodeSetEvent(exec: Handle, node: Handle, mark: Handle) {
        set_in(exec, node, event(mark, false)?)
    }
    fn cuGraphEventWaitNodeGetEvent(node: Handle, out: *mut Handle) {
        put(out, operation_of!(node, WaitEvent))
    }
    fn cuGraphEventWaitNodeSetEvent(node: Handle, mark: Handle) {
        set(node, event(mark, true)?)
    }
    fn cuGraphExecEventWaitNodeSetEvent(exec: Handle, node: Handle, mark: Handle) {
        set_in(exec, node, event(mark, true)?)
    }
    fn cuGraphAddBatchMemOpNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, params: *const WordsNodeParams) {
        add(node, graph, dependencies, count, || words(params))
    }
    fn cuGraphBatchMemOpNodeGetParams(node: Handle, params: *mut WordsNodeParams) {
        let (graph, found) = find(node)?;
        let Operation::Words(batch) = found.operation else { return Err(INVALID_VALUE) };
        put(params, WordsNodeParams::of(&batch, &graph))
    }
    fn cuGraphBatchMemOpNodeSetParams(node: Handle, params: *const WordsNodeParams) {
        set(node, words(params)?)
    }
    fn cuGraphExecBatchMemOpNodeSetParams(exec: Handle, node: Handle, params: *const WordsNodeParams) {
        set_in(exec, node, words(params)?)
    }
    fn cuGraphAddKernelNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize, params: *const OldKernelNodeParams) {
        add(node, graph, dependencies, count, || old_kernel(params))
    }
    fn cuGraphKernelNodeGetParams(node: Handle, params: *mut OldKernelNodeParams) {
        put(params, operation_of!(node, Kernel).params().old())
    }
    fn cuGraphKernelNodeSetParams(node: Handle, params: *const OldKernelNodeParams) {
        set(node, old_kernel(params)?)
    }
    fn cuGraphExecKernelNodeSetParams(exec: Handle, node: Handle, params: *const OldKernelNodeParams) {
        set_in(exec, node, old_kernel(params)?)
    }
}
