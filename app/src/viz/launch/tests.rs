use super::*;

fn map_of(what_if: &WhatIf) -> Map {
    let trace = what_if.trace();
    let sites = sites(&trace);
    let store = sites.iter().find(|site| site.kind == AccessKind::Write).expect("a store");
    Map::new(&trace, store)
}

#[test]
fn the_right_kernel_touches_every_element_once() {
    for (n, block) in [(1, 16), (100, 32), (128, 64), (129, 128), (256, 16)] {
        let map = map_of(&WhatIf { n, block, ..WhatIf::default() });
        assert_eq!((map.untouched(), map.touched_more_than_once(), map.out_of_bounds()), (0, 0, 0), "{n}, {block}");
        assert_eq!(map.busy_and_idle().0, n as usize);
    }
}

#[test]
fn each_mistake_shows() {
    let base = WhatIf::default();
    let unguarded = map_of(&WhatIf { guard: false, ..base.clone() });
    assert_eq!(unguarded.out_of_bounds(), 28);
    let shifted = map_of(&WhatIf { off_by_one: true, ..base.clone() });
    assert_eq!((shifted.untouched(), shifted.out_of_bounds()), (1, 0));
    assert!(!shifted.touches.contains_key(&0));
    let short = map_of(&WhatIf { rounded_down: true, ..base });
    assert_eq!(short.untouched(), 4);
}

#[test]
fn a_window_holds_its_row() {
    for rows in [1, 8, 9, 100] {
        for row in 0..rows {
            let first = window(row, rows);
            assert!(
                first <= row && row < first + ROWS_IN_VIEW && (rows <= ROWS_IN_VIEW || first + ROWS_IN_VIEW <= rows)
            );
        }
    }
}

#[test]
fn the_words_name_thread_and_element() {
    let mut launch = Launch::default();
    launch.thread.at = 37;
    let words = launch.describe(&VizInput::default());
    assert!(words.contains("1 * 32 + 5 = 37") && words.contains("c[37]"), "{words}");
    launch.thread.at = 127;
    let words = launch.describe(&VizInput::default());
    assert!(words.contains("no element") && words.contains("28 are idle"), "{words}");
}
