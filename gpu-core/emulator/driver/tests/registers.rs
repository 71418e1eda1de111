//! Registers: known where machine code of the same kernel was offered, estimated otherwise; block sizes and occupancy
//! follow from them.

mod common;

use common::*;

const PTX: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry plain() { ret; }
.visible .entry bounded() .maxntid 256, 1, 1 .minnctapersm 8 { ret; }
.visible .entry heavy() { ret; }
";
const MAX_THREADS: u32 = 0;
const REGISTERS: u32 = 4;

fn occupancy(function: Handle, threads: i32) -> i32 {
    let mut blocks = -1;
    // SAFETY: the pointer is valid for a write.
    let code = unsafe { cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, threads, 0) };
    assert_eq!(code, 0);
    blocks
}

fn run(function: Handle, threads: u32) -> u32 {
    launch(function, [1, 1, 1], [threads, 1, 1], &mut [])
}

/// Values alive at once: `count` sums that are all needed at the end.
fn kernel_with(count: u32) -> String {
    let mut text =
        String::from(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry sums(.param .u64 p) {\n");
    text += &format!(".reg .b64 %rd<2>;\n.reg .b32 %r<{}>;\nld.param.u64 %rd1, [p];\n", count + 1);
    for i in 0..count {
        text += &format!("ld.global.u32 %r{i}, [%rd1+{}];\n", 4 * i);
    }
    for i in 0..count {
        text += &format!("st.global.u32 [%rd1+{}], %r{};\n", 4 * i, count - 1 - i);
    }
    text + "ret;\n}\n"
}

// One test: the register counts of a cubin are meant for the load that follows, in the same process.
#[test]
fn registers_are_known_or_estimated_and_rule_the_launch() {
    context();
    let estimated = load(PTX);
    assert!((1..=16).contains(&function_attribute(function(estimated, "plain"), REGISTERS)));
    for count in [20, 40, 100, 200] {
        let registers = function_attribute(function(load(&kernel_with(count)), "sums"), REGISTERS);
        assert!((count..count + 10).contains(&(registers as u32)), "{count} values in {registers} registers");
    }
    assert_eq!(function_attribute(function(load(&kernel_with(400)), "sums"), REGISTERS), 255, "the most there is");
    // A compiler may do with fewer: what is only estimated refuses no block.
    let sums = function(load(&kernel_with(100)), "sums");
    let data = upload(&[1u32; 100]);
    assert_eq!(launch(sums, [1, 1, 1], [1024, 1, 1], &mut [arg(&data)]), 0);
    // SAFETY: a context is current.
    assert_eq!(unsafe { cuCtxSynchronize() }, 0);

    let elf = cubin(&[("plain", 16), ("bounded", 32), ("heavy", 168)]);
    let mut module = 0;
    // SAFETY: the image is a whole ELF file.
    let code = unsafe { cuModuleLoadData(&mut module, elf.as_ptr().cast()) };
    assert_eq!(code, 209, "no kernel image for this device: it runs PTX");
    let known = load(PTX);
    let [plain, bounded, heavy] = ["plain", "bounded", "heavy"].map(|name| function(known, name));
    assert_eq!([plain, bounded, heavy].map(|f| function_attribute(f, REGISTERS)), [16, 32, 168]);
    // 65536 registers / (168 * 32) are 12 warps.
    assert_eq!([plain, bounded, heavy].map(|f| function_attribute(f, MAX_THREADS)), [1024, 256, 384]);
    assert_eq!([occupancy(plain, 256), occupancy(bounded, 256), occupancy(heavy, 256)], [8, 8, 1]);
    // A kernel's own bounds on its threads say nothing of what fits: so an H200's driver has it.
    assert_eq!([occupancy(plain, 1024), occupancy(bounded, 512), occupancy(heavy, 512)], [2, 4, 0]);
    assert_eq!([run(plain, 1024), run(bounded, 256), run(heavy, 384)], [0, 0, 0]);
    assert_eq!(run(heavy, 416), 701, "too many resources requested for launch");
    assert_eq!(run(bounded, 288), 1, "past its launch bounds");
    // SAFETY: a context is current.
    assert_eq!(unsafe { cuCtxSynchronize() }, 0);
    // The next load is another's.
    assert_ne!(function_attribute(function(load(PTX), "heavy"), REGISTERS), 168);
}
