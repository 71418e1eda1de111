//! Layouts for the pictures of quantization: the judge's own quantizers, without buffers of a kernel.

use gpu_core::formats::{Axis, Format, Layout, Packing, Part, ScaleType};

/// Which elements share a scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    Tensor,
    Row,
    /// So many neighbours of a row.
    Group(usize),
}

/// A buffer beside the codes, without a name.
pub fn part<T>(kind: T) -> Part<T> {
    Part { name: String::new(), kind, is_given: false }
}

/// Codes with one fp32 scale for each group. Of the block formats only their e2m1 codes are taken.
pub fn scaled(format: Format, rows: usize, columns: usize, share: Share) -> Layout {
    let group = match share {
        Share::Group(group) => group.max(1),
        Share::Row | Share::Tensor => columns,
    };
    Layout {
        format,
        shape: vec![rows, columns],
        row_bytes: Layout::least_row_bytes(format, columns),
        packing: Packing::LowFirst,
        group,
        axis: (share != Share::Tensor).then_some(Axis::Last),
        scales: Some(part(ScaleType::F32)),
        zero_points: None,
        tensor_scale: None,
        is_exact: false,
    }
}

/// Blocks of 16 with an e4m3 scale each, and one fp32 scale for the tensor.
pub fn nvfp4(rows: usize, columns: usize) -> Layout {
    let scales = Some(part(ScaleType::E4m3));
    Layout { scales, tensor_scale: Some(part(())), ..scaled(Format::Nvfp4, rows, columns, Share::Group(16)) }
}

/// Blocks of 32 with a power of two each.
pub fn mxfp4(rows: usize, columns: usize) -> Layout {
    Layout { scales: Some(part(ScaleType::Ue8m0)), ..scaled(Format::Mxfp4, rows, columns, Share::Group(32)) }
}

/// Names that the pictures use.
pub fn name(format: Format) -> &'static str {
    match format {
        Format::Int8 => "INT8",
        Format::Int4 => "INT4",
        Format::Uint4 => "UINT4",
        Format::E4m3 => "e4m3",
        Format::E5m2 => "e5m2",
        Format::Nvfp4 | Format::Mxfp4 => "e2m1",
    }
}

/// Bits an element takes with its share of a scale of `scale_bits`.
pub fn bits_each(layout: &Layout, scale_bits: usize) -> f64 {
    layout.format.element().bits() as f64 + (layout.groups() * scale_bits) as f64 / layout.elements().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu_core::formats::Given;

    #[test]
    fn smaller_groups_have_more_scales_and_finer_steps() {
        let values: Vec<f64> = (0..64).map(|at| f64::from(at - 20) * if at < 32 { 0.01 } else { 1.0 }).collect();
        let error = |share| {
            let layout = scaled(Format::Int4, 2, 32, share);
            let stored = layout.decode(&layout.quantize(&values, &Given::default()).stored);
            let squares: f64 = values.iter().zip(&stored).map(|(x, q)| (x - q).powi(2)).sum();
            (layout.groups(), squares)
        };
        let (tensor, row, group) = (error(Share::Tensor), error(Share::Row), error(Share::Group(8)));
        assert_eq!((tensor.0, row.0, group.0), (1, 2, 8));
        assert!(tensor.1 > row.1 && row.1 > group.1);
    }

    #[test]
    fn a_value_costs_four_and_a_half_bits_in_nvfp4() {
        assert_eq!(bits_each(&nvfp4(4, 16), 8), 4.5);
        assert_eq!(bits_each(&mxfp4(1, 32), 8), 4.25);
        assert_eq!(bits_each(&scaled(Format::Int4, 1, 128, Share::Group(128)), 16), 4.125);
    }
}
