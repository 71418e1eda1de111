//! Figures in words, as every sentence and table has them.

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

/// `4.25 TB/s`.
pub(crate) fn si(value: f64, unit: &str) -> String {
    let scales = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    match scales.iter().find(|(scale, _)| value.abs() >= *scale) {
        Some((scale, prefix)) => format!("{:.3} {prefix}{unit}", value / scale),
        None => format!("{value:.0} {unit}"),
    }
}

/// `12.3 us`.
pub(crate) fn duration(nanos: f64) -> String {
    match nanos {
        n if n >= 1e9 => format!("{:.3} s", n / 1e9),
        n if n >= 1e6 => format!("{:.3} ms", n / 1e6),
        n if n >= 1e3 => format!("{:.2} us", n / 1e3),
        n => format!("{n:.0} ns"),
    }
}
