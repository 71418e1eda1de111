//! Graphs: memory nodes, every other kind of node, capture over streams, and what must be refused.

#[macro_use]
mod common;

use common::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

#[repr(C)]
#[derive(Clone, Copy)]
struct AllocParams {
    allocation_type: u32,
    handle_types: u32,
    location_type: u32,
    location: i32,
    security: usize,
    most_bytes: usize,
    usage: u16,
    reserved: [u8; 54],
    access: usize,
    access_count: usize,
    bytes: usize,
    address: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct MemsetParams {
    to: u64,
    pitch: usize,
    value: u32,
    element_bytes: u32,
    width: usize,
    height: usize,
    context: Handle,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct KernelParams {
    function: Handle,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    arguments: *mut *mut c_void,
    extra: *mut *mut c_void,
    kernel: Handle,
    context: Handle,
}

#[repr(C)]
struct HostParams {
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
}

unsafe extern "C" {
    fn cuGraphCreate(graph: *mut Handle, flags: u32) -> u32;
    fn cuGraphDestroy(graph: Handle) -> u32;
    fn cuGraphClone(clone: *mut Handle, graph: Handle) -> u32;
    fn cuGraphNodeFindInClone(out: *mut Handle, node: Handle, clone: Handle) -> u32;
    fn cuGraphNodeGetType(node: Handle, kind: *mut u32) -> u32;
    fn cuGraphGetNodes(graph: Handle, nodes: *mut Handle, count: *mut usize) -> u32;
    fn cuGraphGetEdges(graph: Handle, from: *mut Handle, to: *mut Handle, count: *mut usize) -> u32;
    fn cuGraphAddDependencies(graph: Handle, from: *const Handle, to: *const Handle, count: usize) -> u32;
    fn cuGraphAddMemAllocNode(
        node: *mut Handle,
        graph: Handle,
        dependencies: *const Handle,
        count: usize,
        params: *mut AllocParams,
    ) -> u32;
    fn cuGraphAddMemFreeNode(
        node: *mut Handle,
        graph: Handle,
        dependencies: *const Handle,
        count: usize,
        address: u64,
    ) -> u32;
    fn cuGraphAddMemsetNode(
        node: *mut Handle,
        graph: Handle,
        dependencies: *const Handle,
        count: usize,
        params: *const MemsetParams,
        context: Handle,
    ) -> u32;
    fn cuGraphAddKernelNode_v2(
        node: *mut Handle,
        graph: Handle,
        dependencies: *const Handle,
        count: usize,
        params: *const KernelParams,
    ) -> u32;
    fn cuGraphKernelNodeGetParams_v2(node: Handle, params: *mut KernelParams) -> u32;
    fn cuGraphExecKernelNodeSetParams_v2(exec: Handle, node: Handle, params: *const KernelParams) -> u32;
    fn cuGraphAddHostNode(
        node: *mut Handle,
        graph: Handle,
        dependencies: *const Handle,
        count: usize,
        params: *const HostParams,
    ) -> u32;
    fn cuGraphAddChildGraphNode(
        node: *mut Handle,
        graph: Handle,
        dependencies: *const Handle,
        count: usize,
        child: Handle,
    ) -> u32;
    fn cuGraphAddEventRecordNode(
        node: *mut Handle,
        graph: Handle,
        dependencies: *const Handle,
        count: usize,
        event: Handle,
    ) -> u32;
    fn cuGraphInstantiateWithFlags(exec: *mut Handle, graph: Handle, flags: u64) -> u32;
    fn cuGraphExecDestroy(exec: Handle) -> u32;
    fn cuGraphExecUpdate_v2(exec: Handle, graph: Handle, info: *mut [usize; 3]) -> u32;
    fn cuGraphLaunch(exec: Handle, stream: Handle) -> u32;
    fn cuDeviceGetGraphMemAttribute(device: i32, attribute: u32, value: *mut u64) -> u32;
    fn cuDeviceSetGraphMemAttribute(device: i32, attribute: u32, value: *const u64) -> u32;
    fn cuDeviceGraphMemTrim(device: i32) -> u32;
    fn cuStreamCreate(stream: *mut Handle, flags: u32) -> u32;
    fn cuStreamSynchronize(stream: Handle) -> u32;
    fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: u32) -> u32;
    fn cuStreamBeginCapture_v2(stream: Handle, mode: u32) -> u32;
    fn cuStreamEndCapture(stream: Handle, graph: *mut Handle) -> u32;
    fn cuStreamIsCapturing(stream: Handle, status: *mut u32) -> u32;
    fn cuEventCreate(event: *mut Handle, flags: u32) -> u32;
    fn cuEventRecord(event: Handle, stream: Handle) -> u32;
    fn cuEventSynchronize(event: Handle) -> u32;
    fn cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle) -> u32;
    fn cuMemAllocAsync(pointer: *mut u64, bytes: usize, stream: Handle) -> u32;
    fn cuMemFreeAsync(pointer: u64, stream: Handle) -> u32;
    fn cuMemsetD32Async(to: u64, value: u32, count: usize, stream: Handle) -> u32;
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: Handle) -> u32;
}

