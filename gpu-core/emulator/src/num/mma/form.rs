//! The forms of `mma` and `wmma.mma`: what an opcode says, and which architecture accepts it.

use super::super::Rounding;
use super::integer::BitOp;
use super::scaled::ScaleType;
use super::sparse::Pattern;
use super::{Element, Unit};

/// Element type of A or B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    Float(Element),
    F64,
    Int { bits: u32, signed: bool },
    Bit,
}

/// Type of C or D.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    F16,
    F32,
    F64,
    S32,
}

/// `.kind::…` of `mma`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Plain,
    F8f6f4,
    Mxf8f6f4,
    Mxf4,
    Mxf4nvf4,
}

/// `.block_scale`: how many scales a row has in one operation, and their type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scale {
    pub per_row: usize,
    pub ty: ScaleType,
}

/// `mma.sp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sparse {
    /// `::ordered_metadata`.
    pub ordered: bool,
}

/// One form of a matrix instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a: Input,
    pub b: Input,
    pub c: Output,
    pub d: Output,
    pub a_row: bool,
    pub b_row: bool,
    pub saturate: bool,
    pub bit_op: BitOp,
    pub kind: Kind,
    pub scale: Option<Scale>,
    pub sparse: Option<Sparse>,
    /// Of each step of an f64 chain; everything else rounds in the one way of its unit.
    pub rounding: Rounding,
    /// A `wmma.mma`: other fragment counts than `mma`.
    pub wmma: bool,
}

impl Input {
    pub fn parse(name: &str) -> Option<Input> {
        let int = |bits, signed| Some(Input::Int { bits, signed });
        let float = |element| Some(Input::Float(element));
        match name {
            "f16" => float(Element::F16),
            "bf16" => float(Element::Bf16),
            "tf32" => float(Element::Tf32),
            "e4m3" => float(Element::E4m3),
            "e5m2" => float(Element::E5m2),
            "e3m2" => float(Element::E3m2),
            "e2m3" => float(Element::E2m3),
            "e2m1" => float(Element::E2m1),
            "f64" => Some(Input::F64),
            "s8" => int(8, true),
            "u8" => int(8, false),
            "s4" => int(4, true),
            "u4" => int(4, false),
            "b1" => Some(Input::Bit),
            _ => None,
        }
    }

    /// Bits of one element in a register, for operations of this kind.
    pub fn container_bits(self, kind: Kind) -> u32 {
        match self {
            // `kind::f8f6f4` and `kind::mxf8f6f4` pad everything to a byte.
            Input::Float(_) if matches!(kind, Kind::F8f6f4 | Kind::Mxf8f6f4) => 8,
            Input::Float(element) => element.container_bits(),
            Input::F64 => 32,
            Input::Int { bits, .. } => bits,
            Input::Bit => 1,
        }
    }

    /// Whether an element of this code is zero, of either sign.
    pub fn is_zero(self, code: u32) -> bool {
        match self {
            Input::Float(element) => element.value(code) == 0.0,
            _ => code == 0,
        }
    }

    /// The 2:4 pattern of a sparse A.
    pub fn pattern(self, kind: Kind) -> Pattern {
        match self.container_bits(kind) {
            32 => Pattern::OneOfTwo,
            4 => Pattern::PairsTwoOfFour,
            _ => Pattern::TwoOfFour,
        }
    }
}

impl Output {
    pub fn parse(name: &str) -> Option<Output> {
        match name {
            "f16" => Some(Output::F16),
            "f32" => Some(Output::F32),
            "f64" => Some(Output::F64),
            "s32" => Some(Output::S32),
            _ => None,
        }
    }
}

fn shape(text: &str) -> Option<(usize, usize, usize)> {
    let (m, rest) = text.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some((m.parse().ok()?, n.parse().ok()?, k.parse().ok()?))
}

