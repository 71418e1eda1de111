//! Hints for diagnoses that an exercise has none of its own for: what the diagnosis means, and where to look first. An
//! exercise's own know what it is about, and go before these.

use super::TriggeredHint;
use std::sync::LazyLock;

/// By diagnosis; from a nudge to nearly the answer.
const HINTS: &[(&str, &[&str])] = &[
    (
        "out_of_bounds",
        &[
            "A thread touched memory outside of an array. The report names the array, the index and the thread: which part of your index is too large, or too small?",
            "The grid is rounded up to whole blocks, so some threads have no element. And every array has its own length, every matrix its own length of a row.",
            "Compare each coordinate with its own bound before the access, reads as well as writes; loops run while their variable is **less than** the end.",
        ],
    ),
    (
        "misaligned",
        &[
            "An access of 4 bytes needs an address that is a multiple of 4, one of 16 bytes (`float4`) a multiple of 16.",
            "Pointers to float count in floats: `a + i` is i floats further. After a cast to `char*` they count in bytes. A `float4` at an odd place in an array, or in a row whose length 4 does not divide, is not aligned.",
            "Index with elements and without casts, `a[i]`; use `float4` only where the index is a multiple of 4, and single floats elsewhere.",
        ],
    ),
    (
        "use_after_free",
        &[
            "Memory was used that had been given back, or was never given out.",
            "`malloc` takes bytes: for n floats it is `n * sizeof(float)`. After `free` the pointer is of no use.",
            "An exercise needs no memory of its own beside local variables and `__shared__` arrays: write the result to the output.",
        ],
    ),
    (
        "undefined_result",
        &[
            "An instruction was given operands for which CUDA promises no result: the report says which one, and where.",
            "Common cases: a shift or a copy with sizes that are out of range, more bytes left out of a copy than it has, or an operation on something that was never set up.",
            "Check the values that this line gets, and keep them within what the instruction allows.",
        ],
    ),
    (
        "workspace",
        &[
            "The kernel asks for more scratch memory than this exercise allows; the message says how much each of the two is.",
            "What has to survive from one kernel to the next? One partial result for each block is usually enough.",
            "Shrink it with `// lockstep: size(name) = …`, and keep the rest in registers or shared memory.",
        ],
    ),
    (
        "race",
        &[
            "Two threads touched one place, at least one of them wrote, and nothing said who comes first. The report names both threads and both lines.",
            "In shared memory: is there a `__syncthreads()` between one thread's writing and another's reading, and one before the place is written again? In global memory: can two threads compute the same index?",
            "Give each thread elements of its own; where threads exchange data, put a barrier that all of them reach between writing and reading.",
        ],
    ),
    (
        "uninitialised",
        &[
            "Something was read before anything was written to it. The report says what: an array, shared memory, or a variable of the thread.",
            "Output memory does not begin at zero, shared memory does not, and neither does a variable: `c[i] += x` and `sum += x` read the old value first.",
            "Start sums with `float sum = 0.0f;`, write outputs with `=`, and fill every element of a shared array that is read later.",
        ],
    ),
    (
        "barrier_divergence",
        &[
            "Some threads of a block wait at a barrier, and others never come to it.",
            "Is the `__syncthreads()` inside an `if`, or in a loop that some threads leave earlier? Is there a `return`, a `break` or a `continue` before it?",
            "Keep every thread of the block on the way to the barrier, and put the `if` around the loads and stores alone.",
        ],
    ),
    (
        "mask_misuse",
        &[
            "A warp operation names lanes that do not come to it, or is not named by a lane that does.",
            "The mask of `__shfl_sync`, `__ballot_sync` and `__syncwarp` says which lanes take part, and all of those must run the same line.",
            "Call it outside of any `if`, by the whole warp, with `0xffffffff`.",
        ],
    ),
    (
        "missing_async_wait",
        &[
            "Data was used while an asynchronous copy of it was still on its way.",
            "A copy that was started is complete for the thread only after it waited, and for the others after a barrier behind that.",
            "Start the copies, commit them, wait for the group, then `__syncthreads();`, then use the data.",
        ],
    ),
    (
        "barrier_phase",
        &[
            "An mbarrier was used out of step: more or fewer arrivals than it was made for, or a wait for the wrong phase.",
            "Count the arrivals of one phase, and the bytes that are announced for it, against what it was initialised with.",
            "The parity that is waited for changes with every use of the barrier: keep it beside the stage.",
        ],
    ),
    (
        "stale_read",
        &[
            "The kernel reads what it wrote before, but by a way that may still hold the old value.",
            "`__ldg(&a[i])` and pointers that are `const float* __restrict__` read through a cache for data that nobody writes while the kernel runs. `__syncthreads()` does not empty it.",
            "Read what the kernel itself writes through a plain pointer: no `__ldg`, no `const ... __restrict__`.",
        ],
    ),
    (
        "deadlock",
        &[
            "Nothing can go on: every thread waits for something that will not happen.",
            "Threads that wait for each other by looking at memory need all to be running; blocks that have not begun cannot help.",
            "Use `__syncthreads()` inside a block, that all threads reach, and another launch, or atomics, between blocks.",
        ],
    ),
    (
        "step_budget",
        &[
            "The kernel did not end. The report says at which line it was.",
            "Look at the loop there: is the variable that is compared the one that is counted? Does it move towards its end? An unsigned one is never below zero, and a short type goes round before it gets there.",
            "`for (int i = 0; i < count; i++)`: three times the same letter, and an `int`.",
        ],
    ),
    (
        "time_budget",
        &[
            "The kernel did not end in time. The report says at which line it was.",
            "Look at the loop there: is the variable that is compared the one that is counted? Does it move towards its end? An unsigned one is never below zero, and a short type goes round before it gets there.",
            "`for (int i = 0; i < count; i++)`: three times the same letter, and an `int`. If the loop does end, it does far more than it must: count its rounds for a small size.",
        ],
    ),
    (
        "stack_overflow",
        &[
            "A function calls itself too deep, or a thread's local arrays are too large.",
            "Does the recursion have an end, and does each call come nearer to it?",
            "Use a loop.",
        ],
    ),
    (
        "bad_launch",
        &[
            "The launch was refused before a thread ran.",
            "A block has at most 1024 threads, and 48 KiB of `__shared__` arrays on most GPUs (227 KiB on an H200).",
            "Look at the lines `// lockstep: block = …`, `// lockstep: grid = …` and at what they name.",
        ],
    ),
    (
        "trap",
        &[
            "The kernel stopped itself: an assertion, or a trap.",
            "What does the condition say at the line that the report names?",
            "Check the smallest size by hand up to that line.",
        ],
    ),
    (
        "wrong_output",
        &[
            "The kernel ran, and some elements are wrong. If the message ends with what the wrong numbers look like, begin there.",
            "Take the smallest size that fails and its first wrong element, and compute that one by hand: which inputs does it need, and which does your index name?",
            "Right at the smallest size and wrong later: an index without its block, a row with another matrix's length, or a value that is left over from the round before.",
        ],
    ),
    (
        "nothing_written",
        &[
            "Nothing was written to the output, at any size: the kernel ran to its end and stored nothing where the result belongs. Is a `TODO` still open?",
            "If the line that stores is there, no thread gets to it: a condition that never holds, a loop that makes no round, or a `return` before it. Or the result is left in a variable, or goes to another array.",
            "The last thing that a kernel does with its result is a store into the output array, such as `c[i] = sum;`.",
        ],
    ),
    (
        "first_block_only",
        &[
            "What the first block makes is right, and nothing else is: as if all blocks did the work of the first one, or the others did none.",
            "Two threads in different blocks have the same `threadIdx`. What in your index tells them apart?",
            "Add the block's number times its size: `blockIdx.x * blockDim.x + threadIdx.x`, and the same with y; for a block that makes a tile, `blockIdx.x * TILE`.",
        ],
    ),
    (
        "cut_sums",
        &[
            "Every sum is made of some of its products only. The message says which of them are in it: the first ones, the last ones, or all but a few.",
            "Only the first ones: the loop ends too early, after one tile perhaps. Only the last one, or the last tile: `=` stands where `+=` is meant, or the sum is set to zero again on the way. One missing in each tile: a bound of the inner loop.",
            "Set the sum to `0.0f` once, before the first loop along k; add with `+=` for every k from 0 to below its end; store it after the last.",
        ],
    ),
    (
        "doubled",
        &[
            "Every result is exactly twice what it should be.",
            "Is each product, or the whole sum, added in two places? Is the last addition repeated after the loop, or is a tile used a second time before the next one is brought?",
            "Follow one element by hand at the smallest size, and count how often each product is added.",
        ],
    ),
    (
        "moved_output",
        &[
            "The right numbers came out, and stand in other places. The message names one: where it is, and where it belongs.",
            "Write down the two places. Is the one a row further, a block further, or with its two indices exchanged? That is the part of the index to look at.",
            "The index of the store and those of the loads must speak of the same element: `c[row * columns + column]` from row `row` and column `column`.",
        ],
    ),
    (
        "kept_state",
        &[
            "The first launch is right, and a second one of the same kernel is not.",
            "What is different the second time? A `__device__` variable is set when the program is loaded, and keeps its value from launch to launch. Shared memory and local variables do not.",
            "Have the last block set the counter back, after all others have used it: `if (last && threadIdx.x == 0) count = 0;`. Or do without: compute each thread's place from `blockIdx` and `threadIdx`.",
        ],
    ),
    (
        "narrow_index",
        &[
            "Small sizes are right, and from one place on nothing is. That place is a round number: what type is the index in?",
            "An `unsigned char` goes from 255 back to 0, an `unsigned short` from 65535, and a `float` has no odd numbers above 16,777,216. Several threads then have the same index, and some elements have no thread.",
            "`const int i = blockIdx.x * blockDim.x + threadIdx.x;`, and an `int` for rows and columns too.",
        ],
    ),
    (
        "whole_number",
        &[
            "The total is a whole number, or is made of whole numbers: the fractions are gone.",
            "Where does a `float` become an `int`? A cast `(int)x`, a variable declared as `int`, or a pointer cast to `int*`, which also writes the bits of a whole number where a float is read.",
            "Keep the sum in `float`, and add to it as what it is: `atomicAdd(y, x[i]);`.",
        ],
    ),
    (
        "never_written",
        &[
            "Some elements still hold what was there before the run: no thread wrote them. Which ones?",
            "A whole row or column: a bound or a direction of the grid. From some place on: the index has no block number, or the grid is too small. Here and there: a condition that depends on the data.",
            "`blockIdx.x * blockDim.x + threadIdx.x`, the same with y, and a comparison with the true bounds; write the result whatever its value is.",
        ],
    ),
    (
        "tail_missing",
        &[
            "The beginning is right and the end was never written. At which element does it begin to be missing?",
            "At the first element of block 1: the index does not use `blockIdx`. Later: the grid was rounded down, or a bound is too small.",
            "Round the number of blocks up, and compare with the true bound.",
        ],
    ),
    (
        "input_changed",
        &[
            "An input array was different after the run.",
            "Which of your stores goes to an input? The report names the line where it can.",
            "Keep the `const` in the parameter list, and the compiler tells you.",
        ],
    ),
    (
        "nan_output",
        &[
            "A NaN came out: a number that is no number.",
            "Outputs are filled with NaN before each run, so a sum that begins with an old value ends as NaN. So do 0/0, the root of a negative number, and infinity minus infinity.",
            "Begin sums with `0.0f`, and write outputs with `=`.",
        ],
    ),
    (
        "transposed_output",
        &[
            "All values are right, and rows and columns are exchanged.",
            "Which of x and y is the row? And how long is a row of the output?",
            "The element in row r and column c lies at `r * columns + c`.",
        ],
    ),
    (
        "shifted_output",
        &[
            "The values are right, and one place off.",
            "Indices count from 0. Is there a `+ 1` or `- 1`, or a pointer that was moved?",
            "The first element is `[0]`, and the loop or the guard ends before the length.",
        ],
    ),
    (
        "precision",
        &[
            "Every value is nearly right, and none is quite.",
            "Something is rounded on the way: a factor, a product or a sum in a type that is shorter than `float`.",
            "Keep inputs, products and sums in `float`.",
        ],
    ),
    (
        "wide_access",
        &[
            "A pointer to `float4` counts in steps of four floats: element 1 of it is elements 4 to 7 of the array.",
            "So either the index counts floats, or it counts groups of four. Which of the two does yours, where it goes through the `float4` pointer?",
            "Index a `float4` pointer with `i`, and the floats with `4 * i`; take groups only while `4 * i + 3 < n`, and do the rest one by one.",
        ],
    ),
    (
        "wrong_signature",
        &[
            "The kernel's name or its parameters are not those of the exercise. Arguments are passed by their order, not by their names.",
            "Compare your kernel's first line with the scaffold's, one parameter after the other: order, type and number.",
            "Copy the first line from the scaffold or from the message, and keep your names only where they mean the same.",
        ],
    ),
    (
        "compile_error",
        &[
            "The first error counts; those after it are often its echo.",
            "A missing semicolon is reported at the line after it. \"identifier is undefined\" is a misspelt name, or one that is used outside the braces it was declared in.",
            "Pointers have one index: `a[row * columns + column]`, not `a[row][column]`. An array's length must be a constant. There is no standard library in a kernel.",
        ],
    ),
    (
        "crashed",
        &[
            "The process that ran the kernel ended with it.",
            "Run the same kernel on the emulator: it says which access was wrong.",
            "Look at your largest index, and at pointers that were cast.",
        ],
    ),
];

static ALL: LazyLock<Vec<TriggeredHint>> = LazyLock::new(|| {
    let hint = |(fault, steps): &(&str, &[&str])| TriggeredHint {
        fault: (*fault).to_owned(),
        steps: steps.iter().map(|step| (*step).to_owned()).collect(),
    };
    HINTS.iter().map(hint).collect()
});

/// The common hint for a diagnosis; none for how a kernel that passes uses the machine.
pub(crate) fn find(fault: &str) -> Option<&'static TriggeredHint> {
    ALL.iter().find(|hint| hint.fault == fault)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu_core::verdict::HINT_KEYS;

    #[test]
    fn every_failure_has_a_hint_in_steps() {
        // How a kernel that passes uses the machine, and a run that the learner stopped.
        const NO_FAILURES: [&str; 4] = ["uncoalesced", "bank_conflicts", "divergence", "stopped"];
        for key in HINT_KEYS {
            assert_eq!(find(key).is_none(), NO_FAILURES.contains(&key), "{key}");
        }
        for hint in ALL.iter() {
            assert!(HINT_KEYS.contains(&hint.fault.as_str()) && hint.steps.len() >= 3, "{}", hint.fault);
        }
    }
}
