//! Functions that the emulator provides: what NVRTC calls but does not define.

use super::printf;
use crate::check::repeats::Told;
use crate::exec::cx::{Cx, lanes};
use crate::exec::fault::{Detail, text_of};
use crate::exec::image::{Builtin, CallSite, ParamArea};
use crate::exec::memory::access::Region;
use crate::exec::op::{Flow, Op, Slot};
use crate::memory::all_bits;
use crate::memory::space::{Window, window_base, window_of};
use crate::report::FaultKind;

/// All of them.
pub const BUILTINS: [(&str, Builtin); 5] = [
    ("vprintf", vprintf),
    ("__assertfail", assert_fail),
    ("malloc", malloc),
    ("free", free),
    ("cudaGraphSetConditional", set_condition),
];

/// The function of a name.
pub fn find(name: &str) -> Option<Builtin> {
    BUILTINS.iter().find(|(known, _)| *known == name).map(|(_, run)| *run)
}

/// An argument of up to 8 bytes.
///
/// # Safety
/// The area must lie in the current frame.
unsafe fn argument(cx: &Cx<'_>, area: ParamArea, lane: usize) -> u64 {
    // SAFETY: areas are rows of words in the frame.
    unsafe {
        let low = u64::from(cx.lane::<u32>(area.slot, lane));
        if area.bytes <= 4 {
            return low;
        }
        low | u64::from(cx.lane::<u32>(Slot(area.slot.0 + 128), lane)) << 32
    }
}

impl Cx<'_> {
    /// Reads device memory at a generic address for one lane; None when it is no memory of the kernel.
    pub fn peek(&self, address: u64, lane: usize, out: &mut [u8]) -> Option<()> {
        let window = window_of(address);
        let offset = address - window_base(window);
        let bytes = out.len() as u64;
        let pointer: *const u8 = match window {
            Window::Global => {
                let regions = &self.grid.regions;
                let at = regions.partition_point(|region: &Region| region.base <= address).checked_sub(1)?;
                let region = &regions[at];
                if region.freed || address.checked_add(bytes)? > region.end {
                    return None;
                }
                region.pointer.wrapping_add((address - region.base) as usize)
            }
            Window::Shared => {
                if offset.checked_add(bytes)? > self.block.shared.len() as u64 * 16 {
                    return None;
                }
                self.block.shared.as_ptr().cast::<u8>().wrapping_add(offset as usize)
            }
            Window::Local => {
                let stride = u64::from(self.warp.local_stride);
                if offset.checked_add(bytes)? > stride {
                    return None;
                }
                self.warp.local.as_ptr().cast::<u8>().wrapping_add((lane as u64 * stride + offset) as usize)
            }
            _ => {
                if offset.checked_add(bytes)? > self.grid.params.len() as u64 * 16 {
                    return None;
                }
                self.grid.params.as_ptr().cast::<u8>().wrapping_add(offset as usize)
            }
        };
        // SAFETY: each branch checked that the range lies inside its memory.
        unsafe { std::ptr::copy_nonoverlapping(pointer, out.as_mut_ptr(), out.len()) };
        Some(())
    }

    /// Whether some bytes of a thread's stack were never written, or with a value that nobody gave.
    fn is_undefined_local(&self, address: u64, bytes: u64, lane: usize) -> bool {
        let offset = address.wrapping_sub(window_base(Window::Local));
        let stride = u64::from(self.warp.local_stride);
        self.grid.options.checks.uninitialised
            && window_of(address) == Window::Local
            && offset.saturating_add(bytes) <= stride
            && !all_bits(&self.warp.local_init, lane as u64 * stride + offset, bytes)
    }

    /// A zero-terminated string of device memory.
    pub fn text_at(&self, address: u64, lane: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let mut byte = [0u8];
        while out.len() < 1 << 16
            && self.peek(address.wrapping_add(out.len() as u64), lane, &mut byte).is_some()
            && byte[0] != 0
        {
            out.push(byte[0]);
        }
        out
    }
}

unsafe fn vprintf(cx: &mut Cx<'_>, _: &Op, site: &CallSite) -> Flow {
    let [format, values] = site.arguments[..] else { return Flow::Next };
    for lane in lanes(cx.mask) {
        // SAFETY: the areas belong to this call.
        let (format, values) = unsafe { (argument(cx, format, lane), argument(cx, values, lane)) };
        let format = cx.text_at(format, lane);
        let undefined = std::cell::Cell::new(false);
        let (text, count) = printf::format(
            &format,
            |offset, out| {
                let address = values.wrapping_add(offset);
                undefined.set(undefined.get() || cx.is_undefined_local(address, out.len() as u64, lane));
                cx.peek(address, lane, out)
            },
            |address| cx.text_at(address, lane),
        );
        cx.print(&text);
        let pc = cx.pc;
        if undefined.get() && !cx.repeats(Told::alone(FaultKind::Uninitialised, pc), 1) {
            let message = format!("{} prints a value that was never given", text_of(&cx.thread(lane)));
            cx.fault(FaultKind::Uninitialised, pc, Some(lane), 1, message, Detail::default());
        }
        if let Some(result) = site.results.first() {
            // SAFETY: the area belongs to this call.
            unsafe { cx.set_lane::<u32>(result.slot, lane, count) };
        }
    }
    Flow::Next
}

