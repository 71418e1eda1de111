//! Accesses that may not be made: what they would have hit, and the fault that says so.

use super::access::{Found, parts};
use super::address::Addresses;
use crate::exec::cx::{Cx, lanes, watch};
use crate::exec::fault::{Detail, text_of};
use crate::exec::op::Op;
use crate::exec::origin::Origin;
use crate::exec::sched::block::SharedArray;
use crate::memory::space::Window;
use crate::report::{AccessKind, AllocationRef, FaultKind, Space};

impl Cx<'_> {
    /// The array that holds `[address, address + bytes)` of a window, or the nearest one.
    pub fn locate(&self, window: Window, address: u64, bytes: u64) -> (bool, Option<AllocationRef>) {
        let mut best: Option<(u64, AllocationRef, bool)> = None;
        // Places in other blocks of the cluster are named by their offset there.
        let peer = window == Window::Shared && (1..=self.peers.len() as u64).contains(&(address >> 24));
        let address = if peer { address & 0xff_ffff } else { address };
        let mut offer = |name: &str, base: u64, size: u64| {
            let inside = address >= base && address.saturating_add(bytes) <= base + size;
            let distance =
                if address < base { base - address } else { address.saturating_add(bytes).saturating_sub(base + size) };
            if best.as_ref().is_none_or(|found| distance < found.0) {
                let offset = address.wrapping_sub(base) as i64;
                best = Some((distance, AllocationRef { name: name.to_owned(), base, bytes: size, offset }, inside));
            }
        };
        match window {
            Window::Shared => {
                for array in &self.grid.shared_arrays {
                    offer(&array.name, u64::from(array.base), u64::from(array.bytes));
                }
            }
            Window::Local => {
                let frame = self.warp.splits[self.warp.current].frame;
                offer("the thread's stack", 0, u64::from(self.warp.frame(frame).local_top));
            }
            Window::Param => offer("kernel parameters", 0, self.grid.launch.params.len() as u64),
            _ => {
                for region in self.grid.regions.iter().filter(|region| !region.freed) {
                    offer(&region.name, region.base, region.end - region.base);
                }
            }
        }
        match best {
            Some((_, allocation, inside)) => (inside, Some(allocation)),
            None => (false, None),
        }
    }

    /// A number of the array that holds `[address, address + bytes)`, if one does.
    fn home(&self, window: Window, address: u64, bytes: u64) -> Option<u64> {
        let rank = address >> 24;
        match window {
            Window::Shared => {
                let peer = (1..=self.peers.len() as u64).contains(&rank);
                let low = if peer { address & 0xff_ffff } else { address };
                let holds = |array: &SharedArray| {
                    let (base, size) = (u64::from(array.base), u64::from(array.bytes));
                    low >= base && low.saturating_add(bytes) <= base + size
                };
                let index = self.grid.shared_arrays.iter().position(holds)?;
                Some(rank << 32 | index as u64)
            }
            Window::Global | Window::Const => {
                let regions = &self.grid.regions;
                let index = regions.partition_point(|region| region.base <= address).checked_sub(1)?;
                let region = &regions[index];
                (!region.freed && address.saturating_add(bytes) <= region.end).then_some(index as u64)
            }
            _ => self.locate(window, address, bytes).0.then_some(0),
        }
    }

    #[cold]
    #[inline(never)]
    pub fn not_found(&mut self, op: &Op, window: Window, addresses: &Addresses, bytes: u64, kind: AccessKind) -> Found {
        let bad: Vec<usize> =
            lanes(addresses.mask).filter(|&lane| self.home(window, addresses.at[lane], bytes).is_none()).collect();
        let Some(&lane) = bad.first() else {
            let parts = parts(addresses, |address| self.home(window, address, bytes).unwrap_or(u64::MAX));
            self.worker.parts = parts;
            return Found::Mixed;
        };
        let address = addresses.at[lane];
        let begins_inside = || self.locate(window, address, 1).0;
        if (2..=16).contains(&bytes) && bytes.is_power_of_two() && !address.is_multiple_of(bytes) && begins_inside() {
            // It leaves its array only because it lies askew in the last element.
            self.misaligned(op, window, addresses, bytes, bytes, kind);
            return Found::Fault;
        }
        let freed = self
            .grid
            .regions
            .iter()
            .find(|region| region.freed && address >= region.base && address < region.end)
            .filter(|_| matches!(window, Window::Global | Window::Const));
        let origin = self.origin(window);
        let made_of = origin.and_then(|origin| self.place_of(origin, address));
        let certain = made_of.is_some();
        let allocation = match freed {
            Some(region) => Some(AllocationRef {
                name: region.name.clone(),
                base: region.base,
                bytes: region.end - region.base,
                offset: (address - region.base) as i64,
            }),
            None => made_of.or_else(|| self.locate(window, address, bytes).1),
        };
        let who = text_of(&self.thread(lane));
        let verb = verb(kind);
        let space = space_of(window);
        let (fault, message) = if let Some(region) = freed {
            (
                FaultKind::UseAfterFree,
                format!("{who} {verb} {bytes} bytes of `{}` at {address:#x} after it was freed", region.name),
            )
        } else if window == Window::Shared && address >> 24 > self.peers.len() as u64 {
            let (rank, size) = ((address >> 24) - 1, self.peers.len());
            let text = if address >> 24 > 16 {
                format!("{who} {verb} {bytes} bytes at shared address {address:#x}, which is no place in shared memory")
            } else {
                format!(
                    "{who} {verb} shared memory of block {rank} of its cluster, which has {size} (0 to {})",
                    size - 1
                )
            };
            (FaultKind::OutOfBounds, text)
        } else if origin == Some(Origin::NoDynamic) || window == Window::Shared && self.lacks_dynamic(address) {
            (FaultKind::OutOfBounds, self.no_dynamic(&who, verb, bytes))
        } else {
            let before = certain && allocation.as_ref().is_some_and(|allocation| allocation.offset < 0);
            let product = before.then(|| self.overflowed_product(lane)).flatten();
            let mut message = out_of_bounds(&who, verb, bytes, address, space, allocation.as_ref(), certain, product);
            message += self.dynamic_size(allocation.as_ref()).as_deref().unwrap_or_default();
            (FaultKind::OutOfBounds, message)
        };
        self.trace_bad(window, addresses, bytes, kind, allocation.as_ref());
        let detail = Detail {
            space: Some(space),
            access: Some(kind),
            address: Some(address),
            bytes: bytes as u32,
            allocation,
            other: None,
        };
        let pc = self.pc;
        self.fault(fault, pc, Some(lane), bad.len() as u32, message, detail);
        Found::Fault
    }

    /// Whether dynamic shared memory would be at an address, of which the launch gives none.
    fn lacks_dynamic(&self, address: u64) -> bool {
        let image = self.image();
        let declared = image.functions[self.grid.function as usize].shared.iter().any(|known| known.dynamic);
        declared && self.grid.launch.dynamic_shared_bytes == 0 && address >= u64::from(image.dynamic_shared)
    }

    fn no_dynamic(&self, who: &str, verb: &str, bytes: u64) -> String {
        let shared = &self.image().functions[self.grid.function as usize].shared;
        let name = shared.iter().find(|known| known.dynamic).map_or("dynamic shared memory", |known| &known.name);
        format!(
            "{who} {verb} {bytes} bytes of `{name}`, which is dynamic shared memory (`extern __shared__`), and this launch gives \
             it 0 bytes: ask for them with the launch (`dynamic_shared_bytes`, the third number of `<<<grid, block, bytes>>>`)"
        )
    }

    /// Who decides how large an array of dynamic shared memory is.
    fn dynamic_size(&self, allocation: Option<&AllocationRef>) -> Option<String> {
        let bytes = self.grid.launch.dynamic_shared_bytes;
        let shared = &self.image().functions[self.grid.function as usize].shared;
        let is = |name: &str| shared.iter().any(|known| known.dynamic && known.name == name);
        let given = allocation.is_some_and(|a| is(&a.name) && a.bytes == u64::from(bytes));
        given.then(|| format!("; it is dynamic shared memory, and the launch gives {bytes} bytes"))
    }

    /// An access that ends the launch is in the trace as well: it is the one to look at.
    fn trace_bad(
        &mut self,
        window: Window,
        addresses: &Addresses,
        bytes: u64,
        kind: AccessKind,
        near: Option<&AllocationRef>,
    ) {
        if self.watch & watch::TRACE != 0 {
            // Nothing was moved.
            self.worker.last_cost = 0;
            let place = near.map_or(addresses.low, |allocation| allocation.base);
            self.trace_access(window, addresses, bytes as u32, kind, place);
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn read_only(&mut self, addresses: &Addresses, bytes: u64, kind: AccessKind) -> Found {
        let lane = addresses.mask.trailing_zeros() as usize & 31;
        let address = addresses.at[lane];
        let (_, allocation) = self.locate(Window::Global, address, bytes);
        let name = allocation.as_ref().map_or("memory", |a| a.name.as_str());
        let message = format!(
            "{} {} `{name}`, which is __constant__: kernels may only read it",
            text_of(&self.thread(lane)),
            verb(kind)
        );
        let detail = Detail {
            space: Some(Space::Const),
            access: Some(kind),
            address: Some(address),
            bytes: bytes as u32,
            allocation,
            other: None,
        };
        let pc = self.pc;
        self.fault(FaultKind::OutOfBounds, pc, Some(lane), addresses.mask.count_ones(), message, detail);
        Found::Fault
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn misaligned(
        &mut self,
        _op: &Op,
        window: Window,
        addresses: &Addresses,
        bytes: u64,
        align: u64,
        kind: AccessKind,
    ) {
        let bad: Vec<usize> = lanes(addresses.mask).filter(|&lane| addresses.at[lane] & (align - 1) != 0).collect();
        let Some(&lane) = bad.first() else { return };
        let address = addresses.at[lane];
        let (_, allocation) = self.locate(window, address, bytes);
        self.trace_bad(window, addresses, bytes, kind, allocation.as_ref());
        let place = allocation.as_ref().map_or(String::new(), |a| format!(" (`{}` byte {})", a.name, a.offset));
        let message = format!(
            "{} {} {bytes} bytes at {address:#x}{place}, which is not a multiple of {align}",
            text_of(&self.thread(lane)),
            verb(kind)
        );
        let detail = Detail {
            space: Some(space_of(window)),
            access: Some(kind),
            address: Some(address),
            bytes: bytes as u32,
            allocation,
            other: None,
        };
        let pc = self.pc;
        self.fault(FaultKind::Misaligned, pc, Some(lane), bad.len() as u32, message, detail);
    }
}

pub fn verb(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "reads",
        AccessKind::Write => "writes",
        AccessKind::Atomic => "atomically updates",
        AccessKind::AsyncCopy => "copies",
    }
}

pub fn space_of(window: Window) -> Space {
    match window {
        Window::Generic => Space::Generic,
        Window::Global => Space::Global,
        Window::Const => Space::Const,
        Window::Shared => Space::Shared,
        Window::Local => Space::Local,
        Window::Param => Space::Param,
    }
}

fn space_name(space: Space) -> &'static str {
    match space {
        Space::Global => "global",
        Space::Shared => "shared",
        Space::Local => "local",
        Space::Const => "constant",
        Space::Param => "parameter",
        Space::Cluster => "cluster shared",
        Space::Generic => "generic",
    }
}

