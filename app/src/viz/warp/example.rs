//! The example: one branch, or one loop, under conditions that split a warp more or less.

use crate::viz::example::Builder;
use gpu_core::emulator::{AccessKind, Class, Space, Trace};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    #[default]
    EveryOther,
    FirstHalf,
    OneLane,
    WholeWarps,
    Loop,
}

impl Condition {
    pub const ALL: [Condition; 5] =
        [Condition::EveryOther, Condition::FirstHalf, Condition::OneLane, Condition::WholeWarps, Condition::Loop];

    pub fn code(self) -> &'static str {
        match self {
            Condition::EveryOther => "i % 2 == 0",
            Condition::FirstHalf => "i % 32 < 16",
            Condition::OneLane => "i == 5",
            Condition::WholeWarps => "i / 32 == 0",
            Condition::Loop => "loop, i % 4 rounds",
        }
    }

    fn holds(self, thread: u32) -> bool {
        match self {
            Condition::EveryOther => thread.is_multiple_of(2),
            Condition::FirstHalf => thread % 32 < 16,
            Condition::OneLane => thread == 5,
            Condition::WholeWarps => thread / 32 == 0,
            Condition::Loop => true,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WhatIf {
    pub condition: Condition,
}

/// Two warps.
const THREADS: u32 = 64;

impl WhatIf {
    pub fn source(&self) -> String {
        let body = match self.condition {
            Condition::Loop => "    for (int k = 0; k < i % 4; ++k) {\n        v = v * v + 1.0f;\n    }\n".to_owned(),
            condition => format!(
                "    if ({}) {{\n        v = v * 2.0f;\n        v = v + 1.0f;\n    }} else {{\n        v = v - 1.0f;\n    }}\n",
                condition.code()
            ),
        };
        format!(
            "extern \"C\" __global__ void paths(float* x) {{\n    int i = threadIdx.x;\n    float v = x[i];\n{body}    \
             x[i] = v;\n}}\n"
        )
    }

    pub fn trace(&self) -> Trace {
        let mut b = Builder::new("paths", [1, 1, 1], [THREADS, 1, 1]);
        let x = b.array("x", Space::Global, u64::from(THREADS) * 4);
        let looped = self.condition == Condition::Loop;
        let last = if looped { 7 } else { 10 };
        let index = b.instruction("mov.u32 %r1, %tid.x;", 2, Class::Move);
        let load = b.site("ld.global.f32 %f1, [%rd1];", 3, x, AccessKind::Read, 4);
        let compare = b.instruction("setp.ne.s32 %p1, %r2, 0;", 4, Class::Compare);
        let branch = b.instruction("@%p1 bra other;", 4, Class::Branch);
        let then = [
            b.instruction(
                if looped { "fma.rn.f32 %f1, %f1, %f1, 1.0;" } else { "mul.f32 %f1, %f1, 2.0;" },
                5,
                Class::Float32,
            ),
            b.instruction(
                if looped { "add.s32 %r3, %r3, 1;" } else { "add.f32 %f1, %f1, 1.0;" },
                if looped { 4 } else { 6 },
                Class::Float32,
            ),
        ];
        let otherwise = b.instruction("sub.f32 %f1, %f1, 1.0;", 8, Class::Float32);
        let store = b.site("st.global.f32 [%rd1], %f1;", last, x, AccessKind::Write, 4);
        for warp in 0..THREADS / 32 {
            let w = b.warp([0, 0, 0], warp);
            let lanes_where = |test: &dyn Fn(u32) -> bool| {
                (0..32).filter(|lane| test(warp * 32 + lane)).fold(0_u32, |mask, lane| mask | 1 << lane)
            };
            b.step(w, index, u32::MAX);
            b.access(w, load, u32::MAX, |lane| i64::from(warp * 32 + lane));
            if looped {
                for round in 0..=3 {
                    let going = lanes_where(&|thread| thread % 4 >= round);
                    b.step(w, compare, going);
                    b.step(w, branch, going);
                    let inside = lanes_where(&|thread| thread % 4 > round);
                    for instruction in then {
                        b.step(w, instruction, inside);
                    }
                }
            } else {
                let taken = lanes_where(&|thread| self.condition.holds(thread));
                b.step(w, compare, u32::MAX);
                b.step(w, branch, u32::MAX);
                for instruction in then {
                    b.step(w, instruction, taken);
                }
                b.step(w, otherwise, !taken);
            }
            b.access(w, store, u32::MAX, |lane| i64::from(warp * 32 + lane));
        }
        b.finish()
    }
}
