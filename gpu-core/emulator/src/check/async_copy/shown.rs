//! mbarriers that a copy engine signals: it sees what `mbarrier.init` made only behind a `fence.mbarrier_init` or a
//! `fence.proxy.async`, or a barrier of the cluster. A barrier of the block shows it to threads alone.

use crate::check::repeats::Told;
use crate::exec::cx::{Cx, watch};
use crate::exec::fault::{Detail, text_of};
use crate::report::{AccessKind, FaultKind, Space};

impl Cx<'_> {
    /// The mbarriers of the block whose initialisation this warp knows of can be seen by all from here.
    pub fn show_mbarriers(&mut self) {
        let warp = &*self.warp;
        for barrier in self.block.mbarriers.values_mut().filter(|barrier| !barrier.shown) {
            let (thread, clock) = barrier.made_by();
            barrier.shown = thread / 32 == warp.index || warp.heard(thread as usize / 32) >= clock;
        }
    }

    /// Before a bulk copy of `lane` signals the mbarrier at a shared address of any block of the cluster.
    pub fn check_shown(&mut self, address: u64, lane: usize) {
        if self.watch & watch::RACE == 0 || !self.grid.options.checks.barrier {
            return;
        }
        let Some((home, offset)) = self.shared_home(address) else { return };
        // SAFETY: peers of a cluster are run by this worker alone.
        let Some(barrier) = (unsafe { (*home).mbarriers.get_mut(&offset) }) else { return };
        if std::mem::replace(&mut barrier.shown, true) || barrier.gone {
            return;
        }
        let ((thread, _), init) = (barrier.made_by(), barrier.made_at());
        let (image, pc) = (self.image(), self.pc);
        // What the toolkit's own copies, and those of compilers for other languages, do without it is theirs to know.
        let lines: Vec<_> = [image.source(pc), image.inlined_at(pc)].into_iter().flatten().collect();
        let toolkit = |file: &str| {
            file.ends_with(".h") && (file.contains("memcpy_async") || file.contains("cp_async_bulk_shared_global"))
        };
        if lines.is_empty() || lines.iter().any(|line| line.file.ends_with(".py") || toolkit(&line.file)) {
            return;
        }
        if self.repeats(Told::beside(FaultKind::BarrierPhase, pc, init), 1) {
            return;
        }
        // SAFETY: as above.
        let by = self.grid.thread(unsafe { (*home).id }, thread);
        let message = format!(
            "{} has a bulk copy signal the mbarrier{} that {} initialises at {}, with no fence between them that shows it to the \
             copy engine, which may miss it: put fence.mbarrier_init.release.cluster (or fence.proxy.async) behind \
             mbarrier.init, in the thread that initialises, and then the barrier",
            text_of(&self.thread(lane)),
            self.shared_name(offset),
            text_of(&by),
            image.place(init)
        );
        let other = image.other_side(Some(init), by, Some(AccessKind::Write));
        let detail = Detail {
            space: Some(Space::Shared),
            access: Some(AccessKind::AsyncCopy),
            address: Some(offset.into()),
            bytes: 8,
            other: Some(other),
            ..Detail::default()
        };
        self.fault(FaultKind::BarrierPhase, pc, Some(lane), 1, message, detail);
    }
}
