//! `atom` and `red`: every operation and type, one thread an address, so that the order does not matter.

use super::super::{Arch, Fill, Probe, Value};
use super::{integer, product};
use std::fmt::Write;

const GROUP: &str = "atomic";

/// Operation, types.
const OPERATIONS: &[(&str, &[&str])] = &[
    ("and", &["b32", "b64"]),
    ("or", &["b32", "b64"]),
    ("xor", &["b32", "b64"]),
    ("exch", &["b32", "b64"]),
    ("cas", &["b16", "b32", "b64"]),
    ("add", &["u32", "s32", "u64", "f32", "f64"]),
    ("add.noftz", &["f16", "f16x2", "bf16", "bf16x2"]),
    ("inc", &["u32"]),
    ("dec", &["u32"]),
    ("min", &["u32", "s32", "u64", "s64"]),
    ("max", &["u32", "s32", "u64", "s64"]),
];

fn of(ty: &str) -> (Fill, Value) {
    match ty {
        "f32" => (Fill::F32, Value::F32),
        "f64" => (Fill::F64, Value::F64),
        "f16" => (Fill::F16, Value::F16),
        "bf16" => (Fill::Bf16, Value::Bf16),
        "f16x2" => (Fill::F16x2, Value::F16x2),
        "bf16x2" => (Fill::Bf16x2, Value::Bf16x2),
        _ => integer::of(ty),
    }
}

pub fn probes(arch: Arch) -> Vec<Probe> {
    let mut list = Vec::new();
    for space in [".global", ".shared", ""] {
        for &(operation, types) in OPERATIONS {
            for ty in types {
                if ty.starts_with("bf") && arch.number < 90 {
                    continue;
                }
                list.push(single(&format!("atom{space}.{operation}.{ty}"), space, operation, ty));
                if !matches!(operation, "exch" | "cas") {
                    list.push(single(&format!("red{space}.{operation}.{ty}"), space, operation, ty));
                }
            }
        }
    }
    if arch.number >= 90 {
        for space in [".global", ".shared"] {
            for operation in ["exch", "cas"] {
                list.push(wide(space, operation));
            }
        }
        vectors(&mut list);
        for space in [".shared::cta", ".shared::cluster"] {
            list.push(single(&format!("atom{space}.add.u32"), space, "add", "u32"));
            list.push(single(&format!("red{space}.add.u32"), space, "add", "u32"));
        }
    }
    orders(&mut list);
    list
}

/// The address operand of a thread's own piece, after whatever computes it.
fn address(space: &str, bytes: usize) -> (String, &'static str) {
    match space {
        ".global" => (String::new(), "%scratch"),
        "" => ("cvta.global.u64 %y9, %scratch;\n".to_owned(), "%y9"),
        _ => (format!("mad.lo.u32 %x8, %thread, {bytes}, %sh;\n"), "%x8"),
    }
}

/// The plain window behind a sub-window of shared memory.
fn window(space: &str) -> &str {
    if space.starts_with(".shared") { ".shared" } else { space }
}

fn single(name: &str, space: &str, operation: &str, ty: &str) -> Probe {
    let (fill, value) = of(ty);
    let bits = fill.bits();
    let (mut body, at) = address(space, 8);
    let plain = window(space);
    let _ = writeln!(body, "st{plain}.b{bits} [{at}], %a0;");
    let third = if operation == "cas" { ", %a2" } else { "" };
    let _ = match name.starts_with("red") {
        true => writeln!(body, "{name} [{at}], %a1;"),
        false => writeln!(body, "{name} %d0, [{at}], %a1{third};"),
    };
    let _ = write!(body, "ld{plain}.b{bits} %d1, [{at}];");
    let mut inputs = vec![fill; 2];
    if operation == "cas" {
        // Small numbers, so that the comparison holds now and then.
        inputs = match bits {
            64 => vec![Fill::Below64(3), Fill::Below64(3), fill],
            32 => vec![Fill::Below(3), Fill::Below(3), fill],
            _ => vec![fill; 3],
        };
    }
    if matches!(operation, "inc" | "dec") {
        inputs = vec![Fill::Below(7), Fill::Below(7)];
    }
    let probe = Probe::scalar(GROUP, name, &inputs, &[value; 2], body).scratch(8);
    if plain == ".shared" { probe.shared(256 * 8) } else { probe }
}

