//! Loads of which some bytes are not used.
//!
//! Compilers join neighbouring elements to one aligned vector, and fill it up where there are gaps: `.pragma
//! "used_bytes_mask 4095"` before a load of 16 bytes says that the last four are not used. There is room for them on a GPU,
//! but the program did not ask for them: they may lie behind the end of an array, or be written by another thread meanwhile.

use std::sync::atomic::Ordering;

use super::access::{AddressWord, addresses, window_from};
use super::transfer::{As, Element, LoadLanes, by_lanes, load};
use crate::exec::cx::{Cx, lanes, watch};
use crate::exec::lanes::{Body, Word, exec};
use crate::exec::op::{Exec, Flow, Op, Slot};
use crate::memory::space::{WINDOW, Window, window_base, window_of};
use crate::report::AccessKind;

/// A load of `V` elements whose list ends with a row for single bytes and the mask of the bytes that are used.
struct LoadUsed<E, A, const V: usize>(std::marker::PhantomData<(E, A)>);

/// The exec of such a load.
pub fn load_used<E: Element, A: AddressWord>(vector: usize) -> Exec {
    match vector {
        1 => exec::<LoadUsed<E, A, 1>>(),
        2 => exec::<LoadUsed<E, A, 2>>(),
        4 => exec::<LoadUsed<E, A, 4>>(),
        _ => exec::<LoadUsed<E, A, 8>>(),
    }
}

impl<E: Element, A: AddressWord, const V: usize> Body for LoadUsed<E, A, V> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        let (size, bytes) = (size_of::<E>() as u64, (size_of::<E>() * V) as u64);
        let list = &cx.image().lists[op.list as usize..][..V + 2];
        let (room, used) = (list[V], list[V + 1].0);
        // SAFETY: slots of a decoded instruction; the row for single bytes is one of 32 bits.
        unsafe {
            if addresses::<A>(cx, op, bytes).at.iter().fold(0, |bits, at| bits | at) & (bytes - 1) != 0 {
                // Not aligned: it fails as it should.
                return load::<E, A>(V)(cx, op);
            }
            let quiet = std::mem::replace(&mut cx.worker.quiet, true);
            let all = ((1u64 << size) - 1) as u32;
            for (index, slot) in list[..V].iter().enumerate() {
                let here = (u64::from(used) >> (index as u64 * size)) as u32 & all;
                if here == 0 || slot.is_none() || cx.grid.aborted.load(Ordering::Relaxed) {
                    continue;
                }
                let mut part = op.clone();
                part.imm = op.imm.wrapping_add(index as i64 * size as i64);
                if here == all {
                    (part.d, part.list, part.list_len) = (*slot, op.list + index as u32, 1);
                    by_lanes::<LoadLanes<E, A, 1>>(cx, &part);
                    continue;
                }
                (part.d, part.list, part.list_len) = (room, op.list + V as u32, 1);
                let mut values = [[0u8; 16]; 32];
                let first = part.imm;
                for byte in lanes(here) {
                    part.imm = first.wrapping_add(byte as i64);
                    by_lanes::<LoadLanes<As<u8, u32>, A, 1>>(cx, &part);
                    let row = &*cx.row::<u32>(room);
                    lanes(cx.mask).for_each(|lane| values[lane][byte] = row[lane] as u8);
                }
                let row = &mut *cx.row_mut::<E::Row>(*slot);
                for lane in lanes(cx.mask) {
                    row[lane] = values[lane].as_ptr().cast::<E>().read_unaligned().load().to_raw();
                }
            }
            cx.worker.quiet = quiet;
            cx.count_whole::<A>(op, bytes);
        }
        Flow::Next
    }
}

impl Cx<'_> {
    /// Counts an access as what it is for the hardware.
    ///
    /// # Safety
    /// As [`Exec`].
    unsafe fn count_whole<A: AddressWord>(&mut self, op: &Op, bytes: u64) {
        if self.watch & watch::COUNT == 0 || self.worker.quiet {
            return;
        }
        // SAFETY: passed on.
        let mut at = unsafe { addresses::<A>(self, op, bytes) };
        let mut window = window_from(op.e.0);
        if window == Window::Generic {
            window = window_of(at.low);
            if at.low / WINDOW == at.high / WINDOW {
                at.rebase(window_base(window));
            }
        }
        let kind = AccessKind::Read;
        match bytes {
            2 => self.count_access::<2>(op, window, &at, kind),
            4 => self.count_access::<4>(op, window, &at, kind),
            8 => self.count_access::<8>(op, window, &at, kind),
            16 => self.count_access::<16>(op, window, &at, kind),
            _ => self.count_access::<32>(op, window, &at, kind),
        }
    }
}

/// The end of the list of such a load.
pub fn list_end(room: Slot, used: u32) -> [Slot; 2] {
    [room, Slot(used)]
}
