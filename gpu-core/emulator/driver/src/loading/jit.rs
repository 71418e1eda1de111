//! Options of the PTX compiler and the linker: where a caller wants their words.

use std::ffi::{c_char, c_void};

use ptx_emulator::{LoadError, Module};

use crate::abi::*;

/// Most registers that a thread can have; what is assumed of kernels too large for an estimate.
pub const MOST_REGISTERS: u32 = 255;

/// Values of `CUjit_option`.
const MAX_REGISTERS: u32 = 0;
const WALL_TIME: u32 = 2;
const INFO_BUFFER: u32 = 3;
const INFO_BUFFER_SIZE: u32 = 4;
const ERROR_BUFFER: u32 = 5;
const ERROR_BUFFER_SIZE: u32 = 6;
const LOG_VERBOSE: u32 = 12;
/// `CU_JIT_NUM_OPTIONS` of CUDA 13.
const OPTIONS: u32 = 36;

/// A caller's buffer, and where its size stands: there the length of what was written is told.
#[derive(Clone, Copy)]
struct Buffer {
    start: usize,
    bytes: usize,
    told_at: usize,
}

impl Buffer {
    fn write(&self, text: &str) {
        if self.start == 0 || self.bytes == 0 {
            return;
        }
        let kept = &text.as_bytes()[..text.len().min(self.bytes - 1)];
        // SAFETY: the caller said that so many bytes are there, and that the list of options lives as long as a link.
        unsafe {
            let out = self.start as *mut c_char;
            std::ptr::copy_nonoverlapping(kept.as_ptr().cast(), out, kept.len());
            out.add(kept.len()).write(0);
            if self.told_at != 0 {
                (self.told_at as *mut usize).write_unaligned(kept.len());
            }
        }
    }
}

/// Buffers that a caller passed for the words of the PTX compiler or the linker.
#[derive(Clone, Copy, Default)]
pub struct Logs {
    error: Option<Buffer>,
    info: Option<Buffer>,
    verbose: bool,
    /// Most registers of a thread, when the caller bounds them.
    max_registers: Option<u32>,
}

/// How a bound on registers stands before the text of a linked program, which otherwise would not know of it.
const BOUND: &str = "// registers of a thread at most: ";

/// The bound that a linked program was given.
fn bound_of(text: &str) -> Option<u32> {
    text.strip_prefix(BOUND)?.lines().next()?.parse().ok()
}

impl Logs {
    /// Reads a caller's options.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for an option that CUDA does not have, or a list that is not there.
    ///
    /// # Safety
    /// Both lists are NULL or have `count` elements.
    pub unsafe fn read(count: u32, options: *const u32, values: *mut *mut c_void) -> Result<Logs, CUresult> {
        let mut logs = Logs::default();
        if count == 0 {
            return Ok(logs);
        }
        if options.is_null() || values.is_null() {
            return Err(INVALID_VALUE);
        }
        let empty = || Buffer { start: 0, bytes: 0, told_at: 0 };
        for index in 0..count as usize {
            let (option, place) = unsafe { (*options.add(index), values.add(index)) };
            let value = unsafe { *place } as usize;
            match option {
                WALL_TIME => unsafe { place.cast::<f32>().write_unaligned(0.0) },
                INFO_BUFFER => logs.info.get_or_insert_with(empty).start = value,
                ERROR_BUFFER => logs.error.get_or_insert_with(empty).start = value,
                // Sizes are 32-bit integers in the place of a pointer.
                INFO_BUFFER_SIZE | ERROR_BUFFER_SIZE => {
                    let log = if option == INFO_BUFFER_SIZE { &mut logs.info } else { &mut logs.error };
                    let buffer = log.get_or_insert_with(empty);
                    (buffer.bytes, buffer.told_at) = (value & u32::MAX as usize, place as usize);
                }
                MAX_REGISTERS => {
                    logs.max_registers = u32::try_from(value & u32::MAX as usize).ok().filter(|most| *most > 0)
                }
                LOG_VERBOSE => logs.verbose = value & u32::MAX as usize != 0,
                OPTIONS.. => return Err(INVALID_VALUE),
                _ => {}
            }
        }
        Ok(logs)
    }

    /// Says that nothing was written yet. A link does not, since its caller may use the list of options again.
    pub fn cleared(self) -> Logs {
        for log in [self.info, self.error].iter().flatten() {
            log.write("");
        }
        self
    }

    /// The bound on registers, of the options or of the linked text.
    pub fn max_registers(&self, text: &str) -> Option<u32> {
        self.max_registers.or_else(|| bound_of(text))
    }

    /// A linked text with the bound that it was linked with.
    pub fn with_bound(&self, text: String) -> String {
        match self.max_registers {
            Some(most) => format!("{BOUND}{most}\n{text}"),
            None => text,
        }
    }

    pub fn error(&self, text: &str) {
        if let Some(buffer) = &self.error {
            buffer.write(text);
        }
    }

    /// What the assembler says of each kernel when asked to say much.
    pub fn info(&self, module: &Module) {
        let Some(buffer) = self.info.filter(|_| self.verbose) else { return };
        let target = module.target();
        let lines = module.kernels().iter().map(|kernel| {
            let registers = kernel.register_estimate.unwrap_or(MOST_REGISTERS);
            format!(
                "ptxas info    : Compiling entry function '{}' for '{target}'\n\
                 ptxas info    : Used {registers} registers, {} bytes smem, {} bytes cumulative stack size\n",
                kernel.name, kernel.static_shared_bytes, kernel.local_bytes
            )
        });
        buffer.write(&lines.collect::<String>());
    }
}

/// A module's problems as an assembler puts them.
pub fn assembler_words(error: &LoadError) -> String {
    let lines = error.problems.iter().map(|problem| {
        let of = if problem.instruction.is_empty() { String::new() } else { format!(" in `{}`", problem.instruction) };
        let from = problem
            .source
            .as_ref()
            .map_or_else(String::new, |source| format!(" (from {}:{})", source.file, source.line));
        format!("ptxas application ptx input, line {}; error   : {}{of}{from}\n", problem.ptx_line, problem.message)
    });
    lines.collect::<String>() + "ptxas fatal   : Ptx assembly aborted due to errors"
}
