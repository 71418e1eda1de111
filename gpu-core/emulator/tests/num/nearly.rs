//! Roots, powers, logarithms and sines of f32 that a short series decides nearly always, against the long way for each argument.
//! `LOCKSTEP_EVERY=1` goes through all 2^32 arguments (for an optimised build), 1021 stands for every 1021st.

use std::sync::atomic::AtomicBool;

use ptx_emulator::num::approx;
use ptx_emulator::{Launch, Memory, Module, Options, launch};

type Reference = fn(f32) -> f32;

const FORMS: &[(&str, Reference)] = &[
    ("rsqrt.approx.f32", |x| approx::rsqrt(x, false)),
    ("rsqrt.approx.ftz.f32", |x| approx::rsqrt(x, true)),
    ("ex2.approx.f32", |x| approx::ex2(x, false)),
    ("ex2.approx.ftz.f32", |x| approx::ex2(x, true)),
    ("lg2.approx.f32", |x| approx::lg2(x, false)),
    ("lg2.approx.ftz.f32", |x| approx::lg2(x, true)),
    ("sin.approx.f32", |x| approx::sin(x, false)),
    ("sin.approx.ftz.f32", |x| approx::sin(x, true)),
    ("cos.approx.f32", |x| approx::cos(x, false)),
    ("cos.approx.ftz.f32", |x| approx::cos(x, true)),
];

/// Arguments of one launch.
const COUNT: u32 = 1 << 18;

#[test]
fn short_ways_give_every_bit_of_the_long_ones() {
    let step: u64 = std::env::var("LOCKSTEP_EVERY").map_or(1021, |text| text.parse().expect("a number"));
    for (form, reference) in FORMS {
        let text = format!(
            ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 first, .param \
             .u32 step)\n{{\n.reg .b32 %r<5>;\n.reg .b64 %d<3>;\nld.param.u64 %d1, [out];\nld.param.u32 %r1, [first];\n\
             ld.param.u32 %r2, [step];\nmov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %tid.x;\nmad.lo.u32 %r3, %r3, 256, %r4;\n\
             mul.wide.u32 %d2, %r3, 4;\nadd.u64 %d1, %d1, %d2;\nmad.lo.u32 %r1, %r3, %r2, %r1;\n{form} %r1, %r1;\n\
             st.global.u32 [%d1], %r1;\nret;\n}}\n"
        );
        let module = Module::load(&text).unwrap_or_else(|problems| panic!("{form}: {problems:?}"));
        let mut memory = Memory::new(1 << 24);
        let out = memory.alloc("out", 4 * u64::from(COUNT)).expect("fits");
        let mut results = vec![0; 4 * COUNT as usize];
        let mut compare = |first: u64, step: u64| {
            let job = Launch::new("k", [COUNT / 256, 1, 1], [256, 1, 1]);
            let job = job.arg_u64(out).arg_u32(first as u32).arg_u32(step as u32);
            let outcome = launch(&module, &mut memory, &job, &Options::unchecked(), &AtomicBool::new(false));
            assert!(outcome.completed && outcome.faults.is_empty(), "{form}: {:?}", outcome.faults);
            memory.read(out, &mut results).expect("inside");
            for (result, index) in results.chunks_exact(4).zip(0u64..) {
                let x = f32::from_bits((first + index * step) as u32);
                let result = u32::from_le_bytes(result.try_into().expect("four"));
                let expected = reference(x).to_bits();
                assert_eq!(result, expected, "{form} of {x:e} ({:#010x})", x.to_bits());
            }
        };
        // Zeros and quarters of a turn one by one: steps go past nearly all of them.
        for middle in [0, 1, 2, 3, 4, 6, 8].map(|quarters| quarters as f32 * std::f32::consts::FRAC_PI_2) {
            for x in [middle, -middle] {
                compare(u64::from(x.to_bits()).saturating_sub(u64::from(COUNT / 2)), 1);
            }
        }
        let mut first = 0u64;
        while first < 1 << 32 {
            compare(first, step);
            first += u64::from(COUNT) * step;
        }
    }
}
