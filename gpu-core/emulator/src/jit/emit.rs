//! Puts the code of stretches together.

use std::collections::HashMap;
use std::mem::offset_of;
use std::ops::Range;

use dynasmrt::x64::Assembler;
use dynasmrt::{AssemblyOffset, DynamicLabel, DynasmApi, DynasmLabelApi, ExecutableBuffer, dynasm};

use super::constants::Constants;
use super::hammock::{Hammock, Left, Within, masks};
use super::meeting::gives_turn;
use super::shuffle::Tables;
use super::written::Routines;
use super::x86::step;
use crate::exec::cx::Cx;
use crate::exec::image::Image;
use crate::exec::memory::access::window_from;
use crate::exec::op::{CONDITIONAL, Op, Slot};
use crate::exec::opcode::opcode;
use crate::exec::template::{Made, Native};
use crate::memory::space::Window;
use crate::report::Class;

/// Rows of 32 bits that four vector registers each may hold: the first twelve of them. The others are for the instruction at
/// hand.
const GROUPS: usize = 3;
/// Address registers of which it is remembered how their lanes lie.
pub const SEEN: usize = 6;
/// What code has on the stack: those, and what it keeps where only some lanes run ([`super::hammock`]).
const FRAME: i32 = 8 * SEEN as i32 + 8 + super::hammock::KEPT;
/// Instructions of a function, at most: what has more hardly runs any of them often.
const MOST: usize = 50_000;

/// Where an operand's row is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// In the four vector registers of a group.
    Group(usize),
    /// So many bytes into the frame, or the pool.
    Frame(i32),
    Pool(i32),
}

/// What is done when a template finds something unusual: apart, behind the stretch.
struct Apart {
    from: DynamicLabel,
    back: DynamicLabel,
    pc: u32,
    /// Where it leaves, and whether only some lanes run.
    leave: DynamicLabel,
    some: bool,
    /// What vector registers hold behind it, and whether the machine flushes there.
    held: [Option<Slot>; GROUPS],
    flushing: bool,
    /// Address registers seen so far.
    seen: usize,
}

pub struct Emitter<'i> {
    pub ops: Assembler,
    pub image: &'i Image,
    /// The rows that groups hold as well as memory, and when each was last used.
    held: [Option<Slot>; GROUPS],
    used: [u32; GROUPS],
    clock: u32,
    /// The upper halves of vector registers are in use.
    pub wide: bool,
    apart: Vec<Apart>,
    /// Address registers whose lanes lie as the pattern says whose place is on the stack, for accesses of so many bytes.
    pub seen: Vec<(Slot, u64)>,
    pub leave: DynamicLabel,
    /// The hammocks that the code at hand is in, outermost first.
    pub within: Vec<Within>,
    /// Where else it leaves.
    pub left: Vec<Left>,
    /// What is still to be made behind the stretch at hand.
    pub hammocks: Vec<Hammock>,
    /// Where other stretches go on to those that are made, behind what each begins with, and how many instructions they have.
    pub blocks: HashMap<u32, (DynamicLabel, u32)>,
    /// Subnormals are flushed by the machine.
    flushing: bool,
    pub made: Made,
    /// It may be found that no two threads meet in shared memory ([`crate::analysis::barrier_intervals`]): else all that is watched there
    /// would find that something is to be checked.
    separable: bool,
    pub routines: Routines,
    pub tables: Tables,
    pub constants: Constants,
    /// Registers that hold a number of the text, which is in the pool.
    pub numbers: HashMap<Slot, Slot>,
}

/// The code of a stretch.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// Null for none.
    pub at: *const u8,
    /// The same behind what it begins with, for other such code.
    pub inside: *const u8,
    /// Instructions that it stands for.
    pub count: u32,
}

