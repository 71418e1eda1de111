use ptx_emulator::inside::isa::half_lanes::*;

/// All f16 as one operand, with others that overflow, cancel, meet subnormals and NaN.
fn operands(mut hold: impl FnMut(&[u16; 32], &[u16; 32], &[u16; 32])) {
    // The last ones are what these are for bf16.
    let others: [u16; 34] = [
        0, 0x8000, 1, 0x8001, 0x03ff, 0x0400, 0x0401, 0x1400, 0x2e66, 0x3555, 0x3bff, 0x3c00, 0x3c01, 0xbc01, 0x4248,
        0x5640, 0x6bff, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0x007f, 0x0080, 0x0081, 0x3f7f, 0x3f81,
        0xbf80, 0x7f7f, 0xff7f, 0x7f80, 0x7f81,
    ];
    for first in (0..=u16::MAX).step_by(32) {
        let a: [u16; 32] = std::array::from_fn(|lane| first + lane as u16);
        for (index, other) in others.into_iter().enumerate() {
            let c = std::array::from_fn(|lane| others[(index + lane) % others.len()] ^ (first << 11));
            hold(&a, &[other; 32], &c);
        }
    }
}

/// What one lane after the other gives, of f16 and of bf16.
fn wanted(a: &[u16; 32], b: &[u16; 32], c: &[u16; 32]) -> [[[u16; 32]; 4]; 2] {
    [
        [
            compute::<ADD, false>(a, b, c),
            compute::<SUB, false>(a, b, c),
            compute::<MUL, false>(a, b, c),
            compute::<FMA, false>(a, b, c),
        ],
        [
            compute::<ADD, true>(a, b, c),
            compute::<SUB, true>(a, b, c),
            compute::<MUL, true>(a, b, c),
            compute::<FMA, true>(a, b, c),
        ],
    ]
}

#[test]
fn steps_for_all_lanes_give_the_same_bits() {
    operands(|a, b, c| {
        let found = [
            [
                compute_in_steps::<ADD, false>(a, b, c),
                compute_in_steps::<SUB, false>(a, b, c),
                compute_in_steps::<MUL, false>(a, b, c),
                compute_in_steps::<FMA, false>(a, b, c),
            ],
            [
                compute_in_steps::<ADD, true>(a, b, c),
                compute_in_steps::<SUB, true>(a, b, c),
                compute_in_steps::<MUL, true>(a, b, c),
                compute_in_steps::<FMA, true>(a, b, c),
            ],
        ];
        assert_eq!(found, wanted(a, b, c), "{a:x?} with {b:x?} and {c:x?}");
    });
}

#[test]
fn the_conversions_of_avx2_machines_give_the_same_bits() {
    if !ptx_emulator::inside::exec::wide() {
        return;
    }
    operands(|a, b, c| {
        // SAFETY: the machine has AVX2 and F16C.
        let found = unsafe {
            [
                compute_f16_wide::<ADD>(a, b, c),
                compute_f16_wide::<SUB>(a, b, c),
                compute_f16_wide::<MUL>(a, b, c),
                compute_f16_wide::<FMA>(a, b, c),
            ]
        };
        assert_eq!(found, wanted(a, b, c)[0], "{a:x?} with {b:x?} and {c:x?}");
    });
}

#[test]
fn the_conversions_of_avx_512_give_the_same_bits() {
    if !ptx_emulator::inside::exec::widest() {
        return;
    }
    operands(|a, b, c| {
        let wanted = wanted(a, b, c);
        // SAFETY: the machine has AVX-512.
        let found = unsafe {
            [
                compute_f16::<ADD>(a, b, c),
                compute_f16::<SUB>(a, b, c),
                compute_f16::<MUL>(a, b, c),
                compute_f16::<FMA>(a, b, c),
            ]
        };
        assert_eq!(found, wanted[0], "{a:x?} with {b:x?} and {c:x?}");
        // SAFETY: as above.
        let found = unsafe { [compute_bf16::<MUL>(a, b, c), compute_bf16::<FMA>(a, b, c)] };
        assert_eq!(found, wanted[1][2..], "bf16 {a:x?} with {b:x?} and {c:x?}");
    });
}
