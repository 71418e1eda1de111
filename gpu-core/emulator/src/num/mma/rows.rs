//! `ldmatrix`, `stmatrix` and `movmatrix`: matrices of 16-byte rows between shared memory and registers.

use super::warp::Row;

/// Shape and element handling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `.m8n8….b16`, optionally transposed.
    B16 { transposed: bool },
    /// `.m16n16….trans.b8` of `ldmatrix`.
    B8Transposed,
    /// `.m8n16….b8x16.b6x16_p32` (12 bytes and 4 of padding) or `.b4x16_p64` (8 and 8): elements widen to bytes.
    Packed { bits: u32 },
    /// `.m16n16….trans.b8x16.…`.
    PackedTransposed { bits: u32 },
    /// `.m16n8….trans.b8` of `stmatrix`.
    StoreB8,
}

/// One form: kind and number of matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowsForm {
    pub kind: Kind,
    pub count: usize,
}

impl RowsForm {
    /// Reads an opcode of `ldmatrix` or `stmatrix` (state space included).
    pub fn parse(opcode: &str) -> Result<RowsForm, String> {
        let store = opcode.starts_with("stmatrix");
        let has = |part: &str| opcode.split('.').any(|p| p == part);
        let count = match (has("x1"), has("x2"), has("x4")) {
            (true, false, false) => 1,
            (false, true, false) => 2,
            (false, false, true) => 4,
            _ => return Err(format!("`{opcode}` must say .x1, .x2 or .x4")),
        };
        let transposed = has("trans");
        if has("shared::cluster") {
            return Err(format!("`{opcode}`: matrices lie in the shared memory of the own block (.shared::cta)"));
        }
        let rest = ["ldmatrix", "stmatrix", "sync", "aligned", "x1", "x2", "x4", "trans", "shared", "shared::cta"];
        let (shape, elements): (Vec<&str>, Vec<&str>) = opcode
            .split('.')
            .filter(|part| !rest.contains(part))
            .partition(|part| matches!(*part, "m8n8" | "m8n16" | "m16n8" | "m16n16"));
        let kind = match (store, &shape[..], &elements[..]) {
            (_, ["m8n8"], ["b16"]) => Kind::B16 { transposed },
            (false, ["m16n16"], ["b8"]) if transposed => Kind::B8Transposed,
            (false, ["m8n16"], ["b8x16", packed]) if !transposed => Kind::Packed { bits: packed_bits(packed)? },
            (false, ["m16n16"], ["b8x16", packed]) if transposed => {
                Kind::PackedTransposed { bits: packed_bits(packed)? }
            }
            (true, ["m16n8"], ["b8"]) if transposed => Kind::StoreB8,
            _ => return Err(format!("`{opcode}`: no such shape and type")),
        };
        let form = RowsForm { kind, count };
        if form.rows() > 32 { Err(format!("`{opcode}`: m16n16 exists as .x1 and .x2")) } else { Ok(form) }
    }

    /// Whether an architecture has the form. `specific`: the target is `sm_XXXa` or `sm_XXXf`.
    pub fn check(&self, arch: u32, specific: bool, store: bool) -> Result<(), String> {
        match self.kind {
            Kind::B16 { .. } if arch >= if store { 90 } else { 75 } => Ok(()),
            Kind::B16 { .. } => Err(format!("needs sm_{} or higher", if store { 90 } else { 75 })),
            _ if arch >= 100 && specific => Ok(()),
            _ => Err(format!("needs sm_100a, sm_120a or sm_121a, the module is for sm_{arch}")),
        }
    }

    const fn rows_per_matrix(&self) -> usize {
        if matches!(self.kind, Kind::B8Transposed | Kind::PackedTransposed { .. }) { 16 } else { 8 }
    }

    /// Rows of 16 bytes that take part: row r is at the address that lane r gives.
    pub const fn rows(&self) -> usize {
        self.count * self.rows_per_matrix()
    }

    /// Registers of a lane.
    pub const fn registers(&self) -> usize {
        self.count * self.rows_per_matrix() / 8
    }

    /// Bytes of a row that are really read.
    pub const fn bytes(&self) -> usize {
        match self.kind {
            Kind::Packed { bits } | Kind::PackedTransposed { bits } => 2 * bits as usize,
            _ => 16,
        }
    }

