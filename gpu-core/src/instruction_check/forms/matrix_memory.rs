//! `ldmatrix`, `stmatrix` and `movmatrix`.

use super::super::{Arch, Fill, Probe, Value};
use super::vector;

const GROUP: &str = "matrix memory";

pub fn probes(arch: Arch) -> Vec<Probe> {
    let mut list = Vec::new();
    for count in [1, 2, 4] {
        for trans in ["", ".trans"] {
            for space in ["shared", "shared::cta"] {
                list.push(load(&format!("ldmatrix.sync.aligned.m8n8.x{count}{trans}.{space}.b16"), count));
                if arch.number >= 90 {
                    list.push(store(&format!("stmatrix.sync.aligned.m8n8.x{count}{trans}.{space}.b16"), count));
                }
            }
        }
    }
    if arch.number >= 100 && arch.is_specific() {
        for count in [1, 2] {
            for kind in ["b8", "b8x16.b6x16_p32", "b8x16.b4x16_p64"] {
                list.push(load(&format!("ldmatrix.sync.aligned.m16n16.x{count}.trans.shared.{kind}"), 2 * count));
            }
        }
        for count in [1, 2, 4] {
            for kind in ["b8x16.b6x16_p32", "b8x16.b4x16_p64"] {
                list.push(load(&format!("ldmatrix.sync.aligned.m8n16.x{count}.shared.{kind}"), count));
            }
            list.push(store(&format!("stmatrix.sync.aligned.m16n8.x{count}.trans.shared.b8"), count));
        }
    }
    let body = "movmatrix.sync.aligned.m8n8.trans.b16 %d0, %a0;".to_owned();
    list.push(Probe::warp(
        GROUP,
        "movmatrix.sync.aligned.m8n8.trans.b16",
        vec![Fill::Bits32],
        vec![Value::Bits32],
        body,
    ));
    list
}

/// Rows anywhere, also the same one for several lanes.
fn load(name: &str, registers: usize) -> Probe {
    let body = format!("shl.b32 %x0, %a0, 4;\nadd.u32 %x0, %x0, %sh;\n{name} {}, [%x0];", vector('d', 0, registers));
    Probe::warp(GROUP, name, vec![Fill::Below(256)], vec![Value::Bits32; registers], body).stage(&[Fill::Bits32], 4096)
}

/// Each warp has 512 bytes of its own and stores its rows in an order of its own.
fn store(name: &str, registers: usize) -> Probe {
    let mut body = format!(
        "mad.lo.u32 %x0, %lane, 13, %a{registers};\nand.b32 %x0, %x0, 31;\nshl.b32 %x0, %x0, 4;\n\
         shr.u32 %x1, %thread, 5;\nmad.lo.u32 %x1, %x1, 512, %sh;\nadd.u32 %x0, %x0, %x1;\n\
         {name} [%x0], {};\nbar.warp.sync -1;\nmad.lo.u32 %x1, %lane, 16, %x1;\n",
        vector('a', 0, registers)
    );
    body.push_str("ld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%x1];");
    let mut inputs = vec![Fill::Bits32; registers];
    inputs.push(Fill::Constant(5));
    Probe::warp(GROUP, name, inputs, vec![Value::Bits32; 4], body).stage(&[Fill::Bits32], 4 * 512)
}
