//! Conditional nodes: graphs that run if, or as long as, a kernel wants it (`cudaGraphSetConditional`).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use super::nodes::NodeParams;
use super::{GRAPHS, Graph, LaunchContext, Operation};
use crate::abi::*;
use crate::process::lock;
use crate::work::{CONTEXTS, order};

/// `CU_GRAPH_COND_ASSIGN_DEFAULT`: every launch begins with the value given with the handle. Without it a condition keeps its
/// value from launch to launch, and begins with 0.
const ASSIGN_DEFAULT: u32 = 1;

#[derive(Clone, Copy)]
pub struct Condition {
    pub handle: u64,
    context: Handle,
    value: u32,
    flags: u32,
    /// A node decides by it.
    used: bool,
}

/// The conditions of a graph and of all bodies in it.
#[derive(Default)]
pub struct Known(Mutex<Vec<Condition>>);

impl Known {
    pub fn all(&self) -> Vec<Condition> {
        lock(&self.0).clone()
    }

    /// Whether a condition has no node: such a graph cannot be instantiated.
    pub fn any_unused(&self) -> bool {
        lock(&self.0).iter().any(|condition| !condition.used)
    }

    fn take(&self, handle: u64, context: Handle) -> Answer {
        let mut all = lock(&self.0);
        let condition = all.iter_mut().find(|other| other.handle == handle).ok_or(INVALID_VALUE)?;
        if condition.used || condition.context != context {
            return Err(INVALID_VALUE);
        }
        condition.used = true;
        Ok(())
    }
}

/// The values at the start of an instantiation's first launch.
pub fn first_values(conditions: &[Condition]) -> Arc<ptx_emulator::Conditions> {
    let values = ptx_emulator::Conditions::default();
    conditions.iter().for_each(|condition| values.put(condition.handle, 0));
    Arc::new(values)
}

/// A launch begins.
pub fn assign_defaults(conditions: &[Condition], values: &ptx_emulator::Conditions) {
    for condition in conditions.iter().filter(|condition| condition.flags & ASSIGN_DEFAULT != 0) {
        values.put(condition.handle, condition.value);
    }
}

/// `CUgraphConditionalNodeType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    If,
    While,
    Switch,
}

pub struct Conditional {
    pub condition: u64,
    pub kind: Kind,
    context: Handle,
    pub bodies: Vec<Arc<Graph>>,
    /// The bodies' handles, which a program has the address of for as long as the node lives. Copies have none.
    shown: Box<[Handle]>,
    conditions: Weak<Known>,
}

impl Drop for Conditional {
    fn drop(&mut self) {
        for body in &self.shown {
            let _ = GRAPHS.remove(*body);
        }
        if let Some(conditions) = self.conditions.upgrade().filter(|_| !self.shown.is_empty()) {
            lock(&conditions.0)
                .iter_mut()
                .filter(|other| other.handle == self.condition)
                .for_each(|other| other.used = false);
        }
    }
}

impl Conditional {
    /// The node of these parameters, with empty bodies, whose handles are written to the parameters.
    pub fn new(params: &mut NodeParams, graph: &Graph) -> Result<Conditional, CUresult> {
        let condition = params.get::<u64>(0);
        let [kind, count] = params.get::<[u32; 2]>(1);
        let context = params.get::<Handle>(3);
        if context == 0 {
            return Err(INVALID_CONTEXT);
        }
        let kind = match (kind, count) {
            (0, 1 | 2) => Kind::If,
            (1, 1) => Kind::While,
            (2, 1..) => Kind::Switch,
            _ => return Err(INVALID_VALUE),
        };
        graph.conditions.take(condition, context)?;
        let body = || Arc::new(Graph { conditions: graph.conditions.clone(), is_body: true, ..Graph::default() });
        let bodies: Vec<Arc<Graph>> = (0..count).map(|_| body()).collect();
        let shown: Box<[Handle]> = bodies.iter().map(|body| GRAPHS.add(body.clone())).collect();
        params.set(2, shown.as_ptr());
        Ok(Conditional { condition, kind, context, bodies, shown, conditions: Arc::downgrade(&graph.conditions) })
    }

    /// Writes what it was made from.
    pub fn describe(&self, params: &mut NodeParams) {
        params.set(0, self.condition);
        params.set(1, [self.kind as u32, self.bodies.len() as u32]);
        params.set(2, self.shown.as_ptr());
        params.set(3, self.context);
    }

    /// The same for an executable graph.
    pub fn copy(&self) -> Conditional {
        let mut copy = self.with(self.condition);
        copy.bodies = self.bodies.iter().map(|body| body.copy(false)).collect();
        copy
    }

    /// An executable graph's node, by another condition.
    pub fn with(&self, condition: u64) -> Conditional {
        let bodies = self.bodies.clone();
        Conditional {
            condition,
            kind: self.kind,
            context: self.context,
            bodies,
            shown: Box::default(),
            conditions: Weak::new(),
        }
    }

    /// Runs the bodies that the condition asks for; gives their time in nanoseconds.
    pub fn run(&self, launch: &LaunchContext, start_ns: f64, disabled: &[Handle]) -> Result<f64, CUresult> {
        let value = || launch.conditions.get(self.condition).unwrap_or(0);
        let mut took_ns = 0.0;
        let mut rounds = order::Nodes::default();
        let mut round = 0;
        let mut run = |body: &Graph| {
            round += 1;
            rounds
                .during(round, &[round - 1], || body.run(&launch.at(start_ns + took_ns), disabled))
                .map(|ns| took_ns += ns)
        };
        match self.kind {
            Kind::If => match (value(), self.bodies.get(1)) {
                (1.., _) => run(&self.bodies[0])?,
                (0, Some(otherwise)) => run(otherwise)?,
                (0, None) => {}
            },
            Kind::While => {
                while value() != 0 {
                    run(&self.bodies[0])?;
                }
            }
            Kind::Switch => {
                if let Some(body) = self.bodies.get(value() as usize) {
                    run(body)?;
                }
            }
        }
        Ok(took_ns)
    }
}

/// Why a graph's bodies cannot be instantiated: a value of `CUgraphInstantiateResult`, and the node.
pub fn misfit(graph: &Graph, in_body: bool) -> Option<(u32, Handle)> {
    const NOT_SUPPORTED_HERE: u32 = 3;
    const SEVERAL_CONTEXTS: u32 = 4;
    let nodes = lock(&graph.nodes).clone();
    nodes.iter().find_map(|node| match &node.operation {
        Operation::Conditional(node) => node.bodies.iter().find_map(|body| misfit(body, true)),
        Operation::Child(child) => misfit(child, in_body),
        _ if !in_body => None,
        Operation::Kernel(_) | Operation::Fill(_) | Operation::Empty => None,
        Operation::Copy(block) => block.touches_plain_host_memory().then_some((SEVERAL_CONTEXTS, node.handle)),
        _ => Some((NOT_SUPPORTED_HERE, node.handle)),
    })
}

api! {
    fn cuGraphConditionalHandleCreate(out: *mut u64, graph: Handle, context: Handle, value: u32, flags: u32) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let graph = GRAPHS.get(graph)?;
        if context == 0 {
            return Err(INVALID_CONTEXT);
        }
        CONTEXTS.get(context)?;
        if out.is_null() || flags & !ASSIGN_DEFAULT != 0 {
            return Err(INVALID_VALUE);
        }
        let handle = NEXT.fetch_add(1, Ordering::Relaxed);
        lock(&graph.conditions.0).push(Condition { handle, context, value, flags, used: false });
        put(out, handle)
    }
}
