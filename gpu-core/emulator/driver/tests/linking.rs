//! Programs made of several PTX texts.

mod common;

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};

use common::*;

unsafe extern "C" {
    fn cuLinkCreate_v2(count: u32, options: *const u32, values: *mut *mut c_void, link: *mut Handle) -> u32;
    fn cuLinkAddData_v2(
        link: Handle,
        kind: u32,
        data: *const c_void,
        bytes: usize,
        name: *const c_char,
        count: u32,
        options: *const u32,
        values: *const *mut c_void,
    ) -> u32;
    fn cuLinkComplete(link: Handle, image: *mut *mut c_void, bytes: *mut usize) -> u32;
    fn cuLinkDestroy(link: Handle) -> u32;
    fn cuModuleLoadDataEx(
        module: *mut Handle,
        image: *const c_void,
        count: u32,
        options: *const u32,
        values: *mut *mut c_void,
    ) -> u32;
}

const HEAD: &str = ".version 7.8\n.target sm_80\n.address_size 64\n";
/// Calls a function and reads a variable of another text.
const CALLER: &str = "
.extern .func (.param .b32 r) twice(.param .b32 x);
.extern .global .align 4 .u32 hundred;
.visible .entry k(.param .u64 p) {
    .reg .u64 %rd<2>;
    .reg .u32 %r<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, 21;
    { .param .b32 q; .param .b32 z;
      st.param.b32 [q], %r1;
      call (z), twice, (q);
      ld.param.b32 %r2, [z]; }
    ld.global.u32 %r3, [hundred];
    add.u32 %r2, %r2, %r3;
    st.global.u32 [%rd1], %r2;
    ret;
}";
const CALLEE: &str = "
.visible .global .align 4 .u32 hundred = 100;
.visible .func (.param .b32 r) twice(.param .b32 x) {
    .reg .u32 %r<2>;
    ld.param.u32 %r1, [x];
    add.u32 %r1, %r1, %r1;
    st.param.b32 [r], %r1;
    ret;
}";
const WEAK: &str = "
.weak .func (.param .b32 r) twice(.param .b32 x) {
    .reg .u32 %r<2>;
    mov.u32 %r1, 7;
    st.param.b32 [r], %r1;
    ret;
}";

const PTX: u32 = 1;
const ERROR_BUFFER: u32 = 5;
const ERROR_BUFFER_SIZE: u32 = 6;

/// What a link gave: the codes of all calls up to the completion, what was said, and the number that the kernel wrote.
fn link(texts: &[&str]) -> (Vec<u32>, String, Option<u32>) {
    let mut log = [1u8; 512];
    let options = [ERROR_BUFFER, ERROR_BUFFER_SIZE];
    let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
    let (mut link, mut image, mut bytes) = (0, null_mut(), 0);
    // SAFETY: buffers and lists outlive the link; each text says its length.
    unsafe {
        assert_eq!(cuLinkCreate_v2(2, options.as_ptr(), values.as_mut_ptr(), &mut link), 0);
        let mut codes = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            // No zero behind it: the length is what counts.
            let text = format!("{HEAD}{text}");
            let name = CString::new(format!("t{index}")).expect("a name");
            let data = text.as_ptr().cast();
            codes.push(cuLinkAddData_v2(link, PTX, data, text.len(), name.as_ptr(), 0, null(), null()));
        }
        codes.push(cuLinkComplete(link, &mut image, &mut bytes));
        let mut written = None;
        if codes.iter().all(|code| *code == 0) {
            let mut module = 0;
            assert_eq!(cuModuleLoadData(&mut module, image), 0);
            let out = alloc(4);
            assert_eq!(launch(function(module, "k"), [1; 3], [1; 3], &mut [arg(&out)]), 0);
            assert_eq!(cuCtxSynchronize(), 0);
            written = Some(download::<u32>(out, 1)[0]);
        }
        assert_eq!(cuLinkDestroy(link), 0);
        let said =
            if log[0] == 1 { String::new() } else { CStr::from_ptr(log.as_ptr().cast()).to_string_lossy().into() };
        (codes, said, written)
    }
}

