//! What a machine can do at most, and how near a kernel came.

pub mod occupancy;
mod roofline;

pub use roofline::{Floor, Peaks, bound_by, fp32_lanes, time_at_ceiling_ns};
pub(crate) use roofline::{duration, si};

/// `1234567` as `1,234,567`: counts in every sentence and table.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
