//! Inputs that are more than independent numbers: permutations, page tables, ragged lengths, outliers, ties.

use super::inputs::mix;
use crate::formats::{Element, Rounding};
use crate::judge::metric::ulp;
use crate::spec::{Dtype, ResolvedFill, TieFormat};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng, rngs::SmallRng};
use rand_distr::{Distribution, StandardNormal, StudentT};

/// Fills a whole buffer whose elements depend on each other. False for the other fills.
pub(super) fn fill_whole(rule: &ResolvedFill, dtype: Dtype, shape: &[u64], seed: u64, bytes: &mut [u8]) -> bool {
    let size = dtype.bytes();
    let columns = shape.last().map_or(1, |columns| *columns as usize).max(1);
    let mut random = SmallRng::seed_from_u64(mix(seed, 0));
    let mut put = |values: &mut dyn Iterator<Item = i64>| {
        bytes.chunks_exact_mut(size).zip(values).for_each(|(out, value)| dtype.encode_integer(value, out));
    };
    let count = shape.iter().product::<u64>() as usize;
    match rule {
        // Each row one of its own.
        ResolvedFill::Permutation => {
            let mut row: Vec<i64> = (0..columns as i64).collect();
            let rows = count / columns;
            let mut all = Vec::with_capacity(count);
            for _ in 0..rows {
                row.shuffle(&mut random);
                all.extend_from_slice(&row);
            }
            put(&mut all.into_iter());
        }
        ResolvedFill::Pages { pages } => {
            let mut all: Vec<i64> = (0..*pages).collect();
            all.shuffle(&mut random);
            put(&mut all.into_iter());
        }
        ResolvedFill::Lengths { low, high } => {
            let mut all: Vec<i64> = (0..count).map(|_| random.random_range(*low..=*high)).collect();
            // Both ends occur: they are where mistakes show.
            if let Some(last) = all.last_mut() {
                *last = *low;
            }
            if let Some(first) = all.first_mut() {
                *first = *high;
            }
            put(&mut all.into_iter());
        }
        ResolvedFill::PrefixSums { total } => {
            let mut all: Vec<i64> = (0..count).map(|_| random.random_range(0..=*total)).collect();
            if let Some(last) = all.last_mut() {
                *last = *total;
            }
            if let Some(first) = all.first_mut() {
                *first = 0;
            }
            all.sort_unstable();
            put(&mut all.into_iter());
        }
        ResolvedFill::OneHot => {
            let hot: Vec<usize> = (0..count / columns).map(|_| random.random_range(0..columns)).collect();
            put(&mut (0..count).map(|at| i64::from(hot[at / columns] == at % columns)));
        }
        _ => return false,
    }
    true
}

/// Columns that hold outliers, in order.
pub(super) fn outlier_columns(channels: u64, columns: u64, seed: u64) -> Vec<u64> {
    let mut random = SmallRng::seed_from_u64(mix(seed, u64::MAX));
    let mut chosen = std::collections::BTreeSet::new();
    while (chosen.len() as u64) < channels.min(columns) {
        chosen.insert(random.random_range(0..columns));
    }
    chosen.into_iter().collect()
}

