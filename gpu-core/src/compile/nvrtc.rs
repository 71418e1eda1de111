//! NVRTC over `libloading`: the C interface, nothing more. Source: `nvrtc.h` of CUDA 13.5.
//!
//! A wrapper of our own because cudarc's returns result codes as a Rust enum (undefined behaviour for a code that a
//! newer NVRTC adds), reads no cubin, drops the log on success and panics when the library is absent.

use super::Toolchain;
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};

/// `nvrtcResult`, kept as the integer it is: newer libraries may return codes that are not listed here.
pub type Code = c_int;
pub const SUCCESS: Code = 0;
pub const OUT_OF_MEMORY: Code = 1;
pub const INVALID_OPTION: Code = 5;
pub const COMPILATION: Code = 6;

/// Longest log that is read; a hostile source can make NVRTC print hundreds of megabytes.
pub const MAX_LOG_BYTES: usize = 512 * 1024;

type Program = *mut c_void;
type Sized = unsafe extern "C" fn(Program, *mut usize) -> Code;
type Read = unsafe extern "C" fn(Program, *mut c_char) -> Code;

/// The loaded library.
pub struct Nvrtc {
    version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> Code,
    error_string: unsafe extern "C" fn(Code) -> *const c_char,
    count_archs: unsafe extern "C" fn(*mut c_int) -> Code,
    archs: unsafe extern "C" fn(*mut c_int) -> Code,
    create: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> Code,
    destroy: unsafe extern "C" fn(*mut Program) -> Code,
    compile: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> Code,
    log_size: Sized,
    log: Read,
    ptx_size: Sized,
    ptx: Read,
    cubin_size: Sized,
    cubin: Read,
    /// Absent before 13.3.
    install_headers: Option<unsafe extern "C" fn(*const c_char, c_uint, *mut *const c_char) -> Code>,
    // Field order is drop order: the library goes last, builtins stay open as long as NVRTC.
    _nvrtc: Library,
    _builtins: Option<Library>,
}

/// What one call of NVRTC gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawResult {
    pub code: Code,
    /// Name of `code`, for example `NVRTC_ERROR_COMPILATION`.
    pub code_name: String,
    /// At most [`MAX_LOG_BYTES`], invalid UTF-8 replaced.
    pub log: String,
    pub ptx: String,
    pub cubin: Vec<u8>,
}

