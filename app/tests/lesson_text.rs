//! Lesson text as a reader sees and uses it.

mod support;

use egui::Key;
use egui_kittest::kittest::Queryable;
use lockstep::widgets::figure::Figure;
use lockstep::widgets::lesson_text::{self, LessonAction, LessonCache};
use std::cell::RefCell;

const LESSON: &str = r#"# Your first kernel

A kernel is a function that **every thread** runs. Thread $t$ of block $b$ computes its own element
$i = b \cdot B + t$, where $B$ is `blockDim.x`; with $n = 1000$ and $B = 256$ that takes
$\left\lceil \frac{n}{B} \right\rceil = 4$ blocks, so *24 threads* have nothing to do. See [warps](week1/day3) first.

```cuda
extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;  // one element each
    if (i < n) c[i] = a[i] + b[i];
}
```

The time of a product of two $n \times n$ matrices at $F$ operations a second is

$$ t \ge \frac{2n^3}{F}, \qquad \mathrm{softmax}(x)_i = \frac{e^{x_i - m}}{\sum_j e^{x_j - m}} $$

| GPU | Multiprocessors | Copy, GB/s | Remark |
|:--|--:|--:|:--|
| H200 | 132 | 4 100 | measured, a sentence that is long enough to be broken over two lines |
| Emulator | – | – | counts `sectors`, shows no time |

1. Write the bounds check.
2. Check it:
   - with $n = 1$,
   - with a size that is no multiple of the block.

- [x] compiles
- [ ] passes

> [!TIP]
> The guard `if (i < n)` costs one comparison.

A formula with a mistake, $\frac{1}{\tow}$, is shown as written.

<details><summary>Why not one block?</summary>

A block holds at most 1024 threads.

</details>
"#;

#[test]
fn a_lesson_looks_right() {
    support::both_themes("lesson_text", [700.0, 1060.0], || {
        let mut cache = LessonCache::default();
        move |ui: &mut egui::Ui| {
            lesson_text::show(ui, &mut cache, LESSON);
        }
    });
}

/// Frame time of a long lesson with 20 formulas; run with `--ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn time_of_a_frame() {
    let lesson = LESSON.repeat(5);
    let mut cache = LessonCache::default();
    let ctx = egui::Context::default();
    lockstep::theme::install(&ctx);
    for frame in 0..12 {
        let screen_rect = Some(egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(700.0, 900.0)));
        let input = egui::RawInput { screen_rect, ..Default::default() };
        let mut spent = std::time::Duration::ZERO;
        let mut output = ctx.run_ui(input, |ui| {
            egui::ScrollArea::vertical().show(ui, |ui| {
                let clock = std::time::Instant::now();
                lesson_text::show(ui, &mut cache, &lesson);
                spent += clock.elapsed();
            });
        });
        output.textures_delta.clear();
        println!("frame {frame}: {spent:?}");
    }
}

#[test]
fn a_narrow_lesson_stays_inside_its_column() {
    support::both_themes("lesson_text_narrow", [340.0, 900.0], || {
        let mut cache = LessonCache::default();
        move |ui: &mut egui::Ui| {
            egui::ScrollArea::vertical().show(ui, |ui| {
                lesson_text::show(ui, &mut cache, LESSON);
            });
        }
    });
}

/// What does not fit is moved by keys, says so, and keeps sentences readable.
#[test]
fn a_table_wider_than_its_column_is_moved_by_keys() {
    let table = &LESSON[LESSON.find("| GPU").expect("a table")..LESSON.find("1. Write").expect("a list")];
    let name = "Table, wider than its place: Left and Right move it";
    let mut cache = LessonCache::default();
    let mut harness = support::harness(true, [340.0, 300.0], |ui| {
        lesson_text::show(ui, &mut cache, table);
    });
    harness.run();
    let cell = |harness: &egui_kittest::Harness<'_>| harness.get_by_label_contains("a sentence that is long").rect();
    assert!(cell(&harness).width() > 150.0, "no column of single words: {}", cell(&harness).width());
    let right = harness.get_by_label(name).rect().right();
    assert!(cell(&harness).right() > right, "it begins cut off");
    let mut shots = support::Shots::default();
    shots.shot("wide_table_left-dark", &mut harness);
    harness.key_press(Key::Tab);
    harness.run();
    assert!(harness.get_by_label(name).is_focused(), "Tab leads to it");
    let before = cell(&harness).left();
    harness.key_press(Key::ArrowRight);
    harness.run();
    assert!(cell(&harness).left() < before - 30.0 && harness.get_by_label(name).is_focused());
    shots.shot("wide_table_middle-dark", &mut harness);
    harness.key_press(Key::End);
    harness.run();
    assert!(cell(&harness).right() <= right, "all of the last column");
    harness.key_press(Key::Home);
    harness.run();
    assert_eq!(cell(&harness).left(), before);
    // Where there is room there is nothing to stop at.
    let mut cache = LessonCache::default();
    let mut harness = support::harness(true, [700.0, 300.0], |ui| {
        lesson_text::show(ui, &mut cache, table);
    });
    harness.run();
    assert!(harness.query_by_label(name).is_none());
}

