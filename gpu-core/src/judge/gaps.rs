//! Elements that nobody wrote, at equal distances: blocks are smaller than the kernel's index believes.

use super::tensors::{Unwritten, known_of};
use crate::spec::{Resolved, ResolvedBuffer};

/// Of every so many elements only the first so many are written; None where the gaps have no such rhythm, or are one.
pub(super) fn words(resolved: &Resolved, output: &ResolvedBuffer, unwritten: Unwritten<'_>) -> Option<String> {
    const LEAST_ROUNDS: usize = 3;
    let known = known_of(unwritten, &output.name).filter(|_| output.shape.len() == 1)?;
    let written = *known.first().filter(|first| **first > 0)?;
    let round = written + known.iter().zip(written..).take_while(|(missing, at)| **missing == *at).count();
    let elements = output.elements as usize;
    let is_gap = |at: usize| at % round >= written;
    let is_rhythm = elements >= LEAST_ROUNDS * round
        && known.iter().all(|at| is_gap(*at))
        && known.len() == (0..elements).filter(|at| is_gap(*at)).count();
    if !is_rhythm {
        return None;
    }
    let block = resolved.only_launch().map(|launch| launch.geometry.block[0] as usize);
    let of_block = if block == Some(written) {
        format!(": a block has {written} threads, and the index counts {round} for each. Count with `blockDim.x`")
    } else {
        String::new()
    };
    Some(format!("of every {round} elements only the first {written} are written{of_block}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::tests_support::empty_spec;
    use crate::spec::{Dtype, Expr, Param, Role, Size};

    fn say(elements: usize, is_missing: impl Fn(usize) -> bool) -> Option<String> {
        let mut spec = empty_spec("k");
        spec.steps[0].launch.block = vec![Expr::from("128")];
        spec.params.push(Param::Buffer {
            name: "y".to_owned(),
            dtype: Dtype::F32,
            shape: vec![Expr(elements.to_string())],
            role: Role::Out,
            fill: None,
            max_bytes: None,
        });
        let case = spec.resolve(&Size::new()).expect("resolves");
        let missing = (0..elements).filter(|at| is_missing(*at)).collect();
        let output = case.buffers().next().expect("an output");
        words(&case, output, Some(&[("y".to_owned(), missing)]))
    }

    #[test]
    fn only_gaps_in_a_rhythm_are_told() {
        let found = say(1000, |at| at % 256 >= 128).expect("a rhythm");
        assert!(
            found.contains("of every 256 elements only the first 128") && found.contains("a block has 128 threads"),
            "{found}"
        );
        assert!(say(1000, |at| at % 4 == 3).is_some_and(|words| words.ends_with("only the first 3 are written")));
        assert_eq!(say(1000, |at| at >= 900), None, "a tail");
        assert_eq!(say(256, |at| at % 256 >= 128), None, "one gap may be a tail");
        assert_eq!(say(1000, |at| at % 256 >= 128 && at != 400), None);
        assert_eq!(say(1000, |at| at < 128), None, "it begins with a gap");
        assert_eq!(say(1000, |_| false), None);
    }
}
