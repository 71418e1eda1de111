//! Shuffles by a distance that the text says: which lane each lane's value comes from is known beforehand.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};

use super::emit::{Emitter, Row, register};
use crate::exec::op::{Op, Slot};
use crate::isa::shuffle::sources_of;

/// Tables of a function's shuffles: for each lane its value's place among eight, and for each eight values that it is of
/// those.
#[derive(Default)]
pub struct Tables(Vec<(Key, [u8; 32], DynamicLabel)>);

/// What a shuffle does, and its two numbers.
type Key = (i64, [u32; 32], [u32; 32]);

impl Emitter<'_> {
    /// The row of an operand whose value the text says.
    pub fn number_of(&self, slot: Slot) -> Option<[u32; 32]> {
        let slot = if slot.is_pool() { slot } else { *self.numbers.get(&slot)? };
        self.image.pool.get((slot.0 & !Slot::POOL) as usize / 128).map(|row| row.0)
    }

    /// The rows of a shuffle's numbers, if the text says them and it is one of all lanes.
    fn key(&self, op: &Op) -> Option<Key> {
        let row = |slot: Slot| self.number_of(slot);
        (row(op.e)? == [u32::MAX; 32] && !op.a.is_pool()).then(|| Some((op.imm, row(op.b)?, row(op.c)?)))?
    }

    pub fn has_numbers(&self, op: &Op) -> bool {
        self.key(op).is_some()
    }

    pub fn shuffle(&mut self, op: &Op) -> bool {
        let Some(key) = self.key(op) else { return false };
        let (from, valid) = sources_of(key.0, &key.1, &key.2);
        let known = self.tables.0.iter().find(|(known, ..)| *known == key).map(|(.., label)| *label);
        let table = known.unwrap_or_else(|| {
            let label = self.ops.new_dynamic_label();
            self.tables.0.push((key, from, label));
            label
        });
        let a = self.row(op.a);
        let group = self.group();
        dynasm!(self.ops; .arch x64; lea rdx, [=>table]);
        for part in 0..4 {
            let to = register(group, part);
            let lanes = 8 * part as usize..8 * part as usize + 8;
            let parts: Vec<i32> =
                (0..4).filter(|of| from[lanes.clone()].iter().any(|lane| i32::from(lane / 8) == *of)).collect();
            dynasm!(self.ops; .arch x64; vmovups ymm12, [rdx + 32 * part]);
            for (index, of) in parts.iter().enumerate() {
                let result = if index == 0 { to } else { 13 };
                match a {
                    Row::Group(group) => {
                        dynasm!(self.ops; .arch x64; vpermd Ry(result), ymm12, Ry(register(group, *of)))
                    }
                    Row::Frame(at) | Row::Pool(at) => {
                        dynasm!(self.ops; .arch x64; vpermd Ry(result), ymm12, [r12 + at + 32 * of]);
                    }
                }
                if index > 0 {
                    dynasm!(self.ops; .arch x64
                        ; vmovups ymm14, [rdx + 128 + 32 * (4 * part + of)]
                        ; vblendvps Ry(to), Ry(to), ymm13, ymm14
                    );
                }
            }
        }
        // It may be the row that was read.
        for part in 0..4 {
            let from = register(group, part);
            dynasm!(self.ops; .arch x64; vmovups [r12 + op.d.0 as i32 + 32 * part], Ry(from));
        }
        self.wrote(op.d, 128, Some(group));
        if op.list != Slot::NONE.0 {
            dynasm!(self.ops; .arch x64; mov DWORD [r12 + op.list as i32], valid as i32);
            self.wrote(Slot(op.list), 4, None);
        }
        true
    }

    pub fn emit_tables(&mut self) {
        for (_, from, label) in std::mem::take(&mut self.tables).0 {
            dynasm!(self.ops; .arch x64; .align 32; =>label);
            for lane in from {
                self.ops.push_u32(u32::from(lane & 7));
            }
            for part in 0..4 {
                for of in 0..4 {
                    for lane in &from[8 * part..8 * part + 8] {
                        self.ops.push_u32(if usize::from(lane / 8) == of { u32::MAX } else { 0 });
                    }
                }
            }
        }
    }
}
