//! Values to codes and scales, step by step in f32 as a kernel does it: a division is IEEE's, a product rounds once.
//!
//! | Format | Scale of a group | Code |
//! |---|---|---|
//! | e4m3, e5m2 | `amax / largest` | `x / scale`, nearest even, saturating |
//! | int8, int4 | `amax / 127` or `/ 7` | `rint(x / scale)` |
//! | with zero points | `(max - min) / steps`, both with 0 | `rint(x / scale) + zero`, `zero = rint(least - min / scale)` |
//! | NVFP4 | `e4m3((amax / 6) / tensor scale)`, tensor scale `amax of all / (6 * 448)` | `x / (scale * tensor scale)` |
//! | MXFP4 | `2^(floor(log2 amax) - 2)` | `x / scale` |
//!
//! A group whose scale is 0 has the code of 0 throughout. Without a scales buffer the scale is 1.

use super::element::{Element, Rounding, ue8m0_of_amax, ue8m0_value};
use super::layout::{Format, Layout, ScaleType, Stored};

/// Scales that a quantizer is given instead of finding them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Given<'a> {
    /// One a group, in order.
    pub scales: Option<&'a [f64]>,
    pub zero_points: Option<&'a [f64]>,
    pub tensor_scale: Option<f64>,
}

/// A quantized tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantized {
    pub stored: Stored,
    /// For each element the distance of the two values between which it lay.
    pub steps: Vec<f64>,
}

/// What the elements of a group have in common.
#[derive(Clone, Copy)]
struct Group {
    /// Largest magnitude, least and greatest value; the latter two reach to 0.
    amax: f32,
    least: f32,
    greatest: f32,
    scale: f32,
    zero: f32,
}

impl Layout {
    /// Quantizes with rounding to nearest even.
    pub fn quantize(&self, values: &[f64], given: &Given<'_>) -> Quantized {
        self.quantize_with(values, given, || Rounding::NearestEven)
    }

    /// Quantizes; `rounding` is asked once an element, in order. Values are rounded to f32 first.
    pub fn quantize_with(
        &self,
        values: &[f64],
        given: &Given<'_>,
        mut rounding: impl FnMut() -> Rounding,
    ) -> Quantized {
        let element = self.format.element();
        let nothing = Group { amax: 0.0, least: 0.0, greatest: 0.0, scale: 1.0, zero: 0.0 };
        let mut groups = vec![nothing; self.groups()];
        let mut amax_of_all = 0.0_f32;
        for (index, value) in values.iter().enumerate() {
            let (value, group) = (*value as f32, &mut groups[self.group_of(index)]);
            // As fmaxf and fminf: of a number and a NaN the number.
            group.amax = group.amax.max(value.abs());
            group.least = group.least.min(value);
            group.greatest = group.greatest.max(value);
            amax_of_all = amax_of_all.max(value.abs());
        }
        let tensor_scale = match (&self.tensor_scale, given.tensor_scale) {
            (_, Some(given)) => given as f32,
            (None, None) => 1.0,
            (Some(_), None) => self.tensor_scale_of(amax_of_all),
        };
        let mut stored = Stored { codes: vec![0; self.rows() * self.row_bytes], ..Stored::default() };
        for (index, group) in groups.iter_mut().enumerate() {
            self.settle(group, tensor_scale, given, index);
            if let Some(part) = &self.scales {
                part.kind.push(f64::from(group.scale), &mut stored.scales);
            }
            if let Some(part) = &self.zero_points {
                let at = stored.zero_points.len();
                stored.zero_points.resize(at + part.kind.bytes(), 0);
                part.kind.encode(f64::from(group.zero), &mut stored.zero_points[at..]);
            }
        }
        if self.tensor_scale.is_some() {
            stored.tensor_scale = tensor_scale.to_le_bytes().to_vec();
        }
        let mut steps = Vec::with_capacity(values.len());
        for (index, value) in values.iter().enumerate() {
            let group = &groups[self.group_of(index)];
            let factor = group.scale * tensor_scale;
            let (code, step) = code_of(element, *value as f32, factor, group.zero, rounding());
            self.put(&mut stored, index, code);
            steps.push(step * f64::from(factor));
        }
        Quantized { stored, steps }
    }

