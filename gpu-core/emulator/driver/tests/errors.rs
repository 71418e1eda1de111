//! Errors as CUDA gives them: one row for each way of calling wrongly, and one child process for each fault, because a
//! fault ends the use of CUDA in its process.

mod common;

use common::*;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};

unsafe extern "C" {
    fn cuDeviceGet(device: *mut i32, ordinal: i32) -> u32;
    fn cuDeviceGetCount(count: *mut i32) -> u32;
    fn cuCtxGetLimit(value: *mut usize, limit: u32) -> u32;
    fn cuModuleLoad(module: *mut Handle, path: *const c_char) -> u32;
    fn cuModuleGetGlobal_v2(pointer: *mut u64, bytes: *mut usize, module: Handle, name: *const c_char) -> u32;
    fn cuFuncSetAttribute(function: Handle, id: u32, value: i32) -> u32;
    fn cuMemHostRegister_v2(pointer: *mut c_void, bytes: usize, flags: u32) -> u32;
    fn cuMemHostUnregister(pointer: *mut c_void) -> u32;
    fn cuMemFreeHost(pointer: *mut c_void) -> u32;
    fn cuMemsetD32_v2(to: u64, value: u32, count: usize) -> u32;
    fn cuPointerGetAttribute(out: *mut c_void, attribute: u32, pointer: u64) -> u32;
    fn cuStreamCreate(stream: *mut Handle, flags: u32) -> u32;
    fn cuStreamDestroy_v2(stream: Handle) -> u32;
    fn cuStreamQuery(stream: Handle) -> u32;
    fn cuStreamSynchronize(stream: Handle) -> u32;
    fn cuEventCreate(event: *mut Handle, flags: u32) -> u32;
    fn cuEventDestroy_v2(event: Handle) -> u32;
    fn cuEventQuery(event: Handle) -> u32;
    fn cuEventRecord(event: Handle, stream: Handle) -> u32;
    fn cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle) -> u32;
    fn cuLaunchHostFunc(stream: Handle, function: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void) -> u32;
    fn cuLaunchHostFunc_v2(
        stream: Handle,
        function: Option<unsafe extern "C" fn(*mut c_void)>,
        data: *mut c_void,
        mode: u32,
    ) -> u32;
    fn cuGetErrorName(code: u32, text: *mut *const c_char) -> u32;
    fn cuGetErrorString(code: u32, text: *mut *const c_char) -> u32;
    fn cuGetProcAddress_v2(
        symbol: *const c_char,
        address: *mut *const c_void,
        version: i32,
        flags: u64,
        status: *mut u32,
    ) -> u32;
}

/// A kernel for each fault, and one that works.
const PTX: &str = "
.version 8.0
.target sm_90
.address_size 64
.const .align 8 .b8 _Z5tableIdE[32];
.const .align 8 .b8 _Z5tableIfE[16];
.visible .entry works(.param .u64 p) {
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    st.global.u32 [%rd1], 1;
    ret;
}
.visible .entry bounded() .maxntid 64, 1, 1 { ret; }
.visible .entry exact() .reqntid 48 { ret; }
.visible .entry illegal(.param .u64 p) {
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    st.global.u32 [%rd1+1073741824], 1;
    ret;
}
.visible .entry freed(.param .u64 p) {
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    st.global.u32 [%rd1], 1;
    ret;
}
.visible .entry misaligned(.param .u64 p) {
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    st.global.u32 [%rd1+2], 1;
    ret;
}
.visible .entry shared(.param .u64 p) {
    .reg .b32 %r<2>;
    .shared .b32 tile[4];
    mov.u32 %r1, tile;
    st.shared.u32 [%r1+1048576], 1;
    ret;
}
.visible .entry trapped(.param .u64 p) { trap; }
";

fn name(text: &str) -> CString {
    CString::new(text).expect("no zero inside")
}

unsafe extern "C" fn sleep(_: *mut c_void) {
    std::thread::sleep(std::time::Duration::from_millis(200));
}

/// What a row needs; made once.
struct Fixture {
    context: Handle,
    module: Handle,
    works: Handle,
    bounded: Handle,
    exact: Handle,
    buffer: u64,
    stream: Handle,
    event: Handle,
    recorded: Handle,
    untimed: Handle,
}

