//! `lockstep export instructor`: what somebody needs who teaches the course, as one page to print.

use super::super::{Done, Places, content, out};
use super::write;
use curriculum::quiz::{Kind, Question};
use curriculum::{Course, Exercise, Unit, UnitKind};
use pulldown_cmark::{Event, Options, Parser, html};
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    /// File to write: `.html` for a page to print, `.md` for its text
    #[arg(short, long, value_name = "FILE", default_value = "instructor.html")]
    output: PathBuf,
}

const STYLE: &str = "body{font:11pt/1.45 Georgia,serif;max-width:46em;margin:2em auto;padding:0 1em;color:#222}\
h1,h2,h3{font-family:Helvetica,Arial,sans-serif;line-height:1.2}h2{break-before:page;border-bottom:1px solid #999}\
code,pre{font-size:9.5pt}table{border-collapse:collapse;width:100%}td,th{border:1px solid #bbb;padding:.25em .5em;\
text-align:left;vertical-align:top}@media print{body{margin:0;max-width:none}}";

pub fn run(args: &Args, places: &Places) -> Done {
    let course = content::course(places)?;
    let text = page(&course);
    let is_text = args.output.extension().is_some_and(|extension| extension == "md");
    let written = if is_text { text } else { as_html(&text) };
    write(&args.output, written.as_bytes())?;
    out::print(&format!("{} is written.\n", args.output.display()));
    Ok(())
}

fn as_html(text: &str) -> String {
    let mut body = String::new();
    // The course may be somebody else's: its HTML is shown as written, and the page runs and fetches nothing.
    let shown = Parser::new_ext(text, Options::ENABLE_TABLES).map(|event| match event {
        Event::Html(written) | Event::InlineHtml(written) => Event::Text(written),
        other => other,
    });
    html::push_html(&mut body, shown);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\"><title>Lockstep: notes for instructors</title>\
         <style>{STYLE}</style></head><body>\n{body}</body></html>\n"
    )
}

/// All of it as Markdown.
fn page(course: &Course) -> String {
    let mut text = String::from(
        "# Lockstep: notes for instructors\n\n\
         Each day has five steps: Challenge, Explore, Concept, Code It, Verify. The minutes are for somebody who has done the \
         days before.\n\n\
         **A room with no GPU.** Everything that is judged runs on the emulator: results, races, bounds, uninitialised reads, \
         sectors, bank conflicts. What it replaces is told with each figure; it gives no times. Milestones that need a GPU stay \
         open and are not needed to pass. One machine with a GPU can serve the room: `lockstep devices --add`, or the figures \
         recorded on an H200 that the lessons show.\n\n\
         **Before the first day.** Let everybody run the ready check (`lockstep doctor`), and install the compiler \
         once for the room, as installers/README.md describes for a shared folder.\n",
    );
    for shelf in course.shelves() {
        for unit in shelf.units.iter().filter(|unit| unit.is_written()) {
            if matches!(unit.kind, UnitKind::Day { .. } | UnitKind::Lab { .. }) {
                notes(&mut text, unit);
            }
        }
    }
    text
}

