//! What matrix instructions make of undefined elements: tiles at an edge are filled in part, and what was not filled touches
//! rows and columns alone that nobody stores.

use crate::check::undef::undefined::{Bits, Moved};
use crate::exec::cx::{Cx, lanes};
use crate::exec::op::Op;

impl Cx<'_> {
    /// Undefined results of a product of matrices. None: this is none, or what it makes of them is not known, as with undefined
    /// metadata or scales.
    pub(crate) fn undefined_products(&self, op: &Op) -> Option<Moved> {
        let plan = crate::isa::matrix::plan(op)?;
        let slots = self.image().list(op);
        let [a, b, c, d] = plan.form.registers();
        let (results, first) = (&slots[slots.len() - d..], [0, a, a + b]);
        let more = &slots[a + b + c..slots.len() - d];
        if more.iter().any(|slot| (0..32).any(|lane| self.undefined(*slot, lane) != 0)) {
            return None;
        }
        let of = |part: usize, register: usize, lane: usize| self.undefined(slots[first[part] + register], lane) as u32;
        let rows = plan.undefined_results(of)?;
        let marked = results.iter().zip(rows).filter(|(_, row)| *row != [0; 32]);
        Some(marked.map(|(slot, row)| (*slot, Bits::each(|lane| row[lane].into()))).collect())
    }
}

/// Undefined bits of a register that `ldmatrix` fills from eight rows, of which those of `missing` are: four lanes get a row,
/// or, where the matrix is turned, each lane an element of two rows.
pub(crate) fn of_matrix(missing: u32, turned: bool) -> Bits {
    Bits::each(|lane| match turned {
        false if missing >> (lane / 4) & 1 != 0 => u128::from(u32::MAX),
        false => 0,
        true => lanes(missing >> (2 * (lane % 4)) & 3).fold(0, |bits, half| bits | 0xffff << (16 * half)),
    })
}
