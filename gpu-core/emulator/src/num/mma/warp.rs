//! Whole-warp matrix operations on registers: gather fragments, compute the tile, scatter the result.

use super::super::fragment::{self, Accumulator as Shape, Metadata, quad};
use super::super::{half, pack};
use super::form::{Form, Input, Kind, Output};
use super::integer::{bit_tile, integer_tile};
#[cfg(target_arch = "x86_64")]
use super::lanewise::Vectors;
use super::scaled::fp4_tile;
use super::sparse::expand;
use super::{ABSENT, Element, Model, Operand, Order, add_scales, b_index, chain_f64, dot_tile, quad_tile, zeros};

/// One 32-bit register of a warp.
pub type Row = [u32; 32];

/// Where the lanes' elements at one place of a fragment go.
#[derive(Clone, Copy, Debug)]
struct Places {
    register: u8,
    shift: u8,
    index: [u16; 32],
}

/// A form prepared for one architecture: tables of places and the arithmetic model.
#[derive(Clone, Debug)]
pub struct Plan {
    pub form: Form,
    model: Option<Model>,
    a: Vec<Places>,
    b: Vec<Places>,
    /// For each element of C and D held by a lane: its index in the tile, lane after lane within an element.
    accumulator: Vec<[u16; 32]>,
    a_mask: u32,
    b_mask: u32,
    /// Where [`super::lanewise`] has the form.
    #[cfg(target_arch = "x86_64")]
    lanewise: Option<Vectors>,
}

/// Operands beside the matrices.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extra<'a> {
    /// Sparsity metadata and selector.
    pub metadata: Option<(&'a Row, usize)>,
    /// Scale registers with their byte and thread selectors, of A and of B.
    pub scales: Option<[(&'a Row, usize, usize); 2]>,
}

/// Why an operation has no defined result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undefined {
    /// A metadata field names equal or unordered positions.
    Metadata { row: usize, chunk: usize, lane: usize, field: u32 },
    /// A selector operand is out of the range that the shape allows.
    Selector { name: &'static str, value: usize, limit: usize },
}

impl std::fmt::Display for Undefined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Undefined::Metadata { row, chunk, lane, field } => write!(
                f,
                "the sparsity metadata of row {row}, chunk {chunk} (held by lane {lane}) is {field:#06b}, which names no \
                 valid pair of positions"
            ),
            Undefined::Selector { name, value, limit } => {
                write!(f, "{name} is {value}, but must be below {limit} for this shape")
            }
        }
    }
}

impl Metadata {
    /// What is said of a field.
    pub(super) fn undefined(&self, row: usize, chunk: usize, field: u32) -> Undefined {
        Undefined::Metadata { row, chunk, lane: self.at(row, chunk).0, field: field & 15 }
    }
}

impl Form {
    /// K of the A that is stored in registers.
    pub fn stored_k(&self) -> usize {
        if self.sparse.is_some() { self.k / 2 } else { self.k }
    }

    fn layout_a(&self) -> fragment::Operand {
        let per_register = 32 / self.a.container_bits(self.kind) as usize;
        fragment::Operand::a(self.m, self.stored_k(), per_register)
    }

    fn layout_b(&self) -> fragment::Operand {
        let per_register = 32 / self.b.container_bits(self.kind) as usize;
        if self.wmma {
            fragment::Operand::wmma_b(self.m, self.n, self.k, per_register)
        } else {
            fragment::Operand::b(self.n, self.k, per_register)
        }
    }

    /// `mma.m8n8k4` of f16, whose fragments follow a scheme of their own.
    pub fn is_quad(&self) -> bool {
        !self.wmma && self.a == Input::Float(Element::F16) && self.k == 4
    }

    /// Registers of A, B, C and D (64-bit registers for f64).
    pub fn registers(&self) -> [usize; 4] {
        let accumulators = |output: Output| {
            let elements = if self.is_quad() { 8 } else { self.m * self.n / 32 };
            if output == Output::F16 { elements / 2 } else { elements }
        };
        let [a, b] = if self.is_quad() {
            [2, 2]
        } else if self.wmma && self.a == Input::Float(Element::F16) {
            [8, 8]
        } else {
            [self.layout_a().registers(), self.layout_b().registers()]
        };
        [a, b, accumulators(self.c), accumulators(self.d)]
    }
}

