//! All that the compiler and the last run complain about, as one list; a click jumps to the line.

use super::verdict;
use crate::command::Command;
use crate::fonts::Bold;
use crate::icons;
use crate::panels::{Screen, parts};
use crate::state::{Desk, Loadable};
use crate::theme::{self, space};
use crate::widgets::sentence;
use egui::{RichText, Ui};
use gpu_core::compile::{Diagnostic, Severity};

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>, desk: &Desk) {
    let t = theme::tokens(ui);
    ui.spacing_mut().item_spacing.y = space::S;
    if let Loadable::Failed { message, .. } = &desk.compiled {
        parts::notice(ui, t.fail_soft, t.fail, |ui| {
            ui.add(egui::Label::new(sentence::job(ui, message, t.text)).wrap());
        });
    }
    if let Some(trouble) = &desk.trouble {
        ui.add(egui::Label::new(sentence::job(ui, trouble, t.fail)).wrap());
    }
    let diagnostics = desk.compiled.value().map_or(&[][..], |report| &report.diagnostics);
    for diagnostic in diagnostics {
        diagnostic_ui(ui, screen, diagnostic);
    }
    // While typing an error may be half a word; after a check it is what stands in the way.
    if desk.trouble.is_some() && diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        verdict::hint_for_ui(ui, screen, desk, &["compile_error".to_owned()]);
    }
    if let Some(verdict) = desk.verdict.value() {
        for case in &verdict.cases {
            for fault in &case.faults {
                verdict::fault_ui(ui, screen, fault, Some(&case.name));
            }
        }
    }
    if desk.problem_count() == 0 && desk.trouble.is_none() {
        parts::empty(
            ui,
            icons::CHECK_CIRCLE,
            "No problems",
            "Errors of the compiler and faults of the last run are listed here.",
        );
    }
}

fn diagnostic_ui(ui: &mut Ui, screen: &mut Screen<'_>, diagnostic: &Diagnostic) {
    let t = theme::tokens(ui);
    let (icon, word, color) = match diagnostic.severity {
        Severity::Error => (icons::X_CIRCLE, "Error", t.fail),
        Severity::Warning => (icons::WARNING, "Warning", t.warn),
        Severity::Note => (icons::INFO, "Note", t.info),
    };
    parts::with_icon(ui, icon, color, |ui| {
        ui.label(RichText::new(word).bold().color(color));
        let own = diagnostic.file == crate::lab::KERNEL_NAME || diagnostic.file.is_empty();
        if own && diagnostic.line > 0 {
            let link = ui.link(format!("line {}", diagnostic.line)).on_hover_text("Go to the line");
            if link.clicked() {
                screen.send(Command::GoToLine { line: diagnostic.line, column: diagnostic.column });
            }
        } else if diagnostic.line > 0 {
            let place = format!("{} line {}", diagnostic.file, diagnostic.line);
            ui.label(RichText::new(place).color(t.text_muted));
        }
        ui.label(sentence::job(ui, &diagnostic.message, t.text));
    });
}
