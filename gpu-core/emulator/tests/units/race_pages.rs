use ptx_emulator::inside::check::race_pages::*;

#[test]
fn a_half_says_the_same_as_its_cells() {
    let pages = Pages::new(vec![Shadow::new(PAGE)], 1 << 20, 1);
    let page = pages.page(0, 0).expect("room");
    for unit in (0..=ONE).chain([risen(2, 4), risen(2, 1), risen(0, 3)]) {
        for mask in [0xffff_ffff, 0x0000_00f0, 0xffff_0000, 0x0f0f_00ff] {
            for kind in [READ, READ_MANY, READ_BLOCKS, WRITTEN, ATOMIC, ATOMIC_BLOCK] {
                let other = if kind == READ_MANY { 0x155 << OTHER } else { 0 };
                let half = Half { stamp: 7 << BLOCK | 3 << CLOCK | 1020 << THREAD | other | kind, mask, unit };
                let shift = Pages::shift_of(half, mask);
                let spread = pages.spread(page, half, shift);
                let again = pages.gather(page, half, &spread, [unit; 3]);
                assert_eq!(again, half, "unit {unit} mask {mask:#x} kind {kind}");
            }
        }
    }
}

#[test]
fn cells_of_different_threads_are_kept_and_freed() {
    let pages = Pages::new(vec![Shadow::new(PAGE)], 1 << 20, 1);
    let page = pages.page(0, 0).expect("room");
    let mut spread = Spread { cells: [0; 32], shift: 2 };
    for (index, cell) in spread.cells.iter_mut().enumerate().take(8) {
        *cell = 1 << BLOCK | (index as u64 * 5 % 7) << THREAD | READ;
    }
    let kept = pages.gather(page, Half::NONE, &spread, [2, ONE, 0]);
    assert!(kept.is_cells());
    let back = pages.spread(page, kept, 2);
    assert_eq!(back.cells, spread.cells);
    let fine = pages.spread(page, kept, 0);
    assert_eq!(fine.cells[13], spread.cells[3]);
    let gone = pages.gather(page, kept, &Spread { cells: [0; 32], shift: 2 }, [2, ONE, 0]);
    assert_eq!(gone, Half::NONE);
    let again = pages.gather(page, Half::NONE, &spread, [2, ONE, 0]);
    assert_eq!(again.stamp, kept.stamp, "the freed cells are used again");
}
