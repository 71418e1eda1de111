//! Registers that hold the same in all warps of a launch: parameters, the sizes of grid and block, and what is made of
//! them alone. A third of a short kernel's instructions give nothing else, so that each worker runs these once for each
//! set of registers it hands to warps ([`crate::exec::sched::warp::Bank`]), and passes over them afterwards.

use std::collections::{HashMap, HashSet};

use crate::exec::image::{Site, Texts};
use crate::exec::op::{CONDITIONAL, Op, OpInfo, Slot, Taint};
use crate::exec::opcode::opcode;

/// What the search needs of a kernel.
pub struct Kernel<'k> {
    pub infos: &'k [OpInfo],
    pub texts: &'k Texts,
    pub sites: &'k [Site],
    /// Where it begins in all of these lists.
    pub first_pc: u32,
    pub param_bytes: u32,
    /// Registers that some path reads before it writes them.
    pub undefined: &'k [Slot],
}

/// Operations whose results depend on their operands alone.
const PURE: &[&str] = &[
    "abs", "add", "and", "bfe", "bfi", "brev", "clz", "cnot", "cvt", "cvta", "div", "fma", "lop3", "mad", "mad24",
    "max", "min", "mov", "mul", "mul24", "neg", "not", "or", "popc", "prmt", "rem", "selp", "set", "setp", "shf",
    "shl", "shr", "slct", "sub", "xor",
];

/// Registers that hold what depends on certain special registers and on parameters alone.
pub struct Same {
    /// By what gives them.
    registers: HashMap<Slot, u32>,
    /// What gives them, in an order in which it can run.
    pub instructions: Vec<u32>,
}

impl Same {
    /// Of a kernel's code, by the special registers that `is_special` says.
    ///
    /// Such a register is read by nothing that may come before what gives it, and is written by that alone, so that whoever
    /// reads it finds the one value it ever has. With `reaches`, others may write it as well: that says of a register, what
    /// gives it and who reads it whether that value comes there and no other.
    pub fn of(
        code: &[Op],
        kernel: &Kernel<'_>,
        is_special: &dyn Fn(&str) -> bool,
        reaches: Option<&dyn Fn(Slot, u32, u32) -> bool>,
    ) -> Same {
        let infos = &kernel.infos[kernel.first_pc as usize..][..code.len()];
        let mut writers: HashMap<Slot, u32> = HashMap::new();
        for slot in infos.iter().flat_map(|info| &info.writes) {
            *writers.entry(*slot).or_default() += 1;
        }
        let undefined: HashSet<Slot> = kernel.undefined.iter().copied().collect();
        let mut same = Same { registers: HashMap::new(), instructions: Vec::new() };
        // The first of several values of a register is the one that is kept.
        let mut several: HashSet<Slot> = HashSet::new();
        // Mostly a value is made further down than what it is made of; what is not so is found by no further round.
        for (at, op) in code.iter().enumerate() {
            let info = &infos[at];
            let pc = kernel.first_pc + at as u32;
            let written = |slot: &Slot| {
                let first = !same.registers.contains_key(slot) && !undefined.contains(slot);
                first && (writers[slot] == 1 || reaches.is_some())
            };
            let comes = |slot: &Slot| {
                let from = same.registers.get(slot);
                let comes = |from: &u32| reaches.is_some_and(|reaches| reaches(*slot, *from, pc));
                from.is_some_and(|from| !several.contains(slot) || comes(from))
            };
            let found = !matches!(op.straight, 0 | CONDITIONAL)
                && !info.writes.is_empty()
                && info.writes.iter().all(written)
                && info.reads.iter().all(comes)
                && depends_on_operands(op, info, kernel, is_special);
            if found {
                same.registers.extend(info.writes.iter().map(|slot| (*slot, pc)));
                several.extend(info.writes.iter().filter(|slot| writers[slot] > 1));
                same.instructions.push(pc);
            }
        }
        same
    }

    /// The instruction that gives a register.
    pub fn giver(&self, slot: Slot) -> Option<u32> {
        self.registers.get(&slot).copied()
    }
}

/// The instructions of a kernel that give values of the launch, in an order in which they can run.
/// Sets [`Op::of_launch`] and [`Op::skip`] of the others before them; `straight` must be known.
pub fn find(code: &mut [Op], kernel: &Kernel<'_>) -> Vec<u32> {
    let code = &mut code[kernel.first_pc as usize..];
    let found = Same::of(code, kernel, &is_of_launch, None).instructions;
    for pc in &found {
        code[(pc - kernel.first_pc) as usize].of_launch = true;
    }
    let mut skip = 0u8;
    for at in (0..code.len()).rev() {
        let op = &mut code[at];
        // Behind the last one of a stretch the next one begins.
        op.skip = if op.straight > 1 && op.straight != CONDITIONAL { skip } else { 0 };
        skip = if op.of_launch { op.skip.saturating_add(1) } else { 0 };
    }
    found
}

/// Whether an instruction gives the same whenever its register operands hold the same.
fn depends_on_operands(op: &Op, info: &OpInfo, kernel: &Kernel<'_>, is_special: &dyn Fn(&str) -> bool) -> bool {
    let text = kernel.texts.get(info.text);
    let opcode = opcode(text);
    if opcode.starts_with("ld.param") {
        let bytes = kernel.sites.get(op.site as usize).map_or(0, |site| i64::from(site.bytes));
        let inside = (0..=i64::from(kernel.param_bytes) - bytes).contains(&op.imm);
        return op.a.is_pool() && bytes > 0 && inside && op.imm % bytes == 0;
    }
    let name = opcode.split('.').next().unwrap_or_default();
    let pure = PURE.contains(&name)
        && !opcode.ends_with(".cc")
        && !opcode.contains(".cc.")
        && matches!(info.taint, Taint::Compute | Taint::Copy | Taint::Select)
        && op.site == 0;
    if !pure || name != "mov" || !info.reads.is_empty() || !op.a.is_none() {
        return pure;
    }
    // A special register: no operand is in the pool.
    let operand = text.rsplit(',').next().unwrap_or_default().trim().trim_end_matches(';');
    is_special(operand)
}

/// Whether a special register holds the same in all warps of a launch, if not in all lanes.
pub fn is_of_launch(name: &str) -> bool {
    let register = name.split('.').next().unwrap_or(name);
    let sizes = ["%ntid", "%nctaid", "%nwarpid", "%cluster_nctaid", "%nclusterid", "%cluster_nctarank", "WARP_SZ"];
    sizes.contains(&register) || register == "%laneid" || register.starts_with("%lanemask_")
}
