//! Constants: the rows that hold them, and what an immediate means to a type.

use std::collections::HashMap;

use super::emit::Decoded;
use crate::exec::image::PoolRow;
use crate::exec::op::Slot;
use crate::ptx::tree::Operand;
use crate::ptx::ty::Ty;

/// Constant rows, shared by the module.
#[derive(Debug, Default)]
pub struct Pool {
    pub rows: Vec<PoolRow>,
    known: HashMap<(u64, u64, u32), Slot>,
}

impl Pool {
    /// A row with `bits`-wide `value` in every lane (128 bits for vectors of 128, else the low half).
    pub fn splat(&mut self, value: u128, bits: u32) -> Slot {
        let width = if bits <= 32 { 32 } else { bits };
        let key = (value as u64, (value >> 64) as u64, width);
        if let Some(slot) = self.known.get(&key) {
            return *slot;
        }
        let slot = Slot(Slot::POOL | (self.rows.len() * size_of::<PoolRow>()) as u32);
        let words: Vec<u32> = match width {
            32 => vec![value as u32; 32],
            64 => (0..64).map(|word| (value >> (32 * (word % 2))) as u32).collect(),
            _ => (0..128).map(|word| (value >> (32 * (word % 4))) as u32).collect(),
        };
        for chunk in words.chunks(32) {
            let mut row = PoolRow([0; 32]);
            row.0.copy_from_slice(chunk);
            self.rows.push(row);
        }
        self.known.insert(key, slot);
        slot
    }

    /// A predicate constant.
    pub fn pred(&mut self, value: bool) -> Slot {
        self.splat(u128::from(if value { u32::MAX } else { 0 }), 32)
    }
}

/// Whether a register and a type take rows of the same size.
pub(crate) fn fits(have: u32, want: u32) -> bool {
    let row = |bits: u32| if bits == 1 { 1 } else { bits.max(32) };
    row(have) == row(want)
}

/// The bits of an immediate of type `ty`.
pub fn immediate(operand: &Operand<'_>, ty: Ty) -> Decoded<u128> {
    let bits = ty.bits();
    let cut = |value: u64| match bits {
        8 => u128::from(value as u8),
        16 => u128::from(value as u16),
        1..=32 => u128::from(value as u32),
        64 => u128::from(value),
        // A negative literal in a 128-bit place is sign-extended.
        _ => value as i64 as i128 as u128,
    };
    Ok(match (operand, ty) {
        (Operand::Int(value), Ty::F32) => u128::from((*value as i64 as f32).to_bits()),
        (Operand::Int(value), Ty::F64) => u128::from((*value as i64 as f64).to_bits()),
        (Operand::Int(value), _) => cut(*value),
        (Operand::F32(value), Ty::F64) => u128::from(f64::from(f32::from_bits(*value)).to_bits()),
        (Operand::F32(value), _) => cut(u64::from(*value)),
        (Operand::F64(value), Ty::F32) => u128::from((f64::from_bits(*value) as f32).to_bits()),
        (Operand::F64(value), _) if bits == 64 => u128::from(*value),
        (Operand::F64(value), _) => u128::from((f64::from_bits(*value) as f32).to_bits()),
        _ => return Err("a number is wanted".to_owned()),
    })
}
