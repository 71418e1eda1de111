//! Arrays of which every thread has parts of its own: the arithmetic that tells, and random kernels of which it tells.

mod program;

use std::sync::atomic::AtomicBool;

use program::{Dice, Program};
use ptx_emulator::inside::check::own::affine::{Affine, COORDINATES, Fact, Interval, LARGE};
use ptx_emulator::inside::check::own::apart::{Place, are_apart};
use ptx_emulator::inside::check::own::loops::passes_of;
use ptx_emulator::inside::check::own_arrays;
use ptx_emulator::{FaultKind, Launch, Memory, Module, Options, Outcome, launch};

#[test]
fn sums_and_what_they_come_to() {
    let (x, y) = (Affine::atom(0), Affine::atom(1));
    let sum = x.plus(&y, 10).and_then(|sum| sum.plus(&Affine::constant(3), 1)).expect("small");
    assert_eq!(sum, Affine { terms: vec![(0, 1), (1, 10)], constant: 3 });
    assert_eq!(sum.interval(&[(0, 9), (0, 4)], &[]), Some((3, 52)));
    let fact = Fact { terms: vec![(0, 1), (1, 10)], within: (0, 30) };
    assert_eq!(sum.interval(&[(0, 9), (0, 4)], std::slice::from_ref(&fact)), Some((3, 33)));
    // Twice as much lies in twice the interval, and less one of them in what that leaves.
    assert_eq!(sum.times(-2).and_then(|sum| sum.interval(&[(0, 9), (0, 4)], &[fact])), Some((-66, -6)));
    assert_eq!(sum.plus(&sum, -1), Some(Affine::default()));
    assert_eq!(Affine::constant(0xffff_fffc).reduced(32), Affine::constant(-4));
    assert_eq!(Affine::constant(LARGE - 1).times(4), None);
}

fn place(terms: &[(u16, i128)], constant: i128, bytes: u32) -> Place {
    Place { address: Affine { terms: terms.to_vec(), constant }, bytes, writes: true, facts: Vec::new() }
}

/// All pairs of threads and steps, one after the other.
fn meet(a: &Place, b: &Place, ranges: &[Interval]) -> bool {
    let all = |place: &Place| {
        let mut found = Vec::new();
        let mut values: Vec<i128> = ranges.iter().map(|range| range.0).collect();
        loop {
            let sum = |terms: &[(u16, i128)]| terms.iter().map(|(atom, f)| f * values[*atom as usize]).sum::<i128>();
            if place.facts.iter().all(|fact| (fact.within.0..=fact.within.1).contains(&sum(&fact.terms))) {
                found.push((values[..COORDINATES].to_vec(), place.address.constant + sum(&place.address.terms)));
            }
            let Some(next) = (0..values.len()).find(|at| values[*at] < ranges[*at].1) else { return found };
            values[next] += 1;
            values[..next].iter_mut().zip(ranges).for_each(|(value, range)| *value = range.0);
        }
    };
    let (first, second) = (all(a), all(b));
    first.iter().any(|(thread, from)| {
        second
            .iter()
            .any(|(other, to)| thread != other && from - to < i128::from(b.bytes) && to - from < i128::from(a.bytes))
    })
}

#[test]
fn what_is_apart_never_meets() {
    let mut dice = Dice(1);
    let (mut apart, mut together, mut unsure) = (0, 0, 0);
    for _ in 0..20_000 {
        let mut ranges = vec![(0, 0); COORDINATES + 2];
        for at in [0, 1, 3, 6, 7] {
            ranges[at] = (0, dice.below(4) as i128);
        }
        let sizes = [1, 2, 3, 4, 6, 8, 9, 12, 16, 24, 32, 48, 64, -1, -4, -16];
        let terms: Vec<(u16, i128)> = [0, 1, 3].map(|atom| (atom, sizes[dice.below(16) as usize])).to_vec();
        let make = |dice: &mut Dice, terms: &[(u16, i128)]| {
            let mut terms = terms.to_vec();
            for atom in [6, 7] {
                if dice.below(3) == 0 {
                    terms.push((atom, sizes[dice.below(16) as usize]));
                }
            }
            let mut place = place(&terms, dice.below(40) as i128, [1, 2, 4, 8][dice.below(4) as usize]);
            if dice.below(2) == 0 {
                let terms = [vec![(0, 1), (1, 4)], vec![(0, 1)], vec![(1, 2), (3, -1)]][dice.below(3) as usize].clone();
                place.facts.push(Fact { terms, within: (dice.below(2) as i128, 1 + dice.below(4) as i128) });
            }
            place
        };
        let a = make(&mut dice, &terms);
        let b = if dice.below(2) == 0 { a.clone() } else { make(&mut dice, &terms) };
        match (are_apart(&a, &b, &ranges), meet(&a, &b, &ranges)) {
            (true, true) => panic!("{a:?} and {b:?} meet in {ranges:?}"),
            (true, false) => apart += 1,
            (false, true) => together += 1,
            (false, false) => unsure += 1,
        }
    }
    assert!(apart > 3000 && together > 3000 && unsure < 2000, "{apart} {together} {unsure}");
}