/// `p[i] += d` for 32 threads.
const PTX: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry add(.param .u64 p, .param .u32 d) {
    .reg .b64 %rd<4>;
    .reg .b32 %r<5>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [d];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r3, [%rd3];
    add.s32 %r4, %r3, %r1;
    st.global.u32 [%rd3], %r4;
    ret;
}
";

fn made(make: impl FnOnce(*mut Handle) -> u32) -> Handle {
    let mut handle = 0;
    assert_eq!(make(&mut handle), 0);
    handle
}

fn new_graph() -> Handle {
    // SAFETY: the pointer is valid for a write.
    made(|out| unsafe { cuGraphCreate(out, 0) })
}

fn new_stream() -> Handle {
    // SAFETY: as above; 1 is non-blocking.
    made(|out| unsafe { cuStreamCreate(out, 1) })
}

fn new_event() -> Handle {
    // SAFETY: as above.
    made(|out| unsafe { cuEventCreate(out, 0) })
}

fn instantiate(graph: Handle, flags: u64) -> Handle {
    // SAFETY: as above.
    made(|out| unsafe { cuGraphInstantiateWithFlags(out, graph, flags) })
}

fn alloc_node(graph: Handle, bytes: usize) -> (Handle, u64) {
    let mut params = AllocParams {
        allocation_type: 1,
        handle_types: 0,
        location_type: 1,
        location: 0,
        security: 0,
        most_bytes: 0,
        usage: 0,
        reserved: [0; 54],
        access: 0,
        access_count: 0,
        bytes,
        address: 0,
    };
    // SAFETY: as above.
    let node = made(|out| unsafe { cuGraphAddMemAllocNode(out, graph, null(), 0, &mut params) });
    assert_ne!(params.address, 0);
    (node, params.address)
}

fn memset_node(graph: Handle, after: &[Handle], to: u64, value: u32) -> Handle {
    let params = MemsetParams { to, value, element_bytes: 4, width: 32, height: 1, ..MemsetParams::default() };
    // SAFETY: as above.
    made(|out| unsafe { cuGraphAddMemsetNode(out, graph, after.as_ptr(), after.len(), &params, 0) })
}

fn kernel_node(graph: Handle, after: &[Handle], add: Handle, pointer: u64, amount: u32) -> Handle {
    let mut arguments = [arg(&pointer), arg(&amount)];
    let params = KernelParams {
        function: add,
        grid: [1; 3],
        block: [32, 1, 1],
        shared: 0,
        arguments: arguments.as_mut_ptr(),
        extra: null_mut(),
        kernel: 0,
        context: 0,
    };
    // SAFETY: as above.
    made(|out| unsafe { cuGraphAddKernelNode_v2(out, graph, after.as_ptr(), after.len(), &params) })
}

/// Memory behind graphs' addresses now, and at most.
fn backed() -> (u64, u64) {
    let figure = |attribute| {
        let mut bytes = 0;
        ok!(cuDeviceGetGraphMemAttribute(0, attribute, &mut bytes));
        bytes
    };
    assert_eq!((figure(0), figure(1)), (figure(2), figure(3)));
    (figure(0), figure(1))
}

