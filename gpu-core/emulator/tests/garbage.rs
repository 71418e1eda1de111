//! Damaged PTX: the loader gives problems, never a panic, and what still loads still runs to an end.

mod common;

use std::time::{Duration, Instant};

use common::*;
use ptx_emulator::{Checks, FaultKind, Launch, Module, Options};

const TEXTS: [&str; 4] = [
    include_str!("ptx/behave.sm_120a.ptx"),
    include_str!("ptx/wrong.sm_90a.ptx"),
    include_str!("ptx/hopper.sm_90a.ptx"),
    include_str!("ptx/vadd.sm_90a.ptx"),
];

/// A small generator, so that failures repeat.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

/// Replaces, removes, repeats and swaps words and characters.
fn damage(text: &str, random: &mut Random) -> String {
    let mut words: Vec<String> = text.split_inclusive([' ', '\n', ',', '\t']).map(str::to_owned).collect();
    for _ in 0..1 + random.below(4) {
        let at = random.below(words.len());
        let other = words[random.below(words.len())].clone();
        match random.below(7) {
            0 => words[at] = other,
            1 => words[at].clear(),
            2 => words.insert(at, other),
            3 => {
                words[at] =
                    ["{", "}", "[", "-", "99999999999999999999", "0x", "%", ".", ";", "é"][random.below(10)].to_owned()
            }
            4 => words.truncate(at + 1),
            5 => words[at] = words[at].replace(|c: char| c.is_ascii_digit(), "7"),
            _ => words[at] = words[at].replace("32", "64"),
        }
    }
    words.concat()
}

#[test]
fn damaged_text_never_panics() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let end = Instant::now() + Duration::from_secs(10);
    let (mut loaded, mut refused) = (0, 0);
    while Instant::now() < end {
        let text = damage(TEXTS[random.below(TEXTS.len())], &mut random);
        match Module::load(&text) {
            Ok(module) => {
                loaded += 1;
                run_some(&module, &mut random);
            }
            Err(error) => {
                refused += 1;
                assert!(!error.problems.is_empty() && !error.to_string().is_empty());
            }
        }
    }
    assert!(loaded > 0 && refused > 0, "{loaded} loaded, {refused} refused");
}

/// Runs one kernel with arguments that mean nothing.
fn run_some(module: &Module, random: &mut Random) {
    if module.kernels().is_empty() {
        return;
    }
    let kernel = &module.kernels()[random.below(module.kernels().len())];
    let mut memory = memory();
    let buffer = upload_u32(&mut memory, "buffer", &[1; 4096]);
    let mut launch = Launch::new(&kernel.name, [2, 1, 1], [64, 1, 1]);
    for _ in 0..kernel.param_bytes.div_ceil(8) {
        launch.params.extend((if random.below(4) == 0 { random.0 } else { buffer }).to_le_bytes());
    }
    launch.params.truncate(kernel.param_bytes as usize);
    let options = Options {
        max_warp_instructions: Some(20_000),
        time_limit: Some(Duration::from_secs(2)),
        workers: 1,
        ..Options::default()
    };
    run_with(module, &mut memory, &launch, &options);
}

#[test]
fn hostile_shapes_are_refused_quickly() {
    let wrap = |body: &str| format!(".version 9.0\n.target sm_90a\n.address_size 64\n{body}\n");
    let deep = "{".repeat(100_000);
    for body in [
        String::new(),
        "\0\u{7f}é".to_owned(),
        deep.clone(),
        format!(".visible .entry k() {{ {deep}"),
        format!(".global .b8 x[4] = {deep};"),
        format!(".visible .entry k() {{ mov.b32 %r1, {deep}; }}"),
        ".visible .entry k() { .reg .b32 %r<4000000000>; ret; }".to_owned(),
        ".visible .entry k() { .reg .b32 %r<1000000>; .reg .b64 %q<1000000>; .reg .b128 %s<1000000>; ret; }".to_owned(),
        ".shared .b8 huge[2147483648];".to_owned(),
        ".global .b8 huge[18446744073709551615];".to_owned(),
        ".visible .entry k(.param .b8 p[4000000000]) { ret; }".to_owned(),
        ".visible .entry k() { bra nowhere; }".to_owned(),
        ".visible .entry k() { @%p1 add.s32 %r1; }".to_owned(),
        format!(".visible .entry k() {{ {} ret; }}", "bar.sync 0; ".repeat(20_000)),
        format!("// {}", "x".repeat(5_000_000)),
        "(".repeat(1_000_000),
        "@".repeat(1_000_000),
        "-".repeat(1_000_000),
        format!(".visible .entry k() {{ add.s32 {} }}", "-".repeat(1_000_000)),
    ] {
        let start = Instant::now();
        let _ = Module::load(&wrap(&body));
        let _ = Module::load(&body);
        assert!(start.elapsed() < Duration::from_secs(20), "{:.60}", body);
    }
    let error = Module::load("int main() { return 0; }").expect_err("no PTX");
    assert!(error.to_string().contains(".version"), "{error}");
}

