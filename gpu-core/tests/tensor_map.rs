//! Tensor maps as kernel parameters, from the exercise file to the emulated copy engine.

use gpu_core::compile::CompileReport;
use gpu_core::device::DeviceChoice;
use gpu_core::devices;
use gpu_core::judge::{self, CheckRequest};
use gpu_core::spec::Spec;
use std::sync::atomic::AtomicBool;

/// Copies a matrix box by box: one thread a block loads a box of 8 rows and 16 columns, waits, and stores it.
const PTX: &str = "\
.version 8.0
.target sm_90
.address_size 64
.visible .entry boxes(.param .align 64 .b8 from[128], .param .align 64 .b8 to[128], .param .u64 y, .param .u64 x)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    .shared .align 128 .b8 tile[512];
    .shared .align 8 .b64 bar;
    mov.b64 %rd1, from;
    cvta.param.u64 %rd2, %rd1;
    mov.b64 %rd3, to;
    cvta.param.u64 %rd4, %rd3;
    mov.u32 %r1, %ctaid.x;
    shl.b32 %r1, %r1, 4;
    mov.u32 %r2, %ctaid.y;
    shl.b32 %r2, %r2, 3;
    mov.u32 %r3, tile;
    mov.u32 %r4, bar;
    mbarrier.init.shared.b64 [%r4], 1;
    fence.mbarrier_init.release.cluster;
    fence.proxy.async;
    mbarrier.arrive.expect_tx.shared.b64 %rd5, [%r4], 512;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd2, {%r1, %r2}], [%r4];
$wait:
    mbarrier.try_wait.parity.shared.b64 %p1, [%r4], 0;
    @!%p1 bra $wait;
    fence.proxy.async;
    cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd4, {%r1, %r2}], [%r3];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    ret;
}
";

fn spec(columns: &str, map: &str) -> String {
    format!(
        r#"
title = "Copy by boxes"
entry = "boxes"
oracle = "copy"
requires = "sm_90"

[[param]]
name = "from"
tensor_map = {{ of = "x", box = [8, 16]{map} }}

[[param]]
name = "to"
tensor_map = {{ of = "y", box = [8, 16] }}

[[param]]
name = "y"
dtype = "f32"
shape = ["m", "{columns}"]
role = "out"

[[param]]
name = "x"
dtype = "f32"
shape = ["m", "{columns}"]

[launch]
grid = ["ceil_div({columns}, 16)", "ceil_div(m, 8)"]
block = [1]

[tolerance]
absolute = 0.0
relative = 0.0
reason = "A copy is exact."

[sizes]
check = [{{ m = 8, n = 16 }}, {{ m = 13, n = 20 }}, {{ m = 40, n = 100 }}]
"#
    )
}

#[test]
fn boxes_arrive_and_leave_also_where_they_hang_over_the_edge() {
    passes(&spec("n", ""), PTX);
}

#[test]
fn a_tensor_that_no_map_can_describe_gives_zeros_not_an_error() {
    let spec = Spec::parse(&spec("n + 1", ""), "spec.toml").unwrap_or_else(|error| panic!("{error}"));
    let resolved = spec.resolve(&spec.check[0]).expect("resolves");
    let maps: Vec<bool> = resolved
        .params
        .iter()
        .filter_map(|param| match param {
            gpu_core::spec::ResolvedParam::TensorMap(map) => Some(map.is_usable()),
            _ => None,
        })
        .collect();
    assert_eq!(maps, [false, false], "17 floats a row are 68 bytes");
}

