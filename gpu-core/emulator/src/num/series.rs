//! Powers, logarithms, sines and hyperbolic tangents by additions, multiplications and divisions only: a loop over lanes
//! becomes vector instructions (a library's function is a call for each), and every machine gives the same bits, which
//! libraries do not.

/// A power of two and what is left of `x` for a number `y` near 0: 2^x is the power times e^y, of which this gives
/// e^y - 1 as a series, within 2^-48. Beyond 2^1000 and 2^-1000 it stays there.
#[inline(always)]
fn power_and_rest(x: f64) -> (f64, f64) {
    // Added to this, a number loses its fraction, and its whole part ends up in the lowest bits.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    const FACTORS: [f64; 11] = [
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
    ];
    let x = x.clamp(-1000.0, 1000.0);
    let moved = x + WHOLE;
    let y = (x - (moved - WHOLE)) * std::f64::consts::LN_2;
    let mut sum = FACTORS[0];
    for factor in &FACTORS[1..] {
        sum = sum * y + factor;
    }
    (f64::from_bits(moved.to_bits().wrapping_add(1023) << 52), sum * y)
}

/// 2 to the power of `x`, exact for whole numbers.
#[inline(always)]
pub fn power_of_two(x: f64) -> f64 {
    let (power, rest) = power_and_rest(x);
    (rest + 1.0) * power
}

/// The hyperbolic tangent, from e^(2|x|) - 1.
#[inline(always)]
pub fn tangent(x: f64) -> f64 {
    let (power, rest) = power_and_rest(x.abs() * (2.0 * std::f64::consts::LOG2_E));
    let less_one = power * rest + (power - 1.0);
    (less_one / (less_one + 2.0)).copysign(x)
}

/// The logarithm to base 2 of what was an f32: its exponent, and the series of 2 artanh((m - 1) / (m + 1)) for the rest `m`
/// between the roots of 1/2 and 2. Exact for powers of two.
#[inline(always)]
pub fn logarithm(x: f64) -> f64 {
    const ROOT_OF_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    const FACTORS: [f64; 12] = [
        1.0 / 25.0,
        1.0 / 23.0,
        1.0 / 21.0,
        1.0 / 19.0,
        1.0 / 17.0,
        1.0 / 15.0,
        1.0 / 13.0,
        1.0 / 11.0,
        1.0 / 9.0,
        1.0 / 7.0,
        1.0 / 5.0,
        1.0 / 3.0,
    ];
    let bits = x.to_bits();
    let exponent = (bits.wrapping_sub(ROOT_OF_HALF) >> 32) as i32 >> 20;
    let m = f64::from_bits(bits.wrapping_sub((i64::from(exponent) as u64) << 52));
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let mut sum = FACTORS[0];
    for factor in &FACTORS[1..] {
        sum = sum * square + factor;
    }
    let rest = 2.0 * s + 2.0 * s * (square * sum);
    let finite = f64::from(exponent) + rest * std::f64::consts::LOG2_E;
    let unusual = if x == 0.0 {
        f64::NEG_INFINITY
    } else if x > 0.0 {
        x
    } else {
        f64::NAN
    };
    if x > 0.0 && x < f64::INFINITY { finite } else { unusual }
}

/// The sine of a quarter of a turn or less.
#[inline(always)]
pub fn wave(turns: f64) -> f64 {
    const FACTORS: [f64; 10] = [
        1.0 / 51_090_942_171_709_440_000.0,
        -1.0 / 121_645_100_408_832_000.0,
        1.0 / 355_687_428_096_000.0,
        -1.0 / 1_307_674_368_000.0,
        1.0 / 6_227_020_800.0,
        -1.0 / 39_916_800.0,
        1.0 / 362_880.0,
        -1.0 / 5_040.0,
        1.0 / 120.0,
        -1.0 / 6.0,
    ];
    let angle = turns * std::f64::consts::TAU;
    let square = angle * angle;
    let mut sum = FACTORS[0];
    for factor in &FACTORS[1..] {
        sum = sum * square + factor;
    }
    angle + angle * (square * sum)
}
