//! Conditional nodes of graphs. What is expected was seen on an H200 (driver 580.159.04).

#[macro_use]
mod common;

use common::*;
use std::process::Command;
use std::ptr::null;

/// `CUgraphNodeParams` of a conditional node.
#[repr(C)]
struct NodeParams {
    kind: u32,
    reserved: [i32; 3],
    condition: u64,
    when: u32,
    count: u32,
    bodies: *const Handle,
    context: Handle,
    rest: [u64; 26],
}

#[repr(C)]
struct KernelParams {
    function: Handle,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    arguments: *mut *mut std::ffi::c_void,
    extra: usize,
    kernel: Handle,
    context: Handle,
}

#[repr(C)]
#[derive(Default)]
struct InstantiateParams {
    flags: u64,
    stream: Handle,
    node: Handle,
    result: u32,
}

unsafe extern "C" {
    fn cuGraphCreate(graph: *mut Handle, flags: u32) -> u32;
    fn cuGraphDestroy(graph: Handle) -> u32;
    fn cuGraphClone(clone: *mut Handle, graph: Handle) -> u32;
    fn cuGraphGetNodes(graph: Handle, nodes: *mut Handle, count: *mut usize) -> u32;
    fn cuGraphDestroyNode(node: Handle) -> u32;
    fn cuGraphNodeGetType(node: Handle, kind: *mut u32) -> u32;
    fn cuGraphNodeGetParams(node: Handle, params: *mut NodeParams) -> u32;
    fn cuGraphNodeSetParams(node: Handle, params: *mut NodeParams) -> u32;
    fn cuGraphNodeGetEnabled(exec: Handle, node: Handle, enabled: *mut u32) -> u32;
    fn cuGraphAddEmptyNode(node: *mut Handle, graph: Handle, before: *const Handle, count: usize) -> u32;
    fn cuGraphAddEventRecordNode(
        node: *mut Handle,
        graph: Handle,
        before: *const Handle,
        count: usize,
        event: Handle,
    ) -> u32;
    fn cuGraphAddChildGraphNode(
        node: *mut Handle,
        graph: Handle,
        before: *const Handle,
        count: usize,
        child: Handle,
    ) -> u32;
    fn cuGraphAddKernelNode_v2(
        node: *mut Handle,
        graph: Handle,
        before: *const Handle,
        count: usize,
        params: *const KernelParams,
    ) -> u32;
    fn cuGraphAddNode_v2(
        node: *mut Handle,
        graph: Handle,
        before: *const Handle,
        edges: *const u64,
        count: usize,
        params: *mut NodeParams,
    ) -> u32;
    fn cuGraphConditionalHandleCreate(out: *mut u64, graph: Handle, context: Handle, value: u32, flags: u32) -> u32;
    fn cuGraphInstantiateWithFlags(exec: *mut Handle, graph: Handle, flags: u64) -> u32;
    fn cuGraphInstantiateWithParams(exec: *mut Handle, graph: Handle, params: *mut InstantiateParams) -> u32;
    fn cuGraphExecDestroy(exec: Handle) -> u32;
    fn cuGraphExecUpdate_v2(exec: Handle, graph: Handle, info: *mut [usize; 3]) -> u32;
    fn cuGraphLaunch(exec: Handle, stream: Handle) -> u32;
    fn cuGraphGetId(graph: Handle, id: *mut u32) -> u32;
    fn cuGraphExecGetId(exec: Handle, id: *mut u32) -> u32;
    fn cuGraphNodeGetLocalId(node: Handle, id: *mut u32) -> u32;
    fn cuGraphNodeGetToolsId(node: Handle, id: *mut u64) -> u32;
    fn cuGraphNodeGetContainingGraph(node: Handle, graph: *mut Handle) -> u32;
    fn cuGraphDebugDotPrint(graph: Handle, path: *const std::ffi::c_char, flags: u32) -> u32;
    fn cuStreamCreate(stream: *mut Handle, flags: u32) -> u32;
    fn cuStreamBeginCapture_v2(stream: Handle, mode: u32) -> u32;
    fn cuStreamBeginCaptureToGraph(
        stream: Handle,
        graph: Handle,
        before: *const Handle,
        edges: *const u64,
        count: usize,
        mode: u32,
    ) -> u32;
    fn cuStreamEndCapture(stream: Handle, graph: *mut Handle) -> u32;
    fn cuEventCreate(event: *mut Handle, flags: u32) -> u32;
}

