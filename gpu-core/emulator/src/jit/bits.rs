//! Templates of what looks at the bits of a word, of votes, and of products that need both halves.

use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};

use super::emit::{Emitter, register};
use super::lanes::{T0, T1, T2, T3, in_memory, three};
use crate::exec::op::Op;
use crate::exec::template::Native;

/// For `vpshufd`: the upper half of every 64 bits in both halves. (The assembler's `vpsrlq` by a number leaves half of a register
/// out, its `vpblendd` swaps what it takes.)
const UPPER: i8 = 0xf5u8 as i8;

/// Bytes for each number of four bits, in both halves of a register.
fn of_nibbles(of: impl Fn(u8) -> u8) -> [u32; 8] {
    let byte = |at: usize| of(at as u8);
    std::array::from_fn(|word| u32::from_le_bytes(std::array::from_fn(|at| byte((4 * word + at) % 16))))
}

impl Emitter<'_> {
    /// Of eight words in `x`.
    pub(crate) fn bits_of(&mut self, native: Native, x: u8, to: u8) {
        match native {
            Native::Ones32 => {
                let [low, ones, bytes, halves] =
                    [[0x0f0f_0f0f; 8], of_nibbles(|n| n.count_ones() as u8), [0x0101_0101; 8], [0x0001_0001; 8]]
                        .map(|words| self.constant(words));
                dynasm!(self.ops; .arch x64
                    ; vpand Ry(T1), Ry(x), [=>low]
                    ; vpsrld Ry(T2), Ry(x), 4
                    ; vpand Ry(T2), Ry(T2), [=>low]
                    ; vmovups Ry(T3), [=>ones]
                    ; vpshufb Ry(T1), Ry(T3), Ry(T1)
                    ; vpshufb Ry(T2), Ry(T3), Ry(T2)
                    ; vpaddb Ry(T1), Ry(T1), Ry(T2)
                    // Bytes to halves, and those to words.
                    ; vpmaddubsw Ry(T1), Ry(T1), [=>bytes]
                    ; vpmaddwd Ry(to), Ry(T1), [=>halves]
                );
            }
            Native::Reverse32 => {
                let reversed = |n: u8| n.reverse_bits() >> 4;
                let order = std::array::from_fn(|word| 0x0001_0203 + 0x0404_0404 * (word as u32 % 4));
                let [order, low, up, down] =
                    [order, [0x0f0f_0f0f; 8], of_nibbles(|n| reversed(n) << 4), of_nibbles(reversed)]
                        .map(|words| self.constant(words));
                dynasm!(self.ops; .arch x64
                    ; vpshufb Ry(T0), Ry(x), [=>order]
                    ; vpand Ry(T1), Ry(T0), [=>low]
                    ; vpsrld Ry(T2), Ry(T0), 4
                    ; vpand Ry(T2), Ry(T2), [=>low]
                    ; vmovups Ry(T3), [=>up]
                    ; vpshufb Ry(T1), Ry(T3), Ry(T1)
                    ; vmovups Ry(T3), [=>down]
                    ; vpshufb Ry(T2), Ry(T3), Ry(T2)
                    ; vpor Ry(to), Ry(T1), Ry(T2)
                );
            }
            Native::Leading32 => self.leading(x, to),
            _ => {
                let mut x = x;
                if matches!(native, Native::FindS32 | Native::FindShiftS32) {
                    dynasm!(self.ops; .arch x64; vpsrad Ry(T1), Ry(x), 31; vpxor Ry(T0), Ry(x), Ry(T1));
                    x = T0;
                }
                self.leading(x, T1);
                if matches!(native, Native::FindShiftU32 | Native::FindShiftS32) {
                    let all = self.constant([32; 8]);
                    dynasm!(self.ops; .arch x64; vpcmpeqd Ry(T2), Ry(T1), [=>all]; vpor Ry(to), Ry(T1), Ry(T2));
                } else {
                    let last = self.constant([31; 8]);
                    dynasm!(self.ops; .arch x64; vmovups Ry(T2), [=>last]; vpsubd Ry(to), Ry(T2), Ry(T1));
                }
            }
        }
    }

    /// Zeros before the first one: by the exponent of the word as a float, where nothing is rounded up to the next power of
    /// two since the bit behind the first one is taken away. As a signed one the highest bit is a sign, which makes the
    /// exponent greater than all that counts; zero has one less than all others.
    fn leading(&mut self, x: u8, to: u8) {
        let [highest, all] = [[158; 8], [32; 8]].map(|words| self.constant(words));
        dynasm!(self.ops; .arch x64
            ; vpsrld Ry(T1), Ry(x), 1
            ; vpandn Ry(T1), Ry(T1), Ry(x)
            ; vcvtdq2ps Ry(T1), Ry(T1)
            ; vpsrld Ry(T1), Ry(T1), 23
            ; vmovups Ry(T2), [=>highest]
            ; vpsubusw Ry(T1), Ry(T2), Ry(T1)
            ; vpminud Ry(to), Ry(T1), [=>all]
        );
    }

    /// The low part of eight words in `x`, as a word.
    pub(crate) fn extend(&mut self, native: Native, x: u8, to: u8) {
        match native {
            Native::ExtendU8 | Native::ExtendU16 => {
                let low = self.constant([if native == Native::ExtendU8 { 0xff } else { 0xffff }; 8]);
                dynasm!(self.ops; .arch x64; vpand Ry(to), Ry(x), [=>low]);
            }
            _ => {
                let up = if native == Native::ExtendS8 { 24 } else { 16 };
                dynasm!(self.ops; .arch x64; vpslld Ry(T1), Ry(x), up; vpsrad Ry(to), Ry(T1), up);
            }
        }
    }

    /// Changes the sign of eight floats, or takes it away: in `T0`.
    pub(crate) fn sign(&mut self, native: Native, x: u8) {
        if native == Native::NegF32 {
            let sign = self.constant([1 << 31; 8]);
            dynasm!(self.ops; .arch x64; vpxor Ry(T0), Ry(x), [=>sign]);
        } else {
            let rest = self.constant([u32::MAX >> 1; 8]);
            dynasm!(self.ops; .arch x64; vpand Ry(T0), Ry(x), [=>rest]);
        }
    }

    /// The high halves of products of eight words, which are made of every second one.
    pub(crate) fn high_product(&mut self, signed: bool, x: u8, y: u8, to: u8) {
        let odd = self.constant64([0xffff_ffff << 32; 4]);
        dynasm!(self.ops; .arch x64; vpshufd Ry(T2), Ry(x), UPPER; vpshufd Ry(T3), Ry(y), UPPER);
        if signed {
            dynasm!(self.ops; .arch x64; vpmuldq Ry(T0), Ry(x), Ry(y); vpmuldq Ry(T2), Ry(T2), Ry(T3));
        } else {
            dynasm!(self.ops; .arch x64; vpmuludq Ry(T0), Ry(x), Ry(y); vpmuludq Ry(T2), Ry(T2), Ry(T3));
        }
        dynasm!(self.ops; .arch x64
            ; vpshufd Ry(T0), Ry(T0), UPPER
            ; vmovups Ry(T3), [=>odd]
            ; vblendvps Ry(to), Ry(T0), Ry(T2), Ry(T3)
        );
    }

    /// The low 64 bits of products of 64 bits, and an addend if there is one.
    pub(crate) fn product64(&mut self, op: &Op) {
        let (a, b) = (in_memory(op.a), in_memory(op.b));
        self.widen();
        for part in 0..8 {
            self.loaded(a, part, T0);
            self.loaded(b, part, T1);
            dynasm!(self.ops; .arch x64
                ; vpshufd Ry(T2), Ry(T0), UPPER
                ; vpmuludq Ry(T2), Ry(T2), Ry(T1)
                ; vpshufd Ry(T3), Ry(T1), UPPER
                ; vpmuludq Ry(T3), Ry(T3), Ry(T0)
                ; vpaddq Ry(T2), Ry(T2), Ry(T3)
                ; vpsllq Ry(T2), Ry(T2), 32
                ; vpmuludq Ry(T0), Ry(T0), Ry(T1)
                ; vpaddq Ry(T0), Ry(T0), Ry(T2)
            );
            if !op.c.is_none() {
                let c = in_memory(op.c);
                three!(self, vpaddq, T0, T0, c, part);
            }
            self.store(op.d, part, T0);
        }
        self.wrote(op.d, 256, None);
    }

    /// Whether all lanes vote.
    pub fn all_vote(&self, op: &Op) -> bool {
        self.number_of(op.e) == Some([u32::MAX; 32])
    }

    /// What all lanes vote.
    pub(crate) fn vote(&mut self, op: &Op) {
        let at = (op.a.0 & !crate::exec::op::Slot::POOL) as i32;
        match op.a.is_pool() {
            true => dynasm!(self.ops; .arch x64; mov eax, [r13 + at]),
            false => dynasm!(self.ops; .arch x64; mov eax, [r12 + at]),
        }
        if op.imm >> 8 != 0 {
            dynasm!(self.ops; .arch x64; not eax);
        }
        let everywhere = self.ops.new_dynamic_label();
        match op.imm & 0xff {
            3 => {
                let group = self.group();
                dynasm!(self.ops; .arch x64; vmovd xmm12, eax; vpbroadcastd ymm12, xmm12);
                for part in 0..4 {
                    let to = register(group, part);
                    dynasm!(self.ops; .arch x64; vmovaps Ry(to), ymm12);
                    self.store(op.d, part, to);
                }
                self.wrote(op.d, 128, Some(group));
                return;
            }
            // All of them: -1 and nothing else is one less than what has no carry.
            0 => dynasm!(self.ops; .arch x64; cmp eax, -1; sete al; movzx eax, al; neg eax),
            1 => dynasm!(self.ops; .arch x64; neg eax; sbb eax, eax),
            _ => dynasm!(self.ops
                ; .arch x64
                ; cmp eax, -1
                ; je =>everywhere
                ; cmp eax, 1
                ; sbb eax, eax
                ; =>everywhere
            ),
        }
        self.predicate(op, false);
    }
}
