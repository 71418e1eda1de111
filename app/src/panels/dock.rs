//! Draws the tiles: `egui_tiles` lays them out, lets them be dragged and resized, and what came of it goes back as a
//! command.

mod borders;

use super::{
    Screen, compare, course, gallery, glossary, lesson, log, parts, progress, ready, results, sandbox, search, work,
};
use crate::command::{Action, Command};
use crate::dock::Node;
use crate::icons::{self, Icon};
use crate::state::Pane;
use crate::theme::{self, space};
use egui::{Color32, Id, Response, Sense, Stroke, Ui, UiBuilder, Visuals, WidgetText, vec2};
use egui_tiles::{
    Behavior, Container, Linear, LinearDir, SimplificationOptions, TabState, Tabs, Tile, TileId, Tiles, Tree,
    UiResponse,
};

/// What the tile tree keeps free beside a tab, in points, with something to spare.
const BETWEEN_TABS: f32 = space::M;
/// Room of a tab's icon and of the cross that closes it, in points.
const ICON_WIDTH: f32 = icons::SIZE + space::XS;
const CLOSE_WIDTH: f32 = 18.0;

/// Height of the strip of tabs above each group of panes.
const TABS_HEIGHT: f32 = 32.0;

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>) {
    let state = screen.state;
    if state.panes_in_sight().is_empty() {
        return parts::empty(
            ui,
            icons::LAYOUT,
            "Every pane is closed",
            "Press F9, F10 or F11 for a layout, or open a pane from the View menu.",
        );
    }
    if let Some(pane) = state.view.full.filter(|pane| state.has_content(*pane)) {
        return full_ui(ui, screen, pane);
    }
    let before = state.view.dock.root();
    let mut tiles = Tiles::default();
    let mut groups = 0;
    let root = insert(&mut tiles, before, &mut groups);
    let mut tree = Tree::new(Id::unique("dock"), root, tiles);
    for pane in Pane::DOCKED {
        let seen = state.view.dock.is_open(pane) && state.has_content(pane);
        tree.set_visible(pane_tile(pane), seen);
    }
    let mut drawing = Drawing { screen, closed: None };
    tree.ui(&mut drawing, ui);
    let closed = drawing.closed;
    borders::show(ui, &mut tree, TABS_HEIGHT);
    if let Some(after) = tree.root.and_then(|root| node(&tree.tiles, root))
        && after != *before
    {
        screen.send(Command::Arrange(Box::new(after)));
    }
    if let Some(pane) = closed {
        screen.send(Command::ClosePane(pane));
    }
}

/// One pane in the room of all.
fn full_ui(ui: &mut Ui, screen: &mut Screen<'_>, pane: Pane) {
    let t = theme::tokens(ui);
    egui::Frame::new().fill(t.window).inner_margin(egui::Margin::symmetric(space::M as i8, space::XS as i8)).show(
        ui,
        |ui| {
            let words = |ui: &mut Ui, screen: &mut Screen<'_>| {
                icons::show(ui, pane.icon(), t.text_muted);
                ui.label(title(screen, pane));
            };
            parts::sides(ui, "full size", screen, words, |ui, screen| {
                let back = ui.button("All panes").on_hover_text(Action::FullSize.tooltip(ui.ctx()));
                // Panes without a text box of their own have the keyboard here.
                if pane != Pane::Editor && screen.takes_focus(pane) {
                    back.request_focus();
                }
                if back.clicked() {
                    screen.send(Command::Do(Action::FullSize));
                }
            });
        },
    );
    let fill = if Pane::WORK.contains(&pane) { t.inset } else { t.panel };
    ui.painter().rect_filled(ui.available_rect_before_wrap(), 0.0, fill);
    ui.scope_builder(UiBuilder::new().scope_id(Id::unique(("pane", pane))), |ui| pane_ui(ui, screen, pane));
}

/// A pane's tile has the same id in every arrangement, so that dragging survives one.
fn pane_tile(pane: Pane) -> TileId {
    TileId::from_u64(1 + pane as u64)
}

