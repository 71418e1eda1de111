//! What a program can ask about modules, pools and graphs, and that all of CUDA's names are there to be linked.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "all are calls of the driver's functions with pointers to locals, or with what CUDA allows in their place"
)]

mod common;

use common::*;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

unsafe extern "C" {
    fn cuModuleGetFunctionCount(count: *mut u32, module: Handle) -> u32;
    fn cuModuleEnumerateFunctions(functions: *mut Handle, room: u32, module: Handle) -> u32;
    fn cuFuncGetName(text: *mut *const c_char, function: Handle) -> u32;
    fn cuFuncGetParamCount(function: Handle, count: *mut usize) -> u32;
    fn cuKernelGetParamInfo(kernel: Handle, index: usize, offset: *mut usize, bytes: *mut usize) -> u32;
    fn cuDeviceGetP2PAttribute(value: *mut i32, id: u32, device: i32, peer: i32) -> u32;
    fn cuMemGetDefaultMemPool(pool: *mut Handle, location: *const [u32; 2], kind: u32) -> u32;
    fn cuMemPoolGetAccess(access: *mut u32, pool: Handle, location: *const [u32; 2]) -> u32;
    fn cuArrayCreate_v2(array: *mut Handle, shape: *const c_void) -> u32;
    fn cuMemcpyWithAttributesAsync(to: u64, from: u64, bytes: usize, attributes: *const c_void, stream: Handle) -> u32;
    fn cuMemcpy3DBatchAsync_v2(count: usize, list: *const BoxCopy, flags: u64, stream: Handle) -> u32;
    fn cuMemcpy3DWithAttributesAsync(copy: *const BoxCopy, flags: u64, stream: Handle) -> u32;
    fn cuMemcpyBatchAsync_v2(
        to: *const u64,
        from: *const u64,
        bytes: *const usize,
        count: usize,
        attributes: *const c_void,
        indices: *const usize,
        attribute_count: usize,
        stream: Handle,
    ) -> u32;
    fn cuStreamCreate(stream: *mut Handle, flags: u32) -> u32;
    fn cuStreamSynchronize(stream: Handle) -> u32;
    fn cuGraphCreate(graph: *mut Handle, flags: u32) -> u32;
    fn cuGraphDestroy(graph: Handle) -> u32;
    fn cuGraphAddEmptyNode(node: *mut Handle, graph: Handle, dependencies: *const Handle, count: usize) -> u32;
    fn cuGraphInstantiateWithFlags(exec: *mut Handle, graph: Handle, flags: u64) -> u32;
    fn cuGraphExecDestroy(exec: Handle) -> u32;
    fn cuGraphDebugDotPrint(graph: Handle, path: *const c_char, flags: u32) -> u32;
    fn cuUserObjectCreate(
        out: *mut Handle,
        data: *mut c_void,
        destroy: Option<unsafe extern "C" fn(*mut c_void)>,
        count: u32,
        flags: u32,
    ) -> u32;
    fn cuUserObjectRelease(object: Handle, count: u32) -> u32;
    fn cuGraphRetainUserObject(graph: Handle, object: Handle, count: u32, flags: u32) -> u32;
    fn cuGraphReleaseUserObject(graph: Handle, object: Handle, count: u32) -> u32;
    fn cuTexRefCreate(reference: *mut Handle) -> u32;
    fn cuGetProcAddress_v2(name: *const c_char, out: *mut *const c_void, version: i32, flags: u64, s: *mut u32) -> u32;
}

const PTX: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry first(.param .u64 p, .param .u32 n) { ret; }
.visible .entry second() { ret; }
";

