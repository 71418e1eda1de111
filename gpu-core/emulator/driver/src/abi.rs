//! Result codes, handles and the wrapper that every entry point goes through.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// `CUresult`.
pub type CUresult = u32;
/// Opaque handles are identifiers, never addresses, so a stale one is found out instead of dereferenced.
pub type Handle = usize;
pub type CUdeviceptr = u64;

macro_rules! results {
    ($($name:ident = $code:literal, $cname:literal, $text:literal;)*) => {
        $(#[allow(dead_code, reason = "the list is CUDA's; not every code has a cause here")]
        pub const $name: CUresult = $code;)*
        /// Code, C name and description of every result that this library can give.
        pub const RESULTS: &[(CUresult, &std::ffi::CStr, &std::ffi::CStr)] = &[$(($code, $cname, $text)),*];
    };
}

results! {
    SUCCESS = 0, c"CUDA_SUCCESS", c"no error";
    INVALID_VALUE = 1, c"CUDA_ERROR_INVALID_VALUE", c"invalid argument";
    OUT_OF_MEMORY = 2, c"CUDA_ERROR_OUT_OF_MEMORY", c"out of memory";
    NOT_INITIALIZED = 3, c"CUDA_ERROR_NOT_INITIALIZED", c"initialization error";
    DEINITIALIZED = 4, c"CUDA_ERROR_DEINITIALIZED", c"driver shutting down";
    NO_DEVICE = 100, c"CUDA_ERROR_NO_DEVICE", c"no CUDA-capable device is detected";
    INVALID_DEVICE = 101, c"CUDA_ERROR_INVALID_DEVICE", c"invalid device ordinal";
    INVALID_IMAGE = 200, c"CUDA_ERROR_INVALID_IMAGE", c"device kernel image is invalid";
    INVALID_CONTEXT = 201, c"CUDA_ERROR_INVALID_CONTEXT", c"invalid device context";
    NO_BINARY_FOR_GPU = 209, c"CUDA_ERROR_NO_BINARY_FOR_GPU", c"no kernel image is available for execution on the device";
    UNSUPPORTED_LIMIT = 215, c"CUDA_ERROR_UNSUPPORTED_LIMIT", c"limit is not supported on this architecture";
    INVALID_PTX = 218, c"CUDA_ERROR_INVALID_PTX", c"a PTX JIT compilation failed";
    INVALID_SOURCE = 300, c"CUDA_ERROR_INVALID_SOURCE", c"device kernel image is invalid";
    FILE_NOT_FOUND = 301, c"CUDA_ERROR_FILE_NOT_FOUND", c"file not found";
    INVALID_HANDLE = 400, c"CUDA_ERROR_INVALID_HANDLE", c"invalid resource handle";
    ILLEGAL_STATE = 401, c"CUDA_ERROR_ILLEGAL_STATE", c"the operation cannot be performed in the present state";
    NOT_FOUND = 500, c"CUDA_ERROR_NOT_FOUND", c"named symbol not found";
    NOT_READY = 600, c"CUDA_ERROR_NOT_READY", c"device not ready";
    ILLEGAL_ADDRESS = 700, c"CUDA_ERROR_ILLEGAL_ADDRESS", c"an illegal memory access was encountered";
    LAUNCH_OUT_OF_RESOURCES = 701, c"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", c"too many resources requested for launch";
    LAUNCH_TIMEOUT = 702, c"CUDA_ERROR_LAUNCH_TIMEOUT", c"the launch timed out and was terminated";
    PEER_ACCESS_ALREADY_ENABLED = 704, c"CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", c"peer access is already enabled";
    PEER_ACCESS_NOT_ENABLED = 705, c"CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", c"peer access has not been enabled";
    PRIMARY_CONTEXT_ACTIVE = 708, c"CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", c"cannot set while device is active in this process";
    CONTEXT_IS_DESTROYED = 709, c"CUDA_ERROR_CONTEXT_IS_DESTROYED", c"context is destroyed";
    ASSERT = 710, c"CUDA_ERROR_ASSERT", c"device-side assert triggered";
    HOST_MEMORY_ALREADY_REGISTERED = 712, c"CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", c"part or all of the requested memory range is already mapped";
    HOST_MEMORY_NOT_REGISTERED = 713, c"CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", c"pointer does not correspond to a registered memory region";
    HARDWARE_STACK_ERROR = 714, c"CUDA_ERROR_HARDWARE_STACK_ERROR", c"hardware stack error";
    ILLEGAL_INSTRUCTION = 715, c"CUDA_ERROR_ILLEGAL_INSTRUCTION", c"an illegal instruction was encountered";
    MISALIGNED_ADDRESS = 716, c"CUDA_ERROR_MISALIGNED_ADDRESS", c"misaligned address";
    LAUNCH_FAILED = 719, c"CUDA_ERROR_LAUNCH_FAILED", c"unspecified launch failure";
    COOPERATIVE_LAUNCH_TOO_LARGE = 720, c"CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", c"too many blocks in cooperative launch";
    NOT_PERMITTED = 800, c"CUDA_ERROR_NOT_PERMITTED", c"operation not permitted";
    NOT_SUPPORTED = 801, c"CUDA_ERROR_NOT_SUPPORTED", c"operation not supported";
    STREAM_CAPTURE_UNSUPPORTED = 900, c"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", c"operation not permitted when stream is capturing";
    STREAM_CAPTURE_INVALIDATED = 901, c"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", c"operation failed due to a previous error during capture";
    STREAM_CAPTURE_MERGE = 902, c"CUDA_ERROR_STREAM_CAPTURE_MERGE", c"operation would result in a merge of separate capture sequences";
    STREAM_CAPTURE_UNMATCHED = 903, c"CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", c"capture was not ended in the same stream as it began";
    STREAM_CAPTURE_UNJOINED = 904, c"CUDA_ERROR_STREAM_CAPTURE_UNJOINED", c"capturing stream has unjoined work";
    STREAM_CAPTURE_ISOLATION = 905, c"CUDA_ERROR_STREAM_CAPTURE_ISOLATION", c"dependency created on uncaptured work in another stream";
    STREAM_CAPTURE_IMPLICIT = 906, c"CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", c"operation would make the legacy stream depend on a capturing blocking stream";
    CAPTURED_EVENT = 907, c"CUDA_ERROR_CAPTURED_EVENT", c"operation not permitted on an event last recorded in a capturing stream";
    STREAM_CAPTURE_WRONG_THREAD = 908, c"CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", c"attempt to terminate a thread-local capture sequence from another thread";
    GRAPH_EXEC_UPDATE_FAILURE = 910, c"CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", c"the graph update was not performed because it included changes which violated constraints specific to instantiated graph update";
    INVALID_CLUSTER_SIZE = 912, c"CUDA_ERROR_INVALID_CLUSTER_SIZE", c"invalid cluster size";
    UNKNOWN = 999, c"CUDA_ERROR_UNKNOWN", c"unknown error";
}

