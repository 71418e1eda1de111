//! `match.sync`: which lanes have equal values.

use std::sync::atomic::AtomicBool;

use ptx_emulator::{Launch, Memory, Module, Options, launch};

/// The masks that lanes `lanes` of a warp get for `values`; `form` is any or all, and a type.
fn masks(form: &str, lanes: u32, values: &[u64; 32]) -> Vec<u32> {
    let wide = form.ends_with("b64");
    let all = form.starts_with("all");
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 m)\n{{\n\
         .reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d1, %r1, 8;\n\
         ld.param.u64 %d2, [in];\nadd.u64 %d2, %d2, %d1;\nld.global.u64 %d3, [%d2];\ncvt.u32.u64 %r2, %d3;\n\
         ld.param.u32 %r3, [m];\nshr.u32 %r4, %r3, %r1;\nand.b32 %r4, %r4, 1;\nsetp.eq.u32 %p1, %r4, 0;\n@%p1 ret;\n\
         match.{mode}.sync.{ty} %r5{pred}, {value}, %r3;\nld.param.u64 %d2, [out];\nshr.u64 %d1, %d1, 1;\n\
         add.u64 %d2, %d2, %d1;\nst.global.u32 [%d2], %r5;\nret;\n}}\n",
        mode = if all { "all" } else { "any" },
        ty = if wide { "b64" } else { "b32" },
        value = if wide { "%d3" } else { "%r2" },
        pred = if all { "|%p2" } else { "" },
    );
    let module = Module::load(&text).unwrap_or_else(|problems| panic!("{form}: {problems:?}"));
    let mut memory = Memory::new(1 << 20);
    let from = memory.alloc("in", 256).expect("fits");
    memory.write(from, &values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>()).expect("inside");
    let to = memory.alloc("out", 128).expect("fits");
    memory.write(to, &[0; 128]).expect("inside");
    let job = Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(from).arg_u64(to).arg_u32(lanes);
    let outcome = launch(&module, &mut memory, &job, &Options::unchecked(), &AtomicBool::new(false));
    assert!(outcome.completed && outcome.faults.is_empty(), "{form}: {:?}", outcome.faults);
    let mut bytes = vec![0; 128];
    memory.read(to, &mut bytes).expect("inside");
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four"))).collect()
}

#[test]
fn lanes_with_equal_values_find_each_other() {
    let columns: [fn(u64) -> u64; 5] =
        [|_| 7, |lane| lane, |lane| lane / 4, |lane| lane * lane % 5, |lane| (lane & 1) << 40 | 3];
    for column in columns {
        let values: [u64; 32] = std::array::from_fn(|lane| column(lane as u64));
        for lanes in [u32::MAX, 0x0000_ffff, 0x8421_1248, 1 << 31] {
            for form in ["any.b32", "any.b64", "all.b32", "all.b64"] {
                let kept = if form.ends_with("b64") { u64::MAX } else { 0xffff_ffff };
                let equal = |lane: usize| {
                    (0..32)
                        .filter(|other| (values[lane] ^ values[*other]) & kept == 0)
                        .fold(0, |all, other| all | 1 << other)
                };
                let wanted: Vec<u32> = (0..32)
                    .map(|lane| match (lanes >> lane & 1, form.starts_with("all")) {
                        (0, _) => 0,
                        (_, false) => equal(lane) & lanes,
                        _ if equal(lane) & lanes == lanes => lanes,
                        _ => 0,
                    })
                    .collect();
                assert_eq!(masks(form, lanes, &values), wanted, "{form} {lanes:#x} {values:?}");
            }
        }
    }
}
