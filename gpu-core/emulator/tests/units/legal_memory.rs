use ptx_emulator::inside::isa::Arch;
use ptx_emulator::inside::isa::legal_memory::*;

#[test]
fn orderings_and_widths_are_held() {
    let (old, new) = (Arch::of("sm_90a"), Arch::of("sm_121a"));
    for opcode in [
        "ld.acquire.gpu.global.u32",
        "st.volatile.local.u32",
        "st.async.release.sys.global.u32",
        "ld.u8",
        "ld.global.v8.f32",
        "ld.v8.f32",
        "ld.shared.v8.b8",
        "st.global.v4.u64",
        "ld.shared.v4.u32",
        "ld.shared::cta.b128",
    ] {
        assert_eq!(check(&opcode[..2], opcode, new), Ok(()), "{opcode}");
    }
    for opcode in [
        "ld.release.gpu.u32",
        "st.relaxed.u32",
        "ld.relaxed.cta.local.u32",
        "ld.volatile.const.u32",
        "st.mmio.relaxed.sys.shared.u32",
        "ld.nc.u32",
        "st.global.L2::64B.u32",
        "ld.shared.v8.b32",
        "ld.global.v2.b128",
        "ld.global.f16",
    ] {
        assert!(check(&opcode[..2], opcode, new).is_err(), "{opcode}");
    }
    assert!(check("ld", "ld.global.v8.f32", old).is_err());
    assert!(check("st", "st.async.release.sys.global.u32", old).is_err());
}
