//! What a table row uses to turn one instruction into an [`Op`]: operands to slots, modifiers to choices.

use std::collections::HashMap;

use super::constants::fits;
pub use super::constants::{Pool, immediate};
pub use super::inst::Inst;
use super::special;
use crate::exec::image::{Needs, ParamArea};
use crate::exec::op::{Exec, Flow, Op, OpInfo, Slot, Taint};
use crate::exec::template::Native;
use crate::memory::space::Window;
use crate::ptx::tree::Operand;
use crate::ptx::ty::Ty;
use crate::report::Class;

pub use crate::analysis::flow::{Edge, Target};

/// A register.
#[derive(Clone, Copy, Debug)]
pub struct Reg {
    pub slot: Slot,
    /// 1 for predicates, else 8 to 128.
    pub bits: u32,
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub enum Entity {
    Reg(Reg),
    VectorReg(Vec<Reg>),
    /// A kernel parameter: offset in the argument block.
    KernelParam {
        offset: u32,
    },
    /// A parameter or result of a device function or of a call: rows in the frame.
    FrameParam(ParamArea),
    /// Variable with an address inside a window.
    Variable {
        window: Window,
        address: u64,
        /// Bytes that an index counts.
        element: u32,
    },
    Function(u32),
    Builtin(crate::exec::image::Builtin),
    /// `.branchtargets`.
    Targets(Vec<String>),
    Prototype,
}

/// One `{ }` level of names.
#[derive(Debug, Default)]
pub struct Scope {
    pub names: HashMap<String, Entity>,
    /// `%r<100>`: prefix to registers.
    pub ranges: HashMap<String, (u32, Vec<Reg>)>,
    /// Shared variables that are declared here, by name: what the module keeps them under.
    pub shared: HashMap<String, String>,
    pub id: u32,
}

pub type Decoded<T> = Result<T, String>;

/// What the module is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arch {
    /// 75, 80, …, 121.
    pub number: u32,
    /// `sm_XXXa` or `sm_XXXf`: architecture- or family-specific instructions exist.
    pub specific: bool,
    /// `sm_XXXa`: what not even the family has exists.
    pub exact: bool,
}

impl Arch {
    /// Reads `sm_90a`, `compute_90` and the like from a `.target` line; sm_75 if it names no architecture.
    pub fn of(target: &str) -> Arch {
        let parts = || target.split(',').map(str::trim);
        let named = parts().find_map(|part| part.strip_prefix("sm_").or_else(|| part.strip_prefix("compute_")));
        let name = named.unwrap_or("75");
        let digits = name.trim_end_matches(|c: char| !c.is_ascii_digit());
        // Other letters behind the number, capitals too, mean nothing to the assembler.
        let suffix = &name[digits.len()..];
        Arch { number: digits.parse().unwrap_or(75), specific: matches!(suffix, "a" | "f"), exact: suffix == "a" }
    }
}

/// State while one function is decoded.
pub struct Emit<'m> {
    pub arch: Arch,
    pub pool: &'m mut Pool,
    pub lists: &'m mut Vec<Slot>,
    pub calls: &'m mut Vec<crate::exec::image::CallSite>,
    pub tables: &'m mut Vec<Vec<u32>>,
    pub sites: &'m mut Vec<crate::exec::image::Site>,
    pub globals: &'m HashMap<String, Entity>,
    pub scopes: Vec<Scope>,
    pub code: &'m mut Vec<Op>,
    pub infos: &'m mut Vec<OpInfo>,
    pub edges: Vec<Edge>,
    /// Tables of `brx.idx`: index into `tables` and labels, resolved at the end.
    pub table_fixups: Vec<(usize, Vec<Target>)>,
    pub frame_bytes: u32,
    /// Offset and 32-bit words of every register but predicates, ascending.
    pub widths: Vec<(u32, u32)>,
    pred_room: (u32, u32),
    scratch: HashMap<u32, Slot>,
    pub reads: Vec<Slot>,
    pub writes: Vec<Slot>,
    /// Shared variables and functions that the function mentions.
    pub shared_used: Vec<String>,
    pub called: Vec<u32>,
    pub calls_indirectly: bool,
    pub needs: Needs,
    pub entry: bool,
    pub uses_alloca: bool,
    /// Results of the function that are registers.
    pub result_registers: Vec<String>,
    /// The function declares vector registers.
    pub has_vectors: bool,
    // The instruction at hand.
    pub guard: (Slot, u32),
    pub class: Class,
    pub text: u32,
    pub source: Option<u32>,
    pub ptx_line: u32,
}

