//! A matrix drawn as a grid of cells.

use super::kit::{self, CellLook};
use crate::theme::Tokens;
use egui::{Align2, Color32, Painter, Pos2, Rect, Stroke, StrokeKind, Vec2, pos2, vec2};

/// Where a matrix is drawn and how large.
#[derive(Clone, Copy, Debug)]
pub struct Matrix {
    pub origin: Pos2,
    pub rows: usize,
    pub columns: usize,
    pub cell: f32,
}

/// How one element is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Element {
    pub state: State,
    /// Painted on the cell where there is room.
    pub number: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    #[default]
    Empty,
    /// Touched earlier.
    Before,
    /// Touched now.
    Now,
    /// Chosen.
    Focus,
    /// Kept near, in a cache.
    Near,
    /// Fetched now from far away.
    Fetched,
}

impl State {
    /// The fill, and a mark for those who cannot tell the fills apart.
    fn look(self, tokens: &Tokens) -> (Option<Color32>, Option<&'static str>) {
        match self {
            State::Empty => (None, None),
            State::Before => (Some(tokens.lane_on.gamma_multiply(0.3)), None),
            State::Now => (Some(tokens.lane_on), None),
            State::Focus => (Some(tokens.lane_focus), None),
            State::Near => (Some(tokens.series[2].gamma_multiply(0.45)), Some("·")),
            State::Fetched => (Some(tokens.series[4]), Some("+")),
        }
    }

    pub fn legend_ui(self, ui: &mut egui::Ui, text: &str) {
        let tokens = crate::theme::tokens(ui);
        match self.look(tokens).0 {
            Some(color) => {
                crate::widgets::plot_kit::legend_entry(ui, crate::widgets::plot_kit::Swatch::Bar, color, text)
            }
            None => kit::legend_cell(ui, CellLook::Empty, false, text),
        }
    }
}

impl Matrix {
    pub fn size(&self) -> Vec2 {
        vec2(self.columns as f32, self.rows as f32) * self.cell
    }

    pub fn outer(&self) -> Rect {
        Rect::from_min_size(self.origin, self.size())
    }

    pub fn rect(&self, row: usize, column: usize) -> Rect {
        let at = self.origin + vec2(column as f32, row as f32) * self.cell;
        Rect::from_min_size(at, Vec2::splat(self.cell))
    }

    /// Row and column under a position.
    pub fn at(&self, pos: Pos2) -> Option<(usize, usize)> {
        let offset = (pos - self.origin) / self.cell;
        let (row, column) = (offset.y.floor(), offset.x.floor());
        (row >= 0.0 && column >= 0.0 && (row as usize) < self.rows && (column as usize) < self.columns)
            .then_some((row as usize, column as usize))
    }

    pub fn title(&self, painter: &Painter, tokens: &Tokens, text: &str) {
        // A title is as wide as its matrix, or the next one's would run into it: then its name alone.
        let name = text.split([',', ':']).next().unwrap_or(text);
        let at = self.origin - vec2(0.0, 3.0);
        kit::small_in(painter, at, Align2::LEFT_BOTTOM, self.outer().width() + 16.0, &[text, name], tokens.text);
    }

    /// Paints every element; `tile` is rows and columns of the tiles whose borders are drawn.
    pub fn paint(
        &self,
        painter: &Painter,
        tokens: &Tokens,
        tile: Option<(usize, usize)>,
        element: impl Fn(usize, usize) -> Element,
    ) {
        let outer = self.outer();
        painter.rect_filled(outer, 0.0, tokens.inset);
        let gap = if self.cell >= 6.0 { 0.5 } else { 0.0 };
        for row in 0..self.rows {
            for column in 0..self.columns {
                let Element { state, number } = element(row, column);
                let rect = self.rect(row, column);
                let (fill, mark) = state.look(tokens);
                if let Some(fill) = fill {
                    painter.rect_filled(rect.shrink(gap), 1.0, fill);
                }
                let text = match number {
                    Some(number) if self.cell >= 15.0 => Some(number.to_string()),
                    _ if self.cell >= 9.0 => mark.map(str::to_owned),
                    _ => None,
                };
                if let Some(text) = text {
                    let strong = matches!(state, State::Now | State::Focus | State::Fetched);
                    let color = if strong { tokens.on_lane } else { tokens.text };
                    kit::small(painter, rect.center(), Align2::CENTER_CENTER, text, color);
                }
                if state == State::Focus {
                    painter.rect_stroke(rect, 1.0, Stroke::new(1.5, tokens.text), StrokeKind::Outside);
                }
            }
        }
        if self.cell >= 5.0 {
            let thin = Stroke::new(0.5, tokens.border);
            for row in 1..self.rows {
                painter.hline(outer.x_range(), outer.top() + row as f32 * self.cell, thin);
            }
            for column in 1..self.columns {
                painter.vline(outer.left() + column as f32 * self.cell, outer.y_range(), thin);
            }
        }
        if let Some((tile_rows, tile_columns)) = tile {
            let line = Stroke::new(1.5, tokens.border_strong);
            for row in (0..self.rows).step_by(tile_rows.max(1)).skip(1) {
                painter.hline(outer.x_range(), outer.top() + row as f32 * self.cell, line);
            }
            for column in (0..self.columns).step_by(tile_columns.max(1)).skip(1) {
                painter.vline(outer.left() + column as f32 * self.cell, outer.y_range(), line);
            }
        }
        painter.rect_stroke(outer, 0.0, Stroke::new(1.0, tokens.border_strong), StrokeKind::Outside);
    }

    /// Frames a part, for example the row and column that an element needs.
    pub fn frame(
        &self,
        painter: &Painter,
        rows: std::ops::Range<usize>,
        columns: std::ops::Range<usize>,
        stroke: Stroke,
    ) {
        let from = pos2(columns.start as f32, rows.start as f32);
        let to = pos2(columns.end.min(self.columns) as f32, rows.end.min(self.rows) as f32);
        let place = |p: Pos2| self.origin + p.to_vec2() * self.cell;
        painter.rect_stroke(Rect::from_min_max(place(from), place(to)), 1.0, stroke, StrokeKind::Outside);
    }
}
