//! Borders between panes from the keyboard: `egui_tiles` makes each a stop of the Tab key, and here it gets a name, a
//! look, and arrow keys that move it.

use crate::state::Pane;
use crate::theme;
use crate::widgets::focus;
use egui::{EventFilter, Id, Key, Modifiers, Rect, Ui, accesskit, pos2, vec2};
use egui_tiles::{Container, LinearDir, Tile, TileId, Tiles, Tree};

/// What one press moves a border by, in points.
const STEP: f32 = 16.0;

/// No press makes a side smaller than this.
const LEAST: f32 = 90.0;

/// A border: its container, the sides of it, and where it is.
struct Border {
    container: TileId,
    sides: [TileId; 2],
    dir: LinearDir,
    line: Rect,
}

/// Tells screen readers what `egui_tiles` leaves without a word, and serves the border that has the keyboard.
pub fn show(ui: &Ui, tree: &mut Tree<Pane>, tabs_height: f32) {
    name_all(ui, &tree.tiles, tabs_height);
    let Some(id) = ui.memory(|memory| memory.focused()) else { return };
    let Some(response) = focus::response_of(ui, id).filter(|response| response.sense.senses_drag()) else { return };
    let reach = 2.0 * ui.style().interaction.resize_grab_radius_side;
    let Some(border) = borders(&tree.tiles, reach).into_iter().find(|border| border.line == response.rect) else {
        return;
    };
    let keys = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(id, keys));
    let stroke = egui::Stroke::new(3.0, theme::tokens(ui).accent);
    let (back, on) = match border.dir {
        LinearDir::Horizontal => {
            ui.painter().vline(border.line.center().x, border.line.y_range(), stroke);
            (Key::ArrowLeft, Key::ArrowRight)
        }
        LinearDir::Vertical => {
            ui.painter().hline(border.line.x_range(), border.line.center().y, stroke);
            (Key::ArrowUp, Key::ArrowDown)
        }
    };
    let presses = |key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key)) as f32;
    let by = STEP * (presses(on) - presses(back));
    if by != 0.0 {
        shift(&mut tree.tiles, &border, by);
    }
}

/// Names every border, and the strip behind each group's tabs, which can be dragged.
fn name_all(ui: &Ui, tiles: &Tiles<Pane>, tabs_height: f32) {
    // Their ids are made of what only `egui_tiles` knows; their places are known.
    let dragged: Vec<(Id, Rect)> = ui.ctx().viewport(|viewport| {
        let widgets = &viewport.this_pass.widgets;
        let dragged = widgets.get_layer(ui.layer_id()).filter(|widget| widget.sense.senses_drag());
        dragged.map(|widget| (widget.id, widget.rect)).collect()
    });
    let borders = borders(tiles, 2.0 * ui.style().interaction.resize_grab_radius_side);
    for (id, rect) in dragged {
        if let Some(border) = borders.iter().find(|border| border.line == rect) {
            describe(ui, id, tiles, border);
        } else if (rect.height() - tabs_height).abs() < 1.0
            && let Some(pane) = group_at(tiles, rect).and_then(|tile| front(tiles, tile))
        {
            ui.ctx().accesskit_node_builder(id, |node| {
                // The first tab begins at the same place, and has a role.
                if node.role() == accesskit::Role::Unknown {
                    node.set_role(accesskit::Role::TabList);
                    node.set_label(format!("Tabs of the group with {} in front", pane.title()));
                }
            });
        }
    }
}

/// The group of tabs that begins where a strip does.
fn group_at(tiles: &Tiles<Pane>, strip: Rect) -> Option<TileId> {
    let groups = tiles.iter().filter(|(_, tile)| matches!(tile, Tile::Container(Container::Tabs(_))));
    let mut places = groups.filter_map(|(id, _)| Some((*id, tiles.rect(*id)?)));
    places.find(|(_, place)| place.min.distance(strip.min) < 2.0).map(|(id, _)| id)
}

/// Every border there is, where `egui_tiles` has it.
fn borders(tiles: &Tiles<Pane>, reach: f32) -> Vec<Border> {
    let mut found = Vec::new();
    for (container, tile) in tiles.iter() {
        let (Tile::Container(Container::Linear(linear)), Some(whole)) = (tile, tiles.rect(*container)) else {
            continue;
        };
        let shown: Vec<(TileId, Rect)> = linear
            .children
            .iter()
            .filter(|child| tiles.is_visible(**child))
            .filter_map(|child| Some((*child, tiles.rect(*child)?)))
            .collect();
        for pair in shown.windows(2) {
            let [(first, one), (second, other)] = pair else { continue };
            let (center, size) = match linear.dir {
                LinearDir::Horizontal => {
                    let x = egui::lerp(one.right()..=other.left(), 0.5);
                    (pos2(x, whole.center().y), vec2(reach, whole.height()))
                }
                LinearDir::Vertical => {
                    let y = egui::lerp(one.bottom()..=other.top(), 0.5);
                    (pos2(whole.center().x, y), vec2(whole.width(), reach))
                }
            };
            let line = Rect::from_center_size(center, size);
            found.push(Border { container: *container, sides: [*first, *second], dir: linear.dir, line });
        }
    }
    found
}

/// Moves a border by so many points: one side's share grows by what the other's shrinks.
fn shift(tiles: &mut Tiles<Pane>, border: &Border, by: f32) {
    let extent = |tile: TileId| {
        tiles.rect(tile).map_or(0.0, |rect| match border.dir {
            LinearDir::Horizontal => rect.width(),
            LinearDir::Vertical => rect.height(),
        })
    };
    let [one, other] = border.sides.map(extent);
    let by = by.clamp((LEAST - one).min(0.0), (other - LEAST).max(0.0));
    let Some(Tile::Container(Container::Linear(linear))) = tiles.get_mut(border.container) else { return };
    let [first, second] = border.sides;
    let both = linear.shares[first] + linear.shares[second];
    if one + other > 0.0 {
        let share = both * (one + by) / (one + other);
        linear.shares.set_share(first, share);
        linear.shares.set_share(second, both - share);
    }
}

fn describe(ui: &Ui, id: Id, tiles: &Tiles<Pane>, border: &Border) {
    let [one, other] = border.sides.map(|side| front(tiles, side).map_or("a group", Pane::title));
    let keys = match border.dir {
        LinearDir::Horizontal => "Left and Right",
        LinearDir::Vertical => "Up and Down",
    };
    ui.ctx().accesskit_node_builder(id, |node| {
        node.set_role(accesskit::Role::Splitter);
        node.set_label(format!("Border between {one} and {other}; {keys} move it"));
    });
}

/// The pane that is seen first in a tile.
fn front(tiles: &Tiles<Pane>, tile: TileId) -> Option<Pane> {
    match tiles.get(tile)? {
        Tile::Pane(pane) => Some(*pane),
        Tile::Container(Container::Tabs(tabs)) => front(tiles, tabs.active?),
        Tile::Container(container) => container.children().find_map(|child| front(tiles, *child)),
    }
}
