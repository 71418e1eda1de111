//! Expressions of exercise files: parsed once, evaluated over the size variables of a case.
//!
//! Integers are 64-bit and checked: overflow and division by zero are errors with the sub-expression in them,
//! never a wrapped number and never a panic. The same text can be evaluated in floating point, for scalars such
//! as `1.0 / n`.

use super::{Expr, Size};
use std::fmt;

/// Deeper nesting than this is refused, so that hostile text cannot exhaust the stack.
const MAX_DEPTH: u32 = 64;
/// Longer text than this is refused.
const MAX_LENGTH: usize = 1000;

/// Functions by name with their argument count.
const FUNCTIONS: [(&str, usize); 5] = [("ceil_div", 2), ("max", 2), ("min", 2), ("round_up", 2), ("sqrt", 1)];

/// What is wrong with an expression, in one sentence that names the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExprError(pub String);

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Integer(i64),
    Float(f64),
    Variable(String),
    Negate(Box<Node>),
    Binary(char, Box<Node>, Box<Node>),
    Call(&'static str, Vec<Node>),
}

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    root: Node,
}

impl Expr {
    /// Parses the text.
    pub fn parse(&self) -> Result<Parsed, ExprError> {
        Parsed::new(&self.0)
    }

    /// Integer value under `size`.
    pub fn eval(&self, size: &Size) -> Result<i64, ExprError> {
        self.parse()?.eval(size)
    }
}

impl From<&str> for Expr {
    fn from(text: &str) -> Self {
        Expr(text.to_owned())
    }
}

impl Parsed {
    pub fn new(text: &str) -> Result<Self, ExprError> {
        if text.len() > MAX_LENGTH {
            return Err(ExprError(format!("an expression of {} characters; the limit is {MAX_LENGTH}", text.len())));
        }
        let mut parser = Parser { text, at: 0, depth: 0 };
        let root = parser.expression()?;
        parser.skip_space();
        match parser.peek() {
            None => Ok(Self { root }),
            Some(found) => Err(parser.error(&format!("an operator or the end, found `{found}`"))),
        }
    }

    /// Integer value. Variables must all be in `size`.
    pub fn eval(&self, size: &Size) -> Result<i64, ExprError> {
        eval_integer(&self.root, size)
    }

    /// Value in floating point: `/` is true division and literals may have fractions.
    pub fn eval_float(&self, size: &Size) -> Result<f64, ExprError> {
        let value = eval_float(&self.root, size)?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(ExprError(format!("`{}` is {value}; a finite number is expected", self.root)))
        }
    }

    /// Names of the variables that occur, each once, in order of first appearance.
    pub fn variables(&self) -> Vec<String> {
        let mut names = Vec::new();
        collect_variables(&self.root, &mut names);
        names
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn take(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn error(&self, expected: &str) -> ExprError {
        ExprError(format!(
            "`{}`: at character {} expected {expected}",
            self.text,
            self.text[..self.at].chars().count() + 1
        ))
    }

    /// The lowest level: shifts, as in C.
    fn expression(&mut self) -> Result<Node, ExprError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(&format!("at most {MAX_DEPTH} nested parentheses")));
        }
        // A chain of operators makes a tree as deep as it is long; MAX_LENGTH bounds it.
        let mut left = self.sum()?;
        while self.take("<<") {
            let right = self.sum()?;
            left = Node::Binary('l', Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn sum(&mut self) -> Result<Node, ExprError> {
        let mut left = self.product()?;
        loop {
            let operator = if self.take("+") {
                '+'
            } else if self.take("-") {
                '-'
            } else {
                return Ok(left);
            };
            let right = self.product()?;
            left = Node::Binary(operator, Box::new(left), Box::new(right));
        }
    }

    fn product(&mut self) -> Result<Node, ExprError> {
        let mut left = self.unary()?;
        loop {
            let operator = if self.take("*") {
                '*'
            } else if self.take("/") {
                '/'
            } else if self.take("%") {
                '%'
            } else {
                return Ok(left);
            };
            let right = self.unary()?;
            left = Node::Binary(operator, Box::new(left), Box::new(right));
        }
    }

    fn unary(&mut self) -> Result<Node, ExprError> {
        if self.take("-") {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err(self.error(&format!("at most {MAX_DEPTH} nested signs")));
            }
            let inner = self.unary()?;
            self.depth -= 1;
            return Ok(Node::Negate(Box::new(inner)));
        }
        self.atom()
    }

    fn atom(&mut self) -> Result<Node, ExprError> {
        if self.take("(") {
            let inner = self.expression()?;
            return if self.take(")") { Ok(inner) } else { Err(self.error("`)`")) };
        }
        match self.peek() {
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.name(),
            Some(c) => Err(self.error(&format!("a number, a variable, a function or `(`, found `{c}`"))),
            None => Err(self.error("a number, a variable, a function or `(`, found the end")),
        }
    }

    fn number(&mut self) -> Result<Node, ExprError> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() {
            let c = bytes[self.at];
            let exponent_sign =
                matches!(c, b'+' | b'-') && matches!(bytes[self.at - 1], b'e' | b'E') && self.at > start;
            if c.is_ascii_digit() || matches!(c, b'.' | b'_' | b'e' | b'E') || exponent_sign {
                self.at += 1;
            } else {
                break;
            }
        }
        let digits = self.text[start..self.at].replace('_', "");
        if let Ok(value) = digits.parse::<i64>() {
            return Ok(Node::Integer(value));
        }
        let whole = digits.bytes().all(|c| c.is_ascii_digit());
        match digits.parse::<f64>() {
            Ok(value) if !whole && value.is_finite() => Ok(Node::Float(value)),
            _ => {
                self.at = start;
                Err(self.error(&format!("a number that fits 64 bits, found `{digits}`")))
            }
        }
    }

    fn name(&mut self) -> Result<Node, ExprError> {
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let name = rest[..length].to_owned();
        let start = self.at;
        self.at += length;
        if !self.take("(") {
            return Ok(Node::Variable(name));
        }
        let Some(&(function, arity)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else {
            self.at = start;
            let known: Vec<&str> = FUNCTIONS.iter().map(|(known, _)| *known).collect();
            return Err(self.error(&format!("one of the functions {}, found `{name}`", known.join(", "))));
        };
        let mut arguments = vec![self.expression()?];
        while self.take(",") {
            arguments.push(self.expression()?);
        }
        if !self.take(")") {
            return Err(self.error("`,` or `)`"));
        }
        if arguments.len() != arity {
            return Err(self.error(&format!("{arity} arguments for `{function}`, found {}", arguments.len())));
        }
        Ok(Node::Call(function, arguments))
    }
}