impl Fixture {
    fn new() -> Fixture {
        let context = context();
        let module = load(PTX);
        let made = |make: &dyn Fn(*mut Handle) -> u32| {
            let mut handle = 0;
            assert_eq!(make(&mut handle), 0);
            handle
        };
        // SAFETY: the pointers are valid for a write.
        let (stream, event, recorded, untimed) = unsafe {
            (
                made(&|out| cuStreamCreate(out, 1)),
                made(&|out| cuEventCreate(out, 0)),
                made(&|out| cuEventCreate(out, 0)),
                made(&|out| cuEventCreate(out, 2)),
            )
        };
        // SAFETY: handles just made.
        unsafe {
            assert_eq!(cuEventRecord(recorded, stream), 0);
            assert_eq!(cuEventRecord(untimed, stream), 0);
            assert_eq!(cuStreamSynchronize(stream), 0);
        }
        Fixture {
            context,
            module,
            works: function(module, "works"),
            bounded: function(module, "bounded"),
            exact: function(module, "exact"),
            buffer: alloc(64),
            stream,
            event,
            recorded,
            untimed,
        }
    }

    fn launch(&self, function: Handle, grid: u32, block: u32, shared: u32, stream: Handle) -> u32 {
        let mut arguments = [arg(&self.buffer)];
        // SAFETY: one pointer for the one parameter.
        unsafe { cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, stream, arguments.as_mut_ptr(), null_mut()) }
    }
}

#[allow(clippy::undocumented_unsafe_blocks, reason = "said once, where the rows are called")]
mod rows {
    use super::*;

