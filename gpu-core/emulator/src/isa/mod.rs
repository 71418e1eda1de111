//! The instruction table. One file per family, one row per opcode; see README.md for adding one.

pub mod arithmetic;
pub mod atomic;
pub mod barrier;
pub mod bits;
pub mod builtin;
pub mod bulk;
mod bulk_codes;
mod bulk_decode;
pub mod cluster;
pub mod compare;
pub mod control;
pub mod convert;
pub mod copy;
pub mod copy_groups;
pub mod float;
mod fragment_memory;
pub mod half;
pub mod half_lanes;
pub mod half_tables;
pub mod legal;
pub mod legal_memory;
pub mod logic;
pub mod matrix;

mod matrix_memory;
pub mod mbarrier;
mod mbarrier_run;
pub mod memory;
pub mod movement;
mod multimem;
pub mod narrow;
pub mod packed;
pub mod printf;
pub mod shuffle;
pub mod st_async;
mod surface;
mod tensormap;
mod texture;
pub mod video;
mod video_scalar;
pub mod warp_ops;
pub mod wgmma;

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::decode::emit::{Decoded, Emit, Inst};
pub use crate::ptx::ty::Ty;
use crate::report::Class;

/// One row of the table.
pub struct Row {
    /// The opcode up to its first dot.
    pub opcode: &'static str,
    pub class: Class,
    /// Chooses code by modifiers and appends it; an error is what the loader reports.
    pub decode: fn(&mut Emit<'_>, &mut Inst<'_>) -> Decoded<()>,
    /// Walked by a test.
    pub examples: &'static [Example],
}

/// `ptx` computes `d` from `a`, `b`, `c` (names `%d`, `%a`, ... stand for registers of the widths given).
pub struct Example {
    /// For instance `add.s32 %d, %a, %b;`.
    pub ptx: &'static str,
    /// Bits and value of each input in the order a, b, c.
    pub inputs: &'static [(u32, u64)],
    /// Bits and value of the result.
    pub result: (u32, u64),
}

/// Shorthand for the tables.
pub const fn example(ptx: &'static str, inputs: &'static [(u32, u64)], result: (u32, u64)) -> Example {
    Example { ptx, inputs, result }
}

/// All families.
pub const FAMILIES: &[&[Row]] = &[
    arithmetic::ROWS,
    atomic::ROWS,
    barrier::ROWS,
    bits::ROWS,
    cluster::ROWS,
    compare::ROWS,
    control::ROWS,
    convert::ROWS,
    copy::ROWS,
    float::ROWS,
    logic::ROWS,
    matrix::ROWS,
    mbarrier::ROWS,
    memory::ROWS,
    movement::ROWS,
    multimem::ROWS,
    shuffle::ROWS,
    surface::ROWS,
    tensormap::ROWS,
    texture::ROWS,
    video::ROWS,
    video_scalar::ROWS,
    warp_ops::ROWS,
];

/// The row of an opcode.
pub fn find(opcode: &str) -> Option<&'static Row> {
    static INDEX: OnceLock<HashMap<&'static str, &'static Row>> = OnceLock::new();
    INDEX
        .get_or_init(|| FAMILIES.iter().flat_map(|family| family.iter()).map(|row| (row.opcode, row)).collect())
        .get(opcode)
        .copied()
}

/// Opcodes that are refused on purpose, and why.
pub fn refused(opcode: &str) -> Option<&'static str> {
    match opcode {
        "tcgen05" => {
            Some("tcgen05 (the tensor memory of sm_100 and sm_103) is not emulated; use mma.sync, or wgmma on sm_90a")
        }
        "istypep" => Some("texture references are not emulated; use texture objects"),
        _ => None,
    }
}

/// Multiply-adds of one execution of a matrix instruction by a warp: they write it into `Op::imm`'s high half.
pub fn multiply_adds(op: &crate::exec::op::Op, class: Class) -> u64 {
    if class == Class::Matrix && !op.d.is_none() { u64::from(op.d.0) } else { 0 }
}

/// An example of the table as a kernel of its own: it stores the result, zero-extended to 64 bits, at its argument.
#[derive(Clone, Debug)]
pub struct ExampleKernel {
    pub ptx: &'static str,
    /// A module with the kernel `k(out)`.
    pub kernel: String,
    pub result: u64,
}

/// All examples, ready to run.
pub fn examples() -> Vec<ExampleKernel> {
    let rows = FAMILIES.iter().flat_map(|family| family.iter());
    rows.flat_map(|row| row.examples).map(kernel_of).collect()
}

fn kernel_of(example: &'static Example) -> ExampleKernel {
    use std::fmt::Write;
    let register = |bits: u32| if bits == 1 { "pred".to_owned() } else { format!("b{}", bits.max(16)) };
    let mut body = String::new();
    for ((bits, value), name) in example.inputs.iter().zip(["a", "b", "c"]) {
        let _ = writeln!(body, ".reg .{} %{name};", register(*bits));
        let _ = match bits {
            1 => writeln!(body, "setp.ne.u32 %{name}, {value}, 0;"),
            _ => writeln!(body, "mov.b{} %{name}, {value:#x};", bits),
        };
    }
    let (bits, result) = example.result;
    let _ = write!(body, ".reg .{} %d;\n{}\n", register(bits), example.ptx);
    let widen = match bits {
        1 => "selp.b64 %w, 1, 0, %d;".to_owned(),
        64 => "mov.b64 %w, %d;".to_owned(),
        bits => format!("cvt.u64.u{bits} %w, %d;"),
    };
    let kernel = format!(
        ".version 9.0\n.target sm_120a\n.address_size 64\n.visible .entry k(.param .u64 out) {{\n.reg .b64 %p, %w;\n\
         {body}{widen}\nld.param.u64 %p, [out];\nst.global.u64 [%p], %w;\nret;\n}}\n"
    );
    ExampleKernel { ptx: example.ptx, kernel, result }
}