    /// What makes the largest element of the largest block just fit.
    fn tensor_scale_of(&self, amax: f32) -> f32 {
        let greatest = self.format.element().range().1 as f32;
        match self.format {
            Format::Nvfp4 => amax / (greatest * 448.0),
            // Other scales reach as far as f32 does.
            _ => 1.0,
        }
    }

    /// The scale and zero point of a group as they are stored.
    fn settle(&self, group: &mut Group, tensor_scale: f32, given: &Given<'_>, index: usize) {
        let (lowest, highest) = self.format.element().range();
        let (lowest, highest) = (lowest as f32, highest as f32);
        let is_asymmetric = self.zero_points.is_some();
        if let Some(scales) = given.scales {
            group.scale = scales.get(index).copied().unwrap_or(1.0) as f32;
        } else if let Some(part) = &self.scales {
            let scale = match part.kind {
                ScaleType::Ue8m0 => ue8m0_value(ue8m0_of_amax(f64::from(group.amax), self.format.element())) as f32,
                ScaleType::E4m3 if tensor_scale == 0.0 => 0.0,
                ScaleType::E4m3 => group.amax / highest / tensor_scale,
                _ if is_asymmetric => (group.greatest - group.least) / (highest - lowest),
                _ => group.amax / highest,
            };
            let mut bytes = Vec::new();
            part.kind.push(f64::from(scale), &mut bytes);
            group.scale = part.kind.decode(&bytes) as f32;
        }
        if let Some(zeros) = given.zero_points {
            group.zero = zeros.get(index).copied().unwrap_or(0.0) as f32;
        } else if is_asymmetric {
            let below = if group.scale == 0.0 { 0.0 } else { group.least / group.scale };
            group.zero = (lowest - below).round_ties_even().clamp(lowest, highest);
        }
    }

    /// Stores an element's code.
    fn put(&self, stored: &mut Stored, element: usize, code: u8) {
        let (byte, shift) = self.place_of(element);
        stored.codes[byte] |= code << shift;
    }
}

