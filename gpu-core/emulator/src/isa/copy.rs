//! `cp.async` and its groups. The bulk and tensor forms are in `bulk.rs`.

use super::memory::{Place, ordering, place};
use super::{Row, Ty};
use crate::build::emit::{Decoded, Emit, Inst};
use crate::exec::access::{Found, addresses};
use crate::exec::cx::{Cx, lanes};
use crate::exec::op::{Flow, Op, Taint};
use crate::exec::space::Window;
use crate::ptx::tree::Operand;
use crate::report::{AccessKind, Class};

pub const ROWS: &[Row] = &[Row { opcode: "cp", class: Class::AsyncCopy, decode: cp, examples: &[] }];

fn cp(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let reduce = i.take("reduce");
    i.take("async");
    if i.take("bulk") {
        return super::bulk_decode::decode(e, i, reduce);
    }
    if i.take("mbarrier") {
        return super::mbarrier::copy_arrive(e, i);
    }
    if i.take("commit_group") {
        i.expect(0)?;
        let op = e.op(commit);
        e.push(op, Taint::Use);
        return Ok(());
    }
    if i.take("wait_all") {
        i.expect(0)?;
        let op = e.op(wait);
        e.push(op, Taint::Use);
        return Ok(());
    }
    if i.take("wait_group") {
        i.expect(1)?;
        let Operand::Int(pending) = i.operands[0] else { return i.unsupported() };
        let mut op = e.op(wait);
        op.imm = pending as i64;
        op.list = 1;
        e.push(op, Taint::Use);
        return Ok(());
    }
    ordering(i);
    i.take("shared::cta");
    i.take("shared");
    i.take("global");
    let [to, from, size, rest @ ..] = i.operands else { return i.unsupported() };
    let Operand::Int(bytes @ (4 | 8 | 16)) = *size else {
        return Err("cp.async copies 4, 8 or 16 bytes".to_owned());
    };
    let to: Place = place(e, to, Window::Shared)?;
    let from: Place = place(e, from, Window::Global)?;
    if !from.wide {
        return i.unsupported();
    }
    let mut op = e.op(if to.wide { copy::<u64> } else { copy::<u32> });
    op.a = to.base;
    op.imm = to.offset;
    op.b = from.base;
    // The source offset and the size travel in one slot each.
    op.c = e.pool.splat(u128::from(from.offset as u64), 64);
    op.list = bytes as u32;
    // `src-size` or an ignore predicate, then perhaps a cache policy.
    match rest.first() {
        Some(Operand::Name(name)) if e.reg(name).is_ok_and(|reg| reg.bits == 64) => {}
        Some(operand @ (Operand::Name(_) | Operand::Not(_))) if e.pred(operand).is_ok() => {
            let (slot, negated) = e.pred(operand)?;
            op.e = slot;
            op.list_len = 2 | u32::from(negated);
        }
        Some(operand) => {
            op.d = e.src(operand, Ty::U32)?;
            op.list_len = 4;
        }
        None => {}
    }
    op.site = e.site(to.wide, bytes as u32);
    e.push(op, Taint::Use);
    Ok(())
}

/// The data arrives at once, but its bytes count as pending until the group is waited for.
unsafe fn copy<A: crate::exec::access::AddressWord>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let bytes = u64::from(op.list);
    // SAFETY: slots of a decoded instruction; pointers were range-checked.
    unsafe {
        // Lanes that read nothing (src-size 0, ignored source) only zero-fill.
        let mut sizes = [bytes; 32];
        for lane in lanes(cx.mask) {
            if op.list_len & 4 != 0 {
                sizes[lane] = u64::from(cx.lane::<u32>(op.d, lane)).min(bytes);
            } else if op.list_len & 2 != 0 && (cx.pred(op.e) >> lane & 1 != 0) != (op.list_len & 1 != 0) {
                sizes[lane] = 0;
            }
        }
        let mask = cx.mask;
        let of_size = |size: u64| lanes(mask).filter(|&lane| sizes[lane] == size).fold(0u32, |m, lane| m | 1 << lane);
        let mut data = [[0u8; 16]; 32];
        let offset = (*cx.row::<u64>(op.c))[0];
        let mut source = op.clone();
        source.a = op.b;
        // Lanes at an edge read fewer bytes than the others: in pieces, each of a width that memory knows.
        let present = lanes(mask).fold(0u32, |sizes_seen, lane| sizes_seen | 1 << sizes[lane]);
        for size in (1..=bytes).filter(|size| present >> size & 1 != 0) {
            let reading = of_size(size);
            cx.mask = reading;
            let mut done = 0;
            for piece in [16, 8, 4, 2, 1].into_iter().filter(|piece| size & piece != 0) {
                source.imm = offset.wrapping_add(done) as i64;
                let mut at = addresses::<u64>(cx, &source, piece);
                let align = if done == 0 { bytes } else { 1 };
                let found = match piece {
                    16 => cx.reach::<16>(op, Window::Global, &mut at, align, AccessKind::Read),
                    8 => cx.reach::<8>(op, Window::Global, &mut at, align, AccessKind::Read),
                    4 => cx.reach::<4>(op, Window::Global, &mut at, align, AccessKind::Read),
                    2 => cx.reach::<2>(op, Window::Global, &mut at, align, AccessKind::Read),
                    _ => cx.reach::<1>(op, Window::Global, &mut at, align, AccessKind::Read),
                };
                match found {
                    Found::Yes(reach) => {
                        for lane in lanes(reading) {
                            let from = reach.lane(at.at[lane], lane);
                            let to = data[lane].as_mut_ptr().add(done as usize);
                            std::ptr::copy_nonoverlapping(from, to, piece as usize);
                        }
                    }
                    Found::Mixed => {
                        cx.mask = mask;
                        return cx.one_by_one(op);
                    }
                    Found::Fault => return Flow::Next,
                }
                done += piece;
            }
        }
        cx.mask = mask;
        let mut at = addresses::<A>(cx, op, bytes);
        let found = match bytes {
            4 => cx.reach::<4>(op, Window::Shared, &mut at, bytes, AccessKind::AsyncCopy),
            8 => cx.reach::<8>(op, Window::Shared, &mut at, bytes, AccessKind::AsyncCopy),
            _ => cx.reach::<16>(op, Window::Shared, &mut at, bytes, AccessKind::AsyncCopy),
        };
        match found {
            Found::Yes(reach) => {
                for lane in lanes(mask) {
                    let to = reach.lane(at.at[lane], lane);
                    std::ptr::copy_nonoverlapping(data[lane].as_ptr(), to, bytes as usize);
                    cx.start_copy(lane, at.at[lane] as u32, bytes as u32);
                }
            }
            Found::Mixed => return cx.one_by_one(op),
            Found::Fault => return Flow::Next,
        }
        cx.worker.counts.async_bytes(cx.pc, bytes * u64::from(mask.count_ones()));
    }
    Flow::Next
}

