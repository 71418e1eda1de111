//! Bits in words: one for each byte of memory.

use std::sync::atomic::{AtomicU64, Ordering};

/// Sets `count` bits from bit `from`.
pub(crate) fn set_bits(bits: &[AtomicU64], from: u64, count: u64) {
    for_words(from, count, |word, mask| {
        let cell = &bits[word];
        if mask == !0 {
            // Nothing of the word is kept, so nothing need be read.
            cell.store(!0, Ordering::Relaxed);
        } else if cell.load(Ordering::Relaxed) & mask != mask {
            cell.fetch_or(mask, Ordering::Relaxed);
        }
    });
}

/// The same where nobody else sets bits at the same time.
#[inline]
pub(crate) fn set_bits_alone(bits: &[AtomicU64], from: u64, count: u64) {
    for_words(from, count, |word, mask| {
        let cell = &bits[word];
        cell.store(cell.load(Ordering::Relaxed) | mask, Ordering::Relaxed);
    });
}

/// Clears `count` bits from bit `from`.
pub(crate) fn clear_bits(bits: &[AtomicU64], from: u64, count: u64) {
    for_words(from, count, |word, mask| {
        // Mostly they are set or clear for long, and looking is cheaper.
        if bits[word].load(Ordering::Relaxed) & mask != 0 {
            bits[word].fetch_and(!mask, Ordering::Relaxed);
        }
    });
}

/// Whether all `count` bits from bit `from` are set.
#[inline]
pub(crate) fn all_bits(bits: &[AtomicU64], from: u64, count: u64) -> bool {
    if (from | count).is_multiple_of(64) {
        // Rows of arrays: whole words.
        let mut all = !0;
        for word in &bits[(from / 64) as usize..][..(count / 64) as usize] {
            all &= word.load(Ordering::Relaxed);
        }
        return all == !0;
    }
    let mut all = true;
    for_words(from, count, |word, mask| all &= bits[word].load(Ordering::Relaxed) & mask == mask);
    all
}

/// Calls `visit` with each word of `count` bits from bit `from`, and which of its bits they are.
#[inline]
pub(crate) fn for_words(from: u64, count: u64, mut visit: impl FnMut(usize, u64)) {
    let (mut bit, end) = (from, from + count);
    while bit < end {
        let in_word = bit % 64;
        let here = (64 - in_word).min(end - bit);
        let mask = if here == 64 { !0 } else { ((1 << here) - 1) << in_word };
        visit((bit / 64) as usize, mask);
        bit += here;
    }
}

/// The first of `count` bits from bit `from` that is not set.
pub(crate) fn first_unset(bits: &[AtomicU64], from: u64, count: u64) -> Option<u64> {
    let (mut bit, end) = (from, from + count);
    while bit < end {
        let start = bit / 64 * 64;
        let before = (1 << (bit - start)) - 1;
        let set = bits[(bit / 64) as usize].load(Ordering::Relaxed) | before;
        if set != !0 {
            return Some(start + u64::from(set.trailing_ones())).filter(|unset| *unset < end);
        }
        bit = start + 64;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_unset_bit_is_found_from_any_place() {
        let bits: Vec<AtomicU64> = (0..4).map(|_| AtomicU64::new(!0)).collect();
        assert_eq!(first_unset(&bits, 0, 256), None);
        clear_bits(&bits, 70, 1);
        clear_bits(&bits, 191, 2);
        for from in 0..256 {
            let plain = |count: u64| (from..from + count).find(|&bit| !all_bits(&bits, bit, 1));
            for count in 0..=256 - from {
                assert_eq!(first_unset(&bits, from, count), plain(count), "{count} from {from}");
            }
        }
    }
}
