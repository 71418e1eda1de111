//! Undefined values that cross calls: arguments take their marks along, and so do results.

use crate::exec::cx::Cx;
use crate::exec::image::ParamArea;
use crate::exec::op::Slot;

impl Cx<'_> {
    /// Arguments or results were copied from area to area, of the frame `from` to that of `to`, in the lanes that run.
    #[cold]
    #[inline(never)]
    pub fn pass_marks(&mut self, from: u32, to: u32, areas: &mut dyn Iterator<Item = (ParamArea, ParamArea)>) {
        let mask = self.active;
        for (source, target) in areas {
            for word in 0..source.bytes.min(target.bytes).div_ceil(4) {
                let slot = |area: ParamArea| area.slot.0 + 128 * word;
                let mark = self.warp.poison.get((from, slot(source))).cloned();
                let mark = mark.and_then(|mark| mark.within(mask));
                self.mark((to, slot(target)), mark, mask);
            }
        }
        // The frame that runs now is another one than the instruction's, whose registers are not those that it names.
        self.worker.fresh_taint = true;
    }

    /// The lanes that run are done with a frame: whoever has it next gives its registers values of its own.
    #[cold]
    #[inline(never)]
    pub fn drop_marks(&mut self, frame: u32) {
        let mask = self.active;
        for slot in self.warp.poison.of_frame(frame) {
            self.mark((frame, slot.0), None, mask);
        }
    }
}

impl crate::check::undef::marks::Marks {
    /// The marked registers of a frame.
    fn of_frame(&self, frame: u32) -> Vec<Slot> {
        self.keys().filter(|key| key.0 == frame).map(|key| Slot(key.1)).collect()
    }
}
