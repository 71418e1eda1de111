//! Branches, calls, returns and the end.

use super::{Row, Ty};
use crate::decode::emit::{Decoded, Edge, Emit, Entity, Inst};
use crate::exec::cx::{Cx, lanes};
use crate::exec::fault::{Detail, text_of};
use crate::exec::image::{CallSite, CallTarget, ParamArea};
use crate::exec::op::{Exec, Flow, Op, Slot, Taint};
use crate::exec::sched::warp::{MAX_DEPTH, NONE};
use crate::memory::space::CODE_BASE;
use crate::ptx::tree::Operand;
use crate::report::{Class, FaultKind};

pub const ROWS: &[Row] = &[
    Row { opcode: "bra", class: Class::Branch, decode: bra, examples: &[] },
    Row { opcode: "brx", class: Class::Branch, decode: brx, examples: &[] },
    Row { opcode: "call", class: Class::Branch, decode: call, examples: &[] },
    Row { opcode: "ret", class: Class::Branch, decode: decode_ret, examples: &[] },
    Row { opcode: "exit", class: Class::Branch, decode: decode_exit, examples: &[] },
    Row { opcode: "trap", class: Class::Other, decode: decode_trap, examples: &[] },
    Row { opcode: "brkpt", class: Class::Other, decode: no_effect, examples: &[] },
    Row { opcode: "pmevent", class: Class::Other, decode: no_effect, examples: &[] },
    Row { opcode: "nanosleep", class: Class::Other, decode: nanosleep, examples: &[] },
];

fn bra(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    i.take("uni");
    i.expect(1)?;
    let Operand::Name(label) = &i.operands[0] else { return i.unsupported() };
    let target = e.target(label);
    let conditional = e.guarded();
    let op = e.op(if conditional { branch } else { jump });
    e.push_edge(op, Taint::Use, Edge::Branch(target, conditional));
    Ok(())
}

unsafe fn jump(cx: &mut Cx<'_>, op: &Op) -> Flow {
    cx.pc = op.imm as u32;
    Flow::Goto
}

/// Whether it goes elsewhere with all lanes, and does nothing else.
#[cfg(target_arch = "x86_64")]
pub fn is_jump(op: &Op) -> bool {
    std::ptr::fn_addr_eq(op.run, jump as Exec)
}

/// A guarded branch: `mask` holds the lanes that take it.
unsafe fn branch(cx: &mut Cx<'_>, op: &Op) -> Flow {
    if cx.mask == cx.active {
        cx.pc = op.imm as u32;
        return Flow::Goto;
    }
    if cx.watch & crate::exec::cx::watch::COUNT != 0 {
        cx.worker.counts.divergent(cx.pc);
    }
    let next = cx.pc + 1;
    cx.diverge(cx.mask, op.imm as u32, next, op.list)
}

fn brx(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    if !i.take("idx") {
        return i.unsupported();
    }
    i.take("uni");
    i.expect(2)?;
    let Operand::Name(table) = &i.operands[1] else { return i.unsupported() };
    let Some(Entity::Targets(names)) = e.find(table) else {
        return Err(format!("`{table}` is no `.branchtargets` list"));
    };
    let targets: Vec<_> = names.iter().map(|name| e.target(name)).collect();
    let mut op = e.op(branch_table);
    op.a = e.src(&i.operands[0], Ty::U32)?;
    op.list = e.tables.len() as u32;
    e.tables.push(Vec::new());
    e.table_fixups.push((op.list as usize, targets.clone()));
    e.push_edge(op, Taint::Use, Edge::Table(targets));
    Ok(())
}

