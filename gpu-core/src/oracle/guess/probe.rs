//! Wrong notes of who ran a thread: which other number of the thread stands there.

use super::{Case, LEAST};

/// What a thread may take for its warp or its lane: by block, thread and threads in a block.
type Formula = fn(usize, usize, usize) -> usize;

const WARPS: &[(&str, Formula)] = &[
    ("the lane, `% 32`, where the warp, `/ 32`, belongs", |_, t, _| t % 32),
    ("warps counted through the whole grid, where each block begins at 0 again", |b, t, n| (b * n + t) / 32),
    ("the thread's own number, not yet divided by 32", |_, t, _| t),
    ("the number of the block", |b, _, _| b),
    ("warps of 16 threads; a warp has 32", |_, t, _| t / 16),
    ("warps of 64 threads; a warp has 32", |_, t, _| t / 64),
    ("warps counted from 1; the first is 0", |_, t, _| t / 32 + 1),
    ("how many warps the block has, not which one it is", |_, _, n| n.div_ceil(32)),
    ("warps rounded up: threads 1 to 32 instead of 0 to 31", |_, t, _| t.div_ceil(32)),
    ("the thread's number divided by 31", |_, t, _| t / 31),
    ("the thread's number in the whole grid", |b, t, n| b * n + t),
    ("0 everywhere", |_, _, _| 0),
];

const LANES: &[(&str, Formula)] = &[
    ("the warp, `/ 32`, where the lane, `% 32`, belongs", |_, t, _| t / 32),
    ("lanes counted through the whole grid, where each block begins at 0 again", |b, t, n| (b * n + t) % 32),
    ("the thread's own number, without its remainder by 32", |_, t, _| t),
    ("the number of the block", |b, _, _| b),
    ("a remainder by 16; a warp has 32 lanes", |_, t, _| t % 16),
    ("a remainder by 64; a warp has 32 lanes", |_, t, _| t % 64),
    ("a remainder by 31: `& 31` or `% 32` is meant", |_, t, _| t % 31),
    ("lanes counted from 1; the first is 0", |_, t, _| t % 32 + 1),
    ("lanes counted backwards", |_, t, _| 31 - t % 32),
    ("the thread's number less its warp, where 32 times the warp is to be taken away", |_, t, _| t - t / 32),
    ("the place in the whole grid", |b, t, n| b * n + t),
    ("0 everywhere", |_, _, _| 0),
];

pub(super) fn guess(case: &Case<'_>) -> Option<String> {
    let shape = &case.signature.outputs.first()?.shape;
    let threads = (*shape.get(1)?).max(1);
    for (number, formulas) in [(1, WARPS), (2, LANES)] {
        let (got, want) = (case.outputs.get(number)?, &case.all_expected.get(number)?.values);
        if got.iter().zip(want).filter(|(got, want)| got != want).count() < LEAST {
            continue;
        }
        // The right ones too, for some formulas differ there only.
        let fits = |formula: &Formula| {
            got.iter().enumerate().all(|(at, got)| *got == formula(at / threads, at % threads, threads) as f64)
        };
        if let Some((words, _)) = formulas.iter().find(|(_, formula)| fits(formula)) {
            return Some(format!("{} holds {words}", case.signature.outputs.get(number)?.name));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::super::{Expected, Signature, TensorShape, find};
    use super::*;

    fn say(warp: Formula, lane: Formula) -> String {
        let (blocks, threads) = (3, 100);
        let outputs = ["sm", "warp", "lane"].map(|name| TensorShape::new(name, &[blocks, threads])).to_vec();
        let signature = Signature { outputs, ..Signature::default() };
        let expected: Vec<Expected> =
            find("execution_probe").expect("an oracle").compute(&signature, &[]).expect("computes");
        let of = |formula: Formula| -> Vec<f64> {
            (0..blocks * threads).map(|at| formula(at / threads, at % threads, threads) as f64).collect()
        };
        let outputs = [of(|_, _, _| 0), of(warp), of(lane)];
        let case = Case {
            signature: &signature,
            inputs: &[],
            expected: &expected[0],
            got: &outputs[0],
            outputs: &outputs,
            all_expected: &expected,
            wrong: &[],
            named: "sm",
            is_coded: false,
        };
        guess(&case).unwrap_or_default()
    }

    #[test]
    fn every_formula_is_recognised() {
        let (warp, lane): (Formula, Formula) = (|_, t, _| t / 32, |_, t, _| t % 32);
        assert_eq!(say(warp, lane), "");
        for (words, formula) in WARPS {
            assert_eq!(say(*formula, lane), format!("warp holds {words}"));
        }
        for (words, formula) in LANES {
            assert_eq!(say(warp, *formula), format!("lane holds {words}"));
        }
        assert_eq!(say(|_, t, _| t / 32 + 7, lane), "", "a formula that nobody thought of");
    }
}
