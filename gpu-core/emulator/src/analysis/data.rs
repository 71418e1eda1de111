//! Which volatile loads fetch data, and which ask whether something happened.
//!
//! A flag, a counter or a word that carries its own state may be read at any time: the kernel looks at what it got. A value
//! that only goes into sums and the like has to be the right one already: such a load is in a race with every write that
//! nothing orders before it, however strong both are.

use std::collections::HashSet;

use crate::analysis::deciders::deciders;
use crate::exec::image::Texts;
use crate::exec::memory::flags::{DATA, FETCH};
use crate::exec::op::{Op, OpInfo, Slot, Taint};
use crate::exec::opcode::{is_bitwise, opcode};

/// Loads times instructions that are looked at for one function.
const MOST_STEPS: usize = 1 << 24;

/// Marks the loads of a function that fetch data.
pub fn mark(code: &mut [Op], infos: &[OpInfo], texts: &Texts) {
    let text = |at: usize| opcode(texts.get(infos[at].text));
    let asks = |at: &usize| text(*at).starts_with("ld.volatile.") || text(*at).starts_with("ld.relaxed.");
    let loads: Vec<usize> = (0..code.len()).filter(|at| infos[*at].result_used && asks(at)).collect();
    if loads.is_empty() || loads.len().saturating_mul(code.len()) > MOST_STEPS {
        return;
    }
    let decides = deciders(code, infos);
    for load in loads {
        let writes = &infos[load].writes;
        let deciding = |at: usize| infos[at].writes.iter().any(|slot| decides.contains(slot));
        if !deciding(load) && !is_looked_at(infos, &text, writes) && !is_confirmed(load, code.len(), &text, deciding) {
            code[load].e.0 |= if text(load).starts_with("ld.volatile.") { DATA } else { FETCH };
        }
    }
}

/// Whether a fence and another look at a volatile word follow before anything is stored: a reader that starts anew when its
/// data changed under it.
fn is_confirmed<'t>(
    load: usize,
    end: usize,
    text: &impl Fn(usize) -> &'t str,
    deciding: impl Fn(usize) -> bool,
) -> bool {
    let mut fenced = false;
    for at in load + 1..end {
        match text(at).split('.').next().unwrap_or_default() {
            "membar" | "fence" => fenced = true,
            "st" | "atom" | "red" => return false,
            "ld" if text(at).starts_with("ld.volatile.") && deciding(at) => return fenced,
            _ => {}
        }
    }
    false
}

/// Whether a value, or some of its bits, may decide anything: by a comparison, as an address, in an atomic, in what is called
/// with it, or as it is in memory, for other threads or the host.
fn is_looked_at<'t>(infos: &[OpInfo], text: &impl Fn(usize) -> &'t str, value: &[Slot]) -> bool {
    let mut same: HashSet<Slot> = value.iter().copied().collect();
    loop {
        let before = same.len();
        for (at, info) in infos.iter().enumerate() {
            if !info.reads.iter().any(|slot| same.contains(slot)) {
                continue;
            }
            let name = text(at);
            let looks = match info.taint {
                Taint::Memory | Taint::Use | Taint::Shuffle | Taint::Select | Taint::Call => true,
                Taint::Copy | Taint::Compute => name.starts_with("set") || name.starts_with("testp"),
            };
            if looks {
                return true;
            }
            if info.taint == Taint::Copy || is_bitwise(name) || name.starts_with("sub") {
                same.extend(&info.writes);
            }
        }
        if same.len() == before {
            return false;
        }
    }
}
