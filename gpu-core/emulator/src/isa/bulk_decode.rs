//! What follows `cp.async.bulk`, `cp.async.bulk.tensor` and `cp.reduce.async.bulk`, read. The copies themselves are in
//! `bulk.rs`.

use super::Ty;
use super::bulk::*;
use super::memory::{Place, place};
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::op::{Slot, Taint};
use crate::memory::space::Window;
use crate::ptx::tree::Operand;
use crate::report::Class;
use crate::tensor::rows::Walk;

const REDUCTIONS: &[&str] = &["add", "min", "max", "inc", "dec", "and", "or", "xor"];

/// Decodes what follows `cp.async.bulk` or `cp.reduce.async.bulk`.
pub fn decode(e: &mut Emit<'_>, i: &mut Inst<'_>, reduce: bool) -> Decoded<()> {
    e.class = Class::AsyncCopy;
    if i.take("commit_group") {
        i.expect(0)?;
        let op = e.op(commit);
        e.push(op, Taint::Use);
        return Ok(());
    }
    if i.take("wait_group") {
        // The bytes have moved when the instruction ran: this is for the checks alone.
        let reads = i.take("read");
        i.expect(1)?;
        let Operand::Int(keep) = i.operands[0] else { return i.unsupported() };
        let mut op = e.op(wait);
        op.imm = i64::from(keep as u32) | i64::from(reads) << 32;
        e.push(op, Taint::Use);
        return Ok(());
    }
    if i.take("prefetch") {
        return prefetch(e, i);
    }
    let tensor = i.take("tensor");
    let mut imm = if tensor { TENSOR } else { 0 };
    let rank = rank(i);
    let (walk, coordinate_count, info_count) = mode(i, rank, i.opcode.contains(".global.shared"))?;
    let masked = i.take("cp_mask");
    let ignores = i.take("ignore_oob");
    let barrier = i.take("mbarrier::complete_tx::bytes");
    let grouped = i.take("bulk_group");
    let multicast = i.take("multicast::cluster");
    let cache = i.take("L2::cache_hint");
    i.take_where(|part| part.starts_with("cta_group"));
    // Strong copies (`.relaxed`, with a scope and `.b128`) are ordered as weak ones are.
    if !reduce {
        i.take_where(|part| matches!(part, "weak" | "relaxed" | "cta" | "cluster" | "gpu" | "sys" | "b128"));
    }
    let spaces = i.take_where(|part| matches!(part, "global" | "shared::cta" | "shared::cluster"));
    let [to, from] = spaces[..] else { return i.unsupported() };
    imm |= if to != "global" { TO_SHARED } else { 0 } | if from != "global" { FROM_SHARED } else { 0 };
    imm |= if multicast { MULTICAST } else { 0 };
    if grouped != (to == "global") {
        return Err(format!("`{}`: copies to global memory, and only they, name their `.bulk_group`", i.opcode));
    }
    if reduce {
        let Some(what) = i.take_any(REDUCTIONS) else { return i.unsupported() };
        i.take("noftz");
        let code = REDUCTIONS.iter().position(|name| *name == what).unwrap_or(0) as i64;
        let ty = if tensor { None } else { Some(i.ty()?) };
        imm |= REDUCE | code << 8 | ty.map_or(0, type_code) << 12;
    }
    let mut operands = i.operands.to_vec();
    let mask = if masked { operands.pop() } else { None };
    if cache {
        operands.pop();
    }
    let window = |space: &str| if space == "global" { Window::Global } else { Window::Shared };
    let mut op = e.op(run);
    let mut extra = Vec::new();
    let mut at = operands.iter();
    let first = at.next().ok_or("operands are missing")?;
    let second = at.next().ok_or("operands are missing")?;
    let (shared, other) = if to == "global" { (second, first) } else { (first, second) };
    let shared_place = place(e, shared, Window::Shared)?;
    let other_place =
        place(e, other, if tensor { Window::Generic } else { window(if to == "global" { to } else { from }) })?;
    imm |= if shared_place.wide { WIDE_SHARED } else { 0 };
    op.a = shared_place.base;
    op.b = other_place.base;
    extra.push(offset_slot(e, &shared_place));
    extra.push(offset_slot(e, &other_place));
    let within_shared = imm & TO_SHARED != 0 && imm & FROM_SHARED != 0;
    if !other_place.wide && !within_shared {
        return i.unsupported();
    }
    if tensor {
        let Operand::Address { more, .. } = other else { return i.unsupported() };
        let Some(Operand::Vector(coordinates)) = more.first() else { return i.unsupported() };
        check_coordinates(rank, coordinate_count, coordinates)?;
        for coordinate in coordinates {
            extra.push(e.src(coordinate, Ty::S32)?);
        }
    } else {
        op.c = e.src(at.next().ok_or("the size is missing")?, Ty::U32)?;
    }
    if ignores {
        imm |= IGNORE;
        for _ in 0..2 {
            extra.push(e.src(at.next().ok_or("the bytes to ignore are missing")?, Ty::U32)?);
        }
    }
    // What arrives in shared memory says so to an mbarrier; what leaves it belongs to a bulk group.
    let barrier = match (imm & TO_SHARED != 0, barrier) {
        (true, true) => Some(at.next().ok_or("the mbarrier is missing")?),
        (false, false) => None,
        _ => return i.unsupported(),
    };
    if info_count > 0 {
        let Some(Operand::Vector(info)) = at.next() else {
            return Err(format!("this mode takes a vector of {info_count} 16-bit numbers behind the mbarrier"));
        };
        if info.len() != info_count {
            return Err(format!("this mode takes {info_count} 16-bit numbers, not {}", info.len()));
        }
        for number in info {
            extra.push(e.src(number, Ty::U16)?);
        }
    }
    if let Some(barrier) = barrier {
        let bar = place(e, barrier, Window::Shared)?;
        imm |= if bar.wide { WIDE_BARRIER } else { 0 };
        op.d = bar.base;
        extra.push(offset_slot(e, &bar));
    }
    if multicast {
        op.e = e.src(at.next().ok_or("the multicast mask is missing")?, Ty::U16)?;
    }
    if let Some(mask) = mask {
        imm |= MASKED;
        op.e = e.src(&mask, Ty::U16)?;
    }
    if at.next().is_some() {
        return Err(format!("`{}` has more operands than it takes", i.opcode));
    }
    op.imm = imm | (rank as i64) << 20 | (walk as i64) << WALK_AT;
    op.site = e.site(true, 0);
    (op.list, op.list_len) = e.list(&extra);
    e.push(op, Taint::Use);
    Ok(())
}

