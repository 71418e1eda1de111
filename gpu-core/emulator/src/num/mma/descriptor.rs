//! The 64-bit descriptor with which `wgmma` names a matrix in shared memory, and the address of each element.
//!
//! Matrices consist of 16-byte chunks. "K-major" chunks run along k, "MN-major" ones along the row (A) or column (B).
//! The formulas are the canonical layouts of PTX ISA, "Shared Memory Matrix Layout", and of CUTLASS's
//! `mma_sm90_desc.hpp`.

/// The swizzle mode: how many bytes of a row repeat the XOR pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swizzle {
    None,
    B128,
    B64,
    B32,
}

/// A decoded matrix descriptor; all values in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    pub start: u32,
    pub leading: u32,
    pub stride: u32,
    /// Bits 49 to 51: `pattern start >> 7 & 7` when the swizzle pattern does not start at a multiple of its size.
    pub base_offset: u32,
    pub swizzle: Swizzle,
}

/// Bytes of a chunk.
pub const CHUNK: usize = 16;

impl Descriptor {
    pub fn decode(bits: u64) -> Descriptor {
        let field = |shift: u32| ((bits >> shift & 0x3fff) as u32) << 4;
        Descriptor {
            start: field(0),
            leading: field(16),
            stride: field(32),
            base_offset: (bits >> 49 & 7) as u32,
            swizzle: match bits >> 62 {
                0 => Swizzle::None,
                1 => Swizzle::B128,
                2 => Swizzle::B64,
                _ => Swizzle::B32,
            },
        }
    }

    /// Chunks in one row of the swizzle pattern, and the bits of the address that the XOR changes.
    fn row(&self) -> (u32, u32) {
        match self.swizzle {
            Swizzle::None => (1, 0),
            Swizzle::B32 => (2, 1),
            Swizzle::B64 => (4, 3),
            Swizzle::B128 => (8, 7),
        }
    }

    /// Address in the shared window of a chunk of a K-major matrix: row (A) or column (B) `mn`, chunk `k` (0 or 1).
    pub fn k_major(&self, mn: u32, k: u32) -> u32 {
        let (row_chunks, _) = self.row();
        let inside = mn % 8 * 16 * row_chunks;
        let along_k = if self.swizzle == Swizzle::None { k * self.leading } else { k * 16 };
        self.swizzled(self.start.wrapping_add(inside + mn / 8 * self.stride + along_k))
    }

    /// Address of a chunk of an MN-major matrix: chunk `mn` along the rows or columns, at element `k`.
    pub fn mn_major(&self, mn: u32, k: u32) -> u32 {
        let (row_chunks, _) = self.row();
        let (along_mn, along_k) = if self.swizzle == Swizzle::None {
            (mn * self.stride, k % 8 * 16 + k / 8 * self.leading)
        } else {
            (mn % row_chunks * 16 + mn / row_chunks * self.leading, k % 8 * 16 * row_chunks + k / 8 * self.stride)
        };
        self.swizzled(self.start.wrapping_add(along_mn + along_k))
    }

    /// XORs address bits 4.. with bits 7.., counted from where the pattern starts.
    fn swizzled(&self, address: u32) -> u32 {
        let (_, mask) = self.row();
        address ^ ((address >> 7).wrapping_sub(self.base_offset) & mask) << 4
    }
}
