//! `cuLink…`: several PTX texts become one, which loads as a module.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::image::{ptx_of_bytes, ptx_of_file};
use super::jit::Logs;
use super::link;
use super::module::compile;
use crate::abi::*;
use crate::process::lock;
use crate::work;

/// A link in progress.
#[derive(Default)]
struct Link {
    /// Name and text of what was added.
    texts: Vec<(String, String)>,
    logs: Logs,
    /// A library of machine code was added.
    library: bool,
    /// The outcome, zero at its end. The caller has its address until the link is destroyed, so it is never replaced.
    image: Option<Arc<Vec<u8>>>,
    failed: bool,
}

fn links() -> &'static Mutex<HashMap<Handle, Link>> {
    static LINKS: OnceLock<Mutex<HashMap<Handle, Link>>> = OnceLock::new();
    LINKS.get_or_init(Mutex::default)
}

/// Values of `CUjitInputType`.
const INPUT_CUBIN: u32 = 0;
const INPUT_PTX: u32 = 1;
const INPUT_FAT_BINARY: u32 = 2;
const INPUT_LIBRARY: u32 = 4;
const INPUT_LAST: u32 = 5;
/// How archives of `ar` begin.
const ARCHIVE: &[u8; 8] = b"!<arch>\n";

fn add(link: Handle, kind: u32, name: String, text: String) -> Answer {
    let mut links = lock(links());
    let link = links.get_mut(&link).ok_or(INVALID_HANDLE)?;
    if link.failed || link.image.is_some() {
        return Err(INVALID_IMAGE);
    }
    if !matches!(kind, INPUT_PTX | INPUT_FAT_BINARY) || !text.contains(".version") {
        let code = if kind == INPUT_PTX && text.contains('.') { INVALID_PTX } else { INVALID_IMAGE };
        link.logs.error("ptxas fatal   : Ptx assembly aborted due to errors: this is no PTX");
        return Err(code);
    }
    // What stands alone is compiled at once, so that its errors come from the call that brought them.
    if !text.contains(".extern")
        && let Err(code) = compile(&text, &link.logs)
    {
        link.failed = true;
        return Err(code);
    }
    link.texts.push((name, text));
    // So is what another text defines too.
    if let Err(words) = link::duplicates(&link.texts) {
        link.logs.error(&words);
        explain(words);
        link.failed = true;
        return Err(INVALID_SOURCE);
    }
    Ok(())
}

/// A library of machine code has nothing to run here. Programs offer NVIDIA's own (`libcudadevrt.a`) whether or not they
/// need it: of that, [`DEVICE_RUNTIME`] has what needs no kernel to launch kernels. What else they need and nobody defines
/// is named when the link completes.
fn pass_over(link: Handle) -> Answer {
    lock(links()).get_mut(&link).map(|link| link.library = true).ok_or(INVALID_HANDLE)
}

const DEVICE_RUNTIME: &str = include_str!("device_runtime.ptx");
/// How its functions' names begin.
const DEVICE_RUNTIME_PREFIX: &str = "cudaCG";

/// Links what was added; gives address and size of the outcome.
fn complete(link: Handle) -> Result<(usize, usize), CUresult> {
    let mut links = lock(links());
    let link = links.get_mut(&link).ok_or(INVALID_HANDLE)?;
    if link.image.is_none() {
        if link.failed {
            return Err(INVALID_SOURCE);
        }
        let refuse = |link: &mut Link, code: CUresult| {
            link.failed = true;
            Err(code)
        };
        let wants = |(_, text): &(String, String)| text.contains(".extern") && text.contains(DEVICE_RUNTIME_PREFIX);
        if link.library && link.texts.iter().any(wants) {
            link.texts.push(("libcudadevrt".to_owned(), DEVICE_RUNTIME.to_owned()));
        }
        let text = match &link.texts[..] {
            [] => ".version 7.0\n.target sm_75\n.address_size 64\n".to_owned(),
            // One text stays as it is, its debug information with it.
            [(_, text)] if !text.contains(".extern") => text.clone(),
            texts => match link::link(texts) {
                Ok(text) => text,
                Err(words) => {
                    link.logs.error(&words);
                    explain(words);
                    return refuse(link, INVALID_SOURCE);
                }
            },
        };
        if let Err(code) = compile(&text, &link.logs) {
            return refuse(link, code);
        }
        let mut image = link.logs.with_bound(text).into_bytes();
        image.push(0);
        link.image = Some(Arc::new(image));
    }
    let image = link.image.as_ref().ok_or(UNKNOWN)?;
    Ok((image.as_ptr() as usize, image.len()))
}

