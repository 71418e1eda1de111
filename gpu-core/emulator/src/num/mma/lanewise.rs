//! Products of `mma.m16n8kX`, and of the `wmma` shapes made of them, in the lanes where their results belong.
//!
//! A lane's results are of the rows g and g + 8 and the columns 2t and 2t + 1 (`g = lane / 4`, `t = lane % 4`). What they need
//! of A lies in its own group of four lanes, one permutation away; what they need of B is the same for all groups. So nothing
//! is put into tiles and back but B. The arithmetic is that of [`super::dot`], bit for bit.

use std::arch::x86_64::*;

use super::form::{Form, Input, Kind, Output};
use super::warp::Row;
use super::{Accumulator, Element, Model, Order};

/// Columns of a tile.
const COLUMNS: usize = 8;
/// Elements of A in a lane, at most: four registers of four.
const MOST_A: usize = 16;
/// Inner dimension, at most.
const MOST_K: usize = 32;
/// Products whose cut terms fit in 32 bits together, beside an accumulator.
const FIT: usize = 8;
/// 2^128
const TOO_LARGE: f64 = 340_282_366_920_938_463_463_374_607_431_768_211_456.0;

/// Whether a form is of this kind: A in four-lane groups, results of f32, and no scales or holes.
pub fn takes(form: &Form, model: &Model) -> bool {
    let (Input::Float(a), Input::Float(b)) = (form.a, form.b) else { return false };
    let bits = form.a.container_bits(form.kind);
    let per = (32 / bits) as usize;
    form.m == 16
        && form.n.is_multiple_of(COLUMNS)
        && form.k <= MOST_K
        && form.k.is_multiple_of(4 * per)
        && (form.c, form.d) == (Output::F32, Output::F32)
        && matches!(form.kind, Kind::Plain | Kind::F8f6f4)
        && form.scale.is_none()
        && form.sparse.is_none()
        && bits >= 8
        && bits == form.b.container_bits(form.kind)
        // Those lie in the middle of a byte.
        && ![a, b].contains(&Element::E2m1)
        && model.accumulator != Accumulator::F16
        && matches!(model.order, Order::Chain(group) if group.is_multiple_of(4 * per))
}

/// Significands and exponents of A: for each register and element in it, those of all lanes.
struct Left {
    significand: [[i32; 32]; MOST_A],
    exponent: [[i32; 32]; MOST_A],
}

/// The same of B, for each index of K: the even columns, then the odd ones.
struct Right {
    significand: [[i32; COLUMNS]; MOST_K],
    exponent: [[i32; COLUMNS]; MOST_K],
}

/// How codes are read, and what was met among them.
struct Codes {
    /// Bits of the exponent, of the fraction, bias.
    layout: (u32, u32, i32),
    preshift: u32,
    /// Lowest bits that are not looked at.
    unread: u32,
    /// The largest exponent field, or (`whole`) code without its sign, that was met in each lane; `odd`: the one of NaN and infinity.
    most: [i32; 32],
    whole: bool,
    odd: i32,
}

impl Codes {
    fn of(element: Element, preshift: u32) -> Codes {
        let layout = element.layout();
        let whole = element == Element::E4m3;
        let odd = match element {
            Element::F16 | Element::Bf16 | Element::Tf32 | Element::E5m2 => (1 << layout.0) - 1,
            Element::E4m3 => 0x7f,
            // These have neither.
            Element::E3m2 | Element::E2m3 | Element::E2m1 => i32::MAX,
        };
        let unread = if element == Element::Tf32 { 13 } else { 0 };
        Codes { layout, preshift, unread, most: [0; 32], whole, odd }
    }

    fn are_odd(&self) -> bool {
        self.most.contains(&self.odd)
    }
}

/// How K is parted: elements in a register, and products that are summed before a rounding.
#[derive(Clone, Copy)]
struct Parts {
    k: usize,
    per: usize,
    group: usize,
}

