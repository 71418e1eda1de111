//! Holds the emulator's instructions against the hardware's, result by result: generated kernels that run one
//! instruction each over random operands, on both devices.

use crate::device::{Argument, Buffer, Device, Launch, RunError};
use crate::spec::{Dtype, Geometry, Role};
use ptx_emulator::num::mma::form::{Form, Input, Output};
use ptx_emulator::num::mma::sparse::Pattern;
use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Blocks of one launch: each has operands of its own.
pub const BLOCKS: usize = 256;

/// What the 32-bit words of one operand hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Words {
    F16,
    Bf16,
    F32,
    F64,
    Bytes,
    /// 2:4 metadata of the given pattern.
    Metadata(Pattern),
}

/// How results are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Agreement {
    /// Bit by bit; any NaN equals any NaN.
    Exact,
    /// f32 within this many units in the last place.
    Ulp(u32),
    /// f32 within this absolute error.
    Absolute(f64),
}

/// One instruction to compare.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Instruction as it stands in PTX, without operands.
    pub name: String,
    pub agreement: Agreement,
    asm: String,
    inputs: Vec<Words>,
    outputs: usize,
    wide: bool,
}

const MATRIX: &[&str] = &[
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f16",
    "mma.sync.aligned.m8n8k4.row.row.f16.f16.f16.f16",
    "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
    "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32",
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32",
    "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32",
    "mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32",
    "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.u8.s8.s32",
    "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32",
    "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32",
    "mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32",
    "mma.sync.aligned.m16n8k32.row.col.s32.u4.s4.s32",
    "mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.s4.s32",
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc",
    "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc",
    "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.u8.s8.s32",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.u4.u4.s32",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32",
    "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32",
    "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m3.f32",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e5m2.f32.ue8m0",
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32",
    "wmma.mma.sync.aligned.row.col.m8n32k16.f16.f16",
    "wmma.mma.sync.aligned.row.col.m32n8k16.f32.bf16.bf16.f32",
];

/// Instructions of one f32 (or a pair) and what is documented of their error.
const SCALAR: &[(&str, &str, Agreement)] = &[
    ("ex2.approx.f32", "f", Agreement::Ulp(2)),
    ("ex2.approx.ftz.f32", "f", Agreement::Ulp(2)),
    ("lg2.approx.f32", "f", Agreement::Absolute(5e-7)),
    ("rsqrt.approx.f32", "f", Agreement::Ulp(2)),
    ("rcp.approx.ftz.f32", "f", Agreement::Ulp(1)),
    ("sqrt.approx.f32", "f", Agreement::Ulp(2)),
    ("sin.approx.f32", "f", Agreement::Absolute(1e-6)),
    ("cos.approx.f32", "f", Agreement::Absolute(1e-6)),
    ("tanh.approx.f32", "f", Agreement::Absolute(5e-4)),
    ("rcp.rm.f32", "f", Agreement::Exact),
    ("sqrt.rp.ftz.f32", "f", Agreement::Exact),
    ("div.rz.f32", "ff", Agreement::Exact),
    ("add.rm.f32", "ff", Agreement::Exact),
    ("add.rp.ftz.sat.f32", "ff", Agreement::Exact),
    ("mul.rz.f32", "ff", Agreement::Exact),
    ("fma.rn.ftz.f32", "fff", Agreement::Exact),
    ("fma.rm.f32", "fff", Agreement::Exact),
    ("min.NaN.xorsign.abs.f32", "ff", Agreement::Exact),
    ("max.ftz.f32", "ff", Agreement::Exact),
    ("add.f16x2", "hh", Agreement::Exact),
    ("mul.ftz.f16x2", "hh", Agreement::Exact),
    ("fma.rn.sat.f16x2", "hhh", Agreement::Exact),
    ("fma.rn.relu.bf16x2", "bbb", Agreement::Exact),
    ("min.NaN.f16x2", "hh", Agreement::Exact),
    ("max.xorsign.abs.bf16x2", "bb", Agreement::Exact),
    ("cvt.rn.f16x2.f32", "ff", Agreement::Exact),
    ("cvt.rz.relu.bf16x2.f32", "ff", Agreement::Exact),
    ("cvt.rn.satfinite.f16x2.f32", "ff", Agreement::Exact),
    ("cvt.rna.tf32.f32", "f", Agreement::Exact),
    ("cvt.rn.relu.tf32.f32", "f", Agreement::Exact),
    ("cvt.rni.s32.f32", "f", Agreement::Exact),
    ("cvt.rpi.ftz.u32.f32", "f", Agreement::Exact),
    ("set.gtu.f16x2.f16x2", "hh", Agreement::Exact),
    ("set.neu.u32.bf16x2", "bb", Agreement::Exact),
];

