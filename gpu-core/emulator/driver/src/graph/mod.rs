//! Graphs: recorded work, by capture or node by node, that is replayed as one piece.

mod conditional;
mod edges;
mod exec;
mod identity;
mod memory;
mod nodes;
mod objects;
mod picture;

pub use conditional::Conditional;
pub use memory::check_free;

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use crate::abi::*;
use crate::launch::KernelNode;
use crate::memory::allocation;
use crate::memory::copy::{Block, Fill};
use crate::memory::of_graphs::{self, Address};
use crate::memory::words::{Batch, Params};
use crate::process::{Registry, lock};
use crate::work::stream::{Stream, call_back};
use crate::work::ticket::{Ticket, host_now_ns};
use crate::work::{Context, order};
use exec::Executable;

/// Graphs by handle.
pub static GRAPHS: LazyLock<Registry<Graph>> = LazyLock::new(|| Registry::new(INVALID_VALUE));
/// Graphs made ready to be launched, by handle.
static EXECUTABLES: LazyLock<Registry<Executable>> = LazyLock::new(|| Registry::new(INVALID_VALUE));

/// Queues an operation in a stream, or records it when the stream is capturing.
pub fn submit(stream: &Arc<Stream>, context: &Arc<Context>, operation: Operation) -> Result<Arc<Ticket>, CUresult> {
    if let Some(capture) = stream.capture() {
        if capture.is_invalid() {
            return Err(STREAM_CAPTURE_INVALIDATED);
        }
        let node = GRAPHS.get(capture.graph)?.push(operation, &stream.tail())?;
        stream.come_after(&[node], true);
        return Ok(Ticket::finished_at(host_now_ns()));
    }
    Ok(stream.enqueue(context, Some(Box::new(move |_| operation.run()))))
}

/// What a node does.
#[derive(Clone)]
pub enum Operation {
    Kernel(Arc<KernelNode>),
    Copy(Block),
    Fill(Fill),
    Host(HostCall),
    Child(Arc<Graph>),
    Conditional(Arc<Conditional>),
    Empty,
    WaitEvent(Handle),
    RecordEvent(Handle),
    Alloc(Address),
    Free(CUdeviceptr),
    Words(Batch),
}

impl Operation {
    /// The value of `CUgraphNodeType`.
    fn kind(&self) -> u32 {
        match self {
            Operation::Kernel(_) => 0,
            Operation::Copy(_) => 1,
            Operation::Fill(_) => 2,
            Operation::Host(_) => 3,
            Operation::Child(_) => 4,
            Operation::Empty => 5,
            Operation::WaitEvent(_) => 6,
            Operation::RecordEvent(_) => 7,
            Operation::Alloc(_) => 10,
            Operation::Free(_) => 11,
            Operation::Words(_) => 12,
            Operation::Conditional(_) => 13,
        }
    }

    /// Does it once, and gives its device time in nanoseconds. Children and events need their graph's launch.
    pub fn run(&self) -> Result<f64, CUresult> {
        match self {
            Operation::Kernel(kernel) => kernel.run(None),
            Operation::Copy(block) => block.run(),
            Operation::Fill(fill) => fill.run(),
            Operation::Host(call) => call.run(),
            Operation::Words(batch) => batch.run(),
            Operation::Alloc(address) => of_graphs::come_alive(*address),
            Operation::Free(address) => allocation::release_in_order(*address).map(|()| 0.0),
            Operation::Empty
            | Operation::Child(_)
            | Operation::Conditional(_)
            | Operation::WaitEvent(_)
            | Operation::RecordEvent(_) => Ok(0.0),
        }
    }

    /// The graphs inside.
    fn inner(&self) -> &[Arc<Graph>] {
        match self {
            Operation::Child(graph) => std::slice::from_ref(graph),
            Operation::Conditional(node) => &node.bodies,
            _ => &[],
        }
    }
}

/// A host function and its argument.
#[derive(Clone, Copy)]
pub struct HostCall {
    function: unsafe extern "C" fn(*mut c_void),
    data: usize,
}

impl HostCall {
    pub fn new(function: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void) -> Result<HostCall, CUresult> {
        Ok(HostCall { function: function.ok_or(INVALID_VALUE)?, data: data as usize })
    }

    fn run(&self) -> Result<f64, CUresult> {
        call_back(|| unsafe { (self.function)(self.data as *mut c_void) });
        order::tell_host();
        Ok(0.0)
    }
}

#[derive(Clone)]
pub struct Node {
    pub handle: Handle,
    pub operation: Operation,
    pub dependencies: Vec<Handle>,
    /// The node that it is a clone of; its own handle when it is none.
    original: Handle,
    /// Nodes are numbered in the order they were added to their graph.
    number: u32,
}

fn next_handle() -> Handle {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    0x4000_0000 + NEXT.fetch_add(1, Ordering::Relaxed) * 16
}

