//! Arrays of which every thread has parts of its own: the arithmetic that tells, and random kernels of which it tells.

use std::fmt::Write;
use std::sync::atomic::AtomicBool;

use ptx_emulator::inside::check::own::affine::{Affine, COORDINATES, Fact, Interval, LARGE};
use ptx_emulator::inside::check::own::apart::{Place, are_apart};
use ptx_emulator::inside::check::own::loops::passes_of;
use ptx_emulator::inside::check::own_arrays;
use ptx_emulator::{FaultKind, Launch, Memory, Module, Options, Outcome, launch};

#[test]
fn sums_and_what_they_come_to() {
    let (x, y) = (Affine::atom(0), Affine::atom(1));
    let sum = x.plus(&y, 10).and_then(|sum| sum.plus(&Affine::constant(3), 1)).expect("small");
    assert_eq!(sum, Affine { terms: vec![(0, 1), (1, 10)], constant: 3 });
    assert_eq!(sum.interval(&[(0, 9), (0, 4)], &[]), Some((3, 52)));
    let fact = Fact { terms: vec![(0, 1), (1, 10)], within: (0, 30) };
    assert_eq!(sum.interval(&[(0, 9), (0, 4)], std::slice::from_ref(&fact)), Some((3, 33)));
    // Twice as much lies in twice the interval, and less one of them in what that leaves.
    assert_eq!(sum.times(-2).and_then(|sum| sum.interval(&[(0, 9), (0, 4)], &[fact])), Some((-66, -6)));
    assert_eq!(sum.plus(&sum, -1), Some(Affine::default()));
    assert_eq!(Affine::constant(0xffff_fffc).reduced(32), Affine::constant(-4));
    assert_eq!(Affine::constant(LARGE - 1).times(4), None);
}

fn place(terms: &[(u16, i128)], constant: i128, bytes: u32) -> Place {
    Place { address: Affine { terms: terms.to_vec(), constant }, bytes, writes: true, facts: Vec::new() }
}

/// All pairs of threads and steps, one after the other.
fn meet(a: &Place, b: &Place, ranges: &[Interval]) -> bool {
    let all = |place: &Place| {
        let mut found = Vec::new();
        let mut values: Vec<i128> = ranges.iter().map(|range| range.0).collect();
        loop {
            let sum = |terms: &[(u16, i128)]| terms.iter().map(|(atom, f)| f * values[*atom as usize]).sum::<i128>();
            if place.facts.iter().all(|fact| (fact.within.0..=fact.within.1).contains(&sum(&fact.terms))) {
                found.push((values[..COORDINATES].to_vec(), place.address.constant + sum(&place.address.terms)));
            }
            let Some(next) = (0..values.len()).find(|at| values[*at] < ranges[*at].1) else { return found };
            values[next] += 1;
            values[..next].iter_mut().zip(ranges).for_each(|(value, range)| *value = range.0);
        }
    };
    let (first, second) = (all(a), all(b));
    first.iter().any(|(thread, from)| {
        second
            .iter()
            .any(|(other, to)| thread != other && from - to < i128::from(b.bytes) && to - from < i128::from(a.bytes))
    })
}

#[test]
fn what_is_apart_never_meets() {
    let mut dice = Dice(1);
    let (mut apart, mut together, mut unsure) = (0, 0, 0);
    for _ in 0..20_000 {
        let mut ranges = vec![(0, 0); COORDINATES + 2];
        for at in [0, 1, 3, 6, 7] {
            ranges[at] = (0, dice.below(4) as i128);
        }
        let sizes = [1, 2, 3, 4, 6, 8, 9, 12, 16, 24, 32, 48, 64, -1, -4, -16];
        let terms: Vec<(u16, i128)> = [0, 1, 3].map(|atom| (atom, sizes[dice.below(16) as usize])).to_vec();
        let make = |dice: &mut Dice, terms: &[(u16, i128)]| {
            let mut terms = terms.to_vec();
            for atom in [6, 7] {
                if dice.below(3) == 0 {
                    terms.push((atom, sizes[dice.below(16) as usize]));
                }
            }
            let mut place = place(&terms, dice.below(40) as i128, [1, 2, 4, 8][dice.below(4) as usize]);
            if dice.below(2) == 0 {
                let terms = [vec![(0, 1), (1, 4)], vec![(0, 1)], vec![(1, 2), (3, -1)]][dice.below(3) as usize].clone();
                place.facts.push(Fact { terms, within: (dice.below(2) as i128, 1 + dice.below(4) as i128) });
            }
            place
        };
        let a = make(&mut dice, &terms);
        let b = if dice.below(2) == 0 { a.clone() } else { make(&mut dice, &terms) };
        match (are_apart(&a, &b, &ranges), meet(&a, &b, &ranges)) {
            (true, true) => panic!("{a:?} and {b:?} meet in {ranges:?}"),
            (true, false) => apart += 1,
            (false, true) => together += 1,
            (false, false) => unsure += 1,
        }
    }
    assert!(apart > 3000 && together > 3000 && unsure < 2000, "{apart} {together} {unsure}");
}

