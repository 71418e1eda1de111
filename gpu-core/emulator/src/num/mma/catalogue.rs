//! Every form there is, and how it is written: for tests and tools that walk the whole table.

use super::super::Rounding;
use super::Element;
use super::form::{Form, Input, Kind, Output, Scale, Sparse};
use super::integer::BitOp;
use super::scaled::ScaleType;

const INPUTS: [(&str, Input); 14] = [
    ("f16", Input::Float(Element::F16)),
    ("bf16", Input::Float(Element::Bf16)),
    ("tf32", Input::Float(Element::Tf32)),
    ("e4m3", Input::Float(Element::E4m3)),
    ("e5m2", Input::Float(Element::E5m2)),
    ("e3m2", Input::Float(Element::E3m2)),
    ("e2m3", Input::Float(Element::E2m3)),
    ("e2m1", Input::Float(Element::E2m1)),
    ("f64", Input::F64),
    ("s8", Input::Int { bits: 8, signed: true }),
    ("u8", Input::Int { bits: 8, signed: false }),
    ("s4", Input::Int { bits: 4, signed: true }),
    ("u4", Input::Int { bits: 4, signed: false }),
    ("b1", Input::Bit),
];

const OUTPUTS: [(&str, Output); 4] =
    [("f16", Output::F16), ("f32", Output::F32), ("f64", Output::F64), ("s32", Output::S32)];

impl Input {
    /// The type's name in an opcode.
    pub fn name(self) -> &'static str {
        INPUTS.iter().find(|(_, input)| *input == self).map_or("", |(name, _)| name)
    }
}

impl Output {
    /// The type's name in an opcode.
    pub fn name(self) -> &'static str {
        OUTPUTS.iter().find(|(_, output)| *output == self).map_or("", |(name, _)| name)
    }
}

/// Kinds with the scales they can have.
const KINDS: [(Kind, &[Option<Scale>]); 5] = [
    (Kind::Plain, &[None]),
    (Kind::F8f6f4, &[None]),
    (Kind::Mxf8f6f4, &[Some(Scale { per_row: 1, ty: ScaleType::Ue8m0 })]),
    (Kind::Mxf4, &[Some(Scale { per_row: 2, ty: ScaleType::Ue8m0 })]),
    (
        Kind::Mxf4nvf4,
        &[
            Some(Scale { per_row: 2, ty: ScaleType::Ue8m0 }),
            Some(Scale { per_row: 4, ty: ScaleType::Ue8m0 }),
            Some(Scale { per_row: 4, ty: ScaleType::Ue4m3 }),
        ],
    ),
];

impl Form {
    /// Every form that some architecture has: of `mma`, or of `wmma.mma`.
    pub fn all(wmma: bool) -> Vec<Form> {
        let shapes: Vec<(usize, usize, usize)> = if wmma {
            vec![(16, 16, 16), (32, 8, 16), (8, 32, 16), (16, 16, 8), (8, 8, 4), (8, 8, 32), (8, 8, 128)]
        } else {
            [8, 16].iter().flat_map(|m| [4, 8, 16, 32, 64, 128, 256].map(|k| (*m, 8, k))).collect()
        };
        let sparsities: &[Option<Sparse>] =
            if wmma { &[None] } else { &[None, Some(Sparse { ordered: false }), Some(Sparse { ordered: true })] };
        let mut all = Vec::new();
        for (m, n, k) in shapes {
            for (_, a) in INPUTS {
                for (_, b) in INPUTS {
                    for (_, c) in OUTPUTS {
                        for (_, d) in OUTPUTS {
                            for &sparse in sparsities {
                                let form = Form {
                                    m,
                                    n,
                                    k,
                                    a,
                                    b,
                                    c,
                                    d,
                                    a_row: true,
                                    b_row: false,
                                    saturate: false,
                                    bit_op: BitOp::Xor,
                                    kind: Kind::Plain,
                                    scale: None,
                                    sparse,
                                    rounding: Rounding::Rn,
                                    wmma,
                                };
                                all.extend(form.variants());
                            }
                        }
                    }
                }
            }
        }
        all
    }

    /// The kinds, layouts, saturations and bit operations of a shape with its types, as far as they exist.
    fn variants(self) -> Vec<Form> {
        let mut list = Vec::new();
        for (kind, scales) in KINDS {
            if self.wmma && kind != Kind::Plain {
                continue;
            }
            for &scale in scales {
                for (a_row, b_row) in [(true, false), (true, true), (false, false), (false, true)] {
                    list.push(Form { kind, scale, a_row, b_row, ..self });
                }
            }
        }
        list.retain(Form::exists);
        if matches!(self.a, Input::Int { .. }) {
            list.extend(list.clone().into_iter().map(|form| Form { saturate: true, ..form }));
        }
        if self.a == Input::Bit {
            list.extend(list.clone().into_iter().map(|form| Form { bit_op: BitOp::And, ..form }));
        }
        list
    }

    /// The opcode in the order of the PTX manual.
    pub fn opcode(&self) -> String {
        let layout = |row: bool| if row { "row" } else { "col" };
        let layouts = format!("{}.{}", layout(self.a_row), layout(self.b_row));
        let shape = format!("m{}n{}k{}", self.m, self.n, self.k);
        let bit = match (self.a, self.bit_op) {
            (Input::Bit, BitOp::Xor) => ".xor.popc",
            (Input::Bit, BitOp::And) => ".and.popc",
            _ => "",
        };
        let types = if self.wmma && self.a == Input::Float(Element::F16) {
            format!("{}.{}", self.d.name(), self.c.name())
        } else {
            format!("{}.{}.{}.{}", self.d.name(), self.a.name(), self.b.name(), self.c.name())
        };
        let saturate = if self.saturate { ".satfinite" } else { "" };
        if self.wmma {
            return format!("wmma.mma{bit}.sync.aligned.{layouts}.{shape}.{types}{saturate}");
        }
        let sparse = match self.sparse {
            None => "",
            Some(Sparse { ordered: false }) => ".sp",
            Some(Sparse { ordered: true }) => ".sp::ordered_metadata",
        };
        let kind = match self.kind {
            Kind::Plain => "",
            Kind::F8f6f4 => ".kind::f8f6f4",
            Kind::Mxf8f6f4 => ".kind::mxf8f6f4",
            Kind::Mxf4 => ".kind::mxf4",
            Kind::Mxf4nvf4 => ".kind::mxf4nvf4",
        };
        let (block, scale) = match self.scale {
            None => (String::new(), ""),
            Some(scale) => (
                format!(".block_scale.scale_vec::{}X", scale.per_row),
                if scale.ty == ScaleType::Ue8m0 { ".ue8m0" } else { ".ue4m3" },
            ),
        };
        format!("mma{sparse}.sync.aligned.{shape}.{layouts}{saturate}{kind}{block}.{types}{scale}{bit}")
    }
}
