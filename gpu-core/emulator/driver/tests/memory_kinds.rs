//! Memory beyond plain allocations: mapped addresses, arrays, words that streams write and wait for, managed memory.
//! Every code is what an H200's driver gives for the same call.

#[macro_use]
mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use common::*;

/// `CUmemAllocationProp`.
#[repr(C)]
struct Properties {
    kind: u32,
    handle_types: u32,
    location: [i32; 2],
    security: usize,
    flags: [u8; 8],
}

/// `CUmemLocation`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Location {
    kind: i32,
    id: i32,
}

/// `CUDA_MEMCPY2D_v2`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Copy2d {
    from_at: [usize; 2],
    from_kind: u32,
    from_host: usize,
    from_device: u64,
    from_array: Handle,
    from_pitch: usize,
    to_at: [usize; 2],
    to_kind: u32,
    to_host: usize,
    to_device: u64,
    to_array: Handle,
    to_pitch: usize,
    width: usize,
    height: usize,
}

/// `CUDA_ARRAY_DESCRIPTOR_v2`.
#[repr(C)]
#[derive(Debug, Default, PartialEq)]
struct Shape {
    width: usize,
    height: usize,
    format: u32,
    channels: u32,
}

unsafe extern "C" {
    fn cuMemCreate(out: *mut u64, bytes: usize, properties: *const Properties, flags: u64) -> u32;
    fn cuMemRelease(handle: u64) -> u32;
    fn cuMemAddressReserve(out: *mut u64, bytes: usize, align: usize, wish: u64, flags: u64) -> u32;
    fn cuMemAddressFree(start: u64, bytes: usize) -> u32;
    fn cuMemMap(start: u64, bytes: usize, offset: usize, handle: u64, flags: u64) -> u32;
    fn cuMemUnmap(start: u64, bytes: usize) -> u32;
    fn cuMemSetAccess(start: u64, bytes: usize, access: *const [i32; 3], count: usize) -> u32;
    fn cuMemGetAccess(flags: *mut u64, location: *const [i32; 2], start: u64) -> u32;
    fn cuMemExportToShareableHandle(out: *mut i32, handle: u64, kind: u32, flags: u64) -> u32;
    fn cuMemImportFromShareableHandle(out: *mut u64, handle: *mut c_void, kind: u32) -> u32;
    fn cuMemsetD8_v2(to: u64, value: u8, count: usize) -> u32;
    fn cuMemcpy2D_v2(request: *const Copy2d) -> u32;
    fn cuArrayCreate_v2(out: *mut Handle, shape: *const Shape) -> u32;
    fn cuArrayGetDescriptor_v2(out: *mut Shape, array: Handle) -> u32;
    fn cuArrayDestroy(array: Handle) -> u32;
    fn cuMemcpyHtoA_v2(array: Handle, offset: usize, from: *const c_void, bytes: usize) -> u32;
    fn cuMemcpyAtoH_v2(to: *mut c_void, array: Handle, offset: usize, bytes: usize) -> u32;
    fn cuStreamCreate(stream: *mut Handle, flags: u32) -> u32;
    fn cuStreamQuery(stream: Handle) -> u32;
    fn cuStreamSynchronize(stream: Handle) -> u32;
    fn cuStreamWriteValue32_v2(stream: Handle, address: u64, value: u32, flags: u32) -> u32;
    fn cuStreamWaitValue32_v2(stream: Handle, address: u64, value: u32, flags: u32) -> u32;
    fn cuStreamBatchMemOp_v2(stream: Handle, count: u32, operations: *const [u64; 6], flags: u32) -> u32;
    fn cuMemAllocManaged(pointer: *mut u64, bytes: usize, flags: u32) -> u32;
    fn cuMemAdvise_v2(pointer: u64, bytes: usize, advice: u32, location: Location) -> u32;
    fn cuMemPrefetchBatchAsync(
        pointers: *const u64,
        sizes: *const usize,
        count: usize,
        locations: *const Location,
        indices: *const usize,
        location_count: usize,
        flags: u64,
        stream: Handle,
    ) -> u32;
    fn cuMemDiscardBatchAsync(
        pointers: *const u64,
        sizes: *const usize,
        count: usize,
        flags: u64,
        stream: Handle,
    ) -> u32;
    fn cuMemPrefetchAsync_v2(pointer: u64, bytes: usize, location: Location, flags: u32, stream: Handle) -> u32;
    fn cuMemRangeGetAttribute(out: *mut i32, bytes: usize, id: u32, pointer: u64, length: usize) -> u32;
    fn cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: u32) -> u32;
    fn cuMemFreeHost(pointer: *mut c_void) -> u32;
    fn cuPointerGetAttributes(count: u32, ids: *const u32, out: *mut *mut c_void, pointer: u64) -> u32;
}

