//! Special registers that every launch determines, and shared memory of the other blocks of larger clusters.

use super::super::{Arch, Fill, Probe, Value};
use std::fmt::Write;

const GROUP: &str = "special";

pub fn probes(arch: Arch) -> Vec<Probe> {
    let mut list = Vec::new();
    let mut places = String::new();
    let mut count = 0;
    for name in ["%tid", "%ntid", "%ctaid", "%nctaid"] {
        for axis in ["x", "y", "z"] {
            let _ = writeln!(places, "mov.u32 %d{count}, {name}.{axis};");
            count += 1;
        }
    }
    list.push(registers("%tid, %ntid, %ctaid, %nctaid", &places, count).cube([3, 2, 2], [5, 4, 3]));
    let mut masks = String::new();
    let names = ["%laneid", "%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge", "WARP_SZ"];
    for (index, name) in names.iter().enumerate() {
        let _ = writeln!(masks, "mov.u32 %d{index}, {name};");
    }
    list.push(registers("%laneid, %lanemask_*", &masks, names.len()).cube([3, 2, 2], [5, 4, 3]));
    list.push(registers("%dynamic_smem_size", "mov.u32 %d0, %dynamic_smem_size;", 1).shape(2, 64).shared(768));
    list.push(registers("%total_smem_size", "mov.u32 %d0, %total_smem_size;", 1).shape(2, 64).shared(768));
    flags(&mut list);
    if arch.number >= 90 {
        list.push(registers("%aggr_smem_size", "mov.u32 %d0, %aggr_smem_size;", 1).shape(2, 64).shared(768));
        clusters(&mut list);
        for blocks in [4, 8] {
            list.extend(neighbours(blocks));
        }
    }
    list
}

fn registers(name: &str, body: &str, count: usize) -> Probe {
    Probe::scalar(GROUP, name, &[], &vec![Value::Bits32; count], body.to_owned())
}

/// What the carry flag holds after each instruction that sets it.
fn flags(list: &mut Vec<Probe>) {
    for (name, wide) in [("add", false), ("sub", false), ("add", true), ("sub", true)] {
        let (ty, zero) = if wide { ("u64", "%y0") } else { ("u32", "%x0") };
        let clear = if wide { "mov.b64 %y0, 0;" } else { "mov.b32 %x0, 0;" };
        let body = format!(
            "{clear}\n{name}.cc.{ty} %d0, %a0, %a1;\naddc.{ty} %d1, {zero}, {zero};\n\
             {name}.cc.{ty} %d0, %a0, %a1;\nsubc.{ty} %d2, {zero}, {zero};"
        );
        let (fill, value) = if wide { (Fill::Int64, Value::Bits64) } else { (Fill::Int32, Value::Bits32) };
        let title = format!("carry after {name}.cc.{ty}, read by addc and subc");
        list.push(Probe::scalar("integer", &title, &[fill; 2], &[value; 3], body));
    }
    let mut chain = String::from("mov.b32 %x0, 0;\n");
    chain.push_str("mad.lo.cc.u32 %d0, %a0, %a1, %a2;\naddc.u32 %d1, %x0, %x0;\nmad.hi.cc.u32 %d0, %a0, %a1, %a2;\nsubc.u32 %d2, %x0, %x0;\n");
    chain.push_str("add.cc.u32 %d3, %a0, %a1;\nsubc.cc.u32 %d3, %a1, %a2;\naddc.u32 %d4, %x0, %x0;");
    let title = "carry after mad.cc and subc.cc, read by addc and subc";
    list.push(Probe::scalar("integer", title, &[Fill::Int32; 3], &[Value::Bits32; 5], chain));
}

