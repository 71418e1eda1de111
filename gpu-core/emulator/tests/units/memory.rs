use ptx_emulator::inside::memory::*;

#[test]
fn never_adjacent_and_poisoned() {
    let mut memory = Memory::new(1 << 20);
    let a = memory.alloc("a", 100).expect("fits");
    let b = memory.alloc("b", 100).expect("fits");
    assert_eq!(a % 256, 0);
    assert!(b - a >= 100 + WIDE_GAP);
    let mut out = [0; 4];
    memory.read(a, &mut out).expect("inside");
    assert_eq!(out, [POISON; 4]);
    assert_eq!(memory.initialised(a, 100), Some(a));
    memory.write(a, &[1; 60]).expect("inside");
    assert_eq!(memory.initialised(a, 60), None);
    assert_eq!(memory.initialised(a, 61), Some(a + 60));
    assert!(memory.write(a + 90, &[0; 11]).is_err());
    assert!(memory.alloc("big", 1 << 21).is_err());
    assert!(memory.revive(a).is_err(), "it lives");
    memory.free(a).expect("live");
    assert!(memory.free(a).is_err());
    assert!(memory.read(a, &mut out).is_err());
    memory.revive(a).expect("freed");
    memory.read(a, &mut out).expect("alive again");
    assert_eq!((out, memory.initialised(a, 100), memory.usage().0), ([POISON; 4], Some(a), 200));
}
