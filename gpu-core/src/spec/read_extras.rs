//! The lists of an exercise file: sizes and milestones.

use super::output::SEED;
use super::step::TURN;
use super::toml_reader::{Item, Reader, Section, is_identifier, join};
use super::{Milestone, Parsed, Size};
use crate::bench::{OF_RIVAL, QUANTITIES, Quantity};
use std::ops::Range;

/// Names that expressions of launches and scalars use for themselves.
const RESERVED: [&str; 8] = ["block_x", "block_y", "block_z", "grid_x", "grid_y", "grid_z", SEED, TURN];

/// The four lists of sizes.
#[derive(Default)]
pub(super) struct Sizes {
    pub check: Vec<Size>,
    pub emulator_check: Vec<Size>,
    pub bench: Vec<Size>,
    pub emulator_bench: Vec<Size>,
}

/// Where each size stands: key, place, values.
pub(super) type Spans = Vec<(String, Range<usize>, Size)>;

/// Sizes may be 0 where some buffer may be empty.
pub(super) fn read_sizes(
    r: &mut Reader<'_>,
    mut section: Section<'_>,
    least: &dyn Fn(&str) -> i64,
) -> Option<(Sizes, Spans)> {
    let mut spans = Vec::new();
    let what = "at least one size such as { n = 1000 }";
    let check = read_size_list(r, &mut section, "check", Some(what), least, &mut spans);
    if check.is_empty() {
        r.problem("sizes.check", section.span.clone(), what, "none");
    }
    let sizes = Sizes {
        check,
        emulator_check: read_size_list(r, &mut section, "emulator_check", None, least, &mut spans),
        bench: read_size_list(r, &mut section, "bench", None, least, &mut spans),
        emulator_bench: read_size_list(r, &mut section, "emulator_bench", None, least, &mut spans),
    };
    if let Some((first_at, _, first)) = spans.first() {
        let names: Vec<&String> = first.keys().collect();
        for (at, span, size) in &spans {
            let own: Vec<&String> = size.keys().collect();
            if own != names {
                let expected = format!("the variables {names:?}, as in {first_at}");
                r.problem(at, span.clone(), expected, format!("{own:?}"));
            }
        }
    }
    r.finish(section);
    Some((sizes, spans))
}

fn read_size_list(
    r: &mut Reader<'_>,
    section: &mut Section<'_>,
    key: &'static str,
    expected: Option<&str>,
    least: &dyn Fn(&str) -> i64,
    spans: &mut Spans,
) -> Vec<Size> {
    let mut sizes = Vec::new();
    for (item, at) in r.array(section, key, expected).unwrap_or_default() {
        let Some(values) = r.as_section(item, &at) else { continue };
        let mut size = Size::new();
        for (name, name_span, item) in values.entries() {
            if !is_identifier(name) || RESERVED.contains(&name) {
                let expected = format!("an identifier other than {}", RESERVED.join(", "));
                r.problem(&at, name_span, expected, format!("`{name}`"));
            } else if let Some(value) = read_constant(r, item, &join(&at, name), least(name)) {
                size.insert(name.to_owned(), value);
            }
        }
        spans.push((at, item.span(), size.clone()));
        sizes.push(size);
    }
    sizes
}

/// A positive whole number, or an expression of numbers such as `"1 << 28"`.
fn read_constant(r: &mut Reader<'_>, item: Item<'_>, at: &str, least: i64) -> Option<i64> {
    const EXPECTED: &str = "a positive whole number, or a string such as \"1 << 20\"";
    let text = r.as_expression(item, at)?;
    let value = Parsed::new(&text).and_then(|parsed| parsed.eval(&Size::new()));
    match value {
        Ok(value) if value >= least => Some(value),
        Ok(value) => {
            r.problem(at, item.span(), EXPECTED, value.to_string());
            None
        }
        Err(error) => {
            r.problem(at, item.span(), EXPECTED, error.0);
            None
        }
    }
}

