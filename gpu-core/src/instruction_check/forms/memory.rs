//! Loads, stores and moves: each type and width with its extension, every space, cache operator and ordering.

use super::super::{Arch, Fill, Probe, Value};
use super::{integer, product, vector};
use std::fmt::Write;

const GROUP: &str = "memory";

pub fn probes(arch: Arch) -> Vec<Probe> {
    let mut list = Vec::new();
    for space in [".global", ".shared", ".local", ""] {
        widths(&mut list, space);
    }
    modifiers(&mut list);
    moves(&mut list);
    addresses(arch, &mut list);
    list
}

/// Code that leaves the address of the thread's own 32 bytes in the register it names.
fn address(space: &str) -> (String, &'static str) {
    match space {
        ".global" => (String::new(), "%scratch"),
        ".shared" => ("mad.lo.u32 %x8, %thread, 32, %sh;\n".to_owned(), "%x8"),
        ".local" => (".local .align 32 .b8 own[32];\nmov.u64 %y9, own;\n".to_owned(), "%y9"),
        _ => ("cvta.global.u64 %y9, %scratch;\n".to_owned(), "%y9"),
    }
}

fn place(space: &str, probe: Probe) -> Probe {
    if space == ".shared" { probe.shared(256 * 32) } else { probe.scratch(32) }
}

/// Scalars with zero and sign extension, then vectors.
fn widths(list: &mut Vec<Probe>, space: &str) {
    for ty in ["b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"] {
        let bits: u32 = ty[1..].parse().unwrap_or(32);
        let (code, at) = address(space);
        let mut body = code;
        // Eight bytes lie there; the store of the type changes the low ones.
        let _ = writeln!(body, "st{space}.b64 [{at}], %a0;");
        let source = if bits == 64 { "%a1" } else { "%x7" };
        let _ = writeln!(body, "cvt.u32.u64 %x7, %a1;\nst{space}.{ty} [{at}], {source};\nld{space}.b64 %d0, [{at}];");
        let target = if bits == 64 { "%d1" } else { "%x6" };
        let _ = writeln!(body, "ld{space}.{ty} {target}, [{at}];");
        if bits < 64 {
            let _ = writeln!(body, "cvt.u64.u32 %d1, %x6;");
        }
        // A wider register takes the extended value.
        if !ty.starts_with('f') {
            let _ = writeln!(body, "ld{space}.{ty} %d2, [{at}];");
        }
        let name = format!("st{space}.{ty}, ld{space}.{ty}");
        let probe = Probe::scalar(GROUP, &name, &[Fill::Int64; 2], &[Value::Bits64; 3], body).shape(8, 256);
        list.push(place(space, probe));
    }
    for (width, ty) in
        [(2, "b8"), (4, "b8"), (2, "u16"), (4, "b16"), (2, "b32"), (4, "b32"), (4, "f32"), (2, "b64"), (2, "f64")]
    {
        let bits: u32 = ty[1..].parse().unwrap_or(32);
        let (fill, value) = match bits {
            8 => (Fill::Int32, Value::Bits32),
            16 => (Fill::Int16, Value::Bits16),
            64 => (Fill::Int64, Value::Bits64),
            _ => (Fill::Int32, Value::Bits32),
        };
        let (mut body, at) = address(space);
        let _ = writeln!(body, "st{space}.v{width}.{ty} [{at}], {};", vector('a', 0, width));
        let _ = write!(body, "ld{space}.v{width}.{ty} {}, [{at}];", vector('d', 0, width));
        let name = format!("st{space}.v{width}.{ty}, ld{space}.v{width}.{ty}");
        let probe = Probe::scalar(GROUP, &name, &vec![fill; width], &vec![value; width], body).shape(8, 256);
        list.push(place(space, probe));
    }
}

