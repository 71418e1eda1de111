//! mbarriers, bulk and tensor copies, clusters, `cp.async`.

mod common;

use common::*;
use ptx_emulator::{Checks, FaultKind, Interleave, Launch, Options, Swizzle, TensorMap, TensorType};

const PTX: &str = include_str!("ptx/hopper.sm_90a.ptx");

fn ramp(n: usize) -> Vec<f32> {
    (0..n).map(|i| i as f32).collect()
}

#[test]
fn producer_and_consumers_over_mbarriers() {
    let module = load(PTX);
    let mut memory = memory();
    let a = upload_f32(&mut memory, "a", &ramp(1024));
    let out = memory.alloc("out", 4 * 64).expect("fits");
    let outcome = run_clean(&module, &mut memory, &Launch::new("mbar", [1, 1, 1], [96, 1, 1]).arg_u64(a).arg_u64(out));
    assert_eq!(outcome.counters.async_copy_bytes, 4096);
    for (i, got) in download_f32(&memory, out, 64).into_iter().enumerate() {
        let expect: f32 = (0..32).map(|k| (k * 32 + i % 32) as f32).sum();
        assert_eq!(got, expect, "thread {i}");
    }
}

#[test]
fn a_bulk_copy_must_be_waited_for() {
    let module = load(PTX);
    let mut memory = memory();
    let a = upload_f32(&mut memory, "a", &ramp(256));
    let out = memory.alloc("out", 1024).expect("fits");
    let outcome = run(&module, &mut memory, &Launch::new("nowait", [1, 1, 1], [256, 1, 1]).arg_u64(a).arg_u64(out));
    assert_eq!(kinds(&outcome), [FaultKind::MissingAsyncWait], "{:#?}", outcome.faults);
    assert!(outcome.faults[0].other.is_some());
}

#[test]
fn blocks_of_a_cluster_read_each_other() {
    let module = load(PTX);
    let mut memory = memory();
    let out = memory.alloc("out", 4 * 8 * 32).expect("fits");
    run_clean(&module, &mut memory, &Launch::new("dsmem", [8, 1, 1], [32, 1, 1]).arg_u64(out));
    for (i, got) in download_u32(&memory, out, 256).into_iter().enumerate() {
        let block = i as u32 / 32;
        assert_eq!(got, 100 + (block ^ 1) + block % 2 * 1000);
    }
}

#[test]
fn tensor_copies_fill_and_clip() {
    let module = load(PTX);
    // 20 rows of 40 floats; a box of 32 by 16 at different corners.
    for (x, y) in [(0, 0), (16, 8), (-4, -2), (36, 12)] {
        let mut memory = memory();
        let source = upload_f32(&mut memory, "source", &ramp(800));
        let target = upload_f32(&mut memory, "target", &[-1.0; 800]);
        let out = memory.alloc("out", 2048).expect("fits");
        let map = |address| TensorMap {
            address,
            element: TensorType::F32,
            sizes: vec![40, 20],
            strides: vec![160],
            tile: vec![32, 16],
            element_strides: vec![1, 1],
            swizzle: Swizzle::None,
            nan_fill: false,
            im2col: None,
            interleave: Interleave::None,
        };
        let mut launch = Launch::new("tensor", [1, 1, 1], [128, 1, 1]);
        launch.params.extend(map(source).encode().expect("valid"));
        launch.params.extend(map(target).encode().expect("valid"));
        let launch = launch.arg_u64(out).arg_u32(x as u32).arg_u32(y as u32);
        let outcome = run(&module, &mut memory, &launch);
        let negative = x < 0 || y < 0;
        assert_eq!(outcome.faults.is_empty(), !negative, "{:#?}", outcome.faults);
        let inside = |i: i32, j: i32| (0..40).contains(&i) && (0..20).contains(&j);
        for (index, got) in download_f32(&memory, out, 512).into_iter().enumerate() {
            let (i, j) = (x + index as i32 % 32, y + index as i32 / 32);
            let expect = if inside(i, j) { (j * 40 + i) as f32 } else { 0.0 };
            assert_eq!(got, expect, "({i}, {j})");
        }
        if !negative {
            for (index, got) in download_f32(&memory, target, 800).into_iter().enumerate() {
                let (i, j) = (index as i32 % 40, index as i32 / 40);
                let copied = (x..x + 32).contains(&i) && (y..y + 16).contains(&j);
                assert_eq!(got, if copied { 2.0 * index as f32 } else { -1.0 }, "({i}, {j})");
            }
        }
    }
}