impl<'m> Emit<'m> {
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        arch: Arch,
        pool: &'m mut Pool,
        lists: &'m mut Vec<Slot>,
        calls: &'m mut Vec<crate::exec::image::CallSite>,
        tables: &'m mut Vec<Vec<u32>>,
        sites: &'m mut Vec<crate::exec::image::Site>,
        globals: &'m HashMap<String, Entity>,
        code: &'m mut Vec<Op>,
        infos: &'m mut Vec<OpInfo>,
        entry: bool,
    ) -> Emit<'m> {
        let always = pool.pred(true);
        Emit {
            arch,
            pool,
            lists,
            calls,
            tables,
            sites,
            globals,
            scopes: vec![Scope::default()],
            code,
            infos,
            edges: Vec::new(),
            table_fixups: Vec::new(),
            frame_bytes: 0,
            widths: Vec::new(),
            pred_room: (0, 0),
            scratch: HashMap::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            shared_used: Vec::new(),
            called: Vec::new(),
            calls_indirectly: false,
            needs: Needs::default(),
            entry,
            uses_alloca: false,
            result_registers: Vec::new(),
            has_vectors: false,
            guard: (always, 0),
            class: Class::Other,
            text: 0,
            source: None,
            ptx_line: 0,
        }
    }

    /// Room for a register of `bits` (1 for a predicate).
    pub fn allocate(&mut self, bits: u32) -> Slot {
        if bits == 1 {
            if self.pred_room.0 == self.pred_room.1 {
                let start = self.rows(128);
                self.pred_room = (start, start + 128);
            }
            let slot = Slot(self.pred_room.0);
            self.pred_room.0 += 4;
            return slot;
        }
        let bytes = match bits {
            0..=32 => 128,
            64 => 256,
            _ => 512,
        };
        let at = self.rows(bytes);
        self.widths.push((at, bytes / 128));
        Slot(at)
    }

    /// Raw room in the frame, in bytes.
    pub fn rows(&mut self, bytes: u32) -> u32 {
        let at = self.frame_bytes;
        self.frame_bytes += bytes.next_multiple_of(128);
        at
    }

    /// A temporary of `bits`, one per use of `key`.
    pub fn scratch(&mut self, bits: u32) -> Slot {
        if let Some(slot) = self.scratch.get(&bits) {
            return *slot;
        }
        let slot = self.allocate(bits);
        self.scratch.insert(bits, slot);
        slot
    }

    pub fn find(&self, name: &str) -> Option<Entity> {
        // `v.x`, or `v.r`: one element of a vector register.
        if let Some((vector, element)) = name.rsplit_once('.')
            && let Some(index) = ["x", "y", "z", "w", "r", "g", "b", "a"].iter().position(|known| *known == element)
            && let Some(Entity::VectorReg(registers)) = self.find(vector)
        {
            return registers.get(index % 4).copied().map(Entity::Reg);
        }
        for scope in self.scopes.iter().rev() {
            if let Some(entity) = scope.names.get(name) {
                return Some(entity.clone());
            }
            let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
            // `%r<4>` and `%r1<4>` may both exist: try the longest prefix first.
            for cut in (1..=digits).map(|kept| name.len() - kept) {
                let number = &name[cut..];
                if number.len() > 1 && number.starts_with('0') {
                    continue;
                }
                if let Some((_, registers)) = scope.ranges.get(&name[..cut])
                    && let Some(register) = number.parse::<usize>().ok().and_then(|index| registers.get(index))
                {
                    return Some(Entity::Reg(*register));
                }
            }
        }
        self.globals.get(name).cloned()
    }

    /// Gives a name a meaning in the innermost scope.
    pub fn name(&mut self, name: &str, entity: Entity) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(name.to_owned(), entity);
        }
    }

    pub fn reg(&self, name: &str) -> Decoded<Reg> {
        match self.find(name) {
            Some(Entity::Reg(reg)) => Ok(reg),
            Some(_) => Err(format!("`{name}` is not a register")),
            None => Err(format!("`{name}` is not declared")),
        }
    }

    pub fn target(&self, name: &str) -> Target {
        Target { name: name.to_owned(), scopes: self.scopes.iter().rev().map(|scope| scope.id).collect() }
    }

    /// A source operand of type `ty`: register, immediate, special register or address of a symbol.
    pub fn src(&mut self, operand: &Operand<'_>, ty: Ty) -> Decoded<Slot> {
        self.src_bits(operand, ty).map(|(slot, _)| slot)
    }

    /// As [`Emit::src`], with the width of the register it is in (registers may be wider in `st` and `cvt`, never
    /// narrower).
    pub fn src_any(&mut self, operand: &Operand<'_>, ty: Ty) -> Decoded<(Slot, u32)> {
        if let Operand::Name(name) = operand
            && let Ok(reg) = self.reg(name)
        {
            if reg.bits.max(32) < ty.bits() {
                return Err(format!("`{name}` has {} bits where the instruction wants {}", reg.bits, ty.bits()));
            }
            self.reads.push(reg.slot);
            return Ok((reg.slot, reg.bits));
        }
        self.src_bits(operand, ty)
    }

    fn src_bits(&mut self, operand: &Operand<'_>, ty: Ty) -> Decoded<(Slot, u32)> {
        let bits = ty.bits();
        match operand {
            Operand::Int(_) | Operand::F32(_) | Operand::F64(_) => {
                let value = immediate(operand, ty)?;
                Ok((self.pool.splat(value, bits), bits))
            }
            Operand::Name(name) => {
                if let Some(reading) = special::find(name) {
                    special::allowed(name, self.arch)?;
                    return self.special(name, reading, bits);
                }
                match self.find(name) {
                    Some(Entity::Reg(reg)) => {
                        if !fits(reg.bits, bits) {
                            return Err(format!("`{name}` has {} bits where the instruction wants {bits}", reg.bits));
                        }
                        self.reads.push(reg.slot);
                        Ok((reg.slot, reg.bits))
                    }
                    Some(Entity::Variable { window: Window::Local, address, .. }) => {
                        let slot = self.local_address_of(address as i64, bits);
                        self.reads.push(slot);
                        Ok((slot, bits))
                    }
                    Some(_) => {
                        let (_, address) = self.address_of(name)?;
                        Ok((self.pool.splat(u128::from(address), bits.max(32)), bits))
                    }
                    None => Err(format!("`{name}` is not declared")),
                }
            }
            Operand::NameOffset(name, offset) => {
                if let Some(Entity::Variable { window: Window::Local, address, .. }) = self.find(name) {
                    let slot = self.local_address_of(address as i64 + offset, bits);
                    self.reads.push(slot);
                    return Ok((slot, bits));
                }
                let (_, address) = self.address_of(name)?;
                Ok((self.pool.splat(u128::from(address.wrapping_add(*offset as u64)), bits.max(32)), bits))
            }
            _ => Err("this kind of operand does not belong here".to_owned()),
        }
    }

    /// Reads a special register into a temporary, in front of the instruction.
    fn special(&mut self, name: &str, reading: special::Reading, bits: u32) -> Decoded<(Slot, u32)> {
        let width = reading.bits;
        self.needs.reserved |= name.starts_with("%reserved_smem");
        let slot = self.allocate(width);
        let mut op = self.op(reading.run);
        op.d = slot;
        op.imm = reading.number;
        let (reads, writes) = (std::mem::take(&mut self.reads), std::mem::take(&mut self.writes));
        let class = std::mem::replace(&mut self.class, Class::Move);
        self.writes.push(slot);
        self.push(op, Taint::Copy);
        self.native(reading.native);
        (self.reads, self.writes, self.class) = (reads, writes, class);
        if width < bits {
            return Err(format!("`{name}` has {width} bits where the instruction wants {bits}"));
        }
        self.reads.push(slot);
        Ok((slot, width))
    }

    /// Window and address (inside the window) of a variable or function.
    pub fn address_of(&mut self, name: &str) -> Decoded<(Window, u64)> {
        match self.find(name) {
            Some(Entity::Variable { window, address, .. }) => {
                if window == Window::Shared {
                    let own = self.scopes.iter().rev().find_map(|scope| scope.shared.get(name));
                    let key = own.map_or(name, String::as_str);
                    if self.shared_used.iter().rev().take(8).all(|known| known != key) {
                        self.shared_used.push(key.to_owned());
                    }
                }
                Ok((window, address))
            }
            Some(Entity::KernelParam { offset }) => Ok((Window::Param, u64::from(offset))),
            Some(Entity::Function(index)) => {
                self.called.push(index);
                Ok((Window::Global, crate::memory::space::CODE_BASE + 16 * u64::from(index)))
            }
            Some(Entity::FrameParam(_)) => {
                Err(format!("the address of `{name}`, a parameter of a device function, is not supported"))
            }
            Some(_) => Err(format!("`{name}` has no address")),
            None => Err(format!("`{name}` is not declared")),
        }
    }

    /// A destination register of exactly `bits` (or of 32 for narrower ones).
    pub fn dst(&mut self, operand: &Operand<'_>, ty: Ty) -> Decoded<Slot> {
        let (slot, have) = self.dst_any(operand, ty)?;
        if !fits(have, ty.bits()) {
            return Err(format!("the destination has {have} bits where the instruction gives {}", ty.bits()));
        }
        Ok(slot)
    }

    /// A destination register at least as wide as the type, with its width.
    pub fn dst_any(&mut self, operand: &Operand<'_>, ty: Ty) -> Decoded<(Slot, u32)> {
        match operand {
            Operand::Sink => Ok((self.scratch(ty.bits()), ty.bits())),
            Operand::Name(name) => {
                let reg = self.reg(name)?;
                if reg.bits == 1 {
                    return Err(format!("`{name}` is a predicate"));
                }
                if reg.bits.max(32) < ty.bits() {
                    return Err(format!("`{name}` has {} bits where the instruction gives {}", reg.bits, ty.bits()));
                }
                self.writes.push(reg.slot);
                Ok((reg.slot, reg.bits))
            }
            _ => Err("the destination must be a register".to_owned()),
        }
    }

    /// A predicate that is read, and whether it is negated.
    pub fn pred(&mut self, operand: &Operand<'_>) -> Decoded<(Slot, bool)> {
        let (name, negated) = match operand {
            Operand::Name(name) => (name, false),
            Operand::Not(name) => (name, true),
            Operand::Int(value) => return Ok((self.pool.pred(*value != 0), false)),
            _ => return Err("a predicate is wanted".to_owned()),
        };
        let reg = self.reg(name)?;
        if reg.bits != 1 {
            return Err(format!("`{name}` is not a predicate"));
        }
        self.reads.push(reg.slot);
        Ok((reg.slot, negated))
    }

    /// A predicate that is written; NONE for `_`.
    pub fn pred_dst(&mut self, operand: &Operand<'_>) -> Decoded<Slot> {
        match operand {
            Operand::Sink => Ok(Slot::NONE),
            Operand::Name(name) => {
                let reg = self.reg(name)?;
                if reg.bits != 1 {
                    return Err(format!("`{name}` is not a predicate"));
                }
                self.writes.push(reg.slot);
                Ok(reg.slot)
            }
            _ => Err("a predicate is wanted".to_owned()),
        }
    }

    /// Adds slots to the image's lists.
    pub fn list(&mut self, slots: &[Slot]) -> (u32, u32) {
        let start = self.lists.len() as u32;
        self.lists.extend_from_slice(slots);
        (start, slots.len() as u32)
    }

    /// A new instruction with this guard and nothing else set.
    pub fn op(&self, run: Exec) -> Op {
        Op {
            run,
            imm: 0,
            d: Slot::NONE,
            a: Slot::NONE,
            b: Slot::NONE,
            c: Slot::NONE,
            e: Slot::NONE,
            guard: self.guard.0,
            guard_flip: self.guard.1,
            site: 0,
            list: 0,
            list_len: 0,
            straight: 0,
            skip: 0,
            of_launch: false,
            native: Native::No,
        }
    }

    /// Whether the instruction at hand has a guard.
    pub fn guarded(&self) -> bool {
        !self.guard.0.is_pool()
    }

    /// Appends an instruction that goes on to the next one.
    pub fn push(&mut self, op: Op, taint: Taint) {
        self.push_edge(op, taint, Edge::Next);
    }

    /// Of the last instruction, which stands for a whole one of PTX: what machine code can be made of it.
    pub fn native(&mut self, native: Native) {
        if let Some(op) = self.code.last_mut() {
            op.native = native;
        }
    }

    /// Appends an instruction with its successors.
    pub fn push_edge(&mut self, op: Op, taint: Taint, edge: Edge) {
        let mut reads = std::mem::take(&mut self.reads);
        if self.guarded() {
            reads.push(self.guard.0);
        }
        self.infos.push(OpInfo {
            last: 0,
            names: 0,
            text: self.text,
            source: self.source,
            class: self.class,
            taint,
            reads: reads.into(),
            writes: std::mem::take(&mut self.writes).into(),
            ptx_line: self.ptx_line,
            result_used: true,
            moves: false,
            bitwise: false,
        });
        self.code.push(op);
        self.edges.push(edge);
    }

    /// Gives a memory access its number.
    pub fn site(&mut self, wide: bool, bytes: u32) -> u32 {
        self.sites.push(crate::exec::image::Site { pc: self.code.len() as u32, wide, bytes, register: 0 });
        self.sites.len() as u32 - 1
    }

    // The common shapes.

    /// `d, a`
    pub fn simple1(&mut self, inst: &Inst<'_>, run: Exec, d: Ty, a: Ty) -> Decoded<()> {
        inst.expect(2)?;
        let mut op = self.op(run);
        op.a = self.src(&inst.operands[1], a)?;
        op.d = self.dst(&inst.operands[0], d)?;
        op.guard = self.guard.0;
        self.push(op, Taint::Compute);
        Ok(())
    }

    /// `d, a, b`
    pub fn simple2(&mut self, inst: &Inst<'_>, run: Exec, d: Ty, a: Ty, b: Ty) -> Decoded<()> {
        inst.expect(3)?;
        let mut op = self.op(run);
        op.a = self.src(&inst.operands[1], a)?;
        op.b = self.src(&inst.operands[2], b)?;
        op.d = self.dst(&inst.operands[0], d)?;
        self.push(op, Taint::Compute);
        Ok(())
    }

    /// `d, a, b, c`
    pub fn simple3(&mut self, inst: &Inst<'_>, run: Exec, d: Ty, a: Ty, b: Ty, c: Ty) -> Decoded<()> {
        inst.expect(4)?;
        let mut op = self.op(run);
        op.a = self.src(&inst.operands[1], a)?;
        op.b = self.src(&inst.operands[2], b)?;
        op.c = self.src(&inst.operands[3], c)?;
        op.d = self.dst(&inst.operands[0], d)?;
        self.push(op, Taint::Compute);
        Ok(())
    }

    /// The carry flag of the function: hidden state of each thread.
    pub fn carry_flag(&mut self) -> Slot {
        self.scratch(1)
    }

    /// The address of a local variable at `offset` of the frame's stack, in a temporary.
    pub fn local_address(&mut self, offset: i64) -> Slot {
        self.local_address_of(offset, 64)
    }

    fn local_address_of(&mut self, offset: i64, bits: u32) -> Slot {
        let slot = self.allocate(bits);
        let mut op = self.op(special::local_address);
        op.d = slot;
        op.imm = offset;
        op.list = bits;
        let (reads, writes) = (std::mem::take(&mut self.reads), std::mem::take(&mut self.writes));
        let class = std::mem::replace(&mut self.class, Class::Move);
        self.writes.push(slot);
        self.push(op, Taint::Copy);
        (self.reads, self.writes, self.class) = (reads, writes, class);
        slot
    }
}

/// A placeholder that is never run.
pub unsafe fn never(_: &mut crate::exec::cx::Cx<'_>, _: &Op) -> Flow {
    Flow::Next
}
