//! Templates of loads and stores: of accesses that lie as the last one of the same instruction did ([`crate::exec::memory::pattern`]), and
//! of which nothing is to be checked that is not known already.

use std::mem::offset_of;

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};

use super::emit::{Emitter, SEEN, register};
use crate::exec::cx::{Cx, watch};
use crate::exec::memory::access::window_from;
use crate::exec::memory::pattern::{Eights, Patterns, places};
use crate::exec::op::{Op, Slot};
use crate::exec::sched::block::{Block, SharedState};
use crate::exec::sched::worker::Worker;
use crate::exec::template::Native;
use crate::memory::space::Window;

/// Bytes ahead of a row that are asked for.
const AHEAD: i32 = 512;

/// How the lanes of accesses may lie that there is code for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ways {
    /// By eights side by side.
    Row,
    /// So, or by eights at one place.
    Runs,
    Any,
}

impl Emitter<'_> {
    /// Code for an access. False: there is none, and nothing was changed.
    pub fn access(&mut self, pc: u32, op: &Op) -> bool {
        let Some((element, load)) = op.native.access() else { return false };
        let slots: Vec<Slot> = match op.list_len {
            0 => vec![if load { op.d } else { op.b }],
            _ => self.image.list(op).to_vec(),
        };
        let bytes = element * slots.len() as u64;
        let site = self.image.sites[op.site as usize];
        let vectors = element == 4 && matches!(slots.len(), 2 | 4);
        if op.a.is_pool() || slots.contains(&Slot::NONE) || !(slots.len() == 1 || vectors) {
            return false;
        }
        let (from, back) = (self.ops.new_dynamic_label(), self.ops.new_dynamic_label());
        self.widen();
        // What lies apart in global memory is asked for ahead of time by the function, which also stores it.
        let shared = window_from(op.e.0) == Window::Shared;
        let apart = element == 4 && (shared || load && slots.len() == 4);
        let ways = match (load, apart) {
            (_, true) => Ways::Any,
            (true, _) => Ways::Runs,
            (false, _) => Ways::Row,
        };
        self.find(op, site.wide, bytes, ways, !load, from);
        // `rax`: the pattern; `rcx`: the place of the first lane.
        if load {
            self.load(op, &slots, element, apart);
        } else {
            self.store_rows(&slots, element, ways);
        }
        dynasm!(self.ops; .arch x64; =>back);
        self.apart(pc, from, back);
        true
    }

    /// Goes to `from` unless the access of `op` lies as the last one and is of no interest to anybody, but to be counted.
    /// What lies in another way than `ways` goes there as well, before much else is asked.
    fn find(&mut self, op: &Op, wide: bool, bytes: u64, ways: Ways, store: bool, from: DynamicLabel) {
        let cell = (Patterns::cell_of(op.site, self.image.sites.len()) * places::CELL) as i32;
        let (row, imm) = (op.a.0 as i32, op.imm);
        if self.made.watched {
            self.is_settled(op, cell, store, from);
        } else {
            dynasm!(self.ops; .arch x64; cmp DWORD [rbx + offset_of!(Cx<'static>, watch) as i32], 0; jne =>from);
        }
        dynasm!(self.ops; .arch x64
            ; cmp DWORD [r14 + cell + places::SITE], op.site as i32
            ; jne =>from
            ; cmp DWORD [r14 + cell + places::MASK], -1
            ; jne =>from
            ; mov eax, [r14 + cell + places::PATTERN_OF]
            ; imul rax, rax, places::PATTERN as i32
            ; add rax, rbp
        );
        match ways {
            Ways::Row => dynasm!(self.ops; .arch x64; cmp BYTE [rax + places::EIGHTS], Eights::Row as i8; jne =>from),
            Ways::Runs => dynasm!(self.ops; .arch x64; cmp BYTE [rax + places::EIGHTS], Eights::Other as i8; je =>from),
            Ways::Any => {}
        }
        let seen = self.seen.iter().position(|seen| *seen == (op.a, bytes));
        match seen {
            Some(index) => dynasm!(self.ops; .arch x64
                ; cmp rax, [rsp + 8 * index as i32]
                ; jne =>from
            ),
            None => {
                if wide {
                    dynasm!(self.ops; .arch x64; vpbroadcastq ymm12, [r12 + row]);
                    for part in 0..8 {
                        let to = if part == 0 { 13 } else { 14 };
                        dynasm!(self.ops; .arch x64
                            ; vpaddq Ry(to), ymm12, [rax + places::WIDE + 32 * part]
                            ; vpxor Ry(to), Ry(to), [r12 + row + 32 * part]
                        );
                        if part > 0 {
                            dynasm!(self.ops; .arch x64; vpor ymm13, ymm13, ymm14);
                        }
                    }
                } else {
                    dynasm!(self.ops; .arch x64; vpbroadcastd ymm12, [r12 + row]);
                    for part in 0..4 {
                        let to = if part == 0 { 13 } else { 14 };
                        dynasm!(self.ops; .arch x64
                            ; vpaddd Ry(to), ymm12, [rax + places::OFFSETS + 32 * part]
                            ; vpxor Ry(to), Ry(to), [r12 + row + 32 * part]
                        );
                        if part > 0 {
                            dynasm!(self.ops; .arch x64; vpor ymm13, ymm13, ymm14);
                        }
                    }
                }
                dynasm!(self.ops; .arch x64; vptest ymm13, ymm13; jnz =>from);
                if self.seen.len() < SEEN {
                    dynasm!(self.ops; .arch x64; mov [rsp + 8 * self.seen.len() as i32], rax);
                    self.seen.push((op.a, bytes));
                }
            }
        }
        if wide {
            dynasm!(self.ops; .arch x64; mov rcx, [r12 + row]);
            match i32::try_from(imm) {
                Ok(0) => {}
                Ok(imm) => dynasm!(self.ops; .arch x64; add rcx, imm),
                Err(_) => dynasm!(self.ops; .arch x64; mov rdx, QWORD imm; add rcx, rdx),
            }
        } else {
            dynasm!(self.ops; .arch x64; mov ecx, [r12 + row]; add ecx, imm as i32);
        }
        dynasm!(self.ops; .arch x64
            ; mov rdx, rcx
            ; sub rdx, [r14 + cell + places::FIRST]
            ; cmp rdx, [r14 + cell + places::SPAN]
            ; ja =>from
        );
        if bytes > 1 {
            dynasm!(self.ops; .arch x64; test cl, (bytes - 1) as i8; jnz =>from);
        }
        let shared = window_from(op.e.0) == Window::Shared;
        if self.made.watched && shared {
            let written = (offset_of!(Block, state) + offset_of!(SharedState, written)) as i32;
            let (done, routine) = (self.ops.new_dynamic_label(), self.routine(bytes, store));
            dynasm!(self.ops; .arch x64
                ; mov rdx, [rbx + offset_of!(Cx<'static>, block) as i32]
                ; cmp BYTE [rdx + written], 0
                ; jne =>done
                ; mov rdi, [rbx + offset_of!(Cx<'static>, shared_init) as i32]
                ; call =>routine
            );
            if !store {
                dynasm!(self.ops; .arch x64; jnz =>from);
            }
            dynasm!(self.ops; .arch x64; =>done);
        }
        if self.made.watched {
            // What it costs depends on the low bits of the address.
            dynasm!(self.ops; .arch x64
                ; mov edx, ecx
                ; and dl, [r14 + cell + places::PHASE_MASK]
                ; cmp dl, [r14 + cell + places::PHASE]
                ; jne =>from
                ; inc QWORD [r14 + cell + places::HITS]
            );
        }
        dynasm!(self.ops; .arch x64; add rcx, [r14 + cell + places::POINTER]);
        if shared {
            dynasm!(self.ops; .arch x64; add rcx, [rbx + offset_of!(Cx<'static>, shared) as i32]);
        }
    }

    /// Goes to `from` unless nothing is to be checked of accesses of `op`.
    fn is_settled(&mut self, op: &Op, cell: i32, store: bool, from: DynamicLabel) {
        let state = (offset_of!(Block, state)) as i32;
        dynasm!(self.ops; .arch x64
            ; test BYTE [rbx + offset_of!(Cx<'static>, watch) as i32], (watch::TRACE | watch::HEAP) as i8
            ; jnz =>from
        );
        if window_from(op.e.0) == Window::Shared {
            const { assert!(offset_of!(SharedState, apart) == 0 && offset_of!(SharedState, guarded) == 2) };
            dynasm!(self.ops; .arch x64
                ; mov rdx, [rbx + offset_of!(Cx<'static>, block) as i32]
                ; mov edx, DWORD [rdx + state]
                ; and edx, 0xff00ff
                ; cmp edx, 1
                ; jne =>from
            );
            return;
        }
        dynasm!(self.ops; .arch x64
            ; mov rdx, [r14 + cell + places::RACELESS]
            ; cmp BYTE [rdx], 0
            ; je =>from
            ; mov rdx, [r14 + cell + places::WRITTEN]
            ; cmp BYTE [rdx], 0
            ; je =>from
        );
        if store {
            let guarded = state + offset_of!(SharedState, guarded) as i32;
            dynasm!(self.ops; .arch x64
                ; mov rdx, [rbx + offset_of!(Cx<'static>, block) as i32]
                ; cmp BYTE [rdx + guarded], 0
                ; jne =>from
            );
        }
    }

    fn load(&mut self, op: &Op, slots: &[Slot], element: u64, apart: bool) {
        let group = (element <= 4 && slots.len() == 1).then(|| self.group());
        let [same, other, done] = std::array::from_fn(|_| self.ops.new_dynamic_label());
        let shared = window_from(op.e.0) == Window::Shared;
        dynasm!(self.ops; .arch x64
            ; movzx edx, BYTE [rax + places::EIGHTS]
            ; cmp edx, Eights::Same as i32
            ; je =>same
        );
        if apart && slots.len() < 4 {
            dynasm!(self.ops; .arch x64; ja =>other);
        }
        if !shared {
            self.ask_ahead(op, element * slots.len() as u64);
        }
        match (slots.len(), group) {
            (1, Some(group)) => self.row_of_words(op.native, slots[0], group),
            (1, None) => self.row_of_longs(slots[0]),
            (2, _) => self.pairs(slots),
            _ => self.quads(slots),
        }
        dynasm!(self.ops; .arch x64; jmp =>done; =>same);
        self.same(op.native, slots, element, group);
        if apart && slots.len() == 2 {
            dynasm!(self.ops; .arch x64; jmp =>done; =>other);
            self.pairs_apart(slots);
        }
        if let (true, Some(group)) = (apart, group) {
            dynasm!(self.ops; .arch x64; jmp =>done; =>other);
            for part in 0..4 {
                let to = register(group, part);
                dynasm!(self.ops; .arch x64
                    ; vmovups ymm12, [rax + places::OFFSETS + 32 * part]
                    ; vpcmpeqd ymm13, ymm13, ymm13
                    ; vpgatherdd Ry(to), [rcx + ymm12], ymm13
                    ; vmovups [r12 + slots[0].0 as i32 + 32 * part], Ry(to)
                );
            }
        }
        dynasm!(self.ops; .arch x64; =>done);
        for slot in slots {
            self.wrote(*slot, 32 * element.max(4) as u32, group);
        }
    }

    /// Asks for the rows behind, and for the one that lies as far on as this one does from the last.
    fn ask_ahead(&mut self, op: &Op, bytes: u64) {
        let last = offset_of!(Worker, last_low) as i32 + 8 * (op.site as i32 & 63);
        dynasm!(self.ops; .arch x64
            ; mov rdx, [rbx + offset_of!(Cx<'static>, worker) as i32]
            ; mov rsi, rcx
            ; sub rsi, [rdx + last]
            ; mov [rdx + last], rcx
        );
        for line in 0..(bytes / 2).max(1) as i32 {
            dynasm!(self.ops; .arch x64
                ; prefetcht0 [rcx + AHEAD + 64 * line]
                ; prefetcht0 [rcx + rsi + 64 * line]
            );
        }
    }

    fn row_of_words(&mut self, native: Native, slot: Slot, group: usize) {
        for part in 0..4 {
            self.place(part);
            let to = register(group, part);
            match native {
                Native::LoadU16 => dynasm!(self.ops; .arch x64; vpmovzxwd Ry(to), [rcx + rdx]),
                Native::LoadS16 => dynasm!(self.ops; .arch x64; vpmovsxwd Ry(to), [rcx + rdx]),
                Native::LoadU8 => dynasm!(self.ops; .arch x64; vmovq xmm12, [rcx + rdx]; vpmovzxbd Ry(to), xmm12),
                Native::LoadS8 => dynasm!(self.ops; .arch x64; vmovq xmm12, [rcx + rdx]; vpmovsxbd Ry(to), xmm12),
                _ => dynasm!(self.ops; .arch x64; vmovups Ry(to), [rcx + rdx]),
            }
            dynasm!(self.ops; .arch x64; vmovups [r12 + slot.0 as i32 + 32 * part], Ry(to));
        }
    }

    fn row_of_longs(&mut self, slot: Slot) {
        for part in 0..4 {
            self.place(part);
            for half in 0..2 {
                dynasm!(self.ops; .arch x64
                    ; vmovups ymm12, [rcx + rdx + 32 * half]
                    ; vmovups [r12 + slot.0 as i32 + 64 * part + 32 * half], ymm12
                );
            }
        }
    }

    /// Vectors of two words, side by side.
    fn pairs(&mut self, slots: &[Slot]) {
        for part in 0..4 {
            self.place(part);
            dynasm!(self.ops; .arch x64; vmovups ymm12, [rcx + rdx]; vmovups ymm13, [rcx + rdx + 32]);
            for (slot, words) in slots.iter().zip([0x88u8, 0xdd]) {
                dynasm!(self.ops; .arch x64
                    ; vpshufd ymm14, ymm12, words as i8
                    ; vpshufd ymm15, ymm13, words as i8
                    ; vpunpcklqdq ymm14, ymm14, ymm15
                    ; vpermq ymm14, ymm14, 0xd8u8 as i8
                    ; vmovups [r12 + slot.0 as i32 + 32 * part], ymm14
                );
            }
        }
    }

    /// The same, wherever they lie.
    fn pairs_apart(&mut self, slots: &[Slot]) {
        for part in 0..4 {
            // Lanes 0, 1, 4 and 5; then the others.
            for (to, first) in [(12u8, 0), (13, 2)] {
                for (half, lane) in [(to, first), (14, first + 4)] {
                    let at = places::OFFSETS + 32 * part + 4 * lane;
                    dynasm!(self.ops; .arch x64
                        ; movsxd rdx, DWORD [rax + at]
                        ; movsxd rsi, DWORD [rax + at + 4]
                        ; vmovq Rx(half), QWORD [rcx + rdx]
                        ; vmovhps Rx(half), Rx(half), QWORD [rcx + rsi]
                    );
                }
                dynasm!(self.ops; .arch x64; vinserti128 Ry(to), Ry(to), xmm14, 1);
            }
            for (slot, words) in slots.iter().zip([0x88u8, 0xdd]) {
                dynasm!(self.ops; .arch x64
                    ; vpshufd ymm14, ymm12, words as i8
                    ; vpshufd ymm15, ymm13, words as i8
                    ; vpunpcklqdq ymm14, ymm14, ymm15
                    ; vmovups [r12 + slot.0 as i32 + 32 * part], ymm14
                );
            }
        }
    }

    /// Vectors of four words, wherever they lie: eight of them make eight lanes of four rows. No group keeps what it held.
    fn quads(&mut self, slots: &[Slot]) {
        self.empty();
        for part in 0..4 {
            for (to, lane) in [(0u8, 0), (1, 2), (2, 1), (3, 3)] {
                dynasm!(self.ops; .arch x64
                    ; movsxd rdx, DWORD [rax + places::OFFSETS + 32 * part + 4 * lane]
                    ; movsxd rsi, DWORD [rax + places::OFFSETS + 32 * part + 4 * lane + 16]
                    ; vmovups Rx(to), [rcx + rdx]
                    ; vinserti128 Ry(to), Ry(to), [rcx + rsi], 1
                );
            }
            // ymm0: lanes 0 and 4; 1: 2 and 6; 2: 1 and 5; 3: 3 and 7.
            dynasm!(self.ops; .arch x64
                ; vpunpckldq ymm4, ymm0, ymm2
                ; vpunpckhdq ymm5, ymm0, ymm2
                ; vpunpckldq ymm6, ymm1, ymm3
                ; vpunpckhdq ymm7, ymm1, ymm3
                ; vpunpcklqdq ymm0, ymm4, ymm6
                ; vpunpckhqdq ymm1, ymm4, ymm6
                ; vpunpcklqdq ymm2, ymm5, ymm7
                ; vpunpckhqdq ymm3, ymm5, ymm7
            );
            for (from, slot) in slots.iter().enumerate() {
                dynasm!(self.ops; .arch x64; vmovups [r12 + slot.0 as i32 + 32 * part], Ry(from as u8));
            }
        }
    }

    /// Each eight lanes at one place.
    fn same(&mut self, native: Native, slots: &[Slot], element: u64, group: Option<usize>) {
        for part in 0..4 {
            self.place(part);
            for (index, slot) in slots.iter().enumerate() {
                let to = group.map_or(12 + part as u8, |group| register(group, part));
                let at = slot.0 as i32 + 8 * element.max(4) as i32 * part;
                match native {
                    Native::LoadU16 => dynasm!(self.ops; .arch x64; movzx esi, WORD [rcx + rdx]),
                    Native::LoadS16 => dynasm!(self.ops; .arch x64; movsx esi, WORD [rcx + rdx]),
                    Native::LoadU8 => dynasm!(self.ops; .arch x64; movzx esi, BYTE [rcx + rdx]),
                    Native::LoadS8 => dynasm!(self.ops; .arch x64; movsx esi, BYTE [rcx + rdx]),
                    _ => {}
                }
                match element {
                    1 | 2 => dynasm!(self.ops; .arch x64; vmovd xmm12, esi; vpbroadcastd Ry(to), xmm12),
                    4 => dynasm!(self.ops; .arch x64; vpbroadcastd Ry(to), [rcx + rdx + 4 * index as i32]),
                    _ => dynasm!(self.ops; .arch x64
                        ; vbroadcastsd Ry(to), [rcx + rdx]
                        ; vmovups [r12 + at + 32], Ry(to)
                    ),
                }
                dynasm!(self.ops; .arch x64; vmovups [r12 + at], Ry(to));
            }
        }
    }

    /// `rdx`: how far lane 8 * `part` lies from the first one.
    pub fn place(&mut self, part: i32) {
        dynasm!(self.ops; .arch x64; movsxd rdx, DWORD [rax + places::OFFSETS + 32 * part]);
    }
}
