//! The kernels that are timed.

use std::sync::atomic::AtomicBool;

use ptx_emulator::{Fast, Launch, Memory, Module, Options, Outcome, launch};

const VADD: &str = include_str!("../../tests/ptx/vadd.sm_90a.ptx");
const SPEED: &str = include_str!("../../tests/ptx/speed.sm_90a.ptx");
const MMA: &str = include_str!("mma.ptx");
/// `everyday.cu` by NVRTC 13.5 for sm_90a, with `-lineinfo`.
const EVERYDAY_PTX: &str = include_str!("everyday.ptx");
/// `ordinary.cu` by NVRTC 13.5 for sm_90a, with `-lineinfo` and `--use_fast_math`.
const ORDINARY_PTX: &str = include_str!("ordinary.ptx");
/// `further.cu` by NVRTC 13.5 for sm_90a, with `-lineinfo`.
const FURTHER_PTX: &str = include_str!("further.ptx");
/// `layouts.cu` by NVRTC 13.5 for sm_90a, with `-lineinfo`.
const LAYOUTS_PTX: &str = include_str!("layouts.ptx");
/// Records and rows that threads have to themselves.
const RECORDS_PTX: &str = include_str!("records.ptx");

/// A kernel with its shape: three buffers of `words` floats and one number.
#[derive(Clone, Copy)]
pub struct Case {
    pub name: &'static str,
    pub kernel: &'static str,
    ptx: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    pub words: u64,
    n: u32,
    /// The third buffer is added to, so it begins as zeros.
    adds: bool,
    /// The buffers hold doubles. Two floats read as one are subnormal where the second is 0, and a processor may take
    /// longer for a single such lane than for all the rest of the warp.
    doubles: bool,
}

impl Case {
    const fn new(name: &'static str, ptx: &'static str, grid: [u32; 2], block: [u32; 2], words: u64, n: u32) -> Case {
        let [gx, gy] = grid;
        let [bx, by] = block;
        Case { name, kernel: name, ptx, grid: [gx, gy, 1], block: [bx, by, 1], words, n, adds: false, doubles: false }
    }
}

/// A kernel of `everyday.cu` in blocks of 256 threads.
const fn everyday(name: &'static str, blocks: u32, n: u32) -> Case {
    Case::new(name, EVERYDAY_PTX, [blocks, 1], [256, 1], MIB, n)
}

impl Case {
    /// Of no more blocks than a side has here, and of less to do for those that loop over it.
    pub fn smaller(&self, side: u32) -> Case {
        Case { grid: self.grid.map(|blocks| blocks.min(side)), n: self.n.min(1 << 16), ..*self }
    }
}

const fn adding(case: Case) -> Case {
    Case { adds: true, ..case }
}

const fn of_doubles(case: Case) -> Case {
    Case { doubles: true, ..case }
}

const MIB: u64 = 1 << 20;

/// Neighbouring threads access neighbouring addresses.
pub const COALESCED: &[Case] = &[
    Case::new("vadd", VADD, [4096, 1], [256, 1], MIB, MIB as u32),
    Case::new("matmul", SPEED, [16, 16], [16, 16], 65536, 256),
    Case::new("tiled", SPEED, [8, 8], [32, 32], 65536, 256),
    Case::new("reduce", SPEED, [4096, 1], [256, 1], MIB, MIB as u32),
];
const M: u32 = MIB as u32;

/// What learners write most: each is to be as fast as [`COALESCED`].
pub const EVERYDAY: &[Case] = &[
    everyday("saxpy_grid", 256, M),
    everyday("shuffle_reduce", 4096, M),
    Case::new("transpose", EVERYDAY_PTX, [32, 32], [32, 8], MIB, 1024),
    everyday("stencil", 4096, M),
    Case::new("heat", EVERYDAY_PTX, [64, 64], [16, 16], MIB, 1024),
    adding(everyday("histogram", 256, M)),
    everyday("copy4", 1024, M),
    everyday("axpy4", 1024, M),
    everyday("half2_math", 4096, M),
    everyday("hash", 4096, M),
    everyday("hash64", 4096, M),
    everyday("gelu", 4096, M),
    everyday("softmax_row", 128, 1024),
    everyday("scan", 4096, M),
    Case::new("matmul_blocked", EVERYDAY_PTX, [4, 4], [16, 16], 65536, 256),
    of_doubles(everyday("daxpy", 2048, M)),
    everyday("gray", 4096, M),
    everyday("divergent", 1024, 262_144),
    adding(everyday("atomic_sum", 256, M)),
    adding(everyday("atomic_each", 256, M)),
    everyday("ballot", 4096, M),
    everyday("layernorm", 1024, 1024),
    everyday("aos", 1024, M),
];
/// A kernel of `ordinary.cu` in blocks of 256 threads.
const fn ordinary(name: &'static str, blocks: u32, n: u32) -> Case {
    Case::new(name, ORDINARY_PTX, [blocks, 1], [256, 1], MIB, n)
}

/// More of the same, which nothing was tuned on.
pub const ORDINARY: &[Case] = &[
    ordinary("to_half", 4096, M),
    ordinary("from_half", 4096, M),
    ordinary("rows_columns", 4096, M),
    ordinary("pixels", 4096, M),
    Case::new("bilinear", ORDINARY_PTX, [64, 64], [16, 16], MIB, 1024),
    ordinary("rmsnorm", 1024, 1024),
    ordinary("silu", 4096, M),
    ordinary("nbody", 16, 1024),
    of_doubles(ordinary("dot64", 256, M)),
];
/// A kernel of `further.cu` in blocks of 256 threads.
const fn further(name: &'static str, blocks: u32, n: u32) -> Case {
    Case::new(name, FURTHER_PTX, [blocks, 1], [256, 1], MIB, n)
}

