//! Arrays of which every thread has parts of its own. Most kernels write like that: each thread its element, its row, its
//! tile, at an address that is a sum of multiples of its coordinates. Where that can be read from the code, for the launch
//! at hand, no access to the array is in a race, and none needs to be remembered.
//!
//! An array is taken for such only if that holds of all accesses that may go there by the pointers that the kernel is given.
//! Should another one reach it all the same (an index far beyond its own array), the race check watches the array from then
//! on.

pub mod affine;
pub mod apart;
pub mod loops;
pub mod structure;
mod values;

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use crate::analysis::mod_ref::Access;
use crate::exec::cx::Cx;
use crate::exec::image::Image;
use crate::exec::memory::access::{Reach, Region};
use crate::exec::memory::flags::NC;
use crate::exec::op::Op;
use crate::request::Launch;
use affine::Affine;
use apart::{Place, are_apart};
pub use structure::Structure;
use structure::Way;
use values::Values;

/// Different places of one array; with more of them it is watched.
const MOST_PLACES: usize = 160;

/// In place of an array: an access is to none of them.
pub const NO_ARRAY: u32 = u32::MAX;

/// What was found of the last launch of a kernel: the next one mostly is like it.
#[derive(Debug, Default)]
pub struct Last(Mutex<Option<Box<(Key, Found)>>>);

/// Members as [`find`] gives them, and the arrays that it marked.
type Found = (Arc<[u32]>, Vec<usize>);

/// All that it depends on: the shape, the arguments, and what arrays there are.
#[derive(Debug, PartialEq, Eq)]
struct Key {
    grid: [u32; 3],
    block: [u32; 3],
    params: Vec<u8>,
    arrays: Vec<(u64, u64, [bool; 3])>,
}

impl Clone for Last {
    fn clone(&self) -> Last {
        Last::default()
    }
}

/// [`find`], or what it found of the last launch if this one is just like it.
pub fn known_or_found(regions: &[Region], image: &Image, function: usize, launch: &Launch) -> Arc<[u32]> {
    let array = |region: &Region| (region.base, region.end, [region.is_only_read(), region.of_host, region.freed]);
    let key = Key {
        grid: launch.grid,
        block: launch.block,
        params: launch.params.clone(),
        arrays: regions.iter().map(array).collect(),
    };
    let mut last = image.functions[function].owned.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some((_, (members, marked))) = last.as_deref().filter(|(known, _)| *known == key) {
        for array in marked {
            regions[*array].owned.store(true, Ordering::Relaxed);
        }
        return Arc::clone(members);
    }
    let members: Arc<[u32]> = find(regions, image, function, launch).into();
    let marked = (0..regions.len()).filter(|array| regions[*array].is_owned()).collect();
    *last = Some(Box::new((key, (Arc::clone(&members), marked))));
    members
}

/// Marks the arrays of which every thread has parts of its own ([`Region::owned`]), and gives for each memory access of the
/// module the array that it belongs to, or [`NO_ARRAY`]; nothing if there are none.
fn find(regions: &[Region], image: &Image, function: usize, launch: &Launch) -> Vec<u32> {
    let mut members = Vec::new();
    // Their number can pass 64 bits.
    let is_alone = launch.grid.iter().chain(&launch.block).all(|n| *n == 1);
    let Some(written) = image.written_arguments(function).filter(|_| !is_alone) else { return members };
    // Through a pointer that was in memory, anything may be reached.
    if written.accesses.iter().any(|access| access.through.is_none()) {
        return members;
    }
    let arrays = |access: &Access| -> Vec<usize> {
        let word = |at: usize| Some(u64::from_le_bytes(launch.params.get(at..at + 8)?.try_into().ok()?));
        let arguments = access.through.iter().flatten();
        let words = arguments.flat_map(|(at, bytes)| (*at as usize & !7..(at + bytes) as usize).step_by(8));
        words.filter_map(word).flat_map(|word| arrays_at(regions, word)).collect()
    };
    let holds_variable =
        |region: &Region| image.variables.iter().any(|variable| (region.base..region.end).contains(&variable.address));
    let mut wanted: Vec<usize> = written.accesses.iter().filter(|access| access.writes).flat_map(arrays).collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted.retain(|array| {
        let region = &regions[*array];
        !(region.is_only_read() || region.of_host || region.freed || holds_variable(region))
    });
    if wanted.is_empty() {
        return members;
    }
    let Some(structure) = image.structure(function) else { return members };
    let mut values = Values::new(image, structure, launch, regions);
    for array in wanted {
        let those: Vec<_> = structure.accesses.iter().filter(|(access, _)| arrays(access).contains(&array)).collect();
        if are_own(&mut values, &those, array) {
            members.resize(image.sites.len(), NO_ARRAY);
            for (access, _) in those {
                members[image.code[access.pc as usize].site as usize] = array as u32;
            }
            regions[array].owned.store(true, Ordering::Relaxed);
        }
    }
    members
}

