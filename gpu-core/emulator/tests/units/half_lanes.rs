use ptx_emulator::inside::isa::half_lanes::*;

/// All f16 as one operand, with others that overflow, cancel, meet subnormals and NaN.
#[test]
fn the_machines_conversions_give_the_same_bits() {
    if !ptx_emulator::inside::exec::widest() {
        return;
    }
    // The last ones are what these are for bf16.
    let others: [u16; 34] = [
        0, 0x8000, 1, 0x8001, 0x03ff, 0x0400, 0x0401, 0x1400, 0x2e66, 0x3555, 0x3bff, 0x3c00, 0x3c01, 0xbc01, 0x4248,
        0x5640, 0x6bff, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0x007f, 0x0080, 0x0081, 0x3f7f, 0x3f81,
        0xbf80, 0x7f7f, 0xff7f, 0x7f80, 0x7f81,
    ];
    for first in (0..=u16::MAX).step_by(32) {
        let a: [u16; 32] = std::array::from_fn(|lane| first + lane as u16);
        for (index, other) in others.into_iter().enumerate() {
            let b = [other; 32];
            let c: [u16; 32] = std::array::from_fn(|lane| others[(index + lane) % others.len()] ^ (first << 11));
            // SAFETY: the machine has AVX-512.
            let found = unsafe {
                [
                    compute_f16::<ADD>(&a, &b, &c),
                    compute_f16::<SUB>(&a, &b, &c),
                    compute_f16::<MUL>(&a, &b, &c),
                    compute_f16::<FMA>(&a, &b, &c),
                ]
            };
            let wanted = [
                compute::<ADD, false>(&a, &b, &c),
                compute::<SUB, false>(&a, &b, &c),
                compute::<MUL, false>(&a, &b, &c),
                compute::<FMA, false>(&a, &b, &c),
            ];
            assert_eq!(found, wanted, "from {first:#x} with {other:#x}");
            // SAFETY: as above.
            let found = unsafe { [compute_bf16::<MUL>(&a, &b, &c), compute_bf16::<FMA>(&a, &b, &c)] };
            let wanted = [compute::<MUL, true>(&a, &b, &c), compute::<FMA, true>(&a, &b, &c)];
            assert_eq!(found, wanted, "bf16 from {first:#x} with {other:#x}");
        }
    }
}