// The codes and the words are those of an H200's driver.
#[test]
fn texts_find_each_other() {
    context();
    for texts in [&[CALLER, CALLEE][..], &[CALLEE, CALLER], &[CALLER, CALLEE, WEAK], &[CALLER, WEAK, CALLEE]] {
        let (codes, said, written) = link(texts);
        assert_eq!((codes.iter().sum::<u32>(), written), (0, Some(142)), "{said}");
    }
}

#[test]
fn what_cannot_be_linked_is_named() {
    context();
    let (codes, said, _) = link(&[CALLER]);
    assert_eq!(codes, [0, 300]);
    assert!(said.contains("Undefined reference to 'twice' in 't0'"), "{said}");
    assert!(said.contains("Undefined reference to 'hundred' in 't0'"), "{said}");
    let (codes, said, _) = link(&[CALLER, CALLEE, CALLEE]);
    assert_eq!(codes[..3], [0, 0, 300]);
    assert!(said.contains("Multiple definition of 'twice' in 't2', first defined in 't1'"), "{said}");
    assert_eq!(link(&[".visible .entry k() { foo; }"]).0[0], 218);
}

#[test]
fn the_compiler_says_how_much_it_said() {
    context();
    let mut log = [0u8; 512];
    let options = [ERROR_BUFFER, ERROR_BUFFER_SIZE];
    let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
    let text = CString::new(format!("{HEAD}.visible .entry k() {{ foo; }}\n")).expect("text");
    // SAFETY: the lists have two elements and the buffer is as long as they say.
    let code = unsafe { cuModuleLoadDataEx(&mut 0, text.as_ptr().cast(), 2, options.as_ptr(), values.as_mut_ptr()) };
    let said = CStr::from_bytes_until_nul(&log).expect("a zero").to_string_lossy();
    assert_eq!((code, values[1] as usize), (218, said.len()));
    assert!(said.starts_with("ptxas application ptx input, line 4; error"), "{said}");
    // SAFETY: as above; a list that is not there, and an option that is none.
    unsafe {
        assert_eq!(cuModuleLoadDataEx(&mut 0, text.as_ptr().cast(), 1, null(), null_mut()), 1);
        assert_eq!(cuModuleLoadDataEx(&mut 0, text.as_ptr().cast(), 1, [999].as_ptr(), values.as_mut_ptr()), 1);
    }
    // An H200's driver says so of versions that there never were, too.
    for version in ["99.0", "10.0", "2.9"] {
        let text = format!(".version {version}\n.target sm_80\n.address_size 64\n");
        let text = CString::new(text).expect("text");
        // SAFETY: the text ends in a zero.
        assert_eq!(unsafe { cuModuleLoadData(&mut 0, text.as_ptr().cast()) }, 222, "{version}");
    }
}

#[test]
fn a_bound_on_registers_holds_for_the_linked_program() {
    context();
    const MAX_REGISTERS: u32 = 0;
    const LIBRARY: u32 = 4;
    // 20 values that are alive at once.
    let sum = (1..20).map(|index| format!("add.u32 %r0, %r0, %r{index};")).collect::<String>();
    let loads =
        (0..20).map(|index| format!("ld.volatile.global.u32 %r{index}, [%rd1+{}];", 4 * index)).collect::<String>();
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 p) {{ .reg .u64 %rd<2>; .reg .u32 %r<20>; ld.param.u64 %rd1, [p];
        {loads} {sum} st.global.u32 [%rd1], %r0; ret; }}"
    );
    for (bound, expected) in [(0, 22..256), (16, 16..17)] {
        let (mut link, mut image, mut bytes) = (0, null_mut(), 0);
        let mut values = [bound as *mut c_void];
        let archive = b"!<arch>\nmachine code";
        // SAFETY: lists and texts are as long as they say, and live through the calls.
        unsafe {
            assert_eq!(cuLinkCreate_v2(1, [MAX_REGISTERS].as_ptr(), values.as_mut_ptr(), &mut link), 0);
            let add = |kind, data: *const c_void, bytes| {
                cuLinkAddData_v2(link, kind, data, bytes, c"t".as_ptr(), 0, null(), null())
            };
            assert_eq!(add(PTX, text.as_ptr().cast(), text.len()), 0);
            assert_eq!(add(LIBRARY, archive.as_ptr().cast(), archive.len()), 0, "a library that nothing needs");
            assert_eq!((add(PTX, null(), 10), add(99, text.as_ptr().cast(), text.len())), (1, 1));
            assert_eq!(cuLinkComplete(link, &mut image, &mut bytes), 0);
            let mut module = 0;
            assert_eq!(cuModuleLoadData(&mut module, image), 0);
            let registers = function_attribute(function(module, "k"), 4);
            assert!(expected.contains(&registers), "{registers} registers with a bound of {bound}");
            assert_eq!((cuLinkDestroy(link), cuLinkDestroy(link)), (0, 400));
        }
    }
}