/// Whether no two threads meet in accesses to an array.
fn are_own(values: &mut Values<'_>, accesses: &[&(Access, Vec<Way>)], array: usize) -> bool {
    let mut places: Vec<Place> = Vec::new();
    for (access, ways) in accesses {
        // What goes through another cache is another matter.
        let cached = values.image.code[access.pc as usize].e.0 & NC != 0;
        if !access.plain || cached || places.len() >= MOST_PLACES {
            return false;
        }
        let Some(place) = values.place(access.pc, ways, array, access.writes) else { return false };
        if !places.contains(&place) {
            places.push(place);
        }
    }
    all_apart(&places, values)
}

/// As the arrays that an argument points into are found: one that begins where another ends may be meant, or that one.
fn arrays_at(regions: &[Region], address: u64) -> impl Iterator<Item = usize> {
    let holds = move |region: &Region| (region.base..=region.end).contains(&address);
    regions.iter().enumerate().filter(move |(_, region)| holds(region)).map(|(array, _)| array)
}

fn all_apart(places: &[Place], values: &Values<'_>) -> bool {
    // Places that are as far from each other as two others say nothing new.
    let mut known = HashSet::new();
    places.iter().enumerate().all(|(at, a)| {
        places[at..].iter().all(|b| {
            let shift = a.address.constant - b.address.constant;
            let key = (&a.address.terms, &b.address.terms, shift, a.bytes, b.bytes, &a.facts, &b.facts);
            !a.writes && !b.writes || !known.insert(key) || are_apart(a, b, &values.ranges)
        })
    })
}

impl Values<'_> {
    /// Where a plain load or store goes, if that is in the array.
    fn place(&mut self, pc: u32, ways: &[Way], array: usize, writes: bool) -> Option<Place> {
        let image = self.image;
        let op = &image.code[pc as usize];
        let site = image.sites.get(op.site as usize).filter(|site| op.site != 0 && site.wide)?;
        self.assume(Vec::new());
        let mut facts = Vec::new();
        for way in ways {
            facts.extend(self.facts_of(*way));
        }
        if structure::is_guarded(op) {
            self.learn(op.guard, op.guard_flip == 0, &mut facts, 0);
        }
        self.assume(facts.clone());
        let mut value = self.operand(op.a, 64, pc).filter(|value| value.array == Some(array))?;
        value.sum = value.sum.plus(&Affine::constant(op.imm.into()), 1)?;
        let address = self.exact(&value, false)?;
        Some(Place { address, bytes: site.bytes, writes, facts })
    }
}

impl Cx<'_> {
    /// Whether an access to an array of which every thread has parts of its own is to the thread's own part; the first of which
    /// that is not known ends that.
    #[inline(always)]
    pub fn is_own(&self, op: &Op, reach: &Reach) -> bool {
        let own = self.grid.own_sites.get(op.site as usize) == Some(&reach.shadow);
        if !own {
            self.grid.regions[reach.shadow as usize].owned.store(false, Ordering::Relaxed);
        }
        own
    }
}
