//! Dependencies between nodes.

use super::{GRAPHS, find, handles};
use crate::abi::*;
use crate::process::lock;

/// Full completion with memory visibility: the only kind of edge here (`CUgraphEdgeData` of zeros).
const PLAIN_EDGE: u64 = 0;

/// Copies a list out as CUDA's list queries do: the count alone without room, else as many as fit, the rest zero.
unsafe fn list(found: &[Handle], out: *mut Handle, count: *mut usize) -> Answer {
    let room = *unsafe { count.as_ref() }.ok_or(INVALID_VALUE)?;
    if out.is_null() {
        return unsafe { put(count, found.len()) };
    }
    for index in 0..room {
        unsafe { out.add(index).write(found.get(index).copied().unwrap_or(0)) };
    }
    unsafe { put(count, found.len().min(room)) }
}

unsafe fn edge_data(out: *mut u64, room: usize) {
    if !out.is_null() {
        for index in 0..room {
            unsafe { out.add(index).write(PLAIN_EDGE) };
        }
    }
}

fn edges_of(graph: Handle) -> Result<(Vec<Handle>, Vec<Handle>), CUresult> {
    let graph = GRAPHS.get(graph)?;
    let nodes = lock(&graph.nodes);
    Ok(nodes.iter().flat_map(|node| node.dependencies.iter().map(|from| (*from, node.handle))).unzip())
}

unsafe fn get_edges(graph: Handle, from: *mut Handle, to: *mut Handle, data: *mut u64, count: *mut usize) -> Answer {
    if from.is_null() != to.is_null() {
        return Err(INVALID_VALUE);
    }
    let (sources, targets) = edges_of(graph)?;
    let room = *unsafe { count.as_ref() }.ok_or(INVALID_VALUE)?;
    unsafe {
        list(&sources, from, count)?;
        count.write(room);
        edge_data(data, room.min(sources.len()));
        list(&targets, to, count)
    }
}

unsafe fn dependencies(node: Handle, out: *mut Handle, data: *mut u64, count: *mut usize) -> Answer {
    let found = find(node)?.1.dependencies;
    unsafe {
        edge_data(data, count.as_ref().map_or(0, |room| *room.min(&found.len())));
        list(&found, out, count)
    }
}

unsafe fn dependents(node: Handle, out: *mut Handle, data: *mut u64, count: *mut usize) -> Answer {
    let (graph, _) = find(node)?;
    let nodes = lock(&graph.nodes);
    let found: Vec<Handle> =
        nodes.iter().filter(|other| other.dependencies.contains(&node)).map(|other| other.handle).collect();
    unsafe {
        edge_data(data, count.as_ref().map_or(0, |room| *room.min(&found.len())));
        list(&found, out, count)
    }
}

unsafe fn connect(graph: Handle, from: *const Handle, to: *const Handle, count: usize) -> Answer {
    let graph = GRAPHS.get(graph)?;
    let pairs: Vec<(Handle, Handle)> = unsafe { handles(from, count)?.into_iter().zip(handles(to, count)?).collect() };
    let mut nodes = lock(&graph.nodes);
    let known = |handle: Handle| nodes.iter().any(|node| node.handle == handle);
    let linked =
        |from: Handle, to: Handle| nodes.iter().any(|node| node.handle == to && node.dependencies.contains(&from));
    if pairs.iter().any(|(from, to)| from == to || !known(*from) || !known(*to) || linked(*from, *to)) {
        return Err(INVALID_VALUE);
    }
    for (from, to) in pairs {
        if let Some(node) = nodes.iter_mut().find(|node| node.handle == to) {
            node.dependencies.push(from);
        }
    }
    Ok(())
}

unsafe fn disconnect(graph: Handle, from: *const Handle, to: *const Handle, count: usize) -> Answer {
    let graph = GRAPHS.get(graph)?;
    if graph.has_memory() {
        explain("dependencies cannot be taken out of a graph with memory nodes");
        return Err(NOT_SUPPORTED);
    }
    let pairs: Vec<(Handle, Handle)> = unsafe { handles(from, count)?.into_iter().zip(handles(to, count)?).collect() };
    let mut nodes = lock(&graph.nodes);
    for (from, to) in pairs {
        let node = nodes.iter_mut().find(|node| node.handle == to).ok_or(INVALID_VALUE)?;
        let at = node.dependencies.iter().position(|dependency| *dependency == from).ok_or(INVALID_VALUE)?;
        node.dependencies.remove(at);
    }
    Ok(())
}

api! {
    fn cuGraphGetNodes(graph: Handle, nodes: *mut Handle, count: *mut usize) {
        let graph = GRAPHS.get(graph)?;
        let found: Vec<Handle> = lock(&graph.nodes).iter().map(|node| node.handle).collect();
        list(&found, nodes, count)
    }
    fn cuGraphGetRootNodes(graph: Handle, nodes: *mut Handle, count: *mut usize) {
        let graph = GRAPHS.get(graph)?;
        let all = lock(&graph.nodes);
        let roots = all.iter().filter(|node| node.dependencies.is_empty());
        let found: Vec<Handle> = roots.map(|node| node.handle).collect();
        list(&found, nodes, count)
    }
    fn cuGraphGetEdges(graph: Handle, from: *mut Handle, to: *mut Handle, count: *mut usize) {
        get_edges(graph, from, to, std::ptr::null_mut(), count)
    }
    fn cuGraphGetEdges_v2(graph: Handle, from: *mut Handle, to: *mut Handle, data: *mut u64, count: *mut usize) {
        get_edges(graph, from, to, data, count)
    }
    fn cuGraphNodeGetDependencies(node: Handle, out: *mut Handle, count: *mut usize) {
        dependencies(node, out, std::ptr::null_mut(), count)
    }
    fn cuGraphNodeGetDependencies_v2(node: Handle, out: *mut Handle, data: *mut u64, count: *mut usize) {
        dependencies(node, out, data, count)
    }
    fn cuGraphNodeGetDependentNodes(node: Handle, out: *mut Handle, count: *mut usize) {
        dependents(node, out, std::ptr::null_mut(), count)
    }
    fn cuGraphNodeGetDependentNodes_v2(node: Handle, out: *mut Handle, data: *mut u64, count: *mut usize) {
        dependents(node, out, data, count)
    }
    fn cuGraphAddDependencies(graph: Handle, from: *const Handle, to: *const Handle, count: usize) {
        connect(graph, from, to, count)
    }
    fn cuGraphAddDependencies_v2(graph: Handle, from: *const Handle, to: *const Handle, _data: *const u64, count: usize) {
        connect(graph, from, to, count)
    }
    fn cuGraphRemoveDependencies(graph: Handle, from: *const Handle, to: *const Handle, count: usize) {
        disconnect(graph, from, to, count)
    }
    fn cuGraphRemoveDependencies_v2(graph: Handle, from: *const Handle, to: *const Handle, _data: *const u64, count: usize) {
        disconnect(graph, from, to, count)
    }
}
