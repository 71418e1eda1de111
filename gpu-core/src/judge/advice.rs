//! What would mend a race in shared memory, by where the two accesses stand in the source: a barrier of the block must not stand
//! where some of its threads never come, and one statement has no place between its read and its write.

use crate::compile::conditions::Condition;
use ptx_emulator::{AccessKind, Fault, FaultKind, OF_ONE_WARP, SourceLine, Space};

/// How the sentence about two lanes of one warp goes on where nothing else is known.
fn usual() -> String {
    format!(
        "{OF_ONE_WARP} put __syncthreads() between the two accesses, or __syncwarp() where no other warp takes part"
    )
}

/// Puts what fits the place in the place of what fits most, or behind a sentence that gives none.
pub(super) fn improve(fault: &mut Fault, conditions: &[Condition]) {
    if fault.kind != FaultKind::Race || fault.space != Some(Space::Shared) {
        return;
    }
    let line = |call: Option<&SourceLine>, source: Option<&SourceLine>| call.or(source).map(|source| source.line);
    let own = line(fault.inlined_at.as_ref(), fault.source.as_ref());
    let Some(side) = &fault.other else { return };
    let other = line(side.inlined_at.as_ref(), side.source.as_ref());
    let (Some(own), Some(other)) = (own, other) else { return };
    let usual = usual();
    let near = fault.message.contains(&usual);
    // The innermost of those that hold both.
    let around = conditions.iter().filter(|one| one.holds(own) && one.holds(other));
    let around = around.min_by_key(|one| one.inside.1 - one.inside.0);
    let one_warp = conditions.iter().any(|one| one.one_warp && one.holds(own) && one.holds(other));
    let reads_and_writes = matches!(
        (fault.access, side.access),
        (Some(AccessKind::Read), Some(AccessKind::Write)) | (Some(AccessKind::Write), Some(AccessKind::Read))
    );
    let advice = match around {
        _ if own == other && reads_and_writes && one_warp => format!(
            "line {own} reads and writes in one statement, and one warp alone comes to it: read into a variable, then __syncwarp(), \
             write, and __syncwarp() again"
        ),
        Some(condition) if own == other && reads_and_writes => format!(
            "line {own} reads and writes in one statement, inside the condition of line {} (`{}`): read into a variable first, then \
             __syncthreads() outside of the condition, where every thread comes to it, then write, and __syncthreads() again; or use \
             two arrays in turns",
            condition.line, condition.text
        ),
        None if own == other && reads_and_writes => format!(
            "line {own} reads and writes in one statement: read into a variable, then __syncthreads(), then write, and __syncthreads() \
             again; or use two arrays in turns"
        ),
        _ if near && one_warp => {
            "put __syncwarp() between the two accesses: one warp alone comes here, and __syncthreads() would wait for the others"
                .to_owned()
        }
        Some(condition) if near => format!(
            "a barrier belongs between the two accesses, and both stand inside the condition of line {} (`{}`), which not all threads \
             need to enter: end it, put __syncthreads() there, and ask again behind it",
            condition.line, condition.text
        ),
        _ => return,
    };
    fault.message = match near {
        true => fault.message.replace(&usual, &format!("{OF_ONE_WARP} {advice}")),
        false => format!("{}; {advice}", fault.message),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::conditions::conditions;
    use ptx_emulator::{OtherSide, ThreadId};

    const SOURCE: &str = "int t = threadIdx.x;\nif (t < 32) {\n  s[t] += s[t + 16];\n  s[t] += s[t + 8];\n}\nif (t >= d) s[t] += s[t - \
                          d];\nif (t < n) {\n  s[t] = 1;\n  x = s[t + 1];\n}\ns[t] = s[t + 1];\ns[t] = 2;\ny = s[t + 1];\n";

    fn said(own: u32, other: u32, near: bool) -> String {
        let at = |line| Some(SourceLine { file: "kernel.cu".to_owned(), line, column: 1 });
        let thread = ThreadId { block: [0; 3], thread: [0; 3], warp: 0, lane: 0 };
        let mut fault = Fault {
            kind: FaultKind::Race,
            message: if near { format!("a race{}", usual()) } else { "a race".to_owned() },
            kernel: String::new(),
            launch: None,
            source: at(own),
            inlined_at: None,
            instruction: String::new(),
            thread: None,
            space: Some(Space::Shared),
            access: Some(AccessKind::Write),
            address: None,
            access_bytes: 4,
            allocation: None,
            other: Some(OtherSide { source: at(other), inlined_at: None, thread, access: Some(AccessKind::Read) }),
            occurrences: 1,
        };
        improve(&mut fault, &conditions(SOURCE));
        fault.message
    }

    #[test]
    fn no_barrier_of_the_block_is_advised_where_it_would_hang() {
        let tail = said(4, 3, true);
        assert!(tail.contains("put __syncwarp() between") && !tail.contains("put __syncthreads()"), "{tail}");
        let both = said(4, 4, true);
        assert!(both.contains("line 4 reads and writes") && both.contains("__syncwarp() again"), "{both}");
        for near in [true, false] {
            let scan = said(6, 6, near);
            assert!(
                scan.contains("condition of line 6 (`t >= d`)") && scan.contains("outside of the condition"),
                "{scan}"
            );
        }
        let inside = said(9, 8, true);
        assert!(inside.contains("inside the condition of line 7 (`t < n`)"), "{inside}");
        assert!(said(11, 11, false).contains("read into a variable, then __syncthreads()"));
    }

    #[test]
    fn elsewhere_the_usual_advice_stays() {
        assert_eq!(said(13, 12, true), format!("a race{}", usual()));
        assert_eq!(said(13, 12, false), "a race");
        assert_eq!(said(12, 8, true), format!("a race{}", usual()), "a barrier fits between the two");
        assert_eq!(said(9, 8, false), "a race");
    }
}