#[test]
fn all_that_is_unsupported_is_listed_at_once() {
    let text = ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n.reg .b32 %r<4>;\n\
                tcgen05.wait::ld.sync.aligned;\nfrobnicate.b32 %r1, %r2;\nadd.q7 %r1, %r2, %r3;\nret;\n}\n";
    let error = Module::load(text).expect_err("unsupported");
    assert_eq!(error.problems.len(), 3, "{error}");
    assert_eq!(error.problems.iter().map(|p| p.ptx_line).collect::<Vec<_>>(), [6, 7, 8]);
    assert!(error.problems[0].message.contains("tcgen05"), "{error}");
    assert!(error.problems[1].instruction.contains("frobnicate.b32 %r1, %r2"), "{error}");
}

/// Found by the fuzzer: what ends such a kernel has no text of its own.
#[test]
fn a_kernel_without_instructions_runs() {
    let module = load(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry nothing() {\n}\n");
    run_clean(&module, &mut memory(), &Launch::new("nothing", [2, 1, 1], [64, 1, 1]));
}

/// Found by the fuzzer: an undefined value stored across the last address there is.
#[test]
fn an_undefined_store_at_the_end_of_all_addresses_is_a_fault() {
    let module = load(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n.reg .b64 %at, %v;\n\
         mov.u64 %at, -4;\nst.global.u64 [%at], %v;\nret;\n}\n",
    );
    let outcome = run(&module, &mut memory(), &Launch::new("k", [1, 1, 1], [32, 1, 1]));
    assert!(!outcome.completed && !outcome.faults.is_empty(), "{:?}", outcome.faults);
}

/// Found by the fuzzer: addresses of shared memory in 64-bit registers, of which one lane's is the last there is.
#[test]
fn an_access_across_the_end_of_all_addresses_is_no_access_to_their_beginning() {
    for (width, bytes, value) in [("u16", 2, "%h"), ("u32", 4, "%r"), ("u64", 8, "%v"), ("v2.u32", 8, "{%r, %t}")] {
        for access in ["ld", "st"] {
            let operands = if access == "ld" { format!("{value}, [%at]") } else { format!("[%at], {value}") };
            let module = load(&format!(
                ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {{\n.shared .align 8 .b8 tile[256];\n\
                 .reg .b64 %at, %v; .reg .b32 %r, %t; .reg .b16 %h; .reg .pred %p;\n\
                 mov.u32 %r, %tid.x; mov.u32 %t, 1; mov.u16 %h, 1; mov.u64 %v, 1;\n\
                 setp.eq.u32 %p, %r, 5;\nmul.wide.u32 %at, %r, 8;\n@%p mov.u64 %at, -{bytes};\n\
                 {access}.shared.{width} {operands};\nret;\n}}\n"
            ));
            for checks in [Checks::ALL, Checks::NONE] {
                let options = Options { checks, ..Options::default() };
                let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]);
                let outcome = run_with(&module, &mut memory(), &launch, &options);
                assert!(!outcome.completed, "{access}.{width}");
                assert_eq!(kinds(&outcome).last(), Some(&FaultKind::OutOfBounds), "{:?}", outcome.faults);
            }
        }
    }
}

/// Found by the fuzzer: a vector of undefined values, whose second half lies beyond the last address.
#[test]
fn an_undefined_vector_at_the_end_of_all_addresses_is_a_fault() {
    let module = load(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n.reg .b64 %at; .reg .b32 %v<4>;\n\
         mov.u64 %at, -8;\nst.global.v4.u32 [%at], {%v0, %v1, %v2, %v3};\nret;\n}\n",
    );
    let outcome = run(&module, &mut memory(), &Launch::new("k", [1, 1, 1], [32, 1, 1]));
    assert!(!outcome.completed && !outcome.faults.is_empty(), "{:?}", outcome.faults);
}

/// Found by the fuzzer: without its mbarrier such a copy read whatever lay beyond the registers.
#[test]
fn a_bulk_copy_into_shared_memory_without_an_mbarrier_is_refused() {
    let copies = [
        ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%q0], 16;", "mbarrier is missing"),
        ("cp.async.bulk.shared::cluster.global.bulk_group [%r0], [%q0], 16;", "cp.async.bulk"),
        ("cp.async.bulk.global.shared::cta.mbarrier::complete_tx::bytes [%q0], [%r0], 16, [%r1];", "cp.async.bulk"),
        (
            "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%q0, {%r1}];",
            "mbarrier is missing",
        ),
    ];
    for (copy, said) in copies {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {{\n.reg .b32 %r<4>; .reg .b64 %q<4>;\n\
             {copy}\nret;\n}}\n"
        );
        let error = Module::load(&text).expect_err(copy);
        assert!(error.to_string().contains(said), "{error}");
    }
}

/// The bound itself is no mistake: it is as good as none.
#[test]
fn bounds_beyond_all_numbers_are_no_bounds() {
    let module = load(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() .maxntid 4294967295, 4294967295, 1 {\nret;\n}\n",
    );
    assert!(run(&module, &mut memory(), &Launch::new("k", [1, 1, 1], [1024, 1, 1])).completed);
}
