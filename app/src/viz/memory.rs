//! Memory hierarchy: where a kernel's bytes come from. What threads ask for, what shared memory serves, what crosses to
//! the L2 cache, and the least that must come from device memory. Beside each level: its size, and how long a load waits.

mod latency;

use super::example::{Builder, Memo};
use super::kit;
use super::model::{self, SECTOR_BYTES};
use super::stepper::Stepper;
use super::tiled;
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, font_size, radius, space};
use crate::widgets::plot_kit;
use egui::{Align2, FontId, Rect, Stroke, StrokeKind, Ui, pos2, vec2};
use gpu_core::device::DeviceInfo;
use gpu_core::emulator::{AccessKind, Device, REGISTERS_PER_SM, Space, Trace};
use latency::Latencies;
use std::collections::HashSet;

const ROW: f32 = 54.0;
/// Room for a level's name and size.
const LABEL: f32 = 164.0;

/// The kernels of the example, from one that reuses nothing to one that reuses much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kernel {
    Add,
    Strided,
    // The day that shows the picture writes this one.
    #[default]
    Naive,
    Tiled,
}

impl Kernel {
    const ALL: [Kernel; 4] = [Kernel::Add, Kernel::Strided, Kernel::Naive, Kernel::Tiled];

    fn title(self) -> &'static str {
        match self {
            Kernel::Add => "vector add",
            Kernel::Strided => "strided copy",
            Kernel::Naive => "naive product",
            Kernel::Tiled => "tiled product",
        }
    }

    fn trace(&self) -> Trace {
        match self {
            Kernel::Add => copy("add", 1, &["a", "b"]),
            Kernel::Strided => copy("copy_strided", 8, &["x"]),
            Kernel::Naive => tiled::product(16, 1),
            Kernel::Tiled => tiled::product(16, 8),
        }
    }
}

/// Reads each input once and writes one output, with a stride.
fn copy(name: &str, stride: u32, inputs: &[&str]) -> Trace {
    let (blocks, threads) = (4, 64);
    let mut b = Builder::new(name, [blocks, 1, 1], [threads, 1, 1]);
    let bytes = u64::from(blocks * threads * stride) * 4;
    let inputs: Vec<_> = inputs
        .iter()
        .map(|input| {
            let array = b.array(input, Space::Global, bytes);
            b.site("ld.global.f32", 3, array, AccessKind::Read, 4)
        })
        .collect();
    let output = b.array("y", Space::Global, bytes);
    let store = b.site("st.global.f32", 3, output, AccessKind::Write, 4);
    for block in 0..blocks {
        for warp in 0..threads / 32 {
            let w = b.warp([block, 0, 0], warp);
            let element = |lane: u32| i64::from((block * threads + warp * 32 + lane) * stride);
            for input in &inputs {
                b.access(w, *input, u32::MAX, element);
            }
            b.access(w, store, u32::MAX, element);
        }
    }
    b.finish()
}

#[derive(Default)]
pub struct MemoryHierarchy {
    kernel: Kernel,
    cached: Memo<Kernel, Trace>,
    request: Stepper,
    flows: Memo<u64, Flows>,
}

/// Bytes that moved, up to a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Flow {
    /// What threads asked of global memory.
    asked: u64,
    /// What shared memory served.
    shared: u64,
    /// 32-byte sectors of all requests: what crosses to L2 when the first-level cache holds nothing.
    sectors: u64,
    /// Different sectors: what must come from, or go to, device memory at least once.
    different: u64,
}

/// One memory request of a warp, and the flow after it.
struct Request {
    words: String,
    flow: Flow,
    /// Sectors that no earlier request touched.
    fresh: u64,
    shared: bool,
}

struct Flows {
    requests: Vec<Request>,
}