/// The code of a function's stretches, by the instruction that each begins at.
pub fn code(image: &Image, function: usize, made: Made) -> Option<(ExecutableBuffer, Vec<Stretch>)> {
    let entry = &image.functions[function];
    let range = image.code_of(entry);
    let code = &image.code[range.clone()];
    if code.len() > MOST {
        return None;
    }
    let mut entries = Vec::new();
    let mut ops = Assembler::new().ok()?;
    let leave = ops.new_dynamic_label();
    let mut emitter = Emitter {
        ops,
        image,
        held: [None; GROUPS],
        used: [0; GROUPS],
        clock: 0,
        wide: false,
        apart: Vec::new(),
        seen: Vec::new(),
        leave,
        within: Vec::new(),
        left: Vec::new(),
        hammocks: Vec::new(),
        blocks: HashMap::new(),
        flushing: false,
        made,
        separable: image.plan(function).is_some(),
        routines: Routines::default(),
        tables: Tables::default(),
        constants: Constants::default(),
        numbers: entry.of_launch.iter().filter_map(|pc| number(&image.code[*pc as usize])).collect(),
    };
    let leaders = leaders(image, range.clone());
    let mut blocks = Vec::new();
    for at in 0..code.len() {
        // Single ones are come to from others alone.
        if !leaders[at] || code[at].straight == 0 {
            continue;
        }
        if code[at].straight == CONDITIONAL {
            // Nothing, and the branch behind it.
            if range.start + at > 0 && emitter.is_hammock(range.start + at) {
                let label = emitter.ops.new_dynamic_label();
                emitter.blocks.insert((range.start + at) as u32, (label, 0));
                blocks.push(at..at);
            }
            continue;
        }
        let longest = at + 1..at + code[at].straight as usize;
        let end = longest.clone().find(|next| leaders[*next]).unwrap_or(longest.end);
        // With more calls than templates little is won, and nothing where accesses are watched.
        let own = code[at..end].iter().filter(|op| !emitter.is_done(op));
        let (templates, calls): (Vec<&Op>, Vec<&Op>) = own.partition(|op| emitter.has_template(op));
        if !templates.is_empty() && (!made.watched || templates.len() >= calls.len()) {
            let label = emitter.ops.new_dynamic_label();
            emitter.blocks.insert((range.start + at) as u32, (label, (end - at) as u32));
            blocks.push(at..end);
        }
    }
    for block in blocks {
        let place = emitter.stretch(range.start + block.start..range.start + block.end);
        entries.push((block.start, place, block.len()));
    }
    emitter.emit_routines();
    emitter.emit_tables();
    emitter.emit_constants();
    let buffer = emitter.ops.finalize().ok()?;
    if entries.is_empty() {
        return None;
    }
    let mut stretches = vec![Stretch { at: std::ptr::null(), inside: std::ptr::null(), count: 0 }; code.len()];
    for (at, (place, inside), count) in entries {
        stretches[at] = Stretch { at: buffer.ptr(place), inside: buffer.ptr(inside), count: count as u32 };
    }
    Some((buffer, stretches))
}

/// The register that an instruction puts a number into, and where that is.
fn number(op: &Op) -> Option<(Slot, Slot)> {
    (op.native == Native::Mov32 && op.a.is_pool()).then_some((op.d, op.a))
}

/// For each instruction whether the loop over instructions may come to it otherwise than from the one before: where
/// branches lead and lanes meet, and behind branches and barriers.
fn leaders(image: &Image, range: Range<usize>) -> Vec<bool> {
    let mut leads = vec![false; range.len()];
    let mut lead = |pc: usize| {
        if let Some(lead) = pc.checked_sub(range.start).and_then(|at| leads.get_mut(at)) {
            *lead = true;
        }
    };
    lead(range.start);
    for pc in range.clone() {
        let op = &image.code[pc];
        match image.infos[pc].class {
            Class::Branch if opcode(image.text(pc as u32)).starts_with("bra") => {
                [op.imm as u32, op.list].iter().for_each(|to| lead(*to as usize));
            }
            Class::Branch => lead(op.list_len as usize),
            Class::Barrier => {}
            _ if matches!(op.straight, 0 | 1 | CONDITIONAL) => {}
            _ => continue,
        }
        lead(pc + 1);
    }
    image.branch_tables.iter().flatten().for_each(|to| lead(*to as usize));
    leads
}

