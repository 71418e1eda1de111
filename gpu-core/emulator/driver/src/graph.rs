//! Graphs: recorded work, by capture or node by node, that is replayed as one piece.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::abi::*;
use crate::launch::KernelNodeParams;
use crate::memory::MemsetNodeParams;
use crate::state::{self, driver, lock};
use crate::stream::{Work, host_work};

/// What a node does (values of `CUgraphNodeType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum NodeKind {
    Kernel = 0,
    Memcpy = 1,
    Memset = 2,
    Host = 3,
    Child = 4,
    Empty = 5,
}

#[derive(Clone)]
pub struct Node {
    pub handle: Handle,
    pub kind: NodeKind,
    work: Work,
}

impl Node {
    pub fn new(kind: NodeKind, work: Work) -> Node {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        Node { handle: 0x4000_0000 + NEXT.fetch_add(1, Ordering::Relaxed) * 16, kind, work }
    }
}

/// Nodes in the order they were added, which every dependency respects: a node can only depend on earlier ones.
#[derive(Default)]
pub struct Graph {
    nodes: Mutex<Vec<Node>>,
}

impl Graph {
    pub fn push(&self, node: Node) -> Handle {
        let handle = node.handle;
        lock(&self.nodes).push(node);
        handle
    }

    fn copy(&self) -> Arc<Graph> {
        Arc::new(Graph { nodes: Mutex::new(lock(&self.nodes).clone()) })
    }

    /// Runs every node; returns the device time of all, in nanoseconds.
    fn run(&self) -> Result<f64, CUresult> {
        let nodes = lock(&self.nodes).clone();
        nodes.iter().try_fold(0.0, |total, node| Ok(total + (node.work)()?))
    }
}

const AUTO_FREE_ON_LAUNCH: u64 = 1;
const DEVICE_LAUNCH: u64 = 4;
const KNOWN_FLAGS: u64 = 15;

#[repr(C)]
pub struct InstantiateParams {
    flags: u64,
    upload_stream: Handle,
    error_node: Handle,
    result: u32,
}

#[repr(C)]
pub struct HostNodeParams {
    function: Option<unsafe extern "C" fn(*mut c_void)>,
    data: *mut c_void,
}

api! {
    fn cuGraphCreate(graph: *mut Handle, flags: u32) {
        state::current()?;
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        put(graph, driver().graphs.add(Arc::new(Graph::default())))
    }
    fn cuGraphDestroy(graph: Handle) {
        driver().graphs.remove(graph).map(drop)
    }
    fn cuGraphClone(clone: *mut Handle, original: Handle) {
        put(clone, driver().graphs.add(driver().graphs.get(original)?.copy()))
    }
    fn cuGraphInstantiateWithFlags(exec: *mut Handle, graph: Handle, flags: u64) {
        instantiate(exec, graph, flags)
    }
    fn cuGraphInstantiateWithParams(exec: *mut Handle, graph: Handle, params: *mut InstantiateParams) {
        let params = params.as_mut().ok_or(INVALID_VALUE)?;
        let answer = instantiate(exec, graph, params.flags);
        params.result = u32::from(answer.is_err());
        answer
    }
    fn cuGraphExecDestroy(exec: Handle) {
        driver().graph_execs.remove(exec).map(drop)
    }
    fn cuGraphUpload(exec: Handle, stream: Handle) {
        driver().graph_execs.get(exec)?;
        state::stream(stream).map(drop)
    }
    fn cuGraphLaunch(exec: Handle, stream: Handle) {
        let graph = driver().graph_execs.get(exec)?;
        let (context, stream) = state::stream(stream)?;
        stream.submit(&context, NodeKind::Child, Arc::new(move || graph.run())).map(drop)
    }
    fn cuGraphGetNodes(graph: Handle, nodes: *mut Handle, count: *mut usize) {
        let graph = driver().graphs.get(graph)?;
        let handles: Vec<Handle> = lock(&graph.nodes).iter().map(|node| node.handle).collect();
        let room = *count.as_ref().ok_or(INVALID_VALUE)?;
        if !nodes.is_null() {
            for (index, handle) in handles.iter().take(room).enumerate() {
                nodes.add(index).write(*handle);
            }
        }
        put(count, if nodes.is_null() { handles.len() } else { handles.len().min(room) })
    }
    fn cuGraphNodeGetType(node: Handle, kind: *mut u32) {
        let found = driver().graphs.all().iter().find_map(|(_, graph)| {
            lock(&graph.nodes).iter().find(|other| other.handle == node).map(|other| other.kind)
        });
        put(kind, found.ok_or(INVALID_VALUE)? as u32)
    }
    fn cuGraphAddEmptyNode(node: *mut Handle, graph: Handle, _dependencies: *const Handle, _count: usize) {
        add(node, graph, NodeKind::Empty, Arc::new(|| Ok(0.0)))
    }
    fn cuGraphAddHostNode(node: *mut Handle, graph: Handle, _dependencies: *const Handle, _count: usize, params: *const HostNodeParams) {
        let params = params.as_ref().ok_or(INVALID_VALUE)?;
        add(node, graph, NodeKind::Host, host_work(params.function, params.data)?)
    }
    fn cuGraphAddKernelNode_v2(node: *mut Handle, graph: Handle, _dependencies: *const Handle, _count: usize, params: *const KernelNodeParams) {
        let work = params.as_ref().ok_or(INVALID_VALUE)?.work()?;
        add(node, graph, NodeKind::Kernel, work)
    }
    fn cuGraphAddMemsetNode(node: *mut Handle, graph: Handle, _dependencies: *const Handle, _count: usize, params: *const MemsetNodeParams, _context: Handle) {
        let work = params.as_ref().ok_or(INVALID_VALUE)?.work()?;
        add(node, graph, NodeKind::Memset, work)
    }
    fn cuGraphAddChildGraphNode(node: *mut Handle, graph: Handle, _dependencies: *const Handle, _count: usize, child: Handle) {
        let child = driver().graphs.get(child)?.copy();
        add(node, graph, NodeKind::Child, Arc::new(move || child.run()))
    }
}

fn add(out: *mut Handle, graph: Handle, kind: NodeKind, work: Work) -> Answer {
    let handle = driver().graphs.get(graph)?.push(Node::new(kind, work));
    unsafe { put(out, handle) }
}

fn instantiate(out: *mut Handle, graph: Handle, flags: u64) -> Answer {
    let graph = driver().graphs.get(graph)?;
    if flags & !KNOWN_FLAGS != 0 || flags & (DEVICE_LAUNCH | AUTO_FREE_ON_LAUNCH) == DEVICE_LAUNCH | AUTO_FREE_ON_LAUNCH
    {
        return Err(INVALID_VALUE);
    }
    if flags & DEVICE_LAUNCH != 0 {
        explain("graphs launched from the device are not supported by the emulator");
        return Err(NOT_SUPPORTED);
    }
    unsafe { put(out, driver().graph_execs.add(graph.copy())) }
}
