//! Which forms of plain loads and stores exist (PTX ISA, sections "ld" and "st"), as ptxas of CUDA 13.5 holds them.

use super::Ty;
use crate::decode::emit::{Arch, Decoded};

const SCOPES: [&str; 4] = ["cta", "cluster", "gpu", "sys"];
/// The first architecture with loads and stores of 256 bits.
const WIDE_SINCE: u32 = 100;

/// Words that do not decide which types an atomic operation takes.
pub fn goes_with_atomics(part: &str) -> bool {
    let orders = ["relaxed", "acquire", "release", "acq_rel", "global", "shared", "shared::cta", "shared::cluster"];
    orders.contains(&part) || SCOPES.contains(&part) || part.starts_with("L2::")
}

/// Refuses a load or store with an ordering, a width or a type that none has.
pub fn check(name: &str, opcode: &str, arch: Arch) -> Decoded<()> {
    let has = |word: &str| opcode.split('.').any(|part| part == word);
    let wrong = |what: String| Err(format!("`{opcode}` does not exist: {what}"));
    if has("bulk") {
        return Ok(());
    }
    if has("async") {
        // Those that release were new with the architecture; those with an mbarrier are looked at where they are read.
        return match has("release") && arch.number < WIDE_SINCE {
            true => wrong("asynchronous releases need sm_100 or later".to_owned()),
            false => Ok(()),
        };
    }
    let other = if name == "st" { "acquire" } else { "release" };
    if has("acq_rel") || has(other) {
        return wrong(format!("`{name}` takes neither `.acq_rel` nor `.{other}`"));
    }
    let strong = ["relaxed", "acquire", "release"].into_iter().find(|word| has(word));
    if let Some(order) = strong
        && !SCOPES.into_iter().any(has)
    {
        return wrong(format!("`.{order}` needs a scope: .cta, .cluster, .gpu or .sys"));
    }
    let fixed = ["const", "param", "param::entry", "param::func"].into_iter().any(has);
    if fixed && (strong.is_some() || has("volatile") || has("mmio")) || has("local") && strong.is_some() {
        return wrong("nothing else writes this state space, so it has no such ordering".to_owned());
    }
    if has("mmio") && opcode.contains(".shared") {
        return wrong("`.mmio` is for global memory".to_owned());
    }
    if name == "st" && ["L2::64B", "L2::128B", "L2::256B"].into_iter().any(has) {
        return wrong("only loads fetch more into the L2 cache".to_owned());
    }
    if has("nc") && !has("global") {
        return wrong("`.nc` is for global memory".to_owned());
    }
    let elsewhere = fixed || has("local") || opcode.contains(".shared");
    widths(opcode, elsewhere, arch).or_else(|what| wrong(what.to_owned()))
}

fn widths(opcode: &str, elsewhere: bool, arch: Arch) -> Result<(), &'static str> {
    let Some(ty) = opcode.rsplit('.').find_map(Ty::parse) else { return Ok(()) };
    let packed =
        matches!(ty, Ty::F16 | Ty::BF16 | Ty::F16x2 | Ty::BF16x2 | Ty::F32x2 | Ty::U16x2 | Ty::S16x2 | Ty::TF32);
    if packed || ty == Ty::Pred {
        return Err("loads and stores take .b, .u, .s types, .f32 and .f64: use the .b type of the same size");
    }
    let count = |part: &str| part.strip_prefix('v').and_then(|count| count.parse().ok());
    let elements: u32 = opcode.split('.').find_map(count).unwrap_or(1);
    match elements * ty.bits() {
        0..=128 => Ok(()),
        256 if elsewhere => Err("256 bits at a time are for `.global`"),
        256 if arch.number < WIDE_SINCE => Err("256 bits at a time need sm_100 or later"),
        256 if ty.bits() < 128 => Ok(()),
        _ => Err("a vector has at most 128 bits, or 256 as .v8 of 32 bits or .v4 of 64"),
    }
}