#[test]
fn modules_tell_their_kernels() {
    context();
    let module = load(PTX);
    let mut count = 0;
    // SAFETY: pointers are those of locals that outlive the call, and handles those that it was given.
    assert_eq!(unsafe { cuModuleGetFunctionCount(&mut count, module) }, 0);
    assert_eq!(count, 2);
    let mut found = [0; 2];
    // SAFETY: pointers are those of locals that outlive the call, and handles those that it was given.
    assert_eq!(unsafe { cuModuleEnumerateFunctions(found.as_mut_ptr(), 2, module) }, 0);
    let mut names: Vec<String> = found.iter().map(|&kernel| name_of(kernel)).collect();
    names.sort();
    assert_eq!(names, ["first", "second"]);
    // Listed and looked up are the same.
    assert!(found.contains(&function(module, "first")));
    let first = function(module, "first");
    let (mut params, mut offset, mut bytes) = (0, 0, 0);
    // SAFETY: pointers are those of locals that outlive the call, and handles those that it was given.
    assert_eq!(unsafe { cuFuncGetParamCount(first, &mut params) }, 0);
    assert_eq!(params, 2);
    // SAFETY: pointers are those of locals that outlive the call, and handles those that it was given.
    assert_eq!(unsafe { cuKernelGetParamInfo(first, 1, &mut offset, &mut bytes) }, 0);
    assert_eq!((offset, bytes), (8, 4));
    // SAFETY: pointers are those of locals that outlive the call, and handles those that it was given.
    assert_eq!(unsafe { cuKernelGetParamInfo(first, 2, &mut offset, &mut bytes) }, 1);
}

#[test]
fn no_function_has_no_name() {
    context();
    let mut text = null();
    // SAFETY: a pointer to a local, and no function.
    assert_eq!(unsafe { cuFuncGetName(&mut text, 0) }, 1);
    assert!(text.is_null());
}

