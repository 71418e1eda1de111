//! What it takes to read a large module: the text, its tokens and the statements of one function may be there at once, but
//! not each of them for the whole module. A test program of its own, for the most memory that its process ever had.

use std::fmt::Write;

use ptx_emulator::Module;

const KERNELS: usize = 250;
const INSTRUCTIONS: usize = 1_000;

fn text() -> String {
    let mut text = ".version 8.0\n.target sm_90\n.address_size 64\n".to_owned();
    for kernel in 0..KERNELS {
        let _ = writeln!(
            text,
            ".visible .entry k{kernel}(.param .u64 a) {{\n.reg .b64 %l<4>; .reg .b32 %r<64>; .reg .f32 %f<64>;\n\
             ld.param.u64 %l0, [a];"
        );
        for at in 0..INSTRUCTIONS / 4 {
            let r = at % 60;
            let _ = writeln!(
                text,
                "\tld.global.f32 \t%f{r}, [%l0+{}];\n\tfma.rn.f32 \t%f{}, %f{r}, %f{}, %f{};\n\
                 \tadd.s32 \t%r{r}, %r{}, {at};\n\tst.global.f32 \t[%l0+{}], %f{};",
                4 * at,
                r + 1,
                r + 2,
                r + 3,
                r + 1,
                4 * at,
                r + 1
            );
        }
        text.push_str("ret;\n}\n");
    }
    text
}

/// The most memory that this process ever had, in bytes.
#[cfg(target_os = "linux")]
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux says it");
    line.trim().trim_end_matches("kB").trim().parse::<u64>().expect("a number") << 10
}

#[cfg(target_os = "linux")]
#[test]
fn a_module_is_not_kept_in_every_shape_at_once() {
    let text = text();
    let before = peak();
    let module = Module::load(&text).expect("loads");
    assert_eq!(module.kernels().len(), KERNELS);
    let each = (peak() - before) / (KERNELS * INSTRUCTIONS) as u64;
    assert!(each < LIMIT, "{each} bytes for an instruction");
}

/// Bytes at most for an instruction of about 30 letters, all told.
#[cfg(target_os = "linux")]
const LIMIT: u64 = 500;