const PIECE: usize = 2 << 20;
const DEVICE_READ_WRITE: [i32; 3] = [1, 0, 3];

fn properties(handle_types: u32) -> Properties {
    Properties { kind: 1, handle_types, location: [1, 0], security: 0, flags: [0; 8] }
}

const ADD: &str = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry add(.param .u64 p) {
    .reg .u64 %rd<2>;\n .reg .u32 %r<2>;\n ld.param.u64 %rd1, [p];\n ld.global.u32 %r1, [%rd1];
    add.u32 %r1, %r1, 1;\n st.global.u32 [%rd1], %r1;\n ret;\n}";

#[cfg(target_os = "linux")]
#[test]
fn memory_is_mapped_at_several_addresses() {
    context();
    let (mut memory, mut start, mut flags) = (0, 0, 7);
    // SAFETY: pointers to locals; addresses of the reservation.
    unsafe {
        assert_eq!(cuMemCreate(&mut memory, PIECE, &properties(0), 0), 0);
        assert_eq!(cuMemCreate(&mut 0, 1000, &properties(0), 0), 1, "no multiple of the granularity");
        assert_eq!(cuMemAddressReserve(&mut start, 4 * PIECE, 0, 0, 0), 0);
        assert_eq!(cuMemAddressReserve(&mut 0, PIECE, 3, 0, 0), 1, "no alignment");
        assert_eq!(cuMemsetD8_v2(start, 1, 16), 1, "nothing is there yet");
        assert_eq!(cuMemMap(start, PIECE, 0, memory, 0), 0);
        assert_eq!(cuMemMap(start, PIECE, 0, memory, 0), 1, "it is taken");
        assert_eq!(cuMemMap(start + PIECE as u64, PIECE, 0, memory, 0), 0, "a second address");
        assert_eq!(cuMemMap(start + 2 * PIECE as u64, PIECE / 2, 0, memory, 0), 801, "not as a whole");
        assert_eq!(cuMemsetD8_v2(start, 1, 16), 1, "the device may not go there yet");
        assert_eq!((cuMemGetAccess(&mut flags, &[1, 0], start), flags), (0, 0));
        assert_eq!(cuMemSetAccess(start, 2 * PIECE, &DEVICE_READ_WRITE, 1), 0);
        assert_eq!(cuMemSetAccess(start, PIECE / 2, &DEVICE_READ_WRITE, 1), 1, "a part");
        assert_eq!((cuMemGetAccess(&mut flags, &[1, 0], start), flags), (0, 3));
        // One copy over both, which are the same memory.
        assert_eq!(cuMemsetD8_v2(start, 7, 2 * PIECE), 0);
        assert_eq!(cuMemsetD8_v2(start, 7, 3 * PIECE), 1);
        let add = function(load(ADD), "add");
        assert_eq!(launch(add, [1; 3], [1; 3], &mut [arg(&start)]), 0);
        assert_eq!(download::<u32>(start + PIECE as u64, 1), [0x0707_0708]);
        // What is mapped outlives its handle.
        assert_eq!((cuMemRelease(memory), cuMemRelease(memory)), (0, 1));
        assert_eq!(cuMemsetD8_v2(start, 9, PIECE), 0);
        assert_eq!(cuMemAddressFree(start, 4 * PIECE), 1, "something is mapped there");
        assert_eq!(cuMemUnmap(start, PIECE / 2), 1);
        assert_eq!((cuMemUnmap(start, 2 * PIECE), cuMemsetD8_v2(start, 9, 16)), (0, 1));
        assert_eq!((cuMemAddressFree(start, PIECE), cuMemAddressFree(start, 4 * PIECE)), (1, 0));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_goes_to_other_processes_as_a_file() {
    context();
    let (mut memory, mut twin, mut file) = (0, 0, -1);
    let mut starts = [0; 2];
    // SAFETY: pointers to locals; addresses of the reservations.
    unsafe {
        assert_eq!(cuMemCreate(&mut memory, PIECE, &properties(0), 0), 0);
        assert_eq!(cuMemExportToShareableHandle(&mut file, memory, 1, 0), 1, "it was not made for that");
        assert_eq!(cuMemRelease(memory), 0);
        assert_eq!(cuMemCreate(&mut memory, PIECE, &properties(1), 0), 0);
        assert_eq!(cuMemExportToShareableHandle(&mut file, memory, 1, 0), 0);
        assert_eq!(cuMemImportFromShareableHandle(&mut twin, file as usize as *mut c_void, 1), 0);
        for (start, handle) in starts.iter_mut().zip([memory, twin]) {
            assert_eq!(cuMemAddressReserve(start, PIECE, 0, 0, 0), 0);
            assert_eq!(cuMemMap(*start, PIECE, 0, handle, 0), 0);
            assert_eq!(cuMemSetAccess(*start, PIECE, &DEVICE_READ_WRITE, 1), 0);
        }
        assert_eq!(cuMemsetD8_v2(starts[0], 5, PIECE), 0);
        assert_eq!(download::<u8>(starts[1] + PIECE as u64 - 1, 1), [5]);
    }
}

#[test]
fn arrays_are_filled_and_read() {
    context();
    let shape = |width, height, format, channels| Shape { width, height, format, channels };
    let (mut array, mut line, mut found) = (0, 0, Shape::default());
    let values: Vec<f32> = (0..64).map(|index| index as f32).collect();
    let mut back = [0f32; 64];
    // SAFETY: pointers to locals that are as long as the copies say.
    unsafe {
        for wrong in [shape(0, 4, 32, 1), shape(16, 4, 32, 3), shape(16, 4, 99, 1), shape(131_073, 0, 32, 1)] {
            assert_eq!(cuArrayCreate_v2(&mut 0, &wrong), 1, "{wrong:?}");
        }
        assert_eq!(cuArrayCreate_v2(&mut array, &shape(16, 4, 32, 1)), 0);
        assert_eq!(cuArrayGetDescriptor_v2(&mut found, array), 0);
        assert_eq!(found, shape(16, 4, 32, 1));
        let into = Copy2d {
            from_kind: 1,
            from_host: values.as_ptr() as usize,
            from_pitch: 64,
            to_kind: 3,
            to_array: array,
            width: 64,
            height: 4,
            ..Copy2d::default()
        };
        assert_eq!(cuMemcpy2D_v2(&into), 0);
        assert_eq!(cuMemcpy2D_v2(&Copy2d { height: 5, ..into }), 1, "more rows than it has");
        assert_eq!(cuMemcpy2D_v2(&Copy2d { to_at: [4, 0], ..into }), 1, "past the end of a row");
        // A part of it, from the second row on.
        let out = Copy2d {
            from_at: [8, 1],
            from_kind: 3,
            from_array: array,
            to_kind: 1,
            to_host: back.as_mut_ptr() as usize,
            to_pitch: 16,
            width: 16,
            height: 2,
            ..Copy2d::default()
        };
        assert_eq!(cuMemcpy2D_v2(&out), 0);
        assert_eq!(back[..8], [18.0, 19.0, 20.0, 21.0, 34.0, 35.0, 36.0, 37.0]);
        assert_eq!(cuArrayCreate_v2(&mut line, &shape(64, 0, 32, 1)), 0);
        assert_eq!(cuMemcpyHtoA_v2(line, 0, values.as_ptr().cast(), 256), 0);
        assert_eq!(cuMemcpyHtoA_v2(line, 8, values.as_ptr().cast(), 256), 1);
        assert_eq!(cuMemcpyAtoH_v2(back.as_mut_ptr().cast(), line, 4, 8), 0);
        assert_eq!(back[..2], [1.0, 2.0]);
        assert_eq!((cuArrayDestroy(array), cuArrayDestroy(array), cuArrayDestroy(line)), (0, 400, 0));
    }
}

#[test]
fn streams_write_words_and_wait_for_them() {
    context();
    let words = upload(&[0u32; 4]);
    let (mut waits, mut writes) = (0, 0);
    const EQUAL: u32 = 1;
    // SAFETY: pointers to locals; the words are allocated.
    unsafe {
        assert_eq!((cuStreamCreate(&mut waits, 1), cuStreamCreate(&mut writes, 1)), (0, 0));
        assert_eq!(cuStreamWaitValue32_v2(waits, words, 5, EQUAL), 0);
        assert_eq!(cuStreamWriteValue32_v2(waits, words + 4, 6, 0), 0);
        assert_eq!(cuStreamQuery(waits), 600, "nobody has written it");
        assert_eq!(download::<u32>(words, 2), [0, 0]);
        assert_eq!(cuStreamWriteValue32_v2(writes, words, 5, 0), 0);
        assert_eq!(cuStreamSynchronize(waits), 0);
        assert_eq!(download::<u32>(words, 2), [5, 6]);
        for (address, flags) in [(words + 2, 0), (words, 8), (0, 0), (0x1000, 0)] {
            assert_eq!(cuStreamWriteValue32_v2(writes, address, 1, flags), 1, "{address:#x} {flags}");
        }
        assert_eq!(cuStreamWaitValue32_v2(writes, words, 1, 0x20), 1);
        // A write and a wait for it, in one call.
        let batch = [[2, words, 9, 0, 0, 0], [1, words, 9, u64::from(EQUAL), 0, 0]];
        assert_eq!(cuStreamBatchMemOp_v2(writes, 2, batch.as_ptr(), 0), 0);
        assert_eq!((cuStreamBatchMemOp_v2(writes, 0, null(), 0), cuStreamBatchMemOp_v2(writes, 1, null(), 0)), (0, 1));
        assert_eq!(cuStreamBatchMemOp_v2(writes, 1, [[99, words, 1, 0, 0, 0]].as_ptr(), 0), 1);
        assert_eq!(cuStreamSynchronize(writes), 0);
    }
    assert_eq!(download::<u32>(words, 1), [9]);
}

#[test]
fn advice_about_managed_memory_is_kept() {
    context();
    const DEVICE: Location = Location { kind: 1, id: 0 };
    const HOST: Location = Location { kind: 2, id: 0 };
    let plain = alloc(64);
    let mut memory = 0;
    // SAFETY: pointers to locals.
    unsafe {
        for flags in [0, 3, 4, 8] {
            assert_eq!(cuMemAllocManaged(&mut 0, 16, flags), 1, "{flags}");
        }
        assert_eq!(cuMemAllocManaged(&mut memory, 5000, 1), 0);
        for (pointer, bytes, advice, location) in
            [(memory, 5000, 0, DEVICE), (memory, 5000, 7, DEVICE), (memory, 0, 1, DEVICE), (plain, 64, 1, DEVICE)]
        {
            assert_eq!(cuMemAdvise_v2(pointer, bytes, advice, location), 1, "{bytes} {advice}");
        }
        assert_eq!(cuMemAdvise_v2(memory, 1 << 30, 1, DEVICE), 1, "past its end");
        assert_eq!(cuMemPrefetchAsync_v2(memory, 5000, Location { kind: 1, id: 9 }, 0, 0), 101);
        assert_eq!((cuMemAdvise_v2(memory, 5000, 1, DEVICE), cuMemAdvise_v2(memory, 5000, 3, DEVICE)), (0, 0));
        batches(memory);
        assert_eq!(cuMemPrefetchAsync_v2(memory, 5000, HOST, 0, 0), 0);
        for (id, expected) in [(1, 1), (2, 0), (3, -2), (4, -1), (5, 1), (7, 2), (8, -1)] {
            let mut value = -9;
            assert_eq!(cuMemRangeGetAttribute(&mut value, 4, id, memory, 5000), 0);
            assert_eq!(value, expected, "attribute {id}");
        }
        assert_eq!(cuMemRangeGetAttribute(&mut 0, 3, 1, memory, 5000), 1);
        assert_eq!((cuMemFree_v2(memory), cuMemFree_v2(memory)), (0, 1));
    }
}

#[test]
fn nothing_is_taken_for_memory_that_is_none() {
    context();
    let mut host = [7u8; 16];
    let own = host.as_mut_ptr() as u64;
    let memory = alloc(16);
    let mut pinned = std::ptr::dangling_mut::<c_void>();
    // SAFETY: addresses that are none are looked at before they are used.
    unsafe {
        assert_eq!(cuMemcpyHtoD_v2(0x1000, host.as_ptr().cast(), 16), 1);
        assert_eq!(cuMemcpyHtoD_v2(own, host.as_ptr().cast(), 16), 1, "pageable memory as the device's");
        assert_eq!(cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), 0x1000, 16), 1);
        assert_eq!(cuMemcpyHtoD_v2(memory, 0x1000 as *const c_void, 16), 1);
        assert_eq!(cuMemsetD8_v2(own, 0, 16), 1);
        let copy = Copy2d {
            from_kind: 2,
            from_device: own,
            to_kind: 2,
            to_device: memory,
            width: 8,
            height: 1,
            ..Copy2d::default()
        };
        assert_eq!(cuMemcpy2D_v2(&copy), 1);
        // The device's pointer is known for what it is, whatever it is called.
        let copy = Copy2d { from_kind: 1, from_host: memory as usize, from_device: 0, ..copy };
        assert_eq!(cuMemcpy2D_v2(&copy), 0);
        assert_eq!((cuMemHostAlloc(&mut pinned, 0, 0), pinned), (0, null_mut()));
        assert_eq!((cuMemHostAlloc(&mut pinned, 16, 8), cuMemFreeHost(null_mut())), (1, 0));
        let (ids, mut values) = ([2, 3], [7u64; 2]);
        let mut places: [*mut c_void; 2] = [(&raw mut values[0]).cast(), (&raw mut values[1]).cast()];
        assert_eq!(cuPointerGetAttributes(2, ids.as_ptr(), places.as_mut_ptr(), 0x1000), 0);
        assert_eq!(values, [0, 0], "what is unknown is zero");
        assert_eq!(cuPointerGetAttributes(2, null(), places.as_mut_ptr(), memory), 1);
        assert_eq!(cuPointerGetAttributes(2, ids.as_ptr(), null_mut(), memory), 1);
        assert_eq!(cuPointerGetAttributes(0, ids.as_ptr(), places.as_mut_ptr(), memory), 1);
    }
}

