//! Tensor maps changed by the kernel itself, and requests for other blocks' work.

mod common;

use common::*;
use ptx_emulator::{Interleave, Launch, Memory, Swizzle, TensorMap, TensorType};

/// A map of two dimensions without swizzle in the memory of the device: elements of the tensor, bytes of its rows, elements of
/// the box.
fn upload_map(
    memory: &mut Memory,
    address: u64,
    element: TensorType,
    (sizes, stride, tile): ([u64; 2], u64, [u32; 2]),
) -> u64 {
    let map = TensorMap {
        address,
        element,
        sizes: sizes.to_vec(),
        strides: vec![stride],
        tile: tile.to_vec(),
        element_strides: vec![1, 1],
        swizzle: Swizzle::None,
        nan_fill: false,
        im2col: None,
        interleave: Interleave::None,
    };
    let bytes = map.encode().expect("valid");
    let words: Vec<u32> = bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
    upload_u32(memory, "map", &words)
}

/// Points a map at another tensor of another height (in shared memory, then copied to global), and loads through it a
/// box that reaches below the tensor's end.
const REPLACE: &str = "
.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out_, .param .u64 map_, .param .u64 tensor_, .param .u64 place_)
{
	.reg .pred %p<3>;
	.reg .b32 %r<12>;
	.reg .b64 %l<12>;
	.shared .align 128 .b8 map[128];
	.shared .align 128 .b8 box[256];
	.shared .align 8 .b8 full[8];
	ld.param.u64 %l1, [out_];
	ld.param.u64 %l2, [map_];
	ld.param.u64 %l3, [tensor_];
	ld.param.u64 %l4, [place_];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %l5, %r1, 4;
	add.u64 %l6, %l2, %l5;
	ld.global.u32 %r2, [%l6];
	mov.u32 %r3, map;
	mad.lo.u32 %r4, %r1, 4, %r3;
	st.shared.u32 [%r4], %r2;
	mov.u32 %r5, full;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 mbarrier.init.shared.b64 [%r5], 1;
	bar.sync 0;
	mov.u32 %r6, 3;
	@%p1 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r3], %l3;
	@%p1 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r3], 1, %r6;
	@%p1 tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r3], 1;
	bar.sync 0;
	tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%l4], [%r3], 128;
	fence.proxy.tensormap::generic.acquire.gpu [%l4], 128;
	mov.u32 %r7, box;
	mov.u32 %r8, 0;
	@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 256;
	@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r7], [%l4, {%r8, %r8}], [%r5];
WAIT:	mbarrier.try_wait.parity.shared.b64 %p2, [%r5], 0;
	@!%p2 bra WAIT;
	mad.lo.u32 %r9, %r1, 8, %r7;
	ld.shared.v2.u32 {%r10, %r11}, [%r9];
	mul.wide.u32 %l7, %r1, 8;
	add.u64 %l8, %l1, %l7;
	st.global.v2.u32 [%l8], {%r10, %r11};
	ret;
}
";

#[test]
fn a_kernel_points_a_map_at_another_tensor() {
    let mut memory = memory();
    let ramp = |from: u32| (from..from + 128).collect::<Vec<u32>>();
    let first = upload_u32(&mut memory, "first", &ramp(0));
    let second = upload_u32(&mut memory, "second", &ramp(1000));
    let encoded = upload_map(&mut memory, first, TensorType::F32, ([16, 8], 64, [16, 4]));
    let place = upload_u32(&mut memory, "place", &[0; 32]);
    let out = upload_u32(&mut memory, "out", &[0; 64]);
    let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(out).arg_u64(encoded).arg_u64(second).arg_u64(place);
    run_clean(&load(REPLACE), &mut memory, &launch);
    let got = download_u32(&memory, out, 64);
    assert_eq!(got[..48], ramp(1000)[..48]);
    // Three rows are inside; the fourth is filled as an H200 fills.
    assert_eq!(got[48..], [0x7ff7_7ff7; 16]);
}

/// A persistent kernel's loop: it works on its own block, then on those it could take over.
const TAKE_OVER: &str = "
.version 8.7
.target sm_120a
.address_size 64
.visible .entry k(.param .u64 out_)
{
	.reg .pred %p<4>;
	.reg .b32 %r<12>;
	.reg .b64 %l<6>;
	.reg .b128 %q<2>;
	.shared .align 16 .b8 answer[16];
	.shared .align 8 .b8 full[8];
	ld.param.u64 %l1, [out_];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, answer;
	mov.u32 %r4, full;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 mbarrier.init.shared.b64 [%r4], 1;
	bar.sync 0;
	@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 16;
	@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r3], [%r4];
	mul.wide.u32 %l2, %r2, 4;
	add.u64 %l2, %l1, %l2;
	@%p1 red.global.add.u32 [%l2], 1;
WAIT:	mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0;
	@!%p2 bra WAIT;
	ld.shared.b128 %q1, [%r3];
	clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q1;
	@!%p3 bra END;
	clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r5, %q1;
	mul.wide.u32 %l3, %r5, 4;
	add.u64 %l3, %l1, %l3;
	@%p1 red.global.add.u32 [%l3], 1;
END:	ret;
}
";

#[test]
fn every_block_is_worked_on_once() {
    let mut memory = memory();
    let out = upload_u32(&mut memory, "out", &[0; 8]);
    run_clean(&load(TAKE_OVER), &mut memory, &Launch::new("k", [8, 1, 1], [32, 1, 1]).arg_u64(out));
    assert_eq!(download_u32(&memory, out, 8), [1; 8]);
}