/// Nodes in the order they were added.
#[derive(Default)]
pub struct Graph {
    id: identity::Id,
    nodes: Mutex<Vec<Node>>,
    /// The number of the next node.
    next: AtomicU32,
    /// The program's objects that must outlive it and its copies.
    objects: Mutex<Vec<Arc<objects::UserObject>>>,
    /// Lists that a program asked for and may look into.
    shown: Mutex<Vec<Arc<Batch>>>,
    /// Instantiations alive: graphs with memory or conditional nodes may have one.
    instances: AtomicUsize,
    /// One list for a graph and the bodies in it.
    conditions: Arc<conditional::Known>,
    /// It belongs to a conditional node.
    is_body: bool,
}

/// What a launch of a graph knows: where it starts on the virtual clock, and the events that its nodes mark.
pub struct LaunchContext {
    start_ns: f64,
    marks: HashMap<Handle, Arc<Ticket>>,
    waits: HashMap<Handle, Arc<Ticket>>,
    conditions: Arc<ptx_emulator::Conditions>,
}

impl LaunchContext {
    /// The same for a graph inside, which starts later.
    fn at(&self, start_ns: f64) -> LaunchContext {
        let LaunchContext { marks, waits, conditions, .. } = self;
        LaunchContext { start_ns, marks: marks.clone(), waits: waits.clone(), conditions: conditions.clone() }
    }
}

impl Graph {
    /// Adds a node behind others of this graph.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a dependency that is no node of the graph, or is given twice.
    pub fn push(&self, operation: Operation, dependencies: &[Handle]) -> Result<Handle, CUresult> {
        let mut nodes = lock(&self.nodes);
        for (index, dependency) in dependencies.iter().enumerate() {
            if dependencies[..index].contains(dependency) || !nodes.iter().any(|node| node.handle == *dependency) {
                return Err(INVALID_VALUE);
            }
        }
        let handle = next_handle();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        nodes.push(Node { handle, operation, dependencies: dependencies.to_vec(), original: handle, number });
        Ok(handle)
    }

    /// Keeps a node's list for as long as the graph lives, and gives its address.
    fn keep_words(&self, batch: Batch) -> *const Params {
        let batch = Arc::new(batch);
        let start = batch.params().as_ptr();
        lock(&self.shown).push(batch);
        start
    }

    fn has_memory(&self) -> bool {
        self.any(&|operation| matches!(operation, Operation::Alloc(_) | Operation::Free(_)))
    }

    /// Whether it has conditional nodes, or is part of one: such graphs cannot be copied.
    pub fn is_conditional(&self) -> bool {
        self.is_body || self.any(&|operation| matches!(operation, Operation::Conditional(_)))
    }

    /// Whether an operation, of the graphs inside too, is of some kind.
    fn any(&self, is: &dyn Fn(&Operation) -> bool) -> bool {
        let nodes = lock(&self.nodes).clone();
        nodes.iter().any(|node| is(&node.operation) || node.operation.inner().iter().any(|graph| graph.any(is)))
    }

    /// A copy, children included; with new handles for a clone, with the same for an executable graph.
    fn copy(&self, fresh: bool) -> Arc<Graph> {
        let mut nodes = lock(&self.nodes).clone();
        if fresh {
            let renamed: HashMap<Handle, Handle> = nodes.iter().map(|node| (node.handle, next_handle())).collect();
            for node in &mut nodes {
                node.original = node.handle;
                node.handle = renamed[&node.handle];
                for dependency in &mut node.dependencies {
                    *dependency = renamed.get(dependency).copied().unwrap_or(*dependency);
                }
            }
        }
        for node in &mut nodes {
            match &node.operation {
                Operation::Child(child) => node.operation = Operation::Child(child.copy(fresh)),
                Operation::Conditional(inner) => node.operation = Operation::Conditional(Arc::new(inner.copy())),
                _ => {}
            }
        }
        let objects = Mutex::new(lock(&self.objects).clone());
        let next = AtomicU32::new(self.next.load(Ordering::Relaxed));
        Arc::new(Graph { nodes: Mutex::new(nodes), next, objects, ..Graph::default() })
    }

    /// Positions of the nodes so that each follows its dependencies; None when they form a cycle.
    fn order(nodes: &[Node]) -> Option<Vec<usize>> {
        let index: HashMap<Handle, usize> = nodes.iter().enumerate().map(|(at, node)| (node.handle, at)).collect();
        let mut waiting: Vec<usize> = nodes.iter().map(|node| node.dependencies.len()).collect();
        let mut followers: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        for (at, node) in nodes.iter().enumerate() {
            for dependency in &node.dependencies {
                followers[*index.get(dependency)?].push(at);
            }
        }
        let mut order: Vec<usize> = (0..nodes.len()).filter(|at| waiting[*at] == 0).collect();
        let mut done = 0;
        while let Some(&at) = order.get(done) {
            done += 1;
            for &follower in &followers[at] {
                waiting[follower] -= 1;
                if waiting[follower] == 0 {
                    order.push(follower);
                }
            }
        }
        (order.len() == nodes.len()).then_some(order)
    }

