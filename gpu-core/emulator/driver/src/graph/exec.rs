//! Executable graphs: instantiation, launch, update.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use super::{Graph, LaunchContext, Operation};
use crate::abi::*;
use crate::state::{self, driver, lock};
use crate::stream::Ticket;

/// A graph made ready to be launched.
pub struct Executable {
    pub graph: Arc<Graph>,
    /// What it was made from.
    source: Arc<Graph>,
    flags: u64,
    disabled: Mutex<Vec<Handle>>,
}

impl Drop for Executable {
    fn drop(&mut self) {
        self.source.instances.fetch_sub(1, Ordering::Relaxed);
    }
}

const AUTO_FREE_ON_LAUNCH: u64 = 1;
const DEVICE_LAUNCH: u64 = 4;
const KNOWN_FLAGS: u64 = 15;

/// Values of `CUgraphInstantiateResult`.
const INSTANTIATED: u32 = 0;
const INSTANTIATE_ERROR: u32 = 1;
const INVALID_STRUCTURE: u32 = 2;

#[repr(C)]
pub struct InstantiateParams {
    flags: u64,
    upload_stream: Handle,
    error_node: Handle,
    result: u32,
}

fn instantiate(out: *mut Handle, graph: Handle, flags: u64) -> Result<(), (CUresult, u32)> {
    let refuse = |code: CUresult| (code, INSTANTIATE_ERROR);
    let graph = driver().graphs.get(graph).map_err(refuse)?;
    crate::capture::forbid_unsafe().map_err(refuse)?;
    let device_and_auto_free = DEVICE_LAUNCH | AUTO_FREE_ON_LAUNCH;
    if flags & !KNOWN_FLAGS != 0 || flags & device_and_auto_free == device_and_auto_free || out.is_null() {
        return Err(refuse(INVALID_VALUE));
    }
    if flags & DEVICE_LAUNCH != 0 {
        explain("graphs launched from the device are not supported by the emulator");
        return Err(refuse(NOT_SUPPORTED));
    }
    if !graph.is_acyclic() {
        explain("the dependencies of the graph's nodes form a cycle");
        return Err((INVALID_VALUE, INVALID_STRUCTURE));
    }
    if graph.has_memory() && graph.instances.load(Ordering::Relaxed) > 0 {
        explain("a graph with memory nodes can be instantiated once at a time");
        return Err(refuse(INVALID_VALUE));
    }
    graph.instances.fetch_add(1, Ordering::Relaxed);
    let exec = Executable { graph: graph.copy(false), source: graph, flags, disabled: Mutex::default() };
    unsafe { put(out, driver().graph_execs.add(Arc::new(exec))) }.map_err(refuse)
}

fn launch(exec: Handle, stream: Handle) -> Answer {
    let exec = state::initialised()?.graph_execs.get(exec)?;
    let (context, stream) = state::stream(stream)?;
    if stream.capture().is_some() {
        return stream.submit(&context, Operation::Child(exec.graph.copy(true))).map(drop);
    }
    let auto_free = super::memory::begin_launch(&exec.graph, exec.flags & AUTO_FREE_ON_LAUNCH != 0)?;
    // Events are marked as of now: who waits for one after this call waits for the launch.
    let (mut marks, mut waits) = (HashMap::new(), HashMap::new());
    exec.graph.each(&mut |node| match node.operation {
        Operation::RecordEvent(event) => {
            if let Ok(event) = driver().events.get(event) {
                let ticket = Arc::new(Ticket::default());
                event.mark(ticket.clone());
                marks.insert(node.handle, ticket);
            }
        }
        Operation::WaitEvent(event) => {
            if let Some(ticket) = driver().events.get(event).ok().and_then(|event| event.ticket()) {
                waits.insert(node.handle, ticket);
            }
        }
        _ => {}
    });
    let graph = exec.graph.copy(false);
    let disabled = lock(&exec.disabled).clone();
    let work = Box::new(move |start_ns: f64| {
        for address in auto_free {
            let _ = crate::memory::release(address);
        }
        let launch = LaunchContext { start_ns, marks, waits };
        let outcome = graph.run(&launch, &disabled);
        // After a failure nobody may be left waiting.
        let end_ns = start_ns + outcome.unwrap_or(0.0);
        launch.marks.values().filter(|ticket| ticket.end_ns().is_none()).for_each(|ticket| ticket.finish(end_ns));
        outcome
    });
    stream.enqueue(&context, Some(work));
    Ok(())
}

/// Values of `CUgraphExecUpdateResult`.
const TOPOLOGY_CHANGED: u32 = 2;
const NODE_TYPE_CHANGED: u32 = 3;

#[repr(C)]
pub struct UpdateInfo {
    result: u32,
    error_node: Handle,
    error_from_node: Handle,
}

