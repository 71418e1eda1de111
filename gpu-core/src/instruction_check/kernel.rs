//! PTX modules around probes.
//!
//! A body may use `%a0`, … (operands), `%d0`, … (results, 0 unless written), `%lane`, `%thread` (in the block), `%sh` (shared
//! address of the array), `%scratch` (global address, one piece for each thread), `%map` (the tensor map), `%x0` to `%x9` (32 bits), `%y0` to `%y9` (64
//! bits), `%h0` to `%h9` (16 bits), `%p0` to `%p19` (predicates).

use super::{Arch, Probe, Value, fill};
use std::fmt::Write;

/// Kernels of one module.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Indices of the probes, in the order of [`super::probes`].
    pub members: Vec<usize>,
    pub ptx: String,
    /// First line of each member's kernel, one-based.
    first_lines: Vec<u32>,
}

/// Kernels that one module holds: few enough that a rejected one costs little, enough that loading is no concern.
const PER_MODULE: usize = 96;

/// Splits the chosen probes into modules.
pub fn batches(arch: Arch, probes: &[Probe], chosen: &[usize]) -> Vec<Batch> {
    let mut start = 0;
    let mut batches = Vec::new();
    while start < chosen.len() {
        let group = probes[chosen[start]].group;
        let count = chosen[start..].iter().take(PER_MODULE).take_while(|at| probes[**at].group == group).count();
        batches.push(Batch::new(arch, probes, &chosen[start..start + count]));
        start += count;
    }
    batches
}

impl Batch {
    pub fn new(arch: Arch, probes: &[Probe], members: &[usize]) -> Batch {
        let mut ptx = format!(
            ".version 9.0\n.target sm_{}{}\n.address_size 64\n",
            arch.number,
            if arch.is_specific() { "a" } else { "" }
        );
        let mut lines = 3;
        let mut first_lines = Vec::new();
        for &member in members {
            first_lines.push(lines + 1);
            let kernel = text(&probes[member], member);
            lines += kernel.matches('\n').count() as u32;
            ptx.push_str(&kernel);
        }
        Batch { members: members.to_vec(), ptx, first_lines }
    }

    /// The member whose kernel a line of the module belongs to.
    pub fn member_at(&self, line: u32) -> Option<usize> {
        let at = self.first_lines.partition_point(|first| *first <= line);
        at.checked_sub(1).map(|at| self.members[at])
    }
}

/// Name of a probe's kernel.
pub fn kernel_name(index: usize) -> String {
    format!("k{index}")
}

/// Where each result starts in the output buffer, and the scratch memory behind them.
pub fn output_layout(probe: &Probe) -> (Vec<usize>, usize, usize) {
    let mut at = 0;
    let mut starts = Vec::new();
    for value in &probe.outputs {
        starts.push(at);
        at = (at + probe.cases() * value.slot_bytes()).next_multiple_of(256);
    }
    (starts, at, at + probe.cases() * probe.scratch_bytes)
}