fn notes(text: &mut String, unit: &Unit) {
    let _ = writeln!(text, "\n## {}: {}\n\n{}\n", unit.address, unit.title, unit.summary);
    let _ = writeln!(text, "**Time:** {} minutes{}.\n", unit.minutes, split(unit));
    if !unit.objectives.is_empty() {
        let goals = unit.objectives.iter().map(|goal| format!("- {goal}\n")).collect::<String>();
        let _ = writeln!(text, "**Goal.** Afterwards a learner can:\n\n{goals}");
    }
    let drawings: Vec<String> = unit
        .lesson
        .sections
        .iter()
        .flat_map(|section| &section.blocks)
        .filter_map(|block| match block {
            curriculum::Block::Figure { caption, .. } | curriculum::Block::Visualization { caption, .. } => {
                Some(format!("- {caption}\n"))
            }
            _ => None,
        })
        .collect();
    if !drawings.is_empty() {
        let _ = writeln!(text, "**On the board.** What the lesson draws, in its order:\n\n{}", drawings.concat());
    }
    for exercise in &unit.exercises {
        mistakes(text, exercise);
    }
    let gpu: Vec<&str> = unit
        .exercises
        .iter()
        .flat_map(|exercise| &exercise.spec.milestones)
        .filter(|milestone| !milestone.is_counted())
        .map(|milestone| milestone.name.as_str())
        .collect();
    if !gpu.is_empty() {
        let _ = writeln!(text, "**With no GPU** these milestones stay open: {}.\n", gpu.join("; "));
    }
    if !unit.quiz.questions.is_empty() {
        let _ = writeln!(text, "**Answers of the quiz**\n\n| Question | Answer |\n|---|---|");
        for question in &unit.quiz.questions {
            let _ = writeln!(text, "| {} | {} |", cell(&question.prompt), cell(&answer(question)));
        }
        text.push('\n');
    }
    if !unit.reflection.is_empty() {
        let _ = writeln!(text, "**To talk about**\n");
        for reflection in &unit.reflection {
            let _ = writeln!(text, "- {} *{}*", cell(&reflection.ask), cell(&reflection.think));
        }
        text.push('\n');
    }
}

/// How the minutes are spent, by the course's rule of thumb for a day.
fn split(unit: &Unit) -> String {
    let UnitKind::Day { .. } = unit.kind else { return String::new() };
    let of = |share: f32| (unit.minutes as f32 * share / 5.0).round() * 5.0;
    format!(
        " (about {} Challenge, {} Explore, {} Concept, {} Code It, {} Verify)",
        of(0.07),
        of(0.2),
        of(0.15),
        of(0.45),
        of(0.13)
    )
}

/// What goes wrong most, as the judge names it.
fn mistakes(text: &mut String, exercise: &Exercise) {
    let _ = writeln!(text, "**Exercise `{}`: {}**\n", exercise.key, exercise.spec.title);
    if exercise.wrongs.is_empty() {
        return;
    }
    let _ = writeln!(text, "| Common mistake | The judge says |\n|---|---|");
    for wrong in &exercise.wrongs {
        let _ = writeln!(text, "| {} | `{}` |", cell(&wrong.why), wrong.fault);
    }
    text.push('\n');
}

fn answer(question: &Question) -> String {
    let right = |choices: &[curriculum::quiz::Choice]| {
        let texts: Vec<&str> =
            choices.iter().filter(|choice| choice.right).map(|choice| choice.text.as_str()).collect();
        texts.join("; ")
    };
    let short = match &question.kind {
        Kind::Single { choices } | Kind::Multiple { choices } => right(choices),
        Kind::Numeric { answer, unit, .. } => format!("{answer} {unit}"),
        Kind::Cell { cells, .. } => format!("{cells:?} (row, column)"),
        Kind::Predict { expected: Some(expected), quantity, .. } => format!("{expected} ({quantity})"),
        Kind::Predict { quantity, .. } => format!("what this machine measures ({quantity})"),
    };
    format!("**{short}** {}", question.why)
}

/// Text of a table's cell: one line, no bars.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_and_lab_has_its_notes() {
        let course = Course::embedded();
        let text = page(&course);
        for unit in course.units().filter(|unit| unit.is_written()) {
            let taught = matches!(unit.kind, UnitKind::Day { .. } | UnitKind::Lab { .. });
            assert_eq!(text.contains(&format!("## {}: ", unit.address)), taught, "{}", unit.address);
        }
        assert!(text.contains("The judge says") && as_html(&text).contains("<table>"));
    }

    #[test]
    fn a_page_of_a_foreign_course_runs_nothing() {
        let page =
            as_html("a <script>alert(1)</script>\n\n<meta http-equiv=\"refresh\" content=\"0;url=https://a.b\">\n");
        assert!(
            !page.contains("<script") && !page.contains("<meta http-equiv=\"refresh") && page.contains("&lt;script"),
            "{page}"
        );
        assert!(page.contains("default-src 'none'"));
    }
}