/// What stands between opcode and type changes no value; it must be accepted.
fn modifiers(list: &mut Vec<Probe>) {
    let scopes = [".cta", ".cluster", ".gpu", ".sys"];
    let mut loads: Vec<String> =
        [".ca", ".cg", ".cs", ".lu", ".cv", ".weak", ".volatile"].iter().map(|m| format!("ld{m}.global")).collect();
    if let Some(volatile) = loads.last_mut() {
        *volatile = "ld.volatile.global".to_owned();
    }
    loads = loads.into_iter().map(|name| reorder(&name)).collect();
    loads.extend(product(&[&["ld"], &[".relaxed", ".acquire"], &scopes, &[".global"]]));
    loads.extend(product(&[
        &["ld.global"],
        &[".L1::evict_normal", ".L1::evict_unchanged", ".L1::evict_first", ".L1::evict_last", ".L1::no_allocate"],
    ]));
    loads.extend(product(&[&["ld.global"], &[".L2::64B", ".L2::128B", ".L2::256B"]]));
    loads.extend([
        "ld.global.nc".to_owned(),
        "ld.global.nc.L1::no_allocate.L2::128B".to_owned(),
        "ldu.global".to_owned(),
    ]);
    for name in loads {
        // Read what nobody writes: `.nc` may be stale otherwise.
        let body = format!("{name}.b32 %d0, [%in4];\n{name}.v2.b32 {{%d1, %d2}}, [%in8];");
        list.push(Probe::scalar(GROUP, &name, &[Fill::Bits32; 2], &[Value::Bits32; 3], body).shape(8, 256));
    }
    let mut stores: Vec<String> = [".wb", ".cg", ".cs", ".wt"].iter().map(|m| format!("st.global{m}")).collect();
    stores.extend(["st.weak.global".to_owned(), "st.volatile.global".to_owned()]);
    stores.extend(product(&[&["st"], &[".relaxed", ".release"], &scopes, &[".global"]]));
    stores.extend(product(&[&["st.global"], &[".L1::evict_normal", ".L1::evict_last", ".L1::no_allocate"]]));
    for name in stores {
        let body = format!("{name}.b32 [%scratch], %a0;\nld.global.b32 %d0, [%scratch];");
        list.push(Probe::scalar(GROUP, &name, &[Fill::Bits32], &[Value::Bits32], body).shape(8, 256).scratch(8));
    }
    for name in product(&[&["fence", "fence.sc", "fence.acq_rel"], &scopes]) {
        if name.starts_with("fence.c") || name.starts_with("fence.g") {
            continue;
        }
        let body = format!("st.global.b32 [%scratch], %a0;\n{name};\nld.global.b32 %d0, [%scratch];");
        list.push(Probe::scalar(GROUP, &name, &[Fill::Bits32], &[Value::Bits32], body).shape(8, 256).scratch(8));
    }
    for name in
        ["membar.cta", "membar.gl", "membar.sys", "fence.proxy.alias", "fence.proxy.async", "fence.proxy.async.global"]
    {
        let body = format!("st.global.b32 [%scratch], %a0;\n{name};\nld.global.b32 %d0, [%scratch];");
        list.push(Probe::scalar(GROUP, name, &[Fill::Bits32], &[Value::Bits32], body).shape(8, 256).scratch(8));
    }
}

/// `ld.ca.global` is spelled `ld.global.ca`.
fn reorder(name: &str) -> String {
    match name.strip_prefix("ld.").and_then(|rest| rest.strip_suffix(".global")) {
        Some(cache) if !matches!(cache, "weak" | "volatile") => format!("ld.global.{cache}"),
        _ => name.to_owned(),
    }
}

/// Packing and unpacking.
fn moves(list: &mut Vec<Probe>) {
    for (ty, parts) in [("b32", 2), ("b64", 2), ("b64", 4)] {
        let whole = integer::of(ty);
        let part =
            if whole.0.bits() / parts == 16 { (Fill::Int16, Value::Bits16) } else { (Fill::Int32, Value::Bits32) };
        let count = parts as usize;
        let body = format!("mov.{ty} %d0, {};\nmov.{ty} {}, %a{parts};", vector('a', 0, count), vector('d', 1, count));
        let mut inputs = vec![part.0; count];
        inputs.push(whole.0);
        let mut outputs = vec![whole.1];
        outputs.extend(vec![part.1; count]);
        list.push(Probe::scalar(GROUP, &format!("mov.{ty} of {parts} parts"), &inputs, &outputs, body));
    }
    let body = ".reg .b128 %q;\nmov.b128 %q, {%a0, %a1};\nmov.b128 {%d0, %d1}, %q;".to_owned();
    list.push(Probe::scalar(GROUP, "mov.b128", &[Fill::Int64; 2], &[Value::Bits64; 2], body));
}

/// Which window an address belongs to.
fn addresses(arch: Arch, list: &mut Vec<Probe>) {
    let mut body = ".local .align 8 .b8 own[8];\nmov.u64 %y0, own;\ncvta.local.u64 %y0, %y0;\ncvt.u64.u32 %y1, %sh;\ncvta.shared.u64 %y1, %y1;\ncvta.global.u64 %y2, %scratch;\n"
        .to_owned();
    let mut spaces = vec!["global", "shared", "local", "const", "param"];
    if arch.number >= 90 {
        spaces.extend(["shared::cta", "shared::cluster"]);
    }
    let mut bit = 0;
    for space in spaces {
        for register in ["%y0", "%y1", "%y2"] {
            let _ = writeln!(
                body,
                "isspacep.{space} %p1, {register};\nselp.b32 %x0, {}, 0, %p1;\nor.b32 %d0, %d0, %x0;",
                1u32 << bit
            );
            bit += 1;
        }
    }
    // There and back is the same address.
    body.push_str("cvta.to.shared.u64 %y3, %y1;\ncvt.u32.u64 %x0, %y3;\nsub.u32 %d1, %x0, %sh;\n");
    body.push_str("cvta.to.global.u64 %y4, %y2;\nsub.u64 %y4, %y4, %scratch;\ncvt.u32.u64 %d2, %y4;");
    list.push(
        Probe::scalar(GROUP, "cvta, isspacep", &[], &[Value::Bits32; 3], body).shape(1, 256).scratch(8).shared(256),
    );
}
