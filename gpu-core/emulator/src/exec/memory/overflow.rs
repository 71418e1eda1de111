//! A product that did not fit 32 bits on the way to an address that lies before its array: the line and the numbers to name.

use std::collections::BTreeSet;

use crate::exec::cx::Cx;
use crate::exec::op::Slot;
use crate::exec::opcode::opcode;

/// Instructions of a function beyond which nothing is followed: reports must not take long.
const MOST: usize = 1 << 16;
/// Instructions that an index is made of, at most.
const MOST_STEPS: usize = 64;

impl Cx<'_> {
    /// What to say of the index of the running instruction's address, where it comes of a product that went below 0. Values are
    /// read from the registers as they are now; a product counts only where its own register still agrees with it.
    pub(super) fn overflowed_product(&self, lane: usize) -> Option<String> {
        let image = self.image();
        let function = image.functions.iter().rfind(|function| function.first_pc <= self.pc)?;
        let code = image.code_of(function);
        if code.len() > MOST {
            return None;
        }
        let mut open: Vec<(Slot, usize)> = vec![(image.code.get(self.pc as usize)?.a, self.pc as usize)];
        let mut seen = BTreeSet::new();
        while let Some((slot, before)) = open.pop() {
            // The last that wrote it above; in a loop the last of all.
            let writes = |at: &usize| image.infos[*at].writes.contains(&slot);
            let above = (code.start..before).rev().find(writes).or_else(|| (before..code.end).rev().find(writes));
            let Some(at) = above.filter(|at| seen.len() < MOST_STEPS && seen.insert(*at)) else { continue };
            let name = opcode(image.text(at as u32));
            if matches!(name.split('.').next(), Some("ld" | "ldu" | "atom" | "call" | "tex" | "shfl")) {
                continue;
            }
            if let Some(words) = self.product(at, name, lane) {
                return Some(words);
            }
            let op = &image.code[at];
            open.extend(image.infos[at].reads.iter().filter(|read| **read != op.guard).map(|read| (*read, at)));
        }
        None
    }

    /// The words for a product of 32 bits that is too large for a signed number.
    fn product(&self, at: usize, name: &str, lane: usize) -> Option<String> {
        if !matches!(name, "mul.lo.s32" | "mad.lo.s32") {
            return None;
        }
        let image = self.image();
        let op = &image.code[at];
        // SAFETY: slots of a decoded instruction of the function that runs; `lane` is one of 32.
        let value = |slot: Slot| i64::from(unsafe { (*self.row::<u32>(slot))[lane & 31] }.cast_signed());
        let sum = if name.starts_with("mad") { value(op.c) } else { 0 };
        let (one, other) = (value(op.a), value(op.b));
        let whole = one.checked_mul(other)?.checked_add(sum)?;
        let kept = value(*image.infos[at].writes.first()?);
        if i32::try_from(whole).is_ok() || kept >= 0 || kept != i64::from(whole as i32) {
            return None;
        }
        let added = if sum == 0 { String::new() } else { format!(" + {sum}") };
        Some(format!(
            "; the product of {}, {one} * {other}{added} = {whole}, does not fit an `int`, which ends at 2147483647, and goes on below \
             0: make one factor a `long long`",
            image.place(at as u32)
        ))
    }
}
