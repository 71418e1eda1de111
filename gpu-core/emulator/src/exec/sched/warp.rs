//! A warp: its lanes in groups, each with its own program counter, and where groups meet again.
//!
//! A divergent branch splits the running group and opens a [`Join`] at the immediate post-dominator; groups that
//! reach it wait there until all lanes that split have come or exited. One group runs at a time.

pub use super::frame::{Frame, MAX_DEPTH, Registers, take_bank};
use crate::check::race::known::Part;
use crate::exec::cx::Cx;
use crate::exec::image::FunctionImage;
use crate::exec::memory::access::prefetch;
use crate::exec::op::Flow;

/// "Nowhere": no join, no frame, no re-convergence inside this function.
pub const NONE: u32 = u32::MAX;

/// Why a group does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    Ready,
    /// At a block barrier, until its generation moves on.
    Barrier {
        id: u32,
        generation: u64,
    },
    /// At a `.sync` operation, until all lanes of `members` are there.
    Sync {
        members: u32,
    },
    /// At an aligned barrier, until the whole warp is there.
    Together,
    /// At `wgmma.wait_group` or a product, until the other warps of the warpgroup have come as far.
    Warpgroup(crate::check::async_copy::wgmma::Progress),
    /// Until the cluster barrier's generation moves on.
    Cluster {
        generation: u64,
    },
}

/// Lanes with one program counter.
#[derive(Clone, Debug)]
pub struct Split {
    pub pc: u32,
    pub mask: u32,
    pub join: u32,
    pub frame: u32,
    pub wait: Wait,
    /// Memory it polled since it last gave way.
    pub polls: u32,
    /// It waits where it stands for the result of that barrier's completion ([`super::block::completion`]); 0: of none.
    pub awaited: u32,
}

/// Where lanes that diverged meet.
#[derive(Clone, Debug)]
pub struct Join {
    pub pc: u32,
    pub frame: u32,
    pub expected: u32,
    pub arrived: u32,
    pub parent: u32,
}

impl Split {
    /// The lanes that have come to a meeting point, which go on there.
    pub(crate) fn of(join: &Join) -> Split {
        Split {
            pc: join.pc,
            mask: join.arrived,
            join: join.parent,
            frame: join.frame,
            wait: Wait::Ready,
            polls: 0,
            awaited: 0,
        }
    }
}

/// Uninitialised values in registers, kept only while there are any.
#[derive(Clone, Debug, Default)]
pub struct Poison {
    pub lanes: u32,
    /// Something was computed with it.
    pub computed: bool,
    pub mixed: crate::check::undef::undefined::Mixed,
    /// Index into `Warp::origins`.
    pub origin: u32,
    /// Undefined bits of each lane, none of which is 0 in the lanes of `lanes`.
    pub bits: crate::check::undef::undefined::Bits,
}

/// What [`Cx`] knew of a warp when it came to a barrier: found again, it would take steps from one cache line to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest {
    pub registers: *mut u8,
    pub rpc: u32,
    pub watch: u32,
    pub tainted: bool,
    pub settled: bool,
}

// SAFETY: the registers are a buffer of the warp's own frame, which moves together with this.
unsafe impl Send for Rest {}

/// 32 lanes of a block. What each turn looks at comes first and together: a block's warps and their registers are about what
/// the nearest cache holds.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Warp {
    pub splits: Vec<Split>,
    pub index: u32,
    /// Lanes that have not exited.
    pub live: u32,
    /// Lanes that exist (the last warp of a block may be partial).
    pub lanes: u32,
    /// It had its first turn; before that only its number and its lanes say something.
    pub(crate) begun: bool,
    /// Its only group waits at a barrier, and this is how it goes on.
    pub(crate) rest: Option<Rest>,
    pub current: usize,
    /// That of the kernel comes first; it is there, without registers, also before the first turn and behind the end.
    pub frames: Vec<Option<Frame>>,
    /// No frame before this one is free.
    pub(crate) free_from: usize,
    /// Logical clocks for the race check: the own one, and those up to which this warp has seen everything.
    pub clock: u32,
    pub floor: u32,
    /// Time of the last barrier of the block that a group of it has passed.
    pub(crate) passed: u32,
    /// It has seen more of some warps (of itself too) than that: a floor is raised by a barrier of the whole block.
    pub beyond: bool,
    /// Meetings of some of its lanes since all of them met: what they did up to a clock is ordered among these lanes.
    pub(crate) meetings: Vec<(u32, u32)>,
    /// Warps of whose lanes it has not seen the same; `seen` is what it has seen of all of them.
    pub(crate) parts: Vec<Part>,
    /// Places of relaxed loads that no fence followed yet.
    pub unfenced: Vec<(crate::memory::space::Window, u64)>,
    /// The last load of those, if it was of a row or of one place: window, lowest and highest address, lanes.
    pub unfenced_last: Option<(crate::memory::space::Window, u64, u64, u32)>,
    pub poison: crate::check::undef::marks::Marks,
    /// Registers of `wgmma` in flight, by frame and slot.
    pub in_flight: std::collections::HashMap<(u32, u32), crate::check::async_copy::wgmma::InFlight>,
    /// What this warp has seen of each warp of its block, where that is beyond `floor`.
    pub(crate) seen: [u32; 32],
    pub(crate) joins: Vec<Join>,
    pub(crate) free_joins: Vec<u32>,
    pub local_stride: u32,
    /// Stack bytes per lane, lane after lane, and one bit per byte for what was written.
    pub local: Vec<u128>,
    pub local_init: Vec<std::sync::atomic::AtomicU64>,
    /// Site and lowest address of the last volatile load of shared memory.
    pub last_volatile: (u32, u64),
    /// The state of the block's copies all of which this warp knows to be complete.
    pub fills_known: u64,
    /// Generation of the cluster barrier at its last arrival.
    pub cluster_generation: u64,
    pub origins: Vec<crate::check::undef::taint::Origin>,
}