/// The same, one after the other.
fn counted(operator: &str, begin: i64, first: i64, step: i64, bound: i64) -> Option<i128> {
    let mut value = begin + first * step;
    for passes in 0..1000 {
        let holds = match operator {
            "lt" => value < bound,
            "le" => value <= bound,
            "gt" => value > bound,
            "ge" => value >= bound,
            _ => value != bound,
        };
        if !holds {
            return Some(passes);
        }
        value += step;
    }
    None
}

#[test]
fn passes_are_as_many_as_there_are() {
    for operator in ["lt", "le", "gt", "ge", "ne"] {
        for step in [-7, -2, -1, 1, 2, 7] {
            for (begin, bound) in [(100, 100), (100, 101), (100, 128), (128, 100), (100, 142), (142, 100)] {
                for first in [0, 1] {
                    let told = passes_of(operator, (begin, begin), first, step, (bound, bound), (true, 32));
                    let counted = counted(operator, begin as i64, first as i64, step as i64, bound as i64);
                    let up = matches!(operator, "lt" | "le" | "ne") && step > 0;
                    let down = matches!(operator, "gt" | "ge" | "ne") && step < 0;
                    if told.is_some() || up || down {
                        assert_eq!(told, counted, "{operator} {begin} {first} {step} {bound}");
                    }
                }
            }
        }
    }
    // The next step would come out at the other end.
    assert_eq!(passes_of("lt", (0, 0), 0, 16, (0xffff_fff8, 0xffff_fff8), (false, 32)), None);
    assert_eq!(passes_of("lt", (0, 7), 0, 16, (100, 200), (false, 32)), Some(13));
}

/// Numbers below others, the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
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
struct Program {
    dice: Dice,
    text: String,
    registers: u32,
}

const COORDINATE_REGISTERS: [&str; 7] = ["%tx", "%ty", "%bx", "%by", "%gx", "%gy", "%gx"];

impl Program {
    fn new(seed: u64) -> Program {
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

    fn ptx(&self) -> String {
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

/// Runs it once, with all that is touched remembered or not.
fn outcome(module: &Module, shape: ([u32; 3], [u32; 3]), numbers: (u32, u32), touched: bool) -> (Vec<String>, Outcome) {
    let mut memory = Memory::new(1 << 24);
    let c = memory.alloc("c", 1 << 16).expect("fits");
    memory.write(c, &vec![0; 1 << 16]).expect("inside");
    let run = Launch::new("k", shape.0, shape.1).arg_u64(c + (1 << 14)).arg_u32(numbers.0).arg_u32(numbers.1);
    let options = Options { touched, written_once: true, max_faults: 1000, deterministic: true, ..Options::default() };
    let own = own_arrays(module, &mut memory, &run, &options);
    (own, launch(module, &mut memory, &run, &options, &AtomicBool::new(false)))
}

#[test]
fn nobody_meets_in_parts_of_their_own() {
    let programs = std::env::var("OWN_PROGRAMS").map_or(1500, |count| count.parse().expect("a number"));
    let first = std::env::var("OWN_FIRST").map_or(1, |seed| seed.parse().expect("a number"));
    let (mut owned, mut racing, mut neither) = (0, 0, 0);
    for seed in first..first + programs {
        let mut program = Program::new(seed);
        let ptx = program.ptx();
        let module = Module::load(&ptx).unwrap_or_else(|error| panic!("{error}\n{ptx}"));
        let dice = &mut program.dice;
        let mut size = |sizes: &[u32]| sizes[dice.below(sizes.len() as u64) as usize];
        let grid = [size(&[1, 2, 3, 4]), size(&[1, 1, 2, 3]), 1];
        let block = [size(&[1, 4, 8, 16, 32, 33, 40]), size(&[1, 1, 2, 3, 4]), 1];
        let numbers = (size(&[1, 7, 16, 30, 64, 100]), size(&[16, 33, 40, 64, 128]));
        let (own, plain) = outcome(&module, (grid, block), numbers, false);
        let (_, watched) = outcome(&module, (grid, block), numbers, true);
        let races = |outcome: &Outcome| outcome.faults.iter().filter(|fault| fault.kind == FaultKind::Race).count();
        let about = || format!("{seed}: {grid:?} {block:?} {numbers:?}\n{ptx}\n{:#?}", watched.faults.first());
        assert_eq!(races(&plain), races(&watched), "{}", about());
        match (own.is_empty(), races(&watched)) {
            (false, 0) => owned += 1,
            (false, _) => panic!("{}", about()),
            (true, 0) => neither += 1,
            (true, _) => racing += 1,
        }
    }
    println!("{owned} with parts of their own, {racing} with races, {neither} with neither");
    assert!(owned > programs / 16 && racing > programs / 8, "{owned} {racing} {neither}");
}