impl Flows {
    fn new(trace: &Trace) -> Self {
        let mut steps: Vec<_> = trace
            .warps
            .iter()
            .flat_map(|warp| warp.steps.iter().map(move |step| (step.tick, warp, step)))
            .filter(|(_, _, step)| step.access.is_some())
            .collect();
        steps.sort_by_key(|(tick, ..)| *tick);
        let mut seen: HashSet<u64> = HashSet::new();
        let mut flow = Flow::default();
        let mut requests = Vec::new();
        for (_, warp, step) in steps {
            let Some(access) = &step.access else { continue };
            let lanes = u64::from(step.mask.count_ones()).min(access.addresses.len() as u64);
            let bytes = lanes * u64::from(access.bytes);
            let (shared, mut fresh, mut touched) = (matches!(access.space, Space::Shared | Space::Cluster), 0, 0);
            match access.space {
                Space::Shared | Space::Cluster => flow.shared += bytes,
                Space::Global | Space::Generic => {
                    let sectors = model::sectors(step);
                    touched = sectors.len() as u64;
                    fresh = sectors.iter().filter(|(sector, _)| seen.insert(*sector)).count() as u64;
                    flow.asked += bytes;
                    flow.sectors += touched * SECTOR_BYTES;
                    flow.different += fresh * SECTOR_BYTES;
                }
                _ => continue,
            }
            let verb = if access.kind == AccessKind::Read { "reads" } else { "writes" };
            let name = model::allocation(trace, access).map_or(model::space_name(access.space), |a| a.name.as_str());
            let block = model::coordinates(warp.block, trace.grid);
            let cost = if shared {
                "from shared memory".to_owned()
            } else {
                format!("in {}, {fresh} of them for the first time", kit::plural(touched as usize, "sector"))
            };
            let words = format!("warp {} of block {block} {verb} {bytes} bytes of {name} {cost}", warp.warp);
            requests.push(Request { words, flow, fresh, shared });
        }
        Self { requests }
    }
}

/// One row of the picture.
struct Level {
    name: &'static str,
    /// Its size, where known, and of what.
    size: String,
    what: &'static str,
    bytes: u64,
}

/// Sizes of an H200 (the L2's as its driver reports it), shown beside its recorded latencies where the picked device has no memory of its own to tell of.
const H200_L2_BYTES: u64 = 60 << 20;
const H200_MEMORY_BYTES: u64 = 141_000_000_000;

fn levels(flow: &Flow, device: Option<&DeviceInfo>) -> [Level; 4] {
    let gpu = device.filter(|device| device.l2_bytes.is_some() && device.memory_bytes.is_some());
    let arch = Device::of(gpu.map_or("sm_90a", |device| &device.arch));
    let whose = if gpu.is_some() { "" } else { "H200: " };
    let kib = |bytes: u32| format!("{whose}{} KiB", bytes / 1024);
    let shared = format!("{} each SM", kib(arch.shared_per_sm));
    let big = |bytes: u64| match bytes >> 30 {
        0 => format!("{whose}{} MiB", bytes >> 20),
        _ => format!("{whose}{} GB", bytes / 1_000_000_000),
    };
    [
        Level {
            name: "Registers",
            size: format!("{} each SM", kib(REGISTERS_PER_SM * 4)),
            what: "asked of global memory",
            bytes: flow.asked,
        },
        Level { name: "Shared memory and L1", size: shared, what: "served by shared memory", bytes: flow.shared },
        Level {
            name: "L2 cache",
            size: big(gpu.and_then(|device| device.l2_bytes).unwrap_or(H200_L2_BYTES)),
            what: "in sectors, all requests",
            bytes: flow.sectors,
        },
        Level {
            name: "Device memory",
            size: big(gpu.and_then(|device| device.memory_bytes).unwrap_or(H200_MEMORY_BYTES)),
            what: "in different sectors",
            bytes: flow.different,
        },
    ]
}

