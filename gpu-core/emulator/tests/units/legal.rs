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
    // Pairs of small floats: rounding and saturation are no choice, and some of them are for sm_XXXa alone.
    let plain = Arch::of("sm_120");
    for opcode in ["cvt.rn.satfinite.e4m3x2.f32", "cvt.rn.satfinite.relu.e2m1x2.f32", "cvt.rn.satfinite.tf32.f32"] {
        assert_eq!(check(opcode, new), Ok(()), "{opcode}");
        assert!(check(opcode, old).is_err(), "{opcode}");
    }
    assert_eq!(check("cvt.rn.satfinite.e4m3x2.f32", plain), Ok(()));
    for opcode in ["cvt.rn.satfinite.e2m1x2.f32", "add.sat.u32", "add.sat.s16x2"] {
        assert!(check(opcode, plain).is_err(), "{opcode}");
        assert_eq!(check(opcode, new), Ok(()), "{opcode}");
    }
    for opcode in ["cvt.rz.satfinite.e4m3x2.f32", "cvt.rn.e4m3x2.f32", "cvt.ftz.tf32.s64", "cvt.rn.f16x2.e4m3x4"] {
        assert!(check(opcode, new).is_err(), "{opcode}");
    }
    // What Hopper brought.
    let ampere = Arch::of("sm_86");
    for opcode in [
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
        "mbarrier.arrive.expect_tx.shared::cta.b64",
        "mbarrier.try_wait.parity.shared.b64",
        "ld.relaxed.cluster.global.u32",
        "fence.acq_rel.cluster",
        "elect.sync",
        "mapa.u64",
    ] {
        assert!(check(opcode, ampere).is_err_and(|why| why.contains("sm_90")), "{opcode}");
        assert_eq!(check(opcode, Arch::of("sm_90")), Ok(()), "{opcode}");
    }
    assert!(check("atom.global.add.noftz.bf16x2", ampere).is_err());
    for opcode in ["fence.acq_rel.gpu", "mbarrier.arrive.shared.b64", "cp.async.ca.shared.global", "barrier.sync"] {
        assert_eq!(check(opcode, ampere), Ok(()), "{opcode}");
    }
    // Not in the table at all.
    assert_eq!(check("cvt.pack.sat.u8.s32.b32", new), Ok(()));
    assert!(check("add.bf16", old).is_err());
    assert_eq!(check("add.bf16", new), Ok(()));
}