/// D = A x B + C. False: something is not finite, which goes another way; nothing was done.
///
/// `form` must be one that [`takes`] says; registers in the order of the instruction.
pub fn run(form: &Form, model: &Model, a: &[&Row], b: &[&Row], c: &[&Row], d: &mut [Row], vectors: Vectors) -> bool {
    match vectors {
        // SAFETY: the processor was found to have AVX-512.
        Vectors::Sixteen => unsafe { sixteen::run(form, model, a, b, c, d) },
        // SAFETY: the processor was found to have AVX2.
        Vectors::Eight => unsafe { eight::run(form, model, a, b, c, d) },
    }
}

/// How many lanes a processor takes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vectors {
    Eight,
    Sixteen,
}

impl Vectors {
    /// Those that this processor has, the most lanes first.
    pub fn here() -> impl Iterator<Item = Vectors> {
        let sixteen = crate::features::widest().then_some(Vectors::Sixteen);
        sixteen.into_iter().chain(crate::features::wide().then_some(Vectors::Eight))
    }
}

/// Four of what an expression gives for an index. No closure: not all that a library does with one is compiled for the
/// processor that a function is for.
macro_rules! four {
    ($i:ident, $each:expr) => {
        [
            {
                let $i = 0;
                $each
            },
            {
                let $i = 1;
                $each
            },
            {
                let $i = 2;
                $each
            },
            {
                let $i = 3;
                $each
            },
        ]
    };
}