/// `add` adds `x` to the word at `p`, `turn` appends it as a digit; `ask` sets a condition to the word at `p`, `count` takes one
/// from it first. All threads of the block set the condition.
const PTX: &str = ".version 8.8\n.target sm_90\n.address_size 64
.extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);
.visible .entry add(.param .u64 p, .param .u32 x) {
    .reg .b64 %rd<2>; .reg .b32 %r<4>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [x];
    ld.global.u32 %r2, [%rd1];
    add.u32 %r3, %r1, %r2;
    st.global.u32 [%rd1], %r3;
    ret;
}
.visible .entry turn(.param .u64 p, .param .u32 x) {
    .reg .b64 %rd<2>; .reg .b32 %r<4>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [x];
    ld.global.u32 %r2, [%rd1];
    mad.lo.u32 %r3, %r2, 10, %r1;
    st.global.u32 [%rd1], %r3;
    ret;
}
.visible .entry ask(.param .u64 h, .param .u64 p) {
    .reg .b64 %rd<3>; .reg .b32 %r<2>;
    ld.param.u64 %rd1, [h];
    ld.param.u64 %rd2, [p];
    ld.global.u32 %r1, [%rd2];
    { .param .b64 a; .param .b32 b;
      st.param.b64 [a], %rd1; st.param.b32 [b], %r1;
      call.uni cudaGraphSetConditional, (a, b); }
    ret;
}
.visible .entry count(.param .u64 h, .param .u64 p) {
    .reg .b64 %rd<3>; .reg .b32 %r<2>;
    ld.param.u64 %rd1, [h];
    ld.param.u64 %rd2, [p];
    ld.global.u32 %r1, [%rd2];
    sub.u32 %r1, %r1, 1;
    st.global.u32 [%rd2], %r1;
    { .param .b64 a; .param .b32 b;
      st.param.b64 [a], %rd1; st.param.b32 [b], %r1;
      call.uni cudaGraphSetConditional, (a, b); }
    ret;
}";

const IF: u32 = 0;
const WHILE: u32 = 1;
const SWITCH: u32 = 2;
const ASSIGN_DEFAULT: u32 = 1;

struct Bench {
    context: Handle,
    module: Handle,
    /// Two words: what conditions are set to, and what bodies change.
    said: u64,
    sum: u64,
}

/// A context of its own: a test that waits for one ends the captures that go on in it, those of other tests too.
fn bench() -> Bench {
    context();
    let mut context = 0;
    ok!(cuCtxCreate_v2(&mut context, 0, 0));
    let module = load(PTX);
    Bench { context, module, said: upload(&[0u32]), sum: upload(&[0u32]) }
}

fn new_graph() -> Handle {
    let mut graph = 0;
    ok!(cuGraphCreate(&mut graph, 0));
    graph
}

fn executable(graph: Handle) -> Handle {
    let mut exec = 0;
    ok!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
    exec
}

fn nodes(graph: Handle) -> usize {
    let mut count = 0;
    ok!(cuGraphGetNodes(graph, std::ptr::null_mut(), &mut count));
    count
}

fn put(to: u64, value: u32) {
    ok!(cuMemcpyHtoD_v2(to, (&raw const value).cast(), 4));
}

impl Bench {
    fn condition(&self, graph: Handle, value: u32, flags: u32) -> u64 {
        let mut condition = 0;
        ok!(cuGraphConditionalHandleCreate(&mut condition, graph, self.context, value, flags));
        condition
    }

    fn params(&self, condition: u64, when: u32, count: u32) -> NodeParams {
        let context = self.context;
        NodeParams { kind: 13, reserved: [0; 3], condition, when, count, bodies: null(), context, rest: [0; 26] }
    }