/// Conversions whose result is narrower than a register.
const NARROW: &[(&str, &str)] = &[
    ("cvt.rn.satfinite.e4m3x2.f32", "ff"),
    ("cvt.rn.satfinite.relu.e5m2x2.f32", "ff"),
    ("cvt.rn.satfinite.e4m3x2.f16x2", "h"),
    ("cvt.rn.satfinite.e5m2x2.f16x2", "h"),
];

/// What this architecture (as in `sm_90a`) can be asked.
pub fn probes(arch: &str) -> Vec<Probe> {
    let digits = arch.trim_start_matches("sm_").trim_end_matches(|c: char| !c.is_ascii_digit());
    let number = digits.parse().unwrap_or(75);
    let specific = arch.ends_with(['a', 'f']);
    let forms = MATRIX.iter().filter_map(|name| {
        let form = Form::parse(name).ok()?;
        form.check(number, specific).ok()?;
        Some(matrix(name, &form))
    });
    let kind = |letter| match letter {
        'h' => Words::F16,
        'b' => Words::Bf16,
        _ => Words::F32,
    };
    let scalar = SCALAR.iter().map(|&(name, letters, agreement)| {
        let list: String = (1..=letters.len()).map(|i| format!(", %{i}")).collect();
        let inputs = letters.chars().map(kind).collect();
        Probe { name: name.into(), agreement, asm: format!("{name} %0{list};"), inputs, outputs: 1, wide: false }
    });
    let narrow = NARROW.iter().map(|&(name, letters)| {
        let list: String = (1..=letters.len()).map(|i| format!(", %{i}")).collect();
        let asm = format!("{{.reg .b16 t; {name} t{list}; cvt.u32.u16 %0, t;}}");
        let inputs = letters.chars().map(kind).collect();
        Probe { name: name.into(), agreement: Agreement::Exact, asm, inputs, outputs: 1, wide: false }
    });
    forms.chain(scalar).chain(narrow).collect()
}

fn matrix(name: &str, form: &Form) -> Probe {
    let [a, b, c, d] = form.registers();
    let words = |input: Input| match input {
        Input::Float(element) => match element.container_bits() {
            32 => Words::F32,
            16 if name.contains("bf16") => Words::Bf16,
            16 => Words::F16,
            _ => Words::Bytes,
        },
        Input::F64 => Words::F64,
        _ => Words::Bytes,
    };
    let of_c = match form.c {
        Output::F16 => Words::F16,
        Output::F32 => Words::F32,
        Output::F64 => Words::F64,
        Output::S32 => Words::Bytes,
    };
    let mut inputs = vec![words(form.a); a];
    inputs.extend(vec![words(form.b); b]);
    inputs.extend(vec![of_c; c]);
    let vector = |first: usize, count: usize| {
        let list: Vec<String> = (first..first + count).map(|i| format!("%{i}")).collect();
        format!("{{{}}}", list.join(","))
    };
    let mut asm = format!("{name} {}, {}, {}, {}", vector(0, d), vector(d, a), vector(d + a, b), vector(d + a + b, c));
    if form.sparse.is_some() {
        let _ = write!(asm, ", %{}, 0x0", d + inputs.len());
        inputs.push(Words::Metadata(form.a.pattern(form.kind)));
    }
    if form.scale.is_some() {
        let next = d + inputs.len();
        let _ = write!(asm, ", {{%{next}}}, {{0, 0}}, {{%{}}}, {{0, 0}}", next + 1);
        inputs.extend([Words::Bytes; 2]);
    }
    asm.push(';');
    let wide = form.a == Input::F64;
    Probe { name: name.into(), agreement: Agreement::Exact, asm, inputs, outputs: d, wide }
}

