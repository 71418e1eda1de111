//! Registers that hold the same in all warps of a launch: parameters, the sizes of grid and block, and what is made of
//! them alone. A third of a short kernel's instructions give nothing else, so that each worker runs these once for each
//! set of registers it hands to warps ([`crate::exec::warp::Bank`]), and passes over them afterwards.

use std::collections::{HashMap, HashSet};

use crate::check::undefined::opcode;
use crate::exec::image::{Site, Texts};
use crate::exec::op::{CONDITIONAL, Op, OpInfo, Slot, Taint};
use crate::isa::special::is_of_launch;

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

/// The instructions of a kernel that give such registers, in an order in which they can run.
/// Sets [`Op::of_launch`] and [`Op::skip`] of the others before them; `straight` must be known.
///
/// Such a register is written by that instruction only and read by nothing that may come before it, so that whoever
/// reads it finds the one value it ever has.
pub fn find(code: &mut [Op], kernel: &Kernel<'_>) -> Vec<u32> {
    let code = &mut code[kernel.first_pc as usize..];
    let infos = &kernel.infos[kernel.first_pc as usize..];
    let mut writers: HashMap<Slot, u32> = HashMap::new();
    for slot in infos.iter().flat_map(|info| &info.writes) {
        *writers.entry(*slot).or_default() += 1;
    }
    let undefined: HashSet<Slot> = kernel.undefined.iter().copied().collect();
    let mut same: HashSet<Slot> = HashSet::new();
    let mut found = Vec::new();
    // Mostly a value is made further down than what it is made of; what is not so is found by no further round.
    for (at, op) in code.iter_mut().enumerate() {
        let info = &infos[at];
        let written = |slot: &Slot| writers[slot] == 1 && !undefined.contains(slot);
        if matches!(op.straight, 0 | CONDITIONAL)
            || info.writes.is_empty()
            || !info.writes.iter().all(written)
            || !info.reads.iter().all(|slot| same.contains(slot))
            || !depends_on_operands(op, info, kernel)
        {
            continue;
        }
        same.extend(&info.writes);
        op.of_launch = true;
        found.push(kernel.first_pc + at as u32);
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
fn depends_on_operands(op: &Op, info: &OpInfo, kernel: &Kernel<'_>) -> bool {
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
    is_of_launch(operand)
}
