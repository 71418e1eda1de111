use super::{Expected, Open, Oracle, Signature, TensorShape, guess, want_rank, want_shape};

/// Lanes of a warp.
const WARP: usize = 32;
/// No GPU has as many multiprocessors; a block number taken for one soon goes past it.
const MOST_SMS: f64 = 512.0;
/// The relative tolerance that a spec with this oracle has: too small for a warp or lane to be off by one.
const RELATIVE: f64 = 1e-3;

/// The output that the hardware chooses: `sm`.
const CHOSEN: usize = 0;

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
    compute: |signature, _, _| {
        let (blocks, threads) = (signature.outputs[0].shape[0], signature.outputs[0].shape[1]);
        let of_thread = |value: fn(usize) -> usize| {
            let values = (0..blocks).flat_map(|_| (0..threads).map(move |thread| value(thread) as f64));
            Expected::plain(values.collect())
        };
        let any = Expected::new(vec![0.0; blocks * threads], vec![MOST_SMS / RELATIVE; blocks * threads]);
        vec![any, of_thread(|thread| thread / WARP), of_thread(|thread| thread % WARP)]
    },
    guesses: guess::PROBE,
    open: Some(Open { output: CHOSEN, property }),
    asks: Some((
        "%smid",
        "the numbers in `sm` look right and are made up: the kernel never asks the hardware which multiprocessor it runs on (the \
         register `%smid`, which `multiprocessor()` reads), and another GPU gives its blocks out in another way",
    )),
    ..Oracle::NONE
};

/// Blocks that no GPU with more than one multiprocessor gives to the same one while the others idle: one holds 32 at
/// most.
const MANY_BLOCKS: usize = 256;

/// A block runs on one multiprocessor, and a large grid on several.
fn property(signature: &Signature, outputs: &[Vec<f64>]) -> Option<String> {
    let TensorShape { name, shape, .. } = signature.outputs.get(CHOSEN)?;
    let sm = outputs.get(CHOSEN)?;
    let threads = shape[1].max(1);
    if let Some(at) = sm.iter().position(|number| !(0.0..MOST_SMS).contains(number)) {
        let (block, thread) = (at / threads, at % threads);
        return Some(format!("{name}[{block}][{thread}] is {}: no multiprocessor has that number", sm[at]));
    }
    for (block, row) in sm.chunks(threads).enumerate() {
        if let Some(thread) = row.iter().position(|number| *number != row[0]) {
            return Some(format!(
                "{name}[{block}][{thread}] is {} and {name}[{block}][0] is {}: a block runs on one multiprocessor, so \
                 all of its threads must note the same",
                row[thread], row[0]
            ));
        }
    }
    let alike = sm.iter().all(|number| *number == sm[0]);
    (shape[0] >= MANY_BLOCKS && alike).then(|| {
        format!(
            "{name} is {} in all {} blocks: so many are spread over several multiprocessors, so this is not what the \
             hardware said",
            sm[0], shape[0]
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_multiprocessor_has_to_be_asked_for() {
        assert_eq!(ORACLE.made_up("mov.u32 %r1, %smid;"), None);
        assert!(ORACLE.made_up("mov.u32 %r1, %nsmid;").is_some_and(|words| words.contains("made up")));
    }

    #[test]
    fn numbers_that_no_hardware_gives_are_noticed() {
        let say = |blocks: usize, threads: usize, number: fn(usize, usize) -> f64| {
            let output = TensorShape::new("sm", &[blocks, threads]);
            let signature = Signature { outputs: vec![output], ..Signature::default() };
            let sm = (0..blocks * threads).map(|at| number(at / threads, at % threads)).collect();
            property(&signature, &[sm]).unwrap_or_default()
        };
        assert_eq!(say(700, 4, |block, _| (block % 132) as f64), "");
        assert_eq!(say(3, 4, |_, _| 0.0), "", "few blocks may share one");
        assert!(say(700, 4, |_, _| 0.0).contains("in all 700 blocks"));
        assert!(say(3, 4, |block, thread| (block + thread) as f64).contains("sm[0][1] is 1 and sm[0][0] is 0"));
        assert!(say(3, 4, |_, _| -1.0).contains("no multiprocessor"));
    }
}
