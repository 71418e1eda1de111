//! Uninitialised values in registers: they travel with copies and are reported where they are used.
//!
//! A load of bytes that nobody wrote marks its destination lanes. Moves carry the mark, arithmetic turns it into
//! "computed with", stores carry it to memory, and addresses, branches, votes and computed values that leave for
//! memory are faults. While no register is marked, none of this code runs.

pub use super::origin::Origin;
use super::undefined::{Bits, Mixed, Moved, ones};
use crate::check::products::of_matrix;
use crate::check::repeats::Told;
use crate::exec::cx::{Cx, lanes};
use crate::exec::fault::{Detail, text_of};
use crate::exec::memory::access::{Addresses, Reach, window_from};
use crate::exec::op::{Op, OpInfo, Slot, Taint};
use crate::exec::opcode::opcode;
use crate::exec::sched::warp::{Poison, Warp};
use crate::memory::all_bits;
use crate::memory::space::Window;
use crate::report::{AccessKind, FaultKind, Space};

/// Origins beyond this share the last one.
const MAX_ORIGINS: usize = 256;

impl Warp {
    /// Marks a register that no instruction wrote yet.
    pub fn poison_register(&mut self, frame: u32, slot: Slot, lanes: u32, pc: u32) {
        let origin = self.origin(Origin {
            pc,
            lane: 0,
            space: None,
            address: 0,
            bytes: 0,
            allocation: None,
            thread: None,
            shuffled: None,
            reported: false,
        });
        let mark = Poison { lanes, origin, bits: Bits::Whole(lanes), ..Poison::default() };
        match self.poison.get_mut((frame, slot.0)) {
            Some(old) => *old = mark,
            None => self.poison.insert((frame, slot.0), mark),
        }
    }

    pub(crate) fn origin(&mut self, origin: Origin) -> u32 {
        let known = self.origins.iter().position(|old| old.pc == origin.pc && old.space == origin.space);
        if let Some(index) = known {
            return index as u32;
        }
        if self.origins.len() < MAX_ORIGINS {
            self.origins.push(origin);
        }
        self.origins.len() as u32 - 1
    }
}

/// Registers of an access that have parts of their own of what it touches.
enum Parts<'r> {
    /// One after the other in memory.
    Elements(&'r [Slot]),
    /// One for each eight rows.
    Matrices(&'r [Slot]),
}

impl<'r> Cx<'r> {
    fn parts_of(&self, op: &Op, pc: u32) -> Option<Parts<'r>> {
        let image = self.image();
        let opcode = opcode(image.text(pc));
        if op.list_len > 0 && (opcode.starts_with("ld.") || opcode.starts_with("st.")) {
            return Some(Parts::Elements(image.list(op)));
        }
        (opcode.starts_with("ldmatrix") && opcode.contains(".m8n8.")).then(|| Parts::Matrices(image.list(op)))
    }
}

