//! A large matrix product against float64, at elements drawn by lot: the whole product would take minutes on a CPU.

use super::point::{Bench, Buffers};
use crate::device::RunError;
use crate::library::Product;
use crate::spec::Resolved;
use rand::{Rng, SeedableRng, rngs::SmallRng};

/// Rows and columns drawn; every crossing is compared. A tile that is left out or doubled covers at least a 200th of
/// a row of 16384, so 64 columns miss it with a chance below 3/4, and 16 rows of them below 1 in 100.
const ROWS: usize = 16;
const COLUMNS: usize = 64;

/// Compares what is in the product's output with float64 sums over the inputs that `seed` gave. None: all agree.
pub fn first_wrong(
    bench: &Bench<'_>,
    case: &Resolved,
    buffers: &Buffers,
    product: &Product,
    seed: u64,
) -> Result<Option<String>, RunError> {
    let [a_at, b_at, c_at] = product.operands;
    let (a, b) = (buffers.one_period(case, a_at, seed), buffers.one_period(case, b_at, seed));
    let element = |values: &[f64], index: u64| values[(index % values.len() as u64) as usize];
    let mut random = SmallRng::seed_from_u64(seed);
    // The corners are where a tile hangs over the edge.
    let mut draw = |extent: u64, count: usize| {
        let mut drawn = vec![0, extent - 1];
        drawn.extend((2..count).map(|_| random.random_range(0..extent)));
        drawn
    };
    let (rows, columns) = (draw(product.rows, ROWS), draw(product.columns, COLUMNS));
    let width = product.output.bytes();
    let tolerance = &bench.spec.tolerance;
    let mut bytes = vec![0; width];
    for row in rows {
        for &column in &columns {
            let (mut sum, mut a_square, mut b_square) = (0.0, 0.0, 0.0);
            for inner in 0..product.depth {
                let x = element(&a, row * product.depth + inner);
                let place = if product.b_is_transposed {
                    column * product.depth + inner
                } else {
                    inner * product.columns + column
                };
                let y = element(&b, place);
                sum += x * y;
                a_square += x * x;
                b_square += y * y;
            }
            let at = row * product.columns + column;
            buffers.read(c_at, at as usize * width, &mut bytes)?;
            let got = product.output.decode(&bytes);
            let allowed = tolerance.absolute + tolerance.relative * f64::sqrt(a_square * b_square);
            if got.is_nan() || (got - sum).abs() > allowed {
                return Ok(Some(format!("c[{row}][{column}] is {got}, float64 gives {sum}")));
            }
        }
    }
    Ok(None)
}