/// Fetches into the second cache, which nothing here has: what is wrong with it is all there is to see.
fn prefetch(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let tensor = i.take("tensor");
    let rank = rank(i);
    let (coordinate_count, info_count) = match tensor {
        true => mode(i, rank, false).map(|(_, coordinates, infos)| (coordinates, infos))?,
        false => (0, 0),
    };
    if !(i.take("L2") && i.take("global")) || tensor != (rank > 0) {
        return i.unsupported();
    }
    let further = usize::from(i.take("L2::cache_hint")) + usize::from(info_count > 0 || !tensor);
    i.expect(1 + further)?;
    if tensor {
        let Operand::Address { more, .. } = &i.operands[0] else { return i.unsupported() };
        let Some(Operand::Vector(coordinates)) = more.first() else { return i.unsupported() };
        check_coordinates(rank, coordinate_count, coordinates)?;
        let infos = match (info_count, i.operands.get(1)) {
            (0, _) => 0,
            (_, Some(Operand::Vector(infos))) => infos.len(),
            _ => return i.unsupported(),
        };
        if infos != info_count {
            return Err(format!("this mode takes {info_count} 16-bit numbers, not {infos}"));
        }
    }
    let op = e.op(super::memory::nothing);
    e.push(op, Taint::Copy);
    Ok(())
}

/// Dimensions of the tensor; 0: none is named.
fn rank(i: &mut Inst<'_>) -> usize {
    i.take_any(&["1d", "2d", "3d", "4d", "5d"]).map_or(0, |name| usize::from(name.as_bytes()[0] - b'0'))
}

fn check_coordinates(rank: usize, wanted: usize, coordinates: &[Operand]) -> Decoded<()> {
    match coordinates.len() == wanted {
        true => Ok(()),
        false => {
            Err(format!("a {rank}-dimensional copy of this mode takes {wanted} coordinates, not {}", coordinates.len()))
        }
    }
}

/// How a tensor copy walks, and how many coordinates and further numbers that takes.
fn mode(i: &mut Inst<'_>, rank: usize, stores: bool) -> Decoded<(Walk, usize, usize)> {
    let modes = match stores {
        true => &["tile", "tile::scatter4", "im2col_no_offs"][..],
        false => &["tile", "tile::gather4", "im2col", "im2col::w", "im2col::w::128"],
    };
    let walk = match i.take_any(modes) {
        None | Some("tile") => return Ok((Walk::Tile, rank, 0)),
        Some(name) if name.starts_with("tile") => {
            return if rank == 2 { Ok((Walk::FourRows, 5, 0)) } else { i.unsupported() };
        }
        Some("im2col" | "im2col_no_offs") => Walk::Im2col,
        Some("im2col::w") => Walk::Wide,
        Some(_) => Walk::Wide128,
    };
    if rank < 3 {
        return Err("im2col modes are for tensors of 3 to 5 dimensions".to_owned());
    }
    Ok((
        walk,
        rank,
        if stores {
            0
        } else if walk == Walk::Im2col {
            rank - 2
        } else {
            2
        },
    ))
}

fn offset_slot(e: &mut Emit<'_>, place: &Place) -> Slot {
    e.pool.splat(u128::from(place.offset as u64), 64)
}
