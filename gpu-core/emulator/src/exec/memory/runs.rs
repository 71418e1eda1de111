//! Loads and stores of lanes that lie in runs: the values themselves, where all else is known.

use super::access::Runs;
use super::transfer::Element;
#[cfg(target_arch = "x86_64")]
use crate::exec::lanes::WIDE;
use crate::exec::lanes::Word;

/// Loads `N` neighbours into lanes `first..first + N` of a row: element `index` of each `V`.
///
/// # Safety
/// `from` must hold `N * V` elements, `row` must be a row.
#[inline(always)]
pub unsafe fn load_run<E: Element, const V: usize, const N: usize>(
    from: *const E,
    index: usize,
    row: *mut [<E::Row as Word>::Raw; 32],
    first: usize,
) {
    // SAFETY: as the caller says; equal sizes mean that memory and row hold the same bits.
    unsafe {
        let to = row.cast::<<E::Row as Word>::Raw>().add(first);
        if V == 1 && size_of::<E>() == size_of::<<E::Row as Word>::Raw>() {
            std::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast::<u8>(), N * size_of::<E>());
            return;
        }
        let mut out = [E::Row::ZERO; N];
        for (lane, value) in out.iter_mut().enumerate() {
            *value = from.add(lane * V + index).read_unaligned().load().to_raw();
        }
        to.cast::<[<E::Row as Word>::Raw; N]>().write(out);
    }
}

/// The opposite of [`load_run`].
///
/// # Safety
/// As [`load_run`].
#[inline(always)]
pub unsafe fn store_run<E: Element, const V: usize, const N: usize>(
    to: *mut E,
    index: usize,
    row: *const [<E::Row as Word>::Raw; 32],
    first: usize,
) {
    // SAFETY: as the caller says; equal sizes mean that memory and row hold the same bits.
    unsafe {
        let from = row.cast::<<E::Row as Word>::Raw>().add(first);
        if V == 1 && size_of::<E>() == size_of::<<E::Row as Word>::Raw>() {
            std::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast::<u8>(), N * size_of::<E>());
            return;
        }
        let values = from.cast::<[<E::Row as Word>::Raw; N]>().read();
        for (lane, value) in values.iter().enumerate() {
            to.add(lane * V + index).write_unaligned(E::store(E::Row::from_raw(*value)));
        }
    }
}

/// Loads element `index` of each `V` in runs; `pointer` is the place of address 0.
///
/// # Safety
/// All that the runs cover must be there; `row` must be a row.
#[inline(always)]
pub unsafe fn load_runs<E: Element, const V: usize>(
    pointer: *mut u8,
    runs: &Runs,
    index: usize,
    row: *mut [<E::Row as Word>::Raw; 32],
) {
    let place = |address: u64| pointer.wrapping_add(address as usize).cast::<E>().cast_const();
    let start = |group: usize| place(runs.starts[group]);
    // SAFETY: as the caller says.
    unsafe {
        if runs.step == (size_of::<E>() * V) as u64 {
            if runs.count == 2 {
                load_run::<E, V, 16>(start(0), index, row, 0);
                load_run::<E, V, 16>(start(1), index, row, 16);
            } else {
                for group in 0..4 {
                    load_run::<E, V, 8>(start(group), index, row, 8 * group);
                }
            }
        } else if runs.step == 0 && runs.count == 2 {
            let value = |group| start(group).add(index).read_unaligned().load().to_raw();
            let halves = row.cast::<[<E::Row as Word>::Raw; 16]>();
            halves.write([value(0); 16]);
            halves.add(1).write([value(1); 16]);
        } else if runs.step == 0 {
            // Groups of 16 are two neighbouring quarters each.
            let value = |group| start(group).add(index).read_unaligned().load().to_raw();
            let quarters = row.cast::<[<E::Row as Word>::Raw; 8]>();
            for quarter in 0..4 {
                quarters.add(quarter).write([value(quarter * runs.count / 4); 8]);
            }
        } else {
            let first = start(0);
            let mut out = [E::Row::ZERO; 32];
            for (lane, value) in out.iter_mut().enumerate() {
                let from = first.wrapping_byte_add(lane * runs.step as usize);
                *value = from.add(index).read_unaligned().load().to_raw();
            }
            *row = out;
        }
    }
}