/// Lanes with the same target leave together; the rest comes back to this instruction.
unsafe fn branch_table(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let table = &cx.image().branch_tables[op.list as usize];
    let first = cx.mask.trailing_zeros() as usize & 31;
    // SAFETY: slots of a decoded instruction.
    let index = unsafe { cx.lane::<u32>(op.a, first) };
    let mut same = 0;
    for lane in lanes(cx.mask) {
        // SAFETY: slots of a decoded instruction.
        same |= u32::from(unsafe { cx.lane::<u32>(op.a, lane) } == index) << lane;
    }
    let Some(&target) = table.get(index as usize) else {
        let message = format!("{} branches to entry {index} of a table of {}", text_of(&cx.thread(first)), table.len());
        let pc = cx.pc;
        cx.fault(FaultKind::OutOfBounds, pc, Some(first), same.count_ones(), message, Detail::default());
        return Flow::Next;
    };
    if same == cx.active {
        cx.pc = target;
        return Flow::Goto;
    }
    if cx.watch & crate::exec::cx::watch::COUNT != 0 {
        cx.worker.counts.divergent(cx.pc);
    }
    let here = if cx.mask == cx.active { cx.pc } else { cx.pc + 1 };
    cx.diverge(same, target, here, op.list_len)
}

fn call(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    i.take("uni");
    let mut operands = i.operands.iter().peekable();
    let results = match operands.peek() {
        Some(Operand::List(list)) => {
            operands.next();
            areas(e, list)?
        }
        _ => Vec::new(),
    };
    let Some(Operand::Name(name)) = operands.next() else { return i.unsupported() };
    let arguments = match operands.peek() {
        Some(Operand::List(list)) => areas(e, list)?,
        _ => Vec::new(),
    };
    let mut op = e.op(call_exec);
    let mut dead = false;
    let target = match e.find(name) {
        Some(Entity::Function(index)) => {
            e.called.push(index);
            CallTarget::Function(index)
        }
        Some(Entity::Builtin(run)) => {
            op.run = call_builtin;
            dead = *name == "__assertfail";
            e.needs.heap |= matches!(*name, "malloc" | "free");
            e.needs.order |= *name == "vprintf";
            CallTarget::Builtin(run)
        }
        Some(Entity::Reg(reg)) => {
            e.calls_indirectly = true;
            e.reads.push(reg.slot);
            op.a = reg.slot;
            CallTarget::Indirect
        }
        Some(Entity::Prototype) => {
            let known = super::builtin::BUILTINS.map(|(name, _)| name).join(", ");
            return Err(format!("function `{name}` has no body; built in are only {known}"));
        }
        _ => return Err(format!("`{name}` is no function")),
    };
    op.list = e.calls.len() as u32;
    for area in &results {
        for word in 0..area.bytes.div_ceil(4) {
            e.writes.push(Slot(area.slot.0 + word * 128));
        }
    }
    e.calls.push(CallSite { target, arguments, results });
    let conditional = e.guarded();
    let edge = if dead { Edge::Dead { conditional } } else { Edge::Next };
    e.push_edge(op, Taint::Call, edge);
    Ok(())
}

fn areas(e: &Emit<'_>, list: &[Operand<'_>]) -> Decoded<Vec<ParamArea>> {
    list.iter()
        .map(|operand| match operand {
            Operand::Name(name) => match e.find(name) {
                Some(Entity::FrameParam(area)) => Ok(area),
                // `call (%r1), f, (%r2)`: registers passed directly are one word each.
                Some(Entity::Reg(reg)) if reg.bits == 32 => Ok(ParamArea { slot: reg.slot, bytes: 4 }),
                _ => Err(format!("`{name}` cannot be passed; use a `.param` variable")),
            },
            _ => Err("only `.param` variables can be passed".to_owned()),
        })
        .collect()
}

unsafe fn call_builtin(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let site = &cx.image().calls[op.list as usize];
    let CallTarget::Builtin(run) = site.target else { return Flow::Next };
    // SAFETY: passed on.
    unsafe { run(cx, op, site) }
}

