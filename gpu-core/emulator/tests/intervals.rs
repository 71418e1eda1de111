//! Shared memory in which no two threads meet between two barriers: what is found to be such, and that nothing is overlooked
//! where it is.

mod common;

use std::fmt::Write;

use common::{Dice, kinds, load, memory, run_with, upload_f32, upload_u32};
use ptx_emulator::inside::check::separate;
use ptx_emulator::{FaultKind, Launch, Module, Options, Outcome};

const SPEED: &str = include_str!("ptx/speed.sm_90a.ptx");
const EVERYDAY: &str = include_str!("../examples/speed/everyday.ptx");
const FURTHER: &str = include_str!("../examples/speed/further.ptx");

/// PTX, kernel, grid, block, number.
type Case = (&'static str, &'static str, [u32; 2], [u32; 2], u32);

/// Runs a kernel of three buffers and a number.
fn run_kernel(module: &Module, kernel: &str, grid: [u32; 2], block: [u32; 2], n: u32, options: &Options) -> Outcome {
    let mut memory = memory();
    let mut launch = Launch::new(kernel, [grid[0], grid[1], 1], [block[0], block[1], 1]);
    for name in ["a", "b", "c"] {
        launch = launch.arg_u64(upload_f32(&mut memory, name, &vec![1.0; 1 << 16]));
    }
    run_with(module, &mut memory, &launch.arg_u32(n), options)
}

/// Everyday kernels are found to be such, whatever they compute places with; the second number is how many bytes of their
/// arrays, and of what lies between and behind them, nobody goes to.
#[test]
fn ordinary_kernels_are_found() {
    let line = [256, 1];
    let cases: &[(Case, Option<u32>)] = &[
        ((SPEED, "tiled", [2, 2], [32, 32], 64), Some(1024)),
        ((SPEED, "reduce", [4, 1], line, 1024), Some(0)),
        ((EVERYDAY, "transpose", [2, 2], [32, 8], 64), Some(4 * 32)),
        ((EVERYDAY, "stencil", [4, 1], line, 1024), Some(40)),
        ((EVERYDAY, "scan", [4, 1], line, 1024), Some(0)),
        ((EVERYDAY, "matmul_blocked", [1, 1], [16, 16], 64), Some(0)),
        ((EVERYDAY, "shuffle_reduce", [4, 1], line, 1024), Some(4 * 24)),
        ((EVERYDAY, "layernorm", [4, 1], line, 1024), Some(1024)),
        // Where its atomics go nobody knows, but they are alone.
        ((EVERYDAY, "histogram", [4, 1], line, 4096), Some(0)),
        ((FURTHER, "bitonic", [4, 1], line, 1024), Some(0)),
        ((FURTHER, "fft", [4, 1], line, 1024), Some(0)),
        ((FURTHER, "prefix", [4, 1], line, 1024), Some(32)),
        ((FURTHER, "gemm_int8", [16, 1], line, 64), Some(1024 + 2 * 4 * 16)),
        ((FURTHER, "gemm_half", [16, 1], line, 64), Some(1024 + 2 * 2 * 2 * 16)),
    ];
    for ((ptx, kernel, grid, block, n), bytes) in cases {
        let module = load(ptx);
        let outcome = run_kernel(&module, kernel, *grid, *block, *n, &Options::default());
        assert!(outcome.faults.is_empty(), "{kernel}: {:?}", outcome.faults);
        assert_eq!(separate(&module, kernel), *bytes, "{kernel}");
    }
}

