//! One tile of an arrangement and all that is inside it.

use crate::pane::Pane;
use serde::{Deserialize, Serialize};

/// Smallest and largest share that a tile may have of its row or column.
const SHARES: std::ops::RangeInclusive<f32> = 0.02..=50.0;

/// Deepest nesting that is taken from a file.
const DEPTH: usize = 16;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Node {
    Pane(Pane),
    /// One of them is in front.
    Tabs {
        children: Vec<Node>,
        active: usize,
    },
    /// Side by side, each with its share of the width.
    Row(Vec<(f32, Node)>),
    /// One above the other, each with its share of the height.
    Column(Vec<(f32, Node)>),
}

impl Node {
    pub fn tabs(panes: &[Pane]) -> Self {
        Node::Tabs { children: panes.iter().map(|pane| Node::Pane(*pane)).collect(), active: 0 }
    }

    /// Every pane in reading order.
    pub fn panes(&self) -> Vec<Pane> {
        let mut found = Vec::new();
        self.visit(&mut |pane| found.push(pane));
        found
    }

    fn visit(&self, each: &mut impl FnMut(Pane)) {
        match self {
            Node::Pane(pane) => each(*pane),
            Node::Tabs { children, .. } => children.iter().for_each(|child| child.visit(each)),
            Node::Row(children) | Node::Column(children) => children.iter().for_each(|(_, child)| child.visit(each)),
        }
    }

    fn holds(&self, pane: Pane) -> bool {
        let mut found = false;
        self.visit(&mut |other| found |= other == pane);
        found
    }

    /// The same with every pane exactly once and sizes that can be drawn; None when there is nothing to save. Panes
    /// that an older version did not know join the first group of tabs that has a related one.
    pub fn sound(self) -> Option<Self> {
        let mut seen = Vec::new();
        let mut root = self.cleaned(&mut seen, 0)?;
        if let Node::Pane(_) = root {
            root = Node::Tabs { children: vec![root], active: 0 };
        }
        for pane in Pane::DOCKED.into_iter().filter(|pane| !seen.contains(pane)) {
            let mates = if Pane::RESULTS.contains(&pane) { Pane::RESULTS[0] } else { Pane::Lesson };
            if !root.join(pane, &|node| node.holds(mates)) {
                root.join(pane, &|_| true);
            }
        }
        (root.panes().len() == Pane::DOCKED.len()).then_some(root)
    }

    fn cleaned(self, seen: &mut Vec<Pane>, depth: usize) -> Option<Self> {
        if depth > DEPTH {
            return None;
        }
        let sides = |children: Vec<(f32, Node)>, seen: &mut Vec<Pane>| {
            let fair = |share: f32| if share.is_finite() { share.clamp(*SHARES.start(), *SHARES.end()) } else { 1.0 };
            let clean = |(share, child): (f32, Node)| Some((fair(share), child.cleaned(seen, depth + 1)?.tabbed()));
            children.into_iter().filter_map(clean).collect::<Vec<_>>()
        };
        match self {
            Node::Pane(pane) => {
                let new = Pane::DOCKED.contains(&pane) && !seen.contains(&pane);
                new.then(|| {
                    seen.push(pane);
                    Node::Pane(pane)
                })
            }
            Node::Tabs { children, active } => {
                let children: Vec<Node> =
                    children.into_iter().filter_map(|child| child.cleaned(seen, depth + 1)).collect();
                let active = active.min(children.len().saturating_sub(1));
                (!children.is_empty()).then_some(Node::Tabs { children, active })
            }
            Node::Row(children) => {
                let mut children = sides(children, seen);
                if children.len() == 1 { children.pop().map(|(_, only)| only) } else { Some(Node::Row(children)) }
                    .filter(|node| !node.panes().is_empty())
            }
            Node::Column(children) => {
                let mut children = sides(children, seen);
                if children.len() == 1 { children.pop().map(|(_, only)| only) } else { Some(Node::Column(children)) }
                    .filter(|node| !node.panes().is_empty())
            }
        }
    }

    /// A pane beside others has a strip of its own to be dragged by.
    fn tabbed(self) -> Self {
        match self {
            Node::Pane(_) => Node::Tabs { children: vec![self], active: 0 },
            other => other,
        }
    }