impl MemoryHierarchy {
    fn picture_ui(&mut self, ui: &mut Ui, flows: &Flows, input: &VizInput<'_>, words: &str) {
        let device = input.device;
        let waits = Latencies::of(input.ceilings).map(|latencies| latencies.of_rows()).unwrap_or_default();
        let canvas =
            self.request.canvas(ui, vec2(ui.available_width(), 4.0 * ROW + space::S), words, flows.requests.len());
        let tokens = theme::tokens(ui);
        let at = self.request.within(flows.requests.len());
        let (Some(now), Some(end)) = (flows.requests.get(at), flows.requests.last()) else { return };
        let before =
            at.checked_sub(1).and_then(|before| flows.requests.get(before)).map_or(Flow::default(), |r| r.flow);
        let (levels_now, levels_end) = (levels(&now.flow, device), levels(&end.flow, device));
        let levels_before = levels(&before, device);
        let most = levels_end.iter().map(|level| level.bytes).max().unwrap_or(1).max(1);
        let touches = [!now.shared, now.shared, !now.shared, now.fresh > 0];
        for (index, level) in levels_now.iter().enumerate() {
            let top = canvas.rect.top() + index as f32 * ROW;
            let row = Rect::from_min_size(pos2(canvas.rect.left(), top), vec2(canvas.rect.width(), ROW - space::S));
            let bars = Bars {
                before: levels_before[index].bytes,
                now: level.bytes,
                end: levels_end[index].bytes,
                most,
                active: touches[index],
            };
            paint_level(&canvas.painter, tokens, row, level, &waits[index], &bars);
        }
        let Some(pos) = canvas.response.hover_pos() else { return };
        let index = (((pos.y - canvas.rect.top()) / ROW).max(0.0) as usize).min(3);
        let (level, end) = (&levels_now[index], &levels_end[index]);
        let text = format!(
            "{}{}{}\n{} {}\n{} in the whole run{}{}",
            level.name,
            if level.size.is_empty() { "" } else { ": " },
            level.size,
            plot_kit::si(level.bytes as f64, "B"),
            level.what,
            plot_kit::si(end.bytes as f64, "B"),
            if waits[index].is_empty() { "" } else { "\na load waits: " },
            waits[index]
        );
        canvas.response.on_hover_text_at_pointer(text);
    }
}

/// Bytes of one level: before this request, with it, at the end; and the scale of all levels.
struct Bars {
    before: u64,
    now: u64,
    end: u64,
    most: u64,
    active: bool,
}

fn paint_level(painter: &egui::Painter, tokens: &Tokens, row: Rect, level: &Level, wait: &str, bars: &Bars) {
    let frame = if bars.active { Stroke::new(2.0, tokens.lane_focus) } else { Stroke::new(1.0, tokens.border) };
    painter.rect(row.shrink(1.0), radius::SMALL, tokens.raised, frame, StrokeKind::Inside);
    let left = row.left() + space::M;
    let font = FontId::proportional(font_size::BODY);
    let middle = row.center().y;
    // In a narrow pane the bar stands below the name and not beside it.
    let narrow = row.width() < 400.0;
    let (start, bar_y) = if narrow {
        painter.text(pos2(left, row.top() + 3.0), Align2::LEFT_TOP, level.name, font, tokens.text);
        let at = pos2(row.right() - space::M, row.top() + 5.0);
        kit::small(painter, at, Align2::RIGHT_TOP, &level.size, tokens.text_muted);
        (left, row.top() + 21.0..=row.top() + 30.0)
    } else {
        painter.text(pos2(left, middle - 1.0), Align2::LEFT_BOTTOM, level.name, font, tokens.text);
        kit::small(painter, pos2(left, middle + 1.0), Align2::LEFT_TOP, &level.size, tokens.text_muted);
        (row.left() + LABEL, row.top() + 9.0..=row.top() + 23.0)
    };
    let room = (row.right() - start - space::M).max(20.0);
    let x = |bytes: u64| start + room * (bytes as f64 / bars.most as f64) as f32;
    let bar = |from: u64, to: u64| Rect::from_x_y_ranges(x(from)..=x(to), bar_y.clone());
    painter.rect_stroke(bar(0, bars.end), 1.0, Stroke::new(1.0, tokens.border_strong), StrokeKind::Inside);
    painter.rect_filled(bar(0, bars.before), 1.0, tokens.lane_on);
    painter.rect_filled(bar(bars.before, bars.now), 1.0, tokens.lane_focus);
    let text = format!("{} {}", plot_kit::si(bars.now as f64, "B"), level.what);
    kit::small(painter, pos2(start, row.bottom() - 4.0), Align2::LEFT_BOTTOM, text, tokens.text_muted);
    let at = pos2(row.right() - space::M, row.bottom() - 4.0);
    kit::small(painter, at, Align2::RIGHT_BOTTOM, wait, tokens.text);
}

