//! Undefined values in shared and local memory: what was stored there keeps its origin, and that it was computed with. Without
//! that a value would be a fresh one, never written, wherever a thread loads it again, and could leave the kernel as a copy.

use std::collections::HashMap;
use std::sync::Arc;

use crate::check::undef::taint::Origin;
use crate::exec::cx::{Cx, lanes};
use crate::exec::memory::access::Reach;
use crate::exec::sched::warp::Poison;
use crate::memory::space::Window;

/// What a store left.
#[derive(Clone, Debug)]
pub struct Kept {
    pub origin: Origin,
    pub computed: bool,
}

/// Words of a block's memory with undefined values that were stored there, by owner (a thread, or [`SHARED`]) and address.
#[derive(Debug, Default)]
pub struct Stored {
    words: HashMap<(u32, u64), Arc<Kept>>,
}

/// The owner of shared memory.
const SHARED: u32 = u32::MAX;
/// Beyond so many words nothing more is kept.
const MOST_WORDS: usize = 1 << 16;

impl Stored {
    pub fn reset(&mut self) {
        self.words.clear();
    }
}

impl Cx<'_> {
    fn owner(&self, window: Window, lane: usize) -> Option<u32> {
        match window {
            Window::Shared => Some(SHARED),
            Window::Local => Some(self.warp.index * 32 + lane as u32),
            _ => None,
        }
    }

    /// A lane stores an undefined value; `kept` is made of its mark at the first of them.
    pub(crate) fn keep(
        &mut self,
        (window, address): (Window, u64),
        bytes: u64,
        lane: usize,
        mark: &Poison,
        kept: &mut Option<Arc<Kept>>,
    ) {
        let Some(owner) = self.owner(window, lane) else { return };
        let Some(origin) = self.warp.origins.get(mark.origin as usize) else { return };
        if self.block.stored.words.len() >= MOST_WORDS {
            return;
        }
        let kept = kept.get_or_insert_with(|| {
            let thread = origin.thread.or_else(|| Some(self.thread(origin.lane)));
            Arc::new(Kept { origin: Origin { thread, ..origin.clone() }, computed: mark.computed })
        });
        for word in address / 4..=address.saturating_add(bytes - 1) / 4 {
            self.block.stored.words.insert((owner, word), kept.clone());
        }
    }

    /// What was stored where the lanes of `missing` read; rather something computed than a copy.
    pub(crate) fn kept(&self, reach: &Reach, at: &[u64; 32], missing: u32) -> Option<Arc<Kept>> {
        if self.block.stored.words.is_empty() {
            return None;
        }
        let found = lanes(missing).filter_map(|lane| {
            let owner = self.owner(reach.window, lane)?;
            self.block.stored.words.get(&(owner, at[lane] / 4))
        });
        found.reduce(|first, next| if first.computed { first } else { next }).cloned()
    }
}
