//! `cvt` among all types.

use super::super::{Arch, Fill, Probe, Value};
use super::product;

const GROUP: &str = "convert";
const INTEGERS: &[&str] = &["u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"];
const FLOATS: &[&str] = &["f16", "bf16", "f32", "f64"];
const ROUNDINGS: &[&str] = &[".rn", ".rz", ".rm", ".rp"];
const INTEGRAL: &[&str] = &[".rni", ".rzi", ".rmi", ".rpi"];

/// Source of a conversion: every value where that is cheap.
fn source(ty: &str) -> Fill {
    match ty {
        // 8 bits are the low part of a wider register.
        "u8" | "s8" => Fill::Int32,
        "u16" | "s16" | "f16" | "bf16" => Fill::Every16,
        "u64" | "s64" => Fill::Int64,
        "f32" => Fill::SweepF32,
        "f64" => Fill::SweepF64,
        _ => Fill::Int32,
    }
}

fn result(ty: &str) -> Value {
    match ty {
        "u16" | "s16" => Value::Bits16,
        "u64" | "s64" => Value::Bits64,
        "f16" => Value::F16,
        "bf16" => Value::Bf16,
        "f32" => Value::F32,
        "f64" => Value::F64,
        _ => Value::Bits32,
    }
}

/// Whether every value of an integer type is one of another: then there is nothing to saturate, and ptxas says so.
fn holds(to: &str, from: &str) -> bool {
    let bits = |ty: &str| ty[1..].parse::<u32>().unwrap_or(0);
    let signed = |ty: &str| ty.starts_with('s');
    match (signed(to), signed(from)) {
        (false, true) => false,
        (true, false) => bits(to) > bits(from),
        _ => bits(to) >= bits(from),
    }
}

pub fn probes(arch: Arch) -> Vec<Probe> {
    let mut list = Vec::new();
    let known = |ty: &str| ty != "bf16" || arch.number >= 90;
    let mut one = |modifiers: &str, to: &str, from: &str| {
        list.push(Probe::plain(GROUP, &format!("cvt{modifiers}.{to}.{from}"), &[source(from)], result(to)));
    };
    for to in INTEGERS {
        for from in INTEGERS {
            one("", to, from);
            if !holds(to, from) {
                one(".sat", to, from);
            }
        }
        for from in FLOATS.iter().filter(|ty| known(ty)) {
            // bf16 does without bytes and `.sat`.
            if *from == "bf16" && to.ends_with('8') {
                continue;
            }
            for rounding in INTEGRAL {
                one(rounding, to, from);
                if *from != "bf16" {
                    one(&format!("{rounding}.sat"), to, from);
                }
                if *from == "f32" {
                    one(&format!("{rounding}.ftz"), to, from);
                }
            }
        }
    }
    for to in FLOATS.iter().filter(|ty| known(ty)) {
        for from in INTEGERS.iter().filter(|from| *to != "bf16" || !from.ends_with('8')) {
            for rounding in ROUNDINGS {
                one(rounding, to, from);
                if *to != "bf16" {
                    one(&format!("{rounding}.sat"), to, from);
                }
            }
        }
    }
    among_floats(arch, &mut one);
    packed(arch, &mut list);
    list
}

fn among_floats(arch: Arch, one: &mut impl FnMut(&str, &str, &str)) {
    // Widening is exact.
    for modifiers in ["", ".ftz", ".sat", ".ftz.sat"] {
        one(modifiers, "f32", "f16");
        one(modifiers, "f32", "f32");
        one(modifiers, "f64", "f32");
    }
    for modifiers in ["", ".sat"] {
        one(modifiers, "f64", "f16");
        one(modifiers, "f16", "f16");
        one(modifiers, "f64", "f64");
    }
    for modifiers in product(&[ROUNDINGS, &["", ".ftz"], &["", ".sat"]]) {
        one(&modifiers, "f16", "f32");
        one(&modifiers, "f32", "f64");
    }
    for modifiers in product(&[ROUNDINGS, &["", ".sat"]]) {
        one(&modifiers, "f16", "f64");
    }
    for modifiers in product(&[INTEGRAL, &["", ".ftz"], &["", ".sat"]]) {
        one(&modifiers, "f32", "f32");
    }
    for modifiers in product(&[INTEGRAL, &["", ".sat"]]) {
        one(&modifiers, "f64", "f64");
        one(&modifiers, "f16", "f16");
    }
    one("", "f32", "bf16");
    for modifiers in product(&[&[".rn", ".rz"], &["", ".satfinite"], &["", ".relu"]]) {
        if modifiers.len() > 3 {
            one(&modifiers, "f16", "f32");
        }
        one(&modifiers, "bf16", "f32");
    }
    if arch.number >= 90 {
        for rounding in [".rm", ".rp"] {
            one(rounding, "bf16", "f32");
        }
        for rounding in ROUNDINGS {
            one(rounding, "bf16", "f16");
            one(rounding, "bf16", "f64");
            one(rounding, "f16", "bf16");
        }
        one("", "f64", "bf16");
        for rounding in INTEGRAL {
            one(rounding, "bf16", "bf16");
        }
    }
}

fn packed(arch: Arch, list: &mut Vec<Probe>) {
    let mut plain = |name: &str, inputs: &[Fill], output| list.push(Probe::plain(GROUP, name, inputs, output));
    for name in
        product(&[&["cvt"], &[".rn", ".rz"], &["", ".satfinite"], &["", ".relu"], &[".f16x2.f32", ".bf16x2.f32"]])
    {
        let value = if name.contains("bf16") { Value::Bf16x2 } else { Value::F16x2 };
        plain(&name, &[Fill::F32; 2], value);
    }
    for name in ["cvt.rna.tf32.f32", "cvt.rna.satfinite.tf32.f32"] {
        plain(name, &[Fill::SweepF32], Value::F32);
    }
    if arch.number >= 90 {
        let finite: &[&str] = if arch.number >= 100 { &["", ".satfinite"] } else { &[""] };
        for name in product(&[&["cvt"], &[".rn", ".rz"], finite, &["", ".relu"], &[".tf32.f32"]]) {
            plain(&name, &[Fill::SweepF32], Value::F32);
        }
    }
    if arch.number >= 89 {
        for name in product(&[&["cvt.rn.satfinite"], &["", ".relu"], &[".e4m3x2", ".e5m2x2"]]) {
            plain(&format!("{name}.f32"), &[Fill::F32; 2], Value::Bits16);
            plain(&format!("{name}.f16x2"), &[Fill::EveryPair], Value::Bits16);
        }
        for name in product(&[&["cvt.rn"], &["", ".relu"], &[".f16x2"], &[".e4m3x2", ".e5m2x2"]]) {
            plain(&name, &[Fill::Every16], Value::F16x2);
        }
    }
    for to in ["u16", "s16"] {
        plain(&format!("cvt.pack.sat.{to}.s32"), &[Fill::Int32; 2], Value::Bits32);
    }
    for to in ["u2", "s2", "u4", "s4", "u8", "s8"] {
        plain(&format!("cvt.pack.sat.{to}.s32.b32"), &[Fill::Int32; 3], Value::Bits32);
    }
}