impl Form {
    /// Reads an opcode such as `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`. Modifiers may come in any order, as
    /// ptxas accepts some of them; types come in theirs.
    pub fn parse(opcode: &str) -> Result<Form, String> {
        let mut parts = opcode.split('.');
        let name = parts.next().unwrap_or_default();
        let wmma = name == "wmma";
        if wmma && parts.next() != Some("mma") {
            return Err(format!("`{opcode}` is not wmma.mma"));
        }
        let (mut dims, mut layouts, mut types) = (None, Vec::new(), Vec::new());
        let (mut saturate, mut bit_op, mut kind, mut sparse) = (false, None, Kind::Plain, None);
        let (mut block_scale, mut per_row, mut rounding) = (false, None, None);
        for part in parts {
            match part {
                "sync" | "aligned" | "popc" => {}
                "row" | "col" => layouts.push(part == "row"),
                "satfinite" => saturate = true,
                "xor" => bit_op = Some(BitOp::Xor),
                "and" => bit_op = Some(BitOp::And),
                "sp" => sparse = Some(Sparse { ordered: false }),
                "sp::ordered_metadata" => sparse = Some(Sparse { ordered: true }),
                "kind::f8f6f4" => kind = Kind::F8f6f4,
                "kind::mxf8f6f4" => kind = Kind::Mxf8f6f4,
                "kind::mxf4" => kind = Kind::Mxf4,
                "kind::mxf4nvf4" => kind = Kind::Mxf4nvf4,
                "rn" => rounding = Some(Rounding::Rn),
                "rz" => rounding = Some(Rounding::Rz),
                "rm" => rounding = Some(Rounding::Rm),
                "rp" => rounding = Some(Rounding::Rp),
                "block_scale" => block_scale = true,
                "scale_vec::1X" => per_row = Some(1),
                "scale_vec::2X" => per_row = Some(2),
                "scale_vec::4X" => per_row = Some(4),
                _ => match shape(part) {
                    Some(found) => dims = Some(found),
                    None => types.push(part),
                },
            }
        }
        let (m, n, k) = dims.ok_or_else(|| format!("`{opcode}` names no shape"))?;
        // wmma of f16 names only D and C.
        if wmma && types.len() == 2 {
            types = vec![types[0], "f16", "f16", types[1]];
        } else if wmma && types.get(1) == Some(&"f16") {
            return Err(format!("`{opcode}`: wmma.mma of f16 names the types of D and C only"));
        }
        let scale_name = if types.len() == 5 { types.pop() } else { None };
        let [d, a, b, c] = types[..] else {
            return Err(format!("`{opcode}` must name the types of D, A, B and C"));
        };
        let input = |name: &str| Input::parse(name).ok_or_else(|| format!("`{opcode}`: `{name}` is no type of A or B"));
        let output =
            |name: &str| Output::parse(name).ok_or_else(|| format!("`{opcode}`: `{name}` is no type of C or D"));
        let scale = match (block_scale, scale_name) {
            (false, None) => None,
            (true, Some(name)) => {
                let ty = match name {
                    "ue8m0" => ScaleType::Ue8m0,
                    "ue4m3" => ScaleType::Ue4m3,
                    _ => return Err(format!("`{opcode}`: `{name}` is no type of a scale")),
                };
                let per_row = match (per_row, kind) {
                    (Some(named), _) => named,
                    (None, Kind::Mxf8f6f4) => 1,
                    (None, Kind::Mxf4) => 2,
                    (None, _) => return Err(format!("`{opcode}` must say .scale_vec::2X or .scale_vec::4X")),
                };
                Some(Scale { per_row, ty })
            }
            _ => return Err(format!("`{opcode}`: .block_scale and a scale type belong together")),
        };
        let [a_row, b_row] = layouts[..] else {
            return Err(format!("`{opcode}` must name the layouts of A and B"));
        };
        let (a, b, c, d) = (input(a)?, input(b)?, output(c)?, output(d)?);
        // Without scales, ptxas makes of this kind's FP8 products the instruction of `kind::f8f6f4`.
        if kind == Kind::Mxf8f6f4 && !block_scale && is_fp8(a) && is_fp8(b) {
            kind = Kind::F8f6f4;
        }
        if saturate && !matches!(a, Input::Int { .. }) {
            return Err(format!("`{opcode}`: only integer products have .satfinite"));
        }
        if rounding.is_some() && a != Input::F64 {
            return Err(format!("`{opcode}`: only f64 products have a rounding modifier"));
        }
        if bit_op.is_some() != (a == Input::Bit) {
            return Err(format!("`{opcode}`: products of bits, and only they, name .xor.popc or .and.popc"));
        }
        let (rounding, bit_op) = (rounding.unwrap_or(Rounding::Rn), bit_op.unwrap_or(BitOp::Xor));
        Ok(Form { m, n, k, a, b, c, d, a_row, b_row, saturate, bit_op, kind, scale, sparse, rounding, wmma })
    }