/// The same algorithm in vectors of `WIDTH` lanes, for a processor with some features. What it calls is beside it.
macro_rules! algorithm {
    ($features:literal) => {
        #[target_feature(enable = $features)]
        pub fn run(form: &Form, model: &Model, a: &[&Row], b: &[&Row], c: &[&Row], d: &mut [Row]) -> bool {
            let (Input::Float(of_a), Input::Float(of_b), Order::Chain(group)) = (form.a, form.b, model.order) else {
                return false;
            };
            let bits = form.a.container_bits(form.kind);
            let parts = Parts { k: form.k, per: (32 / bits) as usize, group };
            let per = parts.per;
            let mut odd = false;
            for row in c {
                for bits in *row {
                    odd |= bits >> 23 & 0xff == 0xff;
                }
            }
            if odd {
                return false;
            }
            let mut left = Left { significand: [[0; 32]; MOST_A], exponent: [[0; 32]; MOST_A] };
            // `wmma` fragments repeat their registers.
            let registers = form.k / (2 * per);
            let preshift = model.fraction_bits - (of_a.fraction_bits() + of_b.fraction_bits());
            let mut codes = Codes::of(of_a, preshift);
            for (register, row) in a[..registers].iter().enumerate() {
                for element in 0..per {
                    let place = (register * per + element) % MOST_A;
                    decode_row(
                        &mut codes,
                        row,
                        element as u32 * bits,
                        &mut left.significand[place],
                        &mut left.exponent[place],
                    );
                }
            }
            if codes.are_odd() {
                return false;
            }
            let mut codes = Codes::of(of_b, 0);
            let registers = registers / 2;
            for tile in 0..form.n / COLUMNS {
                let mut right = Right { significand: [[0; COLUMNS]; MOST_K], exponent: [[0; COLUMNS]; MOST_K] };
                for (register, row) in b[tile * registers..][..registers].iter().enumerate() {
                    for element in 0..per {
                        let (mut significand, mut exponent) = ([0; 32], [0; 32]);
                        decode_row(&mut codes, row, element as u32 * bits, &mut significand, &mut exponent);
                        let first = register * 4 * per + element;
                        turn(&significand, &mut right.significand, first, per);
                        turn(&exponent, &mut right.exponent, first, per);
                    }
                }
                if codes.are_odd() {
                    return false;
                }
                for first in (0..32).step_by(WIDTH) {
                    let (c, d) = (&c[4 * tile..][..4], &mut d[4 * tile..][..4]);
                    if !of_lanes(&left, &right, parts, model, first, c, d) {
                        return false;
                    }
                }
            }
            true
        }

        /// The four results of each of the lanes from `first` on. False: a sum on the way to them was infinite.
        #[inline]
        #[target_feature(enable = $features)]
        fn of_lanes(
            left: &Left,
            right: &Right,
            parts: Parts,
            model: &Model,
            first: usize,
            c: &[&Row],
            d: &mut [Row],
        ) -> bool {
            let Parts { k, per, group } = parts;
            let fraction_bits = model.fraction_bits;
            let mut sum = four!(i, load(&c[i], first));
            for start in (0..k).step_by(group) {
                if start > 0 && (is_infinite(sum[0]) | is_infinite(sum[1]) | is_infinite(sum[2]) | is_infinite(sum[3]))
                {
                    return false;
                }
                let pairs = start / (4 * per)..k.min(start + group) / (4 * per);
                let own = four!(i, decode(sum[i], model));
                let mut largest = four!(i, own[i].1);
                for pair in pairs.clone() {
                    for t in 0..4 {
                        for element in 0..per {
                            let (upper, lower) = of_a(&left.exponent, parts, first, pair, t, element);
                            let (even, odd) = of_b(&right.exponent, parts, pair, t, element);
                            largest = [
                                max(largest[0], add(upper, even)),
                                max(largest[1], add(upper, odd)),
                                max(largest[2], add(lower, even)),
                                max(largest[3], add(lower, odd)),
                            ];
                        }
                    }
                }
                let mut part = four!(i, cut(own[i].0, sub(largest[i], own[i].1)));
                let mut total = [[none(); 2]; 4];
                let mut terms = 0;
                for pair in pairs {
                    for t in 0..4 {
                        for element in 0..per {
                            if terms == FIT {
                                total = four!(i, widen(part[i], total[i]));
                                part = [all(0); 4];
                                terms = 0;
                            }
                            terms += 1;
                            let (upper, lower) = of_a(&left.significand, parts, first, pair, t, element);
                            let (even, odd) = of_b(&right.significand, parts, pair, t, element);
                            let (upper_e, lower_e) = of_a(&left.exponent, parts, first, pair, t, element);
                            let (even_e, odd_e) = of_b(&right.exponent, parts, pair, t, element);
                            let by = [
                                sub(sub(largest[0], upper_e), even_e),
                                sub(sub(largest[1], upper_e), odd_e),
                                sub(sub(largest[2], lower_e), even_e),
                                sub(sub(largest[3], lower_e), odd_e),
                            ];
                            part = [
                                add(part[0], cut(multiply(upper, even), by[0])),
                                add(part[1], cut(multiply(upper, odd), by[1])),
                                add(part[2], cut(multiply(lower, even), by[2])),
                                add(part[3], cut(multiply(lower, odd), by[3])),
                            ];
                        }
                    }
                }
                let base = all(fraction_bits as i32);
                sum = four!(i, positive_zero(round(widen(part[i], total[i]), sub(largest[i], base))));
                if model.accumulator == Accumulator::F32Short {
                    sum = four!(i, and(sum[i], all(!0x3ff)));
                }
            }
            for i in 0..4 {
                store(sum[i], &mut d[i], first);
            }
            true
        }

        /// What A has for the rows g and g + 8, at the inner index that lane `t` of each group holds in this place.
        #[inline]
        #[target_feature(enable = $features)]
        fn of_a(
            from: &[[i32; 32]; MOST_A],
            parts: Parts,
            first: usize,
            pair: usize,
            t: usize,
            element: usize,
        ) -> (V, V) {
            let row = |half: usize| &from[((2 * pair + half) * parts.per + element) % MOST_A];
            (of_group(load_signed(row(0), first), t), of_group(load_signed(row(1), first), t))
        }

        /// What B has there for the columns 2t and 2t + 1.
        #[inline]
        #[target_feature(enable = $features)]
        fn of_b(from: &[[i32; COLUMNS]; MOST_K], parts: Parts, pair: usize, t: usize, element: usize) -> (V, V) {
            let (halves, _) = from[((4 * pair + t) * parts.per + element) % MOST_K].as_chunks::<4>();
            (repeat(&halves[0]), repeat(&halves[1]))
        }

        /// Significands and exponents of the elements from bit `shift` of a row on.
        #[inline]
        #[target_feature(enable = $features)]
        fn decode_row(codes: &mut Codes, row: &Row, shift: u32, significand: &mut [i32; 32], exponent: &mut [i32; 32]) {
            let (exponent_bits, fraction_bits, bias) = codes.layout;
            let one = all(1);
            for first in (0..32).step_by(WIDTH) {
                let code = right(load(row, first), shift + codes.unread);
                let field = and(right(code, fraction_bits), all((1 << exponent_bits) - 1));
                let fraction = and(code, all((1 << fraction_bits) - 1));
                let size = add(fraction, left(min(field, one), fraction_bits));
                let signed = signed_as(left(size, codes.preshift), left(code, 31 - exponent_bits - fraction_bits));
                // Of a zero the exponent lies below all others.
                let own = add(sub(max(field, one), all(bias)), left(sub(min(size, one), one), 14));
                store_signed(signed, significand, first);
                store_signed(own, exponent, first);
                let key = if codes.whole { and(code, all(codes.odd)) } else { field };
                store_signed(max(load_signed(&codes.most, first), key), &mut codes.most, first);
            }
        }

        /// Significand and exponent of finite accumulators.
        #[inline]
        #[target_feature(enable = $features)]
        fn decode(bits: V, model: &Model) -> (V, V) {
            let one = all(1);
            let field = and(right(bits, 23), all(0xff));
            // The hidden bit, where the number is normal: the lesser of the field and 1.
            let hidden = left(min(field, one), 23);
            let magnitude = add(and(bits, all(0x7f_ffff)), hidden);
            let scaled = match model.fraction_bits {
                bits @ 23.. => left(magnitude, bits - 23),
                bits => right(magnitude, 23 - bits),
            };
            // Less than that of the least normal number where there is no magnitude, whose lesser with 1 then lacks 1.
            let of_zero = and(sub(min(magnitude, one), one), all(model.zero_exponent + 126));
            (signed_as(scaled, bits), add(sub(max(field, one), all(127)), of_zero))
        }
    };
}