// One test, for the figures of graph memory are the device's.
#[test]
fn memory_lives_from_node_to_node() {
    context();
    let add = function(load(PTX), "add");
    let stream = new_stream();
    let graph = new_graph();
    let (alloc, address) = alloc_node(graph, 128);
    let set = memset_node(graph, &[alloc], address, 5);
    let kernel = kernel_node(graph, &[set], add, address, 2);
    let out = upload(&[0u32; 32]);
    let keep = kernel_node(graph, &[], add, out, 1);
    let mut free = 0;
    fails!(1, cuGraphAddMemFreeNode(&mut free, graph, null(), 0, out));
    ok!(cuGraphAddMemFreeNode(&mut free, graph, [kernel, keep].as_ptr(), 2, address));
    fails!(1, cuGraphAddMemFreeNode(&mut free, graph, null(), 0, address));
    let mut clone = 0;
    fails!(801, cuGraphClone(&mut clone, graph));
    let exec = instantiate(graph, 0);
    assert_eq!(backed(), (0, 0));
    let mut second = 0;
    fails!(1, cuGraphInstantiateWithFlags(&mut second, graph, 0));
    for launch in 1..=3u32 {
        ok!(cuGraphLaunch(exec, stream));
        ok!(cuStreamSynchronize(stream));
        assert_eq!(download::<u32>(out, 32), [launch; 32]);
        assert_eq!(backed(), (128, 128), "kept for the next launch");
    }
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    assert_eq!(backed(), (128, 128));
    ok!(cuDeviceGraphMemTrim(0));
    assert_eq!(backed(), (0, 128));
    fails!(1, cuDeviceSetGraphMemAttribute(0, 1, &1));
    fails!(1, cuDeviceSetGraphMemAttribute(0, 0, &0));
    ok!(cuDeviceSetGraphMemAttribute(0, 1, &0));
    assert_eq!(backed(), (0, 0));

    // Memory that outlives the launch: seen outside, freed there, and only then allocated again.
    let graph = new_graph();
    let (alloc, address) = alloc_node(graph, 128);
    memset_node(graph, &[alloc], address, 9);
    let exec = instantiate(graph, 0);
    fails!(1, cuMemFreeAsync(address, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuGraphLaunch(exec, stream));
    fails!(1, cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(address, 32), [9; 32]);
    ok!(cuDeviceGraphMemTrim(0));
    assert_eq!(backed(), (128, 128), "in use");
    ok!(cuMemFreeAsync(address, stream));
    fails!(1, cuMemFreeAsync(address, stream));
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuMemFree_v2(address));
    fails!(1, cuMemFree_v2(address));
    assert_eq!(backed(), (128, 128));
    ok!(cuDeviceGraphMemTrim(0));
    assert_eq!(backed(), (0, 128));
    ok!(cuGraphExecDestroy(exec));
    // With AUTO_FREE_ON_LAUNCH nobody has to free, however far the launches run ahead of their work.
    let exec = instantiate(graph, 1);
    for _ in 0..100 {
        ok!(cuGraphLaunch(exec, stream));
    }
    ok!(cuStreamSynchronize(stream));
    assert_eq!((backed().0, download::<u32>(address, 32)), (128, vec![9; 32]));

    // The same by capture.
    ok!(cuStreamBeginCapture_v2(stream, 2));
    let mut temporary = 0;
    ok!(cuMemAllocAsync(&mut temporary, 128, stream));
    ok!(cuMemsetD32Async(temporary, 3, 32, stream));
    ok!(cuMemcpyDtoDAsync_v2(out, temporary, 128, stream));
    ok!(cuMemFreeAsync(temporary, stream));
    fails!(1, cuMemFreeAsync(out, stream));
    let mut captured = 0;
    ok!(cuStreamEndCapture(stream, &mut captured));
    assert_eq!(kinds(captured), [10, 2, 1, 11]);
    let exec = instantiate(captured, 0);
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(out, 32), [3; 32]);
}