/// Without one of its barriers none of them is.
#[test]
fn kernels_without_a_barrier_are_not_found() {
    let line = [256, 1];
    let cases: &[Case] = &[
        (SPEED, "tiled", [2, 2], [32, 32], 64),
        (SPEED, "reduce", [4, 1], line, 1024),
        (EVERYDAY, "transpose", [2, 2], [32, 8], 64),
        (EVERYDAY, "stencil", [4, 1], line, 1024),
        (EVERYDAY, "scan", [4, 1], line, 1024),
        (FURTHER, "bitonic", [4, 1], line, 1024),
        (FURTHER, "fft", [4, 1], line, 1024),
    ];
    for (ptx, kernel, grid, block, n) in cases {
        let start = ptx.find(&format!(".entry {kernel}(")).expect("an entry");
        let end = start + ptx[start..].find("\n}").expect("its end");
        let barriers: Vec<usize> = ptx[start..end].match_indices("bar.sync").map(|(at, _)| start + at).collect();
        for barrier in &barriers {
            let text = format!("{}//{}", &ptx[..*barrier], &ptx[*barrier..]);
            let module = load(&text);
            let alone = Options { workers: 1, ..Options::default() };
            let outcome = run_kernel(&module, kernel, *grid, *block, *n, &alone);
            let watched = Options { touched: true, ..alone.clone() };
            let expected = run_kernel(&load(&text), kernel, *grid, *block, *n, &watched);
            assert_eq!(format!("{:?}", outcome.faults), format!("{:?}", expected.faults), "{kernel} at {barrier}");
            let races = kinds(&expected).contains(&FaultKind::Race);
            assert!(!races || separate(&module, kernel).is_none(), "{kernel} at {barrier}");
            // The last one of a loop body may be the only one between two steps.
            assert!(races || barriers.len() > 1, "{kernel} at {barrier}");
        }
    }
}

/// What was found of one launch does not hold for another: of other blocks, or with other arguments where those matter.
#[test]
fn every_shape_is_looked_at() {
    let module = load(
        ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 mask)\n{\n.reg .b32 %r<6>;\n\
         .shared .align 4 .b8 s[4096];\nmov.u32 %r0, %tid.x;\nld.param.u32 %r1, [mask];\nand.b32 %r2, %r0, %r1;\n\
         shl.b32 %r4, %r2, 2;\nmov.u32 %r3, s;\nadd.u32 %r5, %r3, %r4;\nst.shared.u32 [%r5], %r0;\nret;\n}\n",
    );
    let mut memory = memory();
    for (threads, mask, races) in [(32, 31, false), (64, 31, true), (64, 63, false), (64, 15, true), (32, 31, false)] {
        let launch = Launch::new("k", [2, 1, 1], [threads, 1, 1]).arg_u32(mask);
        let outcome = run_with(&module, &mut memory, &launch, &Options::default());
        assert_eq!(kinds(&outcome).contains(&FaultKind::Race), races, "{threads} threads, {mask}");
        assert_eq!(separate(&module, "k").is_none(), races, "{threads} threads, {mask}");
    }
}

/// Places that threads have: words below 512.
const PLACES: usize = 5;
/// Of which the first `BY_THREAD` conditions depend on the thread alone; one on the block, one on what is in memory.
const CONDITIONS: usize = 6;

struct Writer<'d> {
    dice: &'d mut Dice,
    text: String,
    labels: usize,
}

