use ptx_emulator::inside::tensor::{Im2col, TensorType};
use ptx_emulator::inside::tensor_rows::*;
use ptx_emulator::{Interleave, Swizzle, TensorMap};

/// N images of 3 by 4 pixels of 8 floats.
fn images(lower: &[i16], upper: &[i16], pixels: u32, steps: u32, wide: bool) -> TensorMap {
    TensorMap {
        address: 0,
        element: TensorType::F32,
        sizes: vec![8, 4, 3, 5],
        strides: vec![32, 128, 384],
        tile: vec![8, pixels, 1, 1],
        element_strides: vec![1, steps, steps, 1],
        swizzle: Swizzle::None,
        nan_fill: false,
        im2col: Some(Im2col { lower: lower.to_vec(), upper: upper.to_vec(), wide }),
        interleave: Interleave::None,
    }
}

/// W, H and N of each row; None outside.
fn pixels(map: &TensorMap, walk: Walk, start: [i64; 4], info: &[i64]) -> Vec<Option<(u64, u64, u64)>> {
    let mut rows = Rows::new(map, walk, &start, info).expect("suits");
    (0..rows.count())
        .map(|_| rows.next_row())
        .map(|row| row.inside.then_some((row.address / 32 % 4, row.address / 128 % 3, row.address / 384)))
        .collect()
}

#[test]
fn im2col_walks_the_box_and_then_the_next_image() {
    // A 3 by 3 filter with padding 1: as many places as pixels.
    let map = images(&[-1, -1], &[-1, -1], 14, 1, false);
    let got = pixels(&map, Walk::Im2col, [0, -1, -1, 2], &[1, 1]);
    let all: Vec<_> = (0..14).map(|i| Some((i % 4, i / 4 % 3, 2 + i / 12))).collect();
    assert_eq!(got, all);
    // The filter's first element looks one up and one left.
    let got = pixels(&map, Walk::Im2col, [0, -1, -1, 2], &[0, 0]);
    assert_eq!(got[..6], [None, None, None, None, None, Some((0, 0, 2))]);
    // Without padding: 2 places in a row, one row of them, and the last image ends.
    let map = images(&[0, 0], &[-2, -2], 5, 1, false);
    let got = pixels(&map, Walk::Im2col, [0, 1, 0, 3], &[2, 2]);
    assert_eq!(got, [Some((3, 2, 3)), Some((2, 2, 4)), Some((3, 2, 4)), None, None]);
    // Every second place.
    let map = images(&[-1, -1], &[-1, -1], 4, 2, false);
    let got = pixels(&map, Walk::Im2col, [0, -1, -1, 0], &[1, 1]);
    assert_eq!(got, [Some((0, 0, 0)), Some((2, 0, 0)), Some((0, 2, 0)), Some((2, 2, 0))]);
}

#[test]
fn the_wide_modes_stay_in_their_row() {
    let map = images(&[0, 0], &[0, 0], 5, 1, true);
    let got = pixels(&map, Walk::Wide, [0, 1, 2, 1], &[1, 0]);
    let row = |w, n| Some((w, 2, n));
    assert_eq!(got, [row(1, 1), row(2, 1), row(3, 1), row(0, 2), row(1, 2), row(2, 2)]);
    let got = pixels(&map, Walk::Wide, [0, 0, 2, 1], &[0, 1]);
    assert_eq!(got, [row(1, 1), row(2, 1), row(3, 1), None, row(1, 2)]);
    let got = pixels(&map, Walk::Wide128, [0, 0, 2, 0], &[0, 0]);
    assert_eq!((got.len(), got[19], got[20]), (128, row(3, 4), None));
    assert!(Rows::new(&map, Walk::Wide128, &[0; 4], &[1, 0]).is_err());
    assert!(Rows::new(&map, Walk::Im2col, &[0; 4], &[0, 0]).is_err());
    assert!(Rows::new(&map, Walk::Tile, &[0; 4], &[]).is_err());
}
