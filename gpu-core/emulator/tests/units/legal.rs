use ptx_emulator::inside::isa::Arch;
use ptx_emulator::inside::isa::legal::*;

#[test]
fn every_row_reads_and_says_something() {
    assert!(families().len() > 40, "{}", families().len());
    for (opcode, family) in families() {
        assert!(ptx_emulator::inside::isa::find(opcode).is_some(), "{opcode}");
        assert!(!family.types.is_empty() && !family.forms.is_empty(), "{opcode}");
    }
    assert_eq!(TABLE.lines().filter(|row| !matches!(row.split('\t').count(), 4 | 5)).count(), 0);
}

#[test]
fn forms_are_judged_by_type_and_architecture() {
    let (old, new) = (Arch::of("sm_75"), Arch::of("sm_121a"));
    for opcode in ["add.s32", "add.sat.s32", "cvt.rn.f32.s32", "set.lt.and.u32.f32", "setp.geu.ftz.or.f32"] {
        assert_eq!(check(opcode, old), Ok(()), "{opcode}");
    }
    for opcode in ["add.sat.u64", "cvt.rn.u8.u8", "add.cc.b128", "set.lt.u32.b8", "fma.f32", "atom.global.add.f16"] {
        assert!(check(opcode, new).is_err(), "{opcode}");
    }
    // Not in the table at all.
    assert_eq!(check("cvt.rn.satfinite.e4m3x2.f32", new), Ok(()));
    assert!(check("add.bf16", old).is_err());
    assert_eq!(check("add.bf16", new), Ok(()));
}
