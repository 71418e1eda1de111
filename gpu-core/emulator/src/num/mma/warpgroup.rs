//! `wgmma`: the part that one warp of a warpgroup computes, rows 16w to 16w + 15 of D.

use super::super::fragment;
use super::super::half;
use super::form::{Form, Input, Kind, Output, Sparse};
use super::integer::{BitOp, bit_tile, integer_tile};
use super::sparse::expand;
use super::warp::{Row, Undefined};
use super::{ABSENT, Element, Model, Operand, Unit, dot_tile};

/// One form of `wgmma.mma_async`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WarpGroupForm {
    pub n: usize,
    pub k: usize,
    pub a: Input,
    pub b: Input,
    pub d: Output,
    pub saturate: bool,
    pub sparse: bool,
}

/// Rows of D that one warp computes.
pub const ROWS: usize = 16;

impl WarpGroupForm {
    /// Reads an opcode such as `wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16`.
    pub fn parse(opcode: &str) -> Result<WarpGroupForm, String> {
        let mut parts = opcode.split('.');
        if (parts.next(), parts.next()) != (Some("wgmma"), Some("mma_async")) {
            return Err(format!("`{opcode}` is not wgmma.mma_async"));
        }
        let (mut shape, mut types, mut saturate, mut sparse) = (None, Vec::new(), false, false);
        let (mut and, mut popc) = (false, false);
        for part in parts {
            match part {
                "sync" | "aligned" => {}
                "and" => and = true,
                "popc" => popc = true,
                "sp" => sparse = true,
                "satfinite" => saturate = true,
                _ => match part.strip_prefix("m64n").and_then(|rest| rest.split_once('k')) {
                    Some((n, k)) => shape = n.parse().ok().zip(k.parse().ok()),
                    None => types.push(part),
                },
            }
        }
        let (n, k): (usize, usize) = shape.ok_or_else(|| format!("`{opcode}` names no shape m64nNkK"))?;
        let [d, a, b] = types[..] else {
            return Err(format!("`{opcode}` must name the types of D, A and B"));
        };
        let (Some(d), Some(a), Some(b)) = (Output::parse(d), Input::parse(a), Input::parse(b)) else {
            return Err(format!("`{opcode}` has a type that wgmma does not know"));
        };
        if [and, popc] != [a == Input::Bit; 2] {
            return Err(format!("`{opcode}`: products of bits, and only they, name .and.popc"));
        }
        if saturate && !matches!(a, Input::Int { .. }) {
            return Err(format!("`{opcode}`: only integer products have .satfinite"));
        }
        let form = WarpGroupForm { n, k, a, b, d, saturate, sparse };
        if form.exists() { Ok(form) } else { Err(format!("`{opcode}`: wgmma has no such shape and types")) }
    }

    fn exists(&self) -> bool {
        let stored = if self.sparse { self.k / 2 } else { self.k };
        let n_ok = match self.a {
            // Integer and one-bit shapes skip some multiples of 8.
            Input::Int { .. } | Input::Bit => self.n == 8 || self.n == 24 || self.n.is_multiple_of(16),
            _ => self.n.is_multiple_of(8),
        };
        let float = matches!(self.d, Output::F16 | Output::F32);
        let types_ok = match (self.a, self.b) {
            (Input::Float(Element::F16), Input::Float(Element::F16)) => float && stored == 16,
            (Input::Float(Element::Bf16), Input::Float(Element::Bf16)) => self.d == Output::F32 && stored == 16,
            (Input::Float(Element::Tf32), Input::Float(Element::Tf32)) => self.d == Output::F32 && stored == 8,
            (Input::Float(Element::E4m3 | Element::E5m2), Input::Float(Element::E4m3 | Element::E5m2)) => {
                float && stored == 32
            }
            (Input::Int { bits: 8, .. }, Input::Int { bits: 8, .. }) => self.d == Output::S32 && stored == 32,
            (Input::Bit, Input::Bit) => self.d == Output::S32 && self.k == 256 && !self.sparse,
            _ => false,
        };
        types_ok && n_ok && (8..=256).contains(&self.n)
    }