/// Fills a part of a buffer with independent numbers. `first` is the number of its first element.
pub(super) fn fill_part(
    rule: &ResolvedFill,
    dtype: Dtype,
    columns: u64,
    seed: u64,
    first: usize,
    random: &mut SmallRng,
    chunk: &mut [u8],
) {
    let elements = chunk.chunks_exact_mut(dtype.bytes());
    let normal = |random: &mut SmallRng| -> f64 { StandardNormal.sample(random) };
    match rule {
        ResolvedFill::Outliers { std, channels, factor } => {
            let columns = columns.max(1);
            let large = outlier_columns(*channels, columns, seed);
            for (at, out) in elements.enumerate() {
                let is_large = large.binary_search(&((first + at) as u64 % columns)).is_ok();
                dtype.encode(std * normal(random) * if is_large { *factor } else { 1.0 }, out);
            }
        }
        ResolvedFill::Mask { density } => {
            elements.for_each(|out| dtype.encode_integer(i64::from(random.random::<f64>() < *density), out));
        }
        ResolvedFill::StudentT { df, scale } => {
            let Ok(distribution) = StudentT::new(*df) else { return };
            elements.for_each(|out| dtype.encode(scale * distribution.sample(random), out));
        }
        ResolvedFill::Special { is_normal, inf, nan, zero } => elements.for_each(|out| {
            let draw = random.random::<f64>();
            let value = match draw {
                draw if draw < *inf => f64::INFINITY.copysign(normal(random)),
                draw if draw < inf + nan => f64::NAN,
                draw if draw < inf + nan + zero => 0.0_f64.copysign(normal(random)),
                _ if *is_normal => normal(random),
                _ => random.random::<f64>(),
            };
            dtype.encode(value, out);
        }),
        ResolvedFill::Ties { format } => {
            elements.enumerate().for_each(|(at, out)| dtype.encode(tie(*format, first + at, random), out));
        }
        ResolvedFill::File { values } if !values.is_empty() => {
            elements.enumerate().for_each(|(at, out)| dtype.encode(values[(first + at) % values.len()], out));
        }
        _ => {}
    }
}

/// A number half way between two of a format. Every 16th is the format's largest, so that the scale of a group that
/// begins there is 1 and the ties stay ties.
fn tie(format: TieFormat, index: usize, random: &mut SmallRng) -> f64 {
    let sign = if random.random::<bool>() { 1.0 } else { -1.0 };
    match format {
        TieFormat::F16 | TieFormat::Bf16 => {
            let dtype = if format == TieFormat::F16 { Dtype::F16 } else { Dtype::Bf16 };
            let mut bytes = [0; 2];
            dtype.encode(4.0 * random.random::<f64>(), &mut bytes);
            let value = dtype.decode(&bytes);
            sign * (value + ulp(dtype, value) / 2.0)
        }
        TieFormat::Codes(format) => {
            let element = format.element();
            let (least, greatest) = element.range();
            // Of symmetric whole numbers the scale comes from the largest one.
            if index.is_multiple_of(16) {
                return greatest;
            }
            let sign = if least == 0.0 { 1.0 } else { sign };
            // Codes evenly, so that small values and subnormals occur as often as large ones.
            let code = random.random_range(0..1_u32 << element.bits()) as u8;
            let value = element.decode(code).abs();
            let value = if value.is_finite() && value < greatest { value } else { 0.0 };
            sign * (value + next_step(element, value) / 2.0)
        }
    }
}

