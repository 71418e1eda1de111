//! Operands: the same on every machine, with edges, everything near 1, wide ranges and arbitrary bits.

use super::Probe;
use ptx_emulator::num::mma::sparse::Pattern;

/// What one operand holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    Int16,
    Int32,
    Int64,
    F16,
    Bf16,
    F32,
    F64,
    /// Two floats in 32 bits.
    F16x2,
    Bf16x2,
    /// Four floats in 32 bits.
    E4m3x4,
    E5m2x4,
    /// Random bits.
    Bits32,
    /// f32 and two f16 that a matrix product is added to: zeros where the products are tiny.
    SumF32,
    SumF16x2,
    /// Every 16-bit value, one a case.
    Every16,
    /// The same in the lower half of 32 bits, and in the upper half in another order.
    EveryPair,
    /// f32 over the whole line in equal steps of the bit pattern.
    SweepF32,
    SweepF64,
    /// f32 halfway between two neighbours of 10 fraction bits.
    TiesF32,
    /// 0 to 80, and sometimes anything.
    Amount,
    /// -40 to 40.
    Offset,
    /// 0 or 1; whole warps of one of them as well.
    Flag,
    /// Below a limit.
    Below(u32),
    /// As `Below`, in 64 bits.
    Below64(u32),
    /// A lane mask that all lanes of a warp share; not 0.
    WarpMask,
    /// Clamp and segment mask of `shfl`.
    Segment,
    /// 2:4 metadata.
    Metadata(Pattern),
    /// Always this.
    Constant(u32),
}

impl Fill {
    /// Width of the register.
    pub fn bits(self) -> u32 {
        match self {
            Fill::Int16 | Fill::F16 | Fill::Bf16 | Fill::Every16 => 16,
            Fill::Int64 | Fill::F64 | Fill::SweepF64 | Fill::Below64(_) => 64,
            _ => 32,
        }
    }

    /// Bytes that one operand takes in the input buffer.
    pub fn slot_bytes(self) -> usize {
        if self.bits() == 64 { 8 } else { 4 }
    }
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        let mut mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5eed_5eed_5eed_5eed;
        mixed = (mixed ^ mixed >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mut random = Random(mixed | 1);
        random.bits();
        random
    }

    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: u64) -> u64 {
        (self.bits() >> 32) % limit
    }
}

/// What kind of numbers operands are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mood {
    NearOne,
    /// Within a factor of 16 of 1.
    Close,
    Wide,
    /// Any bit pattern.
    Arbitrary,
    Edges,
    /// Of products with these, the sums lie about the least number of the result. For matrix units only.
    Tiny,
}

const MOODS: [Mood; 5] = [Mood::NearOne, Mood::Close, Mood::Wide, Mood::Arbitrary, Mood::Edges];

/// Patterns of a float with `e` exponent and `f` fraction bits where something changes: zeros, subnormals, the least
/// and greatest normals, infinity, NaNs, 1 and its neighbours, halves, powers of two, whole numbers around limits.
fn float_edges(e: u32, f: u32) -> Vec<u64> {
    let one = ((1u64 << (e - 1)) - 1) << f;
    let top = ((1u64 << e) - 1) << f;
    let ulp = 1u64;
    let positive = [
        0,
        1,
        2,
        (1 << f) - 1,
        1 << f,
        (1 << f) + 1,
        1 << (f - 1),
        one,
        one + ulp,
        one - ulp,
        one - (1 << f),
        one + (1 << f),
        one | 1 << (f - 1),
        (one + (1 << f)) | 1 << (f - 1),
        top - 1,
        top - (1 << f),
        top,
        top | 1 << (f - 1),
        top | 1,
        top | ((1 << f) - 1),
        one + (u64::from(f) << f),
        one + ((u64::from(f) + 1) << f),
    ];
    let sign = 1u64 << (e + f);
    // 8-bit formats have no room for some of them.
    positive.iter().map(|x| x & (sign - 1)).flat_map(|x| [x, x | sign]).collect()
}

fn int_edges(bits: u32) -> Vec<u64> {
    let mask = u64::MAX >> (64 - bits);
    let top = 1u64 << (bits - 1);
    let list = [0, 1, 2, 3, 7, 31, 32, 0xff, 0x7f, 0x80, 0x7fff, 0x8000, 0xffff, top, top - 1, top + 1, top >> 1];
    list.iter().flat_map(|x| [x & mask, x.wrapping_neg() & mask]).collect()
}

