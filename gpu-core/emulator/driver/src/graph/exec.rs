//! Executable graphs: instantiation, launch, update.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use super::conditional::{self, Condition};
use super::{EXECUTABLES, GRAPHS, Graph, LaunchContext, Operation, submit};
use crate::abi::*;
use crate::memory::allocation;
use crate::process::{self, lock};
use crate::work;
use crate::work::capture::forbid_unsafe;
use crate::work::event::EVENTS;
use crate::work::ticket::Ticket;

/// A graph made ready to be launched.
pub struct Executable {
    pub graph: Arc<Graph>,
    /// What it was made from.
    source: Arc<Graph>,
    flags: u64,
    disabled: Mutex<Vec<Handle>>,
    /// The conditions, and the values that they have from launch to launch.
    conditions: Mutex<(Vec<Condition>, Arc<ptx_emulator::Conditions>)>,
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
const CONDITION_UNUSED: u32 = 5;

#[repr(C)]
pub struct InstantiateParams {
    flags: u64,
    upload_stream: Handle,
    error_node: Handle,
    result: u32,
}

/// Gives the result code, a `CUgraphInstantiateResult` and the node to blame where it fails.
fn instantiate(out: *mut Handle, graph: Handle, flags: u64) -> Result<(), (CUresult, u32, Handle)> {
    let refuse = |code: CUresult| (code, INSTANTIATE_ERROR, 0);
    let graph = GRAPHS.get(graph).map_err(refuse)?;
    forbid_unsafe().map_err(refuse)?;
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
        return Err((INVALID_VALUE, INVALID_STRUCTURE, 0));
    }
    if graph.has_memory() && graph.instances.load(Ordering::Relaxed) > 0 {
        explain("a graph with memory nodes can be instantiated once at a time");
        return Err(refuse(INVALID_VALUE));
    }
    if graph.is_body || graph.is_conditional() && graph.instances.load(Ordering::Relaxed) > 0 {
        explain("a graph with conditional nodes can be instantiated once at a time, and a body only with its graph");
        return Err(refuse(NOT_SUPPORTED));
    }
    if graph.conditions.any_unused() {
        explain("a handle of cuGraphConditionalHandleCreate has no conditional node");
        return Err((INVALID_VALUE, CONDITION_UNUSED, 0));
    }
    if let Some((result, node)) = conditional::misfit(&graph, false) {
        explain(
            "the bodies of conditional nodes may hold kernels, fills, copies between device memory, empty nodes and more graphs of these",
        );
        return Err((INVALID_VALUE, result, node));
    }
    graph.instances.fetch_add(1, Ordering::Relaxed);
    let conditions = graph.conditions.all();
    let values = conditional::first_values(&conditions);
    let copy = graph.copy(false);
    let conditions = Mutex::new((conditions, values));
    let exec = Executable { graph: copy, source: graph, flags, disabled: Mutex::default(), conditions };
    unsafe { put(out, EXECUTABLES.add(Arc::new(exec))) }.map_err(refuse)
}