/// Puts what the lanes hold of B, (column, t), to the rows of their inner indices.
#[inline(always)]
fn turn(from: &[i32; 32], to: &mut [[i32; COLUMNS]; MOST_K], first: usize, per: usize) {
    for t in 0..4 {
        let row = &mut to[(first + t * per) % MOST_K];
        for place in 0..COLUMNS {
            let column = 2 * (place % 4) + place / 4;
            row[place] = from[4 * column + t];
        }
    }
}

/// A row of registers from lane `first` on.
#[inline(always)]
fn lanes_from<T, const N: usize>(row: &[T; 32], first: usize) -> &[T; N] {
    row[first..].first_chunk().expect("a part of the row")
}

/// One-line functions on vectors, for a processor with some features.
macro_rules! vector {
    ($features:literal $(fn $name:ident($($arg:ident: $ty:ty),*) -> $out:ty { $body:expr })*) => {
        $(
            #[inline]
            #[target_feature(enable = $features)]
            fn $name($($arg: $ty),*) -> $out {
                $body
            }
        )*
    };
}

/// Eight lanes with AVX2.
mod eight {
    use super::*;

    type V = __m256i;
    type Wide = __m256d;
    const WIDTH: usize = 8;

    algorithm!("avx2,fma,bmi1,bmi2,lzcnt,popcnt");

