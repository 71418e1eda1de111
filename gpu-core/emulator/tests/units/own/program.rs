//! Random kernels that store to places of one array.

use std::fmt::Write;

/// Numbers below others, the same each time.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) % n
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// A kernel that stores to, and mostly loads from, places of one array that it computes in some way.
pub struct Program {
    pub dice: Dice,
    text: String,
    registers: u32,
}

const COORDINATE_REGISTERS: [&str; 7] = ["%tx", "%ty", "%bx", "%by", "%gx", "%gy", "%gx"];

impl Program {
    pub fn new(seed: u64) -> Program {
        let dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut program = Program { dice, text: String::new(), registers: 0 };
        program.write();
        program
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.text, "    {line}").expect("memory");
    }

    /// A new register of 32 bits.
    fn register(&mut self) -> String {
        self.registers += 1;
        format!("%r{}", self.registers)
    }

    fn number(&mut self) -> &'static str {
        self.dice.of(&["1", "2", "3", "4", "8", "12", "16", "40", "64", "%n", "%w", "%wide", "-1", "-4"])
    }

    /// A value of 32 bits, made of coordinates.
    fn index(&mut self) -> String {
        let mut value = self.dice.of(&COORDINATE_REGISTERS).to_owned();
        let mut more = self.dice.below(4);
        if self.dice.below(3) != 0 {
            // An element, a row or a place of a tile for each thread.
            let (row, apart) = (self.register(), self.register());
            let (y, x) = if self.dice.below(3) == 0 { ("%gx", "%gy") } else { ("%gy", "%gx") };
            let wide = self.dice.of(&["160", "160", "%wide", "40"]);
            self.line(format_args!("mad.lo.s32 {row}, {y}, {wide}, {x};"));
            let step = self.dice.of(&["1", "1", "2", "3", "4", "8", "8", "16", "33", "-1"]);
            self.line(format_args!("mul.lo.s32 {apart}, {row}, {step};"));
            (value, more) = (apart, more.saturating_sub(2));
        }
        for _ in 0..more {
            let (next, other) = (self.register(), self.dice.of(&COORDINATE_REGISTERS));
            let number = self.number();
            match self.dice.below(14) {
                0..3 => self.line(format_args!("mul.lo.s32 {next}, {value}, {number};")),
                3..7 => self.line(format_args!("mad.lo.s32 {next}, {other}, {number}, {value};")),
                7 => self.line(format_args!("add.s32 {next}, {value}, {number};")),
                8 => self.line(format_args!("sub.s32 {next}, {number}, {value};")),
                9 => self.line(format_args!("shl.b32 {next}, {value}, {};", self.dice_shift())),
                10 => self.line(format_args!("or.b32 {next}, {value}, {};", self.dice_low())),
                11 => {
                    let (name, ty) = [("neg", "s32"), ("not", "b32")][self.dice.below(2) as usize];
                    self.line(format_args!("{name}.{ty} {next}, {value};"));
                }
                12 => self.line(format_args!("and.b32 {next}, {value}, {};", self.dice_low())),
                _ => self.line(format_args!("shr.u32 {next}, {value}, 1;")),
            }
            value = next;
        }
        value
    }

    fn dice_shift(&self) -> u64 {
        self.dice.0 >> 20 & 3
    }

    fn dice_low(&self) -> u64 {
        (2 << (self.dice.0 >> 20 & 3)) - 1
    }

    /// Ends the threads that do not satisfy something.
    fn guard(&mut self) {
        let (a, b) = (self.index(), self.number());
        let (operator, ty) = (self.dice.of(&["lt", "le", "gt", "ge", "eq", "ne"]), self.dice.of(&["s32", "u32"]));
        self.registers += 1;
        let predicate = format!("%p{}", self.registers);
        self.line(format_args!("setp.{operator}.{ty} {predicate}, {a}, {b};"));
        if self.dice.below(3) == 0 {
            let (other, both) = (self.dice.of(&COORDINATE_REGISTERS), self.registers + 1);
            self.registers += 1;
            self.line(format_args!("setp.ge.u32 %q{both}, {other}, {};", "%n"));
            let join = self.dice.of(&["or", "and"]);
            self.line(format_args!("{join}.pred %p{both}, {predicate}, %q{both};"));
            let not = self.dice.of(&["", "!"]);
            return self.line(format_args!("@{not}%p{both} bra DONE;"));
        }
        let not = self.dice.of(&["", "!"]);
        self.line(format_args!("@{not}{predicate} bra DONE;"));
    }

    /// An address of 64 bits for an index.
    fn address(&mut self, index: &str, scale: u64) -> String {
        self.registers += 1;
        let (low, address) = (format!("%l{}", self.registers), format!("%a{}", self.registers));
        let ty = self.dice.of(&["u32", "s32", "s32"]);
        match self.dice.below(3) {
            0 => {
                self.line(format_args!("mul.wide.{ty} {low}, {index}, {scale};"));
                self.line(format_args!("add.s64 {address}, %c, {low};"));
            }
            1 => self.line(format_args!("mad.wide.{ty} {address}, {index}, {scale}, %c;")),
            _ => {
                let whole = if ty == "s32" { "s64" } else { "u64" };
                self.line(format_args!("cvt.{whole}.{ty} {low}, {index};"));
                self.line(format_args!("mad.lo.s64 {address}, {low}, {scale}, %c;"));
            }
        }
        address
    }

    fn access(&mut self, address: &str, scale: u64) {
        let bits = (8 * scale).min(8 << self.dice.below(4));
        let offset = (self.dice.below(4) * scale) as i64 - scale as i64;
        let address = format!("[{address}+{offset}]");
        let value = if bits == 64 { "%wide_value" } else { "%value" };
        match self.dice.below(5) {
            0..2 => self.line(format_args!("ld.global.u{bits} {value}, {address};")),
            2 => self.line(format_args!("@%odd st.global.u{bits} {address}, {value};")),
            _ => self.line(format_args!("st.global.u{bits} {address}, {value};")),
        }
    }

    fn accesses(&mut self, index: &str, scale: u64) {
        for _ in 0..1 + self.dice.below(2) {
            let address = self.address(index, scale);
            self.access(&address, scale);
        }
    }

    /// Accesses at places that a loop moves on from.
    fn repeat(&mut self, index: &str, scale: u64) {
        self.registers += 1;
        let own = self.registers;
        let (mut step, by) = (self.number(), self.dice.of(&["1", "2", "3"]));
        let mut turns = self.dice.of(&["3", "4", "6", "7", "%n"]);
        if self.dice.below(2) == 0 {
            // Along a row.
            (step, turns) = (self.dice.of(&["1", "2", "4"]), self.dice.of(&["2", "4", "8"]));
        }
        let outer = self.dice.below(4) == 0;
        if outer {
            self.line(format_args!("mov.u32 %o{own}, 0;"));
            self.line(format_args!("AGAIN{own}:"));
        }
        self.line(format_args!("mov.u32 %i{own}, {index};"));
        self.line(format_args!("mov.u32 %k{own}, 0;"));
        let pointer = self.address(index, scale);
        self.line(format_args!("mov.u64 %z{own}, {pointer};"));
        let by_pointer = self.dice.below(3) == 0;
        let on_top = self.dice.below(3) == 0;
        let late = self.dice.below(2) == 0;
        let strides = self.dice.below(3) == 0;
        let operator = self.dice.of(&["lt", "le", "ne", "lt", "lo"]);
        let ty = if operator == "lo" { "u32" } else { self.dice.of(&["s32", "u32"]) };
        // As many as all threads, or by the counter of turns.
        let counted = if strides { format!("%i{own}") } else { format!("%k{own}") };
        let step = if strides { "%all" } else { step };
        let bound = if strides { "%wide" } else { turns };
        if on_top {
            self.line(format_args!("TOP{own}:"));
            self.line(format_args!("setp.{operator}.{ty} %p{own}, {counted}, {bound};"));
            self.line(format_args!("@!%p{own} bra OUT{own};"));
        } else {
            self.line(format_args!("TOP{own}:"));
        }
        if !late {
            self.body(own, scale, by_pointer);
        }
        self.line(format_args!("add.s32 %i{own}, %i{own}, {step};"));
        self.line(format_args!("add.s32 %k{own}, %k{own}, {by};"));
        let bytes = self.dice.of(&["4", "16", "-4", "64", "256"]);
        self.line(format_args!("add.s64 %z{own}, %z{own}, {bytes};"));
        if late {
            self.body(own, scale, by_pointer);
        }
        // However it ends, it ends.
        self.line(format_args!("add.s32 %limit, %limit, -1;"));
        self.line(format_args!("setp.lt.s32 %over, %limit, 0;"));
        self.line(format_args!("@%over bra DONE;"));
        if on_top {
            self.line(format_args!("bra TOP{own};"));
            self.line(format_args!("OUT{own}:"));
        } else if self.dice.below(3) == 0 {
            let reached = if operator == "ne" { "eq" } else { "ge" };
            self.line(format_args!("setp.{reached}.s32 %p{own}, {counted}, {bound};"));
            self.line(format_args!("@%p{own} bra OUT{own};"));
            self.line(format_args!("bra TOP{own};"));
            self.line(format_args!("OUT{own}:"));
        } else {
            self.line(format_args!("setp.{operator}.{ty} %p{own}, {counted}, {bound};"));
            self.line(format_args!("@%p{own} bra TOP{own};"));
        }
        if self.dice.below(3) == 0 {
            self.body(own, scale, by_pointer);
        }
        if outer {
            self.line(format_args!("add.s32 %o{own}, %o{own}, 1;"));
            self.line(format_args!("setp.lt.s32 %q{own}, %o{own}, 2;"));
            self.line(format_args!("@%q{own} bra AGAIN{own};"));
        }
    }

    /// A row for each thread, which a loop goes along: one place more, and threads meet.
    fn row(&mut self) {
        self.registers += 1;
        let own = self.registers;
        let length = [2, 4, 6, 8][self.dice.below(4) as usize];
        let step = 1 + self.dice.below(2);
        let by = 1 + self.dice.below(3);
        let turns = (length / step + self.dice.below(3) * self.dice.below(2)).max(2) - self.dice.below(2);
        let mut chance = |of: u64| self.dice.below(of) == 0;
        let (outer, begins_late, counts_late, on_top) = (chance(2), chance(4), chance(4), chance(3));
        let (by_pointer, early, copies, before, sometimes) = (chance(2), chance(2), chance(3), chance(3), chance(5));
        let (two, backwards, signed, skips, resets) = (chance(8), chance(6), chance(2), chance(6), chance(5));
        let resets_count = chance(2);
        let ty = if signed { "s32" } else { "u32" };
        let operator = if backwards { "gt" } else { self.dice.of(&["lt", "ne", "lt", "le"]) };
        let bound = match operator {
            "le" => (by * turns - by) as i64,
            "gt" => 0,
            _ => (by * turns) as i64,
        };
        let (first, by) = if backwards { ((by * turns) as i64, -(by as i64)) } else { (0, by as i64) };
        self.line(format_args!("mad.lo.s32 %b{own}, %gy, 160, %gx;"));
        self.line(format_args!("mul.lo.s32 %o{own}, %b{own}, {length};"));
        let begin = |program: &mut Program| {
            program.line(format_args!("mov.u32 %i{own}, %o{own};"));
            if two {
                program.line(format_args!("@%odd bra ODD{own};"));
                program.line(format_args!("add.s32 %i{own}, %o{own}, {length};"));
                program.line(format_args!("ODD{own}:"));
            }
            program.line(format_args!("mad.wide.u32 %z{own}, %i{own}, 4, %c;"));
        };
        let count = |program: &mut Program| program.line(format_args!("mov.u32 %k{own}, {first};"));
        self.line(format_args!("mov.u32 %times, 0;"));
        if !begins_late {
            begin(self);
        }
        if !counts_late {
            count(self);
        }
        self.line(format_args!("AGAIN{own}:"));
        if begins_late {
            begin(self);
        }
        if counts_late {
            count(self);
        }
        let address = if by_pointer { format!("[%z{own}]") } else { format!("[%a{own}]") };
        let store = |program: &mut Program| {
            if !by_pointer {
                program.line(format_args!("mad.wide.u32 %a{own}, %i{own}, 4, %c;"));
            }
            program.line(format_args!("st.global.u32 {address}, %value;"));
        };
        let ask = |program: &mut Program, counter: &str| {
            program.line(format_args!("setp.{operator}.{ty} %p{own}, {counter}, {bound};"));
        };
        self.line(format_args!("TOP{own}:"));
        let counter = format!("%k{own}");
        if on_top {
            ask(self, &counter);
            self.line(format_args!("@!%p{own} bra OUT{own};"));
        }
        if early {
            store(self);
        }
        if !on_top && before {
            ask(self, &counter);
        }
        if sometimes {
            self.line(format_args!("@%odd bra SKIP{own};"));
        }
        self.line(format_args!("add.s32 %i{own}, %i{own}, {step};"));
        self.line(format_args!("add.s64 %z{own}, %z{own}, {};", 4 * step));
        if sometimes {
            self.line(format_args!("SKIP{own}:"));
        }
        if !early {
            store(self);
        }
        self.line(format_args!("add.s32 %limit, %limit, -1;"));
        self.line(format_args!("setp.lt.s32 %over, %limit, 0;"));
        self.line(format_args!("@%over bra DONE;"));
        if skips {
            // A thread that goes round without having counted.
            self.line(format_args!("setp.eq.s32 %q{own}, %limit, 60;"));
            self.line(format_args!("@%q{own} bra TOP{own};"));
        }
        if resets {
            // One that begins anew on its way, for once.
            self.line(format_args!("setp.ne.s32 %q{own}, %limit, 62;"));
            self.line(format_args!("@%q{own} bra KEEP{own};"));
            if resets_count {
                count(self);
            } else {
                self.line(format_args!("mov.u32 %i{own}, %o{own};"));
            }
            self.line(format_args!("KEEP{own}:"));
        }
        if copies {
            self.line(format_args!("add.s32 %r{own}, %k{own}, {by};"));
            if !on_top && !before {
                ask(self, &format!("%r{own}"));
            }
            self.line(format_args!("mov.u32 %k{own}, %r{own};"));
        } else {
            self.line(format_args!("add.s32 %k{own}, %k{own}, {by};"));
            if !on_top && !before {
                ask(self, &counter);
            }
        }
        if on_top {
            self.line(format_args!("bra TOP{own};"));
        } else {
            self.line(format_args!("@%p{own} bra TOP{own};"));
        }
        self.line(format_args!("OUT{own}:"));
        if self.dice.below(4) == 0 {
            store(self);
        }
        if outer {
            self.line(format_args!("add.s32 %times, %times, 1;"));
            self.line(format_args!("setp.lt.s32 %q{own}, %times, 2;"));
            self.line(format_args!("@%q{own} bra AGAIN{own};"));
        }
    }

    fn body(&mut self, own: u32, scale: u64, by_pointer: bool) {
        if by_pointer {
            self.access(&format!("%z{own}"), scale);
        } else {
            self.accesses(&format!("%i{own}"), scale);
        }
    }

    fn write(&mut self) {
        if self.dice.below(2) == 0 {
            return self.row();
        }
        for _ in 0..self.dice.below(3) {
            self.guard();
        }
        let scale = [1, 2, 4, 4, 4, 8, 16][self.dice.below(7) as usize];
        let index = self.index();
        for _ in 0..1 + self.dice.below(2) {
            match self.dice.below(3) {
                0 => self.repeat(&index, scale),
                1 => self.accesses(&index, scale),
                _ => {
                    let other = if self.dice.below(4) == 0 { self.index() } else { index.clone() };
                    self.accesses(&other, scale);
                }
            }
        }
    }

    pub fn ptx(&self) -> String {
        let many = self.registers + 1;
        let families: String =
            ["b", "i", "k", "o"].iter().map(|name| format!("    .reg .b32 %{name}<{many}>;\n")).collect();
        format!(
            r"
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 c, .param .u32 n, .param .u32 w)
{{
    .reg .pred %p<{many}>, %q<{many}>, %odd, %over;
    .reg .b32 %r<{many}>, %tx, %ty, %bx, %by, %gx, %gy, %n, %w, %wide, %all, %sx, %sy, %value, %limit, %times;
{families}    .reg .b64 %l<{many}>, %a<{many}>, %z<{many}>, %c, %generic, %wide_value;
    ld.param.u64 %generic, [c];
    ld.param.u32 %n, [n];
    ld.param.u32 %w, [w];
    cvta.to.global.u64 %c, %generic;
    mov.u32 %tx, %tid.x;
    mov.u32 %ty, %tid.y;
    mov.u32 %bx, %ctaid.x;
    mov.u32 %by, %ctaid.y;
    mov.u32 %sx, %ntid.x;
    mov.u32 %sy, %ntid.y;
    mad.lo.s32 %gx, %bx, %sx, %tx;
    mad.lo.s32 %gy, %by, %sy, %ty;
    mov.u32 %all, %nctaid.x;
    mul.lo.s32 %all, %all, %sx;
    shl.b32 %wide, %w, 2;
    mad.lo.s32 %value, %gy, 4096, %gx;
    cvt.u64.u32 %wide_value, %value;
    and.b32 %limit, %value, 1;
    setp.eq.u32 %odd, %limit, 1;
    mov.u32 %limit, 64;
{}
DONE:
    ret;
}}
",
            self.text
        )
    }
}