#[allow(clippy::too_many_arguments)]
fn out_of_bounds(
    who: &str,
    verb: &str,
    bytes: u64,
    address: u64,
    space: Space,
    allocation: Option<&AllocationRef>,
    certain: bool,
    product: Option<String>,
) -> String {
    let name = space_name(space);
    match allocation {
        Some(a) => {
            let size = bytes as i64;
            let element = a.offset.div_euclid(size);
            let count = a.bytes / bytes;
            let where_ = if a.offset >= 0 {
                format!("{} bytes past its end", a.offset.saturating_add(size).saturating_sub(a.bytes as i64).max(0))
            } else {
                format!("{} bytes before its start", a.offset.unsigned_abs())
            };
            let far = a.offset < -(1 << 32) || a.offset > a.bytes as i64 + (1 << 32);
            // Far away, and still by an index: the pointer is known, and so is how the index came about.
            let turned = product.unwrap_or_else(|| turned_index(element).unwrap_or_default().to_owned());
            if far && (!certain || turned.is_empty()) {
                return format!(
                    "{who} {verb} {bytes} bytes at {name} address {address:#x}, far from every array \
                     (a null or wild pointer?)"
                );
            }
            let range = if count > 0 {
                format!("valid elements are 0 to {}", count - 1)
            } else {
                "it holds no whole element".to_owned()
            };
            format!(
                "{who} {verb} `{}`[{element}] (elements of {bytes} bytes), {where_}; {range}, {} bytes in all{turned}",
                a.name, a.bytes
            )
        }
        None => format!("{who} {verb} {bytes} bytes at {name} address {address:#x}, where there is no array"),
    }
}

/// What an index says that no array is long enough for: that it went round in its type.
fn turned_index(element: i64) -> Option<&'static str> {
    const NEAR: i64 = 1 << 20;
    match element {
        _ if ((1 << 32) - NEAR..1 << 32).contains(&element) => {
            Some("; so large is an unsigned index that went below 0: count down in an `int`, or end before 0")
        }
        i64::MIN..=-1_000_000_000 => Some(
            "; such an index comes of a product or sum that does not fit 32 bits: compute it in 64 (`size_t`, `long long`)",
        ),
        // Which of the blocks past the edge meets it first is not fixed.
        -32_768..=-31_744 => Some("; -32768 is what comes after 32767 in a `short`: keep the index in an `int`"),
        -128 => Some("; -128 is what comes after 127 in a `char`: keep the index in an `int`"),
        _ => None,
    }
}