/// Several ranges of managed memory in one call. Codes as on an H200 (driver 580.159.04).
fn batches(memory: u64) {
    let mut stream = 0;
    let (pointers, sizes) = ([memory, memory + 64, memory + 128], [64usize, 64, 64]);
    let (host, device) = (Location { kind: 2, id: 0 }, Location { kind: 1, id: 0 });
    ok!(cuStreamCreate(&mut stream, 1));
    let prefetch = |locations: &[Location], indices: &[usize], flags: u64, stream: Handle| {
        let (locations, indices, count) = (locations.as_ptr(), indices.as_ptr(), locations.len());
        // SAFETY: lists of the lengths that are given.
        unsafe {
            cuMemPrefetchBatchAsync(pointers.as_ptr(), sizes.as_ptr(), 3, locations, indices, count, flags, stream)
        }
    };
    assert_eq!(prefetch(&[host, device], &[0, 2], 0, stream), 0);
    assert_eq!(prefetch(&[host, device], &[0, 0], 0, stream), 0, "though the manual forbids it");
    for indices in [[1, 2], [0, 3]] {
        assert_eq!(prefetch(&[host, device], &indices, 0, stream), 1, "{indices:?}");
    }
    assert_eq!(prefetch(&[host], &[0], 1, stream), 1, "no flags yet");
    assert_eq!(prefetch(&[host], &[0], 0, 0), 1, "not on the legacy stream");
    ok!(cuMemDiscardBatchAsync(pointers.as_ptr(), sizes.as_ptr(), 3, 0, stream));
    fails!(1, cuMemDiscardBatchAsync(pointers.as_ptr(), [64usize, 64, 5000].as_ptr(), 3, 0, stream));
}

