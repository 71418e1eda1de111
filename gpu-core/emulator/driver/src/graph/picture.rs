//! A graph as text for Graphviz.

use std::ffi::{CStr, c_char};
use std::fmt::Write as _;

use super::{GRAPHS, Graph, Operation};
use crate::abi::*;
use crate::process::lock;

impl Graph {
    /// Nodes and edges in the DOT language, by the numbers that the program can ask for (`cuGraphGetId`,
    /// `cuGraphNodeGetLocalId`); a graph inside becomes a cluster of its own.
    fn dot(&self, out: &mut String, depth: usize) {
        let nodes = lock(&self.nodes).clone();
        let indent = "  ".repeat(depth + 1);
        let name = |handle: Handle| {
            let number = nodes.iter().find(|node| node.handle == handle).map_or(0, |node| node.number);
            format!("graph_{}_node_{number}", self.id.0)
        };
        for node in &nodes {
            let label = match &node.operation {
                Operation::Kernel(kernel) => format!("KERNEL {}", kernel.name()),
                Operation::Copy(_) => "MEMCPY".to_owned(),
                Operation::Fill(_) => "MEMSET".to_owned(),
                Operation::Host(_) => "HOST".to_owned(),
                Operation::Child(_) => "GRAPH".to_owned(),
                Operation::Empty => "EMPTY".to_owned(),
                Operation::WaitEvent(_) => "EVENT WAIT".to_owned(),
                Operation::RecordEvent(_) => "EVENT RECORD".to_owned(),
                Operation::Alloc(_) => "MEM ALLOC".to_owned(),
                Operation::Free(_) => "MEM FREE".to_owned(),
                Operation::Words(_) => "BATCH MEM OP".to_owned(),
                Operation::Conditional(inner) => format!("CONDITIONAL {:?}", inner.kind).to_uppercase(),
            };
            let _ = writeln!(out, "{indent}\"{}\" [label=\"{label}\"];", name(node.handle));
            for dependency in &node.dependencies {
                let _ = writeln!(out, "{indent}\"{}\" -> \"{}\";", name(*dependency), name(node.handle));
            }
            for inner in node.operation.inner() {
                let _ = writeln!(out, "{indent}subgraph \"cluster_{}\" {{", inner.id.0);
                inner.dot(out, depth + 1);
                let _ = writeln!(out, "{indent}}}");
            }
        }
    }
}

api! {
    fn cuGraphDebugDotPrint(graph: Handle, path: *const c_char, _flags: u32) {
        let graph = GRAPHS.get(graph)?;
        if path.is_null() {
            return Err(INVALID_VALUE);
        }
        let path = CStr::from_ptr(path).to_string_lossy().into_owned();
        let mut text = "digraph graph_ {\n".to_owned();
        graph.dot(&mut text, 0);
        text.push_str("}\n");
        std::fs::write(&path, text).map_err(|error| {
            explain(format!("cannot write the graph: {error}: {path}"));
            OPERATING_SYSTEM
        })
    }
}
