//! What the visualizations read out of a trace. Nothing here draws, and nothing here trusts the trace to be complete:
//! it may be cut short anywhere.

use gpu_core::emulator::{
    AccessKind, Class, Space, Step, StepAccess, Trace, TraceAllocation, TraceInstruction, WarpTrace,
};

/// Lanes of a warp.
pub const LANES: u32 = 32;
/// Bytes of a sector, the unit in which memory is fetched.
pub const SECTOR_BYTES: u64 = 32;
/// Bytes of a cache line: four sectors.
pub const LINE_BYTES: u64 = 128;
/// Banks of shared memory, each four bytes wide.
pub const BANKS: u64 = 32;
pub const BANK_BYTES: u64 = 4;

/// Lanes whose bit is set, lowest first.
pub fn lanes(mask: u32) -> impl Iterator<Item = u32> {
    (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
}

/// Lane and address of each active lane of an access.
pub fn lane_addresses(step: &Step) -> impl Iterator<Item = (u32, u64)> + '_ {
    let addresses = step.access.as_ref().map_or(&[][..], |access| access.addresses.as_slice());
    lanes(step.mask).zip(addresses.iter().copied())
}

/// `threadIdx` of a linear index within a block: x is fastest.
pub fn thread_at(block_dim: [u32; 3], linear: u32) -> [u32; 3] {
    let [x, y, _] = block_dim.map(|d| u64::from(d.max(1)));
    let linear = u64::from(linear);
    [linear % x, linear / x % y, linear / (x * y)].map(|index| index as u32)
}

/// `blockIdx` to the linear index that [`gpu_core::emulator::TraceRequest`] uses.
pub fn block_linear(grid: [u32; 3], block: [u32; 3]) -> u64 {
    let [gx, gy, _] = grid.map(u64::from);
    let rows = u64::from(block[1]).saturating_add(gy.saturating_mul(u64::from(block[2])));
    u64::from(block[0]).saturating_add(gx.saturating_mul(rows))
}

pub fn volume(dims: [u32; 3]) -> u64 {
    dims.iter().fold(1, |volume: u64, d| volume.saturating_mul(u64::from((*d).max(1))))
}

/// Blocks of which something was traced.
pub fn traced_blocks(trace: &Trace) -> u64 {
    let mut blocks: Vec<[u32; 3]> = trace.warps.iter().map(|warp| warp.block).collect();
    blocks.dedup();
    blocks.sort_unstable();
    blocks.dedup();
    blocks.len() as u64
}

/// True where the launch did more than the trace holds.
pub fn is_part(trace: &Trace) -> bool {
    trace.truncated || traced_blocks(trace) < volume(trace.grid)
}

/// How many of a warp's lanes are threads of the block: the last warp may be partly empty.
pub fn lanes_in_warp(block_dim: [u32; 3], warp: u32) -> u32 {
    let threads = volume(block_dim).min(u64::from(u32::MAX)) as u32;
    threads.saturating_sub(warp.saturating_mul(LANES)).min(LANES)
}

/// A source line and array that warps access: what the viewer chooses among.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessSite {
    /// Index into [`Trace::instructions`].
    pub instruction: u32,
    pub space: Space,
    pub kind: AccessKind,
    /// Bytes per lane.
    pub bytes: u32,
    pub allocation: Option<u32>,
    /// One-based source line, 0 when unknown.
    pub line: u32,
    /// Name of the array, or of the space where the array is unknown.
    pub array: String,
}

impl AccessSite {
    /// For example `line 4: load a (4 bytes a lane)`.
    pub fn label(&self) -> String {
        let verb = match self.kind {
            AccessKind::Read => "load",
            AccessKind::Write => "store",
            AccessKind::Atomic => "atomic on",
            AccessKind::AsyncCopy => "async copy of",
        };
        let bytes = if self.bytes == 1 { "1 byte".to_owned() } else { format!("{} bytes", self.bytes) };
        match self.line {
            0 => format!("{verb} {} ({bytes} a lane)", self.array),
            line => format!("line {line}: {verb} {} ({bytes} a lane)", self.array),
        }
    }
}