impl Visualization for MemoryHierarchy {
    fn id(&self) -> &'static str {
        "memory-hierarchy"
    }

    fn title(&self) -> &'static str {
        "Memory hierarchy"
    }

    fn example(&self) -> Trace {
        self.kernel.trace()
    }

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        let input = &kit::input_ui(ui, input, self.id());
        if input.trace.is_none() {
            ui.horizontal_wrapped(|ui| {
                for kernel in Kernel::ALL {
                    ui.selectable_value(&mut self.kernel, kernel, kernel.title());
                }
            });
        }
        let trace = &self.cached.shown(input, &self.kernel, Kernel::trace);
        let flows = self.flows.get(&model::fingerprint(trace), |_| Flows::new(trace));
        if flows.requests.is_empty() {
            kit::nothing_ui(ui, "The traced warps touched no memory.");
            return None;
        }
        self.request.ui(ui, flows.requests.len(), "request");
        let words = self.describe(input);
        self.picture_ui(ui, &flows, input, &words);
        plot_kit::legend(ui, |ui| {
            let tokens = theme::tokens(ui);
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.lane_on, "so far");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.lane_focus, "this request");
            kit::legend_cell(ui, kit::CellLook::Empty, false, "at the end of the run");
        });
        if let Some(latencies) = Latencies::of(input.ceilings) {
            let text = format!(
                "At the left: nominal sizes. At the right: how long a load waits that nothing hides, {}.",
                latencies.source
            );
            ui.label(egui::RichText::new(text).small().color(theme::tokens(ui).text_muted));
        }
        kit::caption_ui(ui, &words);
        None
    }

    fn describe(&self, input: &VizInput<'_>) -> String {
        let trace = &self.cached.shown(input, &self.kernel, Kernel::trace);
        let flows = self.flows.get(&model::fingerprint(trace), |_| Flows::new(trace));
        let at = self.request.within(flows.requests.len());
        let (Some(now), Some(end)) = (flows.requests.get(at), flows.requests.last()) else {
            return format!("{}. The traced warps touched no memory.", kit::launch_words(trace));
        };
        let Flow { asked, shared, sectors, different } = end.flow;
        let used = (asked + shared) as f64 / different.max(1) as f64;
        let waste = 100.0 * asked as f64 / sectors.max(1) as f64;
        let reuse = match () {
            () if different == 0 => "It uses no global memory.".to_owned(),
            () if used > 1.05 => format!("Each byte that device memory must move is used {used:.1} times."),
            () if used < 0.95 => {
                format!("Only {:.0} % of the bytes that device memory must move are used.", used * 100.0)
            }
            () => "Each byte that device memory must move is used once.".to_owned(),
        };
        format!(
            "Request {}: {}. In the whole traced run threads ask {} of global memory and {} of shared memory. The \
             sectors of all requests are {}, of which {waste:.0} % was asked for; {} are different. {reuse}{}",
            at + 1,
            now.words,
            plot_kit::si(asked as f64, "B"),
            plot_kit::si(shared as f64, "B"),
            plot_kit::si(sectors as f64, "B"),
            plot_kit::si(different as f64, "B"),
            Latencies::of(input.ceilings).map_or_else(String::new, |latencies| format!(" {}", latencies.words())),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(kernel: Kernel) -> Flow {
        Flows::new(&kernel.trace()).requests.last().expect("requests").flow
    }

    #[test]
    fn bytes_are_counted_at_each_level() {
        // 256 threads, two loads and a store of 4 bytes; everything is used once.
        let add = end(Kernel::Add);
        assert_eq!((add.asked, add.sectors, add.different, add.shared), (3072, 3072, 3072, 0));
        // Every eighth element: each 32-byte sector is fetched for 4 bytes.
        let strided = end(Kernel::Strided);
        assert_eq!((strided.asked, strided.sectors), (2048, 2048 * 8));
    }

    #[test]
    fn tiling_moves_reads_from_global_to_shared_memory() {
        let (naive, tiled) = (end(Kernel::Naive), end(Kernel::Tiled));
        assert_eq!(naive.different, tiled.different);
        assert!(tiled.asked * 4 < naive.asked && naive.shared == 0 && tiled.shared >= naive.asked - 1024);
    }
}