fn collect_variables(node: &Node, names: &mut Vec<String>) {
    match node {
        Node::Integer(_) | Node::Float(_) => {}
        Node::Variable(name) => {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        Node::Negate(inner) => collect_variables(inner, names),
        Node::Binary(_, left, right) => {
            collect_variables(left, names);
            collect_variables(right, names);
        }
        Node::Call(_, arguments) => arguments.iter().for_each(|argument| collect_variables(argument, names)),
    }
}

fn unknown_variable(name: &str, size: &Size) -> ExprError {
    let known: Vec<&str> = size.keys().map(String::as_str).collect();
    ExprError(format!("unknown variable `{name}`; known here: {}", known.join(", ")))
}

fn eval_integer(node: &Node, size: &Size) -> Result<i64, ExprError> {
    let overflow = || ExprError(format!("`{node}` overflows 64 bits"));
    let zero = || ExprError(format!("`{node}` divides by zero"));
    match node {
        Node::Integer(value) => Ok(*value),
        Node::Float(value) => Err(ExprError(format!("`{value}` has a fraction where a whole number is expected"))),
        Node::Variable(name) => size.get(name).copied().ok_or_else(|| unknown_variable(name, size)),
        Node::Negate(inner) => eval_integer(inner, size)?.checked_neg().ok_or_else(overflow),
        Node::Binary(operator, left, right) => {
            let (a, b) = (eval_integer(left, size)?, eval_integer(right, size)?);
            match operator {
                '+' => a.checked_add(b).ok_or_else(overflow),
                '-' => a.checked_sub(b).ok_or_else(overflow),
                '*' => a.checked_mul(b).ok_or_else(overflow),
                'l' => shift_left(a, b).ok_or_else(overflow),
                '/' | '%' if b == 0 => Err(zero()),
                '/' => a.checked_div(b).ok_or_else(overflow),
                _ => a.checked_rem(b).ok_or_else(overflow),
            }
        }
        Node::Call(function, arguments) => {
            let values =
                arguments.iter().map(|argument| eval_integer(argument, size)).collect::<Result<Vec<_>, _>>()?;
            match (*function, values.as_slice()) {
                ("min", [a, b]) => Ok(*a.min(b)),
                ("max", [a, b]) => Ok(*a.max(b)),
                ("ceil_div" | "round_up", [_, 0]) => Err(zero()),
                ("ceil_div", [a, b]) => ceil_div(*a, *b).ok_or_else(overflow),
                ("round_up", [a, b]) => ceil_div(*a, *b).and_then(|q| q.checked_mul(*b)).ok_or_else(overflow),
                ("sqrt", [a]) if *a >= 0 => Ok(a.isqrt()),
                _ => Err(ExprError(format!("`{node}` is not a number"))),
            }
        }
    }
}

fn shift_left(a: i64, b: i64) -> Option<i64> {
    let factor = 1i64.checked_shl(u32::try_from(b).ok()?).filter(|factor| *factor > 0)?;
    a.checked_mul(factor)
}

fn ceil_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    let exact = a.checked_rem(b)? == 0;
    // Division truncates toward zero: only a positive quotient with a remainder needs the step up.
    if exact || (a < 0) != (b < 0) { Some(quotient) } else { quotient.checked_add(1) }
}

