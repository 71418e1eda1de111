//! A large case against float64, at elements drawn by lot: the whole of it would take minutes on a CPU.

use super::point::{Bench, Buffers};
use crate::device::RunError;
use crate::formats::Stored;
use crate::judge::metric;
use crate::judge::tensors::Output;
use crate::oracle::{Oracle, Source};
use crate::spec::{Resolved, ResolvedView, Tensor};
use rand::{Rng, SeedableRng, rngs::SmallRng};
use std::borrow::Cow;

/// Rows and columns drawn; every crossing is compared. A tile that is left out or doubled covers at least a 200th of
/// a row of 16384, so 64 columns miss it with a chance below 3/4, and 16 rows of them below 1 in 100.
const ROWS: usize = 16;
const COLUMNS: usize = 64;

/// Compares what is in the outputs with what the oracle says of single elements, over the inputs that `seed` gave. None:
/// all agree.
pub fn first_wrong(
    bench: &Bench<'_>,
    case: &Resolved,
    buffers: &Buffers,
    oracle: &Oracle,
    seed: u64,
) -> Result<Option<String>, RunError> {
    let tensors = case.tensors();
    let inputs: Vec<Source<'_>> = tensors
        .iter()
        .filter(|tensor| tensor.role().is_given())
        .map(|input| source(input, case, buffers, seed))
        .collect();
    let signature = case.signature();
    let judged = tensors.iter().filter(|tensor| tensor.role().is_judged());
    for (number, tensor) in judged.enumerate().filter(|(number, _)| !oracle.is_chosen_by_hardware(*number)) {
        let shape = tensor.shape();
        let elements = drawn(&shape, seed);
        let Some(expected) = oracle.sample(&signature, &inputs, number, &elements) else { continue };
        let (values, dtype) = read(tensor, buffers, &elements)?;
        let rule = bench.spec.rule(tensor.name());
        let output = Output::of_sample(tensor.name(), dtype, values);
        let (allowed, measured) = metric::judge(&output, &expected, &rule);
        for (at, (got, want)) in output.values.iter().zip(&expected.values).enumerate() {
            if allowed.ratio(*got, *want, expected.magnitude(at)) > 1.0 {
                let place = place(tensor.name(), &shape, elements[at]);
                let whole = measured.map_or_else(String::new, |measured| {
                    let report = metric::report(&rule, measured, 1);
                    format!("; {} of the sample is {}", metric::spoken(&report.metric), metric::against_limit(&report))
                });
                return Ok(Some(format!("{place} is {got}, float64 gives {want}{whole}")));
            }
        }
    }
    Ok(None)
}

/// An input as [`Buffers::refill`] repeats it.
fn source<'a>(tensor: &Tensor<'a>, case: &Resolved, buffers: &Buffers, seed: u64) -> Source<'a> {
    match *tensor {
        Tensor::Buffer(param, _) => Source::Values(Cow::Owned(buffers.one_period(case, param, seed))),
        Tensor::View(view, _) => {
            let bytes =
                |param: Option<usize>| param.map(|param| buffers.period_bytes(case, param, seed)).unwrap_or_default();
            let stored = Stored {
                codes: bytes(Some(view.codes)),
                scales: bytes(view.scales),
                zero_points: bytes(view.zero_points),
                tensor_scale: bytes(view.tensor_scale),
            };
            Source::View(&view.layout, Cow::Owned(stored))
        }
    }
}

/// Row-major indices of the crossings of some rows and columns; the corners, where a tile hangs over the edge, always.
fn drawn(shape: &[u64], seed: u64) -> Vec<usize> {
    let columns = shape.last().copied().unwrap_or(1);
    let rows: u64 = shape.iter().rev().skip(1).product();
    if rows * columns == 0 {
        return Vec::new();
    }
    let mut random = SmallRng::seed_from_u64(seed);
    let mut draw = |extent: u64, count: usize| {
        let mut drawn = vec![0, extent - 1];
        drawn.extend((2..count).map(|_| random.random_range(0..extent)));
        drawn
    };
    // A vector has all of its sample in one row.
    let (row_count, column_count) = if rows == 1 { (2, ROWS * COLUMNS) } else { (ROWS, COLUMNS) };
    let (rows, across) = (draw(rows, row_count), draw(columns, column_count));
    rows.into_iter().flat_map(|row| across.iter().map(move |column| (row * columns + column) as usize)).collect()
}

/// The values at these elements, and the type that they are stored in.
fn read(
    tensor: &Tensor<'_>,
    buffers: &Buffers,
    elements: &[usize],
) -> Result<(Vec<f64>, crate::spec::Dtype), RunError> {
    match *tensor {
        Tensor::Buffer(param, buffer) => {
            let width = buffer.dtype.bytes();
            let mut bytes = vec![0; width];
            let mut value = |element: &usize| {
                buffers.read(param, element * width, &mut bytes)?;
                Ok(buffer.dtype.decode(&bytes))
            };
            Ok((elements.iter().map(&mut value).collect::<Result<_, RunError>>()?, buffer.dtype))
        }
        Tensor::View(view, _) => Ok((read_view(view, buffers, elements)?, crate::spec::Dtype::U8)),
    }
}

/// Codes are read one by one, scales whole: there are few.
fn read_view(view: &ResolvedView, buffers: &Buffers, elements: &[usize]) -> Result<Vec<f64>, RunError> {
    let layout = &view.layout;
    let part = |param: Option<usize>, bytes: usize| -> Result<Vec<u8>, RunError> {
        let Some(param) = param else { return Ok(Vec::new()) };
        let mut part = vec![0; bytes];
        buffers.read(param, 0, &mut part)?;
        Ok(part)
    };
    let groups = layout.groups();
    let mut stored = Stored {
        codes: vec![0],
        scales: part(view.scales, groups * layout.scales.as_ref().map_or(0, |part| part.kind.bytes()))?,
        zero_points: part(view.zero_points, groups * layout.zero_points.as_ref().map_or(0, |part| part.kind.bytes()))?,
        tensor_scale: part(view.tensor_scale, 4)?,
    };
    let mut value = |element: &usize| {
        // A buffer of one byte repeats, so that the element's code is found in it.
        buffers.read(view.codes, layout.place_of(*element).0, &mut stored.codes)?;
        Ok(layout.value_at(&stored, *element))
    };
    elements.iter().map(&mut value).collect()
}

fn place(name: &str, shape: &[u64], element: usize) -> String {
    let mut rest = element as u64;
    let mut index: Vec<String> =
        shape.iter().rev().map(|extent| (format!("[{}]", rest % extent), rest /= extent).0).collect();
    index.reverse();
    format!("{name}{}", index.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_always_among_the_drawn() {
        for shape in [vec![1, 1], vec![300, 700], vec![2, 3, 4, 5], vec![100_000]] {
            let count: u64 = shape.iter().product();
            let elements = drawn(&shape, 5);
            assert!(elements.contains(&0) && elements.contains(&(count as usize - 1)), "{shape:?}");
            assert!(elements.iter().all(|element| (*element as u64) < count));
        }
        assert!(drawn(&[0, 5], 1).is_empty());
        assert_eq!(place("y", &[2, 3, 4], 23), "y[1][2][3]");
    }
}