unsafe fn name_of(name: *const c_char) -> String {
    if name.is_null() {
        return "<input>".to_owned();
    }
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}

unsafe fn create(count: u32, options: *const u32, values: *mut *mut c_void, out: *mut Handle) -> Answer {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    work::current()?;
    if out.is_null() {
        return Err(INVALID_VALUE);
    }
    let logs = unsafe { Logs::read(count, options, values) }?;
    let handle = 0x2000_0000 + NEXT.fetch_add(1, Ordering::Relaxed) * 16;
    lock(links()).insert(handle, Link { logs, ..Link::default() });
    unsafe { put(out, handle) }
}

unsafe fn add_data(link: Handle, kind: u32, data: *const c_void, bytes: usize, name: *const c_char) -> Answer {
    if data.is_null() || bytes == 0 || kind > INPUT_LAST {
        return Err(INVALID_VALUE);
    }
    let data = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), bytes) };
    if kind == INPUT_LIBRARY && data.starts_with(ARCHIVE) {
        return pass_over(link);
    }
    let text = if kind == INPUT_CUBIN && !data.starts_with(b"\x7fELF") { String::new() } else { ptx_of_bytes(data)? };
    add(link, kind, unsafe { name_of(name) }, text)
}

unsafe fn add_file(link: Handle, kind: u32, path: *const c_char) -> Answer {
    if kind > INPUT_LAST {
        return Err(INVALID_VALUE);
    }
    let name = unsafe { name_of(path) };
    let start = std::fs::File::open(&name).and_then(|mut file| {
        let mut start = [0; ARCHIVE.len()];
        std::io::Read::read_exact(&mut file, &mut start).map(|()| start)
    });
    if kind == INPUT_LIBRARY && start.is_ok_and(|start| start == *ARCHIVE) {
        return pass_over(link);
    }
    add(link, kind, name, unsafe { ptx_of_file(path) }?)
}

api! {
    fn cuLinkCreate(count: u32, options: *const u32, values: *mut *mut c_void, link: *mut Handle) {
        create(count, options, values, link)
    }
    fn cuLinkCreate_v2(count: u32, options: *const u32, values: *mut *mut c_void, link: *mut Handle) {
        create(count, options, values, link)
    }
    fn cuLinkAddData(link: Handle, kind: u32, data: *const c_void, bytes: usize, name: *const c_char, _count: u32, _options: *const u32, _values: *const *mut c_void) {
        add_data(link, kind, data, bytes, name)
    }
    fn cuLinkAddData_v2(link: Handle, kind: u32, data: *const c_void, bytes: usize, name: *const c_char, _count: u32, _options: *const u32, _values: *const *mut c_void) {
        add_data(link, kind, data, bytes, name)
    }
    fn cuLinkAddFile(link: Handle, kind: u32, path: *const c_char, _count: u32, _options: *const u32, _values: *const *mut c_void) {
        add_file(link, kind, path)
    }
    fn cuLinkAddFile_v2(link: Handle, kind: u32, path: *const c_char, _count: u32, _options: *const u32, _values: *const *mut c_void) {
        add_file(link, kind, path)
    }
    fn cuLinkComplete(link: Handle, image: *mut *mut c_void, bytes: *mut usize) {
        if image.is_null() {
            return Err(INVALID_VALUE);
        }
        let (start, length) = complete(link)?;
        put(image, start as *mut c_void)?;
        put_optional(bytes, length);
        Ok(())
    }
    fn cuLinkDestroy(link: Handle) {
        lock(links()).remove(&link).map(drop).ok_or(INVALID_HANDLE)
    }
}