    /// Which byte of which row lies in byte `byte` of register `register` of `lane`; not of 16-bit elements, which go by
    /// whole matrices.
    const fn source(&self, lane: usize, register: usize, byte: usize) -> (usize, usize) {
        let (g, t) = (lane / 4, lane % 4);
        match self.kind {
            Kind::B16 { .. } | Kind::Packed { .. } => (8 * register + g, 4 * t + byte),
            // Even registers: rows 4t.. of column g; odd ones of column g + 8 (CUTLASS, SM100_U8x8_LDSM_T).
            Kind::B8Transposed | Kind::PackedTransposed { .. } => {
                (16 * (register / 2) + 4 * t + byte, g + 8 * (register % 2))
            }
            // An accumulator's pairs: columns 2t and 2t + 1 of row g, then of row g + 8 (SM100_U8x4_STSM_T).
            Kind::StoreB8 => (8 * register + 2 * t + byte % 2, g + 8 * (byte / 2)),
        }
    }

    /// Registers from rows. `rows` holds [`RowsForm::rows`] rows as they lie in memory.
    pub fn load(&self, rows: &[[u8; 16]], registers: &mut [Row]) {
        if let Kind::B16 { transposed } = self.kind {
            for (matrix, register) in rows.as_chunks::<8>().0.iter().zip(registers) {
                *register = if transposed { turn(matrix) } else { words(matrix) };
            }
            return;
        }
        let unpacked: Vec<[u8; 16]> = match self.kind {
            Kind::Packed { bits } | Kind::PackedTransposed { bits } => {
                rows.iter().map(|row| unpack(row, bits)).collect()
            }
            _ => Vec::new(),
        };
        let rows = if unpacked.is_empty() { rows } else { &unpacked };
        for (r, register) in registers.iter_mut().enumerate() {
            for (lane, value) in register.iter_mut().enumerate() {
                let bytes = std::array::from_fn(|byte| {
                    let (row, column) = self.source(lane, r, byte);
                    rows[row][column]
                });
                *value = u32::from_le_bytes(bytes);
            }
        }
    }

    /// Rows from registers.
    pub fn store(&self, registers: &[&Row], rows: &mut [[u8; 16]]) {
        if let Kind::B16 { transposed } = self.kind {
            for (matrix, register) in rows.as_chunks_mut::<8>().0.iter_mut().zip(registers) {
                let turned = if transposed { transpose(register) } else { **register };
                for (row, four) in matrix.iter_mut().zip(turned.as_chunks::<4>().0) {
                    for (bytes, word) in row.as_chunks_mut::<4>().0.iter_mut().zip(four) {
                        *bytes = word.to_le_bytes();
                    }
                }
            }
            return;
        }
        for (r, register) in registers.iter().enumerate() {
            for (lane, value) in register.iter().enumerate() {
                for (byte, part) in value.to_le_bytes().into_iter().enumerate() {
                    let (row, column) = self.source(lane, r, byte);
                    rows[row][column] = part;
                }
            }
        }
    }
}

/// Eight rows of an 8 x 8 matrix of 16-bit elements, as they lie: lane after lane.
fn words(matrix: &[[u8; 16]; 8]) -> Row {
    let mut words = [0; 32];
    for (word, bytes) in words.iter_mut().zip(matrix.as_flattened().as_chunks::<4>().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

/// The same, transposed.
fn turn(matrix: &[[u8; 16]; 8]) -> Row {
    transpose(&words(matrix))
}

/// Bits of an element that a load widens to a byte.
fn packed_bits(name: &str) -> Result<u32, String> {
    match name {
        "b6x16_p32" => Ok(6),
        "b4x16_p64" => Ok(4),
        _ => Err(format!("`{name}` is no packing of elements: .b6x16_p32 or .b4x16_p64")),
    }
}

/// Sixteen elements of `bits` bits, packed from the lowest bit up, each to a byte.
fn unpack(row: &[u8; 16], bits: u32) -> [u8; 16] {
    let all = u128::from_le_bytes(*row);
    std::array::from_fn(|i| (all >> (bits * i as u32)) as u8 & ((1u16 << bits) - 1) as u8)
}

/// `movmatrix.sync.aligned.m8n8.trans.b16`: the transposed 8 x 8 matrix of 16-bit elements.
pub fn transpose(source: &Row) -> Row {
    // Element by element, into what compilers hold in registers.
    let mut elements = [[0u16; 8]; 8];
    for (row, four) in source.as_chunks::<4>().0.iter().enumerate() {
        for (pair, word) in four.iter().enumerate() {
            elements[2 * pair][row] = *word as u16;
            elements[2 * pair + 1][row] = (*word >> 16) as u16;
        }
    }
    let mut turned = [0; 32];
    for (word, pair) in turned.iter_mut().zip(elements.as_flattened().as_chunks::<2>().0) {
        *word = u32::from(pair[0]) | u32::from(pair[1]) << 16;
    }
    turned
}