impl Plan {
    pub fn new(form: Form, arch: u32) -> Plan {
        let model = match form.a {
            Input::Float(element) => {
                // An f16 result of an f32 C is summed in f32 and rounded at the end.
                let narrow = form.d == Output::F16 && form.c == Output::F16;
                let model = Model::for_arch(arch, form.unit(), element, form.stored_k(), narrow);
                // `wmma` of tf32 is made of two steps of four products each, also where `mma` takes eight at once.
                let pairs = form.wmma && element == Element::Tf32;
                let model = if pairs { Model { order: Order::Chain(4), ..model } } else { model };
                // Only `mma` has the call behind `Order::Quad`; wmma never has k = 4 here.
                Some(if form.sparse.is_some() { model.expanded() } else { model })
            }
            _ => None,
        };
        let places = |layout: fragment::Operand, bits: u32, index: &dyn Fn(usize, usize) -> usize| {
            let mut places = Vec::new();
            if form.is_quad() || form.a == Input::F64 {
                return places;
            }
            for register in 0..layout.registers() {
                for element in 0..layout.per_register {
                    let index_of = |lane: usize| {
                        let (major, k) = layout.at(lane, register, element);
                        index(major, k) as u16
                    };
                    let shift = element as u32 * bits;
                    places.push(Places {
                        register: register as u8,
                        shift: shift as u8,
                        index: std::array::from_fn(index_of),
                    });
                }
            }
            places
        };
        let (a_bits, b_bits) = (form.a.container_bits(form.kind), form.b.container_bits(form.kind));
        // One-bit operands stay words: 32 elements are one place.
        let bit = form.a == Input::Bit;
        let words = form.k / 32;
        let a_index = |major: usize, k: usize| if bit { major * words + k / 32 } else { major * form.stored_k() + k };
        let float = matches!(form.b, Input::Float(_)) && !matches!(form.kind, Kind::Mxf4 | Kind::Mxf4nvf4);
        let b_place = |major: usize, k: usize| match (bit, float) {
            (true, _) => major * words + k / 32,
            (_, true) => b_index(form.k, k, major),
            _ => k * form.n + major,
        };
        let mask = |bits: u32| if bit { u32::MAX } else { u32::MAX >> (32 - bits) };
        let mut a = places(form.layout_a(), a_bits, &a_index);
        let mut b = places(form.layout_b(), b_bits, &b_place);
        if bit {
            a.retain(|p| p.shift == 0);
            b.retain(|p| p.shift == 0);
        }
        let shape = Shape::new(form.m, form.n);
        let accumulator = (0..shape.per_lane())
            .map(|i| {
                std::array::from_fn(|lane| {
                    let (row, column) = shape.at(lane, i);
                    (row * form.n + column) as u16
                })
            })
            .collect();
        Plan {
            form,
            model,
            a,
            b,
            accumulator,
            a_mask: mask(a_bits),
            b_mask: mask(b_bits),
            #[cfg(target_arch = "x86_64")]
            lanewise: Vectors::here()
                .next()
                .filter(|_| crate::features::chosen().matrix_lanes)
                .filter(|_| model.is_some_and(|model| super::lanewise::takes(&form, &model))),
        }
    }