#[test]
fn copies_in_groups() {
    let module = load(PTX);
    let mut memory = memory();
    let n = 4;
    let a = upload_f32(&mut memory, "a", &ramp(128 * n));
    let out = memory.alloc("out", 512).expect("fits");
    let launch = Launch::new("cpasync", [1, 1, 1], [128, 1, 1]).arg_u64(a).arg_u64(out).arg_u32(n as u32);
    run_clean(&module, &mut memory, &launch);
    for (i, got) in download_f32(&memory, out, 128).into_iter().enumerate() {
        let expect: f32 = (0..n).map(|t| (128 * t + 127 - i) as f32).sum();
        assert_eq!(got, expect);
    }
    let launch = Launch::new("cpasync_bad", [1, 1, 1], [128, 1, 1]).arg_u64(a).arg_u64(out);
    let outcome = run(&module, &mut memory, &launch);
    assert!(kinds(&outcome).contains(&FaultKind::MissingAsyncWait), "{:#?}", outcome.faults);
}

/// Each thread copies 16 bytes of an array of `%r9` bytes, and zeros where it ends.
const EDGE: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out_, .param .u64 in_, .param .u32 bytes_)
{
	.reg .b32 %r<12>;
	.reg .b64 %l<8>;
	.shared .align 16 .b8 tile[128];
	ld.param.u64 %l1, [out_];
	ld.param.u64 %l2, [in_];
	ld.param.u32 %r9, [bytes_];
	mov.u32 %r1, %tid.x;
	shl.b32 %r2, %r1, 4;
	mov.u32 %r3, tile;
	add.u32 %r4, %r3, %r2;
	cvt.u64.u32 %l3, %r2;
	add.u64 %l4, %l2, %l3;
	sub.u32 %r5, %r9, %r2;
	max.s32 %r5, %r5, 0;
	min.s32 %r5, %r5, 16;
	cp.async.cg.shared.global [%r4], [%l4], 16, %r5;
	cp.async.commit_group;
	cp.async.wait_group 0;
	ld.shared.v4.b32 {%r6, %r7, %r8, %r10}, [%r4];
	add.u64 %l5, %l1, %l3;
	st.global.v4.b32 [%l5], {%r6, %r7, %r8, %r10};
	ret;
}
";

#[test]
fn a_copy_at_an_edge_reads_only_its_own_bytes() {
    let module = load(EDGE);
    for bytes in [0u32, 1, 3, 16, 20, 60, 109, 116, 127, 128] {
        let mut memory = memory();
        let content: Vec<u8> = (1..=bytes as u8).collect();
        let source = memory.alloc("in", content.len().max(1) as u64).expect("fits");
        memory.write(source, &content).expect("inside");
        let out = memory.alloc("out", 128).expect("fits");
        let launch = Launch::new("k", [1, 1, 1], [8, 1, 1]).arg_u64(out).arg_u64(source);
        run_clean(&module, &mut memory, &launch.clone().arg_u32(bytes));
        let mut expect = content.clone();
        expect.resize(128, 0);
        let mut got = vec![0; 128];
        memory.read(out, &mut got).expect("inside");
        assert_eq!(got, expect, "{bytes} bytes");
        if bytes > 0 && bytes < 128 {
            let outcome = run(&module, &mut memory, &launch.arg_u32(bytes + 1));
            assert_eq!(kinds(&outcome), [FaultKind::OutOfBounds], "{bytes} bytes: {:#?}", outcome.faults);
        }
    }
}