unsafe fn commit(cx: &mut Cx<'_>, _: &Op) -> Flow {
    for lane in lanes(cx.mask) {
        let thread = cx.warp.index as usize * 32 + lane;
        cx.block.copies.group(thread);
    }
    Flow::Next
}

unsafe fn wait(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let keep = if op.list == 1 { Some(op.imm as u32) } else { None };
    let mask = cx.mask;
    cx.wait_copies(mask, keep);
    Flow::Next
}

/// Copies that no wait has covered yet.
#[derive(Debug, Default)]
pub struct Copies {
    pending: Vec<Pending>,
    /// One bit per byte of shared memory that a copy is still filling.
    bits: Vec<std::sync::atomic::AtomicU64>,
    /// The open group of each thread.
    groups: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    thread: u32,
    group: u32,
    address: u32,
    bytes: u32,
    pc: u32,
}

impl Copies {
    pub fn reset(&mut self) {
        self.pending.clear();
        self.bits.clear();
        self.groups.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    fn start(&mut self, pending: Pending, shared_bytes: usize, threads: u32) {
        if self.groups.is_empty() {
            self.groups = vec![0; threads as usize];
            self.bits = (0..shared_bytes.div_ceil(64)).map(|_| Default::default()).collect();
        }
        let group = self.groups[pending.thread as usize];
        crate::memory::set_bits(&self.bits, pending.address.into(), pending.bytes.into());
        self.pending.push(Pending { group, ..pending });
    }

    /// Closes the open group of a thread.
    fn group(&mut self, thread: usize) {
        if let Some(group) = self.groups.get_mut(thread) {
            *group += 1;
        }
    }

    /// Threads `first + lane` wait until at most `keep` of their groups are open; None: for everything.
    fn wait(&mut self, first: u32, mask: u32, keep: Option<u32>) -> Vec<Pending> {
        let mut over = Vec::new();
        let (groups, bits) = (&self.groups, &self.bits);
        self.pending.retain(|copy| {
            let lane = copy.thread.wrapping_sub(first);
            if lane >= 32 || mask >> lane & 1 == 0 {
                return true;
            }
            let done = match keep {
                None => true,
                Some(keep) => copy.group + keep < groups[copy.thread as usize],
            };
            if done {
                crate::memory::clear_bits(bits, copy.address.into(), copy.bytes.into());
                over.push(*copy);
            }
            !done
        });
        over
    }

    /// Whether any byte of a range is being filled.
    pub fn fill(&self, address: u64, bytes: u64) -> bool {
        crate::memory::any_bits(&self.bits, address, bytes)
    }

    /// By whom a byte of a range is being filled, and where the copy stands.
    pub fn overlap(&self, address: u64, bytes: u64) -> Option<(u32, u32)> {
        if !self.fill(address, bytes) {
            return None;
        }
        self.pending
            .iter()
            .find(|copy| {
                u64::from(copy.address) < address + bytes && address < u64::from(copy.address) + u64::from(copy.bytes)
            })
            .map(|copy| (copy.thread, copy.pc))
    }
}

impl Cx<'_> {
    /// Lanes wait until at most `keep` of their groups are open; None: for everything. Their copies count as written now.
    pub fn wait_copies(&mut self, mask: u32, keep: Option<u32>) {
        let over = self.block.copies.wait(self.warp.index * 32, mask, keep);
        self.block.refresh_guard();
        if self.watch & crate::exec::cx::watch::RACE == 0 {
            return;
        }
        let image = self.image();
        let clock = self.warp.clock;
        let shadow = &mut self.block.shared_shadow;
        for copy in over {
            let site = image.code[copy.pc as usize].site;
            let new = crate::check::shadow::stamp(clock, site, copy.thread);
            shadow.settle(copy.address.into(), u64::from(copy.address) + u64::from(copy.bytes));
            let cells = shadow.cells(copy.address.into(), copy.bytes.into());
            shadow.writes[cells].fill(new);
            shadow.note(new, true);
        }
    }

    fn start_copy(&mut self, lane: usize, address: u32, bytes: u32) {
        let pending = Pending { thread: self.warp.index * 32 + lane as u32, group: 0, address, bytes, pc: self.pc };
        let shared = self.block.shared.len() * 16;
        let threads = self.block.threads.next_multiple_of(32);
        self.block.copies.start(pending, shared, threads);
        self.block.state.guarded = true;
    }
}
