//! Random programs of CUDA C++ (by NVRTC 13.5), whose results were left by an H200 (driver 580.159.04): 18 of 1,364, chosen to
//! have many different instructions in little text.
//!
//! A program is a kernel `k(const unsigned *in, unsigned *out, unsigned *acc)`: nested branches, loops and switches that
//! depend on data, calls through pointers and by recursion, arrays in local memory, exchanges through shared memory and
//! between lanes, votes, matches and reductions, atomics, and arithmetic of all widths. Each thread leaves twelve words, the
//! grid six rows of 32 words made by atomics. NaNs are written as one word, for the assembler may choose among several.

mod common;

use std::sync::atomic::AtomicBool;

use common::*;
use ptx_emulator::{Launch, Options};

const BLOCKS: usize = 4;
const MOST_THREADS: usize = 256;
/// Words that a thread leaves.
const WORDS: usize = 12;
/// Words made by sums, minima, maxima, exclusive ors, ors and ands, 32 of each.
const ATOMIC_WORDS: usize = 192;

fn program(name: &str) -> String {
    let path = format!("{}/tests/ptx/random/{name}.ptx", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Four words for each thread: random bits, and small numbers and floats near 1 among them.
fn input() -> Vec<u32> {
    let mut state = 88_172_645_463_325_252u64;
    let word = |index: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let mut word = (state >> 11) as u32;
        if index.is_multiple_of(7) {
            word &= 0xff;
        }
        if index.is_multiple_of(11) {
            word = 0x3f80_0000 + (word & 0xffff);
        }
        word
    };
    (0..BLOCKS * MOST_THREADS * 4).map(word).collect()
}

/// Fowler, Noll and Vo's hash over words.
fn hash(words: impl Iterator<Item = u32>) -> u64 {
    words.fold(1_469_598_103_934_665_603, |hash, word| (hash ^ u64::from(word)).wrapping_mul(1_099_511_628_211))
}

#[test]
fn random_programs_give_what_an_h200_gave() {
    let input = input();
    // Minima and ands begin with all bits set.
    let first: Vec<u32> =
        (0..ATOMIC_WORDS).map(|index| if matches!(index / 32, 1 | 5) { u32::MAX } else { 0 }).collect();
    let nothing = vec![0; BLOCKS * MOST_THREADS * WORDS];
    let mut wrong = Vec::new();
    for line in include_str!("data/random_programs.txt").lines() {
        let mut fields = line.split_whitespace();
        let name = fields.next().expect("a name");
        let threads: usize = fields.next().and_then(|count| count.parse().ok()).expect("threads of a block");
        let expected: Vec<u64> = fields.map(|field| u64::from_str_radix(field, 16).expect("a hash")).collect();
        assert_eq!(expected.len(), WORDS + 1);
        let module = load(&program(name));
        for (how, options) in [("with all checks", Options::default()), ("without checks", Options::unchecked())] {
            let mut memory = memory();
            let [from, to, acc] = [("in", &input), ("out", &nothing), ("acc", &first)]
                .map(|(name, words)| upload_u32(&mut memory, name, words));
            let launch = Launch::new("k", [BLOCKS as u32, 1, 1], [threads as u32, 1, 1]);
            let launch = launch.arg_u64(from).arg_u64(to).arg_u64(acc);
            let outcome = ptx_emulator::launch(&module, &mut memory, &launch, &options, &AtomicBool::new(false));
            assert!(outcome.faults.is_empty(), "{name} {how}: {:?}", outcome.faults);
            let out = download_u32(&memory, to, BLOCKS * threads * WORDS);
            let column = |word: usize| hash(out.iter().skip(word).step_by(WORDS).copied());
            let mut got: Vec<u64> = (0..WORDS).map(column).collect();
            got.push(hash(download_u32(&memory, acc, ATOMIC_WORDS).into_iter()));
            let columns: Vec<usize> = (0..=WORDS).filter(|word| got[*word] != expected[*word]).collect();
            if !columns.is_empty() {
                wrong.push(format!("{name} {how}: words {columns:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
