//! The timing plot and the roofline: measured, modelled and counted runs, and none.

mod support;

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use gpu_core::bench::{BenchPoint, Ceilings, Stats, Timing};
use gpu_core::emulator::{Counters, Traffic};
use lockstep::widgets::roofline::{self, RooflinePoint};
use lockstep::widgets::scaling_plot;
use lockstep::widgets::svg::Recording;
use lockstep::widgets::timing_plot::{self, Measure, OtherTime, Over, Runs, TimedRun, TimingPlotState};

/// Made-up runs with the shape of real ones.
fn run(number: u32, median_us: Option<f64>) -> TimedRun {
    let stats = |us: f64| Stats {
        samples: 100,
        median_ns: us * 1e3,
        p20_ns: us * 0.97e3,
        p80_ns: us * 1.06e3,
        min_ns: us * 0.95e3,
    };
    let measured = median_us.map(stats);
    TimedRun {
        number,
        device: if median_us.is_some() { "NVIDIA H200".into() } else { "Emulator".into() },
        when_unix_s: 1_790_000_000 + u64::from(number),
        point: BenchPoint {
            name: "n = 1048576".into(),
            timing: median_us.map(|us| Timing::Measured { nanos: vec![us * 1e3; 3], cold_l2: true }),
            stats: measured,
            flops: 1_048_576.0,
            bytes: 12_582_912.0,
            share_of_ceiling: median_us.map(|us| 3.1 / us),
            bound: "copy bandwidth".into(),
            copy: None,
            reference: measured.map(|_| stats(3.2)),
            against_reference: None,
            library: None,
            rivals: Vec::new(),
            counters: median_us.is_none().then(|| Counters {
                warp_instructions: 327_680,
                global_load: Traffic {
                    requests: 65_536,
                    sectors: 65_536 * if number < 3 { 32 } else { 4 },
                    bytes: 8_388_608,
                },
                ..Counters::default()
            }),
            lines: Vec::new(),
            caveats: if number == 2 { vec!["clocks were not steady".into()] } else { Vec::new() },
            steps: Vec::new(),
            workspace_bytes: 0,
            rejected: None,
        },
    }
}

fn on_gpu() -> Vec<TimedRun> {
    let mut runs: Vec<_> = [(1, 31.0), (2, 12.5), (3, 6.4), (6, 3.3)].map(|(n, us)| run(n, Some(us))).to_vec();
    let mut modelled = run(4, None);
    modelled.point.timing = Some(Timing::Modelled { low_ns: 3.5e3, high_ns: 5.8e3, bound_by: "DRAM bandwidth".into() });
    modelled.point.share_of_ceiling = Some(0.7);
    let mut rejected = run(5, Some(1.0));
    rejected.point.rejected = Some("faster than memory allows: the result was not written".into());
    runs.insert(3, modelled);
    runs.insert(4, rejected);
    runs.push(run(7, None));
    runs
}

/// A Python script that did the same, at this size and at another.
fn others() -> Vec<OtherTime> {
    let time = |case: &str| OtherTime {
        case: case.into(),
        name: "triton".into(),
        device: "NVIDIA H200".into(),
        median_ns: 4100.0,
    };
    vec![time("n = 1048576"), time("n = 7")]
}

#[test]
fn timing_plot_of_measured_runs() {
    let mut shots = support::Shots::default();
    for (name, measure, log) in [
        ("timing_share", Measure::Share, false),
        ("timing_log_time", Measure::Time, true),
        ("timing_rate", Measure::Rate, false),
    ] {
        shots.both_themes(name, [620.0, 420.0], || {
            let mut state = TimingPlotState { measure: Some(measure), log, others: others(), ..Default::default() };
            move |ui: &mut egui::Ui| {
                timing_plot::show(ui, &mut state, &on_gpu().into(), 390.0);
            }
        });
    }
}

/// The same kernel at three sizes: the larger, the nearer to the ceiling.
fn at_sizes() -> Vec<TimedRun> {
    let at = |size: u64, us: f64| {
        let mut run = run(1, Some(us));
        run.point.name = format!("n = {size}");
        run.point.reference = run.point.reference.map(|stats| Stats { median_ns: us * 0.8e3, ..stats });
        run
    };
    vec![at(65_536, 2.4), at(1_048_576, 5.1), at(16_777_216, 52.0)]
}