/// Block 0 arrives at block 1's mbarrier without ordering anything; block 1 ends once it knows of that, or at once.
fn arrival_from_afar(waits: bool) -> String {
    let wait =
        if waits { "LOOP: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0;\n@!%p3 bra LOOP;\n" } else { "" };
    format!(
        ".version 8.8\n.target sm_90a\n.address_size 64\n\
         .visible .entry k(.param .u64 p) .reqnctapercluster 2, 1, 1 {{\n\
         .reg .b32 %r<20>; .reg .b64 %rd<4>; .reg .pred %p<4>;\n.shared .align 8 .b64 bar;\n\
         mov.u32 %r1, %tid.x;\nmov.u32 %r2, %cluster_ctarank;\nsetp.ne.u32 %p1, %r1, 0;\nmov.u32 %r3, bar;\n\
         @%p1 bra INITED;\nmbarrier.init.shared::cta.b64 [%r3], 1;\nfence.mbarrier_init.release.cluster;\n\
         INITED: barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n@%p1 bra DONE;\n\
         setp.eq.u32 %p2, %r2, 1;\n@%p2 bra WAITER;\nmapa.shared::cluster.u32 %r4, %r3, 1;\n\
         mbarrier.complete_tx.shared::cluster.relaxed.cluster.b64 [%r4], 4;\nbra DONE;\n\
         WAITER: mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 4;\n{wait}DONE: ret;\n}}\n"
    )
}

#[test]
fn a_block_that_knows_of_an_arrival_may_end() {
    let mut memory = memory();
    let mut launch = Launch::new("k", [2, 1, 1], [32, 1, 1]).arg_u64(0);
    launch.cluster = [2, 1, 1];
    run_clean(&load(&arrival_from_afar(true)), &mut memory, &launch);
    let outcome = run(&load(&arrival_from_afar(false)), &mut memory, &launch);
    assert_eq!(kinds(&outcome), [FaultKind::UseAfterFree], "{:#?}", outcome.faults);
}

/// A bulk copy whose size or whose one address is no multiple of 16 is told with that address.
#[test]
fn a_misaligned_bulk_copy_says_what_is() {
    let kernel = |to: u32, from: u32, bytes: u32| {
        format!(
            ".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
             .reg .b32 %r<4>; .reg .b64 %rd<4>;\n.shared .align 16 .b8 s[128];\n.shared .align 8 .b64 bar;\n\
             ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd1, %rd1;\nmov.u32 %r1, s;\nmov.u32 %r2, bar;\n\
             mbarrier.init.shared::cta.b64 [%r2], 1;\nfence.mbarrier_init.release.cluster;\n\
             add.u32 %r1, %r1, {to};\nadd.u64 %rd1, %rd1, {from};\n\
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], {bytes};\n\
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], {bytes}, [%r2];\nret;\n}}\n"
        )
    };
    let cases = [
        (4, 0, 32, "its address in shared memory is not", "`s` has 128 bytes, this is byte 4"),
        (0, 8, 32, "its address in global memory is not", "`in` has 256 bytes, this is byte 8"),
        (16, 16, 20, "the size is not", "`s` has 128 bytes, this is byte 16"),
    ];
    for (to, from, bytes, what, place) in cases {
        let mut memory = memory();
        let source = upload_u32(&mut memory, "in", &[1; 64]);
        let launch = Launch::new("k", [1, 1, 1], [1, 1, 1]).arg_u64(source);
        let outcome = run(&load(&kernel(to, from, bytes)), &mut memory, &launch);
        let message = &outcome.faults[0].message;
        assert_eq!(outcome.faults[0].kind, FaultKind::Misaligned, "{message}");
        assert!(message.contains(what) && message.contains(place), "{message}");
    }
}

