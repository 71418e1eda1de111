use ptx_emulator::inside::check::history::History;

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
