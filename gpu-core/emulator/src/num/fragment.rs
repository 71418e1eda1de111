//! Which lane and register of a warp hold which element of a matrix (PTX ISA, "Matrix Fragments").
//!
//! All shapes from sm_75 on but `mma.m8n8k4` of f16 follow one scheme. With `g = lane / 4` and `t = lane % 4`, a
//! register of an operand holds elements adjacent in k: in a tile of 8 ("narrow") register r covers
//! k = 4 E r + E t .. + E of row (or column) g, where E is the number of elements in a register; in a tile of 16 ("wide")
//! odd registers cover g + 8. Wider shapes are several tiles. Accumulators hold pairs at columns 2t and 2t + 1 of row g,
//! then of row g + 8. Checked against the loads that the assembler emits for `wmma.load` on sm_80.

/// Layout of an A or B operand. "Major" is the row of A, the column of B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Tiles of 16 along the major dimension, else of 8.
    pub wide: bool,
    /// Size of the major dimension.
    pub major: usize,
    pub k: usize,
    /// Elements in one 32-bit register (for f64: one 64-bit register, 1).
    pub per_register: usize,
}

impl Operand {
    /// A of `mma` with `m` rows.
    pub const fn a(m: usize, k: usize, per_register: usize) -> Operand {
        Operand { wide: m >= 16, major: m, k, per_register }
    }

    /// B of `mma` with `n` columns.
    pub const fn b(n: usize, k: usize, per_register: usize) -> Operand {
        Operand { wide: false, major: n, k, per_register }
    }

    /// A of `wmma`. In m8n32 the roles of A and B are exchanged.
    pub const fn wmma_a(m: usize, k: usize, per_register: usize) -> Operand {
        Operand::a(m, k, per_register)
    }

    /// B of `wmma` beside an A of `m` rows.
    pub const fn wmma_b(m: usize, n: usize, k: usize, per_register: usize) -> Operand {
        Operand { wide: m == 8 && n >= 16, major: n, k, per_register }
    }

    /// Registers that hold one tile.
    const fn tile_registers(&self) -> usize {
        let registers = self.k / (4 * self.per_register);
        if self.wide { 2 * registers } else { registers }
    }

    /// Registers of the operand. `wmma` fragments of f16 have eight and repeat these.
    pub const fn registers(&self) -> usize {
        self.tile_registers() * self.major / if self.wide { 16 } else { 8 }
    }

    /// (major, k) of element `element` of register `register` in `lane`; registers past the last repeat the first.
    #[inline]
    pub const fn at(&self, lane: usize, register: usize, element: usize) -> (usize, usize) {
        let (g, t) = (lane / 4, lane % 4);
        let register = register % self.registers();
        let (tile, r) = (register / self.tile_registers(), register % self.tile_registers());
        let along = t * self.per_register + element;
        if self.wide {
            (16 * tile + g + 8 * (r % 2), r / 2 * 4 * self.per_register + along)
        } else {
            (8 * tile + g, r * 4 * self.per_register + along)
        }
    }
}

/// Layout of C and D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accumulator {
    pub m: usize,
    pub n: usize,
    /// `wmma` m8n32 computes the transposed product.
    pub transposed: bool,
}

impl Accumulator {
    pub const fn new(m: usize, n: usize) -> Accumulator {
        Accumulator { m, n, transposed: m == 8 && n >= 16 }
    }

    /// Elements that one lane holds.
    pub const fn per_lane(&self) -> usize {
        self.m * self.n / 32
    }

    /// (row, column) of element `index` of `lane`; f16 accumulators pack elements 2i and 2i + 1 into register i.
    #[inline]
    pub const fn at(&self, lane: usize, index: usize) -> (usize, usize) {
        let (g, t) = (lane / 4, lane % 4);
        let pair = 2 * t + index % 2;
        let (tile, i) = (index / 4, index % 4 / 2);
        if self.transposed {
            (pair, 16 * tile + g + 8 * i)
        } else if self.m == 8 {
            (g, 8 * (index / 2) + pair)
        } else if self.m == 32 {
            (16 * tile + g + 8 * i, pair)
        } else {
            (g + 8 * i, 8 * tile + pair)
        }
    }
}

/// `mma.m8n8k4` of f16: four products at once, one for each quarter of the warp (lanes 4q..4q+4 and 16+4q..16+4q+4).
pub mod quad {
    /// Which of the four products a lane works on.
    pub const fn product(lane: usize) -> usize {
        lane % 16 / 4
    }

    /// (row, k) of A's element `index` (0..4).
    pub const fn a(lane: usize, index: usize, row_major: bool) -> (usize, usize) {
        let upper = lane / 16 * 4;
        if row_major { (lane % 4 + upper, index) } else { (index + upper, lane % 4) }
    }

    /// (k, column) of B's element `index` (0..4).
    pub const fn b(lane: usize, index: usize, row_major: bool) -> (usize, usize) {
        let upper = lane / 16 * 4;
        if row_major { (lane % 4, index + upper) } else { (index, lane % 4 + upper) }
    }

    /// (row, column) of element `index` (0..8) of an f16 accumulator.
    pub const fn f16(lane: usize, index: usize) -> (usize, usize) {
        (lane % 4 + lane / 16 * 4, index)
    }

    /// (row, column) of element `index` (0..8) of an f32 accumulator.
    pub const fn f32(lane: usize, index: usize) -> (usize, usize) {
        ((lane & 1) + (index & 2) + lane / 16 * 4, (index & 4) + (lane & 2) + (index & 1))
    }
}

/// Accumulator of `wgmma` m64nN: (row, column) of element `index` (0..N/2) of thread `thread` (0..128) of the warpgroup.
pub const fn warpgroup(thread: usize, index: usize) -> (usize, usize) {
    let (warp, lane) = (thread / 32, thread % 32);
    (16 * warp + lane / 4 + 8 * (index % 4 / 2), 8 * (index / 4) + 2 * (lane % 4) + index % 2)
}

/// Where the metadata of sparse `mma` lies. `bits` is the metadata of one row: 4 for each chunk of A.
///
/// Rows of 16 bits share a register (row g below, g + 8 above); rows of 32 bits lie in two lanes of a quad, rows of 64
/// bits in four. 16-bit and wider elements keep both rows in one register and put the next 16 bits into the next lane;
/// narrower elements give each row a lane of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    pub bits: usize,
    /// Elements of 16 bits or more.
    pub wide_elements: bool,
    /// The sparsity selector operand.
    pub selector: usize,
}

impl Metadata {
    /// Selectors that the shape allows: 0..count.
    pub const fn selectors(&self) -> usize {
        64 / self.bits
    }

    /// (lane, bit) of the 4-bit field of chunk `chunk` of `row`.
    pub const fn at(&self, row: usize, chunk: usize) -> (usize, usize) {
        let (g, upper) = (row % 8, row / 8);
        let contributors = self.bits / 16;
        let first = 4 * g + self.selector * contributors;
        if self.wide_elements {
            (first + chunk / 4, 16 * upper + chunk % 4 * 4)
        } else {
            (first + 2 * (chunk / 8) + upper, chunk % 8 * 4)
        }
    }
}

/// Lane whose register holds the scales of row `row` of A, for `thread-id-a` 0 or 1.
pub const fn scale_a_lane(row: usize, thread_id: usize) -> usize {
    4 * (row % 8) + 2 * thread_id + row / 8
}

/// Lane whose register holds the scales of column `column` of B, for `thread-id-b` 0 to 3.
pub const fn scale_b_lane(column: usize, thread_id: usize) -> usize {
    4 * column + thread_id
}
