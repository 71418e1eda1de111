//! The asynchronous proxy: bulk copies and `wgmma` see what ordinary stores wrote to shared memory only behind a
//! `fence.proxy.async` (PTX ISA, "Async proxy").

use crate::exec::cx::Cx;

impl Cx<'_> {
    /// `fence.proxy.async`: what these lanes stored, and what they know to be stored, is visible to asynchronous copies from here.
    /// Lanes of their warp that they have not met since must fence for themselves.
    pub fn fence_async_proxy(&mut self) {
        let told = self.warp.told_by(self.mask, self.pc);
        self.block.proxy.join(&told);
        let time = &mut self.block.time;
        self.warp.tick(time);
    }
}