/// Takes over a graph's operations where it has the same shape.
fn update(exec: Handle, graph: Handle) -> Result<(), (CUresult, UpdateInfo)> {
    let fail = |code: CUresult, result: u32, error_node: Handle| {
        Err((code, UpdateInfo { result, error_node, error_from_node: 0 }))
    };
    let (exec, graph) = match (driver().graph_execs.get(exec), driver().graphs.get(graph)) {
        (Ok(exec), Ok(graph)) => (exec, graph),
        (Err(code), _) | (_, Err(code)) => return fail(code, 0, 0),
    };
    let fresh = lock(&graph.nodes).clone();
    let mut own = lock(&exec.graph.nodes);
    if own.len() != fresh.len() {
        return fail(GRAPH_EXEC_UPDATE_FAILURE, TOPOLOGY_CHANGED, 0);
    }
    let index = |nodes: &[super::Node], handle: Handle| nodes.iter().position(|node| node.handle == handle);
    for (mine, theirs) in own.iter().zip(&fresh) {
        if mine.operation.kind() != theirs.operation.kind() {
            return fail(GRAPH_EXEC_UPDATE_FAILURE, NODE_TYPE_CHANGED, theirs.handle);
        }
        let edges: Vec<_> = mine.dependencies.iter().map(|handle| index(&own, *handle)).collect();
        if edges != theirs.dependencies.iter().map(|handle| index(&fresh, *handle)).collect::<Vec<_>>() {
            return fail(GRAPH_EXEC_UPDATE_FAILURE, TOPOLOGY_CHANGED, theirs.handle);
        }
    }
    for (mine, theirs) in own.iter_mut().zip(fresh) {
        mine.operation = theirs.operation;
    }
    Ok(())
}

api_with_streams! {
    fn cuGraphInstantiateWithFlags(exec: *mut Handle, graph: Handle, flags: u64) {
        instantiate(exec, graph, flags).map_err(|(code, _)| code)
    }
    fn cuGraphInstantiate_v2(exec: *mut Handle, graph: Handle, error_node: *mut Handle, _log: *mut u8, _bytes: usize) {
        put_optional(error_node, 0);
        instantiate(exec, graph, 0).map_err(|(code, _)| code)
    }
    fn cuGraphInstantiateWithParams(exec: *mut Handle, graph: Handle, params: *mut InstantiateParams) {
        let params = params.as_mut().ok_or(INVALID_VALUE)?;
        let answer = instantiate(exec, graph, params.flags);
        params.error_node = 0;
        params.result = answer.map_or_else(|(_, result)| result, |()| INSTANTIATED);
        answer.map_err(|(code, _)| code)
    }
    fn cuGraphExecGetFlags(exec: Handle, flags: *mut u64) {
        put(flags, driver().graph_execs.get(exec)?.flags)
    }
    fn cuGraphExecDestroy(exec: Handle) {
        driver().graph_execs.remove(exec).map(drop)
    }
    fn cuGraphUpload(exec: Handle, stream: Handle) {
        driver().graph_execs.get(exec)?;
        state::stream(stream).map(drop)
    }
    fn cuGraphLaunch(exec: Handle, stream: Handle) {
        launch(exec, stream)
    }
    fn cuGraphExecUpdate(exec: Handle, graph: Handle, error_node: *mut Handle, result: *mut u32) {
        let answer = update(exec, graph);
        put_optional(error_node, answer.as_ref().map_or_else(|(_, info)| info.error_node, |()| 0));
        put_optional(result, answer.as_ref().map_or_else(|(_, info)| info.result, |()| 0));
        answer.map_err(|(code, _)| code)
    }
    fn cuGraphExecUpdate_v2(exec: Handle, graph: Handle, info: *mut UpdateInfo) {
        match update(exec, graph) {
            Ok(()) => {
                put_optional(info, UpdateInfo { result: 0, error_node: 0, error_from_node: 0 });
                Ok(())
            }
            Err((code, why)) => {
                put_optional(info, why);
                Err(code)
            }
        }
    }
    fn cuGraphNodeSetEnabled(exec: Handle, node: Handle, enabled: u32) {
        let exec = driver().graph_execs.get(exec)?;
        let holder = exec.graph.holder(node).ok_or(INVALID_VALUE)?;
        let kind = lock(&holder.nodes).iter().find(|other| other.handle == node).map(|other| other.operation.kind());
        // Kernels, copies and fills only, says the manual.
        if !matches!(kind, Some(0..=2)) {
            return Err(INVALID_VALUE);
        }
        let mut disabled = lock(&exec.disabled);
        disabled.retain(|other| *other != node);
        if enabled == 0 {
            disabled.push(node);
        }
        Ok(())
    }
    fn cuGraphNodeGetEnabled(exec: Handle, node: Handle, enabled: *mut u32) {
        let exec = driver().graph_execs.get(exec)?;
        exec.graph.holder(node).ok_or(INVALID_VALUE)?;
        put(enabled, u32::from(!lock(&exec.disabled).contains(&node)))
    }
}