impl Cx<'_> {
    /// Appends to the console, whole lines up to the limit.
    fn print(&self, text: &[u8]) {
        let mut console = self.grid.console.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let limit = self.grid.options.console_limit_bytes;
        if console.dropped_lines > 0 || console.text.len() + text.len() > limit {
            console.dropped_lines += text.iter().filter(|byte| **byte == b'\n').count().max(1) as u64;
        } else {
            console.text.push_str(&String::from_utf8_lossy(text));
        }
    }
}

unsafe fn assert_fail(cx: &mut Cx<'_>, _: &Op, site: &CallSite) -> Flow {
    let lane = cx.mask.trailing_zeros() as usize & 31;
    let text = |cx: &Cx<'_>, index: usize| {
        site.arguments.get(index).map_or(String::new(), |area| {
            // SAFETY: the area belongs to this call.
            let address = unsafe { argument(cx, *area, lane) };
            String::from_utf8_lossy(&cx.text_at(address, lane)).into_owned()
        })
    };
    let condition = text(cx, 0);
    // SAFETY: the area belongs to this call.
    let line = site.arguments.get(2).map_or(0, |area| unsafe { argument(cx, *area, lane) } as u32);
    let file = text(cx, 1);
    let message =
        format!("{} failed the assertion `{condition}` ({file}:{line})", crate::exec::fault::text_of(&cx.thread(lane)));
    let pc = cx.pc;
    cx.fault(FaultKind::Trap, pc, Some(lane), cx.mask.count_ones(), message, Detail::default());
    cx.exit_lanes(cx.mask)
}

unsafe fn malloc(cx: &mut Cx<'_>, _: &Op, site: &CallSite) -> Flow {
    let ([bytes], [result]) = (&site.arguments[..], &site.results[..]) else { return Flow::Next };
    for lane in lanes(cx.mask) {
        // SAFETY: the areas belong to this call.
        unsafe {
            let bytes = argument(cx, *bytes, lane);
            let mut heap = cx.grid.heap.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let address = heap.malloc(bytes).unwrap_or(0);
            drop(heap);
            if address != 0 {
                renew(cx, address, bytes.max(1));
            }
            cx.set_lane::<u32>(result.slot, lane, address as u32);
            cx.set_lane::<u32>(Slot(result.slot.0 + 128), lane, (address >> 32) as u32);
        }
    }
    Flow::Next
}

/// Memory from `malloc` is as if nobody had ever touched it.
fn renew(cx: &Cx<'_>, address: u64, bytes: u64) {
    let regions = &cx.grid.regions;
    let index = regions.partition_point(|region| region.base <= address);
    let Some(region) = index.checked_sub(1).map(|index| &regions[index]) else { return };
    let offset = address - region.base;
    if cx.watch & crate::exec::cx::watch::RACE != 0 {
        cx.grid.races.forget(region.shadow as usize, offset, bytes);
    }
    region.unwrite(offset, bytes);
}

unsafe fn free(cx: &mut Cx<'_>, _: &Op, site: &CallSite) -> Flow {
    let [address] = site.arguments[..] else { return Flow::Next };
    for lane in lanes(cx.mask) {
        // SAFETY: the area belongs to this call.
        let address = unsafe { argument(cx, address, lane) };
        let known = address == 0 || {
            let mut heap = cx.grid.heap.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            heap.free(address)
        };
        if !known {
            let message = format!(
                "{} frees {address:#x}, which malloc did not give (or which was freed already)",
                crate::exec::fault::text_of(&cx.thread(lane))
            );
            let pc = cx.pc;
            cx.fault(FaultKind::UseAfterFree, pc, Some(lane), 1, message, Detail::default());
        }
    }
    Flow::Next
}

/// `cudaGraphSetConditional(handle, value)`. On an H200 a handle of no condition of the running graph is an illegal address.
unsafe fn set_condition(cx: &mut Cx<'_>, _: &Op, site: &CallSite) -> Flow {
    let [handle, value] = site.arguments[..] else { return Flow::Next };
    let pc = cx.pc;
    let mut first: Option<(usize, u64, u32)> = None;
    for lane in lanes(cx.mask) {
        // SAFETY: the areas belong to this call.
        let (handle, value) = unsafe { (argument(cx, handle, lane), argument(cx, value, lane) as u32) };
        if !cx.grid.options.conditions.as_ref().is_some_and(|conditions| conditions.set(handle, value)) {
            let message = format!(
                "{} sets the condition {handle} of a graph, but the graph that runs has no such condition",
                text_of(&cx.thread(lane))
            );
            cx.fault(FaultKind::OutOfBounds, pc, Some(lane), 1, message, Detail::default());
            return Flow::Next;
        }
        match first {
            Some((other, its, set)) if its == handle && set != value && cx.grid.options.checks.race => {
                let message = format!(
                    "{} sets the condition {handle} of the graph to {value}, and {} to {set} at the same time: let one \
                     thread set it",
                    text_of(&cx.thread(lane)),
                    text_of(&cx.thread(other))
                );
                cx.fault(FaultKind::Race, pc, Some(lane), 1, message, Detail::default());
                return Flow::Next;
            }
            Some(_) => {}
            None => first = Some((lane, handle, value)),
        }
    }
    Flow::Next
}
