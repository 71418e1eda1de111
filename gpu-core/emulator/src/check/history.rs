//! A log that forgets detail, not facts: its recent entries stay as they were, older ones of the same key become one.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

/// Entries by position. Merged ones keep the position of their first, so whoever knew a part of the log knows at least
/// that part.
#[derive(Debug)]
pub struct History<T> {
    entries: Vec<(u64, T)>,
    next: u64,
    /// Folds when it has grown to this: twice what the last folding left, so that folding costs a constant an entry.
    fold_at: usize,
}

/// Recent entries that are never merged.
const RECENT: usize = 32;

impl<T> Default for History<T> {
    fn default() -> History<T> {
        History { entries: Vec::new(), next: 0, fold_at: 2 * RECENT }
    }
}

impl<T> History<T> {
    /// Entries ever added: positions go from 0 to here.
    pub fn len(&self) -> u64 {
        self.next
    }

    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.entries.last_mut().map(|entry| &mut entry.1)
    }

    pub fn push<K: Eq + Hash>(&mut self, entry: T, key: impl Fn(&T) -> K, merge: impl Fn(&mut T, &T)) {
        self.entries.push((self.next, entry));
        self.next += 1;
        if self.entries.len() >= self.fold_at {
            let recent = self.entries.split_off(self.entries.len() - RECENT);
            let mut kept: Vec<(u64, T)> = Vec::new();
            let mut places: HashMap<K, usize> = HashMap::new();
            for (position, entry) in self.entries.drain(..) {
                match places.get(&key(&entry)) {
                    Some(&at) => merge(&mut kept[at].1, &entry),
                    None => {
                        places.insert(key(&entry), kept.len());
                        kept.push((position, entry));
                    }
                }
            }
            kept.extend(recent);
            self.fold_at = 2 * kept.len().max(RECENT);
            self.entries = kept;
        }
    }

    /// The last entry at one of the positions.
    pub fn last_in(&self, positions: Range<u64>) -> Option<(u64, &T)> {
        let after = self.entries.partition_point(|entry| entry.0 < positions.end);
        let (position, entry) = self.entries.get(after.checked_sub(1)?)?;
        (*position >= positions.start).then_some((*position, entry))
    }

    /// The entries at some positions, in order.
    pub fn within(&self, positions: Range<u64>) -> impl DoubleEndedIterator<Item = &T> {
        let at = |position: u64| self.entries.partition_point(|entry| entry.0 < position);
        let (from, to) = (at(positions.start), at(positions.end));
        self.entries[from..to.max(from)].iter().map(|entry| &entry.1)
    }
}

#[cfg(test)]
mod tests {
    use super::History;

    #[test]
    fn old_entries_of_a_key_become_one_and_recent_ones_stay() {
        let mut log = History::default();
        for n in 0..10_000u64 {
            log.push((n % 3, n), |entry| entry.0, |have, new| have.1 = have.1.max(new.1));
            assert!(log.within(0..log.len()).count() < 80);
        }
        assert_eq!(log.len(), 10_000);
        let recent: Vec<u64> = log.within(9_980..10_000).map(|entry| entry.1).collect();
        assert_eq!(recent, (9_980..10_000).collect::<Vec<u64>>());
        // The folded ones lie where their first was, and hold the latest.
        assert_eq!(log.last_in(0..3).map(|found| found.0), Some(2));
        assert!(log.within(0..3).all(|entry| entry.1 > 9_000));
        assert!(log.last_in(20..9_000).is_none());
    }
}
