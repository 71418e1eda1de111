//! The shapes that `--json` prints. Written out here, field by field, so that they stay as `app/JSON.md` documents
//! them while the engine's own types move on; a test compares every command with that page.

use crate::ready::{Item, State};
use serde_json::{Value, json};

/// Raised when a field is removed or changes meaning; added fields do not raise it.
const VERSION: u32 = 1;

/// Every object begins with these: which command wrote it, and which version of its shape.
fn envelope(command: &str, mut body: Value) -> Value {
    let mut object = serde_json::Map::new();
    object.insert("command".into(), command.into());
    object.insert("version".into(), VERSION.into());
    if let Value::Object(fields) = &mut body {
        object.append(fields);
    }
    Value::Object(object)
}

/// A command that could not do its work.
pub fn error(command: &str, message: &str, exit_status: u8) -> Value {
    envelope(command, json!({ "error": message, "exit_status": exit_status }))
}

pub fn doctor(items: &[Item], ready: bool) -> Value {
    let items: Vec<Value> = items
        .iter()
        .map(|item| {
            let state = match item.state {
                State::Fine => "fine",
                State::Limited => "limited",
                State::Failed => "failed",
            };
            json!({ "id": item.id, "title": item.title, "state": state, "found": item.found, "fix": item.fix })
        })
        .collect();
    envelope("doctor", json!({ "ready": ready, "items": items }))
}
