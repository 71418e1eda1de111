//! What is said of a race: who met whom, where, and what would put one before the other.

use crate::check::race::{DEFERRED, Party};
use crate::check::repeats::{Other, Told};
use crate::exec::cx::Cx;
use crate::exec::fault::{Detail, text_of};
use crate::exec::image::Image;
use crate::exec::memory::flags::{DATA, VOLATILE};
use crate::exec::op::Op;
use crate::exec::opcode::opcode;
use crate::memory::space::Window;
use crate::report::{AccessKind, Fault, FaultKind, Space};

impl Cx<'_> {
    #[cold]
    #[allow(clippy::too_many_arguments)]
    pub fn report_race(
        &mut self,
        op: &Op,
        window: Window,
        address: u64,
        bytes: u64,
        lane: usize,
        kind: AccessKind,
        other: Party,
    ) {
        let image = self.image();
        let other_pc = image.sites.get(other.site as usize).map(|site| site.pc).filter(|_| other.site != 0);
        let strict = kind == AccessKind::Read && op.e.0 & DATA != 0;
        let strong = kind == AccessKind::Atomic || op.e.0 & VOLATILE != 0;
        let of_system = window == Window::Shared && self.grid.is_reserved(address);
        if of_system || strong && kind != AccessKind::AsyncCopy && self.trust_atomics() {
            return;
        }
        let polls = op.e.0 & VOLATILE != 0 && window == Window::Shared && !strict;
        let deferred = kind == AccessKind::Read && (other.kind == AccessKind::Atomic || polls);
        let side = match other_pc {
            _ if other.thread.is_none() => Other::None,
            None => Other::Nowhere,
            Some(pc) => Other::At(pc),
        };
        let told = Told { kind: FaultKind::Race, pc: self.pc, other: side, deferred: deferred.then_some(op.site) };
        if self.repeats(told, 1) {
            return;
        }
        let (_, allocation) = self.locate(window, address, bytes);
        let place = |pc: Option<u32>| pc.map_or("an unknown line".to_owned(), |pc| image.place(pc));
        let name = allocation.as_ref().map_or("memory".to_owned(), |a| {
            let size = bytes.max(1) as i64;
            format!("`{}`[{}]", a.name, a.offset.div_euclid(size))
        });
        let who = other.thread.as_ref().map_or("a thread of another block".to_owned(), text_of);
        let again = match other.kind {
            AccessKind::Read => "read it",
            AccessKind::Write => "wrote it",
            AccessKind::Atomic => "updated it atomically",
            AccessKind::AsyncCopy => "copied to it",
        };
        let narrow = window == Window::Global && kind == AccessKind::Atomic && other.kind == AccessKind::Atomic;
        let near = window == Window::Shared
            && other.thread.as_ref().is_some_and(|them| them.block == self.block.id && them.warp == self.warp.index);
        let beside = near && (self.block.threads <= 32 || op.e.0 & VOLATILE != 0);
        let scope = match (narrow, strict) {
            _ if other.at_once => {
                "; both lanes copy to the same place in one step, and either may come last: give each lane a place of its own"
            }
            _ if beside => {
                "; both are lanes of one warp, which need not run in step: put __syncwarp() between the two accesses"
            }
            // The judge, which has the source, looks for this and says what fits the place.
            _ if near => {
                "; both are lanes of one warp, which need not run in step: put __syncthreads() between the two accesses, or \
                 __syncwarp() where no other warp takes part"
            }
            (true, _) => "; an atomic of block scope is none for other blocks",
            (_, true) if other.kind == AccessKind::Atomic => {
                "; atomics and volatile accesses are no data race by the letter, but the number that is read may be unfinished: \
                 all updates have to be done, and a barrier or a fence (__threadfence) behind them, before anything tells of it"
            }
            (_, true) => {
                "; volatile accesses order nothing else: it takes a barrier, or a fence (__threadfence) behind \
                 the write and before what tells of it"
            }
            _ => "",
        };
        let clue = if window == Window::Global && !narrow { self.clue(kind, &other, other_pc) } else { String::new() };
        let asked = match self.refused_last().filter(|_| window == Window::Shared) {
            Some(pc) => crate::check::async_copy::early::look_again(image, pc),
            None => String::new(),
        };
        let loose = if clue.is_empty() && self.lacks_fence() {
            "; what an atomic or volatile read tells orders nothing without a fence (__threadfence) or barrier behind it"
        } else {
            ""
        };
        let alone = match other.told.filter(|_| window == Window::Shared && !near) {
            Some((pc, thread)) => format!(
                "; {}, another lane of that warp, arrives at an mbarrier at {} and speaks only for itself: put __syncwarp() before \
                 that arrival, behind what the other lanes do",
                text_of(&self.thread_of(thread)),
                image.place(pc)
            ),
            None => String::new(),
        };
        let message = format!(
            "{} {} {name} at {} while {who} {again} at {}, with no barrier or other order between them{scope}{alone}\
             {asked}{clue}{loose}",
            text_of(&self.thread(lane)),
            crate::exec::memory::access::verb(kind),
            place(Some(self.pc)),
            place(other_pc)
        );
        let space = match window {
            Window::Shared if address >> 24 != 0 => Space::Cluster,
            Window::Shared => Space::Shared,
            _ => Space::Global,
        };
        let side = other.thread.map(|thread| image.other_side(other_pc, thread, Some(other.kind)));
        let detail = Detail {
            space: Some(space),
            access: Some(kind),
            address: Some(address),
            bytes: bytes as u32,
            allocation,
            other: side,
        };
        let pc = self.pc;
        if deferred {
            let fault = Fault {
                kind: FaultKind::Race,
                message,
                kernel: self.grid.kernel_name().to_owned(),
                launch: None,
                source: image.source(pc),
                inlined_at: image.inlined_at(pc),
                instruction: image.text(pc).to_owned(),
                thread: Some(self.thread(lane)),
                space: detail.space,
                access: detail.access,
                address: detail.address,
                access_bytes: detail.bytes,
                allocation: detail.allocation,
                other: detail.other,
                occurrences: 1,
            };
            let mut faults = self.grid.deferred.faults.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let count = faults.len();
            match faults
                .iter_mut()
                .find(|(site, known)| *site == op.site && known.other_position() == fault.other_position())
            {
                Some((_, known)) => known.occurrences += 1,
                None if count < DEFERRED => faults.push((op.site, fault)),
                None => {}
            }
            return;
        }
        self.fault(FaultKind::Race, pc, Some(lane), 1, message, detail);
    }

    /// What threads of a grid seem to have relied on. From the code alone: it is a guess at what is missing, of a race that is
    /// none.
    fn clue(&self, kind: AccessKind, other: &Party, other_pc: Option<u32>) -> String {
        let image = self.image();
        let range = image.functions.iter().rfind(|function| function.first_pc <= self.pc).map(|f| image.code_of(f));
        let (Some(range), Some(other_pc)) = (range.filter(|range| range.len() < MOST), other_pc) else {
            return String::new();
        };
        // Either party may come second in a run.
        let (read, write) = match (kind, other.kind) {
            (AccessKind::Read, AccessKind::Read) => return String::new(),
            (AccessKind::Read, _) => (self.pc, other_pc),
            (_, AccessKind::Read) => (other_pc, self.pc),
            _ => return String::new(),
        };
        if let Some(pc) = range.clone().find(|pc| is_endless(image, *pc as u32))
            && decides(image, range.clone(), read)
        {
            return format!(
                "; the loop at {} never looks at memory again: the value of a plain variable may be kept, so it was read once, \
                 at {}; poll with `volatile` or an atomic, and put a fence (__threadfence) on both sides",
                image.place(pc as u32),
                image.place(read)
            );
        }
        let line = |pc: u32| image.source(pc).map(|source| (source.file, source.line));
        let same_block = other.thread.as_ref().is_some_and(|them| them.block == self.block.id);
        let grid = self.grid.blocks > 1;
        let fence = |pc: usize| matches!(head(image, pc), "membar" | "fence");
        let update =
            |pc: usize| matches!(head(image, pc), "atom" | "red") && !opcode(image.text(pc as u32)).contains(".shared");
        let between = range.clone().filter(|pc| (write as usize) < *pc && *pc < read as usize);
        let told = between.clone().find(|pc| update(*pc) && head(image, *pc) == "atom");
        let updates = range.clone().any(update);
        let swaps = |pc: usize| [".cas.", ".exch."].iter().any(|part| opcode(image.text(pc as u32)).contains(part));
        let locks = range.clone().any(|pc| update(pc) && swaps(pc));
        let first_fence = between.clone().find(|pc| fence(*pc));
        if locks && !range.clone().any(fence) {
            // One that takes it before both, and one that gives it back behind both.
            let (first, last) = (read.min(write) as usize, read.max(write) as usize);
            let takes = |pc: &usize| update(*pc) && opcode(image.text(*pc as u32)).contains(".cas.") && *pc < first;
            let gives = |pc: &usize| update(*pc) && swaps(*pc) && *pc > last;
            if let (Some(taken), Some(given)) = (range.clone().rfind(takes), range.clone().find(gives)) {
                return format!(
                    "; the atomics of {} and {} make a lock, and order nothing else: put __threadfence() behind the first and before \
                     the second, or do without a lock (atomicAdd adds in one step)",
                    image.place(taken as u32),
                    image.place(given as u32)
                );
            }
        }
        let barrier = |from: u32, to: usize| (from as usize..to).any(|pc| matches!(head(image, pc), "bar" | "barrier"));
        match (told, first_fence) {
            (Some(told), fence) if !same_block && fence.is_none_or(|fence| fence > told) => {
                let one = kind == AccessKind::Read && other.thread.as_ref().is_some_and(|them| them.thread == [0; 3]);
                let all = if one || barrier(write, told) { "" } else { ", and __syncthreads() behind it where one thread tells for its block" };
                format!(
                    "; the atomic at {} tells other blocks before this is sure to be there: put __threadfence() between {} and {}{all}",
                    image.place(told as u32),
                    image.place(write),
                    image.place(told as u32)
                )
            }
            // One warp has come as far as itself.
            (Some(told), Some(_)) if !same_block && self.block.threads > 32 && !barrier(write, told) => format!(
                "; the atomic at {} tells other blocks, and other warps of its own block need not have come so far: put \
                 __syncthreads() before it",
                image.place(told as u32)
            ),
            (None, Some(fence)) if grid => format!(
                "; the fence at {} puts a thread's own accesses in order and waits for nobody, so other blocks need not have come so \
                 far: use another launch, a cooperative launch with `this_grid().sync()`, or a counter that the last block knows by",
                image.place(fence as u32)
            ),
            _ if !same_block && !updates && line(read).is_some() && line(read) == line(write) => {
                "; both blocks come to this element: the index, or the step of the loop, leaves out the block \
                 (blockDim.x * gridDim.x is the step of a loop over the whole grid)"
                    .to_owned()
            }
            (None, None) if !same_block && !locks && kind == AccessKind::Read => {
                "; the blocks of a grid run in any order, and nothing says that this one has come so far: use another launch, or a \
                 counter with __threadfence() by which the last block is known"
                    .to_owned()
            }
            _ => String::new(),
        }
    }
}

/// Instructions of a function up to which clues are looked for.
const MOST: usize = 1 << 16;

/// The instruction's name without its modifiers.
fn head(image: &Image, pc: usize) -> &str {
    opcode(image.text(pc as u32)).split('.').next().unwrap_or_default()
}

/// A jump to itself: a loop from which everything was taken out.
pub fn is_endless(image: &Image, pc: u32) -> bool {
    let text = image.text(pc);
    text.starts_with("bra") && image.code.get(pc as usize).is_some_and(|op| op.imm as u32 == pc)
}

/// Whether what is loaded at `load` goes straight into a comparison.
fn decides(image: &Image, range: std::ops::Range<usize>, load: u32) -> bool {
    let writes = &image.infos[load as usize].writes;
    let compares =
        |pc: &usize| head(image, *pc) == "setp" && image.infos[*pc].reads.iter().any(|slot| writes.contains(slot));
    range.filter(|pc| *pc > load as usize).any(|pc| compares(&pc))
}