    pub type Row = (&'static str, u32, unsafe fn(&Fixture) -> u32);

    /// What is called wrongly, what comes back, the call.
    pub const ROWS: &[Row] = &[
        ("init with flags", 1, |_| unsafe { cuInit(1) }),
        ("a device that is not there", 101, |_| unsafe { cuDeviceGet(&mut 0, 1) }),
        ("a negative device", 101, |_| unsafe { cuDeviceGet(&mut 0, -1) }),
        ("an attribute that does not exist", 1, |_| unsafe { cuDeviceGetAttribute(&mut 0, 100_000, 0) }),
        ("an attribute into nowhere", 1, |_| unsafe { cuDeviceGetAttribute(null_mut(), 1, 0) }),
        ("no such context made current", 201, |_| unsafe { cuCtxSetCurrent(4711) }),
        ("no such context destroyed", 201, |_| unsafe { cuCtxDestroy_v2(4711) }),
        ("no such limit", 1, |_| unsafe { cuCtxGetLimit(&mut 0, 99) }),
        ("a limit of kernels that launch kernels", 215, |_| unsafe { cuCtxGetLimit(&mut 0, 3) }),
        ("nothing allocated", 1, |_| unsafe { cuMemAlloc_v2(&mut 0, 0) }),
        ("allocation into nowhere", 1, |_| unsafe { cuMemAlloc_v2(null_mut(), 16) }),
        ("more than there is", 2, |_| unsafe { cuMemAlloc_v2(&mut 0, 1 << 60) }),
        ("free of nothing is allowed", 0, |_| unsafe { cuMemFree_v2(0) }),
        ("free of no allocation", 1, |_| unsafe { cuMemFree_v2(0xdead_0000) }),
        ("free inside an allocation", 1, |f| unsafe { cuMemFree_v2(f.buffer + 16) }),
        ("double free", 1, |_| {
            let pointer = alloc(64);
            unsafe { [cuMemFree_v2(pointer), cuMemFree_v2(pointer)][1] }
        }),
        ("copy past the end", 1, |f| unsafe { cuMemcpyHtoD_v2(f.buffer + 60, [0u8; 8].as_ptr().cast(), 8) }),
        ("copy from NULL", 1, |f| unsafe { cuMemcpyHtoD_v2(f.buffer, null(), 8) }),
        ("copy of nothing is allowed", 0, |f| unsafe { cuMemcpyHtoD_v2(f.buffer, null(), 0) }),
        ("copy to the host past the end", 1, |f| unsafe {
            cuMemcpyDtoH_v2([0u8; 128].as_mut_ptr().cast(), f.buffer, 128)
        }),
        ("fill off its alignment", 1, |f| unsafe { cuMemsetD32_v2(f.buffer + 2, 0, 1) }),
        ("fill past the end", 1, |f| unsafe { cuMemsetD32_v2(f.buffer, 0, 17) }),
        ("attribute of no pointer", 1, |_| unsafe {
            cuPointerGetAttribute([0u64; 1].as_mut_ptr().cast(), 2, 0xdead_0000)
        }),
        ("host memory freed that is none", 1, |_| unsafe { cuMemFreeHost(16 as *mut c_void) }),
        ("unregistered that was not registered", 713, |_| unsafe { cuMemHostUnregister(16 as *mut c_void) }),
        ("registered twice", 712, |_| {
            let mut data = vec![0u8; 8192];
            let pointer = data.as_mut_ptr().cast();
            unsafe {
                let codes = [cuMemHostRegister_v2(pointer, 8192, 0), cuMemHostRegister_v2(pointer, 8192, 0)];
                assert_eq!((codes[0], cuMemHostUnregister(pointer)), (0, 0));
                codes[1]
            }
        }),
        ("no image", 1, |_| unsafe { cuModuleLoadData(&mut 0, null()) }),
        ("an image that is none", 200, |_| unsafe { cuModuleLoadData(&mut 0, c"int main() {}".as_ptr().cast()) }),
        ("PTX with a mistake", 218, |_| unsafe {
            cuModuleLoadData(
                &mut 0,
                c".version 8.0\n.target sm_90\n.address_size 64\n.entry k() { nonsense; }".as_ptr().cast(),
            )
        }),
        ("no such file", 301, |_| unsafe { cuModuleLoad(&mut 0, c"/nowhere/kernel.ptx".as_ptr()) }),
        ("no such module", 400, |_| unsafe { cuModuleUnload(4711) }),
        ("function of no module", 400, |_| unsafe { cuModuleGetFunction(&mut 0, 4711, c"works".as_ptr()) }),
        ("no such function", 500, |f| unsafe { cuModuleGetFunction(&mut 0, f.module, c"other".as_ptr()) }),
        ("function without a name", 1, |f| unsafe { cuModuleGetFunction(&mut 0, f.module, null()) }),
        ("a variable by its name in the source", 500, |f| unsafe {
            cuModuleGetGlobal_v2(&mut 0, null_mut(), f.module, c"table".as_ptr())
        }),
        ("no such variable", 500, |f| unsafe { cuModuleGetGlobal_v2(&mut 0, null_mut(), f.module, c"other".as_ptr()) }),
        ("module unloaded twice", 400, |_| {
            let module = load(PTX);
            unsafe { [cuModuleUnload(module), cuModuleUnload(module)][1] }
        }),
        ("function of an unloaded module", 400, |f| {
            let module = load(PTX);
            let gone = function(module, "works");
            assert_eq!(unsafe { cuModuleUnload(module) }, 0);
            f.launch(gone, 1, 1, 0, 0)
        }),
        ("launch of no function", 400, |f| f.launch(4711, 1, 32, 0, 0)),
        ("launch in no stream", 400, |f| f.launch(f.works, 1, 32, 0, 4711)),
        ("launch of no blocks", 1, |f| f.launch(f.works, 0, 32, 0, 0)),
        ("launch of no threads", 1, |f| f.launch(f.works, 1, 0, 0, 0)),
        ("launch of too many threads", 1, |f| f.launch(f.works, 1, 1025, 0, 0)),
        ("launch past the kernel's bounds", 1, |f| f.launch(f.bounded, 1, 65, 0, 0)),
        ("launch with its one block shape", 0, |f| f.launch(f.exact, 1, 48, 0, 0)),
        ("launch with another", 1, |f| f.launch(f.exact, 1, 32, 0, 0)),
        ("launch with more shared memory than asked for", 1, |f| f.launch(f.works, 1, 32, (48 << 10) + 1, 0)),
        ("launch without arguments", 1, |f| unsafe {
            cuLaunchKernel(f.works, 1, 1, 1, 1, 1, 1, 0, 0, null_mut(), null_mut())
        }),
        ("more shared memory than a block has", 1, |f| unsafe { cuFuncSetAttribute(f.works, 8, 1 << 20) }),
        ("an attribute that cannot be set", 1, |f| unsafe { cuFuncSetAttribute(f.works, 4, 10) }),
        ("attribute of no function", 400, |_| unsafe { cuFuncGetAttribute(&mut 0, 0, 4711) }),
        ("occupancy of no threads", 1, |f| unsafe {
            cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut 0, f.works, 0, 0)
        }),
        ("a stream with unknown flags", 1, |_| unsafe { cuStreamCreate(&mut 0, 8) }),
        ("no such stream", 400, |_| unsafe { cuStreamSynchronize(4711) }),
        ("stream destroyed twice", 400, |_| {
            let mut stream = 0;
            unsafe { [cuStreamCreate(&mut stream, 0), cuStreamDestroy_v2(stream), cuStreamDestroy_v2(stream)][2] }
        }),
        ("a stream that is not done", 600, |f| unsafe {
            assert_eq!(cuLaunchHostFunc(f.stream, Some(sleep), null_mut()), 0);
            let code = cuStreamQuery(f.stream);
            assert_eq!((cuStreamSynchronize(f.stream), cuStreamQuery(f.stream)), (0, 0));
            code
        }),
        ("a stream that is not done with a call for which it spins", 600, |f| unsafe {
            assert_eq!(cuLaunchHostFunc_v2(f.stream, Some(sleep), null_mut(), 1), 0);
            let code = cuStreamQuery(f.stream);
            assert_eq!(cuStreamSynchronize(f.stream), 0);
            code
        }),
        ("a call of the host in no known mode", 1, |f| unsafe {
            cuLaunchHostFunc_v2(f.stream, Some(sleep), null_mut(), 2)
        }),
        ("no host function", 1, |f| unsafe { cuLaunchHostFunc(f.stream, None, null_mut()) }),
        ("an event with unknown flags", 1, |_| unsafe { cuEventCreate(&mut 0, 16) }),
        ("no such event", 400, |_| unsafe { cuEventQuery(4711) }),
        ("event destroyed twice", 400, |_| {
            let mut event = 0;
            unsafe { [cuEventCreate(&mut event, 0), cuEventDestroy_v2(event), cuEventDestroy_v2(event)][2] }
        }),
        ("an event that was never recorded is done", 0, |f| unsafe { cuEventQuery(f.event) }),
        ("time since an event that was never recorded", 400, |f| unsafe {
            cuEventElapsedTime(&mut 0.0, f.event, f.recorded)
        }),
        ("time of an event without timing", 400, |f| unsafe { cuEventElapsedTime(&mut 0.0, f.untimed, f.recorded) }),
        ("time until an event that is not done", 600, |f| unsafe {
            assert_eq!(cuLaunchHostFunc(f.stream, Some(sleep), null_mut()), 0);
            let mut late = 0;
            assert_eq!((cuEventCreate(&mut late, 0), cuEventRecord(late, f.stream)), (0, 0));
            let codes = (cuEventQuery(late), cuEventElapsedTime(&mut 0.0, f.recorded, late));
            assert_eq!((codes.0, cuStreamSynchronize(f.stream)), (600, 0));
            codes.1
        }),
        ("no context", 201, |f| unsafe {
            assert_eq!(cuCtxSetCurrent(0), 0);
            let code = cuMemAlloc_v2(&mut 0, 16);
            assert_eq!(cuCtxSetCurrent(f.context), 0);
            code
        }),
        ("name of no error", 1, |_| unsafe { cuGetErrorName(123_456, &mut null()) }),
        ("no such entry point, which the status tells", 0, |_| unsafe {
            let (mut address, mut status) = (null(), 9);
            let code = cuGetProcAddress_v2(c"cuNothing".as_ptr(), &mut address, 13000, 0, &mut status);
            assert!(address.is_null() && status == 1);
            code
        }),
    ];
}