/// CUDA source with one kernel (`k0`, `k1`, …) for each probe.
pub fn source(probes: &[Probe]) -> String {
    let mut text = String::from("// Generated: one instruction in each kernel, operands lane by lane.\n");
    for (i, probe) in probes.iter().enumerate() {
        let (ty, letter) = if probe.wide { ("double", "d") } else { ("unsigned", "r") };
        let (ins, outs) = (probe.inputs.len(), probe.outputs);
        let targets: Vec<String> = (0..outs).map(|o| format!("\"={letter}\"(d{o})")).collect();
        // Scalar f32 operands want float registers; matrix operands are plain words.
        let operands: Vec<String> = (0..ins).map(|w| format!("\"{letter}\"(p[{w} * 32])")).collect();
        let names: Vec<String> = (0..outs).map(|o| format!("d{o}")).collect();
        let _ = write!(
            text,
            "extern \"C\" __global__ void k{i}(const {ty}* in, {ty}* out) {{\n    \
             const {ty}* p = in + blockIdx.x * {ins} * 32 + threadIdx.x;\n    \
             {ty}* q = out + blockIdx.x * {outs} * 32 + threadIdx.x;\n    {ty} {};\n    \
             asm volatile(\"{}\" : {} : {});\n",
            names.join(", "),
            probe.asm,
            targets.join(", "),
            operands.join(", ")
        );
        for o in 0..outs {
            let _ = writeln!(text, "    q[{o} * 32] = d{o};");
        }
        text.push_str("}\n");
    }
    text
}

/// xorshift64*: the same operands on every machine.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A float pattern with `exponent` and `fraction` bits: near 1, over a wide range, or anything at all.
    fn float(&mut self, exponent: u32, fraction: u32, mood: usize) -> u64 {
        let bits = self.bits();
        let bias = (1u64 << (exponent - 1)) - 1;
        let field = match mood {
            0 => bias,
            1 => bias - 4 + (bits >> 50) % 9,
            2 => bias / 2 + (bits >> 40) % (bias + 1),
            _ => return bits & ((1u64 << (exponent + fraction)) - 1) | (bits >> 63) << (exponent + fraction),
        };
        (bits >> 63) << (exponent + fraction) | field << fraction | bits & ((1 << fraction) - 1)
    }
}

/// The operand buffer of a probe. A quarter of the blocks each: near 1, within a factor of 16, wide, arbitrary bits.
pub fn operands(probe: &Probe) -> Vec<u8> {
    let mut random = Random(0x5eed_0000 + probe.name.len() as u64);
    let mut bytes = Vec::new();
    for block in 0..BLOCKS {
        let mood = block % 4;
        for words in &probe.inputs {
            for _ in 0..32 {
                let word = match words {
                    Words::F16 => random.float(5, 10, mood) | random.float(5, 10, mood) << 16,
                    Words::Bf16 => random.float(8, 7, mood) | random.float(8, 7, mood) << 16,
                    Words::F32 => random.float(8, 23, mood),
                    Words::Bytes => random.bits() >> 32,
                    Words::F64 => {
                        bytes.extend(random.float(11, 52, mood).to_le_bytes());
                        continue;
                    }
                    Words::Metadata(pattern) => (0..8).fold(0, |all, field| {
                        let choice = (random.bits() >> 33) as usize;
                        let code = match pattern {
                            Pattern::OneOfTwo => [0b0100, 0b1110][choice % 2],
                            _ => [0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110][choice % 6],
                        };
                        all | code << (4 * field)
                    }),
                };
                bytes.extend((word as u32).to_le_bytes());
            }
        }
    }
    bytes
}

