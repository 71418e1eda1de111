//! The arrays of a launch, and what its kernel does with them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::access::Region;
use crate::analysis::thread_private;
use crate::exec::image::Image;
use crate::exec::options::Options;
use crate::memory::Memory;
use crate::request::Launch;

/// What a launch can reach in global memory.
pub struct Arrays {
    /// By address.
    pub regions: Vec<Region>,
    /// Bytes of each that races are looked for in.
    pub sizes: Vec<u64>,
    /// [`own::find`].
    pub own_sites: Arc<[u32]>,
}

impl Arrays {
    pub fn of(memory: &mut Memory, options: &Options) -> Arrays {
        let (mut regions, mut sizes) = (Vec::new(), Vec::new());
        for allocation in memory.allocations_mut() {
            let freed = !allocation.live;
            regions.push(Region {
                base: allocation.base,
                end: allocation.base + allocation.bytes,
                pointer: allocation.pointer(),
                init: if freed || allocation.always_initialised() {
                    std::ptr::null()
                } else {
                    allocation.init_bits().as_ptr()
                },
                init_words: allocation.init_bits().len(),
                all_written: allocation.all_written(),
                name: allocation.name.clone(),
                read_only: allocation.read_only,
                freed,
                shadow: sizes.len() as u32,
                only_read: AtomicBool::new(false),
                owned: AtomicBool::new(false),
                only_atomic: AtomicBool::new(false),
                of_host: allocation.always_initialised(),
            });
            sizes.push(if freed || allocation.read_only || !options.checks.race { 0 } else { allocation.bytes });
        }
        Arrays { regions, sizes, own_sites: Arc::default() }
    }

    /// Marks the arrays that some argument points into and none that the kernel may write through, those that see nothing but
    /// atomics, and those of which every thread has parts of its own.
    pub fn find_use(&mut self, image: &Image, function: usize, launch: &Launch, options: &Options) {
        mark_by_pointers(&mut self.regions, image, function, &launch.params);
        for region in &mut self.regions {
            if !options.fast.mod_ref {
                region.only_read.store(false, Ordering::Relaxed);
                region.only_atomic.store(false, Ordering::Relaxed);
            }
        }
        if options.touched {
            // Accesses that are not watched would not be known either.
            for region in &self.regions {
                region.only_read.store(false, Ordering::Relaxed);
                region.only_atomic.store(false, Ordering::Relaxed);
            }
        } else if options.checks.race && options.fast.thread_private {
            self.own_sites = thread_private::known_or_found(&self.regions, image, function, launch);
        }
    }
}

fn mark_by_pointers(regions: &mut [Region], image: &Image, function: usize, params: &[u8]) {
    let Some(written) = image.written_arguments(function) else { return };
    for word in params.as_chunks::<8>().0 {
        let address = u64::from_le_bytes(*word);
        let Some(region) = regions.partition_point(|region| region.base <= address).checked_sub(1) else { continue };
        let region = &mut regions[region];
        let variable = image.variables.iter().any(|variable| (region.base..region.end).contains(&variable.address));
        // One past the end as well: some kernels count down.
        if address <= region.end && !variable {
            region.only_read.store(true, Ordering::Relaxed);
            region.only_atomic.store(true, Ordering::Relaxed);
        }
    }
    let mut through = |arguments: &[(u32, u32)], mark: &mut dyn FnMut(&mut Region)| {
        for (offset, bytes) in arguments {
            for at in (*offset as usize & !7..(offset + bytes) as usize).step_by(8) {
                let Some(word) = params.get(at..at + 8) else { continue };
                let address = u64::from_le_bytes(word.try_into().unwrap_or_default());
                regions.iter_mut().filter(|region| (region.base..=region.end).contains(&address)).for_each(&mut *mark);
            }
        }
    };
    through(&written.arguments, &mut |region| region.only_read.store(false, Ordering::Relaxed));
    through(&written.stored, &mut |region| region.only_atomic.store(false, Ordering::Relaxed));
    through(&written.seen, &mut |region| region.only_atomic.store(false, Ordering::Relaxed));
}