fn eval_float(node: &Node, size: &Size) -> Result<f64, ExprError> {
    Ok(match node {
        Node::Integer(value) => *value as f64,
        Node::Float(value) => *value,
        Node::Variable(name) => size.get(name).copied().ok_or_else(|| unknown_variable(name, size))? as f64,
        Node::Negate(inner) => -eval_float(inner, size)?,
        Node::Binary(operator, left, right) => {
            let (a, b) = (eval_float(left, size)?, eval_float(right, size)?);
            match operator {
                '+' => a + b,
                '-' => a - b,
                '*' => a * b,
                'l' => a * b.exp2(),
                '/' | '%' if b == 0.0 => return Err(ExprError(format!("`{node}` divides by zero"))),
                '/' => a / b,
                _ => a % b,
            }
        }
        Node::Call(function, arguments) => {
            let values = arguments.iter().map(|argument| eval_float(argument, size)).collect::<Result<Vec<_>, _>>()?;
            match (*function, values.as_slice()) {
                ("min", [a, b]) => a.min(*b),
                ("max", [a, b]) => a.max(*b),
                ("ceil_div" | "round_up", [_, b]) if *b == 0.0 => {
                    return Err(ExprError(format!("`{node}` divides by zero")));
                }
                ("ceil_div", [a, b]) => (a / b).ceil(),
                ("round_up", [a, b]) => (a / b).ceil() * b,
                ("sqrt", [a]) => a.sqrt(),
                _ => return Err(ExprError(format!("`{node}` is not a number"))),
            }
        }
    })
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::Integer(value) => write!(f, "{value}"),
            Node::Float(value) => write!(f, "{value}"),
            Node::Variable(name) => f.write_str(name),
            Node::Negate(inner) => write!(f, "-{inner}"),
            Node::Binary('l', left, right) => write!(f, "({left} << {right})"),
            Node::Binary(operator, left, right) => write!(f, "({left} {operator} {right})"),
            Node::Call(function, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
                write!(f, "{function}({})", arguments.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    fn size() -> Size {
        Size::from([("m".to_owned(), 5), ("n".to_owned(), 1000)])
    }

    fn eval(text: &str) -> Result<i64, String> {
        Expr::from(text).eval(&size()).map_err(|error| error.0)
    }

    #[test]
    fn arithmetic_has_the_usual_precedence() {
        assert_eq!(eval("2 + 3 * 4 - 10 / 4 % 2"), Ok(14));
        assert_eq!(eval("-(n - 1) * m"), Ok(-4995));
        assert_eq!(eval("1 << 20 + 1"), Ok(1 << 21));
        assert_eq!(eval("ceil_div(n, 256)"), Ok(4));
        assert_eq!(eval("round_up(n, 256) + min(m, 2) + max(m, 2)"), Ok(1031));
        assert_eq!(eval("sqrt(1_000_000)"), Ok(1000));
        assert_eq!(eval("ceil_div(-7, 2)"), Ok(-3));
    }

    #[test]
    fn errors_name_the_text_and_what_is_expected() {
        for (text, part) in [
            ("n +", "found the end"),
            ("(n", "expected `)`"),
            ("n n", "an operator or the end"),
            ("k", "unknown variable `k`; known here: m, n"),
            ("n / (m - 5)", "divides by zero"),
            ("ceil_div(n, 0)", "divides by zero"),
            ("ceil_div(n)", "2 arguments"),
            ("log(n)", "one of the functions ceil_div"),
            ("9223372036854775807 + 1", "overflows 64 bits"),
            ("-9223372036854775807 - 1 - 1", "overflows 64 bits"),
            ("n << 62", "overflows 64 bits"),
            ("99999999999999999999", "fits 64 bits"),
            ("1.5 * n", "has a fraction"),
            ("", "found the end"),
        ] {
            let error = eval(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn floats_divide_truly() {
        let value = Parsed::new("1.0 / sqrt(n * 10)").and_then(|parsed| parsed.eval_float(&size()));
        assert_eq!(value, Ok(0.01));
        assert!(Parsed::new("1 / (m - 5)").and_then(|parsed| parsed.eval_float(&size())).is_err());
    }

    #[test]
    fn random_text_never_panics() {
        let pieces = [
            "n",
            "m",
            "0",
            "1",
            "-",
            "+",
            "*",
            "/",
            "%",
            "<<",
            "(",
            ")",
            ",",
            "ceil_div(",
            "min(",
            "sqrt(",
            "round_up(",
            "9223372036854775807",
            "1e400",
            ".",
            "_",
            "é",
            " ",
            "1e-",
            "-9223372036854775807-1",
        ];
        let mut random = SmallRng::seed_from_u64(7);
        for _ in 0..50_000 {
            let length = random.random_range(0..14);
            let text: String = (0..length).map(|_| pieces[random.random_range(0..pieces.len())]).collect();
            if let Ok(parsed) = Parsed::new(&text) {
                let _ = parsed.eval(&size());
                let _ = parsed.eval_float(&size());
            }
        }
        for deep in ["(".repeat(5000), "-".repeat(900), "min(".repeat(240), "1+".repeat(499) + "1"] {
            let _ = Parsed::new(&deep).map(|parsed| parsed.eval(&size()));
        }
    }
}
