//! `multimem`: operations on a multicast object, memory that several GPUs hold each a copy of. Here it is a team of one,
//! as a program sees it that binds one device: a load that reduces finds one copy, stores and reductions go to that one.

use super::{Row, Ty};
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::report::Class;

pub const ROWS: &[Row] = &[Row { opcode: "multimem", class: Class::Global, decode, examples: &[] }];

const OPERATIONS: &[&str] = &["add", "min", "max", "and", "or", "xor"];

fn decode(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    if e.arch.number < 90 {
        return Err("multimem needs sm_90 or later".to_owned());
    }
    match i.take_any(&["ld_reduce", "st", "red", "cp"]) {
        Some("ld_reduce") => load(e, i),
        Some("st") => super::memory::st(e, i),
        Some("red") => super::atomic::atom(e, i, false),
        Some(_) => {
            let reduce = i.take("reduce");
            if i.take("async") && i.take("bulk") { super::bulk_decode::decode(e, i, reduce) } else { i.unsupported() }
        }
        None => i.unsupported(),
    }
}

fn load(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let Some(operation) = i.take_any(OPERATIONS) else { return i.unsupported() };
    // One copy needs no accumulator.
    i.take_any(&["acc::f32", "acc::f16"]);
    // Four packed elements, and single ones.
    let narrow = match i.take_any(&["e4m3x4", "e5m2x4", "e4m3", "e5m2"]) {
        Some("e4m3x4" | "e5m2x4") => Some(Ty::B32),
        Some(_) => Some(Ty::B8),
        None => None,
    };
    let ty = match narrow {
        Some(ty) => ty,
        None => i.ty()?,
    };
    let bits = matches!(ty, Ty::B32 | Ty::B64) && narrow.is_none();
    if bits == matches!(operation, "add" | "min" | "max") {
        return i.unsupported();
    }
    super::memory::load_of(e, i, ty)
}