/// Every place in the kernel that touches memory of the wanted kind, in order of source line.
pub fn access_sites(trace: &Trace, wanted: impl Fn(Space) -> bool) -> Vec<AccessSite> {
    let mut sites: Vec<AccessSite> = Vec::new();
    for step in trace.warps.iter().flat_map(|warp| &warp.steps) {
        let Some(access) = step.access.as_ref().filter(|access| wanted(access.space)) else { continue };
        let known = |site: &AccessSite| site.instruction == step.instruction && site.allocation == access.allocation;
        if sites.iter().any(known) {
            continue;
        }
        let source = trace.instructions.get(step.instruction as usize).and_then(|i| i.source.as_ref());
        sites.push(AccessSite {
            instruction: step.instruction,
            space: access.space,
            kind: access.kind,
            bytes: access.bytes,
            allocation: access.allocation,
            line: source.map_or(0, |source| source.line),
            array: allocation(trace, access).map_or_else(|| space_name(access.space).to_owned(), |a| a.name.clone()),
        });
    }
    sites.sort_by_key(|site| (site.line, site.instruction));
    sites
}

pub fn space_name(space: Space) -> &'static str {
    match space {
        Space::Global => "global memory",
        Space::Shared => "shared memory",
        Space::Local => "local memory",
        Space::Const => "constant memory",
        Space::Param => "parameters",
        Space::Cluster => "shared memory of the cluster",
        Space::Generic => "memory",
    }
}

pub fn allocation<'a>(trace: &'a Trace, access: &StepAccess) -> Option<&'a TraceAllocation> {
    trace.allocations.get(access.allocation? as usize)
}

/// One execution of an access site by one warp.
#[derive(Clone, Copy, Debug)]
pub struct Execution<'a> {
    pub warp: &'a WarpTrace,
    /// Index of the warp in the trace.
    pub number: usize,
    /// Index of the step within its warp.
    pub at: usize,
    pub step: &'a Step,
}

/// Each time that a traced warp executed `site`, in the order of execution.
pub fn executions<'a>(trace: &'a Trace, site: &AccessSite) -> Vec<Execution<'a>> {
    let mut found: Vec<Execution<'a>> = Vec::new();
    for (number, warp) in trace.warps.iter().enumerate() {
        for (at, step) in warp.steps.iter().enumerate() {
            let same = step.access.as_ref().is_some_and(|access| access.allocation == site.allocation);
            if step.instruction == site.instruction && same {
                found.push(Execution { warp, number, at, step });
            }
        }
    }
    found.sort_by_key(|execution| execution.step.tick);
    found
}

/// The 32-byte sectors that an access touches, in address order, each with the lanes that use it.
pub fn sectors(step: &Step) -> Vec<(u64, u32)> {
    let bytes = step.access.as_ref().map_or(1, |access| u64::from(access.bytes.max(1)));
    let mut sectors: Vec<(u64, u32)> = Vec::new();
    for (lane, address) in lane_addresses(step) {
        let last = address.saturating_add(bytes - 1) / SECTOR_BYTES;
        for sector in address / SECTOR_BYTES..=last {
            match sectors.iter_mut().find(|(known, _)| *known == sector) {
                Some((_, mask)) => *mask |= 1 << lane,
                None => sectors.push((sector, 1 << lane)),
            }
        }
    }
    sectors.sort_unstable();
    sectors
}

/// One pass over the banks (a wavefront): which lanes get something in it, and the word that each bank delivers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    pub lanes: u32,
    /// Bank and word index (address divided by four), one entry per bank that works.
    pub words: Vec<(u64, u64)>,
}

/// Words that a lane's access covers.
fn words_of(address: u64, bytes: u64) -> std::ops::RangeInclusive<u64> {
    address / BANK_BYTES..=address.saturating_add(bytes - 1) / BANK_BYTES
}

