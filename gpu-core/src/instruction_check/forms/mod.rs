//! The forms, one file a family. Each walks the modifiers that the PTX manual gives an instruction.

mod async_copy;
mod atomic;
mod comparison;
mod convert;
mod float;
mod half;
mod integer;
mod logic;
mod matrix;
mod matrix_memory;
mod memory;
mod special;
mod tensor;
mod warp;
mod warpgroup;
mod wmma;

use super::{Arch, Probe};

pub const FAMILIES: &[fn(Arch) -> Vec<Probe>] = &[
    integer::probes,
    logic::probes,
    comparison::probes,
    float::probes,
    half::probes,
    convert::probes,
    warp::probes,
    memory::probes,
    atomic::probes,
    async_copy::probes,
    tensor::probes,
    special::probes,
    matrix_memory::probes,
    matrix::probes,
    wmma::probes,
    warpgroup::probes,
];

/// All words made of one choice of each list, in order: `product(&[&["a", "b"], &["", ".c"]])`.
fn product(lists: &[&[&str]]) -> Vec<String> {
    lists.iter().fold(vec![String::new()], |words, list| {
        words.iter().flat_map(|word| list.iter().map(move |next| format!("{word}{next}"))).collect()
    })
}

/// `{%a3,%a4}`.
fn vector(letter: char, first: usize, count: usize) -> String {
    let list: Vec<String> = (first..first + count).map(|i| format!("%{letter}{i}")).collect();
    format!("{{{}}}", list.join(","))
}