fn insert(tiles: &mut Tiles<Pane>, node: &Node, groups: &mut u64) -> TileId {
    if let Node::Pane(pane) = node {
        let id = pane_tile(*pane);
        tiles.insert(id, Tile::Pane(*pane));
        return id;
    }
    *groups += 1;
    let id = TileId::from_u64(1000 + *groups);
    let sides = |tiles: &mut Tiles<Pane>, groups: &mut u64, dir, children: &[(f32, Node)]| {
        let ids: Vec<TileId> = children.iter().map(|(_, child)| insert(tiles, child, groups)).collect();
        let mut linear = Linear::new(dir, ids.clone());
        for (id, (share, _)) in ids.into_iter().zip(children) {
            linear.shares.set_share(id, *share);
        }
        Container::Linear(linear)
    };
    let container = match node {
        Node::Pane(_) => return id,
        Node::Tabs { children, active } => {
            let ids: Vec<TileId> = children.iter().map(|child| insert(tiles, child, groups)).collect();
            let mut tabs = Tabs::new(ids.clone());
            tabs.active = ids.get(*active).copied();
            Container::Tabs(tabs)
        }
        Node::Row(children) => sides(tiles, groups, LinearDir::Horizontal, children),
        Node::Column(children) => sides(tiles, groups, LinearDir::Vertical, children),
    };
    tiles.insert(id, Tile::Container(container));
    id
}

/// What the tiles are now.
fn node(tiles: &Tiles<Pane>, id: TileId) -> Option<Node> {
    let container = match tiles.get(id)? {
        Tile::Pane(pane) => return Some(Node::Pane(*pane)),
        Tile::Container(container) => container,
    };
    Some(match container {
        Container::Tabs(tabs) => {
            let active = tabs.active.and_then(|active| tabs.children.iter().position(|child| *child == active));
            let children = tabs.children.iter().filter_map(|child| node(tiles, *child)).collect();
            Node::Tabs { children, active: active.unwrap_or(0) }
        }
        Container::Linear(linear) => {
            let child = |child: &TileId| Some((linear.shares[*child], node(tiles, *child)?));
            let children = linear.children.iter().filter_map(child).collect();
            match linear.dir {
                LinearDir::Horizontal => Node::Row(children),
                LinearDir::Vertical => Node::Column(children),
            }
        }
        // Dropping makes none of these; a row loses nothing.
        Container::Grid(grid) => {
            Node::Row(grid.children().filter_map(|child| Some((1.0, node(tiles, *child)?))).collect())
        }
    })
}

/// What the tiles ask while they are drawn.
struct Drawing<'a, 'b> {
    screen: &'a mut Screen<'b>,
    closed: Option<Pane>,
}

impl Behavior<Pane> for Drawing<'_, '_> {
    fn pane_ui(&mut self, ui: &mut Ui, _tile: TileId, pane: &mut Pane) -> UiResponse {
        let t = theme::tokens(ui);
        let fill = if Pane::WORK.contains(pane) { t.inset } else { t.panel };
        ui.painter().rect_filled(ui.max_rect(), 0.0, fill);
        if ui.rect_contains_pointer(ui.max_rect()) && ui.input(|input| input.pointer.any_pressed()) {
            self.screen.memory.pressed_pane = Some(*pane);
        }
        // An id of its own: a pane keeps its scroll position wherever it is moved.
        let own = UiBuilder::new()
            .scope_id(Id::unique(("pane", *pane)))
            .accessibility_label(pane.title())
            .accessibility_role(egui::accesskit::Role::Pane);
        let room = ui.max_rect();
        ui.scope_builder(own, |ui| {
            pane_ui(ui, self.screen, *pane);
            // A region is no control, so egui does not tell where it is.
            let [left, top, right, bottom] = [room.left(), room.top(), room.right(), room.bottom()].map(f64::from);
            let bounds = egui::accesskit::Rect { x0: left, y0: top, x1: right, y1: bottom };
            ui.ctx().accesskit_node_builder(ui.unique_id(), |node| node.set_bounds(bounds));
        });
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, pane: &Pane) -> WidgetText {
        title(self.screen, *pane).into()
    }

