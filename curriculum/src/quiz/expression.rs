//! Arithmetic in quiz files: an answer is given with the sum that leads to it, and the checks do the sum.

/// Evaluates `+ - * / % ^`, parentheses and `ceil_div`, `floor`, `ceil`, `min`, `max` over decimal numbers.
/// `%` is the remainder of a division rounded toward zero and `^` a power, right to left.
///
/// # Errors
/// What is expected, and at which character (from 1).
pub fn evaluate(text: &str) -> Result<f64, String> {
    let mut parser = Parser { text: text.as_bytes(), at: 0 };
    let value = parser.sum(0)?;
    parser.skip_blanks();
    if parser.at < parser.text.len() {
        return Err(parser.expected("an operator"));
    }
    Ok(value)
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

/// Deep enough for any sum, shallow enough for the stack.
const MAX_DEPTH: u32 = 64;

impl Parser<'_> {
    fn expected(&self, what: &str) -> String {
        format!("{what} at character {} of `{}`", self.at + 1, String::from_utf8_lossy(self.text))
    }

    fn skip_blanks(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn eat(&mut self, symbol: u8) -> bool {
        self.skip_blanks();
        let found = self.text.get(self.at) == Some(&symbol);
        self.at += usize::from(found);
        found
    }

    fn sum(&mut self, depth: u32) -> Result<f64, String> {
        if depth > MAX_DEPTH {
            return Err(self.expected("fewer nested parentheses"));
        }
        let mut value = self.product(depth)?;
        loop {
            if self.eat(b'+') {
                value += self.product(depth)?;
            } else if self.eat(b'-') {
                value -= self.product(depth)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self, depth: u32) -> Result<f64, String> {
        let mut value = self.power(depth)?;
        loop {
            if self.eat(b'*') {
                value *= self.power(depth)?;
            } else if self.eat(b'/') {
                value /= self.power(depth)?;
            } else if self.eat(b'%') {
                value %= self.power(depth)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn power(&mut self, depth: u32) -> Result<f64, String> {
        if depth > MAX_DEPTH {
            return Err(self.expected("fewer signs and powers"));
        }
        if self.eat(b'-') {
            return Ok(-self.power(depth + 1)?);
        }
        let base = self.atom(depth)?;
        if self.eat(b'^') { Ok(base.powf(self.power(depth + 1)?)) } else { Ok(base) }
    }

    fn atom(&mut self, depth: u32) -> Result<f64, String> {
        if self.eat(b'(') {
            let value = self.sum(depth + 1)?;
            return if self.eat(b')') { Ok(value) } else { Err(self.expected("`)`")) };
        }
        let start = self.at;
        while self.text.get(self.at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'.' || *b == b'_') {
            self.at += 1;
            // 1e-3: the sign belongs to the number.
            let number = self.text[start].is_ascii_digit();
            if number && matches!(self.text[self.at - 1], b'e' | b'E') && self.text.get(self.at) == Some(&b'-') {
                self.at += 1;
            }
        }
        let word = String::from_utf8_lossy(&self.text[start..self.at]).into_owned();
        if word.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return word.replace('_', "").parse().map_err(|_| self.expected("a number"));
        }
        self.call(&word, depth)
    }

    fn call(&mut self, name: &str, depth: u32) -> Result<f64, String> {
        if name.is_empty() || !self.eat(b'(') {
            return Err(self.expected("a number, `(` or a function"));
        }
        let mut arguments = vec![self.sum(depth + 1)?];
        while self.eat(b',') {
            arguments.push(self.sum(depth + 1)?);
        }
        if !self.eat(b')') {
            return Err(self.expected("`,` or `)`"));
        }
        match (name, arguments.as_slice()) {
            ("ceil_div", [a, b]) => Ok((a / b).ceil()),
            ("floor", [a]) => Ok(a.floor()),
            ("ceil", [a]) => Ok(a.ceil()),
            ("min", [a, b]) => Ok(a.min(*b)),
            ("max", [a, b]) => Ok(a.max(*b)),
            _ => Err(self.expected("ceil_div(a, b), min(a, b), max(a, b), floor(a) or ceil(a) before this place")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::evaluate;

    #[test]
    fn sums_follow_the_usual_rules() {
        for (text, value) in [
            ("3 * 40 + 7", 127.0),
            ("ceil_div(1000, 256) * 256 - 1000", 24.0),
            ("2^28 * 12 / 1e9", 3.221_225_472),
            ("-2^2", -4.0),
            ("2^3^2", 512.0),
            ("7 % 4 + min(1, max(2, 3))", 4.0),
            ("(1 + 2) * 3 - 4 / 8", 8.5),
            ("1_000 - floor(2.7) - ceil(0.1)", 997.0),
            ("1e-3 * 1000", 1.0),
        ] {
            assert!((evaluate(text).unwrap() - value).abs() < 1e-9, "{text}");
        }
    }

    #[test]
    fn nonsense_is_located_and_never_overflows_the_stack() {
        for text in ["", "1 +", "(1", "two", "ceil_div(1)", "1 2", "1..2", "sqrt(2)", "e-"] {
            assert!(evaluate(text).unwrap_err().contains("character"), "{text}");
        }
        assert!(evaluate(&"(".repeat(100_000)).is_err());
        assert!(evaluate(&"-".repeat(100_000)).is_err());
    }
}