fn wide(space: &str, operation: &str) -> Probe {
    let name = format!("atom{space}.{operation}.b128");
    let (at_code, at) = address(space, 16);
    let mut body = format!(".reg .b128 %old, %q0, %q1, %q2;\n{at_code}");
    for (i, first) in [0, 2, 4].into_iter().enumerate() {
        let _ = writeln!(body, "mov.b128 %q{i}, {{%a{first}, %a{}}};", first + 1);
    }
    let _ = writeln!(body, "st{space}.v2.b64 [{at}], {{%a0, %a1}};");
    let third = if operation == "cas" { ", %q2" } else { "" };
    let _ = writeln!(body, "{name} %old, [{at}], %q1{third};\nmov.b128 {{%d0, %d1}}, %old;");
    let _ = write!(body, "ld{space}.v2.b64 {{%d2, %d3}}, [{at}];");
    let small = Fill::Below64(2);
    let inputs = [small, small, small, small, Fill::Int64, Fill::Int64];
    let probe = Probe::scalar(GROUP, &name, &inputs, &[Value::Bits64; 4], body).scratch(16);
    if space == ".shared" { probe.shared(256 * 16) } else { probe }
}

fn vectors(list: &mut Vec<Probe>) {
    let mut forms = Vec::new();
    for width in [2, 4, 8] {
        for ty in ["f16", "bf16"] {
            for operation in ["add", "min", "max"] {
                forms.push((format!("{operation}.noftz.v{width}.{ty}"), width, ty));
            }
        }
    }
    for width in [2, 4] {
        for ty in ["f16x2", "bf16x2"] {
            for operation in ["add", "min", "max"] {
                forms.push((format!("{operation}.noftz.v{width}.{ty}"), width, ty));
            }
        }
        forms.push((format!("add.v{width}.f32"), width, "f32"));
    }
    for (form, width, ty) in forms {
        let (fill, value) = of(ty);
        let (bits, bytes) = (fill.bits(), fill.bits() as usize / 8);
        for opcode in ["atom.global", "red.global"] {
            // The manual's order: vector after the operation, before the rounding of halves.
            let name = format!("{opcode}.{form}");
            let mut body = String::new();
            for i in 0..width {
                let _ = writeln!(body, "st.global.b{bits} [%scratch+{}], %a{i};", i * bytes);
            }
            let sources = super::vector('a', width, width);
            let _ = match opcode.starts_with("red") {
                true => writeln!(body, "{name} [%scratch], {sources};"),
                false => writeln!(body, "{name} {}, [%scratch], {sources};", super::vector('d', 0, width)),
            };
            for i in 0..width {
                let _ = writeln!(body, "ld.global.b{bits} %d{}, [%scratch+{}];", width + i, i * bytes);
            }
            list.push(Probe::scalar(GROUP, &name, &vec![fill; 2 * width], &vec![value; 2 * width], body).scratch(16));
        }
    }
}

/// Orders and scopes change nothing for one thread; they must be accepted.
fn orders(list: &mut Vec<Probe>) {
    let scopes = [".cta", ".cluster", ".gpu", ".sys"];
    for name in product(&[&["atom"], &[".relaxed", ".acquire", ".release", ".acq_rel"], &scopes, &[".global.add.u32"]])
    {
        list.push(single(&name, ".global", "add", "u32"));
    }
    for name in product(&[&["red"], &[".relaxed", ".release"], &scopes, &[".global.add.u32"]]) {
        list.push(single(&name, ".global", "add", "u32"));
    }
}