    /// Adds a conditional node; gives it and its bodies.
    fn node(&self, graph: Handle, before: &[Handle], condition: u64, when: u32, count: u32) -> (Handle, Vec<Handle>) {
        let mut params = self.params(condition, when, count);
        let mut node = 0;
        ok!(cuGraphAddNode_v2(&mut node, graph, before.as_ptr(), null(), before.len(), &mut params));
        // SAFETY: the driver's list has a handle for each body.
        (node, unsafe { std::slice::from_raw_parts(params.bodies, count as usize) }.to_vec())
    }

    fn kernel<A, B>(&self, graph: Handle, before: &[Handle], name: &str, first: A, second: B) -> Handle {
        let mut arguments = [arg(&first), arg(&second)];
        let params = KernelParams {
            function: function(self.module, name),
            grid: [1; 3],
            block: [1; 3],
            shared: 0,
            arguments: arguments.as_mut_ptr(),
            extra: 0,
            kernel: 0,
            context: 0,
        };
        let mut node = 0;
        ok!(cuGraphAddKernelNode_v2(&mut node, graph, before.as_ptr(), before.len(), &params));
        node
    }

    /// Launches once with the word at `said`, and gives what the bodies made of 0.
    fn launch(&self, exec: Handle, said: u32) -> u32 {
        put(self.said, said);
        put(self.sum, 0);
        ok!(cuGraphLaunch(exec, 0));
        ok!(cuCtxSynchronize());
        download::<u32>(self.sum, 1)[0]
    }
}

#[test]
fn an_if_has_one_body_or_two() {
    let b = bench();
    for (count, expected) in [(1, [7, 17, 17]), (2, [37, 17, 17])] {
        let graph = new_graph();
        let condition = b.condition(graph, 0, ASSIGN_DEFAULT);
        let ask = b.kernel(graph, &[], "ask", condition, b.said);
        let (node, bodies) = b.node(graph, &[ask], condition, IF, count);
        for (body, amount) in bodies.iter().zip([1u32, 3]) {
            b.kernel(*body, &[], "add", b.sum, amount);
        }
        b.kernel(graph, &[node], "turn", b.sum, 7u32);
        let exec = executable(graph);
        assert_eq!([0, 1, 2].map(|said| b.launch(exec, said)), expected, "{count} bodies");
        // The executable graph outlives its source.
        ok!(cuGraphDestroy(graph));
        assert_eq!(b.launch(exec, 1), 17);
    }
}

#[test]
fn a_while_ends_when_a_kernel_says_so() {
    let b = bench();
    let graph = new_graph();
    let condition = b.condition(graph, 1, ASSIGN_DEFAULT);
    let (_, bodies) = b.node(graph, &[], condition, WHILE, 1);
    let add = b.kernel(bodies[0], &[], "add", b.sum, 2u32);
    b.kernel(bodies[0], &[add], "count", condition, b.said);
    let exec = executable(graph);
    assert_eq!([10, 1, 1000].map(|rounds| b.launch(exec, rounds)), [20, 2, 2000]);
}

#[test]
fn a_switch_takes_one_body_or_none() {
    let b = bench();
    let graph = new_graph();
    let condition = b.condition(graph, 0, ASSIGN_DEFAULT);
    let ask = b.kernel(graph, &[], "ask", condition, b.said);
    let (_, bodies) = b.node(graph, &[ask], condition, SWITCH, 4);
    for (body, amount) in bodies.iter().zip([10u32, 20, 30, 40]) {
        b.kernel(*body, &[], "add", b.sum, amount);
    }
    let exec = executable(graph);
    assert_eq!([0, 1, 2, 3, 4, 5, u32::MAX].map(|said| b.launch(exec, said)), [10, 20, 30, 40, 0, 0, 0]);
}