fn launch(exec: Handle, stream: Handle) -> Answer {
    process::initialised()?;
    let exec = EXECUTABLES.get(exec)?;
    let (context, stream) = work::stream(stream)?;
    if let Some(capture) = stream.capture() {
        if exec.graph.is_conditional() {
            explain("a launch of a graph with conditional nodes cannot be captured");
            capture.invalidate();
            return Err(STREAM_CAPTURE_UNSUPPORTED);
        }
        return submit(&stream, &context, Operation::Child(exec.graph.copy(true))).map(drop);
    }
    let auto_free = super::memory::begin_launch(&exec.graph, exec.flags & AUTO_FREE_ON_LAUNCH != 0)?;
    // Events are marked as of now: who waits for one after this call waits for the launch.
    let (mut marks, mut waits) = (HashMap::new(), HashMap::new());
    exec.graph.each(&mut |node| match node.operation {
        Operation::RecordEvent(event) => {
            if let Ok(event) = EVENTS.get(event) {
                let ticket = Arc::new(Ticket::default());
                event.mark(ticket.clone());
                marks.insert(node.handle, ticket);
            }
        }
        Operation::WaitEvent(event) => {
            if let Some(ticket) = EVENTS.get(event).ok().and_then(|event| event.ticket()) {
                waits.insert(node.handle, ticket);
            }
        }
        _ => {}
    });
    let graph = exec.graph.copy(false);
    let disabled = lock(&exec.disabled).clone();
    let (conditions, values) = lock(&exec.conditions).clone();
    let work = Box::new(move |start_ns: f64| {
        for address in auto_free {
            let _ = allocation::release(address);
        }
        conditional::assign_defaults(&conditions, &values);
        let launch = LaunchContext { start_ns, marks, waits, conditions: values };
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
const UPDATE_NOT_SUPPORTED: u32 = 6;

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
    let (exec, graph) = match (EXECUTABLES.get(exec), GRAPHS.get(graph)) {
        (Ok(exec), Ok(graph)) => (exec, graph),
        (Err(code), _) | (_, Err(code)) => return fail(code, 0, 0),
    };
    if let Err((why, node)) = compare(&exec.graph, &graph) {
        return fail(GRAPH_EXEC_UPDATE_FAILURE, why, node);
    }
    let mut conditions = lock(&exec.conditions);
    let theirs = graph.conditions.all();
    let values = conditional::first_values(&theirs);
    exec.graph.adopt(&graph, &mut |old, new| values.put(new, conditions.1.get(old).unwrap_or(0)));
    *conditions = (theirs, values);
    Ok(())
}

/// Whether a graph has the shape of another, those inside too; else a `CUgraphExecUpdateResult` and the node.
fn compare(mine: &Graph, theirs: &Graph) -> Result<(), (u32, Handle)> {
    let (own, fresh) = (lock(&mine.nodes).clone(), lock(&theirs.nodes).clone());
    if own.len() != fresh.len() {
        return Err((TOPOLOGY_CHANGED, 0));
    }
    let index = |nodes: &[super::Node], handle: Handle| nodes.iter().position(|node| node.handle == handle);
    for (mine, theirs) in own.iter().zip(&fresh) {
        if mine.operation.kind() != theirs.operation.kind() {
            return Err((NODE_TYPE_CHANGED, theirs.handle));
        }
        let edges: Vec<_> = mine.dependencies.iter().map(|handle| index(&own, *handle)).collect();
        if edges != theirs.dependencies.iter().map(|handle| index(&fresh, *handle)).collect::<Vec<_>>() {
            return Err((TOPOLOGY_CHANGED, theirs.handle));
        }
        if let (Operation::Conditional(old), Operation::Conditional(new)) = (&mine.operation, &theirs.operation)
            && (old.kind != new.kind || old.bodies.len() != new.bodies.len())
        {
            return Err((UPDATE_NOT_SUPPORTED, theirs.handle));
        }
        for (old, new) in mine.operation.inner().iter().zip(theirs.operation.inner()) {
            compare(old, new)?;
        }
    }
    Ok(())
}

impl Graph {
    /// Takes over the operations of a graph of the same shape; `renamed` hears of each condition that has another handle now.
    fn adopt(&self, theirs: &Graph, renamed: &mut dyn FnMut(u64, u64)) {
        let fresh = lock(&theirs.nodes).clone();
        for (mine, theirs) in lock(&self.nodes).iter_mut().zip(fresh) {
            for (old, new) in mine.operation.inner().iter().zip(theirs.operation.inner()) {
                old.adopt(new, renamed);
            }
            match (&mine.operation, &theirs.operation) {
                (Operation::Child(_), _) => {}
                (Operation::Conditional(old), Operation::Conditional(new)) => {
                    renamed(old.condition, new.condition);
                    mine.operation = Operation::Conditional(Arc::new(old.with(new.condition)));
                }
                _ => mine.operation = theirs.operation,
            }
        }
    }
}

/// Kernels, copies and fills only, says the manual.
fn can_be_disabled(graph: &Arc<Graph>, node: Handle) -> Answer {
    let holder = graph.holder(node).ok_or(INVALID_VALUE)?;
    let kind = lock(&holder.nodes).iter().find(|other| other.handle == node).map(|other| other.operation.kind());
    if matches!(kind, Some(0..=2)) { Ok(()) } else { Err(INVALID_VALUE) }
}

api_with_streams! {
    fn cuGraphInstantiateWithFlags(exec: *mut Handle, graph: Handle, flags: u64) {
        instantiate(exec, graph, flags).map_err(|(code, ..)| code)
    }
    fn cuGraphInstantiate_v2(exec: *mut Handle, graph: Handle, error_node: *mut Handle, _log: *mut u8, _bytes: usize) {
        let answer = instantiate(exec, graph, 0);
        put_optional(error_node, answer.map_or_else(|(.., node)| node, |()| 0));
        answer.map_err(|(code, ..)| code)
    }
    fn cuGraphInstantiateWithParams(exec: *mut Handle, graph: Handle, params: *mut InstantiateParams) {
        let params = params.as_mut().ok_or(INVALID_VALUE)?;
        let answer = instantiate(exec, graph, params.flags);
        (params.result, params.error_node) = answer.map_or_else(|(_, result, node)| (result, node), |()| (INSTANTIATED, 0));
        answer.map_err(|(code, ..)| code)
    }
    fn cuGraphExecGetFlags(exec: Handle, flags: *mut u64) {
        put(flags, EXECUTABLES.get(exec)?.flags)
    }
    fn cuGraphExecDestroy(exec: Handle) {
        EXECUTABLES.remove(exec).map(drop)
    }
    fn cuGraphUpload(exec: Handle, stream: Handle) {
        EXECUTABLES.get(exec)?;
        work::stream(stream).map(drop)
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
        let exec = EXECUTABLES.get(exec)?;
        can_be_disabled(&exec.graph, node)?;
        let mut disabled = lock(&exec.disabled);
        disabled.retain(|other| *other != node);
        if enabled == 0 {
            disabled.push(node);
        }
        Ok(())
    }
    fn cuGraphNodeGetEnabled(exec: Handle, node: Handle, enabled: *mut u32) {
        let exec = EXECUTABLES.get(exec)?;
        can_be_disabled(&exec.graph, node)?;
        put(enabled, u32::from(!lock(&exec.disabled).contains(&node)))
    }
}
