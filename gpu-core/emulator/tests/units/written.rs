use ptx_emulator::Module;
use ptx_emulator::inside::build::written_arguments;

/// The arguments at 0, 8 and 16 that a kernel of three pointers and a number may write through, those that see more than
/// atomics, and those that are read or updated for a block alone.
fn all(body: &str) -> Option<[Vec<u32>; 3]> {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, \
         .param .u32 n) {{\n.reg .b64 %rd<9>;\n.reg .b32 %r<9>;\n.reg .pred %p<3>;\nld.param.u64 %rd1, [a];\n\
         ld.param.u64 %rd2, [b];\nld.param.u64 %rd3, [c];\nld.param.u32 %r1, [n];\n{body}\nret;\n}}"
    );
    let module = Module::load(&text).unwrap_or_else(|error| panic!("{error}"));
    let pointers = |list: Vec<u32>| list.into_iter().filter(|offset| *offset < 24).collect();
    written_arguments(&module, 0).map(|lists| lists.map(pointers))
}

/// The first two of them.
fn found(body: &str) -> Option<[Vec<u32>; 2]> {
    all(body).map(|[written, stored, ..]| [written, stored])
}

/// All that the kernel may write through.
fn written(body: &str) -> Option<Vec<u32>> {
    found(body).map(|[all, _]| all)
}

#[test]
fn stores_go_where_their_addresses_come_from() {
    let plain =
        "ld.global.u32 %r2, [%rd1];\nmul.wide.u32 %rd4, %r1, 4;\nadd.s64 %rd5, %rd3, %rd4;\nst.global.u32 [%rd5], %r2;";
    assert_eq!(written(plain), Some(vec![16]));
    assert_eq!(written("ld.global.u32 %r2, [%rd1];"), Some(vec![]));
    assert_eq!(written("atom.global.add.u32 %r2, [%rd2], 1;"), Some(vec![8]));
    assert_eq!(written("red.global.add.u32 [%rd2], 1;\nst.global.u64 [%rd1], %rd3;"), Some(vec![0, 8]));
}

#[test]
fn what_only_atomics_write_is_told_apart() {
    let each = "red.global.add.u32 [%rd2], 1;\nst.global.u32 [%rd1], %r1;\natom.global.cas.b32 %r2, [%rd3], 0, 1;";
    assert_eq!(found(each), Some([vec![0, 8, 16], vec![0]]));
    let both = "red.global.add.u32 [%rd2], 1;\nst.global.u32 [%rd2+4], %r1;";
    assert_eq!(found(both), Some([vec![8], vec![8]]));
    let either = "setp.eq.u32 %p1, %r1, 0;\nselp.b64 %rd4, %rd1, %rd2, %p1;\nred.global.add.u32 [%rd1], 1;\nst.volatile.global.u32 [%rd4], %r1;";
    assert_eq!(found(either), Some([vec![0, 8], vec![0, 8]]));
}

#[test]
fn what_only_atomics_see_is_told_from_what_is_read() {
    let seen = |body: &str| all(body).map(|[_, _, seen]| seen);
    let sum = "ld.global.u32 %r2, [%rd1];\nmul.wide.u32 %rd4, %r2, 4;\nadd.s64 %rd5, %rd3, %rd4;\n\
               red.global.add.u32 [%rd5], %r2;";
    assert_eq!(seen(sum), Some(vec![0]));
    let used = "atom.global.add.u32 %r2, [%rd2], 1;\nst.global.u32 [%rd1], %r2;";
    assert_eq!(seen(used), Some(vec![]));
    // For the block alone.
    assert_eq!(seen("red.global.cta.add.u32 [%rd2], 1;"), Some(vec![8]));
    // A pointer from memory may be any, and copies say nothing of where they read.
    let any = "ld.global.u64 %rd4, [%rd1];\nld.global.u32 %r2, [%rd4];\nred.global.add.u32 [%rd2], %r2;";
    assert_eq!(seen(any), Some(vec![0, 8, 16]));
    let copy = "mov.u32 %r2, 0;\ncp.async.ca.shared.global [%r2], [%rd3], 4;\nred.global.add.u32 [%rd2], %r1;";
    assert_eq!(seen(copy), Some(vec![0, 8, 16]));
}

#[test]
fn an_index_from_memory_is_no_address_and_a_pointer_from_memory_is_any() {
    let scatter =
        "ld.global.u32 %r2, [%rd1];\nmul.wide.u32 %rd4, %r2, 4;\nadd.s64 %rd5, %rd3, %rd4;\nst.global.u32 [%rd5], %r2;";
    assert_eq!(written(scatter), Some(vec![16]));
    assert_eq!(written("ld.global.u64 %rd4, [%rd1];\nst.global.u32 [%rd4], %r1;"), None);
    let halves = "ld.global.v2.u32 {%r2, %r3}, [%rd1];\nmov.b64 %rd4, {%r2, %r3};\nst.global.u32 [%rd4], %r1;";
    assert_eq!(written(halves), None);
    assert_eq!(written("atom.global.exch.b64 %rd4, [%rd1], %rd2;\nst.global.u32 [%rd4], %r1;"), None);
}

#[test]
fn either_of_two_pointers_counts_as_both_and_turns_of_a_loop_add_up() {
    let either = "setp.eq.u32 %p1, %r1, 0;\nselp.b64 %rd4, %rd1, %rd2, %p1;\nst.global.u32 [%rd4], %r1;";
    assert_eq!(written(either), Some(vec![0, 8]));
    let turns = "mov.b64 %rd4, %rd1;\nmov.b64 %rd5, %rd2;\n$next:\nst.global.u32 [%rd4], %r1;\nmov.b64 %rd6, %rd4;\n\
                 mov.b64 %rd4, %rd5;\nmov.b64 %rd5, %rd6;\nsub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra $next;";
    assert_eq!(written(turns), Some(vec![0, 8]));
}

#[test]
fn copies_out_of_shared_memory_may_write_anywhere() {
    let bulk = "mov.u32 %r2, 0;\ncp.async.bulk.global.shared::cta.bulk_group [%rd3], [%r2], %r1;";
    let module = Module::load(&format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 c, .param .u32 n) {{\n.reg .b64 \
         %rd<9>;\n.reg .b32 %r<9>;\nld.param.u64 %rd3, [c];\nld.param.u32 %r1, [n];\n{bulk}\nret;\n}}"
    ));
    assert_eq!(written_arguments(&module.unwrap_or_else(|error| panic!("{error}")), 0), None);
}

#[test]
fn textures_may_read_and_surfaces_write_anywhere() {
    let with = |body: &str| {
        let ptx = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 t) {{\n.reg .b64 \
             %rd<9>;\n.reg .b32 %r<9>;\nld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [t];\nmov.u32 %r1, 0;\n{body}\n\
             red.global.add.u32 [%rd1], 1;\nret;\n}}"
        );
        written_arguments(&Module::load(&ptx).unwrap_or_else(|error| panic!("{error}")), 0)
    };
    assert_eq!(with("").map(|found| found[2].clone()), Some(vec![]));
    // What `a` holds may be read through the texture.
    let fetch = with("tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%rd2, {%r1}];");
    assert!(fetch.is_some_and(|found| found[2].contains(&0)));
    assert_eq!(with("sust.b.1d.b32.trap [%rd2, {%r1}], %r1;"), None);
}