pub(super) fn read_milestone(r: &mut Reader<'_>, mut section: Section<'_>) -> Option<Milestone> {
    let name = r.string(&mut section, "name", true);
    let share_of_ceiling = r.float(&mut section, "share_of_ceiling", false);
    let gflops = r.float(&mut section, "gflops", false);
    let gbytes_per_s = r.float(&mut section, "gbytes_per_s", false);
    let (mut at_most, mut at_least) = (Vec::new(), Vec::new());
    for quantity in QUANTITIES.iter().filter(|quantity| quantity.name != "share_of_ceiling") {
        let bounds = if quantity.is_at_least { &mut at_least } else { &mut at_most };
        read_bound(r, &mut section, quantity, bounds);
    }
    at_most.extend(read_bounds(r, &mut section, "at_most"));
    at_least.extend(read_bounds(r, &mut section, "at_least"));
    let note = r.string(&mut section, "note", false).unwrap_or_default();
    if share_of_ceiling.is_none()
        && gflops.is_none()
        && gbytes_per_s.is_none()
        && at_most.is_empty()
        && at_least.is_empty()
    {
        let expected = "at least one of share_of_ceiling, gflops, gbytes_per_s or a bound of a counter";
        r.problem(&section.at.clone(), section.span.clone(), expected, "none");
    }
    if share_of_ceiling.is_some_and(|share| !(0.0..=1.5).contains(&share)) {
        let at = join(&section.at, "share_of_ceiling");
        r.problem(&at, section.span.clone(), "a share between 0 and 1", format!("{share_of_ceiling:?}"));
    }
    r.finish(section);
    Some(Milestone { name: name?, share_of_ceiling, gflops, gbytes_per_s, at_most, at_least, note })
}

/// `{ async_bytes = 1 }`: quantities that are bounded otherwise than by their names alone.
fn read_bounds(r: &mut Reader<'_>, section: &mut Section<'_>, key: &'static str) -> Vec<(String, f64)> {
    let Some(mut table) = r.section(section, key, false) else { return Vec::new() };
    let mut bounds = Vec::new();
    QUANTITIES.iter().for_each(|quantity| read_bound(r, &mut table, quantity, &mut bounds));
    if bounds.is_empty() {
        r.problem(&table.at.clone(), table.span.clone(), "at least one quantity such as { async_bytes = 1 }", "none");
    }
    r.finish(table);
    bounds
}

/// One quantity and its bound; of rivals a table too, with a bound for each: `share_of_rival.cub = 1.0`.
fn read_bound(r: &mut Reader<'_>, section: &mut Section<'_>, quantity: &Quantity, bounds: &mut Vec<(String, f64)>) {
    let Some(item) = r.item(section, quantity.name, None) else { return };
    let at = join(&section.at, quantity.name);
    if quantity.name != OF_RIVAL || !item.is_table() {
        let bound = r.as_float(item, &at).filter(|bound| is_share(r, item, &at, quantity, *bound));
        bounds.extend(bound.map(|bound| (quantity.name.to_owned(), bound)));
        return;
    }
    let Some(rivals) = r.as_section(item, &at) else { return };
    if rivals.entries().next().is_none() {
        r.problem(&at, item.span(), "a rival's key with a share, such as { cub = 1.0 }", "none");
    }
    for (key, span, item) in rivals.entries() {
        let at = join(&at, key);
        if !is_identifier(key) {
            r.problem(&at, span, "a rival's key, as `call` in a ladder.toml names it", format!("`{key}`"));
            continue;
        }
        let bound = r.as_float(item, &at).filter(|bound| is_share(r, item, &at, quantity, *bound));
        bounds.extend(bound.map(|bound| (join(OF_RIVAL, key), bound)));
    }
}

/// Whether a bound can be what its quantity is: speeds are shares, and 90 is meant to be 0.9.
fn is_share(r: &mut Reader<'_>, item: Item<'_>, at: &str, quantity: &Quantity, bound: f64) -> bool {
    const MOST: f64 = 20.0;
    let fits = !quantity.is_beside() || (bound > 0.0 && bound <= MOST);
    if !fits {
        let expected = "a share of the other's speed: 1 is as fast, 0.9 nine tenths of it";
        r.problem(at, item.span(), expected, item.describe());
    }
    fits
}