/// Lanes whose words go through the banks together: the whole warp for up to 8 bytes a lane, half of it for 16. So the
/// emulator counts, and so an H200 was measured to do.
fn groups(bytes: u64) -> &'static [u32] {
    if bytes <= 8 { &[u32::MAX] } else { &[0x0000_ffff, 0xffff_0000] }
}

/// Serves a shared-memory access in passes: in one pass each bank delivers one 4-byte word, to every lane that wants
/// that very word. So many passes are needed as the fullest bank has different words to deliver.
pub fn passes(step: &Step) -> Vec<Pass> {
    let bytes = step.access.as_ref().map_or(4, |access| u64::from(access.bytes.max(1)));
    let mut passes = Vec::new();
    for group in groups(bytes) {
        // The queue of each bank: its words, in the order in which lanes ask, with the lanes that want them.
        let mut queues: Vec<Vec<(u64, u32)>> = vec![Vec::new(); BANKS as usize];
        for (lane, address) in lane_addresses(step).filter(|(lane, _)| group >> lane & 1 == 1) {
            for word in words_of(address, bytes) {
                let queue = &mut queues[(word % BANKS) as usize];
                match queue.iter_mut().find(|(known, _)| *known == word) {
                    Some((_, lanes)) => *lanes |= 1 << lane,
                    None => queue.push((word, 1 << lane)),
                }
            }
        }
        for turn in 0..queues.iter().map(Vec::len).max().unwrap_or(0) {
            let mut pass = Pass::default();
            for (bank, queue) in queues.iter().enumerate() {
                if let Some((word, lanes)) = queue.get(turn) {
                    pass.words.push((bank as u64, *word));
                    pass.lanes |= lanes;
                }
            }
            passes.push(pass);
        }
    }
    passes
}

/// The fewest passes that could deliver as many words, spread evenly over the banks. Passes beyond these are bank
/// conflicts.
pub fn fewest_passes(step: &Step) -> usize {
    let bytes = step.access.as_ref().map_or(4, |access| u64::from(access.bytes.max(1)));
    let fewest = |group: &u32| {
        let mut words: Vec<u64> = lane_addresses(step)
            .filter(|(lane, _)| group >> lane & 1 == 1)
            .flat_map(|(_, address)| words_of(address, bytes))
            .collect();
        words.sort_unstable();
        words.dedup();
        (words.len() as u64).div_ceil(BANKS) as usize
    };
    groups(bytes).iter().map(fewest).sum()
}

