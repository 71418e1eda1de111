//! Comparisons and selections.

use super::super::{Arch, Fill, Probe, Value};
use super::product;
use std::fmt::Write;

const GROUP: &str = "comparison";

const SIGNED: &[&str] = &["eq", "ne", "lt", "le", "gt", "ge"];
const UNSIGNED: &[&str] = &["eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"];
const BITS: &[&str] = &["eq", "ne"];
const FLOAT: &[&str] = &["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"];

/// Types with their operands and comparisons; `.ftz` stands with the type it goes with.
const TYPES: &[(&str, &str, Fill, &[&str])] = &[
    ("", "b16", Fill::Int16, BITS),
    ("", "b32", Fill::Int32, BITS),
    ("", "b64", Fill::Int64, BITS),
    ("", "u16", Fill::Int16, UNSIGNED),
    ("", "u32", Fill::Int32, UNSIGNED),
    ("", "u64", Fill::Int64, UNSIGNED),
    ("", "s16", Fill::Int16, SIGNED),
    ("", "s32", Fill::Int32, SIGNED),
    ("", "s64", Fill::Int64, SIGNED),
    ("", "f32", Fill::F32, FLOAT),
    (".ftz", "f32", Fill::F32, FLOAT),
    ("", "f64", Fill::F64, FLOAT),
    ("", "f16", Fill::F16, FLOAT),
    (".ftz", "f16", Fill::F16, FLOAT),
    ("", "bf16", Fill::Bf16, FLOAT),
    ("", "f16x2", Fill::F16x2, FLOAT),
    (".ftz", "f16x2", Fill::F16x2, FLOAT),
    ("", "bf16x2", Fill::Bf16x2, FLOAT),
];

/// Result types of `set` for a source type.
fn set_results(ty: &str) -> &'static [(&'static str, Value)] {
    match ty {
        "f16" => &[
            ("f16", Value::F16),
            ("u16", Value::Bits16),
            ("s16", Value::Bits16),
            ("u32", Value::Bits32),
            ("s32", Value::Bits32),
        ],
        "bf16" => &[
            ("bf16", Value::Bf16),
            ("u16", Value::Bits16),
            ("s16", Value::Bits16),
            ("u32", Value::Bits32),
            ("s32", Value::Bits32),
        ],
        "f16x2" => &[("f16x2", Value::F16x2), ("u32", Value::Bits32), ("s32", Value::Bits32)],
        "bf16x2" => &[("bf16x2", Value::Bf16x2), ("u32", Value::Bits32), ("s32", Value::Bits32)],
        _ => &[
            ("u32", Value::Bits32),
            ("s32", Value::Bits32),
            ("f32", Value::F32),
            ("f16", Value::F16),
            ("bf16", Value::Bf16),
        ],
    }
}

pub fn probes(arch: Arch) -> Vec<Probe> {
    let mut list = Vec::new();
    for &(ftz, ty, fill, operators) in TYPES {
        if ty.starts_with("bf") && arch.number < 90 {
            continue;
        }
        for operator in operators {
            list.push(setp(operator, ftz, ty, fill));
            for &(result, value) in set_results(ty) {
                if result == "bf16" && (arch.number < 90 || !ftz.is_empty()) {
                    continue;
                }
                list.push(set(operator, ftz, result, ty, fill, value));
            }
        }
    }
    selections(&mut list);
    list
}

/// Every combination with a third predicate in one kernel, each a bit of the result.
fn setp(operator: &str, ftz: &str, ty: &str, fill: Fill) -> Probe {
    let mut body = "setp.ne.u32 %p0, %a2, 0;\n".to_owned();
    let pair = !matches!(ty, "f16" | "bf16");
    let mut targets = 1..;
    let mut used = Vec::new();
    for (combine, third) in [("", ""), (".and", ", %p0"), (".or", ", %p0"), (".xor", ", %p0"), (".and", ", !%p0")] {
        let mut next = || {
            let target = targets.next().unwrap_or(0);
            used.push(target);
            format!("%p{target}")
        };
        let target = if pair { format!("{}|{}", next(), next()) } else { next() };
        let _ = writeln!(body, "setp.{operator}{combine}{ftz}.{ty} {target}, %a0, %a1{third};");
    }
    for target in used {
        let _ = writeln!(body, "selp.b32 %x0, {}, 0, %p{target};\nor.b32 %d0, %d0, %x0;", 1u32 << target);
    }
    let name = format!("setp.{operator}{ftz}.{ty} and .and, .or, .xor");
    Probe::scalar(GROUP, &name, &[fill, fill, Fill::Flag], &[Value::Bits32], body)
}

fn set(operator: &str, ftz: &str, result: &str, ty: &str, fill: Fill, value: Value) -> Probe {
    let mut body = "setp.ne.u32 %p0, %a2, 0;\n".to_owned();
    for (index, (combine, third)) in [("", ""), (".and", ", %p0"), (".or", ", !%p0")].iter().enumerate() {
        let _ = writeln!(body, "set.{operator}{combine}{ftz}.{result}.{ty} %d{index}, %a0, %a1{third};");
    }
    let name = format!("set.{operator}{ftz}.{result}.{ty} and .and, .or");
    Probe::scalar(GROUP, &name, &[fill, fill, Fill::Flag], &[value; 3], body)
}

fn selections(list: &mut Vec<Probe>) {
    let types = [
        ("b16", Fill::Int16, Value::Bits16),
        ("u16", Fill::Int16, Value::Bits16),
        ("s16", Fill::Int16, Value::Bits16),
        ("b32", Fill::Int32, Value::Bits32),
        ("u32", Fill::Int32, Value::Bits32),
        ("s32", Fill::Int32, Value::Bits32),
        ("b64", Fill::Int64, Value::Bits64),
        ("u64", Fill::Int64, Value::Bits64),
        ("s64", Fill::Int64, Value::Bits64),
        ("f32", Fill::F32, Value::F32),
        ("f64", Fill::F64, Value::F64),
    ];
    for (ty, fill, value) in types {
        let body = format!("setp.ne.u32 %p0, %a2, 0;\nselp.{ty} %d0, %a0, %a1, %p0;");
        list.push(Probe::scalar(GROUP, &format!("selp.{ty}"), &[fill, fill, Fill::Flag], &[value], body));
        for (ftz, of, third) in [("", "s32", Fill::Int32), ("", "f32", Fill::F32), (".ftz", "f32", Fill::F32)] {
            list.push(Probe::plain(GROUP, &format!("slct{ftz}.{ty}.{of}"), &[fill, fill, third], value));
        }
    }
    let tests = [".finite", ".infinite", ".number", ".notanumber", ".normal", ".subnormal"];
    for name in product(&[&["testp"], &tests, &[".f32", ".f64"]]) {
        let fill = if name.ends_with("64") { Fill::SweepF64 } else { Fill::SweepF32 };
        let body = format!("{name} %p0, %a0;\nselp.b32 %d0, 1, 0, %p0;");
        list.push(Probe::scalar(GROUP, &name, &[fill], &[Value::Bits32], body));
    }
}