    /// Which bits of D mean nothing, of each register lane by lane, where `undefined(part, register, lane)` gives those of A
    /// (part 0), B and C: a result needs a row of A, a column of B and its own element of C. None: of a form whose elements
    /// lie otherwise.
    pub fn undefined_results(&self, undefined: impl Fn(usize, usize, usize) -> u32) -> Option<Vec<Row>> {
        let form = &self.form;
        if form.is_quad() || form.a == Input::F64 {
            return None;
        }
        let touched = |part: usize, layout: fragment::Operand, bits: u32| {
            let mut majors = 0u128;
            for register in 0..layout.registers() {
                for lane in 0..32 {
                    let word = undefined(part, register, lane);
                    for element in (0..layout.per_register).filter(|_| word != 0) {
                        let own = word >> (element as u32 * bits) & (u32::MAX >> (32 - bits));
                        majors |= u128::from(own != 0) << layout.at(lane, register, element).0;
                    }
                }
            }
            majors
        };
        let rows = touched(0, form.layout_a(), form.a.container_bits(form.kind));
        let columns = touched(1, form.layout_b(), form.b.container_bits(form.kind));
        // Register, and its bits, of an element of C or D.
        let place = |output: Output, i: usize| match output {
            Output::F16 => (i / 2, 0xffff << (16 * (i % 2))),
            _ => (i, u32::MAX),
        };
        let shape = Shape::new(form.m, form.n);
        let mut d = vec![[0; 32]; form.registers()[3]];
        for lane in 0..32 {
            for i in 0..shape.per_lane() {
                let (row, column) = shape.at(lane, i);
                let (c, c_bits) = place(form.c, i);
                if (rows >> row | columns >> column) & 1 != 0 || undefined(2, c, lane) & c_bits != 0 {
                    let (register, bits) = place(form.d, i);
                    d[register][lane] |= bits;
                }
            }
        }
        Some(d)
    }

    fn gather(places: &[Places], mask: u32, registers: &[&Row], length: usize) -> Vec<u32> {
        let mut codes = zeros(length);
        for places in places {
            let row = registers[usize::from(places.register)];
            for (index, register) in places.index.iter().zip(row) {
                codes[usize::from(*index)] = register >> places.shift & mask;
            }
        }
        codes
    }

    /// D = A x B + C for every type but f64. Registers in the order of the instruction; `d` as many as
    /// [`Form::registers`] says.
    pub fn run(&self, a: &[&Row], b: &[&Row], c: &[&Row], extra: Extra<'_>, d: &mut [Row]) -> Result<(), Undefined> {
        let form = &self.form;
        if form.is_quad() {
            self.run_quad(a, b, c, d);
            return Ok(());
        }
        #[cfg(target_arch = "x86_64")]
        if self.lanewise.is_some_and(|vectors| self.run_in_lanes(a, b, c, d, vectors)) {
            return Ok(());
        }
        self.run_in_tiles(a, b, c, extra, d)
    }

    /// The short way of [`super::lanewise`]. False: it does not have this; nothing was done.
    #[cfg(target_arch = "x86_64")]
    pub fn run_in_lanes(&self, a: &[&Row], b: &[&Row], c: &[&Row], d: &mut [Row], vectors: Vectors) -> bool {
        let model = self.model.filter(|_| self.lanewise.is_some());
        model.is_some_and(|model| super::lanewise::run(&self.form, &model, a, b, c, d, vectors))
    }

    /// The way for all forms but [`Form::is_quad`]'s: fragments become tiles, and the result becomes fragments.
    pub fn run_in_tiles(
        &self,
        a: &[&Row],
        b: &[&Row],
        c: &[&Row],
        extra: Extra<'_>,
        d: &mut [Row],
    ) -> Result<(), Undefined> {
        let form = &self.form;
        let (m, n, k) = (form.m, form.n, form.k);
        let words = k / 32;
        let (a_length, b_length) =
            if form.a == Input::Bit { (m * words, n * words) } else { (m * form.stored_k(), n * k) };
        let a_codes = Plan::gather(&self.a, self.a_mask, a, a_length);
        let b_codes = Plan::gather(&self.b, self.b_mask, b, b_length);
        match form.a {
            Input::Float(element) => self.run_float(element, a_codes, b_codes, c, extra, d),
            Input::Int { .. } | Input::Bit => self.run_int(a_codes, b_codes, c, extra, d),
            Input::F64 => Ok(()),
        }
    }