fn text(probe: &Probe, index: usize) -> String {
    let mut out = String::new();
    let (inputs, staged_at) = fill::layout(probe);
    let (outputs, scratch_at, _) = output_layout(probe);
    let name = kernel_name(index);
    let [grid, block] = probe.extents();
    let _ = writeln!(out, "// {}", probe.name);
    let _ = writeln!(
        out,
        ".visible .entry {name}(.param .u64 {name}_in, .param .u64 {name}_out{})\n.maxntid {}, {}, {}{}",
        if probe.map.is_some() { format!(", .param .align 64 .b8 {name}_map[128]") } else { String::new() },
        block[0],
        block[1],
        block[2],
        if probe.cluster > 1 { format!("\n.reqnctapercluster {}, 1, 1", probe.cluster) } else { String::new() }
    );
    out.push_str("{\n.reg .b32 %case, %lane, %thread, %block, %sh, %x<10>;\n.reg .b64 %in, %out, %in4, %in8, %out4, %out8, %wide, %scratch, %staged, %map, %y<10>;\n.reg .b16 %h<10>;\n.reg .pred %p<20>;\n");
    for (i, fill) in probe.inputs.iter().enumerate() {
        let _ = writeln!(out, ".reg .b{} %a{i};", fill.bits());
    }
    for (i, value) in probe.outputs.iter().enumerate() {
        let _ = writeln!(out, ".reg .b{} %d{i};", value.register_bits());
    }
    if probe.shared_bytes > 0 {
        let _ = writeln!(out, ".shared .align 1024 .b8 {name}_sh[{}];\nmov.u32 %sh, {name}_sh;", probe.shared_bytes);
    }
    let _ = write!(
        out,
        "ld.param.u64 %in, [{name}_in];\ncvta.to.global.u64 %in, %in;\n\
         ld.param.u64 %out, [{name}_out];\ncvta.to.global.u64 %out, %out;\n\
         {}mov.u32 %lane, %laneid;\n\
         mad.lo.u32 %case, %block, {}, %thread;\n\
         mul.wide.u32 %wide, %case, 4;\nadd.u64 %in4, %in, %wide;\nadd.u64 %out4, %out, %wide;\n\
         mul.wide.u32 %wide, %case, 8;\nadd.u64 %in8, %in, %wide;\nadd.u64 %out8, %out, %wide;\n",
        linear("%thread", "%tid", block) + &linear("%block", "%ctaid", grid),
        probe.threads
    );
    if probe.map.is_some() {
        let _ = writeln!(out, "mov.b64 %map, {name}_map;\ncvta.param.u64 %map, %map;");
    }
    if probe.scratch_bytes > 0 {
        let _ = writeln!(
            out,
            "mul.wide.u32 %wide, %case, {};\nadd.u64 %scratch, %out, %wide;\nadd.u64 %scratch, %scratch, {scratch_at};",
            probe.scratch_bytes
        );
    }
    for (i, (fill, at)) in probe.inputs.iter().zip(&inputs).enumerate() {
        let _ = match fill.bits() {
            64 => writeln!(out, "ld.global.b64 %a{i}, [%in8+{at}];"),
            bits => writeln!(out, "ld.global.b{bits} %a{i}, [%in4+{at}];"),
        };
    }
    for (i, value) in probe.outputs.iter().enumerate() {
        let _ = writeln!(out, "mov.b{} %d{i}, 0;", value.register_bits());
    }
    stage(&mut out, probe, staged_at);
    let _ = writeln!(out, "{}", probe.body);
    for (i, (value, at)) in probe.outputs.iter().zip(&outputs).enumerate() {
        let _ = match value.register_bits() {
            64 => writeln!(out, "st.global.b64 [%out8+{at}], %d{i};"),
            // 16 bits are stored as 16: ptxas 13 takes the register of `set….f16` for extended already and leaves a
            // widening out, though the hardware may have written both halves.
            16 => {
                writeln!(out, "mov.b32 %x9, 0;\nst.global.b32 [%out4+{at}], %x9;\nst.global.b16 [%out4+{at}], %d{i};")
            }
            _ => writeln!(out, "st.global.b32 [%out4+{at}], %d{i};"),
        };
    }
    out.push_str("ret;\n}\n");
    out
}

/// The number of a thread or block among `extents`.
fn linear(to: &str, register: &str, extents: [u32; 3]) -> String {
    let mut out = format!("mov.u32 {to}, {register}.x;\n");
    if extents[1] * extents[2] > 1 {
        let _ = write!(
            out,
            "mov.u32 %x0, {register}.y;\nmad.lo.u32 {to}, %x0, {}, {to};\nmov.u32 %x0, {register}.z;\n\
             mad.lo.u32 {to}, %x0, {}, {to};\n",
            extents[0],
            extents[0] * extents[1]
        );
    }
    out
}

/// Copies the block's share of the staged data to shared memory, 16 bytes a thread and step.
fn stage(out: &mut String, probe: &Probe, at: usize) {
    let Some(staged) = &probe.staged else { return };
    let _ = write!(
        out,
        "mul.wide.u32 %wide, %block, {};\nadd.u64 %staged, %in, %wide;\nmul.wide.u32 %wide, %thread, 16;\n\
         add.u64 %staged, %staged, %wide;\nshl.b32 %x0, %thread, 4;\nadd.u32 %x0, %x0, %sh;\n",
        staged.bytes()
    );
    let step = probe.threads * 16;
    for first in (0..staged.bytes()).step_by(step) {
        let inside = staged.bytes() - first;
        if inside < step {
            let _ = writeln!(out, "setp.lt.u32 %p0, %thread, {};", inside / 16);
        }
        let guard = if inside < step { "@%p0 " } else { "" };
        let _ = write!(
            out,
            "{guard}ld.global.v4.b32 {{%x1, %x2, %x3, %x4}}, [%staged+{}];\n\
             {guard}st.shared.v4.b32 [%x0+{first}], {{%x1, %x2, %x3, %x4}};\n",
            at + first
        );
    }
    out.push_str("fence.proxy.async;\nbar.sync 0;\n");
}

impl Value {
    /// Width of the register that holds a result.
    pub fn register_bits(self) -> u32 {
        match self {
            Value::Bits16 | Value::F16 | Value::Bf16 => 16,
            Value::Bits64 | Value::F64 => 64,
            _ => 32,
        }
    }

    pub fn slot_bytes(self) -> usize {
        if self.register_bits() == 64 { 8 } else { 4 }
    }
}