fn name_of(kernel: Handle) -> String {
    let mut text = null();
    // SAFETY: pointers are those of locals that outlive the call, and handles those that it was given.
    assert_eq!(unsafe { cuFuncGetName(&mut text, kernel) }, 0);
    // SAFETY: the text lives as long as the module.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[test]
fn pools_and_peers_are_those_of_one_device() {
    context();
    let (mut pool, mut access, mut value) = (0, 0, 0);
    let (device, host) = ([1, 0], [2, 0]);
    // SAFETY: pointers are those of locals that outlive the call, and handles those that it was given.
    assert_eq!(unsafe { cuMemGetDefaultMemPool(&mut pool, &device, 1) }, 0);
    // SAFETY: pointers are those of locals that outlive the call, and handles those that it was given.
    assert_eq!(unsafe { cuMemPoolGetAccess(&mut access, pool, &device) }, 0);
    assert_eq!(access, 3);
    // SAFETY: pointers are those of locals that outlive the call, and handles those that it was given.
    assert_eq!(unsafe { cuMemGetDefaultMemPool(&mut pool, &host, 1) }, 801);
    // SAFETY: pointers are those of locals that outlive the call, and handles those that it was given.
    assert_eq!(unsafe { cuDeviceGetP2PAttribute(&mut value, 1, 0, 0) }, 101);
}

#[test]
fn a_batch_copies_all_its_pieces() {
    context();
    let (a, b) = (upload(&[1u32, 2, 3, 4]), upload(&[0u32; 4]));
    let mut stream = 0;
    // SAFETY: pointers are those of locals that outlive the call, and handles those that it was given.
    assert_eq!(unsafe { cuStreamCreate(&mut stream, 1) }, 0);
    let (to, from, bytes) = ([b, b + 8], [a + 8, a], [8usize, 8]);
    // `CUmemcpyAttributes` for all of them: copied in the order of the stream.
    let attributes = [1u32; 1].into_iter().chain([0; 7]).collect::<Vec<_>>();
    // SAFETY: as above.
    let batch = |stream, count| unsafe {
        let attributes = attributes.as_ptr().cast();
        cuMemcpyBatchAsync_v2(to.as_ptr(), from.as_ptr(), bytes.as_ptr(), 2, attributes, [0].as_ptr(), count, stream)
    };
    assert_eq!(batch(0, 1), 1, "not on the legacy stream");
    assert_eq!(batch(stream, 0), 1, "no attributes");
    assert_eq!(batch(stream, 1), 0);
    // SAFETY: as above; the attributes have the size of theirs.
    let single =
        |attributes: *const u32| unsafe { cuMemcpyWithAttributesAsync(b, a + 8, 8, attributes.cast(), stream) };
    assert_eq!([single(null()), single([0u32; 8].as_ptr()), single(attributes.as_ptr())], [1, 1, 0]);
    // SAFETY: pointers are those of locals that outlive the call, and handles those that it was given.
    assert_eq!(unsafe { cuStreamSynchronize(stream) }, 0);
    assert_eq!(download::<u32>(b, 4), [3, 4, 1, 2]);
}

/// A pointer or an array in `CUDA_MEMCPY3D_BATCH_OP`, both with 24 bytes that follow.
#[repr(C)]
#[derive(Clone, Copy)]
struct Operand {
    kind: u32,
    what: u64,
    rest: [usize; 3],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct BoxCopy {
    from: Operand,
    to: Operand,
    extent: [usize; 3],
    order: u32,
    flags: u32,
}

#[test]
fn a_batch_copies_boxes() {
    context();
    let numbers: Vec<u32> = (0..64).collect();
    // 4 rows of 4 words, of which boxes of 2 by 2 are taken; through an array of 3 by 3 texels of 8 bytes.
    let (a, b) = (upload(&numbers), upload(&[0u32; 64]));
    let (mut stream, mut array) = (0, 0);
    // Width and height; 32-bit integers, two channels.
    let shape = (3usize, 3usize, 3u32, 2u32);
    // SAFETY: pointers are those of locals that outlive the call, and handles those that it was given.
    unsafe {
        assert_eq!(cuStreamCreate(&mut stream, 1), 0);
        assert_eq!(cuArrayCreate_v2(&mut array, (&raw const shape).cast()), 0);
    }
    let memory = |what: u64, row: usize, layer: usize| Operand { kind: 1, what, rest: [row, layer, 0] };
    let texels = |at: [usize; 3]| Operand { kind: 2, what: array as u64, rest: at };
    let copy = |from, to, extent| BoxCopy { from, to, extent, order: 1, flags: 0 };
    // SAFETY: as above.
    let run = |list: &[BoxCopy], flags, stream| unsafe {
        [
            cuMemcpy3DBatchAsync_v2(list.len(), list.as_ptr(), flags, stream),
            cuStreamSynchronize(stream),
            cuMemcpy3DWithAttributesAsync(&list[0], flags, stream),
        ]
    };
    // Between pointers an element is a byte.
    let plain = copy(memory(a + 4, 16, 0), memory(b, 8, 0), [8, 2, 1]);
    let [into, out] = [
        copy(memory(a + 32, 2, 0), texels([1, 1, 0]), [2, 2, 1]),
        copy(texels([1, 1, 0]), memory(b + 16, 2, 2), [2, 2, 1]),
    ];
    assert_eq!(run(&[plain, into], 0, stream), [0; 3]);
    assert_eq!(run(&[out], 0, stream), [0; 3]);
    // SAFETY: as above.
    assert_eq!(unsafe { cuStreamSynchronize(stream) }, 0);
    assert_eq!(download::<u32>(b, 12), [1, 2, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15]);
    assert_eq!(run(&[plain], 0, 0)[0], 1, "not on the legacy stream");
    assert_eq!(run(&[plain], 1, stream)[0], 1, "no flags yet");
    let wrong = [
        BoxCopy { order: 0, ..plain },
        BoxCopy { order: 4, ..plain },
        BoxCopy { flags: 2, ..plain },
        BoxCopy { extent: [8, 0, 1], ..plain },
        BoxCopy { from: Operand { kind: 3, ..plain.from }, ..plain },
        BoxCopy { from: memory(a, 7, 0), ..plain },
        copy(memory(a, 0, 0), texels([2, 2, 0]), [2, 1, 1]),
    ];
    for (index, wrong) in wrong.iter().enumerate() {
        assert_eq!(run(&[*wrong], 0, stream)[0], 1, "{index}");
    }
}

static DESTROYED: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn destroyed(data: *mut c_void) {
    assert_eq!(data as usize, 7);
    DESTROYED.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn a_user_object_lives_as_long_as_the_last_graph_that_holds_it() {
    context();
    let (mut graph, mut object, mut exec, mut node) = (0, 0, 0, 0);
    // SAFETY: pointers are those of locals that outlive the call, and handles those that it was given.
    unsafe {
        assert_eq!(cuGraphCreate(&mut graph, 0), 0);
        assert_eq!(cuGraphAddEmptyNode(&mut node, graph, null(), 0), 0);
        assert_eq!(cuUserObjectCreate(&mut object, 7 as *mut c_void, Some(destroyed), 1, 0), 1, "the flag is demanded");
        assert_eq!(cuUserObjectCreate(&mut object, 7 as *mut c_void, Some(destroyed), 2, 1), 0);
        assert_eq!(cuGraphRetainUserObject(graph, object, 3, 1), 1, "more than there are");
        assert_eq!(cuGraphRetainUserObject(graph, object, 1, 1), 0);
        assert_eq!(cuGraphReleaseUserObject(graph, object, 2), 1, "more than the graph has");
        assert_eq!(cuUserObjectRelease(object, 1), 0);
        assert_eq!(cuGraphInstantiateWithFlags(&mut exec, graph, 0), 0);
        assert_eq!(cuGraphDestroy(graph), 0);
        assert_eq!(DESTROYED.load(Ordering::SeqCst), 0, "the executable graph still holds it");
        assert_eq!(cuGraphExecDestroy(exec), 0);
    }
    assert_eq!(DESTROYED.load(Ordering::SeqCst), 1);
}

#[test]
fn a_graph_is_drawn_with_its_edges() {
    context();
    let (mut graph, mut a, mut b) = (0, 0, 0);
    let path = std::env::temp_dir().join(format!("lockstep-graph-{}.dot", std::process::id()));
    let name = CString::new(path.to_str().expect("a plain path")).expect("no NUL");
    // SAFETY: pointers are those of locals that outlive the call, and handles those that it was given.
    unsafe {
        assert_eq!(cuGraphCreate(&mut graph, 0), 0);
        assert_eq!(cuGraphAddEmptyNode(&mut a, graph, null(), 0), 0);
        assert_eq!(cuGraphAddEmptyNode(&mut b, graph, &a, 1), 0);
        assert_eq!(cuGraphDebugDotPrint(graph, name.as_ptr(), 0), 0);
    }
    let text = std::fs::read_to_string(&path).expect("written");
    let _ = std::fs::remove_file(&path);
    assert_ne!(a, b);
    assert!(text.contains("_node_0\" -> \"graph_") && text.contains("_node_1\""), "{text}");
}

#[test]
fn what_the_emulator_lacks_is_there_and_says_so() {
    context();
    let mut object = 0;
    // SAFETY: pointers are those of locals that outlive the call, and handles those that it was given.
    assert_eq!(unsafe { cuTexRefCreate(&mut object) }, 801);
    for name in [c"cuTexRefCreate", c"cuArrayCreate", c"cuMipmappedArrayCreate", c"cuGreenCtxCreate"] {
        let mut address = null();
        // SAFETY: pointers are those of locals that outlive the call, and handles those that it was given.
        assert_eq!(unsafe { cuGetProcAddress_v2(name.as_ptr(), &mut address, 13000, 0, null_mut()) }, 0, "{name:?}");
        assert!(!address.is_null());
    }
}
