//! The asynchronous proxy: bulk copies and `wgmma` see what ordinary stores wrote to shared memory only behind a
//! `fence.proxy.async` (PTX ISA, "Async proxy").

use crate::exec::cx::Cx;

impl Cx<'_> {
    /// `fence.proxy.async`: what this warp has seen written is visible to asynchronous copies from here.
    pub fn fence_async_proxy(&mut self) {
        let seen = self.clocks();
        for (have, new) in self.block.proxy.iter_mut().zip(&seen) {
            *have = (*have).max(*new);
        }
        let time = &mut self.block.time;
        self.warp.tick(time);
    }
}