    fn tab_ui(&mut self, tiles: &mut Tiles<Pane>, ui: &mut Ui, id: Id, tile: TileId, state: &TabState) -> Response {
        let t = theme::tokens(ui);
        let pane = tiles.get_pane(&tile).copied();
        let text = pane.map_or_else(|| "Group".to_owned(), |pane| title(self.screen, pane));
        let keyboard = pane.is_some_and(|pane| self.screen.state.view.focus.0 == pane) && state.active;
        let color = if state.active { t.text } else { t.text_muted };
        let font = egui::TextStyle::Button.resolve(ui.style());
        // Beside its icon the sign of an outcome would be a second one.
        let mark = pane.and_then(|pane| self.mark(pane, t));
        let icon = pane.filter(|_| self.has_room_for_icons(tiles, ui, tile)).map(|pane| {
            let (icon, tint) = mark.unwrap_or((pane.icon(), color));
            (icon, if state.active || mark.is_some() { tint } else { t.text_faint })
        });
        let words = match (icon, mark, pane) {
            (Some(_), Some(_), Some(pane)) => pane.title().to_owned(),
            _ => text.clone(),
        };
        let galley = ui.painter().layout_no_wrap(words, font, color);
        let close_width = if state.active && pane.is_some() { CLOSE_WIDTH } else { 0.0 };
        let icon_width = if icon.is_some() { ICON_WIDTH } else { 0.0 };
        let size = vec2(galley.size().x + 2.0 * space::M + icon_width + close_width, ui.available_height());
        let (_, rect) = ui.allocate_space(size);
        let response = ui.interact(rect, id, Sense::click_and_drag());
        response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Tab, true, state.active, &text));
        // Panes with a text box or a list give the keyboard to that; the others to their tab, from which Tab leads in.
        let own = matches!(pane, Some(Pane::Editor | Pane::Course | Pane::Search | Pane::Glossary) | None);
        if let Some(pane) = pane.filter(|_| !own && state.active)
            && self.screen.takes_focus(pane)
        {
            response.request_focus();
        }
        self.watch_keyboard(pane, tile, &response, state.active);
        if state.is_being_dragged {
            return response;
        }
        if response.hovered() && !state.active {
            ui.painter().rect_filled(rect.shrink2(vec2(1.0, 4.0)), f32::from(theme::radius::SMALL), t.hover);
        }
        if response.has_focus() {
            let ring = rect.shrink2(vec2(2.0, 3.0));
            ui.painter().rect_stroke(ring, 3.0, Stroke::new(1.5, t.accent), egui::StrokeKind::Inside);
        }
        if let Some((icon, tint)) = icon {
            let center = egui::pos2(rect.left() + space::M + icons::SIZE / 2.0, rect.center().y);
            icons::paint(ui.painter(), center, icons::SIZE, icon, tint);
        }
        let at = egui::pos2(rect.left() + space::M + icon_width, rect.center().y - galley.size().y / 2.0);
        ui.painter().galley(at, galley, color);
        if state.active {
            let line =
                egui::Rect::from_x_y_ranges(rect.x_range().shrink(space::XS), rect.bottom() - 2.0..=rect.bottom());
            ui.painter().rect_filled(line, 1.0, if keyboard { t.accent } else { t.border_strong });
        }
        if let Some(pane) = pane
            && (self.close_button(ui, rect, state.active, pane) || response.middle_clicked())
        {
            self.closed = Some(pane);
        }
        response
    }

    fn top_bar_right_ui(&mut self, tiles: &Tiles<Pane>, ui: &mut Ui, _tile: TileId, tabs: &Tabs, _offset: &mut f32) {
        let active = tabs.active.and_then(|tile| tiles.get_pane(&tile));
        // Where a group is drawn its tabs are known, and its tiles are not.
        if self.screen.memory.hidden_tab.is_some_and(|hidden| tabs.children.contains(&hidden)) {
            self.screen.memory.hidden_tab = None;
            self.screen.commands.extend(active.map(|pane| Command::FocusPane(*pane)));
        }
        if active == Some(&Pane::Editor) {
            ui.add_space(space::S);
            work::marks_ui(ui, self.screen);
        }
    }

    fn drag_ui(&mut self, tiles: &Tiles<Pane>, ui: &mut Ui, tile: TileId) {
        let text = tiles.get_pane(&tile).map_or_else(|| "Panes".to_owned(), |pane| title(self.screen, *pane));
        egui::Frame::popup(ui.style()).show(ui, |ui| ui.label(text));
    }

    fn tab_bar_height(&self, _style: &egui::Style) -> f32 {
        TABS_HEIGHT
    }

    fn min_size(&self) -> f32 {
        90.0
    }

    fn tab_bar_color(&self, visuals: &Visuals) -> Color32 {
        theme::of_visuals(visuals).window
    }

    fn simplification_options(&self) -> SimplificationOptions {
        SimplificationOptions { all_panes_must_have_tabs: true, ..SimplificationOptions::default() }
    }

    fn resize_stroke(&self, style: &egui::Style, state: egui_tiles::ResizeState) -> Stroke {
        let t = theme::of_visuals(&style.visuals);
        match state {
            egui_tiles::ResizeState::Idle => Stroke::new(1.0, t.border),
            egui_tiles::ResizeState::Hovering | egui_tiles::ResizeState::Dragging => Stroke::new(2.0, t.accent),
        }
    }

    fn paint_on_top_of_tile(&self, painter: &egui::Painter, _style: &egui::Style, tile: TileId, rect: egui::Rect) {
        let card = self.screen.state.tour.and_then(|step| crate::tour::TOUR.get(step));
        if card.and_then(|card| card.pane).is_some_and(|pane| pane_tile(pane) == tile) {
            let stroke = Stroke::new(2.0, theme::of_visuals(&painter.ctx().global_style().visuals).accent);
            painter.rect_stroke(rect, 0.0, stroke, egui::StrokeKind::Inside);
        }
    }

    fn drag_preview_color(&self, visuals: &Visuals) -> Color32 {
        theme::of_visuals(visuals).accent.gamma_multiply(0.3)
    }

    fn drag_preview_stroke(&self, visuals: &Visuals) -> Stroke {
        Stroke::new(1.5, theme::of_visuals(visuals).accent)
    }
}

