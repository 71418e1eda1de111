//! Integer arithmetic.

use super::super::{Arch, Fill, Probe, Value};
use super::product;

const GROUP: &str = "integer";

/// Operand and result of an integer type.
pub fn of(ty: &str) -> (Fill, Value) {
    match ty.trim_start_matches(['.', 'u', 's', 'b']) {
        "16" => (Fill::Int16, Value::Bits16),
        "64" => (Fill::Int64, Value::Bits64),
        _ => (Fill::Int32, Value::Bits32),
    }
}

const ALL: &[&str] = &["u16", "s16", "u32", "s32", "u64", "s64"];

pub fn probes(arch: Arch) -> Vec<Probe> {
    let mut list = Vec::new();
    let mut plain = |name: &str, inputs: &[Fill], output| list.push(Probe::plain(GROUP, name, inputs, output));
    for ty in ALL {
        let (a, d) = of(ty);
        for name in ["add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"] {
            plain(&format!("{name}.{ty}"), &[a; 2], d);
        }
        for name in ["mad.lo", "mad.hi", "sad"] {
            plain(&format!("{name}.{ty}"), &[a; 3], d);
        }
        if ty.starts_with('s') {
            for name in ["abs", "neg"] {
                plain(&format!("{name}.{ty}"), &[a], d);
            }
        }
    }
    for ty in ["u16", "s16"] {
        plain(&format!("mul.wide.{ty}"), &[Fill::Int16; 2], Value::Bits32);
        plain(&format!("mad.wide.{ty}"), &[Fill::Int16, Fill::Int16, Fill::Int32], Value::Bits32);
    }
    for ty in ["u32", "s32"] {
        plain(&format!("mul.wide.{ty}"), &[Fill::Int32; 2], Value::Bits64);
        plain(&format!("mad.wide.{ty}"), &[Fill::Int32, Fill::Int32, Fill::Int64], Value::Bits64);
        for half in ["lo", "hi"] {
            plain(&format!("mul24.{half}.{ty}"), &[Fill::Int32; 2], Value::Bits32);
            plain(&format!("mad24.{half}.{ty}"), &[Fill::Int32; 3], Value::Bits32);
        }
        for second in ["u32", "s32"] {
            plain(&format!("dp4a.{ty}.{second}"), &[Fill::Int32; 3], Value::Bits32);
            for half in ["lo", "hi"] {
                plain(&format!("dp2a.{half}.{ty}.{second}"), &[Fill::Int32; 3], Value::Bits32);
            }
        }
    }
    for name in ["add.sat.s32", "sub.sat.s32", "min.relu.s32", "max.relu.s32"] {
        plain(name, &[Fill::Int32; 2], Value::Bits32);
    }
    for name in ["mad.hi.sat.s32", "mad24.hi.sat.s32"] {
        plain(name, &[Fill::Int32; 3], Value::Bits32);
    }
    if arch.number >= 90 {
        for name in product(&[&["add", "min", "max"], &[".u16x2", ".s16x2"]]) {
            plain(&name, &[Fill::Int32; 2], Value::Bits32);
        }
        for name in ["min.relu.s16x2", "max.relu.s16x2"] {
            plain(name, &[Fill::Int32; 2], Value::Bits32);
        }
    }
    let types = product(&[&[".u32", ".s32"], &[".u32", ".s32"], &[".u32", ".s32"], &["", ".sat", ".add"]]);
    for name in product(&[&["vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"], &["2", "4"]]) {
        for types in &types {
            plain(&format!("{name}{types}"), &[Fill::Int32; 3], Value::Bits32);
        }
    }
    for ty in ["u32", "s32", "u64", "s64"] {
        let (a, d) = of(ty);
        // The carry is no register: it shows in the instruction after.
        for name in ["add", "sub"] {
            let body =
                format!("{name}.cc.{ty} %d0, %a0, %a1;\n{name}c.cc.{ty} %d1, %a2, %a3;\n{name}c.{ty} %d2, %a1, %a3;");
            list.push(Probe::scalar(GROUP, &format!("{name}.cc/{name}c.cc/{name}c.{ty}"), &[a; 4], &[d; 3], body));
        }
        for half in ["lo", "hi"] {
            let body = format!(
                "mad.{half}.cc.{ty} %d0, %a0, %a1, %a2;\nmadc.{half}.cc.{ty} %d1, %a1, %a2, %a3;\nmadc.{half}.{ty} %d2, %a2, %a3, %a0;"
            );
            let name = format!("mad.{half}.cc/madc.{half}.cc/madc.{half}.{ty}");
            list.push(Probe::scalar(GROUP, &name, &[a; 4], &[d; 3], body));
        }
    }
    video(&mut list);
    list
}