/// The same, one after the other.
fn counted(operator: &str, begin: i64, first: i64, step: i64, bound: i64) -> Option<i128> {
    let mut value = begin + first * step;
    for passes in 0..1000 {
        let holds = match operator {
            "lt" => value < bound,
            "le" => value <= bound,
            "gt" => value > bound,
            "ge" => value >= bound,
            _ => value != bound,
        };
        if !holds {
            return Some(passes);
        }
        value += step;
    }
    None
}

#[test]
fn passes_are_as_many_as_there_are() {
    for operator in ["lt", "le", "gt", "ge", "ne"] {
        for step in [-7, -2, -1, 1, 2, 7] {
            for (begin, bound) in [(100, 100), (100, 101), (100, 128), (128, 100), (100, 142), (142, 100)] {
                for first in [0, 1] {
                    let told = passes_of(operator, (begin, begin), first, step, (bound, bound), (true, 32));
                    let counted = counted(operator, begin as i64, first as i64, step as i64, bound as i64);
                    let up = matches!(operator, "lt" | "le" | "ne") && step > 0;
                    let down = matches!(operator, "gt" | "ge" | "ne") && step < 0;
                    if told.is_some() || up || down {
                        assert_eq!(told, counted, "{operator} {begin} {first} {step} {bound}");
                    }
                }
            }
        }
    }
    // The next step would come out at the other end.
    assert_eq!(passes_of("lt", (0, 0), 0, 16, (0xffff_fff8, 0xffff_fff8), (false, 32)), None);
    assert_eq!(passes_of("lt", (0, 7), 0, 16, (100, 200), (false, 32)), Some(13));
}

/// Runs it once, with all that is touched remembered or not.
fn outcome(module: &Module, shape: ([u32; 3], [u32; 3]), numbers: (u32, u32), touched: bool) -> (Vec<String>, Outcome) {
    let mut memory = Memory::new(1 << 24);
    let c = memory.alloc("c", 1 << 16).expect("fits");
    memory.write(c, &vec![0; 1 << 16]).expect("inside");
    let run = Launch::new("k", shape.0, shape.1).arg_u64(c + (1 << 14)).arg_u32(numbers.0).arg_u32(numbers.1);
    let options = Options { touched, written_once: true, max_faults: 1000, deterministic: true, ..Options::default() };
    let own = own_arrays(module, &mut memory, &run, &options);
    (own, launch(module, &mut memory, &run, &options, &AtomicBool::new(false)))
}

