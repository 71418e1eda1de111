use super::{Expected, Oracle, want_rank, want_shape};

/// Lanes of a warp.
const WARP: usize = 32;
/// No GPU has as many multiprocessors; a block number taken for one soon goes past it.
const MOST_SMS: f64 = 512.0;
/// The relative tolerance that a spec with this oracle has: too small for a warp or lane to be off by one.
const RELATIVE: f64 = 1e-3;

/// Who ran each thread of each block. Warps and lanes follow from the thread's number in its block. Which
/// multiprocessor a block was given to is the hardware's choice: any from 0 to 512 will do.
pub(super) static ORACLE: Oracle = Oracle {
    name: "execution_probe",
    signature: "-> sm[blocks,threads] (any from 0 to 512), warp[blocks,threads], lane[blocks,threads]",
    check: |signature| {
        signature.counts(0, 3)?;
        want_rank(&signature.outputs[0], 2)?;
        let shape = &signature.outputs[0].shape;
        want_shape(&signature.outputs[1], shape)?;
        want_shape(&signature.outputs[2], shape)
    },
    compute: |signature, _| {
        let (blocks, threads) = (signature.outputs[0].shape[0], signature.outputs[0].shape[1]);
        let of_thread = |value: fn(usize) -> usize| {
            let values = (0..blocks).flat_map(|_| (0..threads).map(move |thread| value(thread) as f64));
            Expected::plain(values.collect())
        };
        let any = Expected {
            values: vec![0.0; blocks * threads],
            magnitudes: Some(vec![MOST_SMS / RELATIVE; blocks * threads]),
        };
        vec![any, of_thread(|thread| thread / WARP), of_thread(|thread| thread % WARP)]
    },
};
