//! One instruction on its way to the table: its opcode in parts, its guard, and what is left over.

use super::emit::{Decoded, Emit};
use crate::isa::{self, Ty};
use crate::ptx::tree::{Instruction, Operand};

/// An instruction's opcode in parts, with a tally of the modifiers that were understood.
pub struct Inst<'a> {
    pub name: &'a str,
    parts: Vec<(&'a str, bool)>,
    pub operands: &'a [Operand<'a>],
    pub opcode: &'a str,
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

/// Decodes one instruction through the table.
pub(super) fn decode(emit: &mut Emit<'_>, instruction: &Instruction<'_>) -> Result<(), String> {
    let always = emit.pool.pred(true);
    emit.guard = match instruction.guard {
        None => (always, 0),
        Some((name, negated)) => {
            let reg = emit.reg(name)?;
            if reg.bits != 1 {
                return Err(format!("`{name}` is not a predicate"));
            }
            (reg.slot, if negated { u32::MAX } else { 0 })
        }
    };
    let mut inst = Inst::new(instruction);
    let row = isa::find(inst.name).ok_or_else(|| match isa::refused(inst.name) {
        Some(reason) => reason.to_owned(),
        None => format!("instruction `{}` is not supported", instruction.opcode),
    })?;
    emit.class = row.class;
    let before = emit.code.len();
    let result = (row.decode)(emit, &mut inst);
    let result = result.and_then(|()| {
        let rest = inst.rest();
        if rest.is_empty() {
            Ok(())
        } else {
            Err(format!("`.{}` of `{}` is not supported", rest.join("."), instruction.opcode))
        }
    });
    if result.is_err() {
        let surplus = emit.code.len() - before;
        emit.code.truncate(before);
        emit.infos.truncate(before);
        emit.edges.truncate(emit.edges.len() - surplus);
    }
    result
}