    /// Bits of one element of A or B in memory.
    pub fn element_bits(&self) -> usize {
        self.a.container_bits(Kind::Plain) as usize
    }

    /// K of the A that is stored.
    pub fn stored_k(&self) -> usize {
        if self.sparse { self.k / 2 } else { self.k }
    }

    /// Whether the transpose flags exist (16-bit types only).
    pub fn can_transpose(&self) -> bool {
        self.element_bits() == 16
    }

    /// Whether the operands scale-a and scale-b exist.
    pub fn can_negate(&self) -> bool {
        matches!(self.a, Input::Float(_))
    }

    /// Registers of D, and of A when it comes from registers.
    pub fn registers(&self) -> (usize, usize) {
        let elements = self.n / 2;
        (if self.d == Output::F16 { elements / 2 } else { elements }, 4)
    }

    fn layout_a(&self) -> fragment::Operand {
        fragment::Operand::a(ROWS, self.stored_k(), 32 / self.element_bits())
    }

    /// A's codes (16 rows of stored k; one-bit operands as words) from registers.
    pub fn a_from_registers(&self, registers: &[&Row]) -> Vec<u32> {
        let bits = self.element_bits();
        let layout = self.layout_a();
        if bits == 1 {
            let words = self.k / 32;
            let mut codes = vec![0; ROWS * words];
            for (r, row) in registers.iter().enumerate() {
                for (lane, &register) in row.iter().enumerate() {
                    let (major, k) = layout.at(lane, r, 0);
                    codes[major * words + k / 32] = register;
                }
            }
            return codes;
        }
        let mut codes = vec![0; ROWS * self.stored_k()];
        for (r, row) in registers.iter().enumerate() {
            for (lane, &register) in row.iter().enumerate() {
                for e in 0..layout.per_register {
                    let (major, k) = layout.at(lane, r, e);
                    codes[major * self.stored_k() + k] = register >> (bits * e) & (u32::MAX >> (32 - bits));
                }
            }
        }
        codes
    }
}

/// What modifies the operands of one `wgmma.mma_async`.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// scale-d: false drops the old D.
    pub accumulate: bool,
    pub negate_a: bool,
    pub negate_b: bool,
    /// Metadata register of this warp and the selector, for sparse A.
    pub metadata: Option<(&'a Row, usize)>,
}