fn float(random: &mut Random, e: u32, f: u32, mood: Mood) -> u64 {
    let bits = random.bits();
    let bias = (1u64 << (e - 1)) - 1;
    let sign = (bits >> 63) << (e + f);
    let reach = if e < 5 { 2 } else { 4 };
    let field = match mood {
        Mood::NearOne => bias,
        Mood::Close => bias - reach + random.below(2 * reach + 1),
        Mood::Wide => bias / 2 + random.below(bias + 1),
        Mood::Arbitrary => return sign | bits & ((1 << (e + f)) - 1),
        Mood::Edges => {
            let edges = float_edges(e, f);
            return edges[random.below(edges.len() as u64) as usize];
        }
        // Half of them are missing, so that ties and single products are met, too.
        Mood::Tiny if random.below(2) == 0 => return sign,
        // Half of the exponent of the least f32, and powers of two down to the least f16.
        Mood::Tiny if e == 8 => bias - 81 + random.below(13),
        Mood::Tiny => {
            let powers = [1, 2, 1 << (f - 1), 1 << f, 2 << f, 4 << f, 5 << f, 1 << f | bits & ((1 << f) - 1)];
            return sign | powers[random.below(8) as usize];
        }
    };
    sign | field << f | bits & ((1 << f) - 1)
}

fn integer(random: &mut Random, bits: u32, mood: Mood) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    let raw = random.bits();
    mask & match mood {
        Mood::NearOne => random.below(17).wrapping_sub(8),
        // Every magnitude alike.
        Mood::Close | Mood::Wide => ((raw as i64) >> random.below(u64::from(bits))) as u64 >> (64 - bits),
        Mood::Arbitrary => raw >> (64 - bits),
        Mood::Edges => {
            let edges = int_edges(bits);
            edges[random.below(edges.len() as u64) as usize]
        }
        Mood::Tiny => random.below(2),
    }
}

fn edges_of(fill: Fill) -> Option<Vec<u64>> {
    Some(match fill {
        Fill::Int16 => int_edges(16),
        Fill::Int32 => int_edges(32),
        Fill::Int64 => int_edges(64),
        Fill::F16 => float_edges(5, 10),
        Fill::Bf16 => float_edges(8, 7),
        Fill::F32 | Fill::SweepF32 => float_edges(8, 23),
        Fill::F64 | Fill::SweepF64 => float_edges(11, 52),
        Fill::F16x2 => float_edges(5, 10).into_iter().map(|x| x | x << 16).collect(),
        Fill::Bf16x2 => float_edges(8, 7).into_iter().map(|x| x | x << 16).collect(),
        _ => return None,
    })
}

/// Operand `index` of case `case`: the first cases of a scalar instruction go through all pairs of edges.
pub fn operand(probe: &Probe, index: usize, case: usize) -> u64 {
    let fill = probe.inputs[index];
    if !probe.uniform_mood
        && index < 2
        && let Some(edges) = edges_of(fill)
    {
        let first = if index == 0 { edges.len() } else { edges_of(probe.inputs[0]).map_or(1, |edges| edges.len()) };
        let at = if index == 0 { case % first } else { case / first };
        let pairs = if probe.inputs.len() == 1 { first } else { first * edges.len() };
        // Not more than a quarter of the cases.
        if case < pairs.min(probe.cases() / 4) && at < edges.len() {
            return edges[at];
        }
    }
    let group = if probe.uniform_mood { case / 32 } else { case };
    let mut moods =
        Random::new(seed(&probe.name) ^ (group as u64) << 20 ^ if probe.uniform_mood { 0 } else { index as u64 });
    let mood = MOODS[moods.below(5) as usize];
    let mood = if probe.is_tiny(case / probe.threads) { Mood::Tiny } else { mood };
    // Every other case of two floats has a second one close to the first or its negation, where sums cancel.
    if !probe.uniform_mood
        && index > 0
        && index + 1 == probe.inputs.len()
        && moods.below(8) == 0
        && fill == probe.inputs[0]
    {
        let sign = match fill {
            Fill::F16 | Fill::Bf16 => 1 << 15,
            Fill::F32 => 1 << 31,
            Fill::F64 => 1 << 63,
            _ => 0,
        };
        if sign != 0 {
            return (operand(probe, 0, case) ^ sign).wrapping_add(moods.below(3)).wrapping_sub(1)
                & (u64::MAX >> (64 - fill.bits()));
        }
    }
    let mut random = Random::new(seed(&probe.name) ^ ((case as u64) << 24 | (index as u64) << 16 | 1));
    value(probe, fill, case, mood, &mut random)
}

