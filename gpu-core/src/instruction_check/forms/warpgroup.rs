//! `wgmma.mma_async` (sm_90a): types, column counts, swizzles, A in registers, scales and transposes.

use super::super::{Arch, Fill, Probe, Value};
use super::matrix::{input_fill, output_fill};
use super::vector;
use ptx_emulator::num::mma::form::{Input, Kind, Output};
use ptx_emulator::num::mma::sparse::Pattern;
use ptx_emulator::num::mma::warpgroup::WarpGroupForm;
use std::fmt::Write;

const GROUP: &str = "wgmma";

/// D, A, B and K of each dense form.
fn types() -> Vec<(&'static str, &'static str, &'static str, usize)> {
    let mut list = vec![
        ("f32", "f16", "f16", 16),
        ("f16", "f16", "f16", 16),
        ("f32", "bf16", "bf16", 16),
        ("f32", "tf32", "tf32", 8),
        ("s32", "b1", "b1", 256),
    ];
    for a in ["e4m3", "e5m2"] {
        for b in ["e4m3", "e5m2"] {
            list.extend([("f32", a, b, 32), ("f16", a, b, 32)]);
        }
    }
    for a in ["s8", "u8"] {
        for b in ["s8", "u8"] {
            list.push(("s32", a, b, 32));
        }
    }
    list
}

/// Swizzle code of the descriptor and bytes of one row of the pattern.
const SWIZZLES: [(&str, u64, usize); 4] = [("no swizzle", 0, 16), ("128B", 1, 128), ("64B", 2, 64), ("32B", 3, 32)];

/// One probe beside its types.
#[derive(Clone, Copy)]
struct Variant {
    swizzle: usize,
    a_registers: bool,
    scale_d: bool,
    negate: (i32, i32),
    transpose: (bool, bool),
    /// Which lanes hold the metadata, for a sparse A.
    selector: Option<u32>,
}

const PLAIN: Variant = Variant {
    swizzle: 0,
    a_registers: false,
    scale_d: true,
    negate: (1, 1),
    transpose: (false, false),
    selector: None,
};

pub fn probes(arch: Arch) -> Vec<Probe> {
    let mut list = Vec::new();
    if (arch.number, arch.is_specific()) != (90, true) {
        return list;
    }
    for (d, a, b, k) in types() {
        let opcode = |n: usize, sat: &str| {
            let bit = if a == "b1" { ".and.popc" } else { "" };
            format!("wgmma.mma_async.sync.aligned.m64n{n}k{k}.{d}.{a}.{b}{bit}{sat}")
        };
        let mut add = |n: usize, sat: &str, variant: Variant| {
            let name = opcode(n, sat);
            if let Ok(form) = WarpGroupForm::parse(&name) {
                list.push(probe(&name, &form, variant));
            }
        };
        for n in [8, 16, 24, 32, 64, 96, 128, 192, 256] {
            add(n, "", PLAIN);
        }
        for swizzle in 1..4 {
            add(64, "", Variant { swizzle, ..PLAIN });
            add(64, "", Variant { swizzle, a_registers: true, ..PLAIN });
        }
        add(32, "", Variant { a_registers: true, ..PLAIN });
        add(32, "", Variant { scale_d: false, ..PLAIN });
        if d == "s32" {
            if a != "b1" {
                add(32, ".satfinite", PLAIN);
            }
            continue;
        }
        for negate in [(-1, 1), (1, -1), (-1, -1)] {
            add(32, "", Variant { negate, ..PLAIN });
        }
        if k == 16 {
            for swizzle in 0..4 {
                for transpose in [(true, false), (false, true), (true, true)] {
                    add(64, "", Variant { swizzle, transpose, ..PLAIN });
                }
                add(64, "", Variant { swizzle, a_registers: true, transpose: (false, true), ..PLAIN });
            }
        }
    }
    sparse(&mut list);
    list
}

/// A with half of its elements stored. The manual gives 8-bit types the metadata of all lanes, wider ones that of the
/// first or second pair of four.
fn sparse(list: &mut Vec<Probe>) {
    for (d, a, b, k) in types().into_iter().filter(|types| types.1 != "b1") {
        let name = |n: usize| format!("wgmma.mma_async.sp.sync.aligned.m64n{n}k{}.{d}.{a}.{b}", 2 * k);
        let selectors: &[u32] = if k == 32 { &[0] } else { &[0, 1] };
        for &selector in selectors {
            for (n, swizzle) in [(8, 0), (64, 0), (64, 1), (64, 2), (256, 0)] {
                for a_registers in [false, true] {
                    let variant = Variant { swizzle, a_registers, selector: Some(selector), ..PLAIN };
                    if let Ok(form) = WarpGroupForm::parse(&name(n)) {
                        list.push(probe(&name(n), &form, variant));
                    }
                }
            }
        }
    }
}