/// The opposite of [`load_runs`].
///
/// # Safety
/// As [`load_runs`].
#[inline(always)]
pub unsafe fn store_runs<E: Element, const V: usize>(
    pointer: *mut u8,
    runs: &Runs,
    index: usize,
    row: *const [<E::Row as Word>::Raw; 32],
) {
    let place = |address: u64| pointer.wrapping_add(address as usize).cast::<E>();
    // SAFETY: as the caller says.
    unsafe {
        match runs.count {
            2 if runs.step == (size_of::<E>() * V) as u64 => {
                store_run::<E, V, 16>(place(runs.starts[0]), index, row, 0);
                store_run::<E, V, 16>(place(runs.starts[1]), index, row, 16);
            }
            4 if runs.step == (size_of::<E>() * V) as u64 => {
                for group in 0..4 {
                    store_run::<E, V, 8>(place(runs.starts[group]), index, row, 8 * group);
                }
            }
            _ => {
                for lane in 0..32 {
                    let to = place(runs.at(lane));
                    to.add(index).write_unaligned(E::store(E::Row::from_raw((*row)[lane])));
                }
            }
        }
    }
}

/// Where eight pairs each of lanes side by side in groups lie; `pointer` is the place of address 0. None: they lie otherwise.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn parts_of_pairs(pointer: *mut u8, runs: &Runs) -> Option<[*mut u32; 4]> {
    let part = |part: usize| pointer.wrapping_add(runs.at(8 * part) as usize).cast();
    if runs.step == 8 { Some([part(0), part(1), part(2), part(3)]) } else { None }
}

/// Where the first of pairs lies that begin four words behind each other. None: they lie otherwise.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn first_of_apart(pointer: *mut u8, runs: &Runs) -> Option<*mut u32> {
    (runs.count == 1 && runs.step == 16).then(|| pointer.wrapping_add(runs.starts[0] as usize).cast())
}

/// Loads pairs of words in runs; `pointer` is the place of address 0. False: they lie in no way that this knows.
///
/// # Safety
/// All that the runs cover must be there; `rows` must be rows; the machine must have what `FORM` is for, AVX2 at least.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub unsafe fn load_pairs_in_runs<const FORM: u8>(pointer: *mut u8, runs: &Runs, rows: [*mut [u32; 32]; 2]) -> bool {
    // SAFETY: passed on.
    unsafe {
        if let Some(parts) = parts_of_pairs(pointer, runs) {
            match FORM {
                WIDE => super::deal_wide::load_pairs_of(parts, rows),
                _ => super::deal::load_pairs_of(parts, rows),
            }
        } else if FORM == WIDE {
            return false;
        } else if let Some(first) = first_of_apart(pointer, runs) {
            super::deal::load_pairs_apart(first, rows);
        } else {
            return false;
        }
    }
    true
}

/// The opposite.
///
/// # Safety
/// As [`load_pairs_in_runs`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub unsafe fn store_pairs_in_runs<const FORM: u8>(pointer: *mut u8, runs: &Runs, rows: [*const [u32; 32]; 2]) -> bool {
    // SAFETY: passed on.
    unsafe {
        if let Some(parts) = parts_of_pairs(pointer, runs) {
            match FORM {
                WIDE => super::deal_wide::store_pairs_of(parts, rows),
                _ => super::deal::store_pairs_of(parts, rows),
            }
        } else if FORM == WIDE {
            return false;
        } else if let Some(first) = first_of_apart(pointer, runs) {
            super::deal::store_pairs_apart(first, rows);
        } else {
            return false;
        }
    }
    true
}