#[test]
fn conditions_inside_conditions() {
    let b = bench();
    let graph = new_graph();
    let outer = b.condition(graph, 1, ASSIGN_DEFAULT);
    let (_, bodies) = b.node(graph, &[], outer, WHILE, 1);
    // A handle may come from the body or from the graph around it.
    for (owner, value) in [(bodies[0], 1), (graph, 1)] {
        let inner = b.condition(owner, value, ASSIGN_DEFAULT);
        let (node, inside) = b.node(bodies[0], &[], inner, IF, 1);
        if owner == graph {
            // Its default counts once for a launch, not for each round.
            let add = b.kernel(inside[0], &[], "add", b.sum, 1u32);
            let zero = upload(&[0u32]);
            b.kernel(inside[0], &[add], "ask", inner, zero);
        } else {
            b.kernel(bodies[0], &[node], "count", outer, b.said);
        }
    }
    let exec = executable(graph);
    assert_eq!([4, 3].map(|rounds| b.launch(exec, rounds)), [1, 1]);
}

#[test]
fn without_a_default_the_value_stays() {
    let b = bench();
    let graph = new_graph();
    let condition = b.condition(graph, 7, 0);
    let (node, bodies) = b.node(graph, &[], condition, IF, 1);
    b.kernel(bodies[0], &[], "add", b.sum, 1u32);
    b.kernel(graph, &[node], "ask", condition, b.said);
    let exec = executable(graph);
    assert_eq!([1, 0, 1, 1].map(|said| b.launch(exec, said)), [0, 1, 0, 1]);
}

#[test]
fn updates_bring_their_own_handles_and_defaults() {
    let b = bench();
    let build = |value: u32, amount: u32, when: u32| {
        let graph = new_graph();
        let condition = b.condition(graph, value, ASSIGN_DEFAULT);
        let (_, bodies) = b.node(graph, &[], condition, when, 1);
        let add = b.kernel(bodies[0], &[], "add", b.sum, amount);
        b.kernel(bodies[0], &[add], "count", condition, b.said);
        graph
    };
    let exec = executable(build(1, 1, WHILE));
    assert_eq!(b.launch(exec, 3), 3);
    let mut info = [0; 3];
    ok!(cuGraphExecUpdate_v2(exec, build(1, 5, WHILE), &mut info));
    assert_eq!(b.launch(exec, 3), 15, "kernels set the conditions by their new handles");
    ok!(cuGraphExecUpdate_v2(exec, build(0, 5, WHILE), &mut info));
    assert_eq!(b.launch(exec, 3), 0);
    fails!(910, cuGraphExecUpdate_v2(exec, build(1, 5, IF), &mut info));
    assert_eq!(info[0] as u32, 6);
    let other = build(1, 1, WHILE);
    ok!(cuGraphAddEmptyNode(&mut 0, other, null(), 0));
    fails!(910, cuGraphExecUpdate_v2(exec, other, &mut info));
}

#[test]
fn handles_and_shapes_that_are_refused() {
    let b = bench();
    let mut other_context = 0;
    ok!(cuCtxCreate_v2(&mut other_context, 0, 0));
    ok!(cuCtxSetCurrent(b.context));
    let graph = new_graph();
    let mut out = 0u64;
    fails!(1, cuGraphConditionalHandleCreate(&mut out, graph, b.context, 0, 2));
    fails!(201, cuGraphConditionalHandleCreate(&mut out, graph, 0, 0, 0));
    fails!(1, cuGraphConditionalHandleCreate(std::ptr::null_mut(), graph, b.context, 0, 0));
    fails!(1, cuGraphConditionalHandleCreate(&mut out, 0, b.context, 0, 0));
    let shapes = [(0, 0), (0, 3), (1, 0), (1, 2), (2, 0), (3, 1), (u32::MAX, 1)];
    for (when, count) in shapes {
        let mut params = b.params(b.condition(graph, 0, 1), when, count);
        fails!(1, cuGraphAddNode_v2(&mut 0, graph, null(), null(), 0, &mut params));
    }
    let graph = new_graph();
    let condition = b.condition(graph, 0, 1);
    let add = |condition: u64, context: Handle| {
        let mut params = NodeParams { context, ..b.params(condition, IF, 1) };
        // SAFETY: pointers to locals.
        unsafe { cuGraphAddNode_v2(&mut 0, graph, null(), null(), 0, &mut params) }
    };
    assert_eq!(add(condition, b.context), 0);
    assert_eq!(add(condition, b.context), 1, "a handle has one node");
    assert_eq!(add(1 << 40, b.context), 1);
    assert_eq!(add(b.condition(new_graph(), 0, 1), b.context), 1, "the handle of another graph");
    let free = b.condition(graph, 0, 1);
    assert_eq!([add(free, 0), add(free, other_context)], [201, 1]);
}

