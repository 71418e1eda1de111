//! What a tree of sums leaves out where the number of its parts is no power of two.

/// How often each part is in the sum that part 0 ends with, when half of what is left is added to the other half until one is
/// left.
pub(super) fn lost(parts: usize) -> Vec<u8> {
    // Which parts each place holds.
    let mut holds: Vec<Vec<u8>> = (0..parts).map(|at| (0..parts).map(|part| u8::from(part == at)).collect()).collect();
    let mut half = parts / 2;
    while half > 0 {
        for at in 0..half {
            let other = holds[at + half].clone();
            holds[at].iter_mut().zip(other).for_each(|(have, more)| *have += more);
        }
        half /= 2;
    }
    holds.swap_remove(0)
}

#[cfg(test)]
mod tests {
    use super::lost;

    #[test]
    fn powers_of_two_lose_nothing() {
        assert_eq!(lost(8), [1; 8]);
        // 6, then 3 and 1: place 2 is left alone.
        assert_eq!(lost(6), [1, 1, 0, 1, 1, 0]);
    }
}