fn kinds(graph: Handle) -> Vec<u32> {
    let mut count = 0;
    ok!(cuGraphGetNodes(graph, null_mut(), &mut count));
    let mut nodes = vec![0; count];
    ok!(cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count));
    let kind = |node: &Handle| {
        let mut kind = u32::MAX;
        ok!(cuGraphNodeGetType(*node, &mut kind));
        kind
    };
    nodes.iter().map(kind).collect()
}

static CALLS: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn count(data: *mut c_void) {
    CALLS.fetch_add(data as usize as u32, Ordering::Relaxed);
}

#[test]
fn nodes_run_in_the_order_of_their_dependencies() {
    context();
    let add = function(load(PTX), "add");
    let (stream, event, before) = (new_stream(), new_event(), new_event());
    let out = upload(&[0u32; 32]);
    let graph = new_graph();
    // Added first, made to run last.
    let late = kernel_node(graph, &[], add, out, 1);
    let set = memset_node(graph, &[], out, 40);
    let inner = new_graph();
    kernel_node(inner, &[], add, out, 1);
    // SAFETY: locals outlive the calls.
    let child = made(|node| unsafe { cuGraphAddChildGraphNode(node, graph, &set, 1, inner) });
    let host = HostParams { function: count, data: 7 as *mut c_void };
    // SAFETY: as above.
    let call = made(|node| unsafe { cuGraphAddHostNode(node, graph, &child, 1, &host) });
    // SAFETY: as above.
    made(|node| unsafe { cuGraphAddEventRecordNode(node, graph, &call, 1, event) });
    ok!(cuGraphAddDependencies(graph, &call, &late, 1));
    fails!(1, cuGraphAddDependencies(graph, &call, &late, 1));
    fails!(1, cuGraphAddDependencies(graph, &late, &late, 1));
    let mut edges = 0;
    ok!(cuGraphGetEdges(graph, null_mut(), null_mut(), &mut edges));
    assert_eq!((kinds(graph), edges), (vec![0, 2, 4, 3, 7], 4));
    let exec = instantiate(graph, 0);
    ok!(cuEventRecord(before, stream));
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuEventSynchronize(event));
    ok!(cuStreamSynchronize(stream));
    assert_eq!((download::<u32>(out, 32), CALLS.load(Ordering::Relaxed)), (vec![42; 32], 7));
    let mut milliseconds = -1.0;
    ok!(cuEventElapsedTime(&mut milliseconds, before, event));
    assert!(milliseconds > 0.0);

    // Arguments can be asked for, and changed in what is launched.
    let mut params = KernelParams {
        function: 0,
        grid: [0; 3],
        block: [0; 3],
        shared: 0,
        arguments: null_mut(),
        extra: null_mut(),
        kernel: 0,
        context: 0,
    };
    ok!(cuGraphKernelNodeGetParams_v2(late, &mut params));
    // SAFETY: two pointers to arguments of these types, which live as long as the node.
    let known = unsafe { (*(*params.arguments).cast::<u64>(), *(*params.arguments.add(1)).cast::<u32>()) };
    assert_eq!((params.function, params.block, known), (add, [32, 1, 1], (out, 1)));
    let mut changed = [arg(&out), arg(&100u32)];
    params.arguments = changed.as_mut_ptr();
    ok!(cuGraphExecKernelNodeSetParams_v2(exec, late, &params));
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(out, 32), [141; 32]);
    // An update brings the graph's own arguments back; another shape is refused.
    let mut info = [9usize; 3];
    ok!(cuGraphExecUpdate_v2(exec, graph, &mut info));
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(out, 32), [42; 32]);
    fails!(910, cuGraphExecUpdate_v2(exec, inner, &mut info));
    assert_eq!(info[0] as u32, 2, "topology changed");

    let (mut clone, mut twin) = (0, 0);
    ok!(cuGraphClone(&mut clone, graph));
    ok!(cuGraphNodeFindInClone(&mut twin, late, clone));
    assert_ne!(twin, late);
    fails!(1, cuGraphNodeFindInClone(&mut twin, late, inner));
    // A cycle cannot be instantiated, nor can what is no graph.
    ok!(cuGraphAddDependencies(clone, &twin, &nodes(clone)[1], 1));
    let mut none = 0;
    fails!(1, cuGraphInstantiateWithFlags(&mut none, clone, 0));
    fails!(1, cuGraphInstantiateWithFlags(&mut none, 12345, 0));
    fails!(1, cuGraphLaunch(12345, stream));
}

