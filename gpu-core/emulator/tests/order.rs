//! All executions of small programs that are put together from what keeps host memory in order (`exec/order.rs`) and from
//! what finds launches that wait for ever (`exec/sched/waiting.rs`), on a machine that promises no more than Rust does. A test on
//! a real machine sees only the orders that this machine has: x86 shows hardly any.

use std::sync::Arc;

use loom::sync::atomic::{AtomicU64, fence};
use loom::thread;

#[allow(dead_code, reason = "one file of the emulator, used in part")]
#[path = "../src/exec/order.rs"]
mod order;
#[allow(dead_code, reason = "one file of the emulator, used in part")]
#[path = "../src/exec/sched/waiting.rs"]
mod waiting;

/// What `exec/sched/waiting.rs` takes its atomics from.
mod atomics {
    pub use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
}

use atomics::Ordering;
use waiting::Waiting;

/// Words of global memory as the emulator accesses them.
#[derive(Default)]
struct Memory {
    words: [AtomicU64; 3],
}

const DATA: usize = 0;
const FLAG: usize = 1;
const OTHER: usize = 2;

impl Memory {
    fn weak_load(&self, word: usize) -> u64 {
        self.words[word].load(Ordering::Relaxed)
    }

    fn weak_store(&self, word: usize, value: u64) {
        self.words[word].store(value, Ordering::Relaxed);
    }

    fn strong_load(&self, word: usize) -> u64 {
        let value = self.weak_load(word);
        fence(order::BEHIND_LOAD);
        value
    }

    fn strong_store(&self, word: usize, value: u64) {
        fence(order::BEFORE_STORE);
        self.weak_store(word, value);
    }

    fn add(&self, word: usize, value: u64) -> u64 {
        let mut old = self.words[word].load(Ordering::Relaxed);
        while let Err(now) = self.words[word].compare_exchange(old, old + value, order::UPDATE, Ordering::Relaxed) {
            old = now;
        }
        old
    }
}

type Side = fn(&Memory) -> u64;

/// Runs both sides in every order, and asks `allowed` of what they gave.
fn in_all_orders(first: Side, second: Side, allowed: fn(u64, u64) -> bool) {
    loom::model(move || {
        let memory = Arc::new(Memory::default());
        let other = Arc::clone(&memory);
        let thread = thread::spawn(move || first(&other));
        let found = second(&memory);
        let other = thread.join().expect("it only accesses memory");
        assert!(allowed(other, found), "{other} {found}");
    });
}

fn is_found(first: Side, second: Side, allowed: fn(u64, u64) -> bool) -> bool {
    std::thread::spawn(move || in_all_orders(first, second, allowed)).join().is_err()
}

/// What the second side read behind the flag, or 1 where it saw none.
fn message(read: impl FnOnce() -> u64, memory: &Memory) -> u64 {
    if read() == 0 { 1 } else { memory.weak_load(DATA) }
}

fn arrives(_: u64, message: u64) -> bool {
    message == 1
}

#[test]
fn a_flag_brings_what_it_stands_for() {
    let stores: Side = |memory| {
        memory.weak_store(DATA, 1);
        memory.strong_store(FLAG, 1);
        0
    };
    let adds: Side = |memory| {
        memory.weak_store(DATA, 1);
        memory.add(FLAG, 1)
    };
    let loads: Side = |memory| message(|| memory.strong_load(FLAG), memory);
    for first in [stores, adds] {
        in_all_orders(first, loads, arrives);
    }
    in_all_orders(stores, |memory| message(|| memory.add(FLAG, 2) & 1, memory), arrives);
    in_all_orders(adds, |memory| message(|| memory.add(FLAG, 2) & 1, memory), arrives);
}

#[test]
fn a_fence_keeps_a_store_before_a_load() {
    in_all_orders(
        |memory| {
            memory.strong_store(FLAG, 1);
            fence(order::FENCE);
            memory.strong_load(OTHER)
        },
        |memory| {
            memory.strong_store(OTHER, 1);
            fence(order::FENCE);
            memory.strong_load(FLAG)
        },
        |first, second| first == 1 || second == 1,
    );
}

