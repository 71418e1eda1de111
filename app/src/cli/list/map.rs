//! `lockstep list --map`: what leads to what.

use super::super::{json, out};
use curriculum::{Course, Unit, map};
use serde_json::{Value, json as object};

/// Levels of days and labs, each with what it builds on and what it leads to.
pub fn text(course: &Course, style: out::Style) -> String {
    let mut text = String::new();
    for (number, level) in map::levels(course).into_iter().enumerate() {
        text += &format!("{}\n", style.bold(&format!("Level {}", number + 1)));
        for unit in level {
            text += &format!("  {}  {}\n", unit.address, unit.title);
            for (what, units) in [("after", map::after(course, unit)), ("leads to", map::leads_to(course, unit))] {
                if !units.is_empty() {
                    let addresses: Vec<&str> = units.iter().map(|unit| unit.address.as_str()).collect();
                    text += &style.dim(&format!("      {what} {}\n", addresses.join(", ")));
                }
            }
        }
        text.push('\n');
    }
    text + "Units of one level can be done in any order.\n"
}

pub fn object(course: &Course) -> Value {
    let addresses = |units: Vec<&Unit>| units.iter().map(|unit| unit.address.clone()).collect::<Vec<_>>();
    let levels = map::levels(course);
    let level_of = |unit: &Unit| levels.iter().position(|level| level.iter().any(|other| other.id == unit.id));
    let unit = |unit: &Unit| {
        object!({
            "address": unit.address,
            "kind": unit.kind.word(),
            "title": unit.title,
            "level": level_of(unit).map(|level| level + 1),
            "after": addresses(map::after(course, unit)),
            "leads_to": addresses(map::leads_to(course, unit)),
            "concepts": map::concepts(unit),
        })
    };
    json::envelope("list", object!({ "map": course.units().map(unit).collect::<Vec<_>>() }))
}