impl Warp {
    pub fn new(local_stride: u32, seen: [u32; 32]) -> Warp {
        let local_bytes = local_stride as usize * 32;
        Warp {
            index: 0,
            live: 0,
            lanes: 0,
            splits: Vec::with_capacity(4),
            rest: None,
            current: 0,
            joins: Vec::new(),
            free_joins: Vec::new(),
            frames: Vec::new(),
            free_from: 0,
            begun: false,
            local: vec![0; local_bytes / 16],
            local_stride,
            local_init: (0..local_bytes.div_ceil(64)).map(|_| Default::default()).collect(),
            seen,
            clock: 0,
            floor: 0,
            passed: 0,
            beyond: false,
            meetings: Vec::new(),
            parts: Vec::new(),
            unfenced: Vec::new(),
            unfenced_last: None,
            last_volatile: (0, 0),
            fills_known: u64::MAX,
            in_flight: Default::default(),
            cluster_generation: 0,
            poison: Default::default(),
            origins: Vec::new(),
        }
    }

    /// Makes a warp one that had no turn yet; what the one before left is cleared when it has.
    #[inline(always)]
    pub fn renew(&mut self, index: u32, lanes: u32) {
        (self.index, self.live, self.lanes, self.begun) = (index, lanes, lanes, false);
    }

    /// Asks for what its next turn looks at first.
    #[inline(always)]
    pub fn ask(&self) {
        prefetch(std::ptr::from_ref(self).cast());
        prefetch(self.splits.as_ptr().cast());
        if let Some(rest) = &self.rest {
            prefetch(rest.registers);
        }
    }

    /// Makes a frame for `function`; its registers hold whatever the last user left, as on hardware.
    pub fn push_frame(
        &mut self,
        index: u32,
        function: &FunctionImage,
        mask: u32,
        parent: u32,
        spare: &mut Registers,
    ) -> u32 {
        let mut registers = take_bank(function, spare);
        // What a device function leaves in them is its own.
        registers.ready &= parent == NONE;
        let (base, depth) = match self.frames.get(parent as usize).and_then(Option::as_ref) {
            Some(parent) => (parent.local_top, parent.depth + 1),
            None => (0, 0),
        };
        let frame = Frame {
            function: index,
            registers,
            return_pc: 0,
            call: 0,
            parent,
            live: mask,
            local_base: base,
            local_top: base + function.local_bytes.next_multiple_of(16),
            depth,
        };
        // Of deep recursion, all frames below are in use: they are not looked at again for each call.
        let begin = self.free_from.min(self.frames.len());
        let index = self.frames[begin..].iter().position(Option::is_none).map_or(self.frames.len(), |on| begin + on);
        match self.frames.get_mut(index) {
            Some(place) => *place = Some(frame),
            None => self.frames.push(Some(frame)),
        }
        self.free_from = index + 1;
        index as u32
    }

    pub fn frame(&self, index: u32) -> &Frame {
        self.frames[index as usize].as_ref().expect("a split's frame lives while its lanes do")
    }

    #[inline(always)]
    pub fn frame_mut(&mut self, index: u32) -> &mut Frame {
        self.frames[index as usize].as_mut().expect("a split's frame lives while its lanes do")
    }

    pub fn set_awaited(&mut self, split: usize, awaited: u32) {
        self.splits[split].awaited = awaited;
    }

    /// The completion that the group waited for at its instruction, if it did; asks once.
    pub fn take_awaited(&mut self, split: usize) -> Option<u32> {
        Some(std::mem::take(&mut self.splits[split].awaited)).filter(|completion| *completion != 0)
    }