/// Tells one trace from another, cheaply: what a visualization derived from the last one is kept until this changes.
pub fn fingerprint(trace: &Trace) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    (&trace.kernel, trace.grid, trace.block, trace.instructions.len(), trace.truncated).hash(&mut hasher);
    for allocation in &trace.allocations {
        (&allocation.name, allocation.base, allocation.bytes).hash(&mut hasher);
    }
    for warp in &trace.warps {
        (warp.block, warp.warp, warp.steps.len()).hash(&mut hasher);
        for step in [warp.steps.first(), warp.steps.last()].into_iter().flatten() {
            (step.tick, step.instruction, step.mask).hash(&mut hasher);
            step.access.as_ref().map(|access| &access.addresses).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Opcode and modifiers of an instruction, without its guard.
fn opcode_parts(instruction: &TraceInstruction) -> impl Iterator<Item = &str> {
    let name = instruction.text.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default();
    name.trim_end_matches(';').split('.')
}

/// Whether all threads of the block wait for each other here. Fences and barriers of a warp have the same class, and
/// make nobody else wait.
pub fn is_block_barrier(instruction: &TraceInstruction) -> bool {
    let mut parts = opcode_parts(instruction);
    instruction.class == Class::Barrier
        && matches!(parts.next(), Some("bar" | "barrier"))
        && !parts.any(|part| matches!(part, "warp" | "arrive"))
}

/// Floating-point operations of one executed instruction; a multiply-add is two.
pub fn flops_of(instruction: &TraceInstruction, mask: u32) -> f64 {
    let mut parts = opcode_parts(instruction);
    let opcode = parts.next().unwrap_or_default();
    let parts: Vec<&str> = parts.collect();
    match instruction.class {
        Class::Matrix => parts.iter().find_map(|part| shape(part)).map_or(0.0, |[m, n, k]| 2.0 * m * n * k),
        Class::Float32 | Class::Float64 | Class::FloatNarrow => {
            let each = match opcode {
                "fma" | "mad" => 2.0,
                "add" | "sub" | "mul" | "div" => 1.0,
                _ => 0.0,
            };
            let packed = if parts.iter().any(|part| part.ends_with("x2")) { 2.0 } else { 1.0 };
            each * packed * f64::from(mask.count_ones())
        }
        _ => 0.0,
    }
}

/// `m16n8k16` as numbers.
fn shape(part: &str) -> Option<[f64; 3]> {
    let (m, rest) = part.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

/// The line of the kernel's text, without its indentation.
pub fn source_line(source: Option<&str>, line: u32) -> Option<&str> {
    source?.lines().nth((line as usize).checked_sub(1)?).map(str::trim)
}

/// `5`, `(3, 1)` or `(3, 1, 0)`: as many coordinates as the launch uses.
pub fn coordinates(at: [u32; 3], dims: [u32; 3]) -> String {
    if dims[2] > 1 {
        format!("({}, {}, {})", at[0], at[1], at[2])
    } else if dims[1] > 1 {
        format!("({}, {})", at[0], at[1])
    } else {
        at[0].to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu_core::emulator::AccessKind;

    fn step(bytes: u32, addresses: impl IntoIterator<Item = u64>) -> Step {
        let addresses: Vec<u64> = addresses.into_iter().collect();
        let mask = if addresses.len() >= 32 { u32::MAX } else { (1 << addresses.len()) - 1 };
        let access = StepAccess {
            space: Space::Shared,
            kind: AccessKind::Read,
            bytes,
            allocation: None,
            addresses,
            further: Vec::new(),
            cost: 0,
        };
        Step { tick: 0, instruction: 0, mask, access: Some(access), copy: None, barrier: None }
    }

    #[test]
    fn sectors_of_the_textbook_patterns() {
        assert_eq!(sectors(&step(4, (0..32).map(|l| l * 4))).len(), 4);
        assert_eq!(sectors(&step(4, (0..32).map(|l| l * 4 + 4))).len(), 5, "misaligned");
        assert_eq!(sectors(&step(4, (0..32).map(|l| l * 8))).len(), 8, "every second element");
        assert_eq!(sectors(&step(4, (0..32).map(|l| l * 128))).len(), 32, "a column");
        assert_eq!(sectors(&step(16, (0..32).map(|l| l * 16))).len(), 16, "float4");
        assert_eq!(sectors(&step(4, (0..32).map(|_| 64))), [(2, u32::MAX)], "all the same");
        assert_eq!(sectors(&step(4, [u64::MAX])).len(), 1, "an absurd address");
    }

    #[test]
    fn passes_of_the_textbook_patterns() {
        for (stride, expected) in [(1, 1), (2, 2), (4, 4), (8, 8), (16, 16), (32, 32), (33, 1), (3, 1), (0, 1)] {
            assert_eq!(passes(&step(4, (0..32).map(|l| l * 4 * stride))).len(), expected, "stride {stride}");
        }
        assert_eq!(passes(&step(8, (0..32).map(|l| l * 8))).len(), 2, "double");
        assert_eq!(passes(&step(16, (0..32).map(|l| l * 16))).len(), 4, "float4");
        assert_eq!(passes(&step(1, 0..32)).len(), 1, "bytes of eight words");
    }

    /// Wavefronts of one warp as Nsight Compute counted them on an H200; the lanes' addresses are those of the probes.
    #[test]
    fn passes_are_what_the_hardware_was_measured_to_take() {
        let text = include_str!("../../../assets/recorded/counters-h200.json");
        let recorded: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let warps = 32;
        type Address = fn(u64, u64) -> u64;
        let probes: [(&str, u32, Address); 6] = [
            ("s_stride", 4, |lane, k| (lane * k % 4096) * 4),
            ("s_pairs", 4, |lane, k| (lane / 2) * k * 4),
            ("s_float2", 8, |lane, k| (lane * k % 2048) * 8),
            ("s_float4", 16, |lane, k| (lane * k % 1024) * 16),
            ("s_float4_swizzle", 16, |lane, k| ((lane * 8 + ((lane ^ k) & 7)) % 1024) * 16),
            ("s_byte", 1, |lane, k| lane * k),
        ];
        let mut compared = 0;
        for launch in recorded["launches"].as_array().expect("launches") {
            let probe = probes.iter().find(|(name, ..)| launch["kernel"] == *name);
            let (Some((name, bytes, address)), Some(k)) = (probe, launch["k"].as_u64()) else { continue };
            let step = step(*bytes, (0..32).map(|lane| address(lane, k)));
            let count = |key: &str| launch[key].as_u64().expect("a count") / warps;
            let found = passes(&step).len() as u64;
            assert_eq!(found, count("shared_load_wavefronts"), "{name}, k = {k}");
            assert_eq!(found - fewest_passes(&step) as u64, count("shared_load_bank_conflicts"), "{name}, k = {k}");
            compared += 1;
        }
        assert!(compared >= 20, "only {compared} probes were compared");
    }

    #[test]
    fn every_lane_is_served_once_in_a_conflict() {
        let all = passes(&step(4, (0..32).map(|l| l * 128)));
        assert_eq!(all.iter().fold(0, |mask, pass| mask ^ pass.lanes), u32::MAX);
    }

    #[test]
    fn operations_are_counted_by_instruction() {
        let mma = |text: &str| TraceInstruction { text: text.into(), source: None, class: Class::Matrix };
        assert_eq!(flops_of(&mma("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), u32::MAX), 4096.0);
        let packed = TraceInstruction { class: Class::FloatNarrow, ..mma("@%p1 fma.rn.f16x2 %r1, %r2;") };
        assert_eq!(flops_of(&packed, 0xF), 16.0);
        let fma = TraceInstruction { class: Class::Float32, ..mma("fma.rn.f32 %f1, %f2, %f3, %f1;") };
        assert_eq!(flops_of(&fma, u32::MAX), 64.0, "a multiply-add is two operations");
    }

    #[test]
    fn only_a_barrier_of_the_block_makes_the_block_wait() {
        let is_barrier =
            |text: &str| is_block_barrier(&TraceInstruction { text: text.into(), source: None, class: Class::Barrier });
        for text in
            ["bar.sync \t0;", "@%p1 barrier.sync 0;", "barrier.cta.red.popc.aligned.u32 %r1, 0, %p1;", "bar.sync;"]
        {
            assert!(is_barrier(text), "{text}");
        }
        for text in
            ["bar.warp.sync \t-1;", "membar.cta;", "fence.acq_rel.cta;", "bar.arrive 1, 64;", "mbarrier.test_wait"]
        {
            assert!(!is_barrier(text), "{text}");
        }
    }

    #[test]
    fn threads_and_blocks_are_numbered_x_first() {
        assert_eq!(thread_at([16, 4, 2], 16 * 4 + 17), [1, 1, 1]);
        assert_eq!(thread_at([0, 0, 0], 5), [0, 0, 5]);
        assert_eq!(block_linear([3, 2, 1], [2, 1, 0]), 5);
        assert_eq!(lanes_in_warp([40, 1, 1], 1), 8);
        assert_eq!(lanes_in_warp([40, 1, 1], 2), 0);
        assert_eq!(coordinates([3, 1, 0], [8, 8, 1]), "(3, 1)");
    }
}