/// Still more, without fast mathematics.
pub const FURTHER: &[Case] = &[
    further("bitonic", 1024, M),
    further("prefix", 4096, M),
    further("convolve", 4096, M),
    further("gemv", 128, 1024),
    further("fft", 1024, M),
    further("black_scholes", 4096, M),
    further("monte_carlo", 1024, M),
    further("box_muller", 1024, M),
    further("gemm_int8", 256, 256),
    further("gemm_half", 256, 256),
    further("stencil3d", 1024, M),
    further("softmax_block", 512, 2048),
    further("mandelbrot", 1024, M),
];
/// A kernel of `layouts.cu` in blocks of 256 threads.
const fn layout(name: &'static str, blocks: u32, n: u32) -> Case {
    Case::new(name, LAYOUTS_PTX, [blocks, 1], [256, 1], MIB, n)
}

/// A kernel of `records.cu` in blocks of 256 threads.
const fn records(name: &'static str, blocks: u32, n: u32) -> Case {
    adding(Case::new(name, RECORDS_PTX, [blocks, 1], [256, 1], MIB, n))
}

/// Lanes side by side, or nearly so.
pub const NEIGHBOURS: &[Case] =
    &[layout("mirror", 4096, M), adding(layout("take_places", 1024, 262_144)), records("half_set", 4096, M)];
/// Those of them that do little but move memory.
pub const STREAMS: &[&str] = &["copy4", "axpy4"];
/// Neighbouring threads are apart: some places, or far.
pub const SCATTERED: &[Case] = &[
    STRIDED,
    Case::new("transpose_naive", EVERYDAY_PTX, [64, 64], [16, 16], MIB, 1024),
    everyday("gather", 4096, M),
    layout("points", 1365, M),
    layout("pixels3", 4096, 4 * M),
    layout("every_second", 2048, M),
    // From 2 to 512 words apart.
    layout("sweeps", 2048, M),
    adding(Case::new("red_black", LAYOUTS_PTX, [16, 128], [32, 8], MIB, 1024)),
    records("records", 256, M),
    records("rows_apart", 124, M),
    records("running", 64, M),
];

/// Neighbouring threads are 128 bytes apart.
pub const STRIDED: Case = Case::new("strided", SPEED, [128, 1], [256, 1], MIB, MIB as u32);
/// Matrix instructions, 1024 of them in each of 64 warps.
pub const MATRIX: Case = Case::new("mma", MMA, [64, 1], [32, 1], 4096, 0);
pub const MATRIX_COUNT: u64 = 64 * 1024;
pub const BIG_TILED: Case = Case { name: "tiled 1024^3", ..Case::new("tiled", SPEED, [32, 32], [32, 32], MIB, 1024) };
pub const NUMBA_VADD: Case = Case::new("vadd", VADD, [256, 1], [256, 1], 65536, 65536);
pub const NUMBA_MATMUL: Case = Case::new("matmul", SPEED, [4, 4], [16, 16], 4096, 64);
/// As little as two workers can share.
pub const TWO_BLOCKS: Case = Case::new("vadd", VADD, [2, 1], [32, 1], 64, 64);
/// Three buffers of 128 MiB.
pub const BIG_VADD: Case = Case::new("vadd", VADD, [131072, 1], [256, 1], 32 * MIB, 32 * MIB as u32);

/// A case that is ready to run.
pub struct Ready {
    module: Module,
    memory: Memory,
    launch: Launch,
}

impl Ready {
    pub fn new(case: &Case) -> Ready {
        Ready::with(case, Fast::default())
    }

    /// With instructions in the forms that `fast` says.
    pub fn with(case: &Case, fast: Fast) -> Ready {
        let module = Module::load_with(case.ptx, fast).expect("own PTX");
        let mut memory = Memory::new(4 << 30);
        let mut launch = Launch::new(case.kernel, case.grid, case.block);
        for name in ["a", "b", "c"] {
            let address = memory.alloc(name, 4 * case.words).expect("fits");
            // The result is left unwritten, as a learner's would be.
            if case.adds && name == "c" {
                memory.write(address, &vec![0; 4 * case.words as usize]).expect("inside");
            } else if name != "c" {
                let bytes: Vec<u8> = if case.doubles {
                    (0..case.words / 2).flat_map(|i| ((i % 7) as f64).to_le_bytes()).collect()
                } else {
                    (0..case.words).flat_map(|i| ((i % 7) as f32).to_le_bytes()).collect()
                };
                memory.write(address, &bytes).expect("inside");
            }
            launch = launch.arg_u64(address);
        }
        Ready { module, memory, launch: launch.arg_u32(case.n) }
    }

    /// Runs it once; gives what is in memory then, too.
    pub fn end(mut self, options: &Options) -> (Outcome, Memory) {
        let outcome = self.run(options);
        (outcome, self.memory)
    }

    /// Runs it once; it must be clean.
    pub fn run(&mut self, options: &Options) -> Outcome {
        let outcome = launch(&self.module, &mut self.memory, &self.launch, options, &AtomicBool::new(false));
        assert!(outcome.completed && outcome.faults.is_empty(), "{:?}", outcome.faults.first());
        outcome
    }
}
