//! The real window, driven by a plan instead of a person: for measuring it and for taking its picture.

use crate::app::App;
use eframe::egui;

/// What a plan wants next.
pub enum Next {
    /// Draw another frame as soon as possible.
    Frame,
    /// Sleep until something happens.
    Wait,
    Close,
}

/// Called after each frame, with how many were drawn.
pub type Plan = Box<dyn FnMut(&mut App, &egui::Context, u64) -> Next>;

/// The app and its plan.
pub struct Probe {
    pub app: App,
    pub plan: Plan,
    frames: u64,
}

impl Probe {
    pub fn new(app: App, plan: Plan) -> Self {
        Self { app, plan, frames: 0 }
    }
}

impl eframe::App for Probe {
    fn logic(&mut self, ctx: &egui::Context, frame: &mut eframe::Frame) {
        self.app.logic(ctx, frame);
    }

    fn ui(&mut self, ui: &mut egui::Ui, frame: &mut eframe::Frame) {
        self.app.ui(ui, frame);
        self.frames += 1;
        let ctx = ui.ctx().clone();
        match (self.plan)(&mut self.app, &ctx, self.frames) {
            Next::Frame => ctx.request_repaint(),
            Next::Wait => {}
            Next::Close => ctx.send_viewport_cmd(egui::ViewportCommand::Close),
        }
    }

    fn on_exit(&mut self, gl: Option<&eframe::glow::Context>) {
        self.app.on_exit(gl);
    }
}
