//! Atomic functions.

use super::{Family, Kind};

pub(super) const FAMILIES: &[Family] = &[Family {
    kind: Kind::Function,
    section: "Atomic Functions",
    header: "",
    rows: &[
        (
            "atomicAdd",
            "T atomicAdd(T* address, T val)",
            "Adds to memory in one step and returns the old value; int, unsigned, 64 bit, float, double, half and bfloat16.",
        ),
        ("atomicSub", "T atomicSub(T* address, T val)", "Subtracts in one step and returns the old value."),
        ("atomicExch", "T atomicExch(T* address, T val)", "Stores the value and returns the old one, in one step."),
        (
            "atomicMin",
            "T atomicMin(T* address, T val)",
            "Keeps the lesser of the two and returns the old value; integers only.",
        ),
        (
            "atomicMax",
            "T atomicMax(T* address, T val)",
            "Keeps the greater of the two and returns the old value; integers only.",
        ),
        (
            "atomicInc",
            "unsigned atomicInc(unsigned* address, unsigned val)",
            "Counts up to val and then from 0 again; returns the old value.",
        ),
        (
            "atomicDec",
            "unsigned atomicDec(unsigned* address, unsigned val)",
            "Counts down to 0 and then from val again; returns the old value.",
        ),
        (
            "atomicCAS",
            "T atomicCAS(T* address, T compare, T val)",
            "Stores val if memory holds compare, and returns what it held: any other atomic can be built of it.",
        ),
        ("atomicAnd", "T atomicAnd(T* address, T val)", "Bitwise and with memory; returns the old value."),
        ("atomicOr", "T atomicOr(T* address, T val)", "Bitwise or with memory; returns the old value."),
        ("atomicXor", "T atomicXor(T* address, T val)", "Bitwise exclusive or with memory; returns the old value."),
        (
            "atomicAdd_block",
            "T atomicAdd_block(T* address, T val)",
            "As atomicAdd, atomic for the threads of the block only.",
        ),
        (
            "atomicAdd_system",
            "T atomicAdd_system(T* address, T val)",
            "As atomicAdd, atomic also for the CPU and other GPUs.",
        ),
        (
            "atomicCAS_block",
            "T atomicCAS_block(T* address, T compare, T val)",
            "As atomicCAS, atomic for the threads of the block only.",
        ),
        (
            "atomicCAS_system",
            "T atomicCAS_system(T* address, T compare, T val)",
            "As atomicCAS, atomic also for the CPU and other GPUs.",
        ),
        (
            "atomicMax_block",
            "T atomicMax_block(T* address, T val)",
            "As atomicMax, atomic for the threads of the block only.",
        ),
        (
            "atomicMin_block",
            "T atomicMin_block(T* address, T val)",
            "As atomicMin, atomic for the threads of the block only.",
        ),
        (
            "atomicExch_block",
            "T atomicExch_block(T* address, T val)",
            "As atomicExch, atomic for the threads of the block only.",
        ),
    ],
}];
