use ptx_emulator::inside::check::sync::Syncs;

/// Block 0 learns from a chain of many blocks, each at a place of its own.
fn chain(blocks: u64) -> Syncs {
    let syncs = Syncs::default();
    for block in (1..blocks).rev() {
        syncs.release(8 * block, block, [block as u32; 32]);
        syncs.acquire(8 * block, block - 1);
    }
    syncs
}

#[test]
fn order_passes_along_a_chain() {
    let syncs = chain(20_000);
    assert!(syncs.ordered(19_999, u64::MAX, 0, 19_999, 0, || false));
    assert!(!syncs.ordered(19_999, u64::MAX, 0, 20_000, 0, || false));
    assert!(!syncs.ordered(0, u64::MAX, 0, 1, 19_999, || false));
}

#[test]
fn a_search_ends_when_the_launch_is_to_end() {
    let syncs = chain(20_000);
    let asked = std::cell::Cell::new(0);
    let over = || {
        asked.set(asked.get() + 1);
        true
    };
    assert!(syncs.ordered(19_999, u64::MAX, 0, 20_000, 0, over), "no race is claimed");
    assert_eq!(asked.get(), 1);
    assert!(syncs.ordered(19_999, u64::MAX, 0, 20_000, 0, over) && asked.get() == 1, "nor searched for again");
}
