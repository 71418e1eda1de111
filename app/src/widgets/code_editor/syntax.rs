//! Colours that never hold up a frame: a short text is parsed between two frames, a long one on a thread of its own
//! while the last colours move along with the edits.

use crate::widgets::highlight::{Highlighter, Span};
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Up to this many bytes a key's incremental parse takes at most a few milliseconds, also in a debug build.
pub(super) const NEAR_BYTES: usize = 24_000;

/// Above this many bytes the text stays plain: no kernel is that long, and a parse would take seconds of a core.
const MAX_BYTES: usize = 1_000_000;

/// Bytes before and after the view of a long text whose colours come first. Those of all of it follow when nothing is
/// typed: a megabyte to make, which at each key would only be in the way.
const MARGIN_BYTES: usize = 12_000;

/// The colours of one text.
#[derive(Default)]
pub(super) struct Syntax {
    /// Version of the text that `near` has seen.
    version: u64,
    near: Highlighter,
    far: Option<Far>,
    /// Of a long text: the last that came, moved along.
    spans: Vec<Span>,
    /// Version and bytes that `spans` are right for.
    known: Part,
}

/// A version of a text, and some of its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Part {
    version: u64,
    bytes: Range<usize>,
}

impl Part {
    fn covers(&self, version: u64, bytes: &Range<usize>) -> bool {
        self.version == version && self.bytes.start <= bytes.start && bytes.end <= self.bytes.end
    }
}

struct Far {
    orders: Sender<(Part, String)>,
    results: Receiver<(Part, Vec<Span>)>,
    asked: Part,
}

impl Far {
    /// None when the system allows no further thread; the text is then plain.
    #[expect(clippy::disallowed_methods, reason = "the thread waits, not the window")]
    fn start() -> Option<Self> {
        let (orders, ordered) = channel::<(Part, String)>();
        let (sender, results) = channel();
        let work = move || {
            let mut highlighter = Highlighter::default();
            while let Ok(mut order) = ordered.recv() {
                // Only the newest text is of interest.
                while let Ok(newer) = ordered.try_recv() {
                    order = newer;
                }
                highlighter.update(&order.1);
                let spans = highlighter.spans_in(order.0.bytes.clone());
                if sender.send((order.0, spans)).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("colours".to_owned()).spawn(work).ok()?;
        Some(Self { orders, results, asked: Part::default() })
    }
}

impl Syntax {
    /// Spans that touch `range`, and whether better ones are on their way.
    pub fn spans(&mut self, text: &str, version: u64, range: Range<usize>) -> (Vec<Span>, bool) {
        if text.len() > MAX_BYTES {
            return (Vec::new(), false);
        }
        if text.len() <= NEAR_BYTES {
            if self.version != version {
                self.near.update(text);
                self.version = version;
            }
            return (self.near.spans_in(range), false);
        }
        if self.far.is_none() {
            self.far = Far::start();
        }
        let Some(far) = &mut self.far else { return (Vec::new(), false) };
        for (of, spans) in far.results.try_iter() {
            if of.version == version {
                (self.known, self.spans) = (of, spans);
            }
        }
        let is_known = self.known.covers(version, &range);
        let wanted = if is_known {
            0..text.len()
        } else {
            range.start.saturating_sub(MARGIN_BYTES)..(range.end + MARGIN_BYTES).min(text.len())
        };
        if !far.asked.covers(version, if is_known { &wanted } else { &range }) {
            far.asked = Part { version, bytes: wanted };
            // A thread that panicked leaves the text plain.
            let _ = far.orders.send((far.asked.clone(), text.to_owned()));
        }
        let first = self.spans.partition_point(|span| span.range.end <= range.start);
        let visible = self.spans[first..].iter().take_while(|span| span.range.start < range.end);
        (visible.cloned().collect(), !is_known)
    }

    /// Moves the colours of a long text along with an edit.
    pub fn edited(&mut self, range: Range<usize>, inserted: usize) {
        let delta = inserted as isize - range.len() as isize;
        let first = self.spans.partition_point(|span| span.range.end <= range.start);
        for span in &mut self.spans[first..] {
            if span.range.start >= range.end {
                span.range.start = span.range.start.saturating_add_signed(delta);
                span.range.end = span.range.end.saturating_add_signed(delta);
            } else {
                // Typed into: it grows or shrinks with the edit.
                span.range.start = span.range.start.min(range.start);
                span.range.end =
                    if span.range.end >= range.end { span.range.end.saturating_add_signed(delta) } else { range.start };
            }
        }
        self.spans.retain(|span| !span.range.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::widgets::highlight::highlight;
    use std::time::{Duration, Instant};

    fn long() -> String {
        format!("void f() {{\n{}}}\n", "    int x = 1; // é\n".repeat(2_000))
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test may wait")]
    fn a_long_text_gets_the_same_colours_a_moment_later() {
        let text = long();
        let mut syntax = Syntax::default();
        let start = Instant::now();
        loop {
            let (spans, pending) = syntax.spans(&text, 1, 0..text.len());
            if !pending {
                assert_eq!(spans, highlight(&text));
                return;
            }
            assert!(start.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test may wait")]
    fn the_view_of_a_long_text_is_coloured_first_and_then_the_rest() {
        let text = long();
        let view = 30_000..31_000;
        let mut syntax = Syntax::default();
        let mut until = |done: &dyn Fn(&Syntax, bool) -> bool| {
            let start = Instant::now();
            loop {
                let (_, pending) = syntax.spans(&text, 1, view.clone());
                if done(&syntax, pending) {
                    return syntax.spans.clone();
                }
                assert!(start.elapsed() < Duration::from_secs(60));
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        let first = until(&|_, pending| !pending);
        let all = until(&|syntax, _| syntax.known.bytes == (0..text.len()));
        assert_eq!(all, highlight(&text));
        assert!(
            first.len() < all.len() && first.iter().all(|span| all.contains(span)),
            "{} {}",
            first.len(),
            all.len()
        );
    }

    #[test]
    fn colours_move_with_edits_until_new_ones_come() {
        let text = long();
        let known = Part { version: 1, bytes: 0..text.len() };
        let mut syntax = Syntax { spans: highlight(&text), known, ..Syntax::default() };
        let before = syntax.spans.clone();
        syntax.edited(11..11, 7);
        let moved =
            before.iter().map(|span| if span.range.start >= 11 { span.range.start + 7 } else { span.range.start });
        assert!(syntax.spans.iter().map(|span| span.range.start).eq(moved));
        syntax.edited(11..18, 0);
        assert_eq!(syntax.spans, before);
        syntax.edited(0..text.len(), 0);
        assert!(syntax.spans.is_empty());
    }
}