/// What `vadd` and its kin do where they are not hardware's is up to the assembler: see `video_scalar.rs`.
const VIDEO: &str = "video";

/// Scalar video instructions, and masks and selectors of the packed ones.
fn video(list: &mut Vec<Probe>) {
    let mut add = |name: String, body: String| {
        list.push(Probe::scalar(VIDEO, &name, &[Fill::Int32; 3], &[Value::Bits32], body));
    };
    let types = product(&[&[".u32", ".s32"], &[".u32", ".s32"], &[".u32", ".s32"]]);
    for name in ["vadd", "vsub", "vabsdiff", "vmin", "vmax"] {
        for ty in &types {
            for sat in ["", ".sat"] {
                for (d, a, b, c, op) in [
                    ("", "", "", "", ""),
                    ("", ".b1", ".h1", "", ""),
                    ("", ".h0", ".b3", ", %a2", ".add"),
                    ("", "", ".b2", ", %a2", ".min"),
                    ("", ".h1", "", ", %a2", ".max"),
                    (".b2", "", ".b0", ", %a2", ""),
                    (".h1", ".b3", "", ", %a2", ""),
                ] {
                    let opcode = format!("{name}{ty}{sat}{op}");
                    add(format!("{opcode} {d}{a}{b}"), format!("{opcode} %d0{d}, %a0{a}, %a1{b}{c};"));
                }
            }
        }
    }
    for opcode in product(&[
        &["vshl", "vshr"],
        &[".u32", ".s32"],
        &[".u32", ".s32"],
        &[".u32"],
        &["", ".sat"],
        &[".clamp", ".wrap"],
    ]) {
        add(opcode.clone(), format!("{opcode} %d0, %a0, %a1;"));
        add(format!("{opcode} .b0"), format!("{opcode} %d0, %a0.h1, %a1.b0;"));
        add(format!("{opcode}.add .b0"), format!("{opcode}.add %d0, %a0, %a1.b0, %a2;"));
    }
    for ty in &types {
        for (sat, scale) in [("", ""), (".sat", ".shr7"), ("", ".shr15"), (".sat", "")] {
            let plain = format!("vmad{ty}{sat}{scale}");
            for (a, b, c) in [("%a0", "%a1", "%a2"), ("%a0.b1", "%a1.h1", "-%a2"), ("-%a0.h0", "%a1.b3", "%a2")] {
                add(format!("{plain} {a} {b} {c}"), format!("{plain} %d0, {a}, {b}, {c};"));
            }
            let one = format!("vmad{ty}.po{sat}{scale}");
            add(one.clone(), format!("{one} %d0, %a0.h1, %a1.b0, %a2;"));
        }
    }
    for opcode in
        product(&[&["vset"], &[".u32", ".s32"], &[".u32", ".s32"], &[".eq", ".ne", ".lt", ".le", ".gt", ".ge"]])
    {
        add(opcode.clone(), format!("{opcode} %d0, %a0.b1, %a1.h0;"));
        add(format!("{opcode}.add"), format!("{opcode}.add %d0, %a0, %a1, %a2;"));
        add(format!("{opcode} into a byte"), format!("{opcode} %d0.b2, %a0, %a1, %a2;"));
        for (lanes, mask, select) in [("2", ".h1", ".h30"), ("4", ".b20", ".b7160")] {
            let packed = opcode.replacen("vset", &format!("vset{lanes}"), 1);
            add(packed.clone(), format!("{packed} %d0, %a0, %a1, %a2;"));
            add(format!("{packed}.add {mask}"), format!("{packed}.add %d0{mask}, %a0, %a1{select}, %a2;"));
        }
    }
    for opcode in product(&[&["vadd2", "vmax2"], &[".u32.s32.u32", ".s32.s32.s32"], &["", ".sat", ".add"]]) {
        add(format!("{opcode} with mask and selectors"), format!("{opcode} %d0.h0, %a0.h23, %a1.h10, %a2;"));
    }
    for opcode in product(&[&["vsub4", "vabsdiff4"], &[".u32.s32.u32", ".s32.s32.s32"], &["", ".sat", ".add"]]) {
        add(format!("{opcode} with mask and selectors"), format!("{opcode} %d0.b310, %a0.b7531, %a1.b0246, %a2;"));
    }
}