#[test]
fn sizes_are_compared_where_there_are_two() {
    let mut shots = support::Shots::default();
    for (name, measure, runs) in [
        ("scaling_time", Measure::Time, at_sizes()),
        ("scaling_share", Measure::Share, at_sizes()),
        ("scaling_empty", Measure::Time, vec![run(1, Some(3.0))]),
    ] {
        shots.both_themes(name, [620.0, 420.0], || {
            let runs = runs.clone();
            move |ui: &mut egui::Ui| scaling_plot::show(ui, &runs, measure, 390.0)
        });
    }
}

/// A picture of a plot holds its curve, its axis and its legend, sharp and without the rest of the window.
#[test]
fn a_plot_is_saved_as_vectors() {
    let saved = std::rc::Rc::new(std::cell::RefCell::new(String::new()));
    let given = saved.clone();
    let mut harness = support::harness(true, [620.0, 420.0], move |ui: &mut egui::Ui| {
        ui.label("not of the plot");
        let recording = Recording::begin(ui);
        let top = ui.cursor().min;
        timing_plot::show(ui, &mut TimingPlotState::default(), &on_gpu().into(), 360.0);
        let area = egui::Rect::from_min_max(top, egui::pos2(ui.max_rect().right(), ui.cursor().top()));
        *given.borrow_mut() = recording.end(ui, area, lockstep::theme::DARK.panel);
    });
    harness.run();
    let svg = saved.borrow();
    for part in ["measured: median, p20 to p80", "reference kernel", "<circle", "<line", "</svg>"] {
        assert!(svg.contains(part), "{part:?} is missing");
    }
    assert!(!svg.contains("not of the plot"));
    assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
}

#[test]
fn runs_on_the_emulator_are_counted_and_never_timed() {
    support::both_themes("timing_counters", [620.0, 420.0], || {
        // Asking for a time gives counters where there is no time.
        let mut state = TimingPlotState { measure: Some(Measure::Time), others: others(), ..Default::default() };
        let runs = Runs::from((1..=4).map(|number| run(number, None)).collect::<Vec<_>>());
        move |ui: &mut egui::Ui| {
            timing_plot::show(ui, &mut state, &runs, 390.0);
        }
    });
}

/// The whole bar answers the pointer, not only the place below its number.
#[test]
fn the_pointer_reads_a_bar_at_any_height() {
    let runs = Runs::from((1..=4).map(|number| run(number, None)).collect::<Vec<_>>());
    let mut harness = support::harness(true, [620.0, 420.0], move |ui: &mut egui::Ui| {
        timing_plot::show(ui, &mut TimingPlotState::default(), &runs, 390.0);
    });
    harness.run();
    let has = |harness: &Harness<'_>, text: &str| harness.query_all_by_label_contains(text).next().is_some();
    assert!(!has(&harness, "Run 1 on Emulator"), "below the plot stands the newest");
    let plot = harness.get_by_role(egui::accesskit::Role::Figure).rect();
    // The axis goes from 0.3 to 4.7, and the first bar is eight times as high as the last.
    let foot = egui::pos2(plot.left() + plot.width() * 0.7 / 4.4, plot.bottom() - 0.15 * plot.height());
    harness.hover_at(foot);
    harness.run_steps(90);
    assert!(has(&harness, "Run 1 on Emulator"));
}

/// Months of work: neither bars nor their numbers lie on each other, and the newest has its number.
#[test]
fn many_counted_runs_stay_apart() {
    let many = |count: u32| Runs::from((1..=count).map(|number| run(number, None)).collect::<Vec<_>>());
    let mut shots = support::Shots::default();
    for (name, count) in [("timing_many_counters", 60), ("timing_dense_counters", 2_000)] {
        shots.both_themes(name, [620.0, 420.0], || {
            let runs = many(count);
            move |ui: &mut egui::Ui| {
                timing_plot::show(ui, &mut TimingPlotState::default(), &runs, 390.0);
            }
        });
    }
}

