//! C's printf formats over arguments packed in device memory: each at its natural alignment, 4 or 8 bytes.

/// Formats; `read(offset, out)` fetches argument bytes, `text(address)` a string. Gives the text and the number of
/// arguments that were used (what CUDA's printf returns), -1 as u32 when the arguments cannot be read.
pub fn format(
    format: &[u8],
    read: impl Fn(u64, &mut [u8]) -> Option<()>,
    text: impl Fn(u64) -> Vec<u8>,
) -> (Vec<u8>, u32) {
    let mut out = Vec::new();
    let mut offset = 0u64;
    let mut count = 0;
    let mut at = 0;
    let next = |bytes: u64, offset: &mut u64| -> Option<u64> {
        *offset = offset.next_multiple_of(bytes);
        let mut raw = [0u8; 8];
        read(*offset, &mut raw[..bytes as usize])?;
        *offset += bytes;
        Some(u64::from_le_bytes(raw))
    };
    while at < format.len() {
        if format[at] != b'%' {
            out.push(format[at]);
            at += 1;
            continue;
        }
        let start = at;
        at += 1;
        let mut spec = Spec::default();
        while let Some(&flag) = format.get(at) {
            match flag {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            at += 1;
        }
        let number = |at: &mut usize, offset: &mut u64| -> Option<i64> {
            if format.get(*at) == Some(&b'*') {
                *at += 1;
                return next(4, offset).map(|value| i64::from(value as i32));
            }
            let mut value = None;
            while let Some(digit) = format.get(*at).filter(|byte| byte.is_ascii_digit()) {
                value = Some((value.unwrap_or(0) * 10 + i64::from(digit - b'0')).min(4096));
                *at += 1;
            }
            value
        };
        if let Some(width) = number(&mut at, &mut offset) {
            spec.left |= width < 0;
            spec.width = (width.unsigned_abs() as usize).min(4096);
        }
        if format.get(at) == Some(&b'.') {
            at += 1;
            let precision = number(&mut at, &mut offset).unwrap_or(0);
            spec.precision = usize::try_from(precision).ok().map(|p| p.min(4096));
        }
        let mut long = 0;
        while let Some(&size) = format.get(at) {
            match size {
                // `l` is 64 bits in CUDA on Linux.
                b'l' | b'z' | b'j' | b't' => long += 1,
                b'h' => long -= 1,
                _ => break,
            }
            at += 1;
        }
        let Some(&conversion) = format.get(at) else {
            out.extend_from_slice(&format[start..]);
            break;
        };
        at += 1;
        let size = if long > 0 { 8 } else { 4 };
        let body = match conversion {
            b'%' => {
                out.push(b'%');
                continue;
            }
            b'd' | b'i' => next(size, &mut offset).map(|raw| {
                let value = match long {
                    1.. => raw as i64,
                    0 => i64::from(raw as i32),
                    -1 => i64::from(raw as i16),
                    _ => i64::from(raw as i8),
                };
                spec.integer(value < 0, value.unsigned_abs().to_string(), true)
            }),
            b'u' | b'x' | b'X' | b'o' => next(size, &mut offset).map(|raw| {
                let value = match long {
                    1.. => raw,
                    0 => u64::from(raw as u32),
                    -1 => u64::from(raw as u16),
                    _ => u64::from(raw as u8),
                };
                let digits = match conversion {
                    b'u' => value.to_string(),
                    b'x' => format!("{value:x}"),
                    b'X' => format!("{value:X}"),
                    _ => format!("{value:o}"),
                };
                let prefix = match conversion {
                    b'x' if spec.alternate && value != 0 => "0x",
                    b'X' if spec.alternate && value != 0 => "0X",
                    b'o' if spec.alternate && value != 0 => "0",
                    _ => "",
                };
                spec.prefixed(prefix, digits)
            }),
            b'c' => next(4, &mut offset).map(|raw| spec.pad(vec![raw as u8])),
            b's' => next(8, &mut offset).map(|address| {
                let mut bytes = if address == 0 { b"(null)".to_vec() } else { text(address) };
                if let Some(precision) = spec.precision {
                    bytes.truncate(precision);
                }
                spec.pad(bytes)
            }),
            b'p' => next(8, &mut offset).map(|address| spec.pad(format!("{address:#x}").into_bytes())),
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                next(8, &mut offset).map(|raw| spec.float(f64::from_bits(raw), conversion))
            }
            _ => {
                out.extend_from_slice(&format[start..at]);
                continue;
            }
        };
        match body {
            Some(body) => {
                out.extend(body);
                count += 1;
            }
            None => return (out, u32::MAX),
        }
    }
    (out, count)
}