    /// Whether an architecture has the form. `specific` says that the target is `sm_XXa` or `sm_XXf`, `exact` the former.
    pub fn check(&self, arch: u32, specific: bool, exact: bool) -> Result<(), String> {
        let least = self.least_arch().ok_or("no architecture has this combination of shape and types")?;
        let newest = matches!(arch, 120 | 121) && specific;
        if self.kind != Kind::Plain {
            if self.sparse.is_some_and(|s| !s.ordered) {
                return Err("sparse mma of this kind exists only as mma.sp::ordered_metadata".to_owned());
            }
            // Of the new kinds, the chips with tensor memory have the FP8 products that Hopper has without a kind.
            let tensor_memory = (100..120).contains(&arch) && specific;
            let halves = self.sparse.is_some() && self.d == Output::F16;
            let blocks = matches!(self.kind, Kind::Mxf4 | Kind::Mxf4nvf4);
            if newest && !exact && blocks && self.sparse.is_some() {
                return Err(format!(
                    "sparse 4-bit products exist on sm_120a and sm_121a, the module is for sm_{arch}f"
                ));
            }
            let fp8 = self.kind == Kind::F8f6f4 && is_fp8(self.a) && is_fp8(self.b);
            return match fp8 && !halves {
                _ if newest => Ok(()),
                true if tensor_memory => Ok(()),
                true => Err(format!("needs sm_100a, sm_103a, sm_120a or sm_121a, the module is for sm_{arch}")),
                false => Err(format!("this kind of mma needs sm_120a or sm_121a, the module is for sm_{arch}")),
            };
        }
        // ptxas has sparse FP8 with an f16 accumulator for the newest chips only, unlike the dense one.
        if let Some(sparse) = self.sparse
            && is_fp8(self.a)
            && self.d == Output::F16
            && !(newest && sparse.ordered)
        {
            return Err(format!(
                "sparse FP8 with f16 results exists as mma.sp::ordered_metadata on sm_120a and sm_121a, the module is \
                 for sm_{arch}; use f32"
            ));
        }
        if arch < least { Err(format!("needs sm_{least} or higher, the module is for sm_{arch}")) } else { Ok(()) }
    }

    /// Whether any architecture has it.
    pub fn exists(&self) -> bool {
        self.least_arch().is_some()
    }

    fn least_arch(&self) -> Option<u32> {
        if self.wmma { self.least_arch_wmma() } else { self.least_arch_mma() }
    }

