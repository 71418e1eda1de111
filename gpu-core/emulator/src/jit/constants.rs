//! Rows of numbers that templates read: each stands once behind the code of a function.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};

use super::emit::Emitter;

#[derive(Default)]
pub struct Constants(Vec<([u32; 8], DynamicLabel)>);

impl Emitter<'_> {
    /// Where eight words stand.
    pub fn constant(&mut self, words: [u32; 8]) -> DynamicLabel {
        if let Some((_, label)) = self.constants.0.iter().find(|(known, _)| *known == words) {
            return *label;
        }
        let label = self.ops.new_dynamic_label();
        self.constants.0.push((words, label));
        label
    }

    pub fn constant64(&mut self, words: [u64; 4]) -> DynamicLabel {
        self.constant(std::array::from_fn(|at| (words[at / 2] >> (32 * (at % 2))) as u32))
    }

    /// The NaN that f32 operations give.
    pub fn nan(&mut self) -> DynamicLabel {
        self.constant([crate::num::NAN_F32.to_bits(); 8])
    }

    /// Of eight lanes, the bit of each in a mask.
    pub fn bits(&mut self, part: i32) -> DynamicLabel {
        self.constant(std::array::from_fn(|lane| 1 << (8 * part as usize + lane)))
    }

    /// What the machine's control register is to hold: that which Rust and C run with, no exception and to nearest, and the
    /// same with subnormals flushed, before and behind.
    pub fn mode(&mut self, flushing: bool) -> DynamicLabel {
        self.constant([0x1f80 | if flushing { 1 << 6 | 1 << 15 } else { 0 }; 8])
    }

    pub fn emit_constants(&mut self) {
        dynasm!(self.ops; .arch x64; .align 32);
        for (words, label) in std::mem::take(&mut self.constants).0 {
            dynasm!(self.ops; .arch x64; =>label);
            words.iter().for_each(|word| self.ops.push_u32(*word));
        }
    }
}