    fn run_float(
        &self,
        element: Element,
        a_codes: Vec<u32>,
        b_codes: Vec<u32>,
        c: &[&Row],
        extra: Extra<'_>,
        d: &mut [Row],
    ) -> Result<(), Undefined> {
        let form = &self.form;
        let (m, n, k) = (form.m, form.n, form.k);
        let c_tile = self.load_float(c);
        let mut d_tile = zeros(m * n);
        let (a_codes, present) = self.densify(a_codes, extra)?;
        if matches!(form.kind, Kind::Mxf4 | Kind::Mxf4nvf4) {
            let (a_scales, b_scales) = self.scales(extra)?;
            let (a, b) = (bytes(&a_codes), bytes(&b_codes));
            let (block, ty) = form.scale.map_or((32, super::scaled::ScaleType::Ue8m0), |s| (k / s.per_row, s.ty));
            let group = if form.sparse.is_some() { 32 } else { 16 };
            fp4_tile(ty, (block, group), (m, n, k), (&a, &a_scales), (&b, &b_scales), &c_tile, &mut d_tile);
        } else {
            let b_element = if let Input::Float(x) = form.b { x } else { element };
            let mut a = Operand::new(element, unpad(element, form.kind, a_codes));
            let mut b = Operand::new(b_element, unpad(b_element, form.kind, b_codes));
            if let Some(present) = present {
                for (exponent, present) in a.exponent.iter_mut().zip(present) {
                    if !present {
                        *exponent = ABSENT;
                    }
                }
            }
            let Some(model) = &self.model else { return Ok(()) };
            if form.scale.is_some() {
                let (a_scales, b_scales) = self.scales(extra)?;
                add_scales(&mut a, &mut b, (m, n, k), &a_scales, &b_scales);
                dot_tile(model, (m, n, k), &a, &b, &c_tile, &mut d_tile);
                // A NaN scale makes its row or column NaN.
                for (i, x) in d_tile.iter_mut().enumerate() {
                    if a_scales[i / n] == 255 || b_scales[i % n] == 255 {
                        *x = super::super::NAN_F32;
                    }
                }
            } else {
                dot_tile(model, (m, n, k), &a, &b, &c_tile, &mut d_tile);
            }
        }
        self.store_float(&d_tile, d);
        Ok(())
    }

    fn run_int(
        &self,
        a_codes: Vec<u32>,
        b_codes: Vec<u32>,
        c: &[&Row],
        extra: Extra<'_>,
        d: &mut [Row],
    ) -> Result<(), Undefined> {
        let form = &self.form;
        let (m, n, k) = (form.m, form.n, form.k);
        let mut c_tile = zeros(m * n);
        for (row, indices) in c.iter().zip(&self.accumulator) {
            for lane in 0..32 {
                c_tile[usize::from(indices[lane])] = row[lane] as i32;
            }
        }
        let mut d_tile = zeros(m * n);
        if form.a == Input::Bit {
            bit_tile(form.bit_op, (m, n, k / 32), &a_codes, &b_codes, &c_tile, &mut d_tile);
        } else {
            let (a_codes, _) = self.densify(a_codes, extra)?;
            let extend = |codes: Vec<u32>, input: Input| {
                let Input::Int { bits, signed } = input else { return Vec::new() };
                codes.into_iter().map(|x| pack::unpack_int(x, 0, bits, signed)).collect::<Vec<i32>>()
            };
            let (a, b) = (extend(a_codes, form.a), extend(b_codes, form.b));
            integer_tile((m, n, k), &a, &b, &c_tile, form.saturate, &mut d_tile);
        }
        for (row, indices) in d.iter_mut().zip(&self.accumulator) {
            for lane in 0..32 {
                row[lane] = d_tile[usize::from(indices[lane])] as u32;
            }
        }
        Ok(())
    }