/// Blocks of four write, wait for all, and read what the block after them wrote: 1 + its number.
const GRID_BARRIER: &str = "
.extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.global .align 4 .u32 cells[4];
.visible .entry k(.param .u64 p) {
    .reg .pred %p;
    .reg .b64 %rd<8>;
    .reg .b32 %r<8>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %rd2, %r1, 4;
    mov.u64 %rd3, cells;
    cvta.global.u64 %rd3, %rd3;
    add.u64 %rd4, %rd3, %rd2;
    add.u32 %r2, %r1, 1;
    st.u32 [%rd4], %r2;
    { .param .b32 q; .param .b64 z; st.param.b32 [q], 1; call (z), cudaCGGetIntrinsicHandle, (q); ld.param.b64 %rd5, [z]; }
    { .param .b64 q; .param .b32 f, z; st.param.b64 [q], %rd5; st.param.b32 [f], 0; call (z), cudaCGSynchronize, (q, f);
      ld.param.b32 %r3, [z]; }
    add.u32 %r4, %r1, 1;
    and.b32 %r4, %r4, 3;
    mul.wide.u32 %rd6, %r4, 4;
    add.u64 %rd6, %rd3, %rd6;
    ld.u32 %r5, [%rd6];
    mad.lo.u32 %r5, %r3, 100, %r5;
    add.u64 %rd7, %rd1, %rd2;
    st.global.u32 [%rd7], %r5;
    ret;
}";

#[test]
fn a_grid_waits_by_the_device_runtime() {
    unsafe extern "C" {
        fn cuLaunchCooperativeKernel(
            function: Handle,
            grid_x: u32,
            grid_y: u32,
            grid_z: u32,
            block_x: u32,
            block_y: u32,
            block_z: u32,
            shared: u32,
            stream: Handle,
            arguments: *mut *mut c_void,
        ) -> u32;
    }
    const LIBRARY: u32 = 4;
    context();
    // Without the library nobody defines them.
    assert_eq!(link(&[GRID_BARRIER]).0, [0, 300]);
    let text = format!("{HEAD}{GRID_BARRIER}");
    let (archive, mut link, mut image) = (b"!<arch>\nmachine code", 0, null_mut());
    // SAFETY: lists and texts are as long as they say, and live through the calls.
    unsafe {
        assert_eq!(cuLinkCreate_v2(0, null(), null_mut(), &mut link), 0);
        let add = |kind, data: *const c_void, bytes| {
            cuLinkAddData_v2(link, kind, data, bytes, c"t".as_ptr(), 0, null(), null())
        };
        assert_eq!(add(LIBRARY, archive.as_ptr().cast(), archive.len()), 0);
        assert_eq!(add(PTX, text.as_ptr().cast(), text.len()), 0);
        assert_eq!(cuLinkComplete(link, &mut image, null_mut()), 0);
        let mut module = 0;
        assert_eq!(cuModuleLoadData(&mut module, image), 0);
        assert_eq!(cuLinkDestroy(link), 0);
        let (k, out) = (function(module, "k"), alloc(16));
        for _ in 0..3 {
            let code = cuLaunchCooperativeKernel(k, 4, 1, 1, 64, 1, 1, 0, 0, [arg(&out)].as_mut_ptr());
            assert_eq!((code, cuCtxSynchronize()), (0, 0));
            assert_eq!(download::<u32>(out, 4), [2, 3, 4, 1]);
        }
    }
}