impl Writer<'_> {
    fn place(&mut self, place: usize) {
        // Every thread has a place of its own in the first one.
        let steps = if place == 0 { 0 } else { 1 + self.dice.below(3) };
        let mut text = format!("mov.u32 %w{place}, %t;\n");
        for _ in 0..steps {
            let number = self.dice.of(&["1", "2", "3", "7", "8", "16", "31", "32", "64"]);
            let form = self.dice.of(&[
                "xor.b32 W, W, N;",
                "and.b32 W, W, N;",
                "add.u32 W, W, N;",
                "shr.u32 W, W, 1;",
                "shl.b32 W, W, 1;",
                "brev.b32 W, W;\nshr.u32 W, W, 24;",
                "add.u32 W, W, %lane;",
                "rem.u32 W, W, N;",
                "add.u32 W, W, %half;",
            ]);
            // Each register has one writer: a chain of new ones.
            for line in form.lines() {
                self.labels += 1;
                let next = format!("%n{}", self.labels);
                let from =
                    if text.lines().count() == 1 { format!("%w{place}") } else { format!("%n{}", self.labels - 1) };
                let line = line.replacen('W', &next, 1).replace('W', &from).replace('N', number);
                text.push_str(&line);
                text.push('\n');
            }
        }
        let last = if text.lines().count() == 1 { format!("%w{place}") } else { format!("%n{}", self.labels) };
        writeln!(text, "and.b32 %x{place}, {last}, 511;\nshl.b32 %y{place}, %x{place}, 2;").expect("memory");
        writeln!(text, "add.u32 %s{place}, %base, %y{place};").expect("memory");
        self.text.push_str(&text);
    }

    fn access(&mut self) {
        let guard = match self.dice.below(4) {
            0 => format!("@{}%p{} ", self.dice.of(&["", "!"]), self.dice.below(CONDITIONS)),
            _ => String::new(),
        };
        let load = self.dice.below(2) == 0;
        // Stores mostly go to the thread's own place.
        let own = self.dice.below(if load { 2 } else { 8 });
        let place = if (own == 0) != load { self.dice.below(PLACES) } else { 0 };
        let by = if place == 0 && !load { 2048 } else { [0, 0, 0, 4, 128, 512][self.dice.below(6)] };
        let form = match self.dice.below(12) {
            _ if load => format!("ld.shared.u32 %v, [%s{place}+{by}];"),
            0..10 => format!("st.shared.u32 [%s{place}+{by}], %v;"),
            10 => format!("st.shared.u8 [%s{place}+{by}], %v;"),
            _ => format!("red.shared.add.u32 [%s{place}+{by}], 1;"),
        };
        // Updates and other accesses are mostly not mixed.
        let form = if form.starts_with("red") && self.dice.below(3) > 0 {
            format!("ld.shared.u16 %v, [%s{place}];")
        } else {
            form
        };
        writeln!(self.text, "{guard}{form}").expect("memory");
    }

    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    fn statements(&mut self, count: usize, depth: usize) {
        for _ in 0..count {
            match self.dice.below(10) {
                0..4 => self.access(),
                4..7 => self.text.push_str("bar.sync 0;\n"),
                7 if depth > 0 => {
                    let (label, flip, condition) =
                        (self.label(), self.dice.of(&["", "!"]), self.dice.below(CONDITIONS));
                    writeln!(self.text, "@{flip}%p{condition} bra E{label};").expect("memory");
                    let count = 1 + self.dice.below(2);
                    for _ in 0..count {
                        self.access();
                    }
                    writeln!(self.text, "E{label}:").expect("memory");
                }
                // By warps: barriers that are not the same one.
                8 if depth > 0 => {
                    let label = self.label();
                    writeln!(self.text, "@%half_p bra E{label};").expect("memory");
                    self.statements(1, 0);
                    let met = self.dice.below(2) == 0;
                    self.text.push_str(if met { "bar.sync 0;\n" } else { "" });
                    writeln!(self.text, "bra F{label};\nE{label}:").expect("memory");
                    self.statements(1, 0);
                    self.text.push_str(if met { "bar.sync 0;\n" } else { "" });
                    writeln!(self.text, "F{label}:").expect("memory");
                }
                9 if depth > 0 => {
                    let label = self.label();
                    writeln!(self.text, "mov.u32 %c{label}, 0;\nL{label}:").expect("memory");
                    let count = 1 + self.dice.below(3);
                    self.statements(count, depth - 1);
                    let last = if self.dice.below(4) == 0 { "%half" } else { "1" };
                    writeln!(self.text, "add.u32 %c{label}, %c{label}, 1;\nsetp.le.u32 %q{label}, %c{label}, {last};")
                        .expect("memory");
                    writeln!(self.text, "@%q{label} bra L{label};").expect("memory");
                }
                _ => self.access(),
            }
        }
    }
}