#[test]
fn nobody_meets_in_parts_of_their_own() {
    let programs = std::env::var("OWN_PROGRAMS").map_or(1500, |count| count.parse().expect("a number"));
    let first = std::env::var("OWN_FIRST").map_or(1, |seed| seed.parse().expect("a number"));
    let (mut owned, mut racing, mut neither) = (0, 0, 0);
    for seed in first..first + programs {
        let mut program = Program::new(seed);
        let ptx = program.ptx();
        let module = Module::load(&ptx).unwrap_or_else(|error| panic!("{error}\n{ptx}"));
        let dice = &mut program.dice;
        let mut size = |sizes: &[u32]| sizes[dice.below(sizes.len() as u64) as usize];
        let grid = [size(&[1, 2, 3, 4]), size(&[1, 1, 2, 3]), 1];
        let block = [size(&[1, 4, 8, 16, 32, 33, 40]), size(&[1, 1, 2, 3, 4]), 1];
        let numbers = (size(&[1, 7, 16, 30, 64, 100]), size(&[16, 33, 40, 64, 128]));
        let (own, plain) = outcome(&module, (grid, block), numbers, false);
        let (_, watched) = outcome(&module, (grid, block), numbers, true);
        let races = |outcome: &Outcome| outcome.faults.iter().filter(|fault| fault.kind == FaultKind::Race).count();
        let about = || format!("{seed}: {grid:?} {block:?} {numbers:?}\n{ptx}\n{:#?}", watched.faults.first());
        assert_eq!(races(&plain), races(&watched), "{}", about());
        match (own.is_empty(), races(&watched)) {
            (false, 0) => owned += 1,
            (false, _) => panic!("{}", about()),
            (true, 0) => neither += 1,
            (true, _) => racing += 1,
        }
    }
    println!("{owned} with parts of their own, {racing} with races, {neither} with neither");
    assert!(owned > programs / 16 && racing > programs / 8, "{owned} {racing} {neither}");
}

/// Rows of four words that a loop goes along, in a kernel of its own.
fn row_of_four(body: &str) -> (Vec<String>, usize) {
    let ptx = format!(
        r"
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 c, .param .u32 n, .param .u32 w)
{{
    .reg .pred %p, %q;
    .reg .b32 %tx, %first, %i, %k, %next, %times;
    .reg .b64 %a, %c, %generic;
    ld.param.u64 %generic, [c];
    cvta.to.global.u64 %c, %generic;
    mov.u32 %tx, %tid.x;
    shl.b32 %first, %tx, 2;
    mov.u32 %times, 0;
    mov.u32 %i, %first;
    mov.u32 %k, 0;
{body}
    ret;
}}
"
    );
    let module = Module::load(&ptx).unwrap_or_else(|error| panic!("{error}\n{ptx}"));
    let shape = ([1, 1, 1], [64, 1, 1]);
    let (own, _) = outcome(&module, shape, (1, 1), false);
    let (_, watched) = outcome(&module, shape, (1, 1), true);
    (own, watched.faults.iter().filter(|fault| fault.kind == FaultKind::Race).count())
}

/// A loop that ends where a comparison holds: one turn more is one too many.
#[test]
fn a_loop_may_end_where_a_comparison_holds() {
    let ending = |compared: &str| {
        row_of_four(&format!(
            r"
TOP:
    mad.wide.u32 %a, %i, 4, %c;
    st.global.u32 [%a], %tx;
    add.s32 %i, %i, 1;
    add.s32 %k, %k, 1;
    setp.{compared};
    @%p bra OUT;
    bra TOP;
OUT:"
        ))
    };
    for compared in ["ge.s32 %p, %k, 4", "eq.s32 %p, %k, 4", "gt.u32 %p, %k, 3", "le.s32 %p, 4, %k"] {
        assert_eq!(ending(compared), (vec!["c".to_owned()], 0), "{compared}");
    }
    for compared in ["ge.s32 %p, %k, 5", "eq.s32 %p, %k, 5", "gt.u32 %p, %k, 4", "lt.s32 %p, 4, %k"] {
        let (own, races) = ending(compared);
        assert!(own.is_empty() && races > 0, "{compared}: {own:?}, {races} races");
    }
}

/// What was added up before a register began anew is no step from where it began.
#[test]
fn a_sum_from_before_is_no_step() {
    let copied = |again: &str| {
        row_of_four(&format!(
            r"
TOP:
    add.s32 %next, %i, 1;
    mad.wide.u32 %a, %i, 4, %c;
    st.global.u32 [%a], %tx;
    {again}
    mov.u32 %i, %next;
    add.s32 %k, %k, 1;
    setp.lt.s32 %p, %k, 4;
    @%p bra TOP;"
        ))
    };
    assert_eq!(copied(""), (vec!["c".to_owned()], 0));
    // The sum goes on from where the register was.
    assert_eq!(copied("mov.u32 %i, %first;").0, Vec::<String>::new());
}