impl Nvrtc {
    /// Opens the library. The error says which file failed and what to do.
    pub fn load(toolchain: &Toolchain) -> Result<Self, String> {
        // NVRTC opens its builtins by bare name; some versions (13.0.88) do not look beside themselves. A library
        // that is already open under that name is reused, so open it first by absolute path.
        let builtins = match toolchain.builtins.clone().or_else(|| builtins_beside(&toolchain.nvrtc)) {
            Some(path) => Some(open(&path)?),
            None => None,
        };
        let library = open(&toolchain.nvrtc)?;
        let missing = |name: &str| {
            format!(
                "{} is not a usable NVRTC: it lacks the function {name}. Run `lockstep setup` to install a version \
                 that works (12.9 or newer)",
                toolchain.nvrtc.display()
            )
        };
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the type of the field is the prototype of this function in nvrtc.h, unchanged since
                // CUDA 11.1; the pointer is used only while `_nvrtc` is alive.
                *unsafe { library.get(concat!($name, "\0").as_bytes()) }.map_err(|_| missing($name))?
            };
        }
        Ok(Nvrtc {
            version: function!("nvrtcVersion"),
            error_string: function!("nvrtcGetErrorString"),
            count_archs: function!("nvrtcGetNumSupportedArchs"),
            archs: function!("nvrtcGetSupportedArchs"),
            create: function!("nvrtcCreateProgram"),
            destroy: function!("nvrtcDestroyProgram"),
            compile: function!("nvrtcCompileProgram"),
            log_size: function!("nvrtcGetProgramLogSize"),
            log: function!("nvrtcGetProgramLog"),
            ptx_size: function!("nvrtcGetPTXSize"),
            ptx: function!("nvrtcGetPTX"),
            cubin_size: function!("nvrtcGetCUBINSize"),
            cubin: function!("nvrtcGetCUBIN"),
            // SAFETY: as above; prototype from nvrtc.h of 13.3 and later.
            install_headers: unsafe { library.get(b"nvrtcInstallBundledHeaders\0") }.ok().map(|symbol| *symbol),
            _nvrtc: library,
            _builtins: builtins,
        })
    }

    /// As in `13.5`; `unknown` when the library will not say.
    pub fn version(&self) -> String {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are valid for a write of one int.
        match unsafe { (self.version)(&mut major, &mut minor) } {
            SUCCESS => format!("{major}.{minor}"),
            _ => "unknown".to_owned(),
        }
    }

    /// Compute capabilities that it compiles for, as in 90 for `sm_90`; empty when it will not say.
    pub fn supported_archs(&self) -> Vec<u32> {
        let mut count = 0;
        // SAFETY: the pointer is valid for a write of one int.
        if unsafe { (self.count_archs)(&mut count) } != SUCCESS || !(1..1024).contains(&count) {
            return Vec::new();
        }
        let mut archs = vec![0 as c_int; count as usize];
        // SAFETY: the array has room for the `count` ints that the library just announced.
        if unsafe { (self.archs)(archs.as_mut_ptr()) } != SUCCESS {
            return Vec::new();
        }
        archs.into_iter().filter_map(|arch| u32::try_from(arch).ok()).collect()
    }

    /// Writes the bundled CUDA headers (about 22 MB) into `folder`. `Ok(false)` when this version bundles none.
    pub fn install_headers(&self, folder: &Path) -> Result<bool, String> {
        let Some(install) = self.install_headers else { return Ok(false) };
        let path = CString::new(folder.to_string_lossy().into_owned())
            .map_err(|_| "the folder's name contains a zero byte".to_owned())?;
        let mut message: *const c_char = std::ptr::null();
        // SAFETY: `path` is a zero-terminated string that outlives the call; flag 0 means skip what is there.
        match unsafe { install(path.as_ptr(), 0, &mut message) } {
            SUCCESS => Ok(true),
            code => Err(format!(
                "NVRTC could not write its headers: {} {}: {}",
                self.code_name(code),
                // SAFETY: on failure the library points this at a zero-terminated string or leaves it null.
                unsafe { text_of(message) },
                folder.display()
            )),
        }
    }

    /// Compiles. Blocks as long as NVRTC does, which for hostile source is for ever: callers run it in a process
    /// that can be killed.
    pub fn compile(&self, name: &str, text: &str, headers: &[(String, String)], options: &[String]) -> RawResult {
        match self.try_compile(name, text, headers, options) {
            Ok(result) => result,
            Err(code) => RawResult { code, code_name: self.code_name(code), ..RawResult::default() },
        }
    }

    fn try_compile(
        &self,
        name: &str,
        text: &str,
        headers: &[(String, String)],
        options: &[String],
    ) -> Result<RawResult, Code> {
        const INVALID_INPUT: Code = 3;
        let c_string = |text: &str| CString::new(text).map_err(|_| INVALID_INPUT);
        let (name, text) = (c_string(name)?, c_string(text)?);
        let header_names = headers.iter().map(|(name, _)| c_string(name)).collect::<Result<Vec<_>, _>>()?;
        let header_texts = headers.iter().map(|(_, text)| c_string(text)).collect::<Result<Vec<_>, _>>()?;
        let options = options.iter().map(|option| c_string(option)).collect::<Result<Vec<_>, _>>()?;
        let pointers = |strings: &[CString]| strings.iter().map(|s| s.as_ptr()).collect::<Vec<_>>();
        let (name_pointers, text_pointers, option_pointers) =
            (pointers(&header_names), pointers(&header_texts), pointers(&options));

        let mut program = ProgramGuard { nvrtc: self, program: std::ptr::null_mut() };
        // SAFETY: every pointer leads to a zero-terminated string that lives until the end of this function; both
        // header arrays have the announced length.
        let created = unsafe {
            (self.create)(
                &mut program.program,
                text.as_ptr(),
                name.as_ptr(),
                name_pointers.len() as c_int,
                text_pointers.as_ptr(),
                name_pointers.as_ptr(),
            )
        };
        if created != SUCCESS {
            return Err(created);
        }
        // SAFETY: the program was created above; the option array has the announced length.
        let code = unsafe { (self.compile)(program.program, option_pointers.len() as c_int, option_pointers.as_ptr()) };
        let mut log = self.read(&program, self.log_size, self.log);
        log.truncate(MAX_LOG_BYTES);
        Ok(RawResult {
            code,
            code_name: self.code_name(code),
            log: text_from(log),
            ptx: text_from(self.read(&program, self.ptx_size, self.ptx)),
            cubin: self.read(&program, self.cubin_size, self.cubin),
        })
    }

    fn read(&self, program: &ProgramGuard<'_>, size: Sized, read: Read) -> Vec<u8> {
        let mut bytes = 0;
        // SAFETY: the program is alive; the pointer is valid for a write of one size_t.
        if unsafe { size(program.program, &mut bytes) } != SUCCESS || bytes == 0 || bytes > isize::MAX as usize {
            return Vec::new();
        }
        let mut buffer = vec![0_u8; bytes];
        // SAFETY: the buffer has the size that the library just announced.
        match unsafe { read(program.program, buffer.as_mut_ptr().cast()) } {
            SUCCESS => buffer,
            _ => Vec::new(),
        }
    }

    fn code_name(&self, code: Code) -> String {
        // SAFETY: any int may be passed; the result is a static zero-terminated string or null.
        let name = unsafe { text_of((self.error_string)(code)) };
        if name.is_empty() { format!("NVRTC error {code}") } else { name }
    }
}