unsafe fn call_exec(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let image = cx.image();
    let site = &image.calls[op.list as usize];
    let (pc, next) = (cx.pc, cx.pc + 1);
    if cx.mask != cx.active {
        // The lanes that call come back here alone; the others wait behind.
        return cx.diverge(cx.mask, pc, next, next);
    }
    let target = match site.target {
        CallTarget::Function(index) => index,
        CallTarget::Builtin(_) => return Flow::Next,
        CallTarget::Indirect => {
            let first = cx.mask.trailing_zeros() as usize & 31;
            // SAFETY: slots of a decoded instruction.
            let address = unsafe { cx.lane::<u64>(op.a, first) };
            let mut same = 0;
            for lane in lanes(cx.mask) {
                // SAFETY: slots of a decoded instruction.
                same |= u32::from(unsafe { cx.lane::<u64>(op.a, lane) } == address) << lane;
            }
            if same != cx.active {
                return cx.diverge(same, pc, pc, next);
            }
            let index = address.wrapping_sub(CODE_BASE) / 16;
            let known = address >= CODE_BASE
                && address.is_multiple_of(16)
                && image.functions.get(index as usize).is_some_and(|function| {
                    function.params.len() == site.arguments.len() && function.results.len() == site.results.len()
                });
            if !known {
                let message = format!(
                    "{} calls through the pointer {address:#x}, which is no function of this signature",
                    text_of(&cx.thread(first))
                );
                cx.fault(FaultKind::OutOfBounds, pc, Some(first), same.count_ones(), message, Detail::default());
                return Flow::Next;
            }
            index as u32
        }
    };
    let callee = &image.functions[target as usize];
    let frame = cx.warp.frame(cx.warp.splits[cx.warp.current].frame);
    let end = frame.local_top + callee.local_bytes.next_multiple_of(16);
    if frame.depth >= MAX_DEPTH || end > cx.warp.local_stride {
        cx.stack_overflow(u64::from(end));
        return Flow::Next;
    }
    let caller = cx.regs;
    let mask = cx.active;
    let below = cx.warp.splits[cx.warp.current].frame;
    cx.enter(target, op.list, next);
    for (from, to) in site.arguments.iter().zip(&callee.params) {
        // SAFETY: both areas lie in their frames; the caller's frame stays alive below the callee's.
        unsafe { copy_area(caller, *from, cx.regs, *to, mask) };
    }
    if cx.tainted {
        let frame = cx.warp.splits[cx.warp.current].frame;
        cx.pass_marks(below, frame, &mut site.arguments.iter().copied().zip(callee.params.iter().copied()));
    }
    if callee.local_bytes > 0 {
        cx.forget_locals();
    }
    Flow::Goto
}

/// Copies a parameter from frame to frame in the lanes of `mask`.
unsafe fn copy_area(from: *mut u8, source: ParamArea, to: *mut u8, target: ParamArea, mask: u32) {
    let words = source.bytes.min(target.bytes).div_ceil(4) as usize;
    for word in 0..words {
        // SAFETY: the caller vouches for the frames; areas are whole rows of 128 bytes.
        unsafe {
            let row = from.add(source.slot.0 as usize + word * 128).cast::<[u32; 32]>().read();
            crate::exec::lanes::blend(mask, to.add(target.slot.0 as usize + word * 128).cast(), &row);
        }
    }
}

fn decode_ret(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    i.take("uni");
    i.expect(0)?;
    let op = e.op(ret);
    let conditional = e.guarded();
    e.push_edge(op, Taint::Use, Edge::Leave { conditional });
    Ok(())
}

/// `ret`: in a kernel the lanes end, in a function the group goes back to its caller.
pub unsafe fn ret(cx: &mut Cx<'_>, _: &Op) -> Flow {
    let frame = cx.warp.splits[cx.warp.current].frame;
    if cx.warp.frame(frame).parent == NONE {
        return cx.exit_lanes(cx.mask);
    }
    if cx.mask != cx.active {
        let (pc, next) = (cx.pc, cx.pc + 1);
        return cx.diverge(cx.mask, pc, next, NONE);
    }
    if cx.finish_call() { Flow::Goto } else { Flow::Switch }
}