impl Emitter<'_> {
    /// Gives where it begins, and where others go on with it. `rbx`: the state; `r12`: the frame's registers; `r13`: the pool; `r14`: the cells; `rbp`: the patterns; `r15`: the code
    /// of the image.
    fn stretch(&mut self, stretch: Range<usize>) -> (AssemblyOffset, AssemblyOffset) {
        let entry = self.ops.offset();
        self.leave = self.ops.new_dynamic_label();
        self.forget_all();
        self.wide = false;
        self.flushing = false;
        dynasm!(self.ops
            ; .arch x64
            ; push rbx
            ; push rbp
            ; push r12
            ; push r13
            ; push r14
            ; push r15
            ; sub rsp, FRAME
            ; mov rbx, rdi
            ; mov r15, rsi
            ; mov r14, rdx
            ; mov rbp, rcx
            ; mov r12, [rbx + offset_of!(Cx<'static>, regs) as i32]
            ; mov r13, [rbx + offset_of!(Cx<'static>, pool) as i32]
        );
        let inside = self.ops.offset();
        if let Some((label, _)) = self.blocks.get(&(stretch.start as u32)) {
            dynasm!(self.ops; .arch x64; =>*label);
        }
        let jump = self.jump_of(&stretch);
        for pc in stretch.start..stretch.end - usize::from(jump.is_some()) {
            let op = &self.image.code[pc];
            if !self.is_done(op) {
                self.instruction(pc as u32, op);
            }
        }
        self.flush(false);
        if self.wide {
            dynasm!(self.ops; .arch x64; vzeroupper);
        }
        self.go_on(&stretch, jump);
        let leave = self.leave;
        dynasm!(self.ops
            ; .arch x64
            ; =>leave
            ; add rsp, FRAME
            ; pop r15
            ; pop r14
            ; pop r13
            ; pop r12
            ; pop rbp
            ; pop rbx
            ; ret
        );
        for hammock in std::mem::take(&mut self.hammocks) {
            self.hammock(&hammock);
        }
        for apart in std::mem::take(&mut self.apart) {
            self.run_apart(&apart);
        }
        (entry, inside)
    }

    /// Whether the registers have its results before the code begins.
    pub fn is_done(&self, op: &Op) -> bool {
        op.of_launch && self.made.launch_constants
    }

    pub fn instruction(&mut self, pc: u32, op: &Op) {
        let done = !gives_turn(op)
            && self.has_template(op)
            && (self.within.is_empty() || masks(op))
            && match op.native.access() {
                Some(_) => self.access(pc, op),
                None => self.lanes(pc, op, op.native),
            };
        if !done {
            self.settle();
            match gives_turn(op) {
                true => self.turn(pc),
                false => self.call(pc),
            }
            self.forget_all();
        }
    }

    /// Where the stretch at hand leaves.
    pub fn leave(&self) -> DynamicLabel {
        self.leave
    }

    /// Whether there is code for an instruction that is more than a call. At a barrier and at the end it is the way to the next warp.
    fn has_template(&self, op: &Op) -> bool {
        if gives_turn(op) {
            return true;
        }
        match op.native.access() {
            Some(_) => !self.made.watched || self.separable || window_from(op.e.0) != Window::Shared,
            None if op.native == Native::Shuffle => !op.d.is_none() && self.has_numbers(op),
            None if op.native == Native::Vote => !op.d.is_none() && self.all_vote(op),
            None => op.native != Native::No && !op.d.is_none() && !self.is_done(op),
        }
    }

    /// Lets the machine flush subnormals, or not, as it does outside.
    pub fn flush(&mut self, flushing: bool) {
        if std::mem::replace(&mut self.flushing, flushing) != flushing {
            let mode = self.mode(flushing);
            dynasm!(self.ops; .arch x64; ldmxcsr DWORD [=>mode]);
        }
    }

    /// Vector registers, and the machine, as what is not of this code wants them.
    pub fn settle(&mut self) {
        self.flush(false);
        if std::mem::replace(&mut self.wide, false) {
            dynasm!(self.ops; .arch x64; vzeroupper);
        }
    }

    /// Says that the lanes in `eax` stand at `pc`, and names it and its instruction to what is called next.
    pub fn stands_at(&mut self, pc: u32) {
        dynasm!(self.ops
            ; .arch x64
            ; mov [rbx + offset_of!(Cx<'static>, mask) as i32], eax
            ; mov DWORD [rbx + offset_of!(Cx<'static>, pc) as i32], pc as i32
            ; mov rdi, rbx
            ; lea rsi, [r15 + (pc as usize * size_of::<Op>()) as i32]
        );
    }

    /// Calls the function of an instruction for the lanes that run. Rows may be others afterwards.
    fn call(&mut self, pc: u32) {
        match self.within.is_empty() {
            true => dynasm!(self.ops; .arch x64; mov eax, -1),
            false => dynasm!(self.ops; .arch x64; mov eax, [rbx + offset_of!(Cx<'static>, active) as i32]),
        }
        self.call_for(pc);
    }

    /// The same for the lanes in `eax`.
    pub fn call_for(&mut self, pc: u32) {
        let (leave, go_on) = (self.leave, self.ops.new_dynamic_label());
        self.stands_at(pc);
        dynasm!(self.ops
            ; .arch x64
            ; mov rdx, QWORD self.image.code[pc as usize].run as *const () as i64
            ; mov rax, QWORD step as *const () as i64
            ; call rax
            ; mov r12, [rbx + offset_of!(Cx<'static>, regs) as i32]
            ; test eax, eax
            ; jz =>go_on
            ; mov ecx, pc as i32
            ; shl rcx, 8
            ; or rax, rcx
            ; jmp =>leave
            ; =>go_on
        );
    }

    /// The way from `from` to `back` by the function of the instruction at `pc`, with vector registers as they are behind the
    /// template, where this is called.
    pub fn apart(&mut self, pc: u32, from: DynamicLabel, back: DynamicLabel) {
        let (held, flushing, seen) = (self.held, self.flushing, self.seen.len());
        let (leave, some) = (self.leave, !self.within.is_empty());
        self.apart.push(Apart { from, back, pc, leave, some, held, flushing, seen });
    }

    fn run_apart(&mut self, apart: &Apart) {
        let (from, back) = (apart.from, apart.back);
        dynasm!(self.ops; .arch x64; =>from; vzeroupper);
        self.flushing = apart.flushing;
        self.flush(false);
        self.leave = apart.leave;
        self.within = if apart.some { vec![Within::ANY] } else { Vec::new() };
        self.call(apart.pc);
        self.within.clear();
        self.flush(apart.flushing);
        // The function may have found new patterns in place of old ones.
        for index in 0..apart.seen {
            dynasm!(self.ops; .arch x64; mov QWORD [rsp + 8 * index as i32], 0);
        }
        for (group, slot) in apart.held.iter().enumerate() {
            if let Some(slot) = slot {
                for part in 0..4 {
                    let (to, from) = (register(group, part), slot.0 as i32 + 32 * part);
                    dynasm!(self.ops; .arch x64; vmovups Ry(to), [r12 + from]);
                }
            }
        }
        dynasm!(self.ops; .arch x64; jmp =>back);
    }

    /// Where the row of an operand is.
    pub fn row(&mut self, slot: Slot) -> Row {
        if slot.is_pool() {
            return Row::Pool((slot.0 & !Slot::POOL) as i32);
        }
        self.clock += 1;
        match self.held.iter().position(|held| *held == Some(slot)) {
            Some(group) => {
                self.used[group] = self.clock;
                Row::Group(group)
            }
            None => Row::Frame(slot.0 as i32),
        }
    }

    /// A group for a result: the one that was not used for longest. What it held is in memory as well.
    pub fn group(&mut self) -> usize {
        let group = (0..GROUPS).min_by_key(|group| self.used[*group]).unwrap_or(0);
        self.clock += 1;
        self.used[group] = self.clock;
        self.held[group] = None;
        self.wide = true;
        group
    }

    /// A row of `bytes` has a new value, which `group` holds if that is named.
    pub fn wrote(&mut self, slot: Slot, bytes: u32, group: Option<usize>) {
        if !self.within.is_empty() && bytes >= 128 {
            self.write_some(slot, bytes, group);
        }
        let meets = |held: Slot, size: u32| !held.is_none() && held.0 < slot.0 + bytes && slot.0 < held.0 + size;
        for held in &mut self.held {
            if held.is_some_and(|held| meets(held, 128)) {
                *held = None;
            }
        }
        self.seen.iter_mut().filter(|(seen, _)| meets(*seen, 256)).for_each(|(seen, _)| *seen = Slot::NONE);
        if let Some(group) = group {
            self.held[group] = Some(slot);
        }
    }

    /// Vector registers are used that no group has.
    pub fn widen(&mut self) {
        self.wide = true;
    }

    /// No group holds anything any more.
    pub fn empty(&mut self) {
        self.held = [None; GROUPS];
    }

    pub fn forget_all(&mut self) {
        self.empty();
        self.seen.clear();
    }
}

/// The vector register that holds eight lanes of a group's row.
pub fn register(group: usize, part: i32) -> u8 {
    (4 * group) as u8 + part as u8
}
