//! Constant expressions (PTX ISA, section "Constant Expressions"): integers of 64 bits with the rules of C, and
//! doubles. `0f` numbers stand alone, as for NVIDIA's assembler.

use super::lexer::Kind;
use super::parser::{Parsed, Parser, SyntaxError};

/// Parentheses, signs and `?` inside each other.
const MAX_NESTING: u32 = 64;
const WARP_SZ: i64 = 32;

/// What an expression gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Constant {
    Signed(i64),
    Unsigned(u64),
    F32(u32),
    F64(f64),
}

/// Operators of two values, loosest first; of those that begin alike the longer ones stand first.
const OPERATORS: [(&str, u8); 18] = [
    ("||", 1),
    ("&&", 2),
    ("|", 3),
    ("^", 4),
    ("&", 5),
    ("==", 6),
    ("!=", 6),
    ("<<", 8),
    (">>", 8),
    ("<=", 7),
    (">=", 7),
    ("<", 7),
    (">", 7),
    ("+", ADDITIVE),
    ("-", ADDITIVE),
    ("*", 10),
    ("/", 10),
    ("%", 10),
];
const ADDITIVE: u8 = 9;

impl Constant {
    /// The bits of an integer.
    fn bits(self) -> Option<u64> {
        match self {
            Constant::Signed(value) => Some(value as u64),
            Constant::Unsigned(value) => Some(value),
            Constant::F32(_) | Constant::F64(_) => None,
        }
    }

    fn truth(value: bool) -> Constant {
        Constant::Signed(i64::from(value))
    }
}

/// One operation; an error is the end of a sentence that begins with the operator.
fn apply(operator: &str, a: Constant, b: Constant) -> Result<Constant, &'static str> {
    if let (Constant::F64(a), Constant::F64(b)) = (a, b) {
        return Ok(match operator {
            "+" => Constant::F64(a + b),
            "-" => Constant::F64(a - b),
            "*" => Constant::F64(a * b),
            "/" => Constant::F64(a / b),
            "==" => Constant::truth(a == b),
            "!=" => Constant::truth(a != b),
            "<" => Constant::truth(a < b),
            "<=" => Constant::truth(a <= b),
            ">" => Constant::truth(a > b),
            ">=" => Constant::truth(a >= b),
            _ => return Err("takes integers, not doubles"),
        });
    }
    let (Some(x), Some(y)) = (a.bits(), b.bits()) else {
        return Err("takes two integers or two doubles (write 2.0 for 2; 0f numbers stand alone)");
    };
    let signed = matches!((a, b), (Constant::Signed(_), Constant::Signed(_)));
    let (i, j) = (x as i64, y as i64);
    let number = |value: u64| if signed { Constant::Signed(value as i64) } else { Constant::Unsigned(value) };
    // A shift has the type of its left side.
    let shifted = |value: u64| match a {
        Constant::Signed(_) => Constant::Signed(value as i64),
        _ => Constant::Unsigned(value),
    };
    Ok(match operator {
        "+" => number(x.wrapping_add(y)),
        "-" => number(x.wrapping_sub(y)),
        "*" => number(x.wrapping_mul(y)),
        "/" | "%" if y == 0 => return Err("by zero"),
        "/" => number(if signed { i.wrapping_div(j) as u64 } else { x / y }),
        "%" => number(if signed { i.wrapping_rem(j) as u64 } else { x % y }),
        "&" => number(x & y),
        "|" => number(x | y),
        "^" => number(x ^ y),
        "<<" => shifted(x.checked_shl(y.min(64) as u32).unwrap_or(0)),
        ">>" => match a {
            Constant::Signed(i) => Constant::Signed(i >> y.min(63)),
            _ => Constant::Unsigned(x.checked_shr(y.min(64) as u32).unwrap_or(0)),
        },
        "&&" => Constant::truth(x != 0 && y != 0),
        "||" => Constant::truth(x != 0 || y != 0),
        "==" => Constant::truth(x == y),
        "!=" => Constant::truth(x != y),
        "<" => Constant::truth(if signed { i < j } else { x < y }),
        "<=" => Constant::truth(if signed { i <= j } else { x <= y }),
        ">" => Constant::truth(if signed { i > j } else { x > y }),
        _ => Constant::truth(if signed { i >= j } else { x >= y }),
    })
}