/// Outcome of an entry point's body.
pub type Answer = Result<(), CUresult>;

thread_local! {
    /// Why the last call of this thread failed, for `LOCKSTEP_TRACE`.
    static DETAIL: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Remembers a sentence that explains the error about to be returned, and prints it when the user asked for it.
pub fn explain(detail: impl Into<String>) {
    let detail = detail.into();
    if std::env::var_os("LOCKSTEP_QUIET").is_none() {
        eprintln!("lockstep-cuda: {detail}");
    }
    DETAIL.with_borrow_mut(|slot| *slot = detail);
}

/// Runs an entry point's body: panics become `CUDA_ERROR_UNKNOWN`, and `LOCKSTEP_TRACE=1` lists the calls.
pub fn enter(name: &str, body: impl FnOnce() -> Answer) -> CUresult {
    let code = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => SUCCESS,
        Ok(Err(code)) => code,
        Err(_) => UNKNOWN,
    };
    if std::env::var_os("LOCKSTEP_TRACE").is_some() {
        eprintln!("lockstep-cuda: {name} -> {code}");
    }
    code
}

/// Declares entry points and the table by which `cuGetProcAddress` finds them.
macro_rules! api {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$meta])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $type),*) -> $crate::abi::CUresult {
                #[allow(unused_unsafe, clippy::redundant_closure_call)]
                $crate::abi::enter(stringify!($name), || unsafe { $body })
            }
        )*
        /// Names and addresses of this file's entry points.
        pub fn entries() -> Vec<(&'static str, *const std::ffi::c_void)> {
            vec![$((stringify!($name), $name as *const std::ffi::c_void)),*]
        }
    };
}

/// Writes through a caller's pointer, or says `INVALID_VALUE` for NULL.
///
/// # Safety
/// `out` is NULL or valid for a write.
pub unsafe fn put<T>(out: *mut T, value: T) -> Answer {
    if out.is_null() {
        return Err(INVALID_VALUE);
    }
    unsafe { out.write(value) };
    Ok(())
}

/// Writes when the caller asked for the value.
///
/// # Safety
/// `out` is NULL or valid for a write.
pub unsafe fn put_optional<T>(out: *mut T, value: T) {
    if !out.is_null() {
        unsafe { out.write(value) };
    }
}
