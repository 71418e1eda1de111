//! Inputs from a seed: the same seed gives the same bytes on every machine.

use super::fills;
use crate::device::{Argument, Buffer};
use crate::spec::{Dtype, Resolved, ResolvedBuffer, ResolvedFill, ResolvedParam, Role};
use rand::{Rng, SeedableRng, rngs::SmallRng};
use rand_distr::{Distribution, StandardNormal};

/// Elements that share one generator: chunks are filled in parallel, whatever the number of cores.
const CHUNK: usize = 1 << 16;

/// A seed from the operating system, short enough to be typed after `--seed`.
pub fn fresh_seed() -> u64 {
    rand::random::<u32>().into()
}

/// A number that depends on all bits of both: splitmix64's finaliser.
pub(super) fn mix(seed: u64, stream: u64) -> u64 {
    let mut z = seed.wrapping_add(stream.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What the variable `seed` of a scalar is in a draw: 31 bits, so that it fits every type for whole numbers of 32.
pub(super) fn scalar_seed(seed: u64, draw: u32) -> i64 {
    (mix(mix(seed, 2), draw.into()) >> 33) as i64
}

/// The arguments of one case. The case's name is part of the seed: `n = 256` and `n = 257` share no numbers, and
/// one size has the same inputs on every device.
pub fn arguments(case: &Resolved, seed: u64) -> Vec<Argument> {
    arguments_with(case, seed, &[])
}

/// As [`arguments`], without making up what is `given` by name and has the right size.
pub fn arguments_with(case: &Resolved, seed: u64, given: &[(String, Vec<u8>)]) -> Vec<Argument> {
    let given = |buffer: &ResolvedBuffer| {
        let fits = |(name, bytes): &&(String, Vec<u8>)| *name == buffer.name && bytes.len() as u64 == buffer.bytes();
        given.iter().find(fits).filter(|_| buffer.role != Role::Out).map(|(_, bytes)| bytes.clone())
    };
    let seed = case.name.bytes().fold(mix(seed, 1), |seed, byte| mix(seed, byte.into()));
    case.params
        .iter()
        .enumerate()
        .map(|(index, param)| match param {
            ResolvedParam::Scalar(scalar) => Argument::Scalar(scalar.bytes.clone()),
            ResolvedParam::TensorMap(map) => Argument::TensorMap(map.clone()),
            ResolvedParam::Buffer(buffer) => Argument::Buffer(Buffer {
                name: buffer.name.clone(),
                dtype: buffer.dtype,
                role: buffer.role,
                bytes: given(buffer).unwrap_or_else(|| fill(buffer, mix(seed, index as u64))),
            }),
        })
        .collect()
}

/// The bytes of one buffer before the run; poison for pure outputs.
pub fn fill(buffer: &ResolvedBuffer, seed: u64) -> Vec<u8> {
    let (dtype, size) = (buffer.dtype, buffer.dtype.bytes());
    let Some(rule) = buffer.fill.as_ref().filter(|_| buffer.role != Role::Out) else {
        return dtype.poison().repeat(buffer.elements as usize);
    };
    let mut bytes = vec![0; buffer.bytes() as usize];
    // Zeros of every type are these, and the system has them ready.
    if matches!(rule, ResolvedFill::Constant { value } if *value == 0.0) {
        return bytes;
    }
    if fills::fill_whole(rule, dtype, &buffer.shape, seed, &mut bytes) {
        return bytes;
    }
    let columns = buffer.shape.last().copied().unwrap_or(1);
    let chunks: Vec<(usize, &mut [u8])> = bytes.chunks_mut(CHUNK * size).enumerate().collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if chunks.len() <= 2 {
        chunks.into_iter().for_each(|(index, chunk)| fill_chunk(rule, dtype, columns, seed, index, chunk));
        return bytes;
    }
    let share = chunks.len().div_ceil(cores);
    let mut chunks = chunks.into_iter();
    std::thread::scope(|scope| {
        loop {
            let mine: Vec<_> = chunks.by_ref().take(share).collect();
            if mine.is_empty() {
                break;
            }
            scope.spawn(move || {
                mine.into_iter().for_each(|(index, chunk)| fill_chunk(rule, dtype, columns, seed, index, chunk));
            });
        }
    });
    bytes
}

fn fill_chunk(rule: &ResolvedFill, dtype: Dtype, columns: u64, seed: u64, index: usize, chunk: &mut [u8]) {
    let mut random = SmallRng::seed_from_u64(mix(seed, index as u64));
    let elements = chunk.chunks_exact_mut(dtype.bytes());
    match *rule {
        ResolvedFill::Normal { mean, std } => elements.for_each(|out| {
            let x: f64 = StandardNormal.sample(&mut random);
            dtype.encode(mean + std * x, out);
        }),
        ResolvedFill::Uniform { low, high } => elements.for_each(|out| {
            dtype.encode(low + (high - low) * random.random::<f64>(), out);
        }),
        ResolvedFill::Integers { low, high } => {
            elements.for_each(|out| dtype.encode_integer(random.random_range(low..=high), out));
        }
        ResolvedFill::Constant { value } => elements.for_each(|out| dtype.encode(value, out)),
        ResolvedFill::Index => {
            let first = index * CHUNK;
            elements.enumerate().for_each(|(at, out)| dtype.encode_integer((first + at) as i64, out));
        }
        _ => fills::fill_part(rule, dtype, columns, seed, index * CHUNK, &mut random, chunk),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(dtype: Dtype, elements: u64, fill: ResolvedFill) -> ResolvedBuffer {
        let (name, shape) = ("x".to_owned(), vec![elements]);
        ResolvedBuffer { name, dtype, shape, elements, role: Role::In, fill: Some(fill), max_bytes: None }
    }

    #[test]
    fn one_seed_gives_one_buffer_and_another_gives_another() {
        let spec = buffer(Dtype::F32, 200_000, ResolvedFill::Normal { mean: 1.0, std: 2.0 });
        let values = fill(&spec, 5);
        assert_eq!(values, fill(&spec, 5));
        assert_ne!(values, fill(&spec, 6));
        let values = Dtype::F32.decode_all(&values);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64;
        assert!((mean - 1.0).abs() < 0.03 && (variance - 4.0).abs() < 0.1, "{mean} {variance}");
        // No chunk repeats another.
        assert_ne!(values[..1000], values[CHUNK..CHUNK + 1000]);
    }

    #[test]
    fn fills_stay_in_their_ranges_for_every_type() {
        for (name, dtype) in Dtype::ALL.into_iter().filter(|(_, dtype)| *dtype != Dtype::Bool) {
            let integers = fill(&buffer(dtype, 1000, ResolvedFill::Integers { low: 2, high: 5 }), 1);
            let values = dtype.decode_all(&integers);
            assert!(values.iter().all(|x| (2.0..=5.0).contains(x)), "{name}");
            assert!(values.contains(&2.0) && values.contains(&5.0), "{name}");
            let index = dtype.decode_all(&fill(&buffer(dtype, 9, ResolvedFill::Index), 1));
            assert_eq!(index, (0..9).map(f64::from).collect::<Vec<_>>(), "{name}");
        }
        let uniform =
            Dtype::F16.decode_all(&fill(&buffer(Dtype::F16, 1000, ResolvedFill::Uniform { low: -1.0, high: 1.0 }), 1));
        assert!(uniform.iter().all(|x| (-1.0..=1.0).contains(x)));
    }
}
