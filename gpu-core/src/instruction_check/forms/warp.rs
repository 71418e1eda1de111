//! Operations across the lanes of a warp or the threads of a block.

use super::super::{Arch, Fill, Probe, Value};
use super::product;

const GROUP: &str = "warp";

/// Runs `body` in the lanes that the mask `%a0` names; the others keep 0.
fn masked(name: &str, inputs: &[Fill], outputs: &[Value], body: &str) -> Probe {
    let inputs = [&[Fill::WarpMask], inputs].concat();
    let body = format!(
        "shr.u32 %x0, %a0, %lane;\nand.b32 %x0, %x0, 1;\nsetp.eq.u32 %p0, %x0, 0;\n@%p0 bra SKIP;\n{body}\nSKIP:\nbar.warp.sync -1;"
    );
    Probe::scalar(GROUP, name, &inputs, outputs, body)
}

pub fn probes(arch: Arch) -> Vec<Probe> {
    let mut list = Vec::new();
    for mode in ["up", "down", "bfly", "idx"] {
        let name = format!("shfl.sync.{mode}.b32");
        let body =
            format!("{name} %d0|%p0, %a0, %a1, %a2, -1;\nselp.b32 %d1, 1, 0, %p0;\n{name} %d2, %a0, %a1, %a2, -1;");
        let inputs = [Fill::Bits32, Fill::Below(40), Fill::Segment];
        list.push(Probe::scalar(GROUP, &name, &inputs, &[Value::Bits32; 3], body));
    }
    for mode in ["all", "any", "uni"] {
        let name = format!("vote.sync.{mode}.pred");
        let body = format!(
            "setp.ne.u32 %p1, %a1, 0;\n{name} %p2, %p1, %a0;\n{name} %p3, !%p1, %a0;\nselp.b32 %d0, 1, 2, %p2;\nselp.b32 %d1, 1, 2, %p3;"
        );
        list.push(masked(&name, &[Fill::Flag], &[Value::Bits32; 2], &body));
    }
    let ballot = "setp.ne.u32 %p1, %a1, 0;\nvote.sync.ballot.b32 %d0, %p1, %a0;\nvote.sync.ballot.b32 %d1, !%p1, %a0;";
    list.push(masked("vote.sync.ballot.b32", &[Fill::Flag], &[Value::Bits32; 2], ballot));
    for (ty, fill) in [("b32", Fill::Below(5)), ("b64", Fill::Below64(5))] {
        let name = format!("match.any.sync.{ty}");
        list.push(masked(&name, &[fill], &[Value::Bits32], &format!("{name} %d0, %a1, %a0;")));
        let name = format!("match.all.sync.{ty}");
        let body = format!("{name} %d0|%p1, %a1, %a0;\nselp.b32 %d1, 1, 2, %p1;\n{name} %d2, %a1, %a0;");
        list.push(masked(&name, &[fill], &[Value::Bits32; 3], &body));
    }
    let mut redux = product(&[&["redux.sync"], &[".add", ".min", ".max"], &[".u32", ".s32"]]);
    redux.extend(product(&[&["redux.sync"], &[".and", ".or", ".xor"], &[".b32"]]));
    if arch.number >= 100 && arch.is_specific() {
        redux.extend(product(&[&["redux.sync"], &[".min", ".max"], &["", ".abs"], &["", ".NaN"], &[".f32"]]));
    }
    for name in redux {
        let (fill, value) = if name.ends_with("f32") { (Fill::F32, Value::F32) } else { (Fill::Int32, Value::Bits32) };
        list.push(masked(&name, &[fill], &[value], &format!("{name} %d0, %a1, %a0;")));
    }
    list.push(masked("activemask.b32", &[], &[Value::Bits32], "bar.warp.sync %a0;\nactivemask.b32 %d0;"));
    if arch.number >= 90 {
        let body = "elect.sync %d0|%p1, %a0;\nselp.b32 %d1, 1, 2, %p1;";
        list.push(masked("elect.sync", &[], &[Value::Bits32; 2], body));
    }
    block(&mut list);
    list
}

fn block(list: &mut Vec<Probe>) {
    for name in ["bar.red", "barrier.cta.red", "barrier.cta.red.aligned", "barrier.red"] {
        let sync = name.to_owned();
        let body = format!(
            "setp.ne.u32 %p1, %a0, 0;\n{sync}.popc.u32 %d0, 0, %p1;\n{sync}.popc.u32 %d1, 1, 256, !%p1;\n\
             {sync}.and.pred %p2, 2, %p1;\n{sync}.or.pred %p3, 3, %p1;\n\
             selp.b32 %d2, 1, 2, %p2;\nselp.b32 %d3, 1, 2, %p3;"
        );
        let name = format!("{name}.popc, .and, .or");
        list.push(Probe::scalar(GROUP, &name, &[Fill::Flag], &[Value::Bits32; 4], body));
    }
}
