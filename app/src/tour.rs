//! The words of the tour: seven cards, two minutes. `panels/tour.rs` draws them.

use crate::dock::Layout;
use crate::pane::Pane;

/// One card.
pub struct Card {
    pub title: &'static str,
    pub text: &'static str,
    /// Opened beforehand.
    pub layout: Option<Layout>,
    /// Brought to the front and framed.
    pub pane: Option<Pane>,
}

const fn card(title: &'static str, text: &'static str, layout: Option<Layout>, pane: Option<Pane>) -> Card {
    Card { title, text, layout, pane }
}

/// Week and day that a learner in a hurry is led to: the first kernel for many threads.
pub const FIRST_KERNEL: (u32, u32) = (1, 4);

/// Two minutes.
pub static TOUR: [Card; 7] = [
    card(
        "Welcome to Lockstep",
        "You write CUDA kernels here, and see what every thread of them does. No GPU is needed: an emulator runs the \
         same code. This tour takes two minutes; Escape ends it.",
        Some(Layout::Read),
        None,
    ),
    card(
        "The course",
        "Four weeks of days, about an hour each. A ring fills as a day gets done. Start with Week 1 Day 1; to write a \
         kernel for thousands of threads at once, go straight to Day 4.",
        None,
        Some(Pane::Course),
    ),
    card(
        "A day has five steps",
        "Challenge, Explore, Concept, Code It and Verify are above the panes; Ctrl+1 to Ctrl+5 open them. The lesson \
         ends with a button to the next one.",
        None,
        Some(Pane::Lesson),
    ),
    card(
        "Write the kernel",
        "The editor marks errors while you type. Check (Ctrl+Enter) judges the kernel on fresh inputs; Benchmark \
         (Ctrl+B) times it on a GPU or counts its work. Stop (Ctrl+.) always works.",
        Some(Layout::Code),
        Some(Pane::Editor),
    ),
    card(
        "What happened",
        "Verdict says what was wrong and which thread did it. The other tabs show counters, PTX and SASS, and the plots \
         of all your versions.",
        None,
        Some(Pane::Verdict),
    ),
    card(
        "Arrange it your way",
        "F9, F10 and F11 switch between Read, Code and Profile. Drag tabs where you want them, and the borders between \
         panes; Lockstep remembers them for each layout and screen. F6 moves the keyboard to the next pane.",
        Some(Layout::Profile),
        None,
    ),
    card(
        "Everything by name",
        "Ctrl+Shift+P finds any command, Ctrl+Shift+F any word of the course. Help shows all keys and the ready check of \
         this machine. Now start with the first day, or go straight to your first kernel.",
        Some(Layout::Read),
        Some(Pane::Lesson),
    ),
];
