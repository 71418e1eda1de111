//! Machine code for the instructions that kernels have most of.
//!
//! Calling a function for each instruction costs more than what it does to a row of 32 lanes: so the stretches of a kernel
//! that go straight on are put together to functions of their own, by templates for what [`form::Native`] names, and calls for
//! the rest. Registers stay rows in memory, which every instruction writes; what was written last is still in vector
//! registers. It runs for whole warps that nothing is to be looked up for; everything else, and what a template finds to be
//! unusual, goes the long way of [`crate::exec::op::Exec`], which is there for every instruction and says what is right.
//!
//! The assembler's tables have mistakes (its `vfmadd213pd` is that of singles, `vbroadcastss` fills half a register, what ends
//! in a number and takes two sources swaps them): no template may be added that `tests/machine_code.rs` does not try.

#![cfg_attr(
    target_arch = "x86_64",
    allow(clippy::useless_conversion, reason = "of what the assembler makes of numbers of registers")
)]

#[cfg(target_arch = "x86_64")]
mod access;
#[cfg(target_arch = "x86_64")]
mod bits;
#[cfg(target_arch = "x86_64")]
mod chain;
#[cfg(target_arch = "x86_64")]
mod compare;
#[cfg(target_arch = "x86_64")]
mod constants;
#[cfg(target_arch = "x86_64")]
mod emit;
#[cfg(target_arch = "x86_64")]
mod hammock;
#[cfg(target_arch = "x86_64")]
mod lanes;
#[cfg(target_arch = "x86_64")]
mod meeting;
#[cfg(target_arch = "x86_64")]
mod shuffle;
#[cfg(target_arch = "x86_64")]
mod stores;
#[cfg(target_arch = "x86_64")]
mod written;

#[cfg(target_arch = "x86_64")]
pub use x86::Code;

#[cfg(not(target_arch = "x86_64"))]
pub use none::Code;

/// There is none for this kind of machine.
#[cfg(not(target_arch = "x86_64"))]
mod none {
    use crate::exec::cx::Cx;
    use crate::exec::op::Flow;

    #[derive(Clone, Copy, Debug)]
    pub enum Code {}

    pub struct Stretch {
        pub count: u32,
        none: Code,
    }

    impl Code {
        pub fn stretch(&self, _: u32) -> Option<Stretch> {
            match *self {}
        }
    }

    impl Cx<'_> {
        /// # Safety
        /// There is no such stretch.
        pub unsafe fn run_code(&mut self, stretch: Stretch, _: u32, _: u64) -> (Flow, u32) {
            match stretch.none {}
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::ffi::c_void;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    use dynasmrt::ExecutableBuffer;

    use super::emit::{self, Stretch};
    use crate::exec::cx::Cx;
    use crate::exec::image::Image;
    use crate::exec::op::{Exec, Flow, Op};
    use crate::exec::template::Made;

    /// The machine code of one function of a kernel.
    pub struct Code {
        buffer: ExecutableBuffer,
        first_pc: u32,
        /// By the instructions that they begin at.
        stretches: Vec<Stretch>,
    }

    // SAFETY: what is pointed to is the buffer's own, and never changes.
    unsafe impl Send for Code {}
    // SAFETY: as above.
    unsafe impl Sync for Code {}

    impl std::fmt::Debug for Code {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "Code {{ {} bytes }}", self.buffer.len())
        }
    }

    /// Code for one stretch and those that it goes on to. Gives how that ended: in the low byte 0 if all of the last one ran,
    /// else 1 more than the [`Flow`] of its last instruction, or [`PANICKED`]; above, the number of that instruction.
    ///
    /// It takes what it runs for, the code of the image, and what the worker knows of accesses.
    type Entry = unsafe extern "sysv64" fn(
        cx: *mut c_void,
        code: *const Op,
        cells: *const c_void,
        patterns: *const c_void,
    ) -> u64;

    /// An instruction panicked; the worker has what it said.
    pub(crate) const PANICKED: u64 = 0xff;

    /// What code gives that ended so with the instruction at `pc`.
    pub(crate) fn ended(flow: Flow, pc: u32) -> u64 {
        u64::from(pc) << 8 | (1 + flow as u64)
    }

    /// Runs one instruction by its function, `run`, for all lanes. 0: go on.
    ///
    /// # Safety
    /// Called by code of this module, for an instruction of the image that `cx` runs.
    pub(crate) unsafe extern "sysv64" fn step(cx: *mut c_void, op: *const Op, run: *const ()) -> u64 {
        // SAFETY: the code hands on what it was called with, and what runs the instruction.
        let (cx, op, run) = unsafe { (&mut *cx.cast::<Cx<'_>>(), &*op, std::mem::transmute::<*const (), Exec>(run)) };
        // There is no way to unwind through such code.
        // SAFETY: slots of a decoded instruction.
        match catch_unwind(AssertUnwindSafe(|| unsafe { run(cx, op) })) {
            Ok(Flow::Next) if !cx.attention => 0,
            Ok(flow) => 1 + flow as u64,
            Err(panic) => {
                cx.worker.panic = Some(panic);
                PANICKED
            }
        }
    }

    impl Code {
        /// For a function of an image; None if nothing of it gains, or this machine cannot run it.
        pub fn of(image: &Image, function: usize, made: Made) -> Option<Code> {
            if !crate::exec::lanes::wide() {
                return None;
            }
            let (buffer, stretches) = emit::code(image, function, made)?;
            Some(Code { buffer, first_pc: image.functions[function].first_pc, stretches })
        }

        /// The code for the stretch that begins at `pc`.
        #[inline(always)]
        pub fn stretch(&self, pc: u32) -> Option<Stretch> {
            let stretch = self.stretches.get(pc.wrapping_sub(self.first_pc) as usize)?;
            (!stretch.at.is_null()).then_some(*stretch)
        }
    }

    impl Cx<'_> {
        /// Runs the stretch from `pc` on by its code, and those that it goes on to, of no more than `budget` instructions; gives
        /// the last instruction that it came to, and how that went. [`Cx::first`] and [`Cx::left`] tell of the last stretch.
        ///
        /// # Safety
        /// `stretch` must be that from `pc` on of the code of what runs; all lanes must run.
        #[inline(always)]
        pub unsafe fn run_code(&mut self, stretch: Stretch, pc: u32, budget: u64) -> (Flow, u32) {
            let image = self.image();
            (self.first, self.left, self.counted) = (pc, budget, u32::MAX);
            let (cells, patterns) = self.worker.patterns.places();
            // SAFETY: the code was made for this image, and is called as it was made to be.
            let ended = unsafe {
                let run: Entry = std::mem::transmute::<*const u8, Entry>(stretch.at);
                run(std::ptr::from_mut(self).cast(), image.code.as_ptr(), cells.cast(), patterns.cast())
            };
            if ended & 0xff == 0 {
                return (Flow::Next, (ended >> 8) as u32);
            }
            self.cut_short(ended)
        }

        #[inline(never)]
        fn cut_short(&mut self, ended: u64) -> (Flow, u32) {
            if ended & 0xff == PANICKED
                && let Some(panic) = self.worker.panic.take()
            {
                resume_unwind(panic);
            }
            let flow = match (ended & 0xff).wrapping_sub(1) {
                flow if flow == Flow::Goto as u64 => Flow::Goto,
                flow if flow == Flow::Switch as u64 => Flow::Switch,
                flow if flow == Flow::Yield as u64 => Flow::Yield,
                _ => Flow::Next,
            };
            (flow, (ended >> 8) as u32)
        }
    }
}
