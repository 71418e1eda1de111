//! Exact arithmetic for tests: a fixed-point integer wide enough for any f64 product and sum.

use std::cmp::Ordering;

const WORDS: usize = 72;
/// Weight of bit 0: below the square of the smallest double.
const BASE: i32 = -2300;

/// Two's-complement fixed point, bit 0 worth 2^-2300.
#[derive(Clone)]
pub struct Exact([u64; WORDS]);

impl Exact {
    pub fn zero() -> Exact {
        Exact([0; WORDS])
    }

    /// Adds `sign * significand * 2^exponent`.
    pub fn add(&mut self, negative: bool, significand: u128, exponent: i32) {
        let position = (exponent - BASE) as usize;
        let (word, bit) = (position / 64, position % 64);
        let mut term = [0u64; WORDS];
        for (i, part) in [significand as u64, (significand >> 64) as u64].into_iter().enumerate() {
            let wide = u128::from(part) << bit;
            let (low, carry) = term[word + i].overflowing_add(wide as u64);
            term[word + i] = low;
            term[word + i + 1] += (wide >> 64) as u64 + u64::from(carry);
        }
        if negative {
            let mut carry = true;
            for t in &mut term {
                let (value, next) = (!*t).overflowing_add(u64::from(carry));
                (*t, carry) = (value, next);
            }
        }
        let mut carry = false;
        for (s, t) in self.0.iter_mut().zip(term) {
            let (a, first) = s.overflowing_add(t);
            let (b, second) = a.overflowing_add(u64::from(carry));
            *s = b;
            carry = first || second;
        }
    }

    pub fn add_f64(&mut self, x: f64, times: i32) {
        let (negative, m, e) = split(x);
        self.add(negative != (times < 0), u128::from(m) * times.unsigned_abs() as u128, e);
    }

    pub fn add_product(&mut self, x: f64, y: f64, times: i32) {
        let ((nx, mx, ex), (ny, my, ey)) = (split(x), split(y));
        let product = u128::from(mx) * u128::from(my) * times.unsigned_abs() as u128;
        self.add((nx != ny) != (times < 0), product, ex + ey);
    }

    /// Compares with zero.
    pub fn sign(&self) -> Ordering {
        if self.0[WORDS - 1] >> 63 == 1 {
            Ordering::Less
        } else if self.0.iter().all(|&w| w == 0) {
            Ordering::Equal
        } else {
            Ordering::Greater
        }
    }
}

/// Sign, significand, exponent of a finite double.
fn split(x: f64) -> (bool, u64, i32) {
    assert!(x.is_finite());
    let field = (x.to_bits() >> 52 & 0x7ff) as i32;
    let fraction = x.to_bits() & 0x000f_ffff_ffff_ffff;
    if field == 0 {
        (x.is_sign_negative(), fraction, -1074)
    } else {
        (x.is_sign_negative(), fraction + (1 << 52), field - 1075)
    }
}
