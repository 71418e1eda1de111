//! What a shuffle takes from a lane that does not take part: undefined, and told where it is used, for in many a reduction
//! only the first lane's value counts.

use super::taint::Origin;
use super::undefined::Bits;
use crate::check::repeats::Told;
use crate::exec::cx::Cx;
use crate::exec::fault::{Detail, text_of};
use crate::exec::op::Slot;
use crate::exec::sched::warp::Poison;
use crate::report::FaultKind;

impl Cx<'_> {
    /// A shuffle gave the lanes of `missing` what means nothing, of which `said` tells.
    #[cold]
    pub fn undefined_shuffle(&mut self, to: Slot, missing: u32, said: String) {
        let (pc, lane, mask) = (self.pc, missing.trailing_zeros() as usize & 31, self.mask);
        let (space, address, bytes, allocation, thread) = (None, 0, 0, None, None);
        let shuffled = Some(said);
        let origin =
            self.warp.origin(Origin { pc, lane, space, address, bytes, allocation, thread, shuffled, reported: false });
        let fresh = Poison { origin, computed: true, ..Poison::default() }.on(Bits::Whole(missing), missing);
        // What the other lanes got may be marked as well.
        let carried = self.worker.carried.take().and_then(|mark| mark.within(mask & !missing));
        let mark = match (fresh, carried) {
            (Some(fresh), Some(carried)) => Some(fresh.over(Some(&carried), carried.lanes)),
            (fresh, carried) => fresh.or(carried),
        };
        let frame = self.warp.splits[self.warp.current].frame;
        self.mark((frame, to.0), mark, mask);
        self.tainted = true;
        self.attention = true;
        self.worker.fresh_taint = true;
    }

    /// At `pc`, `lanes` use what they or others got by a shuffle from a lane that had nothing to give.
    pub(crate) fn report_shuffled(&mut self, (from, lane): (u32, usize), said: &str, pc: u32, lanes: u32, how: &str) {
        self.attention = true;
        if self.repeats(Told::beside(FaultKind::MaskMisuse, from, pc), lanes.count_ones()) {
            return;
        }
        let image = self.image();
        let user = self.thread(lanes.trailing_zeros() as usize & 31);
        let message =
            format!("{} {said}, and {} {how} at {}", text_of(&self.thread(lane)), text_of(&user), image.place(pc));
        let detail = Detail { other: Some(image.other_side(Some(pc), user, None)), ..Detail::default() };
        let who = Some(self.thread(lane));
        self.fault_of(FaultKind::MaskMisuse, from, who, lanes.count_ones(), message, detail);
    }
}