#[derive(Clone, Copy, Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
}

impl Spec {
    fn pad(&self, body: Vec<u8>) -> Vec<u8> {
        let fill = self.width.saturating_sub(body.len());
        let blanks = vec![b' '; fill];
        if self.left { [body, blanks].concat() } else { [blanks, body].concat() }
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    fn integer(&self, negative: bool, digits: String, signed: bool) -> Vec<u8> {
        self.prefixed(if signed { self.sign(negative) } else { "" }, digits)
    }

    fn prefixed(&self, prefix: &str, digits: String) -> Vec<u8> {
        let least = match self.precision {
            Some(precision) => precision,
            None if self.zero && !self.left => self.width.saturating_sub(prefix.len()),
            None => 1,
        };
        // "%.0d" of zero prints nothing.
        let digits = if self.precision == Some(0) && digits == "0" { String::new() } else { digits };
        let zeros = "0".repeat(least.saturating_sub(digits.len()));
        self.pad(format!("{prefix}{zeros}{digits}").into_bytes())
    }

    fn float(&self, value: f64, conversion: u8) -> Vec<u8> {
        let upper = conversion.is_ascii_uppercase();
        let sign = self.sign(value.is_sign_negative() && !value.is_nan() || value.is_nan() && value.is_sign_negative());
        let magnitude = value.abs();
        let mut body = if value.is_nan() {
            "nan".to_owned()
        } else if value.is_infinite() {
            "inf".to_owned()
        } else {
            let precision = self.precision.unwrap_or(6);
            match conversion.to_ascii_lowercase() {
                b'f' => fixed(magnitude, precision, self.alternate),
                b'e' => scientific(magnitude, precision, self.alternate),
                b'g' => general(magnitude, precision.max(1), self.alternate),
                _ => hexadecimal(magnitude, self.precision),
            }
        };
        if upper {
            body.make_ascii_uppercase();
        }
        if self.zero && !self.left && value.is_finite() {
            let fill = self.width.saturating_sub(sign.len() + body.len());
            return format!("{sign}{}{body}", "0".repeat(fill)).into_bytes();
        }
        self.pad(format!("{sign}{body}").into_bytes())
    }
}

fn fixed(value: f64, precision: usize, point: bool) -> String {
    let text = format!("{value:.precision$}");
    if point && precision == 0 { format!("{text}.") } else { text }
}

fn scientific(value: f64, precision: usize, point: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let dot = if point && precision == 0 { "." } else { "" };
    format!("{mantissa}{dot}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

fn general(value: f64, precision: usize, keep_zeros: bool) -> String {
    let digits = precision - 1;
    let probe = format!("{value:.digits$e}");
    let exponent: i32 = probe.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let mut text = if exponent < -4 || exponent >= precision as i32 {
        scientific(value, digits, keep_zeros)
    } else {
        fixed(value, (precision as i32 - 1 - exponent).max(0) as usize, keep_zeros)
    };
    if !keep_zeros {
        let (mantissa, tail) = match text.split_once('e') {
            Some((mantissa, exponent)) => (mantissa.to_owned(), format!("e{exponent}")),
            None => (text.clone(), String::new()),
        };
        if mantissa.contains('.') {
            let trimmed = mantissa.trim_end_matches('0').trim_end_matches('.');
            text = format!("{trimmed}{tail}");
        }
    }
    text
}

fn hexadecimal(value: f64, precision: Option<usize>) -> String {
    let bits = value.to_bits();
    let mut exponent = (bits >> 52 & 0x7ff) as i32 - 1023;
    let mut fraction = bits & ((1 << 52) - 1);
    let mut lead = 1u64;
    if exponent == -1023 {
        (lead, exponent) = if fraction == 0 { (0, 0) } else { (0, -1022) };
    }
    let digits = match precision {
        Some(precision) if precision < 13 => {
            let drop = 52 - 4 * precision as u32;
            let whole = lead << 52 | fraction;
            let half = 1u64 << (drop - 1);
            let rest = whole & ((1u64 << drop) - 1);
            let mut kept = whole >> drop;
            if rest > half || rest == half && kept & 1 != 0 {
                kept += 1;
            }
            lead = kept >> (4 * precision);
            fraction = kept & ((1u64 << (4 * precision)) - 1);
            if precision == 0 { String::new() } else { format!("{fraction:0precision$x}") }
        }
        Some(precision) => format!("{fraction:013x}{}", "0".repeat(precision - 13)),
        None => format!("{fraction:013x}").trim_end_matches('0').to_owned(),
    };
    let dot = if digits.is_empty() { "" } else { "." };
    format!("0x{lead}{dot}{digits}p{exponent:+}")
}