/// A code, and the distance of its neighbours before scaling.
fn code_of(element: Element, value: f32, factor: f32, zero: f32, rounding: Rounding) -> (u8, f64) {
    if factor == 0.0 {
        return (element.encode(f64::from(zero), Rounding::NearestEven), 0.0);
    }
    let scaled = f64::from(value / factor);
    if zero == 0.0 {
        return (element.encode(scaled, rounding), element.step(scaled));
    }
    let whole = match rounding {
        Rounding::NearestEven => scaled.round_ties_even(),
        Rounding::Stochastic(random) => {
            let from = scaled.trunc();
            from + if (scaled - from).abs() > random { scaled.signum() } else { 0.0 }
        }
    };
    (element.encode(whole + f64::from(zero), Rounding::NearestEven), 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::layout::tests::{layout, part};
    use super::super::layout::{Axis, Packing};
    use super::*;
    use crate::formats::Dtype;
    use rand::{Rng, SeedableRng, rngs::SmallRng};
    use rand_distr::{Distribution, StandardNormal, StudentT};

    fn quantize(of: &Layout, values: &[f64]) -> (Stored, Vec<f64>) {
        let stored = of.quantize(values, &Given::default()).stored;
        let decoded = of.decode(&stored);
        (stored, decoded)
    }

    #[test]
    fn small_examples_are_as_worked_by_hand() {
        // int8: amax 2.54, scale 0.02; 1.27 / 0.02 = 63.5 goes to the even 64.
        let (stored, _) = quantize(&layout(Format::Int8, &[1, 3]), &[2.54, -1.0, 0.0]);
        assert_eq!(stored.codes, [127, (-50_i8) as u8, 0]);
        assert_eq!(stored.scales, (2.54f32 / 127.0).to_le_bytes());
        // int4: amax 7, so scale 1: 2.5 goes to 2, 3.5 to 4, low nibble first.
        let (stored, _) = quantize(&layout(Format::Int4, &[1, 4]), &[2.5, 3.5, -7.0, 0.4]);
        assert_eq!(stored.codes, [0x42, 0x09]);
        // uint4 with a zero point: -1 to 2 in 15 steps of 0.2, zero at 5.
        let mut of = layout(Format::Uint4, &[1, 4]);
        of.zero_points = Some(part(Dtype::U8));
        let (stored, decoded) = quantize(&of, &[-1.0, 2.0, 0.0, 0.61]);
        assert_eq!((stored.codes.as_slice(), stored.zero_points.as_slice()), (&[0xf0_u8, 0x85][..], &[5_u8][..]));
        assert!((decoded[3] - 0.6).abs() < 1e-6);
        // e4m3 per tensor: 448 / 448 is scale 1.
        let mut of = layout(Format::E4m3, &[2, 2]);
        of.axis = None;
        let (stored, decoded) = quantize(&of, &[448.0, 17.0, -0.9, 0.0]);
        assert_eq!(stored.scales, 1.0f32.to_le_bytes());
        assert_eq!(decoded, [448.0, 16.0, -0.875, 0.0], "17 lies between 16 and 18, and goes to the even one");
    }

    #[test]
    fn nvfp4_follows_the_recipe() {
        let mut of = layout(Format::Nvfp4, &[1, 32]);
        of.tensor_scale = Some(part(()));
        let mut values = vec![0.0; 32];
        (values[0], values[1], values[16]) = (2688.0, -1344.0, 6.0);
        let (stored, decoded) = quantize(&of, &values);
        // amax 2688 = 6 * 448: tensor scale 1, block scales 448 and 1.
        assert_eq!(stored.tensor_scale, 1.0f32.to_le_bytes());
        assert_eq!(stored.scales, [0x7e, 0x38]);
        assert_eq!(stored.codes[0], 0xd7, "6 is 7, and -3 is 5 with the sign, in the high nibble");
        assert_eq!((decoded[0], decoded[1], decoded[16]), (2688.0, -1344.0, 6.0));
        // Without the tensor's scale the blocks' scales reach as far as e4m3 does.
        of.tensor_scale = None;
        assert_eq!(quantize(&of, &values).0.scales, [0x7e, 0x38]);
        let (stored, decoded) = quantize(&of, &[0.0; 32]);
        assert_eq!((stored.scales, stored.codes), (vec![0, 0], vec![0; 16]), "a block of zeros has scale 0");
        assert!(decoded.iter().all(|x| *x == 0.0));
    }

    #[test]
    fn mxfp4_follows_the_ocp_recipe() {
        let of = layout(Format::Mxfp4, &[1, 32]);
        let mut values = vec![0.0; 32];
        (values[0], values[1]) = (7.0, 0.7);
        let (stored, decoded) = quantize(&of, &values);
        // floor(log2 7) = 2, less 2: scale 1; 7 saturates at 6, 0.7 goes to 0.5.
        assert_eq!((stored.scales.as_slice(), stored.codes[0]), (&[127_u8][..], 0x17));
        assert_eq!((decoded[0], decoded[1]), (6.0, 0.5));
        let (stored, _) = quantize(&of, &[0.0; 32]);
        assert_eq!(stored.scales, [0]);
        values[5] = f64::INFINITY;
        assert!(quantize(&of, &values).1.iter().all(|x| x.is_nan()), "an infinity spoils its block, visibly");
    }

    #[test]
    fn special_values_do_not_spread() {
        let of = layout(Format::Int8, &[2, 2]);
        let (stored, decoded) = quantize(&of, &[f64::NAN, 1.27, 1.0, 0.0]);
        assert_eq!(stored.codes[..2], [0, 127], "NaN is 0 among whole numbers, and no part of the largest magnitude");
        assert!((decoded[1] - 1.27).abs() < 1e-6);
        let (stored, _) = quantize(&layout(Format::E4m3, &[1, 2]), &[f64::NAN, 2.0]);
        assert_eq!(stored.codes[0] & 0x7f, 0x7f);
        let (_, decoded) = quantize(&of, &[0.0; 4]);
        assert_eq!(decoded, [0.0; 4]);
    }

    #[test]
    fn given_scales_are_used_as_they_are() {
        let of = layout(Format::Int8, &[2, 1]);
        let given = Given { scales: Some(&[0.5, 2.0]), ..Given::default() };
        let of_given = of.quantize(&[3.0, 3.0], &given);
        assert_eq!((of_given.stored.codes.as_slice(), of_given.steps.as_slice()), (&[6_u8, 2][..], &[0.5, 2.0][..]));
    }

    /// Signal to quantization noise in dB.
    fn sqnr(of: &Layout, values: &[f64]) -> f64 {
        let (_, decoded) = quantize(of, values);
        let noise: f64 = values.iter().zip(&decoded).map(|(x, q)| (x - q).powi(2)).sum();
        10.0 * (values.iter().map(|x| x * x).sum::<f64>() / noise).log10()
    }

    #[test]
    fn the_signal_to_noise_ratios_are_those_of_an_independent_implementation() {
        // Measured with PyTorch on 2^20 numbers, November 2026; the sample here is a quarter of that.
        let shape = [256, 1024];
        let mut random = SmallRng::seed_from_u64(1);
        let normal: Vec<f64> = (0..shape[0] * shape[1]).map(|_| StandardNormal.sample(&mut random)).collect();
        let student = StudentT::new(4.0).expect("positive degrees of freedom");
        let heavy: Vec<f64> = (0..shape[0] * shape[1]).map(|_| student.sample(&mut random)).collect();
        let groups = |format: Format, group: usize, asymmetric: bool| {
            let mut of = layout(format, &shape);
            of.group = group;
            of.zero_points = asymmetric.then(|| part(Dtype::U8));
            of
        };
        let per_tensor = |format: Format| Layout { axis: None, ..layout(format, &shape) };
        let mut nvfp4 = layout(Format::Nvfp4, &shape);
        nvfp4.tensor_scale = Some(part(()));
        for (name, of, of_normal, of_heavy, within) in [
            ("e4m3 per tensor", per_tensor(Format::E4m3), 31.5, 31.6, 0.2),
            ("e5m2 per tensor", per_tensor(Format::E5m2), 25.6, 25.6, 0.2),
            ("int8 in groups of 128", groups(Format::Int8, 128, false), 43.8, 39.3, 0.4),
            ("nvfp4", nvfp4, 20.4, 20.7, 0.3),
            ("mxfp4", layout(Format::Mxfp4, &shape), 18.8, 17.6, 0.4),
            ("int4 in groups of 128", groups(Format::Int4, 128, false), 18.6, 14.3, 0.5),
            ("uint4 with zero points", groups(Format::Uint4, 128, true), 20.0, 16.8, 0.6),
        ] {
            let got = (sqnr(&of, &normal), sqnr(&of, &heavy));
            let near = (got.0 - of_normal).abs() < within && (got.1 - of_heavy).abs() < within;
            assert!(near, "{name}: {got:.1?} dB, not {of_normal} and {of_heavy}");
        }
    }

    #[test]
    fn every_layout_decodes_to_within_half_a_step() {
        let mut random = SmallRng::seed_from_u64(2);
        for (_, format) in Format::ALL {
            for shape in [vec![1, 1], vec![3, 7], vec![2, 3, 33], vec![2, 2, 2, 16]] {
                for axis in [None, Some(Axis::Last), Some(Axis::First)] {
                    let mut of = Layout { axis, group: 2, packing: Packing::HighFirst, ..layout(format, &shape) };
                    if format.block().is_none() {
                        of.scales = Some(part(ScaleType::F32));
                        of.zero_points = format.may_have_zero_points().then(|| part(Dtype::I32));
                    }
                    let values: Vec<f64> =
                        (0..of.elements()).map(|_| f64::from(random.random_range(-3.0f32..3.0))).collect();
                    let quantized = of.quantize(&values, &Given::default());
                    let decoded = of.decode(&quantized.stored);
                    for (index, (value, got)) in values.iter().zip(&decoded).enumerate() {
                        // Scales of few bits may leave the largest out of reach.
                        let slack = if format.block().is_some() { 2.1 } else { 0.501 };
                        let miss = (value - got).abs();
                        assert!(miss <= slack * quantized.steps[index] + 1e-6, "{format:?} {shape:?} {axis:?}: {miss}");
                        assert_eq!(*got, of.value_at(&quantized.stored, index));
                    }
                }
            }
        }
    }
}