/// Start of B in shared memory; A has at most 64 rows of 128 bytes, or 16 rows of as many.
const B_AT: usize = 8 << 10;
const STAGED: usize = B_AT + (32 << 10);

/// The descriptor of a matrix at `%sh + at` with everything but the address filled in.
///
/// K-major: 8 rows of a pattern lie together, the next 8 follow (`stride`); without swizzle the two chunks along k lie
/// `leading` apart. MN-major: a pattern holds 8 values of k; the next 8 follow, then the next pattern along the rows.
fn descriptor(swizzle: usize, transposed: bool, extent: usize) -> u64 {
    let (_, code, row_bytes) = SWIZZLES[swizzle];
    let pattern = 8 * row_bytes;
    let (leading, stride) = match (transposed, code) {
        // Chunks of 8 rows x 16 bytes; those along k behind all along the rows.
        (false, 0) => (extent / 8 * pattern, pattern),
        (false, _) => (16, pattern),
        // Chunks of 8 k x 16 bytes: along the rows first.
        (true, 0) => (extent / 8 * pattern, pattern),
        // Two patterns along k (16 values), then the next along the rows.
        (true, _) => (2 * pattern, pattern),
    };
    (leading as u64 / 16) << 16 | (stride as u64 / 16) << 32 | code << 62
}

fn probe(name: &str, form: &WarpGroupForm, variant: Variant) -> Probe {
    let (nd, na) = form.registers();
    let fill_of = |input: Input| match input {
        Input::Float(_) => input_fill(input, Kind::Plain),
        _ => Fill::Bits32,
    };
    let (d_fill, value) = output_fill(form.d);
    let mut inputs = Vec::new();
    if variant.a_registers {
        inputs.extend(vec![fill_of(form.a); na]);
    }
    let accumulators = inputs.len();
    inputs.extend(vec![d_fill; nd]);
    let mut body = String::new();
    for i in 0..nd {
        let _ = writeln!(body, "mov.b32 %d{i}, %a{};", accumulators + i);
    }
    let (ta, tb) = variant.transpose;
    for (to, at, transposed, extent) in [("%y0", 0, ta, 64), ("%y1", B_AT, tb, form.n)] {
        let _ = writeln!(
            body,
            "add.u32 %x0, %sh, {at};\nand.b32 %x0, %x0, 0x3ffff;\nshr.u32 %x0, %x0, 4;\ncvt.u64.u32 {to}, %x0;\nor.b64 {to}, {to}, {:#x};",
            descriptor(variant.swizzle, transposed, extent)
        );
    }
    let mut sparsity = String::new();
    if let Some(selector) = variant.selector {
        let pattern = if name.contains("tf32") { Pattern::OneOfTwo } else { Pattern::TwoOfFour };
        let _ = write!(sparsity, ", %a{}, {selector}", inputs.len());
        inputs.push(Fill::Metadata(pattern));
    }
    let a = if variant.a_registers { vector('a', 0, na) } else { "%y0".to_owned() };
    let mut flags = String::new();
    if form.can_negate() {
        let _ = write!(flags, ", {}, {}", variant.negate.0, variant.negate.1);
    }
    if form.can_transpose() {
        if !variant.a_registers {
            let _ = write!(flags, ", {}", u8::from(ta));
        }
        let _ = write!(flags, ", {}", u8::from(tb));
    }
    let _ = write!(
        body,
        "setp.eq.u32 %p0, 0, {};\nwgmma.fence.sync.aligned;\n{name} {}, {a}, %y1{sparsity}, %p0{flags};\n\
         wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;",
        u8::from(!variant.scale_d),
        vector('d', 0, nd)
    );
    let mut title = format!("{name} ({}", SWIZZLES[variant.swizzle].0);
    for (said, what) in [
        (variant.a_registers, ", A in registers"),
        (!variant.scale_d, ", scale-d 0"),
        (variant.negate.0 < 0, ", -A"),
        (variant.negate.1 < 0, ", -B"),
        (ta, ", A transposed"),
        (tb, ", B transposed"),
    ] {
        if said {
            title.push_str(what);
        }
    }
    if let Some(selector) = variant.selector {
        let _ = write!(title, ", selector {selector}");
    }
    title.push(')');
    let outputs = vec![if form.d == Output::S32 { Value::Bits32 } else { value }; nd];
    let first = fill_of(form.a);
    let second = fill_of(form.b);
    // A's part is one of five equal ones.
    let parts = [first, second, second, second, second];
    Probe::warp(GROUP, &title, inputs, outputs, body).shape(5, 128).tiny(1).stage(&parts, STAGED / 5)
}
