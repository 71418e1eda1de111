//! f16, bf16 and their pairs.

use super::super::{Agreement, Arch, Fill, Probe, Value};
use super::product;

const GROUP: &str = "half";
const F16: &[&str] = &[".f16", ".f16x2"];
const BF16: &[&str] = &[".bf16", ".bf16x2"];

fn of(name: &str) -> (Fill, Value) {
    match name.rsplit('.').next() {
        Some("f16") => (Fill::F16, Value::F16),
        Some("bf16") => (Fill::Bf16, Value::Bf16),
        Some("f16x2") => (Fill::F16x2, Value::F16x2),
        _ => (Fill::Bf16x2, Value::Bf16x2),
    }
}

pub fn probes(arch: Arch) -> Vec<Probe> {
    let mut list = Vec::new();
    let ftz = ["", ".ftz"];
    let mut two = product(&[&["add", "sub", "mul"], &["", ".rn"], &ftz, &["", ".sat"], F16]);
    two.extend(product(&[&["min", "max"], &ftz, &["", ".NaN"], &["", ".xorsign.abs"], F16]));
    two.extend(product(&[&["min", "max"], &["", ".NaN"], &["", ".xorsign.abs"], BF16]));
    let mut three = product(&[&["fma.rn"], &ftz, &["", ".sat", ".relu"], F16]);
    three.extend(product(&[&["fma.rn"], &["", ".relu"], BF16]));
    let mut one = product(&[&["abs", "neg"], &ftz, F16]);
    one.extend(product(&[&["abs", "neg"], BF16]));
    if arch.number >= 90 {
        two.extend(product(&[&["add", "sub", "mul"], &["", ".rn"], BF16]));
        three.extend(product(&[&["fma.rn.oob"], &["", ".relu"], &[".f16", ".f16x2", ".bf16", ".bf16x2"]]));
    }
    if arch.number >= 90 {
        // Which NaN counts as out of bounds shows when one operand takes every value.
        for ty in ["f16", "bf16"] {
            let (_, d) = of(&format!(".{ty}"));
            let one = if ty == "f16" { "0x3c00" } else { "0x3f80" };
            let body = format!("mov.b16 %h0, {one};\nmov.b16 %h1, 0;\nfma.rn.oob.{ty} %d0, %a0, %h0, %h1;");
            list.push(Probe::scalar(GROUP, &format!("fma.rn.oob.{ty} of every value"), &[Fill::Every16], &[d], body));
        }
    }
    for name in two {
        let (a, d) = of(&name);
        list.push(Probe::plain(GROUP, &name, &[a; 2], d).shape(256, 256));
    }
    for name in three {
        let (a, d) = of(&name);
        list.push(Probe::plain(GROUP, &name, &[a; 3], d).shape(256, 256));
    }
    let every = |value| match value {
        Value::F16 | Value::Bf16 => Fill::Every16,
        _ => Fill::EveryPair,
    };
    for name in one {
        let (_, d) = of(&name);
        list.push(Probe::plain(GROUP, &name, &[every(d)], d));
    }
    let mut approximate = product(&[&["ex2.approx", "tanh.approx"], F16]);
    approximate.extend(product(&[&["tanh.approx"], BF16]));
    approximate.extend(product(&[&["ex2.approx.ftz"], BF16]));
    for name in approximate {
        if name.contains("bf16") && arch.number < 90 {
            continue;
        }
        let (_, d) = of(&name);
        // 2^-9.9 of the result, 2^-10.987 and 2^-8 of 1: two units in the last place between two machines.
        list.push(Probe::plain(GROUP, &name, &[every(d)], d).within(Agreement::Ulp(2)));
    }
    list
}
