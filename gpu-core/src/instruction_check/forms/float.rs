//! f32 and f64.

use super::super::{Agreement, Arch, Fill, Probe, Value};
use super::product;

const GROUP: &str = "float";
const ROUNDINGS: &[&str] = &[".rn", ".rz", ".rm", ".rp"];
const FTZ: &[&str] = &["", ".ftz"];

/// Approximate instructions of one operand with twice the error that the PTX manual allows each machine.
const APPROXIMATE: &[(&str, Fill, Value, Agreement)] = &[
    ("ex2.approx.f32", Fill::SweepF32, Value::F32, Agreement::Ulp(4)),
    ("ex2.approx.ftz.f32", Fill::SweepF32, Value::F32, Agreement::Ulp(4)),
    ("lg2.approx.f32", Fill::SweepF32, Value::F32, Agreement::Absolute(4.8e-7)),
    ("lg2.approx.ftz.f32", Fill::SweepF32, Value::F32, Agreement::Absolute(4.8e-7)),
    ("rsqrt.approx.f32", Fill::SweepF32, Value::F32, Agreement::Relative(2.6e-7)),
    ("rsqrt.approx.ftz.f32", Fill::SweepF32, Value::F32, Agreement::Relative(2.6e-7)),
    ("rcp.approx.f32", Fill::SweepF32, Value::F32, Agreement::Ulp(2)),
    ("rcp.approx.ftz.f32", Fill::SweepF32, Value::F32, Agreement::Ulp(2)),
    ("sqrt.approx.f32", Fill::SweepF32, Value::F32, Agreement::Relative(2.4e-7)),
    ("sqrt.approx.ftz.f32", Fill::SweepF32, Value::F32, Agreement::Relative(2.4e-7)),
    ("sin.approx.f32", Fill::F32, Value::F32, Agreement::Absolute(1.4e-6)),
    ("sin.approx.ftz.f32", Fill::F32, Value::F32, Agreement::Absolute(1.4e-6)),
    ("cos.approx.f32", Fill::F32, Value::F32, Agreement::Absolute(1.4e-6)),
    ("cos.approx.ftz.f32", Fill::F32, Value::F32, Agreement::Absolute(1.4e-6)),
    ("tanh.approx.f32", Fill::SweepF32, Value::F32, Agreement::Relative(9.8e-4)),
    ("rcp.approx.ftz.f64", Fill::SweepF64, Value::F64, Agreement::Relative(1.9e-6)),
    ("rsqrt.approx.f64", Fill::SweepF64, Value::F64, Agreement::Relative(3e-7)),
    ("rsqrt.approx.ftz.f64", Fill::SweepF64, Value::F64, Agreement::Relative(1.9e-6)),
];

pub fn probes(arch: Arch) -> Vec<Probe> {
    let mut list = Vec::new();
    let mut plain = |name: &str, inputs: &[Fill], output| list.push(Probe::plain(GROUP, name, inputs, output));
    let defaulted = ["", ".rn", ".rz", ".rm", ".rp"];
    let sat = ["", ".sat"];
    for name in product(&[&["add", "sub", "mul"], &defaulted, FTZ, &sat, &[".f32"]]) {
        plain(&name, &[Fill::F32; 2], Value::F32);
    }
    for name in product(&[&["fma", "mad"], ROUNDINGS, FTZ, &sat, &[".f32"]]) {
        plain(&name, &[Fill::F32; 3], Value::F32);
    }
    for name in product(&[&["min", "max"], FTZ, &["", ".NaN"], &["", ".xorsign.abs"], &[".f32"]]) {
        plain(&name, &[Fill::F32; 2], Value::F32);
    }
    for name in product(&[&["div"], ROUNDINGS, FTZ, &[".f32"]]) {
        plain(&name, &[Fill::F32; 2], Value::F32);
    }
    for name in product(&[&["rcp", "sqrt"], ROUNDINGS, FTZ, &[".f32"]]) {
        plain(&name, &[Fill::SweepF32], Value::F32);
    }
    for name in product(&[&["abs", "neg"], FTZ, &[".f32"]]) {
        plain(&name, &[Fill::SweepF32], Value::F32);
    }
    for name in product(&[&["add", "sub", "mul"], &defaulted, &[".f64"]]) {
        plain(&name, &[Fill::F64; 2], Value::F64);
    }
    for name in product(&[&["fma", "mad"], ROUNDINGS, &[".f64"]]) {
        plain(&name, &[Fill::F64; 3], Value::F64);
    }
    for name in product(&[&["div"], ROUNDINGS, &[".f64"]]) {
        plain(&name, &[Fill::F64; 2], Value::F64);
    }
    for name in product(&[&["rcp", "sqrt"], ROUNDINGS, &[".f64"]]) {
        plain(&name, &[Fill::SweepF64], Value::F64);
    }
    for name in ["min.f64", "max.f64", "copysign.f64"] {
        plain(name, &[Fill::F64; 2], Value::F64);
    }
    for name in ["abs.f64", "neg.f64"] {
        plain(name, &[Fill::SweepF64], Value::F64);
    }
    plain("copysign.f32", &[Fill::F32; 2], Value::F32);
    if arch.number >= 100 {
        for name in product(&[&["add", "sub", "mul"], ROUNDINGS, FTZ, &[".f32x2"]]) {
            plain(&name, &[Fill::Int64; 2], Value::Bits64);
        }
        for name in product(&[&["fma"], ROUNDINGS, FTZ, &[".f32x2"]]) {
            plain(&name, &[Fill::Int64; 3], Value::Bits64);
        }
    }
    for &(name, fill, value, agreement) in APPROXIMATE {
        let probe = Probe::plain(GROUP, name, &[fill], value).within(agreement);
        // Sine and cosine are specified for moderate arguments.
        list.push(if fill == Fill::F32 { probe.shape(256, 256) } else { probe });
    }
    for name in ["div.approx.f32", "div.approx.ftz.f32", "div.full.f32", "div.full.ftz.f32"] {
        list.push(Probe::plain(GROUP, name, &[Fill::F32; 2], Value::F32).within(Agreement::Ulp(4)));
    }
    list
}