impl Drawing<'_, '_> {
    /// A command may bring another pane of the group in front: the keyboard goes on there, not on a tab whose pane is
    /// hidden. On a tab that was never in front it may rest, on the way to the next.
    fn watch_keyboard(&mut self, pane: Option<Pane>, tile: TileId, response: &Response, is_active: bool) {
        let memory = &mut self.screen.memory;
        let was_front = pane.is_some() && memory.keyboard_tab == pane;
        match (response.has_focus(), is_active) {
            (true, true) => memory.keyboard_tab = pane,
            (true, false) if was_front => {
                memory.keyboard_tab = None;
                memory.hidden_tab = Some(tile);
                response.ctx.request_repaint();
            }
            (false, _) if was_front => memory.keyboard_tab = None,
            _ => {}
        }
    }

    /// The sign of an outcome, in place of the pane's icon.
    fn mark(&self, pane: Pane, t: &theme::Tokens) -> Option<(Icon, Color32)> {
        let passed = results::outcome(self.screen.state.desk()?).filter(|_| pane == Pane::Verdict)?;
        Some(if passed { (icons::CHECK_CIRCLE, t.pass) } else { (icons::X_CIRCLE, t.fail) })
    }

    /// Whether all tabs of the group fit with an icon each: words come first.
    fn has_room_for_icons(&self, tiles: &Tiles<Pane>, ui: &Ui, tile: TileId) -> bool {
        let Some(parent) = tiles.parent_of(tile) else { return true };
        let Some(group) = tiles.get_container(parent) else { return true };
        // The tabs are drawn in a place that scrolls, whose clip may be wider than the group.
        let room = tiles.rect(parent).map_or(f32::INFINITY, |rect| rect.width()).min(ui.clip_rect().width());
        let font = egui::TextStyle::Button.resolve(ui.style());
        let shown =
            group.children().filter(|child| tiles.is_visible(**child)).filter_map(|child| tiles.get_pane(child));
        let width = |pane: &Pane| {
            let galley = ui.painter().layout_no_wrap(title(self.screen, *pane), font.clone(), Color32::PLACEHOLDER);
            galley.size().x + 2.0 * space::M + ICON_WIDTH + BETWEEN_TABS
        };
        shown.map(width).sum::<f32>() + CLOSE_WIDTH < room
    }