#[test]
fn wrong_calls_get_cudas_errors() {
    let fixture = Fixture::new();
    for (what, code, call) in rows::ROWS {
        // SAFETY: each row calls with handles of the fixture and pointers to its own locals.
        assert_eq!(unsafe { call(&fixture) }, *code, "{what}");
    }
    // And nothing is broken by them.
    assert_eq!(fixture.launch(fixture.works, 1, 1, 0, 0), 0);
    assert_eq!(download::<u32>(fixture.buffer, 1), [1]);
}

#[test]
fn errors_have_names_and_meanings() {
    for (code, name, meaning) in [
        (0, "CUDA_SUCCESS", "no error"),
        (1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"),
        (700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"),
        (910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", "the graph update"),
    ] {
        let (mut text, mut long) = (null(), null());
        // SAFETY: the pointers are valid for a write; the texts are static.
        unsafe {
            assert_eq!((cuGetErrorName(code, &mut text), cuGetErrorString(code, &mut long)), (0, 0));
            assert_eq!(CStr::from_ptr(text).to_str(), Ok(name));
            assert!(CStr::from_ptr(long).to_string_lossy().starts_with(meaning));
        }
    }
}

const CHILD: &str = "LOCKSTEP_TEST_FAULT";

/// The faults and what they give.
const FAULTS: &[(&str, u32)] =
    &[("illegal", 700), ("freed", 700), ("misaligned", 716), ("shared", 700), ("trapped", 719)];

#[test]
fn faults_are_sticky_for_the_whole_process() {
    let exe = std::env::current_exe().expect("this binary");
    for (fault, code) in FAULTS {
        let output = std::process::Command::new(&exe)
            .args(["--exact", "one_fault", "--ignored", "--nocapture"])
            .env(CHILD, fault)
            .output()
            .expect("a child");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(&format!("CODES {:?}", [*code; 6])), "{fault}: {text}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let place = said.contains("; address 0x") && said.contains("` is 0x") || *fault == "trapped";
        assert!(place && said.contains("instruction `"), "{fault}: {said}");
    }
}

#[test]
#[ignore = "runs in a process of its own, for each fault"]
fn one_fault() {
    let Ok(fault) = std::env::var(CHILD) else { return };
    let context = context();
    let (buffer, gone) = (alloc(64), alloc(64));
    // SAFETY: a pointer just allocated.
    assert_eq!(unsafe { cuMemFree_v2(gone) }, 0);
    let kernel = function(load(PTX), &fault);
    let pointer = if fault == "freed" { gone } else { buffer };
    assert_eq!(launch(kernel, [1, 1, 1], [1, 1, 1], &mut [arg(&pointer)]), 0, "a launch does not wait");
    let mut other = 0;
    // SAFETY: handles and pointers of this function.
    let codes = unsafe {
        // The call after the launch does not have its error yet, as on hardware.
        assert_eq!(cuEventCreate(&mut 0, 0), 0);
        [
            cuCtxSynchronize(),
            cuCtxSynchronize(),
            cuMemAlloc_v2(&mut 0, 16),
            cuMemcpyDtoH_v2([0u8; 4].as_mut_ptr().cast(), buffer, 4),
            launch(kernel, [1, 1, 1], [1, 1, 1], &mut [arg(&buffer)]),
            {
                // There is no new context either.
                let code = cuCtxCreate_v2(&mut other, 0, 0);
                assert_eq!(cuCtxSetCurrent(context), 0);
                code
            },
        ]
    };
    println!("CODES {codes:?}");
}

#[test]
fn nothing_works_before_initialisation() {
    let exe = std::env::current_exe().expect("this binary");
    let output = std::process::Command::new(&exe)
        .args(["--exact", "before_initialisation", "--ignored", "--nocapture"])
        .env(CHILD, "none")
        .output()
        .expect("a child");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("CODES [3, 3, 3, 3]"), "{text}");
}

#[test]
#[ignore = "runs in a process of its own, where nothing is initialised"]
fn before_initialisation() {
    // SAFETY: pointers to locals.
    let codes = unsafe {
        [
            cuDeviceGetCount(&mut 0),
            cuMemAlloc_v2(&mut 0, 16),
            cuModuleLoadData(&mut 0, name(PTX).as_ptr().cast()),
            cuStreamCreate(&mut 0, 0),
        ]
    };
    println!("CODES {codes:?}");
}

/// Instances of one template share the name that a programmer gave them.
#[test]
fn variables_answer_to_their_names_in_the_ptx() {
    context();
    let module = load(PTX);
    let find = |name: &CStr| {
        let (mut pointer, mut bytes) = (0, 0);
        // SAFETY: the pointers are valid for writes.
        let code = unsafe { cuModuleGetGlobal_v2(&mut pointer, &mut bytes, module, name.as_ptr()) };
        (code, pointer, bytes)
    };
    let ((one, of_doubles, eight_bytes), (two, of_floats, four_bytes)) = (find(c"_Z5tableIdE"), find(c"_Z5tableIfE"));
    assert_eq!((one, two, eight_bytes, four_bytes), (0, 0, 32, 16));
    assert_ne!(of_doubles, of_floats);
}
