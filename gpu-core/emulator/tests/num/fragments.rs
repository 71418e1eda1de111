//! Fragments cover each element once, and agree with the formulas that the manual prints for single shapes.

use ptx_emulator::num::fragment::{Accumulator, Metadata, Operand, quad, scale_a_lane, scale_b_lane, warpgroup};

fn covers_once(points: impl Iterator<Item = (usize, usize)>, rows: usize, columns: usize, times: usize) {
    let mut seen = vec![0; rows * columns];
    for (row, column) in points {
        seen[row * columns + column] += 1;
    }
    assert!(seen.iter().all(|&n| n == times), "{rows}x{columns}: {seen:?}");
}

fn points(operand: Operand) -> impl Iterator<Item = (usize, usize)> {
    (0..32).flat_map(move |lane| {
        (0..operand.registers()).flat_map(move |r| (0..operand.per_register).map(move |e| operand.at(lane, r, e)))
    })
}

#[test]
fn every_element_lies_in_exactly_one_place() {
    // (m, n, k, elements in a register) of every mma shape, sparse A included as its stored half.
    let shapes = [
        (8, 8, 4, 1),
        (8, 8, 16, 4),
        (8, 8, 32, 8),
        (8, 8, 128, 32),
        (16, 8, 4, 1),
        (16, 8, 8, 1),
        (16, 8, 16, 1),
        (16, 8, 8, 2),
        (16, 8, 16, 2),
        (16, 8, 32, 2),
        (16, 8, 16, 4),
        (16, 8, 32, 4),
        (16, 8, 64, 4),
        (16, 8, 32, 8),
        (16, 8, 64, 8),
        (16, 8, 128, 8),
        (16, 8, 128, 32),
        (16, 8, 256, 32),
    ];
    for (m, n, k, e) in shapes {
        covers_once(points(Operand::a(m, k, e)), m, k, 1);
        covers_once(points(Operand::b(n, k, e)), n, k, 1);
    }
    for (m, n) in [(16, 16), (32, 8), (8, 32), (8, 8), (16, 8)] {
        let c = Accumulator::new(m, n);
        covers_once((0..32).flat_map(|l| (0..c.per_lane()).map(move |i| c.at(l, i))), m, n, 1);
        for (k, e) in [(16, 2), (16, 4), (8, 1)] {
            covers_once(points(Operand::wmma_a(m, k, e)), m, k, 1);
            covers_once(points(Operand::wmma_b(m, n, k, e)), n, k, 1);
        }
    }
    for n in [8, 64, 256] {
        covers_once((0..128).flat_map(|t| (0..n / 2).map(move |i| warpgroup(t, i))), 64, n, 1);
    }
}

#[test]
fn the_manuals_formulas_hold() {
    for lane in 0..32 {
        let (g, t) = (lane / 4, lane % 4);
        // m16n8k16, f16: element i of A.
        for i in 0..8 {
            let row = if i < 2 || (4..6).contains(&i) { g } else { g + 8 };
            let column = if i < 4 { t * 2 + (i & 1) } else { t * 2 + (i & 1) + 8 };
            assert_eq!(Operand::a(16, 16, 2).at(lane, i / 2, i % 2), (row, column));
        }
        for i in 0..4 {
            let row = if i < 2 { t * 2 + (i & 1) } else { t * 2 + (i & 1) + 8 };
            assert_eq!(Operand::b(8, 16, 2).at(lane, i / 2, i % 2), (g, row));
            let row = if i < 2 { g } else { g + 8 };
            assert_eq!(Accumulator::new(16, 8).at(lane, i), (row, t * 2 + (i & 1)));
        }
        // m16n8k8, tf32.
        for i in 0..4 {
            let row = if i == 0 || i == 2 { g } else { g + 8 };
            let column = if i < 2 { t } else { t + 4 };
            assert_eq!(Operand::a(16, 8, 1).at(lane, i, 0), (row, column));
        }
        // m16n8k16, f64.
        for i in 0..8 {
            let row = if i % 2 == 0 { g } else { g + 8 };
            assert_eq!(Operand::a(16, 16, 1).at(lane, i, 0), (row, i / 2 * 4 + t));
        }
        // m16n8k32, 8-bit elements.
        for i in 0..16 {
            let row = if i < 4 || (8..12).contains(&i) { g } else { g + 8 };
            let column = if i < 8 { t * 4 + (i & 3) } else { t * 4 + (i & 3) + 16 };
            assert_eq!(Operand::a(16, 32, 4).at(lane, i / 4, i % 4), (row, column));
        }
        // m16n8k64, 4-bit elements.
        for i in 0..16 {
            let row = if i < 8 { t * 8 + (i & 7) } else { t * 8 + (i & 7) + 32 };
            assert_eq!(Operand::b(8, 64, 8).at(lane, i / 8, i % 8), (g, row));
        }
        // wmma m8n32k16, f16: the loads of sm_80 read C at row 2t, column g and step by rows, then by 8 columns.
        assert_eq!(Accumulator::new(8, 32).at(lane, 1), (2 * t + 1, g));
        assert_eq!(Accumulator::new(8, 32).at(lane, 2), (2 * t, g + 8));
        assert_eq!(Accumulator::new(32, 8).at(lane, 4), (g + 16, 2 * t));
        assert_eq!(Accumulator::new(16, 16).at(lane, 4), (g, 8 + 2 * t));
        assert_eq!(Operand::wmma_b(16, 16, 16, 2).at(lane, 2, 0), (g + 8, 2 * t));
        assert_eq!(Operand::wmma_a(16, 16, 2).at(lane, 5, 1), (g + 8, 2 * t + 1), "registers 4 to 7 repeat 0 to 3");
    }
}

#[test]
fn quarters_of_a_warp_hold_whole_products() {
    for product in 0..4 {
        let lanes = || (0..32).filter(move |&l| quad::product(l) == product);
        for row_major in [false, true] {
            covers_once(lanes().flat_map(|l| (0..4).map(move |i| quad::a(l, i, row_major))), 8, 4, 1);
            covers_once(lanes().flat_map(|l| (0..4).map(move |i| quad::b(l, i, row_major))), 4, 8, 1);
        }
        covers_once(lanes().flat_map(|l| (0..8).map(move |i| quad::f16(l, i))), 8, 8, 1);
        covers_once(lanes().flat_map(|l| (0..8).map(move |i| quad::f32(l, i))), 8, 8, 1);
    }
}

#[test]
fn metadata_fields_do_not_overlap() {
    for (bits, wide_elements) in [(16, true), (32, true), (32, false), (64, false)] {
        let selectors = Metadata { bits, wide_elements, selector: 0 }.selectors();
        let mut seen = vec![false; 32 * 8];
        for selector in 0..selectors {
            let metadata = Metadata { bits, wide_elements, selector };
            for row in 0..16 {
                for chunk in 0..bits / 4 {
                    let (lane, bit) = metadata.at(row, chunk);
                    assert!(lane / 4 == row % 8 && bit % 4 == 0);
                    assert!(!std::mem::replace(&mut seen[lane * 8 + bit / 4], true));
                }
            }
        }
        assert!(seen.iter().all(|&s| s), "{bits}-bit rows fill the registers of a warp");
    }
}

#[test]
fn scales_lie_where_probes_of_the_hardware_found_them() {
    assert_eq!((scale_a_lane(0, 0), scale_a_lane(8, 0), scale_a_lane(3, 1)), (0, 1, 14));
    assert_eq!((scale_b_lane(0, 0), scale_b_lane(7, 3)), (0, 31));
}