#[test]
fn what_cannot_be_done_with_such_graphs() {
    let b = bench();
    let graph = new_graph();
    let condition = b.condition(graph, 1, ASSIGN_DEFAULT);
    let (node, bodies) = b.node(graph, &[], condition, IF, 1);
    let body = bodies[0];
    let mut kind = 0;
    ok!(cuGraphNodeGetType(node, &mut kind));
    assert_eq!((kind, nodes(graph), nodes(body)), (13, 1, 0));
    let (mut copy, empty) = (0, new_graph());
    for one in [graph, body] {
        fails!(801, cuGraphClone(&mut copy, one));
        fails!(801, cuGraphAddChildGraphNode(&mut 0, empty, null(), 0, one));
    }
    fails!(801, cuGraphInstantiateWithFlags(&mut copy, body, 0));
    fails!(1, cuGraphDestroy(body));
    let exec = executable(graph);
    fails!(801, cuGraphInstantiateWithFlags(&mut copy, graph, 0));
    let mut params = b.params(condition, IF, 1);
    fails!(801, cuGraphNodeSetParams(node, &mut params));
    fails!(1, cuGraphNodeGetEnabled(exec, node, &mut 0));
    let (mut stream, mut captured) = (0, 0);
    ok!(cuStreamCreate(&mut stream, 1));
    ok!(cuStreamBeginCapture_v2(stream, 1));
    fails!(900, cuGraphLaunch(exec, stream));
    fails!(901, cuStreamEndCapture(stream, &mut captured));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroyNode(node));
    fails!(1, cuGraphGetNodes(body, std::ptr::null_mut(), &mut 0));
    // The handle has no node now.
    let mut params = InstantiateParams::default();
    fails!(1, cuGraphInstantiateWithParams(&mut copy, graph, &mut params));
    assert_eq!(params.result, 5);
}

#[test]
fn bodies_hold_device_work_only() {
    let b = bench();
    let mut event = 0;
    ok!(cuEventCreate(&mut event, 0));
    let graph = new_graph();
    let condition = b.condition(graph, 1, ASSIGN_DEFAULT);
    let (_, bodies) = b.node(graph, &[], condition, IF, 1);
    let child = new_graph();
    b.kernel(child, &[], "add", b.sum, 4u32);
    ok!(cuGraphAddChildGraphNode(&mut 0, bodies[0], null(), 0, child));
    ok!(cuGraphAddEmptyNode(&mut 0, bodies[0], null(), 0));
    let exec = executable(graph);
    assert_eq!(b.launch(exec, 0), 4);
    ok!(cuGraphExecDestroy(exec));
    let mut record = 0;
    ok!(cuGraphAddEventRecordNode(&mut record, bodies[0], null(), 0, event));
    let mut params = InstantiateParams::default();
    fails!(1, cuGraphInstantiateWithParams(&mut 0, graph, &mut params));
    assert_eq!((params.result, params.node), (3, record));
}

#[test]
fn streams_record_into_bodies() {
    let b = bench();
    let graph = new_graph();
    let condition = b.condition(graph, 1, ASSIGN_DEFAULT);
    let (_, bodies) = b.node(graph, &[], condition, IF, 1);
    let (mut stream, mut captured) = (0, 0);
    ok!(cuStreamCreate(&mut stream, 1));
    ok!(cuStreamBeginCaptureToGraph(stream, bodies[0], null(), null(), 0, 1));
    let mut arguments = [arg(&b.sum), arg(&7u32)];
    let add = function(b.module, "add");
    ok!(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, stream, arguments.as_mut_ptr(), std::ptr::null_mut()));
    ok!(cuStreamEndCapture(stream, &mut captured));
    assert_eq!(captured, bodies[0]);
    assert_eq!(b.launch(executable(graph), 0), 7);
}