impl<'a> Parser<'a, '_> {
    /// A whole expression.
    pub(super) fn constant(&mut self) -> Parsed<Constant> {
        self.choice(0)
    }

    /// The integer that `name` or `[register` is followed by: `+ 4*2`, `+-16`, `-8`.
    pub(super) fn displacement(&mut self) -> Parsed<i64> {
        let line = self.line();
        let value = self.operations(Constant::Signed(0), ADDITIVE, 0)?;
        match value.bits() {
            Some(bits) => Ok(bits as i64),
            None => Err(SyntaxError { message: "an offset is an integer".to_owned(), line }),
        }
    }

    /// `a`, or `a ? b : c`.
    fn choice(&mut self, depth: u32) -> Parsed<Constant> {
        let first = self.value(depth)?;
        let condition = self.operations(first, 0, depth)?;
        if !self.take(b'?') {
            return Ok(condition);
        }
        let Some(bits) = condition.bits() else { return self.error("an integer before `?`") };
        let yes = self.choice(depth + 1)?;
        self.expect(b':')?;
        let no = self.choice(depth + 1)?;
        Ok(if bits != 0 { yes } else { no })
    }

    /// The operators behind a value that bind at least as tightly as `least`.
    fn operations(&mut self, mut left: Constant, least: u8, depth: u32) -> Parsed<Constant> {
        while let Some((operator, level)) = self.operator().filter(|operator| operator.1 >= least) {
            let line = self.line();
            self.at += operator.len();
            let first = self.value(depth)?;
            let right = self.operations(first, level + 1, depth)?;
            left = apply(operator, left, right).map_err(|what| {
                let message = format!("`{operator}` in a constant expression {what}");
                SyntaxError { message, line }
            })?;
        }
        Ok(left)
    }

    /// The operator that comes next; its characters are tokens of their own, without a space between.
    fn operator(&self) -> Option<(&'static str, u8)> {
        if self.word() == Some("%") {
            return Some(("%", 10));
        }
        let mut text = [0u8; 2];
        let first = self.peek()?;
        let Kind::Punct(byte) = first.kind else { return None };
        text[0] = byte;
        if let Some(second) = self.tokens.get(self.at + 1)
            && let Kind::Punct(byte) = second.kind
            && second.start == first.start + 1
        {
            text[1] = byte;
        }
        OPERATORS.iter().copied().find(|(name, _)| text.starts_with(name.as_bytes()))
    }

    /// A number, an expression in parentheses, or one with an operator in front.
    fn value(&mut self, depth: u32) -> Parsed<Constant> {
        if depth > MAX_NESTING {
            return self.error("fewer nested parentheses and signs");
        }
        let Some(token) = self.peek() else { return self.error("a number") };
        self.at += 1;
        Ok(match token.kind {
            Kind::Int(value) if token.text.ends_with(['U', 'u']) => Constant::Unsigned(value),
            Kind::Int(value) => i64::try_from(value).map_or(Constant::Unsigned(value), Constant::Signed),
            Kind::F32(bits) => Constant::F32(bits),
            Kind::F64(bits) => Constant::F64(f64::from_bits(bits)),
            Kind::Word if token.text == "WARP_SZ" => Constant::Signed(WARP_SZ),
            Kind::Punct(b'(') => match self.word() {
                Some(cast @ (".s64" | ".u64")) => {
                    self.at += 1;
                    self.expect(b')')?;
                    match self.value(depth + 1)?.bits() {
                        Some(bits) if cast == ".s64" => Constant::Signed(bits as i64),
                        Some(bits) => Constant::Unsigned(bits),
                        None => return self.error("an integer behind the cast"),
                    }
                }
                _ => {
                    let value = self.choice(depth + 1)?;
                    self.expect(b')')?;
                    value
                }
            },
            Kind::Punct(b'+') => self.value(depth + 1)?,
            Kind::Punct(b'-') => match self.value(depth + 1)? {
                Constant::Signed(value) => Constant::Signed(value.wrapping_neg()),
                Constant::Unsigned(value) => Constant::Unsigned(value.wrapping_neg()),
                Constant::F32(bits) => Constant::F32(bits ^ 1 << 31),
                Constant::F64(value) => Constant::F64(-value),
            },
            Kind::Punct(sign @ (b'~' | b'!')) => match self.value(depth + 1)? {
                Constant::Signed(value) if sign == b'~' => Constant::Signed(!value),
                Constant::Unsigned(value) if sign == b'~' => Constant::Unsigned(!value),
                value => match value.bits() {
                    Some(bits) => Constant::truth(bits == 0),
                    None => return self.error("an integer behind `~` or `!`"),
                },
            },
            _ => {
                self.at -= 1;
                return self.error("a number");
            }
        })
    }
}
