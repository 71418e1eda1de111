//! Values at lines that somebody wants to see: what the last instruction of such a line gives, in traced warps.

use std::collections::BTreeSet;

use super::plan::{Does, Plan};
use super::{Cx, lanes};
use crate::exec::image::Image;
use crate::report::{SourceLine, WatchedValues};

/// Instructions whose results are kept: of every stretch of a watched line the last that gives a number, or stores one.
pub fn instructions(image: &Image, function: usize, lines: &[SourceLine]) -> BTreeSet<u32> {
    let code = image.functions[function].reach.clone();
    let watched = |pc: u32| {
        let source = image.source(pc);
        source.and_then(|source| lines.iter().position(|line| line.file == source.file && line.line == source.line))
    };
    let mut found = BTreeSet::new();
    let mut open: Option<(usize, Option<u32>, Option<u32>)> = None;
    for pc in code.chain([u32::MAX]) {
        let line = if pc == u32::MAX { None } else { watched(pc) };
        if open.is_some_and(|(of, ..)| Some(of) != line) {
            // A number before an index or an address.
            found.extend(open.take().and_then(|(_, number, other)| number.or(other)));
        }
        let Some(line) = line else { continue };
        let (_, number, other) = open.get_or_insert((line, None, None));
        match Plan::of(image, pc).does {
            Does::Compute(..) | Does::Product(_) | Does::Load(Some(_), _) | Does::Store(..) | Does::Shuffle => {
                *number = Some(pc);
            }
            Does::Pass if !image.infos[pc as usize].writes.is_empty() => *other = Some(pc),
            _ => {}
        }
    }
    found
}

impl Cx<'_> {
    /// Keeps what the instruction that has just run gave, if that is wanted of it.
    pub(super) fn watch(&mut self, pc: u32, mask: u32, plan: &Plan, before: &[super::Taken]) {
        let wanted = self.worker.trace.as_ref().is_some_and(|trace| trace.watched.contains(&pc));
        let Some(source) = self.image().source(pc).filter(|_| wanted && mask != 0) else { return };
        let number = |format: Option<super::Format>, raw: u64| match format {
            Some(format) => (0..format.parts()).map(|part| format.value(raw, part)).collect(),
            None => vec![f64::from(raw as u32 as i32)],
        };
        let values: Vec<f64> = match (plan.does, plan.results.first(), before.first()) {
            (Does::Store(format, _), _, Some(data)) => {
                lanes(mask).flat_map(|lane| number(format, data.lanes[lane])).collect()
            }
            (does, Some(slot), _) if !slot.is_none() => {
                let format = match does {
                    Does::Compute(to, _) | Does::Product(to) => Some(to),
                    Does::Load(format, _) => format,
                    // Floats are what lanes mostly hand around.
                    Does::Shuffle => Some(super::Format::F32),
                    _ => None,
                };
                let wide = format.is_some_and(super::Format::is_wide);
                lanes(mask).flat_map(|lane| number(format, self.raw(*slot, lane, wide))).collect()
            }
            _ => return,
        };
        let (block, warp) = (self.block.id, self.warp.index);
        let tick = self.grid.ticks.load(std::sync::atomic::Ordering::Relaxed);
        if let Some(trace) = &mut self.worker.trace {
            trace.keep(WatchedValues { source, block, warp, tick, mask, values });
        }
    }
}
