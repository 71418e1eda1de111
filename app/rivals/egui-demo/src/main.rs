//! egui's demo in a window, as its demo app shows it; with `--frames N`, N frames of it without a window, timed as
//! Lockstep's are: by what drawing and tessellation cost the processor.

use eframe::egui;
use std::time::Instant;

#[derive(Default)]
struct Demo(egui_demo_lib::DemoWindows);

impl eframe::App for Demo {
    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        self.0.logic(&ui.ctx().clone());
        self.0.ui(ui);
    }
}

fn main() -> eframe::Result {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some("--frames") {
        frames(arguments.next().and_then(|count| count.parse().ok()).unwrap_or(600));
        return Ok(());
    }
    let viewport = egui::ViewportBuilder::default().with_title("egui_demo").with_inner_size([1280.0, 800.0]);
    // The renderer that Lockstep takes first.
    let options =
        eframe::NativeOptions { viewport, renderer: eframe::Renderer::Glow, centered: true, ..Default::default() };
    eframe::run_native("egui_demo", options, Box::new(|_| Ok(Box::new(Demo::default()))))
}

fn frames(count: u32) {
    let (ctx, mut demo) = (egui::Context::default(), egui_demo_lib::DemoWindows::default());
    let mut time = 0.0;
    let mut frame = |events: Vec<egui::Event>| {
        time += 1.0 / 60.0;
        let screen = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(1920.0, 1080.0));
        let input = egui::RawInput { screen_rect: Some(screen), time: Some(time), events, ..Default::default() };
        let began = Instant::now();
        let mut output = ctx.run_ui(input, |ui| {
            demo.logic(&ui.ctx().clone());
            demo.ui(ui);
        });
        output.textures_delta.clear();
        std::hint::black_box(&ctx.tessellate(output.shapes, output.pixels_per_point));
        began.elapsed().as_secs_f64() * 1e3
    };
    for _ in 0..30 {
        frame(Vec::new());
    }
    let moved = |i: u32| egui::Event::PointerMoved(egui::pos2(400.0 + (i % 900) as f32, 500.0 + (i % 400) as f32));
    let mut times: Vec<f64> = (0..count.max(1)).map(|i| frame(vec![moved(i)])).collect();
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize];
    println!("median {:.2} ms, p99 {:.2} ms, worst {:.2} ms", at(0.5), at(0.99), at(1.0));
}