    /// Puts a pane at the end of the first innermost group of tabs that fits.
    fn join(&mut self, pane: Pane, fits: &impl Fn(&Node) -> bool) -> bool {
        match self {
            Node::Pane(_) => false,
            Node::Tabs { children, .. } => {
                if children.iter_mut().any(|child| child.join(pane, fits)) {
                    return true;
                }
                let fits = fits(self);
                if let Node::Tabs { children, .. } = self
                    && fits
                {
                    children.push(Node::Pane(pane));
                }
                fits
            }
            Node::Row(children) | Node::Column(children) => {
                children.iter_mut().any(|(_, child)| child.join(pane, fits))
            }
        }
    }

    /// Brings a pane to the front of all tabs that it is in.
    pub fn activate(&mut self, pane: Pane) {
        match self {
            Node::Pane(_) => {}
            Node::Tabs { children, active } => {
                if let Some(at) = children.iter().position(|child| child.holds(pane)) {
                    *active = at;
                    children[at].activate(pane);
                }
            }
            Node::Row(children) | Node::Column(children) => {
                children.iter_mut().for_each(|(_, child)| child.activate(pane));
            }
        }
    }

    fn has_open(&self, open: &dyn Fn(Pane) -> bool) -> bool {
        let mut found = false;
        self.visit(&mut |pane| found |= open(pane));
        found
    }

    /// The panes in front. Where the front tab is closed, its first open neighbour stands in, as it is drawn.
    pub(super) fn in_sight(&self, open: &dyn Fn(Pane) -> bool, found: &mut Vec<Pane>) {
        match self {
            Node::Pane(pane) => found.extend(open(*pane).then_some(*pane)),
            Node::Tabs { children, active } => {
                let front = children.get(*active).filter(|child| child.has_open(open));
                let front = front.or_else(|| children.iter().find(|child| child.has_open(open)));
                if let Some(front) = front {
                    front.in_sight(open, found);
                }
            }
            Node::Row(children) | Node::Column(children) => {
                children.iter().for_each(|(_, child)| child.in_sight(open, found));
            }
        }
    }

    /// Multiplies the share of the innermost row (or column) member that holds the pane. False when there is none.
    pub(super) fn grow(&mut self, pane: Pane, row: bool, factor: f32) -> bool {
        let is_row = matches!(self, Node::Row(_));
        match self {
            Node::Pane(_) => false,
            Node::Tabs { children, .. } => {
                children.iter_mut().filter(|child| child.holds(pane)).any(|child| child.grow(pane, row, factor))
            }
            Node::Row(children) | Node::Column(children) => {
                let Some((share, child)) = children.iter_mut().find(|(_, child)| child.holds(pane)) else {
                    return false;
                };
                if child.grow(pane, row, factor) {
                    return true;
                }
                if is_row == row {
                    *share = (*share * factor).clamp(*SHARES.start(), *SHARES.end());
                }
                is_row == row
            }
        }
    }

    /// Moves a pane into the next group of tabs that shows anything, round and round.
    pub(super) fn move_on(&mut self, pane: Pane, open: &dyn Fn(Pane) -> bool) {
        let mut groups = Vec::new();
        self.groups(&mut groups);
        let Some(at) = groups.iter().position(|group| group.contains(&pane)) else { return };
        let others = groups[at + 1..].iter().chain(&groups[..at]);
        let next = others.into_iter().find_map(|group| group.iter().find(|pane| open(**pane)).copied());
        if let Some(mate) = next {
            self.take_out(pane);
            self.join(pane, &|node| node.holds(mate));
        }
    }

    /// Panes of each innermost group of tabs.
    fn groups(&self, found: &mut Vec<Vec<Pane>>) {
        match self {
            Node::Pane(_) => {}
            Node::Tabs { children, .. } => {
                let own = children.iter().filter_map(|child| match child {
                    Node::Pane(pane) => Some(*pane),
                    _ => None,
                });
                found.push(own.collect());
                children.iter().for_each(|child| child.groups(found));
            }
            Node::Row(children) | Node::Column(children) => children.iter().for_each(|(_, child)| child.groups(found)),
        }
    }

    fn take_out(&mut self, pane: Pane) {
        match self {
            Node::Pane(_) => {}
            Node::Tabs { children, active } => {
                if let Some(at) = children.iter().position(|child| *child == Node::Pane(pane)) {
                    children.remove(at);
                    if *active > at {
                        *active -= 1;
                    }
                }
                children.iter_mut().for_each(|child| child.take_out(pane));
            }
            Node::Row(children) | Node::Column(children) => {
                children.iter_mut().for_each(|(_, child)| child.take_out(pane));
            }
        }
    }
}