/// What one thread learnt it passes on.
#[test]
fn order_goes_through_a_third_thread() {
    loom::model(|| {
        let memory = Arc::new(Memory::default());
        let [one, two] = [(); 2].map(|()| Arc::clone(&memory));
        thread::spawn(move || {
            one.weak_store(DATA, 1);
            one.strong_store(FLAG, 1);
        });
        thread::spawn(move || {
            if two.strong_load(FLAG) == 1 {
                two.strong_store(OTHER, 1);
            }
        });
        assert_eq!(message(|| memory.strong_load(OTHER), &memory), 1);
    });
}

/// The walk sees what it must: with less order everything above goes wrong.
#[test]
fn less_order_is_found_out() {
    let loads: Side = |memory| message(|| memory.strong_load(FLAG), memory);
    let bare_store: Side = |memory| {
        memory.weak_store(DATA, 1);
        memory.weak_store(FLAG, 1);
        0
    };
    let stores: Side = |memory| {
        memory.weak_store(DATA, 1);
        memory.strong_store(FLAG, 1);
        0
    };
    assert!(is_found(bare_store, loads, arrives), "a store without its fence");
    assert!(is_found(stores, |memory| message(|| memory.weak_load(FLAG), memory), arrives), "a load without its fence");
    let first: Side = |memory| {
        memory.strong_store(FLAG, 1);
        memory.strong_load(OTHER)
    };
    let second: Side = |memory| {
        memory.strong_store(OTHER, 1);
        memory.strong_load(FLAG)
    };
    assert!(is_found(first, second, |one, other| one == 1 || other == 1), "no fence between store and load");
}

/// Runs it where workers take blocks in their order, and where each begins with its own.
fn in_both_orders(program: impl Fn(bool) + Send + Sync + 'static) {
    let program = Arc::new(program);
    for in_order in [true, false] {
        let program = Arc::clone(&program);
        loom::model(move || program(in_order));
    }
}

/// A worker whose block waits for what the block of another writes, which may begin as late as it likes, never finds that
/// all wait for ever.
#[test]
fn who_is_about_to_write_is_not_taken_for_waiting() {
    in_both_orders(|in_order| {
        let shared = Arc::new((Waiting::new(2, 2, in_order), Memory::default()));
        let own = shared.0.begin();
        assert_eq!(shared.0.take(own, |_| 1), 0..1);
        let late = Arc::clone(&shared);
        thread::spawn(move || {
            let (waiting, memory) = &*late;
            let worker = waiting.begin();
            if !waiting.take(worker, |_| 1).is_empty() {
                memory.weak_store(FLAG, 1);
                waiting.progressed(1);
            }
            waiting.done(worker);
        });
        let (waiting, memory) = &*shared;
        let progress = waiting.progress();
        if memory.strong_load(FLAG) == 0 {
            assert!(!waiting.all_wait(own, progress), "the other's write is still to come, or came meanwhile");
        }
    });
}

/// Two workers that wait for each other find it out, whoever waits first.
#[test]
fn the_last_to_wait_finds_that_all_do() {
    in_both_orders(|in_order| {
        let waiting = Arc::new(Waiting::new(2, 2, in_order));
        let other = Arc::clone(&waiting);
        let waits = |waiting: &Waiting| {
            let worker = waiting.begin();
            assert!(!waiting.take(worker, |_| 1).is_empty());
            waiting.all_wait(worker, waiting.progress())
        };
        let thread = thread::spawn(move || waits(&other));
        let found = waits(&waiting);
        assert!(thread.join().expect("it only waits") || found);
    });
}

/// Every block is given out once, whoever takes more of them and from whose part.
#[test]
fn each_block_is_taken_once() {
    in_both_orders(|in_order| {
        let waiting = Arc::new(Waiting::new(2, 3, in_order));
        let take_all = |waiting: &Waiting, worker: usize| {
            let mut taken = Vec::new();
            loop {
                let next = waiting.take(worker, |left| left.min(2));
                if next.is_empty() {
                    return taken;
                }
                taken.extend(next);
            }
        };
        let other = Arc::clone(&waiting);
        let thread = thread::spawn(move || take_all(&other, 1));
        let mut taken = take_all(&waiting, 0);
        assert!(!in_order || taken.is_sorted());
        taken.extend(thread.join().expect("it only takes"));
        taken.sort_unstable();
        assert_eq!((taken, waiting.left()), (vec![0, 1, 2], 0));
    });
}
