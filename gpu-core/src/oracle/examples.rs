//! Examples worked by hand that need names, or outputs of several shapes.

use super::tests::Example;
use crate::formats::{Axis, Format, Layout, Packing, Part, ScaleType};

/// One f32 scale for each row.
pub(super) fn int8(shape: &[usize]) -> Layout {
    Layout {
        format: Format::Int8,
        shape: shape.to_vec(),
        row_bytes: shape.last().copied().unwrap_or(1),
        packing: Packing::LowFirst,
        group: shape.last().copied().unwrap_or(1),
        axis: Some(Axis::Last),
        scales: Some(Part { name: "scales".to_owned(), kind: ScaleType::F32, is_given: false }),
        zero_points: None,
        tensor_scale: None,
        is_exact: true,
    }
}

pub(super) fn all() -> Vec<Example> {
    [attention(), reductions(), norms(), softmax(), quantized(), moved()].into_iter().flatten().collect()
}

fn moved() -> Vec<Example> {
    vec![
        Example::of("aos_to_soa").input("records", &[3, 2], &[1.0, 10.0, 2.0, 20.0, 3.0, 30.0]).output(
            "y",
            &[2, 3],
            &[1.0, 2.0, 3.0, 10.0, 20.0, 30.0],
        ),
        Example::of("aos_to_soa")
            .input("records", &[3, 2], &[1.0, 10.0, 2.0, 20.0, 3.0, 30.0])
            .output("x", &[3], &[1.0, 2.0, 3.0])
            .output("y", &[3], &[10.0, 20.0, 30.0]),
    ]
}

fn reductions() -> Vec<Example> {
    vec![
        Example::of("argmax")
            .input("x", &[2, 3], &[3.0, 7.0, 7.0, f64::NAN, -2.0, -3.0])
            .output("index", &[2], &[1.0, 1.0])
            .output("value", &[2], &[7.0, -2.0]),
        Example::of("histogram").input("x", &[6], &[0.0, 3.0, 1.0, 3.0, 7.0, -1.0]).output(
            "counts",
            &[4],
            &[1.0, 1.0, 0.0, 2.0],
        ),
        Example::of("histogram").input("x", &[2, 2], &[0.0, 15.0, 16.0, 47.0]).scalar("bin_width", 16.0).output(
            "counts",
            &[2],
            &[2.0, 1.0],
        ),
        Example::of("row_stats")
            .input("x", &[1, 4], &[1.0, 2.0, 3.0, 6.0])
            .output("max", &[1], &[6.0])
            .output("min", &[1], &[1.0])
            .output("sum", &[1], &[12.0])
            .output("mean", &[1], &[3.0])
            .output("variance", &[1], &[3.5]),
        Example::of("row_sums").input("x", &[2, 3], &[1.0, 2.0, 3.0, -4.0, 5.0, 6.0]).output("y", &[2], &[6.0, 7.0]),
        Example::of("row_sums").input("x", &[3], &[1.0, 2.0, 3.0]).output("y", &[1], &[6.0]),
        Example::of("scan").input("x", &[2, 3], &[1.0, 2.0, 3.0, -1.0, 1.0, 4.0]).output(
            "y",
            &[2, 3],
            &[1.0, 3.0, 6.0, -1.0, 0.0, 4.0],
        ),
        Example::of("scan_exclusive").input("x", &[3], &[1.0, 2.0, 3.0]).output("y", &[3], &[0.0, 1.0, 3.0]),
    ]
}

/// One query with scores 0 and ln 3 for values 4 and 8: weights 1/4 and 3/4.
fn two_keys() -> Example {
    Example::of("attention")
        .input("q", &[1, 1], &[1.0])
        .input("k", &[2, 1], &[0.0, 3f64.ln()])
        .input("v", &[2, 1], &[4.0, 8.0])
        .scalar("scale", 1.0)
}