    /// The frame of other lanes that are in the same call already, which `mask` then joins: registers and stacks are of
    /// single lanes, and where the call is one, lanes that came to it one after the other still meet at its barriers and
    /// at its operations across the warp.
    fn frame_of_siblings(&mut self, function: u32, call: u32, parent: u32, mask: u32) -> Option<u32> {
        let above = self.frame(parent);
        if above.live == mask {
            return None;
        }
        let base = above.local_top;
        let index = self.frames.iter().position(|frame| {
            frame.as_ref().is_some_and(|frame| {
                (frame.function, frame.call, frame.parent, frame.local_base) == (function, call, parent, base)
                    && frame.live & mask == 0
            })
        })?;
        self.frame_mut(index as u32).live |= mask;
        Some(index as u32)
    }

    /// Lanes that wait at the aligned barrier at `pc` of one call.
    pub fn together_at(&self, pc: u32, frame: u32) -> u32 {
        let here = |split: &&Split| (split.wait, split.pc, split.frame) == (Wait::Together, pc, frame);
        self.splits.iter().filter(here).fold(0, |mask, split| mask | split.mask)
    }

    /// Lanes leave a frame; the last one frees it.
    pub fn leave_frame(&mut self, index: u32, mask: u32, spare: &mut Registers) {
        let frame = self.frame_mut(index);
        frame.live &= !mask;
        if frame.live > 0 {
            return;
        }
        spare.push(std::mem::take(&mut frame.registers));
        if index > 0 {
            self.frames[index as usize] = None;
            self.free_from = self.free_from.min(index as usize);
        }
    }

    pub(crate) fn open_join(&mut self, join: Join) -> u32 {
        match self.free_joins.pop() {
            Some(index) => {
                self.joins[index as usize] = join;
                index
            }
            None => {
                self.joins.push(join);
                self.joins.len() as u32 - 1
            }
        }
    }

    /// Lanes that wait at meeting points, and where: NONE for the end of a function.
    pub fn held(&self) -> impl Iterator<Item = (u32, u32)> {
        self.joins.iter().filter(|join| join.arrived != 0).map(|join| (join.pc, join.arrived))
    }

    /// Lanes that wait at such a meeting point go on alone. False when there are none.
    pub fn break_join(&mut self, which: impl Fn(&Join) -> bool) -> bool {
        let Some(index) = self.joins.iter().position(|join| join.arrived != 0 && which(join)) else { return false };
        let join = self.joins[index].clone();
        self.joins[index].expected &= !join.arrived;
        self.joins[index].arrived = 0;
        self.splits.push(Split::of(&join));
        true
    }

    /// Takes other groups into one that is `current` or becomes it: those of which `which` says that they stand where it does, if
    /// they have nothing else to meet at. Gives their lanes.
    pub fn join_alike(&mut self, current: usize, which: impl Fn(&Split) -> bool) -> u32 {
        let (frame, join) = (self.splits[current].frame, self.splits[current].join);
        let mut met = 0;
        let mut at = self.splits.len();
        self.current = current;
        while at > 0 {
            at -= 1;
            let split = &self.splits[at];
            if at != self.current && split.frame == frame && split.join == join && which(split) {
                met |= split.mask;
                self.splits.remove(at);
                self.current -= usize::from(at < self.current);
            }
        }
        self.splits[self.current].mask |= met;
        met
    }

    pub(crate) fn close_join(&mut self, index: u32) {
        self.joins[index as usize].expected = 0;
        self.joins[index as usize].arrived = 0;
        self.free_joins.push(index);
    }
}

