//! One instruction as its row of the table gets it: its opcode in parts, and what nobody has understood yet.

use super::emit::Decoded;
use crate::ptx::tree::{Instruction, Operand};
use crate::ptx::ty::Ty;

/// An instruction's opcode in parts, with a tally of the modifiers that were understood.
pub struct Inst<'a> {
    pub name: &'a str,
    parts: Vec<(&'a str, bool)>,
    pub operands: &'a [Operand<'a>],
    pub opcode: &'a str,
    /// [`Instruction::used_bytes`].
    pub used_bytes: Option<u32>,
}

impl<'a> Inst<'a> {
    pub fn new(instruction: &'a Instruction<'a>) -> Inst<'a> {
        let mut parts = instruction.parts();
        let name = parts.next().unwrap_or_default();
        Inst {
            name,
            parts: parts.map(|part| (part, false)).collect(),
            operands: &instruction.operands,
            opcode: instruction.opcode,
            used_bytes: instruction.used_bytes,
        }
    }

    /// Consumes a modifier.
    pub fn take(&mut self, modifier: &str) -> bool {
        match self.parts.iter_mut().find(|(part, used)| *part == modifier && !used) {
            Some(part) => {
                part.1 = true;
                true
            }
            None => false,
        }
    }

    /// Consumes the first modifier that is in the list.
    pub fn take_any(&mut self, modifiers: &[&'static str]) -> Option<&'static str> {
        modifiers.iter().copied().find(|modifier| self.take(modifier))
    }

    /// Consumes all modifiers that satisfy `accept`.
    pub fn take_where(&mut self, accept: impl Fn(&str) -> bool) -> Vec<&'a str> {
        let mut out = Vec::new();
        for part in &mut self.parts {
            if !part.1 && accept(part.0) {
                part.1 = true;
                out.push(part.0);
            }
        }
        out
    }

    /// Consumes the next type.
    pub fn ty(&mut self) -> Decoded<Ty> {
        for part in &mut self.parts {
            if !part.1
                && let Some(ty) = Ty::parse(part.0)
            {
                part.1 = true;
                return Ok(ty);
            }
        }
        Err(format!("`{}` names no type that is known", self.opcode))
    }

    /// Consumes the next type if there is one.
    pub fn ty_maybe(&mut self) -> Option<Ty> {
        self.ty().ok()
    }

    /// Modifiers nobody consumed.
    pub fn rest(&self) -> Vec<&'a str> {
        self.parts.iter().filter(|part| !part.1).map(|part| part.0).collect()
    }

    pub fn expect(&self, count: usize) -> Decoded<()> {
        if self.operands.len() == count {
            Ok(())
        } else {
            Err(format!("`{}` takes {count} operands, not {}", self.name, self.operands.len()))
        }
    }

    pub fn unsupported<T>(&self) -> Decoded<T> {
        Err(format!("`{}` is not supported", self.opcode))
    }

    /// Consumes the next type if it is an integer one.
    pub fn take_int(&mut self) -> Option<Ty> {
        let at = self.parts.iter().position(|(part, used)| !used && Ty::parse(part).is_some())?;
        let ty = Ty::parse(self.parts[at].0)?;
        let integer = matches!(ty, Ty::U16 | Ty::S16 | Ty::U32 | Ty::S32 | Ty::U64 | Ty::S64 | Ty::U16x2 | Ty::S16x2);
        integer.then(|| {
            self.parts[at].1 = true;
            ty
        })
    }

    /// Undoes one `take`.
    pub fn give_back(&mut self, modifier: &str) {
        if let Some(part) = self.parts.iter_mut().find(|(part, used)| *part == modifier && *used) {
            part.1 = false;
        }
    }
}
