//! Functions, variables and their initialisers.

use super::expression::Constant;
use super::lexer::Kind;
use super::parser::{MAX_DEPTH, Parsed, Parser};
use super::tree::{Body, Function, Init, VarSpace, Variable};

impl<'a> Parser<'a, '_> {
    pub(super) fn function(&mut self) -> Parsed<Function<'a>> {
        let entry = self.word() == Some(".entry");
        self.at += 1;
        // `.attribute(...)` and `.noreturn` may stand before the name.
        self.skip_attribute()?;
        let results = if self.is(b'(') { self.formals()? } else { Vec::new() };
        let name = self.name()?;
        let params = if self.is(b'(') { self.formals()? } else { Vec::new() };
        let mut limits = Vec::new();
        while let Some(word) = self.word().filter(|word| word.starts_with('.')) {
            if word == ".pragma" {
                self.pragma()?;
                continue;
            }
            if word == ".loc" {
                self.location()?;
                continue;
            }
            self.at += 1;
            let mut numbers = Vec::new();
            while let Some(Kind::Int(value)) = self.peek().map(|token| token.kind) {
                numbers.push(u32::try_from(value).unwrap_or(u32::MAX));
                self.at += 1;
                if !self.take(b',') {
                    break;
                }
            }
            limits.push((&word[1..], numbers));
        }
        let body = if self.take(b';') {
            None
        } else if self.take(b'{') {
            self.loc = None;
            Some(Body::new(self.body()))
        } else {
            return self.error("`{` or `;`");
        };
        Ok(Function { name, entry, external: false, results, params, body, limits })
    }

    /// True when `.managed` is among the attributes.
    pub(super) fn skip_attribute(&mut self) -> Parsed<bool> {
        let mut managed = false;
        while self.take_word(".attribute") || self.take_word(".noreturn") {
            if self.take(b'(') {
                while !self.take(b')') {
                    if self.peek().is_none() {
                        return self.error("`)`");
                    }
                    managed |= self.word() == Some(".managed");
                    self.at += 1;
                }
            }
        }
        Ok(managed)
    }

    pub(super) fn formals(&mut self) -> Parsed<Vec<Variable<'a>>> {
        self.expect(b'(')?;
        let mut out = Vec::new();
        while !self.take(b')') {
            self.variable_list(false, &mut out, true)?;
            if !self.take(b',') && !self.is(b')') {
                return self.error("`,` or `)`");
            }
        }
        Ok(out)
    }

    pub(super) fn variables(&mut self, external: bool, out: &mut Vec<Variable<'a>>) -> Parsed<()> {
        self.variable_list(external, out, false)?;
        self.expect(b';')
    }

    /// `.space attributes .type name[dims] = init, name ...`; one name when `single`.
    pub(super) fn variable_list(&mut self, external: bool, out: &mut Vec<Variable<'a>>, single: bool) -> Parsed<()> {
        let line = self.line();
        let space = match self.word() {
            Some(".global") => VarSpace::Global,
            Some(".const") => VarSpace::Const,
            Some(".local") => VarSpace::Local,
            Some(".param") => VarSpace::Param,
            Some(".reg") if single => VarSpace::Reg,
            Some(word) if word == ".shared" || word.starts_with(".shared::") => VarSpace::Shared,
            _ => return self.error("a state space"),
        };
        self.at += 1;
        let (mut align, mut vector, mut ty, mut pointer, mut managed) = (0, 1, "", false, false);
        while let Some(word) = self.word().filter(|word| word.starts_with('.')) {
            match word {
                ".align" => {
                    self.at += 1;
                    let value = self.integer()?;
                    let valid = u32::try_from(value).ok().filter(|v| v.is_power_of_two() && *v <= 1 << 16);
                    // `.ptr .align 16` speaks of what is pointed to.
                    match valid {
                        Some(value) if !pointer => align = value,
                        Some(_) => {}
                        None => return self.error("an alignment that is a power of two"),
                    }
                    continue;
                }
                ".attribute" => {
                    managed |= self.skip_attribute()?;
                    continue;
                }
                ".ptr" => pointer = true,
                ".v2" => vector = 2,
                ".v4" => vector = 4,
                ".v8" => vector = 8,
                // Spaces that `.ptr` may name.
                ".global" | ".const" | ".shared" | ".local" | ".generic" | ".managed" | ".unified" => {}
                _ if ty.is_empty() => ty = &word[1..],
                _ => return self.error("a name"),
            }
            self.at += 1;
        }
        if ty.is_empty() {
            return self.error("a type");
        }
        loop {
            let name = self.name()?;
            // `name<4>` declares name0 to name3; only registers use it, so a count here is refused.
            let mut count = Some(u64::from(vector as u32));
            while self.take(b'[') {
                if self.take(b']') {
                    count = None;
                    continue;
                }
                let size = self.integer()?;
                count = match (count, u64::try_from(size)) {
                    (Some(count), Ok(size)) => match count.checked_mul(size) {
                        Some(count) => Some(count),
                        None => return self.error("an array size below 2^64"),
                    },
                    (None, Ok(_)) => None,
                    _ => return self.error("an array size of 0 or more"),
                };
                self.expect(b']')?;
            }
            let mut init = Vec::new();
            if self.take(b'=') {
                self.initialiser(&mut init, 0)?;
                if count.is_none() {
                    count = Some(init.len() as u64);
                }
            }
            out.push(Variable {
                space,
                name,
                ty,
                align,
                count,
                init,
                external,
                visible: false,
                pointer,
                managed,
                line,
            });
            if single || !self.take(b',') {
                return Ok(());
            }
        }
    }

    pub(super) fn initialiser(&mut self, out: &mut Vec<Init<'a>>, depth: u32) -> Parsed<()> {
        if depth > MAX_DEPTH {
            return self.error("fewer nested braces");
        }
        if self.take(b'{') {
            while !self.take(b'}') {
                self.initialiser(out, depth + 1)?;
                if !self.take(b',') && !self.is(b'}') {
                    return self.error("`,` or `}`");
                }
            }
            return Ok(());
        }
        out.push(self.init_value()?);
        Ok(())
    }

    pub(super) fn init_value(&mut self) -> Parsed<Init<'a>> {
        let Some(token) = self.peek() else { return self.error("a value") };
        let masked = self.tokens.get(self.at + 1).is_some_and(|next| next.kind == Kind::Punct(b'('));
        Ok(match token.kind {
            Kind::Int(value) if masked => {
                // `0xff00(symbol)`: one byte of an address.
                self.at += 2;
                let inner = self.init_value()?;
                self.expect(b')')?;
                match inner {
                    Init::Symbol { name, offset, generic, .. } => {
                        Init::Symbol { name, offset, generic, mask: Some(value) }
                    }
                    _ => return self.error("a symbol inside the mask"),
                }
            }
            Kind::Word if token.text == "generic" && masked => {
                self.at += 2;
                let name = self.name()?;
                let mut offset = if self.is(b'+') { self.displacement()? } else { 0 };
                self.expect(b')')?;
                if self.is(b'+') {
                    offset = offset.wrapping_add(self.displacement()?);
                }
                Init::Symbol { name, offset, generic: true, mask: None }
            }
            Kind::Word if token.text != "WARP_SZ" => {
                self.at += 1;
                let offset = if self.is(b'+') { self.displacement()? } else { 0 };
                Init::Symbol { name: token.text, offset, generic: false, mask: None }
            }
            _ => match self.constant()? {
                Constant::Signed(value) => Init::Int(value as u64),
                Constant::Unsigned(value) => Init::Int(value),
                Constant::F32(bits) => Init::F32(bits),
                Constant::F64(value) => Init::F64(value.to_bits()),
            },
        })
    }
}
