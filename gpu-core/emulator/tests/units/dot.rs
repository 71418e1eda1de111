use ptx_emulator::inside::num::{Products, WIDTH, sum_products, sum_products_portable};

#[test]
fn the_vector_form_agrees_with_the_portable_one() {
    if !std::arch::is_x86_feature_detected!("avx2") {
        return;
    }
    let mut state = 1u32;
    let mut next = |modulus: i32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as i32 % modulus
    };
    for k in [1, 4, 8, 16, 32] {
        let row = |next: &mut dyn FnMut(i32) -> i32| (0..k).map(|_| next(4095) - 2047).collect::<Vec<i32>>();
        let (a_significands, b_flat) = (row(&mut next), (0..8).flat_map(|_| row(&mut next)).collect::<Vec<i32>>());
        let a_exponents: Vec<i32> = (0..k).map(|_| next(60) - 30).collect();
        let b_exponents: Vec<[i32; WIDTH]> = (0..k).map(|_| std::array::from_fn(|_| next(60) - 30)).collect();
        let (b_significands, _) = b_flat.as_chunks::<WIDTH>();
        let products = Products {
            a_significands: &a_significands,
            a_exponents: &a_exponents,
            b_significands,
            b_exponents: &b_exponents,
            preshift: 5,
        };
        let c_significand = std::array::from_fn(|_| next(1 << 23) - (1 << 22));
        let c_exponent = std::array::from_fn(|_| next(80) - 40);
        let portable = sum_products_portable(&products, &c_significand, &c_exponent);
        // SAFETY: the processor was just found to have AVX2.
        let vector = unsafe { sum_products(&products, &c_significand, &c_exponent) };
        assert_eq!(vector, portable);
    }
}
