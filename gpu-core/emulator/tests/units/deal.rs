use ptx_emulator::inside::exec::deal::*;
use ptx_emulator::inside::exec::deal_wide;

#[test]
fn vectors_are_dealt_out_and_collected_by_avx2() {
    if !ptx_emulator::inside::exec::wide() {
        return;
    }
    let mut memory: [u32; 128] = std::array::from_fn(|index| 7 * index as u32 + 3);
    let mut rows = [[0u32; 32]; 4];
    let [a, b, c, d] = &mut rows;
    // SAFETY: the arrays have the sizes that are asked for, and the machine has AVX2.
    unsafe { deal_wide::load_quads(memory.as_ptr(), [a, b, c, d]) };
    for lane in 0..32 {
        assert_eq!([0, 1, 2, 3].map(|word| rows[word][lane]), [0, 1, 2, 3].map(|word| memory[4 * lane + word]));
    }
    let mut back = [0u32; 128];
    // SAFETY: as above.
    unsafe { deal_wide::store_quads(back.as_mut_ptr(), [&rows[0], &rows[1], &rows[2], &rows[3]]) };
    assert_eq!(back, memory);
    // Eight pairs each anywhere.
    const PARTS: [usize; 4] = [48, 7, 100, 25];
    let [a, b, ..] = &mut rows;
    // SAFETY: as above.
    unsafe { deal_wide::load_pairs_of(PARTS.map(|word| memory.as_mut_ptr().wrapping_add(word)), [a, b]) };
    for lane in 0..32 {
        let first = PARTS[lane / 8] + 2 * (lane % 8);
        assert_eq!([rows[0][lane], rows[1][lane]], [memory[first], memory[first + 1]]);
    }
    let mut back = [0u32; 128];
    let parts = PARTS.map(|word| back.as_mut_ptr().wrapping_add(word));
    // SAFETY: as above.
    unsafe { deal_wide::store_pairs_of(parts, [&rows[0], &rows[1]]) };
    for (index, value) in back.iter().enumerate() {
        let inside = PARTS.iter().any(|first| (*first..first + 16).contains(&index));
        assert_eq!(*value, if inside { memory[index] } else { 0 });
    }
}

#[test]
fn vectors_are_dealt_out_and_collected() {
    if !ptx_emulator::inside::exec::widest() {
        return;
    }
    let memory: [u32; 128] = std::array::from_fn(|index| 7 * index as u32 + 3);
    let mut rows = [[0u32; 32]; 4];
    let [a, b, c, d] = &mut rows;
    // SAFETY: the arrays have the sizes that are asked for, and the machine has AVX-512.
    unsafe { load_quads(memory.as_ptr(), [a, b, c, d]) };
    for lane in 0..32 {
        assert_eq!([0, 1, 2, 3].map(|word| rows[word][lane]), [0, 1, 2, 3].map(|word| memory[4 * lane + word]));
    }
    let mut back = [0u32; 128];
    // SAFETY: as above.
    unsafe { store_quads(back.as_mut_ptr(), [&rows[0], &rows[1], &rows[2], &rows[3]]) };
    assert_eq!(back, memory);
    let [a, b, ..] = &mut rows;
    // SAFETY: as above.
    unsafe { load_pairs(memory.as_ptr(), [a, b]) };
    for lane in 0..32 {
        assert_eq!([0, 1].map(|word| rows[word][lane]), [0, 1].map(|word| memory[2 * lane + word]));
    }
    let mut back = [0u32; 64];
    // SAFETY: as above.
    unsafe { store_pairs(back.as_mut_ptr(), [&rows[0], &rows[1]]) };
    assert_eq!(back[..], memory[..64]);
    // Eight pairs each anywhere, and pairs with as much between them.
    let mut other = memory;
    let parts = [48, 7, 100, 25].map(|word| other.as_mut_ptr().wrapping_add(word));
    let [a, b, ..] = &mut rows;
    // SAFETY: as above.
    unsafe { load_pairs_of(parts, [a, b]) };
    for lane in 0..32 {
        let first = [48, 7, 100, 25][lane / 8] + 2 * (lane % 8);
        assert_eq!([rows[0][lane], rows[1][lane]], [memory[first], memory[first + 1]]);
    }
    let mut back = [0u32; 128];
    let parts = [48, 7, 100, 25].map(|word| back.as_mut_ptr().wrapping_add(word));
    // SAFETY: as above.
    unsafe { store_pairs_of(parts, [&rows[0], &rows[1]]) };
    for (index, value) in back.iter().enumerate() {
        let inside = [48, 7, 100, 25].iter().any(|first| (*first..first + 16).contains(&index));
        assert_eq!(*value, if inside { memory[index] } else { 0 });
    }
    let [a, b, ..] = &mut rows;
    // SAFETY: as above; the last two words are not there.
    unsafe { load_pairs_apart(memory[..126].as_ptr(), [a, b]) };
    for lane in 0..32 {
        assert_eq!([rows[0][lane], rows[1][lane]], [memory[4 * lane], memory[4 * lane + 1]]);
    }
    let mut back = [0u32; 126];
    // SAFETY: as above.
    unsafe { store_pairs_apart(back.as_mut_ptr(), [&rows[0], &rows[1]]) };
    for (index, value) in back.iter().enumerate() {
        assert_eq!(*value, if index % 4 < 2 { memory[index] } else { 0 });
    }
}
