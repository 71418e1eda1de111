//! Volatile, relaxed, acquiring and releasing loads and stores where they differ from weak ones by no more than the order that
//! the host has to keep and by counting as polls: they take the weak ones' short ways.

use super::transfer::{STRONG, window_from};
use crate::check::race::unfenced::MAX_UNFENCED;
use crate::exec::cx::{Cx, watch};
use crate::exec::memory::flags::{ACQUIRE, DATA};
use crate::exec::op::{Flow, Op, Slot};
use crate::exec::order;
use crate::memory::space::Window;

impl Cx<'_> {
    /// Whether a strong load or store is such a one. With the race check on, a load is of which nothing is remembered any
    /// more: in races strong ones take part as weak ones do, or not at all.
    #[inline(always)]
    pub fn is_near_weak(&self, op: &Op, load: bool) -> bool {
        if self.watch & (watch::TRACE | watch::HEAP) != 0 || !self.grid.options.fast.strong_as_weak {
            return false;
        }
        let raceless = self.watch & watch::RACE == 0;
        match window_from(op.e.0) {
            Window::Global => raceless || load && op.e.0 & ACQUIRE == 0 && self.remembers_no_more(),
            Window::Shared => raceless,
            _ => false,
        }
    }

    /// As many relaxed loads are remembered as there is room for.
    fn remembers_no_more(&self) -> bool {
        self.warp.unfenced.len() >= MAX_UNFENCED
    }

    /// # Safety
    /// As [`crate::exec::op::Exec`]; [`Cx::is_near_weak`] must have said so.
    #[inline(never)]
    pub unsafe fn load_near_weak(&mut self, op: &Op) -> Flow {
        let watch = self.watch;
        if op.e.0 & DATA == 0 {
            self.watch &= !watch::RACE;
        }
        // SAFETY: passed on.
        unsafe { (op.run)(self, &weak(op)) };
        self.watch = watch;
        if window_from(op.e.0) == Window::Global {
            self.order(order::BEHIND_LOAD);
        }
        if self.polled() { Flow::Yield } else { Flow::Next }
    }

    /// # Safety
    /// As [`Cx::load_near_weak`].
    #[inline(never)]
    pub unsafe fn store_near_weak(&mut self, op: &Op) -> Flow {
        // Before the value is there: who sees it on another host thread must find what it publishes.
        if window_from(op.e.0) == Window::Global {
            self.order(order::BEFORE_STORE);
        }
        // SAFETY: passed on.
        unsafe { (op.run)(self, &weak(op)) }
    }
}

fn weak(op: &Op) -> Op {
    Op { e: Slot(op.e.0 & !STRONG), ..*op }
}

/// Whether the host would move what a lane accesses in several steps.
pub const fn is_in_parts<E>(vector: usize) -> bool {
    vector > 1 || size_of::<E>() > 8
}

/// Sixteen bytes that the host moves in one piece: x86-64 processors with AVX do so from and to aligned places, and those of
/// ARM since version 8.4.
#[cfg(target_arch = "x86_64")]
type Sixteen = std::arch::x86_64::__m128i;
#[cfg(not(target_arch = "x86_64"))]
type Sixteen = u128;

/// Copies a lane's vector as hardware does, which moves it in one piece: PTX promises that of its elements alone, but programs
/// keep a value and its state side by side. Of more than 16 bytes, each 16.
///
/// # Safety
/// Both are valid for so many bytes; memory that lies otherwise than its addresses say is copied as it comes.
#[inline(always)]
pub unsafe fn copy_whole(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: as the caller promises. Volatile, so that it stays one access.
    unsafe {
        match bytes {
            _ if !(from as usize | to as usize).is_multiple_of(bytes.min(16)) => from.copy_to_nonoverlapping(to, bytes),
            2 => to.cast::<u16>().write_volatile(from.cast::<u16>().read_volatile()),
            4 => to.cast::<u32>().write_volatile(from.cast::<u32>().read_volatile()),
            8 => to.cast::<u64>().write_volatile(from.cast::<u64>().read_volatile()),
            _ => (0..bytes / 16).for_each(|part| {
                let piece = from.cast::<Sixteen>().add(part).read_volatile();
                to.cast::<Sixteen>().add(part).write_volatile(piece);
            }),
        }
    }
}