fn kernel(dice: &mut Dice) -> String {
    let mut writer = Writer { dice, text: String::new(), labels: 0 };
    for place in 0..PLACES {
        writer.place(place);
    }
    for condition in 0..CONDITIONS {
        let number = writer.dice.of(&["1", "16", "31", "32", "48", "64", "100"]);
        let line = match condition {
            0 | 1 => format!("setp.lt.u32 %p{condition}, %t, {number};"),
            2 => format!("and.b32 %z, %t, {number};\nsetp.eq.u32 %p{condition}, %z, 0;"),
            3 => format!("setp.ge.u32 %p{condition}, %x1, {number};"),
            4 => "setp.eq.u32 %p4, %b, 0;".to_owned(),
            _ => format!("setp.lt.u32 %p{condition}, %g, {number};"),
        };
        writeln!(writer.text, "{line}").expect("memory");
    }
    // All of it has values from the start, in most.
    if writer.dice.below(4) > 0 {
        for part in 0..16 {
            writeln!(writer.text, "st.shared.u32 [%s0+{}], %g;", 256 * part).expect("memory");
        }
        writer.text.push_str("bar.sync 0;\n");
    }
    let count = 2 + writer.dice.below(10);
    writer.statements(count, 2);
    format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a)\n{{\n.reg .pred %p<{CONDITIONS}>, \
         %q<400>, %half_p;\n.reg .b32 %w<{PLACES}>, %x<{PLACES}>, %y<{PLACES}>, %s<{PLACES}>, %n<400>, %c<400>, %t, %b, %g, %v, %m, %z, \
         %lane, %half, %base;\n.reg .b64 %a, %i;\n.shared .align 16 .b8 shared_tile[8192];\nmov.u32 %t, %tid.x;\nmov.u32 %b, %ctaid.x;\n\
         mov.u32 %lane, %laneid;\nmov.u32 %base, shared_tile;\nshr.u32 %half, %t, 5;\nand.b32 %half, %half, 1;\n\
         setp.ne.u32 %half_p, %half, 0;\nld.param.u64 %a, [a];\nmul.wide.u32 %i, %t, 4;\nadd.u64 %a, %a, %i;\n\
         ld.global.u32 %g, [%a];\nmov.u32 %v, %g;\n{}shl.b32 %m, %b, 10;\ncvt.u64.u32 %i, %m;\nadd.u64 %a, %a, %i;\nst.global.u32 [%a+4096], %v;\nret;\n}}\n",
        writer.text
    )
    .replace("shr.u32 %half, %t, 5;\nand.b32 %half, %half, 1;", "shr.u32 %m, %t, 5;\nand.b32 %half, %m, 1;")
}

fn launch_of(text: &str, threads: u32, options: &Options) -> (Outcome, Option<u32>) {
    let module = load(text);
    let mut memory = memory();
    let values: Vec<u32> = (0..2048u32).map(|at| at.wrapping_mul(2_654_435_761) >> 25).collect();
    let address = upload_u32(&mut memory, "a", &values);
    let outcome =
        run_with(&module, &mut memory, &Launch::new("k", [2, 1, 1], [threads, 1, 1]).arg_u64(address), options);
    let found = separate(&module, "k");
    (outcome, found)
}

/// Random kernels have the same faults whether they are looked at beforehand or watched all along. Some of those that are
/// found to be without races have some all the same: where threads come to one barrier from several places.
#[test]
fn nothing_is_overlooked() {
    let number =
        |name: &str, default: u64| std::env::var(name).map_or(default, |value| value.parse().expect("a number"));
    let (first, programs) = (number("INTERVALS_FIRST", 1), number("INTERVALS_PROGRAMS", 600));
    let (mut found, mut racy) = (0, 0);
    for seed in first..first + programs {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let text = kernel(&mut dice);
        let threads = [32, 64, 100, 128, 256][dice.below(5)];
        let plain = Options { workers: 1, max_warp_instructions: Some(1 << 20), ..Options::default() };
        let (looked_at, separate) = launch_of(&text, threads, &plain);
        let (watched, none) = launch_of(&text, threads, &Options { touched: true, ..plain });
        assert_eq!(none, None);
        let races = kinds(&watched).contains(&FaultKind::Race);
        assert!(
            format!("{:?}", looked_at.faults) == format!("{:?}", watched.faults),
            "program {seed} with {threads} threads, found {separate:?}:\n{text}\n{:#?}\n{:#?}",
            looked_at.faults,
            watched.faults
        );
        found += u64::from(separate.is_some());
        racy += u64::from(races);
    }
    println!("{found} of {programs} without races, {racy} with some");
    assert!(found * 8 > programs && racy * 8 > programs, "{found} of {programs} found, {racy} with races");
}
