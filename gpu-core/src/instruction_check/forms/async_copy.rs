//! Asynchronous copies and mbarriers, each waited for in the same kernel.

use super::super::{Arch, Fill, Probe, Value};
use super::product;
use std::fmt::Write;

const GROUP: &str = "asynchronous";

pub fn probes(arch: Arch) -> Vec<Probe> {
    let mut list = Vec::new();
    threads(&mut list);
    if arch.number >= 90 {
        mbarriers(&mut list);
        bulk(&mut list);
        reductions(&mut list);
    }
    list
}

/// `cp.async`: each thread fetches up to 16 bytes of its block's operands.
fn threads(list: &mut Vec<Probe>) {
    let waits = [
        "cp.async.commit_group;\ncp.async.wait_group 0;",
        "cp.async.wait_all;",
        "cp.async.commit_group;\ncp.async.commit_group;\ncp.async.wait_group 0;",
    ];
    let mut forms = vec![("cp.async.cg.shared.global".to_owned(), 16)];
    for bytes in [4, 8, 16] {
        forms.push(("cp.async.ca.shared.global".to_owned(), bytes));
        forms.push(("cp.async.ca.shared::cta.global.L2::128B".to_owned(), bytes));
    }
    for (index, (name, bytes)) in forms.iter().enumerate() {
        for (kind, tail) in [("", ""), (" with a source size", ", %x2"), (" with ignore-src", ", %p1")] {
            let mut body =
                "mad.lo.u32 %x0, %thread, 16, %sh;\nmul.wide.u32 %y0, %case, 16;\nadd.u64 %y0, %y0, %in;\n".to_owned();
            body.push_str("mov.b32 %x1, -1;\nst.shared.v4.b32 [%x0], {%x1, %x1, %x1, %x1};\n");
            let _ = writeln!(body, "min.u32 %x2, %a4, {bytes};\nsetp.eq.u32 %p1, %a5, 0;");
            let _ = writeln!(body, "{name} [%x0], [%y0], {bytes}{tail};\n{}", waits[index % 3]);
            body.push_str("ld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%x0];");
            let inputs = [Fill::Bits32, Fill::Bits32, Fill::Bits32, Fill::Bits32, Fill::Below(17), Fill::Flag];
            let title = format!("{name} {bytes}{kind}");
            list.push(Probe::scalar(GROUP, &title, &inputs, &[Value::Bits32; 4], body).shape(8, 128).shared(128 * 16));
        }
    }
}

/// What is left in a barrier after each step, as far as it is defined.
fn mbarriers(list: &mut Vec<Probe>) {
    // One barrier a warp, initialised for 32 arrivals; the threads arrive one by one in the order of their lanes.
    let setup = "shr.u32 %x0, %thread, 5;\nmad.lo.u32 %x0, %x0, 8, %sh;\nsetp.eq.u32 %p1, %lane, 0;\n\
                 @%p1 mbarrier.init.shared.b64 [%x0], 32;\nfence.mbarrier_init.release.cluster;\nbar.warp.sync -1;\n";
    let cases = [
        (
            "mbarrier.arrive, test_wait",
            "mbarrier.arrive.shared.b64 %y0, [%x0];\nbar.warp.sync -1;\n\
             mbarrier.test_wait.shared.b64 %p2, [%x0], %y0;\nselp.b32 %d0, 1, 2, %p2;",
        ),
        (
            "mbarrier.arrive with a count, try_wait.parity",
            "setp.lt.u32 %p3, %lane, 8;\n@%p3 mbarrier.arrive.release.cta.shared::cta.b64 %y0, [%x0], 4;\n\
             LOOP: mbarrier.try_wait.parity.shared.b64 %p2, [%x0], 0;\n@!%p2 bra LOOP;\nbar.warp.sync -1;\n\
             mbarrier.test_wait.parity.shared.b64 %p4, [%x0], 1;\nselp.b32 %d0, 1, 2, %p4;",
        ),
        (
            "mbarrier.arrive.noComplete, pending_count",
            "setp.lt.u32 %p3, %lane, 1;\n@%p3 mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %y0, [%x0], 5;\n\
             @%p3 mbarrier.pending_count.b64 %d0, %y0;\nbar.warp.sync -1;\n\
             mbarrier.test_wait.parity.shared.b64 %p2, [%x0], 0;\nselp.b32 %d1, 1, 2, %p2;",
        ),
        (
            "mbarrier.arrive_drop",
            "mbarrier.arrive_drop.shared.b64 %y0, [%x0];\nbar.warp.sync -1;\n\
             mbarrier.test_wait.parity.shared.b64 %p2, [%x0], 0;\nselp.b32 %d0, 1, 2, %p2;",
        ),
        (
            "mbarrier.expect_tx, complete_tx",
            "setp.ne.u32 %p3, %lane, 0;\n@%p3 mbarrier.arrive.shared.b64 _, [%x0];\n\
             @%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%x0], 64;\nbar.warp.sync -1;\n\
             @%p1 mbarrier.arrive.shared.b64 _, [%x0];\nbar.warp.sync -1;\n\
             mbarrier.test_wait.parity.shared.b64 %p2, [%x0], 0;\nselp.b32 %d0, 1, 2, %p2;\nbar.warp.sync -1;\n\
             @%p1 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%x0], 64;\nbar.warp.sync -1;\n\
             mbarrier.test_wait.parity.shared.b64 %p2, [%x0], 0;\nselp.b32 %d1, 1, 2, %p2;",
        ),
        (
            "mbarrier.arrive.expect_tx",
            "@%p1 mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%x0], 16;\n\
             setp.ne.u32 %p3, %lane, 0;\n@%p3 mbarrier.arrive.shared.b64 _, [%x0];\nbar.warp.sync -1;\n\
             mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 %p2, [%x0], 0;\nselp.b32 %d0, 1, 2, %p2;\nbar.warp.sync -1;\n\
             @%p1 mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%x0], 16;\nbar.warp.sync -1;\n\
             mbarrier.test_wait.parity.shared.b64 %p2, [%x0], 0;\nselp.b32 %d1, 1, 2, %p2;",
        ),
        (
            "cp.async.mbarrier.arrive.noinc",
            "mad.lo.u32 %x1, %thread, 16, %sh;\nmul.wide.u32 %y1, %case, 16;\nadd.u64 %y1, %y1, %in;\n\
             cp.async.ca.shared.global [%x1+1024], [%y1], 16;\ncp.async.mbarrier.arrive.noinc.shared.b64 [%x0];\n\
             LOOP: mbarrier.try_wait.parity.shared.b64 %p2, [%x0], 0;\n@!%p2 bra LOOP;\n\
             ld.shared.v2.b32 {%d0, %d1}, [%x1+1024];",
        ),
    ];
    for (name, steps) in cases {
        let inputs = [Fill::Bits32; 4];
        let body = format!("{setup}{steps}");
        list.push(Probe::scalar(GROUP, name, &inputs, &[Value::Bits32; 2], body).shape(4, 128).shared(1024 + 128 * 16));
    }
}