fn nodes(graph: Handle) -> Vec<Handle> {
    let mut count = 16;
    let mut nodes = vec![0; count];
    ok!(cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count));
    nodes.truncate(count);
    nodes
}

#[test]
fn a_capture_forks_and_joins() {
    context();
    let add = function(load(PTX), "add");
    let (main, side) = (new_stream(), new_stream());
    let (fork, join, outside) = (new_event(), new_event(), new_event());
    let (a, b) = (upload(&[0u32; 32]), upload(&[0u32; 32]));
    let run = |pointer: u64, amount: u32, stream: Handle| {
        let mut arguments = [arg(&pointer), arg(&amount)];
        // SAFETY: one pointer for each parameter.
        unsafe { cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, stream, arguments.as_mut_ptr(), null_mut()) }
    };
    // Of this thread: a global capture is ended by what the other tests do meanwhile.
    let begin = |stream: Handle| ok!(cuStreamBeginCapture_v2(stream, 1));
    let forked = || {
        begin(main);
        assert_eq!(run(a, 1, main), 0);
        ok!(cuEventRecord(fork, main));
        ok!(cuStreamWaitEvent(side, fork, 0));
        assert_eq!(run(b, 2, side), 0);
        ok!(cuEventRecord(join, side));
    };
    forked();
    let mut status = 0;
    ok!(cuStreamIsCapturing(side, &mut status));
    assert_eq!(status, 1);
    ok!(cuStreamWaitEvent(main, join, 0));
    assert_eq!(run(b, 3, main), 0);
    let mut graph = 0;
    ok!(cuStreamEndCapture(main, &mut graph));
    assert_eq!(download::<u32>(a, 32), [0; 32], "captured, not run");
    let [first, second, third] = nodes(graph)[..] else { panic!("three kernels") };
    let (mut from, mut to, mut count) = ([0; 4], [0; 4], 4);
    ok!(cuGraphGetEdges(graph, from.as_mut_ptr(), to.as_mut_ptr(), &mut count));
    let mut edges: Vec<_> = from.into_iter().zip(to).take(count).collect();
    edges.sort_unstable();
    assert_eq!(edges, [(first, second), (first, third), (second, third)]);
    let exec = instantiate(graph, 0);
    ok!(cuGraphLaunch(exec, main));
    ok!(cuStreamSynchronize(main));
    assert_eq!((download::<u32>(a, 32), download::<u32>(b, 32)), (vec![1; 32], vec![5; 32]));

    // Left unjoined.
    forked();
    fails!(904, cuStreamEndCapture(main, &mut graph));
    ok!(cuStreamIsCapturing(side, &mut status));
    assert_eq!((status, graph), (0, 0));
    // Ended where it did not begin.
    forked();
    fails!(903, cuStreamEndCapture(side, &mut graph));
    fails!(901, cuStreamEndCapture(main, &mut graph));
    // Waiting for the stream, or for work outside, spoils a capture.
    begin(main);
    fails!(900, cuStreamSynchronize(main));
    fails!(901, cuStreamEndCapture(main, &mut graph));
    ok!(cuEventRecord(outside, side));
    begin(main);
    fails!(905, cuStreamWaitEvent(main, outside, 0));
    fails!(901, cuStreamEndCapture(main, &mut graph));
    // Two captures cannot become one.
    begin(main);
    begin(side);
    ok!(cuEventRecord(join, side));
    fails!(902, cuStreamWaitEvent(main, join, 0));
    fails!(901, cuStreamEndCapture(main, &mut graph));
    fails!(901, cuStreamEndCapture(side, &mut graph));
    fails!(401, cuStreamEndCapture(side, &mut graph));
    fails!(900, cuStreamBeginCapture_v2(0, 0));
}