/// Distance to the next larger value.
fn next_step(element: Element, value: f64) -> f64 {
    debug_assert_eq!(element.decode(element.encode(value, Rounding::NearestEven)), value);
    element.step(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::inputs;
    use crate::spec::{ResolvedBuffer, Role};
    use std::sync::Arc;

    fn values(dtype: Dtype, shape: &[u64], fill: ResolvedFill) -> Vec<f64> {
        let elements = shape.iter().product();
        let buffer = ResolvedBuffer {
            name: "x".into(),
            dtype,
            shape: shape.to_vec(),
            elements,
            role: Role::In,
            max_bytes: None,
            fill: Some(fill),
        };
        let bytes = inputs::fill(&buffer, 7);
        assert_eq!(bytes, inputs::fill(&buffer, 7), "the same seed gives the same bytes");
        dtype.decode_all(&bytes)
    }

    #[test]
    fn tables_and_lengths_are_what_they_say() {
        let rows = values(Dtype::I32, &[3, 50], ResolvedFill::Permutation);
        for row in rows.chunks(50) {
            let mut sorted = row.to_vec();
            sorted.sort_by(f64::total_cmp);
            assert_eq!(sorted, (0..50).map(f64::from).collect::<Vec<_>>());
        }
        assert_ne!(rows[..50], rows[50..100]);
        let mut pages = values(Dtype::I32, &[4, 8], ResolvedFill::Pages { pages: 40 });
        pages.sort_by(f64::total_cmp);
        pages.dedup();
        assert!(pages.len() == 32 && pages.iter().all(|page| (0.0..40.0).contains(page)), "no page twice");
        let lengths = values(Dtype::I32, &[20], ResolvedFill::Lengths { low: 3, high: 9 });
        assert!(lengths.iter().all(|length| (3.0..=9.0).contains(length)));
        assert_eq!((lengths[0], lengths[19]), (9.0, 3.0));
        let sums = values(Dtype::I32, &[33], ResolvedFill::PrefixSums { total: 100 });
        assert!(sums.windows(2).all(|pair| pair[0] <= pair[1]));
        assert_eq!((sums[0], sums[32]), (0.0, 100.0));
        let hot = values(Dtype::F32, &[10, 7], ResolvedFill::OneHot);
        assert!(hot.chunks(7).all(|row| row.iter().sum::<f64>() == 1.0 && row.contains(&1.0)));
    }

    #[test]
    fn distributions_are_what_they_say() {
        let large = ResolvedFill::Outliers { std: 1.0, channels: 2, factor: 30.0 };
        let x = values(Dtype::F32, &[4000, 16], large);
        let deviation = |column: usize| {
            let squares = x.iter().skip(column).step_by(16).map(|x| x * x).sum::<f64>();
            (squares / 4000.0).sqrt()
        };
        let deviations: Vec<f64> = (0..16).map(deviation).collect();
        assert_eq!(deviations.iter().filter(|std| (28.0..32.0).contains(*std)).count(), 2, "{deviations:?}");
        assert_eq!(deviations.iter().filter(|std| (0.9..1.1).contains(*std)).count(), 14, "{deviations:?}");
        let mask = values(Dtype::U8, &[100, 100], ResolvedFill::Mask { density: 0.25 });
        assert!((mask.iter().sum::<f64>() - 2500.0).abs() < 250.0 && mask.iter().all(|x| *x == 0.0 || *x == 1.0));
        let heavy = values(Dtype::F32, &[50_000], ResolvedFill::StudentT { df: 4.0, scale: 2.0 });
        let beyond = heavy.iter().filter(|x| x.abs() > 8.0).count();
        // Of a normal distribution with this scale 3 of 50,000 lie beyond four deviations, of Student's t 808.
        assert!((650..1000).contains(&beyond), "{beyond}");
        let special = ResolvedFill::Special { is_normal: true, inf: 0.1, nan: 0.05, zero: 0.1 };
        let x = values(Dtype::F32, &[10_000], special);
        let count = |is: fn(&f64) -> bool| x.iter().filter(|x| is(x)).count();
        assert!((900..1100).contains(&count(|x| x.is_infinite())));
        assert!((400..600).contains(&count(|x| x.is_nan())));
        assert!(count(|x| *x == f64::NEG_INFINITY) > 300, "of both signs");
        assert!((900..1100).contains(&count(|x| *x == 0.0)));
        assert!(count(|x| *x == 0.0 && x.is_sign_negative()) > 300, "of both signs");
        let file = ResolvedFill::File { values: Arc::new(vec![1.5, -2.0, 3.0]) };
        assert_eq!(values(Dtype::F16, &[5], file), [1.5, -2.0, 3.0, 1.5, -2.0]);
    }

    #[test]
    fn ties_lie_half_way_between_neighbours() {
        use crate::formats::Format;
        for (_, format) in Format::ALL {
            let element = format.element();
            let x = values(Dtype::F32, &[1000], ResolvedFill::Ties { format: TieFormat::Codes(format) });
            for (at, x) in x.iter().enumerate() {
                if at % 16 == 0 {
                    assert_eq!(*x, element.range().1);
                    continue;
                }
                let step = element.step(*x);
                let below = ((x / step).floor() * step, (x / step).ceil() * step);
                assert_eq!(x - below.0, below.1 - x, "{format:?} {x}");
                assert!(below.0 != below.1, "{format:?} {x}");
            }
        }
        for (format, dtype) in [(TieFormat::F16, Dtype::F16), (TieFormat::Bf16, Dtype::Bf16)] {
            let x = values(Dtype::F32, &[1000], ResolvedFill::Ties { format });
            let half = x.iter().filter(|x| (*x / ulp(dtype, **x)).fract().abs() == 0.5).count();
            assert!(half > 990, "{half} of 1000 lie half way between numbers of {dtype:?}");
        }
    }
}
