//! Logic, shifts, bit fields and byte permutations.

use super::super::{Arch, Fill, Probe, Value};
use super::integer::of;
use super::product;
use std::fmt::Write;

const GROUP: &str = "logic";

pub fn probes(_: Arch) -> Vec<Probe> {
    let mut list = Vec::new();
    let mut plain = |name: &str, inputs: &[Fill], output| list.push(Probe::plain(GROUP, name, inputs, output));
    for ty in ["b16", "b32", "b64"] {
        let (a, d) = of(ty);
        for name in ["and", "or", "xor"] {
            plain(&format!("{name}.{ty}"), &[a; 2], d);
        }
        for name in ["not", "cnot"] {
            plain(&format!("{name}.{ty}"), &[a], d);
        }
        plain(&format!("shl.{ty}"), &[a, Fill::Amount], d);
        for sign in ["b", "u", "s"] {
            plain(&format!("shr.{sign}{}", &ty[1..]), &[a, Fill::Amount], d);
        }
    }
    for name in product(&[&["shf.l", "shf.r"], &[".clamp", ".wrap"], &[".b32"]]) {
        plain(&name, &[Fill::Int32, Fill::Int32, Fill::Amount], Value::Bits32);
    }
    for mode in ["", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"] {
        plain(&format!("prmt.b32{mode}"), &[Fill::Bits32; 3], Value::Bits32);
    }
    for ty in ["u32", "s32", "u64", "s64"] {
        let (a, d) = of(ty);
        plain(&format!("bfe.{ty}"), &[a, Fill::Amount, Fill::Amount], d);
        for name in ["bfind", "bfind.shiftamt"] {
            plain(&format!("{name}.{ty}"), &[a], Value::Bits32);
        }
    }
    for ty in ["b32", "b64"] {
        let (a, d) = of(ty);
        plain(&format!("bfi.{ty}"), &[a, a, Fill::Amount, Fill::Amount], d);
        plain(&format!("brev.{ty}"), &[a], d);
        for name in ["popc", "clz"] {
            plain(&format!("{name}.{ty}"), &[a], Value::Bits32);
        }
    }
    plain("fns.b32", &[Fill::Bits32, Fill::Below(32), Fill::Offset], Value::Bits32);
    for mode in ["clamp", "wrap"] {
        plain(&format!("bmsk.{mode}.b32"), &[Fill::Amount; 2], Value::Bits32);
        for ty in ["u32", "s32"] {
            plain(&format!("szext.{mode}.{ty}"), &[Fill::Int32, Fill::Amount], Value::Bits32);
        }
    }
    // All 256 tables, sixteen a kernel.
    for first in (0..256).step_by(16) {
        let body: String = (0..16).map(|i| format!("lop3.b32 %d{i}, %a0, %a1, %a2, {};\n", first + i)).collect();
        let name = format!("lop3.b32 (tables {first} to {})", first + 15);
        list.push(Probe::scalar(GROUP, &name, &[Fill::Bits32; 3], &[Value::Bits32; 16], body));
    }
    for combine in ["or", "and"] {
        let body = format!(
            "setp.ne.u32 %p0, %a3, 0;\nlop3.{combine}.b32 %d0|%p1, %a0, %a1, %a2, 0x60, %p0;\nselp.b32 %d1, 1, 0, %p1;"
        );
        let inputs = [Fill::Below(4), Fill::Below(4), Fill::Below(4), Fill::Flag];
        list.push(Probe::scalar(GROUP, &format!("lop3.{combine}.b32"), &inputs, &[Value::Bits32; 2], body));
    }
    for name in ["and", "or", "xor"] {
        let mut body = "setp.ne.u32 %p0, %a0, 0;\nsetp.ne.u32 %p1, %a1, 0;\n".to_owned();
        let _ = write!(body, "{name}.pred %p2, %p0, %p1;\nnot.pred %p3, %p2;\n");
        body.push_str("selp.b32 %d0, 1, 0, %p2;\nselp.b32 %d1, 1, 0, %p3;");
        list.push(Probe::scalar(GROUP, &format!("{name}.pred"), &[Fill::Flag; 2], &[Value::Bits32; 2], body));
    }
    list
}