/// Three warps come to a product at once; the last one stores B, ones over zeros, a while later.
const LATE_WARP: &str = "
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p)
.maxntid 128,1,1
{
	.reg .b32 %r<20>; .reg .b64 %rd<8>; .reg .pred %p<4>; .reg .f32 %f<5>;
	.shared .align 1024 .b8 s[1024];
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, s;
	shl.b32 %r3, %r1, 3;
	add.u32 %r3, %r3, %r2;
	mov.b64 %rd2, 0;
	st.shared.b64 [%r3], %rd2;
	fence.proxy.async;
	bar.sync 0;
	mov.b32 %r5, 0x3c003c00;
	mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;
	wgmma.fence.sync.aligned;
	setp.lt.u32 %p1, %r1, 96;
	@%p1 bra GO;
	mov.u32 %r9, 20000;
WAIT:	sub.u32 %r9, %r9, 1;
	setp.ne.u32 %p2, %r9, 0;
	@%p2 bra WAIT;
	sub.u32 %r4, %r1, 96;
	shl.b32 %r4, %r4, 5;
	add.u32 %r4, %r4, %r2;
	mov.b64 %rd5, 0x3c003c003c003c00;
	st.shared.v2.b64 [%r4], {%rd5, %rd5};
	st.shared.v2.b64 [%r4+16], {%rd5, %rd5};
	fence.proxy.async;
GO:	bar.warp.sync 0xffffffff;
	shr.u32 %r6, %r2, 4;
	cvt.u64.u32 %rd6, %r6;
	or.b64 %rd6, %rd6, 0x0000001000080000;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, {%r5,%r5,%r5,%r5}, %rd6, 1, 1, 1, 0;
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
	mul.wide.u32 %rd7, %r1, 4;
	add.u64 %rd7, %rd7, %rd1;
	st.global.f32 [%rd7], %f1;
	ret;
}
";

/// An H100 gives 16 in all threads: the warps of a warpgroup begin a product together. PTX does not say so, hence the race.
#[test]
fn the_warps_of_a_warpgroup_begin_a_product_together() {
    let mut memory = memory();
    let module = load(LATE_WARP);
    for checks in [Checks::NONE, Checks::ALL] {
        let out = upload_f32(&mut memory, "out", &[0.0; 128]);
        let launch = Launch::new("k", [1, 1, 1], [128, 1, 1]).arg_u64(out);
        let outcome = run_with(&module, &mut memory, &launch, &Options { checks, ..Options::default() });
        assert_eq!(download_f32(&memory, out, 128), [16.0; 128], "{checks:?}");
        let expected: &[FaultKind] = if checks == Checks::NONE { &[] } else { &[FaultKind::Race] };
        assert_eq!(kinds(&outcome), expected, "{:#?}", outcome.faults);
    }
}

/// What fills the same places over and over is not remembered for each time.
#[test]
fn a_loop_that_never_waits_takes_no_longer_each_time() {
    for (wait, faults) in [("", vec![FaultKind::MissingAsyncWait]), ("cp.async.wait_all;", vec![])] {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 c)\n{{\n\
             .reg .pred %p; .reg .b32 %i, %j, %tid, %to; .reg .b64 %ra, %rc, %rj;\n.shared .align 16 .b8 tile[384];\n\
             ld.param.u64 %ra, [a]; ld.param.u64 %rc, [c]; mov.u32 %tid, %tid.x; mov.u32 %i, 0;\n\
             mul.wide.u32 %rj, %tid, 4; add.u64 %ra, %ra, %rj; add.u64 %rc, %rc, %rj;\n\
             $again: rem.u32 %j, %i, 3; shl.b32 %j, %j, 7; mad.lo.u32 %j, %tid, 4, %j; mov.u32 %to, tile; add.u32 %to, %to, %j;\n\
             cp.async.ca.shared.global [%to], [%ra], 4; cp.async.commit_group;\n\
             add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 100000; @%p bra $again;\n{wait}\n\
             ld.shared.u32 %j, [%to]; st.global.u32 [%rc], %j; ret;\n}}\n"
        );
        let module = load(&text);
        let mut memory = memory();
        let (a, c) = (upload_u32(&mut memory, "a", &[7; 32]), upload_u32(&mut memory, "c", &[0; 32]));
        let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(a).arg_u64(c);
        let limit = Some(std::time::Duration::from_secs(60));
        let outcome = run_with(&module, &mut memory, &launch, &Options { time_limit: limit, ..Options::default() });
        assert!(outcome.completed && kinds(&outcome) == faults, "{:?}", outcome.faults);
        assert_eq!(download_u32(&memory, c, 32), [7; 32]);
    }
}
