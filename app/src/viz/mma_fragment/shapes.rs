//! The layouts: PTX ISA, "Matrix fragments for mma.m16n8k…", "ldmatrix" and "wgmma, register fragments". They are written
//! down once as a rule over the bits of an element; the tests hold the rule to entries of the manual's tables.

/// A side of a product `D = A B + C`, or what `ldmatrix` loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    A,
    B,
    C,
    Tile,
}

impl Operand {
    pub fn name(self) -> &'static str {
        match self {
            Operand::A => "A",
            Operand::B => "B",
            Operand::C => "C and D",
            Operand::Tile => "tile",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Operand::A => "A (m x k)",
            Operand::B => "B (k x n)",
            Operand::C => "C and D (m x n)",
            Operand::Tile => "four 8 x 8 matrices",
        }
    }

    /// Of its registers' names.
    pub fn letter(self) -> char {
        match self {
            Operand::A => 'a',
            Operand::B => 'b',
            Operand::C => 'd',
            Operand::Tile => 'r',
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `mma.sync`: bits of an element of A and B; C and D are 32 bits wide.
    Mma {
        bits: u32,
    },
    Ldmatrix {
        transposed: bool,
    },
    /// D of `wgmma`, over the four warps of a warpgroup.
    Wgmma,
}

#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    pub name: &'static str,
    /// What names it in PTX: opcode and a modifier.
    ptx: (&'static str, &'static str),
    m: usize,
    n: usize,
    k: usize,
    kind: Kind,
    pub operands: &'static [Operand],
}

const ABC: &[Operand] = &[Operand::A, Operand::B, Operand::C];

pub const SHAPES: [Instruction; 7] = [
    Instruction {
        name: "mma m16n8k16, bf16 and fp16",
        ptx: ("mma", "m16n8k16"),
        m: 16,
        n: 8,
        k: 16,
        kind: Kind::Mma { bits: 16 },
        operands: ABC,
    },
    Instruction {
        name: "mma m16n8k8, tf32",
        ptx: ("mma", "m16n8k8"),
        m: 16,
        n: 8,
        k: 8,
        kind: Kind::Mma { bits: 32 },
        operands: ABC,
    },
    Instruction {
        name: "mma m16n8k32, e4m3, e5m2 and int8",
        ptx: ("mma", "m16n8k32"),
        m: 16,
        n: 8,
        k: 32,
        kind: Kind::Mma { bits: 8 },
        operands: ABC,
    },
    Instruction {
        name: "mma m16n8k64, e2m1 (NVFP4)",
        ptx: ("mma", "m16n8k64"),
        m: 16,
        n: 8,
        k: 64,
        kind: Kind::Mma { bits: 4 },
        operands: ABC,
    },
    Instruction {
        name: "ldmatrix x4, 16 bits",
        ptx: ("ldmatrix", "x4"),
        m: 16,
        n: 16,
        k: 0,
        kind: Kind::Ldmatrix { transposed: false },
        operands: &[Operand::Tile],
    },
    Instruction {
        name: "ldmatrix x4 trans, 16 bits",
        ptx: ("ldmatrix", "trans"),
        m: 16,
        n: 16,
        k: 0,
        kind: Kind::Ldmatrix { transposed: true },
        operands: &[Operand::Tile],
    },
    Instruction {
        name: "wgmma m64n16k16, fp32 sums",
        ptx: ("wgmma", "mma_async"),
        m: 64,
        n: 16,
        k: 16,
        kind: Kind::Wgmma,
        operands: &[Operand::C],
    },
];

/// The shape of a PTX instruction's text, if it has a picture here.
pub fn of_text(text: &str) -> Option<usize> {
    let opcode = text.split_whitespace().find(|word| !word.starts_with('@'))?.trim_end_matches(';');
    let mut parts = opcode.split('.');
    let first = parts.next()?;
    let parts: Vec<&str> = parts.collect();
    let fits = |shape: &Instruction| {
        let transposed = parts.contains(&"trans");
        shape.ptx.0 == first
            && match shape.kind {
                Kind::Mma { bits } => parts.contains(&shape.ptx.1) && (bits != 32 || parts.contains(&"tf32")),
                Kind::Ldmatrix { transposed: wanted } => transposed == wanted,
                Kind::Wgmma => parts.contains(&shape.ptx.1),
            }
    };
    SHAPES.iter().position(fits)
}

/// One element and who holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    pub row: usize,
    pub column: usize,
    /// 0 to 31, or to 127 where a warpgroup works together.
    pub lane: u32,
    pub register: u32,
    /// Which element of the register, from its low bits.
    pub part: u32,
}

impl Held {
    pub fn place(&self, operand: Operand, shape: &Instruction) -> String {
        let register = format!("register {}{}", operand.letter(), self.register);
        match shape.packed(operand) {
            1 => register,
            2 => format!("{} half of {register}", ["low", "high"][self.part as usize & 1]),
            packed => format!("element {} of {packed} in {register}", self.part),
        }
    }
}

impl Instruction {
    pub fn lanes(&self) -> usize {
        if self.kind == Kind::Wgmma { 128 } else { 32 }
    }

    /// Rows and columns of an operand.
    pub fn extent(&self, operand: Operand) -> (usize, usize) {
        match operand {
            Operand::A => (self.m, self.k),
            Operand::B => (self.k, self.n),
            Operand::C | Operand::Tile => (self.m, self.n),
        }
    }