    vector! { "avx2,fma,bmi1,bmi2,lzcnt,popcnt"
        fn load(row: &Row, first: usize) -> V {
            // SAFETY: the reference is to as many bytes.
            unsafe { _mm256_loadu_si256(lanes_from::<u32, 8>(row, first).as_ptr().cast()) }
        }
        fn load_signed(row: &[i32; 32], first: usize) -> V {
            // SAFETY: the reference is to as many bytes.
            unsafe { _mm256_loadu_si256(lanes_from::<i32, 8>(row, first).as_ptr().cast()) }
        }
        fn store(x: V, row: &mut Row, first: usize) -> () {
            // SAFETY: the reference is to as many bytes.
            unsafe { _mm256_storeu_si256(row[first..][..WIDTH].as_mut_ptr().cast(), x) }
        }
        fn store_signed(x: V, row: &mut [i32; 32], first: usize) -> () {
            // SAFETY: the reference is to as many bytes.
            unsafe { _mm256_storeu_si256(row[first..][..WIDTH].as_mut_ptr().cast(), x) }
        }
        fn repeat(from: &[i32; 4]) -> V {
            // SAFETY: the reference is to as many bytes.
            unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(from.as_ptr().cast())) }
        }
        fn all(value: i32) -> V { _mm256_set1_epi32(value) }
        fn none() -> Wide { _mm256_setzero_pd() }
        fn is_infinite(x: V) -> bool {
            _mm256_movemask_epi8(_mm256_cmpeq_epi32(and(right(x, 23), all(0xff)), all(0xff))) != 0
        }
        fn of_group(x: V, t: usize) -> V {
            _mm256_castps_si256(_mm256_permutevar_ps(_mm256_castsi256_ps(x), all(t as i32)))
        }
        fn add(x: V, y: V) -> V { _mm256_add_epi32(x, y) }
        fn sub(x: V, y: V) -> V { _mm256_sub_epi32(x, y) }
        fn multiply(x: V, y: V) -> V { _mm256_mullo_epi32(x, y) }
        fn max(x: V, y: V) -> V { _mm256_max_epi32(x, y) }
        fn min(x: V, y: V) -> V { _mm256_min_epi32(x, y) }
        fn and(x: V, y: V) -> V { _mm256_and_si256(x, y) }
        fn left(x: V, by: u32) -> V { _mm256_sll_epi32(x, _mm_cvtsi32_si128(by as i32)) }
        fn right(x: V, by: u32) -> V { _mm256_srl_epi32(x, _mm_cvtsi32_si128(by as i32)) }
        // Of a sign of 0 the instruction would make 0.
        fn signed_as(x: V, sign: V) -> V { _mm256_sign_epi32(x, _mm256_or_si256(sign, all(1))) }
        fn cut(x: V, by: V) -> V { _mm256_sign_epi32(_mm256_srlv_epi32(_mm256_abs_epi32(x), by), x) }
        fn widen(x: V, sum: [Wide; 2]) -> [Wide; 2] {
            [
                _mm256_add_pd(sum[0], _mm256_cvtepi32_pd(_mm256_castsi256_si128(x))),
                _mm256_add_pd(sum[1], _mm256_cvtepi32_pd(_mm256_extracti128_si256::<1>(x))),
            ]
        }
        fn positive_zero(x: V) -> V {
            _mm256_castps_si256(_mm256_add_ps(_mm256_castsi256_ps(x), _mm256_setzero_ps()))
        }
        fn magnitude(x: Wide) -> Wide { _mm256_andnot_pd(_mm256_set1_pd(-0.0), x) }
        fn round(sum: [Wide; 2], exponent: V) -> V {
            {
                let biased = add(exponent, all(1023));
                let low = round_half(sum[0], _mm256_castsi256_si128(biased));
                _mm256_setr_m128i(low, round_half(sum[1], _mm256_extracti128_si256::<1>(biased)))
            }
        }
        // Toward zero: one off the bits of the nearest number where that lies beyond. From 2^128 on infinity.
        fn round_half(sum: Wide, biased: __m128i) -> __m128i {
            {
                let power = _mm256_castsi256_pd(_mm256_slli_epi64::<52>(_mm256_cvtepi32_epi64(biased)));
                let exact = _mm256_mul_pd(sum, power);
                let nearest = _mm256_cvtpd_ps(exact);
                let size = magnitude(exact);
                let past = _mm256_cmp_pd::<_CMP_GT_OQ>(magnitude(_mm256_cvtps_pd(nearest)), size);
                let finite = _mm256_cmp_pd::<_CMP_LT_OQ>(size, _mm256_set1_pd(TOO_LARGE));
                let off = _mm256_castpd_si256(_mm256_and_pd(past, finite));
                let words = _mm256_permutevar8x32_epi32(off, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
                _mm_add_epi32(_mm_castps_si128(nearest), _mm256_castsi256_si128(words))
            }
        }
    }
}

/// Sixteen lanes with AVX-512.
mod sixteen {
    use super::*;

    type V = __m512i;
    type Wide = __m512d;
    const WIDTH: usize = 16;

    algorithm!("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt");