fn value(probe: &Probe, fill: Fill, case: usize, mood: Mood, random: &mut Random) -> u64 {
    let warp = |salt: u64| Random::new(seed(&probe.name) ^ ((case / 32) as u64) << 12 ^ salt);
    let sweep = |bits: u32, random: &mut Random| {
        let step = (1u128 << bits) / probe.cases() as u128;
        (case as u128 * step) as u64 + random.bits() % (step as u64)
    };
    match fill {
        Fill::Int16 => integer(random, 16, mood),
        Fill::Int32 => integer(random, 32, mood),
        Fill::Int64 => integer(random, 64, mood),
        Fill::F16 => float(random, 5, 10, mood),
        Fill::Bf16 => float(random, 8, 7, mood),
        Fill::F32 => float(random, 8, 23, mood),
        Fill::F64 => float(random, 11, 52, mood),
        Fill::F16x2 => float(random, 5, 10, mood) | float(random, 5, 10, mood) << 16,
        Fill::SumF32 | Fill::SumF16x2 if mood == Mood::Tiny => random.bits() & 0x8000_8000,
        Fill::SumF32 => float(random, 8, 23, mood),
        Fill::SumF16x2 => float(random, 5, 10, mood) | float(random, 5, 10, mood) << 16,
        Fill::Bf16x2 => float(random, 8, 7, mood) | float(random, 8, 7, mood) << 16,
        Fill::E4m3x4 => (0..4).fold(0, |all, _| all << 8 | float(random, 4, 3, mood)),
        Fill::E5m2x4 => (0..4).fold(0, |all, _| all << 8 | float(random, 5, 2, mood)),
        Fill::Bits32 => random.bits() >> 32,
        Fill::Every16 => (case & 0xffff) as u64,
        Fill::EveryPair => (case & 0xffff | (case.wrapping_mul(40_503) & 0xffff) << 16) as u64,
        Fill::SweepF32 => sweep(32, random),
        Fill::SweepF64 => sweep(64, random),
        Fill::TiesF32 => float(random, 8, 23, mood) & !0x1fff | 0x1000,
        Fill::Amount if mood == Mood::Arbitrary => random.bits() >> 32,
        Fill::Amount => random.below(81),
        Fill::Offset => random.below(81).wrapping_sub(40) & 0xffff_ffff,
        Fill::Flag => match warp(1).below(4) {
            0 => 0,
            1 => 1,
            _ => random.below(2),
        },
        // Few values in some warps, so that lanes meet equal ones.
        Fill::Below(limit) | Fill::Below64(limit) => match warp(2).below(3) {
            0 => warp(3).below(u64::from(limit)),
            _ => random.below(u64::from(limit)),
        },
        Fill::WarpMask => match warp(4).below(4) {
            0 => 0xffff_ffff,
            _ => (warp(5).bits() >> 32).max(1),
        },
        Fill::Segment => match mood {
            Mood::NearOne => 0x1f,
            Mood::Close => [0x0000, 0x1c1f, 0x181f, 0x101f][random.below(4) as usize],
            _ => random.bits() & 0x1f1f,
        },
        Fill::Metadata(pattern) => (0..8).fold(0, |all, field| {
            let code: u64 = match pattern {
                Pattern::OneOfTwo => [0b0100, 0b1110][random.below(2) as usize],
                _ => [0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110][random.below(6) as usize],
            };
            all | code << (4 * field)
        }),
        Fill::Constant(value) => value.into(),
    }
}

/// FNV-1a.
fn seed(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)) << 1
}

/// The input buffer: operand after operand, each for all cases; then the staged data of all blocks.
pub fn buffer(probe: &Probe) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, fill) in probe.inputs.iter().enumerate() {
        for case in 0..probe.cases() {
            bytes.extend_from_slice(&operand(probe, index, case).to_le_bytes()[..fill.slot_bytes()]);
        }
        bytes.resize(bytes.len().next_multiple_of(256), 0);
    }
    if let Some(staged) = &probe.staged {
        for block in 0..probe.blocks {
            let mood = if probe.is_tiny(block) { Mood::Tiny } else { MOODS[block % 5] };
            let mut random = Random::new(seed(&probe.name) ^ (block as u64) << 8 ^ 77);
            for part in &staged.parts {
                for at in (0..staged.part_bytes).step_by(part.slot_bytes()) {
                    let word = value(probe, *part, block * staged.bytes() + at, mood, &mut random);
                    bytes.extend_from_slice(&word.to_le_bytes()[..part.slot_bytes()]);
                }
            }
        }
    }
    bytes
}

/// Bytes of [`buffer`] before the staged data, and where each operand starts.
pub fn layout(probe: &Probe) -> (Vec<usize>, usize) {
    let mut at = 0;
    let mut starts = Vec::new();
    for fill in &probe.inputs {
        starts.push(at);
        at = (at + probe.cases() * fill.slot_bytes()).next_multiple_of(256);
    }
    (starts, at)
}