    fn least_arch_mma(&self) -> Option<u32> {
        let Form { m, n, k, a, b, c, d, kind, .. } = *self;
        let quad = (m, n, k) == (8, 8, 4) && a == Input::Float(Element::F16);
        if !(quad || self.a_row && !self.b_row) {
            return None;
        }
        // The dense shape with the same stored A.
        let stored = if self.sparse.is_some() { k / 2 } else { k };
        let wide = (m, n) == (16, 8);
        let narrow = (m, n) == (8, 8) && self.sparse.is_none();
        let same_float = c == d && matches!(d, Output::F16 | Output::F32);
        let f32_only = (c, d) == (Output::F32, Output::F32);
        match (kind, a, b) {
            (Kind::Plain, Input::Float(Element::F16), Input::Float(Element::F16)) => match stored {
                4 if narrow
                    && matches!((c, d), (Output::F16, Output::F16 | Output::F32) | (Output::F32, Output::F32)) =>
                {
                    Some(70)
                }
                8 if wide && same_float => Some(if self.sparse.is_some() { 80 } else { 75 }),
                16 if wide && same_float => Some(80),
                _ => None,
            },
            (Kind::Plain, Input::Float(Element::Bf16), Input::Float(Element::Bf16)) => {
                (wide && f32_only && matches!(stored, 8 | 16)).then_some(80)
            }
            (Kind::Plain, Input::Float(Element::Tf32), Input::Float(Element::Tf32)) => {
                (wide && f32_only && matches!(stored, 4 | 8)).then_some(80)
            }
            (Kind::Plain, Input::Float(Element::E4m3 | Element::E5m2), Input::Float(Element::E4m3 | Element::E5m2)) => {
                let k_ok = stored == 32 || (stored == 16 && self.sparse.is_none());
                (wide && same_float && k_ok).then_some(89)
            }
            (Kind::F8f6f4, Input::Float(x), Input::Float(y)) => {
                let half = stored == 16 && self.sparse.is_none() && is_fp8(a) && is_fp8(b);
                let shape = wide && (stored == 32 || half);
                (shape && same_float && eight(x) && eight(y) && self.scale.is_none()).then_some(100)
            }
            (Kind::Mxf8f6f4, Input::Float(x), Input::Float(y)) => {
                let scale = self.scale.is_some_and(|s| s.per_row == 1 && s.ty == ScaleType::Ue8m0);
                (wide && f32_only && stored == 32 && eight(x) && eight(y) && scale).then_some(120)
            }
            (Kind::Mxf4 | Kind::Mxf4nvf4, Input::Float(Element::E2m1), Input::Float(Element::E2m1)) => {
                let scale = self.scale.is_some_and(|s| match (kind, s.per_row) {
                    (Kind::Mxf4, 2) => s.ty == ScaleType::Ue8m0,
                    (Kind::Mxf4nvf4, 2) => s.ty == ScaleType::Ue8m0,
                    (Kind::Mxf4nvf4, 4) => true,
                    _ => false,
                });
                (wide && f32_only && stored == 64 && scale).then_some(120)
            }
            (Kind::Plain, Input::F64, Input::F64) if (c, d) == (Output::F64, Output::F64) => match stored {
                _ if self.sparse.is_some() => None,
                4 if narrow => Some(80),
                4 | 8 | 16 if wide => Some(90),
                _ => None,
            },
            (Kind::Plain, Input::Int { bits: p, .. }, Input::Int { bits: q, .. }) if p == q => {
                let s32 = (c, d) == (Output::S32, Output::S32);
                match stored as u32 * p {
                    128 if narrow && s32 => Some(75),
                    128 | 256 if wide && s32 => Some(80),
                    _ => None,
                }
            }
            (Kind::Plain, Input::Bit, Input::Bit) if self.sparse.is_none() => {
                let s32 = (c, d) == (Output::S32, Output::S32);
                match stored {
                    128 if narrow && s32 => Some(if self.bit_op == BitOp::And { 80 } else { 75 }),
                    128 | 256 if wide && s32 => Some(80),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn least_arch_wmma(&self) -> Option<u32> {
        let Form { m, n, k, a, b, c, d, .. } = *self;
        let usual = matches!((m, n, k), (16, 16, 16) | (32, 8, 16) | (8, 32, 16));
        let f32_only = (c, d) == (Output::F32, Output::F32);
        let s32 = (c, d) == (Output::S32, Output::S32);
        let sub_byte_layout = self.a_row && !self.b_row;
        match (a, b) {
            (Input::Float(Element::F16), Input::Float(Element::F16)) => {
                let floats = |x| matches!(x, Output::F16 | Output::F32);
                (usual && floats(c) && floats(d)).then_some(70)
            }
            (Input::Float(Element::Bf16), Input::Float(Element::Bf16)) => (usual && f32_only).then_some(80),
            (Input::Float(Element::Tf32), Input::Float(Element::Tf32)) => {
                ((m, n, k) == (16, 16, 8) && f32_only).then_some(80)
            }
            (Input::F64, Input::F64) => ((m, n, k) == (8, 8, 4) && (c, d) == (Output::F64, Output::F64)).then_some(80),
            (Input::Int { bits: 8, signed: x }, Input::Int { bits: 8, signed: y }) => {
                (usual && s32 && x == y).then_some(72)
            }
            (Input::Int { bits: 4, signed: x }, Input::Int { bits: 4, signed: y }) => {
                ((m, n, k) == (8, 8, 32) && s32 && x == y && sub_byte_layout).then_some(75)
            }
            (Input::Bit, Input::Bit) => ((m, n, k) == (8, 8, 128) && s32 && sub_byte_layout)
                .then_some(if self.bit_op == BitOp::And { 80 } else { 75 }),
            _ => None,
        }
    }

    /// Which model of the floating-point units applies.
    pub fn unit(&self) -> Unit {
        Unit::Warp
    }
}

fn is_fp8(input: Input) -> bool {
    matches!(input, Input::Float(Element::E4m3 | Element::E5m2))
}

/// Elements that `kind::f8f6f4` accepts.
fn eight(element: Element) -> bool {
    !matches!(element, Element::F16 | Element::Bf16 | Element::Tf32)
}
