//! Counts and times in words.

/// 1234567 as `1,234,567`, as the window writes it.
pub fn grouped(number: u64) -> String {
    in_groups(number, ',')
}

/// Digits in groups of three.
pub fn in_groups(number: u64, between: char) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(between);
        }
        text.push(digit);
    }
    text
}

/// `1 line`, `24 lines`.
pub fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{} {noun}s", grouped(count)) }
}

/// Nanoseconds with a unit that fits.
pub fn time(ns: f64) -> String {
    match ns {
        n if n < 1e3 => format!("{n:.0} ns"),
        n if n < 1e6 => format!("{:.2} µs", n / 1e3),
        n if n < 1e9 => format!("{:.2} ms", n / 1e6),
        n => format!("{:.2} s", n / 1e9),
    }
}