    /// The dense A of a sparse operation, and which slots were stored.
    #[allow(clippy::type_complexity)]
    fn densify(&self, stored: Vec<u32>, extra: Extra<'_>) -> Result<(Vec<u32>, Option<Vec<bool>>), Undefined> {
        let form = &self.form;
        let (Some(sparse), Some((metadata, selector))) = (form.sparse, extra.metadata) else {
            return Ok((stored, None));
        };
        let pattern = form.a.pattern(form.kind);
        let layout = Metadata {
            bits: form.k / pattern.span() * 4,
            wide_elements: form.a.container_bits(form.kind) >= 16,
            selector,
        };
        if selector >= layout.selectors() {
            let limit = layout.selectors();
            return Err(Undefined::Selector { name: "the sparsity selector", value: selector, limit });
        }
        let mut dense = vec![(0u32, false); form.m * form.k];
        let stored: Vec<(u32, bool)> = stored.into_iter().map(|code| (code, true)).collect();
        for row in 0..form.m {
            let field = |chunk: usize| {
                let (lane, bit) = layout.at(row, chunk);
                metadata[lane] >> bit
            };
            let from = &stored[row * form.stored_k()..][..form.stored_k()];
            let is_zero = |(code, _)| form.a.is_zero(code);
            expand(pattern, sparse.ordered, from, field, is_zero, &mut dense[row * form.k..][..form.k])
                .map_err(|chunk| layout.undefined(row, chunk, field(chunk)))?;
        }
        let (codes, present) = dense.into_iter().unzip();
        Ok((codes, Some(present)))
    }

    /// Scales of A (row after row) and of B (column after column).
    fn scales(&self, extra: Extra<'_>) -> Result<(Vec<u8>, Vec<u8>), Undefined> {
        let per_row = self.form.scale.map_or(1, |s| s.per_row);
        let Some([a, b]) = extra.scales else { return Ok((Vec::new(), Vec::new())) };
        // Two scales start at byte 0 or 2, four at byte 0.
        let check = |name, value: usize, limit: usize, step: usize| {
            if value >= limit || !value.is_multiple_of(step) {
                return Err(Undefined::Selector { name, value, limit });
            }
            Ok(())
        };
        check("byte-id-a", a.1, 4, per_row)?;
        check("byte-id-b", b.1, 4, per_row)?;
        check("thread-id-a", a.2, 2, 1)?;
        check("thread-id-b", b.2, 4, 1)?;
        let take = |register: u32, byte: usize| (0..per_row).map(move |i| (register >> (8 * (byte + i))) as u8);
        let of_a = (0..self.form.m).flat_map(|row| take(a.0[fragment::scale_a_lane(row, a.2)], a.1)).collect();
        let of_b = (0..self.form.n).flat_map(|column| take(b.0[fragment::scale_b_lane(column, b.2)], b.1)).collect();
        Ok((of_a, of_b))
    }

    fn load_float(&self, c: &[&Row]) -> Vec<f32> {
        let mut tile = zeros(self.form.m * self.form.n);
        for (i, indices) in self.accumulator.iter().enumerate() {
            for lane in 0..32 {
                tile[usize::from(indices[lane])] = if self.form.c == Output::F16 {
                    half::f16_to_f32((c[i / 2][lane] >> (16 * (i % 2))) as u16)
                } else {
                    f32::from_bits(c[i][lane])
                };
            }
        }
        tile
    }

    fn store_float(&self, tile: &[f32], d: &mut [Row]) {
        for (i, indices) in self.accumulator.iter().enumerate() {
            for lane in 0..32 {
                let x = tile[usize::from(indices[lane])];
                if self.form.d == Output::F16 {
                    let code = u32::from(half::f32_to_f16(x));
                    let row = &mut d[i / 2][lane];
                    *row = if i % 2 == 0 { code } else { *row | code << 16 };
                } else {
                    d[i][lane] = x.to_bits();
                }
            }
        }
    }

