//! References written differently from the code under test: tables of values, wide integers, exact sign tests.

mod approx;
mod arith;
mod exact;
mod formats;
mod fragments;
#[cfg(target_arch = "x86_64")]
mod lanewise;
mod matches;
mod matrix;
mod memory_forms;
mod models;
mod packed;
mod vector_forms;
mod warp;

/// A small deterministic generator (xorshift64*), so that a failure repeats.
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A finite f32 with any exponent; one in four is near 1, so that sums interact.
    pub fn f32(&mut self) -> f32 {
        loop {
            let bits = self.bits();
            let exponent = if bits >> 62 == 0 { 120 + (bits >> 32 & 15) } else { bits >> 40 & 0xff };
            let x = f32::from_bits(((bits & 0x807f_ffff) | exponent << 23) as u32);
            if x.is_finite() {
                return if bits >> 58 & 15 == 7 { f32::from_bits(x.to_bits() & 0xffff_f000) } else { x };
            }
        }
    }

    /// A finite f64 with any exponent; one in four is near 1.
    pub fn f64(&mut self) -> f64 {
        loop {
            let (bits, more) = (self.bits(), self.bits());
            let exponent = if more & 3 == 0 { 1015 + (more >> 8 & 15) } else { more >> 8 & 0x7ff };
            let x = f64::from_bits(bits & 0x800f_ffff_ffff_ffff | exponent << 52);
            if x.is_finite() {
                return if more >> 60 == 3 { f64::from_bits(x.to_bits() & !0xffff_ffff) } else { x };
            }
        }
    }
}