/// `%x4` and `%x5`: where `%x2` and the barrier at `%sh` lie in the other block, which is ready by then.
const PEER: &str = "mov.u32 %x3, %cluster_ctarank;\nxor.b32 %x3, %x3, 1;\nmapa.shared::cluster.u32 %x4, %x2, %x3;\n\
     mapa.shared::cluster.u32 %x5, %sh, %x3;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n";

/// No block leaves while the other still reads its memory.
const TOGETHER: &str = "barrier.cluster.arrive;\nbarrier.cluster.wait;";

/// One thread copies the block's 2,048 bytes; all read them.
fn bulk(list: &mut Vec<Probe>) {
    let begin = "setp.eq.u32 %p1, %thread, 0;\n@%p1 mbarrier.init.shared.b64 [%sh], 1;\nfence.mbarrier_init.release.cluster;\n\
                 bar.sync 0;\nmul.wide.u32 %y0, %block, 2048;\nadd.u64 %y0, %y0, %in;\nadd.u32 %x0, %sh, 1024;\n\
                 mad.lo.u32 %x1, %thread, 16, %x0;\n";
    let wait = "LOOP: mbarrier.try_wait.parity.shared.b64 %p2, [%sh], 0;\n@!%p2 bra LOOP;\nld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%x1];";
    let inputs = [Fill::Bits32; 4];
    let mut add = |name: &str, body: String, shared: usize| {
        let probe = Probe::scalar(GROUP, name, &inputs, &[Value::Bits32; 4], body).shape(8, 128);
        let probe = probe.shared(shared).scratch(16);
        list.push(if probe.body.contains("%cluster_ctarank") { probe.cluster(2) } else { probe });
    };
    for destination in ["shared::cluster", "shared::cta"] {
        let name = format!("cp.async.bulk.{destination}.global.mbarrier::complete_tx::bytes");
        // `.shared::cta` as destination came with PTX 8.6.
        let body = format!(
            "{begin}@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%sh], 2048;\n@%p1 {name} [%x0], [%y0], 2048, [%sh];\n{wait}"
        );
        add(&name, body, 1024 + 2048);
    }
    let name = "cp.async.bulk.global.shared::cta.bulk_group";
    let store = "st.shared.v4.b32 [%x1], {%a0, %a1, %a2, %a3};\nfence.proxy.async;\nbar.sync 0;\nmul.wide.u32 %y1, %thread, 16;\nsub.u64 %y1, %scratch, %y1;\n";
    let body = format!(
        "{begin}{store}@%p1 {name} [%y1], [%x0], 2048;\n@%p1 cp.async.bulk.commit_group;\n@%p1 cp.async.bulk.wait_group 0;\nfence.proxy.async;\nbar.sync 0;\nld.global.v4.b32 {{%d0, %d1, %d2, %d3}}, [%scratch];"
    );
    add(name, body, 1024 + 2048);
    // To the other block of a cluster of two. That such copies fail on an H200 in a launch without clusters is inferred:
    // a probe that did so failed there, and the manual does not say why.
    let name = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes";
    let body = format!(
        "{begin}{store}add.u32 %x2, %x0, 2048;\nadd.u32 %x1, %x1, 2048;\n{PEER}\
         @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%sh], 2048;\n@%p1 {name} [%x4], [%x0], 2048, [%x5];\n{wait}\n{TOGETHER}"
    );
    add(name, body, 1024 + 4096);
    let body = format!("{begin}@%p1 cp.async.bulk.prefetch.L2.global [%y0], 2048;\nmov.b32 %d0, %a0;");
    add("cp.async.bulk.prefetch.L2.global", body, 1024 + 2048);
}