impl Cx<'_> {
    /// A load met bytes that nobody wrote.
    #[cold]
    #[inline(never)]
    pub fn uninitialised_read(
        &mut self,
        op: &Op,
        reach: &Reach,
        at: &Addresses,
        bytes: u64,
        kind: AccessKind,
        missing: u32,
    ) {
        let window = reach.window;
        let lane = missing.trailing_zeros() as usize;
        let address = at.at[lane];
        let kept = self.kept(reach, &at.at, missing);
        let computed = kept.as_ref().is_some_and(|kept| kept.computed);
        let origin = match kept {
            Some(kept) => kept.origin.clone(),
            None => Origin {
                pc: self.pc,
                lane,
                space: Some(crate::exec::memory::access::space_of(window)),
                address,
                bytes: bytes as u32,
                allocation: self.locate(window, address, bytes).1,
                thread: None,
                shuffled: None,
                reported: false,
            },
        };
        let index = self.warp.origin(origin);
        let info = &self.grid.image.infos[self.pc as usize];
        // An exchange only hands the old value on, as a load does.
        let exchanges = kind == AccessKind::Atomic && self.grid.image.text(self.pc).contains(".exch");
        if exchanges && info.writes.is_empty() {
            return;
        }
        if kind == AccessKind::Atomic && !exchanges || info.writes.is_empty() {
            // An atomic computes with the old value on the spot.
            let pc = self.pc;
            self.report_use(index, pc, missing, "updates it");
            return;
        }
        let frame = self.warp.splits[self.warp.current].frame;
        let text = self.grid.image.text(self.pc);
        let sign = (opcode(text).ends_with(".s8") || opcode(text).ends_with(".s16")) && kind == AccessKind::Read;
        // The undefined bits of a part of what a lane reads.
        let undefined = |offset: u64, size: u64, lane: usize| {
            let start = reach.init_bit(at.at[lane], lane) + offset;
            let byte = |index: u64| !all_bits(reach.init_bits(), start + index, 1);
            let mut bits =
                (0..size.min(16)).fold(0, |bits, index| bits | u128::from(byte(index)) * 0xff << (8 * index));
            if sign && byte(size - 1) {
                bits |= !ones(8 * size as u32);
            }
            bits
        };
        let of_part = |offset: u64, size: u64| -> Bits {
            Bits::each(|lane| if missing >> lane & 1 != 0 { undefined(offset, size, lane) } else { 0 })
        };
        // The place of the instruction, of which `op` may be a copy.
        let parts = self.parts_of(op, self.pc);
        // The lanes that give the rows of a matrix are not those alone that get them.
        let mask = if matches!(parts, Some(Parts::Matrices(_))) { self.active } else { self.mask };
        let marked: Vec<(Slot, Bits)> = match parts {
            Some(Parts::Elements(slots)) => {
                let size = bytes / slots.len() as u64;
                slots.iter().enumerate().map(|(part, slot)| (*slot, of_part(part as u64 * size, size))).collect()
            }
            Some(Parts::Matrices(slots)) => {
                let of = |matrix: usize| of_matrix(missing >> (8 * matrix) & 0xff, opcode(text).contains(".trans"));
                slots.iter().enumerate().map(|(matrix, slot)| (*slot, of(matrix))).collect()
            }
            None if kind == AccessKind::Read && info.writes.len() == 1 && bytes <= 16 => {
                vec![(info.writes[0], of_part(0, bytes))]
            }
            None => info.writes.iter().map(|slot| (*slot, Bits::Whole(missing))).collect(),
        };
        for (slot, bits) in marked {
            let fresh = Poison { origin: index, computed, ..Poison::default() }.on(bits, mask);
            self.mark((frame, slot.0), fresh, mask);
        }
        self.tainted = true;
        self.attention = true;
        // `after_op` must not take the fresh marks for stale ones.
        self.worker.fresh_taint = true;
    }

    /// Gives a register's lanes of `mask` this mark, or none.
    #[inline]
    pub(crate) fn mark(&mut self, key: (u32, u32), mark: Option<Poison>, mask: u32) {
        let marks = &mut self.warp.poison;
        match (mark, marks.may_have(Slot(key.1)).then(|| marks.get_mut(key)).flatten()) {
            (Some(mark), Some(old)) => {
                let kept = old.lanes & !mask;
                *old = mark.over(Some(old), kept);
            }
            (Some(mark), None) => marks.insert(key, mark),
            (None, Some(old)) => match std::mem::take(old).within(!mask) {
                Some(kept) => *old = kept,
                None => marks.remove(key),
            },
            (None, None) => {}
        }
    }

    /// Marks on the sources of an instruction in the lanes that run: lanes, whether computed with, origin.
    fn marks(&self, slots: &[Slot], skip: Option<Slot>) -> Option<Poison> {
        self.marks_in(slots, skip, 128)
    }

    /// The same, counting only the `width` lowest bits of each.
    fn marks_in(&self, slots: &[Slot], skip: Option<Slot>, width: u32) -> Option<Poison> {
        let frame = self.warp.splits[self.warp.current].frame;
        let mut sum: Option<Poison> = None;
        for slot in slots {
            if Some(*slot) == skip {
                continue;
            }
            if let Some(mark) = self.warp.poison.get((frame, slot.0)) {
                let lanes = mark.bits.lanes(width) & self.active;
                if lanes != 0 {
                    let sum = sum.get_or_insert(Poison { origin: mark.origin, ..Poison::default() });
                    sum.lanes |= lanes;
                    sum.computed |= mark.computed;
                    sum.mixed = sum.mixed.max(mark.mixed);
                    sum.bits = std::mem::take(&mut sum.bits).with(&mark.bits, lanes, width, true);
                }
            }
        }
        sum
    }

    /// Looks at the sources before an instruction runs.
    pub fn before_op(&mut self, op: &Op) {
        self.worker.fresh_taint = false;
        let pc = self.pc;
        let image = self.image();
        let info = &image.infos[pc as usize];
        let marks = &self.warp.poison;
        let own = [op.a, op.b, op.c, op.guard];
        let asks = || own.iter().chain(&info.reads).any(|slot| marks.may_have(*slot));
        if !marks.may_have_any(info.names) || !asks() {
            (self.worker.carried, self.worker.moved) = (None, None);
            return;
        }
        let frame = self.warp.splits[self.warp.current].frame;
        // The guard decides in all lanes of the group.
        if !op.guard.is_pool()
            && let Some(mark) = self.warp.poison.get((frame, op.guard.0))
            && mark.lanes & self.active != 0
        {
            let (origin, lanes) = (mark.origin, mark.lanes & self.active);
            self.report_use(origin, pc, lanes, "decides by it");
        }
        let mask = self.mask;
        self.worker.carried = None;
        self.worker.moved = None;
        match info.taint {
            Taint::Use => {
                if let Some(mark) = self.marks(&info.reads, Some(op.guard))
                    && mark.lanes & mask != 0
                {
                    self.report_use(mark.origin, pc, mark.lanes & mask, "uses it");
                }
            }
            Taint::Memory => {
                if let Some(mark) = self.marks(&[op.a], None)
                    && mark.lanes & mask != 0
                {
                    self.report_use(mark.origin, pc, mark.lanes & mask, "takes it for an address");
                }
                let data: Vec<Slot> =
                    info.reads.iter().copied().filter(|slot| *slot != op.a && *slot != op.guard).collect();
                // A vector's registers in their order, constants among them.
                let (data, bytes) = match self.parts_of(op, pc) {
                    Some(Parts::Elements(slots)) if info.writes.is_empty() => {
                        (slots.to_vec(), self.store_bytes(op) / slots.len() as u64)
                    }
                    _ if data.len() == 1 => (data, self.store_bytes(op)),
                    _ => (data, 16),
                };
                let bytes = bytes.clamp(1, 16);
                if let Some(mark) = self.marks_in(&data, None, 8 * bytes as u32)
                    && mark.lanes & mask != 0
                {
                    let those = mark.lanes & mask;
                    let leaves = self.place_in(op, those.trailing_zeros() as usize & 31).0 == Window::Global;
                    if mark.mixed != Mixed::No && !mark.computed && self.returns_to(op, &mark) {
                        // A bit field is set: its word comes back with other bits, and counts as written.
                        return;
                    }
                    // Padding between fields that were put together in a register, or a part of it.
                    let holes = || lanes(those).all(|lane| self.stores_holes(&data, bytes, lane, mark.mixed));
                    if leaves && (mark.computed || mark.mixed != Mixed::No && !holes()) {
                        self.report_use(mark.origin, pc, those, "stores what it computed with it");
                    }
                    self.worker.carried = Some(mark);
                }
            }
            Taint::Copy | Taint::Compute | Taint::Shuffle | Taint::Select | Taint::Call => {
                let mark = match info.taint {
                    Taint::Select => self.select_marks(op),
                    Taint::Shuffle => {
                        let (mark, moved) = self.shuffle_marks(op);
                        self.worker.moved = moved;
                        mark
                    }
                    _ => self.marks(&info.reads, Some(op.guard)),
                };
                let computes = matches!(info.taint, Taint::Compute);
                let mixes = computes && mark.is_some() && info.bitwise;
                if mark.is_some() && info.moves && matches!(info.taint, Taint::Copy | Taint::Compute) {
                    self.worker.moved = self.moved(op, image.text(pc));
                }
                let known = self.worker.moved.is_some();
                let mixture = if mixes { self.mixture(op, image.text(pc)) } else { Mixed::No };
                if computes && mark.is_some() && !known {
                    self.worker.moved = self.undefined_products(op);
                }
                self.worker.carried = mark.and_then(|mut mark| {
                    if computes && !known {
                        mark.bits = Bits::Whole(mark.lanes);
                    }
                    mark.computed |= computes && !mixes && !known;
                    mark.mixed = mark.mixed.max(mixture);
                    mark.within(mask)
                });
            }
        }
    }

    /// Only the chosen source of a selection counts, and the choice itself.
    fn select_marks(&self, op: &Op) -> Option<Poison> {
        if let Some(mark) = self.marks(&[op.c], None) {
            return Some(Poison { computed: true, bits: Bits::Whole(mark.lanes), ..mark });
        }
        // SAFETY: slots of a decoded instruction.
        let choose = unsafe { self.pred(op.c) } ^ op.imm as u32;
        let a = self.marks(&[op.a], None).and_then(|mark| mark.within(choose));
        let b = self.marks(&[op.b], None).and_then(|mark| mark.within(!choose));
        match (a, b) {
            (Some(a), Some(b)) => {
                let (computed, mixed) = (a.computed | b.computed, a.mixed.max(b.mixed));
                Some(Poison { computed, mixed, ..a.over(Some(&b), b.lanes) })
            }
            (a, b) => a.or(b),
        }
    }

    /// A shuffle takes each lane's mark from its source lane. Where lanes are taken from, and whether they are in range, says
    /// nothing of the value: so the predicate has none of its marks.
    fn shuffle_marks(&self, op: &Op) -> (Option<Poison>, Option<Moved>) {
        if let Some(mark) = self.marks(&[op.b, op.c], None) {
            return (Some(Poison { computed: true, bits: Bits::Whole(mark.lanes), ..mark }), None);
        }
        let Some(mark) = self.marks(&[op.a], None) else { return (None, None) };
        // SAFETY: slots of a decoded instruction.
        let (from, _) = unsafe { crate::isa::shuffle::sources(self, op) };
        let bits = match &mark.bits {
            Bits::Whole(lanes) => {
                Bits::Whole((0..32).fold(0, |all, lane| all | (lanes >> (from[lane] & 31) & 1) << lane))
            }
            each => Bits::each(|lane| each.of(from[lane] as usize & 31)),
        };
        if matches!(bits, Bits::Whole(0)) {
            return (None, None);
        }
        let moved = vec![(op.d, bits.clone())];
        (mark.on(bits, u32::MAX), Some(moved))
    }

    /// Moves the marks after an instruction ran.
    pub fn after_op(&mut self, op: &Op) {
        if self.worker.fresh_taint {
            self.worker.fresh_taint = false;
            self.attention = true;
            return;
        }
        // The instruction may have branched: its own place is in the info of the op.
        let info = &self.image().infos[self.pc_of(op) as usize];
        let Some(split) = self.warp.splits.get(self.warp.current) else { return };
        let frame = split.frame;
        if self.worker.carried.is_none() {
            if self.warp.poison.may_have_any(info.names) {
                let mask = self.mask;
                for slot in &info.writes {
                    self.mark((frame, slot.0), None, mask);
                }
                self.drop_last(info, frame);
            }
            return self.look_for_marks();
        }
        let carried = self.worker.carried.take();
        if info.taint == Taint::Memory && info.writes.is_empty() {
            if let Some(mark) = carried {
                self.unwrite(op, mark);
            }
        } else {
            let mask = self.mask;
            let moved = self.worker.moved.take();
            for slot in &info.writes {
                let carried = carried.as_ref().filter(|_| info.taint != Taint::Memory);
                let mark = carried.cloned().and_then(|mark| match &moved {
                    Some(moved) => {
                        let (_, bits) = moved.iter().find(|(to, _)| to == slot)?;
                        mark.on(bits.clone(), mask)
                    }
                    None => Some(mark),
                });
                self.mark((frame, slot.0), mark, mask);
            }
        }
        self.drop_last(info, frame);
        self.look_for_marks();
    }

    /// Marks that nobody asks for any more are dropped, lest a warp looks for them to its end: compilers put halves together
    /// of which one was never set, and take the other one from them again.
    #[inline(always)]
    pub(crate) fn drop_last(&mut self, info: &OpInfo, frame: u32) {
        let mask = self.active;
        for at in lanes(info.last.into()) {
            self.mark((frame, info.reads[at].0), None, mask);
        }
    }

    /// Whether any register is marked still.
    #[inline(always)]
    pub(crate) fn look_for_marks(&mut self) {
        if !self.warp.poison.are_awake() {
            self.tainted = false;
            self.attention = self.needs_attention();
        }
    }

    /// A store of a marked value: the bytes count as never written again.
    fn unwrite(&mut self, op: &Op, mark: Poison) {
        let bytes = self.store_bytes(op);
        let mut kept = None;
        if let Some(Parts::Elements(slots)) = self.parts_of(op, self.pc_of(op)) {
            let frame = self.warp.splits[self.warp.current].frame;
            let size = bytes / slots.len() as u64;
            for (part, slot) in slots.iter().enumerate() {
                let Some(mark) = self.warp.poison.get((frame, slot.0)).cloned() else { continue };
                for lane in lanes(mark.lanes & self.mask) {
                    let (window, address) = self.place_in(op, lane);
                    let address = address.wrapping_add(part as u64 * size);
                    self.forget_bytes(window, address, size, lane, mark.bits.of(lane));
                    self.keep((window, address), size, lane, &mark, &mut kept);
                }
            }
            return;
        }
        for lane in lanes(mark.lanes & self.mask) {
            let (window, address) = self.place_in(op, lane);
            self.forget_bytes(window, address, bytes, lane, mark.bits.of(lane));
            self.keep((window, address), bytes, lane, &mark, &mut kept);
        }
    }

    /// Where a lane's access begins.
    fn address_in(&self, op: &Op, lane: usize) -> u64 {
        use crate::exec::memory::access::AddressWord;
        // SAFETY: slots of a decoded instruction.
        unsafe {
            if self.address_is_wide(op) {
                self.lane::<u64>(op.a, lane).plus(op.imm as u64)
            } else {
                self.lane::<u32>(op.a, lane).plus(op.imm as u64)
            }
        }
    }

    /// Whether a store puts a value where it was read.
    fn returns_to(&self, op: &Op, mark: &Poison) -> bool {
        let Some(origin) = self.warp.origins.get(mark.origin as usize) else { return false };
        let (window, address) = self.place_in(op, origin.lane);
        let same_space = origin.space == Some(crate::exec::memory::access::space_of(window));
        same_space && mark.lanes >> origin.lane & 1 != 0 && address == origin.address
    }

    /// Window and address there of a lane's access.
    fn place_in(&self, op: &Op, lane: usize) -> (Window, u64) {
        use crate::memory::space::{window_base, window_of};
        let (window, address) = (window_from(op.e.0), self.address_in(op, lane));
        if window != Window::Generic {
            return (window, address);
        }
        let window = window_of(address);
        (window, address - window_base(window))
    }

    fn address_is_wide(&self, op: &Op) -> bool {
        op.a.is_pool() || self.grid.image.sites.get(op.site as usize).is_none_or(|site| site.wide)
    }

    fn store_bytes(&self, op: &Op) -> u64 {
        self.grid.image.sites.get(op.site as usize).map_or(4, |site| u64::from(site.bytes))
    }

    /// Clears the written bits of those bytes that have no defined bit.
    fn forget_bytes(&mut self, window: Window, address: u64, bytes: u64, lane: usize, undefined: u128) {
        let whole = |index: &u64| undefined >> (8 * index).min(127) as u32 & 0xff == 0xff;
        if (0..bytes).all(|index| whole(&index)) {
            return self.forget(window, address, bytes, lane);
        }
        for index in (0..bytes).filter(whole) {
            self.forget(window, address.saturating_add(index), 1, lane);
        }
    }

    /// Clears the written bits of a range.
    fn forget(&mut self, window: Window, address: u64, bytes: u64, lane: usize) {
        use crate::memory::clear_bits;
        match window {
            Window::Shared if address.saturating_add(bytes) <= self.block.shared.len() as u64 * 16 => {
                *self.block.state.written.get_mut() = false;
                self.block.shared_changes = self.block.shared_changes.wrapping_add(1);
                clear_bits(&self.block.shared_init, address, bytes);
            }
            Window::Local => {
                let stride = u64::from(self.warp.local_stride);
                if address.saturating_add(bytes) <= stride {
                    clear_bits(&self.warp.local_init, lane as u64 * stride + address, bytes);
                }
            }
            Window::Global => {
                let regions = &self.grid.regions;
                let index = regions.partition_point(|region| region.base <= address);
                if let Some(region) = index.checked_sub(1).map(|index| &regions[index])
                    && !region.freed
                    && address.saturating_add(bytes) <= region.end
                {
                    region.unwrite(address - region.base, bytes);
                }
            }
            _ => {}
        }
    }

    /// An uninitialised value is used at `pc`.
    #[cold]
    fn report_use(&mut self, origin: u32, pc: u32, lanes: u32, how: &str) {
        let Some(found) = self.warp.origins.get_mut(origin as usize) else { return };
        if std::mem::replace(&mut found.reported, true) {
            return;
        }
        if let Some(said) = found.shuffled.clone() {
            let from = (found.pc, found.lane);
            return self.report_shuffled(from, &said, pc, lanes, how);
        }
        // The place that is named: of the load, and beside it that of the use; of the use alone where nothing was loaded.
        let named = match (found.space.is_some() && found.allocation.is_some(), found.pc) {
            (false, _) => Told::alone(FaultKind::Uninitialised, pc),
            (true, from) if from == pc => Told::alone(FaultKind::Uninitialised, pc),
            (true, from) => Told::beside(FaultKind::Uninitialised, from, pc),
        };
        if self.repeats(named, lanes.count_ones()) {
            self.attention = true;
            return;
        }
        let Some(origin) = self.warp.origins.get(origin as usize).cloned() else { return };
        let lane = lanes.trailing_zeros() as usize & 31;
        let reader = origin.thread.unwrap_or_else(|| self.thread(origin.lane));
        let image = self.image();
        let (message, at, detail) = match (&origin.space, &origin.allocation) {
            (Some(space), Some(allocation)) => {
                let size = i64::from(origin.bytes.max(1));
                let element = allocation.offset / size;
                let (who, place) = (text_of(&reader), image.place(pc));
                let message = if *space == Space::Local {
                    // Local arrays have no names of their own here.
                    format!(
                        "{who} reads from a local array what it never wrote there, and {how} at {place} (each thread \
                         has its own copy of a local array; only a `__shared__` one is common to the block)"
                    )
                } else {
                    format!(
                        "{who} reads `{}`[{element}] (elements of {size} bytes), which nobody wrote, and {how} at \
                         {place}",
                        allocation.name,
                    )
                };
                let detail = Detail {
                    space: Some(*space),
                    access: Some(AccessKind::Read),
                    address: Some(origin.address),
                    bytes: origin.bytes,
                    allocation: Some(allocation.clone()),
                    other: (pc != origin.pc).then(|| image.other_side(Some(pc), self.thread(lane), None)),
                };
                (message, origin.pc, detail)
            }
            _ => {
                let message = format!(
                    "{} has a variable that was never given a value, and {how} at {}",
                    text_of(&self.thread(lane)),
                    image.place(pc)
                );
                (message, pc, Detail::default())
            }
        };
        let who = if origin.space.is_some() { reader } else { self.thread(lane) };
        self.fault_of(FaultKind::Uninitialised, at, Some(who), lanes.count_ones(), message, detail);
        self.attention = true;
    }
}