fn clusters(list: &mut Vec<Probe>) {
    let mut body = String::new();
    let mut count = 0;
    for name in ["%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"] {
        for axis in ["x", "y", "z"] {
            let _ = writeln!(body, "mov.u32 %d{count}, {name}.{axis};");
            count += 1;
        }
    }
    for name in ["%cluster_ctarank", "%cluster_nctarank"] {
        let _ = writeln!(body, "mov.u32 %d{count}, {name};");
        count += 1;
    }
    let _ = writeln!(body, "mov.pred %p1, %is_explicit_cluster;\nselp.b32 %d{count}, 1, 2, %p1;");
    count += 1;
    let names = "%clusterid, %nclusterid, %cluster_ctaid, %cluster_nctaid, ranks";
    list.push(registers(names, &body, count).cube([8, 3, 2], [8, 2, 2]).cluster(4));
    list.push(registers(&format!("{names}, without a cluster"), &body, count).cube([4, 3, 2], [8, 2, 2]));
}

/// Every block reads what each other one put into its shared memory, and adds to it.
fn neighbours(blocks: usize) -> Vec<Probe> {
    let sync = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
    let mut read = format!(
        "mad.lo.u32 %x0, %thread, 8, %sh;\nst.shared.v2.b32 [%x0], {{%a0, %a1}};\nmov.u32 %x1, %cluster_ctarank;\n{sync}"
    );
    let mut add = read.clone();
    let mut generic = read.clone();
    generic.push_str("cvt.u64.u32 %y0, %x0;\ncvta.shared.u64 %y0, %y0;\n");
    for step in 1..blocks {
        let rank = format!("add.u32 %x2, %x1, {step};\nand.b32 %x2, %x2, {};\n", blocks - 1);
        let _ = write!(
            read,
            "{rank}mapa.shared::cluster.u32 %x3, %x0, %x2;\nld.shared::cluster.v2.b32 {{%x4, %x5}}, [%x3];\n\
             shf.l.wrap.b32 %x4, %x4, %x4, {step};\nxor.b32 %d0, %d0, %x4;\nadd.u32 %d1, %d1, %x5;\n\
             getctarank.shared::cluster.u32 %x6, %x3;\nmad.lo.u32 %d2, %d2, 16, %x6;\n"
        );
        let _ = write!(
            add,
            "{rank}mapa.shared::cluster.u32 %x3, %x0, %x2;\n\
             red.relaxed.cluster.shared::cluster.add.u32 [%x3], %a1;\natom.relaxed.cluster.shared::cluster.xor.b32 %x5, [%x3+4], %a0;\n"
        );
        let _ = write!(
            generic,
            "{rank}mapa.u64 %y1, %y0, %x2;\nld.v2.b32 {{%x4, %x5}}, [%y1];\nxor.b32 %d0, %d0, %x4;\nadd.u32 %d1, %d1, %x5;\n\
             getctarank.u64 %x6, %y1;\nmad.lo.u32 %d2, %d2, 16, %x6;\nisspacep.shared::cta %p1, %y1;\nselp.b32 %x7, 1, 2, %p1;\n\
             isspacep.shared::cluster %p1, %y1;\nselp.b32 %x8, 4, 8, %p1;\nadd.u32 %x7, %x7, %x8;\nmad.lo.u32 %d3, %d3, 3, %x7;\n"
        );
    }
    read.push_str(sync);
    generic.push_str(sync);
    let _ = write!(add, "{sync}ld.shared.v2.b32 {{%d0, %d1}}, [%x0];");
    let probe = |name: &str, results: usize, body: String| {
        let title = format!("{name} in clusters of {blocks}");
        Probe::scalar(GROUP, &title, &[Fill::Bits32; 2], &vec![Value::Bits32; results], body)
            .shape(2 * blocks, 64)
            .shared(64 * 8)
            .cluster(blocks)
    };
    vec![
        probe("mapa.shared::cluster, ld, getctarank", 3, read),
        probe("red and atom.shared::cluster", 2, add),
        probe("mapa, ld, getctarank, isspacep by generic address", 4, generic),
    ]
}