fn attention() -> Vec<Example> {
    let ln3 = 3f64.ln();
    vec![
        two_keys().output("out", &[1, 1], &[7.0]).output("lse", &[1], &[4f64.ln()]),
        // The first of two queries sees the first key only.
        Example::of("attention")
            .input("q", &[2, 1], &[1.0, 1.0])
            .input("k", &[2, 1], &[0.0, ln3])
            .input("v", &[2, 1], &[4.0, 8.0])
            .scalar("scale", 1.0)
            .scalar("causal", 1.0)
            .output("out", &[2, 1], &[4.0, 7.0])
            .output("lse", &[2], &[0.0, 4f64.ln()]),
        // Two query heads share a key head; the second has scores 0 and 2 ln 3. The other sequence has one key.
        Example::of("attention")
            .input("q", &[2, 2, 1, 1], &[1.0, 2.0, 1.0, 2.0])
            .input("k", &[2, 1, 2, 1], &[0.0, ln3, 5.0, 6.0])
            .input("v", &[2, 1, 2, 1], &[4.0, 8.0, -1.0, 100.0])
            .input("lengths", &[2], &[2.0, 1.0])
            .scalar("scale", 1.0)
            .output("out", &[2, 2, 1, 1], &[7.0, 7.6, -1.0, -1.0])
            .output("lse", &[2, 2, 1], &[4f64.ln(), 10f64.ln(), 5.0, 10.0]),
        two_keys().input("mask", &[1, 2], &[0.0, 1.0]).output("out", &[1, 1], &[8.0]).output("lse", &[1], &[ln3]),
        // Nothing to attend to.
        two_keys().input("mask", &[1, 2], &[0.0, 0.0]).output("out", &[1, 1], &[0.0]).output(
            "lse",
            &[1],
            &[f64::NEG_INFINITY],
        ),
        Example::of("attention_decode")
            .input("q", &[2, 1, 1], &[1.0, 1.0])
            .input("k", &[2, 2, 1, 1], &[0.0, ln3, 0.0, 9.0])
            .input("v", &[2, 2, 1, 1], &[4.0, 8.0, 5.0, 9.0])
            .input("lengths", &[2], &[2.0, 1.0])
            .output("out", &[2, 1, 1], &[7.0, 5.0])
            .output("lse", &[2, 1], &[4f64.ln(), 0.0]),
        // Pages of one key: the sequence is page 2, then page 0.
        Example::of("attention_decode")
            .input("q", &[1, 1, 1], &[1.0])
            .input("k", &[3, 1, 1, 1], &[ln3, 99.0, 0.0])
            .input("v", &[3, 1, 1, 1], &[8.0, 99.0, 4.0])
            .input("lengths", &[1], &[2.0])
            .input("page_table", &[1, 2], &[2.0, 0.0])
            .output("out", &[1, 1, 1], &[7.0]),
    ]
}

fn norms() -> Vec<Example> {
    vec![
        Example::of("layer_norm")
            .input("x", &[1, 2], &[1.0, 3.0])
            .input("weight", &[2], &[2.0, 10.0])
            .input("bias", &[2], &[1.0, 0.0])
            .scalar("epsilon", 0.0)
            .output("y", &[1, 2], &[-1.0, 10.0])
            .output("mean", &[1], &[2.0])
            .output("rstd", &[1], &[1.0]),
        Example::of("layer_norm").input("x", &[1, 2], &[0.0, 2.0]).scalar("epsilon", 3.0).output(
            "y",
            &[1, 2],
            &[-0.5, 0.5],
        ),
        Example::of("rms_norm")
            .input("x", &[1, 2], &[1.0, 7.0])
            .input("weight", &[2], &[5.0, 10.0])
            .scalar("epsilon", 0.0)
            .output("y", &[1, 2], &[1.0, 14.0])
            .output("rstd", &[1], &[0.2]),
    ]
}

fn softmax() -> Vec<Example> {
    let (ln3, none) = (3f64.ln(), f64::NEG_INFINITY);
    vec![
        Example::of("logsumexp").input("x", &[3, 2], &[1000.0, 1000.0 + ln3, none, none, 1.0, f64::INFINITY]).output(
            "y",
            &[3],
            &[1000.0 + 4f64.ln(), none, f64::INFINITY],
        ),
        Example::of("softmax").input("x", &[1, 2], &[0.0, ln3]).output("y", &[1, 2], &[0.25, 0.75]).output(
            "lse",
            &[1],
            &[4f64.ln()],
        ),
        // exp(-ln 2) * 1 + 3 = 3.5, and exp(ln 2) * 3.5 = 7; (0.5 * 10 + 2) / 3.5 = 2.
        Example::of("softmax_merge")
            .input("max", &[2, 1], &[0.0, 2f64.ln()])
            .input("sum", &[2, 1], &[1.0, 3.0])
            .input("values", &[2, 1, 1], &[10.0, 2.0])
            .output("out", &[1, 1], &[2.0])
            .output("lse", &[1], &[7f64.ln()])
            .output("max_out", &[1], &[2f64.ln()])
            .output("sum_out", &[1], &[3.5]),
        // A part that saw nothing.
        Example::of("softmax_merge").input("max", &[2, 1], &[1.0, none]).input("sum", &[2, 1], &[1.0, 0.0]).output(
            "lse",
            &[1],
            &[1.0],
        ),
    ]
}

fn quantized() -> Vec<Example> {
    vec![
        Example::of("dequantize").input("x", &[1, 2], &[2.0, -6.0]).stored_as(int8(&[1, 2])).output(
            "y",
            &[1, 2],
            &[2.0, -6.0],
        ),
        Example::of("matmul_quantized")
            .input("x", &[2], &[1.0, 10.0])
            .input("w", &[3, 2], &[1.0, 2.0, 3.0, 4.0, -5.0, 6.0])
            .stored_as(int8(&[3, 2]))
            .output("y", &[3], &[21.0, 43.0, 55.0]),
        Example::of("matmul_quantized")
            .input("x", &[2, 1], &[1.0, 10.0])
            .input("w", &[1, 1], &[3.0])
            .stored_as(int8(&[1, 1]))
            .input("bias", &[1], &[0.5])
            .output("y", &[2, 1], &[3.5, 30.5]),
        // By value the input itself belongs into the output.
        Example::of("quantize")
            .input("x", &[1, 3], &[2.54, -1.0, 0.0])
            .output("y", &[1, 3], &[2.54, -1.0, 0.0])
            .stored_as(int8(&[1, 3])),
    ]
}