#[test]
fn mistakes_in_a_map_are_named_with_their_key() {
    let cases = [
        (", swizzle = 48", "0, 32, 64 or 128"),
        (", swizzle = 32", "does not fit the swizzle"),
        (", shape = [\"m\"]", "2 extents for a tensor of 1 dimensions"),
        (", shape = [\"2 * m\", \"n\"]", "the view reaches element"),
        (", strides = [\"n\", 1]", "one fewer is wanted"),
        (", swizel = 128", "swizel"),
        (", l2_promotion = 32", "0, 64, 128 or 256"),
        (", elements = \"u5\"", "one of `u4`, `u4_unpacked`, `u6_unpacked`"),
        (", elements = \"u4\"", "elements of 4 bits lie in a buffer of u8; `x` is f32"),
        (", element_strides = [1]", "1 steps for a tensor of 2 dimensions"),
    ];
    for (map, part) in cases {
        let error = Spec::parse(&spec("n", map), "spec.toml").expect_err(map).to_string();
        assert!(error.contains(part), "{map}: {error}");
    }
    let unknown = spec("n", "").replace("of = \"x\"", "of = \"z\"");
    let error = Spec::parse(&unknown, "spec.toml").expect_err("no buffer z").to_string();
    assert!(error.contains("no buffer is called `z`"), "{error}");
    let halves = spec("n", ", tf32 = true").replace("\"f32\"", "\"f16\"");
    let error = Spec::parse(&halves, "spec.toml").expect_err("halves are not rounded to tf32").to_string();
    assert!(error.contains("only f32 is rounded to tf32; `x` is f16"), "{error}");
}

fn passes(spec: &str, ptx: &str) {
    let spec = Spec::parse(spec, "spec.toml").unwrap_or_else(|error| panic!("{error}"));
    let mut emulator = devices::open(&DeviceChoice::Emulator).expect("always there");
    let compiled =
        CompileReport { succeeded: true, arch: "sm_90".to_owned(), ptx: ptx.to_owned(), ..CompileReport::default() };
    let request = CheckRequest::default();
    let verdict = judge::check(emulator.as_mut(), &compiled, &spec, &request, &mut |_| {}, &AtomicBool::new(false))
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(verdict.passed, "{}", verdict.summary);
}

/// A box of 8 rows and 32 elements of four bits is 128 bytes; where nothing else is said, a row of the tensor has twice as many
/// elements as its buffer has bytes.
#[test]
fn elements_of_four_bits_are_counted_two_a_byte() {
    let map = "elements = \"u4\", l2_promotion = 128";
    let text = spec("16 * n", &format!(", {map}"))
        .replace(
            "tensor_map = { of = \"y\", box = [8, 16] }",
            &format!("tensor_map = {{ of = \"y\", box = [8, 16], {map} }}"),
        )
        .replace("box = [8, 16]", "box = [8, 32]")
        .replace("\"f32\"", "\"u8\"");
    let ptx = PTX.replace("512", "128").replace("shl.b32 %r1, %r1, 4;", "shl.b32 %r1, %r1, 5;");
    passes(&text, &ptx);
}

/// Every second row and column: the copy's box is as large as before, and comes from four times as much.
#[test]
fn steps_between_elements_are_taken() {
    let text = spec("n", ", element_strides = [1, 1]");
    passes(&text, PTX);
    let wide = Spec::parse(&spec("n", ", element_strides = [1, 4]"), "spec.toml").expect("a map");
    let resolved = wide.resolve(&wide.check[0]).expect("resolves");
    let steps = resolved.params.iter().find_map(|param| match param {
        gpu_core::spec::ResolvedParam::TensorMap(map) if map.name == "from" => Some(map.element_strides.clone()),
        _ => None,
    });
    assert_eq!(steps, Some(vec![4, 1]), "innermost first, as CUDA wants it");
}

/// The tolerance is zero, so the copy is wrong exactly where a float had more than the 10 bits.
#[test]
fn a_map_of_tf32_rounds_what_it_loads() {
    let spec = Spec::parse(&spec("n", ", tf32 = true"), "spec.toml").unwrap_or_else(|error| panic!("{error}"));
    let compiled =
        CompileReport { succeeded: true, arch: "sm_90".to_owned(), ptx: PTX.to_owned(), ..CompileReport::default() };
    let mut emulator = devices::open(&DeviceChoice::Emulator).expect("always there");
    let judged = |spec: &Spec, emulator: &mut dyn gpu_core::device::Device| {
        judge::check(emulator, &compiled, spec, &CheckRequest::default(), &mut |_| {}, &AtomicBool::new(false))
            .unwrap_or_else(|error| panic!("{error}"))
    };
    let exact = judged(&spec, emulator.as_mut());
    assert!(!exact.passed, "{}", exact.summary);
    // Half a unit in the tenth place of the fraction, and of no less than that.
    let mut rounded = spec.clone();
    rounded.tolerance.relative = 2f64.powi(-11);
    let rounded = judged(&rounded, emulator.as_mut());
    assert!(rounded.passed, "{}", rounded.summary);
}