#[test]
fn graphs_and_nodes_have_numbers() {
    let b = bench();
    let graph = new_graph();
    let condition = b.condition(graph, 1, ASSIGN_DEFAULT);
    let first = b.kernel(graph, &[], "add", b.sum, 1u32);
    let (node, bodies) = b.node(graph, &[first], condition, SWITCH, 2);
    let inside = b.kernel(bodies[1], &[], "turn", b.sum, 1u32);
    let id = |graph: Handle| {
        let mut id = 0;
        ok!(cuGraphGetId(graph, &mut id));
        id
    };
    let place = |node: Handle| {
        let (mut local, mut holder, mut tools) = (0, 0, 0);
        ok!(cuGraphNodeGetLocalId(node, &mut local));
        ok!(cuGraphNodeGetContainingGraph(node, &mut holder));
        ok!(cuGraphNodeGetToolsId(node, &mut tools));
        (local, holder, tools)
    };
    let places = [first, node, inside].map(place);
    assert_eq!(places.map(|place| (place.0, place.1)), [(0, graph), (1, graph), (0, bodies[1])]);
    assert!(places[0].2 != places[1].2 && places[0].2 != places[2].2 && places[1].2 != places[2].2);
    let mut exec_id = 0;
    ok!(cuGraphExecGetId(executable(graph), &mut exec_id));
    assert_ne!(exec_id, id(graph));

    let mut params = b.params(0, 0, 0);
    ok!(cuGraphNodeGetParams(node, &mut params));
    let NodeParams { kind, condition: handle, when, count, bodies: list, context, .. } = params;
    assert_eq!((kind, handle, when, count, context), (13, condition, SWITCH, 2, b.context));
    // SAFETY: the driver's list has a handle for each body.
    assert_eq!(unsafe { std::slice::from_raw_parts(list, 2) }, bodies);

    let path = std::env::temp_dir().join(format!("conditional_graphs_{}.dot", std::process::id()));
    let text = std::ffi::CString::new(path.to_str().expect("a path")).expect("no zero");
    ok!(cuGraphDebugDotPrint(graph, text.as_ptr(), 0));
    let dot = std::fs::read_to_string(&path).expect("written");
    std::fs::remove_file(path).expect("there");
    let (outer, inner) = (id(graph), id(bodies[1]));
    for part in [
        format!("\"graph_{outer}_node_0\" -> \"graph_{outer}_node_1\""),
        "CONDITIONAL SWITCH".to_owned(),
        format!("\"graph_{inner}_node_0\" [label=\"KERNEL turn\"]"),
    ] {
        assert!(dot.contains(&part), "{part} in {dot}");
    }
}

const OUTSIDE: &str = "CONDITION_FROM_OUTSIDE";

/// A launch that is no part of the graph sets its condition: an error that stays, so a process of its own.
#[test]
fn set_from_outside() {
    if std::env::var_os(OUTSIDE).is_none() {
        return;
    }
    let b = bench();
    let graph = new_graph();
    let condition = b.condition(graph, 0, 0);
    b.node(graph, &[], condition, IF, 1);
    executable(graph);
    let mut arguments = [arg(&condition), arg(&b.said)];
    let ask = function(b.module, "ask");
    ok!(cuLaunchKernel(ask, 1, 1, 1, 1, 1, 1, 0, 0, arguments.as_mut_ptr(), std::ptr::null_mut()));
    // SAFETY: no arguments.
    println!("code {}", unsafe { cuCtxSynchronize() });
}

#[test]
fn a_condition_is_set_by_its_own_graph_alone() {
    let mut child = Command::new(std::env::current_exe().expect("a path"));
    let output = child.args(["--exact", "set_from_outside", "--nocapture"]).env(OUTSIDE, "1").output();
    let output = output.expect("it starts");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(said.contains("code 700\n") && said.contains("has no such condition"), "{said}");
}

/// Rounds of a loop come one after the other: no race between them, nor with what comes behind.
#[test]
fn the_same_with_checks() {
    if std::env::var("LOCKSTEP_CHECKS").is_ok() {
        return;
    }
    let mut child = Command::new(std::env::current_exe().expect("a path"));
    let output = child.env("LOCKSTEP_CHECKS", "1").output().expect("it starts");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() && !said.contains("Race"), "{said}");
}