    vector! { "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt"
        fn load(row: &Row, first: usize) -> V {
            // SAFETY: the reference is to as many bytes.
            unsafe { _mm512_loadu_si512(lanes_from::<u32, 16>(row, first).as_ptr().cast()) }
        }
        fn load_signed(row: &[i32; 32], first: usize) -> V {
            // SAFETY: the reference is to as many bytes.
            unsafe { _mm512_loadu_si512(lanes_from::<i32, 16>(row, first).as_ptr().cast()) }
        }
        fn store(x: V, row: &mut Row, first: usize) -> () {
            // SAFETY: the reference is to as many bytes.
            unsafe { _mm512_storeu_si512(row[first..][..WIDTH].as_mut_ptr().cast(), x) }
        }
        fn store_signed(x: V, row: &mut [i32; 32], first: usize) -> () {
            // SAFETY: the reference is to as many bytes.
            unsafe { _mm512_storeu_si512(row[first..][..WIDTH].as_mut_ptr().cast(), x) }
        }
        fn repeat(from: &[i32; 4]) -> V {
            // SAFETY: the reference is to as many bytes.
            unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(from.as_ptr().cast())) }
        }
        fn all(value: i32) -> V { _mm512_set1_epi32(value) }
        fn none() -> Wide { _mm512_setzero_pd() }
        fn is_infinite(x: V) -> bool { _mm512_cmpeq_epi32_mask(and(right(x, 23), all(0xff)), all(0xff)) != 0 }
        fn of_group(x: V, t: usize) -> V {
            _mm512_castps_si512(_mm512_permutevar_ps(_mm512_castsi512_ps(x), all(t as i32)))
        }
        fn add(x: V, y: V) -> V { _mm512_add_epi32(x, y) }
        fn sub(x: V, y: V) -> V { _mm512_sub_epi32(x, y) }
        fn multiply(x: V, y: V) -> V { _mm512_mullo_epi32(x, y) }
        fn max(x: V, y: V) -> V { _mm512_max_epi32(x, y) }
        fn min(x: V, y: V) -> V { _mm512_min_epi32(x, y) }
        fn and(x: V, y: V) -> V { _mm512_and_si512(x, y) }
        fn left(x: V, by: u32) -> V { _mm512_sll_epi32(x, _mm_cvtsi32_si128(by as i32)) }
        fn right(x: V, by: u32) -> V { _mm512_srl_epi32(x, _mm_cvtsi32_si128(by as i32)) }
        fn signed_as(x: V, sign: V) -> V {
            _mm512_mask_sub_epi32(x, _mm512_movepi32_mask(sign), _mm512_setzero_si512(), x)
        }
        fn cut(x: V, by: V) -> V { signed_as(_mm512_srlv_epi32(_mm512_abs_epi32(x), by), x) }
        fn widen(x: V, sum: [Wide; 2]) -> [Wide; 2] {
            [
                _mm512_add_pd(sum[0], _mm512_cvtepi32_pd(_mm512_castsi512_si256(x))),
                _mm512_add_pd(sum[1], _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64::<1>(x))),
            ]
        }
        fn positive_zero(x: V) -> V {
            _mm512_castps_si512(_mm512_add_ps(_mm512_castsi512_ps(x), _mm512_setzero_ps()))
        }
        fn round(sum: [Wide; 2], exponent: V) -> V {
            {
                let low = round_half(sum[0], _mm512_castsi512_si256(exponent));
                let high = round_half(sum[1], _mm512_extracti64x4_epi64::<1>(exponent));
                _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
            }
        }
        // Toward zero. From 2^128 on infinity, which is one more than the largest number.
        fn round_half(sum: Wide, exponent: __m256i) -> __m256i {
            {
                let exact = _mm512_scalef_pd(sum, _mm512_cvtepi32_pd(exponent));
                let bits = _mm512_cvt_roundpd_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(exact);
                let bits = _mm256_castps_si256(bits);
                let infinite = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(_mm512_abs_pd(exact), _mm512_set1_pd(TOO_LARGE));
                _mm256_mask_add_epi32(bits, infinite, bits, _mm256_set1_epi32(1))
            }
        }
    }
}