/// The course's own, in a column as wide as on a laptop and in a narrow one.
#[test]
fn figures_follow_the_theme_and_the_column() {
    let course = curriculum::Course::embedded();
    let blocks = course.days().flat_map(|day| &day.lesson.sections).flat_map(|section| &section.blocks);
    let figures: Vec<(String, String)> = blocks
        .filter_map(|block| match block {
            curriculum::Block::Figure { svg, caption, .. } => Some((svg.clone(), caption.clone())),
            _ => None,
        })
        .take(2)
        .collect();
    assert_eq!(figures.len(), 2);
    let mut shots = support::Shots::default();
    for (name, width) in [("figures", 440.0), ("figures_narrow", 260.0)] {
        shots.both_themes(name, [width, 520.0], || {
            let figures = figures.clone();
            let mut shown = [Figure::default(), Figure::default()];
            move |ui: &mut egui::Ui| {
                for (figure, (svg, caption)) in shown.iter_mut().zip(&figures) {
                    figure.show(ui, svg, caption);
                }
            }
        });
    }
}

#[test]
fn a_figure_is_named_by_its_words_and_a_broken_one_says_why() {
    let mut shown = [Figure::default(), Figure::default()];
    let mut harness = support::harness(false, [440.0, 300.0], |ui| {
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 40 20\"/>";
        shown[0].show(ui, svg, "Four blocks.");
        shown[1].show(ui, "<svg/>", "Nothing.");
    });
    harness.run();
    let figure = harness.get_by_role_and_label(egui::accesskit::Role::Image, "Four blocks.");
    assert_eq!(figure.rect().width(), 40.0);
    harness.get_by_label("figure: its root has no viewBox=\"0 0 WIDTH HEIGHT\"");
}

#[test]
fn links_and_buttons_tell_what_was_asked_for() {
    let actions = RefCell::new(Vec::new());
    {
        let mut cache = LessonCache::default();
        let mut harness = support::harness(true, [700.0, 1060.0], |ui| {
            actions.borrow_mut().extend(lesson_text::show(ui, &mut cache, LESSON));
        });
        for label in ["warps", "Copy", "Open in the editor"] {
            harness.get_by_label(label).click();
            harness.run();
        }
    }
    let actions = actions.into_inner();
    assert_eq!(actions[0], LessonAction::OpenLink("week1/day3".to_owned()));
    assert!(matches!(&actions[1], LessonAction::CopyCode(text) if text.starts_with("extern \"C\"")));
    assert!(matches!(&actions[2], LessonAction::OpenInEditor { language, .. } if language == "cuda"));
}

/// A lesson that says "the Plots tab" must mean one that is there under this name.
#[test]
fn lessons_name_tabs_that_there_are() {
    let titles: Vec<&str> = lockstep::state::Pane::DOCKED.iter().map(|pane| pane.title()).collect();
    let course = curriculum::Course::embedded();
    for day in course.days() {
        for section in &day.lesson.sections {
            for (at, _) in section.markdown.match_indices(" tab") {
                let rest = &section.markdown[at + 4..];
                let before = section.markdown[..at].trim_end_matches('*');
                let last = before.rsplit([' ', '\n', '*']).next().unwrap_or_default();
                let named = last.starts_with(char::is_uppercase) && last != "The";
                // Not `tables` and the like.
                if rest.starts_with(char::is_alphanumeric) || !named {
                    continue;
                }
                let known = titles.iter().any(|title| before.ends_with(title));
                assert!(known, "{}: there is no tab called {last}; there are: {}", day.address, titles.join(", "));
            }
        }
    }
}
