use ptx_emulator::inside::check::marks::{Marks, bit};
use ptx_emulator::inside::exec::{Poison, Slot};

#[test]
fn every_mark_is_found_by_its_bit_whatever_else_is_marked() {
    // Rows of registers begin 128 bytes apart; more of them than there are places, so that some have to share one.
    let slots: Vec<Slot> = (0..300).map(|register| Slot(128 * register)).collect();
    let mut marks = Marks::default();
    assert!(!marks.may_have_any(u32::MAX));
    for (at, slot) in slots.iter().enumerate() {
        marks.insert((0, slot.0), Poison { lanes: 1, ..Poison::default() });
        assert!(slots[..=at].iter().all(|slot| marks.may_have_any(bit(*slot)) && marks.get((0, slot.0)).is_some()));
    }
    // In another order than they came.
    for step in 0..slots.len() {
        let at = |step: usize| slots[step * 7 % slots.len()];
        marks.remove((0, at(step).0));
        assert!((step + 1..slots.len()).all(|left| marks.may_have_any(bit(at(left)))), "after {step}");
        assert!(marks.get((0, at(step).0)).is_none());
    }
    assert!(!marks.may_have_any(u32::MAX));
    // One alone is told from the others.
    marks.insert((0, slots[0].0), Poison { lanes: 1, ..Poison::default() });
    let told = slots.iter().filter(|slot| marks.may_have_any(bit(**slot))).count();
    assert!((1..slots.len() / 8).contains(&told), "{told}");
}