impl Cx<'_> {
    /// Makes split `index` the running one.
    #[inline]
    pub fn load_split(&mut self, index: usize) {
        self.warp.current = index;
        let split = &self.warp.splits[index];
        let (pc, mask, frame, join) = (split.pc, split.mask, split.frame, split.join);
        self.pc = pc;
        self.active = mask;
        self.regs = self.warp.frame_mut(frame).registers.rows.as_mut_ptr().cast();
        self.set_join(frame, join);
    }

    fn set_join(&mut self, frame: u32, join: u32) {
        self.rpc = match self.warp.joins.get(join as usize) {
            Some(join) if join.frame == frame => join.pc,
            _ => NONE,
        };
    }

    /// Writes the running group's position back before another runs.
    pub fn store_split(&mut self) {
        let current = self.warp.current;
        let (pc, mask) = (self.pc, self.active);
        let split = &mut self.warp.splits[current];
        split.pc = pc;
        split.mask = mask;
    }

    /// The running group stops at `pc` until `wait` is over.
    pub fn suspend(&mut self, pc: u32, wait: Wait) -> Flow {
        self.pc = pc;
        self.store_split();
        let current = self.warp.current;
        self.warp.splits[current].wait = wait;
        Flow::Switch
    }

    /// A conditional branch: lanes `taken` of the running group go to `target`, the others on; all meet at `meet`
    /// (NONE: at the end of the function).
    pub fn diverge(&mut self, taken: u32, target: u32, next: u32, meet: u32) -> Flow {
        let others = self.active & !taken;
        let current = self.warp.current;
        let (frame, parent) = (self.warp.splits[current].frame, self.warp.splits[current].join);
        let met = match meet {
            // The end of a kernel is no meeting point: lanes exit one group after another.
            NONE if self.warp.frame(frame).parent == NONE => true,
            NONE => self.warp.joins.get(parent as usize).is_some_and(|join| join.frame == frame && join.pc == NONE),
            _ => self.rpc == meet,
        };
        let join = if met {
            parent
        } else {
            self.warp.open_join(Join { pc: meet, frame, expected: self.active, arrived: 0, parent })
        };
        let meets = join != NONE && meet != NONE;
        let split = &mut self.warp.splits[current];
        split.join = join;
        // Lanes that are at the meeting point already wait there; no group is made for them.
        if meets && target == meet {
            self.warp.joins[join as usize].arrived |= taken;
            self.active = others;
            self.pc = next;
        } else if meets && next == meet {
            self.warp.joins[join as usize].arrived |= others;
            self.active = taken;
            self.pc = target;
        } else {
            self.warp.splits.push(Split {
                pc: target,
                mask: taken,
                join,
                frame,
                wait: Wait::Ready,
                polls: 0,
                awaited: 0,
            });
            self.active = others;
            self.pc = next;
        }
        if !met {
            self.rpc = meet;
        }
        self.store_split();
        Flow::Goto
    }

    /// The running group is at its meeting point. True: it runs on (as the whole); false: it waits and is gone.
    pub fn arrive(&mut self) -> bool {
        let current = self.warp.current;
        let (frame, index) = (self.warp.splits[current].frame, self.warp.splits[current].join);
        let join = &mut self.warp.joins[index as usize];
        join.arrived |= self.active;
        if join.arrived != join.expected {
            self.warp.splits.remove(current);
            return false;
        }
        let (mask, parent) = (join.arrived, join.parent);
        self.warp.close_join(index);
        self.warp.splits[current].join = parent;
        self.active = mask;
        self.set_join(frame, parent);
        self.store_split();
        true
    }

    /// The stack of the current frame holds nothing yet.
    pub fn forget_locals(&mut self) {
        let frame = self.warp.frame(self.warp.splits[self.warp.current].frame);
        let (base, bytes) = (u64::from(frame.local_base), u64::from(frame.local_top - frame.local_base));
        for lane in crate::exec::cx::lanes(self.active) {
            let first = lane as u64 * u64::from(self.warp.local_stride) + base;
            crate::memory::clear_bits(&self.warp.local_init, first, bytes);
        }
    }

    /// Enters a function with the lanes of `mask`; the group was split so that they are all of it.
    pub fn enter(&mut self, function: u32, call: u32, return_pc: u32) {
        let image = self.image();
        let current = self.warp.current;
        let parent = self.warp.splits[current].frame;
        let target = &image.functions[function as usize];
        let frame = match self.warp.frame_of_siblings(function, call, parent, self.active) {
            Some(shared) => shared,
            None => {
                let spare = &mut self.worker.registers;
                let frame = self.warp.push_frame(function, target, self.active, parent, spare);
                let made = self.warp.frame_mut(frame);
                made.return_pc = return_pc;
                made.call = call;
                frame
            }
        };
        self.warp.splits[current].frame = frame;
        self.pc = target.first_pc;
        self.regs = self.warp.frame_mut(frame).registers.rows.as_mut_ptr().cast();
        self.rpc = NONE;
        self.store_split();
    }

    /// Returns from the current function with the running group. None: the group waits for its siblings.
    /// Gives the frame it left, whose results the caller copies before `leave_frame`.
    pub fn leave(&mut self) -> Option<u32> {
        let current = self.warp.current;
        loop {
            let split = &self.warp.splits[current];
            let (frame, join) = (split.frame, split.join);
            match self.warp.joins.get(join as usize) {
                Some(found) if join != NONE && found.frame == frame => {
                    if !self.arrive() {
                        return None;
                    }
                }
                _ => {
                    let left = self.warp.frame(frame);
                    let (parent, return_pc) = (left.parent, left.return_pc);
                    self.warp.splits[current].frame = parent;
                    self.pc = return_pc;
                    self.regs = self.warp.frame_mut(parent).registers.rows.as_mut_ptr().cast();
                    let join = self.warp.splits[current].join;
                    self.set_join(parent, join);
                    self.store_split();
                    return Some(frame);
                }
            }
        }
    }
}
