//! `mma.sync` and `mma.sp`: every shape, type and layout that the emulator's table has for the architecture.

use super::super::{Arch, Fill, Probe, Value};
use super::vector;
use ptx_emulator::num::mma::Element;
use ptx_emulator::num::mma::form::{Form, Input, Kind, Output};
use ptx_emulator::num::mma::sparse::Pattern;
use std::fmt::Write;

const GROUP: &str = "mma";

/// Word fill of an operand of A or B.
pub fn input_fill(input: Input, kind: Kind) -> Fill {
    match input {
        Input::F64 => Fill::F64,
        Input::Float(Element::F16) => Fill::F16x2,
        Input::Float(Element::Bf16) => Fill::Bf16x2,
        Input::Float(Element::Tf32) => Fill::F32,
        Input::Float(Element::E4m3) if kind == Kind::Plain => Fill::E4m3x4,
        Input::Float(Element::E5m2) => Fill::E5m2x4,
        _ => Fill::Bits32,
    }
}

/// Fill and value of a register of C or D.
pub fn output_fill(output: Output) -> (Fill, Value) {
    match output {
        Output::F16 => (Fill::SumF16x2, Value::F16x2),
        Output::F32 => (Fill::SumF32, Value::F32),
        Output::F64 => (Fill::F64, Value::F64),
        Output::S32 => (Fill::Int32, Value::Bits32),
    }
}

pub fn probes(arch: Arch) -> Vec<Probe> {
    let mut list = Vec::new();
    for form in Form::all(false) {
        if form.check(arch.number, arch.is_specific(), arch.is_specific()).is_err() {
            continue;
        }
        // Which lanes hold the metadata: one of four, or one pair of two.
        let selectors: &[u32] = match form.sparse {
            None => &[0],
            Some(_) => selectors(&form),
        };
        for selector in selectors {
            list.push(probe(&form, *selector));
        }
    }
    list
}

/// The values that the manual allows for the sparsity selector.
fn selectors(form: &Form) -> &'static [u32] {
    let stored = form.stored_k() as u32 * form.a.container_bits(form.kind);
    match (form.a.pattern(form.kind), stored) {
        // The 256-bit rows of 8- and 4-bit elements take the metadata of all four lanes.
        (Pattern::TwoOfFour, 256) if form.a.container_bits(form.kind) == 8 => &[0],
        (Pattern::PairsTwoOfFour, 256) => &[0],
        (Pattern::TwoOfFour, 128) if form.a.container_bits(form.kind) == 16 => &[0, 1, 2, 3],
        (Pattern::OneOfTwo, 128) => &[0, 1, 2, 3],
        _ => &[0, 1],
    }
}

fn probe(form: &Form, selector: u32) -> Probe {
    let name = form.opcode();
    let [a, b, c, d] = form.registers();
    let (c_fill, _) = output_fill(form.c);
    let (_, value) = output_fill(form.d);
    let mut inputs = vec![input_fill(form.a, form.kind); a];
    inputs.extend(vec![input_fill(form.b, form.kind); b]);
    inputs.extend(vec![c_fill; c]);
    let mut body = format!(
        "{name} {}, {}, {}, {}",
        vector('d', 0, d),
        vector('a', 0, a),
        vector('a', a, b),
        vector('a', a + b, c)
    );
    if form.sparse.is_some() {
        let _ = write!(body, ", %a{}, {selector:#x}", inputs.len());
        inputs.push(Fill::Metadata(form.a.pattern(form.kind)));
    }
    if form.scale.is_some() {
        let _ = write!(body, ", {{%a{}}}, {{0, 0}}, {{%a{}}}, {{0, 0}}", inputs.len(), inputs.len() + 1);
        inputs.extend([Fill::Bits32; 2]);
    }
    body.push(';');
    let title = if form.sparse.is_some() { format!("{name} (selector {selector})") } else { name };
    Probe::warp(GROUP, &title, inputs, vec![value; d], body).shape(256, 128).tiny(64)
}
