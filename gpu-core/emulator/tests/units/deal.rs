use ptx_emulator::inside::exec::deal::*;

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
}
