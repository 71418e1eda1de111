use ptx_emulator::inside::exec::*;

/// Whether the addresses of `row` are seen to follow `offsets` from `first`, by a form for this machine.
///
/// # Safety
/// The machine must have what `FORM` is for.
unsafe fn check_form<const FORM: u8, A: AddressWord>(from: impl Fn(u64) -> A::Raw)
where
    A::Raw: Copy,
{
    let offsets: [i32; 32] = std::array::from_fn(|lane| (lane as i32 * 52 - 700) * (1 - 2 * (lane as i32 % 2)));
    // Near the end of 32 bits, where addresses of this width wrap.
    let first = 0xffff_fff0u64;
    let at = |lane: usize| first.wrapping_add(offsets[lane] as u64);
    for odd in 0..32 {
        for bit in [0, 1, 31] {
            let row: [A::Raw; 32] = std::array::from_fn(|lane| from(at(lane) ^ u64::from(lane == odd) << bit));
            let right: [A::Raw; 32] = std::array::from_fn(|lane| from(at(lane)));
            for mask in [u32::MAX, 1 << odd, !(1 << odd), 0x0f0f_3355, 0] {
                let off = mask >> odd & 1 == 1;
                // SAFETY: passed on.
                let [seen, all] = unsafe {
                    [A::follows::<FORM>(&row, first, &offsets, mask), A::follows::<FORM>(&right, first, &offsets, mask)]
                };
                assert!(all, "form {FORM}, mask {mask:#x}: every lane lies right");
                assert_eq!(seen, !off, "form {FORM}, mask {mask:#x}: lane {odd} is off by bit {bit}");
            }
        }
    }
}

fn check<A: AddressWord>(from: impl Fn(u64) -> A::Raw + Copy)
where
    A::Raw: Copy,
{
    // SAFETY: this form is for any machine.
    unsafe { check_form::<BASE, A>(from) };
    #[cfg(target_arch = "x86_64")]
    if wide() {
        // SAFETY: the machine has it.
        unsafe { check_form::<WIDE, A>(from) };
    }
    #[cfg(target_arch = "x86_64")]
    if widest() {
        // SAFETY: the machine has it.
        unsafe { check_form::<WIDEST, A>(from) };
    }
}

#[test]
fn a_lane_that_leaves_the_pattern_is_seen_if_it_is_active() {
    check::<u32>(|at| at as u32);
    check::<u64>(|at| at);
}
