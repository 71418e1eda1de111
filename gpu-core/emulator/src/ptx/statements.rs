//! Function bodies: labels, registers, instructions and their operands.

use super::expression::Constant;
use super::lexer::Kind;
use super::parser::{MAX_DEPTH, Parsed, Parser, SyntaxError};
use super::tree::{Instruction, Operand, Statement};

/// Scopes inside a body.
const MAX_SCOPES: u32 = 256;

impl<'a> Parser<'a, '_> {
    /// Statements up to the brace that closes the function.
    pub(super) fn body(&mut self) -> Vec<Statement<'a>> {
        let mut out = Vec::new();
        let mut depth = 0;
        loop {
            if self.peek().is_none() {
                self.errors
                    .push(SyntaxError { message: "a function body is not closed".to_owned(), line: self.line() });
                return out;
            }
            if self.take(b'}') {
                if depth == 0 {
                    return out;
                }
                depth -= 1;
                out.push(Statement::Close);
                continue;
            }
            if self.take(b'{') {
                depth += 1;
                if depth > MAX_SCOPES {
                    let error = SyntaxError { message: "scopes nested too deep".to_owned(), line: self.line() };
                    self.errors.push(error);
                    self.at = self.tokens.len();
                    return out;
                }
                out.push(Statement::Open);
                continue;
            }
            let before = self.at;
            if let Err(error) = self.statement(&mut out) {
                self.recover(error);
                if self.at == before && !self.is(b'}') {
                    self.at += 1;
                }
            }
        }
    }

    pub(super) fn statement(&mut self, out: &mut Vec<Statement<'a>>) -> Parsed<()> {
        if self.take(b';') {
            return Ok(());
        }
        let Some(word) = self.word() else {
            if self.is(b'@') {
                return self.instruction(out);
            }
            return self.error("an instruction");
        };
        match word {
            ".loc" => self.location(),
            ".pragma" => self.pragma(),
            ".reg" => self.registers(out),
            ".section" => self.section(),
            ".file" => self.error("`.file` outside functions"),
            ".local" | ".shared" | ".param" | ".global" | ".const" => {
                let mut list = Vec::new();
                self.variables(false, &mut list)?;
                out.extend(list.into_iter().map(Statement::Variable));
                Ok(())
            }
            ".extern" => {
                self.at += 1;
                let mut list = Vec::new();
                self.variables(true, &mut list)?;
                out.extend(list.into_iter().map(Statement::Variable));
                Ok(())
            }
            _ if self.tokens.get(self.at + 1).is_some_and(|next| next.kind == Kind::Punct(b':')) => {
                self.at += 2;
                self.labelled(word, out)
            }
            _ if word.starts_with('.') => self.error("an instruction"),
            _ => self.instruction(out),
        }
    }

    pub(super) fn labelled(&mut self, label: &'a str, out: &mut Vec<Statement<'a>>) -> Parsed<()> {
        if self.take_word(".callprototype") {
            if self.is(b'(') {
                self.formals()?;
            }
            self.name()?;
            if self.is(b'(') {
                self.formals()?;
            }
            while !self.take(b';') {
                if self.peek().is_none() {
                    return self.error("`;`");
                }
                self.at += 1;
            }
            out.push(Statement::Prototype(label));
        } else if self.take_word(".branchtargets") || self.take_word(".calltargets") {
            let mut names = vec![self.name()?];
            while self.take(b',') {
                names.push(self.name()?);
            }
            self.expect(b';')?;
            out.push(Statement::Targets { label, names });
        } else {
            out.push(Statement::Label(label));
        }
        Ok(())
    }

    pub(super) fn registers(&mut self, out: &mut Vec<Statement<'a>>) -> Parsed<()> {
        let line = self.line();
        self.at += 1;
        let (mut ty, mut vector) = ("", 1);
        while let Some(word) = self.word().filter(|word| word.starts_with('.')) {
            // `.v4 .u32`, or `.v4.u32` as one word.
            for part in word[1..].split('.') {
                match part {
                    "v2" => vector = 2,
                    "v4" => vector = 4,
                    _ => ty = part,
                }
            }
            self.at += 1;
        }
        loop {
            let name = self.name()?;
            let count = if self.take(b'<') {
                let count = self.integer()?;
                self.expect(b'>')?;
                match u32::try_from(count).ok().filter(|count| *count <= 1 << 20) {
                    Some(count) => Some(count),
                    None => {
                        return Err(SyntaxError { message: format!("{count} registers are too many"), line });
                    }
                }
            } else {
                None
            };
            out.push(Statement::Register { ty, vector, name, count, line });
            if !self.take(b',') {
                return self.expect(b';');
            }
        }
    }

    pub(super) fn instruction(&mut self, out: &mut Vec<Statement<'a>>) -> Parsed<()> {
        let first = self.at;
        let line = self.line();
        let guard = if self.take(b'@') {
            let negated = self.take(b'!');
            Some((self.name()?, negated))
        } else {
            None
        };
        let opcode = self.name()?;
        self.calling = opcode.split('.').next() == Some("call");
        let mut operands = Vec::new();
        if !self.is(b';') {
            loop {
                operands.push(self.operand(0)?);
                if !self.take(b',') {
                    break;
                }
            }
        }
        if !self.is(b';') {
            return self.error("`,` or `;`");
        }
        let end = self.tokens.start(self.at);
        self.at += 1;
        let text = self.text[self.tokens.start(first)..end].trim_end();
        let used_bytes = self.used_bytes.take();
        let loc = self.loc;
        out.push(Statement::Instruction(Instruction { guard, opcode, operands, loc, line, text, used_bytes }));
        Ok(())
    }

    pub(super) fn operand_list(&mut self, close: u8, depth: u32) -> Parsed<Vec<Operand<'a>>> {
        let mut out = Vec::new();
        while !self.take(close) {
            out.push(self.operand(depth + 1)?);
            if !self.take(b',') && !self.is(close) {
                return self.error(&format!("`,` or `{}`", close as char));
            }
        }
        Ok(out)
    }

    /// Whether a name comes next, and not a number that is written as one.
    fn names_something(&self) -> bool {
        self.word().is_some_and(|word| word != "WARP_SZ")
    }

    pub(super) fn operand(&mut self, depth: u32) -> Parsed<Operand<'a>> {
        if depth > MAX_DEPTH {
            return self.error("fewer nested braces");
        }
        let Some(token) = self.peek() else { return self.error("an operand") };
        self.at += 1;
        let operand = match token.kind {
            Kind::Punct(b'{') => Operand::Vector(self.operand_list(b'}', depth)?),
            Kind::Punct(b'(') if self.calling => Operand::List(self.operand_list(b')', depth)?),
            Kind::Punct(b'[') => {
                let base = Box::new(self.operand(depth + 1)?);
                let (base, offset) = match *base {
                    Operand::NameOffset(name, offset) => (Box::new(Operand::Name(name)), offset),
                    _ => (base, if self.is(b'+') { self.displacement()? } else { 0 }),
                };
                let mut more = Vec::new();
                while self.take(b',') {
                    more.push(self.operand(depth + 1)?);
                }
                self.expect(b']')?;
                Operand::Address { base, offset, more }
            }
            Kind::Punct(b'!') if self.names_something() => Operand::Not(self.name()?),
            Kind::Punct(b'-') if self.names_something() => Operand::Negated(self.name()?),
            Kind::Word if token.text == "_" => Operand::Sink,
            Kind::Word if token.text != "WARP_SZ" => {
                // The assembler knows no `name - 4`; `name + -4` it does.
                if self.is(b'+') {
                    Operand::NameOffset(token.text, self.displacement()?)
                } else if self.take(b'[') {
                    let index = Box::new(self.operand(depth + 1)?);
                    self.expect(b']')?;
                    Operand::Element(token.text, index)
                } else {
                    Operand::Name(token.text)
                }
            }
            _ => {
                self.at -= 1;
                if !matches!(
                    token.kind,
                    Kind::Int(_)
                        | Kind::F32(_)
                        | Kind::F64(_)
                        | Kind::Word
                        | Kind::Punct(b'(' | b'+' | b'-' | b'~' | b'!')
                ) {
                    return self.error("an operand");
                }
                match self.constant()? {
                    Constant::Signed(value) => Operand::Int(value as u64),
                    Constant::Unsigned(value) => Operand::Int(value),
                    Constant::F32(bits) => Operand::F32(bits),
                    Constant::F64(value) => Operand::F64(value.to_bits()),
                }
            }
        };
        if self.is(b'|') && depth <= MAX_DEPTH {
            self.at += 1;
            let second = self.operand(depth + 1)?;
            return Ok(Operand::Pair(Box::new(operand), Box::new(second)));
        }
        Ok(operand)
    }
}
