use ptx_emulator::inside::tensor::*;
use ptx_emulator::{Interleave, Swizzle};

#[test]
fn encodes_and_checks() {
    let map = TensorMap {
        address: 4096,
        element: TensorType::F16,
        sizes: vec![64, 32],
        strides: vec![128],
        tile: vec![64, 8],
        element_strides: vec![1, 1],
        swizzle: Swizzle::B128,
        nan_fill: false,
        im2col: None,
        interleave: Interleave::None,
    };
    let bytes = map.encode().expect("valid");
    assert_eq!(TensorMap::decode(&bytes), Some(map.clone()));
    assert_eq!(TensorMap::decode(&[0; 128]), None);
    let pixels = TensorMap {
        sizes: vec![64, 32, 9, 2],
        strides: vec![128, 4096, 36864],
        tile: vec![64, 1000, 1, 1],
        element_strides: vec![1, 2, 2, 1],
        im2col: Some(Im2col { lower: vec![-1, -2], upper: vec![3, -128], wide: false }),
        ..map.clone()
    };
    assert_eq!(TensorMap::decode(&pixels.encode().expect("valid")), Some(pixels.clone()));
    assert!(TensorMap { sizes: vec![64, 32], ..pixels }.encode().is_err());
    assert!(TensorMap { strides: vec![100], ..map.clone() }.encode().is_err());
    assert!(TensorMap { tile: vec![128, 8], ..map.clone() }.encode().is_err());
    // Field by field, another map becomes this one.
    let other = TensorMap {
        address: 0,
        element: TensorType::U8,
        sizes: vec![16],
        strides: vec![],
        tile: vec![16],
        element_strides: vec![1],
        swizzle: Swizzle::None,
        nan_fill: true,
        im2col: None,
        interleave: Interleave::None,
    };
    let mut changed = other.encode().expect("valid");
    let steps = [
        (Field::Address, 0, 4096),
        (Field::Rank, 0, 1),
        (Field::Element, 0, 6),
        (Field::Size, 0, 64),
        (Field::Size, 1, 32),
        (Field::Stride, 0, 128),
        (Field::Step, 1, 1),
        (Field::Box, 0, 64),
        (Field::Box, 1, 8),
        (Field::Swizzle, 0, 3),
        (Field::Fill, 0, 0),
        (Field::Interleave, 0, 0),
    ];
    for (field, ordinal, value) in steps {
        field.replace(&mut changed, ordinal, value).expect("emulated");
    }
    assert_eq!(TensorMap::decode(&changed), Some(map.clone()));
    for (field, wrong) in [(Field::Interleave, 3), (Field::Swizzle, 4), (Field::Atomicity, 4)] {
        assert!(field.replace(&mut changed, 0, wrong).is_err());
    }
    // In any order; what does not go together is no map.
    let atoms = [Swizzle::B128, Swizzle::B128Atom32, Swizzle::B128Atom32Flip8, Swizzle::B128Atom64];
    for (atomicity, swizzle) in atoms.into_iter().enumerate() {
        Field::Atomicity.replace(&mut changed, 0, atomicity as u64).expect("emulated");
        let expected = TensorMap { swizzle, ..map.clone() };
        assert_eq!(TensorMap::decode(&changed), Some(expected.clone()));
        assert_eq!(TensorMap::decode(&expected.encode().expect("valid")), Some(expected));
    }
    Field::Swizzle.replace(&mut changed, 0, 2).expect("emulated");
    assert_eq!(TensorMap::decode(&changed), None);
    // Triton's kernels make a map of nothing.
    let mut made = [0; 128];
    for (field, ordinal, value) in steps {
        field.replace(&mut made, ordinal, value).expect("emulated");
    }
    assert_eq!(TensorMap::decode(&made), Some(map.clone()));
    assert!(Field::Address.replace(&mut [1; 128], 0, 1).is_err());
    // CUTLASS and Triton clear bit 21 of the second word of what the driver wrote.
    let mut cleared = TensorMap { address: 0x7f_ffff_fff0, ..map.clone() }.encode().expect("valid");
    cleared[10] &= !(1 << 5);
    assert_eq!(TensorMap::decode(&cleared).map(|map| map.address), Some(0x7f_ffff_fff0));
    assert_eq!(Swizzle::B128.apply(0x80), 0x90);
    assert_eq!(Swizzle::B32.apply(0x180), 0x190);
    // Row 3, byte 72: in pieces of 16 bytes, 32 bytes (the same with halves of 16 bytes swapped), 64 bytes.
    let moved = |swizzle: Swizzle| swizzle.apply(3 * 128 + 72) - 3 * 128;
    assert_eq!(atoms.map(moved), [72 ^ 0x30, 72 ^ 0x60, 72 ^ 0x68, 72 ^ 0x40]);
}