    /// Elements in one 32-bit register.
    pub fn packed(&self, operand: Operand) -> u32 {
        match (self.kind, operand) {
            (_, Operand::C) => 1,
            (Kind::Mma { bits }, _) => 32 / bits,
            _ => 2,
        }
    }

    /// Registers of an operand that one lane holds.
    pub fn registers(&self, operand: Operand) -> u32 {
        let (rows, columns) = self.extent(operand);
        (rows * columns / self.lanes()) as u32 / self.packed(operand)
    }

    /// All elements of an operand, row by row.
    pub fn fragment(&self, operand: Operand) -> Vec<Held> {
        let (rows, columns) = self.extent(operand);
        (0..rows).flat_map(|row| (0..columns).map(move |column| self.holder(operand, row, column))).collect()
    }

    fn holder(&self, operand: Operand, row: usize, column: usize) -> Held {
        let packed = self.packed(operand) as usize;
        // Eight groups of four lanes: `outer` is the side that the groups share among themselves.
        let held = |outer: usize, inner: usize, register: usize| {
            let lane = outer % 8 * 4 + inner / packed % 4;
            Held { row, column, lane: lane as u32, register: register as u32, part: (inner % packed) as u32 }
        };
        match (self.kind, operand) {
            // a0 and a1 are the upper and the lower eight rows, a2 and a3 the same of the second half of k.
            (Kind::Mma { .. }, Operand::A) => held(row, column, row / 8 % 2 + 2 * (column / (4 * packed))),
            (Kind::Mma { .. }, Operand::B) => held(column, row, row / (4 * packed)),
            (Kind::Ldmatrix { transposed }, _) => {
                let register = row / 8 + 2 * (column / 8);
                let (outer, inner) = if transposed { (column % 8, row % 8) } else { (row % 8, column % 8) };
                held(outer, inner, register)
            }
            // Sums: two neighbours of a row, then the same eight rows below.
            _ => {
                let lane = row % 8 * 4 + column % 8 / 2 + row / 16 * 32;
                let register = column % 2 + 2 * (row / 8 % 2) + 4 * (column / 8);
                Held { row, column, lane: lane as u32, register: register as u32, part: 0 }
            }
        }
    }

    /// The row whose address a lane gives to `ldmatrix`, with its first column.
    pub fn addressed_row(&self, operand: Operand, lane: u32) -> Option<(usize, usize)> {
        let (Kind::Ldmatrix { .. }, Operand::Tile) = (self.kind, operand) else { return None };
        let (matrix, row) = (lane as usize / 8, lane as usize % 8);
        Some((matrix % 2 * 8 + row, matrix / 2 * 8))
    }
}

/// `a0: row 3, columns 2 and 3`.
pub fn register_words(operand: Operand, register: u32, held: &[&Held]) -> Option<String> {
    let first = held.first()?;
    let run = |of: fn(&Held) -> usize, one: &str| {
        let (from, to) = (of(first), of(held[held.len() - 1]));
        match to - from {
            0 => format!("{one} {from}"),
            1 => format!("{one}s {from} and {to}"),
            _ => format!("{one}s {from} to {to}"),
        }
    };
    let rows = run(|held| held.row, "row");
    let columns = run(|held| held.column, "column");
    Some(format!("{}{register}: {rows}, {columns}", operand.letter()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_register_of_every_lane_holds_something_once() {
        for shape in SHAPES {
            for operand in shape.operands {
                let held = shape.fragment(*operand);
                let places: HashSet<(u32, u32, u32)> = held.iter().map(|h| (h.lane, h.register, h.part)).collect();
                assert_eq!(places.len(), held.len(), "{} {operand:?}: two elements in one place", shape.name);
                for h in &held {
                    assert!((h.lane as usize) < shape.lanes(), "{} {operand:?}: lane {}", shape.name, h.lane);
                    assert!(h.register < shape.registers(*operand), "{} {operand:?}: {h:?}", shape.name);
                }
            }
        }
    }

    /// Entries of the manual's tables: shape, operand, row, column, lane, register, part.
    #[test]
    fn the_rule_is_the_manuals() {
        use Operand::{A, B, C, Tile};
        for (shape, operand, row, column, lane, register, part) in [
            (0, A, 0, 0, 0, 0, 0),
            (0, A, 0, 9, 0, 2, 1),
            (0, A, 8, 2, 1, 1, 0),
            (0, A, 15, 15, 31, 3, 1),
            (0, B, 9, 3, 12, 1, 1),
            (0, C, 8, 1, 0, 3, 0),
            (1, A, 8, 5, 1, 3, 0),
            (1, B, 6, 7, 30, 1, 0),
            (2, A, 1, 21, 5, 2, 1),
            (2, B, 18, 2, 8, 1, 2),
            (3, A, 9, 40, 5, 3, 0),
            (4, Tile, 9, 3, 5, 1, 1),
            (4, Tile, 0, 8, 0, 2, 0),
            (5, Tile, 3, 1, 5, 0, 1),
            (6, C, 24, 9, 32, 7, 0),
        ] {
            let found = SHAPES[shape].holder(operand, row, column);
            assert_eq!(
                (found.lane, found.register, found.part),
                (lane, register, part),
                "{} {operand:?} {row},{column}",
                SHAPES[shape].name
            );
        }
        assert_eq!(SHAPES[4].addressed_row(Tile, 13), Some((13, 0)), "matrix 1 is the lower left");
        assert_eq!(SHAPES[4].addressed_row(Tile, 17), Some((1, 8)), "matrix 2 is the upper right");
    }
}
