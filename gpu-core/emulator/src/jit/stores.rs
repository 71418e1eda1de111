//! What stores put where a pattern says: `rax`, and `rcx` for the first lane.

use std::mem::offset_of;

use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};

use super::access::Ways;
use super::emit::{Emitter, Row, register};
use crate::exec::cx::Cx;
use crate::exec::memory::pattern::{Eights, places};
use crate::exec::op::Slot;
use crate::exec::sched::worker::Worker;

impl Emitter<'_> {
    pub fn store_rows(&mut self, slots: &[Slot], element: u64, ways: Ways) {
        match slots.len() {
            1 if ways == Ways::Any => {
                let [apart, done] = std::array::from_fn(|_| self.ops.new_dynamic_label());
                dynasm!(self.ops; .arch x64; cmp BYTE [rax + places::EIGHTS], Eights::Row as i8; jne =>apart);
                self.row_to_memory(slots[0], element);
                dynasm!(self.ops; .arch x64; jmp =>done; =>apart);
                self.words_apart(slots[0]);
                dynasm!(self.ops; .arch x64; =>done);
            }
            1 => self.row_to_memory(slots[0], element),
            2 => self.pairs_to_memory(slots),
            _ => self.quads_to_memory(slots),
        }
        dynasm!(self.ops; .arch x64
            ; mov rdx, [rbx + offset_of!(Cx<'static>, worker) as i32]
            ; inc QWORD [rdx + offset_of!(Worker, writes) as i32]
        );
    }

    /// Eight lanes of a row of words in a register of their own, or in `temporary`.
    fn part(&mut self, slot: Slot, part: i32, temporary: u8) -> u8 {
        match self.row(slot) {
            Row::Group(group) => return register(group, part),
            Row::Frame(at) => dynasm!(self.ops; .arch x64; vmovups Ry(temporary), [r12 + at + 32 * part]),
            Row::Pool(at) => dynasm!(self.ops; .arch x64; vmovups Ry(temporary), [r13 + at + 32 * part]),
        }
        temporary
    }

    /// Eights of lanes side by side.
    fn row_to_memory(&mut self, slot: Slot, element: u64) {
        for part in 0..4 {
            self.place(part);
            if element == 4 {
                let value = self.part(slot, part, 12);
                dynasm!(self.ops; .arch x64; vmovups [rcx + rdx], Ry(value));
                continue;
            }
            for half in 0..2 {
                let at = (slot.0 & !Slot::POOL) as i32 + 64 * part + 32 * half;
                match slot.is_pool() {
                    true => dynasm!(self.ops; .arch x64; vmovups ymm12, [r13 + at]),
                    false => dynasm!(self.ops; .arch x64; vmovups ymm12, [r12 + at]),
                }
                dynasm!(self.ops; .arch x64; vmovups [rcx + rdx + 32 * half], ymm12);
            }
        }
    }

    /// Words wherever they lie; of lanes at one place the last one stays.
    fn words_apart(&mut self, slot: Slot) {
        let at = (slot.0 & !Slot::POOL) as i32;
        let lane = self.ops.new_dynamic_label();
        match slot.is_pool() {
            true => dynasm!(self.ops; .arch x64; lea rdi, [r13 + at]),
            false => dynasm!(self.ops; .arch x64; lea rdi, [r12 + at]),
        }
        dynasm!(self.ops; .arch x64; xor esi, esi; =>lane);
        for next in 0..4 {
            dynasm!(self.ops; .arch x64
                ; movsxd rdx, DWORD [rax + 4 * rsi + places::OFFSETS + 4 * next]
                ; mov r8d, [rdi + 4 * rsi + 4 * next]
                ; mov [rcx + rdx], r8d
            );
        }
        dynasm!(self.ops; .arch x64; add esi, 4; cmp esi, 32; jne =>lane);
    }

    /// Vectors of two words, wherever they lie.
    fn pairs_to_memory(&mut self, slots: &[Slot]) {
        for part in 0..4 {
            let [a, b] = [self.part(slots[0], part, 12), self.part(slots[1], part, 13)];
            // Two lanes in each half of a register. In their order: of those at one place the last one stays.
            dynasm!(self.ops; .arch x64
                ; vpunpckldq ymm14, Ry(a), Ry(b)
                ; vpunpckhdq ymm15, Ry(a), Ry(b)
                ; vextracti128 xmm12, ymm14, 1
                ; vextracti128 xmm13, ymm15, 1
            );
            for (from, lane) in [(14u8, 0), (15, 2), (12, 4), (13, 6)] {
                let at = places::OFFSETS + 32 * part + 4 * lane;
                dynasm!(self.ops; .arch x64
                    ; movsxd rdx, DWORD [rax + at]
                    ; movsxd rsi, DWORD [rax + at + 4]
                    ; vmovq QWORD [rcx + rdx], Rx(from)
                    ; vmovhps QWORD [rcx + rsi], Rx(from)
                );
            }
        }
    }

    /// Vectors of four words, wherever they lie. No group keeps what it held.
    fn quads_to_memory(&mut self, slots: &[Slot]) {
        self.empty();
        for part in 0..4 {
            for (to, slot) in (0u8..).zip(slots) {
                let value = self.part(*slot, part, to);
                debug_assert!(value == to, "no group holds anything");
            }
            // ymm8: lanes 0 and 4; 9: 1 and 5; 10: 2 and 6; 11: 3 and 7.
            dynasm!(self.ops; .arch x64
                ; vpunpckldq ymm4, ymm0, ymm1
                ; vpunpckhdq ymm5, ymm0, ymm1
                ; vpunpckldq ymm6, ymm2, ymm3
                ; vpunpckhdq ymm7, ymm2, ymm3
                ; vpunpcklqdq ymm8, ymm4, ymm6
                ; vpunpckhqdq ymm9, ymm4, ymm6
                ; vpunpcklqdq ymm10, ymm5, ymm7
                ; vpunpckhqdq ymm11, ymm5, ymm7
            );
            for lane in 0..8 {
                dynasm!(self.ops; .arch x64; movsxd rdx, DWORD [rax + places::OFFSETS + 32 * part + 4 * lane]);
                let from = 8 + (lane & 3) as u8;
                match lane {
                    0..4 => dynasm!(self.ops; .arch x64; vmovups [rcx + rdx], Rx(from)),
                    _ => dynasm!(self.ops; .arch x64; vextracti128 [rcx + rdx], Ry(from), 1),
                }
            }
        }
    }
}