impl Cx<'_> {
    /// The running group returns from its function. False: it waits for its siblings and is gone.
    pub fn finish_call(&mut self) -> bool {
        let callee = self.regs;
        let Some(left) = self.leave() else { return false };
        let image = self.image();
        let frame = self.warp.frame(left);
        let (function, call) = (frame.function, frame.call);
        let mask = self.active;
        let site = &image.calls[call as usize];
        let results = &image.functions[function as usize].results;
        for (from, to) in results.iter().zip(&site.results) {
            // SAFETY: the callee's registers live until `leave_frame`; the caller's are current.
            unsafe { copy_area(callee, *from, self.regs, *to, mask) };
        }
        if self.tainted {
            let parent = self.warp.splits[self.warp.current].frame;
            self.pass_marks(left, parent, &mut results.iter().copied().zip(site.results.iter().copied()));
            self.drop_marks(left);
        }
        self.warp.leave_frame(left, mask, &mut self.worker.registers);
        true
    }

    pub fn stack_overflow(&mut self, wanted: u64) {
        let pc = self.pc;
        let lane = self.mask.trailing_zeros() as usize & 31;
        let depth = self.warp.frame(self.warp.splits[self.warp.current].frame).depth;
        let message = format!(
            "{} needs {wanted} bytes of stack, {depth} calls deep; {} are there",
            text_of(&self.thread(lane)),
            self.warp.local_stride
        );
        self.fault(FaultKind::StackOverflow, pc, Some(lane), self.mask.count_ones(), message, Detail::default());
    }
}

fn decode_exit(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    i.expect(0)?;
    let op = e.op(exit);
    let conditional = e.guarded();
    // In a function lanes that exit return to nobody, so this is no way out that others should wait for.
    let edge = if e.entry { Edge::Exit { conditional } } else { Edge::Dead { conditional } };
    e.push_edge(op, Taint::Use, edge);
    Ok(())
}

/// Whether lanes end at it, or go back to a caller.
pub fn is_end(op: &Op) -> bool {
    std::ptr::fn_addr_eq(op.run, ret as Exec) || std::ptr::fn_addr_eq(op.run, exit as Exec)
}

unsafe fn exit(cx: &mut Cx<'_>, _: &Op) -> Flow {
    cx.exit_lanes(cx.mask)
}

fn decode_trap(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    i.expect(0)?;
    let op = e.op(trap);
    let conditional = e.guarded();
    e.push_edge(op, Taint::Use, Edge::Dead { conditional });
    Ok(())
}

unsafe fn trap(cx: &mut Cx<'_>, _: &Op) -> Flow {
    let lane = cx.mask.trailing_zeros() as usize & 31;
    let mut message = format!("{} reached a trap", text_of(&cx.thread(lane)));
    if cx.image().uses_workspace && cx.grid.workspace == 0 {
        // The likely reason, and none that the source shows.
        message += "; the kernel asks for the barrier of its grid (`this_grid().sync()`), and this is not a cooperative \
                    launch, where there is none";
    }
    let pc = cx.pc;
    cx.fault(FaultKind::Trap, pc, Some(lane), cx.mask.count_ones(), message, Detail::default());
    cx.exit_lanes(cx.mask)
}

fn no_effect(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    i.take_where(|_| true);
    let op = e.op(super::memory::nothing);
    e.push(op, Taint::Copy);
    Ok(())
}

fn nanosleep(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    i.ty()?;
    i.expect(1)?;
    let mut op = e.op(sleep);
    op.a = e.src(&i.operands[0], Ty::U32)?;
    e.push(op, Taint::Use);
    Ok(())
}

/// Sleeping is giving way.
unsafe fn sleep(_: &mut Cx<'_>, _: &Op) -> Flow {
    Flow::Yield
}