/// Destroys the program on every way out.
struct ProgramGuard<'a> {
    nvrtc: &'a Nvrtc,
    program: Program,
}

impl Drop for ProgramGuard<'_> {
    fn drop(&mut self) {
        if !self.program.is_null() {
            // SAFETY: created by nvrtcCreateProgram and destroyed once.
            let _ = unsafe { (self.nvrtc.destroy)(&mut self.program) };
        }
    }
}

/// Text of a C string; empty for null.
///
/// # Safety
/// `pointer` is null or leads to a zero-terminated string.
unsafe fn text_of(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: promised by the caller.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

/// Text up to the first zero byte.
fn text_from(mut bytes: Vec<u8>) -> String {
    if let Some(end) = bytes.iter().position(|&byte| byte == 0) {
        bytes.truncate(end);
    }
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn open(path: &Path) -> Result<Library, String> {
    // SAFETY: opening runs the library's initialisers. The path comes from the search for NVRTC or from the user's
    // own setting, which is as much trust as a compiler on PATH gets.
    unsafe { Library::new(path) }.map_err(|error| {
        format!(
            "cannot load the CUDA compiler library: {error}. Run `lockstep setup` to install a working one: {}",
            path.display()
        )
    })
}

/// `libnvrtc-builtins.so.13.5` or `nvrtc-builtins64_135.dll` in the folder of `nvrtc`.
fn builtins_beside(nvrtc: &Path) -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(nvrtc.parent()?)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.contains("nvrtc-builtins") && !name.contains("static") && !name.contains(".alt")
        })
        .collect();
    // Longest name first: `libnvrtc-builtins.so.13.5` before the bare link.
    found.sort_by_key(|path| std::cmp::Reverse(path.as_os_str().len()));
    found.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_or_foreign_library_is_an_error_that_names_it() {
        let absent = Toolchain {
            nvrtc: PathBuf::from("/nonexistent/libnvrtc.so.13"),
            builtins: None,
            include_dirs: Vec::new(),
            nvdisasm: None,
            origin: String::new(),
        };
        let message = Nvrtc::load(&absent).err().expect("must fail");
        assert!(message.contains("/nonexistent/libnvrtc.so.13") && message.contains("lockstep setup"), "{message}");
        #[cfg(target_os = "linux")]
        {
            let foreign = Toolchain { nvrtc: PathBuf::from("libc.so.6"), ..absent };
            let message = Nvrtc::load(&foreign).err().expect("must fail");
            assert!(message.contains("nvrtcVersion"), "{message}");
        }
    }

    #[test]
    fn text_ends_at_the_first_zero_byte_and_survives_bad_utf8() {
        assert_eq!(text_from(b"ab\0cd".to_vec()), "ab");
        assert_eq!(text_from(vec![b'a', 0xff, b'b']), "a\u{fffd}b");
    }
}
