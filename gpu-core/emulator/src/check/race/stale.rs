//! Reads through the cache for what a kernel only reads (`ld.global.nc`: `__ldg`, or a `const __restrict__` pointer) of
//! what the same kernel wrote. No barrier or fence reaches that cache, so order does not help.

use crate::check::race::global::{Conflict, Conflicts, GlobalRaces};
use crate::check::race::memory::Page;
use crate::check::race::pages::{ATOMIC, ATOMIC_BLOCK, Entry, KIND, WRITTEN, thread_of};
use crate::check::race::rules::{Mine, Piece};
use crate::check::repeats::{Other, Told};
use crate::exec::cx::Cx;
use crate::exec::fault::{Detail, text_of};
use crate::memory::space::Window;
use crate::report::{AccessKind, FaultKind, Space, ThreadId};

impl GlobalRaces {
    /// Finds writes of this launch in a piece that is read through that cache. The page must be locked.
    #[cold]
    #[inline(never)]
    pub(crate) fn find_stale(
        &self,
        page: Page<'_>,
        entry: &Entry,
        piece: &Piece,
        mine: &Mine,
        conflicts: &mut Conflicts,
    ) {
        let write = entry.write();
        if entry.others().mask != 0 || write.mask & piece.mask == 0 {
            return;
        }
        let cells = self.pages().spread(page, write, 0).cells;
        let readers = piece.half(0);
        for byte in (0..32).filter(|byte| piece.mask >> byte & 1 != 0) {
            let cell = cells[byte as usize];
            if !matches!(cell & KIND, WRITTEN | ATOMIC | ATOMIC_BLOCK) {
                continue;
            }
            let reader = thread_of(readers.cell(byte));
            let lane = (reader.wrapping_sub(thread_of(mine.stamp)) & 31) as usize;
            if conflicts.last().is_none_or(|last| last.lane != lane) {
                conflicts.push(Conflict { lane, cell, stale: true });
            }
        }
    }
}

impl Cx<'_> {
    #[cold]
    #[inline(never)]
    pub(crate) fn report_stale(
        &mut self,
        address: u64,
        bytes: u64,
        lane: usize,
        (site, writer, by): (u32, Option<ThreadId>, AccessKind),
    ) {
        let (image, pc) = (self.image(), self.pc);
        let other_pc = image.sites.get(site as usize).map(|site| site.pc).filter(|_| site != 0);
        let told = Told { other: other_pc.map_or(Other::Nowhere, Other::At), ..Told::alone(FaultKind::StaleRead, pc) };
        if self.repeats(told, 1) {
            return;
        }
        let (_, allocation) = self.locate(Window::Global, address, bytes);
        let name = allocation
            .as_ref()
            .map_or("memory".to_owned(), |a| format!("`{}`[{}]", a.name, a.offset.div_euclid(bytes.max(1) as i64)));
        let reader = self.thread(lane);
        let who = match &writer {
            Some(writer) if *writer == reader => "it".to_owned(),
            Some(writer) => text_of(writer),
            None => "a thread of another block".to_owned(),
        };
        let wrote = if by == AccessKind::Atomic { "updated" } else { "wrote" };
        let place = other_pc.map_or("an unknown line".to_owned(), |pc| image.place(pc));
        let message = format!(
            "{} reads {name} through the cache for data that the kernel only reads (ld.global.nc, from __ldg or a const \
             __restrict__ pointer), but {who} {wrote} it at {place} in the same kernel: the old value may be in that cache, \
             and no barrier or fence changes that; read it without __ldg and without const __restrict__",
            text_of(&reader)
        );
        let other = writer.map(|thread| image.other_side(other_pc, thread, Some(by)));
        let detail = Detail {
            space: Some(Space::Global),
            access: Some(AccessKind::Read),
            address: Some(address),
            bytes: bytes as u32,
            allocation,
            other,
        };
        self.fault(FaultKind::StaleRead, pc, Some(lane), 1, message, detail);
    }
}