    /// A cross at the end of the tab in front.
    fn close_button(&self, ui: &mut Ui, tab: egui::Rect, active: bool, pane: Pane) -> bool {
        if !active {
            return false;
        }
        let t = theme::tokens(ui);
        let center = egui::pos2(tab.right() - space::M - 5.0, tab.center().y);
        let rect = egui::Rect::from_center_size(center, vec2(16.0, 16.0));
        let response = ui.interact(rect, Id::unique(("close pane", pane)), Sense::click());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, format!("Close {}", pane.title())));
        if response.gained_focus() {
            // More tabs than fit scroll, and the keyboard goes nowhere out of sight.
            ui.scroll_to_rect_animation(rect, None, egui::style::ScrollAnimation::none());
        }
        let color = if response.hovered() || response.has_focus() { t.text } else { t.text_faint };
        if response.hovered() || response.has_focus() {
            ui.painter().rect_filled(rect, f32::from(theme::radius::SMALL), t.hover);
        }
        let (arm, stroke) = (3.5, Stroke::new(1.3, color));
        ui.painter().line_segment([center - vec2(arm, arm), center + vec2(arm, arm)], stroke);
        ui.painter().line_segment([center - vec2(arm, -arm), center + vec2(arm, -arm)], stroke);
        let tooltip = match pane {
            Pane::Course => Action::ToggleCourse.tooltip(ui.ctx()),
            Pane::Lesson => Action::ToggleLesson.tooltip(ui.ctx()),
            _ => format!("Close. View opens {} again", pane.title()),
        };
        response.on_hover_text(tooltip).clicked()
    }
}

/// The pane's title with what is new in it.
fn title(screen: &Screen<'_>, pane: Pane) -> String {
    match pane {
        Pane::Editor => work::editor_title(screen),
        Pane::Visualization => screen
            .state
            .view
            .visualization
            .as_deref()
            .map_or_else(|| pane.title().to_owned(), work::visualization_title),
        _ => match screen.state.desk() {
            Some(desk) => results::title(desk, pane),
            None => pane.title().to_owned(),
        },
    }
}

fn pane_ui(ui: &mut Ui, screen: &mut Screen<'_>, pane: Pane) {
    match pane {
        Pane::Course => course::show(ui, screen),
        Pane::Lesson => lesson::pane_ui(ui, screen),
        Pane::Editor => work::editor_ui(ui, screen),
        Pane::Visualization => work::visualization_ui(ui, screen),
        Pane::Solution => work::solution_ui(ui, screen),
        Pane::Verdict | Pane::Problems | Pane::Console | Pane::Counters | Pane::Compiled | Pane::Timing => {
            results::show(ui, screen, pane);
        }
        Pane::Compare => compare::show(ui, screen),
        Pane::Search => search::show(ui, screen),
        Pane::Progress => progress::show(ui, screen),
        Pane::Ready => ready::show(ui, screen),
        Pane::Gallery => gallery::show(ui, screen),
        Pane::Glossary => glossary::show(ui, screen),
        Pane::Sandbox => sandbox::show(ui, screen),
        Pane::Log => log::show(ui, screen),
        Pane::Toolbar => {}
    }
}
