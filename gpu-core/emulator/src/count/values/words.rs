//! What was computed, in the notation of C, with the operands' values.

use super::plan::Does;

/// `1.5 * 2`, `exp2(1610.1)`.
pub fn expression(opcode: &str, does: Does, operands: &[f64]) -> String {
    let numbers: Vec<String> = operands.iter().map(|value| number(*value)).collect();
    // As a factor or a term behind an operator.
    let term = |at: usize| match numbers.get(at) {
        Some(text) if text.starts_with('-') => format!("({text})"),
        Some(text) => text.clone(),
        None => "?".to_owned(),
    };
    match (opcode, operands.len()) {
        ("add", 2) => format!("{} + {}", numbers[0], term(1)),
        ("sub", 2) => format!("{} - {}", numbers[0], term(1)),
        ("mul", 2) => format!("{} * {}", numbers[0], term(1)),
        ("div", 2) => format!("{} / {}", numbers[0], term(1)),
        ("fma" | "mad", 3) => format!("{} * {} + {}", numbers[0], term(1), term(2)),
        ("rcp", 1) => format!("1 / {}", term(0)),
        ("neg", 1) => format!("-{}", term(0)),
        ("ex2", _) => format!("exp2({})", numbers.join(", ")),
        ("lg2", _) => format!("log2({})", numbers.join(", ")),
        ("cvt", _) => match does {
            Does::Compute(to, _) => format!("{}({})", to.conversion(), numbers.join(", ")),
            _ => format!("cvt({})", numbers.join(", ")),
        },
        ("mma" | "wmma" | "wgmma", _) => "a sum of products on the tensor cores".to_owned(),
        _ => format!("{opcode}({})", numbers.join(", ")),
    }
}

/// A number in at most seven significant digits.
pub fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let rounded: f64 = format!("{value:.6e}").parse().unwrap_or(value);
    match rounded.abs() {
        size if (1e-4..1e7).contains(&size) => format!("{rounded}"),
        _ => format!("{rounded:e}"),
    }
}
