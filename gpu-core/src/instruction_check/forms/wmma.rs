//! `wmma`: the loads' fragments, and products from memory to memory, since which lane holds what is left open.

use super::super::{Arch, Fill, Probe, Value};
use super::matrix::{input_fill, output_fill};
use ptx_emulator::num::mma::form::{Form, Input, Kind, Output};
use std::fmt::Write;

const GROUP: &str = "wmma";

/// Bytes in shared memory for each of A, B, C and D: at most 32 x 16 words, one warp a block.
const PART: usize = 4096;

pub fn probes(arch: Arch) -> Vec<Probe> {
    let mut list = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for form in Form::all(true) {
        if form.check(arch.number, arch.is_specific(), arch.is_specific()).is_err() {
            continue;
        }
        list.push(product(&form));
        // Each fragment load once.
        for part in ['a', 'b', 'c'] {
            let load = Load::new(&form, part);
            if seen.insert(load.opcode(".shared")) {
                list.push(load.probe());
            }
        }
    }
    list
}

/// One `wmma.load`.
struct Load {
    part: char,
    shape: String,
    row: bool,
    ty: &'static str,
    bits: usize,
    registers: usize,
    fill: Fill,
    /// Elements between rows or columns.
    stride: usize,
}

impl Load {
    fn new(form: &Form, part: char) -> Load {
        let [a, b, c, _] = form.registers();
        let shape = format!("m{}n{}k{}", form.m, form.n, form.k);
        let of_input =
            |input: Input| (input.name(), input.container_bits(Kind::Plain) as usize, input_fill(input, Kind::Plain));
        let (row, registers, (ty, bits, fill), stride) = match part {
            'a' => (form.a_row, a, of_input(form.a), if form.a_row { form.k } else { form.m }),
            'b' => (form.b_row, b, of_input(form.b), if form.b_row { form.n } else { form.k }),
            _ => {
                let bits = match form.c {
                    Output::F16 => 16,
                    Output::F64 => 64,
                    _ => 32,
                };
                // C in the layout of B, so that both occur.
                let stride = if form.b_row { form.n } else { form.m };
                (form.b_row, c, (form.c.name(), bits, output_fill(form.c).0), stride)
            }
        };
        let bits = if ty == "f64" { 64 } else { bits };
        // Rows start at multiples of 16 bytes, and one more than that apart where the type allows it.
        let pad = if bits < 8 { 0 } else { 128 / bits };
        Load { part, shape, row, ty, bits, registers, fill, stride: stride + pad }
    }

    fn opcode(&self, space: &str) -> String {
        let layout = if self.row { "row" } else { "col" };
        format!("wmma.load.{}.sync.aligned.{layout}.{}{space}.{}", self.part, self.shape, self.ty)
    }

    fn declaration(&self) -> String {
        let width = if self.bits == 64 { 64 } else { 32 };
        format!(".reg .b{width} %{}<{}>;\n", name_of(self.part), self.registers)
    }

    fn statement(&self, address: &str) -> String {
        let stride = if self.bits < 8 { self.stride.next_multiple_of(128 / self.bits) } else { self.stride };
        format!("{} {}, [{address}], {stride};\n", self.opcode(".shared"), fragment(self.part, self.registers))
    }

    fn probe(&self) -> Probe {
        let value = if self.bits == 64 { Value::Bits64 } else { Value::Bits32 };
        let mut body = self.declaration();
        body.push_str(&self.statement("%sh"));
        for i in 0..self.registers {
            let width = value.register_bits();
            let _ = writeln!(body, "mov.b{width} %d{i}, %{}{i};", name_of(self.part));
        }
        let title = format!("{} (fragment)", self.opcode(".shared"));
        Probe::warp(GROUP, &title, Vec::new(), vec![value; self.registers], body)
            .shape(40, 32)
            .stage(&[self.fill], PART)
    }
}

fn name_of(part: char) -> String {
    format!("f{part}")
}

fn fragment(part: char, registers: usize) -> String {
    let list: Vec<String> = (0..registers).map(|i| format!("%{}{i}", name_of(part))).collect();
    format!("{{{}}}", list.join(","))
}

/// Load, multiply, store; D comes back from shared memory.
fn product(form: &Form) -> Probe {
    let name = form.opcode();
    let mut body = String::new();
    for part in ['a', 'b', 'c'] {
        body.push_str(&Load::new(form, part).declaration());
    }
    let [a, b, c, d] = form.registers();
    let (_, value) = output_fill(form.d);
    let wide = form.d == Output::F64;
    let _ = writeln!(body, ".reg .b{} %fd<{d}>;", if wide { 64 } else { 32 });
    for (index, part) in ['a', 'b', 'c'].into_iter().enumerate() {
        body.push_str(&Load::new(form, part).statement(&format!("%sh+{}", index * PART)));
    }
    let _ = writeln!(
        body,
        "{name} {}, {}, {}, {};",
        fragment('d', d),
        fragment('a', a),
        fragment('b', b),
        fragment('c', c)
    );
    let (layout, stride) = if form.a_row { ("row", form.n) } else { ("col", form.m) };
    let _ = writeln!(
        body,
        "wmma.store.d.sync.aligned.{layout}.m{}n{}k{}.shared.{} [%sh+{}], {}, {stride};\nbar.warp.sync -1;",
        form.m,
        form.n,
        form.k,
        form.d.name(),
        3 * PART,
        fragment('d', d)
    );
    // The whole of D, dealt out over the lanes.
    let words = form.m
        * form.n
        * if wide {
            64
        } else if form.d == Output::F16 {
            16
        } else {
            32
        }
        / value.register_bits() as usize;
    let bytes = value.slot_bytes();
    let _ = writeln!(body, "mad.lo.u32 %x0, %lane, {bytes}, %sh;");
    for i in 0..words / 32 {
        let _ = writeln!(body, "ld.shared.b{} %d{i}, [%x0+{}];", bytes * 8, 3 * PART + i * 32 * bytes);
    }
    let parts = [input_fill(form.a, Kind::Plain), input_fill(form.b, Kind::Plain), output_fill(form.c).0];
    Probe::warp(GROUP, &name, Vec::new(), vec![value; words / 32], body)
        .shape(40, 32)
        .tiny(10)
        .stage(&parts, PART)
        .shared(4 * PART)
}