/// D = A x B (+ D) for one warp. `a` holds 16 rows of stored k codes; `b` n columns of k codes, for floats in the order
/// of [`super::b_index`], for integers row by row, for one-bit operands n columns of k / 32 words; `d` the warp's registers.
pub fn run(
    form: &WarpGroupForm,
    mut a: Vec<u32>,
    mut b: Vec<u32>,
    options: Options<'_>,
    d: &mut [Row],
) -> Result<(), Undefined> {
    let (n, k) = (form.n, form.k);
    let place = |lane: usize, i: usize| {
        let (row, column) = fragment::warpgroup(lane, i);
        row * n + column
    };
    let each = || (0..n / 2).flat_map(|i| (0..32).map(move |lane| (i, lane)));
    if form.d == Output::S32 {
        let mut c = vec![0i32; ROWS * n];
        if options.accumulate {
            each().for_each(|(i, lane)| c[place(lane, i)] = d[i][lane] as i32);
        }
        let mut tile = vec![0i32; ROWS * n];
        if form.a == Input::Bit {
            bit_tile(BitOp::And, (ROWS, n, k / 32), &a, &b, &c, &mut tile);
        } else {
            let (dense, _) = densify(form, a, options.metadata)?;
            let extend = |codes: &[u32], input: Input| {
                let signed = matches!(input, Input::Int { signed: true, .. });
                codes.iter().map(|&x| if signed { x as i8 as i32 } else { x as i32 }).collect::<Vec<i32>>()
            };
            integer_tile((ROWS, n, k), &extend(&dense, form.a), &extend(&b, form.b), &c, form.saturate, &mut tile);
        }
        each().for_each(|(i, lane)| d[i][lane] = tile[place(lane, i)] as u32);
        return Ok(());
    }
    let (Input::Float(a_element), Input::Float(b_element)) = (form.a, form.b) else { return Ok(()) };
    let sign = 1u32 << (form.element_bits() - 1);
    if options.negate_a {
        a.iter_mut().for_each(|x| *x ^= sign);
    }
    if options.negate_b {
        b.iter_mut().for_each(|x| *x ^= sign);
    }
    let (dense, present) = densify(form, a, options.metadata)?;
    let (mut x, y) = (Operand::new(a_element, dense), Operand::new(b_element, b));
    for (exponent, present) in x.exponent.iter_mut().zip(present.unwrap_or_default()) {
        if !present {
            *exponent = ABSENT;
        }
    }
    let f16 = form.d == Output::F16;
    let model = Model::for_arch(90, Unit::WarpGroup, a_element, form.stored_k(), f16);
    let model = if form.sparse { model.expanded() } else { model };
    let mut c = vec![0f32; ROWS * n];
    if options.accumulate {
        each().for_each(|(i, lane)| {
            c[place(lane, i)] = if f16 {
                half::f16_to_f32((d[i / 2][lane] >> (16 * (i % 2))) as u16)
            } else {
                f32::from_bits(d[i][lane])
            };
        });
    }
    let mut tile = vec![0f32; ROWS * n];
    dot_tile(&model, (ROWS, n, k), &x, &y, &c, &mut tile);
    each().for_each(|(i, lane)| {
        let value = tile[place(lane, i)];
        if f16 {
            let code = u32::from(half::f32_to_f16(value));
            let register = &mut d[i / 2][lane];
            *register = if i % 2 == 0 { code } else { *register | code << 16 };
        } else {
            d[i][lane] = value.to_bits();
        }
    });
    Ok(())
}

/// The dense A of a sparse operation and which slots were stored; A itself otherwise.
#[allow(clippy::type_complexity)]
fn densify(
    form: &WarpGroupForm,
    stored: Vec<u32>,
    metadata: Option<(&Row, usize)>,
) -> Result<(Vec<u32>, Option<Vec<bool>>), Undefined> {
    let Some((metadata, selector)) = metadata.filter(|_| form.sparse) else { return Ok((stored, None)) };
    let pattern = form.a.pattern(Kind::Plain);
    let layout =
        fragment::Metadata { bits: form.k / pattern.span() * 4, wide_elements: form.element_bits() >= 16, selector };
    let limit = layout.selectors();
    if selector >= limit {
        return Err(Undefined::Selector { name: "the sparsity selector", value: selector, limit });
    }
    let stored: Vec<(u32, bool)> = stored.into_iter().map(|code| (code, true)).collect();
    let mut dense = vec![(0u32, false); ROWS * form.k];
    let half_k = form.stored_k();
    for row in 0..ROWS {
        let field = |chunk: usize| {
            let (lane, bit) = layout.at(row, chunk);
            metadata[lane] >> bit
        };
        let from = &stored[row * half_k..][..half_k];
        let is_zero = |(code, _)| form.a.is_zero(code);
        expand(pattern, false, from, field, is_zero, &mut dense[row * form.k..][..form.k])
            .map_err(|chunk| layout.undefined(row, chunk, field(chunk)))?;
    }
    let (codes, present) = dense.into_iter().unzip();
    Ok((codes, Some(present)))
}

impl From<&WarpGroupForm> for Form {
    /// The `mma` of the same inner dimension and types, for messages and counters.
    fn from(form: &WarpGroupForm) -> Form {
        Form {
            m: 64,
            n: form.n,
            k: form.k,
            a: form.a,
            b: form.b,
            c: form.d,
            d: form.d,
            a_row: true,
            b_row: false,
            saturate: form.saturate,
            bit_op: BitOp::And,
            kind: Kind::Plain,
            scale: None,
            sparse: form.sparse.then_some(Sparse { ordered: false }),
            rounding: super::super::Rounding::Rn,
            wmma: false,
        }
    }
}
