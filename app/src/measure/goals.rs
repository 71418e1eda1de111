//! What a program's figures are held against: the machine's measured ceiling, and each other.

use super::size_name;
use crate::scripts::Figure;

/// Name of the figure that is the ceiling of a machine.
const CEILING: &str = "ceiling: multiply-adds alone";

/// A milestone of a program.
#[derive(Clone, Copy)]
pub struct Goal {
    pub name: &'static str,
    /// Why it is worth reaching.
    pub note: &'static str,
    /// Whether it was reached, and what was measured beside what is asked; None where that cannot be told.
    judge: fn(&[Figure]) -> Option<(bool, String)>,
}

impl Goal {
    pub fn judge(&self, figures: &[Figure]) -> Option<(bool, String)> {
        (self.judge)(figures)
    }
}

/// The ceiling as a figure, to stand beside the products of size n.
pub(super) fn ceiling(n: usize, device: String, gflops: f64) -> Figure {
    let (name, rung) = (size_name(n), CEILING.to_owned());
    Figure { name, rung, device, gflops: Some(gflops), ok: true, ..Figure::default() }
}

/// A figure's share of the machine's ceiling, where that was measured in the same run.
pub fn share_of_ceiling(figure: &Figure, all: &[Figure]) -> Option<f64> {
    if figure.rung == CEILING {
        return None;
    }
    let most = all.iter().find(|other| other.rung == CEILING && other.name == figure.name)?.gflops?;
    figure.gflops.map(|rate| rate / most)
}

/// The rate of one program at the largest size at which it was measured.
fn rate(figures: &[Figure], rung: &str) -> Option<f64> {
    figures.iter().rev().find(|figure| figure.rung == rung && figure.ok)?.gflops
}

fn ms(figures: &[Figure], rung: &str) -> Option<f64> {
    figures.iter().rev().find(|figure| figure.rung == rung && figure.ok)?.median_ms
}

fn best_share(figures: &[Figure]) -> Option<f64> {
    let shares = figures.iter().filter(|figure| figure.ok).filter_map(|figure| share_of_ceiling(figure, figures));
    shares.reduce(f64::max)
}

fn share_goal(figures: &[Figure], asked: f64) -> Option<(bool, String)> {
    let got = best_share(figures)?;
    Some((
        got >= asked,
        format!("{:.1} % of this machine's measured ceiling, {:.0} % asked", 100.0 * got, 100.0 * asked),
    ))
}

pub(super) static CPU_GOALS: &[Goal] = &[
    Goal {
        name: "A billion operations a second",
        note: "The baseline of the week: 1 GFLOP/s, by loops on one core.",
        judge: |figures| {
            let best = rate(figures, "CPU, loops i-j-k")?.max(rate(figures, "CPU, loops i-k-j")?);
            Some((best >= 1.0, format!("{best:.2} GFLOP/s by loops, 1 asked")))
        },
    },
    Goal {
        name: "By order alone",
        note: "The same operations in another order, at least three times as fast.",
        judge: |figures| {
            let gain = rate(figures, "CPU, loops i-k-j")? / rate(figures, "CPU, loops i-j-k")?;
            Some((gain >= 3.0, format!("i-k-j is {gain:.1} times as fast as i-j-k, 3 times asked")))
        },
    },
    Goal {
        name: "A tenth of this CPU",
        note: "With all cores and SIMD. Libraries of the processors' makers, such as the one that NumPy brings, go further.",
        judge: |figures| share_goal(figures, 0.1),
    },
];

pub(super) static LIBRARY_GOALS: &[Goal] = &[
    Goal {
        name: "A thousand GFLOP/s",
        note: "The figure that this week leads to, here by somebody else's kernel.",
        judge: |figures| {
            let got = rate(figures, "cuBLAS, data stays")?;
            Some((got >= 1000.0, format!("{got:.0} GFLOP/s with the data on the GPU, 1000 asked")))
        },
    },
    Goal {
        name: "Copies partly hidden",
        note: "Pieces are copied while others are multiplied: at most nine tenths of the time.",
        judge: |figures| {
            let share = ms(figures, "cuBLAS, copies overlapped")? / ms(figures, "cuBLAS, copies each time, pinned")?;
            Some((
                share <= 0.9,
                format!("{:.0} % of the time of one after the other, at most 90 % asked", 100.0 * share),
            ))
        },
    },
    Goal {
        name: "Half of this GPU",
        note: "Of the multiply-adds that it can do when no memory is in the way.",
        judge: |figures| share_goal(figures, 0.5),
    },
];

#[cfg(test)]
mod tests {
    use super::super::PROGRAMS;
    use super::*;

    fn figure(rung: &str, gflops: f64) -> Figure {
        let median_ms = Some(2.0 / gflops);
        Figure { name: size_name(8), rung: rung.into(), gflops: Some(gflops), median_ms, ok: true, ..Figure::default() }
    }

    #[test]
    fn figures_are_held_against_the_ceiling_and_each_other() {
        let mut figures = vec![figure("CPU, loops i-j-k", 0.25), figure("CPU, loops i-k-j", 1.5)];
        let judged = |figures: &[Figure]| {
            CPU_GOALS.iter().map(|goal| goal.judge(figures).map(|(met, _)| met)).collect::<Vec<_>>()
        };
        assert_eq!(judged(&figures), [Some(true), Some(true), None], "no ceiling was measured");
        figures.push(ceiling(8, String::new(), 30.0));
        assert_eq!(judged(&figures), [Some(true), Some(true), Some(false)]);
        assert_eq!(share_of_ceiling(&figures[1], &figures), Some(0.05));
        assert_eq!(share_of_ceiling(&figures[2], &figures), None, "the ceiling itself");
        figures[1].ok = false;
        assert_eq!(judged(&figures)[0], None, "a wrong result has no rate");
    }

    #[test]
    fn what_was_recorded_on_one_h200_reaches_the_goals_of_its_program() {
        let recorded = super::super::recording("library-matmul").expect("a recording");
        for goal in &LIBRARY_GOALS[..2] {
            let (met, because) = goal.judge(&recorded.figures).expect("recorded");
            assert!(met, "{}: {because}", goal.name);
        }
    }

    #[test]
    fn goals_have_words() {
        for goal in PROGRAMS.iter().flat_map(|program| program.goals) {
            assert!(!goal.name.is_empty() && goal.note.ends_with('.'), "{}", goal.name);
        }
    }
}
