//! What fragments of `wmma.load` and `wmma.store` cost: the same wherever their rows are as far apart and begin as far
//! into a sector or into the banks. So it is kept, and not counted again step by step.

use super::Site;
use crate::exec::cx::Cx;
use crate::exec::op::Op;
use crate::memory::space::Window;

/// Instructions beyond these share their places.
const PLACES: usize = 32;

#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// What it holds for; `requests` of 0 for none.
    site: u32,
    stride: u32,
    window: u32,
    phase: u32,
    requests: u64,
    cost: u64,
    conflicts: u64,
    bytes: u64,
    last_cost: u32,
}

/// Of one worker.
#[derive(Clone, Debug)]
pub struct Fragments([Known; PLACES]);

impl Default for Fragments {
    fn default() -> Fragments {
        Fragments([Known::default(); PLACES])
    }
}

/// What a sector begins with, and what all banks are.
const fn phase(window: Window, low: u64) -> u32 {
    let all = if matches!(window, Window::Shared) { 128 } else { 32 };
    (low % all) as u32
}

fn space(window: Window) -> usize {
    if window == Window::Shared { 2 } else { 1 }
}

impl Cx<'_> {
    /// Counts a whole fragment from `low`, whose rows are `stride` elements apart, as the last one like it. False: there
    /// was none, and its steps must be counted.
    pub fn add_fragment(&mut self, op: &Op, window: Window, low: u64, stride: u32) -> bool {
        let known = &self.worker.fragments.0[op.site as usize % PLACES];
        let asked = (op.site, stride, window as u32, phase(window, low));
        if known.requests == 0 || (known.site, known.stride, known.window, known.phase) != asked {
            return false;
        }
        let site = &mut self.worker.counts.site(op.site)[space(window) - 1];
        if site.kind.is_none() {
            // The first of its site says what it is.
            return false;
        }
        site.requests += known.requests;
        site.cost += known.cost;
        site.conflicts += known.conflicts;
        site.bytes += known.bytes;
        self.worker.last_cost = known.last_cost;
        true
    }

    /// What accesses of an instruction have cost until now.
    pub fn fragment_cost(&mut self, op: &Op, window: Window) -> Site {
        self.worker.counts.site(op.site)[space(window) - 1]
    }

    /// Keeps what the steps of a fragment have cost since `before`.
    pub fn learn_fragment(&mut self, op: &Op, window: Window, low: u64, stride: u32, before: Site) {
        let now = self.fragment_cost(op, window);
        self.worker.fragments.0[op.site as usize % PLACES] = Known {
            site: op.site,
            stride,
            window: window as u32,
            phase: phase(window, low),
            requests: now.requests - before.requests,
            cost: now.cost - before.cost,
            conflicts: now.conflicts - before.conflicts,
            bytes: now.bytes - before.bytes,
            last_cost: self.worker.last_cost,
        };
    }
}