    /// Whether every node, children included, can be put in order.
    fn is_acyclic(&self) -> bool {
        let nodes = lock(&self.nodes).clone();
        nodes.iter().all(|node| node.operation.inner().iter().all(|graph| graph.is_acyclic()))
            && Graph::order(&nodes).is_some()
    }

    /// Whether `late` is one of `from` or comes after one of them.
    pub fn reaches(&self, from: &[Handle], late: &[Handle]) -> bool {
        let nodes = lock(&self.nodes);
        let mut todo = late.to_vec();
        let mut seen = Vec::new();
        while let Some(next) = todo.pop() {
            if seen.contains(&next) {
                continue;
            }
            seen.push(next);
            if let Some(node) = nodes.iter().find(|node| node.handle == next) {
                todo.extend(&node.dependencies);
            }
        }
        from.iter().all(|node| seen.contains(node))
    }

    /// Runs every node that is not disabled, each behind its dependencies; gives the time of the longest chain.
    fn run(&self, launch: &LaunchContext, disabled: &[Handle]) -> Result<f64, CUresult> {
        let nodes = lock(&self.nodes).clone();
        let order = Graph::order(&nodes).ok_or(INVALID_VALUE)?;
        let mut ends: HashMap<Handle, f64> = HashMap::new();
        let mut last = launch.start_ns;
        let mut moments = order::Nodes::default();
        for at in order {
            let node = &nodes[at];
            let ready = node.dependencies.iter().filter_map(|dependency| ends.get(dependency).copied());
            let start_ns = ready.fold(launch.start_ns, f64::max);
            let took = moments.during(node.handle, &node.dependencies, || match &node.operation {
                _ if disabled.contains(&node.handle) => Ok(0.0),
                Operation::Child(child) => child.run(&launch.at(start_ns), disabled),
                Operation::Conditional(inner) => inner.run(launch, start_ns, disabled),
                Operation::Kernel(kernel) => kernel.run(Some(launch.conditions.clone())),
                Operation::WaitEvent(_) => {
                    let ready_ns = launch.waits.get(&node.handle).map_or(start_ns, |ticket| ticket.done());
                    Ok((ready_ns - start_ns).max(0.0))
                }
                Operation::RecordEvent(_) => {
                    if let Some(ticket) = launch.marks.get(&node.handle) {
                        ticket.finish(start_ns);
                    }
                    Ok(0.0)
                }
                operation => operation.run(),
            })?;
            ends.insert(node.handle, start_ns + took);
            last = last.max(start_ns + took);
        }
        Ok(last - launch.start_ns)
    }

    /// Calls `visit` with every node, children's included.
    fn each(&self, visit: &mut dyn FnMut(&Node)) {
        let nodes = lock(&self.nodes).clone();
        for node in &nodes {
            visit(node);
            node.operation.inner().iter().for_each(|graph| graph.each(visit));
        }
    }

    /// The graph, this one or one inside, that holds a node.
    fn holder(self: &Arc<Self>, node: Handle) -> Option<Arc<Graph>> {
        let nodes = lock(&self.nodes).clone();
        if nodes.iter().any(|other| other.handle == node) {
            return Some(self.clone());
        }
        nodes.iter().find_map(|other| other.operation.inner().iter().find_map(|graph| graph.holder(node)))
    }

    /// Changes a node's operation to another of the same kind.
    fn replace(&self, node: Handle, operation: Operation) -> Answer {
        let mut nodes = lock(&self.nodes);
        let found = nodes.iter_mut().find(|other| other.handle == node).ok_or(INVALID_VALUE)?;
        if found.operation.kind() != operation.kind() {
            return Err(INVALID_VALUE);
        }
        found.operation = operation;
        Ok(())
    }
}

/// The graph that holds a node, and the node as it is now.
fn find(node: Handle) -> Result<(Arc<Graph>, Node), CUresult> {
    let graph = GRAPHS.all().iter().find_map(|(_, graph)| graph.holder(node)).ok_or(INVALID_VALUE)?;
    let found = lock(&graph.nodes).iter().find(|other| other.handle == node).cloned();
    Ok((graph, found.ok_or(INVALID_VALUE)?))
}

/// Reads a caller's list of handles.
unsafe fn handles(list: *const Handle, count: usize) -> Result<Vec<Handle>, CUresult> {
    match (list.is_null(), count) {
        (_, 0) => Ok(Vec::new()),
        (true, _) => Err(INVALID_VALUE),
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(list, count) }.to_vec()),
    }
}

/// All entry points of the folder.
pub fn entries() -> Vec<(&'static str, *const c_void)> {
    [
        conditional::entries(),
        edges::entries(),
        exec::entries(),
        identity::entries(),
        memory::entries(),
        nodes::entries(),
        objects::entries(),
        picture::entries(),
    ]
    .concat()
}