/// However many runs there are, the axis says which is which.
#[test]
fn the_axis_of_runs_is_numbered_from_three_runs_to_thousands() {
    for (count, numbers) in
        [(3, ["1", "2", "3"]), (20, ["2", "10", "20"]), (60, ["10", "30", "60"]), (9_000, ["1000", "5000", "9000"])]
    {
        let saved = std::rc::Rc::new(std::cell::RefCell::new(String::new()));
        let given = saved.clone();
        let runs = Runs::from((1..=count).map(|number| run(number, Some(9.0))).collect::<Vec<_>>());
        let mut harness = support::harness(true, [620.0, 420.0], move |ui: &mut egui::Ui| {
            let recording = Recording::begin(ui);
            timing_plot::show(ui, &mut TimingPlotState::default(), &runs, 360.0);
            *given.borrow_mut() = recording.end(ui, ui.max_rect(), lockstep::theme::DARK.panel);
        });
        harness.run();
        for number in numbers {
            assert!(saved.borrow().contains(&format!(">{number}</text>")), "{count} runs: no {number}");
        }
    }
}

#[test]
fn a_plot_without_runs_says_how_to_get_some() {
    support::both_themes("timing_empty", [620.0, 420.0], || {
        |ui: &mut egui::Ui| {
            timing_plot::show(ui, &mut TimingPlotState::default(), &Runs::default(), 390.0);
        }
    });
}

#[test]
fn runs_are_copied_as_csv() {
    let runs = Runs::from(on_gpu());
    let text = timing_plot::table(&TimingPlotState::default(), &runs).expect("a table");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 8);
    let columns = lines[0].split(',').count();
    for line in &lines[..6] {
        assert_eq!(line.split(',').count(), columns, "{line}");
    }
    assert!(lines[1].starts_with("1,NVIDIA H200,1790000001,n = 1048576,measured,31000,"));
    assert_eq!(timing_plot::table(&TimingPlotState::default(), &Runs::default()), None);
    // Over the versions one size is shown; the other plots hold all.
    let lines = |over| {
        let state = TimingPlotState { over, ..TimingPlotState::default() };
        timing_plot::table(&state, &at_sizes().into()).expect("a table").lines().count()
    };
    assert_eq!([Over::Versions, Over::Sizes, Over::Intensity].map(lines), [2, 4, 4]);
}

fn ceilings() -> Ceilings {
    Ceilings {
        device: "NVIDIA H200".into(),
        driver: "580".into(),
        date: "2026-11-20".into(),
        copy_bytes_per_s: 4.1e12,
        fp32_flops: 5.9e13,
        ..Ceilings::default()
    }
}

#[test]
fn roofline_with_runs_and_without() {
    let mut shots = support::Shots::default();
    let point = |name: &str, flops: f64, bytes: f64, us: Option<f64>, newest: bool| RooflinePoint {
        name: name.into(),
        flops,
        bytes,
        median_ns: us.map(|us| us * 1e3),
        newest,
    };
    shots.both_themes("roofline", [620.0, 460.0], || {
        let points = vec![
            point("vector add", 1e6, 1.2e7, Some(3.2), false),
            point("run 1", 2.147e9, 2.5e7, Some(900.0), false),
            point("run 4", 2.147e9, 1.26e7, Some(62.0), true),
            point("run 5 (emulator)", 2.147e9, 1.0e9, None, false),
        ];
        move |ui: &mut egui::Ui| roofline::show(ui, Some(&ceilings()), &points, 430.0)
    });
    shots.both_themes("roofline_empty", [620.0, 460.0], || |ui: &mut egui::Ui| roofline::show(ui, None, &[], 430.0));
    shots.both_themes("roofline_degenerate", [620.0, 460.0], || {
        let points = vec![point("no bytes", 1.0, 0.0, Some(1.0), true), point("no work", 0.0, 1.0, None, false)];
        move |ui: &mut egui::Ui| roofline::show(ui, Some(&ceilings()), &points, 430.0)
    });
}
