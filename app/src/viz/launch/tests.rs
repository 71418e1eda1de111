use super::*;
use gpu_core::emulator::{AccessKind, Space};
use gpu_core::emulator::{AllocationRef, Fault, FaultKind, SourceLine, ThreadId};

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

/// The out-of-bounds access of day 4's first attempt is what a learner looks for after its check.
#[test]
fn a_run_that_was_ended_is_shown_at_its_end() {
    let trace = WhatIf { guard: false, ..WhatIf::default() }.trace();
    let site = sites(&trace).into_iter().find(|site| site.kind == AccessKind::Read).expect("a load");
    let fault = Fault {
        kind: FaultKind::OutOfBounds,
        message: String::new(),
        kernel: trace.kernel.clone(),
        launch: None,
        source: Some(SourceLine { file: "kernel.cu".into(), line: site.line, column: 1 }),
        inlined_at: None,
        instruction: String::new(),
        thread: Some(ThreadId { block: [3, 0, 0], thread: [4, 0, 0], warp: 0, lane: 4 }),
        space: Some(Space::Global),
        access: Some(AccessKind::Read),
        address: None,
        access_bytes: 4,
        allocation: Some(AllocationRef { name: site.array.clone(), base: 0, bytes: 400, offset: 400 }),
        other: None,
        occurrences: 1,
    };
    let mut launch = Launch::default();
    let ended = VizInput { trace: Some(&trace), ended_by: Some(&fault), ..VizInput::default() };
    launch.follow_end(&ended);
    let words = launch.describe(&ended);
    assert!(words.contains(&format!("{}[100], outside the array", site.array)), "{words}");
    // The learner looks elsewhere, and is left there.
    launch.thread.jump(7);
    launch.follow_end(&ended);
    assert_eq!(launch.thread.at, 7);
    launch.follow_end(&VizInput { ended_by: None, ..ended });
    assert_eq!(launch.mapped.site, None, "the next run is shown by its stores again");
}