/// Runs probe `index` of a loaded module and gives its results.
///
/// # Errors
/// What the device says, and the emulator's first fault.
pub fn run(device: &mut dyn Device, index: usize, probe: &Probe) -> Result<Vec<u64>, RunError> {
    let width = if probe.wide { 8 } else { 4 };
    let dtype = if probe.wide { Dtype::F64 } else { Dtype::U32 };
    let buffer = |name: &str, role, bytes| Argument::Buffer(Buffer { name: name.into(), dtype, role, bytes });
    let mut arguments = [
        buffer("in", Role::In, operands(probe)),
        buffer("out", Role::Out, vec![0; BLOCKS * probe.outputs * 32 * width]),
    ];
    let kernel = format!("k{index}");
    let geometry =
        Geometry { grid: [BLOCKS as u32, 1, 1], block: [32, 1, 1], cluster: [1, 1, 1], dynamic_shared_bytes: 0 };
    let launch = Launch {
        kernel: &kernel,
        geometry,
        registers_per_thread: None,
        trace: None,
        time_limit: Duration::from_secs(60),
    };
    let report = device.run(&launch, &mut arguments, &AtomicBool::new(false))?;
    if let Some(fault) = report.faults.first() {
        return Err(RunError::BadRequest(fault.message.clone()));
    }
    let Argument::Buffer(out) = &arguments[1] else { return Ok(Vec::new()) };
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |all, &byte| all << 8 | u64::from(byte));
    Ok(out.bytes.chunks(width).map(word).collect())
}

/// How many results differ, and the first of them (position, emulator, hardware).
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub results: usize,
    pub differing: usize,
    /// Of the differing ones, those in blocks of arbitrary bit patterns.
    pub among_arbitrary: usize,
    pub first: Option<(usize, u64, u64)>,
}

/// Compares two result lists of a probe.
pub fn compare(probe: &Probe, emulated: &[u64], hardware: &[u64]) -> Difference {
    let per_block = probe.outputs * 32;
    let mut difference = Difference { results: emulated.len(), differing: 0, among_arbitrary: 0, first: None };
    for (at, (&ours, &theirs)) in emulated.iter().zip(hardware).enumerate() {
        if agree(probe.agreement, ours, theirs) {
            continue;
        }
        difference.differing += 1;
        difference.among_arbitrary += usize::from(at / per_block % 4 == 3);
        difference.first = difference.first.or(Some((at, ours, theirs)));
    }
    difference
}

fn agree(agreement: Agreement, ours: u64, theirs: u64) -> bool {
    let (a, b) = (f32::from_bits(ours as u32), f32::from_bits(theirs as u32));
    if ours == theirs {
        return true;
    }
    match agreement {
        Agreement::Exact => false,
        Agreement::Ulp(limit) => {
            let order =
                |x: f32| if x.is_sign_negative() { -((x.to_bits() & 0x7fff_ffff) as i64) } else { x.to_bits() as i64 };
            (a.is_nan() && b.is_nan()) || order(a).abs_diff(order(b)) <= u64::from(limit)
        }
        Agreement::Absolute(limit) => {
            (a.is_nan() && b.is_nan()) || (f64::from(a) - f64::from(b)).abs() <= limit * f64::from(b).abs().max(1.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_architecture_has_probes_with_enough_operands() {
        for (arch, least) in [("sm_75", 40), ("sm_90a", 70), ("sm_121a", 75)] {
            let probes = probes(arch);
            assert!(probes.len() >= least, "{arch}: {}", probes.len());
            for probe in &probes {
                let each = if probe.wide { 8 } else { 4 };
                assert_eq!(operands(probe).len(), BLOCKS * probe.inputs.len() * 32 * each, "{}", probe.name);
            }
            assert_eq!(source(&probes).matches("__global__").count(), probes.len());
        }
    }

    #[test]
    fn agreement_is_by_bits_or_by_units_in_the_last_place() {
        let bits = |x: f32| u64::from(x.to_bits());
        assert!(!agree(Agreement::Exact, 0x7fff_ffff, 0x7fc0_0000));
        assert!(agree(Agreement::Ulp(1), bits(1.0), bits(1.0f32.next_up())));
        assert!(!agree(Agreement::Ulp(1), bits(1.0), bits(1.0f32.next_up().next_up())));
        assert!(agree(Agreement::Ulp(2), bits(-0.0), bits(f32::from_bits(1))));
        assert!(!agree(Agreement::Absolute(1e-6), bits(0.5), bits(0.500_01)));
    }
}