const SHARED_VARIABLES: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .global .attribute(.managed) .align 4 .u32 counts[4] = {1, 2, 3, 4};
.global .align 4 .u32 plain = 5;
.visible .global .attribute(.managed) .align 8 .u64 total;
.visible .global .attribute(.managed) .align 4 .u32 flag;
.visible .entry waits() {
    .reg .b32 %r; .reg .pred %p;
AGAIN: ld.volatile.global.u32 %r, [flag];
    setp.eq.u32 %p, %r, 0;
    @%p bra AGAIN;
    st.global.u32 [flag], 7;
    ret;
}
.visible .entry k() {
    .reg .b32 %r<4>; .reg .b64 %l<4>;
    mov.u32 %r1, %tid.x;
    mov.u64 %l1, counts;
    mad.wide.u32 %l2, %r1, 4, %l1;
    ld.global.u32 %r2, [%l2];
    add.u32 %r2, %r2, 10;
    st.global.u32 [%l2], %r2;
    cvt.u64.u32 %l3, %r2;
    red.global.add.u64 [total], %l3;
    ret;
}
";

/// `__managed__`: the host reads and writes what kernels do, at one address.
#[cfg(target_os = "linux")]
#[test]
fn variables_may_be_shared_with_the_host() {
    unsafe extern "C" {
        fn cuModuleGetGlobal_v2(pointer: *mut u64, bytes: *mut usize, module: Handle, name: *const i8) -> u32;
        fn cuPointerGetAttribute(data: *mut c_void, attribute: i32, pointer: u64) -> u32;
    }
    /// `CU_POINTER_ATTRIBUTE_IS_MANAGED`.
    const MANAGED: i32 = 8;
    context();
    let module = load(SHARED_VARIABLES);
    let find = |name: &std::ffi::CStr| {
        let (mut pointer, mut bytes) = (0, 0);
        ok!(cuModuleGetGlobal_v2(&mut pointer, &mut bytes, module, name.as_ptr()));
        (pointer, bytes)
    };
    let ((counts, bytes), (total, _), (plain, _)) = (find(c"counts"), find(c"total"), find(c"plain"));
    assert_eq!(bytes, 16);
    for (address, expected) in [(counts, 1), (total, 1), (plain, 0)] {
        let mut managed = 7u32;
        ok!(cuPointerGetAttribute((&raw mut managed).cast(), MANAGED, address));
        assert_eq!(managed, expected);
    }
    let words = counts as *mut u32;
    // SAFETY: managed memory of 16 bytes, which no kernel is using.
    assert_eq!(unsafe { words.cast::<[u32; 4]>().read() }, [1, 2, 3, 4]);
    // SAFETY: as above.
    unsafe { words.add(2).write(100) };
    assert_eq!(launch(function(module, "k"), [1, 1, 1], [4, 1, 1], &mut []), 0);
    ok!(cuCtxSynchronize());
    // SAFETY: as above; the kernel has ended.
    unsafe {
        assert_eq!(words.cast::<[u32; 4]>().read(), [11, 12, 110, 14]);
        assert_eq!((total as *const u64).read(), 147);
    }
    // A kernel that waits for the host is not stuck.
    let flag = find(c"flag").0 as *mut u32;
    assert_eq!(launch(function(module, "waits"), [1, 1, 1], [1, 1, 1], &mut []), 0);
    std::thread::sleep(std::time::Duration::from_millis(200));
    // SAFETY: managed memory that the kernel reads as volatile.
    unsafe { flag.write_volatile(1) };
    ok!(cuCtxSynchronize());
    // SAFETY: the kernel has ended.
    assert_eq!(unsafe { flag.read() }, 7);
    ok!(cuModuleUnload(module));
}
