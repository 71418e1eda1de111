//! Stepping through a picture: buttons, a slider, keys and playing, the same in every visualization.

use super::kit::{self, Canvas};
use crate::theme::{self, font_size, space};
use egui::{Color32, EventFilter, FontId, Key, Response, RichText, Ui, Vec2};

/// Steps a second while playing.
const PLAY_RATE: f64 = 3.0;

/// A position in a sequence of steps, moved by buttons, a slider and keys.
#[derive(Clone, Debug, Default)]
pub struct Stepper {
    pub at: usize,
    playing: bool,
    /// Seconds of egui's clock at the last automatic step.
    last_step_s: f64,
}

impl Stepper {
    pub fn starting_at(at: usize) -> Self {
        Self { at, ..Self::default() }
    }

    /// The position among `count` steps: another run may have fewer than the one that was stepped through.
    pub fn within(&self, count: usize) -> usize {
        self.at.min(count.saturating_sub(1))
    }

    /// Draws the controls; `noun` names what is stepped over, for example `step`. Keeps the position within `count`.
    pub fn ui(&mut self, ui: &mut Ui, count: usize, noun: &str) {
        let last = count.saturating_sub(1);
        self.at = self.within(count);
        self.advance(ui, last);
        let position = if count == 0 { format!("no {noun}s") } else { format!("{noun} {} of {count}", self.at + 1) };
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = space::XS;
            ui.add_enabled_ui(count > 1, |ui| {
                if kit::icon_button(ui, "⏮", &format!("First {noun}"), "Home").clicked() {
                    self.jump(0);
                }
                if kit::icon_button(ui, "⏴", &format!("Previous {noun}"), "Left arrow").clicked() {
                    self.jump(self.at.saturating_sub(1));
                }
                let (icon, name) = if self.playing { ("⏸", "Pause") } else { ("▶", "Play") };
                if kit::icon_button(ui, icon, name, "Space").clicked() {
                    self.toggle(ui, last);
                }
                if kit::icon_button(ui, "⏵", &format!("Next {noun}"), "Right arrow").clicked() {
                    self.jump((self.at + 1).min(last));
                }
                if kit::icon_button(ui, "⏭", &format!("Last {noun}"), "End").clicked() {
                    self.jump(last);
                }
                let font = FontId::proportional(font_size::SMALL);
                let label = ui.painter().layout_no_wrap(position.clone(), font, Color32::TRANSPARENT).size().x;
                let room = ui.available_width() - label - space::M;
                // In a very narrow pane the buttons must do.
                if room < 24.0 {
                    return;
                }
                ui.spacing_mut().slider_width = room.min(360.0);
                let mut at = self.at;
                let slider = ui.add(egui::Slider::new(&mut at, 0..=last).show_value(false));
                slider.widget_info(|| egui::WidgetInfo::slider(count > 1, at as f64, noun));
                if slider.changed() {
                    self.jump(at);
                }
            });
            ui.label(RichText::new(position).small().color(theme::tokens(ui).text_muted));
        });
    }

    /// The picture's place, whose keys step through `count` steps; `words` is what it says to screen readers.
    pub fn canvas(&mut self, ui: &mut Ui, size: Vec2, words: &str, count: usize) -> Canvas {
        let canvas = kit::canvas(ui, size, words);
        self.keys(ui, &canvas.response, count);
        canvas
    }

    /// Left and right, Home and End, Space, while the canvas has the keyboard. Click it or tab to it.
    fn keys(&mut self, ui: &Ui, canvas: &Response, count: usize) {
        if !canvas.has_focus() || count == 0 {
            return;
        }
        let filter = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(canvas.id, filter));
        let last = count - 1;
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        if pressed(Key::ArrowLeft) {
            self.jump(self.at.saturating_sub(1));
        }
        if pressed(Key::ArrowRight) {
            self.jump((self.at + 1).min(last));
        }
        if pressed(Key::Home) {
            self.jump(0);
        }
        if pressed(Key::End) {
            self.jump(last);
        }
        if pressed(Key::Space) {
            self.toggle(ui, last);
        }
    }

    pub fn jump(&mut self, at: usize) {
        self.at = at;
        self.playing = false;
    }

    fn toggle(&mut self, ui: &Ui, last: usize) {
        // With reduced motion Space and the button go one step, and nothing moves by itself.
        if !crate::theme::moves(ui) {
            let next = if self.at == last { 0 } else { self.at + 1 };
            return self.jump(next);
        }
        self.playing = !self.playing && last > 0;
        self.last_step_s = ui.input(|input| input.time);
        if self.playing && self.at == last {
            self.at = 0;
        }
    }

    fn advance(&mut self, ui: &Ui, last: usize) {
        if !self.playing {
            return;
        }
        let now = ui.input(|input| input.time);
        if now - self.last_step_s >= 1.0 / PLAY_RATE {
            self.last_step_s = now;
            self.at = (self.at + 1).min(last);
            self.playing = self.at < last;
        }
        ui.ctx().request_repaint_after(std::time::Duration::from_secs_f64(1.0 / PLAY_RATE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_stays_within_what_there_is() {
        let stepper = Stepper::starting_at(7);
        assert_eq!([0, 1, 5, 8, 100].map(|count| stepper.within(count)), [0, 0, 4, 7, 7]);
    }
}