/// `cp.reduce.async.bulk` to global memory: each thread's 16 bytes meet the block's.
fn reductions(list: &mut Vec<Probe>) {
    let mut forms: Vec<(String, Fill, Value)> = Vec::new();
    for name in product(&[&["and", "or", "xor"], &[".b32", ".b64"]]) {
        forms.push((name, Fill::Bits32, Value::Bits32));
    }
    for name in product(&[&["min", "max", "add"], &[".u32", ".s32", ".u64"]]) {
        forms.push((name, Fill::Int32, Value::Bits32));
    }
    for name in ["inc.u32", "dec.u32", "min.s64", "max.s64"] {
        forms.push((name.to_owned(), Fill::Int32, Value::Bits32));
    }
    for name in product(&[&["min", "max"], &[".f16", ".bf16"]]) {
        forms.push((name, Fill::F16x2, Value::F16x2));
    }
    forms.push(("add.noftz.f16".to_owned(), Fill::F16x2, Value::F16x2));
    forms.push(("add.noftz.bf16".to_owned(), Fill::Bf16x2, Value::Bf16x2));
    forms.push(("add.f32".to_owned(), Fill::F32, Value::F32));
    forms.push(("add.f64".to_owned(), Fill::F32, Value::Bits32));
    for (form, fill, value) in forms {
        let value = if form.contains("bf16") { Value::Bf16x2 } else { value };
        let fill = if form.contains("bf16") { Fill::Bf16x2 } else { fill };
        let name = format!("cp.reduce.async.bulk.global.shared::cta.bulk_group.{form}");
        let body = format!(
            "mad.lo.u32 %x1, %thread, 16, %sh;\nst.shared.v4.b32 [%x1], {{%a0, %a1, %a2, %a3}};\n\
             st.global.v4.b32 [%scratch], {{%a4, %a5, %a6, %a7}};\nfence.proxy.async;\nbar.sync 0;\n\
             {name} [%scratch], [%x1], 16;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n\
             fence.proxy.async;\nbar.sync 0;\nld.global.v4.b32 {{%d0, %d1, %d2, %d3}}, [%scratch];"
        );
        let probe = Probe::scalar(GROUP, &name, &[fill; 8], &[value; 4], body).shape(16, 128);
        list.push(probe.shared(128 * 16).scratch(16));
        // To the shared memory of the cluster, integers only.
        let integer = form.ends_with("32") && !form.contains('f');
        if integer {
            let name = format!("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{form}");
            let body = format!(
                "setp.eq.u32 %p1, %thread, 0;\n@%p1 mbarrier.init.shared.b64 [%sh], 128;\nfence.mbarrier_init.release.cluster;\n\
                 mad.lo.u32 %x1, %thread, 16, %sh;\nadd.u32 %x1, %x1, 1024;\nst.shared.v4.b32 [%x1], {{%a0, %a1, %a2, %a3}};\n\
                 st.shared.v4.b32 [%x1+2048], {{%a4, %a5, %a6, %a7}};\nfence.proxy.async;\nbar.sync 0;\nadd.u32 %x2, %x1, 2048;\n{PEER}\
                 mbarrier.arrive.expect_tx.shared.b64 _, [%sh], 16;\n{name} [%x4], [%x1], 16, [%x5];\n\
                 LOOP: mbarrier.try_wait.parity.shared.b64 %p2, [%sh], 0;\n@!%p2 bra LOOP;\n\
                 ld.shared.v4.b32 {{%d0, %d1, %d2, %d3}}, [%x2];\n{TOGETHER}"
            );
            let probe = Probe::scalar(GROUP, &name, &[fill; 8], &[value; 4], body).shape(16, 128);
            list.push(probe.shared(1024 + 4096).cluster(2));
        }
    }
}