/// Loads a box of 128 x 2 elements; each of 16 threads gives the first words of its piece of 16 bytes.
fn unpacking(words: usize) -> String {
    let (loads, stores): (String, String) = (0..words)
        .map(|i| {
            let register = 20 + i;
            let at = 4 * i;
            (format!("ld.shared.u32 %r{register}, [%r9+{at}];\n"), format!("st.global.u32 [%l8+{at}], %r{register};\n"))
        })
        .unzip();
    format!(
        ".version 8.7\n.target sm_120a\n.address_size 64\n\
         .visible .entry k(.param .u64 out_, .param .u64 map_, .param .u32 row_) {{\n\
         .reg .pred %p<3>;\n.reg .b32 %r<32>;\n.reg .b64 %l<9>;\n\
         .shared .align 128 .b8 box[256];\n.shared .align 8 .b8 full[8];\n\
         ld.param.u64 %l1, [out_];\nld.param.u64 %l2, [map_];\nld.param.u32 %r3, [row_];\nmov.u32 %r1, %tid.x;\n\
         mov.u32 %r5, full;\nmov.u32 %r7, box;\nmov.u32 %r8, 0;\nsetp.eq.u32 %p1, %r1, 0;\n\
         @%p1 mbarrier.init.shared.b64 [%r5], 1;\nbar.sync 0;\n\
         @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r5], {};\n\
         @%p1 cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r7], [%l2, {{%r8, %r3}}], [%r5];\n\
         WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r5], 0;\n@!%p2 bra WAIT;\n\
         mad.lo.u32 %r9, %r1, 16, %r7;\n{loads}mul.wide.u32 %l7, %r1, 16;\nadd.u64 %l8, %l1, %l7;\n{stores}ret;\n}}\n",
        // An mbarrier counts the bytes of the tensor.
        2 * 128 * words / 4
    )
}

#[test]
fn narrow_elements_are_unpacked_to_pieces_of_sixteen_bytes() {
    for (element, words) in [(TensorType::U4Align16, 2), (TensorType::U6Align16, 3)] {
        let mut memory = memory();
        // Two rows of 8 pieces of so many words.
        let data: Vec<u32> = (0..16 * words as u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        let tensor = upload_u32(&mut memory, "tensor", &data);
        let map = upload_map(&mut memory, tensor, element, ([128, 2], 32 * words as u64, [128, 2]));
        let module = load(&unpacking(words));
        for row in [0, 1] {
            let out = upload_u32(&mut memory, "out", &[7; 64]);
            let launch = Launch::new("k", [1, 1, 1], [16, 1, 1]).arg_u64(out).arg_u64(map).arg_u32(row);
            run_clean(&module, &mut memory, &launch);
            let got = download_u32(&memory, out, 64);
            for piece in 0..16 {
                let from = (piece + 8 * row as usize) * words;
                // The row below the tensor is filled; nothing comes where the padding is.
                let expected = data.get(from..from + words).map_or(vec![0; words], <[u32]>::to_vec);
                assert_eq!(got[4 * piece..][..words], expected, "{element:?} row {row} piece {piece}");
                assert_eq!(got[4 * piece + words..][..4 - words], [7, 7][..4 - words]);
            }
        }
    }
}

/// All lanes of the warp store a box of 128 x 1 elements, the odd ones from `apart` bytes further on.
const STORE: &str = "
.version 8.7
.target sm_120a
.address_size 64
.visible .entry k(.param .u64 map_, .param .u32 apart_)
{
	.reg .b32 %r<12>;
	.reg .b64 %l<6>;
	.shared .align 128 .b8 box[256];
	ld.param.u64 %l1, [map_];
	ld.param.u32 %r2, [apart_];
	mov.u32 %r1, %tid.x;
	mov.u32 %r3, box;
	mad.lo.u32 %r4, %r1, 4, %r3;
	mul.lo.u32 %r5, %r1, 0x04040404;
	add.u32 %r5, %r5, 0xc3824100;
	st.shared.u32 [%r4], %r5;
	st.shared.u32 [%r4+128], %r5;
	fence.proxy.async.shared::cta;
	bar.sync 0;
	and.b32 %r6, %r1, 1;
	mad.lo.u32 %r7, %r6, %r2, %r3;
	mov.u32 %r8, 0;
	cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%l1, {%r8, %r8}], [%r7];
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
	ret;
}
";

#[test]
fn a_warp_may_store_a_box_as_one() {
    let mut memory = memory();
    let tensor = upload_u32(&mut memory, "tensor", &[0; 48]);
    let map = upload_map(&mut memory, tensor, TensorType::U6Align16, ([128, 2], 96, [128, 1]));
    let launch = |apart: u32| Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(map).arg_u32(apart);
    let module = load(STORE);
    run_clean(&module, &mut memory, &launch(0));
    // The lower six bits of each byte, one behind the other.
    let code = |element: u32| (0xc382_4100_u32.wrapping_add(element / 4 * 0x0404_0404) >> (8 * (element % 4))) & 0x3f;
    let expected: Vec<u32> = (0..24)
        .map(|word| {
            (0..32).fold(0, |all, bit| all | (code((32 * word + bit) / 6) >> ((32 * word + bit) % 6) & 1) << bit)
        })
        .collect();
    let got = download_u32(&memory, tensor, 48);
    assert_eq!(got[..24], expected);
    assert_eq!(got[24..], [0; 24]);
    // From two places, two lanes write the same words.
    let outcome = run(&module, &mut memory, &launch(128));
    assert_eq!(kinds(&outcome), [ptx_emulator::FaultKind::Race], "{:?}", outcome.faults);
}