    /// Four independent m8n8k4 products.
    fn run_quad(&self, a: &[&Row], b: &[&Row], c: &[&Row], d: &mut [Row]) {
        let form = &self.form;
        let place = |output: Output, lane: usize, i: usize| {
            if output == Output::F16 { quad::f16(lane, i) } else { quad::f32(lane, i) }
        };
        for product in 0..4 {
            let lanes = || (0..32).filter(move |&lane| quad::product(lane) == product);
            let (mut a_codes, mut b_codes) = (vec![0; 32], vec![0; 32]);
            let (mut c_tile, mut d_tile) = ([0f32; 64], [0f32; 64]);
            for lane in lanes() {
                for i in 0..4 {
                    let half = |rows: &[&Row]| rows[i / 2][lane] >> (16 * (i % 2)) & 0xffff;
                    let (row, k) = quad::a(lane, i, form.a_row);
                    a_codes[row * 4 + k] = half(a);
                    let (k, column) = quad::b(lane, i, form.b_row);
                    b_codes[k * 8 + column] = half(b);
                }
                for i in 0..8 {
                    let (row, column) = place(form.c, lane, i);
                    c_tile[row * 8 + column] = if form.c == Output::F16 {
                        half::f16_to_f32((c[i / 2][lane] >> (16 * (i % 2))) as u16)
                    } else {
                        f32::from_bits(c[i][lane])
                    };
                }
            }
            let (x, y) = (Operand::new(Element::F16, a_codes), Operand::new(Element::F16, b_codes));
            if let Some(model) = &self.model {
                match model.order {
                    Order::Quad => quad_tile(model.accumulator, (8, 8), &x, &y, &c_tile, &mut d_tile),
                    _ => dot_tile(model, (8, 8, 4), &x, &y, &c_tile, &mut d_tile),
                }
            }
            for lane in lanes() {
                for i in 0..8 {
                    let (row, column) = place(form.d, lane, i);
                    let value = d_tile[row * 8 + column];
                    if form.d == Output::F16 {
                        let code = u32::from(half::f32_to_f16(value));
                        let register = &mut d[i / 2][lane];
                        *register = if i % 2 == 0 { code } else { *register | code << 16 };
                    } else {
                        d[i][lane] = value.to_bits();
                    }
                }
            }
        }
    }

    /// D = A x B + C in f64.
    pub fn run_f64(&self, a: &[&[u64; 32]], b: &[&[u64; 32]], c: &[&[u64; 32]], d: &mut [[u64; 32]]) {
        let form = &self.form;
        let (m, n, k) = (form.m, form.n, form.k);
        let gather = |layout: fragment::Operand, rows: &[&[u64; 32]], transposed: bool| {
            let mut tile = vec![0f64; layout.major * k];
            for (register, row) in rows.iter().enumerate() {
                for (lane, &bits) in row.iter().enumerate() {
                    let (major, kk) = layout.at(lane, register, 0);
                    tile[if transposed { kk * layout.major + major } else { major * k + kk }] = f64::from_bits(bits);
                }
            }
            tile
        };
        let (a, b) = (gather(form.layout_a(), a, false), gather(form.layout_b(), b, true));
        let (mut c_tile, mut d_tile) = (vec![0f64; m * n], vec![0f64; m * n]);
        for (row, indices) in c.iter().zip(&self.accumulator) {
            for lane in 0..32 {
                c_tile[usize::from(indices[lane])] = f64::from_bits(row[lane]);
            }
        }
        chain_f64((m, n, k), form.rounding, &a, &b, &c_tile, &mut d_tile);
        for (row, indices) in d.iter_mut().zip(&self.accumulator) {
            for lane in 0..32 {
                row[lane] = d_tile[usize::from(indices[lane])].to_bits();
            }
        }
    }
}

/// In byte containers of `kind::f8f6f4` a 4-bit element lies in the middle (bits 2 to 5), a 6-bit one at the bottom.
fn unpad(element: Element, kind: Kind, mut codes: Vec<u32>) -> Vec<u32> {
    if element == Element::E2m1 && matches!(kind, Kind::F8f6f4 | Kind::Mxf8f6f4) {
        codes.iter_mut().for_each(|code| *code = *code >> 2 & 15);
    }
    codes
}

fn bytes(codes: &[u32]) -> Vec<u8> {
    codes.iter().map(|&code| code as u8).collect()
}
