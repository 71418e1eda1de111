//! Letters that no built-in font has, such as those of Chinese, Japanese or Arabic: a learner's comments, or a translated
//! course. The system's fonts are asked for at the first such letter, so that nobody else pays for looking them up.

use egui::epaint::text::{FallbackRequest, FontInsert, FontProvider};
use egui_system_font_provider::SystemFontProvider;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stands in for the system's fonts until the first letter needs one.
struct OnDemand {
    context: egui::Context,
    asked: AtomicBool,
}

impl FontProvider for OnDemand {
    /// None, and the system's fonts are looked up on a thread: that can take hundreds of milliseconds. The letter is a
    /// box until they are there, and everything is then drawn anew.
    fn font_for(&self, request: &FallbackRequest<'_>) -> Option<FontInsert> {
        if self.asked.swap(true, Ordering::Relaxed) {
            return None;
        }
        let (context, cluster, family) = (self.context.clone(), request.cluster.to_owned(), request.family.clone());
        let look_up = move || {
            let fonts = SystemFontProvider::new();
            // Returns when all fonts are known, so that the window never waits for them.
            let _ = fonts.font_for(&FallbackRequest { cluster: &cluster, family: &family });
            context.set_font_providers(vec![Arc::new(fonts)]);
        };
        // Without a further thread the letter stays a box.
        let _ = std::thread::Builder::new().name("system fonts".to_owned()).spawn(look_up);
        None
    }
}

/// Lets the window find the system's fonts when it needs them.
pub fn install(ctx: &egui::Context) {
    ctx.set_font_providers(vec![Arc::new(OnDemand { context: ctx.clone(), asked: AtomicBool::new(false) })]);
}
